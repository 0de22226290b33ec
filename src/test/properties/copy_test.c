/*
 * Properties of writers that copy records of their own format: a copy is identical to the file; --rebase
 * changes only times; a selection is a valid file with the selected events and the records that they need.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/registry.h"
#include "run/pipeline.h"
#include "cmd/test/cli_test_util.h"
#include "input/open.h"
#include "test/properties/rows_test.h"

static char *folder; /* for temporary files */

static const char *file_of(const struct sample *s, char path[600])
{
	snprintf(path, 600, "%s/memory%s", folder, s->format->suffixes[0]);
	cr_assert(write_whole(path, s->p, s->n));
	return path;
}

static bool is_text(const struct copied *c, const char *p, size_t n)
{
	return c->text != NULL && c->text->n == n && (n == 0 || memcmp(c->text->p, p, n) == 0);
}

static void each_copied(unsigned of, void (*f)(const struct sample *s))
{
	folder = make_folder();
	each_sample(of, f);
	remove_folder(folder);
}

/* ---- copies ---- */

static void expect_copy(const struct sample *s)
{
	static const struct {
		size_t step; /* 0: from a file */
		unsigned threads;
		bool raw;
		const char *way;
	} ways[] = {
		{ 0, 1, false, "of a file" },          { 0, 3, false, "on three threads" },
		{ 0, 1, true, "with --raw" },          { 61, 2, false, "of a pipe" },
		{ 1, 1, false, "in steps of a byte" }, { 13, 1, true, "in steps of 13 bytes, with --raw" }
	};
	char path[600];

	if (!sample_is_copied(s))
		return;
	file_of(s, path);
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		const bool piped = ways[i].step > 0;
		if (piped && s->n > 1024 * ways[i].step)
			continue;
		struct copied c = copy(&(struct copying){ .to = s->format,
		                                          .from = s->format,
		                                          .path = path,
		                                          .p = piped ? s->p : NULL,
		                                          .n = s->n,
		                                          .step = ways[i].step,
		                                          .once = piped,
		                                          .threads = ways[i].threads,
		                                          .raw = ways[i].raw });
		cr_expect(is_text(&c, s->p, s->n), "%s: a copy %s has %zu bytes, the file %zu", s->path,
		          ways[i].way, c.text != NULL ? c.text->n : 0, s->n);
		cr_expect_eq(c.losses.n, 0, "%s: %s: %s", s->path, ways[i].way, c.losses.rows[0].loss->id);
		copied_free(&c);
	}
}

Test(properties_copy, copy_is_identical)
{
	each_copied(SAMPLES_VALID, expect_copy);
}

/* A copy has no fault that the file does not have. */
static void expect_no_new_rule(const struct sample *s, const struct copied *c)
{
	struct telling was = tell(s->format, s->p, s->n), is = tell(s->format, c->text->p, c->text->n);
	const char *const rule = telling_new_rule(&was, &is);

	cr_expect_null(rule, "%s: the copy has %s", s->path, rule);
	telling_free(&was);
	telling_free(&is);
}

/* A copy of a damaged file has its intact records, in order. */
static void expect_beginning(const struct sample *s)
{
	const bool repairs = (s->row->is & ROW_REPAIRS) != 0;
	char path[600];

	if (!sample_is_copied(s))
		return;
	struct copied c = copy(
	    &(struct copying){ .to = s->format, .from = s->format, .path = file_of(s, path), .threads = 2 });
	cr_expect(c.text == NULL || c.text->n <= s->n, "%s: more than the file", s->path);
	cr_expect(c.text == NULL || repairs || is_text(&c, s->p, c.text->n), "%s: other bytes", s->path);
	cr_expect((s->row->is & ROW_LINES) == 0 || is_text(&c, s->p, s->n), "%s: not all bytes", s->path);
	if (c.text != NULL && repairs)
		expect_no_new_rule(s, &c);
	copied_free(&c);
}

Test(properties_copy, damaged_file_keeps_intact_records)
{
	each_copied(SAMPLES_BAD, expect_beginning);
}

/* ---- times from 0 ---- */

static uint64_t first_time(const struct telling *t)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < t->n; i++)
		first = t->list[i].ts < first ? t->list[i].ts : first;
	return first;
}

static void expect_moved(const struct sample *s)
{
	char path[600];

	if (!sample_is_copied(s))
		return;
	struct copied c = copy(&(struct copying){
	    .to = s->format, .from = s->format, .path = file_of(s, path), .rebase = true, .threads = 2 });
	if (c.text != NULL && c.losses.n == 0) {
		struct telling was = tell(s->format, s->p, s->n), is = tell(s->format, c.text->p, c.text->n);
		const uint64_t first = first_time(&was);
		/* time of day: no wall time at 0 */
		cr_expect(was.epoch_known == is.epoch_known &&
		              (was.epoch == 0 || was.n == 0 || is.epoch == was.epoch + first),
		          "%s: the wall time at 0", s->path);
		cr_expect_eq(was.n, is.n, "%s: %zu events, %zu when times are from 0", s->path, was.n, is.n);
		for (size_t i = 0; i < was.n && i < is.n; i++) {
			const struct told *const a = &was.list[i], *const b = &is.list[i];
			if (told_same(a, b, first))
				continue;
			cr_expect_fail("%s: event %zu at %llu, %llu ns, is at %llu, %llu ns%s", s->path, i,
			               (unsigned long long)a->ts, (unsigned long long)a->dur,
			               (unsigned long long)b->ts, (unsigned long long)b->dur,
			               a->hash != b->hash ? ", and another one" : "");
			break;
		}
		const char *const rule = telling_new_rule(&was, &is);
		cr_expect_null(rule, "%s: with times from 0, %s", s->path, rule);
		telling_free(&was);
		telling_free(&is);
	}
	cr_expect(c.written, "%s: times from 0", s->path);
	copied_free(&c);
}

Test(properties_copy, rebase_keeps_events)
{
	each_copied(SAMPLES_VALID, expect_moved);
}

/* On a pipe the time of the first event is subtracted; earlier events become 0, and are counted. */
static void expect_moved_on_a_pipe(const struct sample *s)
{
	if (!sample_is_copied(s) || s->n > 65536)
		return;
	struct copied c = copy(&(struct copying){ .to = s->format,
	                                          .from = s->format,
	                                          .p = s->p,
	                                          .n = s->n,
	                                          .step = 4096,
	                                          .once = true,
	                                          .rebase = true,
	                                          .threads = 1 });
	struct telling was = tell_records(s->format, s->p, s->n);
	struct telling is =
	    tell_records(s->format, c.text != NULL ? c.text->p : "", c.text != NULL ? c.text->n : 0);
	char loss[64];
	uint64_t negative = 0, counted = 0;

	cr_expect(c.written && was.n == is.n, "%s: %zu records, %zu with times from 0", s->path, was.n, is.n);
	for (size_t i = 0; i < was.n && i < is.n; i++) {
		const uint64_t first = was.list[0].ts, ts = was.list[i].ts;
		negative += ts < first;
		if (c.losses.n == 0 || strstr(c.losses.rows[0].loss->id, "negative-time") != NULL)
			cr_expect_eq(is.list[i].ts, ts < first ? 0 : ts - first, "%s: record %zu at %llu",
			             s->path, i, (unsigned long long)ts);
	}
	snprintf(loss, sizeof loss, "%s/negative-time", s->format->name);
	for (size_t i = 0; i < c.losses.n; i++)
		counted += strcmp(c.losses.rows[i].loss->id, loss) == 0 ? c.losses.rows[i].count : 0;
	cr_expect_eq(counted, negative, "%s: %llu events before the first", s->path,
	             (unsigned long long)negative);
	telling_free(&was);
	telling_free(&is);
	copied_free(&c);
}

Test(properties_copy, rebase_on_a_pipe)
{
	each_sample(SAMPLES_VALID, expect_moved_on_a_pipe);
}

/* ---- selections ---- */

#define NAMES_MAX 6U     /* max selections by name per sample */
#define SELECT_MAX 20000 /* max bytes of a sample */

struct selecting {
	const struct sample *s;
	const char *path;
	struct telling all;
	const struct row *row;
};

struct wanted {
	const char *what;
	struct select select;
	bool none, every;
	uint64_t name, from, to; /* else the hash of a name, or spans that overlap [from, to) */
};

static bool is_wanted(const struct wanted *w, const struct told *t)
{
	if (w->none || w->every)
		return w->every;
	if (w->name != 0)
		return t->name == w->name;
	const uint64_t end = t->is_span ? t->ts + t->dur : t->ts;
	return t->ts < w->to && (end > w->from || t->ts >= w->from);
}

/* Whether a selection has the event. */
static bool is_selected_as(const struct row *row, const struct told *a, const struct told *b)
{
	if ((row->is & ROW_SEVERAL) == 0)
		return told_same(a, b, 0);
	return a->ts == b->ts && a->name == b->name && (a->dur == b->dur || (a->is_open && b->is_open));
}

/* Checks the selected events, in order; others are allowed only with ROW_DEPENDS. */
static void expect_events(const struct selecting *x, const struct wanted *w, const struct telling *got)
{
	const bool more = (x->row->is & ROW_DEPENDS) != 0;
	size_t k = 0;

	for (size_t i = 0; i < x->all.n; i++) {
		const struct told *const a = &x->all.list[i];
		if (!is_wanted(w, a))
			continue;
		if ((x->row->is & ROW_SEVERAL) != 0)
			k = 0; /* what is out of order in the file may be in order in the copy */
		while (more && k < got->n && !is_selected_as(x->row, a, &got->list[k]))
			k++;
		if (k >= got->n) {
			cr_expect_fail("%s, %s: the event at %llu is missing", x->s->path, w->what,
			               (unsigned long long)a->offset);
			return;
		}
		const struct told *const b = &got->list[k++];
		if (is_selected_as(x->row, a, b) ||
		    (x->row->bound != NULL && a->name == told_name(slice_str(x->row->bound))))
			continue;
		cr_expect_fail("%s, %s: the event at %llu is another one at %llu", x->s->path, w->what,
		               (unsigned long long)a->offset, (unsigned long long)b->offset);
		return;
	}
	cr_expect(more || k == got->n, "%s, %s: %zu events, %zu are wanted", x->s->path, w->what, got->n, k);
}

static bool is_recognised(const struct format *as, const char *p, size_t n)
{
	bool no_memory = false;

	return format_probe(slice_of(p, n), true, &no_memory) == as;
}

/* Returns the number of bytes written. */
static size_t expect_selection(const struct selecting *x, struct wanted *w)
{
	struct copying copying = {
		.to = x->s->format, .from = x->s->format, .path = x->path, .select = &w->select, .threads = 2
	};
	struct copied c = copy(&copying);
	size_t n = 0;

	cr_expect(c.written, "%s, %s", x->s->path, w->what);
	if (c.text != NULL) {
		n = c.text->n;
		struct telling got = tell(x->s->format, c.text->p, n);
		const char *const rule = telling_new_rule(&x->all, &got);
		cr_expect(n > 0 && got.complete, "%s, %s: not a trace", x->s->path, w->what);
		cr_expect(is_recognised(x->s->format, c.text->p, n), "%s, %s: not recognised as %s",
		          x->s->path, w->what, x->s->format->name);
		cr_expect(rule == NULL ||
		              ((x->row->is & ROW_SEVERAL) != 0 && got.findings.levels[LEVEL_ERROR] == 0),
		          "%s, %s: %s", x->s->path, w->what, rule);
		if (c.losses.n == 0)
			expect_events(x, w, &got);
		telling_free(&got);
	}
	/* the rest of a run of definitions may need one head per definition */
	cr_expect_leq(n, x->s->n + x->s->n / 4, "%s, %s: more bytes than the file", x->s->path, w->what);
	copied_free(&c);
	return n;
}

static struct select by_name(struct slice glob, bool inverted)
{
	return (struct select){ .conditions = { { .kind = SELECT_NAME, .inverted = inverted, .glob = glob } },
		                .n = 1 };
}

/* Calls expect_selection() for some event names of the trace. */
static void select_names(const struct selecting *x, size_t min)
{
	const struct pipeline_job job = { .in.paths = &x->path,
		                          .in.npaths = 1,
		                          .in.from = x->s->format,
		                          .read.want = WANT_TIMES | WANT_FIELDS,
		                          .read.interpret = INTERPRET_SPANS };
	uint64_t seen[NAMES_MAX];
	unsigned n = 0;
	size_t at = 0;
	struct pipeline *f;
	struct batch *b;

	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(f, &b) == STAGE_MORE) {
		for (uint32_t i = 0; i < b->n && n < NAMES_MAX; i++) {
			const struct event *const e = &b->events[i];
			char what[120];
			bool known = e->phase == PHASE_STRUCTURE;
			if (known)
				continue;
			const uint64_t hash = x->all.list[at++].name;
			for (unsigned k = 0; k < n; k++)
				known |= seen[k] == hash;
			/* an end of an arrow may be part of the end of a span that is not selected */
			known |= (x->row->is & ROW_SEVERAL) != 0 &&
			         (e->phase == PHASE_FLOW_OUT || e->phase == PHASE_FLOW_IN);
			for (uint32_t k = 0; k < e->name.n; k++)
				known |= strchr("*?[]{}\\,|", e->name.p[k]) != NULL;
			if (known)
				continue;
			seen[n++] = hash;
			snprintf(what, sizeof what, "--name \"%.*s\"", (int)e->name.n, e->name.p);
			cr_expect_geq(expect_selection(x, &(struct wanted){ .what = what,
			                                                    .select = by_name(e->name, false),
			                                                    .name = hash }),
			              min, "%s, %s: less than of no event", x->s->path, what);
		}
		batch_release(b);
	}
	pipeline_end(f);
	pipeline_close(f);
}

static void select_times(const struct selecting *x, size_t i)
{
	const uint64_t from = x->all.list[i].ts, to = from + 1 > from ? from + 1 : from;
	struct wanted w = { .what = "a window of one event", .from = from, .to = to };

	w.select.since = (struct select_time){ .kind = SELECT_AT, .v = from };
	w.select.until = (struct select_time){ .kind = SELECT_AT, .v = to };
	w.select.edges = SELECT_KEEP;
	if (to > from)
		expect_selection(x, &w);
}

static void expect_selections(const struct sample *s)
{
	static const struct slice none = SLICE_LIT("no event has this name");
	struct selecting x = { .s = s, .row = s->row };
	char path[600];

	if (!sample_is_copied(s) || !format_omits_records(s->format) || s->n > SELECT_MAX)
		return;
	x.path = file_of(s, path);
	x.all = tell(s->format, s->p, s->n);
	const size_t min = expect_selection(
	    &x, &(struct wanted){ .what = "no event", .select = by_name(none, false), .none = true });
	expect_selection(
	    &x, &(struct wanted){ .what = "every event", .select = by_name(none, true), .every = true });
	select_names(&x, min);
	for (size_t i = 0; i < 3 && x.all.n > 0; i++)
		select_times(&x, (x.all.n - 1) * i / 2);
	telling_free(&x.all);
}

Test(properties_select, selected_events_and_needed_records)
{
	each_copied(SAMPLES_VALID, expect_selections);
}
