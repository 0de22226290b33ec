#include <stdio.h>

#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/say.h"
#include "cmd/listing.h"
#include "format/registry.h"
#include "run/engine_losses.h"
#include "vocab/vocab.h"

/* ---- completion bash ---- */

/*
 * The script for bash 4 or newer.  For each command there is a function that says
 * what an option or operand may be; the rest is the same for all of them.  It
 * needs nothing of the package bash-completion.
 */

/* bash takes "=" for a word of its own, so "--report=sarif=x" comes as five words, and only the last is
 * replaced. */
static const char engine[] =
    "\n"
    "# Joins the words that bash has split at \"=\": $typed.\n"
    "_tracetool_join() {\n"
    "\tlocal word glue=''\n"
    "\ttyped=()\n"
    "\tfor word in \"${COMP_WORDS[@]:0:COMP_CWORD+1}\"; do\n"
    "\t\tif [[ ${#typed[@]} -gt 1 && ( $word == = || -n $glue ) ]]; then\n"
    "\t\t\ttyped[-1]+=$word\n"
    "\t\telse\n"
    "\t\t\ttyped+=(\"$word\")\n"
    "\t\tfi\n"
    "\t\tglue=\n"
    "\t\t[[ $word == = ]] && glue=yes\n"
    "\tdone\n"
    "}\n"
    "\n"
    "# KIND WORDS VALUE PREFIX SUFFIX: the answers that begin with VALUE, with PREFIX before and SUFFIX "
    "behind each.\n"
    "_tracetool_answer() {\n"
    "\tcase $1 in\n"
    "\tfiles)\n"
    "\t\tcompopt -o filenames 2>/dev/null\n"
    "\t\tmapfile -t COMPREPLY < <(compgen -P \"$4\" -f -- \"$3\")\n"
    "\t\t;;\n"
    "\trules) mapfile -t COMPREPLY < <(compgen -P \"$4\" -S \"$5\" -W \"$_tracetool_rules\" -- \"$3\") ;;\n"
    "\tids) mapfile -t COMPREPLY < <(compgen -P \"$4\" -S \"$5\" -W \"$_tracetool_rules$_tracetool_losses\" "
    "-- \"$3\") ;;\n"
    "\twords) mapfile -t COMPREPLY < <(compgen -P \"$4\" -S \"$5\" -W \"$2\" -- \"$3\") ;;\n"
    "\tesac\n"
    "}\n"
    "\n"
    "# VALUE: answers for $kind and $words, or, behind \"=\", for $kind_behind and $words_behind.\n"
    "_tracetool_value() {\n"
    "\tlocal value=$1 prefix=''\n"
    "\tif [[ -n $kind_behind && $value == *=* ]]; then\n"
    "\t\t[[ $COMP_WORDBREAKS == *=* ]] || prefix+=${value%%=*}=\n"
    "\t\t_tracetool_answer \"$kind_behind\" \"$words_behind\" \"${value#*=}\" \"$prefix\" ''\n"
    "\telif [[ -n $kind_behind && $kind == rules ]]; then\n"
    "\t\tcompopt -o nospace 2>/dev/null\n"
    "\t\t_tracetool_answer \"$kind\" \"$words\" \"$value\" '' =\n"
    "\telse\n"
    "\t\t_tracetool_answer \"$kind\" \"$words\" \"$value\" '' ''\n"
    "\tfi\n"
    "}\n"
    "\n"
    "# COMMAND LAST BEFORE FIRST: answers for the word LAST, which stands behind the word BEFORE.\n"
    "_tracetool_within() {\n"
    "\tlocal kind='' words='' kind_behind='' words_behind='' options=''\n"
    "\tif [[ $2 == --*=* ]] && \"_tracetool_$1\" \"${2%%=*}\"; then\n"
    "\t\t_tracetool_value \"${2#*=}\"\n"
    "\t\t[[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=(\"${COMPREPLY[@]/#/${2%%=*}=}\")\n"
    "\telif [[ $3 == -* ]] && \"_tracetool_$1\" \"$3\"; then\n"
    "\t\t_tracetool_value \"$2\"\n"
    "\telif [[ $2 == -* ]]; then\n"
    "\t\t\"_tracetool_$1\" '' || return\n"
    "\t\t_tracetool_answer words \"$options\" \"$2\" '' ''\n"
    "\telif \"_tracetool_$1\" \"$4\" || \"_tracetool_$1\" ''; then\n"
    "\t\t_tracetool_value \"$2\"\n"
    "\tfi\n"
    "}\n"
    "\n"
    "_tracetool() {\n"
    "\tlocal typed last first=''\n"
    "\tCOMPREPLY=()\n"
    "\t_tracetool_join\n"
    "\tlast=${typed[-1]}\n"
    "\tif [[ ${#typed[@]} -le 2 ]]; then\n"
    "\t\t_tracetool_answer words \"$_tracetool_commands help --help --version\" \"$last\" '' ''\n"
    "\telif [[ ${typed[1]} == help ]]; then\n"
    "\t\t_tracetool_answer words \"$_tracetool_commands\" \"$last\" '' ''\n"
    "\telif [[ ${typed[1]} == --version ]]; then\n"
    "\t\t_tracetool_answer words --verbose \"$last\" '' ''\n"
    "\telif [[ \" $_tracetool_commands \" == *\" ${typed[1]} \"* ]]; then\n"
    "\t\t[[ ${#typed[@]} -gt 3 ]] && first=${typed[2]}\n"
    "\t\t_tracetool_within \"${typed[1]}\" \"$last\" \"${typed[-2]}\" \"$first\"\n"
    "\tfi\n"
    "}\n"
    "\n"
    "complete -F _tracetool tracetool\n";

static const char *const kinds[] = {
	[COMPLETE_WORDS] = "words",
	[COMPLETE_FILES] = "files",
	[COMPLETE_RULES] = "rules",
	[COMPLETE_IDS] = "ids",
};

static void complete_put_words(struct text *t, const struct complete_part *p);

static void put_part(struct text *t, const struct complete_part *p, const char *behind)
{
	if (p->what == COMPLETE_NOTHING)
		return;
	text_printf(t, " kind%s=%s", behind, kinds[p->what]);
	if (p->what == COMPLETE_WORDS) {
		text_printf(t, " words%s='", behind);
		complete_put_words(t, p);
		text_char(t, '\'');
	}
}

/* One case, and what it sets. */
static void put_case(struct text *t, const char *pattern, struct complete_value v)
{
	text_printf(t, "\t%s)", pattern);
	put_part(t, &v.first, "");
	put_part(t, &v.behind, "_behind");
	text_str(t, " ;;\n");
	complete_free(&v);
}

struct visit {
	struct text *t;
	const struct command *cmd;
};

static void put_name(void *ctx, const struct cmd_option *o, const char *const *words)
{
	const struct visit *const v = ctx;

	(void)words;
	if (o->letter != 0)
		text_printf(v->t, "-%c ", o->letter);
	text_printf(v->t, "--%s ", o->name);
}

static void put_option(void *ctx, const struct cmd_option *o, const char *const *words)
{
	const struct visit *const v = ctx;
	char pattern[80];

	if (o->arg == NULL)
		return;
	if (o->letter != 0)
		snprintf(pattern, sizeof pattern, "-%c | --%s", o->letter, o->name);
	else
		snprintf(pattern, sizeof pattern, "--%s", o->name);
	put_case(v->t, pattern, complete_argument(v->cmd, o, words));
}

static struct complete_value complete_place(const struct command *cmd, const char *place);

static void put_command(struct text *t, const struct command *cmd)
{
	struct visit v = { t, cmd };

	text_printf(t, "\n_tracetool_%s() {\n\toptions='", cmd->name);
	options_visit(cmd, put_name, &v);
	text_str(t, "'\n\tcase $1 in\n");
	options_visit(cmd, put_option, &v);
	put_case(t, "''", complete_place(cmd, ""));
	for (const struct cmd_words *w = cmd->words; w != NULL && w->place != NULL; w++)
		if (w->place[0] != '-' && w->place[0] != '\0')
			put_case(t, w->place, complete_place(cmd, w->place));
	text_str(t, "\t*) return 1 ;;\n\tesac\n}\n");
}

static void complete_put_losses(struct text *t);

static void complete_put_rules(struct text *t);

/* The scripts. */
static void completion_bash(struct text *t)
{
	text_str(
	    t, "# shellcheck shell=bash\n"
	       "# Completion of tracetool's command lines for bash; printed by: tracetool completion bash\n\n"
	       "_tracetool_commands='");
	for (const struct command *const *c = commands; *c != NULL; c++)
		text_printf(t, "%s%s", c > commands ? " " : "", (*c)->name);
	text_str(t, "'\n\n_tracetool_rules='\n");
	complete_put_rules(t);
	text_str(t, "'\n\n_tracetool_losses='\n");
	complete_put_losses(t);
	text_str(t, "'\n\n# Each says for an option, \"\" (the first operand) or an operand (what follows "
	            "it) what can stand there;\n"
	            "# false: the option takes no argument.\n");
	for (const struct command *const *c = commands; *c != NULL; c++)
		put_command(t, *c);
	text_str(t, engine);
}

/* ---- completion fish ---- */

/* The script for fish 3: a line for each option of each command. */

static const char functions[] = "function __tracetool_first -d 'no command is named yet'\n"
                                "\ttest (count (commandline -opc)) -eq 1\n"
                                "end\n"
                                "\n"
                                "function __tracetool_in -d 'COMMAND [OPERAND]: the line begins with these'\n"
                                "\tset -l typed (commandline -opc)\n"
                                "\ttest (count $typed) -gt 1; and test $typed[2] = $argv[1]\n"
                                "\tor return\n"
                                "\tset -q argv[2]; or return 0\n"
                                "\ttest (count $typed) -gt 2; and test $typed[3] = $argv[2]\n"
                                "end\n"
                                "\n"
                                "function __tracetool_at -d 'COMMAND: it is the last word'\n"
                                "\tset -l typed (commandline -opc)\n"
                                "\ttest (count $typed) -eq 2; and test $typed[2] = $argv[1]\n"
                                "end\n"
                                "\n"
                                "# What is typed of an argument, without --option= before it.\n"
                                "function __tracetool_typed\n"
                                "\tstring replace -r -- '^--[a-z-]+=' '' (commandline -ct)\n"
                                "end\n"
                                "\n"
                                "function __tracetool_files_behind -d 'WORDS: one of them, or WORD=FILE'\n"
                                "\tset -l parts (string split -m 1 = -- (__tracetool_typed))\n"
                                "\tif set -q parts[2]\n"
                                "\t\tprintf \"$parts[1]=%s\\n\" (__fish_complete_path $parts[2])\n"
                                "\telse\n"
                                "\t\tprintf '%s\\n' $argv\n"
                                "\tend\n"
                                "end\n"
                                "\n"
                                "function __tracetool_rules_with -d 'WORDS: RULE=WORD'\n"
                                "\tset -l parts (string split -m 1 = -- (__tracetool_typed))\n"
                                "\tif set -q parts[2]\n"
                                "\t\tprintf \"$parts[1]=%s\\n\" $argv\n"
                                "\telse\n"
                                "\t\tprintf '%s=\\n' (__tracetool_rules)\n"
                                "\tend\n"
                                "end\n"
                                "\n";

/* Text in single quotes: a quote or backslash in it gets a backslash. */
static void put_quoted(struct text *t, const char *s)
{
	text_char(t, '\'');
	for (; *s != '\0'; s++) {
		if (*s == '\'' || *s == '\\')
			text_char(t, '\\');
		text_char(t, *s);
	}
	text_char(t, '\'');
}

static void put_words(struct text *t, const char *before, const struct complete_part *p, const char *behind)
{
	text_printf(t, " -a '%s", before);
	complete_put_words(t, p);
	text_printf(t, "%s'", behind);
}

/* -a and what it offers; -F or -f: files, or none. */
static void put_value(struct text *t, const struct complete_value *v)
{
	if (v->first.what == COMPLETE_FILES)
		text_str(t, " -F");
	else
		text_str(t, " -f");
	if (v->behind.what == COMPLETE_FILES)
		put_words(t, "(__tracetool_files_behind ", &v->first, ")");
	else if (v->behind.what == COMPLETE_WORDS)
		put_words(t, "(__tracetool_rules_with ", &v->behind, ")");
	else if (v->first.what == COMPLETE_WORDS)
		put_words(t, "", &v->first, "");
	else if (v->first.what == COMPLETE_RULES)
		text_str(t, " -a '(__tracetool_rules)'");
	else if (v->first.what == COMPLETE_IDS)
		text_str(t, " -a '(__tracetool_rules; __tracetool_losses)'");
}

static void put_option_completion_fish(void *ctx, const struct cmd_option *o, const char *const *words)
{
	const struct visit *const v = ctx;

	text_printf(v->t, "complete -c tracetool -n '__tracetool_in %s' -l %s", v->cmd->name, o->name);
	if (o->letter != 0)
		text_printf(v->t, " -s %c", o->letter);
	if (o->arg != NULL) {
		struct complete_value value = complete_argument(v->cmd, o, words);
		text_str(v->t, " -r");
		put_value(v->t, &value);
		complete_free(&value);
	}
	text_str(v->t, " -d ");
	put_quoted(v->t, o->help);
	text_char(v->t, '\n');
}

static void put_place(struct text *t, const struct command *cmd, const char *place)
{
	struct complete_value value = complete_place(cmd, place);

	if (place[0] != '\0')
		text_printf(t, "complete -c tracetool -n '__tracetool_in %s %s'", cmd->name, place);
	else
		text_printf(t, "complete -c tracetool -n '__tracetool_%s %s'",
		            cmd->words != NULL && !cmd->reads ? "at" : "in", cmd->name);
	put_value(t, &value);
	text_char(t, '\n');
	complete_free(&value);
}

static void put_command_completion_fish(struct text *t, const struct command *cmd)
{
	struct visit v = { t, cmd };

	text_printf(t, "\ncomplete -c tracetool -n __tracetool_first -f -a %s -d ", cmd->name);
	put_quoted(t, cmd->summary);
	text_char(t, '\n');
	options_visit(cmd, put_option_completion_fish, &v);
	put_place(t, cmd, "");
	for (const struct cmd_words *w = cmd->words; w != NULL && w->place != NULL; w++)
		if (w->place[0] != '-' && w->place[0] != '\0')
			put_place(t, cmd, w->place);
}

static void put_list(struct text *t, const char *name, void (*put)(struct text *))
{
	text_printf(t, "function __tracetool_%s\n\tstring trim -- '\n", name);
	put(t);
	text_str(t, "' | string match -v ''\nend\n\n");
}

static void completion_fish(struct text *t)
{
	text_str(
	    t,
	    "# Completion of tracetool's command lines for fish; printed by: tracetool completion fish\n\n");
	put_list(t, "rules", complete_put_rules);
	put_list(t, "losses", complete_put_losses);
	text_str(t, functions);
	text_str(t,
	         "complete -c tracetool -n __tracetool_first -f -a help -d 'Shows the help of a command.'\n"
	         "complete -c tracetool -n __tracetool_first -f -s h -l help -d 'list the commands'\n"
	         "complete -c tracetool -n __tracetool_first -f -s V -l version -d 'name and version'\n"
	         "complete -c tracetool -n '__tracetool_at --version' -f -l verbose -d 'what it is made of'\n"
	         "complete -c tracetool -n '__tracetool_at help' -f -a '");
	for (const struct command *const *c = commands; *c != NULL; c++)
		text_printf(t, "%s%s", c > commands ? " " : "", (*c)->name);
	text_str(t, "'\n");
	for (const struct command *const *c = commands; *c != NULL; c++)
		put_command_completion_fish(t, *c);
}

/* ---- completion zsh ---- */

/* The script for zsh 5: what _arguments wants to know, for each command. */

static const char functions_completion_zsh[] =
    "_tracetool_ids() {\n"
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
static void put_escaped(struct text *t, const char *s)
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

static void put_words_completion_zsh(struct text *t, const char *before, const struct complete_part *p,
                                     const char *behind)
{
	text_str(t, before);
	complete_put_words(t, p);
	text_str(t, behind);
}

/* ":ACTION" */
static void put_action(struct text *t, const struct complete_value *v)
{
	if (v->behind.what == COMPLETE_FILES)
		put_words_completion_zsh(t, ":_tracetool_files_behind ", &v->first, "");
	else if (v->behind.what == COMPLETE_WORDS)
		put_words_completion_zsh(t, ":_tracetool_rules_with ", &v->behind, "");
	else if (v->first.what == COMPLETE_WORDS)
		put_words_completion_zsh(t, ":(", &v->first, ")");
	else
		text_str(t, v->first.what == COMPLETE_FILES   ? ":_files"
		            : v->first.what == COMPLETE_RULES ? ":_tracetool_rule"
		            : v->first.what == COMPLETE_IDS   ? ":_tracetool_ids"
		                                              : ": ");
}

static void put_option_completion_zsh(void *ctx, const struct cmd_option *o, const char *const *words)
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
static void put_operands(struct text *t, const struct command *cmd)
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
static void put_behind(struct text *t, const struct command *cmd)
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
			put_words_completion_zsh(t, "_wanted words expl word compadd -- ", &value.first, "");
		text_str(t, " ;;\n");
		complete_free(&value);
	}
	if (any)
		text_str(t, "\tesac\n}\n\n");
}

static void put_list_completion_zsh(struct text *t, const char *name, void (*put)(struct text *))
{
	text_printf(t, "typeset -ga _tracetool_%s=(\n", name);
	put(t);
	text_str(t, ")\n\n");
}

static void completion_zsh(struct text *t)
{
	text_str(
	    t, "#compdef tracetool\n"
	       "# Completion of tracetool's command lines for zsh; printed by: tracetool completion zsh\n\n");
	put_list_completion_zsh(t, "rules", complete_put_rules);
	put_list_completion_zsh(t, "losses", complete_put_losses);
	text_str(t, "typeset -ga _tracetool_commands=(\n");
	for (const struct command *const *c = commands; *c != NULL; c++) {
		text_printf(t, "'%s:", (*c)->name);
		put_escaped(t, (*c)->summary);
		text_str(t, "'\n");
	}
	text_str(t, ")\n\n");
	text_str(t, functions_completion_zsh);
	for (const struct command *const *c = commands; *c != NULL; c++)
		put_behind(t, *c);
	text_str(t, first + 1);
	for (const struct command *const *c = commands; *c != NULL; c++) {
		struct visit v = { t, *c };
		text_printf(t, "\t%s)\n\t\t_arguments -s -S", (*c)->name);
		options_visit(*c, put_option_completion_zsh, &v);
		put_operands(t, *c);
		text_str(t, "\n\t\t;;\n");
	}
	text_str(t, "\tesac\n}\n\n_tracetool \"$@\"\n");
}

/* ---- completion ---- */

static const char *const shells[] = { "bash", "fish", "zsh", NULL };
static const struct cmd_words words[] = { { "", WORDS_LIST, shells }, { NULL, WORDS_LIST, NULL } };

static enum exit_status cmd_completion(const struct command *cmd, int argc, char **argv);

const struct command completion_command = {
	.name = "completion",
	.operands = "bash|fish|zsh",
	.summary = "Prints the script with which a shell completes command lines of tracetool.",
	.words = words,
	.run = cmd_completion,
};

/* ---- words ---- */

static void put_word(struct text *t, const char *word)
{
	text_printf(t, "%s%s", t->n > 0 ? " " : "", word);
}

static void put_words_completion(struct text *t, const char *const *w)
{
	for (; w != NULL && *w != NULL; w++)
		put_word(t, *w);
}

static void put_output_dialects(struct text *t, const struct format *f)
{
	for (const struct format_option *p = f->options; p != NULL && p->name != NULL; p++)
		if (strcmp(p->name, "to-dialect") == 0)
			put_words_completion(t, p->words);
}

static void put_source(struct text *t, const struct cmd_words *from)
{
	if (from->source == WORDS_LIST)
		put_words_completion(t, from->words);
	for (const struct format *const *f = formats; *f != NULL; f++)
		if (from->source == WORDS_DIALECTS)
			put_words_completion(t, (*f)->dialects);
		else if (from->source == WORDS_OUTPUT_DIALECTS)
			put_output_dialects(t, *f);
		else if ((from->source == WORDS_INPUT_FORMATS && (*f)->reader != NULL) ||
		         (from->source == WORDS_OUTPUT_FORMATS && (*f)->writer != NULL) ||
		         (from->source == WORDS_VOCABULARIES && vocab_builtin((*f)->name).p != NULL))
			put_word(t, (*f)->name);
}

static struct complete_part part_from(const struct cmd_words *from)
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

static const struct cmd_words *words_of(const struct command *cmd, const char *place)
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

/* What can stand at a place of the command (struct cmd_words); complete_free() afterwards. */
static struct complete_value complete_place(const struct command *cmd, const char *place)
{
	const struct cmd_words *const w = words_of(cmd, place);
	struct complete_value v = { .first = { .what = cmd->reads ? COMPLETE_FILES : COMPLETE_NOTHING } };

	if (w != NULL)
		v.first = part_from(w);
	return v;
}

/* One part of an argument, by its name: "FILE", "RULES", "on|off", or another, which `from` explains. */
static struct complete_part part_named(const char *name, size_t n, const struct cmd_words *from)
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
struct complete_value complete_argument(const struct command *cmd, const struct cmd_option *option,
                                        const char *const *list)
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

/* The words of COMPLETE_WORDS, with a blank between two. */
static void complete_put_words(struct text *t, const struct complete_part *p)
{
	t->failed |= p->words.failed;
	text_add(t, p->words.p, p->words.n);
}

void complete_free(struct complete_value *v)
{
	text_free(&v->first.words);
	text_free(&v->behind.words);
}

static void put_rule(void *ctx, const struct rule *rule)
{
	text_printf(ctx, "%s\n", rule->id);
}

static void put_loss(void *ctx, const struct loss *loss)
{
	text_printf(ctx, "%s\n", loss->id);
}

/* Ids with a line feed behind each. */
static void complete_put_rules(struct text *t)
{
	rules_visit(put_rule, t);
}

static void complete_put_losses(struct text *t)
{
	losses_visit(put_loss, t);
}

/* ---- the command ---- */

static enum exit_status cmd_completion(const struct command *cmd, int argc, char **argv)
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
