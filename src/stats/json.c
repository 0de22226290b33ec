/* The report for programs.  All integers are exact, however large. */
#include <stdlib.h>

#include "base/numbers.h"
#include "output/text_json.h"
#include "output/text_units.h"
#include "stats/stats.h"

bool stats_json_begin(struct text *t, const char *tool)
{
	text_str(t, "{\"tool\":");
	text_json_string(t, slice_str(tool));
	text_str(t, ",\"inputs\":[");
	return !t->failed;
}

bool stats_json_end(struct text *t)
{
	text_str(t, "\n]}\n");
	return !t->failed;
}

static void put_u64(struct text *t, const char *before, uint64_t v)
{
	text_str(t, before);
	text_u64(t, v);
}

static void put_string(struct text *t, const char *before, struct slice s)
{
	text_str(t, before);
	text_json_string(t, s);
}

static void put_u64_or_null(struct text *t, const char *before, uint64_t v, bool known)
{
	text_str(t, before);
	if (known)
		text_u64(t, v);
	else
		text_str(t, "null");
}

/* The line that an element of a list stands on. */
static void put_line(struct text *t, size_t i)
{
	text_str(t, i == 0 ? "\n   " : ",\n   ");
}

static void put_head(struct text *t, const struct stats_view *v)
{
	const struct trace *trace = v->trace;
	const struct stats *s = v->stats;

	put_string(t, " {\"path\":", slice_str(v->path));
	put_string(t, ",\"format\":", slice_str(trace->format != NULL ? trace->format : ""));
	put_string(t, ",\"dialect\":", slice_str(trace->dialect != NULL ? trace->dialect : ""));
	put_u64(t, ",\"bytes\":", v->bytes);
	put_u64(t, ",\"records\":", trace->records);
	put_u64(t, ",\"events\":", v->found != NULL ? v->found->events - v->found->left_out : trace->events);
	put_u64_or_null(t, ",\n  \"first_ns\":", s->first_ns, s->events > 0);
	put_u64_or_null(t, ",\"last_ns\":", s->last_ns, s->events > 0);
	put_u64_or_null(t, ",\"epoch_ns\":", trace->epoch_ns, trace->epoch_known);
	put_u64(t, ",\"tracks\":", s->tracks);
	put_u64(t, ",\"self_inexact\":", s->times.inexact);
}

static void put_classes(struct text *t, const struct trace *trace)
{
	size_t n = 0;

	text_str(t, ",\n  \"classes\":[");
	for (uint32_t i = 0; i < trace->nclasses; i++) {
		const struct class *c = trace->classes[i];
		const uint64_t records = c->first == c ? trace_class_records(c) : 0;
		if (records == 0)
			continue;
		put_line(t, n++);
		put_string(t, "{\"name\":", c->name);
		put_u64(t, ",\"count\":", records);
		text_char(t, '}');
	}
	text_char(t, ']');
}

static void put_span(struct text *t, const struct span_row *row, const struct histogram_pool *pool, bool self)
{
	const struct span_group *g = row->group;

	put_string(t, "{\"name\":", row->name);
	put_string(t, ",\"category\":", row->category);
	put_u64(t, ",\"count\":", g->count);
	text_str(t, ",\"dur_ns\":{\"sum\":");
	text_u128(t, total_of(g->sum));
	put_u64(t, ",\"min\":", g->durations.min);
	put_u64(t, ",\"max\":", g->durations.max);
	put_u64(t, ",\"mean\":", span_mean(g));
	put_u64(t, ",\"p50\":", histogram_percentile(&g->durations, pool, 50));
	put_u64(t, ",\"p90\":", histogram_percentile(&g->durations, pool, 90));
	put_u64(t, ",\"p99\":", histogram_percentile(&g->durations, pool, 99));
	text_char(t, '}');
	if (self) {
		text_str(t, ",\"self_ns\":");
		text_u128(t, row->self);
		text_str(t, ",\"total_ns\":");
		text_u128(t, row->total);
		if (row->recursive > 0)
			put_u64(t, ",\"recursive\":", row->recursive);
	}
	text_char(t, '}');
}

static bool put_spans(struct text *t, const char *before, const struct stats *s,
                      const struct span_table *table)
{
	struct span_row *rows;
	size_t n;

	if (!stats_span_rows(s, table, &rows, &n))
		return false;
	text_str(t, before);
	for (size_t i = 0; i < n; i++) {
		put_line(t, i);
		put_span(t, &rows[i], &s->pool, table != &s->async);
	}
	text_char(t, ']');
	free(rows);
	return true;
}

static bool put_tally(struct text *t, const char *before, const struct tally *tally)
{
	struct tally_row *rows;
	size_t n;

	if (!stats_tally_rows(tally, &rows, &n))
		return false;
	text_str(t, before);
	for (size_t i = 0; i < n; i++) {
		put_line(t, i);
		put_string(t, "{\"name\":", rows[i].name);
		put_u64(t, ",\"count\":", rows[i].count);
		text_char(t, '}');
	}
	text_char(t, ']');
	free(rows);
	return true;
}

static void put_number(struct text *t, const char *before, double v)
{
	char room[DECIMAL_F64_MAX];

	text_str(t, before);
	text_add(t, room, (size_t)(decimal_f64(room, v) - room));
}

static void put_series(struct text *t, const struct series_row *row)
{
	const struct series *const s = row->series;

	put_string(t, "{\"name\":", row->name);
	put_u64(t, ",\"count\":", s->count);
	put_number(t, ",\"first\":", s->first);
	put_number(t, ",\"last\":", s->last);
	put_number(t, ",\"min\":", s->min);
	put_number(t, ",\"max\":", s->max);
	put_number(t, ",\"mean\":", series_mean(s));
	put_number(t, ",\"time_mean\":", series_time_mean(s));
	put_number(t, ",\"p50\":", series_percentile(s, 50));
	put_number(t, ",\"p99\":", series_percentile(s, 99));
	text_char(t, '}');
}

static bool put_counters(struct text *t, const struct stats *s)
{
	struct counter_row *rows;
	struct series_row *list;
	size_t n;

	if (!stats_counter_rows(s, &rows, &n, &list))
		return false;
	text_str(t, ",\n  \"counters\":[");
	for (size_t i = 0; i < n; i++) {
		put_line(t, i);
		put_string(t, "{\"name\":", rows[i].name);
		put_string(t, ",\"category\":", rows[i].category);
		put_u64(t, ",\"count\":", rows[i].count);
		text_str(t, ",\"series\":[");
		for (size_t k = 0; k < rows[i].nseries; k++) {
			text_str(t, k > 0 ? ",\n     " : "\n     ");
			put_series(t, &rows[i].series[k]);
		}
		text_str(t, "]}");
	}
	text_char(t, ']');
	free(rows);
	free(list);
	return true;
}

bool stats_json_input(struct text *t, const struct stats_view *v, bool first)
{
	text_str(t, first ? "\n" : ",\n");
	put_head(t, v);
	if (v->found == NULL)
		put_classes(t, v->trace);
	if (!put_spans(t, ",\n  \"spans\":[", v->stats, &v->stats->spans) ||
	    !put_spans(t, ",\n  \"async_spans\":[", v->stats, &v->stats->async) ||
	    !put_tally(t, ",\n  \"instants\":[", &v->stats->instants) || !put_counters(t, v->stats))
		return false;
	text_char(t, '}');
	return !t->failed;
}
