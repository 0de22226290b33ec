#include "heph/heph_state.h"

/* Metadata packets: options of the whole trace.  The document knows one, `epoch`. */

/* Says times that came before the epoch and do not fit behind it. */
static void
check_earlier(struct heph_state *st)
{
	const struct finding_tally *const t = &st->latest;

	if (t->count > 0 && t->now > UINT64_MAX - st->epoch_ns)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_TIME_OVERFLOW], t->offset, t->record,
		            "time %" PRIu64 ", the latest before the epoch %" PRIu64 " was set", t->now,
		            st->epoch_ns);
}

/* The first epoch of this input; others may have been read into the same trace. */
static void
learn_epoch(struct heph_state *st, const struct heph_packet *k, const char *value)
{
	struct trace *const trace = st->r->trace;

	st->epoch_known = true;
	st->epoch_ns = load_u64(value, true);
	check_earlier(st);
	if (!trace->epoch_known) {
		trace->epoch_known = true;
		trace->epoch_ns = st->epoch_ns;
	} else if (trace->epoch_ns != st->epoch_ns) {
		heph_find(st, HEPH_RULE_EPOCH_OF_OTHERS, k, value,
		          "%" PRIu64 ", that of the inputs before is %" PRIu64, st->epoch_ns,
		          trace->epoch_ns);
	}
}

static void
set_epoch(struct heph_state *st, const struct heph_packet *k, const char *value)
{
	const uint64_t size = (uint64_t)(k->end - value);

	if (size != HEPH_EPOCH_SIZE)
		heph_find(st, HEPH_RULE_EPOCH_SIZE, k, value, "the value has %" PRIu64 " byte%s", size,
		          size == 1 ? "" : "s");
	else if (!st->epoch_known)
		learn_epoch(st, k, value);
	else if (load_u64(value, true) != st->epoch_ns)
		heph_find(st, HEPH_RULE_EPOCH_CHANGED, k, value,
		          "%" PRIu64 " after %" PRIu64 ", which is used", load_u64(value, true),
		          st->epoch_ns);
}

void
heph_check_time(struct heph_state *st, const struct heph_packet *k)
{
	const uint64_t latest = k->start > k->stop ? k->start : k->stop;

	if (k->stop < k->start)
		heph_find(st, HEPH_RULE_END_BEFORE_START, k, k->p + 32, "end %" PRIu64 ", start %" PRIu64,
		          k->stop, k->start);
	if (!st->epoch_known) {
		if (st->latest.count == 0 || latest > st->latest.now)
			st->latest = (struct finding_tally){
				.count = 1, .offset = k->offset, .record = k->ordinal, .now = latest
			};
	} else if (latest > UINT64_MAX - st->epoch_ns) {
		heph_find(st, HEPH_RULE_TIME_OVERFLOW, k, k->p + (latest == k->start ? 24 : 32),
		          "time %" PRIu64 ", epoch %" PRIu64, latest, st->epoch_ns);
	}
}

static struct value
option_value(struct slice name, struct slice value)
{
	if (slice_is(name, "epoch") && value.n == HEPH_EPOCH_SIZE)
		return value_u64(load_u64(value.p, true));
	return (struct value){ .type = VALUE_BYTES, .count = value.n, .p = value.p };
}

static enum heph_result
add_fields(struct batch *b, struct event *e, struct slice name, struct value value)
{
	struct field *const f = batch_fields(b, 2);

	if (f == NULL)
		return HEPH_NO_MEMORY;
	f[0] = (struct field){ SLICE_LIT("option"), value_string(name) };
	f[1] = (struct field){ SLICE_LIT("value"), value };
	e->first_field = b->nfields;
	e->nfields = 2;
	b->nfields += 2;
	return HEPH_DONE;
}

static enum heph_result
add_record(struct heph_state *st, const struct heph_packet *k, struct slice name, struct slice value,
           struct batch *b)
{
	struct event *const e = &b->events[b->n];
	const struct value v = option_value(name, value);
	enum heph_result result = HEPH_DONE;

	*e = (struct event){ .name = st->metadata_class->name,
		             .cls = st->metadata_class,
		             .phase = PHASE_STRUCTURE,
		             .offset = k->offset };
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(k->p, (size_t)(k->end - k->p));
	if (st->raw)
		result = heph_raw_add_option(k, name, v, e, b);
	else if ((st->r->want & WANT_FIELDS) != 0)
		result = add_fields(b, e, name, v);
	b->n += result == HEPH_DONE;
	return result;
}

enum heph_result
heph_option_read(struct heph_state *st, struct heph_packet *k, struct batch *b)
{
	const uint32_t n = load_u16(k->p + 8, true);
	const size_t left = (size_t)(k->end - k->p) - HEPH_METADATA_MIN;
	struct quoted q;

	if (n > left) {
		k->fault = k->p + 8;
		heph_past_packet(st, k, k->p + 8, "the option name", n, left);
		return HEPH_DONE;
	}
	const struct slice name = textscan_slice(k->p + HEPH_METADATA_MIN, n);
	const char *const value = name.p + n;
	if ((name.flags & SLICE_UTF8) == 0)
		heph_bad_text(st, k, "the option name", name);
	if (slice_is(name, "epoch"))
		set_epoch(st, k, value);
	else if (heph_is_shown(st, HEPH_RULE_UNKNOWN_OPTION))
		heph_find(st, HEPH_RULE_UNKNOWN_OPTION, k, name.p, "option %s with a value of %zu bytes",
		          quoted(&q, name), left - n);
	else
		heph_find(st, HEPH_RULE_UNKNOWN_OPTION, k, name.p, "not shown");
	st->metadata_class->records++;
	if ((st->r->want & WANT_STRUCTURE) == 0)
		return HEPH_DONE;
	return add_record(st, k, name, slice_of(value, left - n), b);
}
