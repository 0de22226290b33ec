/* _XOPEN_SOURCE: realpath(). */
#define _XOPEN_SOURCE 700

#include "cmd/operand_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/say.h"
#include "format/registry.h"
#include "input/input_open.h"
#include "pipeline/trace_groups.h"

/* ---- an output that is an input ---- */

/* The output that is there already. */
struct present_output {
	dev_t dev;
	ino_t ino;
	bool folder;
	char *looked; /* the folder that was last found not to lie in it; NULL: none */
};

static bool
is_it(const struct present_output *p, const struct stat *st)
{
	return st->st_dev == p->dev && st->st_ino == p->ino;
}

static bool
stat_name(const char *path, int standard, struct stat *st)
{
	return (strcmp(path, "-") == 0 ? fstat(standard, st) : stat(path, st)) == 0;
}

/* Whether one of the folders that a path leads through is the output.  Cuts the path. */
static bool
lies_in(struct present_output *p, char *path)
{
	struct stat st;
	char *slash = strrchr(path, '/');

	if (slash == NULL)
		return false;
	*slash = '\0';
	if (p->looked != NULL && strcmp(p->looked, path) == 0)
		return false;
	free(p->looked);
	p->looked = strdup(path);
	for (; slash != NULL; slash = strrchr(path, '/')) {
		*slash = '\0';
		if (stat(path[0] != '\0' ? path : "/", &st) == 0 && is_it(p, &st))
			return true;
	}
	return false;
}

static bool
is_input(struct present_output *p, const char *path)
{
	struct stat st;

	if (!stat_name(path, STDIN_FILENO, &st))
		return false;
	if (is_it(p, &st))
		return true;
	char *const full = p->folder && strcmp(path, "-") != 0 ? realpath(path, NULL) : NULL;
	const bool inside = full != NULL && lies_in(p, full);
	free(full);
	return inside;
}

/* The operand, or the file below it, that is the output; NULL: none. */
static const char *
find_in_operand(struct present_output *p, const struct operand *o)
{
	if (is_input(p, o->path))
		return o->path;
	for (size_t i = 0; i < o->tree.n; i++)
		if (is_input(p, o->tree.paths[i]))
			return o->tree.paths[i];
	return NULL;
}

/* Files that options name are read too. */
static const char *
find_in_options(struct present_output *p, const struct options *o)
{
	for (size_t i = 0; i < o->nschemas; i++)
		if (is_input(p, o->schemas[i].path))
			return o->schemas[i].path;
	for (size_t i = 0; i < o->nvalues; i++)
		for (const struct format *const *f = formats; *f != NULL; f++)
			for (const struct format_option *k = (*f)->options; k != NULL && k->name != NULL; k++)
				if (strcmp(k->name, o->values[i].name) == 0 && k->arg != NULL &&
				    strcmp(k->arg, "FILE") == 0 && is_input(p, o->values[i].value))
					return o->values[i].value;
	return NULL;
}

static bool
refuse(struct options *o, const char *in, const char *out, bool folder)
{
	struct shown_path shown_in, shown_out;

	o->status = options_mistake(o,
	                            folder ? "the output %s holds the input %s; nothing was done"
	                                   : "the output %s is the input %s; nothing was done",
	                            show_path(&shown_out, out), show_path(&shown_in, in));
	return false;
}

/* Devices and pipes may be both. */
static bool
check_output(struct options *o, const char *const *in, size_t n, const char *out)
{
	struct operands operands;
	struct stat st;

	if (!stat_name(out, STDOUT_FILENO, &st) || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return true;
	struct present_output p = { .dev = st.st_dev, .ino = st.st_ino, .folder = S_ISDIR(st.st_mode) };
	const char *found = find_in_options(&p, o);
	if (!operands_init(&operands, in, n, o->from)) {
		options_no_memory(o);
		return false;
	}
	for (size_t i = 0; i < n && found == NULL; i++)
		found = find_in_operand(&p, &operands.list[i]);
	const bool ok = found == NULL || refuse(o, found, out, p.folder);
	operands_free(&operands);
	free(p.looked);
	return ok;
}

/* ---- the names themselves ---- */

bool
names_check(struct options *o, const char *const *in, size_t n, const char *out)
{
	size_t standard = 0;

	for (size_t i = 0; i < n; i++) {
		standard += strcmp(in[i], "-") == 0;
		if (in[i][0] == '\0') {
			o->status = options_mistake(o, "the name of input %zu is empty", i + 1);
			return false;
		}
	}
	if (standard > 1)
		o->status = options_mistake(o, "standard input (-) is named %zu times; it can be read once",
		                            standard);
	else if (out != NULL && out[0] == '\0')
		o->status = options_mistake(o, "the name of the output is empty");
	else
		return out == NULL || check_output(o, in, n, out);
	return false;
}

/* ---- folders ---- */

enum { MOST_FORMATS = 32 };

/* The formats of the traces in a folder, in the order of the list of formats. */
struct contents {
	bool has[MOST_FORMATS];
	uint32_t nformats, ntraces;
	bool apart; /* traces of several files */
};

static const struct format *
format_of_group(const struct trace_group *g, const struct format *from)
{
	const char *const path = trace_group_path(g), *const slash = strrchr(path, '/');

	return g->format != NULL ? g->format
	       : from != NULL    ? from
	                         : format_of_name(slash != NULL ? slash + 1 : path);
}

static struct contents
contents_of(const struct trace_groups *g, const struct format *from)
{
	struct contents c = { .ntraces = 0 };

	for (uint32_t i = 0; i < g->n; i++) {
		const struct format *const f = format_of_group(&g->list[i], from);
		if (!g->list[i].holds_input)
			continue;
		c.ntraces++;
		for (size_t k = 0; k < MOST_FORMATS && formats[k] != NULL; k++)
			if (formats[k] == f) {
				c.nformats += !c.has[k];
				c.has[k] = true;
				c.apart |= f->trace != NULL;
			}
	}
	return c;
}

/* Memory that ran out is said when the trace is read. */
static bool
is_one_trace(struct options *o, const char *path)
{
	struct trace_groups g;
	struct shown_path shown;
	char names[256] = "";

	const bool listed = trace_groups_init(&g, &path, 1, o->from);
	const struct contents c = contents_of(&g, o->from);
	const bool folder = listed && g.operands.list[0].folder;
	trace_groups_free(&g);
	if (!folder || c.ntraces < 2 || (c.nformats < 2 && !(c.apart && o->cmd->converts)))
		return true;
	for (size_t k = 0; k < MOST_FORMATS && formats[k] != NULL; k++)
		if (c.has[k] && strlen(names) + strlen(formats[k]->name) + 3 < sizeof names)
			sprintf(names + strlen(names), "%s%s", names[0] != '\0' ? ", " : "",
			        formats[k]->name);
	if (c.nformats > 1)
		o->status = options_mistake(o,
		                            "%s holds %" PRIu32 " traces of %" PRIu32
		                            " formats (%s): %s--from FORMAT takes those of one",
		                            show_path(&shown, path), c.ntraces, c.nformats, names,
		                            o->cmd->converts ? "merge joins them; " : "");
	else
		o->status = options_mistake(
		    o, "%s holds %" PRIu32 " traces of format %s: merge joins them, or name one of them",
		    show_path(&shown, path), c.ntraces, names);
	return false;
}

bool
names_one_trace(struct options *o, const char *const *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (input_is_named(in[i]) && !is_one_trace(o, in[i]))
			return false;
	return true;
}
