#ifndef DFTRACER_RECORD_H
#define DFTRACER_RECORD_H

#include "base/table.h"
#include "json/json_number.h"
#include "json/json_token.h"

/* A record as tokens: where its fields lie, and what each looks like. */

enum dft_rule {
#define RULE(name, id, level, text, spec, explain) DFT_RULE_##name,
#include "dftracer/dftracer_rules.def"
#undef RULE
	DFT_RULE_COUNT
};

/* The fields of the records themselves. */
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

/* Arguments that mean something to the reader. */
enum dft_plan {
	DFT_MEANS_NOTHING,
	DFT_MEANS_HHASH,
	DFT_MEANS_FHASH,
	DFT_MEANS_CMD_HASH,
	DFT_MEANS_EXEC_HASH,
	DFT_MEANS_CWD,
	DFT_MEANS_HOSTNAME,
	DFT_MEANS_FNAME,
	DFT_MEANS_CMD,
	DFT_MEANS_EXEC,
	DFT_MEANS_NAME,
	DFT_MEANS_VALUE,
	DFT_MEANS_HASH,
	DFT_MEANS_NUM_EVENTS,
	DFT_MEANS_VERSION,
	DFT_MEANS_COUNT_OF_CALLS, /* dft_cnt: it is an aggregate */
	DFT_MEANS_DURATION,       /* an object: likewise */
	DFT_MEANS_CFG,
	DFT_MEANS_ID,
	DFT_MEANS_TYPE,
	DFT_PLANS
};

static inline bool
dft_means_hash(enum dft_plan m)
{
	return m >= DFT_MEANS_HHASH && m <= DFT_MEANS_CWD;
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
	uint8_t plan;     /* enum dft_meaning */
	uint32_t repeats; /* how many arguments of the record before it have this key */
};

#define DFT_EXTRAS 16 /* top-level fields that the format does not know */
#define DFT_MAX_ARGS 60000
#define DFT_MAX_DEPTH 60 /* of values in values; writers and viewers hold little more */

/* What JSON allows, or forbids and what could be read all the same, beside the flaws of the tokens. */
enum dft_flaw {
	DFT_FLAW_DUPLICATE_KEY = JSON_FLAW_KINDS,
	DFT_FLAW_STRAY_Q,
	DFT_FLAW_UNESCAPED_QUOTE,
	DFT_FLAW_KINDS
};

/* A member of the record itself, as it stands there. */
struct dft_member {
	struct dft_token key, value; /* as in dft_arg */
	enum json_kind kind;
};

struct dft_record {
	const char *p, *end; /* from { to behind } */
	uint64_t offset, ordinal, line;
	uint64_t column;                /* of its first byte, from 1 on */
	uint64_t shape;                 /* kinds of the top-level fields, four bits each */
	struct dft_token top[DFT_TOPS]; /* those that are there */
	uint16_t special[DFT_PLANS]; /* argument + 1 of a meaning, the first if there are several; 0: none */
	struct dft_arg *args;        /* the reader's, used again */
	uint32_t nargs, args_cap;
	uint64_t hashes; /* which of the first 64 arguments are hashes by their keys */
	struct dft_arg extras[DFT_EXTRAS];
	uint32_t nextras;
	struct dft_member *members; /* all of them in file order, if keep_members is set before dft_parse() */
	uint32_t nmembers, members_cap;
	bool keep_members;
	struct json json; /* its flaws, and why it could not be read */
	bool clean;       /* all of its text is printable ASCII without escapes */
	bool too_many;    /* arguments or extras were left out */
	bool no_memory;
};

static inline enum json_kind
dft_top_kind(const struct dft_record *rec, enum dft_top which)
{
	return (enum json_kind)(rec->shape >> 4 * which & 15);
}

static inline struct slice
dft_token_text(const struct dft_record *rec, struct dft_token t)
{
	return slice_of(rec->p + t.at, t.n);
}

static inline struct slice
dft_top_text(const struct dft_record *rec, enum dft_top which)
{
	return dft_token_text(rec, rec->top[which]);
}

static inline const struct dft_arg *
dft_arg_of(const struct dft_record *rec, enum dft_plan m)
{
	return rec->special[m] != 0 ? &rec->args[rec->special[m] - 1] : NULL;
}

/* ---- dftracer_keys.c: the keys of arguments, told apart at a glance ---- */

#define DFT_MAX_KEYS 4096
#define DFT_KEY_SLOTS 8192
#define DFT_MAX_KEY_BYTES (256u << 10) /* of all keys */

struct dft_key {
	uint64_t low, high; /* the first 16 bytes, zeros behind the end */
	uint32_t n;
	uint8_t plan;
	const char *text; /* in the arena */
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

/* The number of a key of any length, new ones are added; DFT_NO_KEY: there are too many. */
uint16_t dft_key_number(struct dft_keys *k, struct slice s);

/* Which of the fields of records themselves; DFT_TOPS: none. */
enum dft_top dft_top_of(struct slice key);

/* ---- dftracer_parse.c: records ---- */

/* Zeroes it and makes room for arguments.  false: no memory. */
bool dft_record_init(struct dft_record *rec);
void dft_record_free(struct dft_record *rec);

/* Forgets what was found in the last record. */
static inline void
dft_record_clear(struct dft_record *rec)
{
	rec->shape = 0;
	memset(rec->special, 0, sizeof rec->special);
	rec->nargs = rec->nextras = rec->nmembers = 0;
	json_clear(&rec->json);
	rec->hashes = 0;
	rec->clean = rec->too_many = false;
}

/* Any record at p.  False: json.error (or no_memory) says why not. */
bool dft_parse(struct dft_record *rec, struct dft_keys *keys, const char *p, const char *e);

/* Behind `"traceEvents":[` near the start of an object at p, as records are wrapped for Chrome; NULL: it has
 * none. */
const char *dft_wrapper_end(const char *p, const char *e);

/* ---- numbers ---- */

/* The number that a stretch of digits gives; false: more than 64 bits. */
static inline bool
dft_digits(const struct dft_record *rec, struct dft_token t, uint64_t *v)
{
	return json_digits(rec->p, t.at, t.n, v);
}

#endif
