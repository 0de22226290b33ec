#include "compare/track_identity.h"

#include <stdlib.h>

#include "base/array.h"

enum { PROCESS = 1, TRACK, NAME };

static bool
counts(const struct track *t)
{
	return t->has_id && t->id <= TRACK_MAX_NUMBER;
}

static struct wide_hash
process_identity(const struct track *p, unsigned without)
{
	struct wide_hash h = wide_hash_start(PROCESS);

	if (p->kind == TRACK_PROCESS && counts(p) && (without & TRACKS_WITHOUT_PROCESSES) == 0) {
		wide_hash_add(&h, p->id);
		if ((without & TRACKS_WITHOUT_NAMES) == 0)
			wide_hash_add_text(&h, p->name);
	}
	return wide_hash_end(h);
}

static struct wide_hash
own_identity(const struct track *t, unsigned without)
{
	struct wide_hash h = wide_hash_start(TRACK);

	if (t->kind == TRACK_PROCESS || (without & TRACKS_WITHOUT_THREADS) != 0)
		return process_identity(track_process(t), without);
	wide_hash_add_hash(&h, process_identity(track_process(t), without));
	wide_hash_add(&h, counts(t) && !t->is_child ? t->id + 1 : 0);
	if ((without & TRACKS_WITHOUT_NAMES) == 0)
		wide_hash_add_text(&h, t->name);
	return wide_hash_end(h);
}

/* What the tracks of this name have in common. */
static uint64_t
name_key(const struct track *t, struct slice name)
{
	struct wide_hash h = wide_hash_start(NAME);

	wide_hash_add_hash(&h, process_identity(track_process(t), 0));
	wide_hash_add_text(&h, name);
	return wide_hash_end(h).a;
}

static void
learn_names(struct track_identities *t, const struct trace *trace)
{
	for (; t->named < trace->ntracks && !t->failed; t->named++) {
		const struct track *const k = trace->tracks[t->named];
		const uint64_t key = name_key(k, k->name);
		if (k->kind != TRACK_PROCESS && k->lane == 0 && table64_get(&t->names, key) == TABLE_NONE)
			t->failed = !table64_put(&t->names, key, t->named);
	}
}

/* The name before " (N)"; p NULL: there is no such end. */
static struct slice
lane_of(struct slice name)
{
	uint32_t n = name.n, digits = 0;

	if (n < 5 || name.p[--n] != ')')
		return (struct slice){ .p = NULL };
	for (; n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9' && digits < 3; digits++)
		n--;
	if (digits == 0 || n < 3 || name.p[n - 1] != '(' || name.p[n - 2] != ' ')
		return (struct slice){ .p = NULL };
	return slice_of(name.p, n - 2);
}

/* The track that this one is a lane of; itself if it is none. */
static const struct track *
base_of(const struct track_identities *t, const struct trace *trace, const struct track *k)
{
	while (k->lane > 0 && k->parent != NULL)
		k = k->parent;
	const struct slice name = k->kind == TRACK_PROCESS ? slice_of(NULL, 0) : lane_of(k->name);
	const uint32_t index = name.p != NULL ? table64_get(&t->names, name_key(k, name)) : TABLE_NONE;
	if (index == TABLE_NONE)
		return k;
	const struct track *const base = trace->tracks[index];
	return !counts(k) || (counts(base) && base->id == k->id) ? base : k;
}

struct wide_hash
track_identity(struct track_identities *t, const struct trace *trace, const struct track *track)
{
	const bool no_names = (t->without & TRACKS_WITHOUT_NAMES) != 0;

	while ((track->lane > 0 || (no_names && track->is_child)) && track->parent != NULL)
		track = track->parent;
	if (!array_reach(&t->known, &t->nknown, track->index, sizeof *t->known)) {
		t->failed = true;
		return (struct wide_hash){ 0, 0 };
	}
	struct wide_hash *const known = &t->known[track->index];
	if ((known->a | known->b) == 0) {
		learn_names(t, trace);
		*known = own_identity(base_of(t, trace, track), t->without);
	}
	return *known;
}

void
track_identities_free(struct track_identities *t)
{
	free(t->known);
	table64_free(&t->names);
}
