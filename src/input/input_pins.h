#ifndef INPUT_INPUT_PINS_H
#define INPUT_INPUT_PINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;
struct input_buffer; /* reference-counted memory of a window */

/* The buffers that the slices of a batch point into, one reference each. */
struct input_pins {
	struct input_buffer **buffers;
	uint32_t n, cap;
};

/* Adds each buffer that the reader sees from now on to `pins`, including the current one.  pins NULL:
 * stops. */
void input_pin(struct input *in, struct input_pins *pins);

/* Drops the references; the array is kept for reuse. */
void input_unpin(struct input_pins *pins);
void input_pins_free(struct input_pins *pins);

/* Bytes of memory in these buffers; mapped files do not count. */
uint64_t input_pins_size(const struct input_pins *pins);

#endif
