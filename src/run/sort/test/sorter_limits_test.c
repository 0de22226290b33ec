#define _GNU_SOURCE /* mkdtemp */
#include "run/sort/sorter.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "output/test/output_test.h"
#include "run/sort/test/sorter_run_test.h"
#include "test/support/allocated_test.h"

/* A full disk, a lack of memory, and the memory that the sorter uses. */

TestSuite(sorter_limits, .init = folder_make, .fini = folder_remove);

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static struct sorter sorter_for(uint64_t memory, const char *temp_near)
{
	const struct sorter_options options = { .order = { .order = ORDER_TIME },
		                                .memory = memory,
		                                .temp_near = temp_near };
	struct sorter s;

	sorter_init(&s, &options);
	return s;
}

/* Small events at random times. */
static void fill(struct event_samples *samples, struct batch *b)
{
	static const struct class cls = { .index = 0 };
	static const struct track track = { .index = 0 };

	batch_recycle(b);
	for (; b->n < b->cap; b->n++)
		b->events[b->n] = (struct event){ .ts = event_samples_random(samples),
			                          .cls = &cls,
			                          .track = &track,
			                          .name = slice_str("a name") };
}

/* Adds up to n events; returns the number of added ones. */
static uint64_t add(struct sorter *s, uint64_t n)
{
	struct event_samples samples;
	struct batch b;
	uint64_t done = 0;

	event_samples_init(&samples, 1);
	cr_assert(batch_init(&b, 1000, false));
	while (done < n) {
		fill(&samples, &b);
		if (!sorter_add(s, &b))
			break;
		done += b.n;
	}
	batch_free(&b);
	return done;
}

/* Expects that the sorter failed for this reason and has no output. */
static void must_have_failed(struct sorter *s, const char *why)
{
	struct batch b;

	cr_assert(batch_init(&b, 10, false));
	cr_assert_str_eq(sorter_says(s), why);
	cr_assert_eq(add(s, 1), 0);
	cr_assert_eq(sorter_next(s, &b), SORTER_NO_RESULT);
	cr_assert_not(sorter_end(s));
	cr_assert_eq(sorter_next(s, &b), SORTER_NO_RESULT);
	cr_assert_eq(b.n + b.nfields, 0);
	cr_assert_str_eq(sorter_says(s), why);
	sorter_free(s);
	batch_free(&b);
}

Test(sorter_limits, folder_missing)
{
	const int before = open_descriptors();
	struct sorter s = sorter_for(0, "missing/out.json");

	cr_assert_lt(add(&s, 100000), 100000);
	must_have_failed(&s,
	                 "missing: cannot create the temporary file for sorting: No such file or directory");
	cr_assert_eq(open_descriptors(), before);
}

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	(void)signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static const char too_large[] = ".: cannot write the temporary file for sorting: File too large";

Test(sorter_limits, disk_full_while_adding)
{
	struct sorter s = sorter_for(0, "out.json");
	const int before = open_descriptors();

	limit_files(500000);
	cr_assert_lt(add(&s, 100000), 100000);
	must_have_failed(&s, too_large);
	cr_assert_eq(open_descriptors(), before);
	cr_assert_str_eq(listing("."), "");
}

/* The disk is full at the last write, or at the merges before the end. */
Test(sorter_limits, disk_full_at_the_end)
{
	for (int i = 0; i < 4; i++) {
		struct sorter s = sorter_for(0, "out.json");
		limit_files(RLIM_INFINITY);
		cr_assert_eq(add(&s, 20000), 20000);
		limit_files(s.file.size + (rlim_t)i * 50000);
		cr_assert_not(sorter_end(&s));
		must_have_failed(&s, too_large);
		cr_assert_str_eq(listing("."), "");
	}
}

/* The disk fails while sorted events are read back. */
Test(sorter_limits, read_error)
{
	struct sorter s = sorter_for(0, "out.json");
	enum sorter_status status = SORTER_MORE;
	const int null = open("/dev/null", O_RDWR);
	struct batch b;

	cr_assert(batch_init(&b, 10, false));
	cr_assert_eq(add(&s, 50000), 50000);
	cr_assert(sorter_end(&s));
	cr_assert_eq(dup2(null, s.file.fd), s.file.fd);
	for (; status == SORTER_MORE; batch_recycle(&b)) {
		status = sorter_next(&s, &b);
		cr_assert_eq(status == SORTER_MORE, b.n > 0);
	}
	batch_free(&b);
	must_have_failed(&s, ".: cannot read the temporary file for sorting: Input/output error");
	(void)close(null);
}

TestSuite(host_sorter, .init = folder_make, .fini = folder_remove);

/* The limit counts the address space, of which libraries and the allocator use unpredictable parts. */
Test(host_sorter, no_memory)
{
	if (SANITIZED)
		return;
	struct sorter s = sorter_for(UINT64_C(1) << 30, "out.json");
	unsigned long pages = 0;
	FILE *const f = fopen("/proc/self/statm", "r");
	cr_assert(f != NULL && fscanf(f, "%lu", &pages) == 1);
	(void)fclose(f);
	struct rlimit limit = { .rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (20 << 20),
		                .rlim_max = RLIM_INFINITY };

	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
	cr_assert_lt(add(&s, 1000000), 1000000);
	must_have_failed(&s, "no memory to sort events");
}

static void takes_no_more_than(uint64_t memory, uint64_t events)
{
	struct sorter s = sorter_for(memory, "out.json");
	struct batch in, out;
	enum sorter_status status;
	uint64_t n = 0;
	size_t max = 0;

	cr_assert(batch_init(&in, 1000, false) && batch_init(&out, 1000, false));
	const size_t before = allocated_bytes();
	for (uint64_t i = 0; i < events; i += in.n) {
		struct event_samples samples = { .random = i };
		fill(&samples, &in);
		cr_assert(sorter_add(&s, &in), "%s", sorter_says(&s));
		max = allocated_bytes() > max ? allocated_bytes() : max;
	}
	cr_assert(sorter_end(&s), "%s", sorter_says(&s));
	for (; (status = sorter_next(&s, &out)) == SORTER_MORE; batch_recycle(&out)) {
		n += out.n;
		max = allocated_bytes() > max ? allocated_bytes() : max;
	}
	cr_assert_eq(status, SORTER_END);
	cr_assert_geq(n, events);
	cr_assert_leq(max - before, memory + (1 << 20), "%zu bytes", max - before);
	cr_assert_gt(s.counts.spilled, 0);
	sorter_free(&s);
	batch_free(&in);
	batch_free(&out);
}

Test(sorter_limits, memory)
{
	if (SANITIZED)
		return;
	takes_no_more_than(0, 300000);
	takes_no_more_than(2 << 20, 300000);
	takes_no_more_than(16 << 20, 1500000);
}

/* The memory of a single large event is freed. */
Test(sorter_limits, memory_after_a_large_event)
{
	static const struct class cls = { .index = 0 };
	const size_t size = (size_t)40 << 20;
	struct sorter s = sorter_for(0, "out.json");
	char *const text = calloc(1, size);
	struct batch b;

	if (SANITIZED)
		return;
	cr_assert(text != NULL && batch_init(&b, 1, false));
	b.events[b.n++] =
	    (struct event){ .cls = &cls, .phase = PHASE_STRUCTURE, .name = slice_of(text, size) };
	const size_t before = allocated_bytes();
	cr_assert(sorter_add(&s, &b));
	cr_assert_eq(add(&s, 3000), 3000);
	cr_assert_leq(allocated_bytes(), before + (1 << 20), "%zu bytes", allocated_bytes() - before);
	sorter_free(&s);
	batch_free(&b);
	free(text);
}
