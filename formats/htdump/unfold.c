#include "htdump/unfold.h"

#include <stdlib.h>

#include "htdump/finding.h"

/*
 * Unfolding: a class with its bases and inlined structs becomes one flat list
 * of leaves.  The way down is a list, not recursion, and everything is counted:
 * a small file can describe an exponentially large class.
 */

struct frame {
	struct ht_class *c;
	struct slice prefix; /* "struct." for members, empty for bases */
	uint32_t next;       /* the field to visit; 0 is the base, then 1 + index */
	int32_t base;        /* the field that is the base, or -1; found once, not at each field */
	bool member;
};

struct unfold {
	struct ht_state *st;
	const struct ht_record *rec;
	struct frame *frames;
	uint32_t nframes, frames_cap;
	struct ht_plan *plan; /* gets the leaves and paths */
	uint32_t leaves_cap, paths_cap;
	uint32_t visited;
	struct tabletext names; /* leaf name -> how often */
	bool failed;
};

int32_t
ht_class_base(const struct ht_class *c)
{
	for (uint32_t i = 0; i < c->nfields; i++)
		if (c->fields[i].type == HT_STRUCT && slice_is(c->fields[i].name, "base"))
			return (int32_t)i;
	return -1;
}

static void
fail_no_memory(struct unfold *u)
{
	u->failed = u->st->no_memory = true;
}

static void
fail_limit(struct unfold *u)
{
	struct quoted q;

	u->failed = true;
	ht_finding_add(
	    u->st, HT_RULE_LIMIT, u->rec,
	    "class %s unfolds to more than %u fields, or all used classes together to more than %u",
	    quoted(&q, u->rec->c->name), HT_MAX_UNFOLD, HT_MAX_LEAVES);
}

static void
fail_work(struct unfold *u)
{
	struct quoted q;

	u->failed = true;
	ht_finding_add(u->st, HT_RULE_LIMIT, u->rec,
	               "class %s cannot be unfolded: the fields of classes were visited %" PRIu64
	               " times so far",
	               quoted(&q, u->rec->c->name), u->st->classes.visited);
}

static void
enter(struct unfold *u, struct ht_class *c, struct slice prefix, bool member)
{
	struct quoted q, q2;

	if (c->kind == HT_KIND_BARE)
		return; /* its 20 bytes are the head, and a struct has no head of its own */
	if (c->unfolding) {
		ht_finding_add(u->st, HT_RULE_STRUCT_RECURSION, u->rec,
		               "class %s contains itself (in an event of class %s)", quoted(&q, c->name),
		               quoted(&q2, u->rec->c->name));
		u->failed = true;
		return;
	}
	const int32_t base = ht_class_base(c);
	if (!member && u->st->wire && c->id >= HT_BUILTIN_CLASSES && base < 0)
		ht_finding_add(u->st, HT_RULE_NO_BASE, u->rec, "class %s lists no base", quoted(&q, c->name));
	if (!array_room(&u->frames, u->nframes, &u->frames_cap, sizeof *u->frames)) {
		fail_no_memory(u);
		return;
	}
	c->unfolding = true;
	u->frames[u->nframes++] = (struct frame){ .c = c, .prefix = prefix, .base = base, .member = member };
}

/* ---- leaves ---- */

static uint8_t
value_of(const struct ht_field *f)
{
	static const uint8_t widths[9] = { [1] = 0, [2] = 1, [4] = 2, [8] = 3 };

	switch ((enum ht_type)f->type) {
	case HT_STRING:
		return VALUE_STRING;
	case HT_INTEGER:
		return (uint8_t)(VALUE_I8 + widths[f->size]);
	case HT_UNSIGNED:
		return (uint8_t)(VALUE_U8 + widths[f->size]);
	case HT_FLOAT:
		return VALUE_F32;
	case HT_DOUBLE:
		return VALUE_F64;
	case HT_POINTER:
		return VALUE_ADDRESS;
	default:
		return VALUE_BYTES;
	}
}

/* The prefix and the name, with `behind` after them, in the trace's arena.  p is NULL: it failed. */
static struct slice
joined(struct unfold *u, struct slice prefix, struct slice name, const char *behind, uint64_t cost)
{
	struct slice s = { NULL, 0, 0 };

	if (!ht_describe_room(&u->st->classes, cost)) {
		fail_limit(u);
		return s;
	}
	s = arena_printf(&u->st->r->trace->arena, "%.*s%.*s%s", (int)prefix.n, prefix.p, (int)name.n, name.p,
	                 behind);
	if (s.p == NULL)
		fail_no_memory(u);
	s.flags = name.flags & (prefix.n > 0 ? prefix.flags : SLICE_UTF8 | SLICE_JSON);
	return s;
}

/* A path made unique: the second "x" of a class is "x (2)". */
static struct slice
unique_name(struct unfold *u, struct slice path)
{
	const struct slice nothing = { "", 0, SLICE_UTF8 | SLICE_JSON };
	uint32_t times = tabletext_get(&u->names, path);
	struct slice name = path;
	char number[16];

	if (times == TABLE_NONE) {
		if (!tabletext_put(&u->names, path, 1))
			fail_no_memory(u);
		return name;
	}
	do {
		snprintf(number, sizeof number, " (%u)", ++times);
		name = joined(u, nothing, path, number, path.n + UINT64_C(13));
	} while (!u->failed && tabletext_get(&u->names, name) != TABLE_NONE);
	if (!u->failed && (!tabletext_put(&u->names, path, times) || !tabletext_put(&u->names, name, 1)))
		fail_no_memory(u);
	return name;
}

static void
append(struct unfold *u, struct ht_leaf leaf, struct slice path)
{
	struct ht_plan *const plan = u->plan;

	if (!array_room(&plan->leaves, plan->nleaves, &u->leaves_cap, sizeof *plan->leaves) ||
	    !array_room(&plan->paths, plan->nleaves, &u->paths_cap, sizeof *plan->paths)) {
		fail_no_memory(u);
		return;
	}
	plan->paths[plan->nleaves] = path;
	plan->leaves[plan->nleaves++] = leaf;
}

static void
add_leaf(struct unfold *u, const struct frame *at, const struct ht_field *f)
{
	struct slice path = f->name, name = path;
	struct quoted q, q2;

	if (f->type == HT_TYPE_UNKNOWN && f->size > HT_MAX_OPAQUE) {
		ht_finding_add(u->st, HT_RULE_FIELD_SIZE, u->rec,
		               "field %s of class %s has %" PRIu64 " bytes of no known type",
		               quoted(&q, f->name), quoted(&q2, at->c->name), f->size);
		u->failed = true;
		return;
	}
	if (at->prefix.n > 0)
		path = joined(u, at->prefix, f->name, "", (uint64_t)at->prefix.n + f->name.n);
	if (!u->failed)
		name = unique_name(u, path);
	if (!u->failed && u->st->classes.leaves + u->plan->nleaves >= HT_MAX_LEAVES)
		fail_limit(u);
	if (u->failed)
		return;
	const struct ht_leaf leaf = { .name = name,
		                      .value = value_of(f),
		                      .member = at->member,
		                      .size = f->type == HT_STRING ? 0 : (uint32_t)f->size };
	append(u, leaf, path);
}

/* ---- the way through the classes ---- */

static void
visit_struct(struct unfold *u, const struct frame *at, const struct ht_field *f, bool is_base)
{
	const struct ht_classes *const all = &u->st->classes;
	const uint32_t i = tabletext_get(&all->by_name, f->type_name);
	struct quoted q, q2, q3;
	struct slice prefix = at->prefix;

	if (i == TABLE_NONE) {
		ht_finding_add(u->st, HT_RULE_STRUCT_UNKNOWN, u->rec,
		               "field %s of class %s is of class %s, which was not described",
		               quoted(&q, f->name), quoted(&q2, at->c->name), quoted(&q3, f->type_name));
		u->failed = true;
		return;
	}
	if (!is_base)
		prefix = joined(u, at->prefix, f->name, ".", (uint64_t)at->prefix.n + f->name.n + 1);
	if (!u->failed)
		enter(u, all->list[i], prefix, at->member || !is_base);
}

/* One field of the innermost class on the way. */
static void
visit(struct unfold *u)
{
	struct frame *const top = &u->frames[u->nframes - 1];
	const struct frame at = *top; /* entering a class may move the frames */
	const struct ht_field *f;

	if (at.next > at.c->nfields) {
		at.c->unfolding = false;
		u->nframes--;
		return;
	}
	if (++u->visited > HT_MAX_UNFOLD) {
		fail_limit(u);
		return;
	}
	if (++u->st->classes.visited > HT_MAX_UNFOLDS + u->rec->offset / 2) {
		fail_work(u);
		return;
	}
	top->next++;
	if (at.next == 0) {
		if (at.base >= 0)
			visit_struct(u, &at, &at.c->fields[at.base], true);
	} else if ((int32_t)at.next - 1 != at.base) {
		f = &at.c->fields[at.next - 1];
		if (f->type == HT_STRUCT)
			visit_struct(u, &at, f, false);
		else
			add_leaf(u, &at, f);
	}
}

bool
ht_unfold(struct ht_state *st, const struct ht_record *rec, struct ht_plan *plan)
{
	const struct slice id = st->wire ? SLICE_LIT("id") : SLICE_LIT("event_id");
	struct unfold u = { .st = st, .rec = rec, .plan = plan };

	if (!tabletext_put(&u.names, id, 1)) /* the event's id is the first field of every event */
		fail_no_memory(&u);
	else
		enter(&u, rec->c, (struct slice){ "", 0, SLICE_UTF8 | SLICE_JSON }, false);
	while (!u.failed && u.nframes > 0)
		visit(&u);
	for (uint32_t i = 0; i < u.nframes; i++)
		u.frames[i].c->unfolding = false;
	free(u.frames);
	tabletext_free(&u.names);
	return !u.failed;
}
