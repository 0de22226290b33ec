/*
 * Records of the reader.  Raw events are those of the file: their bytes put together are the file, and so are
 * their fields.  The memory of events lives until their batch is released: all batches are retained, the
 * reader is closed, and another thread reads all of them again.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/samples_test_util.h"
#include "format/registry.h"
#include "model/batch_pool.h"
#include "model/trace_engine.h"
#include "ovni/ovni.h"
#include "ovni/test/written_test.h"
#include "run/pipeline.h"
#include "vocab/vocab.h"

/* ---- raw events ---- */

#define WANT_ALL_RAW (WANT_RAW | WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)

/* The stream rebuilt twice: from the bytes of its records, and from their fields. */
struct rebuilt {
	bool complete;
	char *bytes, *fields;
	size_t nbytes, nfields, cap;
	uint64_t events, headers;
};

static void rebuild_number(struct rebuilt *r, uint64_t v, unsigned size, bool big)
{
	cr_assert(r->nfields + size <= r->cap);
	for (unsigned i = 0; i < size; i++)
		r->fields[r->nfields++] = (char)(v >> 8 * (big ? size - 1 - i : i));
}

static void rebuild_field(struct rebuilt *r, const struct field *f, const struct class_field *declared,
                          bool big)
{
	const struct slice text = value_text(&f->value);

	cr_expect(slice_equal(f->name, declared->name));
	cr_expect_eq(f->value.type, declared->value);
	switch ((enum value_type)f->value.type) {
	case VALUE_STRING:
	case VALUE_BYTES:
		cr_expect(declared->size == 0 || declared->size == text.n);
		cr_assert(text.n <= r->cap - r->nfields);
		memcpy(r->fields + r->nfields, text.p, text.n);
		r->nfields += text.n;
		break;
	default:
		rebuild_number(r, f->value.u64, declared->size, big);
	}
}

/* Fields have the order of the class; some may be missing. */
static void rebuild_fields(struct rebuilt *r, const struct batch *b, const struct event *e)
{
	const struct class *const cls = e->cls;
	uint32_t next = 0;

	for (uint32_t i = 0; i < e->nfields; i++, next++) {
		const struct field *const f = &b->fields[e->first_field + i];
		while (next < cls->nfields && !slice_equal(cls->fields[next].name, f->name))
			next++;
		cr_assert_lt(next, cls->nfields);
		rebuild_field(r, f, &cls->fields[next], (e->flags & EVENT_BIG) != 0);
	}
}

static void rebuild_batch(struct rebuilt *r, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		cr_assert_eq(e->offset, r->nbytes);
		cr_assert(b->bytes[i].n <= r->cap - r->nbytes);
		memcpy(r->bytes + r->nbytes, b->bytes[i].p, b->bytes[i].n);
		r->nbytes += b->bytes[i].n;
		rebuild_fields(r, b, e);
		r->headers += e->phase == PHASE_STRUCTURE;
		r->events += e->phase == PHASE_INSTANT;
		if (e->phase == PHASE_INSTANT)
			cr_expect_eq(e->ts, load_u64(b->bytes[i].p + 4, (e->flags & EVENT_BIG) != 0));
	}
}

static void note_closed(void *ctx, const struct source *s)
{
	struct rebuilt *const r = ctx;

	r->complete |= s->complete;
}

/* Reads through a window that moves by `step` bytes; 0: the file itself. */
static void expect_rebuilt(const char *path, size_t step)
{
	struct rebuilt r = { .nbytes = 0 };
	struct pipeline f;
	struct batch *b;

	char *const p = read_whole(path, &r.cap);
	cr_assert_not_null(p, "%s", path);
	r.bytes = malloc(r.cap);
	r.fields = malloc(r.cap);
	cr_assert(r.bytes != NULL && r.fields != NULL);
	const struct pipeline_job job = { .in.paths = &path,
		                          .in.npaths = 1,
		                          .in.input =
		                              step == 0 ? NULL : input_from_memory_slowly(p, r.cap, step),
		                          .in.from = format_by_name("ovni"),
		                          .read.want = WANT_ALL_RAW,
		                          .to.hooks = { .closed = note_closed, .ctx = &r } };
	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(&f, &b) == STAGE_MORE) {
		rebuild_batch(&r, b);
		batch_release(b);
	}
	pipeline_end(&f);
	cr_expect(r.complete, "%s", path);
	cr_expect_eq(f.trace.records, r.events);
	cr_expect_eq(r.headers, 1);
	cr_expect(r.nbytes == r.cap && memcmp(p, r.bytes, r.cap) == 0, "%s: other bytes", path);
	cr_expect(r.nfields == r.cap && memcmp(p, r.fields, r.cap) == 0, "%s: other fields", path);
	pipeline_close(&f);
	free(r.bytes);
	free(r.fields);
	free(p);
}

Test(ovni_raw, samples)
{
	char **const names = list_folder("testdata/ovni/good", ".obs");

	for (size_t i = 0; names[i] != NULL; i++) {
		char path[512];
		snprintf(path, sizeof path, "testdata/ovni/good/%s", names[i]);
		expect_rebuilt(path, 0);
		for (size_t step = 1; step < 40; step += 13)
			expect_rebuilt(path, step);
	}
	list_free(names);
}

/* Invalid events are raw events too. */
Test(ovni_raw, samples_that_are_complete)
{
	static const char *const names[] = { "clock-backwards", "clock-large",  "jumbo-nibble",
		                             "payload-jumbo",   "payload-long", "reserved-flags",
		                             "unknown-event",   "no-events" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[512];
		snprintf(path, sizeof path, "testdata/ovni/bad/%s.obs", names[i]);
		expect_rebuilt(path, 0);
	}
}

Test(ovni_raw, real_traces)
{
	const char *const traces = real_traces();
	char command[600];

	snprintf(command, sizeof command, "find '%s/ovni' -name stream.obs -size +8c 2>/dev/null | sort",
	         traces);
	struct ran r = run_program((const char *const[]){ "sh", "-c", command, NULL }, NULL, 0);
	if (r.out_n == 0)
		cr_skip_test("no traces of ovni itself at %s", traces);
	for (char *path = strtok(r.out, "\n"); path != NULL; path = strtok(NULL, "\n"))
		expect_rebuilt(path, 0);
	ran_free(&r);
}

struct first_times {
	uint64_t ts[4];
	size_t n;
};

static void note_times(struct first_times *s, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->events[i].phase != PHASE_STRUCTURE && s->n < 4)
			s->ts[s->n++] = b->events[i].ts;
}

Test(ovni_raw, clock_offsets_are_not_added)
{
	static const char offsets[] = "titles\n0 h 1000 1000 1\n";
	char *const dir = make_folder(), path[600];
	const char *const operand = dir;
	struct written w;

	written_init(&w, 2);
	written_start(&w, 5, 0);
	written_put(&w, "OHe", 7, NULL, 0);
	written_save(&w, dir, 0);
	snprintf(path, sizeof path, "%s/clock-offsets.txt", dir);
	cr_assert(write_whole(path, offsets, sizeof offsets - 1));
	for (int raw = 0; raw < 2; raw++) {
		const struct pipeline_job job = { .in.paths = &operand,
			                          .in.npaths = 1,
			                          .read.want = raw ? WANT_ALL_RAW : WANT_TIMES,
			                          .read.interpret = INTERPRET_NOT };
		struct first_times s = { .n = 0 };
		struct pipeline f;
		struct batch *b;
		cr_expect(pipeline_open(&f, &job));
		while (pipeline_next(&f, &b) == STAGE_MORE) {
			note_times(&s, b);
			batch_release(b);
		}
		cr_expect(s.n == 2 && s.ts[0] == (raw ? 5 : 1005) && s.ts[1] == (raw ? 7 : 1007));
		pipeline_close(&f);
	}
	remove_folder(dir);
}

#define SHOWN (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)

/* ---- lifetime: all memory that a batch refers to ---- */

static void describe_slice(struct text *t, struct slice s)
{
	text_printf(t, "%" PRIu32 "/%" PRIu32 ":", s.n, s.flags);
	text_slice(t, s);
}

static void describe_event(struct text *t, const struct batch *b, uint32_t i)
{
	const struct event *const e = &b->events[i];

	text_printf(t, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u ", e->ts, e->dur, e->offset, e->phase,
	            e->flags);
	describe_slice(t, e->name);
	describe_slice(t, e->cls->name);
	describe_slice(t, e->cls->category);
	for (uint32_t k = 0; k < e->cls->nfields; k++)
		describe_slice(t, e->cls->fields[k].name);
	for (const struct track *k = e->track; k != NULL; k = k->parent)
		describe_slice(t, k->name);
	for (uint32_t k = 0; k < e->nfields; k++) {
		const struct field *const f = &b->fields[e->first_field + k];
		describe_slice(t, f->name);
		if (f->value.type == VALUE_STRING || f->value.type == VALUE_BYTES)
			describe_slice(t, value_text(&f->value));
		else
			text_printf(t, "%" PRIu64, f->value.u64);
	}
	describe_slice(t, b->bytes[i]);
}

static struct text describe_batch(const struct batch *b)
{
	struct text t = { .p = NULL };

	for (uint32_t i = 0; i < b->n; i++)
		describe_event(&t, b, i);
	cr_assert(!t.failed);
	return t;
}

/* ---- lifetime: reading ---- */

struct retained_batch {
	struct batch batch;
	struct text text; /* description of the batch when it was new */
};

struct reading {
	struct trace trace;
	struct reader r;
	struct findings findings;
	struct retained_batch *list;
	size_t n;
};

/* Vocabularies outlive all traces: there is one for the process. */
static const struct vocabulary *vocabulary(void)
{
	static struct vocabulary *v;
	const struct slice text = vocab_builtin("ovni");

	if (v == NULL)
		cr_assert((v = vocab_new("ovni")) != NULL && vocab_add_text(v, text.p, text.n, NULL, NULL));
	return v;
}

static void open_reader(struct reading *x, struct input *in, unsigned want)
{
	cr_assert_not_null(in);
	memset(x, 0, sizeof *x);
	trace_init(&x->trace);
	x->trace.vocabulary = vocabulary();
	findings_init(&x->findings, in->path, NULL, NULL);
	x->r = (struct reader){ .in = in,
		                .trace = &x->trace,
		                .findings = &x->findings,
		                .want = want,
		                .state = calloc(1, ovni_reader_ops.state_size),
		                .shared = calloc(1, ovni_trace_ops.shared_size) };
	cr_assert(x->r.state != NULL && x->r.shared != NULL);
	cr_assert(ovni_trace_ops.open(&x->r) && ovni_reader_ops.open(&x->r));
}

static void close_reader(struct reading *x)
{
	input_hold(x->r.in, NULL);
	ovni_reader_ops.close(&x->r);
	free(x->r.state);
	ovni_trace_ops.close(x->r.shared);
	free(x->r.shared);
	input_close(x->r.in);
	findings_free(&x->findings);
}

static void read_all(struct reading *x, uint32_t cap)
{
	enum read_status status = READ_MORE;

	while (status == READ_MORE) {
		x->list = realloc(x->list, (x->n + 1) * sizeof *x->list);
		cr_assert_not_null(x->list);
		struct retained_batch *const k = &x->list[x->n++];
		cr_assert(batch_init(&k->batch, cap, true));
		input_hold(x->r.in, &k->batch.holds);
		status = ovni_reader_ops.next(&x->r, &k->batch);
		cr_assert_neq(status, READ_NO_MEMORY);
		k->text = describe_batch(&k->batch);
		input_behind(x->r.in);
	}
}

/* Runs on a thread of its own; returns the number of batches that changed. */
static void *compare(void *reading)
{
	struct reading *const x = reading;
	size_t wrong = 0;

	for (size_t i = 0; i < x->n; i++) {
		struct text again = describe_batch(&x->list[i].batch);
		const struct text *const first = &x->list[i].text;
		wrong += again.n != first->n || (again.n > 0 && memcmp(again.p, first->p, again.n) != 0);
		text_free(&again);
	}
	/* In the reverse order of creation. */
	for (size_t i = x->n; i-- > 0;) {
		batch_free(&x->list[i].batch);
		text_free(&x->list[i].text);
	}
	free(x->list);
	trace_free(&x->trace);
	return (void *)(uintptr_t)wrong;
}

static void expect_retained(struct input *in, unsigned want, uint32_t cap, const char *what)
{
	struct reading x;
	pthread_t thread;
	void *wrong;

	open_reader(&x, in, want);
	read_all(&x, cap);
	close_reader(&x);
	cr_assert_eq(pthread_create(&thread, NULL, compare, &x), 0);
	cr_assert_eq(pthread_join(thread, &wrong), 0);
	cr_expect_null(wrong, "%s: %d batches have changed", what, (int)(uintptr_t)wrong);
}

/* ---- lifetime: inputs ---- */

/* Reads a file mapped, in pieces, through a moving window, and compressed. */
static void expect_file(const char *path, const char *dir)
{
	char packed[600];
	size_t n, packed_n;
	char *const p = read_whole(path, &n);

	cr_assert_not_null(p, "%s", path);
	snprintf(packed, sizeof packed, "%s/stream.obs.gz", dir);
	void *const gz = gzip_copy(p, n, &packed_n);
	cr_assert(write_whole(packed, gz, packed_n));
	expect_retained(input_open(path), SHOWN, 3, path);
	expect_retained(input_open(path), SHOWN | WANT_RAW, 64, path);
	expect_retained(input_open_pieces(NULL, path, 100), SHOWN, 2, path);
	expect_retained(input_from_memory_slowly(p, n, 9), SHOWN | WANT_RAW, 3, path);
	expect_retained(input_from_memory_slowly(p, n, 40), SHOWN, 1, path);
	expect_retained(input_open(packed), SHOWN, 5, path);
	free(gz);
	free(p);
}

static void expect_files(const char *find)
{
	struct ran r = run_program((const char *const[]){ "sh", "-c", find, NULL }, NULL, 0);
	char *const dir = make_folder();

	for (char *path = strtok(r.out, "\n"); path != NULL; path = strtok(NULL, "\n"))
		expect_file(path, dir);
	remove_folder(dir);
	ran_free(&r);
}

Test(ovni_lifetime, samples)
{
	expect_files("ls testdata/ovni/good/*.obs testdata/ovni/bad/*.obs");
}

Test(ovni_lifetime, streams_with_metadata)
{
	expect_files("find testdata/ovni/folders-state/good testdata/ovni/folders/mark-conflict "
	             "testdata/ovni/folders/good-two-threads -name stream.obs");
}

Test(ovni_lifetime, real_traces)
{
	const char *const traces = real_traces();
	char command[600];

	snprintf(command, sizeof command,
	         "find '%s/ovni' -name stream.obs -size -64k 2>/dev/null | sort | awk 'NR %% 4 == 1'",
	         traces);
	expect_files(command);
}

/* The head of a jumbo event whose data is dropped is a copy, not memory of the input. */
Test(ovni_lifetime, jumbo_events_that_are_too_large)
{
	const size_t n = OVNI_HEADER_SIZE + 2 * (OVNI_JUMBO_HEAD + (size_t)OVNI_MAX_JUMBO + 1);
	char *const p = calloc(1, n);

	cr_assert_not_null(p);
	memcpy(p, "ovni\1", 5);
	for (int i = 0; i < 2; i++) {
		char *const e = p + OVNI_HEADER_SIZE + (size_t)i * (OVNI_JUMBO_HEAD + OVNI_MAX_JUMBO + 1);
		memcpy(e, i == 0 ? "\x13OUj" : "\x13VYc", 4);
		for (int k = 0; k < 4; k++)
			e[OVNI_EVENT_SIZE + k] = (char)((OVNI_MAX_JUMBO + 1) >> 8 * k & 0xff);
	}
	expect_retained(input_from_memory_slowly(p, n, 1 << 20), SHOWN, 1, "in steps");
	expect_retained(input_from_memory(p, n), SHOWN | WANT_RAW, 8, "at once");
	free(p);
}
