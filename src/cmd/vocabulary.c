/*
 * vocabulary check: the mistakes in files; vocabulary show: what is built in.
 */

#include <stdlib.h>

#include "base/match.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/say.h"
#include "format/registry.h"
#include "output/text_json.h"
#include "report/report.h"
#include "vocab/vocab.h"

static const char *const acts[] = { "check", "show", NULL };

static const struct cmd_words words[] = {
	{ "", WORDS_LIST, acts },
	{ "check", WORDS_FILES, NULL },
	{ "show", WORDS_VOCABULARIES, NULL },
	{ NULL, WORDS_LIST, NULL },
};

struct vocabulary_run {
	struct options options;
	struct report_out out;
	struct text text;
	bool color;
};

static void take_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct vocabulary_run *const s = ctx;

	report_text_finding(&s->text, j->path, f, s->color);
}

/* ---- check ---- */

static enum exit_status check_one(struct vocabulary_run *s, const char *path)
{
	struct schema_summary summary;
	struct shown_path shown;
	struct slice text;
	enum exit_status status = STATUS_CLEAN;

	if (schema_check(path, take_finding, s, &text, &summary, &s->text)) {
		struct schema_file taken = { .path = path, .text = text };
		text_printf(&s->text, "%s: %zu rule%s for %s\n", show_path(&shown, path), summary.rules,
		            summary.rules == 1 ? "" : "s", summary.format);
		schema_free(&taken);
	} else {
		status = summary.unreadable ? STATUS_UNREADABLE : STATUS_FINDINGS;
	}
	report_out_put(&s->out, &s->text);
	return status;
}

static enum exit_status check(struct vocabulary_run *s)
{
	struct options *const o = &s->options;
	enum exit_status status = STATUS_CLEAN;

	if (o->first_operand + 1 >= o->argc)
		return options_mistake(o, "check needs the name of a file");
	const char *const *const files = (const char *const *)o->argv + o->first_operand + 1;
	if (!run_names_check(o, files, (size_t)(o->argc - o->first_operand - 1)))
		return o->status;
	if (!report_out_open(&s->out, o))
		return STATUS_UNREADABLE;
	for (int i = o->first_operand + 1; i < o->argc; i++)
		status = worse(status, check_one(s, o->argv[i]));
	return worse(status, report_out_close(&s->out));
}

/* ---- show ---- */

static void list_built_in(struct text *t)
{
	for (const struct format *const *f = formats; *f != NULL; f++)
		if (vocab_builtin((*f)->name).p != NULL)
			text_printf(t, "%s\n", (*f)->name);
}

static enum exit_status no_vocabulary(const struct options *o, const char *name)
{
	char room[256];
	struct text list = text_start(room, sizeof room);
	struct shown_path shown;
	const char *best = NULL;
	size_t distance = SIZE_MAX;

	for (const struct format *const *f = formats; *f != NULL; f++) {
		const size_t d = edit_distance(name, (*f)->name);
		if (vocab_builtin((*f)->name).p == NULL)
			continue;
		text_printf(&list, "%s%s", list.n > 0 ? ", " : "", (*f)->name);
		if (d < distance && edit_distance_plausible(name, (*f)->name)) {
			distance = d;
			best = (*f)->name;
		}
	}
	show_path(&shown, name);
	const enum exit_status status =
	    best != NULL
	        ? options_mistake(o, "no vocabulary is built in for %s; did you mean %s?", shown.s, best)
	        : options_mistake(o, "no vocabulary is built in for %s; there are %.*s", shown.s, (int)list.n,
	                          list.p);
	text_free(&list);
	return status;
}

static enum exit_status show(struct vocabulary_run *s)
{
	struct options *const o = &s->options;
	const char *const name = o->first_operand + 1 < o->argc ? o->argv[o->first_operand + 1] : NULL;
	const struct slice text = name != NULL ? vocab_builtin(name) : (struct slice){ NULL, 0, 0 };

	if (o->first_operand + 2 < o->argc)
		return options_mistake(o, "show takes the name of one format");
	if (name != NULL && text.p == NULL)
		return no_vocabulary(o, name);
	if (!report_out_open(&s->out, o))
		return STATUS_UNREADABLE;
	if (name == NULL)
		list_built_in(&s->text);
	else
		text_add(&s->text, text.p, text.n);
	report_out_put(&s->out, &s->text);
	return report_out_close(&s->out);
}

static enum exit_status cmd_vocabulary(const struct command *cmd, int argc, char **argv)
{
	struct vocabulary_run s = { .text = { .p = NULL } };
	enum exit_status status;

	options_init(&s.options, cmd, argc, argv);
	if (!options_parse(&s.options, &s))
		return s.options.status;
	if (s.options.first_operand == argc)
		return options_mistake(&s.options, "name what to do: check or show");
	s.color = options_color(&s.options, 1);
	const int word = options_word(&s.options, "it", argv[s.options.first_operand], acts);
	status = word < 0 ? s.options.status : word == 0 ? check(&s) : show(&s);
	text_free(&s.text);
	return status;
}

const struct command vocabulary_command = {
	.name = "vocabulary",
	.operands = "check FILE ...  |  show [FORMAT]",
	.summary = "Checks vocabularies (what events mean), or shows those that are built in.",
	.words = words,
	.writes = true,
	.run = cmd_vocabulary,
};
