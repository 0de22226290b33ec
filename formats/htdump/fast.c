#include "htdump/htdump.h"

#include "base/scan.h"

/*
 * Records of which no event is made: numbers, and at most one string behind
 * them, as nearly all are.  Where the next record begins follows from the class
 * of this one; that it is the class of the last one is guessed, so that the
 * processor need not wait for its description.
 */

#define FAST_SPARE (1U << 20) /* bytes behind those that are taken, for one record: below all bounds */

/* What such records of one class have in common. */
struct usual {
	struct ht_class *c; /* NULL: none was met */
	uint32_t klass;
	uint32_t fixed;    /* bytes of the record before its string */
	uint32_t duration; /* where its duration lies, or HT_NO_LEAF */
	bool string;
	uint64_t records; /* that were taken, and not yet counted */
};

static void count(struct ht_state *st, struct usual *u)
{
	if (u->records == 0)
		return;
	u->c->cls->records += u->records;
	st->r->trace->events += u->records;
	u->records = 0;
}

/* false: records of the class are for ht_read_record(). */
static bool look_at_class(struct ht_state *st, struct usual *u, uint32_t klass)
{
	struct ht_class *const c = ht_class_find(&st->classes, klass);
	const struct ht_plan *const plan = c != NULL && c->kind == HT_KIND_EVENT ? c->plan : NULL;

	count(st, u);
	if (plan == NULL || plan->nruns > 1 || plan->label != HT_NO_LEAF ||
	    (plan->nruns > 0 && plan->runs[0].fixed > FAST_SPARE))
		return false;
	*u = (struct usual){ .c = c, .klass = klass, .fixed = HT_HEAD_SIZE, .duration = plan->duration };
	if (plan->nruns > 0) {
		u->fixed += plan->runs[0].fixed;
		u->string = plan->runs[0].string != 0;
	}
	if (u->duration != HT_NO_LEAF) {
		const struct ht_leaf *const l = &plan->leaves[u->duration];
		if (l->value != VALUE_U64)
			return false;
		u->duration = HT_HEAD_SIZE + l->at;
	}
	return true;
}

static inline __attribute__((always_inline)) void check_id(struct ht_state *st, uint64_t id, uint64_t offset,
                                                           uint64_t ordinal)
{
	if (idset_add(&st->ids, id))
		finding_tally_add(&st->id_repeated, offset, ordinal, id, 0);
}

static inline __attribute__((always_inline)) void take(struct ht_state *st, const char *most, const char *end,
                                                       bool big)
{
	const uint32_t klass_at = st->wire ? 0 : 16, ts_at = st->wire ? 4 : 0, id_at = st->wire ? 12 : 8;
	struct input *const in = st->r->in;
	const char *const from = in->p, *p = from;
	const uint64_t offset = input_offset(in, from);
	uint64_t records = st->r->records;
	struct usual u = { .c = NULL };

	while (p < most && (size_t)(end - p) >= HT_HEAD_SIZE) {
		const uint32_t klass = load_u32(p + klass_at, big);
		if ((klass != u.klass || u.c == NULL) && !look_at_class(st, &u, klass))
			break;
		if ((size_t)(end - p) < u.fixed)
			break;
		const uint64_t ts = load_u64(p + ts_at, big), id = load_u64(p + id_at, big);
		const char *next = p + u.fixed;
		if (u.string && (next = textscan_ascii_end(next, end)) == NULL)
			break;
		if (u.duration != HT_NO_LEAF && load_u64(p + u.duration, big) > UINT64_MAX - ts)
			break;
		check_id(st, id, offset + (uint64_t)(p - from), ++records);
		u.records++;
		p = next + u.string;
		if (st->ids.failed)
			break;
	}
	count(st, &u);
	st->r->records = records;
	in->p = p;
}

void ht_read_fast(struct ht_state *st, size_t most)
{
	const struct input *const in = st->r->in;
	const size_t left = (size_t)(in->end - in->p);

	if (!st->any_event || st->ahead_of != NULL)
		return;
	const char *const to = in->p + (left < most ? left : most);
	const char *const end = (size_t)(in->end - to) < FAST_SPARE ? in->end : to + FAST_SPARE;
	if (st->big)
		take(st, to, end, true);
	else
		take(st, to, end, false);
}
