#include "dial9/test/aids.h"
#include "dial9/test/build.h"
#include "test/support/splitmix.h"

/* Events of a tokio program: two workers, each with a buffer of 1 MiB that becomes a segment when it is full.
 * About 12 bytes an event. */
#define WORKERS 2
#define SEGMENT (1u << 20)
#define START 943598882763832u
#define TASKS 4000u
#define LOCATIONS 40u
#define STACKS 64u

enum { PARK, UNPARK, POLL_START, POLL_END, WAKE, DUMP, ENTER, EXIT, CLOSE, QUEUE, EVENTS };

static const struct d9_field_desc fields[EVENTS][6] = {
	[PARK] = { { "worker_id", D9T_VARINT },
	           { "local_queue", D9T_U8 },
	           { "cpu_time_ns", D9T_VARINT },
	           { "tid", D9T_U32 } },
	[UNPARK] = { { "worker_id", D9T_VARINT },
	             { "local_queue", D9T_U8 },
	             { "cpu_time_ns", D9T_VARINT },
	             { "sched_wait_ns", D9T_VARINT },
	             { "tid", D9T_U32 } },
	[POLL_START] = { { "worker_id", D9T_VARINT },
	                 { "local_queue", D9T_U8 },
	                 { "task_id", D9T_VARINT },
	                 { "spawn_loc", D9T_POOLED_STRING } },
	[POLL_END] = { { "worker_id", D9T_VARINT } },
	[WAKE] = { { "waker_task_id", D9T_VARINT },
	           { "woken_task_id", D9T_VARINT },
	           { "target_worker", D9T_U8 } },
	[DUMP] = { { "task_id", D9T_VARINT }, { "callchain", D9T_POOLED_STACK } },
	[ENTER] = { { "worker_id", D9T_VARINT },
	            { "span_id", D9T_VARINT },
	            { "parent_span_id", D9T_VARINT | D9T_OPTIONAL },
	            { "span_name", D9T_POOLED_STRING },
	            { "request_id", D9T_POOLED_STRING | D9T_OPTIONAL } },
	[EXIT] = { { "worker_id", D9T_VARINT },
	           { "span_id", D9T_VARINT },
	           { "span_name", D9T_POOLED_STRING },
	           { "request_id", D9T_POOLED_STRING | D9T_OPTIONAL } },
	[CLOSE] = { { "span_id", D9T_VARINT } },
	[QUEUE] = { { "global_queue", D9T_U8 } },
};

static const char *const names[EVENTS] = {
	[PARK] = "WorkerParkEvent",
	[UNPARK] = "WorkerUnparkEvent",
	[POLL_START] = "PollStartEvent",
	[POLL_END] = "PollEndEvent",
	[WAKE] = "WakeEventEvent",
	[DUMP] = "TaskDumpEvent",
	[ENTER] = "SpanEnter:bench::routes::query:src/routes.rs:44",
	[EXIT] = "SpanExit:bench::routes::query:src/routes.rs:44",
	[CLOSE] = "SpanCloseEvent",
	[QUEUE] = "QueueSampleEvent",
};

struct generator {
	struct d9_build b;
	uint64_t random, now, cpu, left;
	uint32_t request, requests; /* the present one; how many this segment named */
	unsigned worker;
};

static void begin_segment(struct generator *g)
{
	static const size_t counts[EVENTS] = { 4, 5, 4, 1, 3, 2, 5, 4, 1, 1 };
	uint64_t addresses[24];
	char text[64] = "src/modules/worker_of_some_name.rs:100:22";

	d9b_header(&g->b);
	for (uint16_t i = 0; i < EVENTS; i++)
		d9b_schema(&g->b, i, names[i], true, fields[i], counts[i]);
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		text[35] = (char)('0' + i / 10);
		text[36] = (char)('0' + i % 10);
		d9b_string(&g->b, i, text);
	}
	for (uint32_t i = 0; i < STACKS; i++) {
		for (uint32_t k = 0; k < 24; k++)
			addresses[k] = 0x55d000000000u + (i * 7 + k) % 300 * 64;
		d9b_stack(&g->b, i, addresses, 8 + i % 17);
	}
	g->requests = 0;
}

static void event(struct generator *g, uint16_t id)
{
	g->now += 100 + splitmix_next(&g->random) % 3000;
	d9b_event(&g->b, id, g->now);
	g->left -= g->left > 0;
}

static void wake(struct generator *g, uint64_t task)
{
	event(g, WAKE);
	d9b_varint(&g->b, task);
	d9b_varint(&g->b, splitmix_next(&g->random) % TASKS);
	d9b_u8(&g->b, (uint8_t)(splitmix_next(&g->random) % WORKERS));
}

/* Each request has its own name, as in services. */
static void new_request(struct generator *g)
{
	char id[] = "00000000-2b90-405c-8670-b5aa71c5b13a";
	uint64_t r = splitmix_next(&g->random);

	for (int i = 0; i < 8; i++, r >>= 4)
		id[i] = "0123456789abcdef"[r & 15];
	g->request = LOCATIONS + g->requests++;
	d9b_string(&g->b, g->request, id);
}

static void span(struct generator *g, uint64_t task)
{
	const uint64_t id = 274877906944u + task;

	if (splitmix_next(&g->random) % 3 == 0 || g->requests == 0)
		new_request(g);
	event(g, ENTER);
	d9b_varint(&g->b, g->worker);
	d9b_varint(&g->b, id);
	d9b_u8(&g->b, 0);
	d9b_u32(&g->b, 5);
	d9b_u8(&g->b, 1);
	d9b_u32(&g->b, g->request);
	if (splitmix_next(&g->random) % 2 == 0)
		wake(g, task);
	event(g, EXIT);
	d9b_varint(&g->b, g->worker);
	d9b_varint(&g->b, id);
	d9b_u32(&g->b, 5);
	d9b_u8(&g->b, 1);
	d9b_u32(&g->b, g->request);
	if (splitmix_next(&g->random) % 2 == 0) {
		event(g, CLOSE);
		d9b_varint(&g->b, id);
	}
}

static void poll(struct generator *g)
{
	const uint64_t r = splitmix_next(&g->random), task = r % TASKS;

	event(g, POLL_START);
	d9b_varint(&g->b, g->worker);
	d9b_u8(&g->b, (uint8_t)(r >> 32 & 7));
	d9b_varint(&g->b, task);
	d9b_u32(&g->b, (uint32_t)(task % LOCATIONS));
	if ((r >> 36 & 15) == 0)
		span(g, task);
	if ((r >> 44 & 7) == 0) {
		event(g, DUMP);
		d9b_varint(&g->b, task);
		d9b_u32(&g->b, (uint32_t)(task % STACKS));
	}
	for (uint64_t n = r >> 48 & 3; n > 1; n--)
		wake(g, task);
	event(g, POLL_END);
	d9b_varint(&g->b, g->worker);
}

static void park(struct generator *g)
{
	for (uint16_t id = PARK; id <= UNPARK; id++) {
		event(g, id);
		d9b_varint(&g->b, g->worker);
		d9b_u8(&g->b, 0);
		d9b_varint(&g->b, g->cpu += 40000 + splitmix_next(&g->random) % 100000);
		if (id == UNPARK)
			d9b_varint(&g->b, splitmix_next(&g->random) % 200);
		d9b_u32(&g->b, 25310 + g->worker);
		g->now += id == PARK ? splitmix_next(&g->random) % 400000 : 0;
	}
	if (splitmix_next(&g->random) % 8 == 0) {
		event(g, QUEUE);
		d9b_u8(&g->b, (uint8_t)(splitmix_next(&g->random) % 9));
	}
}

static bool make(FILE *f, uint64_t events)
{
	struct generator g = { .random = 1, .left = events, .now = START };
	uint64_t began = START;
	bool ok = true;

	d9b_init(&g.b);
	while (ok && g.left > 0) {
		begin_segment(&g);
		while (g.left > 0 && g.b.n < SEGMENT)
			if (splitmix_next(&g.random) % 12 == 0)
				park(&g);
			else
				poll(&g);
		ok = fwrite(g.b.p, 1, g.b.n, f) == g.b.n;
		g.b.n = 0;
		/* the buffers of the workers cover the same time */
		g.worker = (g.worker + 1) % WORKERS;
		if (g.worker == 0)
			began = g.now;
		else
			g.now = began;
	}
	d9b_free(&g.b);
	return ok;
}

const struct bench_input dial9_bench_inputs[] = {
	{ "dial9", ".dial9", 2000000, make, NULL },
	{ 0 },
};
