/*
 * Copies of records: writes their bytes, possibly without some records and with other times.  The first input
 * supplies the bytes before and after all records: brackets of other inputs are left out, so that the output
 * is one trace.
 */
#include "dftracer/write/write.h"

/* ---- the copy: its state ---- */

#define TAIL_BYTES 32      /* retained at the end of the output */
#define MAX_END (1U << 20) /* max bytes after the records of an input that are held back */

struct dfw_copy {
	const struct run_facts *run;
	uint32_t inputs;   /* started */
	bool at_start;     /* before the first record of the current input */
	bool opened;       /* the output starts with a bracket */
	bool commas;       /* records are separated by commas, as in an array */
	bool sealed;       /* more than MAX_END bytes follow the records of the first input: written */
	bool closed_later; /* an input after the first has a closing bracket */
	bool selecting;    /* records are left out */
	bool written;      /* selecting: a record was written ... */
	bool line_end, cr; /* ... with this line end: LF, CR LF */
	struct text end;   /* of the first input: bytes held back, starting with its closing bracket */
	char tail[TAIL_BYTES];
	uint32_t ntail;
	struct dfw_parser parser;
	struct dfw_selection selection;
};

/* ---- copies with other times ---- */

/* Returns the time of the event in units of `unit` ns. */
static uint64_t time_in_units(const struct dfw_copy *copy, const struct event *e, uint64_t unit,
                              struct chunk *chunk)
{
	if (copy->run->signed_time && e->ts > INT64_MAX) {
		dfw_lose(chunk, DFW_NEGATIVE_TIME, e->offset);
		return 0;
	}
	if (e->ts % unit != 0)
		dfw_lose(chunk, DFW_TIME_ROUNDED, e->offset);
	return e->ts / unit;
}

/* Copies a record; if it states the wall time of 0, with that of the new 0. */
static void put_moved_fact(const struct dfw_copy *copy, struct slice bytes, struct text *t)
{
	const struct dft_record *const rec = &copy->parser.rec;
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_NAME);
	const struct dft_arg *const value = dft_arg_of(rec, DFT_ROLE_VALUE);
	uint64_t epoch;

	if (copy->parser.kind != DFW_COPIED_FACT || name == NULL || value == NULL ||
	    !slice_is(dft_token_text(rec, name->value), "epoch_ns") ||
	    !json_digits_any(rec->p + value->value.at, value->value.n, &epoch)) {
		text_slice(t, bytes);
		return;
	}
	const struct dft_token digits = value->value;
	text_add(t, bytes.p, digits.at);
	text_u64(t, (uint64_t)(epoch + copy->run->rebased_by));
	text_add(t, bytes.p + digits.at + digits.n, bytes.n - digits.at - digits.n);
}

/* Copies a record with the time of the event. */
static void put_rebased(struct dfw_copy *copy, const struct event *e, struct slice bytes, struct chunk *chunk)
{
	struct text *const t = &chunk->text;
	const struct dft_record *const rec = &copy->parser.rec;
	const bool parsed = dfw_parse_record(&copy->parser, bytes);
	const uint64_t unit = parsed ? dfw_time_unit(&copy->parser) : 1000;

	chunk->text.failed |= !copy->parser.ready || unit == 0;
	if (parsed && e->phase == PHASE_STRUCTURE) {
		put_moved_fact(copy, bytes, t);
		return;
	}
	if (!parsed || unit == 0 || dft_top_kind(rec, DFT_TS) == JSON_ABSENT) {
		text_slice(t, bytes);
		return;
	}
	const struct dft_token ts = rec->top[DFT_TS];
	text_add(t, bytes.p, ts.at);
	text_u64(t, time_in_units(copy, e, unit, chunk));
	text_add(t, bytes.p + ts.at + ts.n, bytes.n - ts.at - ts.n);
}

/* ---- copies of selected records ---- */

/* Notes bytes at the end of the output. */
static void add_tail(struct dfw_copy *copy, const char *p, size_t n)
{
	const uint32_t added = n < TAIL_BYTES ? (uint32_t)n : TAIL_BYTES;
	const uint32_t kept = copy->ntail < TAIL_BYTES - added ? copy->ntail : TAIL_BYTES - added;

	if (added == 0)
		return;
	memmove(copy->tail, copy->tail + copy->ntail - kept, kept);
	memcpy(copy->tail + kept, p + n - added, added);
	copy->ntail = kept + added;
}

static bool ends_in_comma(const char *p, uint32_t n)
{
	while (n > 0 && strchr(" \t\r\n", p[n - 1]) != NULL)
		n--;
	return n > 0 && p[n - 1] == ',';
}

static void end_line(struct dfw_copy *copy, struct chunk *chunk)
{
	if (copy->ntail > 0 && copy->tail[copy->ntail - 1] != '\n')
		text_char(&chunk->text, '\n');
}

/* Returns the record without the rest of its line, which end_selected() writes before the next record. */
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

static void put_selected(struct dfw_copy *copy, const struct event *e, struct slice bytes,
                         struct chunk *chunk)
{
	const struct slice body = body_of(bytes);
	const enum dfw_verdict verdict = dfw_judge(&copy->selection, &copy->parser, e, bytes);

	chunk->text.failed |= copy->selection.failed;
	if (verdict == DFW_DROP_START)
		dfw_lose(chunk, DFW_START_LEFT_OUT, e->offset);
	if (verdict != DFW_KEEP)
		return;
	end_selected(copy, chunk, true);
	if (copy->run->rebased)
		put_rebased(copy, e, body, chunk);
	else
		text_slice(&chunk->text, body);
	copy->written = true;
	copy->line_end = bytes.p[bytes.n - 1] == '\n';
	copy->cr = copy->line_end && bytes.n > body.n + 1 && bytes.p[bytes.n - 2] == '\r';
}

/* Writes lines of records that were read as one event; in an array, with commas between them. */
static void put_selected_lines(struct dfw_copy *copy, const struct event *e, struct slice lines,
                               struct chunk *chunk)
{
	const char *p = lines.p, *const end = p + lines.n;

	while (copy->commas && p < end) {
		const char *const lf = memchr(p, '\n', (size_t)(end - p));
		const char *const next = lf != NULL ? lf + 1 : end;
		put_selected(copy, e, slice_of(p, (size_t)(next - p)), chunk);
		p = next;
	}
	if (p < end)
		put_selected(copy, e, lines, chunk);
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
	if (!copy->sealed && s.n <= MAX_END - copy->end.n) {
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

/* Writes the separator before the first record of an input, and before the first after a closing bracket. */
static void prepare_record(struct dfw_copy *copy, struct slice record, struct chunk *chunk)
{
	if (copy->inputs == 1) {
		copy->commas |= copy->at_start && ends_in_comma(record.p, record.n);
		if (!copy->selecting)
			text_add(&chunk->text, copy->end.p, copy->end.n);
		text_clear(&copy->end);
	} else if (copy->at_start && !copy->selecting) {
		end_line(copy, chunk);
		if (copy->commas && !ends_in_comma(copy->tail, copy->ntail))
			text_str(&chunk->text, ",\n");
	}
	copy->at_start = false;
}

/* ---- the copier ---- */

static bool copy_open(struct copier *c)
{
	struct dfw_copy *const copy = c->state;

	copy->run = c->run;
	return true;
}

static void copy_input(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct dfw_copy *const copy = c->state;

	dfw_end_survey(&copy->selection);
	copy->selecting = c->selected && copy->selection.left_out;
	c->chunk->text.failed |= copy->selection.failed;
	copy->parser.in_facts = false;
	copy->inputs++;
	copy->at_start = true;
	if (copy->sealed)
		c->chunk->failed = "the first input is an object with more than 1 MiB after its records: "
		                   "records of other inputs cannot follow them";
}

static void put_record(struct copier *c, const struct event *e, struct slice bytes)
{
	struct dfw_copy *const copy = c->state;
	struct text *const t = copier_text(c);
	const size_t before = t->n;

	if (e->phase == PHASE_STRUCTURE && dft_is_gap(e->cls)) {
		put_gap(copy, bytes, dft_is_unreadable(e->cls), c->chunk);
	} else {
		if (copy->at_start || copy->end.n > 0)
			prepare_record(copy, bytes, c->chunk);
		if (copy->selecting)
			put_selected_lines(copy, e, bytes, c->chunk);
		else if (copy->run->rebased)
			put_rebased(copy, e, bytes, c->chunk);
	}
	if (!t->failed && t->n > before)
		add_tail(copy, t->p + before, t->n - before);
}

static void copy_record(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct dfw_copy *const copy = c->state;
	const bool gap = e->phase == PHASE_STRUCTURE && dft_is_gap(e->cls);
	const bool changed = gap || copy->selecting || copy->run->rebased;

	if (changed || copy->at_start || copy->end.n > 0)
		put_record(c, e, bytes);
	if (changed)
		return;
	copier_keep(c, bytes);
	add_tail(copy, bytes.p, bytes.n);
}

static void copy_survey(struct copier *c, const struct batch *b, const struct event *e, struct slice bytes)
{
	struct dfw_copy *const copy = c->state;

	if (e->phase != PHASE_STRUCTURE || !dft_is_gap(e->cls))
		dfw_survey_record(&copy->selection, &copy->parser, e, bytes);
}

static bool copy_skips(const struct copier *c, const struct event *e, struct slice bytes)
{
	return true;
}

static void copy_end(struct copier *c)
{
	struct dfw_copy *const copy = c->state;
	struct text *const t = copier_text(c);
	const bool closed = copy->end.n > 0 || copy->closed_later;
	const bool closes = copy->inputs > 1 ? copy->opened && closed : closed;
	const size_t before = t->n;

	if (copy->selecting && !copy->sealed && (closes || copy->line_end))
		end_selected(copy, c->chunk, false);
	if (!closes)
		return;
	if (!t->failed && t->n > before)
		add_tail(copy, t->p + before, t->n - before);
	if (copy->inputs > 1)
		end_line(copy, c->chunk);
	if (copy->end.n > 0)
		text_add(t, copy->end.p, copy->end.n);
	else if (copy->closed_later)
		text_char(t, ']');
}

static void copy_free(void *state)
{
	struct dfw_copy *const copy = state;

	text_free(&copy->end);
	dfw_parser_free(&copy->parser);
	dfw_selection_free(&copy->selection);
}

const struct copier_ops dfw_copier_ops = {
	.state_size = sizeof(struct dfw_copy),
	.modes = COPIER_SELECTS | COPIER_RUNS | COPIER_BYTES | COPIER_WHOLE,
	.open = copy_open,
	.input = copy_input,
	.record = copy_record,
	.survey = copy_survey,
	.skips = copy_skips,
	.end = copy_end,
	.empty = SLICE_LIT("[\n]\n"),
	.free = copy_free,
};
