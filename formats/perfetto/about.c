#include <inttypes.h>
#include <stdio.h>

#include "format/fields_json.h"
#include "perfetto/state.h"

/* What is known of the trace as a whole: its clock, where it comes from, what was lost. */

/* ---- clocks ---- */

static void
put_clock(struct text *t, unsigned id, uint64_t ns)
{
	const size_t at = wire_open(t, SNAPSHOT_CLOCKS);

	wire_number(t, CLOCK_ID, id);
	wire_number(t, CLOCK_TIME, ns);
	wire_close(t, at);
}

/* Times of events are those of the trace's own clock; a snapshot says what others had at its 0.  Without one
 * the importer knows no wall time. */
static void
put_clocks(struct text *t, const struct writer *w)
{
	const uint64_t zero = w->rebased ? w->rebased_by : 0;
	const bool monotonic = strcmp(w->trace->clock, "monotonic") == 0;
	const bool unix_time = strcmp(w->trace->clock, "unix") == 0;
	const uint64_t epoch = (w->trace->epoch_known ? w->trace->epoch_ns : 0) + zero;

	if (zero > LAST_TIME || epoch > LAST_TIME || (!monotonic && !unix_time && !w->trace->epoch_known))
		return;
	const size_t packet = wire_open(t, TRACE_PACKET);
	wire_number(t, PACKET_SEQUENCE, 1);
	const size_t at = wire_open(t, PACKET_CLOCK_SNAPSHOT);
	put_clock(t, PERFETTO_CLOCK_TRACE, 0);
	if (monotonic)
		put_clock(t, PERFETTO_CLOCK_MONOTONIC, zero);
	if (unix_time || w->trace->epoch_known)
		put_clock(t, PERFETTO_CLOCK_REALTIME, epoch);
	wire_close(t, at);
	wire_close(t, packet);
}

/* ---- facts ---- */

struct about {
	struct perfetto_state *st;
	struct text *t;
	struct tabletext names;
	struct arena arena;
};

static size_t
open_attribute(struct about *a, struct slice key)
{
	const uint32_t times = tabletext_get(&a->names, key);
	unsigned changed;

	if (times != TABLE_NONE) { /* the importer keeps the last of one name */
		key = arena_printf(&a->arena, "%.*s (%" PRIu32 ")", (int)key.n, key.p, times + 1);
		perfetto_lose(a->st, PERFETTO_KEY_CHANGED, 1);
	}
	a->t->failed |= key.p == NULL || !tabletext_put(&a->names, key, times == TABLE_NONE ? 1 : times + 1);
	const size_t at = wire_open(a->t, ATTRIBUTE);
	wire_slice(a->t, ATTRIBUTE_KEY, perfetto_clean(a->st, key, &changed));
	perfetto_lose_all(a->st, changed);
	return at;
}

static void
put_text(struct about *a, const char *key, const char *text)
{
	if (text == NULL || *text == '\0')
		return;
	const size_t at = open_attribute(a, slice_str(key));
	wire_slice(a->t, ATTRIBUTE_STRING, slice_str(text));
	wire_close(a->t, at);
}

/* Numbers that int64 does not hold are text. */
static void
put_number(struct about *a, struct slice key, uint64_t v)
{
	const size_t at = open_attribute(a, key);
	char room[24];

	if (v <= INT64_MAX) {
		wire_number(a->t, ATTRIBUTE_LONG, v);
	} else {
		snprintf(room, sizeof room, "%" PRIu64, v);
		wire_slice(a->t, ATTRIBUTE_STRING, slice_str(room));
	}
	wire_close(a->t, at);
}

static void
put_value(struct about *a, const struct value *v)
{
	struct fields_json_lost lost = { 0 };
	struct text json = { .n = 0 };
	unsigned changed;

	if (v->type == VALUE_STRING) {
		wire_slice(a->t, ATTRIBUTE_STRING, perfetto_clean(a->st, value_text(v), &changed));
		perfetto_lose_all(a->st, changed);
		return;
	}
	fields_json_value(&json, v, &lost);
	wire_slice(a->t, ATTRIBUTE_STRING, slice_of(json.p, json.n));
	a->t->failed |= json.failed;
	text_free(&json);
	if (lost.bad_text > 0)
		perfetto_lose(a->st, PERFETTO_BAD_TEXT, lost.bad_text);
	if (lost.too_deep > 0)
		perfetto_lose(a->st, PERFETTO_TOO_DEEP, lost.too_deep);
}

static void
put_meta(struct about *a, const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->nmeta; i++) {
		const struct field *const f = &trace->meta[i];
		const struct slice key = arena_printf(&a->arena, "trace.%.*s", (int)f->name.n, f->name.p);
		if (key.p == NULL) {
			a->t->failed = true;
			return;
		}
		if (f->value.type >= VALUE_U8 && f->value.type <= VALUE_U64) {
			put_number(a, key, f->value.u64);
			continue;
		}
		const size_t at = open_attribute(a, key);
		put_value(a, &f->value);
		wire_close(a->t, at);
	}
}

static void
put_losses(struct about *a, const struct ledger *total)
{
	for (size_t i = 0; i < total->n; i++) {
		const struct slice key = arena_printf(&a->arena, "loss.%s", total->rows[i].loss->id);
		if (key.p == NULL)
			a->t->failed = true;
		else
			put_number(a, key, total->rows[i].count);
	}
}

static void
put_facts(struct about *a, const struct writer *w)
{
	put_text(a, "tool", w->tool);
	put_text(a, "format", w->trace->format);
	put_text(a, "dialect", w->trace->dialect);
	put_text(a, "byte_order", w->trace->byte_order);
	put_text(a, "clock", w->trace->clock);
	put_text(a, "epoch", w->trace->epoch_known ? "known" : "unknown");
	if (w->trace->epoch_known)
		put_number(a, SLICE_LIT("epoch_ns"), w->trace->epoch_ns);
	if (w->rebased)
		put_number(a, SLICE_LIT("rebased_by_ns"), w->rebased_by);
	put_meta(a, w->trace);
	put_losses(a, w->total);
}

void
perfetto_put_about(struct perfetto_state *st, const struct writer *w)
{
	struct text *const t = &st->chunk->text;
	struct about a = { .st = st, .t = t };

	st->offset = 0;
	put_clocks(t, w);
	const size_t packet = wire_open(t, TRACE_PACKET);
	wire_number(t, PACKET_SEQUENCE, 1);
	const size_t at = wire_open(t, PACKET_ATTRIBUTES);
	put_facts(&a, w);
	wire_close(t, at);
	wire_close(t, packet);
	tabletext_free(&a.names);
	arena_free(&a.arena);
}
