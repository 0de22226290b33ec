#include <stdlib.h>

#include "format/chunk.h"

void
chunk_file(struct chunk *c, const char *name)
{
	if (c->files.n > 0 && c->files.parts[c->files.n - 1].name == name)
		return;
	if (!array_room(&c->files.parts, c->files.n, &c->files.cap, sizeof *c->files.parts)) {
		c->text.failed = true;
		return;
	}
	c->files.parts[c->files.n++] = (struct chunk_part){ name, c->text.n };
}

void
chunk_clear(struct chunk *c)
{
	text_clear(&c->text);
	c->ledger.n = 0;
	c->files.n = 0;
	c->end = (struct chunk_end){ .more = false };
}

void
chunk_free(struct chunk *c)
{
	text_free(&c->text);
	ledger_free(&c->ledger);
	free(c->files.parts);
}
