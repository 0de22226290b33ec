/* Which mutant is on, and what is reached; before each file of the copy that mutants.py makes. */
#include <stdbool.h>

#define MUTANTS_MAX 4096

extern int mutant_on;
/* Two bytes for each mutant: reached with equal forms, reached with different ones. */
extern unsigned char *mutant_notes;

/* True if mutant n is on. */
static inline bool mutant_if(int n, bool differs)
{
	mutant_notes[2 * n + differs] = 1;
	return n == mutant_on;
}

static inline bool mutant(int n)
{
	return mutant_if(n, true);
}
