/*
 * Private header of the reader of Chrome JSON; write/ has the writers.
 *
 *   format.c   probe, rows of the formats
 *   document/  finds the events in the file: its structure, damage, recovery
 *   read.c     the reader: findings, events as tokens, times, fields
 *   meaning.c  processes and threads, classes, events
 *   pairs.c    begins, ends and arrows: keys, and the check that each has its other end
 *   profile.c  CPU profiles of V8
 *   facts/     facts of the trace, dialects, members that become fields, call stacks
 */
#ifndef CHROME_CHROME_H
#define CHROME_CHROME_H

#include <inttypes.h>
#include <stdio.h>

#include "base/compiler.h"
#include "format/cpu_profile.h"
#include "format/format.h"
#include "format/recover.h"
#include "json/repair.h"
#include "json/number.h"
#include "model/trace_origin.h"

enum chrome_rule {
#define RULE(name, id, level, text, spec, explain) CHROME_RULE_##name,
#include "chrome/rules.def"
#undef RULE
	CHROME_RULE_COUNT
};

extern const struct rule chrome_rules[CHROME_RULE_COUNT + 1];
extern const struct reader_ops chrome_reader_ops;

#define CHROME_MAX_MEMBER (8u << 20)  /* bytes of a member of the file that is read whole */
#define CHROME_PIECE (1u << 20)       /* bytes that are skipped at once */
#define CHROME_MAX_FACT (1u << 20)    /* bytes of a member that is kept as a fact */
#define CHROME_MAX_TASKS 60000        /* processes and threads */
#define CHROME_MAX_ID 200             /* bytes of a pid or tid that is a text; its length fits in a byte */
#define CHROME_MAX_TITLE 250          /* bytes of a name or category that always fit */
#define CHROME_MAX_TITLES (16u << 20) /* bytes of longer names of categories, processes and threads */
#define CHROME_MAX_CLASSES 4096
#define CHROME_MAX_OPEN (1u << 18) /* flows and async spans */
#define CHROME_MAX_ARGS 60000
#define CHROME_MAX_META 256

/* clang-format off */
enum chrome_limit {
	CHROME_LIMIT_TASKS, CHROME_LIMIT_CLASSES, CHROME_LIMIT_OPEN, CHROME_LIMIT_ARGS, CHROME_LIMIT_IDS,
	CHROME_LIMIT_TITLES, CHROME_LIMITS
};

/* Members of an event that the reader uses. */
enum chrome_member {
	CHROME_NAME, CHROME_CAT, CHROME_PH, CHROME_TS, CHROME_DUR, CHROME_PID, CHROME_TID, CHROME_ID,
	CHROME_ID2, CHROME_SCOPE, CHROME_S, CHROME_ARGS, CHROME_IDS, CHROME_BP, CHROME_BIND_ID,
	CHROME_FLOW_IN, CHROME_FLOW_OUT, CHROME_SF, CHROME_MEMBERS,
};
/* clang-format on */

/* An event as tokens. */
struct chrome_record {
	struct json_token of[CHROME_MEMBERS]; /* kind JSON_ABSENT: no such member */
	const char *p, *end;                  /* the object with its brackets */
	char ph;                              /* '\0': absent, or not a string of one byte */
	uint64_t ts, dur;                     /* ns; ts from trace.zero_ns on */
	bool has_ts, has_dur;
	bool has_duplicates;  /* a member occurs more than once */
	bool has_others;      /* members that are not in `of` */
	bool has_other_kinds; /* ... and whose values are not numbers, as that of tts is */
};

/* The id of an event. */
struct chrome_id {
	struct json_token token; /* kind JSON_ABSENT: none */
	bool local;              /* unique in its process only */
};

/* Order of nested spans (ph X) of a thread in the file.  Chromium and PyTorch write the outer span first,
 * clang the inner one. */
enum chrome_order { CHROME_ORDER_UNKNOWN, CHROME_OUTER_FIRST, CHROME_INNER_FIRST };

#define CHROME_SPANS 16 /* enclosing spans of a thread, to find partial overlaps */

struct chrome_span {
	uint64_t from, to; /* ns */
};

/* A process or thread. */
struct chrome_task {
	struct slice title; /* from metadata; p NULL: none */
	struct slice host;  /* of a process, from metadata of tracetool; p NULL: none */
	uint64_t id, true_id;
	bool has_id, has_true_id;
	bool labelled; /* the title is its label */
	bool checked;  /* the id was checked in this pass */
	bool is_thread;
	struct slice pid;          /* of the process, as in the file */
	const struct track *track; /* NULL: no event yet */
	struct chrome_task *owner; /* the process of a thread; NULL: not looked up yet */
	uint32_t index;            /* in tasks[] */
	uint32_t open;             /* for pairs.c: innermost B without its E, index + 1; 0: none */
	struct chrome_span spans[CHROME_SPANS];
	uint32_t nspans;
	enum chrome_order span_order; /* of the latest spans of which one contains the other */
};

#define CHROME_WINDOW 65536U /* begins, ends and arrows that wait for the order of time */

/* Findings that are reported once, with their number: ROW(tally, rule, text). */
#define CHROME_TALLY_ROWS(ROW)                                                                               \
	ROW(B, UNBALANCED, "a span (ph B) begins here and does not end")                                     \
	ROW(E, UNBALANCED, "a span (ph E) ends here and did not begin")                                      \
	ROW(ASYNC_B, UNBALANCED, "an async span (ph b) begins here and does not end")                        \
	ROW(ASYNC_E, UNBALANCED, "an async span (ph e) ends here and did not begin")                         \
	ROW(S, UNBALANCED, "an async span (ph S) begins here and does not end")                              \
	ROW(F, UNBALANCED, "an async span (ph F) ends here and did not begin")                               \
	ROW(CROSSING, OVERLAP, "a span (ph E) ends here, but others that began after it are open")           \
	ROW(IN_ALONE, ARROW_ALONE, "an arrow ends or continues here and did not begin")                      \
	ROW(OUT_AGAIN, DUPLICATE_ID,                                                                         \
	    "an arrow begins here and has the category, name and id of one that has not ended")              \
	ROW(LATE, LATE, "a begin or end is more than 32,768 others behind its time")                         \
	ROW(NO_DUR, MISSING_DUR, "a complete event (ph X) has no dur")                                       \
	ROW(NO_TID, NO_TID, "the event has no tid; read as its pid")                                         \
	ROW(QUOTED, QUOTED_NUMBER, "a time is a text")                                                       \
	ROW(NEGATIVE, NEGATIVE_TIME, "the time is before 0")

enum chrome_tally {
#define TALLY(tally, rule, text) CHROME_TALLY_##tally,
	CHROME_TALLY_ROWS(TALLY)
#undef TALLY
	    CHROME_TALLIES
};

struct chrome_end;
struct chrome_open;

/* Programs that write such files, recognised by their marks: ROW(dialect, name, clock); clock NULL: not
 * known. */
#define CHROME_DIALECT_ROWS(ROW)                                                                             \
	ROW(UNKNOWN, "", NULL)                                                                               \
	ROW(CHROME, "chrome", "monotonic")                                                                   \
	ROW(KINETO, "kineto", "unix")                                                                        \
	ROW(CLANG, "clang-time-trace", "monotonic")                                                          \
	ROW(NVCC, "nvcc", "monotonic")                                                                       \
	ROW(BAZEL, "bazel", "monotonic")                                                                     \
	ROW(JAX, "jax", NULL)                                                                                \
	ROW(NODE, "node", "monotonic")                                                                       \
	ROW(VIZTRACER, "viztracer", "monotonic")                                                             \
	ROW(TRACING, "tracing-chrome", "monotonic")                                                          \
	ROW(UFTRACE, "uftrace", "monotonic")                                                                 \
	ROW(GO, "go", "monotonic")                                                                           \
	ROW(CMAKE, "cmake", "monotonic")                                                                     \
	ROW(TYPESCRIPT, "typescript", "monotonic")                                                           \
	ROW(PERFETTO, "perfetto", NULL)                                                                      \
	ROW(CPUPROFILE, "cpuprofile", "monotonic")                                                           \
	ROW(TRACETOOL, "tracetool", NULL)

enum chrome_dialect {
#define DIALECT(dialect, name, clock) CHROME_DIALECT_##dialect,
	CHROME_DIALECT_ROWS(DIALECT)
#undef DIALECT
	    CHROME_DIALECTS
};

#define CHROME_YEAR_2001_NS UINT64_C(1000000000000000000) /* smaller wall times are none */

/* Frames of call stacks, by id. */
struct chrome_frames {
	struct tabletext ids; /* -> list[] */
	struct chrome_frame *list;
	uint32_t n, cap, bytes;
};

/* Position in the file: before the document, in the object around the events, in the array, after both. */
enum chrome_where { CHROME_AT_START, CHROME_IN_OBJECT, CHROME_IN_EVENTS, CHROME_AT_END };

struct chrome_profiles {
	struct cpu_profiles all;
	/* A file that is one profile. */
	uint32_t file;     /* number of the profile, from 1; 0: none is open */
	unsigned document; /* number of the document with the profile */
	bool has_start;
	bool is_cut;      /* its last list was read in part only */
	uint64_t nids;    /* number of sample ids that were read of a cut list */
	uint32_t nstored; /* number of samples of the last chunk, for recovery */
	/* Samples of the last chunk, which become events. */
	struct cpu_profile_sample current;
	uint32_t at; /* index of the next one */
	const struct chrome_task *task;
	uint64_t offset;          /* of the chunk */
	struct class *classes[2]; /* [1]: idle */
};

/* Call stacks of events: classes of one category differ by these. */
enum chrome_stack_kind {
	CHROME_STACK_NONE,
	CHROME_STACK_EVENT,  /* sf of an event */
	CHROME_STACK_SAMPLE, /* sf of an element of `samples` */
	CHROME_STACK_KINDS
};

/* Kind of the latest record, for recovery. */
enum chrome_item {
	CHROME_OPENS,   /* [ or { around everything */
	CHROME_LISTS,   /* "traceEvents":[ */
	CHROME_SAMPLES, /* "samples":[ */
	CHROME_MEMBER,  /* another member of the object */
	CHROME_EVENT,   /* an element of the array that is an object */
	CHROME_PART,    /* the next part of a member that is larger than the window */
	CHROME_CLOSES,  /* a bracket */
	CHROME_BLANKS,  /* the end of the input, and blanks before it */
	CHROME_DROPPED, /* damage */
};

/* Bytes of the input, as offsets. */
struct chrome_range {
	uint64_t from, to;
};

/* Damage that is skipped. */
struct chrome_damage {
	bool goes_on; /* continues after the last record */
	bool is_new;  /* to be reported */
	char first;
	enum chrome_rule rule;
	struct finding_place place;
};

/* An event that is longer than the window, which grows for it: valid up to at + bytes. */
struct chrome_begun {
	uint64_t at; /* offset */
	size_t bytes;
	struct json_nest nest;
};

/* There is no "ph" (in samples no "sf") in [from, at): saves another search.  from NULL: unknown. */
struct chrome_phases {
	const char *from, *at;
	uint64_t base; /* offset of address 0 in the trace; changes when the window moves */
	bool samples;
};

#define CHROME_SKIPS JSON_REPAIR_INNER

struct pieces;

struct chrome_reading {
	struct reader *r;
	struct json json;
	struct chrome_record rec;
	struct pieces *ahead; /* NULL: no thread parses ahead */
	bool asked_ahead;
	enum chrome_where where;
	bool in_object; /* the array of events is a member of an object */
	bool first;     /* at the first element of the object or array */
	bool has_events;
	bool in_samples;    /* the array is that of samples */
	bool gives_samples; /* samples of a CPU profile are given out before the next record */
	struct chrome_line {
		uint64_t number, start; /* start: offset */
	} line, next_line;              /* lines of p, and of the end of the record */
	struct chrome_counted {
		const char *to; /* counted from p up to here; NULL: not yet */
		uint64_t offset;
		struct chrome_line line;
	} counted;

	/* Window: of the input, or of its text converted to UTF-8. */
	const char *p, *end;
	bool last;

	struct chrome_wide *wide; /* NULL: the input is UTF-8 */

	/* Damage. */
	enum chrome_item item;
	const char *item_at; /* after blanks and commas */
	const char *item_end;
	struct json_repair *repair; /* NULL: nothing was repaired yet */
	struct json_records records;
	bool repaired;                /* the text of the item is repair->text */
	bool plain;                   /* repair->text is the item without its spare escapes */
	bool borrowed;                /* st->rec is in memory that the next record changes */
	bool misnamed;                /* the key of the events is damaged */
	bool lost;                    /* the bytes before the record were dropped */
	bool no_array, has_no_commas; /* one event a line */
	unsigned documents;
	uint64_t wasted;                         /* bytes parsed in vain */
	bool eager;                              /* the last eager repair gave a usable event */
	struct chrome_range skips[CHROME_SKIPS]; /* the rest of events that contain other events */
	uint32_t nskips;
	struct chrome_phases phases;
	struct chrome_begun begun;
	struct json_nest nest; /* of the member or event that is read in parts; depth 0: none */

	/* Current event. */
	struct chrome_task *task;
	struct event event; /* its ts, dur, phase and flags */

	struct tabletext ids;   /* pid, or pid and tid -> tasks[] */
	struct table64 threads; /* tid -> the first of tasks[], for samples: of the first nsampled tasks */
	uint32_t nsampled;
	struct chrome_task **tasks;
	uint32_t ntasks, tasks_cap;
	struct chrome_task *overflow;        /* replaces all tasks beyond the limit */
	enum chrome_order span_order;        /* the latest of any thread */
	char last_id[2 * CHROME_MAX_ID + 2]; /* key of tasks[last_task], the latest lookup */
	uint32_t last_id_n, last_task;
	bool is_ahead;                    /* a look-ahead pass */
	struct chrome_reading *names_for; /* this reader; in a look-ahead pass the asking one */
	bool looked_ahead;
	bool has_frames; /* of the whole file */

	struct tabletext class_names[CHROME_STACK_KINDS]; /* cat -> trace.planned[] */
	uint32_t title_bytes;                             /* used bytes of CHROME_MAX_TITLES */
	struct class *recent, *gaps;
	uint8_t recent_stack; /* enum chrome_stack_kind */

	enum chrome_dialect dialect;
	bool forced_dialect; /* by the user */
	bool has_rank;       /* rank is known */
	uint64_t rank;
	bool unit_ns;  /* displayTimeUnit is ns */
	bool has_base; /* the file states the wall time of its ts 0 */
	bool has_time; /* an event, not of metadata, had a time after 0 */
	uint32_t fact_bytes;
	struct chrome_frames frames;

	/* Checks of pairs. */
	struct chrome_end *ends; /* the window */
	struct timed *order;     /* 2 * CHROME_WINDOW elements */
	uint32_t nends, ends_cap;
	uint64_t checked_to;      /* ends before this time are too late */
	struct table64 open_keys; /* key -> open[] + 1; 0: no longer open */
	struct table64 arrows;    /* key -> number */
	uint32_t narrows;
	struct chrome_open *open;
	uint32_t nopen, open_cap, free_open; /* free_open: index + 1 of the first free entry */
	uint32_t in_use;
	struct finding_tally tallies[CHROME_TALLIES];
	bool limits[CHROME_LIMITS]; /* reported */
	struct arena scratch;       /* for one event */
	struct chrome_damage damage;
	struct chrome_profiles profiles;
};

/* Returns true for an element of `samples`, which has no ph: it is read as an event of ph P. */
static inline bool chrome_is_sample(const struct chrome_reading *st)
{
	return st->in_samples && st->rec.of[CHROME_PH].kind == JSON_ABSENT;
}

/* Returns true for the phases of the format. */
static inline bool chrome_phase_known(char ph)
{
	return ph != '\0' && strchr("BEXiIPCbneSTpFstfMNODRcvV()=", ph) != NULL;
}

/* ---- format.c ---- */

int chrome_probe(struct slice head, bool complete);

/* ---- document/document.c ---- */

/* See reader_ops.record. */
enum record_status chrome_next_record(struct reader *r, struct record *rec);

/* Returns the offset of a position in the window, the input's window or the text of a repaired event. */
uint64_t chrome_offset(const struct chrome_reading *st, const char *at);

/* Returns the position in the window of a position in the text of a repaired event. */
const char *chrome_origin(const struct chrome_reading *st, const char *at);

/* Ends the record with an item. */
enum record_status chrome_end_item(struct chrome_reading *st, struct record *rec, enum chrome_item item,
                                   const char *at, const char *end);

/* Same as chrome_end_item() for a record that is no event; raw reading shows it as structure. */
enum record_status chrome_end_gap(struct chrome_reading *st, struct record *rec, enum chrome_item item,
                                  const char *at, const char *end);

/* Skips the next part of a member that is larger than the window, or of an event that is too long.  p: a
 * value or key in it. */
enum record_status chrome_read_part(struct chrome_reading *st, struct record *rec, const char *at,
                                    const char *p, enum chrome_item item);

/* Whether the window may grow for the record, which is not an event. */
static inline bool chrome_may_grow(const struct chrome_reading *st)
{
	return !st->last && (size_t)(st->end - st->p) <= CHROME_MAX_MEMBER;
}

/* ---- document/event.c ---- */

/* Commas before an element. */
struct chrome_commas {
	const char *first, *second;
	bool line; /* a line ends before the element */
};

void chrome_report_commas(struct chrome_reading *st, const struct chrome_commas *c, const char *p);

/* Reads the object at p, an element of the array. */
enum record_status chrome_read_element(struct chrome_reading *st, struct record *rec, const char *p,
                                       const struct chrome_commas *commas);

/* Reads the member [p, end) of the object around the events, which has spare escapes. */
enum record_status chrome_plain_member(struct chrome_reading *st, struct record *rec, const char *p,
                                       const char *end);

/* Reads a damaged member of the object around the events. */
enum record_status chrome_repair_member(struct chrome_reading *st, struct record *rec, const char *p);

/* Reads up to `max` whole numbers at the start of the list v, the value of the member at p; the rest of the
 * list is left out. */
enum record_status chrome_read_part_of_list(struct chrome_reading *st, struct record *rec, struct slice key,
                                            const char *p, const char *v, uint64_t max);

/* Skips the rest of an event that contains other events.  Returns false if there is none at st->p. */
bool chrome_skip_rest(struct chrome_reading *st, struct record *rec, enum record_status *status);

/* Returns the rule of the first fault of the repaired item. */
enum chrome_rule chrome_fault_rule(const struct chrome_reading *st);

void chrome_damage_free(struct chrome_reading *st);

/* ---- document/ahead.c ---- */

/* Sets st->rec to the event at p if another thread parsed it, and it ends before e.  Returns its end, or
 * NULL. */
const char *chrome_parsed_ahead(struct chrome_reading *st, const char *p, const char *e);

/* ---- document/document.c: what begins where ---- */

/* *more: the answer depends on bytes after e, or after the window. */

#define CHROME_START_LOOK (16u << 10) /* bytes that are searched for the ph of an event */

/* Matches `"key":` at p. */
bool chrome_key_at(const char *p, const char *e, struct slice *key, bool *more);

/* Whether the object at p has the key, with its quotes, in [p, e).  Its texts may have stray quotes. */
bool chrome_has_key(const char *p, const char *e, struct slice key);

/* Whether an event starts at the brace p, judging by its keys. */
bool chrome_event_starts(struct chrome_phases *c, const char *p, const char *e, bool *more);

/* For struct json_records. */
bool chrome_starts(void *ctx, const char *from, const char *p, const char *e, bool *more);
bool chrome_is_key(struct slice key);

/* ---- document/wide.c: files in UTF-16 ---- */

/* Whether a text begins with the byte order mark of UTF-16. */
static inline bool chrome_has_wide_mark(struct slice s)
{
	return s.n >= 2 && (memcmp(s.p, "\xff\xfe", 2) == 0 || memcmp(s.p, "\xfe\xff", 2) == 0);
}

/* Continues reading as UTF-16.  Returns false on OOM. */
bool chrome_wide_begin(struct chrome_reading *st, bool big);

void chrome_wide_free(struct chrome_wide *w); /* NULL: nothing */

/* Sets the window to the text of the next bytes; `more`: and of further ones.  Returns false if the input's
 * window has none. */
bool chrome_wide_window(struct chrome_reading *st, bool more);

/* Returns the number of input bytes from which [from, at) of the window was converted. */
uint64_t chrome_wide_bytes(const struct chrome_reading *st, const char *from, const char *at);

/* Returns the position in the window after so many bytes of the input, or the window's end. */
const char *chrome_wide_after(const struct chrome_reading *st, uint64_t bytes);

/* Changes positions of the record in the text to those in the input. */
void chrome_wide_end(struct chrome_reading *st, struct record *rec);

/* ---- document/recover.c ---- */

extern const struct recover_ops chrome_recover_ops;

/* ---- read.c ---- */

/* Reads the event at p.  Returns its end, or NULL with json->error set. */
const char *chrome_parse_event(struct chrome_record *rec, struct json *json, const char *p, const char *e);

/* Reports duplicate members of st->rec. */
void chrome_report_duplicates(struct chrome_reading *st);

/* Reports a finding at a position of the window.  Returns false. */
bool chrome_report(struct chrome_reading *st, enum chrome_rule rule, const char *at, const char *fmt, ...)
    PRINTF(4, 5);

/* Returns the place of a position of the window, for a finding that is reported when the window has moved. */
struct finding_place chrome_place(struct chrome_reading *st, const char *at);

/* Reports an event at a position of the window that is longer than --max-record. */
void chrome_report_long(struct chrome_reading *st, const char *at);

/* Reports that a limit was reached, the first time. */
void chrome_report_limit(struct chrome_reading *st, enum chrome_limit which, const char *what);

/* Reads ts and dur of st->rec, with findings. */
void chrome_read_times(struct chrome_reading *st);

/* Returns the text of a string with its escapes resolved; for any other value, its bytes. */
struct slice chrome_text(struct arena *a, const struct json_token *t);

/* Clears it for chrome_parse_event(): clearing all of it would cost 3 % of a validation. */
static inline void chrome_record_clear(struct chrome_record *rec)
{
	for (unsigned m = 0; m < CHROME_MEMBERS; m++)
		rec->of[m].kind = JSON_ABSENT;
	rec->has_ts = rec->has_dur = rec->has_duplicates = rec->has_others = rec->has_other_kinds = false;
}

/* Sets ph from the tokens. */
static inline void chrome_record_set_phase(struct chrome_record *rec)
{
	const struct slice ph = json_token_text(&rec->of[CHROME_PH]);

	rec->ph = ph.n == 1 && rec->of[CHROME_PH].kind == JSON_STRING ? *ph.p : '\0';
}

/* Returns CHROME_MEMBERS for other keys. */
enum chrome_member chrome_find_member(struct slice key);

/* Returns the value for a field.  On OOM, a text has p NULL. */
struct value chrome_read_value(struct arena *a, const struct json_token *t);

/* Appends the members of the object [p, end) to the fields of the event. */
bool chrome_read_fields(struct chrome_reading *st, struct batch *b, struct event *e, const char *p,
                        const char *end);

/* ---- meaning.c ---- */

/* Checks and applies st->rec.  Returns false after a finding if it is no event. */
bool chrome_read_event(struct chrome_reading *st, struct record *rec);

/* reader_ops.event and fields. */
void chrome_meaning(struct reader *r, const struct record *rec, struct batch *b, struct event *e);
void chrome_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e);
void chrome_tasks_free(struct chrome_reading *st);

/* Returns the thread of events without pid and tid; NULL on OOM. */
const struct chrome_task *chrome_no_task(struct chrome_reading *st);

/* ---- pairs.c ---- */

/* Returns `id`, else id2.global, else id2.local. */
struct chrome_id chrome_find_id(const struct chrome_record *rec);

/* Returns the key that both ends of an async span share (b, e, S, F); names of b and e are compared, too. */
uint64_t chrome_async_key(struct chrome_reading *st);

/* Returns the number of the arrow of st->rec (s, t, f), from category, name and id: equal at both ends. */
uint64_t chrome_arrow_number(struct chrome_reading *st);

/* Returns the number of an arrow by bind_id, which binds spans. */
uint64_t chrome_bound_number(struct chrome_reading *st);

/* Checks that st->rec has its other end, if its ph is one of B, E, b, e, S, F, s, t and f. */
void chrome_check_end(struct chrome_reading *st, const struct chrome_task *task);

/* Checks that bind_id of st->rec has its other end. */
void chrome_check_bound(struct chrome_reading *st, const struct chrome_task *task);

void chrome_tally(struct chrome_reading *st, enum chrome_tally which, uint64_t offset);

/* reader_ops.end: reports begins, ends and arrows without their other end, and all tallies. */
void chrome_end(struct reader *r);
void chrome_pairs_free(struct chrome_reading *st);

/* ---- facts/ ---- */

extern const char *const chrome_dialects[CHROME_DIALECTS + 1]; /* ended by NULL */

/* See reader_ops.zero. */
uint64_t chrome_zero(struct input *in);

/* Sets the dialect, the clock and time 0 from the start of the input when it is opened. */
void chrome_look_at_head(struct chrome_reading *st);

/* Sets the dialect unless the user set it. */
void chrome_set_dialect(struct chrome_reading *st, enum chrome_dialect d);

/* Reads a member of the object around the events: a fact of the whole trace, the epoch, or a mark. */
void chrome_read_fact(struct chrome_reading *st, struct slice key, const struct json_token *t);

/* Reports a fact that is not kept; at: position of its value in the window. */
void chrome_lose_fact(struct chrome_reading *st, struct slice key, const char *at);

/* Reads metadata (ph M) that is a fact. */
void chrome_read_metadata(struct chrome_reading *st);

/* Treats times as counted from 1970 if that makes them later than 2000 and the file states no wall time: no
 * machine runs that long. */
void chrome_mark_wall(struct chrome_reading *st, uint64_t ts);

/* Finds the dialect from the first events. */
void chrome_mark_event(struct chrome_reading *st);

/* Adds the members of st->rec that the model has no other place for as fields, after the args. */
bool chrome_member_fields(struct chrome_reading *st, struct batch *b, struct event *e);

/* Returns the name of a process; in a folder of ranks or objects, after the part of the job. */
struct slice chrome_labelled(struct chrome_reading *st, struct slice name);

/* Reads stackFrames. */
void chrome_read_frames(struct chrome_reading *st, const struct json_token *t);

/* Begins an array of samples. */
void chrome_begin_samples(struct chrome_reading *st);

/* Returns the pid of the sample in st->rec, if its thread is known. */
struct json_token chrome_sample_pid(const struct chrome_reading *st);

/* Whether the frames of this id are known. */
bool chrome_knows_frame(struct chrome_reading *st, const struct json_token *id);

void chrome_frames_free(struct chrome_frames *f);

/* ---- profile.c ---- */

void chrome_profiles_init(struct chrome_reading *st);

/* Reads st->rec, of ph P and with st->task, if it is an event of a CPU profile. */
void chrome_read_profile(struct chrome_reading *st);

/* Reads a member of a file that is one profile (.cpuprofile).  Returns false for other members. */
bool chrome_read_profile_member(struct chrome_reading *st, struct slice key, const struct json_token *t);

/* Whether the member is a list that chrome_read_profile_member() needs. */
bool chrome_is_profile_list(const struct chrome_reading *st, struct slice key);

/* Whether the value at v, in the window, is such a list, and of numbers. */
bool chrome_is_number_list(const struct chrome_reading *st, struct slice key, const char *v);

/* Gives out the next sample of st->profiles as a record. */
enum record_status chrome_next_sample(struct chrome_reading *st, struct record *rec);

/* Adds the fields of that sample to its event. */
void chrome_sample_event(struct chrome_reading *st, struct batch *b, struct event *e);

/* Makes a list of the call stack of an event, which is JSON.  e->cls->plan is not NULL. */
void chrome_read_stack(struct chrome_reading *st, struct batch *b, struct event *e);

#endif
