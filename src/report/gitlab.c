#include <inttypes.h>

#include "report/parts.h"

/* GitLab's code quality: an array of issues. */

struct gitlab_state {
	bool any;
	struct text path; /* of the present file, with a NUL */
	struct report_prints prints;
};

static void finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	static const char *const severity[] = { "info", "minor", "major" };
	struct gitlab_state *const s = r->state;
	struct text *const t = &r->out;

	text_clear(&s->path);
	report_put_path(&s->path, r->context, file->record->path);
	text_char(&s->path, '\0');
	r->failed |= s->path.failed;
	if (s->path.failed)
		return;
	text_str(t, s->any ? ",\n" : "\n");
	s->any = true;
	text_str(t, "{\"description\":");
	report_put_json(t, f->message);
	text_str(t, ",\"check_name\":");
	report_put_json(t, f->rule->id);
	text_str(t, ",\"fingerprint\":\"");
	r->failed |= !report_put_print(t, &s->prints, s->path.p, f);
	text_printf(t, "\",\"severity\":\"%s\",\"location\":{\"path\":", severity[f->level]);
	report_put_json(t, s->path.p);
	text_printf(t, ",\"lines\":{\"begin\":%" PRIu64 "}}}", f->line > 0 ? f->line : 1);
}

static void begin(struct report *r)
{
	text_char(&r->out, '[');
}

static void end(struct report *r, const struct report_totals *totals)
{
	text_str(&r->out, "]\n");
}

static void free_state(struct report *r)
{
	struct gitlab_state *const s = r->state;

	text_free(&s->path);
	report_prints_free(&s->prints);
}

const struct report_ops report_gitlab = {
	.name = "gitlab",
	.state_size = sizeof(struct gitlab_state),
	.begin = begin,
	.finding = finding,
	.end = end,
	.free = free_state,
};
