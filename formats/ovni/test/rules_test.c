/* Every rule has a sample that breaks it and causes nothing else but notes, from a file and from a pipe. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ovni/test/samples.h"
#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "test/fuzz/fuzz_sweep.h"
#include "ovni/ovni.h"
#include "test/support/strength.h"

/* What `validate` finds in all files of its report: "exit N", then "rule offset"; to be freed.  Being read
 * without metadata is not mentioned; other notes only if they are asked for. */
static char *found(struct ran r, const char *path, bool notes)
{
	cJSON *const report = cJSON_ParseWithLength(r.out, r.out_n);
	const cJSON *file, *f;
	char *const text = calloc(1, 65536);
	size_t n = 0;

	cr_assert(report != NULL && text != NULL, "%s: no report: %.200s%.200s", path, r.out, r.err);
	n += (size_t)sprintf(text, "exit %d\n", r.status);
	cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(report, "files"))
	    cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(file, "findings"))
	{
		const char *const rule = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "rule"));
		const cJSON *const offset = cJSON_GetObjectItemCaseSensitive(f, "offset");
		cr_assert(rule != NULL && offset != NULL && n < 60000);
		const bool note =
		    strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(f, "level")), "note") == 0;
		if (strcmp(rule, "ovni/no-metadata") != 0 && (notes || !note))
			n += (size_t)snprintf(text + n, 65536 - n, "%s %.0f\n", rule, offset->valuedouble);
	}
	cJSON_Delete(report);
	ran_free(&r);
	return text;
}

static void expect(const char *path, const void *in, size_t n, const char *want)
{
	const char *const args[] = { "validate", "--format", "json", path, NULL };
	char *const got = found(run_tool(args, in, n), path, strchr(want, '/') != NULL);

	cr_expect_str_eq(got, want, "%s: %swhere this was expected:\n%s", path, got, want);
	free(got);
}

Test(ovni_rules, samples_say_what_is_expected)
{
	for (const struct ovni_sample *s = ovni_samples; s->name != NULL; s++) {
		char path[300], want[200] = "exit 0\n";
		size_t n;
		snprintf(path, sizeof path, "testdata/ovni/%s/%s.obs", s->rule != NULL ? "bad" : "good",
		         s->name);
		if (s->rule != NULL)
			snprintf(want, sizeof want, "exit %d\novni/%s %u\n", s->exit_status, s->rule,
			         s->offset);
		else if (strcmp(s->name, "big-endian") == 0)
			strcat(want, "ovni/byte-order 4\n");
		char *const p = read_whole(path, &n);
		cr_assert(p != NULL && n == s->n && memcmp(p, s->bytes, n) == 0, "%s", path);
		expect(path, NULL, 0, want);
		expect("-", p, n, want);
		free(p);
	}
}

Test(ovni_rules, folders_say_what_is_expected)
{
	for (const struct ovni_folder *f = ovni_folders; f->name != NULL; f++) {
		char path[300], want[200] = "exit 0\n";
		snprintf(path, sizeof path, "testdata/ovni/folders/%s", f->name);
		if (f->rule != NULL)
			snprintf(want, sizeof want, "exit %d\novni/%s %d\n", f->exit_status, f->rule,
			         strcmp(f->rule, "clock-below-zero") == 0 ? 8 : 0);
		expect(path, NULL, 0, want);
	}
}

/* Rules that no small file can provoke, or that every lone stream does; each has a test below. */
static const char *const elsewhere[] = { "ovni/bad-magic",     "ovni/limit",          "ovni/jumbo-size",
	                                 "ovni/no-metadata",   "ovni/nesting-deep",   "ovni/tasks-forgotten",
	                                 "ovni/clock-host",    "ovni/old-unfinished", "ovni/no-breakdown",
	                                 "ovni/breakdown-off", "ovni/burst-slow",     NULL };

Test(ovni_rules, every_rule_has_a_sample)
{
	for (const struct rule *r = format_by_name("ovni")->rules; r->id != NULL; r++) {
		bool has = false, other = false;
		for (const struct ovni_sample *s = ovni_samples; s->name != NULL; s++)
			has |= s->rule != NULL && strcmp(r->id + 5, s->rule) == 0;
		for (const struct ovni_folder *f = ovni_folders; f->name != NULL; f++)
			has |= f->rule != NULL && strcmp(r->id + 5, f->rule) == 0;
		for (const struct ovni_emulated *e = ovni_emulated; e->name != NULL; e++)
			has |= e->rule != NULL && strcmp(r->id + 5, e->rule) == 0;
		for (size_t i = 0; elsewhere[i] != NULL; i++)
			other |= strcmp(r->id, elsewhere[i]) == 0;
		cr_expect(has != other, "%s", r->id);
	}
}

Test(ovni_rules, bad_magic_and_no_metadata)
{
	struct ran r =
	    run_tool((const char *const[]){ "validate", "--from", "ovni", "-", NULL }, "abcdefgh", 8);

	cr_expect(r.status == 1 && strstr(r.out, "[ovni/bad-magic]") != NULL, "%d: %s%s", r.status, r.out,
	          r.err);
	ran_free(&r);
	r = run_tool((const char *const[]){ "validate", "testdata/ovni/good/document.obs", NULL }, NULL, 0);
	cr_expect(r.status == 0 && strstr(r.out, "[ovni/no-metadata]") != NULL, "%s", r.out);
	ran_free(&r);
}

/* A jumbo event of n bytes of data, and OHe behind it. */
static void expect_jumbo(uint32_t size, const char *want)
{
	const size_t n = 8 + 16 + (size_t)size + 12;
	char *const p = calloc(1, n);

	cr_assert_not_null(p);
	memcpy(p, "ovni\1\0\0\0\x13OUj\1", 13);
	for (int i = 0; i < 4; i++)
		p[20 + i] = (char)(size >> 8 * i & 0xff);
	memcpy(p + n - 12, "\0OHe\2", 5);
	expect("-", p, n, want);
	free(p);
}

Test(ovni_rules, large_jumbo_events)
{
	expect_jumbo(OVNI_WRITER_JUMBO, "exit 0\n");
	expect_jumbo(OVNI_WRITER_JUMBO + 1, "exit 0\novni/jumbo-size 8\n");
	expect_jumbo(OVNI_MAX_JUMBO, "exit 0\novni/jumbo-size 8\n");
	expect_jumbo(OVNI_MAX_JUMBO + 1, "exit 1\novni/limit 8\n");
}

Test(ovni_rules, more_codes_than_are_told_apart)
{
	static char p[8 + 12 * (OVNI_MAX_CODES + 2)] = "ovni\1";
	struct ran r;

	for (unsigned i = 0; i < OVNI_MAX_CODES + 1; i++) {
		char *const e = p + 8 + 12 * i;
		e[1] = 'X';
		e[2] = (char)(i >> 8);
		e[3] = (char)(i & 0xff);
	}
	memcpy(p + sizeof p - 12, "\0OHe", 4);
	r = run_tool((const char *const[]){ "stats", "-", NULL }, p, sizeof p);
	cr_expect(r.status == 1 && strstr(r.err, "[ovni/limit]") != NULL, "%d: %.300s", r.status, r.err);
	ran_free(&r);
}

/* Every prefix and many changes of the specification's own stream, through all of the reader's promises. */
Test(ovni_rules, cut_and_damaged_streams_keep_every_promise)
{
	for (const struct ovni_sample *s = ovni_samples; s->name != NULL; s++) {
		struct fuzz_sweep sweep = { .light = true,
			                    .stride = strength(3, 1, 1),
			                    .sparse = 11,
			                    .full_every = 128,
			                    .p = s->bytes,
			                    .n = s->n };
		struct fuzz_swept swept;
		cr_expect(fuzz_sweep_run(&sweep, &swept), "%s: place %zu, byte %d: %s", s->name, swept.place,
		          swept.byte, swept.result.fault);
	}
}

Test(ovni_rules, groups_are_named_by_an_option)
{
	static const char *const good[] = { "format", "hygiene", "state" };
	struct ran r;

	for (size_t i = 0; i < 3; i++) {
		r = run_tool((const char *const[]){ "validate", "--check", good[i],
		                                    "testdata/ovni/good/equal-clocks.obs", NULL },
		             NULL, 0);
		/* state: the thread must have started */
		cr_expect_eq(r.status, i < 2 ? 0 : 1, "%s: %s%s", good[i], r.out, r.err);
		ran_free(&r);
	}
	r = run_tool((const char *const[]){ "validate", "--check", "states",
	                                    "testdata/ovni/good/equal-clocks.obs", NULL },
	             NULL, 0);
	cr_expect(r.status == 3 && strstr(r.err, "format, hygiene, state, breakdown") != NULL, "%d: %s",
	          r.status, r.err);
	ran_free(&r);
}
