/* Encoder and decoder of words: pairs of an event, escaped names, types of values.  Unknown or mismatching
 * pairs are ignored, as other programs may write the same names. */
#include "out/words.h"

#include "base/numbers.h"
#include "base/scan.h"
#include "json/token.h"
#include "model/value.h"
#include "out/kind.h"

#define ESCAPE WORDS_PREFIX "field."
#define JSON_DEPTH 100U /* max nesting of text parsed as JSON */

const struct slice word_names[WORDS] = {
#define ROW(word, name, type) [WORD_##word] = SLICE_LIT(WORDS_PREFIX name),
	WORD_ROWS(ROW)
#undef ROW
};

static const uint8_t word_types[WORDS] = {
#define ROW(word, name, type) [WORD_##word] = (type),
	WORD_ROWS(ROW)
#undef ROW
};

/* ---- pairs of an event ---- */

void words_of_event(struct words *w, const struct event *e)
{
	const enum event_kind kind = event_kind(e);

	*w = (struct words){ .of[WORD_CLASS] = value_string(e->cls->name) };
	if (!slice_equal(e->cls->category, e->cls->name))
		w->of[WORD_CATEGORY] = value_string(e->cls->category);
	if (kind != EVENT_KIND_SPAN)
		w->of[WORD_KIND] = value_string(event_kind_row(kind)->names[KIND_WORDS]);
	if (event_is_flow(e))
		w->of[WORD_ARROW] = value_u64(e->dur);
	else if (e->phase != PHASE_SPAN && event_has_duration(e))
		w->of[WORD_DURATION] = value_u64(e->dur);
}

bool words_read(struct words *w, struct slice name, const struct value *v)
{
	if (!word_is_own(name))
		return false;
	for (unsigned i = 0; i < WORDS_OF_EVENT; i++)
		if (v->type == word_types[i] && slice_equal(name, word_names[i])) {
			w->of[i] = *v;
			return true;
		}
	return false;
}

void words_apply(const struct words *w, struct event *e)
{
	const enum event_kind kind = event_kind_named(value_text(&w->of[WORD_KIND]), KIND_WORDS);

	if (kind != EVENT_KINDS)
		event_set_kind(e, kind);
	if (event_is_flow(e))
		e->dur = w->of[WORD_ARROW].u64;
	else if (e->phase != PHASE_SPAN)
		e->dur = w->of[WORD_DURATION].u64;
}

/* ---- names of fields ---- */

void words_escape(struct text *t, struct slice name)
{
	text_str(t, ESCAPE);
	text_slice(t, name);
}

struct slice words_unescape(struct slice name)
{
	const uint32_t n = sizeof ESCAPE - 1;

	if (name.n <= n || memcmp(name.p, ESCAPE, n) != 0)
		return name;
	return (struct slice){ name.p + n, name.n - n, name.flags };
}

/* ---- types of values ---- */

static bool hex_to_bytes(struct value *v, struct arena *a)
{
	char *const to = arena_alloc(a, v->count / 2);

	if (to == NULL || !hex_bytes(to, value_text(v)))
		return false;
	*v = (struct value){ .type = VALUE_BYTES, .count = v->count / 2, .p = to };
	return true;
}

static bool text_fits(const struct value *v, unsigned type)
{
	size_t at;

	if (type == VALUE_NONE)
		return slice_is(value_text(v), "null");
	return type == VALUE_JSON && v->count > 0 &&
	       json_document_fault(v->p, v->count, JSON_DEPTH, &at) == NULL;
}

static bool number_fits(const struct value *v, unsigned type)
{
	static const uint8_t bits[] = {
		[VALUE_BOOL] = 1, [VALUE_U8] = 8,   [VALUE_U16] = 16, [VALUE_U32] = 32,
		[VALUE_I8] = 8,   [VALUE_I16] = 16, [VALUE_I32] = 32
	};

	if (type == VALUE_ADDRESS)
		return v->type == VALUE_U64;
	if (type == VALUE_F32)
		return v->type == VALUE_F64 && (v->f64 != v->f64 || (double)(float)v->f64 == v->f64);
	if (type >= VALUE_I8 && type <= VALUE_I32)
		return v->type == VALUE_I64 && v->i64 >> (bits[type] - 1) == v->i64 >> 63;
	return type >= VALUE_BOOL && type <= VALUE_U32 && v->type == VALUE_U64 && v->u64 >> bits[type] == 0;
}

bool words_restore(struct value *v, unsigned type, struct arena *a)
{
	if (v->type == VALUE_STRING && type == VALUE_BYTES)
		return hex_to_bytes(v, a);
	if (v->type == VALUE_BYTES && type == VALUE_STRING) {
		*v = value_string(textscan_slice(v->p, v->count));
		return true;
	}
	if (!(v->type == VALUE_STRING ? text_fits(v, type) : number_fits(v, type)))
		return false;
	v->type = (uint8_t)type;
	v->flags = 0;
	return true;
}

/* ---- lists of types ---- */

void words_add_type(struct word_types *to, uint32_t field, unsigned type, bool list)
{
	struct text *const t = &to->text;

	for (; to->n < field; to->n++)
		text_char(t, ',');
	if (list)
		text_char(t, '[');
	text_str(t, value_type_name(type));
	if (list)
		text_char(t, ']');
}

/* Converts all elements of a list to a type, or none. */
static void restore_elements(struct value *v, unsigned type, struct arena *a)
{
	if (v->type != VALUE_LIST || (type == VALUE_NONE && v->count > 0))
		return;
	struct value *const values = arena_alloc(a, v->count * sizeof *values);
	if (values == NULL)
		return;
	for (uint32_t i = 0; i < v->count; i++) {
		values[i] = v->values[i];
		if (!words_restore(&values[i], type, a))
			return;
	}
	v->element = (uint8_t)type;
	v->values = values;
}

void words_restore_types(struct slice types, struct field *f, uint32_t n, struct arena *a)
{
	if (types.n == 0)
		return;
	const char *p = types.p, *const end = p + types.n;
	for (uint32_t i = 0; i < n && p < end; i++) {
		const char *const comma = memchr(p, ',', (size_t)(end - p));
		const char *const stop = comma != NULL ? comma : end;
		const bool list = stop - p > 2 && *p == '[' && stop[-1] == ']';
		const unsigned type =
		    value_type_named(slice_of(p + list, (size_t)(stop - p) - 2 * (size_t)list));
		if (list && type < VALUE_TYPES && type != VALUE_LIST)
			restore_elements(&f[i].value, type, a);
		else if (type < VALUE_TYPES && type != VALUE_LIST)
			(void)words_restore(&f[i].value, type, a);
		p = stop + 1;
	}
}
