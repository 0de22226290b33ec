#ifndef CHECK_FINDINGS_H
#define CHECK_FINDINGS_H

#include "base/memory.h"
#include "check/finding.h"
#include "check/rules.h"

struct finding_list;

/* ---- the findings of one input ---- */

/* Findings of one rule that are shown for each input; the others are counted. */
#define FINDINGS_SHOWN 20

struct finding {
	const struct rule *rule;
	enum level level; /* the rule's; in a report that of the policy */
	uint64_t offset;  /* in the unpacked trace */
	uint64_t line;    /* 0: not a text format */
	uint64_t column;  /* in bytes from 1; 0: the line as a whole, or no line */
	uint64_t record;  /* ordinal from 1; 0: none */
	const char *message;
	uint32_t check;             /* number of its check (struct file_check), from 1; 0: none */
	const struct finding *next; /* of its list */
};

struct rule_count {
	const struct rule *rule;
	uint64_t count;
};

/* A listener: told of each finding that is shown, when it is found or when its stream is complete. */
typedef void finding_sink(void *ctx, const struct findings *j, const struct finding *f);

struct findings {
	const char *path;
	struct finding_list *list; /* keeps those that are shown; NULL: the listener is told */
	finding_sink *sink;        /* the listener; NULL, and no list: findings are only counted */
	void *ctx;
	struct rule_count *counts; /* in order of first finding */
	size_t ncounts, counts_cap;
	uint64_t levels[LEVEL_COUNT];
	bool (*muted)(void *); /* called before each finding; true: drop it, as the bytes cannot be trusted */
	void *muted_ctx;
	/* Called for each finding that is not about the input as a whole; true: it is only counted in
	 * nleft_out. */
	bool (*left_out)(void *, uint64_t offset);
	void *left_out_ctx;
	uint64_t nleft_out;
	bool summing; /* the finding that is added sums up several offsets */
	bool failed;  /* OOM: a rule is missing in counts */
};

void findings_init(struct findings *j, const char *path, finding_sink *sink, void *ctx);
void findings_free(struct findings *j);

/* The number of findings of a rule. */
uint64_t findings_count(const struct findings *j, const struct rule *rule);
const char *level_name(enum level level);

/* Passes on a finding that was counted: to the list, or else to the listener. */
void findings_pass(struct findings *j, const struct finding *f);

#endif
