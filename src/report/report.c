#include "report/report.h"

#include <stdlib.h>

const struct report_ops *const report_kinds[] = {
	&report_text,  &report_gcc,    &report_json,     &report_ndjson, &report_sarif,
	&report_junit, &report_github, &report_markdown, &report_gitlab, NULL,
};

bool
report_init(struct report *r, const struct report_ops *ops, const struct report_context *context)
{
	*r = (struct report){ .ops = ops, .context = context };
	r->state = calloc(1, ops->state_size > 0 ? ops->state_size : 1);
	return r->state != NULL;
}

void
report_free(struct report *r)
{
	if (r->state != NULL && r->ops->free != NULL)
		r->ops->free(r);
	free(r->state);
	text_free(&r->out);
	*r = (struct report){ .ops = NULL };
}

void
report_begin(struct report *r)
{
	if (r->ops->begin != NULL)
		r->ops->begin(r);
}

void
report_file(struct report *r, const struct report_file *file)
{
	for (size_t i = 0; r->ops->finding != NULL && i < file->nfindings; i++)
		r->ops->finding(r, file, &file->findings[i]);
	if (r->ops->file != NULL)
		r->ops->file(r, file);
}

void
report_end(struct report *r, const struct report_totals *t)
{
	if (r->ops->end != NULL)
		r->ops->end(r, t);
}
