/*
 * Keeps the packets of a damaged trace that can be read to their end.  The reader itself finds the next
 * packet after damage.  Besides what it skips, packets are dropped with which Perfetto loads nothing of the
 * file, or whose fields cannot be read; names and states that these would have defined are missing then.
 *
 * Compressed packets are decided as a whole, once all packets in them are read.
 */
#include "format/recover.h"
#include "perfetto/perfetto.h"
#include "perfetto/read/read.h"

struct pf_recovery {
	bool packed; /* compressed packets are not decided yet */
	bool bad;    /* they or one in them cannot be kept */
};

static const char *const structure[] = {
	"perfetto/frame-tag",     "perfetto/cut",      "perfetto/wire",          "perfetto/wire-message",
	"perfetto/wire-type",     "perfetto/inflate",  "perfetto/inflate-inner", "perfetto/inflate-nested",
	"perfetto/inflate-mixed", "perfetto/seq-zero", "perfetto/clock-scoped",  NULL,
};

/* Decides for the compressed packets that end at `end`. */
static void end_packed(struct recovery *rc, const char *end)
{
	struct pf_state *const st = rc->r->state;
	struct pf_recovery *const s = rc->state;

	if (s->packed && (s->bad || st->broken_inner)) {
		rc->records--;
		recover_drop(rc, end);
	}
	s->packed = s->bad = st->broken_inner = false;
}

static void recover_record(struct recovery *rc, const struct record *rec)
{
	struct pf_state *const st = rc->r->state;
	struct pf_recovery *const s = rc->state;

	if (rec->p == rec->end) /* in compressed packets */
		return;
	end_packed(rc, rec->p);
	if (st->inner.n > 0) {
		recover_keep(rc, rec->p);
		s->packed = true;
		s->bad = st->broken;
	} else if (st->broken) {
		rc->records--;
		recover_keep(rc, rec->p);
		recover_drop(rc, rec->end);
	}
	st->broken = false;
}

static bool keep_records(struct recovery *rc, enum record_status status)
{
	const struct pf_state *const st = rc->r->state;

	if (st->inner.n > 0 && status != RECORD_END)
		return false;
	end_packed(rc, rc->r->in->p);
	return true;
}

const struct recover_ops perfetto_recover_ops = {
	.state_size = sizeof(struct pf_recovery),
	.structure = structure,
	.record = recover_record,
	.keep = keep_records,
};
