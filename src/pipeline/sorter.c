#include "pipeline/sorter.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "pipeline/event_codec.h"
#include "pipeline/order_sort.h"

#define FIRST_MEMORY (UINT64_C(64) << 10)
#define OUT_BYTES ((size_t)1 << 20)
#define OUT_FIELDS 65536U
#define DRAIN_PART 4U /* what may come out early has to be at least this part of what is in memory */
#define AHEAD 8U      /* events whose bytes are asked for before their turn: they lie anywhere */

/* Batches may point into it when all events stay in memory to the end. */
struct sorter_memory {
	struct shared_memory shared; /* first: its address is that of the whole */
	uint64_t size;               /* of data */
	alignas(max_align_t) char data[];
};

static void
memory_destroy(struct shared_memory *shared)
{
	free(shared);
}

static bool
failed(struct sorter *s)
{
	s->state = SORTER_FAILED;
	return false;
}

static uint64_t
at_least(uint64_t v, uint64_t least)
{
	return v > least ? v : least;
}

void
sorter_init(struct sorter *s, const struct sorter_options *options)
{
	*s = (struct sorter){ .options = *options, .in_order = true };
	s->options.memory = at_least(options->memory, SORTER_MEMORY_MIN);
	if (s->options.memory > SORTER_MEMORY_MAX)
		s->options.memory = SORTER_MEMORY_MAX;
	s->options.memory &= ~(uint64_t)63;
	s->drain_at = s->options.memory / 2;
	s->floor = options->order.order == ORDER_FILE ? UINT64_MAX : 0;
}

void
sorter_free(struct sorter *s)
{
	if (s->memory != NULL)
		shared_memory_drop(&s->memory->shared);
	run_merge_free(&s->merge);
	spill_close(&s->file);
	free(s->runs);
	*s = (struct sorter){ .state = SORTER_FAILED };
}

void
sorter_reason(const struct sorter *s, char *why, size_t size)
{
	if (s->file.failed != SPILL_NOTHING)
		spill_reason(&s->file, "sorting", why, size);
	else
		(void)snprintf(why, size, "no memory to sort events");
}

void
sorter_set_floor(struct sorter *s, uint64_t ts)
{
	const uint64_t start = order_start(ts, s->options.order);

	if (s->options.order.order == ORDER_TIME && start > s->floor)
		s->floor = start;
}

/* ---- memory ---- */

/* Bytes that n keys need behind the events, and once more to sort them. */
static uint64_t
keys_size(uint32_t n)
{
	return 2 * (uint64_t)n * sizeof(struct order_key);
}

static bool
resize(struct sorter *s, uint64_t size)
{
	const bool is_new = s->memory == NULL;
	struct sorter_memory *const m =
	    realloc(s->memory, (size_t)(offsetof(struct sorter_memory, data) + size));

	if (m == NULL)
		return failed(s);
	if (is_new)
		shared_memory_init(&m->shared, memory_destroy);
	m->size = size;
	s->memory = m;
	return true;
}

static void
forget_all(struct sorter *s)
{
	s->used = 0;
	s->count = 0;
	s->in_order = true;
	s->last = (struct order_key){ .start = 0 };
}

static struct order_key
key_at(const struct sorter *s, uint64_t at)
{
	struct order_key key = order_key_of(event_packed_head(s->memory->data + at), s->options.order);

	key.position = (uint32_t)(at / EVENT_PACKED_UNIT);
	return key;
}

static void
note_key(struct sorter *s, const struct order_key *key)
{
	if (order_key_less(key, &s->last))
		s->in_order = false;
	else
		s->last = *key;
	s->count++;
}

/* Prepares for taking the events in order.  Their keys are made only now, and only if they have to be sorted.
 */
static void
sort_memory(struct sorter *s)
{
	s->sorted = NULL;
	s->taken = 0;
	s->taken_bytes = 0;
	s->ready = s->count;
	if (s->in_order)
		return;
	struct order_key *const keys = (struct order_key *)(void *)(s->memory->data + s->used);
	uint32_t n = 0;
	for (uint64_t at = 0; at < s->used; at += event_packed_size(s->memory->data + at))
		keys[n++] = key_at(s, at);
	order_sort(keys, n, keys + n);
	s->sorted = keys;
	s->counts.sorts++;
}

/* The first of the events that are not taken; there is one. */
static char *
present(const struct sorter *s)
{
	if (s->sorted == NULL)
		return s->memory->data + s->taken_bytes;
	if (s->ready - s->taken > AHEAD)
		__builtin_prefetch(s->memory->data +
		                   s->sorted[s->taken + AHEAD].position * (uint64_t)EVENT_PACKED_UNIT);
	return s->memory->data + s->sorted[s->taken].position * (uint64_t)EVENT_PACKED_UNIT;
}

static void
take(struct sorter *s, const char *packed)
{
	s->taken_bytes += event_packed_size(packed);
	s->taken++;
}

/* Events that are taken have no class until they are dropped. */
static void
mark_taken(char *packed)
{
	((struct event *)(void *)packed)->cls = NULL;
}

static void
drop_taken(struct sorter *s)
{
	char *const data = s->memory->data;
	const uint64_t end = s->used;

	forget_all(s);
	for (uint64_t at = 0, size; at < end; at += size) {
		size = event_packed_size(data + at);
		if (event_packed_head(data + at)->cls == NULL)
			continue;
		memmove(data + s->used, data + at, (size_t)size);
		const struct order_key key = key_at(s, s->used);
		note_key(s, &key);
		s->used += size;
	}
	s->state = SORTER_FILLING;
	s->drain_at = at_least(s->options.memory / 2, s->used + s->options.memory / 8);
}

/* ---- spilling ---- */

/* Copies the events, in order, through the room behind their keys. */
static bool
write_sorted(struct sorter *s)
{
	char *const buffer = (char *)(uintptr_t)(s->sorted + s->count);
	const uint64_t cap = (uint64_t)(s->memory->data + s->memory->size - buffer);
	uint64_t used = 0;

	while (s->taken < s->ready) {
		const char *const packed = present(s);
		const uint64_t size = event_packed_size(packed);
		if (size > cap - used) {
			if (!spill_write(&s->file, buffer, (size_t)used))
				return false;
			used = 0;
		}
		if (size > cap) {
			if (!spill_write(&s->file, packed, (size_t)size))
				return false;
		} else {
			memcpy(buffer + used, packed, (size_t)size);
			used += size;
		}
		take(s, packed);
	}
	return spill_write(&s->file, buffer, (size_t)used);
}

/* A run that starts where the last one ends makes it longer. */
static bool
add_run(struct sorter *s, const struct order_key *first, uint64_t offset)
{
	const uint64_t bytes = s->file.size - offset;

	if (s->nruns > 0 && !order_key_less(first, &s->run_last)) {
		s->runs[s->nruns - 1].bytes += bytes;
	} else {
		if (!array_room(&s->runs, s->nruns, &s->runs_cap, sizeof *s->runs))
			return false;
		s->runs[s->nruns++] = (struct spill_run){ offset, bytes };
		s->counts.runs++;
	}
	s->run_last = s->last;
	return true;
}

/* Writes all events in memory (at least one) to the file. */
static bool
spill(struct sorter *s)
{
	if (!s->file.is_open && !spill_open(&s->file, s->options.beside))
		return failed(s);
	const uint64_t offset = s->file.size;
	sort_memory(s);
	const struct order_key first = s->sorted != NULL ? s->sorted[0] : key_at(s, 0);
	const bool ok =
	    s->in_order ? spill_write(&s->file, s->memory->data, (size_t)s->used) : write_sorted(s);
	if (!ok || !add_run(s, &first, offset))
		return failed(s);
	s->counts.spilled = s->file.size;
	forget_all(s);
	return s->memory->size <= s->options.memory || resize(s, s->options.memory);
}

/* ---- adding ---- */

static bool
make_room(struct sorter *s)
{
	const uint64_t size = s->memory != NULL ? s->memory->size : 0, limit = s->options.memory;

	if (size == 0)
		return resize(s, FIRST_MEMORY < limit ? FIRST_MEMORY : limit);
	if (size < limit)
		return resize(s, 2 * size < limit ? 2 * size : limit);
	if (s->count > 0)
		return spill(s);
	return size < EVENT_PACKED_MAX ? resize(s, 2 * size) : failed(s);
}

static bool
add_one(struct sorter *s, const struct batch *b, uint32_t i)
{
	uint64_t n = 0;

	for (;;) {
		const uint64_t taken = s->used + keys_size(s->count + 1);
		if (s->memory != NULL && taken < s->memory->size)
			n = event_pack(s->memory->data + s->used, s->memory->size - taken, b, i,
			               s->options.with_bytes);
		if (n > 0)
			break;
		if (!make_room(s))
			return false;
	}
	const struct order_key key = key_at(s, s->used);
	s->counts.late += order_key_less(&key, &s->given);
	note_key(s, &key);
	s->used += n;
	/* An event that is larger than all the memory does not stay. */
	return s->memory->size <= s->options.memory || spill(s);
}

bool
sorter_add(struct sorter *s, const struct batch *b)
{
	if (s->state == SORTER_DRAINING)
		drop_taken(s);
	if (s->state != SORTER_FILLING)
		return false;
	for (uint32_t i = 0; i < b->n; i++)
		if (!add_one(s, b, i))
			return false;
	s->counts.events += b->n;
	return true;
}

static bool
begin_merge(struct sorter *s)
{
	const struct run_rule rule = { s->options.order, s->options.with_bytes, s->options.memory };
	uint32_t merges = 0;

	if (s->count > 0 && !spill(s))
		return false;
	shared_memory_drop(&s->memory->shared);
	s->memory = NULL;
	const bool ok =
	    runs_reduce(&s->file, s->runs, &s->nruns, run_merge_most(s->options.memory), &rule, &merges) &&
	    run_merge_init(&s->merge, &s->file, s->runs, s->nruns, &rule);
	s->counts.merges = merges;
	s->counts.spilled = s->file.size;
	s->state = SORTER_MERGING;
	return ok || failed(s);
}

bool
sorter_end(struct sorter *s)
{
	if (s->state == SORTER_DRAINING)
		drop_taken(s);
	if (s->state != SORTER_FILLING)
		return false;
	if (s->nruns > 0)
		return begin_merge(s);
	sort_memory(s);
	s->state = SORTER_EMPTYING;
	return true;
}

/* ---- what comes out before the end ---- */

/* Whether the events before the floor are so many that it pays to take them out. */
static bool
can_drain(struct sorter *s)
{
	uint32_t before = 0;

	if (s->used < s->drain_at || s->count == 0 || s->floor == 0 || s->nruns > 0)
		return false;
	for (uint64_t at = 0; at < s->used; at += event_packed_size(s->memory->data + at))
		before += key_at(s, at).start < s->floor;
	if (before == 0 || before < s->count / DRAIN_PART) {
		s->drain_at = s->used + s->options.memory / 8;
		return false;
	}
	sort_memory(s);
	s->ready = before;
	s->state = SORTER_DRAINING;
	return true;
}

/* ---- coming out ---- */

static bool
has_room(const struct batch *out)
{
	return out->n < out->cap && out->scratch.used < OUT_BYTES && out->nfields < OUT_FIELDS;
}

static bool
drain(struct sorter *s, struct batch *out)
{
	while (s->taken < s->ready && has_room(out)) {
		char *const packed = present(s);
		if (!event_unpack_copy(out, packed, s->options.with_bytes))
			return false;
		s->given = order_key_of(event_packed_head(packed), s->options.order);
		take(s, packed);
		mark_taken(packed);
	}
	return true;
}

static bool
empty(struct sorter *s, struct batch *out)
{
	if (s->taken < s->ready && !batch_hold(out, &s->memory->shared))
		return false;
	while (s->taken < s->ready && has_room(out)) {
		char *const packed = present(s);
		if (!event_unpack_in_place(out, packed, s->options.with_bytes))
			return false;
		take(s, packed);
	}
	return true;
}

static bool
merge(struct sorter *s, struct batch *out)
{
	while (!run_merge_ended(&s->merge) && has_room(out))
		if (!run_merge_next(&s->merge, out))
			return false;
	return true;
}

enum sorter_status
sorter_next(struct sorter *s, struct batch *out)
{
	bool ok = s->state != SORTER_FAILED;

	if (s->state == SORTER_FILLING && !can_drain(s))
		return SORTER_NEEDS_INPUT;
	if (s->state == SORTER_DRAINING) {
		ok = drain(s, out);
		if (ok && s->taken == s->ready)
			drop_taken(s);
		if (ok && out->n == 0)
			return SORTER_NEEDS_INPUT;
	} else if (s->state == SORTER_EMPTYING) {
		ok = empty(s, out);
	} else if (s->state == SORTER_MERGING) {
		ok = merge(s, out);
	}
	if (ok)
		return out->n > 0 ? SORTER_MORE : SORTER_END;
	(void)failed(s);
	batch_recycle(out);
	return SORTER_NO_RESULT;
}
