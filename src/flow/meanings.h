#ifndef FLOW_MEANINGS_H
#define FLOW_MEANINGS_H

#include "flow/flow.h"

/* What the events of a format mean: the user's files first, then what is built in.  Ends with vocab_free.  NULL: no memory, or
 * mistakes, which the job's sink was told under the name of the file. */
struct vocabulary *meanings_load(const struct flow_job *job, const struct format *format);

#endif
