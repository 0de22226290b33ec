/*
 * rules and explain: ids, levels and texts of rules and kinds of loss.  An operand is an id,
 * "htdump/no-base", a pattern, "htdump/cut-*", a family, "htdump" or "htdump/", or the end of an id,
 * "no-base".
 */

#include "base/match.h"
#include "cli/outputs.h"
#include "cli/say.h"
#include "format/registry.h"
#include "json/out.h"
#include "output/columns.h"
#include "output/text_visible.h"
#include "run/engine_losses.h"

static const struct cmd_words words[] = { { "", WORDS_IDS, NULL }, { NULL, WORDS_LIST, NULL } };

/* ---- names ---- */

/* Ways in which a name matches an id, the most specific first. */
enum means { MEANS_ID, MEANS_GLOB, MEANS_FAMILY, MEANS_END, MEANS_NOTHING };

static enum means means(const char *name, const char *id)
{
	const size_t family = strcspn(id, "/"), n = strlen(name);

	if (strcmp(name, id) == 0)
		return MEANS_ID;
	if (strpbrk(name, "*?") != NULL)
		return glob_is_linear(slice_str(name)) && glob_fits(slice_str(name), slice_str(id))
		           ? MEANS_GLOB
		           : MEANS_NOTHING;
	if (n >= family && n <= family + 1 && strncmp(name, id, n) == 0)
		return MEANS_FAMILY;
	return id[family] == '/' && strcmp(name, id + family + 1) == 0 ? MEANS_END : MEANS_NOTHING;
}

struct name_search {
	const char *name;
	enum means how;
	size_t n; /* ids that are meant so */
};

static void search(struct name_search *s, const char *id)
{
	const enum means how = means(s->name, id);

	if (how < s->how) {
		s->how = how;
		s->n = 0;
	}
	s->n += how == s->how && how != MEANS_NOTHING;
}

static void search_rule(void *ctx, const struct rule *r)
{
	search(ctx, r->id);
}

static void search_loss(void *ctx, const struct loss *l)
{
	search(ctx, l->id);
}

static struct name_search find(const char *name)
{
	struct name_search s = { .name = name, .how = MEANS_NOTHING };

	rules_visit(search_rule, &s);
	losses_visit(search_loss, &s);
	return s;
}

/* "chrome/late-end, dial9/late-end" */
struct id_list {
	struct text text;
	const struct name_search *s;
};

static void put_id(struct id_list *l, const char *id)
{
	if (means(l->s->name, id) == l->s->how)
		text_printf(&l->text, "%s%s", l->text.n > 0 ? ", " : "", id);
}

static void put_rule_id(void *ctx, const struct rule *r)
{
	put_id(ctx, r->id);
}

static void put_loss_id(void *ctx, const struct loss *l)
{
	put_id(ctx, l->id);
}

static bool refuse_ambiguous(struct options *o, const struct name_search *s)
{
	struct id_list list = { .s = s };
	struct shown_path shown;

	rules_visit(put_rule_id, &list);
	losses_visit(put_loss_id, &list);
	options_mistake(o, "%s may be one of %.*s; which is meant? (tracetool rules %s lists them)",
	                show_path(&shown, s->name), (int)list.text.n, list.text.p, shown.s);
	text_free(&list.text);
	return false;
}

/* Whether each operand matches something; with one_each, the end of an id only one id.  Returns false after a
 * message, with o->status set. */
static bool rules_check_names(struct options *o, bool one_each)
{
	struct shown_path shown;

	for (size_t i = 0; i < o->nin; i++) {
		const struct name_search s = find(o->in[i]);
		if (s.how == MEANS_END && s.n > 1 && one_each)
			return refuse_ambiguous(o, &s);
		if (s.how != MEANS_NOTHING)
			continue;
		const char *const rule = rule_nearest_name(o->in[i]);
		const char *const nearest = rule != NULL ? rule : loss_nearest_id(o->in[i]);
		show_path(&shown, o->in[i]);
		return nearest != NULL
		           ? options_mistake(o, "there is no rule or loss %s; did you mean %s?", shown.s,
		                             nearest)
		           : options_mistake(o, "there is no rule or loss %s; tracetool rules lists them",
		                             shown.s);
	}
	return true;
}

/* Whether an operand matches this id; without operands all ids do. */
static bool rules_are_meant(const struct options *o, const char *id)
{
	for (size_t i = 0; i < o->nin; i++)
		if (means(o->in[i], id) <= find(o->in[i]).how && means(o->in[i], id) != MEANS_NOTHING)
			return true;
	return o->nin == 0;
}

/* Filter of the listed rules and losses; zero-initialised: all. */
struct kinds {
	bool losses, findings; /* --losses, --findings: no others */
	unsigned level;        /* of --level, from 1; 0: any */
};

static bool lists_rule(const struct kinds *k, const struct rule *r)
{
	return !k->losses && (k->level == 0 || r->level == k->level - 1);
}

static bool lists_losses(const struct kinds *k)
{
	return !k->findings && k->level == 0;
}

struct list {
	struct text *t;
	const struct options *o;
	struct kinds kinds;
	struct columns *rows;  /* of the list as text */
	struct json_out *json; /* of the list as JSON */
};

/* ---- list as text ---- */

static void text_row(const struct list *list, const char *id, const char *level, const char *text)
{
	if (!rules_are_meant(list->o, id))
		return;
	columns_str(list->rows, id);
	columns_str(list->rows, level);
	columns_str(list->rows, text);
}

static void text_rule(void *ctx, const struct rule *r)
{
	const struct list *const list = ctx;

	if (lists_rule(&list->kinds, r))
		text_row(list, r->id, level_name(r->level), r->text);
}

static void text_loss(void *ctx, const struct loss *l)
{
	text_row(ctx, l->id, "loss", l->text);
}

static void list_text(struct list *list)
{
	static const struct column columns[] = { { NULL, COLUMN_WORD, 0, 0 },
		                                 { NULL, COLUMN_WORD, 0, 1 },
		                                 { NULL, COLUMN_TEXT, 16, 0 } };
	struct columns rows = { .list = columns, .n = 3 };

	list->rows = &rows;
	rules_visit(text_rule, list);
	if (lists_losses(&list->kinds))
		losses_visit(text_loss, list);
	columns_print(&rows, list->t, options_prose_width(list->o));
	columns_free(&rows);
}

/* ---- list as JSON: schemas/rules.schema.json ---- */

static void json_rule(void *ctx, const struct rule *r)
{
	const struct list *const list = ctx;
	struct json_out *const o = list->json;

	if (!lists_rule(&list->kinds, r) || !rules_are_meant(list->o, r->id))
		return;
	json_out_space(o, "\n");
	json_out_begin(o, NULL, "{");
	json_out_string(o, "id", r->id);
	json_out_string(o, "level", level_name(r->level));
	json_out_string(o, "text", r->text);
	json_out_string(o, "explanation", r->explain);
	json_out_string(o, "specification", r->spec);
	json_out_end(o, "}");
}

static void json_loss(void *ctx, const struct loss *l)
{
	const struct list *const list = ctx;
	struct json_out *const o = list->json;

	if (!rules_are_meant(list->o, l->id))
		return;
	json_out_space(o, "\n");
	json_out_begin(o, NULL, "{");
	json_out_string(o, "id", l->id);
	json_out_string(o, "text", l->text);
	json_out_string(o, "explanation", l->explain);
	json_out_end(o, "}");
}

static void list_json(struct list *list)
{
	struct json_out o = { .t = list->t };

	list->json = &o;
	json_out_begin(&o, NULL, "{");
	json_out_string(&o, "tool", TOOL_NAME);
	json_out_begin(&o, "rules", "[");
	rules_visit(json_rule, list);
	json_out_end(&o, "\n]");
	json_out_space(&o, "\n");
	json_out_begin(&o, "losses", "[");
	if (lists_losses(&list->kinds))
		losses_visit(json_loss, list);
	json_out_end(&o, "\n]}\n");
}

/* ---- list as Markdown ---- */

static void put_cell(struct text *t, const char *s)
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

static void put_row(struct text *t, const char *id, const char *level, const char *what)
{
	text_printf(t, "| `%s` | %s | ", id, level);
	put_cell(t, what);
	text_str(t, " |\n");
}

static void md_rule(void *ctx, const struct rule *r)
{
	const struct list *const list = ctx;

	if (lists_rule(&list->kinds, r) && rules_are_meant(list->o, r->id))
		put_row(list->t, r->id, level_name(r->level), r->text);
}

static void md_loss(void *ctx, const struct loss *l)
{
	const struct list *const list = ctx;

	if (rules_are_meant(list->o, l->id))
		put_row(list->t, l->id, "loss", l->text);
}

static void list_md(struct list *list)
{
	text_str(list->t, "| rule | level | what |\n|---|---|---|\n");
	rules_visit(md_rule, list);
	if (lists_losses(&list->kinds))
		losses_visit(md_loss, list);
}

struct rules_run {
	unsigned form; /* of text|json|md */
	struct kinds kinds;
};

static bool set_level(void *run, struct options *o, const char *arg)
{
	struct rules_run *const s = run;
	const int level = options_word(o, "--level", arg, policy_levels);

	s->kinds.level = (unsigned)(level + 1);
	return level >= 0;
}

static const struct cmd_option own_rules[] = {
	{ "format", "text|json|md", "the list's form (default: text; md: Markdown)", 0,
	  TO_CHOICE(struct rules_run, form) },
	{ "findings", NULL, "rules only, no kinds of loss", 0, TO_FLAG(struct rules_run, kinds.findings) },
	{ "losses", NULL, "kinds of loss only", 0, TO_FLAG(struct rules_run, kinds.losses) },
	{ "level", "note|warning|limit|error", "rules of this level only", 0, OPTION_CALL, .set = set_level },
	{ .name = NULL },
};

/* Fields of rules only. */
static bool check_kinds(struct options *o, const struct kinds *k)
{
	return !k->losses || (!k->findings && k->level == 0) ||
	       options_mistake(o, "--losses lists no rules: leave out %s",
	                       k->findings ? "--findings" : "--level");
}

static enum exit_status cmd_rules(const struct command *cmd, int argc, char **argv)
{
	static void (*const lists[])(struct list *) = { list_text, list_json, list_md };
	struct options o;
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };
	struct rules_run s = { .form = 0 };

	options_init(&o, cmd, argc, argv);
	if (!options_parse(&o, &s) || !check_kinds(&o, &s.kinds) || !rules_check_names(&o, false))
		return o.status;
	if (!report_out_open(&out, &o))
		return STATUS_UNREADABLE;
	lists[s.form](&(struct list){ .t = &t, .o = &o, .kinds = s.kinds });
	report_out_put(&out, &t);
	text_free(&t);
	return report_out_close(&out);
}

const struct command rules_command = {
	.name = "rules",
	.operands = "[options] [NAME ...]",
	.summary =
	    "Lists rules and kinds of loss, with their levels: all, or those of a family, a pattern, ...",
	.options = own_rules,
	.words = words,
	.writes = true,
	.tables = true,
	.run = cmd_rules,
};

/* ---- explain ---- */

/* Columns: explanations are prose, which is broken in pipes, too. */
#define WIDTH 78

struct explaining {
	struct text *t;
	const struct options *o;
	unsigned width;
	bool any;
};

static void put_paragraph(const struct explaining *x, const char *first, const char *s)
{
	text_str(x->t, first);
	text_wrap(x->t, slice_str(s), strlen(first), 4, x->width);
	text_char(x->t, '\n');
}

/* The line above an explanation. */
static void put_title(struct explaining *x, const char *id, const char *level, const char *what)
{
	text_printf(x->t, "%s%s (%s): ", x->any ? "\n" : "", id, level);
	text_wrap(x->t, slice_str(what), strlen(id) + strlen(level) + 5, 4, x->width);
	text_str(x->t, "\n\n");
	x->any = true;
}

static void explain_rule(void *ctx, const struct rule *r)
{
	struct explaining *const x = ctx;

	if (!rules_are_meant(x->o, r->id))
		return;
	put_title(x, r->id, level_name(r->level), r->text);
	put_paragraph(x, "    ", r->explain);
	if (r->spec[0] != '\0') {
		text_char(x->t, '\n');
		put_paragraph(x, "    The specification: ", r->spec);
	}
}

static void explain_loss(void *ctx, const struct loss *l)
{
	struct explaining *const x = ctx;

	if (!rules_are_meant(x->o, l->id))
		return;
	put_title(x, l->id, "loss", l->text);
	put_paragraph(x, "    ", l->explain);
}

/* ---- families ---- */

#define MAX_FAMILIES 64

struct families {
	struct {
		struct slice name;
		unsigned rules, losses;
	} list[MAX_FAMILIES];
	size_t n;
};

static size_t family_of(struct families *f, const char *id)
{
	const struct slice name = slice_of(id, strcspn(id, "/"));
	size_t i = 0;

	while (i < f->n && !slice_equal(f->list[i].name, name))
		i++;
	if (i == f->n && i < MAX_FAMILIES)
		f->list[f->n++].name = name;
	return i < MAX_FAMILIES ? i : MAX_FAMILIES - 1;
}

static void count_rule(void *ctx, const struct rule *r)
{
	struct families *const f = ctx;

	f->list[family_of(f, r->id)].rules++;
}

static void count_loss(void *ctx, const struct loss *l)
{
	struct families *const f = ctx;

	f->list[family_of(f, l->id)].losses++;
}

static void put_families(const struct explaining *x)
{
	static const struct column list[] = { { "family", COLUMN_WORD, 0, 0 },
		                              { "rules", COLUMN_NUMBER, 0, 0 },
		                              { "losses", COLUMN_NUMBER, 0, 0 } };
	struct columns c = { .list = list, .n = 3 };
	struct families f = { .n = 0 };

	rules_visit(count_rule, &f);
	losses_visit(count_loss, &f);
	text_printf(x->t, "usage: tracetool %s %s\n\n", x->o->cmd->name, x->o->cmd->operands);
	text_wrap(
	    x->t,
	    slice_str("A NAME is an id (input/missing), its end (missing), a pattern (input/packed-*) or "
	              "a family; tracetool rules lists the ids of one."),
	    0, 0, x->width);
	text_str(x->t, "\n\n");
	for (size_t i = 0; i < f.n; i++) {
		text_slice(&c.text, f.list[i].name);
		columns_next(&c);
		columns_u64(&c, f.list[i].rules);
		columns_u64(&c, f.list[i].losses);
	}
	columns_print(&c, x->t, x->width);
	columns_free(&c);
}

static const struct cmd_option own_explain[] = {
	{ "format", "text|json", "the form of the explanation (default: text)", 0, OPTION_CHOICE, .at = 0 },
	{ .name = NULL },
};

static enum exit_status cmd_explain(const struct command *cmd, int argc, char **argv)
{
	struct options o;
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };
	struct explaining x = { .t = &t, .o = &o };
	unsigned json = 0;

	options_init(&o, cmd, argc, argv);
	if (!options_parse(&o, &json) || !rules_check_names(&o, true))
		return o.status;
	x.width = options_prose_width(&o);
	if (x.width == 0 && !o.width_given)
		x.width = WIDTH;
	if (!report_out_open(&out, &o))
		return STATUS_UNREADABLE;
	if (json) {
		list_json(&(struct list){ .t = &t, .o = &o });
	} else if (o.nin == 0) {
		put_families(&x);
	} else {
		rules_visit(explain_rule, &x);
		losses_visit(explain_loss, &x);
	}
	report_out_put(&out, &t);
	text_free(&t);
	return report_out_close(&out);
}

const struct command explain_command = {
	.name = "explain",
	.operands = "[options] [NAME ...]",
	.summary = "Explains rules and kinds of loss: what a finding means, what an output lacks.",
	.options = own_explain,
	.words = words,
	.writes = true,
	.tables = true,
	.run = cmd_explain,
};
