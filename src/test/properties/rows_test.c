/* The rows of the property suites, their samples, and in-process runs of the program. */
#include "test/fuzz/live_batches.h"
#include "test/properties/rows_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "compare/test/random_events_test.h"
#include "format/registry.h"
#include "input/private.h"
#include "input/test/memory_input.h"
#include "run/write/test/writer_rig_test.h"
#include "run/write/writing.h"

const struct row rows[] = {
	{ "htdump", ROW_JOINS | ROW_AHEAD, "late-mapping", NULL },
	{ "heph", ROW_JOINS | ROW_REPAIRS | ROW_DEPENDS | ROW_SEVERAL, NULL, NULL },
	{ "dial9", ROW_JOINS | ROW_FRAMES, "late", NULL },
	{ "dftracer", ROW_LINES | ROW_RENAMES, "merged", "end" },
	{ "ovni", ROW_DEPENDS, NULL, NULL },
	{ "ndjson", ROW_STABLE | ROW_TAIL, NULL, NULL },
	{ "chrome", ROW_LINES | ROW_QUIET, "late-names", NULL },
	{ "perfetto", ROW_JOINS | ROW_REPAIRS | ROW_DEPENDS | ROW_SEVERAL, NULL, NULL },
	{ .format = NULL },
};

Test(properties, every_readable_format_has_a_row)
{
	for (const struct format *const *f = formats; *f != NULL; f++) {
		unsigned n = 0;
		for (const struct row *r = rows; r->format != NULL; r++)
			n += strcmp(r->format, (*f)->name) == 0;
		cr_expect_eq(n, (*f)->reader != NULL ? 1U : 0U, "%s: %u rows", (*f)->name, n);
	}
}

/* ---- samples ---- */

#define REAL_MAX (256U << 10)
#define RANDOM_SAMPLES 3

static struct sample *add(struct sample **list, size_t *n, const struct row *row, bool good)
{
	*list = realloc(*list, (*n + 1) * sizeof **list);
	cr_assert_not_null(*list);
	(*list)[*n] = (struct sample){ .row = row, .format = format_by_name(row->format), .good = good };
	return &(*list)[(*n)++];
}

static bool ends_in(const char *name, const char *end)
{
	const size_t n = strlen(name), k = strlen(end);

	return n >= k && strcmp(name + n - k, end) == 0;
}

static bool is_packed(const char *name)
{
	return ends_in(name, ".gz") || ends_in(name, ".zst") || ends_in(name, ".xz");
}

static void add_folder(struct sample **list, size_t *n, const struct row *row, const char *dir, bool good)
{
	char **const names = list_folder(dir, "");

	for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
		if (ends_in(names[i], ".expect") || (!good && is_packed(names[i])))
			continue;
		struct sample *const s = add(list, n, row, good);
		snprintf(s->path, sizeof s->path, "%s/%s", dir, names[i]);
		char *const p = read_unpacked(s->path, &s->n);
		s->p = malloc(s->n > 0 ? s->n : 1);
		cr_assert_not_null(s->p);
		memcpy(s->p, p, s->n);
		free(p);
	}
	if (names != NULL)
		list_free(names);
}

/* Only files with the format's suffix; tests of the format cover other names, and large files. */
static void add_real(struct sample **list, size_t *n, const struct row *row)
{
	char dir[500];
	const size_t first = *n;

	snprintf(dir, sizeof dir, "%s/%s", real_traces(), row->format);
	add_folder(list, n, row, dir, true);
	size_t k = first;
	for (size_t i = first; i < *n; i++) {
		struct telling t = { 0 };
		struct sample *const s = &(*list)[i];
		const bool fits =
		    s->n <= REAL_MAX && !ends_in(s->path, ".md") && strstr(s->path, "EXPECTED") == NULL;
		if (fits)
			t = tell(s->format, s->p, s->n);
		if (fits && t.complete && t.findings.levels[LEVEL_ERROR] == 0)
			(*list)[k++] = *s;
		else
			free(s->p);
		if (fits)
			telling_free(&t);
	}
	*n = k;
}

/* Adds samples of random events, written in the format. */
static void add_random(struct sample **list, size_t *n, const struct row *row)
{
	const struct format *const format = format_by_name(row->format);

	if (format->writer == NULL)
		return;
	for (uint64_t seed = 1; seed <= RANDOM_SAMPLES; seed++) {
		struct random_events events;
		struct writer_rig rig;
		uint32_t largest = 0;
		random_events_begin(&events, 1000 * seed, 4);
		writer_rig_run(&rig,
		               &(struct writer_rig_job){
		                   .to = format, .threads = 1, .fill = random_events_fill, .ctx = &events });
		cr_assert(rig.written && rig.nfiles > 0, "%s", row->format);
		for (uint32_t i = 1; i < rig.nfiles; i++)
			if (!ends_in(rig.files[i].name, ".json") &&
			    rig.files[i].text.n > rig.files[largest].text.n)
				largest = i;
		const struct text *const t = &rig.files[largest].text;
		struct sample *const s = add(list, n, row, true);
		snprintf(s->path, sizeof s->path, "random events %llu in %s", (unsigned long long)seed,
		         row->format);
		s->n = t->n;
		s->p = malloc(s->n);
		cr_assert_not_null(s->p);
		memcpy(s->p, t->p, s->n);
		writer_rig_free(&rig);
	}
}

struct sample *samples_of(const struct row *row, unsigned of, size_t *n)
{
	struct sample *list = NULL;
	char dir[300];

	*n = 0;
	for (unsigned bad = 0; bad < 2; bad++) {
		snprintf(dir, sizeof dir, "testdata/%s/%s", row->format, bad ? "bad" : "good");
		if ((of & (bad ? SAMPLES_BAD : SAMPLES_GOOD)) != 0) {
			const size_t before = *n;
			add_folder(&list, n, row, dir, !bad);
			cr_assert_gt(*n, before + 2, "%s: three samples or more are needed", dir);
		}
	}
	if ((of & SAMPLES_RANDOM) != 0)
		add_random(&list, n, row);
	if ((of & SAMPLES_REAL) != 0 && has_real_traces())
		add_real(&list, n, row);
	return list;
}

void row_samples_free(struct sample *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i].p);
	free(list);
}

void each_sample_of(const char *format, unsigned of, void (*f)(const struct sample *s))
{
	for (const struct row *r = rows; r->format != NULL; r++) {
		size_t n;
		if (format != NULL && strcmp(format, r->format) != 0)
			continue;
		struct sample *const list = samples_of(r, of, &n);
		for (size_t i = 0; i < n; i++)
			f(&list[i]);
		row_samples_free(list, n);
	}
}

void each_sample(unsigned of, void (*f)(const struct sample *s))
{
	each_sample_of(getenv("PROPERTIES_OF"), of, f); /* NULL: every format */
}

/* ---- events ---- */

#define SEED UINT64_C(0x7e11)

uint64_t told_name(struct slice name)
{
	return text_digest(0, name);
}

static bool is_counted_anew(const struct format *f, struct slice name)
{
	for (const char *const *word = f->recounted; word != NULL && *word != NULL; word++)
		if (slice_is(name, *word))
			return true;
	return false;
}

static struct told told_of(const struct format *format, const struct batch *b, const struct event *e)
{
	bool is_open = false;
	uint64_t h = hash_u64((uint64_t)e->phase << 8 | e->flags, SEED);

	h = text_digest(text_digest(text_digest(h, e->name), e->cls->name), e->cls->category);
	for (const struct track *k = e->track; k != NULL; k = k->parent)
		h = text_digest(hash_u64(h ^ (k->has_id ? k->id : 0), k->kind), k->name);
	for (uint32_t i = 0; i < e->nfields; i++) {
		const struct field *const f = &b->fields[e->first_field + i];
		is_open |= slice_is(f->name, "unfinished");
		if (!is_counted_anew(format, f->name))
			h = value_digest(text_digest(h, f->name), &f->value);
	}
	return (struct told){ .ts = e->ts,
		              .dur = e->phase == PHASE_SPAN ? e->dur : 0, /* not the id of an arrow */
		              .offset = e->offset,
		              .hash = h,
		              .name = told_name(e->name),
		              .is_open = is_open || (e->phase == PHASE_SPAN && e->dur == UINT64_MAX - e->ts),
		              .is_span = e->phase == PHASE_SPAN };
}

static void keep_findings(void *ctx, const struct source *s)
{
	struct telling *const t = ctx;

	for (size_t i = 0; i < s->findings.ncounts; i++)
		for (uint64_t k = 0; k < s->findings.counts[i].count && k < 3; k++)
			finding_add(&t->findings, s->findings.counts[i].rule, 0, 0, "counted");
	t->complete = s->as_whole ? t->complete : s->complete;
}

static struct telling tell_as(const struct format *format, const char *p, size_t n, bool raw)
{
	static struct vocabularies retained;
	static const char *const paths[] = { "memory" };
	struct telling t = { .n = 0 };
	size_t cap = 0;
	const struct pipeline_job job = { .in.paths = paths,
		                          .in.npaths = 1,
		                          .in.input = input_from_memory(p, n),
		                          .in.from = format,
		                          .in.vocabularies = &retained,
		                          .read.want = WANT_TIMES | WANT_FIELDS,
		                          .read.interpret = raw ? INTERPRET_NOT : INTERPRET_SPANS,
		                          .read.as = raw ? READ_FIELDS : READ_MEANING,
		                          .to.hooks = { .closed = keep_findings, .ctx = &t } };
	struct pipeline *f;
	struct batch *b;

	findings_init(&t.findings, "memory", NULL, NULL);
	cr_assert(pipeline_open(&f, &job));
	while (pipeline_next(f, &b) == STAGE_MORE) {
		for (uint32_t i = 0; i < b->n; i++) {
			if (b->events[i].phase == PHASE_STRUCTURE)
				continue;
			if (t.n == cap) {
				cap = 2 * cap + 256;
				t.list = realloc(t.list, cap * sizeof *t.list);
				cr_assert_not_null(t.list);
			}
			t.list[t.n++] = told_of(format, b, &b->events[i]);
		}
		batch_release(b);
	}
	pipeline_end(f);
	t.epoch_known = pipeline_trace(f)->epoch_known;
	t.epoch = pipeline_trace(f)->epoch_ns;
	pipeline_close(f);
	return t;
}

struct telling tell(const struct format *format, const char *p, size_t n)
{
	return tell_as(format, p, n, false);
}

struct telling tell_records(const struct format *format, const char *p, size_t n)
{
	return tell_as(format, p, n, true);
}

bool told_same(const struct told *a, const struct told *b, uint64_t moved_by)
{
	return a->hash == b->hash && b->ts == a->ts - moved_by &&
	       (a->dur == b->dur || (a->is_open && b->is_open));
}

void telling_free(struct telling *t)
{
	findings_free(&t->findings);
	free(t->list);
}

const char *telling_new_rule(const struct telling *a, const struct telling *b)
{
	for (size_t i = 0; i < b->findings.ncounts; i++) {
		const struct rule *const rule = b->findings.counts[i].rule;
		if (rule->level != LEVEL_NOTE && findings_count(&a->findings, rule) == 0)
			return rule->id;
	}
	return NULL;
}

/* ---- outputs ---- */

static bool put(void *ctx, const char *name, const char *p, size_t n)
{
	struct copied *const c = ctx;
	struct copied_file *f = NULL;

	for (uint32_t i = 0; i < c->n && f == NULL; i++)
		if (name == NULL || strcmp(c->files[i].name, name) == 0)
			f = &c->files[i];
	if (f == NULL) {
		cr_assert(array_reserve(&c->files, c->n, &c->cap, sizeof *c->files));
		f = &c->files[c->n++];
		*f = (struct copied_file){ name != NULL ? strdup(name) : NULL, { .p = NULL } };
	}
	text_add(&f->text, p, n);
	return true;
}

/* As cmd/convert/convert.c does. */
static struct pipeline_job job_of(const struct copying *c, const char *const *path,
                                  struct vocabularies *vocabularies)
{
	const struct writer_ops *const writer = c->to->writer;
	const bool copies =
	    !c->interpreted && c->to->copier != NULL && (c->select == NULL || format_omits_records(c->to));
	struct pipeline_job job = {
		.in.paths = path,
		.in.npaths = 1,
		.in.from = c->from,
		.in.vocabularies = vocabularies,
		.read.want = WANT_TIMES | WANT_ORDER | format_output_wants(c->to),
		.read.interpret = INTERPRET_SPANS,
		.read.as = copies   ? READ_COPY
		           : c->raw ? READ_FIELDS
		                    : READ_MEANING,
		.read.copy_of = copies ? c->to : NULL,
		.choice.drops = !format_omits_records(c->to),
		.arrange.order = writer->order,
		.arrange.lanes = writer->nested ? LANES_ASSIGN : LANES_NONE,
		.adjust.rebase = c->rebase,
		.choice.select = c->select,
	};

	if (c->p != NULL) {
		job.in.input = c->step > 0 ? input_from_memory_slowly(c->p, c->n, c->step)
		                           : input_from_memory(c->p, c->n);
		job.in.input->source->can_reopen = !c->once;
	}
	return job;
}

struct copy_run {
	const struct copying *c;
	struct copied *out;
	struct pipeline *pipeline;
	struct writing writing;
	bool begun;
};

static bool begin_writing(void *ctx, const struct source *s)
{
	struct copy_run *const r = ctx;
	const struct option_value dialect = { .name = "to-dialect", .value = r->c->dialect };
	const struct writing_options options = { .values = r->c->dialect != NULL ? &dialect : NULL,
		                                 .tool = "properties",
		                                 .threads = r->c->threads };

	(void)s;
	if (!r->begun)
		r->begun = writing_begin(&r->writing, r->pipeline, r->c->to,
		                         (struct writing_output){ put, r->out }, &options);
	return r->begun;
}

static void settle(void *ctx)
{
	struct copy_run *const r = ctx;

	writing_settle(&r->writing);
}

struct copied copy(const struct copying *c)
{
	static struct vocabularies retained;
	const char *const path = c->p != NULL ? "memory" : c->path;
	struct copied out = { .n = 0 };
	struct copy_run *const r = calloc(1, sizeof *r);
	enum stage_status status = STAGE_BAD;
	struct batch *b;

	cr_assert_not_null(r);
	r->c = c;
	r->out = &out;
	struct pipeline_job job = job_of(c, &path, &retained);
	job.to.hooks = (struct pipeline_hooks){ .opened = begin_writing, .settle = settle, .ctx = r };
	if (pipeline_open(&r->pipeline, &job))
		while ((status = pipeline_next(r->pipeline, &b)) == STAGE_MORE)
			cr_assert(writing_put(&r->writing, b));
	writing_settle(&r->writing);
	pipeline_end(r->pipeline);
	out.written = status == STAGE_END && r->begun && writing_end(&r->writing);
	ledger_merge(&out.losses, &r->writing.total);
	writing_free(&r->writing);
	pipeline_close(r->pipeline);
	free(r);
	for (uint32_t i = 0; i < out.n && out.text == NULL; i++)
		if (out.files[i].name == NULL || !ends_in(out.files[i].name, ".json"))
			out.text = &out.files[i].text;
	return out;
}

void copied_free(struct copied *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		free(c->files[i].name);
		text_free(&c->files[i].text);
	}
	free(c->files);
	ledger_free(&c->losses);
}

void each_written(const char *format, const char *dialect,
                  void (*f)(const char *path, const char *p, size_t n))
{
	for (const struct row *r = rows; r->format != NULL; r++) {
		size_t n;
		struct sample *const list = samples_of(r, SAMPLES_GOOD | SAMPLES_REAL, &n);
		for (size_t i = 0; i < n; i++) {
			struct copied c = copy(&(struct copying){ .to = format_by_name(format),
			                                          .path = list[i].path,
			                                          .dialect = dialect,
			                                          .interpreted = true,
			                                          .threads = 1 });
			cr_assert(c.written && c.text != NULL, "%s", list[i].path);
			f(list[i].path, c.text->p, c.text->n);
			copied_free(&c);
		}
		row_samples_free(list, n);
	}
}
