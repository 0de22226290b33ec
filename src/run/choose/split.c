/* Parts of a split: their names and numbers, and the route that sorts events of all parts by part.  Finding a
 * part costs a look-up in a cache by track or time.  See split.h and route.h. */
#include "run/choose/split.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "run/choose/route.h"
#include "run/choose/select.h"

/* ---- route: events of all parts, sorted by part ---- */

static uint32_t part_of(const struct event *e)
{
	return (uint32_t)(e->offset >> ORDER_PART_SHIFT);
}

static void clear_part(struct event *e)
{
	e->offset &= (UINT64_C(1) << ORDER_PART_SHIFT) - 1;
}

static bool sorter_failed(struct split_route *r, const struct stage_faults *faults)
{
	char why[512];

	sorter_reason(&r->sorter, why, sizeof why);
	stage_failed(faults, why);
	return false;
}

bool split_route_begin(struct split_route *r, const struct pipeline_job *job,
                       const struct stage_faults *faults)
{
	const struct sorter_options options = {
		.order = { .order = ORDER_FILE, .by_part = true },
		.memory = job->sort_memory > 0 ? job->sort_memory : SORTER_MEMORY,
		.beside = job->sort_beside,
	};

	if (!batch_pool_init(&r->pool, PIPELINE_BATCH_EVENTS, false)) {
		stage_no_memory(faults);
		return false;
	}
	sorter_init(&r->sorter, &options);
	r->begun = true;
	return true;
}

bool split_route_add(struct split_route *r, const struct batch *b, const struct stage_faults *faults)
{
	return sorter_add(&r->sorter, b) || sorter_failed(r, faults);
}

bool split_route_end(struct split_route *r, const struct stage_faults *faults)
{
	return sorter_end(&r->sorter) || sorter_failed(r, faults);
}

static void release_held(struct split_route *r)
{
	batch_release(r->held);
	shared_memory_drop(r->memory);
	r->held = NULL;
	r->memory = NULL;
	r->at = 0;
}

static enum stage_status no_memory(struct split_route *r, struct batch *b)
{
	batch_release(b);
	stage_no_memory(r->out_faults);
	return STAGE_BAD;
}

/* STAGE_MORE: there is an event at r->at. */
static enum stage_status read_more(struct split_route *r)
{
	if (r->held != NULL && r->at < r->held->n)
		return STAGE_MORE;
	release_held(r);
	if (r->ended)
		return STAGE_END;
	if ((r->held = batch_pool_take(&r->pool)) == NULL)
		return no_memory(r, NULL);
	const enum sorter_status given = sorter_next(&r->sorter, r->held);
	if (given == SORTER_MORE)
		return STAGE_MORE;
	release_held(r);
	r->ended = true;
	if (given == SORTER_END)
		return STAGE_END;
	sorter_failed(r, r->out_faults);
	return STAGE_BAD;
}

/* Copies the events of the part from the held batch, which may have events of other parts. */
static bool copy_events(struct split_route *r, struct batch *b)
{
	if (r->memory == NULL && (r->memory = batch_share_memory(r->held)) == NULL)
		return false;
	if (!batch_hold(b, r->memory))
		return false;
	for (; r->at < r->held->n && part_of(&r->held->events[r->at]) == r->part; r->at++) {
		const struct event *const from = &r->held->events[r->at];
		struct event *const to = &b->events[b->n];
		struct field *const fields = from->nfields > 0 ? batch_fields(b, from->nfields) : NULL;
		*to = *from;
		clear_part(to);
		if (from->nfields > 0) {
			if (fields == NULL)
				return false;
			memcpy(fields, r->held->fields + from->first_field, from->nfields * sizeof *fields);
			to->first_field = b->nfields;
			b->nfields += from->nfields;
		}
		b->n++;
	}
	return true;
}

/* The held batch has events of one part only. */
static struct batch *hand_on(struct split_route *r)
{
	struct batch *const b = r->held;

	r->held = NULL;
	for (uint32_t i = 0; i < b->n; i++)
		clear_part(&b->events[i]);
	return b;
}

static enum stage_status next(struct stage *st, struct batch **out)
{
	struct split_route *const r = (struct split_route *)st;
	const enum stage_status status = read_more(r);

	*out = NULL;
	if (status != STAGE_MORE)
		return status;
	const struct batch *const held = r->held;
	if (part_of(&held->events[r->at]) != r->part)
		return STAGE_END;
	if (r->at == 0 && part_of(&held->events[held->n - 1]) == r->part) {
		*out = hand_on(r);
	} else if ((*out = batch_pool_take(r->out_pool)) == NULL || !copy_events(r, *out)) {
		return no_memory(r, *out);
	}
	return select_stage_note(r->out_select, *out) ? STAGE_MORE : no_memory(r, *out);
}

struct stage *split_route_stage(struct split_route *r, uint32_t part, struct batch_pool *pool,
                                struct select_stage *select, const struct stage_faults *faults)
{
	r->stage.next = next;
	r->out_pool = pool;
	r->out_select = select;
	r->out_faults = faults;
	r->part = part;
	return &r->stage;
}

void split_route_free(struct split_route *r)
{
	release_held(r);
	if (r->begun)
		sorter_free(&r->sorter);
	batch_pool_free(&r->pool);
}

/* ---- parts ---- */

static uint32_t add_part(struct split *s, const char *name)
{
	const struct slice copy = arena_copy(&s->names, slice_of(name, strlen(name) + 1));

	if (s->nparts == SPLIT_MOST) {
		s->too_many = true;
		return SPLIT_NONE;
	}
	if (copy.p == NULL || !array_room(&s->parts, s->nparts, &s->parts_cap, sizeof *s->parts) ||
	    !tabletext_put(&s->by_name, slice_of(copy.p, copy.n - 1), s->nparts)) {
		s->no_memory = true;
		return SPLIT_NONE;
	}
	s->parts[s->nparts] = (struct split_part){ copy.p };
	return s->nparts++;
}

static uint32_t absent(struct split *s)
{
	s->is_changed = true;
	return SPLIT_NONE;
}

static uint32_t part_of_number(struct split *s, uint64_t number)
{
	char name[SPLIT_NAME_SIZE];
	uint32_t part = table64_get(&s->by_number, number);

	if (part != TABLE_NONE)
		return part;
	if (s->planned)
		return absent(s);
	(void)snprintf(name, sizeof name, "%s-%05" PRIu64, s->by == SPLIT_STREAM ? "stream" : "part", number);
	part = add_part(s, name);
	s->no_memory |= part != SPLIT_NONE && !table64_put(&s->by_number, number, part);
	return part;
}

static uint32_t part_of_name(struct split *s, const char *name)
{
	const uint32_t part = tabletext_get(&s->by_name, slice_str(name));

	if (part != TABLE_NONE)
		return part;
	return s->planned ? absent(s) : add_part(s, name);
}

static size_t put_id(char *to, size_t n, const char *word, const struct track *t, enum track_kind kind)
{
	const int k = t->kind == kind && t->has_id ? snprintf(to, n, "%s-%" PRIu64, word, t->id)
	                                           : snprintf(to, n, "%s-none", word);

	return (size_t)k;
}

static uint32_t part_of_track(struct split *s, const struct track *t)
{
	char name[SPLIT_NAME_SIZE];
	size_t n = put_id(name, sizeof name, "pid", track_process(t), TRACK_PROCESS);

	if (s->by == SPLIT_TID) {
		while (t->is_child && t->parent != NULL)
			t = t->parent;
		name[n++] = '-';
		(void)put_id(name + n, sizeof name - n, "tid", t, TRACK_THREAD);
	}
	return part_of_name(s, name);
}

/* ---- names ---- */

#define WORDS 4 /* of a name: "pid-17-tid-18" */

static bool is_number(const char *word)
{
	return *word >= '0' && *word <= '9';
}

/* Pads numbers with zeros to equal length at each position, so that names sort as numbers. */
static bool pad_names(struct split *s)
{
	size_t most[WORDS] = { 0 };
	char name[SPLIT_NAME_SIZE];

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < s->nparts; i++) {
			const char *word = s->parts[i].name;
			size_t n = 0;
			for (int k = 0; k < WORDS && *word != '\0'; k++) {
				const size_t size = strcspn(word, "-");
				if (is_number(word) && size > most[k])
					most[k] = size;
				for (size_t zeros = is_number(word) ? most[k] - size : 0; zeros > 0; zeros--)
					name[n++] = '0';
				memcpy(name + n, word, size + (word[size] == '-'));
				n += size + (word[size] == '-');
				word += size + (word[size] == '-');
			}
			name[n] = '\0';
			if (pass == 1 &&
			    (s->parts[i].name = arena_copy(&s->names, slice_of(name, n + 1)).p) == NULL)
				return false;
		}
	return true;
}

/* ---- units ---- */

static uint64_t unit_number(const struct split *s, uint64_t input, uint64_t offset)
{
	const uint64_t bytes = s->step / SPLIT_UNITS;

	return input << 40 | offset / (bytes > 0 ? bytes : 1);
}

static uint32_t add_unit(struct split *s, uint64_t number)
{
	if (s->nunits == SPLIT_ALL) {
		s->too_many = true;
		return SPLIT_NONE;
	}
	if (!array_room(&s->units, s->nunits, &s->units_cap, sizeof *s->units) ||
	    !table64_put(&s->by_number, number, s->nunits)) {
		s->no_memory = true;
		return SPLIT_NONE;
	}
	s->units[s->nunits] = 0;
	return s->nunits++;
}

void split_note(struct split *s, const struct batch *b, uint64_t input)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const uint64_t number = unit_number(s, input, b->events[i].offset);
		if (number + 1 != s->last_number) {
			uint32_t unit = table64_get(&s->by_number, number);
			if (unit == TABLE_NONE && (unit = add_unit(s, number)) == SPLIT_NONE)
				return;
			s->last_number = number + 1;
			s->last_unit = unit;
		}
		s->units[s->last_unit] += b->events[i].phase != PHASE_STRUCTURE;
	}
}

uint32_t split_part_of(struct split *s, struct split_cache *c, const struct event *e, uint64_t start,
                       uint64_t input)
{
	if (s->by == SPLIT_SIZE) {
		const uint64_t offset = e->offset & ((UINT64_C(1) << s->marks.shift) - 1);
		return table64_get(&s->by_number, unit_number(s, input, offset));
	}
	if (s->by == SPLIT_TIME || s->by == SPLIT_STREAM) {
		const uint64_t number = s->by == SPLIT_STREAM ? input
		                        : start > s->first    ? (start - s->first) / s->step
		                                              : 0;
		if (c->part == 0 || c->number != number) {
			c->number = number;
			c->part = part_of_number(s, number) + 1;
		}
		return c->part - 1;
	}
	if (!array_reach(&c->of_track, &c->ntracks, e->track->index, sizeof *c->of_track)) {
		s->no_memory = true;
		return SPLIT_NONE;
	}
	uint32_t *const part = &c->of_track[e->track->index];
	if (*part == 0)
		*part = part_of_track(s, e->track) + 1;
	return *part - 1;
}

void split_cache_free(struct split_cache *c)
{
	free(c->of_track);
	*c = (struct split_cache){ .part = 0 };
}

bool split_finish(struct split *s)
{
	bool ok = true;

	if (s->by == SPLIT_SIZE)
		ok = s->nunits > 0 || add_unit(s, 0) != SPLIT_NONE;
	else if (s->nparts == 0) /* what there is belongs to a trace without events */
		ok = (s->by == SPLIT_PID || s->by == SPLIT_TID ? part_of_name(s, "pid-none")
		                                               : part_of_number(s, 0)) != SPLIT_NONE;
	if (ok && !pad_names(s)) {
		s->no_memory = true;
		ok = false;
	}
	return ok;
}

void split_free(struct split *s)
{
	select_found_free(s->found);
	record_marks_free(&s->marks);
	operands_free(&s->operands);
	table64_free(&s->by_number);
	tabletext_free(&s->by_name);
	arena_free(&s->names);
	free(s->parts);
	free(s->units);
	*s = (struct split){ .by = SPLIT_NOT };
}
