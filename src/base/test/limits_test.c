/* Limits of control groups, of made files. */
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

/* Creates a file, and the folders of its path, below `root`. */
static void put(const char *root, const char *path, const char *text)
{
	char full[512];

	snprintf(full, sizeof full, "%s/%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
		*p = '\0';
		(void)mkdir(full, 0777);
	}
	FILE *const f = fopen(full, "w");
	cr_assert(f != NULL);
	fputs(text, f);
	cr_assert(fclose(f) == 0);
}

static const struct limits_case {
	const char *of;
	const char *files[10]; /* path, text, ... */
	uint64_t memory, cores;
} cases[] = {
	{ "no groups", { NULL }, UINT64_MAX, UINT64_MAX },
	{ "a container: its group is the root",
	  { "proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "536870912\n", "sys/fs/cgroup/cpu.max",
	    "250000 100000\n" },
	  536870912,
	  2 },
	{ "a batch job: the limit is that of a group above",
	  { "proc/self/cgroup", "0::/slurm/job_7/step_0\n", "sys/fs/cgroup/slurm/job_7/memory.max",
	    "1073741824\n", "sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n",
	    "sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "max 100000\n" },
	  1073741824,
	  UINT64_MAX },
	{ "the least of nested limits",
	  { "proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/memory.max", "100\n",
	    "sys/fs/cgroup/a/b/memory.max", "200\n", "sys/fs/cgroup/a/b/cpu.max", "50000 100000\n" },
	  100,
	  1 },
	{ "version 1: a hierarchy per controller",
	  { "proc/self/cgroup", "9:cpuset:/x\n4:memory:/m\n2:cpuacct,cpu:/c\n1:name=systemd:/\n",
	    "sys/fs/cgroup/memory/m/memory.limit_in_bytes", "4096\n", "sys/fs/cgroup/cpu/c/cpu.cfs_quota_us",
	    "300000\n", "sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n" },
	  4096,
	  3 },
	{ "version 1 without a limit",
	  { "proc/self/cgroup", "4:memory:/\n2:cpu:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes",
	    "9223372036854771712\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n",
	    "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n" },
	  UINT64_C(9223372036854771712),
	  UINT64_MAX },
	{ "a container that sees the path of the host",
	  { "proc/self/cgroup", "0::/docker/0123\n", "sys/fs/cgroup/memory.max", "77\n" },
	  77,
	  UINT64_MAX },
	{ "files of another form",
	  { "proc/self/cgroup", "nonsense\n:\n0::/\n", "sys/fs/cgroup/memory.max", "many\n",
	    "sys/fs/cgroup/cpu.max", "100000\n" },
	  UINT64_MAX,
	  UINT64_MAX },
	{ "a period of 0",
	  { "proc/self/cgroup", "0::/\n", "sys/fs/cgroup/cpu.max", "100000 0\n" },
	  UINT64_MAX,
	  UINT64_MAX },
};

Test(limits, control_groups)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char root[] = "/tmp/tracetool-limits-XXXXXX", remove[64];
		cr_assert(mkdtemp(root) != NULL);
		for (size_t k = 0; cases[i].files[k] != NULL; k += 2)
			put(root, cases[i].files[k], cases[i].files[k + 1]);
		cr_expect_eq(group_memory(root), cases[i].memory, "%s: memory %ju", cases[i].of,
		             (uintmax_t)group_memory(root));
		cr_expect_eq(group_cores(root), cases[i].cores, "%s: cores %ju", cases[i].of,
		             (uintmax_t)group_cores(root));
		snprintf(remove, sizeof remove, "rm -rf %s", root);
		cr_assert(system(remove) == 0);
	}
}

Test(limits, this_process)
{
	cr_expect(usable_cores() >= 1);
	cr_expect(usable_cores() <= (unsigned)sysconf(_SC_NPROCESSORS_CONF));
}
