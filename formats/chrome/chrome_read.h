#ifndef CHROME_READ_H
#define CHROME_READ_H

#include "format/format.h"

enum chrome_rule {
#define RULE(name, id, level, text, spec, explain) CHROME_RULE_##name,
#include "chrome/chrome_rules.def"
#undef RULE
	CHROME_RULE_COUNT
};

extern const struct rule chrome_rules[CHROME_RULE_COUNT + 1];
extern const struct reader_ops chrome_reader_ops;

/* Whether the format has events of this phase. */
static inline bool
chrome_phase_known(char ph)
{
	return ph != '\0' && strchr("BEXiIPCbneSTpFstfMNODRcvV()=", ph) != NULL;
}

/* reader_ops.probe */
int chrome_probe(struct slice head, bool complete);

#endif
