#ifndef CHECK_FINDING_DEFERRED_H
#define CHECK_FINDING_DEFERRED_H

#include "check/findings.h"

/*
 * Findings that are said later: of streams that are read side by side, and
 * reported one after the other.
 */
struct deferred_finding;

struct deferred_findings {
	struct deferred_finding *first, *last;
	uint64_t lost;        /* not kept, for lack of room or memory: counted, and ... */
	struct finding worst; /* ... the first of the worst level stands for all */
	char message[256];    /* its message; the pointer in it is not to be used */
	size_t *room;  /* bytes that all findings together may still take; shared */
};

#define DEFERRED_ROOM ((size_t)12 << 20)

/* A finding_sink; ctx is the struct kept_findings. */
void findings_defer(void *ctx, const struct findings *j, const struct finding *f);

/* Says them to the sink, and forgets them. */
void findings_report(struct deferred_findings *k, const struct findings *j, finding_sink *sink, void *ctx);

#endif
