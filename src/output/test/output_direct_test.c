#include "output/test/output_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

TestSuite(output_direct, .init = folder_make, .fini = folder_remove);

/* ---- devices, pipes, standard output ---- */

Test(output_direct, devices_are_written_directly)
{
	struct output *o = opened("/dev/null", 0);
	write_text(o, "x");
	committed(o);
	o = opened("/dev/full", 0);
	write_text(o, "x");
	not_committed(o, "/dev/full: No space left on device");
	cr_assert_eq(symlink("/dev/full", "full.gz"), 0);
	not_committed(opened("full.gz", 0), "full.gz: No space left on device");
	cr_assert_str_eq(listing("."), "full.gz");
}

Test(output_direct, first_failure_sticks)
{
	struct bytes b = some_json(1u << 20);
	struct output *o = opened("/dev/full", 0);
	cr_assert_not(output_write(o, b.p, b.n));
	cr_assert_str_eq(output_error(o), "/dev/full: No space left on device");
	cr_assert_not(output_pipe_closed(o));
	cr_assert_not(output_write(o, b.p, 1));
	cr_assert_not(output_finish(o));
	not_committed(o, "/dev/full: No space left on device");

	static const char *const ends[] = { "full.gz", "full.zst" };
	for (size_t i = 0; i < 2; i++) {
		cr_assert_eq(symlink("/dev/full", ends[i]), 0);
		o = opened(ends[i], 0);
		bool ok = true;
		for (int k = 0; k < 16 && ok; k++)
			ok = output_write(o, b.p, b.n);
		cr_assert_not(ok);
		cr_assert_str_eq(strchr(output_error(o), ':'), ": No space left on device");
		output_discard(o);
	}
	free(b.p);
}

static void *fifo_reader(void *arg)
{
	struct bytes *b = arg;
	*b = file_read("fifo");
	return NULL;
}

Test(output_direct, fifo_is_written_directly)
{
	struct bytes all = some_json(1000000), got = { 0 };
	pthread_t reader;
	cr_assert_eq(mkfifo("fifo", 0666), 0);
	cr_assert_eq(pthread_create(&reader, NULL, fifo_reader, &got), 0);
	struct output *o = opened("fifo", 0);
	write_pieces(o, all, 100000, 3);
	committed(o);
	cr_assert_eq(pthread_join(reader, NULL), 0);
	cr_assert_eq(got.n, all.n);
	cr_assert_eq(memcmp(got.p, all.p, all.n), 0);
	free(got.p);
	free(all.p);
	cr_assert_str_eq(listing("."), "fifo");
}

/* Replaces standard output; every test is a process of its own. */
static void stdout_becomes(int fd)
{
	cr_assert_geq(fd, 0);
	cr_assert_eq(dup2(fd, 1), 1);
	(void)close(fd);
}

Test(output_direct, standard_output)
{
	static const char *const names[] = { "-", "/dev/stdout", "/dev/fd/1" };
	for (size_t i = 0; i < 3; i++) {
		stdout_becomes(open("to", O_WRONLY | O_CREAT | O_TRUNC, 0666));
		struct output *o = opened(names[i], 0);
		write_text(o, "abc");
		committed(o);
		cr_assert_eq(write(1, "d", 1), 1); /* it is still open */
		file_is("to", "abcd", 4);
	}
	cr_assert_str_eq(listing("."), "to");
}

Test(output_direct, standard_output_discarded)
{
	stdout_becomes(open("to", O_WRONLY | O_CREAT, 0666));
	struct output *o = opened("-", 0);
	write_text(o, "abc");
	output_discard(o);
	file_is("to", "", 0);
}

Test(output_direct, standard_output_full)
{
	stdout_becomes(open("/dev/full", O_WRONLY));
	struct output *o = opened("-", 0);
	write_text(o, "abc");
	not_committed(o, "standard output: No space left on device");
}

Test(output_direct, standard_output_that_is_closed)
{
	(void)close(1);
	refused("-", 0, "standard output: Bad file descriptor");
}

Test(output_direct, closed_pipe)
{
	int ends[2];
	output_handle_signals();
	cr_assert_eq(pipe(ends), 0);
	(void)close(ends[0]);
	stdout_becomes(ends[1]);
	struct output *o = opened("-", 0);
	write_text(o, "abc");
	cr_assert_not(output_pipe_closed(o));
	cr_assert_not(output_finish(o));
	cr_assert(output_pipe_closed(o));
	not_committed(o, "standard output: Broken pipe");
}

static void *slow_reader(void *arg)
{
	const int fd = *(const int *)arg;
	size_t total = 0;
	char b[30000];
	for (ssize_t n; (n = read(fd, b, sizeof b)) > 0;)
		total += (size_t)n;
	*(int *)arg = (int)total;
	return NULL;
}

Test(output_direct, non_blocking_pipe)
{
	int ends[2];
	pthread_t reader;
	struct bytes b = some_json(2000000);
	cr_assert_eq(pipe(ends), 0);
	cr_assert_neq(fcntl(ends[1], F_SETFL, O_NONBLOCK), -1);
	stdout_becomes(ends[1]);
	int arg = ends[0];
	cr_assert_eq(pthread_create(&reader, NULL, slow_reader, &arg), 0);
	struct output *o = opened("-", 0);
	write_pieces(o, b, 200000, 1);
	committed(o);
	(void)close(1);
	cr_assert_eq(pthread_join(reader, NULL), 0);
	cr_assert_eq(arg, 2000000);
	free(b.p);
}
