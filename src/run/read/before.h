#ifndef RUN_READ_BEFORE_H
#define RUN_READ_BEFORE_H

#include "run/read/source.h"

/* Passes over inputs before the first event; reader_look_ahead() is in format/reader_modes.h. */

/* The least time of all events of a job's inputs, from a pass without findings. */
struct min_time {
	uint64_t ns;
	bool known;    /* there is an event in an input that can be read twice */
	bool complete; /* all inputs can be read twice */
	bool failed;   /* OOM or a failed system call: the rest is invalid */
	char why[256]; /* the reason, unless OOM */
};

struct min_time min_time_find(const struct pipeline_job *job, const struct operands *operands,
                              struct vocabularies *vocabularies);

/* trace.zero_ns of the inputs: the first one that is not 0.  first: the first input, if it is open, or NULL.
 */
uint64_t zero_time_find(const struct pipeline_job *job, const struct operands *operands, struct input *first);

#endif
