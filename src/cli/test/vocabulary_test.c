/* What a vocabulary makes of traces, as a user sees it: begins and ends in two files, and where reading stops
 * early. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

/* ---- vocabulary ---- */

/* tracetool vocabulary, and --vocabulary of the commands that read traces, as a user meets them. */

#define TRACE "testdata/dial9/good/document.dial9"

/* A file of this text in a folder; the name is the caller's buffer. */
static const char *write_schema(const char *dir, char path[1024], const char *text)
{
	snprintf(path, 1024, "%s/mine.yaml", dir);
	cr_assert(write_whole(path, text, strlen(text)));
	return path;
}

static void expect(const char *const *args, int status, const char *out, const char *err)
{
	struct ran r = run_tool(args, NULL, 0);

	cr_expect_eq(r.status, status, "%s %s: status %d, not %d\n%s%s", args[0], args[1], r.status, status,
	             r.out, r.err);
	cr_expect(out != NULL ? strstr(r.out, out) != NULL : r.out_n == 0, "%s", r.out);
	cr_expect(err != NULL ? strstr(r.err, err) != NULL : r.err_n == 0, "%s", r.err);
	ran_free(&r);
}

#define RUN(...)                                                                                             \
	(const char *const[])                                                                                \
	{                                                                                                    \
		__VA_ARGS__, NULL                                                                            \
	}

Test(schema_command, check)
{
	char *const dir = make_folder(), path[1024];

	write_schema(dir, path, "format: heph\nevents: [{event: a}]\n");
	expect(RUN("vocabulary", "check", path), 0, "mine.yaml: 1 rule for heph\n", NULL);
	expect(RUN("vocabulary", "check", path, "schemas/ovni.yaml"), 0, " rules for ovni\n", NULL);
	expect(RUN("vocabulary", "check", path, "/nowhere.yaml"), 2,
	       "/nowhere.yaml:@0: error: No such file or directory [vocabulary/unreadable]\n", NULL);
	expect(RUN("vocabulary", "check", dir), 2, "[vocabulary/unreadable]", NULL);
	write_schema(dir, path, "format: hehp\nevents: [{event: a, pase: x}]\n");
	expect(RUN("vocabulary", "check", path, "schemas/ovni.yaml"), 1,
	       "mine.yaml:1:9:@8: error: there is no input format named \"hehp\"; did you mean heph? "
	       "[vocabulary/bad-value]\n",
	       NULL);
	expect(RUN("vocabulary", "check", path), 1,
	       "mine.yaml:2:21:@33: error: a rule has no key \"pase\"; did you mean phase? "
	       "[vocabulary/unknown-key]\n",
	       NULL);
	remove_folder(dir);
}

Test(schema_command, more_mistakes_than_are_shown_are_counted)
{
	char *const dir = make_folder(), path[1024], text[2000] = "format: heph\nevents:\n";

	for (int i = 0; i < 50; i++)
		strcat(text, " - {}\n");
	write_schema(dir, path, text);
	expect(RUN("vocabulary", "check", path), 1,
	       "mine.yaml: 30 more of [vocabulary/bad-value] are not shown\n", NULL);
	expect(RUN("info", "--vocabulary", path, TRACE), 2, NULL,
	       "mine.yaml: 30 more of [vocabulary/bad-value] are not shown\n");
	remove_folder(dir);
}

Test(schema_command, show)
{
	size_t n;
	char *const text = read_whole("schemas/ovni.yaml", &n);
	struct ran r = run_tool(RUN("vocabulary", "show", "ovni"), NULL, 0);

	cr_assert_not_null(text);
	cr_expect(r.status == 0 && r.out_n == n && memcmp(r.out, text, n) == 0);
	ran_free(&r);
	free(text);
	expect(RUN("vocabulary", "show"), 0, "ovni\n", NULL);
	expect(RUN("vocabulary", "show", "onvi"), 3, NULL,
	       "no vocabulary is built in for onvi; did you mean ovni?");
	expect(RUN("vocabulary", "show", "chrome"), 3, NULL,
	       "no vocabulary is built in for chrome; there are ");
	expect(RUN("vocabulary", "show", "ovni", "heph"), 3, NULL, "one format");
}

static cJSON *run_json(const char *const *args, int status)
{
	struct ran r = run_tool(args, NULL, 0);
	cJSON *const json = cJSON_Parse(r.out);

	cr_expect_eq(r.status, status, "%s", r.err);
	cr_assert_not_null(json, "%s", r.out);
	ran_free(&r);
	return json;
}

static double number_at(const cJSON *o, const char *key)
{
	return cJSON_GetNumberValue(cJSON_GetObjectItem(o, key));
}

/* Mistakes that are not listed are counted. */
Test(schema_command, check_as_json)
{
	char *const dir = make_folder(), path[1024], text[2000] = "format: heph\nevents:\n";

	for (int i = 0; i < 50; i++)
		strcat(text, " - {}\n");
	write_schema(dir, path, text);
	cJSON *const json =
	    run_json(RUN("vocabulary", "check", "--json", path, "schemas/ovni.yaml", "/nowhere.yaml"), 2);
	const cJSON *const files = cJSON_GetObjectItem(json, "files");
	cr_assert_eq(cJSON_GetArraySize(files), 3);
	const cJSON *const bad = cJSON_GetArrayItem(files, 0), *const good = cJSON_GetArrayItem(files, 1),
	                   *const missing = cJSON_GetArrayItem(files, 2);
	cr_expect(cJSON_IsFalse(cJSON_GetObjectItem(bad, "valid")));
	cr_expect_eq(number_at(bad, "mistakes"), 50);
	const cJSON *const findings = cJSON_GetObjectItem(bad, "findings");
	cr_expect_eq(cJSON_GetArraySize(findings), 20);
	cr_expect_eq(number_at(cJSON_GetArrayItem(findings, 1), "line"), 4);
	cr_expect_eq(number_at(cJSON_GetArrayItem(findings, 1), "column"), 4);
	cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(good, "valid")));
	cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(good, "format")), "ovni");
	cr_expect_gt(number_at(good, "rules"), 300);
	cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(good, "findings")), 0);
	cr_expect(cJSON_IsFalse(cJSON_GetObjectItem(missing, "valid")));
	cr_expect_eq(number_at(missing, "mistakes"), 1);
	cJSON_Delete(json);
	remove_folder(dir);
}

/* The tree that is shown has as many rules as the file. */
Test(schema_command, show_as_json)
{
	cJSON *const list = run_json(RUN("vocabulary", "show", "--format", "json"), 0);
	const cJSON *name;

	cJSON_ArrayForEach(name, cJSON_GetObjectItem(list, "formats"))
	{
		char path[64];
		snprintf(path, sizeof path, "schemas/%s.yaml", cJSON_GetStringValue(name));
		cJSON *const shown =
		    run_json(RUN("vocabulary", "show", "--json", cJSON_GetStringValue(name)), 0);
		cJSON *const checked = run_json(RUN("vocabulary", "check", "--json", path), 0);
		const cJSON *const file = cJSON_GetArrayItem(cJSON_GetObjectItem(checked, "files"), 0);
		cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(shown, "format")),
		                 cJSON_GetStringValue(name));
		cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(shown, "events")),
		             number_at(file, "rules"), "%s", path);
		cJSON_Delete(checked);
		cJSON_Delete(shown);
	}
	cr_expect_geq(cJSON_GetArraySize(cJSON_GetObjectItem(list, "formats")), 5);
	cJSON_Delete(list);
}

Test(schema_command, wrong_command_lines)
{
	expect(RUN("vocabulary"), 3, NULL, "check or show");
	expect(RUN("vocabulary", "chekc"), 3, NULL, "takes one of check, show, not chekc");
	expect(RUN("vocabulary", "check"), 3, NULL, "name of a file");
	expect(RUN("vocabulary", "show", "--from", "ovni"), 3, NULL, "no option --from");
	expect(RUN("info", TRACE, "--vocabulary"), 3, NULL, "needs an argument");
}

/* Mistakes are told before anything is read or written, by every command. */
Test(schema_command, mistakes_stop_every_command)
{
	char *const dir = make_folder(), path[1024], out[1024];
	static const char *const commands[] = { "validate", "stats", "cat", "info" };
	FILE *made;

	write_schema(dir, path, "format: dial9\nevents: 7\n");
	for (size_t i = 0; i < 4; i++)
		expect(RUN(commands[i], "--vocabulary", path, TRACE), 2, NULL,
		       "mine.yaml:2:9:@22: error: events is a list of rules [vocabulary/bad-value]\n");
	snprintf(out, sizeof out, "%s/out.json", dir);
	expect(RUN("convert", "--vocabulary", path, TRACE, out), 2, NULL, "[vocabulary/bad-value]");
	made = fopen(out, "r");
	cr_expect_null(made);
	expect(RUN("validate", "--vocabulary", "/nowhere", TRACE), 2, NULL,
	       "/nowhere:@0: error: No such file or directory [vocabulary/unreadable]\n");
	remove_folder(dir);
}

Test(schema_command, one_for_another_format_changes_nothing)
{
	char *const dir = make_folder(), path[1024];
	static const char *const commands[] = { "validate", "stats", "cat", "info" };

	write_schema(dir, path, "format: heph\nevents: [{match: '*', phase: structure, name: mine}]\n");
	for (size_t i = 0; i < 4; i++) {
		struct ran with =
		    run_tool(RUN(commands[i], "--vocabulary", path, "--vocabulary", path, TRACE), NULL, 0);
		struct ran without = run_tool(RUN(commands[i], TRACE), NULL, 0);
		cr_expect(with.status == 0 && strcmp(with.out, without.out) == 0 && with.err_n == 0, "%s",
		          commands[i]);
		ran_free(&with);
		ran_free(&without);
	}
	remove_folder(dir);
}

/* A pipe can be read once only; several inputs need it for each. */
Test(schema_command, a_vocabulary_from_a_pipe)
{
	struct ran r = run_tool(
	    RUN("validate", "--vocabulary", "/dev/stdin", TRACE, "testdata/heph/good/nested.bin.log", TRACE),
	    "format: dial9\nevents: []\n", 25);

	cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
	ran_free(&r);
	r = run_tool(RUN("validate", "--vocabulary", "/dev/stdin", TRACE), "format: dial9\nevents: x\n", 24);
	cr_expect(r.status == 2 && strstr(r.err, "/dev/stdin:2:9:@22: ") != NULL, "%s", r.err);
	ran_free(&r);
}

Test(schema_command, there_is_a_bound_to_their_number)
{
	const char *args[64] = { "info" };
	size_t n = 1;

	while (n <= 16)
		args[n++] = "--vocabulary=schemas/ovni.yaml";
	args[n] = TRACE;
	struct ran r = run_tool(args, NULL, 0);
	cr_expect_eq(r.status, 0);
	ran_free(&r);
	args[n++] = "--vocabulary=schemas/ovni.yaml";
	args[n] = TRACE;
	expect(args, 3, NULL, "16 vocabularies at most");
}

/* The user's rule replaces the one that is built in for the class; the others stay. */
Test(schema_command, the_users_rule_wins)
{
	char *const dir = make_folder(), path[1024], second[1024];

	expect(RUN("cat", TRACE), 0,
	       "begin PollStartEvent ts=1000000000 track=\"worker 3\" name=src/main.rs:12:5 ", NULL);
	write_schema(dir, path,
	             "format: dial9\n"
	             "events: [{event: PollStartEvent, phase: instant, name: 'poll of {task_id}', track: "
	             "'mine {worker_id}'}]\n");
	expect(RUN("cat", "--vocabulary", path, TRACE), 0,
	       "instant PollStartEvent ts=1000000000 track=\"mine 3\" name=\"poll of 300\" ", NULL);
	expect(RUN("cat", "--vocabulary", path, TRACE), 0,
	       "end PollEndEvent ts=1000004000 track=\"worker 3\" name=\"end of poll\" ", NULL);
	snprintf(second, sizeof second, "%s/second.yaml", dir);
	static const char text[] =
	    "format: dial9\nevents: [{match: 'Poll*', phase: counter, name: second}]\n";
	cr_assert(write_whole(second, text, strlen(text)));
	expect(RUN("cat", "--vocabulary", path, "--vocabulary", second, TRACE), 0, "instant PollStartEvent ",
	       NULL);
	expect(RUN("cat", "--vocabulary", path, "--vocabulary", second, TRACE), 0, "counter PollEndEvent ",
	       NULL);
	expect(RUN("cat", "--vocabulary", second, "--vocabulary", path, TRACE), 0, "counter PollStartEvent ",
	       NULL);
	remove_folder(dir);
}

/* ---- --vocabulary ---- */

#define OPENS                                                                                                \
	"{\"id\":1,\"name\":\"work\",\"cat\":\"c\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":0,\"ph\":\"X\","   \
	"\"args\":{\"n\":%d}}\n"

#define CLOSES                                                                                               \
	"{\"id\":2,\"name\":\"done\",\"cat\":\"c\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":0,\"ph\":\"X\","   \
	"\"args\":{\"n\":%d}}\n"

static const char schema[] = "format: dftracer\n"
                             "events:\n"
                             "  - {match: \"*\", named: work, phase: begin, pair: w, name: \"work {n}\"}\n"
                             "  - {match: \"*\", named: done, phase: end, pair: w}\n";

struct folder {
	char *dir;
	char schema[256], first[256], second[256], out[256];
};

static void put(char *path, const char *dir, const char *name, const char *text)
{
	snprintf(path, 256, "%s/%s", dir, name);
	cr_assert(write_whole(path, text, strlen(text)));
}

static void folder_make(struct folder *f)
{
	char text[2048];
	int n;

	f->dir = make_folder();
	put(f->schema, f->dir, "mine.yaml", schema);
	n = snprintf(text, sizeof text, "[\n" OPENS OPENS OPENS CLOSES, 1, 10, 5, 1, 20, 6, 2, 25, 7, 1, 30,
	             6);
	cr_assert(n > 0);
	put(f->first, f->dir, "a.pfw", text);
	n = snprintf(text, sizeof text, "[\n" CLOSES CLOSES, 1, 50, 9, 1, 60, 9);
	cr_assert(n > 0);
	put(f->second, f->dir, "b.pfw", text);
	snprintf(f->out, sizeof f->out, "%s/out.json", f->dir);
}

/* The which-th event of a name, from 0 on; or NULL. */
static const cJSON *nth(const cJSON *root, const char *name, int which)
{
	const cJSON *e;

	cJSON_ArrayForEach(
	    e,
	    cJSON_GetObjectItemCaseSensitive(
	        root,
	        "traceEvents")) if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e, "name")),
	                                   name) == 0 &&
	                            which-- == 0) return e;
	return NULL;
}

static double number(const cJSON *e, const char *key)
{
	return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(e, key));
}

static cJSON *converted(const struct folder *f, const char *second, struct ran *r)
{
	size_t n;

	*r = run_tool((const char *const[]){ "convert", "-f", "--vocabulary", f->schema, "-o", f->out,
	                                     f->first, second, NULL },
	              NULL, 0);
	char *const text = read_whole(f->out, &n);
	cr_assert_not_null(text, "%s", r->err);
	cJSON *const root = cJSON_ParseWithLength(text, n);
	free(text);
	cr_assert_not_null(root);
	return root;
}

Test(cmd_plan, spans_of_two_files)
{
	struct folder f;
	struct ran r;

	folder_make(&f);
	cJSON *const root = converted(&f, NULL, &r);
	const cJSON *const inner = nth(root, "work 6", 0);
	cr_assert(inner != NULL && number(inner, "ts") == 20 && number(inner, "dur") == 10, "%s", r.err);
	const cJSON *const open = nth(root, "work 5", 0), *const args =
	                                                      cJSON_GetObjectItemCaseSensitive(open, "args");
	cr_assert(number(open, "ts") == 10 && number(open, "dur") == 20, "to the last time of the trace");
	cr_assert(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(args, "unfinished")));
	cr_assert_eq(number(nth(root, "work 7", 0), "dur"), 5);
	cr_assert_not_null(strstr(r.err, ": 2; the first"));
	cr_assert_not_null(strstr(r.err, "[pairs/no-end]"));
	cJSON_Delete(root);
	ran_free(&r);
	cJSON *const both = converted(&f, f.second, &r);
	const cJSON *const done = nth(both, "done", 0);
	cr_assert(done != NULL &&
	          strcmp(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(done, "ph")), "i") == 0);
	cr_assert_not_null(strstr(r.err, "[pairs/no-begin]"));
	cJSON_Delete(both);
	ran_free(&r);
	remove_folder(f.dir);
}

Test(cmd_plan, what_was_open_when_reading_stopped)
{
	struct folder f;
	struct ran r;
	size_t n;

	folder_make(&f);
	char *const whole = read_whole(f.first, &n);
	cr_assert(write_whole(f.first, whole, n - 20)); /* within the end */
	cJSON *const root = converted(&f, NULL, &r);
	cr_assert_eq(number(nth(root, "work 6", 0), "ts"), 20);
	cr_assert_eq(number(nth(root, "work 5", 0), "dur"), 15);
	cr_assert_eq(number(nth(root, "work 6", 0), "dur"), 5);
	cr_assert_not_null(strstr(r.err, ": 3; the first"));
	cJSON_Delete(root);
	ran_free(&r);
	free(whole);
	remove_folder(f.dir);
}

Test(cmd_plan, stats_count_what_has_no_partner)
{
	struct folder f;

	folder_make(&f);
	struct ran r = run_tool(
	    (const char *const[]){ "stats", "--vocabulary", f.schema, f.first, f.second, NULL }, NULL, 0);
	cr_assert_not_null(strstr(r.out, "2 spans are incomplete: "), "%s%s", r.out, r.err);
	cr_assert_not_null(strstr(r.out, "work 6"));
	ran_free(&r);
	remove_folder(f.dir);
}
