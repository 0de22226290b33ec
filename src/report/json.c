#include "report/parts.h"

/* JSON: one document (schemas/validate.schema.json), or a line for each finding, file and the sum
 * (schemas/validate-ndjson.schema.json). */

struct json_state {
	bool any_file;
};

/* A string, or null. */
static void put_string(struct text *t, const char *s)
{
	if (s != NULL)
		report_put_json(t, s);
	else
		text_str(t, "null");
}

static void put_number(struct text *t, const char *key, uint64_t n)
{
	text_str(t, key);
	text_u64(t, n);
}

static void put_head(struct text *t, const struct file_record *r)
{
	text_str(t, "\"path\":");
	report_put_json(t, r->path);
	text_str(t, ",\"format\":");
	put_string(t, r->format);
	text_str(t, ",\"dialect\":");
	put_string(t, r->dialect);
	put_number(t, ",\"records\":", r->records);
}

static void put_tail(struct text *t, const struct report_file *file)
{
	text_str(t, "\"counts\":");
	report_put_levels(t, file->levels);
	put_number(t, ",\"left_out\":", file->left_out);
	put_number(t, ",\"unread_bytes\":", file->record->unread_bytes);
	text_char(t, '}');
}

static void put_totals(struct text *t, const struct report_totals *totals)
{
	text_str(t, "\"counts\":");
	report_put_levels(t, totals->levels);
	put_number(t, ",\"left_out\":", totals->left_out);
}

#define JSON_HEAD "{\"tool\":\"tracetool"

static void begin(struct report *r)
{
	text_str(&r->out, "{\"tool\":");
	report_put_json(&r->out, r->context->tool); /* see JSON_HEAD */
	text_str(&r->out, ",\"files\":[");
}

static void file_end(struct report *r, const struct report_file *file)
{
	struct json_state *const s = r->state;
	struct text *const t = &r->out;

	text_str(t, s->any_file ? ",\n{" : "\n{");
	s->any_file = true;
	put_head(t, file->record);
	text_str(t, file->valid ? ",\"valid\":true" : ",\"valid\":false");
	text_str(t, ",\"findings\":[");
	for (size_t i = 0; i < file->nfindings; i++) {
		text_str(t, i > 0 ? ",\n{" : "\n{");
		report_put_finding(t, &file->findings[i]);
		text_char(t, '}');
	}
	text_str(t, "],\n");
	put_tail(t, file);
}

static void end(struct report *r, const struct report_totals *totals)
{
	text_str(&r->out, "\n],\n");
	put_totals(&r->out, totals);
	text_str(&r->out, "}\n");
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

static void line_finding(struct report *r, const struct report_file *file, const struct finding *f)
{
	text_str(&r->out, "{\"type\":\"finding\",\"path\":");
	report_put_json(&r->out, file->record->path);
	text_char(&r->out, ',');
	report_put_finding(&r->out, f);
	text_str(&r->out, "}\n");
}

static void line_file(struct report *r, const struct report_file *file)
{
	text_str(&r->out, "{\"type\":\"file\",");
	put_head(&r->out, file->record);
	text_str(&r->out, file->valid ? ",\"valid\":true," : ",\"valid\":false,");
	put_tail(&r->out, file);
	text_char(&r->out, '\n');
}

static void line_end(struct report *r, const struct report_totals *totals)
{
	text_str(&r->out, "{\"type\":\"end\",\"tool\":");
	report_put_json(&r->out, r->context->tool);
	put_number(&r->out, ",\"files\":", totals->files);
	text_char(&r->out, ',');
	put_totals(&r->out, totals);
	text_str(&r->out, "}\n");
}

const struct report_ops report_ndjson = {
	.name = "ndjson",
	.finding = line_finding,
	.file = line_file,
	.end = line_end,
};
