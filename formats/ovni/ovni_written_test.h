#ifndef OVNI_WRITTEN_TEST_H
#define OVNI_WRITTEN_TEST_H

#include "ovni/ovni_rig_test.h"

/* For tests: streams written event by event, of one process on a machine of two CPUs, and what the rules of
 * the group "state" say of them. */
struct written {
	char *p;
	size_t n;
};

uint64_t written_dice(uint64_t *seed);

/* Little endian, as all known machines write streams, wherever the test runs. */
void written_number(void *to, uint64_t v, unsigned bytes);

/* Room for so many events with payloads of 16 bytes at most. */
void written_init(struct written *w, size_t events);
/* The payload is n bytes: numbers of 32 bits. */
void written_put(struct written *w, const char *code, uint64_t clock, const void *words, unsigned n);
/* The thread begins to run on a CPU. */
void written_start(struct written *w, uint64_t clock, int32_t cpu);
/* The folder of a thread: metadata and the stream, which is freed. */
void written_save(struct written *w, const char *dir, int tid);

/* Reads the folder; each rule was broken so often, and no other.  The rules end in OVNI_RULE_COUNT. */
void written_expect(const char *dir, uint64_t seed, const enum ovni_rule *rules, const uint64_t *counts);

#endif
