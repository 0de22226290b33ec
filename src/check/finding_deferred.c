#include "check/finding_deferred.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct deferred_finding {
	struct deferred_finding *next;
	struct finding finding;
	char message[];
};

void
findings_defer(void *ctx, const struct findings *j, const struct finding *f)
{
	struct deferred_findings *const k = ctx;
	const size_t n = strlen(f->message) + 1, size = sizeof(struct deferred_finding) + n;
	struct deferred_finding *const one = k->lost == 0 && size <= *k->room ? malloc(size) : NULL;

	(void)j;
	if (one == NULL) {
		if (k->lost++ == 0 || f->rule->level > k->worst.rule->level) {
			k->worst = *f;
			snprintf(k->message, sizeof k->message, "%s", f->message);
		}
		return;
	}
	*k->room -= size;
	one->next = NULL;
	one->finding = *f;
	one->finding.message = memcpy(one->message, f->message, n);
	if (k->last != NULL)
		k->last->next = one;
	else
		k->first = one;
	k->last = one;
}

/* The worst of them stands for all that were lost. */
static void
say_lost(const struct deferred_findings *k, const struct findings *j, finding_sink *sink, void *ctx)
{
	char message[sizeof k->message + 160];
	struct finding f = k->worst;

	if (k->lost > 1)
		snprintf(message, sizeof message,
		         "%s; %" PRIu64
		         " findings, this one and others, are counted and not shown: there are too many in "
		         "all streams",
		         k->message, k->lost);
	else
		snprintf(message, sizeof message, "%s", k->message);
	f.message = message;
	sink(ctx, j, &f);
}

void
findings_report(struct deferred_findings *k, const struct findings *j, finding_sink *sink, void *ctx)
{
	while (k->first != NULL) {
		struct deferred_finding *const one = k->first;
		if (sink != NULL)
			sink(ctx, j, &one->finding);
		*k->room += sizeof *one + strlen(one->message) + 1;
		k->first = one->next;
		free(one);
	}
	k->last = NULL;
	if (k->lost > 0 && sink != NULL)
		say_lost(k, j, sink, ctx);
	k->lost = 0;
}
