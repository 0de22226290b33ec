#ifndef FAULTS_FAULT_RUN_H
#define FAULTS_FAULT_RUN_H

#include <stddef.h>
#include <sys/types.h>

#include "faults/fault_case.h"
#include "faults/fault_plan.h"

enum { FAULT_KEPT = 1 << 20 }; /* bytes of an output that are looked at */

struct fault_bytes {
	char *p; /* with a NUL behind; FAULT_KEPT + 1 bytes of room */
	size_t n;
};

/* What a process left behind. */
struct fault_outcome {
	int status;      /* of waitpid() */
	bool hung;       /* it was killed */
	bool has_file;   /* the output is there */
	char stray[256]; /* the name of another file that is there; "": none */
	struct fault_bytes out, err, file;
};

/* A place to run in: the process is forked here, its standard output and error go to files. */
struct fault_runner {
	struct fault_plan *plan; /* shared with the process */
	const char *out_folder;  /* where outputs are made; emptied after each run */
	int out, err;
};

bool fault_runner_init(struct fault_runner *r, const char *out_folder);
bool fault_outcome_init(struct fault_outcome *o);

/* Runs the case by r->plan; false: it could not be started, or watched. */
bool fault_run(struct fault_runner *r, const struct fault_case *c, struct fault_outcome *o);

#endif
