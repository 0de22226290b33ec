/* A table that fits the width of a line.  Each column has the width that its cells need, and a minimum.  The
 * columns with most spare width are narrowed first, one character at a time; then whole columns are left out.
 * All cells are in memory until the table is printed. */
#include "output/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "output/text_visible.h"

enum {
	NAME_BYTES = 256, /* bytes of a name that are shown */
	GAP = 2,          /* spaces between columns */
	MIN_WIDTH = 8,    /* width of a name or text when no more columns can be left out */
};

/* ---- cells ---- */

void columns_next(struct columns *c)
{
	if (array_reserve(&c->ends, c->ncells, &c->cap, sizeof *c->ends))
		c->ends[c->ncells++] = c->text.n;
	else
		c->text.failed = true;
}

void columns_str(struct columns *c, const char *s)
{
	text_str(&c->text, s);
	columns_next(c);
}

void columns_u64(struct columns *c, uint64_t v)
{
	text_u64(&c->text, v);
	columns_next(c);
}

void columns_name(struct columns *c, struct slice s)
{
	const unsigned place = c->ncells % c->n == 0 ? 0 : TEXT_MID_LINE;
	char space[NAME_BYTES];
	struct text shown = text_start(space, sizeof space);

	text_visible_ends(&shown, s, NAME_BYTES);
	/* escaped here, and not with the line, so that the width of the column is that of the output */
	text_add_guarded(&c->text, shown.p, shown.n, place);
	c->text.failed |= shown.failed;
	text_free(&shown);
	columns_next(c);
}

void columns_time(struct columns *c, uint128 ns)
{
	text_time_short(&c->text, ns);
	columns_next(c);
}

/* Stores the heads in `to` as visible text, as some are names of fields.  The caller frees `to`. */
static void put_heads(const struct columns *c, struct text *to, struct slice heads[COLUMNS_MAX])
{
	size_t ends[COLUMNS_MAX + 1] = { 0 };

	for (unsigned i = 0; i < c->n; i++) {
		if (c->list[i].head != NULL)
			text_visible(to, slice_str(c->list[i].head), 0);
		ends[i + 1] = to->n;
	}
	for (unsigned i = 0; i < c->n; i++)
		heads[i] = to->n == 0 || to->failed ? SLICE_LIT("")
		                                    : slice_of(to->p + ends[i], ends[i + 1] - ends[i]);
}

static struct slice cell(const struct columns *c, size_t i)
{
	const size_t start = i == 0 ? 0 : c->ends[i - 1];

	return c->ends[i] == start ? slice_of("", 0) : slice_of(c->text.p + start, c->ends[i] - start);
}

/* ---- fitting ---- */

struct layout {
	uint32_t widths[COLUMNS_MAX], min[COLUMNS_MAX]; /* characters */
	unsigned without;                               /* bit i: column i is left out */
};

static uint32_t longest_word(struct slice s)
{
	uint32_t longest = 0;

	while (s.n > 0) {
		const char *const blank = memchr(s.p, ' ', s.n);
		const size_t n = blank != NULL ? (size_t)(blank - s.p) : s.n;
		const uint32_t width = (uint32_t)text_width(slice_of(s.p, n));
		longest = width > longest ? width : longest;
		s = blank != NULL ? slice_of(blank + 1, s.n - n - 1) : slice_of(s.p, 0);
	}
	return longest;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static bool can_shrink(const struct column *k)
{
	return k->kind == COLUMN_NAME || k->kind == COLUMN_LIST || k->kind == COLUMN_TEXT;
}

/* Computes the width that each column uses, and its minimum. */
static void measure_columns(const struct columns *c, const struct slice *heads, struct layout *l)
{
	for (unsigned i = 0; i < c->n; i++) {
		const struct column *const k = &c->list[i];
		uint32_t words = l->widths[i] = (uint32_t)text_width(heads[i]);
		for (size_t j = i; j < c->ncells; j += c->n) {
			l->widths[i] = larger(l->widths[i], (uint32_t)text_width(cell(c, j)));
			if (k->kind == COLUMN_TEXT)
				words = larger(words, longest_word(cell(c, j)));
		}
		l->min[i] = larger(words, k->min);
		if (!can_shrink(k) || l->min[i] > l->widths[i])
			l->min[i] = l->widths[i];
	}
}

/* Narrows the columns with most spare width.  Returns false if that is not enough. */
static bool narrow_columns(const struct columns *c, struct layout *l, unsigned width)
{
	uint64_t total = c->indent;

	for (unsigned i = 0; i < c->n; i++)
		total += (l->without >> i & 1) != 0 ? 0 : l->widths[i] + GAP;
	total -= GAP;
	while (total > width) {
		unsigned widest = 0;
		uint32_t spare = 0;
		for (unsigned i = 0; i < c->n; i++)
			if ((l->without >> i & 1) == 0 && l->widths[i] - l->min[i] > spare) {
				spare = l->widths[i] - l->min[i];
				widest = i;
			}
		if (spare == 0)
			return false;
		l->widths[widest]--;
		total--;
	}
	return true;
}

/* Leaves out the columns of the highest rank.  Returns false if no more columns may be left out. */
static bool drop_columns(const struct columns *c, struct layout *l)
{
	unsigned rank = 0, without = 0;

	for (unsigned i = 0; i < c->n; i++)
		if ((l->without >> i & 1) == 0 && c->list[i].drop > rank)
			rank = c->list[i].drop;
	for (unsigned i = 0; i < c->n; i++)
		without |= c->list[i].drop == rank ? 1U << i : 0;
	if (rank > 0)
		l->without |= without;
	return rank > 0;
}

static void fit_columns(const struct columns *c, const struct slice *heads, struct layout *l, unsigned width)
{
	struct layout all = { .without = c->without };

	measure_columns(c, heads, &all);
	*l = all;
	while (width > 0 && !narrow_columns(c, l, width)) {
		const unsigned without = l->without;
		*l = all;
		l->without = without;
		if (drop_columns(c, l))
			continue;
		for (unsigned i = 0; i < c->n; i++)
			if (can_shrink(&c->list[i]) && l->min[i] > MIN_WIDTH)
				l->min[i] = MIN_WIDTH;
		(void)narrow_columns(c, l, width);
		return;
	}
}

/* ---- printing ---- */

static void put_spaces(struct text *out, size_t n)
{
	text_printf(out, "%*s", (int)n, "");
}

/* Appends the part of a cell for one line of its row, and removes the part from the cell. */
static void put_cell(struct text *out, const struct column *k, struct slice *s, size_t width)
{
	struct text shown = { .p = NULL };
	size_t next = s->n;

	if (k->kind == COLUMN_NAME)
		text_shorten(&shown, *s, width);
	else if (k->kind == COLUMN_LIST)
		text_shorten_end(&shown, *s, width);
	else
		text_add(&shown, s->p, k->kind == COLUMN_TEXT ? text_line(*s, width, &next) : s->n);
	const size_t used = shown.n == 0 ? 0 : text_width(slice_of(shown.p, shown.n));
	const size_t spaces = width > used ? width - used : 0;
	if (k->kind == COLUMN_NUMBER)
		put_spaces(out, spaces);
	if (shown.n > 0)
		text_add(out, shown.p, shown.n);
	if (k->kind != COLUMN_NUMBER)
		put_spaces(out, spaces);
	out->failed |= shown.failed;
	text_free(&shown);
	*s = slice_of(s->p + next, s->n - next);
}

static void put_row(const struct columns *c, const struct layout *l, struct text *out, struct slice *cells)
{
	bool more = true;

	while (more) {
		put_spaces(out, c->indent);
		more = false;
		for (unsigned i = 0; i < c->n; i++) {
			if ((l->without >> i & 1) != 0)
				continue;
			put_cell(out, &c->list[i], &cells[i], l->widths[i]);
			put_spaces(out, GAP);
			more |= cells[i].n > 0;
		}
		while (out->n > 0 && out->p[out->n - 1] == ' ')
			out->n--;
		text_char(out, '\n');
	}
}

static void print(const struct columns *c, struct text *out, unsigned width)
{
	struct slice cells[COLUMNS_MAX];
	struct text heads = { .p = NULL };
	struct layout l;

	put_heads(c, &heads, cells);
	out->failed |= c->text.failed || heads.failed;
	if (out->failed) {
		text_free(&heads);
		return;
	}
	fit_columns(c, cells, &l, width);
	if (c->list[0].head != NULL)
		put_row(c, &l, out, cells);
	text_free(&heads);
	for (size_t j = 0; j + c->n <= c->ncells; j += c->n) {
		for (unsigned i = 0; i < c->n; i++)
			cells[i] = cell(c, j + i);
		put_row(c, &l, out, cells);
	}
}

static void markdown_cell(const struct columns *c, struct text *out, unsigned k, struct slice s)
{
	if ((c->without >> k & 1) != 0)
		return;
	text_str(out, "| ");
	text_markdown(out, s);
	text_char(out, ' ');
}

static void print_markdown(const struct columns *c, struct text *out)
{
	struct slice head[COLUMNS_MAX];
	struct text heads = { .p = NULL };

	put_heads(c, &heads, head);
	out->failed |= c->text.failed || heads.failed;
	for (unsigned k = 0; k < c->n; k++)
		markdown_cell(c, out, k, head[k]);
	text_free(&heads);
	text_str(out, "|\n");
	for (unsigned k = 0; k < c->n; k++)
		if ((c->without >> k & 1) == 0)
			text_str(out, c->list[k].kind == COLUMN_NUMBER ? "|--:" : "|---");
	text_str(out, "|\n");
	for (size_t i = 0; i < c->ncells; i++) {
		const unsigned k = (unsigned)(i % c->n);
		markdown_cell(c, out, k, cell(c, i));
		text_str(out, k + 1 == c->n ? "|\n" : "");
	}
}

/* The class of a cell in page.css. */
static const char *html_class(enum column_kind kind, bool is_head)
{
	if (kind == COLUMN_NUMBER)
		return " class=\"n\"";
	if (is_head || kind == COLUMN_TEXT)
		return "";
	return kind == COLUMN_WORD ? " class=\"w\"" : " class=\"t\"";
}

static void html_cell(const struct columns *c, struct text *out, unsigned k, const char *name, struct slice s)
{
	const bool is_head = name[1] == 'h';

	if ((c->without >> k & 1) != 0)
		return;
	text_printf(out, "<%s%s%s>", name, is_head ? " scope=\"col\"" : "",
	            html_class(c->list[k].kind, is_head));
	text_html(out, s);
	text_printf(out, "</%s>", name);
}

static void print_html(const struct columns *c, struct text *out, const char *title, size_t rows,
                       size_t shown)
{
	struct slice head[COLUMNS_MAX];
	struct text heads = { .p = NULL };

	put_heads(c, &heads, head);
	out->failed |= c->text.failed || heads.failed;
	text_str(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
	text_html(out, slice_str(title));
	text_str(out, "\"><table>\n<caption>");
	text_html(out, slice_str(title));
	if (shown < rows)
		text_printf(out, ": %zu of %zu rows", shown, rows);
	text_str(out, rows == 0 ? ": none</caption>\n" : "</caption>\n");
	text_str(out, "<thead><tr>");
	for (unsigned k = 0; k < c->n; k++)
		html_cell(c, out, k, head[k].n > 0 ? "th" : "td", head[k]);
	text_free(&heads);
	text_str(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < c->ncells; i++) {
		const unsigned k = (unsigned)(i % c->n);
		text_str(out, k == 0 ? "<tr>" : "");
		html_cell(c, out, k, "td", cell(c, i));
		text_str(out, k + 1 == c->n ? "</tr>\n" : "");
	}
	text_str(out, "</tbody></table></div>\n");
}

void columns_print(struct columns *c, struct text *out, unsigned width)
{
	print(c, out, width);
	columns_free(c);
}

void columns_end(struct columns *c, struct text *out, enum report_form form, const char *title, size_t rows,
                 size_t shown, unsigned width)
{
	if (form == FORM_HTML) {
		print_html(c, out, title != NULL ? title : "table", rows, shown);
	} else if (form == FORM_MARKDOWN) {
		if (title != NULL)
			text_printf(out, "#### %s\n\n", title);
		print_markdown(c, out);
		text_char(out, '\n');
	} else {
		if (title != NULL)
			text_printf(out, "\n%s\n", title);
		print(c, out, width);
	}
	if (shown < rows && form != FORM_HTML)
		text_printf(out, form == FORM_MARKDOWN ? "%*s... and %zu more\n\n" : "%*s... and %zu more\n",
		            form == FORM_MARKDOWN ? 0 : (int)c->indent, "", rows - shown);
	columns_free(c);
}

void columns_free(struct columns *c)
{
	text_free(&c->text);
	free(c->ends);
	*c = (struct columns){ .n = 0 };
}

void columns_line(struct text *out, enum report_form form, unsigned width, struct text *line)
{
	const struct slice s = slice_of(line->p, line->n);

	if (form == FORM_HTML) {
		text_str(out, "<p>");
		text_html(out, s);
		text_str(out, "</p>");
	} else if (form == FORM_MARKDOWN) {
		text_markdown(out, s);
	} else if (s.n > 0) {
		text_wrap(out, s, 0, 4, width);
	}
	text_char(out, '\n');
	out->failed |= line->failed;
	text_free(line);
}
