#include <stdio.h>
#include <stdlib.h>

#include "htdump/htdump_state.h"

/*
 * Unfolding: a class with its bases and inlined structs becomes one flat list
 * of leaves, and the leaves become steps (fixed bytes, then perhaps a string)
 * that a record is measured with.  The way down is a list, not recursion, and
 * everything is counted: a small file can describe an exponentially large class.
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
	struct ht_class *top;
	struct frame *frames;
	uint32_t nframes, frames_cap;
	struct ht_leaf *leaves;
	uint32_t nleaves, leaves_cap;
	struct slice *paths; /* names of the leaves before they are made unique */
	uint32_t visited;
	struct tabletext names; /* leaf name -> how often */
};

void
ht_plan_free(struct ht_plan *plan)
{
	if (plan == NULL)
		return;
	free(plan->leaves);
	free(plan->paths);
	free(plan->steps);
	free(plan->args);
	free(plan);
}

bool
ht_value_is_integer(uint8_t value)
{
	return value >= VALUE_U8 && value <= VALUE_I64;
}

static int32_t
base_of(const struct ht_class *c)
{
	for (uint32_t i = 0; i < c->nfields; i++)
		if (c->fields[i].type == HT_STRUCT && slice_is(c->fields[i].name, "base"))
			return (int32_t)i;
	return -1;
}

static enum ht_outcome
limit_reached(struct unfold *u)
{
	struct quoted q;

	ht_find(u->st, HT_RULE_LIMIT, u->rec,
	        "class %s unfolds to more than %u fields, or all used classes together to more than %u",
	        quoted(&q, u->top->name), HT_MAX_UNFOLD, HT_MAX_LEAVES);
	return HT_BAD;
}

static enum ht_outcome
enter(struct unfold *u, struct ht_class *c, struct slice prefix, bool member)
{
	struct quoted q, q2;

	if (c->kind == HT_KIND_BARE)
		return HT_DONE; /* its 20 bytes are the head, and a struct has no head of its own */
	if (c->unfolding) {
		ht_find(u->st, HT_RULE_STRUCT_RECURSION, u->rec,
		        "class %s contains itself (in an event of class %s)", quoted(&q, c->name),
		        quoted(&q2, u->top->name));
		return HT_BAD;
	}
	const int32_t base = base_of(c);
	if (!member && u->st->wire && c->id >= HT_BUILTIN_CLASSES && base < 0)
		ht_find(u->st, HT_RULE_NO_BASE, u->rec, "class %s lists no base", quoted(&q, c->name));
	if (!array_room(&u->frames, u->nframes, &u->frames_cap, sizeof *u->frames))
		return HT_NO_MEMORY;
	c->unfolding = true;
	u->frames[u->nframes++] = (struct frame){ .c = c, .prefix = prefix, .base = base, .member = member };
	return HT_DONE;
}

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

/* The name of a leaf with the structs it lies in.  p is NULL: out of memory or bounds. */
static struct slice
leaf_path(struct unfold *u, struct slice prefix, struct slice name)
{
	struct slice path = name;

	if (prefix.n == 0)
		return path;
	if (!ht_describe_room(u->st, (uint64_t)prefix.n + name.n))
		return (struct slice){ NULL, 0, 0 };
	path =
	    arena_printf(&u->st->r->trace->arena, "%.*s%.*s", (int)prefix.n, prefix.p, (int)name.n, name.p);
	path.flags = prefix.flags & name.flags;
	return path;
}

/* A path made unique: the second "x" of a class is "x (2)".  p is NULL: out of memory or bounds. */
static struct slice
leaf_name(struct unfold *u, struct slice path)
{
	struct slice name = path;
	uint32_t times = path.p != NULL ? tabletext_get(&u->names, path) : TABLE_NONE;

	if (times == TABLE_NONE)
		return path.p != NULL && tabletext_put(&u->names, path, 1) ? path
		                                                           : (struct slice){ NULL, 0, 0 };
	do {
		times++;
		if (!ht_describe_room(u->st, path.n + UINT64_C(13)))
			return (struct slice){ NULL, 0, 0 };
		name = arena_printf(&u->st->r->trace->arena, "%.*s (%u)", (int)path.n, path.p, times);
		if (name.p == NULL)
			return name;
		name.flags = path.flags;
	} while (tabletext_get(&u->names, name) != TABLE_NONE);
	if (!tabletext_put(&u->names, path, times) || !tabletext_put(&u->names, name, 1))
		name.p = NULL;
	return name;
}

/* Room for one more leaf and its path.  false: no memory. */
static bool
leaf_room(struct unfold *u)
{
	uint32_t cap = u->leaves_cap;

	if (!array_room(&u->leaves, u->nleaves, &cap, sizeof *u->leaves) ||
	    !array_room(&u->paths, u->nleaves, &u->leaves_cap, sizeof *u->paths))
		return false;
	return true;
}

static enum ht_outcome
add_leaf(struct unfold *u, const struct frame *at, const struct ht_field *f)
{
	struct quoted q, q2;
	const struct slice path = leaf_path(u, at->prefix, f->name), name = leaf_name(u, path);

	if (f->type == HT_TYPE_UNKNOWN && f->size > HT_MAX_OPAQUE) {
		ht_find(u->st, HT_RULE_FIELD_SIZE, u->rec,
		        "field %s of class %s has %" PRIu64 " bytes of no known type", quoted(&q, f->name),
		        quoted(&q2, at->c->name), f->size);
		return HT_BAD;
	}
	if (name.p == NULL || u->st->total_leaves + u->nleaves >= HT_MAX_LEAVES)
		return limit_reached(u);
	if (!leaf_room(u))
		return HT_NO_MEMORY;
	u->paths[u->nleaves] = path;
	u->leaves[u->nleaves++] = (struct ht_leaf){
		.name = name,
		.member = at->member,
		.value = value_of(f),
		.size = f->type == HT_STRING ? 0 : (uint32_t)f->size,
	};
	return HT_DONE;
}

static enum ht_outcome
visit_struct(struct unfold *u, const struct frame *at, const struct ht_field *f, bool is_base)
{
	struct ht_state *st = u->st;
	const uint32_t i = tabletext_get(&st->by_name, f->type_name);
	struct quoted q, q2, q3;
	struct slice prefix = at->prefix;

	if (i == TABLE_NONE) {
		ht_find(st, HT_RULE_STRUCT_UNKNOWN, u->rec,
		        "field %s of class %s is of class %s, which was not described", quoted(&q, f->name),
		        quoted(&q2, at->c->name), quoted(&q3, f->type_name));
		return HT_BAD;
	}
	if (!is_base) {
		if (!ht_describe_room(st, (uint64_t)prefix.n + f->name.n + 1))
			return limit_reached(u);
		prefix = arena_printf(&st->r->trace->arena, "%.*s%.*s.", (int)at->prefix.n, at->prefix.p,
		                      (int)f->name.n, f->name.p);
		if (prefix.p == NULL)
			return HT_NO_MEMORY;
		prefix.flags =
		    f->name.flags & (at->prefix.n > 0 ? at->prefix.flags : SLICE_UTF8 | SLICE_JSON);
	}
	return enter(u, st->classes[i], prefix, at->member || !is_base);
}

/* One field of the innermost class on the way. */
static enum ht_outcome
visit(struct unfold *u)
{
	struct frame *const top = &u->frames[u->nframes - 1];
	const struct frame at = *top; /* entering a class may move the frames */
	const int32_t base = at.base;

	if (at.next > at.c->nfields) {
		at.c->unfolding = false;
		u->nframes--;
		return HT_DONE;
	}
	if (++u->visited > HT_MAX_UNFOLD)
		return limit_reached(u);
	top->next++;
	if (at.next == 0)
		return base >= 0 ? visit_struct(u, &at, &at.c->fields[base], true) : HT_DONE;
	const struct ht_field *const f = &at.c->fields[at.next - 1];
	if ((int32_t)at.next - 1 == base)
		return HT_DONE;
	return f->type == HT_STRUCT ? visit_struct(u, &at, f, false) : add_leaf(u, &at, f);
}

/* Runs of fixed-size leaves, each up to the next string. */
static bool
make_steps(struct ht_plan *plan)
{
	plan->steps = calloc((size_t)plan->nleaves + 1, sizeof *plan->steps);
	if (plan->steps == NULL)
		return false;
	uint32_t step = 0;
	for (uint32_t i = 0; i < plan->nleaves; i++) {
		struct ht_leaf *const l = &plan->leaves[i];
		l->step = (uint16_t)step;
		l->at = plan->steps[step].fixed;
		if (l->value == VALUE_STRING)
			plan->steps[step++].string = 1;
		else
			plan->steps[step].fixed += l->size;
	}
	plan->nsteps = plan->steps[step].fixed > 0 ? step + 1 : step;
	return true;
}

/* What has become the event's time, track or name is no field any more.  An integer label stays: it is more
 * than its name. */
static bool
list_args(struct ht_plan *plan, bool structure)
{
	plan->args = calloc((size_t)plan->nleaves + 1, sizeof *plan->args);
	if (plan->args == NULL)
		return false;
	for (uint32_t i = 0; i < plan->nleaves; i++) {
		if (structure || (i != plan->duration && i != plan->thread && i != plan->name))
			plan->args[plan->nargs++] = i;
	}
	return true;
}

static void
check_field_count(struct ht_state *st, const struct ht_class *c, const struct ht_record *rec)
{
	struct quoted q;
	const uint32_t own = c->nfields - (base_of(c) >= 0);

	if (st->wire ? c->nfields == c->declared : own == c->declared || own + 1 == c->declared)
		return;
	ht_find(st, HT_RULE_FIELD_COUNT, rec,
	        "class %s announced %u fields, %u were described before its first event", quoted(&q, c->name),
	        c->declared, c->nfields);
}

/* Words for the types of leaves: the files' own are numbers, or names of C types. */
static struct slice
type_word(uint8_t value)
{
	static const char *const words[] = {
		[VALUE_U8] = "u8",       [VALUE_U16] = "u16",         [VALUE_U32] = "u32",
		[VALUE_U64] = "u64",     [VALUE_I8] = "i8",           [VALUE_I16] = "i16",
		[VALUE_I32] = "i32",     [VALUE_I64] = "i64",         [VALUE_F32] = "float",
		[VALUE_F64] = "double",  [VALUE_ADDRESS] = "pointer", [VALUE_STRING] = "string",
		[VALUE_BYTES] = "bytes",
	};

	return slice_str(words[value]);
}

static const char *
unit_of(const struct ht_class *c, const struct ht_plan *plan, uint32_t leaf)
{
	if (leaf == plan->duration)
		return "ns";
	return c->kind == HT_KIND_FIELD && slice_is(plan->leaves[leaf].name, "size") ? "byte" : NULL;
}

/* Declares the unfolded fields, as first described; those of raw events with their head.  Small classes only:
 * it is a convenience. */
static void
declare_fields(struct ht_state *st, const struct ht_class *c, const struct ht_plan *plan)
{
	const uint32_t head = st->raw ? HT_HEAD_FIELDS : 0, n = head + plan->nleaves;
	struct class_field *f;

	if (n == 0 || plan->nleaves > 256 || c->cls->nfields > 0 || n > HT_MAX_LEAVES - st->shown_fields ||
	    (f = arena_zalloc(&st->r->trace->arena, n, sizeof *f)) == NULL)
		return;
	memcpy(f, ht_head_fields[st->wire], head * sizeof *f);
	for (uint32_t i = 0; i < plan->nleaves; i++) {
		const struct ht_leaf *const l = &plan->leaves[i];
		f[head + i] = (struct class_field){ .name = st->raw ? plan->paths[i] : l->name,
			                            .type = type_word(l->value),
			                            .value = ht_raw_type(l),
			                            .size = l->size,
			                            .unit = unit_of(c, plan, i) };
	}
	c->cls->fields = f;
	c->cls->nfields = n;
	st->shown_fields += n;
}

static enum ht_outcome
unfold_all(struct unfold *u)
{
	const struct slice id = u->st->wire ? SLICE_LIT("id") : SLICE_LIT("event_id");
	enum ht_outcome result;

	if (!tabletext_put(&u->names, id, 1)) /* the event's id is the first field of every event */
		return HT_NO_MEMORY;
	result = enter(u, u->top, (struct slice){ "", 0, SLICE_UTF8 | SLICE_JSON }, false);
	while (result == HT_DONE && u->nframes > 0)
		result = visit(u);
	for (uint32_t i = 0; i < u->nframes; i++)
		u->frames[i].c->unfolding = false;
	return result;
}

enum ht_outcome
ht_plan_make(struct ht_state *st, struct ht_class *c, const struct ht_record *rec)
{
	struct unfold u = { .st = st, .rec = rec, .top = c };
	struct ht_plan *plan = calloc(1, sizeof *plan);

	if (plan == NULL)
		return HT_NO_MEMORY;
	ht_class_end_description(st, c);
	if (c->id >= HT_BUILTIN_CLASSES)
		check_field_count(st, c, rec);
	enum ht_outcome result = unfold_all(&u);
	free(u.frames);
	tabletext_free(&u.names);
	plan->leaves = u.leaves;
	plan->nleaves = u.nleaves;
	if (result == HT_DONE && (!make_steps(plan) || !ht_state_reserve_steps(st, plan->nsteps)))
		result = HT_NO_MEMORY;
	if (result == HT_DONE) {
		const struct ht_names names = { u.leaves, u.paths, u.nleaves };
		if (!ht_plan_mean(st, c, &names, plan) || !list_args(plan, c->kind != HT_KIND_EVENT))
			result = HT_NO_MEMORY;
	}
	if (st->raw)
		plan->paths = u.paths;
	else
		free(u.paths);
	if (result != HT_DONE) {
		ht_plan_free(plan);
		return result;
	}
	st->total_leaves += plan->nleaves;
	declare_fields(st, c, plan);
	c->plan = plan;
	c->used = true;
	return HT_DONE;
}
