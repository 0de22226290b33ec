#ifndef OUTPUT_OUTPUT_TEST_H
#define OUTPUT_OUTPUT_TEST_H

/* Helpers of the tests of output. */

#include "output/output.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every test runs in a folder of its own, so that paths are short. */
static char folder[64];

static inline void folder_make(void)
{
	(void)snprintf(folder, sizeof folder, "/tmp/output_test-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
	(void)umask(022);
}

/* The contents of a folder, sorted, "a b c". */
static inline const char *listing(const char *path)
{
	static char all[4096];
	struct dirent **names = NULL;
	const int n = scandir(path, &names, NULL, alphasort);
	all[0] = '\0';
	cr_assert_geq(n, 0);
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
			if (all[0] != '\0')
				(void)strncat(all, " ", sizeof all - strlen(all) - 1);
			(void)strncat(all, name, sizeof all - strlen(all) - 1);
		}
		free(names[i]);
	}
	free(names);
	return all;
}

static inline void remove_all(const char *path)
{
	struct dirent **names = NULL;
	const int n = scandir(path, &names, NULL, NULL);
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		char *under = malloc(strlen(path) + strlen(name) + 2);
		(void)sprintf(under, "%s/%s", path, name);
		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && unlink(under) != 0)
			remove_all(under);
		free(under);
		free(names[i]);
	}
	free(names);
	(void)rmdir(path);
}

static inline void folder_remove(void)
{
	remove_all(folder);
}

struct bytes {
	char *p;
	size_t n;
};

static inline struct bytes file_read(const char *path)
{
	FILE *f = fopen(path, "rb");
	cr_assert_not_null(f, "%s", path);
	struct bytes b = { .p = malloc(64u << 20) };
	b.n = fread(b.p, 1, 64u << 20, f);
	(void)fclose(f);
	return b;
}

static inline void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "wb");
	cr_assert_not_null(f);
	(void)fputs(text, f);
	cr_assert_eq(fclose(f), 0);
}

static inline void file_is(const char *path, const char *p, size_t n)
{
	struct bytes b = file_read(path);
	cr_assert_eq(b.n, n, "%s: %zu bytes, not %zu", path, b.n, n);
	cr_assert(n == 0 || memcmp(b.p, p, n) == 0, "%s: other bytes", path);
	free(b.p);
}

static inline struct output *opened_by(unsigned threads, const char *path, unsigned flags)
{
	char why[512] = "";
	struct output *o = output_open(path, flags, threads, why, sizeof why);
	cr_assert_not_null(o, "%s", why);
	cr_assert_null(output_error(o));
	return o;
}

static inline struct output *opened(const char *path, unsigned flags)
{
	return opened_by(1, path, flags);
}

static inline void refused(const char *path, unsigned flags, const char *message)
{
	char why[512] = "";
	cr_assert_null(output_open(path, flags, 1, why, sizeof why), "%s", path);
	cr_assert_str_eq(why, message);
}

static inline void committed(struct output *o)
{
	char why[512] = "";
	cr_assert(output_commit(o, why, sizeof why), "%s", why);
}

static inline void not_committed(struct output *o, const char *message)
{
	char why[512] = "";
	cr_assert_not(output_commit(o, why, sizeof why));
	cr_assert_str_eq(why, message);
}

static inline void write_text(struct output *o, const char *text)
{
	cr_assert(output_write(o, text, strlen(text)));
}

static inline uint32_t random_next(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

/* Lines that compress about as well as traces. */
static inline struct bytes some_json(size_t n)
{
	struct bytes b = { .p = malloc(n + 200) };
	uint32_t x = 7;
	while (b.n < n) {
		const unsigned a = random_next(&x), c = random_next(&x);
		b.n += (size_t)sprintf(b.p + b.n,
		                       "{\"name\":\"poll\",\"ph\":\"X\",\"ts\":%u,\"dur\":%u,\"tid\":%u},\n",
		                       a, c % 5000, c % 7);
	}
	b.n = n;
	return b;
}

/* Writes pieces of random sizes up to `max`. */
static inline void write_pieces(struct output *o, struct bytes b, size_t max, uint32_t seed)
{
	for (size_t at = 0; at < b.n;) {
		size_t k = random_next(&seed) % max + 1;
		k = k < b.n - at ? k : b.n - at;
		cr_assert(output_write(o, b.p + at, k));
		at += k;
	}
}

#endif
