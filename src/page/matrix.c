/* The matrix of the load balance: self time of each name in each process or thread.  The columns are
 * processes if there are several, else threads. */
#include "page/page.h"

#include <stdlib.h>

#include "output/columns.h"

/* ---- cells ---- */

static bool add(struct page *p, unsigned which, uint32_t name, uint32_t track, uint64_t ns)
{
	const uint64_t key = (uint64_t)name << 32 | track;
	const uint32_t i = table64_element(&p->cell_of[which], key, &p->cells[which], &p->ncells[which],
	                                   &p->cells_cap[which], sizeof(struct page_cell), PAGE_CELLS);

	if (i >= TABLE_FAILED)
		return i == TABLE_NONE; /* further pairs of name and track are not shown */
	struct page_cell *const cell = &p->cells[which][i];
	cell->name = name;
	cell->track = track;
	page_add_saturating(&cell->ns, ns);
	return true;
}

bool matrix_add(struct page *p, const struct track *track, uint32_t name, uint64_t ns)
{
	const struct track *const process = track_process(track);

	if (!array_reach(&p->units, &p->nunits, process->index > track->index ? process->index : track->index,
	                 sizeof(struct track *)))
		return false;
	p->units[process->index] = process;
	p->units[track->index] = track;
	return add(p, 0, name, process->index, ns) && add(p, 1, name, track->index, ns);
}

/* ---- the largest rows and columns ---- */

static int largest_first(const void *a, const void *b)
{
	const struct matrix_sum *const x = a, *const y = b;

	return x->ns != y->ns ? ORDER(y->ns, x->ns) : ORDER(x->what, y->what);
}

static void sum_add(struct matrix_sum *sums, uint32_t n, uint32_t what, const struct page_cell *c)
{
	if (what >= n)
		return;
	struct matrix_sum *const sum = &sums[what];
	sum->what = what;
	if (sum->ns == 0 || c->ns > sum->most) {
		sum->most = c->ns;
		sum->most_in = c->track;
	}
	sum->ns += c->ns;
}

uint32_t matrix_sort(struct matrix_sum *sums, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct matrix_sum sum = sums[i];
		if (sum.ns == 0)
			continue;
		sums[i] = sums[kept];
		sums[kept++] = sum;
	}
	qsort(sums, kept, sizeof *sums, largest_first);
	return kept;
}

static bool has_several_processes(const struct page *p)
{
	for (uint32_t i = 1; i < p->ncells[0]; i++)
		if (p->cells[0][i].track != p->cells[0][0].track)
			return true;
	return false;
}

bool matrix_make(struct matrix *m, const struct page *p)
{
	const unsigned which = has_several_processes(p) ? 0 : 1;
	struct matrix_sum *const units = calloc((size_t)p->nunits + 1, sizeof *units),
	                         *const names = calloc((size_t)PAGE_NAME_OTHER + 1, sizeof *names);
	const struct track **const tracks = calloc((size_t)p->nunits + 1, sizeof *tracks);
	bool ok = units != NULL && names != NULL && tracks != NULL;

	*m = (struct matrix){ .by_process = which == 0 };
	m->labels = calloc((size_t)p->nunits + 1, sizeof *m->labels);
	for (uint32_t i = 0; ok && i < p->ncells[which]; i++) {
		const struct page_cell *const c = &p->cells[which][i];
		tracks[c->track] = p->units[c->track];
		sum_add(units, p->nunits, c->track, c);
		sum_add(names, PAGE_NAME_OTHER + 1, c->name, c);
	}
	ok = ok && m->labels != NULL && tracks_label(&m->text, tracks, p->nunits, m->labels);
	if (ok) {
		m->all_units = matrix_sort(units, p->nunits);
		m->ncolumns = m->all_units < MATRIX_COLUMNS ? m->all_units : MATRIX_COLUMNS;
		m->nrows = matrix_sort(names, PAGE_NAME_OTHER + 1);
		m->nrows = m->nrows < MATRIX_ROWS ? m->nrows : MATRIX_ROWS;
	}
	for (uint32_t k = 0; k < m->ncolumns; k++)
		m->columns[k] = p->units[units[k].what];
	for (uint32_t i = 0; i < m->nrows; i++) {
		m->rows[i] = names[i].what;
		m->sums[i] = names[i];
		for (uint32_t k = 0; k < m->ncolumns; k++) {
			const uint32_t at = table64_get(&p->cell_of[which],
			                                (uint64_t)m->rows[i] << 32 | m->columns[k]->index);
			m->ns[i][k] = at == TABLE_NONE ? 0 : p->cells[which][at].ns;
		}
	}
	free(tracks);
	free(units);
	free(names);
	return ok;
}

void matrix_free(struct matrix *m)
{
	if (m == NULL)
		return;
	free(m->labels);
	arena_free(&m->text);
	free(m);
}

bool matrix_html(struct text *t, const struct page *p)
{
	static const struct column heads[] = {
		{ "name", COLUMN_NAME, 10, 0 },    { "max", COLUMN_NUMBER, 0, 0 },
		{ "mean", COLUMN_NUMBER, 0, 0 },   { "max/mean", COLUMN_NUMBER, 0, 0 },
		{ "most in", COLUMN_NAME, 10, 0 },
	};
	struct matrix *const m = malloc(sizeof *m);
	struct columns c = { .list = heads, .n = COUNT_OF(heads) };

	if (m == NULL || !matrix_make(m, p)) {
		matrix_free(m);
		return false;
	}
	if (m->all_units == 1)
		text_str(t, "<p>Self time of a name in one thread");
	else
		text_printf(t, "<p>Self time of a name in each of %u %s", (unsigned)m->all_units,
		            m->by_process ? "processes" : "threads");
	if (m->ncolumns < m->all_units)
		text_printf(t, "; the picture shows %u of them, by time", (unsigned)m->ncolumns);
	text_str(t, ".</p>\n");
	for (uint32_t i = 0; i < m->nrows; i++) {
		const struct matrix_sum *const sum = &m->sums[i];
		columns_name(&c, page_name(p, m->rows[i])); /* the sum of a row is not 0 */
		columns_time(&c, sum->most);
		columns_time(&c, rounded_mean(sum->ns, m->all_units));
		text_printf(&c.text, "%.2f", (double)sum->most * m->all_units / (double)sum->ns);
		columns_next(&c);
		columns_name(&c, m->labels[sum->most_in]);
	}
	columns_end(&c, t, FORM_HTML, m->by_process ? "balance of processes" : "balance of threads", m->nrows,
	            m->nrows, 0);
	matrix_free(m);
	return !t->failed;
}
