/* The program on all Perfetto samples: its findings, from files, pipes and compressed files; and on real
 * traces, whose figures are those of Perfetto's own importer. */
#include <criterion/criterion.h>
#include <cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/samples_test_util.h"

#define GOOD "testdata/perfetto/good"
#define BAD "testdata/perfetto/bad"

static const struct samples samples = { .suffix = ".pftrace" };

Test(perfetto_samples, bad_samples_say_what_is_expected)
{
	expect_samples(&samples, BAD);
}

Test(perfetto_samples, good_samples_are_clean)
{
	expect_sound_samples(&samples, GOOD);
}

/* Rules that no small file can violate; tested elsewhere: pipe in cli.test. */
static const char *const elsewhere[] = { "perfetto/da-deep", "perfetto/pipe", NULL };

Test(perfetto_samples, every_rule_has_a_sample)
{
	expect_samples_of_rules("perfetto", elsewhere);
}

/* ---- real traces ---- */

struct figures {
	uint64_t slices, sum, empty, counters, flows;
};

static const struct expected {
	const char *name;
	struct figures of;
} expected[] = {
	/* without slices and counters of other packets than track events */
	{ "android_b2b_async_begin", { 0, 0, 0, 0, 0 } },
	{ "chrome-test_chrome_log_message", { 1, 0, 1, 0, 0 } },
	{ "chrome-test_chrome_log_message_args_to_json", { 1, 0, 1, 0, 0 } },
	{ "chrome_histogram", { 3, 17997, 0, 0, 0 } },
	{ "flow_events_proto_v1", { 4, 40000, 0, 0, 3 } },
	{ "flow_events_track_event", { 11, 49000, 3, 0, 8 } },
	{ "heap_profile", { 0, 0, 0, 0, 0 } },
	{ "inline_positions", { 0, 0, 0, 0, 0 } },
	{ "parsing-test_data_loss_cause_breakdown", { 0, 0, 0, 0, 0 } },
	{ "parsing-test_sequence_all_incremental_dropped", { 0, 0, 0, 0, 0 } },
	{ "parsing-test_sequence_packet_loss_bitmask", { 0, 0, 0, 0, 0 } },
	{ "process_tracking-test_main_thread_comm_from_process_tree", { 0, 0, 0, 0, 0 } },
	{ "track_event-test_track_event_delta_timestamp_addition_overflow", { 1, 0, 1, 0, 0 } },
	{ "track_event-test_track_event_monotonic_trace_clock_slices", { 2, 0, 2, 0, 0 } },
	{ "track_event-test_track_event_same_tids_slices", { 2, 0, 2, 0, 0 } },
	{ "track_event_callstacks", { 3, 90, 0, 0, 0 } },
	{ "track_event_counters", { 7, 600, 3, 18, 0 } },
	{ "track_event_name_resolution", { 3, 0, 3, 0, 0 } },
	{ "track_event_name_resolution_null_override", { 1, 0, 1, 0, 0 } },
	{ "track_event_tracks", { 15, 100, 14, 0, 0 } },
	{ "track_event_with_atrace", { 2, 9000, 0, 0, 0 } },
};

static bool is_kind(const cJSON *line, const char *kind)
{
	const cJSON *const k = cJSON_GetObjectItem(line, "kind");

	return cJSON_IsString(k) && strcmp(k->valuestring, kind) == 0;
}

static void add_line(struct figures *f, const cJSON *line)
{
	const cJSON *const args = cJSON_GetObjectItem(line, "args"), *const dur =
	                                                                 cJSON_GetObjectItem(line, "dur_ns");
	const bool span = is_kind(line, "span") || is_kind(line, "async");

	if (span || is_kind(line, "instant")) {
		const uint64_t d = span && cJSON_IsNumber(dur) ? (uint64_t)dur->valuedouble : 0;
		f->slices++;
		f->empty += d == 0;
		f->sum += d;
	}
	f->counters += is_kind(line, "counter") ? (uint64_t)cJSON_GetArraySize(args) : 0;
	f->flows += is_kind(line, "flow_in") || is_kind(line, "flow_step");
}

static struct figures figures_of(const char *path)
{
	struct ran r = run_tool(
	    (const char *const[]){ "convert", "--quiet", "--to", "ndjson", path, "-", NULL }, NULL, 0);
	struct figures f = { .slices = 0 };

	for (char *line = strtok(r.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		cJSON *const j = cJSON_Parse(line);
		add_line(&f, j);
		cJSON_Delete(j);
	}
	ran_free(&r);
	return f;
}

Test(perfetto_samples, figures_of_real_traces)
{
	char path[700];

	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		const struct figures *const want = &expected[i].of;
		snprintf(path, sizeof path, "%s/perfetto/%s.pftrace", real_traces(), expected[i].name);
		const struct figures got = figures_of(path);
		cr_expect(memcmp(&got, want, sizeof got) == 0,
		          "%s: %" PRIu64 " slices, %" PRIu64 " ns, %" PRIu64 " empty, %" PRIu64
		          " counters, %" PRIu64 " arrows",
		          path, got.slices, got.sum, got.empty, got.counters, got.flows);
	}
}
