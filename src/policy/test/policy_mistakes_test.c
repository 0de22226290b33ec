/* Mistakes in policies: their positions and messages.
 * Hostile policies end with a mistake, in bounded time. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/rules.h"
#include "policy/policy.h"

struct report {
	char text[2048]; /* "LINE:COLUMN RULE MESSAGE\n" of each */
	size_t n;
};

static void add_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct report *const s = ctx;

	s->n += (size_t)snprintf(s->text + s->n, sizeof s->text - s->n, "%d:%d %s %s\n", (int)f->line,
	                         (int)f->column, f->rule->id, f->message);
	s->n = s->n < sizeof s->text ? s->n : sizeof s->text - 1;
}

static bool parse(struct slice text, struct report *s)
{
	struct findings findings;
	bool no_memory;

	*s = (struct report){ .n = 0 };
	findings_init(&findings, "p.yaml", add_finding, s);
	struct policy_file *const f = policy_file_parse(text, "p.yaml", "/f", &findings, &no_memory);
	cr_expect_not(no_memory);
	cr_expect_eq(f == NULL, findings.levels[LEVEL_ERROR] > 0);
	policy_file_free(f);
	findings_free(&findings);
	return f != NULL;
}

/* The @ is at the position of the mistake, and removed. */
static const struct {
	const char *text, *rule, *message;
} rows[] = {
	{ "@", "syntax", "the file holds nothing" },
	{ "@- a", "bad-value", "a policy is a mapping (key: value), not a list" },
	{ "@selct: a", "unknown-key", "a policy has no key \"selct\"; did you mean select?" },
	{ "@zzz: a", "unknown-key", "a policy has no key \"zzz\"" },
	{ "select: '*'\n@select: '*'", "syntax", "duplicate key \"select\"" },
	{ "select: @input/mising", "bad-value",
	  "select: no rule matches \"input/mising\"; did you mean input/missing?" },
	{ "ignore: ['input/*', @nothing/x]", "bad-value",
	  "ignore: no rule matches \"nothing/x\"; tracetool rules lists" },
	{ "level: @error", "bad-value", "level is a mapping of rules to levels" },
	{ "level: {'*': @fatal}", "bad-value",
	  "a level is one of note, warning, limit, error, not \"fatal\"" },
	{ "level: {@inputs: note}", "bad-value", "level: no rule matches \"inputs\"" },
	{ "fail-level: @no", "bad-value",
	  "fail-level is one of note, warning, limit, error, never, not \"no\"" },
	{ "exit-zero: @yes", "bad-value", "exit-zero is one of false, true, not \"yes\"" },
	{ "max-findings: @many", "bad-value", "max-findings is a whole number such as 20, not \"many\"" },
	{ "threads: @0", "bad-value", "threads is a number of at least 1" },
	{ "baseline: @[a]", "bad-value", "baseline is a text, not a list" },
	{ "report: @sarf", "bad-value", "a report is one of auto, text, gcc, json" },
	{ "report: [text, @json=/etc/x]", "bad-value", "must be below the directory of the policy" },
	{ "report: @json=a/../../b", "bad-value", "must be below the directory of the policy" },
	{ "report: @json=", "bad-value", "must be below the directory of the policy" },
	{ "overrides: @a", "bad-value", "overrides is a list of at most 32 mappings" },
	{ "overrides:\n  - @fail-level: note", "bad-value", "an override has no paths" },
	{ "overrides:\n  - paths: a\n    @report: text", "unknown-key",
	  "an override has no key \"report\"; its keys are paths, " },
	{ "expect: {time: {@longest: 5s}}", "unknown-key",
	  "time has no key \"longest\"; its keys are duration, after, before" },
	{ "overrides: [{paths: @[]}]", "bad-value", "paths is an empty list" },
	{ "expect: {@event: []}", "unknown-key", "expect has no key \"event\"; did you mean events?" },
	{ "expect: {events: @a}", "bad-value", "events is a list" },
	{ "expect: {events: [@{count: 1}]}", "bad-value", "an event needs a name, a category or a thread" },
	{ "expect: {events: [{name: @''}]}", "bad-value", "name is empty" },
	{ "expect: {events: [{name: a, count: @-1}]}", "bad-value",
	  "count is a whole number such as 20, not \"-1\"" },
	{ "expect: {events: [{name: a, count: @{min: 2, max: 1}}]}", "bad-value",
	  "count: min is more than max" },
	{ "expect: {events: [{name: a, count: {@mim: 2}}]}", "unknown-key",
	  "count has no key \"mim\"; did you mean min?" },
	{ "expect: {epoch: @1}", "bad-value", "epoch is one of false, true, not \"1\"" },
	{ "expect: {epoch: {after: @5s}}", "bad-value",
	  "after is a time such as 2026-01-31T08:00:00Z, not \"5s\"" },
	{ "expect: {time: {before: @5}}", "bad-value", "or 1.5s of the trace's own clock, not \"5\"" },
	{ "expect: {time: {duration: @5s}}", "bad-value", "duration is a mapping (key: value), not a text" },
	{ "expect: {time: @{after: 2s, before: 1s}}", "bad-value", "time: after is later than before" },
	{ "expect: {epoch: @{after: 2026-01-02, before: 2026-01-01}}", "bad-value",
	  "epoch: after is later than before" },
	{ "expect: {time: {duration: @{min: 2s, max: 1s}}}", "bad-value", "duration: min is more than max" },
	{ "expect: {lost-packets: @5}", "bad-value", "lost-packets is a share such as 0.5%, not \"5\"" },
	{ "expect: {unfinished-spans: @none}", "bad-value", "unfinished-spans is a share such as 0.5%" },
	{ "expect: {threads: {names: @[]}}", "bad-value", "names is an empty list" },
	{ "budgets: @{}", "bad-value", "budgets is a list" },
	{ "budgets: [@{name: a, limit: 1s}]", "bad-value", "a budget has no statistic" },
	{ "budgets: [@{statistic: p50, limit: 1s}]", "bad-value", "a budget has no name" },
	{ "budgets: [@{name: a, statistic: p50}]", "bad-value", "a budget needs a limit, a tolerance" },
	{ "budgets: [{name: a, statistic: @q95, limit: 1s}]", "bad-value",
	  "statistic is one of p50, p90, p99, max" },
	{ "budgets: [{name: a, statistic: p50, limit: @5}]", "bad-value",
	  "the limit of p50 is a time such as 5ms" },
	{ "budgets: [{name: a, statistic: count, limit: @5s}]", "bad-value",
	  "the limit of count is a whole number" },
	{ "budgets: [{name: a, statistic: rate, limit: @5s}]", "bad-value",
	  "the limit of rate is a rate such as 100/s" },
	{ "budgets: [{name: a, statistic: p50, tolerance: @5}]", "bad-value",
	  "tolerance is a share such as 10%" },
	{ "# \xc3\xa9\nselect: '\xc3\xa9', @x", "syntax", "" },
	{ "select: @&a '*'", "syntax", "anchors (&name)" },
	{ "select: @*a", "syntax", "aliases (*name)" },
	{ "select: @!!str a", "syntax", "tags (!name)" },
	{ "@%TAG !x! a\n---\nselect: '*'", "syntax", "tags (%TAG)" },
	{ "select: '*'\n...\n@%TAG !x! a\n---\n", "syntax", "tags (%TAG)" },
	{ "level: {'chrome/*': note, @'chrome/*': error}", "syntax", "duplicate key" },
	{ "expect: {metadata: {a: b, @a: c}}", "syntax", "duplicate key" },
	{ "select: '*'\n@--- \nselect: '*'", "syntax", "second document" },
	{ "# a\nselect: \"@\xff\"", "syntax", "the bytes here are no UTF-8" },
	{ "\xef\xbb\xbfselect: \"@\xff\"", "syntax", "the bytes here are no UTF-8" },
};

Test(policy_mistakes, each_has_its_place)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const at = strchr(rows[i].text, '@');
		char text[512], head[128];
		int line = 1, column = 1;
		struct report s;

		snprintf(text, sizeof text, "%.*s%s", (int)(at - rows[i].text), rows[i].text, at + 1);
		for (const char *p = rows[i].text; p < at; p++) {
			column = *p == '\n' ? 1 : column + 1;
			line += *p == '\n';
		}
		cr_expect_not(parse(slice_str(text), &s), "%s is accepted", text);
		snprintf(head, sizeof head, "%d:%d policy/%s ", line, column, rows[i].rule);
		if (rows[i].message[0] != '\0')
			cr_expect_eq(strncmp(s.text, head, strlen(head)), 0, "%s: not %s: %s", text, head,
			             s.text);
		cr_expect_not_null(strstr(s.text, rows[i].message), "%s: lacks %s: %s", text, rows[i].message,
		                   s.text);
	}
}

Test(policy_mistakes, a_policy_without_any)
{
	struct report s;

	cr_expect(parse(SLICE_LIT("# yaml-language-server: $schema=x\n{}\n"), &s), "%s", s.text);
	cr_expect(parse(SLICE_LIT("select: []\nignore: 'input/*'\nlevel: {'input/*': note, '*': error}\n"
	                          "fail-level: never\nexit-zero: true\nmax-findings: 5\nthreads: 2\n"
	                          "report: [auto, sarif=a/b.sarif]\nbaseline: c/b.json\nbudgets: []\n"
	                          "expect: {events: [], metadata: {}, time: {}, threads: {}, epoch: {}}\n"
	                          "overrides: [{paths: [a, 'b/*'], select: '*', expect: {}, budgets: []}]\n"),
	                &s),
	          "%s", s.text);
}

/* A text of n times a part. */
static void expect_bounded(const char *head, const char *part, size_t n, const char *message)
{
	const size_t length = strlen(part);
	char *const text = malloc(strlen(head) + n * length + 1);
	struct report s;

	cr_assert_not_null(text);
	strcpy(text, head);
	for (size_t i = 0; i < n; i++)
		memcpy(text + strlen(head) + i * length, part, length);
	cr_expect_not(parse(slice_of(text, strlen(head) + n * length), &s), "%s %s is accepted", head, part);
	cr_expect_not_null(strstr(s.text, message), "%s%s...: %s", head, part, s.text);
	free(text);
}

Test(policy_mistakes, hostile_texts_are_bounded)
{
	expect_bounded("", "[", 500000, "more than 16 deep");
	expect_bounded("", "a:\n", 10, "");
	expect_bounded("", "{a: ", 200000, "more than 16 deep");
	expect_bounded("", "- ", 400000, "more than 16 deep");
	expect_bounded("select: [", "a,", 300000, "the file holds more than 262144 values");
	expect_bounded("expect: {events: [", "a,", 65, "");
	expect_bounded("a: &a [x]\nb: [", "*a,", 1000, "anchors");
	expect_bounded("select: \"", "\\x00", 100, "");
	expect_bounded("? ", "? ", 100000, "");
	expect_bounded("", "\t", 1000, "");
	expect_bounded("", "\xf0\x9f\x98", 1000, "no UTF-8");
}

static void expect_list(const char *head, const char *part, size_t n, const char *tail, const char *message)
{
	char text[32768];
	size_t k = (size_t)snprintf(text, sizeof text, "%s", head);
	const char *const place = strchr(part, '$'); /* where a number goes */
	struct report s;

	for (size_t i = 0; i < n; i++)
		k += (size_t)snprintf(text + k, sizeof text - k, "%.*s%zu%s", (int)(place - part), part, i,
		                      place + 1);
	snprintf(text + k, sizeof text - k, "%s", tail);
	cr_expect_eq(parse(slice_str(text), &s), message == NULL, "%zu times %s: %s", n, part, s.text);
	if (message != NULL)
		cr_expect_not_null(strstr(s.text, message), "%s", s.text);
}

/* A policy with a changed byte is valid or has a mistake. */
Test(policy_mistakes, changed_bytes)
{
	static const char policy[] =
	    "select: ['*']\nlevel: {'policy/*': note}\nreport: [text, json=a]\nexpect:\n"
	    "  events: [a, {name: 'b*', category: c, count: {min: 1, max: 2}}]\n"
	    "  metadata: {a: b}\n  epoch: {after: '2026-01-01'}\n  threads: {count: 2, names: [a]}\n"
	    "  lost-packets: 1%\n  time: {duration: {max: 1s}, after: 0}\n"
	    "budgets: [{name: a, statistic: p50, limit: 1ms, tolerance: 5%}]\n"
	    "overrides: [{paths: [a, 'b/*'], expect: {processes: 1}}]\n";
	char text[sizeof policy];
	unsigned seed = 3;
	size_t valid = 0;
	struct report s;

	for (int i = 0; i < 20000; i++) {
		memcpy(text, policy, sizeof policy);
		for (int k = i % 3; k >= 0; k--)
			text[(size_t)rand_r(&seed) % (sizeof policy - 1)] =
			    i % 2 == 0 ? (char)rand_r(&seed) : "[]{}:,*&!'\"# \n%-|>"[rand_r(&seed) % 19];
		const size_t n = i % 7 == 0 ? (size_t)rand_r(&seed) % sizeof policy : sizeof policy - 1;
		valid += parse(slice_of(text, n), &s);
	}
	cr_expect(valid > 100 && valid < 19000, "%zu", valid);
}

Test(policy_mistakes, limits)
{
	const char *const budget = "{name: a$, statistic: p50, limit: 1s},";

	expect_list("expect: {events: [", "e$,", POLICY_MAX_EVENTS, "]}", NULL);
	expect_list("expect: {events: [", "e$,", POLICY_MAX_EVENTS + 1, "]}", "more than 64 events");
	expect_list("expect: {metadata: [", "e$,", POLICY_MAX_METADATA, "]}", NULL);
	expect_list("expect: {metadata: [", "e$,", POLICY_MAX_METADATA + 1, "]}", "more than 64 metadata");
	expect_list("expect: {threads: {names: [", "e$,", POLICY_MAX_NAMES + 1, "]}}",
	            "more than 64 entries");
	expect_list("budgets: [", budget, POLICY_MAX_BUDGETS, "]", NULL);
	expect_list("budgets: [", budget, POLICY_MAX_BUDGETS + 1, "]", "at most 128");
	expect_list("overrides: [", "{paths: p$},", POLICY_MAX_OVERRIDES, "]", NULL);
	expect_list("overrides: [", "{paths: p$},", POLICY_MAX_OVERRIDES + 1, "]", "at most 32");
	expect_list("report: [", "json=f$,", POLICY_MAX_REPORTS + 1, "]", "more than 16 entries");
	expect_list("ignore: '", "x$", 1, "'", "no rule matches");
	expect_list("expect: {events: ['*", "aaaaaaaa$", 7, "*']}", NULL);
	expect_list("expect: {events: ['*", "aaaaaaaa$", 8, "*']}",
	            "name has more than 64 bytes between two *");
	expect_list("expect: {events: ['", "aaaaaaaa$", 8, "']}", NULL);
	expect_list("budgets: [{statistic: max, limit: 1s, name: '", "aaaaaaaa$", 120, "'}]",
	            "name is longer than 1024 bytes");
	/* of all sections */
	expect_list("overrides: [", "{paths: a, expect: {events: [a, b, c, d, e, f, g, h, i$]}},", 8, "]",
	            "more than 64 events");
}
