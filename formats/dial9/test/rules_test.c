/* Every rule has a bad sample that provokes it, or a test that is named here. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"

#define BAD "testdata/dial9/bad"

/* Rules that no small file of bytes provokes, with where they are tested. */
static const char *const elsewhere[] = {
	"dial9/bad-magic",       /* dial9_cli: only when the format is named */
	"dial9/not-in-document", /* dial9_cli: only with --from-dialect 0.3 */
	"dial9/names-late",      /* dial9_convert: only on a pipe */
	"dial9/limit",           /* dial9_limits: a file of some MB; so too the next one */
	"dial9/pool-limit",      NULL,
};

static bool is_elsewhere(const char *id)
{
	for (size_t i = 0; elsewhere[i] != NULL; i++)
		if (strcmp(elsewhere[i], id) == 0)
			return true;
	return false;
}

static bool has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* A sample is named after the rule it is there for, and expects nothing else. */
static bool provokes(const char *name, const char *id)
{
	const char *const words = strchr(id, '/') + 1;
	char path[1024], line[200];
	bool found = false;
	size_t n;

	if (!has_prefix(name, words))
		return false;
	snprintf(path, sizeof path, BAD "/%s", name);
	snprintf(line, sizeof line, "%s ", id);
	char *const text = read_whole(path, &n);
	cr_assert_not_null(text, "%s", path);
	for (char *row = strtok(strchr(text, '\n'), "\n"); row != NULL; row = strtok(NULL, "\n")) {
		found = found || has_prefix(row, line);
		cr_expect(has_prefix(row, line), "%s: %s", path, row);
	}
	free(text);
	return found;
}

Test(dial9_rules, every_rule_has_a_bad_sample)
{
	char **const names = list_folder(BAD, ".expect");
	const struct format *const f = format_by_name("dial9");

	cr_assert_not_null(names[0]);
	for (const struct rule *r = f->rules; r->id != NULL; r++) {
		bool found = false;
		for (size_t i = 0; names[i] != NULL; i++)
			found = provokes(names[i], r->id) || found;
		cr_expect(found != is_elsewhere(r->id), "%s", r->id);
	}
	list_free(names);
}
