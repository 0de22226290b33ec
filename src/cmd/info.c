/*
 * info: describes a trace without its events: format, size, times, clock, metadata, threads, classes; and
 * with --digest a hash of all events, which is the same in every format that can hold them.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/scan.h"
#include "cli/say.h"
#include "cli/traces.h"
#include "cmd/events/event_text.h"
#include "compare/compare.h"
#include "format/fields_json.h"
#include "json/out.h"
#include "model/event_traits.h"
#include "model/trace_origin.h"
#include "output/columns.h"
#include "output/text_visible.h"
#include "stats/tables/tables.h"

struct info_run {
	struct trace_run run;
	unsigned form; /* enum report_form */
	bool digest, tracks, table;
	uint64_t threads;
	struct cells cells; /* cells of --table */
	struct json_out json_out;
};

/* Number of events of a track, start of the first, end of the last. */
struct seen_track {
	uint64_t events, first_ns, last_ns;
};

struct info {
	const char *path;
	struct digest sum;
	uint64_t first_ns, last_ns; /* first_ns > last_ns: no events */
	uint64_t start_ns;          /* of the whole trace */
	uint64_t spans;
	uint64_t tracks;         /* number of threads with events, as stats counts them */
	struct seen_track *seen; /* by index of the track */
	uint32_t nseen;
	uint64_t *class_events; /* by index of the class */
	uint32_t nclasses;
	uint64_t findings[LEVEL_COUNT];
	uint64_t files, packed;     /* packed: number of packed bytes */
	enum input_packing packing; /* packing of the last file */
};

static const struct cmd_option own[] = {
	{ "format", "text|json|csv|md", "the report's form (default: text; csv, md: of --table)", 0,
	  TO_CHOICE(struct info_run, form) },
	{ "table", NULL, "one line for each trace: its size, duration, processes and findings", 0,
	  TO_FLAG(struct info_run, table) },
	{ "digest", NULL, "a hash of all events, the same in every format that holds them", 0,
	  TO_FLAG(struct info_run, digest) },
	{ "tracks", NULL, "list processes and threads, with their events and times", 0,
	  TO_FLAG(struct info_run, tracks) },
	ROW_TRACES_AT_A_TIME(struct info_run, threads),
	{ .name = NULL },
};

static bool add_events(struct info *n, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		const uint64_t end = event_end(e);
		n->first_ns = e->ts < n->first_ns ? e->ts : n->first_ns;
		n->last_ns = end > n->last_ns ? end : n->last_ns;
		n->spans += e->phase == PHASE_SPAN;
		if (!array_reach(&n->seen, &n->nseen, e->track->index, sizeof *n->seen) ||
		    !array_reach(&n->class_events, &n->nclasses, e->cls->index, sizeof *n->class_events))
			return false;
		n->class_events[e->cls->index]++;
		struct seen_track *const k = &n->seen[e->track->index];
		n->tracks += k->events == 0 && e->track->kind == TRACK_THREAD;
		k->first_ns = k->events == 0 || e->ts < k->first_ns ? e->ts : k->first_ns;
		k->last_ns = end > k->last_ns ? end : k->last_ns;
		k->events++;
	}
	return true;
}

static const char *const packings[] = {
	[INPUT_PLAIN] = "none", [INPUT_GZIP] = "gzip", [INPUT_ZSTD] = "zstd", [INPUT_XZ] = "xz"
};

static void put_size(struct text *t, const struct info *n, uint64_t bytes)
{
	text_printf(t, "size:     %" PRIu64 " bytes", bytes);
	text_kib(t, bytes);
	if (n->packing != INPUT_PLAIN && n->packed > 0) {
		text_printf(t, ", %s: %" PRIu64 " bytes", packings[n->packing], n->packed);
		text_kib(t, n->packed);
	} else if (n->packing != INPUT_PLAIN)
		text_printf(t, " unpacked, %s", packings[n->packing]);
	if (n->files != 1)
		text_printf(t, ", in %" PRIu64 " files", n->files);
	text_char(t, '\n');
}

/* Whether a class is listed: it has records, or is the first of its name and no class of this name has any.
 */
static bool is_listed(const struct class *c)
{
	return c->records > 0 || (c->first == c && trace_class_records(c) == 0);
}

/* The number of events of a class; those of samples and of Perfetto's categories have no records of the
 * class. */
static uint64_t class_events(const struct info *n, const struct class *c)
{
	return c->index < n->nclasses ? n->class_events[c->index] : 0;
}

static void put_classes(struct text *t, const struct info *n, const struct trace *trace)
{
	uint32_t listed = 0;

	for (uint32_t i = 0; i < trace->nclasses; i++)
		listed += is_listed(trace->classes[i]);
	text_printf(t, "classes:  %" PRIu32 "\n", listed);
	for (uint32_t i = 0; i < trace->nclasses; i++) {
		const struct class *const c = trace->classes[i];
		if (!is_listed(c))
			continue;
		text_printf(t, "  %10" PRIu64 "  ", c->records > 0 ? c->records : class_events(n, c));
		value_text_word(t, c->name);
		for (uint32_t k = 0; k < c->nfields; k++) {
			text_str(t, k > 0 ? ", " : "  (");
			value_text_word(t, c->fields[k].name);
			text_char(t, ' ');
			text_visible(t, c->fields[k].type, 40);
		}
		text_str(t, c->nfields > 0 ? ")\n" : "\n");
	}
}

static uint32_t count_processes(const struct trace *trace)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < trace->ntracks; i++)
		n += trace->tracks[i]->kind == TRACK_PROCESS && !trace->tracks[i]->hidden;
	return n;
}

static void put_times(struct text *t, const struct info *n, const struct trace *trace)
{
	const uint64_t zero = trace->zero_ns;
	uint64_t first, last;

	if (n->first_ns > n->last_ns) {
		text_str(t, "times:    none");
		if (trace->events > 0)
			text_printf(t, " (0 of %" PRIu64 " events selected)", trace->events);
		text_char(t, '\n');
		return;
	}
	text_str(t, "times:    ");
	text_ns_from(t, zero, n->first_ns);
	text_str(t, " to ");
	text_ns_from(t, zero, n->last_ns);
	text_printf(t, " ns\nduration: %" PRIu64 " ns", n->last_ns - n->first_ns);
	if (n->last_ns - n->first_ns >= 1000) {
		text_str(t, " (");
		text_time(t, n->last_ns - n->first_ns);
		text_char(t, ')');
	}
	if (trace->epoch_known && trace_wall(trace->epoch_ns, n->first_ns, zero, &first) &&
	    trace_wall(trace->epoch_ns, n->last_ns, zero, &last)) {
		text_str(t, "\nwall:     ");
		text_iso8601(t, first);
		text_str(t, " to ");
		text_iso8601(t, last);
	}
	text_char(t, '\n');
}

/* Writes the tracks that have events; processes are in order of arrival. */
static void put_tracks(struct text *t, const struct info *n, const struct trace *trace, unsigned width)
{
	static const struct column heads[] = {
		{ "process", COLUMN_NAME, 10, 0 }, { "pid", COLUMN_NUMBER, 0, 2 },
		{ "host", COLUMN_NAME, 6, 3 },     { "track", COLUMN_NAME, 10, 0 },
		{ "tid", COLUMN_NUMBER, 0, 1 },    { "events", COLUMN_NUMBER, 0, 0 },
		{ "first", COLUMN_NUMBER, 0, 0 },  { "last", COLUMN_NUMBER, 0, 0 },
	};
	struct columns c = { .list = heads, .n = COUNT_OF(heads), .indent = 2 };
	const unsigned host_column = 2;
	bool any_host = false;

	for (uint32_t i = 0; i < trace->ntracks && i < n->nseen; i++) {
		const struct track *const k = trace->tracks[i], *const process = track_process(k);
		const struct seen_track *const seen = &n->seen[i];
		if (seen->events == 0)
			continue;
		columns_name(&c, process->name);
		if (process->has_id)
			text_u64(&c.text, process->id);
		columns_next(&c);
		columns_name(&c, process->host);
		any_host |= process->host.n > 0;
		columns_name(&c, k->name);
		if (k->kind == TRACK_THREAD && k->has_id)
			text_u64(&c.text, k->id);
		columns_next(&c);
		columns_u64(&c, seen->events);
		text_since(&c.text, seen->first_ns - n->start_ns);
		columns_next(&c);
		text_since(&c.text, seen->last_ns - n->start_ns);
		columns_next(&c);
	}
	c.without = any_host ? 0 : 1U << host_column;
	if (c.ncells > 0 || c.text.failed)
		columns_print(&c, t, width);
}

#define MAX_FACT 1000u /* bytes of a value in text: that of Chromium has 60 KB */

static void put_fact(struct text *t, const struct field *fact)
{
	value_text_word(t, fact->name);
	text_str(t, ": ");
	const size_t from = t->n;
	value_text_put(t, &fact->value);
	if (!t->failed && t->n - from > MAX_FACT) {
		const size_t all = t->n - from;
		t->n = from + utf8_cut(t->p + from, all, MAX_FACT);
		text_printf(t, " ... (%zu bytes: --json shows all)", all);
	}
	text_char(t, '\n');
}

/* hash: NULL if it was not requested. */
static void put_trace(struct text *t, const struct info *n, const struct run_report *run,
                      const struct wide_hash *hash)
{
	const struct trace *const trace = run->trace;
	const uint32_t processes = count_processes(trace);
	struct shown_path shown;

	text_printf(t, "file:     %s\n", show_path(&shown, n->path));
	text_printf(t, "format:   %s (%s)", run->format->name, run->format->title);
	text_printf(t, "%s%s", trace->dialect[0] != '\0' ? ", dialect " : "", trace->dialect);
	text_printf(t, "%s%s\n", trace->byte_order != NULL ? ", byte order " : "",
	            trace->byte_order != NULL ? trace->byte_order : "");
	put_size(t, n, run->bytes);
	if (trace->further > 0)
		text_printf(t, "records:  %" PRIu64 ", with %" PRIu64 " events\n", trace->records,
		            trace->events);
	else
		text_printf(t, "records:  %" PRIu64 ", %" PRIu64 " of them events\n", trace->records,
		            trace->events);
	put_times(t, n, trace);
	if (hash != NULL)
		text_printf(t, "digest:   %016" PRIx64 "%016" PRIx64 " of %" PRIu64 " events\n", hash->b,
		            hash->a, n->sum.events);
	text_printf(t, "clock:    %s", trace->clock);
	if (trace->epoch_known) {
		text_printf(t, ", 0 is %" PRIu64 " ns after 1970: ", trace->epoch_ns);
		text_iso8601(t, trace->epoch_ns);
	} else {
		text_str(t, ", its wall time is not known");
	}
	text_char(t, '\n');
	text_printf(t, "tracks:   %" PRIu64 " in %" PRIu32 " process%s\n", n->tracks, processes,
	            processes == 1 ? "" : "es");
	for (uint32_t i = 0; i < trace->nmeta; i++)
		put_fact(t, &trace->meta[i]);
	put_classes(t, n, trace);
}

/* ---- JSON: schemas/info.schema.json ---- */

static void put_json_tracks(struct json_out *o, const struct info *n, const struct trace *trace)
{
	json_out_begin_after(o, "\n", "track_list", "[");
	for (uint32_t i = 0; i < trace->ntracks && i < n->nseen; i++) {
		const struct track *const k = trace->tracks[i], *const process = track_process(k);
		if (n->seen[i].events == 0)
			continue;
		json_out_begin_after(o, "\n", NULL, "{");
		json_out_slice(o, "process", process->name);
		if (process->has_id)
			json_out_u64_or_string(o, "pid", process->id);
		if (process->host.n > 0)
			json_out_slice(o, "host", process->host);
		json_out_slice(o, "track", k->name);
		if (k->kind == TRACK_THREAD && k->has_id)
			json_out_u64_or_string(o, "tid", k->id);
		json_out_u64_or_string(o, "events", n->seen[i].events);
		json_out_ns(o, "first_ns", n->seen[i].first_ns, trace->zero_ns);
		json_out_ns(o, "last_ns", n->seen[i].last_ns, trace->zero_ns);
		json_out_end(o, "}");
	}
	json_out_end(o, "]");
}

static void put_json_classes(struct json_out *o, const struct info *n, const struct trace *trace)
{
	json_out_begin_after(o, "\n", "classes", "[");
	for (uint32_t i = 0; i < trace->nclasses; i++) {
		const struct class *const c = trace->classes[i];
		if (!is_listed(c))
			continue;
		json_out_begin_after(o, "\n", NULL, "{");
		json_out_slice(o, "name", c->name);
		json_out_u64_or_string(o, "records", c->records);
		if (c->records == 0 && class_events(n, c) > 0)
			json_out_u64_or_string(o, "events", class_events(n, c));
		json_out_begin(o, "fields", "[");
		for (uint32_t k = 0; k < c->nfields; k++) {
			json_out_begin(o, NULL, "{");
			json_out_slice(o, "name", c->fields[k].name);
			json_out_slice(o, "type", c->fields[k].type);
			json_out_end(o, "}");
		}
		json_out_end(o, "]}");
	}
	json_out_end(o, "]");
}

static void put_json_trace(struct text *t, const struct info *n, const struct run_report *run, bool tracks,
                           bool comma, const struct wide_hash *hash)
{
	const struct trace *const trace = run->trace;
	struct fields_json_lost lost = { .bad_text = 0 };
	struct json_out o = { .t = t, .comma = comma };

	json_out_begin_after(&o, "\n", NULL, "{");
	json_out_string(&o, "path", n->path);
	json_out_string(&o, "format", run->format->name);
	if (trace->dialect[0] != '\0')
		json_out_string(&o, "dialect", trace->dialect);
	if (trace->byte_order != NULL)
		json_out_string(&o, "byte_order", trace->byte_order);
	json_out_u64_or_string(&o, "bytes", run->bytes);
	json_out_u64_or_string(&o, "files", n->files);
	json_out_string(&o, "packing", packings[n->packing]);
	json_out_u64_or_string(&o, "records", trace->records);
	json_out_u64_or_string(&o, "events", trace->events);
	if (n->first_ns <= n->last_ns) {
		json_out_ns(&o, "first_ns", n->first_ns, trace->zero_ns);
		json_out_ns(&o, "last_ns", n->last_ns, trace->zero_ns);
	}
	if (hash != NULL)
		text_printf(json_out_value(&o, "digest"), "\"%016" PRIx64 "%016" PRIx64 "\"", hash->b,
		            hash->a);
	json_out_string(&o, "clock", trace->clock);
	if (trace->epoch_known)
		json_out_u64_or_string(&o, "epoch_ns", trace->epoch_ns);
	json_out_u64_or_string(&o, "tracks", n->tracks);
	json_out_u64_or_string(&o, "processes", count_processes(trace));
	json_out_begin_after(&o, "\n", "metadata", "[");
	for (uint32_t i = 0; i < trace->nmeta; i++) {
		json_out_begin_after(&o, "\n", NULL, "{");
		json_out_slice(&o, "name", trace->meta[i].name);
		fields_json_value(json_out_value(&o, "value"), &trace->meta[i].value, &lost);
		json_out_end(&o, "}");
	}
	json_out_end(&o, "]");
	if (tracks)
		put_json_tracks(&o, n, trace);
	put_json_classes(&o, n, trace);
	json_out_end(&o, "}");
}

/* ---- --table ---- */

static const struct cell_column table_columns[] = {
	{ { "trace", COLUMN_NAME, 16, 0 }, "path" },
	{ { "format", COLUMN_WORD, 0, 0 }, "format" },
	{ { "dialect", COLUMN_WORD, 0, 6 }, "dialect" },
	{ { "events", COLUMN_NUMBER, 0, 0 }, "events" },
	{ { "spans", COLUMN_NUMBER, 0, 5 }, "spans" },
	{ { "duration", COLUMN_NUMBER, 0, 2 }, "duration_ns" },
	{ { "processes", COLUMN_NUMBER, 0, 4 }, "processes" },
	{ { "threads", COLUMN_NUMBER, 0, 3 }, "threads" },
	{ { "errors", COLUMN_NUMBER, 0, 0 }, "errors" },
	{ { "warnings", COLUMN_NUMBER, 0, 1 }, "warnings" },
};

static void begin_table(struct info_run *run)
{
	const bool has_path = run->form == FORM_CSV; /* CSV has the path in each row */

	run->json_out = (struct json_out){ .t = &run->run.text };
	run->cells = (struct cells){ .form = (enum report_form)run->form,
		                     .t = &run->run.text,
		                     .width = options_width(&run->run.options),
		                     .json = &run->json_out,
		                     .with_heads = has_path };
	cells_begin(&run->cells, NULL, NULL, table_columns + has_path, COUNT_OF(table_columns) - has_path);
}

/* A trace that is missing, or that no format recognises, has one error and nothing else. */
static void put_table_row(struct info_run *run, const struct info *n, const struct run_report *report)
{
	struct cells *const c = &run->cells;
	const bool known = n->files > 0;

	c->path = slice_str(n->path);
	cells_row(c);
	if (run->form != FORM_CSV)
		cells_name(c, c->path);
	cells_name(c, slice_str(known ? report->format->name : ""));
	cells_name(c, slice_str(known ? report->trace->dialect : ""));
	const struct select_found *const found = known ? report->found : NULL;
	cells_count(c, found != NULL ? found->events - found->left_out : known ? report->trace->events : 0);
	cells_count(c, n->spans);
	if (n->first_ns <= n->last_ns)
		cells_time(c, n->last_ns - n->first_ns);
	else
		cells_none(c, 1);
	cells_count(c, known ? count_processes(report->trace) : 0);
	cells_count(c, n->tracks);
	cells_count(c, known ? n->findings[LEVEL_ERROR] : 1);
	cells_count(c, n->findings[LEVEL_WARNING]);
}

static void closed(void *ctx, const struct source *s)
{
	const struct trace_slot *const t = ctx;
	struct info *const n = t->state;

	for (int i = 0; i < LEVEL_COUNT; i++)
		n->findings[i] += s->findings.levels[i];
	trace_slot_closed(ctx, s);
}

static bool opened(void *ctx, const struct source *s)
{
	const struct trace_slot *const t = ctx;
	struct info *const n = t->state;

	n->files++;
	n->packing = s->in->packing;
	n->packed += input_file_size(s->in);
	return true;
}

/* Reads all events.  Returns false if the trace could not be read; a finding states the reason. */
static bool read_events(struct info *n, struct pipeline *p, bool digest, struct wide_hash *hash)
{
	enum stage_status status;
	struct batch *b;
	bool ok = true;

	while (ok && (status = pipeline_next(p, &b)) == STAGE_MORE) {
		ok = add_events(n, b);
		for (uint32_t i = 0; digest && i < b->n; i++) /* times before zero wrap */
			b->events[i].ts -= pipeline_trace(p)->zero_ns;
		ok = ok && (!digest || digest_add(&n->sum, b));
		batch_release(b);
	}
	if (ok && status == STAGE_END && digest)
		ok = digest_end(&n->sum, pipeline_trace(p), hash);
	if (!ok)
		pipeline_no_memory(p);
	return ok && status == STAGE_END;
}

static void describe_trace(struct trace_slot *t)
{
	struct info_run *const run = (struct info_run *)t->run;
	struct trace_run *const r = t->run;
	struct info *const n = t->state;
	struct pipeline_job job = trace_slot_job(t);
	struct wide_hash hash = { 0, 0 };
	struct pipeline *p;

	job.read.interpret = INTERPRET_SPANS;
	job.read.want = WANT_TIMES | WANT_ORDER | (run->digest ? (unsigned)WANT_FIELDS : 0) |
	                (run->tracks ? (unsigned)WANT_NAMES | WANT_ARROWS : 0);
	job.read.unnamed = !run->digest && !run->tracks && job.choice.select == NULL;
	if (t->helpers > 0 && !job.read.unnamed) /* counting is too little work for a thread */
		job.read.ahead = READ_AHEAD;
	job.to.hooks.opened = opened;
	job.to.hooks.closed = closed;
	n->path = t->path;
	n->first_ns = UINT64_MAX;
	const bool is_read = pipeline_open(&p, &job) && read_events(n, p, run->digest, &hash);
	pipeline_end(p);
	const struct run_report report = pipeline_report(p);
	n->start_ns = select_found_first(report.found, n->first_ns);
	trace_slot_turn(t);
	/* files of a folder that are not traces: they have a warning, but no input */
	const bool only_warned =
	    n->files == 0 && n->findings[LEVEL_WARNING] > 0 && n->findings[LEVEL_ERROR] == 0;
	if (run->table && !only_warned) {
		put_table_row(run, n, &report);
		report_out_put(&r->out, &r->text);
		r->any = true;
	} else if (!run->table && is_read && n->files > 0) {
		struct text lines = { .p = NULL };
		if (run->form == FORM_TEXT && r->any)
			text_char(&r->text, '\n');
		if (run->form == FORM_JSON) {
			put_json_trace(&r->text, n, &report, run->tracks, r->any, run->digest ? &hash : NULL);
		} else {
			put_trace(&lines, n, &report, run->digest ? &hash : NULL);
			text_wrap_lines(&r->text, &lines, 14, options_prose_width(&r->options));
			if (run->tracks)
				put_tracks(&r->text, n, report.trace, options_width(&r->options));
		}
		text_free(&lines);
		report_out_put(&r->out, &r->text);
		r->any = true;
	}
	r->status = worse(r->status, say_selected(&r->options, t->path, report.found, report.trace));
	pipeline_close(p);
	digest_free(&n->sum);
	free(n->class_events);
	free(n->seen);
}

static bool check_form(struct info_run *n)
{
	struct options *const o = &n->run.options;

	if (n->table && (n->digest || n->tracks))
		return options_mistake(o, "--table has no --digest and no --tracks");
	if (!n->table && n->form > FORM_JSON)
		return options_mistake(o, "this --format is for --table");
	return true;
}

static enum exit_status cmd_info(const struct command *cmd, int argc, char **argv)
{
	struct info_run n = { .form = FORM_TEXT };
	struct trace_run *const r = &n.run;

	options_init(&r->options, cmd, argc, argv);
	if (options_parse(&r->options, &n) && check_form(&n) && traces_begin(r, n.form == FORM_JSON)) {
		if (n.table)
			begin_table(&n);
		traces_each(r, n.threads, sizeof(struct info), describe_trace);
		r->out.no_memory |= n.table && !cells_end(&n.cells);
	}
	return traces_end(r);
}

const struct command info_command = {
	.name = "info",
	.operands = "[options] IN ...",
	.summary = "Describes a trace: format, dialect, size, times, threads, and classes with their fields.",
	.options = own,
	.reads = true,
	.writes = true,
	.selects = true,
	.tables = true,
	.run = cmd_info,
};
