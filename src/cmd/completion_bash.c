#include <stdio.h>

#include "cmd/completion.h"
#include "cmd/options_table.h"

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

static void
put_part(struct text *t, const struct complete_part *p, const char *behind)
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
static void
put_case(struct text *t, const char *pattern, struct complete_value v)
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

static void
put_name(void *ctx, const struct cmd_option *o, const char *const *words)
{
	const struct visit *const v = ctx;

	(void)words;
	if (o->letter != 0)
		text_printf(v->t, "-%c ", o->letter);
	text_printf(v->t, "--%s ", o->name);
}

static void
put_option(void *ctx, const struct cmd_option *o, const char *const *words)
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

static void
put_command(struct text *t, const struct command *cmd)
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

void
completion_bash(struct text *t)
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
