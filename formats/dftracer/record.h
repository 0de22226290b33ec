#ifndef DFTRACER_RECORD_H
#define DFTRACER_RECORD_H

/* A record as tokens (record.c): its known members and arguments, as positions in the text. */

#include "base/slice.h"
#include "format/format.h"
#include "json/number.h"
#include "json/token.h"

/* Known members of a record. */
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

extern const char *const dft_top_names[DFT_TOPS];

/* Returns DFT_TOPS for unknown keys. */
enum dft_top dft_top_of(struct slice key);

/* Known arguments. */
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
	DFT_ROLE_COUNT_OF_CALLS, /* dft_cnt: marks an aggregate */
	DFT_ROLE_DURATION,       /* an object marks an aggregate */
	DFT_ROLE_CFG,
	DFT_ROLE_ID,
	DFT_ROLE_TYPE,
	DFT_ROLES
};

static inline bool dft_role_is_hash(enum dft_role role)
{
	return role >= DFT_ROLE_HHASH && role <= DFT_ROLE_CWD;
}

/* A byte range of the record, relative to its first byte. */
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
	uint32_t repeats; /* number of earlier arguments of the record with this key */
};

#define DFT_EXTRAS 16 /* unknown members that are retained */
#define DFT_MAX_ARGS 60000
#define DFT_MAX_DEPTH 60 /* of nested values; writers and viewers support little more */

/* Flaws that the parser repairs, in addition to those of the tokens. */
enum dft_flaw {
	DFT_FLAW_DUPLICATE_KEY = JSON_FLAW_KINDS,
	DFT_FLAW_STRAY_Q,
	DFT_FLAW_UNESCAPED_QUOTE,
	DFT_FLAW_KINDS
};

struct dft_record {
	const char *p, *end; /* from `{` to after `}` */
	uint64_t offset, ordinal, line;
	uint64_t column;             /* of the first byte, from 1 on */
	uint64_t shape;              /* enum json_kind of the known members, four bits each */
	struct dft_token *top;       /* own_top, or of a piece; [i] is valid unless its kind is JSON_ABSENT */
	uint16_t special[DFT_ROLES]; /* index + 1 of the first argument of a role; 0: none */
	struct dft_arg *args;        /* own_args, or of a piece (pieces.c) */
	struct dft_token own_top[DFT_TOPS];
	struct dft_arg *own_args;
	uint32_t nargs, args_cap; /* args_cap: of own_args */
	uint64_t hashes;          /* bit set: which of the first 64 arguments are hashes by their keys */
	struct dft_arg extras[DFT_EXTRAS];
	uint32_t nextras;
	struct dft_arg *members; /* all of the record, unchanged and in file order, if keep_members is set
	                            before dft_parse(); owned */
	uint32_t nmembers, members_cap;
	bool keep_members;
	struct json json; /* flaws, and the reason if the record could not be read */
	bool clean;       /* all text is printable ASCII without escapes */
	bool too_many;    /* arguments or members were dropped */
	bool no_memory;
};

/* Returns false on OOM.  A record must not move: it points into itself. */
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

/* Whether a member of the record is this text. */
static inline bool dft_top_is(const struct dft_record *rec, enum dft_top which, const char *text)
{
	return dft_top_kind(rec, which) == JSON_STRING && slice_is(dft_top_text(rec, which), text);
}

/* Returns a key without its spare escapes, see json_spare(). */
struct slice dft_plain_key(const struct dft_record *rec, char to[JSON_WORD], struct dft_token key);

/* Whether an argument or unknown member has this name. */
static inline bool dft_key_is(const struct dft_record *rec, const struct dft_arg *a, struct slice name)
{
	return slice_equal(rec->json.spare == NULL ? dft_token_text(rec, a->key)
	                                           : dft_plain_key(rec, (char[JSON_WORD]){ 0 }, a->key),
	                   name);
}

/* Returns the text of a token with escapes resolved, in the arena if there are any; p NULL on OOM. */
struct slice dft_text(const struct dft_record *rec, struct dft_token t, enum json_kind kind, struct arena *a);

/* Reads a token of digits.  Returns false if the number has more than 64 bits. */
static inline bool dft_digits(const struct dft_record *rec, struct dft_token t, uint64_t *v)
{
	return json_digits(rec->p, t.at, t.n, v);
}

/*
 * The keys of arguments: few, and repeated in every record, so each has a number.  Unlike base/table.h, this
 * table contains short keys itself, which makes parsing 4 % faster.
 */
#define DFT_MAX_KEYS 4096
#define DFT_KEY_SLOTS 8192
#define DFT_MAX_KEY_BYTES (256u << 10) /* of all keys */

struct dft_key {
	uint64_t low, high; /* the first 16 bytes, padded with zeros */
	struct slice text;
	struct slice shown; /* as a name of fields; p NULL: not used yet */
	uint8_t role;       /* enum dft_role */
	uint64_t object;    /* the last object with this key ... */
	uint32_t repeats;   /* ... and how often the key occurred in it before */
};

struct dft_key_slot {
	uint16_t tag;    /* of the hash: avoids most comparisons of keys */
	uint16_t number; /* + 1; 0: empty */
};

struct dft_keys {
	struct dft_key *keys;
	struct dft_key_slot *slots;
	uint32_t n, bytes;
	uint64_t seed;
	uint64_t object; /* number of the current object */
	struct arena text;
};

bool dft_keys_init(struct dft_keys *k);
void dft_keys_free(struct dft_keys *k);

/* Parses a record of any layout; p: its opening brace.  Returns false after setting rec->json.error to the
 * reason, or rec->no_memory. */
bool dft_parse(struct dft_record *rec, struct dft_keys *keys, const char *p, const char *e);

/* Whether an object whose first member is a known one of records starts at p. */
bool dft_begins_record(const char *p, const char *e);

/* Returns the position after `"traceEvents":[` near the start of an object at p (records wrapped for Chrome);
 * NULL if there is none. */
const char *dft_wrapper_end(const char *p, const char *e);

/* Sets the flags of text of a clean record. */
static inline struct slice dft_clean_text(struct slice s)
{
	s.flags = SLICE_UTF8 | SLICE_JSON;
	return s;
}

/* ---- paths: layouts of earlier records ---- */

struct dft_node;
struct pieces;

/* Properties of the records of a complete path, unless a number turns out to be of another kind. */
struct dft_shape {
	uint64_t kinds, hashes; /* dft_record.shape and .hashes */
	uint32_t nargs;
	uint16_t special[DFT_ROLES];
};

/* Changed by one thread, and read by others. */
struct dft_paths {
	struct dft_node *nodes; /* [0] is the root, which has no literal */
	struct dft_shape *shapes;
	uint32_t n, nshapes;
	uint64_t ordinal; /* of the last record that followed no path */
	uint32_t credit, unlearned;
	struct pieces *followers; /* whose threads read the paths; NULL: none do */
	uint32_t restarts;        /* how often all paths were dropped */
};

bool dft_paths_init(struct dft_paths *x);
void dft_paths_free(struct dft_paths *x);

#define DFT_SPARE 32          /* bytes after a line that must be readable */
#define DFT_MAX_PATH_ARGS 200 /* arguments of a record that follows a path */

/* Reads the record that fills the line [p, e) of clean bytes into rec->top, args and shape.  Returns the
 * shape for dft_record_apply(), which sets the rest; NULL if it follows no known path.  *quotes: positions of
 * quotes from p on, relative to `base`; moves past those of a record that is read. */
const struct dft_shape *dft_paths_follow(const struct dft_paths *x, struct dft_record *rec, const char *base,
                                         const uint32_t **quotes, const char *p, const char *e);

/* Completes a record that followed a path. */
static inline void dft_record_apply(struct dft_record *rec, const struct dft_shape *shape, const char *p,
                                    const char *e)
{
	json_clear(&rec->json);
	rec->p = p;
	rec->end = e;
	rec->hashes = shape->hashes;
	rec->nargs = shape->nargs;
	memcpy(rec->special, shape->special, sizeof rec->special);
	rec->nextras = 0;
	rec->clean = true;
	rec->too_many = false;
}

/* Adds the path of a valid record that fills its clean line, unless most records have layouts of their own.
 * ordinal: of the record, greater than in the previous call. */
void dft_paths_learn(struct dft_paths *x, const struct dft_record *rec, uint64_t ordinal);

#endif
