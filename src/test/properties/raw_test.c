/*
 * Properties of readers, for each format: raw records in file order are the file; events do not depend on
 * window and batch sizes, or on compression; memory that a batch points to lives as long as the batch; names
 * defined after their use are found, or their absence is reported.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "input/private.h"
#include "input/test/memory_input.h"
#include "test/fuzz/live_batches.h"
#include "test/properties/rows_test.h"
#include "test/support/format_aids.h"
#include "test/support/ids_test.h"

#define ALL (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)
#define RAW (ALL | WANT_RAW)

/* ---- raw records ---- */

static void read_raw(struct live_batches *l, const struct sample *s)
{
	live_batches_read(l, s->format, input_from_memory(s->p, s->n), RAW, 1024);
}

/* Checks that records are in order and have the bytes at their offsets;
 * in valid files they cover all bytes. */
static void expect_file(const struct sample *s)
{
	struct live_batches l;
	uint64_t at = 0;

	read_raw(&l, s);
	const bool whole = s->good || (s->row->is & ROW_LINES) != 0;
	for (size_t i = 0; i < l.n; i++)
		for (uint32_t k = 0; k < l.batches[i]->n; k++) {
			const uint64_t offset = l.batches[i]->events[k].offset;
			const struct slice bytes = l.batches[i]->bytes[k];
			if (bytes.n == 0)
				continue; /* packed in the record before */
			cr_assert(offset == at || (offset > at && !whole), "%s: a record at %llu, not %llu",
			          s->path, (unsigned long long)offset, (unsigned long long)at);
			cr_assert(bytes.n <= s->n - offset && memcmp(bytes.p, s->p + offset, bytes.n) == 0,
			          "%s: other bytes at %llu", s->path, (unsigned long long)offset);
			at = offset + bytes.n;
		}
	cr_expect(!whole || (at == s->n && l.status == READ_END), "%s: records of %llu bytes of %zu", s->path,
	          (unsigned long long)at, s->n);
	for (uint32_t i = 0; i < l.trace.nclasses; i++)
		cr_expect_not(l.trace.classes[i]->reader_applies, "%s: an interpreted class", s->path);
	live_batches_free(&l);
	/* findings do not depend on the flags of enum want */
	cr_expect(live_batches_raw_agrees(s->format, s->p, s->n), "%s: findings of raw records", s->path);
}

Test(properties_raw, records_cover_the_file)
{
	each_sample(SAMPLES_VALID | SAMPLES_BAD, expect_file);
}

static bool same_dialect(const struct sample *a, const struct sample *b)
{
	struct live_batches l, m;

	read_raw(&l, a);
	read_raw(&m, b);
	/* a single record may fit several dialects */
	const bool same =
	    strcmp(l.trace.dialect, m.trace.dialect) == 0 && l.trace.records > 1 && m.trace.records > 1;
	live_batches_free(&l);
	live_batches_free(&m);
	return same;
}

static void expect_joined(const struct sample *a, const struct sample *b)
{
	struct sample both = { .row = a->row, .format = a->format, .good = true, .n = a->n + b->n };

	if (!same_dialect(a, b))
		return;
	snprintf(both.path, sizeof both.path, "%.250s and %.250s", a->path, b->path);
	both.p = malloc(both.n);
	cr_assert_not_null(both.p);
	memcpy(both.p, a->p, a->n);
	memcpy(both.p + a->n, b->p, b->n);
	expect_file(&both);
	free(both.p);
}

Test(properties_raw, concatenated_files)
{
	for (const struct row *r = rows; r->format != NULL; r++) {
		size_t n;
		struct sample *const list = samples_of(r, SAMPLES_GOOD | SAMPLES_RANDOM, &n);
		for (size_t i = 0; (r->is & ROW_JOINS) != 0 && i < n; i++)
			for (size_t k = i % 3; k < n; k += 3)
				expect_joined(&list[i], &list[k]);
		row_samples_free(list, n);
	}
}

/* ---- windows, batches, lifetimes ---- */

static void *count_changed(void *to)
{
	const struct live_batches *const l = to;

	return (void *)(uintptr_t)live_batches_changed(l);
}

/* Reads all events in batches of `cap`; returns their digest. */
static uint64_t read_as(const struct sample *s, struct input *in, unsigned want, uint32_t cap,
                        const char *way)
{
	static struct live_batches l; /* also read by the other thread */
	pthread_t thread;
	void *changed;

	cr_assert_not_null(in, "%s, %s", s->path, way);
	live_batches_read(&l, s->format, in, want, cap);
	cr_expect(l.status != READ_NO_MEMORY || l.n == 0, "%s, %s: no memory", s->path, way);
	for (size_t i = 0; i < l.n; i++)
		cr_expect_leq(l.batches[i]->n, cap, "%s, %s", s->path, way);
	cr_assert_eq(pthread_create(&thread, NULL, count_changed, &l), 0);
	cr_assert_eq(pthread_join(thread, &changed), 0);
	cr_expect_null(changed, "%s, %s: %zu of %zu batches changed when the reader was closed", s->path, way,
	               (size_t)(uintptr_t)changed, l.n);
	const uint64_t digest = live_batches_digest(&l);
	cr_expect_eq(live_batches_free(&l), 0, "%s, %s: batches changed when others were freed", s->path,
	             way);
	return digest;
}

/* Whether the reader guesses from its first window. */
static bool is_guessed(const struct sample *s)
{
	const struct format_aids *const aids = format_aids_of(s->format->name);
	struct live_batches l;
	bool found = false;

	live_batches_read(&l, s->format, input_from_memory(s->p, s->n), WANT_FINDINGS, 50);
	for (const char *const *id = aids != NULL ? aids->window_rules : NULL; id != NULL && *id != NULL;
	     id++)
		found |= findings_count(&l.findings, rule_by_id(*id)) > 0;
	live_batches_free(&l);
	return found;
}

static char *folder; /* for temporary files */

/* All ways have the same path, as names of tracks may depend on it. */
static void expect_same_by_file(const struct sample *s, unsigned want)
{
	char path[600];
	size_t packed;

	snprintf(path, sizeof path, "%s/memory", folder);
	cr_assert(write_whole(path, s->p, s->n));
	const uint64_t digest = read_as(s, input_open(path), want, 5, "mapped");
	cr_expect_eq(read_as(s, input_open_pieces(NULL, path, 100), want, 2, "pieces"), digest,
	             "%s: in pieces of a file", s->path);
	void *const gz = gzip_copy(s->p, s->n, &packed);
	cr_assert(write_whole(path, gz, packed));
	cr_expect_eq(read_as(s, input_open(path), want, 3, "gzip"), digest, "%s: gzip", s->path);
	free(gz);
}

static void expect_same_anyhow(const struct sample *s)
{
	static const struct {
		size_t step; /* 0: all at once */
		uint32_t cap;
		size_t max; /* max bytes of a sample; larger ones take too long */
	} ways[] = { { 0, 1, 65536 }, { 0, 7, SIZE_MAX }, { 1, 50, 1024 },
		     { 7, 3, 4096 },  { 61, 1, 16384 },   { 4096, 16, SIZE_MAX } };
	const bool guessed = is_guessed(s);
	char way[60];

	for (unsigned raw = 0; raw <= WANT_RAW; raw += WANT_RAW) {
		const uint64_t digest = read_as(s, input_from_memory(s->p, s->n), ALL | raw, 1024, "at once");
		for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
			if (s->n > ways[i].max || (guessed && ways[i].step > 0) ||
			    ways[i].cap <= s->format->reader->extra)
				continue;
			snprintf(way, sizeof way, "steps of %zu bytes, %u events", ways[i].step, ways[i].cap);
			struct input *const in = ways[i].step > 0
			                             ? input_from_memory_slowly(s->p, s->n, ways[i].step)
			                             : input_from_memory(s->p, s->n);
			cr_expect_eq(read_as(s, in, ALL | raw, ways[i].cap, way), digest, "%s: %s%s", s->path,
			             way, raw != 0 ? ", raw" : "");
		}
		if (s->n > 0 && !guessed && (s->good || s->n % 4 == 0))
			expect_same_by_file(s, ALL | raw);
	}
}

Test(properties_raw, any_window_and_batch_size)
{
	folder = make_folder();
	each_sample(SAMPLES_VALID | SAMPLES_BAD, expect_same_anyhow);
	remove_folder(folder);
}

/* ---- names defined after their use ---- */

static struct input *has_no_memory(const struct input *in)
{
	(void)in;
	return NULL;
}

static struct input *fails_at_once(const struct input *in)
{
	struct input *const again = input_new(in->path);

	if (again != NULL)
		input_fail_errno(again, "cannot unpack: ", EAGAIN);
	return again;
}

static bool stop(struct input *in)
{
	return input_fail_errno(in, "cannot unpack: ", EAGAIN);
}

static struct input_source_ops stopping;

/* Fails only in the second pass. */
static struct input *stops(const struct input *in)
{
	struct input *const again = input_from_memory_slowly(in->base, 60, 30);

	if (again != NULL) {
		stopping = *again->ops;
		stopping.more = stop;
		again->ops = &stopping;
	}
	return again;
}

/* Excludes failures of the system, which the engine reports. */
static uint64_t findings_of_format(const struct live_batches *l, const struct format *format)
{
	uint64_t n = 0;

	for (const struct rule *r = format->rules; r->id != NULL; r++)
		n += findings_count(&l->findings, r);
	return n;
}

/* Reads an input without a second pass (reopen is NULL), or with a failing one. */
static enum read_status read_once(const struct sample *s, unsigned want,
                                  struct input *(*reopen)(const struct input *), uint64_t *digest,
                                  uint64_t *findings)
{
	struct input *const in = input_from_memory(s->p, s->n);
	struct input_source_ops ops = *in->ops;
	struct live_batches l;

	ops.reopen = reopen;
	in->ops = &ops;
	in->source->can_reopen = reopen != NULL;
	live_batches_read(&l, s->format, in, want, 50);
	const enum read_status status = l.status;
	const char *const why = reopen == has_no_memory ? "input/no-memory" : "input/system";
	cr_expect(status != READ_NO_MEMORY || findings_count(&l.findings, rule_by_id(why)) == 1,
	          "%s: a pass failed, and no %s", s->path, why);
	*digest = live_batches_digest(&l);
	*findings = findings_of_format(&l, s->format);
	live_batches_free(&l);
	return status;
}

static bool is_late(const struct sample *s)
{
	const char *const name = strrchr(s->path, '/');
	const size_t n = s->row->late != NULL ? strlen(s->row->late) : 0;

	return n > 0 && name != NULL && strncmp(name + 1, s->row->late, n) == 0 && name[1 + n] == '.';
}

static void expect_ahead(const struct sample *s)
{
	uint64_t digest, findings, other, more;
	struct live_batches l;

	live_batches_read(&l, s->format, input_from_memory(s->p, s->n), ALL, 50);
	digest = live_batches_digest(&l);
	findings = findings_of_format(&l, s->format);
	live_batches_free(&l);
	/* a failed pass is not a fault of the file */
	const enum read_status failed = read_once(s, ALL, has_no_memory, &other, &more);
	cr_expect(failed == READ_NO_MEMORY || other == digest, "%s: after a failed pass, other events",
	          s->path);
	cr_expect_leq(more, findings, "%s: a failed pass is a finding", s->path);
	cr_expect(read_once(s, RAW, has_no_memory, &other, &more) == READ_END ||
	              (s->row->is & ROW_AHEAD) != 0,
	          "%s: raw records need no names", s->path);
	cr_expect_eq(read_once(s, ALL, NULL, &other, &more), READ_END, "%s: read once", s->path);
	if (is_late(s)) {
		cr_expect_eq(failed, READ_NO_MEMORY, "%s: no second pass was asked for", s->path);
		cr_expect_neq(other, digest, "%s: nothing was too late", s->path);
		const uint64_t late = more;
		cr_expect_eq(read_once(s, ALL, fails_at_once, &other, &more), READ_NO_MEMORY, "%s", s->path);
		cr_expect_eq(read_once(s, ALL, stops, &other, &more), READ_NO_MEMORY, "%s", s->path);
		cr_expect(late > findings || (s->row->is & ROW_QUIET) != 0, "%s: not a word", s->path);
	}
}

Test(properties_raw, names_defined_after_use)
{
	each_sample(SAMPLES_GOOD, expect_ahead);
}
