#include "ovni/test/written_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/test/cli_test_util.h"

uint64_t written_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 11;
}

void written_number(void *to, uint64_t v, unsigned bytes)
{
	unsigned char *const p = to;

	for (unsigned i = 0; i < bytes; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

void written_put(struct written *w, const char *code, uint64_t clock, const void *words, unsigned n)
{
	char *const p = w->p + w->n;

	p[0] = n > 0 ? (char)(n - 1) : 0;
	memcpy(p + 1, code, 3);
	written_number(p + 4, clock, 8);
	for (unsigned i = 0; i < n; i += 4) {
		uint32_t word;
		memcpy(&word, (const char *)words + i, sizeof word);
		written_number(p + 12 + i, word, 4);
	}
	w->n += 12 + n;
}

void written_start(struct written *w, uint64_t clock, int32_t cpu)
{
	written_put(w, "OHx", clock, (const int32_t[4]){ cpu }, 16);
}

void written_init(struct written *w, size_t events)
{
	w->p = malloc(8 + events * 28);
	cr_assert_not_null(w->p);
	memcpy(w->p, "ovni\1\0\0\0", 8);
	w->n = 8;
}

void written_save(struct written *w, const char *dir, int tid)
{
	char path[600], json[800];

	snprintf(path, sizeof path, "%s/%c", dir, 'a' + tid);
	cr_assert_eq(mkdir(path, 0777), 0);
	const int n = snprintf(json, sizeof json,
	                       "{\"version\":3,\"ovni\":{\"lib\":{\"version\":\"1\",\"commit\":\"x\"},"
	                       "\"part\":\"thread\",\"tid\":%d,\"pid\":7,"
	                       "\"loom\":\"h\",\"app_id\":1,\"require\":{\"ovni\":\"1.1.0\",\"nosv\":\"2.7."
	                       "0\",\"mpi\":\"1.0.0\"},\"finished\":1,"
	                       "\"loom_cpus\":[{\"index\":0,\"phyid\":0},{\"index\":1,\"phyid\":1}]}}",
	                       tid + 1);
	snprintf(path, sizeof path, "%s/%c/stream.json", dir, 'a' + tid);
	cr_assert(write_whole(path, json, (size_t)n));
	snprintf(path, sizeof path, "%s/%c/stream.obs", dir, 'a' + tid);
	cr_assert(write_whole(path, w->p, w->n));
	free(w->p);
}
