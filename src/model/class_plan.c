#include "model/class_plan.h"

#include "base/textscan.h"

static bool
is_integer(uint8_t type)
{
	return (type >= VALUE_U8 && type <= VALUE_I64) || type == VALUE_ADDRESS;
}

static uint32_t
field_named(const struct class_plan_fields *fields, struct slice name)
{
	return fields != NULL && name.p != NULL ? fields->find(fields->ctx, name) : CLASS_PLAN_NO_FIELD;
}

static uint32_t
integer_named(const struct class_plan_fields *fields, struct slice name)
{
	const uint32_t field = field_named(fields, name);

	return field != CLASS_PLAN_NO_FIELD && is_integer(fields->type(fields->ctx, field))
	           ? field
	           : CLASS_PLAN_NO_FIELD;
}

/* The one field that a template shows, with nothing around it; NULL: there is more to it. */
static const struct plan_ref *
only_field(const struct plan_template *t)
{
	return t->nparts == 1 && t->parts[0].text.n == 0 && t->parts[0].ref.nfields == 1 &&
	               t->parts[0].ref.ntables <= 1
	           ? &t->parts[0].ref
	           : NULL;
}

/* The first alternative whose field is there and fits. */
static void
take_name(struct class_plan *p, const struct class_plan_fields *fields, const struct plan_ref *ref)
{
	const uint32_t field = field_named(fields, ref->field[0]);

	if (field == CLASS_PLAN_NO_FIELD || p->name != CLASS_PLAN_NO_FIELD || p->label != CLASS_PLAN_NO_FIELD)
		return;
	const uint8_t type = fields->type(fields->ctx, field);
	if (ref->ntables == 1 && is_integer(type))
		p->label = field;
	else if (ref->ntables == 0 && type == VALUE_STRING)
		p->name = field;
}

static void
compile_names(struct class_plan *p, const struct class_plan_fields *fields)
{
	const struct plan *const m = p->plan;

	if (m->nnames > 0 && m->names[0].nparts == 1 && m->names[0].parts[0].ref.nfields == 0) {
		const struct slice text = m->names[0].parts[0].text;
		p->fixed_name = textscan_slice(text.p, text.n);
		p->fixed_name.flags |= SLICE_STAYS;
		p->says |= CLASS_PLAN_FIXED_NAME;
		return;
	}
	for (uint32_t i = 0; i < m->nnames; i++) {
		const struct plan_ref *const ref = only_field(&m->names[i]);
		const uint8_t table = ref != NULL && ref->ntables == 1 ? ref->tables[0] : p->name_table;
		if (ref == NULL || (p->name_table != PLAN_NO_TABLE && table != p->name_table)) {
			p->says |= CLASS_PLAN_FIELDS;
			return;
		}
		p->name_table = table;
		p->says |= CLASS_PLAN_NAME;
		take_name(p, fields, ref);
	}
}

static void
compile_track(struct class_plan *p, const struct class_plan_fields *fields)
{
	const struct plan *const m = p->plan;
	const struct plan_track *const t = m->tracks;

	if (m->ntracks == 0)
		return;
	if (m->ntracks > 1 || t->child || t->name.nparts != 1 || t->name.parts->ref.nfields != 1 ||
	    t->name.parts->ref.ntables != 0 || t->id.p == NULL ||
	    !slice_equal(t->id, t->name.parts->ref.field[0])) {
		p->says |= CLASS_PLAN_FIELDS;
		return;
	}
	p->says |= CLASS_PLAN_THREAD;
	p->thread = integer_named(fields, t->id);
	p->thread_prefix = t->name.parts->text;
}

static void
compile_definition(struct class_plan *p, const struct class_plan_fields *fields)
{
	const struct plan *const m = p->plan;
	const struct plan_define *const d = m->defines;

	if (m->ndefines == 0)
		return;
	if (m->ndefines > 1 || d->nkeys != 1 || d->value.nfields != 1 || d->value.ntables != 0) {
		p->says |= CLASS_PLAN_FIELDS;
		return;
	}
	p->says |= CLASS_PLAN_DEFINITION;
	p->key = integer_named(fields, d->key[0]);
	p->value = field_named(fields, d->value.field[0]);
	p->table = d->table;
}

void
class_plan_compile(struct class_plan *p, const struct plan *m, const struct class_plan_fields *fields)
{
	*p = (struct class_plan){ .plan = m, .name_table = PLAN_NO_TABLE, .table = PLAN_NO_TABLE };
	p->duration = p->name = p->label = p->thread = CLASS_PLAN_NO_FIELD;
	p->key = p->value = p->epoch = p->facts = CLASS_PLAN_NO_FIELD;
	if (m == NULL)
		return;
	compile_names(p, fields);
	compile_track(p, fields);
	compile_definition(p, fields);
	if (m->phase == PLAN_SPAN) {
		p->says |= CLASS_PLAN_DURATION;
		p->duration = integer_named(fields, m->duration);
	}
	p->epoch = field_named(fields, m->epoch);
	p->facts = field_named(fields, m->facts);
	p->says |= m->epoch.p != NULL ? CLASS_PLAN_EPOCH : 0U;
	p->says |= m->facts.p != NULL ? CLASS_PLAN_FACTS : 0U;
	if (m->key.nfields > 0 || m->flow_name.p != NULL || m->phase == PLAN_COUNTER)
		p->says |= CLASS_PLAN_FIELDS;
	const bool own = m->phase == PLAN_AS_READ || m->phase == PLAN_SPAN || m->phase == PLAN_INSTANT ||
	                 m->phase == PLAN_STRUCTURE;
	if (!own || m->async || m->has_layout || m->named.p != NULL || m->nshapes > 0)
		p->says |= CLASS_PLAN_MORE;
}
