/* All reports agree; SARIF and JUnit meet requirements of their services beyond the schema. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/test/reports_util_test.h"
#include "test/support/strength.h"

static struct ran report_of(const char *environment, const char *kind, const char *args)
{
	char all[5000];

	snprintf(all, sizeof all, "--format %s %s", kind, args);
	return validate_sh(environment, all);
}

/* Text that each kind of report has exactly once for a finding of the rule $. */
static const char *const marks[REPORT_KINDS] = {
	"[$]\n", "[$]\n",     "{\"rule\":\"$\"", ",\"rule\":\"$\"",     "{\"ruleId\":\"$\"",
	"[$]\n", "title=$::", "| $ |\n",         "\"check_name\":\"$\""
};

/* The same for the offset $ of the finding. */
static const char *const places[REPORT_KINDS] = {
	":@$: ",    NULL, "\"offset\":$,", "\"offset\":$,", "\"byteOffset\":$,", "@$: ", "::@$: ",
	"byte $ |", NULL
};

/* Replaces the dollar in a form by the value. */
static void fill(char *to, size_t n, const char *form, const char *value)
{
	const char *const at = strchr(form, '$');

	snprintf(to, n, "%.*s%s%s", (int)(at - form), form, value, at + 1);
}

static void expect_finding(const char *kind, const char *report, const char *form, const char *place,
                           const cJSON *finding, size_t times)
{
	const char *const rule = cJSON_GetObjectItem(finding, "rule")->valuestring;
	char mark[200], offset[32];

	fill(mark, sizeof mark, form, rule);
	cr_expect_eq(count_word(report, mark), times, "%s: %zu of %s, not %zu: %.3000s", kind,
	             count_word(report, mark), mark, times, report);
	if (place == NULL)
		return;
	snprintf(offset, sizeof offset, "%.0f", cJSON_GetObjectItem(finding, "offset")->valuedouble);
	fill(mark, sizeof mark, place, offset);
	cr_expect_not_null(strstr(report, mark), "%s lacks %s of %s", kind, mark, rule);
}

static void expect_all(const char *args, size_t min)
{
	struct ran json = report_of("X=", "json", args);
	cJSON *const doc = cJSON_Parse(json.out);
	const cJSON *file, *finding;
	size_t n = 0;

	cr_assert_not_null(doc, "%s", json.out);
	for (size_t k = 0; k < REPORT_KINDS; k++) {
		struct ran r = report_of("X=", report_names[k], args);
		cr_expect_eq(r.status, json.status, "%s: %d", report_names[k], r.status);
		n = 0;
		cJSON_ArrayForEach(file, cJSON_GetObjectItem(doc, "files"))
		    cJSON_ArrayForEach(finding, cJSON_GetObjectItem(file, "findings"))
		{
			char mark[200];
			snprintf(mark, sizeof mark, "{\"rule\":\"%s\"",
			         cJSON_GetObjectItem(finding, "rule")->valuestring);
			expect_finding(report_names[k], r.out, marks[k], places[k], finding,
			               count_word(json.out, mark));
			n++;
		}
		cr_expect(n >= min, "%zu findings", n);
		ran_free(&r);
	}
	cJSON_Delete(doc);
	ran_free(&json);
}

Test(reports, the_same_findings_in_all)
{
	expect_all(FAULTS, 10);
	expect_all("--ignore-rules 'dftracer/*' --level htdump/invalid-utf8=note " FAULTS, 7);
	expect_all("--select-rules htdump/invalid-utf8 --limit 3 " FAULTS, 3);
}

/* ---- forms ---- */

static const char *text_of(const cJSON *object, const char *key, const char *inner)
{
	const cJSON *const part = cJSON_GetObjectItem(object, key);
	const cJSON *const text = inner != NULL ? cJSON_GetObjectItem(part, inner) : part;

	cr_assert(cJSON_IsString(text) && text->valuestring[0] != '\0', "%s is missing or empty", key);
	return text->valuestring;
}

static void check_rule(const cJSON *rules, int index)
{
	const cJSON *const rule = cJSON_GetArrayItem(rules, index);
	const char *const level = text_of(cJSON_GetObjectItem(rule, "defaultConfiguration"), "level", NULL);

	cr_expect_leq(strlen(text_of(rule, "name", NULL)), 255);
	cr_expect_leq(strlen(text_of(rule, "shortDescription", "text")), 1024);
	cr_expect_leq(strlen(text_of(rule, "fullDescription", "text")), 1024);
	text_of(rule, "help", "text");
	cr_expect(strcmp(level, "error") == 0 || strcmp(level, "warning") == 0 || strcmp(level, "note") == 0);
	const cJSON *const properties = cJSON_GetObjectItem(rule, "properties");
	cr_expect_leq(cJSON_GetArraySize(cJSON_GetObjectItem(properties, "tags")), 20);
	cr_expect_null(cJSON_GetObjectItem(properties, "security-severity"));
	for (int i = 0; i < index; i++)
		cr_expect_str_neq(text_of(cJSON_GetArrayItem(rules, i), "id", NULL),
		                  text_of(rule, "id", NULL));
}

static void check_uri(const char *uri)
{
	cr_expect(uri[0] != '/' && strstr(uri, "://") == NULL, "%s is absolute", uri);
	cr_expect(strstr(uri, "./") == NULL && strstr(uri, "..") == NULL, "%s", uri);
	for (const char *p = uri; *p != '\0'; p++)
		cr_expect(strchr(" \"<>\\^`{|}#?", *p) == NULL && *p > 0x20 && *p < 0x7f, "%s", uri);
}

static void check_place(const cJSON *result)
{
	static const char *const ends[] = { "startLine", "startColumn", "endLine", "endColumn" };
	const cJSON *const locations = cJSON_GetObjectItem(result, "locations");

	cr_assert_eq(cJSON_GetArraySize(locations), 1);
	const cJSON *const place = cJSON_GetObjectItem(locations->child, "physicalLocation");
	const cJSON *const region = cJSON_GetObjectItem(place, "region");
	for (int i = 0; i < 4; i++)
		cr_expect_geq(cJSON_GetObjectItem(region, ends[i])->valuedouble, 1);
	cr_expect_geq(cJSON_GetObjectItem(region, "byteOffset")->valuedouble, 0);
	const cJSON *const file = cJSON_GetObjectItem(place, "artifactLocation");
	check_uri(text_of(file, "uri", NULL));
}

/* The fingerprints of results are different. */
static void check_print(const cJSON *results, const cJSON *result)
{
	const char *const print = text_of(result, "partialFingerprints", "primaryLocationLineHash");

	for (const cJSON *r = results->child; r != result; r = r->next)
		cr_expect_str_neq(text_of(r, "partialFingerprints", "primaryLocationLineHash"), print);
}

static int check_sarif(const char *report)
{
	cJSON *const doc = cJSON_Parse(report);
	cr_assert_not_null(doc, "%.2000s", report);
	const cJSON *const runs = cJSON_GetObjectItem(doc, "runs"), *const run = cJSON_GetArrayItem(runs, 0);
	const cJSON *const driver = cJSON_GetObjectItem(cJSON_GetObjectItem(run, "tool"), "driver");
	const cJSON *const rules = cJSON_GetObjectItem(driver, "rules");
	const cJSON *const results = cJSON_GetObjectItem(run, "results"), *result;

	cr_assert(cJSON_IsArray(rules) && cJSON_IsArray(results) && cJSON_GetArraySize(runs) == 1);
	text_of(driver, "name", NULL);
	const char *const category = text_of(run, "automationDetails", "id");
	cr_expect_eq(category[strlen(category) - 1], '/');
	for (int i = 0; i < cJSON_GetArraySize(rules); i++)
		check_rule(rules, i);
	cJSON_ArrayForEach(result, results)
	{
		const int index = cJSON_GetObjectItem(result, "ruleIndex")->valueint;
		cr_assert_lt(index, cJSON_GetArraySize(rules));
		cr_expect_str_eq(text_of(cJSON_GetArrayItem(rules, index), "id", NULL),
		                 text_of(result, "ruleId", NULL));
		text_of(result, "message", "text");
		check_place(result);
		check_print(results, result);
	}
	const int n = cJSON_GetArraySize(results);
	cJSON_Delete(doc);
	return n;
}

Test(report_forms, sarif_is_what_code_scanning_takes)
{
	struct ran r = validate_sh("X=", "--format sarif testdata/*/bad ./testdata/htdump/../htdump/bad");

	cr_expect_gt(check_sarif(r.out), 100);
	ran_free(&r);
	r = validate_sh("X=", "--format sarif testdata/htdump/good/wire-little.htdump");
	cr_expect_eq(check_sarif(r.out), 0);
	ran_free(&r);
}

/* Below the limits of the service; findings beyond them are counted. */
Test(report_forms, sarif_has_a_limit)
{
	char *const dir = make_folder(), path[1100], args[4096];
	size_t n;
	char *const trace = read_whole("testdata/htdump/bad/invalid-utf8.htdump", &n);

	cr_assert_not_null(trace);
	char *const twenty = malloc(4 * n);
	cr_assert_not_null(twenty);
	for (size_t i = 0; i < 4; i++)
		memcpy(twenty + i * n, trace, n);
	for (int i = 0; i < 1100; i++) {
		snprintf(path, sizeof path, "%s/%04d.htdump", dir, i);
		cr_assert(write_whole(path, twenty, 4 * n));
	}
	snprintf(args, sizeof args, "--report sarif=%s/r.sarif %s", dir, dir);
	struct ran r = validate_sh("X=", args);
	cr_expect_eq(r.status, 0);
	cr_expect_not_null(strstr(r.out, " findings are left out: this kind of report has no room for them"),
	                   "%s", r.out);
	ran_free(&r);
	snprintf(path, sizeof path, "%s/r.sarif", dir);
	char *const report = read_whole(path, &n);
	cr_assert_not_null(report);
	cr_expect_leq(count_word(report, "{\"ruleId\":"), 20000);
	cr_expect_lt(n, (size_t)10 << 20);
	const char *const results = strstr(report, "\"results\":[");
	const char *const after = strstr(report, "],\n\"invocations\"");
	cr_assert(results != NULL && after != NULL);
	const size_t bytes = (size_t)(after - results) - strlen("\"results\":[");
	cr_expect(bytes <= (size_t)8 << 20 && bytes > ((size_t)8 << 20) - 2000, "%zu", bytes);
	cr_expect_not_null(strstr(report, " do not fit in this report"));
	free(report);
	free(twenty);
	free(trace);
	remove_folder(dir);
}

static double xpath(const char *path, const char *what)
{
	struct ran r = run_program((const char *const[]){ "xmllint", "--xpath", what, path, NULL }, NULL, 0);
	const double n = strtod(r.out, NULL);

	cr_expect_eq(r.status, 0, "%s: %s", what, r.err);
	ran_free(&r);
	return n;
}

/* Checked by xmllint, where it is installed. */
Test(report_forms, junit)
{
	char *const dir = make_folder(), path[1100], args[4096];
	struct ran r = run_program((const char *const[]){ "xmllint", "--version", NULL }, NULL, 0);
	const bool there = r.status == 0;

	ran_free(&r);
	snprintf(path, sizeof path, "%s/r.xml", dir);
	snprintf(args, sizeof args, "--report junit=%s testdata/*/bad nowhere " FAULTS, path);
	r = validate_sh("X=", args);
	cr_expect_eq(r.status, 2, "%s", r.out);
	ran_free(&r);
	if (there) {
		cr_expect_eq(xpath(path,
		                   "count(/testsuites/testsuite[not(@name) or not(@tests) or not(@failures) "
		                   "or not(@errors)])"),
		             0);
		cr_expect_eq(xpath(path, "count(//testsuite[@tests != count(testcase)])"), 0);
		cr_expect_eq(xpath(path, "count(//testsuite[@failures != count(testcase/failure)])"), 0);
		cr_expect_eq(xpath(path, "count(//testsuite[@errors != count(testcase/error)])"), 0);
		cr_expect_eq(xpath(path, "count(//testcase[@name = preceding-sibling::testcase/@name])"), 0);
		cr_expect_eq(xpath(path, "count(//testsuite[@name='nowhere']/testcase/error)"), 1);
		cr_expect_eq(xpath(path,
		                   "count(//testsuite[@name='testdata/htdump/bad/cut-record.htdump']/"
		                   "testcase[@name='htdump/cut-record' and contains(failure, '@2165: ')])"),
		             2);
	}
	remove_folder(dir);
}
