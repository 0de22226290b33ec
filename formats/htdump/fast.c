/*
 * Fast path: validates common records without building events.  Such a record has fixed-size fields, followed
 * by at most one string.  The class of a record gives its length; guessing that it is the class of the
 * previous record keeps the processor from waiting for the lookup.
 */
#include "htdump/htdump.h"

#define SPARE (1U << 20) /* bytes after `limit` that the last record may use; below all limits of records */

/* The class of the previous record. */
struct fast_class {
	struct ht_class *c; /* NULL before the first record */
	uint32_t id;
	uint32_t fixed;    /* bytes of the record before its string */
	uint32_t duration; /* offset in the record, or HT_NO_LEAF */
	bool string;
	uint64_t records; /* read, but not yet counted */
};

static void count_records(struct ht_state *st, struct fast_class *f)
{
	if (f->records == 0)
		return;
	f->c->cls->records += f->records;
	st->r->trace->events += f->records;
	f->records = 0;
}

/* Changes to the class with this id.  Returns false if read_record() must read its records. */
static bool select_class(struct ht_state *st, struct fast_class *f, uint32_t id)
{
	struct ht_class *const c = ht_class_find(&st->classes, id);
	const struct ht_plan *const plan = c != NULL && c->kind == HT_KIND_EVENT ? c->plan : NULL;

	count_records(st, f);
	if (plan == NULL || plan->nblocks > 1 ||
	    (st->r->range != NULL && c->cls->plan != NULL && !c->cls->reader_applies) ||
	    plan->label != HT_NO_LEAF || (plan->nblocks > 0 && plan->blocks[0].fixed > SPARE))
		return false;
	*f = (struct fast_class){ .c = c, .id = id, .fixed = HT_HEAD_SIZE, .duration = plan->duration };
	if (plan->nblocks > 0) {
		f->fixed += plan->blocks[0].fixed;
		f->string = plan->blocks[0].string != 0;
	}
	if (f->duration != HT_NO_LEAF) {
		const struct ht_leaf *const l = &plan->leaves[f->duration];
		if (l->value != VALUE_U64)
			return false;
		f->duration = HT_HEAD_SIZE + l->at;
	}
	return true;
}

/* Like check_id() of read.c, without its exceptions: select_class() accepts HT_KIND_EVENT only. */
static inline __attribute__((always_inline)) void check_id(struct ht_state *st, uint64_t id, uint64_t offset,
                                                           uint64_t ordinal)
{
	if (idset_add(&st->ids, id))
		finding_tally_add(&st->id_repeated, offset, ordinal, id, 0);
}

/* Reads records that start before `limit` and end before `end`.  range: gets their times, unless NULL.
 * Inlined three times, with a constant byte order or without a range. */
static inline __attribute__((always_inline)) void
read_records(struct ht_state *st, const char *limit, const char *end, bool big, struct reader_range *range)
{
	const uint32_t class_at = ht_class_id_at(st->wire), ts_at = ht_time_at(st->wire);
	const uint32_t id_at = ht_event_id_at(st->wire);
	struct input *const in = st->r->in;
	const char *const from = in->p, *p = from;
	const uint64_t offset = input_offset(in, from);
	uint64_t records = st->r->records;
	struct fast_class f = { .c = NULL };

	while (p < limit && (size_t)(end - p) >= HT_HEAD_SIZE) {
		const uint32_t class_id = load_u32(p + class_at, big);
		if ((class_id != f.id || f.c == NULL) && !select_class(st, &f, class_id))
			break;
		if ((size_t)(end - p) < f.fixed)
			break;
		const uint64_t ts = load_u64(p + ts_at, big), id = load_u64(p + id_at, big);
		const char *next = p + f.fixed;
		if (f.string && (next = textscan_ascii_end(next, end)) == NULL)
			break;
		if (f.duration != HT_NO_LEAF && load_u64(p + f.duration, big) > UINT64_MAX - ts)
			break;
		check_id(st, id, offset + (uint64_t)(p - from), ++records);
		if (range != NULL)
			reader_range_add(range, ts,
			                 f.duration != HT_NO_LEAF ? ts + load_u64(p + f.duration, big) : ts);
		f.records++;
		p = next + f.string;
		if (st->ids.failed)
			break;
	}
	count_records(st, &f);
	st->r->records = records;
	in->p = p;
}

bool ht_run(struct reader *r, const char *limit, struct batch *b)
{
	struct ht_state *const st = r->state;
	const struct input *const in = r->in;

	if ((b != NULL && r->range == NULL) || st->ahead_of != NULL || r->max_record < HT_FAST_RECORD)
		return false;
	if (st->long_record.open)
		return true;
	const char *const end = (size_t)(in->end - limit) < SPARE ? in->end : limit + SPARE;
	if (r->range != NULL)
		read_records(st, limit, end, st->big, r->range);
	else if (st->big)
		read_records(st, limit, end, true, NULL);
	else
		read_records(st, limit, end, false, NULL);
	r->no_memory |= st->ids.failed;
	return true;
}
