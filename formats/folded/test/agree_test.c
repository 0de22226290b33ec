/*
 * The self times of folded stacks are those of `stats`, for all samples and real traces.
 */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"
#include "base/compiler.h"
#include "test/support/strength.h"

struct sum {
	char *name;
	uint128 ns;
};

struct sums {
	struct sum *sums;
	size_t n;
};

static struct sum *sum_of(struct sums *s, const char *name, size_t n)
{
	for (size_t i = 0; i < s->n; i++)
		if (strlen(s->sums[i].name) == n && memcmp(s->sums[i].name, name, n) == 0)
			return &s->sums[i];
	s->sums = realloc(s->sums, (s->n + 1) * sizeof *s->sums);
	s->sums[s->n] = (struct sum){ strndup(name, n), 0 };
	return &s->sums[s->n++];
}

static void sums_free(struct sums *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->sums[i].name);
	free(s->sums);
}

/* Escapes a name by the rules of tracetool-folded(5); ASCII only. */
static char *frame_of(const char *name)
{
	char *const out = calloc(4, strlen(name) + 16), *p = out;

	for (const char *c = *name != '\0' ? name : "(no name)"; *c != '\0'; c++)
		if (*c == ';' || (c == name && *c == '#') || (unsigned char)*c < 32)
			p += sprintf(p, "\\x%02x", (unsigned)*c);
		else if (*c == '\\')
			p += sprintf(p, "\\\\");
		else
			*p++ = *c;
	char *const space = strrchr(out, ' ');
	if (space != NULL) {
		const size_t digits = strspn(space + 1, "0123456789");
		const char *const rest = space + 1 + digits;
		if (digits > 0 &&
		    (*rest == '\0' || (*rest == '.' && rest[1 + strspn(rest + 1, "0123456789")] == '\0')))
			*space = '_';
	}
	return out;
}

static struct sums sums_of_lines(const char *path, char *lines)
{
	struct sums out = { NULL, 0 };

	for (char *line = strtok(lines, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		char *const space = strrchr(line, ' '), *end;
		cr_assert(space != NULL && space > line, "%s: %s", path, line);
		*space = '\0';
		const unsigned long long ns = strtoull(space + 1, &end, 10);
		cr_assert(*end == '\0' && end > space + 1, "%s: %s: %s", path, line, space + 1);
		const char *const leaf = strrchr(line, ';');
		cr_assert(leaf != NULL && leaf[1] != '\0', "%s: %s", path, line);
		sum_of(&out, leaf + 1, strlen(leaf + 1))->ns += ns;
	}
	return out;
}

static bool is_ascii(const char *name)
{
	for (const char *c = name; *c != '\0'; c++)
		if ((unsigned char)*c >= 127)
			return false;
	return strlen(name) <= 1024;
}

/* Compares the self times of one trace.  Returns the number of compared names. */
static size_t expect_self_times(const char *path)
{
	struct ran r =
	    run_tool((const char *const[]){ "stats", "--quiet", "--format", "json", path, NULL }, NULL, 0);
	struct ran lines = run_tool((const char *const[]){ "convert", "--quiet", "--keep-partial", "--to",
	                                                   "folded", path, "-", NULL },
	                            NULL, 0);
	cJSON *const json = cJSON_Parse(r.out);
	const cJSON *const input = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "inputs"), 0);
	const cJSON *const inexact = cJSON_GetObjectItemCaseSensitive(input, "self_inexact");
	struct sums want = { NULL, 0 }, got = sums_of_lines(path, lines.out);
	const cJSON *row;
	bool comparable = cJSON_IsNumber(inexact) && inexact->valuedouble == 0;

	cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(input, "spans"))
	{
		const char *const name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "name"));
		char *const frame = frame_of(name);
		comparable = comparable && is_ascii(name);
		sum_of(&want, frame, strlen(frame))->ns +=
		    (uint128)cJSON_GetObjectItemCaseSensitive(row, "self_ns")->valuedouble;
		free(frame);
	}
	for (size_t i = 0; i < want.n && comparable; i++) {
		const struct sum *const s = sum_of(&got, want.sums[i].name, strlen(want.sums[i].name));
		cr_expect_eq((double)s->ns, (double)want.sums[i].ns, "%s: %s: %.0f instead of %.0f", path,
		             s->name, (double)s->ns, (double)want.sums[i].ns);
	}
	cr_expect(!comparable || got.n == want.n, "%s: %zu names instead of %zu", path, got.n, want.n);
	const size_t n = comparable ? want.n : 0;
	cJSON_Delete(json);
	ran_free(&r);
	ran_free(&lines);
	sums_free(&want);
	sums_free(&got);
	return n;
}

static size_t expect_of_all(const char *find, const char *dir)
{
	struct ran r = run_program((const char *const[]){ "sh", "-c", find, dir, NULL }, NULL, 0);
	size_t n = 0;
	char *save, *path;

	for (path = strtok_r(r.out, "\n", &save); path != NULL; path = strtok_r(NULL, "\n", &save))
		if (strength_takes(path, 4))
			n += expect_self_times(path);
	ran_free(&r);
	return n;
}

Test(folded_agree, self_times_of_samples)
{
	cr_expect_gt(
	    expect_of_all("find testdata/*/good testdata/*/bad -type f ! -name '*.expect' | sort", ""),
	    strength(25, 100, 100));
}

Test(folded_agree, self_times_of_real_traces)
{
	const char *const dir = real_traces();
	static const char find[] = "{ find \"$0\"/htdump \"$0\"/heph \"$0\"/dial9 "
	                           "\"$0\"/dftracer \"$0\"/next -type f ! -name '*.json'; "
	                           "find \"$0\"/ovni -mindepth 2 -maxdepth 2 -type d; } 2>/dev/null | sort";

	cr_expect_gt(expect_of_all(find, dir), strength(5, 20, 20));
}
