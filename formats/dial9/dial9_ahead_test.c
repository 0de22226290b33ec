/* What comes of a look-ahead pass that cannot be made. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cmd/cli_test_util.h"
#include "dial9/dial9_run_test.h"
#include "format/registry.h"
#include "input/input_source.h"

static struct input *
no_second_input(const struct input *in)
{
	(void)in;
	return NULL;
}

/* Reads a sample that needs the pass; `reopens`: its input says that it can be read again. */
static void
expect(const char *path, unsigned want, bool reopens, enum read_status status, bool late)
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
