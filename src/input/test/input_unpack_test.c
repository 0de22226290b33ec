#define _GNU_SOURCE /* mkstemp, truncate */
#include "input/open.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "input/test/samples.h"
#include "test/support/allocated_test.h"

/* The unpacking thread: pipes, closing, reopening, long records, memory. */

TestSuite(input_unpack, .init = samples_begin, .fini = samples_end);

Test(input_unpack, through_pipes)
{
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 4 << 20, 10);
	for (int zstd = 0; zstd < 2; zstd++)
		for (size_t portion = 1; portion <= 100000; portion = portion * 37) {
			const size_t n = portion < 100 ? 20000 : text.n;
			struct input *in;
			pid_t pid;

			packed.n = 0;
			if (zstd && portion >= 100) { /* a frame to be skipped that no pipe gives at once */
				put(&packed, "\x50\x2a\x4d\x18\x80\x84\x1e\0", 8);
				put(&packed, text.p, 2000000);
			}
			for (size_t half = 0; half < 2; half++) {
				if (zstd)
					put_zstd(&packed, text.p + n / 2 * half, n / 2, 3);
				else
					put_gzip_with_fields(&packed, text.p + n / 2 * half, n / 2);
			}
			pid = pipe_in(packed.p, packed.n, portion, portion < 100 ? 20 : 0, false);
			in = input_open("-");
			cr_expect_eq(in->fault, INPUT_OK);
			cr_expect_not(input_can_reopen(in));
			cr_expect_eq(read_all(in, &text), n);
			cr_expect_eq(in->fault, INPUT_OK, "%s", in->fault_text);
			input_close(in);
			waitpid(pid, NULL, 0);
		}
	free(text.p);
	free(packed.p);
}

/* A header that is split between two reads at each byte; that of the second member, as the probe reads the
 * first 64 KiB at once. */
Test(input_unpack, split_headers)
{
	struct bytes text = { 0 }, packed = { 0 };
	size_t border;

	put_text(&text, 400000, 14);
	put_gzip_stored(&packed, text.p, 200000);
	border = packed.n;
	put_gzip_with_fields(&packed, text.p + 200000, 200000);
	for (size_t split = 0; split < 45; split += 2) {
		pid_t pid;
		struct input *in;

		pid = pipe_in(packed.p, packed.n, border + split, 3000, false);
		in = input_open("-");
		cr_expect_eq(read_all(in, &text), text.n);
		cr_expect_eq(in->fault, INPUT_OK, "%s", in->fault_text);
		input_close(in);
		waitpid(pid, NULL, 0);
	}
	free(text.p);
	free(packed.p);
}

Test(input_unpack, closed_early)
{
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 12 << 20, 11);
	put_gzip(&packed, text.p, text.n, 0);
	write_file(&packed);
	for (int i = 0; i < 20; i++) {
		struct input *in = input_open(sample_path);

		cr_expect_geq(in->end - in->p, 65536);
		if (i % 2 == 0)
			in->p = in->end;
		if (i % 3 == 0)
			cr_expect(input_more(in));
		input_close(in);
	}
	free(text.p);
	free(packed.p);
}

/* The writer stops within the stream and keeps the pipe open. */
Test(input_unpack, closed_while_the_pipe_is_silent)
{
	struct bytes text = { 0 }, packed = { 0 };
	struct input *in;
	pid_t pid;

	put_text(&text, 8 << 20, 12);
	put_gzip(&packed, text.p, text.n, 1);
	pid = pipe_in(packed.p, packed.n / 2, 1 << 16, 0, true);
	in = input_open("-");
	cr_expect_eq(in->fault, INPUT_OK);
	input_close(in);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	free(text.p);
	free(packed.p);
}

Test(input_unpack, reopened_and_held)
{
	struct bytes text = { 0 }, packed = { 0 };
	struct input_pins holds = { 0 };
	struct input *in, *again;
	const char *kept[64];
	size_t n = 0;

	put_text(&text, 10 << 20, 13);
	put_gzip(&packed, text.p, text.n, 1);
	in = input_open(write_file(&packed));
	input_pin(in, &holds);
	while (input_need(in, 200000)) {
		kept[n++] = in->p;
		in->p += 200000;
		if (n == 20) {
			again = input_reopen(in);
			cr_assert_not_null(again);
			cr_expect_eq(again->packing, INPUT_GZIP);
			cr_expect_eq(read_all(again, &text), text.n);
			input_close(again);
		}
	}
	cr_expect_gt(holds.n, 5);
	input_close(in);
	for (size_t i = 0; i < n; i++)
		cr_assert(memcmp(kept[i], text.p + i * 200000, 200000) == 0);
	input_unpin(&holds);
	cr_expect_eq(holds.n, 0);
	input_pins_free(&holds);
	free(text.p);
	free(packed.p);
}

/* Records that need several buffers. */
Test(input_unpack, long_records)
{
	struct bytes text = { 0 }, packed = { 0 };

	put_text(&text, 10 << 20, 15);
	put_zstd(&packed, text.p, text.n, 1);
	write_file(&packed);
	for (size_t step = 50000; step < 10 << 20; step = step * 3) {
		struct input *in = input_open(sample_path);
		size_t at = 0;

		for (; input_need(in, step); at += step) {
			cr_assert(memcmp(in->p, text.p + at, step) == 0);
			cr_assert_eq(input_offset(in, in->p), at);
			in->p += step;
		}
		cr_assert_eq((size_t)(in->end - in->p), text.n - at);
		cr_assert(memcmp(in->p, text.p + at, text.n - at) == 0);
		input_close(in);
	}
	free(text.p);
	free(packed.p);
}

Test(input_unpack, shrinking_file)
{
	struct bytes text = { 0 }, packed = { 0 };
	struct input *in;

	put_text(&text, 8 << 20, 16);
	put_gzip_stored(&packed, text.p, text.n);
	input_handle_signals();
	in = input_open(write_file(&packed));
	cr_assert_eq(truncate(sample_path, 100000), 0);
	(void)input_drain(in);
	cr_expect_eq(in->fault, INPUT_SHRUNK, "%s", in->fault_text);
	cr_expect(input_shrunk(in));
	input_close(in);
	free(text.p);
	free(packed.p);
}

Test(input_unpack, memory_stays_small)
{
	struct bytes text = { 0 }, one = { 0 }, packed = { 0 };
	struct input *in;
	uint64_t total = 0;
	size_t before, max = 0;

	put_text(&text, 4 << 20, 17);
	put_gzip(&one, text.p, text.n, 1);
	for (int i = 0; i < 32; i++)
		put(&packed, one.p, one.n);
	before = allocated_bytes();
	in = input_open(write_file(&packed));
	while (input_need(in, 1)) {
		total += (uint64_t)(in->end - in->p);
		in->p = in->end;
		max = allocated_bytes() > max ? allocated_bytes() : max;
	}
	cr_expect_eq(total, (uint64_t)text.n * 32);
	cr_expect_eq(in->fault, INPUT_OK);
	cr_expect_lt(max - before, 48U << 20, "%zu bytes", max - before);
	input_close(in);
	free(text.p);
	free(one.p);
	free(packed.p);
}
