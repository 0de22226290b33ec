#ifndef FLOW_MEANINGS_H
#define FLOW_MEANINGS_H

#include "format/format.h"

/* A vocabulary of the user (tracetool-schema(5)); its text has been checked. */
struct flow_schema {
	const char *path; /* for messages */
	struct slice text;
};

/*
 * What the events of formats mean: the user's files first, then what is built
 * in.  Vocabularies are loaded when a trace of their format is met, and kept
 * from one trace to the next, as loading takes some ms.  Zero-initialise to
 * start.
 */
struct meanings {
	struct meanings_row *rows;
	size_t n;
};

struct flow_job;

/* NULL: no memory, or mistakes, which the job's sink was told under the name of the file. */
const struct vocabulary *meanings_of(struct meanings *m, const struct flow_job *job, const struct format *format);

void meanings_free(struct meanings *m);

#endif
