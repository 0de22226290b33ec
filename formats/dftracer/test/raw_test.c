/* Raw events: all bytes of the input, and all members of its records unchanged. */
#include <criterion/criterion.h>

#include <cJSON.h>
#include <inttypes.h>

#include "format/registry.h"
#include "input/open.h"
#include "input/test/memory_input.h"
#include "output/text.h"
#include "output/text_json.h"
#include "test/fuzz/live_batches.h"
#include "test/properties/rows_test.h"

#define RAW (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES | WANT_RAW)

static struct live_batches raw;

static bool is_gap(const struct event *e)
{
	return slice_is(e->cls->name, "between records") || slice_is(e->cls->name, "unreadable bytes");
}

/* ---- bytes ---- */

/* Expects that the bytes of all events, joined, are the input. */
static void expect_tiles(const struct live_batches *k, const char *p, size_t n, const char *what)
{
	uint64_t at = 0, records = 0;

	for (size_t i = 0; i < k->n; i++)
		for (uint32_t j = 0; j < k->batches[i]->n; j++) {
			const struct event *const e = &k->batches[i]->events[j];
			const struct slice bytes = k->batches[i]->bytes[j];
			cr_assert_eq(e->offset, at, "%s: event at %" PRIu64 ", not %" PRIu64, what, e->offset,
			             at);
			cr_assert(bytes.n > 0 && bytes.n <= n - at);
			cr_assert_eq(memcmp(bytes.p, p + at, bytes.n), 0, "%s: bytes at %" PRIu64, what, at);
			at += bytes.n;
			records += !is_gap(e);
		}
	cr_expect_eq(at, n, "%s: %" PRIu64 " bytes of %zu", what, at, n);
	cr_expect_eq(records, k->trace.records, "%s: %" PRIu64 " records of %" PRIu64, what, records,
	             k->trace.records);
}

static void read_raw(struct input *in, uint32_t cap)
{
	live_batches_read(&raw, format_by_name("dftracer"), in, RAW, cap);
	cr_assert_eq(raw.status, READ_END);
}

/* ---- fields ---- */

static void put_value(struct text *t, const struct value *v)
{
	switch ((enum value_type)v->type) {
	case VALUE_U64:
		text_u64(t, v->u64);
		break;
	case VALUE_I64:
		text_i64(t, v->i64);
		break;
	case VALUE_BOOL:
		text_str(t, v->u64 != 0 ? "true" : "false");
		break;
	case VALUE_NONE:
		text_str(t, "null");
		break;
	case VALUE_JSON:
		text_slice(t, value_text(v));
		break;
	case VALUE_STRING:
		cr_expect_eq(text_json_string(t, value_text(v)), 0);
		break;
	default:
		cr_assert_fail("a value of type %u", v->type);
	}
}

/* Expects that the fields, written as JSON, are the record: byte for byte if it has no escapes and no blanks
 * that JSON does not need. */
static void expect_record(const struct batch *b, const struct event *e, struct slice bytes, const char *what)
{
	struct text t = { .p = NULL };

	text_char(&t, '{');
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		text_str(&t, i > 0 ? "," : "");
		text_json_string(&t, f->name);
		text_char(&t, ':');
		put_value(&t, &f->value);
	}
	text_char(&t, '}');
	while (bytes.n > 0 && bytes.p[bytes.n - 1] != '}')
		bytes.n--;
	if (bytes.n == t.n && memcmp(bytes.p, t.p, t.n) == 0) {
		text_free(&t);
		return;
	}
	cJSON *const want = cJSON_ParseWithLength(bytes.p, bytes.n), *const got =
	                                                                 cJSON_ParseWithLength(t.p, t.n);
	cr_expect(want != NULL && got != NULL && cJSON_Compare(want, got, true), "%s:\n%.*s\nnot\n%.*s", what,
	          (int)t.n, t.p, (int)bytes.n, bytes.p);
	cr_expect(memchr(bytes.p, ' ', bytes.n) != NULL || memchr(bytes.p, '\\', bytes.n) != NULL,
	          "%s:\n%.*s\nnot\n%.*s", what, (int)t.n, t.p, (int)bytes.n, bytes.p);
	cJSON_Delete(want);
	cJSON_Delete(got);
	text_free(&t);
}

static void expect_records(const struct live_batches *k, const char *what)
{
	for (size_t i = 0; i < k->n; i++)
		for (uint32_t j = 0; j < k->batches[i]->n; j++)
			if (!is_gap(&k->batches[i]->events[j]))
				expect_record(k->batches[i], &k->batches[i]->events[j],
				              k->batches[i]->bytes[j], what);
}

/* ---- files ---- */

static void expect_sample(const struct sample *s)
{
	read_raw(input_from_memory(s->p, s->n), 1024);
	expect_tiles(&raw, s->p, s->n, s->path);
	expect_records(&raw, s->path);
	live_batches_free(&raw);
}

Test(dftracer_raw, fields_cover_the_records)
{
	each_sample_of("dftracer", SAMPLES_VALID, expect_sample);
}

/* ---- single records ---- */

static void read_text(const char *text)
{
	read_raw(input_from_memory(text, strlen(text)), 1024);
	expect_tiles(&raw, text, strlen(text), text);
}

Test(dftracer_raw, members_in_file_order)
{
	read_text(
	    "{\"ph\":\"X\",\"args\":{\"hhash\":\"00000000000000aa\",\"x\":-0.50},\"more\":[1, 2],\"dur\":-0,"
	    "\"id\":18446744073709551615,\"name\":\"a\\u00e9\",\"big\":18446744073709551616,\"ts\":\"5\","
	    "\"none\":null,\"more\":true}\n");
	static const struct {
		const char *name;
		enum value_type type;
		const char *text;
	} want[] = {
		{ "ph", VALUE_STRING, "X" },
		{ "args", VALUE_JSON, "{\"hhash\":\"00000000000000aa\",\"x\":-0.50}" },
		{ "more", VALUE_JSON, "[1, 2]" },
		{ "dur", VALUE_JSON, "-0" },
		{ "id", VALUE_U64, NULL },
		{ "name", VALUE_STRING, "a\xc3\xa9" },
		{ "big", VALUE_JSON, "18446744073709551616" },
		{ "ts", VALUE_STRING, "5" },
		{ "none", VALUE_NONE, NULL },
		{ "more", VALUE_BOOL, NULL },
	};
	const struct batch *const b = raw.batches[0];

	cr_assert_eq(b->n, 1);
	cr_assert_eq(b->events[0].nfields, sizeof want / sizeof want[0]);
	for (uint32_t i = 0; i < b->events[0].nfields; i++) {
		const struct field *const f = &b->fields[b->events[0].first_field + i];
		cr_expect(slice_is(f->name, want[i].name), "%u: %.*s", i, (int)f->name.n, f->name.p);
		cr_expect_eq(f->value.type, want[i].type, "%s: type %u", want[i].name, f->value.type);
		if (want[i].text != NULL)
			cr_expect(slice_is(value_text(&f->value), want[i].text), "%s", want[i].name);
	}
	cr_expect_eq(b->fields[b->events[0].first_field + 4].value.u64, UINT64_MAX);
	live_batches_free(&raw);
}

/* More members than an interpreted event retains. */
Test(dftracer_raw, any_number_of_unknown_members)
{
	struct text t = { .p = NULL };

	text_str(&t, "{\"name\":\"x\"");
	for (int i = 0; i < 500; i++)
		text_printf(&t, ",\"k%d\":%d", i, i);
	text_str(&t, "}\n");
	read_raw(input_from_memory(t.p, t.n), 1024);
	expect_tiles(&raw, t.p, t.n, "500 members");
	expect_records(&raw, "500 members");
	cr_expect_eq(raw.batches[0]->events[0].nfields, 501);
	live_batches_free(&raw);
	text_free(&t);
}

#define R1 "{\"id\":1,\"name\":\"a\",\"ph\":\"M\"}"
#define R2 "{\"id\":2,\"name\":\"b\",\"ph\":\"M\"}"

/* Compares the bytes of each event; those of a record include the rest of its line. */
static void expect_pieces(const char *text, const char *const *pieces)
{
	read_text(text);
	const struct batch *const b = raw.batches[0];
	for (uint32_t i = 0; i < b->n; i++) {
		cr_assert_not_null(pieces[i], "%s", text);
		cr_expect(slice_is(b->bytes[i], pieces[i]), "%s: %.*s, not %s", text, (int)b->bytes[i].n,
		          b->bytes[i].p, pieces[i]);
		cr_expect_eq(is_gap(&b->events[i]), strncmp(pieces[i], "{\"id\"", 5) != 0, "%s", pieces[i]);
	}
	cr_expect_null(pieces[b->n], "%s", text);
	live_batches_free(&raw);
}

#define PIECES(...) ((const char *const[]){ __VA_ARGS__, NULL })

Test(dftracer_raw, pieces)
{
	expect_pieces("[\n" R1 "\n" R2 "\n]", PIECES("[\n", R1 "\n", R2 "\n", "]"));
	expect_pieces("\xef\xbb\xbf[\r\n  " R1 ",\r\n\n " R2,
	              PIECES("\xef\xbb\xbf", "[\r\n", "  ", R1 ",\r\n", "\n", " ", R2));
	expect_pieces("[" R1 ", " R2 " ]\n]  [\n", PIECES("[", R1 ", ", R2 " ", "]\n", "]  [\n"));
	expect_pieces("{\"traceEvents\":[\n" R1 "]}\n", PIECES("{\"traceEvents\":[\n", R1, "]", "}\n"));
}

Test(dftracer_raw, unreadable_bytes)
{
	static const char text[] = R1 "\nnothing\n" R2 "\n{\"id\":3,\n";
	read_text(text);
	const struct batch *const b = raw.batches[0];
	cr_assert_eq(b->n, 4);
	cr_expect(slice_is(b->bytes[1], "nothing\n") && slice_is(b->events[1].cls->name, "unreadable bytes"));
	cr_expect(slice_is(b->bytes[3], "{\"id\":3,\n") &&
	          slice_is(b->events[3].cls->name, "unreadable bytes"));
	live_batches_free(&raw);
}

/* Runs of bytes longer than a window. */
Test(dftracer_raw, long_runs)
{
	struct text t = { .p = NULL };

	text_str(&t, "{\"traceEvents\":[\n" R1 "\n");
	char *p = text_reserve(&t, 9000000);
	memset(p, 0, 9000000);
	t.n += 9000000;
	text_str(&t, "\n" R2 "],\"more\":\"");
	p = text_reserve(&t, 9000000);
	memset(p, 'x', 9000000);
	t.n += 9000000;
	text_str(&t, "\"}");
	read_raw(input_from_memory(t.p, t.n), 64);
	expect_tiles(&raw, t.p, t.n, "long runs");
	const uint64_t digest = live_batches_digest(&raw);
	live_batches_free(&raw);
	read_raw(input_from_memory_slowly(t.p, t.n, 1 << 20), 7);
	cr_expect_eq(live_batches_digest(&raw), digest, "other events in steps");
	live_batches_free(&raw);
	text_free(&t);
}
