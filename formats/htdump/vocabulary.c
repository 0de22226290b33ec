#include "htdump/vocabulary.h"

#include "htdump/label.h"
#include "htdump/state.h"
#include "htdump/track.h"

/*
 * How events of a class are interpreted is a vocabulary's matter.  Where it names
 * no more than the fields that are the duration, the name and the thread, the
 * reader applies it: it knows the places of fields in advance, and labels that
 * come later.  All else the engine does, and gets all fields as they are.
 */

/* The leaf of this name, or HT_NO_LEAF; members of structs have no role.  A field of the class itself goes
 * before an inherited one, so the last wins. */
static uint32_t
leaf_named(const void *ctx, struct slice name)
{
	const struct ht_plan *const plan = ctx;

	for (uint32_t i = plan->nleaves; name.p != NULL && i > 0; i--)
		if (!plan->leaves[i - 1].member && slice_equal(plan->paths[i - 1], name))
			return i - 1;
	return HT_NO_LEAF;
}

static bool
has_leaf(const void *ctx, struct slice name)
{
	return leaf_named(ctx, name) != HT_NO_LEAF;
}

static bool
has_any(const void *ctx, struct slice name)
{
	(void)ctx;
	(void)name;
	return true;
}

static uint8_t
leaf_type(const void *ctx, uint32_t leaf)
{
	const struct ht_plan *const plan = ctx;

	return plan->leaves[leaf].value;
}

static uint8_t
label_table(const struct trace *trace)
{
	const struct vocabulary *const v = trace->vocabulary;

	return v != NULL ? v->ops->table(v, SLICE_LIT("label")) : PLAN_NO_TABLE;
}

/* ---- mappings ---- */

/* It puts the text of one field under the number of another into the table of labels. */
static bool
defines_labels(const struct trace *trace, const struct class_plan *p)
{
	return p->plan != NULL && p->plan->phase == PLAN_STRUCTURE &&
	       (p->says & CLASS_PLAN_DEFINITION) != 0 && p->table != PLAN_NO_TABLE &&
	       p->table == label_table(trace);
}

bool
ht_vocabulary_may_map(const struct ht_state *st, struct slice name)
{
	const struct vocabulary *const v = st->r->trace->vocabulary;
	struct class_plan p;

	class_plan_compile(&p, v != NULL ? v->ops->find(v, name, has_any, NULL) : NULL, NULL);
	return defines_labels(st->r->trace, &p);
}

/* A mapping that lacks what it needs is an event like any other. */
static void
apply_mapping(struct ht_class *c, struct ht_plan *plan, const struct class_plan *p)
{
	if (p->key == HT_NO_LEAF || p->value == HT_NO_LEAF || plan->leaves[p->value].value != VALUE_STRING)
		return;
	plan->identifier = p->key;
	plan->name = p->value;
	c->kind = HT_KIND_MAPPING;
}

/* ---- events ---- */

/* Whether the reader can apply all of it: labels and threads it knows by their numbers. */
static bool
is_applied(const struct class_plan *p, uint8_t labels)
{
	const unsigned mine = CLASS_PLAN_DURATION | CLASS_PLAN_NAME | CLASS_PLAN_THREAD;

	return (p->says & ~mine) == 0 && (p->name_table == PLAN_NO_TABLE || p->name_table == labels) &&
	       ((p->says & CLASS_PLAN_THREAD) == 0 || slice_is(p->thread_prefix, HT_THREAD " "));
}

static bool
looks_up(const struct plan_ref *ref, uint8_t table)
{
	for (uint32_t i = 0; i < ref->ntables; i++)
		if (ref->tables[i] == table)
			return true;
	return false;
}

/* Whether names, time lines or keys are made of labels. */
static bool
asks_for_labels(const struct plan *m, uint8_t labels)
{
	bool asks = looks_up(&m->key, labels);

	for (uint32_t i = 0; i < m->nnames; i++)
		for (uint32_t k = 0; k < m->names[i].nparts; k++)
			asks |= looks_up(&m->names[i].parts[k].ref, labels);
	for (uint32_t i = 0; i < m->ntracks; i++)
		asks |= looks_up(&m->tracks[i].number, labels);
	return asks;
}

static void
forget_roles(struct ht_plan *plan)
{
	plan->duration = plan->thread = plan->label = plan->name = plan->identifier = HT_NO_LEAF;
}

static void
apply_event(struct ht_state *st, struct ht_class *c, struct ht_plan *plan, const struct class_plan *p,
            struct class *like)
{
	const struct plan *const m = p->plan;
	const uint8_t labels = label_table(st->r->trace);
	const bool applies = is_applied(p, labels);

	like->reader_applies = applies && !st->raw;
	if (applies) {
		plan->duration = p->duration;
		plan->name = p->name;
		plan->label = p->label;
		plan->thread = p->thread;
	} else if (labels != PLAN_NO_TABLE && st->ahead_of == NULL && !st->raw &&
	           asks_for_labels(m, labels)) {
		ht_labels_share(st, labels);
	}
	if (m->phase != PLAN_STRUCTURE)
		return;
	c->version = plan_word(m, "version");
	c->kind = c->version.p != NULL ? HT_KIND_SYSTEM : HT_KIND_STRUCTURE;
}

void
ht_vocabulary_apply(struct ht_state *st, struct ht_class *c, struct ht_plan *plan, struct class *like)
{
	const struct class_plan_fields fields = { plan, leaf_named, leaf_type };
	const struct plan *m = NULL;
	struct class_plan p;

	forget_roles(plan);
	if (c->id >= HT_BUILTIN_CLASSES) {
		m = like->plan = trace_find_plan(st->r->trace, c->name, has_leaf, plan);
		c->kind = HT_KIND_EVENT;
		c->version = (struct slice){ NULL, 0, 0 };
	}
	class_plan_compile(&p, m, &fields);
	if (defines_labels(st->r->trace, &p)) {
		like->reader_applies = !st->raw;
		apply_mapping(c, plan, &p);
	} else if (m != NULL) {
		apply_event(st, c, plan, &p, like);
	}
	plan->always_fields = class_needs_fields(like);
	plan->want =
	    c->kind == HT_KIND_EVENT ? WANT_TIMES : WANT_STRUCTURE | (plan->always_fields ? WANT_TIMES : 0);
}
