#include "check/report.h"
#include "output/text_json.h"

static void
put_levels(struct text *t, const uint64_t *levels)
{
	text_str(t, "{\"error\":");
	text_u64(t, levels[LEVEL_ERROR]);
	text_str(t, ",\"warning\":");
	text_u64(t, levels[LEVEL_WARNING]);
	text_str(t, ",\"note\":");
	text_u64(t, levels[LEVEL_NOTE]);
	text_char(t, '}');
}

/* A string, or null where there is none. */
static void
put_string(struct text *t, const char *s)
{
	if (s != NULL)
		text_json_string(t, slice_str(s));
	else
		text_str(t, "null");
}

/* A number from 1 on, or null where there is none. */
static void
put_place(struct text *t, const char *key, uint64_t place)
{
	text_str(t, key);
	if (place > 0)
		text_u64(t, place);
	else
		text_str(t, "null");
}

void
report_json_begin(struct report_json *r, const char *tool)
{
	*r = (struct report_json){ .any_file = false };
	text_str(&r->text, "{\"tool\":");
	text_json_string(&r->text, slice_str(tool));
	text_str(&r->text, ",\"files\":[");
}

void
report_json_finding(struct text *t, const struct finding *f)
{
	text_str(t, t->n > 0 ? ",\n" : "\n");
	text_str(t, "{\"rule\":");
	text_json_string(t, slice_str(f->rule->id));
	text_str(t, ",\"level\":");
	text_json_string(t, slice_str(level_name(f->rule->level)));
	text_str(t, ",\"offset\":");
	text_u64(t, f->offset);
	put_place(t, ",\"line\":", f->line);
	put_place(t, ",\"column\":", f->line > 0 ? f->column : 0);
	text_str(t, ",\"record\":");
	text_u64(t, f->record);
	text_str(t, ",\"message\":");
	text_json_string(t, slice_str(f->message));
	text_char(t, '}');
}

void
report_json_file(struct report_json *r, const struct findings *j, const struct report_file *file,
                 const struct text *findings)
{
	struct text *const t = &r->text;

	text_str(t, r->any_file ? ",\n" : "\n");
	r->any_file = true;
	text_str(t, "{\"path\":");
	text_json_string(t, slice_str(file->path));
	text_str(t, ",\"format\":");
	put_string(t, file->format);
	text_str(t, ",\"dialect\":");
	put_string(t, file->dialect);
	text_str(t, ",\"records\":");
	text_u64(t, file->records);
	text_str(t, file->valid ? ",\"valid\":true" : ",\"valid\":false");
	text_str(t, ",\"findings\":[");
	text_add(t, findings->p, findings->n);
	t->failed |= findings->failed;
	text_str(t, "],\n\"counts\":");
	put_levels(t, j->levels);
	text_str(t, ",\"unread_bytes\":");
	text_u64(t, file->unread_bytes);
	text_char(t, '}');
	for (int level = 0; level < LEVEL_COUNT; level++)
		r->levels[level] += j->levels[level];
}

void
report_json_end(struct report_json *r)
{
	text_str(&r->text, "\n],\n\"counts\":");
	put_levels(&r->text, r->levels);
	text_str(&r->text, "}\n");
}
