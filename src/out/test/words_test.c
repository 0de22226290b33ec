#include "out/words.h"

#include <criterion/criterion.h>

#include "model/value.h"

/* ---- pairs of an event ---- */

static const struct class named = { .name = SLICE_LIT("c"), .category = SLICE_LIT("c") };
static const struct class grouped = { .name = SLICE_LIT("c"), .category = SLICE_LIT("g") };

/* Appends the pairs of an event as "class=c kind=instant ". */
static void list(const struct words *w, struct text *t)
{
	text_clear(t);
	for (unsigned i = 0; i < WORDS_OF_EVENT; i++) {
		if (w->of[i].type == VALUE_NONE)
			continue;
		text_slice(t, word_names[i]);
		text_char(t, '=');
		if (w->of[i].type == VALUE_STRING)
			text_slice(t, value_text(&w->of[i]));
		else
			text_u64(t, w->of[i].u64);
		text_char(t, ' ');
	}
	text_char(t, '\0');
}

/* Each event has the pairs of its row, and is restored from them. */
Test(out_words, events)
{
	static const struct {
		struct event e;
		const char *pairs;
	} rows[] = {
		{ { .phase = PHASE_SPAN, .dur = 5, .cls = &named }, "tracetool.class=c " },
		{ { .phase = PHASE_SPAN, .flags = EVENT_ASYNC, .dur = 5, .cls = &grouped },
		  "tracetool.class=c tracetool.category=g tracetool.kind=async span " },
		{ { .phase = PHASE_BEGIN, .cls = &named }, "tracetool.class=c tracetool.kind=begin " },
		{ { .phase = PHASE_END, .cls = &named }, "tracetool.class=c tracetool.kind=end " },
		{ { .phase = PHASE_INSTANT, .dur = 7, .cls = &named },
		  "tracetool.class=c tracetool.kind=instant tracetool.duration=7 " },
		{ { .phase = PHASE_INSTANT, .cls = &named }, "tracetool.class=c tracetool.kind=instant " },
		{ { .phase = PHASE_COUNTER, .cls = &named }, "tracetool.class=c tracetool.kind=counter " },
		{ { .phase = PHASE_FLOW_OUT, .dur = UINT64_MAX, .cls = &named },
		  "tracetool.class=c tracetool.kind=arrow out tracetool.arrow=18446744073709551615 " },
		{ { .phase = PHASE_FLOW_IN, .dur = 0, .cls = &named },
		  "tracetool.class=c tracetool.kind=arrow in tracetool.arrow=0 " },
		{ { .phase = PHASE_FLOW_IN, .flags = EVENT_STEP, .dur = 3, .cls = &named },
		  "tracetool.class=c tracetool.kind=arrow step tracetool.arrow=3 " },
	};
	struct text t = { .p = NULL };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct words w, again = { .of[0].type = VALUE_NONE };
		struct event e = { .phase = PHASE_SPAN, .dur = 5 };
		words_of_event(&w, &rows[i].e);
		list(&w, &t);
		cr_assert_str_eq(t.p, rows[i].pairs);
		for (unsigned k = 0; k < WORDS_OF_EVENT; k++)
			cr_assert_eq(words_read(&again, word_names[k], &w.of[k]), w.of[k].type != VALUE_NONE);
		words_apply(&again, &e);
		cr_assert_eq(e.phase, rows[i].e.phase, "%s", rows[i].pairs);
		cr_assert_eq(e.flags, rows[i].e.flags, "%s", rows[i].pairs);
		cr_assert_eq(e.dur, rows[i].e.dur, "%s", rows[i].pairs);
	}
	text_free(&t);
}

/* The id of an instant's arrow is not a duration. */
Test(out_words, instants_with_arrows)
{
	const struct event e = { .phase = PHASE_INSTANT, .flags = EVENT_ARROW, .dur = 9, .cls = &named };
	struct words w;

	words_of_event(&w, &e);
	cr_assert_eq(w.of[WORD_DURATION].type, VALUE_NONE);
	cr_assert_eq(w.of[WORD_ARROW].type, VALUE_NONE);
}

/* Names other than words, and values of other types, belong to other programs. */
Test(out_words, other_names_and_types)
{
	static const struct {
		struct slice name;
		struct value v;
	} rows[] = {
		{ SLICE_LIT(""), { .type = VALUE_U64 } },
		{ SLICE_LIT("arrow"), { .type = VALUE_U64 } },
		{ SLICE_LIT("tracetool."), { .type = VALUE_U64 } },
		{ SLICE_LIT("tracetool.arro"), { .type = VALUE_U64 } },
		{ SLICE_LIT("tracetool.arrow "), { .type = VALUE_U64 } },
		{ SLICE_LIT("tracetool.arrow\0"), { .type = VALUE_U64 } },
		{ SLICE_LIT("Tracetool.arrow"), { .type = VALUE_U64 } },
		{ SLICE_LIT("tracetool.arrow"), { .type = VALUE_I64 } },
		{ SLICE_LIT("tracetool.arrow"), { .type = VALUE_STRING } },
		{ SLICE_LIT("tracetool.class"), { .type = VALUE_U64 } },
		{ SLICE_LIT("tracetool.class"), { .type = VALUE_NONE } },
		{ SLICE_LIT("tracetool.track"), { .type = VALUE_U64 } },
		{ SLICE_LIT("tracetool.name"), { .type = VALUE_STRING } },
	};
	struct words w = { .of[0].type = VALUE_NONE };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		cr_expect_not(words_read(&w, rows[i].name, &rows[i].v), "%s", rows[i].name.p);
	for (unsigned i = 0; i < WORDS_OF_EVENT; i++)
		cr_expect_eq(w.of[i].type, VALUE_NONE);
}

/* A name is compared within its length: this one ends at the end of an allocation. */
Test(out_words, names_that_end_early)
{
	static const char all[] = "tracetool.class";
	const struct value v = value_string(SLICE_LIT("x"));

	for (size_t n = 0; n < sizeof all; n++) {
		char *const copy = malloc(n > 0 ? n : 1);
		struct words w = { .of[0].type = VALUE_NONE };
		memcpy(copy, all, n);
		cr_expect_eq(word_is_own(slice_of(copy, n)), n > strlen(WORDS_PREFIX));
		cr_expect_eq(words_read(&w, slice_of(copy, n), &v), n == strlen(all));
		cr_expect_eq(words_unescape(slice_of(copy, n)).n, n);
		free(copy);
	}
}

Test(out_words, unknown_kinds_change_nothing)
{
	static const char *const kinds[] = { "", "spa", "spans", "async", "arrow-out", "structure", "SPAN" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct words w = { .of[WORD_KIND] = value_string(slice_str(kinds[i])),
			           .of[WORD_ARROW] = value_u64(1) };
		struct event e = { .phase = PHASE_SPAN, .dur = 5 };
		words_apply(&w, &e);
		cr_expect_eq(e.phase, PHASE_SPAN, "%s", kinds[i]);
		cr_expect_eq(e.dur, 5);
	}
}

Test(out_words, escaped_names)
{
	static const char *const names[] = { "tracetool.class", "tracetool.field.x", "tracetool.field.",
		                             "x" };
	struct text t = { .p = NULL };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		text_clear(&t);
		words_escape(&t, slice_str(names[i]));
		cr_expect(slice_is(words_unescape(slice_of(t.p, t.n)), names[i]), "%s", names[i]);
	}
	cr_expect(slice_is(words_unescape(slice_str("tracetool.field.")), "tracetool.field."), "of nothing");
	cr_expect(slice_is(words_unescape(slice_str("tracetool.class")), "tracetool.class"));
	text_free(&t);
}

/* ---- types ---- */

#define TEXT(s)                                                                                              \
	{                                                                                                    \
		.type = VALUE_STRING, .count = sizeof(s) - 1, .p = (s)                                       \
	}

/* Converts values to other types; values that do not fit are unchanged. */
Test(out_words, values_that_fit_a_type)
{
	static const struct {
		struct value v;
		unsigned type;
		bool fits;
	} rows[] = {
		{ { .type = VALUE_U64, .u64 = 1 }, VALUE_BOOL, true },
		{ { .type = VALUE_U64, .u64 = 2 }, VALUE_BOOL, false },
		{ { .type = VALUE_U64, .u64 = 255 }, VALUE_U8, true },
		{ { .type = VALUE_U64, .u64 = 256 }, VALUE_U8, false },
		{ { .type = VALUE_U64, .u64 = UINT32_MAX }, VALUE_U32, true },
		{ { .type = VALUE_U64, .u64 = UINT64_C(1) << 32 }, VALUE_U32, false },
		{ { .type = VALUE_U64, .u64 = 1 }, VALUE_I8, false },
		{ { .type = VALUE_U64, .u64 = UINT64_MAX }, VALUE_ADDRESS, true },
		{ { .type = VALUE_U64, .u64 = 1 }, VALUE_U64, false },
		{ { .type = VALUE_I64, .i64 = -128 }, VALUE_I8, true },
		{ { .type = VALUE_I64, .i64 = -129 }, VALUE_I8, false },
		{ { .type = VALUE_I64, .i64 = 128 }, VALUE_I8, false },
		{ { .type = VALUE_I64, .i64 = INT32_MIN }, VALUE_I32, true },
		{ { .type = VALUE_I64, .i64 = INT64_MIN }, VALUE_I32, false },
		{ { .type = VALUE_I64, .i64 = 1 }, VALUE_U8, false },
		{ { .type = VALUE_F64, .f64 = 0.5 }, VALUE_F32, true },
		{ { .type = VALUE_F64, .f64 = 0.1 }, VALUE_F32, false },
		{ { .type = VALUE_F64, .f64 = 1e300 }, VALUE_F32, false },
		{ TEXT("null"), VALUE_NONE, true },
		{ TEXT("nul"), VALUE_NONE, false },
		{ TEXT("00ff"), VALUE_BYTES, true },
		{ TEXT(""), VALUE_BYTES, true },
		{ TEXT("00f"), VALUE_BYTES, false },
		{ TEXT("0xff"), VALUE_BYTES, false },
		{ TEXT("00FF"), VALUE_BYTES, false },
		{ TEXT("{\"a\":[1]}"), VALUE_JSON, true },
		{ TEXT(" 1 "), VALUE_JSON, true },
		{ TEXT(""), VALUE_JSON, false },
		{ TEXT("1 2"), VALUE_JSON, false },
		{ TEXT("NaN"), VALUE_JSON, false },
		{ TEXT("1"), VALUE_U64, false },
		{ TEXT("x"), VALUE_MAP, false },
		{ { .type = VALUE_BYTES, .count = 1, .p = "\xff" }, VALUE_STRING, true },
		{ { .type = VALUE_BYTES, .count = 1, .p = "1" }, VALUE_JSON, false },
		{ { .type = VALUE_BOOL, .u64 = 1 }, VALUE_U8, false },
		{ { .type = VALUE_LIST }, VALUE_STRING, false },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct value v = rows[i].v;
		cr_expect_eq(words_restore(&v, rows[i].type, &a), rows[i].fits, "row %zu", i);
		if (rows[i].fits)
			cr_expect_eq(v.type, rows[i].type, "row %zu", i);
		else
			cr_expect_arr_eq(&v, &rows[i].v, sizeof v, "row %zu", i);
	}
	arena_free(&a);
}

/* Nesting is bounded, so that no text causes unbounded recursion. */
Test(out_words, deep_json_stays_text)
{
	enum { MANY = 100000 };
	char *const deep = malloc(MANY);
	struct value v = { .type = VALUE_STRING, .count = MANY, .p = deep };
	struct arena a = { 0 };

	memset(deep, '[', MANY / 2);
	memset(deep + MANY / 2, ']', MANY / 2);
	cr_assert_not(words_restore(&v, VALUE_JSON, &a));
	v.p += MANY / 2 - 50;
	v.count = 100;
	cr_assert(words_restore(&v, VALUE_JSON, &a));
	free(deep);
	arena_free(&a);
}

/* The decoder restores the list of the encoder, with untyped fields before, between and after typed ones. */
Test(out_words, lists_of_types)
{
	static const struct value bits[] = { { .type = VALUE_U64, .u64 = 1 }, { .type = VALUE_U64 } };
	const struct value listed = { .type = VALUE_LIST, .element = VALUE_U64, .count = 2, .values = bits };
	struct field f[5] = { { .value = value_u64(7) },
		              { .value = value_u64(8) },
		              { .value = value_u64(9) },
		              { .value = listed },
		              { .value = value_u64(1) } };
	struct word_types types = { .n = 0 };
	struct arena a = { 0 };

	words_add_type(&types, 1, VALUE_U8, false);
	words_add_type(&types, 3, VALUE_BOOL, true);
	cr_assert(slice_is(slice_of(types.text.p, types.text.n), ",u8,,[bool]"));
	words_restore_types(slice_of(types.text.p, types.text.n), f, 5, &a);
	cr_expect_eq(f[0].value.type, VALUE_U64);
	cr_expect_eq(f[1].value.type, VALUE_U8);
	cr_expect_eq(f[2].value.type, VALUE_U64);
	cr_expect_eq(f[3].value.element, VALUE_BOOL);
	cr_expect_eq(f[3].value.values[0].type, VALUE_BOOL);
	cr_expect_eq(bits[0].type, VALUE_U64, "the list itself does not change");
	cr_expect_eq(f[4].value.type, VALUE_U64);
	text_free(&types.text);
	arena_free(&a);
}

/* Truncated, overlong or mixed-up lists set no type that the field cannot have. */
Test(out_words, hostile_lists_of_types)
{
	static const char *const lists[] = {
		"",         ",",   "[",        "]",      "[]",     "[u8",    "u8]",
		"[[u8]]",   "uu8", "list",     "map",    "[list]", "[none]", "u8,,,,,,,,,,,",
		",,,,,,u8", " u8", "\xff\xfe", "[u16]u8"
	};
	static const struct value wide[] = { { .type = VALUE_U64, .u64 = 256 } };
	const struct value listed = { .type = VALUE_LIST, .element = VALUE_U64, .count = 1, .values = wide };
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct field f[2] = { { .value = value_u64(256) }, { .value = listed } };
		words_restore_types(slice_str(lists[i]), f, 2, &a);
		cr_expect_eq(f[0].value.type, VALUE_U64, "%s", lists[i]);
		cr_expect_eq(f[1].value.element, VALUE_U64, "%s", lists[i]);
		words_restore_types(slice_str(lists[i]), f, 0, &a);
	}
	arena_free(&a);
}
