#include "ovni/anomalies.h"

#include <stdlib.h>

enum anomaly_kind {
	ANOMALY_NONE,
	ANOMALY_EVENT, /* the model is known, the event is not */
	ANOMALY_MODEL,
	ANOMALY_OLD, /* written by old releases */
	ANOMALY_SIZE,
	ANOMALY_JUMBO, /* a jumbo event where a normal one is expected, or the reverse */
	ANOMALY_TEXT   /* no NUL in the data */
};

struct anomaly {
	uint8_t kind; /* enum anomaly_kind */
	bool jumbo;
	uint16_t code;
	struct finding_tally tally; /* now: bytes of the payload; before: those expected */
};

/* Kinds in one stream that are counted one by one; further ones are counted together. */
#define ANOMALIES_MAX 16

struct ovni_anomalies {
	struct anomaly list[ANOMALIES_MAX];
	uint32_t n;
	struct finding_tally others;
};

/* ---- payloads ---- */

/* A layout with texts, or values that repeat, against the bytes. */
static enum anomaly_kind
walk_layout(const struct plan *m, struct slice payload)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->nlayout; i++) {
		const struct plan_layout_field *const f = &m->layout[i];
		const uint32_t rest = payload.n - at;
		if (f->type == VALUE_BYTES)
			return ANOMALY_NONE;
		if (f->type == VALUE_STRING) {
			const char *const nul = rest > 0 ? memchr(payload.p + at, '\0', rest) : NULL;
			if (nul == NULL)
				return ANOMALY_TEXT;
			at = (uint32_t)(nul - payload.p) + 1;
		} else if (f->repeated) {
			return rest % plan_width(f->type) == 0 ? ANOMALY_NONE : ANOMALY_SIZE;
		} else if (rest < plan_width(f->type)) {
			return ANOMALY_SIZE;
		} else {
			at += plan_width(f->type);
		}
	}
	return at == payload.n ? ANOMALY_NONE : ANOMALY_SIZE;
}

static enum anomaly_kind
kind_of(const struct ovni_code *c, bool jumbo, uint32_t size, struct slice payload)
{
	const struct plan *const m = c->plan;

	if (m == NULL)
		return ovni_model_name((unsigned char)(c->bytes >> 8)) != NULL ? ANOMALY_EVENT
		                                                               : ANOMALY_MODEL;
	if (c->old || (c->old_size >= 0 && !jumbo && size == (uint32_t)c->old_size))
		return ANOMALY_OLD;
	if (!m->has_layout)
		return ANOMALY_NONE;
	if (jumbo != c->jumbo)
		return ANOMALY_JUMBO;
	if (!m->layout_open)
		return size == m->layout_size ? ANOMALY_NONE : ANOMALY_SIZE;
	if (size < m->layout_size)
		return ANOMALY_SIZE;
	return payload.n == size ? walk_layout(m, payload) : ANOMALY_NONE; /* dropped, it was too large */
}

/* ---- counting ---- */

/* The row for anomalies of this kind and code; NULL: there are too many. */
static struct anomaly *
find_row(struct ovni_anomalies *all, const struct ovni_codes *codes, enum anomaly_kind kind, uint16_t code)
{
	const uint32_t mask = kind == ANOMALY_MODEL ? 0xff00U : 0xffffff00U;
	const uint32_t bytes = codes->list[code].bytes & mask;

	for (uint32_t i = 0; i < all->n; i++) {
		struct anomaly *const a = &all->list[i];
		if (a->kind == kind && (codes->list[a->code].bytes & mask) == bytes)
			return a;
	}
	return all->n < ANOMALIES_MAX ? &all->list[all->n++] : NULL;
}

bool
ovni_check_payload(struct ovni_anomalies **all, struct ovni_codes *codes, struct reader *r,
                   const struct ovni_code *c, const struct ovni_record *e, bool big)
{
	const uint32_t word = load_u32(e->bytes.p, false);
	const bool jumbo = (word & OVNI_FLAG_JUMBO) != 0;
	const uint32_t size = jumbo ? load_u32(e->bytes.p + OVNI_EVENT_SIZE, big) : e->payload.n;
	/* there is no vocabulary, or there are too many codes */
	const bool unknown = r->trace->vocabulary == NULL || c == &codes->others;
	const enum anomaly_kind kind = unknown ? ANOMALY_NONE : kind_of(c, jumbo, size, e->payload);

	if (kind == ANOMALY_NONE) {
		if (!jumbo && (c->plan == NULL || !c->plan->layout_open))
			ovni_remember_fast(codes, word, c->cls);
		return true;
	}
	if (*all == NULL && (*all = calloc(1, sizeof **all)) == NULL)
		return false;
	const uint16_t code = (uint16_t)(c - codes->list);
	struct anomaly *const a = find_row(*all, codes, kind, code);
	if (a == NULL) {
		finding_tally_add(&(*all)->others, e->offset, r->records, 0, 0);
		return true;
	}
	if (a->tally.count == 0) {
		a->kind = (uint8_t)kind;
		a->jumbo = jumbo;
		a->code = code;
	}
	finding_tally_add(&a->tally, e->offset, r->records, size, c->plan != NULL ? c->plan->layout_size : 0);
	return true;
}

/* ---- reporting ---- */

static const char *
event_kind(bool jumbo)
{
	return jumbo ? "a jumbo event" : "a normal event";
}

#define REPORT(j, rule, a, ...)                                                                              \
	finding_add_times((j), &ovni_rules[OVNI_RULE_##rule], (a)->tally.offset, (a)->tally.record,          \
	                  (a)->tally.count, __VA_ARGS__)

static void
report_old(struct findings *j, const struct anomaly *a, const struct ovni_code *c, const char *name)
{
	const struct slice word = plan_word(c->plan, "old-name");
	struct quoted q;

	if (c->old)
		REPORT(j, OLD_EVENT, a, "event %s", name);
	else
		REPORT(j, OLD_EVENT, a,
		       "event %s: a payload of %" PRIu64 " bytes, as written by %s, now %" PRIu64, name,
		       a->tally.now, quoted(&q, word.p != NULL ? word : SLICE_LIT("an older release")),
		       a->tally.before);
}

static void
report_anomaly(struct findings *j, const struct anomaly *a, const struct ovni_code *c)
{
	const bool open = c->plan != NULL && c->plan->layout_open;
	struct quoted name, q;

	quoted(&name, c->cls->name);
	switch ((enum anomaly_kind)a->kind) {
	case ANOMALY_EVENT:
		REPORT(j, UNKNOWN_EVENT, a, "event %s: the model %s has no such event", name.s,
		       quoted(&q, c->cls->category));
		break;
	case ANOMALY_MODEL:
		REPORT(j, UNKNOWN_MODEL, a, "event %s: the model %s is unknown", name.s,
		       quoted(&q, c->cls->category));
		break;
	case ANOMALY_OLD:
		report_old(j, a, c, name.s);
		break;
	case ANOMALY_JUMBO:
		REPORT(j, PAYLOAD_SIZE, a, "event %s: %s with %" PRIu64 " bytes, expected %s with %s%" PRIu64,
		       name.s, event_kind(a->jumbo), a->tally.now, event_kind(c->jumbo),
		       open ? "at least " : "", a->tally.before);
		break;
	case ANOMALY_TEXT:
		REPORT(j, TEXT_END, a, "event %s: the string has no NUL within the %" PRIu64 " bytes of data",
		       name.s, a->tally.now);
		break;
	case ANOMALY_SIZE:
		REPORT(j, PAYLOAD_SIZE, a, "event %s: a payload of %" PRIu64 " bytes, expected %s%" PRIu64,
		       name.s, a->tally.now, open ? "complete values after the first " : "", a->tally.before);
		break;
	case ANOMALY_NONE:
		break;
	}
}

void
ovni_report_anomalies(const struct ovni_anomalies *all, const struct ovni_codes *codes, struct reader *r)
{
	for (uint32_t i = 0; all != NULL && i < all->n; i++)
		report_anomaly(r->findings, &all->list[i], &codes->list[all->list[i].code]);
	if (all != NULL)
		finding_add_times(r->findings, &ovni_rules[OVNI_RULE_UNKNOWN_EVENT], all->others.offset,
		                  all->others.record, all->others.count,
		                  "further events are unknown or have an unexpected payload");
}
