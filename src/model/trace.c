#include "model/trace_engine.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/vocabulary.h"

void
trace_init(struct trace *t)
{
	*t = (struct trace){ .format = "", .dialect = "", .clock = "unknown" };
}

void
trace_free(struct trace *t)
{
	arena_free(&t->arena);
	free(t->classes);
	free(t->planned);
	free(t->tracks);
	free(t->meta);
	tabletext_free(&t->class_names);
	table64_free(&t->class_plans);
	tabletext_free(&t->child_tracks);
	definitions_free(&t->definitions);
	*t = (struct trace){ .format = "" };
}

static struct track *
add_track(struct trace *t, struct slice name)
{
	struct track *k = arena_zalloc(&t->arena, 1, sizeof *k);
	if (k == NULL || !array_room(&t->tracks, t->ntracks, &t->tracks_cap, sizeof(struct track *)))
		return NULL;
	k->name = arena_copy(&t->arena, name);
	if (k->name.p == NULL)
		return NULL;
	k->index = t->ntracks;
	t->tracks[t->ntracks++] = k;
	return k;
}

/* A file may say that tracks lie below tracks without end, and who looks for something above a track looks at
 * all of them. */
static void
put_below(struct track *k, const struct track *above)
{
	while (above->depth >= TRACE_MAX_DEPTH)
		above = above->parent;
	track_put_below(k, above);
}

struct track *
trace_add_process(struct trace *t, struct slice name)
{
	struct track *k = add_track(t, name);
	if (k != NULL)
		k->kind = TRACK_PROCESS;
	return k;
}

struct track *
trace_add_thread(struct trace *t, const struct track *process, uint64_t id, struct slice name)
{
	struct track *k = add_track(t, name);
	if (k == NULL)
		return NULL;
	k->kind = TRACK_THREAD;
	k->has_id = true;
	k->id = id;
	if (process != NULL)
		put_below(k, process);
	return k;
}

bool
trace_add_meta(struct trace *t, struct slice name, struct value value)
{
	if (!array_room(&t->meta, t->nmeta, &t->meta_cap, sizeof *t->meta))
		return false;
	name = arena_copy(&t->arena, name);
	if (value.type == VALUE_STRING)
		value = value_string(arena_copy(&t->arena, value_text(&value)));
	if (name.p == NULL || (value.type == VALUE_STRING && value.p == NULL))
		return false;
	t->meta[t->nmeta++] = (struct field){ name, value };
	return true;
}

const struct track *
trace_child_track(struct trace *t, const struct track *track, struct slice what)
{
	const struct slice key =
	    arena_printf(&t->arena, "%" PRIu32 ": %.*s", track->index, (int)what.n, what.p);
	if (key.p == NULL)
		return NULL;
	const uint32_t known = tabletext_get(&t->child_tracks, key);
	if (known != TABLE_NONE)
		return t->tracks[known];
	struct slice name =
	    arena_printf(&t->arena, "%.*s: %.*s", (int)track->name.n, track->name.p, (int)what.n, what.p);
	if (name.p == NULL)
		return NULL;
	name.flags = track->name.flags & what.flags;
	struct track *const k = add_track(t, name);
	if (k == NULL || !tabletext_put(&t->child_tracks, key, k->index))
		return NULL;
	k->kind = TRACK_THREAD;
	k->is_child = true;
	put_below(k, track);
	return k;
}

/* ---- what vocabularies say ---- */

const struct plan *
trace_find_plan(const struct trace *t, struct slice name, trace_has_field *has, const void *ctx)
{
	const struct vocabulary *const v = t->vocabulary;

	return v != NULL ? v->ops->find(v, name, has, ctx) : NULL;
}

struct slice
trace_track_name(struct trace *t, bool process, const char *noun, uint64_t id)
{
	const struct vocabulary *const v = t->vocabulary;
	const struct plan_template *const m = v != NULL ? v->ops->track_name(v, process, id) : NULL;
	struct slice name = { "", 0, SLICE_UTF8 | SLICE_JSON };

	if (m == NULL) {
		name = arena_printf(&t->arena, "%s %" PRIu64, noun, id);
		name.flags = SLICE_UTF8 | SLICE_JSON;
		return name;
	}
	for (uint32_t i = 0; i < m->nparts && name.p != NULL; i++) {
		const struct plan_part *const part = &m->parts[i];
		const uint32_t flags = name.flags & part->text.flags;
		name = part->ref.nfields == 0 ? arena_printf(&t->arena, "%.*s%.*s", (int)name.n, name.p,
		                                             (int)part->text.n, part->text.p)
		                              : arena_printf(&t->arena, "%.*s%.*s%" PRIu64, (int)name.n,
		                                             name.p, (int)part->text.n, part->text.p, id);
		name.flags = flags;
	}
	return name;
}

void
trace_define(struct trace *t, const char *table, const struct track *process, uint64_t key1, uint64_t key2,
             struct value value)
{
	const struct vocabulary *const v = t->vocabulary;
	const uint8_t number = v != NULL ? v->ops->table(v, slice_str(table)) : PLAN_NO_TABLE;
	const uint32_t scope = process != NULL ? process->index : DEFINITIONS_WHOLE_TRACE;

	if (number != PLAN_NO_TABLE)
		definitions_put(&t->definitions, number, scope, key1, key2, value);
}
