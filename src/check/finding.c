/*
 * Findings of one input, counted and escaped when added.  The first FINDINGS_SHOWN of each rule are passed to
 * the log of the trace, or to a listener.  All lists of findings of a trace share an arena, so appending the
 * list of a stream to the log copies nothing.  A file is a range of the log.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
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
	if (!array_reserve(&j->counts, j->ncounts, &j->counts_cap, sizeof *j->counts)) {
		j->failed = true;
		return 1; /* still shown, and counted by level */
	}
	j->counts[j->ncounts++] = (struct rule_count){ rule, 1 };
	return 1;
}

/* Replaces unprintable bytes by '?', when there is no memory to escape them. */
static void blank_unprintable(char *s)
{
	for (; *s != '\0'; s++)
		if (*s < ' ' || *s > '~')
			*s = '?';
}

/* Passes a counted finding to the list, or else to the listener. */
static void pass_on(struct findings *j, const struct finding *f)
{
	if (j->list != NULL)
		finding_list_add(j->list, f);
	else if (j->sink != NULL)
		j->sink(j->ctx, j, f);
}

PRINTF(3, 0) static void add_finding(struct findings *j, struct finding f, const char *fmt, va_list ap)
{
	char message[1024];
	struct text visible = { .p = NULL };

	gate_pass(j->gate);
	if (j->muted != NULL && j->muted(j->muted_ctx))
		return;
	if (j->left_out != NULL && !j->summing && !input_rule_is_failure(f.rule) &&
	    j->left_out(j->left_out_ctx, f.offset)) {
		j->nleft_out++;
		return;
	}
	j->levels[f.rule->level]++;
	f.level = f.rule->level;
	if (count_up(j, f.rule) > FINDINGS_SHOWN || (j->list == NULL && j->sink == NULL))
		return;
	vsnprintf(message, sizeof message, fmt, ap);
	/* file names, and errors of the system about files, are not escaped yet */
	text_visible_message(&visible, slice_str(message));
	text_char(&visible, '\0');
	if (visible.failed)
		blank_unprintable(message);
	f.message = visible.failed ? message : visible.p;
	pass_on(j, &f);
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

void finding_add_tally(struct findings *j, const struct rule *rule, const struct finding_tally *t,
                       const char *fmt, ...)
{
	char detail[400];
	va_list ap;

	if (j == NULL || t->count == 0)
		return;
	struct finding_place at = t->at;
	at.sums = true;
	va_start(ap, fmt);
	vsnprintf(detail, sizeof detail, fmt, ap);
	va_end(ap);
	/* with a scope, some of the sum may be outside of it */
	finding_add_line(j, rule, at, "%s; %" PRIu64 " in %s", detail, t->count,
	                 j->left_out != NULL ? "the whole trace" : "all");
}

void finding_add_line(struct findings *j, const struct rule *rule, struct finding_place at, const char *fmt,
                      ...)
{
	va_list ap;

	if (j == NULL)
		return;
	va_start(ap, fmt);
	j->summing = at.sums;
	add_finding(j,
	            (struct finding){ .rule = rule,
	                              .offset = at.offset,
	                              .line = at.line,
	                              .column = at.column,
	                              .record = at.record },
	            fmt, ap);
	j->summing = false;
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

const char *const level_names[] = { "note", "warning", "limit", "error", NULL };

const char *quoted(struct quoted *q, struct slice s)
{
	struct text t = text_start(q->s, sizeof q->s); /* any 60 bytes fit */

	text_char(&t, '"');
	text_visible(&t, s, 60);
	text_char(&t, '"');
	q->s[t.n] = '\0';
	return q->s;
}

/* ---- a list ---- */

static void note_lost(struct finding_list *l, const struct finding *f)
{
	l->failed |= l->space == NULL;
	if (l->lost++ > 0 && f->rule->level <= l->worst.rule->level)
		return;
	l->worst = *f;
	snprintf(l->message, sizeof l->message, "%s", f->message);
}

static void append(struct finding_list *l, const struct finding *first, struct finding *last, size_t n,
                   size_t bytes)
{
	if (l->last != NULL)
		l->last->next = first;
	if (l->first == NULL)
		l->first = first;
	l->last = last;
	l->n += n;
	l->bytes += bytes;
}

void finding_list_add(struct finding_list *l, const struct finding *f)
{
	const size_t n = strlen(f->message) + 1, size = sizeof *f + n;
	struct finding *const one =
	    l->lost == 0 && (l->space == NULL || size <= *l->space) ? arena_alloc(l->arena, size) : NULL;

	if (one == NULL) {
		note_lost(l, f);
		return;
	}
	*one = *f;
	one->message = memcpy(one + 1, f->message, n);
	one->check = l->check;
	one->next = NULL;
	append(l, one, one, 1, size);
	if (l->space != NULL)
		*l->space -= size;
}

/* Passes on the worst lost finding, with the number of lost findings. */
static void pass_lost(struct findings *j, const struct finding_list *from)
{
	char message[sizeof from->message + 160];
	struct finding f = from->worst;

	if (from->lost > 1)
		snprintf(message, sizeof message,
		         "%s; %" PRIu64 " findings, this one and others, are counted and not shown: there "
		         "are too many in all streams",
		         from->message, from->lost);
	else
		snprintf(message, sizeof message, "%s", from->message);
	f.message = message;
	pass_on(j, &f);
}

void findings_pass_all(struct findings *j, struct finding_list *from)
{
	if (j->list != NULL && from->first != NULL)
		append(j->list, from->first, from->last, from->n, from->bytes);
	else
		for (const struct finding *f = from->first; f != NULL; f = f->next)
			pass_on(j, f);
	if (from->lost > 0)
		pass_lost(j, from);
	*from->space += from->bytes;
	*from = (struct finding_list){ .arena = from->arena, .space = from->space };
}

/* ---- the log ---- */

void finding_log_init(struct finding_log *k)
{
	*k = (struct finding_log){ .first = NULL };
	k->open.arena = &k->arenas[0];
}

bool finding_log_failed(const struct finding_log *k)
{
	return k->failed || k->open.failed || k->arenas[0].failed || k->arenas[1].failed;
}

static const char *copy_text(struct finding_log *k, const char *s)
{
	return s != NULL ? arena_copy(k->open.arena, slice_str(s)).p : NULL;
}

void finding_log_check(struct finding_log *k, const char *name, const struct rule *const *rules)
{
	struct file_check c = { .name = copy_text(k, name) };

	for (int i = 0; i < FILE_CHECK_RULES; i++)
		c.rules[i] = rules[i];
	if (note_failure(&k->failed, c.name == NULL || !array_reserve(&k->checks, k->nchecks, &k->checks_cap,
	                                                              sizeof *k->checks)))
		return;
	k->checks[k->nchecks++] = c;
	k->open.check = k->nchecks;
}

void finding_log_checked(struct finding_log *k, const uint64_t *counts)
{
	for (int i = 0; i < FILE_CHECK_RULES && k->open.check > 0; i++)
		k->checks[k->open.check - 1].counts[i] = counts[i];
	k->open.check = 0;
}

/* Returns a new array in the arena, the elements of a and then of b, or NULL on OOM. */
static void *join_arrays(struct finding_log *k, const void *a, size_t na, const void *b, size_t nb,
                         size_t size)
{
	char *const p = arena_zalloc(k->open.arena, na + nb, size);

	if (p != NULL && na > 0)
		memcpy(p, a, na * size);
	if (p != NULL && nb > 0)
		memcpy(p + na * size, b, nb * size);
	return p;
}

/* Assigns the open findings and checks to a file. */
static void give_open(struct finding_log *k, struct file_record *r, const struct findings *j)
{
	struct rule_count *const counts =
	    join_arrays(k, r->counts, r->ncounts, j->counts, j->ncounts, sizeof *j->counts);
	struct file_check *const checks =
	    join_arrays(k, r->checks, r->nchecks, k->checks, k->nchecks, sizeof *k->checks);

	k->failed |= k->open.arena->failed || k->open.failed || j->failed;
	if (counts != NULL && checks != NULL) {
		r->counts = counts;
		r->ncounts += j->ncounts;
		r->checks = checks;
		r->nchecks += k->nchecks;
	}
	if (r->nfindings == 0)
		r->findings = k->open.first;
	r->nfindings += k->open.n;
	k->bytes += k->open.bytes + j->ncounts * sizeof *j->counts;
	k->open.first = NULL; /* `last` is unchanged: the next findings are linked to it */
	k->open.n = k->open.bytes = 0;
	k->nchecks = 0;
}

void finding_log_close(struct finding_log *k, const struct file_record *what, const struct findings *j)
{
	struct file_record r = *what, *const copy = arena_alloc(k->open.arena, sizeof r);

	r.path = copy_text(k, what->path);
	r.format = copy_text(k, what->format);
	r.dialect = copy_text(k, what->dialect);
	r.trace = copy_text(k, what->trace);
	give_open(k, &r, j);
	if (k->failed)
		return;
	*copy = r;
	k->bytes += sizeof r;
	if (k->last != NULL)
		k->last->next = copy;
	else
		k->first = copy;
	k->last = copy;
}

void finding_log_amend(struct finding_log *k, const struct findings *j)
{
	if (k->last != NULL && !k->failed)
		give_open(k, k->last, j);
}

/* The current arena contains the open findings.  If there are any, it is not reset: later findings are stored
 * in the other arena, and the next call resets the current one. */
void finding_log_clear(struct finding_log *k)
{
	struct arena *const other = &k->arenas[k->open.arena == &k->arenas[0]];

	if (k->first == NULL && k->open.first != NULL)
		return; /* open findings may be in both arenas */
	k->first = k->last = NULL;
	k->bytes = 0;
	arena_reset(other);
	if (k->open.first != NULL) {
		k->open.arena = other;
		return;
	}
	k->open.last = NULL;
	arena_reset(k->open.arena);
}

void finding_log_free(struct finding_log *k)
{
	arena_free(&k->arenas[0]);
	arena_free(&k->arenas[1]);
	free(k->checks);
	finding_log_init(k);
}
