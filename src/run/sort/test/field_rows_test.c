#include "run/sort/sorter.h"

#include <criterion/criterion.h>

#include "model/trace.h"

#define NAME_MAX_BYTES 20

static struct field field_of(const char *name, size_t n, uint8_t type)
{
	return (struct field){ slice_of(name, n), { .type = type, .u64 = 7 } };
}

static uint16_t find(struct field_rows *s, struct field f)
{
	return field_rows_find(s, &f, 1, FIELD_ROW_NONE);
}

/* Names of all lengths that differ in one byte, wherever it is.  Without a trace they are copied. */
Test(field_rows, names)
{
	struct field_rows *const s = field_rows_new(FIELD_ROWS_MAX, NULL);
	uint32_t made = 0;

	for (uint32_t n = 0; n <= NAME_MAX_BYTES; n++)
		for (uint32_t i = 0; i <= n; i++, made++) {
			char name[NAME_MAX_BYTES] = "abcdefghijklmnopqrst";
			if (i < n)
				name[i] = '!';
			const struct field f = field_of(name, n, VALUE_U8);
			const uint16_t number = find(s, f);
			cr_assert(number == made || number == FIELD_ROW_NONE, "%u bytes, differs at %u: %u",
			          n, i, number);
			made -= number == FIELD_ROW_NONE;
			cr_assert_eq(find(s, f), number);
			cr_assert_eq(field_rows_find(s, &f, 1, made), number);
			cr_assert_eq(field_rows_find(s, &f, 1, made / 2), number);
			if (number == FIELD_ROW_NONE)
				continue;
			const struct field *const found = s->list[number].fields;
			cr_assert(slice_equal(found->name, f.name) && found->name.p != f.name.p);
			cr_assert(found->value.type == VALUE_U8 && found->value.u64 == 0);
		}
	cr_assert_gt(made, 180);
	shared_memory_drop(&s->shared);
}

/* Names that are interned stay. */
Test(field_rows, interned_names)
{
	struct texts texts = { .bytes = 0 };

	struct field_rows *const s = field_rows_new(10, &texts);
	char copy[] = "name";
	cr_assert_eq(find(s, field_of("name", 4, VALUE_U8)), 0);
	cr_assert_eq(find(s, field_of(copy, 4, VALUE_U8)), 0);
	const struct slice name = s->list[0].fields[0].name;
	cr_assert_eq(name.flags, SLICE_STAYS);
	cr_assert_eq(name.p, texts_intern(&texts, slice_of("name", 4)).p);
	cr_assert_eq(find(s, (struct field){ name, { .type = VALUE_U8 } }), 0);
	shared_memory_drop(&s->shared);
	texts_free(&texts);
}

Test(field_rows, what_else_differs)
{
	struct field_rows *const s = field_rows_new(10, NULL);
	struct field f = field_of("name", 4, VALUE_STRING);

	cr_assert_eq(find(s, f), 0);
	f.value.count = 12;
	f.value.u64 = 8;
	cr_assert_eq(find(s, f), 0);
	f.value.type = VALUE_JSON;
	cr_assert_eq(find(s, f), 1);
	f.value.element = 1;
	cr_assert_eq(find(s, f), 2);
	f.value.flags = SLICE_UTF8;
	cr_assert_eq(find(s, f), 3);
	f.name.flags = SLICE_UTF8;
	cr_assert_eq(find(s, f), 4);
	f.name.flags = SLICE_STAYS | SLICE_UTF8;
	cr_assert_eq(find(s, f), 5);
	cr_assert_eq(s->list[5].fields[0].name.p, f.name.p);
	f.name.n = 3;
	cr_assert_eq(find(s, f), 6);
	f.name = slice_of(NULL, 0);
	cr_assert_eq(find(s, f), 7);
	cr_assert_null(s->list[7].fields[0].name.p);
	f.name = slice_of("", 0);
	cr_assert_eq(find(s, f), 8);
	const struct field two[] = { f, field_of("name", 4, VALUE_STRING) };
	cr_assert_eq(field_rows_find(s, two, 2, FIELD_ROW_NONE), 9);
	cr_assert_eq(field_rows_find(s, two, 1, 9), 8);
	cr_assert_eq(field_rows_find(s, two + 1, 1, 9), 0);
	shared_memory_drop(&s->shared);
}

Test(field_rows, no_more_than_most)
{
	for (uint32_t max = 0; max < 40; max += 13) {
		struct field_rows *const s = field_rows_new(max, NULL);
		for (uint32_t round = 0; round < 2; round++)
			for (uint32_t i = 0; i < 100; i++) {
				const char c[] = { (char)i, (char)i, (char)(i * 3), (char)(i * 5) };
				cr_assert_eq(find(s, field_of(c, 4, VALUE_U8)), i < max ? i : FIELD_ROW_NONE);
			}
		shared_memory_drop(&s->shared);
	}
}

/* Rows have at most the mean memory, and the maximum number of fields. */
Test(field_rows, no_larger_than_most)
{
	struct field_rows *const s = field_rows_new(4, NULL);
	struct field fields[FIELD_ROW_FIELDS + 1];

	for (uint32_t i = 0; i <= FIELD_ROW_FIELDS; i++)
		fields[i] = field_of("name", 4, VALUE_U8);
	cr_assert_eq(field_rows_find(s, fields, FIELD_ROW_FIELDS, FIELD_ROW_NONE), FIELD_ROW_NONE);
	cr_assert_eq(field_rows_find(s, fields, 20, FIELD_ROW_NONE), 0);
	cr_assert_eq(field_rows_find(s, fields, 20, FIELD_ROW_NONE), 0);
	cr_assert_eq(field_rows_find(s, fields, 21, FIELD_ROW_NONE), FIELD_ROW_NONE);
	shared_memory_drop(&s->shared);
	struct field_rows *const large = field_rows_new(1000, NULL);
	cr_assert_eq(field_rows_find(large, fields, FIELD_ROW_FIELDS, FIELD_ROW_NONE), 0);
	cr_assert_eq(field_rows_find(large, fields, FIELD_ROW_FIELDS + 1, FIELD_ROW_NONE), FIELD_ROW_NONE);
	shared_memory_drop(&large->shared);
}
