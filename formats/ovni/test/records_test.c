/*
 * Records of the reader.  The fields of raw events together are the stream; clock offsets are not added to
 * them; memory of events outside of the input lives as long as their batch.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "format/registry.h"
#include "input/open.h"
#include "input/test/memory_input.h"
#include "output/text.h"
#include "ovni/ovni.h"
#include "ovni/test/written_test.h"
#include "run/pipeline.h"
#include "test/fuzz/live_batches.h"
#include "test/properties/rows_test.h"

/* ---- raw events ---- */

#define SHOWN (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)
#define WANT_ALL_RAW (WANT_RAW | SHOWN)

static void put_field(struct text *to, const struct field *f, const struct class_field *declared, bool big)
{
	const struct slice text = value_text(&f->value);

	cr_expect(slice_equal(f->name, declared->name));
	cr_expect_eq(f->value.type, declared->value);
	if (f->value.type == VALUE_STRING || f->value.type == VALUE_BYTES) {
		cr_expect(declared->size == 0 || declared->size == text.n);
		text_slice(to, text);
		return;
	}
	for (unsigned i = 0; i < declared->size; i++)
		text_char(to, (char)(f->value.u64 >> 8 * (big ? declared->size - 1 - i : i)));
}

/* Fields have the order of the class; some may be missing. */
static void put_fields(struct text *to, const struct batch *b, const struct event *e)
{
	const struct class *const cls = e->cls;
	uint32_t next = 0;

	for (uint32_t i = 0; i < e->nfields; i++, next++) {
		const struct field *const f = &b->fields[e->first_field + i];
		while (next < cls->nfields && !slice_equal(cls->fields[next].name, f->name))
			next++;
		cr_assert_lt(next, cls->nfields);
		put_field(to, f, &cls->fields[next], (e->flags & EVENT_BIG) != 0);
	}
}

static void expect_fields(const char *path, struct input *in, const char *p, size_t n)
{
	struct text fields = { .p = NULL };
	struct live_batches l;
	uint64_t headers = 0;

	live_batches_read(&l, format_by_name("ovni"), in, WANT_ALL_RAW, 1024);
	for (size_t i = 0; i < l.n; i++)
		for (uint32_t k = 0; k < l.batches[i]->n; k++) {
			const struct event *const e = &l.batches[i]->events[k];
			put_fields(&fields, l.batches[i], e);
			headers += e->phase == PHASE_STRUCTURE;
			if (e->phase == PHASE_INSTANT)
				cr_expect_eq(e->ts, load_u64(l.batches[i]->bytes[k].p + 4,
				                             (e->flags & EVENT_BIG) != 0));
		}
	cr_expect_eq(headers, 1, "%s", path);
	cr_expect(fields.n == n && memcmp(p, fields.p, n) == 0, "%s: other fields", path);
	live_batches_free(&l);
	text_free(&fields);
}

static void expect_sample(const struct sample *s)
{
	/* invalid events are raw events too */
	static const char *const complete[] = { "clock-backwards", "clock-large",  "jumbo-nibble",
		                                "payload-jumbo",   "payload-long", "reserved-flags",
		                                "unknown-event",   "no-events" };
	bool is_complete = s->good;

	for (size_t i = 0; i < sizeof complete / sizeof complete[0]; i++)
		is_complete |= strstr(s->path, complete[i]) != NULL;
	if (is_complete)
		expect_fields(s->path, input_from_memory(s->p, s->n), s->p, s->n);
}

Test(ovni_raw, fields_cover_the_stream)
{
	each_sample_of("ovni", SAMPLES_VALID | SAMPLES_BAD, expect_sample);
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
	for (char *path = strtok(r.out, "\n"); path != NULL; path = strtok(NULL, "\n")) {
		size_t n;
		char *const p = read_whole(path, &n);
		expect_fields(path, input_open(path), p, n);
		free(p);
	}
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
	char *const dir = make_folder();
	const char *const operand = dir;
	struct written w;

	written_init(&w, 2);
	written_start(&w, 5, 0);
	written_put(&w, "OHe", 7, NULL, 0);
	written_save(&w, dir, 0);
	put_file(dir, "clock-offsets.txt", offsets, sizeof offsets - 1);
	for (int raw = 0; raw < 2; raw++) {
		const struct pipeline_job job = { .in.paths = &operand,
			                          .in.npaths = 1,
			                          .read.want = raw ? WANT_ALL_RAW : WANT_TIMES,
			                          .read.interpret = INTERPRET_NOT };
		struct first_times s = { .n = 0 };
		struct pipeline *f;
		struct batch *b;
		cr_expect(pipeline_open(&f, &job));
		while (pipeline_next(f, &b) == STAGE_MORE) {
			note_times(&s, b);
			batch_release(b);
		}
		cr_expect(s.n == 2 && s.ts[0] == (raw ? 5 : 1005) && s.ts[1] == (raw ? 7 : 1007));
		pipeline_close(f);
	}
	remove_folder(dir);
}

/* ---- lifetime: streams with metadata, and dropped data ---- */

static void expect_lasting(struct input *in, unsigned want, uint32_t cap, const char *what)
{
	struct live_batches l;

	live_batches_read(&l, format_by_name("ovni"), in, want, cap);
	cr_expect_gt(l.n, 0, "%s", what);
	cr_expect_eq(live_batches_changed(&l), 0, "%s", what);
	cr_expect_eq(live_batches_free(&l), 0, "%s", what);
}

Test(ovni_lifetime, streams_with_metadata)
{
	const char *const find = "find testdata/ovni/folders-state/good testdata/ovni/folders/mark-conflict "
	                         "testdata/ovni/folders/good-two-threads -name stream.obs";
	struct ran r = run_program((const char *const[]){ "sh", "-c", find, NULL }, NULL, 0);

	for (char *path = strtok(r.out, "\n"); path != NULL; path = strtok(NULL, "\n")) {
		expect_lasting(input_open(path), SHOWN, 3, path);
		expect_lasting(input_open(path), WANT_ALL_RAW, 64, path);
		expect_lasting(input_open_pieces(NULL, path, 100), SHOWN, 2, path);
	}
	ran_free(&r);
}

/* The head of a jumbo event whose data is dropped is a copy, not memory of the input. */
#define LONG_DATA (4U << 20)

Test(ovni_lifetime, jumbo_events_that_are_too_large)
{
	const size_t n = OVNI_HEADER_SIZE + 2 * (OVNI_JUMBO_HEAD + (size_t)LONG_DATA + 1);
	char *const p = calloc(1, n);

	cr_assert_not_null(p);
	memcpy(p, "ovni\1", 5);
	for (int i = 0; i < 2; i++) {
		char *const e = p + OVNI_HEADER_SIZE + (size_t)i * (OVNI_JUMBO_HEAD + LONG_DATA + 1);
		memcpy(e, i == 0 ? "\x13OUj" : "\x13VYc", 4);
		for (int k = 0; k < 4; k++)
			e[OVNI_EVENT_SIZE + k] = (char)((LONG_DATA + 1) >> 8 * k & 0xff);
	}
	expect_lasting(input_from_memory_slowly(p, n, 1 << 20), SHOWN, 1, "in steps");
	expect_lasting(input_from_memory(p, n), SHOWN | WANT_RAW, 8, "at once");
	free(p);
}
