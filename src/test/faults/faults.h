#ifndef FAULTS_FAULTS_H
#define FAULTS_FAULTS_H

/*
 * The private header of the fault injector: a program that runs tracetool's main() in child processes, each
 * with another call of the C library failing, and judges how they end.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/registry.h"

/* ---- the plan: the call that fails (fault_shim.c) ---- */

enum fault_call {
#define CALL(name, first, second, harmless) FAULT_##name,
#include "test/faults/fault_calls.def"
#undef CALL
	FAULT_CALLS
};

enum { FAULT_SHORT = -1 }; /* instead of an errno: half of the bytes are transferred */

enum { FAULT_LOGGED = 1 << 18, FAULT_FRAMES = 24 };

/* A call in a run without faults. */
struct fault_logged {
	uint32_t call, nth; /* from 1 */
	uint64_t stack;     /* hash of the return addresses */
};

/* The call that fails, in memory shared by the program under test and its observer.  fault_shim.c replaces
 * functions of the C library, and consults it. */
struct fault_plan {
	enum fault_call call; /* FAULT_CALLS: none fails */
	unsigned nth;         /* the first that fails, from 1 */
	int error;            /* errno, or FAULT_SHORT */
	bool lasting;         /* all later ones fail, too */
	bool trace;           /* print the stack of a failing call to standard error */
	bool log;             /* fill logged[] */
	atomic_uint nlogged;  /* can exceed FAULT_LOGGED */
	atomic_uint counts[FAULT_CALLS];
	atomic_uint failed; /* number of failed calls */
	atomic_bool muted;  /* writing a message failed */
	struct fault_logged logged[FAULT_LOGGED];
};

/* Sets the plan of this process; NULL: calls are neither failed nor counted. */
void fault_plan_set(struct fault_plan *plan);

const char *fault_call_name(enum fault_call call);

/* The errors of a call: up to two, and one that must have no effect; 0: none. */
struct fault_errors {
	int errors[2];
	int harmless;
};
extern const struct fault_errors fault_errors[FAULT_CALLS];

/* Whether the call can transfer less than requested. */
bool fault_call_is_transfer(enum fault_call call);

/* ---- files and folders in memory (fault_tree.c) ---- */

enum { FAULT_TREE_BYTES = 4 << 20, FAULT_TREE_ENTRIES = 1024 };

/* A file or folder; path and bytes are in fault_tree.bytes. */
struct fault_entry {
	const char *path; /* relative to the root */
	const char *p;    /* NULL: a folder */
	size_t n;
};

/* The content of a folder: each folder before its entries, sorted by name. */
struct fault_tree {
	struct fault_entry *list;
	unsigned n;
	char *bytes;
	size_t used;
};

bool fault_tree_init(struct fault_tree *t);

/* Reads all below the folder.  Returns false with errno if it cannot be read, or is too large. */
bool fault_tree_read(struct fault_tree *t, const char *folder);

/* Adds a file, under its name. */
bool fault_tree_add(struct fault_tree *t, const char *file);

/* Writes all into the folder. */
bool fault_tree_write(const struct fault_tree *t, const char *folder);

const struct fault_entry *fault_tree_find(const struct fault_tree *t, const char *path);

/* Whether kind and bytes are equal, or both are NULL. */
bool fault_entries_equal(const struct fault_entry *a, const struct fault_entry *b);

/* Removes the content of a folder. */
void fault_folder_empty(const char *path);

/* ---- cases (fault_case.c) ---- */

enum { FAULT_ARGS = 24 };

/* A command line that is run with each of its calls failing in turn. */
struct fault_case {
	char *argv[FAULT_ARGS + 1]; /* of main(); ends with NULL */
	int argc;
	const char *stdin_; /* a file that is piped to standard input; or NULL */
	const char *copied; /* no command: a file to copy into the folder of outputs; else NULL */
	const struct fault_case *earlier; /* creates the files that exist before; NULL: none */
	bool only_reads;                  /* can report on some inputs if it cannot read others */
	bool whole;                       /* fail every call, however similar */
	uint64_t kind; /* equal for cases in which calls from the same stack behave alike */
};

struct fault_cases {
	struct fault_case *list;
	unsigned n, cap;
};

/* Copies the samples of all formats into the folder `in`, and lists the cases, with outputs in `out`: some
 * for each sample, and those in `testdata`/faults/command-lines.  Returns false after a message.  Nothing is
 * freed. */
bool fault_cases_create(struct fault_cases *cases, const char *testdata, const char *in, const char *out);

/* Writes the command line for messages. */
void fault_case_show(const struct fault_case *c, char *to, unsigned n);

/* ---- runs and their judgement (fault_run.c, fault_judge.c) ---- */

enum { FAULT_KEPT = 1 << 20 }; /* bytes of a standard stream that are kept */

struct fault_bytes {
	char *p; /* ends with a NUL; capacity FAULT_KEPT + 1 */
	size_t n;
};

/* The results of a process. */
struct fault_outcome {
	int status; /* of waitpid() */
	bool hung;  /* killed after a timeout */
	struct fault_bytes out, err;
	struct fault_tree made; /* the folder of outputs */
};

/* Runs processes: forks, with standard output and error in files. */
struct fault_runner {
	struct fault_plan *plan; /* shared with the process */
	const char *out_folder;  /* of outputs; emptied after each run */
	int out, err;            /* files of standard output and error */
};

bool fault_runner_init(struct fault_runner *r, const char *out_folder);
bool fault_outcome_init(struct fault_outcome *o);

/* Runs the case with r->plan, and with `before` in the folder of outputs.  Returns false if the process could
 * not be started or observed. */
bool fault_run(struct fault_runner *r, const struct fault_case *c, const struct fault_tree *before,
               struct fault_outcome *o);

/* Whether a run with this plan ended correctly, given the content of the folder of outputs before,
 * and the outcome without a fault.  why: the mistake. */
bool fault_judge(const struct fault_case *c, const struct fault_plan *plan, const struct fault_tree *before,
                 const struct fault_outcome *without, const struct fault_outcome *with, char *why, size_t n);

#endif
