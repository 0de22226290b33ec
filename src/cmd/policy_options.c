#include "cmd/policy_options.h"

#include "cmd/say.h"

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

/* Whether the pattern fits a rule; if not, that is a mistake. */
static bool
fits(struct options *o, const char *option, const char *glob)
{
	const char *nearest;
	struct shown_path shown;

	if (policy_fits_rule(glob, &nearest))
		return true;
	show_path(&shown, glob);
	if (nearest != NULL)
		o->status =
		    options_mistake(o, "%s: no rule fits %s; did you mean %s?", option, shown.s, nearest);
	else
		o->status =
		    options_mistake(o, "%s: no rule fits %s; tracetool rules lists them", option, shown.s);
	return false;
}

static bool
taken(struct options *o, bool ok)
{
	if (!ok)
		options_no_memory(o);
	return ok;
}

bool
policy_select(struct policy_options *p, struct options *o, const char *glob)
{
	return fits(o, "--select-rules", glob) && taken(o, policy_choice_select(&p->choice, glob));
}

bool
policy_ignore(struct policy_options *p, struct options *o, const char *glob)
{
	return fits(o, "--ignore-rules", glob) && taken(o, policy_choice_ignore(&p->choice, glob));
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
	return taken(o, glob.p != NULL) && fits(o, "--level", glob.p) &&
	       taken(o, policy_choice_level(&p->choice, glob.p, (enum level)level));
}

bool
policy_fail_level(struct policy_options *p, struct options *o, const char *arg)
{
	p->choice.fail_level = options_word(o, "--fail-level", arg, policy_fail_levels);
	return p->choice.fail_level >= 0;
}
