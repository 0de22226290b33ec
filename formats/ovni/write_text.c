/*
 * Events as marks of ovni, the labels of marks, and stream.json of the streams that write.c generates.
 *
 * A mark is a push or pop of a value on a type: spans, instants, both ends of arrows, and a type for each
 * series of counters.  Names are values of a type, declared as labels.  Events arrive in order of time, and
 * spans of a stream nest, so the ends of open spans are on a stack of at most MAX_DEPTH.
 */
#include "model/event_traits.h"
#include "model/number.h"
#include "ovni/ovni.h"

/* Limits, so that memory does not grow with the trace, and readers accept the output. */
#define MAX_DEPTH 512U      /* nested spans of one thread, as in ovniemu */
#define MAX_OPEN (1U << 20) /* open spans of all threads */
#define MAX_LABELS 16000U
#define MAX_LABEL_TEXT (4U << 20)     /* bytes */
#define LABELS_OF_STREAM (384U << 10) /* bytes of JSON */

/* ---- names ---- */

/* Sets t to the name without characters that no label can have.  Returns whether it was changed. */
static bool clean_name(struct text *t, struct slice name)
{
	const uint32_t n = (uint32_t)utf8_cut(name.p, name.n, OVNI_MARK_TEXT - 1);
	bool changed = n < name.n || n == 0;

	text_clear(t);
	if (n == 0)
		text_str(t, "(none)");
	for (uint32_t i = 0; i < n; i++) {
		text_char(t, name.p[i] == '\0' ? '?' : name.p[i]);
		changed |= name.p[i] == '\0';
	}
	return changed || !utf8_valid(name.p, n);
}

/* ---- stream.json ---- */

static void put_member(struct text *t, const char *key, struct slice value)
{
	text_printf(t, "\"%s\":", key);
	text_json_quoted(t, value);
}

/* Adds the labels of a type that this stream declares: each is declared once in the trace. */
static void put_labels(const struct ovw_marks *m, struct text *t, uint32_t type, uint32_t from, uint32_t to)
{
	const char *comma = "";

	text_str(t, ",\"labels\":{");
	for (uint32_t i = from; i < to; i++) {
		if (m->labels[i].type != type)
			continue;
		text_printf(t, "%s\"%u\":", comma, i + 1);
		text_json_quoted(t, slice_str(m->labels[i].name));
		comma = ",";
	}
	text_char(t, '}');
}

static void put_type(struct text *t, uint32_t type, struct slice title)
{
	text_printf(t, "%s\"%u\":{", type > 0 ? "," : "", type);
	put_member(t, "title", title);
	text_str(t, ",\"chan_type\":\"stack\"");
}

static void put_marks(const struct ovw_marks *m, struct text *t, uint32_t from, uint32_t to)
{
	static const char *const titles[] = { "spans", "instants", "arrows out", "arrows in" };

	text_str(t, ",\"mark\":{");
	for (uint32_t type = 0; type < OVW_COUNTERS; type++) {
		put_type(t, type, slice_str(titles[type]));
		if (type < OVW_LABELLED)
			put_labels(m, t, type, from, to);
		text_char(t, '}');
	}
	for (uint32_t i = 0; i < m->ntitles; i++) {
		put_type(t, OVW_COUNTERS + i, m->titles[i]);
		text_char(t, '}');
	}
	text_char(t, '}');
}

/* Returns the bytes of a label in stream.json; t: for the text, and unchanged. */
static size_t json_size(struct text *t, struct slice name)
{
	const size_t before = t->n;

	text_json_quoted(t, name);
	const size_t n = t->n - before;
	t->n = before;
	return n + 24; /* the value, and separators */
}

/* Returns the end of the labels that this stream has space for. */
static uint32_t labels_end(struct ovw_marks *m, uint32_t from)
{
	size_t bytes = 0;

	for (uint32_t i = from; i < m->nlabels; i++) {
		bytes += json_size(&m->scratch, slice_str(m->labels[i].name));
		if (bytes > LABELS_OF_STREAM)
			return i;
	}
	return m->nlabels;
}

/* Adds a name, cut to the length that readers accept, or the readers' name for a track without one. */
static void put_name(struct text *t, const char *key, struct slice name, uint32_t lane, struct text *scratch)
{
	(void)clean_name(scratch, name);
	if (lane > 0)
		text_printf(scratch, " (async %u)", lane);
	put_member(t, key, slice_of(scratch->p, scratch->n));
}

static const char *metadata_name(struct ovw_state *st, const struct ovw_stream *s)
{
	struct text *const t = &st->marks.scratch;

	text_clear(t);
	text_add(t, s->file, strlen(s->file) - strlen(OVNI_STREAM_FILE));
	text_str(t, OVNI_METADATA_FILE);
	return t->failed ? NULL : arena_copy(&st->arena, slice_of(t->p, t->n)).p;
}

void ovw_metadata(struct ovw_state *st, const struct writer *w, struct ovw_stream *s, uint32_t *label)
{
	struct ovw_marks *const m = &st->marks;
	const uint32_t end = labels_end(m, *label);
	const char *const name = metadata_name(st, s);
	struct text *const t = &st->chunk->text;

	if (note_failure(&t->failed, name == NULL))
		return;
	chunk_file(st->chunk, name);
	text_str(t, "{\"version\":3,\"ovni\":{\"lib\":{");
	put_member(t, "version", slice_str(w->run->tool));
	text_str(t, ",\"commit\":\"unknown\"},");
	text_printf(t, "\"part\":\"thread\",\"tid\":%d,\"pid\":%d,\"loom\":\"tracetool\",\"app_id\":%u,",
	            s->tid, m->processes[s->process].pid, s->process + 1);
	text_str(t,
	         "\"require\":{\"ovni\":\"1.1.0\"},\"loom_cpus\":[{\"index\":0,\"phyid\":0}],\"finished\":1");
	put_marks(m, t, *label, end);
	/* Names of processes and threads: ovni has none, and other programs ignore them. */
	text_str(t, "},\"tracetool\":{");
	put_name(t, "process", m->processes[s->process].track->name, 0, &m->scratch);
	text_char(t, ',');
	put_name(t, "thread", s->track->name, s->lane, &m->scratch);
	text_str(t, "}}\n");
	*label = end;
}

/* ---- labels ---- */

#define OTHER "(other)"

/* Returns the value of a new label, or 0 if there is no space, or on OOM (text.failed). */
static int64_t add_label(struct ovw_state *st, enum ovw_type type, struct slice name, bool last)
{
	struct ovw_marks *const m = &st->marks;
	const bool changed = clean_name(&m->scratch, name);
	const struct slice text = arena_copy(&st->arena, slice_of(m->scratch.p, m->scratch.n));
	const struct slice key = changed ? arena_copy(&st->arena, name) : text;

	if (note_failure(&st->chunk->text.failed, m->scratch.failed || text.p == NULL || key.p == NULL))
		return 0;
	const size_t json = json_size(&m->scratch, text);
	const uint64_t space = (uint64_t)LABELS_OF_STREAM * m->nstreams;
	if (!last && (m->nlabels + OVW_LABELLED >= MAX_LABELS || m->label_text + text.n > MAX_LABEL_TEXT ||
	              m->label_json + json + 1024 * (uint64_t)m->nstreams > space))
		return 0;
	if (note_failure(&st->chunk->text.failed,
	                 !array_reserve(&m->labels, m->nlabels, &m->labels_cap, sizeof *m->labels) ||
	                     !tabletext_put(&m->names[type], key, m->nlabels)))
		return 0;
	m->label_text += text.n;
	m->label_json += (uint32_t)json;
	m->labels[m->nlabels++] = (struct ovw_label){ text.p, type, changed };
	return m->nlabels;
}

/* Returns the value of a name as label of a type; many names share OTHER if there are too many. */
static int64_t label_of(struct ovw_state *st, enum ovw_type type, struct slice name, uint64_t offset)
{
	struct ovw_marks *const m = &st->marks;
	uint32_t known = tabletext_get(&m->names[type], name);
	const int64_t value = known != TABLE_NONE ? (int64_t)known + 1 : add_label(st, type, name, false);

	if (value != 0 && m->labels[value - 1].changed)
		ovw_lose(st, OVW_NAME_CHANGED, offset);
	if (value != 0 || st->chunk->text.failed)
		return value;
	ovw_lose(st, OVW_NAMES_FULL, offset);
	known = tabletext_get(&m->names[type], SLICE_LIT(OTHER));
	return known != TABLE_NONE ? known + 1 : add_label(st, type, SLICE_LIT(OTHER), true);
}

/* Returns the type of a series of counters, or OVNI_MARK_TYPES if there are too many. */
static uint32_t counter_type(struct ovw_state *st, struct slice title, uint64_t offset)
{
	struct ovw_marks *const m = &st->marks;
	const uint32_t known = tabletext_get(&m->title_of, title);

	if (known != TABLE_NONE)
		return known;
	if (m->ntitles == OVNI_MARK_TYPES - OVW_COUNTERS) {
		ovw_lose(st, OVW_TYPES_FULL, offset);
		return OVNI_MARK_TYPES;
	}
	const struct slice key = arena_copy(&st->arena, title); /* title may lie in scratch */
	const bool changed = key.p != NULL && clean_name(&m->scratch, key);
	const struct slice text = arena_copy(&st->arena, slice_of(m->scratch.p, m->scratch.n));
	if (note_failure(&st->chunk->text.failed,
	                 key.p == NULL || text.p == NULL ||
	                     !tabletext_put(&m->title_of, key, OVW_COUNTERS + m->ntitles)))
		return OVNI_MARK_TYPES;
	if (changed)
		ovw_lose(st, OVW_NAME_CHANGED, offset);
	m->titles[m->ntitles] = text;
	return OVW_COUNTERS + m->ntitles++;
}

/* ---- spans and instants ---- */

static void put_mark(struct ovw_state *st, struct ovw_stream *s, const char *code, uint64_t clock,
                     int64_t value, uint32_t type)
{
	char payload[12];

	store_uint(payload, (uint64_t)value, 8, false);
	store_uint(payload + 8, type, 4, false);
	ovw_record(st, s, code, clock, payload, sizeof payload);
}

/* Adds a mark that begins and ends at the same time. */
static void put_instant(struct ovw_state *st, struct ovw_stream *s, uint64_t clock, int64_t value,
                        uint32_t type)
{
	put_mark(st, s, "OM[", clock, value, type);
	put_mark(st, s, "OM]", clock, value, type);
}

/* Ends the open spans up to this time, inclusive. */
static void end_spans(struct ovw_state *st, struct ovw_stream *s, uint64_t until)
{
	for (const struct nested_span *o; (o = nested_spans_pop(&s->open, until)) != NULL;) {
		st->marks.nopen--;
		put_mark(st, s, "OM]", o->end, (int64_t)o->what, OVW_SPANS);
	}
}

static uint64_t end_of(struct ovw_state *st, const struct ovw_stream *s, const struct event *e,
                       uint64_t clock)
{
	const struct nested_span *const around = nested_spans_last(&s->open);
	uint64_t end = clock + e->dur;

	if (st->signed_time && (int64_t)e->ts < 0) /* the part after 0 */
		end = e->dur > 0 - e->ts ? e->dur - (0 - e->ts) : 0;
	else if (e->dur > (uint64_t)INT64_MAX - clock) {
		ovw_lose(st, OVW_TIME_CUT, e->offset);
		end = INT64_MAX;
	}
	end = end < clock ? clock : end;
	if (around != NULL && end > around->end) {
		ovw_lose(st, OVW_CUT, e->offset);
		end = around->end;
	}
	return end;
}

static void put_span(struct ovw_state *st, struct ovw_stream *s, const struct event *e, uint64_t clock)
{
	const uint64_t end = end_of(st, s, e, clock);

	if (s->open.n == MAX_DEPTH || st->marks.nopen == MAX_OPEN) {
		ovw_lose(st, s->open.n == MAX_DEPTH ? OVW_TOO_DEEP : OVW_TOO_MANY, e->offset);
		return;
	}
	const int64_t value = label_of(st, OVW_SPANS, e->name, e->offset);
	st->chunk->text.failed |= !nested_spans_push(&s->open, (struct nested_span){ end, (uint64_t)value });
	if (end > st->marks.latest)
		st->marks.latest = end;
	st->marks.nopen++;
	put_mark(st, s, "OM[", clock, value, OVW_SPANS);
}

/* ---- counters ---- */

/* Returns false for NaN and for values that are no number. */
static bool counter_value(const struct ovw_state *st, const struct value *v, int64_t *to, uint64_t offset)
{
	const enum value_fit fit = value_integer(v, to);

	if (fit == VALUE_NAN || fit == VALUE_LIMITED)
		ovw_lose(st, OVW_NUMBER_RANGE, offset);
	else if (fit == VALUE_ROUNDED)
		ovw_lose(st, OVW_NUMBER_ROUNDED, offset);
	return fit >= VALUE_LIMITED;
}

/* Changes the value of a series.  Returns false if no mark begins, as the value is the same or 0. */
static bool set_counter(struct ovw_state *st, struct ovw_stream *s, uint32_t type, int64_t value,
                        uint64_t clock)
{
	int64_t *const present = &s->counters[type - OVW_COUNTERS];

	if (*present == value)
		return false;
	if (*present != 0)
		put_mark(st, s, "OM]", clock, *present, type);
	if (value != 0)
		put_mark(st, s, "OM[", clock, value, type);
	*present = value;
	return value != 0;
}

static void put_counter(struct ovw_state *st, struct ovw_stream *s, const struct batch *b,
                        const struct event *e, uint64_t clock)
{
	const struct field *const f = b->fields + e->first_field;
	struct text *const t = &st->marks.scratch;
	uint32_t numbers = 0, marks = 0;
	int64_t value;

	for (uint32_t i = 0; i < e->nfields; i++)
		numbers += value_integer(&f[i].value, &value) != VALUE_NO_NUMBER;
	if (numbers < e->nfields)
		ovw_lose(st, OVW_FIELDS, e->offset);
	for (uint32_t i = 0; i < e->nfields; i++) {
		if (!counter_value(st, &f[i].value, &value, e->offset))
			continue;
		text_clear(t);
		text_slice(t, e->name);
		if (numbers > 1) {
			text_char(t, '.');
			text_slice(t, f[i].name);
		}
		const uint32_t type = counter_type(st, slice_of(t->p, t->n), e->offset);
		if (type < OVNI_MARK_TYPES)
			marks += set_counter(st, s, type, value, clock);
	}
	ovw_lose(st, marks > 0 ? OVW_COUNTER : OVW_COUNTER_SAME, e->offset);
	if (marks > 1)
		ledger_add(&st->chunk->ledger, &ovw_losses[OVW_SERIES], e->offset, marks - 1);
}

/* ---- events ---- */

static uint64_t clock_of(const struct ovw_state *st, const struct event *e)
{
	if (st->signed_time && (int64_t)e->ts < 0) {
		ovw_lose(st, OVW_NEGATIVE_TIME, e->offset);
		return 0;
	}
	if (e->ts > INT64_MAX)
		ovw_lose(st, OVW_TIME_CUT, e->offset);
	return e->ts > INT64_MAX ? INT64_MAX : e->ts;
}

static void put_arrow(struct ovw_state *st, struct ovw_stream *s, const struct event *e, uint64_t clock)
{
	ovw_lose(st, e->dur == 0 ? OVW_ARROW_ZERO : OVW_ARROW, e->offset);
	if (event_is_step(e))
		ovw_lose(st, OVW_STEP, e->offset);
	if (e->dur != 0)
		put_instant(st, s, clock, (int64_t)e->dur,
		            e->phase == PHASE_FLOW_OUT ? OVW_ARROWS_OUT : OVW_ARROWS_IN);
}

static void put_event(struct ovw_state *st, const struct batch *b, const struct event *e)
{
	const bool async = event_is_async(e);
	const uint64_t clock = clock_of(st, e);
	struct ovw_stream *const s = async ? ovw_async_stream(st, e, clock) : ovw_stream_of(st, e, clock);

	if (clock > st->marks.latest)
		st->marks.latest = clock;
	if (s == NULL)
		return;
	end_spans(st, s, clock);
	if (s->changed)
		ovw_lose(st, OVW_TRACK_CHANGED, e->offset);
	if (!slice_is(e->cls->category, "ovni"))
		ovw_lose(st, OVW_CATEGORY, e->offset);
	if (e->nfields > 0 && e->phase != PHASE_COUNTER)
		ovw_lose(st, OVW_FIELDS, e->offset);
	switch ((enum phase)e->phase) {
	case PHASE_SPAN:
		if (async)
			ovw_lose(st, OVW_ASYNC, e->offset);
		put_span(st, s, e, clock);
		break;
	case PHASE_COUNTER:
		put_counter(st, s, b, e, clock);
		break;
	case PHASE_FLOW_OUT:
	case PHASE_FLOW_IN:
		put_arrow(st, s, e, clock);
		break;
	default:
		ovw_lose(st, e->phase == PHASE_INSTANT ? OVW_INSTANT : OVW_HALF_SPAN, e->offset);
		put_instant(st, s, clock, label_of(st, OVW_INSTANTS, e->name, e->offset), OVW_INSTANTS);
	}
}

void ovw_events(void *state, const struct batch *b, struct chunk *chunk)
{
	struct ovw_state *const st = state;

	st->chunk = chunk;
	for (uint32_t i = 0; i < b->n && !chunk->text.failed; i++)
		put_event(st, b, &b->events[i]);
}

void ovw_end_stream(struct ovw_state *st, struct ovw_stream *s)
{
	end_spans(st, s, UINT64_MAX);
	for (uint32_t i = 0; i < st->marks.ntitles; i++) /* the last value stays until the end of the trace */
		set_counter(st, s, OVW_COUNTERS + i, 0, st->marks.latest);
	ovw_record(st, s, "OHe", s->last, NULL, 0);
	ovw_flush(st, s);
}
