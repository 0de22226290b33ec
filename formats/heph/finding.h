#ifndef HEPH_FINDING_H
#define HEPH_FINDING_H

#include "format/format.h"

enum heph_rule {
#define RULE(name, id, level, text, spec, explain) HEPH_RULE_##name,
#include "heph/rules.def"
#undef RULE
	HEPH_RULE_COUNT
};

extern const struct rule heph_rules[HEPH_RULE_COUNT + 1]; /* ended by an id of NULL */

struct heph_packet;
struct heph_state;

/* Reports a finding at a place in the packet. */
void heph_finding_add(struct heph_state *st, enum heph_rule rule, const struct heph_packet *k, const char *at,
                      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Whether the next finding of a rule will be shown: else its message need not be made. */
bool heph_finding_is_shown(const struct heph_state *st, enum heph_rule rule);

/* Something that does not fit: it takes n bytes, `room` are there. */
void heph_report_past_packet(struct heph_state *st, const struct heph_packet *k, const char *at,
                             const char *what, uint64_t n, uint64_t room);

/* A text that is not UTF-8. */
void heph_report_text(struct heph_state *st, const struct heph_packet *k, const char *what, struct slice s);

#endif
