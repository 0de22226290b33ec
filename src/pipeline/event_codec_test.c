#include "pipeline/event_codec.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "pipeline/event_samples_test.h"

/* Exactly as large as it has to be, so that the sanitizers see a byte too many. */
static char *
packed_event(const struct batch *b, uint32_t i, bool with_bytes)
{
	uint64_t room = 1024, size;
	char *p = malloc(room);

	while ((size = event_pack(p, room, b, i, with_bytes)) == 0) {
		room *= 2;
		p = realloc(p, room);
		cr_assert_not_null(p);
	}
	free(p);
	p = malloc(size);
	cr_assert_eq(event_pack(p, size, b, i, with_bytes), size);
	cr_assert_eq(event_packed_size(p), size);
	cr_assert_eq(size % EVENT_PACKED_UNIT, 0);
	return p;
}

static void
there_and_back(bool with_bytes, bool in_place)
{
	struct event_samples s;
	struct batch b, out;
	char *packed[500];

	event_samples_init(&s, 3 + with_bytes);
	cr_assert(batch_init(&b, 500, true) && batch_init(&out, 500, true));
	for (int round = 0; round < 5; round++) {
		s.large = round == 4;
		event_samples_fill(&s, &b, 500);
		for (uint32_t i = 0; i < b.n; i++) {
			packed[i] = packed_event(&b, i, with_bytes);
			if (in_place) {
				cr_assert(event_unpack_in_place(&out, packed[i], with_bytes));
			} else {
				cr_assert(event_unpack_copy(&out, packed[i], with_bytes));
				free(packed[i]);
			}
			if (!with_bytes) {
				cr_assert_null(out.bytes[i].p);
				out.bytes[i] =
				    b.bytes[i].p != NULL ? (struct slice){ NULL, 0, 0 } : b.bytes[i];
				b.bytes[i] = out.bytes[i];
			}
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

Test(event_codec, copies)
{
	there_and_back(true, false);
	there_and_back(false, false);
}

Test(event_codec, in_place)
{
	there_and_back(true, true);
	there_and_back(false, true);
}

/* In any smaller room it does not fit, and nothing is written behind the room. */
Test(event_codec, any_room)
{
	struct event_samples s;
	struct batch b;

	event_samples_init(&s, 7);
	cr_assert(batch_init(&b, 200, true));
	event_samples_fill(&s, &b, 200);
	for (uint32_t i = 0; i < b.n; i++) {
		char *const packed = packed_event(&b, i, true);
		const uint64_t size = event_packed_size(packed), step = size > 2000 ? 997 : 1;
		free(packed);
		for (uint64_t room = 0; room < size; room += step) {
			char *const p = malloc(room > 0 ? room : 1);
			cr_assert_eq(event_pack(p, room, &b, i, true), 0);
			free(p);
		}
	}
	batch_free(&b);
}

/* What the header says an event takes. */
Test(event_codec, size)
{
	struct class cls = { .index = 0 };
	struct track track = { .index = 0 };
	struct batch b;
	char *packed;

	cr_assert(batch_init(&b, 1, false));
	b.n = 1;
	b.events[0] = (struct event){ .name = { "stays", 5, SLICE_STAYS }, .cls = &cls, .track = &track };
	packed = packed_event(&b, 0, false);
	cr_assert_eq(event_packed_size(packed), 64);
	free(packed);
	packed = packed_event(&b, 0, true);
	cr_assert_eq(event_packed_size(packed), 80);
	free(packed);
	b.fields[0] = (struct field){ { "stays", 5, SLICE_STAYS }, value_string(slice_of("nine char", 9)) };
	b.events[0].nfields = 1;
	packed = packed_event(&b, 0, false);
	cr_assert_eq(event_packed_size(packed), 64 + 32 + 16);
	free(packed);
	batch_free(&b);
}

/* Lists in lists in lists take no stack. */
Test(event_codec, depth)
{
	struct class cls = { .index = 0 };
	struct batch b, out;

	cr_assert(batch_init(&b, 1, false) && batch_init(&out, 1, false));
	b.n = 1;
	b.fields[0] = (struct field){ SLICE_LIT("nest"), event_samples_nest(&b, 1000000) };
	b.fields[0].name.flags |= SLICE_STAYS;
	b.events[0] = (struct event){ .cls = &cls, .phase = PHASE_STRUCTURE, .nfields = 1 };
	char *const packed = packed_event(&b, 0, false);
	cr_assert(event_unpack_copy(&out, packed, false));
	free(packed);
	const char *const what = event_samples_differ(&b, 0, &out, 0);
	cr_assert_null(what, "%s", what);
	batch_free(&b);
	batch_free(&out);
}
