#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "ovni/test/aids.h"

/*
 * Input for benchmarks: threads that get tasks from a scheduler and run them, as a tasking runtime writes it;
 * most events have 12 bytes, three of twenty a payload of 8.  The traces are complete and valid: states of
 * threads, types, tasks and stacks.
 */

struct stream {
	FILE *f;
	char block[1 << 16];
	size_t n;
	bool ok;
	uint64_t clock;
	uint32_t thread, nthreads; /* of the process */
	uint64_t left;             /* events to write */
	uint32_t created, run;     /* tasks of this thread so far */
};

static void put_number(struct stream *s, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		s->block[s->n++] = (char)(v >> 8 * i & 0xff);
}

/* Writes the head of an event; flags: size of its payload - 1. */
static void put(struct stream *s, unsigned flags, const char *code)
{
	if (s->n > sizeof s->block - 256) {
		s->ok = s->ok && fwrite(s->block, 1, s->n, s->f) == s->n;
		s->n = 0;
	}
	s->block[s->n++] = (char)flags;
	memcpy(s->block + s->n, code, 3);
	s->n += 3;
	put_number(s, s->clock, 8);
	s->clock += 20 + (s->left + 3 * s->thread) % 7 * 10;
	s->left--;
}

/* Returns a task number that is unique in the process. */
static uint32_t task(const struct stream *s, uint32_t k)
{
	return 1 + k * s->nthreads + s->thread;
}

static void put_task(struct stream *s, const char *code, uint32_t id, uint32_t second)
{
	put(s, 7, code);
	put_number(s, id, 4);
	put_number(s, second, 4);
}

static void put_create(struct stream *s)
{
	put_task(s, "VTc", task(s, s->created), 1 + s->created % 4);
	s->created++;
}

static void put_type(struct stream *s, uint32_t id, const char *label)
{
	const size_t n = strlen(label) + 1;

	put(s, 0x13, "VYc");
	put_number(s, 4 + n, 4);
	put_number(s, id, 4);
	memcpy(s->block + s->n, label, n);
	s->n += n;
}

#define PROLOGUE 6 /* events, with the types of the process */

static void put_prologue(struct stream *s, int32_t cpu)
{
	static const char *const labels[] = { "solve block", "exchange halo", "reduce norms",
		                              "write checkpoint" };

	put(s, 15, "OHx");
	put_number(s, (uint32_t)cpu, 4);
	put_number(s, UINT32_MAX, 4);
	put_number(s, 0, 8);
	for (uint32_t i = 0; i < 4 && s->thread == 0; i++)
		put_type(s, i + 1, labels[i]);
	put_create(s);
}

#define ROUND 20 /* events */

static void put_round(struct stream *s)
{
	static const char first[][4] = { "VSh", "VS[", "VS]", "VSf" },
	                  create[][4] = { "VMa", "VMA", "VAR", "VAs", "VU[", "VU]", "VAS" },
	                  last[][4] = { "MW[", "MW]", "VMf", "VMF", "OB." };

	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		put(s, 0, first[i]);
	put_task(s, "VTx", task(s, s->run), 0);
	put(s, 0, "VAr");
	put_create(s);
	for (size_t i = 0; i < sizeof create / sizeof *create; i++)
		put(s, 0, create[i]);
	for (size_t i = 0; i < sizeof last / sizeof *last; i++)
		put(s, 0, last[i]);
	put_task(s, "VTe", task(s, s->run++), 0);
}

static bool make_stream(FILE *f, uint32_t thread, uint32_t nthreads, int32_t cpu, uint64_t events)
{
	/* The first thread declares the types before the others begin. */
	struct stream s = { .f = f,
		            .ok = true,
		            .clock = UINT64_C(1000000000000) + (thread > 0 ? 1000 : 0),
		            .thread = thread,
		            .nthreads = nthreads,
		            .left = events };

	memcpy(s.block, "ovni\1\0\0\0", 8);
	s.n = 8;
	if (events > PROLOGUE)
		put_prologue(&s, cpu);
	while (s.left > ROUND)
		put_round(&s);
	while (s.left > 1)
		put(&s, 0, "OB.");
	put(&s, 0, "OHe");
	return s.ok && fwrite(s.block, 1, s.n, f) == s.n;
}

static bool make(FILE *f, uint64_t events)
{
	return make_stream(f, 0, 1, 0, events);
}

/* ---- folders ---- */

static bool make_dir(const char *path)
{
	return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static bool put_metadata(FILE *f, uint32_t tid, uint32_t pid, bool cpus)
{
	fprintf(f,
	        "{\"version\":3,\"ovni\":{\"lib\":{\"version\":\"1.14.0\",\"commit\":\"none\"},\"part\":"
	        "\"thread\",\"tid\":%" PRIu32 ",\"pid\":%" PRIu32 ",\"loom\":\"node.0\",\"app_id\":%" PRIu32
	        ",\"require\":{\"ovni\":\"1.1.0\",\"nosv\":\"2.7.0\",\"mpi\":\"1.0.0\"}",
	        tid, pid, pid / 1000000);
	if (cpus)
		fputs(",\"loom_cpus\":[{\"index\":0,\"phyid\":0},{\"index\":1,\"phyid\":1},{\"index\":2,"
		      "\"phyid\":2},"
		      "{\"index\":3,\"phyid\":3}]",
		      f);
	fputs(",\"finished\":1}}\n", f);
	return ferror(f) == 0;
}

/* Writes the folder of a thread: its events and its metadata. */
static bool make_thread(const char *process, uint32_t pid, uint32_t thread, uint32_t nthreads, int32_t cpu,
                        uint64_t events)
{
	char dir[700], path[800];

	snprintf(dir, sizeof dir, "%s/thread.%" PRIu32, process, pid + thread);
	if (!make_dir(dir))
		return false;
	snprintf(path, sizeof path, "%s/stream.obs", dir);
	FILE *f = fopen(path, "wb");
	if (f == NULL)
		return false;
	bool ok = make_stream(f, thread, nthreads, cpu, events);
	ok = fclose(f) == 0 && ok;
	snprintf(path, sizeof path, "%s/stream.json", dir);
	f = ok ? fopen(path, "wb") : NULL;
	if (f == NULL)
		return false;
	ok = put_metadata(f, pid + thread, pid, thread == 0);
	return fclose(f) == 0 && ok;
}

static bool make_folder(const char *dir, uint32_t nprocesses, uint32_t nthreads, bool on_cpus,
                        uint64_t events)
{
	char loom[620], process[660];

	snprintf(loom, sizeof loom, "%s/loom.node.0", dir);
	if (!make_dir(dir) || !make_dir(loom))
		return false;
	for (uint32_t i = 0; i < nprocesses; i++) {
		const uint32_t pid = 1000000 * (i + 1);
		snprintf(process, sizeof process, "%s/proc.%" PRIu32, loom, pid);
		if (!make_dir(process))
			return false;
		for (uint32_t k = 0; k < nthreads; k++)
			if (!make_thread(process, pid, k, nthreads, on_cpus ? (int32_t)k : -1,
			                 events / nprocesses / nthreads))
				return false;
	}
	return true;
}

static bool make_four(const char *dir, uint64_t events)
{
	return make_folder(dir, 1, 4, true, events);
}

static bool make_many(const char *dir, uint64_t events)
{
	return make_folder(dir, 20, 1000, false, events);
}

const struct bench_input ovni_bench_inputs[] = {
	{ "ovni", ".obs", 2500000, make, NULL },
	{ "ovni4", "", 2500000, NULL, make_four },
	{ "ovni20k", "", 500000, NULL, make_many },
	{ 0 },
};
