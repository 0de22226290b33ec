#ifndef INPUT_INPUT_HOLDS_H
#define INPUT_INPUT_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;
struct input_buffer; /* reference-counted memory of a window */

/* The buffers that the slices of a batch point into, one reference each. */
struct input_holds {
	struct input_buffer **buffers;
	size_t n, cap;
};

/* Adds every buffer that the reader sees from now on to `holds`, the current one included.  NULL: stops. */
void input_hold(struct input *in, struct input_holds *holds);

/* Drops the references; the array is kept for reuse. */
void input_release(struct input_holds *holds);
void input_holds_free(struct input_holds *holds);

/* Bytes of memory in these buffers; mapped files do not count. */
uint64_t input_holds_size(const struct input_holds *holds);

#endif
