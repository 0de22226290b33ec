/*
 * Checks a record: the phase, the members that the phase requires, their kinds, their numbers.
 *
 * Most records have the same kinds of members (the record's shape), so a shape that was checked without a
 * finding is not checked again.
 */
#include "dftracer/dftracer.h"

/* ---- reports ---- */

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

static void report_type(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                        const char *wanted)
{
	const enum json_kind kind = dft_top_kind(rec, which);
	struct quoted q;

	dft_report(st, DFT_RULE_FIELD_TYPE, dft_token_position(rec, rec->top[which]),
	           "%s is %s (%s), expected %s", dft_top_names[which], kind_names[kind],
	           quoted(&q, dft_top_text(rec, which)), wanted);
}

/* ---- the phase ---- */

enum dft_phase dft_phase_of(char c)
{
	static const struct {
		const char *letters; /* and the digit */
		enum dft_phase phase;
	} rows[] = {
		{ "Xx1", DFT_PHASE_COMPLETE },  { "MmHh4", DFT_PHASE_METADATA }, { "Cc2", DFT_PHASE_COUNTER },
		{ "Aa3", DFT_PHASE_AGGREGATE }, { "B", DFT_PHASE_BEGIN },        { "E", DFT_PHASE_END },
		{ "iI", DFT_PHASE_INSTANT },    { "b", DFT_PHASE_ASYNC_BEGIN },  { "e", DFT_PHASE_ASYNC_END },
	};

	for (size_t i = 0; c != '\0' && i < sizeof rows / sizeof rows[0]; i++)
		if (strchr(rows[i].letters, c) != NULL)
			return rows[i].phase;
	return DFT_PHASE_NONE;
}

/* Like dft_phase_of(), for a ph of this kind: digits must not be in quotes. */
static enum dft_phase phase_of_kind(char c, enum json_kind kind)
{
	return (c >= '0' && c <= '9') == (kind == JSON_UINT) ? dft_phase_of(c) : DFT_PHASE_NONE;
}

bool dft_is_metadata(const struct dft_record *rec)
{
	return phase_of_kind(dft_phase_char(rec), dft_top_kind(rec, DFT_PH)) == DFT_PHASE_METADATA;
}

/* Guesses the phase of a record without a valid ph. */
static enum dft_phase guess_phase(const struct dft_record *rec)
{
	if (dft_top_kind(rec, DFT_TS) != JSON_ABSENT)
		return dft_top_kind(rec, DFT_DUR) != JSON_ABSENT ? DFT_PHASE_COMPLETE : DFT_PHASE_INSTANT;
	return DFT_PHASE_NONE;
}

static enum dft_phase report_phase(struct dft_state *st, const struct dft_record *rec)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_PH);
	const enum dft_phase guess = guess_phase(rec);
	static const char *const effects[] = { [DFT_PHASE_NONE] = "record retained, but not as an event",
		                               [DFT_PHASE_COMPLETE] =
		                                   "read as a complete event, as it has ts and dur",
		                               [DFT_PHASE_INSTANT] = "read as an instant, as it has ts" };
	struct quoted q;

	if (kind == JSON_ABSENT)
		dft_report(st, DFT_RULE_MISSING_FIELD, dft_record_position(rec), "ph is missing; %s",
		           effects[guess]);
	else if (kind != JSON_UINT && !json_is_string(kind))
		report_type(st, rec, DFT_PH, "a letter");
	else
		dft_report(st, DFT_RULE_UNKNOWN_PHASE, dft_token_position(rec, rec->top[DFT_PH]),
		           "ph is %s; %s", quoted(&q, dft_top_text(rec, DFT_PH)), effects[guess]);
	return guess;
}

/* Tracers count calls in dft_cnt; the aggregator of later utilities writes dur as sum, avg, min, max. */
static bool is_aggregate(const struct dft_record *rec)
{
	const struct dft_arg *const dur = dft_arg_of(rec, DFT_ROLE_DURATION);

	return rec->special[DFT_ROLE_COUNT_OF_CALLS] != 0 || (dur != NULL && dur->kind == JSON_OBJECT);
}

static enum dft_phase check_phase(struct dft_state *st, const struct dft_record *rec)
{
	const enum json_kind kind = dft_top_kind(rec, DFT_PH);
	const char c = kind == JSON_STRING || kind == JSON_UINT ? dft_phase_char(rec) : '\0';
	const struct slice text = slice_of(rec->p + rec->top[DFT_PH].at, 1);

	if (kind == JSON_STRING && c == 'X')
		return DFT_PHASE_COMPLETE;
	if (kind == JSON_STRING && c == 'M')
		return DFT_PHASE_METADATA;
	enum dft_phase phase = phase_of_kind(c, kind);
	const bool async = phase == DFT_PHASE_ASYNC_BEGIN || phase == DFT_PHASE_ASYNC_END;
	if (phase == DFT_PHASE_NONE || (async && dft_top_kind(rec, DFT_ID) == JSON_ABSENT))
		return report_phase(st, rec);
	if (phase >= DFT_PHASE_BEGIN) {
		struct quoted q;
		dft_report(st, DFT_RULE_UNKNOWN_PHASE, dft_token_position(rec, rec->top[DFT_PH]),
		           "ph is %s, which is of Chrome's format and not of DFTracer's", quoted(&q, text));
		return phase;
	}
	if (!async && (kind == JSON_UINT || (c >= 'a' && c <= 'z')))
		dft_tally_record(st, DFT_PHASE_FORMS, rec, text);
	if (async || phase == DFT_PHASE_COUNTER || phase == DFT_PHASE_AGGREGATE || c == 'H')
		dft_tally_record(st, DFT_LATER_PHASES, rec, text);
	if (phase == DFT_PHASE_COUNTER && is_aggregate(rec)) /* 2.x wrote both as C */
		phase = DFT_PHASE_AGGREGATE;
	return phase;
}

/* ---- numbers ---- */

static bool is_quoted_number(const struct dft_record *rec, enum dft_top which)
{
	const struct slice s = dft_top_text(rec, which);

	return s.n > 0 && json_skip_digits(s.p + (s.n > 1 && *s.p == '-'), s.p + s.n) == s.p + s.n;
}

static void report_range(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                         const char *why)
{
	struct quoted q;

	dft_report(st, DFT_RULE_NUMBER_RANGE, dft_token_position(rec, rec->top[which]), "%s %s %s",
	           dft_top_names[which], quoted(&q, dft_top_text(rec, which)), why);
}

static bool unusual_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                           bool may_be_negative, uint64_t *v)
{
	const enum json_kind kind = dft_top_kind(rec, which);
	const struct slice s = dft_top_text(rec, which);

	if (json_is_string(kind) && !is_quoted_number(rec, which)) {
		report_type(st, rec, which, "an integer");
		return false;
	}
	if (kind != JSON_UINT && kind != JSON_INT && !json_is_string(kind))
		return false;
	if (!json_integer(s, v)) {
		report_range(st, rec, which, "does not fit 64 bits");
		return false;
	}
	if (*s.p == '-' && !may_be_negative && *v > 0) {
		report_range(st, rec, which, "must not be negative");
		return false;
	}
	return true;
}

static NOINLINE bool long_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                                 bool may_be_negative, uint64_t *v)
{
	if (dft_top_kind(rec, which) == JSON_UINT && rec->top[which].n < 20)
		return dft_digits(rec, rec->top[which], v);
	return unusual_number(st, rec, which, may_be_negative, v);
}

/* Reads an integer, quoted or not.  Returns false for other values; reports those out of range. */
static inline bool whole_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                                bool may_be_negative, uint64_t *v)
{
	const struct dft_token t = rec->top[which];

	if (dft_top_kind(rec, which) != JSON_UINT || !json_few_digits(t.at, t.n))
		return long_number(st, rec, which, may_be_negative, v);
	*v = json_last_digits(rec->p + t.at + t.n, t.n);
	return true;
}

/* Reads up to nine digits of a fraction, in units of 10^-9. */
static uint32_t read_fraction(const char *p, uint32_t n)
{
	uint32_t v = 0;

	for (uint32_t i = 0; i < 9; i++)
		v = v * 10 + (i < n ? (uint32_t)(p[i] - '0') : 0);
	return v;
}

/* Reads a time with a fraction, to the nanosecond.  No tracer writes such times; other tools do. */
static bool fractional_time(const struct dft_record *rec, enum dft_top which, uint64_t unit, uint64_t *ns)
{
	const struct slice s = dft_top_text(rec, which);
	const char *const dot = memchr(s.p, '.', s.n);
	const uint32_t before = dot != NULL ? (uint32_t)(dot - s.p) : 0;
	uint64_t whole;

	if (dot == NULL || memchr(s.p, 'e', s.n) != NULL || memchr(s.p, 'E', s.n) != NULL ||
	    !json_digits_any(s.p, before, &whole))
		return false;
	const uint64_t more = (uint64_t)read_fraction(dot + 1, s.n - before - 1) * unit / 1000000000;
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

static struct slice host_of(struct dft_state *st, const struct dft_record *rec)
{
	const struct dft_arg *const hash = dft_arg_of(rec, DFT_ROLE_HHASH);
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_HOSTNAME);
	const struct dft_arg *const a = hash != NULL ? hash : name;

	if (a == NULL || a->kind > JSON_BAD_STRING)
		return SLICE_NONE;
	const struct slice s = a == hash ? dft_host_hash(rec, a) : dft_token_text(rec, a->value);
	if (a->kind != JSON_ESCAPED)
		return s;
	arena_reset(&st->scratch);
	return json_unescape(&st->scratch, s);
}

static void check_process(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	struct dft_process *p;

	f->has_pid = whole_number(st, rec, DFT_PID, true, &f->pid);
	f->negative_pid = f->has_pid && rec->p[rec->top[DFT_PID].at] == '-';
	f->has_tid = whole_number(st, rec, DFT_TID, true, &f->tid);
	f->process = NULL;
	st->sh->entangled |= !f->has_pid;
	if (!f->has_pid)
		return;
	p = f->process = dft_process_of(st, rec, f->pid, host_of(st, rec));
	if (note_failure(&st->r->no_memory, p == NULL))
		return;
	p->records++;
	p->calls += f->phase != DFT_PHASE_METADATA;
	p->aggregated |= f->phase == DFT_PHASE_AGGREGATE;
}

/* Ids count the records of a process. */
static void check_id(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	if (f->phase >= DFT_PHASE_ASYNC_BEGIN) {
		st->sh->entangled = true;
		return; /* these ids, as all of Chrome's, are those of flows and of spans */
	}
	if (json_is_string(dft_top_kind(rec, DFT_ID)) && !is_quoted_number(rec, DFT_ID)) {
		dft_tally_record(st, DFT_TEXT_IDS, rec, dft_top_text(rec, DFT_ID));
		return;
	}
	f->has_id = whole_number(st, rec, DFT_ID, false, &f->id);
	if (!f->has_id || f->process == NULL || f->id >= (uint64_t)1 << 44)
		return;
	if (f->process->number == DFT_MAX_PROCESSES - 1) /* it stands for all beyond the limit, too */
		return;
	if (idset_add(&st->sh->ids, dft_id_base(f->process) + f->id)) {
		dft_tally_record(st, DFT_IDS_REPEATED, rec, dft_top_text(rec, DFT_ID));
		return;
	}
	if (f->process->ids == 0)
		f->process->id_at = dft_first_position(rec);
	dft_count_id(f->process, f->id);
}

/* Reports the processes whose ids leave out numbers as one finding.  Counters, and metadata of later tracers,
 * have no ids, and do not count. */
void dft_ids_finish(struct dft_state *st)
{
	const struct dft_processes *const all = &st->sh->processes;
	const struct dft_process *first = NULL;
	uint64_t missing = 0, processes = 0;

	for (uint32_t i = 0; i < all->n; i++) {
		struct dft_process *const p = all->list[i];
		const uint64_t n = p->ids > 0 ? p->last_id - p->first_id + 1 : 0;
		if (n <= p->ids || p->gap_reported)
			continue;
		p->gap_reported = true;
		missing += n - p->ids;
		processes++;
		if (first == NULL || p->id_at.offset < first->id_at.offset)
			first = p;
	}
	if (first != NULL)
		dft_report(st, DFT_RULE_ID_GAP, first->id_at,
		           "%" PRIu64 " of the ids %" PRIu64 " to %" PRIu64 " of process %" PRIu64
		           " are in no record; %" PRIu64 " in all, of %" PRIu64 " process%s",
		           first->last_id - first->first_id + 1 - first->ids, first->first_id, first->last_id,
		           first->pid, missing, processes, processes == 1 ? "" : "es");
}

/* ---- members ---- */

#define BIT(which) (1u << (which))

/* By enum dft_phase: the members that a record must have besides its name. */
static const struct {
	const char *name; /* of the phase */
	unsigned members;
} required[] = {
	[DFT_PHASE_NONE] = { "record", 0 },
	[DFT_PHASE_COMPLETE] = { "complete event",
	                         BIT(DFT_CAT) | BIT(DFT_PID) | BIT(DFT_TID) | BIT(DFT_TS) | BIT(DFT_DUR) },
	[DFT_PHASE_METADATA] = { "metadata event", 0 },
	[DFT_PHASE_COUNTER] = { "counter", BIT(DFT_TS) },
	[DFT_PHASE_AGGREGATE] = { "aggregate", BIT(DFT_TS) },
	[DFT_PHASE_ASYNC_BEGIN] = { "async begin", BIT(DFT_PID) | BIT(DFT_TS) },
	[DFT_PHASE_ASYNC_END] = { "async end", BIT(DFT_PID) | BIT(DFT_TS) },
	[DFT_PHASE_BEGIN] = { "begin", BIT(DFT_PID) | BIT(DFT_TID) | BIT(DFT_TS) },
	[DFT_PHASE_END] = { "end", BIT(DFT_PID) | BIT(DFT_TID) | BIT(DFT_TS) },
	[DFT_PHASE_INSTANT] = { "instant", BIT(DFT_TS) },
};

#define NUMBERS (BIT(DFT_ID) | BIT(DFT_PID) | BIT(DFT_TID) | BIT(DFT_TS) | BIT(DFT_DUR))

/* Members of metadata in the samples of the specification; some dialects leave them out. */
#define METADATA_HAS (BIT(DFT_CAT) | BIT(DFT_PID) | BIT(DFT_TID) | BIT(DFT_ARGS))

static unsigned present_members(const struct dft_record *rec)
{
	unsigned bits = 0;

	for (int i = 0; i < DFT_TOPS; i++)
		bits |= dft_top_kind(rec, (enum dft_top)i) != JSON_ABSENT ? BIT(i) : 0;
	return bits;
}

static void report_missing(struct dft_state *st, const struct dft_record *rec, enum dft_phase phase)
{
	const unsigned missing = (required[phase].members | BIT(DFT_NAME)) & ~present_members(rec);

	for (int i = 0; i < DFT_TOPS; i++)
		if ((missing & BIT(i)) != 0)
			dft_report(st, DFT_RULE_MISSING_FIELD, dft_record_position(rec),
			           "%s is missing from the %s", dft_top_names[i], required[phase].name);
}

static void check_kind(struct dft_state *st, const struct dft_record *rec, enum dft_top which)
{
	const enum json_kind kind = dft_top_kind(rec, which);

	if (kind == JSON_ABSENT)
		return;
	if (which == DFT_NAME || which == DFT_CAT) {
		if (!json_is_string(kind))
			report_type(st, rec, which, "a string");
	} else if (which == DFT_ARGS) {
		if (kind != JSON_OBJECT)
			report_type(st, rec, which, "an object");
	} else if (which != DFT_PH) { /* check_phase() checks ph, whole_number() numbers in quotes */
		if (kind != JSON_UINT && kind != JSON_INT && (which == DFT_TYPE || !json_is_string(kind)))
			report_type(st, rec, which, "an integer");
	}
}

/* Returns the differences between dialects (bits of enum dft_tallied), each reported once. */
static unsigned differences(const struct dft_record *rec, enum dft_phase phase)
{
	const unsigned has = present_members(rec);
	unsigned tallies = 0;

	for (int i = 0; i < DFT_TOPS; i++)
		if ((BIT(i) & NUMBERS) != 0 && json_is_string(dft_top_kind(rec, (enum dft_top)i)) &&
		    is_quoted_number(rec, (enum dft_top)i))
			tallies |= BIT(DFT_QUOTED_NUMBERS);
	if ((has & BIT(DFT_ID)) == 0)
		tallies |= BIT(DFT_NO_IDS);
	if ((has & BIT(DFT_TYPE)) != 0)
		tallies |= BIT(DFT_TYPE_FIELDS);
	if (phase == DFT_PHASE_COMPLETE && (has & BIT(DFT_ARGS)) == 0)
		tallies |= BIT(DFT_NO_ARGS);
	if (phase == DFT_PHASE_METADATA && (has & METADATA_HAS) != METADATA_HAS)
		tallies |= BIT(DFT_SPARSE_METADATA);
	return tallies;
}

static void tally_differences(struct dft_state *st, const struct dft_record *rec, unsigned tallies)
{
	for (; tallies != 0; tallies &= tallies - 1) {
		const enum dft_tallied which = (enum dft_tallied)low_bit(tallies);
		dft_tally_record(st, which, rec, which == DFT_TYPE_FIELDS ? SLICE_LIT("type") : SLICE_NONE);
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

/* ---- the record ---- */

static const struct {
	enum dft_rule rule;
	const char *message;
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
		dft_report(st, flaws[f->kind].rule, dft_byte_position(rec, f->at), "%s",
		           flaws[f->kind].message);
	}
	if (rec->too_many)
		dft_report(st, DFT_RULE_LIMIT, dft_record_position(rec),
		           "more than 60000 args or 16 unknown fields: the others were dropped");
}

void dft_check_record(struct dft_state *st)
{
	const struct dft_record *const rec = &st->record;
	struct dft_facts *const f = &st->facts;
	char word[JSON_WORD];

	f->has_id = false;
	f->id = f->pid = f->tid = f->ts = f->dur = 0;
	f->nnames = 0;
	if (rec->json.nflaws > 0 || rec->too_many)
		report_flaws(st, rec);
	f->phase = check_phase(st, rec);
	check_shape(st, rec, f->phase);
	if (rec->nextras > 0)
		dft_tally_record(st, DFT_EXTRA_FIELDS, rec, dft_plain_key(rec, word, rec->extras[0].key));
	check_process(st, rec, f);
	check_id(st, rec, f);
	check_times(st, rec, f);
	dft_check_hashes(st, rec, f);
	if (!st->r->no_memory)
		dft_meta_apply(st, rec, f);
	if (!st->r->no_memory)
		dft_dialect_check(st, rec, f);
}
