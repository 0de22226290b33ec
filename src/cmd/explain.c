#include "check/input_rules.h"
#include "cmd/report_out.h"
#include "cmd/say.h"
#include "format/registry.h"
#include "vocab/vocab.h"

const struct command explain_command = {
	.name = "explain",
	.operands = "[RULE ...]",
	.summary =
	    "Explains rules: what they enforce, what a finding means.  Without a name: lists all rules.",
	.run = cmd_explain,
};

static void
put_row(struct text *t, const struct rule *r)
{
	text_printf(t, "%-30s %-8s %s\n", r->id, level_name(r->level), r->text);
}

static void
list_rules(struct text *t)
{
	for (size_t i = 0; i < INPUT_RULE_COUNT; i++)
		put_row(t, &input_rules[i]);
	for (const struct rule *r = vocab_rules; r->id != NULL; r++)
		put_row(t, r);
	for (const struct format *const *f = formats; *f != NULL; f++)
		for (const struct rule *r = (*f)->rules; r != NULL && r->id != NULL; r++)
			put_row(t, r);
}

/* A paragraph, broken at blanks so that no line is longer than 78 letters. */
static void
put_paragraph(struct text *t, const char *first, const char *s)
{
	size_t column = strlen(first);

	text_str(t, first);
	while (*s != '\0') {
		const size_t n = strcspn(s, " ");
		if (column + 1 + n > 78) {
			text_str(t, "\n   ");
			column = 3;
		}
		text_char(t, ' ');
		text_add(t, s, n);
		column += n + 1;
		s += n;
		s += strspn(s, " ");
	}
	text_char(t, '\n');
}

static void
explain_rule(struct text *t, const struct rule *r)
{
	text_printf(t, "%s (%s): %s\n\n", r->id, level_name(r->level), r->text);
	put_paragraph(t, "   ", r->explain);
	if (r->spec[0] != '\0') {
		text_char(t, '\n');
		put_paragraph(t, "    The specification:", r->spec);
	}
}

static enum exit_status
explain_all(const struct options *o, struct text *t)
{
	enum exit_status status = STATUS_CLEAN;
	struct shown_path shown;

	for (int i = o->first_operand; i < o->argc; i++) {
		const struct rule *const r = rule_by_id(o->argv[i]);
		const char *const nearest = r == NULL ? rule_nearest_name(o->argv[i]) : NULL;
		if (i > o->first_operand)
			text_char(t, '\n');
		if (r != NULL)
			explain_rule(t, r);
		else if (nearest != NULL)
			status = options_mistake(o, "there is no rule %s; did you mean %s?",
			                         show_path(&shown, o->argv[i]), nearest);
		else
			status = options_mistake(o,
			                         "there is no rule %s; tracetool explain lists them, and the "
			                         "manual page of an output format what it loses",
			                         show_path(&shown, o->argv[i]));
	}
	return status;
}

enum exit_status
cmd_explain(const struct command *cmd, int argc, char **argv)
{
	struct options o;
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };
	const char *arg;
	enum exit_status status = STATUS_CLEAN;

	options_init(&o, cmd, argc, argv);
	if (options_next(&o, &arg) == OPTIONS_STOP)
		return o.status;
	if (!report_out_open(&out, &o))
		return STATUS_UNREADABLE;
	if (o.first_operand == argc)
		list_rules(&t);
	else
		status = explain_all(&o, &t);
	report_out_put(&out, &t);
	text_free(&t);
	return worse(status, report_out_close(&out));
}
