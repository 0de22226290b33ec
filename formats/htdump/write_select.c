#include "htdump/write_select.h"

#include <stdlib.h>

#include "htdump/wire.h"

/* Where the fields of a raw record stand: its head, then its own. */
enum { HEAD_FIELDS = 3, F_ID = 3, F_NAME = 4, F_TYPE_NAME = 4, F_DATA_TYPE = 7 };

#define INPUT_SHIFT 48 /* a place is an offset, and the number of the input above it */

void
htw_select_free(struct htw_select *s)
{
	for (uint32_t i = 0; i < s->nknown; i++) {
		free(s->known[i]->parts);
		free(s->known[i]);
	}
	arena_free(&s->arena);
	free(s->descriptions);
	free(s->known);
	free(s->path);
	free(s->labels);
	table64_free(&s->by_id);
	tabletext_free(&s->by_name);
	table64_free(&s->by_label);
	table64_free(&s->needed);
	*s = (struct htw_select){ .input = 0 };
}

static uint64_t
place_of(const struct htw_select *s, const struct event *e)
{
	return (uint64_t)s->input << INPUT_SHIFT ^ e->offset;
}

static void
need(struct htw_select *s, uint64_t place)
{
	s->failed |= !table64_put(&s->needed, place, 1);
}

static struct slice
text_at(const struct batch *b, const struct event *e, uint32_t i)
{
	return i < e->nfields ? value_text(&b->fields[e->first_field + i].value) : (struct slice){ "", 0, 0 };
}

static uint64_t
number_at(const struct batch *b, const struct event *e, uint32_t i)
{
	return i < e->nfields ? b->fields[e->first_field + i].value.u64 : 0;
}

/* Labels count for their input. */
static void
begin_input(struct htw_select *s)
{
	table64_free(&s->by_label);
	s->nlabels = 0;
	s->stream++;
	s->input++;
}

/* ---- classes ---- */

static struct htw_known *
find(const struct htw_select *s, uint32_t id)
{
	const uint32_t i = table64_get(&s->by_id, id);

	return i != TABLE_NONE ? s->known[i] : NULL;
}

/* The class of this id; it is made if need be.  NULL: no memory. */
static struct htw_known *
class_of(struct htw_select *s, uint32_t id)
{
	struct htw_known *k = find(s, id);

	if (k != NULL)
		return k;
	if (array_room(&s->known, s->nknown, &s->known_cap, sizeof(struct htw_known *)))
		k = calloc(1, sizeof *k);
	if (k == NULL || !table64_put(&s->by_id, id, s->nknown)) {
		free(k);
		s->failed = true;
		return NULL;
	}
	s->known[s->nknown++] = k;
	return k;
}

static void
add_description(struct htw_select *s, struct htw_known *k, const struct event *e)
{
	if (s->ndescriptions == HTW_MOST_DESCRIPTIONS) {
		s->everything = true;
		return;
	}
	if (!array_room(&s->descriptions, s->ndescriptions, &s->descriptions_cap, sizeof *s->descriptions)) {
		s->failed = true;
		return;
	}
	s->descriptions[s->ndescriptions++] = (struct htw_description){ place_of(s, e), 0 };
	if (k->first == 0)
		k->first = s->ndescriptions;
	else
		s->descriptions[k->last - 1].next = s->ndescriptions;
	k->last = s->ndescriptions;
	s->changes++;
}

static void
name_class(struct htw_select *s, uint32_t id, struct slice name)
{
	if (tabletext_get(&s->by_name, name) == TABLE_NONE)
		name = arena_copy(&s->arena, name);
	s->failed |= name.p == NULL || !tabletext_put(&s->by_name, name, table64_get(&s->by_id, id));
}

/* Of a class that is described again once its events were read, readers keep what they had. */
static void
look_at_class(struct htw_select *s, const struct batch *b, const struct event *e)
{
	const uint32_t id = (uint32_t)number_at(b, e, F_ID);
	struct htw_known *const k = class_of(s, id);

	if (k == NULL || (k->used && k->stream == s->stream))
		return;
	if (k->stream != s->stream) {
		k->first = k->nparts = 0;
		k->used = false;
	}
	k->stream = s->stream;
	name_class(s, id, text_at(b, e, F_NAME));
	add_description(s, k, e);
}

static void
look_at_field(struct htw_select *s, const struct batch *b, const struct event *e, bool wire)
{
	struct htw_known *const k = find(s, (uint32_t)number_at(b, e, F_ID));

	if (k == NULL || k->stream != s->stream || k->used || s->everything)
		return;
	add_description(s, k, e);
	if (ht_type_of((uint8_t)number_at(b, e, F_DATA_TYPE), wire) != HT_STRUCT)
		return;
	const struct slice part = arena_copy(&s->arena, text_at(b, e, F_TYPE_NAME));
	if (part.p != NULL && array_room(&k->parts, k->nparts, &k->parts_cap, sizeof *k->parts))
		k->parts[k->nparts++] = part;
	else
		s->failed = true;
}

/* Puts a class on the path, unless it is there, or was. */
static void
reach(struct htw_select *s, uint32_t i, uint32_t *n)
{
	struct htw_known *const k = i != TABLE_NONE ? s->known[i] : NULL;

	if (k == NULL || k->visit == s->visit || k->settled == s->changes)
		return;
	k->visit = s->visit;
	if (array_room(&s->path, *n, &s->path_cap, sizeof *s->path))
		s->path[(*n)++] = i;
	else
		s->failed = true;
}

/* A class is needed, and all that it is made of; and the built-in ones, as descriptions are records of these.
 */
static void
need_class(struct htw_select *s, uint32_t id)
{
	const struct htw_known *const k = find(s, id);
	uint32_t n = 0;

	if (k == NULL || k->settled == s->changes)
		return;
	s->visit++;
	reach(s, table64_get(&s->by_id, id), &n);
	for (uint32_t i = 0; i < HT_BUILTIN_CLASSES; i++)
		reach(s, table64_get(&s->by_id, i), &n);
	for (uint32_t i = 0; i < n; i++) {
		struct htw_known *const c = s->known[s->path[i]];
		for (uint32_t p = 0; p < c->nparts; p++)
			reach(s, tabletext_get(&s->by_name, c->parts[p]), &n);
		for (uint32_t d = c->first; d != 0; d = s->descriptions[d - 1].next)
			need(s, s->descriptions[d - 1].place);
		c->first = 0;
		c->settled = s->changes;
	}
}

/* ---- labels ---- */

/* NULL: they are too many, or no memory. */
static struct htw_label *
label_of(struct htw_select *s, uint64_t number)
{
	const uint32_t i = table64_get(&s->by_label, number);

	if (i != TABLE_NONE)
		return &s->labels[i];
	if (s->nlabels == HTW_MOST_LABELS) {
		s->everything = true;
		return NULL;
	}
	if (!array_room(&s->labels, s->nlabels, &s->labels_cap, sizeof *s->labels) ||
	    !table64_put(&s->by_label, number, s->nlabels)) {
		s->failed = true;
		return NULL;
	}
	s->labels[s->nlabels] = (struct htw_label){ .place = 0 };
	return &s->labels[s->nlabels++];
}

/* The number in the field of this name; false: there is none. */
static bool
number_of(const struct batch *b, const struct event *e, struct slice name, uint64_t *number)
{
	for (uint32_t i = HEAD_FIELDS; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		if (!slice_equal(f->name, name))
			continue;
		*number = f->value.u64;
		return f->value.type != VALUE_NONE && f->value.type <= VALUE_ADDRESS;
	}
	return false;
}

/* A record that says what a number stands for.  It is needed if the number was used already, or will be. */
static bool
waits(struct htw_select *s, const struct batch *b, const struct event *e, uint32_t class_id)
{
	const struct plan_define *const d = e->cls->plan != NULL ? e->cls->plan->defines : NULL;
	uint64_t number;

	if (d == NULL || e->cls->plan->ndefines != 1 || d->nkeys != 1 || !number_of(b, e, d->key[0], &number))
		return false;
	struct htw_label *const l = label_of(s, number);
	if (l == NULL || l->used)
		return false;
	l->place = place_of(s, e);
	l->class_id = class_id;
	l->waits = true;
	return true;
}

static void
use_label(struct htw_select *s, uint64_t number)
{
	struct htw_label *const l = label_of(s, number);

	if (l == NULL)
		return;
	if (l->waits) {
		need_class(s, l->class_id);
		need(s, l->place);
	}
	l->waits = false;
	l->used = true;
}

/* The numbers that an event may be named by. */
static void
use_labels(struct htw_select *s, const struct batch *b, const struct event *e, const struct plan *m)
{
	uint64_t number;

	for (uint32_t i = 0; i < m->nnames; i++)
		for (uint32_t p = 0; p < m->names[i].nparts; p++) {
			const struct plan_ref *const ref = &m->names[i].parts[p].ref;
			if (ref->nfields == 1 && ref->ntables > 0 && number_of(b, e, ref->field[0], &number))
				use_label(s, number);
		}
}

/* ---- records ---- */

static void
look_at_event(struct htw_select *s, const struct batch *b, const struct event *e, uint32_t id)
{
	struct htw_known *const k = s->last != NULL && s->last_id == id ? s->last : find(s, id);

	s->last = k;
	s->last_id = id;
	if (k != NULL)
		k->used = true;
	if ((e->flags & EVENT_LEFT_OUT) != 0)
		return;
	if (k != NULL && k->settled != s->changes)
		need_class(s, id);
	for (const struct plan *m = e->cls->plan; m != NULL; m = m->otherwise)
		use_labels(s, b, e, m);
}

void
htw_select_look(struct htw_select *s, const struct batch *b, const struct event *e)
{
	const bool wire = slice_is(b->fields[e->first_field].name, "klass_id");
	const uint32_t id = (uint32_t)number_at(b, e, wire ? 0 : 2);

	if (e->offset == 0)
		begin_input(s);
	if (e->offset >> INPUT_SHIFT != 0)
		s->everything = true;
	if (s->everything || s->failed)
		return;
	if (e->phase != PHASE_STRUCTURE) {
		look_at_event(s, b, e, id);
	} else if (id == HT_CLASS_INFO) {
		look_at_class(s, b, e);
	} else if (id == HT_CLASS_FIELD) {
		look_at_field(s, b, e, wire);
	} else if (id == HT_CLASS_ENDIANNESS) {
		s->stream += e->offset != 0;
		need(s, place_of(s, e));
	} else if (!waits(s, b, e, id)) {
		need_class(s, id);
		need(s, place_of(s, e));
	}
}

void
htw_select_end(struct htw_select *s)
{
	const struct table64 needed = s->needed;

	if (s->over)
		return;
	const bool everything = s->everything, failed = s->failed;

	s->needed = (struct table64){ .slots = NULL };
	htw_select_free(s);
	s->over = true;
	s->needed = needed;
	s->everything = everything;
	s->failed = failed;
}

bool
htw_select_takes(struct htw_select *s, const struct event *e)
{
	s->input += e->offset == 0;
	if (e->phase != PHASE_STRUCTURE)
		return (e->flags & EVENT_LEFT_OUT) == 0;
	return s->everything || table64_get(&s->needed, place_of(s, e)) != TABLE_NONE;
}
