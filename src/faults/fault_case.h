#ifndef FAULTS_FAULT_CASE_H
#define FAULTS_FAULT_CASE_H

#include <stdbool.h>
#include <stdint.h>

enum { FAULT_ARGS = 12 };

/* A command line that is run with each of its calls failing in turn. */
struct fault_case {
	char *argv[FAULT_ARGS + 1]; /* of main(); ended by NULL */
	int argc;
	const char *input;  /* for messages; NULL: it reads nothing */
	const char *stdin_; /* a file whose bytes come through a pipe; NULL: nothing */
	const char *output; /* the file it makes; NULL: standard output */
	bool whole;         /* every single call is failed, however alike they are */
	uint64_t kind; /* equal: what a call of the one shows, one of the other in the same place shows too */
};

struct fault_cases {
	struct fault_case *list;
	unsigned n, cap;
};

/* Puts the samples of all formats below the folder `in`, and lists the cases, whose outputs go to `out`.
 * false: it said why on standard error.  Nothing is ever freed. */
bool fault_cases_make(struct fault_cases *cases, const char *testdata, const char *in, const char *out);

/* The command line, for people. */
void fault_case_show(const struct fault_case *c, char *to, unsigned n);

#endif
