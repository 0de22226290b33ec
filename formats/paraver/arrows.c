#include "paraver/arrows.h"

#include <stdlib.h>
#include <string.h>

#define ARRIVAL sizeof(struct paraver_arrival)
#define GONE (UINT32_MAX - 1) /* an id whose arrow has arrived */

static uint64_t
place(uint32_t number)
{
	return (uint64_t)number * ARRIVAL;
}

/* What is in memory goes to the file, where later arrivals are changed. */
static bool
move_on(struct paraver_arrows *a)
{
	const uint32_t count = a->n - a->first;

	if (a->failed || (!a->file.is_open && !spill_open(&a->file, a->beside)) ||
	    !spill_write_at(&a->file, place(a->first), a->near, place(count)))
		a->failed = true;
	a->first = a->n;
	return !a->failed;
}

static void
forget(struct paraver_arrows *a)
{
	if (a->nyoung < PARAVER_ARROWS_WAY)
		return;
	table64_free(&a->old);
	a->old = a->young;
	a->young = (struct table64){ 0 };
	a->nyoung = 0;
}

bool
paraver_arrow_out(struct paraver_arrows *a, uint64_t id)
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
static uint32_t
take(struct paraver_arrows *a, uint64_t id)
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

bool
paraver_arrow_in(struct paraver_arrows *a, uint64_t id, const struct paraver_arrival *at)
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
static void
read_block(struct paraver_arrows *a, uint32_t number)
{
	const uint32_t left = a->first - number;

	a->block_first = number;
	a->block_n = left < PARAVER_ARROWS_BLOCK ? left : PARAVER_ARROWS_BLOCK;
	if (!a->failed && !spill_read(&a->file, place(number), a->block, place(a->block_n)))
		a->failed = true;
}

struct paraver_arrival
paraver_arrow_get(struct paraver_arrows *a, uint32_t number)
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

void
paraver_arrows_free(struct paraver_arrows *a)
{
	table64_free(&a->young);
	table64_free(&a->old);
	free(a->near);
	spill_close(&a->file);
}
