#include "out/shape.h"

#include <stdio.h>

#include <criterion/criterion.h>

/* The data of a writer for a shape. */
struct layout {
	struct shape shape;
	int mark;
};

static uint16_t type_of(const void *ctx, const struct field *f, uint32_t i)
{
	return (uint16_t)(f[i].value.type + *(const uint16_t *)ctx);
}

static const uint16_t no_offset = 0;

static struct shapes shapes_of(const struct class *const *classes, uint32_t n)
{
	const struct batch b = { .classes = (struct class **)(uintptr_t)classes, .nclasses = n };
	struct shapes s = { .n = 0 };

	cr_assert(shapes_declare(&s, &b));
	return s;
}

/* Returns the shape of the event; adds it if it is new. */
static struct shape *get(struct shapes *s, const struct class *cls, const struct field *f, uint32_t n,
                         uint16_t kind)
{
	const struct event e = { .cls = cls, .nfields = (uint16_t)n };
	const struct shape_key k = { &e, f, kind, type_of, &no_offset };
	uint64_t hash = 0;
	bool addable;
	struct shape *const found = shapes_find(s, k, &hash, &addable);

	return found != NULL || !addable ? found : shapes_add(s, sizeof(struct layout), k, hash);
}

Test(out_shape, class_kind_names_and_types_distinguish)
{
	const struct class a = { .index = 0 }, b = { .index = 1 };
	const struct shape *const none = NULL;
	struct shapes s = shapes_of((const struct class *const[]){ &a, &b }, 2);
	struct field f[2] = { { .name = SLICE_LIT("x"), .value = { .type = VALUE_U64 } },
		              { .name = SLICE_LIT("y"), .value = { .type = VALUE_STRING } } };
	const struct shape *const first = get(&s, &a, f, 2, 1);

	cr_assert_neq(first, none);
	cr_assert_eq(first->number, 0);
	cr_assert_eq(get(&s, &a, f, 2, 1), first);
	cr_assert_eq(get(&s, &a, f, 1, 1)->number, 1);
	cr_assert_eq(get(&s, &a, f, 2, 2)->number, 2);
	cr_assert_eq(get(&s, &b, f, 2, 1)->number, 3);
	f[1].value.type = VALUE_BYTES;
	cr_assert_eq(get(&s, &a, f, 2, 1)->number, 4);
	f[0].name = SLICE_LIT("z");
	cr_assert_eq(get(&s, &a, f, 2, 1)->number, 5);
	cr_assert_eq(get(&s, &a, f, 0, 1)->nmembers, 0);
	shapes_free(&s);
}

/* More shapes than recent ones, in turns; names are copied. */
Test(out_shape, many_of_one_class)
{
	const struct class a = { .index = 0 };
	struct shapes s = shapes_of((const struct class *const[]){ &a }, 1);
	char name[16];

	for (uint32_t turn = 0; turn < 3; turn++)
		for (uint32_t i = 0; i < 5 * SHAPES_RECENT; i++) {
			const int n = snprintf(name, sizeof name, "field %u", i);
			const struct field f = { .name = slice_of(name, (size_t)n) };
			cr_assert_eq(get(&s, &a, &f, 1, 0)->number, i);
		}
	cr_assert_eq(s.n, 5 * SHAPES_RECENT);
	shapes_free(&s);
}

Test(out_shape, what_the_writer_adds_stays)
{
	const struct class a = { .index = 0 };
	struct shapes s = shapes_of((const struct class *const[]){ &a }, 1);
	struct layout *const l = (struct layout *)get(&s, &a, NULL, 0, 0);

	cr_assert_eq(l->mark, 0);
	l->mark = 3;
	cr_assert_eq(((struct layout *)get(&s, &a, NULL, 0, 0))->mark, 3);
	shapes_free(&s);
}

Test(out_shape, bounds)
{
	const struct shapes_bounds max = { .shapes = 10, .fields = 5, .bytes = 100 };
	struct shapes s = { .n = 0 };

	cr_assert(shapes_reserve(&s, &max, 5, 60));
	cr_assert(shapes_reserve(&s, &max, 0, 40));
	cr_assert_not(shapes_reserve(&s, &max, 0, 1));
	cr_assert(s.full);
	cr_assert_not(shapes_reserve(&s, &max, 0, 0), "it stays full");
	s = (struct shapes){ .fields = 3 };
	cr_assert_not(shapes_reserve(&s, &max, 3, 0));
	s = (struct shapes){ .n = 10 };
	cr_assert_not(shapes_reserve(&s, &max, 0, 0));
}

/* Events of an equal hash and another shape have none. */
Test(out_shape, equal_hashes)
{
	const struct class a = { .index = 0 };
	struct shapes s = shapes_of((const struct class *const[]){ &a }, 1);
	const struct event e = { .cls = &a };
	const struct shape_key one = { &e, NULL, 1, type_of, &no_offset };
	uint64_t hash = 0;
	bool addable;

	cr_assert_null(shapes_find(&s, one, &hash, &addable));
	cr_assert(addable);
	cr_assert(table64_put(&s.signatures, hash, 0)); /* as if it were that of another one */
	const struct shape_key two = { &e, NULL, 2, type_of, &no_offset };
	cr_assert_not_null(shapes_add(&s, sizeof(struct shape), two, hash + 1));
	cr_assert_null(shapes_find(&s, one, &hash, &addable));
	cr_assert_not(addable);
	shapes_free(&s);
}
