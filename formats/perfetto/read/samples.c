/*
 * Samples with call stacks: perf samples, streaming profiles, stack samples and heap profiles.  A stack is a
 * list of frames in interned data, the outermost first.  Events have the stack leaf first, as names (for
 * frames without a name, addresses), with lists of mappings and build ids.  A heap profile has tables of its
 * own.  Each stack is checked once.
 */
#include "perfetto/read/read.h"

#define MAX_FRAMES 1024U /* of a stack, from the leaf on */
#define MAX_PATH 4096U   /* bytes of the path of a mapping; parts beyond are left out */
#define MAX_BUILD_ID 64U /* bytes */

static const char *const kinds[PF_SAMPLE_CLASSES] = { "perf_sample", "cpu_profile", "stack_sample",
	                                              "heap_profile", "cpu_profile_idle" };

/* ---- checks ---- */

/* A heap profile has one table for all texts; entries missing there are looked up in the sequence. */
static struct pf_entry *entry_of(const struct pf_state *st, const struct pf_sequence *s,
                                 enum pf_table_id table, uint64_t iid)
{
	const bool is_text = table == PF_FUNCTIONS || table == PF_BUILD_IDS || table == PF_MAPPING_PATHS;

	if (s == NULL || iid == 0)
		return NULL;
	if (s != &st->heap)
		return pf_entry_find(s, table, iid);
	struct pf_entry *const e = pf_entry_find(s, is_text ? PF_FUNCTIONS : table, iid);
	return e != NULL || st->sequence == NULL ? e : pf_entry_find(st->sequence, table, iid);
}

/* Reports a text of a frame or mapping that is not defined, and returns false. */
static bool has_text(struct pf_state *st, const struct pf_sequence *s, enum pf_table_id table, uint64_t iid)
{
	if (iid == 0 || entry_of(st, s, table, iid) != NULL)
		return true;
	return pf_report(st, PF_RULE_STACK_STRING, "text %" PRIu64 " is not defined", iid);
}

static void parse_frame(struct pf_entry *frame)
{
	if (frame->is_parsed)
		return;
	frame->function = pf_number(frame->text, PF_frame_function_name_id);
	frame->mapping = pf_number(frame->text, PF_frame_mapping_id);
	frame->is_parsed = true;
}

static bool check_frame(struct pf_state *st, const struct pf_sequence *s, uint64_t iid)
{
	struct pf_entry *const frame = entry_of(st, s, PF_FRAMES, iid);

	if (frame == NULL)
		return pf_report(st, PF_RULE_STACK_FRAME, "frame %" PRIu64 " is not defined", iid);
	if (frame->is_checked)
		return true;
	parse_frame(frame);
	const struct pf_entry *const mapping = entry_of(st, s, PF_MAPPINGS, frame->mapping);
	if (frame->mapping != 0 && mapping == NULL)
		return pf_report(st, PF_RULE_STACK_MAPPING,
		                 "mapping %" PRIu64 " of frame %" PRIu64 " is not defined", frame->mapping,
		                 iid);
	frame->is_checked =
	    has_text(st, s, PF_FUNCTIONS, frame->function) &&
	    (mapping == NULL || has_text(st, s, PF_BUILD_IDS, pf_number(mapping->text, PF_mapping_build_id)));
	return frame->is_checked;
}

void pf_stack_check(struct pf_state *st, const struct pf_sequence *s, uint64_t iid)
{
	struct pf_entry *const e = entry_of(st, s, PF_CALLSTACKS, iid);
	bool any = false;

	if (iid == 0)
		return;
	if (e == NULL) {
		pf_report(st, PF_RULE_STACK_CALLSTACK, "call stack %" PRIu64 " is not defined", iid);
		return;
	}
	if (e->is_checked)
		return;
	e->is_checked = true;
	struct pf_wire w = pf_wire_on(e->text);
	while (e->text.p != NULL && pf_wire_find(&w, PF_TAG(PF_callstack_frame_ids, PF_VARINT))) {
		any = true;
		if (!check_frame(st, s, w.v))
			return;
	}
	if (!any && e->text.p != NULL)
		pf_report(st, PF_RULE_STACK_EMPTY, "call stack %" PRIu64 " has no frames", iid);
}

/* ---- frames ---- */

/* Writes the path of a mapping.  As in Perfetto, it ends before the first part that is not defined. */
static void put_path(struct text *t, const struct pf_state *st, const struct pf_sequence *s,
                     struct slice mapping)
{
	struct pf_wire w = pf_wire_on(mapping);

	while (pf_wire_find(&w, PF_TAG(PF_mapping_path_string_ids, PF_VARINT))) {
		const struct pf_entry *const part = entry_of(st, s, PF_MAPPING_PATHS, w.v);
		if (part == NULL || part->text.p == NULL || part->text.n >= MAX_PATH - t->n)
			break;
		text_char(t, '/');
		text_add(t, part->text.p, strnlen(part->text.p, part->text.n));
	}
}

static const struct pf_library no_library = { SLICE_LIT(""), SLICE_LIT("") };

static const struct pf_library *make_library(struct pf_state *st, const struct pf_sequence *s,
                                             struct slice mapping)
{
	const struct pf_entry *const id =
	    entry_of(st, s, PF_BUILD_IDS, pf_number(mapping, PF_mapping_build_id));
	struct text path = { .n = 0 }, digits = { .n = 0 };

	put_path(&path, st, s, mapping);
	for (uint32_t i = 0; id != NULL && i < id->text.n && i < MAX_BUILD_ID; i++)
		text_printf(&digits, "%02x", (unsigned char)id->text.p[i]);
	/* producers also give the whole path as one part, with its slash */
	const size_t skip = path.n > 1 && path.p[0] == '/' && path.p[1] == '/' ? 1 : 0;
	struct pf_library *const made = arena_alloc(&st->arena, sizeof *made);
	if (made != NULL && !path.failed && !digits.failed) {
		*made = no_library;
		if (path.n > 0)
			made->path = pf_trace_text(st, slice_of(path.p + skip, path.n - skip));
		if (digits.n > 0)
			made->build_id = pf_trace_text(st, slice_of(digits.p, digits.n));
	}
	st->r->no_memory |= made == NULL || path.failed || digits.failed;
	text_free(&path);
	text_free(&digits);
	return made != NULL && made->path.p != NULL && made->build_id.p != NULL ? made : &no_library;
}

/* Sets a frame in the lists of a stack of n frames: frames at v, mappings at v + n, build ids at v + 2n. */
static void set_frame(struct pf_state *st, const struct pf_sequence *s, uint64_t iid, struct value *v,
                      uint32_t n)
{
	struct pf_entry *const frame = entry_of(st, s, PF_FRAMES, iid);
	const struct slice bytes = frame != NULL ? frame->text : SLICE_NONE;
	const struct pf_library *library = &no_library;

	if (frame != NULL)
		parse_frame(frame);
	const struct pf_entry *const name =
	    frame != NULL ? entry_of(st, s, PF_FUNCTIONS, frame->function) : NULL;
	struct pf_entry *const mapping = frame != NULL ? entry_of(st, s, PF_MAPPINGS, frame->mapping) : NULL;
	if (mapping != NULL && mapping->text.p != NULL) {
		if (mapping->library == NULL)
			mapping->library = make_library(st, s, mapping->text);
		library = mapping->library;
	}
	if (name != NULL && name->text.n > 0)
		v[0] = value_string(name->text);
	else
		v[0] = (struct value){ .type = VALUE_ADDRESS, .u64 = pf_number(bytes, PF_frame_rel_pc) };
	v[n] = value_string(library->path);
	v[2 * (size_t)n] = value_string(library->build_id);
}

static bool any_text(const struct value *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].count > 0)
			return true;
	return false;
}

/* ---- stacks ---- */

/* The bytes of a stack from the first frame on that events have.  It is searched once, as many events can
 * refer to a stack of any size. */
static struct slice shown_frames(struct pf_entry *e)
{
	const uint32_t tag = PF_TAG(PF_callstack_frame_ids, PF_VARINT);
	struct pf_wire w = pf_wire_on(e->text);

	if (!e->is_cut) {
		uint32_t left = pf_count(e->text, tag);
		for (; left > MAX_FRAMES && pf_wire_find(&w, tag); left--)
			e->shown = (uint32_t)(w.p - e->text.p);
		e->is_cut = true;
	}
	return slice_of(e->text.p + e->shown, e->text.n - e->shown);
}

uint32_t pf_stack(struct pf_state *st, const struct pf_sequence *s, struct batch *b, uint64_t iid,
                  struct field f[PF_STACK_FIELDS])
{
	static const struct slice names[PF_STACK_FIELDS] = { SLICE_LIT("callstack"),
		                                             SLICE_LIT("callstack_mappings"),
		                                             SLICE_LIT("callstack_build_ids") };
	struct pf_entry *const e = entry_of(st, s, PF_CALLSTACKS, iid);
	const uint32_t tag = PF_TAG(PF_callstack_frame_ids, PF_VARINT);
	const struct slice shown = e != NULL && e->text.p != NULL ? shown_frames(e) : SLICE_NONE;
	const uint32_t n = pf_count(shown, tag);
	struct value *const v = arena_alloc(&b->scratch, PF_STACK_FIELDS * (size_t)n * sizeof *v);
	uint32_t left = n, nfields = 0;

	if (shown.p == NULL || v == NULL)
		return 0;
	st->r->referred += PF_STACK_FIELDS * (size_t)n * sizeof *v;
	struct pf_wire w = pf_wire_on(shown);
	while (pf_wire_find(&w, tag))
		set_frame(st, s, w.v, &v[--left], n);
	for (uint32_t i = 0; i < PF_STACK_FIELDS; i++)
		if (i == 0 || any_text(v + (size_t)i * n, n))
			f[nfields++] = (struct field){ names[i], pf_list(v + (size_t)i * n, n) };
	return nfields;
}

struct value pf_inline_stack(struct batch *b, struct slice stack)
{
	const uint32_t tag = PF_TAG(PF_inline_stack_frames, PF_BYTES), all = pf_count(stack, tag);
	const uint32_t n = all < MAX_FRAMES ? all : MAX_FRAMES;
	struct value *const v = arena_alloc(&b->scratch, n * sizeof *v);
	struct pf_wire w = pf_wire_on(stack);
	uint32_t left = all;

	while (v != NULL && pf_wire_next(&w)) {
		if (w.tag != tag || left-- > n)
			continue;
		const struct slice name = pf_content(pf_wire_slice(&w), PF_inline_frame_function_name);
		v[left] = value_string(name.p != NULL ? textscan_slice(name.p, name.n) : SLICE_LIT(""));
	}
	return v != NULL && n > 0 ? pf_list(v, n) : (struct value){ .type = VALUE_NONE };
}

/* ---- samples ---- */

/* A sample of the track, with the iid of its call stack. */
static struct pf_event sample_of(struct pf_state *st, enum pf_sample kind, struct pf_track *t, uint64_t iid)
{
	struct pf_event e = { .kind = t != NULL ? PF_SAMPLE : PF_NOTHING,
		              .ts = st->ts,
		              .track = t,
		              .sample = (uint8_t)kind,
		              .callstack = iid };

	if (st->is_own && kind == PF_SAMPLE_OF_PERF)
		e.kind = PF_NOTHING; /* the event of this stack has the stack, too */
	if (e.kind == PF_SAMPLE && pf_wants_model(st))
		e.model = pf_model(st, t, slice_of("", 0));
	return e;
}

/* Adds one of several samples of a packet. */
static void add_sample(struct pf_state *st, struct pf_event e)
{
	if (st->event.kind == PF_NOTHING)
		st->event = e;
	else if (e.kind != PF_NOTHING)
		pf_add_after(st, &e);
}

static bool has_time(struct pf_state *st, const struct pf_packet *k)
{
	return k->has_timestamp && st->time == PF_TIME_OK;
}

static void read_perf(struct pf_state *st, const struct pf_packet *k)
{
	const struct slice s = k->data;
	const uint64_t iid = pf_number(s, PF_perf_sample_callstack_iid);
	const uint64_t lost = pf_number(s, PF_perf_sample_kernel_records_lost);
	const uint64_t skipped = pf_number(s, PF_perf_sample_sample_skipped_reason);
	const bool has_event = pf_count(s, PF_TAG(PF_perf_sample_producer_event, PF_BYTES)) > 0;

	if (lost != 0)
		pf_report(st, PF_RULE_PERF_LOST, "the kernel lost %" PRIu64 " records", lost);
	if (skipped >= 1 && skipped <= 3)
		pf_report(st, PF_RULE_PERF_SKIPPED, "a sample was skipped for reason %" PRIu64, skipped);
	if (lost != 0 || has_event)
		return;
	const int64_t tid = (int32_t)pf_number(s, PF_perf_sample_tid);
	pf_stack_check(st, st->sequence, iid);
	if (has_time(st, k))
		st->event = sample_of(st, PF_SAMPLE_OF_PERF,
		                      pf_thread(st, (int32_t)pf_number(s, PF_perf_sample_pid), &tid), iid);
}

/* Times are sums of differences from the base of the sequence; the packet's timestamp is not used. */
static void read_streaming(struct pf_state *st, const struct pf_packet *k)
{
	struct pf_sequence *const q = st->sequence;
	const uint32_t stack = PF_TAG(PF_streaming_callstack_iid, PF_VARINT);
	struct pf_wire stacks = pf_wire_on(k->data), deltas = stacks;
	uint64_t nstacks = 0, ndeltas = 0;

	if (q == NULL)
		return;
	while (pf_wire_find(&deltas, PF_TAG(PF_streaming_timestamp_delta_us, PF_VARINT))) {
		ndeltas++;
		q->time_us = pf_saturated_sum(q->time_us, (int64_t)deltas.v);
		if (!pf_wire_find(&stacks, stack))
			continue;
		nstacks++;
		pf_stack_check(st, q, stacks.v);
		uint64_t ts = (uint64_t)q->time_us * 1000;
		const bool fits = q->time_us >= 0 && q->time_us <= INT64_MAX / 1000;
		uint64_t converted;
		const enum pf_time t = fits ? pf_convert_monotonic(st, ts, &converted) : PF_TIME_RANGE;
		if (t == PF_TIME_OK)
			ts = converted;
		if (t == PF_TIME_RANGE) {
			pf_report(st, PF_RULE_STREAM_TIME, "a sample at %" PRId64 " us", q->time_us);
			continue;
		}
		struct pf_event e =
		    sample_of(st, PF_SAMPLE_OF_STREAM, pf_thread(st, q->pid, &q->tid), stacks.v);
		e.ts = ts;
		add_sample(st, e);
	}
	while (pf_wire_find(&stacks, stack))
		nstacks++;
	if (nstacks > ndeltas)
		pf_report(st, PF_RULE_STREAM_DELTAS, "%" PRIu64 " call stacks and %" PRIu64 " times", nstacks,
		          ndeltas);
}

/* The thread of a task, or its process, or the default track. */
static struct pf_track *task_track(struct pf_state *st, struct slice task)
{
	const int32_t pid = (int32_t)pf_number(task, PF_task_context_pid);
	const int64_t tid = (int32_t)pf_number(task, PF_task_context_tid);

	return tid != 0 ? pf_thread(st, pid, &tid) : pid != 0 ? pf_thread(st, pid, NULL) : pf_track(st, 0);
}

static void read_stack_sample(struct pf_state *st, const struct pf_packet *k)
{
	struct pf_wire w = pf_wire_on(k->data);
	struct slice task = SLICE_NONE;
	uint64_t iid = 0;

	while (pf_wire_next(&w)) {
		if (w.tag == PF_TAG(PF_stack_sample_task_context, PF_BYTES)) {
			task = pf_wire_slice(&w);
		} else if (w.tag == PF_TAG(PF_stack_sample_task_context_iid, PF_VARINT)) {
			const struct pf_entry *const e = entry_of(st, st->sequence, PF_TASKS, w.v);
			if (e != NULL && e->text.p != NULL)
				task = e->text;
		} else if (w.tag == PF_TAG(PF_stack_sample_callstack_iid, PF_VARINT)) {
			iid = w.v;
		}
	}
	pf_stack_check(st, st->sequence, iid);
	if (has_time(st, k))
		st->event = sample_of(st, PF_SAMPLE_OF_STACK, task_track(st, task), iid);
}

/* ---- heap profiles ---- */

static void read_dump(struct pf_state *st, struct slice dump)
{
	const int32_t pid = (int32_t)pf_number(dump, PF_dump_pid);
	const uint64_t at = pf_number(dump, PF_dump_timestamp);
	struct pf_wire w = pf_wire_on(dump);
	uint64_t ts = at;

	const enum pf_time t = pf_convert_noted(st, PF_MONOTONIC_COARSE, at, &ts);
	if (t == PF_TIME_RANGE)
		pf_report(st, PF_RULE_HEAP_TIME, "a heap profile of process %" PRId32 " at %" PRId64 " ns",
		          pid, (int64_t)ts);
	if (t != PF_TIME_OK)
		return;
	while (pf_wire_find(&w, PF_TAG(PF_dump_samples, PF_BYTES))) {
		const struct slice s = pf_wire_slice(&w);
		struct pf_event e = sample_of(st, PF_SAMPLE_OF_HEAP, pf_thread(st, pid, NULL),
		                              pf_number(s, PF_heap_sample_callstack_id));
		pf_stack_check(st, &st->heap, e.callstack);
		e.ts = ts;
		e.allocated = pf_number(s, PF_heap_sample_self_allocated);
		e.freed = pf_number(s, PF_heap_sample_self_freed);
		add_sample(st, e);
	}
}

static void read_profile(struct pf_state *st, const struct pf_packet *k)
{
	static const struct {
		uint32_t number;
		enum pf_table_id table;
	} tables[] = { { PF_profile_strings, PF_FUNCTIONS },
		       { PF_profile_frames, PF_FRAMES },
		       { PF_profile_callstacks, PF_CALLSTACKS },
		       { PF_profile_mappings, PF_MAPPINGS } };
	struct pf_wire w = pf_wire_on(k->data);

	if (!st->heap_continues)
		pf_tables_empty(st, &st->heap);
	while (pf_wire_next(&w))
		for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
			if (w.tag == PF_TAG(tables[i].number, PF_BYTES))
				pf_entry_add(st, &st->heap, tables[i].table, pf_wire_slice(&w));
	w = pf_wire_on(k->data);
	while (pf_wire_find(&w, PF_TAG(PF_profile_process_dumps, PF_BYTES)))
		read_dump(st, pf_wire_slice(&w));
	st->heap_continues = pf_number(k->data, PF_profile_continued) != 0;
}

void pf_sample_packet(struct pf_state *st, const struct pf_packet *k)
{
	if (k->kind == PF_packet_perf_sample)
		read_perf(st, k);
	else if (k->kind == PF_packet_streaming_profile_packet)
		read_streaming(st, k);
	else if (k->kind == PF_packet_stack_sample)
		read_stack_sample(st, k);
	else if (k->kind == PF_packet_profile_packet)
		read_profile(st, k);
}

/* ---- fields ---- */

/* Sets the fields of the stack; a StackSample may have it inline, without an iid. */
static uint32_t sample_stack(struct pf_state *st, struct batch *b, const struct pf_event *x, struct field *f)
{
	struct pf_wire w = pf_wire_on(st->packet.data);

	if (x->callstack != 0 || x->sample != PF_SAMPLE_OF_STACK || x != &st->event)
		return pf_stack(st, x->sample == PF_SAMPLE_OF_HEAP ? &st->heap : st->sequence, b,
		                x->callstack, f);
	if (pf_wire_find(&w, PF_TAG(PF_stack_sample_callstack, PF_BYTES))) {
		f[0] = (struct field){ SLICE_LIT("callstack"), pf_inline_stack(b, pf_wire_slice(&w)) };
		return f[0].value.type != VALUE_NONE;
	}
	return 0;
}

void pf_sample_fields(struct pf_state *st, struct batch *b, const struct pf_event *x, struct event *e)
{
	const struct cpu_profiles *const profiles = &st->profiles.all;
	const struct cpu_profile_sample *const s =
	    x->sample == PF_SAMPLE_OF_V8 ? &profiles->samples[x->callstack] : NULL;
	struct field f[PF_STACK_FIELDS + CPU_PROFILE_FIELDS];
	const uint8_t kind = s == NULL                          ? x->sample
	                     : cpu_profile_is_idle(profiles, s) ? PF_SAMPLE_IDLE
	                                                        : PF_SAMPLE_OF_STREAM;

	if (st->sample_classes[kind] == NULL) {
		const struct slice name = slice_str(kinds[kind]);
		struct class like = { .name = name, .plan = trace_find_plan(st->r->trace, name, NULL, NULL) };
		st->sample_classes[kind] = trace_plan_class(st->r->trace, &like);
	}
	e->cls = st->sample_classes[kind];
	e->phase = PHASE_INSTANT;
	e->ts = x->ts;
	if (note_failure(&st->r->no_memory, e->cls == NULL || e->track == NULL))
		return;
	e->name = e->cls->name;
	if ((st->r->want & WANT_FIELDS) == 0 && !class_needs_fields(e->cls))
		return;
	uint32_t n =
	    s != NULL ? cpu_profile_fields(profiles, s, b, f, &st->r->referred) : sample_stack(st, b, x, f);
	if (x->sample == PF_SAMPLE_OF_HEAP) {
		f[n++] = (struct field){ SLICE_LIT("allocated"), value_u64(x->allocated) };
		f[n++] = (struct field){ SLICE_LIT("freed"), value_u64(x->freed) };
	}
	if (x->sample == PF_SAMPLE_OF_PERF)
		f[n++] =
		    (struct field){ SLICE_LIT("cpu"),
			            { .type = VALUE_U32,
			              .u64 = (uint32_t)pf_number(st->packet.data, PF_perf_sample_cpu) } };
	struct field *const to = batch_event_fields(b, e, (uint16_t)n);
	if (to != NULL)
		memcpy(to, f, n * sizeof *f);
}
