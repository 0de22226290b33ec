#include "htdump/htdump_vocabulary.h"

#include "htdump/htdump_label.h"
#include "htdump/htdump_state.h"
#include "htdump/htdump_track.h"

/*
 * How events of a class are interpreted is a vocabulary's matter.  Where it names
 * no more than the fields that are the duration, the name and the thread, the
 * reader applies it: it knows the places of fields in advance, and labels that
 * come later.  All else the engine does, and gets all fields as they are.
 */

/* The leaf of this name, or HT_NO_LEAF; members of structs have no role.  A field of the class itself goes
 * before an inherited one, so the last wins. */
static uint32_t
leaf_named(const struct ht_plan *plan, struct slice name)
{
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

/* The leaf of this name if it is an integer, else HT_NO_LEAF. */
static uint32_t
integer_named(const struct ht_plan *plan, struct slice name)
{
	const uint32_t leaf = leaf_named(plan, name);

	return leaf != HT_NO_LEAF && ht_leaf_is_integer(&plan->leaves[leaf]) ? leaf : HT_NO_LEAF;
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
defines_labels(const struct trace *trace, const struct plan *m)
{
	return m->phase == PLAN_STRUCTURE && m->ndefines == 1 && m->defines[0].nkeys == 1 &&
	       m->defines[0].value.nfields == 1 && m->defines[0].value.ntables == 0 &&
	       m->defines[0].table != PLAN_NO_TABLE && m->defines[0].table == label_table(trace);
}

bool
ht_vocabulary_may_map(const struct ht_state *st, struct slice name)
{
	const struct vocabulary *const v = st->r->trace->vocabulary;
	const struct plan *const m = v != NULL ? v->ops->find(v, name, has_any, NULL) : NULL;

	return m != NULL && defines_labels(st->r->trace, m);
}

/* A mapping that lacks what it needs is an event like any other. */
static void
apply_mapping(struct ht_class *c, struct ht_plan *plan, const struct plan_define *d)
{
	const uint32_t key = integer_named(plan, d->key[0]), text = leaf_named(plan, d->value.field[0]);

	if (key == HT_NO_LEAF || text == HT_NO_LEAF || plan->leaves[text].value != VALUE_STRING)
		return;
	plan->identifier = key;
	plan->name = text;
	c->kind = HT_KIND_MAPPING;
}

/* ---- events ---- */

/* The one field that a template shows, with nothing around it; NULL: there is more to it. */
static const struct plan_ref *
only_field(const struct plan_template *t)
{
	return t->nparts == 1 && t->parts[0].text.n == 0 && t->parts[0].ref.nfields == 1 ? &t->parts[0].ref
	                                                                                 : NULL;
}

/* Sets plan->name or plan->label.  false: the reader cannot make this name. */
static bool
find_name(struct ht_plan *plan, const struct plan *m, uint8_t labels)
{
	for (uint32_t i = 0; i < m->nnames; i++) {
		const struct plan_ref *const ref = only_field(&m->names[i]);
		if (ref == NULL || ref->ntables > 1 ||
		    (ref->ntables == 1 && (labels == PLAN_NO_TABLE || ref->tables[0] != labels)))
			return false;
		const uint32_t leaf = leaf_named(plan, ref->field[0]);
		if (leaf == HT_NO_LEAF || plan->name != HT_NO_LEAF || plan->label != HT_NO_LEAF)
			continue;
		if (ref->ntables == 1 && ht_leaf_is_integer(&plan->leaves[leaf]))
			plan->label = leaf;
		else if (ref->ntables == 0 && plan->leaves[leaf].value == VALUE_STRING)
			plan->name = leaf;
	}
	return true;
}

/* Sets plan->thread.  false: another track than the thread whose number the field is. */
static bool
find_thread(struct ht_plan *plan, const struct plan *m)
{
	if (m->ntracks == 0)
		return true;
	const struct plan_track *const t = &m->tracks[0];
	const struct plan_part *const part = t->name.parts;
	if (m->ntracks > 1 || t->child || t->name.nparts != 1 || !slice_is(part->text, HT_THREAD " ") ||
	    part->ref.nfields != 1 || part->ref.ntables != 0 || t->id.p == NULL ||
	    !slice_equal(t->id, part->ref.field[0]))
		return false;
	plan->thread = integer_named(plan, t->id);
	return true;
}

/* Whether the reader can apply all of it, but for names and tracks. */
static bool
is_simple(const struct plan *m)
{
	const bool phase = m->phase == PLAN_AS_READ || m->phase == PLAN_SPAN || m->phase == PLAN_INSTANT ||
	                   m->phase == PLAN_STRUCTURE;

	return phase && !m->async && m->flow_name.p == NULL && !m->has_layout && m->ndefines == 0 &&
	       m->epoch.p == NULL && m->facts.p == NULL && m->named.p == NULL;
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
apply_event(struct ht_state *st, struct ht_class *c, struct ht_plan *plan, const struct plan *m)
{
	const uint8_t labels = label_table(st->r->trace);
	const bool applies = is_simple(m) && find_name(plan, m, labels) && find_thread(plan, m);

	c->cls->reader_applies = applies && !st->raw;
	if (applies && m->phase == PLAN_SPAN)
		plan->duration = integer_named(plan, m->duration);
	if (!applies) {
		forget_roles(plan);
		if (labels != PLAN_NO_TABLE && st->ahead_of == NULL && !st->raw && asks_for_labels(m, labels))
			ht_labels_share(st, labels);
	}
	if (m->phase != PLAN_STRUCTURE)
		return;
	c->version = plan_word(m, "version");
	c->kind = c->version.p != NULL ? HT_KIND_SYSTEM : HT_KIND_STRUCTURE;
}

void
ht_vocabulary_apply(struct ht_state *st, struct ht_class *c, struct ht_plan *plan)
{
	const struct plan *m = NULL;

	forget_roles(plan);
	if (c->id >= HT_BUILTIN_CLASSES) {
		m = trace_mean(st->r->trace, c->cls, has_leaf, plan);
		c->kind = HT_KIND_EVENT;
		c->cls->reader_applies = false;
		c->version = (struct slice){ NULL, 0, 0 };
	}
	if (m != NULL && defines_labels(st->r->trace, m)) {
		c->cls->reader_applies = !st->raw;
		apply_mapping(c, plan, &m->defines[0]);
	} else if (m != NULL) {
		apply_event(st, c, plan, m);
	}
	plan->always_fields = class_needs_fields(c->cls);
	plan->want =
	    c->kind == HT_KIND_EVENT ? WANT_TIMES : WANT_STRUCTURE | (plan->always_fields ? WANT_TIMES : 0);
}
