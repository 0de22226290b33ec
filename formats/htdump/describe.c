#include "htdump/describe.h"

#include "htdump/finding.h"
#include "htdump/record.h"
#include "htdump/state.h"
#include "htdump/vocabulary.h"

/* Class descriptions: EventKlassInfoEvent and EventKlassFieldInfoEvent ("Custom event classes"). */

void
ht_describe_restart(struct ht_state *st)
{
	/* not a mark in each class: hostile input has many classes, and many of these events */
	st->classes.stream++;
}

/* Described before the latest EndiannessInfoEvent. */
static bool
is_stale(const struct ht_state *st, const struct ht_class *c)
{
	return c->stream != st->classes.stream;
}

static void
report_limit(struct ht_state *st, const struct ht_record *rec)
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
static void
start_recheck(struct ht_state *st, struct ht_class *c, bool fresh)
{
	if (fresh)
		ht_class_forget_plan(&st->classes, c);
	c->rechecking = true;
	c->renewing = fresh;
	c->recheck = 0;
}

void
ht_describe_end(struct ht_state *st, struct ht_class *c)
{
	if (c->renewing && c->recheck < c->nfields) {
		st->classes.fields -= c->nfields - c->recheck;
		c->nfields = c->recheck;
	}
	c->rechecking = c->renewing = false;
}

static void
check_builtin(struct ht_state *st, uint32_t id, struct slice name, const struct ht_record *rec)
{
	struct quoted q;

	if (!ht_class_is_builtin_name(id, name))
		ht_finding_add(st, HT_RULE_CLASS_REDEFINED, rec,
		               "class %u is %s by the format, here it is named %s", id,
		               ht_class_builtin_name(st, id), quoted(&q, name));
}

/* Makes the class, or empties it, when it is described for the first time or otherwise than before.  c: what
 * has this id, or NULL. */
static void
define(struct ht_state *st, struct ht_class *c, uint32_t id, struct slice name, uint8_t count,
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

void
ht_describe_class(struct ht_state *st, const struct ht_record *rec)
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

/* The field that a field info record describes, its text still in the input. */
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

static bool
field_equal(const struct ht_field *a, const struct ht_field *b)
{
	return a->type == b->type && (a->size == b->size || a->type == HT_STRING) &&
	       slice_equal(a->name, b->name) && slice_equal(a->type_name, b->type_name);
}

/* Copies a text to where it lives as long as the trace.  false: the bound for descriptions is reached, or no
 * memory. */
static bool
retain(struct ht_state *st, struct slice *s)
{
	if (!ht_describe_room(&st->classes, s->n))
		return false;
	*s = arena_copy(&st->r->trace->arena, *s);
	st->no_memory |= s->p == NULL;
	return s->p != NULL;
}

static bool
retain_field(struct ht_state *st, struct ht_field *f)
{
	const bool name = retain(st, &f->name);

	return retain(st, &f->type_name) && name;
}

/* The next field of a class that is described again. */
static void
compare_field(struct ht_state *st, const struct ht_record *rec, struct ht_class *c, struct ht_field f)
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

void
ht_describe_field(struct ht_state *st, const struct ht_record *rec)
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
