#include <stdlib.h>

#include "format/chunk.h"

#define BORROW_LEAST (64U << 10) /* bytes: those that output_write() takes as they are */

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
chunk_borrow(struct chunk *c, struct slice s)
{
	struct chunk_files *const f = &c->files;

	if (s.n < BORROW_LEAST) {
		text_slice(&c->text, s);
		return;
	}
	if (!array_room(&f->borrowed, f->nborrowed, &f->borrowed_cap, sizeof *f->borrowed)) {
		c->text.failed = true;
		return;
	}
	f->borrowed[f->nborrowed++] = (struct chunk_borrowed){ c->text.n, s };
}

void
chunk_clear(struct chunk *c)
{
	c->files.nborrowed = 0;
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
	free(c->files.borrowed);
}
