/*
 * Which policy is for a folder, and which findings count.  A pattern is compared with all rules once, when it
 * is added; a choice is an array of effects, one for each rule.
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

static void count_rule(void *ctx, const struct rule *rule)
{
	size_t *const n = ctx;

	++*n;
}

/* A pattern while it is compared with all rules. */
struct choice_pattern {
	struct policy_effect *next;
	enum policy_choice_key key;
	struct slice rules;
	enum level level;
	bool fits;
};

static void try_rule(void *ctx, const struct rule *rule)
{
	struct choice_pattern *const k = ctx;
	struct policy_effect *const e = k->next++;

	if (!glob_fits(k->rules, slice_str(rule->id)))
		return;
	k->fits = true;
	e->selected |= k->key == CHOICE_SELECT;
	e->ignored |= k->key == CHOICE_IGNORE;
	if (k->key == CHOICE_LEVEL)
		e->level = (int)k->level;
}

static bool new_effects(struct policy_choice *c)
{
	size_t n = 0;

	if (c->effects != NULL)
		return true;
	rules_visit(count_rule, &n);
	c->effects = calloc(n + 1, sizeof *c->effects);
	for (size_t i = 0; c->effects != NULL && i < n; i++)
		c->effects[i].level = -1;
	return c->effects != NULL;
}

bool policy_choice_add(struct policy_choice *c, enum policy_choice_key key, struct slice rules,
                       enum level level, bool *fits)
{
	struct choice_pattern k = { .key = key, .rules = rules, .level = level };

	if (!new_effects(c))
		return false;
	k.next = c->effects;
	rules_visit(try_rule, &k);
	c->selects |= key == CHOICE_SELECT;
	*fits = k.fits;
	return true;
}

void policy_choice_free(struct policy_choice *c)
{
	free(c->effects);
	*c = (struct policy_choice)POLICY_CHOICE_NONE;
}

/* ---- rules with their levels ---- */

struct rows {
	struct policy_row *list;
	uint32_t n, cap;
	bool failed;
};

static void add_row(void *ctx, const struct rule *rule)
{
	struct rows *const rows = ctx;

	if (array_room(&rows->list, rows->n, &rows->cap, sizeof *rows->list))
		rows->list[rows->n++] = (struct policy_row){ .rule = rule, .level = rule->level };
	else
		rows->failed = true;
}

struct policy_row *policy_rows_new(size_t *n)
{
	struct rows rows = { .n = 0 };

	rules_visit(add_row, &rows);
	if (rows.failed) {
		free(rows.list);
		return NULL;
	}
	*n = rows.n;
	return rows.list;
}

void policy_rows_reset(struct policy_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct policy_row){ .rule = rows[i].rule, .level = rows[i].rule->level };
}

void policy_apply(struct policy *p, struct policy_row *rows, const struct policy_choice *c)
{
	for (size_t i = 0; c->effects != NULL && i < p->n; i++) {
		const struct policy_effect *const e = &c->effects[i];
		struct policy_row *const row = &rows[i];
		if (c->selects) {
			row->selected = e->selected;
			row->ignored = row->ignored && !row->selected;
			row->left_out = !row->selected;
		}
		row->ignored = row->ignored || e->ignored;
		row->left_out = row->left_out || row->ignored;
		if (e->level >= 0)
			row->level = (enum level)e->level;
	}
	if (c->fail_level >= 0) {
		p->fail_level = c->fail_level;
		p->exit_zero = false;
	}
	if (c->exit_zero >= 0)
		p->exit_zero = c->exit_zero == 1;
}
