/*
 * State of sequences: whether it is valid, defaults, interned data.  A cleared state empties the tables, so
 * their size is that of an interval; texts are copied into the memory of the trace, each once.  An entry is
 * found at the index of its iid if iids are consecutive, as from most writers, else in a hash table.
 */
#include <stdlib.h>

#include "perfetto/read/read.h"
#include "base/compiler.h"

/* ---- texts ---- */

struct slice pf_trace_text(struct pf_state *st, struct slice s)
{
	if ((s.flags & SLICE_STAYS) != 0)
		return s;
	const char *const known = tabletext_key(&st->texts, s);
	if (known != NULL)
		return (struct slice){ known, s.n, textscan_slice(known, s.n).flags | SLICE_STAYS };
	if (st->text_bytes + s.n > PF_MAX_TEXT || st->texts.used >= PF_MAX_TEXTS) {
		pf_report_limit(st, PF_FULL_TEXT,
		                "more than %u bytes or %u texts of interned data: later texts are not kept",
		                PF_MAX_TEXT, PF_MAX_TEXTS);
		return SLICE_NONE;
	}
	struct slice copy = arena_copy(&st->r->trace->arena, s);
	if (note_failure(&st->r->no_memory, copy.p == NULL || !tabletext_put(&st->texts, copy, 1)))
		return SLICE_NONE;
	st->text_bytes += s.n;
	copy = textscan_slice(copy.p, copy.n);
	copy.flags |= SLICE_STAYS;
	return copy;
}

/* ---- tables ---- */

static const struct {
	const char *name; /* in findings */
	uint16_t number;  /* of InternedData */
	bool is_text;     /* entries are iid and text */
	bool is_needed;   /* stored even if no events are wanted: checks follow the references of entries */
	/* Bytes and fields of an entry that are kept, as each use reads all of them; 0: all. */
	uint16_t max_bytes, max_fields;
} kinds[PF_TABLES] = {
	[PF_CATEGORIES] = { .name = "category", .number = PF_interned_event_categories, .is_text = true },
	[PF_NAMES] = { .name = "name", .number = PF_interned_event_names, .is_text = true },
	[PF_KEYS] = { .name = "argument name",
	              .number = PF_interned_debug_annotation_names,
	              .is_text = true },
	[PF_LOCATIONS] = { .name = "source location",
	                   .number = PF_interned_source_locations,
	                   .max_fields = 16 },
	[PF_FUNCTIONS] = { .name = "function", .number = PF_interned_function_names, .is_text = true },
	[PF_FRAMES] = { .name = "frame", .number = PF_interned_frames, .is_needed = true, .max_bytes = 96 },
	[PF_CALLSTACKS] = { .name = "call stack", .number = PF_interned_callstacks, .is_needed = true },
	[PF_BUILD_IDS] = { .name = "build id", .number = PF_interned_build_ids, .is_text = true },
	[PF_MAPPING_PATHS] = { .name = "mapping path", .number = PF_interned_mapping_paths, .is_text = true },
	[PF_SOURCE_PATHS] = { .name = "source path", .number = PF_interned_source_paths, .is_text = true },
	[PF_MAPPINGS] = { .name = "mapping",
	                  .number = PF_interned_mappings,
	                  .is_needed = true,
	                  .max_bytes = 512 },
	[PF_LOG_BODIES] = { .name = "log message", .number = PF_interned_log_message_body, .is_text = true },
	[PF_TYPE_NAMES] = { .name = "message type",
	                    .number = PF_interned_debug_annotation_value_type_names,
	                    .is_text = true },
	[PF_STRINGS] = { .name = "text",
	                 .number = PF_interned_debug_annotation_string_values,
	                 .is_text = true },
	[PF_CORRELATIONS] = { .name = "correlation",
	                      .number = PF_interned_correlation_id_str,
	                      .is_text = true },
	[PF_TASKS] = { .name = "task context",
	               .number = PF_interned_stack_sample_task_contexts,
	               .max_fields = 16 },
	[PF_EXECUTIONS] = { .name = "execution context",
	                    .number = PF_interned_stack_sample_execution_contexts },
};

static int table_of(uint32_t number)
{
	for (int i = 0; i < PF_TABLES; i++)
		if (kinds[i].number == number)
			return i;
	return -1;
}

void pf_tables_empty(struct pf_state *st, struct pf_sequence *s)
{
	for (int i = 0; s->tables != NULL && i < PF_TABLES; i++) {
		st->nentries -= s->tables[i].n;
		s->tables[i].n = 0;
		if (s->tables[i].index.used > 0)
			table64_free(&s->tables[i].index);
	}
}

/* ---- uses of undefined entries ---- */

/* Returns the noted use of an entry; NULL: none. */
static struct pf_undefined *find_undefined(struct pf_state *st, const struct pf_sequence *s,
                                           enum pf_table_id table, uint64_t iid)
{
	for (uint32_t i = 0; i < st->nundefined; i++)
		if (st->undefined[i].iid == iid && st->undefined[i].table == table &&
		    st->undefined[i].sequence == s->index)
			return &st->undefined[i];
	return NULL;
}

void pf_undefined_note(struct pf_state *st, enum pf_table_id table, uint64_t iid)
{
	if ((st->limits & PF_FULL_ENTRIES) != 0 || find_undefined(st, st->sequence, table, iid) != NULL)
		return;
	if (st->nundefined < PF_MAX_LATE)
		st->undefined[st->nundefined++] = (struct pf_undefined){ .iid = iid,
			                                                 .offset = st->offset,
			                                                 .record = st->ordinal,
			                                                 .sequence = st->sequence->index,
			                                                 .table = (uint8_t)table };
	else
		pf_report(st, PF_RULE_IID_UNDEFINED, "%s %" PRIu64 " is not defined", kinds[table].name, iid);
}

void pf_undefined_end(struct pf_state *st, const struct pf_sequence *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < st->nundefined; i++) {
		const struct pf_undefined *const l = &st->undefined[i];
		if (s != NULL && l->sequence != s->index) {
			st->undefined[n++] = *l;
			continue;
		}
		finding_add(st->findings,
		            &perfetto_rules[l->defined ? PF_RULE_IID_LATE : PF_RULE_IID_UNDEFINED], l->offset,
		            l->record, "%s %" PRIu64 " is %s", kinds[l->table].name, l->iid,
		            l->defined ? "defined later" : "not defined");
	}
	st->nundefined = n;
}

/* ---- interned data ---- */

static bool add_entry(struct pf_state *st, struct pf_sequence *s, int table, struct pf_entry e)
{
	if (s->tables == NULL && (s->tables = calloc(PF_TABLES, sizeof *s->tables)) == NULL)
		return false;
	struct pf_table *const t = &s->tables[table];
	if (st->nentries == PF_MAX_ENTRIES) {
		pf_report_limit(st, PF_FULL_ENTRIES, "more than %u entries of interned data at a time",
		                PF_MAX_ENTRIES);
		return true;
	}
	if (!array_reserve(&t->list, t->n, &t->cap, sizeof *t->list) ||
	    (e.iid - 1 != t->n && !table64_put(&t->index, e.iid, t->n)))
		return false;
	t->list[t->n++] = e;
	st->nentries++;
	return true;
}

static struct slice first_fields(struct slice s, unsigned n)
{
	struct pf_wire w = pf_wire_on(s);

	while (n-- > 0 && pf_wire_next(&w))
		;
	return slice_of(s.p, (size_t)(w.p - s.p));
}

/* Adds the frames of a call stack to an empty text. */
static struct slice only_frames(struct text *t, struct slice s)
{
	struct pf_wire w = pf_wire_on(s);

	while (pf_wire_find(&w, PF_TAG(PF_callstack_frame_ids, PF_VARINT)))
		wire_number(t, PF_callstack_frame_ids, w.v);
	return t->n > 0 ? slice_of(t->p, t->n) : slice_of("", 0);
}

void pf_entry_add(struct pf_state *st, struct pf_sequence *s, enum pf_table_id table, struct slice bytes)
{
	struct pf_wire w = pf_wire_on(bytes);
	struct pf_entry e = { .iid = 0 };
	struct slice text = slice_of("", 0);
	bool has_iid = false;

	while (pf_wire_next(&w)) {
		if (w.tag == PF_TAG(PF_entry_iid, PF_VARINT)) {
			e.iid = w.v;
			has_iid = true;
		} else if (w.tag == PF_TAG(PF_entry_name, PF_BYTES)) {
			text = pf_wire_slice(&w);
		}
	}
	if (!has_iid) {
		pf_report(st, PF_RULE_IID_MISSING, "interned %s without iid", kinds[table].name);
		return;
	}
	const struct pf_entry *const known = pf_entry_find(s, table, e.iid);
	if (!kinds[table].is_text)
		text = bytes;
	e.hash = hash_bytes(text.p, text.n, st->seed) | 1;
	if (known != NULL) {
		pf_report(st, known->hash == e.hash ? PF_RULE_IID_REPEATED : PF_RULE_IID_REDEFINED,
		          "%s %" PRIu64 " is defined again, %s", kinds[table].name, e.iid,
		          known->hash == e.hash ? "unchanged" : "as another one");
		return;
	}
	struct pf_undefined *const use = find_undefined(st, s, table, e.iid);
	if (use != NULL)
		use->defined = true;
	if (kinds[table].max_bytes > 0 && text.n > kinds[table].max_bytes)
		text.n = kinds[table].max_bytes;
	if (kinds[table].max_fields > 0)
		text = first_fields(text, kinds[table].max_fields);
	struct text frames = { .n = 0 };
	if (table == PF_CALLSTACKS)
		text = only_frames(&frames, text);
	if (st->builds || kinds[table].is_needed)
		e.text = pf_trace_text(st, text);
	st->r->no_memory |= frames.failed;
	text_free(&frames);
	st->r->no_memory |= !add_entry(st, s, (int)table, e);
}

static void read_interned(struct pf_state *st, struct pf_sequence *s, struct slice bytes)
{
	struct pf_wire w = pf_wire_on(bytes);

	while (pf_wire_next(&w)) {
		const int table = (w.tag & 7) == PF_BYTES ? table_of(pf_wire_number(&w)) : -1;
		if (table >= 0)
			pf_entry_add(st, s, (enum pf_table_id)table, pf_wire_slice(&w));
	}
}

/* ---- defaults ---- */

void pf_extra_read(struct slice event, struct pf_extra_of of[2])
{
	struct pf_wire w = pf_wire_on(event);

	of[0].n = of[1].n = 0;
	while (pf_wire_next(&w)) {
		const bool doubles = w.tag == PF_TAG(PF_event_extra_double_counter_track_uuids, PF_VARINT);
		struct pf_extra_of *const to = &of[doubles];
		if ((doubles || w.tag == PF_TAG(PF_event_extra_counter_track_uuids, PF_VARINT)) &&
		    to->n < PF_MAX_EXTRA)
			to->uuids[to->n++] = w.v;
	}
}

/* New defaults replace the old ones as a whole. */
static void read_defaults(struct pf_sequence *s, struct slice bytes)
{
	const struct slice event = pf_content(bytes, PF_defaults_track_event_defaults);
	const struct pf_wire track = pf_wire_last(event, PF_TAG(PF_event_defaults_track_uuid, PF_VARINT));

	s->default_clock = (uint32_t)pf_number(bytes, PF_defaults_timestamp_clock_id);
	s->has_default_track = track.p != NULL;
	s->default_track = track.v;
	pf_extra_read(event, s->extra_of);
}

/* ---- sequences ---- */

/* Returns NULL at the limit, which is reported, or on OOM. */
static COLD struct pf_sequence *add_sequence(struct pf_state *st, uint64_t key)
{
	struct pf_sequence *s;

	if (st->nsequences == PF_MAX_SEQUENCES) {
		pf_report_limit(st, PF_FULL_SEQUENCES,
		                "more than %u sequences: packets of others are not read", PF_MAX_SEQUENCES);
		return NULL;
	}
	s = arena_zalloc(&st->arena, 1, sizeof *s);
	if (note_failure(&st->r->no_memory, s == NULL ||
	                                        !array_reserve(&st->sequences, st->nsequences,
	                                                       &st->sequences_cap, sizeof *st->sequences) ||
	                                        !table64_put(&st->sequence_index, key, st->nsequences)))
		return NULL;
	s->id = (uint32_t)key;
	s->machine = (uint32_t)(key >> 32);
	s->index = st->nsequences;
	s->generation = ++st->generations;
	st->sequences[st->nsequences++] = s;
	return s;
}

static inline struct pf_sequence *find_sequence(struct pf_state *st, const struct pf_packet *k)
{
	struct pf_sequence **const recent = &st->recent_sequences[k->sequence % PF_RECENT_SEQUENCES];

	if (*recent != NULL && (*recent)->id == k->sequence && (*recent)->machine == k->machine)
		return *recent;
	const uint64_t key = (uint64_t)k->machine << 32 | k->sequence;
	const uint32_t i = table64_get(&st->sequence_index, key);
	return *recent = i != TABLE_NONE ? st->sequences[i] : add_sequence(st, key);
}

static void reset_base(struct pf_state *st, struct pf_sequence *s)
{
	s->has_base = false;
	s->time_us = s->thread_us = s->instructions = 0;
	s->generation = ++st->generations;
}

static COLD void report_loss(struct pf_state *st, const struct pf_packet *k)
{
	static const char *const names[] = { "loss",      "read gap",       "corrupted data",
		                             "orphan",    "reassembly gap", "broken chain",
		                             "overwrite", "writer aborted", "buffer full" };
	char text[160] = "";
	size_t n = 0;

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if ((k->dropped >> i & 1) != 0)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n > 0 ? ", " : "", names[i]);
	pf_report(st, PF_RULE_LOSS, "sequence %" PRIu32 " lost packets: %s", k->sequence,
	          n > 0 ? text : "unknown");
	st->losses++;
}

static COLD void apply_flags(struct pf_state *st, struct pf_sequence *s, const struct pf_packet *k)
{
	const bool cleared = (k->flags & PF_CLEARED) != 0;

	if (k->dropped != 0) {
		if (s->any)
			report_loss(st, k);
		s->valid = false;
		reset_base(st, s);
	}
	if (!cleared)
		return;
	pf_undefined_end(st, s);
	pf_tables_empty(st, s);
	s->default_clock = 0;
	s->has_default_track = false;
	s->extra_of[0].n = s->extra_of[1].n = 0;
	reset_base(st, s);
	s->valid = true;
}

/* Reports state in a packet without a sequence. */
static COLD void check_no_sequence(struct pf_state *st, const struct pf_packet *k)
{
	const char *const what = (k->flags & PF_CLEARED) != 0 ? "a cleared state"
	                         : k->dropped != 0            ? "lost packets"
	                         : k->interned.p != NULL      ? "interned data"
	                         : k->defaults.p != NULL      ? "defaults"
	                                                      : NULL;

	if ((k->flags & PF_NEEDS) != 0)
		pf_report(st, PF_RULE_SEQ_ZERO, "the packet needs the state of sequence 0");
	if (what != NULL && !k->has_sequence)
		pf_report(st, PF_RULE_SEQ_STATE, "%s without trusted_packet_sequence_id", what);
}

bool pf_sequence_apply(struct pf_state *st, const struct pf_packet *k)
{
	if (k->sequence == 0 &&
	    (k->flags != 0 || k->dropped != 0 || k->interned.p != NULL || k->defaults.p != NULL))
		check_no_sequence(st, k);
	struct pf_sequence *const s = k->has_sequence ? find_sequence(st, k) : NULL;
	st->sequence = s;
	if (s == NULL)
		return !k->has_sequence;
	if ((k->flags & PF_CLEARED) != 0 || k->dropped != 0)
		apply_flags(st, s, k);
	s->any = true;
	if (k->defaults.p != NULL)
		read_defaults(s, k->defaults);
	if (k->interned.p != NULL && s->valid)
		read_interned(st, s, k->interned);
	else if (k->interned.p != NULL)
		pf_report(st, PF_RULE_INTERNED_EARLY,
		          "sequence %" PRIu32 ": interned data while the state is not valid", k->sequence);
	return true;
}

static void free_sequence(struct pf_sequence *s)
{
	for (int t = 0; s->tables != NULL && t < PF_TABLES; t++) {
		free(s->tables[t].list);
		table64_free(&s->tables[t].index);
	}
	free(s->tables);
	free(s->clocks);
}

void pf_sequences_free(struct pf_state *st)
{
	free_sequence(&st->heap);
	for (uint32_t i = 0; i < st->nsequences; i++)
		free_sequence(st->sequences[i]);
	free(st->sequences);
	table64_free(&st->sequence_index);
	tabletext_free(&st->texts);
}
