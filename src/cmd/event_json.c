#include "cmd/event_json.h"

#include "model/event_traits.h"
#include "model/track.h"

const char *
event_kind(const struct event *e)
{
	static const char *const kinds[] = {
		[PHASE_SPAN] = "span",       [PHASE_BEGIN] = "begin",         [PHASE_END] = "end",
		[PHASE_INSTANT] = "instant", [PHASE_COUNTER] = "counter",     [PHASE_FLOW_OUT] = "flow_out",
		[PHASE_FLOW_IN] = "flow_in", [PHASE_STRUCTURE] = "structure",
	};

	return event_is_async(e) ? "async" : event_is_step(e) ? "flow_step" : kinds[e->phase];
}

static void
put_text(struct text *t, const char *key, struct slice s, struct fields_json_lost *lost)
{
	text_printf(t, ",\"%s\":", key);
	lost->bad_text += text_json_string(t, s) > 0;
}

static void
put_number(struct text *t, const char *key, uint64_t v)
{
	text_printf(t, ",\"%s\":", key);
	text_json_u64(t, v);
}

static void
put_named(struct text *t, const char *name, const char *number, const struct track *k,
          struct fields_json_lost *lost)
{
	if (k == NULL)
		return;
	put_text(t, name, k->name, lost);
	if (k->has_id)
		put_number(t, number, k->id);
}

/* The track is a time line below its thread or process; a lane is no track of its own. */
static void
put_place(struct text *t, const struct track *k, struct fields_json_lost *lost)
{
	const struct track *const base = k->lane > 0 ? k->parent : k;
	const struct track *thread = base;

	while (thread != NULL && (thread->is_child || thread->parent == NULL))
		thread = thread->parent;
	put_named(t, "process", "pid", track_process(k), lost);
	put_named(t, "thread", "tid", thread, lost);
	if (base->is_child)
		put_text(t, "track", base->name, lost);
	if (k->lane > 0)
		put_number(t, "lane", k->lane);
}

void
event_json(struct text *t, const struct event *e, struct fields_json_lost *lost)
{
	text_printf(t, "\"kind\":\"%s\"", event_kind(e));
	put_number(t, "ts_ns", e->ts);
	if (e->phase == PHASE_SPAN)
		put_number(t, "dur_ns", e->dur);
	if (event_is_flow(e))
		put_number(t, "id", e->dur);
	if (e->phase != PHASE_STRUCTURE) {
		put_text(t, "name", e->name, lost);
		put_text(t, "category", e->cls->category, lost);
		if (e->track != NULL)
			put_place(t, e->track, lost);
	}
	put_number(t, "offset", e->offset);
}
