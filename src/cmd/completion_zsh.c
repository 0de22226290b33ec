#include "cmd/completion.h"
#include "cmd/options_table.h"

/* The script for zsh 5: what _arguments wants to know, for each command. */

static const char functions[] = "_tracetool_ids() {\n"
                                "\tlocal -a ids=($_tracetool_rules $_tracetool_losses)\n"
                                "\t_wanted ids expl 'rule or loss' compadd -a ids\n"
                                "}\n"
                                "\n"
                                "_tracetool_rule() {\n"
                                "\t_wanted rules expl rule compadd -a _tracetool_rules\n"
                                "}\n"
                                "\n"
                                "# WORDS: one of them, or WORD=FILE\n"
                                "_tracetool_files_behind() {\n"
                                "\tif compset -P '*='; then\n"
                                "\t\t_files\n"
                                "\telse\n"
                                "\t\t_wanted words expl word compadd -- \"$@\"\n"
                                "\tfi\n"
                                "}\n"
                                "\n"
                                "# WORDS: RULE=WORD\n"
                                "_tracetool_rules_with() {\n"
                                "\tif compset -P '*='; then\n"
                                "\t\t_wanted words expl word compadd -- \"$@\"\n"
                                "\telse\n"
                                "\t\t_wanted rules expl rule compadd -S = -a _tracetool_rules\n"
                                "\tfi\n"
                                "}\n"
                                "\n";

static const char first[] =
    "\n"
    "_tracetool() {\n"
    "\tif (( CURRENT == 2 )); then\n"
    "\t\tlocal -a commands=($_tracetool_commands 'help:Shows the help of a command.')\n"
    "\t\t_describe -t commands command commands\n"
    "\t\t_arguments '(-h --help)'{-h,--help}'[list the commands]' "
    "'(-V --version)'{-V,--version}'[name and version]'\n"
    "\t\treturn\n"
    "\tfi\n"
    "\tlocal command=$words[2]\n"
    "\tshift words\n"
    "\t(( CURRENT-- ))\n"
    "\tcase $command in\n"
    "\thelp) _describe -t commands command _tracetool_commands ;;\n"
    "\t--version|-V) _arguments '--verbose[what it is made of]' ;;\n";

/* What stands within '...' and within [...] or after a colon: a quote, bracket, colon or backslash is
 * escaped. */
static void
put_escaped(struct text *t, const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '\'') {
			text_str(t, "'\\''");
			continue;
		}
		if (strchr("[]:\\", *s) != NULL)
			text_char(t, '\\');
		text_char(t, *s);
	}
}

static void
put_words(struct text *t, const char *before, const struct complete_part *p, const char *behind)
{
	text_str(t, before);
	complete_put_words(t, p);
	text_str(t, behind);
}

/* ":ACTION" */
static void
put_action(struct text *t, const struct complete_value *v)
{
	if (v->behind.what == COMPLETE_FILES)
		put_words(t, ":_tracetool_files_behind ", &v->first, "");
	else if (v->behind.what == COMPLETE_WORDS)
		put_words(t, ":_tracetool_rules_with ", &v->behind, "");
	else if (v->first.what == COMPLETE_WORDS)
		put_words(t, ":(", &v->first, ")");
	else
		text_str(t, v->first.what == COMPLETE_FILES   ? ":_files"
		            : v->first.what == COMPLETE_RULES ? ":_tracetool_rule"
		            : v->first.what == COMPLETE_IDS   ? ":_tracetool_ids"
		                                              : ": ");
}

struct visit {
	struct text *t;
	const struct command *cmd;
};

static void
put_option(void *ctx, const struct cmd_option *o, const char *const *words)
{
	const struct visit *const v = ctx;
	const bool takes = o->arg != NULL;
	const char *const equals = takes ? "=" : "", *const plus = takes ? "+" : "";

	text_str(v->t, " \\\n\t\t\t");
	if (o->letter != 0) /* one of both is enough */
		text_printf(v->t, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter, plus,
		            o->name, equals);
	else /* those with an argument can be given again */
		text_printf(v->t, "'%s--%s%s[", takes ? "*" : "", o->name, equals);
	put_escaped(v->t, o->help);
	text_char(v->t, ']');
	if (takes) {
		struct complete_value value = complete_argument(v->cmd, o, words);
		text_char(v->t, ':');
		put_escaped(v->t, o->arg);
		put_action(v->t, &value);
		complete_free(&value);
	}
	text_char(v->t, '\'');
}

/* Operands; what follows an operand that is a word hangs on it. */
static void
put_operands(struct text *t, const struct command *cmd)
{
	struct complete_value value = complete_place(cmd, "");
	size_t behind = 0;

	for (const struct cmd_words *w = cmd->words; w != NULL && w->place != NULL; w++)
		behind += w->place[0] != '-' && w->place[0] != '\0';
	if (value.first.what != COMPLETE_NOTHING) {
		text_printf(t, " \\\n\t\t\t'%s:operand", value.first.what == COMPLETE_WORDS ? "1" : "*");
		put_action(t, &value);
		text_char(t, '\'');
	}
	if (behind > 0)
		text_printf(t, " \\\n\t\t\t'*:operand:_tracetool_%s'", cmd->name);
	complete_free(&value);
}

/* What follows the operands of a command that are words. */
static void
put_behind(struct text *t, const struct command *cmd)
{
	bool any = false;

	for (const struct cmd_words *w = cmd->words; w != NULL && w->place != NULL; w++) {
		if (w->place[0] == '-' || w->place[0] == '\0')
			continue;
		struct complete_value value = complete_place(cmd, w->place);
		if (!any)
			text_printf(t, "_tracetool_%s() {\n\tcase $words[2] in\n", cmd->name);
		any = true;
		text_printf(t, "\t%s) ", w->place);
		if (value.first.what == COMPLETE_FILES)
			text_str(t, "_files");
		else
			put_words(t, "_wanted words expl word compadd -- ", &value.first, "");
		text_str(t, " ;;\n");
		complete_free(&value);
	}
	if (any)
		text_str(t, "\tesac\n}\n\n");
}

static void
put_list(struct text *t, const char *name, void (*put)(struct text *))
{
	text_printf(t, "typeset -ga _tracetool_%s=(\n", name);
	put(t);
	text_str(t, ")\n\n");
}

void
completion_zsh(struct text *t)
{
	text_str(
	    t, "#compdef tracetool\n"
	       "# Completion of tracetool's command lines for zsh; printed by: tracetool completion zsh\n\n");
	put_list(t, "rules", complete_put_rules);
	put_list(t, "losses", complete_put_losses);
	text_str(t, "typeset -ga _tracetool_commands=(\n");
	for (const struct command *const *c = commands; *c != NULL; c++) {
		text_printf(t, "'%s:", (*c)->name);
		put_escaped(t, (*c)->summary);
		text_str(t, "'\n");
	}
	text_str(t, ")\n\n");
	text_str(t, functions);
	for (const struct command *const *c = commands; *c != NULL; c++)
		put_behind(t, *c);
	text_str(t, first + 1);
	for (const struct command *const *c = commands; *c != NULL; c++) {
		struct visit v = { t, *c };
		text_printf(t, "\t%s)\n\t\t_arguments -s -S", (*c)->name);
		options_visit(*c, put_option, &v);
		put_operands(t, *c);
		text_str(t, "\n\t\t;;\n");
	}
	text_str(t, "\tesac\n}\n\n_tracetool \"$@\"\n");
}
