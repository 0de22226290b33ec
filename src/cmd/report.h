#ifndef CMD_REPORT_H
#define CMD_REPORT_H

#include "stats/change/change.h"
#include "cli/options.h"
#include "report/report.h"
#include "run/join.h"
#include "run/read/operands.h"

/* The page of `report` and of `validate --report html=FILE`. */

#define PAGE_SORT_MEMORY ((uint64_t)64 << 20) /* bytes */

/* A run that reads traces for a page.  All pointers are borrowed. */
struct page_run {
	struct options *options;
	const struct trace_groups *traces;
	/* Old side of a comparison.  NULL: of two traces the first one; of others there is no comparison. */
	const struct trace_groups *against;
	/* Called at the end of an input, with its findings in `list`; NULL: findings were reported before. */
	void (*closed)(void *ctx, const struct source *s);
	struct finding_list *list;
	void *ctx;               /* of `closed` */
	uint64_t threads;        /* one thread reads, another counts; 0: one per core */
	uint64_t memory;         /* bytes for sorting; 0: PAGE_SORT_MEMORY */
	bool failed;             /* a trace cannot be read, which is reported */
	enum exit_status status; /* status of the selection */
	struct report_page page; /* the result; freed by report_page_free() */
};

/* Reads the traces and makes the page.  The page of an unreadable trace shows the part that was read.
 * Returns false on OOM, and if a trace was lost by a fault that is not reported. */
bool page_run(struct page_run *r);

#endif
