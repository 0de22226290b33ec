#include <math.h>

#include "perfetto/state.h"
#include "model/value_map.h"
#include "output/text_numbers.h"

/* Values as annotations.  Recursion is bounded by MAX_DEPTH. */
#define MAX_DEPTH PERFETTO_DEPTH

/* A text without a number. */
static void
put_text(struct perfetto_state *st, struct slice s)
{
	unsigned changed;

	wire_slice(&st->body, ANNOTATION_STRING, perfetto_clean(st, s, &changed));
	perfetto_lose_all(st, changed);
}

void
perfetto_text_value(struct perfetto_state *st, struct slice s)
{
	const uint32_t iid = perfetto_intern_string(st, s);

	if (iid != 0)
		wire_number(&st->body, ANNOTATION_STRING_IID, iid);
	else
		put_text(st, s);
}

/* What would vanish, as text. */
void
perfetto_empty(struct perfetto_state *st, const char *text)
{
	perfetto_lose(st, PERFETTO_EMPTY, 1);
	wire_slice(&st->body, ANNOTATION_STRING, slice_str(text));
}

static void
put_double(struct perfetto_state *st, double v)
{
	if (isnan(v)) {
		perfetto_lose(st, PERFETTO_NOT_A_NUMBER, 1);
		wire_slice(&st->body, ANNOTATION_STRING, slice_str("NaN"));
		return;
	}
	wire_double(&st->body, ANNOTATION_DOUBLE, v);
}

static void
put_bytes(struct perfetto_state *st, struct slice s)
{
	wire_head(&st->body, ANNOTATION_STRING, 2 + 2 * (size_t)s.n);
	text_add(&st->body, "0x", 2);
	text_hex(&st->body, s.p, s.n);
}

/* A text of a list that has a number, as most have: all at once. */
static inline void
put_interned(struct perfetto_state *st, uint32_t iid)
{
	char *p = text_room(&st->body, 2 * WIRE_VARINT_MAX);

	if (p == NULL)
		return;
	*p++ = (char)WIRE_TAG(ANNOTATION_VALUES, WIRE_BYTES);
	*p++ = (char)(2 + wire_size(iid));
	p = wire_put(p, WIRE_TAG(ANNOTATION_STRING_IID, WIRE_VARINT));
	st->body.n = (size_t)(wire_put(p, iid) - st->body.p);
}

static void
put_list(struct perfetto_state *st, const struct value *v, uint32_t n, unsigned depth)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t iid =
		    v[i].type == VALUE_STRING ? perfetto_intern_string(st, value_text(&v[i])) : 0;
		if (iid != 0) {
			put_interned(st, iid);
			continue;
		}
		const size_t at = wire_open(&st->body, ANNOTATION_VALUES);
		if (v[i].type == VALUE_STRING)
			put_text(st, value_text(&v[i]));
		else
			perfetto_value(st, &v[i], depth + 1);
		wire_close(&st->body, at);
	}
}

static void
put_pairs(struct perfetto_state *st, const struct value *v, uint32_t n, unsigned depth)
{
	for (uint32_t i = 0; i < n; i++) {
		const size_t at = wire_open(&st->body, ANNOTATION_VALUES);
		put_list(st, v + 2 * (size_t)i, 2, depth + 1);
		wire_close(&st->body, at);
	}
}

static void
put_map(struct perfetto_state *st, const struct value *v, unsigned depth)
{
	struct perfetto_keys keys = { .n = 0 };

	if (!value_keys_are_text(v)) {
		put_pairs(st, v->values, v->count, depth);
		return;
	}
	for (uint32_t i = 0; i < v->count; i++) {
		const struct value *const pair = v->values + 2 * (size_t)i;
		const size_t at = wire_open(&st->body, ANNOTATION_ENTRIES);
		perfetto_put_key(st, &keys, value_text(&pair[0]));
		perfetto_value(st, &pair[1], depth + 1);
		wire_close(&st->body, at);
	}
	perfetto_keys_free(&keys);
}

static void
put_nested(struct perfetto_state *st, const struct value *v, unsigned depth)
{
	if (v->count == 0) {
		perfetto_empty(st, v->type == VALUE_LIST ? "[]" : "{}");
	} else if (depth >= MAX_DEPTH) {
		perfetto_lose(st, PERFETTO_TOO_DEEP, 1);
		wire_slice(&st->body, ANNOTATION_STRING, slice_str("..."));
	} else if (v->type == VALUE_LIST) {
		put_list(st, v->values, v->count, depth);
	} else {
		put_map(st, v, depth);
	}
}

void
perfetto_value(struct perfetto_state *st, const struct value *v, unsigned depth)
{
	switch ((enum value_type)v->type) {
	case VALUE_NONE:
		perfetto_empty(st, "null");
		break;
	case VALUE_BOOL:
		wire_number(&st->body, ANNOTATION_BOOL, v->u64 != 0);
		break;
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		wire_number(&st->body, ANNOTATION_UINT, v->u64);
		break;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		wire_number(&st->body, ANNOTATION_INT, v->u64);
		break;
	case VALUE_F32:
	case VALUE_F64:
		put_double(st, v->f64);
		break;
	case VALUE_ADDRESS:
		wire_number(&st->body, ANNOTATION_POINTER, v->u64);
		break;
	case VALUE_STRING:
		perfetto_text_value(st, value_text(v));
		break;
	case VALUE_BYTES:
		put_bytes(st, value_text(v));
		break;
	case VALUE_JSON:
		perfetto_json(st, value_text(v), depth);
		break;
	case VALUE_LIST:
	case VALUE_MAP:
		put_nested(st, v, depth);
		break;
	}
}
