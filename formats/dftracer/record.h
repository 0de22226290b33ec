#ifndef DFTRACER_RECORD_H
#define DFTRACER_RECORD_H

#include "json/json_number.h"
#include "json/json_token.h"

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

static inline bool
dft_role_is_hash(enum dft_role role)
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

static inline enum json_kind
dft_top_kind(const struct dft_record *rec, enum dft_top which)
{
	return (enum json_kind)(rec->shape >> 4 * which & 15);
}

/* Shapes of a metadata event and of a complete event as of 2024. */
#define DFT_KIND(which, kind) ((uint64_t)(kind) << 4 * (which))
#define DFT_USUAL_METADATA                                                                                   \
	(DFT_KIND(DFT_ID, JSON_UINT) | DFT_KIND(DFT_NAME, JSON_STRING) | DFT_KIND(DFT_CAT, JSON_STRING) |    \
	 DFT_KIND(DFT_PID, JSON_UINT) | DFT_KIND(DFT_TID, JSON_UINT) | DFT_KIND(DFT_PH, JSON_STRING) |       \
	 DFT_KIND(DFT_ARGS, JSON_OBJECT))
#define DFT_USUAL_COMPLETE                                                                                   \
	(DFT_USUAL_METADATA | DFT_KIND(DFT_TS, JSON_UINT) | DFT_KIND(DFT_DUR, JSON_UINT))

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
dft_arg_of(const struct dft_record *rec, enum dft_role role)
{
	return rec->special[role] != 0 ? &rec->args[rec->special[role] - 1] : NULL;
}

/* The number that a stretch of digits gives; false: more than 64 bits. */
static inline bool
dft_digits(const struct dft_record *rec, struct dft_token t, uint64_t *v)
{
	return json_digits(rec->p, t.at, t.n, v);
}

#endif
