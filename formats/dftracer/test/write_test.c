/* Events of other formats as DFTracer: single events with their losses, and whole traces of all formats. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "dftracer/test/cli_test_util.h"
#include "dftracer/write/write.h"
#include "format/registry.h"
#include "input/open.h"
#include "input/test/memory_input.h"
#include "output/text_visible.h"
#include "run/write/test/writer_rig_test.h"
#include "test/fuzz/live_batches.h"
#include "test/properties/rows_test.h"

/* ---- MD5: examples of RFC 1321 ---- */

static void expect_md5(const char *text, const char *want)
{
	unsigned char digest[DFT_MD5_SIZE];
	struct text t = { .p = NULL };

	dft_md5(slice_str(text), digest);
	text_hex(&t, (const char *)digest, sizeof digest);
	text_char(&t, '\0');
	cr_expect_str_eq(t.p, want, "%s", text);
	text_free(&t);
}

Test(dftracer_write, md5)
{
	expect_md5("", "d41d8cd98f00b204e9800998ecf8427e");
	expect_md5("message digest", "f96b697d7cb7938d525a2f31aaf161d0");
	expect_md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890",
	           "57edf4a22be3c955ac49da2e2107b67a");
}

/* The host of a trace of September 2024, whose hash was the first two bytes: 5692. */
Test(dftracer_write, md5_is_what_tracers_use)
{
	unsigned char digest[DFT_MD5_SIZE];

	dft_md5(SLICE_LIT("corona173"), digest);
	cr_expect_eq(digest[0] | digest[1] << 8, 5692);
}

/* ---- single events ---- */

struct made {
	void (*events)(struct trace *t, struct batch *b, const struct track *thread, const struct class *cls);
	bool done;
};

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	const struct made *const m = ctx;

	if (number > 0)
		return false;
	struct track *const process = trace_add_process(trace, slice_str("the \"process\""));
	process->has_id = true;
	process->id = 12;
	struct track *const thread = trace_add_thread(trace, process, 7, SLICE_LIT("thread 7"));
	thread->has_id = true;
	m->events(trace, b, thread, trace_add_class(trace, SLICE_LIT("cat")));
	return true;
}

static struct writer_rig run(const char *dialect, void (*events)(struct trace *, struct batch *,
                                                                 const struct track *, const struct class *))
{
	struct made m = { events, false };
	const struct option_value option = { "to-dialect", dialect, NULL };
	const struct writer_rig_job job = {
		.to = format_by_name("dftracer"), .threads = 1, .options = &option, .fill = fill, .ctx = &m
	};
	struct writer_rig r;

	writer_rig_run(&r, &job);
	cr_assert(r.written, "%s", r.finding);
	return r;
}

/* Compares the n-th line, from 0, that is not metadata. */
static void expect_record(const struct writer_rig *r, size_t n, const char *want)
{
	const char *p = writer_rig_text(r, NULL);

	for (; *p != '\0'; p += strcspn(p, "\n"), p += *p == '\n') {
		const size_t length = strcspn(p, "\n");
		char line[2000];
		snprintf(line, sizeof line, "%.*s", (int)length, p);
		if (line[0] != '{' || strstr(line, "\"cat\":\"dftracer\"") != NULL || n-- > 0)
			continue;
		cr_expect_str_eq(line, want);
		return;
	}
	cr_expect_fail("no line for %s", want);
}

static void expect_losses(const struct writer_rig *r, const char *want)
{
	struct text t = { .p = NULL };

	for (size_t i = 0; i < r->losses.n; i++)
		text_printf(&t, "%s%s %" PRIu64, i > 0 ? ", " : "",
		            r->losses.rows[i].loss->id + strlen("dftracer/"), r->losses.rows[i].count);
	text_char(&t, '\0');
	cr_expect_str_eq(t.p, want);
	text_free(&t);
}

static void expect_clean(const struct writer_rig *r)
{
	const char *const p = writer_rig_text(r, NULL);
	struct live_batches l;

	live_batches_read(&l, format_by_name("dftracer"), input_from_memory(p, strlen(p)),
	                  WANT_TIMES | WANT_FIELDS, 64);
	cr_expect(l.findings.levels[LEVEL_ERROR] == 0 && l.findings.levels[LEVEL_WARNING] == 0);
	live_batches_free(&l);
}

/* ---- phases ---- */

static void all_phases(struct trace *t, struct batch *b, const struct track *thread, const struct class *cls)
{
	(void)t;
	writer_rig_event(b, cls, thread, 1500, SLICE_LIT("span"))->phase = PHASE_SPAN;
	b->events[0].dur = 2700;
	writer_rig_event(b, cls, thread, 2000, SLICE_LIT("instant"));
	writer_rig_event(b, cls, thread, 3000, SLICE_LIT("counter"))->phase = PHASE_COUNTER;
	writer_rig_field(b, SLICE_LIT("x"), value_u64(5));
	struct event *const out = writer_rig_event(b, cls, thread, 4000, SLICE_LIT("arrow"));
	out->phase = PHASE_FLOW_OUT;
	out->dur = 99;
	struct event *const late = writer_rig_event(b, cls, thread, UINT64_MAX - 5, SLICE_LIT("late"));
	late->phase = PHASE_SPAN;
	late->dur = 6;
}

Test(dftracer_write, phases_in_d5)
{
	struct writer_rig r = run("d5", all_phases);

	expect_record(&r, 0,
	              "{\"name\":\"span\",\"cat\":\"cat\",\"pid\":12,\"tid\":7,\"ts\":1500,\"dur\":2700,"
	              "\"ph\":1,\"args\":{}}");
	expect_record(&r, 1,
	              "{\"name\":\"instant\",\"cat\":\"cat\",\"pid\":12,\"tid\":7,\"ts\":2000,\"dur\":0,"
	              "\"ph\":1,\"args\":{}}");
	expect_record(&r, 2,
	              "{\"name\":\"counter\",\"cat\":\"cat\",\"ts\":3000,\"ph\":2,\"pid\":12,\"tid\":7,"
	              "\"args\":{\"x\":5}}");
	expect_record(&r, 3,
	              "{\"name\":\"arrow\",\"cat\":\"cat\",\"pid\":12,\"tid\":7,\"ts\":4000,\"dur\":0,\"ph\":"
	              "1,\"args\":{\"arrow_id\":99}}");
	expect_record(&r, 4,
	              "{\"name\":\"late\",\"cat\":\"cat\",\"pid\":12,\"tid\":7,\"ts\":18446744073709551610,"
	              "\"dur\":5,\"ph\":1,\"args\":{}}");
	expect_losses(&r, "instant 1, arrow 1, late-end 1");
	expect_clean(&r);
	writer_rig_free(&r);
}

Test(dftracer_write, phases_in_d3)
{
	struct writer_rig r = run("d3", all_phases);

	/* 1.5 us to 4.2 us; id 1 is that of the process name */
	expect_record(&r, 0,
	              "{\"id\":2,\"name\":\"span\",\"cat\":\"cat\",\"pid\":12,\"tid\":7,\"ts\":1,\"dur\":3,"
	              "\"ph\":\"X\",\"args\":{}}");
	expect_record(&r, 2,
	              "{\"id\":4,\"name\":\"counter\",\"cat\":\"cat\",\"pid\":12,\"tid\":7,\"ts\":3,\"dur\":"
	              "0,\"ph\":\"X\",\"args\":{\"x\":5}}");
	expect_losses(&r, "id-added 5, time-rounded 2, instant 1, counter 1, arrow 1, late-end 1");
	expect_clean(&r);
	writer_rig_free(&r);
}

Test(dftracer_write, phases_in_d1)
{
	struct writer_rig r = run("d1", all_phases);

	expect_record(&r, 0,
	              "{\"id\":\"1\",\"name\":\"span\",\"cat\":\"cat\",\"pid\":\"12\",\"tid\":\"7\",\"ts\":"
	              "\"1\",\"dur\":\"3\",\"ph\":\"X\",\"args\":{}}");
	expect_losses(&r, "no-metadata 1, track-changed 5, id-added 5, time-rounded 2, instant 1, counter 1, "
	                  "arrow 1, late-end 1");
	expect_clean(&r);
	writer_rig_free(&r);
}

/* ---- arguments ---- */

static void odd_arguments(struct trace *t, struct batch *b, const struct track *thread,
                          const struct class *cls)
{
	(void)t;
	writer_rig_event(b, cls, thread, 1000, slice_str("a\"b\n"))->phase = PHASE_SPAN;
	writer_rig_field(b, SLICE_LIT("x"), value_u64(UINT64_MAX));
	writer_rig_field(b, SLICE_LIT("x"), (struct value){ .type = VALUE_I64, .i64 = INT64_MIN });
	writer_rig_field(b, SLICE_LIT("hhash"), value_u64(1));
	writer_rig_field(b, SLICE_LIT("fname"), value_string(slice_str("/a/\xff")));
	writer_rig_field(b, SLICE_LIT("hostname"), value_string(SLICE_LIT("corona173")));
	writer_rig_field(b, SLICE_LIT("nan"), (struct value){ .type = VALUE_F64, .f64 = __builtin_nan("") });
	writer_rig_field(b, SLICE_LIT("json"),
	                 (struct value){ .type = VALUE_JSON, .count = 9, .p = "[1,\n\t{}] " });
	writer_rig_field(b, SLICE_LIT("num_events"), value_u64(77));
	writer_rig_field(b, slice_str("\xff"), value_u64(1)); /* these two are one text without their bytes */
	writer_rig_field(b, slice_str("\xfe"), value_u64(2));
}

Test(dftracer_write, arguments)
{
	struct writer_rig r = run("d5", odd_arguments);

	expect_record(&r, 0,
	              "{\"name\":\"a\\\"b\\n\",\"cat\":\"cat\",\"pid\":12,\"tid\":7,\"ts\":1000,\"dur\":0,"
	              "\"ph\":1,\"args\":{"
	              "\"x\":18446744073709551615,\"x (2)\":-9223372036854775808,\"hhash (2)\":1,"
	              "\"fhash\":\"5a01136b3d98ce01\",\"hhash\":\"3c890076ed15f448\",\"nan\":\"NaN\","
	              "\"json\":[1,  {}] ,\"num_events\":77,\"\xef\xbf\xbd\":1,\"\xef\xbf\xbd (2)\":2}}");
	expect_losses(&r, "track-changed 1, replaced-bytes 3, argument-renamed 3, not-a-number 1");
	expect_clean(&r);
	writer_rig_free(&r);
}

static void many_arguments(struct trace *t, struct batch *b, const struct track *thread,
                           const struct class *cls)
{
	(void)t;
	writer_rig_event(b, cls, thread, 1000, SLICE_LIT("many"))->phase = PHASE_SPAN;
	for (uint32_t i = 0; i < 60000; i++)
		writer_rig_field(b, SLICE_LIT("x"), value_u64(i));
	writer_rig_event(b, cls, thread, 1000, SLICE_LIT("some"))->phase = PHASE_SPAN;
	for (uint32_t i = 0; i < 1000; i++)
		writer_rig_field(b, SLICE_LIT("x"), value_u64(i));
}

static void escaped_names(struct trace *t, struct batch *b, const struct track *thread,
                          const struct class *cls)
{
	(void)t;
	writer_rig_event(b, cls, thread, 1000, SLICE_LIT("escaped"))->phase = PHASE_SPAN;
	writer_rig_field(b, slice_str("a \"b\"\n\\"), value_u64(1));
}

Test(dftracer_write, names_of_arguments_are_read_back)
{
	struct writer_rig r = run("d5", escaped_names);
	const char *const p = writer_rig_text(&r, NULL);
	struct live_batches l;

	live_batches_read(&l, format_by_name("dftracer"), input_from_memory(p, strlen(p)),
	                  WANT_TIMES | WANT_FIELDS, 64);
	cr_assert(l.n == 1 && l.batches[0]->n == 1 && l.batches[0]->events[0].nfields == 1);
	cr_expect(slice_is(l.batches[0]->fields[0].name, "a \"b\"\n\\"));
	live_batches_free(&l);
	writer_rig_free(&r);
}

Test(dftracer_write, many_arguments)
{
	struct writer_rig r = run("d5", many_arguments);

	expect_record(&r, 0,
	              "{\"name\":\"many\",\"cat\":\"cat\",\"pid\":12,\"tid\":7,\"ts\":1000,\"dur\":0,\"ph\":"
	              "1,\"args\":{}}");
	expect_losses(&r, "too-long 1, argument-renamed 999");
	expect_clean(&r);
	writer_rig_free(&r);
}

static char huge[9 << 20];

static void long_texts(struct trace *t, struct batch *b, const struct track *thread, const struct class *cls)
{
	(void)t;
	memset(huge, 'x', sizeof huge);
	writer_rig_event(b, cls, thread, 1000, SLICE_LIT("long"))->phase = PHASE_SPAN;
	writer_rig_field(b, SLICE_LIT("x"), value_string(slice_of(huge, sizeof huge)));
	writer_rig_event(b, cls, thread, 1000, slice_of(huge, 100000))->phase = PHASE_SPAN;
}

Test(dftracer_write, long_texts)
{
	struct writer_rig r = run("d5", long_texts);

	expect_losses(&r, "too-long 1, text-cut 1");
	expect_clean(&r);
	writer_rig_free(&r);
}

static void deep_values(struct trace *t, struct batch *b, const struct track *thread, const struct class *cls)
{
	static struct value lists[61];

	(void)t;
	for (size_t i = 0; i < 60; i++)
		lists[i] = (struct value){ .type = VALUE_LIST, .count = 1, .values = &lists[i + 1] };
	writer_rig_event(b, cls, thread, 1000, SLICE_LIT("deep"))->phase = PHASE_SPAN;
	writer_rig_field(b, SLICE_LIT("x"), lists[0]);
	writer_rig_field(b, SLICE_LIT("y"), lists[59]);
}

Test(dftracer_write, deep_values)
{
	struct writer_rig r = run("d5", deep_values);

	expect_record(&r, 0,
	              "{\"name\":\"deep\",\"cat\":\"cat\",\"pid\":12,\"tid\":7,\"ts\":1000,\"dur\":0,\"ph\":"
	              "1,\"args\":{\"x\":null,\"y\":[null]}}");
	expect_losses(&r, "too-deep 1");
	writer_rig_free(&r);
}

/* ---- processes and threads ---- */

static void same_numbers(struct trace *t, struct batch *b, const struct track *thread,
                         const struct class *cls)
{
	struct track *const other = trace_add_process(t, SLICE_LIT("other"));

	other->has_id = true;
	other->id = 12;
	struct track *const second = trace_add_thread(t, thread->parent, 7, SLICE_LIT("second"));
	second->has_id = true;
	writer_rig_event(b, cls, thread, 1000, SLICE_LIT("a"))->phase = PHASE_SPAN;
	writer_rig_event(b, cls, second, 1000, SLICE_LIT("b"))->phase = PHASE_SPAN;
	struct track *const third = trace_add_thread(t, other, 1, SLICE_LIT("no number"));
	third->has_id = false;
	writer_rig_event(b, cls, third, 1000, SLICE_LIT("c"))->phase = PHASE_SPAN;
}

Test(dftracer_write, numbers_that_two_have)
{
	struct writer_rig r = run("d5", same_numbers);

	expect_record(&r, 1,
	              "{\"name\":\"b\",\"cat\":\"cat\",\"pid\":12,\"tid\":4194305,\"ts\":1000,\"dur\":0,"
	              "\"ph\":1,\"args\":{}}");
	expect_record(&r, 2,
	              "{\"name\":\"c\",\"cat\":\"cat\",\"pid\":4194306,\"tid\":4194307,\"ts\":1000,\"dur\":0,"
	              "\"ph\":1,\"args\":{}}");
	expect_losses(&r, "new-number 2, track-changed 2");
	expect_clean(&r);
	cr_expect_not_null(strstr(writer_rig_text(&r, NULL),
	                          "\"pid\":4194306,\"tid\":4194306,\"ph\":4,\"args\":{\"name\":"
	                          "\"other\",\"value\":\"process_name\"}"));
	writer_rig_free(&r);
}

/* ---- lines of the output ---- */

/* Writes the keys of a record: "name,cat,...". */
static void keys_of(const cJSON *record, char *to, size_t size)
{
	const cJSON *member;
	size_t n = 0;

	to[0] = '\0';
	cJSON_ArrayForEach(member, record) n +=
	    (size_t)snprintf(to + n, n < size ? size - n : 0, "%s%s", n > 0 ? "," : "", member->string);
}

static void expect_keys(const char *path, const char *dialect, const cJSON *record, bool metadata)
{
	static const char *const known[] = {
		"d1 id,name,cat,pid,tid,ts,dur,ph,args",
		"d3 id,name,cat,pid,tid,ts,dur,ph,args",
		"d3 id,name,cat,pid,tid,ph,args",
		"d5 name,cat,pid,tid,ts,dur,ph,args",
		"d5 id,name,cat,pid,tid,ts,dur,ph,args",
		"d5 name,cat,type,pid,tid,ts,dur,ph,args",
		"d5 id,name,cat,type,pid,tid,ts,dur,ph,args",
		"d5 name,cat,ts,ph,pid,tid,args",
		"d5 name,cat,type,ts,ph,pid,tid,args",
		"d5 name,cat,type,pid,tid,ph,args",
	};
	char keys[256] = "";
	bool found = false;

	snprintf(keys, sizeof keys, "%s ", dialect);
	keys_of(record, keys + 3, sizeof keys - 3);
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		found |= strcmp(keys, known[i]) == 0;
	cr_expect(found, "%s: %s", path, keys);
	const cJSON *const ph = cJSON_GetObjectItemCaseSensitive(record, "ph");
	cr_expect_eq(cJSON_IsNumber(ph), strcmp(dialect, "d5") == 0, "%s: ph", path);
	cr_expect_eq(cJSON_IsString(cJSON_GetObjectItemCaseSensitive(record, "pid")),
	             strcmp(dialect, "d1") == 0, "%s: pid", path);
	cr_expect(!metadata || strcmp(dialect, "d1") != 0, "%s: metadata in d1", path);
}

static void read_line(const char *path, const char *dialect, const char *p, size_t n)
{
	const char *end = NULL;
	cJSON *const record = cJSON_ParseWithLengthOpts(p, n, &end, false);

	cr_assert(record != NULL && end == p + n, "%s: %.*s", path, (int)(n < 300 ? n : 300), p);
	const cJSON *const ph = cJSON_GetObjectItemCaseSensitive(record, "ph");
	const bool metadata =
	    cJSON_IsNumber(ph) ? ph->valuedouble == 4 : strcmp(cJSON_GetStringValue(ph), "M") == 0;
	expect_keys(path, dialect, record, metadata);
	cJSON_Delete(record);
}

/* Brackets are on a line of their own: the first in d1 and d3, the last in d3.
 * Each other line is a record. */
static void expect_lines(const char *path, const char *dialect, const char *p, size_t n)
{
	const bool open = strcmp(dialect, "d5") != 0, close = strcmp(dialect, "d3") == 0;
	const char *end = p + n;
	bool no_memory = false;

	cr_expect_eq(format_probe(slice_of(p, n < 65536 ? n : 65536), n <= 65536, &no_memory),
	             format_by_name("dftracer"), "%s: %s is not recognised", path, dialect);
	cr_assert(!open || strncmp(p, "[\n", 2) == 0, "%s", path);
	p += open ? 2 : 0;
	cr_assert(!close || end[-1] == ']', "%s", path);
	end -= close;
	cr_assert(p == end || end[-1] == '\n', "%s", path);
	for (const char *nl; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		read_line(path, dialect, p, (size_t)(nl - p));
	}
}

static void expect_d5(const char *path, const char *p, size_t n)
{
	expect_lines(path, "d5", p, n);
}

static void expect_d3(const char *path, const char *p, size_t n)
{
	expect_lines(path, "d3", p, n);
}

static void expect_d1(const char *path, const char *p, size_t n)
{
	expect_lines(path, "d1", p, n);
}

/* Traces of all formats, written as DFTracer traces. */
Test(dftracer_write, lines_follow_the_dialect)
{
	each_written("dftracer", "d5", expect_d5);
	each_written("dftracer", "d3", expect_d3);
	each_written("dftracer", "d1", expect_d1);
}
