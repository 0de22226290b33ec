#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/bench/bench_inputs.h"

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_size > 0;
}

static bool make_plain(const struct bench_input *in, const char *tmp, uint64_t events)
{
	FILE *const f = fopen(tmp, "wb");
	bool ok;

	if (f == NULL)
		return false;
	ok = in->make(f, events);
	return fclose(f) == 0 && ok;
}

static bool make_gzip(const char *plain, const char *tmp, bool fast)
{
	const pid_t pid = fork();
	int status;

	if (pid == 0) {
		const int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC, 0666);

		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
			_exit(126);
		execlp("gzip", "gzip", "-n", fast ? "-1c" : "-6c", plain, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return pid > 0 && status == 0;
}

bool bench_input_ensure(const struct bench_input *in, const char *dir, bool big, bool gz, char *path,
                        size_t path_cap)
{
	const uint64_t events = big ? in->big_events : in->events;
	char plain[600], tmp[700];
	bool ok;

	snprintf(plain, sizeof plain, "%s/%s-%llu%s", dir, in->name, (unsigned long long)events, in->suffix);
	snprintf(path, path_cap, "%s%s", plain, gz ? ".gz" : "");
	if (exists(path))
		return true;
	if (gz && !bench_input_ensure(in, dir, big, false, plain, sizeof plain))
		return false;
	/* Renamed when whole, so that an interrupted run leaves no short input behind. */
	snprintf(tmp, sizeof tmp, "%s.part", path);
	ok = gz ? make_gzip(plain, tmp, big) : make_plain(in, tmp, events);
	ok = ok && rename(tmp, path) == 0;
	if (!ok)
		unlink(tmp);
	return ok;
}

bool bench_folder_ensure(const struct bench_input *in, const char *dir, bool big, char *path, size_t path_cap)
{
	const uint64_t events = big ? in->big_events : in->events;
	char tmp[700];

	snprintf(path, path_cap, "%s/%s-%llu", dir, in->name, (unsigned long long)events);
	if (exists(path))
		return true;
	snprintf(tmp, sizeof tmp, "%s.part", path);
	return in->make_folder(tmp, events) && rename(tmp, path) == 0;
}
