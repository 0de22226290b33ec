#include <stdlib.h>

#include "htdump/htdump.h"

/* ---- class ---- */

/*
 * The classes of the input.  The four built-in ones are described in files too,
 * partly as they lie in the writer's memory; their true layouts are known and
 * are always used.
 */

/* The names that files use, and those of the document. */
static const char *const builtin_names[HT_BUILTIN_CLASSES][2] = {
	[HT_CLASS_ENDIANNESS] = { "EndiannessInfoEvent", "HT_EndiannessInfoEvent" },
	[HT_CLASS_EVENT] = { "Event", "HT_Event" },
	[HT_CLASS_INFO] = { "EventKlassInfoEvent", "HT_EventKlassInfoEvent" },
	[HT_CLASS_FIELD] = { "EventKlassFieldInfoEvent", "HT_EventKlassFieldInfoEvent" },
};

struct builtin_field {
	uint32_t id;
	const char *names[2]; /* [wire] */
	enum ht_type type;
	uint32_t size;
};

static const struct builtin_field builtin_fields[] = {
	{ HT_CLASS_ENDIANNESS, { "endianness", "endianness" }, HT_UNSIGNED, 1 },
	{ HT_CLASS_INFO, { "event_klass_id", "info_klass_id" }, HT_UNSIGNED, 4 },
	{ HT_CLASS_INFO, { "event_klass_name", "event_klass_name" }, HT_STRING, 0 },
	{ HT_CLASS_INFO, { "field_count", "field_count" }, HT_UNSIGNED, 1 },
	{ HT_CLASS_FIELD, { "event_klass_id", "info_klass_id" }, HT_UNSIGNED, 4 },
	{ HT_CLASS_FIELD, { "field_type_name", "field_type" }, HT_STRING, 0 },
	{ HT_CLASS_FIELD, { "field_name", "field_name" }, HT_STRING, 0 },
	{ HT_CLASS_FIELD, { "size", "size" }, HT_UNSIGNED, 8 },
	{ HT_CLASS_FIELD, { "data_type", "data_type" }, HT_UNSIGNED, 1 },
};

/* What the format calls a built-in class in the layout of the input. */
static const char *ht_class_builtin_name(const struct ht_state *st, uint32_t id)
{
	return builtin_names[id][st->wire];
}

/* in any layout */
static bool ht_class_is_builtin_name(uint32_t id, struct slice name)
{
	return slice_is(name, builtin_names[id][0]) || slice_is(name, builtin_names[id][1]);
}

/* Accounts for n more bytes of description; false: the bound is reached. */
static bool ht_describe_room(struct ht_classes *all, uint64_t n)
{
	n += HT_TEXT_COST;
	if (n > HT_MAX_DESCRIBED - all->described_bytes)
		return false;
	all->described_bytes += (uint32_t)n;
	return true;
}

static bool append(struct ht_classes *all, struct ht_class *c)
{
	if (!array_room(&all->list, all->n, &all->cap, sizeof(struct ht_class *)) ||
	    !table64_put(&all->by_id, c->id, all->n))
		return false;
	all->list[all->n++] = c;
	if (c->id < HT_DIRECT)
		all->direct[c->id] = c;
	return true;
}

static bool ht_class_set_name(struct ht_state *st, struct ht_class *c, struct slice name)
{
	struct ht_classes *const all = &st->classes;

	c->cls = trace_name_class(st->r->trace, name);
	if (c->cls == NULL || !tabletext_put(&all->by_name, c->cls->name, table64_get(&all->by_id, c->id))) {
		st->no_memory = true;
		return false;
	}
	c->name = c->cls->name;
	return true;
}

/* NULL, or false: no memory, which the state remembers. */
static struct ht_class *ht_class_new(struct ht_state *st, uint32_t id, struct slice name)
{
	struct ht_class *const c = calloc(1, sizeof *c);

	if (c != NULL) {
		c->id = id;
		c->kind = HT_KIND_EVENT; /* until its fields are known */
		c->stream = st->classes.stream;
	}
	if (c == NULL || !append(&st->classes, c)) {
		free(c);
		st->no_memory = true;
		return NULL;
	}
	return ht_class_set_name(st, c, name) ? c : NULL;
}

static bool ht_class_add_field(struct ht_state *st, struct ht_class *c, struct ht_field f)
{
	if (!array_room(&c->fields, c->nfields, &c->fields_cap, sizeof *c->fields)) {
		st->no_memory = true;
		return false;
	}
	c->fields[c->nfields++] = f;
	return true;
}

static struct slice static_name(const char *s)
{
	struct slice name = slice_str(s);

	name.flags = SLICE_UTF8 | SLICE_JSON;
	return name;
}

bool ht_classes_init(struct ht_state *st)
{
	static const uint8_t kinds[HT_BUILTIN_CLASSES] = { HT_KIND_ENDIANNESS, HT_KIND_BARE, HT_KIND_INFO,
		                                           HT_KIND_FIELD };

	for (uint32_t id = 0; id < HT_BUILTIN_CLASSES; id++) {
		struct ht_class *const c = ht_class_new(st, id, static_name(builtin_names[id][st->wire]));
		/* a base may be written either way: the other name leads here as well */
		if (c == NULL ||
		    !tabletext_put(&st->classes.by_name, slice_str(builtin_names[id][!st->wire]), id))
			return false;
		c->kind = kinds[id];
	}
	for (size_t i = 0; i < sizeof builtin_fields / sizeof builtin_fields[0]; i++) {
		const struct builtin_field *const b = &builtin_fields[i];
		const struct ht_field f = { .name = static_name(b->names[st->wire]),
			                    .size = b->size,
			                    .type = (uint8_t)b->type };
		if (!ht_class_add_field(st, st->classes.list[b->id], f))
			return false;
	}
	return true;
}

static void ht_plan_free(struct ht_plan *plan);

void ht_classes_free(struct ht_classes *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		free(all->list[i]->fields);
		ht_plan_free(all->list[i]->plan);
		free(all->list[i]);
	}
	free(all->list);
	table64_free(&all->by_id);
	tabletext_free(&all->by_name);
}

struct ht_class *ht_class_find_far(const struct ht_classes *all, uint32_t id)
{
	const uint32_t i = table64_get(&all->by_id, id);
	return i == TABLE_NONE ? NULL : all->list[i];
}

/* Forgets the plan, or all that was described, so that the class can be described afresh. */
static void ht_class_forget_plan(struct ht_classes *all, struct ht_class *c)
{
	if (c->plan != NULL)
		all->leaves -= c->plan->nleaves;
	ht_plan_free(c->plan);
	c->plan = NULL;
	c->stream = all->stream;
	c->used = false;
}

static void ht_class_clear(struct ht_classes *all, struct ht_class *c)
{
	ht_class_forget_plan(all, c);
	all->fields -= c->nfields;
	c->nfields = 0;
	c->kind = HT_KIND_EVENT;
	c->rechecking = c->renewing = false;
}

/* ---- describe ---- */

/* Class descriptions: EventKlassInfoEvent and EventKlassFieldInfoEvent ("Custom event classes"). */

void ht_describe_restart(struct ht_state *st)
{
	/* not a mark in each class: hostile input has many classes, and many of these events */
	st->classes.stream++;
}

/* Described before the latest EndiannessInfoEvent. */
static bool is_stale(const struct ht_state *st, const struct ht_class *c)
{
	return c->stream != st->classes.stream;
}

static void report_limit(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_classes *const all = &st->classes;

	if (!st->no_memory)
		ht_finding_add(st, HT_RULE_LIMIT, rec,
		               "%u classes, %u fields and %u bytes of their names are retained: this "
		               "description is dropped",
		               all->n, all->fields, all->described_bytes);
}

/* ---- classes ---- */

/* The class is described again as it was, so far: its fields are compared as they come.  `fresh`: by a new
 * stream, which may describe it otherwise without breaking a rule. */
static void start_recheck(struct ht_state *st, struct ht_class *c, bool fresh)
{
	if (fresh)
		ht_class_forget_plan(&st->classes, c);
	c->rechecking = true;
	c->renewing = fresh;
	c->recheck = 0;
}

/* The first event of the class was read: what was compared so far is all of its fields. */
static void ht_describe_end(struct ht_state *st, struct ht_class *c)
{
	if (c->renewing && c->recheck < c->nfields) {
		st->classes.fields -= c->nfields - c->recheck;
		c->nfields = c->recheck;
	}
	c->rechecking = c->renewing = false;
}

static void check_builtin(struct ht_state *st, uint32_t id, struct slice name, const struct ht_record *rec)
{
	struct quoted q;

	if (!ht_class_is_builtin_name(id, name))
		ht_finding_add(st, HT_RULE_CLASS_REDEFINED, rec,
		               "class %u is %s by the format, here it is named %s", id,
		               ht_class_builtin_name(st, id), quoted(&q, name));
}

/* Makes the class, or empties it, when it is described for the first time or otherwise than before.  c: what
 * has this id, or NULL. */
static void define(struct ht_state *st, struct ht_class *c, uint32_t id, struct slice name, uint8_t count,
                   const struct ht_record *rec)
{
	struct ht_classes *const all = &st->classes;

	if (all->n >= HT_MAX_CLASSES || !ht_describe_room(all, name.n + HT_CLASS_COST)) {
		report_limit(st, rec);
		return;
	}
	if (c == NULL) {
		c = ht_class_new(st, id, name);
	} else {
		ht_class_clear(all, c);
		ht_class_set_name(st, c, name);
	}
	if (st->no_memory)
		return;
	c->declared = count;
	all->has_mapping |= ht_vocabulary_may_map(st, c->name);
}

void ht_describe_class(struct ht_state *st, const struct ht_record *rec)
{
	const uint32_t id = load_u32(st->starts[0], st->big);
	const struct slice name = st->strings[0];
	const uint8_t count = (uint8_t)st->starts[1][0];
	struct ht_class *const c = ht_class_find(&st->classes, id);
	struct quoted q, q2;

	if (id < HT_BUILTIN_CLASSES) {
		check_builtin(st, id, name, rec);
	} else if (c != NULL && c->used && !is_stale(st, c)) {
		ht_finding_add(st, HT_RULE_CLASS_AFTER_USE, rec,
		               "class %u (%s) is described again after %" PRIu64 " of its events", id,
		               quoted(&q, c->name), c->cls->records);
	} else if (c != NULL && slice_equal(c->name, name) && c->declared == count) {
		start_recheck(st, c, is_stale(st, c) || c->renewing);
	} else {
		if (c != NULL && !is_stale(st, c))
			ht_finding_add(st, HT_RULE_CLASS_REDEFINED, rec,
			               "class %u was %s with %u fields, here it is %s with %u", id,
			               quoted(&q, c->name), c->declared, quoted(&q2, name), count);
		define(st, c, id, name, count, rec);
	}
}

/* ---- fields ---- */

static bool size_possible(enum ht_type type, uint64_t size)
{
	switch (type) {
	case HT_INTEGER:
	case HT_UNSIGNED:
		return size == 1 || size == 2 || size == 4 || size == 8;
	case HT_FLOAT:
		return size == 4;
	case HT_DOUBLE:
		return size == 8;
	case HT_POINTER:
		return size == 4 || size == 8;
	default:
		return true; /* of structs and strings it is a size in the writer's memory */
	}
}

/* The field that a field info record describes, its text still in the input. */
static struct ht_field check_field(struct ht_state *st, const struct ht_record *rec, const struct ht_class *c)
{
	static const char *const type_names[] = { "STRUCT", "STRING",  "INTEGER",         "FLOAT",
		                                  "DOUBLE", "POINTER", "UNSIGNED_INTEGER" };
	const uint8_t code = (uint8_t)st->starts[2][8];
	struct ht_field f = {
		.name = st->strings[1],
		.type_name = st->strings[0],
		.size = load_u64(st->starts[2], st->big),
		.type = (uint8_t)ht_type_of(code, st->wire),
	};
	struct quoted q, q2, q3;

	if (f.type == HT_TYPE_UNKNOWN) {
		ht_finding_add(st, HT_RULE_FIELD_TYPE, rec,
		               "field %s of class %s has data type %u, which the %s layout does not define",
		               quoted(&q, f.name), quoted(&q2, c->name), code,
		               st->wire ? "wire" : "document");
	} else if (f.type == HT_DOUBLE && f.size == 4) {
		ht_finding_add(st, HT_RULE_FLOAT_AS_DOUBLE, rec,
		               "field %s of class %s (%s) is DOUBLE of 4 bytes: it is read as FLOAT",
		               quoted(&q, f.name), quoted(&q2, c->name), quoted(&q3, f.type_name));
		f.type = HT_FLOAT;
	} else if (!size_possible((enum ht_type)f.type, f.size)) {
		ht_finding_add(st, HT_RULE_FIELD_SIZE, rec, "field %s of class %s is %s of %" PRIu64 " bytes",
		               quoted(&q, f.name), quoted(&q2, c->name), type_names[f.type], f.size);
		f.type = HT_TYPE_UNKNOWN;
	}
	return f;
}

static bool field_equal(const struct ht_field *a, const struct ht_field *b)
{
	return a->type == b->type && (a->size == b->size || a->type == HT_STRING) &&
	       slice_equal(a->name, b->name) && slice_equal(a->type_name, b->type_name);
}

/* Copies a text to where it lives as long as the trace.  false: the bound for descriptions is reached, or no
 * memory. */
static bool retain(struct ht_state *st, struct slice *s)
{
	if (!ht_describe_room(&st->classes, s->n))
		return false;
	*s = arena_copy(&st->r->trace->arena, *s);
	st->no_memory |= s->p == NULL;
	return s->p != NULL;
}

static bool retain_field(struct ht_state *st, struct ht_field *f)
{
	const bool name = retain(st, &f->name);

	return retain(st, &f->type_name) && name;
}

/* The next field of a class that is described again. */
static void compare_field(struct ht_state *st, const struct ht_record *rec, struct ht_class *c,
                          struct ht_field f)
{
	struct ht_field *const known = &c->fields[c->recheck++];
	struct quoted q, q2;

	if (field_equal(known, &f))
		return;
	if (!c->renewing)
		ht_finding_add(st, HT_RULE_CLASS_REDEFINED, rec,
		               "field %u of class %u was %s, here it is %s or of another type or size",
		               c->recheck, c->id, quoted(&q, known->name), quoted(&q2, f.name));
	if (retain_field(st, &f))
		*known = f;
	else
		report_limit(st, rec);
}

void ht_describe_field(struct ht_state *st, const struct ht_record *rec)
{
	const uint32_t id = load_u32(st->starts[0], st->big);
	struct ht_class *const c = ht_class_find(&st->classes, id);
	struct quoted q, q2;

	if (id < HT_BUILTIN_CLASSES)
		return;
	if (c == NULL || is_stale(st, c)) {
		ht_finding_add(st, HT_RULE_FIELD_WITHOUT_CLASS, rec,
		               "field %s belongs to class %u, which was not described",
		               quoted(&q, st->strings[1]), id);
		return;
	}
	if (c->used) {
		ht_finding_add(st, HT_RULE_CLASS_AFTER_USE, rec,
		               "field %s of class %s is described after %" PRIu64 " events of the class",
		               quoted(&q, st->strings[1]), quoted(&q2, c->name), c->cls->records);
		return;
	}
	struct ht_field f = check_field(st, rec, c);
	if (c->rechecking && c->recheck < c->nfields) {
		compare_field(st, rec, c, f);
		return;
	}
	if (st->classes.fields >= HT_MAX_FIELDS || !retain_field(st, &f)) {
		report_limit(st, rec);
		return;
	}
	if (!ht_class_add_field(st, c, f))
		return;
	st->classes.fields++;
	c->recheck = c->nfields; /* one field more than before: it is of this description too */
}

/* ---- unfold ---- */

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

/* The field of a class that is its base, or -1. */
static int32_t ht_class_base(const struct ht_class *c)
{
	for (uint32_t i = 0; i < c->nfields; i++)
		if (c->fields[i].type == HT_STRUCT && slice_is(c->fields[i].name, "base"))
			return (int32_t)i;
	return -1;
}

static void fail_no_memory(struct unfold *u)
{
	u->failed = u->st->no_memory = true;
}

static void fail_limit(struct unfold *u)
{
	struct quoted q;

	u->failed = true;
	ht_finding_add(
	    u->st, HT_RULE_LIMIT, u->rec,
	    "class %s unfolds to more than %u fields, or all used classes together to more than %u",
	    quoted(&q, u->rec->c->name), HT_MAX_UNFOLD, HT_MAX_LEAVES);
}

static void fail_work(struct unfold *u)
{
	struct quoted q;

	u->failed = true;
	ht_finding_add(u->st, HT_RULE_LIMIT, u->rec,
	               "class %s cannot be unfolded: the fields of classes were visited %" PRIu64
	               " times so far",
	               quoted(&q, u->rec->c->name), u->st->classes.visited);
}

static void enter(struct unfold *u, struct ht_class *c, struct slice prefix, bool member)
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

static uint8_t value_of(const struct ht_field *f)
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
static struct slice joined(struct unfold *u, struct slice prefix, struct slice name, const char *behind,
                           uint64_t cost)
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
static struct slice unique_name(struct unfold *u, struct slice path)
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

static void append_unfold(struct unfold *u, struct ht_leaf leaf, struct slice path)
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

static void add_leaf(struct unfold *u, const struct frame *at, const struct ht_field *f)
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
	append_unfold(u, leaf, path);
}

/* ---- the way through the classes ---- */

static void visit_struct(struct unfold *u, const struct frame *at, const struct ht_field *f, bool is_base)
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
static void visit(struct unfold *u)
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

/* Makes the leaves and paths of the plan of rec's class.  false: its layout cannot be known (see the
 * finding), or no memory, which the state remembers; the plan may hold some leaves then. */
static bool ht_unfold(struct ht_state *st, const struct ht_record *rec, struct ht_plan *plan)
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

/* ---- plan ---- */

/* NULL is fine */
static void ht_plan_free(struct ht_plan *plan)
{
	if (plan == NULL)
		return;
	free(plan->leaves);
	free(plan->paths);
	free(plan->runs);
	free(plan->args);
	free(plan);
}

/* Runs of fixed-size leaves, each up to the next string.  false: no memory. */
static bool ht_plan_make_runs(struct ht_plan *plan)
{
	uint32_t run = 0;

	plan->runs = calloc((size_t)plan->nleaves + 1, sizeof *plan->runs);
	if (plan->runs == NULL)
		return false;
	for (uint32_t i = 0; i < plan->nleaves; i++) {
		struct ht_leaf *const l = &plan->leaves[i];
		l->run = (uint16_t)run;
		l->at = plan->runs[run].fixed;
		if (l->value == VALUE_STRING)
			plan->runs[run++].string = 1;
		else
			plan->runs[run].fixed += l->size;
	}
	plan->nruns = plan->runs[run].fixed > 0 ? run + 1 : run;
	return true;
}

/* Lists the leaves that become fields of events: of structure all of them.  false: no memory. */
/* What has become the event's time, track or name is no field any more.  An integer label stays: it is more
 * than its name. */
static bool ht_plan_list_args(struct ht_plan *plan, bool structure)
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

/* ---- prepare ---- */

/* When the first record of a class comes, its description is complete. */

#define MAX_DECLARED 256U /* fields of a class that is declared */

static void check_field_count(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_class *const c = rec->c;
	const uint32_t own = c->nfields - (ht_class_base(c) >= 0);
	struct quoted q;

	if (st->wire ? c->nfields == c->declared : own == c->declared || own + 1 == c->declared)
		return;
	ht_finding_add(st, HT_RULE_FIELD_COUNT, rec,
	               "class %s announced %u fields, %u were described before its first event",
	               quoted(&q, c->name), c->declared, c->nfields);
}

/* ---- what the class declares ---- */

/* Words for the types of leaves: the files' own are numbers, or names of C types. */
static struct slice type_word(uint8_t value)
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

static const char *unit_of(const struct ht_class *c, const struct ht_plan *plan, uint32_t leaf)
{
	if (leaf == plan->duration)
		return "ns";
	return c->kind == HT_KIND_FIELD && slice_is(plan->leaves[leaf].name, "size") ? "byte" : NULL;
}

/* What a class that is declared costs, as if it had so many fields more. */
#define CLASS_FIELDS 16U

/* The class of the trace with these fields; those of raw events have their head before them.  Small classes
 * only: nothing depends on it.  false: no memory. */
static bool declare(struct ht_state *st, struct ht_class *c, const struct ht_plan *plan, struct class *like)
{
	const uint32_t head = st->raw ? HT_HEAD_FIELDS : 0, n = head + plan->nleaves;
	struct class_field f[HT_HEAD_FIELDS + MAX_DECLARED];
	struct ht_classes *const all = &st->classes;
	const uint32_t before = st->r->trace->nplanned;

	if (n > 0 && plan->nleaves <= MAX_DECLARED &&
	    n + CLASS_FIELDS <= HT_MAX_LEAVES - all->declared_fields) {
		memcpy(f, ht_head_fields[st->wire], head * sizeof *f);
		for (uint32_t i = 0; i < plan->nleaves; i++) {
			const struct ht_leaf *const l = &plan->leaves[i];
			f[head + i] = (struct class_field){ .name = st->raw ? plan->paths[i] : l->name,
				                            .type = type_word(l->value),
				                            .value = ht_leaf_raw_type(l),
				                            .size = l->size,
				                            .unit = unit_of(c, plan, i) };
		}
		like->fields = f;
		like->nfields = n;
	}
	c->cls = trace_plan_class(st->r->trace, like);
	if (c->cls != NULL && like->nfields > 0 && st->r->trace->nplanned > before)
		all->declared_fields += n + CLASS_FIELDS;
	return c->cls != NULL;
}

/* ---- the plan ---- */

/* false: as ht_class_prepare. */
static bool make_plan(struct ht_state *st, const struct ht_record *rec, struct ht_plan *plan,
                      struct class *like)
{
	if (!ht_unfold(st, rec, plan))
		return false;
	if (!ht_plan_make_runs(plan) || !ht_state_reserve(st, plan->nruns))
		st->no_memory = true;
	else
		ht_vocabulary_apply(st, rec->c, plan, like);
	if (!st->no_memory && !ht_plan_list_args(plan, rec->c->kind != HT_KIND_EVENT))
		st->no_memory = true;
	if (!st->no_memory && !declare(st, rec->c, plan, like))
		st->no_memory = true;
	return !st->no_memory;
}

bool ht_class_prepare(struct ht_state *st, const struct ht_record *rec)
{
	struct ht_class *const c = rec->c;
	struct ht_plan *const plan = calloc(1, sizeof *plan);
	struct class like = { .name = c->name };

	if (plan == NULL) {
		st->no_memory = true;
		return false;
	}
	ht_describe_end(st, c);
	if (c->id >= HT_BUILTIN_CLASSES)
		check_field_count(st, rec);
	if (!make_plan(st, rec, plan, &like)) {
		ht_plan_free(plan);
		return false;
	}
	st->classes.leaves += plan->nleaves;
	if (!st->raw) { /* nobody asks for them any more */
		free(plan->paths);
		plan->paths = NULL;
	}
	c->plan = plan;
	c->used = true;
	return true;
}
