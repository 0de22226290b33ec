/*
 * Values as debug annotations.  JSON text is parsed and becomes nested annotations, too; text that is not
 * valid JSON is written unchanged.  Recursion is bounded by PERFETTO_DEPTH.
 */
#include <math.h>

#include "json/number.h"
#include "json/token.h"
#include "model/value.h"
#include "perfetto/perfetto.h"

/* ---- texts ---- */

static void put_string(struct perfetto_state *st, struct slice s)
{
	const uint32_t iid = perfetto_intern_string(st, s);

	if (iid != 0)
		wire_number(&st->body, PF_annotation_string_value_iid, iid);
	else
		perfetto_put_text(st, &st->body, PF_annotation_string_value, s);
}

/* Writes as text a value that the importer would drop. */
static void put_empty(struct perfetto_state *st, const char *text)
{
	perfetto_lose(st, PERFETTO_EMPTY, 1);
	wire_slice(&st->body, PF_annotation_string_value, slice_str(text));
}

/* ---- JSON ---- */

struct value perfetto_json_number(struct slice s)
{
	enum json_kind kind = JSON_ABSENT;
	struct value v = { .type = VALUE_NONE };

	if (!json_is_number(s, &kind))
		return v;
	if (kind == JSON_NUMBER || slice_is(s, "-0"))
		v.type = decimal_read_f64(s, &v.f64) && isfinite(v.f64) ? VALUE_F64 : VALUE_NONE;
	else if (json_integer(s, &v.u64))
		v.type = kind == JSON_UINT ? VALUE_U64 : VALUE_I64;
	return v;
}

static void put_json_number(struct perfetto_state *st, struct slice s)
{
	const struct value v = perfetto_json_number(s);

	if (v.type != VALUE_NONE && (v.type != VALUE_F64 || json_double_is_exact(s, v.f64))) {
		perfetto_value(st, &v, 0);
		return;
	}
	perfetto_lose(st, PERFETTO_LONG_NUMBER, 1);
	wire_slice(&st->body, PF_annotation_string_value, s);
}

static struct slice unescape(struct perfetto_state *st, struct arena *a, struct slice s, enum json_kind kind)
{
	if (kind != JSON_ESCAPED)
		return s;
	s = json_unescape(a, s);
	st->body.failed |= s.p == NULL;
	return s;
}

static const char *put_json_value(struct perfetto_state *st, struct json *x, const char *p, const char *e,
                                  unsigned depth);

static const char *put_entries(struct perfetto_state *st, struct json *x, const char *p, const char *e,
                               unsigned depth)
{
	const bool object = *p == '{';
	struct perfetto_keys keys = { .n = 0 };
	struct slice key;
	enum json_kind kind;
	bool more, any = false;

	p = json_first(x, p, e, &more);
	for (; p != NULL && more; p = json_next(x, p, e, object ? '}' : ']', &more)) {
		const size_t at =
		    wire_open(&st->body, object ? PF_annotation_dict_entries : PF_annotation_array_values);
		if (object && (p = json_key(x, p, e, &key, &kind)) != NULL) {
			struct arena a = { .used = 0 };
			perfetto_put_key(st, &keys, unescape(st, &a, key, kind));
			arena_free(&a);
		}
		if (p != NULL)
			p = put_json_value(st, x, p, e, depth + 1);
		wire_close(&st->body, at);
		any = true;
		if (p == NULL)
			break;
	}
	perfetto_keys_free(&keys);
	if (p != NULL && !any)
		put_empty(st, object ? "{}" : "[]");
	return p;
}

static const char *put_scalar(struct perfetto_state *st, struct json *x, const char *p, const char *e)
{
	enum json_kind kind;
	const char *const q = json_scalar(x, p, e, &kind);

	if (q == NULL)
		return NULL;
	const struct slice s = json_text(p, q, kind);
	struct arena a = { .used = 0 };
	if (json_is_string(kind))
		put_string(st, unescape(st, &a, s, kind));
	else if (kind == JSON_TRUE || kind == JSON_FALSE)
		wire_number(&st->body, PF_annotation_bool_value, kind == JSON_TRUE);
	else if (kind == JSON_NULL)
		put_empty(st, "null");
	else
		put_json_number(st, s);
	arena_free(&a);
	return q;
}

/* Returns the end of the value; NULL: it is not JSON, or nested too deep. */
static const char *put_json_value(struct perfetto_state *st, struct json *x, const char *p, const char *e,
                                  unsigned depth)
{
	p = json_skip_blanks(p, e);
	if (p == e)
		return NULL;
	if (*p != '{' && *p != '[')
		return put_scalar(st, x, p, e);
	return depth < PERFETTO_DEPTH ? put_entries(st, x, p, e, depth) : NULL;
}

static void put_json(struct perfetto_state *st, struct slice json, unsigned depth)
{
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	const char *const e = json.p + json.n;
	const size_t before = st->body.n;

	const char *const p = json.n > 0 ? put_json_value(st, &x, json.p, e, depth) : NULL;
	if (p != NULL && json_skip_blanks(p, e) == e)
		return;
	st->body.n = before;
	perfetto_lose(st, PERFETTO_TOO_DEEP, 1);
	put_string(st, json);
}

/* ---- any value ---- */

static void put_double(struct perfetto_state *st, double v)
{
	if (isnan(v)) {
		perfetto_lose(st, PERFETTO_NOT_A_NUMBER, 1);
		wire_slice(&st->body, PF_annotation_string_value, slice_str("NaN"));
		return;
	}
	wire_double(&st->body, PF_annotation_double_value, v);
}

/* Writes an interned text of a list. */
static inline void put_interned(struct perfetto_state *st, uint32_t iid)
{
	char *p = text_reserve(&st->body, 2 * PF_VARINT_MAX);

	if (p == NULL)
		return;
	*p++ = (char)PF_TAG(PF_annotation_array_values, PF_BYTES);
	*p++ = (char)(2 + wire_size(iid));
	p = wire_put(p, PF_TAG(PF_annotation_string_value_iid, PF_VARINT));
	st->body.n = (size_t)(wire_put(p, iid) - st->body.p);
}

static void put_list(struct perfetto_state *st, const struct value *v, uint32_t n, unsigned depth)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t iid =
		    v[i].type == VALUE_STRING ? perfetto_intern_string(st, value_text(&v[i])) : 0;
		if (iid != 0) {
			put_interned(st, iid);
			continue;
		}
		const size_t at = wire_open(&st->body, PF_annotation_array_values);
		if (v[i].type == VALUE_STRING)
			perfetto_put_text(st, &st->body, PF_annotation_string_value, value_text(&v[i]));
		else
			perfetto_value(st, &v[i], depth + 1);
		wire_close(&st->body, at);
	}
}

static void put_pairs(struct perfetto_state *st, const struct value *v, uint32_t n, unsigned depth)
{
	for (uint32_t i = 0; i < n; i++) {
		const size_t at = wire_open(&st->body, PF_annotation_array_values);
		put_list(st, v + 2 * (size_t)i, 2, depth + 1);
		wire_close(&st->body, at);
	}
}

static void put_map(struct perfetto_state *st, const struct value *v, unsigned depth)
{
	struct perfetto_keys keys = { .n = 0 };

	if (!value_keys_are_text(v)) {
		put_pairs(st, v->values, v->count, depth);
		return;
	}
	for (uint32_t i = 0; i < v->count; i++) {
		const struct value *const pair = v->values + 2 * (size_t)i;
		const size_t at = wire_open(&st->body, PF_annotation_dict_entries);
		perfetto_put_key(st, &keys, value_text(&pair[0]));
		perfetto_value(st, &pair[1], depth + 1);
		wire_close(&st->body, at);
	}
	perfetto_keys_free(&keys);
}

static void put_nested(struct perfetto_state *st, const struct value *v, unsigned depth)
{
	if (v->count == 0) {
		put_empty(st, v->type == VALUE_LIST ? "[]" : "{}");
	} else if (depth >= PERFETTO_DEPTH) {
		perfetto_lose(st, PERFETTO_TOO_DEEP, 1);
		wire_slice(&st->body, PF_annotation_string_value, slice_str("..."));
	} else if (v->type == VALUE_LIST) {
		put_list(st, v->values, v->count, depth);
	} else {
		put_map(st, v, depth);
	}
}

void perfetto_value(struct perfetto_state *st, const struct value *v, unsigned depth)
{
	switch ((enum value_type)v->type) {
	case VALUE_NONE:
		put_empty(st, "null");
		break;
	case VALUE_BOOL:
		wire_number(&st->body, PF_annotation_bool_value, v->u64 != 0);
		break;
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		wire_number(&st->body, PF_annotation_uint_value, v->u64);
		break;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		wire_number(&st->body, PF_annotation_int_value, v->u64);
		break;
	case VALUE_F32:
		put_double(st, decimal_widen(v->f64));
		break;
	case VALUE_F64:
		put_double(st, v->f64);
		break;
	case VALUE_ADDRESS:
		wire_number(&st->body, PF_annotation_pointer_value, v->u64);
		break;
	case VALUE_STRING:
		put_string(st, value_text(v));
		break;
	case VALUE_BYTES:
		wire_head(&st->body, PF_annotation_string_value, 2 + 2 * (size_t)v->count);
		text_add(&st->body, "0x", 2);
		text_hex(&st->body, v->p, v->count);
		break;
	case VALUE_JSON:
		put_json(st, value_text(v), depth);
		break;
	case VALUE_LIST:
	case VALUE_MAP:
		put_nested(st, v, depth);
		break;
	}
}
