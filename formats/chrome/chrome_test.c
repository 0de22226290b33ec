#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "event/batch_pool.h"
#include "event/trace_engine.h"
#include "format/registry.h"
#include "fuzz/strict_json.h"
#include "chrome/chrome_state.h"
#include "event/lane_track_test.h"

/* The writer alone, fed by hand: what no reader gives yet, or seldom. */

struct run {
	struct trace trace;
	const struct format *chrome;
	struct writer writer;
	struct chunk chunk;
	struct ledger total;
	struct batch batch;
	const struct class *cls, *other;
	const struct track *process;
	uint32_t tracks, classes; /* shown so far */
	cJSON *json, *events;
	int at; /* the next event of the output */
};

static void
begin(struct run *r)
{
	*r = (struct run){ .chrome = format_by_name("chrome") };
	trace_init(&r->trace);
	cr_assert(batch_init(&r->batch, 64, false));
	r->cls = trace_add_class(&r->trace, SLICE_LIT("first"));
	r->other = trace_add_class(&r->trace, SLICE_LIT("second \"class\""));
	r->process = trace_add_process(&r->trace, SLICE_LIT("process"));
	r->writer = (struct writer){ .trace = &r->trace, .tool = "test" };
	r->writer.state = calloc(1, r->chrome->writer->state_size);
	cr_assert(r->writer.state != NULL && r->chrome->writer->open(&r->writer, &r->chunk));
}

static const struct track *
thread(struct run *r, uint64_t id, const char *name)
{
	const struct track *const t = trace_add_thread(&r->trace, r->process, id, slice_str(name));

	cr_assert_not_null(t);
	return t;
}

static struct event *
event(struct run *r, enum phase phase, const char *name, const struct track *track, uint64_t ts, uint64_t dur)
{
	struct event *const e = &r->batch.events[r->batch.n++];

	*e = (struct event){ .ts = ts,
		             .dur = dur,
		             .name = slice_str(name),
		             .cls = r->cls,
		             .track = track,
		             .phase = (uint8_t)phase,
		             .first_field = r->batch.nfields,
		             .offset = 100 + r->batch.n };
	return e;
}

/* Adds a field to the event that was made last. */
static void
field(struct run *r, const char *name, struct value v)
{
	struct field *const f = batch_fields(&r->batch, 1);

	cr_assert_not_null(f);
	*f = (struct field){ slice_str(name), v };
	r->batch.nfields++;
	r->batch.events[r->batch.n - 1].nfields++;
}

/* What is new is shown, and the first chunk joined to nothing, as the engine does. */
static void
render(struct run *r)
{
	const struct writer_ops *const ops = r->chrome->writer;
	struct text *const t = &r->chunk.text;
	const size_t start = t->n;

	r->batch.tracks = r->trace.tracks + r->tracks;
	r->batch.ntracks = r->trace.ntracks - r->tracks;
	r->batch.classes = r->trace.classes + r->classes;
	r->batch.nclasses = r->trace.nclasses - r->classes;
	cr_assert(ops->declare(&r->writer, &r->batch));
	ops->render(r->writer.state, &r->batch, &r->chunk);
	if (!r->writer.any && t->n > start) {
		memmove(t->p + start, t->p + start + ops->joint, t->n - start - ops->joint);
		t->n -= ops->joint;
		r->writer.any = true;
	}
	r->tracks = r->trace.ntracks;
	r->classes = r->trace.nclasses;
	batch_recycle(&r->batch);
}

/* Ends the output, which must be strict JSON without a key that comes twice in one object. */
static void
parse(struct run *r)
{
	struct text *const t = &r->chunk.text;
	size_t at = 0;

	render(r);
	ledger_merge(&r->total, &r->chunk.ledger);
	r->writer.total = &r->total;
	cr_assert(r->chrome->writer->close(&r->writer, &r->chunk) && !t->failed);
	text_char(t, '\0'); /* for strstr */
	t->n--;
	const char *const why = strict_json_fault(t->p, t->n, &at);
	cr_assert_null(why, "byte %zu: %s in %.*s", at, why, (int)t->n, t->p);
	r->json = cJSON_ParseWithLength(t->p, t->n);
	r->events = cJSON_GetObjectItemCaseSensitive(r->json, "traceEvents");
	cr_assert(cJSON_IsArray(r->events));
}

static void
finish(struct run *r)
{
	cJSON_Delete(r->json);
	r->chrome->writer->free(r->writer.state);
	free(r->writer.state);
	text_free(&r->chunk.text);
	batch_free(&r->batch);
	trace_free(&r->trace);
}

static const char *
text_of(const cJSON *o, const char *name)
{
	const cJSON *const v = cJSON_GetObjectItemCaseSensitive(o, name);

	return cJSON_IsString(v) ? v->valuestring : "";
}

static double
number_of(const cJSON *o, const char *name)
{
	const cJSON *const v = cJSON_GetObjectItemCaseSensitive(o, name);

	return cJSON_IsNumber(v) ? v->valuedouble : -1;
}

/* The next event of the output that is no metadata. */
static const cJSON *
next(struct run *r)
{
	const cJSON *e;

	do
		e = cJSON_GetArrayItem(r->events, r->at++);
	while (e != NULL && strcmp(text_of(e, "ph"), "M") == 0);
	cr_assert_not_null(e);
	return e;
}

static const cJSON *
args_of(const cJSON *e)
{
	const cJSON *const args = cJSON_GetObjectItemCaseSensitive(e, "args");

	for (const cJSON *x = args != NULL ? args->child : NULL; x != NULL; x = x->next)
		for (const cJSON *y = x->next; y != NULL; y = y->next)
			cr_assert_str_neq(x->string, y->string);
	return args;
}

static uint64_t
loss_of(const struct run *r, const char *id)
{
	for (size_t i = 0; i < r->total.n; i++)
		if (strcmp(r->total.rows[i].loss->id, id) == 0)
			return r->total.rows[i].count;
	return 0;
}

/* ---- spans that overlap at will ---- */

Test(chrome, async_spans_are_pairs_of_lines)
{
	struct run r;

	begin(&r);
	const struct track *const a = thread(&r, 7, "a"), *const b = thread(&r, 8, "b");
	event(&r, PHASE_SPAN, "task \"1\"", a, 1001, 5000)->flags = EVENT_ASYNC;
	field(&r, "n", value_u64(3));
	event(&r, PHASE_SPAN, "task \"1\"", b, 1002, 7000)->flags = EVENT_ASYNC;
	r.batch.events[1].offset = r.batch.events[0].offset; /* as in two files of one folder */
	event(&r, PHASE_SPAN, "task \"1\"", b, 1003, 9000)->flags = EVENT_ASYNC;
	parse(&r);
	char ids[3][32];
	for (int i = 0; i < 3; i++) {
		const cJSON *const from = next(&r), *const to = next(&r);
		cr_assert_str_eq(text_of(from, "ph"), "b");
		cr_assert_str_eq(text_of(to, "ph"), "e");
		cr_assert_str_eq(text_of(from, "name"), "task \"1\"");
		cr_assert_str_eq(text_of(to, "name"), "task \"1\"");
		cr_assert_str_eq(text_of(from, "cat"), "first");
		cr_assert_str_eq(text_of(to, "cat"), "first");
		const char *const id = text_of(cJSON_GetObjectItemCaseSensitive(from, "id2"), "local");
		cr_assert_str_eq(id, text_of(cJSON_GetObjectItemCaseSensitive(to, "id2"), "local"));
		cr_assert_eq(number_of(from, "tid"), i == 0 ? 7 : 8);
		cr_assert_eq(number_of(to, "tid"), i == 0 ? 7 : 8);
		cr_assert_eq(number_of(from, "pid"), number_of(to, "pid"));
		cr_assert_float_eq(number_of(from, "ts"), 1.001 + i / 1000.0, 1e-9);
		cr_assert_float_eq(number_of(to, "ts"), 6.001 + i * 2.001, 1e-9);
		cr_assert_eq(number_of(from, "dur"), -1);
		cr_assert_eq(number_of(args_of(from), "n"), i == 0 ? 3 : -1);
		cr_assert_null(args_of(to));
		snprintf(ids[i], sizeof ids[i], "%s", id);
		cr_assert_eq(strncmp(ids[i], "0x", 2), 0);
	}
	cr_assert(strcmp(ids[0], ids[1]) != 0 && strcmp(ids[1], ids[2]) != 0 && strcmp(ids[0], ids[2]) != 0);
	cr_assert_eq(r.total.n, 0);
	finish(&r);
}

/* The digits are exact; an end that a double cannot hold is counted, one behind the last time there is is the
 * last. */
Test(chrome, ends_of_async_spans)
{
	struct run r;

	begin(&r);
	const struct track *const a = thread(&r, 7, "a");
	event(&r, PHASE_SPAN, "x", a, 5, ((UINT64_C(1000) << 52) | 1) - 5)->flags = EVENT_ASYNC;
	event(&r, PHASE_SPAN, "x", a, UINT64_MAX - 10, 11)->flags = EVENT_ASYNC;
	event(&r, PHASE_SPAN, "x", a, UINT64_MAX - 10, 10)->flags = EVENT_ASYNC;
	parse(&r);
	cr_assert_eq(loss_of(&r, "chrome/time-rounded"), 3);
	cr_assert_not_null(strstr(r.chunk.text.p, "\"ts\":4503599627370496.001,"));
	cr_assert_not_null(strstr(r.chunk.text.p, "\"ts\":18446744073709551.615,"));
	cr_assert_null(strstr(r.chunk.text.p, "\"ts\":0.000,"));
	finish(&r);
}

Test(chrome, ends_of_async_spans_before_the_first_time)
{
	struct run r;

	begin(&r);
	r.writer.rebased = r.writer.signed_time = true;
	text_clear(&r.chunk.text);
	cr_assert(r.chrome->writer->open(&r.writer, &r.chunk));
	const struct track *const a = thread(&r, 7, "a");
	event(&r, PHASE_SPAN, "x", a, -(uint64_t)3000, 1000)->flags = EVENT_ASYNC;
	event(&r, PHASE_SPAN, "x", a, -(uint64_t)3000, 5000)->flags = EVENT_ASYNC;
	event(&r, PHASE_SPAN, "x", a, 1, UINT64_MAX)->flags = EVENT_ASYNC;
	parse(&r);
	next(&r);
	cr_assert_eq(number_of(next(&r), "ts"), -2);
	next(&r);
	cr_assert_eq(number_of(next(&r), "ts"), 2);
	cr_assert_not_null(strstr(r.chunk.text.p, "\"ts\":9223372036854775.807,"));
	cr_assert_eq(loss_of(&r, "chrome/time-rounded"), 1);
	finish(&r);
}

/* ---- arrows ---- */

Test(chrome, both_ends_of_an_arrow_agree)
{
	struct run r;

	begin(&r);
	const struct track *const a = thread(&r, 7, "a");
	event(&r, PHASE_FLOW_OUT, "wake", a, 1000, UINT64_MAX);
	event(&r, PHASE_FLOW_IN, "wake", a, 2000, UINT64_MAX)->cls = r.other;
	parse(&r);
	const cJSON *const s = next(&r), *const f = next(&r);
	cr_assert_str_eq(text_of(s, "ph"), "s");
	cr_assert_str_eq(text_of(f, "ph"), "f");
	cr_assert_str_eq(text_of(f, "bp"), "e");
	cr_assert_str_eq(text_of(s, "id"), "0xffffffffffffffff");
	cr_assert_str_eq(text_of(f, "id"), "0xffffffffffffffff");
	cr_assert_str_eq(text_of(s, "cat"), "flow");
	cr_assert_str_eq(text_of(f, "cat"), "flow");
	cr_assert_str_eq(text_of(f, "name"), "wake");
	finish(&r);
}

/* ---- instants, counters, args ---- */

Test(chrome, series_of_counters_are_numbers)
{
	struct run r;

	begin(&r);
	event(&r, PHASE_COUNTER, "queues", thread(&r, 7, "a"), 1000, 0);
	field(&r, "text", value_string(SLICE_LIT("no number")));
	field(&r, "large", value_u64(UINT64_MAX));
	field(&r, "low", (struct value){ .type = VALUE_I64, .i64 = INT64_MIN });
	field(&r, "nan", (struct value){ .type = VALUE_F64, .f64 = strtod("nan", NULL) });
	field(&r, "half \"x\"", (struct value){ .type = VALUE_F32, .f64 = 0.5 });
	field(&r, "on", (struct value){ .type = VALUE_BOOL, .u64 = 1 });
	field(&r, "where", (struct value){ .type = VALUE_ADDRESS, .u64 = 1 });
	event(&r, PHASE_COUNTER, "nothing", thread(&r, 8, "b"), 1000, 0);
	field(&r, "text", value_string(SLICE_LIT("no number")));
	event(&r, PHASE_COUNTER, "no field", thread(&r, 8, "b"), 1000, 0);
	parse(&r);
	const cJSON *const c = next(&r), *const args = args_of(c);
	cr_assert_str_eq(text_of(c, "ph"), "C");
	cr_assert_eq(cJSON_GetArraySize(args), 4);
	for (const cJSON *x = args->child; x != NULL; x = x->next)
		cr_assert(cJSON_IsNumber(x));
	cr_assert_eq(number_of(args, "on"), 1);
	cr_assert_float_eq(number_of(args, "half \"x\""), 0.5, 0);
	cr_assert_not_null(strstr(r.chunk.text.p, ":18446744073709551615,\"low\":-9223372036854775808,"));
	cr_assert_eq(cJSON_GetArraySize(args_of(next(&r))), 0);
	cr_assert_str_eq(text_of(next(&r), "ph"), "i");
	cr_assert_eq(loss_of(&r, "chrome/counter-text"), 4);
	finish(&r);
}

Test(chrome, instants_of_threads_and_of_processes)
{
	struct run r;

	begin(&r);
	event(&r, PHASE_INSTANT, "a", thread(&r, 7, "a"), 1000, 0);
	event(&r, PHASE_INSTANT, "b", r.process, 1000, 0);
	parse(&r);
	cr_assert_str_eq(text_of(next(&r), "s"), "t");
	cr_assert_str_eq(text_of(next(&r), "s"), "p");
	finish(&r);
}

/* Two events of a thread with an odd number; of each the first field numbers it. */
static void
numbered_events(struct run *r, const struct option_value *options)
{
	begin(r);
	r->trace.record_id = "id";
	r->writer.options = options;
	((struct chrome_state *)r->writer.state)->with_ids = options != NULL;
	const struct track *const a = thread(r, UINT64_C(1) << 40, "a");
	event(r, PHASE_SPAN, "a", a, 1000, 10);
	field(r, "id", value_u64(41));
	field(r, "id (2)", value_u64(7));
	event(r, PHASE_SPAN, "a", a, 2000, 10);
	field(r, "id", value_u64(42));
	event(r, PHASE_SPAN, "a", a, 3000, 10);
	field(r, "x", value_u64(3));
	field(r, "id", value_u64(43));
	event(r, PHASE_SPAN, "a", a, 4000, 10);
	field(r, "id", value_string(SLICE_LIT("seven")));
	parse(r);
}

/* So that viewers which go by name and args add up calls. */
Test(chrome, what_numbers_events_is_no_argument)
{
	struct run r;

	numbered_events(&r, NULL);
	const cJSON *e = next(&r);
	cr_expect_eq(cJSON_GetArraySize(args_of(e)), 1);
	cr_expect_eq(number_of(args_of(e), "id (2)"), 7);
	cr_expect_eq(number_of(cJSON_GetObjectItemCaseSensitive(e, "ids"), "id"), 41);
	e = next(&r);
	cr_expect_null(args_of(e));
	cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(e, "ids")), 1);
	e = next(&r); /* it is not the first field: the trace means something else by it */
	cr_expect_eq(number_of(args_of(e), "id"), 43);
	e = next(&r);
	cr_expect_str_eq(text_of(args_of(e), "id"), "seven");
	finish(&r);
}

Test(chrome, ids_of_process_and_thread)
{
	static const struct option_value ids = { "ids", "", NULL };
	struct run r;

	numbered_events(&r, &ids);
	const cJSON *e = next(&r), *own = cJSON_GetObjectItemCaseSensitive(e, "ids");
	cr_expect_eq(cJSON_GetArraySize(args_of(e)), 1);
	cr_expect_eq(cJSON_GetArraySize(own), 2);
	cr_expect_eq(number_of(own, "id"), 41);
	cr_expect_eq(number_of(own, "true_tid"), 1099511627776.0);
	e = next(&r);
	cr_expect_null(args_of(e));
	cr_expect_eq(number_of(cJSON_GetObjectItemCaseSensitive(e, "ids"), "id"), 42);
	e = next(&r);
	own = cJSON_GetObjectItemCaseSensitive(e, "ids");
	cr_expect_eq(cJSON_GetArraySize(own), 1);
	finish(&r);
}

/* ---- tracks ---- */

/* The sort index that the output gives to the track of this name; -1: none. */
static double
sort_of(const struct run *r, const char *name)
{
	double pid = -1, tid = -1, sort = -1;
	const cJSON *e;

	cJSON_ArrayForEach(e, r->events)
	{
		if (strcmp(text_of(e, "name"), "thread_name") == 0 &&
		    strcmp(text_of(args_of(e), "name"), name) == 0) {
			pid = number_of(e, "pid");
			tid = number_of(e, "tid");
		}
		if (strcmp(text_of(e, "name"), "thread_sort_index") == 0 && number_of(e, "pid") == pid &&
		    number_of(e, "tid") == tid)
			sort = number_of(args_of(e), "sort_index");
	}
	return sort;
}

/* Threads by their numbers, each followed by its lanes and what stands below it, in whatever order they come.
 */
Test(chrome, order_of_tracks)
{
	static const char *const order[] = { "process: load",
		                             "process: load (2)",
		                             "b",
		                             "b (2)",
		                             "b: states",
		                             "c",
		                             "a",
		                             "a (2)",
		                             "a (3)",
		                             "a: states",
		                             "a: states (2)",
		                             "a: marks",
		                             "a: marks: deep" };
	struct run r;

	begin(&r);
	const struct track *const a = thread(&r, 7, "a"), *const b = thread(&r, 1, "b");
	const struct track *const states = trace_child_track(&r.trace, a, SLICE_LIT("states"));
	trace_lane(&r.trace, a, 2);
	render(&r);
	trace_lane(&r.trace, b, 1);
	trace_child_track(&r.trace, b, SLICE_LIT("states"));
	thread(&r, 3, "c");
	trace_lane(&r.trace, trace_child_track(&r.trace, r.process, SLICE_LIT("load")), 1);
	const struct track *const marks = trace_child_track(&r.trace, a, SLICE_LIT("marks"));
	render(&r);
	trace_child_track(&r.trace, marks, SLICE_LIT("deep"));
	trace_lane(&r.trace, states, 1);
	trace_lane(&r.trace, a, 1);
	parse(&r);
	for (size_t i = 0; i + 1 < sizeof order / sizeof *order; i++)
		cr_assert(sort_of(&r, order[i]) >= 0 && sort_of(&r, order[i]) < sort_of(&r, order[i + 1]),
		          "%s (%g) before %s (%g)", order[i], sort_of(&r, order[i]), order[i + 1],
		          sort_of(&r, order[i + 1]));
	finish(&r);
}

/* A track below another has a tid that no thread will claim, and no true one. */
Test(chrome, numbers_of_tracks_below)
{
	struct run r;

	begin(&r);
	const struct track *const a = thread(&r, 7, "a"), *const below = trace_child_track(
	                                                      &r.trace, a, SLICE_LIT("states"));
	event(&r, PHASE_SPAN, "running", below, 1000, 10);
	event(&r, PHASE_SPAN, "up", trace_child_track(&r.trace, r.process, SLICE_LIT("life")), 1000, 10);
	event(&r, PHASE_SPAN, "late", trace_lane(&r.trace, below, 1), 1000, 10);
	parse(&r);
	double seen[3];
	for (int i = 0; i < 3; i++) {
		const cJSON *const e = next(&r);
		cr_assert_str_eq(text_of(e, "ph"), "X");
		cr_assert_eq(number_of(e, "pid"), number_of(cJSON_GetArrayItem(r.events, 0), "pid"));
		seen[i] = number_of(e, "tid");
		cr_assert_gt(seen[i], 4194304);
		cr_assert_null(args_of(e));
	}
	cr_assert(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
	finish(&r);
}

/* Those without a number by the number in their name; before those that have one. */
Test(chrome, order_of_names)
{
	static const char *const names[] = { "worker 10", "worker 9", "x", "worker 2", "lane 3", "worker" };
	static const char *const order[] = { "lane 3",    "worker", "worker 2", "worker 9",
		                             "worker 10", "x",      "numbered" };
	struct run r;

	begin(&r);
	thread(&r, 5, "numbered");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct track *const t = trace_add_thread(&r.trace, r.process, 0, slice_str(names[i]));
		cr_assert_not_null(t);
		t->has_id = false;
	}
	parse(&r);
	for (size_t i = 0; i + 1 < sizeof order / sizeof *order; i++)
		cr_assert(sort_of(&r, order[i]) >= 0 && sort_of(&r, order[i]) < sort_of(&r, order[i + 1]),
		          "%s before %s", order[i], order[i + 1]);
	finish(&r);
}

/* Many tracks below one thread still stand before the next thread. */
Test(chrome, many_tracks_below_one)
{
	struct run r;
	char name[32];

	begin(&r);
	const struct track *const a = thread(&r, 7, "a");
	thread(&r, 8, "b");
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "%d", i);
		cr_assert_not_null(trace_child_track(&r.trace, a, slice_str(name)));
	}
	parse(&r);
	cr_assert(sort_of(&r, "a: 0") < sort_of(&r, "a: 1") && sort_of(&r, "a: 1") < sort_of(&r, "a: 62"));
	cr_assert_lt(sort_of(&r, "a: 199"), sort_of(&r, "b"));
	finish(&r);
}
