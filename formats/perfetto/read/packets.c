/*
 * Frames: a trace is packets one behind the other, each with the byte 0x0a and its length in front.  Damage
 * in a packet costs that packet; if the length is hit, the next packet is where tag, length and fields are
 * credible and another packet or the end follows.  A packet is looked at once, in the order of Perfetto's
 * importer: state of its sequence, defaults, interned data, clocks, time, data.
 */
#include <stdlib.h>

#include "input/unpack.h"
#include "perfetto/read/read.h"

#define FRAME_TAG 0x0a          /* field 1, length-delimited */
#define MAX_SEARCHED (4U << 20) /* bytes of a packet that is looked for after damage */
#define PROBED_FIELDS 64U       /* of a packet */

/* ---- findings ---- */

void pf_report(struct pf_state *st, enum pf_rule rule, const char *fmt, ...)
{
	va_list ap;

	st->broken |= pf_breaks(rule);
	va_start(ap, fmt);
	finding_add_v(st->r->findings, &perfetto_rules[rule], st->offset, st->ordinal, fmt, ap);
	va_end(ap);
}

void pf_report_limit(struct pf_state *st, enum pf_limit which, const char *fmt, ...)
{
	va_list ap;

	if ((st->full & which) != 0)
		return;
	st->full |= which;
	va_start(ap, fmt);
	finding_add_v(st->r->findings, &perfetto_rules[PF_RULE_LIMIT], st->offset, st->ordinal, fmt, ap);
	va_end(ap);
}

/* ---- probe ---- */

/* Whether the fields of a packet are those of the schema, as far as they are looked at. */
static bool is_credible(const struct pf_schema *schema, struct slice s)
{
	struct pf_wire w = pf_wire_on(s);

	for (uint32_t i = 0; i < PROBED_FIELDS && pf_wire_next(&w); i++) {
		const uint32_t number = pf_wire_number(&w);
		const struct pf_field *const f = pf_schema_field(schema, PF_MESSAGE_packet, number);
		if (f != NULL ? pf_wire_type(f) != (w.tag & 7)
		              : !pf_schema_is_extension(PF_MESSAGE_packet, number))
			return false;
	}
	return !w.bad;
}

/* Counts the bits that were verified: a packet with some fields that are known is nearly certain. */
static int probe(struct slice head, bool complete)
{
	struct pf_schema schema;
	const char *p = head.p, *const end = head.p + head.n;
	uint64_t n = 0;
	int bits = 0;

	if (head.n == 0 || *p != FRAME_TAG)
		return 0;
	pf_schema_init(&schema);
	for (unsigned i = 0; i < 4 && p < end && *p == FRAME_TAG; i++) {
		const char *const content = pf_varint(p + 1, end, &n);
		if (content == NULL || n > (uint64_t)(end - content)) {
			/* a first packet that is longer than the head: its first fields */
			struct pf_wire w =
			    pf_wire_on(slice_of(content, content != NULL ? (size_t)(end - content) : 0));
			const bool known =
			    content != NULL && pf_wire_next(&w) &&
			    pf_schema_field(&schema, PF_MESSAGE_packet, pf_wire_number(&w)) != NULL;
			return bits > 0 ? bits : complete ? 0 : known && n <= PF_MAX_PACKET ? 12 : 0;
		}
		if (!is_credible(&schema, slice_of(content, n)))
			return bits;
		bits += n > 0 ? 16 : 8;
		p = content + n;
	}
	return p == end && complete ? bits + 8 : p < end && *p != FRAME_TAG ? bits / 2 : bits;
}

/* ---- search after damage ---- */

/* Whether a packet of a sequence or with a time has nothing but fields of the schema. */
static bool is_packet_of_sequence(struct pf_state *st, struct slice s)
{
	struct pf_wire w = pf_wire_on(s);
	bool any = false;

	for (uint32_t i = 0; i < PROBED_FIELDS && !any && pf_wire_next(&w); i++)
		any = w.tag == PF_TAG(PF_packet_trusted_packet_sequence_id, PF_VARINT) ||
		      w.tag == PF_TAG(PF_packet_timestamp, PF_VARINT);
	return any && pf_is_sound(&st->schema, PF_MESSAGE_packet, s, 0, &st->search_work);
}

enum found { FOUND_NOT, FOUND, FOUND_MORE };

/* Whether a packet starts at p, with a frame or the end behind it; FOUND_MORE: the window ends too early. */
static enum found find_frame(struct pf_state *st, const char *p)
{
	const struct input *const in = st->r->in;
	const char *const end = in->end;
	uint64_t n = 0;
	const char *const content = pf_varint(p + 1, end, &n);

	if (content == NULL)
		return in->last || end - p > PF_VARINT_MAX ? FOUND_NOT : FOUND_MORE;
	if (n < 2 || n > MAX_SEARCHED)
		return FOUND_NOT;
	if (n >= (uint64_t)(end - content) && !in->last)
		return FOUND_MORE;
	if (n > (uint64_t)(end - content))
		return FOUND_NOT;
	if (content + n < end && content[n] != FRAME_TAG)
		return FOUND_NOT;
	if (!is_packet_of_sequence(st, slice_of(content, n)))
		return FOUND_NOT;
	return FOUND;
}

/* Skips bytes up to the next packet. */
static enum record_status search(struct pf_state *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	const char *p = rec->p;

	rec->role = RECORD_IS_SKIPPED;
	rec->alone = true;
	for (; p < in->end; p++) {
		p = memchr(p, FRAME_TAG, (size_t)(in->end - p));
		if (p == NULL) {
			p = in->end;
			break;
		}
		const enum found found = find_frame(st, p);
		if (found == FOUND) {
			st->searching = false;
			break;
		}
		if (found == FOUND_MORE && p == rec->p)
			return RECORD_MORE;
		if (found == FOUND_MORE)
			break;
	}
	if (p == in->end && in->last) {
		st->searching = false;
		st->lost = true;
	} else if (p == rec->p && st->searching) {
		return RECORD_MORE;
	}
	st->searched += (uint64_t)(p - rec->p);
	if (st->lost)
		st->r->unread += st->searched;
	rec->end = p;
	return RECORD_DONE;
}

/* Begins a search behind the byte at rec->p. */
static enum record_status begin_search(struct pf_state *st, struct record *rec)
{
	rec->role = RECORD_IS_SKIPPED;
	rec->alone = true;
	rec->end = rec->p + 1;
	st->searched = 0;
	st->searching = rec->end < st->r->in->end || !st->r->in->last;
	st->lost = !st->searching;
	return RECORD_DONE;
}

/* ---- fields of a packet ---- */

/* Reads the fields of the packet into k. */
static void decode(const struct pf_state *st, struct pf_packet *k, struct slice s)
{
	struct pf_wire w = pf_wire_on(s);

	*k = (struct pf_packet){ .s = s };
	while (pf_wire_next(&w)) {
		switch (w.tag) {
		case PF_TAG(PF_packet_timestamp, PF_VARINT):
			k->odd |= k->has_timestamp;
			k->timestamp = w.v;
			k->has_timestamp = true;
			break;
		case PF_TAG(PF_packet_trusted_packet_sequence_id, PF_VARINT):
			k->odd |= k->has_sequence;
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
			k->odd |= k->has_clock;
			k->clock = (uint32_t)w.v;
			k->has_clock = true;
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
			k->odd |= k->interned.p != NULL;
			k->interned = pf_wire_slice(&w);
			break;
		case PF_TAG(PF_packet_trace_packet_defaults, PF_BYTES):
			k->odd |= k->defaults.p != NULL;
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
				k->odd |= f != NULL ||
				          !pf_schema_is_extension(PF_MESSAGE_packet, pf_wire_number(&w));
				break;
			}
			if (k->ndata++ == 0) {
				k->kind = f->number;
				k->data = pf_wire_slice(&w);
			}
		}
		}
	}
	k->odd |= w.bad || k->ndata > 1;
	k->bad = w.bad;
}

/* ---- compressed packets ---- */

static void destroy_inner(struct shared_memory *m)
{
	struct pf_inner *const inner = (struct pf_inner *)(void *)m;

	free(inner->p);
	free(inner);
}

static void drop_inner(struct pf_state *st)
{
	if (st->inner_memory != NULL)
		shared_memory_drop(&st->inner_memory->memory);
	st->inner_memory = NULL;
	st->inner = slice_of(NULL, 0);
}

static PF_COLD void read_compressed(struct pf_state *st, const struct pf_packet *k)
{
	const uint32_t zlib = PF_TAG(PF_packet_compressed_packets, PF_BYTES);
	const uint32_t zstd = PF_TAG(PF_packet_zstd_compressed_packets, PF_BYTES);
	struct slice from[2] = { { NULL, 0, 0 }, { NULL, 0, 0 } };
	struct pf_wire w = pf_wire_on(k->s);

	if (st->is_inner) {
		finding_add(st->r->findings, &perfetto_rules[PF_RULE_INFLATE_NESTED], st->carrier,
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
	st->compression = 1U + is_zstd;
	const struct unpacked u = unpack(is_zstd ? UNPACK_ZSTD : UNPACK_ZLIB, from[is_zstd], PF_MAX_UNPACKED);
	drop_inner(st);
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
	st->carrier = st->offset;
	st->carrier_size = (uint64_t)(k->s.p + k->s.n - st->start);
	st->index = 0;
	st->r->referred += u.n;
	if (u.fault != NULL)
		pf_report(st, PF_RULE_INFLATE, "%s: %s", is_zstd ? "zstd" : "zlib", u.fault);
	else if (u.is_too_large)
		pf_report(st, PF_RULE_LIMIT,
		          "a packet unpacks to more than %u bytes: those beyond are not read",
		          PF_MAX_UNPACKED);
	else if (u.n == 0)
		pf_report(st, PF_RULE_INFLATE, "there is nothing in it");
}

/* ---- packets ---- */

static void read_data(struct pf_state *st, const struct pf_packet *k, uint32_t kind, struct slice s)
{
	switch (kind) {
	case PF_packet_track_event:
		pf_track_event(st, k, s);
		break;
	case PF_packet_track_descriptor:
		pf_descriptor(st, s);
		break;
	case PF_packet_thread_descriptor:
		pf_old_descriptor(st, s, true);
		break;
	case PF_packet_process_descriptor:
		pf_old_descriptor(st, s, false);
		break;
	case PF_packet_process_tree:
		pf_process_tree(st, s);
		break;
	case PF_packet_perf_sample:
	case PF_packet_streaming_profile_packet:
	case PF_packet_stack_sample:
	case PF_packet_profile_packet:
		pf_sample_packet(st, k);
		break;
	case PF_packet_compressed_packets:
	case PF_packet_zstd_compressed_packets:
		read_compressed(st, k);
		break;
	case PF_packet_trace_attributes:
		pf_attributes(st, s);
		break;
	case PF_packet_trace_uuid:
		pf_trace_uuid(st, s);
		break;
	default:
		break;
	}
}

/* Data of several kinds in a packet, which is no longer a oneof. */
static PF_COLD void read_all_data(struct pf_state *st, const struct pf_packet *k)
{
	struct pf_wire w = pf_wire_on(k->s);
	bool has_event = false;

	while (pf_wire_next(&w)) {
		const uint32_t number = pf_wire_number(&w);
		const struct pf_field *const f = pf_schema_field(&st->schema, PF_MESSAGE_packet, number);
		if (f == NULL || (f->flags & PF_IS_DATA) == 0 || (w.tag & 7) != PF_BYTES)
			continue;
		if (number == PF_packet_track_event) {
			if (has_event)
				continue;
			has_event = true;
		}
		read_data(st, k, number, pf_wire_slice(&w));
	}
}

/* Applies the data of a packet whose sequence state was applied. */
static void apply_data(struct pf_state *st, const struct pf_packet *k)
{
	const struct pf_sequence *const q = st->sequence;

	if (k->kind == PF_packet_clock_snapshot) {
		pf_snapshot(st, k->data);
		return;
	}
	if ((k->flags & PF_NEEDS) != 0 && q != NULL && !q->valid) {
		pf_report(st, PF_RULE_STATE_MISSING, "sequence %" PRIu32, q->id);
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

static const struct pf_te no_event;

/* Reads the fields of a packet and of its track event. */
static void decode_all(struct pf_state *st, struct slice s)
{
	struct pf_packet *const k = &st->packet;

	decode(st, k, s);
	if (k->kind == PF_packet_track_event && k->ndata == 1) {
		pf_decode_event(&st->te, k->data);
	} else if (k->ndata > 1) {
		struct pf_wire w = pf_wire_on(s);
		while (pf_wire_next(&w))
			if (w.tag == PF_TAG(PF_packet_track_event, PF_BYTES))
				pf_decode_event(&st->te, pf_wire_slice(&w));
	} else {
		st->te = no_event;
	}
}

/* Reads a packet and applies it to the state: sets st->event, and the events before and after it. */
static void read_packet(struct pf_state *st, struct slice s)
{
	struct pf_packet *const k = &st->packet;

	st->event.what = PF_NOTHING;
	st->nbefore = st->nafter = st->at_before = st->at_after = 0;
	decode_all(st, s);
	st->kinds[k->kind < PF_DIRECT ? k->kind : 0]++;
	if (k->odd || st->te.odd || k->kind != PF_packet_track_event || k->interned.p != NULL ||
	    k->defaults.p != NULL)
		pf_check(st, k);
	if (!k->bad && pf_sequence_apply(st, k))
		apply_data(st, k);
	if (st->ahead_pass || st->raw)
		st->nbefore = st->nafter = 0;
	if (st->ahead_pass)
		st->event.what = PF_NOTHING;
}

/* ---- events that wait ---- */

static void destroy_kept(struct shared_memory *m)
{
	struct pf_kept *const kept = (struct pf_kept *)(void *)m;

	free(kept->batch.fields);
	arena_free(&kept->batch.scratch);
	free(kept);
}

/* Whether the event is on a track whose events are to be sorted. */
static inline bool waits(const struct pf_state *st)
{
	const struct pf_event *const e = &st->event;

	return st->ahead != NULL && e->track != NULL && e->track->full->disordered && e->what >= PF_BEGIN &&
	       e->what <= PF_SPAN && !e->is_state && !st->raw;
}

/* Keeps a copy of the event. */
static PF_COLD void keep_waiting(struct pf_state *st)
{
	if (st->kept == NULL) {
		st->kept = calloc(1, sizeof *st->kept);
		if (st->kept == NULL) {
			st->r->no_memory = true;
			return;
		}
		shared_memory_init(&st->kept->memory, destroy_kept);
	}
	if (!array_reserve(&st->waiting, st->nwaiting, &st->waiting_cap, sizeof *st->waiting)) {
		st->r->no_memory = true;
		return;
	}
	struct batch *const b = &st->kept->batch;
	if (b->scratch.used + b->nfields * sizeof(struct field) + st->nwaiting * sizeof(struct pf_waiting) >
	    PF_MAX_WAITING) {
		pf_report_limit(st, PF_FULL_WAITING,
		                "events out of order take more than %u bytes: the others are left out",
		                PF_MAX_WAITING);
		return;
	}
	struct pf_waiting *const w = &st->waiting[st->nwaiting];
	*w = (struct pf_waiting){ .event = st->event, .offset = st->offset, .order = st->nwaiting };
	w->made = (struct event){ .name = { "", 0, 0 } };
	pf_make_event(st, b, &w->made);
	pf_copy_texts(b, &w->made);
	w->event.name = w->made.name;
	st->r->no_memory |= b->scratch.failed || b->engine.failed;
	st->nwaiting++;
}

static int compare_waiting(const void *a, const void *b)
{
	const struct pf_waiting *const x = a, *const y = b;

	return x->event.ts != y->event.ts ? (x->event.ts < y->event.ts ? -1 : 1)
	                                  : (x->order < y->order ? -1 : x->order > y->order);
}

/* ---- events of a record ---- */

/* Gives out an event without bytes. */
static enum record_status give_further(struct pf_state *st, struct record *rec, const struct pf_event *x)
{
	rec->role = RECORD_IS_MORE;
	rec->end = rec->p;
	rec->offset = st->offset;
	rec->ts = x->ts;
	if (pf_wants_model(st))
		rec->track = x->model != NULL ? x->model : pf_model(st, x->track, pf_event_name(st));
	st->further = x;
	return RECORD_DONE;
}

/* Gives out the next event that waited, now in order of time.  Returns false if there is none. */
static bool give_waiting(struct pf_state *st, struct record *rec)
{
	if (!st->sorted) {
		pf_nesting_sort(st);
		if (st->nwaiting > 0)
			qsort(st->waiting, st->nwaiting, sizeof *st->waiting, compare_waiting);
	}
	for (; st->at_waiting < st->nwaiting; st->at_waiting++) {
		struct pf_waiting *const w = &st->waiting[st->at_waiting];
		st->offset = w->offset;
		st->nbefore = st->at_before = 0;
		if (!w->nested) {
			w->nested = true;
			if (!pf_nest(st, &w->event))
				continue;
		}
		if (st->nbefore > 0) {
			give_further(st, rec, &st->before[st->at_before++]);
			return true;
		}
		st->waited = w;
		st->at_waiting++;
		give_further(st, rec, &w->event);
		return true;
	}
	return false;
}

/* Sets what the record is: an event, part of one, or structure. */
static void set_role(struct pf_state *st, struct record *rec)
{
	const struct pf_packet *const k = &st->packet;
	const struct pf_event *const e = &st->event;
	const uint32_t kind = k->kind < PF_DIRECT ? k->kind : 0;

	if (st->classes[kind] == NULL && (st->r->want & WANT_TIMES) != 0 && kind != 0) {
		const struct pf_field *const f = pf_schema_field(&st->schema, PF_MESSAGE_packet, kind);
		st->classes[kind] = f != NULL ? trace_add_class(st->r->trace, f->name) : st->structure;
		st->r->no_memory |= st->classes[kind] == NULL;
	}
	rec->cls = st->classes[kind] != NULL ? st->classes[kind] : st->structure;
	rec->role = RECORD_IS_STRUCTURE;
	rec->ts = 0;
	if (k->bad)
		rec->role = RECORD_IS_SKIPPED;
	if (e->what == PF_NOTHING || k->bad)
		return;
	rec->role = RECORD_IS_EVENT;
	rec->ts = e->ts;
	if ((st->r->want & WANT_TIMES) == 0)
		return;
	rec->track = e->model != NULL ? e->model : pf_model(st, e->track, pf_event_name(st));
	if (waits(st)) {
		keep_waiting(st);
		rec->role = RECORD_IS_PART;
	}
}

/* Reads the next packet of a compressed one.  Returns false if it is no packet, or the last one was read. */
static bool next_inner(struct pf_state *st)
{
	const char *const p = st->inner.p;
	uint64_t n = 0;

	if (st->inner.n == 0)
		return false;
	const char *const end = p + st->inner.n;
	const char *const content = *p == FRAME_TAG ? pf_varint(p + 1, end, &n) : NULL;
	st->is_inner = true;
	if (content == NULL || n > (uint64_t)(end - content)) {
		if (*p != FRAME_TAG || end - p > 2)
			pf_report(st, PF_RULE_INFLATE_INNER, "no packet at byte %zu of what is unpacked",
			          (size_t)(p - st->inner_memory->p));
		st->inner.n = 0;
		return false;
	}
	const uint64_t size = st->carrier_size - 1;
	st->offset = st->carrier + (st->index + 1 < size ? st->index + 1 : size);
	st->index++;
	read_packet(st, slice_of(content, n));
	st->ninner++;
	st->inner = slice_of(content + n, (size_t)(end - content - (ptrdiff_t)n));
	return true;
}

/* Gives out the raw record of the last packet of a compressed one, without bytes; with a track: it is an
 * event. */
static void give_raw(struct pf_state *st, struct record *rec)
{
	set_role(st, rec);
	if (rec->role != RECORD_IS_EVENT)
		rec->track = NULL;
	rec->role = RECORD_IS_MORE;
	rec->end = rec->p;
	rec->offset = st->offset;
	st->nbefore = st->at_before = st->nafter = st->at_after = 0;
}

/* Gives out events that belong to records before.  Returns false if there are none. */
static bool give_more(struct pf_state *st, struct record *rec)
{
	for (;;) {
		if (st->at_before < st->nbefore) {
			give_further(st, rec, &st->before[st->at_before++]);
			return true;
		}
		if (st->has_main) { /* of a packet inside a compressed one */
			st->has_main = false;
			give_further(st, rec, &st->event);
			st->further = NULL;
			return true;
		}
		if (st->at_after < st->nafter) {
			give_further(st, rec, &st->after[st->at_after++]);
			return true;
		}
		if (!next_inner(st)) {
			drop_inner(st);
			return false;
		}
		if (st->raw && (st->r->want & WANT_TIMES) != 0) {
			give_raw(st, rec);
			return true;
		}
		if (st->event.what == PF_NOTHING)
			continue;
		if (waits(st))
			keep_waiting(st);
		else
			st->has_main = true;
	}
}

/* ---- records ---- */

/* Bytes of the field at p, with its tag; 0: not length-delimited, or no field. */
static uint64_t field_length(const char *p, const char *end)
{
	uint64_t tag = 0, n = 0;
	const char *const head = pf_varint(p, end, &tag), *const content =
	                                                      head != NULL && (tag & 7) == PF_BYTES
	                                                          ? pf_varint(head, end, &n)
	                                                          : NULL;

	if (content == NULL)
		return 0;
	return n > UINT64_MAX / 2 ? n : n + (uint64_t)(content - p);
}

/* Bytes that start no packet: zeros, other fields of the file, or damage. */
static enum record_status read_other(struct pf_state *st, struct record *rec)
{
	const struct input *const in = st->r->in;
	struct pf_wire w = { .p = rec->p, .end = in->end };

	if (*rec->p == 0) {
		const char *p = rec->p;
		while (p < in->end && *p == 0)
			p++;
		if (st->zeros_end == 0 || st->zeros_end != rec->offset) /* else they go on in this window */
			pf_report(st, PF_RULE_FRAME_TAG, "zero bytes where a packet should start");
		st->zeros_end = rec->offset + (uint64_t)(p - rec->p);
		rec->end = p;
		rec->role = RECORD_IS_SKIPPED;
		rec->alone = true;
		return RECORD_DONE;
	}
	if (!in->last && in->end - rec->p < 2 * PF_VARINT_MAX)
		return RECORD_MORE;
	const uint64_t length = field_length(rec->p, in->end);
	if (length <= PF_MAX_PACKET && length > (uint64_t)(in->end - rec->p) && !in->last)
		return RECORD_MORE;
	if (length <= PF_MAX_PACKET && pf_wire_next(&w) && w.tag != PF_TAG(1, PF_BYTES)) {
		pf_report(st, PF_RULE_FRAME_FIELD, "field %" PRIu32 ", %" PRIu64 " bytes", pf_wire_number(&w),
		          (uint64_t)(w.p - rec->p));
		rec->end = w.p;
		rec->role = RECORD_IS_GAP;
		rec->alone = true;
		return RECORD_DONE;
	}
	pf_report(st, PF_RULE_FRAME_TAG, "the byte 0x%02x instead of 0x0a", (uint8_t)*rec->p);
	return begin_search(st, rec);
}

#define MAX_OF_PERFETTO ((UINT64_C(1) << 28) - 1) /* bytes of a packet */

static PF_COLD enum record_status read_cut(struct pf_state *st, struct record *rec, uint64_t n)
{
	if (n > PF_MAX_PACKET && n <= MAX_OF_PERFETTO)
		pf_report(st, PF_RULE_LIMIT, "a packet of %" PRIu64 " bytes is not read, the maximum is %u",
		          n, PF_MAX_PACKET);
	else if (n > PF_MAX_PACKET)
		pf_report(st, PF_RULE_CUT,
		          "a packet of %" PRIu64 " bytes, Perfetto has none of more than %" PRIu64, n,
		          MAX_OF_PERFETTO);
	else if (n == 0)
		pf_report(st, PF_RULE_CUT, "the length of the packet cannot be read");
	else
		pf_report(st, PF_RULE_CUT, "a packet of %" PRIu64 " bytes, of which the input holds %" PRIu64,
		          n, (uint64_t)(st->r->in->end - rec->p));
	return begin_search(st, rec);
}

static void start_record(struct pf_state *st, const struct record *rec)
{
	st->start = rec->p;
	st->offset = rec->offset;
	st->ordinal = rec->ordinal;
	st->is_inner = false;
}

/* Returns the end of the frame at the start of the window; NULL: see *status. */
static const char *read_frame(struct pf_state *st, struct record *rec, struct slice *content,
                              enum record_status *status)
{
	const struct input *const in = st->r->in;
	uint64_t n = 0;

	*status = RECORD_MORE;
	if (!st->applied)
		start_record(st, rec);
	if (rec->p == in->end) {
		*status = !in->last ? RECORD_MORE : st->lost ? RECORD_BAD : RECORD_END;
		return NULL;
	}
	if (*rec->p != FRAME_TAG) {
		*status = read_other(st, rec);
		return NULL;
	}
	const char *const p = pf_varint(rec->p + 1, in->end, &n);
	if (p == NULL) {
		if (in->last || in->end - rec->p > PF_VARINT_MAX)
			*status = read_cut(st, rec, 0);
		return NULL;
	}
	if (n > PF_MAX_PACKET || (n > (uint64_t)(in->end - p) && in->last)) {
		*status = read_cut(st, rec, n);
		return NULL;
	}
	if (n > (uint64_t)(in->end - p))
		return NULL;
	*content = slice_of(p, n);
	return p + n;
}

/* Sets clock and epoch of the trace as far as `from` knows them. */
static void set_clock(struct pf_state *st, const struct pf_state *from)
{
	pf_clocks_facts(st, &from->clocks);
	if (from->own_clock.p == NULL)
		return;
	const struct slice s = arena_copy(&st->r->trace->arena, from->own_clock);
	st->r->no_memory |= s.p == NULL;
	st->r->trace->clock = s.p != NULL ? s.p : st->r->trace->clock;
}

/* Looks at the whole file for what comes after its use, before the first record. */
static PF_COLD bool look_ahead(struct pf_state *st)
{
	st->asked = true;
	if ((st->r->want & WANT_TIMES) == 0 || st->raw || st->r->ahead_of != NULL)
		return true;
	const enum look_ahead found = reader_look_ahead(st->r);
	st->r->no_memory |= found == LOOK_AHEAD_FAILED;
	if (st->ahead != NULL)
		set_clock(st, st->ahead);
	return found != LOOK_AHEAD_FAILED;
}

/* Reads all packets of a compressed one: recovery decides for them at once. */
static PF_COLD void check_inner(struct pf_state *st)
{
	while (next_inner(st))
		st->nbefore = st->at_before = st->nafter = st->at_after = 0;
	drop_inner(st);
}

static enum record_status pf_record(struct reader *r, struct record *rec)
{
	struct pf_state *const st = r->state;
	enum record_status status;
	struct slice content;

	rec->cls = st->structure;
	rec->track = NULL;
	rec->ts = 0;
	rec->alone = false;
	st->further = NULL;
	st->waited = NULL;
	if (!st->asked && !look_ahead(st))
		return RECORD_END;
	if (!st->applied && (st->nbefore | st->nafter | st->inner.n) != 0 && give_more(st, rec))
		return RECORD_DONE;
	if (st->searching) {
		start_record(st, rec);
		return search(st, rec);
	}
	const char *const end = read_frame(st, rec, &content, &status);
	if (end == NULL) {
		if ((status == RECORD_END || status == RECORD_BAD) && st->nwaiting > 0 &&
		    give_waiting(st, rec))
			return RECORD_DONE;
		return status;
	}
	if (!st->applied) {
		start_record(st, rec);
		read_packet(st, content);
	} else {
		start_record(st, rec);
		decode_all(st, content);
	}
	if (!st->applied && st->nbefore > 0) {
		st->applied = true;
		give_further(st, rec, &st->before[st->at_before++]);
		return RECORD_DONE;
	}
	if (st->applied && st->at_before < st->nbefore) {
		give_further(st, rec, &st->before[st->at_before++]);
		return RECORD_DONE;
	}
	st->applied = false;
	rec->end = end;
	set_role(st, rec);
	if (r->recovers && st->inner.n > 0)
		check_inner(st);
	return RECORD_DONE;
}

/* ---- the reader ---- */

static void pf_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	struct pf_state *const st = r->state;

	if (rec->role == RECORD_IS_STRUCTURE)
		return;
	if (st->is_inner && st->inner_memory != NULL && st->waited == NULL &&
	    !batch_hold(b, &st->inner_memory->memory))
		r->no_memory = true;
	e->offset = st->offset;
	if (st->waited != NULL) {
		const struct pf_waiting *const w = st->waited;
		struct field *const f = batch_event_fields(b, e, w->made.nfields);
		if (f != NULL && w->made.nfields > 0)
			memcpy(f, st->kept->batch.fields + w->made.first_field, w->made.nfields * sizeof *f);
		e->ts = w->event.ts;
		e->dur = w->made.dur;
		e->name = w->made.name;
		e->cls = w->made.cls;
		e->phase = w->made.phase;
		e->track = w->event.model != NULL ? w->event.model : w->made.track;
		r->no_memory |= !batch_hold(b, &st->kept->memory);
	} else if (st->further != NULL) {
		pf_make_further(st, b, st->further, e);
	} else {
		pf_make_event(st, b, e);
	}
}

static void pf_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	struct pf_state *const st = r->state;

	if (st->is_inner && st->inner_memory != NULL && !batch_hold(b, &st->inner_memory->memory))
		r->no_memory = true;
	pf_raw_fields(st, rec, b, e);
}

static bool pf_open(struct reader *r)
{
	struct pf_state *const st = r->state;

	st->r = r;
	st->raw = (r->want & WANT_RAW) != 0;
	st->ahead_pass = r->ahead_of != NULL;
	st->builds = (r->want & WANT_TIMES) != 0 || st->ahead_pass;
	st->seed = hash_seed();
	pf_schema_init(&st->schema);
	r->trace->dialect = "58";
	r->trace->byte_order = "little";
	r->trace->clock = "unknown";
	st->structure = trace_add_class(r->trace, SLICE_LIT("packet"));
	return st->structure != NULL;
}

/* Names tracks without a name after their first events, in memory that is handed over. */
static void name_tracks(struct pf_state *st)
{
	for (uint32_t i = 0; i < st->ntracks; i++) {
		struct pf_description *const d = &st->tracks[i]->d;
		if (d->name.n == 0 && d->first_name.n > 0 &&
		    (d->kind == PF_PLAIN || d->kind == PF_UNDESCRIBED)) {
			const struct slice copy = arena_copy(&st->arena, d->first_name);
			st->r->no_memory |= copy.p == NULL;
			d->name = copy.p != NULL ? textscan_slice(copy.p, copy.n) : slice_of("", 0);
		}
		d->first_name = slice_of(NULL, 0);
	}
}

/* Hands over what a pass ahead found. */
static void hand_over(struct pf_state *st)
{
	struct pf_state *const to = (struct pf_state *)(uintptr_t)st->r->ahead_of;
	struct pf_state *const copy = malloc(sizeof *copy);
	struct reader *const r = st->r;

	if (copy == NULL) {
		r->no_memory = true;
		return;
	}
	name_tracks(st);
	memcpy(copy, st, sizeof *copy);
	memset(st, 0, sizeof *st);
	st->r = r;
	to->ahead = copy;
}

/* Reports what may occur in each packet once, with its number. */
static void report_tallies(struct pf_state *st)
{
	const struct finding_tally *const back = &st->time_back, *const flag = &st->needs_flag;

	finding_add_times(st->r->findings, &perfetto_rules[PF_RULE_TIME_BACK], back->offset, back->record,
	                  back->count, "%" PRIu64 " after %" PRIu64, back->now, back->before);
	finding_add_times(st->r->findings, &perfetto_rules[PF_RULE_NEEDS_FLAG], flag->offset, flag->record,
	                  flag->count, "a name or category by number");
}

static void pf_end(struct reader *r)
{
	struct pf_state *const st = r->state;

	pf_late_end(st, NULL);
	pf_clocks_end(st);
	pf_tracks_end(st);
	if (st->ahead_pass) {
		pf_arrows_sort(st);
		hand_over(st);
		return;
	}
	pf_nesting_end(st);
	report_tallies(st);
	pf_facts(st);
	set_clock(st, st);
}

static void free_state(struct pf_state *st)
{
	drop_inner(st);
	if (st->kept != NULL)
		shared_memory_drop(&st->kept->memory);
	pf_sequences_free(st);
	pf_clocks_free(&st->clocks);
	pf_tracks_free(st);
	tabletext_free(&st->class_names);
	table64_free(&st->flows);
	table64_free(&st->arrow_numbers);
	free(st->flow_ends);
	free(st->flow_steps);
	free(st->before);
	free(st->after);
	free(st->held);
	free(st->waiting);
	arena_free(&st->arena);
}

static void pf_close(struct reader *r)
{
	struct pf_state *const st = r->state;

	if (st->ahead != NULL)
		free_state(st->ahead);
	free(st->ahead);
	free_state(st);
}

const struct reader_ops perfetto_reader_ops = {
	.state_size = sizeof(struct pf_state),
	.probe = probe,
	.open = pf_open,
	.record = pf_record,
	.event = pf_event,
	.fields = pf_fields,
	.end = pf_end,
	.close = pf_close,
};
