/* The columns of span tables: their names, their values, and the order of rows. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/match.h"
#include "base/numbers.h"
#include "stats/stats.h"

/* Columns by the names that --columns and --sort take. */
static const struct span_name {
	const char *name;
	enum span_column what;
} names[] = {
	{ "count", SPAN_COUNT },        { "total", SPAN_TOTAL },     { "self", SPAN_SELF },
	{ "mean", SPAN_MEAN },          { "min", SPAN_MIN },         { "max", SPAN_MAX },
	{ "share", SPAN_SHARE },        { "busy", SPAN_BUSY },       { "first", SPAN_FIRST },
	{ "last", SPAN_LAST },          { "sum", SPAN_FIELD_SUM },   { "rate", SPAN_RATE },
	{ "negative", SPAN_NEGATIVE },  { "waiting", SPAN_WAITING }, { "bytes", SPAN_BYTES },
	{ "bytes/s", SPAN_BYTES_RATE },
};

#define NAMES COUNT_OF(names)
#define NAMES_TEXT 256 /* of list_names() */

/* ---- lists ---- */

/* drop: the rank at which a column is left out of text that is too wide, unless it was asked for. */
static void add(struct span_columns *c, enum span_column what, const char *head, uint8_t drop)
{
	struct span_column_row *const row = &c->list[c->n++];
	const char *const sum_of = c->sum_of != NULL ? c->sum_of : "";

	*row = (struct span_column_row){ .what = what, .drop = drop };
	if (what == SPAN_FIELD_SUM)
		snprintf(row->head, sizeof row->head, "%s(%.*s)", head, GROUP_KEY_MAX - 8, sum_of);
	else if (what == SPAN_RATE)
		snprintf(row->head, sizeof row->head, "%.*s/s", GROUP_KEY_MAX - 4, sum_of);
	else
		snprintf(row->head, sizeof row->head, "%s", head);
}

static void add_quantile(struct span_columns *c, uint32_t quantile, uint8_t drop)
{
	struct span_column_row *const row = &c->list[c->n++];
	char digits[8];

	*row = (struct span_column_row){ .what = SPAN_QUANTILE, .number = quantile, .drop = drop };
	snprintf(digits, sizeof digits, "%04" PRIu32, quantile % 10000);
	size_t n = 4;
	while (n > 0 && digits[n - 1] == '0')
		n--;
	snprintf(row->head, sizeof row->head, n > 0 ? "p%" PRIu32 ".%.*s" : "p%" PRIu32, quantile / 10000,
	         (int)n, digits);
}

void span_columns_init(struct span_columns *c, const char *sum_of)
{
	*c = (struct span_columns){ .sum_of = sum_of, .sort_by = { .what = SPAN_TOTAL } };
	add(c, SPAN_COUNT, "count", 0);
	add(c, SPAN_TOTAL, "total", 0);
	add(c, SPAN_SELF, "self", 0);
	add(c, SPAN_WAITING, "waiting", 2);
	add(c, SPAN_BYTES, "bytes", 1);
	add(c, SPAN_BYTES_RATE, "bytes/s", 2);
	if (sum_of != NULL) {
		add(c, SPAN_FIELD_SUM, "sum", 0);
		add(c, SPAN_RATE, "rate", 0);
		add(c, SPAN_NEGATIVE, "negative", 0);
	}
	add(c, SPAN_MEAN, "mean", 3);
	add_quantile(c, 500000, 5);
	add_quantile(c, 900000, 4);
	add_quantile(c, 990000, 1);
	add(c, SPAN_MAX, "max", 0);
}

const char *span_decade_head(unsigned i)
{
	static const char *const heads[SPAN_DECADES] = { "<1us",   "<10us", "<100us", "<1ms", "<10ms",
		                                         "<100ms", "<1s",   "<10s",   ">=10s" };

	return heads[i];
}

uint32_t span_percent(const char *p, size_t n)
{
	uint32_t part = 0, unit = 10000;
	bool point = false, digit = false;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '.' && !point && digit) {
			point = true;
		} else if (p[i] < '0' || p[i] > '9' || (point && unit == 1) || part > 1000000) {
			return 0;
		} else if (point) {
			unit /= 10;
			part += (uint32_t)(p[i] - '0') * unit;
		} else {
			part = part * 10 + (uint32_t)(p[i] - '0') * 10000;
			digit = true;
		}
	}
	return part <= 1000000 && (!point || unit < 10000) ? part : 0;
}

/* The names of all columns, for messages. */
static const char *list_names(char *to, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < NAMES && n < size; i++)
		n += (size_t)snprintf(to + n, size - n, "%s, ", names[i].name);
	if (n < size)
		snprintf(to + n, size - n, "p50 or any percentile");
	return to;
}

/* Appends the column most similar to a mistyped one, if there is one. */
static void suggest(char *why, size_t size, const char *name, size_t n)
{
	char typed[65];
	struct nearest near = { .typed = typed };

	snprintf(typed, sizeof typed, "%.*s", n > 64 ? 64 : (int)n, name);
	for (size_t i = 0; i < NAMES; i++)
		nearest_add(&near, names[i].name);
	const size_t used = strlen(why);
	if (near.name != NULL && used < size)
		snprintf(why + used, size - used, "; did you mean %s?", near.name);
}

static bool refuse(char *why, size_t size)
{
	snprintf(why, size, "at most %d columns", SPAN_COLUMNS_MAX);
	return false;
}

/* Returns true if the last column is not in the list before, else writes the reason. */
static bool is_new(const struct span_columns *c, char *why, size_t size)
{
	const struct span_column_row *const last = &c->list[c->n - 1];

	for (unsigned i = 0; i + 1 < c->n; i++)
		if (c->list[i].what == last->what && c->list[i].number == last->number) {
			snprintf(why, size, "%.*s is given twice", GROUP_KEY_MAX, last->head);
			return false;
		}
	return true;
}

/* Appends the column of a name.  Returns false if there is none. */
static bool add_column(struct span_columns *c, const char *name, size_t n)
{
	for (size_t i = 0; i < NAMES; i++)
		if (strlen(names[i].name) == n && memcmp(names[i].name, name, n) == 0) {
			add(c, names[i].what, names[i].name, 0);
			return true;
		}
	const uint32_t part = n > 1 && name[0] == 'p' ? span_percent(name + 1, n - 1) : 0;
	if (part > 0)
		add_quantile(c, part, 0);
	return part > 0;
}

bool span_columns_parse(struct span_columns *c, const char *words, char *why, size_t size)
{
	char list[NAMES_TEXT];

	c->n = 0;
	for (const char *p = words;; p++) {
		const size_t n = strcspn(p, ",");
		if (c->n == SPAN_COLUMNS_MAX)
			return refuse(why, size);
		if (!add_column(c, p, n)) {
			snprintf(why, size, "columns are %s, not \"%.*s\"", list_names(list, sizeof list),
			         n > 64 ? 64 : (int)n, p);
			suggest(why, size, p, n);
			return false;
		}
		const enum span_column what = c->list[c->n - 1].what;
		if ((what == SPAN_FIELD_SUM || what == SPAN_RATE || what == SPAN_NEGATIVE) &&
		    c->sum_of == NULL) {
			snprintf(why, size, "column %.*s needs --sum arg:FIELD", (int)n, p);
			return false;
		}
		if (!is_new(c, why, size))
			return false;
		p += n;
		if (*p == '\0')
			return true;
	}
}

bool span_columns_percentiles(struct span_columns *c, const char *numbers, char *why, size_t size)
{
	struct span_columns all = *c;
	unsigned at = 0;

	/* The new percentiles replace those of the list. */
	c->n = 0;
	while (at < all.n && all.list[at].what != SPAN_QUANTILE)
		c->list[c->n++] = all.list[at++];
	for (const char *p = numbers;; p++) {
		const size_t n = strcspn(p, ",");
		const uint32_t part = span_percent(p, n);
		if (part == 0) {
			snprintf(why, size,
			         "a percentile is more than 0 and at most 100, with at most four decimals, "
			         "not \"%.*s\"",
			         n > 64 ? 64 : (int)n, p);
			return false;
		}
		if (c->n == SPAN_COLUMNS_MAX)
			return refuse(why, size);
		add_quantile(c, part, 0);
		if (!is_new(c, why, size))
			return false;
		p += n;
		if (*p == '\0')
			break;
	}
	for (; at < all.n; at++) {
		if (all.list[at].what == SPAN_QUANTILE)
			continue;
		if (c->n == SPAN_COLUMNS_MAX)
			return refuse(why, size);
		c->list[c->n++] = all.list[at];
	}
	return true;
}

bool span_columns_hist(struct span_columns *c, bool own, char *why, size_t size)
{
	if (!own) {
		c->n = 0;
		add(c, SPAN_COUNT, "count", 0);
		if (c->sum_of != NULL)
			add(c, SPAN_FIELD_SUM, "sum", 0);
	}
	if (c->n + SPAN_DECADES > SPAN_COLUMNS_MAX)
		return refuse(why, size);
	for (unsigned i = 0; i < SPAN_DECADES; i++) {
		add(c, SPAN_DECADE, span_decade_head(i), 0);
		c->list[c->n - 1].number = i;
	}
	if (!own) {
		add_quantile(c, 990000, 1);
		add(c, SPAN_MAX, "max", 0);
	}
	return true;
}

bool span_columns_sort(struct span_columns *c, const struct group_by *by, const char *name, char *why,
                       size_t size)
{
	struct span_columns one = { .n = 0 };
	char list[NAMES_TEXT];

	for (unsigned i = 0; i < group_by_count(by); i++)
		if (strcmp(group_by_key(by, i), name) == 0) {
			c->sort = SPAN_SORT_KEYS + i;
			return true;
		}
	if (!add_column(&one, name, strlen(name))) {
		snprintf(why, size, "rows are sorted by a key or one of %s, not \"%.64s\"",
		         list_names(list, sizeof list), name);
		suggest(why, size, name, strlen(name));
		return false;
	}
	c->sort = 0;
	c->sort_by = one.list[0];
	return true;
}

/* ---- values ---- */

/* Limits a value to 2^126. */
static uint128 saturated(double v)
{
	return (uint128)(v < 0x1p126 ? v : 0x1p126);
}

/* Returns n / ns as a rate per second; 0 if ns is 0. */
static uint128 per_second(uint128 n, uint128 ns)
{
	if (ns == 0)
		return 0;
	return n >> 96 == 0 ? n * 1000000000 / ns : saturated((double)n / ((double)ns / 1e9));
}

#define SUM_FRACTION 20 /* fraction bits of ranks */

static uint128 sum_scaled(const struct span_row *row)
{
	const struct span_sum *const sum = &row->group->field;

	return (total_of(sum->whole) << SUM_FRACTION) + saturated(sum->real * (double)(1U << SUM_FRACTION));
}

void span_column_sum(struct text *t, const struct span_column_row *c, const struct span_row *row, bool exact)
{
	const struct span_sum *const sum = &row->group->field;
	const uint128 whole = total_of(sum->whole);
	const bool rate = c->what == SPAN_RATE;
	char number[DECIMAL_F64_MAX];

	if (!(sum->real > 0)) {
		text_u128(t, rate ? per_second(whole, row->total) : whole);
		return;
	}
	double v = (double)whole + sum->real;
	if (rate)
		v = row->total == 0 ? 0 : v / ((double)row->total / 1e9);
	v = fmin(v, DBL_MAX);
	if (exact)
		text_add(t, number, (size_t)(decimal_f64(number, v) - number));
	else
		text_printf(t, "%.15g", v);
}

uint128 span_column_value(const struct span_column_row *c, const struct stats *s, const struct span_row *row)
{
	const struct span_group *const g = row->group;

	switch (c->what) {
	case SPAN_COUNT:
		return g->count;
	case SPAN_TOTAL:
		return row->total;
	case SPAN_SELF:
		return row->self;
	case SPAN_FIELD_SUM:
		return sum_scaled(row);
	case SPAN_RATE:
		return per_second(sum_scaled(row), row->total);
	case SPAN_BYTES:
		return total_of(g->bytes);
	case SPAN_BYTES_RATE:
		return per_second(total_of(g->bytes), row->total);
	case SPAN_NEGATIVE:
		return g->field.negative;
	case SPAN_MEAN:
		return span_mean(g);
	case SPAN_MIN:
		return g->durations.min;
	case SPAN_QUANTILE:
		return histogram_quantile(&g->durations, &s->pool, c->number);
	case SPAN_MAX:
		return g->durations.max;
	case SPAN_SHARE:
		return millionths(row->total, s->last_ns - s->first_ns);
	case SPAN_WAITING:
		return row->waiting;
	case SPAN_BUSY:
		return millionths(row->self - row->waiting, s->busy);
	case SPAN_FIRST:
		return g->first_ns;
	case SPAN_LAST:
		return g->last_ns;
	case SPAN_DECADE:
		return row->decades != NULL ? row->decades[c->number] : 0;
	}
	return 0;
}

uint128 span_column_rank(const struct span_column_row *c, const struct stats *s, const struct span_row *row)
{
	switch (c->what) {
	case SPAN_MEAN:
		return (total_of(row->group->sum) << SUM_FRACTION) / row->group->count;
	case SPAN_BYTES_RATE:
		return per_second(total_of(row->group->bytes) << SUM_FRACTION, row->total);
	case SPAN_SHARE:
		return row->total;
	case SPAN_BUSY:
		return row->self - row->waiting;
	default:
		return span_column_value(c, s, row);
	}
}
