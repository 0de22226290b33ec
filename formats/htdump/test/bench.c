/*
 * Benchmark input: nested spans of four threads, in blocks as the buffers of HawkTracer write them.
 */
#include "htdump/test/aids.h"
#include "htdump/test/build.h"
#include "test/support/splitmix.h"

#define THREADS 4
#define MAX_DEPTH 12
#define BLOCK 100 /* spans; the thread buffers of HawkTracer are 4 KiB */
#define START 366606410245u
#define NAMES 50

struct open_span {
	uint64_t start, id;
	unsigned label;
};

struct thread {
	uint64_t now, started;
	unsigned depth;
	struct open_span open[MAX_DEPTH];
};

struct generator {
	struct ht_build b;
	struct thread threads[THREADS];
	uint64_t random;
	uint64_t left; /* spans to begin */
};

static void begin_span(struct generator *g, struct thread *t, unsigned which)
{
	/* HawkTracer numbers a span at its begin and writes it at its end. */
	t->open[t->depth++] = (struct open_span){
		.start = t->now,
		.id = 100 + THREADS * t->started++ + which,
		.label = (unsigned)(splitmix_next(&g->random) % NAMES),
	};
	g->left--;
}

static void end_span(struct generator *g, struct thread *t, unsigned which)
{
	static const char stems[][6] = { "frame", "parse", "drawx", "fetch", "store",
		                         "merge", "apply", "write", "visit", "stepx" };
	const struct open_span *const s = &t->open[--t->depth];
	const char label[] = {
		stems[s->label % 10][0],     stems[s->label % 10][1],
		stems[s->label % 10][2],     stems[s->label % 10][3],
		stems[s->label % 10][4],     '_',
		(char)('a' + s->label / 10), 0,
	};

	ht_event_with_id(&g->b, HT_ID_SPAN, s->start, s->id);
	ht_u64(&g->b, t->now - s->start);
	ht_u32(&g->b, which + 1);
	ht_bytes(&g->b, label, sizeof label);
}

/* Runs one thread until it has finished a block of spans. */
static void run_thread(struct generator *g, unsigned which)
{
	struct thread *const t = &g->threads[which];

	for (unsigned done = 0; done < BLOCK && (g->left > 0 || t->depth > 0);) {
		const uint64_t r = splitmix_next(&g->random);

		t->now += 20 + r % 4000;
		if (g->left > 0 && t->depth < MAX_DEPTH && (t->depth == 0 || (r >> 32 & 1))) {
			begin_span(g, t, which);
		} else {
			end_span(g, t, which);
			done++;
		}
	}
}

static bool flush(struct generator *g, FILE *f, size_t limit)
{
	if (g->b.n <= limit)
		return true;
	const bool ok = fwrite(g->b.p, 1, g->b.n, f) == g->b.n;
	g->b.n = 0;
	return ok;
}

static bool has_spans_left(const struct generator *g)
{
	bool open = g->left > 0;

	for (unsigned i = 0; i < THREADS; i++)
		open = open || g->threads[i].depth > 0;
	return open;
}

static bool make_dump(FILE *f, uint64_t spans)
{
	struct generator g = { .random = 1, .left = spans };
	bool ok = true;

	ht_init(&g.b, HT_WIRE, false);
	for (unsigned i = 0; i < THREADS; i++)
		g.threads[i].now = START + i;
	ht_prologue(&g.b);
	while (ok && has_spans_left(&g)) {
		for (unsigned i = 0; i < THREADS; i++)
			run_thread(&g, i);
		ok = flush(&g, f, 1u << 20);
	}
	ok = ok && flush(&g, f, 0);
	ht_free(&g.b);
	return ok;
}

const struct bench_input htdump_bench_inputs[] = {
	{ "htdump", ".htdump", 500000, make_dump, NULL },
	{ 0 },
};
