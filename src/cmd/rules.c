/*
 * rules and explain: ids, levels and texts of rules and kinds of loss.  An operand is an id
 * ("htdump/no-base"), a pattern ("htdump/cut-*"), a family ("htdump" or "htdump/"), or the end of an id
 * ("no-base").
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

/* ---- rules and losses alike ---- */

struct entry {
	const char *id, *level, *text, *explain, *spec; /* level: "loss" for a loss */
	const struct rule *rule;                        /* NULL: a kind of loss */
};

/* Zero-initialised: all rules, then all kinds of loss. */
struct entry_walk {
	struct rule_walk rules;
	struct loss_walk losses;
	bool at_losses; /* all rules were returned */
	struct entry entry;
};

static const struct entry *next_entry(struct entry_walk *w)
{
	const struct rule *const r = w->at_losses ? NULL : rule_next(&w->rules);
	const struct loss *l;

	w->at_losses = r == NULL;
	if (r != NULL)
		w->entry = (struct entry){ r->id, level_name(r->level), r->text, r->explain, r->spec, r };
	else if ((l = loss_next(&w->losses)) != NULL)
		w->entry = (struct entry){ l->id, "loss", l->text, l->explain, "", NULL };
	else
		return NULL;
	return &w->entry;
}

/* ---- names ---- */

/* Ways in which a name matches an id, the most specific first. */
enum id_match { MATCH_ID, MATCH_GLOB, MATCH_FAMILY, MATCH_END, MATCH_NOTHING };

static enum id_match match_id(const char *name, const char *id)
{
	const size_t family = strcspn(id, "/"), n = strlen(name);

	if (strcmp(name, id) == 0)
		return MATCH_ID;
	if (strpbrk(name, "*?") != NULL)
		return glob_is_linear(slice_str(name)) && glob_fits(slice_str(name), slice_str(id))
		           ? MATCH_GLOB
		           : MATCH_NOTHING;
	if (n >= family && n <= family + 1 && strncmp(name, id, n) == 0)
		return MATCH_FAMILY;
	return id[family] == '/' && strcmp(name, id + family + 1) == 0 ? MATCH_END : MATCH_NOTHING;
}

struct name_search {
	const char *name;
	enum id_match how;
	size_t n; /* number of ids that match in this way */
};

static struct name_search find(const char *name)
{
	struct name_search s = { .name = name, .how = MATCH_NOTHING };
	struct entry_walk w = { .at_losses = false };

	for (const struct entry *e; (e = next_entry(&w)) != NULL;) {
		const enum id_match how = match_id(name, e->id);
		if (how < s.how) {
			s.how = how;
			s.n = 0;
		}
		s.n += how == s.how && how != MATCH_NOTHING;
	}
	return s;
}

/* "chrome/late-end, dial9/late-end" */
static bool refuse_ambiguous(struct options *o, const struct name_search *s)
{
	struct entry_walk w = { .at_losses = false };
	struct text list = { .p = NULL };
	struct shown_path shown;

	for (const struct entry *e; (e = next_entry(&w)) != NULL;)
		if (match_id(s->name, e->id) == s->how)
			text_printf(&list, "%s%s", list.n > 0 ? ", " : "", e->id);
	options_mistake(o, "%s may be one of %.*s; which is meant? (tracetool rules %s lists them)",
	                show_path(&shown, s->name), (int)list.n, list.p, shown.s);
	text_free(&list);
	return false;
}

/* Whether each operand matches an id.  one_each: the end of an id must match only one id.  Returns false
 * after a message, with o->status set. */
static bool check_names(struct options *o, bool one_each)
{
	struct shown_path shown;

	for (size_t i = 0; i < o->nin; i++) {
		const struct name_search s = find(o->in[i]);
		if (s.how == MATCH_END && s.n > 1 && one_each)
			return refuse_ambiguous(o, &s);
		if (s.how != MATCH_NOTHING)
			continue;
		const char *const rule = rule_nearest_name(o->in[i]);
		const char *const nearest = rule != NULL ? rule : loss_nearest_id(o->in[i]);
		return options_unknown(o, nearest, "tracetool rules lists them",
		                       "there is no rule or loss %s", show_path(&shown, o->in[i]));
	}
	return true;
}

/* Whether an operand matches this id; without operands all ids do. */
static bool is_meant(const struct options *o, const char *id)
{
	for (size_t i = 0; i < o->nin; i++) {
		const enum id_match how = match_id(o->in[i], id);
		if (how != MATCH_NOTHING && how == find(o->in[i]).how)
			return true;
	}
	return o->nin == 0;
}

/* ---- rules ---- */

/* Selects the listed rules and losses; zero-initialised: all. */
struct kinds {
	bool losses, findings; /* --losses, --findings: list nothing else */
	unsigned level;        /* argument of --level, from 1; 0: any level */
};

struct list {
	struct text *t;
	const struct options *o;
	struct kinds kinds;
};

static bool is_listed(const struct list *list, const struct entry *e)
{
	const struct kinds *const k = &list->kinds;
	const bool fits = e->rule != NULL ? !k->losses && (k->level == 0 || e->rule->level == k->level - 1)
	                                  : !k->findings && k->level == 0;

	return fits && is_meant(list->o, e->id);
}

static const struct entry *next_listed(const struct list *list, struct entry_walk *w)
{
	const struct entry *e;

	while ((e = next_entry(w)) != NULL && !is_listed(list, e))
		;
	return e;
}

static void list_text(const struct list *list)
{
	static const struct column columns[] = { { NULL, COLUMN_WORD, 0, 0 },
		                                 { NULL, COLUMN_WORD, 0, 1 },
		                                 { NULL, COLUMN_TEXT, 16, 0 } };
	struct columns rows = { .list = columns, .n = 3 };
	struct entry_walk w = { .at_losses = false };

	for (const struct entry *e; (e = next_listed(list, &w)) != NULL;) {
		columns_str(&rows, e->id);
		columns_str(&rows, e->level);
		columns_str(&rows, e->text);
	}
	columns_print(&rows, list->t, options_prose_width(list->o));
}

static void put_json(struct json_out *o, const struct entry *e)
{
	json_out_begin_after(o, "\n", NULL, "{");
	json_out_string(o, "id", e->id);
	if (e->rule != NULL)
		json_out_string(o, "level", e->level);
	json_out_string(o, "text", e->text);
	json_out_string(o, "explanation", e->explain);
	if (e->rule != NULL)
		json_out_string(o, "specification", e->spec);
	json_out_end(o, "}");
}

/* schemas/rules.schema.json */
static void list_json(const struct list *list)
{
	struct json_out o = { .t = list->t };
	struct entry_walk w = { .at_losses = false };
	const struct entry *e;

	json_out_begin(&o, NULL, "{");
	json_out_string(&o, "tool", TOOL_NAME);
	json_out_begin(&o, "rules", "[");
	while ((e = next_listed(list, &w)) != NULL && e->rule != NULL)
		put_json(&o, e);
	json_out_end(&o, "\n]");
	json_out_begin_after(&o, "\n", "losses", "[");
	for (; e != NULL; e = next_listed(list, &w))
		put_json(&o, e);
	json_out_end(&o, "\n]}\n");
}

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

static void list_md(const struct list *list)
{
	struct entry_walk w = { .at_losses = false };

	text_str(list->t, "| rule | level | what |\n|---|---|---|\n");
	for (const struct entry *e; (e = next_listed(list, &w)) != NULL;) {
		text_printf(list->t, "| `%s` | %s | ", e->id, e->level);
		put_cell(list->t, e->text);
		text_str(list->t, " |\n");
	}
}

struct rules_run {
	unsigned form; /* index in text|json|md */
	struct kinds kinds;
};

static bool set_level(void *run, struct options *o, const char *arg)
{
	struct rules_run *const s = run;
	const int level = options_word(o, "--level", arg, level_names);

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

static enum exit_status cmd_rules(const struct command *cmd, int argc, char **argv)
{
	static void (*const lists[])(const struct list *) = { list_text, list_json, list_md };
	struct options o;
	struct text t = { .p = NULL };
	struct rules_run s = { .form = 0 };

	options_init(&o, cmd, argc, argv);
	if (!options_parse(&o, &s))
		return o.status;
	if (s.kinds.losses && (s.kinds.findings || s.kinds.level > 0))
		options_mistake(&o, "--losses lists no rules: leave out %s",
		                s.kinds.findings ? "--findings" : "--level");
	if (o.status != STATUS_CLEAN || !check_names(&o, false))
		return o.status;
	lists[s.form](&(struct list){ .t = &t, .o = &o, .kinds = s.kinds });
	return report_out_text(&o, &t, REPORT_GUARDED);
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

/* Explanations are prose, which is broken into lines of this width in pipes too. */
#define WIDTH 78

struct explaining {
	struct text *t;
	const struct options *o;
	unsigned width;
};

static void put_paragraph(const struct explaining *x, const char *first, const char *s)
{
	text_str(x->t, first);
	text_wrap(x->t, slice_str(s), strlen(first), 4, x->width);
	text_char(x->t, '\n');
}

static void explain_all(const struct explaining *x)
{
	struct entry_walk w = { .at_losses = false };
	const char *before = "";

	for (const struct entry *e; (e = next_entry(&w)) != NULL;) {
		if (!is_meant(x->o, e->id))
			continue;
		text_printf(x->t, "%s%s (%s): ", before, e->id, e->level);
		text_wrap(x->t, slice_str(e->text), strlen(e->id) + strlen(e->level) + 5, 4, x->width);
		text_str(x->t, "\n\n");
		before = "\n";
		put_paragraph(x, "    ", e->explain);
		if (e->spec[0] != '\0') {
			text_char(x->t, '\n');
			put_paragraph(x, "    The specification: ", e->spec);
		}
	}
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

static struct families count_families(void)
{
	struct families f = { .n = 0 };
	struct entry_walk w = { .at_losses = false };

	for (const struct entry *e; (e = next_entry(&w)) != NULL;) {
		const struct slice name = slice_of(e->id, strcspn(e->id, "/"));
		size_t i = 0;
		while (i < f.n && !slice_equal(f.list[i].name, name))
			i++;
		if (i == f.n && i < MAX_FAMILIES)
			f.list[f.n++].name = name;
		i = i < MAX_FAMILIES ? i : MAX_FAMILIES - 1;
		f.list[i].rules += e->rule != NULL;
		f.list[i].losses += e->rule == NULL;
	}
	return f;
}

static void put_families(const struct explaining *x)
{
	static const struct column list[] = { { "family", COLUMN_WORD, 0, 0 },
		                              { "rules", COLUMN_NUMBER, 0, 0 },
		                              { "losses", COLUMN_NUMBER, 0, 0 } };
	struct columns c = { .list = list, .n = 3 };
	const struct families f = count_families();

	text_printf(x->t, "usage: tracetool %s %s\n\n", x->o->cmd->name, x->o->cmd->operands);
	text_wrap(x->t,
	          slice_str("A NAME is an id (input/missing), its end (missing), a pattern (input/packed-*) "
	                    "or a family; tracetool rules lists the ids of one."),
	          0, 0, x->width);
	text_str(x->t, "\n\n");
	for (size_t i = 0; i < f.n; i++) {
		text_slice(&c.text, f.list[i].name);
		columns_next(&c);
		columns_u64(&c, f.list[i].rules);
		columns_u64(&c, f.list[i].losses);
	}
	columns_print(&c, x->t, x->width);
}

static const struct cmd_option own_explain[] = {
	{ "format", "text|json", "the form of the explanation (default: text)", 0, OPTION_CHOICE, .at = 0 },
	{ .name = NULL },
};

static enum exit_status cmd_explain(const struct command *cmd, int argc, char **argv)
{
	struct options o;
	struct text t = { .p = NULL };
	struct explaining x = { .t = &t, .o = &o };
	unsigned json = 0;

	options_init(&o, cmd, argc, argv);
	if (!options_parse(&o, &json) || !check_names(&o, true))
		return o.status;
	x.width = options_prose_width(&o);
	if (x.width == 0 && !o.width_given)
		x.width = WIDTH;
	if (json)
		list_json(&(struct list){ .t = &t, .o = &o });
	else if (o.nin == 0)
		put_families(&x);
	else
		explain_all(&x);
	return report_out_text(&o, &t, REPORT_GUARDED);
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
