#include <criterion/criterion.h>

#include "run/write/test/writer_rig_test.h"

/* A writer of folders: a file for each track, an index, and an empty file. */

static const char *const names[] = { "tracks/0", "tracks/1", "tracks/2" };

static bool split_open(struct writer *w, struct chunk *chunk)
{
	chunk_file(chunk, "index");
	text_str(&chunk->text, "begin\n");
	chunk_file(chunk, "empty");
	chunk_file(chunk, "index");
	text_str(&chunk->text, "more\n");
	return true;
}

static bool split_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	for (uint32_t i = 0; i < b->ntracks; i++)
		b->tracks[i]->declared = names[b->tracks[i]->id];
	return true;
}

static void split_render(const void *state, const struct batch *b, struct chunk *chunk)
{
	for (uint32_t i = 0; i < b->n; i++) {
		chunk_file(chunk, b->events[i].track->declared);
		text_u64(&chunk->text, b->events[i].ts);
		text_char(&chunk->text, '\n');
	}
}

static void split_write(void *state, const struct batch *b, struct chunk *chunk)
{
	split_render(state, b, chunk);
}

static bool split_close(struct writer *w, struct chunk *chunk)
{
	chunk_file(chunk, "index");
	text_str(&chunk->text, "en");
	if (chunk_flush(chunk)) /* later text belongs to the same file */
		text_str(&chunk->text, "d\n");
	return true;
}

#define SPLIT                                                                                                \
	.state_size = 1, .shape = WRITER_FOLDER, .open = split_open, .declare = split_declare,               \
	.close = split_close
static const struct writer_ops render_ops = { SPLIT, .render = split_render };
static const struct writer_ops write_ops = { SPLIT, .write = split_write };
static const struct format by_render = { .name = "split", .writer = &render_ops };
static const struct format by_write = { .name = "split", .writer = &write_ops };

enum { BATCHES = 200, EVENTS = 50 };

struct tracks {
	const struct track *list[3];
	const struct class *cls;
};

static uint64_t track_of(uint64_t ts)
{
	return ts * 2654435761u / 1024 % 3;
}

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	struct tracks *const t = ctx;

	for (uint64_t i = 0; number == 0 && i < 3; i++)
		t->list[i] = trace_add_thread(trace, NULL, i, SLICE_LIT("t"));
	if (number == 0)
		t->cls = trace_add_class(trace, SLICE_LIT("cls"));
	for (uint64_t i = 0; number < BATCHES && i < EVENTS; i++) {
		const uint64_t ts = (uint64_t)number * EVENTS + i;
		writer_rig_event(b, t->cls, t->list[track_of(ts)], ts, SLICE_LIT("x"));
	}
	return number < BATCHES;
}

static void expect_files(const struct format *to)
{
	struct tracks tracks;
	struct writer_rig r;
	struct text want = { .p = NULL };

	writer_rig_run_all(&r, &(struct writer_rig_job){ .to = to, .fill = fill, .ctx = &tracks });
	cr_expect(r.written);
	cr_assert_eq(r.nfiles, 5);
	cr_expect_str_eq(writer_rig_text(&r, "index"), "begin\nmore\nend\n");
	cr_expect_str_eq(writer_rig_text(&r, "empty"), "");
	for (uint64_t k = 0; k < 3; k++) {
		text_clear(&want);
		for (uint64_t ts = 0; ts < BATCHES * EVENTS; ts++)
			if (track_of(ts) == k)
				text_printf(&want, "%d\n", (int)ts);
		text_char(&want, '\0');
		cr_expect_str_eq(writer_rig_text(&r, names[k]), want.p);
	}
	text_free(&want);
	writer_rig_free(&r);
}

Test(writing_folder, each_file_gets_its_parts_in_order)
{
	expect_files(&by_render);
	expect_files(&by_write);
}
