/*
 * Memory and cores that this process may use: less than those of the machine in a container, in a batch job,
 * or below `ulimit` and `taskset`.
 *
 * The limits of control groups count from the group of the process to the root.  Version 2 has one hierarchy,
 * version 1 one per controller.  In a container without a namespace of groups, /proc names folders of the
 * host, which are missing: the root is the container's own group then.
 */
#define _GNU_SOURCE /* sched_getaffinity */

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/os.h"

#define NO_LIMIT UINT64_MAX

/* ---- control groups ---- */

/* Reads the number at the start of a file.  NO_LIMIT: there is none ("max"), or no file. */
static uint64_t number_in(const char *folder, const char *name, uint64_t *second)
{
	char path[2 * PATH_MAX];
	uint64_t first = NO_LIMIT;
	FILE *f = NULL;

	if (snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path)
		f = fopen(path, "re");
	if (f == NULL)
		return NO_LIMIT;
	const int n = fscanf(f, "%" SCNu64 " %" SCNu64, &first, second); /* "-1" is NO_LIMIT */
	(void)fclose(f);
	return n >= 1 ? first : NO_LIMIT;
}

/* The limit of one group, in bytes. */
static uint64_t memory_of(const char *folder, bool v2)
{
	uint64_t unused;

	return number_in(folder, v2 ? "memory.max" : "memory.limit_in_bytes", &unused);
}

/* The limit of one group, in whole cores: a thread beyond them would only be stopped more often. */
static uint64_t cores_of(const char *folder, bool v2)
{
	uint64_t unused, period = 0, quota;

	if (v2) {
		quota = number_in(folder, "cpu.max", &period);
	} else {
		quota = number_in(folder, "cpu.cfs_quota_us", &unused);
		period = number_in(folder, "cpu.cfs_period_us", &unused);
	}
	if (quota == NO_LIMIT || period == 0 || period == NO_LIMIT)
		return NO_LIMIT;
	return quota > period ? quota / period : 1;
}

/* Whether a list such as "cpu,cpuacct" has the name. */
static bool is_listed(const char *list, const char *name)
{
	const size_t n = strlen(name);

	while (*list != '\0') {
		const size_t word = strcspn(list, ",");
		if (word == n && memcmp(list, name, n) == 0)
			return true;
		list += word + (list[word] == ',');
	}
	return false;
}

/* The least limit of a group and those above it.  folder: of the group; it is cut to its first `root` bytes.
 */
static uint64_t least_of(char *folder, size_t root, bool v2, uint64_t (*limit)(const char *folder, bool v2))
{
	uint64_t least = NO_LIMIT;

	for (;;) {
		const uint64_t own = limit(folder, v2);
		char *const slash = strrchr(folder + root, '/');
		least = own < least ? own : least;
		if (slash == NULL)
			return least;
		*slash = '\0';
	}
}

/* The least limit of the groups of this process.  files: of the machine, "" or those of a test. */
static uint64_t group_limit(const char *files, const char *controller,
                            uint64_t (*limit)(const char *folder, bool v2))
{
	char line[PATH_MAX], folder[2 * PATH_MAX];
	uint64_t least = NO_LIMIT;
	FILE *f = NULL;

	if (snprintf(folder, sizeof folder, "%s/proc/self/cgroup", files) < (int)sizeof folder)
		f = fopen(folder, "re");
	if (f == NULL)
		return least;
	while (fgets(line, sizeof line, f) != NULL) { /* NUMBER:CONTROLLERS:/PATH */
		char *const list = strchr(line, ':');
		char *const path = list != NULL ? strchr(list + 1, ':') : NULL;
		if (path == NULL)
			continue;
		*path = '\0';
		path[1 + strcspn(path + 1, "\n")] = '\0';
		const bool v2 = list[1] == '\0';
		if (!v2 && !is_listed(list + 1, controller))
			continue;
		const int root = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s%s", files, v2 ? "" : "/",
		                          v2 ? "" : controller);
		if (root < 0 || (size_t)root + strlen(path + 1) >= sizeof folder)
			continue;
		memcpy(folder + root, path + 1, strlen(path + 1) + 1);
		const uint64_t group = least_of(folder, (size_t)root, v2, limit);
		least = group < least ? group : least;
	}
	(void)fclose(f);
	return least;
}

uint64_t group_memory(const char *files)
{
	return group_limit(files, "memory", memory_of);
}

uint64_t group_cores(const char *files)
{
	return group_limit(files, "cpu", cores_of);
}

/* ---- this process ---- */

uint64_t usable_memory(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t least = group_memory("");
	struct rlimit limit;

	if (pages > 0 && page > 0 && (uint64_t)pages * (uint64_t)page < least)
		least = (uint64_t)pages * (uint64_t)page;
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < least)
		least = limit.rlim_cur;
	return least != NO_LIMIT ? least : 0;
}

unsigned usable_cores(void)
{
	const long online = sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t group = group_cores("");
	uint64_t cores = online > 1 ? (uint64_t)online : 1;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
		cores = (uint64_t)CPU_COUNT(&set);
	return (unsigned)(group < cores ? group : cores);
}
