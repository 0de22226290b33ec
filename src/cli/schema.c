/*
 * Vocabularies of the user (--vocabulary, vocabulary check): a file is read whole and parsed once for its
 * mistakes; its text is kept, as what cannot be read twice may have been named.
 */

#include <stdio.h>
#include <stdlib.h>

#include "check/rules.h"
#include "cli/options.h"
#include "cli/say.h"
#include "format/registry.h"
#include "report/report.h"
#include "vocab/vocab.h"

#define FORMATS_MAX 64

/* The names of the formats that can be read. */
static void list_formats(const char *names[FORMATS_MAX])
{
	size_t n = 0;

	for (const struct format *const *f = formats; *f != NULL && n < FORMATS_MAX - 1; f++)
		if ((*f)->reader != NULL)
			names[n++] = (*f)->name;
	names[n] = NULL;
}

static bool no_memory(struct findings *findings, struct schema_summary *summary)
{
	finding_add(findings, &input_rules[INPUT_RULE_NO_MEMORY], 0, 0, "out of memory");
	summary->unreadable = true;
	return false;
}

static bool check_text(struct slice text, struct findings *findings, struct schema_summary *summary)
{
	const char *names[FORMATS_MAX];
	struct vocabulary *const v = vocab_new(NULL);
	bool ok = false;

	if (v == NULL)
		return no_memory(findings, summary);
	list_formats(names);
	vocab_set_formats(v, names);
	ok = vocab_add_text(v, text.p, text.n, findings, &summary->rules);
	if (ok)
		snprintf(summary->format, sizeof summary->format, "%s", vocab_last_format(v));
	else if (vocab_no_memory(v))
		no_memory(findings, summary);
	vocab_free(v);
	return ok;
}

bool schema_check(const char *path, finding_sink *sink, void *ctx, struct slice *text,
                  struct schema_summary *summary, struct text *rest)
{
	struct findings findings;
	char *bytes;
	size_t n;
	bool ok = false;

	*summary = (struct schema_summary){ .rules = 0 };
	findings_init(&findings, path, sink, ctx);
	if (vocab_read_file(path, &findings, &bytes, &n)) {
		ok = check_text(slice_of(bytes, n), &findings, summary);
		*text = ok ? slice_of(bytes, n) : (struct slice){ .p = NULL };
		if (!ok)
			free(bytes);
	} else {
		summary->unreadable = true;
	}
	summary->mistakes = findings.levels[LEVEL_ERROR]; /* as all rules of vocabularies are */
	report_text_rest(rest, &findings, LEVEL_NOTE);
	findings_free(&findings);
	return ok;
}

bool schema_read(struct options *o, struct schema_file *s)
{
	struct schema_summary summary;
	char space[1024];
	struct text rest = text_start(space, sizeof space);

	const bool ok = schema_check(s->path, say_mistake, o, &s->text, &summary, &rest);
	say_text(&rest);
	text_free(&rest);
	return ok;
}

void schema_free(struct schema_file *s)
{
	union {
		const char *p;
		void *mine;
	} text = { .p = s->text.p };

	free(text.mine);
	s->text.p = NULL;
}
