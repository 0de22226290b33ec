/*
 * Recovery: keeps whole records, one a line, and drops what the reader drops.  Commas after records and
 * objects around the records are removed, as lines are not members of an array; a missing closing bracket is
 * added.
 */
#include "dftracer/dftracer.h"

#define RECOVER_BYTES (4u << 20) /* of input per call */

struct dft_recover {
	bool line_kept, line_dropped; /* some bytes of the current line were kept, dropped */
	bool newline_due;             /* the next item starts a line */
};

static const char *const structure[] = {
	"dftracer/broken-json", "dftracer/cut-record",     "dftracer/record-too-long",
	"dftracer/two-records", "dftracer/trailing-comma", NULL,
};

static void begin_line(struct recovery *rc, enum dft_rule rule, const char *why)
{
	const char *const p = rc->r->in->p - (input_offset(rc->r->in, rc->r->in->p) - rc->at);

	recover_replace(rc, p, "\n", 1, &dft_rules[rule], "%s", why);
}

/* Keeps a newline unless its whole line was dropped. */
static void keep_newline(struct recovery *rc)
{
	struct dft_recover *const s = rc->state;
	const char *const to = rc->r->in->p;

	if (s->line_dropped && !s->line_kept)
		recover_drop(rc, to);
	else
		recover_keep(rc, to);
	*s = (struct dft_recover){ .newline_due = false };
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

static void keep_record(struct recovery *rc)
{
	const struct dft_state *const st = rc->r->state;
	struct dft_recover *const s = rc->state;

	if (st->line.records > 1)
		begin_line(rc, DFT_RULE_TWO_RECORDS, "record is not the first of its line");
	recover_keep(rc, rc->r->in->p);
	rc->records++;
	s->line_kept = true;
}

/* Drops the object around the records: its start, or its members after the array. */
static void drop_wrapper(struct recovery *rc, bool begins)
{
	struct dft_recover *const s = rc->state;
	const char *const to = rc->r->in->p;

	recover_drop_for(rc, to, &dft_rules[DFT_RULE_WRAPPED],
	                 begins ? "records are in the array traceEvents of an object"
	                        : "members of the object after the array are no records");
	s->line_dropped = true;
	if (!begins)
		return;
	recover_replace(rc, to, "[", 1, &dft_rules[DFT_RULE_WRAPPED], "the array of records stays");
	s->line_kept = s->newline_due = true;
}

/* Recovers one item at the start of the window.  Returns false if the window ends too early. */
static bool process_item(struct recovery *rc)
{
	struct dft_state *const st = rc->r->state;
	struct dft_recover *const s = rc->state;
	const char c = *rc->r->in->p;
	const uint64_t records = rc->r->records;
	const bool wrapped = st->wrapped, trailer = st->trailer;
	struct batch none = { .cap = 1 };

	if (s->newline_due && c != '\n')
		begin_line(rc, DFT_RULE_BRACKET, "the bracket gets a line of its own");
	s->newline_due = false;
	if (!dft_line_next(st, &none))
		return false;
	if (st->no_memory)
		return true;
	if (st->line.dropped) {
		if (c == '\0')
			recover_drop_for(rc, rc->r->in->p, &dft_rules[DFT_RULE_NUL_BYTES], "NUL bytes");
		else
			recover_drop(rc, rc->r->in->p);
		s->line_dropped = true;
		st->line.dropped = false;
	} else if (trailer || st->wrapped != wrapped) {
		drop_wrapper(rc, !trailer);
	} else if (c == '\n') {
		keep_newline(rc);
	} else if (rc->r->records > records) {
		keep_record(rc);
	} else {
		keep_other(rc, c);
	}
	return true;
}

static void add_closing_bracket(struct recovery *rc)
{
	struct dft_state *const st = rc->r->state;

	dft_line_finish(st);
	if (!st->opened || st->closed)
		return;
	recover_replace(rc, rc->r->in->p, rc->last == '\n' ? "]\n" : "\n]\n", rc->last == '\n' ? 2 : 3,
	                &dft_rules[DFT_RULE_NO_BRACKETS], "the closing ] is missing");
}

static enum read_status recover_next(struct recovery *rc)
{
	struct dft_state *const st = rc->r->state;
	struct input *const in = rc->r->in;
	const uint64_t start = rc->at;
	struct batch none = { .cap = 1 };

	st->index->base = NULL; /* the window may have moved */
	while (rc->at - start < RECOVER_BYTES && !st->no_memory && !st->sh->ids.failed) {
		const uint64_t records = rc->r->records;
		if (in->p == in->end) {
			st->index->base = NULL;
			if (in->last || !input_more(in)) {
				add_closing_bracket(rc);
				return READ_END;
			}
		}
		dft_lines_fast(st, &none);
		recover_keep(rc, in->p);
		rc->records += rc->r->records - records;
		if (in->p < in->end && !st->no_memory && !process_item(rc)) {
			st->index->base = NULL;
			input_more(in);
		}
	}
	return st->no_memory || st->sh->ids.failed ? READ_NO_MEMORY : READ_MORE;
}

const struct recover_ops dft_recover_ops = {
	.state_size = sizeof(struct dft_recover),
	.structure = structure,
	.next = recover_next,
};
