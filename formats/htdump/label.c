#include "htdump/label.h"

#include <stdlib.h>

#include "htdump/finding.h"
#include "htdump/record.h"
#include "htdump/state.h"

/*
 * Names of integer labels.  They come from HT_StringMappingEvent, which may
 * stand after the first use, and from a label map file.  When a label has no
 * name yet and the input can be read twice, one quiet pass over all of
 * the input collects the names that come later.
 */

static void
destroy_texts(struct shared_memory *m)
{
	struct ht_texts *const texts = (struct ht_texts *)m; /* its first member */

	arena_free(&texts->arena);
	free(texts);
}

void
ht_labels_free(struct ht_labels *all)
{
	table64_free(&all->index);
	free(all->list);
	shared_memory_drop(all->texts != NULL ? &all->texts->shared : NULL);
}

/* ---- adding ---- */

/* Room for one more label of n bytes; false when the bounds are reached (then it stays a number, and is
 * counted).  Names that were replaced take room too, and an empty one is not for nothing. */
static bool
room_for(const struct ht_labels *all, uint32_t n)
{
	return all->n < HT_MAX_MAPPINGS && all->bytes <= HT_MAX_LABEL_BYTES &&
	       n + HT_TEXT_COST <= HT_MAX_LABEL_BYTES - all->bytes;
}

/* p is NULL: no memory. */
static struct slice
copy_text(struct ht_labels *all, struct slice text)
{
	if (all->texts == NULL) {
		all->texts = calloc(1, sizeof *all->texts);
		if (all->texts == NULL)
			return (struct slice){ NULL, 0, 0 };
		shared_memory_init(&all->texts->shared, destroy_texts);
	}
	return arena_copy(&all->texts->arena, text);
}

static void
define(struct ht_state *st, const struct ht_label *label)
{
	definitions_put(&st->r->trace->definitions, st->labels.table, DEFINITIONS_WHOLE_TRACE,
	                label->identifier, 0, value_string(label->text));
}

/* Puts a label in the place of `old`, or of none.  false: no memory. */
static bool
put(struct ht_state *st, struct ht_label *old, struct ht_label label)
{
	struct ht_labels *const all = &st->labels;

	label.text = copy_text(all, label.text);
	if (label.text.p == NULL)
		return false;
	if (all->shared)
		define(st, &label);
	all->bytes += label.text.n + HT_TEXT_COST;
	if (old != NULL) {
		*old = label;
		return true;
	}
	if (!array_room(&all->list, all->n, &all->cap, sizeof *all->list) ||
	    !table64_put(&all->index, label.identifier, all->n))
		return false;
	all->list[all->n++] = label;
	return true;
}

static void
report_changed(struct ht_state *st, const struct ht_label *old, struct slice text,
               const struct ht_record *rec)
{
	struct quoted q, q2;

	if (ht_finding_is_shown(st, HT_RULE_MAPPING_CHANGED))
		ht_finding_add(st, HT_RULE_MAPPING_CHANGED, rec,
		               "label %" PRIu64 " was %s, from here on it is %s", old->identifier,
		               quoted(&q, old->text), quoted(&q2, text));
	else
		ht_finding_add(st, HT_RULE_MAPPING_CHANGED, rec, "not shown");
}

void
ht_label_add(struct ht_state *st, uint64_t identifier, struct slice text, enum ht_label_source source,
             const struct ht_record *rec)
{
	struct ht_labels *const all = &st->labels;
	const uint32_t known = table64_get(&all->index, identifier);
	struct ht_label *const old = known != TABLE_NONE ? &all->list[known] : NULL;

	if (old != NULL && source <= old->source && source != HT_LABEL_MET)
		return;
	if (old != NULL && slice_equal(old->text, text)) {
		old->source = source;
		return;
	}
	if (old != NULL && old->source == HT_LABEL_MET)
		report_changed(st, old, text, rec);
	if (room_for(all, text.n) && !put(st, old, (struct ht_label){ text, identifier, source }))
		st->no_memory = true;
}

/* ---- looking up ---- */

/* Collects all mappings of the input by a pass of its own, at most once. */
static void
look_ahead(struct ht_state *st)
{
	struct ht_labels *const all = &st->labels;

	if (all->looked_ahead || st->ahead_of != NULL)
		return;
	all->looked_ahead = true;
	switch (reader_look_ahead(st->r)) {
	case LOOK_AHEAD_DONE:
		break;
	case LOOK_AHEAD_ONE_PASS:
		all->one_pass = true; /* labels that are named later stay numbers, and are counted */
		break;
	case LOOK_AHEAD_FAILED:
		st->no_memory = true;
		break;
	}
}

void
ht_labels_share(struct ht_state *st, uint8_t table)
{
	struct ht_labels *const all = &st->labels;

	if (all->shared)
		return;
	look_ahead(st);
	all->shared = true;
	all->table = table;
	for (uint32_t i = 0; i < all->n && !st->no_memory; i++)
		define(st, &all->list[i]);
}

struct slice
ht_label_find(struct ht_state *st, uint64_t identifier, const struct ht_record *rec)
{
	struct ht_labels *const all = &st->labels;
	uint32_t known = table64_get(&all->index, identifier);

	if (known == TABLE_NONE && !all->looked_ahead) {
		look_ahead(st);
		known = table64_get(&all->index, identifier);
	}
	if (known != TABLE_NONE)
		return all->list[known].text;
	finding_tally_add(&all->unresolved, rec->offset, rec->ordinal, identifier, 0);
	return (struct slice){ NULL, 0, 0 };
}
