#ifndef BASE_GATE_H
#define BASE_GATE_H

#include <stddef.h>

/*
 * What is passed before a change of memory that another thread may read.  gate_pass() returns when no other
 * thread uses it, which stays so until the calling thread hands over its work.
 */
struct gate {
	void (*enter)(struct gate *g);
};

/* NULL: there is no other thread. */
static inline void gate_pass(struct gate *g)
{
	if (g != NULL)
		g->enter(g);
}

#endif
