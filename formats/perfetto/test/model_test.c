#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "perfetto/test/model_events_test.h"
#include "perfetto/test/wire_test.h"

void model_room(void *list, uint32_t *n, uint32_t *cap, size_t size)
{
	cr_assert(array_reserve(list, *n, cap, size));
	++*n;
}

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
	model_replay(m);
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
