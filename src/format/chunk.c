#include <stdlib.h>

#include "format/chunk.h"

void
chunk_file(struct chunk *c, const char *name)
{
	if (c->nparts > 0 && c->parts[c->nparts - 1].name == name)
		return;
	if (!array_room(&c->parts, c->nparts, &c->parts_cap, sizeof *c->parts)) {
		c->text.failed = true;
		return;
	}
	c->parts[c->nparts++] = (struct chunk_part){ name, c->text.n };
}

void
chunk_clear(struct chunk *c)
{
	text_clear(&c->text);
	c->ledger.n = 0;
	c->nparts = 0;
}

void
chunk_free(struct chunk *c)
{
	text_free(&c->text);
	ledger_free(&c->ledger);
	free(c->parts);
}
