/*
 * Names that tracks take from their first event.  The importer names an unnamed track after that event, and
 * joins its row with others of that name; if the event is left out, the copy has to state the name.
 *
 * The survey reads all packets before the first one is copied.  Memory: a name for each such track, and the
 * interned names of events; both have a limit, beyond which tracks are named after the first event copied.
 */
#include <stdlib.h>

#include "perfetto/copy/copy.h"

#define MAX_NAMES 262144U

void pfc_names_free(struct pfc_names *names)
{
	arena_free(&names->arena);
	tabletext_free(&names->texts);
	table64_free(&names->index);
	table64_free(&names->interned);
	free(names->list);
	free(names->names);
}

/* Copies a text into the arena; equal texts once. */
static struct slice retain(struct pfc_names *names, struct slice s)
{
	const char *const known = tabletext_key(&names->texts, s);

	if (known != NULL)
		return slice_of(known, s.n);
	const struct slice copy = arena_copy(&names->arena, s);
	names->failed |= copy.p == NULL || !tabletext_put(&names->texts, copy, 1);
	return copy;
}

static uint64_t interned_key(const struct pfc_names *names, const struct pfc_packet *k, uint64_t iid,
                             uint64_t interval)
{
	const uint64_t sequence = (uint64_t)k->machine << 32 | k->sequence;

	return hash_u64(iid, hash_u64(interval, hash_u64(sequence, names->seed + names->input)));
}

static struct pfc_name *name_of(struct pfc_names *names, uint64_t uuid)
{
	const uint32_t before = names->n;
	const uint32_t i = table64_element(&names->index, pfc_track_key(names, uuid), &names->list, &names->n,
	                                   &names->cap, sizeof *names->list, MAX_NAMES);

	names->failed |= i == TABLE_FAILED;
	if (names->n > before)
		names->list[i] = (struct pfc_name){ .uuid = uuid, .ts = UINT64_MAX, .ended = UINT64_MAX };
	return i < TABLE_FAILED ? &names->list[i] : NULL;
}

void pfc_survey_descriptor(struct pfc_names *names, struct slice s)
{
	struct pf_wire w = pf_wire_on(s);
	bool is_named = false;

	while (pf_wire_next(&w))
		switch (pf_wire_number(&w)) {
		case PF_descriptor_name:
		case PF_descriptor_static_name:
		case PF_descriptor_atrace_name:
		case PF_descriptor_thread:
		case PF_descriptor_process:
		case PF_descriptor_counter:
		case PF_descriptor_state:
			is_named = true;
			break;
		default:
			break;
		}
	struct pfc_name *const n = name_of(names, pf_number(s, PF_descriptor_uuid));
	if (n != NULL) {
		n->is_described = true;
		n->is_named |= is_named;
	}
}

void pfc_survey_event(struct pfc_names *names, const struct pfc_sequence *q, const struct pfc_packet *k,
                      uint64_t ts, bool copied)
{
	const struct pf_event_fields *const te = &k->te;
	const uint64_t uuid = pfc_track_of(k, q);
	struct pfc_name *const n = uuid != 0 && te->type != PF_EVENT_END ? name_of(names, uuid) : NULL;

	if (n != NULL && te->type == PF_EVENT_STATE && copied) {
		n->first_state = n->has_states && n->first_state < ts ? n->first_state : ts;
		n->last_state = n->has_states && n->last_state > ts ? n->last_state : ts;
		n->has_states = true;
	}
	if (n == NULL || n->ts <= ts)
		return;
	const uint32_t known =
	    q == NULL || te->name_iid == 0
	        ? TABLE_NONE
	        : table64_get(&names->interned, interned_key(names, k, te->name_iid, q->interval));
	n->ts = ts;
	n->copied = copied;
	if (te->name_iid != 0)
		n->name = known != TABLE_NONE ? names->names[known] : SLICE_NONE;
	else
		n->name = te->name.p != NULL ? retain(names, te->name) : SLICE_NONE;
}

bool pfc_names_nothing(const struct pfc_names *names, const struct pfc_sequence *q,
                       const struct pfc_packet *k, uint64_t ts)
{
	const uint64_t uuid = pfc_track_of(k, q);
	const uint32_t known = table64_get(&names->index, pfc_track_key(names, uuid));

	return uuid == 0 || k->te.type == PF_EVENT_END ||
	       (known != TABLE_NONE && names->list[known].ts <= ts);
}

void pfc_survey_interned(struct pfc_names *names, const struct pfc_sequence *q, const struct pfc_packet *k)
{
	if (q == NULL || !q->valid)
		return;
	struct pf_wire w = pf_wire_on(k->interned);
	while (pf_wire_find(&w, PF_TAG(PF_interned_event_names, PF_BYTES))) {
		const struct slice text = pf_content(pf_wire_slice(&w), PF_entry_name);
		const uint64_t iid = pf_number(pf_wire_slice(&w), PF_entry_iid);
		if (text.p == NULL || iid == 0)
			continue;
		const uint32_t i =
		    table64_element(&names->interned, interned_key(names, k, iid, q->interval), &names->names,
		                    &names->nnames, &names->names_cap, sizeof *names->names, MAX_NAMES);
		names->failed |= i == TABLE_FAILED;
		if (i < TABLE_FAILED && names->names[i].p == NULL)
			names->names[i] = retain(names, text);
	}
}

bool pfc_ends_state(const struct pfc_names *names, const struct pfc_states *states,
                    const struct pfc_packet *k, uint64_t ts)
{
	const struct pf_event_fields *const te = &k->te;
	const bool has_more =
	    (te->thread_time | te->instruction_count) != 0 || te->nextra[0] + te->nextra[1] > 0;

	if (te->type != PF_EVENT_STATE || has_more) /* its values of counters are left out, too */
		return false;
	const uint32_t known =
	    table64_get(&names->index, pfc_track_key(names, pfc_track_of(k, pfc_sequence_of(states, k))));
	struct pfc_name *const n = known != TABLE_NONE ? &names->list[known] : NULL;
	if (n == NULL || !n->has_states || ts < n->first_state || (ts > n->last_state && ts >= n->ended))
		return false;
	n->ended = ts > n->last_state ? ts : n->ended;
	return true;
}

struct pfc_name *pfc_name_needed(const struct pfc_names *names, uint64_t uuid)
{
	const uint32_t known = table64_get(&names->index, pfc_track_key(names, uuid));
	struct pfc_name *const n = known != TABLE_NONE ? &names->list[known] : NULL;

	return n != NULL && !n->is_named && !n->copied && n->name.p != NULL ? n : NULL;
}
