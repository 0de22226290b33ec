#ifndef DFTRACER_RECOVER_H
#define DFTRACER_RECOVER_H

#include "format/recover.h"

extern const struct recover_ops dft_recover_ops;

#endif
