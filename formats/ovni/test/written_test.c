/*
 * Streams written event by event, and traces of marks decoded, both without the reader and the writer.
 */
#include "ovni/test/written_test.h"

#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cursor.h"
#include "cmd/test/cli_test_util.h"

/* ---- writing ---- */

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

/* ---- decoding metadata ---- */

static struct marked *find_or_add_mark(struct marks_found *m, unsigned type, int64_t value)
{
	for (unsigned i = m->n; i > 0; i--)
		if (m->list[i - 1].type == type && m->list[i - 1].value == value)
			return &m->list[i - 1];
	m->list = realloc(m->list, (m->n + 1) * sizeof *m->list);
	cr_assert_not_null(m->list);
	m->list[m->n] = (struct marked){ .type = type, .value = value };
	return &m->list[m->n++];
}

static void read_labels(struct marks_found *m, unsigned type, const cJSON *labels)
{
	const cJSON *label;

	cJSON_ArrayForEach(label, labels)
	{
		struct marked *const k = find_or_add_mark(m, type, strtoll(label->string, NULL, 10));
		cr_assert(cJSON_IsString(label) && k->label == NULL, "%s is declared twice", label->string);
		cr_expect_lt(strlen(label->valuestring), 512);
		k->label = strdup(label->valuestring);
	}
}

static void read_types(struct marks_found *m, const cJSON *marks)
{
	const cJSON *mark;

	cJSON_ArrayForEach(mark, marks)
	{
		const unsigned type = (unsigned)atoi(mark->string);
		const cJSON *const title = cJSON_GetObjectItem(mark, "title");
		cr_assert(type < 100 && cJSON_IsString(title));
		cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(mark, "chan_type")), "stack");
		if (m->titles[type] == NULL)
			m->titles[type] = strdup(title->valuestring);
		cr_expect_str_eq(m->titles[type], title->valuestring);
		read_labels(m, type, cJSON_GetObjectItem(mark, "labels"));
	}
}

static void read_metadata(struct marks_found *m, const char *path)
{
	static const char *const numbers[] = { "tid", "pid", "app_id", "finished" };
	size_t n;
	char *const text = read_whole(path, &n);
	cJSON *const root = text != NULL ? cJSON_Parse(text) : NULL;
	const cJSON *const ovni = cJSON_GetObjectItem(root, "ovni");

	cr_assert_not_null(ovni, "%s", path);
	cr_expect_lt(n, 512U << 10);
	cr_expect_eq(cJSON_GetObjectItem(root, "version")->valueint, 3);
	for (size_t i = 0; i < 4; i++)
		cr_expect_gt(cJSON_GetObjectItem(ovni, numbers[i])->valueint, 0, "%s", numbers[i]);
	cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(ovni, "part")), "thread");
	cr_expect(cJSON_IsString(cJSON_GetObjectItem(ovni, "loom")));
	cr_expect(cJSON_IsObject(cJSON_GetObjectItem(ovni, "require")));
	cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(ovni, "loom_cpus")), 1);
	cr_expect(cJSON_IsString(cJSON_GetObjectItem(cJSON_GetObjectItem(ovni, "lib"), "version")));
	read_types(m, cJSON_GetObjectItem(ovni, "mark"));
	const cJSON *const names = cJSON_GetObjectItem(root, "tracetool");
	const char *const thread = cJSON_GetStringValue(cJSON_GetObjectItem(names, "thread"));
	const char *const process = cJSON_GetStringValue(cJSON_GetObjectItem(names, "process"));
	const size_t before = strlen(m->names);
	m->names = realloc(m->names, before + strlen(thread) + strlen(process) + 3);
	sprintf(m->names + before, "%s\n%s\n", thread, process);
	cJSON_Delete(root);
	free(text);
}

/* ---- decoding streams ---- */

struct stack {
	int64_t value[512];
	uint64_t since[512];
	unsigned n;
};

static void read_mark(struct marks_found *m, struct stack *stacks, const char *p, uint64_t clock,
                      const char *path)
{
	const int64_t value = (int64_t)load_u64(p + 12, false);
	const uint32_t type = load_u32(p + 20, false);

	cr_assert_eq(p[0], 11, "%s", path);
	cr_assert(value != 0 && type < 100 && m->titles[type] != NULL, "%s: type %u", path, type);
	struct stack *const s = &stacks[type];
	if (p[3] == '[') {
		cr_assert_lt(s->n, 512);
		s->value[s->n] = value;
		s->since[s->n++] = clock;
		return;
	}
	cr_assert(p[3] == ']' && s->n > 0 && s->value[s->n - 1] == value, "%s: pop of %lld", path,
	          (long long)value);
	struct marked *const k = find_or_add_mark(m, type, value);
	k->count++;
	k->ns += clock - s->since[--s->n];
}

static void read_stream(struct marks_found *m, const char *path)
{
	struct stack *const stacks = calloc(100, sizeof *stacks);
	uint64_t last = 0, events = 0;
	bool ended = false;
	size_t n;
	char *const p = read_whole(path, &n);

	cr_assert(p != NULL && stacks != NULL && n >= 8 && memcmp(p, "ovni\1\0\0\0", 8) == 0, "%s", path);
	for (size_t at = 8; at < n; events++) {
		const unsigned nibble = (unsigned char)p[at];
		cr_assert(nibble < 16 && at + 12 <= n && !ended, "%s: byte %zu", path, at);
		const uint64_t clock = load_u64(p + at + 4, false);
		cr_assert(clock >= last && clock <= INT64_MAX, "%s: byte %zu", path, at);
		last = clock;
		if (events == 0)
			cr_assert(memcmp(p + at, "\x0fOHx", 4) == 0 &&
			          load_u32(p + at + 12, false) == UINT32_MAX);
		else if (memcmp(p + at, "\0OHe", 4) == 0)
			ended = true;
		else if (memcmp(p + at + 1, "OM", 2) == 0)
			read_mark(m, stacks, p + at, clock, path);
		else
			cr_assert_fail("%s: byte %zu", path, at);
		at += 12 + nibble + (nibble > 0);
	}
	cr_expect(ended, "%s", path);
	for (unsigned i = 0; i < 100; i++)
		cr_expect_eq(stacks[i].n, 0, "%s: type %u", path, i);
	free(stacks);
	free(p);
}

/* Calls f for the file of this name of each stream; returns the number of streams. */
static unsigned for_each_stream(struct marks_found *m, const char *dir, const char *file,
                                void (*f)(struct marks_found *, const char *))
{
	char looms[600], path[2048];
	unsigned n = 0;

	snprintf(looms, sizeof looms, "%s/loom.tracetool", dir);
	char **const processes = list_folder(looms, "");
	for (size_t i = 0; processes[i] != NULL; i++) {
		snprintf(path, sizeof path, "%s/%s", looms, processes[i]);
		char **const threads = list_folder(path, "");
		for (size_t k = 0; threads[k] != NULL; k++, n++) {
			snprintf(path, sizeof path, "%s/%s/%s/%s", looms, processes[i], threads[k], file);
			f(m, path);
		}
		list_free(threads);
	}
	list_free(processes);
	return n;
}

void marks_decode(struct marks_found *m, const char *dir)
{
	*m = (struct marks_found){ .names = strdup("\n") };
	m->streams = for_each_stream(m, dir, "stream.json", read_metadata);
	cr_assert_gt(m->streams, 0, "%s has no stream", dir);
	for_each_stream(m, dir, "stream.obs", read_stream);
}

void marks_free(struct marks_found *m)
{
	for (unsigned i = 0; i < m->n; i++)
		free(m->list[i].label);
	for (unsigned i = 0; i < 100; i++)
		free(m->titles[i]);
	free(m->list);
	free(m->names);
}

const struct marked *marks_find(const struct marks_found *m, unsigned type, const char *label)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->list[i].type == type && m->list[i].label != NULL &&
		    strcmp(m->list[i].label, label) == 0)
			return &m->list[i];
	return NULL;
}
