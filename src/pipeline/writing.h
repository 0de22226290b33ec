#ifndef PIPELINE_WRITING_H
#define PIPELINE_WRITING_H

#include "pipeline/pipeline.h"
#include "pipeline/lanes.h"
#include "output/output.h"

/* Batches into an output format: the lanes its viewers need, rendering, writing, and the ledger of what was
 * lost. */
struct writing {
	const struct format *to;
	struct output *out; /* borrowed */
	struct writer writer;
	struct lanes lanes;
	bool with_lanes;
	struct chunk chunk;
	struct ledger total;
	bool no_memory;
};

/* `f` is open.  false: no memory, or the output failed. */
bool writing_begin(struct writing *w, const struct pipeline *f, const struct format *to, struct output *out,
                   bool with_lanes, const struct option_value *options, const char *tool);

/* A pipeline_taker; ctx is the struct writing. */
bool writing_take(void *ctx, struct pipeline *f, struct batch *b);

/* The end of the output.  false: as above. */
bool writing_end(struct writing *w, const struct pipeline *f);

void writing_free(struct writing *w);

#endif
