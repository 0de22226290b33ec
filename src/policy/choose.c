/*
 * Finds the policy of a folder, and collects its settings for rules.  A pattern is matched against all rules
 * once, when it is added; a choice is an array of effects, one per rule.
 */
#define _XOPEN_SOURCE 700 /* realpath() */

#include "policy/policy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/match.h"
#include "base/memory.h"
#include "format/registry.h"

/* ---- the policy of a folder ---- */

/* Returns true if the folder of n bytes contains a file of this name, and writes its path to `path`, which
 * has space for both.  *error: errno if stat() fails otherwise. */
static bool has_file(char *path, const char *folder, size_t n, const char *name, int *error)
{
	struct stat st;

	memcpy(path, folder, n);
	sprintf(path + n, "%s%s", n > 0 && folder[n - 1] == '/' ? "" : "/", name);
	if (stat(path, &st) == 0)
		return true;
	if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
		*error = errno;
	return false;
}

/* Returns the length of the parent folder, or 0. */
static size_t parent_length(const char *folder, size_t n)
{
	if (n <= 1)
		return 0;
	while (n > 1 && folder[n - 1] != '/')
		n--;
	return n > 1 ? n - 1 : 1;
}

/* Returns the length of the folder where the search ends. */
static size_t root_length(char *path, const char *folder, const char *here, int *error)
{
	const size_t n = strlen(folder), h = strlen(here);

	for (size_t i = n; i > 0; i = parent_length(folder, i))
		if (has_file(path, folder, i, ".git", error))
			return i;
	if (strncmp(folder, here, h) == 0 && (folder[h] == '\0' || folder[h] == '/' || h == 1))
		return h;
	return n;
}

char *policy_find(const char *folder, const char *here, int *error)
{
	char *const full = realpath(folder, NULL);
	bool found = false;

	*error = full != NULL || errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : errno;
	if (full == NULL)
		return NULL;
	char *path = malloc(strlen(full) + sizeof POLICY_NAME + 8);
	if (path != NULL) {
		const size_t root = root_length(path, full, here, error);
		for (size_t n = strlen(full); n >= root && n > 0 && !found; n = parent_length(full, n))
			found = has_file(path, full, n, POLICY_NAME, error);
	} else {
		*error = ENOMEM;
	}
	free(full);
	if (!found || *error != 0) {
		free(path);
		path = NULL;
	}
	return path;
}

/* ---- patterns of rules ---- */

struct new_effects {
	struct policy_choice *choice;
	uint32_t cap;
	bool failed;
};

static void add_effect(void *ctx, const struct rule *rule)
{
	struct new_effects *const k = ctx;
	struct policy_choice *const c = k->choice;

	if (array_reserve(&c->effects, (uint32_t)c->n, &k->cap, sizeof *c->effects))
		c->effects[c->n++] = (struct policy_effect){ .rule = rule, .level = -1 };
	else
		k->failed = true;
}

bool policy_choice_add(struct policy_choice *c, enum policy_choice_key key, struct slice rules,
                       enum level level, bool *fits)
{
	struct new_effects fresh = { .choice = c };

	if (c->n == 0)
		rules_visit(add_effect, &fresh);
	if (fresh.failed)
		return false;
	c->selects |= key == CHOICE_SELECT;
	*fits = false;
	for (size_t i = 0; i < c->n; i++) {
		struct policy_effect *const e = &c->effects[i];
		if (!glob_fits(rules, slice_str(e->rule->id)))
			continue;
		*fits = true;
		e->selected |= key == CHOICE_SELECT;
		e->ignored |= key == CHOICE_IGNORE;
		if (key == CHOICE_LEVEL)
			e->level = (int)level;
	}
	return true;
}

void policy_choice_free(struct policy_choice *c)
{
	free(c->effects);
	*c = (struct policy_choice)POLICY_CHOICE_NONE;
}
