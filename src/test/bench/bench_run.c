/*
 * Runs a program in a child process and measures it, and two references for the speed of the machine.
 */
#define _DEFAULT_SOURCE /* wait4: costs of one child, not of all */
#include "test/bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 20) /* bytes */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static bool collect(pid_t pid, double start, struct bench_cost *cost)
{
	struct rusage used;
	int status;

	while (wait4(pid, &status, 0, &used) < 0)
		if (errno != EINTR)
			return false;
	cost->wall = now() - start;
	cost->cpu = seconds(used.ru_utime) + seconds(used.ru_stime);
	cost->rss_kib = used.ru_maxrss;
	cost->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return true;
}

static bool write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		const ssize_t did = write(fd, p, n);

		if (did < 0 && errno != EINTR)
			return false;
		if (did > 0) {
			p += did;
			n -= (size_t)did;
		}
	}
	return true;
}

/* Writes a file to a pipe, like cat(1). */
static int feed_pipe(const char *path, int out)
{
	const int in = open(path, O_RDONLY);
	char *const piece = malloc(PIECE);
	ssize_t n = -1;

	if (in < 0 || piece == NULL)
		return 1;
	while ((n = read(in, piece, PIECE)) > 0)
		if (!write_all(out, piece, (size_t)n))
			return 1;
	return n < 0;
}

static pid_t start_feeder(const char *path, int *in)
{
	int ends[2];

	if (pipe(ends) != 0)
		return -1;
	const pid_t pid = fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		close(ends[0]);
		_exit(feed_pipe(path, ends[1]));
	}
	close(ends[1]);
	*in = ends[0];
	return pid;
}

static void exec_program(const char *const *argv, int in, const char *out_path)
{
	const int out = open(out_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	char *args[16] = { 0 };

	/* The arguments of execv() are not const for historical reasons; it does not write to them. */
	for (size_t i = 0; i < sizeof args / sizeof args[0] - 1 && argv[i] != NULL; i++)
		if ((args[i] = strdup(argv[i])) == NULL)
			_exit(126);
	if (in < 0)
		in = open("/dev/null", O_RDONLY);
	if (out < 0 || in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	if (in != STDIN_FILENO)
		close(in);
	if (out != STDOUT_FILENO)
		close(out);
	execv(args[0], args);
	_exit(127);
}

bool bench_run(const char *const *argv, const char *fed, const char *out_path, struct bench_cost *cost)
{
	pid_t feeder = 0;
	int in = -1;

	if (fed != NULL && (feeder = start_feeder(fed, &in)) < 0)
		return false;
	const double start = now();
	const pid_t pid = fork();
	if (pid == 0)
		exec_program(argv, in, out_path);
	if (in >= 0)
		close(in);
	const bool ok = pid > 0 && collect(pid, start, cost);
	while (feeder > 0 && waitpid(feeder, NULL, 0) < 0 && errno == EINTR)
		;
	return ok && cost->status != 126 && cost->status != 127;
}

static int sum_mapped(const char *path)
{
	const int fd = open(path, O_RDONLY);
	struct stat st;
	uint64_t sum = 0;

	if (fd < 0 || fstat(fd, &st) != 0)
		return 2;
	const size_t n = (size_t)st.st_size;
	const unsigned char *const p = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return 2;
	for (size_t i = 0; i < n; i++)
		sum += p[i];
	/* Uses the sum, so that the loop is not optimised away. */
	return sum == 0;
}

bool bench_sum_mapped(const char *path, struct bench_cost *cost)
{
	const double start = now();
	const pid_t pid = fork();

	if (pid == 0)
		_exit(sum_mapped(path));
	return pid > 0 && collect(pid, start, cost) && cost->status == 0;
}

static int write_file(const char *path, uint64_t size)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	char *const piece = calloc(1, PIECE);

	if (fd < 0 || piece == NULL)
		return 2;
	while (size > 0) {
		const size_t n = size < PIECE ? (size_t)size : PIECE;

		if (!write_all(fd, piece, n))
			return 2;
		size -= n;
	}
	return 0;
}

bool bench_write_file(const char *path, uint64_t size, struct bench_cost *cost)
{
	const double start = now();
	const pid_t pid = fork();

	if (pid == 0)
		_exit(write_file(path, size));
	return pid > 0 && collect(pid, start, cost) && cost->status == 0;
}
