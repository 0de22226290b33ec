/* Text in pieces, parsed on several threads: a ring of pieces, whose jobs run in order (workers.h). */
#include "base/pieces.h"

#include <stdlib.h>

#include "base/workers.h"

#define PIECES_A_THREAD 4U         /* so that a thread need not wait for the reader */
#define WORTH_IT (32 * PIECE_TEXT) /* bytes of text */

struct pieces {
	const struct pieces_ops *ops;
	void *ctx;
	struct workers *workers;
	const char *next, *end; /* the text that is not in a piece yet */
	struct piece *now;      /* the one that the reader is in; NULL: before the first one */
	size_t n;
	char *list; /* of n structs of ops->size bytes */
};

static struct piece *piece_of(const struct pieces *x, size_t slot)
{
	return (struct piece *)(void *)(x->list + slot * x->ops->size);
}

static void parse_slot(void *ctx, size_t slot)
{
	struct pieces *const x = ctx;

	x->ops->parse(x->ctx, piece_of(x, slot));
}

/* Sets the piece to the next bytes, and hands it to the workers. */
static void put(struct pieces *x, struct piece *piece, bool first)
{
	const struct pieces_ops *const ops = x->ops;
	const size_t left = (size_t)(x->end - x->next), n = left < PIECE_TEXT ? left : PIECE_TEXT;

	piece->from = x->next;
	piece->to = x->next += n;
	piece->end = left - n < ops->longest ? x->end : x->next + ops->longest;
	piece->first = first;
	workers_put(x->workers);
}

struct pieces *pieces_new(const char *p, const char *end, unsigned threads, const struct pieces_ops *ops,
                          void *ctx)
{
	static const struct workers_ops work = { .run = parse_slot };
	struct pieces *const x = end - p >= WORTH_IT ? calloc(1, sizeof *x) : NULL;

	if (x == NULL)
		return NULL;
	*x = (struct pieces){ .ops = ops, .ctx = ctx, .next = p, .end = end };
	x->n = (size_t)PIECES_A_THREAD * (threads + (size_t)1);
	x->list = calloc(x->n, ops->size);
	x->workers = x->list != NULL ? workers_new(x->n, threads, &work, x) : NULL;
	if (x->workers == NULL) {
		free(x->list);
		free(x);
		return NULL;
	}
	for (size_t i = 0; i < x->n; i++)
		put(x, piece_of(x, workers_slot(x->workers)), i == 0);
	return x;
}

struct piece *pieces_at(struct pieces *x, const char *p)
{
	while (x->now == NULL || p >= x->now->to) {
		if (x->now != NULL && x->now->from == x->now->to)
			return NULL;
		if (x->now != NULL)
			put(x, x->now, false);
		x->now = piece_of(x, workers_slot(x->workers));
	}
	return p >= x->now->from ? x->now : NULL;
}

void pieces_settle(struct pieces *x)
{
	workers_settle(x->workers);
}

void pieces_free(struct pieces *x)
{
	if (x == NULL)
		return;
	workers_settle(x->workers);
	workers_free(x->workers);
	for (size_t i = 0; i < x->n; i++)
		x->ops->free(piece_of(x, i));
	free(x->list);
	free(x);
}
