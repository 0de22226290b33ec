#ifndef CHECK_FINDING_H
#define CHECK_FINDING_H

#include <stdarg.h>

#include "base/compiler.h"
#include "base/slice.h"

/* Reporting findings.  A finding is a mistake or a notable fact at one offset of one input.  The function
 * that detects it reports it once; the callers of this function only return the result. */

enum level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_LIMIT, LEVEL_ERROR, LEVEL_COUNT }; /* LIMIT: of tracetool */

/* A kind of finding.  An id never changes its meaning. */
struct rule {
	const char *id; /* the format, a slash, and a name: "tick/cut-record" */
	enum level level;
	const char *text;    /* one line: the mistake */
	const char *spec;    /* the enforced sentence of the specification, or "" */
	const char *explain; /* a paragraph: the meaning, and advice */
};

/* A row of a table of rules.  Usage: `#define RULE RULE_ROW`, then include the format's rules.def. */
#define RULE_ROW(name, id, level, text, spec, explain) { id, LEVEL_##level, text, spec, explain },

struct findings; /* of one input; see check/findings.h */

/* Reports a finding, unless j is NULL (a quiet pass).  offset: in the unpacked trace.  record: from 1; 0: no
 * record.  The message states the values that disagree; text of the trace in it is converted by quoted(). */
void finding_add(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t record,
                 const char *fmt, ...) PRINTF(5, 6);
void finding_add_v(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t record,
                   const char *fmt, va_list ap) PRINTF(5, 0);

/* For text formats.  line: from 1.  column: in bytes from 1; 0: the line as a whole. */
struct finding_place {
	uint64_t offset, line, column, record;
	bool sums; /* the first of several places, which the finding sums up: a scope does not leave it out */
};
void finding_add_line(struct findings *j, const struct rule *rule, struct finding_place at, const char *fmt,
                      ...) PRINTF(4, 5);

/* A mistake that is reported once: the number of times, place and values of the first.  Zero-initialise. */
struct finding_tally {
	uint64_t count, now, before; /* now, before: values that disagree; 0 if unused */
	struct finding_place at;
};

static inline void finding_tally_add(struct finding_tally *t, uint64_t offset, uint64_t record, uint64_t now,
                                     uint64_t before)
{
	if (t->count++ == 0)
		*t = (struct finding_tally){ 1, now, before, { .offset = offset, .record = record } };
}

/* Reports one finding for a mistake that is counted; does nothing if the count is 0. */
void finding_add_tally(struct findings *j, const struct rule *rule, const struct finding_tally *t,
                       const char *fmt, ...) PRINTF(4, 5);

/* Whether the next finding of a rule will be shown; if not, its message may be "". */
bool finding_is_shown(const struct findings *j, const struct rule *rule);

/* Converts text of the trace for a message: in quotes, escaped, cut to about 60 bytes.  Returns q->s. */
struct quoted {
	char s[300];
};
const char *quoted(struct quoted *q, struct slice s);

#endif
