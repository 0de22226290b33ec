/*
 * Plain events at full speed: finds their ends and, in runs, makes the events of the batch.
 *
 * A schema becomes a list of steps in which adjacent fields of fixed size are one.  Numbers and references
 * have a maximum size, so that one comparison with the end of the window serves for all fields up to the next
 * text.  Events that are not plain (another Bool or presence byte than 0 and 1, an id that is not defined,
 * text that is not UTF-8, a number of too many bits) are left to d9_walk_event(), which checks and reports
 * them.
 *
 * The start of the next event is known only when the current one is measured.  Sizes are never loaded and
 * added, for which the processor would wait: each is a branch, which it predicts.
 */
#include <stdlib.h>

#include "dial9/dial9.h"
#include "model/value.h"

/* ---- values ---- */

/* Values of frequent types.  A step measures two of them. */
enum value_kind {
	END,     /* of the event */
	NOTHING, /* second: another step follows */
	BYTE,
	WORD, /* four bytes */
	VARINT,
	STRING_REF,
	STACK_REF,
	MAYBE_VARINT, /* after a presence byte */
	MAYBE_STRING,
	VALUE_KINDS
};

/* A pair of values above, or one value of another type. */
#define PAIR(first, second) ((first)*VALUE_KINDS + (second))

enum op_kind {
	OP_BOOL = PAIR(VALUE_KINDS, 0),
	OP_MAYBE_BOOL,
	OP_MAYBE_FIXED, /* `size` bytes after a presence byte */
	OP_MAYBE_STACK,
	OP_TEXT,
	OP_RUN,
	OP_MAP, /* texts, in pairs */
};

#define MAX_FIELDS 64        /* schemas with more are measured field by field */
#define MAX_TEXT (32U << 10) /* so are longer values: no event may exceed D9_FAST_FRAME */

/* ---- making the steps ---- */

struct maker {
	struct d9_measure_step steps[2 * MAX_FIELDS + 2];
	uint32_t n;
	uint32_t gap;          /* bytes of adjacent fixed fields that have no step yet */
	enum value_kind first; /* of a pair that has no second value yet; END: none */
	uint32_t first_need;   /* max bytes of the fields before the first text */
	uint32_t *need;        /* the same for the current fields */
};

static struct d9_measure_step *add_op(struct maker *m, unsigned kind)
{
	m->steps[m->n] = (struct d9_measure_step){ .kind = (uint8_t)kind };
	return &m->steps[m->n++];
}

/* Adds a value to the pair of the current step; END and NOTHING complete it. */
static void pair_value(struct maker *m, enum value_kind kind)
{
	if (m->first == END && kind != END) {
		m->first = kind;
		return;
	}
	add_op(m, (unsigned)PAIR(m->first, kind));
	m->first = END;
}

/* Adds steps for the fixed fields of the gap. */
static void flush_gap(struct maker *m)
{
	*m->need += m->gap;
	for (; m->gap >= 4; m->gap -= 4)
		pair_value(m, WORD);
	for (; m->gap > 0; m->gap--)
		pair_value(m, BYTE);
}

static void add_value_step(struct maker *m, enum value_kind kind, uint32_t bytes)
{
	flush_gap(m);
	*m->need += bytes;
	pair_value(m, kind);
}

static struct d9_measure_step *add_op_step(struct maker *m, enum op_kind kind, uint32_t bytes)
{
	flush_gap(m);
	*m->need += bytes;
	if (m->first != END)
		pair_value(m, NOTHING);
	return add_op(m, kind);
}

/* Adds a value of any length.  It ends the group of fields that one comparison serves: its length belongs to
 * this group, its content to the next one. */
static void add_run_step(struct maker *m, enum op_kind kind, uint8_t size)
{
	struct d9_measure_step *const op = add_op_step(m, kind, 4);

	op->size = size;
	m->need = &op->need;
}

/* Adds an optional value.  Returns false for values of any length: their `need` would depend on the presence
 * byte. */
static bool add_optional(struct maker *m, const struct d9_type_info *t)
{
	switch ((enum d9_shape)t->shape) {
	case D9_SHAPE_FIXED:
		add_op_step(m, OP_MAYBE_FIXED, 1U + t->size)->size = t->size;
		return true;
	case D9_SHAPE_BOOL:
		add_op_step(m, OP_MAYBE_BOOL, 1 + 1);
		return true;
	case D9_SHAPE_LEB128:
		add_value_step(m, MAYBE_VARINT, 1 + D9_VARINT_MAX);
		return true;
	case D9_SHAPE_ID:
		if (t->pool == D9_STRINGS)
			add_value_step(m, MAYBE_STRING, 1 + 4);
		else
			add_op_step(m, OP_MAYBE_STACK, 1 + 4);
		return true;
	default:
		return false;
	}
}

static bool add_field(struct maker *m, uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);

	if (d9_is_optional(type))
		return add_optional(m, t);
	switch ((enum d9_shape)t->shape) {
	case D9_SHAPE_FIXED:
		m->gap += t->size;
		return true;
	case D9_SHAPE_BOOL:
		add_op_step(m, OP_BOOL, 1);
		return true;
	case D9_SHAPE_LEB128:
		add_value_step(m, VARINT, D9_VARINT_MAX);
		return true;
	case D9_SHAPE_ID:
		add_value_step(m, t->pool == D9_STRINGS ? STRING_REF : STACK_REF, 4);
		return true;
	case D9_SHAPE_TEXT:
	case D9_SHAPE_RUN:
		add_run_step(m, t->shape == D9_SHAPE_TEXT ? OP_TEXT : OP_RUN, t->size);
		return true;
	case D9_SHAPE_VALUES:
		if (!t->tagged)
			add_run_step(m, OP_MAP, 0);
		return !t->tagged;
	case D9_SHAPE_UNKNOWN:
		break;
	}
	return false;
}

bool d9_make_measure_steps(const struct d9_state *st, struct d9_schema *s)
{
	const uint32_t nread = d9_wants_fields(st) ? s->nfields : s->nused;
	struct maker m = { .first_need = d9_schema_head(s) };
	uint32_t rest = 0;

	s->need = s->run_need = s->events_need = SIZE_MAX;
	if (!s->readable || s->nfields > MAX_FIELDS)
		return true;
	m.need = &m.first_need;
	for (uint32_t i = 0; i < s->nfields; i++) {
		if (i == nread) {
			flush_gap(&m);
			if (m.first != END)
				pair_value(&m, NOTHING);
			rest = m.n;
		}
		if (!add_field(&m, s->fields[i].type))
			return true;
	}
	add_value_step(&m, END, 0);
	s->measure_steps = malloc(m.n * sizeof *s->measure_steps);
	if (s->measure_steps == NULL)
		return false;
	memcpy(s->measure_steps, m.steps, m.n * sizeof *s->measure_steps);
	s->rest = nread < s->nfields ? s->measure_steps + rest : NULL;
	s->need = m.first_need;
	return true;
}

/* ---- measuring ---- */

#define CONTINUED UINT64_C(0x8080808080808080) /* LEB128: bits of bytes that others follow */

INLINE bool is_defined(const struct d9_pool *pool, const char *p)
{
	const uint32_t id = load_u32(p, false);

	return id < pool->ndirect && pool->direct[id] != 0;
}

/* Returns the end of a value of any length whose count or length is at p.  NULL, here and below: walk it. */
static const char *measure_run(const struct d9_measure_step *op, const char *p, const char *end)
{
	const uint32_t n = load_u32(p, false);
	const size_t left = (size_t)(end - p) - 4;
	const size_t bytes = (size_t)n * op->size;

	if (bytes > MAX_TEXT || bytes > left || op->need > left - bytes)
		return NULL;
	if (op->kind == OP_TEXT && (textscan_slice(p + 4, n).flags & SLICE_UTF8) == 0)
		return NULL;
	return p + 4 + bytes;
}

/* Returns the end of a map of texts whose count is at p. */
static const char *measure_map(const struct d9_measure_step *op, const char *p, const char *end)
{
	const char *const max = (size_t)(end - p) > MAX_TEXT ? p + MAX_TEXT : end;
	uint64_t texts = 2 * (uint64_t)load_u32(p, false);

	for (p += 4; texts > 0; texts--) {
		if (max - p < 4)
			return NULL;
		const uint32_t n = load_u32(p, false);
		p += 4;
		if (n > (size_t)(max - p) || (textscan_slice(p, n).flags & SLICE_UTF8) == 0)
			return NULL;
		p += n;
	}
	return op->need <= (size_t)(end - p) ? p : NULL;
}

/* Returns the end of a LEB128 number of more than two bytes.  Numbers of more than eight bytes occur:
 * 2^64 - 1 means no task. */
INLINE const char *measure_long(const char *p)
{
	const uint64_t last = ~load_u64(p, false) & CONTINUED;

	if (last != 0)
		return p + (low_bit(last) >> 3) + 1;
	if ((unsigned char)p[8] < 0x80)
		return p + 9;
	return (unsigned char)p[9] <= 1 ? p + D9_VARINT_MAX : NULL;
}

/* Returns the end of a value of this kind. */
INLINE const char *measure_value(const struct d9_state *st, enum value_kind kind, const char *p)
{
	switch (kind) {
	case BYTE:
		return p + 1;
	case WORD:
		return p + 4;
	case MAYBE_VARINT:
		if (*p != 1)
			return *p == 0 ? p + 1 : NULL;
		p++;
		/* fallthrough */
	case VARINT:
		if ((unsigned char)p[0] < 0x80)
			return p + 1;
		return (unsigned char)p[1] < 0x80 ? p + 2 : measure_long(p);
	case MAYBE_STRING:
		if (*p != 1)
			return *p == 0 ? p + 1 : NULL;
		p++;
		/* fallthrough */
	case STRING_REF:
		return is_defined(&st->pools[D9_STRINGS], p) ? p + 4 : NULL;
	case STACK_REF:
		return is_defined(&st->pools[D9_STACKS], p) ? p + 4 : NULL;
	default:
		return p;
	}
}

/* Returns the end of a value of another type. */
static const char *measure_other(const struct d9_state *st, const struct d9_measure_step *op, const char *p,
                                 const char *end)
{
	const unsigned char byte = (unsigned char)*p;

	switch ((enum op_kind)op->kind) {
	case OP_BOOL:
		return byte <= 1 ? p + 1 : NULL;
	case OP_MAYBE_BOOL:
		return byte == 0 ? p + 1 : byte == 1 && (unsigned char)p[1] <= 1 ? p + 2 : NULL;
	case OP_MAYBE_FIXED:
		return byte == 0 ? p + 1 : byte == 1 ? p + 1 + op->size : NULL;
	case OP_MAYBE_STACK:
		return byte == 0                                               ? p + 1
		       : byte == 1 && is_defined(&st->pools[D9_STACKS], p + 1) ? p + 5
		                                                               : NULL;
	case OP_TEXT:
	case OP_RUN:
		return measure_run(op, p, end);
	case OP_MAP:
		return measure_map(op, p, end);
	}
	return NULL;
}

#define VALUE(kind)                                                                                          \
	if ((kind) == END)                                                                                   \
		return p;                                                                                    \
	if ((p = measure_value(st, kind, p)) == NULL)                                                        \
	return NULL

/* clang-format off */
#define STEP_PAIR(first, second) case PAIR(first, second): VALUE(first); VALUE(second); break;

#define STEP_PAIRS(first) \
	STEP_PAIR(first, END) STEP_PAIR(first, NOTHING) STEP_PAIR(first, BYTE) STEP_PAIR(first, WORD) \
	STEP_PAIR(first, VARINT) STEP_PAIR(first, STRING_REF) STEP_PAIR(first, STACK_REF) \
	STEP_PAIR(first, MAYBE_VARINT) STEP_PAIR(first, MAYBE_STRING)

/* Executes one step.  Each use of the macro has its own jump, which the processor predicts separately. */
#define STEP(op) \
	switch ((op)->kind) { \
	case PAIR(END, END): return p; \
	STEP_PAIRS(BYTE) STEP_PAIRS(WORD) STEP_PAIRS(VARINT) STEP_PAIRS(STRING_REF) STEP_PAIRS(STACK_REF) \
	STEP_PAIRS(MAYBE_VARINT) STEP_PAIRS(MAYBE_STRING) \
	default: if ((p = measure_other(st, op, p, end)) == NULL) return NULL; \
	}

/* clang-format on */

/* Returns the end of an event whose values from those of `op` on begin at p. */
INLINE const char *measure(const struct d9_state *st, const struct d9_measure_step *op, const char *p,
                           const char *end)
{
	for (;; op += 3) {
		STEP(op)
		STEP(op + 1)
		STEP(op + 2)
	}
}

const char *d9_measure(const struct d9_state *st, const struct d9_schema *s, const char *p, const char *end)
{
	return measure(st, s->measure_steps, p + d9_schema_head(s), end);
}

/* Not inlined, as few events have values after those that are read. */
static NOINLINE const char *measure_rest(const struct d9_state *st, const struct d9_measure_step *op,
                                         const char *p)
{
	return measure(st, op, p, st->r->in->end);
}

/* ---- runs of plain events ---- */

#define MAX_BASE (UINT64_MAX >> 1) /* a run of events that begins below cannot exceed 64 bits */

#define THREADS_STEP (D9_THREADS_QUIET / 4) /* bytes after which the pass for threads checks for its end */

/* Measures records from p on that begin before `limit`.  Returns the last one, or NULL; *after: its end.
 * range: gets the times of events, unless NULL. */
INLINE const char *run_over(struct d9_state *st, const char *p, const char *limit, const char **after,
                            struct reader_range *range)
{
	const char *last = NULL, *const end = st->r->in->end;
	uint64_t base = st->base, records = 0;

	while (p < limit) {
		const char *next = p + D9_RESET_SIZE;
		if (*p == D9_TAG_EVENT) {
			const struct d9_schema *const s = d9_schema_find(&st->schemas, d9_type_id(p));
			uint64_t ts = base;
			if (s == NULL || (size_t)(end - p) < s->run_need)
				break;
			next = p + D9_EVENT_HEAD;
			if (s->timed) {
				ts += load_u32(p + 2, false) >> 8;
				next = p + D9_TIMED_EVENT_HEAD;
			}
			if ((next = measure(st, s->measure_steps, next, end)) == NULL)
				break;
			s->cls->records++;
			base = ts;
			if (range != NULL)
				reader_range_add(range, ts, ts);
		} else if (*p == D9_TAG_RESET && load_u64(p + 1, false) <= MAX_BASE) {
			base = load_u64(p + 1, false);
			st->frames[D9_TAG_RESET]->records++;
		} else {
			break;
		}
		last = p;
		p = next;
		records++;
	}
	st->base = base;
	st->r->records += records;
	*after = p;
	return last;
}

/* Not inlined, so that its variables have registers. */
static NOINLINE const char *run_records(struct d9_state *st, const char *p, const char *limit,
                                        const char **after)
{
	return run_over(st, p, limit, after, NULL);
}

static NOINLINE const char *run_times(struct d9_state *st, const char *p, const char *limit,
                                      const char **after)
{
	struct reader_range range = *st->r->range;
	const char *const last = run_over(st, p, limit, after, &range);

	*st->r->range = range;
	return last;
}

/* ---- runs with events ---- */

enum read_step_kind {
	READ_END,
	READ_PASS_BYTES,  /* passes over `size` bytes */
	READ_PASS_VARINT, /* passes over a number */
	READ_PASS_ID,     /* passes over an id of a pool */
	READ_MAYBE,       /* presence byte of the next step */
	READ_VARINT,      /* fields: */
	READ_FIXED,
	READ_ID,
};

#define READ_STEPS 8U /* number of kinds */

/* Appends steps for the field.  Returns false for types whose values runs do not read. */
static bool add_read_step(const struct d9_state *st, struct d9_read_step *to, uint32_t *n,
                          const struct d9_field *field, bool wanted)
{
	const struct d9_type_info *const t = d9_type(field->type);
	const bool optional = d9_is_optional(field->type);
	struct d9_read_step step = { .size = t->size, .value = t->value, .pool = &st->pools[t->pool] };

	if (t->shape == D9_SHAPE_LEB128)
		step.kind = wanted ? READ_VARINT : READ_PASS_VARINT;
	else if (t->shape == D9_SHAPE_FIXED)
		step.kind = wanted ? READ_FIXED : READ_PASS_BYTES;
	else if (t->shape == D9_SHAPE_ID)
		step.kind = wanted ? READ_ID : READ_PASS_ID;
	else
		return false;
	step.name = field->name;
	if (optional)
		to[(*n)++].kind = READ_MAYBE;
	to[(*n)++] = step;
	return true;
}

bool d9_make_read_steps(const struct d9_state *st, struct d9_schema *s)
{
	const bool all = d9_wants_fields(st), some = all || class_needs_fields(s->cls);
	const uint32_t nfields = all ? s->nfields : some ? s->nused : 0;
	uint32_t n = 0;

	if (s->read_steps == NULL && s->measure_steps != NULL && s->made == NULL && !d9_wants_raw(st)) {
		struct d9_read_step *const to = calloc(2 * (size_t)nfields + 1, sizeof *to);
		uint32_t i = 0;
		if (to == NULL)
			return false;
		if (nfields == 0)
			s->rest = s->measure_steps;
		while (i < nfields && add_read_step(st, to, &n, &s->fields[i], all || s->fields[i].used))
			i++;
		if (i == nfields)
			s->read_steps = to; /* ended by READ_END */
		else
			free(to);
	}
	s->events_need = s->read_steps != NULL || d9_wants_raw(st) ? s->run_need : SIZE_MAX;
	return true;
}

/* Reads a number.  Returns its end. */
INLINE const char *read_varint(const char *p, uint64_t *v)
{
	const uint64_t first = (unsigned char)p[0], second = (unsigned char)p[1];
	const char *const end = first < 0x80 ? p + 1 : second < 0x80 ? p + 2 : measure_long(p);

	*v = first < 0x80 ? first : (first & 0x7f) | second << 7;
	if (second >= 0x80 && first >= 0x80 && end != NULL)
		*v = d9_varint(&p);
	return end;
}

/* Returns the entry of the id at p; NULL: it is not defined, or has more than `max` bytes. */
INLINE const struct d9_entry *find_entry(const struct d9_pool *pool, const char *p, uint32_t max)
{
	const uint32_t id = load_u32(p, false), at = id < pool->ndirect ? pool->direct[id] : 0;

	return at != 0 && pool->entries[at - 1].cost <= max ? &pool->entries[at - 1] : NULL;
}

/* Adds the fields of the next event, whose values begin at p, and checks all of them.  Returns the end of the
 * event; NULL, without effect: it is not plain.  Not inlined, so that its variables have registers. */
static NOINLINE const char *read_fields(struct d9_state *st, const struct d9_schema *s, const char *p,
                                        struct batch *b)
{
	struct field *to = batch_fields(b, s->nfields + 1U); /* + 1: NULL means OOM */
	const struct d9_read_step *t = s->read_steps;
	const struct d9_entry *entry;
	uint32_t pooled = 0;
	uint64_t number;
	bool strings;

	if (to == NULL)
		return NULL;
	for (;; t++) {
		switch ((enum read_step_kind)(t->kind % READ_STEPS)) { /* so no range check is compiled */
		case READ_END:
			if (s->rest != NULL && (p = measure_rest(st, s->rest, p)) == NULL)
				return NULL;
			st->r->referred += pooled;
			b->nfields = (uint32_t)(to - b->fields);
			return p;
		case READ_PASS_BYTES:
			p += t->size;
			continue;
		case READ_PASS_VARINT:
			if ((p = measure_value(st, VARINT, p)) == NULL)
				return NULL;
			continue;
		case READ_PASS_ID:
			if (!is_defined(t->pool, p))
				return NULL;
			p += 4;
			continue;
		case READ_MAYBE:
			if ((uint8_t)*p > 1)
				return NULL;
			if (*p++ != 0 || (++t)->kind < READ_VARINT)
				continue;
			to->value = (struct value){ .type = VALUE_NONE };
			break;
		case READ_VARINT:
			if ((p = read_varint(p, &number)) == NULL)
				return NULL;
			to->value = value_u64(number);
			break;
		case READ_FIXED:
			to->value = (struct value){ .type = t->value, .u64 = d9_load(p, t->size) };
			p += t->size;
			break;
		case READ_ID:
			entry = find_entry(t->pool, p, D9_MAX_EVENT_POOLED - pooled);
			strings = t->pool == &st->pools[D9_STRINGS];
			if (entry == NULL || (!strings && (!d9_wants_fields(st) || st->ahead == NULL)))
				return NULL; /* stacks without names are counted */
			p += 4;
			pooled += entry->cost;
			to->value = strings
			                ? value_string((struct slice){ entry->text, entry->n, entry->flags })
			                : (struct value){ .type = VALUE_LIST,
				                          .element = entry->element,
				                          .count = entry->n,
				                          .values = entry->values };
			break;
		}
		to++->name = t->name;
	}
}

/* Adds the event of a measured frame, whose fields are those of the batch from `fields` on. */
INLINE void add_event(struct d9_state *st, const struct d9_schema *s, const struct record *f, uint32_t fields,
                      struct batch *b, bool raw)
{
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(f->p, (size_t)(f->end - f->p));
	b->events[b->n++] = (struct event){ .ts = f->ts, /* with all members: nothing must be cleared */
		                            .dur = raw ? st->r->number : 0,
		                            .name = s->cls->name,
		                            .cls = s->cls,
		                            .track = st->default_track,
		                            .offset = f->offset,
		                            .first_field = fields,
		                            .nfields = (uint16_t)(b->nfields - fields),
		                            .phase = PHASE_INSTANT,
		                            .flags = st->r->event_flags };
}

/* Whether the batch has space for another event of a run.  The engine adds the event that may exceed
 * the fields of the batch, and ends the batch. */
INLINE bool has_space(const struct batch *b)
{
	return b->n < b->cap && b->nfields + MAX_FIELDS < READER_BATCH_FIELDS;
}

/* Like run_over(), but adds the events to b, while the records and the pool content that their events refer
 * to are less than `max` bytes. */
INLINE const char *run_with(struct d9_state *st, uint64_t max, const char *end, struct batch *b, bool raw)
{
	struct reader *const r = st->r;
	struct input *const in = r->in;
	const char *const from = in->p, *const window = in->end, *last = NULL;
	const uint64_t offset = input_offset(in, from);
	const bool structure = (r->want & WANT_STRUCTURE) != 0;
	uint64_t referred = r->referred;
	/* Records that begin before this are added; it decreases when events refer to pools. */
	const char *limit = max < (uint64_t)(end - from) ? from + max : end;
	struct record f = { .p = from };

	while (f.p < limit && has_space(b)) {
		if (*f.p == D9_TAG_EVENT) {
			const struct d9_schema *const s = d9_schema_find(&st->schemas, d9_type_id(f.p));
			if (s == NULL || (size_t)(window - f.p) < s->events_need)
				break;
			const char *const values = f.p + d9_schema_head(s);
			const uint32_t fields = b->nfields;
			f.offset = offset + (uint64_t)(f.p - from);
			f.end = raw ? measure(st, s->measure_steps, values, window)
			            : read_fields(st, s, values, b);
			if (f.end == NULL)
				break;
			if (s->timed)
				st->base += load_u32(f.p + 2, false) >> 8;
			f.ts = st->base;
			r->records++;
			s->cls->records++;
			add_event(st, s, &f, fields, b, raw);
			if (r->referred != referred) {
				const uint64_t more = r->referred - referred;
				limit = more < (uint64_t)(limit - f.p) ? limit - more : f.p;
				referred = r->referred;
			}
			if (r->no_memory)
				limit = f.p;
		} else if (*f.p == D9_TAG_RESET && !structure && load_u64(f.p + 1, false) <= MAX_BASE) {
			st->base = load_u64(f.p + 1, false);
			st->frames[D9_TAG_RESET]->records++;
			r->records++;
			f.end = f.p + D9_RESET_SIZE;
		} else {
			break;
		}
		last = f.p;
		f.p = f.end;
	}
	in->p = f.p;
	return last;
}

static NOINLINE const char *run_events(struct d9_state *st, uint64_t max, const char *end, struct batch *b)
{
	return run_with(st, max, end, b, false);
}

static NOINLINE const char *run_raw(struct d9_state *st, uint64_t max, const char *end, struct batch *b)
{
	return run_with(st, max, end, b, true);
}

bool d9_run(struct reader *r, const char *limit, struct batch *b)
{
	struct d9_state *const st = r->state;
	struct input *const in = r->in;
	const struct class *const reset = st->frames[D9_TAG_RESET];
	const uint64_t records = r->records, resets = reset->records;
	const char *const end = in->end - D9_RESET_SIZE, *last;

	if (r->max_record < D9_FAST_FRAME)
		return false;
	const bool raw = b != NULL && d9_wants_raw(st);

	if (raw ? (r->want & WANT_BARE) == 0 : b != NULL && (r->want & WANT_TIMES) == 0)
		return false;
	if (b != NULL && st->default_track == NULL)
		return true; /* the first event makes the track */
	if (st->pass.open || st->open.left > 0 || st->base > MAX_BASE || in->end - in->p < D9_RESET_SIZE)
		return true;
	if (st->threads_pass && limit - in->p > THREADS_STEP)
		limit = in->p + THREADS_STEP;
	if (r->range != NULL) {
		last = run_times(st, in->p, limit <= end ? limit : end + 1, &in->p);
	} else if (raw) {
		last = run_raw(st, (uint64_t)(limit - in->p), end + 1, b);
	} else if (b != NULL) {
		st->unheld |= b->n == 0;
		last = run_events(st, (uint64_t)(limit - in->p), end + 1, b);
		if (st->unheld && b->n > 0)
			d9_names_hold(st, b);
	} else {
		last = run_records(st, in->p, limit <= end ? limit : end + 1, &in->p);
	}
	if (last != NULL)
		st->last_offset = input_offset(in, last);
	r->trace->events += r->records - records - (reset->records - resets);
	return true;
}
