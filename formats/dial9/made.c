/*
 * Events and tracks that tracetool wrote: dial9.h describes their schemas.  A schema is parsed once.  Its
 * events become those from which they were written, with name, track and types of arguments.
 */
#include "dial9/dial9.h"
#include "model/event_traits.h"
#include "model/value.h"

/* ---- the process ---- */

const struct track *d9_process(struct d9_state *st)
{
	if (st->process == NULL) {
		st->process = trace_add_process(st->r->trace, input_name(st->r->in));
		st->r->no_memory |= st->process == NULL;
	}
	return st->process;
}

/* ---- schemas ---- */

#define MAX_NAME_BYTES (16U << 20) /* of the names of all tracks */

const enum word d9_made_hidden[D9_MADE_FIELDS] = { WORD_TRACK, WORD_DURATION, WORD_ARROW, WORD_NAME };

const char *d9_made_suffix(unsigned type)
{
	return type == D9_MADE_PLAIN   ? "plain"
	       : type == D9_MADE_TEXT  ? "text"
	       : type == D9_MADE_STACK ? "stack"
	                               : value_type_name(type);
}

unsigned d9_made_suffix_of(struct slice name, uint32_t *n)
{
	static const uint8_t types[] = { D9_MADE_PLAIN, VALUE_I8,     VALUE_I16,  VALUE_I32,    VALUE_F32,
		                         VALUE_ADDRESS, D9_MADE_TEXT, VALUE_JSON, D9_MADE_STACK };
	const char *const colon = slice_find_last(name, ':');

	*n = name.n;
	if (colon == NULL)
		return D9_MADE_NONE;
	const struct slice tail = slice_of(colon + 1, (size_t)(name.p + name.n - colon - 1));
	for (size_t i = 0; i < sizeof types; i++)
		if (slice_is(tail, d9_made_suffix(types[i]))) {
			*n = (uint32_t)(colon - name.p);
			return types[i];
		}
	return D9_MADE_NONE;
}

/* Returns the category with % and : restored; p is NULL on OOM. */
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
		return SLICE_NONE;
	copy[n] = '\0';
	return textscan_slice(copy, n);
}

/* Reads up to the next colon, after which *rest begins.  Returns false if there is none. */
static bool read_part(struct slice *rest, struct slice *part)
{
	const char *const colon = rest->n > 0 ? memchr(rest->p, ':', rest->n) : NULL;

	if (colon == NULL)
		return false;
	*part = slice_of(rest->p, (size_t)(colon - rest->p));
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
	m->waiting = slice_is(kind, D9_MADE_WAITING);
	m->kind = m->waiting ? EVENT_KIND_SPAN : (uint8_t)event_kind_named(kind, KIND_PART);
	m->category = unescape(arena, category);
	m->cls = textscan_slice(rest.p, rest.n); /* points into the schema's name, which stays */
	st->r->no_memory |= m->category.p == NULL;
	return m->kind < EVENT_KINDS && m->category.p != NULL;
}

static bool read_hidden(const struct d9_schema *s, struct d9_made *m)
{
	for (int i = 0; i < D9_MADE_FIELDS; i++) {
		const enum word word = d9_made_hidden[i];
		uint32_t n;
		if (!d9_made_has((enum event_kind)m->kind, word))
			continue;
		if (m->nhidden >= s->nfields)
			return false;
		const struct d9_field *const f = &s->fields[m->nhidden++];
		(void)d9_made_suffix_of(f->name, &n);
		if (!slice_equal(slice_of(f->name.p, n), word_names[word]) ||
		    (word == WORD_NAME
		         ? f->type != D9_STRING && f->type != D9_BYTES && f->type != D9_POOLED_STRING
		         : f->type != D9_VARINT))
			return false;
	}
	return true;
}

static void name_arguments(struct d9_schema *s, const struct d9_made *m)
{
	for (uint32_t i = 0; i < s->nfields - m->nhidden; i++) {
		struct d9_field *const f = &s->fields[m->nhidden + i];
		const unsigned type = d9_made_suffix_of(f->name, &f->name.n);
		const bool typed = type != D9_MADE_PLAIN && type != D9_MADE_STACK && type != D9_MADE_NONE;
		m->types[i] = (uint8_t)type;
		s->declared[m->nhidden + i].name = f->name;
		s->declared[m->nhidden + i].value = typed                         ? (uint8_t)type
		                                    : f->type == D9_POOLED_STRING ? VALUE_STRING
		                                                                  : d9_type(f->type)->value;
	}
}

bool d9_made_schema(struct d9_state *st, struct d9_schema *s)
{
	struct arena *const arena = &st->r->trace->arena;
	struct d9_made *const m = arena_zalloc(arena, 1, sizeof *m);

	if (m != NULL)
		m->types = arena_alloc(arena, (size_t)s->nfields + 1);
	if (note_failure(&st->r->no_memory, m == NULL || m->types == NULL))
		return false;
	if (!s->timed || s->name.n <= sizeof D9_MADE_PREFIX || !read_name(st, s->name, m) ||
	    !read_hidden(s, m))
		return false;
	name_arguments(s, m);
	s->made = m;
	return true;
}

bool d9_made_is_track(const struct d9_schema *s)
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

static const struct track *track_of(const struct d9_state *st, uint64_t number)
{
	return number < st->ntracks ? st->tracks[number] : NULL;
}

static struct track *add_track(struct d9_state *st, const struct record *f, const struct value v[5])
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

void d9_made_track(struct d9_state *st, const struct d9_schema *s, const struct record *f)
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
	if (t == NULL || !array_reserve(&st->tracks, st->ntracks, &st->tracks_cap, sizeof(struct track *)))
		st->r->no_memory = true;
	else
		st->tracks[st->ntracks++] = t;
}

/* ---- events ---- */

void d9_made_event(struct d9_state *st, const struct d9_schema *s, const struct record *f, struct batch *b,
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
	event_set_kind(e, (enum event_kind)m->kind);
	if (e->phase == PHASE_SPAN && e->dur > UINT64_MAX - e->ts)
		e->dur = UINT64_MAX - e->ts;
	*args = w.bytes.p;
}

/* ---- arguments ---- */

static void restore_stack(struct d9_state *st, struct batch *b, struct value *v)
{
	struct value *const copy = arena_alloc(&b->scratch, (size_t)v->count * sizeof *copy);

	if (note_failure(&st->r->no_memory, copy == NULL))
		return;
	for (uint32_t i = 0; i < v->count; i++) {
		copy[i] = v->values[i];
		if (copy[i].type == VALUE_U64)
			copy[i].type = VALUE_ADDRESS;
	}
	v->values = copy;
}

void d9_made_restore(struct d9_state *st, unsigned type, struct batch *b, struct value *v)
{
	if (type == D9_MADE_STACK && v->type == VALUE_LIST)
		restore_stack(st, b, v);
	else if (type != D9_MADE_PLAIN && type != D9_MADE_STACK)
		(void)words_restore(v, type, &b->scratch);
}
