#include "cmd/policy_options.h"

#include "cmd/say.h"
#include "format/registry.h"

const char *const policy_levels[] = { "note", "warning", "error", NULL };
const char *const policy_fail_levels[] = { "note", "warning", "error", "never", NULL };

void
policy_options_init(struct policy_options *p)
{
	*p = (struct policy_options){ .choice = POLICY_CHOICE_NONE, .limit = UINT64_MAX };
}

void
policy_options_free(struct policy_options *p)
{
	policy_choice_free(&p->choice);
	arena_free(&p->arena);
}

/* A pattern that fits no rule is a mistake. */
static bool
add(struct policy_options *p, struct options *o, const char *option, enum policy_choice_key key,
    const char *glob, enum level level)
{
	struct shown_path shown;
	bool fits;

	if (!policy_choice_add(&p->choice, key, slice_str(glob), level, &fits)) {
		options_no_memory(o);
		return false;
	}
	if (fits)
		return true;
	const char *const nearest = rule_nearest_name(glob);
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
	return add(p, o, "--select-rules", CHOICE_SELECT, glob, LEVEL_NOTE);
}

bool
policy_ignore(struct policy_options *p, struct options *o, const char *glob)
{
	return add(p, o, "--ignore-rules", CHOICE_IGNORE, glob, LEVEL_NOTE);
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
	const struct slice glob = arena_copy(&p->arena, slice_of(arg, (size_t)(equals - arg)));
	if (glob.p == NULL) {
		options_no_memory(o);
		return false;
	}
	return add(p, o, "--level", CHOICE_LEVEL, glob.p, (enum level)level);
}

bool
policy_fail_level(struct policy_options *p, struct options *o, const char *arg)
{
	p->choice.fail_level = options_word(o, "--fail-level", arg, policy_fail_levels);
	return p->choice.fail_level >= 0;
}
