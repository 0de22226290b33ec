#ifndef FORMAT_TOUCHES_H
#define FORMAT_TOUCHES_H

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
