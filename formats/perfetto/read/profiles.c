/*
 * CPU profiles of V8: legacy events of phase P, whose argument `data` is JSON.  One with startTime begins a
 * profile, others add nodes and samples (format/cpu_profile.h).  Samples are events on the thread of the
 * first one: another thread writes the others.  The first sample of a packet is its event; the others are
 * made one by one, as there may be millions.
 */
#include "perfetto/read/read.h"

static void report_fault(void *ctx, enum cpu_profile_fault fault, const char *at, const char *text)
{
	static const enum pf_rule rules[CPU_PROFILE_FAULTS] = { [CPU_PROFILE_NODE] = PF_RULE_PROFILE_NODE,
		                                                [CPU_PROFILE_SAMPLE] = PF_RULE_PROFILE_SAMPLE,
		                                                [CPU_PROFILE_COUNT] = PF_RULE_PROFILE_COUNT,
		                                                [CPU_PROFILE_TIME] = PF_RULE_PROFILE_TIME };
	struct pf_state *const st = ctx;

	if (fault != CPU_PROFILE_LIMIT)
		pf_report(st, rules[fault], "%s", text);
	else if (st->ahead == NULL) /* else the look-ahead reported it */
		pf_report(st, PF_RULE_LIMIT, "%s", text);
}

void pf_profiles_begin(struct pf_state *st)
{
	st->profiles.all = (struct cpu_profiles){ .arena = &st->r->trace->arena,
		                                  .no_memory = &st->r->no_memory,
		                                  .report = report_fault,
		                                  .ctx = st };
}

/* ---- events ---- */

/* By hash, as texts of names are only stored if events are made. */
static bool is_data(const struct pf_state *st, struct slice annotation)
{
	const uint64_t iid = pf_number(annotation, PF_annotation_name_iid);
	const struct pf_entry *const e = iid != 0 ? pf_entry_find(st->sequence, PF_KEYS, iid) : NULL;

	if (iid != 0)
		return e != NULL && e->hash == (hash_bytes("data", 4, st->seed) | 1);
	return slice_is(pf_content(annotation, PF_annotation_name), "data");
}

/* Finds the argument `data`.  Returns false if there is none, or after a finding. */
static bool find_data(struct pf_state *st, struct json_token *data)
{
	struct pf_wire w = pf_wire_on(st->te.s);
	struct slice s = SLICE_NONE;

	while (s.p == NULL && pf_wire_find(&w, PF_TAG(PF_event_debug_annotations, PF_BYTES)))
		if (is_data(st, pf_wire_slice(&w)))
			s = pf_content(pf_wire_slice(&w), PF_annotation_legacy_json_value);
	if (s.p == NULL)
		return false;
	struct json x = { .lenient = true, .complete = true, .depth = JSON_MAX_DEPTH };
	data->p = json_skip_blanks(s.p, s.p + s.n);
	data->end = json_value(&x, data->p, s.p + s.n, &data->kind);
	if (data->end != NULL)
		return *data->p == '{';
	return pf_report(st, PF_RULE_PROFILE_JSON, "byte %zu of the data: %s", (size_t)(x.error.at - s.p),
	                 x.error.why);
}

/* Ids are of a process. */
static uint64_t key_of(const struct pf_state *st, const struct pf_track *t)
{
	const struct pf_description *const of = t->final;
	const int32_t pid = of->kind == PF_THREAD || of->kind == PF_PROCESS ? of->pid : 0;

	return hash_u64(st->legacy.id, hash_u64((uint64_t)(uint32_t)pid << 8 | st->legacy.id_kind, st->seed));
}

static void begin(struct pf_state *st, struct pf_track *t, const struct json_token *start)
{
	struct cpu_profiles *const f = &st->profiles.all;
	const uint64_t key = key_of(st, t);
	const bool is_known = cpu_profile_find(f, key) != CPU_PROFILE_NONE;
	struct cpu_profile p = { .owner = t };
	uint64_t ts;

	if (!cpu_profile_start(f, start, start->p, &p.ns))
		return;
	(void)pf_legacy_time(st, p.ns / 1000, &ts); /* times before 0 are valid: samples follow */
	p.ns = (int64_t)(ts + (uint64_t)(p.ns % 1000));
	if (cpu_profile_begin_keyed(f, key, p) && is_known)
		pf_report(st, PF_RULE_PROFILE_DUPLICATE,
		          "a CPU profile of this process and id has begun before");
}

static struct pf_event sample_event(const struct pf_state *st, uint32_t i)
{
	const struct pf_profiles *const f = &st->profiles;

	return (struct pf_event){ .kind = PF_SAMPLE,
		                  .sample = PF_SAMPLE_OF_V8,
		                  .ts = f->all.samples[i].ts,
		                  .track = f->track,
		                  .model = f->model,
		                  .callstack = i };
}

void pf_profile_event(struct pf_state *st, struct pf_track *t)
{
	struct pf_profiles *const f = &st->profiles;
	struct json_token data;

	if (st->findings != NULL)
		pf_annotations_check(st);
	if (!find_data(st, &data))
		return;
	const struct json_token start = json_member(&data, "startTime");
	if (start.kind != JSON_ABSENT) {
		begin(st, t, &start);
		return;
	}
	const struct cpu_profile_chunk chunk = cpu_profile_chunk(&data);
	const uint32_t at = cpu_profile_find(&f->all, key_of(st, t));
	if (cpu_profile_chunk_is_empty(&chunk))
		return;
	if (at == CPU_PROFILE_NONE) {
		if (f->all.n < CPU_PROFILE_MAX)
			pf_report(st, PF_RULE_PROFILE_START,
			          "no event with startTime of this process and id precedes");
		return;
	}
	cpu_profile_read(&f->all, at, &chunk);
	if (f->all.nsamples == 0)
		return;
	f->track = (struct pf_track *)(uintptr_t)f->all.list[at].owner;
	f->model = pf_wants_model(st) ? pf_model(st, f->track, slice_of("", 0)) : NULL;
	const uint64_t ts = st->event.ts;
	st->event = sample_event(st, 0);
	if (st->raw) /* copies move the time of the packet, which is that of its counters */
		st->event.ts = ts;
	st->samples_left = f->all.nsamples - 1;
}

const struct pf_event *pf_profile_next(struct pf_state *st)
{
	struct pf_profiles *const f = &st->profiles;

	f->next = sample_event(st, f->all.nsamples - st->samples_left);
	st->samples_left--;
	return &f->next;
}
