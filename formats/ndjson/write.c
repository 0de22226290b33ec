#include "model/event_traits.h"
#include "base/decimal.h"
#include "ndjson/state.h"

/*
 * One JSON object a line: the trace, each track and class when it is new, each
 * event, and the end.  Every line can be understood with the lines of its track
 * and class alone.
 */

struct head {
	char text[32];
	uint8_t n;
};

#define HEAD(kind)                                                                                           \
	{                                                                                                    \
		"{\"kind\":\"" kind "\",\"ts_ns\":", sizeof("{\"kind\":\"" kind "\",\"ts_ns\":") - 1         \
	}

enum { HEAD_ASYNC = PHASE_STRUCTURE + 1, HEAD_STEP };

static const struct head heads[] = {
	[PHASE_SPAN] = HEAD("span"),       [PHASE_BEGIN] = HEAD("begin"),
	[PHASE_END] = HEAD("end"),         [PHASE_INSTANT] = HEAD("instant"),
	[PHASE_COUNTER] = HEAD("counter"), [PHASE_FLOW_OUT] = HEAD("flow_out"),
	[PHASE_FLOW_IN] = HEAD("flow_in"), [PHASE_STRUCTURE] = HEAD("structure"),
	[HEAD_ASYNC] = HEAD("async"),      [HEAD_STEP] = HEAD("flow_step"),
};

static inline const struct head *
head_of(const struct event *e)
{
	return &heads[event_is_async(e) ? HEAD_ASYNC : event_is_step(e) ? HEAD_STEP : e->phase];
}

/* Room for an event without its name, category and fields. */
#define LINE_ROOM (sizeof(struct head) + 3 * DECIMAL_I64_MAX + sizeof(struct ndjson_track) + 180)

static inline char *
put_literal(char *p, const char *s, size_t n)
{
	memcpy(p, s, n);
	return p + n;
}
#define PUT(p, literal) put_literal(p, literal, sizeof(literal) - 1)

/* A duration, or what the phase has in its place. */
static inline char *
put_duration(char *p, const struct event *e)
{
	if (event_is_flow(e))
		p = PUT(p, ",\"id\":");
	else if (e->phase == PHASE_SPAN || (e->dur != 0 && (e->flags & EVENT_ARROW) == 0))
		p = PUT(p, ",\"dur_ns\":");
	else
		return p;
	return decimal_u64(p, e->dur);
}

/* Returns where the text goes on; NULL: no memory. */
static inline char *
put_name(struct text *t, char *p, const struct event *e, const struct ndjson_class *c, bool *escaped)
{
	p = PUT(p, ",\"name\":\"");
	*escaped = false;
	if ((e->name.flags & SLICE_JSON) != 0)
		return text_put(p, e->name.p, e->name.n);
	t->n = (size_t)(p - t->p);
	*escaped = ndjson_chars(t, e->name);
	return text_room(t, c->text.n + LINE_ROOM);
}

static inline char *
put_flags(char *p, const struct event *e, bool name_escaped, bool category_escaped)
{
	if ((e->flags & EVENT_ASYNC) != 0 && e->phase != PHASE_SPAN)
		p = PUT(p, ",\"async\":true");
	if ((e->flags & EVENT_BIG) != 0)
		p = PUT(p, ",\"big_endian\":true");
	if (name_escaped && category_escaped)
		p = PUT(p, ",\"escaped\":[\"name\",\"category\"]");
	else if (name_escaped)
		p = PUT(p, ",\"escaped\":[\"name\"]");
	else if (category_escaped)
		p = PUT(p, ",\"escaped\":[\"category\"]");
	return p;
}

static char *
put_track(char *p, const struct event *e)
{
	if (e->track == NULL)
		return PUT(p, ",\"offset\":");
	const struct ndjson_track *const k = ndjson_track_of(e->track);
	memcpy(p, k->text, sizeof k->text);
	return p + k->n;
}

static void
render_event(const struct ndjson_state *st, struct ndjson_shapes *shapes, const struct batch *b,
             const struct event *e, struct chunk *chunk)
{
	const struct ndjson_class *const c = ndjson_class_of(e->cls);
	struct text *const t = &chunk->text;
	char *p = text_room(t, (size_t)e->name.n + c->text.n + LINE_ROOM);
	bool escaped;

	if (p == NULL)
		return;
	const struct head *const head = head_of(e);
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
	ndjson_fields(shapes, e->cls->index, c, b->fields + e->first_field, e->nfields, e->offset, chunk);
	text_add(t, "}\n", 2);
}

/* ---- the writer ---- */

static bool
ndjson_open(struct writer *w, struct chunk *chunk)
{
	struct ndjson_state *const st = w->state;

	st->signed_time = w->signed_time;
	ndjson_put_trace(&chunk->text, w);
	return true;
}

static bool
ndjson_declare(struct writer *w, const struct batch *b)
{
	for (uint32_t i = 0; i < b->ntracks; i++)
		if (!ndjson_declare_track(w->state, b->tracks[i]))
			return false;
	for (uint32_t i = 0; i < b->nclasses; i++)
		if (!ndjson_declare_class(w->state, b->classes[i]))
			return false;
	return true;
}

static void
ndjson_render(const void *state, const struct batch *b, struct chunk *chunk)
{
	struct ndjson_shapes shapes;

	ndjson_shapes_init(&shapes);
	for (uint32_t i = 0; i < b->ntracks; i++)
		ndjson_put_track(&chunk->text, b->tracks[i]);
	for (uint32_t i = 0; i < b->nclasses; i++)
		text_slice(&chunk->text, ndjson_class_of(b->classes[i])->line);
	for (uint32_t i = 0; i < b->n; i++)
		render_event(state, &shapes, b, &b->events[i], chunk);
}

static bool
ndjson_close(struct writer *w, struct chunk *chunk)
{
	ndjson_put_end(chunk, w);
	return true;
}

static void
ndjson_free(void *state)
{
	struct ndjson_state *const st = state;

	for (struct ndjson_class *c = st->classes; c != NULL; c = c->next)
		tabletext_free(&c->types);
	arena_free(&st->arena);
}

const struct writer_ops ndjson_writer_ops = {
	.state_size = sizeof(struct ndjson_state),
	.want = WANT_FIELDS,
	.modes = WRITER_TEXT | WRITER_INTERPRETED | WRITER_RAW,
	.open = ndjson_open,
	.declare = ndjson_declare,
	.render = ndjson_render,
	.close = ndjson_close,
	.free = ndjson_free,
};
