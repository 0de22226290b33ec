/* The program on tar archives of trace folders. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli_test_util.h"

#define SAMPLE "testdata/htdump/good/overlapping.htdump"
#define FOLDERS "testdata/ovni/folders/"

/* ---- archives made by tar ---- */

static void
run_tar(const char *how, const char *form, const char *to, const char *folder)
{
	struct ran r = run_program(
	    (const char *const[]){ "tar", how, form, "-f", to, "-C", folder, ".", NULL }, NULL, 0);

	cr_assert_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
}

/* The text with `from` replaced by `to`; to be freed. */
static char *
replaced(const char *text, const char *from, const char *to)
{
	char *const out = calloc(2, strlen(text) + 1), *p = out;

	cr_assert_not_null(out);
	while (*text != '\0') {
		if (strncmp(text, from, strlen(from)) == 0) {
			p = stpcpy(p, to);
			text += strlen(from);
		} else {
			*p++ = *text++;
		}
	}
	return out;
}

/* The same findings, of the same places, and the same status as of the folder. */
static void
expect_as_folder(const char *archive, const char *folder)
{
	struct ran a = run_tool((const char *const[]){ "validate", archive, NULL }, NULL, 0);
	struct ran b = run_tool((const char *const[]){ "validate", folder, NULL }, NULL, 0);
	char inside[700], below[700];

	snprintf(inside, sizeof inside, "%s:/", archive);
	snprintf(below, sizeof below, "%s/", folder);
	char *const with_paths = replaced(a.out, inside, below);
	char *const got = replaced(with_paths, archive, folder);
	cr_expect_eq(a.status, b.status, "%s: status %d, not %d: %s", archive, a.status, b.status, a.err);
	cr_expect_str_eq(got, b.out, "%s", archive);
	free(with_paths);
	free(got);
	ran_free(&a);
	ran_free(&b);
}

Test(cmd_tar, is_read_as_its_folder)
{
	static const struct {
		const char *folder, *how, *form, *name;
	} rows[] = {
		{ "tid-repeated", "-c", "--format=ustar", "a.tar" },
		{ "offsets-mean", "-cz", "--format=gnu", "a.tar.gz" },
		{ "cpu-phyid", "-c", "--format=pax", "b.tar" },
		{ "mark-label-number", "-cJ", "--format=pax", "a.tar.xz" },
		{ "lib-mixed", "-cz", "--format=v7", "a.tgz" },
	};
	char *const dir = make_folder(), path[600], folder[300];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, rows[i].name);
		snprintf(folder, sizeof folder, FOLDERS "%s", rows[i].folder);
		run_tar(rows[i].how, rows[i].form, path, folder);
		expect_as_folder(path, folder);
	}
	remove_folder(dir);
}

/* The folder itself in the archive: what lies beside its streams is found all the same. */
Test(cmd_tar, holds_a_folder)
{
	char *const dir = make_folder(), path[600];

	snprintf(path, sizeof path, "%s/a.tar", dir);
	struct ran r = run_program(
	    (const char *const[]){ "tar", "-cf", path, "-C", "testdata/ovni/folders", "offsets-mean", NULL },
	    NULL, 0);
	cr_assert_eq(r.status, 0, "%s", r.err);
	ran_free(&r);
	r = run_tool((const char *const[]){ "validate", path, NULL }, NULL, 0);
	struct ran folder =
	    run_tool((const char *const[]){ "validate", FOLDERS "offsets-mean", NULL }, NULL, 0);
	cr_expect_eq(r.status, folder.status);
	cr_expect_not_null(strstr(r.out, "clock-offsets.txt"), "%s", r.out);
	ran_free(&r);
	ran_free(&folder);
	remove_folder(dir);
}

/* ---- archives made here ---- */

struct made {
	char bytes[64 << 10];
	size_t n;
};

static void
add(struct made *m, const char *name, char type, const void *p, size_t n)
{
	char *const head = m->bytes + m->n;
	unsigned sum = 0;

	cr_assert_leq(m->n + 1024 + n + 512, sizeof m->bytes);
	memset(head, 0, 512);
	memcpy(head, name, strnlen(name, 100));
	snprintf(head + 124, 12, "%011zo", n);
	head[156] = type;
	memcpy(head + 257, "ustar\00000", 8);
	memset(head + 148, ' ', 8);
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)head[i];
	snprintf(head + 148, 8, "%06o", sum);
	memset(head + 512, 0, (n + 511) / 512 * 512);
	if (n > 0)
		memcpy(head + 512, p, n);
	m->n += 512 + (n + 511) / 512 * 512;
}

static void
expect(const char *command, const char *dir, const struct made *m, size_t n, int status, const char *said)
{
	char path[600];

	snprintf(path, sizeof path, "%s/a.tar", dir);
	cr_assert(write_whole(path, m->bytes, n));
	struct ran r = run_tool((const char *const[]){ command, path, NULL }, NULL, 0);
	cr_expect_eq(r.status, status, "%d, not %d: %s%s", r.status, status, r.out, r.err);
	cr_expect(strstr(r.out, said) != NULL || strstr(r.err, said) != NULL, "no %s in %s%s", said, r.out,
	          r.err);
	ran_free(&r);
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
	expect("validate", dir, m, m->n, 0, "a.tar:/../../../tmp/x.htdump: valid htdump");
	expect("validate", dir, m, m->n, 0, "a.tar:/b/y.htdump: valid htdump");
	char **const left = list_folder(dir, "");
	cr_expect(left[0] != NULL && left[1] == NULL, "a file was made");
	list_free(left);
	/* cut inside of a file: what is there is read */
	expect("validate", dir, m, m->n - 1024, 2,
	       "a.tar:@0: error: the archive ends inside of b/y.htdump: ");
	expect("validate", dir, m, m->n - 1024, 2, "a.tar:/../../../tmp/x.htdump: valid htdump");
	/* no header */
	const size_t second = 512 + (n + 511) / 512 * 512;
	m->bytes[second] ^= 1;
	snprintf(pax, sizeof pax, "at byte %zu of the archive is no header", second);
	expect("validate", dir, m, m->n, 2, pax);
	/* long names, both ways */
	m->n = 0;
	add(m, "././@LongLink", 'L', long_name, strlen(long_name) + 1);
	add(m, "short", '0', trace, n);
	expect("validate", dir, m, m->n, 0, "nnnn.htdump: valid htdump");
	m->n = 0;
	snprintf(pax, sizeof pax, "%zu path=%s\n", strlen(long_name) + 10, long_name);
	add(m, "PaxHeaders/x", 'x', pax, strlen(pax));
	add(m, "short", '0', trace, n);
	expect("stats", dir, m, m->n, 0, "crosses first");
	/* links are not followed, and there is nothing else */
	m->n = 0;
	add(m, "z.htdump", '2', NULL, 0);
	expect("validate", dir, m, m->n, 2,
	       "a.tar:/z.htdump:@0: error: is a link, or has holes, in the archive");
	free(trace);
	free(m);
	remove_folder(dir);
}
