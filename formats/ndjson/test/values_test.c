/* The exact text of values and lines. */
#include <criterion/criterion.h>
#include <math.h>

#include "ndjson/test/made_test.h"

#define NAME(s) slice_str(s)
#define HEAD                                                                                                 \
	"{\"kind\":\"instant\",\"ts_ns\":5,\"name\":\"x\",\"class_index\":0,\"category\":\"class\",\"track_" \
	"index\":1,"                                                                                         \
	"\"tid\":7,\"offset\":0"

Test(ndjson_values, types_that_the_form_tells)
{
	struct made r;

	made_begin(&r, (struct run_facts){ .raw = false });
	made_event(&r, PHASE_INSTANT, "x");
	made_field(&r, NAME("a"), value_u64(UINT64_MAX));
	made_field(&r, NAME("b"), made_integer(VALUE_I64, INT64_MIN));
	made_field(&r, NAME("c"), made_number(VALUE_F64, -0.0));
	made_field(&r, NAME("d"), made_number(VALUE_F64, 1e300));
	made_field(&r, NAME("e"), value_string(NAME("\"\xc3\xa9\n\\")));
	made_field(&r, NAME("f"), made_integer(VALUE_NONE, 0));
	made_field(&r, NAME("g"), made_integer(VALUE_BOOL, 1));
	made_expect_line(&r,
	                 HEAD ",\"args\":{\"a\":18446744073709551615,\"b\":-9223372036854775808,\"c\":-0.0,"
	                      "\"d\":1e+300,\"e\":\"\\\"\xc3\xa9\\n\\\\\",\"f\":null,\"g\":true}}");
	made_finish(&r);
}

Test(ndjson_values, types_that_are_said)
{
	struct made r;

	made_begin(&r, (struct run_facts){ .raw = false });
	made_event(&r, PHASE_INSTANT, "x");
	made_field(&r, NAME("a"), made_integer(VALUE_U8, 255));
	made_field(&r, NAME("b"), made_integer(VALUE_I64, 5));
	made_field(&r, NAME("c"), made_number(VALUE_F32, 0.5));
	made_field(&r, NAME("d"), made_number(VALUE_F64, (double)-INFINITY));
	made_field(&r, NAME("e"), made_integer(VALUE_ADDRESS, 0xabc));
	made_field(&r, NAME("f"), made_bytes(VALUE_BYTES, "\0\xff", 2));
	made_field(&r, NAME("g"), made_bytes(VALUE_STRING, "caf\xe9\\", 5));
	made_field(&r, NAME("h"), made_bytes(VALUE_JSON, "{\"a\": 1.50}", 11));
	made_field(&r, NAME("i"), made_bytes(VALUE_JSON, "[\n]", 3));
	made_expect_line(
	    &r, HEAD ",\"args\":{\"a\":255,\"b\":5,\"c\":0.5,\"d\":\"-Infinity\",\"e\":\"0xabc\","
	             "\"f\":\"00ff\",\"g\":\"caf\\\\xe9\\\\\\\\\",\"h\":{\"a\": 1.50},\"i\":\"[\\n]\"},"
	             "\"types\":{\"a\":\"u8\",\"b\":\"i64\",\"c\":\"f32\",\"d\":\"f64\",\"e\":\"address\","
	             "\"f\":\"bytes\",\"g\":\"escaped\",\"h\":\"json\",\"i\":\"json-text\"}}");
	made_finish(&r);
}

Test(ndjson_values, types_that_the_class_declares)
{
	struct made r;

	made_begin(&r, (struct run_facts){ .raw = true });
	made_declare(&r, "a", VALUE_U8);
	made_declare(&r, "b", VALUE_F32);
	made_declare(&r, "c", VALUE_BYTES);
	made_declare(&r, "a", VALUE_I8); /* not the first of this name */
	made_event(&r, PHASE_INSTANT, "x");
	made_field(&r, NAME("c"), made_bytes(VALUE_BYTES, "a", 1)); /* in another order */
	made_field(&r, NAME("a"), made_integer(VALUE_U8, 5));
	made_field(&r, NAME("b"), made_number(VALUE_F32, 2));
	made_expect_line(&r, HEAD ",\"args\":{\"c\":\"61\",\"a\":5,\"b\":2}}");
	made_event(&r, PHASE_INSTANT, "x");
	made_field(&r, NAME("a"), value_string(NAME("no number"))); /* its form gives the type */
	made_field(&r, NAME("b"), value_u64(2));                    /* could be an f32 */
	made_field(&r, NAME("c"), made_integer(VALUE_NONE, 0));
	made_expect_line(&r, HEAD
	                 ",\"args\":{\"a\":\"no number\",\"b\":2,\"c\":null},\"types\":{\"b\":\"u64\"}}");
	made_event(&r, PHASE_INSTANT, "x");
	made_field(&r, NAME("a"), made_integer(VALUE_I8, -5));
	made_field(&r, NAME("b"), made_number(VALUE_F32, (double)NAN));
	made_field(&r, NAME("c"), value_string(NAME("61")));
	made_expect_line(&r, HEAD ",\"args\":{\"a\":-5,\"b\":\"NaN\",\"c\":\"61\"},"
	                          "\"types\":{\"a\":\"i8\",\"c\":\"string\"}}");
	made_finish(&r);
}

Test(ndjson_values, lists_and_maps)
{
	const struct value small[] = { made_integer(VALUE_U8, 1), made_integer(VALUE_U8, 2) };
	const struct value mixed[] = { value_u64(1), made_integer(VALUE_U8, 2), value_string(NAME("x")) };
	const struct value pairs[] = { value_string(NAME("k")), made_integer(VALUE_I8, 1), value_u64(2),
		                       value_u64(3) };
	const struct value dollar[] = { value_string(NAME("$u8")), value_u64(3) };
	const struct value same[] = { value_string(NAME("k")), value_u64(1), value_string(NAME("k")),
		                      value_u64(2) };
	struct made r;

	made_begin(&r, (struct run_facts){ .raw = false });
	made_event(&r, PHASE_INSTANT, "x");
	made_field(&r, NAME("a"),
	           (struct value){ .type = VALUE_LIST, .element = VALUE_U8, .count = 2, .values = small });
	made_field(&r, NAME("b"), (struct value){ .type = VALUE_LIST, .count = 2, .values = small });
	made_field(&r, NAME("c"), (struct value){ .type = VALUE_LIST, .count = 3, .values = mixed });
	made_field(&r, NAME("d"), (struct value){ .type = VALUE_LIST, .element = VALUE_ADDRESS });
	made_field(&r, NAME("e"), (struct value){ .type = VALUE_MAP, .count = 1, .values = pairs });
	made_field(&r, NAME("f"), (struct value){ .type = VALUE_MAP, .count = 2, .values = pairs });
	made_field(&r, NAME("g"), (struct value){ .type = VALUE_MAP, .count = 1, .values = dollar });
	made_field(&r, NAME("h"), (struct value){ .type = VALUE_MAP, .count = 2, .values = same });
	made_expect_line(&r, HEAD
	                 ",\"args\":{\"a\":[1,2],\"b\":[1,2],\"c\":[1,{\"$u8\":2},\"x\"],\"d\":[],"
	                 "\"e\":{\"k\":{\"$i8\":1}},\"f\":[[\"k\",{\"$i8\":1}],[2,3]],\"g\":[[\"$u8\",3]],"
	                 "\"h\":[[\"k\",1],[\"k\",2]]},\"types\":{\"a\":\"[u8]\",\"b\":\"[u8?]\","
	                 "\"d\":\"[address]\",\"f\":\"map\",\"g\":\"map\",\"h\":\"map\"}}");
	made_finish(&r);
}

/* Names that an object cannot have. */
Test(ndjson_values, pairs)
{
	struct made r;

	made_begin(&r, (struct run_facts){ .raw = true });
	made_declare(&r, "a", VALUE_U8);
	made_event(&r, PHASE_INSTANT, "x");
	made_field(&r, NAME("a"), made_integer(VALUE_U8, 1));
	made_field(&r, NAME("a"), value_u64(2));
	made_expect_line(&r, HEAD ",\"pairs\":[[\"a\",{\"$u8\":1}],[\"a\",2]]}");
	made_event(&r, PHASE_INSTANT, "\xff");
	made_field(&r, NAME("caf\xe9"), value_string(NAME("\xe9")));
	made_expect_line(
	    &r,
	    "{\"kind\":\"instant\",\"ts_ns\":5,\"name\":\"\\\\xff\",\"class_index\":0,\"category\":\"class\","
	    "\"track_index\":1,\"tid\":7,\"offset\":0,\"escaped\":[\"name\"],"
	    "\"pairs\":[[{\"$escaped\":\"caf\\\\xe9\"},{\"$escaped\":\"\\\\xe9\"}]]}");
	made_finish(&r);
}

Test(ndjson_values, members_of_events)
{
	struct made r;
	struct event *e;

	made_begin(&r, (struct run_facts){ .rebased = true, .rebased_by = 77, .signed_time = true });
	e = made_event(&r, PHASE_SPAN, "s");
	e->ts = (uint64_t)-9;
	e->dur = UINT64_MAX;
	e->flags = EVENT_ASYNC | EVENT_BIG;
	e->offset = UINT64_MAX;
	made_expect_line(&r,
	                 "{\"kind\":\"async\",\"ts_ns\":-9,\"dur_ns\":18446744073709551615,\"name\":\"s\","
	                 "\"class_index\":0,"
	                 "\"category\":\"class\",\"track_index\":1,\"tid\":7,\"offset\":18446744073709551615,"
	                 "\"big_endian\":true}");
	e = made_event(&r, PHASE_FLOW_OUT, "f");
	e->dur = UINT64_MAX - 1;
	made_expect_line(
	    &r,
	    "{\"kind\":\"flow_out\",\"ts_ns\":5,\"id\":18446744073709551614,\"name\":\"f\",\"class_index\":0,"
	    "\"category\":\"class\",\"track_index\":1,\"tid\":7,\"offset\":0}");
	e = made_event(&r, PHASE_STRUCTURE, "");
	e->track = NULL;
	made_expect_line(
	    &r, "{\"kind\":\"structure\",\"ts_ns\":5,\"name\":\"\",\"class_index\":0,\"category\":\"class\","
	        "\"offset\":0}");
	made_finish(&r);
}

/* The deepest nesting that readers return. */
Test(ndjson_values, deep)
{
	struct value lists[64], maps[128];
	struct made r;

	for (int i = 0; i < 64; i++) {
		lists[i] = (struct value){ .type = VALUE_LIST, .count = i < 63, .values = &lists[i + 1] };
		maps[2 * i] = value_u64((uint64_t)i); /* the key */
		maps[2 * i + 1] =
		    (struct value){ .type = VALUE_MAP, .count = i < 63, .values = &maps[2 * i + 2] };
	}
	lists[63].values = maps[127].values = NULL;
	made_begin(&r, (struct run_facts){ .raw = true });
	r.g.deep = true;
	made_event(&r, PHASE_INSTANT, "deep");
	made_field(&r, NAME("lists"), lists[0]);
	made_field(&r, NAME("maps"), maps[1]);
	made_render(&r);
	made_finish(&r);
}
