/* Independent validators accept the lines by schemas/ndjson.schema.json, and refuse other lines. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "ndjson/test/agree_test.h"
#include "test/support/strength.h"

#define SCHEMA "schemas/ndjson.schema.json"

static void keep_both(const char *path, void *ctx)
{
	agree_input(path, false, ctx);
	agree_input(path, true, ctx);
}

static void write_lines(const char *dir, const char *name, struct text *t)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(!t->failed && write_whole(path, t->p, t->n));
	text_free(t);
}

/* ---- ajv ---- */

static const char checks_lines[] =
    "const module = require('ajv/dist/2020'), fs = require('fs');\n"
    "const ajv = new (module.default || module)({ strict: false });\n"
    "const valid = ajv.compile(JSON.parse(fs.readFileSync(process.argv[1], 'utf8')));\n"
    "let n = 0;\n"
    "for (const line of fs.readFileSync(process.argv[2], 'utf8').split('\\n').slice(0, -1)) {\n"
    "  if (!valid(JSON.parse(line)))\n"
    "    console.log(line.slice(0, 500), JSON.stringify(valid.errors).slice(0, 500));\n"
    "  n++;\n"
    "}\n"
    "console.log(n + ' lines');\n";

/* Needs node and ajv, which node finds by NODE_PATH. */
Test(ndjson_schema, all_samples_by_ajv)
{
	char *const dir = make_folder(), path[1024];
	struct text t = { .p = NULL };

	if (system("node -e \"require('ajv/dist/2020')\" >/dev/null 2>&1") != 0) {
		remove_folder(dir);
		cr_skip_test("node or ajv is not here");
	}
	agree_samples(keep_both, &t);
	write_lines(dir, "all.ndjson", &t);
	snprintf(path, sizeof path, "%s/all.ndjson", dir);
	struct ran r =
	    run_program((const char *const[]){ "node", "-e", checks_lines, SCHEMA, path, NULL }, NULL, 0);
	cr_expect(r.status == 0 && r.out_n > 6 && strchr(r.out, '\n') == r.out + r.out_n - 1, "%s%s", r.out,
	          r.err);
	cr_expect_gt(atol(r.out), (long)strength(200, 1000, 1000));
	ran_free(&r);
	remove_folder(dir);
}

/* ---- jsonschema ---- */

/* The command of Debian; one earlier in PATH may not work. */
static const char *validator(void)
{
	return access("/usr/bin/jsonschema", X_OK) == 0 ? "/usr/bin/jsonschema" : "jsonschema";
}

/* Makes a schema of a list of lines, because the validator is slow to start. */
static void write_schema(const char *path)
{
	static const char id[] = "{\"$id\":\"urn:tracetool:line\",";
	struct text t = { .p = NULL };
	size_t n;
	char *const schema = read_whole(SCHEMA, &n);

	cr_assert(schema != NULL && schema[0] == '{');
	text_str(&t, "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"array\","
	             "\"items\":{\"$ref\":\"urn:tracetool:line\"},\"$defs\":{\"line\":");
	text_str(&t, id);
	text_add(&t, schema + 1, n - 1);
	text_str(&t, "}}\n");
	cr_assert(write_whole(path, t.p, t.n));
	text_free(&t);
	free(schema);
}

/* Makes a document with the list of these lines. */
static void write_document(const char *dir, const char *name, const struct text *lines)
{
	struct text t = { .p = NULL };

	text_char(&t, '[');
	for (size_t i = 0; i + 1 < lines->n; i++) /* without the final line feed */
		text_add(&t, lines->p[i] == '\n' ? ",\n" : &lines->p[i], lines->p[i] == '\n' ? 2 : 1);
	text_char(&t, ']');
	write_lines(dir, name, &t);
}

/* Validates all documents of the folder. */
static struct ran check_documents(const char *dir)
{
	static const char command[] =
	    "for f in \"$2\"/*.json; do set -- \"$@\" -i \"$f\"; done; v=$1 d=$2; shift 2; "
	    "exec \"$v\" --output pretty \"$@\" \"$d/schema\"";
	char schema[1024];

	snprintf(schema, sizeof schema, "%s/schema", dir);
	write_schema(schema);
	return run_program((const char *const[]){ "sh", "-c", command, "sh", validator(), dir, NULL }, NULL,
	                   0);
}

Test(ndjson_schema, samples_of_all_types)
{
	static const char *const paths[] = {
		"testdata/htdump/good/all-types.htdump",   "testdata/htdump/bad/invalid-utf8.htdump",
		"testdata/heph/good/all-types.bin.log",    "testdata/heph/good/odd-floats.bin.log",
		"testdata/dial9/good/all-types-0.4.dial9", "testdata/dial9/good/strange-texts.dial9",
		"testdata/dftracer/good/d3.pfw",           "testdata/ovni/good/document-events.obs",
	};
	char *const dir = make_folder();
	struct text t = { .p = NULL };

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		keep_both(paths[i], &t);
	write_document(dir, "good.json", &t);
	struct ran r = check_documents(dir);
	cr_expect_eq(r.status, 0, "%.3000s%.3000s", r.out, r.err);
	ran_free(&r);
	text_free(&t);
	remove_folder(dir);
}

/* Replaces the first `from` in the good lines by `to`. */
struct spoil {
	const char *from, *to;
};

Test(ndjson_schema, other_lines_are_refused)
{
	static const struct spoil ways[] = {
		{ "\"kind\":\"span\"", "\"kind\":\"spam\"" },
		{ "\"version\":1", "\"version\":2" },
		{ "\"mode\":\"interpreted\"", "\"mode\":\"cooked\"" },
		{ "\"kind\":\"thread\"", "\"kind\":\"fibre\"" },
		{ "\"offset\":", "\"offset\":-" },
		{ "\"dur_ns\":", "\"dur_ns\":0.5,\"was\":" },
		{ "\"ts_ns\":", "\"ts_ns\":\"5\",\"was\":" },
		{ "\"pid\":3,\"tid\":7,", "\"pid\":3,\"tid\":7,\"more\":1," },
		{ "\"class_index\":0,", "" },
		{ "\"[u64]\"", "\"[u64\"" },
		{ "\"types\":{", "\"pairs\":[],\"was\":{" },
		{ "\"losses\":{}", "\"losses\":{\"a/b\":0}" },
	};
	char *const dir = make_folder(), name[64], heading[1200];
	const size_t n = sizeof ways / sizeof *ways;
	struct text good = { .p = NULL };

	agree_input("testdata/heph/good/all-types.bin.log", false, &good);
	text_char(&good, '\0');
	for (size_t i = 0; i < n; i++) {
		const char *const at = strstr(good.p, ways[i].from);
		struct text t = { .p = NULL };
		cr_assert_not_null(at, "the lines lack %s: %s", ways[i].from, good.p);
		text_add(&t, good.p, (size_t)(at - good.p));
		text_str(&t, ways[i].to);
		text_str(&t, at + strlen(ways[i].from));
		snprintf(name, sizeof name, "%02zu.json", i);
		write_document(dir, name, &t);
		text_free(&t);
	}
	struct ran r = check_documents(dir);
	for (size_t i = 0; i < n; i++) {
		snprintf(heading, sizeof heading, "===[ValidationError]===(%s/%02zu.json)===", dir, i);
		cr_expect_not_null(strstr(r.err, heading), "%s was not refused: %.500s", ways[i].to, r.err);
	}
	ran_free(&r);
	text_free(&good);
	remove_folder(dir);
}
