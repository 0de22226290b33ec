#ifndef HEPH_SEARCH_H
#define HEPH_SEARCH_H

#include "heph/finding.h"

/* A place from which on no packet was found yet. */
struct heph_gap {
	bool open;
	enum heph_rule rule;
	uint64_t offset, record; /* of the finding */
	uint64_t from;           /* the first byte that is skipped */
	char detail[200];
};

/* Opens a gap: the next packet is searched from `from` on, and the finding about `place` is reported when it,
 * or the end, is found.  What is skipped starts with the packet, or with its fault. */
void heph_search_begin(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k,
                       const char *place, const char *from, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* Searches some bytes.  false: no packet follows; else call again, or the gap is closed. */
bool heph_search(struct heph_state *st);

#endif
