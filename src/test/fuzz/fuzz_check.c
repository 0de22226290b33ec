/*
 * Passes over an input in memory, and the promises that hold for each: findings are plausible, and passes
 * that want more, or see the input in small steps, have the same outcome as validation.
 */
#include "test/fuzz/fuzz_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "format/registry.h"
#include "input/test/memory_input.h"
#include "test/fuzz/contract.h"
#include "test/fuzz/fuzz_pass.h"
#include "test/fuzz/strict_json.h"
#include "test/support/format_aids.h"

#define WANT_ALL (WANT_TIMES | WANT_FIELDS | WANT_STRUCTURE | WANT_BYTES)

/* Bytes: enough for a reader to decide as with the whole input. */
#define FIRST_WINDOW 2048

/* Bytes: a record that arrives in small steps is copied at each of them. */
#define MAX_COPIED (UINT64_C(256) << 20)

#define MUST(condition, ...)                                                                                 \
	do                                                                                                   \
		if (!(condition))                                                                            \
			return fuzz_broken(p->result, __VA_ARGS__);                                          \
	while (0)

bool fuzz_broken(struct fuzz_result *r, const char *fmt, ...)
{
	va_list ap;

	if (r->fault[0] != '\0')
		return false;
	va_start(ap, fmt);
	vsnprintf(r->fault, sizeof r->fault, fmt, ap);
	va_end(ap);
	if (r->fault[0] == '\0')
		snprintf(r->fault, sizeof r->fault, "a broken promise");
	return false;
}

/* ---- findings ---- */

/* Checks that a message is a line that is safe for a terminal. */
static bool message_holds(const char *s)
{
	const char *const end = s + strlen(s);

	for (const char *m = s; m < end;) {
		const size_t n = strict_utf8_length(m, end);
		if (n == 0 || (unsigned char)*m < 0x20 || *m == 0x7f)
			return false;
		m += n;
	}
	return s < end;
}

/* Returns true for faults after which a reader guesses by the content of its window. */
static bool depends_on_window(const struct rule *rule)
{
	for (const struct format_aids *const *a = format_aids; *a != NULL; a++)
		for (const char *const *id = (*a)->window_rules; id != NULL && *id != NULL; id++)
			if (strcmp(*id, rule->id) == 0)
				return true;
	return false;
}

static void add_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct fuzz_pass *const p = ctx;
	struct fuzz_outcome *const o = &p->outcome;

	(void)j;
	if (f->offset > p->n)
		fuzz_broken(p->result, "%s: at offset %" PRIu64 " of %zu", f->rule->id, f->offset, p->n);
	if (!message_holds(f->message))
		fuzz_broken(p->result, "%s at offset %" PRIu64 ": a message that is no line of text",
		            f->rule->id, f->offset);
	o->findings = hash_u64(o->findings ^ f->offset, (uintptr_t)f->rule);
	o->findings = hash_u64(o->findings, f->record);
	o->findings ^= hash_bytes(f->message, strlen(f->message), 1);
	o->nfindings++;
	o->guessed |= depends_on_window(f->rule);
}

/* ---- one pass ---- */

static bool source_holds(struct fuzz_pass *p, const struct source *s)
{
	const struct findings *const j = &s->findings;
	const struct trace *const t = s->context->trace;
	uint64_t found = 0;

	for (size_t i = 0; i < j->ncounts; i++)
		found += j->counts[i].count;
	MUST(found == j->levels[LEVEL_ERROR] + j->levels[LEVEL_LIMIT] + j->levels[LEVEL_WARNING] +
	                  j->levels[LEVEL_NOTE],
	     "findings were lost");
	MUST(p->outcome.status == 0 || p->outcome.nfindings > 0, "exit status %d and not a word why",
	     p->outcome.status);
	MUST((s->complete && !s->unreadable) || j->levels[LEVEL_ERROR] > 0,
	     "not all was read, and no error says why");
	MUST(s->reader.unread <= p->n, "%" PRIu64 " bytes of %zu are unread", s->reader.unread, p->n);
	MUST(!s->complete || s->reader.unread == 0 || j->levels[LEVEL_LIMIT] > 0,
	     "read to the end, but %" PRIu64 " bytes are unread", s->reader.unread);
	MUST(!s->open || s->context->bytes == p->n, "the input was left at byte %" PRIu64 " of %zu",
	     s->context->bytes, p->n);
	MUST(t->events - t->further <= t->records, "%" PRIu64 " events in %" PRIu64 " records", t->events,
	     t->records);
	return true;
}

static void note_outcome(struct fuzz_pass *p, const struct source *s)
{
	struct fuzz_outcome *const o = &p->outcome;
	const struct trace *const t = s->context->trace;
	const struct findings *const j = &s->findings;

	o->format = s->format;
	o->dialect = s->open ? t->dialect : NULL;
	o->byte_order = s->open ? t->byte_order : NULL;
	o->records = t->records;
	o->events = t->events;
	o->further = t->further;
	o->unread = s->reader.unread;
	o->complete = s->complete;
	o->status = s->unreadable ? 2 : j->levels[LEVEL_ERROR] > 0 ? 1 : 0;
	for (size_t i = 0; i < j->ncounts; i++)
		o->findings = hash_u64(o->findings ^ j->counts[i].count, (uintptr_t)j->counts[i].rule);
}

static bool begin_source(void *ctx, const struct source *s)
{
	struct fuzz_pass *const p = ctx;

	(void)s;
	p->opened = true;
	p->stopped = p->begin != NULL && !p->begin(p->ctx, p->pipeline);
	return !p->stopped;
}

static void end_source(void *ctx, const struct source *s)
{
	struct fuzz_pass *const p = ctx;

	if (s->as_whole)
		return;
	note_outcome(p, s);
	p->stopped = p->stopped || !source_holds(p, s);
}

/* Whether all was read. */
static bool read_batches(struct fuzz_pass *p)
{
	enum stage_status status;
	struct batch *b;

	while ((status = pipeline_next(p->pipeline, &b)) == STAGE_MORE)
		if (p->take == NULL)
			batch_release(b);
		else if (!p->take(p->ctx, p->pipeline, b))
			return false;
	return status == STAGE_END;
}

bool fuzz_pass_run(struct fuzz_pass *p)
{
	static struct vocabularies retained; /* loading takes longer than a small input */
	static const char *const paths[] = { "memory" };
	struct input *const in =
	    p->step > 0 ? input_from_memory_slowly(p->p, p->n, p->step) : input_from_memory(p->p, p->n);
	const struct pipeline_job job = {
		.in.paths = paths,
		.in.npaths = 1,
		.in.input = in,
		.in.from = p->from,
		.in.dialect = p->dialect,
		.in.vocabularies = &retained,
		.read.want = p->want,
		.adjust.rebase = p->rebase,
		.read.as = p->raw_from != NULL ? READ_FIELDS : READ_MEANING,
		.read.copy_of = p->raw_from,
		.arrange.lanes = p->lanes ? LANES_ASSIGN : LANES_NONE,
		.to.sink = add_finding,
		.to.ctx = p,
		.to.hooks = { .opened = begin_source, .closed = end_source, .ctx = p },
	};

	if (in == NULL)
		return fuzz_broken(p->result, "no memory");
	if (p->first_window > 0)
		input_need(in, p->first_window < p->n ? p->first_window : p->n);
	p->opened = p->stopped = false;
	bool ok = pipeline_open(&p->pipeline, &job) && read_batches(p);
	pipeline_end(p->pipeline);
	ok = ok && !p->stopped && (!p->opened || p->end == NULL || p->end(p->ctx, p->pipeline));
	pipeline_close(p->pipeline);
	return ok && p->result->fault[0] == '\0';
}

/* ---- passes with equal outcomes ---- */

static bool outcomes_agree(struct fuzz_pass *p, const struct fuzz_outcome *want, const char *which)
{
	const struct fuzz_outcome *const o = &p->outcome;

	MUST(o->format == want->format && o->dialect == want->dialect && o->byte_order == want->byte_order,
	     "%s: another format, dialect or byte order", which);
	/* which ends of spans have a begin is known once events are sorted, which validation does not do */
	MUST(o->records == want->records &&
	         (o->events == want->events || o->further > 0 || want->further > 0),
	     "%s: %" PRIu64 " records and %" PRIu64 " events, validation met %" PRIu64 " and %" PRIu64, which,
	     o->records, o->events, want->records, want->events);
	MUST(o->nfindings == want->nfindings && o->findings == want->findings, "%s: other findings", which);
	MUST(o->unread == want->unread && o->complete == want->complete && o->status == want->status,
	     "%s: another end", which);
	return true;
}

/* Runs a pass that wants everything, with the window of pass.step.  *changes: the dialect is another one
 * after opening than at the end. */
static bool check_events(struct fuzz_pass pass, const struct fuzz_outcome *want, uint64_t *hash,
                         bool *changes)
{
	struct contract c = { .result = pass.result, .p = pass.p, .n = pass.n };
	struct fuzz_pass *const p = &pass;

	p->want = WANT_ALL;
	p->begin = contract_begin;
	p->take = contract_take;
	p->ctx = &c;
	p->end = contract_end;
	if (p->step > 0 && want->guessed)
		p->first_window = FIRST_WINDOW;
	if (!fuzz_pass_run(p) ||
	    !outcomes_agree(p, want, p->step > 0 ? "in small steps" : "with everything wanted"))
		return false;
	MUST(p->step == 0 || *hash == 0 || c.hash == *hash, "in steps of %zu: other events", p->step);
	*hash = c.hash;
	*changes = c.dialect != NULL && strcmp(c.dialect, want->dialect) != 0;
	return true;
}

static bool check_steps(struct fuzz_pass pass, const struct fuzz_outcome *validated, unsigned parts)
{
	static const struct {
		unsigned part;
		size_t step;
	} rows[] = { { FUZZ_SLOW_64, 64 }, { FUZZ_SLOW_7, 7 }, { FUZZ_SLOW_1, 1 } };
	uint64_t hash = 0;
	bool changes = false;

	if ((parts & FUZZ_EVENTS) != 0 && !check_events(pass, validated, &hash, &changes))
		return false;
	if ((parts & (FUZZ_SLOW_64 | FUZZ_SLOW_7 | FUZZ_SLOW_1)) == 0)
		return true;
	/* a small first window is not enough to detect format and dialect; one that is asked for is judged by
	 * the letter */
	pass.from = validated->format;
	pass.dialect = validated->dialect[0] != '\0' ? validated->dialect : NULL;
	struct fuzz_pass named = pass;
	if (!fuzz_pass_run(&named))
		return false;
	named.outcome.guessed = validated->guessed;
	/* if the dialect changes, events before that are those of another one */
	if (changes && !check_events(pass, &named.outcome, &hash, &changes))
		return false;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		pass.step = rows[i].step;
		if ((parts & rows[i].part) != 0 && (uint64_t)pass.n * pass.n / pass.step <= MAX_COPIED &&
		    !check_events(pass, &named.outcome, &hash, &changes))
			return false;
	}
	return true;
}

bool fuzz_check(struct fuzz_result *r, const char *p, size_t n, const struct format *format,
                const char *dialect, unsigned parts)
{
	struct fuzz_pass validation = { .result = r, .p = p, .n = n, .from = format, .dialect = dialect };

	*r = (struct fuzz_result){ .fault = "" };
	const bool ok = fuzz_pass_run(&validation);
	r->status = validation.outcome.status;
	if (!ok)
		return fuzz_broken(r, "the pass of validate ended early");
	if (validation.outcome.dialect == NULL)
		return true; /* not opened: all passes would end here */
	struct fuzz_pass pass = { .result = r, .p = p, .n = n, .from = format, .dialect = dialect };
	pass.few = (parts & FUZZ_FEW) != 0;
	if (!check_steps(pass, &validation.outcome, parts))
		return fuzz_broken(r, "a pass with everything wanted ended early");
	if ((parts & FUZZ_CONVERT) != 0 && !fuzz_convert(pass, &validation.outcome))
		return fuzz_broken(r, "converting ended early");
	pass.rebase = true;
	if ((parts & FUZZ_REBASE) != 0 && !fuzz_convert(pass, &validation.outcome))
		return fuzz_broken(r, "converting with times from 0 ended early");
	pass.rebase = false;
	return (parts & FUZZ_STATS) == 0 || fuzz_stats(pass, &validation.outcome) ||
	       fuzz_broken(r, "counting ended early");
}
