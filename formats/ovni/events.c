/*
 * Event codes and events.  A code (MCV) becomes a class when it is first read; the vocabulary gives its plan,
 * against which payloads are checked.  A code whose events need no further check enters a hash table with two
 * slots for each key, the fast path of the reader.
 * Memory: bounded by OVNI_MAX_CODES, and ANOMALIES_MAX rows for each stream.
 */
#include "ovni/ovni.h"

#include <stdlib.h>

#include "base/match.h"

/* ---- classes of codes ---- */

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

/* Fields of raw events. */
static const struct class_field event_fields[] = {
	{ SLICE_LIT("flags"), SLICE_LIT("u8"), VALUE_U8, 1, NULL },
	{ SLICE_LIT("mcv"), SLICE_LIT("char[3]"), VALUE_STRING, 3, NULL },
	{ SLICE_LIT("clock"), SLICE_LIT("u64"), VALUE_U64, 8, "ns" },
	{ SLICE_LIT("jumbo_size"), SLICE_LIT("u32"), VALUE_U32, 4, "byte" },
	{ SLICE_LIT("payload"), SLICE_LIT("bytes"), VALUE_BYTES, 0, NULL },
};

static const struct class_field header_fields[] = {
	{ SLICE_LIT("magic"), SLICE_LIT("char[4]"), VALUE_STRING, 4, NULL },
	{ SLICE_LIT("version"), SLICE_LIT("u32"), VALUE_U32, 4, NULL },
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
                                     const struct record *rec)
{
	struct quoted q;

	if (c->others.cls == NULL) {
		ovni_report_at(r, OVNI_RULE_LIMIT, rec->offset, rec->ordinal,
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
	return slice_is(name, "flags") || slice_is(name, "payload");
}

const struct plan *ovni_class_plan(const struct class *cls)
{
	const struct plan *m = cls->plan;

	while (m != NULL && m->named.p != NULL && !glob_fits(m->named, cls->name))
		m = m->otherwise;
	return m != NULL ? plan_for_reader(m) : NULL;
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

struct ovni_code *ovni_code_find(struct ovni_codes *codes, struct reader *r, uint32_t head,
                                 const struct record *rec)
{
	const uint32_t bytes = head & 0xffffff00U;
	uint16_t *const recent = &codes->recent[(bytes * OVNI_SPREAD) >> (32 - OVNI_RECENT_BITS)];
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
		return other_codes(codes, r, name, rec);
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

/* Compares a payload with a layout that has texts or repeated values.  *expected: bytes up to the end of the
 * texts, or of one repeated value. */
static enum anomaly_kind walk_layout(const struct plan *m, struct slice payload, uint32_t *expected)
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
			*expected = plan_width(f->type);
			return rest % *expected == 0 ? ANOMALY_NONE : ANOMALY_SIZE;
		} else if (rest < plan_width(f->type)) {
			return ANOMALY_SIZE;
		} else {
			at += plan_width(f->type);
		}
	}
	*expected = at;
	return at == payload.n ? ANOMALY_NONE : ANOMALY_SIZE;
}

/* size: of the payload, or of the data of a jumbo event, which may have been dropped. */
static enum anomaly_kind classify_payload(const struct ovni_code *c, bool jumbo, uint32_t size,
                                          struct slice payload, uint32_t *expected)
{
	const enum anomaly_kind fits = c->old ? ANOMALY_OLD : ANOMALY_NONE;
	const struct plan *const m = c->plan;

	if (m == NULL)
		return model_name((unsigned char)(c->bytes >> 8)) != NULL ? ANOMALY_EVENT : ANOMALY_MODEL;
	if (c->old_size >= 0 && !jumbo && size == (uint32_t)c->old_size)
		return ANOMALY_OLD;
	if (!m->has_layout)
		return fits;
	*expected = m->layout_size;
	if (jumbo != c->jumbo)
		return ANOMALY_JUMBO;
	if (!m->layout_open)
		return size == m->layout_size ? fits : ANOMALY_SIZE;
	if (size < m->layout_size)
		return ANOMALY_SIZE;
	return payload.n == size ? walk_layout(m, payload, expected) : ANOMALY_NONE;
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

/* Returns the head of an event; that of a skipped jumbo event is in st->jumbo. */
static inline const char *head_of(const struct ovni_state *st, const struct record *rec)
{
	return rec->end > rec->p ? rec->p : st->jumbo;
}

/* Returns the payload of an event, or the data of a jumbo event; p NULL: none, or dropped. */
static inline struct slice payload_of(const struct record *rec)
{
	const size_t n = (size_t)(rec->end - rec->p);

	if (n <= OVNI_EVENT_SIZE)
		return SLICE_NONE;
	const size_t head = (rec->p[0] & OVNI_FLAG_JUMBO) != 0 ? OVNI_JUMBO_HEAD : OVNI_EVENT_SIZE;
	return slice_of(rec->p + head, n - head);
}

bool ovni_check_payload(struct ovni_state *st, const struct ovni_code *c, const struct record *rec)
{
	struct reader *const r = st->r;
	struct ovni_codes *const codes = ovni_codes_of(r);
	const char *const p = head_of(st, rec);
	const uint32_t head = load_u32(p, false);
	const bool jumbo = (head & OVNI_FLAG_JUMBO) != 0;
	const struct slice payload = payload_of(rec);
	const uint32_t size = jumbo ? load_u32(p + OVNI_EVENT_SIZE, st->stream.big) : payload.n;
	/* Nothing to compare with: no vocabulary, or too many codes. */
	const bool unchecked = r->trace->vocabulary == NULL || c == &codes->others;
	uint32_t expected = 0;
	const enum anomaly_kind kind =
	    unchecked ? ANOMALY_NONE : classify_payload(c, jumbo, size, payload, &expected);

	if (kind == ANOMALY_NONE) {
		if (!jumbo && (c->plan == NULL || !c->plan->layout_open) &&
		    (r->range == NULL || plan_keeps_times(c->cls->plan)))
			remember_fast(codes, head, c->cls);
		return true;
	}
	if (st->anomalies == NULL && (st->anomalies = calloc(1, sizeof *st->anomalies)) == NULL)
		return false;
	const uint16_t code = (uint16_t)(c - codes->list);
	struct anomaly *const a = find_row(st->anomalies, codes, kind, code);
	if (a == NULL) {
		finding_tally_add(&st->anomalies->others, rec->offset, rec->ordinal, 0, 0);
		return true;
	}
	if (a->tally.count == 0) {
		a->kind = (uint8_t)kind;
		a->jumbo = jumbo;
		a->code = code;
	}
	finding_tally_add(&a->tally, rec->offset, rec->ordinal, size, expected);
	return true;
}

static const char *event_kind(bool jumbo)
{
	return jumbo ? "a jumbo event" : "a normal event";
}

#define REPORT(j, rule, a, ...)                                                                              \
	finding_add_tally((j), &ovni_rules[OVNI_RULE_##rule], &(a)->tally, __VA_ARGS__)

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

/* Returns what stands before the expected size: of a payload that is too short, or of repeated values. */
static const char *before_expected(const struct anomaly *a, const struct plan *m)
{
	if (m == NULL || !m->layout_open)
		return "";
	if (a->kind == ANOMALY_JUMBO || a->tally.now < m->layout_size)
		return "at least ";
	return m->nlayout > 0 && m->layout[m->nlayout - 1].repeated ? "a multiple of " : "";
}

static void report_anomaly(struct findings *j, const struct anomaly *a, const struct ovni_code *c)
{
	const char *const before = before_expected(a, c->plan), *const s = a->tally.now == 1 ? "" : "s";
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
		REPORT(j, PAYLOAD_SIZE, a,
		       "event %s: %s with %" PRIu64 " byte%s, expected %s with %s%" PRIu64, name.s,
		       event_kind(a->jumbo), a->tally.now, s, event_kind(c->jumbo), before, a->tally.before);
		break;
	case ANOMALY_TEXT:
		REPORT(j, TEXT_END, a, "event %s: the string has no NUL within the %" PRIu64 " bytes of data",
		       name.s, a->tally.now);
		break;
	case ANOMALY_SIZE:
		REPORT(j, PAYLOAD_SIZE, a, "event %s: a payload of %" PRIu64 " byte%s, expected %s%" PRIu64,
		       name.s, a->tally.now, s, before, a->tally.before);
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
	finding_add_tally(r->findings, &ovni_rules[OVNI_RULE_UNKNOWN_EVENT], &all->others,
	                  "further events are unknown or have an unexpected payload");
}

/* ---- raw events ---- */

struct class *ovni_header_class(struct reader *r)
{
	const struct class like = { .name = SLICE_LIT("header"),
		                    .fields = header_fields,
		                    .nfields = HEADER_FIELDS };

	return trace_plan_class(r->trace, &like);
}

static void add_header_fields(const struct ovni_state *st, const char *p, struct batch *b, struct event *e)
{
	struct field *const f = batch_event_fields(b, e, HEADER_FIELDS);

	if (f == NULL)
		return;
	f[0] = (struct field){ header_fields[0].name, value_string(textscan_slice(p, 4)) };
	f[1] = (struct field){ header_fields[1].name,
		               { .type = VALUE_U32, .u64 = load_u32(p + 4, st->stream.big) } };
}

void ovni_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	const struct ovni_state *const st = r->state;
	const bool big = st->stream.big;
	const char *p = rec->p;
	uint16_t n = 0;

	if (rec->role == RECORD_IS_FILE)
		ovni_file_fields(st, b, e);
	if (rec->role == RECORD_IS_GAP)
		add_header_fields(st, p, b, e);
	if (rec->role != RECORD_IS_EVENT)
		return;
	if (rec->end == p) /* the batch outlives the state */
		p = arena_copy(&b->scratch, slice_of(st->jumbo, OVNI_JUMBO_HEAD)).p;
	struct field *const f = batch_fields(b, EVENT_FIELDS);
	if (f == NULL || p == NULL)
		return;
	const struct slice payload = payload_of(rec);
	f[n++] = (struct field){ event_fields[0].name, { .type = VALUE_U8, .u64 = (uint8_t)p[0] } };
	f[n++] = (struct field){ event_fields[1].name, value_string(textscan_slice(p + 1, 3)) };
	f[n++] = (struct field){ event_fields[2].name, value_u64(rec->ts) };
	if ((p[0] & OVNI_FLAG_JUMBO) != 0)
		f[n++] = (struct field){ event_fields[3].name,
			                 { .type = VALUE_U32, .u64 = load_u32(p + OVNI_EVENT_SIZE, big) } };
	if (payload.p != NULL)
		f[n++] = (struct field){ event_fields[4].name,
			                 { .type = VALUE_BYTES, .count = payload.n, .p = payload.p } };
	batch_set_fields(b, e, n);
}

/* ---- events ---- */

/* The low bits of the flags give the size of the payload: flags are a field only where other bits are set. */
static inline void add_fields(struct batch *b, struct event *e, uint8_t flags, struct slice payload)
{
	struct field *const f = batch_fields(b, 2);
	uint16_t n = 0;

	if (f == NULL)
		return;
	if ((flags & (OVNI_FLAG_JUMBO | OVNI_FLAGS_RESERVED)) != 0)
		f[n++] = (struct field){ SLICE_LIT("flags"), { .type = VALUE_U8, .u64 = flags } };
	if (payload.p != NULL)
		f[n++] = (struct field){ SLICE_LIT("payload"),
			                 { .type = VALUE_BYTES, .count = payload.n, .p = payload.p } };
	batch_set_fields(b, e, n);
}

void ovni_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	if (reader_wants_fields(r, e))
		add_fields(b, e, (uint8_t)*head_of(r->state, rec), payload_of(rec));
}

/* ---- the fast path ---- */

/* Returns the end of the loops below: an event of any length that starts before it is in the window.  The
 * last few events of a window are left to ovni_record(). */
static const char *last_start(const struct input *in, const char *limit)
{
	const size_t rest = (size_t)(in->end - in->p), longest = OVNI_EVENT_SIZE + 16;

	if (rest < longest)
		return in->p;
	return limit < in->end - longest + 1 ? limit : in->end - longest + 1;
}

/* Adds events.  Times stay in range: the offset does not make the first clock negative, no clock goes
 * backwards, none is above 2^63 - 1. */
static inline const char *add_fast(struct ovni_state *st, struct batch *b, const char *limit, bool big)
{
	const struct ovni_codes *const codes = ovni_codes_of(st->r);
	const bool raw = (st->r->want & WANT_RAW) != 0, fields = !raw && (st->r->want & WANT_FIELDS) != 0;
	const uint64_t shift = raw ? 0 : (uint64_t)st->offset, number = raw ? st->r->number : 0;
	const char *p = st->r->in->p;
	struct event *e = b->events + b->n, *const full = b->events + b->cap;
	uint64_t offset = input_offset(st->r->in, p), last = st->last;

	for (; e < full && p < limit; e++) {
		const uint32_t head = load_u32(p, false), n = ovni_payload_size(head);
		const uint64_t clock = load_u64(p + 4, big);
		struct class *const cls = ovni_fast_class(codes, head);
		if (cls == NULL || clock < last || clock > INT64_MAX)
			break;
		*e = (struct event){ .ts = clock + shift,
			             .dur = number,
			             .name = cls->name,
			             .cls = cls,
			             .track = st->stream.track,
			             .offset = offset,
			             .first_field = b->nfields,
			             .phase = PHASE_INSTANT,
			             .flags = big ? EVENT_BIG : 0 };
		if (fields || (!raw && class_needs_fields(cls)))
			add_fields(b, e, (uint8_t)head, slice_of(n > 0 ? p + OVNI_EVENT_SIZE : NULL, n));
		if (b->bytes != NULL)
			b->bytes[e - b->events] = slice_of(p, OVNI_EVENT_SIZE + n);
		cls->records++;
		last = clock;
		p += OVNI_EVENT_SIZE + n;
		offset += OVNI_EVENT_SIZE + n;
	}
	const uint32_t added = (uint32_t)(e - b->events) - b->n;
	b->n += added;
	st->r->records += added;
	st->r->trace->events += added;
	st->last = last;
	return p;
}

/* Only checks events, and adds their times to the range, if one is wanted.  Clocks are compared as signed
 * numbers: one of 2^63 or more also ends the loop. */
static inline const char *check_fast(struct ovni_state *st, const char *limit, bool big)
{
	const struct ovni_codes *const codes = ovni_codes_of(st->r);
	const char *const from = st->r->in->p, *p = from;
	int64_t before = (int64_t)st->last;
	uint64_t n = 0;

	while (p < limit) {
		const uint32_t head = load_u32(p, false);
		const int64_t clock = (int64_t)load_u64(p + 4, big);
		if (ovni_fast_class(codes, head) == NULL || clock < before || clock < 0)
			break;
		before = clock;
		n++;
		p += OVNI_EVENT_SIZE + ovni_payload_size(head);
	}
	if (st->r->range != NULL && n > 0)
		reader_range_add(st->r->range, load_u64(from + 4, big) + (uint64_t)st->offset,
		                 (uint64_t)before + (uint64_t)st->offset);
	st->last = (uint64_t)before;
	st->r->records += n;
	st->r->trace->events += n;
	return p;
}

bool ovni_run(struct reader *r, const char *limit, struct batch *b)
{
	struct ovni_state *const st = r->state;

	/* Not while a jumbo event is skipped, nor if the offset makes clocks negative: these are counted. */
	if (st->is_long || st->last > INT64_MAX || (st->offset < 0 && st->last < 0 - (uint64_t)st->offset))
		return true;
	if (b != NULL && (r->want & (WANT_RAW | WANT_BARE)) == WANT_RAW)
		return false;
	limit = last_start(r->in, limit);
	if (b != NULL && (r->want & WANT_TIMES) != 0 && r->range == NULL)
		r->in->p = st->stream.big ? add_fast(st, b, limit, true) : add_fast(st, b, limit, false);
	else
		r->in->p = st->stream.big ? check_fast(st, limit, true) : check_fast(st, limit, false);
	return true;
}
