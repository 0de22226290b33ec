/* Text of a trace in the form that the page shows, and the sections that need no script: facts, tables, and
 * an empty element for each picture, beside its numbers.  The script fills these elements, of class
 * "picture", and removes their `hidden`. */
#include "page/page.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/numbers.h"
#include "base/scan.h"
#include "format/fields_json.h"
#include "format/ledger.h"
#include "model/trace_origin.h"
#include "output/columns.h"
#include "output/text_json.h"
#include "output/text_visible.h"

#define ROWS 100      /* max rows of a table */
#define FRAME_ROWS 20 /* frames of samples */
#define MAX_META 60   /* listed metadata */
#define MAX_TRACES 100
#define OPEN_TRACES 24 /* a longer table of traces is collapsed, as the timeline stands below it */

/* ---- text of a trace ---- */

/*
 * Hidden characters are escaped as in all reports (output/text_visible.h).  Combining marks after the third
 * on a letter are dropped, as they could draw over other lines.  A long text loses its middle.
 */

#define MARKS 3 /* max combining marks of a letter */

/* Returns the bytes of the character at p.  The text must be valid UTF-8. */
static size_t size_at(const char *p, const char *end)
{
	size_t n = 1;

	while (p + n < end && ((unsigned char)p[n] & 0xc0) == 0x80)
		n++;
	return n;
}

void page_visible(struct text *t, struct slice s)
{
	struct text visible = { .p = NULL };
	size_t chars = 0, marks = 0, at = 0;
	const size_t before = t->n;

	/* Enough bytes for both ends, for any characters. */
	text_visible_ends(&visible, s, 12 * PAGE_TEXT_MAX);
	const char *const end = visible.p + visible.n;
	for (const char *p = visible.p; p != end; p += size_at(p, end))
		chars++;
	for (const char *p = visible.p; p != end; at++) {
		const size_t n = size_at(p, end);
		marks = n > 1 && utf8_is_mark(utf8_point(p, n)) ? marks + 1 : 0;
		const bool middle =
		    chars > PAGE_TEXT_MAX && at >= PAGE_TEXT_MAX / 2 && at < chars - PAGE_TEXT_MAX / 2;
		if (middle && at == PAGE_TEXT_MAX / 2)
			text_printf(t, "\xe2\x80\xa6(%zu bytes)\xe2\x80\xa6", (size_t)s.n);
		else if (!middle && marks <= MARKS)
			text_add(t, p, n);
		p += n;
	}
	if (t->n == before)
		text_str(t, "(no name)");
	t->failed |= visible.failed;
	text_free(&visible);
}

void page_html(struct text *t, struct slice s)
{
	struct text visible = { .p = NULL };

	page_visible(&visible, s);
	text_html(t, slice_of(visible.p, visible.n));
	t->failed |= visible.failed;
	text_free(&visible);
}

void page_json(struct text *t, struct slice s)
{
	struct text visible = { .p = NULL }, isolated = { .p = NULL };

	page_visible(&visible, s);
	text_isolated(&isolated, slice_of(visible.p, visible.n)); /* the script puts numbers beside it */
	text_char(t, '"');
	text_json_chars(t, slice_of(isolated.p, isolated.n));
	text_char(t, '"');
	t->failed |= visible.failed || isolated.failed;
	text_free(&visible);
	text_free(&isolated);
}

void page_script(struct text *t, const struct text *json)
{
	for (size_t i = 0; i < json->n; i++)
		if (json->p[i] == '<' || json->p[i] == '>' || json->p[i] == '&')
			text_printf(t, "\\u%04x", (unsigned)json->p[i]);
		else
			text_char(t, json->p[i]);
}

/* ---- facts ---- */

static void put_term(struct text *t, const char *term)
{
	text_printf(t, "<div><dt>%s</dt><dd>", term);
}

static void end_term(struct text *t)
{
	text_str(t, "</dd></div>\n");
}

static void put_fact(struct text *t, const char *term, const char *value)
{
	put_term(t, term);
	page_html(t, slice_str(value));
	end_term(t);
}

static void put_count(struct text *t, const char *term, uint64_t n)
{
	put_term(t, term);
	text_u64(t, n);
	end_term(t);
}

static void put_times(struct text *t, const struct page_view *v)
{
	const struct stats *const s = v->stats;

	if (s->events == 0) {
		put_fact(t, "duration", "no events");
		return;
	}
	put_term(t, "duration");
	text_time(t, s->last_ns - s->first_ns);
	end_term(t);
	const bool early = s->first_ns < s->zero_ns;
	const uint64_t first = early ? s->zero_ns - s->first_ns : s->first_ns - s->zero_ns;
	put_term(t, "start");
	uint64_t wall;
	if (s->origin.epoch_known && trace_wall(s->origin.epoch_ns, s->first_ns, s->zero_ns, &wall))
		text_iso8601(t, wall);
	else
		text_printf(t, "%s%" PRIu64 " ns on the clock of the trace; wall time not known",
		            early ? "-" : "", first);
	end_term(t);
}

/* Writes a value of metadata on one line. */
static void put_value(struct text *t, const struct value *v)
{
	char scalar[DECIMAL_F64_MAX];

	if (v->type == VALUE_STRING || v->type == VALUE_JSON)
		page_html(t, value_text(v));
	else if (v->type == VALUE_NONE)
		text_str(t, "none");
	else if (v->type == VALUE_BYTES)
		text_printf(t, "(%" PRIu32 " bytes)", v->count);
	else if (v->type == VALUE_LIST || v->type == VALUE_MAP)
		text_printf(t, "(%" PRIu32 " entries)", v->count);
	else
		text_add(t, scalar, (size_t)(fields_json_scalar(scalar, v) - scalar));
}

static void put_metadata(struct text *t, const struct trace *trace)
{
	for (uint32_t i = 0; i < trace->nmeta && i < MAX_META; i++) {
		text_str(t, "<div><dt>");
		page_html(t, trace->meta[i].name);
		text_str(t, "</dt><dd>");
		put_value(t, &trace->meta[i].value);
		end_term(t);
	}
	if (trace->nmeta > MAX_META)
		put_count(t, "further metadata", trace->nmeta - MAX_META);
}

/* Lists problems of interpretation, such as ends without a begin. */
static void put_losses(struct text *t, const struct ledger *l)
{
	for (size_t i = 0; l != NULL && i < l->n; i++) {
		text_printf(t, "<li>%" PRIu64 " ", l->rows[i].count);
		text_str(t, "(");
		text_html(t, slice_str(l->rows[i].loss->id));
		text_str(t, "): ");
		text_html(t, slice_str(l->rows[i].loss->explain));
		text_str(t, "</li>\n");
	}
}

static void put_traces(struct text *t, const struct page_view *v)
{
	static const struct column heads[] = { { "trace", COLUMN_NAME, 10, 0 },
		                               { "format", COLUMN_NAME, 10, 0 },
		                               { "dialect", COLUMN_NAME, 10, 0 } };
	struct columns c = { .list = heads, .n = COUNT_OF(heads) };
	const size_t shown = v->ntraces < MAX_TRACES ? v->ntraces : MAX_TRACES;

	for (size_t i = 0; i < shown; i++) {
		const struct page_trace *const k = &v->traces[i];
		columns_name(&c, slice_str(k->path));
		columns_name(&c, slice_str(k->format != NULL ? k->format : "-"));
		columns_name(&c, slice_str(k->dialect != NULL ? k->dialect : ""));
	}
	if (v->ntraces > OPEN_TRACES)
		text_printf(t, "<details><summary>%zu traces</summary>\n", v->ntraces);
	columns_end(&c, t, FORM_HTML, "traces", v->ntraces, shown, 0);
	if (v->ntraces > OPEN_TRACES)
		text_str(t, "</details>\n");
}

bool page_facts(struct text *t, const struct page_view *v)
{
	const struct page_trace *const k = &v->traces[0];
	const struct stats *const s = v->stats;

	text_str(t,
	         "<section id=\"facts\" aria-labelledby=\"h-facts\">\n<h2 id=\"h-facts\">Trace</h2>\n<dl>\n");
	if (v->ntraces == 1) {
		put_fact(t, "file", k->path);
		if (k->format != NULL)
			put_fact(t, "format", k->format);
		if (k->dialect != NULL && k->dialect[0] != '\0')
			put_fact(t, "dialect", k->dialect);
		if (k->trace != NULL && k->trace->clock != NULL)
			put_fact(t, "clock", k->trace->clock);
	} else {
		put_count(t, "traces", v->ntraces);
		put_fact(t, "clocks",
		         v->by_wall ? "aligned by wall time" : "aligned at the start of each trace");
	}
	if (v->bytes > 0) {
		put_term(t, "size");
		text_printf(t, "%" PRIu64 " bytes", v->bytes);
		text_kib(t, v->bytes);
		end_term(t);
	}
	if (v->files > 1)
		put_count(t, "files", v->files);
	put_count(t, "records", s->origin.records);
	put_count(t, "events", s->origin.events); /* begin and end count as two, as in stats and info */
	if (s->origin.left_out > 0)
		put_count(t, "events not selected", s->origin.left_out);
	put_times(t, v);
	put_count(t, "tracks", s->tracks);
	if (s->unpaired > 0)
		put_count(t, "spans without begin or end", s->unpaired);
	if (v->ntraces == 1 && k->trace != NULL)
		put_metadata(t, k->trace);
	text_str(t, "</dl>\n");
	if (v->ntraces > 1)
		put_traces(t, v);
	t->failed |= (v->pairs != NULL && v->pairs->failed) || (v->cut != NULL && v->cut->failed);
	if ((v->pairs != NULL && v->pairs->n > 0) || (v->cut != NULL && v->cut->n > 0)) {
		text_str(t, "<h3>Problems of interpretation</h3>\n<ul>\n");
		put_losses(t, v->pairs);
		put_losses(t, v->cut);
		text_str(t, "</ul>\n");
	}
	text_str(t, "</section>\n");
	return !t->failed;
}

/* ---- sections ---- */

static void begin_section(struct text *t, const char *id, const char *title)
{
	text_printf(t, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">%s</h2>\n", id, id, id,
	            title);
}

static void put_picture(struct text *t, const char *id)
{
	text_printf(t, "<div class=\"picture\" id=\"%s\" hidden></div>\n", id);
}

static struct cells html_cells(struct text *t)
{
	return (struct cells){ .form = FORM_HTML, .t = t, .max_rows = ROWS };
}

static bool put_timeline(struct text *t, const struct page_view *v)
{
	struct cells c = html_cells(t);

	if (v->page->nwith_spans == 0)
		return true;
	begin_section(t, "timeline", "Timeline");
	put_picture(t, "timeline-picture");
	c.first_ns = v->stats->tables->first_ns;
	const bool ok = share_put(&v->stats->tables->share, &c);
	text_str(t, "</section>\n");
	return ok;
}

static bool put_flame(struct text *t, const struct page_view *v)
{
	const struct page *const p = v->page;
	const struct page_flame *const f = &p->flames[PLAN_STACK_ANY];
	const bool spans = f->nnodes > 1;
	const uint64_t others = f->samples[PAGE_OLD] + f->samples[PAGE_NEW];

	if (!spans && others == 0)
		return true;
	begin_section(t, "stacks", p->two_sides ? "Stacks, compared" : "Stacks");
	if (spans) {
		put_picture(t, "flame-picture");
		text_str(t, "<p>Self time is the time in which a span is the innermost one of its track. ");
		if (f->full)
			text_str(t, "There are too many stacks: the time of further ones counts for the span "
			            "around them. ");
		text_str(t, "The table of spans has self times by name.</p>\n");
	}
	if (others > 0)
		text_printf(t,
		            "<p>Call stacks of %" PRIu64 " events are not shown, as the vocabulary does not "
		            "state their kind (cpu, off-cpu or alloc).</p>\n",
		            others);
	text_str(t, "</section>\n");
	return !t->failed;
}

/* Says how many samples there are, and how many of them have no stack. */
static void put_samples_of(struct text *t, const struct page_flame *f, unsigned side)
{
	text_printf(t, "%" PRIu64 " %s", f->samples[side], f->samples[side] == 1 ? "sample" : "samples");
	if (f->bare[side] > 0)
		text_printf(t, ", %" PRIu64 " without a call stack, which the graph leaves out",
		            f->bare[side]);
}

static bool put_samples(struct text *t, const struct page_view *v, enum plan_stack kind)
{
	const struct page *const p = v->page;
	const struct page_flame *const f = &p->flames[kind];
	const struct page_sampled *const of = &page_sampled[kind];
	char id[32], title[64];

	if (f->samples[PAGE_OLD] + f->samples[PAGE_NEW] == 0)
		return true;
	snprintf(id, sizeof id, "samples-%s", of->id);
	snprintf(title, sizeof title, "%s%s", of->title, p->two_sides ? ", compared" : "");
	begin_section(t, id, title);
	text_printf(t, "<p>Call stacks of %s: ", of->who);
	put_samples_of(t, f, PAGE_NEW);
	if (p->two_sides) {
		text_str(t, "; old side: ");
		put_samples_of(t, f, PAGE_OLD);
	}
	text_str(t, ". Each sample counts once.");
	if (f->full)
		text_str(
		    t,
		    " There are too many stacks: the samples of further ones count for a frame around them.");
	text_str(t, "</p>\n");
	bool ok = true;
	if (f->nnodes > 1) {
		snprintf(id, sizeof id, "samples-%s-picture", of->id);
		put_picture(t, id);
		ok = flame_html(t, p, kind, FRAME_ROWS);
	}
	text_str(t, "</section>\n");
	return ok && !t->failed;
}

static bool put_spans(struct text *t, const struct page_view *v)
{
	struct span_columns columns;
	struct stats_view view = { .stats = v->stats, .form = FORM_HTML, .columns = &columns, .top = ROWS };

	span_columns_init(&columns, NULL);
	begin_section(t, "spans", "Spans, instants, counters");
	put_picture(t, "spans-picture");
	text_str(t, "<div id=\"spans-tables\">\n");
	const bool ok = stats_text(t, &view);
	text_str(t, "</div>\n");
	if (v->page->nseries > 0)
		put_picture(t, "counters-picture");
	text_str(t, "</section>\n");
	return ok;
}

static bool put_balance(struct text *t, const struct page_view *v)
{
	if (v->page->nwith_spans == 0)
		return true;
	begin_section(t, "balance", "Balance");
	put_picture(t, "balance-picture");
	const bool ok = matrix_html(t, v->page);
	text_str(t, "</section>\n");
	return ok;
}

static bool put_flows(struct text *t, const struct page_view *v)
{
	struct cells c = html_cells(t);

	if (v->stats->tables->flows.npairs == 0)
		return true;
	begin_section(t, "flows", "Delays of arrows");
	put_picture(t, "flows-picture");
	c.first_ns = v->stats->tables->first_ns;
	const bool ok = flows_put(&v->stats->tables->flows, &c);
	text_str(t, "</section>\n");
	return ok;
}

static bool put_change(struct text *t, const struct page_view *v)
{
	const struct change_view view = { .change = v->change,
		                          .paths = { v->old, v->new },
		                          .traces = { v->nold, v->nnew },
		                          .form = FORM_HTML,
		                          .top = ROWS };

	if (v->change == NULL)
		return true;
	begin_section(t, "compare", "Comparison");
	const bool ok = change_text(t, &view);
	text_str(t, "</section>\n");
	return ok;
}

bool page_sections(struct text *t, const struct page_view *v)
{
	bool ok = put_change(t, v) && put_timeline(t, v) && put_flame(t, v);

	for (unsigned kind = PLAN_STACK_ANY + 1; kind < PAGE_FLAMES; kind++)
		ok = ok && put_samples(t, v, kind);
	return ok && put_spans(t, v) && put_balance(t, v) && put_flows(t, v) && !t->failed;
}
