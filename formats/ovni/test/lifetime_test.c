/* What events point to lives until their batch is released: all batches are retained, the reader is closed,
 * and another thread reads all of them again. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "model/trace_engine.h"
#include "model/batch_pool.h"
#include "ovni/ovni.h"
#include "vocab/vocab.h"

#define SHOWN (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)

/* ---- what can be reached from a batch ---- */

static void put_slice(struct text *t, struct slice s)
{
	text_printf(t, "%" PRIu32 "/%" PRIu32 ":", s.n, s.flags);
	text_slice(t, s);
}

static void put_event(struct text *t, const struct batch *b, uint32_t i)
{
	const struct event *const e = &b->events[i];

	text_printf(t, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u ", e->ts, e->dur, e->offset, e->phase,
	            e->flags);
	put_slice(t, e->name);
	put_slice(t, e->cls->name);
	put_slice(t, e->cls->category);
	for (uint32_t k = 0; k < e->cls->nfields; k++)
		put_slice(t, e->cls->fields[k].name);
	for (const struct track *k = e->track; k != NULL; k = k->parent)
		put_slice(t, k->name);
	for (uint32_t k = 0; k < e->nfields; k++) {
		const struct field *const f = &b->fields[e->first_field + k];
		put_slice(t, f->name);
		if (f->value.type == VALUE_STRING || f->value.type == VALUE_BYTES)
			put_slice(t, value_text(&f->value));
		else
			text_printf(t, "%" PRIu64, f->value.u64);
	}
	put_slice(t, b->bytes[i]);
}

static struct text text_of(const struct batch *b)
{
	struct text t = { .p = NULL };

	for (uint32_t i = 0; i < b->n; i++)
		put_event(&t, b, i);
	cr_assert(!t.failed);
	return t;
}

/* ---- reading ---- */

struct retained {
	struct batch batch;
	struct text text; /* of the batch when it was new */
};

struct reading {
	struct trace trace;
	struct reader r;
	struct findings findings;
	struct retained *list;
	size_t n;
};

/* One for the process: vocabularies outlive all traces. */
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
		struct retained *const k = &x->list[x->n++];
		cr_assert(batch_init(&k->batch, cap, true));
		input_hold(x->r.in, &k->batch.holds);
		status = ovni_reader_ops.next(&x->r, &k->batch);
		cr_assert_neq(status, READ_NO_MEMORY);
		k->text = text_of(&k->batch);
		input_behind(x->r.in);
	}
}

/* On a thread of its own. */
static void *compare(void *reading)
{
	struct reading *const x = reading;
	size_t wrong = 0;

	for (size_t i = 0; i < x->n; i++) {
		struct text again = text_of(&x->list[i].batch);
		const struct text *const first = &x->list[i].text;
		wrong += again.n != first->n || (again.n > 0 && memcmp(again.p, first->p, again.n) != 0);
		text_free(&again);
	}
	/* not in the order of their making */
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

/* ---- inputs ---- */

/* Mapped, read by pieces, through a window that moves, and unpacked. */
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

/* The head of a jumbo event whose data is dropped lies in no input. */
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
