#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "perfetto/test/model_test.h"
#include "perfetto/test/wire_test.h"

/* Track events of the packets, in file order. */
struct model_event {
	uint64_t ts, place, track;
	unsigned type; /* 1 begin, 2 end, 3 instant, 4 counter */
	struct slice name, category;
	bool has_name;
	char *args;
	unsigned legacy; /* phase, a character; 0: none */
	uint64_t id;
	double value;
	bool has_value;
};

struct model_events {
	struct model_event *list;
	uint32_t n, cap;
	struct slice *interned[32]; /* by field of InternedData, then by number - 1 */
	uint32_t ninterned[32], interned_cap[32];
};

/* Makes space for one more element after the n of a list; fails the test on OOM. */
static void model_room(void *list, uint32_t *n, uint32_t *cap, size_t size)
{
	cr_assert(array_reserve(list, *n, cap, size));
	++*n;
}

#define ADD(list, n, cap) (model_room(&(list), &(n), &(cap), sizeof *(list)), &(list)[(n)-1])

/* ---- interned data ---- */

static void take_interned(struct model *m, struct proto p)
{
	struct model_events *const x = m->events;
	struct proto_field f, g;

	while (proto_next(&p, &f)) {
		uint64_t iid = 0;
		struct slice text = { 0 };
		const struct proto whole = f.bytes;
		cr_assert(f.number < 32 && f.type == 2, "interned field %u", f.number);
		while (proto_next(&f.bytes, &g)) {
			if (g.number == 1)
				iid = g.v;
			else if (g.type == 2)
				text = proto_text(&g);
		}
		if (f.number == 6 || f.number == 7) /* frames and stacks: the message */
			text = slice_of((const char *)whole.p, (size_t)(whole.end - whole.p));
		cr_assert_eq(iid, x->ninterned[f.number] + 1, "numbers are given one after the other");
		*ADD(x->interned[f.number], x->ninterned[f.number], x->interned_cap[f.number]) = text;
	}
}

static struct slice interned(const struct model *m, unsigned field, uint64_t iid)
{
	cr_assert(iid > 0 && iid <= m->events->ninterned[field], "%" PRIu64 " of field %u is not defined",
	          iid, field);
	return m->events->interned[field][iid - 1];
}

/* ---- arguments ---- */

static void put_annotation(const struct model *m, struct text *t, struct proto p, bool named, unsigned depth);

static void put_value(const struct model *m, struct text *t, const struct proto_field *f)
{
	switch (f->number) {
	case 2:
		text_str(t, f->v != 0 ? "true" : "false");
		break;
	case 3:
		text_printf(t, "u%" PRIu64, f->v);
		break;
	case 4:
		text_printf(t, "i%" PRId64, (int64_t)f->v);
		break;
	case 5:
		text_printf(t, "d%.17g", proto_double(f));
		break;
	case 6:
		text_char(t, 's');
		text_slice(t, proto_text(f));
		break;
	case 7:
		text_printf(t, "0x%" PRIx64, f->v);
		break;
	case 17:
		text_char(t, 's');
		text_slice(t, interned(m, 29, f->v));
		break;
	default:
		cr_assert_fail("annotation with field %u", f->number);
	}
}

static void put_annotation(const struct model *m, struct text *t, struct proto p, bool named, unsigned depth)
{
	struct proto_field f;
	struct slice name = { 0 };
	char open = 0;
	bool any = false;

	cr_assert_lt(depth, 110);
	while (proto_next(&p, &f)) {
		if (f.number == 1 || f.number == 10) {
			name = f.number == 1 ? interned(m, 3, f.v) : proto_text(&f);
			cr_assert(named && name.n > 0 && !any, "a name");
			text_slice(t, name);
			text_char(t, '=');
		} else if (f.number == 11 || f.number == 12) {
			const char mine = f.number == 11 ? '{' : '[';
			cr_assert(open == mine || !any, "one kind of value");
			text_char(t, open == 0 ? mine : ',');
			open = mine;
			put_annotation(m, t, f.bytes, f.number == 11, depth + 1);
			any = true;
		} else {
			cr_assert(!any, "two values in one annotation");
			put_value(m, t, &f);
			any = true;
		}
	}
	cr_assert(any && named == (name.n > 0), "an annotation needs a value, and a name or none");
	if (open != 0)
		text_char(t, open == '{' ? '}' : ']');
}

/* ---- call stacks ---- */

/* Expects that all frames are defined. */
static void expect_stack(const struct model *m, uint64_t iid)
{
	const struct slice stack = interned(m, 7, iid);
	struct proto p = { (const unsigned char *)stack.p, (const unsigned char *)stack.p + stack.n };
	struct proto_field f;
	uint32_t n = 0;

	for (; proto_next(&p, &f); n += f.number == 2)
		if (f.number == 2) {
			interned(m, 6, f.v);
			interned(m, 5, f.v);
		}
	cr_assert_gt(n, 0);
}

static void take_sample(struct model *m, struct proto p)
{
	struct proto_field f;

	while (proto_next(&p, &f)) {
		cr_assert(f.number >= 2 && f.number <= 4 && f.v > 0 && f.v <= INT32_MAX);
		if (f.number == 4)
			expect_stack(m, f.v);
	}
	m->nsamples++;
}

/* ---- events ---- */

static void take_legacy(struct model_event *e, struct proto p)
{
	struct proto_field f;

	while (proto_next(&p, &f)) {
		if (f.number == 2)
			e->legacy = (unsigned)f.v;
		else if (f.number == 6)
			e->id = f.v;
		else
			cr_assert(f.number == 12 && f.v == 1);
	}
}

static void take_event(struct model *m, struct model_event *e, struct proto p, bool flagged)
{
	struct proto_field f;
	struct text args = { 0 };

	while (proto_next(&p, &f)) {
		cr_assert(flagged || (f.number != 3 && f.number != 4 && f.number != 10),
		          "the packet uses interned data");
		if (f.number == 3 || f.number == 22) {
			e->category = f.number == 3 ? interned(m, 1, f.v) : proto_text(&f);
		} else if (f.number == 4) {
			text_str(&args, args.n > 0 ? " " : "");
			put_annotation(m, &args, f.bytes, true, 0);
		} else if (f.number == 6) {
			take_legacy(e, f.bytes);
		} else if (f.number == 9) {
			e->type = (unsigned)f.v;
		} else if (f.number == 10 || f.number == 23) {
			e->name = f.number == 10 ? interned(m, 2, f.v) : proto_text(&f);
			e->has_name = true;
		} else if (f.number == 11) {
			e->track = f.v;
		} else if (f.number == 56) {
			expect_stack(m, f.v);
			m->nstacks++;
		} else if (f.number == 30 || f.number == 44) {
			e->value = f.number == 30 ? (double)(int64_t)f.v : proto_double(&f);
			e->has_value = true;
		} else {
			cr_assert_fail("track event with field %u", f.number);
		}
	}
	text_char(&args, '\0');
	e->args = args.p;
}

/* ---- tracks ---- */

static void take_member(struct model_track *k, char kind, struct proto p)
{
	struct proto_field f;

	k->kind = kind;
	while (proto_next(&p, &f)) {
		if (kind == 'c' && f.number == 3)
			k->unit = f.v;
		else if (kind == 'c')
			k->unit_name = proto_text(&f);
		else if (f.number == 1)
			k->pid = (int64_t)f.v;
		else if (f.number == 2)
			k->tid = (int64_t)f.v;
		else if (f.number == (kind == 'p' ? 6 : 5))
			k->name = proto_text(&f);
		else
			cr_assert(kind == 'p' && f.number == 8, "field %u", f.number);
	}
}

static void take_track(struct model *m, struct proto p)
{
	struct model_track *const k = ADD(m->tracks, m->ntracks, m->tracks_cap);
	struct proto_field f;
	bool global = false;

	*k = (struct model_track){ .kind = ' ' };
	while (proto_next(&p, &f)) {
		if (f.number == 1)
			k->uuid = f.v;
		else if (f.number == 2)
			k->name = proto_text(&f);
		else if (f.number == 3 || f.number == 4 || f.number == 8)
			take_member(k, f.number == 3 ? 'p' : f.number == 4 ? 't' : 'c', f.bytes);
		else if (f.number == 5)
			k->parent = f.v;
		else if (f.number == 15)
			k->merge = f.v;
		else if (f.number == 19 || f.number == 20)
			global = true;
		else
			cr_assert_eq(f.number, 12, "track with field %u", f.number);
	}
	if (global)
		m->ntracks--;
	else
		cr_assert(k->uuid > (m->ntracks > 1 ? k[-1].uuid : 0), "uuids ascend");
	cr_assert(global || k->parent == 0 || model_track(m, k->parent) != NULL, "the parent is not there");
}

/* ---- packets ---- */

static void take_attributes(struct model *m, struct proto p)
{
	struct proto_field f, g;

	while (proto_next(&p, &f)) {
		struct model_attribute *const a = ADD(m->attributes, m->nattributes, m->attributes_cap);
		*a = (struct model_attribute){ .number = 0 };
		while (proto_next(&f.bytes, &g)) {
			if (g.number == 1)
				a->key = proto_text(&g);
			else if (g.number == 2)
				a->number = (int64_t)g.v;
			else
				a->text = proto_text(&g);
		}
	}
}

static void take_clocks(struct model *m, struct proto p)
{
	struct proto_field f, g;

	while (proto_next(&p, &f)) {
		cr_assert(f.number == 1 && m->nclocks < 8);
		while (proto_next(&f.bytes, &g))
			m->clocks[m->nclocks][g.number == 2] = g.v;
		m->nclocks++;
	}
}

static void take_packet(struct model *m, struct proto p)
{
	struct model_event e = { .place = m->events->n };
	struct proto event = { 0 }, sample = { 0 };
	struct proto_field f;
	uint64_t sequence = 0, flags = 0;
	bool timed = false;

	while (proto_next(&p, &f)) {
		if (f.number == 8) {
			e.ts = f.v;
			timed = true;
		} else if (f.number == 10)
			sequence = f.v;
		else if (f.number == 13)
			flags = f.v;
		else if (f.number == 12)
			take_interned(m, f.bytes);
		else if (f.number == 11)
			event = f.bytes;
		else if (f.number == 60)
			take_track(m, f.bytes);
		else if (f.number == 126)
			take_attributes(m, f.bytes);
		else if (f.number == 66)
			sample = f.bytes;
		else if (f.number == 6)
			take_clocks(m, f.bytes);
		else
			cr_assert_eq(f.number, 87, "packet with field %u", f.number);
	}
	cr_assert_eq(sequence, 1);
	if (sample.p != NULL)
		take_sample(m, sample);
	if (event.p == NULL)
		return;
	cr_assert(timed && e.ts <= INT64_MAX);
	take_event(m, &e, event, flags == 2);
	*ADD(m->events->list, m->events->n, m->events->cap) = e;
}

/* ---- replay: one stack per track ---- */

struct stack {
	uint32_t *open; /* in slices */
	uint32_t n, cap;
};

struct replay {
	struct model *m;
	struct stack *stacks; /* by index of the track in m->tracks */
	struct table64 tracks, starts;
};

static int by_time(const void *x, const void *y)
{
	const struct model_event *const a = x, *const b = y;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

/* Instants end at a later event or when another instant starts. */
static void drop_instants(struct replay *r, struct stack *s, uint64_t ts, bool begin)
{
	while (s->n > 0) {
		const struct model_slice *const top = &r->m->slices[s->open[s->n - 1]];
		if (top->dur != 0 || (top->ts == ts && !begin))
			return;
		s->n--;
	}
}

static uint32_t push(struct replay *r, struct stack *s, const struct model_event *e)
{
	const uint32_t i = r->m->nslices;

	cr_assert(e->has_name);
	cr_assert_lt(s->n, 512);
	struct model_slice *const x = ADD(r->m->slices, r->m->nslices, r->m->slices_cap);
	*x = (struct model_slice){
		.ts = e->ts, .dur = e->type == 3 ? 0 : -1, .depth = s->n, .track = e->track
	};
	x->parent = s->n > 0 ? (int64_t)s->open[s->n - 1] : -1;
	x->name = e->name;
	x->category = e->category;
	x->args = e->args;
	*ADD(s->open, s->n, s->cap) = i;
	return i;
}

static void end(struct replay *r, struct stack *s, const struct model_event *e)
{
	drop_instants(r, s, e->ts, true);
	cr_assert_gt(s->n, 0, "an end at %" PRIu64 " of nothing", e->ts);
	cr_assert(!e->has_name);
	struct model_slice *const x = &r->m->slices[s->open[--s->n]];
	x->dur = (int64_t)(e->ts - x->ts);
}

static void arrow(struct replay *r, struct stack *s, const struct model_event *e)
{
	const struct model_track *const t = model_track(r->m, e->track);

	drop_instants(r, s, e->ts, false);
	cr_assert_gt(s->n, 0, "an arrow outside of all spans");
	cr_assert(t->kind != ' ' || t->merge == 2, "an arrow on a track that may be merged");
	const uint32_t at = s->open[s->n - 1];
	if (e->legacy == 's') {
		cr_assert(table64_put(&r->starts, e->id, at));
		return;
	}
	const uint32_t from = table64_get(&r->starts, e->id);
	cr_assert((e->legacy == 'f' || e->legacy == 't') && from != TABLE_NONE,
	          "an arrow that ends without a begin");
	if (e->legacy == 't') /* it continues from here */
		cr_assert(table64_put(&r->starts, e->id, at));
	*ADD(r->m->arrows, r->m->narrows, r->m->arrows_cap) = (struct model_arrow){ from, at, e->category };
}

static void take(struct replay *r, const struct model_event *e)
{
	const uint32_t place = table64_get(&r->tracks, e->track);

	cr_assert_neq(place, TABLE_NONE, "track %" PRIu64 " has no descriptor", e->track);
	struct stack *const s = &r->stacks[place];
	cr_assert_eq(e->type == 4, r->m->tracks[place].kind == 'c');
	if (e->legacy != 0) {
		arrow(r, s, e);
	} else if (e->type == 1 || e->type == 3) {
		if (e->type == 3 && s->n > 0) {
			const struct model_slice *const top = &r->m->slices[s->open[s->n - 1]];
			cr_assert(top->dur != 0 || top->ts != e->ts, "an instant in an instant");
		}
		drop_instants(r, s, e->ts, true);
		push(r, s, e);
	} else if (e->type == 2) {
		end(r, s, e);
	} else {
		cr_assert(e->type == 4 && e->has_value);
		*ADD(r->m->counts, r->m->ncounts, r->m->counts_cap) =
		    (struct model_count){ e->ts, e->track, e->value, e->args };
	}
}

static void replay_events(struct model *m)
{
	struct replay r = { .m = m, .stacks = calloc(m->ntracks + 1, sizeof *r.stacks) };

	cr_assert_not_null(r.stacks);
	for (uint32_t i = 0; i < m->ntracks; i++) {
		cr_assert_eq(table64_get(&r.tracks, m->tracks[i].uuid), TABLE_NONE, "two tracks of one uuid");
		cr_assert(table64_put(&r.tracks, m->tracks[i].uuid, i));
	}
	if (m->events->n > 0)
		qsort(m->events->list, m->events->n, sizeof *m->events->list, by_time);
	for (uint32_t i = 0; i < m->events->n; i++)
		take(&r, &m->events->list[i]);
	for (uint32_t i = 0; i < m->ntracks; i++)
		free(r.stacks[i].open);
	free(r.stacks);
	table64_free(&r.tracks);
	table64_free(&r.starts);
}

void model_read(struct model *m, const char *p, size_t n)
{
	struct proto file = { (const unsigned char *)p, (const unsigned char *)p + n };
	struct proto_field f;

	*m = (struct model){ .events = calloc(1, sizeof *m->events) };
	cr_assert_not_null(m->events);
	while (proto_next(&file, &f)) {
		cr_assert(f.number == 1 && f.type == 2);
		take_packet(m, f.bytes);
	}
	replay_events(m);
}

void model_free(struct model *m)
{
	for (uint32_t i = 0; i < m->events->n; i++)
		free(m->events->list[i].args);
	for (int i = 0; i < 32; i++)
		free(m->events->interned[i]);
	free(m->events->list);
	free(m->events);
	free(m->tracks);
	free(m->slices);
	free(m->counts);
	free(m->arrows);
	free(m->attributes);
}

const struct model_track *model_track(const struct model *m, uint64_t uuid)
{
	uint32_t low = 0, high = m->ntracks; /* uuids ascend */

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (m->tracks[middle].uuid == uuid)
			return &m->tracks[middle];
		if (m->tracks[middle].uuid < uuid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct model_track *model_track_named(const struct model *m, const char *name)
{
	for (uint32_t i = 0; i < m->ntracks; i++)
		if (slice_is(m->tracks[i].name, name))
			return &m->tracks[i];
	return NULL;
}

const struct model_slice *model_slice_named(const struct model *m, const char *name)
{
	for (uint32_t i = 0; i < m->nslices; i++)
		if (slice_is(m->slices[i].name, name))
			return &m->slices[i];
	return NULL;
}

const struct model_attribute *model_attribute(const struct model *m, const char *key)
{
	for (uint32_t i = 0; i < m->nattributes; i++)
		if (slice_is(m->attributes[i].key, key))
			return &m->attributes[i];
	return NULL;
}
