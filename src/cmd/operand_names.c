#include "cmd/operand_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/say.h"
#include "format/registry.h"
#include "input/input_open.h"
#include "run/read/trace_groups.h"

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
