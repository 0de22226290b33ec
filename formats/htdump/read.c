#include "htdump/read.h"

#include <stdlib.h>

#include "htdump/apply.h"
#include "htdump/event.h"
#include "htdump/fast.h"
#include "htdump/finding.h"
#include "htdump/label_map.h"
#include "htdump/plan.h"
#include "htdump/prepare.h"
#include "htdump/probe.h"
#include "htdump/raw.h"

/*
 * HawkTracer .htdump ("HTDUMP format design"): events one after the other,
 * each a head of 20 bytes and the fields of its class, which an earlier pair
 * of description events laid out.  No lengths, no resynchronisation.
 */

#define HEAD_BYTES 65536U /* looked at for the layout, as the engine does for the format */
#define FIRST_RUNS 8U     /* the built-in classes have fewer */

/* ---- opening ---- */

static bool
set_up_trace(struct ht_state *st)
{
	struct trace *const trace = st->r->trace;

	trace->record_id = st->wire ? "id" : "event_id";
	trace->dialect = st->wire ? "wire" : "document";
	trace->byte_order = st->big ? "big" : "little";
	st->tracks.process = trace_add_process(trace, input_name(st->r->in));
	return st->tracks.process != NULL;
}

static void
find_layout(struct ht_state *st)
{
	const struct reader *const r = st->r;
	const size_t head = (size_t)(r->in->end - r->in->p);

	ht_probe_layout(slice_of(r->in->p, head < HEAD_BYTES ? head : HEAD_BYTES),
	                head < HEAD_BYTES && r->in->last, &st->wire, &st->guess_big);
	if (r->dialect != NULL)
		st->wire = strcmp(r->dialect, "wire") == 0;
}

/* A look-ahead pass reads the input as the reader does that asked for it, whatever its first window shows. */
static void
begin_ahead(struct ht_state *st, const struct ht_state *asking)
{
	st->ahead_of = asking->r->state;
	st->wire = asking->wire;
	st->guess_big = asking->guess_big;
}

static bool
ht_open(struct reader *r)
{
	struct ht_state *const st = r->state;
	const char *const map = option_find(r->options, "label-map");

	st->r = r;
	st->raw = (r->want & WANT_RAW) != 0;
	st->runs = st->raw && (r->want & WANT_RUNS) != 0;
	if (r->ahead_of != NULL)
		begin_ahead(st, r->ahead_of);
	else
		find_layout(st);
	if (!set_up_trace(st) || !ht_classes_init(st) || !ht_state_reserve(st, FIRST_RUNS))
		return false;
	return map == NULL || st->ahead_of != NULL || ht_label_map_read(st, map);
}

static void
ht_close(struct reader *r)
{
	struct ht_state *const st = r->state;

	ht_classes_free(&st->classes);
	ht_labels_free(&st->labels);
	table64_free(&st->tracks.threads);
	idset_free(&st->ids);
	free(st->starts);
	free(st->strings);
}

/* ---- one record ---- */

static void
check_id(struct ht_state *st, const struct ht_record *rec)
{
	/* Producers give these two no number of their own, only 0. */
	if (rec->c->kind == HT_KIND_ENDIANNESS || (rec->c->kind == HT_KIND_SYSTEM && rec->id == 0))
		return;
	if (idset_add(&st->ids, rec->id))
		finding_tally_add(&st->id_repeated, rec->offset, rec->ordinal, rec->id, 0);
}

static void
check(struct ht_state *st, const struct ht_record *rec)
{
	if (rec->bad_text)
		ht_record_report_text(st, rec);
	if (st->ahead_of == NULL)
		check_id(st, rec);
	if (!st->any_event && rec->c->kind != HT_KIND_ENDIANNESS)
		ht_finding_add(st, HT_RULE_NO_BYTE_ORDER, rec,
		               "the first event is of class %u; the file is read as little endian",
		               rec->c->id);
}

static void
count(struct ht_state *st, const struct ht_record *rec)
{
	st->any_event = true;
	st->r->records++;
	rec->c->cls->records++;
	st->r->trace->events += rec->c->kind == HT_KIND_EVENT;
}

static enum ht_outcome
cut(struct ht_state *st, const struct ht_record *rec)
{
	ht_record_report_cut(st, rec, st->r->in->end);
	return HT_BAD;
}

enum ht_outcome
ht_read_record(struct ht_state *st, struct batch *b)
{
	struct reader *const r = st->r;
	struct input *const in = r->in;
	struct ht_record rec = { .p = in->p, .offset = input_offset(in, in->p), .ordinal = r->records + 1 };

	if (in->end - in->p < HT_HEAD_SIZE)
		return in->last ? cut(st, &rec) : HT_MORE;
	if (!ht_record_head(st, &rec) || (rec.c->plan == NULL && !ht_class_prepare(st, &rec)))
		return HT_BAD;
	const enum ht_outcome outcome = ht_record_measure(st, &rec, in->end);
	if (outcome == HT_BAD || (outcome == HT_MORE && in->last))
		return cut(st, &rec);
	if (outcome == HT_MORE)
		return HT_MORE;
	const bool of_run = st->runs && st->any_event;
	check(st, &rec);
	if (rec.c->kind == HT_KIND_EVENT)
		ht_event_apply(st, &rec);
	else
		ht_structure_apply(st, &rec);
	count(st, &rec);
	if (!of_run && (r->want & rec.c->plan->want) != 0) {
		if (st->raw)
			ht_raw_add(st, &rec, b);
		else
			ht_event_add(st, &rec, b);
	}
	in->p = rec.end;
	return HT_DONE;
}

/* ---- the loop ---- */

static enum read_status
finish(struct ht_state *st, enum read_status status)
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

void
ht_read_more(struct ht_state *st)
{
	struct input *const in = st->r->in;

	/* a quarter more: a long record is not measured anew for each small piece that comes */
	input_need(in, (size_t)(in->end - in->p) + (size_t)(in->end - in->p) / 4 + 1);
}

/* The next record alone, or a run of those in the window, which ends where the window may move. */
static enum ht_outcome
read_run(struct ht_state *st, struct batch *b)
{
	struct input *const in = st->r->in;
	const char *const from = in->p;
	const uint64_t offset = input_offset(in, from), records = st->r->records;
	const uint32_t n = b->n;
	enum ht_outcome outcome = ht_read_record(st, b);

	if (!st->runs)
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

static enum read_status
ht_next(struct reader *r, struct batch *b)
{
	struct ht_state *const st = r->state;
	struct input *const in = r->in;
	const uint64_t start = input_offset(in, in->p);

	/* a record gives one event at most, so counting records bounds the batch; counting bytes bounds the
	 * buffers of a pipe that the batch holds */
	for (uint32_t room = b->cap;
	     room > 0 && b->nfields < HT_BATCH_FIELDS && input_offset(in, in->p) - start < HT_NEXT_BYTES;) {
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
			room--;
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
