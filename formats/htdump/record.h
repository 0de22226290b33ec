#ifndef HTDUMP_RECORD_H
#define HTDUMP_RECORD_H

#include "htdump/plan.h"
#include "htdump/state.h"

/* What came of one record. */
enum ht_outcome {
	HT_DONE,
	HT_MORE, /* the window ends inside the record */
	HT_BAD,  /* nothing after this place can be trusted; see the finding */
};

/* One record where it lies. */
struct ht_record {
	const char *p, *end; /* all of its bytes */
	uint64_t ts, id;
	uint64_t dur; /* spans only, else 0 */
	uint64_t offset, ordinal;
	struct ht_class *c;
	bool bad_text; /* a string is not UTF-8 */
};

/* The fields of the head, in file order. */
#define HT_HEAD_FIELDS 3
extern const struct class_field ht_head_fields[2][HT_HEAD_FIELDS]; /* [wire] */

/* Reports that the class of a record is not known. */
void ht_record_report_class(struct ht_state *st, const struct ht_record *rec, uint32_t klass);

/* Reports in which field of the record the input ends, or which string has no end. */
void ht_record_report_cut(struct ht_state *st, const struct ht_record *rec, const char *end);

/* Reports the strings that are not UTF-8. */
void ht_record_report_text(struct ht_state *st, const struct ht_record *rec);

/* Reads the head of the record at rec->p.  false: its class is not known, which was reported. */
static inline bool
ht_record_head(struct ht_state *st, struct ht_record *rec)
{
	const uint32_t klass = load_u32(rec->p + (st->wire ? 0 : 16), st->big);

	rec->c = ht_class_find(&st->classes, klass);
	if (rec->c == NULL) {
		ht_record_report_class(st, rec, klass);
		return false;
	}
	rec->ts = load_u64(rec->p + (st->wire ? 4 : 0), st->big);
	rec->id = load_u64(rec->p + (st->wire ? 12 : 8), st->big);
	return true;
}

/* Finds the parts of a record behind its head, which go to the state.  HT_BAD: it is longer than the bounds
 * allow.  What does not fit, ht_record_report_cut finds out. */
static inline enum ht_outcome
ht_record_measure(struct ht_state *st, struct ht_record *rec, const char *end)
{
	const struct ht_plan *const plan = rec->c->plan;
	const char *p = rec->p + HT_HEAD_SIZE;

	for (uint32_t i = 0; i < plan->nruns; i++) {
		const struct ht_run run = plan->runs[i];
		if (run.fixed > (size_t)(end - p))
			return (uint64_t)(p - rec->p) + run.fixed > HT_MAX_RECORD ? HT_BAD : HT_MORE;
		st->starts[i] = p;
		p += run.fixed;
		if (run.string == 0)
			continue;
		if (p - rec->p > HT_MAX_RECORD)
			return HT_BAD;
		const size_t room = (size_t)(end - p);
		if (!textscan_cstring(p, room > HT_MAX_STRING ? p + HT_MAX_STRING : end, &st->strings[i]))
			return room >= HT_MAX_STRING ? HT_BAD : HT_MORE;
		if ((st->strings[i].flags & SLICE_UTF8) == 0)
			rec->bad_text = true;
		p += st->strings[i].n + 1;
	}
	rec->end = p;
	return HT_DONE;
}

#endif
