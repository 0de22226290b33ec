#ifndef OVNI_RECOVER_H
#define OVNI_RECOVER_H

#include "format/recover.h"
#include "ovni/recover_sort.h"

extern const struct recover_ops ovni_recover_ops;

#endif
