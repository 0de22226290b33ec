#include "cmd/policy_options.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "base/array.h"
#include "cmd/say.h"
#include "format/registry.h"

const char *const policy_levels[] = { "note", "warning", "error", NULL };
const char *const policy_fail_levels[] = { "note", "warning", "error", "never", NULL };

struct rows {
	struct policy_row *list;
	uint32_t n, cap;
	bool failed;
};

static void
add_row(void *ctx, const struct rule *rule)
{
	struct rows *const rows = ctx;

	if (!array_room(&rows->list, rows->n, &rows->cap, sizeof *rows->list)) {
		rows->failed = true;
		return;
	}
	rows->list[rows->n++] = (struct policy_row){ .rule = rule, .level = rule->level };
}

bool
policy_options_init(struct policy_options *p, struct options *o)
{
	struct rows rows = { .n = 0 };

	rules_visit(add_row, &rows);
	*p = (struct policy_options){ .rows = rows.list };
	p->policy =
	    (struct policy){ .rows = rows.list, .n = rows.n, .fail_level = LEVEL_ERROR, .most = UINT64_MAX };
	if (rows.failed) {
		options_no_memory(o);
	}
	return !rows.failed;
}

void
policy_options_free(struct policy_options *p)
{
	free(p->rows);
}

/* ---- rules by their names ---- */

enum act { ACT_SELECT, ACT_IGNORE, ACT_LEVEL };

/* How many rules fit. */
static size_t
apply(struct policy_options *p, const char *glob, enum act act, enum level level)
{
	size_t n = 0;

	for (size_t i = 0; i < p->policy.n; i++) {
		struct policy_row *const row = &p->rows[i];
		if (fnmatch(glob, row->rule->id, 0) != 0)
			continue;
		n++;
		if (act == ACT_SELECT)
			row->selected = true;
		else if (act == ACT_IGNORE)
			row->ignored = true;
		else
			row->level = level;
	}
	for (size_t i = 0; i < p->policy.n; i++)
		p->rows[i].left_out = p->rows[i].ignored || (p->selecting && !p->rows[i].selected);
	return n;
}

static bool
refuse(struct options *o, const char *option, const char *glob)
{
	const char *const nearest = rule_nearest_name(glob);
	struct shown_path shown;

	show_path(&shown, glob);
	if (nearest != NULL)
		o->status =
		    options_mistake(o, "%s: no rule fits %s; did you mean %s?", option, shown.s, nearest);
	else
		o->status =
		    options_mistake(o, "%s: no rule fits %s; tracetool rules lists them", option, shown.s);
	return false;
}

bool
policy_select(struct policy_options *p, struct options *o, const char *glob)
{
	p->selecting = true;
	return apply(p, glob, ACT_SELECT, LEVEL_NOTE) > 0 || refuse(o, "--select", glob);
}

bool
policy_ignore(struct policy_options *p, struct options *o, const char *glob)
{
	return apply(p, glob, ACT_IGNORE, LEVEL_NOTE) > 0 || refuse(o, "--ignore", glob);
}

bool
policy_level(struct policy_options *p, struct options *o, const char *arg)
{
	const char *const equals = strchr(arg, '=');
	struct shown_path shown;

	if (equals == NULL) {
		o->status = options_mistake(o, "--level takes RULE=LEVEL, not %s", show_path(&shown, arg));
		return false;
	}
	const int level = options_word(o, "--level RULE=LEVEL", equals + 1, policy_levels);
	if (level < 0)
		return false;
	char *const glob = strndup(arg, (size_t)(equals - arg));
	if (glob == NULL) {
		options_no_memory(o);
		return false;
	}
	const bool ok = apply(p, glob, ACT_LEVEL, (enum level)level) > 0 || refuse(o, "--level", glob);
	free(glob);
	return ok;
}

bool
policy_fail_level(struct policy_options *p, struct options *o, const char *arg)
{
	p->policy.fail_level = options_word(o, "--fail-level", arg, policy_fail_levels);
	return p->policy.fail_level >= 0;
}
