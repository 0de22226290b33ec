/*
 * The writer: Chrome trace event JSON in its object form, one event per line.  Some viewers refuse the array
 * form, and the object form has a place for facts of the whole trace; they are written at the end, when all
 * of them are known.
 */
#include <float.h>
#include <math.h>

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/scan.h"
#include "base/table.h"
#include "chrome/write/write.h"
#include "format/fields_json.h"
#include "model/event_traits.h"
#include "out/facts.h"
#include "out/field_names.h"
#include "out/tracks.h"

const struct loss chrome_losses[CHROME_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "chrome/losses.def"
#undef LOSS
};

/* ---- args ---- */

static void add_loss(struct chunk *chunk, enum chrome_loss kind, uint64_t offset, uint64_t count)
{
	if (count > 0)
		ledger_add(&chunk->ledger, &chrome_losses[kind], offset, count);
}

static void add_losses(struct chunk *chunk, const struct fields_json_lost *lost, uint64_t offset)
{
	add_loss(chunk, CHROME_BAD_TEXT, offset, lost->bad_text);
	add_loss(chunk, CHROME_NOT_A_NUMBER, offset, lost->not_a_number);
	add_loss(chunk, CHROME_TOO_DEEP, offset, lost->too_deep);
}

/* Returns 1 if the first field of the event is its record number, else 0. */
static uint32_t count_record_ids(const struct chrome_state *st, const struct batch *b, const struct event *e)
{
	const struct field *const f = &b->fields[e->first_field];

	if (e->phase == PHASE_COUNTER || (e->flags & EVENT_ASYNC) != 0)
		return 0; /* viewers do not aggregate these by args */
	return st->record_id.n > 0 && e->nfields > 0 && f->value.type >= VALUE_U8 &&
	       f->value.type <= VALUE_I64 && slice_equal(f->name, st->record_id);
}

static void put_fields(struct chunk *chunk, const struct event *e, const struct field *f, uint32_t n)
{
	struct fields_json_lost lost = { 0 };

	fields_json(&chunk->text, f, n, &lost);
	if (fields_json_lost_any(&lost))
		add_losses(chunk, &lost, e->offset);
}

/* Whether a JSON number is finite as a double: readers turn 1e400 into infinity, at which Perfetto's importer
 * loops. */
static bool is_finite(struct slice s)
{
	double v;

	if (s.n <= DBL_MAX_10_EXP && memchr(s.p, 'e', s.n) == NULL && memchr(s.p, 'E', s.n) == NULL)
		return true;
	return decimal_read_f64(s, &v) && isfinite(v);
}

/* Writes a number of a series, without quotes even if it is large.  Returns false for other values. */
static bool put_number(struct text *t, const struct value *v)
{
	if (v->type == VALUE_JSON && v->count > 0 && (*v->p == '-' || (*v->p >= '0' && *v->p <= '9')) &&
	    is_finite(value_text(v)))
		text_add(t, v->p, v->count); /* the digits of the trace */
	else if (v->type == VALUE_BOOL)
		text_u64(t, v->u64 != 0);
	else if (v->type < VALUE_U8 || v->type > VALUE_F64 ||
	         (v->type >= VALUE_F32 && v->f64 - v->f64 != 0)) /* NaN and the infinities */
		return false;
	else
		(void)fields_json_as_is(t, v);
	return true;
}

/* Returns true for a field that was a member of the event: viewers look for it there.  A number that is a
 * field of a counter is a series; the members of counters are text. */
static bool is_member(const struct event *e, const struct field *f)
{
	const enum value_type type = f->value.type,
	                      text = e->phase == PHASE_COUNTER ? VALUE_STRING : VALUE_JSON;
	const bool number = (type >= VALUE_U8 && type <= VALUE_I64 && e->phase != PHASE_COUNTER) ||
	                    (type == text && f->value.count > 0 && *f->value.p >= '0' && *f->value.p <= '9');

	return (number && (slice_is(f->name, "tts") || slice_is(f->name, "tdur"))) ||
	       (type == VALUE_STRING && slice_is(f->name, "cname"));
}

static void put_members(const struct event *e, const struct field *f, uint32_t n, struct chunk *chunk)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_member(e, &f[i])) {
			text_char(&chunk->text, ',');
			put_fields(chunk, e, &f[i], 1);
		}
}

static void put_series(const struct chrome_state *st, const struct event *e, const struct field *f,
                       uint32_t n, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	bool first = true;

	for (uint32_t i = 0; i < n; i++) {
		const size_t before = t->n;
		if (st->of_chrome && is_member(e, &f[i]))
			continue;
		if (!first)
			text_char(t, ',');
		if (text_json_string(t, f[i].name) > 0)
			add_loss(chunk, CHROME_BAD_TEXT, e->offset, 1);
		text_char(t, ':');
		if (put_number(t, &f[i].value)) {
			first = false;
			continue;
		}
		t->n = before;
		add_loss(chunk, CHROME_COUNTER_TEXT, e->offset, 1);
	}
}

/* Writes the fields of an event of the same format: first those that are members. */
static void put_own_args(const struct event *e, const struct field *f, uint32_t n, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	bool any = false;

	put_members(e, f, n, chunk);
	for (uint32_t i = 0, to; i < n; i = to + 1) {
		for (to = i; to < n && !is_member(e, &f[to]); to++)
			;
		if (to == i)
			continue;
		text_str(t, any ? "," : ",\"args\":{");
		put_fields(chunk, e, &f[i], to - i);
		any = true;
	}
	if (any)
		text_char(t, '}');
}

/* Writes n fields of an event as `,"args":{...}` unless there are none. */
static void put_args(const struct chrome_state *st, const struct event *e, const struct field *f, uint32_t n,
                     struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const bool counter = e->phase == PHASE_COUNTER;

	if (n == 0)
		return;
	if (st->of_chrome && !counter) {
		put_own_args(e, f, n, chunk);
		return;
	}
	if (st->of_chrome)
		put_members(e, f, n, chunk);
	char *const p = text_reserve(t, 16);
	if (p == NULL)
		return;
	memcpy(p, ",\"args\":{", 9);
	t->n += 9;
	if (counter)
		put_series(st, e, f, n, chunk);
	else
		put_fields(chunk, e, f, n);
	text_char(t, '}');
}

static void put_id(struct text *t, const char *name, const struct track *k, const char *comma)
{
	text_printf(t, "%s\"%s\":", comma, name);
	text_json_u64(t, k->id);
}

/* Whether the track is that of a process or a lane of it. */
static bool is_of_process(const struct track *k)
{
	return track_without_lane(k)->kind == TRACK_PROCESS;
}

/* Writes n record numbers and, with --ids, the true ids of process and thread as `,"ids":{...}`. */
static void put_ids(const struct chrome_state *st, const struct batch *b, const struct event *e, uint32_t n,
                    struct chunk *chunk)
{
	const struct track *const process = track_process(e->track);
	const bool pid = st->with_ids && process->has_id,
	           tid = st->with_ids && e->track->has_id && !is_of_process(e->track);
	struct text *const t = &chunk->text;

	if (n == 0 && !pid && !tid)
		return;
	text_add(t, ",\"ids\":{", 8);
	if (n > 0)
		put_fields(chunk, e, b->fields + e->first_field, n);
	if (pid)
		put_id(t, "true_pid", process, n > 0 ? "," : "");
	if (tid)
		put_id(t, "true_tid", e->track, n > 0 || pid ? "," : "");
	text_char(t, '}');
}

/* ---- declarations ---- */

/* `","cat":"NAME","ph":"`, ready to copy. */
struct chrome_class {
	char *text;
	uint32_t len;
	bool changed; /* the name is not UTF-8 */
};

static bool declare_class(struct chrome_state *st, struct class *c)
{
	struct chrome_class *const to = arena_alloc(&st->arena, sizeof *to);
	struct text t = { .p = NULL };

	text_str(&t, "\",\"cat\":");
	const bool changed = text_json_string(&t, c->category) > 0;
	text_str(&t, ",\"ph\":\"");
	char *const p = to != NULL && !t.failed ? arena_alloc(&st->arena, t.n) : NULL;
	if (p != NULL) {
		memcpy(p, t.p, t.n);
		*to = (struct chrome_class){ p, (uint32_t)t.n, changed };
		c->declared = to;
	}
	text_free(&t);
	return p != NULL;
}

bool chrome_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct chrome_state *const st = w->state;

	if (!st->declared && w->run->trace->record_id != NULL)
		st->record_id = slice_str(w->run->trace->record_id);
	if (!st->declared)
		st->of_chrome = strcmp(w->run->trace->format, "chrome") == 0;
	st->declared = true;
	for (uint32_t i = 0; i < b->ntracks; i++)
		if (!chrome_declare_track(st, b->tracks[i]))
			return false;
	for (uint32_t i = 0; i < b->nclasses; i++)
		if (!declare_class(st, b->classes[i]))
			return false;
	return true;
}

/* ---- lines ---- */

/* first: the first thread of a process, or NULL.  Viewers create a thread for metadata without a tid. */
static void put_metadata(struct text *t, const char *name, const struct track *k, const struct track *first)
{
	const struct track *const thread = k->kind == TRACK_THREAD ? k : first;

	text_str(t, "\n{\"name\":\"");
	text_str(t, name);
	text_str(t, "\",\"ph\":\"M\",\"pid\":");
	text_u64(t, chrome_track_of(k)->pid);
	if (thread != NULL) {
		text_str(t, ",\"tid\":");
		text_u64(t, chrome_track_of(thread)->tid);
	}
	text_str(t, ",\"args\":{");
}

void chrome_render_track(const struct track *k, const struct track *first, bool comma, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const struct chrome_track *const c = chrome_track_of(k);
	const bool process = k->kind == TRACK_PROCESS;

	text_str(t, comma ? "," : "");
	put_metadata(t, process ? "process_name" : "thread_name", k, first);
	text_str(t, "\"name\":");
	(void)text_json_string(t, k->name); /* a repaired name is counted with its events */
	if (c->renamed) {
		text_str(t, process ? ",\"true_pid\":" : ",\"true_tid\":");
		text_json_u64(t, k->id);
	}
	if (k->host.n > 0) {
		text_str(t, ",\"host\":");
		(void)text_json_string(t, k->host); /* as its name */
	}
	text_str(t, "}}");
}

static inline void put_name(struct chunk *chunk, const struct event *e)
{
	struct text *const t = &chunk->text;
	char *p = text_reserve(t, e->name.n + 16);

	if (p == NULL)
		return;
	p = text_put_literal(p, ",\n{\"name\":\"");
	if ((e->name.flags & SLICE_JSON) != 0) {
		t->n = (size_t)(text_put(p, e->name.p, e->name.n) - t->p);
		return;
	}
	t->n = (size_t)(p - t->p);
	if (text_json_chars(t, e->name) > 0)
		add_loss(chunk, CHROME_BAD_TEXT, e->offset, 1);
}

/* Viewers match the ends of an async span by category and id, which is hexadecimal and unique in a process.
 * The offset distinguishes spans of one input, the track index those of several inputs, and the times those
 * of several inputs that share the track, as files of one process do. */
static char *put_async(char *p, const struct event *e, char ph)
{
	*p++ = ph;
	p = text_put_literal(p, "\",\"id2\":{\"local\":\"");
	p = decimal_hex(p, hash_u64(e->ts ^ hash_u64(e->dur, 0), 0) ^ e->offset ^
	                       (uint64_t)e->track->index << 44);
	return text_put_literal(p, "\"},\"ts\":");
}

/* Viewers merge counters of equal name and process, even of different threads: a counter below a thread has
 * the tid as its id.  The scope states the meaning of the id. */
static char *put_counter(char *p, const struct track *k)
{
	p = text_put_literal(p, "C\"");
	if (k->is_child && k->parent->kind == TRACK_THREAD && k->parent->has_id) {
		p = text_put_literal(p, ",\"id\":\"");
		p = decimal_u64(p, k->parent->id);
		p = text_put_literal(p, "\",\"scope\":\"thread\"");
	}
	return text_put_literal(p, ",\"ts\":");
}

static char *put_phase(char *p, const struct event *e)
{
	if (e->phase == PHASE_COUNTER && e->nfields > 0) /* without values an instant: viewers refuse it */
		return put_counter(p, e->track);
	switch ((enum phase)e->phase) {
	case PHASE_SPAN:
		return event_is_async(e) ? put_async(p, e, 'b') : text_put_literal(p, "X\",\"ts\":");
	case PHASE_BEGIN:
		return text_put_literal(p, "B\",\"ts\":");
	case PHASE_END:
		return text_put_literal(p, "E\",\"ts\":");
	case PHASE_FLOW_OUT:
	case PHASE_FLOW_IN:
		/* an id in quotes is read as hexadecimal and has all 64 bits */
		p = e->phase == PHASE_FLOW_OUT     ? text_put_literal(p, "s\",\"id\":\"")
		    : event_is_step(e)             ? text_put_literal(p, "t\",\"bp\":\"e\",\"id\":\"")
		    : (e->flags & EVENT_NEXT) != 0 ? text_put_literal(p, "f\",\"id\":\"")
		                                   : text_put_literal(p, "f\",\"bp\":\"e\",\"id\":\"");
		p = decimal_hex(p, e->dur);
		return text_put_literal(p, "\",\"ts\":");
	default:
		return e->phase == PHASE_INSTANT && (e->flags & EVENT_GLOBAL) != 0
		           ? text_put_literal(p, "i\",\"s\":\"g\",\"ts\":")
		       : e->track->kind == TRACK_PROCESS ? text_put_literal(p, "i\",\"s\":\"p\",\"ts\":")
		                                         : text_put_literal(p, "i\",\"s\":\"t\",\"ts\":");
	}
}

/* Returns the end of a span, at most the last time of the clock. */
static uint64_t span_end(const struct chrome_state *st, const struct event *e)
{
	const uint64_t last = st->signed_time ? INT64_MAX : UINT64_MAX;
	const uint64_t first = st->signed_time ? UINT64_C(1) << 63 : 0;
	const uint64_t left = (last - first) - (e->ts - first);

	return e->dur > left ? last : e->ts + e->dur;
}

/* Whether a reader that stores microseconds as a double gets the nanoseconds back. */
static NOINLINE bool is_large_time_exact(uint64_t ns)
{
	const uint64_t us = ns / 1000;

	if (us < (uint64_t)1 << 53 && us * 1000 == ns)
		return true;               /* all integers below 2^53 are doubles */
	const int top = (int)high_bit(us); /* the highest bit of the microseconds */
	const int shift = 52 - top;        /* doubles here are multiples of 2^-shift us */
	const uint128 one = 1;
	uint128 back;
	if (shift >= 0) {
		const uint128 m = (((uint128)ns << shift) + 500) / 1000;
		back = (m * 1000 + ((one << shift) >> 1)) >> shift;
	} else {
		const uint128 unit = (one << -shift) * 1000;
		back = (ns + unit / 2) / unit * unit;
	}
	return back == ns;
}

/* Below 2^43 us adjacent doubles are less than a nanosecond apart. */
static inline bool is_time_exact(uint64_t ns)
{
	return ns < (uint64_t)1000 << 43 || is_large_time_exact(ns);
}

/* Returns false if viewers round the time to another nanosecond. */
static bool is_exact(const struct chrome_state *st, uint64_t ts)
{
	return is_time_exact(st->signed_time && ts > INT64_MAX ? -ts : ts);
}

static bool times_exact(const struct chrome_state *st, const struct event *e)
{
	if (!is_exact(st, e->ts))
		return false;
	if (event_is_async(e))
		return is_exact(st, span_end(st, e));
	return e->phase != PHASE_SPAN || is_time_exact(e->dur);
}

static inline const struct chrome_class *class_of(const struct class *c)
{
	return c->declared;
}

/* Space for a line without its name, category and args. */
#define LINE_SPACE (sizeof(struct chrome_track) + 2 * DECIMAL_USEC_MAX + DECIMAL_HEX_MAX + 144)

/* Writes a line up to its track; async_end: the line of the end of an async span. */
static bool render_start(const struct chrome_state *st, const struct event *e, bool async_end,
                         struct chunk *chunk)
{
	const struct chrome_class *const c = class_of(e->cls);
	const struct chrome_track *const k = chrome_track_of(e->track);
	struct text *const t = &chunk->text;

	put_name(chunk, e);
	char *p = text_reserve(t, c->len + LINE_SPACE);
	if (p == NULL)
		return false;
	/* viewers match the ends of an arrow by category, too: all arrows have the same */
	p = event_is_flow(e) ? text_put_literal(p, "\",\"cat\":\"flow\",\"ph\":\"")
	                     : text_put(p, c->text, c->len);
	p = async_end ? put_async(p, e, 'e') : put_phase(p, e);
	const uint64_t ts = async_end ? span_end(st, e) : e->ts;
	p = st->signed_time ? decimal_usec_signed(p, (int64_t)ts) : decimal_usec(p, ts);
	if (e->phase == PHASE_SPAN && !event_is_async(e)) {
		p = text_put_literal(p, ",\"dur\":");
		p = decimal_usec(p, e->dur);
	}
	memcpy(p, k->text, sizeof k->text); /* a constant size: a few moves */
	t->n = (size_t)(p + k->len - t->p);
	return true;
}

/* Writes the start of an arrow, which viewers draw if an end of its id follows.  They start it at the last
 * event before this one on the thread. */
static void render_departure(const struct chrome_state *st, const struct event *e, struct chunk *chunk)
{
	const struct event out = { .ts = e->ts,
		                   .name = plan_with_arrows(e->cls->plan)->flow_name,
		                   .cls = e->cls,
		                   .track = e->track,
		                   .offset = e->offset,
		                   .phase = PHASE_FLOW_OUT,
		                   .dur = e->dur };

	if (render_start(st, &out, false, chunk))
		text_char(&chunk->text, '}');
}

void chrome_render_event(const struct chrome_state *st, const struct batch *b, const struct event *e,
                         struct chunk *chunk)
{
	const struct chrome_track *const k = chrome_track_of(e->track);

	if (!render_start(st, e, false, chunk))
		return;
	if (class_of(e->cls)->changed)
		add_loss(chunk, CHROME_BAD_TEXT, e->offset, 1);
	/* viewers show events of a process on a thread, except async spans, instants and counters */
	if (k->changed || (is_of_process(e->track) && !event_is_async(e) && e->phase != PHASE_INSTANT &&
	                   e->phase != PHASE_COUNTER))
		add_loss(chunk, CHROME_TRACK_CHANGED, e->offset, 1);
	if (!times_exact(st, e))
		add_loss(chunk, CHROME_TIME_ROUNDED, e->offset, 1);
	const uint32_t ids = count_record_ids(st, b, e);
	/* viewers aggregate calls of equal name and args, and no two events have the same record number */
	const struct field *const args =
	    field_names_unique(chunk, b->fields + e->first_field + ids, e->nfields - ids,
	                       &chrome_losses[CHROME_NAME_REPEATED], e->offset);
	put_args(st, e, args, e->nfields - ids, chunk);
	if (ids > 0 || st->with_ids)
		put_ids(st, b, e, ids, chunk);
	text_char(&chunk->text, '}');
	if (event_is_async(e) && render_start(st, e, true, chunk))
		text_char(&chunk->text, '}');
	if ((e->flags & EVENT_ARROW) != 0)
		render_departure(st, e, chunk);
}

/* ---- the writer ---- */

void chrome_set_options(struct writer *w)
{
	struct chrome_state *const st = w->state;

	st->signed_time = w->run->signed_time;
	st->with_ids = option_find(w->options, "ids") != NULL;
}

void chrome_put_head(struct text *t)
{
	text_str(t, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

static bool open_writer(struct writer *w, struct chunk *chunk)
{
	chrome_set_options(w);
	chrome_put_head(&chunk->text);
	return true;
}

/* Returns the distance, in events, from an end of an arrow to the span without length at which it ends.
 * Returns 0 if there is none. */
static uint32_t find_span_of_arrow(const struct batch *b, uint32_t at)
{
	const struct event *const arrow = &b->events[at];

	for (uint32_t k = 1; k < 64 && k < b->n - at; k++) {
		const struct event *const e = arrow + k;
		if (e->track != arrow->track || event_is_flow(e))
			continue;
		const bool is_open = e->phase == PHASE_SPAN && !event_is_async(e) && e->dur == 0 &&
		                     e->ts == arrow->ts && e->offset < arrow->offset;
		return is_open ? k : 0;
	}
	return 0;
}

/* Whether a batch has spans of no length: few have, and the search costs 6 % where arrows are many. */
static bool has_short_spans(const struct batch *b)
{
	bool any = false;

	for (uint32_t i = 0; i < b->n; i++)
		any |= b->events[i].dur == 0 && b->events[i].phase == PHASE_SPAN;
	return any;
}

/* Perfetto sorts by time, and long spans before others: an arrow binds to a span of no length only if the
 * span precedes it in the file.  If begins and ends are records, the span has the place of its end, after the
 * arrow.
 */
const struct event *chrome_next_line(struct chrome_line_order *o, const struct batch *b)
{
	for (; o->at < b->n; o->at++, o->early >>= 1) {
		const struct event *const e = &b->events[o->at];
		const bool is_departure = e->phase == PHASE_FLOW_OUT && (e->flags & EVENT_ARROW) != 0;
		if ((o->early & 1) != 0 || is_departure)
			continue;
		uint32_t k = 0;
		if (event_is_flow(e)) {
			if (!o->looked)
				o->has_short_spans = has_short_spans(b);
			o->looked = true;
			k = o->has_short_spans ? find_span_of_arrow(b, o->at) : 0;
		}
		if (k > 0 && (o->early >> k & 1) == 0) {
			o->early |= UINT64_C(1) << k;
			return e + k;
		}
		o->at++;
		o->early >>= 1;
		return e;
	}
	return NULL;
}

/* Names of tracks precede all events, so only the first name has no comma before it.  The first thread of a
 * process usually follows it in the batch. */
static bool declare_batch(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct chrome_state *const st = w->state;

	if (!chrome_declare(w, b, chunk))
		return false;
	for (uint32_t i = 0; i < b->ntracks; i++) {
		const struct track *const k = b->tracks[i];
		const struct track *const next = i + 1 < b->ntracks ? b->tracks[i + 1] : NULL;
		const bool own = next != NULL && next->kind == TRACK_THREAD && track_process(next) == k;
		chrome_render_track(k, own ? next : NULL, st->named, chunk);
		st->named = true;
	}
	return true;
}

static void render_batch(const void *state, const struct batch *b, struct chunk *chunk)
{
	struct chrome_line_order order = { .at = 0 };
	const struct event *e;

	while ((e = chrome_next_line(&order, b)) != NULL)
		chrome_render_event(state, b, e, chunk);
}

/* Writes facts of the run, the first after the text `before`. */
static void put_facts_of(struct text *t, struct facts facts, const char *before)
{
	struct fields_json_lost lost = { 0 };
	struct fact f;

	for (; facts_next(&facts, &f); before = ",\n") {
		text_printf(t, "%s\"%s\":", before, f.name.p);
		fields_json_value(t, &f.value, &lost);
	}
}

/* Writes a member of the input document with a blank after each colon: some readers search the text for
 * `"rank": 0`. */
static void put_spaced(struct text *t, struct slice json)
{
	bool in_text = false;

	for (uint32_t i = 0; i < json.n; i++) {
		const char c = json.p[i];
		text_char(t, c);
		if (in_text && c == '\\' && i + 1 < json.n)
			text_char(t, json.p[++i]);
		else if (c == '"')
			in_text = !in_text;
		else if (c == ':' && !in_text)
			text_char(t, ' ');
	}
}

/* Writes a fact.  A fact that states the wall time of ts 0 is adapted to the times of the output. */
static void put_fact(struct chunk *chunk, const struct run_facts *run, const struct field *f, bool outer)
{
	const struct trace *const trace = run->trace;
	const uint64_t epoch = (uint64_t)(trace->epoch_ns + run->rebased_by);
	struct fields_json_lost lost = { 0 };

	if (outer && trace->epoch_known && slice_is(f->name, "baseTimeNanoseconds"))
		text_u64(&chunk->text, epoch);
	else if (outer && trace->epoch_known && slice_is(f->name, "beginningOfTime"))
		text_u64(&chunk->text, epoch / 1000);
	else if (outer && f->value.type == VALUE_JSON)
		put_spaced(&chunk->text, value_text(&f->value));
	else
		fields_json_value(&chunk->text, &f->value, &lost);
	add_losses(chunk, &lost, 0);
}

/* Writes metadata of the trace, the first after the text `first`: the members next to the events of the input
 * document (`outer`), or all others.  A repeated name gets a number.  Returns whether there is any. */
static bool put_meta(struct chunk *chunk, const struct writer *w, bool outer, const char *first)
{
	const struct trace *const trace = w->run->trace;
	const struct chrome_state *const st = w->state;
	struct text *const t = &chunk->text;
	struct tabletext names = { .slots = NULL };
	struct arena numbered = { 0 };
	bool any = false;

	if (outer) /* names that this writer uses itself */
		t->failed |= !tabletext_put(&names, SLICE_LIT("otherData"), 1) ||
		             !tabletext_put(&names, SLICE_LIT("traceEvents"), 1);
	for (uint32_t i = 0; i < trace->nmeta; i++) {
		if ((st->of_chrome && trace->meta[i].value.outer) != outer)
			continue;
		const struct slice own = trace->meta[i].name;
		struct slice name = text_repaired(&numbered, own);
		if (name.p != NULL)
			name = tabletext_unique(&names, &numbered, name);
		t->failed |= name.p == NULL;
		if (!utf8_valid(own.p, own.n))
			add_loss(chunk, CHROME_BAD_TEXT, 0, 1);
		text_str(t, any ? ",\n" : first);
		text_char(t, '"');
		text_json_chars(t, name);
		text_str(t, "\":");
		put_fact(chunk, w->run, &trace->meta[i], outer);
		any = true;
	}
	tabletext_free(&names);
	arena_free(&numbered);
	return any;
}

void chrome_put_facts(const struct writer *w, const struct chrome_parts *parts, struct chunk *chunk)
{
	struct text *const t = &chunk->text;

	text_str(t, "\n],\n");
	if (put_meta(chunk, w, true, ""))
		text_str(t, ",\n");
	text_str(t, "\"otherData\":{");
	put_facts_of(t, facts_of(w->run, FACTS_TEXTS), "\n");
	if (!w->run->trace->epoch_known)
		text_str(t, ",\n\"epoch_ns\":null");
	put_facts_of(t, facts_of(w->run, FACTS_OF(FACT_EPOCH) | FACTS_OF(FACT_REBASED_BY)), ",\n");
	if (parts != NULL)
		text_printf(t, ",\n\"part\":%" PRIu32 ",\n\"parts\":%" PRIu32, parts->ended, parts->begun);
	if (put_meta(chunk, w, false, ",\n\"trace\":{\n"))
		text_char(t, '}');
	text_str(t, ",\n\"losses\":{");
	for (size_t i = 0; i < w->run->total->n; i++)
		text_printf(t, "%s\"%s\":%" PRIu64, i > 0 ? "," : "", w->run->total->rows[i].loss->id,
		            w->run->total->rows[i].count);
	text_str(t, "}\n}}\n");
}

static bool close_writer(struct writer *w, struct chunk *chunk)
{
	const struct chrome_state *const st = w->state;
	const struct track *const *const tracks = (const struct track *const *)w->run->trace->tracks;

	if (st->named && !chrome_put_order(tracks, w->run->trace->ntracks, &chunk->text))
		return false;
	chrome_put_facts(w, NULL, chunk);
	return true;
}

void chrome_free(void *state)
{
	struct chrome_state *const st = state;

	arena_free(&st->arena);
	table64_free(&st->ids.used);
	chrome_parts_free(&st->parts);
}

const struct writer_ops chrome_writer_ops = {
	.state_size = sizeof(struct chrome_state),
	.want = WANT_FIELDS | WANT_DEPARTURES,
	.modes = WRITER_TEXT,
	.nested = true,
	.open = open_writer,
	.declare = declare_batch,
	.render = render_batch,
	.close = close_writer,
	.free = chrome_free,
};
