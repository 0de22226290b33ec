/* An input is the same file in every pass of a run. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/test/cli_test_util.h"
#include "input/open.h"

struct place {
	char *dir;
	char path[300], other[300];
	struct input_files files;
};

static struct place begin(void)
{
	struct place p = { .dir = make_folder(), .files = { .lock = PTHREAD_MUTEX_INITIALIZER } };

	snprintf(p.path, sizeof p.path, "%s/in", p.dir);
	snprintf(p.other, sizeof p.other, "%s/other", p.dir);
	return p;
}

static void end(struct place *p)
{
	input_files_free(&p->files);
	remove_folder(p->dir);
}

/* Times of files are too coarse to distinguish writes in quick succession. */
static void put(const char *path, const char *text, time_t modified)
{
	const struct timespec times[2] = { { .tv_sec = modified }, { .tv_sec = modified } };

	cr_assert(write_whole(path, text, strlen(text)));
	cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void expect(struct place *p, const char *path, enum input_fault fault, const char *says)
{
	struct input *const in = input_open_in(&p->files, NULL, path);

	cr_assert_not_null(in);
	cr_expect_eq(in->fault, fault, "%d: %s", (int)in->fault, in->fault_text);
	if (fault == INPUT_OK)
		cr_expect(strlen(says) == (size_t)(in->end - in->p) &&
		          memcmp(in->p, says, strlen(says)) == 0);
	else
		cr_expect_not_null(strstr(in->fault_text, says), "%s", in->fault_text);
	input_close(in);
}

/* Enough files that later ones do not stay open. */
static void open_others(struct place *p)
{
	char path[300];

	for (int i = 0; i < INPUT_FILES_OPEN; i++) {
		snprintf(path, sizeof path, "%s/%d", p->dir, i);
		put(path, "x", 1);
		expect(p, path, INPUT_OK, "x");
	}
}

Test(input_files, one_that_is_open_stays_the_same)
{
	struct place p = begin();

	put(p.path, "first", 1000);
	put(p.other, "second", 2000);
	expect(&p, p.path, INPUT_OK, "first");
	cr_assert_eq(rename(p.other, p.path), 0);
	expect(&p, p.path, INPUT_OK, "first");
	cr_assert_eq(unlink(p.path), 0);
	expect(&p, p.path, INPUT_OK, "first");
	cr_expect_not(atomic_load(&p.files.changed));
	end(&p);
}

Test(input_files, one_that_was_closed_is_compared)
{
	struct place p = begin();

	open_others(&p);
	put(p.path, "first", 1000);
	put(p.other, "fiRst", 1000);
	expect(&p, p.path, INPUT_OK, "first");
	expect(&p, p.path, INPUT_OK, "first");
	cr_expect_not(atomic_load(&p.files.changed));
	cr_assert_eq(rename(p.other, p.path), 0);
	expect(&p, p.path, INPUT_CHANGED, "another file has its name now");
	cr_expect(atomic_load(&p.files.changed));
	cr_assert_eq(unlink(p.path), 0);
	expect(&p, p.path, INPUT_CHANGED, "cannot be opened again: No such file");
	end(&p);
}

/* The file is the same, but no descriptor is available for it. */
Test(input_files, no_descriptor_for_it_later_is_no_change)
{
	struct place p = begin();
	struct rlimit limit;

	put(p.path, "first", 1000);
	expect(&p, p.path, INPUT_OK, "first");
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, limit.rlim_max }), 0);
	expect(&p, p.path, INPUT_SYSTEM, "Too many open files");
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect(atomic_load(&p.files.changed));
	cr_expect_str_eq(p.files.changed_path, p.path);
	cr_expect_str_eq(p.files.changed_why, "Too many open files");
	end(&p);
}

Test(input_files, one_that_is_written_to_is_noticed)
{
	for (int few = 0; few < 2; few++) {
		struct place p = begin();
		if (few == 0)
			open_others(&p);
		put(p.path, "first", 1000);
		expect(&p, p.path, INPUT_OK, "first");
		put(p.path, "fiRst", 1001);
		expect(&p, p.path, INPUT_CHANGED, "it was written to");
		put(p.path, "first and more", 1000);
		expect(&p, p.path, INPUT_CHANGED, "it had 5 bytes, and has 14");
		end(&p);
	}
}

/* Changes while the file is read; growth is a fault only in later passes. */
Test(input_files, one_that_is_written_to_while_it_is_read)
{
	static const struct {
		const char *text;
		time_t modified;
		enum input_fault first, again;
	} rows[] = {
		{ "first", 1000, INPUT_OK, INPUT_OK },
		{ "fiRst", 1001, INPUT_CHANGED, INPUT_CHANGED },
		{ "first and more", 1001, INPUT_OK, INPUT_CHANGED },
		{ "fir", 1001, INPUT_SHRUNK, INPUT_SHRUNK },
	};

	for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		const bool again = i % 2 == 1;
		const enum input_fault fault = again ? rows[i / 2].again : rows[i / 2].first;
		struct place p = begin();
		put(p.path, "first", 1000);
		if (again)
			expect(&p, p.path, INPUT_OK, "first");
		struct input *const in = input_open_in(&p.files, NULL, p.path);
		cr_assert_not_null(in);
		in->p = in->end;
		put(p.path, rows[i / 2].text, rows[i / 2].modified);
		cr_expect_eq(input_shrunk(in), fault != INPUT_OK, "%zu", i);
		cr_expect_eq(in->fault, fault, "%zu: %s", i, in->fault_text);
		cr_expect_eq(atomic_load(&p.files.changed), fault != INPUT_OK);
		input_close(in);
		end(&p);
	}
}

Test(input_files, one_that_was_not_there_stays_away)
{
	struct place p = begin();

	expect(&p, p.path, INPUT_MISSING, "No such file");
	put(p.path, "late", 1000);
	expect(&p, p.path, INPUT_MISSING, "No such file");
	cr_expect_not(atomic_load(&p.files.changed));
	end(&p);
}

/* A stream that is read by pieces, and a packed one. */
Test(input_files, pieces_and_packed_files)
{
	struct place p = begin();
	size_t n;
	void *const packed = gzip_copy("first", 5, &n);

	open_others(&p);
	put(p.path, "first", 1000);
	for (int i = 0; i < 2; i++) {
		struct input *const in = input_open_pieces(&p.files, p.path, 256);
		cr_assert_not_null(in);
		cr_expect_eq(in->fault, i == 0 ? INPUT_OK : INPUT_CHANGED);
		input_close(in);
		put(p.path, "other", 1001);
	}
	cr_assert(write_whole(p.other, packed, n));
	expect(&p, p.other, INPUT_OK, "first");
	cr_assert(write_whole(p.other, "first", 5));
	expect(&p, p.other, INPUT_CHANGED, "changed while it was read");
	free(packed);
	end(&p);
}
