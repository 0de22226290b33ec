#ifndef RUN_READ_OPERANDS_H
#define RUN_READ_OPERANDS_H

#include "format/format.h"
#include "input/open.h"
#include "run/job.h"

/* ---- operands ---- */

/* The operands of a trace: files, and folders with the files in them. */
struct operand {
	const char *path;              /* borrowed */
	struct input_tree tree;        /* of a folder */
	struct input_archive *archive; /* read like a folder; NULL: none */
	bool folder;
	bool problems_only; /* its files are listed in other operands */
};

struct operands {
	struct operand *list;
	size_t n;
	const struct format *from; /* NULL: of any format */
	bool borrowed;             /* the operands are owned by another list */
};

/* Lists the operands.  Paths are borrowed. */
bool operands_init(struct operands *o, const char *const *paths, size_t n, const struct format *from);

/* Copies n listed operands, which outlive it. */
bool operands_borrow(struct operands *o, const struct operand *list, size_t n, const struct format *from);
void operands_free(struct operands *o);

/* The format that has a file of this name as sidecar (without events); NULL: the file is an input. */
const struct format *operands_sidecar(const struct operands *o, const char *path);

/* Upper bound of the number of inputs. */
size_t operands_count(const struct operands *o);

/* ---- trace groups ---- */

/*
 * The traces among the operands.  A file is a trace.  A folder may contain several, of several formats: each
 * file is a trace, unless its format (by its name) has traces of several files, which
 * trace_ops.common_path_length groups.
 */
struct trace_group {
	struct operand operand;      /* of a folder, lists only files of this trace */
	const struct format *format; /* of traces of several files; NULL: a file */
	char *path;       /* of several files, one of several traces in the folder: the common prefix of their
	                   * paths, with * if that is not a folder; else NULL */
	bool by_prefix;   /* that prefix is not a folder */
	uint32_t cap;     /* of operand.tree.paths */
	bool holds_input; /* not only sidecars */
	size_t number;    /* of its operand, from 0 */
};

struct trace_groups {
	struct operands operands;
	struct trace_group *list; /* in the order of the operands, and of their first files */
	uint32_t n, cap;
};

/* Lists the traces.  paths and from are borrowed.  trace_groups_free() must always be called. */
bool trace_groups_init(struct trace_groups *g, const char *const *paths, size_t n, const struct format *from);

/* Gives the problems of a folder to its first trace.  Without this they are a group of their own, so that a
 * bad entry does not hide a trace, and such a group counts as a trace. */
void trace_groups_fold(struct trace_groups *g);

/* The name of the trace: its file, or the folder of its files. */
const char *trace_group_path(const struct trace_group *t);
void trace_groups_free(struct trace_groups *g);

enum { FORMAT_PROBED = 65536 }; /* bytes that show the format */

/* The format by the first bytes of an input; NULL: it is not recognised, or OOM (*no_memory is set). */
const struct format *format_of_input(const struct input *in, bool *no_memory);

/* The format by the content of a file; NULL: it is not recognised, cannot be read, or is not a file. */
const struct format *format_of_content(const char *path);

/* ---- vocabularies (vocabularies.c) ---- */

/* A vocabulary of the user (tracetool-vocabulary(5)); its text was validated. */
struct schema_file {
	const char *path; /* for messages */
	struct slice text;
	struct vocab_use *use; /* or NULL */
};

/*
 * A cache of vocabularies by format: the user's files first, then the built-in one.  Loading takes some ms,
 * so they are loaded on demand and shared by successive traces.  Zero-initialise.
 */
struct vocabularies {
	struct vocabularies_row *rows;
	size_t n;
};

/* Returns NULL on OOM or errors, which are reported to the job's sink under the name of the file. */
const struct vocabulary *vocabularies_of(struct vocabularies *m, const struct pipeline_job *job,
                                         const struct format *format);

/* Adds a vocabulary that outlives the cache, of another one: traces on several threads may share it. */
bool vocabularies_borrow(struct vocabularies *m, const struct format *format, const struct vocabulary *v);

void vocabularies_free(struct vocabularies *m);

#endif
