#include "model/plan.h"

uint32_t
plan_width(uint8_t type)
{
	static const uint8_t widths[] = {
		[VALUE_U8] = 1,  [VALUE_U16] = 2, [VALUE_U32] = 4,     [VALUE_U64] = 8,
		[VALUE_I8] = 1,  [VALUE_I16] = 2, [VALUE_I32] = 4,     [VALUE_I64] = 8,
		[VALUE_F32] = 4, [VALUE_F64] = 8, [VALUE_ADDRESS] = 8,
	};

	return type < sizeof widths ? widths[type] : 0;
}

struct slice
plan_word(const struct plan *m, const char *name)
{
	for (uint32_t i = 0; i < m->nwords; i++)
		if (slice_is(m->words[i].name, name))
			return value_text(&m->words[i].value);
	return (struct slice){ NULL, 0, 0 };
}

static bool
is_field(struct slice name, struct slice *field)
{
	if (name.p == NULL || !slice_equal(name, *field))
		return false;
	field->p = name.p;
	return true;
}

static bool
ref_uses(const struct plan_ref *r, struct slice *field)
{
	for (uint32_t i = 0; i < r->nfields; i++)
		if (is_field(r->field[i], field))
			return true;
	return false;
}

static bool
template_uses(const struct plan_template *t, struct slice *field)
{
	for (uint32_t i = 0; i < t->nparts; i++)
		if (ref_uses(&t->parts[i].ref, field))
			return true;
	return false;
}

static bool
define_uses(const struct plan_define *d, struct slice *field)
{
	for (uint32_t i = 0; i < d->nkeys; i++)
		if (is_field(d->key[i], field))
			return true;
	return ref_uses(&d->value, field);
}

static bool
parts_use(const struct plan *m, struct slice *field)
{
	bool uses = false;

	for (uint32_t i = 0; i < m->nnames; i++)
		uses |= template_uses(&m->names[i], field);
	for (uint32_t i = 0; i < m->ntracks; i++)
		uses |= template_uses(&m->tracks[i].name, field) || ref_uses(&m->tracks[i].number, field) ||
		        is_field(m->tracks[i].id, field);
	for (uint32_t i = 0; i < m->ndefines; i++)
		uses |= define_uses(&m->defines[i], field);
	return uses;
}

bool
plan_uses(const struct plan *m, struct slice *field)
{
	for (; m != NULL; m = m->otherwise) {
		const struct slice single[] = { m->duration, m->flow_out,
			                        m->flow_in,  m->epoch,
			                        m->facts,    m->has_layout ? m->payload : m->facts };
		for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
			if (is_field(single[i], field))
				return true;
		if (ref_uses(&m->key, field) || parts_use(m, field))
			return true;
		if (m->phase == PLAN_COUNTER && m->nvalues == 0)
			return true;
		for (uint32_t i = 0; m->phase == PLAN_COUNTER && i < m->nvalues; i++)
			if (is_field(m->values[i], field))
				return true;
	}
	return false;
}
