#ifndef STATE_RIG_TEST_H
#define STATE_RIG_TEST_H

#include "ovni/state/state.h"

/* A trace read and checked by the rules of the group "state" without the engine: all streams are in memory,
 * and merged by comparing all of them for each event. */
#define RIG_STREAMS 16
#define RIG_TEXT 4000

struct rig_stream {
	struct reader reader;
	struct findings findings;
	struct batch batch;
	uint32_t next;
};

struct rig {
	struct trace trace;
	void *shared;
	struct rig_stream streams[RIG_STREAMS];
	uint32_t n;
	struct findings findings; /* of the trace */
};

/* Limit of the units that the checker tracks; 0: STATE_MAX_UNITS. */
extern uint32_t rig_units;

/* Reads and checks all streams below a folder. */
void rig_read(struct rig *rig, const char *folder);
/* Whether a rule is of the group. */
bool rig_is_state(int rule);
uint64_t rig_count(const struct rig *rig, enum ovni_rule rule);
/* Writes "ID COUNT\n" for each rule of the group that was broken. */
void rig_text(const struct rig *rig, char text[RIG_TEXT]);
void rig_free(struct rig *rig);

/* Reads a folder, compares that text, and frees all. */
void rig_expect(const char *folder, const char *want);

/* Reads the folder that `seed` generated, and compares how often each rule was broken; all others were not.
 * The rules end with OVNI_RULE_COUNT. */
void rig_expect_counts(const char *dir, uint64_t seed, const enum ovni_rule *rules, const uint64_t *counts);

#endif
