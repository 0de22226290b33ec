#include "cmd/loss_matrix.h"
#include "cmd/report_out.h"
#include "cmd/say.h"
#include "format/registry.h"
#include "stats/columns.h"

enum { O_FORMAT, O_MATRIX };

static const struct cmd_option own[] = {
	[O_FORMAT] = { "format", "text|json", "the list's form (default: text)", 0 },
	[O_MATRIX] = { "matrix", NULL, "what can be lost from each input to each output", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct command formats_command = {
	.name = "formats",
	.operands = "[options] [--matrix [FROM TO]]",
	.summary = "Lists the formats, whether they can be read and written, and what is lost between them.",
	.options = own,
	.writes = true,
	.run = cmd_formats,
};

static void
put_words(struct text *t, const char *const *words)
{
	for (const char *const *w = words; w != NULL && *w != NULL; w++)
		text_printf(t, "%s%s", w > words ? " " : "", *w);
}

static void
put_row(struct columns *c, const struct format *f)
{
	const bool r = f->reader != NULL, w = f->writer != NULL;

	columns_str(c, f->name);
	columns_str(c, r && w ? "read write" : r ? "read" : "write");
	put_words(&c->text, f->suffixes);
	columns_next(c);
	columns_str(c, f->title);
	put_words(&c->text, f->dialects);
	columns_next(c);
}

static void
as_text(struct text *t)
{
	static const char *const head[] = { "name", "can", "suffix", "what", "dialects" };
	struct columns c = { .columns = 5, .left = 31 };

	for (size_t i = 0; i < sizeof head / sizeof *head; i++)
		columns_str(&c, head[i]);
	for (const struct format *const *f = formats; *f != NULL; f++)
		put_row(&c, *f);
	columns_print(&c, t);
	t->failed |= c.text.failed;
	columns_free(&c);
}

static void
put_list(struct text *t, const char *name, const char *const *words)
{
	text_printf(t, ",\"%s\":[", name);
	for (const char *const *w = words; w != NULL && *w != NULL; w++) {
		text_str(t, w > words ? "," : "");
		text_json_string(t, slice_str(*w));
	}
	text_char(t, ']');
}

static void
as_json(struct text *t)
{
	text_str(t, "[");
	for (const struct format *const *f = formats; *f != NULL; f++) {
		text_str(t, f > formats ? ",\n{\"name\":" : "\n{\"name\":");
		text_json_string(t, slice_str((*f)->name));
		text_str(t, ",\"title\":");
		text_json_string(t, slice_str((*f)->title));
		text_str(t, ",\"specification\":");
		text_json_string(t, slice_str((*f)->spec));
		text_printf(t, ",\"reads\":%s,\"writes\":%s", (*f)->reader != NULL ? "true" : "false",
		            (*f)->writer != NULL ? "true" : "false");
		put_list(t, "suffixes", (*f)->suffixes);
		put_list(t, "dialects", (*f)->dialects);
		text_char(t, '}');
	}
	text_str(t, "\n]\n");
}

/* The format of an operand; NULL after a message and o->status set. */
static const struct format *
named(struct options *o, const char *name, bool written)
{
	const struct format *const f = format_by_name(name);
	struct shown_path shown;

	if (f == NULL || (written ? f->writer == NULL : f->reader == NULL)) {
		o->status = options_mistake(o, "there is no format %s that can be %s",
		                            show_path(&shown, name), written ? "written" : "read");
		return NULL;
	}
	return f;
}

struct asked {
	bool json, matrix;
	const struct format *from, *to; /* NULL: all */
};

static bool
parse(struct options *o, struct asked *a)
{
	static const char *const forms[] = { "text", "json", NULL };
	const char *arg;
	int opt;

	while ((opt = options_next(o, &arg)) >= 0)
		if (opt == O_MATRIX)
			a->matrix = true;
		else if ((opt = options_word(o, "--format", arg, forms)) >= 0)
			a->json = opt == 1;
		else
			return false;
	if (opt == OPTIONS_STOP)
		return false;
	const int n = o->argc - o->first_operand;
	if (n > 0 && !a->matrix)
		o->status = options_mistake(o, "takes no names");
	else if (n > 0 && (n != 2 || a->json))
		o->status = options_mistake(
		    o, "--matrix takes an input format and an output format, or --format json");
	else if (n > 0 && (a->from = named(o, o->argv[o->first_operand], false)) != NULL)
		a->to = named(o, o->argv[o->first_operand + 1], true);
	return o->status == STATUS_CLEAN;
}

enum exit_status
cmd_formats(const struct command *cmd, int argc, char **argv)
{
	struct options o;
	struct asked a = { .json = false };
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };

	options_init(&o, cmd, argc, argv);
	if (!parse(&o, &a))
		return o.status;
	if (!report_out_open(&out, &o))
		return STATUS_UNREADABLE;
	if (a.to != NULL)
		loss_matrix_pair(&t, a.from, a.to);
	else if (a.matrix)
		(a.json ? loss_matrix_json : loss_matrix_text)(&t);
	else
		(a.json ? as_json : as_text)(&t);
	report_out_put(&out, &t);
	text_free(&t);
	return report_out_close(&out);
}
