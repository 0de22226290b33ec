#ifndef FORMAT_FEATURES_H
#define FORMAT_FEATURES_H

/* ---- holds ---- */

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

/* ---- touches ---- */

/* What is different in an event that a writer lost something of, when the output is read back: for convert
 * --verify.  An event may differ only in what rows of the ledger touch, and no more events than they count.
 * 0: nothing that is compared; what is lost is lost on the way to the writer, or to viewers, or is no event.
 */
enum touches {
	TOUCHES_TIME = 1,
	TOUCHES_DURATION = 2,
	TOUCHES_NAME = 4,
	TOUCHES_CATEGORY = 8,
	TOUCHES_FIELDS = 16, /* their names, values or number */
	TOUCHES_TRACK = 32,
	TOUCHES_PHASE = 64,    /* a span became an instant, or async */
	TOUCHES_MISSING = 128, /* the event is not in the output */
	TOUCHES_MORE = 256,    /* there are events that the trace does not have */
	TOUCHES_MANY = 512,    /* one count may stand for many events: a name, a track */

	/* Of all events: how they are compared, if the row counts any or is TOUCHES_ALWAYS. */
	TOUCHES_MICROSECONDS = 1024, /* times and durations are off by less than that */
	TOUCHES_TRACK_NAMES = 2048,  /* tracks are the same that have the numbers of process and thread */
	TOUCHES_PROCESSES = 4096,    /* threads are the same that have the number; processes do not count */
	TOUCHES_ALWAYS = 8192,       /* in interpreted events: the row is not counted */
};

/* loss.adds, words with spaces between them: fields that all events of the output have besides, if the
 * row counts all of them or is TOUCHES_ALWAYS; if it is TOUCHES_MORE, the classes of the events that the
 * output has besides. */

#endif
