#include "test/support/format_aids.h"

extern const struct format_aids ndjson_aids;

const struct format_aids ndjson_aids = {
	.format = "ndjson",
};
