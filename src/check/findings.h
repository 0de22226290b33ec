#ifndef CHECK_FINDINGS_H
#define CHECK_FINDINGS_H

#include "check/finding.h"

/* The findings of one input, for whoever reports them. */

/* How many findings of one rule are shown for each input; the rest is counted. */
#define FINDINGS_SHOWN 20

struct finding {
	const struct rule *rule;
	enum level level; /* the rule's, unless a policy says otherwise */
	uint64_t offset; /* in the (unpacked) trace */
	uint64_t line;   /* 0: not a text format */
	uint64_t column; /* in bytes, the first of the line is 1; 0: the line as a whole, or no line */
	uint64_t record; /* ordinal, the first record is 1; 0: before any record or none */
	const char *message;
	uint32_t check; /* number of the check of its file that it is of, from 1 on; 0: none */
};

struct rule_count {
	const struct rule *rule;
	uint64_t count;
};

/* Called for each finding that is shown, as it is found. */
typedef void finding_sink(void *ctx, const struct findings *j, const struct finding *f);

struct findings {
	const char *path;
	finding_sink *sink; /* may be NULL: then they are only counted */
	void *ctx;
	struct rule_count *counts; /* in order of first finding */
	size_t ncounts, counts_cap;
	uint64_t levels[LEVEL_COUNT];
	bool (*muted)(void *); /* asked before each finding; true: drop it (the bytes cannot be trusted) */
	void *muted_ctx;
	/* Asked with the place of each finding that is not of the input as a whole; true: it is counted
	 * here alone. */
	bool (*left_out)(void *, uint64_t offset);
	void *left_out_ctx;
	uint64_t nleft_out;
	bool summing; /* the finding that is added sums up several places */
	bool failed;  /* memory ran out: a rule is missing in counts */
};

void findings_init(struct findings *j, const char *path, finding_sink *sink, void *ctx);
void findings_free(struct findings *j);

/* How often a rule was found. */
uint64_t findings_count(const struct findings *j, const struct rule *rule);

const char *level_name(enum level level);

#endif
