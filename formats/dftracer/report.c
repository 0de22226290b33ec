#include "dftracer/report.h"

#include <stdarg.h>

#include "dftracer/dialect.h"

#define DETAIL 900

__attribute__((format(printf, 4, 0))) static void
report(struct dft_state *st, enum dft_rule rule, struct dft_place place, const char *detail, va_list ap)
{
	char text[DETAIL] = "";

	st->findings++;
	if (dft_shown(st, rule))
		vsnprintf(text, sizeof text, detail, ap);
	finding_add_line(st->r->findings, &dft_rules[rule], place.offset, place.line, place.column,
	                 place.record, "%s", text);
}

void
dft_report(struct dft_state *st, enum dft_rule rule, const struct dft_record *rec, const char *at,
           const char *fmt, ...)
{
	const uint64_t into = at != NULL ? (uint64_t)(at - rec->p) : 0;
	va_list ap;

	va_start(ap, fmt);
	report(st, rule,
	       (struct dft_place){ rec->offset + into, rec->line, rec->column + into, rec->ordinal }, fmt,
	       ap);
	va_end(ap);
}

void
dft_report_line(struct dft_state *st, enum dft_rule rule, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(st, rule, dft_place_at(st, offset), fmt, ap);
	va_end(ap);
}

void
dft_report_at(struct dft_state *st, enum dft_rule rule, struct dft_place place, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(st, rule, place, fmt, ap);
	va_end(ap);
}

/* ---- once, with a count ---- */

void
dft_tally_first(struct dft_tally *t, struct dft_place place, struct slice text)
{
	const uint32_t n = text.n < sizeof t->text ? text.n : (uint32_t)sizeof t->text - 1;

	t->met.offset = place.offset;
	t->met.line = place.line;
	t->met.column = place.column;
	t->met.record = place.record;
	if (n > 0)
		memcpy(t->text, text.p, n);
	t->text[n] = '\0';
}

struct tally_words {
	enum dft_rule rule;
	const char *words; /* "...; N in all" */
};

static const struct tally_words tally_words[DFT_TALLIES] = {
	[DFT_LEADING_BLANKS] = { DFT_RULE_LEADING_BLANKS, "blanks before a record" },
	[DFT_BLANK_LINES] = { DFT_RULE_BLANK_LINE, "empty line" },
	[DFT_CR_LF] = { DFT_RULE_CR_LF, "line ends in CR LF" },
	[DFT_TRAILING_COMMAS] = { DFT_RULE_TRAILING_COMMA, "comma after a record" },
	[DFT_QUOTED_NUMBERS] = { DFT_RULE_QUOTED_NUMBER, "number in quotes" },
	[DFT_PHASE_FORMS] = { DFT_RULE_PHASE_FORM, "ph is a number or a small letter" },
	[DFT_LATER_PHASES] = { DFT_RULE_LATER_PHASE, "record is neither a complete nor a metadata event" },
	[DFT_NO_IDS] = { DFT_RULE_NO_ID, "record has no id" },
	[DFT_NO_ARGS] = { DFT_RULE_NO_ARGS, "event has no args" },
	[DFT_TYPE_FIELDS] = { DFT_RULE_EXTRA_FIELD, "record has a field that is not in the specification" },
	[DFT_EXTRA_FIELDS] = { DFT_RULE_EXTRA_FIELD, "record has a field that is not in the specification" },
	[DFT_SPARSE_METADATA] = { DFT_RULE_SPARSE_METADATA,
	                          "metadata event lacks fields that the specification's examples have" },
	[DFT_NAMES_AS_TEXT] = { DFT_RULE_NAME_AS_TEXT, "host or file name is a string, not a hash" },
	[DFT_HASHES_AS_TEXT] = { DFT_RULE_HASH_AS_TEXT, "hash is a hexadecimal string" },
	[DFT_TEXT_IDS] = { DFT_RULE_ID_AS_TEXT, "id is a string" },
	[DFT_IDS_REPEATED] = { DFT_RULE_ID_REPEATED, "id repeated within its process" },
	[DFT_HASHES_LATE] = { DFT_RULE_HASH_LATE, "name defined after its first use, and the input cannot be "
	                                          "read twice: the number is shown" },
};

void
dft_tallies_report(struct dft_state *st)
{
	const unsigned usual = dft_dialect_forms(st->dialect);
	struct quoted q;

	for (int i = 0; i < DFT_TALLIES; i++) {
		const struct dft_tally *const t = &st->tallies[i];
		const struct tally_words *const w = &tally_words[i];
		const struct dft_place place = { t->met.offset, t->met.line, t->met.column, t->met.record };
		if (t->met.count == 0 || (usual >> i & 1) != 0)
			continue;
		if (t->text[0] != '\0')
			dft_report_at(st, w->rule, place, "%s (%s); %" PRIu64 " in all", w->words,
			              quoted(&q, slice_str(t->text)), t->met.count);
		else
			dft_report_at(st, w->rule, place, "%s; %" PRIu64 " in all", w->words, t->met.count);
	}
}

void
dft_report_limit(struct dft_state *st, enum dft_limit which, const struct dft_record *rec)
{
	static const char *const words[DFT_LIMITS] = {
		[DFT_LIMIT_PROCESSES] = "more than 16384 processes: the others are shown as one",
		[DFT_LIMIT_HASHES] =
		    "more than 131072 hashes or 65536 names: the others are shown as numbers",
		[DFT_LIMIT_CLASSES] = "more than 4096 categories: the others are shown as one",
		[DFT_LIMIT_TITLES] =
		    "more than 32768 names of processes and threads: the others are not shown",
	};

	if (st->sh->limits_reported[which])
		return;
	st->sh->limits_reported[which] = true;
	dft_report(st, DFT_RULE_LIMIT, rec, NULL, "%s", words[which]);
}
