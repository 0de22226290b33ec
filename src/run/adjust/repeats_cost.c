#include "run/adjust/repeats_cost.h"

#include "base/utf8.h"
#include "model/class.h"
#include "model/track.h"

static uint64_t list_cost(const struct value *v, struct cost_limits limits, uint64_t most, unsigned depth,
                          uint64_t *entries);

static inline uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A text or a list. */
static uint64_t
long_cost(const struct value *v, struct cost_limits limits, uint64_t most, unsigned depth, uint64_t *entries)
{
	switch (v->type) {
	case VALUE_STRING:
		return least(cost_text(v->count, v->flags), limits.text);
	case VALUE_JSON:
		return least(v->count, limits.text);
	case VALUE_BYTES: /* two digits each */
		return least(2 * (uint64_t)v->count, limits.text);
	default:
		return depth < COST_DEPTH ? list_cost(v, limits, most, depth + 1, entries) : 0;
	}
}

static inline uint64_t
plain_cost(const struct value *v)
{
	return v->type < VALUE_STRING && (v->type == VALUE_ADDRESS || v->u64 >> 32 != 0) ? COST_WIDE
	                                                                                 : COST_VALUE;
}

static uint64_t
list_cost(const struct value *v, struct cost_limits limits, uint64_t most, unsigned depth, uint64_t *entries)
{
	const uint64_t n = least(cost_entries(v), limits.entries);
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n && sum <= most; i++) {
		const struct value *const one = &v->values[i];
		++*entries;
		sum += plain_cost(one);
		if (one->type >= VALUE_STRING)
			sum += long_cost(one, limits, most - least(most, sum), depth, entries);
	}
	return sum;
}

/* Tables have the names of all tracks around it in each row. */
static uint64_t
track_cost(const struct track *k)
{
	uint64_t sum = 0;

	for (; k != NULL; k = k->parent)
		sum += cost_slice(&k->name);
	return sum;
}

void
cost_add_event(const struct batch *b, const struct event *e, struct cost_limits limits, uint64_t most,
               struct cost *sum)
{
	const struct field *const f = b->fields + e->first_field;
	const unsigned times = (e->flags & EVENT_ASYNC) != 0 ? 2 : 1; /* its begin and its end are apart */
	uint64_t texts = least(cost_slice(&e->name), limits.text) +
	                 least(cost_slice(&e->cls->name), limits.text) +
	                 least(cost_slice(&e->cls->category), limits.text);
	uint64_t plain = COST_EVENT + track_cost(e->track);

	texts *= times;
	plain *= times;
	for (uint32_t i = 0; i < e->nfields; i++) {
		texts += least(cost_slice(&f[i].name), limits.text);
		plain += plain_cost(&f[i].value);
		if (f[i].value.type >= VALUE_STRING)
			texts += long_cost(&f[i].value, limits, most, 0, &sum->entries);
	}
	sum->texts += texts;
	sum->all += texts + plain;
}

/* A byte, at most; what is not UTF-8 may be written as \\xff. */
static inline uint32_t
byte_cost(unsigned char c, bool utf8)
{
	if (c < 0x20 || c == 0x7f)
		return COST_ESCAPED;
	if (c >= 0x80)
		return utf8 ? 3 : COST_ESCAPED; /* \u0080 of two bytes */
	return c == '\\' ? 4 : c == '"' ? 2 : 1;
}

uint32_t
cost_prefix(struct slice s, uint32_t most)
{
	const bool utf8 = (s.flags & SLICE_UTF8) != 0;
	uint32_t n = 0, sum = utf8 ? 0 : 10; /* of lines that say what is escaped */

	if (cost_slice(&s) <= most)
		return s.n;
	if ((s.flags & SLICE_JSON) != 0)
		n = most;
	else
		while (n < s.n && (sum += byte_cost((unsigned char)s.p[n], utf8)) <= most)
			n++;
	return utf8 ? (uint32_t)utf8_valid_prefix(s.p, n) : n;
}
