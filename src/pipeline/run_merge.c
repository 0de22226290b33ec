#include "pipeline/run_merge.h"

#include <stdlib.h>

#include "pipeline/event_codec.h"

/*
 * Why not struct merge (merge.h): its keys are 64 bits, and equal ones are
 * decided by the number of the source.  Here the duration, and the track, count
 * too.
 */

#define BUFFER_MIN UINT64_C(4096)
#define BUFFER_GOOD (UINT64_C(64) << 10) /* smaller ones cost more in system calls than another pass */
#define BUFFER_MAX (UINT64_C(1) << 20)
#define MOST_RUNS 256U
#define FEWEST_RUNS 4U

/* A window into a run: [at, have) of the buffer is not yet taken. */
struct run_reader {
	uint64_t next, end; /* what of the run is still in the file only */
	char *buffer;
	uint64_t cap, at, have;
};

uint32_t
run_merge_most(uint64_t memory)
{
	const uint64_t n = memory / BUFFER_GOOD;

	return n < FEWEST_RUNS ? FEWEST_RUNS : n > MOST_RUNS ? MOST_RUNS : (uint32_t)n;
}

/* The size of each of n buffers: a multiple of 64. */
static uint64_t
buffer_size(uint64_t memory, uint32_t n)
{
	const uint64_t each = memory / n / 64 * 64;

	return each < BUFFER_MIN ? BUFFER_MIN : each > BUFFER_MAX ? BUFFER_MAX : each;
}

/* ---- one run ---- */

/* Makes n <= cap bytes available at `at`; the run has them. */
static bool
reader_need(struct run_reader *r, struct spill_file *f, uint64_t n)
{
	const uint64_t rest = r->have - r->at;

	if (n <= rest)
		return true;
	memmove(r->buffer, r->buffer + r->at, (size_t)rest);
	r->at = 0;
	r->have = rest;
	const uint64_t room = r->cap - rest, left = r->end - r->next, want = room < left ? room : left;
	if (!spill_read(f, r->next, r->buffer + rest, (size_t)want))
		return false;
	r->next += want;
	r->have += want;
	return true;
}

static bool
reader_ended(const struct run_reader *r)
{
	return r->at == r->have && r->next == r->end;
}

/* Up to n bytes, at least one. */
static bool
reader_some(struct run_reader *r, struct spill_file *f, uint64_t n, const char **p, uint64_t *got)
{
	if (!reader_need(r, f, 1))
		return false;
	*p = r->buffer + r->at;
	*got = r->have - r->at < n ? r->have - r->at : n;
	r->at += *got;
	return true;
}

/* ---- the tournament ---- */

/* Behind all others: no track has this number. */
static const struct order_key no_key = { UINT64_MAX, UINT64_MAX, UINT32_MAX, 0 };

static bool
comes_first(const struct run_merge *m, uint32_t a, uint32_t b)
{
	const struct order_key *const x = &m->keys[a], *const y = &m->keys[b];

	return order_key_less(x, y) || (!order_key_less(y, x) && a < b);
}

/* Plays all matches below a node; gives the winner.  8 levels at most. */
static uint32_t
play(struct run_merge *m, uint32_t node)
{
	if (node >= m->leaves)
		return node - m->leaves;
	const uint32_t a = play(m, 2 * node), b = play(m, 2 * node + 1);
	const bool a_wins = comes_first(m, a, b);
	m->losers[node] = a_wins ? b : a;
	return a_wins ? a : b;
}

static void
play_again(struct run_merge *m)
{
	uint32_t winner = m->winner;

	for (uint32_t node = (m->leaves + winner) / 2; node > 0; node /= 2)
		if (comes_first(m, m->losers[node], winner)) {
			const uint32_t loser = winner;
			winner = m->losers[node];
			m->losers[node] = loser;
		}
	m->winner = winner;
}

/* The key of the next event of a run. */
static bool
read_key(struct run_merge *m, uint32_t i)
{
	struct run_reader *const r = &m->readers[i];

	if (reader_ended(r)) {
		m->keys[i] = no_key;
		return true;
	}
	if (!reader_need(r, m->file, sizeof(struct event)))
		return false;
	m->keys[i] = order_key_of(event_packed_head(r->buffer + r->at), m->rule.order);
	return true;
}

/* The winner's event was taken. */
static bool
advance(struct run_merge *m)
{
	if (!read_key(m, m->winner))
		return false;
	play_again(m);
	return true;
}

static bool
allocate(struct run_merge *m, uint32_t n, uint64_t each)
{
	m->readers = calloc(n, sizeof *m->readers);
	m->losers = calloc(m->leaves, sizeof *m->losers);
	m->keys = calloc(m->leaves, sizeof *m->keys);
	m->buffers = malloc((size_t)(n * each));
	return m->readers != NULL && m->losers != NULL && m->keys != NULL && m->buffers != NULL;
}

bool
run_merge_init(struct run_merge *m, struct spill_file *f, const struct spill_run *runs, uint32_t n,
               const struct run_rule *rule)
{
	const uint64_t each = buffer_size(rule->memory, n);

	*m = (struct run_merge){ .file = f, .rule = *rule, .n = n, .leaves = 1 };
	while (m->leaves < n)
		m->leaves *= 2;
	if (!allocate(m, n, each))
		return false;
	for (uint32_t i = 0; i < m->leaves; i++)
		m->keys[i] = no_key;
	for (uint32_t i = 0; i < n; i++) {
		m->readers[i] = (struct run_reader){ .next = runs[i].offset,
			                             .end = runs[i].offset + runs[i].bytes,
			                             .buffer = m->buffers + i * each,
			                             .cap = each };
		if (!read_key(m, i))
			return false;
	}
	m->winner = play(m, 1);
	return true;
}

void
run_merge_free(struct run_merge *m)
{
	free(m->readers);
	free(m->losers);
	free(m->keys);
	free(m->buffers);
	*m = (struct run_merge){ .readers = NULL };
}

bool
run_merge_ended(const struct run_merge *m)
{
	return m->keys[m->winner].track == UINT32_MAX;
}

bool
run_merge_next(struct run_merge *m, struct batch *out)
{
	struct run_reader *const r = &m->readers[m->winner];
	const uint64_t size = event_packed_size(r->buffer + r->at);

	if (size <= r->cap) {
		if (!reader_need(r, m->file, size) ||
		    !event_unpack_copy(out, r->buffer + r->at, m->rule.with_bytes))
			return false;
		r->at += size;
		return advance(m);
	}
	char *const packed = arena_alloc(&out->scratch, (size_t)size);
	if (packed == NULL)
		return false;
	for (uint64_t done = 0, n; done < size; done += n) {
		const char *p;
		if (!reader_some(r, m->file, size - done, &p, &n))
			return false;
		memcpy(packed + done, p, (size_t)n);
	}
	return event_unpack_in_place(out, packed, m->rule.with_bytes) && advance(m);
}

/* ---- fewer runs ---- */

/* Collects what is written to the end of the file. */
struct run_writer {
	struct spill_file *file;
	char *buffer;
	uint64_t cap, used;
};

static bool
writer_flush(struct run_writer *w)
{
	const bool ok = spill_write(w->file, w->buffer, (size_t)w->used);

	w->used = 0;
	return ok;
}

static bool
writer_put(struct run_writer *w, const char *p, uint64_t n)
{
	if (n > w->cap - w->used && !writer_flush(w))
		return false;
	if (n > w->cap)
		return spill_write(w->file, p, (size_t)n);
	memcpy(w->buffer + w->used, p, (size_t)n);
	w->used += n;
	return true;
}

static bool
copy_all(struct run_merge *m, struct run_writer *w)
{
	while (!run_merge_ended(m)) {
		struct run_reader *const r = &m->readers[m->winner];
		const uint64_t size = event_packed_size(r->buffer + r->at);
		for (uint64_t done = 0, n; done < size; done += n) {
			const char *p;
			if (!reader_some(r, m->file, size - done, &p, &n) || !writer_put(w, p, n))
				return false;
		}
		if (!advance(m))
			return false;
	}
	return writer_flush(w);
}

/* Makes one run of n neighbours. */
static bool
merge_into_one(struct spill_file *f, const struct spill_run *runs, uint32_t n, const struct run_rule *rule,
               struct spill_run *made)
{
	struct run_rule share = *rule;
	struct run_writer w = { .file = f, .cap = buffer_size(rule->memory, n + 1) };
	struct run_merge m;

	share.memory = rule->memory > w.cap ? rule->memory - w.cap : 0;
	made->offset = f->size;
	w.buffer = malloc((size_t)w.cap);
	bool ok = run_merge_init(&m, f, runs, n, &share);
	ok = ok && w.buffer != NULL && copy_all(&m, &w);
	made->bytes = f->size - made->offset;
	run_merge_free(&m);
	free(w.buffer);
	for (uint32_t i = 0; ok && i < n; i++)
		spill_discard(f, runs[i].offset, runs[i].bytes);
	return ok;
}

/* Once over all runs, or to where enough are merged. */
static bool
reduce_once(struct spill_file *f, struct spill_run *runs, uint32_t *n, uint32_t most,
            const struct run_rule *rule, uint32_t *merges)
{
	uint32_t from = 0, to = 0, too_many = *n - most;

	while (from < *n) {
		const uint32_t left = *n - from;
		uint32_t group = too_many + 1 < most ? too_many + 1 : most;
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

bool
runs_reduce(struct spill_file *f, struct spill_run *runs, uint32_t *n, uint32_t most,
            const struct run_rule *rule, uint32_t *merges)
{
	*merges = 0;
	while (*n > most)
		if (!reduce_once(f, runs, n, most, rule, merges))
			return false;
	return true;
}
