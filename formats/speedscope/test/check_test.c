/* The strict reader of speedscope files (check_test.h). */
#include "speedscope/test/check_test.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/fuzz/strict_json.h"

#define MUST(condition) cr_assert(condition, "%s: violates: %s", what, #condition)

static const cJSON *member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

static bool is_text(const cJSON *object, const char *key, const char *want)
{
	const char *const s = cJSON_GetStringValue(member(object, key));

	return s != NULL && (want == NULL || strcmp(s, want) == 0);
}

static double get_number(const char *what, const cJSON *object, const char *key)
{
	const cJSON *const item = member(object, key);

	MUST(cJSON_IsNumber(item));
	return item->valuedouble;
}

static size_t frame_number(const char *what, const struct check *c, const cJSON *item)
{
	MUST(cJSON_IsNumber(item));
	MUST(item->valuedouble >= 0 && item->valuedouble < (double)c->n);
	MUST(item->valuedouble == floor(item->valuedouble));
	return (size_t)item->valuedouble;
}

static void check_frames(const char *what, struct check *c, const cJSON *frames)
{
	const cJSON *frame;

	MUST(cJSON_IsArray(frames));
	c->sums = calloc((size_t)cJSON_GetArraySize(frames) + 1, sizeof *c->sums);
	cJSON_ArrayForEach(frame, frames)
	{
		MUST(is_text(frame, "name", NULL));
		const char *const file = cJSON_GetStringValue(member(frame, "file"));
		MUST((file != NULL) == (member(frame, "file") != NULL));
		MUST(check_find(c, cJSON_GetStringValue(member(frame, "name")), file != NULL ? file : "") ==
		         NULL ||
		     strstr(frame->child->valuestring, "\xef\xbf\xbd") != NULL);
		c->sums[c->n].name = strdup(cJSON_GetStringValue(member(frame, "name")));
		c->sums[c->n++].file = strdup(file != NULL ? file : "");
	}
}

struct open {
	size_t frame;
	double at;
};

static void check_evented(const char *what, struct check *c, const cJSON *profile)
{
	struct open *open = NULL;
	size_t n = 0, cap = 0;
	double first = NAN, last = -INFINITY;
	const cJSON *event;

	MUST(is_text(profile, "unit", "nanoseconds"));
	MUST(cJSON_IsArray(member(profile, "events")));
	cJSON_ArrayForEach(event, member(profile, "events"))
	{
		const double at = get_number(what, event, "at");
		const size_t frame = frame_number(what, c, member(event, "frame"));
		MUST(at >= last);
		first = isnan(first) ? at : first;
		last = at;
		c->exact &= fabs(at) <= 9007199254740992.0;
		if (is_text(event, "type", "O")) {
			if (n == cap)
				open = realloc(open, (cap = 2 * cap + 16) * sizeof *open);
			open[n++] = (struct open){ frame, at };
			c->sums[frame].calls++;
			c->depth = n > c->depth ? n : c->depth;
			continue;
		}
		MUST(is_text(event, "type", "C"));
		MUST(n > 0 && open[n - 1].frame == frame);
		c->sums[frame].total += at - open[--n].at;
	}
	MUST(n == 0);
	MUST(get_number(what, profile, "startValue") <= first); /* profiles have the axis of the trace */
	MUST(get_number(what, profile, "endValue") >= last);
	c->evented++;
	free(open);
}

static void check_sampled(const char *what, struct check *c, const cJSON *profile)
{
	const cJSON *const samples = member(profile, "samples"), *const weights = member(profile, "weights");
	const cJSON *sample, *frame, *weight = weights != NULL ? weights->child : NULL;
	double sum = 0;

	MUST(is_text(profile, "unit", "none"));
	MUST(cJSON_IsArray(samples) && cJSON_IsArray(weights));
	MUST(cJSON_GetArraySize(samples) == cJSON_GetArraySize(weights));
	cJSON_ArrayForEach(sample, samples)
	{
		size_t leaf = SIZE_MAX;
		MUST(cJSON_IsArray(sample));
		cJSON_ArrayForEach(frame, sample) leaf = frame_number(what, c, frame);
		MUST(cJSON_IsNumber(weight) && weight->valuedouble >= 1);
		if (leaf != SIZE_MAX)
			c->sums[leaf].samples += (uint64_t)weight->valuedouble;
		sum += weight->valuedouble;
		weight = weight->next;
	}
	MUST(sum > 0);
	MUST(get_number(what, profile, "startValue") == 0);
	MUST(get_number(what, profile, "endValue") == sum);
	c->sampled++;
}

struct check check_speedscope(const char *what, const char *text, size_t n)
{
	struct check c = { .exact = true };
	size_t at;
	const char *const fault = strict_json_fault(text, n, &at);
	cr_assert_null(fault, "%s: at %zu: %s", what, at, fault);
	cJSON *const json = cJSON_ParseWithLength(text, n);
	const cJSON *profile;

	MUST(is_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json"));
	MUST(is_text(json, "name", NULL) && is_text(json, "exporter", NULL));
	check_frames(what, &c, member(member(json, "shared"), "frames"));
	MUST(cJSON_IsArray(member(json, "profiles")));
	cJSON_ArrayForEach(profile, member(json, "profiles"))
	{
		MUST(is_text(profile, "name", NULL));
		if (is_text(profile, "type", "evented")) {
			check_evented(what, &c, profile);
		} else {
			MUST(is_text(profile, "type", "sampled"));
			check_sampled(what, &c, profile);
		}
		c.profiles++;
	}
	const double active = get_number(what, json, "activeProfileIndex");
	MUST(active == 0 || (active > 0 && active < (double)c.profiles));
	cJSON_Delete(json);
	return c;
}

const struct check_sum *check_find(const struct check *c, const char *name, const char *file)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->sums[i].name, name) == 0 && strcmp(c->sums[i].file, file) == 0)
			return &c->sums[i];
	return NULL;
}

void check_free(struct check *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->sums[i].name);
		free(c->sums[i].file);
	}
	free(c->sums);
}
