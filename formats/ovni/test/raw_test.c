/* Raw events are the records of the file: put together they are the file, and so are their fields. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/samples_test_util.h"
#include "format/registry.h"
#include "ovni/test/written_test.h"
#include "run/pipeline.h"

#define WANT_ALL_RAW (WANT_RAW | WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)

/* The stream, put together twice: from the bytes of its records, and from their fields. */
struct rebuilt {
	bool complete;
	char *bytes, *fields;
	size_t nbytes, nfields, cap;
	uint64_t events, headers;
};

static void put_number(struct rebuilt *r, uint64_t v, unsigned size, bool big)
{
	cr_assert(r->nfields + size <= r->cap);
	for (unsigned i = 0; i < size; i++)
		r->fields[r->nfields++] = (char)(v >> 8 * (big ? size - 1 - i : i));
}

static void put_field(struct rebuilt *r, const struct field *f, const struct class_field *declared, bool big)
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
		put_number(r, f->value.u64, declared->size, big);
	}
}

/* The fields of a record are those of its class, in that order; some may be missing. */
static void put_fields(struct rebuilt *r, const struct batch *b, const struct event *e)
{
	const struct class *const cls = e->cls;
	uint32_t next = 0;

	for (uint32_t i = 0; i < e->nfields; i++, next++) {
		const struct field *const f = &b->fields[e->first_field + i];
		while (next < cls->nfields && !slice_equal(cls->fields[next].name, f->name))
			next++;
		cr_assert_lt(next, cls->nfields);
		put_field(r, f, &cls->fields[next], (e->flags & EVENT_BIG) != 0);
	}
}

static void take(struct rebuilt *r, const struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct event *const e = &b->events[i];
		cr_assert_eq(e->offset, r->nbytes);
		cr_assert(b->bytes[i].n <= r->cap - r->nbytes);
		memcpy(r->bytes + r->nbytes, b->bytes[i].p, b->bytes[i].n);
		r->nbytes += b->bytes[i].n;
		put_fields(r, b, e);
		r->headers += e->phase == PHASE_STRUCTURE;
		r->events += e->phase == PHASE_INSTANT;
		if (e->phase == PHASE_INSTANT)
			cr_expect_eq(e->ts, load_u64(b->bytes[i].p + 4, (e->flags & EVENT_BIG) != 0));
	}
}

static void closed(void *ctx, const struct source *s)
{
	struct rebuilt *const r = ctx;

	r->complete |= s->complete;
}

/* Through a window that moves by `step` bytes; 0: the file itself. */
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
	const struct pipeline_job job = { .paths = &path,
		                          .npaths = 1,
		                          .input =
		                              step == 0 ? NULL : input_from_memory_slowly(p, r.cap, step),
		                          .from = format_by_name("ovni"),
		                          .want = WANT_ALL_RAW,
		                          .hooks = { .closed = closed, .ctx = &r } };
	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(&f, &b) == STAGE_MORE) {
		take(&r, b);
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

/* Invalid events are complete too. */
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

/* ---- what raw events do not have ---- */

struct seen {
	uint64_t ts[4];
	size_t n;
};

static void see(struct seen *s, const struct batch *b)
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
		const struct pipeline_job job = { .paths = &operand,
			                          .npaths = 1,
			                          .want = raw ? WANT_ALL_RAW : WANT_TIMES,
			                          .interpret = INTERPRET_NOT };
		struct seen s = { .n = 0 };
		struct pipeline f;
		struct batch *b;
		cr_expect(pipeline_open(&f, &job));
		while (pipeline_next(&f, &b) == STAGE_MORE) {
			see(&s, b);
			batch_release(b);
		}
		cr_expect(s.n == 2 && s.ts[0] == (raw ? 5 : 1005) && s.ts[1] == (raw ? 7 : 1007));
		pipeline_close(&f);
	}
	remove_folder(dir);
}
