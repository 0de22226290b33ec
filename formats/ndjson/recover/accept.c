/*
 * Decides which lines the output can have.  The reader's functions read each line of the output, so its
 * tables are those of a later reader of the output, and lines that it refuses are not in the output.
 *
 * Tracks and classes are numbered in order, so a reference to a later line is damaged, and a reference to an
 * undefined index has lost its line.  Lost lines are replaced by lines with the facts that events state about
 * the track or class.
 */
#include "ndjson/recover/recover.h"

#include <stdlib.h>

#include "base/numbers.h"

/* ---- faults ---- */

static int by_position(const void *a, const void *b)
{
	const struct ndjson_fault *const x = a, *const y = b;

	return ORDER(x->at, y->at);
}

/* Returns the first fault at or after p; the faults are sorted. */
static const struct ndjson_fault *fault_from(const struct ndjson_faults *f, const char *p)
{
	uint32_t low = 0, high = f->n;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;
		if (f->list[mid].at < p)
			low = mid + 1;
		else
			high = mid;
	}
	return low < f->n ? &f->list[low] : NULL;
}

static bool has_fault(const struct ndjson_faults *f, const char *p, const char *end)
{
	const struct ndjson_fault *const found = fault_from(f, p);

	return found != NULL && found->at < end;
}

/* ---- a line without its faults ---- */

static bool is_mendable(const struct ndjson_faults *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const enum ndjson_rule rule = f->list[i].rule;
		if (rule != NDJSON_RULE_DUPLICATE_MEMBER && rule != NDJSON_RULE_WRONG_TYPE &&
		    rule != NDJSON_RULE_OUT_OF_RANGE && rule != NDJSON_RULE_BAD_VALUE)
			return false;
	}
	return f->n > 0;
}

static void put_comma(struct text *to, size_t start)
{
	if (to->n > start)
		text_char(to, ',');
}

/* Copies the members or elements that have no fault.  kept: for `types`, the remaining names; NULL: any. */
static void put_faultless(struct text *to, const struct ndjson_faults *f, const struct json_token *t,
                          struct tabletext *kept)
{
	struct json_walk w = json_walk_again(t);
	const bool object = t->kind == JSON_OBJECT;

	text_char(to, *t->p);
	const size_t start = to->n;
	while (json_walk_next(&w)) {
		const char *const p = object ? w.key.p : w.value.p;
		if (has_fault(f, p, w.value.end))
			continue;
		if (kept != NULL) {
			const struct slice name = json_token_text(&w.key);
			if (tabletext_get(kept, name) != 1)
				continue;
			(void)tabletext_put(kept, name, 2); /* the key exists: nothing is allocated */
		}
		put_comma(to, start);
		text_add(to, p, (size_t)(w.value.end - p));
	}
	text_char(to, t->end[-1]);
}

/* Adds the names of the remaining args.  Returns false on OOM. */
static bool add_names(const struct ndjson_line *line, const struct ndjson_faults *f, struct tabletext *to)
{
	for (uint32_t i = 0; i < line->args.n; i++) {
		const struct ndjson_pair *const pair = &line->args.list[i];
		if (!has_fault(f, pair->name.p - 1, pair->value.end) && !tabletext_put(to, pair->name, 1))
			return false;
	}
	return true;
}

/* Writes a member without its faults, or nothing. */
static void put_member(struct ndjson_reading *st, struct text *to, enum ndjson_member m,
                       const struct json_walk *w, struct tabletext *names)
{
	const struct ndjson_faults *const f = st->faults;
	const struct json_token *const t = &w->value;
	const struct ndjson_fault *const first = fault_from(f, t->p);
	const bool faulty = first != NULL && first->at < t->end;
	const bool parts =
	    m == NDJSON_M_ARGS || m == NDJSON_M_PAIRS || m == NDJSON_M_FIELDS || m == NDJSON_M_LOSSES;
	uint64_t v;
	/* a span that ends too late, which the reader shortens */
	const bool late = m == NDJSON_M_DUR && st->line.type == NDJSON_SPAN &&
	                  ndjson_get_number(&st->line, m, UINT64_MAX, &v);

	if (faulty && m != NDJSON_M_TYPES && !(first->at > t->p && parts) && !(first->at == t->p && late))
		return;
	put_comma(to, 1);
	text_add(to, w->key.p, (size_t)((!faulty && m != NDJSON_M_TYPES ? t->end : t->p) - w->key.p));
	if (m == NDJSON_M_TYPES)
		put_faultless(to, f, t, names);
	else if (faulty && parts)
		put_faultless(to, f, t, NULL);
	else if (faulty)
		text_u64(to, ndjson_last_time(st) - st->event.ts);
}

bool ndjson_mend(struct ndjson_reading *st, struct text *to)
{
	struct ndjson_faults *const f = st->faults;
	const struct ndjson_line *const line = &st->line;
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	struct tabletext names = { .slots = NULL };
	uint64_t seen = 0;

	if (!is_mendable(f))
		return false;
	qsort(f->list, f->n, sizeof *f->list, by_position);
	bool ok = add_names(line, f, &names);
	text_clear(to);
	text_char(to, '{');
	struct json_walk w = json_walk(&x, json_skip_blanks(line->p, line->end), line->end);
	while (ok && json_walk_next(&w)) {
		const enum ndjson_member m = ndjson_find_member(json_token_text(&w.key));
		/* the faults contain only the first repeated member and the first mistyped one */
		if (m != NDJSON_MEMBERS && ((seen >> m & 1) != 0 || !ndjson_fits_member(m, w.value.kind)))
			continue;
		put_member(st, to, m, &w, &names);
		seen |= UINT64_C(1) << m;
	}
	text_char(to, '}');
	tabletext_free(&names);
	st->r->no_memory |= !ok || to->failed;
	return ok && !to->failed;
}

/* ---- lines of type trace and trace_end ---- */

#define BIT(m) (UINT64_C(1) << NDJSON_M_##m)

/* Writes a member that the damaged line has, else `otherwise`; NULL: nothing. */
static void put_or(struct text *to, const struct ndjson_line *line, enum ndjson_member m,
                   const char *otherwise)
{
	const struct json_token *const t = &line->of[m];
	uint64_t v;

	const bool has = ndjson_has(line, m) && ndjson_fits_member(m, t->kind) &&
	                 (t->kind != JSON_UINT || ndjson_get_number(line, m, UINT64_MAX, &v));
	if (!has && otherwise == NULL)
		return;
	text_printf(to, ",\"%s\":", ndjson_member_names[m]);
	if (has)
		text_add(to, t->p, (size_t)(t->end - t->p));
	else
		text_str(to, otherwise);
}

static void put_number_or(struct text *to, const struct ndjson_line *line, enum ndjson_member m,
                          uint64_t otherwise)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%" PRIu64, otherwise);
	put_or(to, line, m, digits);
}

/* Writes a fact of the damaged line, else the text; NULL: nothing. */
static void put_fact_or(struct text *to, const struct ndjson_line *line, enum ndjson_member m,
                        const char *otherwise)
{
	struct text value = { .p = NULL };

	ndjson_string(&value, slice_str(otherwise != NULL ? otherwise : ""));
	text_char(&value, '\0');
	to->failed |= value.failed;
	put_or(to, line, m, value.failed || otherwise == NULL ? NULL : value.p);
	text_free(&value);
}

/* Writes the facts of the damaged line, else those of the first line. */
static void put_facts(struct text *to, const struct ndjson_line *line, const struct trace_origin *origin)
{
	static const struct trace_facts unknown = { .format = "unknown", .dialect = "", .clock = "unknown" };
	const struct trace_facts *const facts = origin != NULL ? &origin->first : &unknown;

	put_fact_or(to, line, NDJSON_M_FORMAT, facts->format);
	put_fact_or(to, line, NDJSON_M_DIALECT, *facts->dialect != '\0' ? facts->dialect : NULL);
	put_fact_or(to, line, NDJSON_M_BYTE_ORDER, facts->byte_order);
	put_fact_or(to, line, NDJSON_M_CLOCK, facts->clock);
	put_fact_or(to, line, NDJSON_M_RECORD_ID, facts->record_id);
}

static void put_head(struct text *to, const struct ndjson_line *line, const struct ndjson_reading *st)
{
	text_str(to, "{\"type\":\"trace\"");
	put_number_or(to, line, NDJSON_M_VERSION, NDJSON_VERSION);
	put_or(to, line, NDJSON_M_TOOL, "\"tracetool\"");
	put_or(to, line, NDJSON_M_MODE, "\"interpreted\"");
	put_or(to, line, NDJSON_M_REBASED, "false");
	put_or(to, line, NDJSON_M_SIGNED, st->r->trace->zero_ns > 0 ? "true" : NULL);
	put_facts(to, line, st->origin);
	text_char(to, '}');
}

static void put_end(struct text *to, const struct ndjson_line *line, const struct trace_origin *origin,
                    const struct ndjson_recovery *s)
{
	text_str(to, "{\"type\":\"trace_end\"");
	put_number_or(to, line, NDJSON_M_RECORDS, s->records);
	put_number_or(to, line, NDJSON_M_EVENTS, s->events);
	put_facts(to, line, origin);
	put_or(to, line, NDJSON_M_EPOCH_NS, NULL);
	put_or(to, line, NDJSON_M_REBASED_BY_NS, NULL);
	put_or(to, line, NDJSON_M_LOSSES, "{}");
	put_or(to, line, NDJSON_M_ARGS, NULL);
	put_or(to, line, NDJSON_M_TYPES, NULL);
	put_or(to, line, NDJSON_M_PAIRS, NULL);
	text_char(to, '}');
}

/* Whether the line is of a version that this reader refuses. */
static bool has_other_version(const struct ndjson_line *line)
{
	const struct json_token *const t = &line->of[NDJSON_M_VERSION];
	uint64_t v;

	return ndjson_has(line, NDJSON_M_VERSION) && t->kind == JSON_UINT &&
	       !(ndjson_get_number(line, NDJSON_M_VERSION, UINT64_MAX, &v) && v == NDJSON_VERSION);
}

enum ndjson_type ndjson_restorable(const struct ndjson_reading *st, const struct ndjson_recovery *s)
{
	static const uint64_t of_head = BIT(VERSION) | BIT(TOOL) | BIT(MODE) | BIT(REBASED),
	                      of_end = BIT(RECORDS) | BIT(EVENTS) | BIT(LOSSES);
	const struct ndjson_line *const line = &st->line;
	const bool typeless = line->type == NDJSON_TYPES;

	if (!s->head && (line->type == NDJSON_TRACE || (typeless && (line->seen & of_head) != 0)))
		return has_other_version(line) ? NDJSON_TYPES : NDJSON_TRACE;
	if (!s->ended && !s->over &&
	    (line->type == NDJSON_TRACE_END || (typeless && (line->seen & of_end) != 0)))
		return NDJSON_TRACE_END;
	return NDJSON_TYPES;
}

bool ndjson_restore(struct ndjson_reading *st, const struct ndjson_recovery *s, enum ndjson_type type,
                    bool lost, struct text *to)
{
	static const struct ndjson_line nothing = { .seen = 0 };
	const struct ndjson_line *const line = lost ? &nothing : &st->line;

	text_clear(to);
	if (type == NDJSON_TRACE)
		put_head(to, line, st);
	else
		put_end(to, line, st->origin, s);
	st->r->no_memory |= to->failed;
	return !to->failed;
}

/* ---- lost lines ---- */

/* An event states the category of its class, perhaps escaped. */
static void put_class(struct text *to, const struct ndjson_reading *st, uint64_t index)
{
	const struct json_token *const t = &st->line.of[NDJSON_M_CATEGORY];
	const bool escaped = ndjson_has(&st->line, NDJSON_M_ESCAPED) &&
	                     ndjson_array_has(&st->line.of[NDJSON_M_ESCAPED], "category");
	struct slice category = slice_of(t->p, (size_t)(t->end - t->p));

	if (escaped || !ndjson_has(&st->line, NDJSON_M_CATEGORY))
		category = SLICE_LIT("\"unknown\"");
	text_printf(to, "{\"type\":\"class\",\"index\":%" PRIu64 ",\"name\":", index);
	text_slice(to, category);
	text_str(to, ",\"category\":");
	text_slice(to, category);
	text_char(to, '}');
}

/* An event states pid and tid.  A thread without a known process is written as a process. */
static void put_track(struct text *to, const struct ndjson_reading *st, const struct ndjson_recovery *s,
                      enum ndjson_member m, uint64_t index)
{
	const bool of_event = m == NDJSON_M_TRACK;
	uint64_t pid = 0, tid = 0;
	const bool has_pid = of_event && ndjson_get_number(&st->line, NDJSON_M_PID, UINT64_MAX, &pid);
	const bool has_tid = of_event && ndjson_get_number(&st->line, NDJSON_M_TID, UINT64_MAX, &tid);
	const uint32_t process = has_pid ? table64_get(&s->processes, pid) : TABLE_NONE;

	text_printf(to, "{\"type\":\"track\",\"index\":%" PRIu64 ",\"kind\":", index);
	if (has_tid && (process != TABLE_NONE || (!has_pid && s->has_unnumbered)))
		text_printf(to,
		            "\"thread\",\"name\":\"thread %" PRIu64 "\",\"id\":%" PRIu64
		            ",\"parent\":%" PRIu64 "}",
		            tid, tid, has_pid ? process : s->unnumbered);
	else if (has_tid)
		text_printf(to, "\"process\",\"name\":\"thread %" PRIu64 "\"}", tid);
	else if (has_pid && process == TABLE_NONE)
		text_printf(to, "\"process\",\"name\":\"process %" PRIu64 "\",\"id\":%" PRIu64 "}", pid, pid);
	else
		text_printf(to, "\"process\",\"name\":\"track %" PRIu64 "\"}", index);
}

/* ---- indexes of later lines ---- */

/*
 * Indexes that later lines define.  A reference to one of them is damaged; a reference to an undefined index
 * has lost its line.  A damaged line of type trace or trace_end is not needed if a whole one follows.  Each
 * line is searched once, when the first such reference occurs, up to AHEAD bytes after the current line: the
 * cost is linear.
 */

#define AHEAD (1u << 20)
#define FIRST_MEMBERS 8 /* members of a line that include type and index */

static bool put_index(struct ndjson_ahead *a, struct table64 *to, uint64_t index, uint64_t offset)
{
	const uint32_t i =
	    table64_element(to, index, &a->list, &a->n, &a->cap, sizeof *a->list, TABLE_FAILED);

	if (i != TABLE_FAILED)
		a->list[i] = offset;
	return i != TABLE_FAILED;
}

/* Notes a line of a track, a class, or the trace.  Returns false on OOM. */
static bool look_at_line(struct ndjson_ahead *a, const char *p, const char *e, uint64_t offset, uint64_t here)
{
	struct json x = { .complete = true, .depth = JSON_MAX_DEPTH };
	enum ndjson_type type = NDJSON_TYPES;
	uint64_t index = 0;
	bool has_index = false;

	p = json_skip_blanks(p, e);
	if (p == e || *p != '{')
		return true;
	struct json_walk w = json_walk(&x, p, e);
	for (int i = 0; i < FIRST_MEMBERS && (type == NDJSON_TYPES || !has_index) && json_walk_next(&w);
	     i++) {
		const struct slice text = json_token_text(&w.value);
		const enum ndjson_member m = ndjson_find_member(json_token_text(&w.key));
		if (m == NDJSON_M_TS)
			return true;
		if (m == NDJSON_M_TYPE)
			type = ndjson_find_type(text, false);
		if (m == NDJSON_M_INDEX)
			has_index = w.value.kind == JSON_UINT && json_digits_any(text.p, text.n, &index);
	}
	if (type == NDJSON_TRACE && ndjson_begins(p, e) == type)
		a->head = a->head > here ? a->head : offset + 1;
	if (type == NDJSON_TRACE_END && ndjson_begins(p, e) == type)
		a->end = offset + 1;
	if (!has_index || (type != NDJSON_TRACK && type != NDJSON_CLASS))
		return true;
	return put_index(a, type == NDJSON_TRACK ? &a->tracks : &a->classes, index, offset);
}

/* Searches the lines up to AHEAD bytes after in->p that were not searched yet.  Moves the window; the bytes
 * from rc->at on stay.  Returns NULL on OOM. */
static const struct ndjson_ahead *look(struct recovery *rc)
{
	struct ndjson_ahead *const a = &((struct ndjson_recovery *)rc->state)->ahead;
	struct input *const in = rc->r->in;
	const uint64_t here = input_offset(in, in->p);
	const size_t held = (size_t)(here - rc->at);

	in->p -= held;
	(void)input_need(in, held + AHEAD);
	in->p += held;
	a->to = a->to < here ? here : a->to;
	a->looked = a->looked < a->to ? a->to : a->looked;
	const char *const limit = in->end - in->p > (ptrdiff_t)AHEAD ? in->p + AHEAD : in->end;
	while (a->looked < input_offset(in, limit)) {
		const char *const p = in->p + (a->to - here), *const q = in->p + (a->looked - here);
		const char *const feed = memchr(q, '\n', (size_t)(limit - q));
		if (feed == NULL && !(limit == in->end && in->last)) {
			a->looked = input_offset(in, limit);
			break;
		}
		const char *const end = feed != NULL ? feed : limit;
		if (note_failure(&rc->r->no_memory, !look_at_line(a, p, end, a->to, here)))
			return NULL;
		a->to = a->looked = input_offset(in, end) + (feed != NULL);
	}
	return a;
}

/* Whether a line up to 1 MiB after in->p has this index. */
static bool is_ahead(struct recovery *rc, bool track, uint64_t index)
{
	const struct ndjson_ahead *const a = look(rc);
	const uint32_t found = a != NULL ? table64_get(track ? &a->tracks : &a->classes, index) : TABLE_NONE;

	return found != TABLE_NONE && a->list[found] >= input_offset(rc->r->in, rc->r->in->p);
}

bool ndjson_type_is_ahead(struct recovery *rc, enum ndjson_type type)
{
	const struct ndjson_ahead *const a = look(rc);
	const uint64_t here = input_offset(rc->r->in, rc->r->in->p);

	return a != NULL && (type == NDJSON_TRACE ? a->head == here + 1 : a->end > here);
}

static void forget_line(struct recovery *rc)
{
	struct ndjson_reading *const st = rc->r->state;
	struct ndjson_recovery *const s = rc->state;

	arena_reset(&st->scratch);
	s->faults.n = 0;
	s->faults.limit = false;
	s->faults.why[0] = '\0';
}

static bool parse(struct recovery *rc, const char *p, const char *end)
{
	const struct ndjson_recovery *const s = rc->state;

	forget_line(rc);
	return ndjson_parse_line(rc->r->state, p, end) && s->faults.n == 0;
}

const char *ndjson_frame(struct recovery *rc, const char *p, const char *e)
{
	struct ndjson_reading *const st = rc->r->state;

	forget_line(rc);
	p = ndjson_read_object(st, p, e);
	return p != NULL && (st->line.json.nflaws == 0 || ndjson_check_object(st)) ? p : NULL;
}

/* ---- lines of the output ---- */

static void add_process(struct recovery *rc, uint64_t index)
{
	struct ndjson_recovery *const s = rc->state;
	const struct ndjson_reading *const st = rc->r->state;
	const struct track *const track = ndjson_find_entry(&st->tracks, index)->track;

	if (track->parent != NULL)
		return;
	if (!track->has_id && !s->has_unnumbered) {
		s->has_unnumbered = true;
		s->unnumbered = index;
	} else if (track->has_id && index < TABLE_NONE &&
	           !table64_put(&s->processes, track->id, (uint32_t)index)) {
		rc->r->no_memory = true;
	}
}

/* Notes that the current line is in the output. */
static void add_line(struct recovery *rc)
{
	struct ndjson_recovery *const s = rc->state;
	const struct ndjson_reading *const st = rc->r->state;
	const enum ndjson_type type = st->line.type;
	uint64_t index = 0;

	if (type <= NDJSON_STRUCTURE) {
		s->records++;
		s->events += type != NDJSON_STRUCTURE;
	} else if (type == NDJSON_TRACE) {
		s->head = true;
	} else if (type == NDJSON_TRACE_END) {
		s->ended = true;
	} else if (ndjson_get_number(&st->line, NDJSON_M_INDEX, UINT32_MAX, &index)) {
		*(type == NDJSON_TRACK ? &s->next_track : &s->next_class) = index + 1;
		if (type == NDJSON_TRACK && ndjson_find_entry(&st->tracks, index) != NULL)
			add_process(rc, index);
	}
}

/* Applies the parsed line to the reader.  Tracks and classes beyond a limit, and lines that refer to them,
 * are not damaged: they are kept. */
static bool apply(struct recovery *rc)
{
	struct ndjson_reading *const st = rc->r->state;
	struct ndjson_recovery *const s = rc->state;

	st->has_trace = s->head;
	st->has_end = s->ended || s->over;
	st->number = s->head ? 2 : 1;
	const bool done = ndjson_read_by_type(st);
	if (s->faults.n > 0 || (!done && !s->faults.limit) || rc->r->no_memory)
		return false;
	add_line(rc);
	return true;
}

/* ---- references ---- */

/* Whether the line with this index is in the output; beyond a limit it is assumed to be. */
static bool is_known(const struct ndjson_reading *st, bool track, uint64_t index)
{
	const struct ndjson_index *const k = track ? &st->tracks : &st->classes;

	return k->limited || ndjson_find_entry(k, index) != NULL;
}

/* Whether the line has an index out of order. */
static bool is_out_of_order(const struct ndjson_recovery *s, const struct ndjson_line *line, uint64_t *index)
{
	const uint64_t next = line->type == NDJSON_TRACK ? s->next_track : s->next_class;

	return (line->type == NDJSON_TRACK || line->type == NDJSON_CLASS) &&
	       ndjson_get_number(line, NDJSON_M_INDEX, UINT32_MAX, index) && *index != next;
}

/* Gets the next reference of the line that is an index but not known.  Returns false after the last one. */
static bool next_reference(const struct ndjson_reading *st, unsigned *n, enum ndjson_member *m,
                           uint64_t *index)
{
	static const enum ndjson_member members[] = { NDJSON_M_PARENT, NDJSON_M_CLASS, NDJSON_M_TRACK };
	const struct ndjson_line *const line = &st->line;
	uint64_t own;

	while (*n < sizeof members / sizeof members[0]) {
		*m = members[(*n)++];
		if ((*m == NDJSON_M_PARENT) != (line->type == NDJSON_TRACK) ||
		    !ndjson_get_number(line, *m, UINT32_MAX, index) ||
		    is_known(st, *m != NDJSON_M_CLASS, *index))
			continue;
		if (*m != NDJSON_M_PARENT || !ndjson_get_number(line, NDJSON_M_INDEX, UINT32_MAX, &own) ||
		    own != *index)
			return true;
	}
	return false;
}

/* Inserts a line for the track or class that the current line, [p, end), refers to, unless a limit of the
 * reader is reached.  Parses the current line again. */
static bool insert_lost(struct recovery *rc, enum ndjson_member m, uint64_t index, const char *p,
                        const char *end)
{
	struct ndjson_reading *const st = rc->r->state;
	struct ndjson_recovery *const s = rc->state;
	struct text *const line = &s->line;

	text_clear(line);
	if (m == NDJSON_M_CLASS)
		put_class(line, st, index);
	else
		put_track(line, st, s, m, index);
	rc->r->no_memory |= line->failed;
	st->has_trace = s->head;
	st->has_end = false;
	if (line->failed || !parse(rc, line->p, line->p + line->n) || !ndjson_read_by_type(st)) {
		(m == NDJSON_M_CLASS ? &st->classes : &st->tracks)->limited = false; /* no line is left out */
		return parse(rc, p, end);
	}
	if (s->inserted.n++ == 0) {
		s->inserted.type = m == NDJSON_M_CLASS ? "class" : "track";
		s->inserted.index = index;
	}
	text_add(&s->inserted.text, line->p, line->n);
	text_char(&s->inserted.text, '\n');
	rc->r->no_memory |= s->inserted.text.failed;
	return parse(rc, p, end);
}

static bool resolve(struct recovery *rc, const char *p, const char *end)
{
	struct ndjson_reading *const st = rc->r->state;
	const struct ndjson_recovery *const s = rc->state;
	enum ndjson_member m;
	unsigned n = 0;
	uint64_t index;

	if (s->ended || s->over)
		return true;
	if (is_out_of_order(s, &st->line, &index) && is_ahead(rc, st->line.type == NDJSON_TRACK, index))
		return ndjson_report(st, NDJSON_RULE_INDEX_TWICE, p, "%s %" PRIu64 " is that of a later line",
		                     ndjson_type_names[st->line.type], index);
	while (next_reference(st, &n, &m, &index))
		if (is_ahead(rc, m != NDJSON_M_CLASS, index))
			return ndjson_report(st, NDJSON_RULE_UNKNOWN_REFERENCE, p,
			                     "%s %" PRIu64 " is that of a later line", ndjson_member_names[m],
			                     index);
	for (n = 0; next_reference(st, &n, &m, &index);)
		if (!insert_lost(rc, m, index, p, end))
			return false;
	return true;
}

/* ---- lines ---- */

bool ndjson_accept(struct recovery *rc, const char *p, const char *end)
{
	return parse(rc, p, end) && resolve(rc, p, end) && apply(rc);
}

bool ndjson_accept_plain(struct recovery *rc, const char *p, const char *end)
{
	const struct ndjson_reading *const st = rc->r->state;
	const struct ndjson_recovery *const s = rc->state;
	enum ndjson_member m;
	unsigned n = 0;
	uint64_t index;

	return parse(rc, p, end) && s->inserted.n == 0 && (s->head || st->line.type == NDJSON_TRACE) &&
	       !is_out_of_order(s, &st->line, &index) && !next_reference(st, &n, &m, &index) && apply(rc);
}
