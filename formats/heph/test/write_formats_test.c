/* Traces of all formats, written as Heph traces: valid, and with the same events when they are read. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "format/registry.h"
#include "heph/test/oracle.h"
#include "run/write/writing.h"

/* ---- reading a trace ---- */

struct reading_of {
	struct pipeline_job job;
	struct pipeline p;
	struct batch *b;
	uint32_t i;
};

static void count_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	(void)j;
	(void)f;
	++*(uint32_t *)ctx;
}

static void begin_reading(struct reading_of *r, const char *const *path, uint32_t *findings)
{
	*r = (struct reading_of){ .job = { .in.paths = path,
		                           .in.npaths = 1,
		                           .read.want = WANT_TIMES | WANT_FIELDS | WANT_ORDER,
		                           .read.interpret = INTERPRET_SPANS,
		                           .to.sink = count_finding,
		                           .to.ctx = findings } };
	cr_assert(pipeline_open(&r->p, &r->job));
}

/* Returns the next event that is not structure; NULL at the end. */
static const struct event *next_event(struct reading_of *r)
{
	for (;;) {
		while (r->b != NULL && r->i < r->b->n) {
			const struct event *const e = &r->b->events[r->i++];
			if (e->phase != PHASE_STRUCTURE)
				return e;
		}
		if (r->b != NULL)
			batch_release(r->b);
		r->b = NULL;
		r->i = 0;
		if (pipeline_next(&r->p, &r->b) != STAGE_MORE)
			return NULL;
	}
}

static void end_reading(struct reading_of *r)
{
	if (r->b != NULL)
		batch_release(r->b);
	pipeline_end(&r->p);
	pipeline_close(&r->p);
}

/* ---- writing it ---- */

static bool add_output(void *ctx, const char *file, const char *p, size_t n)
{
	(void)file;
	text_add(ctx, p, n);
	return true;
}

/* Writes events, of a Heph trace too, instead of copying its packets. */
static void write_trace(const char *path, struct text *out, struct ledger *losses)
{
	static const struct writing_options options = { .tool = "test", .threads = 1 };
	uint32_t findings = 0;
	struct reading_of r;
	struct writing w;
	struct batch *b;

	begin_reading(&r, &path, &findings);
	cr_assert(writing_begin(&w, &r.p, format_by_name("heph"), (struct writing_output){ add_output, out },
	                        &options));
	while (pipeline_next(&r.p, &b) == STAGE_MORE)
		cr_assert(writing_put(&w, b));
	writing_settle(&w);
	pipeline_end(&r.p);
	cr_assert(writing_end(&w), "%s", path);
	ledger_merge(losses, &w.total);
	writing_free(&w);
	pipeline_close(&r.p);
}

/* ---- comparison ---- */

static bool same_text(struct slice a, struct slice b)
{
	return slice_equal(a, b);
}

static bool same_value(const struct value *a, const struct value *b)
{
	if (a->type != b->type)
		return false;
	if (a->type == VALUE_STRING || a->type == VALUE_BYTES || a->type == VALUE_JSON)
		return same_text(value_text(a), value_text(b));
	if (a->type != VALUE_LIST)
		return a->type == VALUE_NONE || a->u64 == b->u64;
	if (a->count != b->count || a->element != b->element)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!same_value(&a->values[i], &b->values[i]))
			return false;
	return true;
}

static bool same_track(const struct track *a, const struct track *b)
{
	for (; a != NULL && b != NULL; a = a->parent, b = b->parent)
		if (!same_text(a->name, b->name) || a->has_id != b->has_id || (a->has_id && a->id != b->id) ||
		    a->kind != b->kind || a->is_child != b->is_child)
			return false;
	return a == b;
}

/* Returns the first difference; NULL if there is none. */
static const char *difference(const struct reading_of *x, const struct event *a, const struct reading_of *y,
                              const struct event *b, bool lossy)
{
	const struct field *const f = x->b->fields + a->first_field, *const g = y->b->fields + b->first_field;
	const bool arrow = (a->flags & EVENT_ARROW) != 0 && a->phase == PHASE_INSTANT;

	if (a->ts != b->ts || a->phase != b->phase)
		return "time or phase";
	if (!arrow && a->dur != b->dur)
		return "duration";
	if ((a->flags & EVENT_ASYNC) != (b->flags & EVENT_ASYNC))
		return "flags";
	if (a->nfields != b->nfields)
		return "number of fields";
	if (lossy)
		return NULL;
	if (!same_text(a->name, b->name) || !same_text(a->cls->name, b->cls->name) ||
	    !same_text(a->cls->category, b->cls->category))
		return "name, class, or category";
	if (!same_track(a->track, b->track))
		return "track";
	for (uint32_t i = 0; i < a->nfields; i++)
		if (!same_text(f[i].name, g[i].name) || !same_value(&f[i].value, &g[i].value))
			return "a field";
	return NULL;
}

/* Compares the metadata of the traces, except for the clock. */
static void expect_same_facts(const char *path, const struct trace *a, const struct trace *b)
{
	cr_expect(a->epoch_known == b->epoch_known && a->epoch_ns == b->epoch_ns, "%s: the epoch", path);
	cr_assert_eq(a->nmeta, b->nmeta, "%s: %u facts, not %u", path, b->nmeta, a->nmeta);
	for (uint32_t i = 0; i < a->nmeta; i++)
		cr_expect(same_text(a->meta[i].name, b->meta[i].name) &&
		              same_value(&a->meta[i].value, &b->meta[i].value),
		          "%s: fact %.*s", path, (int)a->meta[i].name.n, a->meta[i].name.p);
}

static void compare_traces(const char *path, const char *written, bool lossy)
{
	uint32_t before = 0, findings = 0, n = 0;
	const struct event *a, *b;
	struct reading_of x, y;

	begin_reading(&x, &path, &before);
	begin_reading(&y, &written, &findings);
	for (;; n++) {
		a = next_event(&x);
		b = next_event(&y);
		if (a == NULL || b == NULL)
			break;
		const char *const d = difference(&x, a, &y, b, lossy);
		cr_assert_null(d, "%s: event %u at %" PRIu64 ": %s", path, n, a->offset, d);
	}
	cr_expect(a == b, "%s: other events after %u", path, n);
	cr_expect_eq(findings, 0, "%s: %u findings in what was written", path, findings);
	if (!lossy)
		expect_same_facts(path, &x.p.trace, &y.p.trace);
	end_reading(&x);
	end_reading(&y);
}

/* Decodes the trace with the oracle, which is slow with many tracks. */
static void decode_trace(const char *path, const struct text *t)
{
	struct heph_oracle o;

	if (t->n > 256u << 10)
		return;
	heph_oracle_decode(&o, (const unsigned char *)t->p, t->n);
	cr_expect_null(o.fault, "%s: %s", path, o.fault);
	heph_oracle_free(&o);
}

/* Returns true if the writer lost something.  Losses of the engine are equal on both sides. */
static bool loses(const struct ledger *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (strncmp(l->rows[i].loss->id, "heph/", 5) == 0)
			return true;
	return false;
}

struct checking {
	char *dir;
	size_t n, lossy;
};

static void check_trace(struct checking *c, const char *path)
{
	struct ledger losses = { 0 };
	struct text out = { 0 };
	char written[1024];

	write_trace(path, &out, &losses);
	snprintf(written, sizeof written, "%s/out.bin.log", c->dir);
	cr_assert(!out.failed && write_whole(written, out.p, out.n));
	compare_traces(path, written, loses(&losses));
	decode_trace(path, &out);
	c->n++;
	c->lossy += loses(&losses);
	text_free(&out);
	ledger_free(&losses);
}

/* Checks the files of a folder, or its folders if each is a trace. */
static void check_folder(struct checking *c, const char *dir)
{
	static const char *const not [] = { ".expect", ".json.", ".prv", ".pcf", ".row", ".md" };
	char **const names = list_folder(dir, "");
	char path[900];

	for (size_t i = 0; names[i] != NULL; i++) {
		bool is_trace = names[i][0] != '.';
		for (size_t k = 0; k < sizeof not / sizeof not [0]; k++)
			is_trace &= strstr(names[i], not [k]) == NULL;
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		if (is_trace)
			check_trace(c, path);
	}
	list_free(names);
}

Test(heph_write_formats, good_samples_come_back)
{
	struct checking c = { .dir = make_folder() };

	check_folder(&c, "testdata/htdump/good");
	check_folder(&c, "testdata/heph/good");
	check_folder(&c, "testdata/dial9/good");
	check_folder(&c, "testdata/dftracer/good");
	check_folder(&c, "testdata/ovni/good");
	check_folder(&c, "testdata/chrome/good");
	check_folder(&c, "testdata/ndjson/good");
	cr_expect_gt(c.n, 95);
	cr_expect_lt(c.lossy, 8, "%zu of %zu lose something", c.lossy, c.n);
	remove_folder(c.dir);
}

Test(heph_write_formats, real_traces_come_back)
{
	struct checking c = { .dir = make_folder() };
	char dir[1000];

	snprintf(dir, sizeof dir, "%s/heph", real_traces());
	check_folder(&c, dir);
	snprintf(dir, sizeof dir, "%s/htdump", real_traces());
	check_folder(&c, dir);
	snprintf(dir, sizeof dir, "%s/dial9/block-in-place.bin", real_traces());
	check_trace(&c, dir);
	remove_folder(c.dir);
}
