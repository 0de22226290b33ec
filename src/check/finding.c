/*
 * Findings: counted and escaped when they are added, the first FINDINGS_SHOWN of each rule passed to the
 * sink; postponed, for streams that are read in parallel; and as records of files, for reports in order.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/findings.h"
#include "output/text_json.h"
#include "output/text_visible.h"

/* ---- the findings of one input ---- */

void findings_init(struct findings *j, const char *path, finding_sink *sink, void *ctx)
{
	*j = (struct findings){ .path = path, .sink = sink, .ctx = ctx };
}

void findings_free(struct findings *j)
{
	free(j->counts);
	*j = (struct findings){ .path = NULL };
}

/* Counts a finding; returns its ordinal among those of its rule, from 1. */
static uint64_t count_up(struct findings *j, const struct rule *rule)
{
	for (size_t i = 0; i < j->ncounts; i++)
		if (j->counts[i].rule == rule)
			return ++j->counts[i].count;
	if (j->ncounts == j->counts_cap) {
		const size_t cap = j->counts_cap == 0 ? 4 : j->counts_cap * 2;
		struct rule_count *p = realloc(j->counts, cap * sizeof *p);
		if (p == NULL) {
			j->failed = true;
			return 1; /* still shown, and counted by level */
		}
		j->counts = p;
		j->counts_cap = cap;
	}
	j->counts[j->ncounts++] = (struct rule_count){ rule, 1 };
	return 1;
}

/* Replaces what cannot be printed; on OOM, instead of escaping. */
static void blank_unprintable(char *s)
{
	for (; *s != '\0'; s++)
		if (*s < ' ' || *s > '~')
			*s = '?';
}

__attribute__((format(printf, 3, 0))) static void add_finding(struct findings *j, struct finding f,
                                                              const char *fmt, va_list ap)
{
	char message[1024];
	struct text visible = { .p = NULL };

	if (j->muted != NULL && j->muted(j->muted_ctx))
		return;
	if (j->left_out != NULL && !j->summing && j->left_out(j->left_out_ctx, f.offset)) {
		j->nleft_out++;
		return;
	}
	j->levels[f.rule->level]++;
	f.level = f.rule->level;
	if (count_up(j, f.rule) > FINDINGS_SHOWN || j->sink == NULL)
		return;
	vsnprintf(message, sizeof message, fmt, ap);
	/* names of files, and errors of the system about them, are not escaped yet */
	text_visible_message(&visible, slice_str(message));
	text_char(&visible, '\0');
	if (visible.failed)
		blank_unprintable(message);
	f.message = visible.failed ? message : visible.p;
	j->sink(j->ctx, j, &f);
	text_free(&visible);
}

void finding_add_v(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t record,
                   const char *fmt, va_list ap)
{
	if (j != NULL)
		add_finding(j, (struct finding){ .rule = rule, .offset = offset, .record = record }, fmt, ap);
}

void finding_add(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t record,
                 const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(j, rule, offset, record, fmt, ap);
	va_end(ap);
}

void finding_add_times(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t record,
                       uint64_t count, const char *fmt, ...)
{
	char detail[400];
	va_list ap;

	if (count == 0)
		return;
	va_start(ap, fmt);
	vsnprintf(detail, sizeof detail, fmt, ap);
	va_end(ap);
	if (j != NULL)
		j->summing = true;
	/* with a scope, some may be of events outside of it */
	finding_add(j, rule, offset, record, "%s; %" PRIu64 " in %s", detail, count,
	            j != NULL && j->left_out != NULL ? "the whole trace" : "all");
	if (j != NULL)
		j->summing = false;
}

void finding_add_line(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t line,
                      uint64_t column, uint64_t record, const char *fmt, ...)
{
	va_list ap;

	if (j == NULL)
		return;
	va_start(ap, fmt);
	add_finding(j,
	            (struct finding){
	                .rule = rule, .offset = offset, .line = line, .column = column, .record = record },
	            fmt, ap);
	va_end(ap);
}

uint64_t findings_count(const struct findings *j, const struct rule *rule)
{
	for (size_t i = 0; i < j->ncounts; i++)
		if (j->counts[i].rule == rule)
			return j->counts[i].count;
	return 0;
}

bool finding_is_shown(const struct findings *j, const struct rule *rule)
{
	return j != NULL && findings_count(j, rule) < FINDINGS_SHOWN;
}

const char *level_name(enum level level)
{
	static const char *const names[] = { "note", "warning", "error" };

	return names[level];
}

const char *quoted(struct quoted *q, struct slice s)
{
	struct text t = text_start(q->s, sizeof q->s); /* 60 bytes fit, whatever they are */

	text_char(&t, '"');
	text_visible(&t, s, 60);
	text_char(&t, '"');
	q->s[t.n] = '\0';
	return q->s;
}

/* ---- postponed findings ---- */

struct deferred_finding {
	struct deferred_finding *next;
	struct finding finding;
	char message[];
};

void findings_defer(void *ctx, const struct findings *j, const struct finding *f)
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

/* The worst one stands for all that were lost. */
static void report_lost(const struct deferred_findings *k, const struct findings *j, finding_sink *sink,
                        void *ctx)
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

void findings_report(struct deferred_findings *k, const struct findings *j, finding_sink *sink, void *ctx)
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
		report_lost(k, j, sink, ctx);
	k->lost = 0;
}

/* ---- records of files ---- */

static const char *copy_text(struct file_records *k, const char *s)
{
	return s != NULL ? arena_copy(&k->arena, slice_str(s)).p : NULL;
}

void file_records_finding(struct file_records *k, const struct finding *f)
{
	struct finding copy = *f;

	copy.message = copy_text(k, f->message);
	copy.check = k->check;
	if (copy.message == NULL ||
	    !array_room(&k->present, k->npresent, &k->present_cap, sizeof *k->present))
		k->failed = true;
	else
		k->present[k->npresent++] = copy;
}

void file_records_check(struct file_records *k, const char *name, const struct rule *const *rules)
{
	struct file_check c = { .name = copy_text(k, name) };

	for (int i = 0; i < FILE_CHECK_RULES; i++)
		c.rules[i] = rules[i];
	if (c.name == NULL || !array_room(&k->checks, k->nchecks, &k->checks_cap, sizeof *k->checks)) {
		k->failed = true;
		return;
	}
	k->checks[k->nchecks++] = c;
	k->check = k->nchecks;
}

void file_records_checked(struct file_records *k, const uint64_t *counts)
{
	for (int i = 0; i < FILE_CHECK_RULES && k->check > 0; i++)
		k->checks[k->check - 1].counts[i] = counts[i];
	k->check = 0;
}

/* A copy in the arena; n == 0: a valid pointer. */
static void *copy_array(struct file_records *k, const void *from, size_t n, size_t size)
{
	void *const p = arena_zalloc(&k->arena, n, size);

	if (p != NULL && n > 0)
		memcpy(p, from, n * size);
	return p;
}

void file_records_close(struct file_records *k, const struct file_record *what, const struct findings *j)
{
	struct file_record *const r = copy_array(k, what, 1, sizeof *r);

	if (r != NULL) {
		r->next = NULL;
		r->path = copy_text(k, what->path);
		r->format = copy_text(k, what->format);
		r->dialect = copy_text(k, what->dialect);
		r->trace = copy_text(k, what->trace);
		r->findings = copy_array(k, k->present, k->npresent, sizeof *k->present);
		r->nfindings = k->npresent;
		r->counts = copy_array(k, j->counts, j->ncounts, sizeof *j->counts);
		r->ncounts = j->ncounts;
		r->checks = copy_array(k, k->checks, k->nchecks, sizeof *k->checks);
		r->nchecks = k->nchecks;
	}
	k->npresent = k->nchecks = 0;
	k->failed |= k->arena.failed || j->failed;
	if (k->failed)
		return;
	if (k->last != NULL)
		k->last->next = r;
	else
		k->first = r;
	k->last = r;
}

/* The concatenation of two arrays. */
static void *join_arrays(struct file_records *k, const void *a, size_t na, const void *b, size_t nb,
                         size_t size)
{
	char *const p = arena_zalloc(&k->arena, na + nb, size);

	if (p != NULL && na > 0)
		memcpy(p, a, na * size);
	if (p != NULL && nb > 0)
		memcpy(p + na * size, b, nb * size);
	return p;
}

void file_records_amend(struct file_records *k, const struct findings *j)
{
	struct file_record *const r = k->last;

	if (r != NULL && !k->failed) {
		r->findings =
		    join_arrays(k, r->findings, r->nfindings, k->present, k->npresent, sizeof *k->present);
		r->nfindings += k->npresent;
		r->counts = join_arrays(k, r->counts, r->ncounts, j->counts, j->ncounts, sizeof *j->counts);
		r->ncounts += j->ncounts;
		r->checks = join_arrays(k, r->checks, r->nchecks, k->checks, k->nchecks, sizeof *k->checks);
		r->nchecks += k->nchecks;
	}
	k->npresent = k->nchecks = 0;
	k->failed |= k->arena.failed || j->failed;
}

void file_records_clear(struct file_records *k)
{
	k->first = k->last = NULL;
	arena_reset(&k->arena);
}

void file_records_free(struct file_records *k)
{
	arena_free(&k->arena);
	free(k->present);
	free(k->checks);
	*k = (struct file_records){ .first = NULL };
}
