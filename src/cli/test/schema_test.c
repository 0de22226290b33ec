#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "test/support/strength.h"

/* The JSON reports follow the schemas in schemas/, checked by an independent validator, and the schemas
 * refuse documents that are no reports.  Starting the validator costs most, so each run of it gets many
 * documents. */

#define SCHEMA(name) "schemas/" name ".schema.json"

/* Debian's command, as another one may be first in PATH and not work. */
static const char *validator(void)
{
	return access("/usr/bin/jsonschema", X_OK) == 0 ? "/usr/bin/jsonschema" : "jsonschema";
}

static void write_report(const char *dir, const char *name, const char *const *args, int status)
{
	struct ran r = run_tool(args, NULL, 0);
	char path[1024];

	cr_expect_eq(r.status, status, "%s %s: status %d, not %d: %s", args[0], name, r.status, status,
	             r.err);
	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, r.out, r.out_n));
	ran_free(&r);
}

/* Runs the validator on all files of a folder. */
static struct ran check_folder(const char *dir, const char *schema)
{
	const char *const argv[] = {
		"sh",
		"-c",
		"for f in \"$2\"/*; do set -- \"$@\" -i \"$f\"; done; v=$1 s=$3; shift 3; "
		"exec \"$v\" --output pretty \"$@\" \"$s\"",
		"sh",
		validator(),
		dir,
		schema,
		NULL
	};

	return run_program(argv, NULL, 0);
}

static void expect_all_valid(char *dir, const char *schema)
{
	struct ran r = check_folder(dir, schema);

	cr_expect_eq(r.status, 0, "%s: %.2000s%.2000s", schema, r.out, r.err);
	ran_free(&r);
	remove_folder(dir);
}

/* Expects that the validator refuses every file of the folder. */
static void expect_all_refused(char *dir, const char *schema)
{
	struct ran r = check_folder(dir, schema);
	char **const names = list_folder(dir, ".json");

	cr_expect_eq(r.status, 1, "%s: %.2000s%.2000s", schema, r.out, r.err);
	cr_expect_not_null(names[0]);
	for (size_t i = 0; names[i] != NULL; i++) {
		char heading[512];
		snprintf(heading, sizeof heading, "===[ValidationError]===(%s/%s)===", dir, names[i]);
		cr_expect_not_null(strstr(r.err, heading), "%s: %s was not refused", schema, names[i]);
	}
	list_free(names);
	ran_free(&r);
	remove_folder(dir);
}

#define GOOD(name) "testdata/htdump/good/" name ".htdump"
#define BAD(name) "testdata/htdump/bad/" name ".htdump"

Test(schema, validate)
{
	char *const dir = make_folder();

	write_report(dir, "good.json",
	             (const char *const[]){ "validate", "--format=json", GOOD("wire-little"), NULL }, 0);
	write_report(dir, "several.json",
	             (const char *const[]){ "validate", "--format=json", GOOD("document-big"),
	                                    BAD("unknown-class"), BAD("field-size"), BAD("invalid-utf8"),
	                                    BAD("id-repeated"), NULL },
	             1);
	write_report(
	    dir, "missing.json",
	    (const char *const[]){ "validate", "--format=json", "nowhere", "testdata", "/dev/null", NULL },
	    2);
	write_report(dir, "mixed.json",
	             (const char *const[]){ "validate", "--format=json", "nowhere", GOOD("strange-labels"),
	                                    "-", NULL },
	             2);
	write_report(dir, "format.json",
	             (const char *const[]){ "validate", "--format=json", "Makefile", NULL }, 2);
	write_report(dir, "path.json",
	             (const char *const[]){ "validate", "--format=json", "a \"name\"\n\x01\xff\\", NULL }, 2);
	expect_all_valid(dir, SCHEMA("validate"));
}

/* All samples, or every fourth: the message of each rule must be valid JSON. */
Test(schema, validate_all_samples)
{
	char *const dir = make_folder(), command[2048];

	snprintf(command, sizeof command,
	         "\"$0\" validate --format json $(ls -d testdata/*/good/* testdata/*/bad/* | "
	         "awk 'NR %% %lu == 0') > %s/all.json",
	         strength(4, 1, 1), dir);
	struct ran r = run_program((const char *const[]){ "sh", "-c", command, tool_path(), NULL }, NULL, 0);
	cr_expect(r.status == 1 || r.status == 2, "status %d", r.status); /* .expect files are no traces */
	ran_free(&r);
	expect_all_valid(dir, SCHEMA("validate"));
}

Test(schema, stats)
{
	char *const dir = make_folder();

	write_report(dir, "good.json",
	             (const char *const[]){ "stats", "--format=json", GOOD("wire-little"), NULL }, 0);
	write_report(dir, "several.json",
	             (const char *const[]){ "stats", "--format=json", GOOD("max-integers"),
	                                    GOOD("strange-labels"), GOOD("only-endianness"),
	                                    GOOD("no-events"), GOOD("overlapping"), NULL },
	             0);
	write_report(dir, "bad.json",
	             (const char *const[]){ "stats", "--format=json", BAD("duration-overflow"),
	                                    BAD("cut-record"), NULL },
	             1);
	write_report(dir, "missing.json", (const char *const[]){ "stats", "--format=json", "nowhere", NULL },
	             2);
	write_report(
	    dir, "mixed.json",
	    (const char *const[]){ "stats", "--format=json", "nowhere", GOOD("naming"), "testdata", NULL },
	    2);
	/* async spans of one trace, bytes of the other: both have the columns */
	write_report(dir, "bytes.json",
	             (const char *const[]){ "stats", "--format=json", "--together",
	                                    "testdata/ndjson/good/kinds.ndjson",
	                                    "testdata/dftracer/good/sound.pfw", NULL },
	             0);
	expect_all_valid(dir, SCHEMA("stats"));
}

Test(schema, info)
{
	char *const dir = make_folder();

	write_report(dir, "several.json",
	             (const char *const[]){ "info", "--json", "--digest", GOOD("naming"), GOOD("no-events"),
	                                    "testdata/dftracer/good/sound.pfw", NULL },
	             0);
	write_report(dir, "bad.json",
	             (const char *const[]){ "info", "--format=json", "nowhere", BAD("cut-record"), NULL }, 2);
	expect_all_valid(dir, SCHEMA("info"));
}

Test(schema, rules)
{
	char *const dir = make_folder();

	write_report(dir, "rules.json", (const char *const[]){ "rules", "--format=json", NULL }, 0);
	expect_all_valid(dir, SCHEMA("rules"));
}

Test(schema, vocabulary)
{
	char *const dir = make_folder();

	write_report(dir, "list.json", (const char *const[]){ "vocabulary", "show", "--json", NULL }, 0);
	write_report(dir, "show.json", (const char *const[]){ "vocabulary", "show", "--json", "dial9", NULL },
	             0);
	write_report(dir, "check.json",
	             (const char *const[]){ "vocabulary", "check", "--json", "schemas/heph.yaml", "Makefile",
	                                    "nowhere", NULL },
	             2);
	expect_all_valid(dir, SCHEMA("vocabulary"));
}

/* Each line of the report is a document. */
Test(schema, validate_lines)
{
	char *const dir = make_folder(), path[64];
	struct ran r = run_tool((const char *const[]){ "validate", "--format=ndjson", GOOD("wire-little"),
	                                               BAD("cut-record"), BAD("invalid-utf8"), NULL },
	                        NULL, 0);
	int n = 0;

	cr_expect_eq(r.status, 1);
	for (char *line = strtok(r.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		char full[1024];
		snprintf(path, sizeof path, "%02d.json", n++);
		snprintf(full, sizeof full, "%s/%s", dir, path);
		cr_assert(write_whole(full, line, strlen(line)));
	}
	cr_expect_eq(n, 10, "6 findings, 3 files, the end: %d", n);
	ran_free(&r);
	expect_all_valid(dir, SCHEMA("validate-ndjson"));
}

Test(schema, formats)
{
	char *const dir = make_folder();

	write_report(dir, "formats.json", (const char *const[]){ "formats", "--json", NULL }, 0);
	expect_all_valid(dir, SCHEMA("formats"));
}

/* ---- what is not a report is refused ---- */

struct spoil {
	const char *from, *to; /* the first `from` in a good report becomes `to` */
};

/* Makes a broken copy of the report for each entry. */
static char *spoiled_copies(const char *const *args, int status, const struct spoil *s, size_t n)
{
	char *const dir = make_folder(), path[1024];
	struct ran r = run_tool(args, NULL, 0);

	cr_expect_eq(r.status, status);
	for (size_t i = 0; i < n; i++) {
		const char *const at = strstr(r.out, s[i].from);
		cr_assert_not_null(at, "the report lacks %s: %s", s[i].from, r.out);
		char *const copy = malloc(r.out_n + strlen(s[i].to) + 1);
		cr_assert_not_null(copy);
		const int length =
		    sprintf(copy, "%.*s%s%s", (int)(at - r.out), r.out, s[i].to, at + strlen(s[i].from));
		snprintf(path, sizeof path, "%s/%02zu.json", dir, i);
		cr_assert(write_whole(path, copy, (size_t)length));
		free(copy);
	}
	ran_free(&r);
	return dir;
}

Test(schema, validate_refuses_what_is_no_report)
{
	static const struct spoil ways[] = {
		{ "\"tool\":", "\"tools\":" },
		{ "\"files\":[", "\"more\":1,\"files\":[" },
		{ "\"path\":", "\"paths\":" },
		{ "\"format\":\"htdump\"", "\"format\":7" },
		{ "\"dialect\":\"wire\",", "" },
		{ "\"records\":", "\"records\":-" },
		{ "\"valid\":false", "\"valid\":\"no\"" },
		{ "\"level\":\"error\"", "\"level\":\"fatal\"" },
		{ "\"line\":null", "\"line\":0" },
		{ "\"line\":null", "\"line\":\"1\"" },
		{ "\"column\":null", "\"column\":0" },
		{ "\"column\":null,", "" },
		{ "\"offset\":", "\"offset\":0.5,\"was\":" },
		{ "\"record\":", "\"record\":-" },
		{ "\"rule\":\"htdump/", "\"rule\":\"" },
		{ "\"message\":\"", "\"message\":null,\"was\":\"" },
		{ "\"unread_bytes\":21", "\"unread_bytes\":null" },
		{ "\"counts\":{\"error\":1,", "\"counts\":{" },
		{ ",\"note\":0},", "}," },
		{ "\"left_out\":0", "\"left_out\":-1" },
	};
	const char *const args[] = { "validate", "--format=json", BAD("cut-record"), NULL };

	expect_all_refused(spoiled_copies(args, 1, ways, sizeof ways / sizeof ways[0]), SCHEMA("validate"));
}

Test(schema, stats_refuses_what_is_no_report)
{
	static const struct spoil ways[] = {
		{ "\"tool\":", "\"tools\":" },
		{ "\"inputs\":", "\"files\":" },
		{ "\"bytes\":", "\"bytes\":-" },
		{ "\"epoch_ns\":null", "\"epoch_ns\":\"unknown\"" },
		{ "\"sum\":", "\"sum\":0.5,\"was\":" },
		{ "\"p50\":", "\"p51\":" },
		{ "\"self_ns\":", "\"self_ns\":-" },
		{ "\"count\":1", "\"count\":0" },
		{ "\"instants\":[", "\"instants\":[7," },
	};
	const char *const args[] = { "stats", "--format=json", GOOD("wire-little"), NULL };

	expect_all_refused(spoiled_copies(args, 0, ways, sizeof ways / sizeof ways[0]), SCHEMA("stats"));
}

Test(schema, formats_matrix)
{
	char *const dir = make_folder();

	write_report(dir, "matrix.json", (const char *const[]){ "formats", "--matrix", "--json", NULL }, 0);
	expect_all_valid(dir, SCHEMA("formats-matrix"));
}

Test(schema, diff)
{
	char *const dir = make_folder();

	write_report(dir, "other.json",
	             (const char *const[]){ "diff", "--format=json", "--tolerance=5", GOOD("wire-little"),
	                                    "testdata/dial9/good/tracks.dial9", NULL },
	             1);
	write_report(dir, "changed.json",
	             (const char *const[]){ "diff", "--format=json", GOOD("wire-little"),
	                                    GOOD("document-little"), NULL },
	             1);
	write_report(
	    dir, "same.json",
	    (const char *const[]){ "diff", "--format=json", GOOD("wire-little"), GOOD("wire-little"), NULL },
	    0);
	expect_all_valid(dir, SCHEMA("diff"));
}

Test(schema, losses)
{
	char *const dir = make_folder(), path[1024];

	write_report(dir, "none.json",
	             (const char *const[]){ "convert", "--losses=-", "--to=ndjson", GOOD("overlapping"),
	                                    "/dev/null", NULL },
	             0);
	snprintf(path, sizeof path, "%s/out.folded.gz", dir);
	write_report(dir, "some.json",
	             (const char *const[]){ "convert", "--losses=-", "--fail-on-loss-of", "folded/fa*",
	                                    GOOD("overlapping"), path, NULL },
	             1);
	cr_assert_eq(remove(path), 0);
	expect_all_valid(dir, SCHEMA("losses"));
}

Test(schema, formats_refuses_what_is_no_list)
{
	static const struct spoil ways[] = {
		{ "\"name\":\"", "\"name\":\"A B" },         { "\"reads\":true", "\"reads\":1" },
		{ "\"suffixes\":[\".", "\"suffixes\":[\"" }, { "\"title\":", "\"titles\":" },
		{ "\"dialects\":[", "\"dialects\":[null," },
	};
	const char *const args[] = { "formats", "--json", NULL };

	expect_all_refused(spoiled_copies(args, 0, ways, sizeof ways / sizeof ways[0]), SCHEMA("formats"));
}
