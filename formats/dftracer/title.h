#ifndef DFTRACER_TITLE_H
#define DFTRACER_TITLE_H

#include "dftracer/who.h"

/* Names that metadata give to processes and threads.  They stand apart from these: who is named need not be
 * met.  Zero-initialise to start. */
struct dft_titles {
	struct table64 owners; /* process key -> a number */
	struct table64 index;  /* that number << 40, | small tid + 1 for a thread -> texts[] */
	struct slice *texts;   /* in the trace's arena */
	uint32_t n, cap, nowners;
};

struct dft_state;

void dft_titles_free(struct dft_titles *t);

/* Remembers what a process (tid NULL) or thread is called. */
void dft_title_add(struct dft_state *st, uint64_t pid, struct slice host, const uint64_t *tid,
                   struct slice text);

/* What it is called; p NULL: not known.  host: a number, see dftracer_who.h. */
struct slice dft_title_of(struct dft_state *st, uint64_t pid, uint32_t host, const uint64_t *tid);

#endif
