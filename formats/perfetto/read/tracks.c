/*
 * Tracks and their descriptors; checks of tracks at the end of the file.  A descriptor holds for the whole
 * file, so where the file can be read twice, a look-ahead finds them.
 */
#include <stdlib.h>

#include "base/numbers.h"
#include "perfetto/read/read.h"

/* ---- tables ---- */

static uint64_t id_key(const struct pf_state *st, int32_t pid, const int64_t *tid)
{
	const uint64_t process = hash_u64((uint32_t)pid, st->seed);

	return tid == NULL ? process : hash_u64((uint64_t)*tid, process + 1);
}

static struct pf_track *add_track(struct pf_state *st, uint64_t uuid)
{
	if (st->ntracks == PF_MAX_TRACKS) {
		pf_report_limit(st, PF_FULL_TRACKS, "more than %u tracks: events of others are not read",
		                PF_MAX_TRACKS);
		return NULL;
	}
	struct pf_track *const t = arena_zalloc(&st->arena, 1, sizeof *t);
	if (note_failure(&st->r->no_memory, t == NULL || !array_reserve(&st->tracks, st->ntracks,
	                                                                &st->tracks_cap, sizeof *st->tracks)))
		return NULL;
	t->uuid = uuid;
	t->final = &t->desc;
	st->tracks[st->ntracks++] = t;
	return t;
}

struct pf_track *pf_known_track_slow(struct pf_state *st, uint64_t uuid)
{
	const uint32_t i = table64_get(&st->track_index, uuid);

	return i != TABLE_NONE ? (*pf_recent_slot(st, uuid) = st->tracks[i]) : NULL;
}

struct pf_track *pf_track_slow(struct pf_state *st, uint64_t uuid)
{
	struct pf_track *const known = pf_known_track_slow(st, uuid);

	if (known != NULL)
		return known;
	struct pf_track *const t = add_track(st, uuid);
	if (t == NULL)
		return NULL;
	if (note_failure(&st->r->no_memory, !table64_put(&st->track_index, uuid, st->ntracks - 1)))
		return NULL;
	if (uuid == 0) {
		t->desc.kind = PF_PLAIN;
		t->desc.name = SLICE_LIT("Default Track");
		t->desc.is_known = true;
	}
	const uint32_t later = st->ahead != NULL ? table64_get(&st->ahead->track_index, uuid) : TABLE_NONE;
	if (later != TABLE_NONE)
		t->final = &st->ahead->tracks[later]->desc;
	return *pf_recent_slot(st, uuid) = t;
}

struct pf_track *pf_thread(struct pf_state *st, int32_t pid, const int64_t *tid)
{
	const uint64_t key = id_key(st, pid, tid);
	uint32_t i = table64_get(&st->ids, key);

	if (i != TABLE_NONE)
		return st->tracks[i];
	/* a thread that is described later has that descriptor's uuid */
	i = st->ahead != NULL ? table64_get(&st->ahead->ids, id_key(st->ahead, pid, tid)) : TABLE_NONE;
	const struct pf_track *const later = i != TABLE_NONE ? st->ahead->tracks[i] : NULL;
	struct pf_track *const t =
	    later != NULL && !later->is_synthetic ? pf_track(st, later->uuid) : add_track(st, 0);
	if (t == NULL)
		return NULL;
	if (later == NULL || later->is_synthetic) {
		t->is_synthetic = true;
		t->desc = (struct pf_description){ .kind = tid != NULL ? PF_THREAD : PF_PROCESS,
			                           .pid = pid,
			                           .tid = tid != NULL ? *tid : 0,
			                           .is_known = true };
		if (later != NULL)
			t->final = &later->desc;
		st->r->no_memory |= !table64_put(&st->ids, key, st->ntracks - 1);
	}
	return t;
}

/* ---- descriptors ---- */

static struct slice keep_text(struct pf_state *st, struct slice s)
{
	const struct slice copy = s.p != NULL ? arena_copy(&st->arena, s) : s;

	st->r->no_memory |= s.p != NULL && copy.p == NULL;
	return copy.p != NULL ? textscan_slice(copy.p, copy.n) : copy;
}

/* A ProcessDescriptor or ThreadDescriptor. */
struct task {
	struct slice name, chrome_name; /* chrome_name: of its type */
	int64_t tid, time_us, thread_us, instructions;
	uint64_t type;
	int32_t pid;
	bool has_pid, has_tid, is_renderer;
};

static const struct pf_member process_members[] = {
	PF_MARKED(PF_process_pid, struct task, pid, U32, has_pid, 1),
	PF_MEMBER(PF_process_chrome_process_type, struct task, type, U64),
	PF_MEMBER(PF_process_process_name, struct task, name, SLICE),
};

static const struct pf_member thread_members[] = {
	PF_MARKED(PF_thread_pid, struct task, pid, U32, has_pid, 1),
	PF_MARKED(PF_thread_tid, struct task, tid, U64, has_tid, 1),
	PF_MEMBER(PF_thread_chrome_thread_type, struct task, type, U64),
	PF_MEMBER(PF_thread_thread_name, struct task, name, SLICE),
	PF_MEMBER(PF_thread_reference_timestamp_us, struct task, time_us, U64),
	PF_MEMBER(PF_thread_reference_thread_time_us, struct task, thread_us, U64),
	PF_MEMBER(PF_thread_reference_thread_instruction_count, struct task, instructions, U64),
};

static const struct pf_member counter_members[] = {
	PF_MEMBER(PF_counter_type, struct pf_description, builtin, U8),
	PF_MEMBER(PF_counter_unit, struct pf_description, unit, U8),
	PF_MEMBER(PF_counter_unit_multiplier, struct pf_description, multiplier, U64),
	PF_MEMBER(PF_counter_is_incremental, struct pf_description, is_incremental, BOOL),
	PF_MEMBER(PF_counter_unit_name, struct pf_description, unit_name, SLICE),
};

static void read_process(struct slice bytes, struct task *x)
{
	PF_READ(bytes, process_members, x);
	x->chrome_name = pf_chrome_process(x->type);
	x->is_renderer = x->type == 2; /* this message has no type for renderers of extensions */
}

static void read_thread(struct slice bytes, struct task *x)
{
	PF_READ(bytes, thread_members, x);
	x->chrome_name = pf_chrome_thread(x->type);
}

/* A TrackDescriptor. */
struct descriptor {
	uint64_t uuid, merge, process_order, thread_order;
	struct pf_description desc;
	struct slice process, thread, counter, chrome;
	struct task task;
	int32_t ordering, rank;
	bool has_uuid, has_state, is_apart;
	uint8_t chrome_field; /* of `chrome` */
};

static const struct pf_member descriptor_members[] = {
	PF_MARKED(PF_descriptor_uuid, struct descriptor, uuid, U64, has_uuid, 1),
	PF_MEMBER(PF_descriptor_name, struct descriptor, desc.name, SLICE),
	PF_MEMBER(PF_descriptor_process, struct descriptor, process, SLICE),
	PF_MEMBER(PF_descriptor_thread, struct descriptor, thread, SLICE),
	PF_MEMBER(PF_descriptor_parent_uuid, struct descriptor, desc.parent, U64),
	PF_MARKED(PF_descriptor_chrome_process, struct descriptor, chrome, SLICE, chrome_field,
	          PF_descriptor_chrome_process),
	PF_MARKED(PF_descriptor_chrome_thread, struct descriptor, chrome, SLICE, chrome_field,
	          PF_descriptor_chrome_thread),
	PF_MEMBER(PF_descriptor_counter, struct descriptor, counter, SLICE),
	PF_MEMBER(PF_descriptor_disallow_merging_with_system_tracks, struct descriptor, is_apart, BOOL),
	PF_MEMBER(PF_descriptor_static_name, struct descriptor, desc.name, SLICE),
	PF_MEMBER(PF_descriptor_child_ordering, struct descriptor, ordering, U32),
	PF_MEMBER(PF_descriptor_sibling_order_rank, struct descriptor, rank, U32),
	PF_MEMBER(PF_descriptor_atrace_name, struct descriptor, desc.name, SLICE),
	PF_MEMBER(PF_descriptor_sibling_merge_behavior, struct descriptor, merge, U64),
	PF_MEMBER(PF_descriptor_sibling_merge_key, struct descriptor, desc.key, SLICE),
	PF_MEMBER(PF_descriptor_sibling_merge_key_int, struct descriptor, desc.key, FIELD),
	PF_MARKED(PF_descriptor_state, struct descriptor, has_state, MARK, has_state, 1),
	PF_MEMBER(PF_descriptor_process_ordering, struct descriptor, process_order, U64),
	PF_MEMBER(PF_descriptor_thread_ordering, struct descriptor, thread_order, U64),
};

static void read_descriptor(struct slice bytes, struct descriptor *x)
{
	*x = (struct descriptor){ .uuid = 0 };
	PF_READ(bytes, descriptor_members, x);
	x->desc.has_parent = x->desc.parent != 0;
	x->desc.states_name = x->merge == PF_MERGE_NAME;
	x->desc.merge =
	    x->merge == PF_MERGE_NONE || x->merge == PF_MERGE_KEY ? (uint8_t)x->merge : PF_MERGE_NAME;
	x->desc.kind = x->thread.p != NULL    ? PF_THREAD
	               : x->process.p != NULL ? PF_PROCESS
	               : x->counter.p != NULL ? PF_COUNTER
	               : x->has_state         ? PF_STATE
	                                      : PF_PLAIN;
	x->desc.is_known = true;
	if (x->desc.kind == PF_THREAD)
		read_thread(x->thread, &x->task);
	else if (x->desc.kind == PF_PROCESS)
		read_process(x->process, &x->task);
	else if (x->desc.kind == PF_COUNTER)
		PF_READ(x->counter, counter_members, &x->desc);
	x->desc.pid = x->task.pid;
	x->desc.tid = x->task.tid;
	const uint64_t type = pf_number(x->chrome, PF_chrome_thread_thread_type); /* or that of a process */
	const struct slice chrome_name =
	    x->chrome_field == PF_descriptor_chrome_thread ? pf_chrome_thread(type) : pf_chrome_process(type);
	if (x->chrome_field == PF_descriptor_chrome_process && pf_chrome_is_renderer(type)) {
		x->task.is_renderer = true;
		x->task.chrome_name = chrome_name;
	}
	x->desc.is_renderer = x->desc.kind == PF_PROCESS && x->task.is_renderer;
	if (x->desc.kind == PF_THREAD || x->desc.kind == PF_PROCESS)
		x->desc.name = x->task.name.n > 0 && !x->desc.is_renderer ? x->task.name
		               : x->task.chrome_name.p != NULL            ? x->task.chrome_name
		               : chrome_name.p != NULL                    ? chrome_name
		               : x->is_apart                              ? x->desc.name
		                                                          : SLICE_NONE;
}

/* Reports a descriptor that Perfetto ignores, and returns false. */
static bool check_descriptor(struct pf_state *st, const struct descriptor *x)
{
	const struct task *const n = &x->task;

	if (!x->has_uuid)
		return pf_report(st, PF_RULE_TD_UUID, "a track descriptor without uuid");
	if (x->desc.kind == PF_THREAD && (!n->has_pid || !n->has_tid))
		return pf_report(st, PF_RULE_TD_THREAD, "track %" PRIu64 ": a thread without %s", x->uuid,
		                 n->has_pid ? "tid" : "pid");
	if (x->desc.kind == PF_PROCESS && !n->has_pid)
		return pf_report(st, PF_RULE_TD_PROCESS, "track %" PRIu64 ": a process without pid", x->uuid);
	if (x->ordering < 0 || x->ordering > 3)
		return pf_report(st, PF_RULE_TD_ORDER, "track %" PRIu64 ": no child_ordering is %" PRId32,
		                 x->uuid, x->ordering);
	return true;
}

/* Sets the thread of the sequence and the base of its time differences.  The last thread in the file gets all
 * events of the sequence; the nesting of events that were assigned to another track before is not known. */
static void set_thread(struct pf_state *st, const struct task *n)
{
	struct pf_sequence *const s = st->sequence;

	if (s->uses_thread && (!s->has_thread || s->pid != n->pid || s->tid != n->tid)) {
		struct pf_track *const to = pf_thread(st, n->pid, &n->tid);
		s->thread_moved = true;
		if (to != NULL)
			to->desc.disordered = to->desc.moved = true;
		if (s->thread != NULL)
			s->thread->desc.disordered = s->thread->desc.moved = true;
	}
	s->has_thread = s->has_base = true;
	s->pid = n->pid;
	s->tid = n->tid;
	s->time_us = n->time_us;
	s->thread_us = n->thread_us;
	s->instructions = n->instructions;
	s->thread = NULL;
}

static bool is_same(const struct pf_description *a, const struct pf_description *b)
{
	return a->kind == b->kind && a->has_parent == b->has_parent &&
	       (!a->has_parent || a->parent == b->parent) && a->pid == b->pid && a->tid == b->tid;
}

uint64_t pf_sibling_key(const struct pf_state *st, uint64_t parent, struct slice name)
{
	return hash_bytes(name.p, name.n, hash_u64(parent, st->seed));
}

/* Enters the track under its pid, or pid and tid. */
static void register_ids(struct pf_state *st, struct pf_track *t)
{
	const uint64_t key = id_key(st, t->desc.pid, t->desc.kind == PF_THREAD ? &t->desc.tid : NULL);
	const uint32_t known = table64_get(&st->ids, key);
	struct pf_track *const other = known != TABLE_NONE ? st->tracks[known] : NULL;

	if (other == t)
		return;
	if (other != NULL && !other->is_synthetic)
		pf_report(st, PF_RULE_TRACK_REUSE,
		          "track %" PRIu64 " has the numbers of track %" PRIu64 ": pid %" PRId32, t->uuid,
		          other->uuid, t->desc.pid);
	if (other != NULL && other->is_synthetic) { /* from a process tree or earlier packets */
		t->model = other->model;
		if (other->is_used) { /* the events before are those of `t` */
			t->desc.disordered = other->desc.disordered = true;
			t->desc.moved = other->desc.moved = true;
		}
		if (t->desc.name.p == NULL || (t->desc.kind == PF_PROCESS && other->desc.name.p != NULL &&
		                               t->desc.is_renderer <= other->desc.has_tree_name))
			t->desc.name = other->desc.name;
		t->desc.has_tree_name = other->desc.has_tree_name;
	}
	st->r->no_memory |= !table64_put(&st->ids, key, table64_get(&st->track_index, t->uuid));
}

static uint64_t packet_time(const struct pf_state *st)
{
	return st->time == PF_TIME_OK ? st->ts : st->latest;
}

/* The last name in time is used, as packets of other sequences precede and follow it in the file.  That
 * of a renderer is its type, since its descriptors state its command line, too. */
static void rename_task(struct pf_state *st, struct pf_track *t, struct slice name, bool is_renderer)
{
	const uint64_t at = packet_time(st);

	if (t->desc.has_tree_name || is_renderer < t->desc.is_renderer ||
	    (is_renderer == t->desc.is_renderer && at < t->desc.named))
		return;
	t->desc.name = keep_text(st, name);
	t->desc.named = at;
	t->desc.is_renderer = is_renderer;
}

static void describe(struct pf_state *st, struct pf_track *t, struct descriptor *x)
{
	if (x->uuid == 0 && x->desc.has_parent) {
		pf_report(st, PF_RULE_TD_DEFAULT, "the default track has the parent %" PRIu64,
		          x->desc.parent);
		x->desc.has_parent = false;
	}
	if (t->desc.is_known && x->uuid == 0) {
		if (x->desc.name.p != NULL)
			t->desc.name = keep_text(st, x->desc.name);
		return;
	}
	if (t->desc.is_known && !is_same(&t->desc, &x->desc)) {
		pf_report(st, PF_RULE_TD_CONFLICT, "track %" PRIu64 " is described again as another one",
		          x->uuid);
		return;
	}
	const bool is_task = x->desc.kind == PF_THREAD || x->desc.kind == PF_PROCESS;
	if (t->desc.is_known) {
		if (x->desc.name.p != NULL && is_task) {
			rename_task(st, t, x->desc.name, x->desc.is_renderer);
		} else if (x->desc.name.p != NULL &&
		           (t->desc.name.p == NULL || x->desc.merge == PF_MERGE_NONE)) {
			t->desc.name = keep_text(st, x->desc.name);
			if (t->desc.kind == PF_COUNTER)
				t->desc.first_name = SLICE_NONE;
		}
		return;
	}
	const struct pf_description was = t->desc;
	t->described_late = t->has_local;
	t->desc = x->desc;
	t->desc.disordered = was.disordered;
	t->desc.moved = was.moved;
	t->desc.least = was.least;
	t->desc.named = x->desc.name.p != NULL ? packet_time(st) : 0;
	t->desc.first = was.first;
	t->desc.first_name = was.first_name;
	t->described_at = st->offset;
	t->described_record = st->ordinal;
	t->desc.name = keep_text(st, x->desc.name);
	t->desc.key = keep_text(st, x->desc.key);
	t->desc.host = keep_text(st, x->desc.host);
	t->desc.unit_name = keep_text(st, pf_short_name(st, x->desc.unit_name));
	if (st->is_own && t->desc.kind == PF_PLAIN && t->desc.merge == PF_MERGE_NONE)
		st->r->no_memory |=
		    !table64_put(&st->own_children, pf_sibling_key(st, t->desc.parent, t->desc.name),
		                 table64_get(&st->track_index, t->uuid));
	if (is_task)
		register_ids(st, t);
}

/* Reads the labels that tracetool wrote for a process: "pid N", "host NAME". */
static void read_labels(struct slice process, struct pf_description *d)
{
	struct pf_wire w = pf_wire_on(process);

	while (pf_wire_find(&w, PF_TAG(PF_process_process_labels, PF_BYTES))) {
		const struct slice s = pf_wire_slice(&w);
		if (s.n > 4 && memcmp(s.p, "pid ", 4) == 0)
			d->has_label = units_count(slice_of(s.p + 4, s.n - 4), &d->label);
		else if (s.n > 5 && memcmp(s.p, "host ", 5) == 0)
			d->host = slice_of(s.p + 5, s.n - 5);
	}
}

void pf_descriptor(struct pf_state *st, struct slice bytes)
{
	struct descriptor x;

	read_descriptor(bytes, &x);
	if (!check_descriptor(st, &x))
		return;
	/* the first descriptor of tracetool's writer */
	st->is_own |= st->ordinal == 2 && x.uuid == 0 && x.process_order == 1 && x.thread_order == 1 &&
	              st->packet.sequence == 1;
	if (st->is_own) {
		x.desc.is_unnumbered = x.rank < 0;
		read_labels(x.process, &x.desc);
	}
	struct pf_track *const t = pf_track(st, x.uuid);
	if (t != NULL)
		describe(st, t, &x);
	if (x.desc.kind == PF_THREAD && st->sequence != NULL && st->sequence->valid)
		set_thread(st, &x.task);
}

/* A ThreadDescriptor or ProcessDescriptor in a packet: the predecessors of TrackDescriptor. */
void pf_old_descriptor(struct pf_state *st, struct slice bytes, bool is_thread)
{
	const struct pf_sequence *const s = st->sequence;
	struct task n = { .has_pid = false };

	if (is_thread && (s == NULL || !s->valid)) {
		pf_report(st, PF_RULE_STATE_MISSING,
		          "sequence %" PRIu32 ": a thread descriptor while the state is not valid",
		          s != NULL ? s->id : 0);
		return;
	}
	if (is_thread)
		read_thread(bytes, &n);
	else
		read_process(bytes, &n);
	struct pf_track *const t = pf_thread(st, n.pid, is_thread ? &n.tid : NULL);
	if (n.is_renderer || (n.name.n == 0 && t != NULL && t->desc.name.n == 0))
		n.name = n.chrome_name;
	if (t != NULL && n.name.p != NULL)
		rename_task(st, t, n.name, n.is_renderer);
	if (is_thread)
		set_thread(st, &n);
}

void pf_name_task(struct pf_state *st, struct pf_track *t, struct slice key, struct slice name)
{
	const bool of_process = slice_is(key, "process_name");
	struct pf_track *const process =
	    of_process && t->desc.kind == PF_THREAD ? pf_thread(st, t->desc.pid, NULL) : t;

	if (of_process && process != NULL && process->desc.kind == PF_PROCESS)
		rename_task(st, process, name, false);
	else if (slice_is(key, "thread_name") && t->desc.kind == PF_THREAD && t->desc.name.n == 0)
		t->desc.name = keep_text(st, name);
}

/* ---- process tree ---- */

void pf_process_tree(struct pf_state *st, struct slice bytes)
{
	struct pf_wire w = pf_wire_on(bytes);

	while (pf_wire_next(&w)) {
		const bool is_thread = w.tag == PF_TAG(PF_tree_threads, PF_BYTES);
		if (!is_thread && w.tag != PF_TAG(PF_tree_processes, PF_BYTES))
			continue;
		const struct slice one = pf_wire_slice(&w);
		const int64_t tid = (int32_t)pf_number(one, PF_tree_thread_tid);
		const int32_t pid =
		    (int32_t)pf_number(one, is_thread ? PF_tree_thread_tgid : PF_tree_process_pid);
		struct slice name = is_thread ? pf_content(one, PF_tree_thread_name) : SLICE_NONE;
		struct pf_wire arguments = pf_wire_on(one);
		if (!is_thread && pf_wire_find(&arguments, PF_TAG(PF_tree_process_cmdline, PF_BYTES)))
			name = pf_wire_slice(&arguments); /* the first one: the command */
		struct pf_track *const t = pf_thread(st, pid, is_thread ? &tid : NULL);
		if (t != NULL && name.p != NULL && (!is_thread || t->desc.name.p == NULL)) {
			t->desc.name = keep_text(st, name);
			/* descriptors, which are repeated, do not rename a process */
			t->desc.has_tree_name = !is_thread;
		}
	}
}

/* ---- requirements of legacy events ---- */

/* Whether the track is that of a thread (or process), or below one. */
static bool is_below(const struct pf_state *st, const struct pf_track *t, bool process)
{
	for (unsigned depth = 0; depth <= PF_MAX_ANCESTORS; depth++) {
		if (t->desc.kind == PF_THREAD || (process && t->desc.kind == PF_PROCESS))
			return true;
		const uint32_t i =
		    t->desc.has_parent ? table64_get(&st->track_index, t->desc.parent) : TABLE_NONE;
		if (i == TABLE_NONE)
			return false;
		t = st->tracks[i];
	}
	return false;
}

const char *pf_lacking(const struct pf_state *st, const struct pf_track *t, uint8_t needs)
{
	if ((needs & PF_NEEDS_THREAD) != 0 && !is_below(st, t, false))
		return "it is of no thread";
	if ((needs & PF_NEEDS_PROCESS) != 0 && !is_below(st, t, true))
		return "it is of no process";
	if ((needs & PF_NEEDS_UNMERGED) != 0 && t->desc.kind <= PF_PLAIN && t->desc.merge != PF_MERGE_NONE)
		return "it may be merged with others";
	return NULL;
}

/* ---- the end ---- */

enum { MARK_NONE, MARK_OPEN, MARK_GOOD, MARK_LOST };

/* Search for the root of each track. */
struct root_search {
	uint8_t *marks, *depths; /* of each track; depths: number of ancestors */
	uint32_t *path;          /* from the current track to its root */
};

static void report_lost(struct pf_state *st, const struct pf_track *t, enum pf_rule rule)
{
	finding_add(st->findings, &perfetto_rules[rule], t->described_at, t->described_record,
	            "track %" PRIu64 ", parent %" PRIu64 ": %s", t->uuid, t->desc.parent,
	            perfetto_rules[rule].text);
}

/* Finds out whether a track leads to a root in at most PF_MAX_ANCESTORS steps; visits each track once. */
static void find_lost(struct pf_state *st, uint32_t i, const struct root_search *s)
{
	uint32_t n = 0, depth = 0;
	bool lost = false;

	while (s->marks[i] == MARK_NONE) {
		const struct pf_track *const t = st->tracks[i];
		s->marks[i] = MARK_OPEN;
		s->path[n++] = i;
		if (!t->desc.has_parent)
			break;
		i = table64_get(&st->track_index, t->desc.parent);
		if (i != TABLE_NONE && st->tracks[i]->desc.is_known && s->marks[i] == MARK_NONE)
			continue;
		const bool loops = i != TABLE_NONE && s->marks[i] == MARK_OPEN;
		lost = i == TABLE_NONE || s->marks[i] != MARK_GOOD;
		depth = lost ? 0 : s->depths[i] + 1U;
		if (lost && (loops || i == TABLE_NONE || s->marks[i] != MARK_LOST))
			report_lost(st, loops ? st->tracks[s->path[0]] : t,
			            loops ? PF_RULE_TD_LOOP : PF_RULE_TD_PARENT);
		break;
	}
	for (; n > 0; depth++) {
		const uint32_t k = s->path[--n];
		if (!lost && depth > PF_MAX_ANCESTORS) {
			lost = true;
			report_lost(st, st->tracks[k], PF_RULE_TD_DEEP);
		}
		s->marks[k] = lost ? MARK_LOST : MARK_GOOD;
		s->depths[k] = (uint8_t)(depth < UINT8_MAX ? depth : UINT8_MAX);
	}
}

/* Place of a track in the file.  Findings are reported in this order; that of st->tracks differs where a
 * parent was needed before its descriptor. */
struct track_place {
	uint64_t offset, uuid;
	uint32_t i;
};

static int compare_places(const void *a, const void *b)
{
	const struct track_place *const x = a, *const y = b;

	return x->offset != y->offset ? ORDER(x->offset, y->offset) : ORDER(x->uuid, y->uuid);
}

static bool is_described_after(const struct pf_state *st, uint64_t uuid, uint64_t offset)
{
	const uint32_t i = table64_get(&st->track_index, uuid);

	return i != TABLE_NONE && st->tracks[i]->desc.is_known && st->tracks[i]->described_at > offset;
}

/* Reports tracks whose events were read without their descriptor, or that of their parent. */
static void report_late(struct pf_state *st)
{
	struct finding_tally late = { .count = 0 };

	for (uint32_t i = 0; i < st->ntracks; i++) {
		const struct pf_track *const t = st->tracks[i];
		if (t->is_used && !t->is_synthetic &&
		    (is_described_after(st, t->uuid, t->offset) ||
		     (t->desc.has_parent && is_described_after(st, t->desc.parent, t->offset))))
			finding_tally_add(&late, t->offset, t->record, t->uuid, 0);
	}
	finding_add_tally(st->findings, &perfetto_rules[PF_RULE_PIPE], &late,
	                  "track %" PRIu64 ": its descriptor or that of its parent comes later", late.now);
}

void pf_tracks_end(struct pf_state *st)
{
	struct root_search s = { .marks = calloc(2, st->ntracks + 1),
		                 .path = malloc((st->ntracks + 1) * sizeof *s.path) };
	struct track_place *const places = malloc((st->ntracks + 1) * sizeof *places);
	uint32_t n = 0;

	s.depths = s.marks != NULL ? s.marks + st->ntracks + 1 : NULL;
	st->r->no_memory |= s.marks == NULL || s.path == NULL || places == NULL;
	for (uint32_t i = 0; !st->r->no_memory && i < st->ntracks; i++) {
		const struct pf_track *const t = st->tracks[i];
		if (!t->is_synthetic && (t->desc.is_known || t->is_used))
			places[n++] = (struct track_place){ t->desc.is_known ? t->described_at : t->offset,
				                            t->uuid, i };
	}
	if (pf_reads_once(st))
		report_late(st);
	if (n > 0)
		qsort(places, n, sizeof *places, compare_places);
	for (uint32_t i = 0; i < n; i++) {
		const struct pf_track *const t = st->tracks[places[i].i];
		if (t->desc.is_known)
			find_lost(st, places[i].i, &s);
		else
			finding_add(st->findings, &perfetto_rules[PF_RULE_TRACK_UNDEFINED], t->offset,
			            t->record, "track %" PRIu64 " is never described", t->uuid);
	}
	free(places);
	free(s.marks);
	free(s.path);
}

void pf_tracks_free(struct pf_state *st)
{
	for (uint32_t i = 0; i < st->ntracks; i++) {
		free(st->tracks[i]->open);
		pf_least_free(&st->tracks[i]->desc.least);
	}
	for (uint32_t i = 0; i < st->ngroups; i++) {
		free(st->group_list[i]->free);
		free(st->group_list[i]->lanes);
	}
	free(st->tracks);
	free(st->group_list);
	tabletext_free(&st->groups);
	table64_free(&st->track_index);
	table64_free(&st->ids);
	table64_free(&st->own_children);
}
