#include "base/glob.h"
#include "base/units.h"
#include "policy/policy_draft.h"

/* The plain values of policies. */

void *
policy_alloc(struct policy_draft *d, size_t n, size_t size)
{
	void *const p = arena_zalloc(&d->file->arena, n, size);

	d->yaml.no_memory |= p == NULL;
	return p;
}

bool
policy_map(struct policy_draft *d, const struct yaml_node *node, const char *what,
           const struct policy_key *keys, size_t n, void *into)
{
	const struct yaml_node *values[POLICY_MAX_KEYS];
	const uint64_t mistakes = d->yaml.mistakes;

	if (!yaml_keys(&d->yaml, node, what, &keys[0].name, sizeof keys[0], n, values))
		return false;
	const bool ok = d->yaml.mistakes == mistakes;
	for (size_t i = 0; i < n; i++)
		if (values[i] != NULL)
			keys[i].take(d, values[i], into);
	return ok;
}

bool
policy_text(struct policy_draft *d, const struct yaml_node *node, const char *what, struct slice *out)
{
	if (!yaml_is_text(&d->yaml, node, what))
		return false;
	*out = arena_copy(&d->file->arena, node->text);
	d->yaml.no_memory |= out->p == NULL;
	return out->p != NULL;
}

bool
policy_pattern(struct policy_draft *d, const struct yaml_node *node, const char *what, struct slice *out)
{
	if (!policy_text(d, node, what, out))
		return false;
	if (out->n <= POLICY_MAX_PATTERN && glob_is_linear(*out) && glob_stars(*out) <= POLICY_MAX_STARS)
		return true;
	if (out->n > POLICY_MAX_PATTERN)
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "%s is longer than %u bytes", what,
		         POLICY_MAX_PATTERN);
	else if (glob_stars(*out) > POLICY_MAX_STARS)
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "%s has more than %u *", what, POLICY_MAX_STARS);
	else
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "%s has more than %u bytes between two *", what,
		         GLOB_LINEAR);
	return false;
}

bool
policy_patterns(struct policy_draft *d, const struct yaml_node *node, const char *what, uint32_t most,
                const struct slice **out, uint32_t *n)
{
	const bool list = node->kind == NODE_LIST;
	struct slice *const texts = policy_alloc(d, list ? node->n : 1, sizeof *texts);
	uint32_t i = 0;

	if (texts == NULL)
		return false;
	if (list && (node->n == 0 || node->n > most)) {
		if (node->n == 0)
			yaml_say(&d->yaml, YAML_BAD_VALUE, node, "%s is an empty list", what);
		else
			yaml_say(&d->yaml, YAML_BAD_VALUE, node, "%s has more than %u entries", what, most);
		return false;
	}
	for (const struct yaml_node *item = list ? node->child : node; item != NULL;
	     item = list ? item->next : NULL)
		if (policy_pattern(d, item, what, &texts[i]))
			i++;
	*out = texts;
	*n = i;
	return i > 0;
}

bool
policy_bool(struct policy_draft *d, const struct yaml_node *node, const char *what, bool *out)
{
	static const char *const words[] = { "false", "true", NULL };
	uint32_t i;

	if (!yaml_word(&d->yaml, node, what, words, &i))
		return false;
	*out = i == 1;
	return true;
}

bool
policy_whole(struct policy_draft *d, const struct yaml_node *node, const char *what, uint64_t *out)
{
	struct quoted q;

	if (!yaml_is_text(&d->yaml, node, what))
		return false;
	if (units_count(node->text, out))
		return true;
	yaml_say(&d->yaml, YAML_BAD_VALUE, node, "%s is a whole number such as 20, not %s", what,
	         quoted(&q, node->text));
	return false;
}

static void
take_min(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_range *const r = into;

	policy_whole(d, node, "min", &r->min);
}

static void
take_max(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_range *const r = into;

	policy_whole(d, node, "max", &r->max);
}

bool
policy_counts(struct policy_draft *d, const struct yaml_node *node, const char *what,
              struct policy_range *out)
{
	static const struct policy_key keys[] = { { "min", take_min }, { "max", take_max } };
	const uint64_t mistakes = d->yaml.mistakes;

	*out = (struct policy_range){ 0, UINT64_MAX };
	if (node->kind == NODE_SCALAR) {
		if (!policy_whole(d, node, what, &out->min))
			return false;
		out->max = out->min;
		return true;
	}
	if (!POLICY_MAP(d, node, what, keys, out) || d->yaml.mistakes != mistakes)
		return false;
	if (out->min > out->max)
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "%s: min is more than max", what);
	return out->min <= out->max;
}

/* ---- which events ---- */

void
policy_take_name(struct policy_draft *d, const struct yaml_node *node, void *who)
{
	policy_pattern(d, node, "name", &((struct policy_who *)who)->name);
}

void
policy_take_category(struct policy_draft *d, const struct yaml_node *node, void *who)
{
	policy_pattern(d, node, "category", &((struct policy_who *)who)->category);
}

void
policy_take_thread(struct policy_draft *d, const struct yaml_node *node, void *who)
{
	policy_pattern(d, node, "thread", &((struct policy_who *)who)->thread);
}

void
policy_take_kind(struct policy_draft *d, const struct yaml_node *node, void *who)
{
	static const char *const words[] = { "span", "async", "instant", "counter",
		                             NULL }; /* enum policy_kind */
	uint32_t i;

	if (yaml_word(&d->yaml, node, "kind", words, &i))
		((struct policy_who *)who)->kinds = 1U << i;
}

bool
policy_says_who(const struct policy_who *who)
{
	return who->name.p != NULL || who->category.p != NULL || who->thread.p != NULL;
}

static bool
same(struct slice a, struct slice b)
{
	return (a.p == NULL) == (b.p == NULL) && slice_equal(a, b);
}

bool
policy_same_who(const struct policy_who *a, const struct policy_who *b)
{
	return same(a->name, b->name) && same(a->category, b->category) && same(a->thread, b->thread) &&
	       a->kinds == b->kinds;
}
