#include "dftracer/dialect.h"

#include "dftracer/facts.h"
#include "dftracer/parse.h"
#include "dftracer/report.h"

/*
 * Which version of the tracer wrote a trace.  Nothing is read otherwise for
 * it: every record is read as it is.  It is for people to know, and files that
 * hold records of two versions are reported.
 */

const char *const dft_dialects[] = { "d0", "d1", "d2", "d2a", "d2b", "d2c", "d3", "d4", "d5", NULL };

enum dialect { D0, D1, D2, D2A, D2B, D2C, D3, D4, D5, DIALECTS };

#define BIT(d) (1u << (d))
#define ALL (BIT(DIALECTS) - 1)

/* Dialects that write a hash in this form; ALL: any. */
static unsigned
by_hash(const struct dft_record *rec, const struct dft_arg *a)
{
	struct dft_hash h;

	if (a == NULL || !dft_hash_read(rec, a->value, (enum json_kind)a->kind, &h) || h.none)
		return ALL;
	if (h.text)
		return BIT(D2C) | BIT(D4) | BIT(D5);
	return h.value <= UINT16_MAX ? BIT(D2A) | BIT(D2B) : BIT(D3);
}

/* HH, FH, SH. */
static bool
defines_hash(const struct dft_record *rec, const struct dft_facts *f)
{
	const struct slice name = dft_top_text(rec, DFT_NAME);

	return f->phase == DFT_PHASE_METADATA && dft_top_kind(rec, DFT_NAME) == JSON_STRING && name.n == 2 &&
	       name.p[1] == 'H';
}

/* Dialects in which this record may stand; never 0. */
static unsigned
possible(const struct dft_record *rec, const struct dft_facts *f)
{
	const bool text = json_is_string(dft_top_kind(rec, DFT_PID)) &&
	                  *dft_top_text(rec, DFT_PID).p >= '0' && *dft_top_text(rec, DFT_PID).p <= '9';
	const bool letter = json_is_string(dft_top_kind(rec, DFT_PH));
	unsigned d = ALL, more;

	d &= text ? BIT(D1) : ~BIT(D1);
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
	more = d & by_hash(rec, dft_arg_of(rec, DFT_ROLE_HHASH));
	d = more != 0 ? more : d;
	more = d & by_hash(rec, dft_arg_of(rec, DFT_ROLE_FHASH));
	d = more != 0 ? more : d;
	more = d & (defines_hash(rec, f) ? by_hash(rec, dft_arg_of(rec, DFT_ROLE_VALUE)) : ALL);
	d = more != 0 ? more : d;
	return d != 0 ? d : ALL;
}

/* One thing that decides between two that look alike: the tracer's version is a number up to 1.0.8, and text
 * later. */
static unsigned
by_version(const struct dft_record *rec)
{
	const struct dft_arg *const a = dft_arg_of(rec, DFT_ROLE_VERSION);

	if (a == NULL || dft_top_kind(rec, DFT_NAME) != JSON_STRING ||
	    !slice_is(dft_top_text(rec, DFT_NAME), "start"))
		return ALL;
	return json_is_string((enum json_kind)a->kind) ? BIT(D4) | BIT(D5)
	       : a->kind == JSON_UINT                  ? ALL & ~(BIT(D4) | BIT(D5))
	                                               : ALL;
}

/* Where all that was seen fits several: the one that was in use longest. */
static const char *
most_likely(unsigned d)
{
	static const enum dialect order[] = { D3, D4, D2A, D2, D1, D0, D2C, D5, D2B };

	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
		if ((d & BIT(order[i])) != 0)
			return dft_dialects[order[i]];
	return dft_dialects[D3];
}

/* The phase, without findings. */
static enum dft_phase
quiet_phase(const struct dft_record *rec)
{
	const bool one = dft_top_kind(rec, DFT_PH) != JSON_ABSENT && rec->top[DFT_PH].n == 1;

	switch (one ? rec->p[rec->top[DFT_PH].at] : '\0') {
	case 'X':
	case '1':
		return DFT_PHASE_COMPLETE;
	case 'M':
	case 'H':
	case '4':
		return DFT_PHASE_METADATA;
	case 'C':
	case '2':
		return DFT_PHASE_COUNTER;
	case 'A':
	case '3':
		return DFT_PHASE_AGGREGATE;
	default:
		return DFT_PHASE_NONE;
	}
}

/* ---- the first lines ---- */

struct look {
	struct dft_record rec;
	struct dft_keys keys;
	unsigned dialects;
	unsigned records;  /* complete ones with a name and a ph */
	unsigned numbered; /* those with an id, which Chrome's format has in other phases only */
	unsigned tracer;   /* those that say they are of this tracer */
	unsigned foreign;  /* of phases of Chrome's format, or with times that have a fraction */
	unsigned commas;   /* behind records */
	bool wrapped;      /* they are in an object */
	bool no_memory;
};

/* Nothing that this tracer writes. */
static bool
is_foreign(const struct dft_record *rec)
{
	const struct dft_token ph = rec->top[DFT_PH];

	return dft_top_kind(rec, DFT_TS) == JSON_NUMBER || dft_top_kind(rec, DFT_DUR) == JSON_NUMBER ||
	       (dft_top_kind(rec, DFT_PH) == JSON_STRING && ph.n == 1 &&
	        strchr("BEIPOFSTNDRVbcefinpstv", rec->p[ph.at]) != NULL);
}

static void
look_at_record(struct look *x)
{
	struct dft_record *const rec = &x->rec;
	const struct dft_facts f = { .phase = quiet_phase(rec) };

	x->foreign += is_foreign(rec);
	if (f.phase == DFT_PHASE_NONE || dft_top_kind(rec, DFT_NAME) == JSON_ABSENT)
		return;
	const unsigned d = x->dialects & possible(rec, &f) & by_version(rec);
	x->dialects = d != 0 ? d : x->dialects;
	x->records++;
	x->numbered += dft_top_kind(rec, DFT_ID) != JSON_ABSENT || dft_top_kind(rec, DFT_PH) == JSON_UINT;
	x->tracer +=
	    rec->special[DFT_ROLE_HHASH] != 0 || rec->special[DFT_ROLE_HOSTNAME] != 0 ||
	    dft_top_kind(rec, DFT_TYPE) != JSON_ABSENT ||
	    (dft_top_kind(rec, DFT_CAT) == JSON_STRING && slice_is(dft_top_text(rec, DFT_CAT), "dftracer"));
}

static void
look_at_line(struct look *x, const char *p, const char *e)
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
		look_at_record(x);
		p = json_skip_blanks(x->rec.end, e);
		x->commas += p < e && *p == ',';
	}
}

#define LINES 200 /* that are looked at */

/* Whole lines, a last one that is the end of the trace, and the beginning of one that holds many records.
 * false: no memory. */
static bool
look(struct look *x, struct slice head, bool complete)
{
	const char *p = head.p, *const end = head.p + head.n;

	*x = (struct look){ .dialects = ALL };
	const bool ok = dft_record_init(&x->rec) && dft_keys_init(&x->keys);
	for (int i = 0; ok && i < LINES && p < end; i++) {
		const char *const nl = memchr(p, '\n', (size_t)(end - p));
		if (nl != NULL || complete || x->records == 0)
			look_at_line(x, p, nl != NULL ? nl : end);
		p = nl != NULL ? nl + 1 : end;
	}
	x->no_memory |= x->keys.text.failed;
	dft_record_free(&x->rec);
	dft_keys_free(&x->keys);
	return ok && !x->no_memory;
}

const char *
dft_dialect_of(struct slice head, bool complete)
{
	struct look x;

	if (!look(&x, head, complete))
		return NULL;
	return most_likely(x.records > 0 ? x.dialects : BIT(D3));
}

/* ---- probing ---- */

/* The first thing that is neither blank nor bracket begins an object with one of the names that begin
 * records. */
static bool
begins_like_one(struct slice head)
{
	const char *p = head.p, *const end = head.p + head.n;

	if (head.n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	while (p < end &&
	       (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n' || *p == '[' || *p == ']' || *p == '\0'))
		p++;
	return dft_begins_record(p, end);
}

/* Nothing but a bracket or two: a process that traced nothing. */
static bool
is_empty_trace(struct slice head)
{
	bool open = false;

	for (uint32_t i = 0; i < head.n; i++) {
		if (head.p[i] == '[' || head.p[i] == ']')
			open |= head.p[i] == '[';
		else if (head.p[i] != '\n' && head.p[i] != '\r' && head.p[i] != ' ')
			return false;
	}
	return open;
}

int
dft_probe(struct slice head, bool complete)
{
	struct look x;

	if (memchr(head.p, '{', head.n) == NULL)
		return complete && is_empty_trace(head) ? 8 : 0;
	if (!look(&x, head, complete))
		return PROBE_NO_MEMORY;
	/* as a JSON document it is Chrome's format, unless only this tracer writes such records */
	if (x.wrapped || x.commas > 0)
		return x.numbered > 0 && x.tracer > 0 && x.foreign == 0 ? 64 : 0;
	if (x.tracer > 0 || x.numbered > 0)
		return 64;
	if (x.records > 0)
		return 32;
	return begins_like_one(head) ? 24 : 0;
}

/* ---- while reading ---- */

static unsigned
bit_of(const char *dialect)
{
	for (unsigned i = 0; i < DIALECTS; i++)
		if (strcmp(dft_dialects[i], dialect) == 0)
			return BIT(i);
	return ALL;
}

unsigned
dft_dialect_forms(const char *dialect)
{
	static const unsigned forms[DIALECTS] = {
		[D0] = BIT(DFT_NO_IDS) | BIT(DFT_NAMES_AS_TEXT),
		[D1] = BIT(DFT_LEADING_BLANKS) | BIT(DFT_QUOTED_NUMBERS) | BIT(DFT_NO_IDS) |
		       BIT(DFT_NAMES_AS_TEXT),
		[D2] = BIT(DFT_SPARSE_METADATA) | BIT(DFT_NAMES_AS_TEXT),
		[D2B] = BIT(DFT_LATER_PHASES),
		[D2C] = BIT(DFT_HASHES_AS_TEXT),
		[D4] = BIT(DFT_LATER_PHASES) | BIT(DFT_NO_IDS) | BIT(DFT_HASHES_AS_TEXT),
		[D5] = BIT(DFT_PHASE_FORMS) | BIT(DFT_LATER_PHASES) | BIT(DFT_NO_IDS) |
		       BIT(DFT_TYPE_FIELDS) | BIT(DFT_HASHES_AS_TEXT),
	};

	for (unsigned i = 0; i < DIALECTS; i++)
		if (strcmp(dft_dialects[i], dialect) == 0)
			return forms[i];
	return 0;
}

void
dft_dialect_check(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
{
	if (st->mixed_reported || f->phase == DFT_PHASE_NONE || f->phase >= DFT_PHASE_BEGIN)
		return;
	/* records that define a hash are few */
	const uint64_t s = defines_hash(rec, f) ? 0 : dft_signature(rec, f->phase);
	if (s != 0 && s == st->usual_signature)
		return;
	const unsigned d = possible(rec, f);
	if ((d & bit_of(st->dialect)) != 0) {
		st->usual_signature = s;
		return;
	}
	st->mixed_reported = true;
	dft_report(st, DFT_RULE_MIXED_DIALECTS, rec, NULL,
	           "record of dialect %s in a trace that begins as %s", most_likely(d), st->dialect);
}
