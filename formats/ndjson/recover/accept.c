/*
 * Decides which lines the output can have.  The reader's functions read each line of the output, so its
 * tables are those of a later reader of the output, and lines that it refuses are not in the output.
 *
 * Tracks and classes are numbered in order, so a reference to a later line is damaged, and a reference to an
 * undefined index has lost its line.  Lost lines are replaced by lines with the facts that events state about
 * the track or class.
 */
#include "ndjson/recover/recover.h"

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
	const uint32_t known = table64_get(to, index);

	if (known != TABLE_NONE) {
		a->list[known] = offset;
		return true;
	}
	if (!array_reserve(&a->list, a->n, &a->cap, sizeof *a->list) || !table64_put(to, index, a->n))
		return false;
	a->list[a->n++] = offset;
	return true;
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

/* Searches the lines up to AHEAD bytes after in->p that were not searched yet.  Returns false on OOM. */
static bool look(struct recovery *rc, struct ndjson_ahead *a)
{
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
		if (!look_at_line(a, p, end, a->to, here))
			return false;
		a->to = a->looked = input_offset(in, end) + (feed != NULL);
	}
	return true;
}

/* Whether a line up to 1 MiB after in->p has this index.  Moves the window; the bytes from rc->at on stay. */
static bool ndjson_is_ahead(struct recovery *rc, bool track, uint64_t index)
{
	struct ndjson_recovery *const s = rc->state;
	struct ndjson_ahead *const a = &s->ahead;

	if (!look(rc, a)) {
		rc->r->no_memory = true;
		return false;
	}
	const uint32_t found = table64_get(track ? &a->tracks : &a->classes, index);
	return found != TABLE_NONE && a->list[found] >= input_offset(rc->r->in, rc->r->in->p);
}

bool ndjson_type_is_ahead(struct recovery *rc, enum ndjson_type type)
{
	const struct input *const in = rc->r->in;
	struct ndjson_recovery *const s = rc->state;

	if (!look(rc, &s->ahead)) {
		rc->r->no_memory = true;
		return false;
	}
	return type == NDJSON_TRACE ? s->ahead.head == input_offset(in, in->p) + 1
	                            : s->ahead.end > input_offset(in, in->p);
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
	return p != NULL && (st->json.nflaws == 0 || ndjson_check_object(st)) ? p : NULL;
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
		ndjson_put_class(line, st, index);
	else
		ndjson_put_track(line, st, s, m, index);
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
	if (is_out_of_order(s, &st->line, &index) &&
	    ndjson_is_ahead(rc, st->line.type == NDJSON_TRACK, index)) {
		ndjson_report(st, NDJSON_RULE_INDEX_TWICE, p, "%s %" PRIu64 " is that of a later line",
		              ndjson_type_names[st->line.type], index);
		return false;
	}
	while (next_reference(st, &n, &m, &index))
		if (ndjson_is_ahead(rc, m != NDJSON_M_CLASS, index)) {
			ndjson_report(st, NDJSON_RULE_UNKNOWN_REFERENCE, p,
			              "%s %" PRIu64 " is that of a later line", ndjson_member_names[m],
			              index);
			return false;
		}
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
