#ifndef PIPELINE_SELECT_MATCH_H
#define PIPELINE_SELECT_MATCH_H

#include "event/batch.h"
#include "pipeline/select.h"

/* Whether the i-th event of a batch meets the conditions; its time is not looked at. */
bool select_matches(const struct select *s, const struct batch *b, uint32_t i);

#endif
