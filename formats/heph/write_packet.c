/*
 * Packets of the writer of events: numbers, texts and attributes, and fields as attributes.
 *
 * Heph has integers and floats of 64 bits, texts, and arrays of these.  An attribute of tracetool states the
 * exact types of the fields, one item each: "u8,,[bool]".  A packet is written in place into the chunk; what
 * does not fit is counted as a loss.
 */
#include <stdlib.h>

#include "base/scan.h"
#include "base/utf8.h"
#include "format/fields_json.h"
#include "heph/heph.h"
#include "model/value.h"
#include "output/text_units.h"
#include "output/text_json.h"

/* ---- packets, texts, attributes ---- */

#define MAX_ARGS (7U << 18) /* bytes of a packet up to the last field of an event */
#define MAX_FIELDS 64000U   /* of one event */

void hpw_lose(struct hpw_packet *k, enum hpw_loss loss)
{
	ledger_add(k->ledger, &hpw_losses[loss], k->offset, 1);
	k->lost = true;
}

void hpw_number(struct hpw_packet *k, uint64_t v, unsigned size)
{
	char *const p = text_reserve(k->text, size);

	if (p != NULL) {
		hpw_store(p, v, size);
		k->text->n += size;
	}
}

/* Adds a text that is too long, or that may not be UTF-8. */
static void put_checked_text(struct hpw_packet *k, struct slice s)
{
	struct text *const t = k->text;
	size_t n = utf8_cut(s.p, s.n, HPW_MAX_TEXT);
	bool cut = n < s.n;

	s.n = (uint32_t)n;
	hpw_number(k, 0, 2);
	const size_t start = t->n;
	if (text_utf8(t, s) > 0)
		hpw_lose(k, HPW_TEXT_REPLACED);
	if (t->failed)
		return;
	n = utf8_cut(t->p + start, t->n - start, HPW_MAX_TEXT);
	cut |= n < t->n - start;
	t->n = start + n;
	hpw_store(t->p + start - 2, n, 2);
	if (cut)
		hpw_lose(k, HPW_TEXT_CUT);
}

void hpw_text(struct hpw_packet *k, struct slice s)
{
	struct text *const t = k->text;

	if ((s.flags & SLICE_UTF8) == 0 || s.n > HPW_MAX_TEXT) {
		put_checked_text(k, s);
		return;
	}
	char *const p = text_reserve(t, (size_t)s.n + 2);
	if (p == NULL)
		return;
	hpw_store(p, s.n, 2);
	if (s.n > 0)
		memcpy(p + 2, s.p, s.n);
	t->n += (size_t)s.n + 2;
}

void hpw_attribute(struct hpw_packet *k, struct slice name, const struct value *v)
{
	const bool text = v->type == VALUE_STRING;

	hpw_text(k, name);
	hpw_number(k, text ? HEPH_STRING : HEPH_UNSIGNED, 1);
	if (text)
		hpw_text(k, value_text(v));
	else
		hpw_number(k, v->u64, 8);
}

struct hpw_packet hpw_begin_option(struct hpw_state *st, struct chunk *chunk, const char *name,
                                   uint64_t offset)
{
	struct hpw_packet k = { .st = st,
		                .text = &chunk->text,
		                .ledger = &chunk->ledger,
		                .offset = offset,
		                .start = chunk->text.n };

	hpw_clear_types(st);
	hpw_number(&k, HEPH_MAGIC_METADATA, 4);
	hpw_number(&k, 0, 4);
	hpw_text(&k, slice_str(name));
	return k;
}

void hpw_finish(struct hpw_packet *k)
{
	struct text *const t = k->text;

	if (!t->failed)
		hpw_store(t->p + k->start + HPW_AT_SIZE, t->n - k->start, 4);
}

/* ---- fields ---- */

/* The type of Heph that a value is written as, by enum value_type; 0: it has none. */
static const uint8_t held_as[VALUE_JSON + 1] = {
	[VALUE_BOOL] = HEPH_UNSIGNED, [VALUE_U8] = HEPH_UNSIGNED,  [VALUE_U16] = HEPH_UNSIGNED,
	[VALUE_U32] = HEPH_UNSIGNED,  [VALUE_U64] = HEPH_UNSIGNED, [VALUE_I8] = HEPH_SIGNED,
	[VALUE_I16] = HEPH_SIGNED,    [VALUE_I32] = HEPH_SIGNED,   [VALUE_I64] = HEPH_SIGNED,
	[VALUE_F32] = HEPH_FLOAT,     [VALUE_F64] = HEPH_FLOAT,    [VALUE_ADDRESS] = HEPH_UNSIGNED,
	[VALUE_STRING] = HEPH_STRING,
};

/* Whether the type of Heph determines that of the value. */
static bool is_plain(uint8_t type)
{
	return type == VALUE_U64 || type == VALUE_I64 || type == VALUE_F64 || type == VALUE_STRING;
}

/* Adds the exact type of the next field, unless Heph has it. */
static void add_type(struct hpw_packet *k, uint8_t type, bool list)
{
	if (!is_plain(type))
		words_add_type(&k->st->types, k->nfields, type, list);
}

void hpw_types(struct hpw_packet *k)
{
	struct text *const t = &k->st->types.text;

	k->text->failed |= t->failed;
	if (t->n == 0 || t->failed)
		return;
	if (t->n > HPW_MAX_TEXT) { /* cut between types */
		for (t->n = HPW_MAX_TEXT; t->p[t->n] != ','; t->n--)
			;
		hpw_lose(k, HPW_TYPES_CUT);
	}
	const struct value v = value_string((struct slice){ t->p, (uint32_t)t->n, SLICE_UTF8 });
	hpw_attribute(k, word_names[WORD_TYPES], &v);
}

static void put_name(struct hpw_packet *k, struct slice name)
{
	struct text *const t = &k->st->scratch;

	if (!word_is_own(name)) {
		hpw_text(k, name);
		return;
	}
	text_clear(t);
	words_escape(t, name);
	k->text->failed |= t->failed;
	if (!t->failed)
		hpw_text(k, slice_of(t->p, t->n));
}

/* Adds a value that Heph has no type for as text.  Returns false if it was cut. */
static bool put_as_text(struct hpw_packet *k, const struct value *v)
{
	struct text *const t = &k->st->scratch;
	struct fields_json_lost lost = { .bad_text = 0 };

	text_clear(t);
	if (v->type == VALUE_BYTES)
		text_hex(t, v->p, v->count);
	else if (v->type == VALUE_JSON)
		text_add(t, v->p, v->count);
	else
		fields_json_value(t, v, &lost);
	k->text->failed |= t->failed;
	hpw_number(k, HEPH_STRING, 1);
	if (t->failed)
		return false;
	const bool whole = t->n <= HPW_MAX_TEXT;
	if (v->type == VALUE_BYTES && !whole) {
		t->n = HPW_MAX_TEXT - 1; /* whole bytes */
		hpw_lose(k, HPW_TEXT_CUT);
	}
	hpw_text(k, slice_of(t->p, t->n));
	if (v->type == VALUE_LIST || v->type == VALUE_MAP)
		hpw_lose(k, HPW_VALUE_AS_TEXT);
	return whole || v->type == VALUE_BYTES;
}

/* Returns the type of an array for the list; 0: no array can hold it. */
static uint8_t array_type(const struct value *v)
{
	const uint8_t type = held_as[v->element];

	if (v->count == 0 && type == 0 && v->element == VALUE_NONE)
		return HEPH_ARRAY | HEPH_UNSIGNED;
	for (uint32_t i = 0; i < v->count; i++)
		if (v->values[i].type != v->element)
			return 0;
	return type != 0 ? HEPH_ARRAY | type : 0;
}

/* Returns false if there is no space for so many values. */
static bool put_array(struct hpw_packet *k, const struct value *v, uint8_t type)
{
	const uint32_t n = v->count < HPW_MAX_TEXT ? v->count : HPW_MAX_TEXT;

	if (n > HEPH_MAX_ELEMENTS - k->nelements)
		return false;
	if (n < v->count)
		hpw_lose(k, HPW_TEXT_CUT);
	k->nelements += n;
	hpw_number(k, type, 1);
	hpw_number(k, n, 2);
	for (uint32_t i = 0; i < n && k->text->n - k->start <= MAX_ARGS; i++)
		if (v->element == VALUE_STRING)
			hpw_text(k, value_text(&v->values[i]));
		else
			hpw_number(k, v->values[i].u64, 8);
	return true;
}

/* Returns false if there is no space. */
static bool put_value(struct hpw_packet *k, const struct value *v)
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
		add_type(k, put_as_text(k, v) ? (nested ? VALUE_JSON : v->type) : VALUE_STRING, false);
		return true;
	}
	return true;
}

void hpw_field(struct hpw_packet *k, struct slice name, const struct value *v)
{
	struct text *const t = k->text;
	struct word_types *const types = &k->st->types;
	const size_t before = t->n, types_before = types->text.n;
	const uint32_t ntypes = types->n;

	if (k->nfields < MAX_FIELDS) {
		put_name(k, name);
		const bool fits = put_value(k, v);
		if (fits && t->n - k->start <= MAX_ARGS) {
			if (held_as[v->type] != 0)
				add_type(k, v->type, false);
			else if (v->type == VALUE_LIST && array_type(v) != 0)
				add_type(k, v->element, true);
			k->nfields++;
			return;
		}
	}
	t->n = before;
	types->text.n = types_before;
	types->n = ntypes;
	hpw_lose(k, HPW_FIELDS_LEFT_OUT);
}
