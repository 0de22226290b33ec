#ifndef HTDUMP_APPLY_H
#define HTDUMP_APPLY_H

#include "htdump/value.h"
#include "htdump/record.h"

/* What a record that is no event, its parts in the state, changes in the state and the trace: byte order,
 * descriptions, names of labels, the version. */
void ht_structure_apply(struct ht_state *st, const struct ht_record *rec);

/* Reports a span that ends past 2^64. */
void ht_report_overflow(struct ht_state *st, const struct ht_record *rec);

/* What is checked of an event, whoever wants it.  Sets its length and its label. */
static inline void
ht_event_apply(struct ht_state *st, struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;

	if (plan->duration != HT_NO_LEAF) {
		rec->dur = ht_leaf_integer(st, &plan->leaves[plan->duration]);
		if (rec->dur > UINT64_MAX - rec->ts)
			ht_report_overflow(st, rec);
	}
	if (plan->label != HT_NO_LEAF && st->ahead_of == NULL)
		st->label_name = ht_label_find(st, ht_leaf_integer(st, &plan->leaves[plan->label]), rec);
}

#endif
