#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "model/event_traits.h"
#include "paraver/paraver.h"

/* ---- close ---- */

/* The end: the head of the .prv file, its records from the store, and what the numbers mean. */

#define PIECE ((size_t)1 << 20) /* of the store; a line is far shorter */

/* ---- the head ---- */

/* The minute at which the trace began, in UTC, if it is known. */
static void put_date(const struct paraver_state *st, const struct writer *w, struct text *t)
{
	unsigned __int128 ns = 0;

	if (w->trace->epoch_known)
		ns = (unsigned __int128)w->trace->epoch_ns + (w->rebased ? w->rebased_by : 0) +
		     (w->signed_time && (int64_t)st->base < 0 ? 0 : st->base);
	const uint64_t minutes = (uint64_t)(ns / 60000000000U);
	/* Years begin in March, so that a day that leap years have is their last one. */
	const uint64_t days = minutes / 1440 + 719468, era = days / 146097, in_era = days % 146097;
	const uint64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	const uint64_t in_year = in_era - (365 * year + year / 4 - year / 100);
	const uint64_t month = (5 * in_year + 2) / 153, day = in_year - (153 * month + 2) / 5 + 1;

	text_printf(t, "#Paraver (%02u/%02u/%02u at %02u:%02u):", (unsigned)day,
	            (unsigned)(month < 10 ? month + 3 : month - 9),
	            (unsigned)((era * 400 + year + (month >= 10)) % 100), (unsigned)(minutes / 60 % 24),
	            (unsigned)(minutes % 60));
}

static void put_head(struct paraver_state *st, const struct writer *w, struct text *t)
{
	put_date(st, w, t);
	text_printf(t, "%" PRIu64 "_ns:0:", st->spans.now);
	paraver_objects(&st->rows, t);
	text_char(t, '\n');
}

/* ---- records ---- */

/* A line that lacks its receiver. */
static void put_arrow(struct paraver_state *st, const char *line, size_t n, struct chunk *chunk)
{
	const struct paraver_arrival at = paraver_arrow_get(&st->arrows, st->narrows++);
	struct text *const t = &chunk->text;

	if (at.row == 0) {
		paraver_lose(chunk, PARAVER_ARROW, 0);
		return;
	}
	text_add(t, line, n);
	text_printf(t, ":%s%" PRIu64 ":%" PRIu64 ":0:%" PRIu32 "\n", st->rows.rows[at.row - 1].prefix,
	            at.time, at.time, at.name);
}

static void put_lines(struct paraver_state *st, const char *p, const char *end, struct chunk *chunk)
{
	while (p < end) {
		const char *const mark = memchr(p, PARAVER_ARROW_MARK, (size_t)(end - p));
		if (mark == NULL) {
			text_add(&chunk->text, p, (size_t)(end - p));
			return;
		}
		text_add(&chunk->text, p, (size_t)(mark - p));
		const char *const stop = memchr(mark, '\n', (size_t)(end - mark));
		put_arrow(st, mark + 1, (size_t)(stop - mark - 1), chunk);
		p = stop + 1;
	}
}

/* As many whole lines of the store as there are in a piece. */
static void put_piece(struct paraver_state *st, struct chunk *chunk)
{
	const uint64_t left = paraver_store_size(&st->store) - st->given;
	size_t n = left < PIECE ? (size_t)left : PIECE;
	char *p;

	text_clear(&st->scratch);
	p = text_room(&st->scratch, PIECE);
	if (p == NULL || n == 0 || !paraver_store_read(&st->store, st->given, p, n))
		return;
	while (p[n - 1] != '\n')
		n--;
	put_lines(st, p, p + n, chunk);
	st->given += n;
	if (st->store.file.is_open)
		spill_discard(&st->store.file, st->given - n, n);
}

/* false: memory or a temporary file failed, and the chunk says so. */
static bool paraver_is_well(struct paraver_state *st, struct chunk *chunk)
{
	chunk->text.failed |=
	    st->store.text.failed | st->scratch.failed | st->names.failed | st->arrows.no_memory;
	if (st->store.failed)
		spill_reason(&st->store.file, "the records", st->why, sizeof st->why);
	else if (st->arrows.failed)
		spill_reason(&st->arrows.file, "the arrows", st->why, sizeof st->why);
	if (st->why[0] != '\0')
		chunk->end.failed = st->why;
	return !chunk->text.failed && st->why[0] == '\0';
}

static bool paraver_close(struct writer *w, struct chunk *chunk)
{
	struct paraver_state *const st = w->state;

	chunk_file(chunk, PARAVER_PRV);
	if (!st->closing) {
		paraver_spans_end(st, chunk);
		put_head(st, w, &chunk->text);
		if (w->trace->nmeta > 0)
			ledger_add(&chunk->ledger, &paraver_losses[PARAVER_FACTS], 0, w->trace->nmeta);
		st->closing = true;
	}
	put_piece(st, chunk);
	if (!paraver_is_well(st, chunk))
		return true;
	chunk->end.more = st->given < paraver_store_size(&st->store);
	if (chunk->end.more)
		return true;
	chunk_file(chunk, PARAVER_PCF);
	paraver_pcf(&st->names, chunk);
	chunk_file(chunk, PARAVER_ROW);
	paraver_row_file(&st->rows, chunk);
	return true;
}

/* ---- event ---- */

/* Events become records. */

/* ---- records ---- */

void paraver_put(struct paraver_state *st, uint32_t row, uint64_t time, uint32_t type, uint64_t value,
                 uint32_t type2, uint32_t value2)
{
	const struct paraver_row *const r = &st->rows.rows[row];
	struct text *const t = &st->store.text;
	char *p = text_room(t, sizeof r->prefix + 6 * (DECIMAL_I64_MAX + 1));

	if (p == NULL)
		return;
	*p++ = '2';
	*p++ = ':';
	p = text_put(p, r->prefix, r->prefix_n);
	p = decimal_u64(p, time);
	*p++ = ':';
	p = decimal_u64(p, type);
	*p++ = ':';
	p = decimal_i64(p, (int64_t)value);
	if (type2 != 0) {
		*p++ = ':';
		p = decimal_u64(p, type2);
		*p++ = ':';
		p = decimal_u64(p, value2);
	}
	*p++ = '\n';
	t->n = (size_t)(p - t->p);
}

/* ---- tracks ---- */

/* What a track shows of the thread that it is below: its name without that of the thread. */
static struct slice line_of(const struct track *t, const struct track *thread)
{
	while (t->lane > 0 && t->parent != NULL)
		t = t->parent;
	struct slice s = t->name;
	if (s.n > thread->name.n + 2 && memcmp(s.p, thread->name.p, thread->name.n) == 0 &&
	    memcmp(s.p + thread->name.n, ": ", 2) == 0) {
		s.p += thread->name.n + 2;
		s.n -= thread->name.n + 2;
	}
	return s;
}

/* Groups are looked for when there is an event: so their order is that of the events. */
static bool paraver_declare_track(struct paraver_state *st, struct track *t)
{
	uint32_t *const index = arena_alloc(&st->arena, sizeof *index);

	if (index == NULL || !array_room(&st->tracks, st->ntracks, &st->tracks_cap, sizeof *st->tracks))
		return false;
	st->tracks[st->ntracks] = (struct paraver_track){
		.row_track = paraver_row_track(t),
		.row = TABLE_NONE,
		.group = TABLE_NONE,
		.lane = t->lane,
		.last_group = TABLE_NONE,
	};
	*index = st->ntracks++;
	t->declared = index;
	return true;
}

static bool is_line(const struct track *t)
{
	while (t->lane > 0 && t->parent != NULL)
		t = t->parent;
	return t->is_child;
}

/* NULL: no memory, or no room for its time line. */
static struct paraver_track *track_of(struct paraver_state *st, const struct track *t)
{
	const uint32_t *const index = t->declared;
	struct paraver_track *const k = &st->tracks[*index];

	if (k->row != TABLE_NONE)
		return k;
	k->row = paraver_row_of(&st->rows, k->row_track);
	if (k->row == TABLE_NONE)
		st->names.failed = true;
	else if (is_line(t))
		k->group = paraver_group(&st->names, PARAVER_LINE, line_of(t, k->row_track));
	return k->row != TABLE_NONE ? k : NULL;
}

/* TABLE_NONE: there is no room. */
static uint32_t group_of(struct paraver_state *st, const struct paraver_track *k, const struct event *e)
{
	uint32_t *const category = &st->categories[e->cls->index];

	if (k->group != TABLE_NONE)
		return k->group;
	if (*category == 0) {
		const uint32_t group = paraver_group(&st->names, PARAVER_CATEGORY, e->cls->category);
		if (group == TABLE_NONE)
			return group;
		*category = group + 1;
	}
	return *category - 1;
}

/* ---- spans, instants ---- */

static uint32_t value_of(struct paraver_state *st, uint32_t group, const struct event *e, struct chunk *chunk)
{
	bool full = false;
	const uint32_t value = paraver_value(&st->names, group, e->name, &full);

	if (full)
		paraver_lose(chunk, PARAVER_NAMES_FULL, e->offset);
	return value;
}

static void put_span(struct paraver_state *st, struct paraver_track *k, const struct event *e,
                     struct chunk *chunk)
{
	const bool async = (e->flags & EVENT_ASYNC) != 0;
	const uint32_t group = group_of(st, k, e), place = *(const uint32_t *)e->track->declared;
	const struct paraver_stack like = { .row = k->row, .group = group, .lane = k->lane };
	const uint64_t now = st->spans.now;
	uint32_t stack = k->last_stack;

	if (async || group == TABLE_NONE || group != k->last_group)
		stack = group != TABLE_NONE ? paraver_stack_of(st, &like, place, async) : TABLE_NONE;
	if (stack == TABLE_NONE) {
		paraver_lose(chunk, PARAVER_TYPES_FULL, e->offset);
		return;
	}
	struct paraver_span span = { now + e->dur, e->offset, value_of(st, group, e, chunk) };
	if (e->dur > PARAVER_LAST_TIME - now) {
		paraver_lose(chunk, PARAVER_TIME_CUT, e->offset);
		span.end = PARAVER_LAST_TIME;
	}
	if (async) {
		paraver_async(st, stack, &span, chunk);
		return;
	}
	k->last_group = group;
	k->last_stack = stack;
	paraver_span(st, stack, &span, chunk);
}

static void put_instant(struct paraver_state *st, const struct paraver_track *k, const struct event *e,
                        struct chunk *chunk)
{
	const struct paraver_type like = { .group = group_of(st, k, e), .kind = PARAVER_INSTANTS };
	const uint32_t type = like.group != TABLE_NONE ? paraver_type(&st->names, like) : 0;

	if (type == 0)
		paraver_lose(chunk, PARAVER_TYPES_FULL, e->offset);
	else
		paraver_put(st, k->row, st->spans.now, type, value_of(st, like.group, e, chunk), 0, 0);
}

/* ---- counters ---- */

/* false: it is no number, or NaN. */
static bool whole_number(const struct value *v, uint64_t offset, int64_t *number, struct chunk *chunk)
{
	char text[64], *end;
	double f = v->f64;

	if (v->type == VALUE_JSON) {
		if (v->count == 0 || v->count >= sizeof text ||
		    (*v->p != '-' && (*v->p < '0' || *v->p > '9')))
			return false;
		memcpy(text, v->p, v->count);
		text[v->count] = '\0';
		f = strtod(text, &end);
		if (end != text + v->count)
			return false;
	} else if (v->type >= VALUE_BOOL && v->type <= VALUE_U64) {
		*number = v->u64 > INT64_MAX ? INT64_MAX : (int64_t)v->u64;
		if (v->u64 > INT64_MAX)
			paraver_lose(chunk, PARAVER_NUMBER_RANGE, offset);
		return true;
	} else if (v->type >= VALUE_I8 && v->type <= VALUE_I64) {
		*number = v->i64;
		return true;
	} else if (v->type != VALUE_F32 && v->type != VALUE_F64) {
		return false;
	}
	const bool fits = f >= -0x1p63 && f < 0x1p63;
	if (!fits)
		paraver_lose(chunk, PARAVER_NUMBER_RANGE, offset);
	else if (f != rint(f))
		paraver_lose(chunk, PARAVER_NUMBER_ROUNDED, offset);
	*number = fits ? llrint(f) : f > 0 ? INT64_MAX : INT64_MIN;
	return f == f;
}

static uint32_t counter_type(struct paraver_state *st, struct slice name, struct slice field)
{
	struct text *const t = &st->scratch;

	text_clear(t);
	text_slice(t, name);
	if (field.n > 0 && !slice_equal(field, name)) {
		text_str(t, name.n > 0 ? ": " : "");
		text_slice(t, field);
	}
	if (t->failed || t->n > UINT32_MAX) {
		st->names.failed |= t->failed;
		return 0;
	}
	const struct paraver_type like = {
		.group = paraver_group(&st->names, PARAVER_COUNTER, slice_of(t->p, t->n)),
		.kind = PARAVER_NUMBERS,
	};
	return like.group != TABLE_NONE ? paraver_type(&st->names, like) : 0;
}

/* Whether all its fields were numbers. */
static bool put_counter(struct paraver_state *st, const struct paraver_track *k, const struct batch *b,
                        const struct event *e, struct chunk *chunk)
{
	const struct field *const f = b->fields + e->first_field;
	bool all = true;

	for (uint32_t i = 0; i < e->nfields; i++) {
		int64_t number;
		if (!whole_number(&f[i].value, e->offset, &number, chunk)) {
			all = false;
			continue;
		}
		const uint32_t type = counter_type(st, e->name, f[i].name);
		if (type == 0)
			paraver_lose(chunk, PARAVER_TYPES_FULL, e->offset);
		else
			paraver_put(st, k->row, st->spans.now, type, (uint64_t)number, 0, 0);
	}
	return all;
}

/* ---- arrows ---- */

static void put_arrow_event(struct paraver_state *st, const struct paraver_track *k, const struct event *e,
                            struct chunk *chunk)
{
	const uint64_t now = st->spans.now;
	struct text *const t = &st->store.text;
	bool known;

	if (e->phase == PHASE_FLOW_OUT) {
		const struct paraver_row *const row = &st->rows.rows[k->row];
		known = paraver_arrow_out(&st->arrows, e->dur);
		if (known)
			text_printf(t, "%c3:%s%" PRIu64 ":%" PRIu64 "\n", PARAVER_ARROW_MARK, row->prefix,
			            now, now);
	} else {
		const uint32_t group = paraver_group(&st->names, PARAVER_ARROWS, SLICE_LIT("arrows"));
		const struct paraver_type like = { .group = group, .kind = PARAVER_NUMBERS };
		struct paraver_arrival at = { now, k->row + 1, 0 };
		if (group != TABLE_NONE && paraver_type(&st->names, like) != 0)
			at.name = value_of(st, group, e, chunk);
		known = paraver_arrow_in(&st->arrows, e->dur, &at);
	}
	if (!known)
		paraver_lose(chunk, PARAVER_ARROW, e->offset);
	else if (event_is_step(e))
		paraver_lose(chunk, PARAVER_STEP, e->offset);
}

/* ---- all of them ---- */

/* From the first event on, which has the first time. */
static uint64_t time_of(struct paraver_state *st, const struct event *e, struct chunk *chunk)
{
	if (!st->any)
		st->base = e->ts;
	st->any = true;
	if (e->ts - st->base <= PARAVER_LAST_TIME)
		return e->ts - st->base;
	paraver_lose(chunk, PARAVER_TIME_CUT, e->offset);
	return PARAVER_LAST_TIME;
}

/* Whether it has a category that its type of event does not say.  That of an arrow is not looked at, as its
 * two ends may be of different classes. */
static bool hides_category(const struct paraver_track *k, const struct event *e)
{
	const bool arrow = event_is_flow(e);

	return !arrow && (e->phase == PHASE_COUNTER || k->group != TABLE_NONE) && event_has_category(e);
}

static void paraver_event(struct paraver_state *st, const struct batch *b, const struct event *e,
                          struct chunk *chunk)
{
	bool shown = e->nfields == 0;

	paraver_advance(st, time_of(st, e, chunk), chunk);
	struct paraver_track *const k = track_of(st, e->track);
	if (k == NULL)
		return;
	if (e->phase == PHASE_SPAN)
		put_span(st, k, e, chunk);
	else if (e->phase == PHASE_COUNTER)
		shown = put_counter(st, k, b, e, chunk);
	else if (event_is_flow(e))
		put_arrow_event(st, k, e, chunk);
	else /* begins and ends are paired before they get here */
		put_instant(st, k, e, chunk);
	if (!shown)
		paraver_lose(chunk, PARAVER_FIELDS, e->offset);
	if (hides_category(k, e))
		paraver_lose(chunk, PARAVER_CATEGORY_LOST, e->offset);
}

/* ---- write ---- */

static bool paraver_open_output(struct writer *w, struct chunk *chunk)
{
	struct paraver_state *const st = w->state;

	(void)chunk;
	st->store.beside = st->arrows.beside = w->beside;
	return true;
}

static bool paraver_declare(struct writer *w, const struct batch *b)
{
	struct paraver_state *const st = w->state;
	bool ok = true;

	for (uint32_t i = 0; ok && i < b->nclasses; i++)
		ok = array_reach(&st->categories, &st->ncategories, b->classes[i]->index,
		                 sizeof *st->categories);
	for (uint32_t i = 0; ok && i < b->ntracks; i++)
		ok = paraver_declare_track(st, b->tracks[i]);
	return ok;
}

static void paraver_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct paraver_state *const st = state;

	for (uint32_t i = 0; i < b->n && !st->names.failed && !st->store.failed; i++)
		if (b->events[i].phase != PHASE_STRUCTURE)
			paraver_event(st, b, &b->events[i], chunk);
	paraver_store_settle(&st->store);
	(void)paraver_is_well(st, chunk);
}

static void paraver_free(void *state)
{
	struct paraver_state *const st = state;

	paraver_names_free(&st->names);
	paraver_rows_free(&st->rows);
	paraver_spans_free(&st->spans);
	paraver_arrows_free(&st->arrows);
	paraver_store_free(&st->store);
	free(st->tracks);
	free(st->categories);
	arena_free(&st->arena);
	text_free(&st->scratch);
}

const struct writer_ops paraver_writer_ops = {
	.state_size = sizeof(struct paraver_state),
	.want = WANT_FIELDS,
	.modes = WRITER_INTERPRETED,
	.order = ORDER_TIME,
	.shape = WRITER_FOLDER,
	.nested = true,
	.open = paraver_open_output,
	.declare = paraver_declare,
	.write = paraver_write,
	.close = paraver_close,
	.free = paraver_free,
};
