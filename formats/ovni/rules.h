#ifndef OVNI_RULES_H
#define OVNI_RULES_H

#include <inttypes.h>
#include <stdio.h>

#include "format/format.h"

enum ovni_rule {
#define RULE(name, id, level, text, spec, explain) OVNI_RULE_##name,
#include "ovni/rules.def"
#undef RULE
	OVNI_RULE_COUNT
};

extern const struct rule ovni_rules[OVNI_RULE_COUNT + 1]; /* ended by an id of NULL */

/* Adds a finding about a complete stream or trace: at offset 0, of no record. */
void ovni_report(struct reader *r, enum ovni_rule rule, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of what ovniemu refuses: an error where the rules of the group "state" are checked. */
void ovni_report_refused(struct reader *r, enum ovni_rule rule, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether --check names the group. */
bool ovni_group_selected(const struct option_value *list, const char *group);

#endif
