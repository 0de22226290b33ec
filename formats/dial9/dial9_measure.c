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
 */

enum op_kind {
	OP_END,
	OP_GAP, /* only the gap */
	OP_VARINT,
	OP_BOOL,
	OP_STRING_REF,
	OP_STACK_REF,
	OP_OPTIONAL, /* the step behind it is there or not */
	OP_TEXT,
	OP_RUN,
	OP_MAP, /* texts, in pairs */
};

#define MAX_FIELDS 64        /* schemas with more are measured field by field */
#define MAX_TEXT (32U << 10) /* longer values too: no event may pass the bound for frames unseen */

/* ---- making the steps ---- */

struct maker {
	struct d9_op ops[4 * MAX_FIELDS + 4];
	uint32_t n, gap;
	uint32_t first_need; /* of the run before the first text */
	uint32_t *need;      /* of the present run */
};

static void
put(struct maker *m, enum op_kind kind, uint32_t bytes)
{
	*m->need += m->gap + bytes;
	m->ops[m->n++] = (struct d9_op){ .kind = (uint8_t)kind, .gap = (uint8_t)m->gap };
	m->gap = 0;
}

static void
skip(struct maker *m, uint32_t bytes)
{
	if (m->gap + bytes > 255)
		put(m, OP_GAP, 0);
	m->gap += bytes;
}

/* A value of any length ends the run: its head belongs to it, what follows to the next. */
static void
put_run(struct maker *m, enum op_kind kind, uint8_t size)
{
	put(m, kind, 4);
	m->ops[m->n - 1].size = size;
	m->need = &m->ops[m->n - 1].need;
}

static bool
put_field(struct maker *m, uint8_t type)
{
	const struct d9_type_info *const t = d9_type(type);
	const bool optional = d9_is_optional(type);

	if (optional)
		put(m, OP_OPTIONAL, 1);
	switch ((enum d9_shape)t->shape) {
	case D9_SHAPE_FIXED:
		skip(m, t->size);
		if (optional)
			put(m, OP_GAP, 0);
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
		if (optional) /* its run would depend on the presence byte */
			return false;
		put_run(m, t->shape == D9_SHAPE_TEXT ? OP_TEXT : OP_RUN, t->size);
		return true;
	case D9_SHAPE_VALUES:
		if (optional || t->tagged)
			return false;
		put_run(m, OP_MAP, 0);
		return true;
	case D9_SHAPE_UNKNOWN:
		break;
	}
	return false;
}

bool
d9_ops_make(struct d9_schema *s)
{
	struct maker m = { .gap = d9_schema_head(s) };

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

/* A number of more than eight bytes, such as 2^64 - 1, which marks that there is no task. */
static const char *
measure_long(const char *p)
{
	if ((unsigned char)p[8] < 0x80)
		return p + 9;
	return (unsigned char)p[9] <= 1 ? p + D9_VARINT_MAX : NULL;
}

const char *
d9_measure(const struct d9_state *st, const struct d9_schema *s, const char *p, const char *end)
{
	for (const struct d9_op *op = s->ops;; op++) {
		p += op->gap;
		switch ((enum op_kind)op->kind) {
		case OP_END:
			return p;
		case OP_GAP:
			break;
		case OP_VARINT: {
			const uint64_t last = ~load_u64(p, false) & CONTINUED;
			if (last != 0)
				p += ((unsigned)__builtin_ctzll(last) >> 3) + 1;
			else if ((p = measure_long(p)) == NULL)
				return NULL;
			break;
		}
		case OP_BOOL:
			if ((unsigned char)*p++ > 1)
				return NULL;
			break;
		case OP_STRING_REF:
			if (!defined(&st->pools[D9_STRINGS], p))
				return NULL;
			p += 4;
			break;
		case OP_STACK_REF:
			if (!defined(&st->pools[D9_STACKS], p))
				return NULL;
			p += 4;
			break;
		case OP_OPTIONAL:
			if ((unsigned char)*p > 1)
				return NULL;
			op += *p++ == 0;
			break;
		case OP_TEXT:
		case OP_RUN:
			if ((p = measure_run(op, p, end)) == NULL)
				return NULL;
			break;
		case OP_MAP:
			if ((p = measure_map(op, p, end)) == NULL)
				return NULL;
			break;
		}
	}
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
			const char *const next = d9_measure(st, s, p, end);
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
