/*
 * CPU profiles of V8 in copies: the JSON of their events (read/profiles.c).  Of an event that is left out,
 * its nodes stay, as later samples may be of them, and its time differences are added to those of the next
 * event that is copied.  Where times are moved, startTime is, unless moved snapshots convert it.
 */
#include "perfetto/copy/copy.h"

#include <inttypes.h>

/* ---- the event ---- */

/* Returns ns, 0 if the token is no time. */
static int64_t time_of(const struct json_token *t)
{
	int64_t ns;

	return cpu_profile_time(t, &ns) ? ns : 0;
}

static void read_deltas(struct pfc_profile *p, const struct json_token *times)
{
	struct json_walk w = json_walk_list(times);

	while (json_walk_next(&w)) {
		if (p->delta.kind == JSON_ABSENT)
			p->delta = w.value;
		p->ns = (int64_t)((uint64_t)p->ns + (uint64_t)time_of(&w.value));
	}
}

/* Returns false if the text is none of a profile. */
static bool read_json(struct pfc_profile *p, struct slice s)
{
	const char *const end = s.p + s.n;
	struct json x = { .lenient = true, .complete = true, .depth = JSON_MAX_DEPTH };
	struct json_token t = { .p = json_skip_blanks(s.p, end) };

	t.end = json_value(&x, t.p, end, &t.kind);
	if (t.end == NULL)
		return false;
	p->json = s;
	p->start = json_member(&t, "startTime");
	const struct cpu_profile_chunk chunk = cpu_profile_chunk(&t);
	p->nodes = chunk.nodes;
	read_deltas(p, &chunk.times);
	return p->start.kind != JSON_ABSENT || !cpu_profile_chunk_is_empty(&chunk);
}

struct pfc_profile pfc_profile(const struct pfc_states *all, const struct pfc_packet *k,
                               const struct pf_legacy *l)
{
	const struct pfc_sequence *const q = pfc_sequence_of(all, k);
	const struct pfc_profile none = { .json = SLICE_NONE };
	struct pfc_profile p = none;
	struct pf_wire w = pf_wire_on(k->event);

	if (q != NULL && !q->valid && (k->flags & PF_NEEDS) != 0)
		return none; /* dropped by readers */
	p.key = hash_u64(l->id, (uint64_t)(uint32_t)(q != NULL ? q->pid : 0) << 8 | l->id_kind);
	while (pf_wire_find(&w, PF_TAG(PF_event_debug_annotations, PF_BYTES))) {
		const struct slice s = pf_content(pf_wire_slice(&w), PF_annotation_legacy_json_value);
		if (s.p != NULL && read_json(&p, s))
			return p;
	}
	return none;
}

/* ---- changes ---- */

/* The sum of time differences left out.  NULL: there are too many profiles, or no memory. */
static int64_t *find_sum(struct pfc_states *all, uint64_t key)
{
	const uint32_t i = table64_element(&all->profiles, key, &all->profile_ns, &all->nprofiles,
	                                   &all->profiles_cap, sizeof *all->profile_ns, CPU_PROFILE_MAX);

	all->failed |= i == TABLE_FAILED;
	return i < TABLE_FAILED ? &all->profile_ns[i] : NULL;
}

/* Writes the JSON with another time in place of a token. */
static void put_time(struct text *t, const struct pfc_profile *p, const struct json_token *at, int64_t ns)
{
	const uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	text_add(t, p->json.p, (size_t)(at->p - p->json.p));
	text_printf(t, "%s%" PRIu64, ns < 0 ? "-" : "", size / 1000);
	if (size % 1000 != 0)
		text_printf(t, ".%03" PRIu64, size % 1000);
	text_add(t, at->end, (size_t)(p->json.p + p->json.n - at->end));
}

bool pfc_profile_leave(struct pfc_states *all, const struct pfc_profile *p, struct text *t)
{
	int64_t *const sum = p->ns != 0 ? find_sum(all, p->key) : NULL;
	struct json_walk w = json_walk_list(&p->nodes);

	if (sum != NULL)
		*sum = (int64_t)((uint64_t)*sum + (uint64_t)p->ns);
	if (!json_walk_next(&w))
		return false;
	text_add(t, "{\"cpuProfile\":{\"nodes\":", 23);
	text_add(t, p->nodes.p, (size_t)(p->nodes.end - p->nodes.p));
	text_add(t, "}}", 2);
	return true;
}

bool pfc_profile_copy(struct pfc_states *all, const struct pfc_profile *p, struct text *t)
{
	int64_t *const sum = p->delta.kind != JSON_ABSENT ? find_sum(all, p->key) : NULL;

	if (sum == NULL || *sum == 0)
		return false;
	put_time(t, p, &p->delta, (int64_t)((uint64_t)time_of(&p->delta) + (uint64_t)*sum));
	*sum = 0;
	return true;
}

bool pfc_profile_move(const struct pfc_profile *p, uint64_t by, struct text *t)
{
	int64_t ns;

	if (!cpu_profile_time(&p->start, &ns))
		return false;
	put_time(t, p, &p->start, (int64_t)((uint64_t)ns - by / 1000 * 1000));
	return true;
}
