#include "htdump/class.h"

#include <stdlib.h>

#include "htdump/plan.h"
#include "htdump/state.h"

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

const char *
ht_class_builtin_name(const struct ht_state *st, uint32_t id)
{
	return builtin_names[id][st->wire];
}

bool
ht_class_is_builtin_name(uint32_t id, struct slice name)
{
	return slice_is(name, builtin_names[id][0]) || slice_is(name, builtin_names[id][1]);
}

bool
ht_describe_room(struct ht_classes *all, uint64_t n)
{
	n += HT_TEXT_COST;
	if (n > HT_MAX_DESCRIBED - all->described_bytes)
		return false;
	all->described_bytes += (uint32_t)n;
	return true;
}

static bool
append(struct ht_classes *all, struct ht_class *c)
{
	if (!array_room(&all->list, all->n, &all->cap, sizeof(struct ht_class *)) ||
	    !table64_put(&all->by_id, c->id, all->n))
		return false;
	all->list[all->n++] = c;
	if (c->id < HT_DIRECT)
		all->direct[c->id] = c;
	return true;
}

bool
ht_class_set_name(struct ht_state *st, struct ht_class *c, struct slice name)
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

struct ht_class *
ht_class_new(struct ht_state *st, uint32_t id, struct slice name)
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

bool
ht_class_add_field(struct ht_state *st, struct ht_class *c, struct ht_field f)
{
	if (!array_room(&c->fields, c->nfields, &c->fields_cap, sizeof *c->fields)) {
		st->no_memory = true;
		return false;
	}
	c->fields[c->nfields++] = f;
	return true;
}

static struct slice
static_name(const char *s)
{
	struct slice name = slice_str(s);

	name.flags = SLICE_UTF8 | SLICE_JSON;
	return name;
}

bool
ht_classes_init(struct ht_state *st)
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

void
ht_classes_free(struct ht_classes *all)
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

struct ht_class *
ht_class_find_far(const struct ht_classes *all, uint32_t id)
{
	const uint32_t i = table64_get(&all->by_id, id);
	return i == TABLE_NONE ? NULL : all->list[i];
}

void
ht_class_forget_plan(struct ht_classes *all, struct ht_class *c)
{
	if (c->plan != NULL)
		all->leaves -= c->plan->nleaves;
	ht_plan_free(c->plan);
	c->plan = NULL;
	c->stream = all->stream;
	c->used = false;
}

void
ht_class_clear(struct ht_classes *all, struct ht_class *c)
{
	ht_class_forget_plan(all, c);
	all->fields -= c->nfields;
	c->nfields = 0;
	c->kind = HT_KIND_EVENT;
	c->rechecking = c->renewing = false;
}
