#include "dial9/findings.h"

#include <stdarg.h>

#include "dial9/state.h"

const struct rule d9_rules[D9_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "dial9/rules.def"
#undef RULE
	{ .id = NULL }
};

void
d9_find(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &d9_rules[rule], f->offset, f->ordinal, fmt, ap);
	va_end(ap);
}

void
d9_find_at(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f, const char *at, const char *fmt,
           ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &d9_rules[rule], f->at + (uint64_t)(at - f->p), f->ordinal, fmt, ap);
	va_end(ap);
}

bool
d9_find_unshown(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f)
{
	if (finding_is_shown(st->r->findings, &d9_rules[rule]))
		return false;
	finding_add(st->r->findings, &d9_rules[rule], f->offset, f->ordinal, "not shown");
	return true;
}

void
d9_check_text(struct d9_state *st, const struct d9_frame *f, struct slice s, const char *what,
              struct slice whose)
{
	struct quoted q, q2;

	if ((s.flags & SLICE_UTF8) != 0 || d9_find_unshown(st, D9_RULE_INVALID_UTF8, f))
		return;
	if (whose.p != NULL)
		d9_find_at(st, D9_RULE_INVALID_UTF8, f, s.p, "%s of %s is %s", what, quoted(&q, whose),
		           quoted(&q2, s));
	else
		d9_find_at(st, D9_RULE_INVALID_UTF8, f, s.p, "%s is %s", what, quoted(&q2, s));
}

/* ---- what is missing ---- */

enum d9_result
d9_lacks(struct d9_state *st, const struct cursor *c)
{
	st->lack = (struct d9_lack){ .what = c->missing, .bytes = c->missing_bytes };
	return D9_MORE;
}

static const char *
frame_name(uint8_t tag)
{
	switch (tag) {
	case D9_TAG_SCHEMA:
		return "schema";
	case D9_TAG_EVENT:
		return "event";
	case D9_TAG_STRINGS:
		return "string pool";
	case D9_TAG_STACKS:
		return "stack pool";
	case D9_TAG_RESET:
		return "timestamp reset";
	case D9_TAG_ANNOTATIONS:
		return "schema annotations";
	default:
		return "header";
	}
}

/* From there the trace can be cut to be complete. */
static void
last_frame(const struct d9_state *st, char *to, size_t cap)
{
	if (st->r->records > 0)
		snprintf(to, cap, "the last complete frame begins at byte %" PRIu64, st->last_offset);
	else
		snprintf(to, cap, "no frame is complete");
}

enum d9_result
d9_report_cut(struct d9_state *st, const struct d9_frame *f)
{
	const struct d9_lack *const lack = &st->lack;
	char whose[700] = "", last[80];
	struct quoted q, q2;

	if (lack->field != NULL)
		snprintf(whose, sizeof whose, " of field %s of %s", quoted(&q, lack->field->in_file),
		         quoted(&q2, lack->schema->name));
	else if (lack->schema != NULL)
		snprintf(whose, sizeof whose, " of %s", quoted(&q2, lack->schema->name));
	last_frame(st, last, sizeof last);
	if (lack->has_length)
		d9_find(st, D9_RULE_LENGTH_PAST_END, f,
		        "%s%s in the %s frame is %" PRIu64 ": bytes left %" PRIu64 ", missing %" PRIu64
		        "; %s",
		        lack->what, whose, frame_name(f->tag), lack->length, lack->left, lack->bytes, last);
	else
		d9_find(st, D9_RULE_CUT_FRAME, f, "%s%s in the %s frame: bytes missing %" PRIu64 "; %s",
		        lack->what, whose, frame_name(f->tag), lack->bytes, last);
	return D9_BAD;
}

/* ---- what was counted ---- */

static void
report(struct d9_state *st, enum d9_rule rule, const struct finding_tally *t, const char *before,
       const char *behind)
{
	finding_add_times(st->r->findings, &d9_rules[rule], t->offset, t->record, t->count,
	                  "%s %" PRIu64 "%s", before, t->now, behind);
}

void
d9_report_tallies(struct d9_state *st)
{
	const struct d9_tallies *const t = &st->tallies;
	const uint64_t dropped = st->ahead != NULL ? st->ahead->dropped : 0;

	report(st, D9_RULE_BOOL_VALUE, &t->bools, "a Bool is", "");
	report(st, D9_RULE_LATE_DEFINITION, &t->late, "id", " is defined here, after its first use");
	report(st, D9_RULE_POOL_REDEFINED, &t->redefined, "id", " is defined again with other content");
	report(st, D9_RULE_POOL_LIMIT, &t->pool_limit, "id", ": its content is above the limit");
	report(st, D9_RULE_POOL_LIMIT, &t->names_limit, "the", " frames of a stack are shown as addresses");
	if (dropped > 0)
		finding_add(st->r->findings, &d9_rules[D9_RULE_POOL_LIMIT], st->last_offset, 0,
		            "%" PRIu64 " symbols and late definitions are not retained", dropped);
	report(st, D9_RULE_METADATA_LIMIT, &t->metadata, "metadata of", " bytes is not retained");
	report(st, D9_RULE_TRACK_LIMIT, &t->tracks, "track", " is not distinguished");
	report(st, D9_RULE_TRACK_LIMIT, &t->deep_tracks, "track",
	       " is shown higher than it lies, below so many others");
	if (st->symbols_met)
		report(st, D9_RULE_NAMES_LATE, &t->symbols_late, "the",
		       " frames of a stack are shown as addresses");
	report(st, D9_RULE_NAMES_LATE, &t->unresolved, "id", " is shown as a number");
}
