/* Meaning of events that the real traces lack. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "dial9/test/build.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const struct d9_field_desc by_id[] = { { "worker_id", D9T_VARINT },
	                                      { "span_id", D9T_VARINT },
	                                      { "span_name", D9T_STRING } };
static const struct d9_field_desc by_instance[] = { { "tid", D9T_U32 }, { "span_instance_id", D9T_VARINT } };
static const struct d9_field_desc sample[] = { { "worker_id", D9T_VARINT }, { "tid", D9T_U32 } };

/* Runs a command on the trace, down a pipe. */
static struct ran run(struct d9_build *b, const char *command)
{
	const bool converts = strcmp(command, "convert") == 0;
	struct ran r =
	    run_tool(converts ? (const char *const[]){ "convert", "--to", "chrome", "-", "-", NULL }
	                      : (const char *const[]){ command, "-", NULL },
	             b->p, b->n);

	d9b_free(b);
	return r;
}

static void expect(const struct ran *r, const char *text)
{
	cr_expect_not_null(strstr(r->out, text), "%s\nis not in\n%s%s", text, r->out, r->err);
}

static void put_span(struct d9_build *b, uint16_t schema, uint64_t ts, uint64_t worker, uint64_t id)
{
	d9b_event(b, schema, ts);
	d9b_varint(b, worker);
	d9b_varint(b, id);
	d9b_text32(b, "load");
}

Test(dial9_meaning, spans_of_types_of_the_program)
{
	static const char *const names[] = { "SpanEnter__Disk", "SpanExit__Disk", "SpanEnter__Net",
		                             "SpanExit__Net", "SpanClose__Net" };
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	for (uint16_t i = 0; i < COUNT(names); i++)
		d9b_schema(&b, i, names[i], true, by_id, COUNT(by_id));
	put_span(&b, 0, 1000, 1, 7);
	put_span(&b, 2, 2000, 1, 8);
	put_span(&b, 3, 3000, 1, 8);
	put_span(&b, 1, 5000, 1, 7);
	put_span(&b, 4, 6000, 1, 8);
	struct ran r = run(&b, "convert");
	expect(&r, "{\"name\":\"load\",\"cat\":\"Disk\",\"ph\":\"X\",\"ts\":1.000,\"dur\":4.000,");
	expect(&r, "{\"name\":\"load\",\"cat\":\"Net\",\"ph\":\"X\",\"ts\":2.000,\"dur\":1.000,");
	expect(&r, "{\"name\":\"span closed\",\"cat\":\"span\",\"ph\":\"i\"");
	expect(&r, "\"span_name\":\"load\",\"type\":\"Net\"}");
	ran_free(&r);
}

/* span_instance_id counts before span_id, and a thread where there is no worker. */
Test(dial9_meaning, spans_on_threads)
{
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 0, "SpanEnter:my_crate::io::read all:src/io.rs:7", true, by_instance,
	           COUNT(by_instance));
	d9b_schema(&b, 1, "SpanExit:my_crate::io::read all:src/io.rs:7", true, by_instance,
	           COUNT(by_instance));
	for (uint16_t i = 0; i < 2; i++)
		for (uint32_t tid = 40; tid < 42; tid++) {
			d9b_event(&b, i, 1000 * (i + 1U) + tid);
			d9b_u32(&b, tid);
			d9b_varint(&b, tid + 100);
		}
	struct ran r = run(&b, "convert");
	expect(&r, "{\"name\":\"read all\",\"cat\":\"my_crate::io\",\"ph\":\"X\",\"ts\":1.040,\"dur\":1.000,"
	           "\"pid\":4194305,\"tid\":40,\"args\":{\"tid\":40,\"span_instance_id\":140,\"module\":"
	           "\"my_crate::io\",\"function\":\"read all\",\"file\":\"src/io.rs\",\"line\":7}}");
	expect(&r, "\"ts\":1.041,\"dur\":1.000,\"pid\":4194305,\"tid\":41,");
	ran_free(&r);
}

/* A span without an end lasts to the last time of the trace, which metadata and symbols do not move. */
Test(dial9_meaning, a_span_that_stays_open)
{
	static const struct d9_field_desc entries = { "entries", D9T_STRING_MAP };
	static const struct d9_field_desc symbol[] = { { "address", D9T_VARINT }, { "symbol", D9T_STRING } };
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 0, "SpanEnterEvent", true, by_id, COUNT(by_id));
	d9b_schema(&b, 1, "SegmentMetadataEvent", true, &entries, 1);
	d9b_schema(&b, 2, "CallframeDefEvent", true, symbol, COUNT(symbol));
	d9b_schema(&b, 3, "CpuSampleEvent", true, sample, COUNT(sample));
	d9b_event(&b, 2, 0);
	d9b_varint(&b, 4096);
	d9b_text32(&b, "main");
	put_span(&b, 0, 1000, 0, 7);
	d9b_event(&b, 3, 9000);
	d9b_varint(&b, 3);
	d9b_u32(&b, 40);
	d9b_event(&b, 1, 1774629997592051768);
	d9b_u32(&b, 0);
	struct d9_build copy = { .p = malloc(b.n), .n = b.n };
	cr_assert_not_null(copy.p);
	memcpy(copy.p, b.p, b.n);
	struct ran r = run(&b, "convert");
	expect(&r, "{\"name\":\"load\",\"cat\":\"span\",\"ph\":\"X\",\"ts\":1.000,\"dur\":8.000,");
	expect(&r, "\"unfinished\":true");
	ran_free(&r);
	r = run(&copy, "stats");
	expect(&r, "2 events");
	expect(&r, "time 8.000 us");
	ran_free(&r);
}

static void put_sample(struct d9_build *b, uint16_t schema, uint64_t ts, uint64_t worker, uint32_t tid)
{
	d9b_event(b, schema, ts);
	d9b_varint(b, worker);
	d9b_u32(b, tid);
}

/* A thread's samples are its worker's; 254 and 255 are no workers. */
Test(dial9_meaning, samples_by_thread)
{
	static const struct d9_field_desc wake[] = { { "waker_task_id", D9T_VARINT },
		                                     { "woken_task_id", D9T_VARINT },
		                                     { "target_worker", D9T_U8 } };
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 0, "CpuSampleEvent", true, sample, COUNT(sample));
	d9b_schema(&b, 1, "WorkerUnparkEvent", true, sample, COUNT(sample));
	d9b_schema(&b, 2, "WakeEventEvent", true, wake, COUNT(wake));
	put_sample(&b, 1, 1000, 5, 40);
	put_sample(&b, 0, 2000, 255, 40);
	put_sample(&b, 0, 3000, 254, 41);
	put_sample(&b, 0, 4000, 6, 42);
	put_sample(&b, 0, 5000, 255, 42);
	for (unsigned i = 0; i < 2; i++) {
		d9b_event(&b, 2, 6000 + i);
		d9b_varint(&b, 1);
		d9b_varint(&b, 2);
		d9b_u8(&b, i == 0 ? 5 : 255);
	}
	struct ran r = run(&b, "cat");
	expect(&r, "ts=2000 track=\"worker 5\" name=\"CPU sample\"");
	expect(&r, "ts=3000 track=\"thread 41\" name=\"CPU sample\"");
	expect(&r, "ts=4000 track=\"worker 6\" name=\"CPU sample\"");
	expect(&r, "ts=5000 track=\"worker 6\" name=\"CPU sample\"");
	expect(&r, "ts=6000 track=\"worker 5\" name=wake");
	expect(&r, "ts=6001 track=\"no thread\" name=wake");
	ran_free(&r);
}

/* Expects these words of `stats --tid`. */
static void expect_of_thread(const char *path, const char *tid, int status, const char *words)
{
	expect_ran(run_tool((const char *const[]){ "stats", "--tid", tid, path, NULL }, NULL, 0), status,
	           words);
}

/* A worker's track has its first thread as its number, also where polls precede the event that states it,
 * and when the worker goes on on another thread.  254 and 255 are no workers. */
Test(dial9_meaning, workers_have_their_thread)
{
	static const struct d9_field_desc poll = { "worker_id", D9T_VARINT };
	char *const dir = make_folder(), path[1024];
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 0, "PollStartEvent", true, &poll, 1);
	d9b_schema(&b, 1, "PollEndEvent", true, &poll, 1);
	d9b_schema(&b, 2, "WorkerParkEvent", true, sample, COUNT(sample));
	d9b_schema(&b, 3, "WorkerUnparkEvent", true, sample, COUNT(sample));
	d9b_schema(&b, 4, "CpuSampleEvent", true, sample, COUNT(sample));
	for (uint16_t i = 0; i < 2; i++) {
		d9b_event(&b, i, 1000 + i);
		d9b_varint(&b, 3);
	}
	put_sample(&b, 4, 1500, 255, 46030);
	put_sample(&b, 2, 2000, 3, 46021);
	put_sample(&b, 3, 3000, 3, 46021);
	put_sample(&b, 2, 4000, 3, 46022);
	put_sample(&b, 3, 5000, 3, 46022);
	put_sample(&b, 4, 6000, 7, 46023);
	snprintf(path, sizeof path, "%s/workers.dial9", dir);
	cr_assert(write_whole(path, b.p, b.n));
	expect_of_thread(path, "46021", 0, "3 of 5 events");
	expect_of_thread(path, "46023", 0, "1 of 5 events");
	expect_of_thread(path, "46022", 0, "0 of 5 events");
	struct ran r =
	    run_tool((const char *const[]){ "convert", "--to", "ndjson", path, "-", NULL }, NULL, 0);
	expect(&r, "\"name\":\"worker 3\",\"id\":46021,");
	expect(&r, "\"name\":\"worker 7\",\"id\":46023,");
	expect(&r, "\"name\":\"thread 46030\",\"id\":46030,");
	ran_free(&r);
	/* a pipe is read once */
	r = run_tool((const char *const[]){ "convert", "--to", "ndjson", "-", "-", NULL }, b.p, b.n);
	expect(&r, "\"name\":\"worker 3\",\"parent\"");
	expect(&r, "\"name\":\"worker 7\",\"id\":46023,");
	ran_free(&r);
	d9b_free(&b);
	remove_folder(dir);
}

/* The name of a field of the event is its own. */
Test(dial9_meaning, a_field_of_the_name_of_a_part)
{
	static const struct d9_field_desc fields[] = { { "span_id", D9T_VARINT }, { "line", D9T_STRING } };
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 0, "SpanEnter:a::b:c:1", true, fields, COUNT(fields));
	d9b_event(&b, 0, 1000);
	d9b_varint(&b, 1);
	d9b_text32(&b, "own");
	struct ran r = run(&b, "convert");
	expect(&r, "\"args\":{\"span_id\":1,\"line\":\"own\",\"unfinished\":true,\"module\":\"a\","
	           "\"function\":\"b\",\"file\":\"c\"}}");
	cr_expect_not_null(strstr(r.err, "[fields/parts-left-out]"), "%s", r.err);
	ran_free(&r);
}

Test(dial9_trust, the_format_before_this_one_is_named)
{
	struct ran r = run_tool(
	    (const char *const[]){ "validate", "testdata/dial9/bad/older-format.dial9", NULL }, NULL, 0);

	cr_expect_eq(r.status, 1);
	expect(&r, "TOKIOTRC");
	expect(&r, "release 0.2.0");
	ran_free(&r);
	r = run_tool((const char *const[]){ "convert", "--to", "chrome", "-", "-", NULL }, "TOKIOTRC\6\0\0\0",
	             12);
	cr_expect_eq(r.status, 2);
	cr_expect_not_null(strstr(r.err, "record again"), "%s", r.err);
	ran_free(&r);
	/* the beginning of its magic only */
	r = run_tool((const char *const[]){ "validate", "--from", "dial9", "-", NULL }, "TOKI", 4);
	cr_expect_eq(r.status, 1);
	expect(&r, "dial9/bad-magic");
	ran_free(&r);
}
