/* Tar archives that tar does not write: unusual headers, damage. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"

#define SAMPLE "testdata/htdump/good/overlapping.htdump"

struct made {
	char bytes[512 << 10];
	size_t n;
};

static void add_up(char *head)
{
	unsigned sum = 0;

	memset(head + 148, ' ', 8);
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)head[i];
	snprintf(head + 148, 8, "%06o", sum);
}

static void add(struct made *m, const char *name, char type, const void *p, size_t n)
{
	char *const head = m->bytes + m->n;

	cr_assert_leq(m->n + 1024 + n + 512, sizeof m->bytes);
	memset(head, 0, 512);
	memcpy(head, name, strnlen(name, 100));
	snprintf(head + 124, 12, "%011zo", n);
	head[156] = type;
	memcpy(head + 257, "ustar\00000", 8);
	add_up(head);
	memset(head + 512, 0, (n + 511) / 512 * 512);
	if (n > 0)
		memcpy(head + 512, p, n);
	m->n += 512 + (n + 511) / 512 * 512;
}

/* `blocks` of zeros: two end an archive. */
static void add_zeros(struct made *m, unsigned blocks)
{
	memset(m->bytes + m->n, 0, (size_t)blocks * 512);
	m->n += (size_t)blocks * 512;
}

static void expect_of(const char *command, const char *path, int status, const char *said)
{
	struct ran r = run_tool((const char *const[]){ command, path, NULL }, NULL, 0);
	cr_expect_eq(r.status, status, "%d, not %d: %s%s", r.status, status, r.out, r.err);
	cr_expect(strstr(r.out, said) != NULL || strstr(r.err, said) != NULL, "no %s in %s%s", said, r.out,
	          r.err);
	ran_free(&r);
}

static void expect(const char *command, const char *dir, const struct made *m, size_t n, int status,
                   const char *said)
{
	char path[600];

	snprintf(path, sizeof path, "%s/a.tar", dir);
	cr_assert(write_whole(path, m->bytes, n));
	expect_of(command, path, status, said);
}

Test(cmd_tar, names_and_damage)
{
	struct made *const m = calloc(1, sizeof *m);
	char *const dir = make_folder(), long_name[200] = "", pax[300];
	size_t n;
	char *const trace = read_whole(SAMPLE, &n);

	cr_assert(m != NULL && trace != NULL && n > 600);
	memset(long_name, 'n', 150);
	strcpy(long_name + 150, ".htdump");
	/* two traces; names that lead out of a folder are only shown */
	add(m, "../../../tmp/x.htdump", '0', trace, n);
	add(m, "b/y.htdump", '0', trace, n);
	add_zeros(m, 2);
	expect("validate", dir, m, m->n, 0, "a.tar:/../../../tmp/x.htdump: valid htdump");
	expect("validate", dir, m, m->n, 0, "a.tar:/b/y.htdump: valid htdump");
	char **const left = list_folder(dir, "");
	cr_expect(left[0] != NULL && left[1] == NULL, "a file was made");
	list_free(left);
	/* cut inside a file: the bytes up to there are read */
	expect("validate", dir, m, m->n - 2048, 2,
	       "a.tar:@0: error: the archive ends inside of b/y.htdump: ");
	expect("validate", dir, m, m->n - 2048, 2, "a.tar:/../../../tmp/x.htdump: valid htdump");
	/* no header */
	const size_t second = 512 + (n + 511) / 512 * 512;
	m->bytes[second] ^= 1;
	snprintf(pax, sizeof pax, "at byte %zu of the archive is not a header", second);
	expect("validate", dir, m, m->n, 2, pax);
	/* long names, both ways */
	m->n = 0;
	add(m, "././@LongLink", 'L', long_name, strlen(long_name) + 1);
	add(m, "short", '0', trace, n);
	add_zeros(m, 2);
	expect("validate", dir, m, m->n, 0, "nnnn.htdump: valid htdump");
	m->n = 0;
	snprintf(pax, sizeof pax, "%zu path=%s\n", strlen(long_name) + 10, long_name);
	add(m, "PaxHeaders/x", 'x', pax, strlen(pax));
	add(m, "short", '0', trace, n);
	add_zeros(m, 2);
	expect("stats", dir, m, m->n, 0, "crosses first");
	/* the folder itself, as V7 has it */
	m->n = 0;
	add(m, "./", '\0', NULL, 0);
	add(m, "./a.htdump", '\0', trace, n);
	add_zeros(m, 2);
	expect("stats", dir, m, m->n, 0, "crosses first");
	/* links are not followed, and there is nothing else */
	m->n = 0;
	add(m, "z.htdump", '2', NULL, 0);
	add_zeros(m, 2);
	expect("validate", dir, m, m->n, 2, "a.tar:/z.htdump:@0: error: is a symbolic link in the archive");
	free(trace);
	free(m);
	remove_folder(dir);
}

/* ---- nothing is passed over ---- */

/* A good trace and, for the rest of a test, a damaged one: the exit status shows that it was read. */
struct traces {
	struct made *m;
	char *dir, *good;
	size_t ngood, nbad;
};

static void setup_traces(struct traces *t)
{
	t->m = calloc(1, sizeof *t->m);
	t->dir = make_folder();
	t->good = read_whole(SAMPLE, &t->ngood);
	cr_assert(t->m != NULL && t->good != NULL && t->ngood > 600);
	t->nbad = t->ngood - 7;
	add(t->m, "good.htdump", '0', t->good, t->ngood);
}

static void free_traces(struct traces *t)
{
	free(t->good);
	free(t->m);
	remove_folder(t->dir);
}

static void add_bad(struct traces *t, const char *name, char type)
{
	add(t->m, name, type, t->good, t->nbad);
}

/* Ends the archive, and starts the next one. */
static void expect_end(struct traces *t, int status, const char *said)
{
	add_zeros(t->m, 2);
	expect("validate", t->dir, t->m, t->m->n, status, said);
	t->m->n = 0;
	add(t->m, "good.htdump", '0', t->good, t->ngood);
}

/* A pax header with one record; of `long_n` bytes if that is not 0. */
static void add_pax(struct made *m, char type, const char *key, const char *value, size_t long_n)
{
	const size_t nvalue = long_n != 0 ? long_n : strlen(value), space = nvalue + 100;
	char *const record = malloc(space), *const text = calloc(1, nvalue + 1);
	size_t n = strlen(key) + nvalue + 3;

	cr_assert(record != NULL && text != NULL);
	memset(text, 'c', nvalue);
	if (long_n == 0)
		memcpy(text, value, nvalue);
	for (int i = 0; i < 3; i++)
		n = strlen(key) + nvalue + 3 + (size_t)snprintf(record, space, "%zu", n);
	const int made = snprintf(record, space, "%zu %s=%s\n", n, key, text);
	cr_assert_eq((size_t)made, n);
	add(m, "PaxHeaders/x", type, record, n);
	free(record);
	free(text);
}

Test(cmd_tar, attributes_of_any_size)
{
	struct traces t;
	char name[300] = "";

	setup_traces(&t);
	memset(name, 'x', 120);
	strcpy(name + 120, "/bad.htdump");
	add_pax(t.m, 'x', "comment", "", 70000);
	add_pax(t.m, 'x', "path", name, 0);
	add_bad(&t, "short", '0');
	expect_end(&t, 1, "xx/bad.htdump: not valid");
	/* a name that is too long for any file system */
	add_pax(t.m, 'x', "path", "", 5000);
	add_bad(&t, "short", '0');
	expect_end(&t, 2, "has no name, or one of more than 4095 bytes; left out");
	memset(t.m->bytes + 300000, 'y', 70000);
	add(t.m, "././@LongLink", 'L', t.m->bytes + 300000, 70000);
	add_bad(&t, "short", '0');
	expect_end(&t, 2, "has no name, or one of more than 4095 bytes; left out");
	/* damaged ones */
	add(t.m, "PaxHeaders/x", 'x', "999 path=bad.htdump\n", 20);
	add_bad(&t, "short", '0');
	expect_end(&t, 2, "of the archive are damaged");
	add(t.m, "PaxHeaders/x", 'x', "12 path=a\0b\n", 12);
	add_bad(&t, "bad.htdump", '0');
	expect_end(&t, 2, "of the archive are damaged");
	add_pax(t.m, 'x', "size", "12x", 0);
	add_bad(&t, "bad.htdump", '0');
	expect_end(&t, 2, "of the archive are damaged");
	add_pax(t.m, 'g', "path", "all.htdump", 0);
	add_bad(&t, "short", '0');
	expect_end(&t, 2, "give all files one name or size");
	add_pax(t.m, 'g', "comment", "of git", 0);
	expect_end(&t, 0, "good.htdump: valid");
	/* the size of a file that is named by an extension after it */
	snprintf(name, sizeof name, "%zu", t.nbad);
	add_pax(t.m, 'x', "size", name, 0);
	add(t.m, "././@LongLink", 'L', "bad.htdump", 11);
	add_bad(&t, "short", '0');
	expect_end(&t, 1, "bad.htdump: not valid");
	free_traces(&t);
}

Test(cmd_tar, archives_behind_archives)
{
	struct traces t;
	char text[200];

	setup_traces(&t);
	add_zeros(t.m, 1);
	add_bad(&t, "bad.htdump", '0');
	expect_end(&t, 1, "bad.htdump: not valid");
	add_zeros(t.m, 20);
	add_bad(&t, "bad.htdump", '0');
	expect_end(&t, 1, "bad.htdump: not valid");
	/* bytes after the end that are no archive; as damage, if a header follows them */
	add_zeros(t.m, 2);
	snprintf(text, sizeof text, "warning: bytes that are not an archive follow its end at byte %zu",
	         t.m->n);
	memset(t.m->bytes + t.m->n, 'q', 1024);
	expect("validate", t.dir, t.m, t.m->n + 100, 0, text);
	expect("validate", t.dir, t.m, t.m->n + 1000, 0, text);
	snprintf(text, sizeof text, "at byte %zu of the archive is not a header", t.m->n);
	t.m->n += 512;
	add_bad(&t, "bad.htdump", '0');
	expect_end(&t, 2, text);
	/* intact members after the damage are read too */
	add(t.m, "damaged", '0', "x", 1);
	t.m->bytes[t.m->n - 1024] = 'x';
	add_bad(&t, "bad.htdump", '0');
	expect_end(&t, 2, "bad.htdump: not valid");
	/* cut between two files */
	add_bad(&t, "bad.htdump", '0');
	expect("validate", t.dir, t.m, 512 + (t.ngood + 511) / 512 * 512, 2,
	       "the archive ends without the zeros that end one: files may be missing");
	/* of several files of one name the last is read */
	add_bad(&t, "bad.htdump", '0');
	add(t.m, "./bad.htdump", '0', t.good, t.ngood);
	expect_end(&t, 0, "2 traces: all valid, 1 warning");
	add_bad(&t, "bad.htdump", '0');
	add(t.m, "./bad.htdump", '0', t.good, t.ngood);
	expect_end(&t, 0, "warning: bad.htdump is in the archive more than once: the last one is read");
	free_traces(&t);
}

Test(cmd_tar, what_is_no_plain_file)
{
	static const struct {
		char type;
		int status;
		const char *said;
	} rows[] = {
		{ '\0', 1, "/bad.htdump: not valid" },
		{ '7', 1, "/bad.htdump: not valid" },
		{ 'Z', 1, "/bad.htdump: not valid" },
		{ 's', 1, "/bad.htdump: not valid" },
		{ 'A', 1, "/bad.htdump: not valid" },
		{ 'V', 1, "/bad.htdump: not valid" },
		{ 'S', 2, "/bad.htdump:@0: error: is a file with holes (sparse): unpack the archive" },
		{ 'M', 2, "/bad.htdump:@0: error: is the rest of a file that began in another volume" },
	};
	struct traces t;

	setup_traces(&t);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		add_bad(&t, "bad.htdump", rows[i].type);
		expect_end(&t, rows[i].status, rows[i].said);
	}
	add(t.m, "bad.htdump", '3', NULL, 0);
	expect_end(&t, 2, "/bad.htdump:@0: error: is not a regular file");
	add_bad(&t, "bad.htdump/", '0');
	expect_end(&t, 1, "/bad.htdump: not valid");
	add(t.m, "label", 'V', NULL, 0);
	add_pax(t.m, 'g', "GNU.volume.offset", "512", 0);
	add_bad(&t, "bad.htdump", '0');
	expect_end(&t, 2, "is the rest of a file that began in another volume");
	/* holes in the form of pax, and a map of several blocks in the old form */
	add_pax(t.m, 'x', "GNU.sparse.name", "d/bad.htdump", 0);
	add_bad(&t, "GNUSparseFile.1/bad", '0');
	expect_end(&t, 2, "/d/bad.htdump:@0: error: is a file with holes");
	const size_t at = t.m->n;
	add(t.m, "bad.htdump", 'S', t.good, t.nbad);
	memmove(t.m->bytes + at + 1536, t.m->bytes + at + 512, t.m->n - at - 512);
	memset(t.m->bytes + at + 512, 1, 512);
	memset(t.m->bytes + at + 1024, 0, 512);
	t.m->n += 1024;
	t.m->bytes[at + 482] = 1;
	add_up(t.m->bytes + at);
	add(t.m, "behind.htdump", '0', t.good, t.ngood);
	expect_end(&t, 2, "/behind.htdump: valid");
	free_traces(&t);
}

static void add_link(struct made *m, const char *name, const char *target)
{
	char *const head = m->bytes + m->n;

	add(m, name, '1', NULL, 0);
	snprintf(head + 157, 100, "%s", target);
	add_up(head);
}

Test(cmd_tar, hard_links_are_names_of_files)
{
	struct traces t;

	setup_traces(&t);
	add_link(t.m, "link.htdump", "./good.htdump");
	expect_end(&t, 0, "/link.htdump: valid");
	add_link(t.m, "a.htdump", "good.htdump"); /* sorted before it by name */
	expect_end(&t, 0, "/a.htdump: valid");
	add_link(t.m, "a.htdump", "good.htdump");
	add_link(t.m, "b.htdump", "a.htdump");
	expect_end(&t, 0, "/b.htdump: valid");
	/* the earlier file of that name */
	add_bad(&t, "other.htdump", '0');
	add_link(t.m, "link.htdump", "other.htdump");
	add(t.m, "other.htdump", '0', t.good, t.ngood);
	expect_end(&t, 1, "/link.htdump: not valid");
	add_bad(&t, "data", '0');
	add_link(t.m, "link.htdump", "data");
	expect_end(
	    &t, 2,
	    "/link.htdump:@0: error: is a hard link to a file that is not before it in the archive, or");
	free_traces(&t);
}

/* A file that cannot be read as an archive is no trace either. */
Test(cmd_tar, is_never_read_as_a_trace)
{
	static const char *const formats[] = { "ndjson", "dftracer", "chrome", "htdump", "heph", "dial9" };
	struct traces t;
	char path[600], out[600];

	setup_traces(&t);
	add_zeros(t.m, 2);
	snprintf(path, sizeof path, "%s/a.tar", t.dir);
	snprintf(out, sizeof out, "%s/o", t.dir);
	t.m->bytes[3] ^= 1;
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
		cr_assert(write_whole(path, t.m->bytes, i % 2 == 0 ? t.m->n : 100));
		struct ran r =
		    run_tool((const char *const[]){ "validate", "--from", formats[i], path, NULL }, NULL, 0);
		cr_expect_eq(r.status, 2, "%s: %s%s", formats[i], r.out, r.err);
		cr_expect_not_null(strstr(r.out, "is not a tar archive, or is damaged"), "%s", r.out);
		ran_free(&r);
		r = run_tool((const char *const[]){ "recover", "--from", formats[i], path, out, NULL }, NULL,
		             0);
		cr_expect_eq(r.status, 2, "%s: %s", formats[i], r.err);
		cr_expect_not_null(strstr(r.err, "unpack it, and recover the directory"), "%s", r.err);
		ran_free(&r);
	}
	expect("validate", t.dir, t.m, 0, 2, "is empty");
	free_traces(&t);
}

/* Packed archives are read to the end of the stream, also after the end of the archive. */
Test(cmd_tar, packed_archives_are_read_to_their_end)
{
	struct traces t;
	char path[600];
	size_t n;

	setup_traces(&t);
	add_zeros(t.m, 2);
	char *const packed = gzip_copy(t.m->bytes, t.m->n, &n), *const more = calloc(2, n + 100);
	snprintf(path, sizeof path, "%s/a.tar.gz", t.dir);
	memcpy(more, packed, n);
	cr_assert(write_whole(path, more, n));
	expect_of("validate", path, 0, "/good.htdump: valid");
	memcpy(more + n, "garbage", 7);
	cr_assert(write_whole(path, more, n + 7));
	expect_of("validate", path, 0, "[input/packed-trailing]");
	memset(more + n, 0, 100);
	memcpy(more + n + 100, packed, n);
	more[n + 100 + n - 5] ^= 1; /* the checksum of the second member */
	cr_assert(write_whole(path, more, n + 100 + n));
	expect_of("validate", path, 2, "[input/packed-corrupt]");
	expect_of("stats", path, 2, "gzip stream is damaged");
	more[n - 5] ^= 1;
	cr_assert(write_whole(path, more, n));
	expect_of("validate", path, 2, "[input/packed-corrupt]");
	cr_assert(write_whole(path, packed, n - 4));
	expect_of("validate", path, 2, "[input/packed-cut]");
	free(packed);
	free(more);
	free_traces(&t);
}

/* Only files that readers request are unpacked: the other one is larger than the limit of written files. */
Test(cmd_tar, other_files_are_not_unpacked)
{
	struct traces t;
	char path[600], command[1500];
	size_t n;

	setup_traces(&t);
	memset(t.m->bytes + 300000, 'c', 200000);
	add(t.m, "core.dump", '0', t.m->bytes + 300000, 200000);
	add_zeros(t.m, 2);
	char *const packed = gzip_copy(t.m->bytes, t.m->n, &n);
	snprintf(path, sizeof path, "%s/a.tar.gz", t.dir);
	cr_assert(write_whole(path, packed, n));
	snprintf(command, sizeof command, "ulimit -f 100; exec '%s' validate '%s'", tool_path(), path);
	struct ran r = run_program((const char *const[]){ "sh", "-c", command, NULL }, NULL, 0);
	cr_expect_eq(r.status, 0, "%s%s", r.out, r.err);
	ran_free(&r);
	free(packed);
	free_traces(&t);
}
