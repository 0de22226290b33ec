#ifndef POLICY_BASELINE_H
#define POLICY_BASELINE_H

#include "check/findings.h"
#include "policy/policy_file.h"

/* What `tracetool stats --format json` said of an earlier run. */

#define BASELINE_MAX_BYTES ((size_t)64 << 20)
#define BASELINE_MAX_ROWS 500000U /* of all inputs; some 150 bytes of memory each, besides the text */

/* A table of the report, in its order. */
enum baseline_table { BASELINE_SPANS, BASELINE_ASYNC, BASELINE_INSTANTS, BASELINE_COUNTERS, BASELINE_TABLES };

struct policy_baseline;
struct baseline_input;

/* folder: below which the path must lie (base/open_below.h); NULL: it may be anywhere.  NULL after a finding,
 * or (*no_memory) without memory, which nobody was told. */
struct policy_baseline *baseline_read(const char *folder, const char *path, struct findings *findings,
                                      bool *no_memory);
void baseline_free(struct policy_baseline *b); /* NULL is fine */

/* The input of the baseline that stands for a trace: the only one, else the one of the same path, else the
 * only one of the same file name.  NULL: there is none. */
const struct baseline_input *baseline_input(const struct policy_baseline *b, const char *path);

/* The statistic of a name there: in ns, events, or events in a second.  category: "" for instants and
 * counters. false: it is not known. */
bool baseline_value(const struct baseline_input *in, enum baseline_table table, struct slice name,
                    struct slice category, enum policy_statistic statistic, double *value);

#endif
