#ifndef FAULTS_FAULT_RUN_H
#define FAULTS_FAULT_RUN_H

#include <stddef.h>
#include <sys/types.h>

#include "test/faults/fault_case.h"
#include "test/faults/fault_plan.h"
#include "test/faults/fault_tree.h"

enum { FAULT_KEPT = 1 << 20 }; /* bytes of a standard stream that are looked at */

struct fault_bytes {
	char *p; /* with a NUL behind; FAULT_KEPT + 1 bytes of room */
	size_t n;
};

/* What a process left behind. */
struct fault_outcome {
	int status; /* of waitpid() */
	bool hung;  /* it was killed */
	struct fault_bytes out, err;
	struct fault_tree made; /* in the folder of outputs */
};

/* A place to run in: the process is forked here, its standard output and error go to files. */
struct fault_runner {
	struct fault_plan *plan; /* shared with the process */
	const char *out_folder;  /* where outputs are made; emptied after each run */
	int out, err;
};

bool fault_runner_init(struct fault_runner *r, const char *out_folder);
bool fault_outcome_init(struct fault_outcome *o);

/* Runs the case by r->plan, with this in the folder of outputs; false: it could not be started, or watched.
 */
bool fault_run(struct fault_runner *r, const struct fault_case *c, const struct fault_tree *before,
               struct fault_outcome *o);

#endif
