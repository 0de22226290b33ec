#include "dftracer/usual.h"

#include "dftracer/dialect.h"
#include "dftracer/facts.h"
#include "dftracer/report.h"

/*
 * Most records of a trace are complete events of the process of the record
 * before, with hashes that are known.  Of these, nothing can be found but that
 * their id is repeated: dft_check() and those behind it would change the same
 * counts.
 */

/* Digits of a time and of a length whose sum fits 64 bits as ns ... */
#define USUAL_TS 16
#define USUAL_DUR 8
#define USUAL_UNIT 1000 /* ... if this is the most that they count in */

/* No message can come of the numbers; the pid is read elsewhere. */
static inline bool
has_usual_numbers(const struct dft_record *rec)
{
	const struct dft_token *const t = rec->top;

	return t[DFT_TS].n <= USUAL_TS && t[DFT_DUR].n <= USUAL_DUR && t[DFT_TID].n < 20 &&
	       json_few_digits(t[DFT_PID].at, t[DFT_PID].n) && json_few_digits(t[DFT_ID].at, t[DFT_ID].n);
}

/* The tracer's own events may start or end a process: their category has eight letters. */
static inline bool
is_usual(const struct dft_record *rec)
{
	return rec->shape == DFT_USUAL_COMPLETE && rec->top[DFT_PH].n == 1 &&
	       rec->p[rec->top[DFT_PH].at] == 'X' && rec->top[DFT_CAT].n != 8 &&
	       rec->special[DFT_ROLE_HHASH] != 0 &&
	       (rec->special[DFT_ROLE_HOSTNAME] | rec->special[DFT_ROLE_FNAME]) == 0;
}

static inline uint64_t
few_digits(const struct dft_record *rec, enum dft_top which)
{
	const struct dft_token t = rec->top[which];

	return json_last_digits(rec->p + t.at + t.n, t.n);
}

/* The process of the last record, if it is this one's too and its host has a name; else NULL. */
static inline struct dft_process *
same_process(const struct dft_state *st, const struct dft_record *rec, const struct dft_arg *host)
{
	const struct dft_shared *const sh = st->sh;
	struct dft_process *const p = sh->processes.last;

	if (p == NULL || host->kind > JSON_STRING || p->pid != few_digits(rec, DFT_PID) ||
	    p->host_name.p == NULL || p->host_known != sh->names.hosts_defined || p->unit > USUAL_UNIT)
		return NULL;
	return dft_same_host(dft_host_text(&sh->who, p->host), dft_token_text(rec, host->value)) ? p : NULL;
}

/* Whether all hashes but the host's were defined; *texts: how many are text. */
static inline bool
knows_hashes(struct dft_state *st, const struct dft_record *rec, uint64_t pid, uint32_t *texts)
{
	for (uint64_t left = rec->hashes; left != 0; left &= left - 1) {
		const struct dft_arg *const a = &rec->args[__builtin_ctzll(left)];
		struct dft_recent_hash key;
		*texts += a->kind == JSON_STRING;
		if (a->role == DFT_ROLE_HHASH)
			continue;
		if (!dft_recent_key(rec, a, pid, &key) ||
		    !dft_recent_is(dft_recent(&st->sh->names, &key), &key))
			return false;
	}
	return *texts == 0 || st->tallies[DFT_HASHES_AS_TEXT].met.count > 0;
}

bool
dft_usual_take(struct dft_state *st, const struct dft_record *rec)
{
	if (!is_usual(rec) || !has_usual_numbers(rec))
		return false;
	const struct dft_arg *const host = &rec->args[rec->special[DFT_ROLE_HHASH] - 1];
	struct dft_process *const p = same_process(st, rec, host);
	uint32_t texts = 0;
	if (p == NULL || !knows_hashes(st, rec, p->pid, &texts) ||
	    (!st->mixed_reported && dft_signature(rec, DFT_PHASE_COMPLETE) != st->usual_signature))
		return false;
	p->records++;
	p->calls++;
	st->r->records++;
	st->r->trace->events++;
	st->tallies[DFT_HASHES_AS_TEXT].met.count += texts;
	if (idset_add(&st->sh->ids, dft_id_place(p) + few_digits(rec, DFT_ID)))
		dft_tally_add(st, DFT_IDS_REPEATED, dft_place_of(rec), dft_top_text(rec, DFT_ID));
	return true;
}
