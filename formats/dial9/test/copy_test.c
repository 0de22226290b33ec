/*
 * Copies of dial9 traces: of several inputs, of large records, of versions; selections, which contain only
 * the records that they refer to.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "dial9/test/build.h"
#include "dial9/test/oracle.h"

#define GOOD "testdata/dial9/good/"

static struct ran convert(const char *option, const char *path, const void *in, size_t n)
{
	return run_tool((const char *const[]){ "convert", "--max-record", "4M", option, "--to", "dial9", path,
	                                       "-", NULL },
	                in, n);
}

/* Expects a valid trace, with notes at most. */
static void expect_valid(const char *what, const char *p, size_t n)
{
	struct ran r = run_tool((const char *const[]){ "validate", "-q", "-", NULL }, p, n);

	cr_expect_eq(r.status, 0, "%s: %s%s", what, r.out, r.err);
	ran_free(&r);
}

/* ---- several inputs ---- */

static struct ran convert_both(const char *a, const char *b)
{
	return run_tool((const char *const[]){ "convert", "--to", "dial9", "-o", "-", a, b, NULL }, NULL, 0);
}

Test(dial9_write_raw, inputs_become_segments)
{
	size_t an, bn;
	unsigned char *const a = (unsigned char *)read_unpacked(GOOD "document.dial9", &an),
	                     *const b = (unsigned char *)read_unpacked(GOOD "segments.dial9", &bn);
	struct ran r = convert_both(GOOD "document.dial9", GOOD "segments.dial9");

	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_assert_eq(r.out_n, an + bn);
	cr_expect(memcmp(r.out, a, an) == 0 && memcmp(r.out + an, b, bn) == 0);
	expect_valid("both", r.out, r.out_n);
	ran_free(&r);
	free(a);
	free(b);
}

/* Nothing can follow half a pool frame. */
Test(dial9_write_raw, nothing_is_written_after_half_a_frame)
{
	char *const dir = make_folder(), path[500];
	struct d9_build b;

	d9b_init(&b);
	d9b_header(&b);
	d9b_strings(&b, 3);
	d9b_u32(&b, 1);
	d9b_text32(&b, "one");
	snprintf(path, sizeof path, "%s/cut", dir);
	cr_assert(write_whole(path, b.p, b.n));
	struct ran r = convert_both(path, GOOD "untimed.dial9");
	cr_expect_eq(r.status, 1);
	cr_expect(r.out_n == b.n && memcmp(r.out, b.p, b.n) == 0, "%zu bytes", r.out_n);
	cr_expect_not_null(strstr(r.err, "[dial9/after-cut]"), "%s", r.err);
	ran_free(&r);
	d9b_free(&b);
	remove_folder(dir);
}

/* ---- records that are too large are dropped ---- */

#define LARGE (5U << 20)

static void large(struct d9_build *b)
{
	char *const p = calloc(1, LARGE);

	cr_assert_not_null(p);
	d9b_u32(b, LARGE);
	d9b_bytes(b, p, LARGE);
	free(p);
}

static void entry(struct d9_build *b, uint32_t id, const char *s)
{
	d9b_u32(b, id);
	if (s != NULL)
		d9b_text32(b, s);
	else
		large(b);
}

static void make_large(struct d9_build *b)
{
	static const struct d9_field_desc text[] = { { "text", D9T_BYTES }, { "name", D9T_POOLED_STRING } };

	d9b_init(b);
	d9b_header(b);
	d9b_schema(b, 1, "Text", true, text, 2);
	d9b_strings(b, 4);
	entry(b, 1, "one");
	entry(b, 2, NULL);
	entry(b, 3, "three");
	entry(b, 4, NULL);
	d9b_string(b, 9, "nine");
	d9b_strings(b, 2);
	entry(b, 5, NULL);
	entry(b, 6, "six");
	d9b_event(b, 1, 1000);
	large(b);
	d9b_u32(b, 1);
	d9b_event(b, 1, 3000);
	d9b_text32(b, "x");
	d9b_u32(b, 3);
	d9b_event(b, 1, 3500);
	d9b_text32(b, "y");
	d9b_u32(b, 6);
}

static void expect_without_large(const char *option, uint64_t first)
{
	struct d9_build b;
	struct d9o o;

	make_large(&b);
	struct ran r = convert(option, "-", b.p, b.n);
	cr_expect_eq(r.status, 0);
	cr_expect_lt(r.out_n, LARGE);
	expect_valid(option, r.out, r.out_n);
	d9o_decode(&o, (const unsigned char *)r.out, r.out_n);
	cr_assert(o.fault == NULL && o.nevents == 2, "%s: %zu events", o.fault, o.nevents);
	cr_expect_eq(o.events[0].ts, first);
	cr_expect_eq(o.events[1].ts, first + 500);
	cr_expect_eq(o.nentries, 6, "%zu entries", o.nentries); /* one of them three times */
	d9o_free(&o);
	ran_free(&r);
	d9b_free(&b);
}

/* Records above the limit are copied byte for byte, but left out when times are shifted. */
Test(dial9_write_raw, records_that_are_not_read)
{
	struct d9_build b;

	make_large(&b);
	struct ran r = convert("--threads=2", "-", b.p, b.n);
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.err, "[limit/record]"), "%s", r.err);
	cr_expect(r.out_n == b.n && memcmp(r.out, b.p, b.n) == 0);
	ran_free(&r);
	d9b_free(&b);
	expect_without_large("--rebase", 0);
}

/* ---- versions ---- */

Test(dial9_write_raw, what_only_0_4_has_is_counted)
{
	static const char *const newer[] = { GOOD "segments.dial9", GOOD "annotations.dial9",
		                             GOOD "all-types-0.4.dial9" };
	struct ran r = run_tool((const char *const[]){ "convert", "--raw", "--to-dialect", "0.3", "--to",
	                                               "dial9", GOOD "document.dial9", "-", NULL },
	                        NULL, 0);

	cr_expect_eq(r.err_n, 0, "%s", r.err);
	ran_free(&r);
	for (size_t i = 0; i < 3; i++) {
		r = run_tool((const char *const[]){ "convert", "--raw", "--to-dialect", "0.3", "--to",
		                                    "dial9", newer[i], "-", NULL },
		             NULL, 0);
		cr_expect_not_null(strstr(r.err, "[dial9/newer]"), "%s: %s", newer[i], r.err);
		ran_free(&r);
	}
	r = run_tool((const char *const[]){ "convert", "--to-dialect", "0.3", "--to", "htdump",
	                                    GOOD "document.dial9", "-", NULL },
	             NULL, 0);
	cr_expect_eq(r.status, 3);
	cr_expect_not_null(strstr(r.err, "--to-dialect is for outputs in format dial9"), "%s", r.err);
	ran_free(&r);
}

/* ---- selections ---- */

static void text_event(struct d9_build *b, uint16_t id, uint64_t ts, uint32_t text)
{
	d9b_event(b, id, ts);
	d9b_u32(b, text);
}

static void make_segment(struct d9_build *b, uint64_t start)
{
	static const struct d9_field_desc text = { "text", D9T_POOLED_STRING };
	static const struct d9_field_desc list = { "list", D9T_LIST };

	d9b_header(b);
	d9b_schema(b, 1, "Wanted", true, &text, 1);
	d9b_schema(b, 2, "Other", true, &text, 1);
	d9b_schema(b, 3, "Listed", true, &list, 1);
	d9b_annotation(b, 1, 0, "metrique.unit", "ns");
	d9b_annotation(b, 2, 0, "metrique.unit", "ms");
	d9b_strings(b, 3);
	for (uint32_t i = 1; i <= 3; i++) {
		d9b_u32(b, i);
		d9b_text32(b, i == 1 ? "one" : i == 2 ? "two" : "three");
	}
	text_event(b, 2, start, 1);
	text_event(b, 1, start + 5000000, 2);
	text_event(b, 2, start + 15000000, 1);
	text_event(b, 1, start + 25000000, 9); /* more than a delta after the one before; defined later */
	d9b_string(b, 9, "nine");
	d9b_string(b, 2, "another two");
	text_event(b, 1, start + 25000100, 2);
	d9b_event(b, 3, start + 25000200);
	d9b_u32(b, 1);
	d9b_u8(b, D9T_POOLED_STRING);
	d9b_u32(b, 3);
}

static struct ran run_selection(const char *option, const char *name, const char *extra)
{
	char *const dir = make_folder(), path[500];
	struct d9_build b;

	d9b_init(&b);
	make_segment(&b, 1000000000);
	make_segment(&b, 2000000000);
	snprintf(path, sizeof path, "%s/in.bin", dir);
	cr_assert(write_whole(path, b.p, b.n));
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "-q", option, name, extra, "--to", "dial9", path, "-", NULL },
	    NULL, 0);
	struct ran v = run_tool((const char *const[]){ "validate", "-q", "-", NULL }, r.out, r.out_n);
	cr_expect_eq(r.status, 0, "%s", r.err);
	cr_expect_eq(v.status, 0, "%s", v.out);
	ran_free(&v);
	d9b_free(&b);
	remove_folder(dir);
	return r;
}

static void expect(const struct ran *r, size_t segments, size_t schemas, size_t entries, size_t notes,
                   const uint64_t *ts, size_t n)
{
	struct d9o o;

	d9o_decode(&o, (const unsigned char *)r->out, r->out_n);
	cr_assert_null(o.fault, "%s", o.fault);
	cr_expect_eq(o.segments, segments);
	cr_expect_eq(o.nschemas, schemas, "%zu schemas", o.nschemas);
	cr_expect_eq(o.nentries, entries, "%zu entries", o.nentries);
	cr_expect_eq(o.frames[6], notes, "%zu annotations", o.frames[6]);
	cr_assert_eq(o.nevents, n, "%zu events", o.nevents);
	for (size_t i = 0; i < n; i++)
		cr_expect_eq(o.events[i].ts, ts[i], "event %zu", i);
	d9o_free(&o);
}

/* Both definitions of one id, in turn, and one after its use. */
Test(dial9_write_select, what_events_refer_to_comes_along)
{
	static const uint64_t times[] = { 1005000000, 1025000000, 1025000100,
		                          2005000000, 2025000000, 2025000100 };
	struct ran r = run_selection("--name", "Wanted", "--threads=2");

	expect(&r, 2, 2, 6, 2, times, 6);
	char *const dir = make_folder(), path[500]; /* a pipe cannot be read twice */
	snprintf(path, sizeof path, "%s/out.bin", dir);
	cr_assert(write_whole(path, r.out, r.out_n));
	struct ran c = run_tool((const char *const[]){ "cat", "-q", path, NULL }, NULL, 0);
	const char *const first = strstr(c.out, "text=\"two\""),
	                  *const second = strstr(c.out, "text=\"nine\""),
	                  *const third = strstr(c.out, "text=\"another two\"");
	cr_expect(first != NULL && second > first && third > second, "%s", c.out);
	ran_free(&c);
	ran_free(&r);
	remove_folder(dir);
}

Test(dial9_write_select, in_lists_too)
{
	static const uint64_t times[] = { 1025000200, 2025000200 };
	struct ran r = run_selection("--name", "Listed", "--threads=2");

	expect(&r, 2, 2, 2, 0, times, 2);
	ran_free(&r);
}

/* An empty segment is left out; times count from the first selected event. */
Test(dial9_write_select, segments_without_events_and_rebase)
{
	static const uint64_t late[] = { 2025000100, 2025000200 };
	static const uint64_t moved[] = { 0, 20000000, 20000100, 1000000000, 1020000000, 1020000100 };
	struct ran r = run_selection("--since", "2025000050", "--threads=2");

	expect(&r, 1, 2, 2, 1, late, 2);
	ran_free(&r);
	r = run_selection("--name", "Wanted", "--rebase");
	struct d9o o;
	d9o_decode(&o, (const unsigned char *)r.out, r.out_n);
	cr_assert_eq(o.nevents, 6);
	const uint64_t first = o.events[0].ts;
	for (size_t i = 0; i < 6; i++)
		cr_expect_eq(o.events[i].ts - first, moved[i]);
	d9o_free(&o);
	ran_free(&r);
}

/* ---- symbols ---- */

static void put_symbols(struct d9_build *b)
{
	static const struct d9_field_desc symbol[] = { { "addr", D9T_VARINT },
		                                       { "symbol_name", D9T_POOLED_STRING } };

	d9b_schema(b, 7, "SymbolTableEntry", true, symbol, 2);
	for (uint32_t i = 0; i < 3; i++) {
		d9b_string(b, 10 + i, i == 0 ? "alpha" : i == 1 ? "beta" : "gamma");
		d9b_event(b, 7, 0);
		d9b_varint(b, 0x1000 + i);
		d9b_u32(b, 10 + i);
	}
}

/* One event with its own stack, one with a stack of the pool. */
static void put_stacks(struct d9_build *b)
{
	static const struct d9_field_desc own = { "frames", D9T_STACK };
	static const struct d9_field_desc pooled = { "frames", D9T_POOLED_STACK };
	const uint64_t addresses[] = { 0x1001, 0x1002 };

	d9b_schema(b, 1, "Own", true, &own, 1);
	d9b_schema(b, 2, "Pooled", true, &pooled, 1);
	d9b_stack(b, 4, addresses, 2);
	d9b_event(b, 1, 5000);
	d9b_u32(b, 1);
	d9b_u64(b, 0x1000);
	d9b_event(b, 2, 6000);
	d9b_u32(b, 4);
}

/* Symbols that stacks of the selection need, or may need, are kept, wherever they are in the file. */
Test(dial9_write_select, symbols_of_its_stacks)
{
	static const struct {
		bool first, segments;
		const char *name;
		size_t symbols;
	} cases[] = {
		{ false, false, "Own", 1 }, { false, true, "Own", 1 },    { false, true, "Pooled", 2 },
		{ true, false, "Own", 1 },  { true, false, "Pooled", 2 }, { true, true, "Own", 3 },
	};
	char *const dir = make_folder(), path[500], out[500];

	snprintf(path, sizeof path, "%s/in.bin", dir);
	snprintf(out, sizeof out, "%s/out.bin", dir);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct d9_build b;
		struct d9o o;
		size_t n, symbols = 0;
		d9b_init(&b);
		d9b_header(&b);
		(cases[i].first ? put_symbols : put_stacks)(&b);
		if (cases[i].segments)
			d9b_header(&b);
		(cases[i].first ? put_stacks : put_symbols)(&b);
		cr_assert(write_whole(path, b.p, b.n));
		d9b_free(&b);
		struct ran r = run_tool(
		    (const char *const[]){ "convert", "-qf", "--name", cases[i].name, path, out, NULL }, NULL,
		    0);
		cr_expect_eq(r.status, 0, "case %zu: %s", i, r.err);
		ran_free(&r);
		char *const bytes = read_whole(out, &n);
		d9o_decode(&o, (const unsigned char *)bytes, n);
		cr_assert_null(o.fault, "case %zu: %s", i, o.fault);
		for (size_t k = 0; k < o.nevents; k++)
			symbols += o.events[k].ts == 0;
		cr_expect_eq(symbols, cases[i].symbols, "case %zu: %zu symbols", i, symbols);
		cr_expect_eq(o.nevents, symbols + 1);
		d9o_free(&o);
		free(bytes);
	}
	remove_folder(dir);
}

/* Symbols have the schema that was registered before them, also if another one follows, which is an error. */
Test(dial9_write_select, symbols_before_another_schema_of_their_number)
{
	static const struct d9_field_desc other = { "n", D9T_U8 };
	char *const dir = make_folder(), path[500];
	struct d9_build b;
	struct d9o o;

	snprintf(path, sizeof path, "%s/in.bin", dir);
	d9b_init(&b);
	d9b_header(&b);
	put_symbols(&b);
	d9b_schema(&b, 7, "Other", false, &other, 1);
	d9b_untimed(&b, 7);
	d9b_u8(&b, 7);
	put_stacks(&b);
	cr_assert(write_whole(path, b.p, b.n));
	d9b_free(&b);
	struct ran r = convert("--name=O*", path, NULL, 0);
	d9o_decode(&o, (const unsigned char *)r.out, r.out_n);
	cr_assert_null(o.fault, "%s%s", o.fault, r.err);
	cr_expect_eq(o.nevents, 5); /* three symbols, Other, Own */
	d9o_free(&o);
	ran_free(&r);
	remove_folder(dir);
}

static char *digest(const char *option, const char *path)
{
	struct ran r =
	    run_tool((const char *const[]){ "info", "-q", "--digest", option, path, NULL }, NULL, 0);
	const char *const line = strstr(r.out, "\ndigest:");

	cr_assert_not_null(line, "%s%s", r.out, r.err);
	char *const copy = strndup(line + 1, strcspn(line + 1, "\n"));
	ran_free(&r);
	return copy;
}

/* The output of a real trace has the selected events. */
Test(dial9_write_select, real_trace)
{
	char *const dir = make_folder(), path[1024], out[500];

	snprintf(path, sizeof path, "%s/dial9/block-in-place.bin", real_traces());
	snprintf(out, sizeof out, "%s/out.bin", dir);
	struct ran r =
	    run_tool((const char *const[]){ "convert", "-q", "--category=stack", path, out, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s", r.err);
	char *const want = digest("--category=stack", path), *const got = digest("--quiet", out);
	cr_expect_str_eq(got, want);
	ran_free(&r);
	free(want);
	free(got);
	remove_folder(dir);
}

/* A limit of records below D9_FAST_FRAME turns fast paths off. */
static void expect_same_selection(const char *path, const char *bytes, size_t size)
{
	static const char *const choices[] = { "--since=30%", "--until=60%", "--name=*o*", "--min-dur=1us" };

	(void)bytes;
	(void)size;
	for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
		const char *const fast[] = { "convert", "-q", choices[i], "--to", "dial9", path, "-", NULL };
		const char *const careful[] = { "convert", "-q",   choices[i], "--max-record",
			                        "4000000", "--to", "dial9",    path,
			                        "-",       NULL };
		struct ran a = run_tool(fast, NULL, 0), b = run_tool(careful, NULL, 0);
		cr_expect_eq(a.status, b.status, "%s, %s: %s%s", path, choices[i], a.err, b.err);
		cr_expect(a.out_n == b.out_n && memcmp(a.out, b.out, a.out_n) == 0,
		          "%s, %s: %zu and %zu bytes", path, choices[i], a.out_n, b.out_n);
		ran_free(&a);
		ran_free(&b);
	}
}

Test(dial9_write_select, fast_paths_change_nothing)
{
	char path[1024];

	cr_expect_gt(each_file(GOOD, ".dial9", expect_same_selection), 3);
	snprintf(path, sizeof path, "%s/dial9/block-in-place.bin", real_traces());
	expect_same_selection(path, NULL, 0);
}
