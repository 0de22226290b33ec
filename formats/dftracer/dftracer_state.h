#ifndef DFTRACER_STATE_H
#define DFTRACER_STATE_H

#include <inttypes.h>
#include <stdio.h>

#include "base/idset.h"
#include "dftracer/dftracer_paths.h"
#include "dftracer/dftracer_record.h"
#include "dftracer/dftracer_wire.h"
#include "format/format.h"
#include "json/json_scan.h"

extern const struct rule dft_rules[DFT_RULE_COUNT + 1]; /* ended by an id of NULL */

/* A place in the trace that findings name. */
struct dft_place {
	uint64_t offset, line, column, record;
};

/* Something that is said once, at the end, with a count. */
struct dft_tally {
	uint64_t count;
	struct dft_place first;
	char text[40]; /* of the first time; "": none */
};

enum dft_tallied {
	DFT_LEADING_BLANKS,
	DFT_BLANK_LINES,
	DFT_CR_LF,
	DFT_TRAILING_COMMAS,
	DFT_QUOTED_NUMBERS,
	DFT_PHASE_FORMS,
	DFT_LATER_PHASES,
	DFT_NO_IDS,
	DFT_NO_ARGS,
	DFT_EXTRA_FIELDS,
	DFT_SPARSE_METADATA,
	DFT_NAMES_AS_TEXT,
	DFT_HASHES_AS_TEXT,
	DFT_TEXT_IDS,
	DFT_IDS_REPEATED,
	DFT_HASHES_LATE,
	DFT_TALLIES
};

/* ---- hashes (dftracer_hash.c) ---- */

enum dft_hash_kind { DFT_HASH_HOST, DFT_HASH_FILE, DFT_HASH_STRING, DFT_HASH_KINDS };

/* Where a name comes from; the later in this list, the better. */
enum dft_source {
	DFT_UNDEFINED, /* only used so far */
	DFT_AHEAD,     /* found by looking ahead */
	DFT_MET,       /* a record that stands before this place */
};

/* A hash as a record has it. */
struct dft_hash {
	uint64_t value;
	bool text; /* sixteen hexadecimal digits, else a number */
	bool none; /* 0 or empty: there is no name */
};

struct dft_name {
	uint64_t value, scope;
	const char *text; /* of n bytes, in the trace's arena, as events show it; NULL: undefined */
	uint32_t n, flags;
	uint32_t uses;    /* before its definition; at most UINT32_MAX */
	uint32_t unnamed; /* of these, shown as numbers */
	uint8_t kind, source;
	bool is_text;
	struct dft_place first_use;
};

/* A hash of sixteen digits that a record before this one defines, by its digits: most are used again and
 * again. */
struct dft_digits16 {
	uint64_t high, low;
	uint32_t name; /* number + 1; 0: none */
	uint8_t kind;
};

#define DFT_RECENT_HASHES 2048

struct dft_names {
	struct dft_digits16 recent[DFT_RECENT_HASHES];
	struct dft_name *names;
	uint32_t n, cap;
	uint32_t *slots; /* number + 1; 0: empty */
	size_t mask;
	uint64_t seed;
	struct tabletext known; /* texts, so that equal ones are held once -> texts[] */
	struct slice *texts;
	uint32_t ntexts, texts_cap;
	uint32_t bytes;
};

/* ---- processes and threads (dftracer_process.c) ---- */

struct dft_process {
	uint64_t pid;
	uint32_t number;
	uint32_t host; /* in dft_state.hosts; 0: not known */
	uint64_t unit; /* ns that ts and dur count in */
	bool unit_said;
	bool started; /* a `start` was met, and no `end` behind it */
	bool aggregated;
	uint64_t host_known; /* dft_state.hosts_defined when its host's hash was looked up, and defined ... */
	struct slice host_name;  /* ... as this; p NULL before that */
	uint32_t starts;         /* since the last `end` */
	uint64_t records, calls; /* since then, calls without metadata */
	struct dft_place start;
	const struct track *track; /* made when the first event needs it */
};

/* Names that metadata give to processes and threads.  They stand apart from these: who is named need not be
 * met. */
struct dft_titles {
	struct table64 owners; /* small pid << 24 | host -> a number */
	struct table64 index;  /* that number << 40, | small tid + 1 for a thread -> texts[] */
	struct slice *texts;
	uint32_t n, cap, nowners;
};

/* ---- the reader ---- */

enum dft_outcome {
	DFT_DONE,
	DFT_WAIT, /* the window ends too early; nothing happened */
	DFT_END,
	DFT_NO_MEMORY,
};

/* The present line.  Offsets are those of the trace, since the window may move. */
struct dft_line {
	uint64_t number, start;
	bool begun;   /* some of it was consumed */
	bool only_cr; /* nothing but blanks */
	bool end_known;
	bool skipping;     /* the rest of it was given up */
	bool dropped;      /* what was consumed last could not be read */
	uint64_t end;      /* of its newline, or of the trace; valid if end_known */
	uint64_t searched; /* no newline is before this */
	uint32_t records;  /* on it ... */
	uint64_t second;   /* ... and where the second begins */
	bool comma;        /* the last thing on it */
	uint64_t comma_at;
	uint64_t nul_start, nul_bytes; /* of the run that is being read */
	uint64_t skip_start, skipped;  /* of a record that is too long */
};

#define DFT_RECENT 16

/* A thread whose track was asked for lately. */
struct dft_thread {
	const struct dft_process *process;
	const struct track *track;
	uint64_t tid;
};

/* What the inputs of one trace know of each other: who did it, and what hashes stand for. */
struct dft_shared {
	struct arena *arena; /* the trace's: events may point to what lies in it */
	struct dft_names names;
	struct dft_process **processes; /* in the arena; the array is owned */
	uint32_t nprocesses, processes_cap;
	struct table64 by_pid;    /* small pid << 24 | host -> processes[] */
	struct table64 large;     /* pids and tids of more than 38 bits -> numbers */
	struct dft_process *last; /* of the last record that named its host */
	struct tabletext hosts;   /* as written -> 1, 2, ... */
	struct slice *host_texts; /* of host 1, 2, ... */
	uint32_t nhosts, hosts_cap;
	uint64_t hosts_defined;               /* how often a host's hash got a name */
	struct table64 threads;               /* process << 40 | small tid -> trace.tracks[] */
	struct dft_thread recent[DFT_RECENT]; /* by tid */
	const struct track *more;
	struct dft_titles titles;
	struct idset ids;

	struct tabletext classes;               /* category -> trace.classes[] */
	struct class *recent_class[DFT_RECENT]; /* by a byte of the name */
	struct class *more_class;
	struct class *gap_classes[2]; /* of raw events: what stands between records; what cannot be read */
	uint32_t class_bytes, meta_bytes;
	bool limits_said[4];
};

struct dft_state {
	struct reader *r;
	const struct json_scanner *scanner;
	struct json_index *index;
	const uint32_t *quotes; /* in the index: the first quote not yet used */
	const uint32_t *lines, *odd;
	struct dft_paths paths;
	struct dft_keys keys;
	struct dft_record record;
	struct dft_line line;

	bool opened, closed; /* a `[` was met; a `]`, and nothing behind it */
	struct dft_place closed_at;
	bool wrapped, trailer; /* inside {"traceEvents":[ ... ; behind it */
	uint64_t trailer_start, trailer_bytes;

	const char *dialect; /* as opened */
	bool mixed_said;
	uint64_t usual_signature; /* of records that are of it, see dftracer_dialect.c */
	uint64_t sound_shape;     /* a shape and phase that was checked and found right ... */
	unsigned sound_tallies;   /* ... and what is to be counted for it */
	uint64_t findings;        /* said so far */
	struct dft_tally tallies[DFT_TALLIES];

	struct dft_shared *sh;
	struct dft_shared *names_to; /* where names go: sh; in a look-ahead pass that of who asked for it */
	bool ahead;                  /* this is a look-ahead pass ... */
	bool few_metadata;           /* ... and only lines with ph "M" can hold something */
	bool looked_ahead;
	uint64_t records;    /* of this input */
	struct arena moment; /* for one record */
	bool keep_ids;
	bool resolve;     /* names are wanted for what stands as hashes and numbers */
	bool raw;         /* raw events: see dftracer_raw.c */
	uint64_t covered; /* raw: where the bytes of the last event end */
};

#define DFT_NAMES 8 /* of a record's hashes that are remembered */

/* The numbers of a record, and what else was found out about it. */
struct dft_facts {
	enum dft_phase phase;
	bool has_id, has_pid, has_tid, has_ts, has_dur;
	uint64_t id, pid, tid; /* signed ones as two's complement */
	uint64_t ts, dur;      /* ns */
	bool negative_pid;
	struct dft_process *process;   /* NULL: it has no pid */
	struct slice names[DFT_NAMES]; /* what its hashes stand for, in order (p NULL: not known) ... */
	uint32_t nnames;               /* ... as many as were looked up */
};

/* ---- findings (dftracer_find.c) ---- */

/* At a byte of the present record (NULL: its first). */
void dft_find(struct dft_state *st, enum dft_rule rule, const struct dft_record *rec, const char *at,
              const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* At an offset of the present line. */
void dft_find_line(struct dft_state *st, enum dft_rule rule, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static inline bool
dft_shown(const struct dft_state *st, enum dft_rule rule)
{
	return finding_is_shown(st->r->findings, &dft_rules[rule]);
}

static inline struct dft_place
dft_place_of(const struct dft_record *rec)
{
	return (struct dft_place){ rec->offset, rec->line, rec->column, rec->ordinal };
}

/* A place on the present line. */
static inline struct dft_place
dft_place_at(const struct dft_state *st, uint64_t offset)
{
	return (struct dft_place){ offset, st->line.number, offset - st->line.start + 1, st->r->records };
}

/* A finding that is made when its place has gone by. */
void dft_find_at(struct dft_state *st, enum dft_rule rule, struct dft_place place, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

void dft_tally_first(struct dft_state *st, enum dft_tallied which, struct dft_place place, struct slice text);

static inline void
dft_tally_add(struct dft_state *st, enum dft_tallied which, struct dft_place place, struct slice text)
{
	if (st->tallies[which].count++ == 0)
		dft_tally_first(st, which, place, text);
}

void dft_tallies_say(struct dft_state *st);

/* Says the limit once. */
enum dft_limit { DFT_LIMIT_PROCESSES, DFT_LIMIT_HASHES, DFT_LIMIT_CLASSES, DFT_LIMIT_TITLES };
void dft_limit(struct dft_state *st, enum dft_limit which, const struct dft_record *rec);

/* ---- dftracer_line.c: framing ---- */

/* One step at the start of the window: a record, or something that stands between records. */
enum dft_outcome dft_line_step(struct dft_state *st, struct batch *b);

/* As many ordinary lines as the batch and the next piece of the window hold; where it stops, dft_line_step()
 * is needed. */
enum dft_outcome dft_lines_fast(struct dft_state *st, struct batch *b);

/* At the end: what is still open. */
void dft_line_finish(struct dft_state *st);

/* ---- dftracer_judge.c, dftracer_meta.c, dftracer_event.c: what a record says ---- */

/* Checks the record in st->record, learns from it, adds its event. */
enum dft_outcome dft_record_take(struct dft_state *st, struct batch *b);

/* Fields, their kinds, the numbers.  False: no memory. */
bool dft_check(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f);

bool dft_is_metadata(const struct dft_record *rec);

extern const char *const dft_top_names[DFT_TOPS];
void dft_say_type(struct dft_state *st, const struct dft_record *rec, enum dft_top which, const char *wanted);

/* dftracer_numbers.c: process, id, times.  False: no memory. */
bool dft_check_numbers(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f);
bool dft_is_quoted_number(const struct dft_record *rec, enum dft_top which);

/* Metadata records, `start` and `end`.  False: no memory. */
bool dft_learn(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f);
/* Processes that started and did not end. */
void dft_learn_finish(struct dft_state *st);

/* Whether nothing but WANT_STRUCTURE brings it out. */
bool dft_event_is_structure(const struct dft_facts *f);

/* Adds the record's event, if that is wanted. */
enum dft_outcome dft_event_add(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                               struct batch *b);

/* ---- dftracer_raw.c: raw events ---- */

/* The fields of a raw event.  False: no memory. */
bool dft_raw_fields(const struct dft_record *rec, struct batch *b, struct event *e);

/* Gives the record's event, the last of the batch, the bytes up to `to`; NULL: as much of its line as belongs
 * to it. */
void dft_raw_cover(struct dft_state *st, struct batch *b, const struct dft_record *rec, const char *to);

/* Adds an event for what was consumed since the last event, if it was something. */
enum dft_outcome dft_raw_gap(struct dft_state *st, struct batch *b);

/* ---- dftracer_dialect.c ---- */

extern const char *const dft_dialects[];

/* What the first bytes say; NULL: nothing. */
const char *dft_dialect_of(struct slice head, bool whole);

/* Says it when a record is of another dialect than the trace seems to be. */
void dft_dialect_check(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f);

/* Whether all metadata of the dialect have ph "M". */
bool dft_writes_m(const char *dialect);

int dft_probe(struct slice head, bool whole);

/* ---- dftracer_hash.c ---- */

/* Which kind of record defines the hash of an argument. */
static inline enum dft_hash_kind
dft_hash_kind_of(enum dft_plan m)
{
	if (m == DFT_MEANS_HHASH)
		return DFT_HASH_HOST;
	return m == DFT_MEANS_CMD_HASH || m == DFT_MEANS_EXEC_HASH ? DFT_HASH_STRING : DFT_HASH_FILE;
}

void dft_names_free(struct dft_names *n);

/* What a token says; false: neither a number nor sixteen hexadecimal digits. */
bool dft_hash_read(const struct dft_record *rec, struct dft_token t, enum json_kind kind, struct dft_hash *h);

/* Defines a name, with the findings that this may bring.  False: no memory. */
bool dft_name_define(struct dft_state *st, const struct dft_record *rec, enum dft_hash_kind kind,
                     struct dft_hash h, uint64_t pid, struct slice text, enum dft_source source);

/* The name if it is known; nothing is remembered. */
struct slice dft_name_look(const struct dft_state *st, enum dft_hash_kind kind, struct dft_hash h,
                           uint64_t pid);

/* The hashes among the arguments: what they stand for, and whether they are hashes at all. */
void dft_check_hashes(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f);

/* Says which were used and never defined. */
void dft_names_finish(struct dft_state *st);

/* ---- dftracer_process.c ---- */

/* The process of a record: by its pid and its host (as written; n 0: not said).  NULL: no memory. */
struct dft_process *dft_process_of(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                   struct slice host);

/* The tracks of events; NULL: no memory. */
const struct track *dft_thread_track(struct dft_state *st, const struct dft_record *rec,
                                     struct dft_process *p, bool has_tid, uint64_t tid, bool negative_pid);

/* Remembers what metadata call a process (tid NULL) or thread.  False: no memory. */
bool dft_title_add(struct dft_state *st, uint64_t pid, struct slice host, const uint64_t *tid,
                   struct slice text);
void dft_processes_free(struct dft_shared *sh);

/* ---- dftracer_ahead.c ---- */

/* In a look-ahead pass: passes over lines of the window that hold no metadata. */
void dft_ahead_skip(struct dft_state *st);

/* ---- dftracer_read.c ---- */

extern const struct reader_ops dft_reader_ops;
extern const struct trace_ops dft_trace_ops;

#endif
