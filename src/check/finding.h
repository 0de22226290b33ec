#ifndef CHECK_FINDING_H
#define CHECK_FINDING_H

#include <stdarg.h>

#include "base/slice.h"

/*
 * Findings: what is wrong (or worth knowing) at one place of one input.
 *
 * A rule is a row; its id never changes meaning.  Whoever finds something says
 * it here, once; callers above only pass the result on.
 */
enum level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_ERROR, LEVEL_COUNT };

struct rule {
	const char *id; /* the format, a slash, then words: "tick/cut-record" */
	enum level level;
	const char *text;    /* one line: what is wrong */
	const char *spec;    /* the sentence of the specification it enforces, or "" */
	const char *explain; /* a paragraph: what it means, what to do */
};

/* A row of a table of rules: `#define RULE RULE_ROW`, then include the format's rules.def. */
#define RULE_ROW(name, id, level, text, spec, explain) { id, LEVEL_##level, text, spec, explain },

/* How many findings of one rule are kept for each input; the rest is counted. */
#define FINDINGS_SHOWN 20

struct finding {
	const struct rule *rule;
	uint64_t offset; /* in the (unpacked) trace */
	uint64_t line;   /* 0: not a text format */
	uint64_t column; /* in bytes, the first of the line is 1; 0: the line as a whole, or no line */
	uint64_t record; /* ordinal, the first record is 1; 0: before any record or none */
	const char *message;
};

struct rule_count {
	const struct rule *rule;
	uint64_t count;
};

struct findings;

/* Called for each finding that is shown, as it is found. */
typedef void finding_sink(void *ctx, const struct findings *j, const struct finding *f);

/* The findings of one input. */
struct findings {
	const char *path;
	finding_sink *sink; /* may be NULL: then they are only counted */
	void *ctx;
	struct rule_count *counts; /* in order of first finding */
	size_t ncounts, counts_cap;
	uint64_t levels[LEVEL_COUNT];
	bool (*muted)(void *); /* asked before each finding; true: drop it (the bytes cannot be trusted) */
	void *muted_ctx;
};

void findings_init(struct findings *j, const char *path, finding_sink *sink, void *ctx);
void findings_free(struct findings *j);

/* Says a finding.  j may be NULL (a quiet pass): nothing happens.  The message is the detail with the values
 * that disagree; trace text in it must have gone through quoted().  */
void finding_add(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t record,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

void finding_add_v(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t record,
                   const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));

/* A finding that was met `count` times and is said once, with the number; of none nothing is said. */
void finding_add_times(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t record,
                       uint64_t count, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The same for text formats. */
void finding_add_line(struct findings *j, const struct rule *rule, uint64_t offset, uint64_t line,
                      uint64_t column, uint64_t record, const char *fmt, ...)
    __attribute__((format(printf, 7, 8)));

/* Something that is reported once, with a count: the place and values of its first time. */
struct finding_tally {
	uint64_t count;
	uint64_t offset, line, column, record; /* as in struct finding */
	uint64_t now, before;                  /* what disagrees; 0 where there is less to say */
};

static inline void
finding_tally_add(struct finding_tally *t, uint64_t offset, uint64_t record, uint64_t now, uint64_t before)
{
	if (t->count++ > 0)
		return;
	t->offset = offset;
	t->record = record;
	t->now = now;
	t->before = before;
}

/* How often a rule was found. */
uint64_t findings_count(const struct findings *j, const struct rule *rule);

/* Whether the next finding of a rule will be shown; if not, its message need not be made ("" will do). */
static inline bool
finding_is_shown(const struct findings *j, const struct rule *rule)
{
	return j != NULL && findings_count(j, rule) < FINDINGS_SHOWN;
}

const char *level_name(enum level level);

/* Trace text made safe for a message: in quotes, escaped, at most some 60 bytes of it.  The buffer is the
 * caller's. */
struct quoted {
	char s[300];
};
const char *quoted(struct quoted *q, struct slice s);

#endif
