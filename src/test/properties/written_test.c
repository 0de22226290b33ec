/*
 * Properties of writers: a trace of any format, written in a readable format, is valid and has the same
 * events except for the losses in the ledger, for any number of threads.
 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/samples_test_util.h"
#include "compare/compare.h"
#include "format/registry.h"
#include "input/open.h"
#include "input/test/memory_input.h"
#include "run/pipeline.h"
#include "test/properties/rows_test.h"

static char *folder; /* for temporary files */
static size_t number;

/* ---- one side of a comparison ---- */

struct side {
	const char *path;
	const struct format *from; /* NULL: detected */
	struct pipeline_job job;
	struct pipeline *p;
	char found[300]; /* first finding; without notes, and without findings about UTF-8, as texts are
	                    copied */
};

static void keep_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct side *const s = ctx;

	(void)j;
	if (f->rule->level != LEVEL_NOTE && strstr(f->rule->id, "utf8") == NULL && s->found[0] == '\0')
		snprintf(s->found, sizeof s->found, "%s [%s]", f->message, f->rule->id);
}

static enum stage_status next(void *ctx, struct batch **out)
{
	struct side *const s = ctx;

	return pipeline_next(s->p, out);
}

/* text: read instead of the file; may be NULL. */
static void open_side(struct side *s, const char *path, const struct format *from, const char *dialect,
                      const struct text *text)
{
	static struct vocabularies retained;

	*s = (struct side){ .path = path, .from = from };
	s->job = (struct pipeline_job){ .in.paths = &s->path,
		                        .in.npaths = 1,
		                        .in.input = text != NULL ? input_from_memory(text->p, text->n) : NULL,
		                        .in.from = from,
		                        .in.dialect = dialect,
		                        .read.want = WANT_TIMES | WANT_FIELDS | WANT_ORDER,
		                        .read.interpret = INTERPRET_SPANS,
		                        .arrange.order = ORDER_TIME,
		                        .in.vocabularies = &retained,
		                        .to.sink = keep_finding,
		                        .to.ctx = s };
	cr_assert(pipeline_open(&s->p, &s->job), "%s", path);
}

static void close_side(struct side *s)
{
	pipeline_end(s->p);
	pipeline_close(s->p);
}

/* ---- the comparison ---- */

struct comparison {
	struct allowance allowance;
	char first[400]; /* first difference that is not allowed */
	uint64_t refused;
};

static bool take(void *ctx, const struct difference *d)
{
	struct comparison *const c = ctx;
	const struct event *const a = difference_event(d, DIFFER_A), *const b = difference_event(d, DIFFER_B),
	                          *const e = a != NULL ? a : b;

	if (!allowance_take(&c->allowance, d) && c->refused++ == 0)
		snprintf(c->first, sizeof c->first, "%s, parts %#x, phase %u, at %" PRIu64 ", name \"%.*s\"",
		         a == NULL   ? "not in the input"
		         : b == NULL ? "not in the output"
		                     : "changed",
		         d->parts, e->phase, e->ts, (int)(e->name.n < 40 ? e->name.n : 40), e->name.p);
	return true;
}

static uint64_t count_compared(const char *path)
{
	struct side s;
	struct batch *b;
	uint64_t n = 0;

	open_side(&s, path, NULL, NULL, NULL);
	while (pipeline_next(s.p, &b) == STAGE_MORE) {
		for (uint32_t i = 0; i < b->n; i++)
			n += event_is_compared(&b->events[i], false);
		batch_release(b);
	}
	close_side(&s);
	return n;
}

static bool is_row(const struct format *f, enum row_is is)
{
	for (const struct row *r = rows; r->format != NULL; r++)
		if (strcmp(r->format, f->name) == 0)
			return (r->is & is) != 0;
	return false;
}

/* Compares the trace at `path` with an output; written: path of the output if it is a folder. */
static void compare(const char *path, const struct copied *out, const char *written, const struct format *to,
                    const char *dialect)
{
	struct comparison c = { .allowance = allowance_of(&out->losses, to->losses, count_compared(path)) };
	struct side *const a = malloc(sizeof *a), *const b = malloc(sizeof *b);
	struct differ *const differ = malloc(sizeof *differ);
	const struct differ_rules rules = {
		.tolerance = c.allowance.tolerance,
		.pair_all = true,
		.sorted = true,
		.ignore = allowance_ignore(&c.allowance) |
		          (dialect != NULL && is_row(to, ROW_RENAMES) ? (unsigned)PART_FIELDS : 0),
		.tracks = c.allowance.tracks,
		.extra_classes = c.allowance.extra_events > 0 ? c.allowance.extra_classes : NULL,
		.fields = { [DIFFER_B] = { .added = c.allowance.added } },
	};

	cr_assert(a != NULL && b != NULL && differ != NULL);
	open_side(a, path, NULL, NULL, NULL);
	open_side(b, written, to, dialect, out->files[0].name == NULL ? out->text : NULL);
	differ_init(
	    differ, &rules, (struct differ_source){ .next = next, .ctx = a, .trace = pipeline_trace(a->p) },
	    (struct differ_source){ .next = next, .ctx = b, .trace = pipeline_trace(b->p) }, take, &c);
	cr_expect_eq(differ_run(differ), DIFFER_DONE, "%s as %s: %s", path, to->name, b->found);
	cr_expect_leq(differ->extra_events, c.allowance.extra_events, "%s as %s: more events", path,
	              to->name);
	differ_free(differ);
	close_side(a);
	close_side(b);
	cr_expect(c.refused == 0, "%s as %s: %" PRIu64 " events differ, the first one %s", path, to->name,
	          c.refused, c.first);
	cr_expect(b->found[0] == '\0' || a->found[0] != '\0', "%s as %s: %s", path, to->name, b->found);
	free(a);
	free(b);
	free(differ);
}

/* ---- outputs ---- */

/* Writes an output of several files below the folder; returns its path; free it. */
static char *put_files(const struct copied *c, const struct format *to)
{
	char path[900];

	snprintf(path, sizeof path, "%s/%zu%s", folder, number++, to->suffixes[0]);
	char *const all = strdup(path);
	for (uint32_t i = 0; i < c->n && c->files[i].name != NULL; i++) {
		(void)mkdir(all, 0777);
		snprintf(path, sizeof path, "%s/%s", all, c->files[i].name);
		for (char *p = path + strlen(all) + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
			*p = '\0';
			(void)mkdir(path, 0777);
		}
		cr_assert(write_whole(path, c->files[i].text.p, c->files[i].text.n), "%s", path);
	}
	return all;
}

static void expect_same_bytes(const struct copied *a, const struct copied *b, const char *what,
                              const char *way)
{
	cr_assert_eq(a->n, b->n, "%s: other files %s", what, way);
	for (uint32_t i = 0; i < a->n; i++)
		cr_expect(a->files[i].text.n == b->files[i].text.n &&
		              (a->files[i].text.n == 0 ||
		               memcmp(a->files[i].text.p, b->files[i].text.p, a->files[i].text.n) == 0),
		          "%s: other output %s", what, way);
}

static void expect_stable(const struct copied *c, const struct format *to, const char *path)
{
	struct copied again = copy(&(struct copying){
	    .to = to, .from = to, .p = c->text->p, .n = c->text->n, .interpreted = true, .threads = 1 });

	expect_same_bytes(c, &again, path, "when it is written again");
	copied_free(&again);
}

static void expect_recognised(const struct copied *c, const struct format *to, const char *path)
{
	const size_t n = c->text->n, head = n < 65536 ? n : 65536;
	bool no_memory;

	cr_expect_eq(format_probe(slice_of(c->text->p, head), head == n, &no_memory), to, "%s as %s is none",
	             path, to->name);
}

static void expect_from_0(struct copying copying)
{
	copying.rebase = true;
	struct copied c = copy(&copying);
	struct telling t = tell(copying.to, c.text->p, c.text->n);
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < t.n; i++)
		first = t.list[i].ts < first ? t.list[i].ts : first;
	cr_expect(t.n == 0 || first == 0 || copying.to->writer->shape == WRITER_FOLDER,
	          "%s as %s: the first time is %" PRIu64, copying.path, copying.to->name, first);
	telling_free(&t);
	copied_free(&c);
}

static void write_as(const char *path, const struct format *to, const char *dialect)
{
	struct copying copying = {
		.to = to, .path = path, .dialect = dialect, .interpreted = true, .threads = 1
	};
	struct copied c = copy(&copying);

	cr_assert(c.written && c.n > 0, "%s as %s", path, to->name);
	char *const written = put_files(&c, to);
	compare(path, &c, written, to, dialect);
	expect_recognised(&c, to, path);
	if (number % 3 == 0) {
		copying.threads = 3;
		struct copied again = copy(&copying);
		expect_same_bytes(&c, &again, path, "on three threads");
		copied_free(&again);
	}
	if (is_row(to, ROW_STABLE))
		expect_stable(&c, to, path);
	copied_free(&c);
	free(written);
	if (number % 3 == 1)
		expect_from_0(copying);
}

/* Writes the records of a trace of any format. */
static void write_raw(const char *path, const struct format *to)
{
	struct copied c = copy(&(struct copying){ .to = to, .path = path, .raw = true, .threads = 1 });

	if (c.text != NULL) {
		struct telling t = tell(to, c.text->p, c.text->n);
		expect_recognised(&c, to, path);
		cr_expect(t.complete && t.findings.levels[LEVEL_ERROR] == 0, "%s: records as %s", path,
		          to->name);
		telling_free(&t);
	}
	copied_free(&c);
}

/* Writes in the default dialect, and every third sample in each dialect of the writer. */
static void write_in_dialects(const char *path, const struct format *to)
{
	write_as(path, to, NULL);
	for (const struct format_option *o = to->options; o != NULL && o->name != NULL; o++)
		for (const char *const *d = o->words;
		     o->of_output && strcmp(o->name, "to-dialect") == 0 && number % 3 == 0 && *d != NULL; d++)
			write_as(path, to, *d);
}

static bool can_be_read_back(const struct format *f)
{
	return f->reader != NULL && f->writer != NULL;
}

/* Writes the intact part of a damaged trace, in formats with stable outputs. */
static void write_damaged(const struct sample *s)
{
	for (const struct format *const *f = formats; *f != NULL; f++) {
		if (!can_be_read_back(*f) || !is_row(*f, ROW_STABLE))
			continue;
		struct copied c =
		    copy(&(struct copying){ .to = *f, .path = s->path, .interpreted = true, .threads = 1 });
		if (c.text != NULL)
			expect_stable(&c, *f, s->path);
		copied_free(&c);
		write_raw(s->path, *f);
	}
}

static void write_in_each(const struct sample *s)
{
	if (strncmp(s->path, "random", 6) == 0)
		return; /* tested by suite roundtrip */
	for (const struct format *const *f = formats; *f != NULL; f++)
		if (can_be_read_back(*f)) {
			write_in_dialects(s->path, *f);
			if ((*f)->writer->modes & WRITER_RAW)
				write_raw(s->path, *f);
		}
}

Test(properties_written, same_events_in_every_format)
{
	folder = make_folder();
	each_sample(SAMPLES_GOOD | SAMPLES_REAL, write_in_each);
	each_sample(SAMPLES_BAD, write_damaged);
	remove_folder(folder);
}
