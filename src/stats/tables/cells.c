/* Cells of a table as text, Markdown, HTML, CSV and JSON. */
#include "stats/tables/cells.h"

#include <stdarg.h>
#include <stdio.h>

#include "output/text_json.h"
#include "output/text_visible.h"

void cells_begin(struct cells *c, const char *title, const char *key, const struct cell_column *list,
                 unsigned n)
{
	c->title = title;
	c->list = list;
	c->rows = 0;
	c->at = 0;
	c->columns = (struct columns){ .list = c->heads, .indent = 2 };
	for (unsigned i = 0; i < n; i++)
		if (list[i].column.head != NULL)
			c->heads[c->columns.n++] = list[i].column;
	c->listed = key != NULL;
	if (c->form == FORM_JSON && key != NULL) {
		json_out_begin_after(c->json, "\n  ", key, "[");
	} else if (c->form == FORM_CSV && c->with_heads) {
		text_str(c->t, "path");
		for (unsigned i = 0; i < n; i++)
			if (list[i].key != NULL)
				text_csv_next(c->t, slice_str(list[i].key));
	}
}

void cells_row(struct cells *c)
{
	c->rows++;
	c->at = 0;
	c->shown = c->max_rows == 0 || c->rows <= c->max_rows;
	if (c->form == FORM_JSON) {
		if (c->rows > 1)
			json_out_end(c->json, "}");
		json_out_begin_after(c->json, "\n   ", NULL, "{");
	} else if (c->form == FORM_CSV) {
		if (c->rows > 1 || c->with_heads)
			text_char(c->t, '\n');
		text_csv_cell(c->t, c->path);
	}
}

static bool is_for_people(const struct cells *c)
{
	return c->form != FORM_JSON && c->form != FORM_CSV;
}

/* Begins the next cell.  Returns the text that gets its value; NULL: the cell is not in the report. */
static struct text *begin_cell(struct cells *c)
{
	const struct cell_column *const column = &c->list[c->at++];

	if (is_for_people(c))
		return c->shown && column->column.head != NULL ? &c->columns.text : NULL;
	if (column->key == NULL)
		return NULL;
	if (c->form == FORM_JSON)
		return json_out_value(c->json, column->key);
	text_char(c->t, ',');
	return c->t;
}

static void end_cell(struct cells *c)
{
	if (is_for_people(c))
		columns_next(&c->columns);
}

void cells_name(struct cells *c, struct slice s)
{
	struct text *const t = begin_cell(c);

	if (t == NULL)
		return;
	if (c->form == FORM_JSON)
		text_json_string(t, s);
	else if (c->form == FORM_CSV)
		text_csv_cell(t, s);
	else
		columns_name(&c->columns, s);
}

void cells_visible(struct cells *c, struct slice s)
{
	struct text *const t = begin_cell(c);

	if (t == NULL)
		return;
	text_slice(t, s);
	end_cell(c);
}

/* Writes a number, in one form for people and in another for programs. */
static void put_number(struct cells *c, void (*for_people)(struct text *t, uint128 v),
                       void (*for_programs)(struct text *t, uint128 v), uint128 v)
{
	struct text *const t = begin_cell(c);

	if (t == NULL)
		return;
	(is_for_people(c) ? for_people : for_programs)(t, v);
	end_cell(c);
}

void cells_count(struct cells *c, uint64_t v)
{
	put_number(c, text_u128, text_u128, v);
}

void cells_time(struct cells *c, uint128 ns)
{
	put_number(c, text_time_short, text_u128, ns);
}

void cells_share(struct cells *c, uint128 millionths)
{
	put_number(c, text_percent, text_fraction, millionths);
}

void cells_at(struct cells *c, uint64_t ns)
{
	struct text *const t = begin_cell(c);

	if (t == NULL)
		return;
	if (is_for_people(c))
		text_since(t, ns - c->first_ns);
	else
		text_ns_from(t, c->zero_ns, ns);
	end_cell(c);
}

void cells_real(struct cells *c, double v)
{
	struct text *const t = begin_cell(c);

	if (t == NULL)
		return;
	if (is_for_people(c))
		text_six_digits(t, v);
	else
		(void)text_json_f64(t, v); /* finite */
	end_cell(c);
}

void cells_none(struct cells *c, unsigned n)
{
	for (; n > 0; n--)
		if (c->form == FORM_JSON)
			c->at++;
		else if (begin_cell(c) != NULL && is_for_people(c))
			columns_str(&c->columns, "-");
}

bool cells_end(struct cells *c)
{
	const size_t shown = c->max_rows == 0 || c->rows < c->max_rows ? c->rows : c->max_rows;

	if (c->form == FORM_JSON) {
		if (c->rows > 0)
			json_out_end(c->json, "}");
		if (c->listed)
			json_out_end(c->json, "]");
	} else if (c->form == FORM_CSV) {
		if (c->rows > 0 || c->with_heads)
			text_char(c->t, '\n');
		c->with_heads = false;
	} else if (c->rows > 0 || c->form == FORM_HTML) {
		columns_end(&c->columns, c->t, c->form, c->title, c->rows, shown, c->width);
	} else if (c->title != NULL) {
		text_printf(c->t, c->form == FORM_MARKDOWN ? "#### %s\n\nnone\n\n" : "\n%s\n  none\n",
		            c->title);
	}
	columns_free(&c->columns);
	return !c->t->failed;
}

void cells_note(struct cells *c, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	if (!is_for_people(c))
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (c->form == FORM_HTML) {
		text_str(c->t, "<p>");
		text_html(c->t, slice_str(line));
		text_str(c->t, "</p>\n");
		return;
	}
	text_str(c->t, c->form == FORM_MARKDOWN ? "" : "  ");
	text_wrap(c->t, slice_str(line), 2, 4, c->form == FORM_MARKDOWN ? 0 : c->width);
	text_str(c->t, c->form == FORM_MARKDOWN ? "\n\n" : "\n");
}

void cells_bar(struct cells *c, double part)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	char bar[8 * 3 + 1] = "";
	const unsigned n = part > 0 && part <= 1 ? (unsigned)(part * 64 + 0.5) : 0;

	if (begin_cell(c) == NULL)
		return;
	for (unsigned i = 0; i < n / 8; i++)
		snprintf(bar + i * 3, sizeof bar - i * 3, "█");
	if (n < 64)
		snprintf(bar + n / 8 * 3, sizeof bar - n / 8 * 3, "%s", eighths[n % 8]);
	columns_str(&c->columns, bar);
}
