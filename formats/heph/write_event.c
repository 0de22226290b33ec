#include <inttypes.h>

#include "model/event_traits.h"
#include "heph/own.h"
#include "heph/write.h"

/* Events: spans as they are, all others as spans of no length that say what they are. */

static enum heph_own_kind
kind_of(const struct event *e)
{
	static const uint8_t kinds[] = {
		[PHASE_SPAN] = HEPH_OWN_SPAN,        [PHASE_BEGIN] = HEPH_OWN_BEGIN,
		[PHASE_END] = HEPH_OWN_END,          [PHASE_INSTANT] = HEPH_OWN_INSTANT,
		[PHASE_COUNTER] = HEPH_OWN_COUNTER,  [PHASE_FLOW_OUT] = HEPH_OWN_ARROW_OUT,
		[PHASE_FLOW_IN] = HEPH_OWN_ARROW_IN,
	};

	if (event_is_step(e))
		return HEPH_OWN_ARROW_STEP;
	return event_is_async(e) ? HEPH_OWN_ASYNC
	                                                               : (enum heph_own_kind)kinds[e->phase];
}

/* ---- names of fields ---- */

#define FEW 16U

/* Whether two of the fields may have one name. */
static bool
repeats(const struct field *f, uint32_t n)
{
	if (n > FEW)
		return true;
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (slice_equal(f[i].name, f[k].name))
				return true;
	return false;
}

/* "x (2)", or with the first higher number that no other name has; it stays in the arena.  p NULL: no memory.
 */
static struct slice
other_name(struct tabletext *names, struct arena *a, struct slice name, uint32_t times)
{
	struct slice s;

	do {
		s = arena_printf(a, "%.*s (%" PRIu32 ")", (int)name.n, name.p, ++times);
		s.flags = name.flags & SLICE_UTF8;
	} while (s.p != NULL && tabletext_get(names, s) != TABLE_NONE);
	if (s.p != NULL && (!tabletext_put(names, s, 1) || !tabletext_put(names, name, times)))
		s.p = NULL;
	return s;
}

static void
put_fields_apart(struct hpw_packet *k, const struct field *f, uint32_t n)
{
	struct tabletext names = { 0 };
	struct arena a = { 0 };

	for (uint32_t i = 0; i < n && !k->text->failed; i++) {
		const uint32_t times = tabletext_get(&names, f[i].name);
		struct slice name = f[i].name;
		bool ok = true;
		if (times == TABLE_NONE) {
			ok = tabletext_put(&names, name, 1);
		} else {
			name = other_name(&names, &a, name, times);
			ok = name.p != NULL;
			hpw_lose(k, HPW_NAME_REPEATED);
		}
		k->text->failed |= !ok;
		if (ok)
			hpw_field(k, name, &f[i].value);
	}
	tabletext_free(&names);
	arena_free(&a);
}

static void
put_fields(struct hpw_packet *k, const struct field *f, uint32_t n)
{
	if (repeats(f, n)) {
		put_fields_apart(k, f, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		hpw_field(k, f[i].name, &f[i].value);
}

/* ---- events ---- */

static uint64_t
start_of(struct hpw_packet *k, const struct event *e)
{
	if (!k->st->signed_time || e->ts <= INT64_MAX)
		return e->ts;
	hpw_lose(k, HPW_NEGATIVE_TIME);
	return 0;
}

static uint64_t
end_of(struct hpw_packet *k, const struct event *e, uint64_t start)
{
	if (e->phase != PHASE_SPAN)
		return start;
	if (e->dur <= UINT64_MAX - start)
		return start + e->dur;
	hpw_lose(k, HPW_LATE_TIME);
	return UINT64_MAX;
}

/* What is no attribute of a span of Heph. */
static void
put_own(struct hpw_packet *k, const struct event *e)
{
	const enum heph_own_kind kind = kind_of(e);

	hpw_text_attribute(k, HEPH_OWN_CLASS, e->cls->name);
	if (!slice_equal(e->cls->category, e->cls->name))
		hpw_text_attribute(k, HEPH_OWN_CATEGORY, e->cls->category);
	if (kind != HEPH_OWN_SPAN)
		hpw_text_attribute(k, HEPH_OWN_KIND, heph_own_kinds[kind]);
	if (event_is_flow(e))
		hpw_number_attribute(k, HEPH_OWN_ARROW, e->dur);
	else if (e->phase != PHASE_SPAN && e->dur != 0 && (e->flags & EVENT_ARROW) == 0)
		hpw_number_attribute(k, HEPH_OWN_DURATION, e->dur);
	hpw_types(k);
}

static const struct hpw_track *
track_of(struct hpw_state *st, const struct event *e, struct chunk *chunk)
{
	if (st->last == NULL || st->last_track != e->track) {
		st->last = hpw_track(st, e->track, chunk, e->offset);
		st->last_track = e->track;
	}
	return st->last;
}

/* The counter of a stream; NULL: no memory. */
static uint32_t *
counter_of(struct hpw_tracks *all, const struct hpw_track *to)
{
	if (to->stream == HPW_SHARED_STREAM)
		return &all->shared;
	return array_reach(&all->counters, &all->ncounters, to->process, sizeof *all->counters)
	           ? &all->counters[to->process]
	           : NULL;
}

void
hpw_event(struct hpw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct hpw_track *const to = track_of(st, e, chunk);
	struct hpw_packet k = { .st = st,
		                .text = &chunk->text,
		                .ledger = &chunk->ledger,
		                .offset = e->offset,
		                .start = chunk->text.n };
	const uint64_t start = start_of(&k, e), end = end_of(&k, e, start);
	char *const p = text_room(k.text, HPW_AT_DESCRIPTION);

	uint32_t *const counter = counter_of(&st->tracks, to);

	if (p == NULL || counter == NULL) {
		chunk->text.failed = true;
		return;
	}
	if (to->changed)
		hpw_lose(&k, HPW_TRACK_CHANGED);
	hpw_store(p, HEPH_MAGIC_EVENT, 4);
	hpw_store(p + HPW_AT_STREAM, to->stream, 4);
	hpw_store(p + HPW_AT_COUNTER, (*counter)++, 4);
	hpw_store(p + HPW_AT_SUBSTREAM, to->substream, 8);
	hpw_store(p + HPW_AT_START, start, 8);
	hpw_store(p + HPW_AT_END, end, 8);
	k.text->n += HPW_AT_DESCRIPTION;
	st->latest = end > st->latest ? end : st->latest;
	text_clear(&st->types);
	hpw_text(&k, e->name);
	put_fields(&k, b->fields + e->first_field, e->nfields);
	put_own(&k, e);
	hpw_finish(&k);
}
