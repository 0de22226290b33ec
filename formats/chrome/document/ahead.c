/*
 * Events parsed ahead of the reader on further threads: piece by piece, from the first brace on that may
 * begin an element of the array.  The reader takes what was parsed at the position where it expects an event,
 * so a wrong guess, in a text or inside of an event, costs time only; and what is not plain JSON it parses
 * itself.
 *
 * Cost: a tenth of the parsing, to pass tokens on.  Memory: PIECES_A_THREAD pieces for each thread, whose
 * tokens take about as much as their text.
 */
#include "chrome/chrome.h"

#include <stdlib.h>

#include "base/workers.h"

#ifndef CHROME_AHEAD_PIECE
#define CHROME_AHEAD_PIECE (128 << 10) /* bytes; less to test short inputs */
#endif
#define PIECES_A_THREAD 4U                 /* so that a thread need not wait for the reader */
#define WORTH_IT (32 * CHROME_AHEAD_PIECE) /* bytes; threads do not pay for less */
#define LONGEST (128 << 10)                /* bytes of an event */
#define MAX_BLANKS 64                      /* between elements, where a piece begins */

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

struct piece {
	const char *from, *to; /* where its events begin; from == to: the window has no more */
	const char *start;     /* of an event; NULL: to be guessed */
	const char *end;       /* of what may be parsed */
	struct parsed_event *events;
	struct parsed_token *tokens;
	uint32_t n, cap, ntokens, tokens_cap;
};

struct chrome_ahead {
	struct workers *workers;
	const char *next, *end; /* the part of the window that is not in a piece yet */
	struct piece *now;      /* the one that the reader is in; NULL: before the first one */
	uint32_t at;            /* its next event, probably */
	size_t npieces;
	struct piece pieces[];
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

static void add_event(struct piece *piece, const struct chrome_record *rec)
{
	const uint32_t first = piece->ntokens;

	if (!array_reserve(&piece->events, piece->n, &piece->cap, sizeof *piece->events) ||
	    !array_reserve(&piece->tokens, first + CHROME_MEMBERS, &piece->tokens_cap, sizeof *piece->tokens))
		return;
	for (unsigned m = 0; m < CHROME_MEMBERS; m++) {
		const struct json_token *const t = &rec->of[m];
		if (t->kind != JSON_ABSENT)
			piece->tokens[piece->ntokens++] =
			    (struct parsed_token){ (uint32_t)(t->p - piece->from),
				                   (uint32_t)(t->end - piece->from), (uint8_t)m,
				                   (uint8_t)t->kind };
	}
	piece->events[piece->n++] = (struct parsed_event){
		.at = (uint32_t)(rec->p - piece->from),
		.end = (uint32_t)(rec->end - piece->from),
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

static void parse_piece(void *ctx, size_t slot)
{
	struct piece *const piece = &((struct chrome_ahead *)ctx)->pieces[slot];
	const char *p = piece->start != NULL ? piece->start : guess_start(piece, piece->from);
	size_t in_vain = 0; /* bytes */
	bool sure = piece->start != NULL;
	struct chrome_record rec;

	piece->n = piece->ntokens = 0;
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
			add_event(piece, &rec);
		if ((p = following(end, piece->end)) == NULL)
			p = guess_start(piece, end);
	}
}

/* ---- the reader ---- */

/* Sets the piece to the next bytes, and hands it to the workers. */
static void put_piece(struct chrome_ahead *a, struct piece *piece, const char *start)
{
	const size_t left = (size_t)(a->end - a->next),
	             n = left < CHROME_AHEAD_PIECE ? left : CHROME_AHEAD_PIECE;

	piece->from = a->next;
	piece->to = a->next += n;
	piece->end = left - n < LONGEST ? a->end : a->next + LONGEST;
	piece->start = start;
	workers_put(a->workers);
}

/* Begins with the event at p. */
static struct chrome_ahead *begin(const struct chrome_reading *st, const char *p)
{
	static const struct workers_ops ops = { .run = parse_piece };
	const unsigned threads = st->r->helpers;
	const size_t n = (size_t)PIECES_A_THREAD * (threads + 1);
	struct chrome_ahead *const a = calloc(1, sizeof *a + n * sizeof *a->pieces);

	if (a == NULL || (a->workers = workers_new(n, threads, &ops, a)) == NULL) {
		free(a);
		return NULL;
	}
	a->npieces = n;
	a->next = p;
	a->end = st->end;
	for (size_t i = 0; i < n; i++)
		put_piece(a, &a->pieces[workers_slot(a->workers)], i == 0 ? p : NULL);
	return a;
}

/* Goes to the piece of the event at p.  Returns false if there is none. */
static bool go_to(struct chrome_ahead *a, const char *p)
{
	while (a->now == NULL || p >= a->now->to) {
		if (a->now != NULL && a->now->from == a->now->to)
			return false;
		if (a->now != NULL)
			put_piece(a, a->now, NULL);
		a->now = &a->pieces[workers_slot(a->workers)];
		a->at = 0;
	}
	return p >= a->now->from;
}

static void load(struct chrome_record *rec, const struct piece *piece, const struct parsed_event *e)
{
	chrome_record_clear(rec);
	for (const struct parsed_token *t = piece->tokens + e->first_token, *const end = t + e->ntokens;
	     t < end; t++)
		rec->of[t->member] = (struct json_token){ piece->from + t->p, piece->from + t->end, t->kind };
	rec->has_duplicates = e->has_duplicates;
	rec->has_others = e->has_others;
	rec->has_other_kinds = e->has_other_kinds;
	rec->p = piece->from + e->at;
	rec->end = piece->from + e->end;
}

const char *chrome_parsed_ahead(struct chrome_reading *st, const char *p, const char *e)
{
	if (!st->asked_ahead) {
		st->asked_ahead = true;
		/* a whole file: unpacking has a thread, and its windows are too small for several */
		if (st->r->helpers > 0 && st->last && st->wide == NULL && st->end - p >= WORTH_IT)
			st->ahead = begin(st, p);
	}
	struct chrome_ahead *const a = st->ahead;
	if (a == NULL || !go_to(a, p))
		return NULL;
	const struct piece *const piece = a->now;
	const uint32_t at = (uint32_t)(p - piece->from);
	while (a->at > 0 && (a->at == piece->n || piece->events[a->at].at > at))
		a->at--;
	while (a->at < piece->n && piece->events[a->at].at < at)
		a->at++;
	if (a->at == piece->n || piece->events[a->at].at != at || piece->from + piece->events[a->at].end > e)
		return NULL;
	load(&st->rec, piece, &piece->events[a->at++]);
	chrome_record_set_phase(&st->rec);
	return st->rec.end;
}

void chrome_ahead_free(struct chrome_ahead *a)
{
	if (a == NULL)
		return;
	workers_settle(a->workers);
	workers_free(a->workers);
	for (size_t i = 0; i < a->npieces; i++) {
		free(a->pieces[i].events);
		free(a->pieces[i].tokens);
	}
	free(a);
}
