#ifndef POLICY_WATCH_H
#define POLICY_WATCH_H

#include "check/file_record.h"
#include "check/policy_rules.h"
#include "run/pipeline.h"
#include "policy/policy_baseline.h"
#include "policy/policy_checks.h"
#include "stats/stats.h"

/* What a policy asks of the events of one trace, while they are read and afterwards.  Memory is that of the
 * statistics, which is bounded, once for the trace and once for each pattern of threads in its budgets, and
 * 16 MiB at most. */

#define POLICY_KNOWN (1U << 18) /* names with their classes; when there are more, all are looked at anew */

/* Events that one expectation is about. */
struct policy_tally {
	uint64_t count;
	uint64_t first, beyond; /* offsets: of the first; of the first one too many */
};

struct policy_watch {
	const struct policy_checks *checks; /* borrowed */
	struct stats stats;
	struct policy_tally events[POLICY_MAX_EVENTS]; /* by checks->events */
	/* which expectations the names are of that were met, a bit for each: each name is compared once */
	struct policy_known {
		struct table64 index; /* hash -> masks[] */
		uint64_t *masks;
		uint32_t n, cap;
	} known;
	uint64_t of_kind[POLICY_KINDS], threaded; /* expectations of a kind; those that name threads */
	struct policy_line {
		const char *name; /* as it was compared */
		uint32_t n;
		bool known;
		uint64_t events; /* expectations that name threads and fit this one */
		uint32_t parts;  /* a bit for each part */
	} * lines;               /* by index of the track */
	uint32_t nlines;
	struct policy_part {
		struct slice thread; /* a pattern */
		struct stats stats;  /* of its threads */
		struct event *some;  /* of a batch */
		uint32_t cap;
	} * parts;
	uint32_t nparts;
	uint64_t seed;
	uint64_t matched;                   /* names that patterns were tried on */
	bool any;                           /* there was an event */
	uint64_t first_ns, last_ns;         /* as the statistics have them */
	uint64_t first_offset, last_offset; /* of the events that they are of */
	/* of the inputs, as they are closed */
	bool counts_lost;
	uint64_t lost, records;
};

/* After this it must stay where it is.  false: no memory; free it all the same. */
bool policy_watch_init(struct policy_watch *w, const struct policy_checks *checks);
void policy_watch_free(struct policy_watch *w);

/* Adds a batch; batches come in the order of the trace.  false: no memory. */
bool policy_watch_batch(struct policy_watch *w, const struct batch *b);

/* After the last batch.  false: no memory. */
bool policy_watch_end(struct policy_watch *w);

/* An input of the trace was read to its end. */
void policy_watch_input(struct policy_watch *w, const struct source *s);

/* What the verdict is about; all borrowed. */
struct policy_verdict {
	const struct policy_watch *watch;
	const struct pipeline *pipeline;        /* read to its end */
	const char *path;                       /* of the trace */
	const struct policy_baseline *baseline; /* NULL: none was named */
	struct findings *findings;              /* of the trace */
	struct file_records *records;           /* where they go; it learns which budgets there are */
};

/* Reports what is not as it is expected.  false: no memory. */
bool policy_verdict(const struct policy_verdict *v);

/* ---- parts of it ---- */

/* A finding of a rule of policies; the place in the policy is added to the message.  line 0: none. */
void policy_finding(const struct policy_verdict *v, enum policy_rule rule, uint64_t offset, uint32_t line,
                    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* What is meant: `"draw*" of category "gpu" on thread "main"`. */
#define POLICY_WORDS 1000
const char *policy_words(const struct policy_who *who, char room[POLICY_WORDS]);

/* How many spans there are, async ones included. */
uint64_t policy_spans(const struct stats *s);

/* Budgets.  false: no memory. */
bool policy_budgets(const struct policy_verdict *v);

#endif
