/*
 * cat: one line for each record, as text or JSON, with its offset; --at finds the record that contains a
 * byte.  The output is flushed at 64 KiB and after each batch.
 */

#include <inttypes.h>
#include <unistd.h>

#include "cli/say.h"
#include "cli/traces.h"
#include "format/registry.h"
#include "cmd/events/event_text.h"
#include "format/trace_ops.h"
#include "model/event_traits.h"
#include "out/kind.h"

#define MAX_COMPARED 256U /* number of field names of a record that are compared with each other */

/* ---- records as text ---- */

/* Sixteen bytes a line: offset, hexadecimal, ASCII. */
static void put_hex(struct text *t, uint64_t offset, struct slice bytes)
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

static void put_text_record(struct text *t, const struct batch *b, uint32_t number, bool hex, uint64_t zero)
{
	const struct event *const e = &b->events[number];

	text_char(t, '@');
	text_u64(t, e->offset);
	text_char(t, ' ');
	text_str(t, event_kind_name(event_kind(e)));
	text_char(t, ' ');
	value_text_word(t, e->cls->name);
	text_str(t, " ts=");
	text_ns_from(t, e->phase == PHASE_STRUCTURE ? 0 : zero, e->ts);
	if (e->phase == PHASE_SPAN) {
		text_str(t, " dur=");
		text_u64(t, e->dur);
	}
	if (e->phase != PHASE_STRUCTURE) {
		text_str(t, " track=");
		value_text_word(t, event_track_name(e, e->track));
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
	if (hex)
		put_hex(t, e->offset, b->bytes[number]);
}

static void put_text_input(struct text *t, const char *path, const char *format)
{
	struct shown_path shown;

	text_printf(t, "# %s (%s)\n", show_path(&shown, path), format);
}

/* ---- records as JSON: schemas/cat.schema.json ---- */

/* Whether the type of a value does not follow from its JSON. */
static bool needs_type(const struct value *v)
{
	switch ((enum value_type)v->type) {
	case VALUE_NONE:
	case VALUE_BOOL:
	case VALUE_U64:
	case VALUE_F64:
	case VALUE_STRING:
	case VALUE_LIST:
	case VALUE_MAP:
		return false;
	case VALUE_I64:
		return v->i64 >= 0;
	default:
		return true;
	}
}

/* Fields in the order of the record: an object, or a list of pairs if names are repeated. */
static void put_fields(struct json_out *o, const struct field *f, uint32_t n, struct fields_json_lost *lost)
{
	struct text *const t = o->t;
	bool pairs = n > MAX_COMPARED, any = false;

	if (n == 0)
		return;
	for (uint32_t i = 1; i < n && !pairs; i++)
		pairs = field_find(f, i, f[i].name) != NULL;
	json_out_begin(o, pairs ? "pairs" : "args", pairs ? "[" : "{");
	for (uint32_t i = 0; i < n; i++) {
		text_str(t, i > 0 ? "," : "");
		text_str(t, pairs ? "[" : "");
		lost->bad_text += text_json_string(t, f[i].name) > 0;
		text_char(t, pairs ? ',' : ':');
		fields_json_value(t, &f[i].value, lost);
		text_str(t, pairs ? "]" : "");
	}
	json_out_end(o, pairs ? "]" : "}");
	for (uint32_t i = 0; i < n && !pairs; i++) {
		if (!needs_type(&f[i].value))
			continue;
		text_str(t, any ? "," : ",\"types\":{");
		any = true;
		(void)text_json_string(t, f[i].name);
		text_printf(t, ":\"%s\"", value_type_name(f[i].value.type));
	}
	text_str(t, any ? "}" : "");
}

static void put_json_record(struct text *t, const struct batch *b, uint32_t number, bool hex, uint64_t zero)
{
	const struct event *const e = &b->events[number];
	struct fields_json_lost lost = { .bad_text = 0 };
	struct json_out o = { .t = t };

	json_out_begin(&o, NULL, "{");
	event_json(&o, e, e->phase == PHASE_STRUCTURE ? 0 : zero, &lost);
	lost.bad_text += text_json_string(json_out_value(&o, "class"), e->cls->name) > 0;
	put_fields(&o, &b->fields[e->first_field], e->nfields, &lost);
	if (fields_json_lost_any(&lost))
		json_out_bool(&o, "inexact", true);
	if (hex) {
		text_char(json_out_value(&o, "bytes"), '"');
		text_hex(t, b->bytes[number].p, b->bytes[number].n);
		text_char(t, '"');
	}
	json_out_end(&o, "}\n");
}

static void put_json_input(struct text *t, const char *path, const char *format)
{
	struct json_out o = { .t = t };

	json_out_begin(&o, NULL, "{");
	json_out_string(&o, "input", path);
	json_out_string(&o, "format", format);
	json_out_end(&o, "}\n");
}

/* ---- the command ---- */

struct cat {
	struct trace_run run;
	uint64_t zero; /* trace.zero_ns */
	bool hex, raw;
	unsigned json;        /* index in text|json */
	uint64_t limit, left; /* number of records; UINT64_MAX: all */
	uint64_t at;          /* offset of --at; UINT64_MAX: none */
	uint64_t max_repeat;
	bool found; /* the current input has the record of --at */
	bool named; /* the name of the current trace was written */
};

static const struct cmd_option own[] = {
	{ "hex", NULL, "show the bytes of each record below it", 'x', TO_FLAG(struct cat, hex) },
	{ "limit", "N", "stop after N records (default: 0, all)", 'n', TO_LIMIT(struct cat, limit) },
	{ "at", "OFFSET", "show the record at this byte, and with -n the next ones", 0,
	  TO_NUMBER(struct cat, at) },
	{ "raw", NULL, "the records of the input without interpretation", 0, TO_FLAG(struct cat, raw) },
	{ "format", "text|json", "the form of a record: a line of text (default), a JSON object", 0,
	  TO_CHOICE(struct cat, json) },
	ROW_MAX_REPEAT(struct cat, max_repeat),
	{ .name = NULL },
};

static bool check_options(struct cat *c)
{
	struct options *const o = &c->run.options;

	if (c->limit == 0) /* not given */
		c->limit = c->at != UINT64_MAX ? 1 : UINT64_MAX;
	if (!c->raw || (select_kinds(&o->select.select) & SELECT_DURATIONS) == 0)
		return true;
	return options_mistake(o, "--raw shows begins and ends, which have no duration: leave out --raw, "
	                          "or --min-dur and --max-dur");
}

/* --at needs one file, as offsets are within a file.  A folder or an archive is refused, with one message. */
static bool can_find(struct cat *c, const struct source *s)
{
	if (c->at == UINT64_MAX || !s->location.in_folder)
		return true;
	if (c->run.status != STATUS_USAGE)
		say("--at: an offset needs one file: name a file of the directory, or of the unpacked "
		    "archive");
	c->run.status = worse(c->run.status, STATUS_USAGE);
	return false;
}

/* Refuses --raw with a selection if the format cannot omit records. */
static bool can_select(struct cat *c, const struct format *of)
{
	if (!c->raw || select_is_any(&c->run.options.select.select) || format_omits_records(of))
		return true;
	say("--raw: format %s cannot omit records; without --raw, events can be selected", of->name);
	c->run.status = worse(c->run.status, STATUS_USAGE);
	return false;
}

/* The name of a file precedes its records if there are several; files that are merged have one name. */
static void name_input(struct cat *c, const char *path, const struct source *s)
{
	const bool merged = format_trace_ops(s->format)->merges && !c->raw && c->at == UINT64_MAX;

	if (c->run.groups.n == 1 && (!s->location.in_folder || c->at != UINT64_MAX))
		return;
	if (!merged || !c->named)
		(c->json ? put_json_input : put_text_input)(&c->run.text, merged ? path : s->findings.path,
		                                            s->format->name);
	c->named = true;
}

static bool opened(void *ctx, const struct source *s)
{
	const struct trace_slot *const t = ctx;
	struct cat *const c = (struct cat *)t->run;

	c->run.any = true;
	c->left = c->limit;
	c->found = c->at == UINT64_MAX;
	if (!can_find(c, s) || !can_select(c, s->format))
		return false;
	name_input(c, t->path, s);
	return true;
}

static void closed(void *ctx, const struct source *s)
{
	struct trace_slot *const t = ctx;
	struct cat *const c = (struct cat *)t->run;

	report_out_put(&c->run.out, &c->run.text);
	progress_clear(&c->run.options.progress);
	/* the byte is after the end, or cannot be read */
	if (!c->found && s->open && !s->location.in_folder) {
		say_of(s->location.path, "no %srecord has byte %" PRIu64,
		       select_is_any(&c->run.options.select.select) ? "" : "selected ", c->at);
		c->run.status = worse(c->run.status, STATUS_FINDINGS);
	}
	trace_slot_closed(t, s);
}

/* Whether the record is before that of --at, or is structure while events are selected. */
static bool is_left_out(struct cat *c, const struct batch *b, uint32_t i)
{
	const struct event *const e = &b->events[i];

	if (!c->found)
		c->found = e->offset <= c->at && c->at - e->offset < b->bytes[i].n;
	return !c->found || (e->phase == PHASE_STRUCTURE && !select_is_any(&c->run.options.select.select));
}

/* Returns false when no more records are wanted. */
static bool show_batch(struct cat *c, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n && c->left > 0; i++) {
		if (is_left_out(c, b, i))
			continue;
		(c->json ? put_json_record : put_text_record)(&c->run.text, b, i, c->hex, c->zero);
		c->left -= c->left != UINT64_MAX;
		if (c->run.text.n >= 65536)
			report_out_put(&c->run.out, &c->run.text);
	}
	report_out_put(&c->run.out, &c->run.text);
	return c->left > 0 && output_error(c->run.out.out) == NULL;
}

static void show_trace(struct trace_slot *t)
{
	struct cat *const c = (struct cat *)t->run;
	struct trace_run *const r = t->run;
	struct pipeline_job job = trace_slot_job(t);
	bool more = true;
	struct batch *b;
	struct pipeline *p;

	if (output_error(r->out.out) != NULL)
		return;
	c->named = false;
	/* only spans have durations, and only spans wait: then begins and ends are paired */
	const unsigned of_spans = SELECT_DURATIONS | SELECT_BIT(SELECT_WAITING);
	job.read.interpret =
	    (select_kinds(&r->options.select.select) & of_spans) != 0 ? INTERPRET_SPANS : INTERPRET_EVENTS;
	job.adjust.max_repeat = c->max_repeat;
	job.read.as = c->raw ? READ_FIELDS : READ_MEANING;
	job.choice.drops = c->raw;
	job.read.want = WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE;
	job.read.want |= c->at != UINT64_MAX ? WANT_BYTES : WANT_ORDER; /* --at reads one file */
	job.read.want |= c->hex ? WANT_BYTES : 0U;
	job.to.hooks.opened = opened;
	job.to.hooks.closed = closed;
	r->options.progress.wanted &= r->options.output != NULL || !isatty(STDOUT_FILENO);
	if (pipeline_open(&p, &job))
		while (more && pipeline_next(p, &b) == STAGE_MORE) {
			c->zero = pipeline_trace(p)->zero_ns;
			more = show_batch(c, b);
			batch_release(b);
		}
	pipeline_end(p);
	const struct run_report report = pipeline_report(p);
	if (!r->options.quiet)
		say_losses(t->path, report.cut, false);
	if (r->status < STATUS_USAGE)
		r->status = worse(r->status, say_selected(&r->options, t->path, report.found, report.trace));
	pipeline_close(p);
}

static enum exit_status cmd_cat(const struct command *cmd, int argc, char **argv)
{
	struct cat c = { .at = UINT64_MAX };
	struct trace_run *const r = &c.run;

	options_init(&r->options, cmd, argc, argv);
	if (options_parse(&r->options, &c) && check_options(&c) && traces_begin(r, false))
		traces_each(r, 1, 0, show_trace);
	return traces_end(r);
}

const struct command cat_command = {
	.name = "cat",
	.operands = "[options] IN ...",
	.summary = "Lists the records of a trace, one a line, with their offsets.",
	.options = own,
	.reads = true,
	.writes = true,
	.selects = true,
	.run = cmd_cat,
};
