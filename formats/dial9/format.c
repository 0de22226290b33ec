/*
 * Registration, findings, dialects, detection.
 *
 * The document of 0.3.2 or 0.3.6, or the output of crate 0.4, defines a dialect; all have the same version
 * byte.  The dialect does not change how frames are read.  A trace has the first dialect with all its
 * features.
 */
#include <stdarg.h>

#include "dial9/write/write.h"

/* ---- findings ---- */

const struct rule d9_rules[D9_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "dial9/rules.def"
#undef RULE
	{ .id = NULL }
};

void d9_find(struct d9_state *st, enum d9_rule rule, const struct record *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &d9_rules[rule], f->offset, f->ordinal, fmt, ap);
	va_end(ap);
}

void d9_find_at(struct d9_state *st, enum d9_rule rule, const struct record *f, const char *at,
                const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	finding_add_v(st->r->findings, &d9_rules[rule], input_offset(st->r->in, at), f->ordinal, fmt, ap);
	va_end(ap);
}

bool d9_find_unshown(struct d9_state *st, enum d9_rule rule, const struct record *f)
{
	if (finding_is_shown(st->r->findings, &d9_rules[rule]))
		return false;
	finding_add(st->r->findings, &d9_rules[rule], f->offset, f->ordinal, "not shown");
	return true;
}

void d9_check_text(struct d9_state *st, const struct record *f, struct slice s, const char *what,
                   struct slice whose)
{
	struct quoted q, q2;

	if ((s.flags & SLICE_UTF8) != 0 || d9_find_unshown(st, D9_RULE_INVALID_UTF8, f))
		return;
	if (whose.p != NULL)
		d9_find_at(st, D9_RULE_INVALID_UTF8, f, s.p, "%s of %s is %s", what, quoted(&q, whose),
		           quoted(&q2, s));
	else
		d9_find_at(st, D9_RULE_INVALID_UTF8, f, s.p, "%s is %s", what, quoted(&q2, s));
}

static void report_tally(struct d9_state *st, enum d9_rule rule, const struct finding_tally *t,
                         const char *before, const char *after)
{
	finding_add_times(st->r->findings, &d9_rules[rule], t->offset, t->record, t->count,
	                  "%s %" PRIu64 "%s", before, t->now, after);
}

void d9_report_tallies(struct d9_state *st)
{
	const struct d9_tallies *const t = &st->tallies;
	const uint64_t dropped = st->ahead != NULL ? st->ahead->dropped : 0;

	report_tally(st, D9_RULE_BOOL_VALUE, &t->bools, "a Bool is", "");
	report_tally(st, D9_RULE_LATE_DEFINITION, &t->late, "id", " is defined here, after its first use");
	report_tally(st, D9_RULE_POOL_REDEFINED, &t->redefined, "id", " is defined again with other content");
	report_tally(st, D9_RULE_POOL_LIMIT, &t->pool_limit, "id", ": its content is above the limit");
	report_tally(st, D9_RULE_POOL_LIMIT, &t->names_limit, "the",
	             " frames of a stack are shown as addresses");
	if (dropped > 0)
		finding_add(st->r->findings, &d9_rules[D9_RULE_POOL_LIMIT], st->last_offset, 0,
		            "%" PRIu64 " symbols and late definitions are not retained", dropped);
	report_tally(st, D9_RULE_METADATA_LIMIT, &t->metadata, "metadata of", " bytes is not retained");
	report_tally(st, D9_RULE_TRACK_LIMIT, &t->tracks, "track", " is not distinguished");
	report_tally(st, D9_RULE_TRACK_LIMIT, &t->deep_tracks, "track",
	             " is shown higher than it lies, below so many others");
	if (st->symbols_seen)
		report_tally(st, D9_RULE_NAMES_LATE, &t->symbols_late, "the",
		             " frames of a stack are shown as addresses");
	report_tally(st, D9_RULE_NAMES_LATE, &t->unresolved, "id", " is shown as a number");
}

/* ---- dialects ---- */

const char *const d9_dialects[] = {
	[D9_0_3_2] = "0.3.2", [D9_0_3_6] = "0.3.6", [D9_0_4] = "0.4", [D9_DIALECTS] = "0.3", NULL
};

enum d9_dialect d9_dialect_of(const char *name)
{
	const unsigned i = name != NULL ? option_word(d9_dialects, name) : D9_0_4;

	return i < D9_DIALECTS ? (enum d9_dialect)i : D9_0_3_2;
}

static void look_for_dialect(struct d9_state *st)
{
	struct trace *const trace = st->r->trace;
	enum d9_dialect found = D9_0_3_2;

	st->dialect = &found;
	const enum look_ahead done = reader_look_ahead(st->r);
	st->dialect = NULL;
	st->r->no_memory |= done == LOOK_AHEAD_FAILED;
	trace->dialect_known = done == LOOK_AHEAD_DONE;
	trace->dialect = d9_dialects[found];
}

void d9_begin_dialect(struct d9_state *st)
{
	const char *const asked = st->r->dialect;
	struct trace *const trace = st->r->trace;

	st->asked_dialect = (uint8_t)d9_dialect_of(asked);
	if (asked != NULL)
		trace->dialect = d9_dialects[st->asked_dialect];
	else if (trace->dialect[0] == '\0') /* another input of the same trace may be newer */
		trace->dialect = d9_dialects[D9_0_3_2];
	trace->dialect_known = asked != NULL && reader_is_alone(st->r);
	if (st->r->ahead_of == NULL && asked == NULL && (st->r->want & WANT_DIALECT) != 0 &&
	    reader_is_alone(st->r))
		look_for_dialect(st);
}

void d9_note_newer(struct d9_state *st, const struct record *f, const char *at, const char *what,
                   enum d9_dialect since)
{
	struct trace *const trace = st->r->trace;

	if (st->dialect != NULL && since > *st->dialect)
		*st->dialect = since;
	if (since > st->asked_dialect)
		d9_find_at(st, D9_RULE_NOT_IN_DOCUMENT, f, at, "%s is not in the document of %s", what,
		           d9_dialects[st->asked_dialect]);
	else if (st->r->dialect == NULL && d9_dialect_of(trace->dialect) < since) {
		trace_change(trace);
		trace->dialect = d9_dialects[since];
	}
}

/* ---- the format ---- */

int d9_probe(struct slice head, bool complete)
{
	if (head.n >= D9_OLDER_MAGIC_SIZE && memcmp(head.p, D9_OLDER_MAGIC, D9_OLDER_MAGIC_SIZE) == 0)
		return 64; /* to report it */
	if (head.n < D9_MAGIC_SIZE || memcmp(head.p, D9_MAGIC, D9_MAGIC_SIZE) != 0)
		return 0;
	return head.n >= D9_HEADER_SIZE && head.p[4] == D9_VERSION ? 40 : 32;
}

static const char *const suffixes[] = { ".bin", NULL };

static const struct format_option options[] = {
	{ .name = "to-dialect",
	  .arg = "NAME",
	  .help = "the dialect of the output: d1, d3 or d5; 0.3.2, 0.3.6 or 0.4 (default: the last)",
	  .words = d9_dialects,
	  .of_output = true },
	{ .name = NULL },
};

const struct format dial9_format = {
	.name = "dial9",
	.title = "dial9 trace",
	.spec = "dial9-trace-format binary specification, version 1",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ "timestamp_delta_ns", NULL },
	.dialects = d9_dialects,
	.options = options,
	.reader = &d9_reader_ops,
	.writer = &d9w_ops,
	.copier = &d9w_copier_ops,
	.recover = &d9_recover_ops,
	.rules = d9_rules,
	.losses = d9w_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_ARROWS | HAS_ASYNC | HAS_ENDS |
	            HAS_STACKS | HAS_LISTS | HAS_NAN | HAS_PARTS | HAS_NOT_UTF8 | HAS_NUL | HAS_FACTS |
	            HAS_EPOCH | HAS_NUMBERS,
};
