#ifndef PIPELINE_VOCABULARIES_H
#define PIPELINE_VOCABULARIES_H

#include "format/format.h"

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

struct pipeline_job;

/* NULL: no memory, or mistakes, which the job's sink was told under the name of the file. */
const struct vocabulary *vocabularies_of(struct vocabularies *m, const struct pipeline_job *job,
                                         const struct format *format);

void vocabularies_free(struct vocabularies *m);

#endif
