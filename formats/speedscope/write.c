/*
 * The writer of speedscope's own format: an evented profile for each track, and a sampled profile for each
 * class of the track that has call stacks.  Events arrive track by track; spans are written at once, call
 * stacks after the spans of their track.  If call stacks need too much memory, the profiles end and continue
 * as further parts.
 */
#include <inttypes.h>

#include "base/numbers.h"
#include "base/open_spans.h"
#include "model/event_traits.h"
#include "out/facts.h"
#include "out/tracks.h"
#include "speedscope/speedscope.h"

/* ---- frames ---- */

/* A frame is a name and a category; each pair is stored once as JSON, and numbered.  The JSON is written at
 * the end.  Zero-initialised. */
struct speedscope_frames {
	struct text json; /* elements of the list of frames */
	struct text key;  /* key of the frame that is searched */
	struct arena keys;
	struct tabletext table;               /* number of the category, name -> number of the frame */
	struct known_text known[KNOWN_TEXTS]; /* name -> number of the frame, of a category */
	struct tabletext categories;          /* name, borrowed from a class -> number */
	uint32_t n, ncategories;
	uint32_t other; /* number + 1 of the frame that replaces frames beyond the limits; 0: none yet */
};

/* Returns the number of a category, from 1 on; 0 on OOM.  Keeps a pointer to its text. */
static uint32_t find_category(struct speedscope_frames *f, struct slice category)
{
	const uint32_t found = tabletext_get(&f->categories, category);

	if (found != TABLE_NONE)
		return found;
	return tabletext_put(&f->categories, category, f->ncategories + 1) ? ++f->ncategories : 0;
}

static inline void add_loss(struct chunk *chunk, enum speedscope_loss loss, uint64_t offset)
{
	ledger_add(&chunk->ledger, &speedscope_losses[loss], offset, 1);
}

static void write_frame(struct speedscope_frames *f, struct slice name, struct slice category,
                        uint64_t offset, struct chunk *chunk)
{
	text_str(&f->json, f->n > 0 ? ",\n{\"name\":" : "\n{\"name\":");
	size_t bad = text_json_string(&f->json, name);
	if (category.n > 0) {
		text_str(&f->json, ",\"file\":");
		bad += text_json_string(&f->json, category);
	}
	text_char(&f->json, '}');
	if (bad > 0)
		add_loss(chunk, SPEEDSCOPE_BAD_TEXT, offset);
	f->n++;
}

/* Returns the frame that replaces all frames beyond the limits. */
static uint32_t other_frame(struct speedscope_frames *f, uint64_t offset, struct chunk *chunk)
{
	add_loss(chunk, SPEEDSCOPE_FRAMES_FULL, offset);
	if (f->other == 0) {
		write_frame(f, SLICE_LIT("(other)"), SLICE_LIT(""), offset, chunk);
		f->other = f->n;
	}
	return f->other - 1;
}

static bool has_space(const struct speedscope_frames *f, struct slice name, struct slice category)
{
	const uint64_t max = 6 * ((uint64_t)name.n + category.n) + 32; /* an escaped byte takes 6 */

	return f->n < SPEEDSCOPE_FRAMES_MAX && f->json.n < SPEEDSCOPE_FRAMES_BYTES &&
	       max <= SPEEDSCOPE_FRAMES_BYTES - f->json.n;
}

/* Returns the number of a frame.  category: its number and `text`; 0: none.  offset: of the event. */
static uint32_t find_frame(struct speedscope_frames *f, struct slice name, uint32_t category,
                           struct slice text, uint64_t offset, struct chunk *chunk)
{
	if (name.n == 0)
		name = SLICE_LIT("(no name)");
	if (category == 0)
		text.n = 0;
	struct known_text *const known = known_text(f->known, KNOWN_TEXTS, name, category);
	if (known_text_is(known, name, category))
		return known->number;
	text_clear(&f->key);
	text_add(&f->key, (const char *)&category, sizeof category);
	text_slice(&f->key, name);
	if (note_failure(&chunk->text.failed, f->key.failed))
		return 0;
	const struct slice key = slice_of(f->key.p, f->key.n);
	const uint32_t found = tabletext_get(&f->table, key);
	if (found != TABLE_NONE) {
		known_text_set(known, name, category, found);
		return found;
	}
	if (!has_space(f, name, text))
		return other_frame(f, offset, chunk);

	const struct slice own = arena_copy(&f->keys, key);
	if (note_failure(&chunk->text.failed, own.p == NULL || !tabletext_put(&f->table, own, f->n)))
		return 0;
	write_frame(f, name, text, offset, chunk);
	return f->n - 1;
}

static void free_frames(struct speedscope_frames *f)
{
	text_free(&f->json);
	text_free(&f->key);
	arena_free(&f->keys);
	tabletext_free(&f->table);
	tabletext_free(&f->categories);
}

/* ---- samples ---- */

static void write_weight(struct speedscope_samples *s)
{
	if (s->weights.n > 0)
		text_char(&s->weights, ',');
	text_u64(&s->weights, s->weight);
}

/* Adds a sample, whose call stack is a list of numbers of frames; consecutive samples with the same stack
 * become one with a weight.  A stack deeper than SPEEDSCOPE_STACK_DEPTH loses its innermost frames. */
static void append_stack(struct speedscope_samples *s, struct speedscope_frames *frames,
                         const struct call_stack *stack, uint64_t offset, struct chunk *chunk)
{
	struct text *const t = &s->stacks;
	const uint32_t depth = stack->n < SPEEDSCOPE_STACK_DEPTH ? stack->n : SPEEDSCOPE_STACK_DEPTH;
	char address[CALL_STACK_ADDRESS];

	if (depth < stack->n)
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_TOO_DEEP], offset, stack->n - depth);
	const size_t last_end = t->n;
	if (s->weight > 0)
		text_str(t, ",\n");
	const size_t start = t->n;
	text_char(t, '[');
	for (uint32_t i = 0; i < depth; i++) {
		const struct slice name = call_stack_from_root(stack, i, address);
		if (i > 0)
			text_char(t, ',');
		text_u64(t, find_frame(frames, name, 0, name, offset, chunk));
	}
	text_char(t, ']');
	if (note_failure(&chunk->text.failed, t->failed))
		return;
	s->count++;
	const size_t n = t->n - start;
	if (s->weight > 0 && last_end - s->last == n && memcmp(t->p + s->last, t->p + start, n) == 0) {
		t->n = last_end;
		s->weight++;
		return;
	}
	if (s->weight > 0)
		write_weight(s);
	s->last = start;
	s->weight = 1;
}

void speedscope_samples_flush(struct speedscope_samples *s, struct text *to)
{
	write_weight(s);
	text_str(to, ",\"unit\":\"none\",\"startValue\":0,\"endValue\":");
	text_u64(to, s->count);
	text_str(to, ",\"samples\":[\n");
	text_add(to, s->stacks.p, s->stacks.n);
	text_str(to, "],\"weights\":[");
	text_add(to, s->weights.p, s->weights.n);
	to->failed |= s->weights.failed;
	text_str(to, "]}");
	text_clear(&s->stacks);
	text_clear(&s->weights);
	s->last = 0;
	s->weight = s->count = 0;
}

void speedscope_samples_free(struct speedscope_samples *s)
{
	text_free(&s->title);
	text_free(&s->stacks);
	text_free(&s->weights);
}

/* ---- profiles of a track ---- */

#define SAMPLED 8                          /* sampled profiles of one track */
#define MAX_SAMPLE_BYTES ((size_t)8 << 20) /* bytes in memory; above, a new part starts */
#define CHECK_INTERVAL 256                 /* events between two checks of MAX_SAMPLE_BYTES */
#define MAX_EXACT (UINT64_C(1) << 53)      /* a double represents integers up to this */

/* Biased times sort as unsigned numbers: the highest bit of signed times is inverted. */
struct clock {
	uint64_t bias;
	uint64_t zero; /* biased time that is 0 in the output */
};

/*
 * The spans of an evented profile, as opens and closes.  They arrive in order of start; with equal starts,
 * the longer first.  The last of several spans with equal start and end encloses the others, as in the
 * statistics, so they are pending until another span arrives.  All times are biased.
 */
struct evented {
	struct nested_spans open; /* `what` is the frame */
	uint32_t *pending;        /* frames */
	uint32_t npending, pending_cap;
	uint64_t pending_start, pending_end;
	uint64_t pending_offset; /* of the last pending span */
	uint64_t start, last;    /* times of the first and the last event of this part */
	uint64_t events;         /* events written in this part */
};

struct speedscope_writer {
	struct speedscope_frames frames;
	struct arena arena; /* of the classes */
	struct clock clock;
	const struct track *track; /* of the current profiles; NULL: none yet */
	uint32_t part;             /* part of these profiles, from 1 on */
	struct evented evented;
	struct speedscope_samples samples[SAMPLED];
	uint32_t nsamples;
	uint64_t events; /* since the start of the output, to check the size of samples at intervals */
	uint32_t profiles;
	uint32_t largest;          /* profile with the most events or samples */
	uint64_t largest_count;    /* its events or samples */
	bool largest_is_cpu;       /* it has CPU samples, which are preferred */
	const struct trace *trace; /* borrowed; its times are known before the first event */
};

/* ---- spans of a track ---- */

static char *put_time(char *p, struct clock clock, uint64_t time)
{
	if (clock.zero != 0)
		return decimal_u64(p, time > clock.zero ? time - clock.zero : 0);
	return clock.bias != 0 ? decimal_i64(p, (int64_t)(time ^ clock.bias)) : decimal_u64(p, time);
}

/* Writes an open ('O') or a close ('C'). */
static void write_event(struct speedscope_writer *st, char type, uint32_t frame, uint64_t time,
                        struct chunk *chunk)
{
	static const char open[] = ",\n{\"type\":\"O\",\"frame\":", close[] = ",\n{\"type\":\"C\",\"frame\":";
	struct evented *const l = &st->evented;
	struct text *const t = &chunk->text;
	const size_t skip = l->events == 0 ? 1 : 0; /* no comma before the first */
	char *p = text_reserve(t, sizeof open + 2 * DECIMAL_U64_MAX + 16);

	if (l->events++ == 0)
		l->start = time;
	l->last = time;
	if (p == NULL)
		return;
	memcpy(p, (type == 'O' ? open : close) + skip, sizeof open - 1 - skip);
	p = decimal_u64(p + sizeof open - 1 - skip, frame);
	memcpy(p, ",\"at\":", 6);
	p = put_time(p + 6, st->clock, time);
	*p++ = '}';
	t->n = (size_t)(p - t->p);
}

static void close_until(struct speedscope_writer *st, uint64_t time, struct chunk *chunk)
{
	for (const struct nested_span *o; (o = nested_spans_pop(&st->evented.open, time)) != NULL;)
		write_event(st, 'C', (uint32_t)o->what, o->end, chunk);
}

/* Opens the pending spans, the last one first. */
static void open_pending(struct speedscope_writer *st, struct chunk *chunk)
{
	struct evented *const l = &st->evented;
	const struct nested_span *const around = nested_spans_last(&l->open);
	uint64_t end = l->pending_end;

	if (l->npending > 0 && around != NULL && around->end < end) {
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_CUT], l->pending_offset,
		           l->npending);
		end = around->end;
	}
	while (l->npending > 0) {
		const uint32_t frame = l->pending[--l->npending];
		write_event(st, 'O', frame, l->pending_start, chunk);
		chunk->text.failed |= !nested_spans_push(&l->open, (struct nested_span){ end, frame });
	}
}

/* Makes a span pending, after opening pending spans with another start or end, or around it (EVENT_INNER). */
static void add_pending(struct speedscope_writer *st, uint64_t start, uint64_t end, uint32_t frame,
                        uint64_t offset, bool inner, struct chunk *chunk)
{
	struct evented *const l = &st->evented;

	if (l->npending == 0 || start != l->pending_start || end != l->pending_end || inner) {
		open_pending(st, chunk);
		close_until(st, start, chunk);
	}
	if (l->open.n + l->npending >= SPEEDSCOPE_DEPTH) {
		add_loss(chunk, SPEEDSCOPE_TOO_DEEP, offset);
		return;
	}
	if (note_failure(&chunk->text.failed,
	                 !array_reserve(&l->pending, l->npending, &l->pending_cap, sizeof *l->pending)))
		return;
	l->pending[l->npending++] = frame;
	l->pending_start = start;
	l->pending_end = end;
	l->pending_offset = offset;
}

/* ---- heads and ends of profiles ---- */

static void write_name(struct text *t, struct chunk *chunk, struct slice name)
{
	if (text_json_chars(t, name) > 0)
		add_loss(chunk, SPEEDSCOPE_BAD_TEXT, LOSS_NOWHERE);
}

/* Writes `{"type":"...","name":"process / track: title, part 2"`. */
static void write_head(struct speedscope_writer *st, const char *type, const struct text *title,
                       struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const struct track *const process = track_process(st->track);

	text_printf(t, "%s{\"type\":\"%s\",\"name\":\"", st->profiles++ > 0 ? ",\n" : "\n", type);
	if (process != track_without_lane(st->track) && process->name.n > 0) {
		write_name(t, chunk, process->name);
		text_str(t, " / ");
	}
	write_name(t, chunk, st->track->name);
	if (title != NULL) {
		text_str(t, ": ");
		text_add(t, title->p, title->n);
	}
	if (st->part > 1)
		text_printf(t, ", part %" PRIu32, st->part);
	text_char(t, '"');
}

/* Compares the profile with the largest one, which viewers show first. */
static void compare_size(struct speedscope_writer *st, uint64_t count, bool is_cpu)
{
	if (is_cpu == st->largest_is_cpu ? count <= st->largest_count : !is_cpu)
		return;
	st->largest_is_cpu = is_cpu;
	st->largest_count = count;
	st->largest = st->profiles - 1;
}

static void write_evented_head(struct speedscope_writer *st, struct chunk *chunk)
{
	write_head(st, "evented", NULL, chunk);
	text_str(&chunk->text, ",\"unit\":\"nanoseconds\",\"events\":[");
}

static void write_time(struct text *t, struct clock clock, uint64_t time)
{
	char *const p = text_reserve(t, DECIMAL_I64_MAX);

	if (p != NULL)
		t->n = (size_t)(put_time(p, clock, time) - t->p);
}

static void write_evented_end(struct speedscope_writer *st, struct text *t)
{
	const struct evented *const l = &st->evented;
	const bool known = st->trace->has_times; /* one time axis for all profiles */

	text_str(t, "],\"startValue\":");
	write_time(t, st->clock, known ? st->trace->first_start : l->start);
	text_str(t, ",\"endValue\":");
	write_time(t, st->clock, known && st->trace->last_end > l->last ? st->trace->last_end : l->last);
	text_char(t, '}');
	compare_size(st, l->events, false);
}

/* Ends the evented profile, after its spans were closed, and writes the sampled ones. */
static void end_profiles(struct speedscope_writer *st, struct chunk *chunk)
{
	if (st->evented.events > 0)
		write_evented_end(st, &chunk->text);
	st->evented.events = 0;
	for (uint32_t i = 0; i < st->nsamples; i++) {
		struct speedscope_samples *const s = &st->samples[i];
		if (s->count == 0)
			continue;
		write_head(st, "sampled", &s->title, chunk);
		const enum plan_stack of = call_stack_kind(s->cls);
		if (of == PLAN_STACK_ANY || of == PLAN_STACK_CPU)
			compare_size(st, s->count, of == PLAN_STACK_CPU);
		speedscope_samples_flush(s, &chunk->text);
	}
}

static void end_track(struct speedscope_writer *st, struct chunk *chunk)
{
	if (st->track == NULL)
		return;
	open_pending(st, chunk);
	close_until(st, UINT64_MAX, chunk);
	end_profiles(st, chunk);
	st->nsamples = 0;
}

/* Ends the profiles of the track at an event, and starts the next part.  Spans open at that time are closed,
 * and opened again in the next part. */
static void start_part(struct speedscope_writer *st, const struct event *e, struct chunk *chunk)
{
	struct evented *const l = &st->evented;
	const uint64_t now = e->ts ^ st->clock.bias;

	open_pending(st, chunk);
	close_until(st, now, chunk);
	for (uint32_t i = l->open.n; i > 0; i--)
		write_event(st, 'C', (uint32_t)l->open.spans[i - 1].what, now, chunk);
	end_profiles(st, chunk);
	st->part++;
	add_loss(chunk, SPEEDSCOPE_PARTS, e->offset);
	if (l->open.n > 0)
		write_evented_head(st, chunk);
	for (uint32_t i = 0; i < l->open.n; i++)
		write_event(st, 'O', (uint32_t)l->open.spans[i].what, now, chunk);
}

static bool is_part_full(const struct speedscope_writer *st)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < st->nsamples; i++)
		bytes += st->samples[i].stacks.n + st->samples[i].weights.n;
	return bytes >= MAX_SAMPLE_BYTES;
}

/* ---- events ---- */

static bool is_exact(const struct speedscope_writer *st, uint64_t time)
{
	const uint64_t ts = st->clock.zero != 0 ? time - st->clock.zero : time ^ st->clock.bias;

	return (st->clock.zero == 0 && st->clock.bias != 0 && ts > INT64_MAX ? -ts : ts) <= MAX_EXACT;
}

static void add_span(struct speedscope_writer *st, const struct event *e, struct chunk *chunk)
{
	const uint32_t *const category = e->cls->declared;
	const uint64_t start = e->ts ^ st->clock.bias;
	const uint64_t end = e->dur > UINT64_MAX - start ? UINT64_MAX : start + e->dur;
	const uint32_t frame =
	    find_frame(&st->frames, e->name, *category, e->cls->category, e->offset, chunk);

	if (!is_exact(st, start) || !is_exact(st, end))
		add_loss(chunk, SPEEDSCOPE_TIME_ROUNDED, e->offset);
	if (st->evented.events == 0 && st->evented.npending == 0)
		write_evented_head(st, chunk);
	add_pending(st, start, end, frame, e->offset, (e->flags & EVENT_INNER) != 0, chunk);
}

/* Returns the samples of the event's class; NULL if the track has too many classes. */
static struct speedscope_samples *find_samples(struct speedscope_writer *st, const struct event *e,
                                               struct chunk *chunk)
{
	uint32_t i = 0;

	while (i < st->nsamples && st->samples[i].cls != e->cls)
		i++;
	if (i == SAMPLED)
		return NULL;
	struct speedscope_samples *const s = &st->samples[i];
	if (i == st->nsamples) {
		st->nsamples++;
		s->cls = e->cls;
		text_clear(&s->title);
		write_name(&s->title, chunk, e->name);
		text_str(&s->title, " (count)");
		chunk->text.failed |= s->title.failed;
	}
	return s;
}

/* Adds an instant, if it has a call stack. */
static void add_sample(struct speedscope_writer *st, const struct batch *b, const struct event *e,
                       struct chunk *chunk)
{
	struct call_stack stack;
	struct speedscope_samples *const s = call_stack_get(&stack, b, e) ? find_samples(st, e, chunk) : NULL;

	if (s == NULL) {
		add_loss(chunk, SPEEDSCOPE_NO_DURATION, e->offset);
		return;
	}
	append_stack(s, &st->frames, &stack, e->offset, chunk);
	if (event_has_category(e) && !slice_is(e->cls->category, "stack"))
		add_loss(chunk, SPEEDSCOPE_CATEGORY, e->offset);
	if (e->nfields > 1)
		add_loss(chunk, SPEEDSCOPE_FIELDS, e->offset);
}

static void add_event(struct speedscope_writer *st, const struct batch *b, const struct event *e,
                      struct chunk *chunk)
{
	switch ((enum phase)e->phase) {
	case PHASE_SPAN:
		if ((e->flags & EVENT_ASYNC) != 0) {
			add_loss(chunk, SPEEDSCOPE_ASYNC, e->offset);
			break;
		}
		add_span(st, e, chunk);
		if (e->nfields > 0)
			add_loss(chunk, SPEEDSCOPE_FIELDS, e->offset);
		break;
	case PHASE_COUNTER:
		add_loss(chunk, SPEEDSCOPE_COUNTERS, e->offset);
		break;
	case PHASE_FLOW_IN:
	case PHASE_FLOW_OUT:
		add_loss(chunk, SPEEDSCOPE_ARROWS, e->offset);
		break;
	default:
		add_sample(st, b, e, chunk);
	}
}

/* ---- writer ---- */

static bool speedscope_open(struct writer *w, struct chunk *chunk)
{
	struct speedscope_writer *const st = w->state;

	st->clock.bias = (uint64_t)w->run->signed_time << 63;
	st->trace = w->run->trace;
	text_str(&chunk->text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	                       "\"profiles\":[");
	return true;
}

static bool speedscope_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct speedscope_writer *const st = w->state;

	for (uint32_t i = 0; i < b->nclasses; i++) {
		uint32_t *const category = arena_alloc(&st->arena, sizeof *category);
		if (category == NULL)
			return false;
		*category = find_category(&st->frames, b->classes[i]->category);
		if (*category == 0)
			return false;
		b->classes[i]->declared = category;
	}
	return true;
}

static void speedscope_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct speedscope_writer *const st = state;

	st->clock.zero = st->trace->has_times ? st->trace->first_start : 0;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		if (e->track == NULL)
			continue;
		if (e->track != st->track) {
			end_track(st, chunk);
			st->track = e->track;
			st->part = 1;
		}
		add_event(st, b, e, chunk);
		if (chunk->text.failed)
			return;
		if (st->events++ % CHECK_INTERVAL == 0 && is_part_full(st))
			start_part(st, e, chunk);
	}
}

static bool speedscope_close(struct writer *w, struct chunk *chunk)
{
	struct speedscope_writer *const st = w->state;
	struct text *const t = &chunk->text;

	end_track(st, chunk);
	facts_lose(w,
	           (struct facts_losses){ &speedscope_losses[SPEEDSCOPE_FACTS],
	                                  &speedscope_losses[SPEEDSCOPE_HOSTS],
	                                  &speedscope_losses[SPEEDSCOPE_EPOCH] },
	           chunk);
	text_str(t, "],\n\"shared\":{\"frames\":[");
	text_add(t, st->frames.json.p, st->frames.json.n);
	t->failed |= st->frames.json.failed;
	text_printf(t, "]},\n\"activeProfileIndex\":%" PRIu32 ",\n\"name\":", st->largest);
	text_json_string(t, slice_str(w->run->trace->format != NULL ? w->run->trace->format : ""));
	text_str(t, ",\n\"exporter\":");
	text_json_string(t, slice_str(w->run->tool));
	text_str(t, "}\n");
	return true;
}

static void speedscope_free(void *state)
{
	struct speedscope_writer *const st = state;

	free_frames(&st->frames);
	arena_free(&st->arena);
	free(st->evented.open.spans);
	free(st->evented.pending);
	for (uint32_t i = 0; i < SAMPLED; i++)
		speedscope_samples_free(&st->samples[i]);
}

static const struct writer_ops speedscope_writer_ops = {
	.state_size = sizeof(struct speedscope_writer),
	.want = WANT_FIELDS,
	.modes = WRITER_TEXT | WRITER_FEW_FIELDS,
	.order = ORDER_TRACK_TIME,
	.nested = true,
	.open = speedscope_open,
	.declare = speedscope_declare,
	.write = speedscope_write,
	.close = speedscope_close,
	.free = speedscope_free,
};

/* ---- the format ---- */

const struct loss speedscope_losses[SPEEDSCOPE_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "speedscope/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".speedscope.json", NULL };

const struct format speedscope_format = {
	.name = "speedscope",
	.title = "speedscope profile",
	.spec = "speedscope file format (file-format-schema.json)",
	.suffixes = suffixes,
	.writer = &speedscope_writer_ops,
	.losses = speedscope_losses,
};
