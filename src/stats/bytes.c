/*
 * Sums of numeric fields: the field of --sum, and the bytes of spans, from fields that the vocabulary names
 * (`bytes`).
 */
#include "base/match.h"
#include "model/number.h"
#include "stats/stats.h"

bool stats_number(const struct value *v, struct value *number)
{
	*number = *v;
	return (v->type >= VALUE_U8 && v->type <= VALUE_F64) ||
	       ((v->type == VALUE_JSON || v->type == VALUE_STRING) && value_number(value_text(v), number));
}

/* The product of the fields: 0 if one is missing, negative or no integer, or the product has more than 64
 * bits. */
static uint64_t bytes_in(const struct plan_bytes *bytes, const struct batch *b, const struct event *e)
{
	uint64_t product = 1;

	for (uint32_t i = 0; i < bytes->nfields; i++) {
		const struct field *const f = groups_field(b, e, bytes->field[i]);
		struct value v;
		if (f == NULL || !stats_number(&f->value, &v) || v.type > VALUE_I64 ||
		    (v.type >= VALUE_I8 && v.i64 < 0) || __builtin_mul_overflow(product, v.u64, &product))
			return 0;
	}
	return product;
}

bool stats_count_bytes(struct stats *s, struct span_table *t, uint32_t number, const struct batch *b,
                       const struct event *e)
{
	const struct plan_bytes *const bytes = plan_bytes_cached(&s->bytes_known, e->cls, e->name);

	if (bytes == NULL)
		return true;
	if (number != NAMES_OTHER && !array_reach(&t->bytes, &t->nbytes, number, sizeof *t->bytes))
		return false;
	s->has_bytes = true;
	total_add(number == NAMES_OTHER ? &t->other_bytes : &t->bytes[number], bytes_in(bytes, b, e));
	return true;
}
