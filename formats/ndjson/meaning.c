/*
 * Meaning of the lines: the trace, tracks, classes, events, and the end.  Tracks and classes are entries of
 * two indexes, which later lines refer to by number.  Numbers usually count from 0, so an entry is found at
 * its own position; a table has the others.  The text of the lines of tracks and classes is bounded by
 * NDJSON_MAX_TEXT.
 */
#include "ndjson/ndjson.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/numbers.h"
#include "model/event_traits.h"

/* ---- members ---- */

bool ndjson_magnitude(const struct json_token *t, uint64_t *v)
{
	const char *const p = t->p + (t->kind == JSON_INT);

	return t->end - p <= DECIMAL_U64_MAX && json_digits_any(p, (uint32_t)(t->end - p), v);
}

bool ndjson_get_number(const struct ndjson_line *line, enum ndjson_member m, uint64_t max, uint64_t *v)
{
	const struct json_token *const t = &line->of[m];

	return ndjson_has(line, m) && t->kind != JSON_INT && ndjson_magnitude(t, v) && *v <= max;
}

/* Reads an integer member that the line has.  Returns false after a finding if it exceeds max. */
static bool read_number(struct ndjson_reading *st, enum ndjson_member m, uint64_t max, uint64_t *v)
{
	const struct json_token *const t = &st->line.of[m];
	struct quoted q;

	if (ndjson_get_number(&st->line, m, max, v))
		return true;
	return ndjson_report(st, NDJSON_RULE_OUT_OF_RANGE, t->p, "%s is %s, at most %" PRIu64 " can be",
	                     ndjson_member_names[m], ndjson_quoted(&q, t), max);
}

static bool is_text(struct ndjson_reading *st, enum ndjson_member m, const char *name)
{
	const struct json_token *const t = &st->line.of[m];

	return ndjson_has(&st->line, m) && slice_is(json_token_text(t), name);
}

bool ndjson_array_has(const struct json_token *t, const char *name)
{
	struct json_walk w = json_walk_again(t);

	while (json_walk_next(&w))
		if (json_is_string(w.value.kind) && slice_is(json_token_text(&w.value), name))
			return true;
	return false;
}

/* Returns the text of t, unescaped if the array `escaped` contains the name of the member; escaped NULL: no
 * such array.  p NULL: a finding, or OOM. */
static struct slice unescape_text(struct ndjson_reading *st, const struct json_token *t,
                                  const struct json_token *escaped, const char *name, struct arena *a)
{
	const struct ndjson_target to = { .arena = a };
	struct slice s = ndjson_string_of(&to, t);
	bool bad = false;
	struct quoted q;

	if (s.p != NULL && escaped != NULL && ndjson_array_has(escaped, name)) {
		const struct slice decoded = ndjson_unescape_bytes(a, s, &bad);
		if (bad)
			ndjson_report(st, NDJSON_RULE_BAD_VALUE, t->p, "%s is not in the escaped form: %s",
			              name, quoted(&q, s));
		s = decoded;
	}
	st->r->no_memory |= s.p == NULL && !bad;
	return s;
}

/* Returns a text member, unescaped if `escaped` contains its name.  p NULL: a finding, or OOM. */
static struct slice read_member_text(struct ndjson_reading *st, enum ndjson_member m, struct arena *a)
{
	const struct json_token *const escaped =
	    ndjson_has(&st->line, NDJSON_M_ESCAPED) ? &st->line.of[NDJSON_M_ESCAPED] : NULL;

	return unescape_text(st, &st->line.of[m], escaped, ndjson_member_names[m], a);
}

/* ---- indexes of tracks and classes ---- */

struct ndjson_entry *ndjson_find_entry(const struct ndjson_index *k, uint64_t index)
{
	if (index < k->n && k->list[index].index == index)
		return &k->list[index];
	const uint32_t i = table64_get(&k->others, index);
	return i != TABLE_NONE ? &k->list[i] : NULL;
}

/* Returns the entry that a member refers to; NULL after a finding. */
static struct ndjson_entry *get_entry(struct ndjson_reading *st, struct ndjson_index *k, enum ndjson_member m)
{
	uint64_t index;

	if (!read_number(st, m, UINT32_MAX, &index))
		return NULL;
	struct ndjson_entry *const found = ndjson_find_entry(k, index);
	if (found == NULL)
		ndjson_report(st, k->limited ? NDJSON_RULE_LIMIT : NDJSON_RULE_UNKNOWN_REFERENCE,
		              st->line.of[m].p, "%s %" PRIu64 " has no line before this one%s",
		              ndjson_member_names[m], index, k->limited ? " that was read" : "");
	return found;
}

/* Adds an entry with the index of the line.  Returns NULL after a finding or on OOM. */
static struct ndjson_entry *add_entry(struct ndjson_reading *st, struct ndjson_index *k, uint32_t max,
                                      const char *what)
{
	const struct ndjson_line *const line = &st->line;
	const size_t bytes = (size_t)(line->end - line->p);
	uint64_t index;

	if (!read_number(st, NDJSON_M_INDEX, UINT32_MAX, &index))
		return NULL;
	if (ndjson_find_entry(k, index) != NULL) {
		ndjson_report(st, NDJSON_RULE_INDEX_TWICE, line->of[NDJSON_M_INDEX].p,
		              "there is a %s %" PRIu64 " already", what, index);
		return NULL;
	}
	if (k->n >= max || bytes > NDJSON_MAX_TEXT - st->text_bytes) {
		ndjson_report(st, NDJSON_RULE_LIMIT, line->p,
		              "%" PRIu32 " of type %s were read, %" PRIu64 " bytes", k->n, what,
		              st->text_bytes);
		k->limited = true;
		return NULL;
	}
	if (note_failure(&st->r->no_memory, !array_reserve(&k->list, k->n, &k->cap, sizeof *k->list) ||
	                                        (index != k->n && !table64_put(&k->others, index, k->n))))
		return NULL;
	st->text_bytes += bytes;
	k->list[k->n] = (struct ndjson_entry){ .index = index };
	return &k->list[k->n++];
}

/* Removes the latest entry, whose track or class could not be created. */
static bool drop_entry(struct ndjson_reading *st, struct ndjson_index *k)
{
	st->r->no_memory = true;
	k->n--;
	return false;
}

void ndjson_indexes_free(struct ndjson_reading *st)
{
	for (uint32_t i = 0; i < st->classes.n; i++)
		tabletext_free(&st->classes.list[i].types);
	free(st->tracks.list);
	free(st->classes.list);
	table64_free(&st->tracks.others);
	table64_free(&st->classes.others);
}

/* ---- the trace ---- */

/* Returns a copy with a final NUL in the arena of the trace; facts are never escaped. */
static const char *read_fact(struct ndjson_reading *st, enum ndjson_member m, const char *absent)
{
	if (!ndjson_has(&st->line, m))
		return absent;
	const struct slice s = unescape_text(st, &st->line.of[m], NULL, ndjson_member_names[m], &st->scratch);
	return s.p != NULL ? arena_copy(&st->r->trace->arena, s).p : NULL;
}

static bool read_facts(struct ndjson_reading *st, struct trace_facts *to)
{
	const struct trace_facts f = {
		.format = read_fact(st, NDJSON_M_FORMAT, ""),
		.dialect = read_fact(st, NDJSON_M_DIALECT, ""),
		.byte_order = read_fact(st, NDJSON_M_BYTE_ORDER, NULL),
		.clock = read_fact(st, NDJSON_M_CLOCK, "unknown"),
		.record_id = read_fact(st, NDJSON_M_RECORD_ID, NULL),
	};

	*to = f;
	return f.format != NULL && f.dialect != NULL && f.clock != NULL &&
	       (f.byte_order != NULL || !ndjson_has(&st->line, NDJSON_M_BYTE_ORDER)) &&
	       (f.record_id != NULL || !ndjson_has(&st->line, NDJSON_M_RECORD_ID));
}

bool ndjson_check_version(struct ndjson_reading *st)
{
	const struct json_token *const version = &st->line.of[NDJSON_M_VERSION];
	struct quoted q;
	uint64_t v;

	if (ndjson_get_number(&st->line, NDJSON_M_VERSION, UINT64_MAX, &v) && v == NDJSON_VERSION)
		return true;
	return ndjson_report(st, NDJSON_RULE_VERSION, version->p, "version is %s, this program reads %d",
	                     quoted(&q, slice_of(version->p, (size_t)(version->end - version->p))),
	                     NDJSON_VERSION);
}

bool ndjson_read_trace(struct ndjson_reading *st)
{
	struct ndjson_line *const line = &st->line;
	struct trace *const trace = st->r->trace;

	if (!ndjson_check_version(st))
		return false;
	st->origin = arena_zalloc(&trace->arena, 1, sizeof *st->origin);
	if (note_failure(&st->r->no_memory, st->origin == NULL || !read_facts(st, &st->origin->first)))
		return false;
	st->raw = is_text(st, NDJSON_M_MODE, "raw");
	st->origin->rebased = line->of[NDJSON_M_REBASED].kind == JSON_TRUE;
	trace->clock = st->origin->first.clock;
	trace->record_id = st->origin->first.record_id;
	trace->origin = st->origin;
	return true;
}

/* ---- tracks ---- */

/* Reports members that only tracks of threads have. */
static void check_process(struct ndjson_reading *st)
{
	const struct ndjson_line *const line = &st->line;

	if (ndjson_has(line, NDJSON_M_PARENT))
		ndjson_report(st, NDJSON_RULE_UNKNOWN_MEMBER, line->p, "a process has a parent");
	if (ndjson_has(line, NDJSON_M_LANE) || ndjson_has(line, NDJSON_M_CHILD))
		ndjson_report(st, NDJSON_RULE_UNKNOWN_MEMBER, line->p, "a process has a %s",
		              ndjson_has(line, NDJSON_M_LANE) ? "lane" : "child");
}

/* Returns the track above a thread; NULL after a finding. */
static const struct track *get_parent(struct ndjson_reading *st)
{
	if (!ndjson_has(&st->line, NDJSON_M_PARENT)) {
		ndjson_report(st, NDJSON_RULE_MISSING_MEMBER, st->line.p, "a thread lacks parent");
		return NULL;
	}
	const struct ndjson_entry *const parent = get_entry(st, &st->tracks, NDJSON_M_PARENT);
	return parent != NULL ? parent->track : NULL;
}

bool ndjson_read_track(struct ndjson_reading *st)
{
	const struct ndjson_line *const line = &st->line;
	struct trace *const trace = st->r->trace;
	const bool process = is_text(st, NDJSON_M_KIND, "process"), has_id = ndjson_has(line, NDJSON_M_ID);
	const struct track *above = NULL;
	uint64_t id = 0, lane = 0;

	if (process) {
		check_process(st);
	} else if (!is_text(st, NDJSON_M_KIND, "thread")) {
		return ndjson_report(st, NDJSON_RULE_BAD_VALUE, line->of[NDJSON_M_KIND].p,
		                     "kind is neither process nor thread");
	} else if ((above = get_parent(st)) == NULL) {
		return false;
	}
	if ((has_id && !read_number(st, NDJSON_M_ID, UINT64_MAX, &id)) ||
	    (ndjson_has(line, NDJSON_M_LANE) && !read_number(st, NDJSON_M_LANE, UINT16_MAX, &lane)))
		return false;
	const struct slice name = read_member_text(st, NDJSON_M_NAME, &st->scratch);
	struct slice host = SLICE_LIT("");
	if (name.p != NULL && process && ndjson_has(line, NDJSON_M_HOST))
		host = read_member_text(st, NDJSON_M_HOST, &st->scratch);
	struct ndjson_entry *const k =
	    name.p != NULL && host.p != NULL ? add_entry(st, &st->tracks, TRACE_MAX_TRACKS, "track") : NULL;
	if (k == NULL)
		return false;
	struct track *const track =
	    process ? trace_add_process(trace, name) : trace_add_thread(trace, above, id, name);
	if (track == NULL)
		return drop_entry(st, &st->tracks);
	if (track->parent != above)
		ndjson_report(st, NDJSON_RULE_LIMIT, line->of[NDJSON_M_PARENT].p,
		              "the track is below more than %d others, it is shown below the last of so many",
		              TRACE_MAX_DEPTH);
	if (process && ndjson_has(line, NDJSON_M_HOST) && !trace_set_host(trace, track, host))
		return drop_entry(st, &st->tracks);
	track->has_id = has_id;
	track->id = id;
	track->lane = process ? 0 : (uint16_t)lane;
	track->is_child = !process && ndjson_has(line, NDJSON_M_CHILD);
	k->track = track;
	return true;
}

/* ---- classes ---- */

struct field_tokens {
	struct json_token name, type, value, size, unit, escaped;
};

/* Reads a field of a class.  Returns false if it is invalid. */
static bool read_field_tokens(const struct json_token *t, struct field_tokens *to)
{
	const struct {
		const char *name;
		struct json_token *token;
		unsigned kinds;
	} rows[] = {
		{ "name", &to->name, 1U << JSON_STRING | 1U << JSON_ESCAPED },
		{ "type", &to->type, 1U << JSON_STRING | 1U << JSON_ESCAPED },
		{ "value", &to->value, 1U << JSON_STRING },
		{ "size", &to->size, 1U << JSON_UINT },
		{ "unit", &to->unit, 1U << JSON_STRING | 1U << JSON_ESCAPED },
		{ "escaped", &to->escaped, 1U << JSON_ARRAY },
	};

	*to = (struct field_tokens){ .name = { .kind = JSON_ABSENT } };
	if (t->kind != JSON_OBJECT)
		return false;
	struct json_walk w = json_walk_again(t);
	while (json_walk_next(&w))
		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
			if (slice_is(json_token_text(&w.key), rows[i].name)) {
				if ((rows[i].kinds >> w.value.kind & 1) == 0)
					return false;
				*rows[i].token = w.value;
			}
	return w.p != NULL && to->name.kind != JSON_ABSENT && to->type.kind != JSON_ABSENT;
}

/* Returns false after a finding or on OOM. */
static bool read_class_field(struct ndjson_reading *st, const struct json_token *field, struct class_field *f)
{
	struct arena *const a = &st->r->trace->arena;
	struct field_tokens t;
	uint64_t size = 0;

	if (!read_field_tokens(field, &t) ||
	    (t.size.p != NULL && (!ndjson_magnitude(&t.size, &size) || size > UINT32_MAX)))
		return ndjson_report(st, NDJSON_RULE_BAD_VALUE, field->p,
		                     "a field of a class is an object with name and type");
	const struct json_token *const escaped = t.escaped.p != NULL ? &t.escaped : NULL;
	const struct slice name = unescape_text(st, &t.name, escaped, "name", &st->scratch);
	const struct slice type = unescape_text(st, &t.type, escaped, "type", &st->scratch);
	if (name.p == NULL || type.p == NULL)
		return false;
	*f = (struct class_field){ .name = arena_copy(a, name),
		                   .type = arena_copy(a, type),
		                   .size = (uint32_t)size };
	if (t.value.p != NULL)
		f->value = (uint8_t)ndjson_type_of_name(json_token_text(&t.value));
	if (t.unit.p != NULL)
		f->unit = arena_copy(a, unescape_text(st, &t.unit, NULL, "unit", &st->scratch)).p;
	st->r->no_memory |= a->failed;
	return !st->r->no_memory;
}

static bool read_class_fields(struct ndjson_reading *st, struct class *like)
{
	const struct json_token *const t = &st->line.of[NDJSON_M_FIELDS];

	if (!ndjson_has(&st->line, NDJSON_M_FIELDS))
		return true;
	struct json_walk w = json_walk_again(t), all = w;
	struct class_field *const to = arena_zalloc(&st->scratch, json_walk_rest(&all), sizeof *to);
	if (note_failure(&st->r->no_memory, to == NULL))
		return false;
	while (json_walk_next(&w))
		if (!read_class_field(st, &w.value, &to[like->nfields++]))
			return false;
	like->fields = to;
	return true;
}

bool ndjson_read_class(struct ndjson_reading *st)
{
	struct class like = { .name = read_member_text(st, NDJSON_M_NAME, &st->scratch) };

	like.category = read_member_text(st, NDJSON_M_CATEGORY, &st->scratch);
	if (like.name.p == NULL || like.category.p == NULL || !read_class_fields(st, &like) ||
	    !ndjson_read_properties(st, &like))
		return false;
	struct ndjson_entry *const k = add_entry(st, &st->classes, NDJSON_MAX_CLASSES, "class");
	if (k == NULL)
		return false;
	k->cls = trace_plan_class(st->r->trace, &like);
	if (k->cls == NULL || (k->cls->nfields > NDJSON_FEW_FIELDS && !ndjson_index_types(&k->types, k->cls)))
		return drop_entry(st, &st->classes);
	return true;
}

/* ---- events ---- */

/* Times of events count from trace.zero_ns, times of structure from 0, before it as signed numbers. */
static bool read_time(struct ndjson_reading *st, uint64_t *ts)
{
	const struct json_token *const t = &st->line.of[NDJSON_M_TS];
	const uint64_t zero = st->r->trace->zero_ns;
	struct quoted q;

	*ts = 0;
	if (t->kind == JSON_UINT) {
		if (!read_number(st, NDJSON_M_TS, ndjson_last_time(st) - zero, ts))
			return false;
	} else if (!ndjson_magnitude(t, ts) || *ts > zero) {
		return ndjson_report(st, NDJSON_RULE_OUT_OF_RANGE, t->p,
		                     "ts_ns is %s, at least %s%" PRIu64 " can be%s", ndjson_quoted(&q, t),
		                     zero > 0 ? "-" : "", zero,
		                     zero > 0 ? "" : " where the first line lacks \"signed\":true");
	} else {
		*ts = -*ts;
	}
	*ts += st->line.type != NDJSON_STRUCTURE ? zero : 0;
	return true;
}

static bool read_duration(struct ndjson_reading *st, struct event *e)
{
	const struct ndjson_line *const line = &st->line;
	const bool flow = line->type == NDJSON_FLOW_OUT || line->type == NDJSON_FLOW_IN;
	const enum ndjson_member m = flow ? NDJSON_M_ID : NDJSON_M_DUR;

	if (!ndjson_has(line, m))
		return true;
	if (!read_number(st, m, UINT64_MAX, &e->dur))
		return false;
	if (line->type == NDJSON_SPAN && e->dur > ndjson_last_time(st) - e->ts) {
		const struct json_token *const ts = &line->of[NDJSON_M_TS];
		ndjson_report(st, NDJSON_RULE_OUT_OF_RANGE, line->of[m].p,
		              "a span of %" PRIu64 " ns from %.*s on ends after the last time; cut there",
		              e->dur, (int)(ts->end - ts->p), ts->p);
		e->dur = ndjson_last_time(st) - e->ts;
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

/* Reads class, track, times and offset.  Returns false after a finding. */
static bool read_head(struct ndjson_reading *st, struct event *e, struct ndjson_entry **cls)
{
	const struct ndjson_line *const line = &st->line;
	struct ndjson_entry *track = NULL;

	if ((*cls = get_entry(st, &st->classes, NDJSON_M_CLASS)) == NULL ||
	    (ndjson_has(line, NDJSON_M_TRACK) &&
	     (track = get_entry(st, &st->tracks, NDJSON_M_TRACK)) == NULL) ||
	    !read_time(st, &e->ts) || !read_duration(st, e) ||
	    !read_number(st, NDJSON_M_OFFSET, UINT64_MAX, &e->offset))
		return false;
	e->cls = (*cls)->cls;
	e->track = track != NULL ? track->track : NULL;
	e->phase = (uint8_t)line->type;
	e->flags =
	    (uint8_t)((line->async || ndjson_has(line, NDJSON_M_ASYNC) ? EVENT_ASYNC : 0) |
	              (line->step ? EVENT_STEP : 0) | (ndjson_has(line, NDJSON_M_INNER) ? EVENT_INNER : 0) |
	              (ndjson_has(line, NDJSON_M_BIG_ENDIAN) ? EVENT_BIG : 0));
	count_open_spans(st, track);
	return true;
}

bool ndjson_read_event(struct ndjson_reading *st)
{
	const struct ndjson_target to = { .b = &st->no_batch, .arena = &st->scratch };
	const unsigned need = st->line.type == NDJSON_STRUCTURE ? WANT_STRUCTURE : WANT_TIMES;
	const bool is_wanted = (st->r->want & need) != 0 && (st->r->want & WANT_RAW) == 0;
	struct ndjson_entry *entry;

	st->event = (struct event){ .ts = 0 };
	if (!read_head(st, &st->event, &entry))
		return false;
	st->event.name = read_member_text(st, NDJSON_M_NAME, &st->scratch);
	if (st->event.name.p == NULL)
		return false;
	st->entry = entry;
	if (!is_wanted) /* else ndjson_event() is called, and reads them */
		ndjson_read_fields(st, &to, entry);
	return true;
}

/* Returns the name, which the batch keeps. */
static struct slice name_of(const struct ndjson_reading *st, struct batch *b)
{
	const struct slice name = st->event.name;

	if (slice_equal(name, st->entry->cls->name))
		return st->entry->cls->name;
	if (!st->is_plain && st->line.of[NDJSON_M_NAME].kind != JSON_ESCAPED &&
	    !ndjson_has(&st->line, NDJSON_M_ESCAPED))
		return name; /* in the input */
	return arena_copy(&b->scratch, name);
}

/* If bytes are wanted, the offset is that of the line, not its member. */
void ndjson_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e)
{
	struct ndjson_reading *const st = r->state;

	*e = st->event;
	e->name = name_of(st, b);
	if (b->bytes != NULL) {
		b->bytes[b->n] = slice_of(rec->p, (size_t)(st->line.end - rec->p));
		e->offset = rec->offset;
	}
	const bool wanted = reader_wants_fields(r, e) || reader_wants_sizes(r, e->cls);
	const struct ndjson_target to = { .b = b,
		                          .arena = wanted ? &b->scratch : &st->scratch,
		                          .copy = st->is_plain };
	const uint32_t n = ndjson_read_fields(st, &to, st->entry);
	if (wanted)
		batch_set_fields(b, e, (uint16_t)n);
}

void ndjson_finish_events(struct ndjson_reading *st)
{
	uint64_t open = 0;

	for (uint32_t i = 0; i < st->tracks.n; i++)
		open += st->tracks.list[i].open;
	if (open > 0)
		ndjson_report(st, NDJSON_RULE_UNBALANCED, st->r->in->p, "%" PRIu64 " span%s", open,
		              open == 1 ? " begins and does not end" : "s begin and do not end");
}

/* ---- the end ---- */

static bool read_losses(struct ndjson_reading *st, struct trace_origin *o)
{
	const struct json_token *const t = &st->line.of[NDJSON_M_LOSSES];
	struct json_walk w = json_walk_again(t);
	struct arena *const a = &st->r->trace->arena;
	const struct ndjson_target to = { .arena = &st->scratch };

	o->losses = arena_zalloc(a, NDJSON_MAX_LOSSES, sizeof *o->losses);
	if (o->losses == NULL)
		return false;
	while (json_walk_next(&w)) {
		struct trace_loss *const loss = &o->losses[o->nlosses];
		if (o->nlosses == NDJSON_MAX_LOSSES) {
			ndjson_report(st, NDJSON_RULE_LIMIT, w.value.p, "more than %d kinds of losses",
			              NDJSON_MAX_LOSSES);
			break;
		}
		if (w.value.kind != JSON_UINT || !ndjson_magnitude(&w.value, &loss->count)) {
			ndjson_report(st, NDJSON_RULE_OUT_OF_RANGE, w.value.p,
			              "a loss is a number of up to 64 bits");
			continue;
		}
		const struct slice text = ndjson_string_of(&to, &w.key);
		loss->id = text.p != NULL ? arena_copy(a, text) : text;
		if (loss->id.p == NULL)
			return false;
		o->nlosses++;
	}
	return true;
}

static bool read_meta(struct ndjson_reading *st)
{
	struct trace *const trace = st->r->trace;
	struct batch b = { .n = 0 }; /* for its array of fields */
	const struct ndjson_target to = { .b = &b, .arena = &trace->arena, .copy = true };
	const uint32_t n = ndjson_read_fields(st, &to, NULL);
	bool ok = !st->r->no_memory;

	for (uint32_t i = 0; i < n && ok; i++)
		ok = trace_add_meta(trace, b.fields[i].name, b.fields[i].value);
	free(b.fields);
	return ok;
}

/* A negative value: the trace began before 0. */
static bool read_rebased_by(struct ndjson_reading *st, int128 *by)
{
	const struct json_token *const t = &st->line.of[NDJSON_M_REBASED_BY_NS];
	uint64_t v = 0;

	if (t->kind != JSON_INT) {
		if (!read_number(st, NDJSON_M_REBASED_BY_NS, UINT64_MAX, &v))
			return false;
	} else if (!ndjson_magnitude(t, &v) || v > INT64_MAX) {
		struct quoted q;
		return ndjson_report(st, NDJSON_RULE_OUT_OF_RANGE, t->p,
		                     "rebased_by_ns is %s, at least -%" PRId64 " can be",
		                     ndjson_quoted(&q, t), INT64_MAX);
	}
	*by = t->kind == JSON_INT ? -(int128)v : (int128)v;
	return true;
}

bool ndjson_read_end(struct ndjson_reading *st)
{
	const struct ndjson_line *const line = &st->line;
	struct trace *const trace = st->r->trace;
	struct trace_origin o = { .records = 0 };
	uint64_t epoch = 0;
	const bool has_epoch = ndjson_has(line, NDJSON_M_EPOCH_NS);

	if (!read_number(st, NDJSON_M_RECORDS, UINT64_MAX, &o.records) ||
	    !read_number(st, NDJSON_M_EVENTS, UINT64_MAX, &o.events) ||
	    (has_epoch && !read_number(st, NDJSON_M_EPOCH_NS, UINT64_MAX, &epoch)) ||
	    (ndjson_has(line, NDJSON_M_REBASED_BY_NS) && !read_rebased_by(st, &o.rebased_by)))
		return false;
	st->has_end = true;
	const uint64_t nread = st->r->trace->events;
	if (st->raw && nread != o.events) /* only raw files have a line for each record */
		ndjson_report(st, NDJSON_RULE_EVENTS_MISSING, line->of[NDJSON_M_EVENTS].p,
		              "%" PRIu64 " events were read, %" PRIu64 " were written", nread, o.events);
	if (note_failure(&st->r->no_memory,
	                 !read_facts(st, &o.last) || !read_losses(st, &o) || !read_meta(st)))
		return false;
	trace_change(trace);
	if (st->origin != NULL) {
		o.first = st->origin->first;
		o.rebased = st->origin->rebased;
		*st->origin = o;
	}
	if (has_epoch) {
		trace->epoch_known = true;
		trace->epoch_ns =
		    (uint64_t)(epoch + (o.rebased ? o.rebased_by : 0)); /* wraps as in the writer */
	}
	return true;
}
