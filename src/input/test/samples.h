#ifndef INPUT_TEST_SAMPLES_H
#define INPUT_TEST_SAMPLES_H

/* Test aid of input/: packed bytes, a child that feeds standard input, and the file of a test.  Needs
 * _GNU_SOURCE. */

#include <criterion/criterion.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <lzma.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "input/open.h"

/* ---- packed bytes ---- */

/* Made with the libraries, or by hand where they cannot make all that the format allows. */
struct bytes {
	char *p;
	size_t n, cap;
};

static inline void put(struct bytes *b, const void *p, size_t n)
{
	if (b->cap - b->n < n) {
		b->cap = (b->n + n) * 2;
		b->p = realloc(b->p, b->cap);
		if (b->p == NULL)
			abort();
	}
	if (n > 0)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

static inline void put_le32(struct bytes *b, uint32_t v)
{
	const unsigned char le[4] = { (unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
		                      (unsigned char)(v >> 24) };

	put(b, le, 4);
}

/* xorshift; the state must not be 0 */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Text that packs about as well as a trace does. */
static inline void put_text(struct bytes *b, size_t n, uint64_t seed)
{
	static const char *const words[] = { "read", "write", "openat", "close", "epoll_wait", "mmap" };
	char line[128];

	for (size_t i = 0; b->n < n; i++) {
		const uint64_t r = random_next(&seed);
		const int length = snprintf(
		    line, sizeof line, "{\"id\":%zu,\"name\":\"%s\",\"ts\":%llu,\"dur\":%d}\n", i,
		    words[r % 6], (unsigned long long)(1700000000000 + i * 37 + r % 29), (int)(r >> 55));

		put(b, line, (size_t)length < n - b->n ? (size_t)length : n - b->n);
	}
}

/* Deflated data of one member, after a header. */
static inline void put_deflated(struct bytes *b, const char *p, size_t n, uint32_t level)
{
	struct isal_zstream *z = calloc(1, sizeof *z);
	const size_t space = n + n / 2 + 1000;
	char *out = malloc(space);
	unsigned char *work = malloc(ISAL_DEF_LVL3_DEFAULT);
	char *copy = malloc(n + 1);

	if (n > 0)
		memcpy(copy, p, n);
	isal_deflate_init(z);
	z->level = level;
	z->level_buf = work;
	z->level_buf_size = ISAL_DEF_LVL3_DEFAULT;
	z->end_of_stream = 1;
	z->next_in = (uint8_t *)copy;
	z->avail_in = (uint32_t)n;
	z->next_out = (uint8_t *)out;
	z->avail_out = (uint32_t)space;
	if (isal_deflate(z) != COMP_OK || z->internal_state.state != ZSTATE_END)
		abort();
	put(b, out, space - z->avail_out);
	free(copy);
	free(work);
	free(out);
	free(z);
}

static inline void put_trailer(struct bytes *b, const char *p, size_t n)
{
	put_le32(b, crc32_gzip_refl(0, (const unsigned char *)p, n));
	put_le32(b, (uint32_t)n);
}

static inline void put_gzip(struct bytes *b, const char *p, size_t n, uint32_t level)
{
	put(b, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
	put_deflated(b, p, n, level);
	put_trailer(b, p, n);
}

/* All fields a header can have: FTEXT, FHCRC, FEXTRA, FNAME, FCOMMENT. */
static inline void put_gzip_with_fields(struct bytes *b, const char *p, size_t n)
{
	const size_t start = b->n;
	uint32_t crc;

	put(b, "\x1f\x8b\x08\x1f\1\2\3\4\2\3", 10);
	put(b, "\5\0hello", 7);
	put(b, "a name.json", 12);
	put(b, "a comment", 10);
	crc = crc32_gzip_refl(0, (const unsigned char *)b->p + start, b->n - start);
	put(b, (char[2]){ (char)crc, (char)(crc >> 8) }, 2);
	put_deflated(b, p, n, 1);
	put_trailer(b, p, n);
}

/* Stored blocks of at most 65535 bytes. */
static inline void put_gzip_stored(struct bytes *b, const char *p, size_t n)
{
	const char *const all = p;
	const size_t all_n = n;

	put(b, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
	for (;;) {
		const size_t part = n < 65535 ? n : 65535;
		const unsigned char head[5] = { part == n, (unsigned char)part, (unsigned char)(part >> 8),
			                        (unsigned char)~part, (unsigned char)(~part >> 8) };

		put(b, head, 5);
		put(b, p, part);
		if (part == n)
			break;
		p += part;
		n -= part;
	}
	put_trailer(b, all, all_n);
}

static inline void put_zstd(struct bytes *b, const char *p, size_t n, int level)
{
	const size_t space = ZSTD_compressBound(n);
	char *out = malloc(space);
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t r;

	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	r = ZSTD_compress2(c, out, space, p, n);
	if (ZSTD_isError(r))
		abort();
	put(b, out, r);
	ZSTD_freeCCtx(c);
	free(out);
}

static inline void put_xz(struct bytes *b, const char *p, size_t n, uint32_t preset)
{
	const size_t space = lzma_stream_buffer_bound(n);
	uint8_t *const out = malloc(space);
	size_t at = 0;

	if (lzma_easy_buffer_encode(preset, LZMA_CHECK_CRC64, NULL, (const uint8_t *)p, n, out, &at, space) !=
	    LZMA_OK)
		abort();
	put(b, out, at);
	free(out);
}

/* ---- standard input ---- */

/* A child writes the bytes in portions, and may then keep the pipe open without writing. */
static inline pid_t pipe_in(const char *p, size_t n, size_t portion, unsigned pause_us, bool then_wait)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0)
		abort();
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		signal(SIGPIPE, SIG_DFL);
		for (size_t at = 0; at < n;) {
			const size_t left = n - at < portion ? n - at : portion;
			const ssize_t w = write(ends[1], p + at, left);

			if (w <= 0)
				_exit(1);
			at += (size_t)w;
			if (pause_us > 0)
				nanosleep(&(struct timespec){ .tv_nsec = pause_us * 1000L }, NULL);
		}
		if (then_wait)
			sleep(30);
		_exit(0);
	}
	close(ends[1]);
	dup2(ends[0], 0);
	close(ends[0]);
	return pid;
}

/* ---- a file ---- */

static char sample_path[] = "/tmp/input-sample-XXXXXX";

static inline void samples_begin(void)
{
	const int fd = mkstemp(sample_path);

	if (fd < 0)
		abort();
	close(fd);
}

static inline void samples_end(void)
{
	unlink(sample_path);
}

static inline const char *write_file(const struct bytes *b)
{
	FILE *f = fopen(sample_path, "wb");

	if (f == NULL || fwrite(b->p, 1, b->n, f) != b->n || fclose(f) != 0)
		abort();
	return sample_path;
}

/* Reads to the end in windows of odd sizes; the bytes must be the start of `text`.  Returns their number. */
static inline size_t read_all(struct input *in, const struct bytes *text)
{
	size_t at = 0;
	uint64_t seed = 5;

	for (;;) {
		const size_t want = 1 + random_next(&seed) % 70000;
		size_t n;

		(void)input_need(in, want);
		n = (size_t)(in->end - in->p);
		if (n == 0)
			break;
		if (n > want)
			n = want;
		cr_assert_leq(n, text->n - at);
		cr_assert(memcmp(in->p, text->p + at, n) == 0, "other bytes at %zu", at);
		cr_assert_eq(input_offset(in, in->p), at);
		in->p += n;
		at += n;
	}
	cr_assert(in->last);
	cr_assert_not(input_more(in));
	return at;
}

#endif
