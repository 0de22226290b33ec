/* Every rule has a bad sample that provokes it, or a test that is named here. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli_test_util.h"
#include "format/registry.h"

#define BAD "testdata/htdump/bad"

/* Rules that no small file of bytes can provoke, with where they are tested. */
static const char *const elsewhere[] = {
	"htdump/limit",         /* htdump_limits: a file of some MB */
	"htdump/thread-limit",  /* htdump_limits: likewise */
	"htdump/bad-label-map", /* cmd: a bad file of the user */
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

/* Whether a sidecar files file expects the rule. */
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
		found = strstr(text, line) != NULL;
		free(text);
	}
	return found;
}

Test(htdump_rules, every_rule_has_a_bad_sample)
{
	char **const names = list_folder(BAD, ".expect");
	const struct format *const f = format_by_name("htdump");

	cr_assert_not_null(names[0]);
	for (const struct rule *r = f->rules; r->id != NULL; r++)
		cr_expect(some_sample_expects(names, r->id) != is_elsewhere(r->id), "%s", r->id);
	list_free(names);
}

Test(htdump_rules, ids_are_unique_and_named_after_the_format)
{
	const struct format *const f = format_by_name("htdump");

	for (const struct rule *r = f->rules; r->id != NULL; r++) {
		cr_expect(strncmp(r->id, "htdump/", 7) == 0, "%s", r->id);
		cr_expect(strlen(r->text) > 0 && strlen(r->explain) > 0, "%s", r->id);
		cr_expect_eq(rule_by_id(r->id), r, "%s", r->id);
	}
}
