/*
 * Inputs through fuzz_check() without a fuzzer:
 *
 *     fuzz_replay [--format F] PATH ...         files and folders, each once
 *     fuzz_replay [--format F] [--jobs N] --sweep FILE         all prefixes, all changes of one byte
 *     fuzz_replay [--format F] [--jobs N] --sweep-light FILE   all prefixes, some changes of each byte
 *
 * Exit status 0: all promises were kept; 1: one was broken, or a process died; 2: nothing was done.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "format/registry.h"
#include "test/fuzz/fuzz_jobs.h"

struct replay {
	const struct format *format; /* NULL: none named */
	unsigned jobs;
	enum { REPLAY, SWEEP, SWEEP_LIGHT } what;
	uint64_t inputs;
	bool failed;
};

static bool cannot(struct replay *r, const char *path, const char *why)
{
	fprintf(stderr, "fuzz_replay: %s: %s\n", path, why);
	r->failed = true;
	return false;
}

/* A whole file, unpacked, in an allocation of just its size; to be freed. */
static char *read_unpacked(struct replay *r, const char *path, size_t *n)
{
	struct input *const in = input_open(path);
	char *p = NULL;

	if (in != NULL) {
		while (input_more(in))
			;
		*n = (size_t)(in->end - in->p);
		p = malloc(*n > 0 ? *n : 1);
	}
	if (p != NULL)
		memcpy(p, in->p, *n);
	else
		cannot(r, path, "no memory");
	input_close(in);
	return p;
}

static void check(struct replay *r, const char *path, const char *p, size_t n, const struct format *format)
{
	struct fuzz_result result;

	if (fuzz_check(&result, p, n, format, NULL, FUZZ_ALL))
		return;
	fprintf(stderr, "fuzz_replay: %s: as %s: %s\n", path,
	        format != NULL ? format->name : "told by content", result.fault);
	r->failed = true;
}

static void replay_file(struct replay *r, const char *path)
{
	size_t n = 0;
	char *const p = read_unpacked(r, path, &n);

	if (p == NULL)
		return;
	const size_t looked = n < 65536 ? n : 65536;
	check(r, path, p, n, NULL);
	for (const struct format *const *f = formats; *f != NULL; f++)
		if ((*f)->reader != NULL &&
		    (*f == r->format || (*f)->reader->probe(slice_of(p, looked), looked == n) > 0))
			check(r, path, p, n, *f);
	r->inputs++;
	free(p);
}

/* In order of names, so that each run says the same. */
static void replay_path(struct replay *r, const char *path, int depth)
{
	struct dirent **names;
	struct stat st;

	if (stat(path, &st) != 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))) {
		cannot(r, path, "is no file and no folder");
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		replay_file(r, path);
		return;
	}
	const int n = depth < 8 ? scandir(path, &names, NULL, alphasort) : -1;
	if (n < 0) {
		cannot(r, path, "cannot be listed");
		return;
	}
	for (int i = 0; i < n; i++) {
		struct text t = { .p = NULL };
		text_printf(&t, "%s/%s%c", path, names[i]->d_name, '\0');
		if (names[i]->d_name[0] != '.' && !t.failed)
			replay_path(r, t.p, depth + 1);
		text_free(&t);
		free(names[i]);
	}
	free(names);
}

static void sweep_file(struct replay *r, const char *path)
{
	size_t n = 0;
	char *const p = read_unpacked(r, path, &n);
	struct fuzz_swept all;
	const struct fuzz_sweep sweep = {
		.p = p, .n = n, .format = r->format, .light = r->what == SWEEP_LIGHT, .full_every = 16
	};

	if (p == NULL)
		return;
	if (!fuzz_jobs_sweep(&sweep, r->jobs, path, &all))
		r->failed = true;
	printf("swept %s: %" PRIu64 " prefixes, %" PRIu64 " changes of a byte; exit status 0: %" PRIu64
	       ", 1: %" PRIu64 ", 2: %" PRIu64 "\n",
	       path, all.prefixes, all.changes, all.status[0], all.status[1], all.status[2]);
	free(p);
}

/* An option and its argument: how many words they take; 0: neither. */
static int option(struct replay *r, char **argv)
{
	if (strcmp(argv[0], "--sweep") == 0 || strcmp(argv[0], "--sweep-light") == 0) {
		r->what = argv[0][7] == '\0' ? SWEEP : SWEEP_LIGHT;
		return 1;
	}
	if (strcmp(argv[0], "--format") == 0 && argv[1] != NULL &&
	    (r->format = format_by_name(argv[1])) != NULL && r->format->reader != NULL)
		return 2;
	if (strcmp(argv[0], "--jobs") == 0 && argv[1] != NULL &&
	    (r->jobs = (unsigned)strtoul(argv[1], NULL, 10)) > 0)
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	struct replay r = { .jobs = 1 };
	int i = 1;

	while (i < argc && argv[i][0] == '-') {
		const int words = option(&r, argv + i);
		if (words == 0)
			break;
		i += words;
	}
	if (i >= argc || argv[i][0] == '-') {
		fprintf(stderr,
		        "usage: fuzz_replay [--format F] [--jobs N] [--sweep | --sweep-light] PATH ...\n");
		return 2;
	}
	for (; i < argc; i++)
		if (r.what == REPLAY)
			replay_path(&r, argv[i], 0);
		else
			sweep_file(&r, argv[i]);
	if (r.what == REPLAY)
		printf("replayed %" PRIu64 " inputs%s\n", r.inputs, r.failed ? ", not all well" : "");
	return r.failed;
}
