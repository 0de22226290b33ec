#ifndef FAULTS_FAULT_JUDGE_H
#define FAULTS_FAULT_JUDGE_H

#include "test/faults/fault_run.h"

/* Whether a run by this plan ended well, given what was there before, and how it ends without a fault; `why`:
 * what is wrong with it. */
bool fault_judge(const struct fault_case *c, const struct fault_plan *plan, const struct fault_tree *before,
                 const struct fault_outcome *without, const struct fault_outcome *with, char *why, size_t n);

#endif
