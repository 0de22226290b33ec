#include "base/decimal.h"
#include "model/value_map.h"
#include "htdump/write.h"

/* Values that HawkTracer has no type for, as text: JSON, but for what is not in a list or map. */

#define MAX_DEPTH 100 /* readers bound nesting well below this */

static void put_value(struct text *t, const struct value *v, unsigned depth);

static void
put_bytes(struct text *t, const char *p, uint32_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *to = text_room(t, (size_t)n * 2 + 2);

	if (to == NULL)
		return;
	*to++ = '0';
	*to++ = 'x';
	for (uint32_t i = 0; i < n; i++) {
		*to++ = digits[(unsigned char)p[i] >> 4];
		*to++ = digits[p[i] & 15];
	}
	t->n += (size_t)n * 2 + 2;
}

static void
put_list(struct text *t, const struct value *v, unsigned depth)
{
	text_char(t, '[');
	for (uint32_t i = 0; i < v->count; i++) {
		if (i > 0)
			text_char(t, ',');
		put_value(t, &v->values[i], depth + 1);
	}
	text_char(t, ']');
}

/* A map whose keys are all text is an object, any other a list of pairs. */
static void
put_map(struct text *t, const struct value *v, unsigned depth)
{
	const bool object = value_keys_are_text(v);

	text_char(t, object ? '{' : '[');
	for (uint32_t i = 0; i < v->count; i++) {
		const struct value *const key = &v->values[2 * (size_t)i];
		if (i > 0)
			text_char(t, ',');
		if (!object)
			text_char(t, '[');
		put_value(t, key, depth + 1);
		text_char(t, object ? ':' : ',');
		put_value(t, key + 1, depth + 1);
		if (!object)
			text_char(t, ']');
	}
	text_char(t, object ? '}' : ']');
}

static void
put_address(struct text *t, uint64_t v)
{
	char *const p = text_room(t, DECIMAL_HEX_MAX);

	if (p != NULL)
		t->n += (size_t)(decimal_hex(p, v) - p);
}

static void
put_value(struct text *t, const struct value *v, unsigned depth)
{
	const bool quoted = v->type == VALUE_ADDRESS || v->type == VALUE_BYTES;

	if (depth > MAX_DEPTH) {
		text_str(t, "null");
		return;
	}
	if (quoted)
		text_char(t, '"');
	if (v->type == VALUE_NONE)
		text_str(t, "null");
	else if (v->type == VALUE_BOOL)
		text_str(t, v->u64 != 0 ? "true" : "false");
	else if (v->type <= VALUE_U64)
		text_u64(t, v->u64);
	else if (v->type <= VALUE_I64)
		text_i64(t, v->i64);
	else if (v->type == VALUE_F32)
		text_json_f32(t, (float)v->f64);
	else if (v->type == VALUE_F64)
		text_json_f64(t, v->f64);
	else if (v->type == VALUE_ADDRESS)
		put_address(t, v->u64);
	else if (v->type == VALUE_STRING)
		text_json_string(t, value_text(v));
	else if (v->type == VALUE_BYTES)
		put_bytes(t, v->p, v->count);
	else if (v->type == VALUE_LIST)
		put_list(t, v, depth);
	else if (v->type == VALUE_MAP)
		put_map(t, v, depth);
	else
		text_add(t, v->p, v->count);
	if (quoted)
		text_char(t, '"');
}

void
htw_value_text(struct text *t, const struct value *v)
{
	if (v->type == VALUE_BYTES)
		put_bytes(t, v->p, v->count);
	else
		put_value(t, v, 0);
}

void
htw_fields_text(struct text *t, const struct field *f, uint32_t n)
{
	text_char(t, '{');
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			text_char(t, ',');
		text_json_string(t, f[i].name);
		text_char(t, ':');
		put_value(t, &f[i].value, 1);
	}
	text_char(t, '}');
}

uint32_t
htw_float_bits(double d)
{
	const float f = (float)d;
	uint64_t bits;
	uint32_t narrow;

	memcpy(&bits, &d, sizeof bits);
	memcpy(&narrow, &f, sizeof narrow);
	if (d != d) {
		const uint32_t payload = (uint32_t)(bits >> 29 & 0x7fffff);
		narrow = (uint32_t)(bits >> 63 << 31) | 0x7f800000U | (payload != 0 ? payload : 0x400000U);
	}
	return narrow;
}
