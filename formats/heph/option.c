#include "heph/option.h"

#include "heph/finding.h"
#include "heph/own.h"
#include "heph/raw.h"
#include "heph/state.h"

/* Metadata packets: options of the trace.  The document defines one, `epoch`. */

static struct value
option_value(struct slice name, struct slice value)
{
	if (slice_is(name, "epoch") && value.n == HEPH_EPOCH_SIZE)
		return value_u64(load_u64(value.p, true));
	return (struct value){ .type = VALUE_BYTES, .count = value.n, .p = value.p };
}

/* false: no memory. */
static bool
add_fields(struct batch *b, struct event *e, struct slice name, struct value value)
{
	struct field *const f = batch_fields(b, 2);

	if (f == NULL)
		return false;
	f[0] = (struct field){ SLICE_LIT("option"), value_string(name) };
	f[1] = (struct field){ SLICE_LIT("value"), value };
	e->first_field = b->nfields;
	e->nfields = 2;
	b->nfields += 2;
	return true;
}

static void
add_record(struct heph_state *st, const struct heph_packet *k, struct slice name, struct slice value,
           struct batch *b)
{
	struct event *const e = &b->events[b->n];
	const struct value v = option_value(name, value);
	const char *const end = k->fault != NULL && !k->followed ? k->fault : k->end;
	bool ok = true;

	*e = (struct event){ .name = st->metadata_class->name,
		             .cls = st->metadata_class,
		             .phase = PHASE_STRUCTURE,
		             .offset = k->offset };
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(k->p, (size_t)(end - k->p));
	if (st->raw)
		ok = heph_raw_add_option(k, name, v, e, b);
	else if ((st->r->want & WANT_FIELDS) != 0)
		ok = add_fields(b, e, name, v);
	b->n += ok;
	st->no_memory |= !ok;
}

static void
report_unknown(struct heph_state *st, const struct heph_packet *k, struct slice name, size_t size)
{
	struct quoted q;

	if (heph_finding_is_shown(st, HEPH_RULE_UNKNOWN_OPTION))
		heph_finding_add(st, HEPH_RULE_UNKNOWN_OPTION, k, name.p,
		                 "option %s with a value of %zu bytes", quoted(&q, name), size);
	else
		heph_finding_add(st, HEPH_RULE_UNKNOWN_OPTION, k, name.p, "not shown");
}

void
heph_option_read(struct heph_state *st, struct heph_packet *k, struct batch *b)
{
	const uint32_t n = load_u16(k->p + 8, true);
	const size_t room = (size_t)(k->end - k->p) - HEPH_METADATA_MIN;

	if (n > room) {
		k->fault = k->p + 8;
		heph_report_past_packet(st, k, k->p + 8, "the option name", n, room);
		return;
	}
	const struct slice name = textscan_slice(k->p + HEPH_METADATA_MIN, n);
	const char *const value = name.p + n;
	if ((name.flags & SLICE_UTF8) == 0)
		heph_report_text(st, k, "the option name", name);
	if (slice_is(name, "epoch"))
		heph_epoch_set(st, k, value);
	else if (!heph_is_own(name) || !heph_own_option(st, k, name, value, b))
		report_unknown(st, k, name, room - n);
	st->metadata_class->records++;
	if ((st->r->want & WANT_STRUCTURE) != 0)
		add_record(st, k, name, slice_of(value, room - n), b);
}
