#ifndef RUN_WRITE_RECOVER_H
#define RUN_WRITE_RECOVER_H

#include "format/recover.h"
#include "run/read/source.h"

/* Recovery of one input, see format/recover.h. */
struct recover_run {
	/* set by the caller; all borrowed */
	struct pipeline_job job; /* from, dialect, options; sink gets the faults that prevent reading */
	struct source_location location;
	bool sort;
	bool (*put)(void *ctx, const char *p, size_t n); /* false: the output failed */
	void (*list)(void *ctx, const struct recover_change *c);
	/* The format is known: the output can be opened.  false: stop. */
	bool (*opened)(void *ctx, const struct source *s);
	void (*progress)(void *ctx, const struct input *in);
	void *ctx;
	/* results */
	struct source source;
	struct recovery recovery;
	bool unreadable;       /* the bytes could not be checked; the sink got the reason */
	uint64_t not_repaired; /* errors of files next to the input, which the output has too */
	bool packed_damage;    /* the compressed stream is damaged: an unknown number of bytes is missing */
};

/* Recovers an opened input, which it takes over.  false: unreadable, or the output failed
 * (recovery.failed). */
bool recover_run(struct recover_run *run, struct input *in);

#endif
