#include "cmd/report_out.h"
#include "cmd/rules.h"
#include "cmd/say.h"
#include "format/registry.h"
#include "output/columns.h"
#include "output/text_fit.h"
#include "run/engine_losses.h"

enum { O_FORMAT };

static const struct cmd_option own[] = {
	[O_FORMAT] = { "format", "text|json", "the form of the explanation (default: text)", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const struct cmd_words words[] = { { "", WORDS_IDS, NULL }, { NULL, WORDS_LIST, NULL } };

const struct command explain_command = {
	.name = "explain",
	.operands = "[options] [NAME ...]",
	.summary = "Explains rules and kinds of loss: what a finding means, what an output lacks.",
	.options = own,
	.words = words,
	.writes = true,
	.tables = true,
	.run = cmd_explain,
};

/* Explanations are prose: they are broken in pipes, too. */
#define WIDTH 78

struct explaining {
	struct text *t;
	const struct options *o;
	unsigned width;
	bool any;
};

static void
put_paragraph(const struct explaining *x, const char *first, const char *s)
{
	text_str(x->t, first);
	text_wrap(x->t, slice_str(s), strlen(first), 4, x->width);
	text_char(x->t, '\n');
}

/* The line above an explanation. */
static void
put_title(struct explaining *x, const char *id, const char *level, const char *what)
{
	text_printf(x->t, "%s%s (%s): ", x->any ? "\n" : "", id, level);
	text_wrap(x->t, slice_str(what), strlen(id) + strlen(level) + 5, 4, x->width);
	text_str(x->t, "\n\n");
	x->any = true;
}

static void
explain_rule(void *ctx, const struct rule *r)
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

static void
explain_loss(void *ctx, const struct loss *l)
{
	struct explaining *const x = ctx;

	if (!rules_are_meant(x->o, l->id))
		return;
	put_title(x, l->id, "loss", l->text);
	put_paragraph(x, "    ", l->explain);
}

/* ---- families ---- */

#define MOST_FAMILIES 64

struct families {
	struct {
		struct slice name;
		unsigned rules, losses;
	} list[MOST_FAMILIES];
	size_t n;
};

static size_t
family_of(struct families *f, const char *id)
{
	const struct slice name = slice_of(id, strcspn(id, "/"));
	size_t i = 0;

	while (i < f->n && !slice_equal(f->list[i].name, name))
		i++;
	if (i == f->n && i < MOST_FAMILIES)
		f->list[f->n++].name = name;
	return i < MOST_FAMILIES ? i : MOST_FAMILIES - 1;
}

static void
count_rule(void *ctx, const struct rule *r)
{
	struct families *const f = ctx;

	f->list[family_of(f, r->id)].rules++;
}

static void
count_loss(void *ctx, const struct loss *l)
{
	struct families *const f = ctx;

	f->list[family_of(f, l->id)].losses++;
}

static void
put_families(const struct explaining *x)
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

enum exit_status
cmd_explain(const struct command *cmd, int argc, char **argv)
{
	static const char *const forms[] = { "text", "json", NULL };
	struct options o;
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };
	struct explaining x = { .t = &t, .o = &o };
	const char *arg;
	int form = 0, opt;

	options_init(&o, cmd, argc, argv);
	while ((opt = options_next(&o, &arg)) >= 0)
		if ((form = options_word(&o, "--format", arg, forms)) < 0)
			return o.status;
	if (opt == OPTIONS_STOP || !rules_check_names(&o, true))
		return o.status;
	x.width = options_prose_width(&o);
	if (x.width == 0 && !o.width_given)
		x.width = WIDTH;
	if (!report_out_open(&out, &o))
		return STATUS_UNREADABLE;
	if (form == 1) {
		rules_list_json(&t, &o);
	} else if (o.first_operand == argc) {
		put_families(&x);
	} else {
		rules_visit(explain_rule, &x);
		losses_visit(explain_loss, &x);
	}
	report_out_put(&out, &t);
	text_free(&t);
	return report_out_close(&out);
}
