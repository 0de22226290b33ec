#ifndef RUN_WRITE_CLOSURE_H
#define RUN_WRITE_CLOSURE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The structure that selected records of a copy need.
 *
 * In a first pass copiers state the keys that records define and use (copier_defines(), copier_uses(),
 * copier_needs()); keeping a definition makes the keys that it uses needed.  Records are identified by the
 * number of their input and their offset.
 *
 * Memory: at most CLOSURE_MAX records of structure, and as many keys.  Beyond that all structure is kept.
 */
#define CLOSURE_MAX (1U << 20)

struct closure;

/* NULL: OOM. */
struct closure *closure_new(void);

/* Starts a record; event: it is not structure; kept: an event that is selected. */
void closure_record(struct closure *cl, uint64_t input, uint64_t offset, bool event, bool kept);

/* Ends the pass.  Returns false on OOM. */
bool closure_end(struct closure *cl);

/* After the pass: whether a record of structure is kept. */
bool closure_keeps(const struct closure *cl, uint64_t input, uint64_t offset);
void closure_free(struct closure *cl); /* accepts NULL */

#endif
