/*
 * Track events: their time, track and kind; arrows and legacy events.  A packet with only the common fields
 * is read in one pass.  Names are looked up by their iid and compared by hash, so that texts are read only if
 * events are wanted.
 */
#include "perfetto/read/read.h"

/* ---- fields ---- */

static inline void note_contents(struct pf_event_fields *te, const struct pf_wire *w)
{
	if (te->contents.p == NULL)
		te->contents = slice_of(w->at, (size_t)(w->end - w->at));
}

void pf_decode_event(struct pf_event_fields *te, struct slice s)
{
	struct pf_wire w = pf_wire_on(s);
	uint64_t seen = 0;

	clear_object(te, sizeof *te);
	te->s = s;
	while (pf_wire_next(&w)) {
		uint32_t number = pf_wire_number(&w); /* of alternatives: that of the first one */
		switch (w.tag) {
		case PF_TAG(PF_event_type, PF_VARINT):
			te->type = (uint32_t)w.v;
			te->needs_check |= w.v > PF_EVENT_STATE;
			break;
		case PF_TAG(PF_event_name_iid, PF_VARINT):
			te->name_iid = w.v;
			break;
		case PF_TAG(PF_event_track_uuid, PF_VARINT):
			te->track = w.v;
			te->has_track = true;
			break;
		case PF_TAG(PF_event_category_iids, PF_VARINT):
			if (te->ncategories++ == 0)
				te->category_iid = w.v;
			continue;
		case PF_TAG(PF_event_debug_annotations, PF_BYTES):
			te->nannotations++;
			note_contents(te, &w);
			continue;
		case PF_TAG(PF_event_categories, PF_BYTES):
			if (te->category.p == NULL)
				te->category = pf_wire_slice(&w);
			te->ncategories++;
			note_contents(te, &w);
			continue;
		case PF_TAG(PF_event_name, PF_BYTES):
			te->name = pf_wire_slice(&w);
			note_contents(te, &w);
			number = PF_event_name_iid;
			break;
		case PF_TAG(PF_event_legacy_event, PF_BYTES):
			te->legacy = pf_wire_slice(&w);
			note_contents(te, &w);
			break;
		case PF_TAG(PF_event_timestamp_delta_us, PF_VARINT):
			te->time_us = (int64_t)w.v;
			te->time = 1;
			break;
		case PF_TAG(PF_event_timestamp_absolute_us, PF_VARINT):
			if (te->time != 1 && w.v != 0) {
				te->time_us = (int64_t)w.v;
				te->time = 2;
			}
			number = PF_event_timestamp_delta_us;
			break;
		case PF_TAG(PF_event_thread_time_delta_us, PF_VARINT):
			te->thread_us = (int64_t)w.v;
			te->thread_time = 1;
			break;
		case PF_TAG(PF_event_thread_time_absolute_us, PF_VARINT):
			te->thread_us = (int64_t)w.v;
			te->thread_time = 2;
			number = PF_event_thread_time_delta_us;
			break;
		case PF_TAG(PF_event_thread_instruction_count_delta, PF_VARINT):
			te->instructions = (int64_t)w.v;
			te->instruction_count = 1;
			break;
		case PF_TAG(PF_event_thread_instruction_count_absolute, PF_VARINT):
			te->instructions = (int64_t)w.v;
			te->instruction_count = 2;
			number = PF_event_thread_instruction_count_delta;
			break;
		case PF_TAG(PF_event_counter_value, PF_VARINT):
			te->counter = (int64_t)w.v;
			te->has_counter = true;
			break;
		case PF_TAG(PF_event_double_counter_value, PF_FIXED64):
			te->double_counter = pf_wire_double(&w);
			te->has_double = true;
			number = PF_event_counter_value;
			break;
		case PF_TAG(PF_event_extra_counter_values, PF_VARINT):
			te->nextra[0]++;
			continue;
		case PF_TAG(PF_event_extra_double_counter_values, PF_FIXED64):
			te->nextra[1]++;
			continue;
		case PF_TAG(PF_event_extra_counter_track_uuids, PF_VARINT):
		case PF_TAG(PF_event_extra_double_counter_track_uuids, PF_VARINT):
			te->has_extra_of = true;
			continue;
		case PF_TAG(PF_event_flow_ids, PF_FIXED64):
		case PF_TAG(PF_event_terminating_flow_ids, PF_FIXED64):
			te->has_flow[w.tag == PF_TAG(PF_event_terminating_flow_ids, PF_FIXED64)] = true;
			te->nflows++;
			continue;
		case PF_TAG(PF_event_flow_ids_old, PF_VARINT):
		case PF_TAG(PF_event_terminating_flow_ids_old, PF_VARINT):
			te->nflows++;
			continue;
		case PF_TAG(PF_event_correlation_id_str_iid, PF_VARINT):
			number = PF_event_correlation_id;
			te->has_more = true;
			break;
		case PF_TAG(PF_event_callstack_iid, PF_VARINT):
		case PF_TAG(PF_event_callstack_weight, PF_FIXED64):
		case PF_TAG(PF_event_source_location_iid, PF_VARINT):
		case PF_TAG(PF_event_correlation_id, PF_VARINT):
			te->has_more = true;
			break;
		default:
			te->has_more = true;
			te->needs_check = true;
			continue;
		}
		te->needs_check |= (seen >> number & 1) != 0;
		seen |= UINT64_C(1) << number;
	}
	te->needs_check |= w.bad;
}

/* The mark of a field with an id is its id_kind. */
static const struct pf_member legacy_members[] = {
	PF_MEMBER(PF_legacy_name_iid, struct pf_legacy, name_iid, U64),
	PF_MEMBER(PF_legacy_phase, struct pf_legacy, phase, U32),
	PF_MEMBER(PF_legacy_duration_us, struct pf_legacy, dur_us, U64),
	PF_MARKED(PF_legacy_thread_duration_us, struct pf_legacy, thread_dur_us, U64, has_thread_dur, 1),
	PF_MARKED(PF_legacy_unscoped_id, struct pf_legacy, id, U64, id_kind, 1),
	PF_MEMBER(PF_legacy_id_scope, struct pf_legacy, scope, SLICE),
	PF_MARKED(PF_legacy_bind_id, struct pf_legacy, bind_id, U64, has_bind, 1),
	PF_MARKED(PF_legacy_local_id, struct pf_legacy, id, U64, id_kind, 2),
	PF_MARKED(PF_legacy_global_id, struct pf_legacy, id, U64, id_kind, 3),
	PF_MEMBER(PF_legacy_bind_to_enclosing, struct pf_legacy, encloses, BOOL),
	PF_MEMBER(PF_legacy_flow_direction, struct pf_legacy, direction, U32),
	PF_MEMBER(PF_legacy_instant_event_scope, struct pf_legacy, instant_scope, U32),
	PF_MARKED(PF_legacy_thread_instruction_delta, struct pf_legacy, instructions, U64, has_instructions,
	          1),
	PF_MARKED(PF_legacy_pid_override, struct pf_legacy, pid, U32, has_pid, 1),
	PF_MARKED(PF_legacy_tid_override, struct pf_legacy, tid, U64, has_tid, 1),
};

void pf_decode_legacy(struct pf_legacy *l, struct slice s)
{
	*l = (struct pf_legacy){ .phase = 0 };
	PF_READ(s, legacy_members, l);
}

/* ---- events around that of the record ---- */

static inline void add(struct pf_state *st, struct pf_event **list, uint32_t *n, uint32_t *cap,
                       const struct pf_event *e)
{
	if (reader_reserve(st->r, list, *n, cap, sizeof **list))
		(*list)[(*n)++] = *e;
}

void pf_add_after(struct pf_state *st, const struct pf_event *e)
{
	add(st, &st->after, &st->nafter, &st->after_cap, e);
}

void pf_add_before(struct pf_state *st, const struct pf_event *e)
{
	add(st, &st->before, &st->nbefore, &st->before_cap, e);
}

/* ---- names ---- */

static uint64_t text_hash(const struct pf_state *st, struct slice s)
{
	return hash_bytes(s.p, s.n, st->seed) | 1;
}

/* Looks up the name and categories of the event, and sets their hashes; 0: none. */
static void find_names(struct pf_state *st, const struct pf_packet *k, struct pf_event *e)
{
	const struct pf_event_fields *const te = &st->te;
	const uint64_t iid = pf_name_iid(st);

	if (iid != 0) {
		const struct pf_entry *const entry = pf_entry_use(st, PF_NAMES, iid);
		/* Chromium ends the innermost phase of a navigation with an empty name */
		const bool is_none = entry != NULL && te->legacy.p != NULL && st->legacy.phase == 'e' &&
		                     entry->hash == text_hash(st, SLICE_LIT(""));
		e->name_hash = entry != NULL && !is_none ? entry->hash : 0;
	} else if (te->name.p != NULL) {
		e->name_hash = text_hash(st, te->name);
	}
	if (te->category_iid != 0) {
		const struct pf_entry *const entry = pf_entry_use(st, PF_CATEGORIES, te->category_iid);
		e->category_hash = entry != NULL ? entry->hash : te->category_iid;
	} else if (te->category.p != NULL) {
		e->category_hash = text_hash(st, te->category);
	}
	if (te->ncategories > 1) {
		struct pf_wire w = pf_wire_on(te->s);
		uint64_t h = 0;
		while (pf_wire_find(&w, PF_TAG(PF_event_category_iids, PF_VARINT))) {
			const struct pf_entry *const entry = pf_entry_use(st, PF_CATEGORIES, w.v);
			h = hash_u64(h, entry != NULL ? entry->hash : w.v);
		}
		w = pf_wire_on(te->s);
		while (pf_wire_find(&w, PF_TAG(PF_event_categories, PF_BYTES)))
			h = hash_u64(h, text_hash(st, pf_wire_slice(&w)));
		e->category_hash = h | 1;
	}
	if ((iid != 0 || te->category_iid != 0) && (k->flags & PF_NEEDS) == 0)
		finding_tally_add(&st->needs_flag, st->offset, st->ordinal, 0, 0);
}

/* ---- time ---- */

enum pf_time pf_legacy_time(struct pf_state *st, int64_t us, uint64_t *ts)
{
	int64_t ns;

	if (!pf_us_in_ns(us, &ns)) {
		*ts = (uint64_t)ns;
		return PF_TIME_RANGE;
	}
	const enum pf_time t = pf_convert_monotonic(st, (uint64_t)ns, ts);
	if (t != PF_TIME_UNKNOWN && t != PF_TIME_NO_PATH)
		return t;
	pf_report(st, PF_RULE_LEGACY_CLOCK, "%" PRId64 " us of the clock MONOTONIC, which no snapshot has",
	          us);
	*ts = (uint64_t)ns;
	return *ts > INT64_MAX ? PF_TIME_RANGE : PF_TIME_OK;
}

/* Sets the time of the event.  Returns false if it is dropped. */
static bool find_time(struct pf_state *st, const struct pf_packet *k, uint64_t *ts, bool *late)
{
	struct pf_sequence *const s = st->sequence;
	const struct pf_event_fields *const te = &st->te;
	enum pf_time t = st->time;

	*ts = st->ts;
	if (te->time == 1) {
		if (!s->has_base)
			return pf_report(st, PF_RULE_DELTA_BASE,
			                 "a difference of %" PRId64 " us without a base", te->time_us);
		s->time_us = pf_saturated_sum(s->time_us, te->time_us);
		t = pf_legacy_time(st, s->time_us, ts);
	} else if (te->time == 2) {
		t = pf_legacy_time(st, te->time_us, ts);
	} else if (!k->has_timestamp) {
		return pf_report(st, PF_RULE_TIME_MISSING, "neither the packet nor the event has a time");
	}
	*late = t == PF_TIME_UNKNOWN || t == PF_TIME_NO_PATH;
	if (t != PF_TIME_RANGE)
		return true;
	return pf_report(st, PF_RULE_TIME_RANGE, PF_RANGE_TEXT, (int64_t)*ts);
}

/* ---- tracks ---- */

/* The last thread of the sequence in the file, if a look-ahead found it; else the last one so far. */
static bool find_thread(struct pf_state *st, int32_t *pid, int64_t *tid)
{
	const struct pf_sequence *s = st->sequence;

	if (st->ahead != NULL && s->index < st->ahead->nsequences &&
	    st->ahead->sequences[s->index]->has_thread)
		s = st->ahead->sequences[s->index];
	*pid = s->pid;
	*tid = s->tid;
	return s->has_thread;
}

/* Returns the thread of an event with a pid, a tid or both; a missing one is that of the sequence so far. */
static struct pf_track *legacy_thread(struct pf_state *st, const struct pf_legacy *l)
{
	const struct pf_sequence *const s = st->sequence;
	const int32_t pid = l->has_pid ? l->pid : s->pid;
	/* Chromium 78 writes -1, which viewers show with 32 bits */
	const int64_t tid = !l->has_tid ? s->tid : l->tid < 0 ? (uint32_t)l->tid : l->tid;

	if (pid == 0 || tid == 0) {
		if (l->phase != 'M') /* metadata of the whole trace, such as Chromium's num_cpus */
			pf_report(st, PF_RULE_LEGACY_ZERO, "a legacy event of pid %" PRId32 ", tid %" PRId64,
			          pid, tid);
		return NULL;
	}
	return pf_thread(st, pid, &tid);
}

/* Returns NULL if the event is dropped. */
static struct pf_track *find_track(struct pf_state *st, const struct pf_legacy *l)
{
	const struct pf_event_fields *const te = &st->te;
	struct pf_sequence *const s = st->sequence;
	const uint64_t uuid = te->has_track ? te->track : s->has_default_track ? s->default_track : 0;
	int64_t tid;
	int32_t pid;

	if (uuid != 0)
		return pf_track(st, uuid);
	if (l != NULL && (l->has_pid || l->has_tid))
		return legacy_thread(st, l);
	if (te->has_track && te->type != 0)
		return pf_track(st, 0);
	s->uses_thread = true;
	if (s->thread == NULL)
		s->thread = find_thread(st, &pid, &tid) ? pf_thread(st, pid, &tid) : pf_track(st, 0);
	return s->thread;
}

/* ---- arrows ---- */

static void read_flows(struct pf_state *st, const struct pf_event *e)
{
	struct pf_wire w = pf_wire_on(st->te.s);

	while (pf_wire_next(&w)) {
		const uint32_t number = pf_wire_number(&w);
		const bool ends =
		    number == PF_event_terminating_flow_ids || number == PF_event_terminating_flow_ids_old;
		const bool is_new = w.tag == PF_TAG(PF_event_flow_ids, PF_FIXED64) ||
		                    w.tag == PF_TAG(PF_event_terminating_flow_ids, PF_FIXED64);
		const bool is_old = w.tag == PF_TAG(PF_event_flow_ids_old, PF_VARINT) ||
		                    w.tag == PF_TAG(PF_event_terminating_flow_ids_old, PF_VARINT);
		if (!is_new && !(is_old && !st->te.has_flow[ends]))
			continue;
		pf_arrow(st, hash_u64(w.v, st->seed), w.v, ends ? PF_ARROW_IN : PF_ARROW_STEP, false, e);
	}
}

/* Arrows of legacy events bind to spans by their id. */
static void read_bind(struct pf_state *st, const struct pf_legacy *l, const struct pf_event *e)
{
	static const uint8_t steps[] = { 0, PF_ARROW_IN, PF_ARROW_OUT, PF_ARROW_STEP };

	if (l->direction == 0 || l->direction > 3)
		pf_report(st, PF_RULE_FLOW_DIRECTION, "bind_id %" PRIu64 " without flow_direction",
		          l->bind_id);
	else
		pf_arrow(st, hash_u64(l->bind_id, st->seed + 1), l->bind_id,
		         (enum pf_step)steps[l->direction], true, e);
}

/* The number of an arrow in order of arrival: its key differs in each run. */
static uint64_t arrow_number(struct pf_state *st, uint64_t key)
{
	const uint32_t n = table64_number(&st->arrow_numbers, key, &st->narrows, PF_MAX_ARROWS);

	st->r->no_memory |= n == 0;
	return n;
}

static void read_legacy_flow(struct pf_state *st, const struct pf_legacy *l, struct pf_event *e)
{
	const uint64_t key = hash_u64(l->id, hash_u64(e->name_hash, e->category_hash + 1));

	e->kind = PF_NOTHING;
	if (l->id_kind != 1) {
		pf_report(st, PF_RULE_FLOW_ID, "phase %c without unscoped_id", (char)l->phase);
		return;
	}
	/* Ends that tracetool wrote are not moved to the next span: the model has their time. */
	if (l->phase == 'f' && !l->encloses && !st->is_own && !e->track->arrow_waits) {
		e->track->arrow_waits = true;
		e->track->arrow = key;
		e->track->arrow_id = arrow_number(st, key);
		return;
	}
	if (e->track->nopen == 0 && (l->phase != 'f' || l->encloses))
		pf_defer(st, PF_RULE_FLOW_SLICE, e->track);
	pf_arrow(st, key, st->is_own ? l->id : arrow_number(st, key),
	         l->phase == 's'   ? PF_ARROW_OUT
	         : l->phase == 't' ? PF_ARROW_STEP
	                           : PF_ARROW_IN,
	         true, e);
	if (st->nafter > 0) /* the packet itself is the end of the arrow */
		*e = st->after[--st->nafter];
	e->is_next = l->phase == 'f' && !l->encloses && st->is_own;
}

/* ---- legacy events ---- */

static bool is_task(const struct pf_track *t)
{
	return t->final->kind == PF_THREAD || t->final->kind == PF_PROCESS;
}

/* The thread or process that a track is, or lies below; if there is none, its topmost track. */
static struct pf_track *task_of(struct pf_state *st, struct pf_track *t)
{
	for (unsigned depth = 0; depth < PF_MAX_ANCESTORS && !is_task(t) && t->final->has_parent; depth++) {
		if (t->parent == NULL)
			t->parent = pf_track(st, t->final->parent);
		if (t->parent == NULL)
			break;
		t = t->parent;
	}
	return t;
}

/* The track of an async event, by category and id, or name and id.  Only a local id belongs to a process,
 * other ids to the whole trace; viewers show their track in the process where it begins. */
static struct pf_track *async_track(struct pf_state *st, const struct pf_legacy *l, const struct pf_event *e)
{
	const bool old = strchr("STpF", l->phase) != NULL, local = l->id_kind == 2;
	uint64_t key = hash_u64(l->id, st->seed + 2 + local); /* other ids are one space, as in Perfetto */

	if (l->id_kind == 0) {
		pf_report(st, PF_RULE_ASYNC_ID, "phase %c without an id", (char)l->phase);
		return NULL;
	}
	key = hash_u64(old ? e->name_hash : e->category_hash, key);
	key = hash_bytes(l->scope.p, l->scope.n, key);
	struct pf_track *const task = task_of(st, e->track);
	const int32_t pid = is_task(task) ? task->final->pid : 0;
	struct pf_track *const t = pf_track(st, hash_u64(local ? (uint64_t)(uint32_t)pid << 1 | 1 : 0, key));
	if (t == NULL)
		return NULL;
	e->track->has_local |= local;
	task->has_local |= local;
	if (!t->desc.is_known) {
		t->desc = (struct pf_description){ .kind = PF_PLAIN,
			                           .merge = PF_MERGE_NAME,
			                           .is_known = true,
			                           .disordered = t->final->disordered };
		t->final = &t->desc;
		t->parent = pid != 0 ? pf_thread(st, pid, NULL) : NULL;
		t->desc.has_parent = t->parent != NULL;
		t->is_synthetic = true;
		t->async_id = l->id;
	}
	if (local && (st->sequence->thread_moved || e->track->described_late || task->described_late)) {
		/* earlier events, with any time, went to a track of another process */
		t->desc.disordered = t->desc.moved = true;
		if (st->ahead_pass)
			pf_least_note(st, &t->desc.least, 0);
	}
	return t;
}

/* A metadata event: the name of a thread or process. */
static void read_metadata(struct pf_state *st, struct pf_event *e)
{
	const uint64_t iid = pf_name_iid(st); /* Chromium 78 has it in the legacy event */
	const struct pf_entry *const entry = iid != 0 ? pf_entry_find(st->sequence, PF_NAMES, iid) : NULL;
	const struct slice name = entry != NULL ? entry->text : st->te.name;
	struct pf_wire w = pf_wire_on(st->te.s);
	struct slice text = SLICE_NONE;

	e->kind = PF_NOTHING;
	while (text.p == NULL && pf_wire_find(&w, PF_TAG(PF_event_debug_annotations, PF_BYTES)))
		text = pf_content(pf_wire_slice(&w), PF_annotation_string_value);
	if (name.p != NULL && text.p != NULL)
		pf_name_task(st, e->track, name, text);
}

/* Legacy phases: kind of the event, and requirements on its track (enum pf_needs). */
static const struct legacy_phase {
	uint8_t kind, needs;
	bool is_async;
} phases[128] = {
	['B'] = { PF_BEGIN, PF_NEEDS_THREAD, false },
	['E'] = { PF_END, PF_NEEDS_THREAD, false },
	['X'] = { PF_SPAN, PF_NEEDS_THREAD | PF_NEEDS_UNMERGED, false },
	['i'] = { PF_INSTANT, PF_NEEDS_THREAD, false },
	['I'] = { PF_INSTANT, PF_NEEDS_THREAD, false },
	['R'] = { PF_INSTANT, 0, false },
	['s'] = { PF_NOTHING, PF_NEEDS_UNMERGED, false },
	['t'] = { PF_NOTHING, PF_NEEDS_UNMERGED, false },
	['f'] = { PF_NOTHING, PF_NEEDS_UNMERGED, false },
	['b'] = { PF_BEGIN, 0, true },
	['S'] = { PF_BEGIN, 0, true },
	['e'] = { PF_END, 0, true },
	['F'] = { PF_END, 0, true },
	['n'] = { PF_INSTANT, 0, true },
	['T'] = { PF_INSTANT, 0, true },
	['p'] = { PF_INSTANT, 0, true },
};

/* Perfetto drops a legacy event whose track does not meet the requirements; here it is read. */
static void check_legacy_track(struct pf_state *st, struct pf_track *t, uint8_t needs)
{
	const struct pf_sequence *const s = st->sequence;

	if (t->desc.kind == PF_THREAD || (needs & ~t->has) == 0)
		return;
	if (pf_lacking(st, t, needs) == NULL)
		t->has |= needs;
	else
		pf_defer_legacy(st, t, t == s->thread ? s : NULL, needs);
}

static void read_phase(struct pf_state *st, const struct pf_legacy *l, struct pf_event *e)
{
	const struct legacy_phase phase = phases[l->phase >= 0 && l->phase < 128 ? l->phase : 0];
	const bool is_instant = l->phase == 'i' || l->phase == 'I';
	const bool of_trace = is_instant && l->instant_scope == 1;
	const bool of_process = is_instant && l->instant_scope == 2;

	check_legacy_track(st, e->track, of_trace ? 0 : of_process ? PF_NEEDS_PROCESS : phase.needs);
	e->kind = (enum pf_event_kind)phase.kind;
	if (l->phase == 'X') {
		if (l->dur_us < 0) {
			pf_report(st, PF_RULE_X_NEGATIVE, "a duration of %" PRId64 " us", l->dur_us);
			e->kind = PF_NOTHING;
		}
		e->dur = l->dur_us > INT64_MAX / 1000 ? INT64_MAX : (uint64_t)l->dur_us * 1000;
		if (e->dur > (uint64_t)INT64_MAX - e->ts)
			e->dur = (uint64_t)INT64_MAX - e->ts;
	} else if (l->phase == 's' || l->phase == 't' || l->phase == 'f') {
		read_legacy_flow(st, l, e);
	} else if (l->phase == 'M') {
		read_metadata(st, e);
	} else if (phase.is_async) {
		e->track = async_track(st, l, e);
	} else if (of_trace) {
		e->track = pf_track(st, 0);
	} else if (of_process && e->track->final->kind == PF_THREAD) {
		e->track = pf_thread(st, e->track->final->pid, NULL);
	}
	if (e->track == NULL)
		e->kind = PF_NOTHING;
}

/* ---- states ---- */

bool pf_change_state(struct pf_state *st, struct pf_event *e)
{
	struct pf_track *const t = e->track;
	const bool was_open = t->state_open;

	t->state_open = e->kind == PF_BEGIN;
	if (t->state_open && was_open)
		pf_add_before(st, &(struct pf_event){ .kind = PF_END,
		                                      .ts = e->ts,
		                                      .offset = st->offset,
		                                      .track = t,
		                                      .model = e->model,
		                                      .is_state = true });
	return t->state_open || was_open;
}

static void read_state(struct pf_state *st, struct pf_event *e)
{
	if (!st->te.has_track && !st->sequence->has_default_track) {
		pf_report(st, PF_RULE_STATE_UUID, "a state event without track_uuid");
		e->kind = PF_NOTHING;
		return;
	}
	if (e->track->desc.kind != PF_STATE)
		pf_defer(st, PF_RULE_STATE_TRACK, e->track);
	e->is_state = true;
	e->kind = e->name_hash != 0 ? PF_BEGIN : PF_END;
	if (pf_wants_model(st))
		e->model = pf_model(st, e->track, slice_of("", 0));
	if (!pf_is_sorted_later(st, e->track) && !pf_change_state(st, e))
		e->kind = PF_NOTHING;
}

/* ---- the event ---- */

/* Checks references in fields that only values.c reads. */
static void check_more(struct pf_state *st, const struct pf_event *e)
{
	struct pf_wire w = pf_wire_on(st->te.s);

	while (pf_wire_next(&w)) {
		if (w.tag == PF_TAG(PF_event_log_message, PF_BYTES) && e->track->desc.kind != PF_THREAD)
			pf_defer(st, PF_RULE_LOG_THREAD, e->track);
		else if (w.tag == PF_TAG(PF_event_callstack_iid, PF_VARINT))
			pf_stack_check(st, st->sequence, w.v);
		else if (w.tag == PF_TAG(PF_event_source_location_iid, PF_VARINT) && w.v != 0)
			(void)pf_entry_use(st, PF_LOCATIONS, w.v);
		else if (w.tag == PF_TAG(PF_event_correlation_id_str_iid, PF_VARINT) && w.v != 0)
			(void)pf_entry_use(st, PF_CORRELATIONS, w.v);
	}
}

static void note_use(struct pf_state *st, struct pf_track *t, uint64_t ts, bool late)
{
	if (!t->is_used) {
		t->is_used = true;
		t->offset = st->offset;
		t->record = st->ordinal;
	}
	if (st->ahead_pass && !late && t->desc.name.n == 0 &&
	    (t->desc.first_name.p == NULL || ts < t->desc.first)) {
		const struct slice name = pf_event_name(st);
		t->desc.first_name = name.p != NULL ? pf_trace_text(st, name) : slice_of("", 0);
		t->desc.first = ts;
	}
	if (st->ahead_pass)
		pf_least_note(st, &t->desc.least, late ? 0 : ts);
	if (late || ts < t->last)
		t->desc.disordered = true;
	else
		t->last = ts;
}

static void read_event(struct pf_state *st, const struct pf_packet *k)
{
	struct pf_event_fields *const te = &st->te;
	struct pf_event *const e = &st->event;
	struct pf_sequence *const q = st->sequence;
	const struct pf_legacy *l = NULL;
	struct pf_track *of; /* that of the event, before its phase moves it */
	bool late = false;

	clear_object(e, sizeof *e); /* PF_NOTHING */
	st->flow_order = st->flow_next;
	st->flow_next += te->nflows;
	if (q == NULL && (k->flags & PF_NEEDS) != 0)
		return; /* reported */
	if (q == NULL) {
		pf_report(st, PF_RULE_SEQ_MISSING, "trusted_packet_sequence_id is missing");
		return;
	}
	if (te->legacy.p != NULL) {
		pf_decode_legacy(&st->legacy, te->legacy);
		l = &st->legacy;
		te->has_more |= l->has_thread_dur || l->has_instructions;
	}
	if (!find_time(st, k, &e->ts, &late))
		return;
	if (!late) {
		if (e->ts < q->last)
			finding_tally_add(&st->time_back, st->offset, st->ordinal, e->ts, q->last);
		q->last = e->ts;
	}
	find_names(st, k, e);
	const bool has_phase = l != NULL && l->phase != 0 && te->type < PF_EVENT_COUNTER;
	if (te->type == PF_EVENT_NONE && !has_phase) {
		pf_report(st, PF_RULE_TYPE, "neither a type nor a phase");
		return;
	}
	if (te->type == PF_EVENT_COUNTER) {
		pf_read_counter(st, e);
		of = e->track;
	} else {
		e->track = of = find_track(st, l);
		if (of == NULL)
			return;
		e->kind = te->type == PF_EVENT_BEGIN     ? PF_BEGIN
		          : te->type == PF_EVENT_END     ? PF_END
		          : te->type == PF_EVENT_INSTANT ? PF_INSTANT
		                                         : PF_NOTHING;
		if (has_phase)
			read_phase(st, l, e);
		else if (te->type == PF_EVENT_STATE)
			read_state(st, e);
	}
	if (e->track == NULL)
		return;
	/* events that are not read have values of counters, too */
	if (((te->thread_time | te->instruction_count) != 0 && !pf_read_thread_time(st, e, of)) ||
	    (te->nextra[0] + te->nextra[1] > 0 && !pf_read_extras(st, e))) {
		e->kind = PF_NOTHING;
		return;
	}
	e->is_late = late;
	if (late && !st->raw && pf_wants_model(st)) {
		e->kind = PF_NOTHING;
		st->nbefore = st->nafter = 0;
	} else if (has_phase && l->phase == 'P') {
		pf_profile_event(st, of);
		e->is_late = late;
		return;
	}
	if (e->kind == PF_NOTHING && !e->is_state)
		return;
	note_use(st, e->track, e->ts, late);
	if (e->kind == PF_NOTHING)
		return;
	if (e->kind == PF_VALUE || e->kind == PF_ARROW)
		return;
	/* before nesting, which may drop the event: that depends on sorting, which only conversions do */
	if (te->nannotations > 0 && st->findings != NULL)
		pf_annotations_check(st);
	if (te->has_more)
		check_more(st, e);
	if (!e->is_state && !pf_nest(st, e)) {
		e->kind = PF_NOTHING;
		if (st->ahead_pass && te->nflows > 0)
			read_flows(st, e);
		return;
	}
	if (e->track->arrow_waits && e->kind != PF_END) {
		e->track->arrow_waits = false;
		pf_arrow(st, e->track->arrow, e->track->arrow_id, PF_ARROW_IN, true, e);
	}
	if (te->nflows > 0)
		read_flows(st, e);
	if (l != NULL && l->has_bind)
		read_bind(st, l, e);
}

void pf_track_event(struct pf_state *st, const struct pf_packet *k)
{
	read_event(st, k);
	if (st->event.is_late)
		pf_late_event(st);
}
