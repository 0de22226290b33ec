#ifndef DFTRACER_WRITE_H
#define DFTRACER_WRITE_H

#include "format/format.h"

/* The writer.  Records of a DFTracer trace are written as they are. */

enum dfw_loss {
#define LOSS(row, ...) DFW_##row,
#include "dftracer/dftracer_losses.def"
#undef LOSS
	DFW_LOSSES
};

extern const struct loss dfw_losses[DFW_LOSSES + 1];

#define DFW_TAIL 32             /* bytes of what was written last that are remembered */
#define DFW_MOST_END (1U << 20) /* bytes behind the records of an input that are held back */

/* Where records of DFTracer traces stand that are written as they are. */
struct dfw_raw {
	uint32_t inputs;   /* begun so far */
	bool before;       /* no record of the present input was met yet */
	bool opened;       /* the output begins with a bracket */
	bool commas;       /* its records are separated by commas, as in an array */
	bool sealed;       /* so much stands behind the records of the first input that it was written */
	bool closed_later; /* an input behind the first has a closing bracket */
	struct text end;   /* of the first input: what stands from its closing bracket on */
	char tail[DFW_TAIL];
	uint32_t ntail;
};

struct dfw_state {
	bool is_raw;
	struct dfw_raw raw;
};

/* ---- dftracer_write_raw.c ---- */

void dfw_raw(struct dfw_raw *raw, const struct batch *b, struct chunk *chunk);
void dfw_raw_close(struct dfw_raw *raw, struct chunk *chunk);

/* ---- dftracer_write.c ---- */

extern const struct writer_ops dfw_ops;

#endif
