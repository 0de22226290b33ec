#include <stdarg.h>
#include <stdlib.h>

#include "heph/heph_state.h"

/*
 * Heph traces ("Trace Format", version 0.1.0): packets one after the other,
 * each with a magic constant and its size, so that damage in one does not
 * reach the next.  Several threads append to one file: packets of different
 * streams interleave, times are not sorted, and an option holds for the whole
 * trace wherever it stands.
 */

void
heph_find(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k, const char *at,
          const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &heph_rules[rule], k->offset + (uint64_t)(at - k->p), k->ordinal, fmt,
	              ap);
	va_end(ap);
}

void
heph_past_packet(struct heph_state *st, const struct heph_packet *k, const char *at, const char *what,
                 uint64_t n, uint64_t left)
{
	heph_find(st, HEPH_RULE_PAST_PACKET, k, at,
	          "%s takes %" PRIu64 " bytes, %" PRIu64 " are left in the packet of %" PRIu64, what, n, left,
	          (uint64_t)(k->end - k->p));
}

void
heph_bad_text(struct heph_state *st, const struct heph_packet *k, const char *what, struct slice s)
{
	struct quoted q = { .s = "" };

	if (heph_is_shown(st, HEPH_RULE_INVALID_UTF8))
		quoted(&q, s);
	heph_find(st, HEPH_RULE_INVALID_UTF8, k, s.p, "%s is %s", what, q.s);
}

static bool
heph_open(struct reader *r)
{
	struct heph_state *const st = r->state;

	st->r = r;
	st->raw = (r->want & WANT_RAW) != 0;
	st->seed = hash_seed();
	r->trace->dialect = "0.1.0";
	st->event_class = trace_add_class(r->trace, SLICE_LIT("event"));
	st->metadata_class = trace_add_class(r->trace, SLICE_LIT("metadata"));
	r->trace->byte_order = "big";
	r->trace->clock = "ns since the epoch option";
	if (st->event_class == NULL || st->metadata_class == NULL)
		return false;
	trace_mean(r->trace, st->event_class, NULL, NULL);
	if (st->raw) {
		st->event_class->fields = heph_raw_event_fields;
		st->event_class->nfields = HEPH_RAW_EVENT_FIELDS;
		st->metadata_class->fields = heph_raw_option_fields;
		st->metadata_class->nfields = HEPH_RAW_OPTION_FIELDS;
	}
	return true;
}

static void
heph_close(struct reader *r)
{
	struct heph_state *const st = r->state;

	free(st->streams);
	table64_free(&st->stream_index);
	table64_free(&st->tracks);
}

/* Less than a magic and a size at the end of the input. */
static enum heph_result
cut_start(struct heph_state *st, const struct heph_packet *k)
{
	const char *const end = st->r->in->end;
	const unsigned left = (unsigned)(end - k->p);

	if (heph_packet_min(k->p, end) == 0)
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->p, k->p + 1,
		                  "the input ends in %u byte%s that start no packet", left,
		                  left == 1 ? "" : "s");
	else
		heph_search_begin(st, HEPH_RULE_CUT_PACKET, k, k->p, k->p + 1,
		                  "the input ends after %u of the 8 bytes of magic and size", left);
	return HEPH_DONE;
}

/* A start that leads nowhere. */
static enum heph_result
bad_start(struct heph_state *st, const struct heph_packet *k, uint32_t min)
{
	const uint32_t magic = load_u32(k->p, true), size = load_u32(k->p + 4, true);
	const char *const kind = magic == HEPH_MAGIC_EVENT ? "an event" : "a metadata";

	if (min == 0)
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->p, k->p + 1,
		                  "0x%08" PRIX32 " stands where a packet should start", magic);
	else if (size < min)
		heph_search_begin(st, HEPH_RULE_PACKET_TOO_SMALL, k, k->p + 4, k->p + 4,
		                  "%s packet of %" PRIu32 " bytes, the least is %" PRIu32, kind, size, min);
	else if (size > HEPH_MAX_PACKET)
		heph_search_begin(st, HEPH_RULE_LIMIT, k, k->p + 4, k->p + 4,
		                  "%s packet of %" PRIu32 " bytes, more than %u", kind, size,
		                  HEPH_MAX_PACKET);
	else
		heph_search_begin(st, HEPH_RULE_CUT_PACKET, k, k->p, k->p + 4,
		                  "%s packet of %" PRIu32 " bytes, of which the input holds %" PRIu64, kind,
		                  size, (uint64_t)(st->r->in->end - k->p));
	return HEPH_DONE;
}

/* The content of a packet that is whole in the window. */
static enum heph_result
content(struct heph_state *st, struct heph_packet *k, uint32_t min, struct batch *b)
{
	struct input *const in = st->r->in;
	enum heph_result result;

	k->followed = heph_is_packet_end(k->end, in->end);
	result = min == HEPH_EVENT_MIN ? heph_event_read(st, k, b) : heph_option_read(st, k, b);
	if (result != HEPH_DONE)
		return result;
	st->r->records++;
	if (k->fault == NULL || k->followed)
		in->p = k->end;
	else
		heph_search_begin(st, HEPH_RULE_BAD_MAGIC, k, k->end, k->fault,
		                  "no packet starts where the damaged one before it should end");
	return HEPH_DONE;
}

/* One packet at the start of the window; HEPH_MORE: nothing happened, the window is too short. */
static enum heph_result
packet(struct heph_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	struct heph_packet k = { .p = in->p,
		                 .offset = input_offset(in, in->p),
		                 .ordinal = st->r->records + 1 };
	const size_t there = (size_t)(in->end - in->p);

	if (there < HEPH_START)
		return in->last ? cut_start(st, &k) : HEPH_MORE;
	const uint32_t min = heph_packet_min(k.p, in->end), size = load_u32(k.p + 4, true);
	if (min == 0 || size < min || size > HEPH_MAX_PACKET)
		return bad_start(st, &k, min);
	/* the magic of the next packet is looked at when this one is in doubt */
	if (there < size + 4 && !in->last)
		return HEPH_MORE;
	if (there < size)
		return bad_start(st, &k, min);
	k.end = k.p + size;
	return content(st, &k, min, b);
}

static enum read_status
finish(struct heph_state *st, enum read_status fill)
{
	const struct finding_tally *const t = &st->repeated;

	heph_streams_finish(st);
	if (t->count > 0)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_ATTRIBUTE_REPEATED], t->offset, t->record,
		            "attribute %s comes a second time; %" PRIu64 " event%s in all",
		            st->repeated_name.s, t->count, t->count == 1 ? "" : "s");
	return fill;
}

static enum read_status
heph_next(struct reader *r, struct batch *b)
{
	struct heph_state *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);

	/* a packet gives one event at most, so counting packets keeps the batch in bounds */
	for (uint32_t left = b->cap; left > 0 && b->nfields < HEPH_NEXT_FIELDS &&
	                             input_offset(in, in->p) - start < HEPH_NEXT_BYTES;) {
		if (!st->gap.open && in->p == in->end && (in->last || !input_more(in)))
			return finish(st, READ_END);
		switch (st->gap.open ? heph_search(st) : packet(st, b)) {
		case HEPH_DONE:
			left--;
			break;
		case HEPH_MORE:
			input_more(in);
			break;
		case HEPH_END:
			return finish(st, READ_BAD);
		case HEPH_NO_MEMORY:
			return READ_NO_MEMORY;
		}
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
