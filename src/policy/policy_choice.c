#include "policy/policy_choice.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/glob.h"
#include "format/registry.h"

bool
policy_choice_select(struct policy_choice *c, const char *rules)
{
	if (!array_room(&c->select, c->nselect, &c->select_cap, sizeof *c->select))
		return false;
	c->select[c->nselect++] = rules;
	return true;
}

bool
policy_choice_ignore(struct policy_choice *c, const char *rules)
{
	if (!array_room(&c->ignore, c->nignore, &c->ignore_cap, sizeof *c->ignore))
		return false;
	c->ignore[c->nignore++] = rules;
	return true;
}

bool
policy_choice_level(struct policy_choice *c, const char *rules, enum level level)
{
	if (!array_room(&c->levels, c->nlevels, &c->levels_cap, sizeof *c->levels))
		return false;
	c->levels[c->nlevels++] = (struct policy_level){ rules, level };
	return true;
}

void
policy_choice_free(struct policy_choice *c)
{
	free(c->select);
	free(c->ignore);
	free(c->levels);
	*c = (struct policy_choice)POLICY_CHOICE_NONE;
}

static bool
fits(const char *pattern, const struct rule *rule)
{
	return glob_fits(slice_str(pattern), slice_str(rule->id));
}

struct fit {
	const char *pattern;
	bool any;
};

static void
try_rule(void *ctx, const struct rule *rule)
{
	struct fit *const f = ctx;

	f->any = f->any || fits(f->pattern, rule);
}

bool
policy_fits_rule(const char *rules, const char **nearest)
{
	struct fit f = { .pattern = rules };

	rules_visit(try_rule, &f);
	*nearest = f.any ? NULL : rule_nearest_name(rules);
	return f.any;
}

/* ---- rows ---- */

struct rows {
	struct policy_row *list;
	uint32_t n, cap;
	bool failed;
};

static void
add_row(void *ctx, const struct rule *rule)
{
	struct rows *const rows = ctx;

	if (array_room(&rows->list, rows->n, &rows->cap, sizeof *rows->list))
		rows->list[rows->n++] = (struct policy_row){ .rule = rule, .level = rule->level };
	else
		rows->failed = true;
}

struct policy_row *
policy_rows_new(size_t *n)
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

void
policy_rows_reset(struct policy_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct policy_row){ .rule = rows[i].rule, .level = rows[i].rule->level };
}

static bool
fits_any(const char *const *patterns, uint32_t n, const struct rule *rule)
{
	for (uint32_t i = 0; i < n; i++)
		if (fits(patterns[i], rule))
			return true;
	return false;
}

void
policy_apply(struct policy *p, struct policy_row *rows, const struct policy_choice *c)
{
	for (size_t i = 0; i < p->n; i++) {
		struct policy_row *const row = &rows[i];
		if (c->nselect > 0) {
			row->selected = fits_any(c->select, c->nselect, row->rule);
			row->ignored = row->ignored && !row->selected;
			row->left_out = !row->selected;
		}
		row->ignored = row->ignored || fits_any(c->ignore, c->nignore, row->rule);
		row->left_out = row->left_out || row->ignored;
		for (uint32_t k = 0; k < c->nlevels; k++)
			if (fits(c->levels[k].rules, row->rule))
				row->level = c->levels[k].level;
	}
	if (c->fail_level >= 0) {
		p->fail_level = c->fail_level;
		p->exit_zero = false;
	}
	if (c->exit_zero >= 0)
		p->exit_zero = c->exit_zero == 1;
}
