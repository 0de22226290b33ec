/*
 * Lines read as tokens ahead of the reader, on further threads (base/pieces.h).  The reader checks and
 * applies them in turn, and reads unusual lines itself: those with mistakes, escapes that need none, or
 * members that are unknown or repeated.
 *
 * Memory: tokens take about as much as their text, and at most twelve times as much.
 */
#include "ndjson/ndjson.h"

#include <stdlib.h>

#include "base/pieces.h"

#define LONGEST (64 << 10) /* bytes of the last line of a piece */

/* Positions are bytes after the start of the piece. */
struct read_token {
	uint32_t p, end;
	uint8_t member, kind;
};

struct read_pair {
	uint32_t name, p, end;
	uint32_t name_n, name_flags; /* struct slice */
	uint8_t name_kind, kind;
};

struct read_line {
	uint32_t at, end;
	uint32_t first_token, first_pair;
	uint32_t nargs, ntypes; /* pairs */
	uint8_t ntokens;
};

struct line_piece {
	struct piece piece;
	struct read_line *lines;
	struct read_token *tokens;
	struct read_pair *pairs;
	uint32_t n, cap, ntokens, tokens_cap, npairs, pairs_cap;
	uint32_t at; /* the next line of the reader */
	struct ndjson_line line;
};

/* ---- on any thread ---- */

static void add_pairs(struct line_piece *x, const struct ndjson_pairs *pairs)
{
	const char *const from = x->piece.from;

	for (uint32_t i = 0; i < pairs->n; i++) {
		const struct ndjson_pair *const p = &pairs->list[i];
		x->pairs[x->npairs++] = (struct read_pair){ .name = (uint32_t)(p->name.p - from),
			                                    .p = (uint32_t)(p->value.p - from),
			                                    .end = (uint32_t)(p->value.end - from),
			                                    .name_n = p->name.n,
			                                    .name_flags = p->name.flags,
			                                    .name_kind = (uint8_t)p->name_kind,
			                                    .kind = (uint8_t)p->value.kind };
	}
}

/* Returns false on OOM. */
static bool add_line(struct line_piece *x, const char *p, const char *end)
{
	const char *const from = x->piece.from;
	const struct ndjson_line *const line = &x->line;
	const uint32_t first = x->ntokens;

	if (!array_reserve(&x->lines, x->n, &x->cap, sizeof *x->lines) ||
	    !array_reserve(&x->tokens, first + NDJSON_MEMBERS, &x->tokens_cap, sizeof *x->tokens) ||
	    !array_reserve(&x->pairs, x->npairs + line->args.n + line->types.n, &x->pairs_cap,
	                   sizeof *x->pairs))
		return false;
	for (uint64_t left = line->seen; left != 0; left &= left - 1) {
		const unsigned m = low_bit(left);
		const struct json_token *const t = &line->of[m];
		x->tokens[x->ntokens++] =
		    (struct read_token){ (uint32_t)(t->p - from), (uint32_t)(t->end - from), (uint8_t)m,
			                 (uint8_t)t->kind };
	}
	x->lines[x->n++] = (struct read_line){ .at = (uint32_t)(p - from),
		                               .end = (uint32_t)(end - from),
		                               .first_token = first,
		                               .ntokens = (uint8_t)(x->ntokens - first),
		                               .first_pair = x->npairs,
		                               .nargs = line->args.n,
		                               .ntypes = line->types.n };
	add_pairs(x, &line->args);
	add_pairs(x, &line->types);
	return true;
}

static bool is_usual(const struct ndjson_line *line)
{
	return line->json.nflaws == 0 && line->json.spare == NULL && line->duplicate == NULL &&
	       line->unknown == NULL && line->mistyped == NULL;
}

static void read_lines(void *ctx, struct piece *piece)
{
	struct line_piece *const x = (struct line_piece *)piece;
	const char *p = piece->from, *feed;

	(void)ctx;
	x->n = x->ntokens = x->npairs = x->at = 0;
	x->line.json = (struct json){ .lenient = true, .complete = true, .depth = JSON_MAX_DEPTH };
	if (!piece->first && (p = memchr(p - 1, '\n', (size_t)(piece->to - p) + 1)) != NULL)
		p++;
	for (; p != NULL && p < piece->to; p = feed + 1) {
		if ((feed = memchr(p, '\n', (size_t)(piece->end - p))) == NULL)
			return;
		if (*p != '{')
			continue;
		ndjson_line_clear(&x->line);
		const char *const end = ndjson_read_tokens(&x->line, p, feed);
		if (end != NULL && is_usual(&x->line) && !add_line(x, p, end))
			return;
	}
}

static void free_piece(struct piece *piece)
{
	struct line_piece *const x = (struct line_piece *)piece;

	free(x->lines);
	free(x->tokens);
	free(x->pairs);
	free(x->line.args.list);
	free(x->line.types.list);
}

/* ---- the reader ---- */

static bool load_pairs(struct ndjson_pairs *to, const struct read_pair *pairs, uint32_t n, const char *from)
{
	if (to->cap < n && !array_reserve(&to->list, n, &to->cap, sizeof *to->list))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct read_pair *const p = &pairs[i];
		to->list[i] = (struct ndjson_pair){
			.name = { from + p->name, p->name_n, p->name_flags },
			.name_kind = (enum json_kind)p->name_kind,
			.value = { from + p->p, from + p->end, (enum json_kind)p->kind },
		};
	}
	to->n = n;
	return true;
}

void ndjson_pieces_begin(struct ndjson_reading *st)
{
	static const struct pieces_ops ops = {
		.size = sizeof(struct line_piece), .longest = LONGEST, .parse = read_lines, .free = free_piece
	};
	const struct reader *const r = st->r;

	/* a whole file: unpacking has a thread, and its windows are too small for several */
	if (r->helpers > 0 && r->in->last && !r->recovers)
		st->pieces = pieces_new(r->in->p, r->in->end, r->helpers, &ops, NULL);
}

const char *ndjson_line_read(struct ndjson_reading *st, const char *p)
{
	struct ndjson_line *const line = &st->line;

	struct line_piece *const x = (struct line_piece *)pieces_at(st->pieces, p);

	if (x == NULL)
		return NULL;
	const char *const from = x->piece.from;
	const uint32_t at = (uint32_t)(p - from);
	while (x->at < x->n && x->lines[x->at].at < at)
		x->at++;
	const struct read_line *const l = &x->lines[x->at];
	if (x->at == x->n || l->at != at ||
	    !load_pairs(&line->args, x->pairs + l->first_pair, l->nargs, from) ||
	    !load_pairs(&line->types, x->pairs + l->first_pair + l->nargs, l->ntypes, from))
		return NULL;
	const struct read_token *const tokens = x->tokens + l->first_token;
	for (unsigned i = 0; i < l->ntokens; i++) {
		const struct read_token *const t = &tokens[i];
		line->seen |= UINT64_C(1) << t->member;
		line->of[t->member] =
		    (struct json_token){ from + t->p, from + t->end, (enum json_kind)t->kind };
	}
	return from + l->end;
}
