/*
 * The content of packets.  An event packet becomes a span on the track of its stream and substream: streams
 * are processes, substreams their threads.  A metadata packet is an option of the trace; the document defines
 * one, `epoch`.
 */
#include "heph/heph.h"

/* ---- tracks ---- */

static const struct track *stream_process(struct heph_state *st, struct heph_stream *s)
{
	struct trace *const trace = st->r->trace;

	if (s->process == NULL)
		s->process = heph_own_process(st, s->id);
	if (s->process != NULL)
		return s->process;
	const struct slice name = trace_track_name(trace, true, "stream", s->id);
	struct track *const t = name.p != NULL ? trace_add_process(trace, name) : NULL;
	if (t != NULL) {
		t->has_id = true;
		t->id = s->id;
	}
	s->process = t;
	return t;
}

/* Returns the track for everything beyond the limits. */
static const struct track *more_track(struct heph_state *st)
{
	struct trace *const trace = st->r->trace;

	if (st->tracks.more == NULL) {
		const struct track *const process = trace_add_process(trace, SLICE_LIT("more streams"));
		if (process != NULL)
			st->tracks.more =
			    trace_add_thread(trace, process, UINT64_MAX, SLICE_LIT("more substreams"));
	}
	return st->tracks.more;
}

static const struct track *add_track(struct heph_state *st, const struct heph_packet *k,
                                     struct heph_stream *s, uint64_t key)
{
	struct trace *const trace = st->r->trace;

	if (trace->ntracks + 2 > TRACE_MAX_TRACKS) {
		heph_report(st, HEPH_RULE_STREAM_LIMIT, k, k->p + 8,
		            "stream %" PRIu32 ", substream %" PRIu64 " and others share one track", k->stream,
		            k->substream);
		return more_track(st);
	}
	const struct track *const process = stream_process(st, s);
	const struct slice name = trace_track_name(trace, false, "substream", k->substream);
	const struct track *const t =
	    process != NULL && name.p != NULL ? trace_add_thread(trace, process, k->substream, name) : NULL;
	return t != NULL && table64_put(&st->tracks.index, key, t->index) ? t : NULL;
}

const struct track *heph_track_slow(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_cached *const c = heph_track_cached(st, k->stream, k->substream);
	struct heph_stream *const s = heph_stream_find(&st->streams, k->stream);
	const struct track *t = heph_own_track(st, k->stream, k->substream);
	uint32_t found;

	if (t != NULL) {
		*c = (struct heph_cached){ t, k->substream, k->stream };
		return t;
	}
	if (s == NULL)
		return more_track(st); /* reported by heph_check_counter() */
	/* the key is a hash of both ids, so two pairs may have the same: probe linearly */
	uint64_t key = hash_u64(k->substream, hash_u64(k->stream, st->tracks.seed));
	while ((found = table64_get(&st->tracks.index, key)) != TABLE_NONE) {
		t = st->r->trace->tracks[found];
		if (t->id == k->substream && t->parent == s->process)
			break;
		key++;
	}
	if (found == TABLE_NONE)
		t = add_track(st, k, s, key);
	*c = (struct heph_cached){ t, k->substream, k->stream };
	return t;
}

const struct track *heph_gap_track(struct heph_state *st, uint32_t stream)
{
	struct heph_stream *const s = heph_stream_find(&st->streams, stream);

	if (s == NULL) /* too many streams: reported */
		return more_track(st);
	if (s->gaps == NULL) {
		const struct track *const process = stream_process(st, s);
		s->gaps = process != NULL ? reader_gap_track(st->r, process) : NULL;
	}
	return s->gaps;
}

/* Returns the bytes of a packet; of a damaged one only those that were read, as the search skips the others.
 */
static struct slice packet_bytes(const struct heph_packet *k)
{
	const char *const end = k->fault != NULL && !k->followed ? k->fault : k->end;

	return slice_of(k->p, (size_t)(end - k->p));
}

/* ---- events ---- */

/* Adds the counter, and the end of an event that ends before it starts: its span has no length, so the end
 * would be lost. */
static bool add_own_fields(struct heph_packet *k, struct batch *b)
{
	struct field *const f = batch_fields(b, 2);

	if (f == NULL)
		return false;
	f[0].name = SLICE_LIT(HEPH_COUNTER_FIELD);
	f[0].value = (struct value){ .type = VALUE_U32, .u64 = k->counter };
	k->nfields = 1;
	if (k->stop < k->start) {
		f[1].name = SLICE_LIT(HEPH_END_FIELD);
		f[1].value = value_u64(k->stop);
		k->nfields = 2;
	}
	return true;
}

static void add_event(struct heph_state *st, const struct heph_packet *k, struct batch *b)
{
	struct event *const e = &b->events[b->n];

	e->track = heph_track(st, k);
	if (e->track == NULL) {
		st->no_memory = true;
		return;
	}
	e->ts = k->start;
	e->dur = k->stop < k->start ? 0 : k->stop - k->start;
	e->name = k->description;
	e->cls = st->event_class;
	e->offset = k->offset;
	e->first_field = b->nfields;
	e->nfields = (uint16_t)k->nfields;
	e->phase = PHASE_SPAN;
	e->flags = 0;
	if (st->own.active && !st->raw)
		heph_own_event(st, k, e, b);
	b->nfields += e->nfields;
	if (b->bytes != NULL)
		b->bytes[b->n] = packet_bytes(k);
	b->n++;
}

void heph_read_event(struct heph_state *st, struct heph_packet *k, struct batch *b)
{
	const unsigned want = st->r->want;
	const bool needed = class_needs_fields(st->event_class) || (st->own.active && !st->raw);
	const bool build = (want & WANT_FIELDS) != 0 || ((want & WANT_TIMES) != 0 && needed);
	const uint32_t n = load_u16(k->p + 40, true);
	const size_t left = (size_t)(k->end - k->p) - HEPH_EVENT_MIN;

	k->stream = load_u32(k->p + 8, true);
	k->counter = load_u32(k->p + 12, true);
	k->substream = load_u64(k->p + 16, true);
	k->start = load_u64(k->p + 24, true);
	k->stop = load_u64(k->p + 32, true);
	heph_check_counter(st, k);
	if (n > left) {
		k->fault = k->p + 40;
		heph_report_past_packet(st, k, k->fault, "the description", n, left);
		return;
	}
	k->description = heph_text(k->p + HEPH_EVENT_MIN, n, want != WANT_FINDINGS && (build || !st->raw));
	if ((k->description.flags & SLICE_UTF8) == 0)
		heph_report_text(st, k, "the description", k->description);
	heph_check_epoch(st, k);
	const char *const attributes = k->description.p + n;
	if (build && !(st->raw ? heph_raw_add_event(k, b) : add_own_fields(k, b)))
		st->no_memory = true;
	else if (attributes < k->end)
		heph_read_attributes(st, k, attributes, build ? b : NULL);
	st->event_class->records++;
	st->r->trace->events++;
	if ((want & WANT_TIMES) != 0 && !st->no_memory)
		add_event(st, k, b);
}

/* ---- options ---- */

static bool add_option_fields(struct batch *b, struct event *e, struct slice name, struct value value)
{
	struct field *const f = batch_fields(b, 2);

	if (f == NULL)
		return false;
	f[0] = (struct field){ SLICE_LIT("option"), value_string(name) };
	f[1] = (struct field){ SLICE_LIT("value"), value };
	e->first_field = b->nfields;
	e->nfields = 2;
	b->nfields += 2;
	return true;
}

static void add_option(struct heph_state *st, const struct heph_packet *k, struct slice name,
                       struct slice value, struct batch *b)
{
	struct event *const e = &b->events[b->n];
	struct value v = { .type = VALUE_BYTES, .count = value.n, .p = value.p };
	bool ok = true;

	if (slice_is(name, "epoch") && value.n == HEPH_EPOCH_SIZE)
		v = value_u64(load_u64(value.p, true));
	*e = (struct event){ .name = st->metadata_class->name,
		             .cls = st->metadata_class,
		             .phase = PHASE_STRUCTURE,
		             .offset = k->offset };
	if (b->bytes != NULL)
		b->bytes[b->n] = packet_bytes(k);
	if (st->raw)
		ok = heph_raw_add_option(k, name, v, e, b);
	else if ((st->r->want & WANT_FIELDS) != 0)
		ok = add_option_fields(b, e, name, v);
	b->n += ok;
	st->no_memory |= !ok;
}

static void report_unknown_option(struct heph_state *st, const struct heph_packet *k, struct slice name,
                                  size_t size)
{
	struct quoted q;

	if (heph_is_shown(st, HEPH_RULE_UNKNOWN_OPTION))
		heph_report(st, HEPH_RULE_UNKNOWN_OPTION, k, name.p, "option %s with a value of %zu bytes",
		            quoted(&q, name), size);
	else
		heph_report(st, HEPH_RULE_UNKNOWN_OPTION, k, name.p, "not shown");
}

void heph_read_option(struct heph_state *st, struct heph_packet *k, struct batch *b)
{
	const uint32_t n = load_u16(k->p + 8, true);
	const size_t left = (size_t)(k->end - k->p) - HEPH_METADATA_MIN;

	if (n > left) {
		k->fault = k->p + 8;
		heph_report_past_packet(st, k, k->p + 8, "the option name", n, left);
		return;
	}
	const struct slice name = textscan_slice(k->p + HEPH_METADATA_MIN, n);
	const char *const value = name.p + n;
	if ((name.flags & SLICE_UTF8) == 0)
		heph_report_text(st, k, "the option name", name);
	if (slice_is(name, "epoch"))
		heph_set_epoch(st, k, value);
	else if (!word_is_own(name) || !heph_own_option(st, k, name, value, b))
		report_unknown_option(st, k, name, left - n);
	st->metadata_class->records++;
	if ((st->r->want & WANT_STRUCTURE) != 0)
		add_option(st, k, name, slice_of(value, left - n), b);
}
