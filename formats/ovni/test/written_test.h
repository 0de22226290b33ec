#ifndef OVNI_WRITTEN_TEST_H
#define OVNI_WRITTEN_TEST_H

#include <stddef.h>
#include <stdint.h>

/* For tests: streams written event by event, of one process on a machine of two CPUs. */
struct written {
	char *p;
	size_t n;
};

uint64_t written_random(uint64_t *seed);

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

#endif
