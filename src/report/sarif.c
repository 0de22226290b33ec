/*
 * SARIF 2.1.0 within the limits of GitHub code scanning: 10 MB packed, 25,000 results and rules.  GitHub
 * shows the 5,000 worst results.  So rendered results are stored by level until the end, when the logs of the
 * traces are freed already, and results beyond the limits are counted.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/scan.h"
#include "report/parts.h"

#define MAX_RESULTS 20000           /* of a level, and of the report: GitHub accepts 25,000 */
#define MAX_BYTES ((size_t)8 << 20) /* total size of all results, with SEPARATOR bytes before each */
#define SEPARATOR 2
#define MAX_TEXT 1000 /* bytes of a description */

struct sarif_state {
	struct text results[LEVEL_COUNT];
	uint64_t nresults[LEVEL_COUNT];
	struct report_rules rules;
	const struct file_record *present; /* file of `path` */
	struct text path;                  /* from report_put_path(), with a NUL */
	struct text result;                /* of one finding */
	struct table64 fingerprints;
};

static void put_uri(struct text *t, const char *s)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";

	for (; *s != '\0'; s++)
		if (strchr(plain, *s) != NULL)
			text_char(t, *s);
		else
			text_printf(t, "%%%02X", (unsigned)(unsigned char)*s);
}

static void put_result(struct report *r, const struct finding *f, uint32_t rule)
{
	struct sarif_state *const s = r->state;
	struct text *const t = &s->result;
	const uint64_t line = report_line(f), column = report_column(f);

	text_str(t, "{\"ruleId\":");
	report_put_json(t, f->rule->id);
	text_printf(t, ",\"ruleIndex\":%" PRIu32 ",\"level\":\"%s\",\"message\":{\"text\":", rule,
	            level_name(report_known_level(f->level)));
	report_put_json(t, f->message);
	text_str(t, "},\n\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"");
	put_uri(t, s->path.p);
	text_printf(t,
	            "\"},\"region\":{\"startLine\":%" PRIu64 ",\"startColumn\":%" PRIu64
	            ",\"endLine\":%" PRIu64 ",\"endColumn\":%" PRIu64 ",\"byteOffset\":%" PRIu64
	            ",\"byteLength\":1}",
	            line, column, line, column + 1, f->offset);
	text_str(t, "}}],\n\"partialFingerprints\":{\"primaryLocationLineHash\":");
	r->failed |= !report_put_fingerprint(t, &s->fingerprints, s->path.p, f);
	text_printf(t, "},\"properties\":{\"record\":%" PRIu64 "}}", f->record);
}

static void finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	struct sarif_state *const s = r->state;
	struct text *const all = &s->results[f->level];

	if (all->n >= MAX_BYTES || s->nresults[f->level] >= MAX_RESULTS) {
		r->dropped++;
		return;
	}
	if (s->present != file->record) {
		s->present = file->record;
		text_clear(&s->path);
		report_put_path(&s->path, r->context, file->record->path);
		text_char(&s->path, '\0');
	}
	const uint32_t rule = report_rules_index(&s->rules, f->rule);
	if (note_failure(&r->failed, s->path.failed || rule == UINT32_MAX))
		return;
	text_clear(&s->result);
	put_result(r, f, rule);
	text_char(&s->result, '\0'); /* separator: put_results() may omit results */
	if (!s->result.failed)
		text_add(all, s->result.p, s->result.n);
	r->failed |= s->result.failed || all->failed;
	s->nresults[f->level]++;
}

static void file_end(struct report *r, const struct report_file *file)
{
	struct sarif_state *const s = r->state;

	s->present = NULL; /* the next file record may have the same address */
}

static const char head[] =
    "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\","
    "\"runs\":[{\n\"columnKind\":\"unicodeCodePoints\","
    "\"automationDetails\":{\"id\":\"tracetool/validate/\"},\n\"results\":[";

static void begin(struct report *r)
{
	text_str(&r->out, head);
}

/* Writes the results of all levels, the worst first, up to the limits. */
static void put_results(struct report *r)
{
	struct sarif_state *const s = r->state;
	size_t bytes = 0;
	uint64_t n = 0;

	for (int level = LEVEL_COUNT - 1; level >= 0; level--) {
		const struct text *const t = &s->results[level];
		for (size_t i = 0; i < t->n;) {
			/* on OOM the last result is unterminated */
			const size_t size = strnlen(t->p + i, t->n - i);
			if (n < MAX_RESULTS && SEPARATOR + size <= MAX_BYTES - bytes) {
				text_str(&r->out, n++ > 0 ? ",\n" : "\n");
				text_add(&r->out, t->p + i, size);
				bytes += SEPARATOR + size;
			} else {
				r->dropped++;
			}
			i += size + 1;
		}
	}
}

/* "htdump/cut-record" is HtdumpCutRecord. */
static void put_name(struct text *t, const char *id)
{
	bool first = true;

	for (; *id != '\0'; id++) {
		const bool letter = (*id >= 'a' && *id <= 'z') || (*id >= '0' && *id <= '9');
		if (letter)
			text_char(t, first && *id >= 'a' ? (char)(*id - 'a' + 'A') : *id);
		first = !letter;
	}
}

static void put_sentence(struct text *t, const char *s)
{
	char part[MAX_TEXT + 1];
	const size_t n = utf8_cut(s, strlen(s), MAX_TEXT);

	memcpy(part, s, n);
	part[n] = '\0';
	text_str(t, "{\"text\":");
	report_put_json(t, part);
	text_char(t, '}');
}

static void put_rule(struct report *r, const struct rule *rule)
{
	static const char *const severity[LEVEL_COUNT] = { "recommendation", "warning", "warning", "error" };
	struct text *const t = &r->out;
	const enum level level = policy_decide(r->context->policy, rule).level;

	text_str(t, "{\"id\":");
	report_put_json(t, rule->id);
	text_str(t, ",\"name\":\"");
	put_name(t, rule->id);
	text_str(t, "\",\n\"shortDescription\":");
	put_sentence(t, rule->text);
	text_str(t, ",\n\"fullDescription\":");
	put_sentence(t, rule->explain);
	text_str(t, ",\n\"help\":");
	struct text help = { .p = NULL };
	text_printf(&help, "%s%s%s\ntracetool explain %s", rule->explain,
	            rule->spec[0] != '\0' ? "\nThe specification: " : "", rule->spec, rule->id);
	text_char(&help, '\0');
	r->failed |= help.failed;
	text_str(t, "{\"text\":");
	report_put_json(t, help.failed ? rule->explain : help.p);
	text_free(&help);
	text_printf(t,
	            "},\n\"defaultConfiguration\":{\"level\":\"%s\"},\"properties\":{\"tags\":[\"trace\"],"
	            "\"precision\":\"very-high\",\"problem.severity\":\"%s\"}}",
	            level_name(report_known_level(level)), severity[level]);
}

/* Writes the sum of the findings, with the number of those that are not among the results. */
static void put_invocation(struct report *r, const struct report_totals *totals)
{
	struct text *const t = &r->out;
	struct text sum = { .p = NULL };

	report_put_sum(&sum, totals);
	if (r->dropped > 0)
		text_printf(&sum, "; %" PRIu64 " do not fit in this report", r->dropped);
	text_char(&sum, '\0');
	r->failed |= sum.failed;
	text_printf(
	    t,
	    "\n\"invocations\":[{\"executionSuccessful\":%s,\"toolExecutionNotifications\":[{\"level\":"
	    "\"note\",\"message\":{\"text\":",
	    totals->unreadable == 0 ? "true" : "false");
	report_put_json(t, sum.failed ? "" : sum.p);
	text_str(t, "}}]}]");
	text_free(&sum);
}

static void end(struct report *r, const struct report_totals *totals)
{
	struct sarif_state *const s = r->state;
	struct text *const t = &r->out;

	put_results(r);
	text_str(t, "],");
	put_invocation(r, totals);
	text_str(t, ",\n\"tool\":{\"driver\":{\"name\":\"tracetool\",\"semanticVersion\":");
	report_put_json(t, r->context->version);
	text_str(t, ",\"rules\":[");
	for (uint32_t i = 0; i < s->rules.n; i++) {
		text_str(t, i > 0 ? ",\n" : "\n");
		put_rule(r, s->rules.list[i]);
	}
	text_str(t, "]}}}]}\n");
}

static void free_state(struct report *r)
{
	struct sarif_state *const s = r->state;

	for (int level = 0; level < LEVEL_COUNT; level++)
		text_free(&s->results[level]);
	text_free(&s->path);
	text_free(&s->result);
	free(s->rules.list);
	table64_free(&s->fingerprints);
}

const struct report_ops report_sarif = {
	.name = "sarif",
	.head = head,
	.state_size = sizeof(struct sarif_state),
	.begin = begin,
	.finding = finding,
	.file = file_end,
	.end = end,
	.free = free_state,
};
