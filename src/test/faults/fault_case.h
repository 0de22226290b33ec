#ifndef FAULTS_FAULT_CASE_H
#define FAULTS_FAULT_CASE_H

#include <stdbool.h>
#include <stdint.h>

enum { FAULT_ARGS = 24 };

/* A command line that is run with each of its calls failing in turn. */
struct fault_case {
	char *argv[FAULT_ARGS + 1]; /* of main(); ended by NULL */
	int argc;
	const char *stdin_; /* a file whose bytes come through a pipe; NULL: nothing */
	const char *copied; /* no command: this file is put into the folder of outputs; else NULL */
	const struct fault_case *earlier; /* what it makes is there before; NULL: nothing is */
	bool only_reads; /* and reports: what it can of some inputs if it cannot read others */
	bool whole;      /* every single call is failed, however alike they are */
	uint64_t kind; /* equal: what a call of the one shows, one of the other in the same place shows too */
};

struct fault_cases {
	struct fault_case *list;
	unsigned n, cap;
};

/* Puts the samples of all formats below the folder `in`, and lists the cases, whose outputs go to `out`: some
 * for each sample, and those in `testdata`/faults/command-lines.  false: it said why on standard error.
 * Nothing is ever freed. */
bool fault_cases_make(struct fault_cases *cases, const char *testdata, const char *in, const char *out);

/* The command line, for people. */
void fault_case_show(const struct fault_case *c, char *to, unsigned n);

#endif
