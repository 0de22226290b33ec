#include "cmd/rules.h"

#include "cmd/report_out.h"
#include "cmd/say.h"
#include "format/registry.h"
#include "pipeline/engine_losses.h"

enum { O_FORMAT };

static const struct cmd_option own[] = {
	[O_FORMAT] = { "format", "text|json|md", "the list's form (default: text; md: Markdown)", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct command rules_command = {
	.name = "rules",
	.operands = "[--format text|json|md]",
	.summary = "Lists all rules and kinds of loss, with their levels.",
	.options = own,
	.writes = true,
	.run = cmd_rules,
};

struct list {
	struct text *t;
	bool any;
};

/* ---- text ---- */

static void
text_rule(void *ctx, const struct rule *r)
{
	text_printf(ctx, "%-30s %-8s %s\n", r->id, level_name(r->level), r->text);
}

static void
text_loss(void *ctx, const struct loss *l)
{
	text_printf(ctx, "%-30s %-8s %s\n", l->id, "loss", l->text);
}

void
rules_list_text(struct text *t)
{
	rules_visit(text_rule, t);
	losses_visit(text_loss, t);
}

/* ---- JSON: schemas/rules.schema.json ---- */

static void
put_member(struct text *t, const char *key, const char *value)
{
	text_printf(t, "%s\"%s\":", strcmp(key, "id") == 0 ? "{" : ",", key);
	text_json_string(t, slice_str(value));
}

static void
json_rule(void *ctx, const struct rule *r)
{
	struct list *const list = ctx;

	text_str(list->t, list->any ? ",\n" : "\n");
	list->any = true;
	put_member(list->t, "id", r->id);
	put_member(list->t, "level", level_name(r->level));
	put_member(list->t, "text", r->text);
	put_member(list->t, "explanation", r->explain);
	put_member(list->t, "specification", r->spec);
	text_char(list->t, '}');
}

static void
json_loss(void *ctx, const struct loss *l)
{
	struct list *const list = ctx;

	text_str(list->t, list->any ? ",\n" : "\n");
	list->any = true;
	put_member(list->t, "id", l->id);
	put_member(list->t, "text", l->text);
	put_member(list->t, "explanation", l->explain);
	text_char(list->t, '}');
}

static void
list_json(struct text *t)
{
	struct list list = { .t = t };

	text_str(t, "{\"tool\":");
	text_json_string(t, slice_str(TOOL_NAME));
	text_str(t, ",\"rules\":[");
	rules_visit(json_rule, &list);
	text_str(t, "\n],\n\"losses\":[");
	list.any = false;
	losses_visit(json_loss, &list);
	text_str(t, "\n]}\n");
}

/* ---- Markdown ---- */

static void
put_cell(struct text *t, const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '<')
			text_str(t, "&lt;");
		else if (strchr("|`*_[]\\", *s) != NULL)
			text_printf(t, "\\%c", *s);
		else
			text_char(t, *s);
	}
}

static void
put_row(struct text *t, const char *id, const char *level, const char *what)
{
	text_printf(t, "| `%s` | %s | ", id, level);
	put_cell(t, what);
	text_str(t, " |\n");
}

static void
md_rule(void *ctx, const struct rule *r)
{
	put_row(ctx, r->id, level_name(r->level), r->text);
}

static void
md_loss(void *ctx, const struct loss *l)
{
	put_row(ctx, l->id, "loss", l->text);
}

static void
list_md(struct text *t)
{
	text_str(t, "| rule | level | what |\n|---|---|---|\n");
	rules_visit(md_rule, t);
	losses_visit(md_loss, t);
}

enum exit_status
cmd_rules(const struct command *cmd, int argc, char **argv)
{
	static const char *const forms[] = { "text", "json", "md", NULL };
	static void (*const lists[])(struct text *) = { rules_list_text, list_json, list_md };
	struct options o;
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };
	struct shown_path shown;
	const char *arg;
	int form = 0, opt;

	options_init(&o, cmd, argc, argv);
	while ((opt = options_next(&o, &arg)) >= 0)
		if ((form = options_word(&o, "--format", arg, forms)) < 0)
			return o.status;
	if (opt == OPTIONS_STOP)
		return o.status;
	if (o.first_operand < argc)
		return options_mistake(&o, "takes no operand such as %s; tracetool explain takes rules",
		                       show_path(&shown, argv[o.first_operand]));
	if (!report_out_open(&out, &o))
		return STATUS_UNREADABLE;
	lists[form](&t);
	report_out_put(&out, &t);
	text_free(&t);
	return report_out_close(&out);
}
