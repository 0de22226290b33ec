/* Perfetto traces (protocol buffers). */
#include "perfetto/perfetto.h"
#include "perfetto/read/read.h"

const struct rule perfetto_rules[PF_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "perfetto/rules.def"
#undef RULE
	{ .id = NULL }
};

static const char *const suffixes[] = { ".pftrace", ".perfetto-trace", NULL };
static const char *const dialects[] = { "58", NULL };
/* Sums of packets that are left out are added to later ones; copy/rewrite.c.  JSON: that of CPU profiles. */
/* clang-format off */
static const char *const recounted[] = {
	"timestamp", "timestamp_clock_id", "sequence_flags",
	"track_event.timestamp_delta_us", "track_event.timestamp_absolute_us",
	"track_event.thread_time_delta_us", "track_event.thread_instruction_count_delta",
	"track_event.counter_value", "track_event.double_counter_value",
	"track_event.extra_counter_values", "track_event.extra_double_counter_values",
	"track_event.phase", "track_event.legacy_json_value",
	"streaming_profile_packet.timestamp_delta_us", NULL,
};
/* clang-format on */

const struct format perfetto_format = {
	.name = "perfetto",
	.title = "Perfetto trace",
	.spec = "Perfetto protos, v58.2",
	.suffixes = suffixes,
	.dialects = dialects,
	.recounted = recounted,
	.reader = &perfetto_reader_ops,
	.writer = &perfetto_writer_ops,
	.copier = &perfetto_copier_ops,
	.recover = &perfetto_recover_ops,
	.rules = perfetto_rules,
	.losses = perfetto_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ARROWS | HAS_ASYNC | HAS_ENDS |
	            HAS_STACKS | HAS_LISTS | HAS_NAN | HAS_NOT_UTF8 | HAS_NUL | HAS_FACTS | HAS_EPOCH |
	            HAS_HOSTS | HAS_NUMBERS | HAS_STEPS,
};
