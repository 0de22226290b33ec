#ifndef NDJSON_AIDS_H
#define NDJSON_AIDS_H

#include "test/support/format_aids.h"

extern const struct format_aids ndjson_aids;

bool ndjson_write_testdata(const char *dir);

#endif
