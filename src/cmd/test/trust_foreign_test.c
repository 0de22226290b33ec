/* Files that are no trace are named for what they are, with what to do. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "cli/command.h"

/* What validate says of bytes in a file of this name. */
static void expect(const char *name, const void *p, size_t n, const char *want)
{
	char *const dir = make_folder(), path[1100], line[600];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, p, n));
	snprintf(line, sizeof line, ":@0: error: the input is %s [input/unknown-format]\n", want);
	struct ran r = run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "%s: %s", name, r.out);
	cr_expect_not_null(strstr(r.out, line), "%s: no %s: %s", name, line, r.out);
	ran_free(&r);
	r = run_tool((const char *const[]){ "convert", "--to", "chrome", path, "-", NULL }, NULL, 0);
	cr_expect_eq(r.status, STATUS_UNREADABLE, "%s: %s", name, r.err);
	cr_expect_not_null(strstr(r.err, line), "%s: no %s: %s", name, line, r.err);
	ran_free(&r);
	remove_folder(dir);
}

Test(trust, foreign_files_are_named)
{
	static const struct {
		const char *name, *bytes;
		size_t n;
		const char *want;
	} rows[] = {
#define ROW(name, bytes, want) { name, bytes, sizeof(bytes) - 1, want }
		ROW("a.lz4", "\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0",
		    "LZ4-compressed data: unpack it first (lz4 -d)"),
		ROW("a.bz2", "BZh91AY&SY\0\0", "bzip2-compressed data: unpack it first (bzip2 -d)"),
		ROW("a.7z", "7z\xbc\xaf\x27\x1c\0\4",
		    "a 7z archive: unpack it and name the traces that were in it"),
		ROW("a.zip", "PK\3\4\x14\0\0\0\x08\0",
		    "a zip archive: unpack it and name the traces that were in it"),
		ROW("prog",
		    "\x7f"
		    "ELF\2\1\1\0\0\0",
		    "an ELF program, library or core dump: name the trace that the "
		    "program wrote"),
		ROW("perf.data", "PERFILE2h\0\0\0\0\0\0\0",
		    "a perf.data file of Linux perf: perf script prints it"),
		ROW("stream_0", "\xc1\x1f\xfc\xc1\0\0\0\0",
		    "a stream in the Common Trace Format: babeltrace2 reads it"),
		ROW("metadata", "/* CTF 1.8 */\n",
		    "metadata of the Common Trace Format: babeltrace2 reads it"),
		ROW("a.sqlite", "SQLite format 3\0\x10\0", "an SQLite database: sqlite3 reads it"),
		ROW("a.html", "<!DOCTYPE html>\n", "an HTML page: the download of a trace may have failed"),
		ROW("package.json", "{\n  \"name\": \"x\",\n  \"version\": \"1.0\"\n}\n",
		    "JSON, but not a trace (it has no traceEvents): if it belongs to the trace of a folder, "
		    "name the folder"),
		ROW("a.pftrace", "\x0a\x0c\x40\x01\x50\x01\x58\x06\xf2\x03\x02\x08\x01\x00\x0a\x02\x40\x02",
		    "a Perfetto trace: tracetool writes these, but does not read them (trace_processor "
		    "does)"),
		ROW("a.csv", "kind,ts_ns,dur_ns,name\n",
		    "a CSV table of events: tracetool writes these, but does not read them"),
		ROW("stream.json", "{\"version\":3,\"ovni\":{\"part\":\"thread\"}}",
		    "named like a file beside a trace of format ovni, and holds no events: name the folder "
		    "that it is in"),
		ROW("metadata.json", "{\"version\":2,\"app_id\":1}",
		    "named like a file beside a trace of format ovni, and holds no events: name the folder "
		    "that it is in"),
#undef ROW
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect(rows[i].name, rows[i].bytes, rows[i].n, rows[i].want);
}

/* As tar makes it, packed too. */
Test(trust, a_tar_archive_is_named)
{
	char *const dir = make_folder(), path[1100];
	size_t n, packed;

	snprintf(path, sizeof path, "%s/a", dir);
	struct ran r =
	    run_program((const char *const[]){ "tar", "-cf", path, "testdata/htdump/good", NULL }, NULL, 0);
	cr_assert_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	char *const p = read_whole(path, &n);
	cr_assert_not_null(p);
	void *const z = gzip_copy(p, n, &packed);
	expect("a", p, n, "a tar archive: name it .tar (.tar.gz, .tar.zst, .tar.xz), and it is read");
	expect("a.gz", z, packed, "a tar archive: name it .tar (.tar.gz, .tar.zst, .tar.xz), and it is read");
	free(z);
	free(p);
	remove_folder(dir);
}

/* The name of an input stands in messages with what steers a terminal made visible. */
Test(trust, names_of_inputs_are_shown_escaped)
{
	static const char *const ways[] = { "validate", "stats", "info", "cat" };
	char *const dir = make_folder(), path[1100];

	snprintf(path, sizeof path, "%s/\033[31m\nred\xe2\x80\xae.htdump", dir);
	cr_assert(write_whole(path, "x", 1));
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		struct ran r = run_tool((const char *const[]){ ways[i], path, NULL }, NULL, 0);
		cr_expect_eq(r.status, STATUS_UNREADABLE);
		cr_expect_null(strchr(r.out, '\033'), "%s: %s", ways[i], r.out);
		cr_expect_null(strchr(r.err, '\033'), "%s: %s", ways[i], r.err);
		cr_expect(strstr(r.out, "/\\x1b[31m\\x0ared\\u{202e}.htdump:@0: error") != NULL ||
		              strstr(r.err, "/\\x1b[31m\\x0ared\\u{202e}.htdump:@0: error") != NULL,
		          "%s: %s%s", ways[i], r.out, r.err);
		ran_free(&r);
	}
	remove_folder(dir);
}
