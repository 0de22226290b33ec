#include "ndjson/test/agree_test.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/cli_test_util.h"
#include "model/event_traits.h"
#include "format/registry.h"
#include "test/fuzz/strict_json.h"
#include "run/pipeline.h"
#include "test/support/strength.h"

/* Shows the current line with the fault. */
#define MUST(condition, ...)                                                                                 \
	do                                                                                                   \
		if (!(condition)) {                                                                          \
			char why[512];                                                                       \
			snprintf(why, sizeof why, __VA_ARGS__);                                              \
			cr_assert_fail("%s: %s: %.*s", g->what, why, line.n < 3000 ? (int)line.n : 3000,     \
			               line.p);                                                              \
		}                                                                                            \
	while (0)

static const char *const type_words[] = {
	[VALUE_NONE] = "none",   [VALUE_BOOL] = "bool",       [VALUE_U8] = "u8",
	[VALUE_U16] = "u16",     [VALUE_U32] = "u32",         [VALUE_U64] = "u64",
	[VALUE_I8] = "i8",       [VALUE_I16] = "i16",         [VALUE_I32] = "i32",
	[VALUE_I64] = "i64",     [VALUE_F32] = "f32",         [VALUE_F64] = "f64",
	[VALUE_LIST] = "list",   [VALUE_ADDRESS] = "address", [VALUE_STRING] = "string",
	[VALUE_BYTES] = "bytes", [VALUE_MAP] = "map",         [VALUE_JSON] = "json",
};

static const struct writer_ops *ops(void)
{
	return format_by_name("ndjson")->writer;
}

/* ---- values ---- */

static bool same_value(const struct value *v, const struct oracle_value *o)
{
	const uint64_t all = v->type == VALUE_MAP ? 2 * (uint64_t)v->count : v->count;

	if (strcmp(type_words[v->type], o->type) != 0)
		return false;
	switch ((enum value_type)v->type) {
	case VALUE_NONE:
		return true;
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_JSON:
		return slice_equal(value_text(v), o->text);
	case VALUE_LIST:
		if ((o->element == NULL) != (v->element == VALUE_NONE) ||
		    (o->element != NULL && strcmp(o->element, type_words[v->element]) != 0))
			return false;
		/* fall through */
	case VALUE_MAP:
		if (o->n != v->count)
			return false;
		for (uint64_t i = 0; i < all; i++)
			if (!same_value(&v->values[i], &o->values[i]))
				return false;
		return true;
	default:
		return v->u64 == o->bits;
	}
}

static void expect_fields(struct agree *g, struct slice line, const struct oracle_json *json,
                          const struct oracle_json *cls, const struct field *f, uint32_t n)
{
	struct oracle_field *got;
	uint32_t ngot;
	const char *const fault = oracle_fields(&g->arena, json, cls, &got, &ngot);

	MUST(fault == NULL, "%s", fault);
	MUST(ngot == n, "%" PRIu32 " fields, not %" PRIu32, ngot, n);
	for (uint32_t i = 0; i < n; i++) {
		MUST(slice_equal(f[i].name, got[i].name), "field %" PRIu32 " has another name", i);
		MUST(same_value(&f[i].value, &got[i].value), "field %" PRIu32 " (%s) is another %s", i,
		     type_words[f[i].value.type], got[i].value.type);
	}
}

/* ---- members ---- */

static void expect_text(struct agree *g, struct slice line, const struct oracle_json *json, const char *name,
                        struct slice want)
{
	const struct slice got = oracle_text(&g->arena, json, name);

	MUST(got.p != NULL && slice_equal(got, want), "%s is not \"%.*s\"", name, (int)want.n, want.p);
}

/* Expects the integer, or that the member is absent. */
static void expect_integer(struct agree *g, struct slice line, const struct oracle_json *json,
                           const char *name, bool there, uint64_t want)
{
	const struct oracle_json *const got = oracle_member(json, name);

	MUST((got != NULL) == there, "%s is %s", name, there ? "missing" : "there");
	MUST(!there || (got->form == ORACLE_NUMBER && oracle_integer(json, name, ~want) == want),
	     "%s is not %" PRIu64, name, want);
}

static void expect_flag(struct agree *g, struct slice line, const struct oracle_json *json, const char *name,
                        bool want)
{
	const struct oracle_json *const got = oracle_member(json, name);

	MUST((got != NULL) == want && (!want || (got->form == ORACLE_BOOL && got->truth)), "%s is not %s",
	     name, want ? "true" : "left out");
}

/* ---- lines ---- */

static void expect_track(struct agree *g, struct slice line, const struct oracle_json *json)
{
	const struct track *const k = g->ntracks < g->trace->ntracks ? g->trace->tracks[g->ntracks] : NULL;

	MUST(k != NULL, "one track too many");
	expect_integer(g, line, json, "index", true, g->ntracks++);
	expect_text(g, line, json, "kind", slice_str(k->kind == TRACK_PROCESS ? "process" : "thread"));
	expect_text(g, line, json, "name", k->name);
	expect_integer(g, line, json, "id", k->has_id, k->id);
	expect_integer(g, line, json, "parent", k->parent != NULL, k->parent != NULL ? k->parent->index : 0);
	expect_integer(g, line, json, "lane", k->lane > 0, k->lane);
	expect_flag(g, line, json, "child", k->is_child);
}

static void expect_class(struct agree *g, struct slice line, const struct oracle_json *json)
{
	const uint64_t index = oracle_integer(json, "index", UINT64_MAX);

	MUST(index < g->trace->nplanned, "no such class");
	const struct class *const c = g->trace->planned[index];
	const struct oracle_json *const fields = oracle_member(json, "fields");
	expect_text(g, line, json, "name", c->name);
	expect_text(g, line, json, "category", c->category);
	MUST((fields != NULL ? fields->n : 0) == c->nfields, "other fields");
	for (uint32_t i = 0; i < c->nfields; i++) {
		const struct class_field *const f = &c->fields[i];
		const struct oracle_json *const o = &fields->items[i];
		expect_text(g, line, o, "name", f->name);
		expect_text(g, line, o, "type", f->type);
		if (f->value != VALUE_NONE)
			expect_text(g, line, o, "value", slice_str(type_words[f->value]));
		else
			MUST(oracle_member(o, "value") == NULL, "a type that is not known");
		expect_integer(g, line, o, "size", f->size > 0, f->size);
		if (f->unit != NULL)
			expect_text(g, line, o, "unit", slice_str(f->unit));
	}
}

static const struct track *numbered(const struct track *k, enum track_kind kind)
{
	while (k != NULL && !(k->kind == kind && k->has_id))
		k = k->parent;
	return k;
}

static void expect_place(struct agree *g, struct slice line, const struct oracle_json *json,
                         const struct event *e)
{
	const struct track *const process = numbered(e->track, TRACK_PROCESS);
	const struct track *const thread = numbered(e->track, TRACK_THREAD);

	expect_integer(g, line, json, "track_index", e->track != NULL,
	               e->track != NULL ? e->track->index : 0);
	expect_integer(g, line, json, "pid", process != NULL, process != NULL ? process->id : 0);
	expect_integer(g, line, json, "tid", thread != NULL, thread != NULL ? thread->id : 0);
	expect_integer(g, line, json, "offset", true, e->offset);
}

static void expect_event(struct agree *g, struct slice line, const struct oracle_json *json,
                         const struct batch *b, const struct event *e)
{
	static const char *const words[] = {
		[PHASE_SPAN] = "span",       [PHASE_BEGIN] = "begin",         [PHASE_END] = "end",
		[PHASE_INSTANT] = "instant", [PHASE_COUNTER] = "counter",     [PHASE_FLOW_OUT] = "flow_out",
		[PHASE_FLOW_IN] = "flow_in", [PHASE_STRUCTURE] = "structure",
	};
	const bool flow = e->phase == PHASE_FLOW_OUT || e->phase == PHASE_FLOW_IN;

	expect_text(g, line, json, "kind",
	            slice_str(event_is_async(e)  ? "async"
	                      : event_is_step(e) ? "flow_step"
	                                         : words[e->phase]));
	MUST(oracle_member(json, "type") == NULL, "an event with a type");
	expect_integer(g, line, json, "ts_ns", true, e->ts);
	MUST(g->run.signed_time || oracle_member(json, "ts_ns")->raw.p[0] != '-', "a time below 0");
	expect_integer(g, line, json, "dur_ns",
	               e->phase == PHASE_SPAN || (!flow && (e->flags & EVENT_ARROW) == 0 && e->dur > 0),
	               e->dur);
	expect_integer(g, line, json, "id", flow, e->dur);
	expect_text(g, line, json, "name", e->name);
	expect_text(g, line, json, "category", e->cls->category);
	expect_integer(g, line, json, "class_index", true, e->cls->index);
	expect_place(g, line, json, e);
	expect_flag(g, line, json, "async", (e->flags & EVENT_ASYNC) != 0 && e->phase != PHASE_SPAN);
	expect_flag(g, line, json, "big_endian", (e->flags & EVENT_BIG) != 0);
	MUST(e->cls->index < g->nclasses, "its class has no line");
	expect_fields(g, line, json, g->classes[e->cls->index], b->fields + e->first_field, e->nfields);
}

/* ---- runs of lines ---- */

/* Parses the line at *at and advances *at to the next. */
static struct slice next_line(struct agree *g, size_t *at, struct arena *a, struct oracle_json *json)
{
	const struct text *const t = &g->chunk.text;
	struct slice line = slice_of("", 0);
	size_t fault_at = 0;

	MUST(!t->failed && *at < t->n, "a line is missing");
	const char *const p = t->p + *at, *const end = memchr(p, '\n', t->n - *at);
	MUST(end != NULL, "a line without its end");
	line = slice_of(p, (size_t)(end - p));
	*at += line.n + 1;
	const char *const fault = g->deep ? NULL : strict_json_fault(line.p, line.n, &fault_at);
	MUST(fault == NULL, "byte %zu: %s", fault_at, fault);
	const char *const other = oracle_parse(a, line, json);
	MUST(other == NULL && json->form == ORACLE_OBJECT, "%s", other != NULL ? other : "no object");
	return line;
}

static void take_class(struct agree *g, size_t *at)
{
	struct oracle_json *const json = arena_alloc(&g->lasting, sizeof *json);
	const struct slice line = next_line(g, at, &g->lasting, json);
	const uint64_t index = oracle_integer(json, "index", UINT64_MAX);

	expect_text(g, line, json, "type", slice_str("class"));
	expect_class(g, line, json);
	MUST(index == g->nclasses, "classes do not come in order");
	cr_assert(array_reserve(&g->classes, g->nclasses, &g->classes_cap, sizeof *g->classes));
	g->classes[g->nclasses++] = json;
}

static void keep_lines(struct agree *g)
{
	if (g->keep != NULL)
		text_add(g->keep, g->chunk.text.p, g->chunk.text.n);
	ledger_merge(&g->total, &g->chunk.ledger);
	chunk_clear(&g->chunk);
}

void agree_begin(struct agree *g, const char *what, struct run_facts run, struct text *keep)
{
	struct oracle_json json;
	size_t at = 0;

	*g = (struct agree){ .what = what, .trace = run.trace, .run = run, .keep = keep };
	g->writer.run = &g->run;
	g->run.tool = "test 1";
	g->writer.state = calloc(1, ops()->state_size);
	cr_assert(g->writer.state != NULL && ops()->open(&g->writer, &g->chunk));
	const struct slice line = next_line(g, &at, &g->arena, &json);
	expect_text(g, line, &json, "type", slice_str("trace"));
	expect_integer(g, line, &json, "version", true, 1);
	expect_text(g, line, &json, "tool", slice_str("test 1"));
	expect_text(g, line, &json, "mode", slice_str(g->run.raw ? "raw" : "interpreted"));
	expect_text(g, line, &json, "format", slice_str(run.trace->format));
	MUST(at == g->chunk.text.n, "more than one line");
	keep_lines(g);
}

/* Expects the same bytes for any size of batch. */
static void expect_same_alone(struct agree *g, const struct batch *b)
{
	struct batch part = *b;

	chunk_clear(&g->alone);
	part.n = 0;
	ops()->render(g->writer.state, &part, &g->alone);
	part.ntracks = part.nclasses = 0;
	part.n = 1;
	for (uint32_t i = 0; i < b->n; i++) {
		part.events = b->events + i;
		ops()->render(g->writer.state, &part, &g->alone);
	}
	cr_assert(slice_equal(slice_of(g->chunk.text.p, g->chunk.text.n),
	                      slice_of(g->alone.text.p, g->alone.text.n)),
	          "%s: other bytes where events are rendered one by one", g->what);
}

void agree_batch(struct agree *g, const struct batch *b)
{
	struct slice line = slice_of("", 0);
	struct oracle_json json;
	size_t at = 0;

	cr_assert(ops()->declare(&g->writer, b, &g->chunk));
	ops()->render(g->writer.state, b, &g->chunk);
	for (uint32_t i = 0; i < b->ntracks; i++) {
		line = next_line(g, &at, &g->arena, &json);
		expect_text(g, line, &json, "type", slice_str("track"));
		expect_track(g, line, &json);
	}
	for (uint32_t i = 0; i < b->nclasses; i++)
		take_class(g, &at);
	for (uint32_t i = 0; i < b->n; i++) {
		line = next_line(g, &at, &g->arena, &json);
		expect_event(g, line, &json, b, &b->events[i]);
		arena_reset(&g->arena);
		g->events++;
	}
	MUST(at == g->chunk.text.n, "a line too many");
	expect_same_alone(g, b);
	keep_lines(g);
}

static void expect_last(struct agree *g, size_t *at)
{
	const struct trace *const t = g->trace;
	struct oracle_json json;
	const struct slice line = next_line(g, at, &g->arena, &json);

	expect_text(g, line, &json, "type", slice_str("trace_end"));
	expect_integer(g, line, &json, "records", true, t->records);
	expect_integer(g, line, &json, "events", true, t->events);
	expect_text(g, line, &json, "format", slice_str(t->format));
	if (t->dialect[0] != '\0')
		expect_text(g, line, &json, "dialect", slice_str(t->dialect));
	if (t->byte_order != NULL)
		expect_text(g, line, &json, "byte_order", slice_str(t->byte_order));
	expect_text(g, line, &json, "clock", slice_str(t->clock));
	expect_integer(g, line, &json, "epoch_ns", t->epoch_known, t->epoch_ns);
	expect_integer(g, line, &json, "rebased_by_ns", g->run.rebased, (uint64_t)g->run.rebased_by);
	const struct oracle_json *const losses = oracle_member(&json, "losses");
	MUST(losses != NULL && losses->form == ORACLE_OBJECT && losses->n == g->total.n, "other losses");
	expect_fields(g, line, &json, NULL, t->meta, t->nmeta);
	MUST(*at == g->chunk.text.n, "something behind the last line");
}

void agree_end(struct agree *g)
{
	size_t at = 0;

	g->run.total = &g->total;
	cr_assert(ops()->close(&g->writer, &g->chunk));
	while (at + 16 < g->chunk.text.n && memcmp(g->chunk.text.p + at, "{\"type\":\"class\"", 15) == 0)
		take_class(g, &at);
	expect_last(g, &at);
	keep_lines(g);
	cr_assert_eq(g->total.n, 0, "%s: something was lost", g->what);
	cr_assert_eq(g->ntracks, g->trace->ntracks, "%s: tracks without a line", g->what);
	for (uint32_t i = 0; i < g->trace->nclasses; i++)
		g->trace->classes[i]->declared = NULL;
	ops()->free(g->writer.state);
	free(g->writer.state);
	chunk_free(&g->chunk);
	chunk_free(&g->alone);
	arena_free(&g->arena);
	arena_free(&g->lasting);
	ledger_free(&g->total);
	free(g->classes);
}

/* ---- inputs ---- */

void agree_input(const char *path, bool raw, struct text *keep)
{
	const struct pipeline_job job = {
		.in.paths = &path,
		.in.npaths = 1,
		.read.want = WANT_TIMES | WANT_ORDER | ops()->want,
		.read.interpret = INTERPRET_SPANS,
		.read.as = raw ? READ_FIELDS : READ_MEANING,
	};
	enum stage_status status;
	struct pipeline *p;
	struct agree g;
	struct batch *b;
	bool begun = false;

	cr_assert(pipeline_open(&p, &job));
	while ((status = pipeline_next(p, &b)) == STAGE_MORE) {
		if (!begun)
			agree_begin(&g, path, (struct run_facts){ .trace = pipeline_trace(p), .raw = raw },
			            keep);
		begun = true;
		agree_batch(&g, b);
		batch_release(b);
	}
	pipeline_end(p);
	if (begun)
		agree_end(&g);
	pipeline_close(p);
}

static void each_of_folder(const char *folder, void (*each)(const char *path, void *ctx), void *ctx)
{
	char **const names = list_folder(folder, "");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		const size_t n = strlen(names[i]);
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		if (names[i][0] != '.' && (n < 7 || strcmp(names[i] + n - 7, ".expect") != 0) &&
		    strength_takes(path, 5))
			each(path, ctx);
	}
	list_free(names);
}

void agree_samples(void (*each)(const char *path, void *ctx), void *ctx)
{
	char folder[512];

	for (const struct format *const *f = formats; *f != NULL; f++) {
		if ((*f)->reader == NULL || (*f)->writer == ops())
			continue; /* again_test.c covers NDJSON as input */
		snprintf(folder, sizeof folder, "testdata/%s/good", (*f)->name);
		each_of_folder(folder, each, ctx);
		snprintf(folder, sizeof folder, "testdata/%s/bad", (*f)->name);
		each_of_folder(folder, each, ctx);
		snprintf(folder, sizeof folder, "testdata/fuzz/%s", (*f)->name);
		each_of_folder(folder, each, ctx);
	}
}
