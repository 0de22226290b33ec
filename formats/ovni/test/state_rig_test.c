#include "ovni/test/state_rig_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/test/cli_test_util.h"
#include "model/trace_engine.h"
#include "ovni/ovni.h"
#include "run/read/source.h"
#include "vocab/vocab.h"

uint32_t rig_units;

/* Reads the vocabulary once for the process: that takes longer than a small trace. */
static const struct vocabulary *rig_vocabulary(void)
{
	static struct vocabulary *v;
	size_t n;

	if (v == NULL) {
		char *const text = read_whole("schemas/ovni.yaml", &n);
		v = vocab_new("ovni");
		cr_assert(text != NULL && v != NULL && vocab_add_text(v, text, n, NULL, NULL));
		free(text);
	}
	return v;
}

static void rig_stream(struct rig *rig, const char *path, const struct option_value *options)
{
	static const struct format format = { .reader = &ovni_reader_ops };
	struct rig_stream *const s = &rig->streams[rig->n++];

	cr_assert(rig->n <= RIG_STREAMS);
	findings_init(&s->findings, path, NULL, NULL);
	s->reader = (struct reader){ .format = &format,
		                     .in = input_open(path),
		                     .trace = &rig->trace,
		                     .findings = &s->findings,
		                     .want = WANT_TIMES | WANT_FIELDS,
		                     .max_record = READER_USUAL_RECORD,
		                     .options = options,
		                     .state = calloc(1, ovni_reader_ops.state_size),
		                     .shared = rig->shared,
		                     .folder = 1 };
	cr_assert(s->reader.in != NULL && s->reader.state != NULL && batch_init(&s->batch, 200000, false));
	cr_assert(ovni_reader_ops.open(&s->reader), "%s", path);
	cr_assert(records_next(&s->reader, &s->batch, NULL, 0) != READ_NO_MEMORY, "%s", path);
	for (uint32_t i = 0; i < rig->trace.nclasses; i++)
		if (rig->trace.classes[i]->plan == NULL)
			rig->trace.classes[i]->plan =
			    trace_find_plan(&rig->trace, rig->trace.classes[i]->name, NULL, NULL);
}

/* Returns the stream with the earliest event; NULL: all are at their end. */
static struct rig_stream *rig_next(struct rig *rig)
{
	struct rig_stream *best = NULL;

	for (uint32_t i = 0; i < rig->n; i++) {
		struct rig_stream *const s = &rig->streams[i];
		if (s->next < s->batch.n &&
		    (best == NULL || s->batch.events[s->next].ts < best->batch.events[best->next].ts))
			best = s;
	}
	return best;
}

void rig_read(struct rig *rig, const char *folder)
{
	static const struct option_value options[] = { { "check", "state", NULL } };
	struct ran r =
	    run_program((const char *const[]){ "find", folder, "-name", "stream.obs", NULL }, NULL, 0);
	struct reader of_trace = { .trace = &rig->trace, .findings = &rig->findings, .options = options };
	struct ovni_shared *shared;
	char *paths[RIG_STREAMS];
	uint32_t npaths = 0;

	memset(rig, 0, sizeof *rig);
	trace_init(&rig->trace);
	rig->trace.vocabulary = rig_vocabulary();
	rig->shared = shared = of_trace.shared = calloc(1, ovni_trace_ops.shared_size);
	findings_init(&rig->findings, folder, NULL, NULL);
	cr_assert(shared != NULL && ovni_trace_ops.open(&of_trace));
	for (char *p = strtok(r.out, "\n"); p != NULL && npaths < RIG_STREAMS; p = strtok(NULL, "\n")) {
		uint32_t i = npaths++;
		for (; i > 0 && strcmp(paths[i - 1], p) > 0; i--)
			paths[i] = paths[i - 1];
		paths[i] = p;
	}
	cr_assert(npaths > 0, "%s", folder);
	for (uint32_t i = 0; i < npaths; i++)
		rig_stream(rig, paths[i], options);
	for (struct rig_stream *s; (s = rig_next(rig)) != NULL; s->next++) {
		ovni_trace_ops.check_event(&s->reader, &s->batch, &s->batch.events[s->next]);
		if (rig_units != 0)
			shared->checker->units.max = rig_units;
	}
	if (shared->checker != NULL)
		state_check_end(shared->checker, &of_trace);
	ran_free(&r);
}

bool rig_is_state(int rule)
{
	return rule >= OVNI_RULE_THREAD_STATE || rule == OVNI_RULE_MODEL_VERSION ||
	       rule == OVNI_RULE_REQUIRE_VERSION;
}

uint64_t rig_count(const struct rig *rig, enum ovni_rule rule)
{
	uint64_t n = findings_count(&rig->findings, &ovni_rules[rule]);

	for (uint32_t i = 0; i < rig->n; i++)
		n += findings_count(&rig->streams[i].findings, &ovni_rules[rule]);
	return n;
}

void rig_text(const struct rig *rig, char text[RIG_TEXT])
{
	size_t n = 0;

	text[0] = '\0';
	for (int i = 0; i < OVNI_RULE_COUNT; i++)
		if (rig_is_state(i) && rig_count(rig, (enum ovni_rule)i) > 0)
			n += (size_t)snprintf(text + n, RIG_TEXT - n, "%s %d\n", ovni_rules[i].id,
			                      (int)rig_count(rig, (enum ovni_rule)i));
}

void rig_free(struct rig *rig)
{
	for (uint32_t i = 0; i < rig->n; i++) {
		struct rig_stream *const s = &rig->streams[i];
		if (ovni_reader_ops.close != NULL)
			ovni_reader_ops.close(&s->reader);
		free(s->reader.state);
		batch_free(&s->batch);
		input_close(s->reader.in);
		findings_free(&s->findings);
	}
	ovni_trace_ops.close(rig->shared);
	free(rig->shared);
	findings_free(&rig->findings);
	trace_free(&rig->trace);
}

void rig_expect(const char *folder, const char *want)
{
	static struct rig rig;
	char text[RIG_TEXT];

	rig_read(&rig, folder);
	rig_text(&rig, text);
	cr_expect_str_eq(text, want, "%s: %s\nwhere this was expected: %s", folder, text, want);
	rig_free(&rig);
}

void rig_expect_counts(const char *dir, uint64_t seed, const enum ovni_rule *rules, const uint64_t *counts)
{
	static struct rig rig;
	char text[RIG_TEXT], want[RIG_TEXT] = "";
	size_t n = 0;

	rig_read(&rig, dir);
	rig_text(&rig, text);
	for (int i = 0; rules[i] != OVNI_RULE_COUNT; i++)
		if (counts[i] > 0)
			n += (size_t)snprintf(want + n, sizeof want - n, "%s %d\n", ovni_rules[rules[i]].id,
			                      (int)counts[i]);
	cr_expect_str_eq(text, want, "seed %d: %s\nwhere this was expected: %s", (int)seed, text, want);
	rig_free(&rig);
}
