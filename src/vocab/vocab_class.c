#include "vocab/vocab_state.h"

/* What a rule says of the class itself: the parts of its name, and the category that they make. */

#define MAX_TEXT 255U /* bytes between two parts */

/* A template, or a list of them. */
void
vocab_templates(struct vocab_draft *d, const struct yaml_node *value, const char *what,
                const struct plan_template **out, uint32_t *n)
{
	const bool list = value->kind == NODE_LIST;
	struct plan_template *const all = vocab_alloc(d, list ? value->n : 1, sizeof *all);

	if (all == NULL)
		return;
	*out = all;
	for (const struct yaml_node *item = list ? value->child : value; item != NULL;
	     item = list ? item->next : NULL)
		if (vocab_template(d, item, what, &all[*n]))
			++*n;
	if (list && value->n == 0)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "%s is an empty list", what);
}

/* Whether a name can be taken apart by it. */
static bool
is_shape(struct vocab_draft *d, const struct yaml_node *value, const struct plan_template *t)
{
	uint32_t refs = 0;

	for (uint32_t i = 0; i < t->nparts; i++) {
		const struct plan_part *const p = &t->parts[i];
		refs += p->ref.nfields > 0;
		if (p->ref.ntables > 0) {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "parts names parts: nothing is looked up");
			return false;
		}
		if (i > 0 && p->ref.nfields > 0 && (p->text.n == 0 || p->text.n > MAX_TEXT)) {
			vocab_say(d, VOCAB_RULE_BAD_VALUE, value,
			          "between two parts there are 1 to %u bytes of text, not %u", MAX_TEXT,
			          p->text.n);
			return false;
		}
	}
	if (refs == 0)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "parts has no {part} in it");
	return refs > 0;
}

void
vocab_take_parts(struct vocab_draft *d, const struct yaml_node *value, struct plan *m)
{
	vocab_templates(d, value, "parts", &m->shapes, &m->nshapes);
	if (m->named.p != NULL)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value,
		          "parts does not go with named: the events of a class share them");
	for (uint32_t i = 0; i < m->nshapes; i++)
		if (!is_shape(d, value, &m->shapes[i]))
			return;
}

static bool
has_part(const struct plan *m, struct slice name)
{
	for (uint32_t i = 0; i < m->nshapes; i++)
		for (uint32_t k = 0; k < m->shapes[i].nparts; k++)
			if (m->shapes[i].parts[k].ref.nfields > 0 &&
			    slice_equal(m->shapes[i].parts[k].ref.field[0], name))
				return true;
	return false;
}

/* A category is the class's: it can only refer to parts of the name. */
static void
check_category(struct vocab_draft *d, const struct yaml_node *value, const struct plan *m,
               const struct plan_template *t)
{
	struct quoted q;

	for (uint32_t i = 0; i < t->nparts; i++) {
		const struct plan_ref *const ref = &t->parts[i].ref;
		if (ref->nfields == 0 || (ref->ntables == 0 && has_part(m, ref->field[0])))
			continue;
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "category can only refer to parts, not to %s",
		          quoted(&q, ref->field[0]));
		return;
	}
}

void
vocab_take_category(struct vocab_draft *d, const struct yaml_node *value, struct plan *m)
{
	if (value->kind == NODE_SCALAR && memchr(value->text.p, '{', value->text.n) == NULL) {
		vocab_text(d, value, "category", &m->category);
		return;
	}
	vocab_templates(d, value, "category", &m->categories, &m->ncategories);
	for (uint32_t i = 0; i < m->ncategories; i++)
		check_category(d, value, m, &m->categories[i]);
}

/* ---- values that mean nothing ---- */

static bool
take_number(struct vocab_draft *d, const struct yaml_node *node, uint64_t *number)
{
	struct quoted q;

	if (node->kind == NODE_SCALAR && vocab_take_id(node->text, number))
		return true;
	vocab_say(d, VOCAB_RULE_BAD_VALUE, node, "none has a value that is no number: %s",
	          quoted(&q, node->kind == NODE_SCALAR ? node->text : SLICE_LIT("")));
	return false;
}

static void
take_field(struct vocab_draft *d, const struct yaml_node *key)
{
	const struct yaml_node *const value = key->next;
	const bool list = value->kind == NODE_LIST;
	uint64_t *const numbers = vocab_alloc(d, list ? value->n : 1, sizeof *numbers);
	struct vocab_none *const none = vocab_alloc(d, 1, sizeof *none);

	if (numbers == NULL || none == NULL || !vocab_text(d, key, "the name of a field", &none->field))
		return;
	if (list && value->n > VOCAB_MAX_NONE) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "none has more than %u values of one field",
		          VOCAB_MAX_NONE);
		return;
	}
	none->none.values = numbers;
	for (const struct yaml_node *item = list ? value->child : value; item != NULL;
	     item = list ? item->next : NULL)
		if (take_number(d, item, &numbers[none->none.n]))
			none->none.n++;
	none->next = d->nones;
	d->nones = none;
}

void
vocab_take_none(struct vocab_draft *d, const struct yaml_node *value, void *ctx)
{
	uint32_t fields = 0;

	if (value->kind != NODE_MAP) {
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "none is a mapping of fields to numbers");
		return;
	}
	for (const struct yaml_node *key = value->child; key != NULL; key = key->next->next)
		if (fields++ < VOCAB_MAX_NONE)
			take_field(d, key);
	if (fields > VOCAB_MAX_NONE)
		vocab_say(d, VOCAB_RULE_BAD_VALUE, value, "none has more than %u fields", VOCAB_MAX_NONE);
}

struct plan_none
vocab_none_of(const struct vocab_draft *d, struct slice field)
{
	const struct vocab_none *n = d->nones;

	while (n != NULL && !slice_equal(n->field, field))
		n = n->next;
	return n != NULL ? n->none : (struct plan_none){ NULL, 0 };
}
