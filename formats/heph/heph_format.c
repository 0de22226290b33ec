#include "heph/heph_finding.h"
#include "heph/heph_read.h"
#include "heph/heph_write.h"

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
	.writer = &hpw_ops,
	.rules = heph_rules,
	.losses = hpw_losses,
};
