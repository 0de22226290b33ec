#include "cmd/loss_matrix.h"

#include "format/registry.h"
#include "run/engine_losses.h"
#include "output/columns.h"
#include "output/text_fit.h"

/* Whether the records of one trace are written as they are. */
static bool
copies(const struct format *from, const struct format *to)
{
	return from == to && (to->writer->modes & WRITER_RAW_SAME) != 0;
}

static bool
can_lose(const struct loss *l, const struct format *from, const struct format *to)
{
	const unsigned holds = from->holds | (to->writer->nested ? HOLDS_OVERLAP : 0U);

	return (l->needs & ~holds) == 0 && !copies(from, to);
}

static unsigned
count(const struct loss *l, const struct format *from, const struct format *to)
{
	unsigned n = 0;

	for (; l != NULL && l->id != NULL; l++)
		n += can_lose(l, from, to);
	return n;
}

/* ---- text ---- */

/* Whether a format's row or column is asked for. */
static bool
is_asked(const struct format *only, const struct format *from, const struct format *to)
{
	return only == NULL || only == from || only == to;
}

/* How many kinds of loss a way has. */
static void
put_count(struct columns *c, const struct format *from, const struct format *to, const char *copied)
{
	if (copies(from, to))
		columns_str(c, copied);
	else
		columns_u64(c, count(to->losses, from, to));
}

/* A line for each way to or from one format. */
static void
put_ways(struct text *t, const struct format *only, unsigned width)
{
	static const struct column list[] = { { "input", COLUMN_WORD, 0, 0 },
		                              { "output", COLUMN_WORD, 0, 0 },
		                              { "kinds of loss", COLUMN_NUMBER, 0, 0 } };
	struct columns c = { .list = list, .n = 3, .indent = 2 };

	for (const struct format *const *from = formats; *from != NULL; from++)
		for (const struct format *const *to = formats; *to != NULL; to++) {
			if ((*from)->reader == NULL || (*to)->writer == NULL || !is_asked(only, *from, *to))
				continue;
			columns_str(&c, (*from)->name);
			columns_str(&c, (*to)->name);
			put_count(&c, *from, *to, "none: records are copied");
		}
	columns_print(&c, t, width);
	columns_free(&c);
}

void
loss_matrix_text(struct text *t, const struct format *only, unsigned width)
{
	struct column list[COLUMNS_MAX] = { { "output", COLUMN_WORD, 0, 0 } };
	struct columns c = { .list = list, .n = 1, .indent = 2 };

	if (only != NULL) {
		put_ways(t, only, width);
		return;
	}
	/* the last inputs are left out first */
	for (const struct format *const *from = formats; *from != NULL && c.n < COLUMNS_MAX; from++)
		if ((*from)->reader != NULL) {
			list[c.n] = (struct column){ (*from)->name, COLUMN_NUMBER, 0, (uint8_t)c.n };
			c.n++;
		}
	for (const struct format *const *to = formats; *to != NULL; to++) {
		unsigned n = 1;
		if ((*to)->writer == NULL)
			continue;
		columns_str(&c, (*to)->name);
		for (const struct format *const *from = formats; *from != NULL && n < c.n; from++)
			if ((*from)->reader != NULL) {
				put_count(&c, *from, *to, "same");
				n++;
			}
	}
	columns_print(&c, t, width);
	columns_free(&c);
}

static void
put_kinds(struct columns *c, const struct loss *l, const struct format *from, const struct format *to)
{
	for (; l != NULL && l->id != NULL; l++)
		if (can_lose(l, from, to)) {
			columns_str(c, l->id);
			columns_str(c, l->text);
		}
}

void
loss_matrix_pair(struct text *t, const struct format *from, const struct format *to, unsigned width)
{
	static const struct column list[] = { { NULL, COLUMN_WORD, 0, 0 }, { NULL, COLUMN_TEXT, 20, 0 } };
	struct columns output = { .list = list, .n = 2, .indent = 2 }, way = output;

	if (copies(from, to)) {
		text_printf(t, "%s to %s: all records are copied as they are\n", from->name, to->name);
		return;
	}
	text_printf(t, "%s to %s: the output can lack\n", from->name, to->name);
	put_kinds(&output, to->losses, from, to);
	columns_print(&output, t, width);
	text_wrap(t, slice_str("and whatever the output, limits of memory and damage to the input can cost"),
	          0, 0, width);
	text_char(t, '\n');
	put_kinds(&way, engine_losses, from, to);
	columns_print(&way, t, width);
	columns_free(&output);
	columns_free(&way);
}

/* ---- JSON ---- */

static void
put_ids(struct text *t, const struct loss *l, const struct format *from, const struct format *to, bool *any)
{
	for (; l != NULL && l->id != NULL; l++) {
		if (!can_lose(l, from, to))
			continue;
		text_str(t, *any ? "," : "");
		text_json_string(t, slice_str(l->id));
		*any = true;
	}
}

static void
put_pair(struct text *t, const struct format *from, const struct format *to)
{
	bool any = false, any_way = false;

	text_str(t, "{\"from\":");
	text_json_string(t, slice_str(from->name));
	text_str(t, ",\"to\":");
	text_json_string(t, slice_str(to->name));
	text_printf(t, ",\"copies\":%s,\"losses\":[", copies(from, to) ? "true" : "false");
	put_ids(t, to->losses, from, to, &any);
	text_str(t, "],\"on_the_way\":[");
	put_ids(t, engine_losses, from, to, &any_way);
	text_str(t, "]}");
}

void
loss_matrix_json(struct text *t, const struct format *only)
{
	const char *between = "[\n";

	for (const struct format *const *from = formats; *from != NULL; from++)
		for (const struct format *const *to = formats; *to != NULL; to++) {
			if ((*from)->reader == NULL || (*to)->writer == NULL || !is_asked(only, *from, *to))
				continue;
			text_str(t, between);
			put_pair(t, *from, *to);
			between = ",\n";
		}
	text_str(t, "\n]\n");
}
