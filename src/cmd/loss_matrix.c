#include "cmd/loss_matrix.h"

#include "format/registry.h"
#include "pipeline/engine_losses.h"
#include "stats/columns.h"

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

static uint32_t
count_readers(void)
{
	uint32_t n = 0;

	for (const struct format *const *f = formats; *f != NULL; f++)
		n += (*f)->reader != NULL;
	return n;
}

/* Whether a format's row or column is asked for. */
static bool
is_asked(const struct format *only, const struct format *from, const struct format *to)
{
	return only == NULL || only == from || only == to;
}

/* A line for each way to or from one format. */
static void
put_ways(struct text *t, const struct format *only)
{
	struct columns c = { .columns = 3, .left = 3 };

	columns_str(&c, "input");
	columns_str(&c, "output");
	columns_str(&c, "kinds of loss");
	for (const struct format *const *from = formats; *from != NULL; from++)
		for (const struct format *const *to = formats; *to != NULL; to++) {
			if ((*from)->reader == NULL || (*to)->writer == NULL || !is_asked(only, *from, *to))
				continue;
			columns_str(&c, (*from)->name);
			columns_str(&c, (*to)->name);
			if (copies(*from, *to))
				text_str(&c.text, "none: records are copied");
			else
				text_printf(&c.text, "%u", count((*to)->losses, *from, *to));
			columns_next(&c);
		}
	columns_print(&c, t);
	t->failed |= c.text.failed;
	columns_free(&c);
}

void
loss_matrix_text(struct text *t, const struct format *only)
{
	struct columns c = { .columns = 1 + count_readers(), .left = 1 };

	if (only != NULL) {
		put_ways(t, only);
		return;
	}
	columns_str(&c, "output");
	for (const struct format *const *from = formats; *from != NULL; from++)
		if ((*from)->reader != NULL)
			columns_str(&c, (*from)->name);
	for (const struct format *const *to = formats; *to != NULL; to++) {
		if ((*to)->writer == NULL)
			continue;
		columns_str(&c, (*to)->name);
		for (const struct format *const *from = formats; *from != NULL; from++) {
			if ((*from)->reader == NULL)
				continue;
			if (copies(*from, *to))
				text_str(&c.text, "same");
			else
				text_printf(&c.text, "%u", count((*to)->losses, *from, *to));
			columns_next(&c);
		}
	}
	columns_print(&c, t);
	t->failed |= c.text.failed;
	columns_free(&c);
}

static void
put_kinds(struct text *t, const struct loss *l, const struct format *from, const struct format *to)
{
	for (; l != NULL && l->id != NULL; l++)
		if (can_lose(l, from, to))
			text_printf(t, "  %-26s  %s\n", l->id, l->text);
}

void
loss_matrix_pair(struct text *t, const struct format *from, const struct format *to)
{
	if (copies(from, to)) {
		text_printf(t, "%s to %s: all records are copied as they are\n", from->name, to->name);
		return;
	}
	text_printf(t, "%s to %s: the output can lack\n", from->name, to->name);
	put_kinds(t, to->losses, from, to);
	text_str(t, "and whatever the output, limits of memory and damage to the input can cost\n");
	put_kinds(t, engine_losses, from, to);
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
