/* Cost of records that many others refer to: they are read, copied and written once. */
#include <criterion/criterion.h>

#include "output/text.h"
#include "test/properties/cost_test_util.h"

static void put_varint(struct text *t, uint64_t v)
{
	for (; v > 127; v >>= 7)
		text_char(t, (char)(v | 128));
	text_char(t, (char)v);
}

/* Adds a field of bytes, and empties them. */
static void put_bytes(struct text *t, uint32_t number, struct text *bytes)
{
	put_varint(t, (uint64_t)number << 3 | 2);
	put_varint(t, bytes->n);
	text_add(t, bytes->p, bytes->n);
	text_clear(bytes);
}

static void put_many(struct text *t, const char *field, uint32_t n)
{
	while (n-- > 0)
		text_str(t, field);
}

static void put_number(struct text *t, uint32_t number, uint64_t v)
{
	put_varint(t, (uint64_t)number << 3);
	put_varint(t, v);
}

/* Adds a field of n letters. */
static void put_letters(struct text *t, uint32_t number, uint32_t n)
{
	put_varint(t, (uint64_t)number << 3 | 2);
	put_varint(t, n);
	while (n-- > 0)
		text_char(t, 'x');
}

/* Adds a packet of sequence 1, and empties the data. */
static void put_packet(struct text *t, uint64_t ts, uint32_t number, struct text *data)
{
	struct text packet = { .p = NULL };

	text_str(&packet, ts == 0 ? "\x50\x01\x68\x01" : "\x50\x01\x68\x02\x40"); /* begins; its state */
	if (ts > 0)
		put_varint(&packet, ts);
	put_bytes(&packet, number, data);
	put_bytes(t, 1, &packet);
	text_free(&packet);
}

/* Begins a trace with an entry of interned data: its iid is 1. */
static struct text begin(uint32_t table, struct text *fields)
{
	struct text t = { .p = NULL }, entry = t, interned = t;

	put_number(&entry, 1, 1);
	text_add(&entry, fields->p, fields->n);
	text_clear(fields);
	put_bytes(&interned, table, &entry);
	put_packet(&t, 0, 12, &interned);
	text_free(&entry);
	text_free(&interned);
	return t;
}

static double convert(struct text *t, const char *arguments)
{
	cr_assert_not(t->failed);
	const double n = cost_of(arguments, t->p, t->n, NULL);
	text_free(t);
	return n;
}

static const char ndjson[] = "convert -q --to ndjson \"$1\" -";

Test(perfetto_cost, categories_of_an_event)
{
	struct text x = { .p = NULL };

	put_letters(&x, 2, 100);
	struct text t = begin(1, &x);
	text_str(&x, "\x48\x03\x58\x05");
	put_many(&x, "\x18\x01", 400000);
	put_packet(&t, 1, 11, &x);
	convert(&t, ndjson);
	text_free(&x);
}

/* Events that refer to an entry with a million unknown fields. */
static void expect_entry_read_once(uint32_t table, uint32_t number, const char *event)
{
	struct text x = { .p = NULL };

	put_many(&x, "\xc0\x0c\x01", 1000000);
	struct text t = begin(table, &x);
	for (uint32_t i = 1; i <= 200000; i++) {
		text_str(&x, event);
		put_packet(&t, i, number, &x);
	}
	convert(&t, ndjson);
	text_free(&x);
}

Test(perfetto_cost, source_locations)
{
	expect_entry_read_once(4, 11, "\x48\x03\x58\x05\x90\x02\x01");
}

Test(perfetto_cost, tasks)
{
	expect_entry_read_once(48, 135, "\x10\x01");
}

Test(perfetto_cost, types_in_a_type_of_a_long_name)
{
	struct text t = { .p = NULL }, x = t, file = t;

	put_letters(&x, 1, 4000000);
	for (uint32_t i = 0; i < 400000; i++) /* enums without a name */
		text_add(&x, "\x22\0", 2);
	put_bytes(&file, 4, &x);
	put_bytes(&x, 1, &file);
	put_bytes(&file, 1, &x);
	put_packet(&t, 0, 72, &file);
	convert(&t, ndjson);
	text_free(&file);
	text_free(&x);
}

Test(perfetto_cost, tracks_that_are_named_by_one_event_name)
{
	struct text x = { .p = NULL };

	put_letters(&x, 2, 4000000);
	struct text t = begin(2, &x);
	for (uint32_t i = 1; i <= 50000; i++) {
		text_str(&x, "\x48\x03\x50\x01");
		put_number(&x, 11, i);
		put_packet(&t, i, 11, &x);
	}
	cr_expect_lt(convert(&t, ndjson), 64e6 + 50 * 5.5e6);
	text_free(&x);
}

Test(perfetto_cost, lanes_of_a_track_of_a_long_name)
{
	struct text t = { .p = NULL }, x = t;

	put_packet(&t, 0, 36, &x);
	for (uint32_t i = 1; i <= 20000; i++) {
		put_number(&x, 1, i);
		if (i == 1)
			put_letters(&x, 2, 4000000);
		text_str(&x, "\x78\x03\x82\x01\x01k"); /* merged by a key */
		put_packet(&t, i, 60, &x);
		text_str(&x, "\x48\x01");
		put_number(&x, 11, i);
		put_packet(&t, i, 11, &x);
	}
	cr_expect_lt(convert(&t, ndjson), 64e6 + 50 * 5e6);
	text_free(&x);
}

/* A frame is checked once: it has 40 fields, its mapping 250. */
Test(perfetto_cost, a_stack_of_one_frame)
{
	struct text x = { .p = NULL }, entry = x, interned = x, t = x;

	text_str(&entry, "\x08\x01");
	put_many(&entry, "\x18\x01", 250);
	put_bytes(&interned, 19, &entry);
	text_str(&entry, "\x08\x01\x18\x01");
	put_many(&entry, "\x20\x01", 40);
	put_bytes(&interned, 6, &entry);
	text_str(&entry, "\x08\x01");
	put_many(&entry, "\x10\x01", 20000000);
	put_bytes(&interned, 7, &entry);
	put_packet(&t, 0, 12, &interned);
	text_str(&x, "\x20\x01");
	put_packet(&t, 1, 66, &x);
	cost_of("validate -q \"$1\"", t.p, t.n, NULL);
	text_free(&t);
	text_free(&interned);
	text_free(&entry);
	text_free(&x);
}

/* The first event of the track is of the first batch, whose other events are of another one. */
Test(perfetto_cost, events_of_a_track_of_a_long_name)
{
	struct text t = { .p = NULL }, x = t;

	put_number(&x, 1, 7);
	put_letters(&x, 2, 4000000);
	put_packet(&t, 0, 60, &x);
	for (uint32_t i = 1; i <= 300000; i++) {
		text_str(&x, "\x48\x03");
		put_number(&x, 11, i == 1 || i > 200000 ? 7 : 8);
		put_packet(&t, i, 11, &x);
	}
	expect_in_proportion("cat -q \"$1\"", t.p, t.n, NULL);
	expect_in_proportion("convert -q --to csv \"$1\" -", t.p, t.n, NULL);
	expect_in_proportion("convert -q --to ctf --force \"$1\" \"$1.ctf\" && cat \"$1.ctf\"/*", t.p, t.n,
	                     NULL);
	text_free(&t);
	text_free(&x);
}

Test(perfetto_cost, values_of_a_counter_of_a_long_name)
{
	struct text t = { .p = NULL }, x = t;

	put_number(&x, 1, 7);
	put_letters(&x, 2, 8000000);
	text_add(&x, "\x42\0", 2);
	put_packet(&t, 0, 60, &x);
	for (uint32_t i = 1; i <= 500000; i++) {
		text_str(&x, "\x48\x04\x58\x07\xf0\x01\x01");
		put_packet(&t, i, 11, &x);
	}
	convert(&t, ndjson);
	text_free(&x);
}

/* Samples of a packet are those of its first data field. */
Test(perfetto_cost, many_data_fields_of_a_packet)
{
	struct text t = { .p = NULL }, x = t, packet = t;

	put_many(&x, "\x08\x01\x10\x01", 100000);
	text_str(&packet, "\x50\x01\x68\x01\x40\x01");
	put_bytes(&packet, 54, &x);
	for (uint32_t i = 0; i < 300000; i++)
		put_bytes(&packet, 66, &x);
	put_bytes(&t, 1, &packet);
	cost_of("validate -q \"$1\"", t.p, t.n, NULL);
	cr_expect_lt(convert(&t, "cat -q \"$1\""), 64e6 + 50 * 1.4e6);
	text_free(&packet);
	text_free(&x);
}

/* A function, a frame and a call stack with so many fields of frames, and unknown fields; then samples. */
static struct text made_samples(uint32_t frame_junk, uint32_t frames, uint32_t stack_junk, uint32_t samples)
{
	struct text t = { .p = NULL }, entry = t, interned = t, packet = t;

	text_str(&entry, "\x08\x01\x12\x01\x66");
	put_bytes(&interned, 5, &entry);
	text_str(&entry, "\x08\x01\x10\x01");
	put_many(&entry, "\xc0\x0c\x01", frame_junk);
	put_bytes(&interned, 6, &entry);
	text_str(&entry, "\x08\x01");
	put_many(&entry, "\x10\x01", frames);
	put_many(&entry, "\xc0\x0c\x01", stack_junk);
	put_bytes(&interned, 7, &entry);
	text_str(&packet, "\x50\x01\x68\x01"); /* sequence 1, which begins */
	put_bytes(&packet, 12, &interned);
	put_bytes(&t, 1, &packet);
	for (uint32_t i = 0; i < samples; i++) {
		text_str(&packet, "\x50\x01\x68\x02\x40"); /* its state, and a time */
		put_varint(&packet, i);
		text_str(&entry, "\x10\x01\x18\x01\x20\x01");
		put_bytes(&packet, 66, &entry);
		put_bytes(&t, 1, &packet);
	}
	text_free(&entry);
	text_free(&interned);
	text_free(&packet);
	cr_assert_not(t.failed);
	return t;
}

/* Events refer to a stack, and stacks to a frame, without reading all of its bytes again. */
Test(perfetto_cost, long_stacks_and_frames)
{
	struct text t = made_samples(400000, 1000000, 0, 1);

	cost_of("validate -q \"$1\"", t.p, t.n, NULL);
	cost_of("convert -q --to chrome \"$1\" -", t.p, t.n, NULL);
	text_free(&t);
	t = made_samples(0, 10, 1500000, 100000);
	cr_expect_gt(cost_of("convert -q --to chrome \"$1\" -", t.p, t.n, NULL), 100000 * 50.0);
	text_free(&t);
	t = made_samples(0, 2000000, 0, 5000);
	cr_expect_gt(cost_of("convert -q --to ndjson \"$1\" -", t.p, t.n, NULL), 5000 * 1024.0);
	text_free(&t);
}
