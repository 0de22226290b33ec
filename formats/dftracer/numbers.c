#include "dftracer/facts.h"
#include "dftracer/report.h"

/* The numbers of a record: ids, times, and whose it is. */

bool
dft_is_quoted_number(const struct dft_record *rec, enum dft_top which)
{
	const struct slice s = dft_top_text(rec, which);
	uint32_t i = s.n > 1 && *s.p == '-';

	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return s.n > 0 && i == s.n;
}

static void
report_range(struct dft_state *st, const struct dft_record *rec, enum dft_top which, const char *why)
{
	struct quoted q;

	dft_report(st, DFT_RULE_NUMBER_RANGE, rec, rec->p + rec->top[which].at, "%s %s %s",
	           dft_top_names[which], quoted(&q, dft_top_text(rec, which)), why);
}

/* ---- whole numbers ---- */

static bool
odd_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which, bool may_be_negative,
           uint64_t *v)
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

static __attribute__((noinline)) bool
long_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which, bool may_be_negative,
            uint64_t *v)
{
	if (dft_top_kind(rec, which) == JSON_UINT && rec->top[which].n < 20)
		return dft_digits(rec, rec->top[which], v);
	return odd_number(st, rec, which, may_be_negative, v);
}

/* A whole number, quoted or not; false: it is none, or too large (which is reported). */
static inline bool
whole_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which, bool may_be_negative,
             uint64_t *v)
{
	const struct dft_token t = rec->top[which];

	if (dft_top_kind(rec, which) != JSON_UINT || !json_few_digits(t.at, t.n))
		return long_number(st, rec, which, may_be_negative, v);
	*v = json_last_digits(rec->p + t.at + t.n, t.n);
	return true;
}

/* Up to nine digits of a fraction, in units of 10^-9. */
static uint32_t
fraction(const char *p, uint32_t n)
{
	uint32_t v = 0;

	for (uint32_t i = 0; i < 9; i++)
		v = v * 10 + (i < n ? (uint32_t)(p[i] - '0') : 0);
	return v;
}

/* Times with a fraction, which no tracer writes but other tools do, count to the nanosecond. */
static bool
fractional_time(const struct dft_record *rec, enum dft_top which, uint64_t unit, uint64_t *ns)
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

static inline bool
time_number(struct dft_state *st, const struct dft_record *rec, enum dft_top which, uint64_t unit,
            uint64_t *ns)
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

static void
check_times(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
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

static struct slice
host_of(const struct dft_record *rec)
{
	const struct dft_arg *const hash = dft_arg_of(rec, DFT_ROLE_HHASH), *const name = dft_arg_of(
	                                                                        rec, DFT_ROLE_HOSTNAME);
	const struct dft_arg *const a = hash != NULL ? hash : name;

	return a != NULL && a->kind <= JSON_BAD_STRING ? dft_token_text(rec, a->value) : slice_of(NULL, 0);
}

static void
check_process(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
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
static void
check_id(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
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

void
dft_check_numbers(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	check_process(st, rec, f);
	check_id(st, rec, f);
	check_times(st, rec, f);
}
