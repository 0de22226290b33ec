#include "base/idset.h"

#include <stdlib.h>
#include <string.h>

uint64_t *
idset_turn_page(struct idset *s, uint64_t id)
{
	const uint64_t number = id / IDSET_PAGE + 1;

	if (s->pages == NULL)
		s->pages = calloc(IDSET_PAGES, sizeof *s->pages);
	if (s->pages == NULL) {
		s->failed = true;
		return NULL;
	}
	struct idset_page *const page = &s->pages[number % IDSET_PAGES];
	if (page->bits == NULL)
		page->bits = calloc(IDSET_PAGE / 64, sizeof *page->bits);
	else
		memset(page->bits, 0, IDSET_PAGE / 8);
	if (page->bits == NULL) {
		s->failed = true;
		return NULL;
	}
	page->number = number;
	return page->bits;
}

void
idset_free(struct idset *s)
{
	for (size_t i = 0; s->pages != NULL && i < IDSET_PAGES; i++)
		if (s->pages[i].bits !=
		    NULL) /* mostly few are; the calls for the others would cost more than a small trace */
			free(s->pages[i].bits);
	free(s->pages);
	s->pages = NULL;
}
