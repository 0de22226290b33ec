#include <stdlib.h>

#include "htdump/htdump_state.h"

/*
 * Class descriptions: EventKlassInfoEvent and EventKlassFieldInfoEvent
 * ("Custom event classes").  The four built-in classes are described in files
 * too, partly as they lie in the writer's memory; their true layouts are known
 * and always win.
 */

/* Both the names that files use and those of the document are known. */
static const char *const builtin_names[HT_BUILTIN_CLASSES][2] = {
	[HT_CLASS_ENDIANNESS] = { "HT_EndiannessInfoEvent", "EndiannessInfoEvent" },
	[HT_CLASS_EVENT] = { "HT_Event", "Event" },
	[HT_CLASS_INFO] = { "HT_EventKlassInfoEvent", "EventKlassInfoEvent" },
	[HT_CLASS_FIELD] = { "HT_EventKlassFieldInfoEvent", "EventKlassFieldInfoEvent" },
};

struct builtin_field {
	uint32_t id;
	const char *wire_name, *document_name;
	enum ht_type type;
	uint32_t size;
};

static const struct builtin_field builtin_fields[] = {
	{ HT_CLASS_ENDIANNESS, "endianness", "endianness", HT_UNSIGNED, 1 },
	{ HT_CLASS_INFO, "info_klass_id", "event_klass_id", HT_UNSIGNED, 4 },
	{ HT_CLASS_INFO, "event_klass_name", "event_klass_name", HT_STRING, 0 },
	{ HT_CLASS_INFO, "field_count", "field_count", HT_UNSIGNED, 1 },
	{ HT_CLASS_FIELD, "info_klass_id", "event_klass_id", HT_UNSIGNED, 4 },
	{ HT_CLASS_FIELD, "field_type", "field_type_name", HT_STRING, 0 },
	{ HT_CLASS_FIELD, "field_name", "field_name", HT_STRING, 0 },
	{ HT_CLASS_FIELD, "size", "size", HT_UNSIGNED, 8 },
	{ HT_CLASS_FIELD, "data_type", "data_type", HT_UNSIGNED, 1 },
};

bool
ht_describe_room(struct ht_state *st, uint64_t n)
{
	n += HT_TEXT_COST;
	if (n > HT_MAX_DESCRIBED - st->described_bytes)
		return false;
	st->described_bytes += (uint32_t)n;
	return true;
}

/* Text that lives as long as the trace; p is NULL when memory or the bound for descriptions is exceeded. */
static struct slice
keep(struct ht_state *st, struct slice s)
{
	if (!ht_describe_room(st, s.n))
		return (struct slice){ NULL, 0, 0 };
	return arena_copy(&st->r->trace->arena, s);
}

static bool
append_class(struct ht_state *st, struct ht_class *c)
{
	if (!array_room(&st->classes, st->nclasses, &st->classes_cap, sizeof(struct ht_class *)))
		return false;
	if (!table64_put(&st->by_id, c->id, st->nclasses))
		return false;
	st->classes[st->nclasses++] = c;
	if (c->id < HT_DIRECT)
		st->direct[c->id] = c;
	return true;
}

static uint32_t
index_of(const struct ht_state *st, const struct ht_class *c)
{
	return table64_get(&st->by_id, c->id);
}

/* Gives a class its name.  false: no memory. */
static bool
name_class(struct ht_state *st, struct ht_class *c, struct slice name)
{
	c->cls = trace_add_class(st->r->trace, name);
	if (c->cls == NULL)
		return false;
	c->name = c->cls->name;
	if (c->id >= HT_BUILTIN_CLASSES) {
		c->kind = HT_KIND_EVENT; /* until its fields are known */
		st->mapping_class |= ht_class_may_map(st, c->name);
	}
	return tabletext_put(&st->by_name, c->name, index_of(st, c));
}

static struct ht_class *
new_class(struct ht_state *st, uint32_t id, struct slice name)
{
	struct ht_class *c = calloc(1, sizeof *c);

	if (c == NULL)
		return NULL;
	c->id = id;
	c->stream = st->stream;
	if (!append_class(st, c)) {
		free(c);
		return NULL;
	}
	return name_class(st, c, name) ? c : NULL;
}

static bool
append_field(struct ht_class *c, struct ht_field f)
{
	if (!array_room(&c->fields, c->nfields, &c->fields_cap, sizeof *c->fields))
		return false;
	c->fields[c->nfields++] = f;
	return true;
}

bool
ht_classes_init(struct ht_state *st)
{
	static const uint8_t kinds[HT_BUILTIN_CLASSES] = { HT_KIND_ENDIANNESS, HT_KIND_BARE, HT_KIND_INFO,
		                                           HT_KIND_FIELD };

	for (uint32_t id = 0; id < HT_BUILTIN_CLASSES; id++) {
		struct slice name = slice_str(builtin_names[id][st->wire ? 0 : 1]);
		name.flags = SLICE_UTF8 | SLICE_JSON;
		struct ht_class *c = new_class(st, id, name);
		/* a base may be written either way: the other name leads here as well */
		if (c == NULL ||
		    !tabletext_put(&st->by_name, slice_str(builtin_names[id][st->wire ? 1 : 0]), id))
			return false;
		c->kind = kinds[id];
	}
	for (size_t i = 0; i < sizeof builtin_fields / sizeof builtin_fields[0]; i++) {
		const struct builtin_field *b = &builtin_fields[i];
		struct slice name = slice_str(st->wire ? b->wire_name : b->document_name);
		name.flags = SLICE_UTF8 | SLICE_JSON;
		if (!append_field(
		        st->classes[b->id],
		        (struct ht_field){ .name = name, .size = b->size, .type = (uint8_t)b->type }))
			return false;
	}
	return true;
}

void
ht_classes_free(struct ht_state *st)
{
	for (uint32_t i = 0; i < st->nclasses; i++) {
		free(st->classes[i]->fields);
		ht_plan_free(st->classes[i]->plan);
		free(st->classes[i]);
	}
	free(st->classes);
	table64_free(&st->by_id);
	tabletext_free(&st->by_name);
}

struct ht_class *
ht_class_find_far(const struct ht_state *st, uint32_t id)
{
	const uint32_t i = table64_get(&st->by_id, id);
	return i == TABLE_NONE ? NULL : st->classes[i];
}

void
ht_classes_restart(struct ht_state *st)
{
	st->stream++; /* not a mark in each class: hostile input has many classes, and many of these events */
}

/* Described before the latest EndiannessInfoEvent. */
static bool
is_stale(const struct ht_state *st, const struct ht_class *c)
{
	return c->stream != st->stream;
}

/* Forgets the fields, so that the class can be described afresh. */
static void
clear_class(struct ht_state *st, struct ht_class *c)
{
	st->total_fields -= c->nfields;
	if (c->plan != NULL)
		st->total_leaves -= c->plan->nleaves;
	ht_plan_free(c->plan);
	c->plan = NULL;
	c->nfields = 0;
	c->stream = st->stream;
	c->used = c->rechecking = c->renewing = false;
}

/* The class is described again as it was, so far: its fields are compared as they come.  `fresh`: by a new
 * stream, which may describe it otherwise without breaking a rule. */
static void
start_recheck(struct ht_state *st, struct ht_class *c, bool fresh)
{
	if (fresh) {
		if (c->plan != NULL)
			st->total_leaves -= c->plan->nleaves;
		ht_plan_free(c->plan);
		c->plan = NULL;
		c->stream = st->stream;
		c->used = false;
	}
	c->rechecking = true;
	c->renewing = fresh;
	c->recheck = 0;
}

void
ht_class_end_description(struct ht_state *st, struct ht_class *c)
{
	if (c->renewing && c->recheck < c->nfields) {
		st->total_fields -= c->nfields - c->recheck;
		c->nfields = c->recheck;
	}
	c->rechecking = c->renewing = false;
}

static enum ht_outcome
limit_reached(struct ht_state *st, const struct ht_record *rec)
{
	ht_find(st, HT_RULE_LIMIT, rec,
	        "%u classes, %u fields and %u bytes of their names are known: this description was dropped",
	        st->nclasses, st->total_fields, st->described_bytes);
	return HT_DONE;
}

enum ht_outcome
ht_describe_class(struct ht_state *st, const struct ht_record *rec)
{
	const uint32_t id = load_u32(st->starts[0], st->big);
	const struct slice name = st->strings[0];
	const uint8_t count = (uint8_t)st->starts[1][0];
	struct ht_class *c = ht_class_find(st, id);
	struct quoted q, q2;

	if (id < HT_BUILTIN_CLASSES) {
		if (!slice_is(name, builtin_names[id][0]) && !slice_is(name, builtin_names[id][1]))
			ht_find(st, HT_RULE_CLASS_REDEFINED, rec,
			        "class %u is %s by the format, here it is named %s", id,
			        builtin_names[id][st->wire ? 0 : 1], quoted(&q, name));
		return HT_DONE;
	}
	if (c != NULL && c->used && !is_stale(st, c)) {
		ht_find(st, HT_RULE_CLASS_AFTER_USE, rec,
		        "class %u (%s) is described again after %" PRIu64 " of its events", id,
		        quoted(&q, c->name), c->cls->records);
		return HT_DONE;
	}
	if (c != NULL && slice_equal(c->name, name) && c->declared == count) {
		start_recheck(st, c, is_stale(st, c) || c->renewing);
		return HT_DONE;
	}
	if (c != NULL && !is_stale(st, c))
		ht_find(st, HT_RULE_CLASS_REDEFINED, rec,
		        "class %u was %s with %u fields, here it is %s with %u", id, quoted(&q, c->name),
		        c->declared, quoted(&q2, name), count);
	if (st->nclasses >= HT_MAX_CLASSES || !ht_describe_room(st, name.n + HT_CLASS_COST))
		return limit_reached(st, rec);
	if (c == NULL)
		c = new_class(st, id, name);
	else {
		clear_class(st, c);
		if (!name_class(st, c, name))
			return HT_NO_MEMORY;
	}
	if (c == NULL)
		return HT_NO_MEMORY;
	c->declared = count;
	return HT_DONE;
}

static bool
size_possible(enum ht_type type, uint64_t size)
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

/* The field a field info record describes, its text still in the input. */
static struct ht_field
check_field(struct ht_state *st, const struct ht_record *rec, const struct ht_class *c)
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
	struct quoted q, q2;

	if (f.type == HT_TYPE_UNKNOWN) {
		ht_find(st, HT_RULE_FIELD_TYPE, rec,
		        "field %s of class %s has data type %u, which the %s layout does not know",
		        quoted(&q, f.name), quoted(&q2, c->name), code, st->wire ? "wire" : "document");
	} else if (!size_possible((enum ht_type)f.type, f.size)) {
		ht_find(st, HT_RULE_FIELD_SIZE, rec, "field %s of class %s is %s of %" PRIu64 " bytes",
		        quoted(&q, f.name), quoted(&q2, c->name), type_names[f.type], f.size);
		f.type = HT_TYPE_UNKNOWN;
	}
	return f;
}

static bool
field_equal(const struct ht_field *a, const struct ht_field *b)
{
	return a->type == b->type && (a->size == b->size || a->type == HT_STRING) &&
	       slice_equal(a->name, b->name) && slice_equal(a->type_name, b->type_name);
}

/* Copies the texts of a field.  false: the bound for descriptions is reached, or no memory. */
static bool
keep_field(struct ht_state *st, struct ht_field *f)
{
	f->name = keep(st, f->name);
	f->type_name = keep(st, f->type_name);
	return f->name.p != NULL && f->type_name.p != NULL;
}

enum ht_outcome
ht_describe_field(struct ht_state *st, const struct ht_record *rec)
{
	const uint32_t id = load_u32(st->starts[0], st->big);
	struct ht_class *c = ht_class_find(st, id);
	struct quoted q, q2;

	if (id < HT_BUILTIN_CLASSES)
		return HT_DONE;
	if (c == NULL || is_stale(st, c)) {
		ht_find(st, HT_RULE_FIELD_WITHOUT_CLASS, rec,
		        "field %s belongs to class %u, which was not described", quoted(&q, st->strings[1]),
		        id);
		return HT_DONE;
	}
	if (c->used) {
		ht_find(st, HT_RULE_CLASS_AFTER_USE, rec,
		        "field %s of class %s is described after %" PRIu64 " events of the class",
		        quoted(&q, st->strings[1]), quoted(&q2, c->name), c->cls->records);
		return HT_DONE;
	}
	struct ht_field f = check_field(st, rec, c);
	if (c->rechecking && c->recheck < c->nfields) {
		struct ht_field *known = &c->fields[c->recheck++];
		if (field_equal(known, &f))
			return HT_DONE;
		if (!c->renewing)
			ht_find(st, HT_RULE_CLASS_REDEFINED, rec,
			        "field %u of class %u was %s, here it is %s or of another type or size",
			        c->recheck, id, quoted(&q, known->name), quoted(&q2, f.name));
		if (!keep_field(st, &f))
			return limit_reached(st, rec);
		*known = f;
		return HT_DONE;
	}
	if (st->total_fields >= HT_MAX_FIELDS || !keep_field(st, &f))
		return limit_reached(st, rec);
	if (!append_field(c, f))
		return HT_NO_MEMORY;
	st->total_fields++;
	c->recheck = c->nfields; /* one field more than before: it is of this description too */
	return HT_DONE;
}
