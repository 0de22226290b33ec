/* Every rule has a sample that provokes it, or a test that is named here. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli_test_util.h"
#include "format/registry.h"

/* Rules that no small file can provoke, with where they are tested. */
static const char *const elsewhere[] = {
	"dftracer/hash-late",       /* dftracer_cli: on a pipe */
	"dftracer/limit",           /* dftracer_limits: files of some MB */
	"dftracer/record-too-long", /* dftracer_limits: likewise */
	"dftracer/thread-limit",    /* dftracer_limits: likewise */
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

/* Whether the sidecar files of a sample in the folder expects the rule. */
static bool
is_expected(const char *folder, const char *id)
{
	char **const names = list_folder(folder, ".expect");
	char path[1024], line[200];
	bool found = false;

	cr_assert_not_null(names[0], "%s", folder);
	snprintf(line, sizeof line, "\n%s ", id);
	for (size_t i = 0; names[i] != NULL && !found; i++) {
		size_t n;
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		char *const text = read_whole(path, &n);
		cr_assert_not_null(text, "%s", path);
		found = strstr(text, line) != NULL;
		free(text);
	}
	list_free(names);
	return found;
}

Test(dftracer_rules, every_rule_has_a_sample)
{
	for (const struct rule *r = format_by_name("dftracer")->rules; r->id != NULL; r++) {
		const char *const id = r->id;
		/* notes are what sound traces of some dialect have */
		const bool found = is_expected("testdata/dftracer/bad", id) ||
		                   (r->level == LEVEL_NOTE && is_expected("testdata/dftracer/good", id));
		cr_expect(found != is_elsewhere(id), "%s", id);
	}
}

Test(dftracer_rules, ids_are_unique_and_named_after_the_format)
{
	for (const struct rule *r = format_by_name("dftracer")->rules; r->id != NULL; r++) {
		cr_expect(strncmp(r->id, "dftracer/", 9) == 0, "%s", r->id);
		cr_expect(strlen(r->text) > 0 && strlen(r->explain) > 0, "%s", r->id);
		cr_expect_eq(rule_by_id(r->id), r, "%s", r->id);
	}
}
