#ifndef FORMAT_LOOK_AHEAD_H
#define FORMAT_LOOK_AHEAD_H

struct reader;

enum look_ahead {
	LOOK_AHEAD_DONE,
	LOOK_AHEAD_ONE_PASS,  /* the input can be read only once */
	LOOK_AHEAD_FAILED,   /* memory, a thread, reading: return READ_NO_MEMORY, the engine reports which */
};

/*
 * For names that are defined after their use: reads the input of r once more,
 * from its start to its end, through a second reader.  That one has ahead_of
 * set to r->state, which it fills in, want WANT_FINDINGS, findings NULL, and a
 * trace and shared memory of its own.  It should pass over all records that it
 * does not need.  Call it at most once.
 */
enum look_ahead reader_look_ahead(struct reader *r);

#endif
