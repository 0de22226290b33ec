#ifndef DIAL9_FINDINGS_H
#define DIAL9_FINDINGS_H

#include "dial9/bytes.h"
#include "dial9/frame.h"
#include "format/format.h"

/* The rules, and how they are reported: at a frame, at a byte of it, or once at the end with a count. */

enum d9_rule {
#define RULE(name, id, level, text, spec, explain) D9_RULE_##name,
#include "dial9/rules.def"
#undef RULE
	D9_RULE_COUNT
};

extern const struct rule d9_rules[D9_RULE_COUNT + 1]; /* ended by an id of NULL */

/* What is counted, and reported when reading ends. */
struct d9_tallies {
	struct finding_tally bools, late, redefined, pool_limit, names_limit, metadata, tracks, deep_tracks;
	struct finding_tally symbols_late, unresolved; /* shown without names that stand later, on a pipe */
};

static inline void
d9_tally(struct finding_tally *t, const struct d9_frame *f, uint64_t value)
{
	finding_tally_add(t, f->offset, f->ordinal, value, 0);
}

void d9_report_tallies(struct d9_state *st);

void d9_find(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void d9_find_at(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f, const char *at,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Whether a finding of this rule would not be shown; then it is counted, and its message need not be made. */
bool d9_find_unshown(struct d9_state *st, enum d9_rule rule, const struct d9_frame *f);

/* Reports text that is not UTF-8: `what` of the field `whose` (p NULL: no field). */
void d9_check_text(struct d9_state *st, const struct d9_frame *f, struct slice s, const char *what,
                   struct slice whose);

/* Reports that the input ends inside a frame, by st->lack.  Always D9_BAD. */
enum d9_result d9_report_cut(struct d9_state *st, const struct d9_frame *f);

/* Notes what a cursor misses.  Always D9_MORE. */
enum d9_result d9_lacks(struct d9_state *st, const struct cursor *c);

#endif
