#include <inttypes.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "model/event_traits.h"
#include "speedscope/speedscope.h"

/* ---- lane ---- */

static void speedscope_time(struct text *t, struct speedscope_clock clock, uint64_t time)
{
	if (clock.zero != 0)
		text_u64(t, time > clock.zero ? time - clock.zero : 0);
	else if (clock.bias != 0)
		text_i64(t, (int64_t)(time ^ clock.bias));
	else
		text_u64(t, time);
}

static void put(struct speedscope_lane *l, struct chunk *chunk, struct speedscope_clock clock, char type,
                uint32_t frame, uint64_t at)
{
	struct text *const to = &chunk->text;
	static const char open[] = ",\n{\"type\":\"O\",\"frame\":", close[] = ",\n{\"type\":\"C\",\"frame\":";
	/* no comma before the first */
	const size_t skip = l->events == 0 ? 1 : 0;
	char *p = text_room(to, sizeof open + 2 * DECIMAL_U64_MAX + 16);

	if (l->events++ == 0)
		l->start = at;
	l->last = at;
	if (p == NULL)
		return;
	memcpy(p, (type == 'O' ? open : close) + skip, sizeof open - 1 - skip);
	p = decimal_u64(p + sizeof open - 1 - skip, frame);
	memcpy(p, ",\"at\":", 6);
	if (clock.zero != 0)
		p = decimal_u64(p + 6, at > clock.zero ? at - clock.zero : 0);
	else
		p = clock.bias != 0 ? decimal_i64(p + 6, (int64_t)(at ^ clock.bias)) : decimal_u64(p + 6, at);
	*p++ = '}';
	to->n = (size_t)(p - to->p);
}

static void close_until(struct speedscope_lane *l, uint64_t time, struct speedscope_clock clock,
                        struct chunk *chunk)
{
	while (l->nopen > 0 && l->open[l->nopen - 1].end <= time) {
		const struct speedscope_open *const o = &l->open[--l->nopen];
		put(l, chunk, clock, 'C', o->frame, o->end);
	}
}

/* Those that waited are opened. */
static void open_equal(struct speedscope_lane *l, struct speedscope_clock clock, struct chunk *chunk)
{
	uint64_t end = l->equal_end;

	if (l->nequal == 0)
		return;
	close_until(l, l->equal_start, clock, chunk);
	if (l->nopen > 0 && l->open[l->nopen - 1].end < end) {
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_CUT], l->equal_offset, l->nequal);
		end = l->open[l->nopen - 1].end;
	}
	while (l->nequal > 0) {
		const uint32_t frame = l->equal[--l->nequal];
		if (!array_room(&l->open, l->nopen, &l->open_cap, sizeof *l->open)) {
			chunk->text.failed = true;
			return;
		}
		put(l, chunk, clock, 'O', frame, l->equal_start);
		l->open[l->nopen++] = (struct speedscope_open){ end, frame };
	}
}

/* Adds events to the chunk; failures of memory are its. */
static void speedscope_lane_span(struct speedscope_lane *l, const struct speedscope_span *s,
                                 struct speedscope_clock clock, struct chunk *chunk)
{
	if (s->start != l->equal_start || s->end != l->equal_end)
		open_equal(l, clock, chunk);
	if (l->nequal == 0)
		close_until(l, s->start, clock, chunk);
	if (l->nopen + l->nequal >= SPEEDSCOPE_DEPTH) {
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_TOO_DEEP], s->offset, 1);
		return;
	}
	if (!array_room(&l->equal, l->nequal, &l->equal_cap, sizeof *l->equal)) {
		chunk->text.failed = true;
		return;
	}
	l->equal[l->nequal++] = s->frame;
	l->equal_start = s->start;
	l->equal_end = s->end;
	l->equal_offset = s->offset;
}

/* Closes what is open, at its end. */
static void speedscope_lane_end(struct speedscope_lane *l, struct speedscope_clock clock, struct chunk *chunk)
{
	open_equal(l, clock, chunk);
	close_until(l, UINT64_MAX, clock, chunk);
}

/* Closes what is open, at `time` at the latest, and remembers what was open then. */
static void speedscope_lane_pause(struct speedscope_lane *l, uint64_t time, struct speedscope_clock clock,
                                  struct chunk *chunk)
{
	open_equal(l, clock, chunk);
	close_until(l, time, clock, chunk);
	for (uint32_t i = l->nopen; i > 0; i--)
		put(l, chunk, clock, 'C', l->open[i - 1].frame, time);
}

/* Opens that again in a new part. */
static void speedscope_lane_resume(struct speedscope_lane *l, uint64_t time, struct speedscope_clock clock,
                                   struct chunk *chunk)
{
	l->events = 0;
	for (uint32_t i = 0; i < l->nopen; i++)
		put(l, chunk, clock, 'O', l->open[i].frame, time);
}

static void speedscope_lane_free(struct speedscope_lane *l)
{
	free(l->open);
	free(l->equal);
}

/* ---- write ---- */

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

static void put_name(struct text *t, struct chunk *chunk, struct slice name)
{
	if (text_json_chars(t, name) > 0)
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_BAD_TEXT], 0, 1);
}

/* `{"type":"...","name":"process / track"`, with more behind the name. */
static void put_head(struct speedscope_writer *st, const char *type, const struct text *more,
                     struct chunk *chunk)
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

static void note_count(struct speedscope_writer *st, uint64_t count, bool is_cpu)
{
	if (is_cpu == st->largest_is_cpu ? count <= st->largest_count : !is_cpu)
		return;
	st->largest_is_cpu = is_cpu;
	st->largest_count = count;
	st->largest = st->profiles - 1;
}

static void put_lane_end(struct speedscope_writer *st, const struct speedscope_lane *l, struct text *t)
{
	text_str(t, "],\"startValue\":");
	const bool known = st->trace->last_end > 0; /* one time axis for all profiles */
	speedscope_time(t, st->clock, known ? st->trace->first_start : l->start);
	text_str(t, ",\"endValue\":");
	speedscope_time(t, st->clock, known && st->trace->last_end > l->last ? st->trace->last_end : l->last);
	text_char(t, '}');
	note_count(st, l->events, false);
}

static void begin_lane(struct speedscope_writer *st, struct chunk *chunk)
{
	put_head(st, "evented", NULL, chunk);
	text_str(&chunk->text, ",\"unit\":\"nanoseconds\",\"events\":[");
}

/* ---- tracks ---- */

/* The spans are ended already. */
static void end_profiles(struct speedscope_writer *st, struct chunk *chunk)
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

static void end_track(struct speedscope_writer *st, struct chunk *chunk)
{
	if (st->track == NULL)
		return;
	speedscope_lane_end(&st->lane, st->clock, chunk);
	end_profiles(st, chunk);
	st->nsamples = 0;
}

/* What waits is written: the profiles end here and go on in a further part. */
static void divide(struct speedscope_writer *st, const struct event *e, struct chunk *chunk)
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

static bool is_divided(const struct speedscope_writer *st)
{
	size_t waiting = 0;

	for (uint32_t i = 0; i < st->nsamples; i++)
		waiting += speedscope_samples_size(&st->samples[i]);
	return waiting >= WAITING;
}

static void enter_track(struct speedscope_writer *st, const struct track *k, struct chunk *chunk)
{
	if (k == st->track)
		return;
	end_track(st, chunk);
	st->track = k;
	st->part = 1;
}

/* ---- events ---- */

static bool is_exact(const struct speedscope_writer *st, uint64_t time)
{
	const uint64_t ts = st->clock.zero != 0 ? time - st->clock.zero : time ^ st->clock.bias;

	return (st->clock.zero == 0 && st->clock.bias != 0 && ts > INT64_MAX ? -ts : ts) <= EXACT;
}

static void put_span(struct speedscope_writer *st, const struct event *e, struct chunk *chunk)
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

static struct speedscope_samples *samples_of(struct speedscope_writer *st, const struct event *e,
                                             struct chunk *chunk)
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
static void put_sample(struct speedscope_writer *st, const struct batch *b, const struct event *e,
                       struct chunk *chunk)
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

static void put_event(struct speedscope_writer *st, const struct batch *b, const struct event *e,
                      struct chunk *chunk)
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

static bool speedscope_begin(struct writer *w, struct chunk *chunk)
{
	struct speedscope_writer *const st = w->state;

	st->clock.bias = (uint64_t)w->signed_time << 63;
	st->trace = w->trace;
	text_str(&chunk->text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	                       "\"profiles\":[");
	return true;
}

static bool speedscope_declare(struct writer *w, const struct batch *b)
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

static void speedscope_write(void *state, const struct batch *b, struct chunk *chunk)
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

static bool speedscope_end(struct writer *w, struct chunk *chunk)
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

static void speedscope_free(void *state)
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
