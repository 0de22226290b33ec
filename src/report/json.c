/*
 * JSON: one document (schemas/validate.schema.json), or a line for each finding, file and the sum
 * (schemas/validate-ndjson.schema.json); and the code quality report of GitLab.
 */
#include "report/parts.h"

struct json_state {
	bool any_file;
};

static void put_head(struct json_out *o, const struct file_record *r)
{
	report_put_string(o, "path", r->path);
	report_put_string(o, "format", r->format);
	report_put_string(o, "dialect", r->dialect);
	json_out_u64(o, "records", r->records);
}

static void put_counts(struct json_out *o, const uint64_t *levels, uint64_t left_out)
{
	json_out_begin(o, "counts", "{");
	json_out_u64(o, "error", levels[LEVEL_ERROR]);
	if (levels[LEVEL_LIMIT] > 0)
		json_out_u64(o, "limit", levels[LEVEL_LIMIT]);
	json_out_u64(o, "warning", levels[LEVEL_WARNING]);
	json_out_u64(o, "note", levels[LEVEL_NOTE]);
	json_out_end(o, "}");
	json_out_u64(o, "left_out", left_out);
}

/* Writes a number from 1, or null for 0. */
static void put_position(struct json_out *o, const char *key, uint64_t position)
{
	if (position > 0)
		json_out_u64(o, key, position);
	else
		json_out_null(o, key);
}

static void put_finding(struct json_out *o, const struct finding *f)
{
	report_put_string(o, "rule", f->rule->id);
	report_put_string(o, "level", level_name(f->level));
	json_out_u64(o, "offset", f->offset);
	put_position(o, "line", f->line);
	put_position(o, "column", f->line > 0 ? f->column : 0);
	json_out_u64(o, "record", f->record);
	report_put_string(o, "message", f->message);
}

#define JSON_HEAD "{\"tool\":\"tracetool"

static void begin(struct report *r)
{
	struct json_out o = { .t = &r->out };

	json_out_begin(&o, NULL, "{");
	report_put_string(&o, "tool", r->context->tool); /* see JSON_HEAD */
	json_out_begin(&o, "files", "[");
}

static void file_end(struct report *r, const struct report_file *file)
{
	struct json_state *const s = r->state;
	struct json_out o = { .t = &r->out, .comma = s->any_file };

	s->any_file = true;
	json_out_begin_after(&o, "\n", NULL, "{");
	put_head(&o, file->record);
	json_out_bool(&o, "valid", file->valid);
	json_out_begin(&o, "findings", "[");
	for (struct report_view v = { .n = 0 }; report_next(file, &v);) {
		json_out_begin_after(&o, "\n", NULL, "{");
		put_finding(&o, &v.finding);
		json_out_end(&o, "}");
	}
	json_out_end(&o, "]");
	json_out_space(&o, "\n");
	put_counts(&o, file->levels, file->left_out);
	json_out_u64(&o, "unread_bytes", file->record->unread_bytes);
	json_out_end(&o, "}");
}

static void end(struct report *r, const struct report_totals *totals)
{
	struct json_out o = { .t = &r->out };

	json_out_end(&o, "\n]");
	json_out_space(&o, "\n");
	put_counts(&o, totals->levels, totals->left_out);
	json_out_end(&o, "}\n");
}

const struct report_ops report_json = {
	.name = "json",
	.head = JSON_HEAD,
	.state_size = sizeof(struct json_state),
	.begin = begin,
	.file = file_end,
	.end = end,
};

/* ---- lines ---- */

static void begin_line(struct json_out *o, const char *type)
{
	json_out_begin(o, NULL, "{");
	json_out_string(o, "type", type);
}

static void line_finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	struct json_out o = { .t = &r->out };

	begin_line(&o, "finding");
	report_put_string(&o, "path", file->record->path);
	put_finding(&o, f);
	json_out_end(&o, "}\n");
}

static void line_file(struct report *r, const struct report_file *file)
{
	struct json_out o = { .t = &r->out };

	begin_line(&o, "file");
	put_head(&o, file->record);
	json_out_bool(&o, "valid", file->valid);
	put_counts(&o, file->levels, file->left_out);
	json_out_u64(&o, "unread_bytes", file->record->unread_bytes);
	json_out_end(&o, "}\n");
}

static void line_end(struct report *r, const struct report_totals *totals)
{
	struct json_out o = { .t = &r->out };

	begin_line(&o, "end");
	report_put_string(&o, "tool", r->context->tool);
	json_out_u64(&o, "files", totals->files);
	put_counts(&o, totals->levels, totals->left_out);
	json_out_end(&o, "}\n");
}

const struct report_ops report_ndjson = {
	.name = "ndjson",
	.finding = line_finding,
	.file = line_file,
	.end = line_end,
};

/* ---- GitLab's code quality: an array of issues ---- */

struct gitlab_state {
	bool any;
	struct text path; /* of the current file, with a NUL */
	struct table64 fingerprints;
};

static void gitlab_finding(struct report *r, const struct report_file *file, const struct finding *f)
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
	json_out_begin_after(&o, "\n", NULL, "{");
	report_put_string(&o, "description", f->message);
	report_put_string(&o, "check_name", f->rule->id);
	r->failed |=
	    !report_put_fingerprint(json_out_value(&o, "fingerprint"), &s->fingerprints, s->path.p, f);
	json_out_string(&o, "severity", severity[f->level]);
	json_out_begin(&o, "location", "{");
	report_put_string(&o, "path", s->path.p);
	json_out_begin(&o, "lines", "{");
	json_out_u64(&o, "begin", report_line(f));
	json_out_end(&o, "}}}");
}

static void gitlab_begin(struct report *r)
{
	text_char(&r->out, '[');
}

static void gitlab_end(struct report *r, const struct report_totals *totals)
{
	text_str(&r->out, "]\n");
}

static void gitlab_free(struct report *r)
{
	struct gitlab_state *const s = r->state;

	text_free(&s->path);
	table64_free(&s->fingerprints);
}

const struct report_ops report_gitlab = {
	.name = "gitlab",
	.state_size = sizeof(struct gitlab_state),
	.begin = gitlab_begin,
	.finding = gitlab_finding,
	.end = gitlab_end,
	.free = gitlab_free,
};
