#include "run/sort/sorter.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "run/sort/test/event_samples_test.h"

/* Packs the event into an allocation of the exact size, so that sanitizers detect any further byte. */
static char *packed_event(const struct batch *b, uint32_t i, struct event_shapes *shapes)
{
	uint64_t space = 1024, size;
	char *p = malloc(space);

	while ((size = event_pack(p, space, b, i, shapes)) == 0) {
		space *= 2;
		p = realloc(p, space);
		cr_assert_not_null(p);
	}
	free(p);
	p = malloc(size + EVENT_PACKED_SLACK);
	cr_assert_eq(event_pack(p, size, b, i, shapes), size);
	cr_assert_eq(event_packed_size(p), size);
	return p;
}

/* The key is that of the event. */
static void check_key(const char *packed, const struct event *e, const struct event_shapes *shapes)
{
	static const struct order_rule rules[] = { { .order = ORDER_TIME },
		                                   { .order = ORDER_TRACK_TIME, .signed_time = true } };
	struct packed_head head;

	event_read_head(&head, packed, shapes);
	for (size_t i = 0; i < 2; i++) {
		const struct order_key want = order_key_of(e, rules[i]),
		                       got = event_head_key(&head, rules[i]);
		cr_assert_eq(got.start, want.start);
		cr_assert_eq(got.inv_dur, want.inv_dur);
		cr_assert_eq(got.track, want.track);
	}
}

static void there_and_back(bool in_place, struct event_shapes *shapes)
{
	struct event_samples s;
	struct batch b, out;
	char *packed[500];

	event_samples_init(&s, 3);
	cr_assert(batch_init(&b, 500, false) && batch_init(&out, 500, true));
	for (int round = 0; round < 5; round++) {
		s.large = round == 4;
		event_samples_fill(&s, &b, 500);
		for (uint32_t i = 0; i < b.n; i++) {
			packed[i] = packed_event(&b, i, shapes);
			check_key(packed[i], &b.events[i], shapes);
			if (in_place) {
				struct packed_head head;
				event_read_head(&head, packed[i], shapes);
				cr_assert(event_unpack_in_place(&out, &head, shapes));
			} else {
				cr_assert(event_unpack_copy(&out, packed[i], shapes));
				free(packed[i]);
			}
			cr_assert_null(out.bytes[i].p);
		}
		for (uint32_t i = 0; i < b.n; i++) {
			const char *const what = event_samples_differ(&b, i, &out, i);
			cr_assert_null(what, "event %u: %s", i, what);
			if (in_place)
				free(packed[i]);
		}
		batch_recycle(&b);
		batch_recycle(&out);
	}
	batch_free(&b);
	batch_free(&out);
}

/* With numbers for all shapes, for a few, for none. */
static void with_shapes(bool in_place)
{
	for (uint32_t max = 0; max <= 4096; max += 64 + max * 3) {
		struct event_shapes shapes = { .max = max,
			                       .base = max * 7,
			                       .rows = field_rows_new(max / 8, NULL) };
		there_and_back(in_place, &shapes);
		cr_assert_leq(shapes.n, max);
		cr_assert(max == 0 || shapes.n > 50);
		event_shapes_free(&shapes);
	}
	there_and_back(in_place, NULL);
}

Test(event_codec, copies)
{
	with_shapes(false);
}

Test(event_codec, in_place)
{
	with_shapes(true);
}

/* An event does not fit in less space, and nothing is written after the space. */
Test(event_codec, any_room)
{
	struct event_samples s;
	struct batch b;

	event_samples_init(&s, 7);
	cr_assert(batch_init(&b, 200, false));
	event_samples_fill(&s, &b, 200);
	for (uint32_t i = 0; i < b.n; i++) {
		char *const packed = packed_event(&b, i, NULL);
		const uint64_t size = event_packed_size(packed), step = size > 2000 ? 997 : 1;
		free(packed);
		for (uint64_t space = 0; space < size; space += step) {
			char *const p = malloc(space > 0 ? space : 1);
			cr_assert_eq(event_pack(p, space, &b, i, NULL), 0);
			free(p);
		}
	}
	batch_free(&b);
}

static uint64_t packed_size(const struct batch *b, struct event_shapes *shapes)
{
	char *const packed = packed_event(b, 0, shapes);
	const uint64_t size = event_packed_size(packed);

	free(packed);
	return size;
}

/* The sizes that the header states. */
Test(event_codec, size)
{
	struct class cls = { .index = 0 };
	struct track track = { .index = 0 };
	struct event_shapes shapes = { .max = 1000, .base = 1790000000000000000 };
	struct batch b;

	cr_assert(batch_init(&b, 1, false));
	b.n = 1;
	b.events[0] = (struct event){ .name = { "stays", 5, SLICE_STAYS }, .cls = &cls, .track = &track };
	b.events[0].ts = shapes.base;
	cr_assert_eq(packed_size(&b, &shapes), 6);
	cr_assert_eq(packed_size(&b, NULL), 6 + 8 + 64);
	b.events[0].ts = shapes.base - 100;
	b.events[0].dur = 70000;
	b.events[0].offset = 300;
	cr_assert_eq(packed_size(&b, &shapes), 6 + 1 + 3 + 2);
	b.fields[0] = (struct field){ { "stays", 5, SLICE_STAYS }, value_string(slice_of("nine char", 9)) };
	b.events[0].nfields = 1;
	cr_assert_eq(packed_size(&b, &shapes), 12 + 2 + 5 + 9 + 10);
	b.fields[0] = (struct field){ { "key", 3, 0 }, value_u64(256) };
	cr_assert_eq(packed_size(&b, &shapes), 12 + 2 + 5 + 4 + 3);
	shapes.rows = field_rows_new(1, NULL);
	cr_assert_eq(packed_size(&b, &shapes), 12 + 2 + 3);
	b.fields[0].value = value_string(slice_of("nine char", 9)); /* of another row: there is no room */
	cr_assert_eq(packed_size(&b, &shapes), 12 + 2 + 5 + 4 + 10);
	batch_free(&b);
	event_shapes_free(&shapes);
}

/* Around the largest size that is not stored separately in eight bytes. */
Test(event_codec, large)
{
	struct class cls = { .index = 0 };
	struct event_shapes shapes = { .max = 1 };
	char *const text = calloc(1, EVENT_PACKED_LARGE);
	struct batch b, out;

	cr_assert(batch_init(&b, 1, false) && batch_init(&out, 1, false));
	b.n = 1;
	for (uint32_t n = EVENT_PACKED_LARGE - 20; n < EVENT_PACKED_LARGE; n++) {
		b.events[0] = (struct event){ .ts = n, .cls = &cls, .name = slice_of(text, n) };
		char *const packed = packed_event(&b, 0, &shapes);
		check_key(packed, &b.events[0], &shapes);
		cr_assert(event_unpack_copy(&out, packed, &shapes));
		const char *const what = event_samples_differ(&b, 0, &out, 0);
		cr_assert_null(what, "%u: %s", n, what);
		free(packed);
		batch_recycle(&out);
	}
	batch_free(&b);
	batch_free(&out);
	event_shapes_free(&shapes);
	free(text);
}

/* Nested lists use no stack. */
Test(event_codec, depth)
{
	struct class cls = { .index = 0 };
	struct batch b, out;

	cr_assert(batch_init(&b, 1, false) && batch_init(&out, 1, false));
	b.n = 1;
	b.fields[0] = (struct field){ SLICE_LIT("nest"), event_samples_nest(&b, 1000000) };
	b.fields[0].name.flags |= SLICE_STAYS;
	b.events[0] = (struct event){ .cls = &cls, .phase = PHASE_STRUCTURE, .nfields = 1 };
	char *const packed = packed_event(&b, 0, NULL);
	cr_assert(event_unpack_copy(&out, packed, NULL));
	free(packed);
	const char *const what = event_samples_differ(&b, 0, &out, 0);
	cr_assert_null(what, "%s", what);
	batch_free(&b);
	batch_free(&out);
}
