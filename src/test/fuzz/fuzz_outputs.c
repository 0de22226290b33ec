/*
 * Outputs of an input: conversions to every format, which must be valid and complete, and the statistics,
 * whose sums must agree with the trace.
 */
#include "test/fuzz/fuzz_pass.h"

#include <inttypes.h>
#include <stdlib.h>

#include "run/write/writing.h"
#include "format/registry.h"
#include "test/fuzz/strict_json.h"
#include "stats/stats.h"

#define TOOL "tracetool of the fuzzer"

#define MUST(condition, ...)                                                                                 \
	do                                                                                                   \
		if (!(condition))                                                                            \
			return fuzz_broken(c->result, __VA_ARGS__);                                          \
	while (0)

/* ---- converting ---- */

struct conversion {
	struct fuzz_result *result;
	const struct format *to;
	struct writing writing;
	struct text text;
	struct text records; /* bytes of raw events */
	uint64_t events;     /* that were written, also those that a record has besides its own */
	bool lossy;
};

static bool add_output(void *ctx, const char *file, const char *p, size_t n)
{
	struct conversion *const c = ctx;

	(void)file;
	text_add(&c->text, p, n);
	return !c->text.failed;
}

static bool conversion_begin(void *ctx, struct pipeline *f)
{
	static const struct writing_options options = { .tool = TOOL };
	struct conversion *const c = ctx;

	MUST(writing_begin(&c->writing, f, c->to, (struct writing_output){ add_output, c }, &options),
	     "no memory");
	return true;
}

/* Drops structure from which the interpreter, which these passes lack, would learn facts. */
static void drop_structure(struct batch *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		if (b->events[i].phase == PHASE_STRUCTURE)
			continue;
		b->events[n] = b->events[i];
		if (b->bytes != NULL)
			b->bytes[n] = b->bytes[i];
		n++;
	}
	b->n = n;
}

static bool conversion_take(void *ctx, struct pipeline *f, struct batch *b)
{
	struct conversion *const c = ctx;

	(void)f;
	if (!c->writing.run.raw && (c->to->writer->want & WANT_STRUCTURE) == 0)
		drop_structure(b);
	for (uint32_t i = 0; c->writing.run.raw && b->bytes != NULL && i < b->n; i++)
		text_slice(&c->records, b->bytes[i]);
	for (uint32_t i = 0; i < b->n; i++)
		c->events += b->events[i].phase != PHASE_STRUCTURE;
	MUST(writing_put(&c->writing, b) && !c->records.failed, "no memory");
	return true;
}

/* Returns true for the line of an end, of a span of two lines. */
static bool is_span_end(const char *p, const char *end)
{
	static const char cat[] = ",\"cat\":", phase[] = ",\"ph\":\"e\"";

	if ((size_t)(end - p) < sizeof cat || memcmp(p, cat, sizeof cat - 1) != 0)
		return false;
	p = strict_json_string_end(p + sizeof cat - 1, end);
	return p != NULL && (size_t)(end - p) >= sizeof phase && memcmp(p, phase, sizeof phase - 1) == 0;
}

/* Counts the lines with an event.  Lines that the writer adds have their phase directly after the name. */
static uint64_t count_event_lines(struct slice text)
{
	static const char begin[] = "{\"name\":", own[] = ",\"ph\":";
	const char *const end = text.p + text.n;
	uint64_t n = 0;

	for (const char *line = text.p; line < end;) {
		const char *const stop = memchr(line, '\n', (size_t)(end - line));
		const char *const line_end = stop != NULL ? stop : end;
		if ((size_t)(line_end - line) > sizeof begin && memcmp(line, begin, sizeof begin - 1) == 0) {
			const char *const p = strict_json_string_end(line + sizeof begin - 1, line_end);
			n += p != NULL && (size_t)(line_end - p) > sizeof own &&
			     memcmp(p, own, sizeof own - 1) != 0 && !is_span_end(p, line_end);
		}
		line = stop != NULL ? stop + 1 : end;
	}
	return n;
}

/* Checks that an output whose format has a reader is valid. */
static bool reads_back(const struct conversion *c)
{
	struct fuzz_pass pass = { .result = c->result, .p = c->text.p, .n = c->text.n, .from = c->to };

	if (c->to->reader == NULL || c->to->writer->shape == WRITER_FOLDER)
		return true;
	MUST(fuzz_pass_run(&pass), "%s: the output cannot be read back", c->to->name);
	MUST(pass.outcome.status == 0, "%s: the output has faults", c->to->name);
	return true;
}

static bool conversion_end(void *ctx, struct pipeline *f)
{
	struct conversion *const c = ctx;
	const struct text *const t = &c->text;
	const struct ledger *const lost = &c->writing.total;
	const struct run_report run = pipeline_report(f);
	size_t at;

	MUST(writing_end(&c->writing), "no memory");
	c->lossy = lost->n > 0;
	for (size_t i = 0; i < lost->n; i++)
		MUST(lost->rows[i].count > 0 &&
		         (lost->rows[i].first_offset <= run.bytes ||
		          lost->rows[i].first_offset == LOSS_NOWHERE || run.trace->origin != NULL),
		     "loss %s: %" PRIu64 " from offset %" PRIu64, lost->rows[i].loss->id, lost->rows[i].count,
		     lost->rows[i].first_offset);
	if (strcmp(c->to->suffixes[0], ".json") != 0)
		return c->writing.run.raw || reads_back(c);
	const char *const why = strict_json_fault(t->p, t->n, &at);
	MUST(why == NULL, "%s: byte %zu of the output: %s", c->to->name, at, why);
	const uint64_t lines = count_event_lines(slice_of(t->p, t->n));
	MUST(lines == c->events, "%s: %" PRIu64 " lines for %" PRIu64 " events", c->to->name, lines,
	     c->events);
	return true;
}

/* Checks raw records in the output: all that were read, byte for byte unless times were rebased or losses are
 * declared; of a valid input, all bytes. */
static bool raw_holds(const struct conversion *c, const struct fuzz_pass *pass)
{
	const struct text *const t = &c->text, *const records = &c->records;

	MUST(t->n == records->n || c->lossy || pass->rebase, "%s: %zu raw bytes of %zu that were read",
	     c->to->name, t->n, records->n); /* rebased times in text have other lengths */
	MUST(pass->rebase || c->lossy || t->n == 0 || memcmp(t->p, records->p, t->n) == 0,
	     "%s: raw bytes were changed", c->to->name);
	MUST(pass->outcome.status != 0 ||
	         (records->n == pass->n && (pass->n == 0 || memcmp(records->p, pass->p, pass->n) == 0)),
	     "%s: the records are not all bytes of the input", c->to->name);
	return true;
}

static bool convert_to(struct fuzz_pass pass, const struct format *to, bool raw,
                       const struct fuzz_outcome *want)
{
	struct conversion conversion = { .result = pass.result, .to = to }, *const c = &conversion;

	pass.want = WANT_TIMES | format_output_wants(to);
	pass.raw_from = raw ? to : NULL;
	pass.lanes = to->writer->nested;
	pass.begin = conversion_begin;
	pass.take = conversion_take;
	pass.end = conversion_end;
	pass.ctx = c;
	const bool ok = fuzz_pass_run(&pass) && (!raw || raw_holds(c, &pass));
	writing_free(&c->writing);
	text_free(&c->text);
	text_free(&c->records);
	if (!ok)
		return false;
	MUST(pass.outcome.findings == want->findings && pass.outcome.status == want->status,
	     "convert finds what validate does not");
	return true;
}

bool fuzz_convert(struct fuzz_pass pass, const struct fuzz_outcome *want)
{
	for (const struct format *const *f = formats; *f != NULL; f++) {
		const struct writer_ops *const w = (*f)->writer;
		const bool raw = want->format == *f && (*f)->copier != NULL;
		if (pass.few && ((size_t)(f - formats) + pass.n) % FUZZ_FEW_OF != 0)
			continue;
		if ((w != NULL && !convert_to(pass, *f, false, want)) ||
		    (raw && !convert_to(pass, *f, true, want)))
			return false;
	}
	return true;
}

/* ---- statistics ---- */

struct counting {
	struct fuzz_result *result;
	struct stats stats;
	bool ready;
	struct text text;
};

static bool counting_begin(void *ctx, struct pipeline *f)
{
	struct counting *const c = ctx;

	(void)f;
	stats_init(&c->stats);
	c->ready = true;
	return true;
}

static bool counting_take(void *ctx, struct pipeline *f, struct batch *b)
{
	struct counting *const c = ctx;

	(void)f;
	const bool ok = stats_batch(&c->stats, b);
	batch_release(b);
	MUST(ok, "no memory");
	return true;
}

/* Checks one table, and adds its events to *all. */
static bool tally_holds(struct counting *c, const struct tally *t, uint64_t *all)
{
	struct tally_row *rows;
	size_t n;

	MUST(stats_tally_rows(t, &rows, &n), "no memory");
	for (size_t i = 0; i < n; i++)
		*all += rows[i].count;
	for (size_t i = 1; i < n; i++)
		if (rows[i].count > rows[i - 1].count)
			fuzz_broken(c->result, "stats: rows %zu and %zu are in the wrong order", i - 1, i);
	free(rows);
	return c->result->fault[0] == '\0';
}

static bool group_holds(struct counting *c, const struct span_row *r)
{
	const struct span_group *const g = r->group;

	MUST(g->count > 0 && g->durations.min <= g->durations.max && total_of(g->sum) >= g->durations.max,
	     "stats: a group of %" PRIu64 " spans of %" PRIu64 " to %" PRIu64 " ns", g->count,
	     g->durations.min, g->durations.max);
	MUST(g->durations.min <= span_mean(g) && span_mean(g) <= g->durations.max,
	     "stats: the mean %" PRIu64 " of %" PRIu64 " to %" PRIu64, span_mean(g), g->durations.min,
	     g->durations.max);
	MUST(r->self <= total_of(g->sum) && r->total <= total_of(g->sum),
	     "stats: more time of their own, or together, than each for itself");
	MUST(r->recursive < g->count, "stats: each span lies in another of its name");
	return true;
}

static bool sums_hold(struct counting *c, uint64_t events)
{
	struct span_row *rows;
	uint64_t all = 0;
	size_t n;
	bool ok = true;

	MUST(stats_end(&c->stats), "no memory");
	MUST(stats_span_rows(&c->stats, &c->stats.spans, NULL, &rows, &n), "no memory");
	for (size_t i = 0; i < n && ok; i++) {
		ok = group_holds(c, &rows[i]);
		all += rows[i].group->count;
	}
	free(rows);
	if (!ok || !tally_holds(c, &c->stats.instants, &all) || !tally_holds(c, &c->stats.counters, &all))
		return false;
	/* a record may have several events */
	MUST(c->stats.events >= events && all <= c->stats.events,
	     "stats: %" PRIu64 " events, %" PRIu64 " of them in tables, of %" PRIu64, c->stats.events, all,
	     events);
	MUST(events == 0 || c->stats.first_ns <= c->stats.last_ns,
	     "stats: from %" PRIu64 " to %" PRIu64 " ns", c->stats.first_ns, c->stats.last_ns);
	return true;
}

static bool counting_end(void *ctx, struct pipeline *f)
{
	struct counting *const c = ctx;
	struct span_columns columns;
	const struct stats_view view = { .stats = &c->stats, .columns = &columns };
	size_t at;

	if (!sums_hold(c, pipeline_trace(f)->events))
		return false;
	span_columns_init(&columns, NULL);
	stats_describe(&c->stats, "memory", 1, pipeline_trace(f), NULL);
	MUST(stats_text(&c->text, &view), "no memory");
	text_clear(&c->text);
	MUST(stats_csv_input(&c->text, &view, true), "no memory");
	text_clear(&c->text);
	MUST(stats_json_input(&c->text, &view, true), "no memory");
	const char *const why = strict_json_fault(c->text.p, c->text.n, &at);
	MUST(why == NULL, "stats: byte %zu of the report: %s", at, why);
	return true;
}

bool fuzz_stats(struct fuzz_pass pass, const struct fuzz_outcome *want)
{
	struct counting counting = { .result = pass.result }, *const c = &counting;

	pass.want = WANT_TIMES;
	pass.begin = counting_begin;
	pass.take = counting_take;
	pass.end = counting_end;
	pass.ctx = c;
	const bool ok = fuzz_pass_run(&pass);
	if (c->ready)
		stats_free(&c->stats);
	text_free(&c->text);
	if (!ok)
		return false;
	MUST(pass.outcome.findings == want->findings && pass.outcome.status == want->status,
	     "stats finds what validate does not");
	return true;
}
