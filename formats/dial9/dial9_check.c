#include <stdarg.h>

#include "dial9/dial9_state.h"

/* How things are said: at the frame, at a byte of it, or once at the end with a count. */

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

void
d9_tally_add(struct d9_tally *t, const struct d9_frame *f, uint64_t value)
{
	if (t->count++ == 0)
		*t = (struct d9_tally){ 1, f->offset, f->ordinal, value };
}

void
d9_newer(struct d9_state *st, const struct d9_frame *f, const char *at, const char *what)
{
	if (st->strict)
		d9_find_at(st, D9_RULE_NOT_IN_DOCUMENT, f, at, "%s is not in the document of 0.3", what);
	else if (!st->newer)
		d9_find_at(st, D9_RULE_NEWER_FORMAT, f, at, "the first of them is %s", what);
	st->newer = true;
	if (!st->strict)
		st->r->trace->dialect = d9_dialects[D9_0_4];
}

void
d9_check_text(struct d9_state *st, const struct d9_frame *f, struct slice s, const char *what,
              struct slice whose)
{
	struct quoted q, q2;

	if ((s.flags & SLICE_UTF8) != 0)
		return;
	if (!finding_is_shown(st->r->findings, &d9_rules[D9_RULE_INVALID_UTF8]))
		d9_find(st, D9_RULE_INVALID_UTF8, f, "not shown");
	else if (whose.p != NULL)
		d9_find_at(st, D9_RULE_INVALID_UTF8, f, s.p, "%s of %s is %s", what, quoted(&q, whose),
		           quoted(&q2, s));
	else
		d9_find_at(st, D9_RULE_INVALID_UTF8, f, s.p, "%s is %s", what, quoted(&q2, s));
}

enum d9_result
d9_lacks(struct d9_state *st, const struct cursor *c)
{
	st->lack = (struct d9_lack){ .what = c->missing, .bytes = c->missing_bytes };
	return D9_MORE;
}

enum d9_result
d9_lacks_length(struct d9_state *st, const char *what, uint64_t n, uint64_t bytes, uint64_t left)
{
	st->lack =
	    (struct d9_lack){ .what = what, .bytes = bytes, .length = n, .left = left, .says_length = true };
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

/* ", the last whole frame is at byte N": from there the trace can be cut to be whole. */
static void
last_frame(const struct d9_state *st, char *to, size_t cap)
{
	if (st->records > 0)
		snprintf(to, cap, "the last whole frame begins at byte %" PRIu64, st->last_offset);
	else
		snprintf(to, cap, "no frame is whole");
}

enum d9_result
d9_say_cut(struct d9_state *st, const struct d9_frame *f)
{
	const struct d9_lack *const lack = &st->lack;
	char whose[700] = "", last[80];
	struct quoted q, q2;

	if (lack->field != NULL)
		snprintf(whose, sizeof whose, " of field %s of %s", quoted(&q, lack->field->name),
		         quoted(&q2, lack->schema->cls->name));
	else if (lack->schema != NULL)
		snprintf(whose, sizeof whose, " of %s", quoted(&q2, lack->schema->cls->name));
	last_frame(st, last, sizeof last);
	if (lack->says_length)
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
say(struct d9_state *st, enum d9_rule rule, const struct d9_tally *t, const char *before, const char *behind)
{
	finding_add_times(st->r->findings, &d9_rules[rule], t->offset, t->ordinal, t->count,
	                  "%s %" PRIu64 "%s", before, t->value, behind);
}

void
d9_say_tallies(struct d9_state *st)
{
	say(st, D9_RULE_BOOL_VALUE, &st->bools, "a Bool is", "");
	say(st, D9_RULE_LATE_DEFINITION, &st->late, "id", " is defined here, after its first use");
	say(st, D9_RULE_POOL_REDEFINED, &st->redefined, "id", " gets another content");
	say(st, D9_RULE_POOL_LIMIT, &st->pool_limit, "id", " is not kept or shown");
	if (d9_ahead_lost(st) > 0)
		finding_add(st->r->findings, &d9_rules[D9_RULE_POOL_LIMIT], st->last_offset, 0,
		            "%" PRIu64 " symbols and late definitions are not kept", d9_ahead_lost(st));
	if (st->symbols_met)
		say(st, D9_RULE_NAMES_LATE, &st->symbols_late, "the",
		    " frames of a stack are shown as addresses");
	say(st, D9_RULE_NAMES_LATE, &st->unresolved, "id", " is shown as a number");
}
