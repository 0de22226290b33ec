#include <inttypes.h>

#include "policy/policy_draft.h"

#include "base/units.h"

/* The key "expect". */

/* Room for the entries of a list, of which a file may have `most` in all; NULL after a mistake. */
static void *
entries(struct policy_draft *d, const struct yaml_node *node, const char *what, uint32_t *n, uint32_t most,
        size_t size)
{
	if (node->kind != NODE_LIST) {
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "%s is a list", what);
		return NULL;
	}
	if (node->n > most - *n) {
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "there are more than %" PRIu32 " %s in all", most,
		         what);
		return NULL;
	}
	*n += node->n;
	return policy_alloc(d, node->n, size);
}

/* ---- events ---- */

static void
event_count(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_event *const e = into;

	policy_counts(d, node, "count", &e->count);
}

static void
take_events(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	static const struct policy_key keys[] = { POLICY_WHO_KEYS, { "count", event_count } };
	struct policy_section *const s = into;
	uint32_t index = d->file->nevents;
	struct policy_event *const events =
	    entries(d, node, "events", &d->file->nevents, POLICY_MAX_EVENTS, sizeof *events);

	if (events == NULL)
		return;
	s->events = events;
	for (const struct yaml_node *item = node->child; item != NULL; item = item->next) {
		struct policy_event *const e = &events[s->nevents++];
		*e = (struct policy_event){ .who = { .kinds = (1U << POLICY_KINDS) - 1 },
			                    .line = item->line,
			                    .index = index++,
			                    .count = { 1, UINT64_MAX } };
		if (item->kind == NODE_SCALAR)
			policy_pattern(d, item, "name", &e->who.name);
		else if (POLICY_MAP(d, item, "an event", keys, e) && !policy_says_who(&e->who))
			yaml_say(&d->yaml, YAML_BAD_VALUE, item,
			         "an event has a name, a category or a thread");
	}
}

/* ---- metadata ---- */

static void
take_metadata(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_section *const s = into;
	const bool map = node->kind == NODE_MAP;
	const uint32_t n = node->kind == NODE_SCALAR ? 1 : map ? node->n / 2 : node->n;

	if (n > POLICY_MAX_METADATA - d->file->nmetadata) {
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "there are more than %u metadata in all",
		         POLICY_MAX_METADATA);
		return;
	}
	struct policy_metadata *const list = policy_alloc(d, n, sizeof *list);
	if (list == NULL)
		return;
	d->file->nmetadata += n;
	s->metadata = list;
	for (const struct yaml_node *key = node->kind == NODE_SCALAR ? node : node->child; key != NULL;
	     key = node->kind == NODE_SCALAR ? NULL
	           : map                     ? key->next->next
	                                     : key->next) {
		struct policy_metadata *const m = &list[s->nmetadata++];
		m->line = key->line;
		if (policy_pattern(d, key, "a name of metadata", &m->name) && map)
			policy_pattern(d, key->next, "a value of metadata", &m->value);
	}
}

/* ---- times ---- */

static void
take_instant(struct policy_draft *d, const struct yaml_node *node, const char *what, bool wall_only,
             struct policy_instant *at)
{
	struct quoted q;

	if (!policy_text(d, node, what, &at->text))
		return;
	at->line = node->line;
	at->wall = units_wall(at->text, &at->ns);
	if (!at->wall && (wall_only || !units_time(at->text, &at->ns)))
		yaml_say(&d->yaml, YAML_BAD_VALUE, node,
		         "%s is a time such as 2026-01-31T08:00:00Z%s, not %s", what,
		         wall_only ? "" : ", or 1.5s of the trace's own clock", quoted(&q, at->text));
}

static void
epoch_after(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_epoch *const e = into;

	take_instant(d, node, "after", true, &e->after);
}

static void
epoch_before(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_epoch *const e = into;

	take_instant(d, node, "before", true, &e->before);
}

static void
take_epoch(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	static const struct policy_key keys[] = { { "after", epoch_after }, { "before", epoch_before } };
	struct policy_section *const s = into;
	bool known;

	s->epoch.line = node->line;
	if (node->kind != NODE_SCALAR)
		POLICY_MAP(d, node, "epoch", keys, &s->epoch);
	else if (policy_bool(d, node, "epoch", &known))
		s->epoch.unknown = !known;
}

static bool
take_time(struct policy_draft *d, const struct yaml_node *node, const char *what, uint64_t *ns)
{
	struct quoted q;

	if (!yaml_is_text(&d->yaml, node, what))
		return false;
	if (units_time(node->text, ns))
		return true;
	yaml_say(&d->yaml, YAML_BAD_VALUE, node, "%s is a time such as 5ms (ns, us, ms, s, min, h), not %s",
	         what, quoted(&q, node->text));
	return false;
}

static void
duration_min(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_range *const r = into;

	take_time(d, node, "min", &r->min);
}

static void
duration_max(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_range *const r = into;

	take_time(d, node, "max", &r->max);
}

static void
time_duration(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	static const struct policy_key keys[] = { { "min", duration_min }, { "max", duration_max } };
	struct policy_times *const t = into;
	const uint64_t mistakes = d->yaml.mistakes;

	if (POLICY_MAP(d, node, "duration", keys, &t->duration) && d->yaml.mistakes == mistakes &&
	    t->duration.min > t->duration.max)
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "duration: min is more than max");
}

static void
time_after(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_times *const t = into;

	take_instant(d, node, "after", false, &t->after);
}

static void
time_before(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_times *const t = into;

	take_instant(d, node, "before", false, &t->before);
}

static void
take_times(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	static const struct policy_key keys[] = { { "duration", time_duration },
		                                  { "after", time_after },
		                                  { "before", time_before } };
	struct policy_section *const s = into;

	s->times = (struct policy_times){ .line = node->line, .duration = { 0, UINT64_MAX } };
	POLICY_MAP(d, node, "time", keys, &s->times);
}

/* ---- threads and processes ---- */

static void
tracks_count(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_tracks *const t = into;

	policy_counts(d, node, "count", &t->count);
}

static void
tracks_names(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_tracks *const t = into;

	policy_patterns(d, node, "names", POLICY_MAX_NAMES, &t->names, &t->nnames);
}

static void
take_tracks(struct policy_draft *d, const struct yaml_node *node, const char *what, struct policy_tracks *t)
{
	static const struct policy_key keys[] = { { "count", tracks_count }, { "names", tracks_names } };

	*t = (struct policy_tracks){ .line = node->line, .count = { 0, UINT64_MAX } };
	if (node->kind == NODE_SCALAR)
		policy_counts(d, node, what, &t->count);
	else
		POLICY_MAP(d, node, what, keys, t);
}

static void
take_threads(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_section *const s = into;

	take_tracks(d, node, "threads", &s->threads);
}

static void
take_processes(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_section *const s = into;

	take_tracks(d, node, "processes", &s->processes);
}

/* ---- shares ---- */

static void
take_most(struct policy_draft *d, const struct yaml_node *node, const char *what, struct policy_most *m)
{
	struct quoted q;

	if (!policy_text(d, node, what, &m->text))
		return;
	m->line = node->line;
	if (!units_share(m->text, &m->share))
		yaml_say(&d->yaml, YAML_BAD_VALUE, node, "%s is a share such as 0.5%%, not %s", what,
		         quoted(&q, m->text));
}

static void
take_lost(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_section *const s = into;

	take_most(d, node, "lost-packets", &s->lost);
}

static void
take_unfinished(struct policy_draft *d, const struct yaml_node *node, void *into)
{
	struct policy_section *const s = into;

	take_most(d, node, "unfinished-spans", &s->unfinished);
}

void
policy_take_expect(struct policy_draft *d, const struct yaml_node *node, void *section)
{
	static const struct policy_key keys[] = {
		{ "events", take_events },
		{ "metadata", take_metadata },
		{ "epoch", take_epoch },
		{ "threads", take_threads },
		{ "processes", take_processes },
		{ "lost-packets", take_lost },
		{ "unfinished-spans", take_unfinished },
		{ "time", take_times },
	};

	POLICY_MAP(d, node, "expect", keys, section);
}
