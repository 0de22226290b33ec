#include "ovni/test/marks_test.h"

#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "cmd/test/cli_test_util.h"

/* ---- metadata ---- */

static struct marked *mark_of(struct marks_found *m, unsigned type, int64_t value)
{
	for (unsigned i = m->n; i > 0; i--)
		if (m->list[i - 1].type == type && m->list[i - 1].value == value)
			return &m->list[i - 1];
	m->list = realloc(m->list, (m->n + 1) * sizeof *m->list);
	cr_assert_not_null(m->list);
	m->list[m->n] = (struct marked){ .type = type, .value = value };
	return &m->list[m->n++];
}

static void take_labels(struct marks_found *m, unsigned type, const cJSON *labels)
{
	const cJSON *label;

	cJSON_ArrayForEach(label, labels)
	{
		struct marked *const k = mark_of(m, type, strtoll(label->string, NULL, 10));
		cr_assert(cJSON_IsString(label) && k->label == NULL, "%s is declared twice", label->string);
		cr_expect_lt(strlen(label->valuestring), 512);
		k->label = strdup(label->valuestring);
	}
}

static void take_types(struct marks_found *m, const cJSON *marks)
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
		take_labels(m, type, cJSON_GetObjectItem(mark, "labels"));
	}
}

static void take_metadata(struct marks_found *m, const char *path)
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
	take_types(m, cJSON_GetObjectItem(ovni, "mark"));
	const cJSON *const names = cJSON_GetObjectItem(root, "tracetool");
	const char *const thread = cJSON_GetStringValue(cJSON_GetObjectItem(names, "thread"));
	const char *const process = cJSON_GetStringValue(cJSON_GetObjectItem(names, "process"));
	const size_t before = strlen(m->names);
	m->names = realloc(m->names, before + strlen(thread) + strlen(process) + 3);
	sprintf(m->names + before, "%s\n%s\n", thread, process);
	cJSON_Delete(root);
	free(text);
}

/* ---- streams ---- */

struct stack {
	int64_t value[512];
	uint64_t since[512];
	unsigned n;
};

static void take_mark(struct marks_found *m, struct stack *stacks, const char *p, uint64_t clock,
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
	struct marked *const k = mark_of(m, type, value);
	k->count++;
	k->ns += clock - s->since[--s->n];
}

static void take_stream(struct marks_found *m, const char *path)
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
			take_mark(m, stacks, p + at, clock, path);
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

/* ---- the whole ---- */

/* `f` of each stream's file of this name. */
static unsigned for_streams(struct marks_found *m, const char *dir, const char *file,
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
	m->streams = for_streams(m, dir, "stream.json", take_metadata);
	cr_assert_gt(m->streams, 0, "%s has no stream", dir);
	for_streams(m, dir, "stream.obs", take_stream);
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
