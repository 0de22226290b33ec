#ifndef RUN_WRITE_RECOVER_H
#define RUN_WRITE_RECOVER_H

#include "format/recover.h"
#include "run/read/source.h"

/* The whole records of one input, see format/recover.h. */
struct recover_run {
	/* asked for; all borrowed */
	struct pipeline_job job; /* from, dialect, options; sink gets what keeps the input from being read */
	struct source_location location;
	bool sort;
	bool (*put)(void *ctx, const char *p, size_t n); /* false: the output failed */
	void (*list)(void *ctx, const struct recover_change *c);
	/* The format is known: the output can be opened.  false: stop. */
	bool (*opened)(void *ctx, const struct source *s);
	void (*progress)(void *ctx, const struct input *in);
	void *ctx;
	/* what came of it */
	struct source source;
	struct recovery recovery;
	bool unreadable;       /* nothing can be said about the bytes; the sink was told why */
	uint64_t not_repaired; /* errors of files beside the input, which the output has too */
	bool
	    packed_damage; /* the compressed stream is damaged: bytes are missing whose number is not known */
};

/* Runs it over an opened input, which it takes over.  false: unreadable, or the output failed
 * (recovery.failed). */
bool recover_run(struct recover_run *run, struct input *in);

#endif
