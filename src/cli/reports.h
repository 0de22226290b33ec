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

/* The reports of a run, which --report, --format, -o and policies request, and the state for writing them. */

struct reports {
	struct report_request {
		const struct report_ops *kind;
		const char *path;   /* "-": standard output */
		const char *folder; /* of the policy that requests it, if it names a file; else NULL */
		const char *below;  /* path of that file, relative to the folder */
		bool append;        /* the report is appended to the content of the file */
		struct report report;
		struct report_out out;
	} list[REPORTS_MAX];
	size_t n;
	bool said; /* the command prints findings itself: say_finding() */
	struct report_context context;
	struct report_totals totals;
	char *folder, *root; /* the current folder, and that of the repository, without links */
	struct arena arena;  /* for the current file */
	struct arena names;  /* for the run */
};

/* Adds --report FORMAT=FILE; reports: struct reports.  Returns false after a message; o->status is set. */
bool reports_add(void *reports, struct options *o, const char *arg);

/* Whether the path is the job summary of GitHub Actions, to which reports in markdown are appended. */
bool is_job_summary(const char *path);

/* Adds a report of this kind and path; path is borrowed. */
bool reports_request(struct reports *r, struct options *o, const struct report_ops *kind, const char *path);

/* Adds a report that a policy requests: a file below the policy's folder.  It replaces an earlier report of
 * its kind, but no other file, not even with -f. */
bool reports_add_of_policy(struct reports *r, struct options *o, const char *folder,
                           const struct policy_report *report);

/* Adds the names of the report files. */
void reports_names(const struct reports *r, struct run_names *n);

/* Finds the kind of report of this name.  Returns false after a message. */
bool reports_kind(struct options *o, const char *option, const char *name, const struct report_ops **kind);

/* Opens all reports.  policy: that of the whole run; borrowed.  Returns false after a message; call
 * reports_free() even then. */
bool reports_open(struct reports *r, struct options *o, const struct policy *policy);

/* Adds the next file, in the order of the reports, with the policy that applies to it. */
void reports_file(struct reports *r, const struct file_record *file, const struct policy *policy);

/* Ends the open reports and adds them to a publication.  Returns the worst status of the files.  no_memory:
 * findings are missing, so the reports fail. */
enum exit_status reports_end(struct reports *r, bool no_memory, struct publication *p);

/* Call it after the publication, or instead of it: then no report is left. */
void reports_free(struct reports *r);

/* ---- side reports ---- */

/*
 * Reports of a command other than validate: findings in the traces that it
 * reads, in the formats of validate.  They are written to files.
 */
struct side_reports {
	struct reports reports;
	struct policy policy;   /* for traces without a policy of their own */
	struct finding_log log; /* findings of the current input */
};

/* --report FORMAT=FILE; see cmd_option.set. */
bool side_reports_add(void *run, struct options *o, const char *arg);

/* The functions below do nothing without reports (options.side NULL). */

/* Opens the files.  Returns false after a message. */
bool side_reports_open(struct options *o);

/* Adds a file that was read, or could not be read; its findings are those of the log. */
void side_reports_record(struct options *o, const struct file_record *what, const struct findings *j);

/* Ends the reports, for a publication.  Returns the worst status of the inputs. */
enum exit_status side_reports_end(struct options *o, struct publication *p);

/* Call it after the publication, or instead of it: then no report is left. */
void side_reports_free(struct options *o);

/* ---- losses out ---- */

/* Losses of an output: their effect on the exit status, and their report. */
struct losses_out {
	bool fail;         /* --fail-on-loss */
	const char *kinds; /* comma-separated ids and globs of ids; NULL: all kinds */
	const char *path;  /* --losses; NULL: none */
	struct report_out report;
};

/* Sets --fail-on-loss (kinds NULL: all kinds) or --fail-on-loss-of.  All kinds include those of a list; the
 * last of two lists takes effect.  Returns false after a message, with o->status set, if there is no such
 * kind. */
bool losses_out_fail_on(void *losses_out, struct options *o, const char *kinds);

/* Opens the report, which losses_out_end() writes.  Returns false after a message. */
bool losses_out_open(struct losses_out *l, const struct options *o);

/* A conversion, as the report describes it. */
struct losses_of {
	const char *const *in;
	size_t nin;
	const char *out, *from, *to; /* from: NULL if no input was recognised */
	const struct ledger *ledger;
};

/* Writes the report, if there is one, for a publication.  Returns the status that the losses cause. */
enum exit_status losses_out_end(struct losses_out *l, const struct losses_of *of, struct publication *p);

/* ---- policies ---- */

/*
 * The policies of a run.  Each trace has the policy of --config, or else the
 * nearest one above it.  Settings for the whole run are taken from the policy
 * of the first trace that has one.  The command line has priority.
 */
struct policies {
	const struct policy_options *line;
	struct policy_entry {
		struct policy_file *file;
		const char *path, *baseline_path; /* paths of both files; in the arena, or the user's */
		struct policy_baseline *baseline; /* baseline of the policy; NULL: none */
	} * entries;
	uint32_t nentries, entries_cap;
	struct policy_baseline *baseline; /* baseline of --baseline */
	struct policy_of_trace {
		uint32_t entry; /* index of the entry + 1; 0: none */
		uint32_t overrides;
	} * traces;                      /* by the index of the trace */
	char *here;                      /* the current folder */
	struct tabletext folders, paths; /* -> entry + 1, or 0 */
	struct arena arena;              /* keys of the tables */
	struct policy whole;             /* for the run as a whole */
};

/* Finds and reads all policies.  line: borrowed.  Returns false after a message, with o->status set.  Always
 * end with policies_free(). */
bool policies_init(struct policies *p, struct options *o, const struct policy_options *line,
                   const struct trace_groups *traces);
void policies_free(struct policies *p);

/* Adds the names of the files that were read: policies and their baselines. */
void policies_names(const struct policies *p, struct run_names *n);

/* Returns the policy of the first trace that has one, or NULL. */
const struct policy_file *policies_first(const struct policies *p);

/* Sets *policy for the findings of a trace (p->traces[i]).  Thread-safe, as is policies_checks(). */
void policies_of(const struct policies *p, struct policy_of_trace of, struct policy *policy);

/* Sets *c to the expectations of a trace (to be freed), and *baseline to the report to compare with, or NULL.
 * Returns false on OOM. */
bool policies_checks(const struct policies *p, size_t trace, struct policy_checks *c,
                     const struct policy_baseline **baseline);

#endif
