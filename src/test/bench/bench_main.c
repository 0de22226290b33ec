/*
 * The part of the benchmarks that needs the formats or the kernel; scripts/bench.py does the rest.
 *
 * bench list                     generated inputs: format, name, suffix ("-": a folder), events
 * bench make NAME EVENTS PATH    generates one
 * bench run PROGRAM ARGUMENT...  seconds, memory and status of one run, as JSON
 *
 * `run` is not in Python because the max RSS of a process includes that of the process it was forked from.
 */
#define _DEFAULT_SOURCE /* wait4() */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test/support/format_aids.h"

static int list(void)
{
	for (const struct format_aids *const *a = format_aids; *a != NULL; a++)
		for (const struct bench_input *in = (*a)->bench_inputs; in != NULL && in->name != NULL; in++)
			printf("%s %s %s %llu\n", (*a)->format, in->name, in->make != NULL ? in->suffix : "-",
			       (unsigned long long)in->events);
	return 0;
}

static int make(const char *name, uint64_t events, const char *path)
{
	for (const struct format_aids *const *a = format_aids; *a != NULL; a++)
		for (const struct bench_input *in = (*a)->bench_inputs; in != NULL && in->name != NULL;
		     in++) {
			if (strcmp(in->name, name) != 0)
				continue;
			if (in->make == NULL)
				return !in->make_folder(path, events);
			FILE *const f = fopen(path, "wb");
			const bool ok = f != NULL && in->make(f, events);
			return f == NULL || fclose(f) != 0 || !ok;
		}
	return 3;
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The output of the program goes to /dev/null, its messages to standard error. */
static int run(char **argv)
{
	const double start = seconds_now();
	const pid_t pid = fork();
	struct rusage used;
	int status;

	if (pid == 0) {
		const int out = open("/dev/null", O_WRONLY);
		if (out >= 0 && dup2(out, STDOUT_FILENO) >= 0)
			execvp(argv[0], argv);
		_exit(127);
	}
	while (pid < 0 || wait4(pid, &status, 0, &used) < 0)
		if (pid < 0 || errno != EINTR)
			return 2;
	printf("{\"wall_s\":%.6f,\"cpu_s\":%.6f,\"rss_kib\":%ld,\"status\":%d}\n", seconds_now() - start,
	       (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec),
	       used.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return list();
	if (argc == 5 && strcmp(argv[1], "make") == 0)
		return make(argv[2], strtoull(argv[3], NULL, 10), argv[4]);
	if (argc > 2 && strcmp(argv[1], "run") == 0)
		return run(argv + 2);
	fputs("usage: bench list | make NAME EVENTS PATH | run PROGRAM [ARGUMENT...]\n", stderr);
	return 3;
}
