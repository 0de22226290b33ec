/* K-way merge of sorted runs of packed events, in memory or in a spill file, with a heap.  A run joins the
 * heap at its first event, so the cost of an event depends on the runs that overlap there.  Stable. */
#include <stdlib.h>

#include "run/sort/sorter.h"

#define BUFFER_MIN UINT64_C(4096)
#define BUFFER_GOOD (UINT64_C(64) << 10) /* smaller ones cost more in system calls than another pass */
#define BUFFER_MAX (UINT64_C(1) << 20)
#define MAX_RUNS 256U /* merged at a time */
#define MIN_RUNS 4U

/* A window into a run: [at, have) of the buffer is unread. */
struct run_reader {
	uint64_t next, end; /* offsets in the file of the part that is not in the buffer */
	char *space;        /* buffer to read into; NULL: the run is in memory */
	const char *buffer; /* space, or the memory of the run */
	uint64_t cap, at, have;
};

uint32_t run_merge_most(uint64_t memory)
{
	const uint64_t n = memory / BUFFER_GOOD;

	return n < MIN_RUNS ? MIN_RUNS : n > MAX_RUNS ? MAX_RUNS : (uint32_t)n;
}

/* Returns the size of each of n buffers: a multiple of 64. */
static uint64_t buffer_size(uint64_t memory, uint32_t n)
{
	const uint64_t each = memory / n / 64 * 64;

	return each < BUFFER_MIN ? BUFFER_MIN : each > BUFFER_MAX ? BUFFER_MAX : each;
}

/* ---- one run ---- */

/* Makes n <= cap bytes of the run available at `at`. */
static bool reader_need(struct run_reader *r, struct spill_file *f, uint64_t n)
{
	const uint64_t rest = r->have - r->at;

	if (n <= rest)
		return true;
	memmove(r->space, r->space + r->at, (size_t)rest);
	r->at = 0;
	r->have = rest;
	const uint64_t unused = r->cap - rest, left = r->end - r->next, want = unused < left ? unused : left;
	if (!spill_read(f, r->next, r->space + rest, (size_t)want))
		return false;
	r->next += want;
	r->have += want;
	return true;
}

/* Reads up to n bytes, at least one. */
static bool reader_some(struct run_reader *r, struct spill_file *f, uint64_t n, const char **p, uint64_t *got)
{
	if (!reader_need(r, f, 1))
		return false;
	*p = r->buffer + r->at;
	*got = r->have - r->at < n ? r->have - r->at : n;
	r->at += *got;
	return true;
}

/* ---- the heap ---- */

static bool comes_first(const struct run_heap *h, uint32_t a, uint32_t b)
{
	const struct order_key *const x = &h->keys[a], *const y = &h->keys[b];

	return order_key_less(x, y) || (!order_key_less(y, x) && a < b);
}

/* Sifts a run down from a slot. */
static void sift_down(struct run_heap *h, uint32_t at, uint32_t run)
{
	for (uint32_t child; (child = 2 * at + 1) < h->nactive; at = child) {
		child += child + 1 < h->nactive && comes_first(h, h->active[child + 1], h->active[child]);
		if (!comes_first(h, h->active[child], run))
			break;
		h->active[at] = h->active[child];
	}
	h->active[at] = run;
}

/* Sifts a run up from a slot. */
static void sift_up(struct run_heap *h, uint32_t at, uint32_t run)
{
	for (uint32_t above; at > 0; at = above) {
		above = (at - 1) / 2;
		if (!comes_first(h, run, h->active[above]))
			break;
		h->active[at] = h->active[above];
	}
	h->active[at] = run;
}

/* Adds waiting runs that precede the active ones, and sets the bound. */
static void start_waiting(struct run_heap *h)
{
	for (; h->nstarted < h->n; h->nstarted++) {
		const uint32_t run = h->waiting[h->nstarted].position;
		if (h->nactive > 0 && !comes_first(h, run, h->active[0]))
			break;
		sift_up(h, h->nactive++, run);
	}
	h->bound = (struct order_key){ UINT64_MAX, UINT64_MAX, UINT32_MAX, 0 };
	if (h->nstarted < h->n)
		h->bound = h->waiting[h->nstarted];
	/* the children of the root; all others follow them */
	for (uint32_t i = 1; i < 3 && i < h->nactive; i++)
		if (order_key_less(&h->keys[h->active[i]], &h->bound))
			h->bound = h->keys[h->active[i]];
}

/* Allocates for n runs.  Then all keys are set, and the heap is started. */
static bool heap_init(struct run_heap *h, uint32_t n)
{
	*h = (struct run_heap){ .n = n };
	h->active = calloc(n, sizeof *h->active);
	h->keys = calloc(n, sizeof *h->keys);
	h->waiting = calloc((size_t)n * 3, sizeof *h->waiting);
	return h->active != NULL && h->keys != NULL && h->waiting != NULL;
}

static void heap_start(struct run_heap *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		h->waiting[i] = h->keys[i];
		h->waiting[i].position = i;
	}
	order_sort(h->waiting, h->n, h->waiting + h->n);
	start_waiting(h);
}

/* Called after an event of the first run; key: that of its next event. */
static inline void heap_advance(struct run_heap *h, const struct order_key *key)
{
	h->keys[h->active[0]] = *key;
	if (order_key_less(key, &h->bound))
		return;
	sift_down(h, 0, h->active[0]);
	start_waiting(h);
}

/* Called after the last event of the first run. */
static void heap_end_run(struct run_heap *h)
{
	if (--h->nactive > 0)
		sift_down(h, 0, h->active[h->nactive]);
	start_waiting(h);
}

/* ---- the merge ---- */

/* Makes the head of the next event of a run available; the run has not ended. */
static inline bool need_head(struct run_merge *m, struct run_reader *r)
{
	const uint64_t have = r->have - r->at, left = have + (r->end - r->next);

	return have >= EVENT_PACKED_HEAD ||
	       reader_need(r, m->file, left < EVENT_PACKED_HEAD ? left : EVENT_PACKED_HEAD);
}

/* Reads the head of the next event of a run, and its key. */
static inline bool read_key(struct run_merge *m, struct run_reader *r, struct order_key *key)
{
	if (!need_head(m, r))
		return false;
	event_read_head(&m->head, r->buffer + r->at, m->rule.shapes);
	*key = event_head_key(&m->head, m->rule.order);
	return true;
}

static bool advance(struct run_merge *m)
{
	const uint32_t run = m->heap.active[0];
	struct run_reader *const r = &m->readers[run];
	struct order_key key;

	m->has_head = false;
	if (r->at == r->have && r->next == r->end) {
		heap_end_run(&m->heap);
	} else if (m->heap.nactive == 1 && m->heap.nstarted == m->heap.n) { /* the last run needs no keys */
		return need_head(m, r);
	} else {
		if (!read_key(m, r, &key))
			return false;
		heap_advance(&m->heap, &key);
		m->has_head = m->heap.active[0] == run;
	}
	return true;
}

bool run_merge_init(struct run_merge *m, struct spill_file *f, const char *memory,
                    const struct spill_run *runs, uint32_t n, const struct run_rule *rule)
{
	const uint64_t each = f != NULL ? buffer_size(rule->memory, n) : 0;

	*m = (struct run_merge){ .file = f, .rule = *rule };
	m->readers = calloc(n, sizeof *m->readers);
	m->buffers = f != NULL ? malloc((size_t)(n * each) + EVENT_PACKED_SLACK) : NULL;
	if (!heap_init(&m->heap, n) || m->readers == NULL || (m->buffers == NULL && f != NULL))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t end = runs[i].offset + runs[i].bytes;
		m->readers[i] = f != NULL ? (struct run_reader){ .next = runs[i].offset,
			                                         .end = end,
			                                         .space = m->buffers + i * each,
			                                         .buffer = m->buffers + i * each,
			                                         .cap = each }
		                          : (struct run_reader){ .buffer = memory + runs[i].offset,
			                                         .cap = runs[i].bytes,
			                                         .have = runs[i].bytes };
		if (!read_key(m, &m->readers[i], &m->heap.keys[i]))
			return false;
	}
	heap_start(&m->heap);
	return true;
}

void run_merge_free(struct run_merge *m)
{
	free(m->readers);
	free(m->buffers);
	free(m->heap.keys);
	free(m->heap.waiting);
	free(m->heap.active);
	*m = (struct run_merge){ .readers = NULL };
}

static bool unpack_in_place(struct run_merge *m, struct batch *out, const char *packed)
{
	event_read_head(&m->head, packed, m->rule.shapes);
	return event_unpack_in_place(out, &m->head, m->rule.shapes);
}

/* Reads an event larger than the buffer. */
static bool next_large(struct run_merge *m, struct run_reader *r, struct batch *out, uint64_t size)
{
	char *const packed = arena_alloc(&out->scratch, (size_t)size + EVENT_PACKED_SLACK);

	if (packed == NULL)
		return false;
	for (uint64_t done = 0, n; done < size; done += n) {
		const char *p;
		if (!reader_some(r, m->file, size - done, &p, &n))
			return false;
		memcpy(packed + done, p, (size_t)n);
	}
	return unpack_in_place(m, out, packed) && advance(m);
}

/* Adds the next event of a run in the file. */
static bool next_of_file(struct run_merge *m, struct run_reader *r, struct batch *out, uint64_t size)
{
	if (size > r->cap)
		return next_large(m, r, out, size);
	if (r->have - r->at < size && !reader_need(r, m->file, size))
		return false;
	if (!event_unpack_copy(out, r->buffer + r->at, m->rule.shapes))
		return false;
	r->at += size;
	return advance(m);
}

struct order_key run_merge_key(const struct run_merge *m)
{
	const struct run_reader *const r = &m->readers[m->heap.active[0]];
	struct packed_head head;

	event_read_head(&head, r->buffer + r->at, m->rule.shapes); /* advance() made it available */
	return event_head_key(&head, m->rule.order);
}

bool run_merge_next(struct run_merge *m, struct batch *out)
{
	struct run_reader *const r = &m->readers[m->heap.active[0]];
	const char *const packed = r->buffer + r->at;
	const uint64_t size = event_packed_size(packed);

	if (m->file != NULL)
		return next_of_file(m, r, out, size);
	if (!(m->has_head ? event_unpack_in_place(out, &m->head, m->rule.shapes)
	                  : unpack_in_place(m, out, packed)))
		return false;
	r->at += size;
	return advance(m);
}

/* ---- writing ---- */

/* Buffers output to the end of the file. */
struct run_writer {
	struct spill_file *file;
	char *buffer;
	uint64_t cap, used;
};

static bool writer_flush(struct run_writer *w)
{
	const bool ok = spill_write(w->file, w->buffer, (size_t)w->used);

	w->used = 0;
	return ok;
}

static bool writer_put(struct run_writer *w, const char *p, uint64_t n)
{
	if (n > w->cap - w->used && !writer_flush(w))
		return false;
	if (n > w->cap)
		return spill_write(w->file, p, (size_t)n);
	memcpy(w->buffer + w->used, p, (size_t)n);
	w->used += n;
	return true;
}

bool run_merge_write(struct run_merge *m, struct spill_file *to, char *buffer, uint64_t cap)
{
	struct run_writer w = { .file = to, .buffer = buffer, .cap = cap };

	while (!run_merge_ended(m)) {
		struct run_reader *const r = &m->readers[m->heap.active[0]];
		const uint64_t size = event_packed_size(r->buffer + r->at);
		for (uint64_t done = 0, n; done < size; done += n) {
			const char *p;
			if (!reader_some(r, m->file, size - done, &p, &n) || !writer_put(&w, p, n))
				return false;
		}
		if (!advance(m))
			return false;
	}
	return writer_flush(&w);
}

/* ---- reducing the number of runs ---- */

static bool merge_into_one(struct spill_file *f, const struct spill_run *runs, uint32_t n,
                           const struct run_rule *rule, struct spill_run *made)
{
	struct run_rule share = *rule;
	const uint64_t cap = buffer_size(rule->memory, n + 1);
	char *const buffer = malloc((size_t)cap);
	struct run_merge m;

	share.memory = rule->memory > cap ? rule->memory - cap : 0;
	made->offset = f->size;
	bool ok = run_merge_init(&m, f, NULL, runs, n, &share);
	ok = ok && buffer != NULL && run_merge_write(&m, f, buffer, cap);
	made->bytes = f->size - made->offset;
	run_merge_free(&m);
	free(buffer);
	for (uint32_t i = 0; ok && i < n; i++)
		spill_discard(f, runs[i].offset, runs[i].bytes);
	return ok;
}

/* One pass over all runs, or until enough are merged. */
static bool reduce_once(struct spill_file *f, struct spill_run *runs, uint32_t *n, uint32_t max,
                        const struct run_rule *rule, uint32_t *merges)
{
	uint32_t from = 0, to = 0, too_many = *n - max;

	while (from < *n) {
		const uint32_t left = *n - from;
		uint32_t group = too_many + 1 < max ? too_many + 1 : max;
		group = group < left ? group : left;
		struct spill_run made = runs[from];
		if (group > 1) {
			if (!merge_into_one(f, runs + from, group, rule, &made))
				return false;
			++*merges;
			too_many -= group - 1;
		}
		runs[to++] = made;
		from += group;
	}
	*n = to;
	return true;
}

bool runs_reduce(struct spill_file *f, struct spill_run *runs, uint32_t *n, uint32_t max,
                 const struct run_rule *rule, uint32_t *merges)
{
	*merges = 0;
	while (*n > max)
		if (!reduce_once(f, runs, n, max, rule, merges))
			return false;
	return true;
}
