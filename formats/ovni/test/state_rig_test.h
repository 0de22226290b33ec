#ifndef STATE_RIG_TEST_H
#define STATE_RIG_TEST_H

#include "ovni/state/state.h"

/* For tests: a trace read and checked by the rules of the group "state" without the engine: all streams in
 * memory, merged by comparing all of them for each event. */
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

/* How many units the checker tracks; 0: as many as in the program. */
extern uint32_t rig_units;

/* Reads and checks the streams that lie in a folder, at any depth. */
void rig_read(struct rig *rig, const char *folder);
/* Whether a rule is of the group. */
bool rig_is_state(int rule);
uint64_t rig_count(const struct rig *rig, enum ovni_rule rule);
/* "ID COUNT\n" for each rule of the group that was broken. */
void rig_text(const struct rig *rig, char text[RIG_TEXT]);
void rig_free(struct rig *rig);

/* Reads, compares that text, and gives all back. */
void rig_expect(const char *folder, const char *want);

/* Reads the folder; each rule was broken so often, and no other: `seed` made it.  The rules end in
 * OVNI_RULE_COUNT. */
void rig_expect_counts(const char *dir, uint64_t seed, const enum ovni_rule *rules, const uint64_t *counts);

#endif
