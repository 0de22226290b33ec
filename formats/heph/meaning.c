/*
 * Tracks, and the options and attributes of tracetool.  Streams are processes, substreams their threads.
 * Options of tracetool describe the trace, its tracks and its facts, and attributes give an event its class,
 * kind and types of fields: such a trace is read back as the events that it was written from.  Unknown or
 * invalid options and attributes are ignored, as other programs may write them, too.
 */
#include <stdlib.h>

#include "heph/heph.h"
#include "out/facts.h"
#include "out/field_names.h"

/* ---- tracks by stream and substream ---- */

/* Returns NULL if there is none so far; *key is then free for it. */
static struct heph_track *find_track(const struct heph_tracks *all, uint32_t stream, uint64_t substream,
                                     uint64_t *key)
{
	uint32_t i;

	*key = hash_u64(substream, hash_u64(stream, hash_seed()));
	while ((i = table64_get(&all->index, *key)) != TABLE_NONE) {
		if (all->list[i].stream == stream && all->list[i].substream == substream)
			return &all->list[i];
		(*key)++; /* a hash: two pairs may have the same */
	}
	return NULL;
}

/* Enters a track unless it is NULL.  One that an option describes replaces that of earlier events. */
static bool enter_track(struct heph_tracks *all, struct heph_track t)
{
	uint64_t key;
	struct heph_track *known = find_track(all, t.stream, t.substream, &key);

	if (t.track == NULL)
		return false;
	if (known == NULL) {
		if (!array_reserve(&all->list, all->n, &all->cap, sizeof *all->list) ||
		    !table64_put(&all->index, key, all->n))
			return false;
		known = &all->list[all->n++];
	}
	*known = t;
	*heph_track_slot(all, t.stream, t.substream) = t;
	return true;
}

/* Returns the track that an option describes, or NULL. */
static const struct track *find_described(const struct heph_tracks *all, uint32_t stream, uint64_t substream)
{
	uint64_t key;
	const struct heph_track *const t = find_track(all, stream, substream, &key);

	return t != NULL && t->is_described ? t->track : NULL;
}

/* Returns the process that an option describes, or NULL. */
static const struct track *find_process(const struct heph_state *st, uint32_t stream)
{
	const uint32_t i = table64_get(&st->own.processes, stream);

	return i != TABLE_NONE ? st->r->trace->tracks[i] : NULL;
}

/* ---- tracks of packets ---- */

static const struct track *stream_process(struct heph_state *st, struct heph_stream *s)
{
	struct trace *const trace = st->r->trace;

	if (s->process == NULL)
		s->process = find_process(st, s->id);
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

/* Returns the track of events beyond the limits. */
static const struct track *overflow_track(struct heph_state *st)
{
	struct trace *const trace = st->r->trace;

	if (st->tracks.overflow == NULL) {
		const struct track *const process = trace_add_process(trace, SLICE_LIT("more streams"));
		if (process != NULL)
			st->tracks.overflow =
			    trace_add_thread(trace, process, UINT64_MAX, SLICE_LIT("more substreams"));
	}
	return st->tracks.overflow;
}

static const struct track *add_substream(struct heph_state *st, const struct heph_packet *k,
                                         struct heph_stream *s)
{
	struct trace *const trace = st->r->trace;

	if (trace->ntracks + 2 > TRACE_MAX_TRACKS) {
		heph_report(st, HEPH_RULE_STREAM_LIMIT, k, k->p + HEPH_AT_STREAM,
		            "stream %" PRIu32 ", substream %" PRIu64 " and others share one track", k->stream,
		            k->substream);
		return overflow_track(st);
	}
	const struct track *const process = stream_process(st, s);
	const struct slice name = trace_track_name(trace, false, "substream", k->substream);
	const struct track *const t =
	    process != NULL && name.p != NULL ? trace_add_thread(trace, process, k->substream, name) : NULL;
	return enter_track(&st->tracks, (struct heph_track){ t, k->substream, k->stream, false }) ? t : NULL;
}

const struct track *heph_track_slow(struct heph_state *st, const struct heph_packet *k)
{
	struct heph_stream *const s = heph_stream_find(&st->streams, k->stream);
	uint64_t key;
	const struct heph_track *const known = find_track(&st->tracks, k->stream, k->substream, &key);
	const struct track *const t = known != NULL ? known->track
	                              : s != NULL   ? add_substream(st, k, s)
	                                          : overflow_track(st); /* heph_check_counter() reported it */

	*heph_track_slot(&st->tracks, k->stream, k->substream) =
	    (struct heph_track){ .track = t, .substream = k->substream, .stream = k->stream };
	return t;
}

const struct track *heph_gap_track(struct heph_state *st, uint32_t stream)
{
	struct heph_stream *const s = heph_stream_find(&st->streams, stream);

	if (s == NULL) /* too many streams: reported */
		return overflow_track(st);
	if (s->gaps == NULL) {
		const struct track *const process = stream_process(st, s);
		s->gaps = process != NULL ? reader_gap_track(st->r, process) : NULL;
	}
	return s->gaps;
}

/* ---- attributes of options ---- */

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

static uint64_t find_number(const struct attributes *a, const char *name)
{
	const struct value *const v = find_value(a, name, VALUE_U64);

	return v != NULL ? v->u64 : 0;
}

static struct slice find_text(const struct attributes *a, const char *name)
{
	const struct value *const v = find_value(a, name, VALUE_STRING);

	return v != NULL ? value_text(v) : SLICE_LIT("");
}

/* ---- options: trace, metadata ---- */

static void read_trace(struct heph_state *st, const struct attributes *a)
{
	const struct slice clock = find_text(a, "clock");

	if (find_number(a, "version") != HEPH_OWN_VERSION)
		return;
	st->own.active = true;
	if (clock.n > 0 && utf8_valid(clock.p, clock.n)) {
		const struct slice s = arena_copy(&st->r->trace->arena, clock);
		st->r->no_memory |= s.p == NULL;
		if (s.p != NULL)
			st->r->trace->clock = s.p;
	}
}

/* Adds metadata of the trace, except lists, whose elements it would have to copy. */
static void read_fact(struct heph_state *st, const struct attributes *a)
{
	struct trace *const t = st->r->trace;
	struct arena scratch = { .head = NULL };

	if (a->n == 0 || a->f[0].value.type == VALUE_LIST)
		return;
	struct field f = a->f[0];
	words_restore_types(find_text(a, word_names[WORD_TYPES].p), &f, 1, &scratch);
	bool ok = !scratch.failed;
	const bool is_fact = fact_is_of_trace(&f.name);
	if (is_fact && (f.value.type == VALUE_BYTES || f.value.type == VALUE_JSON)) {
		f.value.p = arena_copy(&t->arena, value_text(&f.value)).p;
		ok &= f.value.p != NULL;
	}
	st->r->no_memory |= !ok || (is_fact && !trace_add_meta(t, f.name, f.value));
	arena_free(&scratch);
}

/* ---- options: tracks ---- */

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
	const bool is_new = find_process(st, stream) == NULL;
	struct track *const t = name.p != NULL ? get_process(st, stream, name) : NULL;

	if (t != NULL && is_new) {
		t->has_id = true;
		t->id = stream;
	}
	return t;
}

static struct track *add_thread(struct heph_state *st, const struct heph_packet *k, uint32_t stream,
                                const struct attributes *a)
{
	const struct value *const parent_id = find_value(a, "parent", VALUE_U64);
	const struct track *const process = get_unnamed_process(st, stream);
	const struct track *const found =
	    parent_id != NULL ? find_described(&st->tracks, stream, parent_id->u64) : NULL;
	const struct track *const parent = found != NULL ? found : process;
	struct track *const t =
	    process != NULL ? trace_add_thread(st->r->trace, parent, 0, find_text(a, "name")) : NULL;

	if (t == NULL)
		return NULL;
	if (t->parent != parent)
		heph_report(st, HEPH_RULE_LIMIT, k, k->p + HEPH_AT_NAME,
		            "a track below more than %d others is shown below the last of so many",
		            TRACE_MAX_DEPTH);
	t->lane = (uint16_t)find_number(a, "lane");
	t->is_child = slice_is(find_text(a, "kind"), "child");
	return t;
}

static void read_track(struct heph_state *st, const struct heph_packet *k, uint32_t stream,
                       uint64_t substream, const struct attributes *a)
{
	if (find_described(&st->tracks, stream, substream) != NULL ||
	    st->r->trace->ntracks + 2 > TRACE_MAX_TRACKS)
		return;
	struct track *const t = slice_is(find_text(a, "kind"), "process")
	                            ? get_process(st, stream, find_text(a, "name"))
	                            : add_thread(st, k, stream, a);
	const struct value *const id = find_value(a, "id", VALUE_U64);
	if (t != NULL) {
		t->has_id = id != NULL;
		t->id = id != NULL ? id->u64 : 0;
	}
	st->r->no_memory |= !enter_track(&st->tracks, (struct heph_track){ t, substream, stream, true });
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
		heph_report(st, HEPH_RULE_LIMIT, k, k->p + HEPH_AT_NAME,
		            "options that tracetool wrote take more than %u bytes; those from here on are "
		            "dropped",
		            HEPH_OWN_MAX_TEXT);
	own->full = true;
	return false;
}

bool heph_own_option(struct heph_state *st, struct heph_packet *k, const char *value)
{
	const struct slice name = k->text;
	const bool trace = slice_is(name, HEPH_OWN_TRACE), track = slice_is(name, HEPH_OWN_TRACK);
	const size_t ids = track ? HEPH_OWN_TRACK_IDS : 0, left = (size_t)(k->end - value);

	if (!trace && !track && !slice_is(name, HEPH_OWN_FACT))
		return false;
	if (left < ids) {
		k->fault = value;
		heph_report_past_packet(st, k, value, "stream and substream", ids, left);
		return true;
	}
	const bool retained = charge_option(st, k);
	k->build = (st->r->want & WANT_TIMES) != 0 && !st->raw;
	heph_read_attributes(st, k, value + ids);
	st->own.seen = true;
	if (!k->build || !retained || st->r->no_memory)
		return true;
	const struct attributes a = { st->fields, k->nfields };
	if (trace)
		read_trace(st, &a);
	else if (track)
		read_track(st, k, load_u32(value, true), load_u64(value + 4, true), &a);
	else
		read_fact(st, &a);
	return true;
}

/* ---- events ---- */

/* Reports the first event whose class is beyond the limits. */
static void report_classes(struct heph_state *st, const struct heph_packet *k)
{
	if (st->own.classes_full || st->r->no_memory)
		return;
	st->own.classes_full = true;
	heph_report(
	    st, HEPH_RULE_LIMIT, k, k->p,
	    "events that tracetool wrote have more than %u classes, or options and names of classes of "
	    "more than %u bytes; those of further classes are shown without their meaning",
	    HEPH_OWN_MAX_CLASSES, HEPH_OWN_MAX_TEXT);
}

static struct class *add_class(struct heph_state *st, struct slice name, struct slice category)
{
	struct trace *const t = st->r->trace;
	struct heph_own *const own = &st->own;
	struct class like = { .name = name, .category = category };
	const uint32_t before = t->nplanned;

	if (own->nclasses == HEPH_OWN_MAX_CLASSES || own->text > HEPH_OWN_MAX_TEXT)
		return NULL;
	like.plan = trace_find_plan(t, name, NULL, NULL);
	struct class *const c = trace_plan_class(t, &like);
	st->r->no_memory |= c == NULL;
	if (t->nplanned > before) {
		own->nclasses++;
		own->text += name.n + category.n;
	}
	return c;
}

/* Returns NULL on OOM or at a limit. */
static struct class *find_class(struct heph_state *st, const struct words *w)
{
	const bool has_category = w->of[WORD_CATEGORY].type != VALUE_NONE;
	const struct slice name = value_text(&w->of[WORD_CLASS]);
	const struct slice category = has_category ? value_text(&w->of[WORD_CATEGORY]) : name;
	struct class **const recent = &st->own.recent[heph_name_signature(name) / 8 % HEPH_OWN_RECENT];

	if (*recent == NULL || !slice_equal((*recent)->name, name) ||
	    !slice_equal((*recent)->category, category))
		*recent = add_class(st, name, category);
	return *recent;
}

void heph_own_event(struct heph_state *st, const struct heph_packet *k, struct event *e, struct batch *b)
{
	const uint32_t first = heph_fixed_fields(k);
	struct field *const f = b->fields + e->first_field;
	struct words w = { .of[WORD_CLASS].type = VALUE_NONE };
	uint32_t end = e->nfields;

	while (end > first && words_read(&w, f[end - 1].name, &f[end - 1].value))
		end--;
	if (w.of[WORD_CLASS].type == VALUE_NONE) { /* the event of another writer */
		st->r->no_memory |= !field_names_number(&b->scratch, f, e->nfields);
		return;
	}
	struct class *const cls = find_class(st, &w);
	if (cls == NULL) {
		report_classes(st, k);
		return;
	}
	st->event_class->records--;
	cls->records++;
	e->cls = cls;
	words_apply(&w, e);
	words_restore_types(value_text(&w.of[WORD_TYPES]), f + first, end - first, &b->scratch);
	for (uint32_t i = first; i < end; i++) {
		f[i].name = words_unescape(f[i].name);
		f[i - first] = f[i];
	}
	b->nfields -= e->nfields - (end - first);
	e->nfields = (uint16_t)(end - first);
}
