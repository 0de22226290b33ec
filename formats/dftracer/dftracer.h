#ifndef DFTRACER_DFTRACER_H
#define DFTRACER_DFTRACER_H

/*
 * The private header of DFTracer traces (.pfw): JSON objects, one a line, in nine dialects.
 *
 * format.c    registration, rules, reports, dialects, detection
 * read.c      the reader: lines, in the general path
 * fast.c      common lines, and those that a look-ahead pass skips
 * record.c    records as tokens (record.h): the parser
 * paths.c     records with the layout of earlier ones
 * pieces.c    such records, read by further threads
 * check.c     checks of a record
 * names.c     its process, the names of its hashes
 * metadata.c  metadata that applies to other records
 * meaning.c   records as events
 * raw.c       records as they stand: raw events, recovery
 * write/      events of any format as records, and copies of records
 */

#include <inttypes.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/table.h"
#include "base/slice.h"
#include "dftracer/record.h"
#include "format/format.h"
#include "format/recover.h"
#include "json/scan.h"
#include "json/token.h"
#include "model/trace_origin.h"
#include "out/tracks.h"

struct claims;
struct dft_state;

/* ---- the format and the limits of this reader ---- */

/* `ph`: letters up to 2.x, integers since.  "H" for metadata was written for one day in September 2024. */
enum dft_phase {
	DFT_PHASE_NONE, /* ph is missing or unknown */
	DFT_PHASE_COMPLETE,
	DFT_PHASE_METADATA,
	DFT_PHASE_COUNTER,
	DFT_PHASE_AGGREGATE,
	DFT_PHASE_ASYNC_BEGIN, /* of the aggregator of the utilities: intervals with an id */
	DFT_PHASE_ASYNC_END,
	DFT_PHASE_BEGIN, /* of Chrome's format, not of DFTracer's; likewise those that follow */
	DFT_PHASE_END,
	DFT_PHASE_INSTANT,
};

#define DFT_HEX_DIGITS 16 /* of a hash as text */

/* Bytes of a run of NUL, or of input after the array of a wrapper, that are read at once.  Records of tracers
 * are shorter: they are cut at 16 KiB, or have one path and some numbers. */
#define DFT_MAX_LINE (8u << 20)

/* Tables that input can fill. */
#define DFT_MAX_PROCESSES 16384
#define DFT_MAX_THREADS 40000
#define DFT_MAX_HOSTS 16384
#define DFT_MAX_HASHES (1u << 17)
#define DFT_MAX_TEXTS (1u << 16)      /* different names of hashes ... */
#define DFT_MAX_TEXT_BYTES (8u << 20) /* ... and their bytes */
#define DFT_MAX_CLASSES 4096
#define DFT_MAX_CLASS_BYTES (1u << 20)
#define DFT_MAX_TITLES 32768           /* names of processes and threads from metadata */
#define DFT_MAX_TITLE 255              /* bytes of a title that are retained */
#define DFT_MAX_META 64                /* facts of the whole trace ... */
#define DFT_MAX_META_BYTES (64u << 10) /* ... and their bytes */

/* ---- hosts, processes, names (names.c) ---- */

/* Hosts by number.  Zero-initialise to start. */
struct dft_hosts {
	struct tabletext index; /* as written -> 1, 2, ... */
	struct slice *texts;    /* of host 1, 2, ... */
	uint32_t n, cap;
};

#define DFT_MAX_HOST 256 /* significant bytes of a host: the longest host name has 255 */

/* Returns 1, 2, ... for a host as it is written; its text is copied into the arena.  Returns 0 if there are
 * too many or on OOM: hosts are then not distinguished. */
uint32_t dft_host_number(struct dft_hosts *hosts, struct arena *a, struct slice host);

/* Returns the host as it is written; host is not 0. */
static inline struct slice dft_host_text(const struct dft_hosts *hosts, uint32_t host)
{
	return hosts->texts[host - 1];
}

/* slice_equal() with a shortcut for hashes of 16 digits. */
static inline bool dft_same_host(struct slice a, struct slice b)
{
	if (a.n != b.n)
		return false;
	if (a.n != 16)
		return slice_equal(a, b);
	return ((load_u64(a.p, false) ^ load_u64(b.p, false)) |
	        (load_u64(a.p + 8, false) ^ load_u64(b.p + 8, false))) == 0;
}

/* The key of two numbers in a table: a seeded hash, so that no input can choose numbers that collide. */
static inline uint64_t dft_key_of(uint64_t a, uint64_t b)
{
	return hash_u64(a, hash_u64(b, hash_seed()));
}

/*
 * A record that does not name its host (metadata of 2024) belongs to the first process of its pid; a process
 * with an unknown host gets the first host that is named with its pid.
 */
struct dft_process {
	uint64_t pid;
	uint32_t number;
	uint32_t host; /* dft_host_number(); 0: unknown */
	uint64_t unit; /* ns per unit of ts and dur */
	bool unit_given;
	bool started; /* a `start` without an `end` after it */
	bool aggregated;
	uint64_t host_known;     /* dft_names.hosts_defined when host_name was looked up */
	struct slice host_name;  /* name of its host, from a hash; p NULL: not looked up */
	uint32_t starts;         /* since the last `end` */
	uint64_t records, calls; /* since the last `end`; calls exclude metadata */
	struct finding_place start;
	uint64_t ids, first_id, last_id; /* different ids, the least and the greatest */
	struct finding_place id_at;      /* the first record with an id */
	bool gap_reported;
	const struct track *track; /* created when the first event needs it */
};

static inline void dft_count_id(struct dft_process *p, uint64_t id)
{
	p->first_id = p->ids == 0 || id < p->first_id ? id : p->first_id;
	p->last_id = p->ids == 0 || id > p->last_id ? id : p->last_id;
	p->ids++;
}

#define DFT_RECENT 16

/* A cached thread. */
struct dft_thread {
	const struct dft_process *process;
	const struct track *track;
	uint64_t tid;
};

/* Zero-initialise to start. */
struct dft_processes {
	struct dft_process **list; /* in the trace's arena; the array is owned */
	uint32_t n, cap;
	struct table64 index;                 /* pid, host (0: unknown) -> list[] */
	struct dft_process *last;             /* of the last record that named its host */
	struct table64 threads;               /* tid, process; no tid: process -> trace.tracks[] */
	struct dft_thread recent[DFT_RECENT]; /* by tid */
	const struct track *overflow;         /* threads past DFT_MAX_THREADS */
	bool hostless;                        /* a record did not name its host, or a title is of all hosts */
};

/* Returns the base of the process's ids in dft_shared.ids.  Ranges are far apart, and staggered so that their
 * pages do not collide. */
static inline uint64_t dft_id_base(const struct dft_process *p)
{
	return ((uint64_t)p->number << 44) + (uint64_t)p->number * 37 * IDSET_PAGE;
}

/* Names that metadata give to processes and threads, which may never occur in events.  Zero-initialise to
 * start. */
struct dft_titles {
	struct table64 index; /* pid, host; tid and these -> texts[] */
	struct slice *texts;  /* in the trace's arena */
	uint32_t n, cap;
};

/*
 * Hashes are cut from the MD5 of the text: 16 bits in one dialect, 64 bits as a number or as sixteen digits
 * in others.  The wide ones mean the same in every process, so one definition serves all; the narrow ones
 * collide, and belong to the process that defined them.
 */
enum dft_hash_kind { DFT_HASH_HOST, DFT_HASH_FILE, DFT_HASH_STRING, DFT_HASH_KINDS };

/* How a hash is written.  Hashes of different forms are different. */
enum dft_hash_form { DFT_HASH_NARROW, DFT_HASH_WIDE, DFT_HASH_DIGITS, DFT_HASH_FORMS };

/* A hash of a record. */
struct dft_hash {
	uint64_t value;
	bool text; /* sixteen hexadecimal digits, else a number */
	bool none; /* 0 or empty: there is no name */
};

/* Cache entry of a defined hash, by its digits (sixteen, or a number of at most 16): most hashes are used
 * repeatedly. */
struct dft_recent_hash {
	uint64_t high, low;
	uint64_t pid;  /* of a number */
	uint32_t name; /* index + 1; 0: empty slot */
	uint32_t form; /* enum dft_hash_kind, | DFT_RECENT_NUMBER */
};

#define DFT_RECENT_NUMBER 256
#define DFT_RECENT_HASHES 2048

struct dft_names {
	struct dft_recent_hash recent[DFT_RECENT_HASHES];
	struct dft_name *names; /* owned */
	uint32_t n, cap;
	struct table64 index[DFT_HASH_KINDS][DFT_HASH_FORMS]; /* -> names[] */
	uint64_t hosts_defined;                               /* number of definitions of hosts */
	struct tabletext interned;                            /* equal texts are stored once */
	uint32_t bytes;
	uint32_t nused; /* names that the input used before their definitions */
	bool redefined; /* a hash got another name */
};

extern const char *const dft_hash_records[DFT_HASH_KINDS]; /* names of the records that define them */

/* Returns the kind of hashes that a record of this name defines; DFT_HASH_KINDS: none. */
enum dft_hash_kind dft_defined_kind(struct slice name);

/* Returns the kind of record that defines hashes of this argument. */
static inline enum dft_hash_kind dft_hash_kind_of(enum dft_role role)
{
	if (role == DFT_ROLE_HHASH)
		return DFT_HASH_HOST;
	return role == DFT_ROLE_CMD_HASH || role == DFT_ROLE_EXEC_HASH ? DFT_HASH_STRING : DFT_HASH_FILE;
}

/* Returns the hash of a host as it is written; empty: 0, or no hash. */
static inline struct slice dft_host_hash(const struct dft_record *rec, const struct dft_arg *hash)
{
	const struct slice s = dft_token_text(rec, hash->value);

	return hash->kind > JSON_BAD_STRING || slice_is(s, "0") ? SLICE_NONE : s;
}

/* Whether an argument can be a hash: an integer other than 0, or a text of 16 bytes. */
static inline bool dft_can_be_hash(const struct dft_record *rec, const struct dft_arg *a)
{
	return a->kind == JSON_UINT ? a->value.n != 1 || rec->p[a->value.at] != '0'
	                            : a->kind == JSON_STRING && a->value.n == DFT_HEX_DIGITS;
}

/* Makes the cache key of a hash.  Returns false if such hashes are not cached.  16 bytes must be readable
 * from the start of the hash. */
static inline bool dft_recent_key(const struct dft_record *rec, const struct dft_arg *a, uint64_t pid,
                                  struct dft_recent_hash *key)
{
	const char *const p = rec->p + a->value.at;
	const uint32_t n = a->value.n;

	*key = (struct dft_recent_hash){ .high = load_u64(p, false),
		                         .low = load_u64(p + 8, false),
		                         .form = (uint32_t)dft_hash_kind_of((enum dft_role)a->role) };
	if (a->kind == JSON_STRING)
		return n == DFT_HEX_DIGITS;
	if (a->kind != JSON_UINT || n == 0 || n > 16)
		return false;
	key->pid = pid;
	key->form |= DFT_RECENT_NUMBER;
	if (n <= 8) {
		key->high &= ~UINT64_C(0) >> 8 * (8 - n);
		key->low = 0;
	} else {
		key->low &= ~UINT64_C(0) >> 8 * (16 - n);
	}
	return true;
}

static inline struct dft_recent_hash *dft_recent_slot(struct dft_names *n, const struct dft_recent_hash *key)
{
	const uint64_t mix =
	    (key->high ^ key->low * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0x94d049bb133111eb);

	return &n->recent[(mix >> 32) % DFT_RECENT_HASHES];
}

static inline bool dft_recent_matches(const struct dft_recent_hash *r, const struct dft_recent_hash *key)
{
	return r->high == key->high && r->low == key->low && r->pid == key->pid && r->form == key->form &&
	       r->name != 0;
}

void dft_names_free(struct dft_names *n);

/* Reads a hash as it is written.  Returns false if it is neither a number nor sixteen hexadecimal digits. */
bool dft_hash_read(struct slice s, enum json_kind kind, struct dft_hash *h);

/* Defines the name of a hash, and reports redefinitions. */
void dft_name_define(struct dft_state *st, const struct dft_record *rec, enum dft_hash_kind kind,
                     struct dft_hash h, uint64_t pid, struct slice text);

/* Returns the name of a hash; p is NULL if it is unknown.  Is not counted as a use. */
struct slice dft_name_find(const struct dft_state *st, enum dft_hash_kind kind, struct dft_hash h,
                           uint64_t pid);

/* ---- reports (format.c) ---- */

enum dft_rule {
#define RULE(name, id, level, text, spec, explain) DFT_RULE_##name,
#include "dftracer/rules.def"
#undef RULE
	DFT_RULE_COUNT
};

extern const struct rule dft_rules[DFT_RULE_COUNT + 1]; /* ended by an id of NULL */

/* A finding that is reported once, at the end: a count, and position and text of the first occurrence. */
struct dft_tally {
	struct finding_tally of;
	char text[40]; /* of the first; "": none */
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
	DFT_TYPE_FIELDS, /* `type`, which is usual in d5 */
	DFT_EXTRA_FIELDS,
	DFT_SPARSE_METADATA,
	DFT_NAMES_AS_TEXT,
	DFT_HASHES_AS_TEXT,
	DFT_TEXT_IDS,
	DFT_IDS_REPEATED,
	DFT_HASHES_LATE,
	DFT_TALLIES
};

/* Limits that are reported once a trace. */
enum dft_limit {
	DFT_LIMIT_PROCESSES,
	DFT_LIMIT_HASHES,
	DFT_LIMIT_CLASSES,
	DFT_LIMIT_TITLES,
	DFT_LIMIT_TITLE,
	DFT_LIMIT_META,
	DFT_LIMITS
};

/* ---- state ---- */

/* The current line.  Offsets are those of the trace, since the window may move. */
struct dft_line {
	uint64_t number, start;
	bool begun;   /* some of it was consumed */
	bool only_cr; /* only blanks were consumed */
	bool end_known;
	bool skipping;     /* the rest of it is dropped */
	bool dropped;      /* the bytes consumed last were unreadable */
	uint64_t end;      /* of the line without newline; valid if end_known */
	uint64_t searched; /* there is no newline before this offset */
	uint32_t records;  /* number of records on the line ... */
	uint64_t second;   /* ... and where the second one starts */
	bool comma;        /* a comma was consumed last */
	uint64_t comma_at;
	uint64_t nul_start, nul_bytes; /* of the run of NUL that is being read */
	uint64_t skip_start, skipped;  /* of a record that is too long */
};

/* Classes of events.  Zero-initialise to start. */
struct dft_classes {
	struct tabletext index;           /* category -> trace.classes[] */
	struct class *recent[DFT_RECENT]; /* cache, by the last byte of the name */
	struct class *overflow;           /* categories past the limits */
	struct class *gaps[2];            /* of raw events: bytes between records; unreadable bytes */
	uint32_t bytes;                   /* of all names */
};

/* State that the inputs of one trace share. */
struct dft_shared {
	struct arena *arena; /* the trace's: events may point into it */
	struct dft_hosts hosts;
	struct dft_names names;
	struct dft_titles titles;
	struct dft_processes processes;
	struct dft_classes classes;
	struct idset ids;
	uint32_t meta_bytes; /* of facts of the whole trace */
	bool limits_reported[DFT_LIMITS];
	bool entangled; /* records without a process, begins or ends: they may concern other inputs */
};

#define DFT_NAMES 8 /* hashes of a record whose names are retained */

/* Properties of a record, set by check.c. */
struct dft_facts {
	enum dft_phase phase;
	bool has_id, has_pid, has_tid, has_ts, has_dur;
	uint64_t id, pid, tid; /* negative ones as two's complement */
	uint64_t ts, dur;      /* ns */
	bool negative_pid;
	struct dft_process *process;   /* NULL: no pid */
	struct slice names[DFT_NAMES]; /* of its first hashes, in order; p NULL: unknown */
	uint32_t nnames;
};

/* The clock that tracetool's facts state in the current input. */
struct dft_clock {
	bool stated, named;         /* there are such facts; trace.clock is from them */
	bool has_epoch, is_rebased; /* of the last facts of tracetool, which start at `at` */
	bool used;                  /* trace.epoch_ns is from them, and not from earlier ones */
	uint64_t epoch_ns;          /* of their times; without has_epoch only the change by --rebase */
	struct finding_place at;
};

#define DFT_AHEAD_NAMES 3 /* keywords of the look-ahead pass: see fast.c */

struct dft_state {
	struct reader *r;
	struct dft_shared *sh;

	const struct json_scanner *scanner;
	struct json_index *index;
	uint64_t indexed;       /* offset of its base */
	uint64_t uncommon;      /* offset of the last line that is left to the general path */
	const uint32_t *quotes; /* in the index: the first quote not yet used */
	const uint32_t *lines, *odd;
	bool in_index; /* they are those of the current line */
	struct dft_paths paths;
	struct pieces *pieces; /* NULL: no thread parses ahead */
	struct dft_keys keys;
	struct dft_record record;
	struct dft_facts facts; /* of this record */
	struct dft_line line;
	struct class no_class; /* of records whose events are not wanted */

	bool opened, closed; /* a `[` was read; a `]`, and no record after it */
	struct finding_place closed_at;
	bool wrapped, trailer; /* records are in {"traceEvents":[ ... ; that array has ended */
	uint64_t trailer_start, trailer_bytes;

	struct dft_clock clock;
	const char *dialect; /* as detected when opened */
	bool mixed_reported;
	uint64_t last_signature; /* dft_signature() of a record of this dialect */
	uint64_t valid_shape;    /* a shape and phase without findings ... */
	unsigned valid_tallies;  /* ... and the tallies it adds to */
	uint64_t findings;       /* reported by this input */
	struct dft_tally tallies[DFT_TALLIES];

	struct dft_shared *names_owner;       /* sh; in a look-ahead pass that of the asking reader */
	bool ahead;                           /* this is a look-ahead pass */
	uint64_t ahead_next[DFT_AHEAD_NAMES]; /* ahead: each keyword does not occur before this offset */
	bool looked_ahead;
	struct plan_bytes_cache sizes;
	bool resolve; /* show names in place of hashes and numbers */
	bool keep_ids;
	bool raw;             /* raw events ... */
	bool raw_fields;      /* ... with fields */
	bool plain;           /* the fast path passes over common records only */
	uint64_t parsed;      /* offset of a line that the fast path has parsed and left to dft_read() */
	struct arena scratch; /* for one record */
};

/* ---- reporting ---- */

static inline struct finding_place dft_record_position(const struct dft_record *rec)
{
	return (struct finding_place){
		.offset = rec->offset, .line = rec->line, .column = rec->column, .record = rec->ordinal
	};
}

/* Likewise of the first of several records, which one finding sums up. */
static inline struct finding_place dft_first_position(const struct dft_record *rec)
{
	struct finding_place at = dft_record_position(rec);

	at.sums = true;
	return at;
}

/* Whether the next finding of the rule will be shown. */
static inline bool dft_shown(const struct dft_state *st, enum dft_rule rule)
{
	return finding_is_shown(st->r->findings, &dft_rules[rule]);
}

/* Returns the position of a byte of the record. */
static inline struct finding_place dft_byte_position(const struct dft_record *rec, const char *at)
{
	const uint64_t into = (uint64_t)(at - rec->p);
	struct finding_place place = dft_record_position(rec);

	place.offset += into;
	place.column += into;
	return place;
}

/* Returns the position of a token of the record. */
static inline struct finding_place dft_token_position(const struct dft_record *rec, struct dft_token t)
{
	return dft_byte_position(rec, rec->p + t.at);
}

void dft_report(struct dft_state *st, enum dft_rule rule, struct finding_place at, const char *fmt, ...)
    PRINTF(4, 5);

void dft_report_limit(struct dft_state *st, enum dft_limit which, const struct dft_record *rec);

void dft_tally_first(struct dft_tally *t, struct finding_place position, struct slice text);

static inline void dft_tally_add(struct dft_state *st, enum dft_tallied which, struct finding_place position,
                                 struct slice text)
{
	if (st->tallies[which].of.count++ == 0)
		dft_tally_first(&st->tallies[which], position, text);
}

/* The same at a record. */
static inline void dft_tally_record(struct dft_state *st, enum dft_tallied which,
                                    const struct dft_record *rec, struct slice text)
{
	dft_tally_add(st, which, dft_record_position(rec), text);
}

/* At the end of an input, in this order: report unfinished lines and brackets; processes that started and did
 * not end; hashes that were used and never defined; numbers that the ids of processes leave out; tallies,
 * except those of forms that are usual in the dialect. */
void dft_line_finish(struct dft_state *st);
void dft_meta_finish(struct dft_state *st);
void dft_names_finish(struct dft_state *st);
void dft_ids_finish(struct dft_state *st);
void dft_tallies_report(struct dft_state *st);

/* ---- records ---- */

/* check.c */

/* Checks the record in st->record, sets st->facts, and applies metadata. */
void dft_check_record(struct dft_state *st);

/* Returns the phase that a letter or digit stands for. */
enum dft_phase dft_phase_of(char c);

/* Returns the letter or digit of ph; NUL: absent, or not one byte. */
static inline char dft_phase_char(const struct dft_record *rec)
{
	const struct dft_token ph = rec->top[DFT_PH];

	return dft_top_kind(rec, DFT_PH) != JSON_ABSENT && ph.n == 1 ? rec->p[ph.at] : '\0';
}

bool dft_is_metadata(const struct dft_record *rec);

/* Whether the record is skipped: look-ahead passes, which collect names, read only metadata. */
static inline bool dft_is_passed_over(const struct dft_state *st)
{
	return st->ahead && !dft_is_metadata(&st->record);
}

static inline void dft_no_memory_of_tables(struct dft_state *st)
{
	st->r->no_memory |= st->keys.text.failed | st->sh->ids.failed;
}

/* names.c */

/* Returns the process of a record; NULL on OOM.  host: as written; n 0: not given. */
struct dft_process *dft_process_of(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                   struct slice host);

/* Checks the hashes of a record, and adds their names to f->names. */
void dft_check_hashes(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f);

/* metadata.c */

/* Returns the title of a process (tid NULL), or of its thread; p is NULL if it has none.  A title with the
 * host takes precedence over one without a host. */
struct slice dft_title_find(struct dft_state *st, uint64_t pid, uint32_t host, const uint64_t *tid);

/* Returns ns per unit of a time_metric; 0 for unknown names. */
uint64_t dft_time_unit(struct slice name);

/* Returns the time_metric in the JSON of a cfg, without its quotes; p NULL: it has none. */
struct slice dft_unit_of_cfg(struct slice cfg);

/* Applies a record if it is metadata, `start` or `end`. */
void dft_meta_apply(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f);

/* meaning.c */

/* Returns the value of a token; escapes in a string are not resolved. */
struct value dft_value_of(const struct dft_record *rec, struct dft_token t, enum json_kind kind);

/* Whether only WANT_STRUCTURE shows the record. */
bool dft_event_is_structure(const struct dft_facts *f);

/* Checks the record in st->record, applies it, and sets the members of `rec`. */
void dft_take_record(struct dft_state *st, struct record *rec);

/* Adds the event of st->record: a complete event of the last process, already checked (fast.c). */
void dft_add_common(struct dft_state *st, const struct class *cls, uint64_t tid, uint64_t ts, uint64_t dur,
                    struct batch *b);

/* Returns the class of a record whose category is a string, if it is in the cache; else NULL. */
struct class *dft_class_recent(const struct dft_state *st, const struct dft_record *rec);

/* Sets name, phase and duration of an event. */
void dft_event_raw(const struct dft_state *st, struct batch *b, struct event *e);

/* format.c: dialects, the versions of the tracer. */

/* Detects the dialect from the first bytes; complete: there are no more.  Returns NULL on OOM. */
const char *dft_dialect_of(struct slice head, bool complete);

/* Returns the properties of a record that determine its dialect: equal values mean the same dialects.  Not
 * for records that define a hash.  Never 0. */
static inline uint64_t dft_signature(const struct dft_record *rec, enum dft_phase phase)
{
	const struct dft_arg *const host = dft_arg_of(rec, DFT_ROLE_HHASH);
	const struct dft_arg *const file = dft_arg_of(rec, DFT_ROLE_FHASH);
	uint64_t s = rec->shape | (uint64_t)phase << 40;

	if (host != NULL)
		s |= (uint64_t)host->kind << 44 | (uint64_t)(host->value.n > 5) << 48 |
		     (uint64_t)(host->value.n > 1) << 49;
	if (file != NULL)
		s |= (uint64_t)file->kind << 50 | (uint64_t)(file->value.n > 5) << 54 |
		     (uint64_t)(file->value.n > 1) << 55;
	return s | (uint64_t)(rec->special[DFT_ROLE_HOSTNAME] != 0) << 56 | (uint64_t)1 << 63;
}

/* Reports the first record of another dialect than the trace's. */
void dft_dialect_check(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f);

/* ---- common lines (fast.c) ---- */

/* pieces.c: starts threads that read lines ahead, if they pay; sets st->pieces. */
void dft_pieces_begin(struct dft_state *st);

/* pieces.c: requires st->pieces; sets st->record to the record of the line at the start of the window if
 * another thread has read it, all but its position.  Returns its end, or NULL. */
const char *dft_line_read(struct dft_state *st);

/* Reads the line at the start of the window, with its line feed, if it is a common one. */
bool dft_fast_line(struct dft_state *st, struct record *rec);

/* ---- raw events (raw.c) ---- */

/*
 * The bytes of a record extend from its opening brace to the end of its line, line end included, if only
 * blanks and commas follow the record; so removing a record removes its line.  All other bytes are events of
 * two classes: bytes between records (brackets, empty lines), and unreadable bytes.  Their only field is the
 * text.  The bytes of all events, joined, are the input.
 */

/* Returns the end of the bytes of the raw event of an item; the item ends where the window starts. */
const char *dft_raw_end(const struct dft_state *st, bool is_record);

/* Sets the class of bytes between records; dropped: of unreadable bytes. */
void dft_raw_gap(struct dft_state *st, struct record *rec, bool dropped);

/* Return whether a class is one of these two; whether it is that of unreadable bytes. */
bool dft_is_gap(const struct class *c);
bool dft_is_unreadable(const struct class *c);

/* ---- interfaces ---- */

/* reader_ops.probe, .event, .fields, .run; trace_ops.claims */
int dft_probe(struct slice head, bool complete);
void dft_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e);
void dft_raw_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e);
bool dft_run(struct reader *r, const char *limit, struct batch *b);
bool dft_claims(const void *shared, const struct trace *trace, struct claims *c);

extern const struct reader_ops dft_reader_ops;
extern const struct trace_ops dft_trace_ops;
extern const struct recover_ops dft_recover_ops;

#endif
