#include "test/support/format_aids.h"

#include <string.h>

/* The Makefile writes AIDS(X_aids) for each formats/X/test/aids.c. */
#define AIDS(aids) extern const struct format_aids aids;
#include "format_aids.def"
#undef AIDS

const struct format_aids *const format_aids[] = {
#define AIDS(aids) &aids,
#include "format_aids.def"
#undef AIDS
	NULL
};

const struct format_aids *format_aids_of(const char *format)
{
	for (const struct format_aids *const *a = format_aids; *a != NULL; a++)
		if (strcmp((*a)->format, format) == 0)
			return *a;
	return NULL;
}
