#ifndef CHECK_FINDING_H
#define CHECK_FINDING_H

#include <stdarg.h>

#include "base/slice.h"

/* A finding: what is wrong, or worth knowing, at one place of one input.  Whoever finds something reports it
 * here, once; callers above only pass the result on. */

enum level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_ERROR, LEVEL_COUNT };

/* What a finding is about.  An id never changes its meaning. */
struct rule {
	const char *id; /* the format, a slash, then words: "tick/cut-record" */
	enum level level;
	const char *text;    /* one line: what is wrong */
	const char *spec;    /* the sentence of the specification that it enforces, or "" */
	const char *explain; /* a paragraph: what it means, what to do */
};

/* A row of a table of rules: `#define RULE RULE_ROW`, then include the format's rules.def. */
#define RULE_ROW(name, id, level, text, spec, explain) { id, LEVEL_##level, text, spec, explain },

struct findings; /* of one input; see check/findings.h */

/* Reports a finding.  j may be NULL (a quiet pass): nothing happens.  offset: in the (unpacked) trace.
 * record: its ordinal, the first is 1; 0: before any or none.  The message says the values that disagree;
 * trace text in it must have gone through quoted(). */
void finding_add(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t record,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void finding_add_v(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t record,
                   const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));

/* For text formats.  column: in bytes, the first of the line is 1; 0: the line as a whole. */
void finding_add_line(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t line,
                      uint64_t column, uint64_t record, const char *fmt, ...)
    __attribute__((format(printf, 7, 8)));

/* Something that was met `count` times and is reported once, with the number; 0: nothing happens. */
void finding_add_times(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t record,
                       uint64_t count, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* For that: the number, and place and values of the first time.  Zero-initialise to start. */
struct finding_tally {
	uint64_t count;
	uint64_t offset, line, column, record;
	uint64_t now, before; /* what disagrees; 0 where there is less to say */
};

static inline void finding_tally_add(struct finding_tally *t, uint64_t offset, uint64_t record, uint64_t now,
                                     uint64_t before)
{
	if (t->count++ > 0)
		return;
	t->offset = offset;
	t->record = record;
	t->now = now;
	t->before = before;
}

/* Whether the next finding of a rule will be shown; if not, its message need not be made ("" will do). */
bool finding_is_shown(const struct findings *j, const struct rule *rule);

/* Trace text made safe for a message: in quotes, escaped, at most some 60 bytes of it.  Returns q->s. */
struct quoted {
	char s[300];
};
const char *quoted(struct quoted *q, struct slice s);

#endif
