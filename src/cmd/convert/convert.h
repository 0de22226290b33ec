#ifndef CMD_CONVERT_H
#define CMD_CONVERT_H

#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/reports.h"
#include "cli/say.h"
#include "compare/compare.h"
#include "format/ledger.h"
#include "output/text.h"
#include "run/adjust/adjust.h"
#include "run/choose/split.h"
#include "run/join.h"
#include "run/pipeline.h"
#include "run/sort/sorter.h"
#include "run/write/writing.h"

/* convert and merge share one run; split.c (--split) and verify.c (--verify) are parts of it. */

struct convert;

/* ---- options ---- */

/* --anonymise and its options. */
struct anonymise_options {
	const char *keyfile; /* --anonymise; NULL: not given */
	bool shift_time;
	struct anonymise anonymise;
};

/* Rows of the options of all commands that write traces.  The run of such a command begins with a struct
 * convert. */

/* clang-format off */
#define CONVERT_ROWS                                                                                         \
	{ "to", "FORMAT", "the output's format (default: by the suffix of its name)", 0,                     \
	    TO_TEXT(struct convert, to_name) },                                                              \
	ROW_THREADS(struct convert, threads),                                                                \
	ROW_MEMORY(struct convert, sort_memory),                                                             \
	ROW_MAX_REPEAT(struct convert, max_repeat),                                                          \
	{ "lanes", "on|off", "put spans that overlap without nesting on lanes of their own (default: on)",   \
	    0, TO_CHOICE(struct convert, no_lanes) },                                                        \
	{ "rebase", NULL, "start at time 0: subtract the start time of the trace", 0,                        \
	    TO_FLAG(struct convert, rebase) },                                                               \
	{ "fail-on-loss", NULL, "exit 1 if the output cannot hold everything", 0,                            \
	    TO_CALL(struct convert, losses, losses_out_fail_on) },                                           \
	{ "fail-on-loss-of", "KIND,...", "exit 1 if the output lacks something of these kinds", 0,           \
	    TO_CALL(struct convert, losses, losses_out_fail_on) },                                           \
	{ "losses", "FILE", "write what the output lacks to FILE, as JSON", 0,                               \
	    TO_TEXT(struct convert, losses.path) },                                                          \
	{ "keep-partial", NULL, "keep the output although an input could not be read", 0,                    \
	    TO_FLAG(struct convert, keep_partial) }

/* clang-format on */

/* Candidates for completing the arguments of CONVERT_ROWS. */
extern const struct cmd_words convert_words[];

/* Checks that all files of the run are different, and finds the format of the output; c->in and c->out are
 * set.  Returns false after a message, with the status set. */
bool convert_check_names(struct convert *c);

/* ---- --split ---- */

/* The records of a batch that a part gets, if its copier can do without events of other parts. */
struct split_choice {
	bool common[PIPELINE_BATCH_EVENTS];            /* by event: all parts get it */
	uint32_t first, last;                          /* parts with events of the batch */
	uint32_t brief[PIPELINE_BATCH_EVENTS], nbrief; /* indexes of events for all other parts */
	struct event events[PIPELINE_BATCH_EVENTS];    /* those of one part */
	struct slice bytes[PIPELINE_BATCH_EVENTS];
};

/* --split: the output is a folder of parts; each part is a whole trace. */
struct convert_split {
	struct split split;        /* by == SPLIT_NOT: the output is one trace */
	char *out;                 /* the folder, without trailing slashes */
	bool routes;               /* the inputs are read once for all parts: run/choose/route.h */
	bool any;                  /* an input could be read */
	bool is_again;             /* the inputs were read before, and their findings reported */
	bool drops;                /* records of other parts are removed; else they are flagged */
	bool measures;             /* bytes are counted, not written */
	bool failed;               /* an input could not be read again (reported) */
	bool is_too_large;         /* `written` exceeds `allowed` */
	uint64_t written, allowed; /* bytes of all parts so far, and their limit */
	struct part_out *outs;     /* parts that are written with one pass */
	uint32_t nouts, max_outs;
	struct split_choice *choice; /* NULL: each part gets all records */
	uint64_t common_bytes;       /* of records that each part of the last pass got */
	struct text name;            /* path of a file in the folder, with a NUL */
	struct ledger total;
};

struct part_out {
	struct convert *c;
	struct writing writing;
	uint32_t number;    /* number in its name */
	uint32_t from, end; /* range [from, end): parts of the plan, or units of SPLIT_SIZE */
	uint64_t bytes;     /* size of the output */
	bool omits;         /* the last record that the copier got is of another part */
	bool failed;
};

static inline bool convert_splits(const struct convert_split *s)
{
	return s->split.by != SPLIT_NOT;
}

/* --split time=DURATION, by=pid|tid|stream or size=BYTES; see cmd_option.set. */
bool convert_split_option(void *run, struct options *o, const char *arg);

/* Sets c->to from --to, the name of the folder, or the format of the input; and sets c->out.  Returns false
 * after a message, with the status of the options set. */
bool convert_split_format(struct convert *c);

/* output_format_fits() for the parts.  The name of the folder may have .d after the suffix of their format,
 * also where another format has the suffix with .d. */
bool convert_split_fits(struct convert *c);

/* Refuses options that exclude --split.  Returns false after a message, with the options' status set. */
bool convert_split_check(struct convert *c);

/* Writes all parts into the folder; the last pipeline stays open.  Returns false if a part was not written
 * completely. */
bool convert_split_write(struct convert *c);

/* Begins to write split.outs from a pipeline.  Returns false if the output or a pass failed. */
bool convert_split_begin(struct convert *c, struct pipeline *p);
void convert_split_free(struct convert_split *s);

/* ---- --verify ---- */

/* How the output is compared with the events that were written.  If bytes or digests differ, or losses were
 * counted, the input is read once more and compared event by event. */
enum verify_by {
	VERIFY_RULES,  /* only the rules of its format are checked */
	VERIFY_BYTES,  /* a copy of the records of one input: bytes first */
	VERIFY_DIGEST, /* the digest of all events first */
	VERIFY_EVENTS, /* events that are kept in the sorter, as the input can be read only once */
};

/* --verify: compares the output with the events that were written, before the output gets its name. */
struct convert_verify {
	bool wanted;
	bool implied; /* by --anonymise: VERIFY_RULES, if the output can be read back */
	bool begun;
	bool joins; /* several inputs */
	enum verify_by by;
	uint64_t events;      /* VERIFY_EVENTS: number of events to compare */
	struct digest digest; /* VERIFY_DIGEST */
	struct sorter sorter; /* VERIFY_EVENTS: all events, to be sorted by time */
};

/* Whether the output can be read back.  Returns false after a message, with the status of the options set. */
bool convert_verify_check(struct convert *c);

/* Whether it is enough to compare bytes with the input, if records are copied. */
bool convert_verify_can_compare_bytes(const struct convert *c, const struct pipeline_job *job);

/* Called when the output is open.  Returns false after a message, with c->status set. */
bool convert_verify_begin(struct convert *c);

/* Adds a batch before it is written.  Returns false after a message. */
bool convert_verify_add(struct convert *c, const struct batch *b);

/* Reads and compares the complete output.  Returns false after a message: the output cannot be read, or it
 * differs in something that no loss declares.  Sets c->status if the output breaks rules of its format. */
bool convert_verify_end(struct convert *c);
void convert_verify_free(struct convert_verify *v);

/* ---- the run ---- */

/* Command line and state of a run. */
struct convert {
	struct options options; /* first */
	const char *const *in;  /* operands */
	size_t nin;
	const char *out, *to_name; /* to_name: argument of --to; NULL: by the suffix of `out` */
	const struct format *to;
	uint64_t threads, sort_memory, max_repeat;
	bool raw, rebase, keep_partial, skip_existing;
	unsigned no_lanes; /* index in on|off */
	struct anonymise_options anonymise;
	const char *offsets;     /* the file of merge --align; NULL: none */
	const struct join *join; /* each input is a trace; NULL: all inputs are one trace */
	struct losses_out losses;
	struct convert_verify verify;
	struct convert_split split;
	struct convert_output output;
	struct pipeline *pipeline;
	struct writing writing;
	uint64_t records;        /* number of records of all inputs so far */
	bool is_nothing;         /* an input has bytes, but no readable record */
	enum exit_status status; /* worst status of the inputs so far */
};

/* The job that reads the inputs. */
struct pipeline_job convert_job(struct convert *c);

/* Opens the output and the reports, before any input is read.  Returns false after a message, with all of
 * them discarded. */
bool convert_open(struct convert *c);

/* Discards all open outputs. */
void convert_close(struct convert *c);

/* Reads the inputs and writes the output, which is opened first if it is not open.  Tests call it with their
 * own writers. */
enum exit_status convert_run(struct convert *c);

#endif
