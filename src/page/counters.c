/* Values of counters over time: the least, largest and last value of each bin, on each track. */
#include "page/page.h"

#include <math.h>
#include <stdlib.h>

static struct page_value no_value(void)
{
	return (struct page_value){ .min = INFINITY, .max = -INFINITY };
}

static void join(struct page_value *to, const struct page_value *from)
{
	if (from->min > from->max)
		return;
	to->min = from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->last = from->last;
}

void counters_coarsen(struct page *p, unsigned by)
{
	for (uint32_t i = 0; i < p->nseries; i++) {
		struct page_series *const s = &p->series[i];
		const uint64_t first = s->first_bin >> by;
		uint32_t n = 0;
		for (uint32_t b = 0; b < s->nbins; b++) {
			const uint32_t at = (uint32_t)(((s->first_bin + b) >> by) - first);
			const struct page_value v = s->bins[b];
			if (at == n)
				s->bins[n++] = v;
			else
				join(&s->bins[at], &v);
		}
		s->first_bin = first;
		s->nbins = n;
	}
}

/* The series of a field; NULL: beyond the limits, or OOM. */
static struct page_series *find_series(struct page *p, const struct event *e, struct slice field)
{
	const uint32_t name = names_index(&p->names, e->name, NAMES_MAX + 1);
	const uint32_t f = names_index(&p->names, field, NAMES_MAX + 1);

	if (name == NAMES_FAILED || f == NAMES_FAILED) {
		p->no_memory = true;
		return NULL;
	}
	if (name == NAMES_OTHER || f == NAMES_OTHER)
		return NULL;
	/* Names are below 2^16, tracks below 2^32: the key is exact. */
	const uint64_t key = (uint64_t)name << 48 | (uint64_t)f << 32 | e->track->index;
	uint32_t i = table64_get(&p->series_of, key);
	if (i != TABLE_NONE)
		return &p->series[i];
	if (p->nseries == PAGE_SERIES)
		return NULL;
	i = p->nseries;
	if (!array_reserve(&p->series, i, &p->series_cap, sizeof *p->series) ||
	    !table64_put(&p->series_of, key, i)) {
		p->no_memory = true;
		return NULL;
	}
	p->series[p->nseries++] = (struct page_series){
		.name = name, .field = f, .track = e->track, .min = INFINITY, .max = -INFINITY
	};
	return &p->series[i];
}

static bool add_value(struct page *p, struct page_series *s, uint64_t ts, double v)
{
	const uint64_t bin = ts >> p->shift;

	if (s->nbins == 0)
		s->first_bin = bin;
	while (s->nbins <= bin - s->first_bin) {
		if (!array_reserve(&s->bins, s->nbins, &s->bins_cap, sizeof *s->bins))
			return false;
		s->bins[s->nbins++] = no_value();
	}
	const struct page_value one = { v, v, v };
	join(&s->bins[bin - s->first_bin], &one);
	s->count++;
	s->min = v < s->min ? v : s->min;
	s->max = v > s->max ? v : s->max;
	return true;
}

bool counters_add(struct page *p, const struct batch *b, const struct event *e)
{
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		double v;
		if (!series_value(&f->value, &v))
			continue;
		struct page_series *const s = find_series(p, e, f->name);
		if (p->no_memory || (s != NULL && !add_value(p, s, e->ts, v)))
			return false;
		p->series_missed += s == NULL;
	}
	return true;
}
