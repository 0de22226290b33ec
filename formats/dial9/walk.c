#include "dial9/dial9.h"

/* ---- value ---- */

/* Pools and symbols may add only so much to an event, whose fields can all name one long text. */
static bool has_room(struct d9_state *st, uint32_t bytes, struct finding_tally *limit, uint32_t id,
                     const struct d9_frame *f)
{
	if (bytes > D9_MAX_EVENT_POOLED - st->event_pooled) {
		d9_tally(limit, f, id);
		return false;
	}
	st->event_pooled += bytes;
	st->batch_pooled += bytes;
	return true;
}

static void d9_value_stack(struct d9_state *st, const char *addresses, uint32_t n, const struct d9_frame *f,
                           struct batch *b, struct value *v)
{
	const uint64_t plain = (uint64_t)n * D9_ADDRESS_COST;
	uint32_t cost;

	*v = (struct value){ .type = VALUE_NONE };
	if (!d9_wants_fields(st))
		return; /* names of events are not made of stacks */
	d9_look_ahead(st);
	if (!st->looked_ahead)
		d9_tally(&st->tallies.symbols_late, f, n);
	*v = (struct value){ .type = VALUE_LIST, .count = n };
	v->values = d9_stack_values(st, true, &b->scratch, addresses, n, &cost, &v->element);
	if (cost > plain && !has_room(st, cost - (uint32_t)plain, &st->tallies.names_limit, n, f))
		v->values = d9_stack_values(st, false, &b->scratch, addresses, n, &cost, &v->element);
}

/* What is shown of an id for which nothing better is there. */
static void number(uint32_t id, struct value *v)
{
	*v = (struct value){ .type = VALUE_U32, .u64 = id };
}

/* An id that is not defined yet. */
static void late(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f,
                 struct batch *b, struct value *v)
{
	d9_look_ahead(st);
	const struct slice data = d9_ahead_find(st, kind, id);
	if (data.p == NULL)
		d9_pool_shown(st, kind, id);
	if (data.p == NULL || !has_room(st, data.n, &st->tallies.pool_limit, id, f))
		return;
	if (kind == D9_STACKS)
		d9_value_stack(st, data.p, data.n / 8, f, b, v);
	else
		*v = value_string(data);
}

/* What is no text of a pool. */
static void other(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f,
                  struct batch *b, struct value *v)
{
	const struct d9_entry *const e = d9_pool_find(&st->pools[kind], id);

	number(id, v);
	if (kind == D9_STACKS && !d9_wants_fields(st))
		return;
	if (e == NULL) {
		late(st, kind, id, f, b, v);
	} else if (has_room(st, e->cost, &st->tallies.pool_limit, id, f)) {
		*v = (struct value){ .type = VALUE_LIST, .element = e->element, .count = e->n };
		v->values = e->values;
		if (!st->looked_ahead)
			d9_tally(&st->tallies.symbols_late, f, e->n);
	}
}

void d9_value_id(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct d9_frame *f,
                 struct batch *b, struct value *v)
{
	const struct d9_entry *const e = d9_pool_find(&st->pools[kind], id);

	if (kind == D9_STACKS || e == NULL)
		other(st, kind, id, f, b, v);
	else if (has_room(st, e->cost, &st->tallies.pool_limit, id, f))
		*v = value_string((struct slice){ e->text, e->n, e->flags });
	else
		number(id, v);
}

/* ---- walk ---- */

/* What the bytes of texts are called. */
struct text_name {
	const char *length, *text;
};

static const struct text_name string_name = { "string length", "string" };
static const struct text_name map_names[] = { { "key_len", "map key" }, { "val_len", "map value" } };

/* `back`: bytes between the fault and the present place. */
static bool stuck(struct d9_walk *w, enum d9_rule rule, unsigned back, uint64_t v)
{
	w->stuck = true;
	w->rule = (uint8_t)rule;
	w->at = d9_bytes_offset(&w->bytes) - back;
	w->value = v;
	return false;
}

/* Notes something that does not end reading; whether it is to be reported now. */
static bool odd(struct d9_walk *w)
{
	w->odd = true;
	return w->mode == D9_WALK_REPORT;
}

/* ---- values without others in them ---- */

static uint64_t load(const char *p, unsigned size)
{
	switch (size) {
	case 1:
		return (uint8_t)*p;
	case 2:
		return load_u16(p, false);
	case 4:
		return load_u32(p, false);
	default:
		return load_u64(p, false);
	}
}

static bool fixed(struct d9_walk *w, const struct d9_type_info *t, struct value *v)
{
	const char *const p = d9_bytes_take(&w->bytes, t->size, t->missing);

	if (p != NULL && v != NULL)
		*v = (struct value){ .type = t->value, .u64 = load(p, t->size) };
	return p != NULL;
}

static bool boolean(struct d9_walk *w, const struct d9_type_info *t, struct value *v)
{
	const char *const p = d9_bytes_take(&w->bytes, 1, t->missing);
	const uint8_t byte = p != NULL ? (uint8_t)*p : 0;

	if (p == NULL)
		return false;
	if (v != NULL && w->raw && byte > 1)
		*v = (struct value){ .type = VALUE_U8, .u64 = byte }; /* or the number would be lost */
	else if (v != NULL)
		*v = (struct value){ .type = t->value, .u64 = byte != 0 };
	else if (byte > 1 && odd(w))
		d9_tally(&w->st->tallies.bools, w->f, byte);
	return true;
}

static bool leb128(struct d9_walk *w, const struct d9_type_info *t, struct value *v)
{
	uint64_t number;

	if (v != NULL || (w->mode == D9_WALK_OVER && !w->bytes.pieces)) { /* it was checked */
		number = d9_varint(&w->bytes.p);
		if (v != NULL)
			*v = value_u64(number);
		return true;
	}
	const unsigned n = d9_bytes_leb128(&w->bytes, &number, t->missing);
	if (n == 0)
		return false;
	if (n > D9_VARINT_MAX)
		return stuck(w, D9_RULE_LEB128_TOO_LONG, D9_VARINT_MAX, 0);
	const uint8_t last = (uint8_t)w->bytes.p[-1];
	if (n == D9_VARINT_MAX && last > 1 && odd(w))
		d9_find_at(w->st, D9_RULE_LEB128_OVERFLOW, w->f, w->bytes.p - n,
		           "byte 10 is 0x%02x, at most 0x01 fits 64 bits", last);
	return true;
}

static bool pool_id(struct d9_walk *w, const struct d9_type_info *t, struct value *v)
{
	const enum d9_pool_kind kind = (enum d9_pool_kind)t->pool;
	uint32_t id;

	if (!d9_bytes_u32(&w->bytes, &id, t->missing))
		return false;
	if (v != NULL && w->raw)
		*v = (struct value){ .type = t->value, .u64 = id };
	else if (v != NULL)
		d9_value_id(w->st, kind, id, w->f, w->b, v);
	else if (w->mode != D9_WALK_OVER && d9_pool_find(&w->st->pools[kind], id) == NULL && odd(w))
		d9_pool_miss(w->st, kind, id, w->f);
	return true;
}

static bool text(struct d9_walk *w, const struct text_name *name, struct value *v)
{
	const char *p;
	uint32_t n;

	if (!d9_bytes_u32(&w->bytes, &n, name->length) || !d9_bytes_run(&w->bytes, n, 1, name->length, &p))
		return false;
	if (v == NULL && w->mode == D9_WALK_OVER)
		return true;
	const struct slice s = textscan_slice(p, n);
	if (v != NULL)
		*v = value_string(s);
	else if ((s.flags & SLICE_UTF8) == 0 && odd(w))
		d9_check_text(w->st, w->f, s, name->text, w->field->in_file);
	return true;
}

/* Bytes, or the addresses of a stack. */
static bool run(struct d9_walk *w, const struct d9_type_info *t, struct value *v)
{
	const char *p;
	uint32_t n, cost;

	if (!d9_bytes_u32(&w->bytes, &n, t->missing) || !d9_bytes_run(&w->bytes, n, t->size, t->missing, &p))
		return false;
	if (v == NULL)
		return true;
	*v = (struct value){ .type = t->value, .count = n, .p = p };
	if (t->value == VALUE_LIST && !w->raw)
		d9_value_stack(w->st, p, n, w->f, w->b, v);
	else if (t->value == VALUE_LIST)
		v->values = d9_stack_values(w->st, false, &w->b->scratch, p, n, &cost, &v->element);
	return true;
}

/* ---- values in values ---- */

/* A value behind its type, which is never optional. */
static bool element(struct d9_walk *w, unsigned depth, struct value *v)
{
	const char *const p = d9_bytes_take(&w->bytes, 1, "element tag");
	const uint8_t type = p != NULL ? (uint8_t)*p : 0;

	if (p == NULL)
		return false;
	if (!d9_is_element_type(type))
		return stuck(w, D9_RULE_UNKNOWN_ELEMENT_TYPE, 1, type);
	return d9_walk_value(w, type, depth, v);
}

/* Lists and maps.  `depth` of those whose elements have types are around it. */
static bool values(struct d9_walk *w, const struct d9_type_info *t, unsigned depth, struct value *v)
{
	struct value *all = NULL;
	uint32_t n;

	if (t->tagged && depth >= D9_MAX_NESTING)
		return stuck(w, D9_RULE_NESTING, 0, depth + 1);
	if (!d9_bytes_u32(&w->bytes, &n, t->missing) || !d9_bytes_fit(&w->bytes, n, t->size, t->missing))
		return false;
	const uint64_t count = (uint64_t)n * t->each;
	if (v != NULL) {
		all = arena_alloc(&w->b->scratch, (size_t)count * sizeof *all);
		w->st->no_memory |= all == NULL;
		*v = (struct value){ .type = t->value, .count = all != NULL ? n : 0, .values = all };
	}
	for (uint64_t i = 0; i < count; i++) {
		struct value *const each = all != NULL ? &all[i] : NULL;
		if (!(t->tagged ? element(w, depth + 1, each) : text(w, &map_names[i % 2], each)))
			return false;
	}
	return true;
}

/* ---- any value ---- */

/* A value that is there. */
static bool present(struct d9_walk *w, const struct d9_type_info *t, unsigned depth, struct value *v)
{
	switch ((enum d9_shape)t->shape) {
	case D9_SHAPE_FIXED:
		return fixed(w, t, v);
	case D9_SHAPE_BOOL:
		return boolean(w, t, v);
	case D9_SHAPE_ID:
		return pool_id(w, t, v);
	case D9_SHAPE_LEB128:
		return leb128(w, t, v);
	case D9_SHAPE_TEXT:
		return text(w, &string_name, v);
	case D9_SHAPE_RUN:
		return run(w, t, v);
	case D9_SHAPE_VALUES:
		return values(w, t, depth, v);
	case D9_SHAPE_UNKNOWN: /* the schema was found readable */
		break;
	}
	return false;
}

static bool optional(struct d9_walk *w, uint8_t type, unsigned depth, struct value *v)
{
	const char *const p = d9_bytes_take(&w->bytes, 1, "presence byte");
	const uint8_t byte = p != NULL ? (uint8_t)*p : 0;

	if (p == NULL)
		return false;
	if (byte > 1)
		return stuck(w, D9_RULE_PRESENCE_BYTE, 1, byte);
	if (byte == 1)
		return present(w, d9_type(type), depth, v);
	if (v != NULL)
		*v = (struct value){ .type = VALUE_NONE };
	return true;
}

bool d9_walk_value(struct d9_walk *w, uint8_t type, unsigned depth, struct value *v)
{
	return d9_is_optional(type) ? optional(w, type, depth, v) : present(w, d9_type(type), depth, v);
}

/* ---- events ---- */

static bool event(struct d9_walk *w)
{
	if (d9_bytes_take(&w->bytes, D9_EVENT_HEAD, "type_id") == NULL ||
	    (w->s->timed &&
	     d9_bytes_take(&w->bytes, D9_TIMED_EVENT_HEAD - D9_EVENT_HEAD, "timestamp_delta_ns") == NULL))
		return false;
	for (uint32_t i = 0; i < w->s->nfields; i++) {
		w->field = &w->s->fields[i];
		if (!d9_walk_value(w, w->field->type, 0, NULL))
			return false;
	}
	return true;
}

static struct d9_walk walk_frame(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	return (struct d9_walk){ .bytes = d9_bytes_of(st, f), .st = st, .f = f, .s = s };
}

/* Why the event cannot be read on. */
static enum d9_result report_stuck(const struct d9_walk *w)
{
	const char *const what = w->rule == D9_RULE_PRESENCE_BYTE          ? "presence byte"
	                         : w->rule == D9_RULE_UNKNOWN_ELEMENT_TYPE ? "element type"
	                         : w->rule == D9_RULE_NESTING              ? "depth"
	                                                                   : "LEB128 number";
	struct quoted q, q2;
	char shown[40] = "";

	if (w->rule == D9_RULE_LEB128_TOO_LONG)
		snprintf(shown, sizeof shown, "has no end within %d bytes", D9_VARINT_MAX);
	else if (w->rule == D9_RULE_NESTING)
		snprintf(shown, sizeof shown, "is %" PRIu64, w->value);
	else
		snprintf(shown, sizeof shown, "is 0x%02" PRIx64, w->value);
	finding_add(w->st->r->findings, &d9_rules[w->rule], w->at, w->f->ordinal,
	            "%s in field %s of %s %s; the event begins at byte %" PRIu64, what,
	            quoted(&q, w->field->in_file), quoted(&q2, w->s->name), shown, w->f->offset);
	return D9_BAD;
}

static enum d9_result failed(const struct d9_walk *w)
{
	if (w->stuck)
		return report_stuck(w);
	w->st->lack.schema = w->s;
	w->st->lack.field = w->field;
	return D9_MORE;
}

enum d9_result d9_walk_event(struct d9_state *st, const struct d9_schema *s, struct d9_frame *f)
{
	struct d9_walk w = walk_frame(st, s, f);

	w.mode = D9_WALK_CHECK;
	if (!event(&w))
		return failed(&w);
	f->end = w.bytes.p;
	if (w.odd) {
		w.mode = D9_WALK_REPORT;
		w.bytes.p = f->p;
		(void)event(&w);
	}
	return D9_DONE;
}

enum d9_result d9_walk_pieces(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	struct d9_walk w = walk_frame(st, s, f);

	w.bytes = d9_bytes_pieces(st);
	const bool ok = event(&w);
	st->r->in->p = w.bytes.p;
	return ok ? D9_DONE : failed(&w);
}

/* ---- entry ---- */

/*
 * Pool frames: a count, then entries.  A frame may be larger than memory, so
 * its entries are read one by one; st->open says how many are still to come.
 * Each entry is a record of its own; the first one carries the frame's head.
 */

struct entry {
	uint32_t id;
	struct slice data; /* p NULL: there is none, or it came in pieces */
};

static bool take_head(struct d9_bytes *b, struct d9_open_frame *head)
{
	if (d9_bytes_take(b, 1, "tag") == NULL || !d9_bytes_u32(b, &head->count, "count"))
		return false;
	head->left = head->count;
	return true;
}

static bool take_entry(struct d9_bytes *b, bool strings, struct entry *e)
{
	const char *const what = strings ? "data_len" : "frame_count", *p;
	const uint32_t size = strings ? 1 : 8;
	uint32_t n;

	if (!d9_bytes_u32(b, &e->id, "pool_id") || !d9_bytes_u32(b, &n, what) ||
	    !d9_bytes_run(b, n, size, what, &p))
		return false;
	if (p != NULL)
		e->data = strings ? textscan_slice(p, n) : slice_of(p, (size_t)n * size);
	return true;
}

/* The entry that is there if the frame has any; `first`: with the frame's head. */
static void show(struct d9_state *st, const struct d9_frame *f, struct batch *b, const struct entry *e,
                 bool first)
{
	const bool strings = st->open.tag == D9_TAG_STRINGS;
	const struct slice data = e->data;
	struct field fields[3];
	uint32_t n = 0, cost;

	if (!d9_wants_structure(st))
		return;
	if (first)
		fields[n++] =
		    (struct field){ SLICE_LIT("count"), { .type = VALUE_U32, .u64 = st->open.count } };
	if (st->open.count > 0)
		fields[n++] = (struct field){ SLICE_LIT("pool_id"), { .type = VALUE_U32, .u64 = e->id } };
	if (st->open.count > 0 && strings)
		fields[n++] = (struct field){ SLICE_LIT("data"), value_string(data) };
	if (st->open.count > 0 && !strings) {
		struct value v = { .type = VALUE_LIST, .count = data.n / 8 };
		v.values = d9_stack_values(st, false, &b->scratch, data.p, v.count, &cost, &v.element);
		fields[n++] = (struct field){ SLICE_LIT("frames"), v };
	}
	d9_record_structure(st, strings ? D9_S_STRINGS : D9_S_STACKS, f, b, fields, n);
}

static void define(struct d9_state *st, const struct d9_frame *f, const struct entry *e)
{
	const bool strings = st->open.tag == D9_TAG_STRINGS;

	if (strings && (e->data.flags & SLICE_UTF8) == 0)
		d9_check_text(st, f, e->data, "pool data", (struct slice){ NULL, 0, 0 });
	d9_pool_define(st, strings ? D9_STRINGS : D9_STACKS, e->id, e->data, f);
}

enum d9_result d9_pool_head(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct d9_bytes bytes = d9_bytes_of(st, f);
	struct d9_open_frame head = { .tag = f->tag, .offset = f->offset };
	struct entry e = { .id = 0 };

	if (!take_head(&bytes, &head) ||
	    (head.count > 0 && !take_entry(&bytes, f->tag == D9_TAG_STRINGS, &e)))
		return D9_MORE;
	f->end = bytes.p;
	st->open = head;
	if (head.count > 0)
		define(st, f, &e);
	show(st, f, b, &e, true);
	if (f->tag == D9_TAG_STACKS)
		d9_newer(st, f, f->p, "stack pool frame 0x04");
	return D9_DONE;
}

enum d9_result d9_pool_entry(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct d9_bytes bytes = d9_bytes_of(st, f);
	struct entry e = { .id = 0 };

	if (!take_entry(&bytes, f->tag == D9_TAG_STRINGS, &e))
		return D9_MORE;
	f->end = bytes.p;
	define(st, f, &e);
	show(st, f, b, &e, false);
	return D9_DONE;
}

enum d9_result d9_pool_skip(struct d9_state *st, const struct d9_frame *f)
{
	struct d9_bytes bytes = d9_bytes_pieces(st);
	struct d9_open_frame head = { .tag = f->tag, .offset = f->offset };
	const bool first = st->open.left == 0;
	struct entry e = { .id = 0 };

	const bool ok =
	    (!first || take_head(&bytes, &head)) && take_entry(&bytes, f->tag == D9_TAG_STRINGS, &e);
	st->r->in->p = bytes.p;
	if (!ok)
		return D9_MORE;
	if (first)
		st->open = head;
	st->pools_full = true; /* its id is defined, and not retained */
	d9_tally(&st->tallies.pool_limit, f, e.id);
	return D9_DONE;
}
