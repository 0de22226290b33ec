/* The memory of a batch lives as long as the batch and the trace, even if the reader is closed. */
#include <criterion/criterion.h>
#include <pthread.h>

#include "cmd/test/samples_test_util.h"
#include "dftracer/test/batches_test.h"
#include "input/private.h"

#define ALL (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)

static struct live_batches kept;

static void *count_changed(void *to)
{
	*(size_t *)to = live_batches_changed(&kept);
	return NULL;
}

/* Expects that no batch has changed, checked by two threads at once. */
static void expect_unchanged(const char *what)
{
	pthread_t threads[2];
	size_t changed[2];

	cr_expect_eq(kept.status, READ_END, "%s", what);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, count_changed, &changed[i]), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
		cr_expect_eq(changed[i], 0, "%s: %zu of %zu batches", what, changed[i], kept.n);
	}
	live_batches_free(&kept);
}

static void read_all(struct input *in, unsigned want)
{
	live_batches_read(&kept, format_by_name("dftracer"), in, want, 16);
}

static void expect_file(const char *path, unsigned want)
{
	size_t n;
	char *const p = read_unpacked(path, &n);

	cr_assert_not_null(p, "%s", path);
	read_all(input_open(path), want);
	expect_unchanged(path);
	read_all(input_from_memory_slowly(p, n, n < 20000 ? 100 : 10000), want);
	free(p);
	expect_unchanged(path);
}

static void expect_folder(const char *folder)
{
	char **const names = list_folder(folder, "");
	char path[1024];

	for (size_t i = 0; names[i] != NULL; i++) {
		if (strstr(names[i], ".pfw") == NULL)
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		expect_file(path, ALL);
		expect_file(path, ALL | WANT_RAW);
	}
	list_free(names);
}

Test(dftracer_lifetime, samples)
{
	expect_folder("testdata/dftracer/good");
	expect_folder("testdata/dftracer/bad");
}

Test(dftracer_lifetime, real_traces)
{
	const char *const dir = real_traces();
	char folder[600];

	snprintf(folder, sizeof folder, "%s/dftracer", dir);
	expect_folder(folder);
}

/* ---- names defined after their use ---- */

static const char late[] =
    "{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":1,\"dur\":1,\"ph\":\"X\","
    "\"args\":{\"fhash\":\"00000000000000ff\"}}\n"
    "{\"id\":2,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":8,\"ph\":\"M\","
    "\"args\":{\"name\":\"/late\",\"value\":\"00000000000000ff\"}}\n"
    "{\"id\":3,\"name\":\"thread_name\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":8,\"ph\":\"M\","
    "\"args\":{\"name\":\"worker\",\"value\":\"thread_name\"}}\n";

Test(dftracer_lifetime, names_found_by_looking_ahead)
{
	char *const dir = make_folder(), path[600];

	snprintf(path, sizeof path, "%s/late.pfw", dir);
	cr_assert(write_whole(path, late, sizeof late - 1));
	read_all(input_open(path), ALL);
	const struct batch *const b = kept.batches[0];
	cr_assert_eq(b->events[0].nfields, 2);
	cr_expect(slice_is(value_text(&b->fields[b->events[0].first_field + 1].value), "/late"));
	cr_expect(slice_is(b->events[0].track->name, "worker"));
	expect_unchanged(path);
	remove_folder(dir);
}

/* ---- no memory for the look-ahead pass ---- */

static struct input *cannot_reopen(const struct input *in)
{
	(void)in;
	return NULL;
}

/* The reader fails; it does not report late names. */
Test(dftracer_lifetime, no_memory_for_looking_ahead)
{
	struct input *const in = input_from_memory(late, sizeof late - 1);
	struct input_source_ops ops = *in->ops;

	ops.reopen = cannot_reopen;
	in->ops = &ops;
	read_all(in, ALL);
	cr_expect_eq(kept.status, READ_NO_MEMORY);
	live_batches_free(&kept);
}
