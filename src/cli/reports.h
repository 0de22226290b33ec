#ifndef CLI_REPORTS_H
#define CLI_REPORTS_H

#include "cli/names.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "format/ledger.h"
#include "policy/policy.h"
#include "report/report.h"
#include "run/read/operands.h"

/* ---- reports ---- */

/* The reports of a run: what --report, --format and -o ask for, and what goes into them. */

struct reports {
	struct report_request {
		const struct report_ops *kind;
		const char *path; /* "-": standard output */
		const char
		    *folder; /* of the policy that names it, below which the path lies; NULL: the user did */
		const char *below; /* its name from there on */
		bool append;       /* to the content of the file */
		struct report report;
		struct report_out out;
	} list[REPORTS_MAX];
	size_t n;
	bool said; /* the command prints findings itself */
	struct report_context context;
	struct report_totals totals;
	char *folder;       /* the current one */
	struct arena arena; /* of the present file */
	struct arena names; /* of the run */
};

/* Adds --report FORMAT=FILE; reports: struct reports.  Returns false after a message; o->status is set. */
bool reports_add(void *reports, struct options *o, const char *arg);

/* The same, taken apart; path is borrowed. */
bool reports_request(struct reports *r, struct options *o, const struct report_ops *kind, const char *path);

/* One that a policy asks for: a file below its folder, which replaces an earlier report of its kind and
 * nothing else, with -f neither. */
bool reports_add_of_policy(struct reports *r, struct options *o, const char *folder,
                           const struct policy_report *report);

/* Adds the names of their files. */
void reports_names(const struct reports *r, struct run_names *n);

/* The kind of this name; false after a message. */
bool reports_kind(struct options *o, const char *option, const char *name, const struct report_ops **kind);

/* Opens all reports.  policy: of the run as a whole; borrowed.  Returns false after a message; call
 * reports_free() anyway. */
bool reports_open(struct reports *r, struct options *o, const struct policy *policy);

/* The next file, in the order of the reports, and the policy that it obeys. */
void reports_file(struct reports *r, const struct file_record *file, const struct policy *policy);

/* Ends those that were opened, for a publication; the worst status of the files.  no_memory: findings are
 * missing. */
enum exit_status reports_end(struct reports *r, bool no_memory, struct publication *p);

/* After the publication, or instead of it: nothing of an output is left then. */
void reports_free(struct reports *r);

/* ---- side reports ---- */

/*
 * The reports of a command that does something else with its traces than to
 * validate them: what it finds on the way, in the forms of validate.  They go
 * to files.
 */
struct side_reports {
	struct reports reports;
	struct policy policy;   /* for traces without one of their own */
	struct finding_log log; /* of the current input */
};

/* --report FORMAT=FILE; see cmd_option.set. */
bool side_reports_add(void *run, struct options *o, const char *arg);

/* The others do nothing without reports (options.side NULL). */

/* Opens the files.  false after a message. */
bool side_reports_open(struct options *o);

/* Adds a file that was read, or could not be; its findings are those of the log. */
void side_reports_record(struct options *o, const struct file_record *what, const struct findings *j);

/* Ends them, for a publication; the worst status of inputs. */
enum exit_status side_reports_end(struct options *o, struct publication *p);

/* After the publication, or instead of it: nothing of them is left then. */
void side_reports_free(struct options *o);

/* ---- losses out ---- */

/* Losses of an output: their effect on the exit status, and their report. */
struct losses_out {
	bool fail;         /* --fail-on-loss */
	const char *kinds; /* ids and globs of ids with commas between them; NULL: all kinds */
	const char *path;  /* --losses; NULL: none */
	struct report_out report;
};

/* --fail-on-loss (kinds NULL: all of them) and --fail-on-loss-of.  All of them include those of a list; of
 * two lists the last counts.  false after a message and o->status set: there is no such kind. */
bool losses_out_fail_on(struct losses_out *l, struct options *o, const char *kinds);

/* Opens the report.  Nothing is written before losses_out_end().  false after a message. */
bool losses_out_open(struct losses_out *l, const struct options *o);

/* A conversion, as the report describes it. */
struct losses_of {
	const char *const *in;
	size_t nin;
	const char *out, *from, *to; /* from: NULL where no input was recognised */
	const struct ledger *ledger;
};

/* Writes the report, if there is one, for a publication; the status that the losses make. */
enum exit_status losses_out_end(struct losses_out *l, const struct losses_of *of, struct publication *p);

/* ---- policies ---- */

/*
 * The policies of a run.  Each trace has the one that --config names, or else
 * the nearest to it; what that says about the run as a whole counts if it is
 * the policy of the first trace that has one.  The command line counts most.
 */
struct policies {
	const struct policy_options *line;
	struct policy_entry {
		struct policy_file *file;
		const char *path, *baseline_path; /* of both files; in the arena, or the user's */
		struct policy_baseline *baseline; /* its own; NULL: none */
	} * entries;
	uint32_t nentries, entries_cap;
	struct policy_baseline *baseline; /* of --baseline */
	struct policy_of_trace {
		uint32_t entry; /* + 1; 0: none */
		uint32_t overrides;
	} * traces;                      /* by the index of the trace */
	char *here;                      /* the current folder */
	struct tabletext folders, paths; /* -> entry + 1, or 0 */
	struct arena arena;              /* their keys */
	struct policy whole;             /* for the run as a whole */
};

/* Finds and reads them all.  line: borrowed.  false after a message and o->status
 * set.  In any case end with policies_free. */
bool policies_init(struct policies *p, struct options *o, const struct policy_options *line,
                   const struct trace_groups *traces);
void policies_free(struct policies *p);

/* Adds the names of the files that were read: policies and their baselines. */
void policies_names(const struct policies *p, struct run_names *n);

/* Returns the policy of the first trace that has one, or NULL. */
const struct policy_file *policies_first(const struct policies *p);

/* Sets *policy for the findings of a trace (p->traces[i]).  Thread-safe, as is policies_checks(). */
void policies_of(const struct policies *p, struct policy_of_trace of, struct policy *policy);

/* Sets *c to the expectations of a trace (free it), and *baseline to the report that it is compared with, or
 * NULL.  Returns false on OOM. */
bool policies_checks(const struct policies *p, size_t trace, struct policy_checks *c,
                     const struct policy_baseline **baseline);

#endif
