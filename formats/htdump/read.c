/*
 * The reader: frames and checks one record at a time, applies structure records, and fills batches.  A class
 * must be described before its first record, since only its fields give the length of the record.
 */
#include "htdump/htdump.h"

#include <stdlib.h>

#define FIRST_BLOCKS 8U /* more than the built-in classes have */

/* Rare paths, kept out of ht_read_record(): inlined, their buffers cost it 9 % more instructions per record.
 */
#define COLD __attribute__((cold, noinline))

/* ---- opening ---- */

bool ht_state_reserve(struct ht_state *st, uint32_t n)
{
	if (n <= st->blocks_cap)
		return true;
	const char **starts = realloc(st->starts, n * sizeof *starts);
	if (starts != NULL)
		st->starts = starts;
	struct slice *strings = realloc(st->strings, n * sizeof *strings);
	if (strings != NULL)
		st->strings = strings;
	if (starts == NULL || strings == NULL)
		return false;
	st->blocks_cap = n;
	return true;
}

static bool set_up_trace(struct ht_state *st)
{
	struct trace *const trace = st->r->trace;

	trace->record_id = st->wire ? "id" : "event_id";
	trace->dialect = st->wire ? "wire" : "document";
	trace->byte_order = st->big ? "big" : "little";
	st->tracks.process = trace_add_process(trace, input_name(st->r->in));
	return st->tracks.process != NULL;
}

static void find_layout(struct ht_state *st)
{
	const struct reader *const r = st->r;

	/* The format may have been detected from fewer bytes; the layout must not depend on the arrival of
	 * the bytes. */
	(void)input_need(r->in, HT_PROBE_BYTES);
	const size_t n = (size_t)(r->in->end - r->in->p);
	ht_probe_layout(slice_of(r->in->p, n < HT_PROBE_BYTES ? n : HT_PROBE_BYTES),
	                n < HT_PROBE_BYTES && r->in->last, &st->wire, &st->guess_big);
	if (r->dialect != NULL)
		st->wire = strcmp(r->dialect, "wire") == 0;
}

static bool ht_open(struct reader *r)
{
	const struct ht_state *const ahead_of = r->ahead_of;
	struct ht_state *const st = r->state;
	const char *const map = option_find(r->options, "label-map");

	st->r = r;
	st->raw = (r->want & WANT_RAW) != 0;
	st->raw_runs = st->raw && (r->want & WANT_RUNS) != 0;
	if (ahead_of != NULL) {
		/* Same layout as the first pass, whatever the first window of this pass shows. */
		st->ahead_of = ahead_of->r->state;
		st->wire = ahead_of->wire;
		st->guess_big = ahead_of->guess_big;
	} else {
		find_layout(st);
	}
	if (!set_up_trace(st) || !ht_classes_init(st) || !ht_state_reserve(st, FIRST_BLOCKS))
		return false;
	return map == NULL || ahead_of != NULL || ht_label_map_read(st, map);
}

static void ht_close(struct reader *r)
{
	struct ht_state *const st = r->state;

	ht_classes_free(&st->classes);
	ht_labels_free(&st->labels);
	table64_free(&st->tracks.threads);
	idset_free(&st->ids);
	free(st->starts);
	free(st->strings);
}

/* ---- framing ---- */

/* Reads the head of the record at rec->p.  Returns false after a finding: the class is unknown. */
static inline bool read_head(struct ht_state *st, struct ht_record *rec)
{
	const uint32_t id = load_u32(rec->p + ht_class_id_at(st->wire), st->big);

	rec->c = ht_class_find(&st->classes, id);
	if (rec->c == NULL) {
		ht_report(st, HT_RULE_UNKNOWN_CLASS, rec, "class %u was not described", id);
		return false;
	}
	rec->ts = load_u64(rec->p + ht_time_at(st->wire), st->big);
	rec->id = load_u64(rec->p + ht_event_id_at(st->wire), st->big);
	return true;
}

/* Finds the blocks of a record and its end.  HT_BAD: the record exceeds a limit; report_cut() says which. */
static inline enum ht_outcome measure_record(struct ht_state *st, struct ht_record *rec, const char *end)
{
	const struct ht_plan *const plan = rec->c->plan;
	const char *p = rec->p + HT_HEAD_SIZE;

	for (uint32_t i = 0; i < plan->nblocks; i++) {
		const struct ht_block block = plan->blocks[i];
		if (block.fixed > (size_t)(end - p))
			return (uint64_t)(p - rec->p) + block.fixed > HT_MAX_RECORD ? HT_BAD : HT_MORE;
		st->starts[i] = p;
		p += block.fixed;
		if (block.string == 0)
			continue;
		if (p - rec->p > HT_MAX_RECORD)
			return HT_BAD;
		const size_t left = (size_t)(end - p);
		if (!textscan_cstring(p, left > HT_MAX_STRING ? p + HT_MAX_STRING : end, &st->strings[i]))
			return left >= HT_MAX_STRING ? HT_BAD : HT_MORE;
		if ((st->strings[i].flags & SLICE_UTF8) == 0)
			rec->bad_text = true;
		p += st->strings[i].n + 1;
	}
	rec->end = p;
	return HT_DONE;
}

/* Moves the cursor past a string of the record.  Returns false after a finding: the string has no end. */
static bool skip_string(struct ht_state *st, const struct ht_record *rec, struct cursor *c, const char *name)
{
	const bool bounded = cursor_left(c) > HT_MAX_STRING;
	struct slice s;
	struct quoted q;

	if (c->p - rec->p > HT_MAX_RECORD) {
		ht_report(st, HT_RULE_LIMIT, rec,
		          "%s of class %s begins more than 8 MiB after the start of its event", name,
		          quoted(&q, rec->c->name));
		return false;
	}
	if (textscan_cstring(c->p, bounded ? c->p + HT_MAX_STRING : c->end, &s)) {
		cursor_take(c, s.n + 1, name);
		return true;
	}
	ht_report(st, HT_RULE_STRING_UNTERMINATED, rec,
	          "%s of class %s has no NUL in the remaining %" PRIu64 " bytes%s", name,
	          quoted(&q, rec->c->name), (uint64_t)cursor_left(c),
	          bounded ? ", the first 4 MiB were searched" : "");
	return false;
}

/* Reports the field in which the input ends, or the string that has no end. */
static COLD enum ht_outcome report_cut(struct ht_state *st, const struct ht_record *rec)
{
	const struct class_field *const head = ht_head_fields[st->wire];
	struct cursor c = cursor_on(rec->p, st->r->in->end, false);
	struct quoted name, class_name = { .s = "" };

	for (int i = 0; i < HT_HEAD_FIELDS; i++)
		cursor_take(&c, head[i].size, head[i].name.p);
	for (uint32_t i = 0; c.missing == NULL && i < rec->c->plan->nleaves; i++) {
		const struct ht_leaf *const l = &rec->c->plan->leaves[i];
		quoted(&name, l->name);
		if (l->value != VALUE_STRING)
			cursor_take(&c, l->size, name.s);
		else if (!skip_string(st, rec, &c, name.s))
			return HT_BAD;
	}
	if (rec->c != NULL)
		quoted(&class_name, rec->c->name);
	if (!st->r->in->last) /* the input goes on, so a limit was exceeded */
		ht_report(st, HT_RULE_LIMIT, rec, "an event of class %s has more than 8 MiB of numbers",
		          class_name.s);
	else
		ht_report(st, HT_RULE_CUT_RECORD, rec,
		          "field %s%s%s ends %" PRIu64 " byte%s short: %zu of the event's bytes are there",
		          c.missing != NULL ? c.missing : "?", rec->c != NULL ? " of class " : "",
		          class_name.s, c.missing_bytes, c.missing_bytes == 1 ? "" : "s",
		          (size_t)(c.end - rec->p));
	return HT_BAD;
}

/* ---- checks ---- */

static COLD void report_text(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct quoted q, q2, q3;

	for (uint32_t i = 0; i < plan->nleaves; i++) {
		if (plan->leaves[i].value != VALUE_STRING)
			continue;
		const struct slice s = ht_leaf_string(st, &plan->leaves[i]);
		if ((s.flags & SLICE_UTF8) != 0)
			continue;
		if (finding_is_shown(st->r->findings, &ht_rules[HT_RULE_INVALID_UTF8]))
			ht_report(st, HT_RULE_INVALID_UTF8, rec, "%s of class %s is %s",
			          quoted(&q, plan->leaves[i].name), quoted(&q2, rec->c->name),
			          quoted(&q3, s));
		else
			ht_report(st, HT_RULE_INVALID_UTF8, rec, "not shown");
	}
}

static void check_id(struct ht_state *st, const struct ht_record *rec)
{
	/* Producers do not number these two: their id is always 0. */
	if (rec->c->kind == HT_KIND_ENDIANNESS || (rec->c->kind == HT_KIND_SYSTEM && rec->id == 0))
		return;
	if (idset_add(&st->ids, rec->id))
		finding_tally_add(&st->id_repeated, rec->offset, rec->ordinal, rec->id, 0);
}

static void check_record(struct ht_state *st, const struct ht_record *rec)
{
	if (rec->bad_text)
		report_text(st, rec);
	if (st->ahead_of == NULL)
		check_id(st, rec);
	if (!st->started && rec->c->kind != HT_KIND_ENDIANNESS)
		ht_report(st, HT_RULE_NO_BYTE_ORDER, rec,
		          "the first event is of class %u; the file is read as little endian", rec->c->id);
}

/* ---- structure ---- */

/* Applies an EndiannessInfoEvent, which sets the byte order of the following records. */
static void set_byte_order(struct ht_state *st, const struct ht_record *rec)
{
	struct trace *const trace = st->r->trace;
	const uint8_t order = (uint8_t)st->starts[0][0];
	const bool before = st->big, fallback = st->started ? before : st->guess_big;

	if (order > 1)
		finding_add(st->r->findings, &ht_rules[HT_RULE_BAD_BYTE_ORDER], rec->offset + HT_HEAD_SIZE,
		            rec->ordinal, "endianness is %u; the file is read as %s endian", order,
		            fallback ? "big" : "little");
	st->big = order <= 1 ? order == 1 : fallback;
	if (!st->started)
		trace->byte_order = st->big ? "big" : "little";
	else if (before != st->big)
		trace->byte_order = "mixed";
	if (st->started) {
		/* A concatenated dump, which may describe classes again.  Counting streams is O(1); marking
		 * each class would not be, and hostile input has many classes and many of these records. */
		st->classes.stream++;
		idset_free(&st->ids);
	}
}

/* Adds a component and its version, "1.2.3", to the facts of the trace.  The first one wins. */
static void add_version(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct trace *const trace = st->r->trace;
	char text[80];
	size_t n = 0;

	for (uint32_t i = 0; i < trace->nmeta; i++)
		if (slice_equal(trace->meta[i].name, rec->c->version))
			return;
	for (uint32_t i = 0; i < plan->nleaves && i < 3 && ht_leaf_is_integer(&plan->leaves[i]); i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRIu64, i > 0 ? "." : "",
		                      ht_leaf_integer(st, &plan->leaves[i]));
	const struct slice version = { text, (uint32_t)n, SLICE_UTF8 | SLICE_JSON };
	st->no_memory |= !trace_add_meta(trace, rec->c->version, value_string(version));
}

static void add_mapping(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct ht_state *const to = st->ahead_of != NULL ? st->ahead_of : st;

	ht_label_add(to, ht_leaf_integer(st, &plan->leaves[plan->identifier]),
	             ht_leaf_string(st, &plan->leaves[plan->name]),
	             st->ahead_of != NULL ? HT_LABEL_AHEAD : HT_LABEL_RECORD, rec);
	st->no_memory |= to->no_memory;
}

static COLD void apply_structure(struct ht_state *st, const struct ht_record *rec)
{
	switch ((enum ht_kind)rec->c->kind) {
	case HT_KIND_ENDIANNESS:
		set_byte_order(st, rec);
		break;
	case HT_KIND_INFO:
		ht_describe_class(st, rec);
		break;
	case HT_KIND_FIELD:
		ht_describe_field(st, rec);
		break;
	case HT_KIND_MAPPING:
		add_mapping(st, rec);
		break;
	case HT_KIND_SYSTEM:
		add_version(st, rec);
		break;
	case HT_KIND_EVENT:
	case HT_KIND_STRUCTURE:
	case HT_KIND_BASE:
		break;
	}
}

/* Sets the duration and the label of an event. */
static inline void apply_event(struct ht_state *st, struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;

	if (plan->duration != HT_NO_LEAF) {
		rec->dur = ht_leaf_integer(st, &plan->leaves[plan->duration]);
		if (rec->dur > UINT64_MAX - rec->ts)
			ht_report(st, HT_RULE_DURATION_OVERFLOW, rec,
			          "timestamp %" PRIu64 " plus duration %" PRIu64, rec->ts, rec->dur);
	}
	if (plan->label != HT_NO_LEAF && st->ahead_of == NULL)
		st->label_name = ht_label_find(st, ht_leaf_integer(st, &plan->leaves[plan->label]), rec);
}

/* ---- the loop ---- */

enum ht_outcome ht_read_record(struct ht_state *st, struct batch *b)
{
	struct reader *const r = st->r;
	struct input *const in = r->in;
	struct ht_record rec = { .p = in->p, .offset = input_offset(in, in->p), .ordinal = r->records + 1 };

	if (in->end - in->p < HT_HEAD_SIZE)
		return in->last ? report_cut(st, &rec) : HT_MORE;
	if (!read_head(st, &rec) || (rec.c->plan == NULL && !ht_class_prepare(st, &rec)))
		return HT_BAD;
	const enum ht_outcome outcome = measure_record(st, &rec, in->end);
	if (outcome == HT_BAD || (outcome == HT_MORE && in->last))
		return report_cut(st, &rec);
	if (outcome == HT_MORE)
		return HT_MORE;
	const bool in_run = st->raw_runs && st->started;
	check_record(st, &rec);
	if (rec.c->kind == HT_KIND_EVENT)
		apply_event(st, &rec);
	else
		apply_structure(st, &rec);
	st->started = true;
	r->records++;
	rec.c->cls->records++;
	r->trace->events += rec.c->kind == HT_KIND_EVENT;
	if (!in_run && (r->want & rec.c->plan->want) != 0) {
		if (st->raw)
			ht_raw_add(st, &rec, b);
		else
			ht_event_add(st, &rec, b);
	}
	in->p = rec.end;
	return HT_DONE;
}

void ht_read_more(struct ht_state *st)
{
	struct input *const in = st->r->in;

	/* A quarter more, so that a long record on a pipe is not measured again for each small piece. */
	input_need(in, (size_t)(in->end - in->p) + (size_t)(in->end - in->p) / 4 + 1);
}

/* Reads the next record; with WANT_RUNS, all records up to where the window may move, as one event. */
static enum ht_outcome read_run(struct ht_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const char *const from = in->p;
	const uint64_t offset = input_offset(in, from), records = st->r->records;
	const uint32_t n = b->n;
	enum ht_outcome outcome = ht_read_record(st, b);

	if (!st->raw_runs)
		return outcome;
	while (outcome == HT_DONE && b->n == n && in->p < in->end && in->p - from < HT_NEXT_BYTES / 4 &&
	       !st->no_memory && !st->ids.failed) {
		ht_read_fast(st, HT_NEXT_BYTES / 4);
		outcome = in->p < in->end && !st->ids.failed ? ht_read_record(st, b) : HT_DONE;
	}
	if (in->p > from && b->n == n)
		ht_raw_add_run(st, slice_of(from, (size_t)(in->p - from)), offset, st->r->records - records,
		               b);
	return outcome;
}

/* Reports the findings that are counted over the whole input. */
static enum read_status finish(struct ht_state *st, enum read_status status)
{
	const struct finding_tally *t = &st->id_repeated;

	finding_add_times(st->r->findings, &ht_rules[HT_RULE_ID_REPEATED], t->offset, t->record, t->count,
	                  "event id %" PRIu64 " is repeated", t->now);
	t = &st->labels.unresolved;
	if (st->classes.has_mapping)
		finding_add_times(st->r->findings, &ht_rules[HT_RULE_LABEL_UNRESOLVED], t->offset, t->record,
		                  t->count, "label %" PRIu64 " has no name%s", t->now,
		                  st->labels.one_pass ? " yet, and the input cannot be read twice" : "");
	return status;
}

static enum read_status ht_next(struct reader *r, struct batch *b)
{
	struct ht_state *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);

	/* Counting records bounds the events of a batch, since a record gives at most one.  Counting bytes
	 * bounds the buffers of a pipe that the batch retains. */
	for (uint32_t left = b->cap;
	     left > 0 && b->nfields < HT_BATCH_FIELDS && input_offset(in, in->p) - start < HT_NEXT_BYTES;) {
		if (r->want == WANT_FINDINGS)
			ht_read_fast(st, HT_NEXT_BYTES);
		if (in->p == in->end && (in->last || !input_more(in)))
			return finish(st, READ_END);
		const uint32_t before = b->n;
		const enum ht_outcome outcome = read_run(st, b);
		if (st->no_memory || st->ids.failed)
			return READ_NO_MEMORY;
		if (outcome == HT_BAD) {
			r->unread = input_drain(in);
			return finish(st, READ_BAD);
		}
		if (outcome == HT_DONE || b->n > before)
			left--;
		if (outcome == HT_MORE)
			ht_read_more(st);
	}
	return READ_MORE;
}

const struct reader_ops ht_reader_ops = {
	.state_size = sizeof(struct ht_state),
	.probe = ht_probe,
	.open = ht_open,
	.next = ht_next,
	.close = ht_close,
};
