/* Tracks that events name: found by their process and name, or added.  Their number and the bytes of their
 * names are limited. */
#include <inttypes.h>

#include "base/numbers.h"
#include "check/rules.h"
#include "run/meaning/interpret.h"

#define NAME_BYTES 256U      /* max bytes of a name; longer names are cut */
#define ALL_BYTES (4U << 20) /* max bytes of all names */

/* Named tracks are added up to this number of tracks; the rest of TRACE_MAX_TRACKS is for readers. */
#define ALL_TRACKS 65536U

/* Adds a track with this name. */
static const struct track *new_track(struct interpret *in, const struct batch *b, const struct event *e,
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

	if (!in->tracks_full)
		finding_add(interpret_findings(b, e), &input_rules[INPUT_RULE_LINE_LIMIT], e->offset, 0,
		            "%s and others share one track", quoted(&q, name));
	in->tracks_full = true;
}

/* Returns the key "t17:NAME", in memory of the batch. */
static struct slice track_key(struct batch *b, char kind, uint32_t base, struct slice name)
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

const struct track *interpret_named_track(struct interpret *in, struct batch *b, const struct event *e,
                                          const struct plan_track *how)
{
	const struct track *base = how->child ? e->track : track_process(e->track);
	const struct plan_ref *id = &how->id;
	bool child = how->child, lasting;
	struct slice name;

	if (!interpret_template(in, b, e, &how->name, &name, &lasting))
		return NULL;
	if (name.n > NAME_BYTES)
		name = slice_of(name.p, NAME_BYTES);
	struct slice key = track_key(b, child ? 'b' : 't', base->index, name);
	uint32_t known = key.p != NULL ? tabletext_get(&in->tracks, key) : TABLE_NONE;
	if (key.p == NULL)
		return base;
	if (known == TABLE_NONE && (in->trace->ntracks >= ALL_TRACKS || in->track_bytes > ALL_BYTES)) {
		report_limit(in, b, e, name);
		base = track_process(base);
		child = false;
		name = SLICE_LIT("more tracks");
		id = NULL;
		key = arena_printf(&b->scratch, "m%" PRIu32, base->index);
		known = key.p != NULL ? tabletext_get(&in->tracks, key) : TABLE_NONE;
	}
	if (known != TABLE_NONE)
		return in->trace->tracks[known];
	const struct track *const k = new_track(in, b, e, base, child, name, id);
	in->track_bytes += 2 * key.n;
	key = key.p != NULL ? arena_copy(&in->trace->arena, key) : key;
	in->failed |= k == NULL || key.p == NULL || !tabletext_put(&in->tracks, key, k->index);
	return k != NULL ? k : base;
}
