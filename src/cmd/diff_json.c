#include <inttypes.h>

#include "cmd/diff_report.h"
#include "cmd/event_json.h"
#include "format/fields_json.h"
#include "output/text_numbers.h"

/* The report for programs: diff.schema.json. */

static void
put_string(struct text *t, const char *before, struct slice s)
{
	text_str(t, before);
	text_json_string(t, s);
}

static void
put_u64(struct text *t, const char *before, uint64_t v)
{
	text_str(t, before);
	text_u64(t, v);
}

static void
begin(struct text *t, const struct diff_view *v)
{
	text_str(t, "{\"tool\":");
	text_json_string(t, slice_str(TOOL_NAME));
	put_string(t, ",\n \"a\":", slice_str(v->paths[DIFFER_A]));
	put_string(t, ",\n \"b\":", slice_str(v->paths[DIFFER_B]));
	put_u64(t, ",\n \"tolerance_ns\":", v->differ->rules.tolerance);
	text_str(t, ",\n \"differences\":[");
}

static void
put_event(struct text *t, const char *before, const struct event *e)
{
	struct fields_json_lost lost = { 0 };

	text_str(t, before);
	if (e == NULL) {
		text_str(t, "null");
		return;
	}
	text_char(t, '{');
	event_json(t, e, &lost);
	text_char(t, '}');
}

struct put_fields {
	struct text *t;
	bool any;
};

static void
put_field(void *ctx, struct slice name, const struct value *a, const struct value *b)
{
	struct put_fields *const p = ctx;
	struct fields_json_lost lost = { 0 };

	put_string(p->t, p->any ? ",{\"name\":" : "{\"name\":", name);
	p->any = true;
	if (a != NULL) {
		text_str(p->t, ",\"a\":");
		fields_json_value(p->t, a, &lost);
	}
	if (b != NULL) {
		text_str(p->t, ",\"b\":");
		fields_json_value(p->t, b, &lost);
	}
	text_char(p->t, '}');
}

static void
put_parts(struct text *t, unsigned parts)
{
	static const struct {
		unsigned part;
		const char *word;
	} words[] = {
		{ PART_TIME, "time" },         { PART_DURATION, "dur" }, { PART_PHASE, "kind" },
		{ PART_NAME, "name" },         { PART_FIELDS, "args" },  { PART_TRACK, "track" },
		{ PART_CATEGORY, "category" },
	};
	bool any = false;

	text_str(t, ",\"parts\":[");
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if ((parts & words[i].part) != 0) {
			text_printf(t, "%s\"%s\"", any ? "," : "", words[i].word);
			any = true;
		}
	text_char(t, ']');
}

static bool
difference(struct text *t, const struct diff_view *v, const struct difference *d)
{
	const struct event *const a = difference_event(d, DIFFER_A), *const b = difference_event(d, DIFFER_B);
	struct put_fields fields = { t, false };
	bool ok = true;

	text_printf(t, "%s\n  {\"change\":\"%s\"", v->shown > 0 ? "," : "",
	            a == NULL   ? "only_b"
	            : b == NULL ? "only_a"
	                        : "changed");
	put_event(t, ",\"a\":", a);
	put_event(t, ",\"b\":", b);
	put_parts(t, d->parts);
	text_str(t, ",\"args\":[");
	if ((d->parts & PART_FIELDS) != 0)
		ok = field_differences(d, &v->differ->rules, put_field, &fields);
	text_str(t, "]}");
	return ok;
}

static void
put_row(struct text *t, const struct by_name_row *r, bool first)
{
	put_string(t, first ? "\n  {\"name\":" : ",\n  {\"name\":", r->name);
	put_u64(t, ",\"events_a\":", r->events[DIFFER_A]);
	put_u64(t, ",\"events_b\":", r->events[DIFFER_B]);
	put_u64(t, ",\"only_a\":", r->only[DIFFER_A]);
	put_u64(t, ",\"only_b\":", r->only[DIFFER_B]);
	put_u64(t, ",\"changed\":", r->changed);
	text_str(t, ",\"dur_ns_a\":");
	text_u128(t, r->dur[DIFFER_A]);
	text_str(t, ",\"dur_ns_b\":");
	text_u128(t, r->dur[DIFFER_B]);
	text_char(t, '}');
}

static void
end(struct text *t, const struct diff_view *v)
{
	const struct differ *const d = v->differ;
	bool first = true;

	text_printf(t, "],\n \"complete\":%s", v->complete ? "true" : "false");
	put_u64(t, ",\n \"events_a\":", d->sides[DIFFER_A].events);
	put_u64(t, ",\"events_b\":", d->sides[DIFFER_B].events);
	put_u64(t, ",\"same\":", d->same);
	put_u64(t, ",\"changed\":", d->changed);
	put_u64(t, ",\"only_a\":", d->only[DIFFER_A]);
	put_u64(t, ",\"only_b\":", d->only[DIFFER_B]);
	put_u64(t, ",\"times_full\":", d->full);
	text_str(t, ",\n \"names\":[");
	for (uint32_t i = 0; i < d->names->n; i++) {
		const struct by_name_row *const r = &d->names->rows[i];
		if ((r->only[DIFFER_A] | r->only[DIFFER_B] | r->changed) == 0)
			continue;
		put_row(t, r, first);
		first = false;
	}
	text_str(t, "]}\n");
}

const struct diff_form diff_json = { begin, difference, end };
