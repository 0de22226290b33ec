/*
 * Keeps the packets of a damaged trace that can be read to their end.  The reader itself finds the next
 * packet after damage.  Besides what it skips, packets are dropped with which Perfetto loads nothing of the
 * file, or whose fields cannot be read; names and states that these would have defined are missing then.
 * Compressed packets are kept or dropped together.
 */
#include "format/recover.h"
#include "perfetto/perfetto.h"
#include "perfetto/read/read.h"

static const char *const structure[] = {
	"perfetto/frame-tag",     "perfetto/cut",      "perfetto/wire",          "perfetto/wire-message",
	"perfetto/wire-type",     "perfetto/inflate",  "perfetto/inflate-inner", "perfetto/inflate-nested",
	"perfetto/inflate-mixed", "perfetto/seq-zero", "perfetto/clock-scoped",  NULL,
};

/* Drops a packet that is broken, or that has a broken one compressed in it. */
static void recover_record(struct recovery *rc, const struct record *rec)
{
	struct pf_state *const st = rc->r->state;

	if (rec->end == rec->p) /* an event before that of the packet, which comes next */
		return;
	if (st->broken) {
		rc->records -= rec->role < RECORD_IS_GAP;
		recover_keep(rc, rec->p);
		recover_drop(rc, rec->end);
	}
	st->broken = false;
}

const struct recover_ops perfetto_recover_ops = {
	.structure = structure,
	.record = recover_record,
};
