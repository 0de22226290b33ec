#ifndef DFTRACER_DFTRACER_H
#define DFTRACER_DFTRACER_H

#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/cursor.h"
#include "base/table.h"
#include "base/slice.h"
#include "base/scan.h"
#include "format/format.h"
#include "out/tracks.h"
#include "format/recover.h"
#include "json/scan.h"
#include "json/json_random.h"
#include "json/token.h"

/* ---- wire ---- */

/* The words of the format, and the bounds of this reader. */

/* `ph`: letters up to 2.x, integers since.  "H" for metadata was written for one day in September 2024. */
enum dft_phase {
	DFT_PHASE_NONE, /* no ph, or one that nobody writes */
	DFT_PHASE_COMPLETE,
	DFT_PHASE_METADATA,
	DFT_PHASE_COUNTER,
	DFT_PHASE_AGGREGATE,
	DFT_PHASE_BEGIN, /* of Chrome's format, not of this */
	DFT_PHASE_END,
	DFT_PHASE_INSTANT,
};

#define DFT_HEX_DIGITS 16 /* of a hash as text */

/* A record longer than this is not read, so that it need not be held in memory.  Tracers cut theirs at 16 KiB
 * or write one path and some numbers. */
#define DFT_MAX_LINE (8u << 20)
#define DFT_SKIP (1u << 20) /* bytes that a look ahead passes over in one go */
#define DFT_AHEAD_WORDS 3   /* that it searches for */

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
#define DFT_MAX_TITLE 60               /* bytes of one that are retained */
#define DFT_MAX_META 64                /* facts of the whole trace ... */
#define DFT_MAX_META_BYTES (64u << 10) /* ... and their bytes */

/* ---- record ---- */

/* A record as tokens: where its members lie, and what each looks like. */

/* The members of a record that the format knows. */
enum dft_top {
	DFT_ID,
	DFT_NAME,
	DFT_CAT,
	DFT_TYPE,
	DFT_PID,
	DFT_TID,
	DFT_TS,
	DFT_DUR,
	DFT_PH,
	DFT_ARGS,
	DFT_TOPS
};

/* Arguments that the reader looks at. */
enum dft_role {
	DFT_ROLE_NONE,
	DFT_ROLE_HHASH,
	DFT_ROLE_FHASH,
	DFT_ROLE_CMD_HASH,
	DFT_ROLE_EXEC_HASH,
	DFT_ROLE_CWD,
	DFT_ROLE_HOSTNAME,
	DFT_ROLE_FNAME,
	DFT_ROLE_CMD,
	DFT_ROLE_EXEC,
	DFT_ROLE_NAME,
	DFT_ROLE_VALUE,
	DFT_ROLE_HASH,
	DFT_ROLE_NUM_EVENTS,
	DFT_ROLE_VERSION,
	DFT_ROLE_COUNT_OF_CALLS, /* dft_cnt: it is an aggregate */
	DFT_ROLE_DURATION,       /* an object: likewise */
	DFT_ROLE_CFG,
	DFT_ROLE_ID,
	DFT_ROLE_TYPE,
	DFT_ROLES
};

static inline bool dft_role_is_hash(enum dft_role role)
{
	return role >= DFT_ROLE_HHASH && role <= DFT_ROLE_CWD;
}

/* A stretch of the record, from its first byte on. */
struct dft_token {
	uint32_t at, n;
};

#define DFT_NO_KEY UINT16_MAX

struct dft_arg {
	struct dft_token key; /* between the quotes */
	struct dft_token value;
	uint16_t number;  /* in dft_keys, or DFT_NO_KEY */
	uint8_t kind;     /* enum json_kind */
	uint8_t role;     /* enum dft_role */
	uint32_t repeats; /* how many arguments of the record before it have this key */
};

/* A member of the record itself, as it stands there. */
struct dft_member {
	struct dft_token key, value; /* as in dft_arg */
	enum json_kind kind;
};

#define DFT_EXTRAS 16 /* unknown members that are retained */
#define DFT_MAX_ARGS 60000
#define DFT_MAX_DEPTH 60 /* of values in values; writers and viewers hold little more */

/* Flaws that can be read all the same, beside those of the tokens. */
enum dft_flaw {
	DFT_FLAW_DUPLICATE_KEY = JSON_FLAW_KINDS,
	DFT_FLAW_STRAY_Q,
	DFT_FLAW_UNESCAPED_QUOTE,
	DFT_FLAW_KINDS
};

struct dft_record {
	const char *p, *end; /* from { to behind } */
	uint64_t offset, ordinal, line;
	uint64_t column;                /* of its first byte, from 1 on */
	uint64_t shape;                 /* kinds of the known members, four bits each */
	struct dft_token top[DFT_TOPS]; /* those that are there */
	uint16_t special[DFT_ROLES];    /* argument + 1 of a role, the first if there are several; 0: none */
	struct dft_arg *args;           /* owned */
	uint32_t nargs, args_cap;
	uint64_t hashes; /* which of the first 64 arguments are hashes by their keys */
	struct dft_arg extras[DFT_EXTRAS];
	uint32_t nextras;
	struct dft_member *members; /* all in file order, if keep_members is set before dft_parse(); owned */
	uint32_t nmembers, members_cap;
	bool keep_members;
	struct json json; /* flaws, and why the record could not be read */
	bool clean;       /* all of its text is printable ASCII without escapes */
	bool too_many;    /* arguments or members were dropped */
	bool no_memory;
};

/* Zeroes it and makes room for arguments.  false: no memory. */
bool dft_record_init(struct dft_record *rec);
void dft_record_free(struct dft_record *rec);

static inline enum json_kind dft_top_kind(const struct dft_record *rec, enum dft_top which)
{
	return (enum json_kind)(rec->shape >> 4 * which & 15);
}

/* Shapes of a metadata event and of a complete event as of 2024. */
#define DFT_KIND(which, kind) ((uint64_t)(kind) << 4 * (which))

#define DFT_USUAL_METADATA                                                                                   \
	(DFT_KIND(DFT_ID, JSON_UINT) | DFT_KIND(DFT_NAME, JSON_STRING) | DFT_KIND(DFT_CAT, JSON_STRING) |    \
	 DFT_KIND(DFT_PID, JSON_UINT) | DFT_KIND(DFT_TID, JSON_UINT) | DFT_KIND(DFT_PH, JSON_STRING) |       \
	 DFT_KIND(DFT_ARGS, JSON_OBJECT))

#define DFT_USUAL_COMPLETE (DFT_USUAL_METADATA | DFT_KIND(DFT_TS, JSON_UINT) | DFT_KIND(DFT_DUR, JSON_UINT))

static inline struct slice dft_token_text(const struct dft_record *rec, struct dft_token t)
{
	return slice_of(rec->p + t.at, t.n);
}

static inline struct slice dft_top_text(const struct dft_record *rec, enum dft_top which)
{
	return dft_token_text(rec, rec->top[which]);
}

static inline const struct dft_arg *dft_arg_of(const struct dft_record *rec, enum dft_role role)
{
	return rec->special[role] != 0 ? &rec->args[rec->special[role] - 1] : NULL;
}

/* The number that a stretch of digits gives; false: more than 64 bits. */
static inline bool dft_digits(const struct dft_record *rec, struct dft_token t, uint64_t *v)
{
	return json_digits(rec->p, t.at, t.n, v);
}

/* ---- keys ---- */

/*
 * The keys of arguments: few, and they come again in every record, so each has
 * a number.  Their table is not that of base/table.h: one that holds short keys
 * itself makes records that are parsed 4 % faster.
 */

#define DFT_MAX_KEYS 4096
#define DFT_KEY_SLOTS 8192
#define DFT_MAX_KEY_BYTES (256u << 10) /* of all keys */

struct dft_key {
	uint64_t low, high; /* the first 16 bytes, zeros behind the end */
	struct slice text;
	uint8_t role;     /* enum dft_role */
	uint64_t object;  /* the last one that had it ... */
	uint32_t repeats; /* ... and how often before */
};

struct dft_keys {
	struct dft_key *keys;
	uint16_t *slots; /* number + 1; 0: empty */
	uint32_t n, bytes;
	uint64_t seed;
	uint64_t object; /* the present one */
	struct arena text;
};

bool dft_keys_init(struct dft_keys *k);
void dft_keys_free(struct dft_keys *k);

/* Which of the known members; DFT_TOPS: none. */
enum dft_top dft_top_of(struct slice key);

/* ---- paths ---- */

/*
 * The same few shapes of records come again and again: what stands between
 * their values is byte for byte the same.  So the bytes between values are
 * remembered as a tree of literals, and a record that follows a path known
 * from an earlier one needs no parsing: each literal is compared, each value
 * is checked.  Where values begin and strings end is known from the positions of
 * the quotes, so no field has to wait for the one before it.
 */
#define DFT_MAX_NODES 4096
#define DFT_MAX_SHAPES 512
#define DFT_MAX_DEPTH_OF_PATH 200
#define DFT_LITERAL 24   /* bytes of a literal */
#define DFT_SIBLINGS 12  /* that are tried */
#define DFT_PATH_END 255 /* instead of a value: the line ends */
#define DFT_PATH_ARG 254 /* the value is an argument, else a field of the record */

/* What a complete path says of its records, unless a number turns out to be of another kind. */
struct dft_shape {
	uint64_t shape, hashes;
	uint32_t nargs;
	uint16_t special[DFT_ROLES];
};

struct dft_node {
	uint64_t literal[DFT_LITERAL / 8], mask[DFT_LITERAL / 8];
	struct dft_node *sibling, *child;
	const struct dft_shape *shape; /* at the end of a path */
	struct dft_arg arg;            /* all but its place, if the value is an argument */
	uint8_t n;                     /* bytes of the literal */
	uint8_t quotes;                /* in it */
	uint8_t after;                 /* from the last quote to the value */
	uint8_t what;                  /* enum dft_top, DFT_PATH_ARG or DFT_PATH_END */
	uint8_t kind;     /* of the value: JSON_STRING, or any other, which is looked at each time */
	uint8_t key_back; /* how far before the value the key begins */
};

struct dft_paths {
	struct dft_node *nodes; /* the first is the root, and no literal */
	struct dft_shape *shapes;
	uint32_t n, nshapes;
};

bool dft_paths_init(struct dft_paths *x);
void dft_paths_free(struct dft_paths *x);

/* Bytes behind a line that can be read. */
#define DFT_SPARE 32

/* The record that fills the line [p, e) of clean bytes, if it takes a known path.  *quotes: the positions,
 * counted from `base`, of the quotes from p on; moves behind those of the line.  False: it does not. */
bool dft_paths_follow(const struct dft_paths *x, struct dft_record *rec, const char *base,
                      const uint32_t **quotes, const char *p, const char *e);

/* Adds the path of a record that the parser found to be valid and that fills its clean line. */
void dft_paths_learn(struct dft_paths *x, const struct dft_record *rec);

/* ---- tally ---- */

/* Findings that are reported once, at the end, with a count. */

/* A place in the trace that findings name. */
struct dft_place {
	uint64_t offset, line, column, record;
};

struct dft_tally {
	struct finding_tally met;
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
	DFT_TYPE_FIELDS, /* type, which is usual in d5 */
	DFT_EXTRA_FIELDS,
	DFT_SPARSE_METADATA,
	DFT_NAMES_AS_TEXT,
	DFT_HASHES_AS_TEXT,
	DFT_TEXT_IDS,
	DFT_IDS_REPEATED,
	DFT_HASHES_LATE,
	DFT_TALLIES
};

/* ---- hash ---- */

/*
 * Names behind hashes.  Hashes are cut from the MD5 of the text: 16 bits in one
 * dialect, 64 bits as a number or as sixteen digits in others.  The wide ones
 * mean the same in every process, so one definition serves all; the narrow
 * ones collide, and belong to the process that defined them.
 */

enum dft_hash_kind { DFT_HASH_HOST, DFT_HASH_FILE, DFT_HASH_STRING, DFT_HASH_KINDS };

/* How a hash is written; each form has hashes of its own. */
enum dft_hash_form { DFT_HASH_NARROW, DFT_HASH_WIDE, DFT_HASH_DIGITS, DFT_HASH_FORMS };

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
	uint64_t value;
	const char *text; /* of n bytes, in the trace's arena, as events show it; NULL: undefined */
	uint32_t n, flags;
	uint32_t uses;    /* before its definition; at most UINT32_MAX */
	uint32_t unnamed; /* of these, shown as numbers */
	uint8_t kind, source;
	bool is_text;
	struct dft_place first_use;
};

/* A hash that a record before this one defines, by its digits, sixteen or of a number of up to sixteen: most
 * are used again and again. */
struct dft_recent_hash {
	uint64_t high, low;
	uint64_t pid;  /* of a number */
	uint32_t name; /* number + 1; 0: none */
	uint32_t form; /* enum dft_hash_kind, and DFT_RECENT_NUMBER */
};

#define DFT_RECENT_NUMBER 256
#define DFT_RECENT_HASHES 2048

struct dft_names {
	struct dft_recent_hash recent[DFT_RECENT_HASHES];
	struct dft_name *names;
	uint32_t n, cap;
	struct table64 index[DFT_HASH_KINDS][DFT_HASH_FORMS]; /* -> names[] */
	uint64_t hosts_defined;                               /* how often a host's hash got a name */
	struct tabletext known; /* texts, so that equal ones are held once -> texts[] */
	struct slice *texts;
	uint32_t ntexts, texts_cap;
	uint32_t bytes;
};

struct dft_state;

/* Which kind of record defines the hash of an argument. */
static inline enum dft_hash_kind dft_hash_kind_of(enum dft_role role)
{
	if (role == DFT_ROLE_HHASH)
		return DFT_HASH_HOST;
	return role == DFT_ROLE_CMD_HASH || role == DFT_ROLE_EXEC_HASH ? DFT_HASH_STRING : DFT_HASH_FILE;
}

/* What to look for among the recent ones; false: it is not of this kind.  16 bytes can be read from the start
 * of the hash. */
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

/* The place of a key. */
static inline struct dft_recent_hash *dft_recent(struct dft_names *n, const struct dft_recent_hash *key)
{
	const uint64_t mix =
	    (key->high ^ key->low * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0x94d049bb133111eb);

	return &n->recent[(mix >> 32) % DFT_RECENT_HASHES];
}

static inline bool dft_recent_is(const struct dft_recent_hash *r, const struct dft_recent_hash *key)
{
	return r->high == key->high && r->low == key->low && r->pid == key->pid && r->form == key->form &&
	       r->name != 0;
}

void dft_names_free(struct dft_names *n);

/* The hash of a token; false: neither a number nor sixteen hexadecimal digits. */
bool dft_hash_read(const struct dft_record *rec, struct dft_token t, enum json_kind kind, struct dft_hash *h);

/* Defines a name, with the findings that this may bring. */
void dft_name_define(struct dft_state *st, const struct dft_record *rec, enum dft_hash_kind kind,
                     struct dft_hash h, uint64_t pid, struct slice text, enum dft_source source);

/* The name if it is known, else p is NULL; nothing is remembered. */
struct slice dft_name_look(const struct dft_state *st, enum dft_hash_kind kind, struct dft_hash h,
                           uint64_t pid);

/* At the end: reports hashes that were used and never defined. */
void dft_names_finish(struct dft_state *st);

/* ---- who ---- */

/* Numbers for hosts, pids and tids, small enough for keys of tables.  Zero-initialise to start. */
struct dft_who {
	struct table64 large;   /* pids and tids of more than 38 bits -> 0, 1, ... */
	struct tabletext hosts; /* as written -> 1, 2, ... */
	struct slice *texts;    /* of host 1, 2, ... */
	uint32_t nhosts, hosts_cap;
};

#define DFT_MAX_HOST 256 /* bytes of a host that count: the longest name is 255 */

void dft_who_free(struct dft_who *w);

#define DFT_SMALL (UINT64_C(1) << 38)

/* 0, 1, ... for a number of more bits. */
uint32_t dft_large_number(struct dft_who *w, uint64_t v);

/* A number of less than 39 bits for any pid or tid: itself where it is that small.  Past a bound all large
 * ones are one. */
static inline uint64_t dft_small_number(struct dft_who *w, uint64_t v)
{
	return v < DFT_SMALL ? v : DFT_SMALL + dft_large_number(w, v);
}

/* 1, 2, ... for a host as it is written, whose text is copied into the arena; 0: too many, or no memory (then
 * hosts are not distinguished). */
uint32_t dft_host_number(struct dft_who *w, struct arena *a, struct slice host);

/* As written; host is not 0. */
static inline struct slice dft_host_text(const struct dft_who *w, uint32_t host)
{
	return w->texts[host - 1];
}

/* As slice_equal(), at once for hashes of 16 digits. */
static inline bool dft_same_host(struct slice a, struct slice b)
{
	if (a.n != b.n)
		return false;
	if (a.n != 16)
		return slice_equal(a, b);
	return ((load_u64(a.p, false) ^ load_u64(b.p, false)) |
	        (load_u64(a.p + 8, false) ^ load_u64(b.p + 8, false))) == 0;
}

/* A process by its pid and the number of its host (0: not known). */
static inline uint64_t dft_process_key(struct dft_who *w, uint64_t pid, uint32_t host)
{
	return dft_small_number(w, pid) << 24 | host;
}

/* ---- process ---- */

/*
 * Processes and their threads.  A process is known by its pid and its host; a
 * record that does not name its host (metadata of 2024) belongs to the first
 * process of its pid, and a process whose host is not known yet gets the first
 * that comes.
 */
struct dft_process {
	uint64_t pid;
	uint32_t number;
	uint32_t host; /* see dftracer_who.h; 0: not known */
	uint64_t unit; /* ns that ts and dur count in */
	bool unit_given;
	bool started; /* a `start` was met, and no `end` behind it */
	bool aggregated;
	uint64_t host_known; /* dft_names.hosts_defined when its host's hash was looked up, and defined ... */
	struct slice host_name;  /* ... as this; p NULL before that */
	uint32_t starts;         /* since the last `end` */
	uint64_t records, calls; /* since then, calls without metadata */
	struct dft_place start;
	const struct track *track; /* made when the first event needs it */
};

#define DFT_RECENT 16

/* A thread whose track was asked for lately. */
struct dft_thread {
	const struct dft_process *process;
	const struct track *track;
	uint64_t tid;
};

/* Zero-initialise to start. */
struct dft_processes {
	struct dft_process **list; /* in the trace's arena; the array is owned */
	uint32_t n, cap;
	struct table64 index;                 /* process key -> list[] */
	struct dft_process *last;             /* of the last record that named its host */
	struct table64 threads;               /* process << 40 | small tid -> trace.tracks[] */
	struct dft_thread recent[DFT_RECENT]; /* by tid */
	const struct track *more;
};

struct dft_state;

void dft_processes_free(struct dft_processes *p);

/* The process of a record: by its pid and its host (as written; n 0: not given).  NULL: no memory. */
struct dft_process *dft_process_of(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                   struct slice host);

/* Where its ids begin in dft_shared.ids: each process has its own place in the set, far from others, and not
 * where their pages lie. */
static inline uint64_t dft_id_place(const struct dft_process *p)
{
	return ((uint64_t)p->number << 44) + (uint64_t)p->number * 37 * IDSET_PAGE;
}

/* ---- title ---- */

/* Names that metadata give to processes and threads.  They stand apart from these: who is named need not be
 * met.  Zero-initialise to start. */
struct dft_titles {
	struct table64 owners; /* process key -> a number */
	struct table64 index;  /* that number << 40, | small tid + 1 for a thread -> texts[] */
	struct slice *texts;   /* in the trace's arena */
	uint32_t n, cap, nowners;
};

struct dft_state;

void dft_titles_free(struct dft_titles *t);

/* Remembers what a process (tid NULL) or thread is called. */
void dft_title_add(struct dft_state *st, uint64_t pid, struct slice host, const uint64_t *tid,
                   struct slice text);

/* ---- state ---- */

/* The present line.  Offsets are those of the trace, since the window may move. */
struct dft_line {
	uint64_t number, start;
	bool begun;   /* some of it was consumed */
	bool only_cr; /* nothing but blanks */
	bool end_known;
	bool skipping;     /* the rest of it is dropped */
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

/* Classes of events.  Zero-initialise to start. */
struct dft_classes {
	struct tabletext index;           /* category -> trace.classes[] */
	struct class *recent[DFT_RECENT]; /* by a byte of the name */
	struct class *more;
	struct class *run;     /* of raw events that stand for several records */
	struct class *gaps[2]; /* of raw events: what stands between records; what cannot be read */
	uint32_t bytes;        /* of all names */
};

enum dft_limit { DFT_LIMIT_PROCESSES, DFT_LIMIT_HASHES, DFT_LIMIT_CLASSES, DFT_LIMIT_TITLES, DFT_LIMITS };

/* What the inputs of one trace know of each other. */
struct dft_shared {
	struct arena *arena; /* the trace's: events may point to what lies in it */
	struct dft_who who;
	struct dft_names names;
	struct dft_titles titles;
	struct dft_processes processes;
	struct dft_classes classes;
	struct idset ids;
	uint32_t meta_bytes; /* of facts of the whole trace */
	bool limits_reported[DFT_LIMITS];
};

struct dft_state {
	struct reader *r;
	struct dft_shared *sh;
	bool no_memory; /* asked for once a record */

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
	bool mixed_reported;
	uint64_t usual_signature; /* of records that are of it, see dftracer_dialect.h */
	uint64_t valid_shape;     /* a shape and phase that was checked without a finding ... */
	unsigned valid_tallies;   /* ... and what is to be counted for it */
	uint64_t findings;        /* reported so far */
	struct dft_tally tallies[DFT_TALLIES];

	struct dft_shared *names_to; /* where names go: sh; in a look-ahead pass that of who asked for it */
	bool ahead;                  /* this is a look-ahead pass ... */
	uint64_t ahead_next[DFT_AHEAD_WORDS]; /* ... and where what it looks for may stand next */
	bool looked_ahead;
	bool resolve; /* names are wanted for what stands as hashes and numbers */
	bool keep_ids;
	bool raw;             /* raw events: see dftracer_raw.c ... */
	bool raw_fields;      /* ... and their fields */
	bool no_events;       /* not even of structure */
	bool runs, in_run;    /* ... records after the first are one event together; those being read are */
	uint64_t covered;     /* raw: where the bytes of the last event end */
	struct arena scratch; /* for one record */
};

/* ---- facts ---- */

/* What a record says: checked, learnt from, made an event. */

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

/* ---- dftracer_check.c: members, their kinds ---- */

void dft_check(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f);
bool dft_is_metadata(const struct dft_record *rec);

extern const char *const dft_top_names[DFT_TOPS];

/* ---- dftracer_numbers.c: process, id, times ---- */

/* ---- dftracer_hash_check.c: the hashes among the arguments ---- */

/* What they stand for, and whether they are hashes at all. */
void dft_check_hashes(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f);

/* ---- dftracer_dialect.c ---- */

/* Reports it when a record is of another dialect than the trace seems to be. */
void dft_dialect_check(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f);

/* ---- dftracer_meta.c: metadata records, `start` and `end` ---- */

void dft_learn(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f);

/* At the end: reports processes that started and did not end. */
void dft_learn_finish(struct dft_state *st);

/* ---- events ---- */

/* Whether nothing but WANT_STRUCTURE brings it out. */
bool dft_event_is_structure(const struct dft_facts *f);

void dft_event_add(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                   struct batch *b);

/* ---- dialect ---- */

/* Which version of the tracer wrote a trace. */

extern const char *const dft_dialects[]; /* ended by NULL */

/* What the first bytes say; complete: they are all there are.  NULL: no memory. */
const char *dft_dialect_of(struct slice head, bool complete);

/* What of a record decides about its dialect, as far as it takes to know that it is that of the last one; not
 * of records that define a hash.  Never 0. */
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

/* Bits of enum dft_tallied: forms that are usual in this dialect, so not reported in a trace of it. */
unsigned dft_dialect_forms(const char *dialect);

/* reader_ops.probe */
int dft_probe(struct slice head, bool complete);

/* ---- line ---- */

/* What stands around the records.  Out of memory: st->no_memory. */

/* Consumes one thing at the start of the window: a record, or something that stands between records.  false:
 * the window ends too early, and nothing happened. */
bool dft_line_next(struct dft_state *st, struct batch *b);

/* As many ordinary lines as the batch and the next piece of the window hold (dftracer_fast.c); where it
 * stops, dft_line_next() is needed. */
void dft_lines_fast(struct dft_state *st, struct batch *b);

/* At the end: reports what is still open. */
void dft_line_finish(struct dft_state *st);

/* ---- md5 ---- */

#define DFT_MD5_SIZE 16

/* MD5 of RFC 1321, from which tracers cut the hashes of names. */
void dft_md5(struct slice s, unsigned char digest[DFT_MD5_SIZE]);

/* ---- parse ---- */

/* Any record at p, which is its brace.  False: rec->json.error (or no_memory) is the reason. */
bool dft_parse(struct dft_record *rec, struct dft_keys *keys, const char *p, const char *e);

/* Whether the bytes at p begin as tracers begin records. */
bool dft_begins_record(const char *p, const char *e);

/* Behind `"traceEvents":[` near the start of an object at p, as records are wrapped for Chrome; NULL: it has
 * none. */
const char *dft_wrapper_end(const char *p, const char *e);

/* ---- raw ---- */

/*
 * Raw events: each record as the file has it, and what stands between records.
 *
 * The bytes of a record go from its opening brace over the rest of its line,
 * line end included, as far as nothing but blanks and commas follow; so a file
 * without a record is the file without its line.  All other bytes are those of
 * events of two classes: brackets, empty lines and the like, and what cannot
 * be read.  Their only field is the text.  All bytes put together are the
 * input.
 */

/* The fields of a record.  Out of memory: st->no_memory. */
void dft_raw_fields(struct dft_state *st, const struct dft_record *rec, struct batch *b, struct event *e);

/* Gives the record's event, the last of the batch, the bytes up to `to`; NULL: as much of its line as belongs
 * to it. */
void dft_raw_cover(struct dft_state *st, struct batch *b, const struct dft_record *rec, const char *to);

/* One event for the whole lines `bytes`, which end where the window begins: see WRITER_RAW_RUNS. */
void dft_raw_add_run(struct dft_state *st, struct batch *b, struct slice bytes);

/* Adds an event for what was consumed since the last event, if it was something. */
void dft_raw_gap(struct dft_state *st, struct batch *b);

/* ---- read ---- */

extern const struct reader_ops dft_reader_ops;
extern const struct trace_ops dft_trace_ops;

/* ---- recover ---- */

extern const struct recover_ops dft_recover_ops;

/* ---- report ---- */

/* Findings of this format, and how they are reported. */

enum dft_rule {
#define RULE(name, id, level, text, spec, explain) DFT_RULE_##name,
#include "dftracer/rules.def"
#undef RULE
	DFT_RULE_COUNT
};

extern const struct rule dft_rules[DFT_RULE_COUNT + 1]; /* ended by an id of NULL */

static inline struct dft_place dft_place_of(const struct dft_record *rec)
{
	return (struct dft_place){ rec->offset, rec->line, rec->column, rec->ordinal };
}

/* A place on the present line. */
static inline struct dft_place dft_place_at(const struct dft_state *st, uint64_t offset)
{
	return (struct dft_place){ offset, st->line.number, offset - st->line.start + 1, st->r->records };
}

/* Whether the next finding of the rule is shown. */
static inline bool dft_shown(const struct dft_state *st, enum dft_rule rule)
{
	return finding_is_shown(st->r->findings, &dft_rules[rule]);
}

/* At a byte of the present record (NULL: its first). */
void dft_report(struct dft_state *st, enum dft_rule rule, const struct dft_record *rec, const char *at,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* At an offset of the present line. */
void dft_report_line(struct dft_state *st, enum dft_rule rule, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* At a place that was passed. */
void dft_report_at(struct dft_state *st, enum dft_rule rule, struct dft_place place, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* A limit, once for the trace. */
void dft_report_limit(struct dft_state *st, enum dft_limit which, const struct dft_record *rec);

/* ---- once, with a count ---- */

void dft_tally_first(struct dft_tally *t, struct dft_place place, struct slice text);

static inline void dft_tally_add(struct dft_state *st, enum dft_tallied which, struct dft_place place,
                                 struct slice text)
{
	if (st->tallies[which].met.count++ == 0)
		dft_tally_first(&st->tallies[which], place, text);
}

/* At the end. */
void dft_tallies_report(struct dft_state *st);

/* ---- value ---- */

/* Tokens of a record as values and texts of events.  They point into the record. */

/* JSON text: a number, an object, an array, or a string with its quotes. */
static inline struct value dft_json_value(struct slice s)
{
	return (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p };
}

/* Texts of lines without odd bytes need no second look. */
static inline struct slice dft_clean_text(struct slice s)
{
	s.flags = SLICE_UTF8 | SLICE_JSON;
	return s;
}

/* A whole number; its digits as JSON if 64 bits do not hold it. */
struct value dft_integer_value(const struct dft_record *rec, struct dft_token t, bool minus);

/* nan or an infinity, as JSON_NOT_FINITE has it. */
struct value dft_not_finite_value(struct slice s);

/* ---- write look ---- */

/* A look at the bytes of a record that is copied: what kind it is, and whose. */

enum dfw_kind {
	DFW_CALL,        /* no metadata */
	DFW_HASH,        /* HH, FH, SH */
	DFW_TIME_METRIC, /* CM that says what times count */
	DFW_THREAD_NAME,
	DFW_ENTITY, /* EH, ET, ER */
	DFW_ENTITY_TYPE,
	DFW_ENTITY_RELATION,
	DFW_OF_PROCESS, /* other metadata */
};

struct dfw_look {
	bool ready;
	struct dft_keys keys;
	struct dft_record rec; /* points into the bytes */
	enum dfw_kind kind;
	bool has_pid, has_tid;
	uint64_t pid, tid;
	struct slice host;    /* as it is written; n 0: it does not say */
	struct table64 units; /* hash of pid and host, and of pid alone -> ns that times count */
};

/* false: no memory, or it is no record. */
bool dfw_look_at(struct dfw_look *x, struct slice bytes);

/* Remembers what a DFW_TIME_METRIC says.  false: no memory. */
bool dfw_look_metric(struct dfw_look *x);

/* ns that the times of the record count. */
uint64_t dfw_look_unit(const struct dfw_look *x);
void dfw_look_free(struct dfw_look *x);

/* ---- write select ---- */

/*
 * Which metadata a selection of records needs.  A survey of the input notes what
 * retained records refer to, so that what is written stays in the order of the
 * input: definitions of the hashes and entities that they name, and all that is
 * said of their processes and threads.
 *
 * Memory: past DFW_MOST_MARKS of these, all metadata is written.
 */
#define DFW_MOST_MARKS (1U << 20)
#define DFW_MOST_ENTITIES (1U << 17)

/* A record that defines an entity. */
struct dfw_entity {
	uint64_t id, type; /* hashes of the texts */
};

struct dfw_select {
	struct table64
	    needed;   /* hash of what is referred to -> 1; of a definition that was written -> of what */
	bool *tracks; /* by index: who its events are of is marked */
	uint32_t ntracks;
	struct dfw_entity *entities;
	uint32_t nentities, entities_cap;
	bool left_out;   /* some record was not selected */
	bool everything; /* it is too much to tell apart */
	bool over;       /* the survey is */
	bool failed;     /* no memory */
};

/* The next raw record of the survey; x: a look at it, if it is needed. */
void dfw_select_look(struct dfw_select *s, struct dfw_look *x, const struct event *e, struct slice bytes);

/* The survey is over.  Harmless twice. */
void dfw_select_end(struct dfw_select *s);

enum dfw_take { DFW_LEAVE, DFW_TAKE, DFW_LEAVE_START };

/* What becomes of the next raw record. */
enum dfw_take dfw_select_takes(struct dfw_select *s, struct dfw_look *x, const struct event *e,
                               struct slice bytes);
void dfw_select_free(struct dfw_select *s);

/* ---- write ---- */

/*
 * The writer.  Records of a DFTracer trace are written as they are; what other
 * formats hold becomes records of one of three dialects.
 */

enum dfw_loss {
#define LOSS(row, ...) DFW_##row,
#include "dftracer/losses.def"
#undef LOSS
	DFW_LOSSES
};

extern const struct loss dfw_losses[DFW_LOSSES + 1];

#define DFW_DIALECT_OPTION "to-dialect"
#define DFW_TAIL 32             /* bytes of what was written last that are remembered */
#define DFW_MOST_END (1U << 20) /* bytes behind the records of an input that are held back */

/* Where records of DFTracer traces stand that are written as they are. */
struct dfw_raw {
	uint32_t inputs;   /* begun so far */
	bool before;       /* no record of the present input was met yet */
	bool opened;       /* the output begins with a bracket */
	bool commas;       /* its records are separated by commas, as in an array */
	bool sealed;       /* so much stands behind the records of the first input that it was written */
	bool closed_later; /* an input behind the first has a closing bracket */
	bool selecting;    /* records are left out */
	bool written;      /* of a selection: some record was; how its line ends: */
	bool line_end, cr;
	struct text end; /* of the first input: what stands from its closing bracket on */
	char tail[DFW_TAIL];
	uint32_t ntail;
};

/* ---- records of other formats ---- */

enum dfw_dialect { DFW_D1, DFW_D3, DFW_D5 };

/* Bounds, so that memory does not grow with the trace and readers with bounds of their own (dftracer_wire.h,
 * dftracer_record.h) read the output. */
#define DFW_MOST_NAME (64U << 10)         /* bytes of a name or category */
#define DFW_MOST_RECORD ((8U << 20) - 64) /* bytes of a record */
#define DFW_MOST_FIELDS 59000U
#define DFW_MOST_DEPTH 50U
#define DFW_MOST_HASHES 60000U         /* names that become hashes ... */
#define DFW_MOST_HASH_BYTES (7U << 20) /* ... and their bytes */

enum dfw_hash_kind { DFW_HOST, DFW_FILE, DFW_STRING, DFW_HASH_KINDS };

/* A hash as it is written, with its quotes where the dialect has them. */
struct dfw_hash {
	char text[24];
	uint32_t n; /* 0: there is none */
};

struct dfw_process {
	uint64_t pid;
	uint64_t next_id;  /* of a record */
	uint64_t calls;    /* records that are not metadata */
	struct slice host; /* n 0: none is known */
	struct dfw_hash host_hash;
	uint32_t number; /* from 1 */
	bool shares_pid; /* with one on another host */
	bool changed;    /* readers show it under another name or number */
};

struct dfw_track {
	struct dfw_process *process;
	uint64_t tid;
	bool ready;
	bool changed; /* readers show its events under another name or number */
};

struct dfw_state {
	bool is_raw, selected, rebased, signed_time;
	bool own; /* the input is a DFTracer trace */
	struct dfw_raw raw;
	struct dfw_look look;
	struct dfw_select select;
	enum dfw_dialect dialect;
	struct arena arena;
	struct dfw_track *tracks; /* by index of the trace's track */
	uint32_t ntracks;
	struct dfw_process *first;
	struct track_numbers numbers; /* pids, and the tids of each process */
	struct tabletext hosts;       /* "pid host" in use */
	uint32_t nprocesses;
	struct tabletext hashed[DFW_HASH_KINDS]; /* texts whose hashes are defined -> hashes[] */
	struct table64 hashes_used[DFW_HASH_KINDS];
	struct dfw_hash *hashes;
	uint32_t nhashes, hashes_cap, hash_bytes;
	struct text scratch;
};

/* Who a record is of. */
struct dfw_who {
	struct dfw_process *process;
	uint64_t tid;
};

static inline void dfw_lose(struct chunk *chunk, enum dfw_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &dfw_losses[kind], offset, 1);
}

/* ---- write.c ---- */

/* A text as JSON. */
void dfw_text(struct chunk *chunk, struct slice s, uint64_t offset);

/* The hash of a text, whose record is written before its first use.  n 0: there is none in this dialect, or
 * for this text. */
struct dfw_hash dfw_hash_of(struct dfw_state *st, struct chunk *chunk, struct dfw_who who,
                            enum dfw_hash_kind kind, struct slice text);

/* ---- write_args.c ---- */

/* Defines the hashes that the arguments of an event need. */
void dfw_define_hashes(struct dfw_state *st, const struct batch *b, const struct event *e, struct dfw_who who,
                       struct chunk *chunk);

/* `,"args":{...}`; counter: the event becomes one. */
void dfw_args(struct dfw_state *st, const struct batch *b, const struct event *e, struct dfw_who who,
              bool counter, struct chunk *chunk);

/* The fields that are members of the record itself; NULL: none. */
const struct value *dfw_id_of(const struct dfw_state *st, const struct batch *b, const struct event *e);
const struct value *dfw_type_of(const struct dfw_state *st, const struct batch *b, const struct event *e);

void dfw_value(struct chunk *chunk, const struct value *v, uint64_t offset);

/* ---- raw.c ---- */

void dfw_raw(struct dfw_state *st, const struct batch *b, struct chunk *chunk);

/* A pass over all that will come, where records are left out. */
void dfw_survey(void *state, const struct batch *b);
void dfw_raw_close(struct dfw_raw *raw, struct chunk *chunk);

extern const char *const dfw_dialect_words[];
extern const struct writer_ops dfw_ops;

/* ---- random ---- */

/* Records at random, for tests: any fields in any order, any values. */

static inline void random_key(struct random_text *x, bool arg)
{
	static const char *const tops[] = { "id",  "name", "cat", "type", "pid",
		                            "tid", "ts",   "dur", "ph",   "more" };
	static const char *const args[] = { "hhash", "fhash",    "ret",
		                            "name",  "value",    "dft_cnt",
		                            "dur",   "hostname", "a key of more than 16 bytes" };

	random_put(x, "\"");
	random_put(x, arg ? args[random_below(x, sizeof args / sizeof args[0])]
	                  : tops[random_below(x, sizeof tops / sizeof tops[0])]);
	random_put(x, "\":");
	random_blank(x);
}

/* One record, valid but for keys that come twice. */
static inline void random_record(struct random_text *x)
{
	const uint32_t n = random_below(x, 9), args = random_below(x, n + 3);

	x->n = 0;
	x->plain = random_below(x, 3) > 0;
	random_put(x, "{");
	for (uint32_t i = 0; i < n; i++) {
		random_put(x, i > 0 ? "," : "");
		random_blank(x);
		if (i != args) {
			random_key(x, false);
			random_value(x, 3);
			continue;
		}
		random_put(x, "\"args\":{");
		for (uint32_t k = 0, most = random_below(x, 6); k < most; k++) {
			random_put(x, k > 0 ? "," : "");
			random_key(x, true);
			random_value(x, 0);
		}
		random_put(x, "}");
	}
	random_put(x, "}");
}

#endif
