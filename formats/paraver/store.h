#ifndef PARAVER_STORE_H
#define PARAVER_STORE_H

#include "base/spill_file.h"
#include "output/text.h"

/*
 * Bytes that can be written in the end only: the head of the .prv file says
 * when the trace ends.  In memory while they are few, then in a temporary
 * file.  Zero-initialise to start, but `beside`.
 */
#define PARAVER_STORE_MEMORY (1U << 20)

struct paraver_store {
	struct text text; /* what is added; its end goes to the file */
	struct spill_file file;
	const char *beside;
	bool failed; /* of the file: see paraver_store_why() */
};

/* To be called now and then: gives what is in memory to the file if it is much. */
void paraver_store_settle(struct paraver_store *s);

uint64_t paraver_store_size(const struct paraver_store *s);

/* [at, at + n) into `to`, of what is there.  Nothing is added from here on.  false: failed. */
bool paraver_store_read(struct paraver_store *s, uint64_t at, char *to, size_t n);

void paraver_store_free(struct paraver_store *s);

#endif
