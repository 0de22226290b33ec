#ifndef CMD_VALIDATE_RUN_H
#define CMD_VALIDATE_RUN_H

#include "cmd/policies.h"
#include "cmd/reports.h"

/* Reads all traces, several side by side, and hands what was found to the reports, in the order of the
 * operands, each with its policy.  threads: 0: as many as there are cores.  *scope: what
 * --scope means for the exit status.  false: memory ran out, and
 * findings are missing. */
bool validate_run(struct options *o, struct reports *reports, const struct trace_groups *traces,
                  struct policies *policies, uint64_t threads, enum exit_status *scope);

#endif
