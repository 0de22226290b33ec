/*
 * The aids of dial9, and service.bin of testdata/dial9.
 *
 * service.bin contains 300 ms of the web service of a shop, on tokio with two workers, as recorded by the
 * dial9 crate (0.4).  Requests arrive at random times on six connections.  Each connection is a task; its
 * polls contain a span of tracing for the route, with a nested span for the query.  Another task flushes
 * metrics, and sometimes blocks its worker for long: the problem to find in this trace.  Times are from a
 * fixed series of random numbers.
 */
#include "dial9/test/aids.h"

#include <stdio.h>
#include <stdlib.h>

#include "dial9/test/build.h"
#include "test/support/testdata.h"

#define START UINT64_C(52000000000000) /* of the monotonic clock, ns */
#define MS UINT64_C(1000000)
#define END (START + 300 * MS)
#define CONNECTIONS 6
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum kind {
	CLOCK,
	FACTS,
	PARK,
	UNPARK,
	WAKE,
	POLL,
	POLLED,
	SPAWN,
	GONE,
	QUEUE,
	SAMPLE,
	SYMBOL,
	ROUTE,
	ROUTE_END,
	QUERY,
	QUERY_END
};

/* An event before it is written: workers are simulated one after the other,
 * then events are sorted by time. */
struct happening {
	uint64_t ts;
	uint64_t a, b, c; /* by kind */
	uint32_t order;
	uint8_t kind, worker;
};

struct service {
	struct d9_build out;
	struct happening *list;
	size_t n, cap;
	uint64_t random;
};

enum {
	S_ACCEPT,
	S_CONNECTION,
	S_FLUSH,
	S_CHECKOUT,
	S_SEARCH,
	S_QUERY,
	S_CART,
	S_ITEMS,
	S_THREAD,
	S_EMPTY,
	S_FRAMES
};

static const char *const strings[] = {
	"src/main.rs:41:9",
	"src/http.rs:88:17",
	"src/metrics.rs:23:5",
	"checkout",
	"search",
	"query",
	"cart",
	"items",
	"tokio-rt-worker",
	"",
};

static const char *const frames[] = {
	"epoll_wait",
	"tokio::runtime::io::driver::Driver::turn",
	"tokio::runtime::scheduler::multi_thread::worker::run",
	"shop::routes::checkout",
	"shop::db::query",
	"serde_json::ser::to_vec",
	"shop::metrics::flush",
	"shop::routes::search",
};
static const uint64_t stacks[][4] = { { 0, 1, 2 }, { 4, 3, 2 }, { 5, 3, 2 }, { 5, 6, 2 }, { 4, 7, 2 } };

static uint64_t any(struct service *s, uint64_t n)
{
	s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (s->random >> 33) % n;
}

static void add(struct service *s, enum kind kind, unsigned worker, uint64_t ts, uint64_t a, uint64_t b,
                uint64_t c)
{
	if (s->n == s->cap) {
		s->cap = 2 * s->cap + 1024;
		s->list = realloc(s->list, s->cap * sizeof *s->list);
		if (s->list == NULL)
			abort();
	}
	s->list[s->n] = (struct happening){ .ts = ts,
		                            .a = a,
		                            .b = b,
		                            .c = c,
		                            .order = (uint32_t)s->n,
		                            .kind = (uint8_t)kind,
		                            .worker = (uint8_t)worker };
	s->n++;
}

/* Serves a request by a connection's task, from its wake on.  Returns the time when the poll ends. */
static uint64_t serve(struct service *s, unsigned worker, uint64_t woken, uint64_t free_at)
{
	const unsigned task = 10 + (unsigned)any(s, CONNECTIONS);
	const bool checkout = any(s, 3) == 0;
	const uint64_t begins = (woken > free_at ? woken : free_at) + 4000 + any(s, 9000);
	const uint64_t query = 30000 + any(s, 60000) + (any(s, 60) == 0 ? 900000 : 0),
	               route = query + 12000 + any(s, 40000);
	const uint64_t ends = begins + 3000 + route + any(s, 8000), span = s->n;

	add(s, WAKE, worker, woken, 1, task, worker);
	add(s, POLL, worker, begins, task, S_CONNECTION, 0);
	add(s, ROUTE, worker, begins + 2000, span, checkout ? S_CHECKOUT : S_SEARCH, 0);
	add(s, QUERY, worker, begins + 8000, span + 1, span, checkout ? S_CART : S_ITEMS);
	add(s, QUERY_END, worker, begins + 8000 + query, span + 1, 0, 0);
	add(s, ROUTE_END, worker, begins + 2000 + route, span, checkout ? S_CHECKOUT : S_SEARCH, 0);
	add(s, POLLED, worker, ends, 0, 0, 0);
	if (any(s, 4) == 0)
		add(s, SAMPLE, worker, begins + route / 2, checkout ? 1 + any(s, 2) : 4, 0, 0);
	return ends;
}

static uint64_t flush(struct service *s, unsigned worker, uint64_t at)
{
	const uint64_t ends = at + 9 * MS + any(s, 4 * MS); /* a poll that blocks, as it writes to a file */

	add(s, WAKE, worker, at - 5000, 2, 3, worker);
	add(s, POLL, worker, at, 3, S_FLUSH, 0);
	for (uint64_t t = at + MS / 2; t < ends; t += MS)
		add(s, SAMPLE, worker, t, 3, 0, 0);
	add(s, POLLED, worker, ends, 0, 0, 0);
	return ends;
}

static void work(struct service *s, unsigned worker)
{
	uint64_t now = START + 200000 + worker * 31000, woken = now, flushes = START + 70 * MS, cpu = 0;

	while (now < END) {
		if (woken > now + 20000) {
			add(s, PARK, worker, now, cpu, 0, 0);
			if (any(s, 12) == 0)
				add(s, SAMPLE, worker, (now + woken) / 2, 0, 0, 0);
			add(s, UNPARK, worker, woken - 3000, cpu, any(s, 30) == 0 ? 40000 + any(s, 90000) : 0,
			    0);
		}
		const uint64_t was = now;
		if (worker == 1 && now > flushes) {
			now = flush(s, worker, woken > now ? woken : now + 6000);
			flushes += 110 * MS;
		} else {
			now = serve(s, worker, woken, now);
		}
		cpu += (now - was) / 2;
		woken += 30000 + any(s, 900000);
	}
}

static int by_time(const void *left, const void *right)
{
	const struct happening *const a = left, *const b = right;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

#define SCHEMA(kind, name, ...)                                                                              \
	d9b_schema(&s->out, kind, name, true, (const struct d9_field_desc[]){ __VA_ARGS__ },                 \
	           COUNT(((const struct d9_field_desc[]){ __VA_ARGS__ })))

static void put_schemas(struct service *s)
{
	SCHEMA(CLOCK, "ClockSyncEvent", { "realtime_ns", D9T_VARINT });
	SCHEMA(FACTS, "SegmentMetadataEvent", { "entries", D9T_STRING_MAP });
	SCHEMA(PARK, "WorkerParkEvent", { "worker_id", D9T_VARINT }, { "local_queue", D9T_U8 },
	       { "cpu_time_ns", D9T_VARINT }, { "tid", D9T_U32 });
	SCHEMA(UNPARK, "WorkerUnparkEvent", { "worker_id", D9T_VARINT }, { "local_queue", D9T_U8 },
	       { "cpu_time_ns", D9T_VARINT }, { "sched_wait_ns", D9T_VARINT }, { "tid", D9T_U32 });
	SCHEMA(WAKE, "WakeEventEvent", { "waker_task_id", D9T_VARINT }, { "woken_task_id", D9T_VARINT },
	       { "target_worker", D9T_U8 });
	SCHEMA(POLL, "PollStartEvent", { "worker_id", D9T_VARINT }, { "local_queue", D9T_U8 },
	       { "task_id", D9T_VARINT }, { "spawn_loc", D9T_POOLED_STRING });
	SCHEMA(POLLED, "PollEndEvent", { "worker_id", D9T_VARINT });
	SCHEMA(SPAWN, "TaskSpawnEvent", { "task_id", D9T_VARINT }, { "spawn_loc", D9T_POOLED_STRING },
	       { "instrumented", D9T_BOOL });
	SCHEMA(GONE, "TaskTerminateEvent", { "task_id", D9T_VARINT });
	SCHEMA(QUEUE, "QueueSampleEvent", { "global_queue", D9T_U8 });
	SCHEMA(SAMPLE, "CpuSampleEvent", { "worker_id", D9T_VARINT }, { "tid", D9T_U32 },
	       { "source", D9T_U8 }, { "thread_name", D9T_POOLED_STRING | D9T_OPTIONAL },
	       { "callchain", D9T_POOLED_STACK }, { "cpu", D9T_VARINT | D9T_OPTIONAL });
	SCHEMA(SYMBOL, "SymbolTableEntry", { "addr", D9T_VARINT }, { "size", D9T_VARINT },
	       { "symbol_name", D9T_POOLED_STRING }, { "inline_depth", D9T_VARINT },
	       { "source_file", D9T_POOLED_STRING }, { "source_line", D9T_VARINT });
	SCHEMA(ROUTE, "SpanEnter:shop::routes::serve:src/routes.rs:31", { "worker_id", D9T_VARINT },
	       { "span_id", D9T_VARINT }, { "parent_span_id", D9T_VARINT | D9T_OPTIONAL },
	       { "span_name", D9T_POOLED_STRING });
	SCHEMA(ROUTE_END, "SpanExit:shop::routes::serve:src/routes.rs:31", { "worker_id", D9T_VARINT },
	       { "span_id", D9T_VARINT }, { "span_name", D9T_POOLED_STRING });
	SCHEMA(QUERY, "SpanEnter:shop::db::query:src/db.rs:12", { "worker_id", D9T_VARINT },
	       { "span_id", D9T_VARINT }, { "parent_span_id", D9T_VARINT | D9T_OPTIONAL },
	       { "span_name", D9T_POOLED_STRING }, { "table", D9T_POOLED_STRING });
	SCHEMA(QUERY_END, "SpanExit:shop::db::query:src/db.rs:12", { "worker_id", D9T_VARINT },
	       { "span_id", D9T_VARINT }, { "span_name", D9T_POOLED_STRING });
}

static void put_pools(struct service *s)
{
	for (uint32_t i = 0; i < COUNT(strings); i++)
		d9b_string(&s->out, i, strings[i]);
	for (uint32_t i = 0; i < COUNT(frames); i++)
		d9b_string(&s->out, S_FRAMES + i, frames[i]);
	for (uint32_t i = 0; i < COUNT(stacks); i++) {
		uint64_t addresses[3];
		for (size_t k = 0; k < 3; k++)
			addresses[k] = 0x55d000001000 + (stacks[i][k] << 8);
		d9b_stack(&s->out, i, addresses, 3);
	}
}

static void put_happening(struct service *s, const struct happening *h)
{
	struct d9_build *const b = &s->out;

	d9b_event(b, h->kind, h->ts);
	if (h->kind == QUEUE) {
		d9b_u8(b, (uint8_t)h->a);
		return;
	}
	if (h->kind == SPAWN) {
		d9b_varint(b, h->a);
		d9b_u32(b, (uint32_t)h->b);
		d9b_u8(b, 1);
		return;
	}
	if (h->kind == GONE) {
		d9b_varint(b, h->a);
		return;
	}
	if (h->kind == WAKE) {
		d9b_varint(b, h->a);
		d9b_varint(b, h->b);
		d9b_u8(b, h->worker);
		return;
	}
	d9b_varint(b, h->worker);
	switch (h->kind) {
	case PARK:
	case UNPARK:
		d9b_u8(b, 0);
		d9b_varint(b, h->a);
		if (h->kind == UNPARK)
			d9b_varint(b, h->b);
		d9b_u32(b, 7312U + h->worker);
		break;
	case POLL:
		d9b_u8(b, 0);
		d9b_varint(b, h->a);
		d9b_u32(b, (uint32_t)h->b);
		break;
	case SAMPLE:
		d9b_u32(b, 7312U + h->worker);
		d9b_u8(b, 0);
		d9b_u8(b, 1);
		d9b_u32(b, S_THREAD);
		d9b_u32(b, (uint32_t)h->a);
		d9b_u8(b, 0);
		break;
	case ROUTE:
		d9b_varint(b, h->a);
		d9b_u8(b, 0);
		d9b_u32(b, (uint32_t)h->b);
		break;
	case QUERY:
		d9b_varint(b, h->a);
		d9b_u8(b, 1);
		d9b_varint(b, h->b);
		d9b_u32(b, S_QUERY);
		d9b_u32(b, (uint32_t)h->c);
		break;
	case ROUTE_END:
	case QUERY_END:
		d9b_varint(b, h->a);
		d9b_u32(b, h->kind == QUERY_END ? S_QUERY : (uint32_t)h->b);
		break;
	default: /* POLLED */
		break;
	}
}

static bool write_service(const char *dir)
{
	static const char *const facts[][2] = { { "service", "shop" }, { "worker_threads", "2" } };
	struct service s = { .random = 9 };
	char path[500];

	d9b_init(&s.out);
	for (unsigned i = 0; i < 2; i++)
		work(&s, i);
	add(&s, SPAWN, 0, START + 1000, 3, S_FLUSH, 0);
	for (unsigned i = 0; i < CONNECTIONS; i++)
		add(&s, SPAWN, 0, START + 100000 + i * 7000, 10 + i, S_CONNECTION, 0);
	add(&s, GONE, 0, END + 15 * MS, 3, 0, 0);
	for (unsigned i = 0; i < CONNECTIONS; i++)
		add(&s, GONE, 0, END + (6 + i) * MS, 10 + i, 0, 0);
	for (uint64_t t = START + 10 * MS; t < END; t += 10 * MS)
		add(&s, QUEUE, 0, t, any(&s, 4) == 0 ? 1 + any(&s, 3) : 0, 0, 0);
	qsort(s.list, s.n, sizeof *s.list, by_time);

	d9b_header(&s.out);
	put_schemas(&s);
	d9b_event(&s.out, CLOCK, START);
	d9b_varint(&s.out, UINT64_C(1767259800000000000));
	d9b_event(&s.out, FACTS, START);
	d9b_u32(&s.out, COUNT(facts));
	for (size_t i = 0; i < COUNT(facts); i++) {
		d9b_text32(&s.out, facts[i][0]);
		d9b_text32(&s.out, facts[i][1]);
	}
	put_pools(&s);
	for (size_t i = 0; i < s.n; i++)
		put_happening(&s, &s.list[i]);
	for (uint32_t i = 0; i < COUNT(frames); i++) {
		d9b_event(&s.out, SYMBOL, 0);
		d9b_varint(&s.out, 0x55d000001000 + ((uint64_t)i << 8));
		d9b_varint(&s.out, 256);
		d9b_u32(&s.out, S_FRAMES + i);
		d9b_varint(&s.out, 0);
		d9b_u32(&s.out, S_EMPTY);
		d9b_varint(&s.out, 0);
	}
	snprintf(path, sizeof path, "%s/service.bin", dir);
	const bool ok = testdata_file(path, s.out.p, s.out.n);
	d9b_free(&s.out);
	free(s.list);
	return ok;
}

/* ---- the aids ---- */

static const char *const fault_samples[] = { "good/segments.dial9", NULL };

const struct format_aids dial9_aids = {
	.format = "dial9",
	.write_testdata = write_service,
	.bench_inputs = dial9_bench_inputs,
	.fault_samples = fault_samples,
};
