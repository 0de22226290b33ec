#include "htdump/apply.h"

#include "htdump/describe.h"
#include "htdump/finding.h"
#include "htdump/value.h"

/* "it holds from the next event on" */
static void
set_byte_order(struct ht_state *st, const struct ht_record *rec)
{
	struct trace *const trace = st->r->trace;
	const uint8_t order = (uint8_t)st->starts[0][0];
	const bool was = st->big, otherwise = st->any_event ? was : st->guess_big;

	if (order > 1)
		finding_add(st->r->findings, &ht_rules[HT_RULE_BAD_BYTE_ORDER], rec->offset + HT_HEAD_SIZE,
		            rec->ordinal, "endianness is %u; the file is read as %s endian", order,
		            otherwise ? "big" : "little");
	st->big = order <= 1 ? order == 1 : otherwise;
	if (!st->any_event)
		trace->byte_order = st->big ? "big" : "little";
	else if (was != st->big)
		trace->byte_order = "mixed";
	if (st->any_event) {
		ht_describe_restart(st);
		idset_free(&st->ids);
	}
}

static void
learn_version(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct trace *const trace = st->r->trace;
	char text[80];
	size_t n = 0;

	for (uint32_t i = 0; i < trace->nmeta; i++)
		if (slice_equal(trace->meta[i].name, rec->c->version))
			return;
	for (uint32_t i = 0; i < plan->nleaves && i < 3 && ht_leaf_is_integer(&plan->leaves[i]); i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRIu64, i > 0 ? "." : "",
		                      ht_leaf_integer(st, &plan->leaves[i]));
	const struct slice version = { text, (uint32_t)n, SLICE_UTF8 | SLICE_JSON };
	st->no_memory |= !trace_add_meta(trace, rec->c->version, value_string(version));
}

static void
learn_mapping(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct ht_state *const to = st->ahead_of != NULL ? st->ahead_of : st;

	ht_label_add(to, ht_leaf_integer(st, &plan->leaves[plan->identifier]),
	             ht_leaf_string(st, &plan->leaves[plan->name]),
	             st->ahead_of != NULL ? HT_LABEL_AHEAD : HT_LABEL_MET, rec);
	st->no_memory |= to->no_memory;
}

void
ht_report_overflow(struct ht_state *st, const struct ht_record *rec)
{
	ht_finding_add(st, HT_RULE_DURATION_OVERFLOW, rec, "timestamp %" PRIu64 " plus duration %" PRIu64,
	               rec->ts, rec->dur);
}

void
ht_structure_apply(struct ht_state *st, const struct ht_record *rec)
{
	switch ((enum ht_kind)rec->c->kind) {
	case HT_KIND_ENDIANNESS:
		set_byte_order(st, rec);
		break;
	case HT_KIND_INFO:
		ht_describe_class(st, rec);
		break;
	case HT_KIND_FIELD:
		ht_describe_field(st, rec);
		break;
	case HT_KIND_MAPPING:
		learn_mapping(st, rec);
		break;
	case HT_KIND_SYSTEM:
		learn_version(st, rec);
		break;
	case HT_KIND_EVENT:
	case HT_KIND_STRUCTURE:
	case HT_KIND_BARE:
		break;
	}
}
