/*
 * vocabulary check: mistakes in vocabulary files; vocabulary show: built-in vocabularies.  Both as JSON, too.
 */

#include "base/match.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/say.h"
#include "format/registry.h"
#include "json/out.h"
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
	unsigned json; /* index in text|json */
	struct text text;
	struct text findings; /* findings of the checked file, as elements of a JSON array */
	bool color;
};

static const struct cmd_option own[] = {
	{ "format", "text|json", "the form of the output (default: text)", 0,
	  TO_CHOICE(struct vocabulary_run, json) },
	{ .name = NULL },
};

/* A document of schemas/vocabulary.schema.json. */
static void put_finding(struct text *t, const struct finding *f)
{
	struct json_out o = { .t = t, .comma = t->n > 0 };

	json_out_begin_after(&o, "\n  ", NULL, "{");
	json_out_string(&o, "rule", f->rule->id);
	json_out_string(&o, "level", level_name(f->level));
	json_out_u64(&o, "offset", f->offset);
	if (f->line > 0) {
		json_out_u64(&o, "line", f->line);
		json_out_u64(&o, "column", f->column);
	} else {
		json_out_null(&o, "line");
		json_out_null(&o, "column");
	}
	json_out_string(&o, "message", f->message);
	json_out_end(&o, "}");
}

static void take_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct vocabulary_run *const s = ctx;

	if (s->json)
		put_finding(&s->findings, f);
	else
		report_text_finding(&s->text, j->path, f, s->color);
}

/* ---- check ---- */

static void put_checked(struct vocabulary_run *s, const char *path, bool ok,
                        const struct vocabulary_summary *summary, bool first)
{
	struct json_out o = { .t = &s->text, .comma = !first };

	json_out_begin_after(&o, "\n", NULL, "{");
	json_out_string(&o, "path", path);
	json_out_bool(&o, "valid", ok);
	json_out_string(&o, "format", ok ? summary->format : NULL);
	json_out_u64(&o, "rules", ok ? summary->rules : 0);
	json_out_u64(&o, "mistakes", summary->mistakes);
	json_out_begin(&o, "findings", "[");
	text_add(&s->text, s->findings.p, s->findings.n);
	json_out_end(&o, "]}");
}

static enum exit_status check_one(struct vocabulary_run *s, const char *path, bool first)
{
	struct schema_file file = { .path = path };
	struct vocabulary_summary summary;
	struct shown_path shown;
	struct text rest = { .p = NULL };

	text_clear(&s->findings);
	const bool ok = vocabulary_file_check(&file, take_finding, s, &summary, &rest);
	vocabulary_file_free(&file);
	if (s->json)
		put_checked(s, path, ok, &summary, first);
	else if (ok)
		text_printf(&s->text, "%s: %zu rule%s for %s\n", show_path(&shown, path), summary.rules,
		            summary.rules == 1 ? "" : "s", summary.format);
	else
		text_add(&s->text, rest.p, rest.n);
	s->text.failed |= rest.failed || s->findings.failed;
	text_free(&rest);
	report_out_put(&s->out, &s->text);
	return ok ? STATUS_CLEAN : summary.unreadable ? STATUS_UNREADABLE : STATUS_FINDINGS;
}

static enum exit_status check(struct vocabulary_run *s)
{
	struct options *const o = &s->options;
	enum exit_status status = STATUS_CLEAN;

	if (o->nin < 2)
		options_mistake(o, "check needs the name of a file");
	if (o->nin < 2 || !run_names_check(o, o->in + 1, o->nin - 1))
		return o->status;
	if (!report_out_open(&s->out, o))
		return STATUS_UNREADABLE;
	if (s->json)
		text_str(&s->text, "{\"tool\":\"" TOOL_NAME "\",\"files\":[");
	for (size_t i = 1; i < o->nin; i++)
		status = worse(status, check_one(s, o->in[i], i == 1));
	if (s->json)
		text_str(&s->text, "\n]}\n");
	report_out_put(&s->out, &s->text);
	return worse(status, report_out_close(&s->out));
}

/* ---- show ---- */

static void list_built_in(struct text *t)
{
	for (const struct format *const *f = formats; *f != NULL; f++)
		if (vocab_builtin((*f)->name).p != NULL)
			text_printf(t, "%s\n", (*f)->name);
}

static void list_as_json(struct text *t)
{
	struct json_out o = { .t = t };

	json_out_begin(&o, NULL, "{");
	json_out_string(&o, "tool", TOOL_NAME);
	json_out_begin(&o, "formats", "[");
	for (const struct format *const *f = formats; *f != NULL; f++)
		if (vocab_builtin((*f)->name).p != NULL)
			json_out_string(&o, NULL, (*f)->name);
	json_out_end(&o, "]}\n");
}

static enum exit_status no_vocabulary(struct options *o, const char *name)
{
	char space[256];
	struct text list = text_start(space, sizeof space);
	struct shown_path shown;
	struct nearest near = { .typed = name };

	for (const struct format *const *f = formats; *f != NULL; f++) {
		if (vocab_builtin((*f)->name).p == NULL)
			continue;
		text_printf(&list, "%s%s", list.n > 0 ? ", " : "there are ", (*f)->name);
		nearest_add(&near, (*f)->name);
	}
	text_char(&list, '\0');
	options_unknown(o, near.name, list.failed ? "there are several" : list.p,
	                "no vocabulary is built in for %s", show_path(&shown, name));
	text_free(&list);
	return o->status;
}

static enum exit_status show(struct vocabulary_run *s)
{
	struct options *const o = &s->options;
	const char *const name = o->nin > 1 ? o->in[1] : NULL;
	const struct slice text = name != NULL ? vocab_builtin(name) : (struct slice){ NULL, 0, 0 };

	if (o->nin > 2) {
		options_mistake(o, "show takes the name of one format");
		return o->status;
	}
	if (name != NULL && text.p == NULL)
		return no_vocabulary(o, name);
	if (!report_out_open(&s->out, o))
		return STATUS_UNREADABLE;
	if (name == NULL)
		(s->json ? list_as_json : list_built_in)(&s->text);
	else if (s->json)
		vocab_put_json(&s->text, text);
	else
		text_add(&s->text, text.p, text.n);
	report_out_put(&s->out, &s->text);
	return report_out_close(&s->out);
}

static enum exit_status cmd_vocabulary(const struct command *cmd, int argc, char **argv)
{
	struct vocabulary_run s = { .text = { .p = NULL } };
	struct options *const o = &s.options;

	options_init(o, cmd, argc, argv);
	if (!options_parse(o, &s) || (o->nin == 0 && !options_mistake(o, "name what to do: check or show")))
		return o->status;
	s.color = options_color(o, 1);
	const int word = options_word(o, "it", o->in[0], acts);
	const enum exit_status status = word < 0 ? o->status : word == 0 ? check(&s) : show(&s);
	text_free(&s.findings);
	text_free(&s.text);
	return status;
}

const struct command vocabulary_command = {
	.name = "vocabulary",
	.operands = "[options] check FILE ...  |  show [FORMAT]",
	.summary = "Checks vocabularies (what events mean), or shows those that are built in.",
	.options = own,
	.words = words,
	.writes = true,
	.run = cmd_vocabulary,
};
