#ifndef CMD_CONVERT_VERIFY_H
#define CMD_CONVERT_VERIFY_H

#include "pipeline/pipeline.h"

struct convert;

/* --verify: keeps the events that are written, and compares the output with them before it gets its name. */
struct convert_verify {
	bool wanted;
	bool implied; /* by another option: what can be read back is checked by its rules, no more */
	bool begun, compares;
	uint64_t events;      /* that are compared */
	struct sorter sorter; /* all of them, to be put in order of time */
};

/* Whether the output can be read back; false after a message, and the status of the options set. */
bool convert_verify_check(struct convert *c);

/* When the output is opened; false after a message, and c->status set. */
bool convert_verify_begin(struct convert *c);

/* A batch that is about to be written; false after a message: the events cannot be kept. */
bool convert_verify_add(struct convert *c, const struct batch *b);

/* Reads the complete output; false after a message: it differs in what the losses do not declare, or cannot
 * be read.  If it breaks rules of its format, c->status says so. */
bool convert_verify_end(struct convert *c);

void convert_verify_free(struct convert_verify *v);

#endif
