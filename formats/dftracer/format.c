/*
 * Registration, rules and reports, dialects, detection.
 *
 * A dialect is the version of the tracer that wrote a trace.  Records are read independently of it.  It is
 * shown to users and determines the forms that are too usual to report; traces that mix the records of two
 * versions are reported.
 */
#include <stdarg.h>

#include "dftracer/write/write.h"

const struct rule dft_rules[DFT_RULE_COUNT + 1] = {
#define RULE RULE_ROW
#include "dftracer/rules.def"
#undef RULE
	{ .id = NULL }
};

/* ---- dialect of a record ---- */

static const char *const dialect_names[] = { "d0", "d1", "d2", "d2a", "d2b", "d2c", "d3", "d4", "d5", NULL };

enum dialect { D0, D1, D2, D2A, D2B, D2C, D3, D4, D5, DIALECTS };

#define BIT(d) (1u << (d))
#define ALL (BIT(DIALECTS) - 1)

/* Returns the dialects that write a hash in this form. */
static unsigned dialects_of_hash(const struct dft_record *rec, const struct dft_arg *a)
{
	struct dft_hash h;

	if (a == NULL || !dft_hash_read(dft_token_text(rec, a->value), (enum json_kind)a->kind, &h) || h.none)
		return ALL;
	if (h.text)
		return BIT(D2C) | BIT(D4) | BIT(D5);
	return h.value <= UINT16_MAX ? BIT(D2A) | BIT(D2B) : BIT(D3);
}

/* Matches HH, FH, SH. */
static bool defines_hash(const struct dft_record *rec, const struct dft_facts *f)
{
	const struct slice name = dft_top_text(rec, DFT_NAME);

	return f->phase == DFT_PHASE_METADATA && dft_top_kind(rec, DFT_NAME) == JSON_STRING && name.n == 2 &&
	       name.p[1] == 'H';
}

/* Returns the dialects that are in both sets; `d` if there are none. */
static unsigned narrow(unsigned d, unsigned by)
{
	return (d & by) != 0 ? d & by : d;
}

/* Returns the dialects in which this record is possible; never 0. */
static unsigned dialects_of_record(const struct dft_record *rec, const struct dft_facts *f)
{
	const bool text = json_is_string(dft_top_kind(rec, DFT_PID)) &&
	                  *dft_top_text(rec, DFT_PID).p >= '0' && *dft_top_text(rec, DFT_PID).p <= '9';
	const bool letter = json_is_string(dft_top_kind(rec, DFT_PH));
	unsigned d = text ? BIT(D1) : ALL & ~BIT(D1);

	if (dft_top_kind(rec, DFT_TYPE) != JSON_ABSENT || dft_top_kind(rec, DFT_PH) == JSON_UINT)
		d &= BIT(D5);
	else if (f->phase == DFT_PHASE_COMPLETE && letter)
		d &= ~BIT(D5);
	if (f->phase == DFT_PHASE_COMPLETE && dft_top_kind(rec, DFT_ID) == JSON_ABSENT)
		d &= BIT(D0) | BIT(D1) | BIT(D4) | BIT(D5);
	if (f->phase == DFT_PHASE_COMPLETE && rec->special[DFT_ROLE_HOSTNAME] != 0)
		d &= BIT(D0) | BIT(D1) | BIT(D2);
	if (f->phase == DFT_PHASE_COUNTER || f->phase == DFT_PHASE_AGGREGATE)
		d &= BIT(D4) | BIT(D5);
	if (f->phase == DFT_PHASE_METADATA && letter && rec->p[rec->top[DFT_PH].at] == 'H')
		d &= BIT(D2B);
	d = narrow(d, dialects_of_hash(rec, dft_arg_of(rec, DFT_ROLE_HHASH)));
	d = narrow(d, dialects_of_hash(rec, dft_arg_of(rec, DFT_ROLE_FHASH)));
	if (defines_hash(rec, f))
		d = narrow(d, dialects_of_hash(rec, dft_arg_of(rec, DFT_ROLE_VALUE)));
	return d != 0 ? d : ALL;
}

/* Returns the dialects by the version of the tracer in `start`: a number up to 1.0.8, text later.  Nothing
 * else distinguishes some dialects. */
static unsigned dialects_of_version(const struct dft_record *rec)
{
	const struct dft_arg *const a = dft_arg_of(rec, DFT_ROLE_VERSION);

	if (a == NULL || !dft_top_is(rec, DFT_NAME, "start"))
		return ALL;
	return json_is_string((enum json_kind)a->kind) ? BIT(D4) | BIT(D5)
	       : a->kind == JSON_UINT                  ? ALL & ~(BIT(D4) | BIT(D5))
	                                               : ALL;
}

/* Returns the one of several possible dialects (at least one) that was in use longest. */
static const char *most_likely_dialect(unsigned d)
{
	static const enum dialect order[] = { D3, D4, D2A, D2, D1, D0, D2C, D5, D2B };

	const enum dialect *at = order;

	while ((d & BIT(*at)) == 0)
		at++;
	return dialect_names[*at];
}

/* Returns the tallies (bits of enum dft_tallied) that are usual in the dialect, so not reported. */
static unsigned usual_forms(const char *dialect)
{
	static const unsigned forms[DIALECTS + 1] = {
		[D0] = BIT(DFT_NO_IDS) | BIT(DFT_NAMES_AS_TEXT),
		[D1] = BIT(DFT_LEADING_BLANKS) | BIT(DFT_QUOTED_NUMBERS) | BIT(DFT_NO_IDS) |
		       BIT(DFT_NAMES_AS_TEXT),
		[D2] = BIT(DFT_SPARSE_METADATA) | BIT(DFT_NAMES_AS_TEXT),
		[D2B] = BIT(DFT_LATER_PHASES),
		[D2C] = BIT(DFT_HASHES_AS_TEXT),
		[D4] = BIT(DFT_LATER_PHASES) | BIT(DFT_NO_IDS) | BIT(DFT_HASHES_AS_TEXT),
		[D5] = BIT(DFT_PHASE_FORMS) | BIT(DFT_LATER_PHASES) | BIT(DFT_NO_IDS) | BIT(DFT_TYPE_FIELDS) |
		       BIT(DFT_HASHES_AS_TEXT),
	};

	return forms[option_word(dialect_names, dialect)];
}

void dft_dialect_check(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	if (st->mixed_reported || f->phase == DFT_PHASE_NONE || f->phase >= DFT_PHASE_BEGIN)
		return;
	/* records that define a hash are few */
	const uint64_t s = defines_hash(rec, f) ? 0 : dft_signature(rec, f->phase);
	if (s != 0 && s == st->last_signature)
		return;
	const unsigned d = dialects_of_record(rec, f), expected = option_word(dialect_names, st->dialect);
	if (expected == DIALECTS || (d & BIT(expected)) != 0) {
		st->last_signature = s;
		return;
	}
	st->mixed_reported = true;
	dft_report(st, DFT_RULE_MIXED_DIALECTS, dft_record_position(rec),
	           "record of dialect %s in a trace that begins as %s", most_likely_dialect(d), st->dialect);
}

/* ---- reports ---- */

#define MAX_MESSAGE 900 /* bytes */

void dft_report(struct dft_state *st, enum dft_rule rule, struct finding_place at, const char *fmt, ...)
{
	char text[MAX_MESSAGE] = "";
	va_list ap;

	st->findings++;
	va_start(ap, fmt);
	if (dft_shown(st, rule))
		vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	finding_add_line(st->r->findings, &dft_rules[rule], at, "%s", text);
}

void dft_tally_first(struct dft_tally *t, struct finding_place position, struct slice text)
{
	const uint32_t n = text.n < sizeof t->text ? text.n : (uint32_t)sizeof t->text - 1;

	t->of.at = position;
	if (n > 0)
		memcpy(t->text, text.p, n);
	t->text[n] = '\0';
}

static const struct {
	enum dft_rule rule;
	const char *text;
} tally_messages[DFT_TALLIES] = {
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

void dft_tallies_report(struct dft_state *st)
{
	const unsigned usual = usual_forms(st->dialect);
	struct quoted q;

	for (int i = 0; i < DFT_TALLIES; i++) {
		const struct dft_tally *const t = &st->tallies[i];
		const enum dft_rule rule = tally_messages[i].rule;
		const bool has_text = t->text[0] != '\0';
		if (t->of.count == 0 || (usual >> i & 1) != 0)
			continue;
		st->findings++;
		finding_add_tally(st->r->findings, &dft_rules[rule], &t->of, "%s%s%s%s",
		                  tally_messages[i].text, has_text ? " (" : "",
		                  has_text ? quoted(&q, slice_str(t->text)) : "", has_text ? ")" : "");
	}
}

void dft_report_limit(struct dft_state *st, enum dft_limit which, const struct dft_record *rec)
{
	static const char *const messages[DFT_LIMITS] = {
		[DFT_LIMIT_PROCESSES] = "more than 16384 processes: the others are shown as one",
		[DFT_LIMIT_HASHES] =
		    "more than 131072 hashes or 65536 names: the others are shown as numbers",
		[DFT_LIMIT_CLASSES] = "more than 4096 categories: the others are shown as one",
		[DFT_LIMIT_TITLES] =
		    "more than 32768 names of processes and threads: the others are not shown",
		[DFT_LIMIT_TITLE] = "a name of a process or thread has more than 255 bytes: it is cut",
		[DFT_LIMIT_META] =
		    "more than 64 facts of the trace, or 64 KiB of them: the others are left out",
	};

	if (st->sh->limits_reported[which])
		return;
	st->sh->limits_reported[which] = true;
	dft_report(st, DFT_RULE_LIMIT, dft_record_position(rec), "%s", messages[which]);
}

/* ---- dialect and format of the first lines ---- */

/* Returns the phase without reporting; small letters, and phases of Chrome's format, are none. */
static enum dft_phase quiet_phase(const struct dft_record *rec)
{
	const char c = dft_phase_char(rec);
	const enum dft_phase phase = dft_phase_of(c);

	return phase >= DFT_PHASE_BEGIN || (c >= 'a' && c <= 'z') ? DFT_PHASE_NONE : phase;
}

/* Counts of the first lines. */
struct survey {
	struct dft_record rec;
	struct dft_keys keys;
	unsigned dialects;
	unsigned records;  /* complete, with a name and a ph */
	unsigned numbered; /* records with an id, which Chrome's format has only in other phases */
	unsigned tracer;   /* records with members of this tracer only */
	unsigned own;      /* records without use in Chrome's format, see is_own() */
	unsigned sorted;   /* records with a cat */
	unsigned foreign;  /* records with phases of Chrome's format or fractions in times */
	unsigned commas;   /* after records */
	bool wrapped;      /* the records are in an object */
	bool no_memory;
};

/* Matches records with phases that this tracer never writes. */
static bool has_foreign_phase(const struct dft_record *rec)
{
	const char c = dft_phase_char(rec);

	return dft_top_kind(rec, DFT_PH) == JSON_STRING && c != '\0' &&
	       strchr("BEIPOFSTNDRVbcefinpstv", c) != NULL;
}

/* Matches records that only this tracer writes, although they have none of its members: its names of
 * metadata, metadata with an id, and counters of objects, which are sums of many events. */
static bool is_own(const struct dft_record *rec, enum dft_phase phase)
{
	static const char *const names[] = { "HH",          "FH", "SH", "EH", "PR", "CM", "trace_metadata",
		                             "root_process" };

	if (phase == DFT_PHASE_COUNTER)
		return rec->nargs > 0 && rec->args[0].kind == JSON_OBJECT;
	if (phase != DFT_PHASE_METADATA || dft_top_kind(rec, DFT_NAME) != JSON_STRING)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (dft_top_is(rec, DFT_NAME, names[i]))
			return true;
	return dft_top_kind(rec, DFT_ID) != JSON_ABSENT;
}

static void survey_record(struct survey *x)
{
	struct dft_record *const rec = &x->rec;
	const struct dft_facts f = { .phase = quiet_phase(rec) };

	x->foreign += dft_top_kind(rec, DFT_TS) == JSON_NUMBER || dft_top_kind(rec, DFT_DUR) == JSON_NUMBER ||
	              has_foreign_phase(rec);
	if (f.phase == DFT_PHASE_NONE || dft_top_kind(rec, DFT_NAME) == JSON_ABSENT)
		return;
	x->dialects = narrow(x->dialects, dialects_of_record(rec, &f) & dialects_of_version(rec));
	x->records++;
	x->sorted += dft_top_kind(rec, DFT_CAT) != JSON_ABSENT;
	x->numbered += (dft_top_kind(rec, DFT_ID) != JSON_ABSENT && !has_foreign_phase(rec)) ||
	               dft_top_kind(rec, DFT_PH) == JSON_UINT;
	x->own += is_own(rec, f.phase);
	x->tracer += rec->special[DFT_ROLE_HHASH] != 0 || rec->special[DFT_ROLE_HOSTNAME] != 0 ||
	             dft_top_kind(rec, DFT_TYPE) != JSON_ABSENT || dft_top_is(rec, DFT_CAT, "dftracer");
}

static void survey_line(struct survey *x, const char *p, const char *e)
{
	while (p < e && (p = memchr(p, '{', (size_t)(e - p))) != NULL) {
		const char *const inside = x->records == 0 ? dft_wrapper_end(p, e) : NULL;
		if (inside != NULL) {
			p = inside;
			x->wrapped = true;
			continue;
		}
		if (!dft_parse(&x->rec, &x->keys, p, e)) {
			x->no_memory |= x->rec.no_memory;
			return;
		}
		survey_record(x);
		p = json_skip_blanks(x->rec.end, e);
		x->commas += p < e && *p == ',';
	}
}

#define SURVEY_LINES 200

/* Counts whole lines, the last line of the trace, and the start of a line with many records. */
static bool survey_head(struct survey *x, struct slice head, bool complete)
{
	const char *p = head.p, *const end = head.p + head.n;

	*x = (struct survey){ .dialects = ALL };
	const bool ok = dft_record_init(&x->rec) && dft_keys_init(&x->keys);
	for (int i = 0; ok && i < SURVEY_LINES && p < end; i++) {
		const char *const nl = memchr(p, '\n', (size_t)(end - p));
		if (nl != NULL || complete || x->records == 0)
			survey_line(x, p, nl != NULL ? nl : end);
		p = nl != NULL ? nl + 1 : end;
	}
	x->no_memory |= x->keys.text.failed;
	dft_record_free(&x->rec);
	dft_keys_free(&x->keys);
	return ok && !x->no_memory;
}

const char *dft_dialect_of(struct slice head, bool complete)
{
	struct survey x;

	if (!survey_head(&x, head, complete))
		return NULL;
	return most_likely_dialect(x.records > 0 ? x.dialects : BIT(D3));
}

/* Returns a score for the first bytes after blanks and brackets: 0: they start no record. */
static int score_start(struct slice head)
{
	const char *p = head.p, *const end = head.p + head.n;

	p += utf8_has_mark(p, head.n) ? 3 : 0;
	while (p < end &&
	       (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n' || *p == '[' || *p == ']' || *p == '\0'))
		p++;
	/* a list in JSON of another program has its bracket here, where no record with a phase was found */
	if (p > head.p && p[-1] == '[')
		return 0;
	/* tracers begin with these two; Chrome's format has no id in most records, which also begin with a
	 * name */
	return !dft_begins_record(p, end) || p[1] != '"' ? 0 : p[2] == 'i' ? 30 : p[2] == 'n' ? 24 : 0;
}

/* Matches an input of one bracket, or of two, a line each: a process that traced nothing.  Two on one line
 * are Chrome's. */
static bool is_empty_trace(struct slice head)
{
	bool open = false, line = false;

	for (uint32_t i = 0; i < head.n; i++) {
		const char c = head.p[i];
		if ((c == ']' && open && !line) ||
		    (c != '[' && c != ']' && c != '\n' && c != '\r' && c != ' '))
			return false;
		open |= c == '[';
		line = c == '\n' || (line && c != '[');
	}
	return open;
}

int dft_probe(struct slice head, bool complete)
{
	struct survey x;

	if (memchr(head.p, '{', head.n) == NULL)
		return complete && is_empty_trace(head) ? 8 : 0;
	if (!survey_head(&x, head, complete))
		return PROBE_NO_MEMORY;
	/* a JSON document is Chrome's format, unless only this tracer writes such records */
	if (x.wrapped || x.commas > 0)
		return x.numbered > 0 && x.tracer > 0 && x.foreign == 0 ? 64 : 0;
	if (x.tracer > 0 || (x.numbered > 0 && x.sorted > 0) || (x.own > 0 && x.foreign == 0))
		return 64;
	if (x.records > 0)
		return 16; /* many writers do so; records of this one have an id, or the host */
	return score_start(head);
}

/* ---- registration ---- */

static const char *const suffixes[] = { ".pfw", NULL };

static const struct format_option options[] = {
	{ .name = "keep-hashes", .help = "show DFTracer hashes as well as names" },
	{ .name = DFW_DIALECT_OPTION,
	  .arg = "NAME",
	  .help = "output dialect: dial9 0.3.2, 0.3.6, 0.4; dftracer d1, d3, d5 (default: the last)",
	  .words = dfw_dialect_names,
	  .of_output = true },
	{ .name = NULL },
};

const struct format dftracer_format = {
	.name = "dftracer",
	.title = "DFTracer trace",
	.spec = "DFTracer Format",
	.suffixes = suffixes,
	.recounted = (const char *const[]){ "ts", NULL },
	.dialects = dialect_names,
	.options = options,
	.reader = &dft_reader_ops,
	.trace = &dft_trace_ops,
	.recover = &dft_recover_ops,
	.writer = &dfw_ops,
	.copier = &dfw_copier_ops,
	.rules = dft_rules,
	.losses = dfw_losses,
	.features = HAS_FIELDS | HAS_INSTANTS | HAS_COUNTERS | HAS_LISTS | HAS_NAN | HAS_NOT_UTF8 | HAS_NUL |
	            HAS_FACTS | HAS_EPOCH | HAS_HOSTS | HAS_NUMBERS,
};
