#include "run/engine_losses.h"
#include "run/meaning/interpret_parts.h"

/* Whether the event itself has a field of this name. */
static bool
has_own(const struct batch *b, const struct event *e, struct slice name)
{
	for (uint32_t i = 0; i < e->nfields; i++)
		if (slice_equal(b->fields[e->first_field + i].name, name))
			return true;
	return false;
}

void
interpret_class_parts(struct interpret *in, struct batch *b, struct event *e)
{
	const uint32_t n = e->cls->nparts;
	uint32_t to = e->nfields;

	if (n > UINT16_MAX - to) {
		ledger_add(&in->pairing.ledger, &engine_losses[ENGINE_LOSS_PARTS_LEFT_OUT], e->offset, n);
		return;
	}
	struct field *const fields = batch_fields(b, to + n);
	if (fields == NULL)
		return;
	memcpy(fields, b->fields + e->first_field, to * sizeof *fields);
	for (uint32_t i = 0; i < n; i++) {
		if (has_own(b, e, e->cls->parts[i].name))
			ledger_add(&in->pairing.ledger, &engine_losses[ENGINE_LOSS_PARTS_LEFT_OUT], e->offset,
			           1);
		else
			fields[to++] = e->cls->parts[i];
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)to;
	b->nfields += to;
}
