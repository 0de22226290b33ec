/* Limits output amplification: texts and lists that the input stores once, and that many events refer to, are
 * cut when their total exceeds a multiple of the bytes read.  Costs are estimates in bytes of JSON.  Common
 * case: one addition per text.  Lists are measured recursively, to COST_DEPTH. */
#include "run/adjust/adjust.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/scan.h"
#include "model/event.h"
#include "model/value.h"
#include "run/engine_losses.h"

/* ---- cost of values ---- */

/* The part of a text or list that counts. */
struct cost_limits {
	uint32_t text;    /* bytes when written */
	uint32_t entries; /* of a list */
	uint32_t growth;  /* as in struct repeats; COST_PSEUDONYM is added */
};

static uint64_t list_cost(const struct value *v, struct cost_limits limits, uint64_t max, unsigned depth,
                          uint64_t *entries);

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns the cost of a text of n bytes after it has become a pseudonym. */
static inline uint64_t cost_grown(uint64_t n, uint32_t growth)
{
	return growth > 0 && n > 0 ? n * growth + COST_PSEUDONYM : n;
}

/* Returns the cost of a text or a list. */
static uint64_t long_cost(const struct value *v, struct cost_limits limits, uint64_t max, unsigned depth,
                          uint64_t *entries)
{
	switch (v->type) {
	case VALUE_STRING:
		return cost_grown(min_u64(cost_text(v->count, v->flags), limits.text), limits.growth);
	case VALUE_JSON:
		return min_u64(v->count, limits.text) * (limits.growth > 0 ? COST_PATH_GROWTH : 1);
	case VALUE_BYTES: /* two digits each */
		return min_u64(2 * (uint64_t)v->count, limits.text);
	default:
		return depth < COST_DEPTH ? list_cost(v, limits, max, depth + 1, entries) : 0;
	}
}

static inline uint64_t scalar_cost(const struct value *v)
{
	return v->type < VALUE_STRING && (v->type == VALUE_ADDRESS || v->u64 >> 32 != 0) ? COST_WIDE
	                                                                                 : COST_VALUE;
}

static uint64_t list_cost(const struct value *v, struct cost_limits limits, uint64_t max, unsigned depth,
                          uint64_t *entries)
{
	const uint64_t n = min_u64(value_entries(v), limits.entries);
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n && sum <= max; i++) {
		const struct value *const one = &v->values[i];
		++*entries;
		sum += scalar_cost(one);
		if (one->type >= VALUE_STRING)
			sum += long_cost(one, limits, max - min_u64(max, sum), depth, entries);
	}
	return sum;
}

static inline uint64_t cost_slice(const struct slice *s)
{
	return cost_text(s->n, s->flags);
}

/* Returns the cost of a track: rows of tables have the names of all ancestors. */
static uint64_t track_cost(const struct track *k, struct cost_limits limits)
{
	uint64_t sum = 0;

	for (; k != NULL; k = k->parent)
		sum += min_u64(cost_slice(&k->name), limits.text);
	return sum;
}

/* The costs of classes and tracks of recent events, by their index.  Zero-initialise to start; for events
 * with the same limits. */
#define RECENT 64U

struct recent {
	const struct class *cls[RECENT];
	const struct track *track[RECENT];
	uint64_t cls_cost[RECENT], track_cost[RECENT];
};

static inline uint64_t class_cost(struct recent *l, const struct class *cls, struct cost_limits limits)
{
	const uint32_t i = cls->index % RECENT;

	if (l->cls[i] != cls) {
		l->cls[i] = cls;
		l->cls_cost[i] = cost_grown(min_u64(cost_slice(&cls->name), limits.text), limits.growth) +
		                 cost_grown(min_u64(cost_slice(&cls->category), limits.text), limits.growth);
	}
	return l->cls_cost[i];
}

static inline uint64_t recent_track_cost(struct recent *l, const struct track *track,
                                         struct cost_limits limits)
{
	const uint32_t i = track != NULL ? track->index % RECENT : 0;

	if (l->track[i] != track) {
		l->track[i] = track;
		l->track_cost[i] = track_cost(track, limits);
	}
	return l->track_cost[i];
}

/* Adds the cost of an event and its fields.  Lists are measured until their cost exceeds `max`.  Inlined into
 * the loop over a batch, where most events have no fields and the limits are constant. */
INLINE void cost_add_event(struct recent *l, const struct batch *b, const struct event *e,
                           struct cost_limits limits, uint64_t max, struct cost *sum)
{
	const struct field *const f = b->fields + e->first_field;
	const unsigned twice = (e->flags & EVENT_ASYNC) != 0; /* separate begin and end */
	uint64_t texts = cost_grown(min_u64(cost_slice(&e->name), limits.text), limits.growth) +
	                 class_cost(l, e->cls, limits);

	uint64_t plain = COST_EVENT + recent_track_cost(l, e->track, limits);

	texts <<= twice;
	plain <<= twice;
	for (uint32_t i = 0; i < e->nfields; i++) {
		texts += min_u64(cost_slice(&f[i].name), limits.text);
		plain += scalar_cost(&f[i].value);
		if (f[i].value.type >= VALUE_STRING) {
			uint64_t entries = 0; /* `sum` stays in registers */
			texts += long_cost(&f[i].value, limits, max, 0, &entries);
			sum->entries += entries;
		}
	}
	sum->texts += texts;
	sum->all += texts + plain;
}

/* Returns the max cost of a byte; a byte that is not UTF-8 may be written as \\xff. */
static inline uint32_t byte_cost(unsigned char c, bool utf8)
{
	if (c < 0x20 || c == 0x7f)
		return COST_ESCAPED;
	if (c >= 0x80)
		return utf8 ? 3 : COST_ESCAPED; /* \u0080 of two bytes */
	return c == '\\' ? 4 : c == '"' ? 2 : 1;
}

uint32_t cost_prefix(struct slice s, uint32_t max)
{
	const bool utf8 = (s.flags & SLICE_UTF8) != 0;
	uint32_t n = 0, sum = utf8 ? 0 : 10; /* mark of an escaped text */

	if (cost_slice(&s) <= max)
		return s.n;
	if ((s.flags & SLICE_JSON) != 0)
		n = max;
	else
		while (n < s.n && (sum += byte_cost((unsigned char)s.p[n], utf8)) <= max)
			n++;
	return utf8 ? (uint32_t)utf8_valid_prefix(s.p, n) : n;
}

/* ---- the limit ---- */

/* Measuring lists costs time: this number of entries is charged as one byte of text. */
#define ENTRIES_PER_BYTE 2U
#define WHOLE(growth) ((struct cost_limits){ UINT32_MAX, UINT32_MAX, growth })

/* Limits for cutting. */
struct cut {
	struct cost_limits limits;
	enum engine_loss texts; /* loss that counts cut texts */
};

static const struct cut cuts[] = {
	{ { REPEATS_SHORT, REPEATS_ENTRIES, 0 }, ENGINE_LOSS_TEXT_CUT },
	{ { REPEATS_LEAST, REPEATS_FEW, 0 }, ENGINE_LOSS_SHORT_CUT },
};

void repeats_init(struct repeats *r, struct trace *trace, uint64_t factor, struct ledger *ledger,
                  const struct anonymise *anonymise)
{
	*r = (struct repeats){ .trace = trace,
		               .factor = factor > 0 ? factor : REPEATS_FACTOR,
		               .ledger = ledger,
		               .growth = anonymise == NULL       ? 0
		                         : anonymise->keep_paths ? COST_PATH_GROWTH
		                                                 : 1 };
}

static struct cost_limits limits_of(const struct repeats *r, int cut)
{
	struct cost_limits l = cuts[cut].limits;

	l.growth = r->growth;
	return l;
}

void repeats_free(struct repeats *r)
{
	free(r->cut);
}

/* ---- the allowance ---- */

static inline uint64_t subtract(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline void spend(struct repeats *r, const struct cost *c)
{
	r->spent.texts += c->texts;
	r->spent.all += c->all;
}

/* Returns the budget left for any event. */
static inline uint64_t budget_left(const struct repeats *r)
{
	const uint64_t texts = subtract(r->allowed.texts, r->spent.texts);
	const uint64_t all = subtract(r->allowed.all, r->spent.all);

	return texts < all ? texts : all;
}

/* Spends the cost if the budget allows it; else returns false. */
static bool fits(struct repeats *r, const struct cost *c)
{
	if (c->texts > subtract(r->allowed.texts, r->spent.texts) ||
	    c->all > subtract(r->allowed.all, r->spent.all))
		return false;
	spend(r, c);
	return true;
}

/* ---- texts and lists ---- */

static void add_loss(struct repeats *r, enum engine_loss what, uint64_t offset)
{
	ledger_add(r->ledger, &engine_losses[what], offset, 1);
}

static void cut_text(struct repeats *r, const struct cut *how, struct slice *s, uint64_t offset)
{
	const uint32_t n = cost_prefix(*s, how->limits.text);

	if (n == s->n)
		return;
	s->n = n;
	add_loss(r, how->texts, offset);
}

/* Cuts a STRING, BYTES or JSON. */
static void cut_text_value(struct repeats *r, const struct cut *how, struct value *v, uint64_t offset)
{
	struct slice s = value_text(v);

	if (v->type == VALUE_STRING) {
		cut_text(r, how, &s, offset);
		v->count = s.n;
	} else if (v->type == VALUE_BYTES && v->count > how->limits.text / 2) {
		v->count = how->limits.text / 2;
		add_loss(r, how->texts, offset);
	} else if (v->type == VALUE_JSON && v->count > how->limits.text) {
		s = textscan_slice(v->p, how->limits.text); /* a part of JSON is a plain text */
		s.n = cost_prefix(s, how->limits.text);
		*v = value_string(s);
		add_loss(r, how->texts, offset);
	}
}

/* Cuts a list and its entries, in a copy. */
static bool cut_list(struct repeats *r, struct batch *b, const struct cut *how, struct value *v,
                     uint64_t offset, unsigned depth)
{
	const uint32_t max = depth < COST_DEPTH ? how->limits.entries : 0;
	uint64_t n = value_entries(v);

	if (n > max) {
		n = max;
		v->count = v->type == VALUE_MAP ? max / 2 : max;
		add_loss(r, ENGINE_LOSS_LIST_CUT, offset);
	}
	if (n == 0 || (v->type != VALUE_MAP && v->element != VALUE_NONE && v->element < VALUE_STRING))
		return true; /* no texts or lists */
	struct value *const copy = arena_alloc(&b->scratch, n * sizeof *copy);
	if (copy == NULL)
		return false;
	memcpy(copy, v->values, n * sizeof *copy);
	v->values = copy;
	for (uint64_t i = 0; i < n; i++) {
		if (!value_is_list(&copy[i]))
			cut_text_value(r, how, &copy[i], offset);
		else if (!cut_list(r, b, how, &copy[i], offset, depth + 1))
			return false;
	}
	return true;
}

/* ---- classes ---- */

/* Returns the class with name and category cut to REPEATS_LEAST. */
static const struct class *min_class(struct repeats *r, const struct class *cls)
{
	if (!array_reach(&r->cut, &r->ncut, cls->index, sizeof(struct class *)))
		return NULL;
	if (r->cut[cls->index] == NULL) {
		struct class like = *cls;
		like.name.n = cost_prefix(like.name, REPEATS_LEAST);
		like.category.n = cost_prefix(like.category, REPEATS_LEAST);
		r->cut[cls->index] = trace_plan_class(r->trace, &like);
	}
	return r->cut[cls->index];
}

static bool cut_class(struct repeats *r, const struct cut *how, struct event *e)
{
	if (cost_prefix(e->cls->name, how->limits.text) == e->cls->name.n &&
	    cost_prefix(e->cls->category, how->limits.text) == e->cls->category.n)
		return true;
	e->cls = min_class(r, e->cls);
	add_loss(r, how->texts, e->offset);
	return e->cls != NULL;
}

/* ---- tracks ---- */

static void cut_track(struct repeats *r, const struct cut *how, struct event *e)
{
	for (const struct track *k = e->track; k != NULL; k = k->parent)
		if (cost_prefix(k->name, how->limits.text) != k->name.n) {
			e->flags |= EVENT_SHORT;
			add_loss(r, how->texts, e->offset);
			return;
		}
}

/* ---- events ---- */

static bool cut_event(struct repeats *r, struct batch *b, const struct cut *how, struct event *e)
{
	cut_track(r, how, e);
	cut_text(r, how, &e->name, e->offset);
	for (uint32_t i = 0; i < e->nfields; i++) {
		struct field *const f = &b->fields[e->first_field + i];
		cut_text(r, how, &f->name, e->offset);
		if (!value_is_list(&f->value))
			cut_text_value(r, how, &f->value, e->offset);
		else if (!cut_list(r, b, how, &f->value, e->offset, 0))
			return false;
	}
	return cut_class(r, how, e);
}

/* Leaves an event unchanged, or cuts it, or cuts it to the minimum, whose cost is always spent.  recent:
 * without limits, and with those of each cut. */
static bool check_event(struct repeats *r, struct batch *b, struct event *e, struct recent recent[3])
{
	struct cost c = { .texts = 0 };

	cost_add_event(&recent[0], b, e, WHOLE(r->growth), budget_left(r), &c);
	if (fits(r, &c))
		return true;
	r->spent.texts += c.entries / ENTRIES_PER_BYTE;
	c = (struct cost){ .texts = 0 };
	cost_add_event(&recent[1], b, e, limits_of(r, 0), UINT64_MAX, &c);
	if (fits(r, &c))
		return cut_event(r, b, &cuts[0], e);
	c = (struct cost){ .texts = 0 };
	cost_add_event(&recent[2], b, e, limits_of(r, 1), UINT64_MAX, &c);
	spend(r, &c);
	return cut_event(r, b, &cuts[1], e);
}

static uint64_t allowance(uint64_t read, uint64_t factor)
{
	return read > (UINT64_MAX - REPEATS_FREE) / factor ? UINT64_MAX : read * factor + REPEATS_FREE;
}

uint64_t repeats_allow(uint64_t read, uint64_t factor)
{
	const uint64_t f = factor > 0 ? factor : REPEATS_FACTOR;

	return allowance(read, f < UINT64_MAX / 2 ? f + REPEATS_REST : f);
}

/* Adds the costs of events without limits, until those of texts exceed `max`. */
INLINE void cost_add_batch(struct recent *l, const struct batch *b, uint32_t growth, uint64_t max,
                           struct cost *sum)
{
	for (uint32_t i = 0; i < b->n && sum->texts <= max; i++)
		cost_add_event(l, b, &b->events[i], WHOLE(growth), max - sum->texts, sum);
}

bool repeats_batch(struct repeats *r, struct batch *b, uint64_t read)
{
	struct recent recent[3] = { { .cls = { NULL } } };
	struct cost sum = { .texts = 0 };
	bool ok = true;

	r->allowed.texts = allowance(read, r->factor);
	r->allowed.all = repeats_allow(read, r->factor);
	const uint64_t max = budget_left(r);
	if (r->growth == 0) /* the usual case, compiled with this constant */
		cost_add_batch(&recent[0], b, 0, max, &sum);
	else
		cost_add_batch(&recent[0], b, r->growth, max, &sum);
	if (fits(r, &sum)) {
		b->engine.texts = sum.texts;
		return true;
	}
	for (uint32_t i = 0; i < b->n && ok; i++)
		ok = check_event(r, b, &b->events[i], recent);
	return ok;
}
