#include "cmd/report_out.h"
#include "cmd/say.h"
#include "format/registry.h"
#include "stats/columns.h"

enum { O_JSON };

static const struct cmd_option own[] = {
	[O_JSON] = { "json", NULL, "as JSON", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct command formats_command = {
	.name = "formats",
	.operands = "[--json]",
	.summary = "Lists the formats, their dialects, and whether they can be read and written.",
	.options = own,
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

enum exit_status
cmd_formats(const struct command *cmd, int argc, char **argv)
{
	struct options o;
	struct report_out out = { .out = NULL };
	struct text t = { .p = NULL };
	const char *arg;
	bool json = false;
	int opt;

	options_init(&o, cmd, argc, argv);
	while ((opt = options_next(&o, &arg)) >= 0)
		json = true;
	if (opt == OPTIONS_STOP)
		return o.status;
	if (o.first_operand < argc)
		return options_mistake(&o, "takes no names");
	if (!report_out_open(&out, &o))
		return STATUS_UNREADABLE;
	if (json)
		as_json(&t);
	else
		as_text(&t);
	report_out_put(&out, &t);
	text_free(&t);
	return report_out_close(&out);
}
