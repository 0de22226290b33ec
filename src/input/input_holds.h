#ifndef INPUT_INPUT_HOLDS_H
#define INPUT_INPUT_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;
struct input_buffer; /* reference-counted memory behind one window */

/* The buffers that somebody's slices point into, one reference each. */
struct input_holds {
	struct input_buffer **buffers;
	size_t n, cap;
};

/* From now on every buffer whose window the reader sees is added to `holds` (the current one at once).  NULL:
 * stop. */
void input_hold(struct input *in, struct input_holds *holds);

/* Gives up what was held; the array is kept for reuse. */
void input_release(struct input_holds *holds);
void input_holds_free(struct input_holds *holds);

/* Memory that stays in use because of what is held, in bytes; mapped files do not count. */
uint64_t input_holds_size(const struct input_holds *holds);

#endif
