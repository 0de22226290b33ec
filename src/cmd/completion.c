#include "cmd/completion.h"

#include <stdio.h>

#include "cmd/report_out.h"
#include "cmd/say.h"
#include "format/registry.h"
#include "run/engine_losses.h"
#include "vocab/vocab.h"

static const char *const shells[] = { "bash", "fish", "zsh", NULL };

static const struct cmd_words words[] = { { "", WORDS_LIST, shells }, { NULL, WORDS_LIST, NULL } };

const struct command completion_command = {
	.name = "completion",
	.operands = "bash|fish|zsh",
	.summary = "Prints the script with which a shell completes command lines of tracetool.",
	.words = words,
	.run = cmd_completion,
};

/* ---- words ---- */

static void
put_word(struct text *t, const char *word)
{
	text_printf(t, "%s%s", t->n > 0 ? " " : "", word);
}

static void
put_words(struct text *t, const char *const *w)
{
	for (; w != NULL && *w != NULL; w++)
		put_word(t, *w);
}

static void
put_output_dialects(struct text *t, const struct format *f)
{
	for (const struct format_option *p = f->options; p != NULL && p->name != NULL; p++)
		if (strcmp(p->name, "to-dialect") == 0)
			put_words(t, p->words);
}

static void
put_source(struct text *t, const struct cmd_words *from)
{
	if (from->source == WORDS_LIST)
		put_words(t, from->words);
	for (const struct format *const *f = formats; *f != NULL; f++)
		if (from->source == WORDS_DIALECTS)
			put_words(t, (*f)->dialects);
		else if (from->source == WORDS_OUTPUT_DIALECTS)
			put_output_dialects(t, *f);
		else if ((from->source == WORDS_INPUT_FORMATS && (*f)->reader != NULL) ||
		         (from->source == WORDS_OUTPUT_FORMATS && (*f)->writer != NULL) ||
		         (from->source == WORDS_VOCABULARIES && vocab_builtin((*f)->name).p != NULL))
			put_word(t, (*f)->name);
}

static struct complete_part
part_from(const struct cmd_words *from)
{
	struct complete_part p = { .what = COMPLETE_WORDS };

	if (from->source == WORDS_FILES || from->source == WORDS_RULES || from->source == WORDS_IDS) {
		p.what = from->source == WORDS_FILES   ? COMPLETE_FILES
		         : from->source == WORDS_RULES ? COMPLETE_RULES
		                                       : COMPLETE_IDS;
		return p;
	}
	put_source(&p.words, from);
	return p;
}

static const struct cmd_words *
words_of(const struct command *cmd, const char *place)
{
	static const struct cmd_words common[] = {
		{ "--from", WORDS_INPUT_FORMATS, NULL },
		{ "--from-dialect", WORDS_DIALECTS, NULL },
		{ "--to-dialect", WORDS_OUTPUT_DIALECTS, NULL },
		{ NULL, WORDS_LIST, NULL },
	};
	const struct cmd_words *const tables[] = { cmd->words, common };

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct cmd_words *w = tables[i]; w != NULL && w->place != NULL; w++)
			if (strcmp(w->place, place) == 0)
				return w;
	return NULL;
}

struct complete_value
complete_place(const struct command *cmd, const char *place)
{
	const struct cmd_words *const w = words_of(cmd, place);
	struct complete_value v = { .first = { .what = cmd->reads ? COMPLETE_FILES : COMPLETE_NOTHING } };

	if (w != NULL)
		v.first = part_from(w);
	return v;
}

/* One part of an argument, by its name: "FILE", "RULES", "on|off", or another, which `from` explains. */
static struct complete_part
part_named(const char *name, size_t n, const struct cmd_words *from)
{
	static const struct {
		const char *name;
		struct cmd_words from;
	} known[] = {
		{ "FILE", { NULL, WORDS_FILES, NULL } },
		{ "TRACE", { NULL, WORDS_FILES, NULL } },
		{ "RULES", { NULL, WORDS_RULES, NULL } },
	};
	struct complete_part p = { .what = COMPLETE_WORDS };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].name) == n && memcmp(known[i].name, name, n) == 0)
			return part_from(&known[i].from);
	if (from != NULL)
		return part_from(from);
	if (memchr(name, '|', n) == NULL)
		return (struct complete_part){ .what = COMPLETE_NOTHING };
	for (size_t i = 0; i < n; i++)
		text_char(&p.words, name[i] == '|' ? ' ' : name[i]);
	return p;
}

/* FIRST, FIRST=BEHIND or FIRST[=BEHIND]. */
struct complete_value
complete_argument(const struct command *cmd, const struct cmd_option *option, const char *const *list)
{
	const char *const equals = strchr(option->arg, '=');
	const struct cmd_words of_table = { NULL, WORDS_LIST, list };
	struct complete_value v = { .first = { .what = COMPLETE_NOTHING } };
	char place[64];

	snprintf(place, sizeof place, "--%s", option->name);
	const struct cmd_words *const from = list != NULL ? &of_table : words_of(cmd, place);
	v.first = part_named(option->arg, strcspn(option->arg, "[="), from);
	if (equals != NULL)
		v.behind = part_named(equals + 1, strcspn(equals + 1, "]"), from);
	return v;
}

void
complete_put_words(struct text *t, const struct complete_part *p)
{
	t->failed |= p->words.failed;
	text_add(t, p->words.p, p->words.n);
}

void
complete_free(struct complete_value *v)
{
	text_free(&v->first.words);
	text_free(&v->behind.words);
}

static void
put_rule(void *ctx, const struct rule *rule)
{
	text_printf(ctx, "%s\n", rule->id);
}

static void
put_loss(void *ctx, const struct loss *loss)
{
	text_printf(ctx, "%s\n", loss->id);
}

void
complete_put_rules(struct text *t)
{
	rules_visit(put_rule, t);
}

void
complete_put_losses(struct text *t)
{
	losses_visit(put_loss, t);
}

/* ---- the command ---- */

enum exit_status
cmd_completion(const struct command *cmd, int argc, char **argv)
{
	static void (*const scripts[])(struct text *) = { completion_bash, completion_fish, completion_zsh };
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };
	struct options o;
	const char *arg;

	options_init(&o, cmd, argc, argv);
	if (options_next(&o, &arg) == OPTIONS_STOP)
		return o.status;
	if (o.first_operand + 1 != argc)
		return options_mistake(&o, "name one shell: bash, fish or zsh");
	const int shell = options_word(&o, "it", argv[o.first_operand], shells);
	if (shell < 0)
		return o.status;
	if (!report_out_open(&out, NULL))
		return STATUS_UNREADABLE;
	out.plain = true;
	scripts[shell](&t);
	report_out_put(&out, &t);
	text_free(&t);
	return report_out_close(&out);
}
