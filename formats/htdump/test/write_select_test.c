/* Selections of .htdump files: whole records, and what they refer to. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "htdump/test/build.h"
#include "htdump/test/oracle.h"
#include "input/open.h"

#define GOOD "testdata/htdump/good"

/* ---- a trace made for it ---- */

enum { ID_SMALL = 40, ID_LARGE, ID_OTHER };

/* Spans named by numbers, and events of classes that are made of others. */
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
	ht_mapping(b, 3, "three"); /* behind its use */
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

/* How often a text with its NUL stands there. */
static unsigned times(const struct selected *s, const char *text)
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
		cr_expect_gt(times(s, *there), 0, "%s is missing", *there);
	for (; *absent != NULL; absent++)
		cr_expect_eq(times(s, *absent), 0, "%s is there", *absent);
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

/* The output begins with the description of that class: it is known by its bytes all the same. */
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

/* ---- the samples ---- */

/* The events of the first that the second has too, which are in the same order. */
static void expect_part(const char *path, const struct oracle *all, const struct oracle *part, uint64_t until)
{
	size_t k = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct oracle_event *const a = &all->events[i];
		if (a->ts + a->dur > until || (a->dur == 0 && a->ts == until))
			continue;
		cr_assert_lt(k, part->n, "%s: the event at %zu is missing", path, (size_t)a->offset);
		const struct oracle_event *const e = &part->events[k++];
		cr_expect(e->ts == a->ts && e->dur == a->dur && e->id == a->id && e->tid == a->tid &&
		              e->nfields == a->nfields && strcmp(e->name, a->name) == 0,
		          "%s: the event at %zu is %s", path, (size_t)a->offset, e->name);
	}
	cr_expect_eq(k, part->n, "%s: %zu events, %zu expected", path, part->n, k);
}

static void expect_window(const char *path, uint64_t until)
{
	char value[24];
	size_t n, m;
	char *const p = read_unpacked(path, &n);
	struct oracle all, part;

	snprintf(value, sizeof value, "%llu", (unsigned long long)until);
	struct ran r = run_tool((const char *const[]){ "convert", "-q", "--until", value, "--edges", "drop",
	                                               "--to", "htdump", path, "-", NULL },
	                        NULL, 0);
	cr_expect_eq(r.status, 0, "%s: %s", path, r.err);
	m = r.out_n;
	cr_expect_leq(m, n, "%s", path);
	oracle_decode(&all, (const unsigned char *)p, n);
	oracle_decode(&part, (const unsigned char *)r.out, m);
	cr_assert(all.fault == NULL && part.fault == NULL, "%s: %s", path, part.fault);
	expect_part(path, &all, &part, until);
	oracle_free(&all);
	oracle_free(&part);
	ran_free(&r);
	free(p);
}

Test(htdump_write_select, events_of_a_window)
{
	char **const names = list_folder(GOOD, ".htdump"), path[400];

	for (size_t i = 0; names[i] != NULL; i++) {
		if (strcmp(names[i], "document-base-counted.htdump") == 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", GOOD, names[i]);
		expect_window(path, 5200000);
	}
	list_free(names);
}

/* ---- several inputs, packed ones, pipes ---- */

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
	               n, 2, "it has to be read twice: read it from a file");
	expect_refused((const char *const[]){ "convert", "--to", "htdump", "--until", "50%", "--edges",
	                                      "clip", GOOD "/overlapping.htdump", "-", NULL },
	               NULL, 0, 3, "a record cannot be cut");
	struct ran r = run_tool((const char *const[]){ "convert", "--to", "htdump", "--until", "50%",
	                                               GOOD "/overlapping.htdump", "-", NULL },
	                        NULL, 0);
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.err, "1 span crosses an end of the time window and is whole"), "%s",
	                   r.err);
	ran_free(&r);
	free(p);
}
