/* Events that wait, in a trace of more events than wait until its end. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "perfetto/schema/schema.h"

enum { CHUNKS = 200, SPANS = 500 };

static void put_packet(struct text *t, unsigned sequence, unsigned data, const struct text *content)
{
	const size_t start = wire_open(t, 1);

	wire_number(t, PF_packet_trusted_packet_sequence_id, sequence);
	wire_slice(t, data, slice_of(content->p, content->n));
	wire_close(t, start);
}

static void put_event(struct text *t, unsigned sequence, uint64_t ts, unsigned type, unsigned track)
{
	struct text event = { .n = 0 };
	const size_t start = wire_open(t, 1);
	char name[24], list[24];

	wire_number(&event, PF_event_type, type);
	wire_number(&event, PF_event_track_uuid, track);
	if (type != 2) {
		snprintf(name, sizeof name, track == 9 ? "last" : "span %d", (int)(ts % 7));
		wire_slice(&event, PF_event_name, slice_str(name));
		/* an annotation that is a list of one text */
		struct text annotation = { .n = 0 };
		wire_slice(&annotation, PF_annotation_name, SLICE_LIT("list"));
		const size_t item = wire_open(&annotation, PF_annotation_array_values);
		snprintf(list, sizeof list, "item %d", (int)(ts % 1000));
		wire_slice(&annotation, PF_annotation_string_value, slice_str(list));
		wire_close(&annotation, item);
		wire_slice(&event, PF_event_debug_annotations, slice_of(annotation.p, annotation.n));
		text_free(&annotation);
	}
	wire_number(t, PF_packet_timestamp, ts);
	wire_number(t, PF_packet_trusted_packet_sequence_id, sequence);
	wire_slice(t, PF_packet_track_event, slice_of(event.p, event.n));
	wire_close(t, start);
	text_free(&event);
}

static void put_track(struct text *t, unsigned uuid, unsigned tid)
{
	struct text track = { .n = 0 };

	wire_number(&track, PF_descriptor_uuid, uuid);
	if (tid != 0) {
		const size_t start = wire_open(&track, PF_descriptor_thread);
		wire_number(&track, PF_thread_pid, 1);
		wire_number(&track, PF_thread_tid, tid);
		wire_close(&track, start);
	} else {
		wire_slice(&track, PF_descriptor_name, SLICE_LIT("row"));
	}
	put_packet(t, 1, PF_packet_track_descriptor, &track);
	text_free(&track);
}

/* Spans of a thread and of another track, nested in pairs; a chunk is of the sequence 1 or 2.  swapped: each
 * chunk follows the next one, and the first one all others. */
static char *write_trace(const char *dir, const char *name, bool swapped)
{
	struct text t = { .n = 0 };
	char path[4096];

	put_track(&t, 7, 70);
	put_track(&t, 8, 0);
	put_track(&t, 9, 90);
	for (unsigned i = 0; i < CHUNKS; i++) {
		const unsigned chunk = !swapped          ? i
		                       : i == CHUNKS - 1 ? 0
		                                         : 1 + (i ^ (i < CHUNKS - 2 ? 1 : 0));
		for (unsigned k = 0; k < SPANS; k++) {
			const uint64_t ts = 100 * ((uint64_t)chunk * SPANS + k);
			const unsigned track = chunk == 0 ? 7 : 7 + k % 2, sequence = 1 + chunk % 2;
			put_event(&t, sequence, ts, 1, track);
			put_event(&t, sequence, ts + 10, 1, track);
			put_event(&t, sequence, ts + 20, 2, track);
			put_event(&t, sequence, ts + 90, 2, track);
		}
	}
	put_event(&t, 1, UINT64_C(100) * CHUNKS * SPANS, 3, 9);
	snprintf(path, sizeof path, "%s/%s.pftrace", dir, name);
	cr_assert(!t.failed && write_whole(path, t.p, t.n));
	text_free(&t);
	return strdup(path);
}

Test(perfetto_waiting, events_out_of_order_are_those_in_order)
{
	char *const dir = make_folder();
	char *const ordered = write_trace(dir, "ordered", false), *const swapped =
	                                                              write_trace(dir, "swapped", true);
	const char *const diff[] = { "diff", ordered, swapped, NULL };
	const char *const convert[] = { "convert", "--quiet", "--to", "ndjson", swapped, "-", NULL };

	expect_ran(run_tool(diff, NULL, 0), 0, "200001 the same, 0 changed, 0 only in A, 0 only in B");
	struct ran r = run_tool(convert, NULL, 0);
	const char *const last = strstr(r.out, "\"last\"");
	cr_expect(r.status == 0 && last != NULL);
	cr_expect((size_t)(last - r.out) > r.out_n / 4, "all events waited for the end of the file");
	ran_free(&r);
	free(ordered);
	free(swapped);
	remove_folder(dir);
}
