#ifndef FORMAT_TOUCHES_H
#define FORMAT_TOUCHES_H

/* What is different in an event that a writer lost something of, when the output is read back: for convert
 * --verify.  An event may differ only in what rows of the ledger touch, and no more events than they count.
 */
enum touches {
	TOUCHES_ANYTHING = 0, /* it may also be missing, or be several */
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
	TOUCHES_NOTHING =
	    1024, /* that is compared: what is lost is lost on the way to the writer, or to viewers */
	TOUCHES_ALWAYS = 4096,       /* in interpreted events: whether it is counted or not */
	TOUCHES_MICROSECONDS = 2048, /* times and durations of all events are off by less than that */
};

#endif
