#ifndef CHECK_FINDING_KEPT_H
#define CHECK_FINDING_KEPT_H

#include "check/finding.h"

/*
 * Findings that are said later: of streams that are read side by side, and
 * reported one after the other.
 */
struct kept_finding;

struct kept_findings {
	struct kept_finding *first, *last;
	uint64_t lost; /* not kept: they are only counted */
	size_t *room;  /* bytes that all findings together may still take; shared */
};

#define KEPT_ROOM ((size_t)12 << 20)

/* A finding_sink; ctx is the struct kept_findings. */
void findings_keep(void *ctx, const struct judge *j, const struct finding *f);

/* Says them to the sink, and forgets them. */
void findings_say(struct kept_findings *k, const struct judge *j, finding_sink *sink, void *ctx);

#endif
