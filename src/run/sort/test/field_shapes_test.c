#include "run/sort/sorter.h"

#include <criterion/criterion.h>

static struct field field_of(const char *name, size_t n, uint8_t type)
{
	return (struct field){ slice_of(name, n), { .type = type, .u64 = 7 } };
}

/* Names of all lengths that differ in one byte, wherever it is. */
Test(field_shapes, names)
{
	struct field_shapes *const s = field_shapes_new(FIELD_SHAPES_MAX);
	uint32_t made = 0;

	for (uint32_t n = 0; n <= FIELD_SHAPE_NAME; n++)
		for (uint32_t i = 0; i <= n; i++, made++) {
			char name[FIELD_SHAPE_NAME] = "abcdefghijklmnop";
			if (i < n)
				name[i] = '!';
			const struct field f = field_of(name, n, VALUE_U8);
			const uint16_t number = field_shapes_find(s, &f);
			cr_assert_eq(number, made, "%u bytes, differs at %u: %u", n, i, number);
			cr_assert_eq(field_shapes_find(s, &f), number);
			const struct field *const found = &s->list[number].field;
			cr_assert(slice_equal(found->name, f.name) && found->name.p != f.name.p);
			cr_assert(found->value.type == VALUE_U8 && found->value.u64 == 0);
		}
	shared_memory_drop(&s->shared);
}

Test(field_shapes, what_else_differs)
{
	struct field_shapes *const s = field_shapes_new(10);
	struct field f = field_of("name", 4, VALUE_STRING);

	cr_assert_eq(field_shapes_find(s, &f), 0);
	f.value.count = 12;
	f.value.u64 = 8;
	cr_assert_eq(field_shapes_find(s, &f), 0);
	f.value.type = VALUE_JSON;
	cr_assert_eq(field_shapes_find(s, &f), 1);
	f.value.element = 1;
	cr_assert_eq(field_shapes_find(s, &f), 2);
	f.value.flags = SLICE_UTF8;
	cr_assert_eq(field_shapes_find(s, &f), 3);
	f.name.flags = SLICE_UTF8;
	cr_assert_eq(field_shapes_find(s, &f), 4);
	f.name.flags = SLICE_STAYS;
	cr_assert_eq(field_shapes_find(s, &f), 5);
	cr_assert_eq(s->list[5].field.name.p, f.name.p);
	f.name.n = 3;
	cr_assert_eq(field_shapes_find(s, &f), 6);
	f.name = slice_of(NULL, 0);
	cr_assert_eq(field_shapes_find(s, &f), FIELD_SHAPE_NONE);
	f.name = slice_of("a name of 17 byte", 17);
	cr_assert_eq(field_shapes_find(s, &f), FIELD_SHAPE_NONE);
	shared_memory_drop(&s->shared);
}

Test(field_shapes, no_more_than_most)
{
	for (uint32_t max = 0; max < 40; max += 13) {
		struct field_shapes *const s = field_shapes_new(max);
		for (uint32_t round = 0; round < 2; round++)
			for (uint32_t i = 0; i < 100; i++) {
				const char c = (char)i;
				const struct field f = field_of(&c, 1, VALUE_U8);
				cr_assert_eq(field_shapes_find(s, &f), i < max ? i : FIELD_SHAPE_NONE);
			}
		shared_memory_drop(&s->shared);
	}
}
