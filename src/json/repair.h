#ifndef JSON_REPAIR_H
#define JSON_REPAIR_H

#include "base/compiler.h"
#include "json/token.h"
#include "output/text.h"

/*
 * Repairs one object that a strict parser refuses: writes it as strict JSON, and lists the faults.  Only for
 * records that json_nested() refuses, so intact records cost nothing here.
 *
 * The end of a text is guessed from the bytes after its quotes.  A record that starts inside of the object
 * ends the object.  Cost: linear in the bytes up to the end of the object or the start of the next record.
 */

enum json_fault {
	JSON_FAULT_QUOTE,     /* in a text, or missing at its end */
	JSON_FAULT_ESCAPE,    /* an invalid escape */
	JSON_FAULT_CONTROL,   /* a control byte in a text */
	JSON_FAULT_UTF8,      /* a text that is not UTF-8 */
	JSON_FAULT_SURROGATE, /* half a pair, in an escape */
	JSON_FAULT_NOT_FINITE,
	JSON_FAULT_WORD,   /* a value without quotes */
	JSON_FAULT_NUMBER, /* 01 +1 .5 3. 0x1 3,5 */
	JSON_FAULT_MISSING_COMMA,
	JSON_FAULT_EXTRA_COMMA,
	JSON_FAULT_TRAILING_COMMA,
	JSON_FAULT_KEY,     /* a key without quotes, or with other quotes */
	JSON_FAULT_VALUE,   /* a key without a value */
	JSON_FAULT_BRACKET, /* a nested object or array without its bracket */
	JSON_FAULT_FOREIGN, /* bytes that are no part of the object */
	JSON_FAULT_INNER,   /* a whole record inside */
	JSON_FAULT_KINDS
};

/* Recognises the records of a format. */
struct json_records {
	/* Whether a record starts at the brace p.  It may read the bytes [from, e).  *more: the result
	 * depends on bytes after e. */
	bool (*starts)(void *ctx, const char *from, const char *p, const char *e, bool *more);
	bool (*is_key)(struct slice key); /* whether a record can have this key */
	void *ctx;                        /* argument of starts() */
};

#define JSON_REPAIR_DEPTH 96   /* nesting */
#define JSON_REPAIR_INNER 8    /* records inside the object */
#define JSON_REPAIR_PLACES 512 /* positions that are known; a later one is stated as the last of them */

struct json_range {
	const char *p, *end;
};

struct json_repair {
	/* Set by the caller. */
	const struct json_records *records;
	bool complete; /* the input ends at e */
	bool member;   /* p is the key of a member, which is read without the object around it */
	bool eager;    /* for a second attempt: a text without a closing quote ends before a known key */

	/* Results. */
	struct text text; /* the object as strict JSON; the caller frees it */
	struct {
		const char *at;
		uint8_t kind;
	} faults[JSON_FAULT_KINDS]; /* the first of each kind */
	uint32_t nfaults;
	struct json_range inner[JSON_REPAIR_INNER]; /* records inside the object; not in the text */
	uint32_t ninner;
	struct {
		const char *at;       /* position in the input */
		size_t to;            /* offset in the text */
	} places[JSON_REPAIR_PLACES]; /* starts of keys and values, ascending */
	uint32_t nplaces;
	bool closed;   /* the object has its closing bracket (or the member is complete); else the next record
	                * or the end of the input ends it */
	bool clean;    /* not closed, but it ends between two members */
	unsigned open; /* objects and arrays without a bracket at the end; 0: closed */
	bool differs;  /* with `eager` a text would end elsewhere */
	bool more;     /* bytes after e may change the result */

	/* State, and input of json_text_end(): the open objects (1) and arrays (0), the innermost lowest. */
	uint128 objects;
	unsigned depth;
	const char *from; /* bytes before it are not read */
};

/* Repairs the object or array at the bracket p, or the member at p.  Returns the end of its bytes.  If both
 * `closed` and `clean` are false, a part of a member was left out. */
const char *json_repair(struct json_repair *x, const char *p, const char *e);

/* Writes JSON, with flaws at most, without its spare escapes, see json_spare(). */
void json_repair_escapes(struct json_repair *x, const char *p, const char *e);

/* Returns the position in the input for `at`, a position in the text: the start of its key or value. */
const char *json_repair_origin(const struct json_repair *x, const char *at);

/* Returns the end, after its closing quote, of the value that begins with the quote p; NULL: none.  Needs
 * x->records, complete, objects, depth and from. */
const char *json_text_end(struct json_repair *x, const char *p, const char *e);

#endif
