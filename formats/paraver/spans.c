#include <stdlib.h>
#include <string.h>

#include "paraver/paraver.h"

/* ---- store ---- */

static void spill(struct paraver_store *s)
{
	if (s->failed || s->text.failed)
		return;
	if (!s->file.is_open && !spill_open(&s->file, s->beside))
		s->failed = true;
	else if (!spill_write(&s->file, s->text.p, s->text.n))
		s->failed = true;
	text_clear(&s->text);
}

void paraver_store_settle(struct paraver_store *s)
{
	if (s->text.n >= PARAVER_STORE_MEMORY)
		spill(s);
}

uint64_t paraver_store_size(const struct paraver_store *s)
{
	return (s->file.is_open ? s->file.size : 0) + s->text.n;
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
		spill(s);
	if (!s->failed && !spill_read(&s->file, at, to, n))
		s->failed = true;
	return !s->failed;
}

void paraver_store_free(struct paraver_store *s)
{
	text_free(&s->text);
	spill_close(&s->file);
}

/* ---- arrows ---- */

#define ARRIVAL sizeof(struct paraver_arrival)
#define GONE (UINT32_MAX - 1) /* an id whose arrow has arrived */

static uint64_t place(uint32_t number)
{
	return (uint64_t)number * ARRIVAL;
}

/* What is in memory goes to the file, where later arrivals are changed. */
static bool move_on(struct paraver_arrows *a)
{
	const uint32_t count = a->n - a->first;

	if (a->failed || (!a->file.is_open && !spill_open(&a->file, a->beside)) ||
	    !spill_write_at(&a->file, place(a->first), a->near, place(count)))
		a->failed = true;
	a->first = a->n;
	return !a->failed;
}

static void forget(struct paraver_arrows *a)
{
	if (a->nyoung < PARAVER_ARROWS_WAY)
		return;
	table64_free(&a->old);
	a->old = a->young;
	a->young = (struct table64){ 0 };
	a->nyoung = 0;
}

bool paraver_arrow_out(struct paraver_arrows *a, uint64_t id)
{
	if (a->n >= GONE)
		return false;
	if (a->near == NULL)
		a->near = calloc(PARAVER_ARROWS_NEAR, ARRIVAL);
	forget(a);
	if (a->near == NULL || !table64_put(&a->young, id, a->n)) {
		a->no_memory = true;
		return true;
	}
	if (a->n - a->first == PARAVER_ARROWS_NEAR && !move_on(a))
		return true;
	a->near[a->n - a->first] = (struct paraver_arrival){ .row = 0 };
	a->n++;
	a->nyoung++;
	return true;
}

/* Takes the number of an arrow that is under way. */
static uint32_t take(struct paraver_arrows *a, uint64_t id)
{
	struct table64 *t = &a->young;
	uint32_t number = table64_get(t, id);

	if (number == TABLE_NONE) {
		t = &a->old;
		number = table64_get(t, id);
	}
	if (number == TABLE_NONE || number == GONE)
		return TABLE_NONE;
	a->no_memory |= !table64_put(t, id, GONE);
	return number;
}

bool paraver_arrow_in(struct paraver_arrows *a, uint64_t id, const struct paraver_arrival *at)
{
	const uint32_t number = take(a, id);

	if (number == TABLE_NONE)
		return false;
	if (number >= a->first)
		a->near[number - a->first] = *at;
	else if (!a->failed && !spill_write_at(&a->file, place(number), at, ARRIVAL))
		a->failed = true;
	return true;
}

/* What the file has from here on. */
static void read_block(struct paraver_arrows *a, uint32_t number)
{
	const uint32_t left = a->first - number;

	a->block_first = number;
	a->block_n = left < PARAVER_ARROWS_BLOCK ? left : PARAVER_ARROWS_BLOCK;
	if (!a->failed && !spill_read(&a->file, place(number), a->block, place(a->block_n)))
		a->failed = true;
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

/* ---- spans ---- */

uint32_t paraver_stack_of(struct paraver_state *st, const struct paraver_stack *like, uint32_t track,
                          bool async)
{
	struct paraver_spans *const s = &st->spans;
	const uint64_t key = (uint64_t)track << 32 | (uint64_t)like->group << 1 | async;
	const uint32_t known = table64_get(&s->by_place, key);
	uint32_t type = 0;

	if (known != TABLE_NONE)
		return known;
	if (s->nstacks >= PARAVER_MOST_STACKS)
		return TABLE_NONE;
	uint64_t *const busy = async ? arena_zalloc(&st->arena, PARAVER_ASYNC_WORDS, sizeof *busy) : NULL;
	if (!async) {
		const struct paraver_type innermost = { .group = like->group,
			                                .lane = (uint16_t)like->lane,
			                                .kind = PARAVER_SPANS };
		type = paraver_type(&st->names, innermost);
		if (type == 0)
			return TABLE_NONE;
	}
	if ((async && busy == NULL) ||
	    !array_room(&s->stacks, s->nstacks, &s->stacks_cap, sizeof *s->stacks) ||
	    !table64_put(&s->by_place, key, s->nstacks)) {
		st->names.failed = true;
		return TABLE_NONE;
	}
	struct paraver_stack *const stack = &s->stacks[s->nstacks];
	*stack = *like;
	stack->type = type;
	stack->busy = busy;
	stack->top = stack->waits = TABLE_NONE;
	return s->nstacks++;
}

/* ---- ends to come ---- */

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

static uint32_t take_end(struct paraver_spans *s)
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

/* A place for one more, with its end to come.  TABLE_NONE: too many, or no memory. */
static uint32_t add_open(struct paraver_state *st, const struct paraver_open *o)
{
	struct paraver_spans *const s = &st->spans;
	uint32_t i = s->free - 1;

	if (s->nends >= PARAVER_MOST_OPEN)
		return TABLE_NONE;
	if (!array_room(&s->ends, s->nends, &s->ends_cap, sizeof *s->ends) ||
	    (s->free == 0 && !array_room(&s->open, s->nopen, &s->open_cap, sizeof *s->open))) {
		st->names.failed = true;
		return TABLE_NONE;
	}
	if (s->free == 0)
		i = s->nopen++;
	else
		s->free = s->open[i].below;
	s->open[i] = *o;
	add_end(s, (struct paraver_end){ o->end, s->number++, i });
	return i;
}

/* The type of a span below others; 0: it is too deep. */
static uint32_t level_of(struct paraver_state *st, const struct paraver_stack *stack)
{
	const struct paraver_type level = { .group = stack->group,
		                            .lane = (uint16_t)stack->lane,
		                            .level = (uint16_t)(stack->depth + 1),
		                            .kind = PARAVER_SPANS };

	return stack->depth < PARAVER_LEVELS ? paraver_type(&st->names, level) : 0;
}

static void begin(struct paraver_state *st, uint32_t at, const struct paraver_span *span, struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;
	struct paraver_stack *const stack = &s->stacks[at];
	struct paraver_open o = { span->end, span->value, 0, stack->top, at };

	if (stack->top != TABLE_NONE) {
		o.type = level_of(st, stack);
		if (o.end > s->open[stack->top].end) {
			paraver_lose(chunk, PARAVER_CUT, span->offset);
			o.end = s->open[stack->top].end;
		}
	}
	const uint32_t place = add_open(st, &o);
	if (place == TABLE_NONE) {
		paraver_lose(chunk, PARAVER_TOO_MANY, span->offset);
		return;
	}
	if (stack->top != TABLE_NONE && o.type == 0)
		paraver_lose(chunk, PARAVER_TOO_DEEP, span->offset);
	stack->top = place;
	stack->depth++;
	paraver_put(st, stack->row, s->now, stack->type, o.value, o.type, o.value);
}

static void end_first(struct paraver_state *st)
{
	struct paraver_spans *const s = &st->spans;
	const uint32_t place = take_end(s);
	struct paraver_open *const o = &s->open[place];
	struct paraver_stack *const stack = &s->stacks[o->stack];

	if (stack->type == 0) { /* async */
		const uint32_t lane = paraver_type_at(&st->names, o->type)->lane;
		stack->busy[lane / 64] &= ~(UINT64_C(1) << lane % 64);
		paraver_put(st, stack->row, o->end, o->type, 0, 0, 0);
	} else {
		stack->top = o->below;
		stack->depth--;
		paraver_put(st, stack->row, o->end, stack->type,
		            stack->top != TABLE_NONE ? s->open[stack->top].value : 0, o->type, 0);
	}
	o->below = s->free;
	s->free = place + 1;
}

/* ---- spans that wait ---- */

static void release(struct paraver_state *st, uint32_t at, struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;
	uint32_t i = s->stacks[at].waits;

	s->stacks[at].waits = TABLE_NONE;
	for (; i != TABLE_NONE; i = s->waiting[i].next) {
		const struct paraver_waiting *const w = &s->waiting[i];
		const struct paraver_span span = { s->stacks[at].wait_end, w->offset, w->value };
		begin(st, at, &span, chunk);
	}
}

static void release_all(struct paraver_state *st, struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;

	for (uint32_t i = 0; i < s->nwaiters; i++)
		release(st, s->waiters[i], chunk);
	s->nwaiters = s->nwaiting = 0;
}

static bool wait(struct paraver_spans *s, uint32_t at, const struct paraver_span *span)
{
	struct paraver_stack *const stack = &s->stacks[at];

	if (!array_room(&s->waiting, s->nwaiting, &s->waiting_cap, sizeof *s->waiting) ||
	    !array_room(&s->waiters, s->nwaiters, &s->waiters_cap, sizeof *s->waiters))
		return false;
	if (stack->waits == TABLE_NONE)
		s->waiters[s->nwaiters++] = at;
	s->waiting[s->nwaiting] = (struct paraver_waiting){ span->offset, span->value, stack->waits };
	stack->waits = s->nwaiting++;
	stack->wait_end = span->end;
	return true;
}

void paraver_span(struct paraver_state *st, uint32_t at, const struct paraver_span *span, struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;

	if (s->nwaiting >= PARAVER_MOST_WAITING)
		release_all(st, chunk);
	else if (s->stacks[at].waits != TABLE_NONE && s->stacks[at].wait_end != span->end)
		release(st, at, chunk);
	st->names.failed |= !wait(s, at, span);
}

/* ---- async spans ---- */

static uint16_t first_free(const uint64_t *busy)
{
	uint16_t word = 0;

	while (word < PARAVER_ASYNC_WORDS && busy[word] == UINT64_MAX)
		word++;
	return word < PARAVER_ASYNC_WORDS ? (uint16_t)(64 * word + __builtin_ctzll(~busy[word]))
	                                  : PARAVER_ASYNC_LANES;
}

void paraver_async(struct paraver_state *st, uint32_t at, const struct paraver_span *span,
                   struct chunk *chunk)
{
	struct paraver_stack *const stack = &st->spans.stacks[at];
	struct paraver_open o = { span->end, span->value, 0, TABLE_NONE, at };
	struct paraver_type type = { .group = stack->group, .kind = PARAVER_ASYNC };

	type.lane = first_free(stack->busy);
	if (type.lane == PARAVER_ASYNC_LANES) {
		paraver_lose(chunk, PARAVER_ASYNC_FULL, span->offset);
		return;
	}
	o.type = paraver_type(&st->names, type);
	if (o.type == 0) {
		paraver_lose(chunk, PARAVER_TYPES_FULL, span->offset);
		return;
	}
	if (add_open(st, &o) == TABLE_NONE) {
		paraver_lose(chunk, PARAVER_TOO_MANY, span->offset);
		return;
	}
	stack->busy[type.lane / 64] |= UINT64_C(1) << type.lane % 64;
	paraver_put(st, stack->row, st->spans.now, o.type, o.value, 0, 0);
}

/* ---- time ---- */

void paraver_advance(struct paraver_state *st, uint64_t time, struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;

	if (time == s->now)
		return;
	release_all(st, chunk);
	while (s->nends > 0 && s->ends[0].time <= time)
		end_first(st);
	s->now = time;
}

void paraver_spans_end(struct paraver_state *st, struct chunk *chunk)
{
	struct paraver_spans *const s = &st->spans;

	release_all(st, chunk);
	while (s->nends > 0) {
		s->now = s->ends[0].time;
		end_first(st);
	}
}

void paraver_spans_free(struct paraver_spans *s)
{
	free(s->stacks);
	free(s->open);
	free(s->ends);
	free(s->waiting);
	free(s->waiters);
	table64_free(&s->by_place);
}
