/*
 * The options of a command as rows, for --help and completion: its own options, those that select events,
 * common options, and options of formats.  An option that several formats have is shown once.
 */

#include <stdio.h>

#include "cli/options.h"
#include "cli/outputs.h"
#include "format/registry.h"
#include "output/text_visible.h"
#include "report/report.h"

bool options_has_common(const struct command *cmd, enum common which)
{
	switch (which) {
	case COMMON_HELP:
	case COMMON_COUNT:
		return which == COMMON_HELP;
	case COMMON_VOCABULARY:
		return cmd->reads && !cmd->uninterpreted;
	case COMMON_WIDTH:
		return cmd->tables;
	case COMMON_JSON:
		return options_own(cmd, "format") >= 0;
	case COMMON_OUTPUT:
	case COMMON_FORCE:
		return cmd->writes;
	case COMMON_REPORT:
		return cmd->selects && !cmd->reports;
	case COMMON_QUIET:
		return cmd->reads && options_own(cmd, "quiet") < 0;
	default:
		return cmd->reads;
	}
}

/* Returns the options of a format for this command, or NULL.  Options of formats that cannot be read are only
 * for commands that write. */
static const struct format_option *options_of(const struct command *cmd, const struct format *f)
{
	return cmd->reads && !cmd->uninterpreted && (f->reader != NULL || cmd->converts) ? f->options : NULL;
}

/* Writer options apply only to commands that write. */
static bool is_offered(const struct command *cmd, const struct format_option *p)
{
	return cmd->converts || !p->of_output;
}

const struct format_option *options_of_formats(const struct command *cmd, size_t i)
{
	for (const struct format *const *f = formats; *f != NULL; f++)
		for (const struct format_option *p = options_of(cmd, *f); p != NULL && p->name != NULL; p++)
			if (is_offered(cmd, p) && i-- == 0)
				return p;
	return NULL;
}

int options_own(const struct command *cmd, const char *name)
{
	for (int i = 0; cmd->options != NULL && cmd->options[i].name != NULL; i++)
		if (strcmp(cmd->options[i].name, name) == 0)
			return i;
	return -1;
}

bool options_is_shared(const struct command *cmd, const char *name)
{
	const struct format_option *p;
	unsigned n = 0;

	for (size_t i = 0; (p = options_of_formats(cmd, i)) != NULL; i++)
		n += strcmp(p->name, name) == 0;
	return n > 1;
}

/* Whether the command, its event selection, or an earlier format has an option of this name. */
static bool is_repeated(const struct command *cmd, const struct format_option *option, size_t i)
{
	for (const struct cmd_option *o = select_option_rows; cmd->selects && o->name != NULL; o++)
		if (strcmp(o->name, option->name) == 0)
			return true;
	while (i-- > 0)
		if (strcmp(options_of_formats(cmd, i)->name, option->name) == 0)
			return true;
	return options_own(cmd, option->name) >= 0;
}

void options_visit(const struct command *cmd, options_visitor *visit, void *ctx)
{
	const struct format_option *p;

	for (const struct cmd_option *o = cmd->options; o != NULL && o->name != NULL; o++)
		visit(ctx, o, NULL);
	for (const struct cmd_option *o = select_option_rows; cmd->selects && o->name != NULL; o++)
		visit(ctx, o, NULL);
	for (size_t i = 0; (p = options_of_formats(cmd, i)) != NULL; i++)
		if (!is_repeated(cmd, p, i))
			visit(ctx, &(struct cmd_option){ .name = p->name, .arg = p->arg, .help = p->help },
			      options_is_shared(cmd, p->name) ? NULL : p->words);
	for (int i = COMMON_COUNT - 1; i >= 0; i--)
		if (options_has_common(cmd, (enum common)i))
			visit(ctx, &options_common[i],
			      i == COMMON_COLOR    ? options_color_words
			      : i == COMMON_REPORT ? report_words
			                           : NULL);
}

/* ---- help ---- */

/* Writes the name and argument of an option, its help, and `owners` after it. */
static void help_row(struct text *t, const struct cmd_option *p, const struct text *owners, unsigned width)
{
	enum { INDENT = 29 };
	struct text help = { .p = NULL };
	char left[64];

	const int n = snprintf(left, sizeof left, "%c%c%s --%s%s%s", p->letter != 0 ? '-' : ' ',
	                       p->letter != 0 ? p->letter : ' ', p->letter != 0 ? "," : " ", p->name,
	                       p->arg != NULL ? " " : "", p->arg != NULL ? p->arg : "");
	text_str(&help, p->help);
	if (owners != NULL && owners->n > 0)
		text_add(&help, owners->p, owners->n);
	if (n > INDENT - 3) /* its help begins on the next line */
		text_printf(t, "  %s\n%*s", left, INDENT, "");
	else
		text_printf(t, "  %-*s ", INDENT - 3, left);
	if (help.n > 0)
		text_wrap(t, slice_of(help.p, help.n), INDENT, INDENT, width);
	text_char(t, '\n');
	t->failed |= help.failed;
	text_free(&help);
}

struct row_search {
	struct text *t;
	const char *name;
	size_t n;
	bool found;
};

static void find_row(void *ctx, const struct cmd_option *o, const char *const *words)
{
	struct row_search *const s = ctx;

	(void)words;
	if (strncmp(o->name, s->name, s->n) == 0 && o->name[s->n] == '\0' && !s->found)
		help_row(s->t, o, NULL, 0);
	s->found |= strncmp(o->name, s->name, s->n) == 0 && o->name[s->n] == '\0';
}

bool options_put_row(struct text *t, const struct command *cmd, const char *name, size_t n)
{
	struct row_search s = { t, name, n, false };

	options_visit(cmd, find_row, &s);
	return s.found;
}

/* Writes the formats that have the option, "(dial9, dftracer)". */
static void put_owners(struct text *t, const struct command *cmd, const char *name)
{
	const char *before = " (";

	for (const struct format *const *f = formats; *f != NULL; f++)
		for (const struct format_option *p = options_of(cmd, *f); p != NULL && p->name != NULL; p++)
			if (is_offered(cmd, p) && strcmp(p->name, name) == 0) {
				text_printf(t, "%s%s", before, (*f)->name);
				before = ", ";
			}
	text_char(t, ')');
}

/* Adds the block of options of formats; an option of several formats is shown once. */
static void format_help(const struct command *cmd, struct text *t, unsigned width)
{
	struct text owners = { .p = NULL };
	const struct format_option *p;
	bool any = false;

	for (size_t i = 0; (p = options_of_formats(cmd, i)) != NULL; i++) {
		if (is_repeated(cmd, p, i))
			continue;
		text_str(t, any ? "" : "\nOf formats:\n");
		any = true;
		text_clear(&owners);
		put_owners(&owners, cmd, p->name);
		help_row(t, &(struct cmd_option){ .name = p->name, .arg = p->arg, .help = p->help }, &owners,
		         width);
	}
	t->failed |= owners.failed;
	text_free(&owners);
}

/* Event selection has the same options in all commands, and its own manual page. */
static void select_help(struct text *t, unsigned width)
{
	const size_t max = width > 0 && width < 80 ? width : 80;
	size_t column = 0;

	text_str(t, "\nSelection, see tracetool-select(7):\n");
	for (const struct cmd_option *p = select_option_rows; p->name != NULL; p++) {
		const size_t n = strlen(p->name) + (p->arg != NULL ? strlen(p->arg) + 1 : 0) + 4;
		if (column > 0 && column + n > max) {
			text_char(t, '\n');
			column = 0;
		}
		text_printf(t, "  --%s%s%s", p->name, p->arg != NULL ? " " : "",
		            p->arg != NULL ? p->arg : "");
		column += n;
	}
	text_char(t, '\n');
}

enum exit_status options_help(const struct options *o)
{
	const unsigned width = options_prose_width(o);
	struct text t = { .p = NULL };

	text_printf(&t, "usage: tracetool %s ", o->cmd->name);
	text_wrap(&t, slice_str(o->cmd->operands), 18 + strlen(o->cmd->name), 7, width);
	text_str(&t, "\n\n");
	text_wrap(&t, slice_str(o->cmd->summary), 0, 0, width);
	text_str(&t, "\n\n");
	for (int i = 0; o->cmd->options != NULL && o->cmd->options[i].name != NULL; i++)
		help_row(&t, &o->cmd->options[i], NULL, width);
	text_str(&t, o->cmd->reads ? "\nGeneral:\n" : "");
	for (int i = COMMON_COUNT - 1; i >= 0; i--)
		if (options_has_common(o->cmd, (enum common)i))
			help_row(&t, &options_common[i], NULL, width);
	if (o->cmd->selects)
		select_help(&t, width);
	format_help(o->cmd, &t, width);
	text_printf(&t, "\nThe manual page tracetool-%s(1) says more.\n", o->cmd->name);
	return report_out_text(NULL, &t, REPORT_GUARDED);
}
