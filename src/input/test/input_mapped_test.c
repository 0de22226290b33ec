#define _GNU_SOURCE /* mkstemp */
#include <criterion/criterion.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/test/samples.h"

/* Mapped files that change while they are read, and the memory that they take. */
TestSuite(input_mapped, .init = samples_begin, .fini = samples_end);

static char ten[] = "0123456789";

static uint64_t sum(const char *p, const char *end)
{
	uint64_t total = 0;

	for (; p < end; p++)
		total += (unsigned char)*p;
	return total;
}

Test(input_mapped, shrinking_file)
{
	char *bytes = malloc(1 << 20);
	const char *path;
	struct input *in, *again;

	memset(bytes, 1, 1 << 20);
	path = write_file(&(struct bytes){ .p = bytes, .n = 1 << 20 });
	input_handle_signals();
	in = input_open(path);
	again = input_reopen(in);
	cr_expect_not(input_shrunk(in));
	cr_assert_eq(truncate(path, 10000), 0);
	cr_expect_eq(sum(in->p, in->end), 10000);
	in->p += 20000;
	cr_expect(input_shrunk(in));
	cr_expect_eq(in->fault, INPUT_SHRUNK);
	cr_expect_eq(in->fault_offset, 20000);
	in->p = in->end;
	cr_expect(input_shrunk(in));
	again->p = again->end;
	cr_expect(input_shrunk(again));
	input_close(again);
	input_close(in);
	free(bytes);
}

Test(input_mapped, file_shrinking_within_its_last_page)
{
	const char *path = write_file(&(struct bytes){ .p = ten, .n = 10 });
	struct input *in = input_open(path);

	cr_expect_not(input_shrunk(in));
	cr_assert_eq(truncate(path, 9), 0);
	cr_expect_eq(input_drain(in), 10);
	cr_expect(input_shrunk(in));
	cr_expect_eq(in->fault, INPUT_SHRUNK);
	input_close(in);
}

Test(input_mapped, growing_file_is_read_to_its_first_size)
{
	const char *path = write_file(&(struct bytes){ .p = ten, .n = 10 });
	struct input *in = input_open(path);

	cr_assert_eq(truncate(path, 100000), 0);
	cr_expect_eq(input_drain(in), 10);
	cr_expect_not(input_shrunk(in));
	input_close(in);
}

Test(input_mapped, other_sigbus_still_kills, .signal = SIGBUS)
{
	input_handle_signals();
	raise(SIGBUS);
}

TestSuite(host_input, .init = samples_begin, .fini = samples_end);

static long resident_kb(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long size = 0, resident = 0;

	if (f == NULL || fscanf(f, "%ld %ld", &size, &resident) != 2)
		abort();
	fclose(f);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Runs `fn` on a sparse file of so many MiB three times; the least growth of resident memory counts, as the
 * kernel counts pages in batches and reclaims others at any time. */
static void grows_less_than(long kib, unsigned mib, long (*fn)(const char *path))
{
	const char *path = write_file(&(struct bytes){ .p = ten });
	long min = LONG_MAX;

	cr_assert_eq(truncate(path, (off_t)mib << 20), 0);
	for (int i = 0; i < 3; i++) {
		const long grown = fn(path);
		min = grown < min ? grown : min;
	}
	cr_expect_lt(min, kib, "%ld KiB", min);
}

/* Batches read records that the reader has passed. */
static long look_back(const char *path)
{
	const size_t step = 1 << 20;
	const long before = resident_kb();
	struct input *const in = input_open(path);
	const char *const start = in->p;
	while (in->p < in->end) {
		const char *const late = in->p - start < 2 << 20 ? start : in->p - (2 << 20);
		in->p += step;
		input_release_read(in);
		cr_assert_eq(sum(late, late + (2 << 20)), 0);
	}
	const long grown = resident_kb() - before;
	input_close(in);
	return grown;
}

Test(host_input, memory_that_is_looked_at_later_stays_small_too)
{
	grows_less_than(28 << 10, 128, look_back);
}

static long read_on(const char *path)
{
	const long before = resident_kb();
	struct input *const in = input_open(path);
	long max = 0;

	while (in->p < in->end) {
		cr_assert_eq(sum(in->p, in->p + 65536), 0);
		in->p += 65536;
		input_release_read(in);
		if (resident_kb() > max)
			max = resident_kb();
	}
	in->p -= 100 << 20; /* going back is allowed */
	cr_expect_eq(sum(in->p, in->p + 65536), 0);
	input_release_read(in);
	input_close(in);
	return max - before;
}

Test(host_input, mapped_memory_stays_small)
{
	grows_less_than(24 << 10, 192, read_on);
}
