/*
 * Tracks and events that this program wrote into a dial9 trace: dial9.h shows their schemas.
 *
 * A schema is taken apart once; each of its events then becomes the event of the input again, with the
 * name, the track and the types of arguments that it had.
 */
#include "dial9/dial9.h"
#include "json/token.h"
#include "model/event_traits.h"

#define MAX_NAME_BYTES (16U << 20) /* of the names of all tracks */

/* ---- parts of schemas ---- */

const char *const d9_made_kinds[EVENT_KINDS + 1] = {
	[EVENT_KIND_SPAN] = "span",
	[EVENT_KIND_ASYNC] = "async",
	[EVENT_KIND_INSTANT] = "instant",
	[EVENT_KIND_COUNTER] = "counter",
	[EVENT_KIND_ARROW_OUT] = "arrow-out",
	[EVENT_KIND_ARROW_IN] = "arrow-in",
	[EVENT_KIND_BEGIN] = "begin",
	[EVENT_KIND_END] = "end",
	[EVENT_KIND_ARROW_STEP] = "arrow-step",
};

const char *const d9_made_hidden[D9_MADE_FIELDS] = { "tracetool.track", "tracetool.duration",
	                                             "tracetool.arrow", "tracetool.name" };

const char *const d9_made_words[D9_MADE_WORDS + 1] = {
	[D9_MADE_PLAIN] = "plain", [D9_MADE_I8] = "i8",     [D9_MADE_I16] = "i16",
	[D9_MADE_I32] = "i32",     [D9_MADE_F32] = "f32",   [D9_MADE_ADDRESS] = "address",
	[D9_MADE_TEXT] = "text",   [D9_MADE_JSON] = "json", [D9_MADE_STACK] = "stack",
};

static const char *last_colon(struct slice s)
{
	while (s.n > 0 && s.p[s.n - 1] != ':')
		s.n--;
	return s.n > 0 ? s.p + s.n - 1 : NULL;
}

enum d9_made_word d9_made_word_of(struct slice name, uint32_t *n)
{
	const char *const colon = last_colon(name);
	int word = D9_MADE_WORDS;

	*n = name.n;
	if (colon == NULL)
		return D9_MADE_WORDS;
	const struct slice tail = slice_of(colon + 1, (size_t)(name.p + name.n - colon - 1));
	for (word = 0; word < D9_MADE_WORDS && !slice_is(tail, d9_made_words[word]); word++)
		;
	if (word < D9_MADE_WORDS)
		*n = (uint32_t)(colon - name.p);
	return (enum d9_made_word)word;
}

/* The category with % and : restored; p NULL on OOM. */
static struct slice unescape(struct arena *a, struct slice s)
{
	char *const copy = arena_alloc(a, (size_t)s.n + 1);
	uint32_t n = 0;

	for (uint32_t i = 0; copy != NULL && i < s.n; i++) {
		const bool escape = s.p[i] == '%' && s.n - i >= 3;
		const bool percent = escape && memcmp(s.p + i, "%25", 3) == 0;
		const bool colon = escape && memcmp(s.p + i, "%3a", 3) == 0;
		copy[n++] = percent ? '%' : colon ? ':' : s.p[i];
		i += percent || colon ? 2 : 0;
	}
	if (copy == NULL)
		return (struct slice){ NULL, 0, 0 };
	copy[n] = '\0';
	return textscan_slice(copy, n);
}

/* Reads up to the next colon, after which *rest begins.  Returns false if there is none. */
static bool read_part(struct slice *rest, struct slice *word)
{
	const char *const colon = rest->n > 0 ? memchr(rest->p, ':', rest->n) : NULL;

	if (colon == NULL)
		return false;
	*word = slice_of(rest->p, (size_t)(colon - rest->p));
	*rest = slice_of(colon + 1, (size_t)(rest->p + rest->n - colon - 1));
	return true;
}

static bool read_name(struct d9_state *st, struct slice name, struct d9_made *m)
{
	struct arena *const arena = &st->r->trace->arena;
	const uint32_t prefix = sizeof D9_MADE_PREFIX - 1;
	struct slice rest = slice_of(name.p + prefix, name.n - prefix), kind, category;

	if (!read_part(&rest, &kind) || !read_part(&rest, &category))
		return false;
	while (m->kind < EVENT_KINDS && !slice_is(kind, d9_made_kinds[m->kind]))
		m->kind++;
	m->category = unescape(arena, category);
	m->cls = textscan_slice(rest.p, rest.n); /* lies in the schema's name, which stays */
	st->no_memory |= m->category.p == NULL;
	return m->kind < EVENT_KINDS && m->category.p != NULL;
}

static bool is_text_type(uint8_t type)
{
	return type == D9_STRING || type == D9_BYTES || type == D9_POOLED_STRING;
}

static bool has_field_named(const struct d9_schema *s, uint32_t i, const char *name)
{
	uint32_t n;

	if (i >= s->nfields)
		return false;
	(void)d9_made_word_of(s->fields[i].name, &n);
	return slice_is(slice_of(s->fields[i].name.p, n), name);
}

static bool read_hidden(const struct d9_schema *s, struct d9_made *m)
{
	const bool span = m->kind == EVENT_KIND_SPAN || m->kind == EVENT_KIND_ASYNC;
	const bool arrow = kind_is_arrow(m->kind);
	const bool want[D9_MADE_FIELDS] = { true, span, arrow, true };

	for (int i = 0; i < D9_MADE_FIELDS; i++) {
		if (!want[i])
			continue;
		if (!has_field_named(s, m->nhidden, d9_made_hidden[i]))
			return false;
		const uint8_t type = s->fields[m->nhidden++].type;
		if (i == D9_MADE_FIELDS - 1 ? !is_text_type(type) : type != D9_VARINT)
			return false;
	}
	return true;
}

/* The type that an argument has again. */
static uint8_t restored_type(const struct d9_field *f, enum d9_made_word word)
{
	static const uint8_t types[D9_MADE_WORDS] = {
		[D9_MADE_I8] = VALUE_I8,     [D9_MADE_I16] = VALUE_I16,     [D9_MADE_I32] = VALUE_I32,
		[D9_MADE_F32] = VALUE_F32,   [D9_MADE_TEXT] = VALUE_STRING, [D9_MADE_ADDRESS] = VALUE_ADDRESS,
		[D9_MADE_JSON] = VALUE_JSON,
	};

	return word < D9_MADE_WORDS && types[word] != 0 ? types[word]
	       : f->type == D9_POOLED_STRING            ? VALUE_STRING
	                                                : d9_type(f->type)->value;
}

static void name_arguments(struct d9_schema *s, const struct d9_made *m)
{
	for (uint32_t i = 0; i < s->nfields - m->nhidden; i++) {
		struct d9_field *const f = &s->fields[m->nhidden + i];
		const enum d9_made_word word = d9_made_word_of(f->name, &f->name.n);
		m->words[i] = (uint8_t)word;
		s->declared[m->nhidden + i].name = f->name;
		s->declared[m->nhidden + i].value = restored_type(f, word);
	}
}

bool d9_made_event_schema(struct d9_state *st, struct d9_schema *s)
{
	struct arena *const arena = &st->r->trace->arena;
	struct d9_made *const m = arena_zalloc(arena, 1, sizeof *m);

	if (m != NULL)
		m->words = arena_alloc(arena, (size_t)s->nfields + 1);
	if (m == NULL || m->words == NULL) {
		st->no_memory = true;
		return false;
	}
	if (!s->timed || s->name.n <= sizeof D9_MADE_PREFIX || !read_name(st, s->name, m) ||
	    !read_hidden(s, m))
		return false;
	name_arguments(s, m);
	s->made = m;
	return true;
}

bool d9_made_track_schema(const struct d9_schema *s)
{
	static const char *const names[] = { "track", "parent", "kind", "id", "name" };
	static const uint8_t types[] = { D9_VARINT, D9_VARINT | D9_OPTIONAL, D9_STRING,
		                         D9_VARINT | D9_OPTIONAL };

	if (s->nfields != 5 || s->timed || (s->fields[4].type != D9_STRING && s->fields[4].type != D9_BYTES))
		return false;
	for (uint32_t i = 0; i < 5; i++)
		if (!slice_is(s->fields[i].name, names[i]) || (i < 4 && s->fields[i].type != types[i]))
			return false;
	return true;
}

/* ---- tracks ---- */

const struct track *d9_process(struct d9_state *st)
{
	if (st->process == NULL) {
		st->process = trace_add_process(st->r->trace, input_name(st->r->in));
		st->no_memory |= st->process == NULL;
	}
	return st->process;
}

static const struct track *track_of(const struct d9_state *st, uint64_t number)
{
	return number < st->ntracks ? st->tracks[number] : NULL;
}

static struct track *add_track(struct d9_state *st, const struct d9_frame *f, const struct value v[5])
{
	struct trace *const trace = st->r->trace;
	const struct track *const known = v[1].type == VALUE_U64 ? track_of(st, v[1].u64) : NULL;
	const struct slice kind = value_text(&v[2]), name = textscan_slice(v[4].p, v[4].count);
	const bool process = slice_is(kind, "process");
	const struct track *const parent = process || known != NULL ? known : d9_process(st);
	struct track *t;

	if (!process && parent == NULL)
		return NULL;
	t = process ? trace_add_process(trace, name) : trace_add_thread(trace, parent, 0, name);
	if (t == NULL)
		return NULL;
	if (!process && t->parent != parent)
		d9_tally(&st->tallies.deep_tracks, f, v[0].u64);
	t->has_id = v[3].type == VALUE_U64;
	t->id = t->has_id ? v[3].u64 : 0;
	t->is_child = slice_is(kind, "child");
	return t;
}

void d9_made_track(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	struct d9_walk w;
	struct value v[5];

	if (st->r->ahead_of != NULL)
		return;
	d9_walk_values(&w, st, s, f, NULL);
	w.raw = true;
	for (uint32_t i = 0; i < 5; i++)
		(void)d9_walk_value(&w, s->fields[i].type, 0, &v[i]);
	if (v[0].u64 != st->ntracks || st->tracks_made >= TRACE_MAX_TRACKS ||
	    v[4].count > MAX_NAME_BYTES - st->track_names) {
		d9_tally(&st->tallies.tracks, f, v[0].u64);
		return;
	}
	st->tracks_made++;
	st->track_names += v[4].count;
	if (d9_wants_raw(st)) { /* checks only */
		st->ntracks++;
		return;
	}
	struct track *const t = add_track(st, f, v);
	if (t == NULL || !array_room(&st->tracks, st->ntracks, &st->tracks_cap, sizeof(struct track *)))
		st->no_memory = true;
	else
		st->tracks[st->ntracks++] = t;
}

/* ---- events ---- */

static void set_phase(const struct d9_made *m, struct event *e)
{
	static const uint8_t phases[EVENT_KINDS] = {
		[EVENT_KIND_SPAN] = PHASE_SPAN,          [EVENT_KIND_ASYNC] = PHASE_SPAN,
		[EVENT_KIND_INSTANT] = PHASE_INSTANT,    [EVENT_KIND_COUNTER] = PHASE_COUNTER,
		[EVENT_KIND_ARROW_OUT] = PHASE_FLOW_OUT, [EVENT_KIND_ARROW_IN] = PHASE_FLOW_IN,
		[EVENT_KIND_BEGIN] = PHASE_BEGIN,        [EVENT_KIND_END] = PHASE_END,
		[EVENT_KIND_ARROW_STEP] = PHASE_FLOW_IN,
	};

	e->phase = phases[m->kind];
	e->flags = m->kind == EVENT_KIND_ASYNC        ? EVENT_ASYNC
	           : m->kind == EVENT_KIND_ARROW_STEP ? EVENT_STEP
	                                              : 0;
	if (e->phase == PHASE_SPAN && e->dur > UINT64_MAX - e->ts)
		e->dur = UINT64_MAX - e->ts;
}

void d9_made_event(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, struct batch *b,
                   struct event *e, const char **args)
{
	const struct d9_made *const m = s->made;
	const struct track *track;
	struct d9_walk w;
	struct value v;

	d9_walk_values(&w, st, s, f, b);
	(void)d9_walk_value(&w, D9_VARINT, 0, &v);
	track = track_of(st, v.u64);
	if (track != NULL)
		e->track = track;
	if (m->nhidden == 3) {
		(void)d9_walk_value(&w, D9_VARINT, 0, &v);
		e->dur = v.u64;
	}
	(void)d9_walk_value(&w, s->fields[m->nhidden - 1].type, 0, &v);
	if (v.type == VALUE_STRING)
		e->name = value_text(&v);
	else if (v.type == VALUE_BYTES)
		e->name = textscan_slice(v.p, v.count);
	set_phase(m, e);
	*args = w.bytes.p;
}

/* ---- arguments ---- */

static void restore_stack(struct d9_state *st, struct batch *b, struct value *v)
{
	struct value *const copy = arena_alloc(&b->scratch, (size_t)v->count * sizeof *copy);

	if (copy == NULL) {
		st->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < v->count; i++) {
		copy[i] = v->values[i];
		if (copy[i].type == VALUE_U64)
			copy[i].type = VALUE_ADDRESS;
	}
	v->values = copy;
}

static void restore_text(struct value *v)
{
	const struct slice s = textscan_slice(v->p, v->count);

	*v = value_string(s);
}

void d9_made_restore(struct d9_state *st, enum d9_made_word word, struct batch *b, struct value *v)
{
	static const struct {
		uint8_t from, to;
	} rows[D9_MADE_WORDS] = {
		[D9_MADE_I8] = { VALUE_I64, VALUE_I8 },           [D9_MADE_I16] = { VALUE_I64, VALUE_I16 },
		[D9_MADE_I32] = { VALUE_I64, VALUE_I32 },         [D9_MADE_F32] = { VALUE_F64, VALUE_F32 },
		[D9_MADE_ADDRESS] = { VALUE_U64, VALUE_ADDRESS },
	};
	size_t at;

	if (word == D9_MADE_TEXT && v->type == VALUE_BYTES)
		restore_text(v);
	else if (word == D9_MADE_JSON && v->type == VALUE_STRING && v->count > 0 &&
	         json_document_fault(v->p, v->count, D9_MADE_JSON_DEPTH, &at) == NULL)
		*v = (struct value){ .type = VALUE_JSON, .p = v->p, .count = v->count };
	else if (word == D9_MADE_STACK && v->type == VALUE_LIST)
		restore_stack(st, b, v);
	else if (rows[word].to != 0 && v->type == rows[word].from)
		v->type = rows[word].to;
}
