#include "dial9/dial9_state.h"

/*
 * Frames that are larger than this program holds: legal, and so walked piece by
 * piece, said and left out.  Unlike all else, nothing here starts over; what
 * was looked at is gone from the window.
 */

struct skip {
	struct d9_state *st;
	struct input *in;
	const struct d9_schema *s;
	const struct d9_field *field;
	struct d9_fault fault;
	uint64_t at; /* of the fault */
	bool stuck;
};

static bool value(struct skip *k, uint8_t type, unsigned depth);

/* n more bytes, at most 16, or NULL. */
static const char *
take(struct skip *k, size_t n, const char *what)
{
	if (!input_need(k->in, n)) {
		k->st->lack = (struct d9_lack){ .what = what, .bytes = n - (size_t)(k->in->end - k->in->p) };
		return NULL;
	}
	k->in->p += n;
	return k->in->p - n;
}

/* n bytes that nobody looks at. */
static bool
drop(struct skip *k, uint64_t n, uint64_t says, const char *what)
{
	const uint64_t all = n;

	while (n > 0) {
		const size_t left = (size_t)(k->in->end - k->in->p);
		const size_t step = n < left ? (size_t)n : left;
		k->in->p += step;
		n -= step;
		if (n > 0 && !input_more(k->in)) {
			d9_lacks_length(k->st, what, says, n, all - n);
			return false;
		}
	}
	return true;
}

static bool
stuck(struct skip *k, enum d9_rule rule, uint64_t at, uint64_t v)
{
	k->stuck = true;
	k->at = at;
	k->fault = (struct d9_fault){ rule, NULL, v };
	return false;
}

static bool
count(struct skip *k, uint32_t *n, const char *what)
{
	const char *const p = take(k, 4, what);

	*n = p != NULL ? load_u32(p, false) : 0;
	return p != NULL;
}

static bool
run(struct skip *k, unsigned each, const char *what)
{
	uint32_t n;

	return count(k, &n, what) && drop(k, (uint64_t)n * each, n, what);
}

static bool
varint(struct skip *k)
{
	const uint64_t start = input_offset(k->in, k->in->p);

	for (unsigned i = 0;; i++) {
		const char *const p = take(k, 1, "LEB128 number");
		if (p == NULL)
			return false;
		if ((unsigned char)*p < 0x80)
			return true;
		if (i == D9_VARINT_MAX - 1)
			return stuck(k, D9_RULE_LEB128_TOO_LONG, start, 0);
	}
}

static bool
elements(struct skip *k, bool map, unsigned depth)
{
	const uint64_t start = input_offset(k->in, k->in->p);
	uint32_t n;

	if (depth >= D9_MAX_NESTING)
		return stuck(k, D9_RULE_NESTING, start, depth + 1);
	if (!count(k, &n, map ? "map count" : "list count"))
		return false;
	for (uint64_t i = 0; i < (uint64_t)n << map; i++) {
		const uint64_t at = input_offset(k->in, k->in->p);
		const char *const p = take(k, 1, "element tag");
		const uint8_t type = p != NULL ? (uint8_t)*p : 0;
		if (p == NULL)
			return false;
		if (!d9_type_known(type) || (type & D9_OPTIONAL) != 0)
			return stuck(k, D9_RULE_UNKNOWN_ELEMENT_TYPE, at, type);
		if (!value(k, type, depth + 1))
			return false;
	}
	return true;
}

static bool
string_map(struct skip *k)
{
	uint32_t n;

	if (!count(k, &n, "map count"))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!run(k, 1, "key_len") || !run(k, 1, "val_len"))
			return false;
	return true;
}

static bool
value(struct skip *k, uint8_t type, unsigned depth)
{
	if ((type & D9_OPTIONAL) != 0) {
		const uint64_t at = input_offset(k->in, k->in->p);
		const char *const p = take(k, 1, "presence byte");
		const uint8_t there = p != NULL ? (uint8_t)*p : 0;
		if (there > 1)
			return stuck(k, D9_RULE_PRESENCE_BYTE, at, there);
		if (there == 0)
			return p != NULL;
	}
	switch (type & ~D9_OPTIONAL) {
	case D9_BOOL:
	case D9_U8:
		return take(k, 1, "value") != NULL;
	case D9_U16:
		return take(k, 2, "value") != NULL;
	case D9_U32:
	case D9_POOLED_STRING:
	case D9_POOLED_STACK:
		return take(k, 4, "value") != NULL;
	case D9_STRING:
		return run(k, 1, "string length");
	case D9_BYTES:
		return run(k, 1, "bytes length");
	case D9_STACK:
		return run(k, 8, "frame count");
	case D9_VARINT:
		return varint(k);
	case D9_STRING_MAP:
		return string_map(k);
	case D9_LIST:
	case D9_MAP:
		return elements(k, (type & ~D9_OPTIONAL) == D9_MAP, depth);
	default:
		return take(k, 8, "value") != NULL;
	}
}

/* ---- the three things that can be so large ---- */

static bool
event(struct skip *k, const struct d9_schema *s)
{
	k->s = s;
	if (take(k, s->timed ? D9_TIMED_EVENT_HEAD : D9_EVENT_HEAD, "event") == NULL)
		return false;
	for (uint32_t i = 0; i < s->nfields; i++) {
		k->field = &s->fields[i];
		if (!value(k, k->field->type, 0))
			return false;
	}
	return true;
}

static bool
pool_entry(struct skip *k, uint8_t tag, bool first, uint32_t *id)
{
	if (first && take(k, D9_POOL_HEAD, "count") == NULL)
		return false;
	const char *const p = take(k, 4, "pool_id");
	if (p == NULL)
		return false;
	*id = load_u32(p, false);
	return run(k, tag == D9_TAG_STRINGS ? 1 : 8, tag == D9_TAG_STRINGS ? "data_len" : "frame_count");
}

static bool
annotation(struct skip *k)
{
	const char *const p = take(k, 4, "key_len");

	return p != NULL && drop(k, load_u16(p + 2, false), load_u16(p + 2, false), "key_len") &&
	       run(k, 1, "value_len");
}

/* One entry less to come; the first one opens its frame. */
static void
account_entry(struct d9_state *st, const struct d9_frame *f, uint8_t tag, uint32_t n)
{
	static const enum d9_structure structures[] = { [D9_TAG_STRINGS] = D9_S_STRINGS,
		                                        [D9_TAG_STACKS] = D9_S_STACKS,
		                                        [D9_TAG_ANNOTATIONS] = D9_S_ANNOTATIONS };

	st->records++;
	st->structure[structures[tag]]->records++;
	if (st->open.left == 0)
		st->open = (struct d9_open_frame){ .tag = tag, .left = n, .count = n, .offset = f->offset };
	if (--st->open.left == 0)
		st->last_offset = st->open.offset;
}

static void
account_event(struct d9_state *st, struct d9_schema *s, const struct d9_frame *f)
{
	st->records++;
	st->r->trace->events += !s->structure;
	s->cls->records++;
	st->last_offset = f->offset;
}

static enum d9_result
skip_frame(struct skip *k, const struct d9_frame *f, uint8_t tag)
{
	struct d9_state *const st = k->st;
	const bool first = st->open.left == 0;
	const uint32_t n =
	    first && (tag == D9_TAG_STRINGS || tag == D9_TAG_STACKS) ? load_u32(f->p + 1, false) : 0;
	uint32_t id = 0;
	bool ok = false;

	if (tag == D9_TAG_EVENT && first) {
		struct d9_schema *const s = d9_schema_of(st, load_u16(f->p + 1, false));
		if (s->timed)
			d9_advance(st, f);
		if ((ok = event(k, s)))
			account_event(st, s, f);
	} else if (tag == D9_TAG_STRINGS || tag == D9_TAG_STACKS) {
		if ((ok = pool_entry(k, tag, first, &id))) {
			account_entry(st, f, tag, n);
			st->pools_full = true; /* its id is defined, and not kept */
			d9_tally_add(&st->pool_limit, f, id);
		}
	} else if ((ok = !first && annotation(k))) {
		account_entry(st, f, tag, 0);
	}
	if (k->stuck)
		return d9_say_fault(st, k->s, k->field, f, k->at, &k->fault);
	if (ok)
		return D9_DONE;
	st->lack.schema = k->field != NULL ? k->s : NULL;
	st->lack.field = k->field;
	return D9_MORE;
}

enum d9_result
d9_skip(struct d9_state *st, struct d9_frame *f, struct batch *b)
{
	struct input *const in = st->r->in;
	struct skip k = { .st = st, .in = in };
	const uint8_t tag = f->tag;

	if (st->open.left == 0 && (tag == D9_TAG_SCHEMA || tag == D9_TAG_ANNOTATIONS)) {
		d9_find(st, D9_RULE_LIMIT, f, "the frame is longer than %u bytes", D9_MAX_FRAME);
		return D9_BAD;
	}
	input_hold(in, NULL); /* nothing will point into it */
	enum d9_result result = skip_frame(&k, f, tag);
	input_hold(in, &b->holds);
	if (result == D9_DONE)
		finding_add(st->r->findings, &d9_rules[D9_RULE_LIMIT], f->at, f->ordinal,
		            "%" PRIu64 " bytes left out: at most %u can be held",
		            input_offset(in, in->p) - f->at, D9_MAX_FRAME);
	return result;
}
