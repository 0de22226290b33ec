#ifndef POLICY_STARTER_H
#define POLICY_STARTER_H

#include "output/text.h"
#include "policy/policy_watch.h"

/* A policy with comments that some good traces keep, and later ones like them. */

#define STARTER_ROWS 64U  /* kinds of spans that are looked at in a trace */
#define STARTER_MOST 256U /* of all traces */
#define STARTER_FACTS 20U /* metadata that are listed */

/* Spans of a category, or of a name where there is no category. */
struct starter_row {
	struct slice name, category; /* a pattern and a text, in the arena */
	bool place;                  /* the names are places in sources, which move */
	bool waits;                  /* idle time, a state, or a life: no budget is made of it */
	uint32_t traces, last;       /* that have it; the last of them */
	uint64_t p99;                /* the largest */
	double sum;
};

struct policy_starter {
	struct arena arena;
	struct starter_row rows[STARTER_MOST];
	uint32_t nrows;
	struct starter_fact {
		struct slice name;
		uint32_t traces;
	} facts[STARTER_FACTS];
	uint32_t nfacts, ntraces;
	bool no_epoch, counts_lost, endless; /* of one of them */
	double lost, unfinished;             /* the largest shares */
	uint64_t threads, duration;          /* the fewest; the longest */
	uint32_t nevents, nbudgets;          /* that were written */
	bool failed;                         /* memory is out */
};

/* Takes in a trace that was read to its end. */
void policy_starter_add(struct policy_starter *s, const struct policy_watch *w, const struct pipeline *p);

/* Writes the policy.  shown: the name of the first trace, escaped.  false: no memory. */
bool policy_starter_write(struct policy_starter *s, struct text *t, const char *shown);
void policy_starter_free(struct policy_starter *s);

#endif
