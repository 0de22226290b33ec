/*
 * Event codes and events.  A code (MCV) becomes a class when it is first read; the vocabulary gives its plan,
 * against which payloads are checked.  A code whose events need no further check enters a hash table with two
 * slots for each key, the fast path of the reader and of ovni_events_add_fast().
 * Memory: bounded by OVNI_MAX_CODES, and ANOMALIES_MAX rows for each stream.
 */
#include "ovni/ovni.h"

#include <stdlib.h>

#include "base/match.h"

/* ---- classes of codes ---- */

void ovni_codes_free(struct ovni_codes *c)
{
	free(c->list);
	table64_free(&c->index);
}

/* Returns the name of a model that comes with ovni, or NULL. */
static const char *model_name(unsigned char model)
{
	static const char names[][8] = { "Oovni",   "6nanos6", "Vnosv",  "Dnodes",
		                         "Popenmp", "Mmpi",    "Ttampi", "Kkernel" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if ((unsigned char)names[i][0] == model)
			return names[i] + 1;
	return NULL;
}

/* Writes bytes as text; those that are not printable as \xNN. */
static struct slice code_text(char *to, size_t cap, const unsigned char *p, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(to + used, cap - used,
		                         p[i] >= 0x20 && p[i] < 0x7f ? "%c" : "\\x%02x", p[i]);
	return textscan_slice(to, (uint32_t)used);
}

#define NAME(s)                                                                                              \
	{                                                                                                    \
		(s), sizeof(s) - 1, SLICE_UTF8 | SLICE_JSON                                                  \
	}

/* Fields of raw events. */
static const struct class_field event_fields[] = {
	{ NAME("flags"), NAME("u8"), VALUE_U8, 1, NULL },
	{ NAME("mcv"), NAME("char[3]"), VALUE_STRING, 3, NULL },
	{ NAME("clock"), NAME("u64"), VALUE_U64, 8, "ns" },
	{ NAME("jumbo_size"), NAME("u32"), VALUE_U32, 4, "byte" },
	{ NAME("payload"), NAME("bytes"), VALUE_BYTES, 0, NULL },
};

static const struct class_field header_fields[] = {
	{ NAME("magic"), NAME("char[4]"), VALUE_STRING, 4, NULL },
	{ NAME("version"), NAME("u32"), VALUE_U32, 4, NULL },
};

#define EVENT_FIELDS (sizeof event_fields / sizeof event_fields[0])
#define HEADER_FIELDS (sizeof header_fields / sizeof header_fields[0])

static struct class *add_class(struct reader *r, struct class like)
{
	if ((r->want & WANT_RAW) != 0) {
		like.fields = event_fields;
		like.nfields = EVENT_FIELDS;
	}
	return trace_plan_class(r->trace, &like);
}

/* Codes beyond the limit share one class. */
static struct ovni_code *other_codes(struct ovni_codes *c, struct reader *r, struct slice text,
                                     uint64_t offset)
{
	struct quoted q;

	if (c->others.cls == NULL) {
		finding_add(r->findings, &ovni_rules[OVNI_RULE_LIMIT], offset, r->records,
		            "event code %s exceeds the limit of %u different codes: further codes are "
		            "counted together",
		            quoted(&q, text), OVNI_MAX_CODES);
		c->others.cls = add_class(r, (struct class){ .name = SLICE_LIT("other codes") });
	}
	return c->others.cls != NULL ? &c->others : NULL;
}

/* Jumbo events have flags, all but the smallest a payload. */
static bool has_field(const void *ctx, struct slice name)
{
	(void)ctx;
	return slice_is(name, "flags") || slice_is(name, "payload");
}

const struct plan *ovni_class_plan(const struct class *cls)
{
	const struct plan *m = cls->plan;

	while (m != NULL && m->named.p != NULL && !glob_fits(m->named, cls->name))
		m = m->otherwise;
	return m != NULL ? plan_shape(m) : NULL;
}

/* Keywords of the vocabulary: "jumbo"; "old"; and "old-size", bytes of the payload of an older release, which
 * "old-name" names. */
static void read_keywords(struct ovni_code *c)
{
	c->plan = ovni_class_plan(c->cls);
	if (c->plan == NULL)
		return;
	c->jumbo = slice_is(plan_word(c->plan, "jumbo"), "true");
	c->old = plan_word(c->plan, "old").p != NULL;
	const struct slice size = plan_word(c->plan, "old-size");
	if (size.p != NULL && size.n == 1 && size.p[0] >= '0' && size.p[0] <= '9')
		c->old_size = (int8_t)(size.p[0] - '0');
}

static struct ovni_code *add_code(struct ovni_codes *codes, struct reader *r, uint32_t bytes,
                                  struct slice text)
{
	const unsigned char model = (unsigned char)(bytes >> 8);
	const char *const name = model_name(model);
	char hex[8];

	if (!array_reserve(&codes->list, codes->n, &codes->cap, sizeof *codes->list))
		return NULL;
	struct ovni_code *const c = &codes->list[codes->n];
	*c = (struct ovni_code){ .bytes = bytes, .old_size = -1 };
	c->cls = add_class(r, (struct class){ .name = text,
	                                      .category = name != NULL
	                                                      ? textscan_slice(name, (uint32_t)strlen(name))
	                                                      : code_text(hex, sizeof hex, &model, 1),
	                                      .plan = trace_find_plan(r->trace, text, has_field, NULL) });
	if (c->cls == NULL)
		return NULL;
	read_keywords(c);
	return table64_put(&codes->index, bytes, codes->n++) ? c : NULL;
}

struct ovni_code *ovni_code_find(struct ovni_codes *codes, struct reader *r, uint32_t head, uint64_t offset)
{
	const uint32_t bytes = head & 0xffffff00U;
	uint16_t *const recent = &codes->recent[(bytes * 0x9e3779b1U) >> (32 - OVNI_RECENT_BITS)];
	const unsigned char mcv[3] = { (unsigned char)(head >> 8), (unsigned char)(head >> 16),
		                       (unsigned char)(head >> 24) };
	char text[16];

	if (*recent < codes->n && codes->list[*recent].bytes == bytes)
		return &codes->list[*recent];
	const uint32_t known = table64_get(&codes->index, bytes);
	if (known != TABLE_NONE) {
		*recent = (uint16_t)known;
		return &codes->list[known];
	}
	const struct slice name = code_text(text, sizeof text, mcv, 3);
	if (codes->n >= OVNI_MAX_CODES)
		return other_codes(codes, r, name, offset);
	return add_code(codes, r, bytes, name);
}

/* Events of unordered regions and ends of threads change the state of the stream: they are never fast. */
static void remember_fast(struct ovni_codes *c, uint32_t head, struct class *cls)
{
	const uint32_t model_category = head >> 8 & 0xffff;
	uint32_t slot = ovni_fast_slot(head);

	if ((head & (OVNI_FLAG_JUMBO | OVNI_FLAGS_RESERVED)) != 0 || model_category == ('O' | 'U' << 8) ||
	    head >> 8 == ('O' | 'H' << 8 | 'e' << 16))
		return;
	slot ^= c->fast[slot] != 0;
	c->fast[slot] = (uint64_t)1 << 32 | head;
	c->fast_classes[slot] = cls;
}

/* Returns the class of an event on the fast path, or NULL. */
static inline struct class *find_fast(const struct ovni_codes *c, uint32_t head)
{
	const uint64_t want = (uint64_t)1 << 32 | head;
	uint32_t slot = ovni_fast_slot(head);

	if (c->fast[slot] != want && c->fast[slot ^= 1] != want)
		return NULL;
	return c->fast_classes[slot];
}

/* ---- payloads ---- */

enum anomaly_kind {
	ANOMALY_NONE,
	ANOMALY_EVENT, /* the model is known, the event is not */
	ANOMALY_MODEL, /* the model is unknown */
	ANOMALY_OLD,   /* written by old releases */
	ANOMALY_SIZE,
	ANOMALY_JUMBO, /* a jumbo event instead of a normal one, or the reverse */
	ANOMALY_TEXT   /* no NUL in the data */
};

struct anomaly {
	uint8_t kind; /* enum anomaly_kind */
	bool jumbo;
	uint16_t code;
	struct finding_tally tally; /* now: bytes of the payload; before: those expected */
};

/* Pairs of kind and code that are counted separately in one stream; the others are counted together. */
#define ANOMALIES_MAX 16

struct ovni_anomalies {
	struct anomaly list[ANOMALIES_MAX];
	uint32_t n;
	struct finding_tally others;
};

/* Compares a payload with a layout that has texts or repeated values. */
static enum anomaly_kind walk_layout(const struct plan *m, struct slice payload)
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

/* size: of the payload, or of the data of a jumbo event, which may have been dropped. */
static enum anomaly_kind classify_payload(const struct ovni_code *c, bool jumbo, uint32_t size,
                                          struct slice payload)
{
	const struct plan *const m = c->plan;

	if (m == NULL)
		return model_name((unsigned char)(c->bytes >> 8)) != NULL ? ANOMALY_EVENT : ANOMALY_MODEL;
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
	return payload.n == size ? walk_layout(m, payload) : ANOMALY_NONE;
}

/* Returns the row for anomalies of this kind and code; NULL: there are too many. */
static struct anomaly *find_row(struct ovni_anomalies *all, const struct ovni_codes *codes,
                                enum anomaly_kind kind, uint16_t code)
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

bool ovni_check_payload(struct ovni_anomalies **all, struct ovni_codes *codes, struct reader *r,
                        const struct ovni_code *c, const struct ovni_record *e, bool big)
{
	const uint32_t head = load_u32(e->bytes.p, false);
	const bool jumbo = (head & OVNI_FLAG_JUMBO) != 0;
	const uint32_t size = jumbo ? load_u32(e->bytes.p + OVNI_EVENT_SIZE, big) : e->payload.n;
	/* Nothing to compare with: no vocabulary, or too many codes. */
	const bool unchecked = r->trace->vocabulary == NULL || c == &codes->others;
	const enum anomaly_kind kind =
	    unchecked ? ANOMALY_NONE : classify_payload(c, jumbo, size, e->payload);

	if (kind == ANOMALY_NONE) {
		if (!jumbo && (c->plan == NULL || !c->plan->layout_open))
			remember_fast(codes, head, c->cls);
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

static const char *event_kind(bool jumbo)
{
	return jumbo ? "a jumbo event" : "a normal event";
}

#define REPORT(j, rule, a, ...)                                                                              \
	finding_add_times((j), &ovni_rules[OVNI_RULE_##rule], (a)->tally.offset, (a)->tally.record,          \
	                  (a)->tally.count, __VA_ARGS__)

static void report_old(struct findings *j, const struct anomaly *a, const struct ovni_code *c,
                       const char *name)
{
	const struct slice release = plan_word(c->plan, "old-name");
	struct quoted q;

	if (c->old)
		REPORT(j, OLD_EVENT, a, "event %s", name);
	else
		REPORT(j, OLD_EVENT, a,
		       "event %s: a payload of %" PRIu64 " bytes, as written by %s, now %" PRIu64, name,
		       a->tally.now, quoted(&q, release.p != NULL ? release : SLICE_LIT("an older release")),
		       a->tally.before);
}

static void report_anomaly(struct findings *j, const struct anomaly *a, const struct ovni_code *c)
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

void ovni_report_anomalies(const struct ovni_anomalies *all, const struct ovni_codes *codes, struct reader *r)
{
	if (all == NULL)
		return;
	for (uint32_t i = 0; i < all->n; i++)
		report_anomaly(r->findings, &all->list[i], &codes->list[all->list[i].code]);
	finding_add_times(r->findings, &ovni_rules[OVNI_RULE_UNKNOWN_EVENT], all->others.offset,
	                  all->others.record, all->others.count,
	                  "further events are unknown or have an unexpected payload");
}

/* ---- raw events ---- */

bool ovni_raw_add_header(const struct ovni_state *st, struct batch *b, struct slice header)
{
	const bool big = st->stream.big;
	const struct class like = { .name = SLICE_LIT("header"),
		                    .fields = header_fields,
		                    .nfields = HEADER_FIELDS };
	struct class *const cls = trace_plan_class(st->r->trace, &like);
	struct field *const f = batch_fields(b, HEADER_FIELDS);

	if (cls == NULL || f == NULL)
		return false;
	f[0] = (struct field){ header_fields[0].name, value_string(textscan_slice(header.p, 4)) };
	f[1] = (struct field){ header_fields[1].name,
		               { .type = VALUE_U32, .u64 = load_u32(header.p + 4, big) } };
	b->events[b->n] = (struct event){ .name = cls->name,
		                          .dur = ovni_copy_number(st),
		                          .cls = cls,
		                          .first_field = b->nfields,
		                          .nfields = HEADER_FIELDS,
		                          .phase = PHASE_STRUCTURE,
		                          .flags = big ? EVENT_BIG : 0 };
	if (b->bytes != NULL)
		b->bytes[b->n] = header;
	b->nfields += HEADER_FIELDS;
	b->n++;
	return true;
}

/* Adds the fields of the event at p. */
static bool add_raw_fields(struct batch *b, struct event *e, const char *p, struct slice payload, bool big)
{
	struct field *const f = batch_fields(b, EVENT_FIELDS);
	uint16_t n = 0;

	if (f == NULL)
		return false;
	f[n++] = (struct field){ event_fields[0].name, { .type = VALUE_U8, .u64 = (uint8_t)p[0] } };
	f[n++] = (struct field){ event_fields[1].name, value_string(textscan_slice(p + 1, 3)) };
	f[n++] = (struct field){ event_fields[2].name, value_u64(load_u64(p + 4, big)) };
	if ((p[0] & OVNI_FLAG_JUMBO) != 0)
		f[n++] = (struct field){ event_fields[3].name,
			                 { .type = VALUE_U32, .u64 = load_u32(p + OVNI_EVENT_SIZE, big) } };
	if (payload.p != NULL)
		f[n++] = (struct field){ event_fields[4].name,
			                 { .type = VALUE_BYTES, .count = payload.n, .p = payload.p } };
	e->first_field = b->nfields;
	e->nfields = n;
	b->nfields += n;
	return true;
}

/* ---- events ---- */

/* The low bits of the flags give the size of the payload: flags are a field only where other bits are set. */
static bool add_fields(struct batch *b, struct event *e, uint8_t flags, struct slice payload)
{
	struct field *const f = batch_fields(b, 2);
	uint16_t n = 0;

	if (f == NULL)
		return false;
	if ((flags & (OVNI_FLAG_JUMBO | OVNI_FLAGS_RESERVED)) != 0)
		f[n++] = (struct field){ SLICE_LIT("flags"), { .type = VALUE_U8, .u64 = flags } };
	if (payload.p != NULL)
		f[n++] = (struct field){ SLICE_LIT("payload"),
			                 { .type = VALUE_BYTES, .count = payload.n, .p = payload.p } };
	e->first_field = b->nfields;
	e->nfields = n;
	b->nfields += n;
	return true;
}

/* Moves a clock to the time line of the trace, within the range of times. */
static uint64_t add_offset(uint64_t clock, int64_t offset)
{
	const uint64_t by = offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset;

	if (offset < 0)
		return clock < by ? 0 : clock - by;
	return clock > UINT64_MAX - by ? UINT64_MAX : clock + by;
}

bool ovni_event_add(struct ovni_state *st, struct batch *b, const struct ovni_record *record,
                    struct class *cls)
{
	const bool raw = (st->r->want & WANT_RAW) != 0, big = st->stream.big;
	const bool fields = (st->r->want & WANT_FIELDS) != 0 || class_needs_fields(cls);
	const uint64_t clock = load_u64(record->bytes.p + 4, big);
	struct event *const e = &b->events[b->n];

	*e = (struct event){ .ts = raw ? clock : add_offset(clock, st->offset),
		             .dur = ovni_copy_number(st),
		             .name = cls->name,
		             .cls = cls,
		             .track = st->stream.track,
		             .offset = record->offset,
		             .first_field = b->nfields,
		             .phase = PHASE_INSTANT,
		             .flags = big ? EVENT_BIG : 0 };
	if (raw && (st->r->want & WANT_BARE) == 0 &&
	    !add_raw_fields(b, e, record->bytes.p, record->payload, big))
		return false;
	if (!raw && fields && !add_fields(b, e, (uint8_t)record->bytes.p[0], record->payload))
		return false;
	if (b->bytes != NULL)
		b->bytes[b->n] = record->bytes;
	b->n++;
	cls->records++;
	return true;
}

static inline struct slice payload_of(const char *p, uint32_t n)
{
	return slice_of(n > 0 ? p + OVNI_EVENT_SIZE : NULL, n);
}

/*
 * One check of the remaining bytes serves the longest event, so the last few events of a window are left to
 * the caller.  A time cannot leave its range: the first clock is not made negative, none goes backwards, none
 * is above 2^63 - 1.
 */
static inline const char *add_fast(struct ovni_state *st, struct batch *b, const char *p, uint32_t max,
                                   bool big, bool raw)
{
	const struct ovni_codes *const codes = &((const struct ovni_shared *)st->r->shared)->codes;
	const char *const end = st->r->in->end;
	const bool fields = (st->r->want & WANT_FIELDS) != 0, bare = (st->r->want & WANT_BARE) != 0;
	const uint64_t by = raw ? 0 : (uint64_t)st->offset, number = ovni_copy_number(st);
	struct event *e = b->events + b->n, *const full = e + max;
	uint64_t offset = input_offset(st->r->in, p), last = st->last;

	for (; e < full && end - p >= OVNI_EVENT_SIZE + 16; e++) {
		const uint32_t head = load_u32(p, false), payload = (head & 15) + ((head & 15) != 0);
		const uint64_t clock = load_u64(p + 4, big);
		struct class *const cls = find_fast(codes, head);
		if (cls == NULL || clock < last || clock > INT64_MAX)
			break;
		*e = (struct event){ .ts = clock + by,
			             .dur = number,
			             .name = cls->name,
			             .cls = cls,
			             .track = st->stream.track,
			             .offset = offset,
			             .first_field = b->nfields,
			             .phase = PHASE_INSTANT,
			             .flags = big ? EVENT_BIG : 0 };
		if (raw) {
			if (!bare && !add_raw_fields(b, e, p, payload_of(p, payload), big))
				break;
		} else if ((fields || class_needs_fields(cls)) &&
		           !add_fields(b, e, (uint8_t)head, payload_of(p, payload))) {
			break;
		}
		if (b->bytes != NULL)
			b->bytes[e - b->events] = slice_of(p, OVNI_EVENT_SIZE + payload);
		cls->records++;
		last = clock;
		p += OVNI_EVENT_SIZE + payload;
		offset += OVNI_EVENT_SIZE + payload;
	}
	b->n = (uint32_t)(e - b->events);
	st->last = last;
	return p;
}

uint32_t ovni_events_add_fast(struct ovni_state *st, struct batch *b, uint32_t max)
{
	struct reader *const r = st->r;
	const uint32_t before = b->n;
	const bool raw = (r->want & WANT_RAW) != 0;

	if (!ovni_can_be_fast(st))
		return 0;
	/* Byte order and kind are constants in each copy of the loop. */
	const char *const p = r->in->p;
	if (st->stream.big)
		r->in->p = raw ? add_fast(st, b, p, max, true, true) : add_fast(st, b, p, max, true, false);
	else
		r->in->p = raw ? add_fast(st, b, p, max, false, true) : add_fast(st, b, p, max, false, false);
	r->records += b->n - before;
	r->trace->events += b->n - before;
	return b->n - before;
}
