/*
 * The grammar of values, driven by d9_types: one walk checks them, passes over them or converts them. Nesting
 * is bounded (D9_MAX_NESTING), and so are the bytes that pools and symbols add to one event
 * (D9_MAX_EVENT_POOLED).
 *
 * Plain events of common schemas are only measured (fast.c); all others are walked.
 */
#include "dial9/dial9.h"

/* ---- types ---- */

#define NAMES(name)                                                                                          \
	{                                                                                                    \
		name, "optional " name                                                                       \
	}

const struct d9_type_info d9_types[D9_TYPES] = {
	[0] = { .names = { "unknown", "unknown" }, .shape = D9_SHAPE_UNKNOWN },
	[D9_I64] = { NAMES("I64"), "value", D9_SHAPE_FIXED, 8, .value = VALUE_I64 },
	[D9_F64] = { NAMES("F64"), "value", D9_SHAPE_FIXED, 8, .value = VALUE_F64 },
	[D9_BOOL] = { NAMES("Bool"), "Bool", D9_SHAPE_BOOL, 1, .value = VALUE_BOOL },
	[D9_STRING] = { NAMES("String"), "string length", D9_SHAPE_TEXT, 1, .value = VALUE_STRING },
	[D9_BYTES] = { NAMES("Bytes"), "bytes length", D9_SHAPE_RUN, 1, .value = VALUE_BYTES },
	[D9_POOLED_STACK] = { NAMES("PooledStackFrames"), "pool_id", D9_SHAPE_ID, 4, .pool = D9_STACKS,
	                      .value = VALUE_U32, .newer = "field type 6 (PooledStackFrames)",
	                      .since = D9_0_3_6 },
	[D9_POOLED_STRING] = { NAMES("PooledString"), "pool_id", D9_SHAPE_ID, 4, .pool = D9_STRINGS,
	                       .value = VALUE_U32 },
	[D9_STACK] = { NAMES("StackFrames"), "frame count", D9_SHAPE_RUN, 8, .value = VALUE_LIST },
	[D9_VARINT] = { NAMES("Varint"), "LEB128 number", D9_SHAPE_LEB128, 0, .value = VALUE_U64 },
	[D9_STRING_MAP] = { NAMES("StringMap"), "map count", D9_SHAPE_VALUES, 8, 2, .value = VALUE_MAP },
	[D9_U8] = { NAMES("U8"), "U8", D9_SHAPE_FIXED, 1, .value = VALUE_U8 },
	[D9_U16] = { NAMES("U16"), "U16", D9_SHAPE_FIXED, 2, .value = VALUE_U16 },
	[D9_U32] = { NAMES("U32"), "U32", D9_SHAPE_FIXED, 4, .value = VALUE_U32 },
	[D9_LIST] = { NAMES("DynamicList"), "list count", D9_SHAPE_VALUES, 2, 1, .tagged = true,
	              .value = VALUE_LIST, .newer = "field type 14 (DynamicList)", .since = D9_0_4 },
	[D9_MAP] = { NAMES("DynamicMap"), "map count", D9_SHAPE_VALUES, 4, 2, .tagged = true,
	             .value = VALUE_MAP, .newer = "field type 15 (DynamicMap)", .since = D9_0_4 },
};

/* ---- bytes ---- */

static bool lack_length(struct d9_bytes *b, const char *what, uint64_t n, uint64_t missing, uint64_t left)
{
	*b->lack =
	    (struct d9_lack){ .what = what, .bytes = missing, .length = n, .left = left, .has_length = true };
	return false;
}

void d9_bytes_lack(struct d9_bytes *b, size_t n, const char *what)
{
	*b->lack = (struct d9_lack){ .what = what, .bytes = n - (size_t)(b->end - b->p) };
}

/* Whether n items of at least `each` bytes fit into the rest. */
static bool bytes_fit(struct d9_bytes *b, uint32_t n, uint32_t each, const char *what)
{
	const uint64_t bytes = (uint64_t)n * each, left = (uint64_t)(b->end - b->p);

	return bytes <= left || lack_length(b, what, n, bytes - left, left);
}

bool d9_bytes_run(struct d9_bytes *b, uint32_t n, uint32_t each, const char *what, const char **p)
{
	*p = b->p;
	if (!bytes_fit(b, n, each, what))
		return false;
	b->p += (uint64_t)n * each;
	return true;
}

unsigned d9_bytes_leb128(struct d9_bytes *b, uint64_t *v, const char *what)
{
	uint64_t number = 0;
	const char *p;

	for (unsigned i = 0; i < D9_VARINT_MAX && (p = d9_bytes_read(b, 1, what)) != NULL; i++) {
		number |= (uint64_t)(*p & 0x7f) << 7 * i;
		if ((uint8_t)*p < 0x80) {
			*v = number;
			return i + 1;
		}
	}
	return p != NULL ? D9_VARINT_MAX + 1 : 0;
}

void d9_report_over_64_bits(struct d9_state *st, const struct record *f, const char *end)
{
	d9_find_at(st, D9_RULE_LEB128_OVERFLOW, f, end - D9_VARINT_MAX,
	           "byte 10 is 0x%02x, at most 0x01 fits 64 bits", (uint8_t)end[-1]);
}

/* ---- values of ids and stacks ---- */

/* Charges bytes of pools and symbols to the event: a hostile one refers to a long text in all fields. */
static bool charge_event(struct d9_state *st, uint32_t bytes, struct finding_tally *limit, uint32_t id,
                         const struct record *f)
{
	if (bytes > D9_MAX_EVENT_POOLED - st->event_pooled) {
		d9_tally(limit, f, id);
		return false;
	}
	st->event_pooled += bytes;
	st->r->referred += bytes;
	return true;
}

/* Charges a text above the limit.  Returns false unless it is the first one of the event. */
static bool charge_long(struct d9_state *st, uint32_t bytes)
{
	if (bytes <= D9_MAX_EVENT_POOLED || st->event_pooled > 0)
		return false;
	st->event_pooled = D9_MAX_EVENT_POOLED;
	st->r->referred += bytes;
	return true;
}

static void set_stack(struct d9_state *st, const char *addresses, uint32_t n, const struct record *f,
                      struct batch *b, struct value *v)
{
	const uint64_t plain = (uint64_t)n * D9_ADDRESS_COST;
	uint32_t cost;

	*v = (struct value){ .type = VALUE_NONE };
	if (!d9_wants_fields(st))
		return; /* stacks are never part of names */
	d9_look_ahead(st);
	if (st->ahead == NULL)
		d9_tally(&st->tallies.symbols_late, f, n);
	*v = (struct value){ .type = VALUE_LIST, .count = n };
	v->values = d9_stack_values(st, true, &b->scratch, addresses, n, &cost, &v->element);
	if (cost > plain && !charge_event(st, cost - (uint32_t)plain, &st->tallies.names_limit, n, f))
		v->values = d9_stack_values(st, false, &b->scratch, addresses, n, &cost, &v->element);
}

/* Sets *v to the id as a number. */
static void set_number(uint32_t id, struct value *v)
{
	*v = (struct value){ .type = VALUE_U32, .u64 = id };
}

/* Sets *v for an id that is not defined yet. */
static void set_late(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct record *f,
                     struct batch *b, struct value *v)
{
	d9_look_ahead(st);
	const struct slice data = d9_ahead_find(st, kind, id);
	if (data.p == NULL)
		d9_pool_shown(st, kind, id);
	if (data.p == NULL || !charge_event(st, data.n, &st->tallies.pool_limit, id, f))
		return;
	if (kind == D9_STACKS)
		set_stack(st, data.p, data.n / 8, f, b, v);
	else
		*v = value_string(data);
}

/* Sets *v for an id that is not a known text. */
static void set_other(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct record *f,
                      struct batch *b, struct value *v)
{
	const struct d9_entry *const e = d9_pool_find(&st->pools[kind], id);

	set_number(id, v);
	if (kind == D9_STACKS && !d9_wants_fields(st))
		return;
	if (e == NULL) {
		set_late(st, kind, id, f, b, v);
	} else if (charge_event(st, e->cost, &st->tallies.pool_limit, id, f)) {
		*v = (struct value){ .type = VALUE_LIST, .element = e->element, .count = e->n };
		v->values = e->values;
		if (st->ahead == NULL)
			d9_tally(&st->tallies.symbols_late, f, e->n);
	}
}

void d9_value_id(struct d9_state *st, enum d9_pool_kind kind, uint32_t id, const struct record *f,
                 struct batch *b, struct value *v)
{
	const struct d9_entry *const e = d9_pool_find(&st->pools[kind], id);

	if (kind == D9_STACKS || e == NULL)
		set_other(st, kind, id, f, b, v);
	else if (charge_long(st, e->cost) || charge_event(st, e->cost, &st->tallies.pool_limit, id, f))
		*v = value_string((struct slice){ e->text, e->n, e->flags });
	else
		set_number(id, v);
}

/* ---- faults ---- */

/* Names of the length and the bytes of a text, for findings. */
struct text_names {
	const char *length, *text;
};

static const struct text_names string_names = { "string length", "string" };
static const struct text_names map_names[] = { { "key_len", "map key" }, { "val_len", "map value" } };

/* Ends the walk.  back: bytes from the fault to the current position. */
static bool stop_at(struct d9_walk *w, enum d9_rule rule, unsigned back, uint64_t v)
{
	w->stopped = true;
	w->rule = (uint8_t)rule;
	w->at = input_offset(w->st->r->in, w->bytes.p) - back;
	w->value = v;
	return false;
}

/* Notes a finding that does not end reading.  Returns whether to report it now. */
static bool note_finding(struct d9_walk *w)
{
	w->has_finding = true;
	return w->mode == D9_WALK_REPORT;
}

/* ---- flat values ---- */

static bool walk_fixed(struct d9_walk *w, const struct d9_type_info *t, struct value *v)
{
	const char *const p = d9_bytes_read(&w->bytes, t->size, t->missing);

	if (p != NULL && v != NULL)
		*v = (struct value){ .type = t->value, .u64 = d9_load(p, t->size) };
	return p != NULL;
}

static bool walk_bool(struct d9_walk *w, const struct d9_type_info *t, struct value *v)
{
	uint8_t byte;

	if (!d9_bytes_u8(&w->bytes, &byte, t->missing))
		return false;
	if (v != NULL && w->raw && byte > 1)
		*v = (struct value){ .type = VALUE_U8, .u64 = byte }; /* keeps the number */
	else if (v != NULL)
		*v = (struct value){ .type = t->value, .u64 = byte != 0 };
	else if (byte > 1 && note_finding(w))
		d9_tally(&w->st->tallies.bools, w->f, byte);
	return true;
}

static bool walk_leb128(struct d9_walk *w, const struct d9_type_info *t, struct value *v)
{
	uint64_t number;

	if (v != NULL || w->mode == D9_WALK_OVER) { /* checked before */
		number = d9_varint(&w->bytes.p);
		if (v != NULL)
			*v = value_u64(number);
		return true;
	}
	const unsigned n = d9_bytes_leb128(&w->bytes, &number, t->missing);
	if (n == 0)
		return false;
	if (n > D9_VARINT_MAX)
		return stop_at(w, D9_RULE_LEB128_TOO_LONG, D9_VARINT_MAX, 0);
	if (d9_is_over_64_bits(w->bytes.p, n) && note_finding(w))
		d9_report_over_64_bits(w->st, w->f, w->bytes.p);
	return true;
}

static bool walk_id(struct d9_walk *w, const struct d9_type_info *t, struct value *v)
{
	const enum d9_pool_kind kind = (enum d9_pool_kind)t->pool;
	uint32_t id;

	if (!d9_bytes_u32(&w->bytes, &id, t->missing))
		return false;
	if (v != NULL && w->raw)
		*v = (struct value){ .type = t->value, .u64 = id };
	else if (v != NULL)
		d9_value_id(w->st, kind, id, w->f, w->b, v);
	else if (w->mode != D9_WALK_OVER && d9_pool_find(&w->st->pools[kind], id) == NULL && note_finding(w))
		d9_pool_miss(w->st, kind, id, w->f);
	return true;
}

static bool walk_text(struct d9_walk *w, const struct text_names *name, struct value *v)
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
	else if ((s.flags & SLICE_UTF8) == 0 && note_finding(w))
		d9_check_text(w->st, w->f, s, name->text, w->field->in_file);
	return true;
}

/* Walks over Bytes, or the addresses of a stack. */
static bool walk_run(struct d9_walk *w, const struct d9_type_info *t, struct value *v)
{
	const char *p;
	uint32_t n, cost;

	if (!d9_bytes_u32(&w->bytes, &n, t->missing) || !d9_bytes_run(&w->bytes, n, t->size, t->missing, &p))
		return false;
	if (v == NULL)
		return true;
	*v = (struct value){ .type = t->value, .count = n, .p = p };
	if (t->value == VALUE_LIST && !w->raw)
		set_stack(w->st, p, n, w->f, w->b, v);
	else if (t->value == VALUE_LIST)
		v->values = d9_stack_values(w->st, false, &w->b->scratch, p, n, &cost, &v->element);
	return true;
}

/* ---- lists, maps and any value ---- */

/* Walks over a value after its type, which is never optional. */
static bool walk_element(struct d9_walk *w, unsigned depth, struct value *v)
{
	uint8_t type;

	if (!d9_bytes_u8(&w->bytes, &type, "element tag"))
		return false;
	if (!d9_is_element_type(type))
		return stop_at(w, D9_RULE_UNKNOWN_ELEMENT_TYPE, 1, type);
	return d9_walk_value(w, type, depth, v);
}

/* Walks over a list or map inside `depth` others with tagged elements. */
static bool walk_values(struct d9_walk *w, const struct d9_type_info *t, unsigned depth, struct value *v)
{
	struct value *all = NULL;
	uint32_t n;

	if (t->tagged && depth >= D9_MAX_NESTING)
		return stop_at(w, D9_RULE_NESTING, 0, depth + 1);
	if (!d9_bytes_u32(&w->bytes, &n, t->missing) || !bytes_fit(&w->bytes, n, t->size, t->missing))
		return false;
	const uint64_t count = (uint64_t)n * t->each;
	if (v != NULL) {
		all = arena_alloc(&w->b->scratch, (size_t)count * sizeof *all);
		w->st->r->no_memory |= all == NULL;
		*v = (struct value){ .type = t->value, .count = all != NULL ? n : 0, .values = all };
	}
	for (uint64_t i = 0; i < count; i++) {
		struct value *const each = all != NULL ? &all[i] : NULL;
		if (!(t->tagged ? walk_element(w, depth + 1, each) : walk_text(w, &map_names[i % 2], each)))
			return false;
	}
	return true;
}

static bool walk_present(struct d9_walk *w, const struct d9_type_info *t, unsigned depth, struct value *v)
{
	switch ((enum d9_shape)t->shape) {
	case D9_SHAPE_FIXED:
		return walk_fixed(w, t, v);
	case D9_SHAPE_BOOL:
		return walk_bool(w, t, v);
	case D9_SHAPE_ID:
		return walk_id(w, t, v);
	case D9_SHAPE_LEB128:
		return walk_leb128(w, t, v);
	case D9_SHAPE_TEXT:
		return walk_text(w, &string_names, v);
	case D9_SHAPE_RUN:
		return walk_run(w, t, v);
	case D9_SHAPE_VALUES:
		return walk_values(w, t, depth, v);
	case D9_SHAPE_UNKNOWN: /* excluded: the schema is readable */
		break;
	}
	return false;
}

static bool walk_optional(struct d9_walk *w, uint8_t type, unsigned depth, struct value *v)
{
	uint8_t byte;

	if (!d9_bytes_u8(&w->bytes, &byte, "presence byte"))
		return false;
	if (byte > 1)
		return stop_at(w, D9_RULE_PRESENCE_BYTE, 1, byte);
	if (byte == 1)
		return walk_present(w, d9_type(type), depth, v);
	if (v != NULL)
		*v = (struct value){ .type = VALUE_NONE };
	return true;
}

bool d9_walk_value(struct d9_walk *w, uint8_t type, unsigned depth, struct value *v)
{
	return d9_is_optional(type) ? walk_optional(w, type, depth, v)
	                            : walk_present(w, d9_type(type), depth, v);
}

/* ---- events ---- */

/* An event is walked once to check it, and again to report its findings: a frame at the end of a window is
 * checked again when there are more bytes. */

static bool walk_fields(struct d9_walk *w)
{
	if (d9_bytes_read(&w->bytes, D9_EVENT_HEAD, "type_id") == NULL ||
	    (w->s->timed &&
	     d9_bytes_read(&w->bytes, D9_TIMED_EVENT_HEAD - D9_EVENT_HEAD, "timestamp_delta_ns") == NULL))
		return false;
	for (uint32_t i = 0; i < w->s->nfields; i++) {
		w->field = &w->s->fields[i];
		if (!d9_walk_value(w, w->field->type, 0, NULL))
			return false;
	}
	return true;
}

/* Reports the reason of a stop.  An event that is too deep for this reader is legal: passes over it, and all
 * that follows it. */
static enum record_status report_stop(const struct d9_walk *w, struct record *f)
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
		snprintf(shown, sizeof shown, "is more than %u", D9_MAX_NESTING);
	else
		snprintf(shown, sizeof shown, "is 0x%02" PRIx64, w->value);
	finding_add(w->st->r->findings, &d9_rules[w->rule], w->at, w->f->ordinal,
	            "%s in field %s of %s %s; the event begins at byte %" PRIu64, what,
	            quoted(&q, w->field->in_file), quoted(&q2, w->s->name), shown, w->f->offset);
	return w->rule == D9_RULE_NESTING ? d9_pass_rest(w->st, f) : RECORD_BAD;
}

enum record_status d9_walk_event(struct d9_state *st, const struct d9_schema *s, struct record *f)
{
	struct d9_walk w = { .bytes = d9_bytes_of(st, f), .st = st, .f = f, .s = s, .mode = D9_WALK_CHECK };

	if (!walk_fields(&w)) {
		if (w.stopped)
			return report_stop(&w, f);
		st->lack.schema = s;
		st->lack.field = w.field;
		return RECORD_MORE;
	}
	f->end = w.bytes.p;
	if (w.has_finding) {
		w.mode = D9_WALK_REPORT;
		w.bytes.p = f->p;
		(void)walk_fields(&w);
	}
	return RECORD_DONE;
}

/* ---- events longer than --max-record ---- */

/* Passes over the next value, or over its length or count.  Changes nothing unless all these bytes are in the
 * window. */
static bool pass_value(struct d9_walk *w, struct d9_pass *pass, uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);
	const char *const present =
	    d9_is_optional(type) ? d9_bytes_read(&w->bytes, 1, "presence byte") : "\1";
	uint64_t number;
	uint32_t n;

	if (present == NULL)
		return false;
	if ((uint8_t)*present > 1)
		return stop_at(w, D9_RULE_PRESENCE_BYTE, 1, (uint8_t)*present);
	if (*present == 0)
		return true;
	switch ((enum d9_shape)t->shape) {
	case D9_SHAPE_LEB128: {
		const unsigned size = d9_bytes_leb128(&w->bytes, &number, t->missing);
		return size <= D9_VARINT_MAX ? size > 0
		                             : stop_at(w, D9_RULE_LEB128_TOO_LONG, D9_VARINT_MAX, 0);
	}
	case D9_SHAPE_TEXT:
	case D9_SHAPE_RUN:
		if (!d9_bytes_u32(&w->bytes, &n, t->missing))
			return false;
		pass->run = (uint64_t)n * t->size;
		pass->total = pass->run;
		pass->length = n;
		pass->missing = t->missing;
		return true;
	case D9_SHAPE_VALUES:
		if (pass->depth == D9_MAX_NESTING)
			return stop_at(w, D9_RULE_NESTING, 0, pass->depth + 1);
		if (!d9_bytes_u32(&w->bytes, &n, t->missing))
			return false;
		pass->levels[pass->depth++] = (struct d9_pass_level){ (uint64_t)n * t->each, t->tagged };
		return true;
	default:
		return d9_bytes_read(&w->bytes, t->size, t->missing) != NULL;
	}
}

static bool pass_element(struct d9_walk *w, struct d9_pass *pass)
{
	struct d9_pass_level *const level = &pass->levels[pass->depth - 1];
	uint8_t type = D9_STRING;

	if (level->tagged) {
		const char *const p = d9_bytes_read(&w->bytes, 1, "element tag");
		if (p == NULL)
			return false;
		type = (uint8_t)*p;
		if (!d9_is_element_type(type))
			return stop_at(w, D9_RULE_UNKNOWN_ELEMENT_TYPE, 1, type);
	}
	if (!pass_value(w, pass, type))
		return false;
	level->values--;
	return true;
}

static bool pass_next(struct d9_walk *w, struct d9_pass *pass)
{
	if (pass->depth > 0)
		return pass_element(w, pass);
	w->field = &pass->schema->fields[pass->field];
	if (!pass_value(w, pass, w->field->type))
		return false;
	pass->field++;
	pass->value_of = w->field;
	return true;
}

/* Leaves the lists and maps that have no further values.  Returns whether the record ends. */
static bool is_passed(struct d9_pass *pass)
{
	while (pass->depth > 0 && pass->levels[pass->depth - 1].values == 0)
		pass->depth--;
	return pass->run == 0 && pass->depth == 0 &&
	       (pass->schema == NULL || pass->field == pass->schema->nfields);
}

/* More than the bytes of any unit of a value, such as a number. */
#define UNIT_BYTES 16

enum record_status d9_pass(struct d9_state *st, struct record *f)
{
	struct d9_pass *const pass = &st->pass;
	const char *const end = st->r->in->end;
	struct d9_walk w = { .bytes = d9_bytes_of(st, f), .st = st, .f = f, .s = pass->schema };
	const char *p = f->p;

	if ((size_t)(end - p) < READER_PIECE + UNIT_BYTES && !st->r->in->last)
		return RECORD_MORE;
	f->end = w.bytes.end = end;
	if (pass->depth > 0) /* within a value that began in an earlier piece */
		w.field = pass->value_of;
	while (p - f->p < (ptrdiff_t)READER_PIECE && !is_passed(pass)) {
		const size_t window = (size_t)(end - p), piece = READER_PIECE - (size_t)(p - f->p);
		const size_t left = window < piece ? window : piece;
		const size_t run = pass->run < left ? (size_t)pass->run : left;
		p += run;
		pass->run -= run;
		if (pass->run > 0)
			break;
		w.bytes.p = p;
		if (is_passed(pass) || !pass_next(&w, pass))
			break;
		p = w.bytes.p;
	}
	if (w.stopped && p == f->p)
		return report_stop(&w, f);
	if (p == f->p && pass->run > 0) {
		(void)lack_length(&w.bytes, pass->missing, pass->length, pass->run, pass->total - pass->run);
		w.field = pass->value_of;
	}
	st->lack.schema = w.s;
	st->lack.field = w.field;
	f->end = p;
	pass->open = !is_passed(pass);
	return p > f->p ? RECORD_DONE : RECORD_MORE;
}
