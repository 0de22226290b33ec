#ifndef PIPELINE_REBASE_H
#define PIPELINE_REBASE_H

#include "run/pipeline.h"

/* The stage that subtracts the least time of the trace from all times. */

/* Finds that time, where the input can be read twice.  false after a finding. */
bool rebase_init(struct pipeline *p);

enum stage_status rebase_next(struct stage *stage, struct batch **out);

#endif
