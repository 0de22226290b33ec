/*
 * Fast path: validates plain records, and makes events that need no fields.  Such a record has fields of
 * fixed size, followed by at most one string.  The class of a record gives its length; guessing the class of
 * the previous record keeps the processor from waiting for the lookup.
 */
#include "htdump/htdump.h"

/* Bytes after `limit` for the last record, which all are in the window.  `limit` is at most 4 MiB after the
 * first byte to read, so a record has at most 5 MiB here: less than HT_FAST_RECORD. */
#define SPARE (1U << 20)

/* The class of the previous record. */
struct fast_class {
	struct ht_class *c; /* NULL before the first record */
	uint32_t id;
	uint32_t fixed;    /* bytes of the record before its string */
	uint32_t duration; /* offset in the record, or HT_NO_LEAF */
	bool string;
	bool named;                  /* its name is the string */
	const struct ht_leaf *label; /* or that of this label; NULL: none */
	const struct ht_leaf *thread;
	bool table_names; /* its raw events have fields: see WANT_BARE */
	uint64_t records; /* records read but not yet counted */
};

static void count_records(struct ht_state *st, struct fast_class *f)
{
	if (f->records == 0)
		return;
	f->c->cls->records += f->records;
	st->r->trace->events += f->records;
	f->records = 0;
}

/* Switches to the class with this id.  Returns false if read_record() must read its records. */
static bool select_class(struct ht_state *st, struct fast_class *f, uint32_t id)
{
	struct ht_class *const c = ht_class_find(&st->classes, id);
	const struct ht_plan *const plan = c != NULL && c->kind == HT_KIND_EVENT ? c->plan : NULL;

	count_records(st, f);
	if (plan == NULL || plan->nblocks > 1 ||
	    (st->r->range != NULL && !c->cls->reader_applies && !plan_keeps_times(c->cls->plan)) ||
	    (plan->nblocks > 0 && plan->blocks[0].fixed > SPARE))
		return false;
	*f = (struct fast_class){ .c = c, .id = id, .fixed = HT_HEAD_SIZE, .duration = plan->duration };
	if (plan->nblocks > 0) {
		f->fixed += plan->blocks[0].fixed;
		f->string = plan->blocks[0].string != 0;
		f->named = plan->name != HT_NO_LEAF;
	}
	f->table_names = st->raw && c->cls->table_names;
	if (plan->label != HT_NO_LEAF)
		f->label = &plan->leaves[plan->label];
	if (plan->thread != HT_NO_LEAF)
		f->thread = &plan->leaves[plan->thread];
	if (f->duration != HT_NO_LEAF) {
		const struct ht_leaf *const l = &plan->leaves[f->duration];
		if (l->value != VALUE_U64)
			return false;
		f->duration = HT_HEAD_SIZE + l->at;
	}
	return true;
}

/* Same as check_id() of read.c without its exceptions: select_class() only accepts HT_KIND_EVENT. */
INLINE void check_id(struct ht_state *st, uint64_t id, uint64_t offset, uint64_t ordinal)
{
	if (idset_add(&st->ids, id))
		finding_tally_add(&st->id_repeated, offset, ordinal, id, 0);
}

/* Gets the name of the label of the record at p, unless the event has another one.  Returns false if
 * read_record() has to look ahead for it, or to count it. */
INLINE bool find_label(struct ht_state *st, const struct fast_class *f, const char *p, struct slice *name)
{
	st->starts[0] = p + HT_HEAD_SIZE;
	const uint32_t i = table64_get(&st->labels.index, ht_leaf_integer(st, f->label));

	if (i != TABLE_NONE && !f->named)
		*name = st->labels.list[i].text;
	return i != TABLE_NONE;
}

/* Adds the event of the record at p.  Returns false if the batch is full, or on OOM. */
INLINE bool add_event(struct ht_state *st, const struct fast_class *f, struct batch *b,
                      const struct record *rec, struct slice name)
{
	st->starts[0] = rec->p + HT_HEAD_SIZE;
	const uint64_t thread = f->thread != NULL ? ht_leaf_integer(st, f->thread) : 0;
	const struct track *const track = ht_track_of(st, thread, rec);
	if (note_failure(&st->r->no_memory, track == NULL))
		return false;
	if (f->label != NULL && !f->named && !batch_hold(b, &st->labels.texts->shared))
		return false;
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(rec->p, (size_t)(rec->end - rec->p));
	struct event *const e = &b->events[b->n++];
	*e = (struct event){ .ts = rec->ts,
		             .dur = f->duration != HT_NO_LEAF ? load_u64(rec->p + f->duration, st->big) : 0,
		             .name = f->named || f->label != NULL ? name : f->c->cls->name,
		             .cls = f->c->cls,
		             .track = track,
		             .offset = rec->offset,
		             .phase = f->duration != HT_NO_LEAF ? PHASE_SPAN : PHASE_INSTANT,
		             .flags = st->r->event_flags };
	if (f->table_names) {
		st->c = f->c;
		st->id = load_u64(rec->p + ht_event_id_at(st->wire), st->big);
		const struct record copy = *rec;
		ht_fields(st->r, &copy, b, e);
	}
	return b->n < b->cap && b->nfields < READER_BATCH_FIELDS;
}

/* Reads records that start before `limit` and end before `end`; b NULL: makes no events.  range: gets their
 * times, unless NULL.  Returns false at a record of a class whose events need fields.  Inlined with a
 * constant byte order and constant NULLs. */
INLINE bool read_records(struct ht_state *st, const char *limit, const char *end, struct batch *b, bool big,
                         struct reader_range *range)
{
	const uint32_t class_at = ht_class_id_at(st->wire), ts_at = ht_time_at(st->wire);
	const uint32_t id_at = ht_event_id_at(st->wire);
	struct input *const in = st->r->in;
	const char *const from = in->p, *p = from;
	const uint64_t offset = input_offset(in, from);
	uint64_t records = st->r->records;
	struct fast_class f = { .c = NULL };
	struct slice name = { .p = NULL };
	bool can = true;

	while (p < limit && (size_t)(end - p) >= HT_HEAD_SIZE) {
		const uint32_t class_id = load_u32(p + class_at, big);
		if (class_id != f.id || f.c == NULL) {
			if (!select_class(st, &f, class_id) || (b != NULL && f.table_names && f.string))
				break;
			can = b == NULL || !class_needs_fields(f.c->cls);
			if (!can)
				break;
		}
		if ((size_t)(end - p) < f.fixed)
			break;
		const uint64_t ts = load_u64(p + ts_at, big), id = load_u64(p + id_at, big);
		const char *next = p + f.fixed;
		if (f.string && b != NULL) {
			if (!textscan_cstring(next, end, &name) || (name.flags & SLICE_UTF8) == 0)
				break;
			next += name.n;
		} else if (f.string && (next = textscan_ascii_end(next, end)) == NULL) {
			break;
		}
		if ((f.duration != HT_NO_LEAF && load_u64(p + f.duration, big) > UINT64_MAX - ts) ||
		    (f.label != NULL && !find_label(st, &f, p, &name)))
			break;
		const struct record rec = {
			.p = p,
			.end = next + f.string,
			.offset = offset + (uint64_t)(p - from),
			.ordinal = ++records,
			.ts = ts,
		};
		check_id(st, id, rec.offset, rec.ordinal);
		if (range != NULL)
			reader_range_add(range, ts,
			                 f.duration != HT_NO_LEAF ? ts + load_u64(p + f.duration, big) : ts);
		f.records++;
		p = rec.end;
		if (st->ids.failed || (b != NULL && !add_event(st, &f, b, &rec, name)))
			break;
	}
	count_records(st, &f);
	st->r->records = records;
	in->p = p;
	return can;
}

/* Events without fields: interpreted ones, or raw ones that are selected (WANT_WHOLE). */
static bool makes_events(const struct reader *r)
{
	if ((r->want & WANT_RAW) != 0)
		return (r->want & (WANT_WHOLE | WANT_BARE)) == (WANT_WHOLE | WANT_BARE);
	return (r->want & (WANT_TIMES | WANT_FIELDS)) == WANT_TIMES;
}

bool ht_run(struct reader *r, const char *limit, struct batch *b)
{
	struct ht_state *const st = r->state;
	const struct input *const in = r->in;
	bool can;

	if (r->range != NULL)
		b = NULL;
	if (st->ahead_of != NULL || r->max_record < HT_FAST_RECORD || (b != NULL && !makes_events(r)))
		return false;
	if (st->long_record.open)
		return true;
	const char *const end = (size_t)(in->end - limit) < SPARE ? in->end : limit + SPARE;
	if (r->range != NULL)
		can = read_records(st, limit, end, NULL, st->big, r->range);
	else if (b != NULL)
		can = st->big ? read_records(st, limit, end, b, true, NULL)
		              : read_records(st, limit, end, b, false, NULL);
	else if (st->big)
		can = read_records(st, limit, end, NULL, true, NULL);
	else
		can = read_records(st, limit, end, NULL, false, NULL);
	r->no_memory |= st->ids.failed;
	return can;
}
