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
	enum level level; /* the rule's; in reports, the policy's */
	uint64_t offset;  /* in the unpacked trace */
	uint64_t line;    /* 0: not a text format */
	uint64_t column;  /* in bytes from 1; 0: the line as a whole, or no line */
	uint64_t record;  /* ordinal from 1; 0: none */
	const char *message;
	uint32_t check;             /* number of the check (struct file_check), from 1; 0: none */
	const struct finding *next; /* in its list */
};

struct rule_count {
	const struct rule *rule;
	uint64_t count;
};

/* Listener: called for each shown finding, at once or when its stream is complete. */
typedef void finding_sink(void *ctx, const struct findings *j, const struct finding *f);

struct findings {
	const char *path;
	struct finding_list *list; /* stores shown findings; NULL: the listener gets them */
	finding_sink *sink;        /* listener; NULL without a list: findings are only counted */
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
	struct gate *gate; /* passed before each finding; NULL: none */
	bool summing;      /* the finding that is added sums up several offsets */
	bool failed;       /* OOM: a rule is missing in counts */
};

void findings_init(struct findings *j, const char *path, finding_sink *sink, void *ctx);
void findings_free(struct findings *j);

/* The number of findings of a rule. */
uint64_t findings_count(const struct findings *j, const struct rule *rule);
const char *level_name(enum level level);

/* Passes a counted finding to the list, or else to the listener. */
void findings_pass(struct findings *j, const struct finding *f);

#endif
