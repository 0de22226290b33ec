/*
 * Private header of the reader of Perfetto traces.
 *
 * A packet passes through these files: read.c gets its bytes from frames.c and its fields from packets.c.
 * packets.c applies it in the order of Perfetto's importer: its sequence (sequences.c), its time (clocks.c),
 * its data, which is a track event (events.c, nesting.c), a descriptor (tracks.c), a sample (samples.c,
 * profiles.c) or a fact (facts.c).  The result is in st->event and the lists `before` and `after`.  If events
 * are wanted, values.c makes events of the model, or raw.c those of raw packets.
 *
 *   read.c        the reader: findings, events of a record, the look-ahead
 *   frames.c      frames, the search after damage, packets above the limit, recovery
 *   packets.c     fields of a packet, compressed packets
 *   check.c       packets against the schema: wire types, enums, texts
 *   sequences.c   state of sequences, interned data
 *   clocks.c      clock snapshots, conversion of times
 *   tracks.c      descriptors
 *   lanes.c       tracks of the model, lanes
 *   events.c      track events: kind, time, track
 *   counters.c    values of counters in track events
 *   nesting.c     begins and ends of a track, arrows
 *   waiting.c     events of tracks that are not in order of time
 *   values.c      events of the model: classes, names, arguments
 *   samples.c     samples with call stacks
 *   profiles.c    CPU profiles of V8
 *   types.c       types that the trace describes, values of messages of such a type
 *   facts.c       facts of the whole trace
 *   raw.c         fields of raw packets
 *   state.h       what they share: struct pf_state
 */
#ifndef PERFETTO_READ_READ_H
#define PERFETTO_READ_READ_H

#include "base/compiler.h"
#include "perfetto/read/state.h"

/* ---- read.c ---- */

extern const struct reader_ops perfetto_reader_ops;

/* Reports a finding of the record: its offset is that of the packet.  Returns false. */
bool pf_report(struct pf_state *st, enum pf_rule rule, const char *fmt, ...) COLD PRINTF(3, 4);

/* Reports that a table is full, once. */
void pf_report_limit(struct pf_state *st, enum pf_limit which, const char *fmt, ...) COLD PRINTF(3, 4);

/* ---- frames.c ---- */

#define PF_FRAME_TAG 0x0a /* field 1, length-delimited */

/* Returns the number of verified bits, for reader_ops.probe. */
int pf_probe(struct slice head, bool complete);

/* Returns the end of the packet at the start of the window; NULL: see *status; RECORD_DONE: the bytes of
 * `rec` are no packet. */
const char *pf_frame(struct pf_state *st, struct record *rec, struct slice *content,
                     enum record_status *status);

/* Removes the first packet from `rest`; frame: with its tag and size.  Returns false if none is whole. */
bool pf_next_frame(struct slice *rest, struct slice *frame, struct slice *content);

/* Whether recovery drops a packet for this rule: it cannot be read, or Perfetto refuses the file for it. */
bool pf_breaks(enum pf_rule rule);

/* ---- packets.c ---- */

/* Sets st->packet, and st->te if the packet has a track event. */
void pf_packet_decode(struct pf_state *st, struct slice s);

/* Reads a packet and applies it to the state: sets st->event, and the events before and after it. */
void pf_packet_read(struct pf_state *st, struct slice s);

/* Reads the next packet of a compressed one.  Returns false after the last one, or if there is no packet. */
bool pf_inner_next(struct pf_state *st);
void pf_inner_drop(struct pf_state *st);

/* ---- sequences.c ---- */

/* Sets st->sequence and applies flags, defaults and interned data of the packet.  Returns false if its data
 * is dropped. */
bool pf_sequence_apply(struct pf_state *st, const struct pf_packet *k);

void pf_sequences_free(struct pf_state *st);

/* Copies a text into the memory of the trace; equal texts once.  p NULL: no memory, or the limit. */
struct slice pf_trace_text(struct pf_state *st, struct slice s);

/* Reports uses of entries that were never defined. */
void pf_undefined_end(struct pf_state *st, const struct pf_sequence *s);

/* Reads the extra counters that a TrackEvent or TrackEventDefaults states: of integers, of doubles. */
void pf_extra_read(struct slice event, struct pf_extra_of of[2]);

void pf_entry_add(struct pf_state *st, struct pf_sequence *s, enum pf_table_id table, struct slice bytes);
void pf_tables_empty(struct pf_state *st, struct pf_sequence *s);

/* Returns an entry; NULL: it is undefined. */
static inline struct pf_entry *pf_entry_find(const struct pf_sequence *s, enum pf_table_id table,
                                             uint64_t iid)
{
	const struct pf_table *const t = s->tables != NULL ? &s->tables[table] : NULL;

	if (t != NULL && iid - 1 < t->n && t->list[iid - 1].iid == iid)
		return &t->list[iid - 1];
	const uint32_t i = t != NULL ? table64_get(&t->index, iid) : TABLE_NONE;
	return i != TABLE_NONE ? &t->list[i] : NULL;
}

/* Notes or reports that st->sequence does not define an entry so far. */
void pf_undefined_note(struct pf_state *st, enum pf_table_id table, uint64_t iid) COLD;

/* Returns an entry of st->sequence, which is not NULL; if it is undefined, NULL after a finding. */
static inline const struct pf_entry *pf_entry_use(struct pf_state *st, enum pf_table_id table, uint64_t iid)
{
	const struct pf_entry *const e = pf_entry_find(st->sequence, table, iid);

	if (e == NULL)
		pf_undefined_note(st, table, iid);
	return e;
}

/* ---- clocks.c ---- */

/* A clock of a snapshot. */
struct pf_clock_reading {
	uint64_t key, time, unit; /* key: set by clocks.c */
	uint32_t id;
	bool is_incremental;
};

struct pf_clock_reading pf_read_clock(struct slice s);

/* Returns the default clock of packets after a snapshot; before: the one before it.  0: none. */
uint32_t pf_trace_clock(struct slice snapshot, uint32_t before);

void pf_clocks_free(struct pf_clocks *c);
void pf_snapshot(struct pf_state *st, struct slice bytes);

/* Converts a time in units of the clock MONOTONIC to one of the trace. */
enum pf_time pf_convert_monotonic(struct pf_state *st, uint64_t value, uint64_t *ts);

/* Likewise of any clock; one without an earlier snapshot is reported at the end of the file. */
enum pf_time pf_convert_noted(struct pf_state *st, uint32_t clock, uint64_t value, uint64_t *ts);

/* Sets the time of a packet that has a timestamp.  Advances its clock if that is incremental.  Notes the
 * packet if no snapshot before it has the clock. */
enum pf_time pf_packet_time(struct pf_state *st, const struct pf_packet *k, uint64_t *ts);

/* Notes the event of a packet whose clock has no snapshot yet.  At the end it is subtracted from the counts
 * if no snapshot followed or its time is out of range. */
void pf_late_event(struct pf_state *st);

/* Reports clocks whose snapshots were late or missing, and sets clock and epoch of the trace. */
void pf_clocks_end(struct pf_state *st);
void pf_clocks_facts(struct pf_state *st, const struct pf_clocks *c);

/* ---- tracks.c ---- */

/* pf_known_track() and pf_track() of a track that is not in the cache. */
struct pf_track *pf_known_track_slow(struct pf_state *st, uint64_t uuid) COLD;
struct pf_track *pf_track_slow(struct pf_state *st, uint64_t uuid) COLD;

static inline struct pf_track **pf_recent_slot(struct pf_state *st, uint64_t uuid)
{
	return &st->recent[(uuid ^ uuid >> 17) % PF_RECENT];
}

static inline bool pf_is_recent(struct pf_state *st, uint64_t uuid)
{
	const struct pf_track *const t = *pf_recent_slot(st, uuid);

	return t != NULL && t->uuid == uuid;
}

/* Finds the track of a uuid.  NULL: none so far. */
static inline struct pf_track *pf_known_track(struct pf_state *st, uint64_t uuid)
{
	return pf_is_recent(st, uuid) ? *pf_recent_slot(st, uuid) : pf_known_track_slow(st, uuid);
}

/* Finds or adds the track of a uuid.  NULL: the limit, or OOM. */
static inline struct pf_track *pf_track(struct pf_state *st, uint64_t uuid)
{
	return pf_is_recent(st, uuid) ? *pf_recent_slot(st, uuid) : pf_track_slow(st, uuid);
}

/* Returns the thread of this pid and tid, or the process if tid is NULL. */
struct pf_track *pf_thread(struct pf_state *st, int32_t pid, const int64_t *tid);

void pf_descriptor(struct pf_state *st, struct slice bytes);

/* Applies a metadata event of a thread or process, whose key is process_name or thread_name. */
void pf_name_task(struct pf_state *st, struct pf_track *t, struct slice key, struct slice name);
void pf_old_descriptor(struct pf_state *st, struct slice bytes, bool is_thread);
void pf_process_tree(struct pf_state *st, struct slice bytes);

/* Returns the key of a plain track in st->own_children. */
uint64_t pf_sibling_key(const struct pf_state *st, uint64_t parent, struct slice name);

/* Returns the first requirement (bits of enum pf_needs) that the track, as described so far, does not meet,
 * as text; NULL: it meets all. */
const char *pf_lacking(const struct pf_state *st, const struct pf_track *t, uint8_t needs);

/* Reports tracks whose parents lead to no root, and tracks that are never described. */
void pf_tracks_end(struct pf_state *st);
void pf_tracks_free(struct pf_state *st);

/* ---- lanes.c ---- */

/* Returns the track of the model.  name: of the event, for tracks without a name; may be empty. */
const struct track *pf_model(struct pf_state *st, struct pf_track *t, struct slice name);

/* Cuts a name of which there may be many copies. */
struct slice pf_short_name(struct pf_state *st, struct slice name);

/* Assigns a lane to a track of a group; pf_lane_free() gives it back. */
const struct track *pf_lane_take(struct pf_state *st, struct pf_track *t, struct slice name);
void pf_lane_free(struct pf_state *st, struct pf_track *t);

/* ---- events.c ---- */

/* Whether tracks of the model are needed. */
static inline bool pf_wants_model(const struct pf_state *st)
{
	return (st->r->want & WANT_TIMES) != 0;
}

/* Whether events are read without a look-ahead, which reports for both passes. */
static inline bool pf_reads_once(const struct pf_state *st)
{
	return pf_wants_model(st) && !st->raw && st->ahead == NULL;
}

/* Converts microseconds of the clock MONOTONIC.  Without a snapshot, after a finding, it is that of the
 * trace. */
enum pf_time pf_legacy_time(struct pf_state *st, int64_t us, uint64_t *ts);

/* Reads a TrackEvent. */
void pf_decode_event(struct pf_event_fields *te, struct slice s);
void pf_decode_legacy(struct pf_legacy *l, struct slice s);

static inline int64_t pf_saturated_sum(int64_t a, int64_t b)
{
	int64_t sum;

	return ckd_add(&sum, a, b) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* Converts microseconds to ns.  Returns false if they exceed 64 bits: *ns is the nearest number. */
static inline bool pf_us_in_ns(int64_t us, int64_t *ns)
{
	const bool fits = !ckd_mul(ns, us, (int64_t)1000);

	if (!fits)
		*ns = us < 0 ? INT64_MIN : INT64_MAX;
	return fits;
}

/* Returns the iid of the name of st->te; 0: no name, or a name as text. */
static inline uint64_t pf_name_iid(const struct pf_state *st)
{
	const struct pf_event_fields *const te = &st->te;

	if (te->name_iid != 0)
		return te->name_iid;
	return te->name.p == NULL && te->legacy.p != NULL ? st->legacy.name_iid : 0;
}

/* Whether events of the track wait to be sorted by time. */
static inline bool pf_is_sorted_later(const struct pf_state *st, const struct pf_track *t)
{
	return st->ahead != NULL && t->final->disordered && st->released == NULL;
}

/* A state lasts until the next one of its track: adds the end of the one before.  Returns false if there is
 * none and e begins none. */
bool pf_change_state(struct pf_state *st, struct pf_event *e);

/* Applies the track event of the packet: sets st->event, and the events before and after it. */
void pf_track_event(struct pf_state *st, const struct pf_packet *k);

/* Adds an event after (before) that of the record. */
void pf_add_after(struct pf_state *st, const struct pf_event *e);
void pf_add_before(struct pf_state *st, const struct pf_event *e);

/* ---- counters.c ---- */

/* Sets the value of a counter event; e->kind becomes PF_NOTHING after a finding. */
void pf_read_counter(struct pf_state *st, struct pf_event *e);

/* Adds values of extra counters after the event.  Returns false after a finding: the event is dropped. */
bool pf_read_extras(struct pf_state *st, const struct pf_event *e);

/* The same for thread time and instructions, which are counters of the thread t, also if an async event
 * states them. */
bool pf_read_thread_time(struct pf_state *st, const struct pf_event *e, struct pf_track *t);

/* ---- waiting.c ---- */

/* Notes an event of a track, at st->offset. */
void pf_least_note(struct pf_state *st, struct pf_least_times *l, uint64_t ts);

/* Ends the notes of all tracks. */
void pf_least_end(struct pf_state *st);
void pf_least_free(struct pf_least_times *l);

/* Lets st->event, or an arrow of it, wait. */
void pf_waiting_add(struct pf_state *st, const struct pf_event *x);

/* Whether events, if any wait, are given out before the packet at this offset. */
bool pf_waiting_due(struct pf_state *st, uint64_t offset);

/* Returns the event at st->at_released; NULL: the others still wait.  If no event is given out yet, all will
 * be. */
struct pf_waiting *pf_waiting_next(struct pf_state *st);
void pf_waiting_free(struct pf_state *st);

/* ---- nesting.c ---- */

/* Enters a begin, end, instant or span into the stack of its track, and adds the ends of inner spans before
 * it.  Returns false if the event is dropped. */
bool pf_nest(struct pf_state *st, struct pf_event *e);

/* Adds an end of an arrow after the event.  key: identifies the arrow; id: its id in outputs; legacy: the
 * event is a legacy event, for which the order in the file counts.  Of an event of kind PF_NOTHING, which is
 * dropped, a look-ahead notes the ends. */
void pf_arrow(struct pf_state *st, uint64_t key, uint64_t id, enum pf_step step, bool legacy,
              const struct pf_event *e);

/* Makes st->flow_steps of the ends that a look-ahead has noted. */
void pf_arrows_sort(struct pf_state *st);

/* Defers a finding of the record to the end of the file. */
void pf_defer(struct pf_state *st, enum pf_rule rule, const struct pf_track *t) COLD;

/* Defers the finding that the track does not meet the requirements of the current event.  s: see struct
 * pf_deferred. */
void pf_defer_legacy(struct pf_state *st, const struct pf_track *t, const struct pf_sequence *s,
                     uint8_t needs) COLD;

/* Reports deferred findings and spans that are still open, and frees the stacks of tracks. */
void pf_nesting_end(struct pf_state *st);

/* ---- values.c ---- */

/* Returns the name of the event; p NULL: none. */
struct slice pf_event_name(const struct pf_state *st);

/* Counts the fields with this tag. */
uint32_t pf_count(struct slice s, uint32_t tag);

/* Returns a list, with the common type of its elements. */
struct value pf_list(const struct value *v, uint32_t n);

/* Returns the name and value of an annotation; VALUE_NONE: it has no name or no value. */
struct field pf_annotation(struct pf_state *st, struct batch *b, struct slice annotation, unsigned depth);

/* Checks the annotations of st->te. */
void pf_annotations_check(struct pf_state *st);

/* Sets name, class and fields of the event of the packet. */
void pf_make_event(struct pf_state *st, struct batch *b, struct event *e);

/* Same as pf_make_event() for an event before or after it, which has no fields of the packet. */
void pf_make_further(struct pf_state *st, struct batch *b, const struct pf_event *x, struct event *e);

/* Copies what the event's name and fields point to into the batch. */
void pf_copy_values(struct batch *b, struct event *e);

/* ---- samples.c ---- */

void pf_sample_packet(struct pf_state *st, const struct pf_packet *k);
void pf_sample_fields(struct pf_state *st, struct batch *b, const struct pf_event *x, struct event *e);

#define PF_STACK_FIELDS 3

/* Sets the fields of a call stack: lists of frames, mappings and build ids, the leaf first.  Returns their
 * number: the last two are absent if no frame has them. */
uint32_t pf_stack(struct pf_state *st, const struct pf_sequence *s, struct batch *b, uint64_t iid,
                  struct field f[PF_STACK_FIELDS]);

/* Returns an inline call stack, which has no iid, as a list of frames, the leaf first. */
struct value pf_inline_stack(struct batch *b, struct slice stack);

/* Checks a call stack at its first use. */
void pf_stack_check(struct pf_state *st, const struct pf_sequence *s, uint64_t iid);

/* ---- profiles.c ---- */

void pf_profiles_begin(struct pf_state *st);

/* Reads a legacy event of phase P, on track t.  Sets st->event and st->samples_left if it has samples. */
void pf_profile_event(struct pf_state *st, struct pf_track *t);

/* Returns the next of st->samples_left; valid until the next call. */
const struct pf_event *pf_profile_next(struct pf_state *st);

/* ---- types.c ---- */

/* Adds the messages of Chromium that Perfetto's schema has. */
void pf_types_begin(struct pf_state *st);

/* Adds the types of an ExtensionDescriptor. */
void pf_types_read(struct pf_state *st, struct slice descriptor);
void pf_types_free(struct pf_types *types);

/* Returns a field of the event whose type the trace may describe.  name: p NULL: that of the description. */
struct field pf_typed_field(struct pf_state *st, struct batch *b, const struct pf_wire *w, struct slice name);

/* Returns a message of the type with this full name, which begins with a dot; bytes if it is unknown.
 * depth: of messages around it. */
struct value pf_typed_value(struct pf_state *st, struct batch *b, struct slice type, struct slice s,
                            unsigned depth);

/* ---- check.c ---- */

/* Whether a message and those in it have only fields of the schema, with its types, and none twice. */
bool pf_matches_schema(const struct pf_schema *schema, enum pf_message m, struct slice s, unsigned depth,
                       uint64_t *work);

/* Reports violations of the schema in the packet. */
void pf_check(struct pf_state *st, const struct pf_packet *k) COLD;

/* Reports violations of the schema in them: decoding found none in the other fields of the packet. */
void pf_check_contents(struct pf_state *st, const struct pf_event_fields *te);

/* ---- facts.c ---- */

/* Adds facts of the trace that a packet states. */
void pf_attributes(struct pf_state *st, struct slice bytes);
void pf_trace_uuid(struct pf_state *st, struct slice bytes);

/* Adds facts that are known at the end, and reports packets that were only counted. */
void pf_facts(struct pf_state *st);

/* ---- raw.c ---- */

void pf_raw_fields(struct pf_state *st, const struct record *rec, struct batch *b, struct event *e);

#endif
