#include "pipeline/mark_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "base/array.h"
#include "pipeline/merge.h"

/* Bytes of the buffers through which runs are merged, shared out to them. */
#define MERGE_MEMORY (8U << 20)

/* Sorts by one byte after the other, through as much memory again; a byte that is the same in all numbers
 * costs no pass.  false: no memory. */
static bool
sort_bytes(uint64_t *keys, uint32_t n)
{
	uint64_t *const room = malloc((size_t)n * sizeof *room), *from = keys, *to = room;
	uint64_t same = UINT64_MAX;

	if (room == NULL)
		return false;
	for (uint32_t i = 1; i < n; i++)
		same &= ~(keys[i] ^ keys[0]);
	for (unsigned shift = 0; shift < 64; shift += RADIX_BITS) {
		if ((same >> shift & 0xff) == 0xff)
			continue;
		radix_pass(from, to, n, shift);
		uint64_t *const swap = from;
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof *keys);
	free(room);
	return true;
}

/* Sorts what is in memory; each number stands there once then.  Traces often are in order already. */
static void
sort(struct mark_set *s)
{
	uint32_t i = 1, n = 0;

	while (i < s->n && s->keys[i - 1] <= s->keys[i])
		i++;
	if (i < s->n && !sort_bytes(s->keys, s->n)) {
		s->no_memory = true;
		return;
	}
	for (i = 0; i < s->n; i++)
		if (n == 0 || s->keys[i] != s->keys[n - 1])
			s->keys[n++] = s->keys[i];
	s->n = n;
}

/* Writes what is in memory as a run. */
static void
spill(struct mark_set *s)
{
	sort(s);
	if (s->no_memory || (!s->file.is_open && !spill_open(&s->file, s->beside)) ||
	    !array_room(&s->runs, s->nruns, &s->runs_cap, sizeof *s->runs)) {
		s->no_memory = true;
		return;
	}
	s->runs[s->nruns++] = (struct mark_run){ s->file.size, s->n };
	s->no_memory = !spill_write(&s->file, s->keys, s->n * sizeof *s->keys);
	s->n = 0;
}

void
mark_set_add(struct mark_set *s, uint64_t key)
{
	if (s->no_memory || (s->n > 0 && s->keys[s->n - 1] == key))
		return;
	if (s->n == (s->most > 0 ? s->most : MARK_SET_ROOM))
		spill(s);
	if (s->no_memory || !array_room(&s->keys, s->n, &s->cap, sizeof *s->keys))
		s->no_memory = true;
	else
		s->keys[s->n++] = key;
}

/* ---- merging ---- */

/* What is left of a run, and a part of it in memory. */
struct run_part {
	struct mark_run left;
	const uint64_t *p, *end;
	uint64_t *room;
};

struct merging {
	struct run_part *parts;
	uint64_t *rooms;
	uint32_t room; /* numbers of each part, and of what is written */
	uint64_t *out;
	uint32_t n; /* of out */
};

static struct merge_entry
next_of(struct mark_set *s, struct merging *m, uint32_t i)
{
	struct run_part *const r = &m->parts[i];

	if (r->p == r->end) {
		const uint64_t n = r->left.n < m->room ? r->left.n : m->room;
		if (n == 0 || !spill_read(&s->file, r->left.at, r->room, n * sizeof *r->room))
			return merge_ended(i);
		spill_discard(&s->file, r->left.at, n * sizeof *r->room);
		r->left.at += n * sizeof *r->room;
		r->left.n -= n;
		r->p = r->room;
		r->end = r->room + n;
	}
	return (struct merge_entry){ *r->p++, i };
}

static void
put(struct mark_set *s, struct merging *m, bool end)
{
	if (m->n > 0 && (end || m->n == m->room)) {
		s->no_memory |= !spill_write(&s->file, m->out, m->n * sizeof *m->out);
		s->total += m->n;
		m->n = 0;
	}
}

static void
merge_all(struct mark_set *s, struct merging *m, const struct merge_entry *first)
{
	struct merge merge;
	uint64_t last = 0;
	bool any = false;

	if (!merge_init(&merge, first, s->nruns)) {
		s->no_memory = true;
		return;
	}
	const uint64_t at = s->file.size;
	for (struct merge_entry e = merge.first; e.source < MERGE_ENDED && !s->no_memory;
	     e = merge_next(&merge, next_of(s, m, e.source))) {
		if (any && e.key == last)
			continue;
		any = true;
		last = e.key;
		m->out[m->n++] = e.key;
		put(s, m, false);
	}
	put(s, m, true);
	s->no_memory |= s->file.failed != SPILL_NOTHING;
	s->runs[0] = (struct mark_run){ at, s->total };
	s->nruns = 1;
	merge_free(&merge);
}

/* All runs become one at the end of the file. */
static void
merge_runs(struct mark_set *s)
{
	struct merging m = { .room = MERGE_MEMORY / sizeof(uint64_t) / (s->nruns + 1) };
	struct merge_entry *const first = calloc(s->nruns, sizeof *first);

	if (m.room < MARK_SET_BLOCK)
		m.room = MARK_SET_BLOCK;
	m.parts = calloc(s->nruns, sizeof *m.parts);
	m.rooms = malloc(((size_t)s->nruns + 1) * m.room * sizeof *m.rooms);
	if (first == NULL || m.parts == NULL || m.rooms == NULL) {
		s->no_memory = true;
	} else {
		m.out = m.rooms + (size_t)s->nruns * m.room;
		for (uint32_t i = 0; i < s->nruns; i++) {
			m.parts[i].left = s->runs[i];
			m.parts[i].room = m.rooms + (size_t)i * m.room;
			first[i] = next_of(s, &m, i);
		}
		merge_all(s, &m, first);
	}
	free(m.parts);
	free(m.rooms);
	free(first);
}

bool
mark_set_finish(struct mark_set *s)
{
	if (s->no_memory)
		return false;
	if (s->nruns == 0) {
		sort(s);
		s->total = s->n;
		return !s->no_memory;
	}
	spill(s);
	free(s->keys);
	s->keys = NULL;
	s->cap = 0;
	if (!s->no_memory)
		merge_runs(s);
	return !s->no_memory;
}

void
mark_set_free(struct mark_set *s)
{
	free(s->keys);
	free(s->runs);
	spill_close(&s->file);
	*s = (struct mark_set){ .n = 0 };
}

/* ---- asking ---- */

static bool
read_block(struct mark_cursor *c, struct mark_set *s, uint64_t from)
{
	const uint64_t left = s->total - from;

	if (c->block == NULL && (c->block = malloc(MARK_SET_BLOCK * sizeof *c->block)) == NULL)
		return false;
	c->n = (uint32_t)(left < MARK_SET_BLOCK ? left : MARK_SET_BLOCK);
	c->from = from;
	if (spill_read(&s->file, s->runs[0].at + from * sizeof *c->block, c->block, c->n * sizeof *c->block))
		return true;
	c->n = 0;
	return false;
}

/* The i-th number, which there is. */
static uint64_t
number_at(struct mark_cursor *c, struct mark_set *s, uint64_t i, bool *failed)
{
	if (s->nruns == 0)
		return s->keys[i];
	if (i - c->from >= c->n && !read_block(c, s, i)) {
		*failed = true;
		return UINT64_MAX;
	}
	return c->block[i - c->from];
}

/* Where the first number stands that is not less. */
static uint64_t
search(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed)
{
	uint64_t from = 0, to = s->total;

	while (from < to && !*failed) {
		const uint64_t middle = from + (to - from) / 2;
		if (number_at(c, s, middle, failed) < key)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

#define NEAR 64

/* Moves to the first number that is not less. */
static void
move_to(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed)
{
	unsigned steps = 0;

	if (key < c->last)
		c->at = search(c, s, key, failed);
	c->last = key;
	while (c->at < s->total && number_at(c, s, c->at, failed) < key && !*failed) {
		if (++steps == NEAR)
			c->at = search(c, s, key, failed);
		else
			c->at++;
	}
}

bool
mark_cursor_has(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed)
{
	move_to(c, s, key, failed);
	return c->at < s->total && number_at(c, s, c->at, failed) == key && !*failed;
}

bool
mark_cursor_floor(struct mark_cursor *c, struct mark_set *s, uint64_t key, uint64_t *floor, bool *failed)
{
	*floor = key;
	if (mark_cursor_has(c, s, key, failed))
		return true;
	if (c->at == 0 || *failed)
		return false;
	*floor = number_at(c, s, c->at - 1, failed);
	return !*failed;
}

void
mark_cursor_free(struct mark_cursor *c)
{
	free(c->block);
	*c = (struct mark_cursor){ .at = 0 };
}
