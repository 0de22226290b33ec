/*
 * Events parsed ahead of the reader on further threads (base/pieces.h): from the first brace on that may
 * begin an element of the array.  The reader takes what was parsed at the position where it expects an event,
 * so a wrong guess, in a text or inside of an event, costs time only; and what is not plain JSON it parses
 * itself.
 *
 * Cost: a tenth of the parsing, to pass tokens on.  Memory: tokens take about as much as their text.
 */
#include "chrome/chrome.h"

#include <stdlib.h>

#include "base/pieces.h"

#define LONGEST (128 << 10) /* bytes of an event */
#define MAX_BLANKS 64       /* between elements, where a piece begins */

/* Positions are bytes after the begin of the piece. */
struct parsed_token {
	uint32_t p, end;
	uint8_t member, kind;
};

struct parsed_event {
	uint32_t at, end;
	uint32_t first_token;
	uint8_t ntokens;
	bool has_duplicates, has_others, has_other_kinds;
};

struct event_piece {
	struct piece piece;
	struct parsed_event *events;
	struct parsed_token *tokens;
	uint32_t n, cap, ntokens, tokens_cap;
	uint32_t at; /* the next event of the reader, probably */
};

/* ---- on any thread ---- */

/* Whether the brace may begin an element of the array: after another one, with a comma or as a line. */
static bool may_begin(const char *from, const char *brace)
{
	const char *p = brace;
	bool comma = false;

	if (brace - from > MAX_BLANKS)
		from = brace - MAX_BLANKS;
	while (p > from && (json_is_blank(p[-1]) || (p[-1] == ',' && !comma)))
		comma |= *--p == ',';
	return p > from && p < brace && p[-1] == '}';
}

/* Returns the first brace in [p, to) that may begin an element, or NULL. */
static const char *guess_start(const struct piece *piece, const char *p)
{
	for (; p < piece->to && (p = memchr(p, '{', (size_t)(piece->to - p))) != NULL; p++)
		if (may_begin(piece->from, p))
			return p;
	return NULL;
}

static void add_event(struct event_piece *piece, const struct chrome_record *rec)
{
	const char *const from = piece->piece.from;
	const uint32_t first = piece->ntokens;

	if (!array_reserve(&piece->events, piece->n, &piece->cap, sizeof *piece->events) ||
	    !array_reserve(&piece->tokens, first + CHROME_MEMBERS, &piece->tokens_cap, sizeof *piece->tokens))
		return;
	for (unsigned m = 0; m < CHROME_MEMBERS; m++) {
		const struct json_token *const t = &rec->of[m];
		if (t->kind != JSON_ABSENT)
			piece->tokens[piece->ntokens++] =
			    (struct parsed_token){ (uint32_t)(t->p - from), (uint32_t)(t->end - from),
				                   (uint8_t)m, (uint8_t)t->kind };
	}
	piece->events[piece->n++] = (struct parsed_event){
		.at = (uint32_t)(rec->p - from),
		.end = (uint32_t)(rec->end - from),
		.first_token = first,
		.ntokens = (uint8_t)(piece->ntokens - first),
		.has_duplicates = rec->has_duplicates,
		.has_others = rec->has_others,
		.has_other_kinds = rec->has_other_kinds,
	};
}

/* Returns where the next element begins if one follows, or NULL. */
static const char *following(const char *p, const char *e)
{
	p = json_skip_blanks(p, e);
	if (p < e && *p == ',')
		p = json_skip_blanks(p + 1, e);
	return p < e && *p == '{' ? p : NULL;
}

static void parse_events(void *ctx, struct piece *piece)
{
	struct event_piece *const to = (struct event_piece *)piece;
	const char *p = piece->first ? piece->from : guess_start(piece, piece->from);
	size_t in_vain = 0; /* bytes */
	bool sure = piece->first;
	struct chrome_record rec;

	(void)ctx;
	to->n = to->ntokens = to->at = 0;
	while (p != NULL && p < piece->to && in_vain < LONGEST) {
		struct json json = { .depth = JSON_MAX_DEPTH };
		const char *const end = chrome_parse_event(&rec, &json, p, piece->end);
		if (end == NULL) {
			in_vain += (size_t)((json.error.cut ? piece->end : json.error.at) - p);
			p = guess_start(piece, p + 1);
			sure = false;
			continue;
		}
		if (!sure && rec.of[CHROME_PH].kind == JSON_ABSENT) { /* an object inside of an event */
			p = guess_start(piece, end);
			continue;
		}
		sure = true;
		if (json.suspect == NULL && json.big == NULL && json.spare == NULL)
			add_event(to, &rec);
		if ((p = following(end, piece->end)) == NULL)
			p = guess_start(piece, end);
	}
}

/* ---- the reader ---- */

static void free_events(struct piece *piece)
{
	struct event_piece *const x = (struct event_piece *)piece;

	free(x->events);
	free(x->tokens);
}

static const struct pieces_ops ops = {
	.size = sizeof(struct event_piece), .longest = LONGEST, .parse = parse_events, .free = free_events
};

static void load(struct chrome_record *rec, const struct event_piece *piece, const struct parsed_event *e)
{
	const char *const from = piece->piece.from;

	chrome_record_clear(rec);
	for (const struct parsed_token *t = piece->tokens + e->first_token, *const end = t + e->ntokens;
	     t < end; t++)
		rec->of[t->member] = (struct json_token){ from + t->p, from + t->end, t->kind };
	rec->has_duplicates = e->has_duplicates;
	rec->has_others = e->has_others;
	rec->has_other_kinds = e->has_other_kinds;
	rec->p = from + e->at;
	rec->end = from + e->end;
}

const char *chrome_parsed_ahead(struct chrome_reading *st, const char *p, const char *e)
{
	if (!st->asked_ahead) {
		st->asked_ahead = true;
		/* a whole file: unpacking has a thread, and its windows are too small for several */
		if (st->r->helpers > 0 && st->last && st->wide == NULL)
			st->ahead = pieces_new(p, st->end, st->r->helpers, &ops, NULL);
	}
	struct event_piece *const x =
	    st->ahead != NULL ? (struct event_piece *)pieces_at(st->ahead, p) : NULL;
	if (x == NULL)
		return NULL;
	const uint32_t at = (uint32_t)(p - x->piece.from);
	while (x->at > 0 && (x->at == x->n || x->events[x->at].at > at))
		x->at--;
	while (x->at < x->n && x->events[x->at].at < at)
		x->at++;
	if (x->at == x->n || x->events[x->at].at != at || x->piece.from + x->events[x->at].end > e)
		return NULL;
	load(&st->rec, x, &x->events[x->at++]);
	chrome_record_set_phase(&st->rec);
	return st->rec.end;
}
