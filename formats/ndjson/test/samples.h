#ifndef NDJSON_SAMPLES_H
#define NDJSON_SAMPLES_H

#include "test/support/text_samples.h"

extern const struct text_sample ndjson_good[];
extern const struct text_sample ndjson_bad[];

#endif
