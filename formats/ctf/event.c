#include <stdlib.h>

#include "base/decimal.h"
#include "ctf/state.h"
#include "model/event_traits.h"
#include "format/fields_json.h"
#include "output/text_numbers.h"

/* The payload of an event: its name, what its kind has, and its fields (ctf_declare.c). */

static void
put_number(struct text *t, uint64_t v, unsigned size)
{
	char *const p = text_room(t, 8);

	if (p != NULL) {
		ctf_store(p, v, 8); /* one instruction; copying `size` bytes is a loop */
		t->n += size;
	}
}

/* The bits of a double, or of the float that it was made of; no arithmetic on NaN, which would make quiet
 * ones of others. */
static uint64_t
float_bits(double d, bool narrow)
{
	const float f = (float)d;
	uint64_t bits;
	uint32_t half;

	memcpy(&bits, &d, sizeof bits);
	if (!narrow)
		return bits;
	memcpy(&half, &f, sizeof half);
	if (d != d) {
		const uint32_t payload = (uint32_t)(bits >> 29 & 0x7fffff);
		half = (uint32_t)(bits >> 63 << 31) | 0x7f800000U | (payload != 0 ? payload : 0x400000U);
	}
	return half;
}

bool
ctf_json_number(const struct value *v, double *number)
{
	char text[64], *end;

	if (v->count == 0 || v->count >= sizeof text || (*v->p != '-' && (*v->p < '0' || *v->p > '9')))
		return false;
	memcpy(text, v->p, v->count);
	text[v->count] = '\0';
	*number = strtod(text, &end);
	return end == text + v->count && *number - *number == 0;
}

/* Text in the notation of JSON, or digits for bytes. */
static void
put_as_text(struct ctf_state *st, const struct value *v, struct chunk *chunk, uint64_t offset)
{
	struct fields_json_lost lost = { 0 };
	struct text *const s = &st->scratch;

	text_clear(s);
	if (v->type == VALUE_JSON)
		text_add(s, v->p, v->count);
	else if (v->type == VALUE_BYTES)
		text_hex(s, v->p, v->count);
	else
		fields_json_value(s, v, &lost);
	chunk->text.failed |= s->failed;
	if (s->failed)
		return;
	ctf_string(&st->packet, slice_of(s->p, s->n), chunk, offset);
	ctf_lose(chunk, CTF_VALUE_AS_TEXT, offset);
	if (lost.bad_text > 0)
		ctf_lose(chunk, CTF_BAD_TEXT, offset);
}

static void put_value(struct ctf_state *st, const struct value *v, struct chunk *chunk, uint64_t offset);

/* An address among texts. */
static void
put_address(struct text *t, uint64_t v)
{
	char *const p = text_room(t, DECIMAL_HEX_MAX + 1);

	if (p == NULL)
		return;
	char *const end = decimal_hex(p, v);
	*end = '\0';
	t->n += (size_t)(end - p) + 1;
}

static void
put_list(struct ctf_state *st, const struct value *v, struct chunk *chunk, uint64_t offset)
{
	const uint8_t element = ctf_element(v);

	if (element == VALUE_NONE) {
		put_as_text(st, v, chunk, offset);
		return;
	}
	put_number(&st->packet, v->count, 4);
	for (uint32_t i = 0; i < v->count; i++)
		if (element == VALUE_STRING && v->values[i].type == VALUE_ADDRESS)
			put_address(&st->packet, v->values[i].u64);
		else
			put_value(st, &v->values[i], chunk, offset); /* none is a list */
	if (element != v->element)
		ctf_lose(chunk, CTF_VALUE_AS_TEXT, offset);
}

static void
put_value(struct ctf_state *st, const struct value *v, struct chunk *chunk, uint64_t offset)
{
	static const uint8_t sizes[] = {
		[VALUE_BOOL] = 1, [VALUE_U8] = 1,  [VALUE_U16] = 2, [VALUE_U32] = 4, [VALUE_U64] = 8,
		[VALUE_I8] = 1,   [VALUE_I16] = 2, [VALUE_I32] = 4, [VALUE_I64] = 8, [VALUE_ADDRESS] = 8,
	};

	double number;

	if (v->type == VALUE_JSON && ctf_json_number(v, &number))
		put_number(&st->packet, float_bits(number, false), 8);
	else if (v->type == VALUE_STRING)
		ctf_string(&st->packet, value_text(v), chunk, offset);
	else if (v->type == VALUE_F32 || v->type == VALUE_F64)
		put_number(&st->packet, float_bits(v->f64, v->type == VALUE_F32),
		           v->type == VALUE_F32 ? 4 : 8);
	else if (v->type == VALUE_LIST)
		put_list(st, v, chunk, offset);
	else if (v->type < sizeof sizes && sizes[v->type] > 0)
		put_number(&st->packet, v->type == VALUE_BOOL ? v->u64 != 0 : v->u64, sizes[v->type]);
	else if (v->type != VALUE_NONE) /* null: the class does not have the field */
		put_as_text(st, v, chunk, offset);
}

/* The class, and all fields in one text. */
static void
put_other(struct ctf_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	struct fields_json_lost lost = { 0 };
	struct text *const s = &st->scratch;

	ctf_string(&st->packet, e->cls->name, chunk, e->offset);
	text_clear(s);
	text_char(s, '{');
	fields_json(s, b->fields + e->first_field, e->nfields, &lost);
	text_char(s, '}');
	chunk->text.failed |= s->failed;
	if (s->failed)
		return;
	ctf_string(&st->packet, slice_of(s->p, s->n), chunk, e->offset);
	if (e->nfields > 0)
		ctf_lose(chunk, CTF_FIELDS_AS_TEXT, e->offset);
	if (lost.bad_text > 0)
		ctf_lose(chunk, CTF_BAD_TEXT, e->offset);
	if (event_has_category(e) && !slice_equal(e->cls->category, e->cls->name))
		ctf_lose(chunk, CTF_OTHER_CATEGORY, e->offset);
}

void
ctf_payload(struct ctf_state *st, const struct ctf_layout *l, const struct batch *b, const struct event *e,
            struct chunk *chunk)
{
	ctf_string(&st->packet, e->name, chunk, e->offset);
	if (l->kind == CTF_SPAN || l->kind == CTF_ASYNC || event_is_flow(e))
		put_number(&st->packet, e->dur, 8);
	if (l->kind == CTF_ASYNC)
		put_number(&st->packet, e->offset, 8);
	if (l->other) {
		put_other(st, b, e, chunk);
		return;
	}
	for (uint32_t i = 0; i < e->nfields; i++)
		put_value(st, &b->fields[e->first_field + i].value, chunk, e->offset);
}
