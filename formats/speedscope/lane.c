#include "speedscope/lane.h"

#include <stdlib.h>

#include "base/decimal.h"

void
speedscope_time(struct text *t, struct speedscope_clock clock, uint64_t time)
{
	if (clock.zero != 0)
		text_u64(t, time > clock.zero ? time - clock.zero : 0);
	else if (clock.bias != 0)
		text_i64(t, (int64_t)(time ^ clock.bias));
	else
		text_u64(t, time);
}

static void
put(struct speedscope_lane *l, struct chunk *chunk, struct speedscope_clock clock, char type, uint32_t frame,
    uint64_t at)
{
	struct text *const to = &chunk->text;
	static const char open[] = ",\n{\"type\":\"O\",\"frame\":", close[] = ",\n{\"type\":\"C\",\"frame\":";
	/* no comma before the first */
	const size_t skip = l->events == 0 ? 1 : 0;
	char *p = text_room(to, sizeof open + 2 * DECIMAL_U64_MAX + 16);

	if (l->events++ == 0)
		l->start = at;
	l->last = at;
	if (p == NULL)
		return;
	memcpy(p, (type == 'O' ? open : close) + skip, sizeof open - 1 - skip);
	p = decimal_u64(p + sizeof open - 1 - skip, frame);
	memcpy(p, ",\"at\":", 6);
	if (clock.zero != 0)
		p = decimal_u64(p + 6, at > clock.zero ? at - clock.zero : 0);
	else
		p = clock.bias != 0 ? decimal_i64(p + 6, (int64_t)(at ^ clock.bias)) : decimal_u64(p + 6, at);
	*p++ = '}';
	to->n = (size_t)(p - to->p);
}

static void
close_until(struct speedscope_lane *l, uint64_t time, struct speedscope_clock clock, struct chunk *chunk)
{
	while (l->nopen > 0 && l->open[l->nopen - 1].end <= time) {
		const struct speedscope_open *const o = &l->open[--l->nopen];
		put(l, chunk, clock, 'C', o->frame, o->end);
	}
}

/* Those that waited are opened. */
static void
open_equal(struct speedscope_lane *l, struct speedscope_clock clock, struct chunk *chunk)
{
	uint64_t end = l->equal_end;

	if (l->nequal == 0)
		return;
	close_until(l, l->equal_start, clock, chunk);
	if (l->nopen > 0 && l->open[l->nopen - 1].end < end) {
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_CUT], l->equal_offset, l->nequal);
		end = l->open[l->nopen - 1].end;
	}
	while (l->nequal > 0) {
		const uint32_t frame = l->equal[--l->nequal];
		if (!array_room(&l->open, l->nopen, &l->open_cap, sizeof *l->open)) {
			chunk->text.failed = true;
			return;
		}
		put(l, chunk, clock, 'O', frame, l->equal_start);
		l->open[l->nopen++] = (struct speedscope_open){ end, frame };
	}
}

void
speedscope_lane_span(struct speedscope_lane *l, const struct speedscope_span *s,
                     struct speedscope_clock clock, struct chunk *chunk)
{
	if (s->start != l->equal_start || s->end != l->equal_end)
		open_equal(l, clock, chunk);
	if (l->nequal == 0)
		close_until(l, s->start, clock, chunk);
	if (l->nopen + l->nequal >= SPEEDSCOPE_DEPTH) {
		ledger_add(&chunk->ledger, &speedscope_losses[SPEEDSCOPE_TOO_DEEP], s->offset, 1);
		return;
	}
	if (!array_room(&l->equal, l->nequal, &l->equal_cap, sizeof *l->equal)) {
		chunk->text.failed = true;
		return;
	}
	l->equal[l->nequal++] = s->frame;
	l->equal_start = s->start;
	l->equal_end = s->end;
	l->equal_offset = s->offset;
}

void
speedscope_lane_end(struct speedscope_lane *l, struct speedscope_clock clock, struct chunk *chunk)
{
	open_equal(l, clock, chunk);
	close_until(l, UINT64_MAX, clock, chunk);
}

void
speedscope_lane_pause(struct speedscope_lane *l, uint64_t time, struct speedscope_clock clock,
                      struct chunk *chunk)
{
	open_equal(l, clock, chunk);
	close_until(l, time, clock, chunk);
	for (uint32_t i = l->nopen; i > 0; i--)
		put(l, chunk, clock, 'C', l->open[i - 1].frame, time);
}

void
speedscope_lane_resume(struct speedscope_lane *l, uint64_t time, struct speedscope_clock clock,
                       struct chunk *chunk)
{
	l->events = 0;
	for (uint32_t i = 0; i < l->nopen; i++)
		put(l, chunk, clock, 'O', l->open[i].frame, time);
}

void
speedscope_lane_free(struct speedscope_lane *l)
{
	free(l->open);
	free(l->equal);
}
