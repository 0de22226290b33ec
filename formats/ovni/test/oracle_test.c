/* Real traces, and the samples, against a slow decoder written from the specification. */
#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"

struct oracle_event {
	char code[16];
	uint64_t clock;
	unsigned flags;
	const unsigned char *payload;
	size_t n;
};

static uint64_t number(const unsigned char *p, int n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | p[n];
	return v;
}

/* Decodes the event at *at of a well-formed little-endian stream.  Returns false at its end. */
static bool next(const unsigned char *p, size_t n, size_t *at, struct oracle_event *e)
{
	if (*at >= n)
		return false;
	const unsigned char *const q = p + *at;
	e->flags = q[0];
	memcpy(e->code, q + 1, 3);
	e->code[3] = '\0';
	e->clock = number(q + 4, 8);
	e->payload = q + 12;
	e->n = (q[0] & 15) == 0 ? 0 : (q[0] & 15) + 1u;
	if ((q[0] & 16) != 0) {
		e->n = number(q + 12, 4);
		e->payload = q + 16;
		*at += 4;
	}
	*at += 12 + e->n;
	return true;
}

static void expect_event(const cJSON *got, const struct oracle_event *e, const char *path)
{
	const cJSON *const args = cJSON_GetObjectItemCaseSensitive(got, "args");
	const cJSON *const payload = cJSON_GetObjectItemCaseSensitive(args, "payload");
	const cJSON *const flags = cJSON_GetObjectItemCaseSensitive(args, "flags");
	char hex[400] = "0x";

	cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(got, "name")), e->code, "%s",
	                 path);
	if (e->flags < 16) /* only the size of the payload */
		cr_expect_null(flags, "%s", path);
	else
		cr_expect_eq((unsigned)cJSON_GetNumberValue(flags), e->flags, "%s", path);
	if (e->n == 0 && (e->flags & 16) == 0)
		cr_expect_null(payload, "%s", path);
	else if (e->n <= 100) {
		for (size_t i = 0; i < e->n; i++)
			sprintf(hex + 2 + 2 * i, "%02x", e->payload[i]);
		cr_expect(payload != NULL && payload->valuestring != NULL);
		if (payload != NULL && e->n > 0)
			cr_expect_str_eq(payload->valuestring, hex, "%s: %s", path, e->code);
	}
}

/* Compares the first and last 1000 events of a stream that the program converted. */
static void agree(const char *path)
{
	struct ran r = run_tool((const char *const[]){ "convert", "--vocabulary", "testdata/ovni/raw.yaml",
	                                               "--to", "chrome", path, "-", NULL },
	                        NULL, 0);
	cJSON *const root = cJSON_ParseWithLength(r.out, r.out_n);
	const cJSON *got = cJSON_GetObjectItemCaseSensitive(root, "traceEvents");
	struct oracle_event e;
	size_t n, at = 8, count = 0, i = 0;
	unsigned char *const p = (unsigned char *)read_whole(path, &n);

	cr_assert(root != NULL && p != NULL, "%s: %.200s", path, r.err);
	while (next(p, n, &at, &e))
		count++;
	got = got->child;
	while (got != NULL && strcmp(cJSON_GetObjectItemCaseSensitive(got, "ph")->valuestring, "M") == 0)
		got = got->next;
	for (at = 8; next(p, n, &at, &e) && got != NULL; got = got->next, i++)
		if (i < 1000 || i + 1000 >= count)
			expect_event(got, &e, path);
	cr_expect_eq(i, count, "%s: %zu events of %zu", path, i, count);
	cJSON_Delete(root);
	ran_free(&r);
	free(p);
}

Test(ovni_oracle, samples)
{
	agree("testdata/ovni/good/document.obs");
	agree("testdata/ovni/good/equal-clocks.obs");
	agree("testdata/ovni/good/empty-jumbo.obs");
	agree("testdata/ovni/good/sorted-region.obs");
}

Test(ovni_oracle, streams_of_real_traces)
{
	char command[600];

	snprintf(command, sizeof command, "find '%s/ovni/good' -name stream.obs 2>/dev/null | sort",
	         real_traces());
	struct ran r = run_program((const char *const[]){ "sh", "-c", command, NULL }, NULL, 0);
	if (r.out_n == 0)
		cr_skip_test("no traces of ovni itself at %s", real_traces());
	for (char *path = strtok(r.out, "\n"); path != NULL; path = strtok(NULL, "\n"))
		agree(path);
	ran_free(&r);
}

/* ---- EXPECTED.json ---- */

static void agree_with_expected(const char *dir, const cJSON *want, const char *text)
{
	char path[600];
	const cJSON *name, *row;

	(void)text;
	snprintf(path, sizeof path, "%s/%s", dir, want->string);
	struct ran r = run_tool((const char *const[]){ "stats", "--format", "json", path, NULL }, NULL, 0);
	cJSON *const report = cJSON_ParseWithLength(r.out, r.out_n);
	const cJSON *const in = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(report, "inputs"), 0);
	const cJSON *const classes = cJSON_GetObjectItemCaseSensitive(in, "classes");

	cr_assert_not_null(in, "%s: %.300s", path, r.err);
	cr_expect_eq(r.status != 0, strncmp(want->string, "ovni/bad/", 9) == 0, "%s: exit status %d", path,
	             r.status);
	static const char *const keys[] = { "events", "first_ns", "last_ns" };
	for (size_t i = 0; i < 3; i++)
		cr_expect(cJSON_Compare(cJSON_GetObjectItemCaseSensitive(in, keys[i]),
		                        cJSON_GetObjectItemCaseSensitive(want, keys[i]), true) ||
		              cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(want, "events")) < 1,
		          "%s: %s", path, keys[i]);
	const cJSON *const names = cJSON_GetObjectItemCaseSensitive(want, "names");
	cr_expect_eq(cJSON_GetArraySize(classes), cJSON_GetArraySize(names), "%s", path);
	cJSON_ArrayForEach(row, classes)
	{
		name = cJSON_GetObjectItemCaseSensitive(
		    names, cJSON_GetObjectItemCaseSensitive(row, "name")->valuestring);
		cr_expect(cJSON_Compare(name, cJSON_GetObjectItemCaseSensitive(row, "count"), true), "%s: %s",
		          path, cJSON_GetObjectItemCaseSensitive(row, "name")->valuestring);
	}
	cJSON_Delete(report);
	ran_free(&r);
}

Test(ovni_oracle, counts_of_real_traces)
{
	cr_expect_gt(each_expected(real_traces(), "ovni/", agree_with_expected), 0);
}

/* ---- good and bad folders of traces ---- */

/* Rules that the bad traces break: those of a stream that was not closed, and of CPUs. */
static const struct {
	const char *trace;
	const char *rules[5];
} bad[] = {
	{ "ovni/bad/ovni-duplicated-cpu-index", { "ovni/cpu-index" } },
	{ "ovni/bad/ovni-empty-stream",
	  { "ovni/not-finished", "ovni/no-require", "ovni/no-cpus", "ovni/no-events" } },
	{ "ovni/bad/ovni-no-cpus", { "ovni/no-cpus" } },
	{ "ovni/bad/ovni-thread-crash",
	  { "ovni/not-finished", "ovni/no-require", "ovni/no-cpus", "ovni/no-thread-end" } },
};

static int count_rules(const cJSON *report)
{
	const cJSON *file;
	int n = 0;

	cJSON_ArrayForEach(file, cJSON_GetObjectItemCaseSensitive(report, "files")) n +=
	    cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(file, "findings"));
	return n;
}

Test(ovni_oracle, folders_of_real_traces_have_the_findings_of_their_kind)
{
	static const char *const folders[] = { "good", "state", "bad" };
	char dir[600];

	for (int i = 0; i < 3; i++) {
		snprintf(dir, sizeof dir, "%s/ovni/%s", real_traces(), folders[i]);
		struct ran ls = run_program((const char *const[]){ "ls", dir, NULL }, NULL, 0);
		if (ls.status != 0)
			cr_skip_test("no traces at %s", dir);
		for (char *name = strtok(ls.out, "\n"); name != NULL; name = strtok(NULL, "\n")) {
			char path[1200], relative[300];
			snprintf(path, sizeof path, "%s/%s", dir, name);
			snprintf(relative, sizeof relative, "ovni/%s/%s", folders[i], name);
			struct ran r = run_tool(
			    (const char *const[]){ "validate", "--format", "json", path, NULL }, NULL, 0);
			cJSON *const report = cJSON_ParseWithLength(r.out, r.out_n);
			int expected = 0;
			cr_expect_eq(r.status, i == 2, "%s: %d", path, r.status);
			for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
				for (int m = 0;
				     strcmp(bad[k].trace, relative) == 0 && bad[k].rules[m] != NULL;
				     m++, expected++)
					cr_expect_not_null(strstr(r.out, bad[k].rules[m]), "%s: no %s", path,
					                   bad[k].rules[m]);
			cr_expect_eq(count_rules(report), expected, "%s: %s", path, r.out);
			cJSON_Delete(report);
			ran_free(&r);
		}
		ran_free(&ls);
	}
}
