/*
 * Recovery: keeps whole records, one a line, and drops what the reader drops.  Commas after records and
 * objects around the records are removed, as lines are not members of an array; a missing closing bracket is
 * added.
 */
#include "dftracer/dftracer.h"

struct dft_recover {
	bool line_kept, line_dropped; /* some bytes of the current line were kept, dropped */
};

static const char *const structure[] = {
	"dftracer/broken-json",
	"dftracer/cut-record",
	"dftracer/two-records",
	"dftracer/trailing-comma",
	NULL,
};

static void begin_line(struct recovery *rc, const char *at, enum dft_rule rule, const char *why)
{
	recover_replace(rc, at, "\n", 1, &dft_rules[rule], "%s", why);
}

static void keep_newline(struct recovery *rc)
{
	const struct dft_recover *const s = rc->state;
	const char *const to = rc->r->in->p;

	if (s->line_dropped && !s->line_kept)
		recover_drop(rc, to);
	else
		recover_keep(rc, to);
}

/* Recovers an item that is neither a record nor a newline; c: its first byte. */
static void keep_other(struct recovery *rc, char c)
{
	const struct dft_state *const st = rc->r->state;
	struct dft_recover *const s = rc->state;
	const char *const to = rc->r->in->p;

	if (c == ',' && st->line.records > 0) {
		recover_replace(rc, to, "", 0, &dft_rules[DFT_RULE_TRAILING_COMMA], "comma after a record");
		return;
	}
	recover_keep(rc, to);
	s->line_kept = true;
}

static void drop(struct recovery *rc, char c)
{
	struct dft_recover *const s = rc->state;

	if (c == '\0')
		recover_drop_for(rc, rc->r->in->p, &dft_rules[DFT_RULE_NUL_BYTES], "NUL bytes");
	else
		recover_drop(rc, rc->r->in->p);
	s->line_dropped = true;
}

/* Drops the start of the object around the records, except the bracket, which gets a line of its own. */
static void drop_wrapper_start(struct recovery *rc)
{
	struct dft_recover *const s = rc->state;
	const struct input *const in = rc->r->in;

	recover_drop_for(rc, in->p, &dft_rules[DFT_RULE_WRAPPED],
	                 "records are in the array traceEvents of an object");
	recover_replace(rc, in->p, "[", 1, &dft_rules[DFT_RULE_WRAPPED], "the array of records stays");
	if (in->p < in->end && *in->p != '\n')
		begin_line(rc, in->p, DFT_RULE_BRACKET, "the bracket gets a line of its own");
	s->line_dropped = s->line_kept = true;
}

/* Keeps or drops one item, which ends where the window starts. */
static void take_item(struct recovery *rc, const struct record *rec)
{
	const struct dft_state *const st = rc->r->state;
	struct dft_recover *const s = rc->state;

	recover_keep(rc, rec->p);
	if (rec->role < RECORD_IS_GAP) {
		if (st->line.records > 1)
			begin_line(rc, rec->p, DFT_RULE_TWO_RECORDS, "record is not the first of its line");
		recover_keep(rc, rc->r->in->p);
		s->line_kept = true;
	} else if (st->line.dropped) {
		drop(rc, *rec->p);
	} else if (st->trailer && rec->offset >= st->trailer_start) {
		recover_drop_for(rc, rc->r->in->p, &dft_rules[DFT_RULE_WRAPPED],
		                 "members of the object after the array are no records");
		s->line_dropped = true;
	} else if (*rec->p == '{') {
		drop_wrapper_start(rc);
	} else if (*rec->p == '\n') {
		keep_newline(rc);
	} else {
		keep_other(rc, *rec->p);
	}
	if (!st->line.begun)
		*s = (struct dft_recover){ .line_kept = false };
}

static bool keep(struct recovery *rc, enum record_status status)
{
	struct dft_state *const st = rc->r->state;
	const char *const end = rc->r->in->p;

	if (status != RECORD_END)
		return true;
	recover_keep(rc, end);
	dft_line_finish(st);
	if (st->opened && !st->closed)
		recover_replace(rc, end, rc->last == '\n' ? "]\n" : "\n]\n", rc->last == '\n' ? 2 : 3,
		                &dft_rules[DFT_RULE_NO_BRACKETS], "the closing ] is missing");
	return true;
}

const struct recover_ops dft_recover_ops = {
	.state_size = sizeof(struct dft_recover),
	.structure = structure,
	.record = take_item,
	.keep = keep,
};
