#ifndef CMD_CONVERT_H
#define CMD_CONVERT_H

#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "compare/compare.h"
#include "format/ledger.h"
#include "output/text.h"
#include "run/join.h"
#include "run/choose/split.h"
#include "run/pipeline.h"
#include "run/write/writing.h"

/* ---- anonymise options ---- */

/* What convert does to words, numbers and times so that a trace can be given away. */
struct anonymise_options {
	const char *keyfile; /* --anonymise; NULL: nothing */
	bool shift_time;
	struct anonymise anonymise;
};

/* What of the trace can be read in the output all the same, for people.  false: no memory. */
struct text;

/* ---- convert options ---- */

struct convert;

/* The options of all commands that write traces; the own options of a command count from CONVERT_OWN. */
enum convert_option {
	CONVERT_TO,
	CONVERT_THREADS,
	CONVERT_MEMORY,
	CONVERT_MAX_REPEAT,
	CONVERT_LANES,
	CONVERT_REBASE,
	CONVERT_FAIL_ON_LOSS,
	CONVERT_FAIL_ON_LOSS_OF,
	CONVERT_LOSSES,
	CONVERT_KEEP_PARTIAL,
	CONVERT_OWN
};

/* Their rows, for the table of such a command. */

/* clang-format off */
#define CONVERT_ROWS                                                                                         \
	[CONVERT_TO] = { "to", "FORMAT", "the output's format (default: by the suffix of its name)", 0 },    \
	[CONVERT_THREADS] = { "threads", "N", "work with N threads (default: one a core, 16 at most)", 0 },  \
	[CONVERT_MEMORY] = { "memory", "BYTES",                                                              \
	    "memory for sorting (default: 64 MiB)", 0 },                                                     \
	[CONVERT_MAX_REPEAT] = { "max-repeat", "N",                                                          \
	    "limit repeated texts and lists to N times the input size (default: 32)", 0 },                   \
	[CONVERT_LANES] = { "lanes", "on|off",                                                               \
	    "put spans that overlap without nesting on lanes of their own (default: on)", 0 },               \
	[CONVERT_REBASE] = { "rebase", NULL, "start at time 0: subtract the start time of the trace", 0 },   \
	[CONVERT_FAIL_ON_LOSS] = { "fail-on-loss", NULL, "exit 1 if the output cannot hold everything", 0 }, \
	[CONVERT_FAIL_ON_LOSS_OF] = { "fail-on-loss-of", "KIND,...",                                         \
	    "exit 1 if the output lacks something of these kinds", 0 },                                      \
	[CONVERT_LOSSES] = { "losses", "FILE",                                                               \
	    "write what the output lacks to FILE, as JSON", 0 },                                             \
	[CONVERT_KEEP_PARTIAL] = { "keep-partial", NULL,                                                     \
	    "keep the output although an input could not be read", 0 }

/* clang-format on */

/* Where the words of their arguments come from. */
extern const struct cmd_words convert_words[];

/* Takes one of them.  false after a message and status set. */
bool convert_take_option(struct convert *c, int option, const char *arg);

/* Whether the names on the command line can be those of inputs, output and report, and the format of the
 * output; c->in and c->out are set.  false after a message and status set. */
bool convert_check_names(struct convert *c);

/* ---- convert split ---- */

struct convert;

/* --split: the output is a folder of parts, each of them a whole trace. */
struct convert_split {
	struct split split;    /* by SPLIT_NOT: the output is one trace */
	char *out;             /* the folder, without slashes behind its name */
	bool routes;           /* the inputs are read once for all parts: run/choose/split_route.h */
	bool any;              /* an input could be read */
	bool is_again;         /* the inputs were read before, and what was found in them said */
	bool measures;         /* nothing is written, but counted */
	bool failed;           /* what was read before could not be read again, which was said */
	struct part_out *outs; /* parts that are written with one pass */
	uint32_t nouts, most;
	struct text name; /* of a file in the folder, with a NUL behind */
	struct ledger total;
};

struct part_out {
	struct convert *c;
	struct writing writing;
	uint32_t number;    /* in its name */
	uint32_t from, end; /* parts of the plan, or units of SPLIT_SIZE, [from, end) */
	uint64_t bytes;     /* of output */
	bool failed;
};

static inline bool convert_splits(const struct convert_split *s)
{
	return s->split.by != SPLIT_NOT;
}

/* --split time=DURATION, by=pid|tid|stream or size=BYTES.  false after a message and the status of the
 * options set. */
bool convert_split_option(struct convert *c, const char *arg);

/* Sets c->to by --to, the name of the folder, or that of the input; and c->out.  false as above. */
bool convert_split_format(struct convert *c);

/* Whether the other options go with it.  false as above. */
bool convert_split_check(struct convert *c);

/* Writes all parts into the folder, of which the last pipeline stays open.  false: not all was written. */
bool convert_split_write(struct convert *c);

/* Begins to write split.outs from a pipeline.  false: no memory, or the output or a pass failed. */
bool convert_split_begin(struct convert *c, struct pipeline *p);
void convert_split_free(struct convert_split *s);

/* ---- convert verify ---- */

struct convert;

/* How the output is compared with what was written.  Where bytes or digests differ, or losses were counted,
 * the input is read once more and compared event by event. */
enum verify_by {
	VERIFY_RULES,  /* not at all: it is only read, and checked by the rules of its format */
	VERIFY_BYTES,  /* a copy of the records of one input: first with the bytes of that */
	VERIFY_DIGEST, /* first the digest of all events */
	VERIFY_EVENTS, /* events, which are kept: the input can be read only once */
};

/* --verify: compares the output with what was written before it gets its name. */
struct convert_verify {
	bool wanted;
	bool implied; /* by another option: what can be read back is checked by its rules, no more */
	bool begun;
	enum verify_by by;
	uint64_t events;      /* VERIFY_EVENTS: that are compared */
	struct digest digest; /* VERIFY_DIGEST */
	struct sorter sorter; /* VERIFY_EVENTS: all of them, to be put in order of time */
};

/* Whether the output can be read back; false after a message, and the status of the options set. */
bool convert_verify_check(struct convert *c);

/* Whether the bytes of the input may be all that the output is compared with, if records are copied. */
bool convert_verify_can_compare_bytes(const struct convert *c, const struct pipeline_job *job);

/* When the output is opened; false after a message, and c->status set. */
bool convert_verify_begin(struct convert *c);

/* A batch that is about to be written; false after a message: the events cannot be kept. */
bool convert_verify_add(struct convert *c, const struct batch *b);

/* Reads the complete output; false after a message: it differs in what the losses do not declare, or cannot
 * be read.  If it breaks rules of its format, c->status says so. */
bool convert_verify_end(struct convert *c);
void convert_verify_free(struct convert_verify *v);

/* ---- for convert_verify_events.c ---- */

/* ---- convert ---- */

/* One run of convert: what the command line says, and where it stands. */
struct convert {
	struct options options;
	const char *const *in; /* operands */
	size_t nin;
	const char *out, *to_name; /* to_name: of --to; NULL: by the suffix of `out` */
	const struct format *to;
	uint64_t threads, sort_memory, max_repeat;
	bool raw, no_lanes, rebase, keep_partial, skip_existing;
	struct anonymise_options anonymise;
	const char *offsets;     /* the file of merge --align; NULL: none */
	const struct join *join; /* the inputs are so many traces; NULL: they are one */
	struct losses_out losses;
	struct convert_verify verify;
	struct convert_split split;
	struct progress progress;
	struct convert_output output;
	struct pipeline pipeline;
	struct writing writing;
	uint64_t records;        /* of all inputs so far */
	bool is_nothing;         /* one of them had errors, and none a record */
	enum exit_status status; /* of the inputs so far */
};

/* What is read and how. */
struct pipeline_job convert_job(struct convert *c);

/* Opens the output and the reports, before anything is read.  false after a message; nothing is left then. */
bool convert_open(struct convert *c);

/* Leaves nothing of what is open. */
void convert_close(struct convert *c);

/* Reads the inputs and writes the output, which it opens if it is not, as the members up to skip_existing
 * say.  For tests, too: of writers that are in no list. */
enum exit_status convert_run(struct convert *c);

/* ---- convert verify events ---- */

struct convert;
struct pipeline;

/* ---- align file ---- */

struct join;

#endif
