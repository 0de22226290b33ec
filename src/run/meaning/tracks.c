/* Tracks named by fields of events ("lines"): a hash table by name, and a cache by number.  The number of
 * lines and the bytes of their names are limited. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "check/rules.h"
#include "run/meaning/interpret.h"

#define CACHED 1024U         /* slots, in pairs */
#define NAME_BYTES 256U      /* max bytes of the name of a line; longer names are cut */
#define ALL_BYTES (4U << 20) /* max bytes of all names */

/* Lines are added up to this number of tracks; the rest of TRACE_MAX_TRACKS is for readers. */
#define ALL_TRACKS 65536U

/* Cached result for a rule, a process (or track, for child lines) and a number, or a text that stays. */
struct line_cached {
	const void *how; /* the plan_track, or the name of the state */
	const struct track *base;
	uint64_t value;
	uint32_t n; /* bytes of the text */
	uint8_t type;
	const struct track *track;
};

void interpret_lines_free(struct interpret *in)
{
	tabletext_free(&in->lines);
	free(in->cached);
	in->cached = NULL;
}

/* Returns the pair of slots of a key.  The mix is not linear: with a linear mix, two rules at an unlucky
 * distance of their addresses would collide for every value.  The second slot of a pair resolves most of the
 * remaining collisions. */
static struct line_cached *cached_pair(struct interpret *in, const struct line_cached *key)
{
	uint64_t h = (uintptr_t)key->how ^ (uint64_t)key->base->index << 40 ^ key->value << 20;

	if (in->cached == NULL)
		in->cached = calloc(CACHED, sizeof *in->cached);
	if (in->cached == NULL) {
		in->failed = true;
		return NULL;
	}
	h *= UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return &in->cached[h >> 55 << 1];
}

/* Returns the track cached in a pair, or NULL. */
static inline const struct track *cached_track(struct interpret *in, const struct line_cached *pair,
                                               const struct line_cached *key)
{
	for (unsigned i = 0; i < 2; i++)
		if (pair[i].how == key->how && pair[i].base == key->base && pair[i].value == key->value &&
		    pair[i].type == key->type && pair[i].n == key->n)
			return pair[i].track;
	in->line_misses++;
	return NULL;
}

static void cache_track(struct line_cached *pair, struct line_cached key, const struct track *track)
{
	key.track = track;
	pair[1] = pair[0];
	pair[0] = key;
}

/* Adds a line with this name. */
static const struct track *new_line(struct interpret *in, const struct batch *b, const struct event *e,
                                    const struct track *base, bool child, struct slice name,
                                    const struct plan_ref *id)
{
	if (child)
		return trace_child_track(in->trace, base, name);
	const struct value v =
	    id != NULL ? interpret_ref(in, b, e, id) : (struct value){ .type = VALUE_NONE };
	struct track *const k = trace_add_thread(in->trace, base, 0, name);
	if (k == NULL)
		return NULL;
	k->has_id = interpret_number(&v, &k->id);
	return k;
}

/* Reports the limit, once per trace. */
static void report_limit(struct interpret *in, const struct batch *b, const struct event *e,
                         struct slice name)
{
	struct quoted q;

	if (!in->lines_full)
		finding_add(interpret_findings(b, e), &input_rules[INPUT_RULE_LINE_LIMIT], e->offset, 0,
		            "%s and others share one time line", quoted(&q, name));
	in->lines_full = true;
}

/* Returns the key "t17:NAME", in memory of the batch. */
static struct slice line_key(struct batch *b, char kind, uint32_t base, struct slice name)
{
	char *const p = arena_alloc(&b->scratch, (size_t)name.n + DECIMAL_U64_MAX + 2);

	if (p == NULL)
		return (struct slice){ NULL, 0, 0 };
	p[0] = kind;
	char *end = decimal_u64(p + 1, base);
	*end++ = ':';
	if (name.n > 0)
		memcpy(end, name.p, name.n);
	return slice_of(p, (size_t)(end - p) + name.n);
}

/* Finds or adds the line of this name in a process; on OOM returns the base. */
static const struct track *named_line(struct interpret *in, struct batch *b, const struct event *e,
                                      const struct track *base, bool child, struct slice name,
                                      const struct plan_ref *id)
{
	struct slice key = line_key(b, child ? 'b' : 't', base->index, name);
	uint32_t known = key.p != NULL ? tabletext_get(&in->lines, key) : TABLE_NONE;

	if (key.p == NULL)
		return base;
	if (known == TABLE_NONE && (in->trace->ntracks >= ALL_TRACKS || in->line_bytes > ALL_BYTES)) {
		report_limit(in, b, e, name);
		base = track_process(base);
		child = false;
		name = SLICE_LIT("more tracks");
		id = NULL;
		key = arena_printf(&b->scratch, "m%" PRIu32, base->index);
		known = key.p != NULL ? tabletext_get(&in->lines, key) : TABLE_NONE;
	}
	if (known != TABLE_NONE)
		return in->trace->tracks[known];
	const struct track *const k = new_line(in, b, e, base, child, name, id);
	in->line_bytes += 2 * key.n;
	key = key.p != NULL ? arena_copy(&in->trace->arena, key) : key;
	in->failed |= k == NULL || key.p == NULL || !tabletext_put(&in->lines, key, k->index);
	return k != NULL ? k : base;
}

void interpret_line(struct interpret *in, struct batch *b, const struct event *e,
                    const struct plan_track *how, const struct track **track)
{
	const struct track *const base = how->child ? e->track : track_process(e->track);
	const struct value v = interpret_ref(in, b, e, &how->number);
	const bool text = v.type == VALUE_STRING || v.type == VALUE_BYTES;
	const bool lasts = !text || (v.flags & SLICE_STAYS) != 0;
	struct slice name;
	bool lasting;

	if (how->number.nfields > 0 && v.type == VALUE_NONE)
		return;
	if (how->id.nfields > 0 && how->id.ntables == 0 &&
	    interpret_ref(in, b, e, &how->id).type == VALUE_NONE)
		return;
	const struct line_cached key = { .how = how,
		                         .base = base,
		                         .value = text ? (uintptr_t)v.p : v.u64,
		                         .n = text ? v.count : 0,
		                         .type = v.type };
	struct line_cached *const pair = cached_pair(in, &key);
	const struct track *const known = pair != NULL && lasts ? cached_track(in, pair, &key) : NULL;
	if (pair == NULL)
		return;
	if (known != NULL) {
		*track = known;
		return;
	}
	if (!interpret_template(in, b, e, &how->name, &name, &lasting))
		return;
	if (name.n > NAME_BYTES)
		name = slice_of(name.p, NAME_BYTES);
	const struct track *const found = named_line(in, b, e, base, how->child, name, &how->id);
	*track = found;
	if (lasts)
		cache_track(pair, key, found);
}

const struct track *interpret_state_line(struct interpret *in, struct batch *b, const struct event *e,
                                         const struct plan *m)
{
	const struct line_cached key = { .how = m->state_name.p, .base = e->track, .value = m->state };
	struct line_cached *const pair = cached_pair(in, &key);
	const struct track *found = pair != NULL ? cached_track(in, pair, &key) : e->track;

	if (found != NULL)
		return found;
	found = named_line(in, b, e, e->track, true, m->state_name, NULL);
	cache_track(pair, key, found);
	return found;
}
