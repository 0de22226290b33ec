#ifndef DFTRACER_HASH_H
#define DFTRACER_HASH_H

#include "base/table.h"
#include "dftracer/record.h"
#include "dftracer/tally.h"
#include "dftracer/wire.h"

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
static inline enum dft_hash_kind
dft_hash_kind_of(enum dft_role role)
{
	if (role == DFT_ROLE_HHASH)
		return DFT_HASH_HOST;
	return role == DFT_ROLE_CMD_HASH || role == DFT_ROLE_EXEC_HASH ? DFT_HASH_STRING : DFT_HASH_FILE;
}

/* What to look for among the recent ones; false: it is not of this kind.  16 bytes can be read from the start
 * of the hash. */
static inline bool
dft_recent_key(const struct dft_record *rec, const struct dft_arg *a, uint64_t pid,
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
static inline struct dft_recent_hash *
dft_recent(struct dft_names *n, const struct dft_recent_hash *key)
{
	const uint64_t mix =
	    (key->high ^ key->low * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0x94d049bb133111eb);

	return &n->recent[(mix >> 32) % DFT_RECENT_HASHES];
}

static inline bool
dft_recent_is(const struct dft_recent_hash *r, const struct dft_recent_hash *key)
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

/* A hash that is used: its name, defined or not; a use before the definition is remembered.  NULL: none, or
 * too many. */
const struct dft_name *dft_name_use(struct dft_state *st, const struct dft_record *rec,
                                    enum dft_hash_kind kind, struct dft_hash h, uint64_t pid);

/* At the end: reports hashes that were used and never defined. */
void dft_names_finish(struct dft_state *st);

#endif
