/*
 * The writer of events of any format: records of the classes that write_classes.c describes, tracks, and
 * facts of the trace.  A record has its thread, its label, and the fields of its class in order.  HawkTracer
 * has no type for lists, maps and bytes: they are texts, as are all fields of an event beyond the limits of
 * htdump.h.  Memory grows with the number of tracks, and with the classes up to these limits.
 */
#include <stdlib.h>

#include "base/scan.h"
#include "format/fields_json.h"
#include "htdump/htdump.h"
#include "out/facts.h"
#include "out/field_names.h"
#include "output/text_json.h"

/* ---- helpers ---- */

static void add_loss(const struct htw_state *st, enum htw_loss kind)
{
	ledger_add(&st->chunk->ledger, &htw_losses[kind], st->offset, 1);
}

static inline char *store_head(struct htw_state *st, char *p, uint32_t class_id, uint64_t ts)
{
	p = store_uint(p, class_id, 4, false);
	p = store_uint(p, ts, 8, false);
	return store_uint(p, st->next_id++, 8, false);
}

/* ---- tracks ---- */

/* HawkTracer has one process, and thread ids of 32 bits.  A thread keeps its id if that fits and is free (see
 * out/tracks.h); a record states the track of each number. */
static bool number_track(struct htw_state *st, const struct track *t, struct htw_track *to)
{
	const uint64_t *const own = track_has_own_tid(t) && t->id <= UINT32_MAX ? &t->id : NULL;
	const struct track *const thread = track_thread(t);
	uint64_t number;

	if (!track_numbers_assign(&st->numbers, 0, own, &number))
		return false;
	to->number = (uint32_t)number;
	to->changed = thread->kind == TRACK_PROCESS ||
	              (thread->has_id && thread->id <= TRACKS_LAST_PID && thread->id != to->number);
	to->numbered = true;
	return true;
}

static void put_track(struct htw_state *st, const struct track *t)
{
	const struct track *const process = track_process(t), *const thread = track_thread(t);
	const bool has_pid = process->kind == TRACK_PROCESS && process->has_id;
	const bool has_tid = thread->kind == TRACK_THREAD && thread->has_id;

	htw_begin(st, HTW_ID_TRACK);
	htw_number(st, st->tracks[t->index].number, 4);
	htw_text(st, track_kind_name(t));
	htw_text(st, process->kind == TRACK_PROCESS ? process->name : SLICE_LIT(""));
	htw_number(st, has_pid, 1);
	htw_number(st, has_pid ? process->id : 0, 8);
	htw_text(st, t->name);
	htw_number(st, has_tid, 1);
	htw_number(st, has_tid ? thread->id : 0, 8);
	st->tracks[t->index].described = st->tracks[process->index].described = true;
}

/* Returns the thread_id of a track, whose record precedes its first event. */
static uint32_t thread_id_of(struct htw_state *st, const struct track *t)
{
	struct htw_track *const to = &st->tracks[t->index];

	if (to->numbered)
		return to->number;
	if (number_track(st, t, to))
		put_track(st, t);
	else
		st->chunk->text.failed = true;
	return to->number;
}

/* Adds the records of tracks without events. */
static void put_remaining_tracks(struct htw_state *st, const struct trace *trace)
{
	/* threads first: their records also state the name of the process */
	for (int process = 0; process < 2; process++)
		for (uint32_t i = 0; i < trace->ntracks && i < st->ntracks && !st->chunk->text.failed; i++) {
			const struct track *const t = trace->tracks[i];
			if ((t->kind == TRACK_PROCESS) == process && !t->hidden && !st->tracks[i].described)
				thread_id_of(st, t);
		}
}

/* ---- values as text ---- */

static void count_bad_texts(const struct htw_state *st, uint32_t n)
{
	if (n > 0)
		ledger_add(&st->chunk->ledger, &htw_losses[HTW_BAD_TEXT], st->offset, n);
}

/* Adds a value as JSON; bytes that are not in a list or map are without quotes. */
static void put_value_text(const struct htw_state *st, struct text *t, const struct value *v)
{
	if (v->type == VALUE_BYTES) {
		text_str(t, "0x");
		text_hex(t, v->p, v->count);
	} else {
		count_bad_texts(st, fields_json_as_is(t, v));
	}
}

/* Adds all fields of an event as a JSON object. */
static void put_fields_text(const struct htw_state *st, struct text *t, const struct field *f, uint32_t n)
{
	uint32_t bad = 0;

	text_char(t, '{');
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			text_char(t, ',');
		bad += text_json_string(t, f[i].name) > 0;
		text_char(t, ':');
		bad += fields_json_as_is(t, &f[i].value);
	}
	text_char(t, '}');
	count_bad_texts(st, bad);
}

/* ---- records ---- */

void htw_begin(struct htw_state *st, uint32_t class_id)
{
	char *const p = text_reserve(&st->chunk->text, HT_HEAD_SIZE);

	if (p != NULL) {
		store_head(st, p, class_id, st->last_ts);
		st->chunk->text.n += HT_HEAD_SIZE;
	}
	st->left = HTW_MAX_RECORD;
}

/* Adds a text with U+FFFD for each NUL. */
static void put_without_nul(struct text *t, struct slice s)
{
	const char *p = s.p, *const end = s.p + s.n;

	for (const char *nul; (nul = memchr(p, '\0', (size_t)(end - p))) != NULL; p = nul + 1) {
		text_add(t, p, (size_t)(nul - p));
		text_str(t, TEXT_REPLACEMENT);
	}
	text_add(t, p, (size_t)(end - p));
}

void htw_text_checked(struct htw_state *st, struct slice s)
{
	struct text *const t = &st->chunk->text;
	const size_t start = t->n, max = st->left < HTW_MAX_TEXT ? st->left : HTW_MAX_TEXT;
	const size_t n = utf8_cut(s.p, s.n, max);
	bool cut = n < s.n;

	s.n = (uint32_t)n;
	if (s.n == 0 || memchr(s.p, '\0', s.n) == NULL) {
		text_add(t, s.p, s.n);
	} else {
		put_without_nul(t, s);
		add_loss(st, HTW_TEXT_NUL);
	}
	if (t->failed)
		return;
	if (t->n - start > max) {
		t->n = start + utf8_cut(t->p + start, t->n - start, max);
		cut = true;
	}
	st->left -= (uint32_t)(t->n - start);
	text_char(t, '\0');
	if (cut)
		add_loss(st, HTW_TEXT_CUT);
}

/* ---- fields ---- */

/* Adds the text in scratch, which stands for values of other types. */
static void put_scratch(struct htw_state *st, enum htw_loss loss)
{
	st->chunk->text.failed |= st->scratch.failed;
	if (st->scratch.failed)
		return;
	htw_text(st, slice_of(st->scratch.p, st->scratch.n));
	add_loss(st, loss);
}

static void put_field(struct htw_state *st, const struct value *v)
{
	uint64_t bits;
	const unsigned size = value_bits(v, &bits);

	if (size > 0) {
		htw_number(st, bits, size);
	} else if (v->type == VALUE_STRING) {
		htw_text(st, value_text(v));
	} else {
		text_clear(&st->scratch);
		put_value_text(st, &st->scratch, v);
		put_scratch(st, HTW_VALUE_AS_TEXT);
	}
}

/* Adds the fields of an event without a class in the output: name, category and kind, and a text of all
 * fields. */
static void put_shared_fields(struct htw_state *st, const struct batch *b, const struct event *e)
{
	htw_text(st, e->cls->name);
	htw_text(st, e->cls->category);
	htw_text(st, event_kind_row(htw_kind_of(e))->names[KIND_WORDS]);
	text_clear(&st->scratch);
	put_fields_text(st, &st->scratch,
	                field_names_unique(st->chunk, b->fields + e->first_field, e->nfields,
	                                   &htw_losses[HTW_RENAMED], e->offset),
	                e->nfields);
	put_scratch(st, HTW_FIELDS_AS_TEXT);
}

/* ---- events ---- */

/* Counts the losses of an event whose kind HawkTracer does not have; only tracetool reads the kind back. */
static void count_losses(const struct htw_state *st, enum event_kind kind)
{
	if (kind == EVENT_KIND_COUNTER)
		add_loss(st, HTW_COUNTERS);
	else if (kind == EVENT_KIND_ASYNC)
		add_loss(st, HTW_ASYNC_SPAN);
	else if (kind == EVENT_KIND_BEGIN || kind == EVENT_KIND_END)
		add_loss(st, HTW_HALF_SPAN);
	else if (kind_is_arrow(kind))
		add_loss(st, HTW_ARROW_END);
}

/* Adds the head and the inherited fields: duration of a span, thread, label, id of an arrow. */
static void put_bases(struct htw_state *st, const struct event *e, uint64_t dur, uint32_t class_id,
                      uint32_t thread)
{
	const enum event_kind kind = htw_kind_of(e);
	struct text *const t = &st->chunk->text;
	char *p = text_reserve(t, HT_HEAD_SIZE + 8 + 4);

	if (p == NULL)
		return;
	st->left = HTW_MAX_RECORD;
	p = store_head(st, p, class_id, st->last_ts);
	if (kind_is_span(kind))
		p = store_uint(p, dur, 8, false);
	p = store_uint(p, thread, 4, false);
	t->n = (size_t)(p - t->p);
	htw_text(st, e->name);
	if (kind_is_arrow(kind))
		htw_number(st, e->dur, 8);
	if (kind > EVENT_KIND_SPAN)
		count_losses(st, kind);
}

static void put_event(struct htw_state *st, const struct batch *b, const struct event *e)
{
	const struct out_times times = out_times_of(e, st->signed_time);

	st->offset = e->offset;
	if (times.negative)
		add_loss(st, HTW_NEGATIVE_TIME);
	st->last_ts = times.start;
	const struct htw_layout *const l = htw_layout_of(st, b, e);
	const uint32_t thread = thread_id_of(st, e->track);

	if (st->tracks[e->track->index].changed)
		add_loss(st, HTW_TRACK_CHANGED);
	if (!slice_equal(e->cls->category, e->cls->name) || l->renamed || l->id < HTW_ID_FREE)
		add_loss(st, HTW_CATEGORY);
	if (event_is_step(e))
		add_loss(st, HTW_STEP);
	if (l->renamed_fields > 0)
		ledger_add(&st->chunk->ledger, &htw_losses[HTW_RENAMED], e->offset, l->renamed_fields);
	if (times.late)
		add_loss(st, HTW_LATE_END);
	put_bases(st, e, times.dur, l->id, thread);
	if (l->id < HTW_ID_FREE) {
		put_shared_fields(st, b, e);
		return;
	}
	for (uint32_t i = 0; i < e->nfields; i++)
		put_field(st, &b->fields[e->first_field + i].value);
}

/* ---- the writer ---- */

const struct loss htw_losses[HTW_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "htdump/losses.def"
#undef LOSS
};

static bool htw_open(struct writer *w, struct chunk *chunk)
{
	struct htw_state *const st = w->state;

	st->signed_time = w->run->signed_time;
	st->chunk = chunk;
	htw_prologue(st);
	return true;
}

/* Extends the arrays by new tracks and classes. */
static bool htw_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct htw_state *const st = w->state;

	return tracks_reach(&st->tracks, &st->ntracks, sizeof *st->tracks, b) &&
	       shapes_declare(&st->shapes, b);
}

static void htw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct htw_state *const st = state;

	st->chunk = chunk;
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		put_event(st, b, &b->events[i]);
}

static void put_fact(struct htw_state *st, const struct fact *f)
{
	struct text *const t = &st->scratch;

	text_clear(t);
	fact_put_name(t, f);
	const size_t n = t->n;
	if (!fact_put_text(t, f))
		put_value_text(st, t, &f->value);
	st->chunk->text.failed |= t->failed;
	if (t->failed)
		return;
	htw_begin(st, HTW_ID_FACT);
	htw_text(st, slice_of(t->p, n));
	htw_text(st, slice_of(t->p + n, t->n - n));
}

static bool htw_close(struct writer *w, struct chunk *chunk)
{
	struct facts facts = facts_of(w->run, ~(FACTS_OF(FACT_RECORDS) | FACTS_OF(FACT_EVENTS)));
	struct htw_state *const st = w->state;
	struct fact fact;

	st->chunk = chunk;
	st->offset = 0;
	put_remaining_tracks(st, w->run->trace);
	facts_lose(w, (struct facts_losses){ .hosts = &htw_losses[HTW_HOSTS] }, chunk);
	while (facts_next(&facts, &fact))
		put_fact(st, &fact);
	return true;
}

static void htw_free(void *state)
{
	struct htw_state *const st = state;

	arena_free(&st->arena);
	free(st->tracks);
	shapes_free(&st->shapes);
	track_numbers_free(&st->numbers);
	text_free(&st->scratch);
}

const struct writer_ops htw_ops = {
	.state_size = sizeof(struct htw_state),
	.want = WANT_FIELDS,
	.open = htw_open,
	.declare = htw_declare,
	.write = htw_write,
	.close = htw_close,
	.free = htw_free,
};
