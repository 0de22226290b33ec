/*
 * Aids of the Perfetto format for tests, benchmarks and fuzzing.
 */
#include <stddef.h>
#include <string.h>

#include "test/support/format_aids.h"
#include "test/support/splitmix.h"

/*
 * A trace like those of Perfetto's SDK for a program of eight threads: a sequence each, names and categories
 * interned, spans with an argument, nested up to three deep; some 19 bytes per event.
 */
#define THREADS 8
#define NAMES 200
#define BLOCK 65536

struct bench_trace {
	FILE *f;
	bool ok;
	unsigned char p[BLOCK + 512];
	size_t n;
	uint64_t random, now[THREADS];
	unsigned depth[THREADS];
};

static void put_varint(struct bench_trace *m, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		m->p[m->n++] = (unsigned char)(v | 0x80);
	m->p[m->n++] = (unsigned char)v;
}

static void put_number(struct bench_trace *m, unsigned field, uint64_t v)
{
	put_varint(m, (uint64_t)field << 3);
	put_varint(m, v);
}

/* Starts a message of less than 128 bytes; returns the place of its length. */
static size_t open_message(struct bench_trace *m, unsigned field)
{
	put_varint(m, (uint64_t)field << 3 | 2);
	return m->n++;
}

static void close_message(struct bench_trace *m, size_t at)
{
	m->p[at] = (unsigned char)(m->n - at - 1);
}

static void put_text(struct bench_trace *m, unsigned field, const char *s)
{
	const size_t at = open_message(m, field), n = strlen(s);

	memcpy(m->p + m->n, s, n);
	m->n += n;
	close_message(m, at);
}

static void end_packet(struct bench_trace *m, size_t at)
{
	close_message(m, at);
	if (m->n < BLOCK)
		return;
	m->ok = m->ok && fwrite(m->p, 1, m->n, m->f) == m->n;
	m->n = 0;
}

static void put_entry(struct bench_trace *m, unsigned table, unsigned iid, const char *text)
{
	const size_t entry = open_message(m, table);

	put_number(m, 1, iid);
	put_text(m, 2, text);
	close_message(m, entry);
}

static void put_thread(struct bench_trace *m, unsigned thread)
{
	char name[32];
	size_t packet = open_message(m, 1);

	put_number(m, 10, thread + 1);
	put_number(m, 13, 1);
	const size_t track = open_message(m, 60);
	put_number(m, 1, 100 + thread);
	const size_t ids = open_message(m, 4);
	put_number(m, 1, 5);
	put_number(m, 2, 7 + thread);
	snprintf(name, sizeof name, "worker %u", thread);
	put_text(m, 5, name);
	close_message(m, ids);
	close_message(m, track);
	const size_t defaults = open_message(m, 59), event = open_message(m, 11);
	put_number(m, 11, 100 + thread);
	close_message(m, event);
	close_message(m, defaults);
	end_packet(m, packet);
	for (unsigned i = 1; i <= NAMES; i++) {
		packet = open_message(m, 1);
		put_number(m, 10, thread + 1);
		snprintf(name, sizeof name, "function %u of the program", i);
		const size_t interned = open_message(m, 12);
		put_entry(m, 2, i, name);
		if (i == 1) {
			put_entry(m, 1, 1, "app");
			put_entry(m, 3, 1, "bytes");
		}
		close_message(m, interned);
		end_packet(m, packet);
	}
}

static void put_event(struct bench_trace *m)
{
	const uint64_t r = splitmix_next(&m->random);
	const unsigned thread = (unsigned)(r % THREADS);
	const bool begins = m->depth[thread] == 0 || (m->depth[thread] < 3 && (r >> 8 & 1) != 0);
	const size_t packet = open_message(m, 1);

	m->now[thread] += (r >> 16) % 5000 + 1;
	put_number(m, 8, m->now[thread]);
	put_number(m, 10, thread + 1);
	put_number(m, 13, 2);
	const size_t event = open_message(m, 11);
	put_number(m, 9, begins ? 1 : 2);
	if (begins) {
		put_number(m, 10, (r >> 32) % NAMES + 1);
		put_number(m, 3, 1);
		const size_t arg = open_message(m, 4);
		put_number(m, 1, 1);
		put_number(m, 4, r >> 44);
		close_message(m, arg);
	}
	close_message(m, event);
	end_packet(m, packet);
	m->depth[thread] += begins ? 1U : -1U;
}

static bool make_trace(FILE *f, uint64_t events)
{
	static struct bench_trace m;

	m = (struct bench_trace){ .f = f, .ok = true, .random = 1 };
	for (unsigned i = 0; i < THREADS; i++)
		put_thread(&m, i);
	for (uint64_t i = 0; i < events && m.ok; i++)
		put_event(&m);
	return m.ok && fwrite(m.p, 1, m.n, f) == m.n;
}

static const struct bench_input bench_inputs[] = {
	{ "perfetto", ".pftrace", 1000000, make_trace, NULL },
	{ 0 },
};

/* ---- aids ---- */

static const char *const fault_samples[] = { "good/mixed.pftrace", NULL };

extern const struct format_aids perfetto_aids;

const struct format_aids perfetto_aids = {
	.format = "perfetto",
	.bench_inputs = bench_inputs,
	.fault_samples = fault_samples,
};
