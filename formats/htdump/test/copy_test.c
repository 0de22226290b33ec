/*
 * Copies of .htdump to .htdump: several inputs in one output, and selections, which contain only structure
 * that they refer to.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "htdump/test/build.h"
#include "htdump/test/oracle.h"
#include "input/open.h"

/* ---- whole files ---- */

#define GOOD "testdata/htdump/good"
#define BAD "testdata/htdump/bad"

/* The suffix of the name gives format and compression. */
Test(htdump_write_raw, files_by_name)
{
	static const char *const names[] = { "out.htdump", "out.htdump.gz", "out.htdump.zst" };
	char *const dir = make_folder(), path[1024];
	size_t n, m;
	char *const want = read_unpacked(GOOD "/wire-big.htdump", &n);

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		struct ran r = run_tool(
		    (const char *const[]){ "convert", GOOD "/wire-big.htdump", path, NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s", r.err);
		char *const got = read_unpacked(path, &m);
		cr_expect(n == m && memcmp(got, want, n) == 0, "%s", path);
		free(got);
		ran_free(&r);
	}
	free(want);
	remove_folder(dir);
}

/* ---- several inputs ---- */

static struct ran convert_both(const char *a, const char *b)
{
	char out[] = "-o-";

	return run_tool((const char *const[]){ "convert", "--to", "htdump", a, b, out, NULL }, NULL, 0);
}

static void expect_both(const char *a, const char *b)
{
	size_t an, bn;
	char *const ap = read_unpacked(a, &an), *const bp = read_unpacked(b, &bn);
	struct ran r = convert_both(a, b);

	cr_expect_eq(r.status, 0, "%s %s: %s", a, b, r.err);
	cr_assert_eq(r.out_n, an + bn, "%s %s", a, b);
	cr_expect(memcmp(r.out, ap, an) == 0 && memcmp(r.out + an, bp, bn) == 0, "%s %s", a, b);
	ran_free(&r);
	free(ap);
	free(bp);
}

Test(htdump_write_raw, files_behind_one_another)
{
	expect_both(GOOD "/wire-little.htdump.zst", GOOD "/wire-big.htdump");
	expect_both(GOOD "/wire-big.htdump", GOOD "/inheritance.htdump");
	expect_both(GOOD "/document-little.htdump", GOOD "/document-big.htdump");
	expect_both(GOOD "/concatenated.htdump", GOOD "/only-endianness.htdump");
}

/* The second file lacks its EndiannessInfoEvent and is read as little endian. */
Test(htdump_write_raw, byte_order_between_files)
{
	static const char little[21];
	const char *const second = BAD "/no-byte-order.htdump";
	size_t an, bn;
	char *const ap = read_unpacked(GOOD "/wire-big.htdump", &an), *const bp = read_unpacked(second, &bn);
	struct ran r = convert_both(GOOD "/wire-big.htdump", second);

	cr_expect_eq(r.status, 0);
	cr_assert_eq(r.out_n, an + sizeof little + bn);
	cr_expect(memcmp(r.out, ap, an) == 0 && memcmp(r.out + an, little, sizeof little) == 0 &&
	          memcmp(r.out + an + sizeof little, bp, bn) == 0);
	struct ran v = run_tool((const char *const[]){ "validate", "-", NULL }, r.out, r.out_n);
	cr_expect_eq(v.status, 0, "%s%s", v.out, v.err);
	ran_free(&v);
	ran_free(&r);
	free(ap);
	free(bp);
}

Test(htdump_write_raw, other_layout)
{
	size_t n;
	char *const p = read_unpacked(GOOD "/document-big.htdump", &n);
	struct ran r = convert_both(GOOD "/document-big.htdump", GOOD "/wire-little.htdump");

	cr_expect(r.out_n == n && memcmp(r.out, p, n) == 0);
	cr_expect_not_null(strstr(r.err, ": 57; the first at input offset 0 [htdump/other-layout]\n"), "%s",
	                   r.err);
	ran_free(&r);
	free(p);
}

Test(htdump_write_raw, records_of_other_formats)
{
	struct ran r = run_tool((const char *const[]){ "convert", "--raw", "--to", "htdump",
	                                               "testdata/heph/good/mixed.bin.log", "-", NULL },
	                        NULL, 0);

	cr_expect_eq(r.status, 3);
	cr_expect_eq(r.out_n, 0);
	cr_expect_not_null(strstr(r.err, "htdump cannot hold its records"), "%s", r.err);
	ran_free(&r);
}

/* ---- selections of a generated trace ---- */

enum { ID_SMALL = 40, ID_LARGE, ID_OTHER };

/* Makes spans named by labels, and events of classes with a struct. */
static void make_trace(struct ht_build *b, enum ht_layout layout, bool big)
{
	static const struct ht_field_desc part[] = { { "uint32_t", "n", 4, HT_UNSIGNED } };
	static const struct ht_field_desc made[] = { { "Small", "small", 4, HT_STRUCT } };

	ht_init(b, layout, big);
	ht_prologue(b);
	ht_describe(b, ID_SMALL, "Small", NULL, part, 1);
	ht_describe(b, ID_OTHER, "Other", NULL, part, 1);
	ht_mapping(b, 1, "one");
	ht_mapping(b, 2, "two");
	ht_span_int(b, 1000, 10, 1, 1);
	ht_span_int(b, 2000, 10, 1, 2);
	ht_span_int(b, 3000, 10, 1, 3);
	ht_describe(b, ID_LARGE, "Large", NULL, made, 1);
	ht_event(b, ID_LARGE, 4000);
	ht_u32(b, 77);
	ht_event(b, ID_OTHER, 5000);
	ht_u32(b, 88);
	ht_mapping(b, 3, "three"); /* after its use */
	ht_mapping(b, 4, "four");
}

struct selected {
	char *dir;
	char in[300], out[300];
	char *bytes;
	size_t n;
	struct oracle oracle;
};

static struct selected select_from(const void *p, size_t n, const char *option, const char *value)
{
	struct selected s = { .dir = make_folder() };

	snprintf(s.in, sizeof s.in, "%s/in.htdump", s.dir);
	snprintf(s.out, sizeof s.out, "%s/out.htdump", s.dir);
	cr_assert(write_whole(s.in, p, n));
	struct ran r =
	    run_tool((const char *const[]){ "convert", "-q", option, value, s.in, s.out, NULL }, NULL, 0);
	cr_assert_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	s.bytes = read_whole(s.out, &s.n);
	cr_assert_not_null(s.bytes);
	oracle_decode(&s.oracle, (const unsigned char *)s.bytes, s.n);
	cr_assert_null(s.oracle.fault, "%s %s: %s", option, value, s.oracle.fault);
	r = run_tool((const char *const[]){ "validate", s.out, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s %s: %s%s", option, value, r.out, r.err);
	ran_free(&r);
	return s;
}

static void selected_free(struct selected *s)
{
	oracle_free(&s->oracle);
	free(s->bytes);
	remove_folder(s->dir);
}

/* Counts a text with its NUL in the output. */
static unsigned count_text(const struct selected *s, const char *text)
{
	const size_t n = strlen(text) + 1;
	unsigned found = 0;

	for (size_t i = 0; i + n <= s->n; i++)
		found += memcmp(s->bytes + i, text, n) == 0;
	return found;
}

static void expect_texts(const struct selected *s, const char *const *there, const char *const *absent)
{
	for (; *there != NULL; there++)
		cr_expect_gt(count_text(s, *there), 0, "%s is missing", *there);
	for (; *absent != NULL; absent++)
		cr_expect_eq(count_text(s, *absent), 0, "%s is there", *absent);
}

static void in_each_layout(void (*f)(const void *p, size_t n))
{
	for (unsigned i = 0; i < 4; i++) {
		struct ht_build b;
		make_trace(&b, i < 2 ? HT_WIRE : HT_DOCUMENT, i % 2 == 1);
		f(b.p, b.n);
		ht_free(&b);
	}
}

/* The output starts with the description of such a class, and its format is detected nevertheless. */
Test(htdump_write_select, classes_with_names_beyond_ascii)
{
	static const struct ht_field_desc field = { "uint32_t", "n", 4, HT_UNSIGNED };

	for (unsigned i = 0; i < 4; i++) {
		struct ht_build b;
		ht_init(&b, i < 2 ? HT_WIRE : HT_DOCUMENT, i % 2 == 1);
		b.list_base = false;
		ht_endianness(&b);
		ht_describe(&b, ID_SMALL, "\xc3\x96l", NULL, &field, 1);
		ht_event(&b, ID_SMALL, 1000);
		ht_u32(&b, 5);
		struct selected s = select_from(b.p, b.n, "--name", "*l");
		cr_expect_eq(s.oracle.n, 1);
		selected_free(&s);
		ht_free(&b);
	}
}

static void expect_labels(const void *p, size_t n)
{
	struct selected s = select_from(p, n, "--until", "2000");

	cr_assert_eq(s.oracle.n, 1);
	cr_expect_str_eq(s.oracle.events[0].name, "one");
	expect_texts(&s,
	             (const char *const[]){ "one", "HT_CallstackIntEvent", "HT_StringMappingEvent", NULL },
	             (const char *const[]){ "two", "three", "four", "Small", "Large", "Other", NULL });
	selected_free(&s);
	s = select_from(p, n, "--name", "three");
	cr_assert_eq(s.oracle.n, 1);
	cr_expect_str_eq(s.oracle.events[0].name, "three");
	cr_expect_eq(s.oracle.events[0].ts, 3000);
	expect_texts(&s, (const char *const[]){ "three", NULL },
	             (const char *const[]){ "one", "two", "four", "Small", NULL });
	selected_free(&s);
}

Test(htdump_write_select, labels_that_are_used)
{
	in_each_layout(expect_labels);
}

/* A class that has a text label from its base, and a number of its own that names its events. */
Test(htdump_write_select, label_beside_that_of_a_base)
{
	static const struct ht_field_desc field = { "uint64_t", "label", 8, HT_UNSIGNED };

	for (unsigned i = 0; i < 4; i++) {
		struct ht_build b;
		ht_init(&b, i < 2 ? HT_WIRE : HT_DOCUMENT, i % 2 == 1);
		ht_prologue(&b);
		ht_describe(&b, ID_SMALL, "Small", "HT_CallstackStringEvent", &field, 1);
		ht_mapping(&b, 1, "one");
		ht_mapping(&b, 2, "two");
		ht_event(&b, ID_SMALL, 1000);
		ht_u64(&b, 10);
		ht_u32(&b, 1);
		ht_string(&b, "of the base");
		ht_u64(&b, 1);
		ht_mapping(&b, 1, "of later events");
		struct selected s = select_from(b.p, b.n, "--until", "2000");
		cr_assert_eq(s.oracle.n, 1);
		expect_texts(&s, (const char *const[]){ "of the base", "one", NULL },
		             (const char *const[]){ "two", NULL });
		selected_free(&s);
		ht_free(&b);
	}
}

static void describe_part(struct ht_build *b, uint32_t id)
{
	static const struct ht_field_desc number = { "uint32_t", "n", 4, HT_UNSIGNED };

	ht_describe(b, id, "Part", NULL, &number, 1);
}

static void describe_whole(struct ht_build *b)
{
	static const struct ht_field_desc part = { "Part", "part", 4, HT_STRUCT };

	ht_describe(b, ID_LARGE, "Whole", NULL, &part, 1);
}

/* In a dump that was appended, a struct is described after its first mention, with another id than before. */
Test(htdump_write_select, struct_described_later_in_an_appended_dump)
{
	for (unsigned i = 0; i < 4; i++) {
		struct ht_build b;
		ht_init(&b, i < 2 ? HT_WIRE : HT_DOCUMENT, i % 2 == 1);
		ht_prologue(&b);
		describe_part(&b, ID_SMALL);
		describe_whole(&b);
		ht_event(&b, ID_LARGE, 1000);
		ht_u32(&b, 76);
		ht_endianness(&b);
		describe_whole(&b);
		describe_part(&b, ID_OTHER);
		ht_event(&b, ID_LARGE, 5000);
		ht_u32(&b, 77);
		struct selected s = select_from(b.p, b.n, "--since", "5000");
		cr_assert_eq(s.oracle.n, 1);
		cr_expect_eq(s.oracle.events[0].fields[s.oracle.events[0].nfields - 1].u, 77);
		selected_free(&s);
		ht_free(&b);
	}
}

static void expect_classes(const void *p, size_t n)
{
	struct selected s = select_from(p, n, "--name", "Large");

	cr_assert_eq(s.oracle.n, 1);
	cr_expect_eq(s.oracle.events[0].ts, 4000);
	cr_expect_eq(s.oracle.events[0].fields[s.oracle.events[0].nfields - 1].u, 77);
	expect_texts(&s, (const char *const[]){ "Small", "Large", NULL },
	             (const char *const[]){ "Other", "HT_CallstackIntEvent", "HT_CallstackBaseEvent",
	                                    "HT_StringMappingEvent", "one", NULL });
	selected_free(&s);
	s = select_from(p, n, "--name", "Other");
	cr_assert_eq(s.oracle.n, 1);
	cr_expect_eq(s.oracle.events[0].fields[s.oracle.events[0].nfields - 1].u, 88);
	expect_texts(&s, (const char *const[]){ "Other", NULL },
	             (const char *const[]){ "Small", "Large", "one", NULL });
	selected_free(&s);
}

Test(htdump_write_select, classes_that_are_used)
{
	in_each_layout(expect_classes);
}

static void expect_nothing(const void *p, size_t n)
{
	struct selected s = select_from(p, n, "--name", "of no event");

	cr_expect_eq(s.oracle.n, 0);
	expect_texts(&s, (const char *const[]){ NULL },
	             (const char *const[]){ "Small", "Large", "Other", "one", "four", NULL });
	selected_free(&s);
}

Test(htdump_write_select, no_event_at_all)
{
	in_each_layout(expect_nothing);
}

/* ---- selections of several inputs, of compressed ones, of pipes ---- */

Test(htdump_write_select, several_inputs)
{
	char out[] = "-o-";
	struct ran r = run_tool((const char *const[]){ "convert", "-q", "--to", "htdump", "--tid", "1",
	                                               GOOD "/wire-little.htdump.zst",
	                                               GOOD "/wire-big.htdump", out, NULL },
	                        NULL, 0);
	struct ran one = run_tool((const char *const[]){ "convert", "-q", "--to", "htdump", "--tid", "1",
	                                                 GOOD "/wire-little.htdump.gz", "-", NULL },
	                          NULL, 0);
	struct ran two = run_tool((const char *const[]){ "convert", "-q", "--to", "htdump", "--tid", "1",
	                                                 GOOD "/wire-big.htdump", "-", NULL },
	                          NULL, 0);

	cr_expect(r.status == 0 && one.status == 0 && two.status == 0, "%s", r.err);
	cr_assert_eq(r.out_n, one.out_n + two.out_n);
	cr_expect_eq(memcmp(r.out, one.out, one.out_n), 0);
	cr_expect_eq(memcmp(r.out + one.out_n, two.out, two.out_n), 0);
	ran_free(&r);
	ran_free(&one);
	ran_free(&two);
}

static void expect_refused(const char *const *args, const void *in, size_t n, int status, const char *words)
{
	struct ran r = run_tool(args, in, n);

	cr_expect_eq(r.status, status, "%d: %s", r.status, r.err);
	cr_expect_eq(r.out_n, 0);
	cr_expect_not_null(strstr(r.err, words), "%s", r.err);
	ran_free(&r);
}

Test(htdump_write_select, what_cannot_be_done)
{
	size_t n;
	char *const p = read_unpacked(GOOD "/overlapping.htdump", &n);

	expect_refused((const char *const[]){ "convert", "--to", "htdump", "--name", "*", "-", "-", NULL }, p,
	               n, 2, "reads the input twice");
	expect_refused((const char *const[]){ "convert", "--to", "htdump", "--until", "50%", "--edges",
	                                      "clip", GOOD "/overlapping.htdump", "-", NULL },
	               NULL, 0, 3, "records are copied unchanged");
	expect_ran(run_tool((const char *const[]){ "convert", "--to", "htdump", "--until", "50%",
	                                           GOOD "/overlapping.htdump", "-", NULL },
	                    NULL, 0),
	           0, "1 span crosses an end of the time window and is whole");
	free(p);
}
