/* Distribution of the spans of each name over units (threads, processes or hosts): from the total of each
 * unit that has the name, the mean and the maximum; the unit with the maximum; and the unit whose last span
 * of the name ends last. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/match.h"
#include "model/event_traits.h"
#include "stats/tables/tables.h"

struct unit_share {
	uint32_t next; /* index + 1 of another unit of the name; 0: none */
	const struct track *unit;
	uint64_t count, last_ns;
	struct total sum;
};

void imbalance_begin(struct imbalance_table *m, struct arena *text, enum imbalance_of of)
{
	m->of = of;
	names_init(&m->names, text);
	names_init(&m->categories, text);
	names_init(&m->hosts, text);
}

void imbalance_free(struct imbalance_table *m)
{
	names_free(&m->names);
	names_free(&m->categories);
	names_free(&m->hosts);
	table64_free(&m->share_of);
	free(m->shares);
	free(m->first);
}

bool imbalance_add(struct imbalance_table *m, const struct event *e)
{
	if (e->phase != PHASE_SPAN || event_is_async(e) || (e->flags & EVENT_LEFT_OUT) != 0)
		return true;
	const struct track *const unit =
	    m->of == IMBALANCE_THREADS ? track_thread(e->track) : track_process(e->track);
	const uint32_t name = names_index_of(&m->names, e->name, &m->categories, e->cls->category);
	const uint32_t number =
	    m->of == IMBALANCE_HOSTS ? names_index(&m->hosts, unit->host, 0) : unit->index;
	if (name == NAMES_FAILED || number == NAMES_FAILED)
		return false;
	m->missed += name == NAMES_OTHER;
	if (name == NAMES_OTHER)
		return true;
	const uint64_t key = (uint64_t)name << 32 | number;
	const uint32_t at = table64_element(&m->share_of, key, &m->shares, &m->nshares, &m->shares_cap,
	                                    sizeof *m->shares, IMBALANCE_SHARES);
	m->missed += at == TABLE_NONE;
	if (at == TABLE_NONE)
		return true;
	if (at == TABLE_FAILED || !array_reach(&m->first, &m->nfirst, name, sizeof *m->first))
		return false;
	struct unit_share *const s = &m->shares[at];
	if (s->unit == NULL) { /* a new one */
		*s = (struct unit_share){ .next = m->first[name], .unit = unit };
		m->first[name] = at + 1;
	}
	s->count++;
	s->last_ns = event_end(e) > s->last_ns ? event_end(e) : s->last_ns;
	total_add(&s->sum, e->dur);
	return true;
}

/* ---- report ---- */

struct imbalance_row {
	struct slice name, category;
	uint64_t units, count;
	uint128 sum, most, least;
	uint128 lost;       /* ns: excess of the largest over the mean ... */
	uint64_t lost_rest; /* ... and the rest of its division by `units` */
	const struct unit_share *largest, *last;
	uint64_t lag; /* ns; from the end of the unit that ends first to that of the last */
};

/* The row of a name that has a unit.  Ties: the first unit in the order of the trace is the largest, or the
 * last to end. */
static struct imbalance_row row_of(const struct imbalance_table *m, uint32_t name)
{
	struct imbalance_row r = { .name = names_text(&m->names, name) };
	uint64_t first_end = UINT64_MAX;

	r.category = names_text(&m->categories, m->names.names[name].with);
	for (uint32_t at = m->first[name]; at != 0; at = m->shares[at - 1].next) {
		const struct unit_share *const s = &m->shares[at - 1];
		const uint128 sum = total_of(s->sum);
		r.units++;
		r.count += s->count;
		r.sum += sum;
		r.least = r.units == 1 || sum < r.least ? sum : r.least;
		if (r.largest == NULL || sum > r.most ||
		    (sum == r.most && s->unit->index < r.largest->unit->index)) {
			r.most = sum;
			r.largest = s;
		}
		if (r.last == NULL || s->last_ns > r.last->last_ns ||
		    (s->last_ns == r.last->last_ns && s->unit->index < r.last->unit->index))
			r.last = s;
		first_end = s->last_ns < first_end ? s->last_ns : first_end;
	}
	const uint128 excess = r.most * r.units - r.sum;
	r.lost = excess / r.units;
	r.lost_rest = (uint64_t)(excess % r.units);
	r.lag = r.last->last_ns - first_end;
	return r;
}

static int most_lost_first(const void *a, const void *b)
{
	const struct imbalance_row *const x = a, *const y = b;
	const int c = slice_compare(x->name, y->name);
	const uint64_t rest_x = x->lost_rest * y->units, rest_y = y->lost_rest * x->units;

	return x->lost != y->lost ? ORDER(y->lost, x->lost)
	       : rest_x != rest_y ? ORDER(rest_y, rest_x)
	       : c != 0           ? c
	                          : slice_compare(x->category, y->category);
}

static const struct cell_column heads[] = {
	{ { "name", COLUMN_NAME, 16, 0 }, "name" },
	{ { "category", COLUMN_NAME, 8, 6 }, "category" },
	{ { "units", COLUMN_NUMBER, 0, 5 }, "units" },
	{ { "count", COLUMN_NUMBER, 0, 4 }, "count" },
	{ { "min", COLUMN_NUMBER, 0, 3 }, "min_ns" },
	{ { "mean", COLUMN_NUMBER, 0, 0 }, "mean_ns" },
	{ { "max", COLUMN_NUMBER, 0, 0 }, "max_ns" },
	{ { "max/mean", COLUMN_NUMBER, 0, 0 }, "max_per_mean" },
	{ { "largest", COLUMN_NAME, 12, 0 }, "largest" },
	{ { "last", COLUMN_NAME, 12, 2 }, "last" },
	{ { "lag", COLUMN_NUMBER, 0, 1 }, "lag_ns" },
};

/* Names of units, by index of their track. */
struct unit_names {
	const struct track **units;
	struct slice *names;
	uint32_t n;
	struct arena text;
};

static bool name_units(struct unit_names *u, const struct imbalance_table *m)
{
	for (uint32_t i = 0; i < m->nshares; i++) {
		const struct track *const unit = m->shares[i].unit;
		if (!array_reach(&u->units, &u->n, unit->index, sizeof *u->units))
			return false;
		u->units[unit->index] = unit;
	}
	u->names = calloc((size_t)u->n + 1, sizeof *u->names);
	if (u->names == NULL || m->of != IMBALANCE_HOSTS)
		return u->names != NULL && tracks_label(&u->text, u->units, u->n, u->names);
	for (uint32_t i = 0; i < u->n; i++)
		if (u->units[i] != NULL)
			u->names[i] = u->units[i]->host.n > 0 ? u->units[i]->host : SLICE_LIT("(none)");
	return true;
}

static void put_row(struct cells *c, const struct unit_names *u, const struct imbalance_row *r)
{
	const uint128 thousandths = r->sum > 0 ? (r->most * r->units * 1000 + r->sum / 2) / r->sum : 1000;

	cells_row(c);
	cells_name(c, r->name);
	cells_name(c, r->category);
	cells_count(c, r->units);
	cells_count(c, r->count);
	cells_time(c, r->least);
	cells_time(c, rounded_mean(r->sum, r->units));
	cells_time(c, r->most);
	cells_real(c, (double)(uint64_t)thousandths / 1000);
	cells_name(c, u->names[r->largest->unit->index]);
	cells_name(c, u->names[r->last->unit->index]);
	cells_time(c, r->lag);
}

bool imbalance_put(const struct imbalance_table *m, struct cells *c)
{
	struct imbalance_row *const rows = malloc(((size_t)m->nfirst + 1) * sizeof *rows);
	static const char *const titles[] = { [IMBALANCE_THREADS] = "imbalance of threads",
		                              [IMBALANCE_PROCESSES] = "imbalance of processes",
		                              [IMBALANCE_HOSTS] = "imbalance of hosts" };
	struct unit_names u = { .n = 0 };
	bool ok = rows != NULL && name_units(&u, m);
	size_t n = 0;

	for (uint32_t i = 0; ok && i < m->nfirst; i++)
		if (m->first[i] != 0)
			rows[n++] = row_of(m, i);
	array_sort(rows, n, sizeof *rows, most_lost_first);
	cells_begin(c, titles[m->of], "imbalance", heads, COUNT_OF(heads));
	for (size_t i = 0; i < n; i++)
		put_row(c, &u, &rows[i]);
	ok = cells_end(c) && ok;
	free(rows);
	free(u.units);
	free(u.names);
	arena_free(&u.text);
	if (m->missed > 0)
		cells_note(c, "not counted, as there are too many names or units: %" PRIu64 " spans",
		           m->missed);
	return ok;
}
