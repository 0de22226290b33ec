/*
 * Aids of the Heph format for tests, benchmarks and fuzzing.
 */
#include <stdio.h>

#include "heph/test/build.h"
#include "test/support/format_aids.h"
#include "test/support/splitmix.h"

/*
 * Resembles the output of Heph's own writer for a program of actors: a coordinator and four workers,
 * processes multiplexed on each, events in order of their end; half of them have attributes, one in six
 * arrays; some 90 bytes per event.
 */
#define STREAMS 5
#define SUBSTREAMS 17
#define BLOCK (1u << 20)

struct bench_trace {
	struct heph_build b;
	uint64_t random;
	uint64_t now[STREAMS];
};

static void add_arrays(struct heph_build *b, uint64_t r)
{
	heph_attribute(b, "times", 0x83);
	heph_u16(b, 3);
	for (unsigned i = 0; i < 3; i++)
		heph_f64(b, 0.25 * (double)(r >> 8 * i & 255));
	heph_attribute(b, "sizes", 0x81);
	heph_u16(b, 3);
	for (unsigned i = 0; i < 3; i++)
		heph_u64(b, r >> 20 * i & 0xfffff);
}

static void add_attributes(struct heph_build *b, uint64_t r)
{
	switch (r % 6) {
	case 0:
		heph_text_value(b, "process_name", "connection");
		break;
	case 1:
		heph_text_value(b, "message", "request");
		heph_unsigned(b, "count", r >> 44);
		break;
	case 2:
		heph_signed(b, "delta", (int64_t)(r >> 50) - 8192);
		heph_float(b, "ratio", (double)(r >> 54) / 7);
		break;
	case 3:
		add_arrays(b, r);
		break;
	default:
		break;
	}
	heph_end(b);
}

static void add_event(struct bench_trace *m)
{
	static const char *const names[] = { "running thread-local process", "receiving message",
		                             "sending message", "polling I/O \xc3\xa9v\xc3\xa9nements",
		                             "waiting for events" };
	const uint64_t r = splitmix_next(&m->random);
	const uint32_t stream = (uint32_t)(r % STREAMS);
	const uint64_t start = m->now[stream] + (r >> 10) % 2000, end = start + 20 + (r >> 24) % 5000;

	m->now[stream] = end;
	heph_event(&m->b, stream, r / STREAMS % SUBSTREAMS, start, end, names[(r >> 16) % 5]);
	add_attributes(&m->b, splitmix_next(&m->random));
}

static bool make_trace(FILE *f, uint64_t events)
{
	struct bench_trace m = { .random = 1 };
	bool ok = true;

	heph_init(&m.b);
	heph_epoch(&m.b, 1795224148916641017u);
	for (uint64_t i = 0; i < events && ok; i++) {
		add_event(&m);
		if (m.b.n >= BLOCK || i + 1 == events) {
			ok = fwrite(m.b.p, 1, m.b.n, f) == m.b.n;
			m.b.n = 0;
		}
	}
	heph_free(&m.b);
	return ok;
}

static const struct bench_input bench_inputs[] = {
	{ "heph", ".bin.log", 500000, make_trace, NULL },
	{ 0 },
};

/* ---- aids ---- */

static const char *const fault_samples[] = { "good/mixed.bin.log", NULL };

extern const struct format_aids heph_aids;

const struct format_aids heph_aids = {
	.format = "heph",
	.bench_inputs = bench_inputs,
	.fault_samples = fault_samples,
};
