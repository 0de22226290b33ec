#include <stdlib.h>

#include "heph/attribute.h"
#include "heph/finding.h"
#include "heph/own.h"
#include "heph/packet.h"
#include "heph/state.h"
#include "heph/track.h"

/* Options that this program wrote: what the trace is, its tracks, its facts. */

void
heph_own_free(struct heph_own *own)
{
	free(own->tracks);
	table64_free(&own->index);
	table64_free(&own->processes);
}

/* ---- the attributes of an option ---- */

struct attributes {
	const struct field *f;
	uint32_t n;
};

static const struct value *
find(const struct attributes *a, const char *name, uint8_t type)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->f[i].value.type == type && slice_is(a->f[i].name, name))
			return &a->f[i].value;
	return NULL;
}

static uint64_t
number_of(const struct attributes *a, const char *name, uint64_t absent)
{
	const struct value *const v = find(a, name, VALUE_U64);

	return v != NULL ? v->u64 : absent;
}

static struct slice
text_of(const struct attributes *a, const char *name)
{
	const struct value *const v = find(a, name, VALUE_STRING);

	return v != NULL ? value_text(v) : SLICE_LIT("");
}

/* ---- the trace ---- */

static void
take_trace(struct heph_state *st, const struct attributes *a)
{
	const struct slice clock = text_of(a, "clock");

	if (number_of(a, "version", 0) != HEPH_OWN_VERSION)
		return;
	st->own.active = true;
	if (clock.n > 0) {
		const struct slice s = arena_copy(&st->r->trace->arena, clock);
		st->no_memory |= s.p == NULL;
		if (s.p != NULL)
			st->r->trace->clock = s.p;
	}
}

/* ---- facts ---- */

/* A value that lives as long as the trace; lists do not. */
static bool
take_value(struct trace *t, struct value *v)
{
	if (v->type != VALUE_BYTES && v->type != VALUE_JSON)
		return true;
	v->p = arena_copy(&t->arena, value_text(v)).p;
	return v->p != NULL;
}

static void
take_fact(struct heph_state *st, struct attributes *a, struct batch *b)
{
	struct trace *const t = st->r->trace;
	struct field f;

	if (a->n == 0)
		return;
	f = a->f[0];
	heph_own_types_apply(text_of(a, HEPH_OWN_TYPES), &f, 1, b);
	if (f.value.type == VALUE_LIST || f.name.n <= HEPH_OWN_FACT_PREFIX_SIZE ||
	    memcmp(f.name.p, HEPH_OWN_FACT_PREFIX, HEPH_OWN_FACT_PREFIX_SIZE) != 0)
		return;
	f.name.p += HEPH_OWN_FACT_PREFIX_SIZE;
	f.name.n -= HEPH_OWN_FACT_PREFIX_SIZE;
	if (!take_value(t, &f.value) || !trace_add_meta(t, f.name, f.value))
		st->no_memory = true;
}

/* ---- tracks ---- */

static struct heph_own_track *
own_track(const struct heph_own *own, uint32_t stream, uint64_t substream)
{
	uint64_t key = hash_u64(substream, hash_u64(stream, own->seed));
	uint32_t i;

	while ((i = table64_get(&own->index, key)) != TABLE_NONE) {
		if (own->tracks[i].stream == stream && own->tracks[i].substream == substream)
			return &own->tracks[i];
		key++;
	}
	return NULL;
}

const struct track *
heph_own_track(const struct heph_state *st, uint32_t stream, uint64_t substream)
{
	const struct heph_own_track *const t = own_track(&st->own, stream, substream);

	return t != NULL ? t->track : NULL;
}

const struct track *
heph_own_process(const struct heph_state *st, uint32_t stream)
{
	const uint32_t i = table64_get(&st->own.processes, stream);

	return i != TABLE_NONE ? st->r->trace->tracks[i] : NULL;
}

/* false: no memory. */
static bool
add(struct heph_state *st, struct heph_own_track t)
{
	struct heph_own *const own = &st->own;
	uint64_t key = hash_u64(t.substream, hash_u64(t.stream, own->seed));

	while (table64_get(&own->index, key) != TABLE_NONE)
		key++;
	if (t.track == NULL || !array_room(&own->tracks, own->n, &own->cap, sizeof *own->tracks) ||
	    !table64_put(&own->index, key, own->n))
		return false;
	own->tracks[own->n++] = t;
	heph_track_forget(st, t.stream, t.substream);
	return true;
}

/* The process of a stream: that of its events, one that an option named, or a new one. */
static struct track *
process_of(struct heph_state *st, uint32_t stream, struct slice name)
{
	struct trace *const trace = st->r->trace;
	const struct heph_stream *const s = heph_stream_find(&st->streams, stream);
	const uint32_t known = table64_get(&st->own.processes, stream);

	if (known != TABLE_NONE)
		return trace->tracks[known];
	struct track *const t = s != NULL && s->process != NULL ? trace->tracks[s->process->index]
	                                                        : trace_add_process(trace, name);
	return t != NULL && table64_put(&st->own.processes, stream, t->index) ? t : NULL;
}

static void
set_id(struct track *t, const struct attributes *a)
{
	const struct value *const id = find(a, "id", VALUE_U64);

	t->has_id = id != NULL;
	t->id = id != NULL ? id->u64 : 0;
}

/* The process of a stream of which no option tells. */
static struct track *
plain_process(struct heph_state *st, uint32_t stream)
{
	const struct slice name = trace_track_name(st->r->trace, true, "stream", stream);
	const bool is_new = heph_own_process(st, stream) == NULL;
	struct track *const t = name.p != NULL ? process_of(st, stream, name) : NULL;

	if (t != NULL && is_new) {
		t->has_id = true;
		t->id = stream;
	}
	return t;
}

static bool
add_thread(struct heph_state *st, const struct heph_packet *k, struct heph_own_track to,
           const struct attributes *a)
{
	const struct value *const parent = find(a, "parent", VALUE_U64);
	const struct track *above = plain_process(st, to.stream);
	const struct heph_own_track *const known =
	    parent != NULL ? own_track(&st->own, to.stream, parent->u64) : NULL;

	if (above == NULL)
		return false;
	if (known != NULL)
		above = known->track;
	to.track = trace_add_thread(st->r->trace, above, 0, text_of(a, "name"));
	if (to.track == NULL)
		return false;
	if (to.track->parent != above)
		heph_finding_add(st, HEPH_RULE_LIMIT, k, k->p + 8,
		                 "a track below more than %d others is shown below the last of so many",
		                 TRACE_MAX_DEPTH);
	set_id(to.track, a);
	to.track->lane = (uint16_t)number_of(a, "lane", 0);
	to.track->is_child = slice_is(text_of(a, "kind"), "child");
	return add(st, to);
}

static void
take_track(struct heph_state *st, const struct heph_packet *k, struct heph_own_track to,
           const struct attributes *a)
{
	if (own_track(&st->own, to.stream, to.substream) != NULL ||
	    st->r->trace->ntracks + 2 > TRACE_MAX_TRACKS)
		return;
	if (slice_is(text_of(a, "kind"), "process")) {
		to.track = process_of(st, to.stream, text_of(a, "name"));
		if (to.track != NULL)
			set_id(to.track, a);
		st->no_memory |= !add(st, to);
	} else {
		st->no_memory |= !add_thread(st, k, to, a);
	}
}

/* ---- options ---- */

/* Whether so much more is retained. */
static bool
may_retain(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_own *const own = &st->own;

	own->text += (uint64_t)(k->end - k->p);
	if (own->text <= HEPH_OWN_MAX_TEXT)
		return true;
	if (!own->full)
		heph_finding_add(st, HEPH_RULE_LIMIT, k, k->p + 8,
		                 "options that tracetool wrote take more than %u bytes; those from here on "
		                 "are dropped",
		                 HEPH_OWN_MAX_TEXT);
	own->full = true;
	return false;
}

bool
heph_own_option(struct heph_state *st, struct heph_packet *k, struct slice name, const char *value,
                struct batch *b)
{
	const bool trace = slice_is(name, HEPH_OWN_TRACE), track = slice_is(name, HEPH_OWN_TRACK);
	const size_t ids = track ? HEPH_OWN_TRACK_IDS : 0, room = (size_t)(k->end - value);
	const bool build = (st->r->want & WANT_TIMES) != 0 && !st->raw;

	if (!trace && !track && !slice_is(name, HEPH_OWN_FACT))
		return false;
	if (room < ids) {
		k->fault = value;
		heph_report_past_packet(st, k, value, "stream and substream", ids, room);
		return true;
	}
	const bool retained = may_retain(st, k);
	heph_attributes_read(st, k, value + ids, build ? b : NULL);
	if (!build || !retained || st->no_memory)
		return true;
	struct attributes a = { b->fields + b->nfields, k->nfields };
	if (trace)
		take_trace(st, &a);
	else if (track)
		take_track(st, k,
		           (struct heph_own_track){ .stream = load_u32(value, true),
		                                    .substream = load_u64(value + 4, true) },
		           &a);
	else
		take_fact(st, &a, b);
	return true;
}
