#ifndef FAULTS_FAULT_JUDGE_H
#define FAULTS_FAULT_JUDGE_H

#include "faults/fault_run.h"

/* What is wrong with how a run by this plan ended, given how it ends without a fault; NULL: nothing. */
const char *fault_judge(const struct fault_case *c, const struct fault_plan *plan,
                        const struct fault_outcome *without, const struct fault_outcome *with);

#endif
