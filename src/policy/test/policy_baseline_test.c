/* Budgets that are relative to an earlier run. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "policy/test/policy_util_test.h"

#define QUIET "ignore: chrome/unbalanced\n"

/* Writes what stats says of a trace, with a text replaced by another. */
static void put_baseline(const char *dir, const char *name, const char *traces, const char *from,
                         const char *to)
{
	char command[2048], *text;

	snprintf(command, sizeof command,
	         "t=$(realpath \"$0\"); cd '%s'; exec \"$t\" stats -q --format json %s", dir, traces);
	struct ran r = run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, NULL, 0);
	cr_assert_not_null(strstr(r.out, from), "%s", r.out);
	char *const at = strstr(r.out, from);
	text = malloc(r.out_n + strlen(to) + 1);
	cr_assert_not_null(text);
	sprintf(text, "%.*s%s%s", (int)(at - r.out), r.out, to, at + strlen(from));
	policy_put(dir, name, text);
	free(text);
	ran_free(&r);
}

Test(policy_baseline, the_same_run_is_no_breach)
{
	char *const dir = policy_folder();

	policy_put(dir, ".tracetool.yaml", QUIET);
	put_baseline(dir, "base.json", "a.json", "", "");
	policy_expect(dir, "--baseline base.json a.json", 0, "valid", "[policy/");
	remove_folder(dir);
}

static const struct {
	const char *from, *to; /* in the baseline */
	const char *budget;    /* NULL: what holds without any */
	int status;
	const char *said;
} rows[] = {
	{ "\"p50\":500000", "\"p50\":454545", NULL, 1,
	  ":@310: error: p50 of \"request\" is 500000 ns (500.0 us), 10 % more than 454545 ns (454.5 us) of "
	  "the "
	  "baseline; the tolerance is 10%; the longest is on \"worker 2\" at +100.000 us "
	  "[policy/regression]" },
	{ "\"p50\":500000", "\"p50\":454546", NULL, 0, NULL },
	{ "\"p50\":500000", "\"p50\":0", NULL, 1, "is 500000 ns (500.0 us), more than 0 ns of the baseline" },
	{ "\"sum\":1400000", "\"sum\":1000000", "{name: request, statistic: sum, tolerance: 39%}", 1,
	  "sum of \"request\" is 1400000 ns (1.400 ms), 40 % more than 1000000 ns (1.000 ms) of the "
	  "baseline; the "
	  "tolerance is 39%" },
	{ "\"sum\":1400000", "\"sum\":1000000", "{name: request, statistic: sum, tolerance: 40%}", 0, NULL },
	{ "\"self_ns\":1300000", "\"self_ns\":1200000", "{name: request, statistic: self, tolerance: 0%}", 1,
	  "self of \"request\" is 1300000 ns" },
	{ "\"count\":2", "\"count\":1", "{name: request, statistic: count, tolerance: 50%}", 1,
	  "count of \"request\" is 2, 100 % more than 1 of the baseline; the tolerance is 50%" },
	{ "\"name\":\"tick\",\"count\":1", "\"name\":\"tick\",\"count\":0",
	  "{name: tick, statistic: count, tolerance: 5%}", 1, "count of \"tick\" is 1, more than 0 of the" },
	{ "\"last_ns\":2600000", "\"last_ns\":4200000", "{name: request, statistic: rate, tolerance: 50%}", 1,
	  "rate of \"request\" is 1250/s, 100 % more than 625/s of the baseline" },
	{ "\"max\":900000", "\"max\":800000", "{name: request, statistic: max, tolerance: 10%, limit: 1s}", 1,
	  "[policy/regression]" },
	{ "\"max\":900000", "\"max\":800000", "{name: request, statistic: max, tolerance: 20%, limit: 850us}",
	  1, "[policy/budget]" },
	{ "\"name\":\"parse\"", "\"name\":\"parsed\"", NULL, 0,
	  "note: p50: the baseline does not have \"parse\" [policy/unchecked]" },
	{ "\"name\":\"parse\"", "\"name\":\"parsed\"", "{name: '*', statistic: p99, tolerance: 1%}", 0,
	  "note: p99: the baseline does not have \"parse\" (.tracetool.yaml:2) [policy/unchecked]" },
};

Test(policy_baseline, more_than_the_tolerance_is_a_breach)
{
	char *const dir = policy_folder(), text[512];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		put_baseline(dir, "base.json", "a.json", rows[i].from, rows[i].to);
		snprintf(text, sizeof text, QUIET "budgets: [%s]\n",
		         rows[i].budget != NULL ? rows[i].budget : "");
		policy_put(dir, ".tracetool.yaml", text);
		policy_expect(dir, "--baseline base.json a.json", rows[i].status, rows[i].said,
		              rows[i].said == NULL ? "[policy/" : NULL);
		/* the same, as a key */
		strcat(text, "baseline: base.json\n");
		policy_put(dir, ".tracetool.yaml", text);
		policy_expect(dir, "a.json", rows[i].status, rows[i].said, NULL);
	}
	remove_folder(dir);
}

/* Of several inputs, that of the same path, or of the same name. */
Test(policy_baseline, which_input)
{
	char *const dir = policy_folder();

	policy_put(dir, ".tracetool.yaml", QUIET);
	policy_put(dir, "b.json", policy_trace);
	policy_put(dir, "x/b.json", policy_trace);
	policy_put(dir, "x/c.json", policy_trace);
	put_baseline(dir, "base.data", "a.json b.json", "\"p50\":500000", "\"p50\":1");
	policy_expect(dir, "--baseline base.data a.json", 1, "[policy/regression]", NULL);
	policy_expect(dir, "--baseline base.data b.json x/b.json", 0, NULL, "[policy/");
	policy_expect(dir, "--baseline base.data x/c.json", 0,
	              "p50 of \"*\": the baseline has no input of this name [policy/unchecked]", NULL);
	remove_folder(dir);
}

Test(policy_baseline, mistakes)
{
	static const struct {
		const char *text, *said;
	} bad[] = {
		{ "{\"inputs\":[\n{\"path\":}", "base.json:2:9:@20: error: the file is no JSON from here on: "
		                                "expected a value [policy/bad-baseline]" },
		{ "", "base.json:1:1:@0: error: the file is no JSON from here on" },
		{ "[]", "it has no inputs; tracetool stats --format json writes such a file" },
		{ "{\"inputs\":[]}", "it has no inputs" },
		{ "{\"inputs\":[{}]}", "an input has no path" },
		{ "{\"inputs\":[0,0,0]}", "base.json:1:12:@11: error: an input is no object" },
		{ "{\"inputs\":[{\"path\":\"a\",\"spans\":[]}]}",
		  "an input lacks one of spans, async_spans" },
		{ "{\"inputs\":[{\"path\":\"a\",\"spans\":[{}]}]}", "a row has no name" },
		{ "{\"inputs\":[{\"path\":\"a\",\"spans\":[{\"name\":\"request\",\"dur_ns\":{\"p50\":\"x\"}}]"
		  ","
		  "\"async_spans\":[],\"instants\":[],\"counters\":[]}]}",
		  NULL },
	};
	char *const dir = policy_folder();

	policy_put(dir, ".tracetool.yaml", QUIET);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		policy_put(dir, "base.json", bad[i].text);
		policy_expect(dir, "--baseline base.json a.json", bad[i].said != NULL ? 2 : 0, bad[i].said,
		              bad[i].said != NULL ? "a.json: " : NULL);
	}
	policy_expect(dir, "--baseline nowhere.json a.json", 2, "nowhere.json:@0: error: No such file", NULL);
	remove_folder(dir);
}

Test(policy_baseline, deep_json_is_refused)
{
	char *const dir = policy_folder(), *const text = malloc(100001);

	cr_assert_not_null(text);
	memset(text, '[', 100000);
	text[100000] = '\0';
	policy_put(dir, "base.json", text);
	policy_expect(dir, "--baseline base.json a.json", 2, "[policy/bad-baseline]", NULL);
	free(text);
	remove_folder(dir);
}

/* Rows of all inputs count, in whichever table. */
Test(policy_baseline, rows_have_a_limit)
{
	static const char row[] = "{\"name\":\"r\"},";
	enum { SIZE = sizeof row - 1 };
	char *const dir = policy_folder(), *const text = malloc(BASELINE_MAX_ROWS * SIZE + 1000);

	cr_assert_not_null(text);
	policy_put(dir, ".tracetool.yaml", QUIET);
	for (unsigned more = 0; more < 2; more++) {
		char *p = text + sprintf(text, "{\"inputs\":[{\"path\":\"x\",\"spans\":[");
		for (unsigned i = 0; i < BASELINE_MAX_ROWS - 1 + more; i++, p += SIZE)
			memcpy(p, row, SIZE);
		sprintf(p - 1, "],\"async_spans\":[],\"instants\":[],\"counters\":[%.*s]}]}", SIZE - 1, row);
		policy_put(dir, "base.json", text);
		policy_expect(dir, "--baseline base.json a.json", more > 0 ? 2 : 0,
		              more > 0 ? "from here on it has more rows than a baseline may have" : NULL,
		              more > 0 ? NULL : "[policy/bad-baseline]");
	}
	free(text);
	remove_folder(dir);
}
