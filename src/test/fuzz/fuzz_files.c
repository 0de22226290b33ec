/*
 * The libFuzzer target for the files beside traces that tracetool reads: with -DFUZZ_FORMAT=policy,
 * vocabulary or table (stats --full).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "stats/stats.h"
#include "vocab/vocab.h"

#define TEXT_OF(x) #x
#define FORMAT_NAME(x) TEXT_OF(x)

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void read_policy(struct slice text)
{
	struct findings findings;
	bool no_memory = false;

	findings_init(&findings, "policy", NULL, NULL);
	struct policy_file *const f = policy_file_parse(text, "policy", "/", &findings, &no_memory);
	if (no_memory || (f == NULL) != (findings.levels[LEVEL_ERROR] > 0))
		abort();
	if (f != NULL) {
		struct policy_checks c;
		if (!policy_checks_init(&c, f, policy_file_overrides(f, "/a/b.json"), true))
			abort();
		policy_checks_free(&c);
	}
	policy_file_free(f);
	findings_free(&findings);
}

static void read_vocabulary(struct slice text)
{
	struct vocabulary *const v = vocab_new("chrome");
	struct findings findings;

	findings_init(&findings, "vocabulary", NULL, NULL);
	if (v == NULL ||
	    vocab_add_text(v, text.p, text.n, &findings, NULL) != (findings.levels[LEVEL_ERROR] == 0))
		abort();
	if (findings.levels[LEVEL_ERROR] == 0) {
		struct text t = { .p = NULL };
		vocab_put_json(&t, text);
		text_free(&t);
	}
	findings_free(&findings);
	vocab_free(v);
}

/* Writes all forms of the table. */
static void put_table(struct text *t, const struct stats *s)
{
	struct span_columns columns;
	span_columns_init(&columns, s->sum_of.n > 0 ? "x" : NULL);
	struct stats_view view = { .stats = s, .full = true, .width = 100, .top = 10, .columns = &columns };

	if (!stats_json_input(t, &view, true) || !stats_csv_input(t, &view, true) || !stats_text(t, &view))
		abort();
}

static void read_table(struct slice text)
{
	struct stats *const s = malloc(sizeof *s);
	struct text t = { .p = NULL };

	if (s == NULL)
		abort();
	stats_init(s);
	struct stats_file f = { .text = text, .tool = "tracetool 0.1.0", .any_version = true, .into = s };
	if (stats_read(&f)) {
		if (!stats_end(s))
			abort();
		put_table(&t, s);
	} else if (f.why[0] == '\0') {
		abort();
	}
	text_free(&t);
	stats_free(s);
	free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	/* a NUL follows the texts of files */
	char *const copy = malloc(n + 1);

	if (copy == NULL)
		abort();
	memcpy(copy, p, n);
	copy[n] = '\0';
	if (strcmp(FORMAT_NAME(FUZZ_FORMAT), "policy") == 0)
		read_policy(slice_of(copy, n));
	else if (strcmp(FORMAT_NAME(FUZZ_FORMAT), "vocabulary") == 0)
		read_vocabulary(slice_of(copy, n));
	else
		read_table(slice_of(copy, n));
	free(copy);
	return 0;
}
