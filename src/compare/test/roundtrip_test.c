#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cmd/test/cli_test_util.h"
#include "compare/compare.h"
#include "compare/test/random_events_test.h"
#include "format/registry.h"
#include "format/ledger.h"
#include "input/open.h"
#include "input/test/memory_input.h"
#include "run/read/operands.h"
#include "run/write/test/writer_rig_test.h"
#include "test/support/strength.h"

/*
 * Random events are written in each format that can be read, and read back: they are equal except for the
 * losses that the ledger declares.  Environment: CASES for each format, SEED of the first, ROUNDTRIP_AT_ONCE
 * cases in one trace, ROUNDTRIP_FORMAT to test one format only.
 */
#define CASES 100
#define AT_ONCE 25

struct roundtrip {
	const struct format *format;
	uint64_t seed;  /* of the first case */
	uint32_t cases; /* in one trace */
	struct random_events written;
	uint64_t compared;           /* events of it that are compared */
	struct random_events events; /* the same again, as side A */
	struct trace trace;          /* of `events` */
	struct batch_pool pool;
	uint32_t next;
	struct writer_rig rig;
	struct pipeline *back;
	struct allowance allowance;
	char found[256]; /* a finding of the reader */
	uint64_t refused;
	char first[512]; /* refused difference */
};

static enum stage_status next_generated(void *ctx, struct batch **out)
{
	struct roundtrip *const t = ctx;

	*out = batch_pool_take(&t->pool);
	cr_assert_not_null(*out);
	if (random_events_fill(&t->events, &t->trace, *out, t->next++))
		return STAGE_MORE;
	batch_release(*out);
	return STAGE_END;
}

static enum stage_status next_back(void *ctx, struct batch **out)
{
	struct roundtrip *const t = ctx;

	return pipeline_next(t->back, out);
}

static void keep_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct roundtrip *const t = ctx;

	(void)j;
	if (f->rule->level == LEVEL_ERROR && t->found[0] == '\0')
		(void)snprintf(t->found, sizeof t->found, "%s [%s]", f->message, f->rule->id);
}

static bool check_difference(void *ctx, const struct difference *d)
{
	struct roundtrip *const t = ctx;
	const struct event *const a = difference_event(d, DIFFER_A), *const b = difference_event(d, DIFFER_B),
	                          *const e = a != NULL ? a : b;

	if (allowance_take(&t->allowance, d) || t->refused++ > 0)
		return true;
	snprintf(t->first, sizeof t->first,
	         "%s, parts 0x%x, phase %u, on %.*s and %.*s, at %" PRIu64 ", %" PRIu64
	         " long, %u fields, name \"%.*s\" (@%" PRIu64 " of the output)",
	         a == NULL   ? "not in the input"
	         : b == NULL ? "not in the output"
	                     : "changed",
	         d->parts, e->phase, (int)e->track->name.n, e->track->name.p,
	         b != NULL ? (int)b->track->name.n : 0, b != NULL ? b->track->name.p : "", e->ts, e->dur,
	         e->nfields, (int)(e->name.n < 40 ? e->name.n : 40), e->name.p, b != NULL ? b->offset : 0);
	return true;
}

/* ---- the output as an input ---- */

/* Writes the files of a folder, and returns it, to be removed. */
static char *write_folder(const struct writer_rig *r)
{
	char *const dir = make_folder();
	char path[1024];

	for (uint32_t i = 0; i < r->nfiles; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, r->files[i].name);
		for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
			*p = '\0';
			(void)mkdir(path, 0777);
		}
		cr_assert(write_whole(path, r->files[i].text.p, r->files[i].text.n), "%s", path);
	}
	return dir;
}

static void compare(struct roundtrip *t, struct vocabularies *vocabularies)
{
	const bool folder = t->format->writer->shape == WRITER_FOLDER;
	char *const dir = folder ? write_folder(&t->rig) : NULL;
	const char *const path = folder ? dir : "output";
	struct pipeline_job job = {
		.in.paths = &path,
		.in.npaths = 1,
		.in.from = t->format,
		.read.want = WANT_TIMES | WANT_FIELDS | WANT_ORDER,
		.read.interpret = INTERPRET_SPANS,
		.arrange.order = ORDER_TIME,
		.in.vocabularies = vocabularies,
		.to.sink = keep_finding,
		.to.ctx = t,
	};
	if (!folder)
		job.in.input = input_from_memory(writer_rig_text(&t->rig, NULL), t->rig.files[0].text.n);
	t->allowance = allowance_of(&t->rig.losses, t->format->losses, t->compared);
	const struct differ_rules rules = {
		.tolerance = t->allowance.tolerance,
		.pair_all = true,
		.sorted = true,
		.ignore = allowance_ignore(&t->allowance),
		.tracks = t->allowance.tracks,
		.extra_classes = t->allowance.extra_events > 0 ? t->allowance.extra_classes : NULL,
		.fields = { [DIFFER_B] = { .added = t->allowance.added } },
	};
	struct differ differ;

	random_events_begin(&t->events, t->seed, t->cases);
	t->next = 0;
	trace_init(&t->trace);
	cr_assert(batch_pool_init(&t->pool, 64, false) && pipeline_open(&t->back, &job));
	differ_init(&differ, &rules,
	            (struct differ_source){ .next = next_generated, .ctx = t, .trace = &t->trace },
	            (struct differ_source){ .next = next_back, .ctx = t, .trace = pipeline_trace(t->back) },
	            check_difference, t);
	cr_expect_eq(differ_run(&differ), DIFFER_DONE, "%s, seed %" PRIu64 ": %s", t->format->name, t->seed,
	             t->found);
	cr_expect_leq(differ.extra_events, t->allowance.extra_events, "%s, seed %" PRIu64, t->format->name,
	              t->seed);
	differ_free(&differ);
	pipeline_close(t->back);
	batch_pool_free(&t->pool);
	trace_free(&t->trace);
	if (folder)
		remove_folder(dir);
}

static bool fill(void *ctx, struct trace *trace, struct batch *b, uint32_t number)
{
	struct roundtrip *const t = ctx;
	const bool any = random_events_fill(&t->written, trace, b, number);

	for (uint32_t i = 0; i < b->n && any; i++)
		t->compared += event_is_compared(&b->events[i], false);
	return any;
}

static bool roundtrip(const struct format *format, uint64_t seed, uint32_t cases,
                      struct vocabularies *vocabularies)
{
	struct roundtrip *const t = calloc(1, sizeof *t);
	const struct writer_rig_job job = { .to = format, .threads = 1, .fill = fill, .ctx = t };

	cr_assert_not_null(t);
	t->format = format;
	t->seed = seed;
	t->cases = cases;
	random_events_begin(&t->written, seed, cases);
	writer_rig_run(&t->rig, &job);
	cr_assert(t->rig.written, "%s, seed %" PRIu64, format->name, seed);
	compare(t, vocabularies);
	const bool ok = t->refused == 0 && t->found[0] == '\0';
	cr_expect(ok, "%s, seed %" PRIu64 ": %" PRIu64 " events differ, the first one %s; %s", format->name,
	          seed, t->refused, t->first, t->found);
	writer_rig_free(&t->rig);
	free(t);
	return ok;
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *const s = getenv(name);

	return s != NULL ? strtoull(s, NULL, 10) : otherwise;
}

Test(roundtrip, random_events)
{
	const uint64_t cases = from_environment("CASES", strength(CASES, 10000, 200000)), seed = test_seed(1);
	const uint64_t at_once = from_environment("ROUNDTRIP_AT_ONCE", AT_ONCE);
	const char *const only = getenv("ROUNDTRIP_FORMAT");

	for (const struct format *const *f = formats; *f != NULL; f++) {
		struct vocabularies vocabularies = { 0 };
		int wrong = 0;
		if ((*f)->reader == NULL || (*f)->writer == NULL ||
		    (only != NULL && strcmp(only, (*f)->name) != 0))
			continue;
		for (uint64_t i = 0; i < cases && wrong < 5; i += at_once)
			wrong +=
			    !roundtrip(*f, seed + i, (uint32_t)(cases - i < at_once ? cases - i : at_once),
			               &vocabularies);
		vocabularies_free(&vocabularies);
	}
}
