#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "htdump/htdump_state.h"

/*
 * HawkTracer .htdump ("HTDUMP format design"): events one after the other,
 * each a head of 20 bytes and the fields of its class, which an earlier pair
 * of description events laid out.  No lengths, no resynchronisation.
 */

void
ht_find(struct ht_state *st, enum ht_rule rule, const struct ht_record *rec, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &ht_rules[rule], rec->offset, rec->ordinal, fmt, ap);
	va_end(ap);
}

bool
ht_state_reserve_steps(struct ht_state *st, uint32_t n)
{
	if (n <= st->steps_cap)
		return true;
	const char **starts = realloc(st->starts, n * sizeof *starts);
	if (starts != NULL)
		st->starts = starts;
	struct slice *strings = realloc(st->strings, n * sizeof *strings);
	if (strings != NULL)
		st->strings = strings;
	if (starts == NULL || strings == NULL)
		return false;
	st->steps_cap = n;
	return true;
}

/* ---- opening ---- */

static bool
set_up_trace(struct ht_state *st)
{
	struct trace *const trace = st->r->trace;
	const struct slice name = input_name(st->r->in);

	trace->dialect = st->wire ? "wire" : "document";
	trace->byte_order = st->big ? "big" : "little";
	struct track *const process = trace_add_process(trace, name);
	st->process = process;
	return process != NULL;
}

static void
find_layout(struct ht_state *st)
{
	const struct reader *const r = st->r;
	const size_t head = (size_t)(r->in->end - r->in->p);

	ht_probe_layout(slice_of(r->in->p, head < 65536 ? head : 65536), head < 65536 && r->in->last,
	                &st->wire, &st->guess_big);
	if (r->dialect != NULL)
		st->wire = strcmp(r->dialect, "wire") == 0;
}

/* A look-ahead pass reads the input as the reader does that asked for it, whatever its first window shows. */
static void
begin_ahead(struct ht_state *st, const struct ht_state *asking)
{
	st->ahead_of = asking->r->state;
	st->looked_ahead = true; /* it looks no further itself */
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
	if (r->ahead_of != NULL)
		begin_ahead(st, r->ahead_of);
	else
		find_layout(st);
	if (!set_up_trace(st) || !ht_classes_init(st) || !ht_state_reserve_steps(st, 8))
		return false;
	return map == NULL || st->ahead_of != NULL || ht_label_map_read(st, map);
}

static void
ht_close(struct reader *r)
{
	struct ht_state *const st = r->state;

	ht_classes_free(st);
	ht_mappings_free(&st->mappings);
	idset_free(&st->ids);
	table64_free(&st->threads);
	free(st->starts);
	free(st->strings);
}

/* ---- measuring a record ---- */

/* Finds the parts of a record behind its head.  HT_MORE: the window ends inside it. */
static enum ht_outcome
measure(struct ht_state *st, struct ht_record *rec, const char *end)
{
	const struct ht_plan *const plan = rec->c->plan;
	const char *p = rec->p + HT_HEAD_SIZE;

	for (uint32_t i = 0; i < plan->nsteps; i++) {
		const struct ht_step step = plan->steps[i];
		if (step.fixed > (size_t)(end - p))
			return (uint64_t)(p - rec->p) + step.fixed > HT_MAX_RECORD ? HT_BAD : HT_MORE;
		st->starts[i] = p;
		p += step.fixed;
		if (step.string == 0)
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

/* Says in which field of the record the input ends, or which string has no end. */
static enum ht_outcome
say_cut(struct ht_state *st, const struct ht_record *rec, const char *end)
{
	const struct class_field *const head = ht_head_fields[st->wire];
	struct cursor c = cursor_on(rec->p, end, false);
	const char *const class_name = rec->c != NULL ? rec->c->name.p : "";
	struct quoted q, q2;
	char name[320];

	for (int i = 0; i < HT_HEAD_FIELDS; i++)
		cursor_take(&c, head[i].size, head[i].name.p);
	for (uint32_t i = 0; c.missing == NULL && i < rec->c->plan->nleaves; i++) {
		const struct ht_leaf *const l = &rec->c->plan->leaves[i];
		struct slice s;
		snprintf(name, sizeof name, "%s", quoted(&q, l->name));
		if (l->value != VALUE_STRING) {
			cursor_take(&c, l->size, name);
			continue;
		}
		if (c.p - rec->p > HT_MAX_RECORD) {
			ht_find(st, HT_RULE_LIMIT, rec,
			        "%s of class %s begins more than 8 MiB behind the start of its event", name,
			        quoted(&q2, slice_str(class_name)));
			return HT_BAD;
		}
		const bool bounded = cursor_left(&c) > HT_MAX_STRING;
		if (textscan_cstring(c.p, bounded ? c.p + HT_MAX_STRING : end, &s)) {
			cursor_take(&c, s.n + 1, name);
			continue;
		}
		ht_find(st, HT_RULE_STRING_UNTERMINATED, rec,
		        "%s of class %s has no NUL in the %" PRIu64 " bytes that are left%s", name,
		        quoted(&q2, slice_str(class_name)), (uint64_t)cursor_left(&c),
		        bounded ? ", the first 4 MiB were searched" : "");
		return HT_BAD;
	}
	if (!st->r->in->last) { /* there is more, but no end to it */
		ht_find(st, HT_RULE_LIMIT, rec, "an event of class %s has more than 8 MiB of numbers",
		        quoted(&q2, slice_str(class_name)));
		return HT_BAD;
	}
	ht_find(st, HT_RULE_CUT_RECORD, rec,
	        "field %s%s%s ends %" PRIu64 " byte%s short: %zu of the event's bytes are there",
	        c.missing != NULL ? c.missing : "?", rec->c != NULL ? " of class " : "",
	        rec->c != NULL ? quoted(&q2, rec->c->name) : "", c.missing_bytes,
	        c.missing_bytes == 1 ? "" : "s", (size_t)(end - rec->p));
	return HT_BAD;
}

/* ---- checking what every record has ---- */

static void
check_id(struct ht_state *st, const struct ht_record *rec)
{
	/* Producers give these two no number of their own, only 0. */
	if (rec->c->kind == HT_KIND_ENDIANNESS || (rec->c->kind == HT_KIND_SYSTEM && rec->id == 0))
		return;
	if (idset_add(&st->ids, rec->id))
		finding_tally_add(&st->id_repeated, rec->offset, rec->ordinal, rec->id, 0);
	else if (rec->id < st->last_id)
		finding_tally_add(&st->id_backwards, rec->offset, rec->ordinal, rec->id, st->last_id);
	st->last_id = rec->id;
}

static void
say_bad_text(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct quoted q, q2, q3;

	for (uint32_t i = 0; i < plan->nleaves; i++) {
		if (plan->leaves[i].value != VALUE_STRING)
			continue;
		const struct slice s = ht_leaf_string(st, &plan->leaves[i]);
		if ((s.flags & SLICE_UTF8) != 0)
			continue;
		if (!finding_is_shown(st->r->findings, &ht_rules[HT_RULE_INVALID_UTF8]))
			ht_find(st, HT_RULE_INVALID_UTF8, rec, "not shown");
		else
			ht_find(st, HT_RULE_INVALID_UTF8, rec, "%s of class %s is %s",
			        quoted(&q, plan->leaves[i].name), quoted(&q2, rec->c->name), quoted(&q3, s));
	}
}

static void
check_duration(struct ht_state *st, const struct ht_record *rec)
{
	if (rec->dur > UINT64_MAX - rec->ts)
		ht_find(st, HT_RULE_DURATION_OVERFLOW, rec, "timestamp %" PRIu64 " plus duration %" PRIu64,
		        rec->ts, rec->dur);
}

/* ---- what records do ---- */

/* "it holds from the next event on" */
static void
set_byte_order(struct ht_state *st, const struct ht_record *rec)
{
	struct trace *const trace = st->r->trace;
	const uint8_t order = (uint8_t)st->starts[0][0];
	const bool was = st->big;

	if (order > 1)
		finding_add(st->r->findings, &ht_rules[HT_RULE_BAD_BYTE_ORDER], rec->offset + HT_HEAD_SIZE,
		            rec->ordinal, "endianness is %u; the file is read as %s endian", order,
		            (st->any_event ? was : st->guess_big) ? "big" : "little");
	st->big = order <= 1 ? order == 1 : st->any_event ? was : st->guess_big;
	if (!st->any_event)
		trace->byte_order = st->big ? "big" : "little";
	else if (was != st->big)
		trace->byte_order = "mixed";
	if (st->any_event) {
		ht_classes_restart(st);
		idset_free(&st->ids);
		st->last_id = 0;
	}
}

static enum ht_outcome
learn_version(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct trace *const trace = st->r->trace;
	char text[80];
	size_t n = 0;

	for (uint32_t i = 0; i < trace->nmeta; i++)
		if (slice_equal(trace->meta[i].name, rec->c->version))
			return HT_DONE;
	for (uint32_t i = 0; i < plan->nleaves && i < 3 && ht_value_is_integer(plan->leaves[i].value); i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRIu64, i > 0 ? "." : "",
		                      ht_leaf_integer(st, &plan->leaves[i]));
	const struct slice version = { text, (uint32_t)n, SLICE_UTF8 | SLICE_JSON };
	return trace_add_meta(trace, rec->c->version, value_string(version)) ? HT_DONE : HT_NO_MEMORY;
}

static enum ht_outcome
learn_mapping(struct ht_state *st, const struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;
	struct ht_state *const to = st->ahead_of != NULL ? st->ahead_of : st;

	return ht_mapping_add(to, ht_leaf_integer(st, &plan->leaves[plan->identifier]),
	                      ht_leaf_string(st, &plan->leaves[plan->name]),
	                      st->ahead_of != NULL ? HT_LABEL_AHEAD : HT_LABEL_MET, rec);
}

static enum ht_outcome
act(struct ht_state *st, struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;

	switch ((enum ht_kind)rec->c->kind) {
	case HT_KIND_ENDIANNESS:
		set_byte_order(st, rec);
		return HT_DONE;
	case HT_KIND_INFO:
		return ht_describe_class(st, rec);
	case HT_KIND_FIELD:
		return ht_describe_field(st, rec);
	case HT_KIND_MAPPING:
		return learn_mapping(st, rec);
	case HT_KIND_SYSTEM:
		return learn_version(st, rec);
	case HT_KIND_EVENT:
		if (plan->duration != HT_NO_LEAF) {
			rec->dur = ht_leaf_integer(st, &plan->leaves[plan->duration]);
			check_duration(st, rec);
		}
		if (plan->label != HT_NO_LEAF && st->ahead_of == NULL)
			return ht_mapping_find(st, ht_leaf_integer(st, &plan->leaves[plan->label]), rec,
			                       &st->label_name);
		return HT_DONE;
	case HT_KIND_STRUCTURE:
	case HT_KIND_BARE:
		break;
	}
	return HT_DONE;
}

/* ---- the loop ---- */

static enum ht_outcome
find_class(struct ht_state *st, struct ht_record *rec)
{
	const uint32_t klass = load_u32(rec->p + (st->wire ? 0 : 16), st->big);

	rec->c = ht_class_find(st, klass);
	if (rec->c == NULL) {
		ht_find(st, HT_RULE_UNKNOWN_CLASS, rec, "class %u was not described", klass);
		return HT_BAD;
	}
	rec->ts = load_u64(rec->p + (st->wire ? 4 : 0), st->big);
	rec->id = load_u64(rec->p + (st->wire ? 12 : 8), st->big);
	return rec->c->plan != NULL ? HT_DONE : ht_plan_make(st, rec->c, rec);
}

/* One record at the start of the window; HT_MORE: nothing happened, the window is too short. */
static enum ht_outcome
record(struct ht_state *st, struct batch *b)
{
	struct reader *const r = st->r;
	struct input *const in = r->in;
	struct ht_record rec = { .p = in->p, .offset = input_offset(in, in->p), .ordinal = r->records + 1 };
	enum ht_outcome result;

	if (in->end - in->p < HT_HEAD_SIZE)
		return in->last ? say_cut(st, &rec, in->end) : HT_MORE;
	if ((result = find_class(st, &rec)) != HT_DONE)
		return result;
	result = measure(st, &rec, in->end);
	if (result == HT_BAD || (result == HT_MORE && in->last))
		return say_cut(st, &rec, in->end);
	if (result != HT_DONE)
		return result;
	if (rec.bad_text)
		say_bad_text(st, &rec);
	if (st->ahead_of == NULL)
		check_id(st, &rec);
	if (!st->any_event && rec.c->kind != HT_KIND_ENDIANNESS)
		ht_find(st, HT_RULE_NO_BYTE_ORDER, &rec,
		        "class %u comes first; the file is read as little endian", rec.c->id);
	if ((result = act(st, &rec)) != HT_DONE)
		return result;
	st->any_event = true;
	r->records++;
	rec.c->cls->records++;
	r->trace->events += rec.c->kind == HT_KIND_EVENT;
	if ((r->want & rec.c->plan->want) != 0 &&
	    (result = st->raw ? ht_raw_add(st, &rec, b) : ht_event_add(st, &rec, b)) != HT_DONE)
		return result;
	in->p = rec.end;
	return HT_DONE;
}

static enum read_status
finish(struct ht_state *st, enum read_status fill)
{
	const struct finding_tally *t = &st->id_repeated;

	finding_add_times(st->r->findings, &ht_rules[HT_RULE_ID_REPEATED], t->offset, t->record, t->count,
	                  "event id %" PRIu64 " comes a second time", t->now);
	t = &st->id_backwards;
	finding_add_times(st->r->findings, &ht_rules[HT_RULE_ID_BACKWARDS], t->offset, t->record, t->count,
	                  "event id %" PRIu64 " after %" PRIu64, t->now, t->before);
	t = &st->unresolved;
	if (st->mapping_class)
		finding_add_times(st->r->findings, &ht_rules[HT_RULE_LABEL_UNRESOLVED], t->offset, t->record,
		                  t->count, "label %" PRIu64 " has no name%s", t->now,
		                  st->one_pass ? " yet, and the input cannot be read twice" : "");
	return fill;
}

static enum read_status
ht_next(struct reader *r, struct batch *b)
{
	struct ht_state *const st = r->state;
	struct input *const in = r->in;

	/* a record gives one event at most, so counting records keeps the batch in bounds; counting bytes
	 * keeps the buffers of a pipe in bounds that the batch holds on to */
	const uint64_t start = input_offset(in, in->p);
	for (uint32_t left = b->cap;
	     left > 0 && b->nfields < HT_BATCH_FIELDS && input_offset(in, in->p) - start < HT_NEXT_BYTES;) {
		if (in->p == in->end && (in->last || !input_more(in)))
			return finish(st, READ_END);
		switch (record(st, b)) {
		case HT_DONE:
			left--;
			break;
		case HT_MORE:
			/* a quarter more: a long record is not measured anew for each small piece of it that
			 * comes */
			input_need(in, (size_t)(in->end - in->p) + (size_t)(in->end - in->p) / 4 + 1);
			break;
		case HT_NO_MEMORY:
			return READ_NO_MEMORY;
		case HT_BAD:
			r->unread = input_drain(in);
			return finish(st, READ_BAD);
		}
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
