#include <stdio.h>

#include "chrome/state.h"
#include "format/fields_json.h"

/* Field values as JSON: exact, escaped, and never a NaN. */

static void
lose(struct chunk *chunk, enum chrome_loss kind, const struct event *e, uint64_t count)
{
	ledger_add(&chunk->ledger, &chrome_losses[kind], e->offset, count);
}

static void
put_string(struct chunk *chunk, struct slice s, const struct event *e)
{
	if (text_json_string(&chunk->text, s) > 0)
		lose(chunk, CHROME_BAD_TEXT, e, 1);
}

static void
note_lost(struct chunk *chunk, const struct fields_json_lost *lost, const struct event *e)
{
	const uint32_t counts[] = { lost->bad_text, lost->not_a_number, lost->too_deep };
	static const enum chrome_loss kinds[] = { CHROME_BAD_TEXT, CHROME_NOT_A_NUMBER, CHROME_TOO_DEEP };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (counts[i] > 0)
			lose(chunk, kinds[i], e, counts[i]);
}

void
chrome_value(struct chunk *chunk, const struct value *v, const struct event *e)
{
	struct fields_json_lost lost = { 0 };

	fields_json_value(&chunk->text, v, &lost);
	if (fields_json_lost_any(&lost))
		note_lost(chunk, &lost, e);
}

/* 1: the first field of the event numbers it; 0: there is no such field. */
static uint32_t
numbering(const struct chrome_state *st, const struct batch *b, const struct event *e)
{
	const struct field *const f = &b->fields[e->first_field];

	if (e->phase == PHASE_COUNTER || (e->flags & EVENT_ASYNC) != 0)
		return 0; /* no viewer adds these up */
	return st->record_id.n > 0 && e->nfields > 0 && f->value.type >= VALUE_U8 &&
	       f->value.type <= VALUE_I64 && slice_equal(f->name, st->record_id);
}

static void
put_fields(struct chunk *chunk, const struct batch *b, const struct event *e, uint32_t from, uint32_t to)
{
	struct fields_json_lost lost = { 0 };

	fields_json(&chunk->text, b->fields + e->first_field + from, to - from, &lost);
	if (fields_json_lost_any(&lost))
		note_lost(chunk, &lost, e);
}

/* A series must be a number: no text for large ones, and no truth value.  false: it is none. */
static bool
put_number(struct text *t, const struct value *v)
{
	if (v->type == VALUE_JSON && v->count > 0 && (*v->p == '-' || (*v->p >= '0' && *v->p <= '9')))
		text_add(t, v->p, v->count); /* the digits that the trace has */
	else if (v->type == VALUE_BOOL)
		text_u64(t, v->u64 != 0);
	else if (v->type >= VALUE_U8 && v->type <= VALUE_U64)
		text_u64(t, v->u64);
	else if (v->type >= VALUE_I8 && v->type <= VALUE_I64)
		text_i64(t, v->i64);
	else if ((v->type != VALUE_F32 && v->type != VALUE_F64) ||
	         v->f64 - v->f64 != 0) /* NaN and the infinities */
		return false;
	else if (v->type == VALUE_F32)
		text_json_f32(t, (float)v->f64);
	else
		text_json_f64(t, v->f64);
	return true;
}

static void
put_series(const struct batch *b, const struct event *e, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	bool first = true;

	for (uint16_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		const size_t before = t->n;
		if (!first)
			text_char(t, ',');
		put_string(chunk, f->name, e);
		text_char(t, ':');
		if (put_number(t, &f->value)) {
			first = false;
			continue;
		}
		t->n = before;
		lose(chunk, CHROME_COUNTER_TEXT, e, 1);
	}
}

void
chrome_args(const struct chrome_state *st, const struct batch *b, const struct event *e, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const bool counter = e->phase == PHASE_COUNTER;
	const uint32_t from = numbering(st, b, e);

	if (e->nfields == from)
		return;
	char *const p = text_room(t, 16);
	if (p == NULL)
		return;
	memcpy(p, ",\"args\":{", 9);
	t->n += 9;
	if (counter)
		put_series(b, e, chunk);
	else
		put_fields(chunk, b, e, from, e->nfields);
	text_char(t, '}');
}

static void
put_id(struct text *t, const char *name, const struct track *k, const char *comma)
{
	text_printf(t, "%s\"%s\":", comma, name);
	text_json_u64(t, k->id);
}

void
chrome_event_ids(const struct chrome_state *st, const struct batch *b, const struct event *e,
                 struct chunk *chunk)
{
	const uint32_t n = numbering(st, b, e);
	const struct track *const process = track_process(e->track);
	const bool pid = st->with_ids && process->has_id,
	           tid = st->with_ids && e->track->kind == TRACK_THREAD && e->track->has_id;
	struct text *const t = &chunk->text;

	if (n == 0 && !pid && !tid)
		return;
	text_str(t, ",\"ids\":{");
	put_fields(chunk, b, e, 0, n);
	if (pid)
		put_id(t, "true_pid", process, n > 0 ? "," : "");
	if (tid)
		put_id(t, "true_tid", e->track, n > 0 || pid ? "," : "");
	text_char(t, '}');
}

bool
chrome_large_time_exact(uint64_t ns)
{
	const uint64_t us = ns / 1000;

	if (us < (uint64_t)1 << 53 && us * 1000 == ns)
		return true;                      /* all whole numbers below 2^53 are doubles */
	const int top = 63 - __builtin_clzll(us); /* the highest bit of the microseconds */
	const int shift = 52 - top;               /* doubles here are multiples of 2^-shift us */
	const unsigned __int128 one = 1;
	unsigned __int128 back;
	if (shift >= 0) {
		const unsigned __int128 m = (((unsigned __int128)ns << shift) + 500) / 1000;
		back = (m * 1000 + ((one << shift) >> 1)) >> shift;
	} else {
		const unsigned __int128 unit = (one << -shift) * 1000;
		back = (ns + unit / 2) / unit * unit;
	}
	return back == ns;
}
