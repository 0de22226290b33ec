#include "cmd/completion.h"
#include "cmd/options_table.h"

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
static void
put_quoted(struct text *t, const char *s)
{
	text_char(t, '\'');
	for (; *s != '\0'; s++) {
		if (*s == '\'' || *s == '\\')
			text_char(t, '\\');
		text_char(t, *s);
	}
	text_char(t, '\'');
}

static void
put_words(struct text *t, const char *before, const struct complete_part *p, const char *behind)
{
	text_printf(t, " -a '%s", before);
	complete_put_words(t, p);
	text_printf(t, "%s'", behind);
}

/* -a and what it offers; -F or -f: files, or none. */
static void
put_value(struct text *t, const struct complete_value *v)
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

struct visit {
	struct text *t;
	const struct command *cmd;
};

static void
put_option(void *ctx, const struct cmd_option *o, const char *const *words)
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

static void
put_place(struct text *t, const struct command *cmd, const char *place)
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

static void
put_command(struct text *t, const struct command *cmd)
{
	struct visit v = { t, cmd };

	text_printf(t, "\ncomplete -c tracetool -n __tracetool_first -f -a %s -d ", cmd->name);
	put_quoted(t, cmd->summary);
	text_char(t, '\n');
	options_visit(cmd, put_option, &v);
	put_place(t, cmd, "");
	for (const struct cmd_words *w = cmd->words; w != NULL && w->place != NULL; w++)
		if (w->place[0] != '-' && w->place[0] != '\0')
			put_place(t, cmd, w->place);
}

static void
put_list(struct text *t, const char *name, void (*put)(struct text *))
{
	text_printf(t, "function __tracetool_%s\n\tstring trim -- '\n", name);
	put(t);
	text_str(t, "' | string match -v ''\nend\n\n");
}

void
completion_fish(struct text *t)
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
		put_command(t, *c);
}
