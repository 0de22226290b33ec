#ifndef RUN_READ_OPERANDS_H
#define RUN_READ_OPERANDS_H

#include "format/format.h"
#include "input/open.h"
#include "run/job.h"

/* ---- operands ---- */

/* The operands of a trace: files, and folders with all that is in them. */
struct operand {
	const char *path;              /* borrowed */
	struct input_tree tree;        /* of a folder */
	struct input_archive *archive; /* that stands for a folder; NULL: none */
	bool folder;
	bool problems_only; /* its files are in other operands */
};

struct operands {
	struct operand *list;
	size_t n;
	const struct format *from; /* NULL: of any format */
	bool borrowed;             /* what the operands list is */
};

/* Whether a file of this name in a folder is read; from: NULL: by any format. */
bool operands_want_name(const struct format *from, const char *name);

/* Lists them.  Paths are borrowed.  false: no memory. */
bool operands_init(struct operands *o, const char *const *paths, size_t n, const struct format *from);

/* The same for n that were listed before, and outlive it. */
bool operands_borrow(struct operands *o, const struct operand *list, size_t n, const struct format *from);
void operands_free(struct operands *o);

/* The format whose traces a file of this name in a folder belongs to without holding events; NULL: it is an
 * input. */
const struct format *operands_sidecar(const struct operands *o, const char *path);

/* How many inputs there are at most. */
size_t operands_count(const struct operands *o);

/* ---- trace groups ---- */

/*
 * The traces that operands name.  A file is one.  A folder may hold several, of
 * several formats: each file is a trace of its own, unless its format (by its
 * name) has traces of several files; then those that trace_ops.trace_path puts
 * together are one.
 */
struct trace_group {
	struct operand operand;      /* to be read as a whole; a folder's lists files of this trace alone */
	const struct format *format; /* of traces of several files; NULL: a file */
	char *path;     /* of such a trace, where a folder has several: what its files' paths have in common,
	                 * and * if that is no folder; else NULL */
	bool by_prefix; /* that is so */
	uint32_t cap;   /* of operand.tree.paths */
	bool holds_input; /* besides files without events */
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

/* ---- vocabularies ---- */

/* A vocabulary of the user (tracetool-vocabulary(5)); its text has been checked. */
struct schema_file {
	const char *path; /* for messages */
	struct slice text;
};

/*
 * What the events of formats mean: the user's files first, then what is built
 * in.  Vocabularies are loaded when a trace of their format is met, and kept
 * from one trace to the next, as loading takes some ms.  Zero-initialise to
 * start.
 */
struct vocabularies {
	struct vocabularies_row *rows;
	size_t n;
};

/* NULL: no memory, or mistakes, which the job's sink was told under the name of the file. */
const struct vocabulary *vocabularies_of(struct vocabularies *m, const struct pipeline_job *job,
                                         const struct format *format);
void vocabularies_free(struct vocabularies *m);

#endif
