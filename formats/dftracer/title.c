#include "dftracer/title.h"

#include <stdlib.h>

#include "dftracer/report.h"

void
dft_titles_free(struct dft_titles *t)
{
	table64_free(&t->owners);
	table64_free(&t->index);
	free(t->texts);
}

static uint64_t
title_key(uint64_t owner, const uint64_t *small_tid)
{
	return owner << 40 | (small_tid != NULL ? *small_tid + 1 : 0);
}

/* false: no memory. */
static bool
add(struct dft_titles *t, struct arena *a, uint64_t process, const uint64_t *small_tid, struct slice text)
{
	uint32_t owner = table64_get(&t->owners, process);

	if (owner == TABLE_NONE) {
		owner = t->nowners++;
		if (!table64_put(&t->owners, process, owner))
			return false;
	}
	if (!array_room(&t->texts, t->n, &t->cap, sizeof *t->texts))
		return false;
	if (text.n > DFT_MAX_TITLE)
		text = slice_of(text.p, DFT_MAX_TITLE);
	text = arena_copy(a, text);
	if (text.p == NULL)
		return false;
	t->texts[t->n] = textscan_slice(text.p, text.n);
	return table64_put(&t->index, title_key(owner, small_tid), t->n++);
}

void
dft_title_add(struct dft_state *st, uint64_t pid, struct slice host, const uint64_t *tid, struct slice text)
{
	struct dft_shared *const sh = st->names_to;

	if (sh->titles.n == DFT_MAX_TITLES) {
		dft_report_limit(st, DFT_LIMIT_TITLES, &st->record);
		return;
	}
	host.n = host.n < DFT_MAX_HOST ? host.n : DFT_MAX_HOST;
	const uint32_t number = host.n > 0 ? dft_host_number(&sh->who, sh->arena, host) : 0;
	const uint64_t small = tid != NULL ? dft_small_number(&sh->who, *tid) : 0;
	if (!add(&sh->titles, sh->arena, dft_process_key(&sh->who, pid, number), tid != NULL ? &small : NULL,
	         text))
		st->no_memory = true;
}

struct slice
dft_title_of(struct dft_state *st, uint64_t pid, uint32_t host, const uint64_t *tid)
{
	struct dft_who *const who = &st->sh->who;
	const struct dft_titles *const t = &st->sh->titles;
	const uint64_t small = tid != NULL ? dft_small_number(who, *tid) : 0;

	for (int i = 0; i < 2; i++) {
		const uint32_t owner = table64_get(&t->owners, dft_process_key(who, pid, i == 0 ? host : 0));
		const uint32_t known =
		    owner != TABLE_NONE
		        ? table64_get(&t->index, title_key(owner, tid != NULL ? &small : NULL))
		        : TABLE_NONE;
		if (known != TABLE_NONE)
			return t->texts[known];
	}
	return (struct slice){ NULL, 0, 0 };
}
