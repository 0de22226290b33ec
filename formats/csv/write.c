/*
 * The writer of two formats with the same table: csv separates cells by commas and quotes them (RFC 4180);
 * tsv separates them by tabs and escapes with backslashes.  One row an event, its fields as one cell of JSON.
 * Several threads render rows.
 * Cells that all events of a track or a class share are rendered once, when the track or class is declared.
 *
 * The cell of fields is escaped twice: as JSON, then for the table (csv doubles quotes, tsv doubles
 * backslashes).  Common fields, whose JSON has no escapes, are written with both in one step.
 */
#include <math.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/scan.h"
#include "format/fields_json.h"
#include "format/format.h"
#include "model/event_traits.h"
#include "out/facts.h"
#include "out/field_names.h"
#include "out/kind.h"
#include "out/lifted.h"
#include "out/tracks.h"
#include "output/text_json.h"

enum csv_loss {
#define LOSS(row, ...) CSV_LOSS_##row,
#include "csv/losses.def"
#undef LOSS
	CSV_LOSSES
};

enum tsv_loss {
#define LOSS(row, ...) TSV_LOSS_##row,
#include "csv/tsv_losses.def"
#undef LOSS
	TSV_LOSSES
};

static const struct loss csv_losses[CSV_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "csv/losses.def"
#undef LOSS
};

static const struct loss tsv_losses[TSV_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "csv/tsv_losses.def"
#undef LOSS
};

/* Number of texts with losses of these kinds. */
struct text_lost {
	uint32_t bad_text, hidden;
};

struct csv_state {
	bool tabs;             /* tsv */
	bool signed_time;      /* ts may be before 0 */
	struct arena arena;    /* of the cells that all events of a track or class share */
	struct lifted *lifted; /* columns of --column; NULL: none */
};

static inline char separator_of(bool tabs)
{
	return tabs ? '\t' : ',';
}

/* ---- text cells ---- */

static bool needs_quotes(struct slice s)
{
	for (uint32_t i = 0; i < s.n; i++)
		if (s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r')
			return true;
	return false;
}

static bool is_control(const char *p, size_t size)
{
	return size == 1 ? (unsigned char)*p < 0x20 || *p == 0x7f : utf8_is_hidden(utf8_point(p, size));
}

/* Adds a text of csv, whose only escape is the doubled quote (RFC 4180, section 2). */
static void put_quoted(struct text *t, struct slice s, struct text_lost *lost)
{
	const char *const end = s.p + s.n;
	bool bad = false, hidden = false;

	for (const char *p = s.p; p < end;) {
		size_t size = utf8_size(p, (size_t)(end - p));
		if (size == 0) {
			text_str(t, TEXT_REPLACEMENT);
			size = utf8_invalid_run(p, (size_t)(end - p));
			bad = true;
		} else if (*p == '\t' || *p == '\n' || *p == '\r' || !is_control(p, size)) {
			text_add(t, p, size);
			if (*p == '"')
				text_char(t, '"');
		} else {
			text_str(t, TEXT_REPLACEMENT);
			hidden = true;
		}
		p += size;
	}
	lost->bad_text += bad;
	lost->hidden += hidden;
}

static void put_escaped(struct text *t, struct slice s)
{
	static const char hex[] = "0123456789abcdef";
	const char *const end = s.p + s.n;

	for (const char *p = s.p; p < end;) {
		const size_t size = utf8_size(p, (size_t)(end - p));
		const unsigned char c = (unsigned char)*p;
		const char letter = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : '\\';
		if (c == '\t' || c == '\n' || c == '\r' || c == '\\')
			text_add(t, (const char[]){ '\\', letter }, 2);
		else if (size > 0 && !is_control(p, size))
			text_add(t, p, size);
		else if (size > 1)
			text_printf(t, "\\u{%04x}", (unsigned)utf8_point(p, size));
		else
			text_add(t, (const char[]){ '\\', 'x', hex[c >> 4], hex[c & 15] }, 4);
		p += size > 0 ? size : 1;
	}
}

/* Adds a text as a cell, without separators. */
static void put_text_cell(struct text *t, bool tabs, struct slice s, struct text_lost *lost)
{
	const bool plain = (s.flags & SLICE_JSON) != 0; /* no character needs an escape */
	const bool quotes = !tabs && (plain ? s.n > 0 && memchr(s.p, ',', s.n) != NULL : needs_quotes(s));

	if (quotes)
		text_char(t, '"');
	if (plain)
		text_slice(t, s);
	else if (tabs)
		put_escaped(t, s);
	else
		put_quoted(t, s, lost);
	if (quotes)
		text_char(t, '"');
}

/* ---- fields, a cell of JSON ---- */

#define MAX_EXACT ((UINT64_C(1) << 53) - 1) /* larger integers are text in JSON, see fields_json() */

/* Doubles each `c` from offset `from` on.  Works from the end to the front, to move each byte once. */
static void double_each(struct text *t, size_t from, char c)
{
	size_t n = 0;

	if (t->failed)
		return;
	for (size_t i = from; i < t->n; i++)
		n += t->p[i] == c;
	if (text_reserve(t, n) == NULL)
		return;
	const char *s = t->p + t->n;
	t->n += n;
	for (char *d = t->p + t->n; d > s;) {
		const char ch = *--s;
		d[-1] = ch;
		d[-2] = ch;
		d -= 1 + (ch == c);
	}
}

/* Stores a JSON string without escapes, with the quotes of the table. */
static inline char *store_plain_string(char *p, bool tabs, const char *s, uint32_t n)
{
	memset(p, '"', 2);
	p = text_put(p + 2 - tabs, s, n);
	memset(p, '"', 2);
	return p + 2 - tabs;
}

/* Adds a common field (a plain name, and a plain text or a small integer) with both escapes.  Returns false,
 * and adds nothing, for other fields.  Without this function, convert takes 15 to 20 % more instructions. */
static inline bool put_plain_field(struct text *t, bool tabs, const struct field *f, bool first)
{
	const struct value *const v = &f->value;
	const bool string = v->type == VALUE_STRING && (v->flags & SLICE_JSON) != 0;
	const bool number = v->type >= VALUE_U8 && v->type <= VALUE_U64 && v->u64 <= MAX_EXACT;

	if ((f->name.flags & SLICE_JSON) == 0 || !(string || number))
		return false;
	char *p = text_reserve(t, (size_t)f->name.n + (string ? v->count : DECIMAL_U64_MAX) + 16);
	if (p == NULL)
		return true;
	*p = ',';
	p = store_plain_string(p + !first, tabs, f->name.p, f->name.n);
	*p++ = ':';
	p = string ? store_plain_string(p, tabs, v->p, v->count) : decimal_u64(p, v->u64);
	t->n = (size_t)(p - t->p);
	return true;
}

static void put_fields_cell(struct text *t, bool tabs, const struct field *fields, uint32_t n,
                            struct fields_json_lost *lost)
{
	if (n == 0)
		return;
	text_str(t, tabs ? "{" : "\"{");
	for (uint32_t i = 0; i < n; i++) {
		if (put_plain_field(t, tabs, &fields[i], i == 0))
			continue;
		const size_t from = t->n;
		if (i > 0)
			text_char(t, ',');
		fields_json(t, &fields[i], 1, lost);
		/* JSON of the trace may have line ends and tabs between its values */
		for (size_t k = from; tabs && k < t->n; k++)
			t->p[k] = (unsigned char)t->p[k] < 0x20 ? ' ' : t->p[k];
		double_each(t, from, tabs ? '\\' : '"');
	}
	text_add(t, "}\"", 2U - tabs);
}

/* ---- shared cells ---- */

/* Adds the cells of a process or thread: name and number; both are empty if k is NULL. */
static void put_name_and_id(struct text *t, bool tabs, const struct event *e, const struct track *k,
                            struct text_lost *lost)
{
	if (k != NULL)
		put_text_cell(t, tabs, event_track_name(e, k), lost);
	text_char(t, separator_of(tabs));
	if (k != NULL && k->has_id)
		text_u64(t, k->id);
	text_char(t, separator_of(tabs));
}

/* Adds process, pid, thread, tid, track, lane.  e: NULL, or the event of the row. */
static void put_track_cells(struct text *t, bool tabs, const struct event *e, const struct track *k,
                            struct text_lost *lost)
{
	const struct track *const base = track_without_lane(k);

	put_name_and_id(t, tabs, e, track_process(k), lost);
	put_name_and_id(t, tabs, e, track_thread_or_null(base), lost);
	if (base->is_child)
		put_text_cell(t, tabs, event_track_name(e, base), lost);
	text_char(t, separator_of(tabs));
	text_u64(t, k->lane);
	text_char(t, separator_of(tabs));
}

/* Copies cells with their separators, and frees the text.  Returns NULL on OOM. */
static const struct slice *store_cells(struct csv_state *st, struct text *t)
{
	struct slice *const cells = t->failed ? NULL : arena_alloc(&st->arena, sizeof *cells);

	if (cells != NULL)
		*cells = arena_copy(&st->arena, slice_of(t->p, t->n));
	text_free(t);
	return cells != NULL && cells->p != NULL ? cells : NULL;
}

/* ---- losses ---- */

static void count_loss(const struct csv_state *st, struct chunk *c, enum csv_loss of_csv,
                       enum tsv_loss of_tsv, uint64_t offset, uint32_t count)
{
	if (count > 0)
		ledger_add(&c->ledger, st->tabs ? &tsv_losses[of_tsv] : &csv_losses[of_csv], offset, count);
}

/* Counts losses of text cells.  tsv has none: its escapes can express all bytes. */
static void count_text_losses(struct chunk *c, struct text_lost lost, uint64_t offset)
{
	if (lost.bad_text > 0)
		ledger_add(&c->ledger, &csv_losses[CSV_LOSS_BAD_TEXT], offset, lost.bad_text);
	if (lost.hidden > 0)
		ledger_add(&c->ledger, &csv_losses[CSV_LOSS_HIDDEN], offset, lost.hidden);
}

static void count_field_losses(const struct csv_state *st, struct chunk *c,
                               const struct fields_json_lost *lost, uint64_t offset)
{
	count_loss(st, c, CSV_LOSS_BAD_TEXT, TSV_LOSS_BAD_TEXT, offset, lost->bad_text);
	count_loss(st, c, CSV_LOSS_NOT_A_NUMBER, TSV_LOSS_NOT_A_NUMBER, offset, lost->not_a_number);
	count_loss(st, c, CSV_LOSS_TOO_DEEP, TSV_LOSS_TOO_DEEP, offset, lost->too_deep);
}

/* ---- columns of --column ---- */

/* Adds the digits of an integer that a double would round. */
static void put_exact(struct text *t, const struct value *v)
{
	if (v->type == VALUE_STRING || v->type == VALUE_JSON)
		text_add(t, v->p, v->count);
	else if (v->type >= VALUE_I8 && v->type <= VALUE_I64)
		text_i64(t, v->i64);
	else
		text_u64(t, v->u64);
}

static void put_float(struct text *t, double v)
{
	char digits[DECIMAL_F64_MAX];

	if (isnan(v))
		text_str(t, "NaN");
	else if (isinf(v))
		text_str(t, v < 0 ? "-Infinity" : "Infinity");
	else
		text_add(t, digits, (size_t)(decimal_f64(digits, v) - digits));
}

/* Returns false if the type cannot express the value. */
static bool put_number(struct text *t, enum lifted_type type, const struct value *v)
{
	struct lifted_number number;

	if (!lifted_number(type, v, &number))
		return false;
	if (number.rounded)
		put_exact(t, v);
	else if (type == LIFTED_FLOAT)
		put_float(t, number.f);
	else if (type == LIFTED_BOOL)
		text_str(t, number.i != 0 ? "true" : "false");
	else
		text_i64(t, number.i);
	return true;
}

static void put_text_value(const struct csv_state *st, struct chunk *c, enum lifted_type type,
                           const struct value *v, uint64_t offset)
{
	struct fields_json_lost lost = { .bad_text = 0 };
	struct text_lost lost_text = { 0 };
	const bool direct = type == LIFTED_TEXT && v->type == VALUE_STRING;
	struct text made = { .p = NULL };

	if (!direct)
		lifted_text(type, v, &made, &lost);
	c->text.failed |= made.failed;
	const struct slice s = direct ? value_text(v) : slice_of(made.p, made.n);
	if (!made.failed)
		put_text_cell(&c->text, st->tabs, s, &lost_text);
	count_text_losses(c, lost_text, offset);
	count_field_losses(st, c, &lost, offset);
	text_free(&made);
}

/* Adds the cells with a separator before each.  Not inlined: most rows have no such cells. */
static NOINLINE void put_lifted(const struct csv_state *st, const struct batch *b, const struct event *e,
                                struct chunk *c)
{
	for (uint32_t i = 0; i < st->lifted->n; i++) {
		const enum lifted_type type = st->lifted->columns[i].type;
		struct path_value member;
		const struct value *const v = lifted_find(st->lifted, i, b, e, &member);
		text_char(&c->text, separator_of(st->tabs));
		if (v == NULL)
			continue;
		if (!lifted_is_number(type))
			put_text_value(st, c, type, v, e->offset);
		else if (!put_number(&c->text, type, v))
			count_loss(st, c, CSV_LOSS_ARG_TYPE, TSV_LOSS_ARG_TYPE, e->offset, 1);
	}
}

/* ---- rows ---- */

struct kind {
	char text[16]; /* all bytes are copied: with a constant size this is one instruction */
	uint32_t n;
};

static const struct kind kinds[] = {
#define ROW(kind, name, ...) [EVENT_KIND_##kind] = { name, sizeof(name) - 1 },
	EVENT_KIND_ROWS(ROW)
#undef ROW
};

/* Bytes of the kind, the numbers and the separators of a row, without texts and fields. */
#define ROW_BYTES (sizeof(struct kind) + 4 * DECIMAL_U64_MAX + 8)

static void render_row(const struct csv_state *st, const struct batch *b, const struct event *e,
                       struct chunk *c)
{
	const struct kind *const kind = &kinds[event_kind(e)];
	const struct slice *const cls = e->cls->declared, *const track = e->track->declared;
	struct fields_json_lost lost = { .bad_text = 0 };
	struct text_lost lost_text = { 0 }, counted = { 0 }; /* counted: by csv_declare() */
	const char separator = separator_of(st->tabs);
	struct text *const t = &c->text;
	char *p = text_reserve(t, ROW_BYTES);

	if (p == NULL)
		return;
	memcpy(p, kind->text, sizeof kind->text);
	p += kind->n;
	*p++ = separator;
	p = st->signed_time ? decimal_i64(p, (int64_t)e->ts) : decimal_u64(p, e->ts);
	*p++ = separator;
	if (event_has_duration(e))
		p = decimal_u64(p, e->dur);
	*p++ = separator;
	t->n = (size_t)(p - t->p);
	put_text_cell(t, st->tabs, e->name, &lost_text);
	if ((p = text_reserve(t, (size_t)cls->n + track->n + ROW_BYTES)) == NULL)
		return;
	p = text_put(p, cls->p, cls->n);
	if (track->n > 0 && (e->flags & EVENT_SHORT) == 0) {
		p = text_put(p, track->p, track->n);
	} else {
		t->n = (size_t)(p - t->p);
		put_track_cells(t, st->tabs, e, e->track, &counted);
		if ((p = text_reserve(t, ROW_BYTES)) == NULL)
			return;
	}
	if (event_is_flow(e))
		p = decimal_u64(p, e->dur);
	*p++ = separator;
	t->n = (size_t)(p - t->p);
	const struct field *const fields = field_names_unique(
	    c, b->fields + e->first_field, e->nfields,
	    st->tabs ? &tsv_losses[TSV_LOSS_NAME_REPEATED] : &csv_losses[CSV_LOSS_NAME_REPEATED], e->offset);
	put_fields_cell(t, st->tabs, fields, e->nfields, &lost);
	if ((p = text_reserve(t, ROW_BYTES)) == NULL)
		return;
	*p++ = separator;
	p = decimal_u64(p, e->offset);
	if (st->lifted != NULL) {
		t->n = (size_t)(p - t->p);
		put_lifted(st, b, e, c);
		if ((p = text_reserve(t, ROW_BYTES)) == NULL)
			return;
	}
	if (!st->tabs)
		*p++ = '\r';
	*p++ = '\n';
	t->n = (size_t)(p - t->p);
	count_text_losses(c, lost_text, e->offset);
	if (fields_json_lost_any(&lost))
		count_field_losses(st, c, &lost, e->offset);
}

/* ---- the writer ---- */

static const char *const columns[] = { "kind",   "ts_ns", "dur_ns", "name", "category", "process", "pid",
	                               "thread", "tid",   "track",  "lane", "id",       "args",    "offset" };

/* Returns the mistake in an argument of --column; NULL if there is none. */
static const char *column_mistake(const char *arg)
{
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		if (lifted_is(arg, columns[i]))
			return "takes no name that a column of each file has (tracetool-csv(5) lists them)";
	return lifted_mistake(arg);
}

static bool write_header(struct writer *w, struct chunk *chunk, bool tabs)
{
	struct csv_state *const st = w->state;

	st->signed_time = w->run->signed_time;
	st->tabs = tabs;
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		if (i > 0)
			text_char(&chunk->text, separator_of(tabs));
		text_str(&chunk->text, columns[i]);
	}
	if (lifted_asked(w->options)) {
		st->lifted = arena_zalloc(&st->arena, 1, sizeof *st->lifted);
		if (st->lifted == NULL)
			return false;
		lifted_open(st->lifted, w->options);
		for (uint32_t i = 0; i < st->lifted->n; i++) {
			text_char(&chunk->text, separator_of(tabs));
			struct text_lost lost = { 0 };
			put_text_cell(&chunk->text, tabs, lifted_name(&st->lifted->columns[i]), &lost);
			count_text_losses(chunk, lost, LOSS_NOWHERE);
		}
	}
	text_str(&chunk->text, tabs ? "\n" : "\r\n");
	return true;
}

static bool csv_open(struct writer *w, struct chunk *chunk)
{
	return write_header(w, chunk, false);
}

static bool tsv_open(struct writer *w, struct chunk *chunk)
{
	return write_header(w, chunk, true);
}

static bool csv_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct csv_state *const st = w->state;
	struct text_lost lost = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < b->ntracks; i++) {
		struct text t = { .p = NULL };
		put_track_cells(&t, st->tabs, NULL, b->tracks[i], &lost);
		if (t.n > TRACK_TEXT_KEPT)
			text_clear(&t);
		ok = (b->tracks[i]->declared = store_cells(st, &t)) != NULL;
	}
	for (uint32_t i = 0; ok && i < b->nclasses; i++) {
		struct text t = { .p = NULL };
		text_char(&t, separator_of(st->tabs));
		put_text_cell(&t, st->tabs, b->classes[i]->category, &lost);
		text_char(&t, separator_of(st->tabs));
		ok = (b->classes[i]->declared = store_cells(st, &t)) != NULL;
	}
	count_text_losses(chunk, lost, LOSS_NOWHERE);
	return ok;
}

static void csv_render(const void *state, const struct batch *b, struct chunk *chunk)
{
	for (uint32_t i = 0; i < b->n; i++)
		render_row(state, b, &b->events[i], chunk);
}

static bool csv_close(struct writer *w, struct chunk *chunk)
{
	const struct csv_state *const st = w->state;
	const struct facts_losses of_csv = { &csv_losses[CSV_LOSS_FACTS], &csv_losses[CSV_LOSS_HOSTS],
		                             &csv_losses[CSV_LOSS_EPOCH] };
	const struct facts_losses of_tsv = { &tsv_losses[TSV_LOSS_FACTS], &tsv_losses[TSV_LOSS_HOSTS],
		                             &tsv_losses[TSV_LOSS_EPOCH] };

	if (st->lifted != NULL)
		count_loss(st, chunk, CSV_LOSS_NO_ARG, TSV_LOSS_NO_ARG, LOSS_NOWHERE,
		           lifted_empty(st->lifted));
	facts_lose(w, st->tabs ? of_tsv : of_csv, chunk);
	return true; /* nothing follows the last row */
}

static void csv_free(void *state)
{
	struct csv_state *const st = state;

	arena_free(&st->arena);
}

#define OPS(open_function)                                                                                   \
	{                                                                                                    \
		.state_size = sizeof(struct csv_state), .want = WANT_FIELDS, .modes = WRITER_TEXT,           \
		.nested = true, .open = open_function, .declare = csv_declare, .render = csv_render,         \
		.close = csv_close, .free = csv_free,                                                        \
	}

static const struct writer_ops csv_writer_ops = OPS(csv_open);
static const struct writer_ops tsv_writer_ops = OPS(tsv_open);

/* ---- the format ---- */

static const char *const csv_suffixes[] = { ".csv", NULL };
static const char *const tsv_suffixes[] = { ".tsv", NULL };

static const struct format_option options[] = {
	LIFTED_OPTION(column_mistake),
	{ .name = NULL },
};

const struct format csv_format = {
	.name = "csv",
	.title = "CSV, one event a line",
	.spec = "RFC 4180; tracetool-csv(5)",
	.suffixes = csv_suffixes,
	.options = options,
	.writer = &csv_writer_ops,
	.losses = csv_losses,
};

const struct format tsv_format = {
	.name = "tsv",
	.title = "TSV, one event a line",
	.spec = "tracetool-tsv(5)",
	.suffixes = tsv_suffixes,
	.options = options,
	.writer = &tsv_writer_ops,
	.losses = tsv_losses,
};
