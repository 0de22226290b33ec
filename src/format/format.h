#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

/*
 * The whole contract between the engine and a format.  A format is one folder
 * under formats/ and one line in formats.def; it sees this header (and what it
 * includes) and output/text.h, and nothing else of the engine.
 */

#include "base/arena.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/table.h"
#include "base/textscan.h"
#include "check/finding.h"
#include "event/batch.h"
#include "event/class_plan.h"
#include "event/event.h"
#include "event/event_order.h"
#include "event/trace.h"
#include "format/ledger.h"
#include "input/input.h"
#include "output/text.h"

/* ---- options that a format brings to the command line ---- */

struct format_option {
	const char *name;         /* long option without dashes */
	const char *arg;          /* name of its argument in the help; NULL: a flag */
	const char *help;         /* one line */
	const char *const *words; /* the arguments that it takes, ended by NULL; NULL: any */
};

struct option_value {
	const char *name;
	const char *value; /* "" for a flag */
	const struct option_value *next;
};

/* The last value given for an option, or NULL. */
const char *option_find(const struct option_value *list, const char *name);

/* ---- reading ---- */

/* What somebody will look at.  A reader checks always, and builds nothing nobody asked for. */
enum want {
	WANT_FINDINGS = 0,  /* batches stay empty */
	WANT_TIMES = 1,     /* events with phase, ts, dur, name, class, track, offset */
	WANT_FIELDS = 2,    /* and their fields */
	WANT_STRUCTURE = 4, /* structure records too */
	WANT_BYTES = 8,     /* and batch.bytes */
	/* Raw events, with fields and structure: see below. */
	WANT_RAW = 32,
	WANT_ORDER = 64, /* for the engine: streams of one trace are merged by time */
};

/*
 * Raw events (WANT_RAW, always together with WANT_TIMES, WANT_FIELDS and
 * WANT_STRUCTURE) are the records as the file has them.  The fields are all of
 * the record's, in file order, with the file's widths and numbers: those too
 * that are ts, dur, name or track of an interpreted event.  Nothing is
 * resolved, renamed or left out, and vocabularies are not applied.  With
 * WANT_BYTES the records of a valid input, put together, are the input.
 */

struct format;

struct reader {
	const struct format *format;
	struct input *in;
	struct trace *trace;
	struct findings *findings; /* may be NULL: a quiet pass */
	unsigned want;             /* enum want */
	const char *dialect;       /* asked for by the user, or NULL */
	const struct option_value *options;
	void *state;      /* state_size bytes, zeroed and freed by the engine */
	void *shared;     /* trace_ops.shared_size bytes, for all inputs of one trace */
	uint64_t records; /* of this input, counted by the reader; the first one is number 1 */
	const void
	    *ahead_of;   /* this is a look-ahead pass: the state of the reader that asked for it; else NULL */
	bool in_folder;  /* the input was found in a folder: what belongs to it can be expected beside it */
	uint64_t unread; /* bytes left unread because they cannot be trusted; set with READ_BAD */
};

enum read_status {
	READ_MORE,      /* the batch is as full as it should be; call again */
	READ_END,       /* the batch holds the last events */
	READ_BAD,       /* the same, but the input cannot be read on (a finding said why) */
	READ_NO_MEMORY, /* the engine says so */
};

struct reader_ops {
	size_t state_size;
	/* How many bits of `head` (the first bytes of the trace) speak for this format; 0: none.  `complete`:
	 * nothing follows `head`.  Looks only.  Most bits win. */
	int (*probe)(struct slice head, bool complete);
	/* Before the first batch: sets up the trace (dialect, clock, ...).  false: no memory, or a bad
	 * option; a finding says why. */
	bool (*open)(struct reader *r);
	/* Adds at most b->cap events and consumes at most some MiB of records, so that the engine can look
	 * around. */
	enum read_status (*next)(struct reader *r, struct batch *b);
	void (*close)(struct reader *r); /* NULL: the state owns nothing; also called when open failed */
};

enum look_ahead {
	LOOK_AHEAD_DONE,
	LOOK_AHEAD_ONE_PASS,  /* the input can be read only once */
	LOOK_AHEAD_NO_MEMORY, /* or no thread, or no descriptor */
};

/*
 * For names that are defined after their use: reads the input of r once more,
 * from its start to its end, through a second reader.  That one has ahead_of
 * set to r->state, which it fills in, want WANT_FINDINGS, findings NULL, and a
 * trace and shared memory of its own.  It should pass over all records that it
 * does not need.  Call it at most once.
 */
enum look_ahead reader_look_ahead(struct reader *r);

/*
 * Only for formats whose traces are several files: what these share, what lies
 * beside them, and what only the whole trace or the order of its events shows.
 * Any member may be 0.
 */
struct trace_ops {
	/* Names of files in a folder that belong to a trace of this format but hold no events;
	 * NULL-terminated. */
	const char *const *sidecars;
	/* Checks such a file where it lies (the findings' path is its own); in, state and shared are not set.
	 */
	void (*check_sidecar)(struct reader *r);
	/* What the inputs of one trace know of each other: zeroed at first, freed behind `close`. */
	size_t shared_size;
	/* Before the first input: reads what belongs to all of them.  Not set: in, state.  false: as
	 * reader_ops.open. */
	bool (*open)(struct reader *r);
	/* After the last input: checks the trace as a whole.  Not set: in, state, dialect, in_folder. */
	void (*check)(struct reader *r);
	void (*close)(void *shared); /* NULL: it owns nothing */
	/* The inputs are streams, each in order of time, that the engine merges (WANT_ORDER).  Their states
	 * are alive at the same time, so they should be small. */
	bool merges;
	/* Whether the checks that these options ask for need the events in that order. */
	bool (*checks_order)(const struct option_value *options);
	/* Checks an event in that order; r is the reader of its stream. */
	void (*check_event)(struct reader *r, const struct batch *b, const struct event *e);
	/* The reader checks whether payloads fit what the vocabulary says; else the engine does where it
	 * reads them. */
	bool checks_payloads;
};

/* ---- writing ---- */

/* A run of output and what it could not hold. */
struct chunk {
	struct text text;
	struct ledger ledger;
	struct chunk_part *parts; /* of a folder's files; see chunk_file() */
	uint32_t nparts, parts_cap;
};

/* Of a writer whose output is a folder: what is added to the chunk from now on belongs to the file of this
 * name, which stays the caller's until the chunk was taken.  Names are the writer's own words, never text of
 * a trace. */
void chunk_file(struct chunk *c, const char *name);

struct writer {
	const struct trace *trace; /* for open, declare and close */
	const struct option_value *options;
	const char *tool;           /* name and version of this program */
	const struct ledger *total; /* in close: all losses of the run */
	bool raw;                   /* events are as the file has them */
	bool rebased;               /* rebased_by was subtracted from ts ... */
	bool signed_time;           /* ... and it may be more than ts was: read ts as a signed number */
	uint64_t rebased_by;
	bool any; /* in close: something was rendered */
	void *state;
};

/* What it can be given.  The first that applies is chosen unless the user says --raw. */
enum writer_modes {
	WRITER_RAW_SAME = 1,    /* raw events, if the input is of the writer's own format */
	WRITER_INTERPRETED = 2, /* events with their meaning */
	WRITER_RAW = 4,         /* raw events of any format */
};

enum writer_shape { WRITER_FILE, WRITER_FOLDER };

struct writer_ops {
	size_t state_size;
	unsigned want;  /* enum want, besides WANT_TIMES */
	unsigned modes; /* enum writer_modes */
	enum event_order order;
	enum writer_shape shape;
	bool nested;    /* spans of one track must nest: overlapping ones are moved to extra lanes */
	uint32_t joint; /* so many bytes at the start of what is rendered only join it to what stands before:
	                   the first is without */
	/* The head of the output.  Each of these: false: no memory. */
	bool (*open)(struct writer *w, struct chunk *chunk);
	/* In order, before its events are rendered: the tracks and classes that are new in this batch.  Sets
	 * their `declared`. */
	bool (*declare)(struct writer *w, const struct batch *b);
	/* One of these turns a batch into bytes, or leaves it to the other: render runs on many threads,
	 * looks at nothing but the batch and what `open` put into the state, and gives the same bytes
	 * wherever batches end; write is called in order and may keep what it likes. */
	void (*render)(const void *state, const struct batch *b, struct chunk *chunk);
	void (*write)(void *state, const struct batch *b, struct chunk *chunk);
	bool (*close)(struct writer *w, struct chunk *chunk); /* the end of the output */
	void (*free)(void *state);                            /* NULL if the state owns nothing */
};

/* ---- a format ---- */

struct format {
	const char *name;
	const char *title;
	const char *spec;                    /* which document it follows */
	const char *const *suffixes;         /* ".tick", ...; NULL-terminated; the first is the usual one */
	const char *const *dialects;         /* NULL-terminated; NULL: none */
	const struct format_option *options; /* ended by a name of NULL; NULL: none */
	const struct reader_ops *reader;     /* NULL: cannot be read */
	const struct trace_ops *trace;       /* NULL: its traces are single files that share nothing */
	const struct writer_ops *writer;     /* NULL: cannot be written */
	const struct rule *rules;            /* ended by an id of NULL; NULL: none */
};

/* Its trace_ops, or some that are all 0. */
const struct trace_ops *format_trace_ops(const struct format *f);

#endif
