#include "model/event_traits.h"
#include "dial9/made.h"

#include "dial9/walk.h"
#include "json/json_token.h"

/* Tracks and events that this program wrote: see the header. */

#define MOST_NAMES (16U << 20) /* bytes of all tracks' names */

const struct track *
d9_process(struct d9_state *st)
{
	if (st->process == NULL) {
		st->process = trace_add_process(st->r->trace, input_name(st->r->in));
		st->no_memory |= st->process == NULL;
	}
	return st->process;
}

/* ---- tracks ---- */

static const struct track *
track_of(const struct d9_state *st, uint64_t number)
{
	return number < st->ntracks ? st->tracks[number] : NULL;
}

/* NULL: no memory. */
static struct track *
add_track(struct d9_state *st, const struct d9_frame *f, const struct value v[5])
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

void
d9_made_track(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f)
{
	struct d9_walk w;
	struct value v[5];

	if (st->collects != NULL)
		return;
	d9_walk_values(&w, st, s, f, NULL);
	w.raw = true;
	for (uint32_t i = 0; i < 5; i++)
		(void)d9_walk_value(&w, s->fields[i].type, 0, &v[i]);
	if (v[0].u64 != st->ntracks || st->tracks_made >= TRACE_MAX_TRACKS ||
	    v[4].count > MOST_NAMES - st->track_names) {
		d9_tally(&st->tallies.tracks, f, v[0].u64);
		return;
	}
	st->tracks_made++;
	st->track_names += v[4].count;
	if (d9_wants_raw(st)) { /* it is only checked */
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

static void
set_phase(const struct d9_made *m, struct event *e)
{
	static const uint8_t phases[D9_MADE_KINDS] = {
		[D9_MADE_SPAN] = PHASE_SPAN,          [D9_MADE_ASYNC] = PHASE_SPAN,
		[D9_MADE_INSTANT] = PHASE_INSTANT,    [D9_MADE_COUNTER] = PHASE_COUNTER,
		[D9_MADE_ARROW_OUT] = PHASE_FLOW_OUT, [D9_MADE_ARROW_IN] = PHASE_FLOW_IN,
		[D9_MADE_BEGIN] = PHASE_BEGIN,        [D9_MADE_END] = PHASE_END,
		[D9_MADE_ARROW_STEP] = PHASE_FLOW_IN,
	};

	e->phase = phases[m->kind];
	e->flags = m->kind == D9_MADE_ASYNC ? EVENT_ASYNC : m->kind == D9_MADE_ARROW_STEP ? EVENT_STEP : 0;
	if (e->phase == PHASE_SPAN && e->dur > UINT64_MAX - e->ts)
		e->dur = UINT64_MAX - e->ts;
}

void
d9_made_event(struct d9_state *st, const struct d9_schema *s, const struct d9_frame *f, struct batch *b,
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

static void
restore_stack(struct d9_state *st, struct batch *b, struct value *v)
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

static void
restore_text(struct value *v)
{
	const struct slice s = textscan_slice(v->p, v->count);

	*v = value_string(s);
}

void
d9_made_restore(struct d9_state *st, enum d9_made_word word, struct batch *b, struct value *v)
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
