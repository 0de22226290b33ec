#include "htdump/finding.h"
#include "htdump/read.h"
#include "htdump/recover.h"
#include "htdump/write.h"

static const char *const suffixes[] = { ".htdump", NULL };
static const char *const dialects[] = { "wire", "document", NULL };

static const struct format_option options[] = {
	{ .name = "label-map",
	  .arg = "FILE",
	  .help = "names of integer labels: lines of category, label, number" },
	{ .name = NULL },
};

extern const struct format htdump_format;

const struct format htdump_format = {
	.name = "htdump",
	.title = "HawkTracer dump",
	.spec = "HTDUMP format design (HawkTracer)",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ "timestamp", NULL },
	.dialects = dialects,
	.options = options,
	.reader = &ht_reader_ops,
	.writer = &htw_ops,
	.recover = &ht_recover_ops,
	.rules = ht_rules,
	.losses = htw_losses,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_LISTS | HOLDS_NAN | HOLDS_NOT_UTF8 | HOLDS_FACTS |
	         HOLDS_NUMBERS,
};
