/*
 * Lines read ahead of the reader on further threads (base/pieces.h): those that follow a path that the reader
 * has learned (paths.c).  The reader checks their records in turn, and parses all other lines itself.
 *
 * Cost: a third of the parsing, as a second core loads text and tokens.  Memory: a piece takes twice its
 * text, and at most ten times as much.
 */
#include "dftracer/dftracer.h"

#include <stdlib.h>

#include "base/pieces.h"

#define LONGEST 2048 /* bytes of the last line of a piece; most lines have a tenth */

/* A record as dft_paths_follow() reads it. */
struct read_line {
	uint32_t at, n; /* from the start of the piece; without the line feed */
	uint32_t first_arg;
	uint64_t kinds; /* dft_record.shape */
	const struct dft_shape *shape;
	struct dft_token top[DFT_TOPS];
};

struct line_piece {
	struct piece piece;
	struct read_line *lines;
	struct dft_arg *args; /* of all lines */
	uint32_t n, cap, nargs, args_cap;
	uint32_t at;       /* the next line of the reader */
	uint32_t restarts; /* dft_paths.restarts when it was read: later ones overwrite the shapes */
	struct json_index *index;
};

/* ---- on any thread ---- */

/* Returns the first line that starts after p; `end` if there is none. */
static const char *line_after(const char *p, const char *end)
{
	const char *const nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;

	return nl != NULL ? nl + 1 : end;
}

/* Returns false on OOM. */
static bool read_line(struct line_piece *x, const struct dft_paths *paths, struct dft_record *rec,
                      const uint32_t **quotes, const char *p, const char *e)
{
	if (!array_reserve(&x->lines, x->n, &x->cap, sizeof *x->lines) ||
	    !array_reserve(&x->args, x->nargs + DFT_MAX_PATH_ARGS, &x->args_cap, sizeof *x->args))
		return false;
	struct read_line *const to = &x->lines[x->n];
	rec->top = to->top;
	rec->args = x->args + x->nargs;
	to->shape = dft_paths_follow(paths, rec, x->index->base, quotes, p, e);
	if (to->shape == NULL)
		return true;
	to->at = (uint32_t)(p - x->piece.from);
	to->n = (uint32_t)(e - p);
	to->first_arg = x->nargs;
	to->kinds = rec->shape;
	x->nargs += to->shape->nargs;
	x->n++;
	return true;
}

/* Reads the lines in the first bytes at p.  Returns the start of the first line that is not complete in them.
 */
static const char *read_chunk(struct line_piece *x, const struct dft_state *st, struct dft_record *rec,
                              const char *p)
{
	const char *const end = x->piece.end;
	struct json_index *const ix = x->index;

	json_index_make(ix, st->scanner, p, (size_t)(end - p));
	const uint32_t *line = ix->lines.at, *quotes = ix->quotes.at, *odd = ix->odd.at;
	for (const char *e; *line != UINT32_MAX && p < x->piece.to; p = e + 1) {
		const uint32_t from = (uint32_t)(p - ix->base);
		e = ix->base + *line++;
		while (*odd < from)
			odd++;
		while (*quotes < from)
			quotes++;
		for (const char *b = p; b < e; b += 64)
			PREFETCH(b + JSON_CHUNK); /* the next index is made from these bytes */
		const bool clean = *odd >= (uint32_t)(e - ix->base) && end - e >= DFT_SPARE;
		if (*p == '{' && clean && !read_line(x, &st->paths, rec, &quotes, p, e))
			return end;
	}
	return p;
}

static void read_piece(void *ctx, struct piece *piece)
{
	const struct dft_state *const st = ctx; /* of which only scanner and paths are used */
	struct line_piece *const x = (struct line_piece *)piece;
	const char *p = piece->first ? piece->from : line_after(piece->from - 1, piece->to);
	struct dft_record rec = { .json = { .lenient = true, .depth = DFT_MAX_DEPTH } };

	x->n = x->nargs = x->at = 0;
	x->restarts = st->paths.restarts;
	if (x->index == NULL && (x->index = malloc(sizeof *x->index)) == NULL)
		return;
	while (p < piece->to) {
		const char *const next = read_chunk(x, st, &rec, p);
		p = next > p ? next : line_after(p, piece->to);
	}
}

static void free_piece(struct piece *piece)
{
	struct line_piece *const x = (struct line_piece *)piece;

	free(x->lines);
	free(x->args);
	free(x->index);
}

/* ---- the reader ---- */

void dft_pieces_begin(struct dft_state *st)
{
	static const struct pieces_ops ops = {
		.size = sizeof(struct line_piece), .longest = LONGEST, .parse = read_piece, .free = free_piece
	};
	const struct reader *const r = st->r;
	const bool renders = (r->want & WANT_FIELDS) != 0; /* the consumer has work for a second thread */

	/* a whole file: unpacking has a thread, and its windows are too small for several */
	if (r->helpers > renders && r->in->last && !st->ahead && !st->raw_fields)
		st->pieces = pieces_new(r->in->p, r->in->end, r->helpers, &ops, st);
	st->paths.followers = st->pieces;
}

const char *dft_line_read(struct dft_state *st)
{
	struct dft_record *const rec = &st->record;
	const char *const p = st->r->in->p;

	struct line_piece *const x = (struct line_piece *)pieces_at(st->pieces, p);

	if (x == NULL || x->restarts != st->paths.restarts)
		return NULL;
	const uint32_t at = (uint32_t)(p - x->piece.from);
	while (x->at < x->n && x->lines[x->at].at < at)
		x->at++;
	if (x->at == x->n || x->lines[x->at].at != at)
		return NULL;
	struct read_line *const line = &x->lines[x->at];
	rec->top = line->top;
	rec->args = x->args + line->first_arg;
	rec->shape = line->kinds;
	dft_record_apply(rec, line->shape, p, p + line->n);
	return rec->end;
}
