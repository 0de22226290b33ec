/*
 * Vocabularies of the user (--vocabulary, vocabulary check).  A file is read and parsed once, before any
 * input is read; its text is kept, as a pipe cannot be read again.
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

static bool check_text(struct slice text, struct findings *findings, struct vocabulary_summary *summary)
{
	const char *readable[FORMATS_MAX];
	struct vocabulary *const v = vocab_new(NULL);
	size_t n = 0;

	for (const struct format *const *f = formats; *f != NULL && n < FORMATS_MAX - 1; f++)
		if ((*f)->reader != NULL)
			readable[n++] = (*f)->name;
	readable[n] = NULL;
	if (v != NULL)
		vocab_set_formats(v, readable);
	const bool ok = v != NULL && vocab_add_text(v, text.p, text.n, findings, &summary->rules);
	if (ok) {
		snprintf(summary->format, sizeof summary->format, "%s", vocab_last_format(v));
	} else if (v == NULL || vocab_no_memory(v)) {
		finding_add(findings, &input_rules[INPUT_RULE_NO_MEMORY], 0, 0, "out of memory");
		summary->unreadable = true;
	}
	vocab_free(v);
	return ok;
}

bool vocabulary_file_check(struct schema_file *file, finding_sink *sink, void *ctx,
                           struct vocabulary_summary *summary, struct text *rest)
{
	struct findings findings;
	char *text;
	size_t n;

	*summary = (struct vocabulary_summary){ .rules = 0 };
	findings_init(&findings, file->path, sink, ctx);
	const bool is_read = vocab_read_file(file->path, &findings, &text, &n);
	const bool ok = is_read && check_text(slice_of(text, n), &findings, summary);
	if (ok)
		file->text = slice_of(text, n);
	else if (is_read)
		free(text);
	summary->unreadable |= !is_read;
	summary->mistakes = findings.levels[LEVEL_ERROR]; /* all rules of vocabularies are errors */
	report_text_rest(rest, &findings, &policy_of_rules, LEVEL_NOTE);
	findings_free(&findings);
	return ok;
}

void vocabulary_file_free(struct schema_file *file)
{
	union {
		const char *p;
		void *mine;
	} text = { .p = file->text.p };

	free(text.mine);
	file->text.p = NULL;
}

void say_useless_vocabularies(const struct options *o)
{
	bool fits = o->nschemas == 0 || !atomic_load(&o->schema_uses[0].added);

	for (size_t i = 0; i < o->nschemas && !o->quiet; i++) {
		const struct vocab_use *const use = &o->schema_uses[i];
		fits |= atomic_load(&use->fits);
		if (atomic_load(&use->looked) && !atomic_load(&use->applies))
			say_of(o->schemas[i].path, "warning: none of its rules is for a class of the input");
	}
	if (!fits && !o->quiet)
		say_of(o->schemas[0].path, "warning: the vocabulary is for traces of another format");
}

bool options_read_vocabularies(struct options *o)
{
	for (size_t i = 0; i < o->nschemas && o->status == STATUS_CLEAN; i++) {
		struct vocabulary_summary summary;
		char space[1024];
		struct text rest = text_start(space, sizeof space);
		o->schemas[i].use = &o->schema_uses[i];
		if (!vocabulary_file_check(&o->schemas[i], say_mistake, o, &summary, &rest))
			o->status = STATUS_UNREADABLE;
		say_text(&rest);
		text_free(&rest);
	}
	return o->status == STATUS_CLEAN;
}

unsigned options_want_sizes(const struct options *o)
{
	return o->nschemas > 0 ? WANT_FIELDS : WANT_SIZES;
}
