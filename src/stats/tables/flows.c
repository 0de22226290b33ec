/* Arrows by the names of their ends: the delay from start to end, and ends without a partner.  An end whose
 * start is left out is not counted, nor is its start. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/match.h"
#include "model/event_traits.h"
#include "stats/tables/tables.h"

#define FLOW_NONE (UINT32_MAX - 2)     /* no partner */
#define FLOW_LEFT_OUT (UINT32_MAX - 3) /* an end that is not selected */

struct flow_pair {
	uint32_t leaving, arriving; /* numbers of names, NAMES_OTHER or FLOW_NONE */
	uint64_t count;
	struct total sum;
	struct histogram delays; /* of arrows with both ends */
};

void flows_begin(struct flow_table *f, struct arena *text)
{
	names_init(&f->names, text);
	names_init(&f->categories, text);
}

void flows_free(struct flow_table *f)
{
	names_free(&f->names);
	names_free(&f->categories);
	arrow_pairing_free(&f->arrows);
	open_arrows_free(&f->sources);
	table64_free(&f->pair_of);
	free(f->pairs);
	histogram_pool_free(&f->pool);
}

/* Finds or adds the pair of two ends; beyond NAMES_MAX, the pair of "other" ends.  Returns NULL on OOM. */
static struct flow_pair *find_pair(struct flow_table *f, uint32_t leaving, uint32_t arriving)
{
	const uint64_t key = (uint64_t)leaving << 32 | arriving;

	if (f->last < f->npairs && f->pairs[f->last].leaving == leaving &&
	    f->pairs[f->last].arriving == arriving)
		return &f->pairs[f->last];
	const bool others = leaving == NAMES_OTHER && arriving == NAMES_OTHER;
	const uint32_t at = table64_element(&f->pair_of, key, &f->pairs, &f->npairs, &f->pairs_cap,
	                                    sizeof *f->pairs, NAMES_MAX + others);
	if (at == TABLE_NONE)
		return find_pair(f, NAMES_OTHER, NAMES_OTHER);
	if (at == TABLE_FAILED)
		return NULL;
	f->last = at;
	f->pairs[at].leaving = leaving;
	f->pairs[at].arriving = arriving;
	return &f->pairs[at];
}

static bool count_alone(struct flow_table *f, uint32_t leaving, uint32_t arriving)
{
	struct flow_pair *const p = find_pair(f, leaving, arriving);

	if (p == NULL)
		return false;
	p->count++;
	return true;
}

static bool count_arrow(struct flow_table *f, uint32_t leaving, uint32_t arriving, uint64_t delay)
{
	if (leaving == FLOW_LEFT_OUT || arriving == FLOW_LEFT_OUT)
		return true;
	struct flow_pair *const p = find_pair(f, leaving, arriving);
	if (p == NULL)
		return false;
	p->count++;
	total_add(&p->sum, delay);
	histogram_add(&p->delays, &f->pool, delay);
	return true;
}

/* Finds the number of an end's name and category; NAMES_FAILED on OOM. */
static uint32_t end_name(struct flow_table *f, const struct event *e)
{
	if ((e->flags & EVENT_LEFT_OUT) != 0)
		return FLOW_LEFT_OUT;
	struct stats_lookup l;
	uint32_t name;
	if (stats_known_find(f->known, e->name, e->cls, &l, &name))
		return name;
	name = names_index_of(&f->names, e->name, &f->categories, e->cls->category);
	stats_known_keep(&l, &f->names, name);
	return name;
}

static bool count_ends(void *table, const struct event *e, uint32_t name, const struct open_arrow *other,
                       enum arrow_end end)
{
	struct flow_table *const f = table;

	if (end == ARROW_ARRIVES)
		return count_arrow(f, other->what, name, open_arrow_delay(other, e));
	if (end == ARROW_LEAVES)
		return count_arrow(f, name, other->what, 0);
	return other->what == FLOW_LEFT_OUT || count_alone(f, FLOW_NONE, other->what);
}

bool flows_add(struct flow_table *f, const struct event *e)
{
	const bool source = e->phase == PHASE_INSTANT && (e->flags & EVENT_ARROW) != 0;
	struct open_arrow start;

	if (!event_is_flow(e) && !source)
		return true;
	const uint32_t name = end_name(f, e);
	if (name == NAMES_FAILED)
		return false;
	if (source)
		return open_arrows_start(&f->sources, e, name);
	if (e->phase == PHASE_FLOW_OUT && (e->flags & EVENT_ARROW) != 0)
		(void)open_arrows_end(&f->sources, e, &start);
	return arrow_pairing_add(&f->arrows, e, name, count_ends, f);
}

static bool count_open(struct flow_table *f, const struct open_arrows *a, bool leaving)
{
	for (uint32_t i = 0; a->starts != NULL && i < OPEN_ARROWS_MAX; i++)
		for (uint32_t at = a->buckets[i]; at != 0; at = a->starts[at - 1].next) {
			const uint32_t what = a->starts[at - 1].what;
			if (what != FLOW_LEFT_OUT &&
			    !count_alone(f, leaving ? what : FLOW_NONE, leaving ? FLOW_NONE : what))
				return false;
		}
	return true;
}

bool flows_end(struct flow_table *f)
{
	return count_open(f, &f->arrows.starts, true) && count_open(f, &f->sources, true) &&
	       count_open(f, &f->arrows.early, false) && !f->pool.failed;
}

/* ---- report ---- */

struct flow_row {
	struct slice texts[4]; /* name and category of both ends */
	const struct flow_pair *pair;
};

static void put_texts(const struct flow_table *f, uint32_t end, struct slice *texts)
{
	texts[1] = SLICE_LIT("");
	if (end == FLOW_NONE) {
		texts[0] = SLICE_LIT("(none)");
	} else if (end == NAMES_OTHER) {
		texts[0] = SLICE_LIT(NAMES_OTHER_TEXT);
	} else {
		texts[0] = names_text(&f->names, end);
		texts[1] = names_text(&f->categories, f->names.names[end].with);
	}
}

static int by_count(const void *a, const void *b)
{
	const struct flow_row *const x = a, *const y = b;

	return x->pair->count != y->pair->count ? ORDER(y->pair->count, x->pair->count)
	                                        : slices_compare(x->texts, y->texts, 4);
}

static const struct cell_column heads[] = {
	{ { "leaving", COLUMN_NAME, 12, 0 }, "leaving" },
	{ { "category", COLUMN_NAME, 8, 4 }, "leaving_category" },
	{ { "arriving", COLUMN_NAME, 12, 0 }, "arriving" },
	{ { "category", COLUMN_NAME, 8, 5 }, "arriving_category" },
	{ { "count", COLUMN_NUMBER, 0, 0 }, "count" },
	{ { "mean", COLUMN_NUMBER, 0, 3 }, "mean_ns" },
	{ { "p50", COLUMN_NUMBER, 0, 2 }, "p50_ns" },
	{ { "p90", COLUMN_NUMBER, 0, 1 }, "p90_ns" },
	{ { "p99", COLUMN_NUMBER, 0, 0 }, "p99_ns" },
	{ { "max", COLUMN_NUMBER, 0, 0 }, "max_ns" },
};

static void put_row(const struct flow_table *f, struct cells *c, const struct flow_row *row)
{
	const struct flow_pair *const p = row->pair;

	cells_row(c);
	for (unsigned i = 0; i < 4; i++)
		if (c->form == FORM_JSON && (i < 2 ? p->leaving : p->arriving) == FLOW_NONE)
			cells_none(c, 1);
		else
			cells_name(c, row->texts[i]);
	cells_count(c, p->count);
	if (p->delays.count == 0) {
		cells_none(c, 5);
		return;
	}
	cells_time(c, rounded_mean(total_of(p->sum), p->count));
	cells_time(c, histogram_percentile(&p->delays, &f->pool, 50));
	cells_time(c, histogram_percentile(&p->delays, &f->pool, 90));
	cells_time(c, histogram_percentile(&p->delays, &f->pool, 99));
	cells_time(c, p->delays.max);
}

static void put_coverage(const struct flow_table *f, struct cells *c)
{
	const uint64_t missed = f->arrows.starts.missed + f->arrows.early.missed + f->sources.missed;
	uint64_t alone[2] = { 0, 0 }, all[2] = { 0, 0 };

	for (uint32_t i = 0; i < f->npairs; i++) {
		const struct flow_pair *const p = &f->pairs[i];
		all[0] += p->leaving != FLOW_NONE ? p->count : 0;
		all[1] += p->arriving != FLOW_NONE ? p->count : 0;
		alone[0] += p->arriving == FLOW_NONE ? p->count : 0;
		alone[1] += p->leaving == FLOW_NONE ? p->count : 0;
	}
	if (f->npairs > 0)
		cells_note(c,
		           "without a partner: %" PRIu64 " of %" PRIu64 " leaving and %" PRIu64 " of %" PRIu64
		           " arriving ends",
		           alone[0], all[0], alone[1], all[1]);
	if (missed > 0)
		cells_note(c, "not matched, as more than %d are open at a time: %" PRIu64 " ends",
		           OPEN_ARROWS_MAX, missed);
	if (c->form == FORM_JSON) {
		json_out_begin(c->json, "flow_ends", "{");
		json_out_u64(c->json, "leaving", all[0]);
		json_out_u64(c->json, "leaving_alone", alone[0]);
		json_out_u64(c->json, "arriving", all[1]);
		json_out_u64(c->json, "arriving_alone", alone[1]);
		json_out_u64(c->json, "missed", missed);
		json_out_end(c->json, "}");
	}
}

/* All pairs, sorted; NULL on OOM. */
static struct flow_row *make_rows(const struct flow_table *f)
{
	struct flow_row *const rows = malloc(((size_t)f->npairs + 1) * sizeof *rows);

	for (uint32_t i = 0; rows != NULL && i < f->npairs; i++) {
		rows[i].pair = &f->pairs[i];
		put_texts(f, f->pairs[i].leaving, rows[i].texts);
		put_texts(f, f->pairs[i].arriving, rows[i].texts + 2);
	}
	if (rows != NULL && f->npairs > 0)
		qsort(rows, f->npairs, sizeof *rows, by_count);
	return rows;
}

bool flows_visit(const struct flow_table *f, uint32_t most, flow_visitor *visit, void *ctx)
{
	struct flow_row *const rows = make_rows(f);

	for (uint32_t i = 0, n = 0; rows != NULL && i < f->npairs && n < most; i++) {
		if (rows[i].pair->delays.count == 0)
			continue;
		visit(ctx, rows[i].texts, &rows[i].pair->delays, &f->pool);
		n++;
	}
	free(rows);
	return rows != NULL;
}

bool flows_put(const struct flow_table *f, struct cells *c)
{
	struct flow_row *const rows = make_rows(f);

	if (rows == NULL)
		return false;
	cells_begin(c, "flows", "flows", heads, COUNT_OF(heads));
	for (uint32_t i = 0; i < f->npairs; i++)
		put_row(f, c, &rows[i]);
	free(rows);
	const bool ok = cells_end(c);
	put_coverage(f, c);
	return ok;
}
