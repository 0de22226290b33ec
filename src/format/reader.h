#ifndef FORMAT_READER_H
#define FORMAT_READER_H

#include "check/finding.h"
#include "model/batch_fill.h"
#include "model/trace.h"
#include "model/plan.h"
#include "input/input.h"

/* Needs of the consumer.  A reader always checks everything, but builds only this. */
enum want {
	WANT_FINDINGS = 0,  /* batches stay empty */
	WANT_TIMES = 1,     /* events with phase, ts, dur, name, class, track, offset */
	WANT_FIELDS = 2,    /* fields of events, and names that other records give to tracks */
	WANT_STRUCTURE = 4, /* structure records */
	WANT_BYTES = 8,     /* batch.bytes */
	WANT_RAW = 32,      /* raw events, see reader_ops.fields; with TIMES and STRUCTURE */
	WANT_ORDER = 64,    /* for the engine: streams of a trace are merged by time */
};

struct reader {
	const struct format *format;
	struct input *in;
	struct trace *trace;
	struct findings *findings; /* NULL: a quiet pass */
	unsigned want;             /* enum want */
	const char *dialect;       /* requested by the user, or NULL */
	uint64_t max_record;       /* bytes; longer ones are not read: reader_report_long() */
	const struct option_value *options;
	void *state;            /* state_size bytes, zeroed and freed by the engine */
	void *shared;           /* trace_ops.shared_size bytes, shared by all inputs of a trace */
	uint64_t records, lost; /* of this input, from number 1 on; number of missing ones */
	uint32_t number;        /* of the input, for copies with WANT_FILES; else 0 */
	uint8_t event_flags;    /* of all its events: EVENT_BIG */
	bool no_memory;         /* set by the reader, in any function: reading ends with this record */
	const void *ahead_of; /* in a look-ahead pass: the state of the reader that requested it; else NULL */
	size_t folder;        /* length of the folder prefix of its path; 0: a file of the command line */
	char unreadable[256]; /* why another file of the trace could not be read, for a quiet pass; or "" */
	const struct input_archive *archive; /* for reader_open_auxiliary() */
	struct input_files *files;           /* of the run, for input_open_in(); NULL: none */
	uint64_t unread;   /* with RECORD_BAD: bytes that were skipped as they cannot be trusted */
	uint64_t referred; /* bytes outside of records that events refer to, as in pools: bounds batches */
	bool recovers;     /* reading continues after RECORD_BAD; set by the engine */
	bool counts_lost;  /* set in open: records are numbered */
	struct reader_range *range; /* gets times: see reader_modes.h; NULL: events are wanted */
	unsigned helpers;           /* threads that it may start to parse ahead */
};

enum record_status {
	RECORD_DONE,
	RECORD_MORE,  /* the window ends inside the record, but the input goes on; in->p may skip bytes */
	RECORD_END,   /* the input ends here */
	RECORD_BAD,   /* a finding gives the reason; the input after this point is unreadable */
	RECORD_BREAK, /* not applied: read again as the first of a batch; only with WANT_TIMES, not RAW */
};

enum record_role {
	RECORD_IS_EVENT,
	RECORD_IS_PART, /* part of an event that a later record completes; an event itself only if raw */
	RECORD_IS_STRUCTURE,
	RECORD_IS_OTHER,   /* structure only if raw; copiers do not need it */
	RECORD_IS_GAP,     /* not counted, as those below: bytes between records, only if raw */
	RECORD_IS_SKIPPED, /* damaged bytes: in no copy */
	RECORD_IS_MISSING, /* no bytes: records are missing here, see enum want_gaps */
};

/* The records of a valid input, concatenated, are the input. */
struct record {
	const char *p;            /* set by the engine; a reader may skip blanks and advance `offset` */
	uint64_t offset, ordinal; /* offset of p; number of the record: set by the engine */
	const char *end;
	uint64_t ts; /* ns */
	struct class *cls;
	const struct track *track; /* of the raw event; may be NULL for structure */
	uint8_t role;              /* enum record_role */
	bool alone;                /* copies need it as a separate event, not in a run; initially false */
};

/* READER_BATCH_FIELDS: max fields of a batch, besides those of one record. */
enum { PROBE_NO_MEMORY = -1, READER_BATCH_FIELDS = 65536 };

struct reader_ops {
	size_t state_size;
	uint32_t extra; /* max events that `event` adds behind `e`: it increases b->n by their number */
	const char *const *common; /* NULL, or: other programs use its suffixes, and these, not of outputs */
	/* Number of bits of `head`, the trace's first bytes, that match this format: the maximum wins; 0: no
	 * match; PROBE_NO_MEMORY: OOM.  `complete`: head is the whole trace.  No side effects. */
	int (*probe)(struct slice head, bool complete);
	uint64_t (*zero)(struct input *in); /* trace.zero_ns that `open` sets if it is 0; NULL: 0 */
	bool (*open)(struct reader *r);     /* sets up the trace; false on OOM or after a finding */
	/* Frames and checks the record at in->p, and applies its definitions, begins and ends to the state.
	 * Enough for validation, look-ahead and recovery.  The engine counts the record and moves in->p. */
	enum record_status (*record)(struct reader *r, struct record *rec);
	/* Adds the meaning of the last record to `e`, an instant or structure with time, class, track, offset
	 * and the name of its class; and fields if reader_wants_fields().  May replace its bytes. */
	void (*event)(struct reader *r, const struct record *rec, struct batch *b, struct event *e);
	/* With WANT_FIELDS: adds all fields of a raw event, in file order, with the file's widths and
	 * numbers, also those that become ts, dur, name or track; resolves, renames and omits none. */
	void (*fields)(struct reader *r, const struct record *rec, struct batch *b, struct event *e);
	/* Optional fast path: consumes and counts plain records, not the first, that start before `limit`,
	 * 4 MiB ahead at most; adds their events to b, unless NULL, while it has space.  false: cannot. */
	bool (*run)(struct reader *r, const char *limit, struct batch *b);
	void (*end)(struct reader *r);   /* optional: findings about the whole input, at its end */
	void (*close)(struct reader *r); /* also if open failed; NULL: the state owns nothing */
};

static inline bool reader_wants_fields(const struct reader *r, const struct event *e)
{
	return (r->want & WANT_FIELDS) != 0 || e->phase == PHASE_COUNTER || class_needs_fields(e->cls);
}

#endif
