/* Compression: gzip by ISA-L, with a header without name and time; zstd at level 1 with a checksum of the
 * content.  Both write one stream, which every reader of the format accepts, with the same bytes for any
 * number of threads.
 *
 * gzip: the input is cut into blocks.  Threads deflate them, each with the end of the block before as its
 * dictionary, and with padding in its last byte.  The caller's thread passes them on in order, as one member.
 * zstd: libzstd has its own threads. */
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/os.h"
#include "output/private.h"

enum {
	THREADS_MAX = 8,
	GZIP_LEVEL = 1,
	WINDOW = IGZIP_HIST_SIZE,
	FIRST_BYTES = 16,
	BLOCK = 1 << 20,
	BLOCK_PACKED = BLOCK + BLOCK / 8 + 4096, /* data that does not shrink is stored */
	ZSTD_LEVEL = 1, /* traces are mostly numbers: level 3 takes 1.4 times as long, and is 4 % larger */
	ZSTD_JOB = 1 << 20, /* bytes of input for each thread of libzstd */
	ZSTD_OUT = 256 * 1024,
};

/* ---- gzip ---- */

/* A thread's memory for deflating. */
struct deflate {
	struct isal_zstream stream;
	uint8_t level[ISAL_DEF_LVL1_EXTRA_LARGE];
};

struct gzip_block {
	uint8_t in[WINDOW + BLOCK]; /* the dictionary ends at WINDOW */
	uint8_t out[BLOCK_PACKED];
	size_t dictionary, n; /* bytes of `in`: dictionary, and block */
	size_t packed;        /* bytes of `out`; 0: failed */
	bool done;
};

/* Block i is in ring[i % nring] from when it is added until it is sent. */
struct gzip {
	struct deflate *own; /* memory of the caller's thread */
	struct gzip_block *ring;
	unsigned nring;
	uint64_t sent;
	size_t filled; /* bytes of the current block, ring[added % nring] */
	bool begun;    /* the header was sent */
	uint32_t crc;
	uint32_t size; /* size of the input, modulo 2^32 as in the trailer */

	unsigned nthreads, started;
	pthread_t threads[THREADS_MAX];
	pthread_mutex_t lock; /* protects the fields below, and `done` */
	pthread_cond_t changed;
	uint64_t added;
	uint64_t taken; /* first block that no thread has begun to deflate */
	bool closing;
};

/* Deflates the first bytes on their own.  ISA-L 2.30 at levels 1 and 2 derives the hash of the third position
 * from the address of its state, if there is no history and the input has more than 16 bytes: the output
 * would differ from run to run. */
static bool deflate_first_bytes(struct isal_zstream *z)
{
	const uint32_t n = z->avail_in;

	z->flush = SYNC_FLUSH; /* FULL_FLUSH resets the history */
	z->avail_in = n < FIRST_BYTES ? n : FIRST_BYTES;
	const bool ok = isal_deflate(z) == COMP_OK && z->avail_in == 0;
	z->flush = FULL_FLUSH;
	z->avail_in = n < FIRST_BYTES ? 0 : n - FIRST_BYTES;
	return ok;
}

/* Clears all previous state, so that a block has the same bytes on any thread. */
static void deflate_block(struct deflate *d, struct gzip_block *b)
{
	struct isal_zstream *const z = &d->stream;
	uint8_t *const begin = b->in + WINDOW;

	memset(d->level, 0, sizeof d->level);
	isal_deflate_init(z);
	z->level = GZIP_LEVEL;
	z->level_buf = d->level;
	z->level_buf_size = sizeof d->level;
	z->gzip_flag = IGZIP_DEFLATE;
	z->flush = FULL_FLUSH;
	z->next_in = begin;
	z->avail_in = (uint32_t)b->n;
	z->next_out = b->out;
	z->avail_out = sizeof b->out;
	const bool packed =
	    (b->dictionary == 0
	         ? deflate_first_bytes(z)
	         : isal_deflate_set_dict(z, begin - b->dictionary, (uint32_t)b->dictionary) == COMP_OK) &&
	    isal_deflate(z) == COMP_OK && z->avail_in == 0 && z->avail_out > 0;
	b->packed = packed ? sizeof b->out - z->avail_out : 0;
}

/* Deflates the first block that no thread has taken.  Called with the lock. */
static void deflate_next(struct gzip *g, struct deflate *d)
{
	struct gzip_block *const b = &g->ring[g->taken++ % g->nring];

	pthread_mutex_unlock(&g->lock);
	deflate_block(d, b);
	pthread_mutex_lock(&g->lock);
	b->done = true;
	pthread_cond_broadcast(&g->changed);
}

/* A thread without memory leaves the blocks to others; the caller's thread has memory. */
static void *gzip_thread(void *arg)
{
	struct gzip *const g = arg;
	struct deflate *const d = malloc(sizeof *d);

	pthread_mutex_lock(&g->lock);
	while (d != NULL && !g->closing) {
		if (g->taken < g->added)
			deflate_next(g, d);
		else
			pthread_cond_wait(&g->changed, &g->lock);
	}
	pthread_mutex_unlock(&g->lock);
	free(d);
	return NULL;
}

static void gzip_close(struct gzip *g)
{
	pthread_mutex_lock(&g->lock);
	g->closing = true;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
	for (unsigned i = 0; i < g->started; i++)
		(void)pthread_join(g->threads[i], NULL);
	(void)pthread_cond_destroy(&g->changed);
	(void)pthread_mutex_destroy(&g->lock);
	free(g->own);
	free(g->ring);
	free(g);
}

static struct gzip *gzip_open(unsigned threads)
{
	struct gzip *const g = calloc(1, sizeof *g);

	if (g == NULL)
		return NULL;
	(void)pthread_mutex_init(&g->lock, NULL); /* cannot fail with default attributes */
	(void)pthread_cond_init(&g->changed, NULL);
	g->nthreads = threads - 1; /* besides the caller's */
	g->nring = threads;
	g->own = malloc(sizeof *g->own);
	g->ring = malloc(g->nring * sizeof *g->ring);
	if (g->own != NULL && g->ring != NULL)
		return g;
	gzip_close(g);
	return NULL;
}

/* Adds bytes to the current block, behind those in the ring.  Returns the number of bytes added. */
static size_t gzip_fill(struct gzip *g, const char *p, size_t n)
{
	struct gzip_block *const b = &g->ring[g->added % g->nring];

	if (g->filled == 0 && g->added > 0) /* in a ring of one block, the memory is the same */
		memmove(b->in, g->ring[(g->added - 1) % g->nring].in + BLOCK, WINDOW);
	const size_t k = n < BLOCK - g->filled ? n : BLOCK - g->filled;
	memcpy(b->in + WINDOW + g->filled, p, k);
	g->filled += k;
	return k;
}

/* Passes the current block to the threads, which are started with the second block. */
static void gzip_add(struct gzip *g)
{
	struct gzip_block *const b = &g->ring[g->added % g->nring];

	b->dictionary = g->added > 0 ? WINDOW : 0;
	b->n = g->filled;
	b->done = false;
	g->filled = 0;
	while (g->added > 0 && g->started < g->nthreads)
		if (thread_start(&g->threads[g->started], gzip_thread, g) == 0)
			g->started++;
		else
			g->nthreads = g->started; /* the running threads, or the caller's, do all the work */
	pthread_mutex_lock(&g->lock);
	g->added++;
	pthread_cond_signal(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

/* Waits for the first block in the ring, and deflates others meanwhile. */
static const struct gzip_block *gzip_first(struct gzip *g)
{
	const struct gzip_block *const b = &g->ring[g->sent % g->nring];

	pthread_mutex_lock(&g->lock);
	while (!b->done) {
		if (g->taken < g->added)
			deflate_next(g, g->own);
		else
			pthread_cond_wait(&g->changed, &g->lock);
	}
	pthread_mutex_unlock(&g->lock);
	return b;
}

/* Sends blocks until at most `left` are in the ring.  Returns false if the sink returned false, or with *why
 * set. */
static bool gzip_send(struct gzip *g, unsigned left, output_pack_sink *sink, void *to, const char **why)
{
	for (; g->added - g->sent > left; g->sent++) {
		const struct gzip_block *const b = gzip_first(g);
		if (b->packed == 0)
			*why = "cannot compress (gzip)";
		if (b->packed == 0 || !sink(to, (const char *)b->out, b->packed))
			return false;
	}
	return true;
}

static const char *gzip_feed(struct gzip *g, const char *p, size_t n, bool last, output_pack_sink *sink,
                             void *to)
{
	/* RFC 1952, 2.3: deflate, no flags, no time, any system.  RFC 1951, 3.2.6: an empty last block. */
	static const char header[10] = { '\x1f', '\x8b', 8, 0, 0, 0, 0, 0, 0, '\xff' };
	char trailer[10] = { 3, 0 };
	const char *why = NULL;

	if (!g->begun && !sink(to, header, sizeof header))
		return NULL;
	g->begun = true;
	g->crc = crc32_gzip_refl(g->crc, (const unsigned char *)p, n);
	g->size += (uint32_t)n;
	while (n > 0) {
		const size_t k = gzip_fill(g, p, n);
		p += k;
		n -= k;
		if (g->filled < BLOCK)
			break;
		gzip_add(g);
		if (!gzip_send(g, g->nring - 1, sink, to, &why))
			return why;
	}
	if (!last)
		return NULL;
	if (g->filled > 0)
		gzip_add(g);
	if (gzip_send(g, 0, sink, to, &why)) {
		store_uint(store_uint(trailer + 2, g->crc, 4, false), g->size, 4, false);
		(void)sink(to, trailer, sizeof trailer);
	}
	return why;
}

/* ---- zstd ---- */

/* Always uses at least one thread of libzstd: without threads, the bytes differ.  A static libzstd may have
 * been built without them, and refuses their parameters. */
static ZSTD_CCtx *zstd_open(unsigned threads)
{
	ZSTD_CCtx *const z = ZSTD_createCCtx();
	const bool has_threads = ZSTD_cParam_getBounds(ZSTD_c_nbWorkers).upperBound > 0;

	if (z != NULL && !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1)) &&
	    (!has_threads || (!ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_nbWorkers, (int)threads)) &&
	                      !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_jobSize, ZSTD_JOB)))))
		return z;
	(void)ZSTD_freeCCtx(z);
	return NULL;
}

static const char *zstd_feed(ZSTD_CCtx *z, char *space, const char *p, size_t n, bool last,
                             output_pack_sink *sink, void *to)
{
	ZSTD_inBuffer in = { .src = p, .size = n, .pos = 0 };
	for (;;) {
		ZSTD_outBuffer out = { .dst = space, .size = ZSTD_OUT, .pos = 0 };
		const size_t left = ZSTD_compressStream2(z, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return ZSTD_getErrorName(left);
		if (!sink(to, space, out.pos))
			return NULL;
		if (last ? left == 0 : in.pos == in.size)
			return NULL;
	}
}

/* ---- either ---- */

struct output_pack {
	struct gzip *gzip; /* this or zstd is used */
	ZSTD_CCtx *zstd;
	char *zstd_out; /* ZSTD_OUT bytes */
};

static bool ends_with(const char *s, const char *tail)
{
	const size_t n = strlen(s), k = strlen(tail);
	return n >= k && memcmp(s + n - k, tail, k) == 0;
}

enum output_packing output_packing_of(const char *path)
{
	if (ends_with(path, ".gz"))
		return OUTPUT_GZIP;
	return ends_with(path, ".zst") ? OUTPUT_ZSTD : OUTPUT_PLAIN;
}

struct output_pack *output_pack_open(enum output_packing packing, unsigned threads)
{
	struct output_pack *const k = calloc(1, sizeof *k);
	const unsigned n = threads < THREADS_MAX ? threads : THREADS_MAX;

	if (k == NULL)
		return NULL;
	if (packing == OUTPUT_GZIP) {
		k->gzip = gzip_open(n);
	} else {
		k->zstd = zstd_open(n);
		k->zstd_out = malloc(ZSTD_OUT);
	}
	if (k->gzip != NULL || (k->zstd != NULL && k->zstd_out != NULL))
		return k;
	output_pack_close(k);
	return NULL;
}

void output_pack_close(struct output_pack *k)
{
	if (k == NULL)
		return;
	if (k->gzip != NULL)
		gzip_close(k->gzip);
	(void)ZSTD_freeCCtx(k->zstd);
	free(k->zstd_out);
	free(k);
}

const char *output_pack_feed(struct output_pack *k, const char *p, size_t n, bool last,
                             output_pack_sink *sink, void *to)
{
	return k->gzip != NULL ? gzip_feed(k->gzip, p, n, last, sink, to)
	                       : zstd_feed(k->zstd, k->zstd_out, p, n, last, sink, to);
}
