#include "heph/read.h"

#include <stdlib.h>

#include "heph/event.h"
#include "heph/finding.h"
#include "heph/option.h"
#include "heph/packet.h"
#include "heph/probe.h"
#include "heph/raw.h"
#include "heph/run.h"
#include "heph/state.h"

/*
 * Heph traces ("Trace Format", version 0.1.0): packets one after the other,
 * each with a magic constant and its size, so that damage in one does not
 * reach the next.  Several threads append to one file: packets of different
 * streams interleave, times are not sorted, and an option applies to all of
 * the trace wherever it comes.
 */

/* false: no memory. */
static bool
add_classes(struct heph_state *st)
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

static bool
heph_open(struct reader *r)
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

static void
heph_close(struct reader *r)
{
	struct heph_state *const st = r->state;

	heph_streams_free(&st->streams);
	table64_free(&st->tracks.index);
	heph_own_free(&st->own);
}

/* ---- one packet ---- */

/* Less than a magic and a size at the end of the input. */
static void
cut_start(struct heph_state *st, const struct heph_packet *k)
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

/* A start that is none of a packet. */
static void
bad_start(struct heph_state *st, const struct heph_packet *k, uint32_t min)
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

/* The content of a packet that is complete in the window. */
static void
read_content(struct heph_state *st, struct heph_packet *k, uint32_t min, struct batch *b)
{
	struct input *const in = st->r->in;

	k->followed = heph_is_packet_end(k->end, in->end);
	if (min == HEPH_EVENT_MIN)
		heph_event_read(st, k, b);
	else
		heph_option_read(st, k, b);
	st->r->records++;
	if (k->fault == NULL || k->followed)
		in->p = k->end;
	else
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->end, k->fault,
		                  "no packet starts where the damaged one before it should end");
}

bool
heph_read_packet(struct heph_state *st, struct heph_packet *k, struct batch *b)
{
	struct input *const in = st->r->in;
	const size_t there = (size_t)(in->end - in->p);

	*k = (struct heph_packet){ .p = in->p,
		                   .offset = input_offset(in, in->p),
		                   .ordinal = st->r->records + 1 };
	if (there < HEPH_START) {
		if (!in->last)
			return false;
		cut_start(st, k);
		return true;
	}
	const uint32_t min = heph_packet_min(k->p, in->end), size = load_u32(k->p + 4, true);
	const bool possible = min != 0 && size >= min && size <= HEPH_MAX_PACKET;
	/* the magic of the next packet is looked at when this one is in doubt */
	if (possible && there < size + 4 && !in->last)
		return false;
	if (possible && there >= size) {
		k->end = k->p + size;
		read_content(st, k, min, b);
	} else {
		bad_start(st, k, min);
	}
	return true;
}

/* ---- the loop ---- */

static enum read_status
finish(struct heph_state *st, enum read_status status)
{
	const struct finding_tally *const t = &st->repeated;

	heph_counters_finish(st);
	if (t->count > 0)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_ATTRIBUTE_REPEATED], t->offset, t->record,
		            "attribute %s is repeated; %" PRIu64 " event%s in all", st->repeated_name.s,
		            t->count, t->count == 1 ? "" : "s");
	return status;
}

static enum read_status
heph_next(struct reader *r, struct batch *b)
{
	struct heph_state *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);
	const bool runs = heph_run_wanted(st);
	struct heph_packet k;

	/* a packet gives one event at most, so counting packets and gaps bounds the batch */
	for (uint32_t room = b->cap; room > 0 && b->nfields < HEPH_NEXT_FIELDS &&
	                             input_offset(in, in->p) - start < HEPH_NEXT_BYTES;) {
		if (st->lost.ended == READ_MORE && !st->gap.open && in->p == in->end &&
		    (in->last || !input_more(in)))
			st->lost.ended = READ_END;
		if (heph_lost_any(&st->lost) && heph_lost_put(st, b)) {
			if (st->no_memory)
				return READ_NO_MEMORY;
			room--;
			continue;
		}
		if (st->lost.ended != READ_MORE)
			return finish(st, st->lost.ended);
		if (st->gap.open) {
			if (!heph_search(st)) {
				st->lost.ended = READ_BAD;
				continue;
			}
		} else if (!(runs && heph_run_read(st, b, start + HEPH_NEXT_BYTES)) &&
		           !heph_read_packet(st, &k, b)) {
			input_more(in);
			continue;
		}
		if (st->no_memory)
			return READ_NO_MEMORY;
		room--;
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
