/* Inputs packed with xz. */
#include <criterion/criterion.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define SAMPLE "testdata/htdump/good/wire-little.htdump"

/* Returns a packed file; free it. */
static char *xz_copy(const char *p, size_t n, size_t *packed)
{
	const size_t space = lzma_stream_buffer_bound(n);
	char *const to = malloc(space);

	*packed = 0;
	cr_assert(to != NULL && lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (const uint8_t *)p, n,
	                                                (uint8_t *)to, packed, space) == LZMA_OK);
	return to;
}

static void expect(const char *const *args, const char *in, size_t n, int status, const char *said)
{
	struct ran r = run_tool(args, in, n);

	cr_expect_eq(r.status, status, "%s: status %d: %s%s", args[0], r.status, r.out, r.err);
	cr_expect(strstr(r.out, said) != NULL || strstr(r.err, said) != NULL, "no %s in %s%s", said, r.out,
	          r.err);
	ran_free(&r);
}

Test(cmd_xz, pipes_files_and_folders)
{
	char *const dir = make_folder(), path[1100];
	size_t n, packed;
	char *const text = read_whole(SAMPLE, &n), *const xz = xz_copy(text, n, &packed);

	snprintf(path, sizeof path, "%s/a.htdump.xz", dir);
	cr_assert(write_whole(path, xz, packed));
	expect((const char *const[]){ "validate", "-", NULL }, xz, packed, 0, "valid htdump (wire)");
	expect((const char *const[]){ "validate", path, NULL }, NULL, 0, 0, "valid htdump (wire)");
	expect((const char *const[]){ "validate", dir, NULL }, NULL, 0, 0, "valid htdump (wire)");
	expect((const char *const[]){ "info", path, NULL }, NULL, 0, 0, ", xz: ");
	struct ran plain = run_tool((const char *const[]){ "cat", SAMPLE, NULL }, NULL, 0);
	struct ran same = run_tool((const char *const[]){ "cat", path, NULL }, NULL, 0);
	cr_expect_str_eq(plain.out, same.out);
	ran_free(&plain);
	ran_free(&same);
	free(xz);
	free(text);
	remove_folder(dir);
}

Test(cmd_xz, damage_is_a_finding)
{
	size_t n, packed;
	char *const text = read_whole(SAMPLE, &n);
	char *const xz = xz_copy(text, n, &packed);
	char *const more = malloc(packed + 1);

	expect((const char *const[]){ "validate", "-", NULL }, xz, packed - 5, 1, "[input/packed-cut]");
	memcpy(more, xz, packed);
	more[packed] = 'x';
	expect((const char *const[]){ "validate", "-", NULL }, more, packed + 1, 0,
	       "[input/packed-trailing]");
	more[packed / 2] = (char)(more[packed / 2] ^ 1);
	expect((const char *const[]){ "validate", "-", NULL }, more, packed, 1, "[input/packed-corrupt]");
	free(more);
	free(xz);
	free(text);
}

/* Zeros after and between streams must be a multiple of four bytes. */
Test(cmd_xz, padding)
{
	static const struct {
		size_t zeros;
		bool two;
		int status;
		const char *said;
	} rows[] = {
		{ 4, false, 0, "valid htdump" },
		{ 8, true, 0, "valid htdump" },
		{ 2 << 20, false, 0, "valid htdump" },
		{ 3, false, 0, "[input/packed-trailing]" },
		{ (2 << 20) + 1, false, 0, "[input/packed-trailing]" },
		{ 1, true, 1, "[input/packed-corrupt]" },
		{ 6, true, 1, "[input/packed-corrupt]" },
	};
	char *const dir = make_folder(), path[1100];
	size_t n, first, second;
	char *const text = read_whole(SAMPLE, &n);
	char *const a = xz_copy(text, n / 2, &first), *const b = xz_copy(text + n / 2, n - n / 2, &second);
	char *const whole = xz_copy(text, n, &n), *const all = malloc(n + first + second + (3 << 20));

	snprintf(path, sizeof path, "%s/a.htdump.xz", dir);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t size = rows[i].two ? first : n;
		memcpy(all, rows[i].two ? a : whole, size);
		memset(all + size, 0, rows[i].zeros);
		size += rows[i].zeros;
		memcpy(all + size, b, second);
		size += rows[i].two ? second : 0;
		cr_assert(write_whole(path, all, size));
		expect((const char *const[]){ "validate", path, NULL }, NULL, 0, rows[i].status,
		       rows[i].said);
		expect((const char *const[]){ "validate", "-", NULL }, all, size, rows[i].status,
		       rows[i].said);
	}
	free(all);
	free(whole);
	free(b);
	free(a);
	free(text);
	remove_folder(dir);
}

/* Outputs are packed only with gzip and zstd. */
Test(cmd_xz, refused_as_output)
{
	expect((const char *const[]){ "convert", SAMPLE, "a.json.xz", NULL }, NULL, 0, 3,
	       "unknown suffix .xz");
}
