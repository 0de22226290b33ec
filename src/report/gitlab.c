#include "report/parts.h"

/* GitLab's code quality: an array of issues. */

struct gitlab_state {
	bool any;
	struct text path; /* of the present file, with a NUL */
	struct report_prints prints;
};

static void finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	static const char *const severity[LEVEL_COUNT] = { "info", "minor", "minor", "major" };
	struct gitlab_state *const s = r->state;
	struct json_out o = { .t = &r->out, .comma = s->any };

	text_clear(&s->path);
	report_put_path(&s->path, r->context, file->record->path);
	text_char(&s->path, '\0');
	r->failed |= s->path.failed;
	if (s->path.failed)
		return;
	s->any = true;
	json_out_space(&o, "\n");
	json_out_begin(&o, NULL, "{");
	report_put_string(&o, "description", f->message);
	report_put_string(&o, "check_name", f->rule->id);
	r->failed |= !report_put_print(json_out_value(&o, "fingerprint"), &s->prints, s->path.p, f);
	json_out_string(&o, "severity", severity[f->level]);
	json_out_begin(&o, "location", "{");
	report_put_string(&o, "path", s->path.p);
	json_out_begin(&o, "lines", "{");
	json_out_u64(&o, "begin", f->line > 0 ? f->line : 1);
	json_out_end(&o, "}}}");
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
