/*
 * What waits: records and the arrivals of arrows, which are written only at the end, and open spans.
 *
 * Records and arrivals are in memory while they are few, then in temporary files.  Memory is bounded: an
 * arrow is dropped when half a million to a million others were sent after it.
 *
 * Records of spans are written in order of time: a binary heap has the ends of all stacks; of ends at the
 * same time, those of inner spans are first.  Spans of one stack that start and end together are pending
 * until the time or the end changes, and opened in reverse.  A span costs O(log n) for n open spans.  The
 * open spans of all stacks are in one array, as linked lists, so that one limit bounds their memory.
 */
#include <stdlib.h>
#include <string.h>

#include "paraver/paraver.h"
#include "base/compiler.h"

/* ---- records ---- */

static void spill_text(struct paraver_store *s)
{
	if (s->failed || s->text.failed)
		return;
	s->failed = (!s->file.is_open && !spill_open(&s->file, s->temp_dir)) ||
	            !spill_write(&s->file, s->text.p, s->text.n);
	text_clear(&s->text);
}

void paraver_store_spill(struct paraver_store *s)
{
	if (s->text.n >= PARAVER_STORE_MEMORY)
		spill_text(s);
}

uint64_t paraver_store_size(const struct paraver_store *s)
{
	return s->file.size + s->text.n;
}

bool paraver_store_read(struct paraver_store *s, uint64_t at, char *to, size_t n)
{
	if (s->text.failed)
		return false;
	if (!s->file.is_open) {
		memcpy(to, s->text.p + at, n);
		return true;
	}
	if (s->text.n > 0)
		spill_text(s);
	s->failed |= !s->failed && !spill_read(&s->file, at, to, n);
	return !s->failed;
}

void paraver_store_free(struct paraver_store *s)
{
	text_free(&s->text);
	spill_close(&s->file);
}

/* ---- arrows ---- */

#define ARRIVED (UINT32_MAX - 1) /* instead of the number of an arrow that has arrived */

/* Returns the bytes of n arrivals: in the file, the offset of the arrival of arrow n. */
static uint64_t arrivals_size(uint32_t n)
{
	return (uint64_t)n * sizeof(struct paraver_arrival);
}

/* Moves the arrivals in memory to the file.  Those that are still unknown are set there later. */
static bool spill_arrivals(struct paraver_arrows *a)
{
	const uint32_t count = a->n - a->first;

	if (a->failed || (!a->file.is_open && !spill_open(&a->file, a->temp_dir)) ||
	    !spill_write_at(&a->file, arrivals_size(a->first), a->near, arrivals_size(count)))
		a->failed = true;
	a->first = a->n;
	return !a->failed;
}

bool paraver_arrow_out(struct paraver_arrows *a, uint64_t id)
{
	if (a->n >= ARRIVED)
		return false;
	if (a->near == NULL)
		a->near = calloc(PARAVER_ARROWS_NEAR, sizeof *a->near);
	if (a->nyoung >= PARAVER_ARROWS_HALF) { /* drop the older half */
		table64_free(&a->old);
		a->old = a->young;
		a->young = (struct table64){ 0 };
		a->nyoung = 0;
	}
	if (note_failure(&a->no_memory, a->near == NULL || !table64_put(&a->young, id, a->n)))
		return true;
	if (a->n - a->first == PARAVER_ARROWS_NEAR && !spill_arrivals(a))
		return true;
	a->near[a->n - a->first] = (struct paraver_arrival){ .row = 0 };
	a->n++;
	a->nyoung++;
	return true;
}

/* Marks the arrow of an id as arrived.  Returns its number; TABLE_NONE if no such arrow waits. */
static uint32_t remove_id(struct paraver_arrows *a, uint64_t id)
{
	struct table64 *t = &a->young;
	uint32_t number = table64_get(t, id);

	if (number == TABLE_NONE) {
		t = &a->old;
		number = table64_get(t, id);
	}
	if (number == TABLE_NONE || number == ARRIVED)
		return TABLE_NONE;
	a->no_memory |= !table64_put(t, id, ARRIVED);
	return number;
}

bool paraver_arrow_in(struct paraver_arrows *a, uint64_t id, const struct paraver_arrival *at)
{
	const uint32_t number = remove_id(a, id);

	if (number == TABLE_NONE)
		return false;
	if (number >= a->first)
		a->near[number - a->first] = *at;
	else if (!a->failed && !spill_write_at(&a->file, arrivals_size(number), at, sizeof *at))
		a->failed = true;
	return true;
}

/* Reads the block that starts with an arrival. */
static void read_block(struct paraver_arrows *a, uint32_t number)
{
	const uint32_t left = a->first - number;

	a->block_first = number;
	a->block_n = left < PARAVER_ARROWS_BLOCK ? left : PARAVER_ARROWS_BLOCK;
	a->failed |=
	    !a->failed && !spill_read(&a->file, arrivals_size(number), a->block, arrivals_size(a->block_n));
}

struct paraver_arrival paraver_arrow_get(struct paraver_arrows *a, uint32_t number)
{
	struct paraver_arrival found = { .row = 0 };

	if (number >= a->n)
		return found;
	if (number >= a->first)
		return a->near[number - a->first];
	if (number - a->block_first >= a->block_n)
		read_block(a, number);
	if (!a->failed)
		found = a->block[number - a->block_first];
	return found;
}

void paraver_arrows_free(struct paraver_arrows *a)
{
	table64_free(&a->young);
	table64_free(&a->old);
	free(a->near);
	spill_close(&a->file);
}

/* ---- stacks ---- */

struct paraver_open {
	uint64_t end;
	uint32_t value, type; /* type of its level; 0: none */
	uint32_t below;       /* open[]; of a free slot: the next one */
	uint32_t stack;
};

/* A span that may have the same start and end as later spans.  Of these spans the last one encloses the
 * others, as in the statistics. */
struct paraver_pending {
	struct paraver_span span;
	uint32_t next; /* pending[]: the previous one of its stack; TABLE_NONE: none */
};

/* The end of an open span.  Of two ends at the same time, the end of the inner span has the larger number. */
struct paraver_end {
	uint64_t time, number;
	uint32_t open;
};

uint32_t paraver_stack(struct paraver_state *st, const struct paraver_stack *like, uint32_t track, bool async)
{
	struct paraver_spans *const s = &st->spans;
	const uint64_t key = (uint64_t)track << 32 | (uint64_t)like->group << 1 | async;
	const uint32_t found = table64_get(&s->by_key, key);
	struct paraver_stack stack = *like;

	if (found != TABLE_NONE)
		return found;
	if (s->nstacks >= PARAVER_MAX_STACKS)
		return TABLE_NONE;
	stack.top = stack.pending = TABLE_NONE;
	if (async) {
		stack.busy = arena_zalloc(&st->arena, PARAVER_ASYNC_LANES / 64, sizeof *stack.busy);
	} else {
		const struct paraver_type innermost = { .group = like->group,
			                                .lane = (uint16_t)like->lane,
			                                .kind = PARAVER_SPANS };
		stack.type = paraver_type(&st->names, innermost);
		if (stack.type == 0)
			return TABLE_NONE;
	}
	if (note_failure(&st->names.failed,
	                 (async && stack.busy == NULL) ||
	                     !array_reserve(&s->stacks, s->nstacks, &s->stacks_cap, sizeof *s->stacks) ||
	                     !table64_put(&s->by_key, key, s->nstacks)))
		return TABLE_NONE;
	s->stacks[s->nstacks] = stack;
	return s->nstacks++;
}

/* ---- ends: a heap ---- */

static bool is_before(const struct paraver_end *a, const struct paraver_end *b)
{
	return a->time != b->time ? a->time < b->time : a->number > b->number;
}

static void add_end(struct paraver_spans *s, struct paraver_end end)
{
	uint32_t i = s->nends++;

	for (; i > 0 && is_before(&end, &s->ends[(i - 1) / 2]); i = (i - 1) / 2)
		s->ends[i] = s->ends[(i - 1) / 2];
	s->ends[i] = end;
}

/* Removes the first end, and returns the slot of its span. */
static uint32_t remove_end(struct paraver_spans *s)
{
	const uint32_t open = s->ends[0].open;
	const struct paraver_end last = s->ends[--s->nends];
	uint32_t i = 0;

	for (uint32_t child; (child = 2 * i + 1) < s->nends; i = child) {
		if (child + 1 < s->nends && is_before(&s->ends[child + 1], &s->ends[child]))
			child++;
		if (!is_before(&s->ends[child], &last))
			break;
		s->ends[i] = s->ends[child];
	}
	s->ends[i] = last;
	return open;
}

/* ---- open spans ---- */

/* Adds an open span and its end.  Returns its slot; TABLE_NONE at the limit or on OOM. */
static uint32_t add_open(struct paraver_state *st, const struct paraver_open *o)
{
	struct paraver_spans *const s = &st->spans;

	if (s->nends >= PARAVER_MAX_OPEN)
		return TABLE_NONE;
	if (note_failure(
	        &st->names.failed,
	        !array_reserve(&s->ends, s->nends, &s->ends_cap, sizeof *s->ends) ||
	            (s->free == 0 && !array_reserve(&s->open, s->nopen, &s->open_cap, sizeof *s->open))))
		return TABLE_NONE;
	const uint32_t i = s->free > 0 ? s->free - 1 : s->nopen++;
	if (s->free > 0)
		s->free = s->open[i].below;
	s->open[i] = *o;
	add_end(s, (struct paraver_end){ o->end, s->number++, i });
	return i;
}

/* Returns the type of the next level of a stack; 0 if it is too deep. */
static uint32_t level_type(struct paraver_state *st, const struct paraver_stack *stack)
{
	const struct paraver_type level = { .group = stack->group,
		                            .lane = (uint16_t)stack->lane,
		                            .level = (uint16_t)(stack->depth + 1),
		                            .kind = PARAVER_SPANS };

	return stack->depth < PARAVER_LEVELS ? paraver_type(&st->names, level) : 0;
}

static void open_span(struct paraver_state *st, uint32_t at, const struct paraver_span *span,
                      struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;
	struct paraver_stack *const stack = &s->stacks[at];
	struct paraver_open o = { span->end, span->value, 0, stack->top, at };

	if (stack->top != TABLE_NONE) {
		o.type = level_type(st, stack);
		if (o.end > s->open[stack->top].end) {
			paraver_add_loss(chunk, PARAVER_CUT, span->offset);
			o.end = s->open[stack->top].end;
		}
	}
	const uint32_t slot = add_open(st, &o);
	if (slot == TABLE_NONE) {
		paraver_add_loss(chunk, PARAVER_TOO_MANY, span->offset);
		return;
	}
	if (stack->top != TABLE_NONE && o.type == 0)
		paraver_add_loss(chunk, PARAVER_TOO_DEEP, span->offset);
	stack->top = slot;
	stack->depth++;
	paraver_add_record(st, stack->row, s->now, stack->type, o.value, o.type, o.value);
}

/* Ends the span that ends first. */
static void close_span(struct paraver_state *st)
{
	struct paraver_spans *const s = &st->spans;
	const uint32_t slot = remove_end(s);
	struct paraver_open *const o = &s->open[slot];
	struct paraver_stack *const stack = &s->stacks[o->stack];

	if (stack->type == 0) { /* async */
		const uint32_t lane = st->names.types[o->type - PARAVER_FIRST_TYPE].lane;
		stack->busy[lane / 64] &= ~(UINT64_C(1) << lane % 64);
		paraver_add_record(st, stack->row, o->end, o->type, 0, 0, 0);
	} else {
		stack->top = o->below;
		stack->depth--;
		paraver_add_record(st, stack->row, o->end, stack->type,
		                   stack->top != TABLE_NONE ? s->open[stack->top].value : 0, o->type, 0);
	}
	o->below = s->free;
	s->free = slot + 1;
}

/* ---- pending spans ---- */

/* Opens the pending spans of a stack, the last one first. */
static void open_pending(struct paraver_state *st, uint32_t at, struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;
	uint32_t i = s->stacks[at].pending;

	s->stacks[at].pending = TABLE_NONE;
	for (; i != TABLE_NONE; i = s->pending[i].next)
		open_span(st, at, &s->pending[i].span, chunk);
}

static void open_all_pending(struct paraver_state *st, struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;

	for (uint32_t i = 0; i < s->nwith_pending; i++)
		open_pending(st, s->with_pending[i], chunk);
	s->nwith_pending = s->npending = 0;
}

void paraver_start_span(struct paraver_state *st, uint32_t at, const struct paraver_span *span,
                        struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;
	struct paraver_stack *const stack = &s->stacks[at];

	if (s->npending >= PARAVER_MAX_PENDING)
		open_all_pending(st, chunk);
	else if (stack->pending != TABLE_NONE && s->pending[stack->pending].span.end != span->end)
		open_pending(st, at, chunk);
	if (note_failure(&st->names.failed,
	                 !array_reserve(&s->pending, s->npending, &s->pending_cap, sizeof *s->pending) ||
	                     !array_reserve(&s->with_pending, s->nwith_pending, &s->with_pending_cap,
	                                    sizeof *s->with_pending)))
		return;
	if (stack->pending == TABLE_NONE)
		s->with_pending[s->nwith_pending++] = at;
	s->pending[s->npending] = (struct paraver_pending){ *span, stack->pending };
	stack->pending = s->npending++;
}

/* ---- async spans ---- */

/* Returns the first lane that is not in use; PARAVER_ASYNC_LANES if there is none. */
static uint16_t first_free_lane(const uint64_t *busy)
{
	uint16_t word = 0;

	while (word < PARAVER_ASYNC_LANES / 64 && busy[word] == UINT64_MAX)
		word++;
	return word < PARAVER_ASYNC_LANES / 64 ? (uint16_t)(64 * word + low_bit(~busy[word]))
	                                       : PARAVER_ASYNC_LANES;
}

void paraver_start_async(struct paraver_state *st, uint32_t at, const struct paraver_span *span,
                         struct chunk *chunk)
{
	struct paraver_stack *const stack = &st->spans.stacks[at];
	struct paraver_open o = { span->end, span->value, 0, TABLE_NONE, at };
	struct paraver_type type = { .group = stack->group, .kind = PARAVER_ASYNC };

	type.lane = first_free_lane(stack->busy);
	if (type.lane == PARAVER_ASYNC_LANES) {
		paraver_add_loss(chunk, PARAVER_ASYNC_FULL, span->offset);
		return;
	}
	o.type = paraver_type(&st->names, type);
	if (o.type == 0) {
		paraver_add_loss(chunk, PARAVER_TYPES_FULL, span->offset);
		return;
	}
	if (add_open(st, &o) == TABLE_NONE) {
		paraver_add_loss(chunk, PARAVER_TOO_MANY, span->offset);
		return;
	}
	stack->busy[type.lane / 64] |= UINT64_C(1) << type.lane % 64;
	paraver_add_record(st, stack->row, st->spans.now, o.type, o.value, 0, 0);
}

/* ---- time ---- */

void paraver_advance(struct paraver_state *st, uint64_t time, struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;

	if (time == s->now)
		return;
	open_all_pending(st, chunk);
	while (s->nends > 0 && s->ends[0].time <= time)
		close_span(st);
	s->now = time;
}

void paraver_spans_end(struct paraver_state *st, struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;

	open_all_pending(st, chunk);
	while (s->nends > 0) {
		s->now = s->ends[0].time;
		close_span(st);
	}
}

void paraver_spans_free(struct paraver_spans *s)
{
	free(s->stacks);
	free(s->open);
	free(s->ends);
	free(s->pending);
	free(s->with_pending);
	table64_free(&s->by_key);
}
