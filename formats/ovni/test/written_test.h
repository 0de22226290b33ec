#ifndef OVNI_TEST_WRITTEN_TEST_H
#define OVNI_TEST_WRITTEN_TEST_H

#include <stddef.h>
#include <stdint.h>

/* ---- writing ---- */

/* A stream of one process on a machine of two CPUs. */
struct written {
	char *p;
	size_t n;
};

uint64_t written_random(uint64_t *seed);

/* Stores a number in little endian, as all known machines write streams. */
void written_number(void *to, uint64_t v, unsigned bytes);

/* events: the maximum, with payloads of at most 16 bytes. */
void written_init(struct written *w, size_t events);

/* words: n bytes of payload, as numbers of 32 bits. */
void written_put(struct written *w, const char *code, uint64_t clock, const void *words, unsigned n);

/* Writes OHx: the thread starts on a CPU. */
void written_start(struct written *w, uint64_t clock, int32_t cpu);

/* Writes the folder of a thread with its metadata, and frees the stream. */
void written_save(struct written *w, const char *dir, int tid);

/* ---- decoding marks ---- */

/* Decodes a trace of marks, and asserts the requirements of the specification and of ovniemu: header, one
 * OHx first and one OHe last, clocks in order, nested marks, complete metadata. */

struct marked {
	char *label; /* NULL: the value has none */
	int64_t value;
	unsigned type;
	uint64_t count, ns;
};

struct marks_found {
	struct marked *list; /* by type and value */
	unsigned n, streams;
	char *titles[100];
	char *names; /* of threads and processes, each between two newlines */
};

/* dir: the output. */
void marks_decode(struct marks_found *m, const char *dir);
void marks_free(struct marks_found *m);

/* Returns the marks of a label; NULL: none. */
const struct marked *marks_find(const struct marks_found *m, unsigned type, const char *label);

#endif
