/*
 * State of sequences in copies.  Packets add to sums that later packets build on: incremental clocks, times
 * and counts written as differences, incremental counters.  The additions of packets left out are summed here
 * and added to the next packet that is copied, so that it means the same as in the input.
 *
 * Memory: a few numbers a sequence, and one for each incremental counter of a sequence; both have a limit.
 */
#include <stdlib.h>

#include "perfetto/copy/copy.h"

/* ---- packets ---- */

static const struct pf_member packet_members[] = {
	PF_MEMBER(PF_packet_clock_snapshot, struct pfc_packet, snapshot, SLICE),
	PF_MARKED(PF_packet_timestamp, struct pfc_packet, timestamp, U64, has_timestamp, 1),
	PF_MEMBER(PF_packet_trusted_packet_sequence_id, struct pfc_packet, sequence, U32),
	PF_MEMBER(PF_packet_track_event, struct pfc_packet, event, SLICE),
	PF_MEMBER(PF_packet_interned_data, struct pfc_packet, interned, SLICE),
	PF_MEMBER(PF_packet_sequence_flags, struct pfc_packet, flags, U32),
	PF_MEMBER(PF_packet_incremental_state_cleared, struct pfc_packet, cleared, BOOL),
	PF_MEMBER(PF_packet_previous_packet_dropped, struct pfc_packet, dropped, U32),
	PF_MEMBER(PF_packet_thread_descriptor, struct pfc_packet, thread, SLICE),
	PF_MEMBER(PF_packet_compressed_packets, struct pfc_packet, zlib, SLICE),
	PF_MEMBER(PF_packet_streaming_profile_packet, struct pfc_packet, streaming, SLICE),
	PF_MEMBER(PF_packet_timestamp_clock_id, struct pfc_packet, clock, U32),
	PF_MEMBER(PF_packet_trace_packet_defaults, struct pfc_packet, defaults, SLICE),
	PF_MEMBER(PF_packet_track_descriptor, struct pfc_packet, descriptor, SLICE),
	PF_MEMBER(PF_packet_machine_id, struct pfc_packet, machine, U32),
	PF_MEMBER(PF_packet_zstd_compressed_packets, struct pfc_packet, zstd, SLICE),
};

void pfc_packet(struct pfc_packet *k, struct slice s)
{
	clear_object(k, offsetof(struct pfc_packet, te));
	k->s = s;
	PF_READ(s, packet_members, k);
	k->flags |= k->cleared ? PF_CLEARED : 0;
	if (k->event.p != NULL)
		pf_decode_event(&k->te, k->event);
	else
		clear_object(&k->te, sizeof k->te);
}

/* ---- sequences ---- */

static struct pfc_sequence *find_sequence(struct pfc_states *all, const struct pfc_packet *k)
{
	const uint64_t key = (uint64_t)k->machine << 32 | k->sequence;
	const uint32_t i = table64_element(&all->index, key, &all->list, &all->n, &all->cap,
	                                   sizeof *all->list, PFC_SEQUENCES);

	all->failed |= i == TABLE_FAILED;
	return i < TABLE_FAILED ? &all->list[i] : NULL;
}

const struct pfc_sequence *pfc_sequence_of(const struct pfc_states *all, const struct pfc_packet *k)
{
	const uint32_t known = table64_get(&all->index, (uint64_t)k->machine << 32 | k->sequence);

	return known != TABLE_NONE ? &all->list[known] : NULL;
}

void pfc_states_free(struct pfc_states *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		free(all->list[i].clocks);
	free(all->list);
	free(all->sums);
	table64_free(&all->index);
	table64_free(&all->sum_index);
	table64_free(&all->incremental);
	table64_free(&all->arrows);
	table64_free(&all->profiles);
	free(all->profile_ns);
}

void pfc_states_clear(struct pfc_states *all)
{
	pfc_states_free(all);
	*all = (struct pfc_states){ .failed = all->failed };
}

static void reset_deltas(struct pfc_sequence *q)
{
	q->delta_us = q->thread_us = q->instructions = 0;
}

/* ---- clocks ---- */

static uint32_t clock_of(const struct pfc_sequence *q, const struct pfc_packet *k)
{
	return k->clock != 0 ? k->clock : q != NULL ? q->clock : 0;
}

static struct pfc_clock *find_clock(const struct pfc_sequence *q, uint32_t id)
{
	for (uint32_t i = 0; i < q->nclocks; i++)
		if (q->clocks[i].id == id)
			return &q->clocks[i];
	return NULL;
}

static void apply_clock(struct pfc_states *all, struct pfc_sequence *q, struct slice s)
{
	const struct pf_clock_reading c = pf_read_clock(s);

	if (c.id < 64 || c.id > 127)
		return;
	struct pfc_clock *known = find_clock(q, c.id);
	if (known == NULL) {
		if (note_failure(&all->failed,
		                 !array_reserve(&q->clocks, q->nclocks, &q->clocks_cap, sizeof *q->clocks)))
			return;
		known = &q->clocks[q->nclocks++];
	}
	*known = (struct pfc_clock){ .id = c.id, .incremental = c.is_incremental };
}

uint32_t pfc_clock_of(const struct pfc_states *all, const struct pfc_packet *k)
{
	return clock_of(pfc_sequence_of(all, k), k);
}

/* Returns the incremental clock of the packet's timestamp; NULL: the timestamp is not a difference. */
static struct pfc_clock *incremental_clock(const struct pfc_sequence *q, const struct pfc_packet *k)
{
	struct pfc_clock *const c = q != NULL ? find_clock(q, clock_of(q, k)) : NULL;

	return c != NULL && c->incremental ? c : NULL;
}

bool pfc_is_incremental(const struct pfc_states *all, const struct pfc_packet *k)
{
	return incremental_clock(pfc_sequence_of(all, k), k) != NULL;
}

static void apply_timestamp(struct pfc_sequence *q, const struct pfc_packet *k, bool copied,
                            struct pfc_carry *carry)
{
	struct pfc_clock *const c = incremental_clock(q, k);

	if (!k->has_timestamp || c == NULL)
		return;
	if (copied) {
		carry->timestamp = c->sum;
		c->sum = 0;
	} else {
		c->sum += k->timestamp;
	}
}

void pfc_keep_deltas(struct pfc_states *all, const struct pfc_packet *k, const struct pfc_carry *carry)
{
	struct pfc_sequence *const q = k->sequence != 0 ? find_sequence(all, k) : NULL;
	struct pfc_clock *const c = incremental_clock(q, k);

	if (k->has_timestamp && c != NULL)
		c->sum += carry->timestamp + k->timestamp;
	if (q != NULL)
		q->delta_us =
		    (int64_t)((uint64_t)q->delta_us + (uint64_t)carry->delta_us + (uint64_t)carry->own_us);
}

/* ---- counters ---- */

static void add_number(struct pfc_number *to, const struct pfc_number *v)
{
	to->whole = (int64_t)((uint64_t)to->whole + (uint64_t)v->whole);
	to->real += v->real;
	to->is_real |= v->is_real;
}

static struct pfc_sum *find_sum(struct pfc_states *all, const struct pfc_sequence *q, uint64_t track,
                                bool add)
{
	const uint64_t key = hash_u64(track, hash_u64((uint64_t)(q - all->list), hash_seed()));
	const uint32_t i = table64_element(&all->sum_index, key, &all->sums, &all->nsums, &all->sums_cap,
	                                   sizeof *all->sums, add ? PFC_SUMS : 0);
	struct pfc_sum *const s = i < TABLE_FAILED ? &all->sums[i] : NULL;

	all->failed |= i == TABLE_FAILED;
	if (s != NULL && s->interval != q->interval)
		*s = (struct pfc_sum){ .interval = q->interval };
	return s;
}

/* Moves the part of the double that an integer can state to the integer. */
static void move_whole(struct pfc_number *v)
{
	const int64_t whole = v->real > -0x1p62 && v->real < 0x1p62 ? (int64_t)v->real : 0;

	v->whole = (int64_t)((uint64_t)v->whole + (uint64_t)whole);
	v->real -= (double)whole;
}

/* Adds a left-out value to the sum of its track, or that sum to a copied value: of a sum with a fraction, an
 * extra integer takes the whole part, and the next double the rest. */
static void carry_value(struct pfc_states *all, const struct pfc_sequence *q, uint64_t track, bool copied,
                        bool whole, struct pfc_number *v, bool *changed)
{
	if (table64_get(&all->incremental, track) == TABLE_NONE)
		return;
	struct pfc_sum *const s = find_sum(all, q, track, !copied);
	if (s == NULL)
		return;
	if (!copied) {
		add_number(&s->v, v);
	} else if (s->v.whole != 0 || s->v.real != 0) {
		add_number(v, &s->v);
		if (whole)
			move_whole(v);
		s->v = (struct pfc_number){ .real = whole ? v->real : 0, .is_real = whole };
		*changed = true;
	}
}

static void read_values(const struct pfc_packet *k, struct pfc_values *v)
{
	struct pf_wire w = pf_wire_on(k->event);
	uint32_t n = 0, nreal = 0;

	v->value = k->te.has_counter  ? (struct pfc_number){ .whole = k->te.counter }
	           : k->te.has_double ? (struct pfc_number){ .real = k->te.double_counter, .is_real = true }
	                              : (struct pfc_number){ .whole = 0 };
	while (k->te.nextra[0] + k->te.nextra[1] > 0 && pf_wire_next(&w))
		if (w.tag == PF_TAG(PF_event_extra_counter_values, PF_VARINT) && n < PFC_EXTRA)
			v->extra[n++] = (int64_t)w.v;
		else if (w.tag == PF_TAG(PF_event_extra_double_counter_values, PF_FIXED64) &&
		         nreal < PFC_EXTRA)
			v->real[nreal++] = pf_wire_double(&w);
}

static void apply_counters(struct pfc_states *all, const struct pfc_sequence *q, const struct pfc_packet *k,
                           bool copied, struct pfc_carry *carry)
{
	const struct pf_event_fields *const te = &k->te;
	struct pf_extra_of own[2] = { { .n = 0 }, { .n = 0 } };
	struct pfc_values *const values = &carry->values;

	read_values(k, values);
	if (te->type == PF_EVENT_COUNTER && (te->has_counter || te->has_double))
		carry_value(all, q, pfc_track_of(k, q), copied, false, &values->value, &carry->counters);
	if (te->nextra[0] + te->nextra[1] > PFC_EXTRA)
		return;
	if (te->has_extra_of)
		pf_extra_read(k->event, own);
	const struct pf_extra_of *const whole = own[0].n > 0 ? &own[0] : &q->extra_of[0];
	for (uint32_t i = 0; i < te->nextra[0] && i < whole->n; i++) {
		struct pfc_number v = { .whole = values->extra[i] };
		carry_value(all, q, whole->uuids[i], copied, true, &v, &carry->counters);
		values->extra[i] = v.whole;
	}
	const struct pf_extra_of *const real = own[1].n > 0 ? &own[1] : &q->extra_of[1];
	for (uint32_t i = 0; i < te->nextra[1] && i < real->n; i++) {
		struct pfc_number v = { .real = values->real[i], .is_real = true };
		carry_value(all, q, real->uuids[i], copied, false, &v, &carry->counters);
		values->real[i] = v.real + (double)v.whole;
	}
}

/* ---- events ---- */

static void carry_delta(int64_t *sum, int64_t delta, bool copied, int64_t *carry)
{
	if (copied) {
		*carry = *sum;
		*sum = 0;
	} else {
		*sum = (int64_t)((uint64_t)*sum + (uint64_t)delta);
	}
}

/* Whether the event becomes the start of its arrow: the first copied step does, as readers drop steps without
 * a start.  Only arrows of legacy events need one. */
static bool starts_arrow(struct pfc_states *all, struct slice legacy)
{
	struct pf_legacy l;

	pf_decode_legacy(&l, legacy);
	const uint64_t id = l.id_kind == 1 ? l.id : 0;
	if ((l.phase != 's' && l.phase != 't') || table64_get(&all->arrows, id) != TABLE_NONE ||
	    all->arrows.used >= PFC_SUMS)
		return false;
	all->failed |= !table64_put(&all->arrows, id, 1);
	return l.phase == 't';
}

bool pfc_ends_nothing(const struct pfc_states *all, const struct pf_legacy *l)
{
	return l->phase == 'f' && !l->encloses && l->id_kind == 1 && all->arrows.used < PFC_SUMS &&
	       table64_get(&all->arrows, l->id) == TABLE_NONE;
}

static void apply_event(struct pfc_states *all, struct pfc_sequence *q, const struct pfc_packet *k,
                        bool copied, struct pfc_carry *carry)
{
	const struct pf_event_fields *const te = &k->te;

	if (te->time == 1) {
		carry->own_us = te->time_us;
		carry_delta(&q->delta_us, te->time_us, copied, &carry->delta_us);
	}
	if (te->thread_time == 1)
		carry_delta(&q->thread_us, te->thread_us, copied, &carry->thread_us);
	if (te->instruction_count == 1)
		carry_delta(&q->instructions, te->instructions, copied, &carry->instructions);
	if (copied && te->legacy.p != NULL)
		carry->starts = starts_arrow(all, te->legacy);
	if (all->incremental.used > 0)
		apply_counters(all, q, k, copied, carry);
}

bool pfc_is_plain(const struct pfc_sequence *q, const struct pfc_packet *k)
{
	const struct pf_event_fields *const te = &k->te;
	const bool is_event = k->event.p != NULL && te->type >= PF_EVENT_BEGIN &&
	                      te->type <= PF_EVENT_INSTANT && te->legacy.p == NULL &&
	                      te->nextra[0] + te->nextra[1] == 0;
	const bool has_other = k->descriptor.p != NULL || k->thread.p != NULL || k->streaming.p != NULL ||
	                       k->snapshot.p != NULL || k->zlib.p != NULL || k->zstd.p != NULL;

	return q != NULL && is_event && !has_other && te->time != 1 && te->thread_time != 1 &&
	       te->instruction_count != 1 && incremental_clock(q, k) == NULL && !pfc_has_state(k);
}

static void apply_streaming(struct pfc_sequence *q, struct slice s, bool copied, struct pfc_carry *carry)
{
	struct pf_wire w = pf_wire_on(s);
	uint64_t sum = 0;
	bool any = false;

	for (; pf_wire_find(&w, PF_TAG(PF_streaming_timestamp_delta_us, PF_VARINT)); any = true)
		sum += w.v;
	if (any)
		carry_delta(&q->delta_us, (int64_t)sum, copied, &carry->delta_us);
}

/* Notes incremental counters.  Returns the descriptor of a thread; p NULL: it is none. */
static struct slice apply_descriptor(struct pfc_states *all, struct slice s)
{
	const struct slice counter = pf_content(s, PF_descriptor_counter);
	const bool incremental = counter.p != NULL && pf_number(counter, PF_counter_is_incremental) != 0;

	if (incremental && all->incremental.used < PFC_SUMS)
		all->failed |= !table64_put(&all->incremental, pf_number(s, PF_descriptor_uuid), 1);
	return pf_content(s, PF_descriptor_thread);
}

static void read_defaults(struct pfc_sequence *q, struct slice event)
{
	q->default_track = pf_number(event, PF_event_defaults_track_uuid);
	pf_extra_read(event, q->extra_of);
}

const struct pfc_sequence *pfc_apply(struct pfc_states *all, const struct pfc_packet *k, bool copied,
                                     struct pfc_carry *carry)
{
	const struct slice of_track =
	    k->descriptor.p != NULL ? apply_descriptor(all, k->descriptor) : SLICE_NONE;
	const struct slice thread = of_track.p != NULL ? of_track : k->thread;
	struct pfc_sequence *const q = k->sequence != 0 ? find_sequence(all, k) : NULL;

	clear_object(carry, offsetof(struct pfc_carry, values));
	if (q == NULL)
		return NULL;
	if ((k->flags & PF_CLEARED) != 0 || k->dropped != 0) {
		reset_deltas(q);
		q->interval++;
		if ((k->flags & PF_CLEARED) != 0)
			read_defaults(q, SLICE_NONE);
		q->clock = (k->flags & PF_CLEARED) != 0 ? 0 : q->clock;
		q->valid = (k->flags & PF_CLEARED) != 0;
	}
	if (k->defaults.p != NULL) {
		q->clock = (uint32_t)pf_number(k->defaults, PF_defaults_timestamp_clock_id);
		read_defaults(q, pf_content(k->defaults, PF_defaults_track_event_defaults));
	}
	if (k->snapshot.p != NULL) {
		struct pf_wire w = pf_wire_on(k->snapshot);
		while (pf_wire_find(&w, PF_TAG(PF_snapshot_clocks, PF_BYTES)))
			apply_clock(all, q, pf_wire_slice(&w));
		return q; /* the importer reads no more of this packet */
	}
	if ((k->flags & PF_NEEDS) != 0 && !q->valid)
		return q; /* dropped by readers */
	apply_timestamp(q, k, copied, carry);
	if (thread.p != NULL && q->valid) {
		reset_deltas(q);
		q->pid = (int32_t)pf_number(thread, PF_thread_pid);
	}
	if (k->event.p != NULL)
		apply_event(all, q, k, copied, carry);
	if (k->streaming.p != NULL)
		apply_streaming(q, k->streaming, copied, carry);
	return q;
}
