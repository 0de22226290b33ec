#include "dial9/dial9_state.h"

/* Who did it: the OS thread that the event names, else the worker, else nobody in particular. */

static struct track *
add(struct d9_state *st, const char *kind, uint64_t id)
{
	char name[40];
	const int n = snprintf(name, sizeof name, "%s %" PRIu64, kind, id);

	return trace_add_thread(st->r->trace, st->tracks.process, id,
	                        (struct slice){ name, (uint32_t)n, SLICE_UTF8 | SLICE_JSON });
}

static const struct track *
too_many(struct d9_state *st, uint64_t id, const struct d9_frame *f)
{
	if (finding_is_shown(st->r->judge, &d9_rules[D9_RULE_THREAD_LIMIT]))
		d9_find(st, D9_RULE_THREAD_LIMIT, f,
		        "thread or worker %" PRIu64 " and others share one track", id);
	else
		d9_find(st, D9_RULE_THREAD_LIMIT, f, "not shown");
	if (st->tracks.more == NULL)
		st->tracks.more =
		    trace_add_thread(st->r->trace, st->tracks.process, UINT64_MAX, SLICE_LIT("more threads"));
	return st->tracks.more;
}

static const struct track *
track_of(struct d9_state *st, uint64_t id, bool worker, const struct d9_frame *f)
{
	struct d9_tracks *const t = &st->tracks;
	struct table64 *const table = worker ? &t->workers : &t->threads;

	if (t->last != NULL && t->last_id == id && t->last_is_worker == worker)
		return t->last;
	const uint32_t known = table64_get(table, id);
	const struct track *found;
	if (known != TABLE_NONE) {
		found = st->r->trace->tracks[known];
	} else if (st->r->trace->ntracks >= TRACE_MAX_TRACKS) {
		found = too_many(st, id, f);
	} else {
		struct track *const made = add(st, worker ? "worker" : "thread", id);
		if (made == NULL || !table64_put(table, id, made->index))
			return NULL;
		made->has_id = !worker; /* a worker's number is no thread id of the system */
		found = made;
	}
	t->last = found;
	t->last_id = id;
	t->last_is_worker = worker;
	return found;
}

const struct track *
d9_track(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	const uint32_t fields[] = { s->thread, s->worker };
	uint64_t id;

	for (int i = 0; i < 2; i++)
		if (fields[i] != D9_NO_FIELD &&
		    d9_value_integer(s->fields[fields[i]].type, d9_field_at(s, f, fields[i]), &id))
			return track_of(st, id, i == 1, f);
	if (st->tracks.none == NULL) {
		struct track *const none =
		    trace_add_thread(st->r->trace, st->tracks.process, 0, SLICE_LIT("no thread"));
		if (none != NULL)
			none->has_id = false;
		st->tracks.none = none;
	}
	return st->tracks.none;
}
