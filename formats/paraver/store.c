#include "paraver/store.h"

#include <string.h>

static void
spill(struct paraver_store *s)
{
	if (s->failed || s->text.failed)
		return;
	if (!s->file.is_open && !spill_open(&s->file, s->beside))
		s->failed = true;
	else if (!spill_write(&s->file, s->text.p, s->text.n))
		s->failed = true;
	text_clear(&s->text);
}

void
paraver_store_settle(struct paraver_store *s)
{
	if (s->text.n >= PARAVER_STORE_MEMORY)
		spill(s);
}

uint64_t
paraver_store_size(const struct paraver_store *s)
{
	return (s->file.is_open ? s->file.size : 0) + s->text.n;
}

bool
paraver_store_read(struct paraver_store *s, uint64_t at, char *to, size_t n)
{
	if (s->text.failed)
		return false;
	if (!s->file.is_open) {
		memcpy(to, s->text.p + at, n);
		return true;
	}
	if (s->text.n > 0)
		spill(s);
	if (!s->failed && !spill_read(&s->file, at, to, n))
		s->failed = true;
	return !s->failed;
}

void
paraver_store_free(struct paraver_store *s)
{
	text_free(&s->text);
	spill_close(&s->file);
}
