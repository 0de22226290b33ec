/*
 * Tracks of the model.  Processes and threads become those of the model; a plain track becomes a child of a
 * thread or process, or of the process "global tracks".  Tracks that Perfetto merges (of equal name and
 * parent) share a group of lanes.
 */
#include "base/scan.h"
#include "model/trace_origin.h"
#include "perfetto/read/read.h"

#define MAX_NAME 1024U /* bytes; one name in the file can be that of many tracks */

static bool is_full(struct pf_state *st)
{
	struct trace *const trace = st->r->trace;

	if (trace->ntracks + 4 <= TRACE_MAX_TRACKS)
		return false;
	pf_report_limit(st, PF_FULL_TRACKS, "more than %u tracks: the events of others share one",
	                TRACE_MAX_TRACKS);
	return true;
}

static const struct track *overflow_track(struct pf_state *st)
{
	if (st->overflow_track == NULL) {
		const struct track *const p = trace_add_process(st->r->trace, SLICE_LIT("more tracks"));
		st->overflow_track =
		    p != NULL ? trace_add_thread(st->r->trace, p, 0, SLICE_LIT("more tracks")) : NULL;
		st->r->no_memory |= st->overflow_track == NULL;
	}
	return st->overflow_track;
}

static const struct track *global_process(struct pf_state *st)
{
	if (st->global_process == NULL)
		st->global_process = trace_add_process(st->r->trace, SLICE_LIT("global tracks"));
	st->r->no_memory |= st->global_process == NULL;
	return st->global_process;
}

static const struct track *add_process(struct pf_state *st, const struct pf_description *d)
{
	struct trace *const trace = st->r->trace;
	const struct slice name =
	    d->name.n > 0 ? d->name : trace_track_name(trace, true, "process", (uint32_t)d->pid);
	struct track *const t = name.p != NULL ? trace_add_process(trace, name) : NULL;

	if (t != NULL) {
		t->has_id = !d->is_unnumbered;
		t->id = d->has_label ? d->label : (uint64_t)(int64_t)d->pid;
		t->id = t->has_id ? t->id : 0;
		st->r->no_memory |= !trace_set_host(trace, t, d->host);
	}
	return t;
}

static const struct track *add_thread(struct pf_state *st, const struct pf_description *d)
{
	struct trace *const trace = st->r->trace;
	struct pf_track *const process = pf_thread(st, d->pid, NULL);
	const struct track *const above = process != NULL ? pf_model(st, process, slice_of("", 0)) : NULL;
	const struct slice name =
	    d->name.n > 0 ? d->name : trace_track_name(trace, false, "thread", (uint64_t)d->tid);
	const uint64_t id = d->is_unnumbered ? 0 : (uint64_t)d->tid;
	struct track *const t =
	    above != NULL && name.p != NULL ? trace_add_thread(trace, above, id, name) : NULL;

	if (t != NULL)
		t->has_id = !d->is_unnumbered;
	return t;
}

static const struct track *model_parent(struct pf_state *st, struct pf_track *t, unsigned depth);

static struct pf_group *find_group(struct pf_state *st, struct pf_track *t, const struct track *above,
                                   struct slice name)
{
	const struct pf_description *const d = t->final;
	/* states of two tracks can overlap */
	const uint8_t merge = d->kind == PF_STATE ? PF_MERGE_NONE : d->merge;
	struct text key = { .n = 0 };

	text_printf(&key, "%" PRIu32 " %u ", above->index, merge > PF_MERGE_NAME ? merge : 0U);
	if (merge == PF_MERGE_NONE)
		text_printf(&key, "%" PRIu64, t->uuid);
	else if (merge == PF_MERGE_KEY)
		text_add(&key, d->key.p, d->key.n);
	else
		text_add(&key, name.p, name.n);
	const struct slice s = slice_of(key.p, key.n);
	const uint32_t known = !key.failed ? tabletext_get(&st->groups, s) : 0;
	struct pf_group *g = known != TABLE_NONE && !key.failed ? st->group_list[known] : NULL;
	if (g == NULL && !key.failed) {
		const struct slice copy = arena_copy(&st->arena, s);
		g = arena_zalloc(&st->arena, 1, sizeof *g);
		if (copy.p == NULL || g == NULL ||
		    !array_reserve(&st->group_list, st->ngroups, &st->groups_cap, sizeof *st->group_list) ||
		    !tabletext_put(&st->groups, copy, st->ngroups)) {
			st->r->no_memory = true;
			g = NULL;
		} else {
			st->group_list[st->ngroups++] = g;
			g->name = name.n > 0 ? trace_text(st->r->trace, name) : SLICE_LIT("track");
			g->parent = above;
			g->first = above->kind == TRACK_THREAD && slice_equal(above->name, g->name);
		}
	}
	st->r->no_memory |= key.failed;
	text_free(&key);
	return g;
}

struct slice pf_short_name(struct pf_state *st, struct slice name)
{
	if (name.n <= MAX_NAME)
		return name;
	pf_report_limit(st, PF_FULL_NAMES, "a name that several tracks or values have is cut after %u bytes",
	                MAX_NAME);
	return textscan_slice(name.p, (uint32_t)utf8_cut(name.p, name.n, MAX_NAME));
}

/* Returns lane n of a group. */
static const struct track *lane_track(struct pf_state *st, struct pf_group *g, uint32_t n)
{
	struct trace *const trace = st->r->trace;

	while (g->nlanes <= n) {
		const uint32_t number = g->nlanes + g->first;
		const struct track *const above = g->nlanes == 0 ? g->parent : g->lanes[0];
		if (is_full(st) || number > UINT16_MAX)
			return overflow_track(st);
		const struct slice name =
		    number == 0 ? g->name
		                : arena_numbered(&trace->arena, pf_short_name(st, g->name), number + 1);
		struct track *const t =
		    name.p != NULL && array_reserve(&g->lanes, g->nlanes, &g->lanes_cap, sizeof *g->lanes)
		        ? trace_add_thread(trace, g->first > 0 ? g->parent : above, 0,
		                           textscan_slice(name.p, name.n))
		        : NULL;
		if (note_failure(&st->r->no_memory, t == NULL))
			return NULL;
		t->has_id = false;
		t->lane = (uint16_t)number;
		t->is_child = number == 0 && g->parent != st->global_process;
		g->lanes[g->nlanes++] = t;
	}
	return g->lanes[n];
}

/* Returns the track that this one is a lane of, in a trace of tracetool: the one of equal parent and name. */
static struct pf_track *lane_base(struct pf_state *st, const struct pf_track *t)
{
	const struct pf_description *const d = t->final;
	const uint32_t i = table64_get(
	    &st->own_children, pf_sibling_key(st, d->parent, d->is_unnamed ? slice_of("", 0) : d->name));

	return i != TABLE_NONE && st->tracks[i] != t ? st->tracks[i] : NULL;
}

/* Whether tracetool wrote the track for one async span: such a track states that it is merged by name.  In
 * traces of earlier versions it is named after a category, a lane after its thread. */
static bool is_async(struct pf_state *st, struct pf_track *t)
{
	if (t->parent == NULL)
		t->parent = pf_track(st, t->final->parent);
	t->is_async = t->parent != NULL &&
	              (t->final->states_name || !slice_equal(t->parent->final->name, t->final->name));
	return t->is_async;
}

/* depth: bound of the recursion. */
static const struct track *model_of(struct pf_state *st, struct pf_track *t, struct slice name,
                                    unsigned depth)
{
	const struct pf_description *const d = t->final;

	if (t->model != NULL)
		return t->model;
	const bool is_own = st->is_own && d->kind == PF_PLAIN && d->merge == PF_MERGE_NAME && d->has_parent;
	struct pf_track *const base = is_own && !d->states_name ? lane_base(st, t) : NULL;
	if (is_own && base == NULL && is_async(st, t))
		return t->model = model_parent(st, t, depth);
	if (is_full(st))
		return t->model = overflow_track(st);
	if (d->kind == PF_PROCESS) {
		t->model = add_process(st, d);
	} else if (d->kind == PF_THREAD) {
		t->model = add_thread(st, d);
	} else {
		const struct track *const above =
		    base != NULL ? model_of(st, base, name, depth + 1) : model_parent(st, t, depth);
		if (above == NULL)
			return NULL;
		const bool has_name = d->name.n > 0 && !d->is_unnamed;
		const struct slice own = (base != NULL ? has_name : d->name.n > 0)
		                             ? d->name
		                             : pf_short_name(st, base != NULL ? above->name : name);
		if (d->kind == PF_COUNTER)
			return t->model = above;
		t->group = find_group(st, t, above, own);
		t->model = t->group != NULL ? lane_track(st, t->group, 0) : NULL;
	}
	st->r->no_memory |= t->model == NULL;
	return t->model;
}

static const struct track *model_parent(struct pf_state *st, struct pf_track *t, unsigned depth)
{
	if (!t->final->has_parent || depth > PF_MAX_ANCESTORS)
		return global_process(st);
	if (t->parent == NULL)
		t->parent = pf_track(st, t->final->parent);
	return t->parent != NULL ? model_of(st, t->parent, slice_of("", 0), depth + 1) : overflow_track(st);
}

const struct track *pf_model(struct pf_state *st, struct pf_track *t, struct slice name)
{
	return model_of(st, t, name, 0);
}

/* ---- lanes ---- */

const struct track *pf_lane_take(struct pf_state *st, struct pf_track *t, struct slice name)
{
	const struct track *const first = pf_model(st, t, name);
	struct pf_group *const g = t->group;

	if (g == NULL || first == NULL)
		return first;
	if (t->lane == 0) {
		const bool reused = g->nfree > 0;
		const uint32_t n =
		    reused ? g->free[--g->nfree] : g->nlanes - (g->nlanes == 1 && !g->is_taken);
		g->is_taken = true;
		t->lane = n + 1;
	}
	return lane_track(st, g, t->lane - 1);
}

void pf_lane_free(struct pf_state *st, struct pf_track *t)
{
	struct pf_group *const g = t->group;

	if (!reader_reserve(st->r, &g->free, g->nfree, &g->free_cap, sizeof *g->free))
		return;
	g->free[g->nfree++] = t->lane - 1;
	t->lane = 0;
}
