#include "flow/arrows.h"

#include <stdlib.h>

#define ROOM (2 * ARROWS_WINDOW) /* bound on the ends that are held, should nobody take what is resolved */

/* One end of an arrow.  48 bytes. */
struct arrow_end {
	uint64_t key, ts, offset;
	const struct track *track;
	const struct class *cls;
	uint32_t name; /* its number */
	bool out;
	bool old; /* of the older half when the window was full: it leaves now */
};

bool
arrows_init(struct arrows *a)
{
	*a = (struct arrows){ .ends = NULL };
	return true;
}

void
arrows_free(struct arrows *a)
{
	free(a->ends);
	free(a->list);
	tabletext_free(&a->names);
	*a = (struct arrows){ .ends = NULL };
}

/* The number of a name, TABLE_NONE: no memory.  There are as many as the vocabulary has. */
static uint32_t
number(struct arrows *a, struct slice name)
{
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

static bool
grow(struct arrows *a)
{
	const uint32_t cap = a->cap == 0 ? 1024 : a->cap * 2;
	struct arrow_end *const ends = realloc(a->ends, (size_t)cap * sizeof *ends);

	if (ends == NULL)
		return false;
	a->ends = ends;
	a->cap = cap;
	return true;
}

static bool
add(struct arrows *a, struct slice name, struct arrow_end end)
{
	if (a->n == ROOM) {
		a->left += end.out;
		return true;
	}
	end.name = number(a, name);
	if (end.name == TABLE_NONE || (a->n == a->cap && !grow(a)))
		return false;
	a->ends[a->n++] = end;
	return true;
}

bool
arrows_out(struct arrows *a, struct slice name, uint64_t key, uint64_t ts, const struct track *track,
           const struct class *cls, uint64_t offset)
{
	return add(a, name, (struct arrow_end){ .key = key, .ts = ts, .offset = offset, .track = track, .cls = cls, .out = true });
}

bool
arrows_in(struct arrows *a, struct slice name, uint64_t key, uint64_t ts, const struct track *track,
          const struct class *cls, uint64_t offset)
{
	return add(a, name, (struct arrow_end){ .key = key, .ts = ts, .offset = offset, .track = track, .cls = cls });
}

static int
order_of(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

/* By name, key and time; at one time the outs come first, for an in of the same time is theirs.  The rest makes the order
 * the same on every run. */
static int
compare(const void *p, const void *q)
{
	const struct arrow_end *const x = p, *const y = q;
	int order;

	if (x->name != y->name)
		return order_of(x->name, y->name);
	if (x->key != y->key)
		return order_of(x->key, y->key);
	if (x->ts != y->ts)
		return order_of(x->ts, y->ts);
	if (x->out != y->out)
		return x->out ? -1 : 1;
	if ((order = order_of(x->offset, y->offset)) != 0 || (order = order_of(x->track->index, y->track->index)) != 0)
		return order;
	return (order = order_of(x->cls->index, y->cls->index)) != 0 ? order : order_of(y->old, x->old);
}

/* Nothing is being handed out: what waits becomes what is handed out.  What was kept last time stands in front and is less than
 * half the window, the rest stands as it came: so the front is the older part. */
static void
resolve(struct arrows *a, bool all)
{
	const uint32_t old = all ? a->n : a->n - ARROWS_WINDOW / 2;

	for (uint32_t i = 0; i < a->n; i++)
		a->ends[i].old = i < old;
	if (a->n > 0)
		qsort(a->ends, a->n, sizeof *a->ends, compare);
	a->kept = a->at = a->arrival = 0;
	a->sorted = a->n;
}

/* The in that the out at a->at belongs to, NULL: none was met.  The search never goes back. */
static const struct arrow_end *
arrival(struct arrows *a)
{
	const struct arrow_end *const out = &a->ends[a->at];

	if (a->arrival <= a->at)
		a->arrival = a->at + 1;
	for (; a->arrival < a->sorted; a->arrival++) {
		const struct arrow_end *const in = &a->ends[a->arrival];
		if (in->name != out->name || in->key != out->key)
			return NULL;
		if (!in->out)
			return in;
	}
	return NULL;
}

static void
put(const struct arrows *a, struct batch *b, const struct arrow_end *end, enum phase phase)
{
	if (b->bytes != NULL)
		b->bytes[b->n] = (struct slice){ "", 0, 0 };
	b->events[b->n++] = (struct event){
		.ts = end->ts,
		.dur = a->id,
		.name = a->list[end->name],
		.cls = end->cls,
		.track = end->track,
		.offset = end->offset,
		.first_field = b->nfields,
		.phase = (uint8_t)phase,
	};
}

/* An arrow whose ends are both of the newer half waits: a nearer in may still come.  false: the batch is full. */
static bool
hand_out(struct arrows *a, struct batch *b, bool end)
{
	const struct arrow_end *const e = &a->ends[a->at];
	const struct arrow_end *const in = e->out ? arrival(a) : NULL;

	if (in != NULL && (e->old || in->old)) {
		if (b->cap - b->n < 2)
			return false;
		a->id++;
		put(a, b, e, PHASE_FLOW_OUT);
		put(a, b, in, PHASE_FLOW_IN);
	} else if (!e->old) {
		a->ends[a->kept++] = *e;
	} else if (e->out && !end) {
		a->left++;
	}
	a->at++;
	return true;
}

/* What came meanwhile moves behind what was kept. */
static void
close_up(struct arrows *a)
{
	if (a->sorted == 0)
		return;
	memmove(a->ends + a->kept, a->ends + a->sorted, (a->n - a->sorted) * sizeof *a->ends);
	a->n -= a->sorted - a->kept;
	a->kept = a->at = a->sorted = a->arrival = 0;
}

bool
arrows_give(struct arrows *a, struct batch *b, bool end)
{
	for (;;) {
		while (a->at < a->sorted)
			if (!hand_out(a, b, end && a->n == a->sorted))
				return true;
		close_up(a);
		if (a->n == 0 || (a->n < ARROWS_WINDOW && !end))
			return false;
		resolve(a, end);
	}
}
