#ifndef OVNI_CODE_H
#define OVNI_CODE_H

#include "ovni/raw.h"

/* Event codes (MCV): the class of each, and what the vocabulary expects of its events. */

/* An event code that was met. */
struct ovni_code {
	uint32_t bytes; /* the three bytes << 8 */
	bool jumbo;     /* the vocabulary expects a jumbo event */
	bool old;
	int8_t old_size; /* bytes of the payload that older releases wrote; -1: none */
	struct class *cls;
	const struct plan *plan; /* NULL: the vocabulary does not know it */
};

#define OVNI_RECENT_BITS 8
#define OVNI_FAST_BITS 11

struct ovni_codes {
	struct ovni_code *list;
	uint32_t n, cap;
	struct table64 index;                   /* bytes -> list */
	uint16_t recent[1 << OVNI_RECENT_BITS]; /* a cache of it, for streams of many jumbo events */
	uint64_t fast[1 << OVNI_FAST_BITS];     /* see ovni_is_fast() */
	struct class *fast_classes[1 << OVNI_FAST_BITS];
	struct ovni_code others; /* stands for those beyond the bound */
};

void ovni_codes_free(struct ovni_codes *c);

/* What is known of the code in the first four bytes of an event, the latest record of r; NULL: no memory.
 * Valid until the next call. */
struct ovni_code *ovni_code_find(struct ovni_codes *c, struct reader *r, uint32_t word, uint64_t offset);

/* The plan for events of a class, by the class's own name; NULL: no vocabulary speaks of it. */
const struct plan *ovni_class_plan(const struct class *cls);

/* The name of a model that comes with ovni, or NULL. */
const char *ovni_model_name(unsigned char model);

/*
 * The fast path is for codes, together with flags, that were checked and whose
 * events need no further check, whatever their clock and payload hold: most
 * events of most streams.  Two places for each; a zeroed one matches nothing.
 */
static inline uint32_t
ovni_fast_place(uint32_t word)
{
	return (word * 0x9e3779b1U) >> (32 - OVNI_FAST_BITS);
}

static inline bool
ovni_is_fast(const struct ovni_codes *c, uint32_t word)
{
	const uint32_t place = ovni_fast_place(word);
	const uint64_t want = (uint64_t)1 << 32 | word;

	return c->fast[place] == want || c->fast[place ^ 1] == want;
}

/* The class of an event on the fast path; NULL: it is not on it. */
static inline struct class *
ovni_fast_class(const struct ovni_codes *c, uint32_t word)
{
	const uint64_t want = (uint64_t)1 << 32 | word;
	uint32_t place = ovni_fast_place(word);

	if (c->fast[place] != want && c->fast[place ^= 1] != want)
		return NULL;
	return c->fast_classes[place];
}

/* Events of unordered regions and ends of threads change the state of the stream: they are never fast. */
static inline void
ovni_remember_fast(struct ovni_codes *c, uint32_t word, struct class *cls)
{
	const uint32_t model_category = word >> 8 & 0xffff;
	uint32_t place = ovni_fast_place(word);

	if ((word & (OVNI_FLAG_JUMBO | OVNI_FLAGS_RESERVED)) != 0 || model_category == ('O' | 'U' << 8) ||
	    word >> 8 == ('O' | 'H' << 8 | 'e' << 16))
		return;
	place ^= c->fast[place] != 0;
	c->fast[place] = (uint64_t)1 << 32 | word;
	c->fast_classes[place] = cls;
}

#endif
