#ifndef HEPH_NAMES_H
#define HEPH_NAMES_H

#include "format/format.h"

struct heph_packet;
struct heph_state;

#define HEPH_SIGNED_NAMES 32U /* attribute names of an event that are compared one by one */

/* The names of one event, to find those that come twice. */
struct heph_names {
	uint64_t seen; /* a bit for each remainder of a signature */
	uint32_t n;    /* may be more than are remembered */
	bool clash;    /* perhaps a name comes twice: look again with care */
	uint32_t signatures[HEPH_SIGNED_NAMES];
	struct slice names[HEPH_SIGNED_NAMES];
};

static inline void
heph_names_begin(struct heph_names *names)
{
	names->seen = 0;
	names->n = 0;
	names->clash = false;
}

/* Equal for equal names: made of the first bytes, the last ones and the length. */
static inline uint32_t
heph_name_signature(struct slice name)
{
	uint32_t first = 0, last = 0;

	if (name.n >= 4) {
		memcpy(&first, name.p, 4);
		memcpy(&last, name.p + name.n - 4, 4);
	} else {
		for (uint32_t i = 0; i < name.n; i++)
			first = first << 8 | (unsigned char)name.p[i];
	}
	return (first + name.n) * UINT32_C(0x9E3779B1) ^ last * UINT32_C(0x85EBCA77);
}

/* Compares a name of which a signature like it was seen with those that are remembered. */
void heph_names_compare(struct heph_names *names, struct slice name, uint32_t signature);

static inline void
heph_names_add(struct heph_names *names, struct slice name)
{
	const uint32_t signature = heph_name_signature(name);
	const uint64_t bit = (uint64_t)1 << (signature >> 26);

	if ((names->seen & bit) != 0)
		heph_names_compare(names, name, signature);
	names->seen |= bit;
	if (names->n < HEPH_SIGNED_NAMES) {
		names->signatures[names->n] = signature;
		names->names[names->n++] = name;
	} else {
		names->clash = true;
	}
}

/* Looks with care at the names of the n attributes at p, which are complete; gives fields that are in the
 * batch (b may be NULL) different names, with `all` also from those that each event has.  No memory: the
 * state remembers. */
void heph_names_settle(struct heph_state *st, const struct heph_packet *k, const char *p, uint32_t n,
                       struct batch *b, bool all);

#endif
