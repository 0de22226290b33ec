/* The active mutant, and notes of reached ones.  Included before each file of the copy that mutants.py
 * builds. */
#include <stdbool.h>

#define MUTANTS_MAX 4096

extern int mutant_on;
/* Two bytes per mutant: reached with equal forms, reached with different forms. */
extern unsigned char *mutant_notes;

/* Whether mutant n is active. */
static inline bool mutant_if(int n, bool differs)
{
	mutant_notes[2 * n + differs] = 1;
	return n == mutant_on;
}

static inline bool mutant(int n)
{
	return mutant_if(n, true);
}
