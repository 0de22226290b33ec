#include "base/memory.h"
#include "model/plan.h"

#include <criterion/criterion.h>

#include "model/event.h"

#define TEXT(s) SLICE_LIT(s)
#define REF(name)                                                                                            \
	{                                                                                                    \
		.field = { SLICE_LIT(name) }, .nfields = 1                                                   \
	}

static const struct plan_part place[] = { { TEXT("In:"), REF("module") },
	                                  { TEXT("::"), REF("function") },
	                                  { TEXT(":"), REF("line") },
	                                  { .text = TEXT("!") } };
static const struct plan_part plain[] = { { TEXT("In "), REF("what") } };
static const struct plan_template shapes[] = { { place, 4 }, { plain, 1 } };

static const struct plan_part module[] = { { TEXT(""), REF("module") } };
static const struct plan_part both[] = { { TEXT("of "), REF("what") }, { .text = TEXT(".") } };
static const struct plan_part fixed[] = { { .text = TEXT("fixed") } };
static const struct plan_template categories[] = { { module, 1 }, { both, 2 }, { fixed, 1 } };

static const struct plan plan = {
	.shapes = shapes, .nshapes = 2, .categories = categories, .ncategories = 3
};

static struct class found(struct arena *arena, const char *name)
{
	struct class c = { .name = slice_of(name, strlen(name)) };

	cr_assert(class_parts_find(&c, &plan, arena));
	return c;
}

Test(class_parts, of_a_name)
{
	struct arena arena = { 0 };
	struct class c = found(&arena, "In:a::b::c:d:12!");

	cr_assert_eq(c.nparts, 3);
	cr_assert(slice_is(c.parts[0].name, "module") && slice_is(value_text(&c.parts[0].value), "a::b"));
	cr_assert(slice_is(c.parts[1].name, "function") && slice_is(value_text(&c.parts[1].value), "c:d"));
	cr_assert(c.parts[2].value.type == VALUE_U64 && c.parts[2].value.u64 == 12);
	cr_assert(slice_is(c.category, "a::b"));
	c = found(&arena, "In a room");
	cr_assert(c.nparts == 1 && slice_is(c.category, "of a room."));
	arena_free(&arena);
}

Test(class_parts, names_without_the_shape)
{
	static const char *const names[] = {
		"",          "In:",        "In:a::b:1",   "In:a:b:1!",    "In:::b:1!",  "In:a:::1!",
		"In:a::b:!", "in:a::b:1!", "xIn:a::b:1!", "In:a::b:1!!x", "In:a::b:1! "
	};
	struct arena arena = { 0 };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const struct class c = found(&arena, names[i]);
		cr_expect(c.nparts == 0 && slice_is(c.category, "fixed"), "%s", names[i]);
	}
	arena_free(&arena);
}

Test(class_parts, numbers_are_those_that_come_back)
{
	static const struct {
		const char *name;
		bool number;
	} names[] = { { "In 0", true },
		      { "In 9999999999999999999", true },
		      { "In 10000000000000000000", false },
		      { "In 01", false },
		      { "In -1", false },
		      { "In 1.5", false } };
	struct arena arena = { 0 };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const struct class c = found(&arena, names[i].name);
		cr_expect_eq(c.parts[0].value.type, names[i].number ? VALUE_U64 : VALUE_STRING, "%s",
		             names[i].name);
	}
	arena_free(&arena);
}

/* A category is cut, but not inside a character. */
Test(class_parts, long_categories)
{
	struct arena arena = { 0 };
	char name[1000] = "In ";

	for (size_t i = 3; i + 2 < sizeof name; i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	const struct class c = found(&arena, name);
	cr_assert_eq(c.category.n, CLASS_CATEGORY_MAX - 1);
	cr_assert_eq((unsigned char)c.category.p[c.category.n - 1], 0xa4);
	arena_free(&arena);
}
