/*
 * The writer: one JSON object per line for the trace, each track and class when it is new, each event, and
 * the end.  A line needs only the lines of its track and class to be understood.
 */

#include "base/compiler.h"
#include "base/numbers.h"
#include "model/event_traits.h"
#include "ndjson/ndjson.h"
#include "out/kind.h"

/* ---- state ---- */

/* Data of a track for lines of its events and its children. */
struct ndjson_track {
	uint32_t index; /* index in its line; indexes of the model have gaps if events were selected */
	char text[96];  /* `,"track_index":3,"pid":1,"tid":7,"offset":` */
	uint8_t n;
};

struct ndjson_state {
	bool signed_time;   /* ts may be before 0; set by open */
	struct arena arena; /* of tracks, classes and their texts */
	struct ndjson_class *classes;
	struct tabletext lines; /* lines of classes, from the name on -> index */
	uint32_t ntracks, nclasses;
};

static inline const struct ndjson_class *class_of(const struct class *c)
{
	return c->declared;
}

static inline const struct ndjson_track *track_of(const struct track *k)
{
	return k->declared;
}

/* ---- members ---- */

static void begin_member(struct text *t, const char *name)
{
	text_str(t, ",\"");
	text_str(t, name);
	text_str(t, "\":");
}

/* Write `,"NAME":VALUE`; the first returns like ndjson_string(). */
static bool put_member(struct text *t, const char *name, struct slice s)
{
	begin_member(t, name);
	return ndjson_string(t, s);
}

static void put_member_u64(struct text *t, const char *name, uint64_t v)
{
	begin_member(t, name);
	text_u64(t, v);
}

/* Writes `,"escaped":[...]` with the names of escaped members, if there are any. */
static void put_escaped_names(struct text *t, const char *const *names, const bool *escaped, uint32_t n)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		if (!escaped[i])
			continue;
		text_str(t, any ? ",\"" : ",\"escaped\":[\"");
		text_str(t, names[i]);
		text_char(t, '"');
		any = true;
	}
	if (any)
		text_char(t, ']');
}

/* ---- the trace ---- */

/* Facts known so far; the last line replaces them. */
static void put_facts(struct text *t, const struct trace_facts *facts)
{
	put_member(t, "format", slice_str(facts->format));
	if (facts->dialect[0] != '\0')
		put_member(t, "dialect", slice_str(facts->dialect));
	if (facts->byte_order != NULL)
		put_member(t, "byte_order", slice_str(facts->byte_order));
	put_member(t, "clock", slice_str(facts->clock));
	if (facts->record_id != NULL)
		put_member(t, "record_id", slice_str(facts->record_id));
}

static struct trace_facts facts_of(const struct trace *t)
{
	return (struct trace_facts){ t->format, t->dialect, t->byte_order, t->clock, t->record_id };
}

static void put_trace(struct text *t, const struct writer *w)
{
	const struct trace_origin *const origin = w->run->trace->origin;
	struct trace_facts facts = origin != NULL ? origin->first : facts_of(w->run->trace);
	if (origin == NULL && !w->run->trace->dialect_known)
		facts.dialect = ""; /* known at the end: later records or inputs may have another dialect */
	const bool rebased = w->run->rebased || (origin != NULL && origin->rebased);

	text_printf(t, "{\"type\":\"trace\",\"version\":%d", NDJSON_VERSION);
	put_member(t, "tool", slice_str(w->run->tool));
	put_member(t, "mode", slice_str(w->run->raw ? "raw" : "interpreted"));
	text_printf(t, ",\"rebased\":%s", rebased ? "true" : "false");
	if (w->run->signed_time)
		text_str(t, ",\"signed\":true");
	put_facts(t, &facts);
	text_str(t, "}\n");
}

/* ---- tracks ---- */

/* Returns the nearest ancestor of this kind that has an id, or k itself. */
static const struct track *find_with_id(const struct track *k, enum track_kind kind)
{
	while (k != NULL && (k->kind != kind || !k->has_id))
		k = k->parent;
	return k;
}

static bool declare_track(struct ndjson_state *st, struct track *k)
{
	struct ndjson_track *const d = arena_zalloc(&st->arena, 1, sizeof *d);
	const struct track *const process = find_with_id(k, TRACK_PROCESS);
	const struct track *const thread = find_with_id(k, TRACK_THREAD);
	int n;

	if (d == NULL)
		return false;
	d->index = st->ntracks++;
	n = snprintf(d->text, sizeof d->text, ",\"track_index\":%" PRIu32, d->index);
	if (process != NULL)
		n += snprintf(d->text + n, sizeof d->text - (size_t)n, ",\"pid\":%" PRIu64, process->id);
	if (thread != NULL)
		n += snprintf(d->text + n, sizeof d->text - (size_t)n, ",\"tid\":%" PRIu64, thread->id);
	n += snprintf(d->text + n, sizeof d->text - (size_t)n, ",\"offset\":");
	d->n = (uint8_t)n;
	k->declared = d;
	return true;
}

static void put_track_line(struct text *t, const struct track *k)
{
	text_str(t, "{\"type\":\"track\"");
	put_member_u64(t, "index", track_of(k)->index);
	put_member(t, "kind", slice_str(k->kind == TRACK_PROCESS ? "process" : "thread"));
	bool escaped[] = { put_member(t, "name", k->name), false };
	if (k->host.n > 0)
		escaped[1] = put_member(t, "host", k->host);
	if (k->has_id)
		put_member_u64(t, "id", k->id);
	if (k->parent != NULL)
		put_member_u64(t, "parent", track_of(k->parent)->index);
	if (k->lane > 0)
		put_member_u64(t, "lane", k->lane);
	if (k->is_child)
		text_str(t, ",\"child\":true");
	put_escaped_names(t, (const char *const[]){ "name", "host" }, escaped, 2);
	text_str(t, "}\n");
}

/* ---- classes ---- */

static void put_class_field(struct text *t, const struct class_field *f)
{
	static const char *const names[] = { "name", "type" };
	bool escaped[2];

	text_str(t, "{\"name\":");
	escaped[0] = ndjson_string(t, f->name);
	escaped[1] = put_member(t, "type", f->type);
	if (f->value != VALUE_NONE) {
		text_str(t, ",\"value\":\"");
		ndjson_put_kind(t, f->value);
		text_char(t, '"');
	}
	if (f->size > 0)
		put_member_u64(t, "size", f->size);
	if (f->unit != NULL)
		put_member(t, "unit", slice_str(f->unit));
	put_escaped_names(t, names, escaped, 2);
	text_char(t, '}');
}

/* Writes the line of a class after its index. */
static void put_class(struct text *t, const struct class *c, bool raw)
{
	static const char *const names[] = { "name", "category" };
	bool escaped[2];

	escaped[0] = put_member(t, "name", c->name);
	escaped[1] = put_member(t, "category", c->category);
	put_escaped_names(t, names, escaped, 2);
	if (c->plan != NULL && !raw)
		ndjson_put_properties(t, c->plan);
	for (uint32_t i = 0; i < c->nfields; i++) {
		text_str(t, i > 0 ? "," : ",\"fields\":[");
		put_class_field(t, &c->fields[i]);
	}
	text_str(t, c->nfields > 0 ? "]}\n" : "}\n");
}

static struct slice copy_text(struct ndjson_state *st, const struct text *t)
{
	return t->failed ? SLICE_NONE : arena_copy(&st->arena, slice_of(t->p, t->n));
}

/* Classes with equal lines, as in merged traces, share one line: a reader treats them as one class. */
static bool declare_class(struct ndjson_state *st, struct class *c, bool raw)
{
	struct ndjson_class *const d = arena_zalloc(&st->arena, 1, sizeof *d);
	struct text t = { .p = NULL };

	if (d == NULL)
		return false;
	d->next = st->classes;
	st->classes = d;
	put_class(&t, c, raw);
	d->line = copy_text(st, &t);
	if (d->line.p == NULL)
		return false;
	d->index = tabletext_get(&st->lines, d->line);
	d->is_new = d->index == TABLE_NONE;
	if (d->is_new) {
		d->index = st->nclasses++;
		if (!tabletext_put(&st->lines, d->line, d->index))
			return false;
	}
	text_clear(&t);
	text_str(&t, "\",\"class_index\":");
	text_u64(&t, d->index);
	d->escaped = put_member(&t, "category", c->category);
	d->text = copy_text(st, &t);
	text_free(&t);
	c->declared = d;
	return d->text.p != NULL && ndjson_index_types(&d->types, c);
}

/* ---- the end ---- */

static void put_loss(struct text *t, struct slice id, uint64_t count, bool *any)
{
	text_str(t, *any ? ",\"" : "\"");
	text_json_chars(t, id);
	text_printf(t, "\":%" PRIu64, count);
	*any = true;
}

/* Returns the losses of this id before the input was written. */
static uint64_t lost_before(const struct trace_origin *origin, const char *id)
{
	for (uint32_t i = 0; origin != NULL && i < origin->nlosses; i++)
		if (slice_is(origin->losses[i].id, id))
			return origin->losses[i].count;
	return 0;
}

static void put_losses(struct text *t, const struct ledger *lost, const struct trace_origin *origin)
{
	bool any = false;

	text_str(t, ",\"losses\":{");
	for (uint32_t i = 0; origin != NULL && i < origin->nlosses; i++) {
		const struct trace_loss *const l = &origin->losses[i];
		size_t k = 0;
		while (k < lost->n && !slice_is(l->id, lost->rows[k].loss->id))
			k++;
		if (k == lost->n)
			put_loss(t, l->id, l->count, &any);
	}
	for (size_t i = 0; i < lost->n; i++) {
		const char *const id = lost->rows[i].loss->id;
		const uint64_t before = lost_before(origin, id), n = lost->rows[i].count;
		put_loss(t, slice_str(id), n <= UINT64_MAX - before ? n + before : UINT64_MAX, &any);
	}
	text_char(t, '}');
}

/* The epoch of a trace that was rebased earlier refers to its clock at that time. */
static void put_clock(struct text *t, const struct writer *w, const struct trace_origin *origin)
{
	const int128 before = origin != NULL && origin->rebased ? origin->rebased_by : 0;
	const int128 by = before + w->run->rebased_by;

	if (w->run->trace->epoch_known)
		put_member_u64(t, "epoch_ns", (uint64_t)(w->run->trace->epoch_ns - before));
	if (w->run->rebased || (origin != NULL && origin->rebased)) {
		begin_member(t, "rebased_by_ns");
		text_str(t, by < 0 ? "-" : "");
		text_u64(t, (uint64_t)(by < 0 ? -by : by));
	}
}

/* ---- events ---- */

struct head {
	char text[32];
	uint8_t n;
};

static const struct head heads[] = {
#define HEAD(name) "{\"kind\":\"" name "\",\"ts_ns\":"
#define ROW(kind, name, ...) [EVENT_KIND_##kind] = { HEAD(name), sizeof(HEAD(name)) - 1 },
	EVENT_KIND_ROWS(ROW)
#undef ROW
#undef HEAD
};

/* Space for an event without its name, category and fields. */
#define LINE_SPACE (sizeof(struct head) + 3 * DECIMAL_I64_MAX + sizeof(struct ndjson_track) + 200)

/* Writes the duration, or the id of an arrow. */
static inline char *put_duration(char *p, const struct event *e)
{
	if (event_is_flow(e))
		p = text_put_literal(p, ",\"id\":");
	else if (e->phase == PHASE_SPAN || (e->dur != 0 && (e->flags & EVENT_ARROW) == 0))
		p = text_put_literal(p, ",\"dur_ns\":");
	else
		return p;
	return decimal_u64(p, e->dur);
}

/* Returns the new end of the text. */
static inline char *put_name(struct text *t, char *p, const struct event *e, const struct ndjson_class *c,
                             bool *escaped)
{
	p = text_put_literal(p, ",\"name\":\"");
	*escaped = false;
	if ((e->name.flags & SLICE_JSON) != 0)
		return text_put(p, e->name.p, e->name.n);
	t->n = (size_t)(p - t->p);
	*escaped = ndjson_chars(t, e->name);
	return text_reserve(t, c->text.n + LINE_SPACE);
}

static inline char *put_flags(char *p, const struct event *e, bool name_escaped, bool category_escaped)
{
	if ((e->flags & EVENT_ASYNC) != 0 && e->phase != PHASE_SPAN)
		p = text_put_literal(p, ",\"async\":true");
	if ((e->flags & EVENT_INNER) != 0 && e->phase == PHASE_SPAN)
		p = text_put_literal(p, ",\"inner\":true");
	if ((e->flags & EVENT_BIG) != 0)
		p = text_put_literal(p, ",\"big_endian\":true");
	if (name_escaped && category_escaped)
		p = text_put_literal(p, ",\"escaped\":[\"name\",\"category\"]");
	else if (name_escaped)
		p = text_put_literal(p, ",\"escaped\":[\"name\"]");
	else if (category_escaped)
		p = text_put_literal(p, ",\"escaped\":[\"category\"]");
	return p;
}

static char *put_track(char *p, const struct event *e)
{
	if (e->track == NULL)
		return text_put_literal(p, ",\"offset\":");
	const struct ndjson_track *const k = track_of(e->track);
	memcpy(p, k->text, sizeof k->text);
	return p + k->n;
}

static void render_event(const struct ndjson_state *st, struct ndjson_shapes *shapes, const struct batch *b,
                         const struct event *e, struct chunk *chunk)
{
	const struct ndjson_class *const c = class_of(e->cls);
	struct text *const t = &chunk->text;
	char *p = text_reserve(t, (size_t)e->name.n + c->text.n + LINE_SPACE);
	bool escaped;

	if (p == NULL)
		return;
	const struct head *const head = &heads[event_kind(e)];
	memcpy(p, head->text, sizeof head->text);
	p += head->n;
	p = st->signed_time ? decimal_i64(p, (int64_t)e->ts) : decimal_u64(p, e->ts);
	p = put_duration(p, e);
	if ((p = put_name(t, p, e, c, &escaped)) == NULL)
		return;
	p = text_put(p, c->text.p, c->text.n);
	p = put_track(p, e);
	p = decimal_u64(p, e->offset);
	p = put_flags(p, e, escaped, c->escaped);
	t->n = (size_t)(p - t->p);
	ndjson_fields(shapes, c, b->fields + e->first_field, e->nfields, e->offset, chunk);
	text_add(t, "}\n", 2);
}

/* ---- the writer ---- */

static bool open_writer(struct writer *w, struct chunk *chunk)
{
	struct ndjson_state *const st = w->state;

	st->signed_time = w->run->signed_time;
	put_trace(&chunk->text, w);
	return true;
}

static bool declare_batch(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	for (uint32_t i = 0; i < b->ntracks; i++)
		if (!declare_track(w->state, b->tracks[i]))
			return false;
	for (uint32_t i = 0; i < b->nclasses; i++)
		if (!declare_class(w->state, b->classes[i], w->run->raw))
			return false;
	return true;
}

static void render_batch(const void *state, const struct batch *b, struct chunk *chunk)
{
	struct ndjson_shapes shapes;

	ndjson_shapes_init(&shapes);
	for (uint32_t i = 0; i < b->ntracks; i++)
		put_track_line(&chunk->text, b->tracks[i]);
	for (uint32_t i = 0; i < b->nclasses; i++) {
		const struct ndjson_class *const c = class_of(b->classes[i]);
		if (!c->is_new)
			continue;
		text_str(&chunk->text, "{\"type\":\"class\"");
		put_member_u64(&chunk->text, "index", c->index);
		text_slice(&chunk->text, c->line);
	}
	for (uint32_t i = 0; i < b->n; i++)
		render_event(state, &shapes, b, &b->events[i], chunk);
}

static bool close_writer(struct writer *w, struct chunk *chunk)
{
	const struct trace *const trace = w->run->trace;
	const struct trace_origin *const origin =
	    trace->origin != NULL && trace->origin->last.format != NULL ? trace->origin : NULL;
	const struct trace_facts facts = origin != NULL ? origin->last : facts_of(trace);
	struct text *const t = &chunk->text;
	struct ndjson_shapes shapes;

	text_str(t, "{\"type\":\"trace_end\"");
	put_member_u64(t, "records", origin != NULL ? origin->records : trace->records);
	put_member_u64(t, "events", origin != NULL ? origin->events : trace->events);
	put_facts(t, &facts);
	put_clock(t, w, trace->origin);
	put_losses(t, w->run->total, origin);
	ndjson_shapes_init(&shapes);
	ndjson_fields(&shapes, NULL, trace->meta, trace->nmeta, 0, chunk);
	text_str(t, "}\n");
	return true;
}

static void free_writer(void *state)
{
	struct ndjson_state *const st = state;

	for (struct ndjson_class *c = st->classes; c != NULL; c = c->next)
		tabletext_free(&c->types);
	tabletext_free(&st->lines);
	arena_free(&st->arena);
}

const struct writer_ops ndjson_writer_ops = {
	.state_size = sizeof(struct ndjson_state),
	.want = WANT_FIELDS | WANT_DIALECT,
	.modes = WRITER_TEXT | WRITER_RAW,
	.open = open_writer,
	.declare = declare_batch,
	.render = render_batch,
	.close = close_writer,
	.free = free_writer,
};
