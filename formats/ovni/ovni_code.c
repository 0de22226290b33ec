#include <stdlib.h>

#include "ovni/ovni_state.h"

/*
 * Event codes: the class of each, and whether its events look as the vocabulary
 * says.  Third parties write models of their own, and old releases wrote other
 * payloads, so none of this is an error; what is unusual is counted for each
 * code and said once for each stream.
 */

/* What is unusual about an event. */
enum doubt {
	DOUBT_NONE,
	DOUBT_EVENT, /* the model is known, the event is not */
	DOUBT_MODEL,
	DOUBT_OLD, /* written by old releases */
	DOUBT_SIZE,
	DOUBT_JUMBO, /* a jumbo where a plain event is expected, or the other way round */
	DOUBT_TEXT   /* no NUL in the data */
};

/* Different ones are told apart in one stream; more are counted together. */
#define DOUBTS_MAX 16

struct ovni_doubt {
	uint8_t kind; /* enum doubt */
	bool jumbo;
	uint16_t code;
	uint32_t size, want;
	uint64_t count, offset, record;
};

/* ---- classes ---- */

static const char *
model_name(unsigned char model)
{
	static const char names[][8] = { "Oovni",   "6nanos6", "Vnosv",  "Dnodes",
		                         "Popenmp", "Mmpi",    "Ttampi", "Kkernel" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if ((unsigned char)names[i][0] == model)
			return names[i] + 1;
	return NULL;
}

/* The bytes as text; those that are not printable as \xNN. */
static struct slice
code_text(char *to, size_t cap, const unsigned char *p, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(to + used, cap - used,
		                         p[i] >= 0x20 && p[i] < 0x7f ? "%c" : "\\x%02x", p[i]);
	return textscan_slice(to, (uint32_t)used);
}

/* Codes beyond the bound share one class. */
static struct ovni_code *
more_codes(struct ovni_state *st, struct slice text, uint64_t offset, uint64_t record)
{
	struct ovni_shared *const sh = st->r->shared;
	struct quoted q;

	if (sh->more_codes.cls == NULL) {
		finding_add(
		    st->r->findings, &ovni_rules[OVNI_RULE_LIMIT], offset, record,
		    "event code %s is one too many: after %u different ones all others are counted together",
		    quoted(&q, text), OVNI_MAX_CODES);
		sh->more_codes.cls = trace_add_class(st->r->trace, SLICE_LIT("other codes"));
	}
	return sh->more_codes.cls != NULL ? &sh->more_codes : NULL;
}

/* Jumbo events have flags, all but the smallest a payload. */
static bool
has_field(const void *ctx, struct slice name)
{
	(void)ctx;
	return slice_is(name, "flags") || slice_is(name, "payload");
}

/* Words for the reader: "old", and "old-size", the payload of an older release that "old-name" names. */
static void
find_plan(struct ovni_state *st, struct ovni_code *c)
{
	const struct plan *m = trace_mean(st->r->trace, c->cls, has_field, NULL);

	while (m != NULL && m->named.p != NULL && !plan_glob(m->named, c->cls->name))
		m = m->otherwise;
	if (m == NULL)
		return;
	c->plan = plan_shape(m);
	c->jumbo = slice_is(plan_word(m, "jumbo"), "true");
	c->old = plan_word(m, "old").p != NULL;
	const struct slice size = plan_word(m, "old-size");
	c->old_size = size.p != NULL && size.n == 1 && size.p[0] >= '0' && size.p[0] <= '9'
	                  ? (int8_t)(size.p[0] - '0')
	                  : -1;
}

static struct ovni_code *
add_code(struct ovni_state *st, uint32_t bytes, struct slice text)
{
	struct ovni_shared *const sh = st->r->shared;
	struct trace *const trace = st->r->trace;
	const unsigned char model = (unsigned char)(bytes >> 8);
	const char *const name = model_name(model);
	char hex[8];

	if (!array_room(&sh->codes, sh->ncodes, &sh->codes_cap, sizeof *sh->codes) ||
	    !table64_put(&sh->code_index, bytes, sh->ncodes))
		return NULL;
	struct ovni_code *const c = &sh->codes[sh->ncodes++];
	*c = (struct ovni_code){ .bytes = bytes, .old_size = -1, .cls = trace_add_class(trace, text) };
	if (c->cls == NULL)
		return NULL;
	c->cls->category =
	    arena_copy(&trace->arena, name != NULL ? textscan_slice(name, (uint32_t)strlen(name))
	                                           : code_text(hex, sizeof hex, &model, 1));
	if (c->cls->category.p == NULL)
		return NULL;
	find_plan(st, c);
	return c;
}

struct ovni_code *
ovni_code(struct ovni_state *st, uint32_t word, uint64_t offset, uint64_t record)
{
	struct ovni_shared *const sh = st->r->shared;
	const uint32_t bytes = word & 0xffffff00U;
	uint16_t *const near = &sh->near[(bytes * 0x9e3779b1U) >> (32 - OVNI_NEAR_BITS)];
	const unsigned char mcv[3] = { (unsigned char)(word >> 8), (unsigned char)(word >> 16),
		                       (unsigned char)(word >> 24) };
	char text[16];

	if (*near < sh->ncodes && sh->codes[*near].bytes == bytes)
		return &sh->codes[*near];
	const uint32_t known = table64_get(&sh->code_index, bytes);
	if (known != TABLE_NONE) {
		*near = (uint16_t)known;
		return &sh->codes[known];
	}
	const struct slice name = code_text(text, sizeof text, mcv, 3);
	if (sh->ncodes >= OVNI_MAX_CODES)
		return more_codes(st, name, offset, record);
	struct ovni_code *const c = add_code(st, bytes, name);
	if (c == NULL)
		sh->ncodes = 0; /* a half-made one; nothing is read after this */
	return c;
}

/* ---- payloads ---- */

/* A layout with texts, or values that repeat, against the bytes. */
static enum doubt
walk_layout(const struct plan *m, struct slice payload)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->nlayout; i++) {
		const struct plan_layout_field *const f = &m->layout[i];
		const uint32_t left = payload.n - at;
		if (f->type == VALUE_BYTES)
			return DOUBT_NONE;
		if (f->type == VALUE_STRING) {
			const char *const nul = left > 0 ? memchr(payload.p + at, '\0', left) : NULL;
			if (nul == NULL)
				return DOUBT_TEXT;
			at = (uint32_t)(nul - payload.p) + 1;
		} else if (f->repeated) {
			return left % plan_width(f->type) == 0 ? DOUBT_NONE : DOUBT_SIZE;
		} else if (left < plan_width(f->type)) {
			return DOUBT_SIZE;
		} else {
			at += plan_width(f->type);
		}
	}
	return at == payload.n ? DOUBT_NONE : DOUBT_SIZE;
}

static enum doubt
doubt_of(const struct ovni_state *st, const struct ovni_code *c, bool jumbo, uint32_t size,
         struct slice payload)
{
	const struct plan *const m = c->plan;

	if (st->r->trace->vocabulary == NULL ||
	    c->cls == ((const struct ovni_shared *)st->r->shared)->more_codes.cls)
		return DOUBT_NONE; /* nothing is known of any event; or it is one of too many */
	if (m == NULL)
		return model_name((unsigned char)(c->bytes >> 8)) != NULL ? DOUBT_EVENT : DOUBT_MODEL;
	if (c->old || (c->old_size >= 0 && !jumbo && size == (uint32_t)c->old_size))
		return DOUBT_OLD;
	if (!m->has_layout)
		return DOUBT_NONE;
	if (jumbo != c->jumbo)
		return DOUBT_JUMBO;
	if (!m->layout_open)
		return size == m->layout_size ? DOUBT_NONE : DOUBT_SIZE;
	if (size < m->layout_size)
		return DOUBT_SIZE;
	return payload.n == size ? walk_layout(m, payload) : DOUBT_NONE; /* too large a jumbo was not kept */
}

/* ---- counting ---- */

static bool
is_same(const struct ovni_shared *sh, const struct ovni_doubt *d, enum doubt kind, const struct ovni_code *c)
{
	const uint32_t mask = kind == DOUBT_MODEL ? 0xff00U : 0xffffff00U;

	return d->kind == kind && ((sh->codes[d->code].bytes ^ c->bytes) & mask) == 0;
}

static bool
count_doubt(struct ovni_state *st, enum doubt kind, const struct ovni_code *c, const struct ovni_doubt *first)
{
	struct ovni_shared *const sh = st->r->shared;

	for (uint32_t i = 0; i < st->ndoubts; i++)
		if (is_same(sh, &st->doubts[i], kind, c)) {
			st->doubts[i].count++;
			return true;
		}
	if (st->ndoubts == DOUBTS_MAX) {
		if (st->more_doubts.count++ == 0)
			st->more_doubts = (struct ovni_tally){ 1, first->offset, first->record, 0, 0 };
		return true;
	}
	if (st->doubts == NULL && (st->doubts = calloc(DOUBTS_MAX, sizeof *st->doubts)) == NULL)
		return false;
	st->doubts[st->ndoubts++] = *first;
	return true;
}

bool
ovni_check_payload(struct ovni_state *st, const struct ovni_code *c, const char *p, struct slice payload,
                   uint64_t offset)
{
	struct ovni_shared *const sh = st->r->shared;
	const uint32_t word = load_u32(p, false);
	const bool jumbo = (word & OVNI_FLAG_JUMBO) != 0;
	const uint32_t size = jumbo ? load_u32(p + OVNI_EVENT_SIZE, st->big) : payload.n;
	const enum doubt kind = doubt_of(st, c, jumbo, size, payload);

	if (kind == DOUBT_NONE) {
		if (!jumbo && (c->plan == NULL || !c->plan->layout_open))
			ovni_remember_fast(sh, word, c->cls);
		return true;
	}
	const struct ovni_doubt first = {
		.kind = (uint8_t)kind,
		.jumbo = jumbo,
		.code = (uint16_t)(c - sh->codes),
		.size = size,
		.want = c->plan != NULL ? c->plan->layout_size : 0,
		.count = 1,
		.offset = offset,
		.record = st->r->records,
	};
	return count_doubt(st, kind, c, &first);
}

/* ---- saying ---- */

static const char *
event_kind(bool jumbo)
{
	return jumbo ? "a jumbo event" : "a plain event";
}

static void
say_old(const struct ovni_state *st, const struct ovni_doubt *d, const struct ovni_code *c, const char *name)
{
	const struct slice word = plan_word(c->plan, "old-name");
	struct quoted q;

	if (c->old)
		finding_add_times(st->r->findings, &ovni_rules[OVNI_RULE_OLD_EVENT], d->offset, d->record,
		                  d->count, "event %s", name);
	else
		finding_add(st->r->findings, &ovni_rules[OVNI_RULE_OLD_EVENT], d->offset, d->record,
		            "event %s: a payload of %" PRIu32 " bytes, as %s wrote it, of %" PRIu32
		            " today; %" PRIu64 " in all",
		            name, d->size, quoted(&q, word.p != NULL ? word : SLICE_LIT("an older release")),
		            d->want, d->count);
}

static void
say_doubt(const struct ovni_state *st, const struct ovni_doubt *d)
{
	const struct ovni_shared *const sh = st->r->shared;
	const struct ovni_code *const c = &sh->codes[d->code];
	const bool open = c->plan != NULL && c->plan->layout_open;
	struct findings *const j = st->r->findings;
	struct quoted name, q;

	quoted(&name, c->cls->name);
	switch ((enum doubt)d->kind) {
	case DOUBT_EVENT:
		finding_add(j, &ovni_rules[OVNI_RULE_UNKNOWN_EVENT], d->offset, d->record,
		            "event %s: the model %s has no such event; %" PRIu64 " in all", name.s,
		            quoted(&q, c->cls->category), d->count);
		break;
	case DOUBT_MODEL:
		finding_add(j, &ovni_rules[OVNI_RULE_UNKNOWN_MODEL], d->offset, d->record,
		            "event %s: the model %s is not known; %" PRIu64 " events of it in all", name.s,
		            quoted(&q, c->cls->category), d->count);
		break;
	case DOUBT_OLD:
		say_old(st, d, c, name.s);
		break;
	case DOUBT_JUMBO:
		finding_add(j, &ovni_rules[OVNI_RULE_PAYLOAD_SIZE], d->offset, d->record,
		            "event %s: %s with %" PRIu32 " bytes, expected is %s with %s%" PRIu32 "; %" PRIu64
		            " in all",
		            name.s, event_kind(d->jumbo), d->size, event_kind(c->jumbo),
		            open ? "at least " : "", d->want, d->count);
		break;
	case DOUBT_TEXT:
		finding_add(j, &ovni_rules[OVNI_RULE_TEXT_END], d->offset, d->record,
		            "event %s: no NUL ends the text within the %" PRIu32 " bytes of data; %" PRIu64
		            " in all",
		            name.s, d->size, d->count);
		break;
	case DOUBT_SIZE:
		finding_add(j, &ovni_rules[OVNI_RULE_PAYLOAD_SIZE], d->offset, d->record,
		            "event %s: a payload of %" PRIu32 " bytes, expected %s %" PRIu32 "; %" PRIu64
		            " in all",
		            name.s, d->size, open ? "are whole values behind" : "are", d->want, d->count);
		break;
	case DOUBT_NONE:
		break;
	}
}

void
ovni_say_doubts(struct ovni_state *st)
{
	for (uint32_t i = 0; i < st->ndoubts; i++)
		say_doubt(st, &st->doubts[i]);
	if (st->more_doubts.count > 0)
		finding_add(st->r->findings, &ovni_rules[OVNI_RULE_UNKNOWN_EVENT], st->more_doubts.offset,
		            st->more_doubts.record,
		            "%" PRIu64 " more events are unknown or have unexpected payloads",
		            st->more_doubts.count);
}
