#ifndef DFTRACER_TEST_UTIL_H
#define DFTRACER_TEST_UTIL_H

#include <cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JSON for tests, independent of the reader. */

static inline const char *text_of(const cJSON *o, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

/* Copies the value of a key, without quotes, from the text of a record without nested values before it. */
static inline void raw_value(const char *line, const char *key, char *to, size_t size)
{
	char pattern[40];

	snprintf(pattern, sizeof pattern, "\"%s\":", key);
	const char *p = strstr(line, pattern);
	cr_assert_not_null(p, "%s in %s", key, line);
	p += strlen(pattern);
	p += strspn(p, " ");
	p += *p == '"';
	snprintf(to, size, "%.*s", (int)strcspn(p, ",}\""), p);
}

#endif
