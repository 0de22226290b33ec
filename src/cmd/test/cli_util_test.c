#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "cmd/test/cli_test_util.h"

#define TIMEOUT_MS 600000

extern char **environ;

struct sink {
	int fd; /* -1: at its end */
	char **text;
	size_t *n;
	size_t cap; /* of text */
};

const char *tool_path(void)
{
	const char *const path = getenv("TRACETOOL_BIN");

	return path != NULL && *path != '\0' ? path : "./tracetool";
}

static void *must(void *p)
{
	if (p == NULL)
		abort();
	return p;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void drain(struct sink *s)
{
	char piece[65536];
	const ssize_t n = read(s->fd, piece, sizeof piece);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close(s->fd);
		s->fd = -1;
		return;
	}
	if (*s->n + (size_t)n + 1 > s->cap) {
		s->cap = 2 * (*s->n + (size_t)n + 1);
		*s->text = must(realloc(*s->text, s->cap));
	}
	memcpy(*s->text + *s->n, piece, (size_t)n);
	*s->n += (size_t)n;
	(*s->text)[*s->n] = '\0';
}

/* Writes as much as the pipe takes; closes it after the last byte, or if its reader is gone. */
static void give(int *fd, const char *p, size_t n, size_t *given)
{
	const ssize_t did = *given < n ? write(*fd, p + *given, n - *given) : 0;

	if (did > 0)
		*given += (size_t)did;
	if (*given < n && (did > 0 || errno == EINTR || errno == EAGAIN))
		return;
	close(*fd);
	*fd = -1;
}

static bool talk(int to, const char *in, size_t in_n, struct sink sinks[2])
{
	const int64_t deadline = now_ms() + TIMEOUT_MS;
	size_t given = 0;

	while (to >= 0 || sinks[0].fd >= 0 || sinks[1].fd >= 0) {
		struct pollfd fds[] = {
			{ .fd = to, .events = POLLOUT },
			{ .fd = sinks[0].fd, .events = POLLIN },
			{ .fd = sinks[1].fd, .events = POLLIN },
		};
		const int64_t left = deadline - now_ms();

		if (left <= 0 || (poll(fds, 3, (int)left) < 0 && errno != EINTR))
			break;
		if (fds[0].revents != 0)
			give(&to, in, in_n, &given);
		for (int i = 0; i < 2; i++)
			if (fds[i + 1].revents != 0)
				drain(&sinks[i]);
	}
	if (to >= 0)
		close(to);
	for (int i = 0; i < 2; i++)
		if (sinks[i].fd >= 0)
			close(sinks[i].fd);
	return now_ms() < deadline;
}

/* posix_spawn(), not fork(): copying the page tables of a large program for each run is slow */
static pid_t start(const char *const *argv, int in, int out, int err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	char *args[32] = { 0 };
	sigset_t pipes;
	pid_t pid = -1;

	for (size_t i = 0; i < 31 && argv[i] != NULL; i++)
		args[i] = must(strdup(argv[i]));
	if (posix_spawn_file_actions_init(&files) != 0 || posix_spawnattr_init(&attributes) != 0)
		abort();
	if (in < 0)
		posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	else
		posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
	for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
		posix_spawn_file_actions_addclose(&files, fd);
	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &pipes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	unsetenv("COLUMNS"); /* of the terminal of whoever runs the tests */
	if (posix_spawnp(&pid, args[0], &files, &attributes, args, environ) != 0)
		pid = -1;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	for (size_t i = 0; args[i] != NULL; i++)
		free(args[i]);
	return pid;
}

static int wait_status(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}

struct ran run_program(const char *const *argv, const void *in, size_t in_n)
{
	struct ran r = { .status = -1, .out = must(calloc(1, 1)), .err = must(calloc(1, 1)) };
	int out[2], err[2], to[2] = { -1, -1 };

	signal(SIGPIPE, SIG_IGN);
	if (pipe(out) != 0 || pipe(err) != 0 || (in != NULL && pipe(to) != 0))
		abort();
	if (in != NULL)
		fcntl(to[1], F_SETFL, O_NONBLOCK);
	const pid_t pid = start(argv, to[0], out[1], err[1]);
	close(out[1]);
	close(err[1]);
	if (to[0] >= 0)
		close(to[0]);
	struct sink sinks[] = { { out[0], &r.out, &r.out_n, 0 }, { err[0], &r.err, &r.err_n, 0 } };
	const bool in_time = talk(to[1], in, in_n, sinks);
	if (pid > 0 && !in_time)
		kill(pid, SIGKILL);
	if (pid > 0)
		r.status = wait_status(pid);
	if (!in_time)
		r.status = -1;
	return r;
}

struct ran run_tool(const char *const *args, const void *in, size_t in_n)
{
	const char *argv[32] = { tool_path() };

	for (size_t i = 0; i < 30 && args[i] != NULL; i++)
		argv[i + 1] = args[i];
	return run_program(argv, in, in_n);
}

void ran_free(struct ran *r)
{
	free(r->out);
	free(r->err);
	*r = (struct ran){ 0 };
}

void expect_ran(struct ran r, int status, const char *words)
{
	cr_expect_eq(r.status, status, "status %d, not %d: %s", r.status, status, r.err);
	cr_expect(strstr(r.out, words) != NULL || strstr(r.err, words) != NULL, "%s is not in: %s%s", words,
	          r.out, r.err);
	ran_free(&r);
}

void expect_same_for_threads(const char *const *command, const char *path, const char *what)
{
	struct ran r[2];

	for (int i = 0; i < 2; i++) {
		const char *args[10] = { NULL };
		int n = 0;
		for (; command[n] != NULL; n++)
			args[n] = strcmp(command[n], "IN") == 0 ? path : command[n];
		args[n++] = "--threads";
		args[n] = i == 0 ? "1" : "3";
		r[i] = run_tool(args, NULL, 0);
	}
	cr_expect(r[0].status == r[1].status && (r[0].status == 0 || r[0].status == 1), "%s, %s: %d, %d: %s",
	          command[0], what, r[0].status, r[1].status, r[1].err);
	cr_expect_str_eq(r[1].err, r[0].err, "%s, %s", command[0], what);
	cr_expect(r[0].out_n > 0 && r[0].out_n == r[1].out_n && memcmp(r[0].out, r[1].out, r[0].out_n) == 0,
	          "%s, %s", command[0], what);
	ran_free(&r[0]);
	ran_free(&r[1]);
}

char *read_whole(const char *path, size_t *n)
{
	FILE *const f = fopen(path, "rb");
	size_t cap = 65536, did;

	if (f == NULL)
		return NULL;
	char *p = must(malloc(cap));
	*n = 0;
	while ((did = fread(p + *n, 1, cap - *n - 1, f)) > 0) {
		*n += did;
		if (*n + 1 == cap)
			p = must(realloc(p, cap *= 2));
	}
	p[*n] = '\0';
	fclose(f);
	return p;
}

bool write_whole(const char *path, const void *p, size_t n)
{
	FILE *const f = fopen(path, "wb");

	if (f == NULL)
		return false;
	const bool ok = fwrite(p, 1, n, f) == n;
	return fclose(f) == 0 && ok;
}

void put_file(const char *dir, const char *name, const void *p, size_t n)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	cr_assert(write_whole(path, p, n), "%s", path);
}

void *gzip_copy(const void *p, size_t n, size_t *packed)
{
	const size_t cap = 2 * n + 4096;
	unsigned char *const out = must(malloc(cap)), *const copy = must(malloc(n + 1));
	struct isal_zstream s;

	memcpy(copy, p, n);
	isal_deflate_init(&s);
	s.gzip_flag = IGZIP_GZIP;
	s.end_of_stream = 1;
	s.next_in = copy;
	s.avail_in = (uint32_t)n;
	s.next_out = out;
	s.avail_out = (uint32_t)cap;
	/* not stateless: that writes broken members of constant bytes on big-endian machines (ISA-L 2.30) */
	if (isal_deflate(&s) != COMP_OK || s.internal_state.state != ZSTATE_END)
		abort();
	*packed = s.total_out;
	free(copy);
	return out;
}

void *zstd_copy(const void *p, size_t n, size_t *packed)
{
	const size_t cap = ZSTD_compressBound(n);
	void *const out = must(malloc(cap));

	*packed = ZSTD_compress(out, cap, p, n, 3);
	if (ZSTD_isError(*packed))
		abort();
	return out;
}

char *make_folder(void)
{
	const char *const tmp = getenv("TMPDIR");
	char *const dir = must(malloc(512));

	snprintf(dir, 512, "%s/tracetool-test-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
	return must(mkdtemp(dir));
}

/* Recursive: the folders of tests are a few deep.  Links are not followed. */
static void empty_folder(const char *dir)
{
	char path[4096];

	chmod(dir, 0700); /* some tests take rights away */
	char **const names = list_folder(dir, "");
	for (size_t i = 0; names[i] != NULL; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		if (unlink(path) != 0)
			empty_folder(path);
	}
	list_free(names);
	rmdir(dir);
}

void remove_folder(char *dir)
{
	empty_folder(dir);
	free(dir);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool ends_in(const char *name, const char *suffix)
{
	const size_t n = strlen(name), m = strlen(suffix);

	return n >= m && strcmp(name + n - m, suffix) == 0;
}

char **list_folder(const char *dir, const char *suffix)
{
	DIR *const d = opendir(dir);
	char **names = must(calloc(1, sizeof *names));
	const struct dirent *e;
	size_t n = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    !ends_in(e->d_name, suffix))
			continue;
		names = must(realloc(names, (n + 2) * sizeof *names));
		names[n++] = must(strdup(e->d_name));
		names[n] = NULL;
	}
	if (d != NULL)
		closedir(d);
	qsort(names, n, sizeof *names, compare_names);
	return names;
}

void list_free(char **names)
{
	for (size_t i = 0; names[i] != NULL; i++)
		free(names[i]);
	free(names);
}

Test(cli_util, folders_are_removed_with_what_is_in_them)
{
	char *const dir = make_folder(), kept[600], path[600];

	snprintf(kept, sizeof kept, "%s", dir);
	snprintf(path, sizeof path, "%s/a", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/a/b", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/a/b/c", dir);
	cr_assert(write_whole(path, "x", 1));
	snprintf(path, sizeof path, "%s/a/loop", dir);
	cr_assert_eq(symlink("..", path), 0);
	remove_folder(dir);
	cr_expect_eq(access(kept, F_OK), -1);
}

/* Input and output that exceed the capacity of a pipe do not block the helper. */
Test(cli_util, large_input_comes_back)
{
	const size_t n = 1u << 20;
	char *const p = must(malloc(n));

	for (size_t i = 0; i < n; i++)
		p[i] = (char)(i * 7 % 251);
	struct ran r = run_program((const char *const[]){ "cat", NULL }, p, n);
	cr_expect_eq(r.status, 0);
	cr_expect(r.out_n == n && memcmp(r.out, p, n) == 0);
	ran_free(&r);
	free(p);
}

Test(cli_util, status_and_both_outputs)
{
	struct ran r =
	    run_program((const char *const[]){ "sh", "-c", "echo out; echo err >&2; exit 7", NULL }, NULL, 0);

	cr_expect_eq(r.status, 7);
	cr_expect_str_eq(r.out, "out\n");
	cr_expect_str_eq(r.err, "err\n");
	ran_free(&r);
	r = run_program((const char *const[]){ "/nonexistent/program", NULL }, "", 0);
	cr_expect_eq(r.status, -1);
	ran_free(&r);
}
