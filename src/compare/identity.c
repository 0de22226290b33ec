/* Identities of events and tracks.  The hash of an event is a sum of the hashes of its fields, so that their
 * order is ignored. */
#include "compare/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/event.h"
#include "out/tracks.h"

/* ---- tracks ---- */

enum { HASH_PROCESS = 1, HASH_TRACK, HASH_NAME };

/* Whether the track has a number of the system, not of a writer. */
static bool has_number(const struct track *t)
{
	return t->has_id && t->id <= TRACKS_LAST_PID;
}

static struct wide_hash process_identity(const struct track *p, unsigned without)
{
	struct wide_hash h = wide_hash_start(HASH_PROCESS);

	if (p->kind == TRACK_PROCESS && has_number(p) && (without & TRACKS_WITHOUT_PROCESSES) == 0) {
		wide_hash_add(&h, p->id);
		if ((without & TRACKS_WITHOUT_NAMES) == 0)
			wide_hash_add_text(&h, p->name);
	}
	return wide_hash_end(h);
}

/* Returns the name before " (N)"; p is NULL if the name does not end so. */
static struct slice name_before_lane(struct slice name)
{
	uint32_t n = name.n, digits = 0;

	if (n < 4 || name.p[--n] != ')')
		return SLICE_NONE;
	for (; n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9' && digits < 3; digits++)
		n--;
	if (digits == 0 || n < 2 || name.p[n - 1] != '(' || name.p[n - 2] != ' ')
		return SLICE_NONE;
	return slice_of(name.p, n - 2);
}

/* Returns the name without " (N)" at its end: the track of a lane may have no events, so that an output
 * contains only the lane. */
static struct slice name_of_any_lane(struct slice name)
{
	for (struct slice before = name; before.p != NULL; before = name_before_lane(name))
		name = before;
	return name;
}

static struct wide_hash own_identity(const struct track *t, unsigned without)
{
	struct wide_hash h = wide_hash_start(HASH_TRACK);

	if (t->kind == TRACK_PROCESS || (without & TRACKS_WITHOUT_THREADS) != 0)
		return process_identity(track_process(t), without);
	wide_hash_add_hash(&h, process_identity(track_process(t), without));
	wide_hash_add(&h, has_number(t) && !t->is_child ? t->id + 1 : 0);
	if ((without & TRACKS_WITHOUT_NAMES) == 0)
		wide_hash_add_text(&h, has_number(t) ? t->name : name_of_any_lane(t->name));
	return wide_hash_end(h);
}

/* Returns the key of a name among the tracks of the process of `t`; numbered: with the number of `t`. */
static uint64_t name_key(const struct track *t, struct slice name, bool numbered)
{
	struct wide_hash h = wide_hash_start(HASH_NAME);

	wide_hash_add_hash(&h, process_identity(track_process(t), 0));
	wide_hash_add_text(&h, name);
	wide_hash_add(&h, numbered ? t->id + 1 : 0);
	return wide_hash_end(h).a;
}

static void index_names(struct track_identities *t, const struct trace *trace)
{
	for (; t->named < trace->ntracks && !t->failed; t->named++) {
		const struct track *const k = trace->tracks[t->named];
		for (int i = 0; i <= has_number(k) && k->kind != TRACK_PROCESS && k->lane == 0; i++) {
			const uint64_t key = name_key(k, k->name, i != 0);
			if (table64_get(&t->names, key) == TABLE_NONE)
				t->failed |= !table64_put(&t->names, key, t->named);
		}
	}
}

/* Returns the track of a lane, or the track itself.  The track of a lane may have the name of a lane, too, as
 * "a (3)" of the lane "a (3) (2)". */
static const struct track *base_track(const struct track_identities *t, const struct trace *trace,
                                      const struct track *k)
{
	while (k->lane > 0 && k->parent != NULL)
		k = k->parent;
	struct slice name = k->kind == TRACK_PROCESS ? SLICE_NONE : name_before_lane(k->name);
	while (name.p != NULL) {
		const uint32_t index = table64_get(&t->names, name_key(k, name, has_number(k)));
		if (index == TABLE_NONE)
			break;
		k = trace->tracks[index];
		name = name_before_lane(name);
	}
	return k;
}

/* Returns the track to compare: of a lane its parent; without names, that of a child, too. */
static const struct track *counted_track(const struct track_identities *t, const struct track *track)
{
	const bool no_names = (t->without & TRACKS_WITHOUT_NAMES) != 0;

	while ((track->lane > 0 || (no_names && track->is_child)) && track->parent != NULL)
		track = track->parent;
	return track;
}

struct wide_hash track_own_identity(const struct track_identities *t, const struct track *track)
{
	return own_identity(counted_track(t, track), t->without);
}

struct wide_hash track_identity(struct track_identities *t, const struct trace *trace,
                                const struct track *track)
{
	track = counted_track(t, track);
	if (note_failure(&t->failed, !array_reach(&t->known, &t->nknown, track->index, sizeof *t->known)))
		return (struct wide_hash){ 0, 0 };
	struct wide_hash *const known = &t->known[track->index];
	if ((known->a | known->b) == 0) {
		index_names(t, trace);
		*known = own_identity(base_track(t, trace, track), t->without);
	}
	return *known;
}

void track_identities_free(struct track_identities *t)
{
	free(t->known);
	table64_free(&t->names);
}

/* ---- events ---- */

enum { HASH_TEXT = 1, HASH_FIELD, HASH_EVENT, HASH_CATEGORY };

static struct wide_hash text_hash(struct slice s)
{
	struct wide_hash h = wide_hash_start(HASH_TEXT);

	wide_hash_add_text(&h, s);
	return wide_hash_end(h);
}

struct wide_hash event_field_hash(struct canon *c, const struct field *f)
{
	struct wide_hash h = wide_hash_start(HASH_FIELD);

	wide_hash_add_text(&h, f->name);
	c->field = f->name;
	wide_hash_add_hash(&h, f->value.type <= VALUE_U64 && f->value.type >= VALUE_U8
	                           ? canon_integer(false, f->value.u64)
	                           : canon_value(c, &f->value));
	return wide_hash_end(h);
}

uint32_t name_lists_find(const char *const *lists, struct slice name)
{
	uint32_t at = 0;

	for (; *lists != NULL; lists++)
		for (const char *p = *lists; *p != '\0'; at++) {
			const size_t n = strcspn(p, " ");
			if (n == name.n && memcmp(p, name.p, n) == 0)
				return at;
			p += n + (p[n] == ' ');
		}
	return UINT32_MAX;
}

bool event_field_is_compared(const struct event_fields *f, struct slice name, unsigned *seen)
{
	const uint32_t at = f->added != NULL ? name_lists_find(f->added, name) : UINT32_MAX;

	if (at < 32 && (*seen >> at & 1) == 0) {
		*seen |= 1U << at;
		return false;
	}
	return f->counts == NULL || f->counts(f->ctx, name);
}

/* Returns the sum of the hashes of the compared fields; *n: their number. */
static inline struct wide_hash sum_fields(struct canon *c, const struct batch *b, const struct event *e,
                                          const struct event_fields *fields, uint16_t *n)
{
	const bool all = fields == NULL || event_fields_are_all(fields);
	struct wide_hash sum = { 0, 0 };
	unsigned seen = 0;

	c->fields = fields;
	*n = 0;
	for (uint16_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (!all && !event_field_is_compared(fields, f->name, &seen))
			continue;
		wide_hash_sum(&sum, event_field_hash(c, f));
		++*n;
	}
	return sum;
}

struct event_identity event_identity(struct canon *c, const struct batch *b, const struct event *e,
                                     const struct event_fields *fields)
{
	struct event_identity id = {
		.name = text_hash(e->name),
		.category = event_is_flow(e) ? (struct wide_hash){ 0, 0 } : text_hash(event_category(e)),
		.ts = e->ts,
		.dur = event_compared_duration(e),
		.phase = event_compared_phase(e),
		.async = event_is_async(e),
		.step = event_is_step(e),
	};

	id.fields = sum_fields(c, b, e, fields, &id.nfields);
	return id;
}

static struct wide_hash category_hash(struct category_cache *m, const struct event *e)
{
	if (m->of != e->cls) {
		struct wide_hash h = wide_hash_start(HASH_CATEGORY);
		wide_hash_add_text(&h, event_category(e));
		*m = (struct category_cache){ e->cls, wide_hash_end(h) };
	}
	return m->hash;
}

struct wide_hash event_hash(struct canon *c, struct category_cache *m, const struct batch *b,
                            const struct event *e, const struct event_fields *fields)
{
	struct wide_hash h = wide_hash_start(HASH_EVENT);
	uint16_t n;

	struct wide_hash sum = sum_fields(c, b, e, fields, &n);
	if (!event_is_flow(e))
		wide_hash_sum(&sum, category_hash(m, e));
	wide_hash_add(&h, (uint64_t)n << 16 | (uint64_t)event_compared_phase(e) << 1 |
	                      (event_is_async(e) || event_is_step(e)));
	wide_hash_add(&h, e->ts);
	wide_hash_add(&h, event_compared_duration(e));
	wide_hash_add_text(&h, e->name);
	wide_hash_sum(&h, sum);
	return wide_hash_end(h);
}

struct wide_hash event_identity_hash(const struct event_identity *id, unsigned without)
{
	struct wide_hash h = wide_hash_start(HASH_EVENT);

	wide_hash_add(&h, (without & PART_PHASE) != 0 ? 0 : id->phase * 2U + (id->async || id->step));
	wide_hash_add(&h, (without & PART_TIME) != 0 ? 0 : id->ts);
	wide_hash_add(&h, (without & PART_DURATION) != 0 ? 0 : id->dur);
	if ((without & PART_NAME) == 0)
		wide_hash_add_hash(&h, id->name);
	if ((without & PART_CATEGORY) == 0)
		wide_hash_add_hash(&h, id->category);
	if ((without & PART_FIELDS) == 0) {
		wide_hash_add(&h, id->nfields);
		wide_hash_add_hash(&h, id->fields);
	}
	return wide_hash_end(h);
}
