/* Recovers cut and damaged samples of all formats, and checks the promises of recover_rig_test.h. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "run/write/test/recover_rig_test.h"
#include "test/support/splitmix.h"
#include "test/support/strength.h"

/* RECOVER_SAVE: a file for the first input that breaks a promise. */
#define LARGEST 20000
#define ROOM (2 * LARGEST)

/* ---- damages ---- */

static size_t below(uint64_t *seed, size_t n)
{
	return n > 0 ? (size_t)(splitmix_next(seed) % n) : 0;
}

struct swept {
	const struct format *format;
	size_t tried, readable;
};

static void expect_promises(const char *path, const char *p, size_t n, bool slowly, const char *how,
                            uint64_t number, struct swept *all)
{
	bool readable;
	const char *fault = recover_fault(all->format, p, n, &readable);

	if (fault == NULL && slowly)
		fault = recover_fault_slowly(all->format, p, n, 61);
	all->tried++;
	all->readable += readable;
	if (fault != NULL && getenv("RECOVER_SAVE") != NULL)
		write_whole(getenv("RECOVER_SAVE"), p, n);
	cr_assert_null(fault, "%s, %s %llu: %s", path, how, (unsigned long long)number, fault);
}

static void sweep(const char *path, const char *p, size_t n, struct swept *all)
{
	static char space[ROOM];
	const unsigned long damages = strength(15, 100, 100000);
	const size_t largest = strength(400, 700, SIZE_MAX); /* of which all prefixes are tried */

	expect_promises(path, p, n, true, "whole", 0, all);
	for (size_t i = 1; i < n && n <= largest; i++)
		expect_promises(path, p, i, false, "prefix of", i, all);
	for (unsigned long i = 0; i < damages; i++) {
		uint64_t seed = i * 1000003 + n;
		size_t k = n, from, to;
		memcpy(space, p, n);
		for (size_t times = 1 + below(&seed, 3); times > 0 && k > 0 && k < ROOM - 64; times--)
			k = recover_damage(space, k, &seed, &from, &to);
		expect_promises(path, space, k, i % 16 == 0, "damage", i, all);
	}
}

/* ---- samples ---- */

static bool is_sample(const char *name)
{
	const char *const dot = strrchr(name, '.');

	return dot != NULL && strcmp(dot, ".expect") != 0 && strcmp(dot, ".gz") != 0 &&
	       strcmp(dot, ".zst") != 0 && strcmp(dot, ".xz") != 0;
}

static void sweep_folder(const char *dir, struct swept *all)
{
	char **const names = list_folder(dir, "");
	char path[700];
	size_t n;

	cr_assert_not_null(names, "%s", dir);
	for (size_t i = 0; names[i] != NULL; i++) {
		if (!is_sample(names[i]))
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		char *const p = read_whole(path, &n);
		if (p != NULL && n > 0 && n <= LARGEST)
			sweep(path, p, n, all);
		free(p);
	}
	list_free(names);
}

/* One process per format: 100,000 damages of a sample take minutes. */
ParameterizedTestParameters(recover_sweep, promises_hold)
{
	static int numbers[64];
	size_t n = 0;

	for (int i = 0; formats[i] != NULL && n < 64; i++)
		if (formats[i]->recover != NULL)
			numbers[n++] = i;
	return cr_make_param_array(int, numbers, n);
}

ParameterizedTest(int *number, recover_sweep, promises_hold)
{
	struct swept all = { .format = formats[*number] };
	char dir[200];

	snprintf(dir, sizeof dir, "testdata/%s/good", all.format->name);
	sweep_folder(dir, &all);
	cr_expect_gt(all.readable, all.tried / 4, "%zu of %zu", all.readable, all.tried);
}

/* The first bytes determine the layout: for any values of them, the output is whole. */
static void expect_again(const struct format *format, const char *path, const char *p, size_t n)
{
	struct recovered first, again;

	recover_bytes(&first, format, true, p, n, 0);
	if (first.readable && first.records > 0) {
		recover_bytes(&again, format, true, first.p, first.n, 0);
		cr_expect(again.readable && again.n == first.n && memcmp(again.p, first.p, first.n) == 0 &&
		              again.dropped == 0,
		          "%s: of %zu bytes that were kept, %zu are kept again", path, first.n, again.n);
		recovered_free(&again);
	}
	recovered_free(&first);
}

static void change_first(const struct format *format, const char *path, char *p, size_t n)
{
	for (size_t i = 0; i < 64 && i < n; i++) {
		const char was = p[i], values[] = { (char)(was ^ 1), (char)(was ^ 128), 0, (char)255, 2 };
		for (size_t k = 0; k < sizeof values; k++) {
			p[i] = values[k];
			expect_again(format, path, p, n);
		}
		p[i] = was;
	}
}

ParameterizedTestParameters(recover_sweep, first_bytes_changed)
{
	static int numbers[64];
	size_t n = 0;

	for (int i = 0; formats[i] != NULL && n < 64; i++)
		if (formats[i]->recover != NULL)
			numbers[n++] = i;
	return cr_make_param_array(int, numbers, n);
}

ParameterizedTest(int *number, recover_sweep, first_bytes_changed)
{
	const struct format *const format = formats[*number];
	char dir[200], path[700];
	size_t n, tried = 0;

	snprintf(dir, sizeof dir, "testdata/%s/good", format->name);
	char **const names = list_folder(dir, "");
	for (size_t i = 0; names[i] != NULL && tried < 8; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		char *const p = is_sample(names[i]) ? read_whole(path, &n) : NULL;
		if (p != NULL && n > 0 && n <= LARGEST) {
			change_first(format, path, p, n);
			tried++;
		}
		free(p);
	}
	list_free(names);
	cr_expect_gt(tried, 0);
}
