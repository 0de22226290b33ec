/* Each track and counter over time: the longest spans, and bins with busy time, waiting time and the names
 * with the most busy time.  A period of the innermost span (stats/tables/open.h) touches the bins that it
 * covers; periods of a track do not overlap, so each period and each bin is touched about once.  If there are
 * more than PAGE_BINS bins, or more than PAGE_ALL_BINS of all tracks, pairs of bins are added up. */
#include "page/page.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "model/event_traits.h"

#define LEAST_BINS 256U /* PAGE_ALL_BINS does not reduce the bins of the whole time below it */

/* ---- bins ---- */

static void candidates_add(struct page_candidates *m, uint32_t what, float ns)
{
	unsigned least = 0;

	for (unsigned i = 0; i < PAGE_CANDIDATES; i++) {
		if (m->ns[i] > 0 && m->what[i] == what) {
			m->ns[i] += ns;
			return;
		}
		if (m->ns[i] < m->ns[least])
			least = i;
	}
	if (m->ns[least] <= 0) {
		m->what[least] = what;
		m->ns[least] = ns;
		return;
	}
	const float less = ns < m->ns[least] ? ns : m->ns[least];
	for (unsigned i = 0; i < PAGE_CANDIDATES; i++)
		m->ns[i] -= less;
	if (ns > less) {
		m->what[least] = what;
		m->ns[least] = ns - less;
	}
}

static void bin_join(void *bin, const void *other)
{
	struct page_bin *const to = bin;
	const struct page_bin *const from = other;

	to->busy += from->busy;
	to->waiting += from->waiting;
	for (unsigned i = 0; i < PAGE_CANDIDATES; i++) {
		if (from->categories.ns[i] > 0)
			candidates_add(&to->categories, from->categories.what[i], from->categories.ns[i]);
		if (from->names.ns[i] > 0)
			candidates_add(&to->names, from->names.what[i], from->names.ns[i]);
	}
}

static void value_join(void *value, const void *other)
{
	struct page_value *const to = value;
	const struct page_value *const from = other;

	if (from->min > from->max)
		return;
	to->min = from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->last = from->last;
}

/* Joins each 2^by bins to one; *first and *n: the first bin and their number. */
static void bins_coarsen(void *bins, size_t size, uint64_t *first, uint32_t *n, unsigned by,
                         void (*join)(void *to, const void *from))
{
	const uint64_t start = *first >> by;
	char *const list = bins;
	uint32_t kept = 0;

	for (uint32_t b = 0; b < *n; b++) {
		const uint32_t at = (uint32_t)(((*first + b) >> by) - start);
		if (at < kept)
			join(list + at * size, list + b * size);
		else
			memmove(list + kept++ * size, list + b * size, size);
	}
	*first = start;
	*n = kept;
}

void sketch_coarsen(struct page *p, unsigned by)
{
	p->shift += by;
	p->all_bins = 0;
	for (uint32_t i = 0; i < p->ntracks; i++) {
		struct page_track *const k = &p->tracks[i];
		if (k->nbins == 0)
			continue;
		bins_coarsen(k->bins, sizeof *k->bins, &k->first_bin, &k->nbins, by, bin_join);
		p->all_bins += k->nbins;
	}
	for (uint32_t i = 0; i < p->nseries; i++) {
		struct page_series *const s = &p->series[i];
		bins_coarsen(s->bins, sizeof *s->bins, &s->first_bin, &s->nbins, by, value_join);
	}
}

void sketch_reach(struct page *p, uint64_t until)
{
	unsigned by = 0;

	if (until > p->last_ns)
		p->last_ns = until;
	while ((p->last_ns >> (p->shift + by)) - (p->first_ns >> (p->shift + by)) >= PAGE_BINS)
		by++;
	if (by > 0)
		sketch_coarsen(p, by);
}

/* Returns a bin of a track by its absolute number, after adding the bins before it.  Returns NULL on OOM. */
static struct page_bin *bin_at(struct page *p, struct page_track *k, uint64_t bin)
{
	if (k->nbins == 0)
		k->first_bin = bin;
	const uint64_t at = bin - k->first_bin; /* periods of a track are in order of time */
	while (k->nbins <= at) {
		if (note_failure(&p->no_memory,
		                 !array_reserve(&k->bins, k->nbins, &k->bins_cap, sizeof *k->bins)))
			return NULL;
		memset(&k->bins[k->nbins++], 0, sizeof *k->bins);
		p->all_bins++;
	}
	return &k->bins[at];
}

bool sketch_spent(struct page *p, const struct track *track, uint64_t from, uint64_t to, uint32_t name,
                  bool waiting)
{
	struct page_track *const k = &p->tracks[track->index];
	const uint32_t category = name == PAGE_NAME_OTHER ? NAMES_MAX : p->names.names[name].with;

	total_add(waiting ? &k->waiting : &k->busy, to - from);
	if (k->bins == NULL && k->nbins == 0) {
		if (p->nbinned == PAGE_TRACKS)
			return true;
		p->nbinned++;
	}
	while (p->all_bins > PAGE_ALL_BINS &&
	       (p->last_ns >> p->shift) - (p->first_ns >> p->shift) + 1 >= 2 * LEAST_BINS)
		sketch_coarsen(p, 1);
	for (uint64_t at = from; at < to;) {
		const uint64_t bin = at >> p->shift;
		const uint64_t next = (bin + 1) << p->shift; /* 0: beyond 64 bits */
		const uint64_t end = next > at && next < to ? next : to;
		struct page_bin *const b = bin_at(p, k, bin);
		if (b == NULL)
			return false;
		const float ns = (float)(end - at);
		*(waiting ? &b->waiting : &b->busy) += ns;
		if (!waiting) {
			candidates_add(&b->categories, category, ns);
			candidates_add(&b->names, name, ns);
		}
		at = end;
	}
	return true;
}

/* ---- spans ---- */

/* Returns the largest duration that at least n of the spans reach.  Determines it bit by bit: at most 64
 * rounds and no memory, for any durations. */
static uint64_t nth_duration(const struct page_span *spans, uint32_t nspans, uint32_t n)
{
	uint64_t all = 1, least = 0;

	for (uint32_t i = 0; i < nspans; i++)
		all |= spans[i].dur;
	for (int bit = (int)high_bit(all); bit >= 0; bit--) {
		const uint64_t next = least | UINT64_C(1) << bit;
		uint32_t reach = 0;
		for (uint32_t i = 0; i < nspans; i++)
			reach += spans[i].dur >= next;
		if (reach >= n)
			least = next;
	}
	return least;
}

/* Keeps the longest `quota` spans of each stretch of a track; the first ones if durations are equal. */
static void thin_track(const struct page *p, struct page_track *k)
{
	const unsigned shift = p->shift + p->stretch > 63 ? 63 : p->shift + p->stretch;
	uint32_t kept = 0;

	for (uint32_t i = 0, end; i < k->nspans; i = end) {
		for (end = i + 1;
		     end < k->nspans && k->spans[end].start >> shift == k->spans[i].start >> shift;)
			end++;
		uint32_t equal = end - i; /* spans to keep of those that last `least` */
		uint64_t least = 0;
		if (equal > p->quota) {
			least = nth_duration(&k->spans[i], end - i, p->quota);
			equal = p->quota;
			for (uint32_t s = i; s < end; s++)
				equal -= k->spans[s].dur > least;
		}
		for (uint32_t s = i; s < end; s++) {
			const uint64_t dur = k->spans[s].dur;
			if (dur < least || (dur == least && equal == 0))
				continue;
			equal -= dur == least;
			k->spans[kept++] = k->spans[s];
		}
	}
	k->nspans = kept;
}

void sketch_thin(struct page *p, uint32_t max)
{
	bool again = p->quota > 0; /* try the quota of the previous call first */

	while (p->all_spans > max) {
		if (again) {
			again = false;
		} else if (p->quota == 0) {
			p->quota = 256;
			p->stretch = 2;
		} else if (p->quota > 1) {
			p->quota /= 2;
		} else if (p->stretch < 63) {
			p->stretch++;
		} else {
			break; /* one span for each track */
		}
		p->all_spans = 0;
		for (uint32_t i = 0; i < p->ntracks; i++) {
			thin_track(p, &p->tracks[i]);
			p->all_spans += p->tracks[i].nspans;
		}
	}
}

bool sketch_span(struct page *p, const struct event *e, uint32_t name, uint32_t depth)
{
	struct page_track *const k = &p->tracks[e->track->index];

	k->count++;
	k->depth = depth > k->depth ? (uint16_t)depth : k->depth;
	if (p->nbinned == PAGE_TRACKS && k->bins == NULL)
		return true;
	if (!array_reserve(&k->spans, k->nspans, &k->spans_cap, sizeof *k->spans))
		return false;
	k->spans[k->nspans++] = (struct page_span){
		.start = e->ts,
		.dur = event_end(e) - e->ts,
		.name = name,
		.depth = (uint16_t)depth,
		.waiting = event_is_waiting(e),
	};
	if (++p->all_spans > PAGE_SPANS)
		sketch_thin(p, PAGE_SPANS / 2);
	return true;
}

/* ---- counters: the least and the largest value of each bin, on each track ---- */

/* Returns the series of a field; NULL: beyond the limits, or OOM (p->no_memory). */
static struct page_series *find_series(struct page *p, const struct event *e, struct slice field)
{
	const uint32_t name = names_index(&p->names, e->name, NAMES_MAX + 1);
	const uint32_t f = names_index(&p->names, field, NAMES_MAX + 1);

	if (note_failure(&p->no_memory, name == NAMES_FAILED || f == NAMES_FAILED))
		return NULL;
	if (name == NAMES_OTHER || f == NAMES_OTHER)
		return NULL;
	/* Names are below 2^16, tracks below 2^32: the key is exact. */
	const uint64_t key = (uint64_t)name << 48 | (uint64_t)f << 32 | e->track->index;
	const uint32_t i = table64_element(&p->series_of, key, &p->series, &p->nseries, &p->series_cap,
	                                   sizeof *p->series, PAGE_SERIES);
	p->no_memory |= i == TABLE_FAILED;
	if (i >= TABLE_FAILED)
		return NULL;
	if (p->series[i].track == NULL) /* a new one */
		p->series[i] = (struct page_series){
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
		s->bins[s->nbins++] = (struct page_value){ .min = INFINITY, .max = -INFINITY };
	}
	const struct page_value one = { v, v, v };
	value_join(&s->bins[bin - s->first_bin], &one);
	s->count++;
	s->min = v < s->min ? v : s->min;
	s->max = v > s->max ? v : s->max;
	return true;
}

bool sketch_counters(struct page *p, const struct batch *b, const struct event *e)
{
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		double v;
		if (!series_value(&f->value, &v))
			continue;
		struct page_series *const s = find_series(p, e, f->name);
		if (p->no_memory || (s != NULL && !add_value(p, s, e->ts, v)))
			return false;
	}
	return true;
}
