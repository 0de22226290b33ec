/*
 * Raw events, and copies of them.
 *
 * A raw event has the unmodified members of a record and its bytes; the bytes between records are events too,
 * so that all bytes together are the input.  A copy writes these bytes, possibly without some records and
 * with other times.  Of several inputs, the first decides about the bytes before and after all records:
 * brackets of the others are left out, so that the output is one trace.
 */
#include "dftracer/write.h"

/* ---- fields of records ---- */

/* Returns an integer, or JSON text if 64 bits do not give the same digits back. */
static struct value integer_value(const struct dft_record *rec, const struct dft_member *m)
{
	const struct slice s = dft_token_text(rec, m->value);

	return slice_is(s, "-0") ? dft_json_value(s) : dft_integer_value(rec, m->value, m->kind == JSON_INT);
}

/* Returns the text of a string with escapes resolved. */
static struct slice text_of(const struct dft_record *rec, struct dft_token t, struct arena *a)
{
	const struct slice s = dft_token_text(rec, t);

	if (rec->clean)
		return dft_clean_text(s);
	return s.n > 0 && memchr(s.p, '\\', s.n) != NULL ? json_unescape(a, s) : textscan_slice(s.p, s.n);
}

static struct value value_of(const struct dft_record *rec, const struct dft_member *m, struct arena *a)
{
	const struct slice s = dft_token_text(rec, m->value);

	switch (m->kind) {
	case JSON_UINT:
	case JSON_INT:
		return integer_value(rec, m);
	case JSON_TRUE:
	case JSON_FALSE:
		return (struct value){ .type = VALUE_BOOL, .u64 = m->kind == JSON_TRUE };
	case JSON_NUMBER:
	case JSON_OBJECT:
	case JSON_ARRAY:
		return dft_json_value(s);
	case JSON_NOT_FINITE:
		return dft_not_finite_value(s);
	case JSON_ABSENT:
	case JSON_NULL:
		return (struct value){ .type = VALUE_NONE };
	case JSON_BAD_WORD:
	case JSON_BAD_NESTED:
		return value_string(textscan_slice(s.p, s.n));
	default:
		return value_string(text_of(rec, m->value, a));
	}
}

void dft_raw_fields(struct dft_state *st, const struct dft_record *rec, struct batch *b, struct event *e)
{
	struct field *const to = batch_fields(b, rec->nmembers);

	st->no_memory |= to == NULL;
	if (to == NULL)
		return;
	for (uint32_t i = 0; i < rec->nmembers; i++) {
		const struct dft_member *const m = &rec->members[i];
		to[i] = (struct field){ text_of(rec, m->key, &b->scratch), value_of(rec, m, &b->scratch) };
		st->no_memory |=
		    to[i].name.p == NULL || (to[i].value.type == VALUE_STRING && to[i].value.p == NULL);
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)rec->nmembers;
	b->nfields += rec->nmembers;
}

/* ---- bytes of records ---- */

/* Skips the bytes of `set` at p and, if they end the current line, its newline. */
static const char *skip_set(const struct dft_state *st, const char *p, const char *set)
{
	const struct input *const in = st->r->in;
	const char *const e = p + (st->line.end - input_offset(in, p));

	while (p < e && *p != '\0' && strchr(set, *p) != NULL)
		p++;
	return p == e && e < in->end ? e + 1 : p;
}

void dft_raw_set_bytes(struct dft_state *st, struct batch *b, const struct dft_record *rec, const char *to)
{
	if (to == NULL)
		to = st->line.end_known ? skip_set(st, rec->end, " \t\r,") : rec->end;
	st->covered = input_offset(st->r->in, to);
	if (b->bytes != NULL)
		b->bytes[b->n - 1].n = (uint32_t)(to - rec->p);
}

void dft_raw_add_run(struct dft_state *st, struct batch *b, struct slice bytes)
{
	const struct class like = { .name = SLICE_LIT("records") };
	struct class **const c = &st->sh->classes.run;

	if (*c == NULL && (*c = trace_plan_class(st->r->trace, &like)) == NULL) {
		st->no_memory = true;
		return;
	}
	st->covered = input_offset(st->r->in, bytes.p + bytes.n);
	b->events[b->n] = (struct event){
		.phase = PHASE_STRUCTURE, .name = (*c)->name, .cls = *c, .offset = st->covered - bytes.n
	};
	if (b->bytes != NULL)
		b->bytes[b->n] = bytes;
	b->n++;
}

/* ---- bytes between records ---- */

static const struct class_field gap_field = { .name = SLICE_LIT("text"),
	                                      .type = SLICE_LIT("string"),
	                                      .value = VALUE_STRING };

/* No other class of this format declares fields. */
static bool is_gap(const struct class *c)
{
	return c->nfields == 1 && c->fields[0].name.p == gap_field.name.p;
}

static bool is_unreadable(const struct class *c)
{
	return is_gap(c) && slice_is(c->name, "unreadable bytes");
}

static struct class *gap_class(struct dft_state *st, bool dropped)
{
	struct class **const c = &st->sh->classes.gaps[dropped];
	const struct class like = { .name = dropped ? SLICE_LIT("unreadable bytes")
		                                    : SLICE_LIT("between records"),
		                    .fields = &gap_field,
		                    .nfields = 1 };

	if (*c == NULL)
		*c = trace_plan_class(st->r->trace, &like);
	return *c;
}

void dft_raw_add_gap(struct dft_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const uint64_t now = input_offset(in, in->p);
	const bool dropped = st->line.dropped;

	st->line.dropped = false;
	if (now <= st->covered)
		return;
	const char *const from = in->p - (now - st->covered);
	const bool whole_line = st->line.begun && st->line.end_known && !st->line.skipping && !st->trailer;
	const char *const to = whole_line ? skip_set(st, in->p, " \t\r,[]") : in->p;
	const struct class *const c = gap_class(st, dropped);
	struct field *const f = batch_fields(b, 1);
	st->no_memory |= c == NULL || f == NULL;
	if (st->no_memory)
		return;
	const struct slice bytes = slice_of(from, (size_t)(to - from));
	*f = (struct field){ gap_field.name, value_string(textscan_slice(bytes.p, bytes.n)) };
	b->events[b->n] = (struct event){ .phase = PHASE_STRUCTURE,
		                          .name = c->name,
		                          .cls = c,
		                          .offset = st->covered,
		                          .first_field = b->nfields++,
		                          .nfields = 1 };
	if (b->bytes != NULL)
		b->bytes[b->n] = bytes;
	b->n++;
	st->covered += bytes.n;
}

/* ---- copies with other times ---- */

/* Returns the time of the event in the unit of the record. */
static uint64_t time_in_units(struct dfw_state *st, const struct event *e, struct chunk *chunk)
{
	const uint64_t unit = dfw_time_unit(&st->parser);

	if (st->signed_time && e->ts > INT64_MAX) {
		dfw_lose(chunk, DFW_NEGATIVE_TIME, e->offset);
		return 0;
	}
	if (e->ts % unit != 0)
		dfw_lose(chunk, DFW_TIME_ROUNDED, e->offset);
	return e->ts / unit;
}

/* Copies a record with the time of the event. */
static void put_rebased(struct dfw_state *st, const struct event *e, struct slice bytes, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const struct dft_record *const rec = &st->parser.rec;
	const bool parsed = dfw_parse(&st->parser, bytes);

	chunk->text.failed |= !st->parser.ready;
	if (parsed && st->parser.kind == DFW_TIME_METRIC)
		chunk->text.failed |= !dfw_apply_metric(&st->parser);
	if (!parsed || e->phase == PHASE_STRUCTURE || dft_top_kind(rec, DFT_TS) == JSON_ABSENT) {
		text_slice(t, bytes);
		return;
	}
	const struct dft_token ts = rec->top[DFT_TS];
	text_add(t, bytes.p, ts.at);
	text_u64(t, time_in_units(st, e, chunk));
	text_add(t, bytes.p + ts.at + ts.n, bytes.n - ts.at - ts.n);
}

/* ---- copies of selected records ---- */

static void remember_tail(struct dfw_copy *copy, const struct text *t)
{
	const size_t n = t->n < DFW_TAIL ? t->n : DFW_TAIL;

	if (n == 0 || t->failed)
		return;
	memcpy(copy->tail, t->p + t->n - n, n);
	copy->ntail = (uint32_t)n;
}

/* Returns whether the output ends within a line. */
static bool is_in_line(const struct dfw_copy *copy)
{
	return copy->ntail > 0 && copy->tail[copy->ntail - 1] != '\n';
}

static bool ends_in_comma(const struct dfw_copy *copy)
{
	uint32_t n = copy->ntail;

	while (n > 0 && strchr(" \t\r\n", copy->tail[n - 1]) != NULL)
		n--;
	return n > 0 && copy->tail[n - 1] == ',';
}

static void end_line(struct dfw_copy *copy, struct chunk *chunk)
{
	remember_tail(copy, &chunk->text);
	if (is_in_line(copy))
		text_char(&chunk->text, '\n');
}

/* Returns the record without the rest of its line: end_selected() writes that before the next record. */
static struct slice body_of(struct slice record)
{
	while (record.n > 0 && record.p[record.n - 1] != '}')
		record.n--;
	return record;
}

static void end_selected(struct dfw_copy *copy, struct chunk *chunk, bool comma)
{
	if (!copy->written)
		return;
	if (comma && copy->commas)
		text_char(&chunk->text, ',');
	if (copy->cr)
		text_char(&chunk->text, '\r');
	text_char(&chunk->text, '\n');
}

static void put_selected(struct dfw_state *st, const struct event *e, struct slice bytes, struct chunk *chunk)
{
	struct dfw_copy *const copy = &st->copy;
	const struct slice body = body_of(bytes);
	const enum dfw_verdict verdict = dfw_select_judge(&st->select, &st->parser, e, bytes);

	chunk->text.failed |= st->select.failed;
	if (verdict == DFW_DROP_START)
		dfw_lose(chunk, DFW_START_LEFT_OUT, e->offset);
	if (verdict != DFW_KEEP)
		return;
	end_selected(copy, chunk, true);
	if (st->rebased)
		put_rebased(st, e, body, chunk);
	else
		text_slice(&chunk->text, body);
	copy->written = true;
	copy->line_end = bytes.p[bytes.n - 1] == '\n';
	copy->cr = copy->line_end && bytes.n > body.n + 1 && bytes.p[bytes.n - 2] == '\r';
}

void dfw_survey(void *state, const struct batch *b)
{
	struct dfw_state *const st = state;

	for (uint32_t i = 0; i < b->n; i++)
		if (b->events[i].phase != PHASE_STRUCTURE || !is_gap(b->events[i].cls))
			dfw_select_survey(&st->select, &st->parser, &b->events[i], b->bytes[i]);
}

/* ---- copies of the bytes between records ---- */

/* Holds bytes back from the closing bracket on.  If there are too many, they are written, and records of
 * other inputs cannot follow (`sealed`). */
static void hold_back(struct dfw_copy *copy, struct slice s, struct chunk *chunk)
{
	if (copy->inputs > 1) {
		copy->closed_later = true;
		return;
	}
	if (!copy->sealed && s.n <= DFW_MAX_END - copy->end.n) {
		text_slice(&copy->end, s);
		chunk->text.failed |= copy->end.failed;
		return;
	}
	if (copy->selecting && !copy->sealed)
		end_selected(copy, chunk, false);
	copy->sealed = true;
	text_add(&chunk->text, copy->end.p, copy->end.n);
	text_slice(&chunk->text, s);
	text_clear(&copy->end);
}

/* Copies a gap.  The closing bracket and the bytes after it are held back, since a record may follow. */
static void put_gap(struct dfw_copy *copy, struct slice s, bool unreadable, struct chunk *chunk)
{
	const bool held = copy->end.n > 0 || copy->sealed;
	const char *const close = held ? s.p : unreadable ? NULL : memchr(s.p, ']', s.n);
	const size_t before = close != NULL ? (size_t)(close - s.p) : s.n;
	const bool head = copy->inputs == 1 && copy->at_start && !unreadable;

	if (copy->selecting && unreadable)
		return;
	copy->opened |= head && before > 0 && memchr(s.p, '[', before) != NULL;
	if (head || (!copy->selecting && (copy->inputs == 1 || unreadable || !copy->at_start)))
		text_add(&chunk->text, s.p, before);
	if (close != NULL)
		hold_back(copy, slice_of(close, s.n - before), chunk);
}

static bool has_comma(struct slice record)
{
	while (record.n > 0 && strchr(" \t\r\n", record.p[record.n - 1]) != NULL)
		record.n--;
	return record.n > 0 && record.p[record.n - 1] == ',';
}

/* Writes the separator before the first record of an input, and before the first after a closing bracket. */
static void prepare_record(struct dfw_copy *copy, struct slice record, struct chunk *chunk)
{
	if (copy->inputs == 1) {
		copy->commas |= copy->at_start && has_comma(record);
		if (!copy->selecting)
			text_add(&chunk->text, copy->end.p, copy->end.n);
		text_clear(&copy->end);
	} else if (copy->at_start && !copy->selecting) {
		end_line(copy, chunk);
		if (copy->commas && !ends_in_comma(copy))
			text_str(&chunk->text, ",\n");
	}
	copy->at_start = false;
}

static void begin_input(struct dfw_copy *copy, struct chunk *chunk)
{
	copy->inputs++;
	copy->at_start = true;
	if (copy->sealed)
		chunk->end.failed = "the first input is an object with more than 1 MiB behind its records: "
		                    "records of other inputs cannot follow them";
}

/* ---- the copy ---- */

/* Borrows the bytes of adjacent records, but copies the last DFW_TAIL: see remember_tail(). */
static void put_run(struct slice run, struct chunk *chunk)
{
	const uint32_t n = run.n > DFW_TAIL ? run.n - DFW_TAIL : 0;

	if (n > 0)
		chunk_borrow(chunk, slice_of(run.p, n));
	if (run.n > 0)
		text_add(&chunk->text, run.p + n, run.n - n);
}

void dfw_copy(struct dfw_state *st, const struct batch *b, struct chunk *chunk)
{
	struct dfw_copy *const copy = &st->copy;
	struct slice run = { NULL, 0, 0 }; /* adjacent records, not yet written */

	dfw_select_end(&st->select);
	copy->selecting = st->selected && st->select.left_out;
	chunk->text.failed |= st->select.failed;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const struct slice bytes = b->bytes[i];
		const bool gap = e->phase == PHASE_STRUCTURE && is_gap(e->cls);
		if (run.n > 0 && run.p + run.n == bytes.p && bytes.n <= UINT32_MAX - run.n && !gap &&
		    e->offset != 0) {
			run.n += bytes.n;
			continue;
		}
		put_run(run, chunk);
		run.n = 0;
		if (e->offset == 0)
			begin_input(copy, chunk);
		if (gap) {
			put_gap(copy, bytes, is_unreadable(e->cls), chunk);
			continue;
		}
		if (copy->at_start || copy->end.n > 0)
			prepare_record(copy, bytes, chunk);
		if (copy->selecting)
			put_selected(st, e, bytes, chunk);
		else if (st->rebased)
			put_rebased(st, e, bytes, chunk);
		else
			run = bytes;
	}
	put_run(run, chunk);
	remember_tail(copy, &chunk->text);
}

void dfw_copy_close(struct dfw_copy *copy, struct chunk *chunk)
{
	const bool closed = copy->end.n > 0 || copy->closed_later;
	const bool closes = copy->inputs > 1 ? copy->opened && closed : closed;

	if (copy->selecting && !copy->sealed && (closes || copy->line_end))
		end_selected(copy, chunk, false);
	if (!closes)
		return;
	if (copy->inputs > 1)
		end_line(copy, chunk);
	if (copy->end.n > 0)
		text_add(&chunk->text, copy->end.p, copy->end.n);
	else if (copy->closed_later)
		text_char(&chunk->text, ']');
}
