#ifndef DFTRACER_RECORD_H
#define DFTRACER_RECORD_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/table.h"

/* A record as tokens: where its fields lie, and what each looks like. */

enum dft_rule {
#define RULE(name, id, level, text, spec, explain) DFT_RULE_##name,
#include "dftracer/dftracer_rules.def"
#undef RULE
	DFT_RULE_COUNT
};

/* What a value looks like.  Four bits. */
enum dft_kind {
	DFT_ABSENT,
	DFT_UINT,    /* digits */
	DFT_INT,     /* a minus sign and digits */
	DFT_NUMBER,  /* with a fraction or an exponent */
	DFT_STRING,  /* valid UTF-8 without escapes; the token is what stands between the quotes */
	DFT_ESCAPED, /* with valid escapes; likewise */
	DFT_MENDED,  /* text that JSON does not allow as it stands; likewise */
	DFT_TRUE,
	DFT_FALSE,
	DFT_NULL,
	DFT_OBJECT, /* valid JSON text, braces included */
	DFT_ARRAY,
	DFT_NOT_FINITE, /* nan, inf */
	DFT_BARE,       /* a word without quotes, or a number that is none in JSON */
	DFT_TANGLED,    /* an object or array that is no valid JSON: its text is all there is */
};

static inline bool
dft_is_text(enum dft_kind kind)
{
	return kind == DFT_STRING || kind == DFT_ESCAPED || kind == DFT_MENDED;
}

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
	uint8_t kind;     /* enum dft_kind */
	uint8_t plan;     /* enum dft_meaning */
	uint32_t repeats; /* how many arguments of the record before it have this key */
};

#define DFT_FAULTS 8  /* of one record that are said; the rest is counted */
#define DFT_EXTRAS 16 /* top-level fields that the format does not know */
#define DFT_MAX_ARGS 60000
#define DFT_MAX_DEPTH 60 /* of values in values; writers and viewers hold little more */

/* Something that JSON forbids and that could be read all the same. */
struct dft_fault {
	uint8_t rule; /* enum dft_rule */
	uint32_t at;
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
	struct dft_fault faults[DFT_FAULTS];
	uint32_t nfaults;
	uint32_t met;  /* faults, those that were not kept too */
	bool clean;    /* all of its text is printable ASCII without escapes */
	bool too_many; /* arguments or extras were left out */
	/* when it could not be read */
	const char *fail_at, *why;
	bool cut; /* the bytes end before it does */
	bool no_memory;
};

static inline enum dft_kind
dft_top_kind(const struct dft_record *rec, enum dft_top which)
{
	return (enum dft_kind)(rec->shape >> 4 * which & 15);
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

/* ---- dftracer_json.c: RFC 8259, value by value ---- */

void dft_fault_add(struct dft_record *rec, enum dft_rule rule, const char *at);

static inline const char *
dft_skip_blanks(const char *p, const char *e)
{
	while (p < e && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	return p;
}

/* These read a value at p, which ends before e; they return where it ends, or NULL after setting why it does
 * not (rec->fail_at, why, cut).  What is wrong but readable is added to the record's faults. */
const char *dft_json_string(struct dft_record *rec, const char *p, const char *e,
                            enum dft_kind *kind); /* at the opening quote; behind the closing one */
const char *dft_json_scalar(struct dft_record *rec, const char *p, const char *e, enum dft_kind *kind);
const char *dft_json_nested(struct dft_record *rec, const char *p, const char *e, enum dft_kind *kind);

const char *dft_json_fail(struct dft_record *rec, const char *at, const char *why);
const char *dft_json_cut(struct dft_record *rec, const char *at, const char *why);

/* Strictly a JSON number; NULL: none. */
const char *dft_json_number(const char *p, const char *e, enum dft_kind *kind);

/* Text of a string's token, escapes resolved, in the arena; bad escapes stay as they are.  p NULL: no memory.
 */
struct slice dft_json_unescape(struct arena *a, struct slice s);

/* ---- dftracer_parse.c: records ---- */

/* Forgets what was found in the last record. */
static inline void
dft_record_clear(struct dft_record *rec)
{
	rec->shape = 0;
	memset(rec->special, 0, sizeof rec->special);
	rec->nargs = rec->nextras = rec->nfaults = 0;
	rec->hashes = 0;
	rec->clean = rec->too_many = false;
}

/* Any record at p, byte by byte and with patience.  False: fail_at, why, cut (or no_memory) say why not. */
bool dft_parse(struct dft_record *rec, struct dft_keys *keys, const char *p, const char *e);

/* Behind `"traceEvents":[` near the start of an object at p, as records are wrapped for Chrome; NULL: it has
 * none. */
const char *dft_wrapper_end(const char *p, const char *e);

/* ---- numbers ---- */

/* Eight digits, the first in the lowest byte. */
static inline uint64_t
dft_eight_digits(uint64_t w)
{
	w = w * 10 + (w >> 8);
	return ((w & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
	        (w >> 16 & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >>
	       32;
}

/* The n digits (1 to 8) that end at `end`; 8 bytes can be read before it. */
static inline uint64_t
dft_last_digits(const char *end, uint32_t n)
{
	const uint64_t w = load_u64(end - 8, false) ^ UINT64_C(0x3030303030303030);

	return dft_eight_digits(w & ~UINT64_C(0) << 8 * (8 - n));
}

/* Whether dft_last_digits() reads a stretch of digits without a look at what is not of the record. */
static inline bool
dft_few_digits(struct dft_token t)
{
	return t.n - 1 < 8 && t.at + t.n >= 8;
}

bool dft_digits_slow(const char *p, uint32_t n, uint64_t *v);

/* The number that a stretch of digits gives; false: more than 64 bits (or something that is no digit, if it
 * is short or long).  Of the bytes before it only those of the record are looked at. */
static inline bool
dft_digits(const struct dft_record *rec, struct dft_token t, uint64_t *v)
{
	const char *const end = rec->p + t.at + t.n;

	if (dft_few_digits(t)) {
		*v = dft_last_digits(end, t.n);
		return true;
	}
	if (t.at < 8 || t.n - 1 > 18)
		return dft_digits_slow(rec->p + t.at, t.n, v);
	*v = dft_last_digits(end, 8) + dft_last_digits(end - 8, t.n < 16 ? t.n - 8 : 8) * 100000000;
	if (t.n > 16)
		*v += dft_last_digits(end - 16, t.n - 16) * UINT64_C(10000000000000000);
	return true;
}

#endif
