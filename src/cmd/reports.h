#ifndef CMD_REPORTS_H
#define CMD_REPORTS_H

#include "check/report.h"
#include "cmd/report_out.h"

/* The reports of a run: what --report, --format and -o ask for, and what goes into them. */

#define REPORTS_MAX 16

/* The names of reports, as --report takes them; NULL-terminated. */
extern const char *const reports_words[];

struct reports {
	struct report_request {
		const struct report_ops *kind;
		const char *path; /* "-": standard output */
		bool append;      /* behind what is in the file */
		struct report report;
		struct report_out out;
		bool open; /* out is */
	} list[REPORTS_MAX];
	size_t n;
	struct report_context context;
	struct report_totals totals;
	char *folder;       /* the current one */
	struct arena arena; /* of the present file */
	enum exit_status status;
};

/* FORMAT=FILE, or, of a policy, FORMAT alone: to standard output.  false after a message and o->status set.
 */
bool reports_add(struct reports *r, struct options *o, const char *arg, bool needs_file);

/* The same, taken apart; path is borrowed. */
bool reports_request(struct reports *r, struct options *o, const struct report_ops *kind, const char *path);

/* Whether none of their files is an input; false after a message and o->status set. */
bool reports_check_names(const struct reports *r, struct options *o);

/* The kind of this name; false after a message. */
bool reports_kind(struct options *o, const char *option, const char *name, const struct report_ops **kind);

/* Opens them all.  policy: of the run as a whole; borrowed.  false: it was said, and r->status set; end with
 * reports_close too. */
bool reports_open(struct reports *r, struct options *o, const struct policy *policy);

/* The next file, in the order of the reports, and the policy that it obeys. */
void reports_file(struct reports *r, const struct file_record *file, const struct policy *policy);

/* Ends them; the worst status of files and outputs.  opened: what reports_open() said; no_memory: findings
 * are missing. */
enum exit_status reports_close(struct reports *r, bool opened, bool no_memory);

#endif
