#include <inttypes.h>

#include "model/event_traits.h"
#include "speedscope/lane.h"
#include "speedscope/stacks.h"

/*
 * Speedscope's own format: an evented profile for each track, and a sampled
 * profile for the call stacks of each class that it has.  Events come track by
 * track; spans are written at once, call stacks wait until the spans of the
 * track are over.
 */

const struct loss speedscope_losses[SPEEDSCOPE_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "speedscope/losses.def"
#undef LOSS
};

#define KINDS 8                   /* of samples of a track */
#define WAITING ((size_t)8 << 20) /* bytes of lanes and samples that wait */
#define LOOK 256                  /* events from one look at that to the next */
#define EXACT (UINT64_C(1) << 53) /* the integers that a double holds */

struct speedscope_writer {
	struct speedscope_frames frames;
	struct arena arena; /* of the classes */
	struct speedscope_clock clock;
	const struct track *track; /* whose profiles are written; NULL: none yet */
	uint32_t part;             /* of them, from 1 on */
	struct speedscope_lane lane;
	struct speedscope_samples samples[KINDS];
	uint32_t nsamples;
	uint64_t events;
	uint32_t profiles;
	uint32_t largest; /* profile with the most events or samples, and */
	uint64_t largest_count;
	bool largest_is_cpu; /* samples of the CPU, which are shown first */
	const struct trace *trace;
};

struct speedscope_class {
	uint32_t category;
};

/* ---- heads and ends of profiles ---- */

static void
put_name(struct text *t, struct chunk *chunk, struct slice name)
{
	if (text_json_chars(t, name) > 0)
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_BAD_TEXT], 0, 1);
}

/* `{"type":"...","name":"process / track"`, with more behind the name. */
static void
put_head(struct speedscope_writer *st, const char *type, const struct text *more, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const struct track *const process = track_process(st->track);

	text_printf(t, "%s{\"type\":\"%s\",\"name\":\"", st->profiles++ > 0 ? ",\n" : "\n", type);
	if (process != st->track && process->name.n > 0) {
		put_name(t, chunk, process->name);
		text_str(t, " / ");
	}
	put_name(t, chunk, st->track->name);
	if (more != NULL) {
		text_str(t, ": ");
		text_add(t, more->p, more->n);
	}
	if (st->part > 1)
		text_printf(t, ", part %" PRIu32, st->part);
	text_char(t, '"');
}

static void
note_count(struct speedscope_writer *st, uint64_t count, bool is_cpu)
{
	if (is_cpu == st->largest_is_cpu ? count <= st->largest_count : !is_cpu)
		return;
	st->largest_is_cpu = is_cpu;
	st->largest_count = count;
	st->largest = st->profiles - 1;
}

static void
put_lane_end(struct speedscope_writer *st, const struct speedscope_lane *l, struct text *t)
{
	text_str(t, "],\"startValue\":");
	const bool known = st->trace->last_end > 0; /* one time axis for all profiles */
	speedscope_time(t, st->clock, known ? st->trace->first_start : l->start);
	text_str(t, ",\"endValue\":");
	speedscope_time(t, st->clock, known && st->trace->last_end > l->last ? st->trace->last_end : l->last);
	text_char(t, '}');
	note_count(st, l->events, false);
}

static void
begin_lane(struct speedscope_writer *st, struct chunk *chunk)
{
	put_head(st, "evented", NULL, chunk);
	text_str(&chunk->text, ",\"unit\":\"nanoseconds\",\"events\":[");
}

/* ---- tracks ---- */

/* The spans are ended already. */
static void
end_profiles(struct speedscope_writer *st, struct chunk *chunk)
{
	if (st->lane.events > 0)
		put_lane_end(st, &st->lane, &chunk->text);
	st->lane.events = 0;
	for (uint32_t i = 0; i < st->nsamples; i++) {
		struct speedscope_samples *const s = &st->samples[i];
		if (s->count == 0)
			continue;
		put_head(st, "sampled", &s->title, chunk);
		const enum plan_stack of = call_stack_kind(s->cls);
		if (of == PLAN_STACK_ANY || of == PLAN_STACK_CPU)
			note_count(st, s->count, of == PLAN_STACK_CPU);
		speedscope_samples_flush(s, &chunk->text);
	}
}

static void
end_track(struct speedscope_writer *st, struct chunk *chunk)
{
	if (st->track == NULL)
		return;
	speedscope_lane_end(&st->lane, st->clock, chunk);
	end_profiles(st, chunk);
	st->nsamples = 0;
}

/* What waits is written: the profiles end here and go on in a further part. */
static void
divide(struct speedscope_writer *st, const struct event *e, struct chunk *chunk)
{
	const uint64_t now = e->ts ^ st->clock.bias;

	speedscope_lane_pause(&st->lane, now, st->clock, chunk);
	end_profiles(st, chunk);
	st->part++;
	ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_PARTS], e->offset, 1);
	if (st->lane.nopen > 0) {
		begin_lane(st, chunk);
		speedscope_lane_resume(&st->lane, now, st->clock, chunk);
	}
}

static bool
is_divided(const struct speedscope_writer *st)
{
	size_t waiting = 0;

	for (uint32_t i = 0; i < st->nsamples; i++)
		waiting += speedscope_samples_size(&st->samples[i]);
	return waiting >= WAITING;
}

static void
enter_track(struct speedscope_writer *st, const struct track *k, struct chunk *chunk)
{
	if (k == st->track)
		return;
	end_track(st, chunk);
	st->track = k;
	st->part = 1;
}

/* ---- events ---- */

static bool
is_exact(const struct speedscope_writer *st, uint64_t time)
{
	const uint64_t ts = st->clock.zero != 0 ? time - st->clock.zero : time ^ st->clock.bias;

	return (st->clock.zero == 0 && st->clock.bias != 0 && ts > INT64_MAX ? -ts : ts) <= EXACT;
}

static void
put_span(struct speedscope_writer *st, const struct event *e, struct chunk *chunk)
{
	const struct speedscope_class *const c = e->cls->declared;
	const uint64_t start = e->ts ^ st->clock.bias;
	const struct speedscope_span s = {
		.start = start,
		.end = e->dur > UINT64_MAX - start ? UINT64_MAX : start + e->dur,
		.offset = e->offset,
		.frame =
		    speedscope_frame(&st->frames, e->name, c->category, e->cls->category, e->offset, chunk),
	};

	if (!is_exact(st, s.start) || !is_exact(st, s.end))
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_TIME_ROUNDED], e->offset, 1);
	if (st->lane.events == 0 && st->lane.nequal == 0)
		begin_lane(st, chunk);
	speedscope_lane_span(&st->lane, &s, st->clock, chunk);
}

static struct speedscope_samples *
samples_of(struct speedscope_writer *st, const struct event *e, struct chunk *chunk)
{
	uint32_t i = 0;

	while (i < st->nsamples && st->samples[i].cls != e->cls)
		i++;
	if (i == KINDS)
		return NULL;
	struct speedscope_samples *const s = &st->samples[i];
	if (i == st->nsamples) {
		st->nsamples++;
		s->cls = e->cls;
		text_clear(&s->title);
		put_name(&s->title, chunk, e->name);
		text_str(&s->title, " (count)");
		chunk->text.failed |= s->title.failed;
	}
	return s;
}

/* An instant: a sample, if it has a call stack. */
static void
put_sample(struct speedscope_writer *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	struct call_stack stack;
	struct speedscope_samples *const s = call_stack_get(&stack, b, e) ? samples_of(st, e, chunk) : NULL;

	if (s == NULL) {
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_NO_DURATION], e->offset, 1);
		return;
	}
	speedscope_samples_add(s, &st->frames, &stack, e->offset, chunk);
	if (event_has_category(e) && !slice_is(e->cls->category, "stack"))
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_CATEGORY], e->offset, 1);
	if (e->nfields > 1)
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_FIELDS], e->offset, 1);
}

static void
put_event(struct speedscope_writer *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	enum speedscope_loss loss;

	switch ((enum phase)e->phase) {
	case PHASE_SPAN:
		if ((e->flags & EVENT_ASYNC) == 0) {
			put_span(st, e, chunk);
			if (e->nfields == 0)
				return;
			loss = SPEEDSCOPE_FIELDS;
		} else {
			loss = SPEEDSCOPE_ASYNC;
		}
		break;
	case PHASE_COUNTER:
		loss = SPEEDSCOPE_COUNTERS;
		break;
	case PHASE_FLOW_IN:
	case PHASE_FLOW_OUT:
		loss = SPEEDSCOPE_ARROWS;
		break;
	default:
		put_sample(st, b, e, chunk);
		return;
	}
	ledger_add(&chunk->ledger, &speedscope_losses[loss], e->offset, 1);
}

/* ---- the writer ---- */

static bool
speedscope_begin(struct writer *w, struct chunk *chunk)
{
	struct speedscope_writer *const st = w->state;

	st->clock.bias = (uint64_t)w->signed_time << 63;
	st->trace = w->trace;
	text_str(&chunk->text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	                       "\"profiles\":[");
	return true;
}

static bool
speedscope_declare(struct writer *w, const struct batch *b)
{
	struct speedscope_writer *const st = w->state;

	for (uint32_t i = 0; i < b->nclasses; i++) {
		struct speedscope_class *const c = arena_alloc(&st->arena, sizeof *c);
		if (c == NULL)
			return false;
		c->category = speedscope_category(&st->frames, b->classes[i]->category);
		if (c->category == 0)
			return false;
		b->classes[i]->declared = c;
	}
	return true;
}

static void
speedscope_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct speedscope_writer *const st = state;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		if (e->track == NULL)
			continue;
		st->clock.zero = st->trace->last_end > 0 ? st->trace->first_start : 0;
		enter_track(st, e->track, chunk);
		put_event(st, b, e, chunk);
		if (chunk->text.failed)
			return;
		if (st->events++ % LOOK == 0 && is_divided(st))
			divide(st, e, chunk);
	}
}

static bool
speedscope_end(struct writer *w, struct chunk *chunk)
{
	struct speedscope_writer *const st = w->state;
	struct text *const t = &chunk->text;

	end_track(st, chunk);
	if (w->trace->nmeta > 0)
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_FACTS], 0, w->trace->nmeta);
	text_str(t, "],\n\"shared\":{\"frames\":[");
	text_add(t, st->frames.json.p, st->frames.json.n);
	t->failed |= st->frames.json.failed;
	text_printf(t, "]},\n\"activeProfileIndex\":%" PRIu32 ",\n\"name\":", st->largest);
	text_json_string(t, slice_str(w->trace->format != NULL ? w->trace->format : ""));
	text_str(t, ",\n\"exporter\":");
	text_json_string(t, slice_str(w->tool));
	text_str(t, "}\n");
	return true;
}

static void
speedscope_free(void *state)
{
	struct speedscope_writer *const st = state;

	speedscope_frames_free(&st->frames);
	arena_free(&st->arena);
	speedscope_lane_free(&st->lane);
	for (uint32_t i = 0; i < KINDS; i++)
		speedscope_samples_free(&st->samples[i]);
}

const struct writer_ops speedscope_writer_ops = {
	.state_size = sizeof(struct speedscope_writer),
	.want = WANT_FIELDS,
	.modes = WRITER_TEXT | WRITER_INTERPRETED,
	.order = ORDER_TRACK_TIME,
	.nested = true,
	.open = speedscope_begin,
	.declare = speedscope_declare,
	.write = speedscope_write,
	.close = speedscope_end,
	.free = speedscope_free,
};
