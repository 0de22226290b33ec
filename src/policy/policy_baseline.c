#include "policy/policy_baseline.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/table.h"
#include "check/input_rules.h"
#include "check/policy_rules.h"
#include "yaml/yaml_file.h"

/* The numbers of a name; those that the report lacks are NaN. */
struct baseline_row {
	double values[STATISTIC_COUNT + 1];
};

struct baseline_input {
	const char *path;
	double seconds;         /* from the first time to the last; NaN: without events */
	struct tabletext index; /* table, name, NUL, category -> rows[] */
	struct baseline_row *rows;
	uint32_t nrows, cap;
};

struct policy_baseline {
	struct arena arena;
	struct baseline_input *inputs;
	uint32_t n;
	bool failed; /* memory ran out */
};

static const char *const tables[BASELINE_TABLES] = { "spans", "async_spans", "instants", "counters" };

/* ---- reading ---- */

static double
number(const cJSON *object, const char *key)
{
	const cJSON *const v = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(v) && isfinite(v->valuedouble) && v->valuedouble >= 0 ? v->valuedouble : NAN;
}

static const char *
text_of(const cJSON *object, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

/* "0name\0category" */
static struct slice
key_of(struct arena *a, enum baseline_table table, struct slice name, struct slice category)
{
	char *const p = arena_alloc(a, (size_t)name.n + category.n + 2);

	if (p == NULL)
		return (struct slice){ .p = NULL };
	p[0] = (char)('0' + (int)table);
	if (name.n > 0)
		memcpy(p + 1, name.p, name.n);
	p[1 + name.n] = '\0';
	if (category.n > 0)
		memcpy(p + 2 + name.n, category.p, category.n);
	return slice_of(p, (size_t)name.n + category.n + 2);
}

static void
fill_row(struct baseline_row *row, const cJSON *of)
{
	static const char *const keys[] = { "p50", "p90", "p99", "max", "sum", "mean" };
	const cJSON *const durations = cJSON_GetObjectItemCaseSensitive(of, "dur_ns");

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		row->values[STATISTIC_P50 + i] = number(durations, keys[i]);
	row->values[STATISTIC_SELF] = number(of, "self_ns");
	row->values[STATISTIC_COUNT] = number(of, "count");
}

/* false: it is no row, or memory is out. */
static bool
add_row(struct policy_baseline *b, struct baseline_input *in, enum baseline_table table, const cJSON *of)
{
	const char *const name = text_of(of, "name"), *const category = text_of(of, "category");

	if (name == NULL)
		return false;
	const struct slice key =
	    key_of(&b->arena, table, slice_str(name), slice_str(category != NULL ? category : ""));
	if (key.p == NULL || !array_room(&in->rows, in->nrows, &in->cap, sizeof *in->rows) ||
	    !tabletext_put(&in->index, key, in->nrows)) {
		b->failed = true;
		return false;
	}
	fill_row(&in->rows[in->nrows++], of);
	return true;
}

/* What is wrong with it; NULL: nothing, or memory is out. */
static const char *
add_input(struct policy_baseline *b, const cJSON *of)
{
	struct baseline_input *const in = &b->inputs[b->n++];
	const char *const path = text_of(of, "path");

	if (path == NULL)
		return "an input has no path";
	in->path = arena_copy(&b->arena, slice_str(path)).p;
	in->seconds = (number(of, "last_ns") - number(of, "first_ns")) / 1e9;
	for (int t = 0; t < BASELINE_TABLES; t++) {
		const cJSON *const list = cJSON_GetObjectItemCaseSensitive(of, tables[t]), *row;
		if (!cJSON_IsArray(list))
			return "an input lacks one of spans, async_spans, instants and counters";
		cJSON_ArrayForEach(row, list)
		{
			if (!add_row(b, in, (enum baseline_table)t, row))
				return b->failed ? NULL : "a row has no name";
		}
	}
	return NULL;
}

static const char *
add_inputs(struct policy_baseline *b, const cJSON *doc)
{
	const cJSON *const list = cJSON_GetObjectItemCaseSensitive(doc, "inputs"), *input;
	const char *wrong = NULL;

	if (!cJSON_IsArray(list) || list->child == NULL)
		return "it has no inputs; tracetool stats --format json writes such a file";
	b->inputs = calloc((size_t)cJSON_GetArraySize(list), sizeof *b->inputs);
	b->failed = b->inputs == NULL;
	cJSON_ArrayForEach(input, list)
	{
		if (wrong == NULL && !b->failed)
			wrong = add_input(b, input);
	}
	b->failed |= b->arena.failed;
	return wrong;
}

static void
say_bad(struct findings *findings, struct slice text, const char *at, const char *wrong)
{
	uint64_t line = 1;
	const char *begin = text.p;

	for (const char *p = text.p; p < at; p++)
		if (*p == '\n') {
			line++;
			begin = p + 1;
		}
	finding_add_line(findings, &policy_rules[POLICY_RULE_BAD_BASELINE], (uint64_t)(at - text.p), line,
	                 (uint64_t)(at - begin) + 1, 0, "%s", wrong);
}

static struct policy_baseline *
parse(struct slice text, struct findings *findings, bool *no_memory)
{
	struct policy_baseline *const b = calloc(1, sizeof *b);
	const char *end = NULL, *wrong = NULL;

	*no_memory = b == NULL;
	if (b == NULL)
		return NULL;
	errno = 0;
	cJSON *const doc = cJSON_ParseWithLengthOpts(text.p, text.n, &end, 0);
	if (doc == NULL && errno == ENOMEM)
		b->failed = true;
	else if (doc == NULL)
		say_bad(findings, text, end != NULL ? end : text.p,
		        wrong = "the file is no JSON from here on");
	else if ((wrong = add_inputs(b, doc)) != NULL)
		say_bad(findings, text, text.p, wrong);
	cJSON_Delete(doc);
	*no_memory = b->failed;
	if (wrong == NULL && !b->failed)
		return b;
	baseline_free(b);
	return NULL;
}

struct policy_baseline *
baseline_read(const char *path, struct findings *findings, bool *no_memory)
{
	struct policy_baseline *b = NULL;
	char *text;
	size_t n;

	*no_memory = false;
	if (!yaml_read(path, BASELINE_MAX_BYTES, policy_rules, findings, &text, &n))
		return NULL;
	b = parse(slice_of(text, n), findings, no_memory);
	free(text);
	return b;
}

void
baseline_free(struct policy_baseline *b)
{
	if (b == NULL)
		return;
	for (uint32_t i = 0; i < b->n; i++) {
		tabletext_free(&b->inputs[i].index);
		free(b->inputs[i].rows);
	}
	free(b->inputs);
	arena_free(&b->arena);
	free(b);
}

/* ---- asking ---- */

static const char *
file_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

const struct baseline_input *
baseline_input(const struct policy_baseline *b, const char *path)
{
	const struct baseline_input *found = NULL;
	uint32_t n = 0;

	if (b->n == 1)
		return &b->inputs[0];
	for (uint32_t i = 0; i < b->n; i++)
		if (strcmp(b->inputs[i].path, path) == 0)
			return &b->inputs[i];
	for (uint32_t i = 0; i < b->n; i++)
		if (strcmp(file_name(b->inputs[i].path), file_name(path)) == 0) {
			found = &b->inputs[i];
			n++;
		}
	return n == 1 ? found : NULL;
}

bool
baseline_value(const struct baseline_input *in, enum baseline_table table, struct slice name,
               struct slice category, enum policy_statistic statistic, double *value)
{
	struct arena room = { .head = NULL };
	const struct slice key = key_of(&room, table, name, category);
	const uint32_t i = key.p != NULL ? tabletext_get(&in->index, key) : TABLE_NONE;

	arena_free(&room);
	if (i == TABLE_NONE)
		return false;
	*value = statistic == STATISTIC_RATE ? in->rows[i].values[STATISTIC_COUNT] / in->seconds
	                                     : in->rows[i].values[statistic];
	return isfinite(*value);
}
