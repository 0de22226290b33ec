#ifndef FORMAT_LEDGER_H
#define FORMAT_LEDGER_H

#include "format/loss.h"

/* A row of a table of losses, for LOSS() in a losses.def. */
#define LOSS_ROW(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },

struct ledger_row {
	const struct loss *loss;
	uint64_t count;
	uint64_t first_offset; /* in the input, of the first event; or LOSS_NOWHERE */
};

/* Losses by kind, in order of first occurrence.  Zero-initialise. */
struct ledger {
	struct ledger_row *rows;
	uint32_t n, cap;
	bool failed; /* OOM: rows are missing */
};

void ledger_merge(struct ledger *into, const struct ledger *from);
/* Likewise for events of `from` that may precede those of `into`: the least of both offsets is the first. */
void ledger_merge_unordered(struct ledger *into, const struct ledger *from);
void ledger_free(struct ledger *l);

/* Features that events of a format can have (format.features), interpreted by its built-in vocabulary; and
 * features without which a loss cannot occur (loss.needs).  Unlisted features occur in all formats. */
enum feature {
	HAS_FIELDS = 1,
	HAS_INSTANTS = 2,
	HAS_COUNTERS = 4,
	HAS_ARROWS = 8,
	HAS_ASYNC = 16,  /* async spans */
	HAS_ENDS = 32,   /* separate records for begin and end of spans, which can be unpaired */
	HAS_STACKS = 64, /* call stacks */
	HAS_LISTS = 128, /* values other than numbers and texts: lists, maps, bytes, JSON, null */
	HAS_NAN = 256,   /* floats that are not a number, or infinite */
	HAS_PARTS = 512, /* names composed of definitions or parts of the class name */
	HAS_NOT_UTF8 = 1024,
	HAS_NUL = 2048,         /* texts with NUL bytes */
	HAS_FACTS = 4096,       /* facts of the whole trace */
	HAS_EPOCH = 8192,       /* the wall time at time 0 */
	HAS_DEEP = 16384,       /* lists and maps, other than in JSON, nested more than 100 deep */
	HAS_NUMBERS = 32768,    /* numbers other than integers of 64 bits */
	HAS_OVERLAP = 65536,    /* only in losses: of writers whose spans must nest */
	HAS_STEPS = 131072,     /* arrows that continue where they arrive */
	HAS_REPEATED = 262144,  /* repeated field names, such as of a field that the engine adds to an event
	                         * that has one */
	HAS_DEEP_JSON = 524288, /* JSON nested more than 100 deep */
	HAS_DEEPER = 1048576,   /* only in losses: lists and maps nested more than 200 deep, which no reader
	                         * returns */
	HAS_HOSTS = 2097152,    /* hosts of processes */
};

/* Effects of a loss on an event when the output is read back (loss.affects), for convert --verify.  An event
 * may differ only in properties that rows of the ledger affect, and no more events may differ than they
 * count.  0: no effect on compared properties: lost before the writer, only for viewers, or not part of an
 * event. */
enum effect {
	AFFECTS_TIME = 1,
	AFFECTS_DURATION = 2,
	AFFECTS_NAME = 4,
	AFFECTS_CATEGORY = 8,
	AFFECTS_FIELDS = 16, /* their names, values or number */
	AFFECTS_TRACK = 32,
	AFFECTS_PHASE = 64,    /* a span became an instant, or async */
	AFFECTS_MISSING = 128, /* the event is missing from the output */
	AFFECTS_MORE = 256,    /* the output has additional events */
	AFFECTS_MANY = 512,    /* one count may affect many events: a name, a track */

	/* For all events: how they are compared, if the row has a count or is AFFECTS_ALWAYS. */
	AFFECTS_MICROSECONDS = 1024, /* times and durations differ by less than 1 us */
	AFFECTS_TRACK_NAMES = 2048,  /* tracks match by the numbers of process and thread */
	AFFECTS_PROCESSES = 4096,    /* threads match by their number; processes are ignored */
	AFFECTS_ALWAYS = 8192,       /* applies to all interpreted events, without a count */
};

/* loss.adds, names separated by spaces: additional fields of all events of the output, if the row counts all
 * of them or is AFFECTS_ALWAYS; with AFFECTS_MORE, the classes of the additional events. */

#endif
