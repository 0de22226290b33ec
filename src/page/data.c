/* The data of the page's script, at most about 4 MB.  Times are ns after the first event.  Bins are planes of
 * bytes in base64.  Spans and stacks are varints (LEB128) in base64.  All other data is JSON:
 *
 *   length, bin, offset   ns; bin i begins at i * bin - offset
 *   names, colors         texts; for each name its colour, an index of `legend`
 *   tracks                process, track, busy, waiting, spans, depth, first bin, bins, index of the process
 *   planes                for each bin: colour, busy, waiting (square roots of shares), name
 *   spans                 for each track its number of spans; gap, duration, name, depth * 2 + waiting
 *   stacks                preorder: depth, name, self, waiting, count; with two sides, also self and waiting
 *                         of the old side
 *   samples               for each kind its stacks: depth, name, samples; with two sides, also old samples
 *   rows                  the table of spans; last element: the first octave, then a count for each octave
 *   counters, matrix, flows
 *   values                of a counter: for each bin null, the value, or least, largest and last value
 *
 * An octave is 0 to 63 ns, 64 to 127 ns, and so on. */
#include "page/page.h"

#include <math.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "json/out.h"

/* Limits of the data, so that the page has a few MB. */
#define MAX_TRACKS 300U
#define MAX_BINS 400000U /* of all tracks; 4 bytes each */
#define MAX_SPANS 40000U
#define MAX_NODES 20000U /* of the tree of spans, and of all trees of samples together */
#define MAX_NAME_BYTES ((size_t)1 << 20)
#define MAX_ROW_BYTES ((size_t)1 << 20)
#define MAX_COUNTERS 24U
#define COUNTER_BINS 512U /* of each counter */
#define MAX_FLOWS 24U
#define COLORS 8U
#define BIN_NAMES 255U /* names of bins: their index is a byte */

struct data {
	struct page_view *v;
	struct page *page;
	struct json_out o;
	uint32_t *names; /* number in the page -> number in the output + 1; 0: not in the output yet */
	uint32_t *shown; /* number in the output -> number in the page */
	uint32_t nshown, shown_cap;
	size_t name_bytes;
	uint8_t *colors; /* by number of the name in the page */
	bool by_name;    /* a colour stands for a name; else for a category */
	uint32_t legend[COLORS];
	uint32_t nlegend;
	bool rest;        /* the last colour stands for all others */
	uint32_t *tracks; /* indexes of the shown tracks */
	uint32_t ntracks;
	struct text bytes; /* of the next member: put_bytes() */
	bool is_of_spans;  /* the tree of put_tree() */
	bool no_memory;
};

/* ---- bytes ---- */

static void put_varint(struct text *t, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		text_char(t, (char)(v | 128));
	text_char(t, (char)v);
}

/* Writes d->bytes as a member in base64, and clears them. */
static void put_bytes(struct data *d, const char *key)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct text *const t = json_out_value(&d->o, key);
	const unsigned char *const p = (const unsigned char *)d->bytes.p;

	text_char(t, '"');
	for (size_t i = 0; i < d->bytes.n; i += 3) {
		const size_t left = d->bytes.n - i;
		const uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
		                   (left > 2 ? p[i + 2] : 0);
		const char four[4] = { digits[v >> 18], digits[v >> 12 & 63],
			               left > 1 ? digits[v >> 6 & 63] : '=',
			               left > 2 ? digits[v & 63] : '=' };
		text_add(t, four, 4);
	}
	text_char(t, '"');
	t->failed |= d->bytes.failed;
	text_clear(&d->bytes);
}

static void put_text(struct data *d, const char *key, struct slice s)
{
	page_json(json_out_value(&d->o, key), s);
}

/* Numbers from 2^53 on are written as strings. */
static void put_number(struct data *d, const char *key, uint128 v)
{
	struct text *const t = json_out_value(&d->o, key);
	const bool large = v > ((uint64_t)1 << 53) - 1;

	text_str(t, large ? "\"" : "");
	text_u128(t, v);
	text_str(t, large ? "\"" : "");
}

static void put_real(struct data *d, double v)
{
	text_printf(json_out_value(&d->o, NULL), "%.6g", v);
}

/* ---- names and colours ---- */

/* Returns the number of a name in the output; 0 stands for all other names. */
static uint32_t name_number(struct data *d, uint32_t name)
{
	const bool frame = name >= PAGE_NAME_FRAME && name - PAGE_NAME_FRAME < d->page->frames.n;

	if (name >= d->page->names.n && !frame)
		return 0;
	if (d->names[name] > 0)
		return d->names[name] - 1;
	if (d->name_bytes > MAX_NAME_BYTES)
		return 0;
	if (note_failure(&d->no_memory,
	                 !array_reserve(&d->shown, d->nshown, &d->shown_cap, sizeof *d->shown)))
		return 0;
	const size_t n = page_name(d->page, name).n;
	d->name_bytes += n < PAGE_TEXT_MAX ? n + 3 : PAGE_TEXT_MAX + 3;
	d->shown[d->nshown++] = name;
	d->names[name] = d->nshown;
	return d->nshown - 1;
}

/* Gives colours to the categories with the most time, or to names if there is only one category. */
static bool choose_colors(struct data *d)
{
	const struct page *const p = d->page;
	const uint32_t max = NAMES_MAX + 2;
	struct matrix_sum *const categories = calloc(max, sizeof *categories), *const names =
	                                                                           calloc(max, sizeof *names);
	uint8_t *const color_of = calloc(max, 1);
	uint32_t ncategories = 0;
	const bool ok = categories != NULL && names != NULL && color_of != NULL;

	for (uint32_t i = 0; ok && i < p->ncells[1]; i++) {
		const struct page_cell *const c = &p->cells[1][i];
		const uint32_t category = c->name < p->names.n ? p->names.names[c->name].with : NAMES_MAX;
		ncategories += categories[category].ns == 0;
		categories[category].what = category;
		categories[category].ns += c->ns;
		names[c->name].what = c->name;
		names[c->name].ns += c->ns;
	}
	if (ok) {
		d->by_name = ncategories < 2;
		struct matrix_sum *const sums = d->by_name ? names : categories;
		(void)matrix_sort(sums, max);
		memset(color_of, COLORS - 1, max);
		d->rest = sums[COLORS].ns > 0;
		for (uint32_t i = 0; i < COLORS - d->rest && sums[i].ns > 0; i++) {
			d->legend[d->nlegend++] = sums[i].what;
			color_of[sums[i].what] = (uint8_t)i;
		}
		d->nlegend += d->rest;
		for (uint32_t i = 0; i < p->names.n; i++) {
			const uint32_t with = p->names.names[i].with;
			d->colors[i] = d->by_name ? color_of[i] : with <= NAMES_MAX ? color_of[with] : 0;
		}
	}
	free(categories);
	free(names);
	free(color_of);
	return ok;
}

/* Frames of samples have no category: their colours tell neighbours apart. */
static uint8_t color_of_name(const struct data *d, uint32_t name)
{
	if (name >= PAGE_NAME_FRAME) {
		const struct slice s = page_name(d->page, name);
		return (uint8_t)(hash_bytes(s.p, s.n, 0) % COLORS);
	}
	return name < d->page->names.n ? d->colors[name] : COLORS - 1;
}

static void put_names(struct data *d)
{
	const struct page *const p = d->page;

	json_out_begin(&d->o, "names", "[");
	for (uint32_t i = 0; i < d->nshown; i++)
		put_text(d, NULL, i == 0 ? SLICE_LIT(NAMES_OTHER_TEXT) : page_name(p, d->shown[i]));
	json_out_end(&d->o, "]");
	json_out_begin(&d->o, "colors", "[");
	for (uint32_t i = 0; i < d->nshown; i++)
		json_out_u64(&d->o, NULL, i == 0 ? COLORS - 1 : color_of_name(d, d->shown[i]));
	json_out_end(&d->o, "]");
	json_out_string(&d->o, "colored_by", d->by_name ? "name" : "category");
	json_out_begin(&d->o, "legend", "[");
	for (uint32_t i = 0; i < d->nlegend; i++)
		if (d->rest && i + 1 == d->nlegend)
			json_out_string(&d->o, NULL, "(other)");
		else
			put_text(d, NULL,
			         d->by_name                        ? page_name(p, d->legend[i])
			         : d->legend[i] >= p->categories.n ? SLICE_LIT("(other categories)")
			         : names_text(&p->categories, d->legend[i]).n > 0
			             ? names_text(&p->categories, d->legend[i])
			             : SLICE_LIT("(no category)"));
	json_out_end(&d->o, "]");
}

/* ---- tracks ---- */

struct track_rank {
	const struct page_track *track;
	uint32_t index;
};

static int busiest_first(const void *a, const void *b)
{
	const struct track_rank *const x = a, *const y = b;
	const uint128 i = total_of(x->track->busy), j = total_of(y->track->busy);

	return i != j ? ORDER(j, i) : ORDER(x->index, y->index);
}

static int by_process(const void *a, const void *b)
{
	const struct track_rank *const x = a, *const y = b;
	const uint32_t i = track_process(x->track->track)->index, j = track_process(y->track->track)->index;

	return i != j ? ORDER(i, j) : ORDER(x->index, y->index);
}

/* Chooses the busiest tracks, ordered by process, and widens bins until there are at most MAX_BINS. */
static bool choose_tracks(struct data *d)
{
	struct page *const p = d->page;
	struct track_rank *const ranks = malloc(((size_t)p->ntracks + 1) * sizeof *ranks);
	uint32_t n = 0;
	uint64_t bins;

	d->tracks = malloc(MAX_TRACKS * sizeof *d->tracks);
	if (ranks == NULL || d->tracks == NULL) {
		free(ranks);
		return false;
	}
	for (uint32_t i = 0; i < p->ntracks; i++)
		if (p->tracks[i].track != NULL && p->tracks[i].nbins + p->tracks[i].nspans > 0)
			ranks[n++] = (struct track_rank){ &p->tracks[i], i };
	array_sort(ranks, n, sizeof *ranks, busiest_first);
	n = n < MAX_TRACKS ? n : MAX_TRACKS;
	array_sort(ranks, n, sizeof *ranks, by_process);
	for (uint32_t i = 0; i < n; i++)
		d->tracks[i] = ranks[i].index;
	d->ntracks = n;
	free(ranks);
	do {
		bins = 0;
		for (uint32_t i = 0; i < n; i++)
			bins += p->tracks[d->tracks[i]].nbins;
		if (bins > MAX_BINS)
			sketch_coarsen(p, 1);
	} while (bins > MAX_BINS);
	return true;
}

static bool put_tracks(struct data *d)
{
	const struct page *const p = d->page;
	const uint64_t first = p->first_ns >> p->shift;
	const struct track **const tracks = calloc((size_t)p->ntracks + 1, sizeof *tracks);
	struct track_labels labels = { .of = NULL };

	for (uint32_t i = 0; tracks != NULL && i < p->ntracks; i++)
		tracks[i] = p->tracks[i].track;
	const bool ok = tracks != NULL && track_labels_make(&labels, tracks, p->ntracks);
	free(tracks);
	json_out_begin(&d->o, "tracks", "[");
	for (uint32_t i = 0; ok && i < d->ntracks; i++) {
		const struct page_track *const k = &p->tracks[d->tracks[i]];
		json_out_begin_after(&d->o, "\n", NULL, "[");
		put_text(d, NULL, labels.of[track_process(k->track)->index]);
		put_text(d, NULL, labels.of[k->track->index]);
		put_number(d, NULL, total_of(k->busy));
		put_number(d, NULL, total_of(k->waiting));
		json_out_u64(&d->o, NULL, k->count);
		json_out_u64(&d->o, NULL, k->depth);
		json_out_u64(&d->o, NULL, k->nbins > 0 ? k->first_bin - first : 0);
		json_out_u64(&d->o, NULL, k->nbins);
		json_out_u64(&d->o, NULL, track_process(k->track)->index);
		json_out_end(&d->o, "]");
	}
	json_out_end(&d->o, "]");
	json_out_u64(&d->o, "all_tracks", p->nwith_spans);
	track_labels_free(&labels);
	return ok;
}

/* ---- planes ---- */

/* Returns the candidate with the most time in a bin; UINT32_MAX: none. */
static uint32_t largest_candidate(const struct page_candidates *m)
{
	unsigned best = 0;

	for (unsigned i = 1; i < PAGE_CANDIDATES; i++)
		best = m->ns[i] > m->ns[best] ? i : best;
	return m->ns[best] > 0 ? m->what[best] : UINT32_MAX;
}

/* A share as a byte.  Its square root, so that short times stay visible. */
static char share_byte(float ns, double width)
{
	const double share = (double)ns / width;

	return (char)(share >= 1 ? 255 : (int)ceil(255 * sqrt(share)));
}

static uint8_t bin_color(const struct data *d, const struct page_bin *b)
{
	const uint32_t what = largest_candidate(d->by_name ? &b->names : &b->categories);

	if (what == UINT32_MAX)
		return COLORS - 1;
	if (d->by_name)
		return color_of_name(d, what);
	for (uint32_t i = 0; i < d->nlegend - d->rest; i++)
		if (d->legend[i] == what)
			return (uint8_t)i;
	return COLORS - 1;
}

static bool put_planes(struct data *d)
{
	const struct page *const p = d->page;
	const double width = ldexp(1, (int)p->shift);
	uint8_t *const place = calloc((size_t)NAMES_MAX + 2, 1); /* by name: index in `list` + 1 */
	uint32_t list[BIN_NAMES], n = 0;

	if (place == NULL)
		return false;
	for (uint32_t i = 0; i < d->ntracks; i++) {
		const struct page_track *const k = &p->tracks[d->tracks[i]];
		for (uint32_t b = 0; b < k->nbins; b++)
			text_char(&d->bytes, (char)bin_color(d, &k->bins[b]));
		for (uint32_t b = 0; b < k->nbins; b++)
			text_char(&d->bytes, share_byte(k->bins[b].busy, width));
		for (uint32_t b = 0; b < k->nbins; b++)
			text_char(&d->bytes, share_byte(k->bins[b].waiting, width));
		for (uint32_t b = 0; b < k->nbins; b++) {
			const uint32_t name = largest_candidate(&k->bins[b].names);
			const uint32_t at = name == UINT32_MAX ? PAGE_NAME_OTHER : name;
			if (at < p->names.n && place[at] == 0 && n + 1 < BIN_NAMES) {
				list[n++] = at;
				place[at] = (uint8_t)n;
			}
			text_char(&d->bytes, (char)place[at]);
		}
	}
	put_bytes(d, "planes");
	json_out_begin(&d->o, "bin_names", "[");
	json_out_u64(&d->o, NULL, 0);
	for (uint32_t i = 0; i < n; i++)
		json_out_u64(&d->o, NULL, name_number(d, list[i]));
	json_out_end(&d->o, "]");
	free(place);
	return true;
}

static void put_spans(struct data *d)
{
	struct page *const p = d->page;
	uint64_t shown = 0, all = 0;

	sketch_thin(p, MAX_SPANS);
	for (uint32_t i = 0; i < d->ntracks; i++) {
		const struct page_track *const k = &p->tracks[d->tracks[i]];
		uint64_t before = p->first_ns;
		put_varint(&d->bytes, k->nspans);
		for (uint32_t s = 0; s < k->nspans; s++) {
			const struct page_span *const span = &k->spans[s];
			put_varint(&d->bytes, span->start - before);
			put_varint(&d->bytes, span->dur);
			put_varint(&d->bytes, name_number(d, span->name));
			put_varint(&d->bytes, (uint64_t)span->depth * 2 + span->waiting);
			before = span->start;
		}
		shown += k->nspans;
		all += k->count;
	}
	put_bytes(d, "spans");
	json_out_u64(&d->o, "spans_shown", shown);
	json_out_u64(&d->o, "spans_all", all);
}

/* ---- stacks ---- */

/* Samples have no waiting, and their count is `self`. */
static void put_node(void *ctx, const struct page_node *k)
{
	struct data *const d = ctx;

	put_varint(&d->bytes, k->depth);
	put_varint(&d->bytes, name_number(d, k->name));
	for (unsigned side = PAGE_SIDES; side-- > (d->page->two_sides ? PAGE_OLD : PAGE_NEW);) {
		put_varint(&d->bytes, k->self[side]);
		if (d->is_of_spans)
			put_varint(&d->bytes, k->waiting[side]);
		if (d->is_of_spans && side == PAGE_NEW)
			put_varint(&d->bytes, k->count[side]);
	}
}

/* Writes the members of a tree of stacks, at most `max` nodes. */
static bool put_tree(struct data *d, enum plan_stack kind, uint32_t max)
{
	uint32_t shown, all;

	d->is_of_spans = kind == PLAN_STACK_ANY;
	if (!flame_visit(&d->page->flames[kind], max, put_node, d, &shown, &all))
		return false;
	put_bytes(d, "stacks");
	json_out_u64(&d->o, "stacks_shown", shown);
	json_out_u64(&d->o, "stacks_all", all);
	return true;
}

static bool put_stacks(struct data *d)
{
	unsigned kinds = 0;

	json_out_bool(&d->o, "two_sides", d->page->two_sides);
	if (!put_tree(d, PLAN_STACK_ANY, MAX_NODES))
		return false;
	for (unsigned k = PLAN_STACK_ANY + 1; k < PAGE_FLAMES; k++)
		kinds += d->page->flames[k].nnodes > 1;
	json_out_begin(&d->o, "samples", "{");
	for (unsigned k = PLAN_STACK_ANY + 1; k < PAGE_FLAMES; k++) {
		if (d->page->flames[k].nnodes == 1)
			continue;
		json_out_begin(&d->o, page_sampled[k].id, "{");
		json_out_string(&d->o, "title", page_sampled[k].title);
		if (!put_tree(d, k, MAX_NODES / kinds))
			return false;
		json_out_end(&d->o, "}");
	}
	json_out_end(&d->o, "}");
	return true;
}

/* ---- the table of spans ---- */

/* Writes the first octave with spans, and the counts from that octave to the last one with spans. */
static void put_octaves(struct data *d, const char *key, const struct histogram *h,
                        const struct histogram_pool *pool)
{
	uint64_t counts[HISTOGRAM_BLOCKS] = { 0 };
	unsigned first = HISTOGRAM_BLOCKS, last = 0;

	if (h->spread) {
		for (unsigned i = 0; i < HISTOGRAM_BLOCKS; i++)
			for (unsigned k = 0; h->blocks[i] > 0 && k < HISTOGRAM_BUCKETS; k++)
				counts[i] += pool->buckets[h->blocks[i] * (size_t)HISTOGRAM_BUCKETS + k];
	} else {
		for (uint64_t i = 0; i < h->count; i++)
			counts[histogram_bucket_of(h->kept[i]) / HISTOGRAM_BUCKETS]++;
	}
	for (unsigned i = 0; i < HISTOGRAM_BLOCKS; i++)
		if (counts[i] > 0) {
			first = i < first ? i : first;
			last = i;
		}
	json_out_begin(&d->o, key, "[");
	if (first < HISTOGRAM_BLOCKS)
		json_out_u64(&d->o, NULL, first);
	for (unsigned i = first; i <= last && i < HISTOGRAM_BLOCKS; i++)
		json_out_u64(&d->o, NULL, counts[i]);
	json_out_end(&d->o, "]");
}

static void put_row(struct data *d, const struct span_row *row, bool async)
{
	const struct stats *const s = d->v->stats;
	const struct span_group *const g = row->group;

	json_out_begin_after(&d->o, "\n", NULL, "[");
	put_text(d, NULL, row->name);
	put_text(d, NULL, row->category.n > 0 ? row->category : SLICE_LIT("-"));
	json_out_u64(&d->o, NULL, async);
	json_out_u64(&d->o, NULL, g->count);
	put_number(d, NULL, row->total);
	put_number(d, NULL, row->self);
	put_number(d, NULL, row->waiting);
	put_number(d, NULL, span_mean(g));
	put_number(d, NULL, histogram_percentile(&g->durations, &s->pool, 50));
	put_number(d, NULL, histogram_percentile(&g->durations, &s->pool, 90));
	put_number(d, NULL, histogram_percentile(&g->durations, &s->pool, 99));
	put_number(d, NULL, g->durations.max);
	put_octaves(d, NULL, &g->durations, &s->pool);
	json_out_end(&d->o, "]");
}

static bool put_rows(struct data *d)
{
	const struct stats *const s = d->v->stats;
	const struct span_table *const tables[] = { &s->spans, &s->async };
	uint64_t all = 0, shown = 0;

	json_out_begin(&d->o, "rows", "[");
	for (unsigned k = 0; k < 2; k++) {
		const size_t before = d->o.t->n;
		struct span_row *rows;
		size_t n;
		if (!stats_span_rows(s, tables[k], NULL, &rows, &n))
			return false;
		for (size_t i = 0; i < n && d->o.t->n - before < MAX_ROW_BYTES / 2; i++) {
			put_row(d, &rows[i], k == 1);
			shown++;
		}
		all += n;
		free(rows);
	}
	json_out_end(&d->o, "]");
	json_out_u64(&d->o, "rows_shown", shown);
	json_out_u64(&d->o, "rows_all", all);
	return true;
}

/* ---- counters, balance, flows ---- */

static int most_values_first(const void *a, const void *b)
{
	const struct page_series *const x = *(const struct page_series *const *)a,
	                                *const y = *(const struct page_series *const *)b;

	return x->count != y->count ? ORDER(y->count, x->count) : ORDER(x, y);
}

static void put_series(struct data *d, const struct page_series *s)
{
	const struct page *const p = d->page;
	uint32_t step = 1;

	while (s->nbins / step > COUNTER_BINS)
		step *= 2;
	json_out_begin_after(&d->o, "\n", NULL, "{");
	put_text(d, "name", page_name(p, s->name));
	put_text(d, "series", page_name(p, s->field));
	put_text(d, "process", track_process(s->track)->name);
	put_text(d, "track", s->track->name);
	json_out_u64(&d->o, "count", s->count);
	json_out_f64(&d->o, "min", s->min);
	json_out_f64(&d->o, "max", s->max);
	json_out_u64(&d->o, "first", s->first_bin - (p->first_ns >> p->shift));
	json_out_u64(&d->o, "step", step);
	json_out_begin(&d->o, "values", "[");
	for (uint32_t b = 0; b < s->nbins; b += step) {
		double min = INFINITY, max = -INFINITY, last = 0;
		for (uint32_t i = b; i < b + step && i < s->nbins; i++) {
			min = s->bins[i].min < min ? s->bins[i].min : min;
			max = s->bins[i].max > max ? s->bins[i].max : max;
			last = s->bins[i].min <= s->bins[i].max ? s->bins[i].last : last;
		}
		if (min > max) {
			json_out_null(&d->o, NULL);
		} else if (min < max) {
			json_out_begin(&d->o, NULL, "[");
			put_real(d, min);
			put_real(d, max);
			put_real(d, last);
			json_out_end(&d->o, "]");
		} else {
			put_real(d, min);
		}
	}
	json_out_end(&d->o, "]}");
}

static bool put_counters(struct data *d)
{
	const struct page *const p = d->page;
	const struct page_series **const list = malloc(((size_t)p->nseries + 1) * sizeof *list);

	if (list == NULL)
		return false;
	for (uint32_t i = 0; i < p->nseries; i++)
		list[i] = &p->series[i];
	array_sort(list, p->nseries, sizeof *list, most_values_first);
	json_out_begin(&d->o, "counters", "[");
	for (uint32_t i = 0; i < p->nseries && i < MAX_COUNTERS; i++)
		put_series(d, list[i]);
	json_out_end(&d->o, "]");
	json_out_u64(&d->o, "all_counters", p->nseries);
	free(list);
	return true;
}

static bool put_matrix(struct data *d)
{
	struct matrix *const m = malloc(sizeof *m);

	if (m == NULL || !matrix_make(m, d->page)) {
		matrix_free(m);
		return false;
	}
	json_out_begin(&d->o, "matrix", "{");
	json_out_string(&d->o, "unit", m->by_process ? "process" : "thread");
	json_out_begin(&d->o, "columns", "[");
	for (uint32_t k = 0; k < m->ncolumns; k++)
		put_text(d, NULL, m->labels[m->columns[k]->index]);
	json_out_end(&d->o, "]");
	json_out_begin(&d->o, "rows", "[");
	for (uint32_t i = 0; i < m->nrows; i++) {
		json_out_begin(&d->o, NULL, "[");
		put_text(d, NULL, page_name(d->page, m->rows[i]));
		for (uint32_t k = 0; k < m->ncolumns; k++)
			put_number(d, NULL, m->ns[i][k]);
		json_out_end(&d->o, "]");
	}
	json_out_end(&d->o, "]}");
	matrix_free(m);
	return true;
}

static void put_flow(void *ctx, const struct slice *texts, const struct histogram *delays,
                     const struct histogram_pool *pool)
{
	struct data *const d = ctx;

	json_out_begin(&d->o, NULL, "{");
	put_text(d, "leaving", texts[0]);
	put_text(d, "arriving", texts[2]);
	json_out_u64(&d->o, "count", delays->count);
	put_number(d, "p50", histogram_percentile(delays, pool, 50));
	put_number(d, "p99", histogram_percentile(delays, pool, 99));
	put_octaves(d, "hist", delays, pool);
	json_out_end(&d->o, "}");
}

/* ---- all data ---- */

static bool put_all(struct data *d)
{
	struct page *const p = d->page;

	d->names = calloc((size_t)PAGE_NAME_FRAME + p->frames.n, sizeof *d->names);
	d->colors = calloc((size_t)p->names.n + 1, 1);
	if (d->names == NULL || d->colors == NULL ||
	    !array_reserve(&d->shown, 0, &d->shown_cap, sizeof *d->shown))
		return false;
	d->shown[d->nshown++] = PAGE_NAME_OTHER;
	if (!choose_colors(d) || !choose_tracks(d))
		return false;
	json_out_begin(&d->o, NULL, "{");
	put_number(d, "length", p->last_ns - p->first_ns);
	text_printf(json_out_value(&d->o, "bin"), "%.0f", ldexp(1, (int)p->shift));
	put_number(d, "offset", p->first_ns - (p->first_ns >> p->shift << p->shift));
	const bool ok = put_tracks(d) && put_planes(d);
	put_spans(d);
	if (!ok || !put_stacks(d))
		return false;
	put_names(d);
	if (!put_rows(d) || !put_counters(d) || !put_matrix(d))
		return false;
	json_out_begin(&d->o, "flows", "[");
	if (!flows_visit(&d->v->stats->tables->flows, MAX_FLOWS, put_flow, d))
		return false;
	json_out_end(&d->o, "]}");
	return !d->no_memory && !p->no_memory;
}

bool page_data(struct text *t, struct page_view *v)
{
	struct text json = { .p = NULL };
	struct data d = { .v = v, .page = v->page, .o = { .t = &json } };
	const bool ok = put_all(&d);

	page_script(t, &json);
	t->failed |= json.failed;
	free(d.names);
	free(d.shown);
	free(d.colors);
	free(d.tracks);
	text_free(&d.bytes);
	text_free(&json);
	return ok && !t->failed;
}
