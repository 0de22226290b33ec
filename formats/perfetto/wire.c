#include "perfetto/wire.h"

void
wire_close_long(struct text *t, size_t start)
{
	const size_t n = t->n - start;
	const unsigned more = wire_size(n) - 1;

	if (text_room(t, more) == NULL)
		return;
	memmove(t->p + start + more, t->p + start, n);
	wire_put(t->p + start - 1, n);
	t->n += more;
}
