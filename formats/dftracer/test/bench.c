#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dftracer/test/aids.h"
#include "base/compiler.h"
#include "test/support/splitmix.h"

/*
 * Input of benchmarks: a merged .pfw of 2025.  Four processes of one job write in turns: hashes of files
 * before their first use, then calls on those files; about 200 bytes a record.
 */
#define PROCESSES 4
#define FILES 400
#define TURN 500 /* records of one process in a row */

struct process {
	uint64_t now, id;
	unsigned pid, files; /* files: number of files with a name */
};

struct generator {
	FILE *f;
	struct process processes[PROCESSES];
	uint64_t random;
	bool ok;
};

static uint64_t hash_of(uint64_t n)
{
	return splitmix_next(&n);
}

PRINTF(2, 3) static void put(struct generator *g, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	g->ok = g->ok && vfprintf(g->f, fmt, ap) > 0;
	va_end(ap);
}

static void metadata(struct generator *g, struct process *p, const char *kind, const char *name,
                     uint64_t hash)
{
	put(g,
	    "{\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"dftracer\",\"pid\":%u,\"tid\":%u,\"ph\":\"M\","
	    "\"args\":{\"hhash\":\"%016" PRIx64 "\",\"name\":\"%s\",\"value\":\"%016" PRIx64 "\"}}\n",
	    p->id++, kind, p->pid, p->pid, hash_of(7), name, hash);
}

static void begin_process(struct generator *g, struct process *p)
{
	metadata(g, p, "HH", "node0173", hash_of(7));
	metadata(g, p, "SH", "/usr/bin/simulate", hash_of(8));
	put(g,
	    "{\"id\":%" PRIu64
	    ",\"name\":\"start\",\"cat\":\"dftracer\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
	    ",\"dur\":0,\"ph\":\"X\",\"args\":{\"hhash\":\"%016" PRIx64
	    "\",\"version\":\"2.0.1\",\"cmd_hash\":\"%016" PRIx64 "\"}}\n",
	    p->id++, p->pid, p->pid, p->now, hash_of(7), hash_of(8));
}

static void call(struct generator *g, struct process *p)
{
	static const char *const names[] = { "read",    "write",    "open64",  "close", "lseek64",
		                             "__xstat", "__fxstat", "fopen64", "fread", "fwrite" };
	const uint64_t r = splitmix_next(&g->random);
	const unsigned which = (unsigned)(r % 10), file = (unsigned)(r >> 8) % FILES,
	               dur = (unsigned)(r >> 32) % 3000;

	p->now += 5 + (r >> 48);
	put(g,
	    "{\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
	    ",\"dur\":%u,\"ph\":\"X\",\"args\":{\"hhash\":\"%016" PRIx64 "\",\"fhash\":\"%016" PRIx64 "\"",
	    p->id++, names[which], which < 7 ? "POSIX" : "STDIO", p->pid, p->pid + (unsigned)(r >> 16) % 2,
	    p->now, dur, hash_of(7), hash_of(1000 + file % (p->files > 0 ? p->files : 1)));
	if (which < 2 || which > 7)
		put(g, ",\"count\":%u,\"ret\":%u,\"fd\":%u", 4096 + file, 4096 + file, file % 64);
	else if (which == 2 || which == 7)
		put(g,
		    which == 2 ? ",\"flags\":524288,\"mode\":438,\"ret\":%u" : ",\"mode\":\"r\",\"ret\":%u",
		    file % 64);
	put(g, "}}\n");
}

static void turn(struct generator *g, struct process *p, uint64_t *left)
{
	char name[80];

	for (unsigned i = 0; i < TURN && *left != 0; i++, --*left) {
		if (p->files < FILES && i % 8 == 0) {
			snprintf(name, sizeof name, "/p/lustre1/user/run/output_%06u_%06u.dat", p->files,
			         p->files % 7);
			metadata(g, p, "FH", name, hash_of(1000 + p->files++));
		} else {
			call(g, p);
		}
	}
}

static bool make(FILE *f, uint64_t records)
{
	struct generator g = { .f = f, .random = 1, .ok = true };

	put(&g, "[\n");
	for (unsigned i = 0; i < PROCESSES; i++) {
		g.processes[i] =
		    (struct process){ .now = 1758000000000000u + i, .id = 1, .pid = 3537780 + i };
		begin_process(&g, &g.processes[i]);
	}
	while (g.ok && records > 0)
		for (unsigned i = 0; i < PROCESSES; i++)
			turn(&g, &g.processes[i], &records);
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *const p = &g.processes[i];
		put(&g,
		    "{\"id\":%" PRIu64
		    ",\"name\":\"end\",\"cat\":\"dftracer\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
		    ",\"dur\":0,\"ph\":\"X\",\"args\":{\"hhash\":\"%016" PRIx64 "\",\"num_events\":%" PRIu64
		    "}}\n",
		    p->id, p->pid, p->pid, p->now, hash_of(7), p->id - 1);
	}
	put(&g, "]");
	return g.ok;
}

const struct bench_input dftracer_bench_inputs[] = {
	{ "dftracer", ".pfw", 500000, make, NULL },
	{ 0 },
};
