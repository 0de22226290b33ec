#include "dftracer/dftracer.h"

/* ---- numbers ---- */

/* The numbers of a record: ids, times, and whose it is. */

static bool dft_is_quoted_number(const struct dft_record *rec, enum dft_top which)
{
	const struct slice s = dft_top_text(rec, which);
	uint32_t i = s.n > 1 && *s.p == '-';

	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return s.n > 0 && i == s.n;
}

static void report_range(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                         const char *why)
{
	struct quoted q;

	dft_report(st, DFT_RULE_NUMBER_RANGE, rec, rec->p + rec->top[which].at, "%s %s %s",
	           dft_top_names[which], quoted(&q, dft_top_text(rec, which)), why);
}

/* ---- whole numbers ---- */

static void dft_report_type(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                            const char *wanted);

static bool odd_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                       bool may_be_negative, uint64_t *v)
{
	const enum json_kind kind = dft_top_kind(rec, which);
	struct dft_token t = rec->top[which];

	if (json_is_string(kind) && !dft_is_quoted_number(rec, which)) {
		dft_report_type(st, rec, which, "an integer");
		return false;
	}
	if (kind != JSON_UINT && kind != JSON_INT && !json_is_string(kind))
		return false;
	const bool minus = rec->p[t.at] == '-';
	if (minus)
		t = (struct dft_token){ t.at + 1, t.n - 1 };
	if (!dft_digits(rec, t, v) || (minus && *v > (uint64_t)1 << 63)) {
		report_range(st, rec, which, "does not fit 64 bits");
		return false;
	}
	if (minus && !may_be_negative && *v > 0) {
		report_range(st, rec, which, "must not be negative");
		return false;
	}
	if (minus)
		*v = -*v;
	return true;
}

static __attribute__((noinline)) bool long_number(struct dft_state *st, const struct dft_record *rec,
                                                  enum dft_top which, bool may_be_negative, uint64_t *v)
{
	if (dft_top_kind(rec, which) == JSON_UINT && rec->top[which].n < 20)
		return dft_digits(rec, rec->top[which], v);
	return odd_number(st, rec, which, may_be_negative, v);
}

/* A whole number, quoted or not; false: it is none, or too large (which is reported). */
static inline bool whole_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                                bool may_be_negative, uint64_t *v)
{
	const struct dft_token t = rec->top[which];

	if (dft_top_kind(rec, which) != JSON_UINT || !json_few_digits(t.at, t.n))
		return long_number(st, rec, which, may_be_negative, v);
	*v = json_last_digits(rec->p + t.at + t.n, t.n);
	return true;
}

/* Up to nine digits of a fraction, in units of 10^-9. */
static uint32_t fraction(const char *p, uint32_t n)
{
	uint32_t v = 0;

	for (uint32_t i = 0; i < 9; i++)
		v = v * 10 + (i < n ? (uint32_t)(p[i] - '0') : 0);
	return v;
}

/* Times with a fraction, which no tracer writes but other tools do, count to the nanosecond. */
static bool fractional_time(const struct dft_record *rec, enum dft_top which, uint64_t unit, uint64_t *ns)
{
	const struct slice s = dft_top_text(rec, which);
	const char *const dot = memchr(s.p, '.', s.n);
	const uint32_t before = dot != NULL ? (uint32_t)(dot - s.p) : 0;
	uint64_t whole;

	if (dot == NULL || memchr(s.p, 'e', s.n) != NULL || memchr(s.p, 'E', s.n) != NULL ||
	    !json_digits_any(s.p, before, &whole))
		return false;
	const uint64_t more = (uint64_t)fraction(dot + 1, s.n - before - 1) * unit / 1000000000;
	if (whole > (UINT64_MAX - more) / unit)
		return false;
	*ns = whole * unit + more;
	return true;
}

static inline bool time_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                               uint64_t unit, uint64_t *ns)
{
	uint64_t v;

	if (dft_top_kind(rec, which) == JSON_NUMBER)
		return fractional_time(rec, which, unit, ns);
	if (!whole_number(st, rec, which, false, &v))
		return false;
	if (v > UINT64_MAX / unit) {
		report_range(st, rec, which, "is more nanoseconds than fit 64 bits");
		return false;
	}
	*ns = v * unit;
	return true;
}

static void check_times(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	const uint64_t unit = f->process != NULL ? f->process->unit : 1000;

	f->has_ts = time_number(st, rec, DFT_TS, unit, &f->ts);
	f->has_dur = time_number(st, rec, DFT_DUR, unit, &f->dur);
	if (f->has_ts && f->has_dur && f->dur > UINT64_MAX - f->ts) {
		report_range(st, rec, DFT_DUR,
		             "plus ts is more nanoseconds than fit 64 bits; shortened to fit");
		f->dur = UINT64_MAX - f->ts;
	}
}

/* ---- who ---- */

static struct slice host_of(const struct dft_record *rec)
{
	const struct dft_arg *const hash = dft_arg_of(rec, DFT_ROLE_HHASH), *const name = dft_arg_of(
	                                                                        rec, DFT_ROLE_HOSTNAME);
	const struct dft_arg *const a = hash != NULL ? hash : name;

	return a != NULL && a->kind <= JSON_BAD_STRING ? dft_token_text(rec, a->value) : slice_of(NULL, 0);
}

static void check_process(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	struct dft_process *p;

	f->has_pid = whole_number(st, rec, DFT_PID, true, &f->pid);
	f->negative_pid = f->has_pid && rec->p[rec->top[DFT_PID].at] == '-';
	f->has_tid = whole_number(st, rec, DFT_TID, true, &f->tid);
	f->process = NULL;
	if (!f->has_pid)
		return;
	p = f->process = dft_process_of(st, rec, f->pid, host_of(rec));
	if (p == NULL) {
		st->no_memory = true;
		return;
	}
	p->records++;
	p->calls += f->phase != DFT_PHASE_METADATA;
	p->aggregated |= f->phase == DFT_PHASE_AGGREGATE;
}

/* Ids count the records of a process. */
static void check_id(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	if (f->phase >= DFT_PHASE_BEGIN)
		return; /* Chrome's ids are those of flows and of spans */
	if (json_is_string(dft_top_kind(rec, DFT_ID)) && !dft_is_quoted_number(rec, DFT_ID)) {
		dft_tally_add(st, DFT_TEXT_IDS, dft_place_of(rec), dft_top_text(rec, DFT_ID));
		return;
	}
	f->has_id = whole_number(st, rec, DFT_ID, false, &f->id);
	if (!f->has_id || f->process == NULL)
		return;
	if (f->id < (uint64_t)1 << 44 && idset_add(&st->sh->ids, dft_id_place(f->process) + f->id))
		dft_tally_add(st, DFT_IDS_REPEATED, dft_place_of(rec), dft_top_text(rec, DFT_ID));
}

static void dft_check_numbers(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	check_process(st, rec, f);
	check_id(st, rec, f);
	check_times(st, rec, f);
}

/* ---- dialect ---- */

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
static unsigned by_hash(const struct dft_record *rec, const struct dft_arg *a)
{
	struct dft_hash h;

	if (a == NULL || !dft_hash_read(rec, a->value, (enum json_kind)a->kind, &h) || h.none)
		return ALL;
	if (h.text)
		return BIT(D2C) | BIT(D4) | BIT(D5);
	return h.value <= UINT16_MAX ? BIT(D2A) | BIT(D2B) : BIT(D3);
}

/* HH, FH, SH. */
static bool defines_hash(const struct dft_record *rec, const struct dft_facts *f)
{
	const struct slice name = dft_top_text(rec, DFT_NAME);

	return f->phase == DFT_PHASE_METADATA && dft_top_kind(rec, DFT_NAME) == JSON_STRING && name.n == 2 &&
	       name.p[1] == 'H';
}

/* Dialects in which this record may stand; never 0. */
static unsigned possible(const struct dft_record *rec, const struct dft_facts *f)
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
static unsigned by_version(const struct dft_record *rec)
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
static const char *most_likely(unsigned d)
{
	static const enum dialect order[] = { D3, D4, D2A, D2, D1, D0, D2C, D5, D2B };

	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
		if ((d & BIT(order[i])) != 0)
			return dft_dialects[order[i]];
	return dft_dialects[D3];
}

/* The phase, without findings. */
static enum dft_phase quiet_phase(const struct dft_record *rec)
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
static bool is_foreign(const struct dft_record *rec)
{
	const struct dft_token ph = rec->top[DFT_PH];

	return dft_top_kind(rec, DFT_TS) == JSON_NUMBER || dft_top_kind(rec, DFT_DUR) == JSON_NUMBER ||
	       (dft_top_kind(rec, DFT_PH) == JSON_STRING && ph.n == 1 &&
	        strchr("BEIPOFSTNDRVbcefinpstv", rec->p[ph.at]) != NULL);
}

static void look_at_record(struct look *x)
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

static void look_at_line(struct look *x, const char *p, const char *e)
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
static bool look(struct look *x, struct slice head, bool complete)
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

const char *dft_dialect_of(struct slice head, bool complete)
{
	struct look x;

	if (!look(&x, head, complete))
		return NULL;
	return most_likely(x.records > 0 ? x.dialects : BIT(D3));
}

/* ---- probing ---- */

/* The first thing that is neither blank nor bracket begins an object with one of the names that begin
 * records. */
static bool begins_like_one(struct slice head)
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
static bool is_empty_trace(struct slice head)
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

int dft_probe(struct slice head, bool complete)
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

static unsigned bit_of(const char *dialect)
{
	for (unsigned i = 0; i < DIALECTS; i++)
		if (strcmp(dft_dialects[i], dialect) == 0)
			return BIT(i);
	return ALL;
}

unsigned dft_dialect_forms(const char *dialect)
{
	static const unsigned forms[DIALECTS] = {
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

	for (unsigned i = 0; i < DIALECTS; i++)
		if (strcmp(dft_dialects[i], dialect) == 0)
			return forms[i];
	return 0;
}

void dft_dialect_check(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f)
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

/* ---- check ---- */

/*
 * Checks a record: the members that its kind must have, their types, their
 * numbers.  What kinds the members have (the record's shape) is the same in
 * most records, so a shape that was checked without a finding is not checked
 * again.
 */

/* ---- names for messages ---- */

const char *const dft_top_names[DFT_TOPS] = {
	[DFT_ID] = "id",   [DFT_NAME] = "name", [DFT_CAT] = "cat", [DFT_TYPE] = "type", [DFT_PID] = "pid",
	[DFT_TID] = "tid", [DFT_TS] = "ts",     [DFT_DUR] = "dur", [DFT_PH] = "ph",     [DFT_ARGS] = "args",
};

static const char *const kind_names[] = {
	[JSON_ABSENT] = "absent",
	[JSON_UINT] = "an integer",
	[JSON_INT] = "a negative integer",
	[JSON_NUMBER] = "a number with a fraction",
	[JSON_STRING] = "a string",
	[JSON_ESCAPED] = "a string",
	[JSON_BAD_STRING] = "a string",
	[JSON_TRUE] = "true",
	[JSON_FALSE] = "false",
	[JSON_NULL] = "null",
	[JSON_OBJECT] = "an object",
	[JSON_ARRAY] = "an array",
	[JSON_NOT_FINITE] = "not a finite number",
	[JSON_BAD_WORD] = "not a JSON value",
	[JSON_BAD_NESTED] = "invalid JSON",
};

static const char *top_at(const struct dft_record *rec, enum dft_top which)
{
	return rec->p + rec->top[which].at;
}

static void dft_report_type(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                            const char *wanted)
{
	const enum json_kind kind = dft_top_kind(rec, which);
	struct quoted q;

	dft_report(st, DFT_RULE_FIELD_TYPE, rec, top_at(rec, which), "%s is %s (%s), expected %s",
	           dft_top_names[which], kind_names[kind], quoted(&q, dft_top_text(rec, which)), wanted);
}

/* ---- the phase ---- */

static enum dft_phase phase_of_letter(char c)
{
	switch (c) {
	case 'X':
	case 'x':
		return DFT_PHASE_COMPLETE;
	case 'M':
	case 'm':
	case 'H':
	case 'h':
		return DFT_PHASE_METADATA;
	case 'C':
	case 'c':
		return DFT_PHASE_COUNTER;
	case 'A':
	case 'a':
		return DFT_PHASE_AGGREGATE;
	case 'B':
		return DFT_PHASE_BEGIN;
	case 'E':
		return DFT_PHASE_END;
	case 'i':
	case 'I':
		return DFT_PHASE_INSTANT;
	default:
		return DFT_PHASE_NONE;
	}
}

static enum dft_phase phase_of_digit(char c)
{
	static const enum dft_phase phases[] = { DFT_PHASE_COMPLETE, DFT_PHASE_COUNTER, DFT_PHASE_AGGREGATE,
		                                 DFT_PHASE_METADATA };

	return c >= '1' && c <= '4' ? phases[c - '1'] : DFT_PHASE_NONE;
}

bool dft_is_metadata(const struct dft_record *rec)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_PH);
	const char c = rec->top[DFT_PH].n == 1 && kind != JSON_ABSENT ? *top_at(rec, DFT_PH) : '\0';

	return c != '\0' &&
	       (kind == JSON_UINT ? phase_of_digit(c) : phase_of_letter(c)) == DFT_PHASE_METADATA;
}

/* Which it was meant to be, where ph does not say. */
static enum dft_phase guess_phase(const struct dft_record *rec)
{
	if (dft_top_kind(rec, DFT_TS) != JSON_ABSENT)
		return dft_top_kind(rec, DFT_DUR) != JSON_ABSENT ? DFT_PHASE_COMPLETE : DFT_PHASE_INSTANT;
	return DFT_PHASE_NONE;
}

static enum dft_phase odd_phase(struct dft_state *st, const struct dft_record *rec)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_PH);
	const enum dft_phase guess = guess_phase(rec);
	static const char *const taken[] = { [DFT_PHASE_NONE] = "record retained, but not as an event",
		                             [DFT_PHASE_COMPLETE] =
		                                 "read as a complete event, as it has ts and dur",
		                             [DFT_PHASE_INSTANT] = "read as an instant, as it has ts" };
	struct quoted q;

	if (kind == JSON_ABSENT)
		dft_report(st, DFT_RULE_MISSING_FIELD, rec, NULL, "ph is missing; %s", taken[guess]);
	else if (kind != JSON_UINT && !json_is_string(kind))
		dft_report_type(st, rec, DFT_PH, "a letter");
	else
		dft_report(st, DFT_RULE_UNKNOWN_PHASE, rec, top_at(rec, DFT_PH), "ph is %s; %s",
		           quoted(&q, dft_top_text(rec, DFT_PH)), taken[guess]);
	return guess;
}

/* Tracers count calls in dft_cnt; the aggregator of later utilities gives dur as sum, avg, min, max. */
static bool is_aggregate(const struct dft_record *rec)
{
	const struct dft_arg *const dur = dft_arg_of(rec, DFT_ROLE_DURATION);

	return rec->special[DFT_ROLE_COUNT_OF_CALLS] != 0 || (dur != NULL && dur->kind == JSON_OBJECT);
}

static enum dft_phase check_phase(struct dft_state *st, const struct dft_record *rec)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_PH);
	const bool one = rec->top[DFT_PH].n == 1 && (kind == JSON_STRING || kind == JSON_UINT);
	const char c = one ? *top_at(rec, DFT_PH) : '\0';
	const struct slice text = slice_of(rec->p + rec->top[DFT_PH].at, one);

	if (kind == JSON_STRING && c == 'X')
		return DFT_PHASE_COMPLETE;
	if (kind == JSON_STRING && c == 'M')
		return DFT_PHASE_METADATA;
	enum dft_phase phase = !one                ? DFT_PHASE_NONE
	                       : kind == JSON_UINT ? phase_of_digit(c)
	                                           : phase_of_letter(c);
	if (phase == DFT_PHASE_NONE || phase >= DFT_PHASE_BEGIN) {
		if (phase == DFT_PHASE_NONE)
			return odd_phase(st, rec);
		struct quoted q;
		dft_report(st, DFT_RULE_UNKNOWN_PHASE, rec, top_at(rec, DFT_PH),
		           "ph is %s, which is of Chrome's format and not of DFTracer's", quoted(&q, text));
		return phase;
	}
	if (kind == JSON_UINT || (c >= 'a' && c <= 'z'))
		dft_tally_add(st, DFT_PHASE_FORMS, dft_place_of(rec), text);
	if (phase == DFT_PHASE_COUNTER || phase == DFT_PHASE_AGGREGATE || c == 'H')
		dft_tally_add(st, DFT_LATER_PHASES, dft_place_of(rec), text);
	if (phase == DFT_PHASE_COUNTER && is_aggregate(rec)) /* 2.x wrote both as C */
		phase = DFT_PHASE_AGGREGATE;
	return phase;
}

/* ---- shapes ---- */

#define BIT_CHECK(which) (1u << (which))

static const unsigned needed[] = {
	[DFT_PHASE_NONE] = BIT_CHECK(DFT_NAME),
	[DFT_PHASE_COMPLETE] = BIT_CHECK(DFT_NAME) | BIT_CHECK(DFT_CAT) | BIT_CHECK(DFT_PID) |
	                       BIT_CHECK(DFT_TID) | BIT_CHECK(DFT_TS) | BIT_CHECK(DFT_DUR),
	[DFT_PHASE_METADATA] = BIT_CHECK(DFT_NAME),
	[DFT_PHASE_COUNTER] = BIT_CHECK(DFT_NAME) | BIT_CHECK(DFT_TS),
	[DFT_PHASE_AGGREGATE] = BIT_CHECK(DFT_NAME) | BIT_CHECK(DFT_TS),
	[DFT_PHASE_BEGIN] = BIT_CHECK(DFT_NAME) | BIT_CHECK(DFT_PID) | BIT_CHECK(DFT_TID) | BIT_CHECK(DFT_TS),
	[DFT_PHASE_END] = BIT_CHECK(DFT_NAME) | BIT_CHECK(DFT_PID) | BIT_CHECK(DFT_TID) | BIT_CHECK(DFT_TS),
	[DFT_PHASE_INSTANT] = BIT_CHECK(DFT_NAME) | BIT_CHECK(DFT_TS),
};

#define NUMBERS                                                                                              \
	(BIT_CHECK(DFT_ID) | BIT_CHECK(DFT_PID) | BIT_CHECK(DFT_TID) | BIT_CHECK(DFT_TS) | BIT_CHECK(DFT_DUR))

/* What the samples of metadata in the specification have, and some dialects leave out. */
#define METADATA_HAS (BIT_CHECK(DFT_CAT) | BIT_CHECK(DFT_PID) | BIT_CHECK(DFT_TID) | BIT_CHECK(DFT_ARGS))

static unsigned present(const struct dft_record *rec)
{
	unsigned bits = 0;

	for (int i = 0; i < DFT_TOPS; i++)
		bits |= dft_top_kind(rec, (enum dft_top)i) != JSON_ABSENT ? BIT_CHECK(i) : 0;
	return bits;
}

static void report_missing(struct dft_state *st, const struct dft_record *rec, enum dft_phase phase)
{
	const unsigned missing = needed[phase] & ~present(rec);
	static const char *const kinds[] = { "record",  "complete event", "metadata event",
		                             "counter", "aggregate",      "begin",
		                             "end",     "instant" };

	for (int i = 0; i < DFT_TOPS; i++)
		if ((missing & BIT_CHECK(i)) != 0)
			dft_report(st, DFT_RULE_MISSING_FIELD, rec, NULL, "%s is missing from the %s",
			           dft_top_names[i], kinds[phase]);
}

static void check_kind(struct dft_state *st, const struct dft_record *rec, enum dft_top which)
{
	const enum json_kind kind = dft_top_kind(rec, which);

	if (kind == JSON_ABSENT)
		return;
	if (which == DFT_NAME || which == DFT_CAT) {
		if (!json_is_string(kind))
			dft_report_type(st, rec, which, "a string");
	} else if (which == DFT_ARGS) {
		if (kind != JSON_OBJECT)
			dft_report_type(st, rec, which, "an object");
	} else if (which !=
	           DFT_PH) { /* which was checked before; text is looked at where the number is read */
		if (kind != JSON_UINT && kind != JSON_INT && (which == DFT_TYPE || !json_is_string(kind)))
			dft_report_type(st, rec, which, "an integer");
	}
}

/* Differences of the dialects, each reported once. */
static unsigned differences(const struct dft_record *rec, enum dft_phase phase)
{
	const unsigned has = present(rec);
	unsigned tallies = 0;

	for (int i = 0; i < DFT_TOPS; i++)
		if ((BIT_CHECK(i) & NUMBERS) != 0 && json_is_string(dft_top_kind(rec, (enum dft_top)i)) &&
		    dft_is_quoted_number(rec, (enum dft_top)i))
			tallies |= BIT_CHECK(DFT_QUOTED_NUMBERS);
	if ((has & BIT_CHECK(DFT_ID)) == 0)
		tallies |= BIT_CHECK(DFT_NO_IDS);
	if ((has & BIT_CHECK(DFT_TYPE)) != 0)
		tallies |= BIT_CHECK(DFT_TYPE_FIELDS);
	if (phase == DFT_PHASE_COMPLETE && (has & BIT_CHECK(DFT_ARGS)) == 0)
		tallies |= BIT_CHECK(DFT_NO_ARGS);
	if (phase == DFT_PHASE_METADATA && (has & METADATA_HAS) != METADATA_HAS)
		tallies |= BIT_CHECK(DFT_SPARSE_METADATA);
	return tallies;
}

static void tally_differences(struct dft_state *st, const struct dft_record *rec, unsigned tallies)
{
	for (; tallies != 0; tallies &= tallies - 1) {
		const enum dft_tallied which = (enum dft_tallied)__builtin_ctz(tallies);
		dft_tally_add(st, which, dft_place_of(rec),
		              which == DFT_TYPE_FIELDS ? SLICE_LIT("type") : slice_of(NULL, 0));
	}
}

static void check_shape(struct dft_state *st, const struct dft_record *rec, enum dft_phase phase)
{
	if ((phase == DFT_PHASE_COMPLETE && rec->shape == DFT_USUAL_COMPLETE) ||
	    (phase == DFT_PHASE_METADATA && rec->shape == DFT_USUAL_METADATA))
		return;
	const uint64_t key = rec->shape | (uint64_t)phase << 60 | (uint64_t)1 << 59; /* never 0 */
	if (key != st->valid_shape) {
		const uint64_t findings = st->findings;
		report_missing(st, rec, phase);
		for (int i = 0; i < DFT_TOPS; i++)
			check_kind(st, rec, (enum dft_top)i);
		if (st->findings != findings) {
			tally_differences(st, rec, differences(rec, phase));
			return;
		}
		st->valid_shape = key;
		st->valid_tallies = differences(rec, phase);
	}
	tally_differences(st, rec, st->valid_tallies);
}

/* ---- faults of the text ---- */

static const struct {
	enum dft_rule rule;
	const char *words;
} flaws[DFT_FLAW_KINDS] = {
	[JSON_FLAW_NUL] = { DFT_RULE_NUL_BYTES, "NUL byte in a string; retained" },
	[JSON_FLAW_CONTROL_BYTE] = { DFT_RULE_CONTROL_BYTE, "control byte in a string; retained" },
	[JSON_FLAW_UTF8] = { DFT_RULE_INVALID_UTF8, "string is not UTF-8; bytes retained" },
	[JSON_FLAW_ESCAPE] = { DFT_RULE_BAD_ESCAPE, "invalid escape in a string; backslash retained" },
	[DFT_FLAW_UNESCAPED_QUOTE] = { DFT_RULE_UNESCAPED_QUOTE,
	                               "unescaped quote in a string; its end was found by what follows" },
	[JSON_FLAW_COMMA] = { DFT_RULE_COMMA_IN_OBJECT, "trailing comma; ignored" },
	[DFT_FLAW_STRAY_Q] = { DFT_RULE_STRAY_Q, "q after the pid; ignored" },
	[JSON_FLAW_NOT_FINITE] = { DFT_RULE_NOT_FINITE, "nan and inf are not JSON numbers; retained" },
	[JSON_FLAW_WORD] = { DFT_RULE_BAD_VALUE, "not a JSON value; retained as a string" },
	[DFT_FLAW_DUPLICATE_KEY] = { DFT_RULE_DUPLICATE_KEY,
	                             "duplicate name in an object; all values retained" },
};

static void report_flaws(struct dft_state *st, const struct dft_record *rec)
{
	for (uint32_t i = 0; i < rec->json.nflaws; i++) {
		const struct json_flaw_at *const f = &rec->json.flaws[i];
		dft_report(st, flaws[f->kind].rule, rec, f->at, "%s", flaws[f->kind].words);
	}
	if (rec->too_many)
		dft_report(st, DFT_RULE_LIMIT, rec, NULL,
		           "more than 60000 args or 16 unknown fields: the others were dropped");
}

void dft_check(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	f->has_id = false;
	f->id = f->pid = f->tid = f->ts = f->dur = 0;
	f->nnames = 0;
	if (rec->json.nflaws > 0 || rec->too_many)
		report_flaws(st, rec);
	f->phase = check_phase(st, rec);
	check_shape(st, rec, f->phase);
	if (rec->nextras > 0)
		dft_tally_add(st, DFT_EXTRA_FIELDS, dft_place_of(rec),
		              dft_token_text(rec, rec->extras[0].key));
	dft_check_numbers(st, rec, f);
	dft_check_hashes(st, rec, f);
}
