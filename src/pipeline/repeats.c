#include "pipeline/repeats.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/textscan.h"
#include "base/utf8.h"
#include "event/value.h"
#include "pipeline/engine_losses.h"

#define DEEPEST 128U /* lists in lists: more than readers make and writers show */

void
repeats_init(struct repeats *r, struct trace *trace, uint64_t factor, struct ledger *ledger)
{
	*r = (struct repeats){ .trace = trace,
		               .factor = factor > 0 ? factor : REPEATS_FACTOR,
		               .ledger = ledger };
}

void
repeats_free(struct repeats *r)
{
	free(r->cut);
}

/* ---- texts ---- */

/* What may still be spent, on anything. */
static inline uint64_t
left(const struct repeats *r)
{
	return r->allowed - r->spent; /* what is allowed grows */
}

/* Whether n more bytes of texts are allowed; they are spent then. */
static bool
spend(struct repeats *r, uint64_t n)
{
	if (n > left(r))
		return false;
	r->spent += n;
	return true;
}

/* How much is left of what is cut. */
static uint32_t
piece(struct repeats *r)
{
	return spend(r, REPEATS_SHORT) ? REPEATS_SHORT : REPEATS_LEAST;
}

/* Whole characters, if it is UTF-8. */
static uint32_t
cut_length(const char *p, uint32_t n, uint8_t flags)
{
	return (flags & SLICE_UTF8) != 0 ? (uint32_t)utf8_valid_prefix(p, n) : n;
}

static void
check_text(struct repeats *r, struct slice *s, uint64_t offset)
{
	if (s->n <= REPEATS_SHORT || spend(r, s->n))
		return;
	s->n = cut_length(s->p, piece(r), (uint8_t)s->flags);
	ledger_add(r->ledger, &engine_losses[ENGINE_LOSS_TEXT_CUT], offset, 1);
}

static inline bool
is_middle(uint32_t n)
{
	return n > REPEATS_LEAST && n <= REPEATS_SHORT;
}

static void
cut_middle(struct repeats *r, struct slice *s, uint64_t offset)
{
	if (!is_middle(s->n))
		return;
	s->n = cut_length(s->p, REPEATS_LEAST, (uint8_t)s->flags);
	ledger_add(r->ledger, &engine_losses[ENGINE_LOSS_SHORT_CUT], offset, 1);
}

/* ---- values ---- */

static inline bool
is_text(const struct value *v)
{
	return v->type == VALUE_STRING || v->type == VALUE_BYTES || v->type == VALUE_JSON;
}

static inline bool
is_list(const struct value *v)
{
	return v->type == VALUE_LIST || v->type == VALUE_MAP;
}

/* How many values a list or map has in itself. */
static inline uint64_t
entries(const struct value *v)
{
	return v->type == VALUE_MAP ? 2 * (uint64_t)v->count : v->count;
}

/* Lists of numbers say so; what has texts or lists in it must be looked through. */
static inline bool
may_hold_texts(const struct value *v)
{
	return v->type == VALUE_MAP || v->element == VALUE_NONE || v->element >= VALUE_STRING;
}

static void
check_text_value(struct repeats *r, struct value *v, uint64_t offset)
{
	if (v->count <= REPEATS_SHORT || spend(r, v->count))
		return;
	const uint32_t n = piece(r);
	if (v->type == VALUE_JSON) /* a part of it is a text that is no JSON */
		*v = value_string(textscan_slice(v->p, n));
	v->count = v->type == VALUE_STRING ? cut_length(v->p, n, v->flags) : n;
	ledger_add(r->ledger, &engine_losses[ENGINE_LOSS_TEXT_CUT], offset, 1);
}

/* The bytes of a list's long texts and, if it has many entries, of these; more than `most` is not counted. */
static uint64_t
weight(const struct value *v, uint64_t most, unsigned depth)
{
	const uint64_t n = entries(v);
	uint64_t sum = n > REPEATS_ENTRIES ? n * sizeof *v : 0;

	if (depth == DEEPEST || !may_hold_texts(v))
		return sum;
	for (uint64_t i = 0; i < n && sum <= most; i++) {
		const struct value *const one = &v->values[i];
		if (is_text(one) && one->count > REPEATS_SHORT)
			sum += one->count;
		else if (is_list(one)) {
			const uint64_t more = weight(one, most - sum, depth + 1);
			sum = more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
		}
	}
	return sum;
}

/* Cuts a list and what is in it, in a copy.  false: no memory. */
static bool
cut_list(struct repeats *r, struct batch *b, struct value *v, uint64_t offset, unsigned depth)
{
	uint64_t n = entries(v);

	if (n > REPEATS_ENTRIES || depth == DEEPEST) {
		n = depth == DEEPEST ? 0 : REPEATS_ENTRIES;
		v->count = v->type == VALUE_MAP ? (uint32_t)n / 2 : (uint32_t)n;
		ledger_add(r->ledger, &engine_losses[ENGINE_LOSS_LIST_CUT], offset, 1);
	}
	if (n == 0 || !may_hold_texts(v))
		return true;
	struct value *const copy = arena_alloc(&b->scratch, n * sizeof *copy);
	if (copy == NULL)
		return false;
	memcpy(copy, v->values, n * sizeof *copy);
	v->values = copy;
	for (uint64_t i = 0; i < n; i++) {
		if (is_text(&copy[i]))
			check_text_value(r, &copy[i], offset);
		else if (is_list(&copy[i]) && !cut_list(r, b, &copy[i], offset, depth + 1))
			return false;
	}
	return true;
}

static bool
check_value(struct repeats *r, struct batch *b, struct value *v, uint64_t offset)
{
	if (is_text(v)) {
		check_text_value(r, v, offset);
		return true;
	}
	if (!is_list(v))
		return true;
	const uint64_t bytes = weight(v, left(r), 0);
	return bytes == 0 || spend(r, bytes) || cut_list(r, b, v, offset, 0);
}

/* ---- classes ---- */

/* The same class with a shorter name and category.  NULL: no memory. */
static const struct class *
cut_class(struct repeats *r, const struct class *cls, uint64_t offset)
{
	if (!array_reach(&r->cut, &r->ncut, cls->index, sizeof(struct class *)))
		return NULL;
	if (r->cut[cls->index] == NULL) {
		struct class like = *cls;
		if (like.name.n > REPEATS_LEAST)
			like.name.n = cut_length(like.name.p, REPEATS_LEAST, (uint8_t)like.name.flags);
		if (like.category.n > REPEATS_LEAST)
			like.category.n =
			    cut_length(like.category.p, REPEATS_LEAST, (uint8_t)like.category.flags);
		r->cut[cls->index] = trace_plan_class(r->trace, &like);
	}
	ledger_add(r->ledger, &engine_losses[ENGINE_LOSS_TEXT_CUT], offset, 1);
	return r->cut[cls->index];
}

static bool
check_class(struct repeats *r, struct event *e)
{
	const uint64_t n = (e->cls->name.n > REPEATS_SHORT ? e->cls->name.n : 0) +
	                   (uint64_t)(e->cls->category.n > REPEATS_SHORT ? e->cls->category.n : 0);

	if (n > 0 && !spend(r, n))
		e->cls = cut_class(r, e->cls, e->offset);
	return e->cls != NULL;
}

/* ---- events ---- */

static bool
check_event(struct repeats *r, struct batch *b, struct event *e)
{
	check_text(r, &e->name, e->offset);
	for (uint32_t i = 0; i < e->nfields; i++) {
		struct field *const f = &b->fields[e->first_field + i];
		check_text(r, &f->name, e->offset);
		if (f->value.type >= VALUE_STRING && !check_value(r, b, &f->value, e->offset))
			return false;
	}
	return check_class(r, e);
}

static inline uint64_t
counted(uint32_t n)
{
	return is_middle(n) ? n : 0;
}

/* Lengths put together by `or`: all bits where a list must be looked through. */
#define LOOK UINT32_MAX

static uint32_t
lengths_in(const struct value *list)
{
	const uint64_t n = entries(list);
	uint32_t bits = 0;

	if (n > REPEATS_ENTRIES)
		return LOOK;
	if (!may_hold_texts(list))
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		const struct value *const one = &list->values[i];
		if (one->type >= VALUE_STRING)
			bits |= is_text(one) ? one->count : LOOK;
	}
	return bits;
}

/* The bytes of all its texts, but for those in lists; *any: their lengths put together. */
static inline uint64_t
weigh(const struct batch *b, const struct event *e, uint32_t *any)
{
	const uint32_t name = e->name.n, cls = e->cls->name.n, category = e->cls->category.n;
	const struct field *const f = b->fields + e->first_field;
	uint64_t sum = (uint64_t)name + cls + category;
	uint32_t bits = name | cls | category;

	for (uint32_t i = 0; i < e->nfields; i++) {
		sum += f[i].name.n;
		bits |= f[i].name.n;
		if (f[i].value.type < VALUE_STRING)
			continue;
		if (is_text(&f[i].value)) {
			sum += f[i].value.count;
			bits |= f[i].value.count;
		} else {
			bits |= lengths_in(&f[i].value);
		}
	}
	*any |= bits;
	return sum;
}

/* What the texts of middle length take. */
static uint64_t
weigh_middle(const struct batch *b, const struct event *e)
{
	const struct field *const f = b->fields + e->first_field;
	uint64_t sum = counted(e->name.n) + counted(e->cls->name.n) + counted(e->cls->category.n);

	for (uint32_t i = 0; i < e->nfields; i++) {
		sum += counted(f[i].name.n);
		sum +=
		    f[i].value.type >= VALUE_STRING && is_text(&f[i].value) ? counted(f[i].value.count) : 0;
	}
	return sum;
}

/* Cuts the texts of middle length. */
static bool
cut_middle_texts(struct repeats *r, struct batch *b, struct event *e)
{
	cut_middle(r, &e->name, e->offset);
	for (uint32_t i = 0; i < e->nfields; i++) {
		struct field *const f = &b->fields[e->first_field + i];
		cut_middle(r, &f->name, e->offset);
		if (f->value.type != VALUE_STRING)
			continue;
		struct slice text = value_text(&f->value);
		cut_middle(r, &text, e->offset);
		f->value.count = text.n;
	}
	if (is_middle(e->cls->name.n) || is_middle(e->cls->category.n))
		e->cls = cut_class(r, e->cls, e->offset);
	return e->cls != NULL;
}

static uint64_t
times(uint64_t read, uint64_t factor)
{
	return read > (UINT64_MAX - REPEATS_FREE) / factor ? UINT64_MAX : read * factor + REPEATS_FREE;
}

/* Something is long, or what is allowed is nearly spent. */
static bool
check_batch(struct repeats *r, struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *const e = &b->events[i];
		const uint64_t sum = weigh_middle(b, e); /* before long ones become such */
		if (!check_event(r, b, e))
			return false;
		if (sum > 0 && !spend(r, sum) && !cut_middle_texts(r, b, e))
			return false;
	}
	return true;
}

bool
repeats_batch(struct repeats *r, struct batch *b, uint64_t read)
{
	uint64_t sum = 0;
	uint32_t any = 0;

	r->allowed = times(read, r->factor);
	for (uint32_t i = 0; i < b->n; i++)
		sum += weigh(b, &b->events[i], &any);
	return (any < REPEATS_SHORT && spend(r, sum)) || check_batch(r, b);
}
