/* Pairs of arrow ends by name and key (run/meaning/interpret.h): ends wait in a window of bounded size,
 * sorted by key and time when it is full, and the older half is resolved.  O(n log n) per window. */
#include "run/meaning/interpret.h"

#include <stdlib.h>

#define ROOM (2 * ARROWS_WINDOW) /* bound on the ends that are held, should nobody take what is resolved */

/* One end of an arrow.  56 bytes. */
struct arrow_end {
	uint64_t key, ts, offset;
	uint64_t id; /* outs only */
	const struct track *track;
	const struct class *cls;
	uint32_t name; /* its number */
	uint8_t flags; /* enum event_flags */
	bool out;
};

#define NOWHERE UINT32_MAX
#define BUCKETS 65536U

void arrows_init(struct arrows *a)
{
	*a = (struct arrows){ .ends = NULL };
}

void arrows_free(struct arrows *a)
{
	free(a->ends);
	free(a->order);
	free(a->to);
	free(a->buckets);
	free(a->list);
	tabletext_free(&a->names);
	*a = (struct arrows){ .ends = NULL };
}

/* The number of a name, TABLE_NONE: no memory.  There are as many as the vocabulary has; the same bytes come
 * again and again. */
static uint32_t number(struct arrows *a, struct slice name)
{
	for (uint32_t i = 0; i < a->nnames && i < 4; i++)
		if (a->list[i].p == name.p && a->list[i].n == name.n)
			return i;
	const uint32_t known = tabletext_get(&a->names, name);

	if (known != TABLE_NONE)
		return known;
	struct slice *const list = realloc(a->list, ((size_t)a->nnames + 1) * sizeof *list);
	if (list == NULL)
		return TABLE_NONE;
	a->list = list;
	if (!tabletext_put(&a->names, name, a->nnames))
		return TABLE_NONE;
	list[a->nnames] = name;
	return a->nnames++;
}

static bool grow_list(void *list, uint32_t cap, size_t size)
{
	void **const at = list;
	void *const p = realloc(*at, (size_t)cap * size);

	if (p != NULL)
		*at = p;
	return p != NULL;
}

static bool grow(struct arrows *a)
{
	const uint32_t cap = a->cap == 0 ? 1024 : a->cap * 2;

	if (a->buckets == NULL && !grow_list(&a->buckets, BUCKETS + 1, sizeof *a->buckets))
		return false;
	if (!grow_list(&a->ends, cap, sizeof *a->ends) || !grow_list(&a->order, cap, sizeof *a->order) ||
	    !grow_list(&a->to, cap, sizeof *a->to))
		return false;
	a->cap = cap;
	return true;
}

static void add(struct arrows *a, struct slice name, struct arrow_end end)
{
	if (a->n == ROOM) {
		a->dropped += end.out;
		return;
	}
	end.name = number(a, name);
	if (end.name == TABLE_NONE || (a->n == a->cap && !grow(a)))
		a->failed = true;
	else
		a->ends[a->n++] = end;
}

static struct arrow_end end_at(const struct event *e, uint64_t key)
{
	return (struct arrow_end){
		.key = key, .ts = e->ts, .offset = e->offset, .track = e->track, .cls = e->cls
	};
}

void arrows_out(struct arrows *a, struct slice name, uint64_t key, const struct event *e)
{
	struct arrow_end end = end_at(e, key);

	end.out = true;
	end.id = ++a->id;
	end.flags = e->flags & EVENT_ARROW;
	add(a, name, end);
}

void arrows_in(struct arrows *a, struct slice name, uint64_t key, const struct event *e)
{
	add(a, name, end_at(e, key));
}

/* ---- resolving ---- */

static bool same(const struct arrow_end *x, const struct arrow_end *y)
{
	return x->key == y->key && x->name == y->name;
}

/* By name, key and time; at one time the outs come first, for an in of the same time is theirs. */
static bool before(const struct arrow_end *x, const struct arrow_end *y)
{
	if (x->name != y->name)
		return x->name < y->name;
	if (x->key != y->key)
		return x->key < y->key;
	return x->ts != y->ts ? x->ts < y->ts : x->out && !y->out;
}

/* Where equal names and keys meet.  An input made to fill one bucket costs the time of a sort, no more. */
static uint32_t bucket_of(const struct arrow_end *e)
{
	return (uint32_t)((e->key + e->name) * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

/* order[] becomes the numbers of all ends, bucket by bucket, in each as they came; buckets[i] is where the
 * i-th ends. */
static void fill_buckets(struct arrows *a)
{
	uint32_t sum = 0;

	memset(a->buckets, 0, (BUCKETS + 1) * sizeof *a->buckets);
	for (uint32_t i = 0; i < a->n; i++)
		a->buckets[bucket_of(&a->ends[i])]++;
	for (uint32_t i = 0; i < BUCKETS; i++) {
		const uint32_t n = a->buckets[i];
		a->buckets[i] = sum;
		sum += n;
	}
	for (uint32_t i = 0; i < a->n; i++)
		a->order[a->buckets[bucket_of(&a->ends[i])]++] = i;
}

static void sort_few(const struct arrow_end *ends, uint32_t *p, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		const uint32_t x = p[i];
		uint32_t k = i;
		for (; k > 0 && before(&ends[x], &ends[p[k - 1]]); k--)
			p[k] = p[k - 1];
		p[k] = x;
	}
}

/* p[0, first) and p[first, n) are in order; spare has room for `first`. */
static void merge(const struct arrow_end *ends, uint32_t *p, uint32_t first, uint32_t n, uint32_t *spare)
{
	uint32_t i = 0, k = first, to = 0;

	memcpy(spare, p, first * sizeof *p);
	while (i < first)
		p[to++] = k < n && before(&ends[p[k]], &ends[spare[i]]) ? p[k++] : spare[i++];
}

#define FEW 16

/* Equal ends stay as they came.  Blocks of threads are in order of time already: those are only looked at. */
static void sort(const struct arrow_end *ends, uint32_t *p, uint32_t n, uint32_t *spare)
{
	for (uint32_t i = 0; i < n; i += FEW)
		sort_few(ends, p + i, n - i < FEW ? n - i : FEW);
	for (uint32_t width = FEW; width < n; width *= 2)
		for (uint32_t i = 0; n - i > width; i += 2 * width) {
			const uint32_t end = n - i < 2 * width ? n - i : 2 * width;
			if (before(&ends[p[i + width]], &ends[p[i + width - 1]]))
				merge(ends, p + i, width, end, spare);
			if (end < 2 * width)
				break;
		}
}

/* From the last to the first: the in that was met last is the nearest. */
static void find_arrivals(struct arrows *a)
{
	uint32_t in = NOWHERE;

	for (uint32_t i = a->n; i-- > 0;) {
		const uint32_t x = a->order[i];
		if (in != NOWHERE && !same(&a->ends[in], &a->ends[x]))
			in = NOWHERE;
		a->to[x] = a->ends[x].out ? in : NOWHERE;
		if (!a->ends[x].out)
			in = x;
	}
}

/* Nothing is being handed out: what waits becomes what is handed out. */
static void resolve(struct arrows *a, bool all)
{
	fill_buckets(a);
	for (uint32_t i = 0, from = 0; i < BUCKETS; from = a->buckets[i++])
		sort(a->ends, a->order + from, a->buckets[i] - from, a->to);
	find_arrivals(a);
	a->at = 0;
	a->resolved = a->n;
	a->old = all ? a->n : a->n - ARROWS_WINDOW / 2;
}

/* An arrow whose ends are both of the newer half waits: a nearer in may still come. */
static bool is_due(const struct arrows *a, uint32_t i)
{
	return a->to[i] != NOWHERE && (i < a->old || a->to[i] < a->old);
}

/* What was handed out, and the older half, leaves. */
static void close_up(struct arrows *a)
{
	uint32_t kept = 0;

	for (uint32_t i = a->old; i < a->n; i++)
		if (i >= a->resolved || !is_due(a, i))
			a->ends[kept++] = a->ends[i];
	a->n = kept;
	a->at = a->resolved = a->old = 0;
}

/* ---- handing out ---- */

static void put(const struct arrows *a, struct batch *b, const struct arrow_end *end, uint64_t id,
                enum phase phase)
{
	if (b->bytes != NULL)
		b->bytes[b->n] = (struct slice){ "", 0, 0 };
	b->events[b->n++] = (struct event){
		.ts = end->ts,
		.dur = id,
		.name = a->list[end->name],
		.cls = end->cls,
		.track = end->track,
		.offset = end->offset,
		.first_field = b->nfields,
		.phase = (uint8_t)phase,
		.flags = end->flags,
	};
}

/* false: the batch is full. */
static bool hand_out(struct arrows *a, struct batch *b, bool end)
{
	const uint32_t i = a->at;

	if (is_due(a, i)) {
		if (b->cap - b->n < 2)
			return false;
		put(a, b, &a->ends[i], a->ends[i].id, PHASE_FLOW_OUT);
		put(a, b, &a->ends[a->to[i]], a->ends[i].id, PHASE_FLOW_IN);
	} else if (a->ends[i].out && i < a->old && !end) {
		a->dropped++;
	}
	a->at++;
	return true;
}

bool arrows_give(struct arrows *a, struct batch *b, bool end)
{
	for (;;) {
		while (a->at < a->resolved)
			if (!hand_out(a, b, end && a->n == a->resolved))
				return true;
		if (a->resolved > 0)
			close_up(a); /* asked for each batch: nothing is moved while nothing was dropped */
		if (a->n == 0 || (a->n < ARROWS_WINDOW && !end))
			return false;
		resolve(a, end);
	}
}
