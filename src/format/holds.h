#ifndef FORMAT_HOLDS_H
#define FORMAT_HOLDS_H

/* What events of a format can have, with the meaning that its built-in vocabulary gives them; and what an
 * event has to have to lose something.  What is not here, events of all formats have. */
enum holds {
	HOLDS_FIELDS = 1,
	HOLDS_INSTANTS = 2,
	HOLDS_COUNTERS = 4,
	HOLDS_ARROWS = 8,
	HOLDS_ASYNC = 16,  /* async spans */
	HOLDS_ENDS = 32,   /* records for beginnings and ends of spans, which can lack their other end */
	HOLDS_STACKS = 64, /* call stacks */
	HOLDS_LISTS = 128, /* values that are no number and no text: lists, maps, bytes, JSON, null */
	HOLDS_NAN = 256,   /* floats that are not a number, or infinite */
	HOLDS_PARTS = 512, /* names that what other events said, or their class, is a part of */
	HOLDS_NOT_UTF8 = 1024,
	HOLDS_NUL = 2048,      /* texts with NUL bytes */
	HOLDS_FACTS = 4096,    /* facts of the whole trace */
	HOLDS_EPOCH = 8192,    /* the wall time at time 0 */
	HOLDS_DEEP = 16384,    /* lists and maps inside each other more than 100 times */
	HOLDS_NUMBERS = 32768, /* numbers that are no integers of 64 bits */
	HOLDS_OVERLAP = 65536, /* only of losses: they are of writers whose spans have to nest */
	HOLDS_STEPS = 131072,  /* arrows that go on from where they arrive */
};

#endif
