#ifndef CHROME_SAMPLES_H
#define CHROME_SAMPLES_H

#include "test/support/text_samples.h"

extern const struct text_sample chrome_good[];
extern const struct text_sample chrome_bad[];

#endif
