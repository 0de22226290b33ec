/*
 * Data that is written only at the end: the records of the .prv file, and the arrivals of arrows.  It is in
 * memory while it is small, then in temporary files.  Memory is bounded: an arrow is dropped when half a
 * million to a million others were sent after it.
 */
#include <stdlib.h>
#include <string.h>

#include "paraver/paraver.h"

/* ---- records ---- */

static void spill_text(struct paraver_store *s)
{
	if (s->failed || s->text.failed)
		return;
	if (!s->file.is_open && !spill_open(&s->file, s->temp_dir))
		s->failed = true;
	else if (!spill_write(&s->file, s->text.p, s->text.n))
		s->failed = true;
	text_clear(&s->text);
}

void paraver_store_spill(struct paraver_store *s)
{
	if (s->text.n >= PARAVER_STORE_MEMORY)
		spill_text(s);
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
		spill_text(s);
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
#define ARRIVED (UINT32_MAX - 1) /* instead of the number of an arrow that has arrived */

/* Returns the offset of an arrival in the file. */
static uint64_t offset_of(uint32_t number)
{
	return (uint64_t)number * ARRIVAL;
}

/* Moves the arrivals in memory to the file.  Those that are still unknown are set there later. */
static bool spill_arrivals(struct paraver_arrows *a)
{
	const uint32_t count = a->n - a->first;

	if (a->failed || (!a->file.is_open && !spill_open(&a->file, a->temp_dir)) ||
	    !spill_write_at(&a->file, offset_of(a->first), a->near, offset_of(count)))
		a->failed = true;
	a->first = a->n;
	return !a->failed;
}

bool paraver_arrow_out(struct paraver_arrows *a, uint64_t id)
{
	if (a->n >= ARRIVED)
		return false;
	if (a->near == NULL)
		a->near = calloc(PARAVER_ARROWS_NEAR, ARRIVAL);
	if (a->nyoung >= PARAVER_ARROWS_HALF) { /* drop the older half */
		table64_free(&a->old);
		a->old = a->young;
		a->young = (struct table64){ 0 };
		a->nyoung = 0;
	}
	if (a->near == NULL || !table64_put(&a->young, id, a->n)) {
		a->no_memory = true;
		return true;
	}
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
	else if (!a->failed && !spill_write_at(&a->file, offset_of(number), at, ARRIVAL))
		a->failed = true;
	return true;
}

/* Reads the block that starts with an arrival. */
static void read_block(struct paraver_arrows *a, uint32_t number)
{
	const uint32_t left = a->first - number;

	a->block_first = number;
	a->block_n = left < PARAVER_ARROWS_BLOCK ? left : PARAVER_ARROWS_BLOCK;
	if (!a->failed && !spill_read(&a->file, offset_of(number), a->block, offset_of(a->block_n)))
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
