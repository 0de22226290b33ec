/* Samples of all rules, limits in the manual page, and the inline check of text in heph.h. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "heph/heph.h"

/* Rules that no small file can violate; tested elsewhere. */
static const char *const elsewhere[] = {
	"heph/stream-limit", /* heph_limits: files of some MB */
	"heph/limit",
	NULL,
};

Test(heph_rules, every_rule_has_a_sample)
{
	expect_samples_of_rules("heph", elsewhere);
}

/* Expects a row of the manual page: words, then the number with commas. */
static void expect_limit(const char *page, const char *words, unsigned v)
{
	char item[128];

	if (v < 1000)
		snprintf(item, sizeof item, "\n.It %s Ta %u", words, v);
	else
		snprintf(item, sizeof item, "\n.It %s Ta %u,%03u\n", words, v / 1000, v % 1000);
	cr_expect_not_null(strstr(page, item), "the page lacks: %s", item);
}

Test(heph_rules, limits_of_the_page_are_those_of_the_program)
{
	size_t n;
	char *const page = read_whole("man/tracetool-heph.5", &n);

	cr_assert_not_null(page);
	expect_limit(page, "attributes of one event", HEPH_MAX_ATTRIBUTES);
	expect_limit(page, "elements of all arrays of one event, at least", HEPH_MAX_ELEMENTS);
	expect_limit(page, "streams that are distinguished", HEPH_MAX_STREAMS);
	free(page);
}

#define MAX 70U

/* A byte that is not ASCII is detected at each position, and none outside the text. */
Test(heph_text, each_byte_is_looked_at)
{
	char text[MAX + 2];

	for (uint32_t n = 0; n <= MAX; n++) {
		memset(text, '\x80', sizeof text);
		memset(text + 1, 'x', n);
		cr_expect(heph_is_ascii(text + 1, n), "%u bytes", n);
		for (uint32_t i = 1; i <= n; i++) {
			text[i] = (char)0xc3;
			cr_expect_not(heph_is_ascii(text + 1, n), "byte %u of %u", i, n);
			text[i] = 'x';
		}
	}
}
