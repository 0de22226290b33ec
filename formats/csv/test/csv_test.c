/*
 * csv and tsv of samples: a strict reader of RFC 4180, the module csv of Python, and the command line.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/test/cli_test_util.h"
#include "test/support/strength.h"
#include "test/fuzz/strict_json.h"
#include "output/text.h"

#define COLUMNS 14

/* ---- a strict reader ---- */

/* Reads the cell at *at without its quotes.  Returns the separator after it, ',' or '\n', or 0 if the text
 * breaks a rule. */
static char read_cell(const char **at, const char *end, struct text *cell)
{
	const char *p = *at;
	const bool quoted = p < end && *p == '"';

	text_clear(cell);
	for (p += quoted; p < end; p++) {
		if (quoted && *p == '"') {
			if (p + 1 == end || p[1] != '"') {
				p++;
				break;
			}
			p++;
		} else if (!quoted && (*p == ',' || *p == '\r' || *p == '\n' || *p == '"')) {
			break;
		}
		text_char(cell, *p);
	}
	const bool line_end = end - p >= 2 && p[0] == '\r' && p[1] == '\n';
	const bool comma = p < end && *p == ',';
	*at = p + (line_end ? 2 : comma);
	return line_end ? '\n' : comma ? ',' : '\0';
}

static bool is_integer(const struct text *cell, bool may_be_empty)
{
	const size_t sign = cell->n > 0 && cell->p[0] == '-';

	for (size_t i = sign; i < cell->n; i++)
		if (cell->p[i] < '0' || cell->p[i] > '9')
			return false;
	return cell->n > sign || (may_be_empty && cell->n == 0);
}

static void expect_cell(const char *path, unsigned column, const struct text *cell, bool header)
{
	size_t at;

	if (header)
		return;
	if (column == 1 || column == 10 || column == 13)
		cr_expect(is_integer(cell, false), "%s: column %u", path, column);
	if (column == 2 || column == 6 || column == 8 || column == 11)
		cr_expect(is_integer(cell, true), "%s: column %u", path, column);
	if (column == 12 && cell->n > 0) {
		cr_expect_null(strict_json_fault(cell->p, cell->n, &at), "%s: %.*s", path, (int)cell->n,
		               cell->p);
		cr_expect_eq(cell->p[0], '{');
	}
}

static size_t expect_strict(const char *path)
{
	struct ran r =
	    run_tool((const char *const[]){ "convert", "-q", "--to", "csv", path, "-", NULL }, NULL, 0);
	const char *at = r.out, *const end = r.out + r.out_n;
	struct text cell = { .p = NULL };
	size_t rows = 0;

	for (; at < end; rows++)
		for (unsigned column = 0; column < COLUMNS; column++) {
			const char stop = read_cell(&at, end, &cell);
			cr_assert_eq(stop, column + 1 < COLUMNS ? ',' : '\n', "%s: row %zu, column %u", path,
			             rows, column);
			expect_cell(path, column, &cell, rows == 0);
		}
	cr_expect(r.out_n == 0 || rows > 0);
	text_free(&cell);
	ran_free(&r);
	return rows;
}

static size_t for_samples(size_t (*each)(const char *path))
{
	static const char find[] = "find testdata/*/good -maxdepth 1 -type f ! -name '*.expect' | sort";
	struct ran r = run_program((const char *const[]){ "sh", "-c", find, NULL }, NULL, 0);
	size_t n = 0;

	for (char *p = r.out, *stop; (stop = strchr(p, '\n')) != NULL; p = stop + 1) {
		*stop = '\0';
		if (strength_takes(p, 5))
			n += each(p);
	}
	ran_free(&r);
	return n;
}

Test(csv, samples_are_strict)
{
	cr_expect_gt(for_samples(expect_strict), strength(60, 300, 300));
}

/* ---- Python ---- */

static const char script[] =
    "import csv, json, re, sys\n"
    "csv.field_size_limit(1 << 30)\n"
    "names = {'t': '\\t', 'n': '\\n', 'r': '\\r', '\\\\': '\\\\'}\n"
    "def text(m):\n"
    "    return names.get(m.group(1)) or '\\ufffd'\n"
    "def cell(s):\n"
    "    return re.sub(r'\\\\(t|n|r|\\\\|x..|u\\{.*?\\})', text, s)\n"
    "a = list(csv.reader(open(sys.argv[1], newline='', encoding='utf-8'), strict=True))\n"
    "b = [[cell(s) for s in line.rstrip('\\n').split('\\t')]\n"
    "     for line in open(sys.argv[2], newline='\\n', encoding='utf-8')]\n"
    "one = lambda s: re.sub('\\ufffd+', '\\ufffd', s)\n"
    "assert [[one(s) for s in r] for r in a] == [[one(s) for s in r] for r in b]\n"
    "for row in a[1:]:\n"
    "    int(row[1]); row[12] == '' or json.loads(row[12])\n"
    "assert a[0][0] == 'kind'\n";

/* csv and tsv of a trace are equal, except for bytes that only tsv can express. */
Test(csv, python_reads_both)
{
	static const char *const paths[] = {
		"testdata/htdump/good/overlapping.htdump", "testdata/htdump/good/odd-doubles.htdump",
		"testdata/htdump/bad/invalid-utf8.htdump", "testdata/heph/good/all-types.bin.log",
		"testdata/dftracer/good/sound.pfw",        "testdata/ovni/good/document.obs"
	};
	char *const dir = make_folder(), a[1024], b[1024];

	if (system("python3 -c 'import csv' 2>/dev/null") != 0) {
		remove_folder(dir);
		cr_skip_test("python3 is not here");
	}
	snprintf(a, sizeof a, "%s/a.csv", dir);
	snprintf(b, sizeof b, "%s/b.tsv", dir);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct ran r =
		    run_tool((const char *const[]){ "convert", "-qf", paths[i], a, NULL }, NULL, 0);
		cr_assert_lt(r.status, 2, "%s", r.err);
		ran_free(&r);
		r = run_tool((const char *const[]){ "convert", "-qf", paths[i], b, NULL }, NULL, 0);
		cr_assert_lt(r.status, 2, "%s", r.err);
		ran_free(&r);
		r = run_program((const char *const[]){ "python3", "-c", script, a, b, NULL }, NULL, 0);
		cr_expect_eq(r.status, 0, "%s: %s", paths[i], r.err);
		ran_free(&r);
	}
	remove_folder(dir);
}

/* ---- the command line ---- */

/* A pipe is read once, so events before its first one have times below 0. */
Test(csv, times_below_0)
{
	static const char lines[] = "[\n{\"id\":1,\"name\":\"a\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":"
	                            "5000,\"dur\":1,\"ph\":\"X\"}\n"
	                            "{\"id\":2,\"name\":\"b\",\"cat\":\"c\",\"pid\":1,\"tid\":1,\"ts\":4000,"
	                            "\"dur\":1,\"ph\":\"X\"}\n]\n";
	struct ran r = run_tool((const char *const[]){ "convert", "--quiet", "--rebase", "--to", "csv",
	                                               "--from", "dftracer", "-", "-", NULL },
	                        lines, sizeof lines - 1);

	cr_expect_not_null(strstr(r.out, "\r\nspan,0,1000,a,"), "%s%s", r.out, r.err);
	cr_expect_not_null(strstr(r.out, "\r\nspan,-1000000,1000,b,"), "%s", r.out);
	ran_free(&r);
}

Test(csv, json_of_several_lines_stays_in_its_row)
{
	static const char json[] = "{\"traceEvents\":[\n{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1,"
	                           "\"name\":\"a\",\"args\":{\"l\":[\n\t1,\n\t2\n]}}\n]}\n";
	struct ran r = run_tool((const char *const[]){ "convert", "--quiet", "--to", "tsv", "-", "-", NULL },
	                        json, sizeof json - 1);
	size_t n = 0;

	for (size_t i = 0; i < r.out_n; i++)
		n += r.out[i] == '\n';
	cr_expect_eq(n, 2, "%s%s", r.out, r.err);
	ran_free(&r);
}

/* Two names that are not UTF-8 can become one text: readers of JSON would retain only one of the fields. */
Test(csv, names_that_repair_makes_equal_get_a_number)
{
	static const char lines[] =
	    "{\"type\":\"trace\",\"version\":1,\"tool\":\"t\",\"mode\":\"interpreted\",\"rebased\":false,"
	    "\"format\":\"f\",\"clock\":\"unknown\"}\n"
	    "{\"type\":\"track\",\"index\":0,\"kind\":\"process\",\"name\":\"p\"}\n"
	    "{\"type\":\"class\",\"index\":0,\"name\":\"c\",\"category\":\"c\"}\n"
	    "{\"kind\":\"instant\",\"ts_ns\":1,\"name\":\"n\",\"class_index\":0,\"category\":\"c\","
	    "\"track_index\":0,\"offset\":0,\"pairs\":[[{\"$escaped\":\"\\\\xff\"},1],"
	    "[{\"$escaped\":\"\\\\xfe\"},2]]}\n"
	    "{\"type\":\"trace_end\",\"records\":4,\"events\":1,\"format\":\"f\",\"clock\":\"unknown\","
	    "\"losses\":{},\"pairs\":[[{\"$escaped\":\"\\\\xff\"},3],[{\"$escaped\":\"\\\\xfe\"},4]]}\n";
	static const char args[] = "{\"\xef\xbf\xbd\":1,\"\xef\xbf\xbd (2)\":2}";
	static const char facts[] = "\"\xef\xbf\xbd\":3,\n\"\xef\xbf\xbd (2)\":4}";
	struct ran r = run_tool((const char *const[]){ "convert", "--to", "tsv", "-", "-", NULL }, lines,
	                        sizeof lines - 1);

	cr_expect_not_null(strstr(r.out, args), "%s%s", r.out, r.err);
	cr_expect_not_null(strstr(r.err, ": 1; the first at input offset 0 [tsv/name-repeated]"), "%s",
	                   r.err);
	ran_free(&r);
	r = run_tool((const char *const[]){ "convert", "--to", "chrome", "-", "-", NULL }, lines,
	             sizeof lines - 1);
	cr_expect_not_null(strstr(r.out, args), "%s%s", r.out, r.err);
	cr_expect_not_null(strstr(r.out, facts), "%s", r.out);
	cr_expect_not_null(strstr(r.err, ": 4; the first at input offset 0 [chrome/invalid-utf8]"), "%s",
	                   r.err);
	ran_free(&r);
}
