#ifndef HTDUMP_FINDING_H
#define HTDUMP_FINDING_H

#include "format/format.h"

enum ht_rule {
#define RULE(name, id, level, text, spec, explain) HT_RULE_##name,
#include "htdump/rules.def"
#undef RULE
	HT_RULE_COUNT
};

extern const struct rule ht_rules[HT_RULE_COUNT + 1]; /* ended by an id of NULL */

struct ht_record;
struct ht_state;

/* Reports a finding at the start of a record. */
void ht_finding_add(struct ht_state *st, enum ht_rule rule, const struct ht_record *rec, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether the next finding of a rule will be shown: else its message need not be made. */
bool ht_finding_is_shown(const struct ht_state *st, enum ht_rule rule);

#endif
