/*
 * Recovery of a damaged trace.  The reader finds the next packet after damage; skipped bytes are dropped.  So
 * are packets whose fields cannot be read and those for which Perfetto refuses the whole file; names and
 * states that they define are then missing.  The packets in a compressed packet are kept or dropped together.
 */
#include "format/recover.h"
#include "perfetto/perfetto.h"
#include "perfetto/read/read.h"

static const char *const structure[] = {
	"perfetto/frame-tag",     "perfetto/cut",      "perfetto/wire",          "perfetto/wire-message",
	"perfetto/wire-type",     "perfetto/inflate",  "perfetto/inflate-inner", "perfetto/inflate-nested",
	"perfetto/inflate-mixed", "perfetto/seq-zero", "perfetto/clock-scoped",  NULL,
};

bool pf_breaks(enum pf_rule rule)
{
	switch (rule) {
	case PF_RULE_WIRE:
	case PF_RULE_WIRE_MESSAGE:
	case PF_RULE_WIRE_TYPE:
	case PF_RULE_INFLATE:
	case PF_RULE_INFLATE_INNER:
	case PF_RULE_INFLATE_NESTED:
	case PF_RULE_INFLATE_MIXED:
	case PF_RULE_SEQ_ZERO:
	case PF_RULE_CLOCK_SCOPED:
		return true;
	default:
		return false;
	}
}

/* Drops a packet that is broken, or that has a broken one compressed in it. */
static void recover_record(struct recovery *rc, const struct record *rec)
{
	const struct pf_state *const st = rc->r->state;

	if (rec->end == rec->p) /* an event before that of the packet, which follows */
		return;
	if (st->broken) {
		rc->records -= rec->role < RECORD_IS_GAP;
		recover_keep(rc, rec->p);
		recover_drop(rc, rec->end);
	}
}

const struct recover_ops perfetto_recover_ops = {
	.structure = structure,
	.record = recover_record,
};
