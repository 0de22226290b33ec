#ifndef PIPELINE_OPERANDS_H
#define PIPELINE_OPERANDS_H

#include "format/format.h"
#include "input/input_archive.h"

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

#endif
