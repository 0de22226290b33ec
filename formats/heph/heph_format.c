#include "heph/heph_finding.h"
#include "heph/heph_read.h"
#include "heph/heph_recover.h"

static const char *const suffixes[] = { ".bin.log", NULL };
static const char *const dialects[] = { "0.1.0", NULL };

extern const struct format heph_format;

const struct format heph_format = {
	.name = "heph",
	.title = "Heph trace",
	.spec = "Heph trace format 0.1.0",
	.suffixes = suffixes,
	.dialects = dialects,
	.reader = &heph_reader_ops,
	.recover = &heph_recover_ops,
	.rules = heph_rules,
	.holds =
	    HOLDS_FIELDS | HOLDS_LISTS | HOLDS_NAN | HOLDS_NOT_UTF8 | HOLDS_NUL | HOLDS_EPOCH | HOLDS_NUMBERS,
};
