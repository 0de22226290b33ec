#include <inttypes.h>
#include <stdio.h>

#include "base/numbers.h"
#include "model/event_traits.h"
#include "model/trace_origin.h"
#include "ndjson/ndjson.h"

/* ---- lines ---- */

/* The lines that are no events: the trace, its tracks and classes, the end. */

/* ---- the trace ---- */

/* What is known of it; the last line has the last word. */
static void put_facts(struct text *t, const struct trace_facts *facts)
{
	ndjson_member(t, "format", slice_str(facts->format));
	if (facts->dialect[0] != '\0')
		ndjson_member(t, "dialect", slice_str(facts->dialect));
	if (facts->byte_order != NULL)
		ndjson_member(t, "byte_order", slice_str(facts->byte_order));
	ndjson_member(t, "clock", slice_str(facts->clock));
	if (facts->record_id != NULL)
		ndjson_member(t, "record_id", slice_str(facts->record_id));
}

static struct trace_facts facts_of(const struct trace *t)
{
	return (struct trace_facts){ t->format, t->dialect, t->byte_order, t->clock, t->record_id };
}

/* The first line. */
static void ndjson_put_trace(struct text *t, const struct writer *w)
{
	const struct trace_origin *const origin = w->trace->origin;
	struct trace_facts facts = origin != NULL ? origin->first : facts_of(w->trace);
	if (origin == NULL)
		facts.dialect = ""; /* known at the end: later records, or inputs, may be of another */
	const bool rebased = w->rebased || (origin != NULL && origin->rebased);

	text_printf(t, "{\"type\":\"trace\",\"version\":%d", NDJSON_VERSION);
	ndjson_member(t, "tool", slice_str(w->tool));
	ndjson_member(t, "mode", slice_str(w->raw ? "raw" : "interpreted"));
	text_printf(t, ",\"rebased\":%s", rebased ? "true" : "false");
	put_facts(t, &facts);
	text_str(t, "}\n");
}

/* ---- tracks ---- */

/* The nearest number of its thread, or of its process. */
static const struct track *numbered(const struct track *k, enum track_kind kind)
{
	while (k != NULL && (k->kind != kind || !k->has_id))
		k = k->parent;
	return k;
}

/* Makes what events and render need.  false: no memory. */
static bool ndjson_declare_track(struct ndjson_state *st, struct track *k)
{
	struct ndjson_track *const d = arena_zalloc(&st->arena, 1, sizeof *d);
	const struct track *const process = numbered(k, TRACK_PROCESS), *const thread =
	                                                                    numbered(k, TRACK_THREAD);
	int n;

	if (d == NULL)
		return false;
	n = snprintf(d->text, sizeof d->text, ",\"track_index\":%" PRIu32, k->index);
	if (process != NULL)
		n += snprintf(d->text + n, sizeof d->text - (size_t)n, ",\"pid\":%" PRIu64, process->id);
	if (thread != NULL)
		n += snprintf(d->text + n, sizeof d->text - (size_t)n, ",\"tid\":%" PRIu64, thread->id);
	n += snprintf(d->text + n, sizeof d->text - (size_t)n, ",\"offset\":");
	d->n = (uint8_t)n;
	k->declared = d;
	return true;
}

static void ndjson_put_track(struct text *t, const struct track *k)
{
	text_str(t, "{\"type\":\"track\"");
	ndjson_member_u64(t, "index", k->index);
	ndjson_member(t, "kind", slice_str(k->kind == TRACK_PROCESS ? "process" : "thread"));
	const bool escaped = ndjson_member(t, "name", k->name);
	if (k->has_id)
		ndjson_member_u64(t, "id", k->id);
	if (k->parent != NULL)
		ndjson_member_u64(t, "parent", k->parent->index);
	if (k->lane > 0)
		ndjson_member_u64(t, "lane", k->lane);
	if (k->is_child)
		text_str(t, ",\"child\":true");
	ndjson_escaped(t, (const char *const[]){ "name" }, &escaped, 1);
	text_str(t, "}\n");
}

/* ---- classes ---- */

static void put_class_field(struct text *t, const struct class_field *f)
{
	static const char *const names[] = { "name", "type" };
	bool escaped[2];

	text_str(t, "{\"name\":");
	escaped[0] = ndjson_string(t, f->name);
	escaped[1] = ndjson_member(t, "type", f->type);
	if (f->value != VALUE_NONE) {
		text_str(t, ",\"value\":\"");
		ndjson_kind_word(t, f->value);
		text_char(t, '"');
	}
	if (f->size > 0)
		ndjson_member_u64(t, "size", f->size);
	if (f->unit != NULL)
		ndjson_member(t, "unit", slice_str(f->unit));
	ndjson_escaped(t, names, escaped, 2);
	text_char(t, '}');
}

static void put_class(struct text *t, const struct class *c)
{
	static const char *const names[] = { "name", "category" };
	bool escaped[2];

	text_str(t, "{\"type\":\"class\"");
	ndjson_member_u64(t, "index", c->index);
	escaped[0] = ndjson_member(t, "name", c->name);
	escaped[1] = ndjson_member(t, "category", c->category);
	ndjson_escaped(t, names, escaped, 2);
	for (uint32_t i = 0; i < c->nfields; i++) {
		text_str(t, i > 0 ? "," : ",\"fields\":[");
		put_class_field(t, &c->fields[i]);
	}
	text_str(t, c->nfields > 0 ? "]}\n" : "}\n");
}

/* Of fields of one name the first counts. */
static bool note_types(struct ndjson_class *d, const struct class *c)
{
	for (uint32_t i = c->nfields; i-- > 0;) {
		const struct class_field *const f = &c->fields[i];
		const unsigned type = ndjson_expectable(f->value) ? f->value : VALUE_NONE;
		if (!tabletext_put(&d->types, f->name, type))
			return false;
	}
	return true;
}

static struct slice copy_text(struct ndjson_state *st, const struct text *t)
{
	return t->failed ? slice_of(NULL, 0) : arena_copy(&st->arena, slice_of(t->p, t->n));
}

static bool ndjson_declare_class(struct ndjson_state *st, struct class *c)
{
	struct ndjson_class *const d = arena_zalloc(&st->arena, 1, sizeof *d);
	struct text t = { .p = NULL };

	if (d == NULL)
		return false;
	d->next = st->classes;
	st->classes = d;
	put_class(&t, c);
	d->line = copy_text(st, &t);
	text_clear(&t);
	text_str(&t, "\",\"class_index\":");
	text_u64(&t, c->index);
	d->escaped = ndjson_member(&t, "category", c->category);
	d->text = copy_text(st, &t);
	text_free(&t);
	c->declared = d;
	return d->line.p != NULL && d->text.p != NULL && note_types(d, c);
}

/* ---- the end ---- */

static void put_loss(struct text *t, struct slice id, uint64_t count, bool *any)
{
	text_str(t, *any ? ",\"" : "\"");
	text_json_chars(t, id);
	text_printf(t, "\":%" PRIu64, count);
	*any = true;
}

/* How many of it were lost before the input was written. */
static uint64_t lost_before(const struct trace_origin *origin, const char *id)
{
	for (uint32_t i = 0; origin != NULL && i < origin->nlosses; i++)
		if (slice_is(origin->losses[i].id, id))
			return origin->losses[i].count;
	return 0;
}

static bool is_lost(const struct ledger *lost, struct slice id)
{
	for (size_t i = 0; i < lost->n; i++)
		if (slice_is(id, lost->rows[i].loss->id))
			return true;
	return false;
}

static void put_losses(struct text *t, const struct ledger *lost, const struct trace_origin *origin)
{
	bool any = false;

	text_str(t, ",\"losses\":{");
	for (uint32_t i = 0; origin != NULL && i < origin->nlosses; i++)
		if (!is_lost(lost, origin->losses[i].id))
			put_loss(t, origin->losses[i].id, origin->losses[i].count, &any);
	for (size_t i = 0; i < lost->n; i++) {
		const char *const id = lost->rows[i].loss->id;
		const uint64_t before = lost_before(origin, id), n = lost->rows[i].count;
		put_loss(t, slice_str(id), n <= UINT64_MAX - before ? n + before : UINT64_MAX, &any);
	}
	text_char(t, '}');
}

/* Of a trace that was rebased before it was written, the epoch is that of its clock then. */
static void put_clock(struct text *t, const struct writer *w, const struct trace_origin *origin)
{
	const uint64_t before = origin != NULL && origin->rebased ? origin->rebased_by : 0;

	if (w->trace->epoch_known)
		ndjson_member_u64(t, "epoch_ns", w->trace->epoch_ns - before);
	if (w->rebased || (origin != NULL && origin->rebased))
		ndjson_member_u64(t, "rebased_by_ns", before + (w->rebased ? w->rebased_by : 0));
}

/* Classes that are no longer what they were declared as, then the last line. */
static void ndjson_put_end(struct chunk *c, const struct writer *w)
{
	const struct trace *const trace = w->trace;
	const struct trace_origin *const origin =
	    trace->origin != NULL && trace->origin->last.format != NULL ? trace->origin : NULL;
	const struct trace_facts facts = origin != NULL ? origin->last : facts_of(trace);
	struct text *const t = &c->text;
	struct ndjson_shapes shapes;

	text_str(t, "{\"type\":\"trace_end\"");
	ndjson_member_u64(t, "records", origin != NULL ? origin->records : trace->records);
	ndjson_member_u64(t, "events", origin != NULL ? origin->events : trace->events);
	put_facts(t, &facts);
	put_clock(t, w, trace->origin);
	put_losses(t, w->total, origin);
	ndjson_shapes_init(&shapes);
	ndjson_fields(&shapes, 0, NULL, trace->meta, trace->nmeta, 0, c);
	text_str(t, "}\n");
}

/* ---- event ---- */

/* Lines that are events. */

/* Times below 0 are those of a trace that was rebased while it was read. */
static bool time_of(struct ndjson_reading *st, uint64_t *ts)
{
	const struct ndjson_token *const t = &st->line.of[NDJSON_M_TS];
	struct quoted q;

	*ts = 0;
	if (t->kind == JSON_UINT)
		return ndjson_number(st, NDJSON_M_TS, UINT64_MAX, ts);
	ndjson_report(
	    st, NDJSON_RULE_NEGATIVE_TIME, t->p, "ts_ns is %s; read as 0",
	    quoted(&q, slice_of(t->p, (size_t)(t->end - t->p) < 40 ? (size_t)(t->end - t->p) : 40)));
	return true;
}

static bool duration_of(struct ndjson_reading *st, struct event *e)
{
	const struct ndjson_line *const line = &st->line;
	const bool flow = line->type == NDJSON_FLOW_OUT || line->type == NDJSON_FLOW_IN;
	const enum ndjson_member m = flow ? NDJSON_M_ID : NDJSON_M_DUR;

	if (!ndjson_has(line, m))
		return true;
	if (!ndjson_number(st, m, UINT64_MAX, &e->dur))
		return false;
	if (line->type == NDJSON_SPAN && e->dur > UINT64_MAX - e->ts) {
		ndjson_report(st, NDJSON_RULE_OUT_OF_RANGE, line->of[m].p,
		              "a span of %" PRIu64 " ns from %" PRIu64 " on ends behind 2^64; cut there",
		              e->dur, e->ts);
		e->dur = UINT64_MAX - e->ts;
	}
	return true;
}

/* Spans that are open on the track.  Raw records need not be balanced. */
static void balance(struct ndjson_reading *st, struct ndjson_known *track)
{
	if (track == NULL || st->raw)
		return;
	if (st->line.type == NDJSON_BEGIN) {
		track->open++;
	} else if (st->line.type == NDJSON_END && track->open > 0) {
		track->open--;
	} else if (st->line.type == NDJSON_END) {
		struct quoted q;
		ndjson_report(st, NDJSON_RULE_UNBALANCED, st->line.p, "no span is open on track %s",
		              quoted(&q, track->track->name));
	}
}

static uint8_t flags_of(const struct ndjson_line *line)
{
	return (uint8_t)((line->async || ndjson_has(line, NDJSON_M_ASYNC) ? EVENT_ASYNC : 0) |
	                 (line->step ? EVENT_STEP : 0) |
	                 (ndjson_has(line, NDJSON_M_BIG_ENDIAN) ? EVENT_BIG : 0));
}

/* Class, track and numbers; false after a finding. */
static bool place(struct ndjson_reading *st, struct event *e, struct ndjson_known **cls)
{
	const struct ndjson_line *const line = &st->line;
	struct ndjson_known *track = NULL;

	if ((*cls = ndjson_known(st, &st->classes, NDJSON_M_CLASS)) == NULL ||
	    (ndjson_has(line, NDJSON_M_TRACK) &&
	     (track = ndjson_known(st, &st->tracks, NDJSON_M_TRACK)) == NULL) ||
	    !time_of(st, &e->ts) || !duration_of(st, e) ||
	    !ndjson_number(st, NDJSON_M_OFFSET, UINT64_MAX, &e->offset))
		return false;
	e->cls = (*cls)->cls;
	e->track = track != NULL ? track->track : NULL;
	e->phase = (uint8_t)line->type;
	e->flags = flags_of(line);
	balance(st, track);
	return true;
}

/* Who wants the bytes of records wants the place of the line, too. */
static void add(struct ndjson_reading *st, struct batch *b, struct event e)
{
	const struct input *const in = st->r->in;
	const char *const end = st->line.end;

	if (b->bytes != NULL) {
		b->bytes[b->n] = slice_of(in->p, (size_t)(end - in->p));
		e.offset = input_offset(in, in->p);
	}
	b->events[b->n++] = e;
}

bool ndjson_take_event(struct ndjson_reading *st, struct batch *b)
{
	struct reader *const r = st->r;
	const bool raw = (r->want & WANT_RAW) != 0, structure = st->line.type == NDJSON_STRUCTURE;
	const bool wanted =
	    !raw && (r->want & WANT_TIMES) != 0 && (!structure || (r->want & WANT_STRUCTURE) != 0);
	struct event *const e = &st->event;
	struct ndjson_known *known;

	*e = (struct event){ .ts = 0 };
	if (!place(st, e, &known))
		return false;
	e->name = ndjson_text_of(st, NDJSON_M_NAME, wanted ? &b->scratch : &st->scratch);
	if (e->name.p == NULL)
		return false;
	if (slice_equal(e->name, e->cls->name))
		e->name = e->cls->name;
	const bool with_fields = wanted && ((r->want & WANT_FIELDS) != 0 || e->phase == PHASE_COUNTER);
	const struct ndjson_into to = { .b = b, .arena = with_fields ? &b->scratch : &st->scratch };
	const uint32_t n = ndjson_read_fields(st, &to, known);
	if (st->no_memory)
		return false;
	known->cls->records += !raw;
	r->trace->events += !structure;
	if (with_fields) {
		e->first_field = b->nfields;
		e->nfields = (uint16_t)n;
		b->nfields += n;
	}
	if (wanted)
		add(st, b, *e);
	return true;
}

void ndjson_take_finish(struct ndjson_reading *st)
{
	uint64_t open = 0;

	for (uint32_t i = 0; i < st->tracks.n; i++)
		open += st->tracks.list[i].open;
	if (open > 0)
		ndjson_report(st, NDJSON_RULE_UNBALANCED, st->r->in->p,
		              "%" PRIu64 " spans begin and do not end", open);
}

/* ---- raw ---- */

/* The class of lines of this type; NDJSON_TYPES: of those that could not be read. */
static struct class *raw_class(struct ndjson_reading *st, enum ndjson_type type)
{
	struct class **const c = &st->raw_classes[type];

	if (*c == NULL)
		*c = trace_add_class(st->r->trace,
		                     slice_str(type < NDJSON_TYPES ? ndjson_type_words[type] : "unreadable"));
	return *c;
}

/* A number or text as such, all else as JSON. */
static struct value raw_value(const struct ndjson_into *to, const struct ndjson_token *t)
{
	struct slice s = json_text(t->p, t->end, t->kind);
	uint64_t v;

	if (t->kind == JSON_UINT && json_digits_any(s.p, s.n, &v))
		return value_u64(v);
	if (json_is_string(t->kind))
		return value_string(ndjson_string_of(to, t));
	return (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p };
}

/* The members in the order of the line. */
static bool raw_fields(struct ndjson_reading *st, struct batch *b)
{
	const struct ndjson_line *const line = &st->line;
	const struct ndjson_into to = { .b = b, .arena = &b->scratch };
	enum ndjson_member order[NDJSON_MEMBERS];
	uint32_t n = 0;

	for (unsigned m = 0; m < NDJSON_MEMBERS; m++) {
		uint32_t i = n;
		if (!ndjson_has(line, m))
			continue;
		for (n++; i > 0 && line->of[order[i - 1]].p > line->of[m].p; i--)
			order[i] = order[i - 1];
		order[i] = m;
	}
	struct field *const f = batch_fields(b, n);
	for (uint32_t i = 0; f != NULL && i < n; i++) {
		f[i].name = slice_str(ndjson_member_words[order[i]]);
		f[i].name.flags = SLICE_UTF8 | SLICE_JSON;
		f[i].value = raw_value(&to, &line->of[order[i]]);
	}
	st->event.first_field = b->nfields;
	st->event.nfields = (uint16_t)n;
	b->nfields += f != NULL ? n : 0;
	return f != NULL;
}

/* A line that could not be read is a text. */
static bool raw_text(struct ndjson_reading *st, struct batch *b)
{
	const struct ndjson_line *const line = &st->line;
	struct field *const f = batch_fields(b, 1);

	if (f == NULL)
		return false;
	*f = (struct field){ SLICE_LIT("text"),
		             value_string(textscan_slice(line->p, (uint32_t)(line->end - line->p))) };
	st->event.first_field = b->nfields++;
	st->event.nfields = 1;
	return true;
}

void ndjson_take_raw(struct ndjson_reading *st, struct batch *b, bool parsed, size_t n)
{
	const struct input *const in = st->r->in;
	const enum ndjson_type type = parsed ? st->line.type : NDJSON_TYPES;
	struct event *const e = &st->event;

	if (type >= NDJSON_STRUCTURE)
		*e = (struct event){ .phase = PHASE_STRUCTURE };
	struct class *const cls = raw_class(st, type);
	if (cls == NULL || !(parsed ? raw_fields(st, b) : raw_text(st, b))) {
		st->no_memory = true;
		return;
	}
	cls->records++;
	e->cls = cls;
	e->name = cls->name;
	e->offset = input_offset(in, in->p);
	if (b->bytes != NULL)
		b->bytes[b->n] = slice_of(in->p, n);
	b->events[b->n++] = *e;
}

/* ---- write ---- */

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

static inline const struct head *head_of(const struct event *e)
{
	return &heads[event_is_async(e) ? HEAD_ASYNC : event_is_step(e) ? HEAD_STEP : e->phase];
}

/* Room for an event without its name, category and fields. */
#define LINE_ROOM (sizeof(struct head) + 3 * DECIMAL_I64_MAX + sizeof(struct ndjson_track) + 180)

static inline char *put_literal(char *p, const char *s, size_t n)
{
	memcpy(p, s, n);
	return p + n;
}

#define PUT(p, literal) put_literal(p, literal, sizeof(literal) - 1)

/* A duration, or what the phase has in its place. */
static inline char *put_duration(char *p, const struct event *e)
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
static inline char *put_name(struct text *t, char *p, const struct event *e, const struct ndjson_class *c,
                             bool *escaped)
{
	p = PUT(p, ",\"name\":\"");
	*escaped = false;
	if ((e->name.flags & SLICE_JSON) != 0)
		return text_put(p, e->name.p, e->name.n);
	t->n = (size_t)(p - t->p);
	*escaped = ndjson_chars(t, e->name);
	return text_room(t, c->text.n + LINE_ROOM);
}

static inline char *put_flags(char *p, const struct event *e, bool name_escaped, bool category_escaped)
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

static char *put_track(char *p, const struct event *e)
{
	if (e->track == NULL)
		return PUT(p, ",\"offset\":");
	const struct ndjson_track *const k = ndjson_track_of(e->track);
	memcpy(p, k->text, sizeof k->text);
	return p + k->n;
}

static void render_event(const struct ndjson_state *st, struct ndjson_shapes *shapes, const struct batch *b,
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

static bool ndjson_open(struct writer *w, struct chunk *chunk)
{
	struct ndjson_state *const st = w->state;

	st->signed_time = w->signed_time;
	ndjson_put_trace(&chunk->text, w);
	return true;
}

static bool ndjson_declare(struct writer *w, const struct batch *b)
{
	for (uint32_t i = 0; i < b->ntracks; i++)
		if (!ndjson_declare_track(w->state, b->tracks[i]))
			return false;
	for (uint32_t i = 0; i < b->nclasses; i++)
		if (!ndjson_declare_class(w->state, b->classes[i]))
			return false;
	return true;
}

static void ndjson_render(const void *state, const struct batch *b, struct chunk *chunk)
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

static bool ndjson_close(struct writer *w, struct chunk *chunk)
{
	ndjson_put_end(chunk, w);
	return true;
}

static void ndjson_free(void *state)
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
