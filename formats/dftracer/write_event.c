#include "base/utf8.h"
#include "dftracer/write.h"
#include "model/event_traits.h"

/* Events as records. */

/* ---- times ---- */

static uint64_t
start_of(const struct dfw_state *st, const struct event *e, struct chunk *chunk)
{
	if (!st->signed_time || e->ts <= INT64_MAX)
		return e->ts;
	dfw_lose(chunk, DFW_NEGATIVE_TIME, e->offset);
	return 0;
}

static uint64_t
duration_of(const struct event *e, uint64_t start, struct chunk *chunk)
{
	const uint64_t dur = e->phase == PHASE_SPAN ? e->dur : 0;

	if (dur <= UINT64_MAX - start)
		return dur;
	dfw_lose(chunk, DFW_LATE_END, e->offset);
	return UINT64_MAX - start;
}

struct times {
	uint64_t ts, dur; /* in the unit of the dialect */
};

static struct times
times_of(const struct dfw_state *st, const struct event *e, struct chunk *chunk)
{
	const uint64_t start = start_of(st, e, chunk), dur = duration_of(e, start, chunk);

	if (st->dialect == DFW_D5)
		return (struct times){ start, dur };
	if (start % 1000 != 0 || dur % 1000 != 0)
		dfw_lose(chunk, DFW_TIME_ROUNDED, e->offset);
	return (struct times){ start / 1000, (start + dur) / 1000 - start / 1000 };
}

/* ---- what it becomes ---- */

enum kind { COMPLETE, COUNTER, AGGREGATE };

/* Aggregates are instants to readers of this format. */
static bool
is_aggregate(const struct dfw_state *st, const struct batch *b, const struct event *e)
{
	if (!st->own || e->phase != PHASE_INSTANT)
		return false;
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (slice_is(f->name, "dft_cnt") || (slice_is(f->name, "dur") && f->value.type == VALUE_JSON))
			return true;
	}
	return false;
}

static enum kind
kind_of(const struct dfw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	static const enum dfw_loss losses[] = {
		[PHASE_BEGIN] = DFW_HALF_SPAN,    [PHASE_END] = DFW_HALF_SPAN,
		[PHASE_INSTANT] = DFW_INSTANT,    [PHASE_COUNTER] = DFW_COUNTER,
		[PHASE_FLOW_OUT] = DFW_ARROW_END, [PHASE_FLOW_IN] = DFW_ARROW_END,
	};

	if (st->dialect == DFW_D5 && e->phase == PHASE_COUNTER)
		return COUNTER;
	if (st->dialect == DFW_D5 && is_aggregate(st, b, e))
		return AGGREGATE;
	if (e->phase != PHASE_SPAN)
		dfw_lose(chunk, losses[e->phase], e->offset);
	else if ((e->flags & EVENT_ASYNC) != 0)
		dfw_lose(chunk, DFW_ASYNC_SPAN, e->offset);
	if (event_is_step(e))
		dfw_lose(chunk, DFW_STEP, e->offset);
	return COMPLETE;
}

/* ---- records ---- */

static void
put_name(struct chunk *chunk, const char *key, struct slice s, uint64_t offset)
{
	text_str(&chunk->text, key);
	if (s.n > DFW_MOST_NAME) {
		s = slice_of(s.p, utf8_cut(s.p, s.n, DFW_MOST_NAME));
		dfw_lose(chunk, DFW_TEXT_CUT, offset);
	}
	dfw_text(chunk, s, offset);
}

/* `{"id":1,"name":`.  In d5 only records have an id that had one. */
static void
put_begin(struct dfw_state *st, struct dfw_process *p, const struct value *id, const struct event *e,
          struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	if (id == NULL && st->dialect == DFW_D5) {
		text_str(t, "{\"name\":");
		return;
	}
	if (id == NULL)
		dfw_lose(chunk, DFW_NUMBERED, e->offset);
	const uint64_t v = id != NULL ? id->u64 : p->next_id;
	p->next_id = v >= p->next_id && v < INT64_MAX ? v + 1 : p->next_id;
	text_str(t, st->dialect == DFW_D1 ? "{\"id\":\"" : "{\"id\":");
	text_u64(t, v);
	text_str(t, st->dialect == DFW_D1 ? "\",\"name\":" : ",\"name\":");
}

static void
put_complete(struct dfw_state *st, const struct event *e, struct dfw_who who, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const struct times times = times_of(st, e, chunk);

	dfw_number(st, t, "pid", who.process->pid);
	dfw_number(st, t, "tid", who.tid);
	dfw_number(st, t, "ts", times.ts);
	dfw_number(st, t, "dur", times.dur);
	text_str(t, st->dialect == DFW_D5 ? ",\"ph\":1" : ",\"ph\":\"X\"");
}

/* Of d5: a counter or an aggregate. */
static void
put_sample(struct dfw_state *st, const struct event *e, struct dfw_who who, enum kind kind,
           struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	dfw_number(st, t, "ts", times_of(st, e, chunk).ts);
	text_str(t, kind == COUNTER ? ",\"ph\":2" : ",\"ph\":3");
	dfw_number(st, t, "pid", who.process->pid);
	dfw_number(st, t, "tid", who.tid);
}

void
dfw_event(struct dfw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	const struct dfw_who who = dfw_who_of(st, b, e, chunk);

	if (chunk->text.failed)
		return;
	if (st->tracks[e->track->index].changed)
		dfw_lose(chunk, DFW_TRACK_CHANGED, e->offset);
	dfw_define_hashes(st, b, e, who, chunk);
	const enum kind kind = kind_of(st, b, e, chunk);
	const struct value *const type = dfw_type_of(st, b, e);
	put_begin(st, who.process, kind == COMPLETE ? dfw_id_of(st, b, e) : NULL, e, chunk);
	put_name(chunk, "", e->name, e->offset);
	put_name(chunk, ",\"cat\":", e->cls->category, e->offset);
	if (type != NULL)
		dfw_number(st, &chunk->text, "type", type->u64);
	if (kind == COMPLETE)
		put_complete(st, e, who, chunk);
	else
		put_sample(st, e, who, kind, chunk);
	dfw_args(st, b, e, who, kind == COUNTER, chunk);
	text_str(&chunk->text, "}\n");
	who.process->calls++;
}
