/*
 * The libFuzzer target, one for all formats.  Built with -DFUZZ_FORMAT=NAME, it reads every input as that
 * format: fully in the dialect detected by content, and with fewer passes in each dialect.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/registry.h"
#include "test/fuzz/fuzz_check.h"

#define TEXT_OF(x) #x
#define FORMAT_NAME(x) TEXT_OF(x)

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void check(const char *p, size_t n, const struct format *format, const char *dialect, unsigned parts)
{
	struct fuzz_result r;

	if (fuzz_check(&r, p, n, format, dialect, parts))
		return;
	fprintf(stderr, "broken promise (%s): %s\n", dialect != NULL ? dialect : "dialect by content",
	        r.fault);
	abort();
}

/* Small steps cost most of the time: long inputs get some of them, chosen by their length. */
static unsigned parts_for(size_t n)
{
	if (n <= 256)
		return FUZZ_ALL | FUZZ_FEW;
	const unsigned skipped = n % 16 == 1 ? 0 : n % 4 == 1 ? FUZZ_SLOW_1 : FUZZ_SLOW_1 | FUZZ_SLOW_7;

	return (FUZZ_ALL | FUZZ_FEW) & ~skipped;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	const struct format *const format = format_by_name(FORMAT_NAME(FUZZ_FORMAT));

	if (format == NULL || format->reader == NULL)
		abort();
	check((const char *)p, n, format, NULL, parts_for(n));
	for (const char *const *d = format->dialects; d != NULL && *d != NULL; d++)
		check((const char *)p, n, format, *d, FUZZ_CHECK | FUZZ_EVENTS);
	return 0;
}
