/*
 * Inputs too large to keep as samples, sent down a pipe, and small files that demand much: names of
 * schemas and fields are by reference in every event.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "dial9/test/build.h"
#include "test/properties/cost_test_util.h"

/* ---- large inputs ---- */

static const struct d9_field_desc text[] = { { "text", D9T_STRING }, { "number", D9T_VARINT } };
static const struct d9_field_desc pooled[] = { { "text", D9T_POOLED_STRING } };

static struct ran run(const char *const *args, struct d9_build *b)
{
	struct ran r = run_tool(args, b->p, b->n);

	d9b_free(b);
	return r;
}

static struct ran validate(struct d9_build *b)
{
	return run((const char *const[]){ "validate", "--max-record", "4M", "-", NULL }, b);
}

static struct ran convert(struct d9_build *b)
{
	return run((const char *const[]){ "convert", "--max-record", "4M", "--to", "chrome", "-", "-", NULL },
	           b);
}

static void filler(struct d9_build *b, size_t n)
{
	char block[4096];

	memset(block, 'x', sizeof block);
	for (; n > sizeof block; n -= sizeof block)
		d9b_bytes(b, block, sizeof block);
	d9b_bytes(b, block, n);
}

/* It is left out, and the next event is read: its time counts from that of the large one. */
Test(dial9_limits, an_event_larger_than_4_MiB)
{
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Text", true, text, 2);
	d9b_event(&b, 1, 1000);
	d9b_u32(&b, 5u << 20);
	filler(&b, 5u << 20);
	d9b_varint(&b, 3);
	d9b_event(&b, 1, 3000);
	d9b_text32(&b, "after");
	d9b_varint(&b, 4);
	struct ran r = convert(&b);
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.err, "limit/record"), "%s", r.err);
	cr_expect_not_null(strstr(r.out, "\"ts\":3.000"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "\"text\":\"after\",\"number\":4"), "%s", r.out);
	ran_free(&r);
}

/* Large and cut: the finding is the length, not the size. */
Test(dial9_limits, a_large_event_that_is_cut)
{
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Text", true, text, 2);
	d9b_event(&b, 1, 1000);
	d9b_u32(&b, 50u << 20);
	filler(&b, 5u << 20);
	struct ran r = validate(&b);
	cr_expect_eq(r.status, 1);
	cr_expect_not_null(strstr(r.out, "[dial9/length-past-end]"), "%s", r.out);
	cr_expect_null(strstr(r.out, "[limit/record]"), "%s", r.out);
	ran_free(&r);
}

Test(dial9_limits, a_pool_entry_larger_than_4_MiB)
{
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Pooled", true, pooled, 1);
	d9b_strings(&b, 2);
	d9b_u32(&b, 1);
	d9b_u32(&b, 5u << 20);
	filler(&b, 5u << 20);
	d9b_u32(&b, 2);
	d9b_text32(&b, "small");
	for (uint32_t id = 1; id <= 2; id++) {
		d9b_event(&b, 1, 1000);
		d9b_u32(&b, id);
	}
	struct ran r = convert(&b);
	cr_expect_not_null(strstr(r.err, "limit/record"), "%s", r.err);
	cr_expect_null(strstr(r.err, "dial9/undefined-string"), "%s", r.err);
	cr_expect_not_null(strstr(r.out, "{\"text\":1}"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "{\"text\":\"small\"}"), "%s", r.out);
	ran_free(&r);
}

Test(dial9_limits, an_annotation_larger_than_4_MiB)
{
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Text", true, text, 2);
	d9b_annotations(&b, 1, 3);
	for (int i = 0; i < 3; i++) {
		d9b_u16(&b, 1);
		d9b_text16(&b, i == 2 ? "metrique.unit" : "key");
		if (i == 1) {
			d9b_u32(&b, 5u << 20);
			filler(&b, 5u << 20);
		} else {
			d9b_text32(&b, "ms");
		}
	}
	d9b_event(&b, 1, 1000);
	d9b_text32(&b, "after");
	d9b_varint(&b, 4);
	struct ran r = run((const char *const[]){ "info", "--max-record", "4M", "-", NULL }, &b);
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.err, "limit/record"), "%s", r.err);
	cr_expect_not_null(strstr(r.out, "Varint (ms)"), "%s", r.out);
	ran_free(&r);
}

/* An element of a list is not its last, and the list is nested: both levels are walked in pieces. */
Test(dial9_limits, a_list_larger_than_4_MiB)
{
	static const struct d9_field_desc list[] = { { "list", D9T_LIST }, { "number", D9T_VARINT } };
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "List", true, list, 2);
	for (int i = 0; i < 2; i++) {
		d9b_event(&b, 1, 1000);
		d9b_u32(&b, 2);
		d9b_u8(&b, D9T_LIST);
		d9b_u32(&b, i == 0 ? 1u << 20 : 1);
		for (uint32_t k = 0; k < (i == 0 ? 1u << 20 : 1); k++) {
			d9b_u8(&b, D9T_U32);
			d9b_u32(&b, k);
		}
		d9b_u8(&b, D9T_BOOL);
		d9b_u8(&b, 1);
		d9b_varint(&b, 300);
	}
	struct ran r = convert(&b);
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(
	    strstr(r.err, "an event of 5242899 bytes was not checked: --max-record is 4194304"), "%s", r.err);
	cr_expect_not_null(strstr(r.out, "{\"list\":[[0],true],\"number\":300}"), "%.300s", r.out);
	ran_free(&r);
}

/* The field of a fault in a list is known in the next piece, too, also if it is the last one. */
Test(dial9_limits, a_fault_in_a_list_that_is_not_kept)
{
	static const struct d9_field_desc list[] = { { "list", D9T_LIST }, { "last", D9T_LIST } };

	for (uint32_t at = 0; at < 2; at++) {
		struct d9_build b;
		d9b_init(&b);
		d9b_header(&b);
		d9b_schema(&b, 1, "List", true, list, 2);
		d9b_event(&b, 1, 1000);
		for (uint32_t i = 0; i < at; i++)
			d9b_u32(&b, 0);
		d9b_u32(&b, 2);
		d9b_u8(&b, D9T_BYTES);
		d9b_u32(&b, 200);
		filler(&b, 200);
		d9b_u8(&b, 0x10);
		filler(&b, 200);
		struct ran r = run((const char *const[]){ "validate", "--max-record", "100", "-", NULL }, &b);
		cr_expect_eq(r.status, 1);
		cr_expect_not_null(strstr(r.out, at == 0
		                                     ? "element type in field \"list\" of \"List\" is 0x10"
		                                     : "element type in field \"last\" of \"List\" is 0x10"),
		                   "%s%s", r.out, r.err);
		ran_free(&r);
	}
}

Test(dial9_limits, a_large_schema_ends_reading)
{
	char name[65536];
	struct d9_build b;
	struct d9_field_desc fields[80];

	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	for (int i = 0; i < 80; i++)
		fields[i] = (struct d9_field_desc){ name, D9T_U8 };
	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Wide", true, fields, 80);
	struct ran r = validate(&b);
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.out, "[limit/record]"), "%s", r.out);
	cr_expect_not_null(strstr(r.out, "valid as far as it was read"), "%s", r.out);
	ran_free(&r);
}

Test(dial9_limits, too_many_schemas)
{
	struct d9_build b;
	char name[32];

	d9b_init(&b);
	d9b_header(&b);
	for (uint32_t i = 0; i < 66000; i++) {
		snprintf(name, sizeof name, "Schema %u", i);
		d9b_schema(&b, (uint16_t)i, name, true, text, 2);
	}
	struct ran r = validate(&b);
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.out, "[dial9/limit]"), "%.2000s", r.out);
	ran_free(&r);
}

/* Ids beyond the limit are shown as numbers, and not reported as undefined. */
Test(dial9_limits, too_many_strings)
{
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Pooled", true, pooled, 1);
	d9b_strings(&b, 400000);
	for (uint32_t i = 0; i < 400000; i++) {
		d9b_u32(&b, i);
		d9b_text32(&b, "text");
	}
	d9b_event(&b, 1, 1000);
	d9b_u32(&b, 399999);
	struct ran r = convert(&b);
	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_not_null(strstr(r.err, "dial9/pool-limit"), "%s", r.err);
	cr_expect_null(strstr(r.err, "dial9/undefined-string"), "%s", r.err);
	cr_expect_not_null(strstr(r.out, "{\"text\":399999}"), "%s", r.out);
	ran_free(&r);
}

/* Each segment has limits of its own. */
Test(dial9_limits, segments_do_not_add_up)
{
	struct d9_build b;

	d9b_init(&b);
	for (int segment = 0; segment < 12; segment++) {
		d9b_header(&b);
		d9b_schema(&b, 1, "Pooled", true, pooled, 1);
		d9b_strings(&b, 3);
		for (uint32_t i = 0; i < 3; i++) {
			d9b_u32(&b, i);
			d9b_u32(&b, 1u << 19);
			filler(&b, 1u << 19);
		}
	}
	struct ran r = validate(&b);
	cr_expect_eq(r.status, 0);
	cr_expect_null(strstr(r.out, "[dial9/pool-limit]"), "%s", r.out);
	ran_free(&r);
}

Test(dial9_limits, too_many_threads)
{
	const struct d9_field_desc tid = { "tid", D9T_U32 };
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Thread", true, &tid, 1);
	for (uint32_t i = 0; i < 100000; i++) {
		d9b_event(&b, 1, i);
		d9b_u32(&b, i);
	}
	struct ran r = convert(&b);
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.err, "vocabulary/line-limit"), "%.500s", r.err);
	ran_free(&r);
}

/* Without use for stacks, fields after a stack are still found. */
Test(dial9_limits, fields_after_a_stack_that_is_not_wanted)
{
	static const struct d9_field_desc fields[] = { { "stack", D9T_STACK }, { "worker_id", D9T_VARINT } };
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Sample", true, fields, 2);
	for (uint32_t i = 0; i < 5; i++) {
		d9b_event(&b, 1, 1000 + i);
		d9b_u32(&b, i);
		for (uint32_t k = 0; k < i; k++)
			d9b_u64(&b, UINT64_C(0x7f7f7f7f00000000) * i + k);
		d9b_varint(&b, 3);
	}
	struct ran r = run((const char *const[]){ "stats", "-", NULL }, &b);
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.out, "5 events, 1 track\n"), "%.500s", r.out);
	ran_free(&r);
}

/* ---- small files that demand much ---- */

/* Events of three bytes, whose class has a name of 256. */
Test(dial9_cost, small_events)
{
	struct d9_build b;
	char name[257];

	memset(name, 'O', 256);
	name[256] = '\0';
	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, name, false, NULL, 0);
	for (unsigned i = 0; i < 600000; i++)
		d9b_untimed(&b, 1);
	expect_in_proportion("convert \"$1\" - --to chrome", b.p, b.n, "[repeats/short-cut]");
	d9b_free(&b);
}

/* The same with a name that JSON writes with six bytes for each. */
Test(dial9_cost, names_that_need_escapes)
{
	struct d9_build b;
	char name[257];

	memset(name, 1, 256);
	name[256] = '\0';
	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, name, false, NULL, 0);
	for (unsigned i = 0; i < 600000; i++)
		d9b_untimed(&b, 1);
	expect_in_proportion("convert \"$1\" - --to chrome", b.p, b.n, "[repeats/short-cut]");
	expect_in_proportion("convert \"$1\" - --to ndjson --raw", b.p, b.n, "[repeats/short-cut]");
	d9b_free(&b);
}

/* A stack of 250 frames, each with a name of 200 bytes; events of eleven bytes that refer to it. */
Test(dial9_cost, long_stacks)
{
	static const struct d9_field_desc symbol[] = { { "addr", 9 },
		                                       { "size", 9 },
		                                       { "symbol_name", 7 },
		                                       { "inline_depth", 9 } },
	                                  dump[] = { { "task_id", 9 }, { "callchain", 6 } };
	enum { FRAMES = 250 };
	uint64_t addresses[FRAMES];
	struct d9_build b;
	char name[201];

	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 0, "SymbolTableEntry", true, symbol, 4);
	d9b_schema(&b, 1, "TaskDumpEvent", true, dump, 2);
	for (uint32_t i = 0; i < FRAMES; i++) {
		snprintf(name, sizeof name, "%0200u", i);
		d9b_string(&b, i, name);
		addresses[i] = 0x1000 + 16 * i;
		d9b_event_delta(&b, 0, 0);
		d9b_varint(&b, addresses[i]);
		d9b_varint(&b, 16);
		d9b_u32(&b, i);
		d9b_varint(&b, 0);
	}
	d9b_stack(&b, 9, addresses, FRAMES);
	for (unsigned i = 0; i < 40000; i++) {
		d9b_event_delta(&b, 1, 1);
		d9b_varint(&b, 1);
		d9b_u32(&b, 9);
	}
	expect_in_proportion("convert \"$1\" - --to chrome", b.p, b.n, "[repeats/list-cut]");
	expect_in_proportion("convert \"$1\" - --to csv", b.p, b.n, "[repeats/list-cut]");
	d9b_free(&b);
}

/* Twenty fields of one byte each, with names of 60,000. */
Test(dial9_cost, long_names_of_fields)
{
	struct d9_field_desc fields[20];
	char *const names = malloc(20 * 60001);
	struct d9_build b;

	cr_assert_not_null(names);
	for (unsigned i = 0; i < 20; i++) {
		char *const name = names + 60001 * i;
		memset(name, (int)('a' + i), 60000);
		name[60000] = '\0';
		fields[i] = (struct d9_field_desc){ .name = name, .type = 9 };
	}
	d9b_init(&b);
	d9b_header(&b);
	d9b_schema(&b, 1, "Own", true, fields, 20);
	for (unsigned i = 0; i < 60000; i++) {
		d9b_event_delta(&b, 1, 1);
		for (unsigned k = 0; k < 20; k++)
			d9b_varint(&b, k);
	}
	expect_in_proportion("convert \"$1\" - --to ndjson", b.p, b.n, "[repeats/text-cut]");
	free(names);
	d9b_free(&b);
}
