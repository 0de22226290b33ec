/*
 * Reads Heph traces: packets one after the other, each with a magic constant and its size, so that damage in
 * one does not affect the next.  An event packet becomes a span; a metadata packet is an option of the trace,
 * of which the document defines one, `epoch`.  Several threads append to one file: packets of different
 * streams interleave, times are not sorted, and an option applies to the whole trace wherever it is stored.
 */
#include "heph/heph.h"

/* ---- findings ---- */

void heph_report(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k, const char *at,
                 const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &heph_rules[rule], k->offset + (uint64_t)(at - k->p), k->ordinal, fmt,
	              ap);
	va_end(ap);
}

bool heph_is_shown(const struct heph_state *st, enum heph_rule rule)
{
	return finding_is_shown(st->r->findings, &heph_rules[rule]);
}

void heph_report_past_packet(struct heph_state *st, const struct heph_packet *k, const char *at,
                             const char *what, uint64_t n, uint64_t left)
{
	heph_report(st, HEPH_RULE_PAST_PACKET, k, at,
	            "%s needs %" PRIu64 " bytes, %" PRIu64 " remain in the packet of %" PRIu64, what, n, left,
	            (uint64_t)(k->end - k->p));
}

void heph_report_text(struct heph_state *st, const struct heph_packet *k, const char *what, struct slice s)
{
	struct quoted q = { .s = "" };

	if (heph_is_shown(st, HEPH_RULE_INVALID_UTF8))
		quoted(&q, s);
	heph_report(st, HEPH_RULE_INVALID_UTF8, k, s.p, "%s is %s", what, q.s);
}

/* ---- starts of packets ---- */

uint32_t heph_packet_min_of_part(const char *p, const char *end)
{
	static const char metadata[3] = { 0x75, (char)0xD1, 0x1D },
	                  event[3] = { (char)0xC1, (char)0xFC, 0x1F };
	const size_t n = (size_t)(end - p) % 4;

	return memcmp(p, event, n) == 0      ? HEPH_EVENT_MIN
	       : memcmp(p, metadata, n) == 0 ? HEPH_METADATA_MIN
	                                     : 0;
}

bool heph_is_packet(const char *p, const char *inside, const char *end)
{
	const uint32_t min = inside - p >= HEPH_START ? heph_packet_min(p, inside) : 0;
	const uint32_t size = min != 0 ? load_u32(p + 4, true) : 0;

	return min != 0 && size >= min && size <= (size_t)(inside - p) && heph_is_packet_end(p + size, end);
}

/* ---- events ---- */

/* Returns the bytes of a packet; of a damaged one only those that were read, as the search skips the others.
 */
static struct slice packet_bytes(const struct heph_packet *k)
{
	const char *const end = k->fault != NULL && !k->followed ? k->fault : k->end;

	return slice_of(k->p, (size_t)(end - k->p));
}

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

static void read_event(struct heph_state *st, struct heph_packet *k, struct batch *b)
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

static void read_option(struct heph_state *st, struct heph_packet *k, struct batch *b)
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

/* ---- packets ---- */

/* Reports an input that ends within the magic constant and the size of a packet. */
static HEPH_COLD void report_cut_start(struct heph_state *st, const struct heph_packet *k)
{
	const char *const end = st->r->in->end;
	const unsigned n = (unsigned)(end - k->p);

	if (heph_packet_min(k->p, end) == 0)
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->p, k->p + 1,
		                  "the input ends in %u byte%s that start no packet", n, n == 1 ? "" : "s");
	else
		heph_search_begin(st, HEPH_RULE_CUT_PACKET, k, k->p, k->p + 1,
		                  "the input ends after %u of the 8 bytes of magic and size", n);
}

/* Reports an invalid magic constant or size; min: heph_packet_min() of the packet. */
static HEPH_COLD void report_bad_start(struct heph_state *st, const struct heph_packet *k, uint32_t min)
{
	const uint32_t magic = load_u32(k->p, true), size = load_u32(k->p + 4, true);
	const char *const kind = magic == HEPH_MAGIC_EVENT ? "an event" : "a metadata";

	if (min == 0)
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->p, k->p + 1,
		                  "0x%08" PRIX32 " where a packet should start", magic);
	else if (size < min)
		heph_search_begin(st, HEPH_RULE_PACKET_TOO_SMALL, k, k->p + 4, k->p + 4,
		                  "%s packet of %" PRIu32 " bytes, the minimum is %" PRIu32, kind, size, min);
	else if (size > HEPH_MAX_PACKET)
		heph_search_begin(st, HEPH_RULE_LIMIT, k, k->p + 4, k->p + 4,
		                  "%s packet of %" PRIu32 " bytes, the maximum is %u", kind, size,
		                  HEPH_MAX_PACKET);
	else
		heph_search_begin(st, HEPH_RULE_CUT_PACKET, k, k->p, k->p + 4,
		                  "%s packet of %" PRIu32 " bytes, of which the input holds %" PRIu64, kind,
		                  size, (uint64_t)(st->r->in->end - k->p));
}

/* Reads the content of a packet that is complete in the window. */
static void read_content(struct heph_state *st, struct heph_packet *k, uint32_t min, struct batch *b)
{
	struct input *const in = st->r->in;

	k->followed = heph_is_packet_end(k->end, in->end);
	if (min == HEPH_EVENT_MIN)
		read_event(st, k, b);
	else
		read_option(st, k, b);
	st->r->records++;
	if (k->fault == NULL || k->followed)
		in->p = k->end;
	else
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->end, k->fault,
		                  "no packet starts where the damaged one before it should end");
}

bool heph_read_packet(struct heph_state *st, struct heph_packet *k, struct batch *b)
{
	struct input *const in = st->r->in;
	const size_t left = (size_t)(in->end - in->p);

	*k = (struct heph_packet){ .p = in->p,
		                   .offset = input_offset(in, in->p),
		                   .ordinal = st->r->records + 1 };
	if (left < HEPH_START) {
		if (!in->last)
			return false;
		report_cut_start(st, k);
		return true;
	}
	const uint32_t min = heph_packet_min(k->p, in->end), size = load_u32(k->p + 4, true);
	const bool possible = min != 0 && size >= min && size <= HEPH_MAX_PACKET;
	/* a damaged packet is compared with the magic constant of the next one */
	if (possible && left < size + 4 && !in->last)
		return false;
	if (possible && left >= size) {
		k->end = k->p + size;
		read_content(st, k, min, b);
	} else {
		report_bad_start(st, k, min);
	}
	return true;
}

/* ---- the reader ---- */

static bool add_classes(struct heph_state *st)
{
	struct trace *const t = st->r->trace;
	struct class event = { .name = SLICE_LIT("event") }, metadata = { .name = SLICE_LIT("metadata") };

	event.plan = trace_find_plan(t, event.name, NULL, NULL);
	if (st->raw)
		heph_raw_declare(&event, &metadata);
	st->event_class = trace_plan_class(t, &event);
	st->metadata_class = trace_plan_class(t, &metadata);
	return st->event_class != NULL && st->metadata_class != NULL;
}

static bool heph_open(struct reader *r)
{
	struct heph_state *const st = r->state;

	st->r = r;
	r->counts_lost = true;
	st->raw = (r->want & WANT_RAW) != 0;
	st->tracks.seed = st->own.seed = hash_seed();
	r->trace->dialect = "0.1.0";
	r->trace->record_id = HEPH_COUNTER_FIELD;
	r->trace->byte_order = "big";
	r->trace->clock = "ns since the epoch option";
	return add_classes(st);
}

static void heph_close(struct reader *r)
{
	struct heph_state *const st = r->state;

	heph_streams_free(&st->streams);
	table64_free(&st->tracks.index);
	heph_own_free(&st->own);
}

/* Reports findings about the whole input. */
static enum read_status finish(struct heph_state *st, enum read_status status)
{
	const struct finding_tally *const t = &st->repeated;

	heph_counters_finish(st);
	if (t->count > 0)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_ATTRIBUTE_REPEATED], t->offset, t->record,
		            "attribute %s is repeated; %" PRIu64 " event%s in all", st->repeated_name.s,
		            t->count, t->count == 1 ? "" : "s");
	return status;
}

static enum read_status heph_next(struct reader *r, struct batch *b)
{
	struct heph_state *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);
	const bool fast = heph_wants_fast(st);
	struct heph_packet k;

	/* a packet gives at most one event, so counting packets and gaps bounds the batch */
	for (uint32_t left = b->cap; left > 0 && b->nfields < HEPH_NEXT_FIELDS &&
	                             input_offset(in, in->p) - start < HEPH_NEXT_BYTES;) {
		if (st->gaps.ended == READ_MORE && !st->search.open && in->p == in->end &&
		    (in->last || !input_more(in)))
			st->gaps.ended = READ_END;
		if (heph_has_gaps(&st->gaps) && heph_gap_put(st, b)) {
			if (st->no_memory)
				return READ_NO_MEMORY;
			left--;
			continue;
		}
		if (st->gaps.ended != READ_MORE)
			return finish(st, st->gaps.ended);
		if (st->search.open) {
			if (!heph_search_next(st)) {
				st->gaps.ended = READ_BAD;
				continue;
			}
		} else if (!(fast && heph_read_fast(st, b, start + HEPH_NEXT_BYTES)) &&
		           !heph_read_packet(st, &k, b)) {
			input_more(in);
			continue;
		}
		if (st->no_memory)
			return READ_NO_MEMORY;
		left--;
	}
	return READ_MORE;
}

const struct reader_ops heph_reader_ops = {
	.state_size = sizeof(struct heph_state),
	.probe = heph_probe,
	.open = heph_open,
	.next = heph_next,
	.close = heph_close,
};
