#ifndef FUZZ_FUZZ_OUTPUTS_H
#define FUZZ_FUZZ_OUTPUTS_H

#include "test/fuzz/fuzz_pass.h"

/* What is made of an input: the text of every format that can be written, and the reports of `stats`.  `want`
 * is the outcome of checking it.  false: a promise is broken, and noted, or memory is out. */
bool fuzz_convert(struct fuzz_pass pass, const struct fuzz_outcome *want);
bool fuzz_stats(struct fuzz_pass pass, const struct fuzz_outcome *want);

#endif
