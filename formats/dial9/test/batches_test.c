/* What batches point to stays as it is until they are released, whatever the reader does meanwhile. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "dial9/test/build.h"
#include "dial9/test/oracle.h"
#include "dial9/test/run_test.h"

#define WANT (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)

/* Each batch as text when it is filled, and all of them when the reader is closed. */
static void compare(struct input *in, unsigned want, uint32_t cap, const char *what)
{
	struct text then = { .p = NULL }, now = { .p = NULL };
	struct d9t_run t;

	d9t_open(&t, in, want);
	while (t.status == READ_MORE) {
		d9t_next(&t, cap);
		d9t_put_batch(&then, &t.batches[t.n - 1]);
	}
	cr_expect_neq(t.status, READ_NO_MEMORY, "%s", what);
	d9t_close_reader(&t);
	for (size_t i = 0; i < t.n; i++)
		d9t_put_batch(&now, &t.batches[i]);
	cr_expect(then.n == now.n && (then.n == 0 || memcmp(then.p, now.p, then.n) == 0),
	          "%s: %zu batches of %u changed", what, t.n, cap);
	d9t_free(&t);
	text_free(&then);
	text_free(&now);
}

static void compare_file(const char *path)
{
	static const uint32_t caps[] = { 1, 7, 1024 };
	size_t n;
	unsigned char *const p = (unsigned char *)read_unpacked(path, &n);

	for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
		if (n > 1u << 20 && caps[i] < 1024)
			continue;
		compare(input_from_memory((const char *)p, n), WANT, caps[i], path);
		compare(input_from_memory((const char *)p, n), WANT_TIMES, caps[i], path);
	}
	if (n < 1u << 16)
		compare(input_from_memory_slowly((const char *)p, n, 16), WANT, 7, path);
	free(p);
}

Test(dial9_batches, stay_when_the_reader_is_closed)
{
	d9t_each_trace(compare_file);
}

/* ---- segments that use the same ids for other texts ---- */

static const struct d9_field_desc fields[] = { { "text", D9T_POOLED_STRING },
	                                       { "stack", D9T_POOLED_STACK },
	                                       { "late", D9T_POOLED_STRING },
	                                       { "frames", D9T_STACK } };
static const struct d9_field_desc symbol[] = { { "addr", D9T_VARINT },
	                                       { "symbol_name", D9T_POOLED_STRING },
	                                       { "inline_depth", D9T_VARINT } };

static void segment(struct d9_build *b, unsigned nth)
{
	char text[64];

	d9b_header(b);
	d9b_schema(b, 1, "Sample", true, fields, 4);
	d9b_schema(b, 2, "SymbolTableEntry", false, symbol, 3);
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

static void build(struct d9_build *b)
{
	d9b_init(b);
	for (unsigned nth = 0; nth < 50; nth++)
		segment(b, nth);
}

Test(dial9_batches, ids_that_are_defined_again)
{
	struct d9_build b;

	build(&b);
	for (uint32_t cap = 1; cap < 200; cap += 3)
		compare(input_from_memory((const char *)b.p, b.n), WANT, cap, "segments");
	d9b_free(&b);
}

/* ---- on several threads ---- */

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
	build(&b);
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
