/*
 * Packets: decodes their fields, unpacks compressed packets, and applies a packet to the state in the order
 * of Perfetto's importer: state of the sequence, defaults, interned data, clocks, time, data.
 */
#include <stdlib.h>

#include "input/unpack.h"
#include "base/compiler.h"
#include "perfetto/read/read.h"

/* ---- fields of a packet ---- */

static void decode(const struct pf_state *st, struct pf_packet *k, struct slice s)
{
	struct pf_wire w = pf_wire_on(s);
	uint64_t seen = 0; /* fields, by number modulo 64: those below differ */

	clear_object(k, sizeof *k);
	k->s = s;
	while (pf_wire_next(&w)) {
		switch (w.tag) {
		case PF_TAG(PF_packet_timestamp, PF_VARINT):
			k->timestamp = w.v;
			k->has_timestamp = true;
			break;
		case PF_TAG(PF_packet_trusted_packet_sequence_id, PF_VARINT):
			k->sequence = (uint32_t)w.v;
			k->has_sequence = true;
			break;
		case PF_TAG(PF_packet_sequence_flags, PF_VARINT):
			k->flags |= (uint32_t)w.v;
			break;
		case PF_TAG(PF_packet_incremental_state_cleared, PF_VARINT):
			k->flags |= w.v != 0 ? PF_CLEARED : 0;
			break;
		case PF_TAG(PF_packet_previous_packet_dropped, PF_VARINT):
			k->dropped |= (uint32_t)w.v;
			break;
		case PF_TAG(PF_packet_timestamp_clock_id, PF_VARINT):
			k->clock = (uint32_t)w.v;
			break;
		case PF_TAG(PF_packet_machine_id, PF_VARINT):
			k->machine = (uint32_t)w.v;
			break;
		case PF_TAG(PF_packet_track_event, PF_BYTES):
			if (k->ndata++ == 0) {
				k->kind = PF_packet_track_event;
				k->data = pf_wire_slice(&w);
			}
			break;
		case PF_TAG(PF_packet_interned_data, PF_BYTES):
			k->interned = pf_wire_slice(&w);
			break;
		case PF_TAG(PF_packet_trace_packet_defaults, PF_BYTES):
			k->defaults = pf_wire_slice(&w);
			break;
		case PF_TAG(PF_packet_trusted_uid, PF_VARINT):
		case PF_TAG(PF_packet_trusted_pid, PF_VARINT):
		case PF_TAG(PF_packet_first_packet_on_sequence, PF_VARINT):
			break;
		default: {
			const struct pf_field *const f =
			    pf_schema_field(&st->schema, PF_MESSAGE_packet, pf_wire_number(&w));
			if (f == NULL || pf_wire_type(f) != (w.tag & 7)) {
				k->needs_check |= f != NULL || !pf_schema_is_extension(PF_MESSAGE_packet,
				                                                       pf_wire_number(&w));
			} else if (k->ndata++ == 0) {
				k->kind = f->number;
				k->data = pf_wire_slice(&w);
			}
			continue;
		}
		}
		const uint64_t bit = UINT64_C(1) << pf_wire_number(&w) % 64;
		k->needs_check |= (seen & bit) != 0;
		seen |= bit;
	}
	k->needs_check |= w.bad || k->ndata > 1;
	k->bad = w.bad;
}

/* ---- compressed packets ---- */

static void destroy_inner(struct shared_memory *m)
{
	struct pf_inner *const inner = (struct pf_inner *)(void *)m;

	free(inner->p);
	free(inner);
}

void pf_inner_drop(struct pf_state *st)
{
	if (st->inner_memory != NULL)
		shared_memory_drop(&st->inner_memory->memory);
	st->inner_memory = NULL;
	st->inner = SLICE_NONE;
}

static COLD void read_compressed(struct pf_state *st, const struct pf_packet *k)
{
	const uint32_t zlib = PF_TAG(PF_packet_compressed_packets, PF_BYTES);
	const uint32_t zstd = PF_TAG(PF_packet_zstd_compressed_packets, PF_BYTES);
	struct slice from[2] = { { NULL, 0, 0 }, { NULL, 0, 0 } };
	struct pf_wire w = pf_wire_on(k->s);

	if (st->is_inner) {
		st->broken = true;
		finding_add(st->findings, &perfetto_rules[PF_RULE_INFLATE_NESTED], st->carrier_offset,
		            st->ordinal, "a packet of a compressed packet is one, too");
		return;
	}
	while (pf_wire_next(&w))
		if (w.tag == zlib || w.tag == zstd)
			from[w.tag == zstd] = pf_wire_slice(&w);
	const bool is_zstd = from[0].p == NULL;
	if (st->compression != 0 && st->compression != 1U + is_zstd)
		pf_report(st, PF_RULE_INFLATE_MIXED, "%s packets after %s packets", is_zstd ? "zstd" : "zlib",
		          is_zstd ? "zlib" : "zstd");
	const struct unpacked u = unpack(is_zstd ? UNPACK_ZSTD : UNPACK_ZLIB, from[is_zstd], PF_MAX_UNPACKED);
	pf_inner_drop(st);
	st->inner_memory = calloc(1, sizeof *st->inner_memory);
	if (u.no_memory || st->inner_memory == NULL) {
		free(u.p);
		free(st->inner_memory);
		st->inner_memory = NULL;
		st->r->no_memory = true;
		return;
	}
	shared_memory_init(&st->inner_memory->memory, destroy_inner);
	st->inner_memory->p = u.p;
	st->inner = slice_of(u.p, u.n);
	st->carrier_offset = st->offset;
	st->carrier_size = (uint64_t)(k->s.p + k->s.n - st->start);
	st->inner_index = 0;
	st->r->referred += u.n;
	if (st->compression == 0 && u.fault == NULL) /* the first one that can be unpacked counts */
		st->compression = 1U + is_zstd;
	if (u.fault != NULL)
		pf_report(st, PF_RULE_INFLATE, "%s packets: %s", is_zstd ? "zstd" : "zlib", u.fault);
	else if (u.is_too_large)
		pf_report(st, PF_RULE_LIMIT,
		          "a packet unpacks to more than %u bytes: those beyond are not read",
		          PF_MAX_UNPACKED);
	else if (u.n == 0)
		pf_report(st, PF_RULE_INFLATE, "there is nothing in the compressed packets");
}

/* ---- packets ---- */

/* Kinds of data for which read_data() reads the whole packet. */
enum { WHOLE_EVENT = 1, WHOLE_SAMPLE = 2, WHOLE_COMPRESSED = 4 };

static unsigned reads_packet(uint32_t kind)
{
	switch (kind) {
	case PF_packet_track_event:
		return WHOLE_EVENT;
	case PF_packet_perf_sample:
	case PF_packet_streaming_profile_packet:
	case PF_packet_stack_sample:
	case PF_packet_profile_packet:
		return WHOLE_SAMPLE;
	case PF_packet_compressed_packets:
	case PF_packet_zstd_compressed_packets:
		return WHOLE_COMPRESSED;
	default:
		return 0;
	}
}

static void read_data(struct pf_state *st, const struct pf_packet *k, uint32_t kind, struct slice s)
{
	const unsigned whole = reads_packet(kind);

	if (whole == WHOLE_EVENT)
		pf_track_event(st, k);
	else if (whole == WHOLE_SAMPLE)
		pf_sample_packet(st, k);
	else if (whole == WHOLE_COMPRESSED)
		read_compressed(st, k);
	else if (kind == PF_packet_track_descriptor)
		pf_descriptor(st, s);
	else if (kind == PF_packet_thread_descriptor || kind == PF_packet_process_descriptor)
		pf_old_descriptor(st, s, kind == PF_packet_thread_descriptor);
	else if (kind == PF_packet_process_tree)
		pf_process_tree(st, s);
	else if (kind == PF_packet_trace_attributes)
		pf_attributes(st, s);
	else if (kind == PF_packet_trace_uuid)
		pf_trace_uuid(st, s);
	else if (kind == PF_packet_extension_descriptor)
		pf_types_read(st, s);
}

/* Several data fields in a packet: `data` of TracePacket is no longer a oneof.  The packet is read once for
 * each bit, as it can have a million such fields. */
static COLD void read_all_data(struct pf_state *st, const struct pf_packet *k)
{
	struct pf_wire w = pf_wire_on(k->s);
	unsigned read = 0;

	while (pf_wire_next(&w)) {
		const uint32_t number = pf_wire_number(&w);
		const struct pf_field *const f = pf_schema_field(&st->schema, PF_MESSAGE_packet, number);
		if (f == NULL || (f->flags & PF_IS_DATA) == 0 || (w.tag & 7) != PF_BYTES)
			continue;
		const unsigned bit = reads_packet(number);
		if ((read & bit) != 0)
			continue;
		read |= bit;
		read_data(st, k, number, pf_wire_slice(&w));
	}
}

static void apply_data(struct pf_state *st, const struct pf_packet *k)
{
	const struct pf_sequence *const q = st->sequence;

	if (k->kind == PF_packet_clock_snapshot) {
		pf_snapshot(st, k->data);
		return;
	}
	if ((k->flags & PF_NEEDS) != 0 && q != NULL && !q->valid) {
		pf_report(st, PF_RULE_STATE_MISSING,
		          "sequence %" PRIu32 ": the state is lost or was never sent", q->id);
		return;
	}
	st->ts = st->latest;
	st->time = PF_TIME_OK;
	if (k->has_timestamp) {
		st->time = pf_packet_time(st, k, &st->ts);
		if (st->time == PF_TIME_OK && st->ts > st->latest)
			st->latest = st->ts;
	}
	if (k->ndata > 1)
		read_all_data(st, k);
	else
		read_data(st, k, k->kind, k->data);
}

void pf_packet_decode(struct pf_state *st, struct slice s)
{
	struct pf_packet *const k = &st->packet;

	decode(st, k, s);
	if (k->kind == PF_packet_track_event && k->ndata == 1) {
		pf_decode_event(&st->te, k->data);
	} else if (k->ndata > 1) {
		struct pf_wire w = pf_wire_on(s);
		while (pf_wire_find(&w, PF_TAG(PF_packet_track_event, PF_BYTES)))
			pf_decode_event(&st->te, pf_wire_slice(&w));
	} else {
		clear_object(&st->te, sizeof st->te);
	}
}

void pf_packet_read(struct pf_state *st, struct slice s)
{
	struct pf_packet *const k = &st->packet;

	st->event.kind = PF_NOTHING;
	st->nbefore = st->nafter = st->at_before = st->at_after = st->samples_left = 0;
	pf_packet_decode(st, s);
	st->packets_by_kind[k->kind < PF_DIRECT ? k->kind : 0]++;
	if (st->findings != NULL) {
		if (k->needs_check || st->te.needs_check || k->kind != PF_packet_track_event ||
		    k->interned.p != NULL || k->defaults.p != NULL)
			pf_check(st, k);
		else if (st->te.contents.p != NULL)
			pf_check_contents(st, &st->te);
	}
	if (!k->bad && pf_sequence_apply(st, k))
		apply_data(st, k);
	if (st->event.kind == PF_NOTHING && st->nafter > 0) { /* a record of nothing but counter values */
		st->event = st->after[0];
		st->nafter--;
		memmove(st->after, st->after + 1, st->nafter * sizeof *st->after);
	}
	if (st->ahead_pass || st->raw)
		st->nbefore = st->nafter = st->samples_left = 0;
	if (st->ahead_pass)
		st->event.kind = PF_NOTHING;
}

bool pf_inner_next(struct pf_state *st)
{
	struct slice frame, content;

	if (st->inner.n == 0)
		return false;
	st->is_inner = true;
	if (!pf_next_frame(&st->inner, &frame, &content)) {
		if (*st->inner.p != PF_FRAME_TAG || st->inner.n > 2)
			pf_report(st, PF_RULE_INFLATE_INNER, "no packet at byte %zu of what is unpacked",
			          (size_t)(st->inner.p - st->inner_memory->p));
		st->inner.n = 0;
		return false;
	}
	const uint64_t size = st->carrier_size - 1;
	st->offset = st->carrier_offset + (st->inner_index + 1 < size ? st->inner_index + 1 : size);
	st->inner_index++;
	pf_packet_read(st, content);
	st->ninner_packets++;
	return true;
}
