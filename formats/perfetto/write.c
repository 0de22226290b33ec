/*
 * The writer: one sequence of packets in time order.  Texts are defined before they are used, so every event
 * depends on those before it, and one thread at a time writes.
 *
 * The importer sorts packets by time, and those of equal time by their position in the file.  So the end of a
 * span is written with the next event of its track: after everything that the span contains, and before
 * events of its own time.
 */
#include <math.h>
#include <stdlib.h>

#include "model/call_stack.h"
#include "model/event_traits.h"
#include "perfetto/perfetto.h"

#define MAX_DEPTH 500                 /* open spans of one track; the importer drops those deeper than 512 */
#define MAX_SERIES (1U << 20)         /* tracks of counters */
#define MAX_EXACT (UINT64_C(1) << 53) /* the importer stores counter values as doubles */

const struct loss perfetto_losses[PERFETTO_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "perfetto/losses.def"
#undef LOSS
	{ .id = NULL }
};

/* ---- packets ---- */

/* A track event whose other members are in st->body. */
struct track_event {
	uint64_t ts, track;      /* track: uuid */
	uint64_t name, category; /* iids; 0: none */
	unsigned type;
};

/* Writes a field of a track event unless its value is 0. */
static inline char *put_number(char *p, unsigned field, uint64_t v)
{
	if (v == 0)
		return p;
	*p++ = (char)PF_TAG(field, PF_VARINT);
	return wire_put(p, v);
}

/* defs: interned data, which may be empty; NULL: the event uses none. */
static inline char *put_packet_head(struct text *t, uint64_t ts, size_t event, const struct text *defs)
{
	const size_t with = defs != NULL && defs->n > 0 ? 1 + wire_size(defs->n) + defs->n : 0;
	const size_t packet =
	    1 + wire_size(ts) + 2 + (defs != NULL ? 2 : 0) + with + 1 + wire_size(event) + event;
	char *p = text_reserve(t, packet + 2 * PF_VARINT_MAX);

	if (p == NULL)
		return NULL;
	*p++ = (char)PF_TAG(PF_TRACE_PACKET, PF_BYTES);
	p = wire_put(p, packet);
	*p++ = (char)PF_TAG(PF_packet_timestamp, PF_VARINT);
	p = wire_put_large(p, ts);
	*p++ = (char)PF_TAG(PF_packet_trusted_packet_sequence_id, PF_VARINT);
	*p++ = 1;
	if (defs != NULL) {
		*p++ = (char)PF_TAG(PF_packet_sequence_flags, PF_VARINT);
		*p++ = PF_NEEDS;
	}
	if (with > 0) {
		*p++ = (char)PF_TAG(PF_packet_interned_data, PF_BYTES);
		p = wire_put(p, defs->n);
		memcpy(p, defs->p, defs->n);
		p += defs->n;
	}
	*p++ = (char)PF_TAG(PF_packet_track_event, PF_BYTES);
	return wire_put(p, event);
}

static void put_event(struct perfetto_state *st, const struct track_event *e)
{
	char head[5 * PF_VARINT_MAX], *h = head;

	h = put_number(h, PF_event_type, e->type);
	h = put_number(h, PF_event_name_iid, e->name);
	h = put_number(h, PF_event_track_uuid, e->track);
	h = put_number(h, PF_event_category_iids, e->category);
	const size_t n = (size_t)(h - head);
	struct text *const t = &st->chunk->text;
	char *p = put_packet_head(t, e->ts, n + st->body.n, &st->defs);
	if (p == NULL)
		return;
	memcpy(p, head, n);
	p += n;
	if (st->body.n > 0)
		memcpy(p, st->body.p, st->body.n);
	t->n = (size_t)(p + st->body.n - t->p);
	t->failed |= st->body.failed || st->defs.failed;
	text_clear(&st->body);
	text_clear(&st->defs);
}

static void put_end(struct perfetto_state *st, uint64_t ts, uint64_t track)
{
	struct text *const t = &st->chunk->text;
	char *p = put_packet_head(t, ts, 2 + 1 + wire_size(track), NULL);

	if (p == NULL)
		return;
	p = put_number(p, PF_event_type, PF_EVENT_END);
	t->n = (size_t)(put_number(p, PF_event_track_uuid, track) - t->p);
}

/* ---- names ---- */

/* Returns the iid of a text; 0: the text was written into st->body. */
static uint32_t text_iid(struct perfetto_state *st, enum perfetto_kind kind, unsigned field, struct slice s)
{
	const uint32_t iid = perfetto_intern(st, kind, s);

	if (iid == 0)
		perfetto_put_text(st, &st->body, field, s);
	return iid;
}

static uint32_t name_iid(struct perfetto_state *st, struct slice name)
{
	return text_iid(st, KIND_NAME, PF_event_name, name);
}

static uint32_t category_iid(struct perfetto_state *st, const struct event *e)
{
	const struct class *const cls = e->cls;
	const uint32_t row = cls->index % PERFETTO_CLASSES;

	if (st->categories[row].cls == cls && st->categories[row].category == cls->category.p)
		return st->categories[row].iid;
	if (event_category(e).n == 0)
		return 0;
	const uint32_t iid = text_iid(st, KIND_CATEGORY, PF_event_categories, cls->category);
	if (iid != 0 && st->tables[KIND_CATEGORY].entries[iid - 1].losses == 0) {
		st->categories[row].cls = cls;
		st->categories[row].category = cls->category.p;
		st->categories[row].iid = iid;
	}
	return iid;
}

static void put_named(struct perfetto_state *st, const struct batch *b, const struct event *e, unsigned type,
                      uint64_t ts, uint64_t track)
{
	struct track_event x = { .ts = ts, .track = track, .type = type };

	x.name = name_iid(st, e->name);
	x.category = category_iid(st, e);
	perfetto_args(st, b, e);
	if (call_stack_of_class(e->cls))
		perfetto_sample(st, b, e);
	put_event(st, &x);
}

/* ---- counters ---- */

static const struct class_field *declared_field(const struct class *cls, struct slice name)
{
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (slice_equal(cls->fields[i].name, name))
			return &cls->fields[i];
	return NULL;
}

static void put_unit(struct text *t, const char *unit)
{
	static const struct {
		const char *name;
		unsigned number;
	} known[] = { { "ns", PF_UNIT_NS },
		      { "count", PF_UNIT_COUNT },
		      { "byte", PF_UNIT_BYTES },
		      { "bytes", PF_UNIT_BYTES } };
	const size_t at = wire_open(t, PF_descriptor_counter);
	size_t i = 0;

	if (unit != NULL) {
		while (i < sizeof known / sizeof *known && strcmp(unit, known[i].name) != 0)
			i++;
		if (i < sizeof known / sizeof *known)
			wire_number(t, PF_counter_unit, known[i].number);
		else
			wire_slice(t, PF_counter_unit_name, slice_str(unit));
	}
	wire_close(t, at);
}

/* Returns "EVENT SERIES", or "EVENT" if the series is named "value". */
static struct slice series_name(struct arena *a, struct slice event, struct slice key)
{
	if (slice_is(key, "value") || key.n == 0)
		return event;
	return event.n == 0 ? key : ARENA_JOIN(a, event, SLICE_LIT(" "), key);
}

static void put_counter_track(struct perfetto_state *st, const struct event *e, struct slice key,
                              uint64_t uuid)
{
	struct text *const t = &st->chunk->text;
	struct arena a = { .used = 0 };
	const struct slice name = series_name(&a, e->name, key);
	const struct class_field *const f = declared_field(e->cls, key);
	const struct perfetto_packet packet = perfetto_open_packet(t, PF_packet_track_descriptor);

	wire_number(t, PF_descriptor_uuid, uuid);
	perfetto_put_text(st, t, PF_descriptor_name, name);
	wire_number(t, PF_descriptor_parent_uuid, perfetto_track_of(st, e->track)->uuid);
	put_unit(t, f != NULL ? f->unit : NULL);
	perfetto_close_packet(t, packet);
	t->failed |= name.p == NULL;
	arena_free(&a);
}

/* Each series is a separate track below that of the event.  Returns its uuid; 0: the limit is reached. */
static uint64_t find_series(struct perfetto_state *st, const struct event *e, struct slice key)
{
	const uint64_t track = perfetto_track_of(st, e->track)->uuid;
	const uint64_t hash =
	    hash_bytes(key.p, key.n, hash_bytes(e->name.p, e->name.n, hash_u64(track, st->seed)));
	const uint32_t i = table64_element(&st->series, hash, &st->series_uuids, &st->nseries,
	                                   &st->series_cap, sizeof *st->series_uuids, MAX_SERIES);

	st->chunk->text.failed |= i == TABLE_FAILED;
	if (i >= TABLE_FAILED)
		return 0;
	if (st->series_uuids[i] == 0) {
		st->series_uuids[i] = ++st->uuid;
		put_counter_track(st, e, key, st->uuid);
	}
	return st->series_uuids[i];
}

/* Returns a number as U64, I64 or F64, anything else as VALUE_NONE. */
static struct value to_number(const struct value *v)
{
	struct value n = *v;

	if (v->type == VALUE_JSON)
		return perfetto_json_number(value_text(v));
	if (v->type == VALUE_BOOL)
		n.u64 = v->u64 != 0;
	if (v->type == VALUE_BOOL || (v->type >= VALUE_U8 && v->type <= VALUE_U64))
		n.type = VALUE_U64;
	else if (v->type >= VALUE_I8 && v->type <= VALUE_I64)
		n.type = VALUE_I64;
	else if (v->type == VALUE_F32 && !isnan(v->f64))
		n = (struct value){ .type = VALUE_F64, .f64 = decimal_widen(v->f64) };
	else if (v->type == VALUE_F64 && !isnan(v->f64))
		n.type = VALUE_F64;
	else
		n.type = VALUE_NONE;
	return n;
}

static bool is_exact(const struct value *n)
{
	if (n->type == VALUE_U64)
		return n->u64 <= MAX_EXACT;
	return n->type != VALUE_I64 || (n->i64 >= -(int64_t)MAX_EXACT && n->i64 <= (int64_t)MAX_EXACT);
}

/* Writes an integer that a double rounds as an argument too. */
static void put_exact(struct perfetto_state *st, const struct value *n)
{
	const size_t at = wire_open(&st->body, PF_event_debug_annotations);

	wire_slice(&st->body, PF_annotation_name, SLICE_LIT("exact"));
	perfetto_value(st, n, 0);
	wire_close(&st->body, at);
	wire_double(&st->body, PF_event_double_counter_value,
	            n->type == VALUE_U64 ? (double)n->u64 : (double)n->i64);
}

static void put_counter_value(struct perfetto_state *st, const struct event *e, uint64_t track,
                              const struct value *n)
{
	struct track_event x = { .ts = e->ts, .track = track, .type = PF_EVENT_COUNTER };

	x.category = category_iid(st, e);
	if (n->type == VALUE_F64)
		wire_double(&st->body, PF_event_double_counter_value, n->f64);
	else if (!is_exact(n))
		put_exact(st, n);
	else
		wire_number(&st->body, PF_event_counter_value, n->u64);
	put_event(st, &x);
}

static void put_counter(struct perfetto_state *st, const struct batch *b, const struct event *e)
{
	uint16_t series = 0;
	bool named = false;

	for (uint16_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		const struct value n = to_number(&f->value);
		if (n.type == VALUE_NONE) {
			perfetto_lose(st, PERFETTO_COUNTER_TEXT, 1);
			continue;
		}
		series++;
		named |= !slice_is(f->name, "value");
		const uint64_t track = find_series(st, e, f->name);
		if (track == 0)
			perfetto_lose(st, PERFETTO_SERIES, 1);
		else
			put_counter_value(st, e, track, &n);
	}
	if (named)
		perfetto_lose(st, PERFETTO_COUNTER_NAME, 1);
	if (series > 1)
		perfetto_lose(st, PERFETTO_COUNTER_SPLIT, series - 1U);
}

/* ---- spans ---- */

/* Writes the ends before ts; inclusive: and those at ts. */
static void put_ends(struct perfetto_state *st, struct perfetto_track *k, uint64_t ts, bool inclusive)
{
	while (k->nends > 0) {
		const uint64_t end = k->ends[k->nends - 1];
		if (end == OPEN_END || end > ts || (end == ts && !inclusive))
			break;
		put_end(st, end, k->uuid);
		k->nends--;
	}
}

static void push_end(struct perfetto_state *st, struct perfetto_track *k, uint64_t end)
{
	if (array_reserve(&k->ends, k->nends, &k->ends_cap, sizeof *k->ends))
		k->ends[k->nends++] = end;
	else
		st->chunk->text.failed = true;
}

/* Writes a span on a separate track. */
static void put_span_apart(struct perfetto_state *st, const struct batch *b, const struct event *e,
                           struct slice name, uint64_t ts, uint64_t end)
{
	const uint64_t uuid = perfetto_put_extra_track(st, perfetto_track_of(st, e->track), name,
	                                               (e->flags & EVENT_ASYNC) != 0);

	put_named(st, b, e, PF_EVENT_BEGIN, ts, uuid);
	if (end != OPEN_END)
		put_end(st, end, uuid);
}

static void put_span(struct perfetto_state *st, const struct batch *b, const struct event *e, uint64_t ts,
                     uint64_t end)
{
	struct perfetto_track *const k = perfetto_track_of(st, e->track);

	if ((e->flags & EVENT_ASYNC) != 0) {
		put_span_apart(st, b, e, e->cls->category.n > 0 ? e->cls->category : e->cls->name, ts, end);
		return;
	}
	put_ends(st, k, ts, true);
	if (k->nends > 0 && (k->nends >= MAX_DEPTH || end > k->ends[k->nends - 1])) {
		perfetto_lose(st, PERFETTO_ASIDE, 1);
		put_span_apart(st, b, e, k->name, ts, end);
		return;
	}
	put_named(st, b, e, PF_EVENT_BEGIN, ts, k->uuid);
	push_end(st, k, end);
}

/* Clips a span to the times of the importer, 0 to LAST_TIME, and sets its end.  Returns false if it is
 * outside. */
static bool clip_span(struct perfetto_state *st, uint64_t *ts, uint64_t dur, uint64_t *end)
{
	const uint64_t before = -*ts; /* distance to 0 if ts is negative */

	if (*ts > LAST_TIME) {
		if (!st->signed_time || dur <= before) {
			perfetto_lose(st, PERFETTO_TIME_RANGE, 1);
			return false;
		}
		*ts = 0;
		dur -= before;
		perfetto_lose(st, PERFETTO_CLIPPED, 1);
	}
	if (dur > LAST_TIME - *ts) {
		dur = LAST_TIME - *ts;
		perfetto_lose(st, PERFETTO_CLIPPED, 1);
	}
	*end = *ts + dur;
	return true;
}

static void end_span(struct perfetto_state *st, const struct event *e)
{
	struct perfetto_track *const k = perfetto_track_of(st, e->track);

	put_ends(st, k, e->ts, true);
	if (k->nends == 0 || k->ends[k->nends - 1] != OPEN_END) {
		perfetto_lose(st, PERFETTO_NO_BEGIN, 1);
		return;
	}
	put_end(st, e->ts, k->uuid);
	k->nends--;
}

/* ---- instants and arrows ---- */

/* Writes one end of an arrow, which binds to an open span, or to the next one.  Both ends must have equal
 * name and category. */
static void put_flow(struct perfetto_state *st, uint64_t ts, uint64_t track, uint64_t id, char phase,
                     bool next)
{
	struct track_event x = { .ts = ts, .track = track, .type = PF_EVENT_NONE };
	const size_t at = wire_open(&st->body, PF_event_legacy_event);

	wire_number(&st->body, PF_legacy_phase, (unsigned char)phase);
	wire_number(&st->body, PF_legacy_unscoped_id, id);
	if (!next)
		wire_number(&st->body, PF_legacy_bind_to_enclosing, 1);
	wire_close(&st->body, at);
	if (st->arrow_name == 0)
		st->arrow_name = name_iid(st, SLICE_LIT("arrow"));
	if (st->arrow_category == 0)
		st->arrow_category = perfetto_intern(st, KIND_CATEGORY, SLICE_LIT("flow"));
	x.name = st->arrow_name;
	x.category = st->arrow_category;
	put_event(st, &x);
}

/* The importer nests an instant in an earlier one of the same time, so the second is written as a span. */
static void put_instant(struct perfetto_state *st, const struct batch *b, const struct event *e)
{
	struct perfetto_track *const k = perfetto_track_of(st, e->track);
	const bool is_second = k->instant == e->ts + 1;

	put_ends(st, k, e->ts, true);
	put_named(st, b, e, is_second ? PF_EVENT_BEGIN : PF_EVENT_INSTANT, e->ts, k->uuid);
	if (is_second) {
		push_end(st, k, e->ts);
		perfetto_lose(st, PERFETTO_SECOND, 1);
	}
	k->instant = e->ts + 1;
	if ((e->flags & EVENT_ARROW) != 0) { /* an end may follow */
		idset_add(&st->arrows, e->dur);
		put_flow(st, e->ts, k->uuid, e->dur, 's', false);
	}
}

/* An end of an arrow binds to the innermost open span or to an instant of this time.  If there is neither, a
 * span of length 0 is written for it. */
static void put_arrow(struct perfetto_state *st, const struct event *e)
{
	struct perfetto_track *const k = perfetto_track_of(st, e->track);
	const bool out = e->phase == PHASE_FLOW_OUT;

	if (out && (e->flags & EVENT_ARROW) != 0) /* written with its instant */
		return;
	const bool started = out ? idset_add(&st->arrows, e->dur) : idset_has(&st->arrows, e->dur);
	if (started == out) {
		perfetto_lose(st, PERFETTO_ARROW, 1);
		return;
	}
	if (e->nfields > 0)
		perfetto_lose(st, PERFETTO_ARROW_FIELDS, 1);
	if (!slice_is(e->name, "arrow"))
		perfetto_lose(st, PERFETTO_ARROW_NAME, 1);
	put_ends(st, k, e->ts, false);
	const bool next = !out && !event_is_step(e) && (e->flags & EVENT_NEXT) != 0;
	const bool needs_span = !next && k->nends == 0 && k->instant != e->ts + 1;
	if (needs_span) {
		perfetto_lose(st, PERFETTO_ARROW_SPAN, 1);
		struct track_event x = { .ts = e->ts, .track = k->uuid, .type = PF_EVENT_BEGIN };
		x.name = name_iid(st, e->name);
		put_event(st, &x);
	}
	put_flow(st, e->ts, k->uuid, e->dur, out ? 's' : event_is_step(e) ? 't' : 'f', next);
	if (needs_span)
		put_end(st, e->ts, k->uuid);
}

static void write_event(struct perfetto_state *st, const struct batch *b, const struct event *e)
{
	uint64_t ts = e->ts, end;

	st->offset = e->offset;
	if (e->phase == PHASE_SPAN) {
		if (clip_span(st, &ts, e->dur, &end))
			put_span(st, b, e, ts, end);
	} else if (e->ts > LAST_TIME) {
		perfetto_lose(st, PERFETTO_TIME_RANGE, 1);
	} else if (event_is_flow(e)) {
		put_arrow(st, e);
	} else if (e->phase == PHASE_COUNTER && e->nfields > 0) {
		put_counter(st, b, e);
	} else if (e->phase == PHASE_BEGIN) {
		put_span(st, b, e, e->ts, OPEN_END);
	} else if (e->phase == PHASE_END) {
		end_span(st, e);
	} else {
		put_instant(st, b, e);
	}
}

/* ---- the writer ---- */

static bool open_writer(struct writer *w, struct chunk *chunk)
{
	struct perfetto_state *const st = w->state;
	struct text *const t = &chunk->text;

	st->signed_time = w->run->signed_time;
	st->seed = hash_seed();
	st->chunk = chunk;
	const size_t at = wire_open(t, PF_TRACE_PACKET);
	wire_number(t, PF_packet_trusted_packet_sequence_id, 1);
	wire_number(t, PF_packet_sequence_flags, PF_CLEARED);
	wire_number(t, PF_packet_first_packet_on_sequence, 1);
	wire_close(t, at);
	perfetto_put_order(st);
	return true;
}

static bool declare_batch(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct perfetto_state *const st = w->state;
	bool ok = true;

	st->chunk = chunk;
	for (uint32_t i = 0; i < b->ntracks && ok; i++)
		ok = perfetto_declare_track(st, b->tracks[i]);
	return ok;
}

static void write_batch(void *state, const struct batch *b, struct chunk *chunk)
{
	struct perfetto_state *const st = state;

	st->chunk = chunk;
	st->offset = 0;
	for (uint32_t i = 0; i < b->ntracks; i++)
		perfetto_put_track(st, b->tracks[i]);
	for (uint32_t i = 0; i < b->n; i++)
		write_event(st, b, &b->events[i]);
	chunk->text.failed |= st->body.failed || st->arrows.failed;
}

static bool close_writer(struct writer *w, struct chunk *chunk)
{
	struct perfetto_state *const st = w->state;

	st->chunk = chunk;
	for (uint32_t i = 0; i < st->ntracks; i++)
		put_ends(st, st->tracks[i], LAST_TIME, true);
	perfetto_put_facts(st, w);
	return true;
}

static void free_writer(void *state)
{
	struct perfetto_state *const st = state;

	for (uint32_t i = 0; i < st->ntracks; i++)
		free(st->tracks[i]->ends);
	free(st->tracks);
	free(st->series_uuids);
	perfetto_intern_free(st);
	table64_free(&st->pids);
	table64_free(&st->tids);
	table64_free(&st->series);
	idset_free(&st->arrows);
	tabletext_free(&st->stacks);
	text_free(&st->stack);
	text_free(&st->body);
	text_free(&st->defs);
	text_free(&st->repaired);
	arena_free(&st->arena);
}

const struct writer_ops perfetto_writer_ops = {
	.state_size = sizeof(struct perfetto_state),
	.want = WANT_FIELDS | WANT_GAPS | WANT_DEPARTURES,
	.order = ORDER_NESTING,
	.nested = true,
	.open = open_writer,
	.declare = declare_batch,
	.write = write_batch,
	.close = close_writer,
	.free = free_writer,
};
