#ifndef CHROME_AIDS_H
#define CHROME_AIDS_H

#include "test/support/format_aids.h"

extern const struct format_aids chrome_aids;

bool chrome_write_testdata(const char *dir);

#endif
