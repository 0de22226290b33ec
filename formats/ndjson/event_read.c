/*
 * Reads the lines that are events, and in raw mode any line as a record whose fields are the members in the
 * order of the line.
 */
#include "ndjson/ndjson.h"

#include <stdlib.h>

#include "base/numbers.h"
#include "model/event_traits.h"

/* ---- events ---- */

/* Times below 0 come from a trace that was rebased while it was read. */
static bool read_time(struct ndjson_reading *st, uint64_t *ts)
{
	const struct json_token *const t = &st->line.of[NDJSON_M_TS];
	struct quoted q;

	*ts = 0;
	if (t->kind == JSON_UINT)
		return ndjson_read_number(st, NDJSON_M_TS, UINT64_MAX, ts);
	ndjson_report(
	    st, NDJSON_RULE_NEGATIVE_TIME, t->p, "ts_ns is %s; read as 0",
	    quoted(&q, slice_of(t->p, (size_t)(t->end - t->p) < 40 ? (size_t)(t->end - t->p) : 40)));
	return true;
}

static bool read_duration(struct ndjson_reading *st, struct event *e)
{
	const struct ndjson_line *const line = &st->line;
	const bool flow = line->type == NDJSON_FLOW_OUT || line->type == NDJSON_FLOW_IN;
	const enum ndjson_member m = flow ? NDJSON_M_ID : NDJSON_M_DUR;

	if (!ndjson_has(line, m))
		return true;
	if (!ndjson_read_number(st, m, UINT64_MAX, &e->dur))
		return false;
	if (line->type == NDJSON_SPAN && e->dur > UINT64_MAX - e->ts) {
		ndjson_report(st, NDJSON_RULE_OUT_OF_RANGE, line->of[m].p,
		              "a span of %" PRIu64 " ns from %" PRIu64 " on ends behind 2^64; cut there",
		              e->dur, e->ts);
		e->dur = UINT64_MAX - e->ts;
	}
	return true;
}

/* Counts the open spans of the track.  Raw records need not be balanced. */
static void count_open_spans(struct ndjson_reading *st, struct ndjson_entry *track)
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

/* Reads class, track, times and offset.  Returns false after a finding. */
static bool read_head(struct ndjson_reading *st, struct event *e, struct ndjson_entry **cls)
{
	const struct ndjson_line *const line = &st->line;
	struct ndjson_entry *track = NULL;

	if ((*cls = ndjson_find_entry(st, &st->classes, NDJSON_M_CLASS)) == NULL ||
	    (ndjson_has(line, NDJSON_M_TRACK) &&
	     (track = ndjson_find_entry(st, &st->tracks, NDJSON_M_TRACK)) == NULL) ||
	    !read_time(st, &e->ts) || !read_duration(st, e) ||
	    !ndjson_read_number(st, NDJSON_M_OFFSET, UINT64_MAX, &e->offset))
		return false;
	e->cls = (*cls)->cls;
	e->track = track != NULL ? track->track : NULL;
	e->phase = (uint8_t)line->type;
	e->flags = flags_of(line);
	count_open_spans(st, track);
	return true;
}

/* With bytes, the offset is that of the line, not the one in it. */
static void add_event(struct ndjson_reading *st, struct batch *b, struct event e)
{
	const struct input *const in = st->r->in;
	const char *const end = st->line.end;

	if (b->bytes != NULL) {
		b->bytes[b->n] = slice_of(in->p, (size_t)(end - in->p));
		e.offset = input_offset(in, in->p);
	}
	b->events[b->n++] = e;
}

bool ndjson_read_event(struct ndjson_reading *st, struct batch *b)
{
	struct reader *const r = st->r;
	const bool raw = (r->want & WANT_RAW) != 0, structure = st->line.type == NDJSON_STRUCTURE;
	const bool is_wanted =
	    !raw && (r->want & WANT_TIMES) != 0 && (!structure || (r->want & WANT_STRUCTURE) != 0);
	struct event *const e = &st->event;
	struct ndjson_entry *entry;

	*e = (struct event){ .ts = 0 };
	if (!read_head(st, e, &entry))
		return false;
	e->name = ndjson_read_text(st, NDJSON_M_NAME, is_wanted ? &b->scratch : &st->scratch);
	if (e->name.p == NULL)
		return false;
	if (slice_equal(e->name, e->cls->name))
		e->name = e->cls->name;
	const bool with_fields = is_wanted && ((r->want & WANT_FIELDS) != 0 || e->phase == PHASE_COUNTER);
	const struct ndjson_target to = { .b = b, .arena = with_fields ? &b->scratch : &st->scratch };
	const uint32_t n = ndjson_read_fields(st, &to, entry);
	if (st->no_memory)
		return false;
	entry->cls->records += !raw;
	r->trace->events += !structure;
	if (with_fields) {
		e->first_field = b->nfields;
		e->nfields = (uint16_t)n;
		b->nfields += n;
	}
	if (is_wanted)
		add_event(st, b, *e);
	return true;
}

void ndjson_finish_events(struct ndjson_reading *st)
{
	uint64_t open = 0;

	for (uint32_t i = 0; i < st->tracks.n; i++)
		open += st->tracks.list[i].open;
	if (open > 0)
		ndjson_report(st, NDJSON_RULE_UNBALANCED, st->r->in->p,
		              "%" PRIu64 " spans begin and do not end", open);
}

/* ---- raw records ---- */

/* Returns the class of lines of this type; NDJSON_TYPES: unreadable ones. */
static struct class *raw_class(struct ndjson_reading *st, enum ndjson_type type)
{
	struct class **const c = &st->raw_classes[type];

	if (*c == NULL)
		*c = trace_add_class(st->r->trace,
		                     slice_str(type < NDJSON_TYPES ? ndjson_type_names[type] : "unreadable"));
	return *c;
}

/* Returns a number or text as such, any other value as JSON. */
static struct value raw_value(const struct ndjson_target *to, const struct json_token *t)
{
	struct slice s = json_token_text(t);
	uint64_t v;

	if (t->kind == JSON_UINT && json_digits_any(s.p, s.n, &v))
		return value_u64(v);
	if (json_is_string(t->kind))
		return value_string(ndjson_string_of(to, t));
	return (struct value){ .type = VALUE_JSON, .count = s.n, .p = s.p };
}

/* Adds the members as fields, in the order of the line. */
static bool add_members(struct ndjson_reading *st, struct batch *b)
{
	const struct ndjson_line *const line = &st->line;
	const struct ndjson_target to = { .b = b, .arena = &b->scratch };
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
		f[i].name = slice_str(ndjson_member_names[order[i]]);
		f[i].name.flags = SLICE_UTF8 | SLICE_JSON;
		f[i].value = raw_value(&to, &line->of[order[i]]);
	}
	st->event.first_field = b->nfields;
	st->event.nfields = (uint16_t)n;
	b->nfields += f != NULL ? n : 0;
	return f != NULL;
}

/* Adds an unreadable line as one text. */
static bool add_line(struct ndjson_reading *st, struct batch *b)
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

void ndjson_read_raw(struct ndjson_reading *st, struct batch *b, bool parsed, size_t n)
{
	const struct input *const in = st->r->in;
	const enum ndjson_type type = parsed ? st->line.type : NDJSON_TYPES;
	struct event *const e = &st->event;

	if (type >= NDJSON_STRUCTURE)
		*e = (struct event){ .phase = PHASE_STRUCTURE };
	struct class *const cls = raw_class(st, type);
	if (cls == NULL || !(parsed ? add_members(st, b) : add_line(st, b))) {
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
