/*
 * The format, and its probe: the first line is an object with type "trace" and a version, which no other
 * format of JSON lines has.  Selected lines (grep) start with another type or a kind; no other format has
 * their combination of members either.
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
	switch (type) {
	case NDJSON_TYPES:
		return 0;
	case NDJSON_TRACE:
		return HAS(TYPE) | HAS(VERSION);
	case NDJSON_TRACK:
		return HAS(TYPE) | HAS(INDEX) | HAS(KIND);
	case NDJSON_CLASS:
		return HAS(TYPE) | HAS(INDEX) | HAS(CATEGORY);
	case NDJSON_TRACE_END:
		return HAS(TYPE) | HAS(RECORDS) | HAS(LOSSES);
	default:
		return HAS(KIND) | HAS(TS) | HAS(CLASS) | HAS(CATEGORY) | HAS(OFFSET);
	}
}

/* Returns the type for the value of `kind` (of_event) or of `type`; NDJSON_TYPES: none. */
static enum ndjson_type find_type(struct slice name, bool of_event)
{
	unsigned i = of_event ? 0 : NDJSON_TRACE;
	const unsigned end = of_event ? NDJSON_TRACE : NDJSON_TYPES;

	if (of_event && (slice_is(name, "async") || slice_is(name, "flow_step")))
		return NDJSON_SPAN;
	while (i < end && !slice_is(name, ndjson_type_names[i]))
		i++;
	return i < end ? i : NDJSON_TYPES;
}

static uint64_t member_bit(struct slice key)
{
	for (unsigned m = 0; m < NDJSON_MEMBERS; m++)
		if (slice_is(key, ndjson_member_names[m]))
			return UINT64_C(1) << m;
	return 0;
}

int ndjson_probe(struct slice head, bool complete)
{
	struct json x = { .complete = complete, .depth = JSON_MAX_DEPTH };
	const char *p = json_skip_blanks(head.p, head.p + head.n), *const e = head.p + head.n;
	enum ndjson_type type = NDJSON_TYPES;
	uint64_t seen = 0;

	if (p == e || *p != '{')
		return 0;
	struct json_walk w = json_walk(&x, p, e);
	while (json_walk_next(&w)) {
		const struct slice key = json_token_text(&w.key), text = json_token_text(&w.value);
		seen |= member_bit(key);
		if (slice_is(key, "type"))
			type = find_type(text, false);
		else if (slice_is(key, "kind") && (seen & HAS(TYPE)) == 0)
			type = find_type(text, true);
	}
	if (type != NDJSON_TYPES && (signature(type) & ~seen) == 0)
		return type == NDJSON_TRACE ? TRACE_BITS : OTHER_BITS;
	return type == NDJSON_TRACE && w.p == NULL && x.error.cut ? LIKELY_BITS : 0;
}

/* ---- format ---- */

const struct rule ndjson_rules[NDJSON_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "ndjson/rules.def"
#undef RULE
	{ .id = NULL }
};
static const char *const suffixes[] = { ".ndjson", ".jsonl", NULL };

extern const struct format ndjson_format;

const struct format ndjson_format = {
	.name = "ndjson",
	.title = "NDJSON, one event a line",
	.spec = "tracetool-ndjson(5)",
	.suffixes = suffixes,
	.reader = &ndjson_reader_ops,
	.writer = &ndjson_writer_ops,
	.rules = ndjson_rules,
	.losses = ndjson_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ARROWS | HAS_ASYNC | HAS_ENDS |
	            HAS_STACKS | HAS_LISTS | HAS_NAN | HAS_NOT_UTF8 | HAS_NUL | HAS_FACTS | HAS_EPOCH |
	            HAS_DEEP | HAS_NUMBERS | HAS_STEPS,
};
