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
		k->lost++;
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

/* Something must be said in place of those that were lost, with a rule that was broken. */
static void
say_lost(const struct deferred_findings *k, const struct findings *j, finding_sink *sink, void *ctx)
{
	char message[160];
	const struct rule *rule = j->ncounts > 0 ? j->counts[j->ncounts - 1].rule : NULL;

	for (size_t i = 0; i < j->ncounts; i++)
		if (j->counts[i].rule->level > rule->level)
			rule = j->counts[i].rule;
	if (rule == NULL)
		return;
	snprintf(
	    message, sizeof message,
	    "%" PRIu64
	    " findings, perhaps of this rule, are counted and not shown: there are too many in all streams",
	    k->lost);
	const struct finding f = { .rule = rule, .message = message };
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
