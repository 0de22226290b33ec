/* What comes of a look-ahead pass that cannot be made. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "dial9/test/build.h"
#include "cmd/test/cli_test_util.h"
#include "dial9/test/run_test.h"
#include "format/registry.h"
#include "input/private.h"

static struct input *no_second_input(const struct input *in)
{
	(void)in;
	return NULL;
}

/* Reads a sample that needs the pass; `reopens`: its input says that it can be read again. */
static void expect(const char *path, unsigned want, bool reopens, enum read_status status, bool late)
{
	const struct rule *const rule = rule_by_id("dial9/names-late");
	struct input_source_ops ops;
	struct d9t_run t;
	size_t n;
	char *const p = read_whole(path, &n);
	struct input *const in = input_from_memory(p, n);

	cr_assert_not_null(in);
	ops = *in->ops;
	ops.reopen = no_second_input;
	in->ops = &ops;
	in->source->can_reopen = reopens;
	d9t_open(&t, in, want);
	d9t_read(&t, 1024);
	cr_expect_eq(t.status, status, "%s", path);
	cr_expect_eq(findings_count(&t.findings, rule) > 0, late, "%s", path);
	d9t_free(&t);
	free(p);
}

Test(dial9_ahead, without_a_second_input)
{
	static const char *const samples[] = { "testdata/dial9/good/symbols.dial9",
		                               "testdata/dial9/good/late.dial9" };

	for (int i = 0; i < 2; i++) {
		expect(samples[i], WANT_TIMES | WANT_FIELDS, true, READ_NO_MEMORY, false);
		expect(samples[i], WANT_TIMES | WANT_FIELDS, false, READ_END, true);
		/* raw events need none */
		expect(samples[i], WANT_RAW | WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE, true, READ_END,
		       false);
	}
}

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
