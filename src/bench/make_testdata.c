/*
 * Writes testdata/htdump: every sample of ht_samples.h, and for the bad ones what must be found in them.
 * The same program writes the same bytes; run it again after changing a sample.
 */
#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "bench/ht_samples.h"

static bool
write_file(const char *path, const void *p, size_t n)
{
	FILE *const f = fopen(path, "wb");
	bool ok = f != NULL && fwrite(p, 1, n, f) == n;

	if (f != NULL && fclose(f) != 0)
		ok = false;
	if (!ok)
		fprintf(stderr, "make_testdata: %s: %s\n", path, strerror(errno));
	return ok;
}

/* One gzip member with neither name nor time in its head.  Returns its size; 0: failed. */
static size_t
gzip(void *out, size_t cap, const unsigned char *p, size_t n)
{
	unsigned char level_buf[ISAL_DEF_LVL1_DEFAULT];
	struct isal_zstream s;

	isal_deflate_stateless_init(&s);
	s.gzip_flag = IGZIP_GZIP;
	s.level = 1;
	s.level_buf = level_buf;
	s.level_buf_size = sizeof level_buf;
	s.end_of_stream = 1;
	s.next_in = malloc(n + 1); /* ISA-L wants it writable */
	if (s.next_in == NULL)
		return 0;
	memcpy(s.next_in, p, n);
	unsigned char *const copy = s.next_in;
	s.avail_in = (uint32_t)n;
	s.next_out = out;
	s.avail_out = (uint32_t)cap;
	const bool ok = isal_deflate_stateless(&s) == COMP_OK;
	free(copy);
	return ok ? s.total_out : 0;
}

static bool
write_packed(const char *stem, const struct ht_build *b, enum ht_packing packing)
{
	static const char *const suffix[] = { "", ".gz", ".gz", ".zst" };
	const size_t cap = 2 * b->n + 4096;
	unsigned char *const out = malloc(cap);
	char path[512];
	size_t n = 0;

	if (out == NULL)
		return false;
	snprintf(path, sizeof path, "%s.htdump%s", stem, suffix[packing]);
	if (packing == HT_PLAIN) {
		memcpy(out, b->p, b->n);
		n = b->n;
	} else if (packing == HT_GZIP) {
		n = gzip(out, cap, b->p, b->n);
	} else if (packing == HT_GZIP_MEMBERS) {
		n = gzip(out, cap, b->p, 100);
		n += gzip(out + n, cap - n, b->p, 0); /* empty members are allowed */
		n += gzip(out + n, cap - n, b->p + 100, b->n - 100);
	} else {
		n = ZSTD_compress(out, cap, b->p, b->n, 19);
	}
	const bool ok = !(packing == HT_ZSTD && ZSTD_isError(n)) && write_file(path, out, n);
	free(out);
	return ok;
}

static bool
write_expected(const char *stem, const struct ht_bad *sample, const struct ht_expected *e)
{
	char path[512], text[1024];
	int n = snprintf(text, sizeof text, "exit %d\n", sample->exit_status);

	for (size_t i = 0; i < e->n; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "htdump/%s %llu\n", e->row[i].rule,
		              (unsigned long long)e->row[i].offset);
	snprintf(path, sizeof path, "%s.expect", stem);
	return write_file(path, text, (size_t)n);
}

static bool
write_good(const char *dir, const struct ht_good *sample)
{
	struct ht_build b;
	char stem[400];

	ht_init(&b, sample->layout, sample->big);
	sample->make(&b);
	snprintf(stem, sizeof stem, "%s/good/%s", dir, sample->name);
	const bool ok = write_packed(stem, &b, sample->packing);
	ht_free(&b);
	return ok;
}

static bool
write_bad(const char *dir, const struct ht_bad *sample)
{
	struct ht_expected e = { 0 };
	struct ht_build b;
	char stem[400];

	ht_init(&b, sample->layout, sample->big);
	sample->make(&b, &e);
	snprintf(stem, sizeof stem, "%s/bad/%s", dir, sample->name);
	const bool ok = write_packed(stem, &b, sample->packing) && write_expected(stem, sample, &e);
	ht_free(&b);
	return ok;
}

static bool
make_dirs(const char *dir)
{
	static const char *const below[] = { "", "/good", "/bad" };
	char path[400];

	for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
		snprintf(path, sizeof path, "%s%s", dir, below[i]);
		if (mkdir(path, 0777) != 0 && errno != EEXIST) {
			fprintf(stderr, "make_testdata: %s: %s\n", path, strerror(errno));
			return false;
		}
	}
	return true;
}

int
main(int argc, char **argv)
{
	const char *const dir = argc > 1 ? argv[1] : "testdata/htdump";
	bool ok = make_dirs(dir);

	for (const struct ht_good *g = ht_good; ok && g->name != NULL; g++)
		ok = write_good(dir, g);
	for (const struct ht_bad *s = ht_bad; ok && s->name != NULL; s++)
		ok = write_bad(dir, s);
	return ok ? 0 : 1;
}
