/* Small files that ask for much: names of schemas and fields are by reference in every event. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "dial9/test/build.h"

/* From a file, which can be read twice. */
static void expect_in_proportion(const struct d9_build *b, const char *to, const char *loss)
{
	const double most = 50.0 * (double)b->n + (double)(64 << 20);
	char *const dir = make_folder(), in[600], command[200];

	snprintf(in, sizeof in, "%s/in.bin", dir);
	cr_assert(write_whole(in, b->p, b->n));
	snprintf(command, sizeof command,
	         "ulimit -t ${COST_SECONDS:-300}; \"$0\" convert --to %s \"$1\" - | wc -c", to);
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", command, tool_path(), in, NULL }, NULL, 0);
	cr_expect_leq(atof(r.out), most, "%s: %s bytes of %zu", to, r.out, b->n);
	cr_expect_gt(atof(r.out), (double)(64 << 20), "%s: %s %s", to, r.out, r.err);
	cr_expect_not_null(strstr(r.err, loss), "%s: %.500s", to, r.err);
	ran_free(&r);
	remove_folder(dir);
}

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
	expect_in_proportion(&b, "chrome", "[repeats/short-cut]");
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
	expect_in_proportion(&b, "chrome", "[repeats/short-cut]");
	expect_in_proportion(&b, "ndjson --raw", "[repeats/short-cut]");
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
	expect_in_proportion(&b, "chrome", "[repeats/list-cut]");
	expect_in_proportion(&b, "csv", "[repeats/list-cut]");
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
	expect_in_proportion(&b, "ndjson", "[repeats/text-cut]");
	free(names);
	d9b_free(&b);
}
