#include "heph/write.h"

#include "format/fields_json.h"
#include "heph/own.h"
#include "output/text_numbers.h"

/*
 * Fields as attributes.  Heph has integers and floats of 64 bits, texts, and
 * arrays of these.  What a field is more than that, an attribute tells in words,
 * one for each field: "u8,,[bool]".
 */

/* The type of Heph that holds each; 0: none does. */
static const uint8_t held_as[VALUE_JSON + 1] = {
	[VALUE_BOOL] = HEPH_UNSIGNED, [VALUE_U8] = HEPH_UNSIGNED,  [VALUE_U16] = HEPH_UNSIGNED,
	[VALUE_U32] = HEPH_UNSIGNED,  [VALUE_U64] = HEPH_UNSIGNED, [VALUE_I8] = HEPH_SIGNED,
	[VALUE_I16] = HEPH_SIGNED,    [VALUE_I32] = HEPH_SIGNED,   [VALUE_I64] = HEPH_SIGNED,
	[VALUE_F32] = HEPH_FLOAT,     [VALUE_F64] = HEPH_FLOAT,    [VALUE_ADDRESS] = HEPH_UNSIGNED,
	[VALUE_STRING] = HEPH_STRING,
};

/* Whether an attribute says it all. */
static bool
is_plain(uint8_t type)
{
	return type == VALUE_U64 || type == VALUE_I64 || type == VALUE_F64 || type == VALUE_STRING;
}

/* The word for the next field, unless it needs none. */
static void
add_word(struct hpw_packet *k, uint8_t type, bool list)
{
	struct text *const t = &k->st->types;

	if (is_plain(type))
		return;
	for (; k->ntypes < k->nfields; k->ntypes++)
		text_char(t, ',');
	if (list)
		text_char(t, '[');
	text_slice(t, heph_own_types[type]);
	if (list)
		text_char(t, ']');
}

void
hpw_types(struct hpw_packet *k)
{
	struct text *const t = &k->st->types;

	k->text->failed |= t->failed;
	if (t->n == 0 || t->failed)
		return;
	if (t->n > HPW_MOST_TEXT) { /* no part of a word */
		for (t->n = HPW_MOST_TEXT; t->p[t->n] != ','; t->n--)
			;
		hpw_lose(k, HPW_TYPES_CUT);
	}
	hpw_text_attribute(k, HEPH_OWN_TYPES, (struct slice){ t->p, (uint32_t)t->n, SLICE_UTF8 });
}

/* ---- names ---- */

static void
put_name(struct hpw_packet *k, struct slice name)
{
	struct text *const t = &k->st->scratch;

	if (!heph_is_own(name)) {
		hpw_text(k, name);
		return;
	}
	text_clear(t);
	text_str(t, HEPH_OWN_ESCAPE);
	text_slice(t, name);
	k->text->failed |= t->failed;
	if (!t->failed)
		hpw_text(k, slice_of(t->p, t->n));
}

/* ---- values ---- */

/* A value that Heph has no type for, as text.  false: it was cut. */
static bool
put_as_text(struct hpw_packet *k, const struct value *v)
{
	struct text *const t = &k->st->scratch;
	struct fields_json_lost lost = { .bad_text = 0 };

	text_clear(t);
	if (v->type == VALUE_BYTES)
		text_hex(t, v->p, v->count);
	else if (v->type == VALUE_NONE)
		text_str(t, "null");
	else if (v->type == VALUE_JSON)
		text_add(t, v->p, v->count);
	else
		fields_json_value(t, v, &lost);
	k->text->failed |= t->failed;
	hpw_number(k, HEPH_STRING, 1);
	if (t->failed)
		return false;
	const bool whole = t->n <= HPW_MOST_TEXT;
	if (v->type == VALUE_BYTES && !whole) {
		t->n = HPW_MOST_TEXT - 1; /* whole bytes */
		hpw_lose(k, HPW_TEXT_CUT);
	}
	hpw_text(k, slice_of(t->p, t->n));
	if (v->type == VALUE_LIST || v->type == VALUE_MAP)
		hpw_lose(k, HPW_VALUE_AS_TEXT);
	return whole || v->type == VALUE_BYTES;
}

/* The type of an array that holds the list; 0: none does. */
static uint8_t
array_type(const struct value *v)
{
	const uint8_t type = held_as[v->element];

	if (v->count == 0 && type == 0 && v->element == VALUE_NONE)
		return HEPH_ARRAY | HEPH_UNSIGNED;
	for (uint32_t i = 0; i < v->count; i++)
		if (v->values[i].type != v->element)
			return 0;
	return type != 0 ? HEPH_ARRAY | type : 0;
}

/* false: there is no room for so many values. */
static bool
put_array(struct hpw_packet *k, const struct value *v, uint8_t type)
{
	const uint32_t n = v->count < HPW_MOST_TEXT ? v->count : HPW_MOST_TEXT;

	if (n > HEPH_MAX_ELEMENTS - k->nelements)
		return false;
	if (n < v->count)
		hpw_lose(k, HPW_TEXT_CUT);
	k->nelements += n;
	hpw_number(k, type, 1);
	hpw_number(k, n, 2);
	for (uint32_t i = 0; i < n && k->text->n - k->start <= HPW_MOST_ARGS; i++)
		if (v->element == VALUE_STRING)
			hpw_text(k, value_text(&v->values[i]));
		else
			hpw_number(k, v->values[i].u64, 8);
	return true;
}

/* false: there is no room. */
static bool
put_value(struct hpw_packet *k, const struct value *v)
{
	const uint8_t type = held_as[v->type], array = v->type == VALUE_LIST ? array_type(v) : 0;

	if (type == HEPH_STRING) {
		hpw_number(k, type, 1);
		hpw_text(k, value_text(v));
	} else if (type != 0) {
		hpw_number(k, type, 1);
		hpw_number(k, v->u64, 8);
	} else if (array != 0) {
		return put_array(k, v, array);
	} else {
		const bool nested = v->type == VALUE_LIST || v->type == VALUE_MAP;
		add_word(k, put_as_text(k, v) ? (nested ? VALUE_JSON : v->type) : VALUE_STRING, false);
		return true;
	}
	return true;
}

void
hpw_field(struct hpw_packet *k, struct slice name, const struct value *v)
{
	struct text *const t = k->text, *const types = &k->st->types;
	const size_t before = t->n, types_before = types->n;
	const uint32_t ntypes = k->ntypes;

	if (k->nfields < HPW_MOST_FIELDS) {
		put_name(k, name);
		const bool fits = put_value(k, v);
		if (fits && t->n - k->start <= HPW_MOST_ARGS) {
			if (held_as[v->type] != 0)
				add_word(k, v->type, false);
			else if (v->type == VALUE_LIST && array_type(v) != 0)
				add_word(k, v->element, true);
			k->nfields++;
			return;
		}
	}
	t->n = before;
	types->n = types_before;
	k->ntypes = ntypes;
	hpw_lose(k, HPW_FIELDS_LEFT_OUT);
}
