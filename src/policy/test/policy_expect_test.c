/* Each key of "expect" and "budgets", kept and broken. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "policy/test/policy_util_test.h"

#define QUIET "ignore: chrome/unbalanced\n"

/* The policy, which one way is kept and the other is not. */
struct expectation {
	const char *kept, *broken;
	const char *said; /* of the broken one */
};

static void expect_both(const char *dir, const struct expectation *x)
{
	char text[1024];

	snprintf(text, sizeof text, QUIET "%s", x->kept);
	policy_put(dir, ".tracetool.yaml", text);
	policy_expect(dir, "a.json", 0, "a.json: valid", "[policy/");
	snprintf(text, sizeof text, QUIET "%s", x->broken);
	policy_put(dir, ".tracetool.yaml", text);
	policy_expect(dir, "a.json", 1, x->said, "[policy/unchecked]");
}

static const struct expectation events[] = {
	{ "expect: {events: [request, 'pa*', tick, load, open]}", "expect: {events: [request, nothing]}",
	  "a.json:@0: error: events \"nothing\": 0, not at least 1 (.tracetool.yaml:2) "
	  "[policy/event-missing]" },
	{ "expect: {events: [{name: request, count: 2}]}", "expect: {events: [{name: request, count: 3}]}",
	  ":@232: error: events \"request\": 2, not at least 3" },
	{ "expect: {events: [{name: request, count: {max: 2}}]}",
	  "expect: {events: [{name: request, count: {max: 1}}]}",
	  ":@310: error: events \"request\": 2, not at most 1 (.tracetool.yaml:2) [policy/event-beyond]" },
	{ "expect: {events: [{category: http, count: {min: 3, max: 3}}]}",
	  "expect: {events: [{category: http, count: {min: 4}}]}",
	  "events category \"http\": 3, not at least 4" },
	{ "expect: {events: [{name: panic, count: 0}]}", "expect: {events: [{name: 't*', count: 0}]}",
	  "events \"t*\": 1, although none are allowed" },
	{ "expect: {events: [{name: '*', category: io}]}", "expect: {events: [{name: tick, category: io}]}",
	  "events \"tick\" of category \"io\": 0" },
};

static const struct expectation facts[] = {
	{ "expect: {metadata: version}", "expect: {metadata: build}", "the trace has no metadata \"build\"" },
	{ "expect: {metadata: [version, 'h*']}", "expect: {metadata: [version, hots]}",
	  "the trace has no metadata \"hots\" (.tracetool.yaml:2) [policy/metadata]" },
	{ "expect: {metadata: {version: '1.*'}}", "expect: {metadata: {version: '2.*'}}",
	  "metadata \"version\" is \"1.2\", not \"2.*\"" },
	{ "expect: {epoch: false}", "expect: {epoch: true}",
	  "the epoch of the trace is not known (.tracetool.yaml:2) [policy/epoch]" },
	{ "expect: {threads: 2}", "expect: {threads: 3}",
	  "number of threads: 2, not at least 3 (.tracetool.yaml:2) [policy/threads]" },
	{ "expect: {threads: {count: {max: 2}}}", "expect: {threads: {count: {max: 1}}}",
	  "number of threads: 2, not at most 1" },
	{ "expect: {threads: {names: ['worker*', main]}}", "expect: {threads: {names: ['worker*', render]}}",
	  "no thread has the name \"render\"" },
	{ "expect: {processes: 1}", "expect: {processes: {count: 2}}",
	  "number of processes: 1, not at least 2 (.tracetool.yaml:2) [policy/processes]" },
	{ "expect: {processes: {names: server}}", "expect: {processes: {names: client}}",
	  "no process has the name \"client\"" },
	{ "expect: {unfinished-spans: 25%}", "expect: {unfinished-spans: 24.9%}",
	  ":@537: error: 1 of 4 spans have no end: 25 %, more than 24.9%" },
	{ "expect: {time: {duration: {min: 1.6ms, max: 1600 us}}}", "expect: {time: {duration: {min: 2ms}}}",
	  ":@232: error: the trace lasts 1600000 ns, not at least 2000000 ns (.tracetool.yaml:2) "
	  "[policy/time-range]" },
	{ "expect: {time: {duration: {max: 1h}}}", "expect: {time: {duration: {max: 1ms}}}",
	  "the trace lasts 1600000 ns, not at most 1000000 ns" },
	{ "expect: {time: {after: 1ms}}", "expect: {time: {after: 1.1ms}}",
	  ":@232: error: the first event is at 1000000 ns, not after 1.1ms" },
	{ "expect: {time: {before: 2600us}}", "expect: {time: {before: 2599us}}",
	  ":@600: error: the last event ends at 2600000 ns, not before 2599us" },
	{ "expect: {time: {after: 0}}", "expect: {time: {after: '2026-01-01'}}",
	  "the wall time of events is not known, so not whether they are after 2026-01-01" },
};

static const struct expectation budgets[] = {
	{ "budgets: [{name: 'req*', statistic: p50, limit: 500us}]",
	  "budgets: [{name: 'req*', statistic: p50, limit: 499us}]",
	  ":@310: error: p50 of \"request\" is 500000 ns (500.0 us), more than 499us; the longest is on "
	  "\"worker 2\" "
	  "at +100.000 us (.tracetool.yaml:2) [policy/budget]" },
	{ "budgets: [{name: request, statistic: p90, limit: 0.9 ms}]",
	  "budgets: [{name: request, statistic: p90, limit: 899999ns}]", "p90 of \"request\" is 900000 ns" },
	{ "budgets: [{name: request, statistic: p99, limit: 1s}]",
	  "budgets: [{name: request, statistic: p99, limit: 1us}]", "p99 of \"request\" is 900000 ns" },
	{ "budgets: [{name: request, statistic: max, limit: 1min}]",
	  "budgets: [{name: request, statistic: max, limit: 0}]", "max of \"request\" is 900000 ns" },
	{ "budgets: [{name: request, statistic: sum, limit: 1.4ms}]",
	  "budgets: [{name: request, statistic: sum, limit: 1.3ms}]", "sum of \"request\" is 1400000 ns" },
	{ "budgets: [{name: request, statistic: mean, limit: 700us}]",
	  "budgets: [{name: request, statistic: mean, limit: 699us}]", "mean of \"request\" is 700000 ns" },
	{ "budgets: [{name: request, statistic: self, limit: 1.3ms}]",
	  "budgets: [{name: request, statistic: self, limit: 1.2ms}]", "self of \"request\" is 1300000 ns" },
	{ "budgets: [{name: request, statistic: count, limit: 2}]",
	  "budgets: [{name: request, statistic: count, limit: 1}]",
	  "count of \"request\" is 2, more than 1;" },
	{ "budgets: [{name: tick, statistic: count, limit: 1}]",
	  "budgets: [{name: 'l*', statistic: count, limit: 0}]", "count of \"load\" is 1, more than 0 (" },
	{ "budgets: [{name: request, statistic: rate, limit: 1250/s}]",
	  "budgets: [{name: request, statistic: rate, limit: 1/ms}]",
	  "rate of \"request\" is 1250/s, more than 1/ms" },
	{ "budgets: [{name: '*', statistic: max, limit: 900us}]",
	  "budgets: [{name: '*', statistic: max, limit: 450us}]",
	  "a.json: not valid chrome, 9 records, 1 error," },
};

static void expect_list(const struct expectation *list, size_t n)
{
	char *const dir = policy_folder();

	for (size_t i = 0; i < n; i++)
		expect_both(dir, &list[i]);
	remove_folder(dir);
}

Test(policy_expect, events)
{
	expect_list(events, sizeof events / sizeof events[0]);
}

Test(policy_expect, facts)
{
	expect_list(facts, sizeof facts / sizeof facts[0]);
}

Test(policy_expect, budgets)
{
	expect_list(budgets, sizeof budgets / sizeof budgets[0]);
}

/* A format whose packets are numbered, and which knows the wall time. */
Test(policy_expect, packets_and_epoch)
{
	static const struct {
		const char *policy, *trace, *said; /* NULL: it is kept */
	} rows[] = {
		{ "lost-packets: 12%", "bad/counter-gap-shared", NULL },
		{ "lost-packets: 11%", "bad/counter-gap-shared",
		  "missing packets: 1 of 9 (11.11 %), more than 11% (p.yaml:1) [policy/lost-packets]" },
		{ "lost-packets: 0%", "good/mixed", NULL },
		{ "epoch: true", "good/mixed", NULL },
		{ "epoch: false", "good/mixed",
		  "the epoch is 2021-01-08T13:48:54.118010000Z, although none" },
		{ "epoch: {after: '2021-01-08'}", "good/mixed", NULL },
		{ "epoch: {after: '2021-01-08T13:48:55Z'}", "good/mixed",
		  ", not after 2021-01-08T13:48:55Z" },
		{ "epoch: {before: '2021-01-08T13:48:54.118010Z'}", "good/mixed", NULL },
		{ "epoch: {before: '2021-01-08'}", "good/mixed",
		  ", not before 2021-01-08 (p.yaml:1) [policy/epoch]" },
		{ "time: {after: '2021-01-08', before: '2021-01-09'}", "good/mixed", NULL },
		{ "time: {after: '2022-01-08'}", "good/mixed", "the first event is at 2021-01-08T13:" },
		{ "time: {before: '2020-01-08'}", "good/mixed", "the last event ends at 2021-01-08T13:" },
	};
	char *const dir = policy_folder(), args[2048];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(args, sizeof args, "expect: {%s}", rows[i].policy);
		policy_put(dir, "p.yaml", args);
		snprintf(args, sizeof args,
		         "--config p.yaml --ignore-rules 'heph/*' \"$OLDPWD\"/testdata/heph/%s.bin.log",
		         rows[i].trace);
		policy_expect(dir, args, rows[i].said != NULL, rows[i].said,
		              rows[i].said != NULL ? NULL : "[policy/");
	}
	remove_folder(dir);
}

/* What cannot be checked is said, and does not fail. */
Test(policy_expect, what_is_not_checked_is_said)
{
	static const char *const rows[][2] = {
		{ "expect: {lost-packets: 1%}",
		  "note: lost-packets: packets of this format have no numbers" },
		{ "budgets: [{name: nobody, statistic: max, limit: 1s}]",
		  "max of \"nobody\": nothing has such a name" },
		{ "budgets: [{name: tick, statistic: max, limit: 1s}]",
		  "max of \"tick\": nothing has such a name" },
		{ "budgets: [{name: request, statistic: max, tolerance: 5%}]",
		  "max of \"request\": no baseline was named" },
	};
	char *const dir = policy_folder(), text[512];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(text, sizeof text, QUIET "%s", rows[i][0]);
		policy_put(dir, ".tracetool.yaml", text);
		policy_expect(dir, "a.json", 0, rows[i][1], NULL);
		policy_expect(dir, "--level policy/unchecked=error a.json", 1, "[policy/unchecked]", NULL);
	}
	remove_folder(dir);
}

/* Nothing is expected of what could not be read. */
Test(policy_expect, not_of_what_cannot_be_read)
{
	char *const dir = policy_folder();

	policy_put(dir, ".tracetool.yaml", "expect: {events: [nothing]}\n");
	policy_put(dir, "b.json", "no trace at all\n");
	policy_expect(dir, "nowhere.json b.json", 2, ": no such file", "[policy/");
	remove_folder(dir);
}

/* A trace of several files is judged as a whole. */
Test(policy_expect, of_a_trace_of_several_files)
{
	char *const dir = policy_folder();

	policy_put(dir, "p.yaml",
	           "expect: {events: [nothing]}\nbudgets: [{name: '*', statistic: max, limit: 1h}]\n");
	policy_expect(
	    dir, "--config p.yaml --select-rules 'policy/*' \"$OLDPWD\"/testdata/ovni/folders/old-layout", 1,
	    "[policy/event-missing]", NULL);
	remove_folder(dir);
}

static const char services[] = /* two polls of one task, whose life has the same name */
    "[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"worker 0\"}},"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":3,\"args\":{\"name\":\"io\"}},"
    "{\"ph\":\"b\",\"cat\":\"task\",\"name\":\"main.rs\",\"id\":1,\"ts\":0,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"X\",\"cat\":\"poll\",\"name\":\"main.rs\",\"ts\":1000,\"dur\":2000,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"X\",\"cat\":\"poll\",\"name\":\"other.rs\",\"ts\":4000,\"dur\":3000,\"pid\":1,\"tid\":3},"
    "{\"ph\":\"X\",\"cat\":\"park\",\"name\":\"main.rs\",\"ts\":8000,\"dur\":9000,\"pid\":1,\"tid\":2},"
    "{\"ph\":\"e\",\"cat\":\"task\",\"name\":\"main.rs\",\"id\":1,\"ts\":90000,\"pid\":1,\"tid\":2}]\n";

/* Which events a budget, or an expectation, is about. */
Test(policy_expect, who_is_meant)
{
	static const struct {
		const char *policy, *has, *lacks;
		int status;
	} rows[] = {
		{ "budgets: [{category: poll, statistic: p99, limit: 2ms}]",
		  "p99 of poll \"other.rs\" is 3000000 ns", "main.rs", 1 },
		{ "budgets: [{category: poll, statistic: max, limit: 3ms}]", NULL, "budget", 0 },
		{ "budgets: [{name: '*.rs', statistic: max, limit: 9ms}]", NULL, "budget", 0 },
		{ "budgets: [{name: '*.rs', kind: async, statistic: max, limit: 9ms}]",
		  "max of \"main.rs\" is 90000000 ns", "other.rs", 1 },
		{ "budgets: [{category: poll, group: all, statistic: sum, limit: 4ms}]",
		  "sum of category \"poll\" is 5000000 ns", NULL, 1 },
		{ "budgets: [{name: '*', group: category, statistic: count, limit: 1}]",
		  "count of category \"poll\" is 2", "park", 1 },
		{ "budgets: [{name: '*', group: all, statistic: p50, limit: 2ms}]",
		  "p50 of \"*\" is 3000000 ns", NULL, 1 },
		{ "budgets: [{thread: 'worker *', statistic: max, limit: 8ms}]",
		  "max of \"main.rs\" is 9000000 ns", "other.rs", 1 },
		{ "budgets: [{thread: io, statistic: max, limit: 2ms}]", "max of \"other.rs\" is 3000000 ns",
		  "main.rs", 1 },
		{ "budgets: [{thread: io, category: park, statistic: max, limit: 1ns}]",
		  "category \"park\" on thread \"io\": nothing has such a name", NULL, 0 },
		{ "expect: {events: [{category: poll, thread: io, count: 2}]}",
		  "events category \"poll\" on thread \"io\": 1, not at least 2", NULL, 1 },
		{ "expect: {events: [{name: main.rs, kind: async, count: 1}]}", NULL, "policy/", 0 },
		{ "expect: {events: [{name: main.rs, kind: span, count: 2}]}", NULL, "policy/", 0 },
		{ "expect: {events: [{thread: 'wor*', kind: instant, count: 0}]}", NULL, "policy/", 0 },
		{ "budgets: [{statistic: max, limit: 1ms}]", "a budget has no name, category or thread", NULL,
		  2 },
		{ "budgets: [{thread: io, statistic: max, tolerance: 1%}]", "a tolerance goes with no thread",
		  NULL, 2 },
		{ "budgets: [{name: a, kind: poll, statistic: max, limit: 1}]",
		  "kind is one of span, async, instant, counter", NULL, 2 },
	};
	char *const dir = policy_folder();

	policy_put(dir, "s.json", services);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		policy_put(dir, "p.yaml", rows[i].policy);
		policy_expect(dir, "--config p.yaml s.json", rows[i].status, rows[i].has, rows[i].lacks);
	}
	remove_folder(dir);
}
