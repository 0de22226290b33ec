/*
 * Copier of packets.  Packets are copied as they are, with three exceptions:
 *   - packets are left out: the state of their sequence and sums that later packets build on stay (state.c);
 *     descriptors, snapshots of clocks and facts always stay;
 *   - another input follows: its sequences, tracks and arrows get new ids, because readers would join equal
 *     ones;
 *   - times are moved: timestamps of the trace's clock, and that clock in snapshots, so that times of other
 *     clocks move, too.
 *
 * Compressed packets are unpacked and packed again only for such changes, or if an earlier input has the
 * other kind of compressed packets.
 */
#include <stdlib.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include "input/unpack.h"
#include "base/compiler.h"
#include "perfetto/copy/copy.h"

#define MAX_WAITING (64U << 20) /* bytes of records that wait for the time of the first event */
#define PIECE 65536U            /* bytes that zlib writes at a time */

/* A record, as the engine passes it. */
struct copied {
	uint64_t ts, offset;
	size_t n; /* bytes, while it waits */
	bool is_event, left_out;
};

struct pfc_copy {
	struct copier *copier;
	struct pfc_states states;
	struct pfc_names names;
	bool copying;      /* the survey is over */
	uint64_t bytes;    /* of the records up to now */
	uint64_t renumber; /* see pfc_change */
	/* moved times */
	uint32_t trace_clock;
	struct pfc_moved moved; /* clocks in snapshots that were written */
	bool moves;             /* the time of the first event is known */
	struct text waiting;    /* bytes of records before that event, and ... */
	struct copied *records; /* ... their order, time and size */
	uint32_t nrecords, records_cap;
	bool replays; /* records are those of `waiting`, not of a batch */
	/* compressed packets */
	unsigned packed_as;          /* field of the first one in the copy, used for all; 0: none yet */
	struct pfc_packet packed;    /* its fields are in `carrier` */
	struct copied packed_record; /* record of the compressed packet */
	bool unpacked, changed;
	struct text carrier, inner, out;
	struct text json; /* of the current packet, if it is changed */
	size_t at;        /* of the next packet in `inner` */
};

/* ---- output ---- */

static void put_bytes(struct pfc_copy *copy, struct slice bytes)
{
	if (copy->unpacked)
		text_slice(&copy->out, bytes);
	else if (copy->replays)
		text_slice(copier_text(copy->copier), bytes);
	else
		copier_keep(copy->copier, bytes);
}

static struct text *changed_text(struct pfc_copy *copy)
{
	copy->changed = true;
	return copy->unpacked ? &copy->out : copier_text(copy->copier);
}

/* ---- times ---- */

static void set_time(struct pfc_change *x, uint64_t time, uint32_t clock)
{
	x->set_time = true;
	x->time = time;
	x->time_clock = clock;
}

/* Events get their time in the trace's clock: exact, whatever clock it was converted from. */
static void move_time(struct pfc_copy *copy, const struct pfc_packet *k, const struct copied *rec,
                      struct pfc_change *x)
{
	const uint64_t by = (uint64_t)copy->copier->run->rebased_by; /* not negative, as times of Perfetto */
	const uint32_t clock = pfc_clock_of(&copy->states, k),
	               sequence = pfc_new_sequence(k->sequence, copy->renumber),
	               trace = copy->trace_clock != 0 ? copy->trace_clock : PF_BOOTTIME;
	const bool is_of_trace = pfc_is_trace_clock(clock, copy->trace_clock);
	const bool is_negative = copy->copier->run->signed_time && (int64_t)rec->ts < 0;

	if (k->snapshot.p != NULL) {
		copy->trace_clock = pf_trace_clock(k->snapshot, copy->trace_clock);
		x->moves = &copy->moved;
		x->moved_by = by;
		x->trace_clock = copy->trace_clock;
		x->sequence = sequence;
	} else if (!is_of_trace && !pfc_has_moved(&copy->moved, clock, sequence)) {
		ledger_add(&copy->copier->chunk->ledger, &perfetto_losses[PERFETTO_TIME_KEPT], rec->offset,
		           1);
	} else if (rec->is_event) {
		if (is_negative)
			ledger_add(&copy->copier->chunk->ledger, &perfetto_losses[PERFETTO_NEGATIVE_TIME],
			           rec->offset, 1);
		set_time(x, is_negative ? 0 : rec->ts, is_of_trace ? k->clock : trace);
	} else if (k->has_timestamp && is_of_trace) {
		set_time(x, k->timestamp < by ? 0 : k->timestamp - by, k->clock);
	}
}

/* ---- packets ---- */

/* Describes a track that has no descriptor, so that it keeps its name. */
static void put_name(struct pfc_copy *copy, const struct pfc_packet *k, const struct pfc_name *n)
{
	struct text *const t = changed_text(copy);
	const size_t packet = wire_open(t, PF_TRACE_PACKET);

	wire_number(t, PF_packet_trusted_packet_sequence_id, pfc_new_sequence(k->sequence, copy->renumber));
	const size_t start = wire_open(t, PF_packet_track_descriptor);
	wire_number(t, PF_descriptor_uuid, pfc_new_id(n->uuid, copy->renumber));
	wire_slice(t, PF_descriptor_name, n->name);
	wire_close(t, start);
	wire_close(t, packet);
}

/* Adds the name of the packet's track, if it is that of an event that is left out. */
static void add_names(struct pfc_copy *copy, const struct pfc_packet *k, struct pfc_change *x)
{
	struct pfc_name *n = NULL;

	if (copy->names.n == 0)
		return;
	if (k->descriptor.p != NULL) {
		n = pfc_name_needed(&copy->names, pf_number(k->descriptor, PF_descriptor_uuid));
		if (n != NULL)
			x->name = n->name;
	} else if (k->event.p != NULL && !x->strip) {
		n = pfc_name_needed(&copy->names, pfc_track_of(k, pfc_sequence_of(&copy->states, k)));
		if (n != NULL && !n->is_described && !n->is_written)
			put_name(copy, k, n);
	}
	if (n != NULL)
		n->is_written = true;
}

/* ---- CPU profiles ---- */

/* The time of a packet that keeps nothing but the nodes of a CPU profile. */
static uint64_t time_of_nodes(const struct pfc_copy *copy, const struct pfc_packet *k)
{
	const int128 by = copy->moves ? copy->copier->run->rebased_by : 0;

	if (pfc_is_incremental(&copy->states, k)) /* that of the last packet that is copied */
		return 0;
	if (!pfc_is_trace_clock(pfc_clock_of(&copy->states, k), copy->trace_clock))
		return k->timestamp;
	return k->timestamp < by ? 0 : k->timestamp - (uint64_t)by;
}

static void change_profile(struct pfc_copy *copy, const struct pfc_packet *k, const struct pf_legacy *l,
                           const struct copied *rec, struct pfc_change *x)
{
	const struct pfc_profile p = pfc_profile(&copy->states, k, l);
	const uint32_t sequence = pfc_new_sequence(k->sequence, copy->renumber);
	const uint64_t by = copy->moves ? (uint64_t)copy->copier->run->rebased_by : 0;
	const bool moves = copy->moves && (pfc_is_trace_clock(PF_MONOTONIC, copy->trace_clock) ||
	                                   !pfc_has_moved(&copy->moved, PF_MONOTONIC, sequence));
	bool changed;

	if (p.json.p == NULL)
		return;
	text_clear(&copy->json);
	if (x->strip) {
		changed = x->only_json = pfc_profile_leave(&copy->states, &p, &copy->json);
		x->strip = !changed;
		x->time = time_of_nodes(copy, k);
	} else if (p.start.kind == JSON_ABSENT) {
		changed = pfc_profile_copy(&copy->states, &p, &copy->json);
	} else {
		changed = moves && pfc_profile_move(&p, by, &copy->json);
		if (changed && by % 1000 != 0)
			ledger_add(&copy->copier->chunk->ledger, &perfetto_losses[PERFETTO_TIME_KEPT],
			           rec->offset, 1);
	}
	x->json = p.json;
	if (changed)
		x->new_json = slice_of(copy->json.p, copy->json.n);
	copy->copier->chunk->text.failed |= copy->json.failed;
}

/* ---- packets, changed or not ---- */

static bool is_change(const struct pfc_change *x)
{
	const struct pfc_carry *const c = &x->carry;

	return x->strip || x->only_end || x->renumber != 0 || x->set_time || x->moves != NULL ||
	       x->name.p != NULL || x->new_json.p != NULL || c->timestamp != 0 || c->delta_us != 0 ||
	       c->thread_us != 0 || c->instructions != 0 || c->starts || c->counters;
}

static void copy_packet(struct pfc_copy *copy, struct slice frame, const struct pfc_packet *k,
                        const struct copied *rec)
{
	struct pfc_change x;
	struct pf_legacy l = { .phase = 0 };
	const bool may_change = k->te.legacy.p != NULL && (copy->copier->selected || k->te.nannotations > 0);
	const uint64_t phase = may_change ? pf_number(k->te.legacy, PF_legacy_phase) : 0;

	clear_object(&x, sizeof x);
	x.strip = rec->left_out;
	x.renumber = copy->renumber;
	if (phase == 'f' || phase == 'P') /* others are not decoded, as most events have one */
		pf_decode_legacy(&l, k->te.legacy);
	if (x.strip && k->event.p != NULL && pfc_ends_state(&copy->names, &copy->states, k, rec->ts)) {
		x.strip = false;
		x.only_end = true;
	}
	x.strip |= copy->copier->selected && pfc_ends_nothing(&copy->states, &l);
	(void)pfc_apply(&copy->states, k, !x.strip, &x.carry);
	x.carry.starts &= copy->copier->selected;
	if (l.phase == 'P' && (copy->copier->selected || copy->moves))
		change_profile(copy, k, &l, rec, &x);
	add_names(copy, k, &x);
	if (x.strip && !pfc_has_state(k)) {
		copy->changed = true;
		return;
	}
	if (copy->moves && !x.strip && !x.only_json)
		move_time(copy, k, rec, &x);
	if (x.set_time)
		pfc_keep_deltas(&copy->states, k, &x.carry);
	if (is_change(&x))
		pfc_write(changed_text(copy), k, &x);
	else
		put_bytes(copy, frame);
}

static void use_tracks(const struct pfc_copy *copy, const struct pf_extra_of *of)
{
	for (uint32_t i = 0; i < of->n; i++)
		copier_uses(copy->copier, pfc_track_key(&copy->names, of->uuids[i]));
}

/* Keeps descriptors of threads and processes (used by pid and tid), of the root of all tracks (uuid 0), by
 * which a trace of tracetool is known as such, and others whose uuid is used. */
static void note_references(struct pfc_copy *copy, const struct pfc_packet *k, const struct pfc_sequence *q)
{
	struct copier *const c = copy->copier;

	if (k->event.p != NULL) {
		struct pf_extra_of own[2];
		if (k->te.has_track || q != NULL)
			copier_uses(c, pfc_track_key(&copy->names, pfc_track_of(k, q)));
		if (k->te.has_extra_of)
			pf_extra_read(k->event, own);
		for (unsigned i = 0; i < 2; i++) {
			if (k->te.has_extra_of)
				use_tracks(copy, &own[i]);
			if (q != NULL && k->te.nextra[i] > 0)
				use_tracks(copy, &q->extra_of[i]);
		}
	}
	if (k->descriptor.p == NULL) {
		copier_needs(c);
		return;
	}
	struct pf_wire w = pf_wire_on(k->descriptor);
	uint64_t uuid = 0;
	bool is_numbered = false;
	while (pf_wire_next(&w)) {
		if (w.tag == PF_TAG(PF_descriptor_parent_uuid, PF_VARINT))
			copier_uses(c, pfc_track_key(&copy->names, w.v));
		if (w.tag == PF_TAG(PF_descriptor_uuid, PF_VARINT))
			uuid = w.v;
		is_numbered |= w.tag == PF_TAG(PF_descriptor_thread, PF_BYTES) ||
		               w.tag == PF_TAG(PF_descriptor_process, PF_BYTES);
	}
	copier_defines(c, pfc_track_key(&copy->names, uuid));
	if (is_numbered || uuid == 0)
		copier_needs(c);
}

static void survey_packet(struct pfc_copy *copy, const struct pfc_packet *k, const struct copied *rec)
{
	struct pfc_carry carry;

	const struct pfc_sequence *const q = pfc_apply(&copy->states, k, true, &carry);

	pfc_survey_interned(&copy->names, q, k);
	if (k->descriptor.p != NULL)
		pfc_survey_descriptor(&copy->names, k->descriptor);
	if (k->event.p != NULL)
		pfc_survey_event(&copy->names, q, k, rec->ts, !rec->left_out);
	note_references(copy, k, q);
}

/* ---- compressed packets ---- */

/* Returns false if the packets cannot be unpacked or memory is out (t->failed). */
static bool unpack_packets(struct text *t, const struct pfc_packet *k)
{
	const bool zlib = k->zlib.p != NULL;
	const struct unpacked u =
	    unpack(zlib ? UNPACK_ZLIB : UNPACK_ZSTD, zlib ? k->zlib : k->zstd, PF_MAX_UNPACKED);

	text_add(t, u.p, u.n);
	free(u.p);
	t->failed |= u.no_memory;
	return u.fault == NULL && !u.is_too_large && !t->failed;
}

/* At level 3, as the output of levels 1 and 2 depends on the address of the state (output/pack.c). */
static void pack_zlib(struct text *t, struct slice s)
{
	struct isal_zstream *const z = calloc(1, sizeof *z + ISAL_DEF_LVL3_DEFAULT);

	if (note_failure(&t->failed, z == NULL))
		return;
	isal_deflate_init(z);
	z->gzip_flag = IGZIP_ZLIB;
	z->level = 3;
	z->level_buf = (unsigned char *)(z + 1);
	z->level_buf_size = ISAL_DEF_LVL3_DEFAULT;
	z->end_of_stream = 1;
	z->next_in = (unsigned char *)(uintptr_t)s.p;
	z->avail_in = s.n;
	do {
		char *const to = text_reserve(t, PIECE);
		if (to == NULL)
			break;
		z->next_out = (unsigned char *)to;
		z->avail_out = PIECE;
		t->failed |= isal_deflate(z) != COMP_OK;
		t->n += PIECE - z->avail_out;
	} while (!t->failed && z->internal_state.state != ZSTATE_END);
	free(z);
}

static void pack_zstd(struct text *t, struct slice s)
{
	const size_t bound = ZSTD_compressBound(s.n);
	char *const to = text_reserve(t, bound);
	const size_t n = to != NULL ? ZSTD_compress(to, bound, s.p, s.n, 3) : 0;

	if (to == NULL || ZSTD_isError(n))
		t->failed = true;
	else
		t->n += n;
}

/* Writes packets as a compressed packet, in the field of its kind. */
static void pack_packets(struct text *t, unsigned field, struct slice packets)
{
	const size_t packet = wire_open(t, PF_TRACE_PACKET), start = wire_open(t, field);

	if (field == PF_packet_compressed_packets)
		pack_zlib(t, packets);
	else
		pack_zstd(t, packets);
	wire_close(t, start);
	wire_close(t, packet);
}

static unsigned field_of(const struct pfc_packet *k)
{
	return k->zlib.p != NULL   ? PF_packet_compressed_packets
	       : k->zstd.p != NULL ? PF_packet_zstd_compressed_packets
	                           : 0;
}

/* Notes the kind of compressed packets that are copied as they are: another input may have the other kind. */
static void note_packed(struct pfc_copy *copy, struct slice bytes)
{
	struct slice frame, content;

	while (copy->packed_as == 0 && pf_next_frame(&bytes, &frame, &content)) {
		struct pf_wire w = pf_wire_on(content);
		while (pf_wire_next(&w))
			if (w.tag == PF_TAG(PF_packet_compressed_packets, PF_BYTES) ||
			    w.tag == PF_TAG(PF_packet_zstd_compressed_packets, PF_BYTES))
				copy->packed_as = pf_wire_number(&w);
	}
}

static void handle_packet(struct pfc_copy *copy, struct slice frame, const struct pfc_packet *k,
                          const struct copied *rec)
{
	if (copy->copying)
		copy_packet(copy, frame, k, rec);
	else
		survey_packet(copy, k, rec);
}

/* Handles the next packet in a compressed one; its record has no bytes. */
static void handle_inner(struct pfc_copy *copy, const struct copied *rec)
{
	struct slice rest = slice_of(copy->inner.p + copy->at, copy->inner.n - copy->at), frame, content;

	if (!copy->unpacked || !pf_next_frame(&rest, &frame, &content))
		return;
	copy->at = copy->inner.n - rest.n;
	struct pfc_packet k;
	pfc_packet(&k, content);
	handle_packet(copy, frame, &k, rec);
}

/* Returns false if the packet is copied as it is. */
static bool begin_packed(struct pfc_copy *copy, struct slice frame, const struct copied *rec)
{
	struct slice rest, content;

	text_clear(&copy->carrier);
	text_clear(&copy->inner);
	text_clear(&copy->out);
	text_slice(&copy->carrier, frame);
	if (note_failure(&copy->copier->chunk->text.failed, copy->carrier.failed))
		return false;
	rest = slice_of(copy->carrier.p, copy->carrier.n);
	if (!pf_next_frame(&rest, &frame, &content))
		return false;
	pfc_packet(&copy->packed, content);
	copy->packed_record = *rec;
	copy->at = 0;
	copy->changed = false;
	copy->unpacked = unpack_packets(&copy->inner, &copy->packed);
	copy->copier->chunk->text.failed |= copy->inner.failed;
	return copy->unpacked;
}

/* Writes the packets in a compressed packet, or that packet as it is if none has changed.  If its packets had
 * no records, they are copied or left out together. */
static void end_packed(struct pfc_copy *copy)
{
	struct text *const t = &copy->copier->chunk->text;

	if (!copy->unpacked)
		return;
	size_t before = copy->at == 0 && copy->copying ? 1 : copy->at;
	while (copy->at != before && copy->at < copy->inner.n) {
		before = copy->at;
		handle_inner(copy, &copy->packed_record);
	}
	copy->unpacked = false;
	t->failed |= copy->carrier.failed || copy->inner.failed || copy->out.failed;
	if (!copy->copying || t->failed)
		return;
	if (copy->changed && copy->out.n == 0)
		return;
	const unsigned field = field_of(&copy->packed);
	copy->packed_as = copy->packed_as != 0 ? copy->packed_as : field;
	if (!copy->changed && field == copy->packed_as)
		text_add(copier_text(copy->copier), copy->carrier.p, copy->carrier.n);
	else
		pack_packets(copier_text(copy->copier), copy->packed_as, slice_of(copy->out.p, copy->out.n));
}

/* ---- records ---- */

static void handle_record(struct pfc_copy *copy, struct slice bytes, const struct copied *rec)
{
	struct slice frame, content;
	struct pfc_packet k;

	if (bytes.n == 0) {
		handle_inner(copy, rec);
		return;
	}
	while (bytes.n > 0 && pf_next_frame(&bytes, &frame, &content)) {
		pfc_packet(&k, content);
		end_packed(copy); /* of the previous packet, in a run of records */
		if (field_of(&k) == 0)
			handle_packet(copy, frame, &k, rec);
		else if (!begin_packed(copy, frame, rec) && copy->copying)
			put_bytes(copy, frame);
	}
	if (bytes.n == 0)
		return;
	end_packed(copy);
	if (copy->copying)
		put_bytes(copy, bytes);
}

/* Copies the records before the first event, now that its time is known. */
static void copy_waiting(struct pfc_copy *copy)
{
	size_t at = 0;

	copy->moves = true;
	copy->replays = true;
	for (uint32_t i = 0; i < copy->nrecords; i++) {
		handle_record(copy, slice_of(copy->waiting.p + at, copy->records[i].n), &copy->records[i]);
		at += copy->records[i].n;
	}
	copy->replays = false;
	copy->nrecords = 0;
	text_free(&copy->waiting);
}

static void add_waiting(struct pfc_copy *copy, struct slice bytes, struct copied rec)
{
	rec.n = bytes.n;
	text_slice(&copy->waiting, bytes);
	if (copy->waiting.failed ||
	    !array_reserve(&copy->records, copy->nrecords, &copy->records_cap, sizeof *copy->records))
		copy->copier->chunk->text.failed = true;
	else
		copy->records[copy->nrecords++] = rec;
}

static void begin_copying(struct pfc_copy *copy)
{
	if (copy->copying)
		return;
	end_packed(copy);
	copy->copying = true;
	copy->names.input = 0;
	pfc_states_clear(&copy->states);
}

static struct copied record_of(const struct event *e)
{
	return (struct copied){ .ts = e->ts,
		                .offset = e->offset,
		                .is_event = e->phase != PHASE_STRUCTURE,
		                .left_out = (e->flags & EVENT_LEFT_OUT) != 0 };
}

static void copy_record(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct pfc_copy *const copy = c->state;
	const struct copied rec = record_of(e);

	copy->bytes += bytes.n;
	if (!c->selected && !c->run->rebased && copy->renumber == 0) {
		if (c->joins)
			note_packed(copy, bytes);
		copier_keep(c, bytes);
		return;
	}
	if (c->run->rebased && !copy->moves && !rec.is_event && copy->waiting.n + bytes.n <= MAX_WAITING) {
		add_waiting(copy, bytes, rec);
		return;
	}
	if (c->run->rebased && !copy->moves)
		copy_waiting(copy);
	handle_record(copy, bytes, &rec);
	c->chunk->text.failed |= copy->states.failed || copy->names.failed;
}

static void copy_survey(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct pfc_copy *const copy = c->state;
	const struct copied rec = record_of(e);

	if (e->offset == 0) {
		pfc_states_clear(&copy->states);
		copy->names.input++;
	}
	handle_record(copy, bytes, &rec);
	c->chunk->text.failed |= copy->states.failed || copy->names.failed;
}

static bool copy_skips(const struct copier *c, const struct event *e, struct slice bytes)
{
	const struct pfc_copy *const copy = c->state;
	struct slice frame, content;
	struct pfc_packet k;

	if ((c->run->rebased && !copy->moves) || !pf_next_frame(&bytes, &frame, &content) || bytes.n > 0)
		return false;
	pfc_packet(&k, content);
	const struct pfc_sequence *const q = pfc_sequence_of(&copy->states, &k);
	return pfc_is_plain(q, &k) && (copy->copying || pfc_names_nothing(&copy->names, q, &k, e->ts));
}

/* ---- the copier ---- */

static bool copy_open(struct copier *c)
{
	struct pfc_copy *const copy = c->state;

	copy->copier = c;
	copy->names.seed = hash_seed();
	return true;
}

static void copy_input(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct pfc_copy *const copy = c->state;

	begin_copying(copy);
	end_packed(copy);
	copy->names.input++;
	if (copy->names.input == 1)
		return;
	pfc_states_clear(&copy->states);
	copy->renumber = copy->bytes * UINT64_C(0x9e3779b97f4a7c15) + copy->names.input;
}

static void copy_end(struct copier *c)
{
	struct pfc_copy *const copy = c->state;

	begin_copying(copy);
	if (c->run->rebased && !copy->moves)
		copy_waiting(copy);
	end_packed(copy);
}

static void copy_free(void *state)
{
	struct pfc_copy *const copy = state;

	pfc_states_free(&copy->states);
	pfc_names_free(&copy->names);
	pfc_moved_free(&copy->moved);
	text_free(&copy->waiting);
	text_free(&copy->carrier);
	text_free(&copy->inner);
	text_free(&copy->out);
	text_free(&copy->json);
	free(copy->records);
}

/* A packet without fields. */
#define EMPTY_PACKET "\x0A\0"

/* Ids of sequences, tracks and arrows. */
/* clang-format off */
static const char *const renumbered[] = {
	"trusted_packet_sequence_id",
	"track_event.track_uuid",
	"track_event.extra_counter_track_uuids", "track_event.extra_double_counter_track_uuids",
	"track_event.flow_ids", "track_event.flow_ids_old",
	"track_event.terminating_flow_ids", "track_event.terminating_flow_ids_old",
	"track_event.unscoped_id", "track_event.bind_id", "track_event.local_id", "track_event.global_id",
	"trace_packet_defaults.track_uuid",
	"trace_packet_defaults.extra_counter_track_uuids",
	"trace_packet_defaults.extra_double_counter_track_uuids",
	"track_descriptor.uuid", "track_descriptor.parent_uuid", NULL,
};
/* clang-format on */

const struct copier_ops perfetto_copier_ops = {
	.renumbered = renumbered,
	.state_size = sizeof(struct pfc_copy),
	.modes = COPIER_SELECTS | COPIER_RUNS | COPIER_BYTES | COPIER_REFERS,
	.open = copy_open,
	.input = copy_input,
	.record = copy_record,
	.survey = copy_survey,
	.skips = copy_skips,
	.end = copy_end,
	.empty = SLICE_LIT(EMPTY_PACKET),
	.free = copy_free,
};
