#ifndef CMD_CONVERT_SPLIT_H
#define CMD_CONVERT_SPLIT_H

#include "format/ledger.h"
#include "output/text.h"
#include "run/choose/split.h"
#include "run/write/writing.h"

struct convert;

/* --split: the output is a folder of parts, each of them a whole trace. */
struct convert_split {
	struct split split; /* by SPLIT_NOT: the output is one trace */
	char *out;          /* the folder, without slashes behind its name */
	bool routes;        /* the inputs are read once for all parts: run/choose/split_route.h */
	bool any;           /* an input could be read */
	bool is_again;      /* the inputs were read before, and what was found in them said */
	bool measures;      /* nothing is written, but counted */
	bool failed;        /* what was read before could not be read again, which was said */
	struct part_out *outs; /* parts that are written with one pass */
	uint32_t nouts, most;
	struct text name; /* of a file in the folder, with a NUL behind */
	struct ledger total;
};

struct part_out {
	struct convert *c;
	struct writing writing;
	uint32_t number;    /* in its name */
	uint32_t from, end; /* parts of the plan, or units of SPLIT_SIZE, [from, end) */
	uint64_t bytes;     /* of output */
	bool failed;
};

static inline bool
convert_splits(const struct convert_split *s)
{
	return s->split.by != SPLIT_NOT;
}

/* --split time=DURATION, by=pid|tid|stream or size=BYTES.  false after a message and the status of the
 * options set. */
bool convert_split_option(struct convert *c, const char *arg);

/* Sets c->to by --to, the name of the folder, or that of the input; and c->out.  false as above. */
bool convert_split_format(struct convert *c);

/* Whether the other options go with it.  false as above. */
bool convert_split_check(struct convert *c);

/* Writes all parts into the folder, of which the last pipeline stays open.  false: not all was written. */
bool convert_split_write(struct convert *c);

/* Begins to write split.outs from a pipeline.  false: no memory, or the output or a pass failed. */
bool convert_split_begin(struct convert *c, struct pipeline *p);

void convert_split_free(struct convert_split *s);

#endif
