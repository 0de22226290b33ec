/*
 * Writes checkpoint.pfw of testdata/dftracer: the I/O of a simulation of four ranks on two hosts, as recorded
 * by DFTracer 2.  Each rank reads the configuration and its part of the mesh, then computes; after every
 * third step it writes a checkpoint (POSIX), and rank 0 also appends to a log (STDIO).  Times are from a
 * fixed series of random numbers, with a few slow calls.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dftracer/test/aids.h"
#include "base/compiler.h"
#include "test/support/testdata.h"

#define RANKS 4
#define STEPS 12
#define START UINT64_C(1767259800000000) /* 2026-01-01 09:30 UTC, in us */

struct run {
	char *p;
	size_t n, cap;
	uint64_t random;
	unsigned id;  /* of the process */
	unsigned pid; /* and of its only thread */
	unsigned host;
	uint64_t now; /* us since the epoch */
};

PRINTF(2, 3) static void put_line(struct run *r, const char *form, ...)
{
	va_list args;

	if (r->cap - r->n < 1000) {
		r->cap = 2 * r->cap + 65536;
		r->p = realloc(r->p, r->cap);
		if (r->p == NULL)
			abort();
	}
	va_start(args, form);
	r->n += (size_t)vsnprintf(r->p + r->n, r->cap - r->n, form, args);
	va_end(args);
}

/* Returns 0 to n - 1. */
static uint64_t random_below(struct run *r, uint64_t n)
{
	r->random = r->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (r->random >> 33) % n;
}

/* Returns a duration of about `usual` us; one of 50 is slow. */
static uint64_t random_duration(struct run *r, uint64_t usual)
{
	const uint64_t us = usual / 2 + random_below(r, usual + 1);

	return random_below(r, 50) == 0 ? us * (4 + random_below(r, 12)) : us;
}

static uint64_t hash_of(const char *text)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return h;
}

static const char *const hosts[] = { "node17", "node18" };

/* Defines a hash of a file (FH), a host (HH) or a text (SH). */
static void name_hash(struct run *r, const char *kind, const char *text)
{
	put_line(
	    r,
	    "{\"id\":%u,\"name\":\"%s\",\"cat\":\"dftracer\",\"pid\":%u,\"tid\":%u,\"ph\":\"M\",\"args\":{"
	    "\"hhash\":\"%016" PRIx64 "\",\"name\":\"%s\",\"value\":\"%016" PRIx64 "\"}}\n",
	    r->id++, kind, r->pid, r->pid, hash_of(hosts[r->host]), text, hash_of(text));
}

/* Writes a call; it ends before the next one of the rank starts.  `args` starts with a comma, or is empty. */
static void put_call(struct run *r, const char *category, const char *name, uint64_t us, const char *args)
{
	put_line(r,
	         "{\"id\":%u,\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
	         ",\"dur\":%" PRIu64 ",\"ph\":\"X\",\"args\":{\"hhash\":\"%016" PRIx64 "\"%s}}\n",
	         r->id++, name, category, r->pid, r->pid, r->now, us, hash_of(hosts[r->host]), args);
	r->now += us + 1 + random_below(r, 3);
}

static void put_io(struct run *r, const char *category, const char *name, uint64_t us, const char *file,
                   const char *key, int64_t ret)
{
	char args[200];
	int n = snprintf(args, sizeof args, ",\"fhash\":\"%016" PRIx64 "\"", hash_of(file));

	if (key != NULL)
		n += snprintf(args + n, sizeof args - (size_t)n, ",\"%s\":%" PRId64, key, ret);
	if (key != NULL && strcmp(category, "STDIO") == 0) /* items, of one byte each */
		n += snprintf(args + n, sizeof args - (size_t)n, ",\"size\":1");
	snprintf(args + n, sizeof args - (size_t)n, ",\"ret\":%" PRId64, ret);
	put_call(r, category, name, us, args);
}

static void read_file(struct run *r, const char *file, unsigned blocks, unsigned size)
{
	name_hash(r, "FH", file);
	put_io(r, "POSIX", "open64", random_duration(r, 90), file, NULL, 9);
	for (unsigned i = 0; i < blocks; i++)
		put_io(r, "POSIX", "read", random_duration(r, 4 + size / 2500), file, "count", size);
	put_io(r, "POSIX", "close", random_duration(r, 3), file, NULL, 0);
}

static void put_checkpoint(struct run *r, unsigned rank, unsigned step)
{
	char file[100];
	const unsigned blocks = rank == 0 ? 34 : 24; /* rank 0 writes the index as well */

	snprintf(file, sizeof file, "/scratch/run7/ckpt-%02u.%u.dat", step, rank);
	name_hash(r, "FH", file);
	put_io(r, "POSIX", "open64", random_duration(r, 350), file, NULL, 11);
	for (unsigned i = 0; i < blocks; i++)
		put_io(r, "POSIX", "write", random_duration(r, rank == 2 ? 900 : 260), file, "count", 65536);
	put_io(r, "POSIX", "fsync", random_duration(r, 6500), file, NULL, 0);
	put_io(r, "POSIX", "close", random_duration(r, 12), file, NULL, 0);
}

static void log_step(struct run *r, unsigned step)
{
	static const char file[] = "/scratch/run7/solver.log";

	if (step == 1)
		name_hash(r, "FH", file);
	put_io(r, "STDIO", "fopen", random_duration(r, 60), file, NULL, 1);
	for (unsigned i = 0; i < 4; i++)
		put_io(r, "STDIO", "fwrite", random_duration(r, 3), file, "count",
		       96 + (int64_t)random_below(r, 20));
	put_io(r, "STDIO", "fclose", random_duration(r, 25), file, NULL, 0);
}

static void put_rank(struct run *r, unsigned number)
{
	char file[100], args[100];

	r->pid = 41250 + number;
	r->host = number / 2;
	r->id = 1;
	r->now = START + number * 137;
	const uint64_t began = r->now;
	name_hash(r, "HH", hosts[r->host]);
	snprintf(args, sizeof args, "Rank %u", number);
	put_line(
	    r,
	    "{\"id\":%u,\"name\":\"PR\",\"cat\":\"dftracer\",\"pid\":%u,\"tid\":%u,\"ph\":\"M\",\"args\":{"
	    "\"hhash\":\"%016" PRIx64 "\",\"name\":\"rank\",\"value\":\"%u\"}}\n",
	    r->id++, r->pid, r->pid, hash_of(hosts[r->host]), number);
	put_line(
	    r,
	    "{\"id\":%u,\"name\":\"process_name\",\"cat\":\"dftracer\",\"pid\":%u,\"tid\":%u,\"ph\":\"M\","
	    "\"args\":{\"hhash\":\"%016" PRIx64 "\",\"name\":\"%s\",\"value\":\"process_name\"}}\n",
	    r->id++, r->pid, r->pid, hash_of(hosts[r->host]), args);
	read_file(r, "/home/ana/solver/run7.yaml", 2, 4096);
	snprintf(file, sizeof file, "/scratch/mesh/part-%u.h5", number);
	read_file(r, file, 12, 262144);
	for (unsigned step = 1; step <= STEPS; step++) {
		snprintf(args, sizeof args, ",\"step\":%u", step);
		put_call(r, "C_APP", "compute", 38000 + random_below(r, 5000) + (number == 2 ? 2500 : 0),
		         args);
		if (number == 0)
			log_step(r, step);
		if (step % 3 == 0)
			put_checkpoint(r, number, step);
	}
	const uint64_t ended = r->now;
	r->now = began;
	put_call(r, "C_APP", "main", ended - began, "");
}

bool dftracer_write_testdata(const char *dir)
{
	struct run r = { .random = 7 };
	char path[500];

	put_line(&r, "[\n");
	for (unsigned i = 0; i < RANKS; i++)
		put_rank(&r, i);
	put_line(&r, "]");
	snprintf(path, sizeof path, "%s/checkpoint.pfw", dir);
	const bool ok = testdata_file(path, r.p, r.n);
	free(r.p);
	return ok;
}
