#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "base/memory.h"
#include "check/findings.h"
#include "check/rules.h"
#include "output/text.h"
#include "run/pipeline.h"
#include "stats/stats.h"
#include "yaml/yaml.h"

/* ---- policy choice ---- */

/* What one place (the command line, a policy, one of its overrides) says about which findings count.  Each
 * pattern is tried once on each rule, when it is added, and not kept. */
struct policy_choice {
	struct policy_effect {
		bool selected, ignored;
		int level; /* of the last pattern that fits; -1: none does */
	} * effects;       /* of all rules, in the order of rules_visit(); NULL: no pattern was added */
	bool selects;      /* there is a pattern of `select` */
	int fail_level;    /* LEVEL_COUNT: never; -1: not said */
	int exit_zero;     /* -1: not said */
};

#define POLICY_CHOICE_NONE                                                                                   \
	{                                                                                                    \
		.fail_level = -1, .exit_zero = -1                                                            \
	}

enum policy_choice_key { CHOICE_SELECT, CHOICE_IGNORE, CHOICE_LEVEL };

/* Adds a pattern of rule ids; level: for CHOICE_LEVEL.  *fits: whether it is that of any rule.  false: no
 * memory. */
bool policy_choice_add(struct policy_choice *c, enum policy_choice_key key, struct slice rules,
                       enum level level, bool *fits);
void policy_choice_free(struct policy_choice *c);

/* All rules in the order of rules_visit(), to be freed; NULL: no memory. */
struct policy_row *policy_rows_new(size_t *n);

/* The rows as they are before anything is said. */
void policy_rows_reset(struct policy_row *rows, size_t n);

/* What is said here counts more than what was applied before: a selection replaces another, and takes in what
 * was ignored before; here, what is ignored stays so, whatever is selected.  p->rows is `rows`. */
void policy_apply(struct policy *p, struct policy_row *rows, const struct policy_choice *c);

/* ---- policy file ---- */

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
	uint32_t nrules; /* patterns of rules, likewise */
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

/* ---- policy find ---- */

#define POLICY_NAME ".tracetool.yaml"

/* The policy for inputs of a folder: the nearest file of that name, from the folder upwards to the root of
 * the repository, the folder that holds .git.  Outside of a repository the search ends at the current folder
 * if the inputs lie below it, else in their own.  here: the current folder, absolute.  An absolute path to be
 * freed; NULL: there is none, or (*error, an errno value) nobody knows. */
char *policy_find(const char *folder, const char *here, int *error);

/* ---- policy baseline ---- */

/* What `tracetool stats --format json` said of an earlier run. */

#define BASELINE_MAX_BYTES ((size_t)64 << 20)
#define BASELINE_MAX_ROWS 500000U /* of all inputs; some 150 bytes of memory each, besides the text */

/* A table of the report, in its order. */
enum baseline_table { BASELINE_SPANS, BASELINE_ASYNC, BASELINE_INSTANTS, BASELINE_COUNTERS, BASELINE_TABLES };

struct policy_baseline;
struct baseline_input;

/* folder: below which the path must lie (base/os.h); NULL: it may be anywhere.  NULL after a finding,
 * or (*no_memory) without memory, which nobody was told. */
struct policy_baseline *baseline_read(const char *folder, const char *path, struct findings *findings,
                                      bool *no_memory);
void baseline_free(struct policy_baseline *b); /* NULL is fine */

/* The input of the baseline that stands for a trace: the only one, else the one of the same path, else the
 * only one of the same file name.  NULL: there is none. */
const struct baseline_input *baseline_input(const struct policy_baseline *b, const char *path);

/* The statistic of a name there: in ns, events, or events in a second.  category: "" for instants and
 * counters. false: it is not known. */
bool baseline_value(const struct baseline_input *in, enum baseline_table table, struct slice name,
                    struct slice category, enum policy_statistic statistic, double *value);

/* ---- policy checks ---- */

/*
 * What a policy and its overrides expect of one trace.  A later override counts
 * more: it replaces expectations of the same kind, and events, metadata and
 * budgets of the same patterns; the others are added to those that are there.
 */
struct policy_checks {
	const struct policy_file *file; /* NULL: there is a baseline alone */
	const struct policy_event **events;
	const struct policy_metadata **metadata;
	const struct policy_budget **budgets;
	uint32_t nevents, nmetadata, nbudgets;
	const struct policy_epoch *epoch; /* NULL: nothing is expected; so the others */
	const struct policy_tracks *threads, *processes;
	const struct policy_most *lost, *unfinished;
	const struct policy_times *times;
	bool any; /* there is something to check */
};

/* overrides: as policy_file_overrides() says.  file: borrowed; may be NULL.  baseline: there is one; without
 * a budget that is relative to it, the p50 of each name may be a tenth more.  false: no memory. */
bool policy_checks_init(struct policy_checks *c, const struct policy_file *file, uint32_t overrides,
                        bool baseline);
void policy_checks_free(struct policy_checks *c);

/* ---- policy watch ---- */

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

/* ---- policy starter ---- */

/* A policy with comments that some good traces keep, and later ones like them. */

#define STARTER_ROWS 64U  /* kinds of spans that are looked at in a trace */
#define STARTER_MOST 256U /* of all traces */
#define STARTER_FACTS 20U /* metadata that are listed */

/* Spans of a category, or of a name where there is no category. */
struct starter_row {
	struct slice name, category; /* a pattern and a text, in the arena */
	bool place;                  /* the names are places in sources, which move */
	bool waits;                  /* idle time, a state, or a life: no budget is made of it */
	uint32_t traces, last;       /* that have it; the last of them */
	uint64_t p99;                /* the largest */
	double sum;
};

struct policy_starter {
	struct arena arena;
	struct starter_row rows[STARTER_MOST];
	uint32_t nrows;
	struct starter_fact {
		struct slice name;
		uint32_t traces;
	} facts[STARTER_FACTS];
	uint32_t nfacts, ntraces;
	bool no_epoch, counts_lost, endless; /* of one of them */
	double lost, unfinished;             /* the largest shares */
	uint64_t threads, duration;          /* the fewest; the longest */
	uint32_t nevents, nbudgets;          /* that were written */
	bool failed;                         /* memory is out */
};

/* Takes in a trace that was read to its end. */
void policy_starter_add(struct policy_starter *s, const struct policy_watch *w, const struct pipeline *p);

/* Writes the policy.  shown: the name of the first trace, escaped.  false: no memory. */
bool policy_starter_write(struct policy_starter *s, struct text *t, const char *shown);
void policy_starter_free(struct policy_starter *s);

/* ---- policy draft ---- */

/* A policy while it is read. */
struct policy_draft {
	struct yaml_file yaml;
	struct policy_file *file;
};

/* A key of a mapping, and who takes its value. */
struct policy_key {
	const char *name;
	void (*take)(struct policy_draft *d, const struct yaml_node *value, void *into);
};

#define POLICY_MAX_KEYS 16

/* Hands each value of a mapping to its key's function, in the order of the keys.  false: it is no mapping, or
 * a mistake was said about a key. */
bool policy_map(struct policy_draft *d, const struct yaml_node *node, const char *what,
                const struct policy_key *keys, size_t n, void *into);

#define POLICY_MAP(d, node, what, keys, into)                                                                \
	policy_map(d, node, what, keys, sizeof keys / sizeof keys[0], into)

/* Cleared memory that lives as long as the policy; NULL: there is none, which the draft remembers. */
void *policy_alloc(struct policy_draft *d, size_t n, size_t size);

/* ---- values; false: a mistake was said, or memory is out ---- */

/* A copy that ends in a NUL. */
bool policy_text(struct policy_draft *d, const struct yaml_node *node, const char *what, struct slice *out);

/* A pattern: a text that does not take long to compare. */
bool policy_pattern(struct policy_draft *d, const struct yaml_node *node, const char *what,
                    struct slice *out);

/* One, or a list of some, at most `most`. */
bool policy_patterns(struct policy_draft *d, const struct yaml_node *node, const char *what, uint32_t most,
                     const struct slice **out, uint32_t *n);
bool policy_bool(struct policy_draft *d, const struct yaml_node *node, const char *what, bool *out);

/* An exact number, or {min, max}. */
bool policy_counts(struct policy_draft *d, const struct yaml_node *node, const char *what,
                   struct policy_range *out);

/* The keys of struct policy_who, which a mapping of something that begins with one has. */
#define POLICY_WHO_KEYS                                                                                      \
	{ "name", policy_take_name }, { "category", policy_take_category }, { "kind", policy_take_kind },    \
	{                                                                                                    \
		"thread", policy_take_thread                                                                 \
	}

void policy_take_name(struct policy_draft *d, const struct yaml_node *node, void *who);
void policy_take_category(struct policy_draft *d, const struct yaml_node *node, void *who);
void policy_take_kind(struct policy_draft *d, const struct yaml_node *node, void *who);
void policy_take_thread(struct policy_draft *d, const struct yaml_node *node, void *who);

/* Whether any of the keys was given but the kind. */
bool policy_says_who(const struct policy_who *who);

/* The same, of everything. */
bool policy_same_who(const struct policy_who *a, const struct policy_who *b);

/* The key "expect" of a section. */
void policy_take_expect(struct policy_draft *d, const struct yaml_node *node, void *section);

/* The key "budgets". */
void policy_take_budgets(struct policy_draft *d, const struct yaml_node *node, void *section);

#endif
