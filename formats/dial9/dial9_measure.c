#include "dial9/dial9_measure.h"

#include <stdlib.h>

/*
 * How long an event is, at full speed.  A schema becomes a list of steps in
 * which neighbouring fields of fixed size are one; numbers and references have
 * a largest size, so that one comparison with the end of the window serves for
 * all fields up to the next text.  Whatever is not plain (a strange Bool or
 * presence byte, an id that is not defined, text that is not UTF-8, a number
 * of too many bits) is left to dial9_walk.c, which checks and reports what
 * it sees.
 *
 * Where the next event begins is known only when this one was measured.  So
 * that the processor need not wait for that, sizes are never loaded and added:
 * each is a branch, which it predicts.
 */

/* clang-format off */
enum op_kind {
	OP_END,
	OP_1, OP_2, OP_4, OP_8, /* so many bytes */
	OP_VARINT,
	OP_BOOL,
	OP_STRING_REF,
	OP_STACK_REF,
	OP_OPTIONAL, /* a presence byte, and perhaps the value of kind `inner` */
	OP_TEXT,
	OP_RUN,
	OP_MAP, /* texts, in pairs */
};
/* clang-format on */

#define MAX_FIELDS 64        /* schemas with more are measured field by field */
#define MAX_TEXT (32U << 10) /* longer values too: no event may pass the bound for frames unseen */

#define INLINE static inline __attribute__((always_inline))

/* ---- making the steps ---- */

struct maker {
	struct d9_op ops[2 * MAX_FIELDS + 2];
	uint32_t n, gap;
	uint32_t first_need; /* of the run before the first text */
	uint32_t *need;      /* of the present run */
};

static enum op_kind
fixed_kind(uint32_t bytes)
{
	return bytes >= 8 ? OP_8 : bytes >= 4 ? OP_4 : bytes >= 2 ? OP_2 : OP_1;
}

/* The fields of fixed size that wait. */
static void
put_gap(struct maker *m)
{
	static const uint8_t sizes[] = { [OP_1] = 1, [OP_2] = 2, [OP_4] = 4, [OP_8] = 8 };

	*m->need += m->gap;
	while (m->gap > 0) {
		const enum op_kind kind = fixed_kind(m->gap);
		m->ops[m->n++] = (struct d9_op){ .kind = (uint8_t)kind };
		m->gap -= sizes[kind];
	}
}

static struct d9_op *
put(struct maker *m, enum op_kind kind, uint32_t bytes)
{
	put_gap(m);
	*m->need += bytes;
	m->ops[m->n] = (struct d9_op){ .kind = (uint8_t)kind };
	return &m->ops[m->n++];
}

/* A value of any length ends the run: its head belongs to it, what follows to the next. */
static void
put_run(struct maker *m, enum op_kind kind, uint8_t size)
{
	struct d9_op *const op = put(m, kind, 4);

	op->size = size;
	m->need = &op->need;
}

/* A value that may be absent, if it is not of any length: its run would depend on the presence byte. */
static bool
put_optional(struct maker *m, const struct d9_type_info *t)
{
	static const uint8_t kinds[] = { [D9_SHAPE_BOOL] = OP_BOOL, [D9_SHAPE_LEB128] = OP_VARINT };

	if (t->shape == D9_SHAPE_FIXED)
		put(m, OP_OPTIONAL, 1U + t->size)->inner = (uint8_t)fixed_kind(t->size);
	else if (t->shape == D9_SHAPE_ID)
		put(m, OP_OPTIONAL, 1 + 4)->inner = t->pool == D9_STRINGS ? OP_STRING_REF : OP_STACK_REF;
	else if (t->shape == D9_SHAPE_BOOL || t->shape == D9_SHAPE_LEB128)
		put(m, OP_OPTIONAL, 1 + D9_VARINT_MAX)->inner = kinds[t->shape];
	else
		return false;
	return true;
}

static bool
put_field(struct maker *m, uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);

	if (d9_is_optional(type))
		return put_optional(m, t);
	switch ((enum d9_shape)t->shape) {
	case D9_SHAPE_FIXED:
		m->gap += t->size;
		return true;
	case D9_SHAPE_BOOL:
		put(m, OP_BOOL, 1);
		return true;
	case D9_SHAPE_LEB128:
		put(m, OP_VARINT, D9_VARINT_MAX);
		return true;
	case D9_SHAPE_ID:
		put(m, t->pool == D9_STRINGS ? OP_STRING_REF : OP_STACK_REF, 4);
		return true;
	case D9_SHAPE_TEXT:
	case D9_SHAPE_RUN:
		put_run(m, t->shape == D9_SHAPE_TEXT ? OP_TEXT : OP_RUN, t->size);
		return true;
	case D9_SHAPE_VALUES:
		if (!t->tagged)
			put_run(m, OP_MAP, 0);
		return !t->tagged;
	case D9_SHAPE_UNKNOWN:
		break;
	}
	return false;
}

bool
d9_ops_make(struct d9_schema *s)
{
	struct maker m = { .first_need = d9_schema_head(s) };

	s->need = s->run_need = SIZE_MAX;
	if (!s->readable || s->nfields > MAX_FIELDS)
		return true;
	m.need = &m.first_need;
	for (uint32_t i = 0; i < s->nfields; i++)
		if (!put_field(&m, s->fields[i].type))
			return true;
	put(&m, OP_END, 0);
	s->ops = malloc(m.n * sizeof *s->ops);
	if (s->ops == NULL)
		return false;
	memcpy(s->ops, m.ops, m.n * sizeof *s->ops);
	s->need = m.first_need;
	if (s->kind == D9_KIND_PLAIN && !s->structure)
		s->run_need = s->need;
	return true;
}

/* ---- taking them ---- */

#define CONTINUED UINT64_C(0x8080808080808080)

static inline bool
defined(const struct d9_pool *pool, const char *p)
{
	const uint32_t id = load_u32(p, false);

	return id < pool->ndirect && pool->direct[id] != 0;
}

/* The end of a value of any length whose count or length stands at p; NULL: look closely. */
static const char *
measure_run(const struct d9_op *op, const char *p, const char *end)
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

/* The end of a map of texts whose count stands at p, likewise. */
static const char *
measure_map(const struct d9_op *op, const char *p, const char *end)
{
	const char *const most = (size_t)(end - p) > MAX_TEXT ? p + MAX_TEXT : end;
	uint64_t texts = 2 * (uint64_t)load_u32(p, false);

	for (p += 4; texts > 0; texts--) {
		if (most - p < 4)
			return NULL;
		const uint32_t n = load_u32(p, false);
		p += 4;
		if (n > (size_t)(most - p) || (textscan_slice(p, n).flags & SLICE_UTF8) == 0)
			return NULL;
		p += n;
	}
	return op->need <= (size_t)(end - p) ? p : NULL;
}

/* The end of a number of more than two bytes; those of more than eight are such as 2^64 - 1, which marks that
 * there is no task. */
INLINE const char *
measure_long(const char *p)
{
	const uint64_t last = ~load_u64(p, false) & CONTINUED;

	if (last != 0)
		return p + ((unsigned)__builtin_ctzll(last) >> 3) + 1;
	if ((unsigned char)p[8] < 0x80)
		return p + 9;
	return (unsigned char)p[9] <= 1 ? p + D9_VARINT_MAX : NULL;
}

/* The end of a value of this kind, which is none of any length; NULL: look closely. */
INLINE const char *
measure_value(const struct d9_state *st, enum op_kind kind, const char *p)
{
	switch (kind) {
	case OP_1:
		return p + 1;
	case OP_2:
		return p + 2;
	case OP_4:
		return p + 4;
	case OP_8:
		return p + 8;
	case OP_VARINT:
		if ((unsigned char)p[0] < 0x80)
			return p + 1;
		return (unsigned char)p[1] < 0x80 ? p + 2 : measure_long(p);
	case OP_BOOL:
		return (unsigned char)*p <= 1 ? p + 1 : NULL;
	case OP_STRING_REF:
		return defined(&st->pools[D9_STRINGS], p) ? p + 4 : NULL;
	case OP_STACK_REF:
		return defined(&st->pools[D9_STACKS], p) ? p + 4 : NULL;
	default:
		return NULL;
	}
}

INLINE const char *
take(const struct d9_state *st, const struct d9_op *op, const char *p, const char *end)
{
	if (op->kind < OP_OPTIONAL)
		return measure_value(st, (enum op_kind)op->kind, p);
	if (op->kind == OP_MAP)
		return measure_map(op, p, end);
	if (op->kind > OP_OPTIONAL)
		return measure_run(op, p, end);
	if (*p == 0)
		return p + 1;
	return *p == 1 ? measure_value(st, (enum op_kind)op->inner, p + 1) : NULL;
}

/* One step, here so often that each has a place of its own where the processor learns what it will be. */
#define STEP(i)                                                                                              \
	if (op[i].kind == OP_END)                                                                            \
		return p;                                                                                    \
	if ((p = take(st, &op[i], p, end)) == NULL)                                                          \
	return NULL

INLINE const char *
measure(const struct d9_state *st, const struct d9_schema *s, const char *p, const char *end)
{
	p += s->timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD;
	for (const struct d9_op *op = s->ops;; op += 6) {
		STEP(0);
		STEP(1);
		STEP(2);
		STEP(3);
		STEP(4);
		STEP(5);
	}
}

const char *
d9_measure(const struct d9_state *st, const struct d9_schema *s, const char *p, const char *end)
{
	return measure(st, s, p, end);
}

/* ---- passes that only check ---- */

uint32_t
d9_check_run(struct d9_state *st, uint32_t most)
{
	struct input *const in = st->r->in;
	const char *p = in->p, *last = NULL, *const end = in->end;
	uint64_t base = st->base, events = 0;
	uint32_t n = 0;

	for (; n < most && end - p >= D9_RESET_SIZE; n++) {
		if (*p == D9_TAG_EVENT) {
			const struct d9_schema *const s =
			    d9_schema_find(&st->schemas, load_u16(p + 1, false));
			if (s == NULL || !s->planned || (size_t)(end - p) < s->run_need)
				break;
			const uint64_t ts = s->timed ? base + (load_u32(p + 2, false) >> 8) : base;
			const char *const next = measure(st, s, p, end);
			if (next == NULL || ts < base)
				break;
			s->cls->records++;
			events++;
			base = ts;
			last = p;
			p = next;
		} else if (*p == D9_TAG_RESET) {
			base = load_u64(p + 1, false);
			last = p;
			p += D9_RESET_SIZE;
		} else {
			break;
		}
	}
	if (last == NULL)
		return 0;
	st->last_offset = input_offset(in, last);
	st->base = base;
	st->r->records += n;
	st->r->trace->events += events;
	st->structure[D9_S_RESET]->records += n - events;
	in->p = p;
	return n;
}
