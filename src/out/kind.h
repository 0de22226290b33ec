#ifndef OUT_KIND_H
#define OUT_KIND_H

#include <string.h>

#include "base/numbers.h"
#include "model/event_traits.h"

/*
 * The kind of an event, and its names: in tables, lines and reports; in words; in words as part of a name.
 * Formats without kinds have a schema for each kind, or store its name (out/words.h).  The order is part of
 * the output of CTF.  An async span overlaps others of its track; a step is an arrow that arrives and
 * continues; structure is no event, and is not among EVENT_KINDS.
 */
#define EVENT_KIND_ROWS(ROW)                                                                                 \
	ROW(SPAN, "span", "span", "span", PHASE_SPAN, 0)                                                     \
	ROW(ASYNC, "async", "async span", "async", PHASE_SPAN, EVENT_ASYNC)                                  \
	ROW(INSTANT, "instant", "instant", "instant", PHASE_INSTANT, 0)                                      \
	ROW(COUNTER, "counter", "counter", "counter", PHASE_COUNTER, 0)                                      \
	ROW(ARROW_OUT, "flow_out", "arrow out", "arrow-out", PHASE_FLOW_OUT, 0)                              \
	ROW(ARROW_IN, "flow_in", "arrow in", "arrow-in", PHASE_FLOW_IN, 0)                                   \
	ROW(ARROW_STEP, "flow_step", "arrow step", "arrow-step", PHASE_FLOW_IN, EVENT_STEP)                  \
	ROW(BEGIN, "begin", "begin", "begin", PHASE_BEGIN, 0)                                                \
	ROW(END, "end", "end", "end", PHASE_END, 0)                                                          \
	ROW(STRUCTURE, "structure", "structure", "structure", PHASE_STRUCTURE, 0)

enum event_kind {
#define ROW(kind, ...) EVENT_KIND_##kind,
	EVENT_KIND_ROWS(ROW)
#undef ROW
	    EVENT_KINDS = EVENT_KIND_STRUCTURE
};

enum kind_naming { KIND_NAME, KIND_WORDS, KIND_PART, KIND_NAMINGS };

struct event_kind_row {
	struct slice names[KIND_NAMINGS]; /* NUL-terminated */
	uint8_t phase, flags;
};

static inline const struct event_kind_row *event_kind_row(enum event_kind kind)
{
	static const struct event_kind_row rows[EVENT_KINDS + 1] = {
#define ROW(kind, name, words, part, phase, flags)                                                           \
	{ { SLICE_LIT(name), SLICE_LIT(words), SLICE_LIT(part) }, phase, flags },
		EVENT_KIND_ROWS(ROW)
#undef ROW
	};

	return &rows[kind];
}

static inline enum event_kind event_kind(const struct event *e)
{
	static const uint8_t kinds[] = {
		[PHASE_SPAN] = EVENT_KIND_SPAN,        [PHASE_BEGIN] = EVENT_KIND_BEGIN,
		[PHASE_END] = EVENT_KIND_END,          [PHASE_INSTANT] = EVENT_KIND_INSTANT,
		[PHASE_COUNTER] = EVENT_KIND_COUNTER,  [PHASE_FLOW_OUT] = EVENT_KIND_ARROW_OUT,
		[PHASE_FLOW_IN] = EVENT_KIND_ARROW_IN, [PHASE_STRUCTURE] = EVENT_KIND_STRUCTURE,
	};

	if (event_is_step(e))
		return EVENT_KIND_ARROW_STEP;
	return event_is_async(e) ? EVENT_KIND_ASYNC : (enum event_kind)kinds[e->phase];
}

static inline const char *event_kind_name(enum event_kind kind)
{
	return event_kind_row(kind)->names[KIND_NAME].p;
}

/* Returns EVENT_KINDS if no kind has the name. */
static inline enum event_kind event_kind_named(struct slice name, enum kind_naming naming)
{
	unsigned kind = 0;

	while (kind < EVENT_KINDS && !slice_equal(event_kind_row((enum event_kind)kind)->names[naming], name))
		kind++;
	return (enum event_kind)kind;
}

static inline void event_set_kind(struct event *e, enum event_kind kind)
{
	e->phase = event_kind_row(kind)->phase;
	e->flags = event_kind_row(kind)->flags;
}

static inline bool kind_is_span(enum event_kind kind)
{
	return kind == EVENT_KIND_SPAN || kind == EVENT_KIND_ASYNC;
}

static inline bool kind_is_arrow(enum event_kind kind)
{
	return kind == EVENT_KIND_ARROW_OUT || kind == EVENT_KIND_ARROW_IN || kind == EVENT_KIND_ARROW_STEP;
}

/* ---- types of values: their names in the output, and conversions ---- */

#define VALUE_TYPES (VALUE_JSON + 1)

static inline const char *value_type_name(unsigned type)
{
	static const char *const names[VALUE_TYPES] = {
		[VALUE_NONE] = "none",       [VALUE_BOOL] = "bool",     [VALUE_U8] = "u8",
		[VALUE_U16] = "u16",         [VALUE_U32] = "u32",       [VALUE_U64] = "u64",
		[VALUE_I8] = "i8",           [VALUE_I16] = "i16",       [VALUE_I32] = "i32",
		[VALUE_I64] = "i64",         [VALUE_F32] = "f32",       [VALUE_F64] = "f64",
		[VALUE_ADDRESS] = "address", [VALUE_STRING] = "string", [VALUE_BYTES] = "bytes",
		[VALUE_LIST] = "list",       [VALUE_MAP] = "map",       [VALUE_JSON] = "json",
	};

	return names[type];
}

/* Returns VALUE_TYPES if no type has the name. */
static inline unsigned value_type_named(struct slice name)
{
	unsigned type = 0;

	while (type < VALUE_TYPES &&
	       (name.n == 0 || *name.p != *value_type_name(type) || !slice_is(name, value_type_name(type))))
		type++;
	return type;
}

/* Returns the bits of the float that an F32 was converted from.  NaNs are converted in software, as
 * processors make signalling NaNs quiet. */
static inline uint32_t value_f32_bits(double d)
{
	const float f = (float)d;
	const uint64_t bits = double_bits(d);
	uint32_t narrow;

	memcpy(&narrow, &f, sizeof narrow);
	if (d != d) {
		const uint32_t payload = (uint32_t)(bits >> 29 & 0x7fffff);
		narrow = (uint32_t)(bits >> 63 << 31) | 0x7f800000U | (payload != 0 ? payload : 0x400000U);
	}
	return narrow;
}

/* Returns the size in bytes of a value that is a number of fixed size, and its bits; 0: it is none. */
static inline unsigned value_bits(const struct value *v, uint64_t *bits)
{
	static const uint8_t sizes[VALUE_TYPES] = {
		[VALUE_BOOL] = 1, [VALUE_U8] = 1,  [VALUE_U16] = 2, [VALUE_U32] = 4,
		[VALUE_U64] = 8,  [VALUE_I8] = 1,  [VALUE_I16] = 2, [VALUE_I32] = 4,
		[VALUE_I64] = 8,  [VALUE_F32] = 4, [VALUE_F64] = 8, [VALUE_ADDRESS] = 8,
	};

	*bits = v->type == VALUE_BOOL ? v->u64 != 0 : v->type == VALUE_F32 ? value_f32_bits(v->f64) : v->u64;
	return sizes[v->type];
}

/* ---- times for formats with unsigned ones ---- */
struct out_times {
	uint64_t start, dur; /* ns; dur: spans only */
	bool negative;       /* the start is before the time 0 of --rebase; set to 0 */
	bool late;           /* the end exceeds 64 bits; set to the maximum */
};

static inline struct out_times out_times_of(const struct event *e, bool signed_time)
{
	const bool negative = signed_time && e->ts > INT64_MAX;
	const uint64_t start = negative ? 0 : e->ts, left = UINT64_MAX - start;
	const uint64_t dur = e->phase == PHASE_SPAN ? e->dur : 0;

	return (struct out_times){ start, dur < left ? dur : left, negative, dur > left };
}

#endif
