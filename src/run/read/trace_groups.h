#ifndef PIPELINE_TRACE_GROUPS_H
#define PIPELINE_TRACE_GROUPS_H

#include "run/read/operands.h"

/*
 * The traces that operands name.  A file is one.  A folder may hold several, of
 * several formats: each file is a trace of its own, unless its format (by its
 * name) has traces of several files; then those that trace_ops.trace_path puts
 * together are one.
 */
struct trace_group {
	struct operand operand;      /* to be read as a whole; a folder's lists files of this trace alone */
	const struct format *format; /* of traces of several files; NULL: a file */
	char *path; /* of such a trace, where a folder has several: what its files' paths have in common,
	             * and * if that is no folder; else NULL */
	bool by_prefix;              /* that is so */
	uint32_t cap;                /* of operand.tree.paths */
	bool holds_input;            /* besides files without events */
};

struct trace_groups {
	struct operands operands;
	struct trace_group *list; /* in the order of the operands, and of their first files */
	uint32_t n, cap;
};

/* Lists them.  paths and from are borrowed.  false: no memory.  In any case end with trace_groups_free. */
bool trace_groups_init(struct trace_groups *g, const char *const *paths, size_t n, const struct format *from);

/* What the trace is called: its file, or the folder that its files are in. */
const char *trace_group_path(const struct trace_group *t);

void trace_groups_free(struct trace_groups *g);

#endif
