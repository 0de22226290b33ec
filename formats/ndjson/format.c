/*
 * The format, and its probe: the first line is an object with type "trace" and a version, which no other
 * format of JSON lines has.  Selected lines (grep) start with another type or a kind; their combination of
 * members is unique, too.
 */
#include "ndjson/ndjson.h"

/* ---- probe ---- */

#define TRACE_BITS 56
#define OTHER_BITS 40
#define LIKELY_BITS 24 /* the bytes end before the deciding member */
#define HAS(m) (UINT64_C(1) << NDJSON_M_##m)

/* Returns the members that identify a line of this type. */
static uint64_t signature(enum ndjson_type type)
{
	return type == NDJSON_TRACE       ? HAS(TYPE) | HAS(VERSION)
	       : type == NDJSON_TRACK     ? HAS(TYPE) | HAS(INDEX) | HAS(KIND)
	       : type == NDJSON_CLASS     ? HAS(TYPE) | HAS(INDEX) | HAS(CATEGORY)
	       : type == NDJSON_TRACE_END ? HAS(TYPE) | HAS(RECORDS) | HAS(LOSSES)
	                                  : HAS(KIND) | HAS(TS) | HAS(CLASS) | HAS(CATEGORY) | HAS(OFFSET);
}

/* Adds the member to `seen`, and sets *type if it is `type` or `kind`. */
static void see_member(const struct json_walk *w, uint64_t *seen, enum ndjson_type *type)
{
	char word[JSON_WORD];
	const enum ndjson_member m = ndjson_find_member(json_plain(word, json_token_text(&w->key)));

	if (m == NDJSON_M_TYPE || (m == NDJSON_M_KIND && (*seen & HAS(TYPE)) == 0))
		*type = ndjson_find_type(json_plain(word, json_token_text(&w->value)), m == NDJSON_M_KIND);
	if (m != NDJSON_MEMBERS)
		*seen |= UINT64_C(1) << m;
}

static int probe_object(const char *p, const char *e, bool complete)
{
	struct json x = { .complete = complete, .depth = JSON_MAX_DEPTH };
	enum ndjson_type type = NDJSON_TYPES;
	uint64_t seen = 0;

	p = json_skip_blanks(p, e);
	if (p == e || *p != '{')
		return 0;
	struct json_walk w = json_walk(&x, p, e);
	while (json_walk_next(&w))
		see_member(&w, &seen, &type);
	if (type != NDJSON_TYPES && (signature(type) & ~seen) == 0)
		return type == NDJSON_TRACE ? TRACE_BITS : OTHER_BITS;
	return type == NDJSON_TRACE && w.p == NULL && x.error.cut ? LIKELY_BITS : 0;
}

#define PROBED_LINES 8 /* the first lines may be damaged */

int ndjson_probe(struct slice head, bool complete)
{
	const char *p = head.p, *const e = p + head.n;

	p += utf8_has_mark(p, head.n) ? 3 : 0;
	int bits = probe_object(p, e, complete);
	for (int i = 1; i < PROBED_LINES && bits == 0; i++) {
		const char *const feed = memchr(p, '\n', (size_t)(e - p));
		if (feed == NULL)
			break;
		p = feed + 1;
		bits = probe_object(p, e, complete) > LIKELY_BITS ? LIKELY_BITS : 0;
	}
	return bits;
}

#define BEGINNING 1024    /* bytes that are read to find the type of a line ... */
#define BEGINNING_DEPTH 8 /* ... and depth of their values, which bounds the cost of nested braces */

/* Returns the member that must follow the type in the first bytes. */
static uint64_t second_member(enum ndjson_type type)
{
	return type == NDJSON_TRACE                           ? HAS(VERSION)
	       : type == NDJSON_TRACK || type == NDJSON_CLASS ? HAS(INDEX)
	       : type == NDJSON_TRACE_END                     ? HAS(RECORDS)
	                                                      : HAS(TS);
}

enum ndjson_type ndjson_begins(const char *p, const char *e)
{
	struct json x = { .depth = BEGINNING_DEPTH };
	enum ndjson_type type = NDJSON_TYPES;
	uint64_t seen = 0;

	e = e - p > BEGINNING ? p + BEGINNING : e;
	if (*p != '{')
		return NDJSON_TYPES;
	struct json_walk w = json_walk(&x, p, e);
	while (json_walk_next(&w)) {
		see_member(&w, &seen, &type);
		if (seen == 0)
			break; /* unknown first member: no line of the format */
		if (type != NDJSON_TYPES && (seen & second_member(type)) != 0)
			return type;
	}
	return NDJSON_TYPES;
}

/* ---- time 0 ---- */

#define HEAD (1U << 18) /* bytes that are searched for a time before 0 */

/* Whether the line states that times may be before 0, or has a time before 0. */
static bool has_early_time(const char *p, const char *e)
{
	struct json x = { .depth = JSON_MAX_DEPTH };

	if (p == e || *p != '{')
		return false;
	struct json_walk w = json_walk(&x, p, e);
	char word[JSON_WORD];
	while (json_walk_next(&w)) {
		const enum ndjson_member m = ndjson_find_member(json_plain(word, json_token_text(&w.key)));
		if (m == NDJSON_M_TS || m == NDJSON_M_SIGNED)
			return w.value.kind == (m == NDJSON_M_TS ? JSON_INT : JSON_TRUE);
	}
	return false;
}

uint64_t ndjson_zero(struct input *in)
{
	const struct slice head = reader_peek(in, HEAD);
	const char *p = head.p, *const e = head.p + head.n;

	while (p < e) {
		const char *const feed = memchr(p, '\n', (size_t)(e - p));
		const char *const end = feed != NULL ? feed + 1 : e;
		if (has_early_time(json_skip_blanks(p, end), end))
			return TRACE_ZERO;
		p = end;
	}
	return 0;
}

/* ---- format ---- */

const struct rule ndjson_rules[NDJSON_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "ndjson/rules.def"
#undef RULE
	{ .id = NULL }
};
static const char *const suffixes[] = { ".ndjson", ".jsonl", NULL };

const struct format ndjson_format = {
	.name = "ndjson",
	.title = "NDJSON, one event a line",
	.spec = "tracetool-ndjson(5)",
	.suffixes = suffixes,
	.reader = &ndjson_reader_ops,
	.recover = &ndjson_recover_ops,
	.writer = &ndjson_writer_ops,
	.rules = ndjson_rules,
	.losses = ndjson_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ARROWS | HAS_ASYNC | HAS_ENDS |
	            HAS_STACKS | HAS_LISTS | HAS_NAN | HAS_NOT_UTF8 | HAS_NUL | HAS_FACTS | HAS_EPOCH |
	            HAS_HOSTS | HAS_DEEP | HAS_DEEP_JSON | HAS_NUMBERS | HAS_STEPS | HAS_REPEATED,
};
