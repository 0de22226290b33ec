#include "htdump/raw.h"

#include "htdump/plan.h"
#include "htdump/value.h"

/*
 * Records as the file has them: the three fields of the head, then those of the
 * class, in file order and with the file's names, widths and numbers.  With the
 * byte order, which records of class 0 set, they are enough to write the file
 * again.
 */

static void
put_head(const struct ht_state *st, const struct ht_record *rec, struct field *f)
{
	const struct class_field *const head = ht_head_fields[st->wire];
	const struct value id = { .type = VALUE_U32, .u64 = rec->c->id };

	f[0] = (struct field){ head[0].name, st->wire ? id : value_u64(rec->ts) };
	f[1] = (struct field){ head[1].name, value_u64(st->wire ? rec->ts : rec->id) };
	f[2] = (struct field){ head[2].name, st->wire ? value_u64(rec->id) : id };
}

/* false: no memory. */
static bool
add_fields(const struct ht_state *st, const struct ht_record *rec, struct batch *b, struct event *e)
{
	const struct ht_plan *const plan = rec->c->plan;
	const uint32_t n = HT_HEAD_FIELDS + plan->nleaves;
	struct field *const f = batch_fields(b, n);

	if (f == NULL)
		return false;
	put_head(st, rec, f);
	for (uint32_t i = 0; i < plan->nleaves; i++) {
		const struct ht_leaf *const l = &plan->leaves[i];
		f[HT_HEAD_FIELDS + i] = (struct field){ plan->paths[i], ht_leaf_value(st, l) };
		f[HT_HEAD_FIELDS + i].value.type = ht_leaf_raw_type(l);
	}
	e->first_field = b->nfields;
	e->nfields = (uint16_t)n;
	b->nfields += n;
	return true;
}

void
ht_raw_add(struct ht_state *st, const struct ht_record *rec, struct batch *b)
{
	const bool structure = rec->c->kind != HT_KIND_EVENT;
	struct event *const e = &b->events[b->n];

	*e = (struct event){
		.ts = rec->ts,
		.name = rec->c->name,
		.cls = rec->c->cls,
		.track = structure ? NULL : st->tracks.process, /* its thread is known to vocabularies only */
		.offset = rec->offset,
		.phase = structure ? PHASE_STRUCTURE : PHASE_INSTANT,
	};
	const bool bare = (st->r->want & WANT_BARE) != 0 && !structure && rec->offset > 0;
	if (!bare && !add_fields(st, rec, b, e)) {
		st->no_memory = true;
		return;
	}
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(rec->p, (size_t)(rec->end - rec->p));
	b->n++;
}

void
ht_raw_add_run(struct ht_state *st, struct slice bytes, uint64_t offset, uint64_t records, struct batch *b)
{
	const struct class *const any = ht_class_find(&st->classes, HT_CLASS_ENDIANNESS)->cls;

	b->events[b->n] = (struct event){
		.ts = records, .name = any->name, .cls = any, .offset = offset, .phase = PHASE_STRUCTURE
	};
	if (b->bytes != NULL)
		b->bytes[b->n] = bytes;
	b->n++;
}
