#ifndef FORMAT_FEATURES_H
#define FORMAT_FEATURES_H

/* Features that events of a format can have (format.holds), interpreted by its built-in vocabulary; and
 * features without which a loss cannot occur (loss.needs).  Events of all formats have those that are not
 * listed. */
enum holds {
	HOLDS_FIELDS = 1,
	HOLDS_INSTANTS = 2,
	HOLDS_COUNTERS = 4,
	HOLDS_ARROWS = 8,
	HOLDS_ASYNC = 16,  /* async spans */
	HOLDS_ENDS = 32,   /* separate records for begin and end of spans, which can be unpaired */
	HOLDS_STACKS = 64, /* call stacks */
	HOLDS_LISTS = 128, /* values other than numbers and texts: lists, maps, bytes, JSON, null */
	HOLDS_NAN = 256,   /* floats that are not a number, or infinite */
	HOLDS_PARTS = 512, /* names composed of definitions or parts of the class name */
	HOLDS_NOT_UTF8 = 1024,
	HOLDS_NUL = 2048,      /* texts with NUL bytes */
	HOLDS_FACTS = 4096,    /* facts of the whole trace */
	HOLDS_EPOCH = 8192,    /* the wall time at time 0 */
	HOLDS_DEEP = 16384,    /* lists and maps nested more than 100 deep */
	HOLDS_NUMBERS = 32768, /* numbers other than integers of 64 bits */
	HOLDS_OVERLAP = 65536, /* only in losses: of writers whose spans must nest */
	HOLDS_STEPS = 131072,  /* arrows that continue where they arrive */
};

/* Effects of a loss on an event when the output is read back (loss.touches), for convert --verify.  An event
 * may differ only in properties that rows of the ledger affect, and no more events may differ than they
 * count.  0: no effect on what is compared: lost before the writer, only for viewers, or not part of an
 * event. */
enum touches {
	TOUCHES_TIME = 1,
	TOUCHES_DURATION = 2,
	TOUCHES_NAME = 4,
	TOUCHES_CATEGORY = 8,
	TOUCHES_FIELDS = 16, /* their names, values or number */
	TOUCHES_TRACK = 32,
	TOUCHES_PHASE = 64,    /* a span became an instant, or async */
	TOUCHES_MISSING = 128, /* the event is missing from the output */
	TOUCHES_MORE = 256,    /* the output has additional events */
	TOUCHES_MANY = 512,    /* one count may affect many events: a name, a track */

	/* For all events: how they are compared, if the row has a count or is TOUCHES_ALWAYS. */
	TOUCHES_MICROSECONDS = 1024, /* times and durations differ by less than 1 us */
	TOUCHES_TRACK_NAMES = 2048,  /* tracks match by the numbers of process and thread */
	TOUCHES_PROCESSES = 4096,    /* threads match by their number; processes are ignored */
	TOUCHES_ALWAYS = 8192,       /* applies to all interpreted events, without a count */
};

/* loss.adds, names separated by spaces: additional fields of all events of the output, if the row counts all
 * of them or is TOUCHES_ALWAYS; with TOUCHES_MORE, the classes of the additional events. */

#endif
