#ifndef PIPELINE_MIN_TIME_H
#define PIPELINE_MIN_TIME_H

#include "run/read/operands.h"
#include "run/read/source.h"

/* The least time of all events of a job's inputs, by a quiet pass of its own. */
struct min_time {
	uint64_t ns;
	bool known;    /* there is an event, and it can be looked at twice */
	bool complete; /* no input was left out because it can be read only once */
	bool failed;     /* memory or the system failed: nothing of this is to be used */
	char why[256];   /* then, if it was not memory */
};

struct min_time min_time_find(const struct pipeline_job *job, const struct operands *operands,
                              struct vocabularies *vocabularies);

#endif
