/*
 * Reads Heph traces: packets one after the other, each with a magic constant and its size, so that damage in
 * one does not affect the next.  Several threads append to one file: packets of different streams interleave,
 * times are not sorted, and an option applies to the whole trace wherever it is stored.
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

/* ---- packets ---- */

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
		heph_read_event(st, k, b);
	else
		heph_read_option(st, k, b);
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

/* ---- reader ---- */

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
