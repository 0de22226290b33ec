/*
 * Writes changed packets.  Unchanged fields, also unknown ones, are copied as they are, in their order;
 * lengths of messages are computed again.
 */
#include "perfetto/copy/copy.h"

#include <stdlib.h>

/* Copies the last field as it is. */
static void put_same(struct text *t, const struct pf_wire *w)
{
	text_add(t, w->at, (size_t)(w->p - w->at));
}

/* Copies the bytes after the last field that can be read. */
static void put_rest(struct text *t, const struct pf_wire *w)
{
	if (w->bad)
		text_add(t, w->at, (size_t)(w->end - w->at));
}

/* ---- ids ---- */

/* Returns the new id; 0 means "none" and stays.  Independent of the run, so equal inputs give equal bytes. */
static uint64_t mix(uint64_t v, uint64_t seed)
{
	uint64_t h = v + seed;

	if (v == 0)
		return 0;
	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	h ^= h >> 31;
	return h != 0 ? h : 1;
}

uint64_t pfc_new_id(uint64_t v, uint64_t renumber)
{
	return renumber != 0 ? mix(v, renumber) : v;
}

static uint64_t new_id(uint64_t v, const struct pfc_change *x)
{
	return pfc_new_id(v, x->renumber);
}

/* New ids are larger than those that tracing services and this program assign. */
uint32_t pfc_new_sequence(uint32_t v, uint64_t renumber)
{
	return renumber != 0 && v != 0 ? (uint32_t)mix(v, renumber) | UINT32_C(0x40000000) : v;
}

/* ---- messages below a packet ---- */

/* Writes a changed field.  Returns false, and writes nothing, for other fields. */
typedef bool put_changed(struct text *t, const struct pf_wire *w, const struct pfc_change *x);

/* Writes the fields of a message: with changes, the others as they are. */
static void put_fields(struct text *t, struct slice s, put_changed *put, const struct pfc_change *x)
{
	struct pf_wire w = pf_wire_on(s);

	while (pf_wire_next(&w))
		if (!put(t, &w, x))
			put_same(t, &w);
	put_rest(t, &w);
}

static void put_message(struct text *t, unsigned field, struct slice s, put_changed *put,
                        const struct pfc_change *x)
{
	const size_t start = wire_open(t, field);

	put_fields(t, s, put, x);
	wire_close(t, start);
}

static bool put_legacy(struct text *t, const struct pf_wire *w, const struct pfc_change *x)
{
	switch (w->tag) {
	case PF_TAG(PF_legacy_unscoped_id, PF_VARINT):
	case PF_TAG(PF_legacy_bind_id, PF_VARINT):
	case PF_TAG(PF_legacy_local_id, PF_VARINT):
	case PF_TAG(PF_legacy_global_id, PF_VARINT):
		wire_number(t, pf_wire_number(w), new_id(w->v, x));
		return true;
	case PF_TAG(PF_legacy_phase, PF_VARINT):
		wire_number(t, PF_legacy_phase, x->carry.starts ? 's' : w->v);
		return true;
	default:
		return false;
	}
}

/* An annotation with the JSON of a CPU profile. */
static bool put_json(struct text *t, const struct pf_wire *w, const struct pfc_change *x)
{
	if (w->tag != PF_TAG(PF_annotation_legacy_json_value, PF_BYTES))
		return false;
	wire_slice(t, PF_annotation_legacy_json_value, x->new_json);
	return true;
}

/* Whether an event that keeps nothing but its JSON has the field. */
static bool is_name(uint32_t number)
{
	switch (number) {
	case PF_event_type:
	case PF_event_category_iids:
	case PF_event_categories:
	case PF_event_name_iid:
	case PF_event_name:
	case PF_event_track_uuid:
	case PF_event_legacy_event:
	case PF_event_timestamp_delta_us:
	case PF_event_timestamp_absolute_us:
		return true;
	default:
		return false;
	}
}

/* Writes a field of an event of a CPU profile, or leaves it out.  Returns false for other fields. */
static bool put_profile(struct text *t, const struct pf_wire *w, const struct pfc_change *x)
{
	if (w->tag == PF_TAG(PF_event_debug_annotations, PF_BYTES) &&
	    pf_content(pf_wire_slice(w), PF_annotation_legacy_json_value).p == x->json.p) {
		put_message(t, PF_event_debug_annotations, pf_wire_slice(w), put_json, x);
		return true;
	}
	return x->only_json && !is_name(pf_wire_number(w));
}

static void put_counter_value(struct text *t, const struct pfc_number *v)
{
	if (v->is_real)
		wire_double(t, PF_event_double_counter_value, v->real + (double)v->whole);
	else
		wire_number(t, PF_event_counter_value, (uint64_t)v->whole);
}

/* The fields of an event, or of its defaults. */
static void put_event(struct text *t, struct slice s, const struct pfc_change *x)
{
	const struct pfc_carry *const c = &x->carry;
	struct pf_wire w = pf_wire_on(s);
	const size_t start = wire_open(t, PF_packet_track_event);
	uint32_t nextra = 0, nreal = 0;
	bool has_value = false;

	while (pf_wire_next(&w)) {
		const uint32_t number = pf_wire_number(&w);
		const bool is_of_end = number == PF_event_type || number == PF_event_track_uuid ||
		                       number == PF_event_timestamp_delta_us ||
		                       number == PF_event_timestamp_absolute_us;
		if ((x->new_json.p != NULL && put_profile(t, &w, x)) || (x->only_end && !is_of_end))
			continue;
		switch (w.tag) {
		case PF_TAG(PF_event_timestamp_delta_us, PF_VARINT):
			if (x->only_json)
				wire_number(t, PF_event_timestamp_delta_us, 0);
			else if (!x->set_time)
				wire_number(t, PF_event_timestamp_delta_us, w.v + (uint64_t)c->delta_us);
			continue;
		case PF_TAG(PF_event_timestamp_absolute_us, PF_VARINT):
			if (x->set_time)
				continue;
			break;
		case PF_TAG(PF_event_thread_time_delta_us, PF_VARINT):
			wire_number(t, PF_event_thread_time_delta_us, w.v + (uint64_t)c->thread_us);
			continue;
		case PF_TAG(PF_event_thread_instruction_count_delta, PF_VARINT):
			wire_number(t, PF_event_thread_instruction_count_delta,
			            w.v + (uint64_t)c->instructions);
			continue;
		case PF_TAG(PF_event_track_uuid, PF_VARINT):
		case PF_TAG(PF_event_extra_counter_track_uuids, PF_VARINT):
		case PF_TAG(PF_event_extra_double_counter_track_uuids, PF_VARINT):
		case PF_TAG(PF_event_flow_ids_old, PF_VARINT):
		case PF_TAG(PF_event_terminating_flow_ids_old, PF_VARINT):
			if (x->renumber == 0)
				break;
			wire_number(t, number, new_id(w.v, x));
			continue;
		case PF_TAG(PF_event_flow_ids, PF_FIXED64):
		case PF_TAG(PF_event_terminating_flow_ids, PF_FIXED64):
			wire_fixed64(t, number, new_id(w.v, x));
			continue;
		case PF_TAG(PF_event_legacy_event, PF_BYTES):
			if (x->renumber == 0 && !c->starts)
				break;
			put_message(t, PF_event_legacy_event, pf_wire_slice(&w), put_legacy, x);
			continue;
		case PF_TAG(PF_event_counter_value, PF_VARINT):
		case PF_TAG(PF_event_double_counter_value, PF_FIXED64):
			if (!c->counters)
				break;
			if (!has_value)
				put_counter_value(t, &c->values.value);
			has_value = true;
			continue;
		case PF_TAG(PF_event_extra_counter_values, PF_VARINT):
			if (!c->counters || nextra >= PFC_EXTRA)
				break;
			wire_number(t, number, (uint64_t)c->values.extra[nextra++]);
			continue;
		case PF_TAG(PF_event_extra_double_counter_values, PF_FIXED64):
			if (!c->counters || nreal >= PFC_EXTRA)
				break;
			wire_double(t, number, c->values.real[nreal++]);
			continue;
		default:
			break;
		}
		put_same(t, &w);
	}
	put_rest(t, &w);
	wire_close(t, start);
}

static bool put_defaults(struct text *t, const struct pf_wire *w, const struct pfc_change *x)
{
	if (w->tag != PF_TAG(PF_defaults_track_event_defaults, PF_BYTES))
		return false;
	put_event(t, pf_wire_slice(w), x); /* fields have the numbers of TrackEvent */
	return true;
}

static bool put_descriptor(struct text *t, const struct pf_wire *w, const struct pfc_change *x)
{
	if (w->tag != PF_TAG(PF_descriptor_uuid, PF_VARINT) &&
	    w->tag != PF_TAG(PF_descriptor_parent_uuid, PF_VARINT))
		return false;
	wire_number(t, pf_wire_number(w), new_id(w->v, x));
	return true;
}

static void put_streaming(struct text *t, struct slice s, const struct pfc_change *x)
{
	struct pf_wire w = pf_wire_on(s);
	const size_t start = wire_open(t, PF_packet_streaming_profile_packet);
	uint64_t add = (uint64_t)x->carry.delta_us;

	while (pf_wire_next(&w))
		if (w.tag == PF_TAG(PF_streaming_timestamp_delta_us, PF_VARINT)) {
			wire_number(t, PF_streaming_timestamp_delta_us, w.v + add);
			add = 0;
		} else {
			put_same(t, &w);
		}
	put_rest(t, &w);
	wire_close(t, start);
}

/* ---- clocks ---- */

bool pfc_is_trace_clock(uint64_t id, uint32_t trace)
{
	const bool is_default = trace == 0 || trace == PF_BOOTTIME || trace == PF_TRACE_FILE;

	return id == 0 || id == trace || (is_default && (id == PF_BOOTTIME || id == PF_TRACE_FILE));
}

static void put_clock(struct text *t, struct slice s, const struct pfc_change *x, uint64_t later)
{
	const struct pf_clock_reading c = pf_read_clock(s);
	struct pf_wire w = pf_wire_on(s);
	const size_t start = wire_open(t, PF_snapshot_clocks);
	const uint64_t earlier = pfc_is_trace_clock(c.id, x->trace_clock) ? x->moved_by : 0;

	while (pf_wire_next(&w))
		if (w.tag == PF_TAG(PF_clock_timestamp, PF_VARINT))
			wire_number(t, PF_clock_timestamp, w.v + later / c.unit - earlier / c.unit);
		else
			put_same(t, &w);
	put_rest(t, &w);
	wire_close(t, start);
}

/* Clocks 64 to 127 belong to a sequence. */
static uint64_t hash_clock(uint64_t clock, uint32_t sequence, uint64_t seed)
{
	return hash_u64(clock >= 64 && clock <= 127 ? (uint64_t)sequence << 32 | clock : clock, seed);
}

bool pfc_has_moved(const struct pfc_moved *m, uint32_t clock, uint32_t sequence)
{
	return table64_get(&m->index, hash_clock(clock, sequence, hash_seed())) != TABLE_NONE;
}

void pfc_moved_free(struct pfc_moved *m)
{
	table64_free(&m->index);
	free(m->times);
}

/* Returns a hash of the set of clocks of a snapshot, equal for any order of them. */
static uint64_t set_of(struct slice s, uint32_t sequence)
{
	struct pf_wire w = pf_wire_on(s);
	uint64_t set = 0;

	while (pf_wire_find(&w, PF_TAG(PF_snapshot_clocks, PF_BYTES)))
		set += hash_clock(pf_read_clock(pf_wire_slice(&w)).id, sequence, hash_seed());
	return set;
}

/* Returns the time of a clock in the last snapshot of the set; NULL if there are too many clocks,
 * or on OOM. */
static uint64_t *last_of(const struct pfc_change *x, uint64_t set, uint64_t clock)
{
	struct pfc_moved *const m = x->moves;
	const uint32_t i = table64_element(&m->index, hash_clock(clock, x->sequence, set), &m->times, &m->n,
	                                   &m->cap, sizeof *m->times, PFC_MOVED);

	m->failed |= i == TABLE_FAILED;
	if (i >= TABLE_FAILED)
		return NULL;
	m->failed |= !table64_put(&m->index, hash_clock(clock, x->sequence, hash_seed()), 0);
	return &m->times[i];
}

/* Returns the time by which all clocks are moved later, so that none becomes negative or goes back. */
static uint64_t later_by(struct slice s, uint64_t set, const struct pfc_change *x)
{
	struct pf_wire w = pf_wire_on(s);
	uint64_t later = 0, unit = 1;

	while (pf_wire_find(&w, PF_TAG(PF_snapshot_clocks, PF_BYTES))) {
		const struct pf_clock_reading c = pf_read_clock(pf_wire_slice(&w));
		const uint64_t *const last = last_of(x, set, c.id);
		const uint64_t least = (last != NULL ? *last : 0) +
		                       (pfc_is_trace_clock(c.id, x->trace_clock) ? x->moved_by : 0),
		               time = c.time * c.unit;
		unit = c.unit > unit ? c.unit : unit;
		if (time < least && least - time > later)
			later = least - time;
	}
	return (later + unit - 1) / unit * unit;
}

/* All clocks of a snapshot are moved later by the same time if that of the trace would become negative: their
 * differences do not change. */
static void put_snapshot(struct text *t, struct slice s, const struct pfc_change *x)
{
	struct pf_wire w = pf_wire_on(s);
	const size_t start = wire_open(t, PF_packet_clock_snapshot);
	const uint64_t set = set_of(s, x->sequence), later = later_by(s, set, x);

	while (pf_wire_next(&w)) {
		if (w.tag != PF_TAG(PF_snapshot_clocks, PF_BYTES)) {
			put_same(t, &w);
			continue;
		}
		const struct pf_clock_reading c = pf_read_clock(pf_wire_slice(&w));
		uint64_t *const last = last_of(x, set, c.id);
		put_clock(t, pf_wire_slice(&w), x, later);
		if (last != NULL)
			*last = c.time * c.unit + later -
			        (pfc_is_trace_clock(c.id, x->trace_clock) ? x->moved_by : 0);
	}
	put_rest(t, &w);
	wire_close(t, start);
	t->failed |= x->moves->failed;
}

/* ---- packets ---- */

bool pfc_has_state(const struct pfc_packet *k)
{
	return k->interned.p != NULL || k->defaults.p != NULL || (k->flags & PF_CLEARED) != 0 ||
	       k->dropped != 0;
}

/* Whether a stripped packet keeps the field. */
static bool is_state(uint32_t number)
{
	switch (number) {
	case PF_packet_trusted_packet_sequence_id:
	case PF_packet_interned_data:
	case PF_packet_sequence_flags:
	case PF_packet_incremental_state_cleared:
	case PF_packet_previous_packet_dropped:
	case PF_packet_trace_packet_defaults:
	case PF_packet_machine_id:
	case PF_packet_first_packet_on_sequence:
		return true;
	default:
		return false;
	}
}

static void put_time(struct text *t, const struct pfc_change *x)
{
	wire_number(t, PF_packet_timestamp, x->time);
	if (x->time_clock != 0)
		wire_number(t, PF_packet_timestamp_clock_id, x->time_clock);
}

void pfc_write(struct text *t, const struct pfc_packet *k, const struct pfc_change *x)
{
	struct pf_wire w = pf_wire_on(k->s);
	const size_t start = wire_open(t, PF_TRACE_PACKET);
	bool has_time = !x->set_time;
	size_t at;

	while (pf_wire_next(&w)) {
		const uint32_t number = pf_wire_number(&w);
		const bool is_of_event = number == PF_packet_track_event || number == PF_packet_timestamp ||
		                         number == PF_packet_timestamp_clock_id;
		if ((x->strip || (x->only_json && !is_of_event)) && !is_state(number))
			continue;
		switch (w.tag) {
		case PF_TAG(PF_packet_timestamp, PF_VARINT):
			if (x->only_json)
				wire_number(t, PF_packet_timestamp, x->time);
			else if (!x->set_time)
				wire_number(t, PF_packet_timestamp, w.v + x->carry.timestamp);
			else if (!has_time)
				put_time(t, x);
			has_time = true;
			continue;
		case PF_TAG(PF_packet_timestamp_clock_id, PF_VARINT):
			if (x->set_time)
				continue;
			break;
		case PF_TAG(PF_packet_trusted_packet_sequence_id, PF_VARINT):
			if (x->renumber == 0)
				break;
			wire_number(t, number, pfc_new_sequence((uint32_t)w.v, x->renumber));
			continue;
		case PF_TAG(PF_packet_sequence_flags, PF_VARINT):
			if (!x->strip)
				break;
			if ((w.v & ~(uint64_t)PF_NEEDS) != 0)
				wire_number(t, PF_packet_sequence_flags, w.v & ~(uint64_t)PF_NEEDS);
			continue;
		case PF_TAG(PF_packet_track_event, PF_BYTES):
			put_event(t, pf_wire_slice(&w), x);
			continue;
		case PF_TAG(PF_packet_trace_packet_defaults, PF_BYTES):
			if (x->renumber == 0)
				break;
			put_message(t, number, pf_wire_slice(&w), put_defaults, x);
			continue;
		case PF_TAG(PF_packet_track_descriptor, PF_BYTES):
			at = wire_open(t, PF_packet_track_descriptor);
			put_fields(t, pf_wire_slice(&w), put_descriptor, x);
			if (x->name.p != NULL)
				wire_slice(t, PF_descriptor_name, x->name);
			wire_close(t, at);
			continue;
		case PF_TAG(PF_packet_streaming_profile_packet, PF_BYTES):
			put_streaming(t, pf_wire_slice(&w), x);
			continue;
		case PF_TAG(PF_packet_clock_snapshot, PF_BYTES):
			if (x->moves == NULL)
				break;
			put_snapshot(t, pf_wire_slice(&w), x);
			continue;
		default:
			break;
		}
		put_same(t, &w);
	}
	if (!has_time)
		put_time(t, x);
	put_rest(t, &w);
	wire_close(t, start);
}
