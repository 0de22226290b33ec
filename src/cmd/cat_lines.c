#include "cmd/cat_lines.h"

#include <inttypes.h>

#include "cmd/event_json.h"
#include "cmd/say.h"
#include "cmd/value_text.h"

#define MOST_COMPARED 256U /* names of fields of one record, each with each */

/* ---- text ---- */

/* Sixteen bytes a line: offset, hexadecimal, letters. */
static void
put_hex(struct text *t, uint64_t offset, struct slice bytes)
{
	for (uint32_t from = 0; from < bytes.n; from += 16) {
		const uint32_t n = bytes.n - from < 16 ? bytes.n - from : 16;
		text_printf(t, "    %08" PRIx64 " ", offset + from);
		for (uint32_t i = 0; i < 16; i++)
			if (i < n)
				text_printf(t, " %02x", (unsigned char)bytes.p[from + i]);
			else
				text_str(t, "   ");
		text_str(t, "  ");
		for (uint32_t i = 0; i < n; i++) {
			const char c = bytes.p[from + i];
			text_char(t, c >= ' ' && c < 0x7f ? c : '.');
		}
		text_char(t, '\n');
	}
}

static void
put_event(struct text *t, const struct batch *b, const struct event *e)
{
	text_printf(t, "@%" PRIu64 " %s ", e->offset, event_kind(e));
	value_text_word(t, e->cls->name);
	text_printf(t, " ts=%" PRIu64, e->ts);
	if (e->phase == PHASE_SPAN)
		text_printf(t, " dur=%" PRIu64, e->dur);
	if (e->phase != PHASE_STRUCTURE) {
		text_str(t, " track=");
		value_text_word(t, e->track->name);
		text_str(t, " name=");
		value_text_word(t, e->name);
	}
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		text_char(t, ' ');
		value_text_word(t, f->name);
		text_char(t, '=');
		value_text_put(t, &f->value);
	}
	text_char(t, '\n');
}

void
cat_text_record(struct text *t, const struct batch *b, uint32_t i, bool hex)
{
	put_event(t, b, &b->events[i]);
	if (hex)
		put_hex(t, b->events[i].offset, b->bytes[i]);
}

void
cat_text_input(struct text *t, const char *path, const char *format)
{
	struct shown_path shown;

	text_printf(t, "# %s (%s)\n", show_path(&shown, path), format);
}

/* ---- JSON ---- */

static const char *
type_word(const struct value *v)
{
	static const char *const words[] = {
		[VALUE_NONE] = "none", [VALUE_BOOL] = "bool",       [VALUE_U8] = "u8",
		[VALUE_U16] = "u16",   [VALUE_U32] = "u32",         [VALUE_U64] = "u64",
		[VALUE_I8] = "i8",     [VALUE_I16] = "i16",         [VALUE_I32] = "i32",
		[VALUE_I64] = "i64",   [VALUE_F32] = "f32",         [VALUE_F64] = "f64",
		[VALUE_LIST] = "list", [VALUE_ADDRESS] = "address", [VALUE_STRING] = "string",
		[VALUE_MAP] = "map",   [VALUE_BYTES] = "bytes",     [VALUE_JSON] = "json",
	};

	return words[v->type];
}

/* Whether the JSON of a value does not tell its type. */
static bool
must_say(const struct value *v)
{
	switch ((enum value_type)v->type) {
	case VALUE_NONE:
	case VALUE_BOOL:
	case VALUE_U64:
	case VALUE_F64:
	case VALUE_STRING:
	case VALUE_LIST:
	case VALUE_MAP:
		return false;
	case VALUE_I64:
		return v->i64 >= 0;
	default:
		return true;
	}
}

static bool
is_repeated(const struct field *f, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (slice_equal(f[i].name, f[n].name))
			return true;
	return false;
}

/* In the order of the record: an object, or a list of pairs if names are repeated. */
static void
put_fields(struct text *t, const struct field *f, uint32_t n, struct fields_json_lost *lost)
{
	bool pairs = false, any = false;

	if (n == 0)
		return;
	for (uint32_t i = 1; i < n && i < MOST_COMPARED && !pairs; i++)
		pairs = is_repeated(f, i);
	pairs |= n > MOST_COMPARED;
	text_str(t, pairs ? ",\"pairs\":[" : ",\"args\":{");
	for (uint32_t i = 0; i < n; i++) {
		text_str(t, i > 0 ? "," : "");
		text_str(t, pairs ? "[" : "");
		lost->bad_text += text_json_string(t, f[i].name) > 0;
		text_char(t, pairs ? ',' : ':');
		fields_json_value(t, &f[i].value, lost);
		text_str(t, pairs ? "]" : "");
	}
	text_str(t, pairs ? "]" : "}");
	for (uint32_t i = 0; i < n && !pairs; i++) {
		if (!must_say(&f[i].value))
			continue;
		text_str(t, any ? "," : ",\"types\":{");
		any = true;
		(void)text_json_string(t, f[i].name);
		text_printf(t, ":\"%s\"", type_word(&f[i].value));
	}
	text_str(t, any ? "}" : "");
}

static void
put_bytes(struct text *t, struct slice bytes)
{
	static const char digits[] = "0123456789abcdef";

	text_str(t, ",\"bytes\":\"");
	char *p = text_room(t, 2 * (size_t)bytes.n);
	if (p == NULL)
		return;
	for (uint32_t i = 0; i < bytes.n; i++) {
		*p++ = digits[(unsigned char)bytes.p[i] >> 4];
		*p++ = digits[(unsigned char)bytes.p[i] & 15];
	}
	t->n += 2 * (size_t)bytes.n;
	text_char(t, '"');
}

void
cat_json_record(struct text *t, const struct batch *b, uint32_t i, bool hex)
{
	const struct event *const e = &b->events[i];
	struct fields_json_lost lost = { .bad_text = 0 };

	text_char(t, '{');
	event_json(t, e, &lost);
	text_str(t, ",\"class\":");
	lost.bad_text += text_json_string(t, e->cls->name) > 0;
	put_fields(t, &b->fields[e->first_field], e->nfields, &lost);
	if (fields_json_lost_any(&lost))
		text_str(t, ",\"inexact\":true");
	if (hex)
		put_bytes(t, b->bytes[i]);
	text_str(t, "}\n");
}

void
cat_json_input(struct text *t, const char *path, const char *format)
{
	text_str(t, "{\"input\":");
	text_json_string(t, slice_str(path));
	text_str(t, ",\"format\":");
	text_json_string(t, slice_str(format));
	text_str(t, "}\n");
}
