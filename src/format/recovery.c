/* The bookkeeping of a recovery: adjoining kept bytes are written at once; adjoining dropped bytes of one
 * cause are listed as one change. */
#include "format/recover.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/match.h"

/* ---- output ---- */

void recover_flush(struct recovery *rc)
{
	if (rc->run_n > 0 && !rc->failed)
		rc->failed = !rc->put(rc->ctx, rc->run, rc->run_n);
	rc->run_n = 0;
}

static uint64_t bytes_up_to(const struct recovery *rc, const char *to)
{
	return input_offset(rc->r->in, to) - rc->at;
}

/* ---- the list of changes ---- */

static const struct rule *rule_of(const struct recovery *rc, const char *id)
{
	const struct rule *r = rc->r->format->rules;

	while (strcmp(r->id, id) != 0)
		r++;
	return r;
}

static void list_gap(struct recovery *rc)
{
	struct recover_gap *const gap = &rc->gap;

	if (gap->length > 0 && gap->rule == NULL) { /* nothing more exact was found */
		gap->rule = rule_of(rc, rc->ops->structure[0]);
		snprintf(gap->why, sizeof gap->why, "%s", gap->rule->text);
	}
	const struct recover_change c = {
		.offset = gap->offset,
		.length = gap->length,
		.rule = gap->rule,
		.why = gap->why,
	};

	if (gap->length > 0) {
		rc->dropped += gap->length;
		rc->gaps++;
		rc->list(rc->ctx, &c);
	}
	*gap = (struct recover_gap){ .length = 0 };
}

/* The number of findings shown for a rule is limited, but those about dropped bytes are always shown. */
static void count_anew(struct findings *j, const struct rule *rule)
{
	for (size_t i = 0; i < j->ncounts; i++)
		if (j->counts[i].rule == rule)
			j->counts[i].count = 0;
}

void recover_finding(struct recovery *rc, const struct finding *f)
{
	struct recover_gap *const gap = &rc->gap;
	const bool structure = slice_is_one_of(slice_str(f->rule->id), rc->ops->structure);

	if (structure)
		count_anew(rc->r->findings, f->rule);
	if (f->rule->level != LEVEL_ERROR)
		return;
	if (gap->rule != NULL && gap->length > 0 && structure)
		list_gap(rc); /* the next bytes are dropped for another cause */
	if (gap->rule != NULL && (gap->structure || !structure))
		return;
	gap->rule = f->rule;
	gap->structure = structure;
	gap->found = f->offset;
	snprintf(gap->why, sizeof gap->why, "%s", f->message);
}

/* ---- for formats ---- */

void recover_keep(struct recovery *rc, const char *to)
{
	const uint64_t n = bytes_up_to(rc, to);

	if (n == 0)
		return;
	const char *const from = to - n;
	if (rc->gap.length > 0 || rc->gap.found < rc->at + n) /* else it is about later bytes */
		list_gap(rc);
	if (rc->run_n == 0 || rc->run + rc->run_n != from) {
		recover_flush(rc);
		rc->run = from;
	}
	rc->run_n += (size_t)n;
	rc->at += n;
	rc->kept += n;
	rc->last = to[-1];
}

void recover_drop(struct recovery *rc, const char *to)
{
	const uint64_t n = bytes_up_to(rc, to);

	if (rc->gap.length == 0)
		rc->gap.offset = rc->at;
	rc->gap.length += n;
	rc->at += n;
}

void recover_drop_for(struct recovery *rc, const char *to, const struct rule *rule, const char *why)
{
	struct recover_gap *const gap = &rc->gap;

	if (gap->rule == NULL) {
		gap->rule = rule;
		snprintf(gap->why, sizeof gap->why, "%s", why);
	}
	recover_drop(rc, to);
}

/* Replaces `length` bytes by n others. */
static void replace(struct recovery *rc, uint64_t length, const char *p, size_t n, const struct rule *rule,
                    const char *why)
{
	const struct recover_change c = {
		.offset = rc->at,
		.length = length,
		.inserted = (uint32_t)n,
		.repaired = true,
		.rule = rule,
		.why = why,
	};

	list_gap(rc);
	recover_flush(rc);
	if (n > 0 && !rc->failed)
		rc->failed = !rc->put(rc->ctx, p, n);
	if (n > 0)
		rc->last = p[n - 1];
	rc->at += length;
	rc->repairs++;
	rc->list(rc->ctx, &c);
}

void recover_replace(struct recovery *rc, const char *to, const char *p, size_t n, const struct rule *rule,
                     const char *fmt, ...)
{
	char why[RECOVER_WHY];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	replace(rc, bytes_up_to(rc, to), p, n, rule, why);
}

void recover_replace_copy(struct recovery *rc, const char *p, size_t n, const struct rule *rule,
                          const char *why)
{
	replace(rc, n, p, n, rule, why);
}

void recover_keep_copy(struct recovery *rc, const char *p, size_t n)
{
	if (n == 0)
		return;
	list_gap(rc);
	recover_flush(rc);
	rc->failed = rc->failed || !rc->put(rc->ctx, p, n);
	rc->at += n;
	rc->kept += n;
	rc->last = p[n - 1];
}

void recover_end(struct recovery *rc)
{
	recover_flush(rc);
	list_gap(rc);
}
