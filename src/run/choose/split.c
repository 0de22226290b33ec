/* Parts of a split: their names and numbers, and the part of an event: a look-up in a cache by track or time.
 * See split.h. */
#include "run/choose/split.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/event_traits.h"
#include "run/choose/select.h"

/* ---- parts ---- */

/* Notes why an event has no part. */
static uint32_t no_part(bool *why)
{
	*why = true;
	return SPLIT_NONE;
}

static uint32_t add_part(struct split *s, const char *name)
{
	const struct slice copy = arena_copy(&s->names, slice_of(name, strlen(name) + 1));

	if (s->nparts == SPLIT_MAX_PARTS)
		return no_part(&s->too_many);
	if (copy.p == NULL || !array_reserve(&s->parts, s->nparts, &s->parts_cap, sizeof *s->parts) ||
	    !tabletext_put(&s->by_name, slice_of(copy.p, copy.n - 1), s->nparts))
		return no_part(&s->no_memory);
	s->parts[s->nparts] = copy.p;
	return s->nparts++;
}

static uint32_t part_of_number(struct split *s, uint64_t number)
{
	char name[SPLIT_NAME_SIZE];
	uint32_t part = table64_get(&s->by_number, number);

	if (part != TABLE_NONE)
		return part;
	if (s->planned)
		return no_part(&s->is_changed);
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
	return s->planned ? no_part(&s->is_changed) : add_part(s, name);
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
		name[n++] = '-';
		(void)put_id(name + n, sizeof name - n, "tid", track_thread(t), TRACK_THREAD);
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
	size_t max[WORDS] = { 0 };
	char name[SPLIT_NAME_SIZE];

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < s->nparts; i++) {
			const char *word = s->parts[i];
			size_t n = 0;
			for (int k = 0; k < WORDS && *word != '\0'; k++) {
				const size_t size = strcspn(word, "-");
				if (is_number(word) && size > max[k])
					max[k] = size;
				for (size_t zeros = is_number(word) ? max[k] - size : 0; zeros > 0; zeros--)
					name[n++] = '0';
				memcpy(name + n, word, size + (word[size] == '-'));
				n += size + (word[size] == '-');
				word += size + (word[size] == '-');
			}
			name[n] = '\0';
			if (pass == 1 &&
			    (s->parts[i] = arena_copy(&s->names, slice_of(name, n + 1)).p) == NULL)
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
	if (s->nunits == SPLIT_ALL)
		return no_part(&s->too_many);
	if (!array_reserve(&s->units, s->nunits, &s->units_cap, sizeof *s->units) ||
	    !table64_put(&s->by_number, number, s->nunits))
		return no_part(&s->no_memory);
	s->units[s->nunits] = 0;
	return s->nunits++;
}

void split_note(void *split, const struct batch *b, uint64_t input)
{
	struct split *const s = split;

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
	if (!array_reach(&c->of_track, &c->ntracks, e->track->index, sizeof *c->of_track))
		return no_part(&s->no_memory);
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
	else if (s->nparts == 0) /* a trace without events has one part */
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
