#include "dftracer/who.h"

#include <stdlib.h>

#include "base/array.h"
#include "dftracer/wire.h"

void
dft_who_free(struct dft_who *w)
{
	table64_free(&w->large);
	tabletext_free(&w->hosts);
	free(w->texts);
}

uint32_t
dft_large_number(struct dft_who *w, uint64_t v)
{
	const uint32_t known = table64_get(&w->large, v), n = (uint32_t)w->large.used;

	if (known != TABLE_NONE)
		return known;
	return n < DFT_MAX_PROCESSES && table64_put(&w->large, v, n) ? n : DFT_MAX_PROCESSES;
}

uint32_t
dft_host_number(struct dft_who *w, struct arena *a, struct slice host)
{
	const uint32_t known = tabletext_get(&w->hosts, host);

	if (known != TABLE_NONE)
		return known;
	if (w->nhosts == DFT_MAX_HOSTS || !array_room(&w->texts, w->nhosts, &w->hosts_cap, sizeof *w->texts))
		return 0;
	const struct slice copy = arena_copy(a, host);
	if (copy.p == NULL || !tabletext_put(&w->hosts, copy, w->nhosts + 1))
		return 0;
	w->texts[w->nhosts++] = copy;
	return w->nhosts;
}
