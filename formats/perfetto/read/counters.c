/*
 * Counters of track events: the value of a counter event, values of extra counters, thread time and
 * instructions.  Values are scaled by the unit of their counter; differences are added up.
 */
#include "perfetto/read/read.h"
#include "base/compiler.h"

static struct pf_track *counter_track(struct pf_state *st, uint64_t uuid)
{
	struct pf_track *const t = pf_known_track(st, uuid);

	return t != NULL && t->desc.kind == PF_COUNTER ? t : NULL;
}

/* Returns the sum of an incremental counter: each sequence has its own.  NULL: the limit, or OOM. */
static COLD struct pf_sum *find_sum(struct pf_state *st, struct pf_track *t)
{
	const uint64_t key = hash_u64(t->uuid, hash_u64(st->sequence->index, st->seed));
	const uint32_t i = table64_element(&st->sum_index, key, &st->sums, &st->nsums, &st->sums_cap,
	                                   sizeof *st->sums, PF_MAX_SUMS);

	if (i == TABLE_NONE)
		pf_report_limit(st, PF_FULL_SUMS,
		                "more than %u sums of counters: values of others are differences",
		                PF_MAX_SUMS);
	st->r->no_memory |= i == TABLE_FAILED;
	if (i >= TABLE_FAILED)
		return NULL;
	st->sums[i].sequence = st->sequence;
	t->sum = i + 1;
	return &st->sums[i];
}

static double add_to_sum(struct pf_state *st, struct pf_track *t, double v)
{
	struct pf_sum *sum = t->sum != 0 ? &st->sums[t->sum - 1] : NULL;

	if (sum == NULL || sum->sequence != st->sequence)
		sum = find_sum(st, t);
	if (sum == NULL)
		return v;
	if (sum->generation != st->sequence->generation) {
		sum->generation = st->sequence->generation;
		sum->value = 0;
	}
	return sum->value += v;
}

/* Applies unit and sum of the counter. */
static void set_value(struct pf_state *st, struct pf_event *e, struct pf_track *t, bool is_integer, int64_t i,
                      double d)
{
	const struct pf_description *const c = &t->desc;

	e->kind = PF_VALUE;
	e->track = t;
	e->is_integer = is_integer && !c->is_incremental && c->multiplier <= 1;
	if (e->is_integer) {
		e->number = i;
		return;
	}
	double v = is_integer ? (double)i : d;
	if (c->multiplier > 0)
		v *= (double)c->multiplier;
	e->value = c->is_incremental ? add_to_sum(st, t, v) : v;
}

void pf_read_counter(struct pf_state *st, struct pf_event *e)
{
	const struct pf_event_fields *const te = &st->te;
	const struct pf_sequence *const s = st->sequence;
	const uint64_t uuid = te->has_track ? te->track : s->has_default_track ? s->default_track : 0;

	e->kind = PF_NOTHING;
	if (!te->has_track && !s->has_default_track) {
		pf_report(st, PF_RULE_COUNTER_UUID, "a counter event without track_uuid");
		return;
	}
	struct pf_track *const t = counter_track(st, uuid);
	if (t == NULL)
		pf_report(st, PF_RULE_COUNTER_TRACK, "track %" PRIu64 " has a value and is not a counter",
		          uuid);
	else if (!te->has_counter && !te->has_double)
		pf_report(st, PF_RULE_COUNTER_VALUE, "an event of counter %" PRIu64 " without a value", uuid);
	else
		set_value(st, e, t, te->has_counter, te->counter, te->double_counter);
}

/* Adds the extra counter values of one kind.  Returns false if the whole event is dropped. */
static bool read_extra(struct pf_state *st, const struct pf_event *e, const struct pf_extra_of *of,
                       bool doubles)
{
	const uint32_t tag = doubles ? PF_TAG(PF_event_extra_double_counter_values, PF_FIXED64)
	                             : PF_TAG(PF_event_extra_counter_values, PF_VARINT);
	struct pf_wire w = pf_wire_on(st->te.s);

	for (uint32_t at = 0; at < st->te.nextra[doubles] && pf_wire_find(&w, tag); at++) {
		if (of->n == 0)
			return pf_report(st, PF_RULE_EXTRA_UUIDS, "extra counter values, and no counters");
		if (at == of->n)
			return pf_report(st, PF_RULE_EXTRA_TRACK, "more values than %" PRIu32 " counters",
			                 of->n);
		const uint64_t uuid = of->uuids[at];
		struct pf_track *const t = uuid != 0 ? counter_track(st, uuid) : NULL;
		if (t == NULL)
			return pf_report(st, PF_RULE_EXTRA_TRACK,
			                 "track %" PRIu64 " has an extra value and is not a counter", uuid);
		struct pf_event x;
		clear_object(&x, sizeof x);
		x.ts = e->ts;
		set_value(st, &x, t, !doubles, (int64_t)w.v, doubles ? pf_wire_double(&w) : 0);
		pf_add_after(st, &x);
	}
	return true;
}

bool pf_read_extras(struct pf_state *st, const struct pf_event *e)
{
	const uint32_t *const n = st->te.nextra;
	struct pf_extra_of own[2];

	if (n[0] + n[1] > PF_MAX_EXTRA)
		return pf_report(st, PF_RULE_EXTRA_MAX, "%" PRIu32 " extra values, 8 at most", n[0] + n[1]);
	own[0].n = own[1].n = 0;
	if (st->te.has_extra_of)
		pf_extra_read(st->te.s, own);
	for (int doubles = 0; doubles < 2; doubles++) {
		const struct pf_extra_of *const of =
		    own[doubles].n > 0 ? &own[doubles] : &st->sequence->extra_of[doubles];
		if (n[doubles] > 0 && !read_extra(st, e, of, doubles)) {
			st->nafter = 0;
			return false;
		}
	}
	return true;
}

bool pf_read_thread_time(struct pf_state *st, const struct pf_event *e, struct pf_track *t)
{
	const struct pf_event_fields *const te = &st->te;
	struct pf_sequence *const s = st->sequence;
	struct pf_event x = { .kind = PF_VALUE, .ts = e->ts, .track = t, .is_integer = true };

	if ((te->thread_time == 1 || te->instruction_count == 1) && !s->has_base)
		return pf_report(st, PF_RULE_DELTA_BASE,
		                 "differences of thread time or instructions without a base");
	if (te->thread_time != 0) {
		int64_t us = te->thread_us;
		if (te->thread_time == 1)
			us = s->thread_us = pf_saturated_sum(s->thread_us, us);
		x.name = SLICE_LIT("thread_time");
		(void)pf_us_in_ns(us, &x.number);
		pf_add_after(st, &x);
	}
	if (te->instruction_count != 0) {
		x.number = te->instructions;
		if (te->instruction_count == 1)
			x.number = s->instructions = pf_saturated_sum(s->instructions, te->instructions);
		x.name = SLICE_LIT("thread_instruction_count");
		pf_add_after(st, &x);
	}
	return true;
}
