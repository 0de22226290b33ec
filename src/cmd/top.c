/*
 * top: the longest single spans of each trace, gaps between the spans of a thread, or arrows.  A heap holds
 * the N longest so far, with copies of their texts; gaps need the spans in order of time, which the engine
 * sorts.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "cli/say.h"
#include "cli/traces.h"
#include "cmd/events/event_text.h"
#include "json/out.h"
#include "model/event_traits.h"
#include "output/columns.h"
#include "output/text_units.h"
#include "stats/stats.h"

#define TOP_DEFAULT 10
#define TOP_MAX 10000         /* items of a trace */
#define MAX_OPEN_ARROWS 65536 /* starts without an end yet */
#define MAX_FIELDS 32         /* of --fields */
#define MAX_NAME 4096         /* bytes of a name that are kept */
#define MAX_COVERED_NAME 256  /* likewise, for each track of --gaps */
#define MAX_FIELDS_TEXT 8192  /* bytes of the fields of a span; further fields are left out */

enum form { FORM_TEXT, FORM_JSON };

struct top_run {
	struct trace_run run;
	unsigned form; /* enum form */
	bool gaps, arrows;
	uint64_t n, threads, max_repeat;
	const char *words; /* of --fields; NULL: not given */
	struct slice fields[MAX_FIELDS];
	unsigned nfields;
};

/* A span, gap or arrow of the report.  Owns its texts. */
struct item {
	uint64_t length, ts, offset;    /* of a gap: offset of the span after it */
	uint64_t number;                /* in order of arrival */
	const struct track *track, *to; /* to: where an arrow ends; NULL: none */
	char *texts;                    /* name, second, fields, one after the other */
	uint32_t name, second, fields;  /* their bytes.  second: category; of a gap the span before it */
};

/* End of the spans of a track so far, for --gaps. */
struct covered {
	uint64_t until; /* ns */
	char *name;     /* of the span that ends there */
	uint32_t n;
};

/* The start of an arrow whose end is not read yet. */
struct arrow {
	uint64_t id, ts;
	const struct track *track;
	uint32_t next; /* index + 1 in its bucket or in the list of free ones; 0: none */
};

struct top {
	const struct top_run *run;
	const char *path;
	struct item *heap; /* the shortest first */
	uint32_t n, cap;
	uint64_t first_ns, arrived;
	struct covered *covered; /* by index of the track */
	uint32_t ncovered;
	struct arrow *starts; /* MAX_OPEN_ARROWS; NULL before the first */
	uint32_t *buckets;    /* likewise; index + 1 of the first start with an id of this hash; 0: none */
	uint32_t nstarts, free_start;
	uint64_t seed;
	struct text scratch;
};

/* ---- the heap ---- */

/* Of equal lengths the first one is kept. */
static bool is_shorter(const struct item *a, const struct item *b)
{
	return a->length != b->length ? a->length < b->length : a->number > b->number;
}

static void sift_down(struct item *h, size_t n, size_t i)
{
	const struct item moved = h[i];

	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		child += child + 1 < n && is_shorter(&h[child + 1], &h[child]);
		if (!is_shorter(&h[child], &moved))
			break;
		h[i] = h[child];
	}
	h[i] = moved;
}

static void sift_up(struct item *h, size_t i)
{
	const struct item moved = h[i];

	for (; i > 0 && is_shorter(&moved, &h[(i - 1) / 2]); i = (i - 1) / 2)
		h[i] = h[(i - 1) / 2];
	h[i] = moved;
}

static bool is_among_longest(const struct top *t, uint64_t length)
{
	return t->n < t->run->n || (t->n > 0 && length > t->heap[0].length);
}

/* Adds an item that is_among_longest(), with copies of its texts. */
static bool add_item(struct top *t, struct item item, struct slice name, struct slice second,
                     struct slice fields)
{
	item.name = (uint32_t)utf8_cut(name.p, name.n, MAX_NAME);
	item.second = (uint32_t)utf8_cut(second.p, second.n, MAX_NAME);
	item.fields = fields.n;
	item.number = t->arrived++;
	item.texts = malloc((size_t)item.name + item.second + item.fields + 1);
	if (item.texts == NULL)
		return false;
	if (item.name > 0)
		memcpy(item.texts, name.p, item.name);
	if (item.second > 0)
		memcpy(item.texts + item.name, second.p, item.second);
	if (item.fields > 0)
		memcpy(item.texts + item.name + item.second, fields.p, item.fields);
	if (t->n == t->run->n) {
		free(t->heap[0].texts);
		t->heap[0] = item;
		sift_down(t->heap, t->n, 0);
		return true;
	}
	if (!array_reserve(&t->heap, t->n, &t->cap, sizeof *t->heap)) {
		free(item.texts);
		return false;
	}
	t->heap[t->n] = item;
	sift_up(t->heap, t->n++);
	return true;
}

static int longest_first(const void *a, const void *b)
{
	return is_shorter(a, b) ? 1 : -1;
}

/* ---- spans ---- */

static bool is_wanted(const struct top_run *r, const struct field *f)
{
	if (r->words == NULL)
		return f->value.type == VALUE_STRING || r->form == FORM_JSON;
	for (unsigned i = 0; i < r->nfields; i++)
		if (slice_equal(f->name, r->fields[i]))
			return true;
	return false;
}

/* The fields of an event: in text "k=v k=v", in JSON the members of an object. */
static struct slice put_fields(struct top *t, const struct batch *b, const struct event *e)
{
	struct fields_json_lost lost = { 0 };

	text_clear(&t->scratch);
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		const size_t before = t->scratch.n;
		if (!is_wanted(t->run, f))
			continue;
		if (t->scratch.n > 0)
			text_char(&t->scratch, t->run->form == FORM_JSON ? ',' : ' ');
		if (t->run->form == FORM_JSON) {
			fields_json(&t->scratch, f, 1, &lost);
		} else {
			value_text_word(&t->scratch, f->name);
			text_char(&t->scratch, '=');
			value_text_put(&t->scratch, &f->value);
		}
		if (t->scratch.n > MAX_FIELDS_TEXT)
			t->scratch.n = before;
	}
	return slice_of(t->scratch.p, t->scratch.n);
}

static bool add_span(struct top *t, const struct batch *b, const struct event *e)
{
	const struct item item = { .length = e->dur, .ts = e->ts, .offset = e->offset, .track = e->track };

	if (!is_among_longest(t, e->dur))
		return true;
	const struct slice fields = put_fields(t, b, e);
	return !t->scratch.failed && add_item(t, item, e->name, e->cls->category, fields);
}

/* ---- gaps ---- */

/* Events are in order of their start. */
static bool add_gap(struct top *t, const struct event *e)
{
	const uint64_t end = event_end(e);

	if (!array_reach(&t->covered, &t->ncovered, e->track->index, sizeof *t->covered))
		return false;
	struct covered *const c = &t->covered[e->track->index];
	if (c->name != NULL && e->ts > c->until && is_among_longest(t, e->ts - c->until)) {
		const struct item item = {
			.length = e->ts - c->until, .ts = c->until, .offset = e->offset, .track = e->track
		};
		if (!add_item(t, item, e->name, slice_of(c->name, c->n), SLICE_LIT("")))
			return false;
	}
	if (c->name != NULL && end <= c->until)
		return true;
	const uint32_t n = (uint32_t)utf8_cut(e->name.p, e->name.n, MAX_COVERED_NAME);
	char *const name = realloc(c->name, (size_t)n + 1);
	if (name == NULL)
		return false;
	if (n > 0)
		memcpy(name, e->name.p, n);
	*c = (struct covered){ end, name, n };
	return true;
}

/* ---- arrows ---- */

static uint32_t *bucket_of(const struct top *t, uint64_t id)
{
	return &t->buckets[hash_u64(id, t->seed) % MAX_OPEN_ARROWS];
}

/* Too many open ones: further starts are not remembered. */
static bool start_arrow(struct top *t, uint64_t id, const struct event *e)
{
	if (t->starts == NULL) {
		t->seed = hash_seed();
		t->starts = malloc(MAX_OPEN_ARROWS * sizeof *t->starts);
		t->buckets = calloc(MAX_OPEN_ARROWS, sizeof *t->buckets);
		if (t->starts == NULL || t->buckets == NULL)
			return false;
	}
	uint32_t at = t->free_start;
	if (at != 0)
		t->free_start = t->starts[at - 1].next;
	else if (t->nstarts < MAX_OPEN_ARROWS)
		at = ++t->nstarts;
	else
		return true;
	uint32_t *const bucket = bucket_of(t, id);
	t->starts[at - 1] = (struct arrow){ id, e->ts, e->track, *bucket };
	*bucket = at;
	return true;
}

static bool end_arrow(struct top *t, const struct event *e)
{
	if (t->starts == NULL)
		return true;
	for (uint32_t *at = bucket_of(t, e->dur); *at != 0; at = &t->starts[*at - 1].next) {
		struct arrow *const a = &t->starts[*at - 1];
		if (a->id != e->dur)
			continue;
		const uint64_t length = e->ts > a->ts ? e->ts - a->ts : 0;
		const struct item item = {
			.length = length, .ts = a->ts, .offset = e->offset, .track = a->track, .to = e->track
		};
		const uint32_t freed = *at;
		*at = a->next;
		a->next = t->free_start;
		t->free_start = freed;
		if (is_among_longest(t, length) && !add_item(t, item, e->name, SLICE_LIT(""), SLICE_LIT("")))
			return false;
		return !event_is_step(e) || start_arrow(t, e->dur, e);
	}
	return true;
}

/* ---- reading ---- */

static bool add_event(struct top *t, const struct batch *b, const struct event *e)
{
	const struct top_run *const r = t->run;

	if (e->phase == PHASE_STRUCTURE)
		return true;
	t->first_ns = e->ts < t->first_ns ? e->ts : t->first_ns;
	if ((e->flags & EVENT_LEFT_OUT) != 0)
		return true;
	if (r->arrows)
		return e->phase == PHASE_FLOW_OUT  ? start_arrow(t, e->dur, e)
		       : e->phase == PHASE_FLOW_IN ? end_arrow(t, e)
		                                   : true;
	if (e->phase != PHASE_SPAN || (r->gaps && event_is_async(e)))
		return true;
	return r->gaps ? add_gap(t, e) : add_span(t, b, e);
}

/* Returns false if the trace could not be read; a finding says why. */
static bool read_events(struct top *t, struct pipeline *p)
{
	enum stage_status status;
	struct batch *b;
	bool ok = true;

	while (ok && (status = pipeline_next(p, &b)) == STAGE_MORE) {
		for (uint32_t i = 0; ok && i < b->n; i++)
			ok = add_event(t, b, &b->events[i]);
		batch_release(b);
	}
	if (!ok)
		pipeline_no_memory(p);
	return ok && status == STAGE_END;
}

/* ---- report ---- */

static struct slice name_of(const struct item *i)
{
	return slice_of(i->texts, i->name);
}

static struct slice second_of(const struct item *i)
{
	return slice_of(i->texts + i->name, i->second);
}

static struct slice fields_of(const struct item *i)
{
	return slice_of(i->texts + i->name + i->second, i->fields);
}

static const struct column span_heads[] = {
	{ "duration", COLUMN_NUMBER, 0, 0 }, { "at", COLUMN_NUMBER, 0, 0 },
	{ "process", COLUMN_NAME, 10, 2 },   { "thread", COLUMN_NAME, 10, 3 },
	{ "name", COLUMN_NAME, 20, 0 },      { "category", COLUMN_NAME, 8, 4 },
	{ "fields", COLUMN_NAME, 12, 1 },
};
static const struct column gap_heads[] = {
	{ "gap", COLUMN_NUMBER, 0, 0 },   { "at", COLUMN_NUMBER, 0, 0 },   { "process", COLUMN_NAME, 10, 2 },
	{ "thread", COLUMN_NAME, 10, 1 }, { "after", COLUMN_NAME, 16, 0 }, { "before", COLUMN_NAME, 16, 0 },
};
static const struct column arrow_heads[] = {
	{ "delay", COLUMN_NUMBER, 0, 0 }, { "at", COLUMN_NUMBER, 0, 0 }, { "name", COLUMN_NAME, 12, 0 },
	{ "from", COLUMN_NAME, 16, 0 },   { "to", COLUMN_NAME, 16, 0 },
};

static void put_text(struct text *out, const struct top *t, unsigned width)
{
	const struct top_run *const r = t->run;
	struct columns c = { .list = r->gaps     ? gap_heads
		                     : r->arrows ? arrow_heads
		                                 : span_heads,
		             .n = r->gaps     ? 6
		                  : r->arrows ? 5
		                              : 7,
		             .indent = 2 };

	for (size_t k = 0; k < t->n; k++) {
		const struct item *const i = &t->heap[k];
		columns_time(&c, i->length);
		text_since(&c.text, i->ts - t->first_ns);
		columns_next(&c);
		if (r->arrows) {
			columns_name(&c, name_of(i));
			columns_name(&c, i->track->name);
			columns_name(&c, i->to->name);
			continue;
		}
		columns_name(&c, track_process(i->track)->name);
		columns_name(&c, i->track->name);
		if (r->gaps) {
			columns_name(&c, second_of(i));
			columns_name(&c, name_of(i));
		} else {
			columns_name(&c, name_of(i));
			columns_name(&c, second_of(i));
			text_slice(&c.text, fields_of(i)); /* visible text */
			columns_next(&c);
		}
	}
	columns_print(&c, out, width);
	out->failed |= c.text.failed;
	columns_free(&c);
}

static void put_item(struct json_out *o, const struct top *t, const struct item *i)
{
	const struct top_run *const r = t->run;

	json_out_space(o, "\n   ");
	json_out_begin(o, NULL, "{");
	json_out_u64(o, "dur_ns", i->length);
	json_out_u64(o, "ts_ns", i->ts);
	json_out_u64(o, "since_start_ns", i->ts - t->first_ns);
	json_out_u64(o, "offset", i->offset);
	json_out_slice(o, "process", track_process(i->track)->name);
	json_out_slice(o, "track", i->track->name);
	if (r->arrows)
		json_out_slice(o, "to", i->to->name);
	if (r->gaps)
		json_out_slice(o, "after", second_of(i));
	json_out_slice(o, r->gaps ? "before" : "name", name_of(i));
	if (!r->gaps && !r->arrows) {
		json_out_slice(o, "category", second_of(i));
		json_out_begin(o, "args", "{");
		text_slice(o->t, fields_of(i));
		json_out_end(o, "}");
	}
	json_out_end(o, "}");
}

static void put_json(struct text *out, const struct top *t, bool first)
{
	static const char *const keys[] = { "spans", "gaps", "arrows" };
	struct json_out o = { .t = out, .comma = !first };

	json_out_space(&o, "\n ");
	json_out_begin(&o, NULL, "{");
	json_out_string(&o, "path", t->path);
	json_out_space(&o, "\n  ");
	json_out_begin(&o, keys[t->run->gaps ? 1 : t->run->arrows ? 2 : 0], "[");
	for (size_t i = 0; i < t->n; i++)
		put_item(&o, t, &t->heap[i]);
	json_out_end(&o, "]}");
}

static void put_report(struct top_run *run, struct top *t)
{
	struct trace_run *const r = &run->run;

	if (t->n > 0)
		qsort(t->heap, t->n, sizeof *t->heap, longest_first);
	if (run->form == FORM_JSON) {
		put_json(&r->text, t, !r->any);
	} else {
		if (r->any)
			text_char(&r->text, '\n');
		if (r->groups.n > 1) {
			text_visible(&r->text, slice_str(t->path), 0);
			text_char(&r->text, '\n');
		}
		if (t->n > 0)
			put_text(&r->text, t, options_width(&r->options));
		else
			text_printf(&r->text, "  no %s\n",
			            run->gaps     ? "gaps"
			            : run->arrows ? "arrows"
			                          : "spans");
	}
	r->any = true;
	report_out_put(&r->out, &r->text);
}

static void free_top(struct top *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->heap[i].texts);
	for (uint32_t i = 0; i < t->ncovered; i++)
		free(t->covered[i].name);
	free(t->heap);
	free(t->covered);
	free(t->starts);
	free(t->buckets);
	text_free(&t->scratch);
}

static void list_longest(struct trace_slot *slot)
{
	struct top_run *const run = (struct top_run *)slot->run;
	struct trace_run *const r = slot->run;
	struct top *const t = slot->state;
	struct pipeline_job job = trace_slot_job(slot);
	struct pipeline *p;

	*t = (struct top){ .run = run, .path = slot->path, .first_ns = UINT64_MAX };
	job.read.interpret = INTERPRET_SPANS;
	job.read.want = WANT_TIMES | WANT_FIELDS | WANT_ORDER;
	job.adjust.max_repeat = run->max_repeat;
	job.choice.keeps = true; /* times are from the start of the trace */
	job.arrange.order = run->gaps ? ORDER_TIME : ORDER_FILE;
	const bool read = pipeline_open(&p, &job) && read_events(t, p);
	pipeline_end(p);
	trace_slot_turn(slot);
	if (read && slot->is_read)
		put_report(run, t);
	if (!r->options.quiet)
		say_losses(slot->path, pipeline_report(p).cut, false);
	r->status = worse(r->status, say_selected(&r->options, slot->path, pipeline_report(p).found));
	free_top(t);
	pipeline_close(p);
}

/* ---- the command ---- */

static const struct cmd_option own[] = {
	{ "limit", "N", "list N of each trace (default: 10)", 'n', TO_POSITIVE(struct top_run, n) },
	{ "gaps", NULL, "list gaps: time of a thread between spans", 0, TO_FLAG(struct top_run, gaps) },
	{ "arrows", NULL, "list arrows: from a cause to its effect", 0, TO_FLAG(struct top_run, arrows) },
	{ "fields", "NAME,...", "show these fields (default: those with text)", 0,
	  TO_TEXT(struct top_run, words) },
	{ "format", "text|json", "the report's form (default: text)", 0, TO_CHOICE(struct top_run, form) },
	{ "threads", "N", "read N traces at a time (default: one per core)", 0,
	  TO_NUMBER(struct top_run, threads) },
	{ "max-repeat", "N", "limit repeated texts and lists to N times the input size (default: 32)", 0,
	  TO_POSITIVE(struct top_run, max_repeat) },
	{ .name = NULL },
};

static bool check(struct top_run *t)
{
	struct options *const o = &t->run.options;

	if (t->gaps && t->arrows)
		o->status = options_mistake(o, "--gaps and --arrows exclude each other");
	else if (t->words != NULL && (t->gaps || t->arrows))
		o->status = options_mistake(o, "--fields is for spans");
	else if (t->n > TOP_MAX)
		o->status = options_mistake(o, "--limit is at most %d", TOP_MAX);
	else
		return true;
	return false;
}

static bool parse_fields(struct top_run *t)
{
	struct options *const o = &t->run.options;

	for (const char *p = t->words; p != NULL;) {
		const size_t n = strcspn(p, ",");
		if (t->nfields == MAX_FIELDS || n == 0) {
			o->status = options_mistake(
			    o, "--fields takes 1 to %d names with commas between them", MAX_FIELDS);
			return false;
		}
		t->fields[t->nfields++] = slice_of(p, n);
		p = p[n] == ',' ? p + n + 1 : NULL;
	}
	return true;
}

static enum exit_status cmd_top(const struct command *cmd, int argc, char **argv)
{
	struct top_run t = { .n = TOP_DEFAULT };
	struct trace_run *const r = &t.run;

	options_init(&r->options, cmd, argc, argv);
	if (options_parse(&r->options, &t) && check(&t) && parse_fields(&t) &&
	    traces_begin(r, t.form == FORM_JSON))
		traces_each(r, t.threads, sizeof(struct top), list_longest);
	return traces_end(r);
}

const struct command top_command = {
	.name = "top",
	.operands = "[options] IN ...",
	.summary = "Lists the longest single spans, gaps or arrows.",
	.options = own,
	.reads = true,
	.writes = true,
	.selects = true,
	.tables = true,
	.run = cmd_top,
};
