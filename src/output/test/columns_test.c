#include "output/columns.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct column list[] = {
	{ "name", COLUMN_NAME, 12, 0 },
	{ "count", COLUMN_NUMBER, 0, 0 },
	{ "p50", COLUMN_NUMBER, 0, 2 },
	{ "p99", COLUMN_NUMBER, 0, 1 },
};

/* Printing frees a table, so a copy is printed. */
static void expect(const struct columns *c, unsigned width, const char *want)
{
	struct columns copy = *c;
	struct text t = { .p = NULL };

	copy.text = (struct text){ .p = NULL };
	text_add(&copy.text, c->text.p, c->text.n);
	copy.ends = malloc(c->ncells * sizeof *copy.ends);
	memcpy(copy.ends, c->ends, c->ncells * sizeof *copy.ends);
	columns_print(&copy, &t, width);
	text_char(&t, 0);
	cr_expect_str_eq(t.p, want, "%u:\n%s", width, t.p);
	text_free(&t);
}

static struct columns sample(void)
{
	struct columns c = { .list = list, .n = 4, .indent = 2 };

	columns_name(&c, SLICE_LIT("src/rt/tokio.rs:115:9"));
	columns_u64(&c, 28572);
	columns_time(&c, 1820000000);
	columns_time(&c, 75800000);
	columns_name(&c, SLICE_LIT("draw"));
	columns_u64(&c, 1);
	columns_time(&c, 0);
	columns_time(&c, 0);
	return c;
}

/* A list is shortened at its end. */
Test(columns, lists_keep_their_beginning)
{
	static const struct column lists[] = { { "gap", COLUMN_NUMBER, 0, 0 },
		                               { "busy", COLUMN_LIST, 12, 0 } };
	struct columns c = { .list = lists, .n = 2, .indent = 2 };

	columns_time(&c, 860000);
	columns_name(&c, SLICE_LIT("query 147 us, src/http.rs:88:17 16.4 us"));
	expect(&c, 0,
	       "     gap  busy\n"
	       "  860 us  query 147 us, src/http.rs:88:17 16.4 us\n");
	expect(&c, 30,
	       "     gap  busy\n"
	       "  860 us  query 147 us, src...\n");
	expect(&c, 10,
	       "     gap  busy\n"
	       "  860 us  query...\n");
	columns_free(&c);
}

/* Names are shortened first, then columns are left out, those of the highest rank first; names get their
 * width. */
Test(columns, fit)
{
	struct columns c = sample();

	expect(&c, 0,
	       "  name                   count     p50      p99\n"
	       "  src/rt/tokio.rs:115:9  28572  1.82 s  75.8 ms\n"
	       "  draw                       1    0 ns     0 ns\n");
	expect(&c, 47, /* just wide enough */
	       "  name                   count     p50      p99\n"
	       "  src/rt/tokio.rs:115:9  28572  1.82 s  75.8 ms\n"
	       "  draw                       1    0 ns     0 ns\n");
	expect(&c, 45,
	       "  name                 count     p50      p99\n"
	       "  ...t/tokio.rs:115:9  28572  1.82 s  75.8 ms\n"
	       "  draw                     1    0 ns     0 ns\n");
	expect(&c, 37,
	       "  name                 count      p99\n"
	       "  ...t/tokio.rs:115:9  28572  75.8 ms\n"
	       "  draw                     1     0 ns\n");
	expect(&c, 25,
	       "  name              count\n"
	       "  ...okio.rs:115:9  28572\n"
	       "  draw                  1\n");
	columns_free(&c);
}

/* Columns that are never left out are shown in the narrowest line. */
Test(columns, names_and_counts_stay)
{
	struct columns c = sample();

	expect(&c, 10,
	       "  name      count\n"
	       "  ...115:9  28572\n"
	       "  draw          1\n");
	c.without = 2; /* count */
	expect(&c, 29,
	       "  name                    p99\n"
	       "  .../tokio.rs:115:9  75.8 ms\n"
	       "  draw                   0 ns\n");
	columns_free(&c);
}

Test(columns, texts_are_broken_over_lines)
{
	static const struct column texts[] = { { NULL, COLUMN_WORD, 0, 0 }, { NULL, COLUMN_TEXT, 10, 0 } };
	struct columns c = { .list = texts, .n = 2 };

	columns_str(&c, "convert");
	columns_str(&c, "Writes traces in another format.");
	columns_str(&c, "cat");
	columns_str(&c, "");
	columns_str(&c, "x");
	columns_str(&c, "Short.");
	expect(&c, 24,
	       "convert  Writes traces\n"
	       "         in another\n"
	       "         format.\n"
	       "cat\n"
	       "x        Short.\n");
	columns_free(&c);
}

/* page.css breaks no words and no numbers. */
Test(columns, kinds_are_classes_in_html)
{
	static const struct column kinds[] = {
		{ "busy", COLUMN_NUMBER, 0, 0 },
		{ "", COLUMN_WORD, 0, 0 },
		{ "name", COLUMN_NAME, 12, 0 },
	};
	struct columns c = { .list = kinds, .n = 3 };
	struct text t = { .p = NULL };

	columns_u64(&c, 7);
	columns_str(&c, "####");
	columns_name(&c, SLICE_LIT("<b>"));
	columns_end(&c, &t, FORM_HTML, "t", 1, 1, 0);
	text_char(&t, 0);
	cr_expect_not_null(strstr(t.p, "<th scope=\"col\" class=\"n\">busy</th><td class=\"w\"></td>"
	                               "<th scope=\"col\">name</th>"),
	                   "%s", t.p);
	cr_expect_not_null(strstr(t.p, "<tr><td class=\"n\">7</td><td class=\"w\">####</td>"
	                               "<td class=\"t\">&lt;b&gt;</td></tr>"),
	                   "%s", t.p);
	text_free(&t);
}
