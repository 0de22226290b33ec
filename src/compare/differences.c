/* The difference of two events: their parts and fields that are not equal, and whether counted losses explain
 * it.  Most events are equal, so they are compared before they are hashed. */
#include "compare/private.h"

#include "format/ledger.h"
#include "model/event.h"
#include "model/event_traits.h"

/* ---- two events ---- */

static bool is_unsigned(const struct value *v)
{
	return (v->type >= VALUE_U8 && v->type <= VALUE_U64) || v->type == VALUE_ADDRESS;
}

/* Also returns false for lists, maps and values of different types: their hashes decide. */
static bool values_equal(const struct value *a, const struct value *b)
{
	if (is_unsigned(a))
		return is_unsigned(b) && a->u64 == b->u64;
	if (a->type >= VALUE_I8 && a->type <= VALUE_I64)
		return b->type >= VALUE_I8 && b->type <= VALUE_I64 && a->i64 == b->i64;
	if (a->type != b->type)
		return false;
	switch ((enum value_type)a->type) {
	case VALUE_NONE:
		return true;
	case VALUE_BOOL:
	case VALUE_F32:
	case VALUE_F64:
		return a->u64 == b->u64;
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_JSON:
		return slice_equal(value_text(a), value_text(b));
	default:
		return false;
	}
}

/* Returns the next compared field from *i on, or NULL. */
static const struct field *next_field(const struct event_pair *x, int side, uint32_t *i, unsigned *seen)
{
	const struct event *const e = x->event[side];
	const struct event_fields *const fields = x->fields[side];

	for (; *i < e->nfields; ++*i) {
		const struct field *const f = &x->batch[side]->fields[e->first_field + *i];
		if (event_fields_are_all(fields) || event_field_is_compared(fields, f->name, seen)) {
			++*i;
			return f;
		}
	}
	return NULL;
}

/* Fields are mostly equal and in the same order; only the others are hashed. */
static bool fields_equal(const struct event_pair *x, struct canon *c)
{
	uint32_t i = 0, k = 0;
	unsigned seen[2] = { 0, 0 };
	struct wide_hash sum_a = { 0, 0 }, sum_b = { 0, 0 };

	for (;;) {
		const struct field *const a = next_field(x, 0, &i, &seen[0]), *const b = next_field(x, 1, &k,
		                                                                                    &seen[1]);
		if (a == NULL || b == NULL)
			return a == b && wide_hash_equal(sum_a, sum_b);
		if (slice_equal(a->name, b->name) && values_equal(&a->value, &b->value))
			continue;
		c->fields = x->fields[0];
		wide_hash_sum(&sum_a, event_field_hash(c, a));
		c->fields = x->fields[1];
		wide_hash_sum(&sum_b, event_field_hash(c, b));
	}
}

static bool categories_equal(const struct event *a, const struct event *b)
{
	const bool arrow = a->phase == PHASE_FLOW_IN;

	if (arrow || b->phase == PHASE_FLOW_IN)
		return arrow && b->phase == PHASE_FLOW_IN;
	return slice_equal(event_category(a), event_category(b));
}

/* Returns the parts that differ, without the fields. */
static unsigned scalar_differences(const struct event *a, const struct event *b)
{
	unsigned parts = 0;

	if (event_compared_duration(a) != event_compared_duration(b))
		parts |= PART_DURATION;
	if (event_compared_phase(a) != event_compared_phase(b) || event_is_async(a) != event_is_async(b) ||
	    event_is_step(a) != event_is_step(b))
		parts |= PART_PHASE;
	if (!slice_equal(a->name, b->name))
		parts |= PART_NAME;
	if (!categories_equal(a, b))
		parts |= PART_CATEGORY;
	return parts;
}

unsigned event_pair_differences(const struct event_pair *x, struct canon *c)
{
	const unsigned parts = scalar_differences(x->event[0], x->event[1]) & ~x->ignore;

	return (x->ignore & PART_FIELDS) != 0 || fields_equal(x, c) ? parts : parts | PART_FIELDS;
}

/* ---- their fields ---- */

struct field_list {
	const struct field *list;
	uint32_t n;
	bool used[FIELD_DIFFERENCES_MAX];
};

/* Marks the fields that are not compared as used. */
static struct field_list list_fields(const struct difference *d, int side, const struct differ_rules *rules)
{
	const struct event *const e = difference_event(d, side);
	struct field_list f = {
		.list = d->in[side]->fields + e->first_field,
		.n = e->nfields < FIELD_DIFFERENCES_MAX ? e->nfields : FIELD_DIFFERENCES_MAX,
	};
	unsigned seen = 0;

	for (uint32_t i = 0; i < f.n; i++)
		f.used[i] = !event_field_is_compared(&rules->fields[side], f.list[i].name, &seen);
	return f;
}

/* Returns the first unused field of this name, or n. */
static uint32_t find_field(const struct field_list *f, struct slice name)
{
	uint32_t i = 0;

	while (i < f->n && (f->used[i] || !slice_equal(f->list[i].name, name)))
		i++;
	return i;
}

bool field_differences(const struct difference *d, const struct differ_rules *rules, field_visitor *visit,
                       void *ctx)
{
	struct field_list a = list_fields(d, DIFFER_A, rules), b = list_fields(d, DIFFER_B, rules);
	struct canon canon = { .fields = &rules->fields[DIFFER_A] }; /* filters members alike on both sides */

	for (uint32_t i = 0; i < a.n; i++) {
		const struct field *const f = &a.list[i];
		if (a.used[i])
			continue;
		const uint32_t k = find_field(&b, f->name);
		if (k == b.n) {
			visit(ctx, f->name, &f->value, NULL);
			continue;
		}
		b.used[k] = true;
		canon.field = f->name;
		const struct wide_hash x = canon_value(&canon, &f->value),
		                       y = canon_value(&canon, &b.list[k].value);
		if (!wide_hash_equal(x, y))
			visit(ctx, f->name, &f->value, &b.list[k].value);
	}
	for (uint32_t k = 0; k < b.n; k++)
		if (!b.used[k])
			visit(ctx, b.list[k].name, NULL, &b.list[k].value);
	const bool ok = !canon.scratch.failed;
	canon_free(&canon);
	return ok;
}

/* ---- allowed differences ---- */

static void allow_parts(struct allowance *a, unsigned affects, uint64_t count)
{
	/* at its old time the event is missing, at the new one additional */
	if ((affects & AFFECTS_TIME) != 0)
		affects |= AFFECTS_MISSING | AFFECTS_MORE;
	for (unsigned i = 0; i < ALLOWANCE_PARTS; i++) {
		uint64_t *const left = &a->left[i];
		if ((affects >> i & 1) == 0)
			continue;
		if ((affects & AFFECTS_MANY) != 0 || count > UINT64_MAX - *left)
			*left = UINT64_MAX;
		else
			*left += count;
	}
}

/* Sets the rules that apply to all events. */
static void set_rules(struct allowance *a, const struct loss *l)
{
	if ((l->affects & AFFECTS_MICROSECONDS) != 0)
		a->tolerance = 999;
	if ((l->affects & AFFECTS_TRACK_NAMES) != 0)
		a->tracks |= TRACKS_WITHOUT_NAMES;
	if ((l->affects & AFFECTS_PROCESSES) != 0)
		a->tracks |= TRACKS_WITHOUT_PROCESSES;
}

static void add_names(const char **to, const char *names)
{
	size_t n = 0;

	while (to[n] != NULL)
		n++;
	if (names != NULL && n < ALLOWANCE_LISTS)
		to[n] = names;
}

static void allow_loss(struct allowance *a, const struct loss *l, uint64_t count)
{
	unsigned affects = l->affects;

	set_rules(a, l);
	if (l->adds != NULL && (affects & AFFECTS_MORE) != 0) {
		add_names(a->extra_classes, l->adds);
		a->extra_events += count;
		affects &= ~(unsigned)AFFECTS_MORE;
	} else if (l->adds != NULL && count >= a->events) { /* each event has added fields */
		add_names(a->added, l->adds);
		affects &= ~(unsigned)AFFECTS_FIELDS;
	}
	allow_parts(a, affects, count);
}

struct allowance allowance_of(const struct ledger *l, const struct loss *losses, uint64_t events)
{
	struct allowance a = { .events = events };

	for (size_t i = 0; i < l->n; i++)
		allow_loss(&a, l->rows[i].loss, l->rows[i].count);
	for (; losses != NULL && losses->id != NULL; losses++)
		if ((losses->affects & AFFECTS_ALWAYS) != 0) {
			set_rules(&a, losses);
			add_names(a.added, losses->adds);
		}
	return a;
}

unsigned allowance_ignore(const struct allowance *a)
{
	const unsigned ignorable = PART_NAME | PART_CATEGORY | PART_FIELDS | PART_TRACK | PART_PHASE;
	unsigned parts = 0;

	for (unsigned i = 0; i < ALLOWANCE_PARTS; i++)
		if (a->left[i] >= a->events)
			parts |= 1U << i;
	return parts & ignorable;
}

bool allowance_is_none(const struct allowance *a)
{
	for (unsigned i = 0; i < ALLOWANCE_PARTS; i++)
		if (a->left[i] > 0)
			return false;
	return a->tolerance == 0;
}

bool allowance_has(const struct allowance *a, unsigned parts)
{
	for (unsigned i = 0; i < ALLOWANCE_PARTS; i++)
		if ((parts >> i & 1) != 0 && a->left[i] == 0)
			return false;
	return true;
}

static bool take_parts(struct allowance *a, unsigned parts)
{
	if (!allowance_has(a, parts))
		return false;
	for (unsigned i = 0; i < ALLOWANCE_PARTS; i++)
		a->left[i] -= (parts >> i & 1) != 0 && a->left[i] != UINT64_MAX;
	return true;
}

bool allowance_take(struct allowance *a, const struct difference *d)
{
	if (d->in[DIFFER_B] == NULL)
		return take_parts(a, AFFECTS_MISSING);
	if (d->in[DIFFER_A] == NULL)
		return take_parts(a, AFFECTS_MORE);
	/* the pair may be two events of the same time: one that the output lacks, and one that it adds */
	return take_parts(a, d->parts) || take_parts(a, AFFECTS_MISSING | AFFECTS_MORE);
}
