#ifndef POLICY_FILE_H
#define POLICY_FILE_H

#include "base/arena.h"
#include "policy/policy_choice.h"

/*
 * A policy as it was read (tracetool.yaml(5)): which findings count, and what is
 * expected of traces.  All that it points to lives as long as it.
 */
#define POLICY_MAX_BYTES ((size_t)1 << 20) /* of a file */
#define POLICY_MAX_PATTERN 1024U           /* bytes of a pattern */
#define POLICY_MAX_STARS 16U               /* in a pattern */
#define POLICY_MAX_RULES 1000U             /* patterns of rules, of the file and all its overrides */
#define POLICY_MAX_EVENTS 64U              /* expectations of events, of the file and all its overrides */
#define POLICY_MAX_METADATA 64U            /* likewise */
#define POLICY_MAX_BUDGETS 128U            /* likewise */
#define POLICY_MAX_PARTS 8U                /* different patterns of threads in budgets, likewise */
#define POLICY_MAX_NAMES 64U               /* of threads; of processes */
#define POLICY_MAX_OVERRIDES 32U
#define POLICY_MAX_REPORTS 16U

/* Both ends are in it. */
struct policy_range {
	uint64_t min, max;
};

/* What an event is. */
enum policy_kind { KIND_SPAN, KIND_ASYNC, KIND_INSTANT, KIND_COUNTER, KIND_OTHER, POLICY_KINDS };

/* Which events are meant. */
struct policy_who {
	struct slice name, category, thread; /* patterns; p NULL: any */
	unsigned kinds;                      /* a bit for each enum policy_kind */
};

struct policy_event {
	struct policy_who who; /* stands first: readers of its keys are given the whole */
	uint32_t line;
	uint32_t index; /* among all of the file */
	struct policy_range count;
};

struct policy_metadata {
	uint32_t line;
	struct slice name, value; /* patterns; value.p NULL: any */
};

/* How many threads or processes, and which. */
struct policy_tracks {
	uint32_t line; /* 0: nothing is expected */
	struct policy_range count;
	const struct slice *names; /* patterns: at least one track fits each */
	uint32_t nnames;
};

struct policy_most {
	uint32_t line; /* 0: nothing is expected */
	double share;
	struct slice text; /* as it was written */
};

/* A time of the trace's own clock, or of the day. */
struct policy_instant {
	uint32_t line; /* 0: not said */
	bool wall;     /* ns since 1970 */
	uint64_t ns;
	struct slice text; /* as it was written */
};

struct policy_epoch {
	uint32_t line; /* 0: nothing is expected */
	bool unknown;  /* it is not to be known */
	struct policy_instant after, before;
};

struct policy_times {
	uint32_t line; /* 0: nothing is expected */
	struct policy_range duration;
	struct policy_instant after, before;
};

enum policy_statistic {
	STATISTIC_P50,
	STATISTIC_P90,
	STATISTIC_P99,
	STATISTIC_MAX,
	STATISTIC_SUM,
	STATISTIC_MEAN,
	STATISTIC_SELF,
	STATISTIC_COUNT,
	STATISTIC_RATE,
};
extern const char *const policy_statistics[]; /* their words, NULL-terminated */

/* What a budget is about: each name, each category, or all that it fits. */
enum policy_group { GROUP_NAME, GROUP_CATEGORY, GROUP_ALL };

struct policy_budget {
	struct policy_who who; /* stands first, as above */
	enum policy_group group;
	uint32_t line;
	enum policy_statistic statistic;
	bool absolute, relative; /* at least one */
	double limit;            /* ns, events, or events in a second */
	double tolerance;        /* 0.1: a tenth more than the baseline */
	struct slice limit_text, tolerance_text;
};

/* A report that the policy asks for. */
struct policy_report {
	const char *format;
	const char *file; /* below the policy's folder, as below_mistake() allows; NULL: standard output */
};

/* The policy itself, or an override. */
struct policy_section {
	const struct slice *paths; /* patterns; of an override */
	uint32_t npaths;
	struct policy_choice choice;
	const struct policy_event *events;
	const struct policy_metadata *metadata;
	const struct policy_budget *budgets;
	uint32_t nevents, nmetadata, nbudgets;
	struct policy_epoch epoch;
	struct policy_tracks threads, processes;
	struct policy_most lost, unfinished;
	struct policy_times times;
};

struct policy_file {
	const char *path;   /* as messages name it */
	const char *folder; /* absolute: where paths of overrides and names of files begin */
	struct policy_section own, *overrides; /* a later override counts more */
	uint32_t noverrides;
	uint32_t nevents, nmetadata, nbudgets; /* of all sections */
	struct slice parts[POLICY_MAX_PARTS];  /* patterns of threads in budgets */
	uint32_t nparts;
	uint32_t nrules;                       /* patterns of rules, likewise */
	/* of the whole run */
	const struct policy_report *reports;
	uint32_t nreports;
	uint64_t max_findings; /* UINT64_MAX: no limit */
	uint64_t threads;      /* 0: not said */
	const char *baseline;  /* below the folder too; NULL: not said */
	struct arena arena;
};

/* Reads one.  Mistakes are findings; path and folder are copied.  NULL: there were some, or (*no_memory)
 * there was no memory, which nobody was told. */
struct policy_file *policy_file_read(const char *path, const char *name, const char *folder,
                                     struct findings *findings, bool *no_memory);

/* The same of text in memory, which is not kept. */
struct policy_file *policy_file_parse(struct slice text, const char *name, const char *folder,
                                      struct findings *findings, bool *no_memory);
void policy_file_free(struct policy_file *f); /* NULL is fine */

/* Which overrides are for an input: bit i for the i-th.  path: absolute. */
uint32_t policy_file_overrides(const struct policy_file *f, const char *path);

#endif
