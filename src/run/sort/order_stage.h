#ifndef PIPELINE_ORDER_STAGE_H
#define PIPELINE_ORDER_STAGE_H

#include "run/sort/sorter.h"
#include "run/stage.h"

struct pipeline;

/* Events in the order that somebody needs, with bounded memory: see run/sort/sorter.h. */
struct order_stage {
	struct stage stage;
	struct pipeline *p;
	struct sorter sorter;
	bool begun; /* the sorter is */
};

enum stage_status order_stage_next(struct stage *stage, struct batch **out);
void order_stage_free(struct order_stage *st);

#endif
