#ifndef HEPH_RECOVER_H
#define HEPH_RECOVER_H

#include "format/recover.h"

extern const struct recover_ops heph_recover_ops;

#endif
