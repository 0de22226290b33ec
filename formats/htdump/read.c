#include <stdlib.h>

#include "htdump/htdump.h"

/* ---- finding ---- */

const struct rule ht_rules[HT_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "htdump/rules.def"
#undef RULE
	{ .id = NULL }
};

void ht_finding_add(struct ht_state *st, enum ht_rule rule, const struct ht_record *rec, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &ht_rules[rule], rec->offset, rec->ordinal, fmt, ap);
	va_end(ap);
}

bool ht_finding_is_shown(const struct ht_state *st, enum ht_rule rule)
{
	return finding_is_shown(st->r->findings, &ht_rules[rule]);
}

/* ---- state ---- */

bool ht_state_reserve(struct ht_state *st, uint32_t n)
{
	if (n <= st->runs_cap)
		return true;
	const char **starts = realloc(st->starts, n * sizeof *starts);
	if (starts != NULL)
		st->starts = starts;
	struct slice *strings = realloc(st->strings, n * sizeof *strings);
	if (strings != NULL)
		st->strings = strings;
	if (starts == NULL || strings == NULL)
		return false;
	st->runs_cap = n;
	return true;
}

/* ---- record ---- */

/* What is wrong with a record where it lies. */

#define TEXT(s)                                                                                              \
	{                                                                                                    \
		(s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON                                                  \
	}

const struct class_field ht_head_fields[2][HT_HEAD_FIELDS] = {
	{ { TEXT("timestamp"), TEXT("u64"), VALUE_U64, 8, "ns" },
	  { TEXT("event_id"), TEXT("u64"), VALUE_U64, 8, NULL },
	  { TEXT("klass_id"), TEXT("u32"), VALUE_U32, 4, NULL } },
	{ { TEXT("klass_id"), TEXT("u32"), VALUE_U32, 4, NULL },
	  { TEXT("timestamp"), TEXT("u64"), VALUE_U64, 8, "ns" },
	  { TEXT("id"), TEXT("u64"), VALUE_U64, 8, NULL } },
};

void ht_record_report_class(struct ht_state *st, const struct ht_record *rec, uint32_t klass)
{
	ht_finding_add(st, HT_RULE_UNKNOWN_CLASS, rec, "class %u was not described", klass);
}

/* ---- records that do not end ---- */

/* A string of the record where it should be, moved over.  false: it was reported that there is none. */
static bool take_string(struct ht_state *st, const struct ht_record *rec, struct cursor *c, const char *name)
{
	const bool bounded = cursor_left(c) > HT_MAX_STRING;
	struct slice s;
	struct quoted q;

	if (c->p - rec->p > HT_MAX_RECORD) {
		ht_finding_add(st, HT_RULE_LIMIT, rec,
		               "%s of class %s begins more than 8 MiB after the start of its event", name,
		               quoted(&q, rec->c->name));
		return false;
	}
	if (textscan_cstring(c->p, bounded ? c->p + HT_MAX_STRING : c->end, &s)) {
		cursor_take(c, s.n + 1, name);
		return true;
	}
	ht_finding_add(st, HT_RULE_STRING_UNTERMINATED, rec,
	               "%s of class %s has no NUL in the remaining %" PRIu64 " bytes%s", name,
	               quoted(&q, rec->c->name), (uint64_t)cursor_left(c),
	               bounded ? ", the first 4 MiB were searched" : "");
	return false;
}

static void report_lacking(struct ht_state *st, const struct ht_record *rec, const struct cursor *c)
{
	struct quoted q = { .s = "" };

	if (rec->c != NULL)
		quoted(&q, rec->c->name);
	if (!st->r->in->last) /* there is more, but no end to it */
		ht_finding_add(st, HT_RULE_LIMIT, rec, "an event of class %s has more than 8 MiB of numbers",
		               q.s);
	else
		ht_finding_add(st, HT_RULE_CUT_RECORD, rec,
		               "field %s%s%s ends %" PRIu64
		               " byte%s short: %zu of the event's bytes are there",
		               c->missing != NULL ? c->missing : "?", rec->c != NULL ? " of class " : "", q.s,
		               c->missing_bytes, c->missing_bytes == 1 ? "" : "s", (size_t)(c->end - rec->p));
}

/* Reports in which field of the record the input ends, or which string has no end. */
static void ht_record_report_cut(struct ht_state *st, const struct ht_record *rec, const char *end)
{
	const struct class_field *const head = ht_head_fields[st->wire];
	struct cursor c = cursor_on(rec->p, end, false);
	struct quoted name;

	for (int i = 0; i < HT_HEAD_FIELDS; i++)
		cursor_take(&c, head[i].size, head[i].name.p);
	for (uint32_t i = 0; c.missing == NULL && i < rec->c->plan->nleaves; i++) {
		const struct ht_leaf *const l = &rec->c->plan->leaves[i];
		quoted(&name, l->name);
		if (l->value != VALUE_STRING)
			cursor_take(&c, l->size, name.s);
		else if (!take_string(st, rec, &c, name.s))
			return;
	}
	report_lacking(st, rec, &c);
}

/* Reports the strings that are not UTF-8. */
static void ht_record_report_text(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct quoted q, q2, q3;

	for (uint32_t i = 0; i < plan->nleaves; i++) {
		if (plan->leaves[i].value != VALUE_STRING)
			continue;
		const struct slice s = ht_leaf_string(st, &plan->leaves[i]);
		if ((s.flags & SLICE_UTF8) != 0)
			continue;
		if (ht_finding_is_shown(st, HT_RULE_INVALID_UTF8))
			ht_finding_add(st, HT_RULE_INVALID_UTF8, rec, "%s of class %s is %s",
			               quoted(&q, plan->leaves[i].name), quoted(&q2, rec->c->name),
			               quoted(&q3, s));
		else
			ht_finding_add(st, HT_RULE_INVALID_UTF8, rec, "not shown");
	}
}

/* ---- apply ---- */

/* "it holds from the next event on" */
static void set_byte_order(struct ht_state *st, const struct ht_record *rec)
{
	struct trace *const trace = st->r->trace;
	const uint8_t order = (uint8_t)st->starts[0][0];
	const bool was = st->big, otherwise = st->any_event ? was : st->guess_big;

	if (order > 1)
		finding_add(st->r->findings, &ht_rules[HT_RULE_BAD_BYTE_ORDER], rec->offset + HT_HEAD_SIZE,
		            rec->ordinal, "endianness is %u; the file is read as %s endian", order,
		            otherwise ? "big" : "little");
	st->big = order <= 1 ? order == 1 : otherwise;
	if (!st->any_event)
		trace->byte_order = st->big ? "big" : "little";
	else if (was != st->big)
		trace->byte_order = "mixed";
	if (st->any_event) {
		ht_describe_restart(st);
		idset_free(&st->ids);
	}
}

static void learn_version(struct ht_state *st, const struct ht_record *rec)
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

static void learn_mapping(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct ht_state *const to = st->ahead_of != NULL ? st->ahead_of : st;

	ht_label_add(to, ht_leaf_integer(st, &plan->leaves[plan->identifier]),
	             ht_leaf_string(st, &plan->leaves[plan->name]),
	             st->ahead_of != NULL ? HT_LABEL_AHEAD : HT_LABEL_MET, rec);
	st->no_memory |= to->no_memory;
}

void ht_report_overflow(struct ht_state *st, const struct ht_record *rec)
{
	ht_finding_add(st, HT_RULE_DURATION_OVERFLOW, rec, "timestamp %" PRIu64 " plus duration %" PRIu64,
	               rec->ts, rec->dur);
}

/* What a record that is no event, its parts in the state, changes in the state and the trace: byte order,
 * descriptions, names of labels, the version. */
static void ht_structure_apply(struct ht_state *st, const struct ht_record *rec)
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
		learn_mapping(st, rec);
		break;
	case HT_KIND_SYSTEM:
		learn_version(st, rec);
		break;
	case HT_KIND_EVENT:
	case HT_KIND_STRUCTURE:
	case HT_KIND_BARE:
		break;
	}
}

/* ---- read ---- */

/*
 * HawkTracer .htdump ("HTDUMP format design"): events one after the other,
 * each a head of 20 bytes and the fields of its class, which an earlier pair
 * of description events laid out.  No lengths, no resynchronisation.
 */

#define HEAD_BYTES 65536U /* looked at for the layout, as the engine does for the format */
#define FIRST_RUNS 8U     /* the built-in classes have fewer */

/* ---- opening ---- */

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
	const size_t head = (size_t)(r->in->end - r->in->p);

	ht_probe_layout(slice_of(r->in->p, head < HEAD_BYTES ? head : HEAD_BYTES),
	                head < HEAD_BYTES && r->in->last, &st->wire, &st->guess_big);
	if (r->dialect != NULL)
		st->wire = strcmp(r->dialect, "wire") == 0;
}

/* A look-ahead pass reads the input as the reader does that asked for it, whatever its first window shows. */
static void begin_ahead(struct ht_state *st, const struct ht_state *asking)
{
	st->ahead_of = asking->r->state;
	st->wire = asking->wire;
	st->guess_big = asking->guess_big;
}

static bool ht_open(struct reader *r)
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

/* ---- one record ---- */

static void check_id(struct ht_state *st, const struct ht_record *rec)
{
	/* Producers give these two no number of their own, only 0. */
	if (rec->c->kind == HT_KIND_ENDIANNESS || (rec->c->kind == HT_KIND_SYSTEM && rec->id == 0))
		return;
	if (idset_add(&st->ids, rec->id))
		finding_tally_add(&st->id_repeated, rec->offset, rec->ordinal, rec->id, 0);
}

static void check(struct ht_state *st, const struct ht_record *rec)
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

static void count(struct ht_state *st, const struct ht_record *rec)
{
	st->any_event = true;
	st->r->records++;
	rec->c->cls->records++;
	st->r->trace->events += rec->c->kind == HT_KIND_EVENT;
}

static enum ht_outcome cut(struct ht_state *st, const struct ht_record *rec)
{
	ht_record_report_cut(st, rec, st->r->in->end);
	return HT_BAD;
}

enum ht_outcome ht_read_record(struct ht_state *st, struct batch *b)
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

void ht_read_more(struct ht_state *st)
{
	struct input *const in = st->r->in;

	/* a quarter more: a long record is not measured anew for each small piece that comes */
	input_need(in, (size_t)(in->end - in->p) + (size_t)(in->end - in->p) / 4 + 1);
}

/* The next record alone, or a run of those in the window, which ends where the window may move. */
static enum ht_outcome read_run(struct ht_state *st, struct batch *b)
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

static enum read_status ht_next(struct reader *r, struct batch *b)
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
