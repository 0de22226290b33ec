/*
 * Findings of one input: counted and escaped when they are added.  The first FINDINGS_SHOWN of each rule are
 * passed to the log of the trace, or to a listener.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/findings.h"
#include "check/log.h"
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

void findings_pass(struct findings *j, const struct finding *f)
{
	if (j->list != NULL)
		finding_list_add(j->list, f);
	else if (j->sink != NULL)
		j->sink(j->ctx, j, f);
}

__attribute__((format(printf, 3, 0))) static void add_finding(struct findings *j, struct finding f,
                                                              const char *fmt, va_list ap)
{
	char message[1024];
	struct text visible = { .p = NULL };

	gate_pass(j->gate);
	if (j->muted != NULL && j->muted(j->muted_ctx))
		return;
	if (j->left_out != NULL && !j->summing && j->left_out(j->left_out_ctx, f.offset)) {
		j->nleft_out++;
		return;
	}
	j->levels[f.rule->level]++;
	f.level = f.rule->level;
	if (count_up(j, f.rule) > FINDINGS_SHOWN || (j->list == NULL && j->sink == NULL))
		return;
	vsnprintf(message, sizeof message, fmt, ap);
	/* names of files, and errors of the system about them, are not escaped yet */
	text_visible_message(&visible, slice_str(message));
	text_char(&visible, '\0');
	if (visible.failed)
		blank_unprintable(message);
	f.message = visible.failed ? message : visible.p;
	findings_pass(j, &f);
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
	static const char *const names[] = { "note", "warning", "limit", "error" };

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
