#ifndef DFTRACER_REPORT_H
#define DFTRACER_REPORT_H

#include "dftracer/state.h"

/* Findings of this format, and how they are reported. */

enum dft_rule {
#define RULE(name, id, level, text, spec, explain) DFT_RULE_##name,
#include "dftracer/rules.def"
#undef RULE
	DFT_RULE_COUNT
};

extern const struct rule dft_rules[DFT_RULE_COUNT + 1]; /* ended by an id of NULL */

static inline struct dft_place
dft_place_of(const struct dft_record *rec)
{
	return (struct dft_place){ rec->offset, rec->line, rec->column, rec->ordinal };
}

/* A place on the present line. */
static inline struct dft_place
dft_place_at(const struct dft_state *st, uint64_t offset)
{
	return (struct dft_place){ offset, st->line.number, offset - st->line.start + 1, st->r->records };
}

/* Whether the next finding of the rule is shown. */
static inline bool
dft_shown(const struct dft_state *st, enum dft_rule rule)
{
	return finding_is_shown(st->r->findings, &dft_rules[rule]);
}

/* At a byte of the present record (NULL: its first). */
void dft_report(struct dft_state *st, enum dft_rule rule, const struct dft_record *rec, const char *at,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* At an offset of the present line. */
void dft_report_line(struct dft_state *st, enum dft_rule rule, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* At a place that was passed. */
void dft_report_at(struct dft_state *st, enum dft_rule rule, struct dft_place place, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* A limit, once for the trace. */
void dft_report_limit(struct dft_state *st, enum dft_limit which, const struct dft_record *rec);

/* ---- once, with a count ---- */

void dft_tally_first(struct dft_tally *t, struct dft_place place, struct slice text);

static inline void
dft_tally_add(struct dft_state *st, enum dft_tallied which, struct dft_place place, struct slice text)
{
	if (st->tallies[which].met.count++ == 0)
		dft_tally_first(&st->tallies[which], place, text);
}

/* At the end. */
void dft_tallies_report(struct dft_state *st);

#endif
