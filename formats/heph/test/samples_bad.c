/*
 * Damaged samples.  Each violates one rule; faults that would follow from it (missing counters, ...) are
 * avoided.
 */
#include <string.h>

#include "heph/test/samples.h"

#define BAD "\xff\xfe" /* invalid in UTF-8 */

static void expect(struct heph_expected *e, const char *rule, uint64_t offset)
{
	if (e->n < HEPH_MAX_EXPECTED) {
		e->row[e->n].rule = rule;
		e->row[e->n++].offset = offset;
	}
}

/* ---- starts and ends of packets ---- */

static void bad_magic(struct heph_build *b, struct heph_expected *e)
{
	heph_spec_epoch(b);
	heph_plain(b, 1, 10, 20);
	expect(e, "bad-magic", heph_plain(b, 2, 30, 40));
	b->p[b->packet] ^= 1;
	heph_plain(b, 1, 50, 60);
}

static void bad_magic_first(struct heph_build *b, struct heph_expected *e)
{
	heph_spec_epoch(b);
	expect(e, "bad-magic", 0);
	b->p[2] = 0;
	heph_plain(b, 1, 10, 20);
	heph_plain(b, 1, 30, 40);
}

/* The skipped bytes contain magic constants with an impossible size, or without a packet after them. */
static void bad_magic_decoys(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	expect(e, "bad-magic", b->n);
	heph_bytes(b, "\xC1\xFC\x1F", 3);
	heph_u64(b, 0xC1FC1FB7FFFFFFFFu);
	heph_u64(b, 0xC1FC1FB70000002Bu);
	heph_u64(b, 0x75D11D4D0000000Bu);
	heph_plain(b, 1, 30, 40);
	heph_plain(b, 1, 50, 60);
}

static void bad_magic_at_end(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	expect(e, "bad-magic", b->n);
	heph_bytes(b, "\n\n\n", 3);
}

/* A size that ends within the next packet, and one that ends after it, where a third starts. */
static void packet_too_large(struct heph_build *b, struct heph_expected *e)
{
	static const unsigned extra[] = { 60, 47 };

	for (unsigned i = 0; i < 2; i++) {
		const size_t at = heph_event(b, 1, 1, 10, 20, "first");
		heph_unsigned(b, "a", 1);
		heph_set_size(b, (uint32_t)(b->n - at + extra[i]));
		expect(e, "packet-too-large", at + 4);
		heph_plain(b, 1, 30, 40);
		heph_plain(b, 1, 50, 60);
	}
}

static void size_too_small(struct heph_build *b, struct heph_expected *e)
{
	const size_t at = heph_event(b, 1, 1, 10, 20, "first"), value = b->n + 4;

	heph_unsigned(b, "a", 1);
	heph_set_size(b, (uint32_t)(b->n - at - 5));
	heph_plain(b, 1, 30, 40);
	expect(e, "past-packet", value);
	expect(e, "bad-magic", heph_plain(b, 1, 50, 60) - 47 - 5);
}

static void too_small_event(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	expect(e, "packet-too-small", heph_plain(b, 2, 30, 40) + 4);
	heph_set_size(b, 41);
	heph_plain(b, 1, 50, 60);
}

static void too_small_metadata(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	expect(e, "packet-too-small", heph_epoch(b, 1) + 4);
	heph_set_size(b, 9);
	heph_plain(b, 1, 50, 60);
}

static void cut_packet(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	expect(e, "cut-packet", heph_plain(b, 1, 30, 40));
	b->n -= 3;
}

static void cut_in_start(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	expect(e, "cut-packet", heph_plain(b, 1, 30, 40));
	b->n = b->packet + 5;
}

static void cut_in_magic(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	expect(e, "cut-packet", heph_epoch(b, 5));
	b->n = b->packet + 2;
}

/* The size is damaged, and other packets follow. */
static void cut_not_last(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	expect(e, "cut-packet", heph_plain(b, 2, 30, 40));
	heph_set_size(b, 0x10000);
	heph_plain(b, 1, 50, 60);
	heph_plain(b, 1, 70, 80);
}

static void too_large(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	expect(e, "limit", heph_plain(b, 2, 30, 40) + 4);
	heph_set_size(b, 0x7fffffff);
	heph_plain(b, 1, 50, 60);
}

/* ---- content of packets ---- */

static void past_option_name(struct heph_build *b, struct heph_expected *e)
{
	expect(e, "past-packet", heph_epoch(b, 7) + 8);
	b->p[b->packet + 9] = 14;
	heph_plain(b, 1, 10, 20);
}

static void past_description(struct heph_build *b, struct heph_expected *e)
{
	expect(e, "past-packet", heph_plain(b, 1, 10, 20) + 40);
	b->p[b->packet + 41] = 6;
	heph_plain(b, 1, 30, 40);
}

/* Starts an event with a valid attribute, to be followed by a damaged one. */
static size_t begin_bad_attribute(struct heph_build *b)
{
	heph_event(b, 1, 1, 10, 20, "first");
	heph_unsigned(b, "kept", 1);
	return b->n;
}

static void end_bad_attribute(struct heph_build *b)
{
	heph_end(b);
	heph_plain(b, 1, 30, 40);
}

static void past_attribute_name(struct heph_build *b, struct heph_expected *e)
{
	expect(e, "past-packet", begin_bad_attribute(b));
	heph_u16(b, 6);
	heph_bytes(b, "name", 4);
	end_bad_attribute(b);
}

/* The value lacks its last byte. */
static void past_value(struct heph_build *b, struct heph_expected *e)
{
	begin_bad_attribute(b);
	heph_attribute(b, "name", 2);
	expect(e, "past-packet", b->n);
	heph_bytes(b, "\0\0\0\0\0\0\1", 7);
	end_bad_attribute(b);
}

static void past_string(struct heph_build *b, struct heph_expected *e)
{
	begin_bad_attribute(b);
	heph_attribute(b, "name", 4);
	expect(e, "past-packet", b->n);
	heph_u16(b, 4);
	heph_bytes(b, "abc", 3);
	end_bad_attribute(b);
}

static void past_array(struct heph_build *b, struct heph_expected *e)
{
	begin_bad_attribute(b);
	heph_attribute(b, "name", 0x81);
	expect(e, "past-packet", b->n);
	heph_u16(b, 65535);
	heph_u64(b, 1);
	end_bad_attribute(b);
}

static void past_array_string(struct heph_build *b, struct heph_expected *e)
{
	begin_bad_attribute(b);
	heph_attribute(b, "name", 0x84);
	heph_u16(b, 2);
	heph_string(b, "fits");
	expect(e, "past-packet", b->n);
	heph_u16(b, 4);
	heph_bytes(b, "abc", 3);
	end_bad_attribute(b);
}

static void past_count(struct heph_build *b, struct heph_expected *e)
{
	begin_bad_attribute(b);
	heph_attribute(b, "name", 0x83);
	expect(e, "past-packet", b->n);
	heph_u8(b, 0);
	end_bad_attribute(b);
}

static void left_over(struct heph_build *b, struct heph_expected *e)
{
	expect(e, "left-over", begin_bad_attribute(b));
	heph_bytes(b, "\0\0\0\0", 4);
	end_bad_attribute(b);
}

static void unknown_types(struct heph_build *b, struct heph_expected *e)
{
	static const uint8_t types[] = { 0, 5, 0x7f, 0x85, 0xff };

	for (unsigned i = 0; i < sizeof types; i++) {
		begin_bad_attribute(b);
		expect(e, "unknown-type", heph_attribute(b, "name", types[i]) + 6);
		heph_u64(b, 1);
		end_bad_attribute(b);
	}
}

static void untyped_array(struct heph_build *b, struct heph_expected *e)
{
	begin_bad_attribute(b);
	expect(e, "untyped-array", heph_attribute(b, "name", 0x80) + 6);
	heph_u16(b, 0);
	end_bad_attribute(b);
}

static void invalid_utf8(struct heph_build *b, struct heph_expected *e)
{
	heph_spec_epoch(b);
	expect(e, "invalid-utf8", heph_event(b, 1, 1, 10, 20, BAD) + 42);
	expect(e, "invalid-utf8", heph_attribute(b, BAD, 1) + 2);
	heph_u64(b, 1);
	heph_attribute(b, "string", 4);
	expect(e, "invalid-utf8", b->n + 2);
	heph_string(b, "half a character \xe2\x82");
	heph_attribute(b, "strings", 0x84);
	heph_u16(b, 3);
	heph_string(b, "good");
	expect(e, "invalid-utf8", b->n + 2);
	heph_string(b, "surrogate \xed\xa0\x80");
	expect(e, "invalid-utf8", b->n + 2);
	heph_string(b, "overlong \xc0\x80");
	heph_end(b);
	heph_plain(b, 1, 30, 40);
}

static void invalid_utf8_option(struct heph_build *b, struct heph_expected *e)
{
	const size_t at = heph_metadata(b, BAD);

	expect(e, "invalid-utf8", at + 10);
	expect(e, "unknown-option", at + 10);
	heph_plain(b, 1, 30, 40);
}

static void attribute_repeated(struct heph_build *b, struct heph_expected *e)
{
	expect(e, "attribute-repeated", 0);
	for (unsigned i = 0; i < 2; i++) {
		heph_event(b, 1, 1, 10, 20, "twice");
		heph_unsigned(b, "x", 1);
		heph_unsigned(b, "x (2)", 2);
		heph_unsigned(b, "x", 3);
		heph_text_value(b, "x", "four");
	}
}

/* ---- options and times ---- */

static void unknown_option(struct heph_build *b, struct heph_expected *e)
{
	heph_spec_epoch(b);
	expect(e, "unknown-option", heph_metadata(b, "host") + 10);
	heph_bytes(b, "example", 7);
	heph_end(b);
	expect(e, "unknown-option", heph_metadata(b, "") + 10);
	heph_plain(b, 1, 10, 20);
}

static void epoch_size(struct heph_build *b, struct heph_expected *e)
{
	static const size_t sizes[] = { 0, 7, 9 };

	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		heph_metadata(b, "epoch");
		expect(e, "epoch-size", b->n);
		heph_bytes(b, "\1\2\3\4\5\6\7\10\11", sizes[i]);
		heph_end(b);
	}
	heph_plain(b, 1, 10, 20);
}

static void epoch_changed(struct heph_build *b, struct heph_expected *e)
{
	heph_spec_epoch(b);
	heph_plain(b, 1, 10, 20);
	expect(e, "epoch-changed", heph_epoch(b, 1) + 15);
}

static void end_before_start(struct heph_build *b, struct heph_expected *e)
{
	heph_spec_epoch(b);
	expect(e, "end-before-start", heph_event(b, 1, 1, 20, 10, "back") + 32);
	heph_unsigned(b, "end", 7);
	heph_plain(b, 1, 30, 30);
}

static void time_overflow(struct heph_build *b, struct heph_expected *e)
{
	heph_spec_epoch(b);
	expect(e, "time-overflow", heph_plain(b, 1, UINT64_MAX - 5, UINT64_MAX - 5) + 24);
	expect(e, "time-overflow", heph_plain(b, 1, 5, UINT64_MAX) + 32);
	heph_plain(b, 1, 30, UINT64_MAX - 1610113734118010000u);
}

static void time_overflow_late(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 30, 40);
	expect(e, "time-overflow", heph_plain(b, 1, UINT64_MAX - 5, UINT64_MAX));
	heph_plain(b, 1, UINT64_MAX - 9, UINT64_MAX - 8);
	heph_spec_epoch(b);
}

/* ---- counters ---- */

static void counter_gap(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	heph_plain(b, 2, 10, 20);
	expect(e, "counter-gap", heph_event_at(b, 1, 3, 1, 30, 40, "two are missing") + 12);
	heph_plain(b, 2, 30, 40);
	expect(e, "counter-gap", heph_event_at(b, 1, 3u + INT32_MAX, 1, 50, 60, "and many more") + 12);
}

static void counter_gap_shared(struct heph_build *b, struct heph_expected *e)
{
	static const uint32_t order[] = { 1, 0, 3, 2, 5, 8, 4, 6 };

	for (uint32_t i = 0; i < 8; i++) {
		const size_t at = heph_event_at(b, 0, order[i], 1, i, i + 1, "shared");
		if (order[i] == 5)
			expect(e, "counter-gap", at + 12);
	}
}

static void counter_gap_wraps(struct heph_build *b, struct heph_expected *e)
{
	expect(e, "counter-gap", heph_event_at(b, 1, UINT32_MAX, 1, 10, 20, "last") + 55 + 3);
	heph_event_at(b, 1, 1, 1, 30, 40, "0 is missing");
	expect(e, "counter-start", 12);
}

static void counter_repeated(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	expect(e, "counter-repeated", heph_event_at(b, 1, 0, 1, 10, 20, "plain") + 12);
	heph_plain(b, 1, 30, 40);
}

static void counter_back(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	heph_plain(b, 1, 30, 40);
	expect(e, "counter-back", heph_event_at(b, 1, 0, 1, 10, 20, "again") + 12);
	heph_event_at(b, 1, 1, 1, 30, 40, "again");
}

static void counter_start(struct heph_build *b, struct heph_expected *e)
{
	heph_plain(b, 1, 10, 20);
	expect(e, "counter-start", heph_event_at(b, 0, 100, 1, 10, 20, "shared") + 12);
	heph_event_at(b, 5, 7, 1, 10, 20, "own");
}

const struct heph_bad heph_bad[] = {
	{ "bad-magic", 1, bad_magic },
	{ "bad-magic-first", 1, bad_magic_first },
	{ "bad-magic-decoys", 1, bad_magic_decoys },
	{ "bad-magic-at-end", 1, bad_magic_at_end },
	{ "packet-too-large", 1, packet_too_large },
	{ "bad-magic-size-too-small", 1, size_too_small },
	{ "packet-too-small", 1, too_small_event },
	{ "packet-too-small-metadata", 1, too_small_metadata },
	{ "cut-packet", 1, cut_packet },
	{ "cut-packet-in-start", 1, cut_in_start },
	{ "cut-packet-in-magic", 1, cut_in_magic },
	{ "cut-packet-not-last", 1, cut_not_last },
	{ "limit", 1, too_large },
	{ "past-packet-option-name", 1, past_option_name },
	{ "past-packet-description", 1, past_description },
	{ "past-packet-attribute-name", 1, past_attribute_name },
	{ "past-packet-value", 1, past_value },
	{ "past-packet-string", 1, past_string },
	{ "past-packet-array", 1, past_array },
	{ "past-packet-array-string", 1, past_array_string },
	{ "past-packet-count", 1, past_count },
	{ "left-over", 1, left_over },
	{ "unknown-type", 1, unknown_types },
	{ "untyped-array", 1, untyped_array },
	{ "invalid-utf8", 1, invalid_utf8 },
	{ "invalid-utf8-option", 1, invalid_utf8_option },
	{ "attribute-repeated", 0, attribute_repeated },
	{ "unknown-option", 0, unknown_option },
	{ "epoch-size", 1, epoch_size },
	{ "epoch-changed", 1, epoch_changed },
	{ "end-before-start", 1, end_before_start },
	{ "time-overflow", 1, time_overflow },
	{ "time-overflow-late", 1, time_overflow_late },
	{ "counter-gap", 0, counter_gap },
	{ "counter-gap-shared", 0, counter_gap_shared },
	{ "counter-gap-wraps", 0, counter_gap_wraps },
	{ "counter-repeated", 0, counter_repeated },
	{ "counter-back", 0, counter_back },
	{ "counter-start", 0, counter_start },
	{ 0 },
};
