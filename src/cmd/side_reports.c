#include "cmd/side_reports.h"

#include <stdlib.h>

#include "check/file_record.h"
#include "cmd/reports.h"
#include "cmd/source_record.h"

struct side_reports {
	struct reports reports;
	struct policy policy; /* what counts without one */
	struct file_records records;
};

bool
side_reports_add(struct options *o, const char *arg)
{
	struct side_reports *const s = o->side != NULL ? o->side : calloc(1, sizeof *s);

	if (s == NULL) {
		options_no_memory(o);
		return false;
	}
	o->side = s;
	s->policy = (struct policy){ .fail_level = LEVEL_ERROR, .most = UINT64_MAX };
	if (!reports_add(&s->reports, o, arg, true))
		return false;
	if (strcmp(s->reports.list[s->reports.n - 1].path, "-") != 0)
		return true;
	o->status =
	    options_mistake(o,
	                    "--report %s needs a file (FORMAT=FILE): only validate reports to standard "
	                    "output",
	                    s->reports.list[s->reports.n - 1].kind->name);
	return false;
}

void
side_reports_names(const struct options *o, struct run_names *n)
{
	if (o->side != NULL)
		reports_names(&o->side->reports, n);
}

bool
side_reports_open(struct options *o)
{
	return o->side == NULL || reports_open(&o->side->reports, o, &o->side->policy);
}

void
side_reports_finding(struct side_reports *s, const struct finding *f)
{
	file_records_finding(&s->records, f);
}

static void
hand_over(struct side_reports *s)
{
	for (const struct file_record *k = s->records.first; k != NULL; k = k->next)
		reports_file(&s->reports, k, &s->policy);
	file_records_clear(&s->records);
}

void
side_reports_input(struct options *o, const struct source *input)
{
	struct side_reports *const s = o->side;
	const struct file_record what = source_record(input);

	file_records_close(&s->records, &what, &input->findings);
	hand_over(s);
}

enum exit_status
side_reports_end(struct options *o, struct publication *p)
{
	struct side_reports *const s = o->side;

	return s != NULL ? reports_end(&s->reports, s->records.failed, p) : STATUS_CLEAN;
}

void
side_reports_free(struct options *o)
{
	if (o->side == NULL)
		return;
	reports_free(&o->side->reports);
	file_records_free(&o->side->records);
	free(o->side);
	o->side = NULL;
}
