#include "dial9/record.h"

#include "dial9/measure.h"

void
d9_record_overflow(struct d9_state *st, const struct d9_frame *f, uint32_t delta)
{
	d9_find_at(st, D9_RULE_TIME_OVERFLOW, f, f->p + 3, "base %" PRIu64 " plus delta %" PRIu32, st->base,
	           delta);
	st->base = UINT64_MAX;
}

/* ---- counting ---- */

void
d9_count_frame(struct d9_state *st, enum d9_structure which, const struct d9_frame *f)
{
	st->r->records++;
	st->structure[which]->records++;
	st->last_offset = f->offset;
}

void
d9_count_entry(struct d9_state *st)
{
	static const enum d9_structure structures[] = { [D9_TAG_STRINGS] = D9_S_STRINGS,
		                                        [D9_TAG_STACKS] = D9_S_STACKS,
		                                        [D9_TAG_ANNOTATIONS] = D9_S_ANNOTATIONS };

	st->r->records++;
	st->structure[structures[st->open.tag]]->records++;
	if (st->open.left > 0)
		st->open.left--;
	if (st->open.left == 0)
		st->last_offset = st->open.offset;
}

/* ---- adding to the batch ---- */

void
d9_record_structure(struct d9_state *st, enum d9_structure which, const struct d9_frame *f, struct batch *b,
                    const struct field *fields, uint32_t n)
{
	if (!d9_wants_structure(st))
		return;
	struct event *const e = d9_record_event(st, b, f, st->structure[which]);
	if (d9_wants_fields(st)) {
		struct field *const to = batch_fields(b, n);
		if (to == NULL) {
			st->no_memory = true;
			return;
		}
		memcpy(to, fields, n * sizeof *fields);
		e->first_field = b->nfields;
		e->nfields = (uint16_t)n;
		b->nfields += n;
	}
	b->n++;
}

#define RUN_RECORDS 65536U /* then the engine looks around */

uint32_t
d9_record_run(struct d9_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const uint64_t base = st->base;
	struct d9_frame f = { .p = in->p, .at = input_offset(in, in->p) };

	if (d9_check_run(st, RUN_RECORDS) == 0)
		return 0;
	f.end = in->p;
	d9_record_event(st, b, &f, st->structure[D9_S_RESET])->ts = base;
	b->n++;
	return 1;
}
