#include "run/meaning/interpret.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

#define TRACKS 5

struct interpret_rig {
	struct trace trace;
	struct batch batch;
	struct pairing p;
	struct class *cls[2];
	const struct track *process, *tracks[TRACKS];
};

static void stage_init(struct interpret_rig *g)
{
	char name[8];

	trace_init(&g->trace);
	cr_assert(batch_init(&g->batch, 256, false));
	g->cls[0] = trace_add_class(&g->trace, SLICE_LIT("one"));
	g->cls[1] = trace_add_class(&g->trace, SLICE_LIT("two"));
	g->process = trace_add_process(&g->trace, SLICE_LIT("p"));
	for (unsigned i = 0; i < TRACKS; i++) {
		snprintf(name, sizeof name, "t%u", i);
		g->tracks[i] = trace_add_thread(&g->trace, g->process, i, slice_str(name));
	}
	pairing_init(&g->p, &g->trace);
}

static void stage_free(struct interpret_rig *g)
{
	pairing_free(&g->p);
	batch_free(&g->batch);
	trace_free(&g->trace);
}

static struct event event_of(const struct interpret_rig *g, unsigned track, struct slice name, uint64_t ts)
{
	return (struct event){
		.ts = ts, .offset = ts, .name = name, .cls = g->cls[0], .track = g->tracks[track]
	};
}

/* Sets one field of the event, in the batch. */
static void add_field(struct interpret_rig *g, struct event *e, struct slice name, struct value value)
{
	struct field *const f = batch_fields(&g->batch, 1);

	if (e->nfields == 0)
		e->first_field = g->batch.nfields;
	f[0] = (struct field){ name, value };
	g->batch.nfields++;
	e->nfields++;
}

static void begin(struct interpret_rig *g, unsigned track, struct slice name, uint64_t ts,
                  struct pairing_how how)
{
	struct event e = event_of(g, track, name, ts);

	pairing_see(&g->p, e.track, ts);
	cr_assert_eq(pairing_begin(&g->p, &g->batch, &e, &how), PAIRING_OPEN);
}

static enum pairing_result finish(struct interpret_rig *g, unsigned track, uint64_t ts,
                                  struct pairing_how how, struct event *e)
{
	*e = event_of(g, track, SLICE_LIT("end"), ts);
	pairing_see(&g->p, e->track, ts);
	return pairing_end(&g->p, &g->batch, e, &how);
}

/* ---- the slow way: one list of all that is open ---- */

struct opened {
	uint64_t ts, key;
	unsigned track, pair, flags, number;
	bool gone;
};

struct oracle {
	struct opened *all;
	size_t n;
};

/* Returns the latest open span that the end closes, or NULL. */
static struct opened *oracle_find(struct oracle *o, unsigned track, struct pairing_how how)
{
	for (size_t i = o->n; i-- > 0;) {
		struct opened *const s = &o->all[i];
		if (s->gone || s->flags != how.flags)
			continue;
		if ((how.flags & PAIRING_ASYNC) == 0 && s->track != track)
			continue;
		if (how.pair == 0 && how.flags == 0 ? how.key == 0 || s->key == how.key
		                                    : s->pair == how.pair && s->key == how.key)
			return s;
	}
	return NULL;
}

static size_t count_open(const struct oracle *o)
{
	size_t open = 0;

	for (size_t i = 0; i < o->n; i++)
		open += !o->all[i].gone;
	return open;
}

/* Each open span is returned once at the end.  Returns the number of ends that waited for a begin. */
static uint64_t expect_rest(struct interpret_rig *g, struct oracle *o)
{
	const size_t left = count_open(o);
	uint64_t instants = 0;
	size_t got = 0;

	for (bool more = true; more;) {
		batch_recycle(&g->batch);
		more = pairing_finish(&g->p, &g->batch, true);
		for (uint32_t i = 0; i < g->batch.n; i++) {
			const struct event *const e = &g->batch.events[i];
			instants += e->phase == PHASE_INSTANT;
			for (size_t k = 0; k < o->n; k++) {
				if (o->all[k].ts != e->ts)
					continue;
				cr_assert_not(o->all[k].gone);
				o->all[k].gone = true;
				got++;
			}
		}
	}
	cr_assert_eq(got, left);
	return instants;
}

static struct pairing_how random_end(uint64_t *seed)
{
	struct pairing_how how = { .lasting = true };

	switch (next_random(seed) % 8) {
	case 0:
		how.flags = PAIRING_STATE;
		how.pair = (uint16_t)(50 + next_random(seed) % 2);
		break;
	case 1:
		how.flags = PAIRING_ASYNC;
		how.pair = 40;
		how.key = next_random(seed) % 12;
		break;
	case 2:
		how.pair = 30;
		how.key = 1 + next_random(seed) % 4;
		break;
	default:
		how.pair = (uint16_t)(next_random(seed) % 4);
	}
	return how;
}

Test(pairing, like_the_slow_way)
{
	enum { N = 20000 };
	struct oracle o = { .all = calloc(N, sizeof *o.all) };
	struct interpret_rig g;
	struct event e;
	uint64_t seed = 7, met = 0, alone = 0, pending = 0;

	stage_init(&g);
	for (uint64_t i = 1; i <= N; i++) {
		const unsigned track = (unsigned)(next_random(&seed) % TRACKS);
		const struct pairing_how how = random_end(&seed);
		struct opened *const want = oracle_find(&o, track, how);
		const size_t open = count_open(&o);
		/* few spans are open at a time, so that the search is not cut short */
		if (next_random(&seed) % 100 < (open > 50 ? 20 : 60)) {
			if ((how.flags & PAIRING_STATE) != 0 && want != NULL)
				continue;
			begin(&g, track, SLICE_LIT("x"), i, how);
			o.all[o.n++] =
			    (struct opened){ i, how.key, track, how.pair, how.flags, (unsigned)i, false };
			continue;
		}
		const enum pairing_result r = finish(&g, track, i, how, &e);
		const enum pairing_result lone =
		    (how.flags & PAIRING_ASYNC) != 0 ? PAIRING_OPEN : PAIRING_ALONE;
		cr_assert_eq(r, want != NULL ? PAIRING_SPAN : lone, "event %lu", (unsigned long)i);
		pending += want == NULL && lone == PAIRING_OPEN;
		met += want != NULL;
		alone += want == NULL;
		if (want == NULL)
			continue;
		cr_assert(e.phase == PHASE_SPAN && e.ts == want->ts && e.dur == i - want->ts &&
		          e.offset == want->ts);
		cr_assert(e.track == g.tracks[want->track] && slice_is(e.name, "x"));
		cr_assert_eq((e.flags & EVENT_ASYNC) != 0, (want->flags & PAIRING_ASYNC) != 0);
		want->gone = true;
	}
	cr_assert_gt(met, 1000);
	cr_assert_gt(alone, 100);
	cr_assert_eq(expect_rest(&g, &o), pending);
	free(o.all);
	stage_free(&g);
}

Test(pairing, fields_of_both_ends)
{
	struct interpret_rig g;
	const struct pairing_how how = { .pair = 1, .fields = true };
	char text[] = "hello", list_text[] = "in";
	struct value items[2] = { { .type = VALUE_U8, .u64 = 9 }, value_string(slice_str(list_text)) };

	stage_init(&g);
	struct event b = event_of(&g, 0, slice_str(text), 10);
	add_field(&g, &b, SLICE_LIT("same"), value_u64(1));
	add_field(&g, &b, SLICE_LIT("other"), value_u64(2));
	add_field(&g, &b, SLICE_LIT("list"),
	          (struct value){ .type = VALUE_LIST, .count = 2, .values = items });
	add_field(&g, &b, SLICE_LIT("text"), value_string(slice_str(text)));
	cr_assert_eq(pairing_begin(&g.p, &g.batch, &b, &how), PAIRING_OPEN);
	memset(text, '#', 5);
	memset(list_text, '#', 2);
	memset(items, 0, sizeof items);
	batch_recycle(&g.batch);
	struct event e = event_of(&g, 0, SLICE_LIT("end"), 30);
	add_field(&g, &e, SLICE_LIT("new"), value_u64(7));
	add_field(&g, &e, SLICE_LIT("other"), value_u64(3));
	add_field(&g, &e, SLICE_LIT("same"), value_u64(1));
	cr_assert_eq(pairing_end(&g.p, &g.batch, &e, &how), PAIRING_SPAN);
	cr_assert(slice_is(e.name, "hello") && e.ts == 10 && e.dur == 20);
	cr_assert_eq(e.nfields, 6);
	const struct field *const f = g.batch.fields + e.first_field;
	cr_assert(slice_is(f[0].name, "same") && slice_is(f[1].name, "other") && f[1].value.u64 == 2);
	cr_assert(f[2].value.values[0].u64 == 9 && slice_is(value_text(&f[2].value.values[1]), "in"));
	cr_assert(slice_is(value_text(&f[3].value), "hello"));
	cr_assert(slice_is(f[4].name, "new") && f[4].value.u64 == 7);
	cr_assert(slice_is(f[5].name, "end.other") && f[5].value.u64 == 3);
	cr_assert_eq(g.p.retained_bytes, 0, "it is the batch's now");
	stage_free(&g);
}

Test(pairing, ends_that_fit_badly)
{
	struct interpret_rig g;
	struct event e;
	const struct pairing_how a = { .pair = 1, .lasting = true }, b = { .pair = 2, .lasting = true },
	                         any = { .pair = 0 };

	stage_init(&g);
	cr_assert_eq(finish(&g, 3, 1, a, &e), PAIRING_ALONE);
	begin(&g, 0, SLICE_LIT("outer"), 10, a);
	begin(&g, 0, SLICE_LIT("inner"), 12, b);
	cr_assert_eq(finish(&g, 0, 20, a, &e), PAIRING_SPAN, "from below another one");
	cr_assert(slice_is(e.name, "outer"));
	cr_assert_eq(finish(&g, 1, 21, b, &e), PAIRING_ALONE, "another track");
	cr_assert_eq(finish(&g, 0, 22, any, &e), PAIRING_SPAN);
	cr_assert(slice_is(e.name, "inner") && e.dur == 10);
	begin(&g, 0, SLICE_LIT("back"), 200, a);
	cr_assert_eq(finish(&g, 0, 100, a, &e), PAIRING_SPAN);
	cr_assert(e.ts == 200 && e.dur == 0, "a clock that goes back");
	cr_assert(g.p.ledger.n == 1 && strcmp(g.p.ledger.rows[0].loss->id, "pairs/time-backwards") == 0);
	stage_free(&g);
}

Test(pairing, unfinished_ones_last_to_the_end)
{
	struct interpret_rig g;
	const struct pairing_how a = { .pair = 1, .lasting = true, .fields = true };
	bool more;

	stage_init(&g);
	begin(&g, 0, SLICE_LIT("outer"), 10, a);
	begin(&g, 0, SLICE_LIT("inner"), 20, a);
	begin(&g, 1, SLICE_LIT("other"), 90, a);
	pairing_see(&g.p, g.tracks[0], 50);
	pairing_see(&g.p, g.tracks[1], 95);
	const struct track *const below = trace_child_track(&g.trace, g.tracks[0], SLICE_LIT("state"));
	struct event e = event_of(&g, 0, SLICE_LIT("running"), 15);
	e.track = below;
	cr_assert_eq(
	    pairing_begin(&g.p, &g.batch, &e, &(struct pairing_how){ .pair = 9, .flags = PAIRING_STATE }),
	    PAIRING_OPEN);
	batch_recycle(&g.batch);
	more = pairing_finish(&g.p, &g.batch, true);
	cr_assert(!more && g.batch.n == 4);
	const struct event *const out = g.batch.events;
	cr_assert(slice_is(out[0].name, "inner") && out[0].ts == 20 && out[0].dur == 75);
	cr_assert(slice_is(out[1].name, "outer") && out[1].dur == 85);
	cr_assert(slice_is(out[2].name, "other") && out[2].dur == 5);
	cr_assert(slice_is(out[3].name, "running") && out[3].dur == 35, "its thread was heard of at 50");
	cr_assert(slice_is(g.batch.fields[out[0].first_field].name, "unfinished"));
	cr_assert_eq(g.p.unpaired, 3, "a state lasts as long as it lasts");
	stage_free(&g);
}

Test(pairing, depth_is_bounded)
{
	struct interpret_rig g;
	struct event e;
	const struct pairing_how how = { .pair = 1, .lasting = true }, other = { .pair = 2, .lasting = true };
	const uint64_t n = PAIRING_TRACK + 10;
	uint64_t spans = 0, dropped = 0;

	stage_init(&g);
	begin(&g, 0, SLICE_LIT("first"), 1, other);
	for (uint64_t i = 1; i < n; i++)
		begin(&g, 0, SLICE_LIT("deep"), 1 + i, how);
	cr_assert_eq(g.p.unpaired, 10);
	for (uint64_t i = 1; i < n; i++) {
		const enum pairing_result r = finish(&g, 0, 2 * n - i, how, &e);
		spans += r == PAIRING_SPAN;
		dropped += r == PAIRING_DROPPED;
		cr_assert(r == PAIRING_DROPPED || e.dur == n - 1, "each end has its own begin");
	}
	cr_assert(spans == PAIRING_TRACK - 1 && dropped == 10);
	cr_assert_eq(g.p.unpaired, 20);
	cr_assert_eq(finish(&g, 0, 3 * n, other, &e), PAIRING_SPAN);
	begin(&g, 0, SLICE_LIT("again"), 4 * n, how);
	cr_assert_eq(finish(&g, 0, 4 * n + 1, how, &e), PAIRING_SPAN, "there is room again");
	stage_free(&g);
}

/* Spans that are only counted use the slow path only for their own track. */
Test(pairing, a_crowded_track_does_not_slow_others)
{
	struct interpret_rig g;
	const struct pairing_how how = { .pair = 1, .lasting = true };
	uint64_t ts = 0;

	stage_init(&g);
	for (; ts < PAIRING_TRACK + 3; ts++) {
		struct event e = event_of(&g, 0, SLICE_LIT("s"), ts);
		cr_assert_eq(pairing_begin(&g.p, &g.batch, &e, &how), PAIRING_OPEN);
	}
	struct event e = event_of(&g, 1, SLICE_LIT("s"), ts);
	cr_assert_eq(pairing_begin(&g.p, &g.batch, &e, &how), PAIRING_OPEN); /* slots are free again */
	cr_assert(pairing_begin_fast(&g.p, &e, e.name, 1, 0));
	cr_assert(pairing_end_fast(&g.p, &e, 1, 0, &e));
	e = event_of(&g, 0, SLICE_LIT("s"), ts);
	cr_assert_not(pairing_begin_fast(&g.p, &e, e.name, 1, 0));
	for (int i = 0; i < 3; i++) {
		e = event_of(&g, 0, SLICE_LIT("s"), ts);
		cr_assert_not(pairing_end_fast(&g.p, &e, 1, 0, &e));
		cr_assert_eq(pairing_end(&g.p, &g.batch, &e, &how), PAIRING_DROPPED);
	}
	cr_assert(pairing_end_fast(&g.p, &e, 1, 0, &e), "the counted ones are gone");
	stage_free(&g);
}

Test(pairing, all_tracks_share_the_room)
{
	struct interpret_rig g;
	struct event e;
	uint64_t retained = 0;
	bool more = true;

	stage_init(&g);
	for (uint64_t i = 0; i < PAIRING_ALL + 100; i++)
		begin(&g, 0, SLICE_LIT("task"), i,
		      (struct pairing_how){ .pair = 1, .key = i, .flags = PAIRING_ASYNC });
	cr_assert_eq(g.p.n, PAIRING_ALL);
	cr_assert_eq(finish(&g, 4, PAIRING_ALL,
	                    (struct pairing_how){ .pair = 1, .key = 5, .flags = PAIRING_ASYNC }, &e),
	             PAIRING_SPAN);
	cr_assert(e.ts == 5 && e.track == g.tracks[0], "it may end elsewhere");
	while (more) {
		batch_recycle(&g.batch);
		more = pairing_finish(&g.p, &g.batch, false);
		retained += g.batch.n;
	}
	cr_assert_eq(retained, PAIRING_ALL - 1);
	stage_free(&g);
}

Test(pairing, bytes_are_bounded)
{
	struct interpret_rig g;
	struct event e;
	char *const big = calloc(1, 1 << 20);
	const struct pairing_how how = { .pair = 1, .fields = true };

	stage_init(&g);
	for (uint64_t i = 0; i < 20; i++) {
		batch_recycle(&g.batch);
		struct event b = event_of(&g, 0, slice_of(big, 100), i);
		add_field(&g, &b, SLICE_LIT("big"), value_string(slice_of(big, 1 << 20)));
		cr_assert_eq(pairing_begin(&g.p, &g.batch, &b, &how), PAIRING_OPEN);
		cr_assert_leq(g.p.retained_bytes, PAIRING_BYTES);
	}
	cr_assert_eq(g.p.ledger.rows[0].count, 13);
	for (uint64_t i = 0; i < 20; i++) {
		cr_assert_eq(finish(&g, 0, 100, how, &e), PAIRING_SPAN);
		cr_assert(e.ts == 19 - i && e.name.n == 100 && e.nfields == (i >= 13));
	}
	free(big);
	stage_free(&g);
}
