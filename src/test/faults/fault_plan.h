#ifndef FAULTS_FAULT_PLAN_H
#define FAULTS_FAULT_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum fault_call {
#define CALL(name, first, second, harmless) FAULT_##name,
#include "test/faults/fault_calls.def"
#undef CALL
	FAULT_CALLS
};

enum { FAULT_SHORT = -1 }; /* in place of an errno: half of the bytes are moved */

enum { FAULT_LOGGED = 1 << 18, FAULT_FRAMES = 24 };

/* A call that was made while none failed. */
struct fault_logged {
	uint32_t call, nth; /* from 1 */
	uint64_t stack;     /* the same number for calls from the same place by the same way */
};

/*
 * Which call fails, shared between the program under test and who watches it.  fault_shim.c takes the place
 * of the C library's functions and asks it; it lies in memory that both processes map.
 */
struct fault_plan {
	enum fault_call call; /* FAULT_CALLS: none fails, all are counted */
	unsigned nth;         /* the first that fails, from 1 */
	int error;            /* errno, or FAULT_SHORT */
	bool lasting;         /* all later ones fail as well */
	bool trace;           /* shows on standard error where it failed */
	bool log;             /* keeps a list of all calls */
	atomic_uint nlogged;  /* may be more than there is room for */
	atomic_uint counts[FAULT_CALLS];
	atomic_uint failed; /* how often */
	atomic_bool muted;  /* a message could not be written */
	struct fault_logged logged[FAULT_LOGGED];
};

/* From here on, calls of this process go by the plan; NULL: they are left alone. */
void fault_plan_set(struct fault_plan *plan);

const char *fault_call_name(enum fault_call call);

/* The reasons of a call: up to two errors, and one that must do no harm; 0: none. */
struct fault_errors {
	int errors[2];
	int harmless;
};
extern const struct fault_errors fault_errors[FAULT_CALLS];

/* Whether the call can move less than it was asked to. */
bool fault_call_moves(enum fault_call call);

#endif
