#ifndef HTDUMP_RECOVER_H
#define HTDUMP_RECOVER_H

#include "format/recover.h"

extern const struct recover_ops ht_recover_ops;

#endif
