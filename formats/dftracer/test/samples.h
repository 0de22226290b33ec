#ifndef DFTRACER_TEST_SAMPLES_H
#define DFTRACER_TEST_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

/* ---- samples ---- */

/* The .pfw samples of testdata/: what `make testdata` writes, and what `tracetool validate` must find in
 * them. */

enum dft_packing {
	DFT_PLAIN,
	DFT_GZIP,
	DFT_GZIP_MEMBERS,          /* two, and an empty one before; a line crosses from one to the other */
	DFT_GZIP_MEMBERS_OF_LINES, /* two, each of whole lines */
	DFT_GZIP_NO_TRAILER,
	DFT_GZIP_BAD_CRC,
	DFT_GZIP_NULS_BEHIND,
	DFT_GZIP_BYTES_BEHIND,
	DFT_GZIP_CUT,
	DFT_GZIP_IN_NAME_ONLY, /* plain text, its name ends in .gz */
};

#define DFT_MAX_EXPECTED 8

/* A finding: at the first place where `marker` stands in the sample, `skip` bytes on.  NULL: none. */
struct dft_expected {
	const char *rule; /* without "dftracer/", unless it has a '/' */
	const char *marker;
	size_t skip;
};

struct dft_sample {
	const char *name; /* of the file, without .pfw */
	const char *text;
	size_t n;
	int exit_status; /* of `validate` */
	const char *dialect;
	unsigned records; /* that are kept */
	struct dft_expected expected[DFT_MAX_EXPECTED];
	enum dft_packing packing;
};

/* Ended by a name of NULL. */
extern const struct dft_sample dft_good[]; /* only notes */
extern const struct dft_sample dft_bad[];  /* each breaks one rule, or has a fault that other tools handle */

/* Parts of samples: records of September 2024 (dialect d2a), as in the specification. */

/* clang-format off */

#define HOST "{\"id\":1,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\"," \
	"\"args\":{\"name\":\"node1\",\"value\":5692}}"

#define FILE_A "{\"id\":2,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":7,\"ph\":\"M\"," \
	"\"args\":{\"name\":\"/data/a\",\"value\":22}}"

#define EVENT(id, name, args) \
	"{\"id\":" id ",\"name\":\"" name "\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":8,\"ts\":100000" id \
	",\"dur\":20,\"ph\":\"X\",\"args\":{" args "}}"
#define OPEN EVENT("3", "open", "\"hhash\":5692,\"fhash\":22,\"flags\":66,\"mode\":420,\"ret\":5")
#define READ EVENT("4", "read", "\"hhash\":5692,\"fhash\":22,\"fd\":5,\"count\":4096,\"ret\":4096")
#define CLOSE EVENT("5", "close", "\"hhash\":5692,\"fhash\":22,\"fd\":5,\"ret\":0")

/* Five valid records, and prefixes of these. */
#define FIRST_TWO "[\n" HOST "\n" FILE_A "\n"
#define FOUR FIRST_TWO OPEN "\n" READ "\n"
#define SOUND FOUR CLOSE "\n]"
#define TEXT(s) s, sizeof(s) - 1

#endif
