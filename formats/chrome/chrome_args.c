#include <stdio.h>

#include "base/decimal.h"
#include "chrome/chrome_state.h"

/* Field values as JSON: exact, escaped, and never a NaN. */

#define MAX_DEPTH 60 /* our reader and others bound nesting little above this */

static void
lose(struct chunk *chunk, enum chrome_loss kind, const struct event *e, uint64_t count)
{
	ledger_add(&chunk->ledger, &chrome_losses[kind], e->offset, count);
}

static void
put_string(struct chunk *chunk, struct slice s, const struct event *e)
{
	const size_t bad = text_json_string(&chunk->text, s);

	if (bad > 0)
		lose(chunk, CHROME_BAD_TEXT, e, 1);
}

/* Bytes without a meaning as text: "0x" and two digits each. */
static void
put_bytes(struct text *t, const char *p, uint32_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *to = text_room(t, (size_t)n * 2 + 4);

	if (to == NULL)
		return;
	*to++ = '"';
	*to++ = '0';
	*to++ = 'x';
	for (uint32_t i = 0; i < n; i++) {
		*to++ = digits[(unsigned char)p[i] >> 4];
		*to++ = digits[p[i] & 15];
	}
	*to++ = '"';
	t->n = (size_t)(to - t->p);
}

static void
put_address(struct text *t, uint64_t v)
{
	char *p = text_room(t, DECIMAL_HEX_MAX + 2);

	if (p == NULL)
		return;
	*p++ = '"';
	p = decimal_hex(p, v);
	*p++ = '"';
	t->n = (size_t)(p - t->p);
}

static void put_value(struct chunk *chunk, const struct value *v, const struct event *e, unsigned depth);

static bool
keys_are_text(const struct value *v)
{
	for (uint32_t i = 0; i < v->count; i++)
		if (v->values[2 * (size_t)i].type != VALUE_STRING)
			return false;
	return true;
}

/* A map whose keys are all text is an object, any other a list of pairs. */
static void
put_map(struct chunk *chunk, const struct value *v, const struct event *e, unsigned depth)
{
	struct text *const t = &chunk->text;
	const bool object = keys_are_text(v);

	text_char(t, object ? '{' : '[');
	for (uint32_t i = 0; i < v->count; i++) {
		const struct value *const key = &v->values[2 * (size_t)i];
		text_str(t, i > 0 ? (object ? "," : ",[") : (object ? "" : "["));
		put_value(chunk, key, e, depth + 1);
		text_char(t, object ? ':' : ',');
		put_value(chunk, key + 1, e, depth + 1);
		if (!object)
			text_char(t, ']');
	}
	text_char(t, object ? '}' : ']');
}

static void
put_list(struct chunk *chunk, const struct value *v, const struct event *e, unsigned depth)
{
	text_char(&chunk->text, '[');
	for (uint32_t i = 0; i < v->count; i++) {
		if (i > 0)
			text_char(&chunk->text, ',');
		put_value(chunk, &v->values[i], e, depth + 1);
	}
	text_char(&chunk->text, ']');
}

static void
put_value(struct chunk *chunk, const struct value *v, const struct event *e, unsigned depth)
{
	struct text *const t = &chunk->text;

	switch ((enum value_type)v->type) {
	case VALUE_NONE:
		text_str(t, "null");
		break;
	case VALUE_BOOL:
		text_str(t, v->u64 != 0 ? "true" : "false");
		break;
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		text_json_u64(t, v->u64);
		break;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		text_json_i64(t, v->i64);
		break;
	case VALUE_F32:
		if (!text_json_f32(t, (float)v->f64))
			lose(chunk, CHROME_NOT_A_NUMBER, e, 1);
		break;
	case VALUE_F64:
		if (!text_json_f64(t, v->f64))
			lose(chunk, CHROME_NOT_A_NUMBER, e, 1);
		break;
	case VALUE_ADDRESS:
		put_address(t, v->u64);
		break;
	case VALUE_STRING:
		put_string(chunk, value_text(v), e);
		break;
	case VALUE_BYTES:
		put_bytes(t, v->p, v->count);
		break;
	case VALUE_JSON:
		text_add(t, v->p, v->count);
		break;
	case VALUE_LIST:
	case VALUE_MAP:
		if (depth >= MAX_DEPTH) {
			text_str(t, "null");
			lose(chunk, CHROME_TOO_DEEP, e, 1);
		} else if (v->type == VALUE_LIST) {
			put_list(chunk, v, e, depth);
		} else {
			put_map(chunk, v, e, depth);
		}
		break;
	}
}

void
chrome_value(struct chunk *chunk, const struct value *v, const struct event *e)
{
	put_value(chunk, v, e, 0);
}

static bool
is_unsigned(const struct value *v)
{
	return v->type >= VALUE_U8 && v->type <= VALUE_U64;
}

#define MAX_EXACT ((UINT64_C(1) << 53) - 1) /* larger integers are written as text */

/* `,"name":value`.  Plain names and unsigned numbers, which most fields are, in one go. */
static void
put_field(struct chunk *chunk, const struct field *f, const struct event *e, bool first)
{
	struct text *const t = &chunk->text;

	if ((f->name.flags & SLICE_JSON) == 0) {
		if (!first)
			text_char(t, ',');
		put_string(chunk, f->name, e);
		text_char(t, ':');
		put_value(chunk, &f->value, e, 0);
		return;
	}
	char *p = text_room(t, (size_t)f->name.n + 4 + DECIMAL_U64_MAX);
	if (p == NULL)
		return;
	*p = ',';
	p += !first;
	*p++ = '"';
	p = text_put(p, f->name.p, f->name.n);
	*p++ = '"';
	*p++ = ':';
	if (is_unsigned(&f->value) && f->value.u64 <= MAX_EXACT) {
		t->n = (size_t)(decimal_u64(p, f->value.u64) - t->p);
		return;
	}
	t->n = (size_t)(p - t->p);
	put_value(chunk, &f->value, e, 0);
}

static bool
has_field(const struct batch *b, const struct event *e, const char *name)
{
	for (uint16_t i = 0; i < e->nfields; i++)
		if (slice_is(b->fields[e->first_field + i].name, name))
			return true;
	return false;
}

/* The true thread id of events whose tid is another; the key is one that the event's own fields do not use.
 */
static void
put_true_tid(struct chunk *chunk, const struct batch *b, const struct event *e)
{
	char key[24] = "true_tid";

	for (uint32_t i = 2; has_field(b, e, key); i++)
		snprintf(key, sizeof key, "true_tid (%" PRIu32 ")", i);
	text_printf(&chunk->text, "\"%s\":", key);
	text_json_u64(&chunk->text, e->track->id);
	if (e->nfields > 0)
		text_char(&chunk->text, ',');
}

/* A series must be a number: no text for large ones, and no truth value.  false: it is none. */
static bool
put_number(struct text *t, const struct value *v)
{
	if (v->type == VALUE_JSON && v->count > 0 && (*v->p == '-' || (*v->p >= '0' && *v->p <= '9')))
		text_add(t, v->p, v->count); /* the digits that the trace has */
	else if (v->type == VALUE_BOOL)
		text_u64(t, v->u64 != 0);
	else if (is_unsigned(v))
		text_u64(t, v->u64);
	else if (v->type >= VALUE_I8 && v->type <= VALUE_I64)
		text_i64(t, v->i64);
	else if ((v->type != VALUE_F32 && v->type != VALUE_F64) ||
	         v->f64 - v->f64 != 0) /* NaN and the infinities */
		return false;
	else if (v->type == VALUE_F32)
		text_json_f32(t, (float)v->f64);
	else
		text_json_f64(t, v->f64);
	return true;
}

static void
put_series(const struct batch *b, const struct event *e, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	bool first = true;

	for (uint16_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		const size_t before = t->n;
		if (!first)
			text_char(t, ',');
		put_string(chunk, f->name, e);
		text_char(t, ':');
		if (put_number(t, &f->value)) {
			first = false;
			continue;
		}
		t->n = before;
		lose(chunk, CHROME_COUNTER_TEXT, e, 1);
	}
}

void
chrome_args(const struct batch *b, const struct event *e, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const bool counter = e->phase == PHASE_COUNTER;
	const bool renamed = !counter && chrome_track_of(e->track)->renamed;

	if (e->nfields == 0 && !renamed)
		return;
	char *const p = text_room(t, 16);
	if (p == NULL)
		return;
	memcpy(p, ",\"args\":{", 9);
	t->n += 9;
	if (renamed)
		put_true_tid(chunk, b, e);
	if (counter)
		put_series(b, e, chunk);
	else
		for (uint16_t i = 0; i < e->nfields; i++)
			put_field(chunk, &b->fields[e->first_field + i], e, i == 0);
	text_char(t, '}');
}

bool
chrome_large_time_exact(uint64_t ns)
{
	const uint64_t us = ns / 1000;

	if (us < (uint64_t)1 << 53 && us * 1000 == ns)
		return true;                      /* all whole numbers below 2^53 are doubles */
	const int top = 63 - __builtin_clzll(us); /* the highest bit of the microseconds */
	const int shift = 52 - top;               /* doubles here are multiples of 2^-shift us */
	const unsigned __int128 one = 1;
	unsigned __int128 back;
	if (shift >= 0) {
		const unsigned __int128 m = (((unsigned __int128)ns << shift) + 500) / 1000;
		back = (m * 1000 + ((one << shift) >> 1)) >> shift;
	} else {
		const unsigned __int128 unit = (one << -shift) * 1000;
		back = (ns + unit / 2) / unit * unit;
	}
	return back == ns;
}
