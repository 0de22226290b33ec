/*
 * formats: the list of formats, and the matrix of losses between them, which is computed from the features
 * that a reader states (format/ledger.h) and the loss table of a writer.
 */

#include "base/match.h"
#include "cli/outputs.h"
#include "cli/say.h"
#include "format/registry.h"
#include "json/out.h"
#include "output/columns.h"
#include "output/text_visible.h"
#include "run/engine_losses.h"

/* ---- losses between two formats ---- */

static bool copies(const struct format *from, const struct format *to)
{
	return from == to && to->copier != NULL;
}

static bool can_lose(const struct loss *l, const struct format *from, const struct format *to)
{
	const unsigned features = from->features | (to->writer->nested ? HAS_OVERLAP : 0U);

	return (l->needs & ~features) == 0 && !copies(from, to);
}

static unsigned count(const struct loss *l, const struct format *from, const struct format *to)
{
	unsigned n = 0;

	for (; l != NULL && l->id != NULL; l++)
		n += can_lose(l, from, to);
	return n;
}

/* ---- matrix as text ---- */

/* Whether one format can be converted to the other, and the pair is listed.  only: a format of all listed
 * pairs; NULL: any. */
static bool is_listed(const struct format *only, const struct format *from, const struct format *to)
{
	return from->reader != NULL && to->writer != NULL && (only == NULL || only == from || only == to);
}

static void put_count(struct columns *c, const struct format *from, const struct format *to,
                      const char *copied)
{
	if (copies(from, to))
		columns_str(c, copied);
	else
		columns_u64(c, count(to->losses, from, to));
}

static void put_pairs_text(struct text *t, const struct format *only, unsigned width)
{
	static const struct column list[] = { { "input", COLUMN_WORD, 0, 0 },
		                              { "output", COLUMN_WORD, 0, 0 },
		                              { "kinds of loss", COLUMN_NUMBER, 0, 0 } };
	struct columns c = { .list = list, .n = 3, .indent = 2 };

	for (const struct format *const *from = formats; *from != NULL; from++)
		for (const struct format *const *to = formats; *to != NULL; to++) {
			if (!is_listed(only, *from, *to))
				continue;
			columns_str(&c, (*from)->name);
			columns_str(&c, (*to)->name);
			put_count(&c, *from, *to, "none: records are copied");
		}
	columns_print(&c, t, width);
}

/* Writes the numbers of kinds of loss: outputs down, inputs across. */
static void put_matrix_text(struct text *t, unsigned width)
{
	struct column list[COLUMNS_MAX] = { { "output", COLUMN_WORD, 0, 0 } };
	struct columns c = { .list = list, .n = 1, .indent = 2 };

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
}

static void put_kinds(struct columns *c, const struct loss *l, const struct format *from,
                      const struct format *to)
{
	for (; l != NULL && l->id != NULL; l++)
		if (can_lose(l, from, to)) {
			columns_str(c, l->id);
			columns_str(c, l->text);
		}
}

/* Writes the kinds of loss of a pair of formats: those of the writer and those of the engine. */
static void put_pair_text(struct text *t, const struct format *from, const struct format *to, unsigned width)
{
	static const struct column list[] = { { NULL, COLUMN_WORD, 0, 0 }, { NULL, COLUMN_TEXT, 20, 0 } };
	struct columns output = { .list = list, .n = 2, .indent = 2 }, way = output;

	if (copies(from, to)) {
		text_printf(t, "%s to %s: all records are copied as they are\n", from->name, to->name);
		return;
	}
	text_printf(t, "%s to %s: the output can lack%s\n", from->name, to->name,
	            count(to->losses, from, to) == 0 ? " nothing," : "");
	put_kinds(&output, to->losses, from, to);
	columns_print(&output, t, width);
	text_wrap(t, slice_str("and in any output, because of memory limits or damage to the input"), 0, 0,
	          width);
	text_char(t, '\n');
	put_kinds(&way, engine_losses, from, to);
	columns_print(&way, t, width);
}

/* ---- matrix as JSON: schemas/formats-matrix.schema.json ---- */

static void put_ids(struct json_out *o, const char *key, const struct loss *l, const struct format *from,
                    const struct format *to)
{
	json_out_begin(o, key, "[");
	for (; l != NULL && l->id != NULL; l++)
		if (can_lose(l, from, to))
			json_out_string(o, NULL, l->id);
	json_out_end(o, "]");
}

/* only: see is_listed(). */
static void put_matrix_json(struct text *t, const struct format *only)
{
	struct json_out o = { .t = t };

	json_out_begin(&o, NULL, "[");
	for (const struct format *const *from = formats; *from != NULL; from++)
		for (const struct format *const *to = formats; *to != NULL; to++) {
			if (!is_listed(only, *from, *to))
				continue;
			json_out_begin_after(&o, "\n", NULL, "{");
			json_out_string(&o, "from", (*from)->name);
			json_out_string(&o, "to", (*to)->name);
			json_out_bool(&o, "copies", copies(*from, *to));
			put_ids(&o, "losses", (*to)->losses, *from, *to);
			put_ids(&o, "on_the_way", engine_losses, *from, *to);
			json_out_end(&o, "}");
		}
	json_out_end(&o, "\n]\n");
}

/* ---- list of formats ---- */

static void put_words(struct text *t, const char *const *words)
{
	for (const char *const *w = words; w != NULL && *w != NULL; w++)
		text_printf(t, "%s%s", w > words ? " " : "", *w);
}

static void put_list_text(struct text *t, unsigned width)
{
	static const struct column list[] = {
		{ "name", COLUMN_WORD, 0, 0 },      { "can", COLUMN_WORD, 0, 0 },
		{ "suffix", COLUMN_TEXT, 0, 0 },    { "what", COLUMN_TEXT, 12, 0 },
		{ "dialects", COLUMN_TEXT, 12, 1 },
	};
	struct columns c = { .list = list, .n = COUNT_OF(list), .indent = 2 };

	for (const struct format *const *f = formats; *f != NULL; f++) {
		const bool r = (*f)->reader != NULL, w = (*f)->writer != NULL;
		columns_str(&c, (*f)->name);
		columns_str(&c, r && w ? "read write" : r ? "read" : "write");
		put_words(&c.text, (*f)->suffixes);
		columns_next(&c);
		columns_str(&c, (*f)->title);
		put_words(&c.text, (*f)->dialects);
		columns_next(&c);
	}
	columns_print(&c, t, width);
}

static void put_line(struct text *t, unsigned width, const char *what, const struct text *line)
{
	text_printf(t, "%-10s ", what);
	if (line->n > 0)
		text_wrap(t, slice_of(line->p, line->n), 11, 13, width);
	text_char(t, '\n');
	t->failed |= line->failed;
}

static void put_format_text(struct text *t, const struct format *f, unsigned width)
{
	const bool r = f->reader != NULL, w = f->writer != NULL;
	struct text line = { .p = NULL };

	text_printf(t, "%s: %s\n\n", f->name, f->title);
	text_str(&line, r && w ? "be read and written" : r ? "be read" : "be written");
	put_line(t, width, "can", &line);
	text_clear(&line);
	text_str(&line, f->spec);
	put_line(t, width, "follows", &line);
	for (int i = 0; i < 2; i++) {
		text_clear(&line);
		put_words(&line, i == 0 ? f->suffixes : f->dialects);
		if (line.n > 0)
			put_line(t, width, i == 0 ? "suffixes" : "dialects", &line);
	}
	for (const struct format_option *p = f->options; p != NULL && p->name != NULL; p++) {
		text_clear(&line);
		text_printf(&line, "--%s%s%s: %s", p->name, p->arg != NULL ? " " : "",
		            p->arg != NULL ? p->arg : "", p->help);
		put_line(t, width, p == f->options ? "options" : "", &line);
	}
	text_clear(&line);
	text_printf(&line, "The manual page tracetool-%s(5) says more", f->name);
	text_printf(&line, r ? "; tracetool formats --matrix %s, what outputs can lack." : ".", f->name);
	text_char(t, '\n');
	text_wrap(t, slice_of(line.p, line.n), 0, 0, width);
	text_char(t, '\n');
	text_free(&line);
}

static void put_list(struct json_out *o, const char *key, const char *const *words)
{
	json_out_begin(o, key, "[");
	for (const char *const *w = words; w != NULL && *w != NULL; w++)
		json_out_string(o, NULL, *w);
	json_out_end(o, "]");
}

/* only: NULL for all formats. */
static void put_list_json(struct text *t, const struct format *only)
{
	struct json_out o = { .t = t };

	json_out_begin(&o, NULL, "[");
	for (const struct format *const *f = formats; *f != NULL; f++) {
		if (only != NULL && *f != only)
			continue;
		json_out_begin_after(&o, "\n", NULL, "{");
		json_out_string(&o, "name", (*f)->name);
		json_out_string(&o, "title", (*f)->title);
		json_out_string(&o, "specification", (*f)->spec);
		json_out_bool(&o, "reads", (*f)->reader != NULL);
		json_out_bool(&o, "writes", (*f)->writer != NULL);
		put_list(&o, "suffixes", (*f)->suffixes);
		put_list(&o, "dialects", (*f)->dialects);
		json_out_end(&o, "}");
	}
	json_out_end(&o, "\n]\n");
}

enum can { CAN_ANY, CAN_READ, CAN_WRITE };

static bool fits(const struct format *f, enum can can)
{
	return can == CAN_ANY || (can == CAN_READ ? f->reader != NULL : f->writer != NULL);
}

/* Returns the format of an operand; NULL after a message, with o->status set. */
static const struct format *find_format(struct options *o, const char *name, enum can can)
{
	static const char *const cans[] = { "", " that can be read", " that can be written" };
	const struct format *const f = format_by_name(name);
	struct nearest near = { .typed = name };
	struct shown_path shown;

	if (f != NULL && fits(f, can))
		return f;
	for (const struct format *const *k = formats; *k != NULL; k++)
		if (fits(*k, can))
			nearest_add(&near, (*k)->name);
	options_unknown(o, near.name, "tracetool formats lists them", "there is no format %s%s",
	                show_path(&shown, name), cans[can]);
	return NULL;
}

struct asked {
	unsigned json; /* index in text|json */
	bool matrix;
	const struct format *one, *from, *to; /* NULL: all formats */
};

static const struct cmd_option own[] = {
	{ "format", "text|json", "the list's form (default: text)", 0, TO_CHOICE(struct asked, json) },
	{ "matrix", NULL, "kinds of loss from each input format to each output format", 0,
	  TO_FLAG(struct asked, matrix) },
	{ .name = NULL },
};

static bool parse(struct options *o, struct asked *a)
{
	if (!options_parse(o, a))
		return false;
	if (o->nin > (a->matrix && !a->json ? 2 : 1))
		options_mistake(o, !a->matrix ? "takes the name of one format"
		                   : a->json  ? "--matrix as JSON takes the name of one format"
		                              : "--matrix takes an input format and an output format");
	else if (o->nin == 1)
		a->one = find_format(o, o->in[0], CAN_ANY);
	else if (o->nin == 2 && (a->from = find_format(o, o->in[0], CAN_READ)) != NULL)
		a->to = find_format(o, o->in[1], CAN_WRITE);
	return o->status == STATUS_CLEAN;
}

static enum exit_status cmd_formats(const struct command *cmd, int argc, char **argv)
{
	struct options o;
	struct asked a = { .json = 0 };
	struct text t = { .p = NULL };

	options_init(&o, cmd, argc, argv);
	if (!parse(&o, &a))
		return o.status;
	if (a.to != NULL)
		put_pair_text(&t, a.from, a.to, options_prose_width(&o));
	else if (a.matrix && a.json)
		put_matrix_json(&t, a.one);
	else if (a.matrix && a.one != NULL)
		put_pairs_text(&t, a.one, options_width(&o));
	else if (a.matrix)
		put_matrix_text(&t, options_width(&o));
	else if (a.json)
		put_list_json(&t, a.one);
	else if (a.one != NULL)
		put_format_text(&t, a.one, options_prose_width(&o));
	else
		put_list_text(&t, options_width(&o));
	return report_out_text(&o, &t, REPORT_GUARDED);
}

const struct command formats_command = {
	.name = "formats",
	.operands = "[options] [NAME]  |  --matrix [options] [NAME | FROM TO]",
	.summary = "Lists the formats, whether they can be read and written, and what is lost between them.",
	.options = own,
	.writes = true,
	.tables = true,
	.run = cmd_formats,
};
