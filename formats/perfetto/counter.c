#include <math.h>

#include "perfetto/state.h"

/* Counters: each series is a track of its own, below that of the event. */
#define MOST_SERIES (1U << 20)
#define MOST_EXACT (UINT64_C(1) << 53) /* the importer holds values as doubles */

/* ---- tracks ---- */

static const struct class_field *
declared_field(const struct class *cls, struct slice name)
{
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (slice_equal(cls->fields[i].name, name))
			return &cls->fields[i];
	return NULL;
}

static void
put_unit(struct text *t, const char *unit)
{
	static const struct {
		const char *name;
		unsigned number;
	} known[] = {
		{ "ns", UNIT_NS }, { "count", UNIT_COUNT }, { "byte", UNIT_BYTES }, { "bytes", UNIT_BYTES }
	};
	const size_t at = wire_open(t, TRACK_COUNTER);
	size_t i = 0;

	if (unit != NULL) {
		while (i < sizeof known / sizeof *known && strcmp(unit, known[i].name) != 0)
			i++;
		if (i < sizeof known / sizeof *known)
			wire_number(t, COUNTER_UNIT, known[i].number);
		else
			wire_slice(t, COUNTER_UNIT_NAME, slice_str(unit));
	}
	wire_close(t, at);
}

/* "memory used": the event, then the series; "memory" if the series is just its value. */
static struct slice
series_name(struct arena *a, struct slice event, struct slice key)
{
	if (slice_is(key, "value") || key.n == 0)
		return event;
	if (event.n == 0)
		return key;
	char *const p = arena_alloc(a, (size_t)event.n + 1 + key.n);
	if (p == NULL)
		return slice_of(NULL, 0);
	memcpy(p, event.p, event.n);
	p[event.n] = ' ';
	memcpy(p + event.n + 1, key.p, key.n);
	return slice_of(p, (size_t)event.n + 1 + key.n);
}

static void
put_track(struct perfetto_state *st, const struct event *e, struct slice key, uint64_t uuid)
{
	struct text *const t = &st->chunk->text;
	struct arena a = { .used = 0 };
	const struct slice name = series_name(&a, e->name, key);
	const struct class_field *const f = declared_field(e->cls, key);
	const size_t packet = wire_open(t, TRACE_PACKET);
	unsigned changed;

	wire_number(t, PACKET_SEQUENCE, 1);
	const size_t at = wire_open(t, PACKET_TRACK);
	wire_number(t, TRACK_UUID, uuid);
	wire_slice(t, TRACK_NAME, perfetto_clean(st, name, &changed));
	perfetto_lose_all(st, changed);
	wire_number(t, TRACK_PARENT, perfetto_track_of(st, e->track)->uuid);
	put_unit(t, f != NULL ? f->unit : NULL);
	wire_close(t, at);
	wire_close(t, packet);
	t->failed |= name.p == NULL;
	arena_free(&a);
}

/* The track of a series; 0: there are too many. */
static uint64_t
series_of(struct perfetto_state *st, const struct event *e, struct slice key)
{
	const uint64_t track = perfetto_track_of(st, e->track)->uuid;
	const uint64_t hash =
	    hash_bytes(key.p, key.n, hash_bytes(e->name.p, e->name.n, hash_u64(track, st->seed)));
	const uint32_t i = table64_get(&st->series, hash);

	if (i != TABLE_NONE)
		return st->series_uuids[i];
	if (st->nseries >= MOST_SERIES)
		return 0;
	if (!array_room(&st->series_uuids, st->nseries, &st->series_cap, sizeof *st->series_uuids) ||
	    !table64_put(&st->series, hash, st->nseries)) {
		st->chunk->text.failed = true;
		return 0;
	}
	st->series_uuids[st->nseries++] = ++st->uuid;
	put_track(st, e, key, st->uuid);
	return st->uuid;
}

/* ---- values ---- */

/* A number as U64, I64 or F64; else VALUE_NONE. */
static struct value
number_of(const struct value *v)
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
	else if ((v->type == VALUE_F32 || v->type == VALUE_F64) && !isnan(v->f64))
		n.type = VALUE_F64;
	else
		n.type = VALUE_NONE;
	return n;
}

static bool
is_exact(const struct value *n)
{
	if (n->type == VALUE_U64)
		return n->u64 <= MOST_EXACT;
	return n->type != VALUE_I64 || (n->i64 >= -(int64_t)MOST_EXACT && n->i64 <= (int64_t)MOST_EXACT);
}

/* An integer that a double rounds is an argument too. */
static void
put_exact(struct perfetto_state *st, const struct value *n)
{
	const size_t at = wire_open(&st->body, EVENT_ANNOTATIONS);

	wire_slice(&st->body, ANNOTATION_NAME, SLICE_LIT("exact"));
	perfetto_value(st, n, 0);
	wire_close(&st->body, at);
	wire_double(&st->body, EVENT_DOUBLE_VALUE, n->type == VALUE_U64 ? (double)n->u64 : (double)n->i64);
}

static void
put_value(struct perfetto_state *st, const struct event *e, uint64_t track, const struct value *n)
{
	struct perfetto_event x = { .ts = e->ts, .track = track, .type = TYPE_COUNTER };

	x.category = perfetto_category(st, e->cls);
	if (n->type == VALUE_F64)
		wire_double(&st->body, EVENT_DOUBLE_VALUE, n->f64);
	else if (!is_exact(n))
		put_exact(st, n);
	else
		wire_number(&st->body, EVENT_COUNTER_VALUE, n->u64);
	perfetto_put_event(st, &x);
}

void
perfetto_counter(struct perfetto_state *st, const struct batch *b, const struct event *e)
{
	for (uint16_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		const struct value n = number_of(&f->value);
		if (n.type == VALUE_NONE) {
			perfetto_lose(st, PERFETTO_COUNTER_TEXT, 1);
			continue;
		}
		const uint64_t track = series_of(st, e, f->name);
		if (track == 0)
			perfetto_lose(st, PERFETTO_SERIES, 1);
		else
			put_value(st, e, track, &n);
	}
}
