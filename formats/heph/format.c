#include "heph/packet.h"
#include "heph/finding.h"
#include "heph/read.h"
#include "heph/recover.h"
#include "heph/write.h"

static const char *const suffixes[] = { ".bin.log", NULL };
static const char *const dialects[] = { "0.1.0", NULL };

extern const struct format heph_format;

const struct format heph_format = {
	.name = "heph",
	.title = "Heph trace",
	.spec = "Heph trace format 0.1.0",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ HEPH_COUNTER_FIELD, "start", "end", NULL },
	.dialects = dialects,
	.reader = &heph_reader_ops,
	.recover = &heph_recover_ops,
	.writer = &hpw_ops,
	.rules = heph_rules,
	.losses = hpw_losses,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_COUNTERS | HOLDS_ARROWS | HOLDS_ASYNC | HOLDS_ENDS |
	         HOLDS_LISTS | HOLDS_NAN | HOLDS_NOT_UTF8 | HOLDS_NUL | HOLDS_FACTS | HOLDS_EPOCH |
	         HOLDS_NUMBERS,
};
