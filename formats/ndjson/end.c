#include "ndjson/read.h"

#include <stdlib.h>

/* What the first and the last line say of the whole trace. */

/* A text that ends in NUL, of the trace; NULL: no memory. */
static const char *
fact(struct ndjson_reading *st, enum ndjson_member m, const char *absent)
{
	if (!ndjson_has(&st->line, m))
		return absent;
	const struct slice s = ndjson_text_of(st, m, &st->scratch);
	return s.p != NULL ? arena_copy(&st->r->trace->arena, s).p : NULL;
}

bool
ndjson_take_facts(struct ndjson_reading *st, struct trace_facts *to)
{
	const struct trace_facts f = {
		.format = fact(st, NDJSON_M_FORMAT, ""),
		.dialect = fact(st, NDJSON_M_DIALECT, ""),
		.byte_order = fact(st, NDJSON_M_BYTE_ORDER, NULL),
		.clock = fact(st, NDJSON_M_CLOCK, "unknown"),
		.record_id = fact(st, NDJSON_M_RECORD_ID, NULL),
	};

	*to = f;
	return f.format != NULL && f.dialect != NULL && f.clock != NULL &&
	       (f.byte_order != NULL || !ndjson_has(&st->line, NDJSON_M_BYTE_ORDER)) &&
	       (f.record_id != NULL || !ndjson_has(&st->line, NDJSON_M_RECORD_ID));
}

static bool
take_losses(struct ndjson_reading *st, struct trace_origin *o)
{
	const struct ndjson_token *const t = &st->line.of[NDJSON_M_LOSSES];
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	struct arena *const a = &st->r->trace->arena;
	const struct ndjson_into to = { .arena = &st->scratch };
	enum json_kind kind, key_kind;
	struct slice key;
	bool more;

	o->losses = arena_zalloc(a, NDJSON_MAX_LOSSES, sizeof *o->losses);
	if (o->losses == NULL)
		return false;
	for (const char *p = json_first(&x, t->p, t->end, &more); p != NULL && more;
	     p = json_next(&x, p, t->end, '}', &more)) {
		const char *const v = json_key(&x, p, t->end, &key, &key_kind);
		struct trace_loss *const loss = &o->losses[o->nlosses];
		p = v != NULL ? json_value(&x, v, t->end, &kind) : NULL;
		if (p == NULL)
			break;
		if (o->nlosses == NDJSON_MAX_LOSSES) {
			ndjson_report(st, NDJSON_RULE_LIMIT, v, "more than %d kinds of losses",
			              NDJSON_MAX_LOSSES);
			break;
		}
		if (kind != JSON_UINT || !json_digits_any(v, (uint32_t)(p - v), &loss->count)) {
			ndjson_report(st, NDJSON_RULE_OUT_OF_RANGE, v, "a loss is a number of up to 64 bits");
			continue;
		}
		const struct ndjson_token name = { key.p - 1, key.p + key.n + 1, key_kind };
		const struct slice text = ndjson_string_of(&to, &name);
		loss->id = text.p != NULL ? arena_copy(a, text) : text;
		if (loss->id.p == NULL)
			return false;
		o->nlosses++;
	}
	return true;
}

static bool
take_meta(struct ndjson_reading *st)
{
	struct trace *const trace = st->r->trace;
	struct batch b = { .n = 0 }; /* its fields alone are used */
	const struct ndjson_into to = { .b = &b, .arena = &trace->arena, .copy = true };
	const uint32_t n = ndjson_read_fields(st, &to, NULL);
	bool ok = !st->no_memory;

	for (uint32_t i = 0; i < n && ok; i++)
		ok = trace_add_meta(trace, b.fields[i].name, b.fields[i].value);
	free(b.fields);
	return ok;
}

/* What the file holds, and what it should; where each record is a line of its own. */
static void
compare_events(struct ndjson_reading *st, uint64_t said)
{
	const uint64_t met = st->r->trace->events;

	if (st->raw && met != said)
		ndjson_report(st, NDJSON_RULE_EVENTS_MISSING, st->line.of[NDJSON_M_EVENTS].p,
		              "%" PRIu64 " events were read, %" PRIu64 " were written", met, said);
}

bool
ndjson_take_end(struct ndjson_reading *st)
{
	const struct ndjson_line *const line = &st->line;
	struct trace *const trace = st->r->trace;
	struct trace_origin o = { .records = 0 };
	uint64_t epoch = 0;
	const bool has_epoch = ndjson_has(line, NDJSON_M_EPOCH_NS);

	if (!ndjson_number(st, NDJSON_M_RECORDS, UINT64_MAX, &o.records) ||
	    !ndjson_number(st, NDJSON_M_EVENTS, UINT64_MAX, &o.events) ||
	    (has_epoch && !ndjson_number(st, NDJSON_M_EPOCH_NS, UINT64_MAX, &epoch)) ||
	    (ndjson_has(line, NDJSON_M_REBASED_BY_NS) &&
	     !ndjson_number(st, NDJSON_M_REBASED_BY_NS, UINT64_MAX, &o.rebased_by)))
		return false;
	st->has_end = true;
	compare_events(st, o.events);
	if (!ndjson_take_facts(st, &o.last) || !take_losses(st, &o) || !take_meta(st)) {
		st->no_memory = true;
		return false;
	}
	if (st->origin != NULL) {
		o.first = st->origin->first;
		o.rebased = st->origin->rebased;
		*st->origin = o;
	}
	if (has_epoch) {
		trace->epoch_known = true;
		trace->epoch_ns = epoch + (o.rebased ? o.rebased_by : 0); /* wraps as it was made */
	}
	return true;
}
