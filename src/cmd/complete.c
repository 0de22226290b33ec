/*
 * Completion of command lines.  The script of each shell (completion/) runs "tracetool __complete WORD...":
 * the words after the program's name; the last word, which may be empty, is completed.  The answer is made
 * from the tables of --help:
 *
 *	words               or     files TAB PREFIX
 *	WORD TAB HELP
 *	...
 *
 * A word replaces the whole last word; one that ends in "=" is not complete.  After "files", the shell
 * completes a file name after PREFIX.  The shell drops the words that do not match.
 */

#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/outputs.h"
#include "format/registry.h"
#include "run/engine_losses.h"
#include "vocab/vocab.h"

/* ---- candidates ---- */

struct answer {
	struct text t;      /* the words, one a line */
	bool files;         /* a file name can follow the prefix */
	const char *last;   /* the word to complete */
	size_t prefix;      /* number of bytes of `last` before the value */
	const char *suffix; /* "=" if a second value follows the first, else "" */
};

static void put_word(struct answer *a, const char *word, size_t n, const char *help)
{
	text_add(&a->t, a->last, a->prefix);
	text_add(&a->t, word, n);
	text_printf(&a->t, "%s%s%s\n", a->suffix, help != NULL ? "\t" : "", help != NULL ? help : "");
}

static void put_name(struct answer *a, const char *name)
{
	put_word(a, name, strlen(name), NULL);
}

static void put_names(struct answer *a, const char *const *names)
{
	for (; names != NULL && *names != NULL; names++)
		put_name(a, *names);
}

static void put_of_format(struct answer *a, enum cmd_word_source source, const struct format *f)
{
	if (source == WORDS_DIALECTS)
		put_names(a, f->dialects);
	for (const struct format_option *p = f->options; p != NULL && p->name != NULL; p++)
		if (source == WORDS_OUTPUT_DIALECTS && strcmp(p->name, "to-dialect") == 0)
			put_names(a, p->words);
	if ((source == WORDS_INPUT_FORMATS && f->reader != NULL) ||
	    (source == WORDS_OUTPUT_FORMATS && f->writer != NULL) ||
	    (source == WORDS_VOCABULARIES && vocab_builtin(f->name).p != NULL))
		put_name(a, f->name);
}

static void put_source(struct answer *a, enum cmd_word_source source, const char *const *list)
{
	struct rule_walk rules = { .list = 0 };
	struct loss_walk losses = { .format = 0 };
	const struct rule *r;
	const struct loss *l;

	if (source == WORDS_LIST)
		put_names(a, list);
	if (source == WORDS_FILES)
		a->files = true;
	while ((source == WORDS_RULES || source == WORDS_IDS) && (r = rule_next(&rules)) != NULL)
		put_name(a, r->id);
	while (source == WORDS_IDS && (l = loss_next(&losses)) != NULL)
		put_name(a, l->id);
	for (const struct format *const *f = formats; *f != NULL; f++)
		put_of_format(a, source, *f);
}

/* The row of an option, "--to", or of an operand; NULL: none. */
static const struct cmd_words *find_words(const struct command *cmd, const char *position)
{
	static const struct cmd_words common[] = {
		{ "--from", WORDS_INPUT_FORMATS, NULL },
		{ "--from-dialect", WORDS_DIALECTS, NULL },
		{ "--to-dialect", WORDS_OUTPUT_DIALECTS, NULL },
		{ NULL, WORDS_LIST, NULL },
	};
	const struct cmd_words *const tables[] = { cmd->words, common };

	for (size_t i = 0; i < COUNT_OF(tables); i++)
		for (const struct cmd_words *w = tables[i]; w != NULL && w->position != NULL; w++)
			if (strcmp(w->position, position) == 0)
				return w;
	return NULL;
}

/* ---- options ---- */

/* An option of the command, found by its name or letter. */
struct found_option {
	const char *typed; /* "--name", "--name=value" or "-n" */
	struct cmd_option option;
	const char *const *words; /* words from the table of the option, or NULL */
	bool found;
};

static void match_option(void *ctx, const struct cmd_option *o, const char *const *words)
{
	struct found_option *const f = ctx;
	const char *const p = f->typed;
	const bool is_long = p[0] == '-' && p[1] == '-';
	const size_t n = is_long ? strcspn(p + 2, "=") : 0;

	if (is_long ? strlen(o->name) == n && memcmp(o->name, p + 2, n) == 0
	            : p[0] == '-' && p[1] != '\0' && p[1] == o->letter && p[2] == '\0') {
		f->option = *o;
		f->words = words;
		f->found = true;
	}
}

static bool takes_argument(const struct command *cmd, const char *word, struct found_option *f)
{
	*f = (struct found_option){ .typed = word };
	options_visit(cmd, match_option, f);
	return f->found && f->option.arg != NULL;
}

/* Completes a part of an argument by its name in the help ("FILE", "RULES", "on|off"), or by the candidates
 * of `row`. */
static void put_part(struct answer *a, const char *name, size_t n, const struct cmd_words *row)
{
	if ((n == 4 && memcmp(name, "FILE", n) == 0) || (n == 5 && memcmp(name, "TRACE", n) == 0))
		a->files = true;
	else if (n == 5 && memcmp(name, "RULES", n) == 0)
		put_source(a, WORDS_RULES, NULL);
	else if (row != NULL)
		put_source(a, row->source, row->words);
	else if (memchr(name, '|', n) != NULL)
		for (size_t k; n > 0; name += k, n -= k) {
			k = strcspn(name, "|[=");
			k = k < n ? k : n;
			put_word(a, name, k, NULL);
			k += k < n;
		}
}

/* Completes the argument of an option: FIRST, FIRST=SECOND or FIRST[=SECOND], in a->last after the prefix. */
static void put_argument(struct answer *a, const struct command *cmd, const struct found_option *f)
{
	const char *const name = f->option.arg, *const second = strchr(name, '=');
	const char *const equals = second != NULL ? strchr(a->last + a->prefix, '=') : NULL;
	const struct cmd_words own = { NULL, WORDS_LIST, f->words };
	char position[64];

	snprintf(position, sizeof position, "--%s", f->option.name);
	const struct cmd_words *const row = f->words != NULL ? &own : find_words(cmd, position);
	if (equals != NULL) {
		a->prefix = (size_t)(equals + 1 - a->last);
		put_part(a, second + 1, strcspn(second + 1, "]"), row);
	} else {
		a->suffix = second != NULL && strncmp(name, "RULES", 5) == 0 ? "=" : "";
		put_part(a, name, strcspn(name, "[="), row);
	}
}

static void put_option(void *ctx, const struct cmd_option *o, const char *const *words)
{
	const char letter[] = { '-', o->letter, '\0' };
	char name[80];

	(void)words;
	snprintf(name, sizeof name, "--%s", o->name);
	if (o->letter != 0)
		put_word(ctx, letter, 2, o->help);
	put_word(ctx, name, strlen(name), o->help);
}

/* ---- positions ---- */

static void put_commands(struct answer *a)
{
	for (const struct command *const *c = commands; *c != NULL; c++)
		put_word(a, (*c)->name, strlen((*c)->name), (*c)->summary);
}

/* Completes a word that is not an option.  The list of words of a command is for its first operand only. */
static void put_operand(struct answer *a, const struct command *cmd, const char *first)
{
	const struct cmd_words *row = first != NULL ? find_words(cmd, first) : NULL;

	if (row == NULL)
		row = find_words(cmd, "");
	if (row == NULL)
		a->files |= cmd->reads;
	else if (first == NULL || row->position[0] != '\0' || row->source != WORDS_LIST)
		put_source(a, row->source, row->words);
}

/* words: those after the name of the command; the last is completed. */
static void complete_command(struct answer *a, const struct command *cmd, int n, char **words)
{
	struct found_option f = { .found = false };
	const char *first = NULL;
	bool is_argument = false;

	for (int i = 0; i < n - 1; i++) {
		const bool is_option = !is_argument && words[i][0] == '-' && words[i][1] != '\0';
		if (!is_argument && !is_option && first == NULL)
			first = words[i];
		is_argument = is_option && takes_argument(cmd, words[i], &f) && strchr(words[i], '=') == NULL;
	}
	if (is_argument) {
		put_argument(a, cmd, &f);
	} else if (strncmp(a->last, "--", 2) == 0 && strchr(a->last, '=') != NULL) {
		a->prefix = strcspn(a->last, "=") + 1;
		if (takes_argument(cmd, a->last, &f))
			put_argument(a, cmd, &f);
	} else if (a->last[0] == '-') {
		options_visit(cmd, put_option, a);
	} else {
		put_operand(a, cmd, first);
	}
}

enum exit_status complete_print(int argc, char **argv)
{
	struct answer a = { .last = argc > 0 ? argv[argc - 1] : "", .suffix = "" };
	struct text answer = { .p = NULL };

	if (argc <= 1) {
		put_commands(&a);
		put_word(&a, "help", 4, "Shows the help of a command.");
		put_word(&a, "--help", 6, "list the commands");
		put_word(&a, "--version", 9, "name and version");
	} else if (strcmp(argv[0], "help") == 0) {
		put_commands(&a);
	} else if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0) {
		put_word(&a, "--verbose", 9, "what it is made of");
	}
	for (const struct command *const *c = commands; argc > 1 && *c != NULL; c++)
		if (strcmp(argv[0], (*c)->name) == 0)
			complete_command(&a, *c, argc - 1, argv + 1);
	text_str(&answer, a.files ? "files\t" : "words");
	text_add(&answer, a.last, a.files ? a.prefix : 0);
	text_char(&answer, '\n');
	text_add(&answer, a.t.p, a.t.n);
	answer.failed |= a.t.failed;
	text_free(&a.t);
	return report_out_text(NULL, &answer, REPORT_AS_IS);
}

/* ---- completion ---- */

static const char *const shells[] = { "bash", "fish", "zsh", NULL }; /* as in the Makefile */
static const struct cmd_words words[] = { { "", WORDS_LIST, shells }, { NULL, WORDS_LIST, NULL } };

static enum exit_status cmd_completion(const struct command *cmd, int argc, char **argv)
{
	struct text t = { .p = NULL };
	struct options o;

	options_init(&o, cmd, argc, argv);
	if (!options_parse(&o, NULL) ||
	    (o.nin != 1 && !options_mistake(&o, "name one shell: bash, fish or zsh")))
		return o.status;
	const int shell = options_word(&o, "it", o.in[0], shells);
	if (shell < 0)
		return o.status;
	text_str(&t, completion_scripts[shell]);
	return report_out_text(NULL, &t, REPORT_AS_IS);
}

const struct command completion_command = {
	.name = "completion",
	.operands = "bash|fish|zsh",
	.summary = "Prints the script with which a shell completes command lines of tracetool.",
	.words = words,
	.run = cmd_completion,
};
