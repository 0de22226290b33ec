#include "cmd/report_out.h"
#include "cmd/rules.h"
#include "cmd/say.h"
#include "format/registry.h"
#include "pipeline/engine_losses.h"

static const struct cmd_words words[] = { { "", WORDS_IDS, NULL }, { NULL, WORDS_LIST, NULL } };

const struct command explain_command = {
	.name = "explain",
	.operands = "[RULE|LOSS ...]",
	.summary = "Explains rules and kinds of loss: what a finding means, what an output lacks.  Without a "
	           "name: lists them all.",
	.words = words,
	.writes = true,
	.run = cmd_explain,
};

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

static void
explain_loss(struct text *t, const struct loss *l)
{
	text_printf(t, "%s (loss): %s\n\n", l->id, l->text);
	put_paragraph(t, "   ", l->explain);
}

/* false: there is no such rule or loss. */
static bool
explain_one(struct text *t, const char *id)
{
	const struct rule *const r = rule_by_id(id);
	const struct loss *const l = loss_by_id(id);

	if (r != NULL)
		explain_rule(t, r);
	else if (l != NULL)
		explain_loss(t, l);
	return r != NULL || l != NULL;
}

static enum exit_status
explain_all(const struct options *o, struct text *t)
{
	enum exit_status status = STATUS_CLEAN;
	struct shown_path shown;

	for (int i = o->first_operand; i < o->argc; i++) {
		if (i > o->first_operand)
			text_char(t, '\n');
		if (explain_one(t, o->argv[i]))
			continue;
		const char *const rule = rule_nearest_name(o->argv[i]);
		const char *const nearest = rule != NULL ? rule : loss_nearest_id(o->argv[i]);
		if (nearest != NULL)
			status = options_mistake(o, "there is no rule or loss %s; did you mean %s?",
			                         show_path(&shown, o->argv[i]), nearest);
		else
			status =
			    options_mistake(o, "there is no rule or loss %s; tracetool explain lists them",
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
	if (o.first_operand == argc) {
		rules_list_text(&t);
	} else {
		status = explain_all(&o, &t);
	}
	report_out_put(&out, &t);
	text_free(&t);
	return worse(status, report_out_close(&out));
}
