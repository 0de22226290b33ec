/* recover as a user runs it: what is written, what is said, and the exit status. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "format/registry.h"
#include "format/recover.h"

#define WHOLE "testdata/htdump/good/wire-little.htdump"
#define CUT "testdata/htdump/bad/cut-record.htdump"

struct place {
	char *dir, out[1100], report[1100], report_option[1110], out_option[1110];
};

static struct place place_make(void)
{
	struct place p = { .dir = make_folder() };

	snprintf(p.out, sizeof p.out, "%s/out.htdump", p.dir);
	snprintf(p.report, sizeof p.report, "%s/report.json", p.dir);
	snprintf(p.report_option, sizeof p.report_option, "json=%s", p.report);
	snprintf(p.out_option, sizeof p.out_option, "json=%s", p.out);
	return p;
}

/* Runs it without standard input; `said` is on standard error. */
static void expect(const char *const *args, int status, const char *said)
{
	struct ran r = run_tool(args, NULL, 0);

	cr_expect_eq(r.status, status, "status %d, not %d: %s%s", r.status, status, r.out, r.err);
	cr_expect_not_null(strstr(r.err, said), "no '%s' in: %s", said, r.err);
	ran_free(&r);
}

#define EXPECT(status, said, ...) expect((const char *const[]){ "recover", __VA_ARGS__, NULL }, status, said)

static void expect_file(const char *path, const char *p, size_t n)
{
	size_t there;
	char *const text = read_whole(path, &there);

	cr_assert_not_null(text, "%s is missing", path);
	cr_expect(there == n && memcmp(text, p, n) == 0, "%s: %zu bytes, not %zu, or other ones", path, there,
	          n);
	free(text);
}

Test(recover_command, a_sound_trace_stays_as_it_is)
{
	struct place p = place_make();
	size_t n;
	char *const text = read_whole(WHOLE, &n);

	EXPECT(0, "57 records in 2688 bytes kept, 0 bytes dropped in 0 ranges, 0 repairs", WHOLE, p.out);
	expect_file(p.out, text, n);
	free(text);
	remove_folder(p.dir);
}

Test(recover_command, a_suffix_of_another_format_is_refused)
{
	struct place p = place_make();
	char other[1100];
	struct ran r;

	EXPECT(3,
	       "out.htdump: this is the name of a file in format htdump; what is recovered is in "
	       "format dial9",
	       "testdata/dial9/service.bin", p.out);
	cr_expect_neq(access(p.out, F_OK), 0);
	/* a name of texts is warned of */
	snprintf(other, sizeof other, "%s/o.json", p.dir);
	EXPECT(0,
	       "o.json: warning: this is the name of a file in format chrome; what is recovered is in format "
	       "htdump",
	       WHOLE, other);
	/* programs that read JSON lines read both */
	snprintf(other, sizeof other, "%s/out.json", p.dir);
	r = run_tool((const char *const[]){ "recover", "testdata/dftracer/good/d1.pfw", other, NULL }, NULL,
	             0);
	cr_expect(r.status == 0 && strstr(r.err, "warning") == NULL, "%d: %s", r.status, r.err);
	ran_free(&r);
	remove_folder(p.dir);
}

Test(recover_command, what_is_dropped_is_listed)
{
	struct place p = place_make();
	size_t n;
	char *const text = read_whole(CUT, &n);

	EXPECT(1, CUT ":@2165: 21 bytes dropped: field \"value\" of class \"Own\" ends 3 bytes short", CUT,
	       "-o", p.out);
	expect_file(p.out, text, 2165);
	EXPECT(2, "already exists (use -f to replace it)", CUT, p.out);
	EXPECT(1, "[htdump/cut-record]", "-qf", CUT, p.out);
	EXPECT(0, "44 records in 2165 bytes kept, 0 bytes dropped", "-f", p.out, "/dev/null");
	free(text);
	remove_folder(p.dir);
}

Test(recover_command, packed_inputs_and_outputs)
{
	struct place p = place_make();
	size_t n, packed;
	char *const text = read_whole(WHOLE, &n);
	char *const gz = gzip_copy(text, n, &packed);
	char to[1200];

	/* a cut compressed stream: what came out of it is kept as far as it is whole */
	struct ran r = run_tool((const char *const[]){ "recover", "-", "-", NULL }, gz, packed / 2);
	cr_expect_eq(r.status, 1, "%s", r.err);
	cr_expect_not_null(strstr(r.err, "[input/packed-cut]"), "%s", r.err);
	cr_expect(r.out_n > 0 && r.out_n < n && memcmp(r.out, text, r.out_n) == 0);
	ran_free(&r);
	snprintf(to, sizeof to, "%s.gz", p.out);
	r = run_tool((const char *const[]){ "recover", "-", to, NULL }, gz, packed);
	cr_expect_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	EXPECT(0, "0 repairs", to, p.out);
	expect_file(p.out, text, n);
	free(gz);
	free(text);
	remove_folder(p.dir);
}

Test(recover_command, reports_follow_the_schema)
{
	struct place p = place_make();

	EXPECT(1, "[htdump/cut-record]", "--report", p.report_option, CUT, p.out);
	strcpy(strrchr(p.out, '.'), ".pfw");
	struct ran r = run_tool((const char *const[]){ "recover", "--format", "json", "-f",
	                                               "testdata/dftracer/bad/two-writers.pfw", p.out, NULL },
	                        NULL, 0);
	cr_expect_eq(r.status, 1);
	cr_expect_str_eq(r.err, "");
	const char *const v = access("/usr/bin/jsonschema", X_OK) == 0 ? "/usr/bin/jsonschema" : "jsonschema";
	cr_assert(write_whole(p.out, r.out, r.out_n));
	ran_free(&r);
	r = run_program(
	    (const char *const[]){ v, "-i", p.out, "-i", p.report, "schemas/recover.schema.json", NULL },
	    NULL, 0);
	cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
	ran_free(&r);
	remove_folder(p.dir);
}

Test(recover_command, mistakes)
{
	struct place p = place_make();

	EXPECT(3, "takes one input and one output", WHOLE);
	EXPECT(3, "the output testdata/htdump/bad/cut-record.htdump is the input", "-f", CUT, CUT);
	EXPECT(3, "name one", "--format", "json", "--report", p.report_option, CUT, p.out);
	EXPECT(3, "use --report json=FILE", "--format", "json", CUT, "-");
	EXPECT(3, "is the list of changes", "--report", p.out_option, CUT, p.out);
	EXPECT(3, "the list of changes " CUT " is the input", "-f", "--report", "json=" CUT, CUT, p.out);
	EXPECT(3, "--report takes json=FILE, not sarif=list", "--report", "sarif=list", CUT, p.out);
	EXPECT(3, "takes one of text, json, not xml", "--format", "xml", CUT, p.out);
	EXPECT(2, ": no such file", "nowhere", p.out);
	EXPECT(2, "cannot be recovered", "testdata/chrome/good/array.json", p.out);
	EXPECT(2, "no record is intact", "--from", "htdump", "testdata/chrome/good/array.json", p.out);
	cr_expect_neq(access(p.out, F_OK), 0, "there is an output");
	cr_expect_neq(access(p.report, F_OK), 0, "there is a report");
	remove_folder(p.dir);
}

/* A list shows 20 changes of a rule, and counts the others. */
Test(recover_command, long_lists_end_with_a_number)
{
	static const char line[] =
	    "{\"id\":1,\"name\":\"a\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"
	    "\"ph\":\"X\",\"args\":{}}\n{\"id\":\n";
	char text[50 * sizeof line];
	size_t n = 0, lines = 0;

	for (; lines < 50; lines++)
		n += (size_t)sprintf(text + n, "%s", line);
	struct ran r = run_tool((const char *const[]){ "recover", "-", "/dev/null", NULL }, text, n);
	cr_expect_eq(r.status, 1);
	cr_expect_not_null(strstr(r.err, "tracetool: -: 30 more [dftracer/cut-record]\n"), "%s", r.err);
	cr_expect_not_null(strstr(r.err, "50 records in "), "%s", r.err);
	cr_expect_not_null(strstr(r.err, "350 bytes dropped in 50 ranges, 0 repairs"), "%s", r.err);
	ran_free(&r);
}

/* An error of structure is a rule, and of level error. */
Test(recover_command, rules_of_structure_exist)
{
	for (const struct format *const *f = formats; *f != NULL; f++)
		for (const char *const *id = (*f)->recover != NULL ? (*f)->recover->structure : NULL;
		     id != NULL && *id != NULL; id++) {
			const struct rule *r = (*f)->rules;
			while (r->id != NULL && strcmp(r->id, *id) != 0)
				r++;
			cr_expect(r->id != NULL && r->level == LEVEL_ERROR, "%s", *id);
		}
}

Test(recover_command, what_cannot_be_read_makes_no_output)
{
	struct place p = place_make();
	char from[1100], in[1200];

	snprintf(from, sizeof from, "%s/none", p.dir);
	cr_assert_eq(mkdir(from, 0777), 0);
	EXPECT(2, "[input/not-a-file]", from, p.out);
	cr_expect_neq(access(p.out, F_OK), 0);
	snprintf(in, sizeof in, "%s/notes.txt", from);
	cr_assert(write_whole(in, "text", 4));
	EXPECT(2, "[input/not-a-file]", from, p.out);
	EXPECT(2, "no record is intact; its content looks like htdump (leave out --from)", "--from", "dial9",
	       WHOLE, p.out);
	cr_assert(write_whole(in, "[", 1));
	EXPECT(2, "no record is intact", "--from", "dftracer", in, p.out);
	cr_expect_neq(access(p.out, F_OK), 0);
	remove_folder(p.dir);
}

/* A thread that died before it could say that it was finished: nobody else knows it. */
Test(recover_command, metadata_that_is_not_repaired_is_said)
{
	struct place p = place_make();

	EXPECT(0, "1 error of metadata not repaired: the output has the same",
	       "testdata/ovni/folders/not-finished", p.out);
	remove_folder(p.dir);
}
