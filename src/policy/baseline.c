/* A baseline: the statistics of an earlier run.  The JSON text is validated, then walked, and only the
 * numbers that budgets can refer to are kept; a tree of all values would need forty times the memory. */
#include "policy/private.h"

#include <math.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/os.h"
#include "base/table.h"
#include "check/rules.h"
#include "json/token.h"
#include "output/text_json.h"
#include "yaml/yaml.h"

/* A percentile besides p50, p90 and p99. */
struct baseline_quantile {
	uint32_t quantile; /* in millionths; 0: unused */
	double value;
};

struct baseline_row {
	double values[STATISTIC_BYTES + 1]; /* NaN: not in the report */
	struct baseline_quantile *more;     /* SPAN_COLUMNS_MAX; NULL: none */
};

struct baseline_input {
	const char *path;
	double ns;              /* from the first event to the end of the last; NaN without events */
	struct tabletext index; /* table, name, NUL, category -> rows[] */
	struct baseline_row *rows;
	uint32_t nrows, cap;
};

struct policy_baseline {
	struct arena arena;
	struct baseline_input *inputs;
	uint32_t n;
	bool failed;                  /* OOM */
	struct policy_baseline *next; /* of a further run */
};

static const char *const tables[BASELINE_TABLES] = { "spans", "async_spans", "instants", "counters" };

/* ---- JSON ---- */

struct baseline_draft {
	struct policy_baseline *b;
	struct baseline_input *input; /* the current one */
	uint32_t inputs_cap;
	uint64_t nrows;         /* of all inputs */
	const char *at, *wrong; /* the first mistake; NULL: none, or OOM */
};

static bool set_mistake(struct baseline_draft *d, const char *at, const char *wrong)
{
	if (d->wrong == NULL && !d->b->failed) {
		d->at = at;
		d->wrong = wrong;
	}
	return false;
}

static bool out_of_memory(struct baseline_draft *d)
{
	d->b->failed = true;
	return false;
}

/* Returns a number, or NaN.  Large numbers are written as strings. */
static double parse_value(const struct json_token *v)
{
	const bool is_number = v->kind >= JSON_UINT && v->kind <= JSON_STRING;
	double number;

	return is_number && decimal_read_finite(json_token_text(v), &number) ? number : NAN;
}

/* Returns a number of at least 0, or NaN. */
static double parse_number(const struct json_token *v)
{
	const double number = parse_value(v);

	return number >= 0 ? number : NAN;
}

/* Returns a string without its escapes; p is NULL if the value is not a string, or on OOM. */
static struct slice parse_string(struct baseline_draft *d, const struct json_token *v)
{
	if (v->kind == JSON_STRING)
		return json_token_text(v);
	if (v->kind != JSON_ESCAPED)
		return SLICE_NONE;
	const struct slice s = json_unescape(&d->b->arena, json_token_text(v));
	d->b->failed |= s.p == NULL;
	return s;
}

/* Appends the key of a row, "0name\0category", which begins with the number of the table.  As in reports,
 * U+FFFD replaces bytes that are not UTF-8. */
static void row_key(struct text *to, enum baseline_table table, struct slice name, struct slice category)
{
	text_char(to, (char)('0' + (int)table));
	text_utf8(to, name);
	text_char(to, '\0');
	text_utf8(to, category);
}

/* ---- rows ---- */

struct row_draft {
	struct slice name, category;
	struct baseline_row row;
};

static void read_duration(struct baseline_draft *d, const struct json_walk *w, struct baseline_row *row)
{
	const struct slice key = json_token_text(&w->key);

	for (int i = STATISTIC_P50; i <= STATISTIC_MEAN; i++)
		if (slice_is(key, policy_statistics[i])) {
			row->values[i] = parse_number(&w->value);
			return;
		}
	const uint32_t quantile = key.n > 1 && key.p[0] == 'p' ? span_percent(key.p + 1, key.n - 1) : 0;
	if (quantile > 0 && row->more == NULL)
		row->more = arena_zalloc(&d->b->arena, SPAN_COLUMNS_MAX, sizeof *row->more);
	for (size_t i = 0; quantile > 0 && row->more != NULL && i < SPAN_COLUMNS_MAX; i++)
		if (row->more[i].quantile == 0) {
			row->more[i].quantile = quantile;
			row->more[i].value = parse_number(&w->value);
			break;
		}
}

/* Sets the statistics of the values of a counter. */
static void read_value(const struct json_walk *w, struct baseline_row *row)
{
	static const struct {
		const char *name;
		enum policy_statistic statistic;
	} members[] = { { "max", STATISTIC_MAX },
		        { "time_mean", STATISTIC_MEAN },
		        { "p50", STATISTIC_P50 },
		        { "p99", STATISTIC_P99 } };

	for (size_t i = 0; i < COUNT_OF(members); i++)
		if (json_walk_is(w, members[i].name))
			row->values[members[i].statistic] = parse_value(&w->value);
}

static void read_members(struct baseline_draft *d, const struct json_token *object, enum baseline_table table,
                         struct row_draft *r)
{
	struct json_walk w = json_walk_again(object);

	while (json_walk_next(&w))
		if (table == BASELINE_SERIES && json_walk_is(&w, "name"))
			r->category = parse_string(d, &w.value);
		else if (table == BASELINE_SERIES)
			read_value(&w, &r->row);
		else if (json_walk_is(&w, "name"))
			r->name = parse_string(d, &w.value);
		else if (json_walk_is(&w, "category") && table <= BASELINE_ASYNC)
			r->category = parse_string(d, &w.value);
		else if (json_walk_is(&w, "self_ns"))
			r->row.values[STATISTIC_SELF] = parse_number(&w.value);
		else if (json_walk_is(&w, "count"))
			r->row.values[STATISTIC_COUNT] = parse_number(&w.value);
		else if (json_walk_is(&w, "bytes"))
			r->row.values[STATISTIC_BYTES] = parse_number(&w.value);
		else if (json_walk_is(&w, "dur_ns") && w.value.kind == JSON_OBJECT)
			for (struct json_walk v = json_walk_again(&w.value); json_walk_next(&v);)
				read_duration(d, &v, &r->row);
}

/* Reads a row, and the series of a counter.  counter: of a series; else p is NULL. */
static bool read_row(struct baseline_draft *d, const struct json_token *v, enum baseline_table table,
                     struct slice counter)
{
	struct baseline_input *const in = d->input;
	struct row_draft r = { .name = counter, .category = SLICE_LIT("") };

	for (size_t i = 0; i < COUNT_OF(r.row.values); i++)
		r.row.values[i] = NAN;
	if (v->kind == JSON_OBJECT)
		read_members(d, v, table, &r);
	if (d->b->failed)
		return false;
	if (r.name.p == NULL)
		return set_mistake(d, v->p, "a row has no name: stats --by of a baseline needs the key name");
	if (d->nrows++ == BASELINE_MAX_ROWS)
		return set_mistake(d, v->p, "it has more rows than a baseline may have, from here on");
	if (r.category.p == NULL)
		r.category = SLICE_LIT("");
	char space[1024];
	struct text built = text_start(space, sizeof space);
	row_key(&built, table, r.name, r.category);
	const struct slice row =
	    built.failed ? SLICE_NONE : arena_copy(&d->b->arena, slice_of(built.p, built.n));
	text_free(&built);
	if (row.p == NULL || !array_reserve(&in->rows, in->nrows, &in->cap, sizeof *in->rows) ||
	    !tabletext_put(&in->index, row, in->nrows))
		return out_of_memory(d);
	in->rows[in->nrows++] = r.row;
	bool ok = true;
	for (struct json_walk w = json_walk_again(v); table == BASELINE_COUNTERS && json_walk_next(&w);)
		if (json_walk_is(&w, "series") && w.value.kind == JSON_ARRAY)
			for (struct json_walk s = json_walk_again(&w.value); ok && json_walk_next(&s);)
				ok = read_row(d, &s.value, BASELINE_SERIES, r.name);
	return ok;
}

/* ---- inputs ---- */

struct input_draft {
	unsigned tables; /* a bit for each that was read */
	bool timed[2];
	int128 times[2]; /* ns: of the first event, and of the end of the last */
};

/* Reads a time in ns, which may be before 0. */
static bool parse_time(struct slice s, int128 *ns)
{
	const bool before = s.n > 0 && s.p[0] == '-';
	uint64_t n;

	if (!units_count(slice_of(s.p + before, s.n - before), &n))
		return false;
	*ns = before ? -(int128)n : n;
	return true;
}

static bool read_input_member(struct baseline_draft *d, const struct json_walk *w, struct input_draft *n)
{
	const struct json_token *const v = &w->value;
	bool ok = true;

	if (json_walk_is(w, "path")) {
		const struct slice path = parse_string(d, v);
		if (path.p == NULL || memchr(path.p, '\0', path.n) != NULL)
			return set_mistake(d, v->p, "a path is not a text");
		d->input->path = arena_copy(&d->b->arena, path).p;
		return d->input->path != NULL || out_of_memory(d);
	}
	for (int i = 0; i < 2; i++)
		if (json_walk_is(w, i == 0 ? "first_ns" : "last_ns"))
			n->timed[i] = parse_time(json_token_text(v), &n->times[i]);
	for (enum baseline_table t = 0; t < BASELINE_TABLES; t++)
		if (json_walk_is(w, tables[t]) && v->kind == JSON_ARRAY) {
			n->tables |= 1U << t;
			for (struct json_walk rows = json_walk_again(v); ok && json_walk_next(&rows);)
				ok = read_row(d, &rows.value, t, SLICE_NONE);
		}
	return ok;
}

static bool read_input(struct baseline_draft *d, const struct json_token *v)
{
	struct input_draft n = { .tables = 0 };

	if (v->kind != JSON_OBJECT)
		return set_mistake(d, v->p, "an input is not an object");
	if (!array_reserve(&d->b->inputs, d->b->n, &d->inputs_cap, sizeof *d->b->inputs))
		return out_of_memory(d);
	d->input = &d->b->inputs[d->b->n++];
	*d->input = (struct baseline_input){ .path = NULL };
	for (struct json_walk w = json_walk_again(v); json_walk_next(&w);)
		if (!read_input_member(d, &w, &n))
			return false;
	if (d->input->path == NULL)
		return set_mistake(d, v->p, "an input has no path");
	if (n.tables != (1U << BASELINE_TABLES) - 1)
		return set_mistake(d, v->p,
		                   "an input lacks one of spans, async_spans, instants and counters");
	d->input->ns = n.timed[0] && n.timed[1] ? (double)(n.times[1] - n.times[0]) : NAN;
	return true;
}

/* Reads the inputs of a valid document. */
static bool read_inputs(struct baseline_draft *d, const struct json_token *document)
{
	for (struct json_walk w = json_walk_again(document); json_walk_next(&w);) {
		if (!json_walk_is(&w, "inputs") || w.value.kind != JSON_ARRAY)
			continue;
		for (struct json_walk inputs = json_walk_again(&w.value); json_walk_next(&inputs);)
			if (!read_input(d, &inputs.value))
				return false;
	}
	return true;
}

static void report_mistake(struct findings *findings, struct slice text, const char *at, const char *what,
                           const char *wrong)
{
	struct finding_place place = { .offset = (uint64_t)(at - text.p), .line = 1, .column = 1 };

	for (const char *p = text.p; p < at; p++) {
		place.column = *p == '\n' ? 1 : place.column + 1;
		place.line += *p == '\n';
	}
	finding_add_line(findings, &policy_rules[POLICY_RULE_BAD_BASELINE], place, "%s%s", what, wrong);
}

static struct policy_baseline *parse_report(struct slice text, struct findings *findings, bool *no_memory)
{
	struct policy_baseline *const b = calloc(1, sizeof *b);
	struct baseline_draft d = { .b = b };
	size_t at = 0;

	*no_memory = b == NULL;
	if (b == NULL)
		return NULL;
	const char *const fault = json_document_fault(text.p, text.n, JSON_MAX_DEPTH, &at);
	const char *const end = text.p + text.n, *const p = json_skip_blanks(text.p, end);
	if (fault != NULL)
		set_mistake(&d, text.p + at, fault);
	else if (*p == '{')
		(void)read_inputs(&d, &(struct json_token){ p, end, JSON_OBJECT });
	if (d.wrong == NULL && b->n == 0)
		set_mistake(&d, text.p, "it has no inputs; tracetool stats --format json writes such a file");
	b->failed |= b->arena.failed;
	*no_memory = b->failed;
	if (d.wrong != NULL && !b->failed)
		report_mistake(findings, text, d.at,
		               fault != NULL ? "the file is not JSON from here on: " : "", d.wrong);
	if (d.wrong == NULL && !b->failed)
		return b;
	baseline_free(b);
	return NULL;
}

struct policy_baseline *baseline_read(const char *folder, const char *path, struct findings *findings,
                                      bool *no_memory)
{
	struct policy_baseline *b = NULL;
	char *text;
	size_t n;

	*no_memory = false;
	if (folder != NULL
	        ? !yaml_read_below(folder, path, BASELINE_MAX_BYTES, policy_rules, findings, &text, &n)
	        : !yaml_read(path, BASELINE_MAX_BYTES, policy_rules, findings, &text, &n))
		return NULL;
	b = parse_report(slice_of(text, n), findings, no_memory);
	free(text);
	return b;
}

void baseline_free(struct policy_baseline *b)
{
	while (b != NULL) {
		struct policy_baseline *const next = b->next;
		for (uint32_t i = 0; i < b->n; i++) {
			tabletext_free(&b->inputs[i].index);
			free(b->inputs[i].rows);
		}
		free(b->inputs);
		arena_free(&b->arena);
		free(b);
		b = next;
	}
}

void baseline_add(struct policy_baseline **list, struct policy_baseline *further)
{
	while (*list != NULL)
		list = &(*list)->next;
	*list = further;
}

/* ---- lookup ---- */

/* Skips slashes and "." parts before a part of a path. */
static const char *next_part(const char *p)
{
	while (p[0] == '/' || (p[0] == '.' && p[1] == '/'))
		p++;
	return p;
}

/* Whether the paths are the same but for "." parts and repeated slashes. */
static bool same_path(const char *a, const char *b)
{
	if ((*a == '/') != (*b == '/'))
		return false;
	for (a = next_part(a), b = next_part(b); *a == *b && *a != '\0';) {
		const bool ends = *a == '/';
		a = ends ? next_part(a) : a + 1;
		b = ends ? next_part(b) : b + 1;
	}
	return *a == *b;
}

const struct baseline_input *baseline_input(const struct policy_baseline *b, const char *path)
{
	const struct baseline_input *found = NULL;
	uint32_t n = 0;

	if (b->n == 1)
		return &b->inputs[0];
	for (uint32_t i = 0; i < b->n; i++)
		if (same_path(b->inputs[i].path, path))
			return &b->inputs[i];
	for (uint32_t i = 0; i < b->n; i++)
		if (strcmp(path_name(b->inputs[i].path), path_name(path)) == 0) {
			found = &b->inputs[i];
			n++;
		}
	return n == 1 ? found : NULL;
}

const struct policy_baseline *baseline_next(const struct policy_baseline *b)
{
	return b->next;
}

bool baseline_value(const struct baseline_input *in, enum baseline_table table, struct slice name,
                    struct slice category, const struct policy_budget *budget, struct baseline_values *v)
{
	char space[1024];
	struct text key = text_start(space, sizeof space);

	row_key(&key, table, name, category);
	const uint32_t i = key.failed ? TABLE_NONE : tabletext_get(&in->index, slice_of(key.p, key.n));
	text_free(&key);
	if (i == TABLE_NONE)
		return false;
	const struct baseline_row *const row = &in->rows[i];
	*v = (struct baseline_values){ NAN, row->values[STATISTIC_COUNT], row->values[STATISTIC_SUM] };
	if (budget->statistic == STATISTIC_RATE)
		v->value = v->count * 1e9 / in->ns;
	else if (budget->statistic < STATISTIC_RATE)
		v->value = row->values[budget->statistic];
	if (budget->statistic == STATISTIC_QUANTILE && row->more != NULL)
		for (size_t k = 0; k < SPAN_COLUMNS_MAX; k++)
			if (row->more[k].quantile == budget->quantile)
				v->value = row->more[k].value;
	return isfinite(v->value);
}
