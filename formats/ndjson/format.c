#include "ndjson/ndjson.h"

/* ---- probe ---- */

/*
 * The first line: an object with type "trace" and a version.  No other format of
 * JSON lines has both.  Lines that were selected begin with another type, or a
 * kind, and no other format has their members together either.
 */

#define TRACE_BITS 56
#define OTHER_BITS 40
#define LIKELY_BITS 24 /* the bytes end before what would decide */
#define HAS(m) (UINT64_C(1) << NDJSON_M_##m)

/* What speaks for the format, of each type. */
static uint64_t telling(enum ndjson_type type)
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

/* The type of a line of the trace, or of an event's. */
static enum ndjson_type type_of(struct slice word, bool of_event)
{
	unsigned i = of_event ? 0 : NDJSON_TRACE;
	const unsigned end = of_event ? NDJSON_TRACE : NDJSON_TYPES;

	if (of_event && (slice_is(word, "async") || slice_is(word, "flow_step")))
		return NDJSON_SPAN;
	while (i < end && !slice_is(word, ndjson_type_words[i]))
		i++;
	return i < end ? i : NDJSON_TYPES;
}

static uint64_t member_bit(struct slice key)
{
	for (unsigned m = 0; m < NDJSON_MEMBERS; m++)
		if (slice_is(key, ndjson_member_words[m]))
			return UINT64_C(1) << m;
	return 0;
}

int ndjson_probe(struct slice head, bool complete)
{
	struct json x = { .complete = complete, .depth = JSON_MAX_DEPTH };
	const char *p = json_skip_blanks(head.p, head.p + head.n), *const e = head.p + head.n;
	enum ndjson_type type = NDJSON_TYPES;
	enum json_kind kind;
	uint64_t seen = 0;
	struct slice key;
	bool more;

	if (p == e || *p != '{')
		return 0;
	for (p = json_first(&x, p, e, &more); p != NULL && more; p = json_next(&x, p, e, '}', &more)) {
		const char *const v = json_key(&x, p, e, &key, &kind);
		p = v != NULL ? json_value(&x, v, e, &kind) : NULL;
		if (p == NULL)
			break;
		seen |= member_bit(key);
		if (slice_is(key, "type"))
			type = type_of(json_text(v, p, kind), false);
		else if (slice_is(key, "kind") && (seen & HAS(TYPE)) == 0)
			type = type_of(json_text(v, p, kind), true);
	}
	if (type != NDJSON_TYPES && (telling(type) & ~seen) == 0)
		return type == NDJSON_TRACE ? TRACE_BITS : OTHER_BITS;
	return type == NDJSON_TRACE && p == NULL && x.error.cut ? LIKELY_BITS : 0;
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
