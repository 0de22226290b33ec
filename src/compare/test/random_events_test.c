#include "compare/test/random_events_test.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "base/scan.h"
#include "model/event_traits.h"
#include "test/support/splitmix.h"

static uint64_t next_random(struct random_events *r)
{
	return splitmix_next(&r->state);
}

static uint32_t random_below(struct random_events *r, uint32_t n)
{
	return (uint32_t)(next_random(r) % n);
}

static void begin_case(struct random_events *r, uint64_t seed)
{
	r->state = seed;
	r->begun = 0;
	r->batches = 1 + random_below(r, 3);
	r->per_batch = 1 + random_below(r, 12);
}

void random_events_begin(struct random_events *r, uint64_t seed, uint32_t cases)
{
	*r = (struct random_events){ .seed = seed, .cases = cases };
	begin_case(r, seed);
}

/* ---- texts ---- */

/* Characters that JSON escapes, controls of terminals, numbers, incomplete UTF-8. */
static const struct slice texts[] = {
	SLICE_LIT(""),
	SLICE_LIT("a"),
	SLICE_LIT("plain text"),
	SLICE_LIT("\"quoted\" \\ and \t\n\r\x01\x1f"),
	SLICE_LIT("\x7f\xc2\x80\xe2\x80\xae hidden"),
	SLICE_LIT("gr\xc3\xbc\xc3\x9f dich \xf0\x9f\x98\x80"),
	SLICE_LIT("nul\0inside"),
	SLICE_LIT("\xff\xfe not UTF-8 \xc3"),
	SLICE_LIT("\xed\xa0\x80 surrogate"),
	SLICE_LIT("NaN"),
	SLICE_LIT("-1"),
	SLICE_LIT("0x1f"),
	SLICE_LIT("18446744073709551615"),
	SLICE_LIT("9007199254740993"),
	SLICE_LIT("null"),
	SLICE_LIT("</script>"),
	SLICE_LIT("a b,c;d=e"),
	SLICE_LIT("{\"x\":1}"),
};

static struct slice random_text(struct random_events *r, struct arena *a)
{
	const uint32_t kind = random_below(r, 24), n = 1000 + random_below(r, 3000);

	if (kind < 20) {
		const struct slice s = texts[random_below(r, sizeof texts / sizeof *texts)];
		return textscan_slice(s.p, s.n);
	}
	char *const p = arena_alloc(a, n);
	cr_assert_not_null(p);
	for (uint32_t i = 0; i < n; i++)
		p[i] = kind == 20 ? (char)next_random(r) : (char)('a' + i % 26);
	return textscan_slice(p, n);
}

/* ---- values ---- */

static uint64_t random_number(struct random_events *r)
{
	static const uint64_t special[] = { 0,
		                            1,
		                            127,
		                            128,
		                            255,
		                            65535,
		                            UINT32_MAX,
		                            (UINT64_C(1) << 53) - 1,
		                            UINT64_C(1) << 53,
		                            (UINT64_C(1) << 53) + 1,
		                            INT64_MAX,
		                            UINT64_C(1) << 63,
		                            UINT64_MAX - 1,
		                            UINT64_MAX };
	const uint32_t i = random_below(r, 2 * sizeof special / sizeof *special);

	return i < sizeof special / sizeof *special ? special[i] : next_random(r) >> random_below(r, 64);
}

static double random_real(struct random_events *r)
{
	static const double special[] = { 0.0,           -0.0,   0.1,    -1.5,   1e300,   5e-324, 1e22,
		                          123456789.125, 0x1p53, 0x1p63, 0x1p64, -0x1p63, 3.0 };
	const uint32_t i = random_below(r, 20);
	double d;

	if (i < sizeof special / sizeof *special)
		return special[i];
	if (i == 17)
		return (double)NAN;
	if (i == 18)
		return random_below(r, 2) == 0 ? (double)INFINITY : -(double)INFINITY;
	const uint64_t bits = next_random(r);
	memcpy(&d, &bits, sizeof d);
	return isfinite(d) ? d : 1.0;
}

static struct value random_value(struct random_events *r, struct arena *a, unsigned depth);

static struct value random_nested(struct random_events *r, struct arena *a, unsigned depth, bool map)
{
	const uint32_t n = random_below(r, 4), all = map ? 2 * n : n;
	struct value *const v = arena_zalloc(a, all + 1, sizeof *v);
	char key[16];

	cr_assert_not_null(v);
	for (uint32_t i = 0; i < all; i++) {
		v[i] = random_value(r, a, depth + 1);
		if (map && i % 2 == 0 && random_below(r, 4) > 0) { /* mostly texts, all different */
			snprintf(key, sizeof key, "key%u", i);
			const struct slice s = arena_copy(a, slice_str(key));
			v[i] = value_string(textscan_slice(s.p, s.n));
		}
	}
	return (struct value){ .type = map ? VALUE_MAP : VALUE_LIST, .count = n, .values = v };
}

static struct value random_integer(struct random_events *r, uint8_t type)
{
	static const uint8_t bits[] = {
		[VALUE_U8] = 8,   [VALUE_U16] = 16, [VALUE_U32] = 32, [VALUE_U64] = 64, [VALUE_I8] = 8,
		[VALUE_I16] = 16, [VALUE_I32] = 32, [VALUE_I64] = 64, [VALUE_BOOL] = 1, [VALUE_ADDRESS] = 64
	};
	const uint64_t v = random_number(r) << (64 - bits[type]);
	struct value out = { .type = type, .u64 = v >> (64 - bits[type]) };

	if (type >= VALUE_I8 && type <= VALUE_I64)
		out.i64 = (int64_t)v >> (64 - bits[type]);
	return out;
}

static struct value random_value(struct random_events *r, struct arena *a, unsigned depth)
{
	static const struct slice json[] = { SLICE_LIT("null"), SLICE_LIT("[1,-2.5e3,\"x\\u00e9\"]"),
		                             SLICE_LIT("{\"b\":{\"a\":[]},\"a\":true}"), SLICE_LIT("0.10"),
		                             SLICE_LIT("\"text\"") };
	uint8_t type = (uint8_t)random_below(r, VALUE_JSON + 1);

	if (depth > 2 && (type == VALUE_LIST || type == VALUE_MAP))
		type = VALUE_STRING;
	if (type == VALUE_STRING || type == VALUE_BYTES) {
		struct value v = value_string(random_text(r, a));
		v.type = type;
		v.flags = type == VALUE_STRING ? v.flags : 0;
		return v;
	}
	if (type == VALUE_LIST || type == VALUE_MAP)
		return random_nested(r, a, depth, type == VALUE_MAP);
	if (type == VALUE_JSON) {
		const struct slice s = json[random_below(r, sizeof json / sizeof *json)];
		return (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p };
	}
	if (type == VALUE_F64)
		return (struct value){ .type = VALUE_F64, .f64 = random_real(r) };
	if (type == VALUE_F32)
		return (struct value){ .type = VALUE_F32, .f64 = (double)(float)random_real(r) };
	return type == VALUE_NONE ? (struct value){ .type = VALUE_NONE } : random_integer(r, type);
}

/* ---- tracks and classes ---- */

static void make_tracks(struct random_events *r, struct trace *trace)
{
	char name[32];

	r->ntracks = 0;
	for (unsigned p = 0; p < 2; p++) {
		snprintf(name, sizeof name, "process %u", p);
		struct track *const process = trace_add_process(trace, slice_str(name));
		cr_assert_not_null(process);
		process->has_id = random_below(r, 3) > 0;
		process->id = process->has_id ? 1000 + p : 0;
		for (unsigned t = 0; t < 2; t++) {
			snprintf(name, sizeof name, "thread %u of %u", t, p);
			const uint64_t id = random_below(r, 4) > 0 ? 100 + t : random_number(r);
			struct track *const thread = trace_add_thread(trace, process, id, slice_str(name));
			cr_assert_not_null(thread);
			thread->has_id = random_below(r, 4) > 0;
			thread->id = thread->has_id ? id : 0;
			r->tracks[r->ntracks++] = thread;
		}
	}
}

static void make_classes(struct random_events *r, struct trace *trace)
{
	char name[32];

	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof name, "class%u", i);
		const struct slice s = arena_copy(&trace->arena, slice_str(name));
		r->classes[i] = trace_plan_class(trace, &(struct class){ .name = textscan_slice(s.p, s.n) });
		cr_assert_not_null(r->classes[i]);
	}
}

/* ---- events ---- */

static void add_fields(struct random_events *r, struct batch *b, struct event *e)
{
	const uint32_t n = random_below(r, 5);
	char name[16];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, i == 3 ? "f \"%u\"" : "field%u", i);
		const struct slice s = arena_copy(&b->scratch, slice_str(name));
		struct value v = random_value(r, &b->scratch, 0);
		if (e->phase == PHASE_COUNTER && random_below(r, 4) > 0)
			v = random_integer(r, VALUE_U32);
		struct field *const f = batch_fields(b, 1);
		cr_assert(s.p != NULL && f != NULL);
		*f = (struct field){ textscan_slice(s.p, s.n), v };
		b->nfields++;
		e->nfields++;
	}
}

static void add_event(struct random_events *r, struct batch *b)
{
	static const uint8_t phases[] = { PHASE_SPAN, PHASE_SPAN, PHASE_SPAN, PHASE_INSTANT, PHASE_COUNTER };
	struct event *const e = &b->events[b->n++];

	r->ts += random_below(r, 3) == 0 ? 0 : next_random(r) >> (34 + random_below(r, 30));
	*e = (struct event){ .ts = r->ts,
		             .name = random_text(r, &b->scratch),
		             .cls = r->classes[random_below(r, 4)],
		             .track = r->tracks[random_below(r, r->ntracks)],
		             .offset = ++r->id * 16,
		             .first_field = b->nfields,
		             .phase = phases[random_below(r, sizeof phases)] };
	if (e->phase == PHASE_SPAN) {
		e->dur = random_below(r, 5) == 0 ? 0 : next_random(r) >> (30 + random_below(r, 34));
		e->flags = random_below(r, 5) == 0 ? EVENT_ASYNC : 0;
	} else if (e->phase == PHASE_INSTANT && r->open_arrow != 0) {
		e->phase = PHASE_FLOW_IN;
		e->dur = r->open_arrow;
		e->flags = e->dur % 64 < 32 ? EVENT_STEP : 0;
		r->open_arrow = 0;
	} else if (e->phase == PHASE_INSTANT && random_below(r, 3) == 0) {
		e->phase = PHASE_FLOW_OUT;
		e->dur = r->open_arrow = r->id;
	}
	if (e->phase == PHASE_FLOW_IN || e->phase == PHASE_FLOW_OUT) {
		e->name = SLICE_LIT("arrow");
		e->cls = r->classes[0];
		return;
	}
	add_fields(r, b, e);
}

bool random_events_fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number_of_batch)
{
	struct random_events *const r = ctx;

	if (r->begun == r->batches) {
		if (r->cases <= 1)
			return false;
		r->cases--;
		begin_case(r, ++r->seed);
	}
	r->begun++;
	if (number_of_batch == 0) {
		make_tracks(r, trace);
		make_classes(r, trace);
		r->ts = random_below(r, 2) == 0 ? 0 : UINT64_C(1) << random_below(r, 61);
	}
	for (uint32_t i = 0; i < r->per_batch; i++)
		add_event(r, b);
	return true;
}
