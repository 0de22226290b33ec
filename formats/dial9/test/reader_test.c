/*
 * The reader without the engine: measuring of all pairs of types, lifetime of batches, names of stacks, and
 * call stacks.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "cmd/test/samples_test_util.h"
#include "dial9/dial9.h"
#include "dial9/test/build.h"
#include "dial9/test/oracle.h"
#include "dial9/test/run_test.h"
#include "format/registry.h"
#include "input/open.h"
#include "input/private.h"
#include "input/test/memory_input.h"
#include "model/call_stack.h"
#include "test/fuzz/live_batches.h"
#include "test/support/ids_test.h"

/* ---- pairs of types ---- */

static const unsigned types[] = {
	D9T_I64,   D9T_F64,    D9T_BOOL, D9T_STRING, D9T_BYTES, D9T_POOLED_STACK, D9T_POOLED_STRING,
	D9T_STACK, D9T_VARINT, D9T_U8,   D9T_U16,    D9T_U32,   D9T_STRING_MAP,   D9T_LIST,
};

#define TYPES (sizeof types / sizeof types[0])
#define KINDS (2 * TYPES) /* optional ones too */
#define ROUNDS 6U

static unsigned kind(size_t i)
{
	return types[i % TYPES] | (i % KINDS >= TYPES ? D9T_OPTIONAL : 0);
}

/* The three fields of the i-th schema: all pairs of kinds come first and second. */
static void fields_of(size_t i, struct d9_field_desc *f)
{
	f[0] = (struct d9_field_desc){ "a", kind(i / KINDS) };
	f[1] = (struct d9_field_desc){ "b", kind(i) };
	f[2] = (struct d9_field_desc){ "c", kind(i / KINDS + i) };
}

/* Content of the fields of one trace. */
struct content {
	uint8_t boolean;
	uint32_t id;
	uint64_t booleans; /* number of them */
};

static void put_value(struct d9_build *b, unsigned type, unsigned round, struct content *c)
{
	static const uint64_t numbers[ROUNDS] = { 0, 127, 128, 16384, UINT64_C(1) << 60, UINT64_MAX };
	static const char *const texts[ROUNDS] = { "",         "x",        "seven b",
		                                   "eight by", "\xc3\xa9", "sixteen and more" };
	const bool optional = (type & D9T_OPTIONAL) != 0, absent = optional && round % 3 == 1;

	type &= ~(unsigned)D9T_OPTIONAL;
	if (optional)
		d9b_u8(b, !absent);
	if (absent)
		return;
	c->booleans += type == D9T_BOOL;
	if (type == D9T_BOOL)
		d9b_u8(b, c->boolean);
	else if (type == D9T_POOLED_STACK || type == D9T_POOLED_STRING)
		d9b_u32(b, c->id);
	else if (type == D9T_I64 || type == D9T_F64)
		d9b_u64(b, numbers[round]);
	else if (type == D9T_VARINT)
		d9b_varint(b, numbers[round]);
	else if (type == D9T_U8)
		d9b_u8(b, (uint8_t)(round * 50));
	else if (type == D9T_U16)
		d9b_u16(b, (uint16_t)(round * 13000));
	else if (type == D9T_U32)
		d9b_u32(b, round * 800000000U);
	else if (type == D9T_STRING || type == D9T_BYTES)
		d9b_text32(b, texts[round]);
	else
		d9b_u32(b, 0); /* an empty run or map */
}

static uint64_t count_of(const struct d9t_run *t, enum d9_rule rule)
{
	return findings_count(&t->findings, &d9_rules[rule]);
}

/* Keeps the finding on Bool values. */
static void note_bools(void *ctx, const struct findings *j, const struct finding *f)
{
	(void)j;
	if (f->rule == &d9_rules[D9_RULE_BOOL_VALUE])
		snprintf(ctx, 200, "%s", f->message);
}

/* Writes a trace of all pairs. */
static void put_all(struct d9_build *b, struct content *c)
{
	struct d9_field_desc f[3];
	char name[32];

	d9b_init(b);
	d9b_header(b);
	d9b_string(b, 1, "one");
	d9b_stack(b, 1, &(uint64_t){ 4096 }, 1);
	for (size_t i = 0; i < KINDS * KINDS; i++) {
		snprintf(name, sizeof name, "E%zu", i);
		fields_of(i, f);
		d9b_schema(b, (uint16_t)i, name, i % 7 != 3, f, 3);
	}
	for (unsigned round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < KINDS * KINDS; i++) {
			fields_of(i, f);
			if (i % 7 != 3)
				d9b_event_delta(b, (uint16_t)i, round);
			else
				d9b_untimed(b, (uint16_t)i);
			for (unsigned k = 0; k < 3; k++)
				put_value(b, f[k].type, (round + k) % ROUNDS, c);
		}
}

/* Reads a trace of all pairs, and compares counts. */
static void expect_all(struct content c, bool odd)
{
	struct d9_build b;
	struct d9t_run t;
	char all[40], bools[200] = "";

	put_all(&b, &c);
	d9t_open(&t, input_from_memory((const char *)b.p, b.n), WANT_FINDINGS);
	t.findings.sink = note_bools;
	t.findings.ctx = bools;
	d9t_read(&t, 100000);
	cr_expect_eq(t.status, READ_END);
	cr_expect_eq(t.trace.events, ROUNDS * KINDS * KINDS);
	cr_expect_eq(t.r.records, 3 + (ROUNDS + 1) * KINDS * KINDS);
	snprintf(all, sizeof all, "; %" PRIu64 " in all", c.booleans);
	cr_expect_eq(strstr(bools, all) != NULL, odd, "%s", bools);
	cr_expect_eq(t.findings.levels[LEVEL_ERROR], odd);
	cr_expect_eq(count_of(&t, D9_RULE_UNDEFINED_STRING), odd);
	cr_expect_eq(count_of(&t, D9_RULE_UNDEFINED_STACK), odd);
	d9t_free(&t);
	d9b_free(&b);
}

Test(dial9_measure, all_pairs_of_types)
{
	expect_all((struct content){ .boolean = 1, .id = 1 }, false);
}

Test(dial9_measure, what_is_odd_is_reported_in_all_of_them)
{
	expect_all((struct content){ .boolean = 2, .id = 99 }, true);
}

/* Runs of events have the fields and findings of events that are read one by one. */
Test(dial9_measure, fields_of_all_pairs)
{
	for (unsigned odd = 0; odd < 2; odd++) {
		struct content c = { .boolean = odd != 0 ? 2 : 1, .id = odd != 0 ? 99 : 1 };
		struct text seen[2] = { { .p = NULL } };
		struct d9_build b;
		struct d9t_run t;

		put_all(&b, &c);
		for (unsigned k = 0; k < 2; k++) {
			d9t_open(&t, input_from_memory((const char *)b.p, b.n), WANT_TIMES | WANT_FIELDS);
			t.r.max_record = k == 0 ? D9_FAST_FRAME : D9_FAST_FRAME - 1; /* less: no runs */
			d9t_read(&t, 100);
			cr_expect_eq(t.status, READ_END);
			for (size_t i = 0; i < t.n; i++)
				d9t_put_batch(&seen[k], &t.batches[i]);
			text_printf(&seen[k], "%" PRIu64 " %" PRIu64, t.r.records,
			            t.findings.levels[LEVEL_ERROR]);
			d9t_free(&t);
		}
		cr_expect(seen[0].n == seen[1].n && memcmp(seen[0].p, seen[1].p, seen[0].n) == 0);
		text_free(&seen[0]);
		text_free(&seen[1]);
		d9b_free(&b);
	}
}

/* Texts and stacks have separate ids: an id of the other pool is undefined. */
Test(dial9_measure, ids_of_the_other_pool)
{
	static const struct d9_field_desc fields[] = { { "stack", D9T_POOLED_STACK | D9T_OPTIONAL },
		                                       { "text", D9T_POOLED_STRING | D9T_OPTIONAL } };
	struct d9_build b;
	struct d9t_run t;

	d9b_init(&b);
	d9b_header(&b);
	d9b_string(&b, 1, "one");
	d9b_stack(&b, 2, &(uint64_t){ 4096 }, 1);
	d9b_schema(&b, 1, "E", true, fields, 2);
	for (unsigned i = 0; i < 4; i++) {
		d9b_event_delta(&b, 1, i);
		for (uint32_t id = 1; id <= 2; id++) {
			d9b_u8(&b, 1);
			d9b_u32(&b, i < 2 ? 3 - id : id); /* first the valid ones */
		}
	}
	d9t_open(&t, input_from_memory((const char *)b.p, b.n), WANT_FINDINGS);
	d9t_read(&t, 100);
	cr_expect_eq(t.trace.events, 4);
	cr_expect_eq(count_of(&t, D9_RULE_UNDEFINED_STRING), 1);
	cr_expect_eq(count_of(&t, D9_RULE_UNDEFINED_STACK), 1);
	d9t_free(&t);
	d9b_free(&b);
}

/* ---- lifetime of batches ---- */

#define WANT (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)

/* Segments that use the same ids for other texts. */
static const struct d9_field_desc segment_fields[] = { { "text", D9T_POOLED_STRING },
	                                               { "stack", D9T_POOLED_STACK },
	                                               { "late", D9T_POOLED_STRING },
	                                               { "frames", D9T_STACK } };

static const struct d9_field_desc segment_symbol[] = { { "addr", D9T_VARINT },
	                                               { "symbol_name", D9T_POOLED_STRING },
	                                               { "inline_depth", D9T_VARINT } };

static void put_segment(struct d9_build *b, unsigned nth)
{
	char text[64];

	d9b_header(b);
	d9b_schema(b, 1, "Sample", true, segment_fields, 4);
	d9b_schema(b, 2, "SymbolTableEntry", false, segment_symbol, 3);
	for (uint32_t i = 0; i < 5; i++) {
		const uint64_t address = 1000 * nth + i;
		snprintf(text, sizeof text, "text %u of segment %u", i, nth);
		d9b_string(b, 1, text); /* the id gets another content each time */
		d9b_stack(b, 1, &address, 1);
		d9b_event(b, 1, 1000 * nth + i);
		d9b_u32(b, 1);
		d9b_u32(b, 1);
		d9b_u32(b, 7 + i);
		d9b_u32(b, 1);
		d9b_u64(b, address);
		snprintf(text, sizeof text, "late text %u of segment %u", i, nth);
		d9b_string(b, 7 + i, text);
		snprintf(text, sizeof text, "function_%u_%u", nth, i);
		d9b_string(b, 100 + i, text);
		d9b_untimed(b, 2);
		d9b_varint(b, address);
		d9b_u32(b, 100 + i);
		d9b_varint(b, 0);
	}
}

static void put_segments(struct d9_build *b)
{
	d9b_init(b);
	for (unsigned nth = 0; nth < 50; nth++)
		put_segment(b, nth);
}

Test(dial9_batches, ids_that_are_defined_again)
{
	struct d9_build b;
	struct live_batches l;

	put_segments(&b);
	for (uint32_t cap = 1; cap < 200; cap += 3) {
		live_batches_read(&l, format_by_name("dial9"), input_from_memory((const char *)b.p, b.n),
		                  WANT, cap);
		cr_expect_eq(live_batches_changed(&l), 0, "%u", cap);
		cr_expect_eq(live_batches_free(&l), 0, "%u", cap);
	}
	d9b_free(&b);
}

struct look {
	struct batch batch; /* the thread's own */
	struct text text;
};

static void *look_and_release(void *arg)
{
	struct look *const l = arg;

	d9t_put_batch(&l->text, &l->batch);
	batch_free(&l->batch);
	return NULL;
}

Test(dial9_batches, released_on_other_threads)
{
	struct text want = { .p = NULL }, got = { .p = NULL };
	pthread_t threads[1000];
	struct look *const looks = calloc(1000, sizeof *looks);
	struct d9_build b;
	struct d9t_run t;

	cr_assert_not_null(looks);
	put_segments(&b);
	d9t_open(&t, input_from_memory((const char *)b.p, b.n), WANT & ~(unsigned)WANT_BYTES);
	d9t_read(&t, 7);
	for (size_t i = 0; i < t.n; i++)
		d9t_put_batch(&want, &t.batches[i]);
	d9t_free(&t);

	d9t_open(&t, input_from_memory((const char *)b.p, b.n), WANT & ~(unsigned)WANT_BYTES);
	size_t n = 0;
	while (t.status == READ_MORE) {
		cr_assert_lt(n, 1000);
		d9t_next(&t, 7);
		looks[n].batch = t.batches[--t.n];
		cr_assert_eq(pthread_create(&threads[n], NULL, look_and_release, &looks[n]), 0);
		n++;
	}
	d9t_close_reader(&t);
	for (size_t i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		text_add(&got, looks[i].text.p, looks[i].text.n);
		text_free(&looks[i].text);
	}
	text_char(&got, '\0');
	cr_expect(want.n + 1 == got.n && memcmp(want.p, got.p, want.n) == 0, "%zu and %zu bytes", want.n,
	          got.n);
	cr_expect_not_null(strstr(got.p, "late text 4 of segment 49"));
	cr_expect_not_null(strstr(got.p, "function_49_4"));
	d9t_free(&t);
	d9b_free(&b);
	text_free(&want);
	text_free(&got);
	free(looks);
}

/* ---- look-ahead ---- */

/* A few addresses must not become gigabytes of names. */
Test(dial9_ahead, names_of_a_stack_are_bounded)
{
	static const struct d9_field_desc stack = { "stack", D9T_STACK };
	static const struct d9_field_desc symbol[] = { { "addr", D9T_VARINT },
		                                       { "symbol_name", D9T_STRING } };
	char *const name = malloc((1u << 20) + 1);
	struct d9_build b;
	struct d9t_run t;

	cr_assert_not_null(name);
	memset(name, 'n', 1u << 20);
	name[1u << 20] = '\0';
	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Sample", true, &stack, 1);
	d9b_schema(&b, 2, "SymbolTableEntry", false, symbol, 2);
	for (uint32_t n = 1; n <= 3; n += 2) {
		d9b_event(&b, 1, n);
		d9b_u32(&b, n);
		for (uint32_t i = 0; i < n; i++)
			d9b_u64(&b, 7);
	}
	d9b_untimed(&b, 2);
	d9b_varint(&b, 7);
	d9b_text32(&b, name);
	d9t_open(&t, input_from_memory((const char *)b.p, b.n), WANT_TIMES | WANT_FIELDS);
	d9t_read(&t, 1024);
	cr_assert_eq(t.status, READ_END);
	const struct field *const fields = t.batches[0].fields;
	cr_expect_eq(fields[0].value.values[0].type, VALUE_STRING);
	cr_expect_eq(fields[0].value.values[0].count, 1u << 20);
	cr_expect_eq(fields[1].value.count, 3);
	cr_expect_eq(fields[1].value.values[2].type, VALUE_ADDRESS);
	cr_expect_eq(findings_count(&t.findings, rule_by_id("dial9/pool-limit")), 1);
	d9t_free(&t);
	d9b_free(&b);
	free(name);
}

/* ---- call stacks ---- */

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* Expects the frames of one event, leaf first. */
static void expect_stack(const struct d9t_run *t, uint32_t i, uint8_t element, const char *text)
{
	const struct event *const e = &t->batches[0].events[i];
	char address[CALL_STACK_ADDRESS], got[300] = "";
	struct call_stack s;

	cr_assert(call_stack_get(&s, &t->batches[0], e), "event %u", i);
	for (uint32_t k = 0; k < s.n; k++) {
		const struct slice frame = call_stack_frame(&s, k, address);
		strncat(got, frame.p, frame.n);
		strcat(got, " ");
	}
	cr_expect_str_eq(got, text, "event %u", i);
	for (uint32_t k = 0; k < e->nfields; k++) {
		const struct value *const v = &t->batches[0].fields[e->first_field + k].value;
		if (v->type == VALUE_LIST)
			cr_expect_eq(v->element, element, "event %u", i);
	}
}

Test(dial9_meaning, stacks_for_writers)
{
	static const struct d9_field_desc pooled[] = { { "tid", D9T_U32 },
		                                       { "callchain", D9T_POOLED_STACK } };
	static const struct d9_field_desc own[] = { { "tid", D9T_U32 }, { "callchain", D9T_STACK } };
	static const struct d9_field_desc symbol[] = { { "address", D9T_VARINT }, { "symbol", D9T_STRING } };
	static const uint64_t named[] = { 16, 32 }, mixed[] = { 32, 48 }, plain[] = { 64 };
	struct d9_build b;
	struct d9t_run t;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 0, "CallframeDefEvent", true, symbol, COUNT(symbol));
	d9b_schema(&b, 1, "AllocEvent", true, pooled, COUNT(pooled));
	d9b_schema(&b, 2, "CpuSampleEvent", true, own, COUNT(own));
	for (uint64_t i = 1; i <= 2; i++) {
		d9b_event(&b, 0, 0);
		d9b_varint(&b, i * 16);
		d9b_text32(&b, i == 1 ? "leaf" : "root");
	}
	d9b_stack(&b, 7, named, 2);
	d9b_stack(&b, 8, mixed, 2);
	d9b_stack(&b, 9, plain, 1);
	for (uint32_t i = 7; i < 10; i++) {
		d9b_event(&b, 1, 1000 + i);
		d9b_u32(&b, 1);
		d9b_u32(&b, i);
	}
	d9b_event(&b, 2, 2000);
	d9b_u32(&b, 1);
	d9b_u32(&b, 2);
	d9b_u64(&b, 16);
	d9b_u64(&b, 32);
	d9t_open(&t, input_from_memory((const char *)b.p, b.n), WANT_TIMES | WANT_FIELDS);
	d9t_read(&t, 1024);
	cr_assert_eq(t.batches[0].n, 4);
	expect_stack(&t, 0, VALUE_STRING, "leaf root ");
	expect_stack(&t, 1, VALUE_NONE, "root 0x30 ");
	expect_stack(&t, 2, VALUE_ADDRESS, "0x40 ");
	expect_stack(&t, 3, VALUE_STRING, "leaf root ");
	d9t_free(&t);
	d9b_free(&b);
}
