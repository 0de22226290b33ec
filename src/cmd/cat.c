#include <inttypes.h>

#include "cmd/report_out.h"
#include "cmd/say.h"
#include "cmd/side_reports.h"
#include "cmd/value_text.h"

enum { O_HEX, O_LIMIT, O_MAX_REPEAT };

static const struct cmd_option own[] = {
	[O_HEX] = { "hex", NULL, "the bytes of each record below it", 'x' },
	[O_LIMIT] = { "limit", "N", "stop after N records", 'n' },
	[O_MAX_REPEAT] = { "max-repeat", "N",
	                   "texts and lists may take N times the size of the input (default: 32)", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct command cat_command = {
	.name = "cat",
	.operands = "[options] IN ...",
	.summary = "Shows every record of a trace on a line of its own, with its offset.",
	.options = own,
	.reads = true,
	.writes = true,
	.selects = true,
	.run = cmd_cat,
};

struct cat {
	struct options options;
	struct report_out out;
	bool hex;
	uint64_t limit, left; /* records; UINT64_MAX: all */
	uint64_t max_repeat;
	struct text text;
	bool several;            /* more than one file */
	enum exit_status status; /* the worst so far */
};

static bool
parse(struct cat *c)
{
	struct options *const o = &c->options;
	const char *arg;
	int opt;

	c->limit = UINT64_MAX;
	while ((opt = options_next(o, &arg)) >= 0) {
		if (opt == O_HEX)
			c->hex = true;
		else if (opt == O_MAX_REPEAT) {
			if (!options_positive(o, "--max-repeat", arg, &c->max_repeat))
				return false;
		} else if (!options_number(o, "--limit", arg, &c->limit))
			return false;
	}
	return opt == OPTIONS_END && options_name_traces(o);
}

/* Sixteen bytes a line: offset, hexadecimal, letters. */
static void
put_hex(struct text *t, uint64_t offset, struct slice bytes)
{
	for (uint32_t from = 0; from < bytes.n; from += 16) {
		const uint32_t n = bytes.n - from < 16 ? bytes.n - from : 16;
		text_printf(t, "    %08" PRIx64 " ", offset + from);
		for (uint32_t i = 0; i < 16; i++)
			if (i < n)
				text_printf(t, " %02x", (unsigned char)bytes.p[from + i]);
			else
				text_str(t, "   ");
		text_str(t, "  ");
		for (uint32_t i = 0; i < n; i++) {
			const char c = bytes.p[from + i];
			text_char(t, c >= ' ' && c < 0x7f ? c : '.');
		}
		text_char(t, '\n');
	}
}

static void
put_event(struct text *t, const struct batch *b, const struct event *e)
{
	static const char *const phases[] = {
		[PHASE_SPAN] = "span",       [PHASE_BEGIN] = "begin",         [PHASE_END] = "end",
		[PHASE_INSTANT] = "instant", [PHASE_COUNTER] = "counter",     [PHASE_FLOW_OUT] = "flow-out",
		[PHASE_FLOW_IN] = "flow-in", [PHASE_STRUCTURE] = "structure",
	};

	text_printf(t, "@%" PRIu64 " %s ", e->offset, phases[e->phase]);
	value_text_word(t, e->cls->name);
	text_printf(t, " ts=%" PRIu64, e->ts);
	if (e->phase == PHASE_SPAN)
		text_printf(t, " dur=%" PRIu64, e->dur);
	if (e->phase != PHASE_STRUCTURE) {
		text_str(t, " track=");
		value_text_word(t, e->track->name);
		text_str(t, " name=");
		value_text_word(t, e->name);
	}
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		text_char(t, ' ');
		value_text_word(t, f->name);
		text_char(t, '=');
		value_text_put(t, &f->value);
	}
	text_char(t, '\n');
}

/* Where there are several files, each is named before its records. */
static bool
opened(void *ctx, const struct source *s)
{
	struct cat *const c = ctx;
	struct shown_path shown;

	c->left = c->limit;
	if (c->several || s->place.in_folder)
		text_printf(&c->text, "# %s\n", show_path(&shown, s->findings.path));
	return true;
}

static void
closed(void *ctx, const struct source *s)
{
	struct cat *const c = ctx;

	report_out_put(&c->out, &c->text);
	c->status = worse(c->status, say_end(&c->options, s));
}

/* false: that is enough. */
static bool
show_batch(struct cat *c, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n && c->left > 0; i++) {
		put_event(&c->text, b, &b->events[i]);
		if (c->hex)
			put_hex(&c->text, b->events[i].offset, b->bytes[i]);
		c->left -= c->left != UINT64_MAX;
		if (c->text.n >= 65536)
			report_out_put(&c->out, &c->text);
	}
	report_out_put(&c->out, &c->text);
	return c->left > 0 && output_error(c->out.out) == NULL;
}

static void
show_one(struct cat *c, const char *path)
{
	bool more = true;
	struct batch *b;
	struct pipeline p;
	struct pipeline_job job = options_job(&c->options, say_finding, &c->options);

	job.paths = &path;
	job.npaths = 1;
	job.interpret = INTERPRET_EVENTS;
	job.max_repeat = c->max_repeat;
	job.want = WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_ORDER | (c->hex ? WANT_BYTES : 0U);
	job.hooks = (struct pipeline_hooks){ .opened = opened, .closed = closed, .ctx = c };
	if (pipeline_open(&p, &job))
		while (more && pipeline_next(&p, &b) == STAGE_MORE) {
			more = show_batch(c, b);
			batch_release(b);
		}
	pipeline_end(&p);
	if (!c->options.quiet)
		say_losses(path, &p.repeats.ledger);
	say_selected(&c->options, path, &p);
	pipeline_close(&p);
}

enum exit_status
cmd_cat(const struct command *cmd, int argc, char **argv)
{
	struct cat c = { .hex = false };

	options_init(&c.options, cmd, argc, argv);
	if (!parse(&c))
		return c.options.status;
	if (!report_out_open(&c.out, &c.options))
		return STATUS_UNREADABLE;
	c.several = argc - c.options.first_operand > 1;
	for (int i = c.options.first_operand; i < argc && output_error(c.out.out) == NULL; i++)
		show_one(&c, argv[i]);
	c.status = worse(c.status, report_out_close(&c.out));
	text_free(&c.text);
	c.status = worse(c.status, side_reports_end(&c.options));
	options_free(&c.options);
	return c.status;
}
