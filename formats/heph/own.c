/*
 * Reads what tracetool's writer adds: options that describe the trace, its tracks and its metadata, and
 * attributes that give an event its class, kind and types of fields.  Such a trace reads as the events from
 * which it was written.  What is unknown or does not fit is ignored: other programs may write it, too.
 */
#include <stdlib.h>

#include "heph/heph.h"
#include "json/token.h"
#include "model/event_traits.h"

const struct slice heph_own_kinds[EVENT_KINDS] = {
	[EVENT_KIND_SPAN] = SLICE_LIT("span"),
	[EVENT_KIND_ASYNC] = SLICE_LIT("async span"),
	[EVENT_KIND_BEGIN] = SLICE_LIT("begin"),
	[EVENT_KIND_END] = SLICE_LIT("end"),
	[EVENT_KIND_INSTANT] = SLICE_LIT("instant"),
	[EVENT_KIND_COUNTER] = SLICE_LIT("counter"),
	[EVENT_KIND_ARROW_OUT] = SLICE_LIT("arrow out"),
	[EVENT_KIND_ARROW_IN] = SLICE_LIT("arrow in"),
	[EVENT_KIND_ARROW_STEP] = SLICE_LIT("arrow step"),
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

/* ---- types of values: "u8,,[bool]" ---- */

/* Returns VALUE_LIST if the name is unknown. */
static uint8_t find_type(struct slice name)
{
	for (uint8_t type = 0; type <= VALUE_JSON; type++)
		if (slice_equal(name, heph_own_types[type]))
			return type;
	return VALUE_LIST;
}

static bool is_json(const struct value *v)
{
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH / 2 };
	enum json_kind kind;

	return v->count > 0 && json_value(&x, v->p, v->p + v->count, &kind) == v->p + v->count;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Converts hexadecimal digits to bytes. */
static bool hex_to_bytes(struct value *v, struct batch *b)
{
	char *const to = arena_alloc(&b->scratch, v->count / 2);

	if (to == NULL || v->count % 2 != 0)
		return false;
	for (uint32_t i = 0; i < v->count; i += 2) {
		const int high = hex_digit(v->p[i]), low = hex_digit(v->p[i + 1]);
		if (high < 0 || low < 0)
			return false;
		to[i / 2] = (char)(high << 4 | low);
	}
	*v = (struct value){ .type = VALUE_BYTES, .count = v->count / 2, .p = to };
	return true;
}

static bool text_fits(const struct value *v, uint8_t type)
{
	return type == VALUE_NONE ? slice_is(value_text(v), "null") : type == VALUE_JSON && is_json(v);
}

static bool number_fits(const struct value *v, uint8_t type)
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

/* Gives a value a type.  Returns false and changes nothing if it does not fit. */
static bool set_type(struct value *v, uint8_t type, struct batch *b)
{
	if (v->type != VALUE_STRING && !number_fits(v, type))
		return false;
	if (v->type == VALUE_STRING && type == VALUE_BYTES)
		return hex_to_bytes(v, b);
	if (v->type == VALUE_STRING && !text_fits(v, type))
		return false;
	v->type = type;
	v->flags = 0;
	return true;
}

/* Gives the elements of a list a type, if all of them fit. */
static void set_element_type(struct value *v, uint8_t type, struct batch *b)
{
	struct value *const values = arena_alloc(&b->scratch, v->count * sizeof *values);

	if (v->type != VALUE_LIST || values == NULL || (type == VALUE_NONE && v->count > 0))
		return;
	for (uint32_t i = 0; i < v->count; i++) {
		values[i] = v->values[i];
		if (!set_type(&values[i], type, b))
			return;
	}
	v->element = type;
	v->values = values;
}

/* Gives the values of n fields the types in the list, where they fit. */
static void set_types(struct slice types, struct field *f, uint32_t n, struct batch *b)
{
	if (types.n == 0)
		return;
	const char *p = types.p, *const end = types.p + types.n;
	for (uint32_t i = 0; i < n && p < end; i++) {
		const char *const comma = memchr(p, ',', (size_t)(end - p));
		const char *const stop = comma != NULL ? comma : end;
		const bool list = stop - p > 2 && *p == '[' && stop[-1] == ']';
		const uint8_t type = find_type(slice_of(p + list, (size_t)(stop - p) - 2 * (size_t)list));
		if (list && type != VALUE_LIST)
			set_element_type(&f[i].value, type, b);
		else if (type != VALUE_LIST)
			set_type(&f[i].value, type, b);
		p = stop + 1;
	}
}

/* ---- options: trace, metadata ---- */

/* The attributes of an option. */
struct attributes {
	const struct field *f;
	uint32_t n;
};

static const struct value *find_value(const struct attributes *a, const char *name, uint8_t type)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->f[i].value.type == type && slice_is(a->f[i].name, name))
			return &a->f[i].value;
	return NULL;
}

static uint64_t find_number(const struct attributes *a, const char *name, uint64_t absent)
{
	const struct value *const v = find_value(a, name, VALUE_U64);

	return v != NULL ? v->u64 : absent;
}

static struct slice find_text(const struct attributes *a, const char *name)
{
	const struct value *const v = find_value(a, name, VALUE_STRING);

	return v != NULL ? value_text(v) : SLICE_LIT("");
}

static void read_trace(struct heph_state *st, const struct attributes *a)
{
	const struct slice clock = find_text(a, "clock");

	if (find_number(a, "version", 0) != HEPH_OWN_VERSION)
		return;
	st->own.active = true;
	if (clock.n > 0) {
		const struct slice s = arena_copy(&st->r->trace->arena, clock);
		st->no_memory |= s.p == NULL;
		if (s.p != NULL)
			st->r->trace->clock = s.p;
	}
}

/* Adds metadata of the trace; not lists, whose elements would have to be copied. */
static void read_fact(struct heph_state *st, struct attributes *a, struct batch *b)
{
	struct trace *const t = st->r->trace;
	struct field f;

	if (a->n == 0)
		return;
	f = a->f[0];
	set_types(find_text(a, HEPH_OWN_TYPES), &f, 1, b);
	if (f.value.type == VALUE_LIST || f.name.n <= HEPH_OWN_FACT_PREFIX_SIZE ||
	    memcmp(f.name.p, HEPH_OWN_FACT_PREFIX, HEPH_OWN_FACT_PREFIX_SIZE) != 0)
		return;
	f.name.p += HEPH_OWN_FACT_PREFIX_SIZE;
	f.name.n -= HEPH_OWN_FACT_PREFIX_SIZE;
	bool ok = true;
	if (f.value.type == VALUE_BYTES || f.value.type == VALUE_JSON) { /* still in the batch or the input */
		f.value.p = arena_copy(&t->arena, value_text(&f.value)).p;
		ok = f.value.p != NULL;
	}
	if (!ok || !trace_add_meta(t, f.name, f.value))
		st->no_memory = true;
}

/* ---- options: tracks ---- */

static struct heph_own_track *find_track(const struct heph_own *own, uint32_t stream, uint64_t substream)
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
	const struct heph_own_track *const t = find_track(&st->own, stream, substream);

	return t != NULL ? t->track : NULL;
}

const struct track *heph_own_process(const struct heph_state *st, uint32_t stream)
{
	const uint32_t i = table64_get(&st->own.processes, stream);

	return i != TABLE_NONE ? st->r->trace->tracks[i] : NULL;
}

static bool add_track(struct heph_state *st, struct heph_own_track t)
{
	struct heph_own *const own = &st->own;
	uint64_t key = hash_u64(t.substream, hash_u64(t.stream, own->seed));

	while (table64_get(&own->index, key) != TABLE_NONE)
		key++;
	if (t.track == NULL || !array_room(&own->tracks, own->n, &own->cap, sizeof *own->tracks) ||
	    !table64_put(&own->index, key, own->n))
		return false;
	own->tracks[own->n++] = t;
	heph_track_cached(st, t.stream, t.substream)->track = NULL;
	return true;
}

/* Returns the process of a stream: that of an option, that of its events, or a new one. */
static struct track *get_process(struct heph_state *st, uint32_t stream, struct slice name)
{
	struct trace *const trace = st->r->trace;
	const struct heph_stream *const s = heph_stream_find(&st->streams, stream);
	const uint32_t found = table64_get(&st->own.processes, stream);

	if (found != TABLE_NONE)
		return trace->tracks[found];
	struct track *const t = s != NULL && s->process != NULL ? trace->tracks[s->process->index]
	                                                        : trace_add_process(trace, name);
	return t != NULL && table64_put(&st->own.processes, stream, t->index) ? t : NULL;
}

/* Returns the process of a stream; a new one is named after the number of the stream. */
static struct track *get_unnamed_process(struct heph_state *st, uint32_t stream)
{
	const struct slice name = trace_track_name(st->r->trace, true, "stream", stream);
	const bool is_new = heph_own_process(st, stream) == NULL;
	struct track *const t = name.p != NULL ? get_process(st, stream, name) : NULL;

	if (t != NULL && is_new) {
		t->has_id = true;
		t->id = stream;
	}
	return t;
}

static void set_id(struct track *t, const struct attributes *a)
{
	const struct value *const id = find_value(a, "id", VALUE_U64);

	t->has_id = id != NULL;
	t->id = id != NULL ? id->u64 : 0;
}

static bool add_thread(struct heph_state *st, const struct heph_packet *k, struct heph_own_track to,
                       const struct attributes *a)
{
	const struct value *const parent_id = find_value(a, "parent", VALUE_U64);
	const struct track *parent = get_unnamed_process(st, to.stream);
	const struct heph_own_track *const found =
	    parent_id != NULL ? find_track(&st->own, to.stream, parent_id->u64) : NULL;

	if (parent == NULL)
		return false;
	if (found != NULL)
		parent = found->track;
	to.track = trace_add_thread(st->r->trace, parent, 0, find_text(a, "name"));
	if (to.track == NULL)
		return false;
	if (to.track->parent != parent)
		heph_report(st, HEPH_RULE_LIMIT, k, k->p + 8,
		            "a track below more than %d others is shown below the last of so many",
		            TRACE_MAX_DEPTH);
	set_id(to.track, a);
	to.track->lane = (uint16_t)find_number(a, "lane", 0);
	to.track->is_child = slice_is(find_text(a, "kind"), "child");
	return add_track(st, to);
}

static void read_track(struct heph_state *st, const struct heph_packet *k, struct heph_own_track to,
                       const struct attributes *a)
{
	if (find_track(&st->own, to.stream, to.substream) != NULL ||
	    st->r->trace->ntracks + 2 > TRACE_MAX_TRACKS)
		return;
	if (slice_is(find_text(a, "kind"), "process")) {
		to.track = get_process(st, to.stream, find_text(a, "name"));
		if (to.track != NULL)
			set_id(to.track, a);
		st->no_memory |= !add_track(st, to);
	} else {
		st->no_memory |= !add_thread(st, k, to, a);
	}
}

/* ---- options ---- */

/* Charges the bytes of an option against HEPH_OWN_MAX_TEXT. */
static bool charge_option(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_own *const own = &st->own;

	own->text += (uint64_t)(k->end - k->p);
	if (own->text <= HEPH_OWN_MAX_TEXT)
		return true;
	if (!own->full)
		heph_report(st, HEPH_RULE_LIMIT, k, k->p + 8,
		            "options that tracetool wrote take more than %u bytes; those from here on are "
		            "dropped",
		            HEPH_OWN_MAX_TEXT);
	own->full = true;
	return false;
}

bool heph_own_option(struct heph_state *st, struct heph_packet *k, struct slice name, const char *value,
                     struct batch *b)
{
	const bool trace = slice_is(name, HEPH_OWN_TRACE), track = slice_is(name, HEPH_OWN_TRACK);
	const size_t ids = track ? HEPH_OWN_TRACK_IDS : 0, left = (size_t)(k->end - value);
	const bool build = (st->r->want & WANT_TIMES) != 0 && !st->raw;

	if (!trace && !track && !slice_is(name, HEPH_OWN_FACT))
		return false;
	if (left < ids) {
		k->fault = value;
		heph_report_past_packet(st, k, value, "stream and substream", ids, left);
		return true;
	}
	const bool retained = charge_option(st, k);
	heph_read_attributes(st, k, value + ids, build ? b : NULL);
	if (!build || !retained || st->no_memory)
		return true;
	struct attributes a = { b->fields + b->nfields, k->nfields };
	if (trace)
		read_trace(st, &a);
	else if (track)
		read_track(st, k,
		           (struct heph_own_track){ .stream = load_u32(value, true),
		                                    .substream = load_u64(value + 4, true) },
		           &a);
	else
		read_fact(st, &a, b);
	return true;
}

void heph_own_free(struct heph_own *own)
{
	free(own->tracks);
	table64_free(&own->index);
	table64_free(&own->processes);
}

/* ---- events ---- */

/* The values of tracetool's attributes of an event. */
struct own_values {
	struct slice cls, category, kind, types;
	uint64_t arrow, duration;
};

/* Reads an attribute.  Returns false if it is not one of tracetool's. */
static bool read_own_value(const struct field *f, struct own_values *own)
{
	const struct {
		const char *name;
		uint8_t type;
		struct slice *text;
		uint64_t *number;
	} rows[] = {
		{ HEPH_OWN_CLASS, VALUE_STRING, &own->cls, NULL },
		{ HEPH_OWN_CATEGORY, VALUE_STRING, &own->category, NULL },
		{ HEPH_OWN_KIND, VALUE_STRING, &own->kind, NULL },
		{ HEPH_OWN_TYPES, VALUE_STRING, &own->types, NULL },
		{ HEPH_OWN_ARROW, VALUE_U64, NULL, &own->arrow },
		{ HEPH_OWN_DURATION, VALUE_U64, NULL, &own->duration },
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

static struct class *add_class(struct heph_state *st, const struct own_values *values)
{
	struct trace *const t = st->r->trace;
	struct heph_own *const own = &st->own;
	struct class like = { .name = values->cls, .category = values->category };
	const uint32_t before = t->nplanned;

	if (own->nclasses == HEPH_OWN_MAX_CLASSES || own->text > HEPH_OWN_MAX_TEXT)
		return NULL;
	like.plan = trace_find_plan(t, values->cls, NULL, NULL);
	struct class *const c = trace_plan_class(t, &like);
	st->no_memory |= c == NULL;
	if (t->nplanned > before) {
		own->nclasses++;
		own->text += values->cls.n + values->category.n;
	}
	return c;
}

/* Returns NULL on OOM or at a limit. */
static struct class *find_class(struct heph_state *st, const struct own_values *values)
{
	struct class **const recent = &st->own.recent[heph_name_signature(values->cls) / 8 % HEPH_OWN_RECENT];

	if (*recent == NULL || !slice_equal((*recent)->name, values->cls) ||
	    !slice_equal((*recent)->category, values->category))
		*recent = add_class(st, values);
	return *recent;
}

static void set_kind(struct event *e, const struct own_values *own)
{
	static const struct {
		uint8_t phase, flags;
	} kinds[EVENT_KINDS] = {
		[EVENT_KIND_SPAN] = { PHASE_SPAN, 0 },
		[EVENT_KIND_ASYNC] = { PHASE_SPAN, EVENT_ASYNC },
		[EVENT_KIND_BEGIN] = { PHASE_BEGIN, 0 },
		[EVENT_KIND_END] = { PHASE_END, 0 },
		[EVENT_KIND_INSTANT] = { PHASE_INSTANT, 0 },
		[EVENT_KIND_COUNTER] = { PHASE_COUNTER, 0 },
		[EVENT_KIND_ARROW_OUT] = { PHASE_FLOW_OUT, 0 },
		[EVENT_KIND_ARROW_IN] = { PHASE_FLOW_IN, 0 },
		[EVENT_KIND_ARROW_STEP] = { PHASE_FLOW_IN, EVENT_STEP },
	};

	for (size_t i = 0; i < EVENT_KINDS; i++)
		if (slice_equal(own->kind, heph_own_kinds[i])) {
			e->phase = kinds[i].phase;
			e->flags = kinds[i].flags;
		}
	if (event_is_flow(e))
		e->dur = own->arrow;
	else if (e->phase != PHASE_SPAN)
		e->dur = own->duration;
}

/* Removes the prefix that the writer adds to names like those of its own attributes. */
static void unescape_name(struct slice *name)
{
	if (name->n <= HEPH_OWN_ESCAPE_SIZE || memcmp(name->p, HEPH_OWN_ESCAPE, HEPH_OWN_ESCAPE_SIZE) != 0)
		return;
	name->p += HEPH_OWN_ESCAPE_SIZE;
	name->n -= HEPH_OWN_ESCAPE_SIZE;
}

void heph_own_event(struct heph_state *st, const struct heph_packet *k, struct event *e, struct batch *b)
{
	const uint32_t first = k->stop < k->start ? 2 : 1; /* after the fields of every event */
	struct field *const f = b->fields + e->first_field;
	struct own_values own = { .arrow = 0 };
	uint32_t end = e->nfields;

	while (end > first && read_own_value(&f[end - 1], &own))
		end--;
	if (own.cls.p == NULL) { /* an event of another program */
		heph_names_check(st, k, e->name.p + e->name.n, e->nfields - first, b, true);
		return;
	}
	if (own.category.p == NULL)
		own.category = own.cls;
	struct class *const cls = find_class(st, &own);
	if (cls == NULL)
		return;
	st->event_class->records--;
	cls->records++;
	e->cls = cls;
	set_kind(e, &own);
	set_types(own.types, f + first, end - first, b);
	for (uint32_t i = first; i < end; i++) {
		unescape_name(&f[i].name);
		f[i - first] = f[i];
	}
	e->nfields = (uint16_t)(end - first);
}
