#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

/*
 * Policies (tracetool.yaml(5)): findings that count, and expectations of traces.  In the order of use:
 *
 *   read.c      finds the policy of a folder and reads it; settings of rules, for policy_decide()
 *   read_expect.c   reads its expectations and budgets
 *   checks.c    collects the expectations of a trace, counts its events while it is read, and reports unmet
 *               expectations
 *   baseline.c  reads the report of an earlier run
 *   budget.c    limits of statistics, absolute or relative to the baseline
 *   starter.c   writes a policy that given traces meet
 */
#include "base/memory.h"
#include "check/findings.h"
#include "check/rules.h"
#include "output/text.h"
#include "run/pipeline.h"
#include "stats/stats.h"
#include "yaml/yaml.h"

/* ---- findings that count (read.c) ---- */

#define POLICY_NAME ".tracetool.yaml"

/* Returns the path of the policy for inputs of a folder: the nearest file POLICY_NAME from the folder upwards
 * to the root of the repository, the folder that contains .git.  Outside of a repository the search ends at
 * the current folder if the inputs are below it, else at `folder`.  here: absolute path of the current
 * folder.  The path is absolute; the caller frees it.  NULL: no policy (*error is 0), or the search failed
 * (*error is an errno value). */
char *policy_find(const char *folder, const char *here, int *error);

/* Words of `fail-level`, in the order of enum level; NULL-terminated.  Those of `level` are level_names. */
extern const char *const policy_fail_levels[];

enum policy_choice_key { CHOICE_SELECT, CHOICE_IGNORE, CHOICE_LEVEL };

/* Adds a pattern of rule ids.  It is matched against all rules, and not kept.  level: for CHOICE_LEVEL.
 * *fits: it matches a rule.  Returns false on OOM. */
bool policy_choice_add(struct policy_choice *c, enum policy_choice_key key, struct slice rules,
                       enum level level, bool *fits);
void policy_choice_free(struct policy_choice *c);

/* ---- a policy file (read.c) ---- */

#define POLICY_MAX_BYTES ((size_t)1 << 20) /* of a file */
#define POLICY_MAX_PATTERN 1024U           /* bytes of a pattern */
#define POLICY_MAX_RULES 1000U             /* patterns of rules, of the file and all its overrides */
#define POLICY_MAX_EVENTS 64U              /* expectations of events, of the file and all its overrides */
#define POLICY_MAX_METADATA 64U            /* expectations of metadata in all these */
#define POLICY_MAX_BUDGETS 128U            /* budgets in all these */
#define POLICY_MAX_SUBSETS 8U              /* different patterns of threads in these budgets */
#define POLICY_MAX_NAMES 64U               /* of threads; of processes */
#define POLICY_MAX_OVERRIDES (POLICY_MAX_CHOICES - 2U)
#define POLICY_MAX_REPORTS 16U

/* Inclusive. */
struct policy_range {
	uint64_t min, max;
};

enum policy_kind { KIND_SPAN, KIND_ASYNC, KIND_INSTANT, KIND_COUNTER, KIND_OTHER, POLICY_KINDS };

/* The events that an expectation or a budget is for. */
struct policy_filter {
	struct slice name, category, thread; /* patterns; p NULL: any */
	unsigned kinds;                      /* a bit for each enum policy_kind */
};

struct policy_event {
	struct policy_filter filter; /* first: POLICY_FILTER_KEYS */
	uint32_t line;
	struct policy_range count;
};

struct policy_metadata {
	uint32_t line;
	struct slice name, value; /* patterns; value.p NULL: any */
};

struct policy_patterns {
	const struct slice *list;
	uint32_t n;
};

/* Threads or processes. */
struct policy_tracks {
	uint32_t line; /* 0: nothing is expected */
	struct policy_range count;
	struct policy_patterns names; /* each must fit a track */
};

struct policy_max_share {
	uint32_t line; /* 0: nothing is expected */
	double share;  /* 0 to 1 */
	struct slice text;
};

/* A point in time: on the clock of the trace, or wall time. */
struct policy_point {
	uint32_t line; /* 0: not stated */
	bool wall;     /* ns since 1970 */
	uint64_t ns;
	struct slice text;
};

struct policy_epoch {
	uint32_t line; /* 0: nothing is expected */
	bool unknown;  /* expected to be unknown */
	struct policy_point after, before;
};

struct policy_times {
	uint32_t line;                /* 0: nothing is expected */
	struct policy_range duration; /* ns */
	struct policy_point after, before;
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
	STATISTIC_BYTES,
	STATISTIC_RATE,
	STATISTIC_QUANTILE, /* another percentile: policy_budget.quantile */
};

/* A budget holds for each name, for each category, or for all its events together. */
enum policy_group { GROUP_NAME, GROUP_CATEGORY, GROUP_ALL };

#define ONE_PERCENT 10000U /* millionths */

struct policy_budget {
	struct policy_filter filter;
	struct slice series; /* of counters: a pattern; p NULL: any */
	enum policy_group group;
	uint32_t line;
	enum policy_statistic statistic;
	uint32_t quantile; /* of STATISTIC_QUANTILE, in millionths: multiples of ONE_PERCENT for counters */
	const char *statistic_name; /* "p99.9" */
	bool of_values;             /* the statistic is that of the values of counters */
	bool absolute, relative;    /* at least one */
	double limit;               /* ns, events, bytes, events per second, or a value */
	double tolerance;           /* 0.1: a tenth more than the baseline */
	uint64_t min_count;         /* durations of fewer spans are not compared with the baseline */
	uint64_t min_time;          /* ns; nor are durations with a smaller sum */
	struct slice limit_text, tolerance_text;
};

struct policy_report {
	const char *format;
	const char *file; /* below the policy's folder, as below_mistake() allows; NULL: standard output */
};

/* A policy without its overrides, or an override. */
struct policy_section {
	struct policy_patterns paths; /* only of an override */
	struct policy_choice choice;
	const struct policy_event *events;
	const struct policy_metadata *metadata;
	const struct policy_budget *budgets;
	uint32_t nevents, nmetadata, nbudgets;
	struct policy_epoch epoch;
	struct policy_tracks threads, processes;
	struct policy_max_share lost, unfinished;
	struct policy_times times;
};

/* All pointers are valid as long as the file. */
struct policy_file {
	struct policy_section own; /* first: the keys of a section are keys of the file, too */
	const char *path;          /* for messages */
	const char *folder;        /* absolute: paths of overrides and names of files are relative to it */
	struct policy_section *overrides; /* a later override wins */
	uint32_t noverrides;
	uint32_t nevents, nmetadata, nbudgets;    /* of all sections */
	struct slice subsets[POLICY_MAX_SUBSETS]; /* thread patterns of budgets: a policy_subset for each */
	uint32_t nsubsets;
	uint32_t nrules; /* patterns of rules, of all sections */
	/* of the whole run */
	const struct policy_report *reports;
	uint32_t nreports;
	uint64_t max_findings; /* UINT64_MAX: no limit */
	uint64_t threads;      /* 0: not stated */
	const char *baseline;  /* below the folder; NULL: not stated */
	struct arena arena;
};

/* Reads a file.  path and folder are copied.  Returns NULL after findings, or on OOM (*no_memory), which is
 * not reported. */
struct policy_file *policy_file_read(const char *path, const char *name, const char *folder,
                                     struct findings *findings, bool *no_memory);

/* The same for text in memory, which is not kept. */
struct policy_file *policy_file_parse(struct slice text, const char *name, const char *folder,
                                      struct findings *findings, bool *no_memory);
void policy_file_free(struct policy_file *f); /* NULL is allowed */

/* Returns the overrides for an input: bit i for overrides[i].  path: absolute path of the input. */
uint32_t policy_file_overrides(const struct policy_file *f, const char *path);

/* ---- a baseline: the output of an earlier `tracetool stats --format json` (baseline.c) ---- */

#define BASELINE_MAX_BYTES ((size_t)64 << 20)
/* Rows of all inputs.  Memory of a row: 150 bytes, 350 with further percentiles, in addition to the text. */
#define BASELINE_MAX_ROWS 500000U

struct policy_baseline;

/* Reads a baseline.  folder: the path must be below it (base/os.h); NULL: it may be anywhere.  Returns NULL
 * after a finding, or on OOM (*no_memory), which is not reported. */
struct policy_baseline *baseline_read(const char *folder, const char *path, struct findings *findings,
                                      bool *no_memory);

/* Adds the baseline of a further run and takes ownership of it; *list may be NULL.  Values are compared with
 * the largest of all baselines. */
void baseline_add(struct policy_baseline **list, struct policy_baseline *further);
void baseline_free(struct policy_baseline *b); /* NULL is allowed */

/* ---- the expectations of one trace (checks.c) ---- */

/* Expectations of a policy and its overrides.  A later override replaces expectations of the same kind, and
 * events, metadata and budgets with the same patterns; others are added. */
struct policy_checks {
	const struct policy_file *file; /* NULL: only a baseline is given */
	const struct policy_event **events;
	const struct policy_metadata **metadata;
	const struct policy_budget **budgets;
	uint32_t nevents, nmetadata, nbudgets;
	const struct policy_epoch *epoch; /* NULL here and below: nothing is expected */
	const struct policy_tracks *threads, *processes;
	const struct policy_max_share *lost, *unfinished;
	const struct policy_times *times;
	bool any; /* at least one expectation */
};

/* overrides: from policy_file_overrides().  file: borrowed; may be NULL.  baseline: one is given; without a
 * budget relative to it, a default one allows the p50 of each name to be a tenth larger.  Returns false on
 * OOM. */
bool policy_checks_init(struct policy_checks *c, const struct policy_file *file, uint32_t overrides,
                        bool baseline);
void policy_checks_free(struct policy_checks *c);

/* Whether patterns are compared with the names of tracks. */
bool policy_checks_names(const struct policy_checks *c);

/* ---- the events of one trace (checks.c) ---- */

/* Events of one expectation. */
struct policy_tally {
	uint64_t count;
	uint64_t first, beyond; /* offsets: of the first event; of the first one above the max count */
};

/* Memory: statistics of the trace and of each pattern of threads in its budgets, each bounded, and at most
 * 16 MiB. */
struct policy_watch {
	const struct policy_checks *checks; /* borrowed */
	struct stats stats;
	struct policy_tally events[POLICY_MAX_EVENTS]; /* by index of checks->events */
	/* cache: the expectations whose patterns fit a name, a bit for each */
	struct policy_known {
		struct table64 index; /* hash -> masks[] */
		uint64_t *masks;
		uint32_t n, cap;
	} known;
	uint64_t of_kind[POLICY_KINDS]; /* expectations of a kind, a bit for each */
	uint64_t with_thread;           /* expectations with a pattern of threads, a bit for each */
	struct policy_thread {
		const char *name; /* the name that was compared */
		uint32_t n;
		bool known;
		uint64_t events;  /* expectations whose pattern of threads the name fits, a bit for each */
		uint32_t subsets; /* a bit for each subset */
	} * threads;              /* by index of the track */
	uint32_t nthreads;
	/* The events on threads that a budget names. */
	struct policy_subset {
		struct slice thread;  /* a pattern */
		struct stats stats;   /* of its threads */
		struct event *events; /* of a batch */
		uint32_t cap;
	} * subsets;
	uint32_t nsubsets;
	uint64_t seed;
	bool any;                           /* there was an event */
	uint64_t first_ns, last_ns;         /* like those of stats */
	uint64_t first_offset, last_offset; /* of the events at these times */
	/* sums over the inputs that were closed */
	bool counts_lost;
	uint64_t lost, records;
};

/* The struct must not move afterwards.  Call policy_watch_free() even after a failure. */
bool policy_watch_init(struct policy_watch *w, const struct policy_checks *checks);
void policy_watch_free(struct policy_watch *w);

/* Adds a batch; batches arrive in the order of the trace. */
bool policy_watch_batch(struct policy_watch *w, const struct batch *b);

/* Completes the statistics after the last batch. */
bool policy_watch_end(struct policy_watch *w);

/* Adds the counters of an input that was read to its end. */
void policy_watch_input(struct policy_watch *w, const struct source *s);

/* ---- the verdict (checks.c, budget.c) ---- */

/* All borrowed. */
struct policy_verdict {
	const struct policy_watch *watch;
	const struct run_report *run;           /* of a trace that was read to its end */
	const char *path;                       /* of the trace */
	const struct policy_baseline *baseline; /* or NULL */
	struct findings *findings;              /* of the trace */
	struct finding_log *log;                /* stores findings; gets a check for each budget */
};

/* Reports the expectations that are not met. */
bool policy_verdict(const struct policy_verdict *v);

/* ---- a policy that some good traces meet, with comments (starter.c) ---- */

#define STARTER_MAX_ROWS 256U /* kinds of spans of all traces */
#define STARTER_MAX_FACTS 20U /* metadata that are listed */

/* Kind of spans: those of a category, or of a name without a category. */
struct starter_row {
	struct slice name, category; /* patterns, in the arena */
	struct slice first[2];       /* a name and its category that they fit */
	bool position;               /* the names are positions in sources, which change */
	bool waits;                  /* idle time, a state, or a life: gets no budget */
	uint32_t traces, last;       /* number of traces with it; the last of them */
	uint64_t p99;                /* max of the traces, ns */
	double sum;                  /* ns */
};

struct policy_starter {
	struct arena arena;
	struct starter_row rows[STARTER_MAX_ROWS];
	uint32_t nrows;
	struct starter_fact {
		struct slice name;
		uint32_t traces;
	} facts[STARTER_MAX_FACTS];
	uint32_t nfacts, ntraces;
	bool full; /* not all names of a trace have rows: later traces add none, which would lack its spans */
	bool no_epoch, counts_lost, endless; /* of at least one trace */
	double lost, unfinished;             /* max shares */
	uint64_t threads;                    /* min of the traces */
	uint64_t duration;                   /* max, ns */
	uint32_t nevents, nbudgets;          /* written */
	bool failed;                         /* OOM */
};

/* Adds a trace that was read to its end.  Errors are kept in s->failed. */
void policy_starter_add(struct policy_starter *s, const struct policy_watch *w, const struct run_report *run);

/* Writes the policy.  shown: the name of the first trace, escaped. */
bool policy_starter_write(struct policy_starter *s, struct text *t, const char *shown);
void policy_starter_free(struct policy_starter *s);

#endif
