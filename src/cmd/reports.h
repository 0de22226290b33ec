#ifndef CMD_REPORTS_H
#define CMD_REPORTS_H

#include "report/report.h"
#include "cmd/run_names.h"
#include "cmd/report_out.h"
#include "policy/policy_file.h"

/* The reports of a run: what --report, --format and -o ask for, and what goes into them. */

/* The names of reports, as --report takes them; NULL-terminated. */
extern const char *const reports_words[];

struct reports {
	struct report_request {
		const struct report_ops *kind;
		const char *path; /* "-": standard output */
		const char
		    *folder; /* of the policy that names it, below which the path lies; NULL: the user did */
		const char *below; /* its name from there on */
		bool append;      /* behind what is in the file */
		struct report report;
		struct report_out out;
	} list[REPORTS_MAX];
	size_t n;
	struct report_context context;
	struct report_totals totals;
	char *folder;       /* the current one */
	struct arena arena; /* of the present file */
	struct arena names; /* of the run */
	enum exit_status status;
};

/* FORMAT=FILE, or, of a policy, FORMAT alone: to standard output.  false after a message and o->status set.
 */
bool reports_add(struct reports *r, struct options *o, const char *arg, bool needs_file);

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

/* Opens them all.  policy: of the run as a whole; borrowed.  false: it was said, and r->status set; end with
 * reports_free() too. */
bool reports_open(struct reports *r, struct options *o, const struct policy *policy);

/* The next file, in the order of the reports, and the policy that it obeys. */
void reports_file(struct reports *r, const struct file_record *file, const struct policy *policy);

/* Ends those that were opened, for a publication; the worst status of the files.  no_memory: findings are
 * missing. */
enum exit_status reports_end(struct reports *r, bool no_memory, struct publication *p);

/* After the publication, or instead of it: nothing of an output is left then. */
void reports_free(struct reports *r);

#endif
