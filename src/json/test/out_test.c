/* The writer of JSON: commas, brackets, white space and values. */
#include <criterion/criterion.h>

#include "json/out.h"

static void expect(struct text *t, const char *want)
{
	text_char(t, '\0');
	cr_assert_not(t->failed);
	cr_assert_str_eq(t->p, want);
	text_free(t);
}

Test(json_out, values)
{
	struct text t = { .p = NULL };
	struct json_out o = { .t = &t };

	json_out_begin(&o, NULL, "{");
	json_out_slice(&o, "slice", slice_of("a\"b", 3));
	json_out_string(&o, "string", "\n");
	json_out_string(&o, "none", NULL);
	json_out_u64(&o, "u64", UINT64_MAX);
	json_out_u64_or_string(&o, "safe", UINT64_MAX);
	json_out_u64_or_string(&o, "small", 7);
	json_out_f64(&o, "f64", -0.5);
	json_out_bool(&o, "yes", true);
	json_out_bool(&o, "no", false);
	json_out_null(&o, "null");
	text_printf(json_out_value(&o, "value"), "%d", 5);
	json_out_end(&o, "}\n");
	expect(&t, "{\"slice\":\"a\\\"b\",\"string\":\"\\n\",\"none\":null,\"u64\":18446744073709551615,"
	           "\"safe\":\"18446744073709551615\",\"small\":7,\"f64\":-0.5,\"yes\":true,\"no\":false,"
	           "\"null\":null,\"value\":5}\n");
}

Test(json_out, nesting)
{
	struct text t = { .p = NULL };
	struct json_out o = { .t = &t };

	json_out_begin(&o, NULL, "[{");
	json_out_begin(&o, "empty", "[");
	json_out_end(&o, "]");
	json_out_begin(&o, "object", "{");
	json_out_u64(&o, "a", 1);
	json_out_end(&o, "}");
	json_out_begin(&o, "list", "[");
	json_out_u64(&o, NULL, 1);
	json_out_begin(&o, NULL, "[");
	json_out_end(&o, "]");
	json_out_u64(&o, NULL, 2);
	json_out_end(&o, "]}");
	json_out_null(&o, NULL);
	json_out_end(&o, "]");
	expect(&t, "[{\"empty\":[],\"object\":{\"a\":1},\"list\":[1,[],2]},null]");
}

/* White space is between the comma and the next member. */
Test(json_out, white_space)
{
	struct text t = { .p = NULL };
	struct json_out o = { .t = &t };

	json_out_begin(&o, NULL, "[");
	for (unsigned i = 0; i < 3; i++) {
		json_out_space(&o, "\n ");
		json_out_u64(&o, NULL, i);
	}
	json_out_end(&o, "\n]\n");
	expect(&t, "[\n 0,\n 1,\n 2\n]\n");
}

/* Writers of the parts of a document know only whether an element came before. */
Test(json_out, in_parts)
{
	struct text t = { .p = NULL };
	struct json_out first = { .t = &t };

	json_out_begin(&first, NULL, "[");
	for (unsigned i = 0; i < 2; i++) {
		struct json_out part = { .t = &t, .comma = i > 0 };
		json_out_begin(&part, NULL, "{");
		json_out_u64(&part, "i", i);
		json_out_end(&part, "}");
	}
	json_out_end(&first, "]");
	expect(&t, "[{\"i\":0},{\"i\":1}]");
}

/* Nesting has no state: any depth keeps its commas. */
Test(json_out, deep)
{
	struct text t = { .p = NULL };
	struct json_out o = { .t = &t };

	for (unsigned i = 0; i < 1000; i++) {
		json_out_u64(&o, NULL, 1);
		json_out_begin(&o, NULL, "[");
	}
	for (unsigned i = 0; i < 1000; i++)
		json_out_end(&o, "]");
	cr_assert_not(t.failed);
	cr_assert_eq(t.n, 4000);
	cr_assert_eq(memcmp(t.p, "1,[1,[", 6), 0);
	text_free(&t);
}
