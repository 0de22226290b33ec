#include "speedscope/stacks.h"

static void
put_weight(struct speedscope_samples *s)
{
	if (s->weights.n > 0)
		text_char(&s->weights, ',');
	text_u64(&s->weights, s->weight);
}

void
speedscope_samples_add(struct speedscope_samples *s, struct speedscope_frames *frames,
                       const struct call_stack *stack, uint64_t offset, struct chunk *chunk)
{
	struct text *const t = &s->stacks;
	const uint32_t depth = stack->n < SPEEDSCOPE_STACK_DEPTH ? stack->n : SPEEDSCOPE_STACK_DEPTH;
	char room[CALL_STACK_ADDRESS];

	if (depth < stack->n)
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_TOO_DEEP], offset, stack->n - depth);
	const size_t at = t->n;
	text_char(t, '[');
	for (uint32_t i = 0; i < depth; i++) {
		const struct slice name = call_stack_from_root(stack, i, room);
		if (i > 0)
			text_char(t, ',');
		text_u64(t, speedscope_frame(frames, name, 0, name, offset, chunk));
	}
	text_char(t, ']');
	if (t->failed) {
		chunk->text.failed = true;
		return;
	}
	s->count++;
	const size_t before = at - s->last, n = t->n - at;
	/* what stands before is the last one and ",\n" */
	if (s->weight > 0 && before == n && memcmp(t->p + s->last, t->p + at, n) == 0) {
		t->n = at;
		s->weight++;
		return;
	}
	if (s->weight > 0) {
		put_weight(s);
		text_str(t, ",\n");
		if (t->failed)
			return;
		memmove(t->p + at + 2, t->p + at, n);
		memcpy(t->p + at, ",\n", 2);
	}
	s->last = s->weight > 0 ? at + 2 : at;
	s->weight = 1;
}

void
speedscope_samples_flush(struct speedscope_samples *s, struct text *to)
{
	put_weight(s);
	text_str(to, ",\"unit\":\"none\",\"startValue\":0,\"endValue\":");
	text_u64(to, s->count);
	text_str(to, ",\"samples\":[\n");
	text_add(to, s->stacks.p, s->stacks.n);
	text_str(to, "],\"weights\":[");
	text_add(to, s->weights.p, s->weights.n);
	text_str(to, "]}");
	text_clear(&s->stacks);
	text_clear(&s->weights);
	s->last = 0;
	s->weight = s->count = 0;
}

void
speedscope_samples_free(struct speedscope_samples *s)
{
	text_free(&s->title);
	text_free(&s->stacks);
	text_free(&s->weights);
}
