/* External merge sort of events with bounded memory (sorter.h): loads that fit the cache are sorted and
 * appended as runs, full memory is merged into a run of a temporary file.  Input in order is neither sorted
 * nor merged.  Also the stage around it. */
#include "run/sort/sorter.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/rules.h"
#include "model/call_stack.h"
#include "model/event_traits.h"

#define FIRST_MEMORY (UINT64_C(64) << 10)
#define LOAD_PART 128U /* a load takes a 128th of the memory */
#define LOAD_MIN (UINT64_C(4) << 10)
#define LOAD_MAX (UINT64_C(2) << 20)
#define LOAD_EVENT 32U              /* bytes of a load for each key that it has room for */
#define SHAPES_PART 32U             /* shapes take a 32nd of the memory */
#define OUT_BYTES ((size_t)1 << 20) /* of texts and lists in a batch of the output, about */
#define OUT_FIELDS 65536U

/* Batches may point into it when all events stay in memory to the end. */
struct sorter_memory {
	struct shared_memory shared; /* first: its address is that of the whole */
	uint64_t size;               /* of data */
	alignas(max_align_t) char data[];
};

static void memory_destroy(struct shared_memory *shared)
{
	free(shared);
}

static bool failed(struct sorter *s)
{
	s->state = SORTER_FAILED;
	return false;
}

static uint64_t clamp(uint64_t v, uint64_t min, uint64_t max)
{
	return v < min ? min : v > max ? max : v;
}

uint64_t sorter_memory(uint64_t asked)
{
	return asked > 0 ? asked : clamp(usable_memory() / 4, SORTER_MEMORY, SORTER_MEMORY_SHARE);
}

void sorter_init(struct sorter *s, const struct sorter_options *options)
{
	const uint64_t memory = clamp(options->memory, SORTER_MEMORY_MIN, SORTER_MEMORY_MAX),
	               load = clamp(memory / LOAD_PART, LOAD_MIN, LOAD_MAX),
	               shapes = clamp(memory / SHAPES_PART / EVENT_SHAPE_BYTES, 0, EVENT_SHAPES_MAX);

	*s = (struct sorter){ .options = *options, .load = { .in_order = true } };
	s->options.memory = memory;
	s->load.cap = load;
	s->load.keys_cap = (uint32_t)(load / LOAD_EVENT);
	s->shapes.max = (uint32_t)shapes;
	s->shapes.few_fields = options->few_fields;
	/* The load, its keys three times, the shapes, and a buffer to write through, as large as a load. */
	s->max =
	    memory - 2 * load - 3 * s->load.keys_cap * sizeof(struct order_key) - shapes * EVENT_SHAPE_BYTES;
}

void sorter_free(struct sorter *s)
{
	if (s->memory != NULL)
		shared_memory_drop(&s->memory->shared);
	if (s->merges)
		run_merge_free(&s->merge);
	spill_close(&s->file);
	event_shapes_free(&s->shapes);
	free(s->load.data);
	free(s->load.keys);
	free(s->held.list);
	free(s->spilled.list);
	*s = (struct sorter){ .state = SORTER_FAILED };
}

void sorter_reason(const struct sorter *s, char *why, size_t size)
{
	if (s->file.failed != SPILL_NOTHING)
		spill_reason(&s->file, "sorting", why, size);
	else
		(void)snprintf(why, size, "no memory to sort events");
}

static struct run_rule rule_of(const struct sorter *s)
{
	return (struct run_rule){ s->options.order, &s->shapes, s->options.memory };
}

/* Adds a run, or extends the last one if adjacent. */
static bool add_run(struct sorter_runs *runs, const struct order_key *first, const struct order_key *last,
                    struct spill_run run)
{
	if (runs->n > 0 && !order_key_less(first, &runs->last)) {
		runs->list[runs->n - 1].bytes += run.bytes;
	} else {
		if (!array_reserve(&runs->list, runs->n, &runs->cap, sizeof *runs->list))
			return false;
		runs->list[runs->n++] = run;
	}
	runs->last = *last;
	return true;
}

/* ---- memory ---- */

static bool resize(struct sorter *s, uint64_t size)
{
	const bool is_new = s->memory == NULL;
	struct sorter_memory *const m =
	    realloc(s->memory, (size_t)(offsetof(struct sorter_memory, data) + size + EVENT_PACKED_SLACK));

	if (m == NULL)
		return failed(s);
	if (is_new)
		shared_memory_init(&m->shared, memory_destroy);
	m->size = size;
	s->memory = m;
	return true;
}

static uint64_t space(const struct sorter *s)
{
	return s->memory != NULL ? s->memory->size - s->used : 0;
}

/* Merges the runs in memory to one at the end of the file. */
static bool merge_to_file(struct sorter *s)
{
	const struct run_rule rule = rule_of(s);
	char *const buffer = malloc((size_t)s->load.cap);
	struct run_merge m;
	const bool ok = run_merge_init(&m, NULL, s->memory->data, s->held.list, s->held.n, &rule) &&
	                buffer != NULL && run_merge_write(&m, &s->file, buffer, s->load.cap);

	run_merge_free(&m);
	free(buffer);
	return ok;
}

/* Writes the runs in memory (at least one) to the file. */
static bool spill(struct sorter *s)
{
	if (!s->file.is_open && !spill_open(&s->file, s->options.temp_near))
		return failed(s);
	const uint64_t offset = s->file.size;
	const bool ok =
	    s->held.n == 1 ? spill_write(&s->file, s->memory->data, (size_t)s->used) : merge_to_file(s);
	const struct spill_run run = { offset, s->file.size - offset };
	if (!ok || !add_run(&s->spilled, &s->min, &s->greatest, run))
		return failed(s);
	s->counts.runs = s->spilled.n;
	s->counts.spilled = s->file.size;
	s->used = 0;
	s->held.n = 0;
	return s->memory->size <= s->max || resize(s, s->max);
}

/* Ensures space for n more bytes. */
static bool reserve(struct sorter *s, uint64_t n)
{
	bool ok = true;

	while (ok && space(s) < n) {
		const uint64_t size = s->memory != NULL ? s->memory->size : 0;
		if (size < s->max)
			ok =
			    resize(s, clamp(2 * size, FIRST_MEMORY < s->max ? FIRST_MEMORY : s->max, s->max));
		else if (s->used > 0)
			ok = spill(s);
		else
			ok = size < EVENT_PACKED_MAX ? resize(s, 2 * size) : failed(s);
	}
	return ok;
}

/* Adds the n bytes after the runs in memory as a run. */
static bool hold_run(struct sorter *s, const struct order_key *first, const struct order_key *last,
                     uint64_t n)
{
	const bool alone = s->held.n == 0;

	if (!add_run(&s->held, first, last, (struct spill_run){ s->used, n }))
		return failed(s);
	if (alone || order_key_less(first, &s->min))
		s->min = *first;
	if (alone || order_key_less(&s->greatest, last))
		s->greatest = *last;
	s->used += n;
	return true;
}

/* ---- the load ---- */

static bool begin_load(struct sorter *s)
{
	struct sorter_load *const l = &s->load;

	if (s->shapes.rows == NULL)
		s->shapes.rows = field_rows_new(s->shapes.max / 8, s->options.texts);
	if (l->data == NULL)
		l->data = malloc((size_t)l->cap + EVENT_PACKED_SLACK);
	if (l->keys == NULL)
		l->keys = malloc(3 * (size_t)l->keys_cap * sizeof *l->keys);
	return (l->data != NULL && l->keys != NULL && s->shapes.rows != NULL) || failed(s);
}

static void copy_load(const struct sorter_load *l, char *to)
{
	if (l->in_order) {
		memcpy(to, l->data, (size_t)l->used);
		return;
	}
	for (uint32_t i = 0; i < l->n; i++) {
		const char *const packed = l->data + l->keys[i].position;
		const size_t size = (size_t)event_packed_size(packed);
		memcpy(to, packed, size);
		to += size;
	}
}

/* Sorts the load and appends it to the memory. */
static bool move_load(struct sorter *s)
{
	struct sorter_load *const l = &s->load;

	if (l->n == 0)
		return true;
	if (!reserve(s, l->used))
		return false;
	if (!l->in_order) {
		order_sort(l->keys, l->n, l->keys + l->keys_cap);
		s->counts.sorts++;
	}
	copy_load(l, s->memory->data + s->used);
	const bool ok = hold_run(s, &l->keys[0], &l->keys[l->n - 1], l->used);
	l->n = 0;
	l->used = 0;
	l->in_order = true;
	return ok;
}

/* ---- adding ---- */

/* An event that is larger than a load is a run of its own; one that is larger than the memory does not stay
 * there. */
static bool add_large(struct sorter *s, const struct batch *b, uint32_t i)
{
	const struct order_key key = order_key_of(&b->events[i], s->options.order);
	uint64_t n = 0;

	while (n == 0) {
		if (!reserve(s, space(s) + 1))
			return false;
		n = event_pack(s->memory->data + s->used, space(s), b, i, &s->shapes);
	}
	return hold_run(s, &key, &key, n) && (s->memory->size <= s->max || spill(s));
}

static bool add_one(struct sorter *s, const struct batch *b, uint32_t i)
{
	struct sorter_load *const l = &s->load;
	struct order_key key = order_key_of(&b->events[i], s->options.order);
	uint64_t n;

	while ((n = l->n < l->keys_cap ? event_pack(l->data + l->used, l->cap - l->used, b, i, &s->shapes)
	                               : 0) == 0) {
		if (l->n == 0)
			return add_large(s, b, i);
		if (!move_load(s))
			return false;
	}
	key.position = (uint32_t)l->used;
	l->in_order &= l->n == 0 || !order_key_less(&key, &l->keys[l->n - 1]);
	l->keys[l->n++] = key;
	l->used += n;
	return true;
}

bool sorter_add(struct sorter *s, const struct batch *b)
{
	if (s->state != SORTER_FILLING || !begin_load(s))
		return false;
	if (s->counts.events == 0 && b->n > 0)
		s->shapes.base = b->events[0].ts;
	for (uint32_t i = 0; i < b->n; i++)
		if (!add_one(s, b, i))
			return false;
	s->counts.events += b->n;
	return true;
}

/* Moves the arrow ends of a batch without bytes to the sorter.  Returns false like sorter_add(). */
static bool take_arrows(struct sorter *s, struct batch *b)
{
	uint32_t kept = 0;

	if (s->state != SORTER_FILLING || !begin_load(s))
		return false;
	for (uint32_t i = 0; i < b->n; i++) {
		if (!event_has_arrow_id(&b->events[i])) {
			b->events[kept++] = b->events[i];
			continue;
		}
		if (s->counts.events++ == 0)
			s->shapes.base = b->events[i].ts;
		if (!add_one(s, b, i))
			return false;
	}
	b->n = kept;
	return true;
}

/* ---- output ---- */

static bool merge_file(struct sorter *s)
{
	const struct run_rule rule = rule_of(s);
	uint32_t merges = 0;

	if (s->used > 0 && !spill(s))
		return false;
	shared_memory_drop(&s->memory->shared);
	s->memory = NULL;
	s->merges = runs_reduce(&s->file, s->spilled.list, &s->spilled.n, run_merge_most(rule.memory), &rule,
	                        &merges);
	s->counts.merges = merges;
	s->counts.spilled = s->file.size;
	return s->merges && run_merge_init(&s->merge, &s->file, NULL, s->spilled.list, s->spilled.n, &rule);
}

static bool merge_memory(struct sorter *s)
{
	const struct run_rule rule = rule_of(s);

	s->merges = s->held.n > 0;
	return !s->merges || run_merge_init(&s->merge, NULL, s->memory->data, s->held.list, s->held.n, &rule);
}

bool sorter_end(struct sorter *s)
{
	if (s->state != SORTER_FILLING || !move_load(s))
		return false;
	free(s->load.data);
	free(s->load.keys);
	s->load.data = NULL;
	s->load.keys = NULL;
	s->state = SORTER_MERGING;
	return (s->spilled.n > 0 ? merge_file(s) : merge_memory(s)) || failed(s);
}

/* ORDER_NESTING: spans with the same times that nest; more of them nest in groups of this number. */
#define NEST_MAX 256U

static bool nests(const struct sorter *s)
{
	return s->options.order.order == ORDER_NESTING;
}

static bool has_room(const struct batch *b, unsigned times)
{
	return b->scratch.used < OUT_BYTES * times && b->nfields < OUT_FIELDS * times;
}

/* Whether no span with the times of the last event follows that nests with it. */
static bool can_end(const struct sorter *s)
{
	const struct order_key next = run_merge_key(&s->merge);

	return s->nequal % NEST_MAX == 0 || order_key_less(&s->last, &next);
}

/* A batch of ORDER_NESTING may be larger, so that its end does not depend on memory. */
static bool is_full(const struct sorter *s, const struct batch *b)
{
	if (b->n == b->cap || !has_room(b, nests(s) ? 8 : 1))
		return true;
	return nests(s) && b->n > 0 && (b->n + NEST_MAX > b->cap || !has_room(b, 1)) && can_end(s);
}

static void count_equal(struct sorter *s, const struct event *e)
{
	const struct order_key key = order_key_of(e, s->options.order);

	s->nequal = s->nequal > 0 && !order_key_less(&s->last, &key) ? s->nequal + 1 : 1;
	s->last = key;
}

/* Spans of the same times contain those before them, except those that a window cuts (EVENT_INNER). */
static void put_outer_first(struct event *to, const struct event *from, uint32_t n)
{
	for (uint32_t i = n; i-- > 0;)
		if ((from[i].flags & EVENT_INNER) == 0)
			*to++ = from[i];
	for (uint32_t i = 0; i < n; i++)
		if ((from[i].flags & EVENT_INNER) != 0)
			*to++ = from[i];
}

static void nest_batch(struct batch *b)
{
	struct event equal[NEST_MAX];

	for (uint32_t i = 0, n; i < b->n; i += n) {
		const struct event *const e = &b->events[i];
		n = 1;
		if (e->phase != PHASE_SPAN || e->dur == 0)
			continue;
		while (i + n < b->n && n < NEST_MAX && e[n].ts == e->ts && e[n].phase == PHASE_SPAN &&
		       e[n].dur == e->dur)
			n++;
		if (n == 1)
			continue;
		memcpy(equal, e, n * sizeof *equal);
		put_outer_first(&b->events[i], equal, n);
	}
}

static bool merge(struct sorter *s, struct batch *out)
{
	if (run_merge_ended(&s->merge))
		return true;
	if ((s->memory != NULL && !batch_hold(out, &s->memory->shared)) ||
	    !batch_hold(out, &s->shapes.rows->shared))
		return false;
	while (!run_merge_ended(&s->merge) && !is_full(s, out)) {
		if (!run_merge_next(&s->merge, out))
			return false;
		if (nests(s))
			count_equal(s, &out->events[out->n - 1]);
	}
	if (nests(s))
		nest_batch(out);
	return true;
}

enum sorter_status sorter_next(struct sorter *s, struct batch *out)
{
	if (s->state == SORTER_FILLING)
		return SORTER_NEEDS_INPUT;
	if (s->state == SORTER_MERGING && merge(s, out))
		return out->n > 0 ? SORTER_MORE : SORTER_END;
	(void)failed(s);
	batch_recycle(out);
	return SORTER_NO_RESULT;
}

/* ---- the stage ---- */

static void begin(struct order_stage *st)
{
	const struct arrangement *const arrange = st->arrange;
	const struct sorter_options options = {
		.order = { .order = arrange->order, .signed_time = st->signed_time },
		.texts = &st->texts,
		.few_fields = arrange->few_fields,
		.memory = sorter_memory(arrange->memory),
		.temp_near = arrange->temp_near,
	};

	sorter_init(&st->sorter, &options);
	st->begun = true;
}

bool sorter_fails(const struct sorter *s, const struct stage_faults *faults)
{
	char why[512];

	sorter_reason(s, why, sizeof why);
	return stage_fails(faults, STAGE_FAILED, why);
}

static enum stage_status sorter_failed(struct order_stage *st)
{
	(void)sorter_fails(&st->sorter, st->faults);
	return STAGE_BAD;
}

/* The range of times of the output, known before its first event. */
static void note_times(struct order_stage *st, const struct batch *b)
{
	struct trace *const t = st->trace;
	const uint64_t bias = (uint64_t)st->signed_time << 63;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const uint64_t start = e->ts ^ bias;
		const uint64_t end = saturating_add(start, e->phase == PHASE_SPAN ? e->dur : 0);
		if (!t->has_times || start < t->first_start)
			t->first_start = start;
		if (!t->has_times || end > t->last_end)
			t->last_end = end;
		t->has_times = true;
	}
}

static void drop_fields(struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct event *const e = &b->events[i];
		if (e->phase != PHASE_COUNTER && !call_stack_of_class(e->cls) &&
		    (e->cls->plan == NULL || e->cls->plan->nbytes == 0))
			e->nfields = 0;
	}
}

/* Adds a batch of the stage before, or its end. */
static bool add_input(struct order_stage *st, enum stage_status status, struct batch *b)
{
	if (status == STAGE_END)
		return sorter_end(&st->sorter);
	note_times(st, b);
	if (st->arrange->bare)
		drop_fields(b);
	const bool ok = sorter_add(&st->sorter, b);
	batch_release(b);
	return ok;
}

/* Passes on events that are not sorted.  STAGE_END: nothing is left, all arrow ends are in the sorter. */
static enum stage_status pass_others(struct order_stage *st, enum stage_status status, struct batch **b)
{
	for (; status == STAGE_MORE; status = stage_next(st->stage.from, b)) {
		note_times(st, *b);
		if (!take_arrows(&st->sorter, *b))
			return sorter_failed(st);
		if ((*b)->n > 0)
			return STAGE_MORE;
		batch_release(*b);
	}
	st->passed = true;
	if (status == STAGE_END && !sorter_end(&st->sorter))
		return sorter_failed(st);
	return status;
}

/* Reads input until the batch can be filled. */
static enum stage_status fill(struct order_stage *st, struct batch *b)
{
	for (;;) {
		const enum sorter_status given = sorter_next(&st->sorter, b);
		if (given != SORTER_NEEDS_INPUT)
			return given == SORTER_MORE  ? STAGE_MORE
			       : given == SORTER_END ? STAGE_END
			                             : sorter_failed(st);
		struct batch *more;
		const enum stage_status status = stage_next(st->stage.from, &more);
		if (status == STAGE_BAD)
			return status;
		if (!add_input(st, status, more))
			return sorter_failed(st);
	}
}

enum stage_status order_stage_next(struct stage *stage, struct batch **out)
{
	struct order_stage *const st = (struct order_stage *)stage;
	enum stage_status status;

	if (!st->begun) { /* the first batch decides whether events are records, which stay in order */
		status = stage_next(stage->from, out);
		if (status == STAGE_BAD || *st->raw)
			return status;
		begin(st);
		if (st->arrange->arrows_alone) {
			status = pass_others(st, status, out);
			if (status != STAGE_END)
				return status;
		} else if (!add_input(st, status, *out))
			return sorter_failed(st);
	}
	if (st->arrange->arrows_alone && !st->passed) {
		status = pass_others(st, stage_next(stage->from, out), out);
		if (status != STAGE_END)
			return status;
	}
	*out = batch_pool_take(st->pool);
	if (*out == NULL)
		return stage_no_memory(st->faults, NULL);
	status = fill(st, *out);
	if (status != STAGE_MORE)
		batch_release(*out);
	return status;
}

void order_stage_free(struct order_stage *st)
{
	if (st->begun)
		sorter_free(&st->sorter);
	texts_free(&st->texts);
}
