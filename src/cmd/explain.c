#include "cmd/report_out.h"
#include "cmd/rules.h"
#include "cmd/say.h"
#include "format/registry.h"
#include "pipeline/engine_losses.h"

enum { O_FORMAT };

static const struct cmd_option own[] = {
	[O_FORMAT] = { "format", "text|json", "the form of what is said (default: text)", 0 },
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

struct explaining {
	struct text *t;
	const struct options *o;
	bool any;
};

static void
explain_meant_rule(void *ctx, const struct rule *r)
{
	struct explaining *const x = ctx;

	if (!rules_are_meant(x->o, r->id))
		return;
	text_str(x->t, x->any ? "\n" : "");
	x->any = true;
	explain_rule(x->t, r);
}

static void
explain_meant_loss(void *ctx, const struct loss *l)
{
	struct explaining *const x = ctx;

	if (!rules_are_meant(x->o, l->id))
		return;
	text_str(x->t, x->any ? "\n" : "");
	x->any = true;
	explain_loss(x->t, l);
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
put_families(struct text *t, const struct command *cmd)
{
	struct families f = { .n = 0 };

	rules_visit(count_rule, &f);
	losses_visit(count_loss, &f);
	text_printf(t,
	            "usage: tracetool %s %s\n\nA NAME is an id (input/missing), its end (missing), a pattern "
	            "(input/packed-*) or a\nfamily; tracetool rules lists the ids of one.\n\n%-14s %6s %7s\n",
	            cmd->name, cmd->operands, "family", "rules", "losses");
	for (size_t i = 0; i < f.n; i++)
		text_printf(t, "%-14.*s %6u %7u\n", (int)f.list[i].name.n, f.list[i].name.p, f.list[i].rules,
		            f.list[i].losses);
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
	if (!report_out_open(&out, &o))
		return STATUS_UNREADABLE;
	if (form == 1) {
		rules_list_json(&t, &o);
	} else if (o.first_operand == argc) {
		put_families(&t, cmd);
	} else {
		rules_visit(explain_meant_rule, &x);
		losses_visit(explain_meant_loss, &x);
	}
	report_out_put(&out, &t);
	text_free(&t);
	return report_out_close(&out);
}
