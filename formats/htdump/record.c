#include "htdump/record.h"

#include "htdump/finding.h"
#include "htdump/plan.h"
#include "htdump/value.h"

/* What is wrong with a record where it lies. */

#define TEXT(s)                                                                                              \
	{                                                                                                    \
		(s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON                                                  \
	}

const struct class_field ht_head_fields[2][HT_HEAD_FIELDS] = {
	{ { TEXT("timestamp"), TEXT("u64"), VALUE_U64, 8, "ns" },
	  { TEXT("event_id"), TEXT("u64"), VALUE_U64, 8, NULL },
	  { TEXT("klass_id"), TEXT("u32"), VALUE_U32, 4, NULL } },
	{ { TEXT("klass_id"), TEXT("u32"), VALUE_U32, 4, NULL },
	  { TEXT("timestamp"), TEXT("u64"), VALUE_U64, 8, "ns" },
	  { TEXT("id"), TEXT("u64"), VALUE_U64, 8, NULL } },
};

void
ht_record_report_class(struct ht_state *st, const struct ht_record *rec, uint32_t klass)
{
	ht_finding_add(st, HT_RULE_UNKNOWN_CLASS, rec, "class %u was not described", klass);
}

/* ---- records that do not end ---- */

/* A string of the record where it should be, moved over.  false: it was reported that there is none. */
static bool
take_string(struct ht_state *st, const struct ht_record *rec, struct cursor *c, const char *name)
{
	const bool bounded = cursor_left(c) > HT_MAX_STRING;
	struct slice s;
	struct quoted q;

	if (c->p - rec->p > HT_MAX_RECORD) {
		ht_finding_add(st, HT_RULE_LIMIT, rec,
		               "%s of class %s begins more than 8 MiB after the start of its event", name,
		               quoted(&q, rec->c->name));
		return false;
	}
	if (textscan_cstring(c->p, bounded ? c->p + HT_MAX_STRING : c->end, &s)) {
		cursor_take(c, s.n + 1, name);
		return true;
	}
	ht_finding_add(st, HT_RULE_STRING_UNTERMINATED, rec,
	               "%s of class %s has no NUL in the remaining %" PRIu64 " bytes%s", name,
	               quoted(&q, rec->c->name), (uint64_t)cursor_left(c),
	               bounded ? ", the first 4 MiB were searched" : "");
	return false;
}

static void
report_lacking(struct ht_state *st, const struct ht_record *rec, const struct cursor *c)
{
	struct quoted q = { .s = "" };

	if (rec->c != NULL)
		quoted(&q, rec->c->name);
	if (!st->r->in->last) /* there is more, but no end to it */
		ht_finding_add(st, HT_RULE_LIMIT, rec, "an event of class %s has more than 8 MiB of numbers",
		               q.s);
	else
		ht_finding_add(st, HT_RULE_CUT_RECORD, rec,
		               "field %s%s%s ends %" PRIu64
		               " byte%s short: %zu of the event's bytes are there",
		               c->missing != NULL ? c->missing : "?", rec->c != NULL ? " of class " : "", q.s,
		               c->missing_bytes, c->missing_bytes == 1 ? "" : "s", (size_t)(c->end - rec->p));
}

void
ht_record_report_cut(struct ht_state *st, const struct ht_record *rec, const char *end)
{
	const struct class_field *const head = ht_head_fields[st->wire];
	struct cursor c = cursor_on(rec->p, end, false);
	struct quoted name;

	for (int i = 0; i < HT_HEAD_FIELDS; i++)
		cursor_take(&c, head[i].size, head[i].name.p);
	for (uint32_t i = 0; c.missing == NULL && i < rec->c->plan->nleaves; i++) {
		const struct ht_leaf *const l = &rec->c->plan->leaves[i];
		quoted(&name, l->name);
		if (l->value != VALUE_STRING)
			cursor_take(&c, l->size, name.s);
		else if (!take_string(st, rec, &c, name.s))
			return;
	}
	report_lacking(st, rec, &c);
}

void
ht_record_report_text(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct quoted q, q2, q3;

	for (uint32_t i = 0; i < plan->nleaves; i++) {
		if (plan->leaves[i].value != VALUE_STRING)
			continue;
		const struct slice s = ht_leaf_string(st, &plan->leaves[i]);
		if ((s.flags & SLICE_UTF8) != 0)
			continue;
		if (ht_finding_is_shown(st, HT_RULE_INVALID_UTF8))
			ht_finding_add(st, HT_RULE_INVALID_UTF8, rec, "%s of class %s is %s",
			               quoted(&q, plan->leaves[i].name), quoted(&q2, rec->c->name),
			               quoted(&q3, s));
		else
			ht_finding_add(st, HT_RULE_INVALID_UTF8, rec, "not shown");
	}
}
