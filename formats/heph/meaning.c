#include <stdlib.h>

#include "heph/heph.h"
#include "json/token.h"
#include "model/event_traits.h"

/* ---- track ---- */

/* Streams as processes, substreams as their threads. */

static const struct track *heph_own_process(const struct heph_state *st, uint32_t stream);

/* A process of the stream's number. */
static const struct track *stream_process(struct heph_state *st, struct heph_stream *s)
{
	struct trace *const trace = st->r->trace;

	if (s->process == NULL)
		s->process = heph_own_process(st, s->id);
	if (s->process != NULL)
		return s->process;
	const struct slice name = trace_track_name(trace, true, "stream", s->id);
	struct track *const t = name.p != NULL ? trace_add_process(trace, name) : NULL;
	if (t != NULL) {
		t->has_id = true;
		t->id = s->id;
	}
	s->process = t;
	return t;
}

/* For all that is beyond the limit. */
static const struct track *more_track(struct heph_state *st)
{
	struct trace *const trace = st->r->trace;

	if (st->tracks.more == NULL) {
		const struct track *const process = trace_add_process(trace, SLICE_LIT("more streams"));
		if (process != NULL)
			st->tracks.more =
			    trace_add_thread(trace, process, UINT64_MAX, SLICE_LIT("more substreams"));
	}
	return st->tracks.more;
}

static const struct track *new_track(struct heph_state *st, const struct heph_packet *k,
                                     struct heph_stream *s, uint64_t key)
{
	struct trace *const trace = st->r->trace;

	if (trace->ntracks + 2 > TRACE_MAX_TRACKS) {
		heph_finding_add(st, HEPH_RULE_STREAM_LIMIT, k, k->p + 8,
		                 "stream %" PRIu32 ", substream %" PRIu64 " and others share one track",
		                 k->stream, k->substream);
		return more_track(st);
	}
	const struct track *const process = stream_process(st, s);
	const struct slice name = trace_track_name(trace, false, "substream", k->substream);
	const struct track *const t =
	    process != NULL && name.p != NULL ? trace_add_thread(trace, process, k->substream, name) : NULL;
	return t != NULL && table64_put(&st->tracks.index, key, t->index) ? t : NULL;
}

const struct track *heph_track_far(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_cached *const c = heph_track_cached(st, k->stream, k->substream);
	struct heph_stream *const s = heph_stream_find(&st->streams, k->stream);
	const struct track *t = heph_own_track(st, k->stream, k->substream);
	uint32_t known;

	if (t != NULL) {
		*c = (struct heph_cached){ t, k->substream, k->stream };
		return t;
	}
	if (s == NULL)
		return more_track(st); /* reported with its counter */
	/* The key is a hash of both ids, so it is compared; the track of another pair is passed over. */
	uint64_t key = hash_u64(k->substream, hash_u64(k->stream, st->tracks.seed));
	while ((known = table64_get(&st->tracks.index, key)) != TABLE_NONE) {
		t = st->r->trace->tracks[known];
		if (t->id == k->substream && t->parent == s->process)
			break;
		key++;
	}
	if (known == TABLE_NONE)
		t = new_track(st, k, s, key);
	*c = (struct heph_cached){ t, k->substream, k->stream };
	return t;
}

/* Looks again where the packets of a stream and substream go. */
static void heph_track_forget(struct heph_state *st, uint32_t stream, uint64_t substream)
{
	heph_track_cached(st, stream, substream)->track = NULL;
}

const struct track *heph_track_lost(struct heph_state *st, uint32_t stream)
{
	struct heph_stream *const s = heph_stream_find(&st->streams, stream);

	if (s == NULL) /* too many streams, which was reported */
		return more_track(st);
	if (s->lost == NULL) {
		const struct track *const process = stream_process(st, s);
		s->lost = process != NULL ? reader_gap_track(st->r, process) : NULL;
	}
	return s->lost;
}

/* ---- own ---- */

const struct slice heph_own_kinds[HEPH_OWN_KINDS] = {
	[HEPH_OWN_SPAN] = SLICE_LIT("span"),
	[HEPH_OWN_ASYNC] = SLICE_LIT("async span"),
	[HEPH_OWN_BEGIN] = SLICE_LIT("begin"),
	[HEPH_OWN_END] = SLICE_LIT("end"),
	[HEPH_OWN_INSTANT] = SLICE_LIT("instant"),
	[HEPH_OWN_COUNTER] = SLICE_LIT("counter"),
	[HEPH_OWN_ARROW_OUT] = SLICE_LIT("arrow out"),
	[HEPH_OWN_ARROW_IN] = SLICE_LIT("arrow in"),
	[HEPH_OWN_ARROW_STEP] = SLICE_LIT("arrow step"),
};

const struct slice heph_own_types[VALUE_JSON + 1] = {
	[VALUE_NONE] = SLICE_LIT("none"),       [VALUE_BOOL] = SLICE_LIT("bool"),
	[VALUE_U8] = SLICE_LIT("u8"),           [VALUE_U16] = SLICE_LIT("u16"),
	[VALUE_U32] = SLICE_LIT("u32"),         [VALUE_U64] = SLICE_LIT("u64"),
	[VALUE_I8] = SLICE_LIT("i8"),           [VALUE_I16] = SLICE_LIT("i16"),
	[VALUE_I32] = SLICE_LIT("i32"),         [VALUE_I64] = SLICE_LIT("i64"),
	[VALUE_F32] = SLICE_LIT("f32"),         [VALUE_F64] = SLICE_LIT("f64"),
	[VALUE_ADDRESS] = SLICE_LIT("address"), [VALUE_STRING] = SLICE_LIT("string"),
	[VALUE_BYTES] = SLICE_LIT("bytes"),     [VALUE_LIST] = SLICE_LIT("list"),
	[VALUE_MAP] = SLICE_LIT("map"),         [VALUE_JSON] = SLICE_LIT("json"),
};

/* ---- own types ---- */

/* Types of values in words: "u8,,[bool]".  A value that does not fit its word stays as it is. */

/* The type of a word; VALUE_LIST: none. */
static uint8_t type_of(struct slice word)
{
	for (uint8_t type = 0; type <= VALUE_JSON; type++)
		if (slice_equal(word, heph_own_types[type]))
			return type;
	return VALUE_LIST;
}

static bool is_json(const struct value *v)
{
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH / 2 };
	enum json_kind kind;

	return v->count > 0 && json_value(&x, v->p, v->p + v->count, &kind) == v->p + v->count;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes of hexadecimal digits. */
static bool to_bytes(struct value *v, struct batch *b)
{
	char *const to = arena_alloc(&b->scratch, v->count / 2);

	if (to == NULL || v->count % 2 != 0)
		return false;
	for (uint32_t i = 0; i < v->count; i += 2) {
		const int high = digit(v->p[i]), low = digit(v->p[i + 1]);
		if (high < 0 || low < 0)
			return false;
		to[i / 2] = (char)(high << 4 | low);
	}
	*v = (struct value){ .type = VALUE_BYTES, .count = v->count / 2, .p = to };
	return true;
}

static bool fits_text(const struct value *v, uint8_t type)
{
	return type == VALUE_NONE ? slice_is(value_text(v), "null") : type == VALUE_JSON && is_json(v);
}

static bool fits_number(const struct value *v, uint8_t type)
{
	static const uint8_t bits[] = {
		[VALUE_BOOL] = 1, [VALUE_U8] = 8,   [VALUE_U16] = 16, [VALUE_U32] = 32,
		[VALUE_I8] = 8,   [VALUE_I16] = 16, [VALUE_I32] = 32
	};

	if (type == VALUE_ADDRESS)
		return v->type == VALUE_U64;
	if (type == VALUE_F32)
		return v->type == VALUE_F64 && (v->f64 != v->f64 || (double)(float)v->f64 == v->f64);
	if (type >= VALUE_I8 && type <= VALUE_I32)
		return v->type == VALUE_I64 && v->i64 >> (bits[type] - 1) == v->i64 >> 63;
	return type >= VALUE_BOOL && type <= VALUE_U32 && v->type == VALUE_U64 && v->u64 >> bits[type] == 0;
}

static bool apply(struct value *v, uint8_t type, struct batch *b)
{
	if (v->type != VALUE_STRING && !fits_number(v, type))
		return false;
	if (v->type == VALUE_STRING && type == VALUE_BYTES)
		return to_bytes(v, b);
	if (v->type == VALUE_STRING && !fits_text(v, type))
		return false;
	v->type = type;
	v->flags = 0;
	return true;
}

/* A list all of whose values fit. */
static void apply_to_list(struct value *v, uint8_t type, struct batch *b)
{
	struct value *const values = arena_alloc(&b->scratch, v->count * sizeof *values);

	if (v->type != VALUE_LIST || values == NULL || (type == VALUE_NONE && v->count > 0))
		return;
	for (uint32_t i = 0; i < v->count; i++) {
		values[i] = v->values[i];
		if (!apply(&values[i], type, b))
			return;
	}
	v->element = type;
	v->values = values;
}

/* Gives n values the types that the words say, where that can be. */
static void heph_own_types_apply(struct slice words, struct field *f, uint32_t n, struct batch *b)
{
	if (words.n == 0)
		return;
	const char *p = words.p, *const end = words.p + words.n;
	for (uint32_t i = 0; i < n && p < end; i++) {
		const char *const comma = memchr(p, ',', (size_t)(end - p)), *const stop =
		                                                                 comma != NULL ? comma : end;
		const bool list = stop - p > 2 && *p == '[' && stop[-1] == ']';
		const uint8_t type = type_of(slice_of(p + list, (size_t)(stop - p) - 2 * (size_t)list));
		if (list && type != VALUE_LIST)
			apply_to_list(&f[i].value, type, b);
		else if (type != VALUE_LIST)
			apply(&f[i].value, type, b);
		p = stop + 1;
	}
}

/* ---- own option ---- */

/* Options that this program wrote: what the trace is, its tracks, its facts. */

void heph_own_free(struct heph_own *own)
{
	free(own->tracks);
	table64_free(&own->index);
	table64_free(&own->processes);
}

/* ---- the attributes of an option ---- */

struct attributes {
	const struct field *f;
	uint32_t n;
};

static const struct value *find(const struct attributes *a, const char *name, uint8_t type)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->f[i].value.type == type && slice_is(a->f[i].name, name))
			return &a->f[i].value;
	return NULL;
}

static uint64_t number_of(const struct attributes *a, const char *name, uint64_t absent)
{
	const struct value *const v = find(a, name, VALUE_U64);

	return v != NULL ? v->u64 : absent;
}

static struct slice text_of(const struct attributes *a, const char *name)
{
	const struct value *const v = find(a, name, VALUE_STRING);

	return v != NULL ? value_text(v) : SLICE_LIT("");
}

/* ---- the trace ---- */

static void take_trace(struct heph_state *st, const struct attributes *a)
{
	const struct slice clock = text_of(a, "clock");

	if (number_of(a, "version", 0) != HEPH_OWN_VERSION)
		return;
	st->own.active = true;
	if (clock.n > 0) {
		const struct slice s = arena_copy(&st->r->trace->arena, clock);
		st->no_memory |= s.p == NULL;
		if (s.p != NULL)
			st->r->trace->clock = s.p;
	}
}

/* ---- facts ---- */

/* A value that lives as long as the trace; lists do not. */
static bool take_value(struct trace *t, struct value *v)
{
	if (v->type != VALUE_BYTES && v->type != VALUE_JSON)
		return true;
	v->p = arena_copy(&t->arena, value_text(v)).p;
	return v->p != NULL;
}

static void take_fact(struct heph_state *st, struct attributes *a, struct batch *b)
{
	struct trace *const t = st->r->trace;
	struct field f;

	if (a->n == 0)
		return;
	f = a->f[0];
	heph_own_types_apply(text_of(a, HEPH_OWN_TYPES), &f, 1, b);
	if (f.value.type == VALUE_LIST || f.name.n <= HEPH_OWN_FACT_PREFIX_SIZE ||
	    memcmp(f.name.p, HEPH_OWN_FACT_PREFIX, HEPH_OWN_FACT_PREFIX_SIZE) != 0)
		return;
	f.name.p += HEPH_OWN_FACT_PREFIX_SIZE;
	f.name.n -= HEPH_OWN_FACT_PREFIX_SIZE;
	if (!take_value(t, &f.value) || !trace_add_meta(t, f.name, f.value))
		st->no_memory = true;
}

/* ---- tracks ---- */

static struct heph_own_track *own_track(const struct heph_own *own, uint32_t stream, uint64_t substream)
{
	uint64_t key = hash_u64(substream, hash_u64(stream, own->seed));
	uint32_t i;

	while ((i = table64_get(&own->index, key)) != TABLE_NONE) {
		if (own->tracks[i].stream == stream && own->tracks[i].substream == substream)
			return &own->tracks[i];
		key++;
	}
	return NULL;
}

const struct track *heph_own_track(const struct heph_state *st, uint32_t stream, uint64_t substream)
{
	const struct heph_own_track *const t = own_track(&st->own, stream, substream);

	return t != NULL ? t->track : NULL;
}

static const struct track *heph_own_process(const struct heph_state *st, uint32_t stream)
{
	const uint32_t i = table64_get(&st->own.processes, stream);

	return i != TABLE_NONE ? st->r->trace->tracks[i] : NULL;
}

/* false: no memory. */
static bool add(struct heph_state *st, struct heph_own_track t)
{
	struct heph_own *const own = &st->own;
	uint64_t key = hash_u64(t.substream, hash_u64(t.stream, own->seed));

	while (table64_get(&own->index, key) != TABLE_NONE)
		key++;
	if (t.track == NULL || !array_room(&own->tracks, own->n, &own->cap, sizeof *own->tracks) ||
	    !table64_put(&own->index, key, own->n))
		return false;
	own->tracks[own->n++] = t;
	heph_track_forget(st, t.stream, t.substream);
	return true;
}

/* The process of a stream: that of its events, one that an option named, or a new one. */
static struct track *process_of(struct heph_state *st, uint32_t stream, struct slice name)
{
	struct trace *const trace = st->r->trace;
	const struct heph_stream *const s = heph_stream_find(&st->streams, stream);
	const uint32_t known = table64_get(&st->own.processes, stream);

	if (known != TABLE_NONE)
		return trace->tracks[known];
	struct track *const t = s != NULL && s->process != NULL ? trace->tracks[s->process->index]
	                                                        : trace_add_process(trace, name);
	return t != NULL && table64_put(&st->own.processes, stream, t->index) ? t : NULL;
}

static void set_id(struct track *t, const struct attributes *a)
{
	const struct value *const id = find(a, "id", VALUE_U64);

	t->has_id = id != NULL;
	t->id = id != NULL ? id->u64 : 0;
}

/* The process of a stream of which no option tells. */
static struct track *plain_process(struct heph_state *st, uint32_t stream)
{
	const struct slice name = trace_track_name(st->r->trace, true, "stream", stream);
	const bool is_new = heph_own_process(st, stream) == NULL;
	struct track *const t = name.p != NULL ? process_of(st, stream, name) : NULL;

	if (t != NULL && is_new) {
		t->has_id = true;
		t->id = stream;
	}
	return t;
}

static bool add_thread(struct heph_state *st, const struct heph_packet *k, struct heph_own_track to,
                       const struct attributes *a)
{
	const struct value *const parent = find(a, "parent", VALUE_U64);
	const struct track *above = plain_process(st, to.stream);
	const struct heph_own_track *const known =
	    parent != NULL ? own_track(&st->own, to.stream, parent->u64) : NULL;

	if (above == NULL)
		return false;
	if (known != NULL)
		above = known->track;
	to.track = trace_add_thread(st->r->trace, above, 0, text_of(a, "name"));
	if (to.track == NULL)
		return false;
	if (to.track->parent != above)
		heph_finding_add(st, HEPH_RULE_LIMIT, k, k->p + 8,
		                 "a track below more than %d others is shown below the last of so many",
		                 TRACE_MAX_DEPTH);
	set_id(to.track, a);
	to.track->lane = (uint16_t)number_of(a, "lane", 0);
	to.track->is_child = slice_is(text_of(a, "kind"), "child");
	return add(st, to);
}

static void take_track(struct heph_state *st, const struct heph_packet *k, struct heph_own_track to,
                       const struct attributes *a)
{
	if (own_track(&st->own, to.stream, to.substream) != NULL ||
	    st->r->trace->ntracks + 2 > TRACE_MAX_TRACKS)
		return;
	if (slice_is(text_of(a, "kind"), "process")) {
		to.track = process_of(st, to.stream, text_of(a, "name"));
		if (to.track != NULL)
			set_id(to.track, a);
		st->no_memory |= !add(st, to);
	} else {
		st->no_memory |= !add_thread(st, k, to, a);
	}
}

/* ---- options ---- */

/* Whether so much more is retained. */
static bool may_retain(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_own *const own = &st->own;

	own->text += (uint64_t)(k->end - k->p);
	if (own->text <= HEPH_OWN_MAX_TEXT)
		return true;
	if (!own->full)
		heph_finding_add(st, HEPH_RULE_LIMIT, k, k->p + 8,
		                 "options that tracetool wrote take more than %u bytes; those from here on "
		                 "are dropped",
		                 HEPH_OWN_MAX_TEXT);
	own->full = true;
	return false;
}

bool heph_own_option(struct heph_state *st, struct heph_packet *k, struct slice name, const char *value,
                     struct batch *b)
{
	const bool trace = slice_is(name, HEPH_OWN_TRACE), track = slice_is(name, HEPH_OWN_TRACK);
	const size_t ids = track ? HEPH_OWN_TRACK_IDS : 0, room = (size_t)(k->end - value);
	const bool build = (st->r->want & WANT_TIMES) != 0 && !st->raw;

	if (!trace && !track && !slice_is(name, HEPH_OWN_FACT))
		return false;
	if (room < ids) {
		k->fault = value;
		heph_report_past_packet(st, k, value, "stream and substream", ids, room);
		return true;
	}
	const bool retained = may_retain(st, k);
	heph_attributes_read(st, k, value + ids, build ? b : NULL);
	if (!build || !retained || st->no_memory)
		return true;
	struct attributes a = { b->fields + b->nfields, k->nfields };
	if (trace)
		take_trace(st, &a);
	else if (track)
		take_track(st, k,
		           (struct heph_own_track){ .stream = load_u32(value, true),
		                                    .substream = load_u64(value + 4, true) },
		           &a);
	else
		take_fact(st, &a, b);
	return true;
}

/* ---- own event ---- */

/* Events that this program wrote: their attributes tell class, kind and types. */

/* What the attributes of this program say of an event. */
struct said {
	struct slice cls, category, kind, types;
	uint64_t arrow, duration;
};

/* One attribute; false: it is one of the event itself. */
static bool learn(const struct field *f, struct said *s)
{
	const struct {
		const char *name;
		uint8_t type;
		struct slice *text;
		uint64_t *number;
	} rows[] = {
		{ HEPH_OWN_CLASS, VALUE_STRING, &s->cls, NULL },
		{ HEPH_OWN_CATEGORY, VALUE_STRING, &s->category, NULL },
		{ HEPH_OWN_KIND, VALUE_STRING, &s->kind, NULL },
		{ HEPH_OWN_TYPES, VALUE_STRING, &s->types, NULL },
		{ HEPH_OWN_ARROW, VALUE_U64, NULL, &s->arrow },
		{ HEPH_OWN_DURATION, VALUE_U64, NULL, &s->duration },
	};

	if (!heph_is_own(f->name))
		return false;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (f->value.type == rows[i].type && slice_is(f->name, rows[i].name)) {
			if (rows[i].text != NULL)
				*rows[i].text = value_text(&f->value);
			else
				*rows[i].number = f->value.u64;
			return true;
		}
	return false;
}

/* ---- class ---- */

static struct class *new_class(struct heph_state *st, const struct said *s)
{
	struct trace *const t = st->r->trace;
	struct heph_own *const own = &st->own;
	struct class like = { .name = s->cls, .category = s->category };
	const uint32_t before = t->nplanned;

	if (own->nclasses == HEPH_OWN_MAX_CLASSES || own->text > HEPH_OWN_MAX_TEXT)
		return NULL;
	like.plan = trace_find_plan(t, s->cls, NULL, NULL);
	struct class *const c = trace_plan_class(t, &like);
	st->no_memory |= c == NULL;
	if (t->nplanned > before) {
		own->nclasses++;
		own->text += s->cls.n + s->category.n;
	}
	return c;
}

/* NULL: no memory, or there are too many. */
static struct class *class_of(struct heph_state *st, const struct said *s)
{
	struct class **const recent = &st->own.recent[heph_name_signature(s->cls) / 8 % HEPH_OWN_RECENT];

	if (*recent == NULL || !slice_equal((*recent)->name, s->cls) ||
	    !slice_equal((*recent)->category, s->category))
		*recent = new_class(st, s);
	return *recent;
}

/* ---- kind ---- */

static void set_kind(struct event *e, const struct said *s)
{
	static const struct {
		uint8_t phase, flags;
	} kinds[HEPH_OWN_KINDS] = {
		[HEPH_OWN_SPAN] = { PHASE_SPAN, 0 },
		[HEPH_OWN_ASYNC] = { PHASE_SPAN, EVENT_ASYNC },
		[HEPH_OWN_BEGIN] = { PHASE_BEGIN, 0 },
		[HEPH_OWN_END] = { PHASE_END, 0 },
		[HEPH_OWN_INSTANT] = { PHASE_INSTANT, 0 },
		[HEPH_OWN_COUNTER] = { PHASE_COUNTER, 0 },
		[HEPH_OWN_ARROW_OUT] = { PHASE_FLOW_OUT, 0 },
		[HEPH_OWN_ARROW_IN] = { PHASE_FLOW_IN, 0 },
		[HEPH_OWN_ARROW_STEP] = { PHASE_FLOW_IN, EVENT_STEP },
	};

	for (size_t i = 0; i < HEPH_OWN_KINDS; i++)
		if (slice_equal(s->kind, heph_own_kinds[i])) {
			e->phase = kinds[i].phase;
			e->flags = kinds[i].flags;
		}
	if (event_is_flow(e))
		e->dur = s->arrow;
	else if (e->phase != PHASE_SPAN)
		e->dur = s->duration;
}

/* ---- fields ---- */

/* Without the prefix that the writer put there. */
static void unescape(struct slice *name)
{
	if (name->n <= HEPH_OWN_ESCAPE_SIZE || memcmp(name->p, HEPH_OWN_ESCAPE, HEPH_OWN_ESCAPE_SIZE) != 0)
		return;
	name->p += HEPH_OWN_ESCAPE_SIZE;
	name->n -= HEPH_OWN_ESCAPE_SIZE;
}

/* Makes an event of a trace that is `active` what its attributes say.  Its fields are the last of the batch.
 * No memory: the state remembers. */
static void heph_own_event(struct heph_state *st, const struct heph_packet *k, struct event *e,
                           struct batch *b)
{
	const uint32_t first = k->stop < k->start ? 2 : 1; /* behind those of every event */
	struct field *const f = b->fields + e->first_field;
	struct said s = { .arrow = 0 };
	uint32_t end = e->nfields;

	while (end > first && learn(&f[end - 1], &s))
		end--;
	if (s.cls.p == NULL) { /* one that somebody else wrote */
		heph_names_settle(st, k, e->name.p + e->name.n, e->nfields - first, b, true);
		return;
	}
	if (s.category.p == NULL)
		s.category = s.cls;
	struct class *const cls = class_of(st, &s);
	if (cls == NULL)
		return;
	st->event_class->records--;
	cls->records++;
	e->cls = cls;
	set_kind(e, &s);
	heph_own_types_apply(s.types, f + first, end - first, b);
	for (uint32_t i = first; i < end; i++) {
		unescape(&f[i].name);
		f[i - first] = f[i];
	}
	e->nfields = (uint16_t)(end - first);
}

/* ---- event ---- */

/* Event packets: a span each, on the track of its stream and substream. */

/* What an event brings besides its attributes.  false: no memory. */
static bool add_own_fields(struct heph_packet *k, struct batch *b)
{
	struct field *const f = batch_fields(b, 2);

	if (f == NULL)
		return false;
	f[0].name = SLICE_LIT(HEPH_COUNTER_FIELD);
	f[0].value = (struct value){ .type = VALUE_U32, .u64 = k->counter };
	k->nfields = 1;
	if (k->stop < k->start) { /* the span gets no length, so this would be lost */
		f[1].name = SLICE_LIT(HEPH_END_FIELD);
		f[1].value = value_u64(k->stop);
		k->nfields = 2;
	}
	return true;
}

static void add_event(struct heph_state *st, const struct heph_packet *k, struct batch *b)
{
	const char *const end = k->fault != NULL && !k->followed ? k->fault : k->end;
	struct event *const e = &b->events[b->n];

	e->track = heph_track(st, k);
	if (e->track == NULL) {
		st->no_memory = true;
		return;
	}
	e->ts = k->start;
	e->dur = k->stop < k->start ? 0 : k->stop - k->start;
	e->name = k->description;
	e->cls = st->event_class;
	e->offset = k->offset;
	e->first_field = b->nfields;
	e->nfields = (uint16_t)k->nfields;
	e->phase = PHASE_SPAN;
	e->flags = 0;
	if (st->own.active && !st->raw)
		heph_own_event(st, k, e, b);
	b->nfields += e->nfields;
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(k->p, (size_t)(end - k->p));
	b->n++;
}

/* Its fields, if `build`, and the checks of its attributes, which start at p. */
static void read_fields(struct heph_state *st, struct heph_packet *k, const char *p, struct batch *b,
                        bool build)
{
	if (build && !(st->raw ? heph_raw_add_event(k, b) : add_own_fields(k, b)))
		st->no_memory = true;
	else if (p < k->end)
		heph_attributes_read(st, k, p, build ? b : NULL);
}

void heph_event_read(struct heph_state *st, struct heph_packet *k, struct batch *b)
{
	const unsigned want = st->r->want;
	const bool needed = class_needs_fields(st->event_class) || (st->own.active && !st->raw);
	const bool build = (want & WANT_FIELDS) != 0 || ((want & WANT_TIMES) != 0 && needed);
	const uint32_t n = load_u16(k->p + 40, true);
	const size_t room = (size_t)(k->end - k->p) - HEPH_EVENT_MIN;

	k->stream = load_u32(k->p + 8, true);
	k->counter = load_u32(k->p + 12, true);
	k->substream = load_u64(k->p + 16, true);
	k->start = load_u64(k->p + 24, true);
	k->stop = load_u64(k->p + 32, true);
	heph_counter_check(st, k);
	if (n > room) {
		k->fault = k->p + 40;
		heph_report_past_packet(st, k, k->fault, "the description", n, room);
		return;
	}
	k->description = heph_text(k->p + HEPH_EVENT_MIN, n, want != WANT_FINDINGS && (build || !st->raw));
	if ((k->description.flags & SLICE_UTF8) == 0)
		heph_report_text(st, k, "the description", k->description);
	heph_epoch_check(st, k);
	read_fields(st, k, k->description.p + n, b, build);
	st->event_class->records++;
	st->r->trace->events++;
	if ((want & WANT_TIMES) != 0 && !st->no_memory)
		add_event(st, k, b);
}
