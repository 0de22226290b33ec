/* Writes JSON into a text.  OOM sets `failed` of the text permanently. */
#include "json/out.h"

#include <inttypes.h>

#include "base/numbers.h"
#include "output/text_json.h"

struct text *json_out_value(struct json_out *o, const char *key)
{
	struct text *const t = o->t;

	if (o->comma)
		text_char(t, ',');
	if (key != NULL) {
		text_json_string(t, slice_str(key));
		text_char(t, ':');
	}
	o->comma = true;
	return t;
}

void json_out_begin(struct json_out *o, const char *key, const char *brackets)
{
	text_str(json_out_value(o, key), brackets);
	o->comma = false;
}

void json_out_end(struct json_out *o, const char *brackets)
{
	text_str(o->t, brackets);
	o->comma = true;
}

void json_out_space(struct json_out *o, const char *space)
{
	if (o->comma)
		text_char(o->t, ',');
	text_str(o->t, space);
	o->comma = false;
}

void json_out_begin_after(struct json_out *o, const char *space, const char *key, const char *brackets)
{
	json_out_space(o, space);
	json_out_begin(o, key, brackets);
}

void json_out_slice(struct json_out *o, const char *key, struct slice s)
{
	text_json_string(json_out_value(o, key), s);
}

void json_out_string(struct json_out *o, const char *key, const char *s)
{
	if (s != NULL)
		json_out_slice(o, key, slice_str(s));
	else
		json_out_null(o, key);
}

void json_out_u64(struct json_out *o, const char *key, uint64_t v)
{
	text_u64(json_out_value(o, key), v);
}

void json_out_plain_ns(struct json_out *o, const char *key, uint64_t ns, uint64_t zero)
{
	text_ns_from(json_out_value(o, key), zero, ns);
}

void json_out_ns(struct json_out *o, const char *key, uint64_t ns, uint64_t zero)
{
	if (ns < zero)
		text_printf(json_out_value(o, key), "-%" PRIu64, zero - ns);
	else
		text_json_u64(json_out_value(o, key), ns - zero);
}

void json_out_u64_or_string(struct json_out *o, const char *key, uint64_t v)
{
	text_json_u64(json_out_value(o, key), v);
}

void json_out_f64(struct json_out *o, const char *key, double v)
{
	char digits[DECIMAL_F64_MAX];

	text_add(json_out_value(o, key), digits, (size_t)(decimal_f64(digits, v) - digits));
}

void json_out_bool(struct json_out *o, const char *key, bool v)
{
	text_str(json_out_value(o, key), v ? "true" : "false");
}

void json_out_null(struct json_out *o, const char *key)
{
	text_str(json_out_value(o, key), "null");
}
