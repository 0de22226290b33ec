/*
 * The writer of Paraver traces: a folder of three files.  Events arrive in order of time, and their records
 * are added to the store.  The .prv file is written at the end: its head, which needs the last time and all
 * objects, then the records with the receivers of arrows.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "model/event_traits.h"
#include "base/compiler.h"
#include "model/number.h"
#include "out/facts.h"
#include "out/tracks.h"
#include "paraver/paraver.h"

void paraver_add_record(struct paraver_state *st, uint32_t row, uint64_t time, uint32_t type, int64_t value,
                        uint32_t type2, uint32_t value2)
{
	const struct paraver_row *const r = &st->rows.rows[row];
	struct text *const t = &st->store.text;
	char *p = text_reserve(t, sizeof r->prefix + 6 * (DECIMAL_I64_MAX + 1));

	if (p == NULL)
		return;
	*p++ = '2';
	*p++ = ':';
	p = text_put(p, r->prefix, r->prefix_n);
	p = decimal_u64(p, time);
	*p++ = ':';
	p = decimal_u64(p, type);
	*p++ = ':';
	p = decimal_i64(p, value);
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

/* Returns the name of a child track, without the name of its thread in front. */
static struct slice child_name(const struct track *t, const struct track *thread)
{
	struct slice s = t->name;

	if (s.n > thread->name.n + 2 && memcmp(s.p, thread->name.p, thread->name.n) == 0 &&
	    memcmp(s.p + thread->name.n, ": ", 2) == 0) {
		s.p += thread->name.n + 2;
		s.n -= thread->name.n + 2;
	}
	return s;
}

static bool declare_track(struct paraver_state *st, struct track *t)
{
	uint32_t *const index = arena_alloc(&st->arena, sizeof *index);

	if (index == NULL || !array_reserve(&st->tracks, st->ntracks, &st->tracks_cap, sizeof *st->tracks))
		return false;
	st->tracks[st->ntracks] = (struct paraver_track){ .row = TABLE_NONE };
	*index = st->ntracks++;
	t->declared = index;
	return true;
}

/* Returns the index in `tracks`. */
static uint32_t index_of(const struct track *t)
{
	return *(const uint32_t *)t->declared;
}

/* Returns the group of a track with the label in `scratch`; TABLE_NONE at a limit or on OOM.  If several
 * tracks of a row have the same label, later ones get a number, "io (2)": a type of event has one value at a
 * time. */
static uint32_t own_group(struct paraver_state *st, enum paraver_group_kind kind, uint32_t row,
                          uint32_t track)
{
	struct text *const t = &st->scratch;
	const size_t n = t->n;
	const uint64_t of_row = (uint64_t)row << 32, of_track = (uint64_t)track << 32;
	uint32_t count, own;

	if (t->failed || n > UINT32_MAX) {
		st->names.failed |= t->failed;
		return TABLE_NONE;
	}
	const uint32_t group = own = paraver_group(&st->names, kind, slice_of(t->p, n));
	if (group == TABLE_NONE)
		return group;
	const uint32_t known = table64_get(&st->own_groups, of_track | group);
	if (known != TABLE_NONE)
		return known;
	if (st->own_groups.used >= PARAVER_MAX_STACKS)
		return TABLE_NONE;
	count = table64_get(&st->label_counts, of_row | group);
	if (count == TABLE_NONE) {
		count = 1;
	} else {
		do {
			t->n = n;
			text_printf(t, " (%" PRIu32 ")", ++count);
			if (t->failed)
				break;
			own = paraver_group(&st->names, kind, slice_of(t->p, t->n));
		} while (own != TABLE_NONE && table64_get(&st->label_counts, of_row | own) != TABLE_NONE);
		if (own == TABLE_NONE)
			return own;
	}
	st->names.failed |= t->failed || !table64_put(&st->label_counts, of_row | own, 1) ||
	                    !table64_put(&st->label_counts, of_row | group, count) ||
	                    !table64_put(&st->own_groups, of_track | group, own);
	return own;
}

/* Returns the track of an event.  Its first event sets row and group, so that their numbers are in the order
 * of events.  NULL on OOM. */
static struct paraver_track *find_track(struct paraver_state *st, const struct track *t)
{
	struct paraver_track *const k = &st->tracks[index_of(t)];
	const struct track *const base = track_without_lane(t), *const thread = track_thread(t);

	if (k->row != TABLE_NONE)
		return k;
	*k = (struct paraver_track){ .row = paraver_row(&st->rows, thread),
		                     .group = TABLE_NONE,
		                     .last_group = TABLE_NONE };
	if (note_failure(&st->names.failed, k->row == TABLE_NONE))
		return NULL;
	if (base->is_child) {
		text_clear(&st->scratch);
		text_slice(&st->scratch, child_name(base, thread));
		k->group = own_group(st, PARAVER_LINE, k->row, index_of(base));
		k->is_line = true;
	}
	return k;
}

/* Returns the group of an event; TABLE_NONE at a limit or on OOM. */
static uint32_t find_group(struct paraver_state *st, const struct paraver_track *k, const struct event *e)
{
	uint32_t *const category = &st->categories[e->cls->index];

	if (k->is_line)
		return k->group;
	if (*category == 0) {
		const uint32_t group = paraver_group(&st->names, PARAVER_CATEGORY, e->cls->category);
		if (group == TABLE_NONE)
			return group;
		*category = group + 1;
	}
	return *category - 1;
}

/* ---- spans, instants, counters, arrows ---- */

static uint32_t find_value(struct paraver_state *st, uint32_t group, const struct event *e,
                           struct chunk *chunk)
{
	bool full = false;
	const uint32_t value = paraver_value(&st->names, group, e->name, &full);

	if (full)
		paraver_add_loss(chunk, PARAVER_NAMES_FULL, e->offset);
	return value;
}

static void add_span(struct paraver_state *st, struct paraver_track *k, const struct event *e,
                     struct chunk *chunk)
{
	const bool async = (e->flags & EVENT_ASYNC) != 0;
	const uint32_t group = find_group(st, k, e);
	const struct track *const track = async ? track_without_lane(e->track) : e->track;
	const struct paraver_stack like = { .row = k->row, .group = group, .lane = e->track->lane };
	const uint64_t now = st->spans.now;
	uint32_t stack = k->last_stack;

	if (async || group == TABLE_NONE || group != k->last_group)
		stack = group != TABLE_NONE ? paraver_stack(st, &like, index_of(track), async) : TABLE_NONE;
	if (stack == TABLE_NONE) {
		paraver_add_loss(chunk, PARAVER_TYPES_FULL, e->offset);
		return;
	}
	struct paraver_span span = { now + e->dur, e->offset, find_value(st, group, e, chunk) };
	if (e->dur > PARAVER_LAST_TIME - now) {
		paraver_add_loss(chunk, PARAVER_TIME_CUT, e->offset);
		span.end = PARAVER_LAST_TIME;
	}
	if (async) {
		paraver_start_async(st, stack, &span, chunk);
		return;
	}
	k->last_group = group;
	k->last_stack = stack;
	paraver_start_span(st, stack, &span, chunk);
}

static void add_instant(struct paraver_state *st, const struct paraver_track *k, const struct event *e,
                        struct chunk *chunk)
{
	const struct paraver_type like = { .group = find_group(st, k, e), .kind = PARAVER_INSTANTS };
	const uint32_t type = like.group != TABLE_NONE ? paraver_type(&st->names, like) : 0;

	if (type == 0)
		paraver_add_loss(chunk, PARAVER_TYPES_FULL, e->offset);
	else
		paraver_add_record(st, k->row, st->spans.now, type, find_value(st, like.group, e, chunk), 0,
		                   0);
}

/* Converts a value to an integer.  Returns false if it is not a number, or NaN. */
static bool to_integer(const struct value *v, uint64_t offset, int64_t *number, struct chunk *chunk)
{
	const enum value_fit fit = v->type != VALUE_ADDRESS ? value_integer(v, number) : VALUE_NO_NUMBER;

	if (fit == VALUE_NAN || fit == VALUE_LIMITED)
		paraver_add_loss(chunk, PARAVER_NUMBER_RANGE, offset);
	else if (fit == VALUE_ROUNDED)
		paraver_add_loss(chunk, PARAVER_NUMBER_ROUNDED, offset);
	return fit >= VALUE_LIMITED;
}

/* Returns the type of a series: "counter: field"; 0 at a limit or on OOM. */
static uint32_t counter_type(struct paraver_state *st, const struct paraver_track *k, const struct event *e,
                             struct slice field)
{
	const struct slice name = e->name;
	struct text *const t = &st->scratch;

	text_clear(t);
	text_slice(t, name);
	if (field.n > 0 && !slice_equal(field, name)) {
		text_str(t, name.n > 0 ? ": " : "");
		text_slice(t, field);
	}
	const struct paraver_type like = {
		.group = own_group(st, PARAVER_COUNTER, k->row, index_of(track_without_lane(e->track))),
		.kind = PARAVER_NUMBERS,
	};
	return like.group != TABLE_NONE ? paraver_type(&st->names, like) : 0;
}

/* Whether all fields were numbers. */
static bool add_counter(struct paraver_state *st, const struct paraver_track *k, const struct batch *b,
                        const struct event *e, struct chunk *chunk)
{
	const struct field *const f = b->fields + e->first_field;
	bool all = true;

	for (uint32_t i = 0; i < e->nfields; i++) {
		int64_t number;
		if (!to_integer(&f[i].value, e->offset, &number, chunk)) {
			all = false;
			continue;
		}
		const uint32_t type = counter_type(st, k, e, f[i].name);
		if (type == 0)
			paraver_add_loss(chunk, PARAVER_TYPES_FULL, e->offset);
		else
			paraver_add_record(st, k->row, st->spans.now, type, number, 0, 0);
	}
	return all;
}

/* Writes one end of an arrow: the row, the logical and the physical time.  Arrows may be as many as spans, so
 * text_printf() would be slow. */
static void put_end(struct text *t, const struct paraver_row *row, uint64_t time)
{
	text_add(t, row->prefix, row->prefix_n);
	text_u64(t, time);
	text_char(t, ':');
	text_u64(t, time);
}

static void add_arrow(struct paraver_state *st, const struct paraver_track *k, const struct event *e,
                      struct chunk *chunk)
{
	const uint64_t now = st->spans.now;
	struct text *const t = &st->store.text;
	bool matched;

	if (e->phase == PHASE_FLOW_OUT) {
		const struct paraver_row *const row = &st->rows.rows[k->row];
		matched = paraver_arrow_out(&st->arrows, e->dur);
		if (matched) {
			text_char(t, PARAVER_ARROW_MARK);
			text_u64(t, e->offset);
			text_str(t, " 3:");
			put_end(t, row, now);
			text_char(t, '\n');
		}
	} else {
		const uint32_t group = paraver_group(&st->names, PARAVER_ARROWS, SLICE_LIT("arrows"));
		const struct paraver_type like = { .group = group, .kind = PARAVER_NUMBERS };
		struct paraver_arrival at = { now, k->row + 1, 0 };
		if (group != TABLE_NONE && paraver_type(&st->names, like) != 0)
			at.name = find_value(st, group, e, chunk);
		matched = paraver_arrow_in(&st->arrows, e->dur, &at);
	}
	if (!matched)
		paraver_add_loss(chunk, PARAVER_ARROW, e->offset);
	else if (event_is_step(e))
		paraver_add_loss(chunk, PARAVER_STEP, e->offset);
}

/* ---- events ---- */

/* Returns the time since the first event, which has the earliest time. */
static uint64_t relative_time(struct paraver_state *st, const struct event *e, struct chunk *chunk)
{
	if (!st->any)
		st->base = e->ts;
	st->any = true;
	if (e->ts - st->base <= PARAVER_LAST_TIME)
		return e->ts - st->base;
	paraver_add_loss(chunk, PARAVER_TIME_CUT, e->offset);
	return PARAVER_LAST_TIME;
}

static void add_event(struct paraver_state *st, const struct batch *b, const struct event *e,
                      struct chunk *chunk)
{
	bool shown = e->nfields == 0;

	paraver_advance(st, relative_time(st, e, chunk), chunk);
	struct paraver_track *const k = find_track(st, e->track);
	if (k == NULL)
		return;
	if (e->phase == PHASE_SPAN)
		add_span(st, k, e, chunk);
	else if (e->phase == PHASE_COUNTER)
		shown = add_counter(st, k, b, e, chunk);
	else if (event_is_flow(e))
		add_arrow(st, k, e, chunk);
	else /* the engine has paired PHASE_BEGIN and PHASE_END */
		add_instant(st, k, e, chunk);
	if (!shown)
		paraver_add_loss(chunk, PARAVER_FIELDS, e->offset);
	/* the type does not show the category; not a loss for arrows, whose ends may be of two classes */
	if (!event_is_flow(e) && (e->phase == PHASE_COUNTER || k->is_line) && event_has_category(e))
		paraver_add_loss(chunk, PARAVER_CATEGORY_LOST, e->offset);
}

/* ---- the .prv file ---- */

#define PIECE ((size_t)1 << 20) /* bytes of the store, written in one call; a line is far shorter */

/* Writes the date and minute of the first event in UTC; 1970 if the wall time is unknown. */
static void write_date(const struct paraver_state *st, const struct writer *w, struct text *t)
{
	struct tm tm = { .tm_mday = 1, .tm_year = 70 };
	int128 ns = 0;

	if (w->run->trace->epoch_known)
		ns = (w->run->signed_time ? (int64_t)st->base : (int128)st->base) + w->run->rebased_by +
		     w->run->trace->epoch_ns;
	const time_t seconds = (time_t)(ns / 1000000000);
	gmtime_r(&seconds, &tm);
	text_printf(t, "#Paraver (%02d/%02d/%02d at %02d:%02d):", tm.tm_mday, tm.tm_mon + 1, tm.tm_year % 100,
	            tm.tm_hour, tm.tm_min);
}

/* Writes the line of an arrow, which follows its offset in the input, and adds its receiver. */
static void write_arrow(struct paraver_state *st, const char *p, const char *end, struct chunk *chunk)
{
	const struct paraver_arrival at = paraver_arrow_get(&st->arrows, st->narrows++);
	struct text *const t = &chunk->text;
	uint64_t offset = 0;

	for (; *p != ' '; p++)
		offset = offset * 10 + (uint64_t)(*p - '0');
	if (at.row == 0) {
		paraver_add_loss(chunk, PARAVER_ARROW, offset);
		return;
	}
	p++;
	text_add(t, p, (size_t)(end - p));
	text_char(t, ':');
	put_end(t, &st->rows.rows[at.row - 1], at.time);
	text_str(t, ":0:");
	text_u64(t, at.name);
	text_char(t, '\n');
}

static void write_lines(struct paraver_state *st, const char *p, const char *end, struct chunk *chunk)
{
	while (p < end) {
		const char *const mark = memchr(p, PARAVER_ARROW_MARK, (size_t)(end - p));
		if (mark == NULL) {
			text_add(&chunk->text, p, (size_t)(end - p));
			return;
		}
		text_add(&chunk->text, p, (size_t)(mark - p));
		const char *const stop = memchr(mark, '\n', (size_t)(end - mark));
		write_arrow(st, mark + 1, stop, chunk);
		p = stop + 1;
	}
}

/* Writes the next whole lines of the store, at most PIECE bytes. */
static void write_piece(struct paraver_state *st, struct chunk *chunk)
{
	const uint64_t left = paraver_store_size(&st->store) - st->written;
	size_t n = left < PIECE ? (size_t)left : PIECE;
	char *p;

	text_clear(&st->scratch);
	p = text_reserve(&st->scratch, PIECE);
	if (p == NULL || n == 0 || !paraver_store_read(&st->store, st->written, p, n))
		return;
	while (p[n - 1] != '\n')
		n--;
	write_lines(st, p, p + n, chunk);
	st->written += n;
	if (st->store.file.is_open)
		spill_discard(&st->store.file, st->written - n, n);
}

/* ---- writer ---- */

/* Returns false, and sets the failure of the chunk, on OOM or if a temporary file failed. */
static bool check_failure(struct paraver_state *st, struct chunk *chunk)
{
	chunk->text.failed |=
	    st->store.text.failed | st->scratch.failed | st->names.failed | st->arrows.no_memory;
	if (st->store.failed)
		spill_reason(&st->store.file, "the records", st->why, sizeof st->why);
	else if (st->arrows.failed)
		spill_reason(&st->arrows.file, "the arrows", st->why, sizeof st->why);
	if (st->why[0] != '\0')
		chunk->failed = st->why;
	return !chunk->text.failed && st->why[0] == '\0';
}

static bool paraver_open(struct writer *w, struct chunk *chunk)
{
	struct paraver_state *const st = w->state;

	st->store.temp_dir = st->arrows.temp_dir = w->temp_near;
	return true;
}

static bool paraver_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct paraver_state *const st = w->state;
	bool ok = true;

	for (uint32_t i = 0; ok && i < b->nclasses; i++)
		ok = array_reach(&st->categories, &st->ncategories, b->classes[i]->index,
		                 sizeof *st->categories);
	for (uint32_t i = 0; ok && i < b->ntracks; i++)
		ok = declare_track(st, b->tracks[i]);
	return ok;
}

static void paraver_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct paraver_state *const st = state;

	for (uint32_t i = 0; i < b->n && !st->names.failed && !st->store.failed; i++)
		add_event(st, b, &b->events[i], chunk);
	paraver_store_spill(&st->store);
	(void)check_failure(st, chunk);
}

static bool paraver_close(struct writer *w, struct chunk *chunk)
{
	struct paraver_state *const st = w->state;

	chunk_file(chunk, PARAVER_PRV);
	paraver_spans_end(st, chunk);
	write_date(st, w, &chunk->text);
	text_printf(&chunk->text, "%" PRIu64 "_ns:0:", st->spans.now);
	paraver_write_objects(&st->rows, &chunk->text);
	text_char(&chunk->text, '\n');
	facts_lose(w,
	           (struct facts_losses){ &paraver_losses[PARAVER_FACTS], &paraver_losses[PARAVER_HOSTS],
	                                  &paraver_losses[PARAVER_EPOCH] },
	           chunk);
	do {
		write_piece(st, chunk);
		if (!check_failure(st, chunk) || !chunk_flush(chunk))
			return true;
	} while (st->written < paraver_store_size(&st->store));
	chunk_file(chunk, PARAVER_PCF);
	paraver_write_pcf(&st->names, chunk);
	chunk_file(chunk, PARAVER_ROW);
	paraver_write_row(&st->rows, chunk);
	return true;
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
	table64_free(&st->own_groups);
	table64_free(&st->label_counts);
	arena_free(&st->arena);
	text_free(&st->scratch);
}

static const struct writer_ops paraver_writer_ops = {
	.state_size = sizeof(struct paraver_state),
	.want = WANT_FIELDS,
	.modes = WRITER_FEW_FIELDS,
	.order = ORDER_TIME,
	.shape = WRITER_FOLDER,
	.nested = true,
	.open = paraver_open,
	.declare = paraver_declare,
	.write = paraver_write,
	.close = paraver_close,
	.free = paraver_free,
};

/* ---- the format ---- */

const struct loss paraver_losses[PARAVER_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "paraver/losses.def"
#undef LOSS
};

static const char *const suffixes[] = { ".paraver", NULL };

const struct format paraver_format = {
	.name = "paraver",
	.title = "Paraver trace",
	.spec = "Paraver trace file format",
	.suffixes = suffixes,
	.writer = &paraver_writer_ops,
	.losses = paraver_losses,
};
