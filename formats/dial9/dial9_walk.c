#include "dial9/dial9_state.h"

/*
 * Events field by field, in the words of the specification.  A first walk
 * finds the end and whether anything is odd; only when the whole event is there
 * is it walked again to say so, because a frame at the end of a window is
 * walked more than once.
 */

struct walk {
	struct d9_state *st;
	const struct d9_frame *f;
	const struct d9_schema *s;
	const struct d9_field *field;
	struct cursor c;
	bool odd;    /* there is something to say */
	bool saying; /* say it */
	bool stuck;  /* `fault` is why the event cannot be read on */
	bool no_memory;
	struct d9_fault fault;
};

static bool value(struct walk *w, uint8_t type, unsigned depth);

static bool
stuck(struct walk *w, enum d9_rule rule, const char *at, uint64_t v)
{
	w->stuck = true;
	w->fault = (struct d9_fault){ rule, at, v };
	return false;
}

/* A count or length n of `each` bytes or more that does not fit. */
static bool
fits(struct walk *w, uint32_t n, uint64_t each, const char *what)
{
	const size_t left = cursor_left(&w->c);

	if (w->c.missing != NULL)
		return false;
	if (n * each <= left)
		return true;
	cursor_fail(&w->c, n * each - left, what);
	d9_lacks_length(w->st, what, n, n * each - left, left);
	return false;
}

static bool
text(struct walk *w, const char *length_name, const char *what)
{
	const uint32_t n = cursor_u32(&w->c, length_name);

	if (!fits(w, n, 1, length_name))
		return false;
	const struct slice s = textscan_slice(w->c.p, n);
	w->c.p += n;
	if ((s.flags & SLICE_UTF8) != 0)
		return true;
	w->odd = true;
	if (w->saying)
		d9_check_text(w->st, w->f, s, what, w->field->name);
	return true;
}

static bool
varint(struct walk *w)
{
	const char *const start = w->c.p;

	for (unsigned i = 0;; i++) {
		const uint8_t byte = cursor_u8(&w->c, "LEB128 number");
		if (w->c.missing != NULL)
			return false;
		if (i < D9_VARINT_MAX - 1 && byte >= 0x80)
			continue;
		if (byte >= 0x80)
			return stuck(w, D9_RULE_LEB128_TOO_LONG, start, 0);
		if (i < D9_VARINT_MAX - 1 || byte <= 1)
			return true;
		w->odd = true;
		if (w->saying)
			d9_find_at(w->st, D9_RULE_LEB128_OVERFLOW, w->f, start,
			           "byte 10 is 0x%02x, at most 0x01 fits 64 bits", byte);
		return true;
	}
}

static bool
reference(struct walk *w, enum d9_pool_kind kind)
{
	const uint32_t id = cursor_u32(&w->c, "pool_id");

	if (w->c.missing != NULL)
		return false;
	if (d9_pool_find(&w->st->pools[kind], id) != NULL)
		return true;
	w->odd = true;
	if (w->saying && d9_pool_miss(w->st, kind, id, w->f) == D9_NO_MEMORY)
		w->no_memory = true;
	return !w->no_memory;
}

static bool
boolean(struct walk *w)
{
	const uint8_t v = cursor_u8(&w->c, "Bool");

	if (w->c.missing != NULL)
		return false;
	if (v <= 1)
		return true;
	w->odd = true;
	if (w->saying)
		d9_tally_add(&w->st->bools, w->f, v);
	return true;
}

static bool
string_map(struct walk *w)
{
	const uint32_t n = cursor_u32(&w->c, "map count");

	if (!fits(w, n, 8, "map count"))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!text(w, "key_len", "map key") || !text(w, "val_len", "map value"))
			return false;
	return true;
}

static bool
element(struct walk *w, unsigned depth)
{
	const char *const at = w->c.p;
	const uint8_t type = cursor_u8(&w->c, "element tag");

	if (w->c.missing != NULL)
		return false;
	if (!d9_type_known(type) || (type & D9_OPTIONAL) != 0)
		return stuck(w, D9_RULE_UNKNOWN_ELEMENT_TYPE, at, type);
	return value(w, type, depth + 1);
}

/* DynamicList and DynamicMap: each element has its type before it, so it takes two bytes at least. */
static bool
elements(struct walk *w, bool map, unsigned depth)
{
	const char *const at = w->c.p;
	const uint32_t n = cursor_u32(&w->c, map ? "map count" : "list count");

	if (depth >= D9_MAX_NESTING)
		return stuck(w, D9_RULE_NESTING, at, depth + 1);
	if (!fits(w, n, map ? 4 : 2, map ? "map count" : "list count"))
		return false;
	for (uint64_t i = 0; i < (uint64_t)n << map; i++)
		if (!element(w, depth))
			return false;
	return true;
}

static bool
presence(struct walk *w, bool *there)
{
	const char *const at = w->c.p;
	const uint8_t v = cursor_u8(&w->c, "presence byte");

	if (w->c.missing != NULL)
		return false;
	*there = v == 1;
	return v <= 1 || stuck(w, D9_RULE_PRESENCE_BYTE, at, v);
}

/* `depth` lists and maps are around it. */
static bool
value(struct walk *w, uint8_t type, unsigned depth)
{
	bool there = true;

	if ((type & D9_OPTIONAL) != 0 && (!presence(w, &there) || !there))
		return !w->stuck && w->c.missing == NULL;
	switch (type & ~D9_OPTIONAL) {
	case D9_BOOL:
		return boolean(w);
	case D9_STRING:
		return text(w, "string length", "string");
	case D9_BYTES:
	case D9_STACK: {
		const bool stack = (type & ~D9_OPTIONAL) == D9_STACK;
		const char *const what = stack ? "frame count" : "bytes length";
		const uint32_t n = cursor_u32(&w->c, what);
		if (!fits(w, n, stack ? 8 : 1, what))
			return false;
		w->c.p += (size_t)n * (stack ? 8 : 1);
		return true;
	}
	case D9_POOLED_STACK:
		return reference(w, D9_STACKS);
	case D9_POOLED_STRING:
		return reference(w, D9_STRINGS);
	case D9_VARINT:
		return varint(w);
	case D9_STRING_MAP:
		return string_map(w);
	case D9_LIST:
	case D9_MAP:
		return elements(w, (type & ~D9_OPTIONAL) == D9_MAP, depth);
	case D9_U8:
		return cursor_take(&w->c, 1, "U8").p != NULL;
	case D9_U16:
		return cursor_take(&w->c, 2, "U16").p != NULL;
	case D9_U32:
		return cursor_take(&w->c, 4, "U32").p != NULL;
	default: /* I64, F64: the schema was found readable */
		return cursor_take(&w->c, 8, "value").p != NULL;
	}
}

static bool
event(struct walk *w)
{
	cursor_take(&w->c, D9_EVENT_HEAD, "type_id");
	if (w->s->timed)
		cursor_take(&w->c, 3, "timestamp_delta_ns");
	for (uint32_t i = 0; i < w->s->nfields; i++) {
		w->field = &w->s->fields[i];
		if (w->c.missing != NULL || !value(w, w->field->type, 0))
			return false;
	}
	return w->c.missing == NULL;
}

enum d9_result
d9_say_fault(struct d9_state *st, const struct d9_schema *s, const struct d9_field *field,
             const struct d9_frame *f, uint64_t at, const struct d9_fault *fault)
{
	const char *const what = fault->rule == D9_RULE_PRESENCE_BYTE          ? "presence byte"
	                         : fault->rule == D9_RULE_UNKNOWN_ELEMENT_TYPE ? "element type"
	                         : fault->rule == D9_RULE_NESTING              ? "depth"
	                                                                       : "LEB128 number";
	struct quoted q, q2;
	char shown[40] = "";

	if (fault->rule == D9_RULE_LEB128_TOO_LONG)
		snprintf(shown, sizeof shown, "has no end within %d bytes", D9_VARINT_MAX);
	else
		snprintf(shown, sizeof shown,
		         fault->rule == D9_RULE_NESTING ? "is %" PRIu64 : "is 0x%02" PRIx64, fault->value);
	finding_add(st->r->findings, &d9_rules[fault->rule], at, f->ordinal,
	            "%s in field %s of %s %s; the event begins at byte %" PRIu64, what,
	            quoted(&q, field->name), quoted(&q2, s->cls->name), shown, f->offset);
	return D9_BAD;
}

enum d9_result
d9_walk_event(struct d9_state *st, const struct d9_schema *s, struct d9_frame *f)
{
	struct walk w = { .st = st, .f = f, .s = s, .c = cursor_on(f->p, f->end, false) };

	st->lack.says_length = false;
	if (!event(&w)) {
		if (w.stuck)
			return d9_say_fault(st, s, w.field, f, f->at + (uint64_t)(w.fault.at - f->p),
			                    &w.fault);
		if (!st->lack.says_length)
			d9_lacks(st, &w.c);
		st->lack.schema = s;
		st->lack.field = w.field;
		return D9_MORE;
	}
	f->end = w.c.p;
	if (w.odd) {
		w.saying = true;
		w.c = cursor_on(f->p, f->end, false);
		(void)event(&w);
	}
	return w.no_memory ? D9_NO_MEMORY : D9_DONE;
}
