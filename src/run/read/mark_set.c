/* A set of numbers (mark_set.h), by an external sort: radix sort of a buffer, sorted runs in a temporary
 * file, one k-way merge at the end; cursors then read it in blocks, nearly sequentially. */
#include "run/read/mark_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "run/read/merge.h"

/* Bytes of all buffers of the merge, divided among the runs. */
#define MERGE_MEMORY (8U << 20)

/* LSD radix sort with a second buffer of the same size; skips bytes that are equal in all numbers. */
static bool sort_bytes(uint64_t *keys, uint32_t n)
{
	uint64_t *const scratch = malloc((size_t)n * sizeof *scratch), *from = keys, *to = scratch;
	uint64_t same = UINT64_MAX;

	if (scratch == NULL)
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
	free(scratch);
	return true;
}

static inline uint32_t entry_words(const struct mark_set *s)
{
	return s->pages ? MARK_PAGE_WORDS : 1;
}

/* Adds the bits of a page to a page with the same number. */
static inline void merge_page(uint64_t *to, const uint64_t *page)
{
	for (uint32_t i = 1; i < MARK_PAGE_WORDS; i++)
		to[i] |= page[i];
}

/* Merges entries with equal numbers; the entries are sorted. */
static void merge_equal(struct mark_set *s)
{
	const uint32_t step = entry_words(s);
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i += step) {
		if (n == 0 || s->keys[i] != s->keys[n - step]) {
			memmove(&s->keys[n], &s->keys[i], step * sizeof *s->keys);
			n += step;
		} else if (s->pages) {
			merge_page(&s->keys[n - step], &s->keys[i]);
		}
	}
	s->n = n;
}

/* Sorts the entries in memory and removes duplicates.  Traces are often in order already. */
static void sort_entries(struct mark_set *s)
{
	const uint32_t step = entry_words(s);
	uint32_t i = step;

	while (i < s->n && s->keys[i - step] <= s->keys[i])
		i += step;
	if (i < s->n && s->pages)
		qsort(s->keys, s->n / step, step * sizeof *s->keys, compare_u64);
	else if (i < s->n && !sort_bytes(s->keys, s->n))
		s->no_memory = true;
	if (!s->no_memory)
		merge_equal(s);
}

/* Writes the entries in memory as a run. */
static void spill(struct mark_set *s)
{
	sort_entries(s);
	if (note_failure(&s->no_memory,
	                 s->no_memory || (!s->file.is_open && !spill_open(&s->file, s->temp_near)) ||
	                     !array_reserve(&s->runs, s->nruns, &s->runs_cap, sizeof *s->runs)))
		return;
	s->runs[s->nruns++] = (struct mark_run){ s->file.size, s->n / entry_words(s), s->keys[0],
		                                 s->keys[s->n - entry_words(s)] };
	s->no_memory = !spill_write(&s->file, s->keys, s->n * sizeof *s->keys);
	s->n = 0;
}

static void add_entry(struct mark_set *s, const uint64_t *entry)
{
	const uint32_t step = entry_words(s);

	if (s->no_memory)
		return;
	if (s->n > 0 && s->n + step > (s->max > 0 ? s->max : MARK_SET_ROOM))
		spill(s);
	if (note_failure(&s->no_memory,
	                 s->no_memory || !array_reserve(&s->keys, s->n + step - 1, &s->cap, sizeof *s->keys)))
		return;
	memcpy(&s->keys[s->n], entry, step * sizeof *entry);
	s->n += step;
}

/* ---- pages ---- */

static bool is_empty(const struct mark_page *p)
{
	uint64_t any = 0;

	for (uint32_t i = 1; i < MARK_PAGE_WORDS; i++)
		any |= p->words[i];
	return any == 0;
}

static void add_to_page(struct mark_set *s, uint64_t key)
{
	const uint64_t number = key >> MARK_PAGE_BITS;

	if (note_failure(&s->no_memory,
	                 s->open == NULL && (s->open = calloc(MARK_SET_OPEN, sizeof *s->open)) == NULL))
		return;
	struct mark_page *const p = mark_page_at(s, number);
	if (p->words[0] != number) { /* its page becomes an entry */
		if (!is_empty(p))
			add_entry(s, p->words);
		*p = (struct mark_page){ { number } };
	}
	mark_page_set(p, key);
}

/* Turns open pages into entries, from the lowest number on: from there they are mostly in order. */
static void close_pages(struct mark_set *s)
{
	uint32_t first = 0;
	uint64_t lowest = UINT64_MAX;

	for (uint32_t i = 0; s->open != NULL && i < MARK_SET_OPEN; i++)
		if (s->open[i].words[0] < lowest && !is_empty(&s->open[i]))
			lowest = s->open[first = i].words[0];
	for (uint32_t i = first; s->open != NULL && i < first + MARK_SET_OPEN; i++)
		if (!is_empty(&s->open[i % MARK_SET_OPEN]))
			add_entry(s, s->open[i % MARK_SET_OPEN].words);
	free(s->open);
	s->open = NULL;
}

void mark_set_add_other(struct mark_set *s, uint64_t key)
{
	if (s->no_memory)
		return;
	if (s->pages)
		add_to_page(s, key);
	else if (s->n == 0 || s->keys[s->n - 1] != key)
		add_entry(s, &key);
}

/* ---- merging ---- */

/* The rest of a run: its next entries in memory, and what is left in the file. */
struct run_rest {
	struct mark_run left;
	const uint64_t *p, *end;
	uint64_t *buffer;
};

struct merging {
	struct run_rest *rests;
	uint64_t *buffers;
	uint32_t size; /* words of each buffer: whole entries */
	uint64_t *out;
	uint32_t n; /* words of out */
};

/* Ensures an entry of run i in memory, at m->rests[i].p, and returns it for the merge. */
static struct merge_entry current_entry(struct mark_set *s, struct merging *m, uint32_t i)
{
	struct run_rest *const r = &m->rests[i];

	if (r->p == r->end) {
		const uint64_t left = r->left.n * entry_words(s), n = left < m->size ? left : m->size;
		if (n == 0 || !spill_read(&s->file, r->left.at, r->buffer, n * sizeof *r->buffer))
			return merge_ended(i);
		spill_discard(&s->file, r->left.at, n * sizeof *r->buffer);
		r->left.at += n * sizeof *r->buffer;
		r->left.n -= n / entry_words(s);
		r->p = r->buffer;
		r->end = r->buffer + n;
	}
	return (struct merge_entry){ *r->p, i };
}

static void flush_output(struct mark_set *s, struct merging *m)
{
	if (m->n == 0)
		return;
	s->no_memory |= !spill_write(&s->file, m->out, m->n * sizeof *m->out);
	s->total += m->n / entry_words(s);
	m->n = 0;
}

/* Adds an entry to the output.  The last one stays in memory, since entries with equal numbers may follow. */
static void output_entry(struct mark_set *s, struct merging *m, const uint64_t *entry)
{
	const uint32_t step = entry_words(s);

	if (m->n > 0 && m->out[m->n - step] == *entry) {
		if (s->pages)
			merge_page(&m->out[m->n - step], entry);
		return;
	}
	if (m->n == m->size)
		flush_output(s, m);
	memcpy(&m->out[m->n], entry, step * sizeof *entry);
	m->n += step;
}

static void merge_all(struct mark_set *s, struct merging *m, const struct merge_entry *first)
{
	struct merge merge;

	if (note_failure(&s->no_memory, !merge_init(&merge, first, s->nruns)))
		return;
	const uint64_t at = s->file.size;
	for (struct merge_entry e = merge.first; e.source < MERGE_ENDED && !s->no_memory;) {
		struct run_rest *const r = &m->rests[e.source];
		output_entry(s, m, r->p);
		r->p += entry_words(s);
		e = merge_next(&merge, current_entry(s, m, e.source));
	}
	flush_output(s, m);
	s->no_memory |= s->file.failed != SPILL_NOTHING;
	s->runs[0] = (struct mark_run){ .at = at, .n = s->total };
	s->nruns = 1;
	merge_free(&merge);
}

/* Merges all runs into one at the end of the file. */
static void merge_runs(struct mark_set *s)
{
	struct merging m = { .size = MERGE_MEMORY / sizeof(uint64_t) / (s->nruns + 1) };
	struct merge_entry *const first = calloc(s->nruns, sizeof *first);

	if (m.size < MARK_SET_BLOCK)
		m.size = MARK_SET_BLOCK;
	m.size -= m.size % entry_words(s);
	m.rests = calloc(s->nruns, sizeof *m.rests);
	m.buffers = malloc(((size_t)s->nruns + 1) * m.size * sizeof *m.buffers);
	if (first == NULL || m.rests == NULL || m.buffers == NULL) {
		s->no_memory = true;
	} else {
		m.out = m.buffers + (size_t)s->nruns * m.size;
		for (uint32_t i = 0; i < s->nruns; i++) {
			m.rests[i].left = s->runs[i];
			m.rests[i].buffer = m.buffers + (size_t)i * m.size;
			first[i] = current_entry(s, &m, i);
		}
		merge_all(s, &m, first);
	}
	free(m.rests);
	free(m.buffers);
	free(first);
}

/* Joins runs that are in order.  Returns false if they overlap. */
static bool join_runs(struct mark_set *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->nruns; i++) {
		if (i > 0 && s->runs[i].first <= s->runs[i - 1].last)
			return false;
		n += s->runs[i].n;
	}
	s->runs[0].n = s->total = n;
	s->nruns = 1;
	return true;
}

bool mark_set_finish(struct mark_set *s)
{
	close_pages(s);
	if (s->no_memory)
		return false;
	if (s->nruns == 0) {
		sort_entries(s);
		s->total = s->n / entry_words(s);
		return !s->no_memory;
	}
	if (s->n > 0)
		spill(s);
	free(s->keys);
	s->keys = NULL;
	s->cap = 0;
	if (!s->no_memory && !join_runs(s))
		merge_runs(s);
	return !s->no_memory;
}

void mark_set_free(struct mark_set *s)
{
	free(s->keys);
	free(s->open);
	free(s->runs);
	spill_close(&s->file);
	*s = (struct mark_set){ .n = 0 };
}

/* ---- queries ---- */

static bool read_block(struct mark_cursor *c, struct mark_set *s, uint64_t from)
{
	const uint64_t left = s->total - from, max = MARK_SET_BLOCK / entry_words(s);
	const size_t size = entry_words(s) * sizeof *c->block;

	if (c->block == NULL && (c->block = malloc(MARK_SET_BLOCK * sizeof *c->block)) == NULL)
		return false;
	c->n = (uint32_t)(left < max ? left : max);
	c->from = from;
	if (spill_read(&s->file, s->runs[0].at + from * size, c->block, c->n * size))
		return true;
	c->n = 0;
	return false;
}

static const uint64_t no_entry[MARK_PAGE_WORDS] = { UINT64_MAX };

/* Returns the i-th entry, which exists. */
static inline const uint64_t *entry_at(struct mark_cursor *c, struct mark_set *s, uint64_t i, bool *failed)
{
	if (s->nruns == 0)
		return &s->keys[i * entry_words(s)];
	if (i - c->from >= c->n && !read_block(c, s, i)) {
		*failed = true;
		return no_entry;
	}
	return &c->block[(i - c->from) * entry_words(s)];
}

/* Returns the index of the first entry that is >= key. */
static uint64_t search(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed)
{
	uint64_t from = 0, to = s->total;

	while (from < to && !*failed) {
		const uint64_t middle = from + (to - from) / 2;
		if (*entry_at(c, s, middle, failed) < key)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

#define NEAR 64 /* entries that a cursor passes one by one before it searches */

/* Moves to the first entry that is >= key.  Returns NULL if there is none. */
static inline const uint64_t *move_to(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed)
{
	unsigned steps = 0;

	if (key < c->last)
		c->at = search(c, s, key, failed);
	c->last = key;
	while (c->at < s->total) {
		const uint64_t *const entry = entry_at(c, s, c->at, failed);
		if (*entry >= key || *failed)
			return *failed ? NULL : entry;
		if (++steps == NEAR)
			c->at = search(c, s, key, failed);
		else
			c->at++;
	}
	return NULL;
}

bool mark_cursor_find(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed)
{
	const uint64_t number = s->pages ? key >> MARK_PAGE_BITS : key;

	c->page = NULL;
	const uint64_t *const entry = move_to(c, s, number, failed);
	if (s->pages && !*failed && (entry == NULL || *entry != number)) {
		c->absent = number;
		c->present = entry != NULL ? *entry : UINT64_MAX;
	}
	if (entry == NULL || *entry != number)
		return false;
	if (!s->pages)
		return true;
	c->page = entry;
	return mark_cursor_has(c, s, key, failed);
}

/* The least number of the page that is >= key; UINT64_MAX: none. */
static uint64_t next_of_page(const uint64_t *page, uint64_t key)
{
	const uint64_t from = key >> MARK_PAGE_BITS == *page ? key % MARK_PAGE : 0;
	uint32_t word = (uint32_t)(from / 64);
	uint64_t bits = page[1 + word] & UINT64_MAX << from % 64;

	while (bits == 0 && ++word < MARK_PAGE_WORDS - 1)
		bits = page[1 + word];
	return bits != 0 ? (*page << MARK_PAGE_BITS) + word * 64U + low_bit(bits) : UINT64_MAX;
}

uint64_t mark_cursor_next(struct mark_cursor *c, struct mark_set *s, uint64_t key, bool *failed)
{
	const uint64_t first = s->pages ? key >> MARK_PAGE_BITS : key;
	const uint64_t *entry = move_to(c, s, first, failed);

	c->page = NULL;
	if (!s->pages)
		return entry != NULL ? *entry : UINT64_MAX;
	uint64_t next = entry != NULL ? next_of_page(entry, key) : UINT64_MAX;
	if (next == UINT64_MAX && entry != NULL && *entry == first &&
	    (entry = move_to(c, s, first + 1, failed)) != NULL)
		next = next_of_page(entry, key);
	return next;
}

bool mark_cursor_floor(struct mark_cursor *c, struct mark_set *s, uint64_t key, uint64_t *floor, bool *failed)
{
	*floor = key;
	if (mark_cursor_has(c, s, key, failed))
		return true;
	if (c->at == 0 || *failed)
		return false;
	*floor = *entry_at(c, s, c->at - 1, failed);
	return !*failed;
}

void mark_cursor_free(struct mark_cursor *c)
{
	free(c->block);
	*c = (struct mark_cursor){ .at = 0 };
}
