/* Every rule has a bad sample that provokes it, or a test that is named here. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli_test_util.h"
#include "format/registry.h"
#include "heph/heph_wire.h"

#define BAD "testdata/heph/bad"

/* Rules that no small file can provoke, with where they are tested. */
static const char *const elsewhere[] = {
	"heph/stream-limit",    /* heph_limits: a file of some MB */
	"heph/epoch-of-others", /* heph_cli: needs two files */
	NULL,
};

static bool
is_elsewhere(const char *id)
{
	for (size_t i = 0; elsewhere[i] != NULL; i++)
		if (strcmp(elsewhere[i], id) == 0)
			return true;
	return false;
}

/* Whether a sidecar files file expects the rule first of all. */
static bool
some_sample_expects(char **names, const char *id)
{
	char path[1024], line[200];
	bool found = false;

	for (size_t i = 0; names[i] != NULL && !found; i++) {
		size_t n;
		snprintf(path, sizeof path, BAD "/%s", names[i]);
		snprintf(line, sizeof line, "\n%s ", id);
		char *const text = read_whole(path, &n);
		cr_assert_not_null(text, "%s", path);
		found = strncmp(text + strcspn(text, "\n"), line, strlen(line)) == 0;
		free(text);
	}
	return found;
}

Test(heph_rules, every_rule_has_a_bad_sample)
{
	char **const names = list_folder(BAD, ".expect");
	const struct format *const f = format_by_name("heph");

	cr_assert_not_null(names[0]);
	for (const struct rule *r = f->rules; r->id != NULL; r++)
		cr_expect(some_sample_expects(names, r->id) != is_elsewhere(r->id), "%s", r->id);
	list_free(names);
}

Test(heph_rules, ids_are_unique_and_named_after_the_format)
{
	const struct format *const f = format_by_name("heph");

	for (const struct rule *r = f->rules; r->id != NULL; r++) {
		cr_expect(strncmp(r->id, "heph/", 5) == 0, "%s", r->id);
		cr_expect(strlen(r->text) > 0 && strlen(r->explain) > 0, "%s", r->id);
		cr_expect_eq(rule_by_id(r->id), r, "%s", r->id);
	}
}

/* The number with commas, as the manual page has it, behind these words. */
static void
expect_limit(const char *page, const char *words, unsigned v)
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
	expect_limit(page, "size of a packet", HEPH_MAX_PACKET >> 20);
	expect_limit(page, "attributes of one event", HEPH_MAX_ATTRIBUTES);
	expect_limit(page, "elements of all arrays of one event", HEPH_MAX_ELEMENTS);
	expect_limit(page, "streams that are distinguished", HEPH_MAX_STREAMS);
	free(page);
}
