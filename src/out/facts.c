/* Iterates over the facts of a trace: facts of the run, metadata of the input, counts of losses. */
#include "base/slice.h"
#include "model/value.h"
#include "out/facts.h"
#include "output/text.h"

/* A fact that occurs at most once.  Returns false if it is not known. */
static bool own_fact(const struct run_facts *run, struct fact *fact)
{
	static const char *const names[] = {
		[FACT_TOOL] = "tool",
		[FACT_FORMAT] = "format",
		[FACT_DIALECT] = "dialect",
		[FACT_BYTE_ORDER] = "byte_order",
		[FACT_CLOCK] = "clock",
		[FACT_EPOCH] = "epoch_ns",
		[FACT_REBASED_BY] = "rebased_by_ns",
		[FACT_RECORDS] = "records",
		[FACT_EVENTS] = "events",
	};
	const struct trace *const t = run->trace;
	const char *const texts[] = {
		[FACT_TOOL] = run->tool,           [FACT_FORMAT] = t->format, [FACT_DIALECT] = t->dialect,
		[FACT_BYTE_ORDER] = t->byte_order, [FACT_CLOCK] = t->clock,
	};

	fact->name = slice_str(names[fact->kind]);
	if (fact->kind <= FACT_CLOCK) {
		const char *const text = texts[fact->kind];
		fact->value = value_string(text != NULL ? slice_str(text) : slice_of("", 0));
		return fact->value.count > 0;
	}
	if (fact->kind == FACT_REBASED_BY && run->rebased_by < 0)
		fact->value = (struct value){ .type = VALUE_I64, .i64 = (int64_t)run->rebased_by };
	else
		fact->value = value_u64(fact->kind == FACT_EPOCH        ? t->epoch_ns
		                        : fact->kind == FACT_REBASED_BY ? (uint64_t)run->rebased_by
		                        : fact->kind == FACT_RECORDS    ? t->records
		                                                        : t->events);
	return fact->kind == FACT_EPOCH ? t->epoch_known : fact->kind != FACT_REBASED_BY || run->rebased;
}

bool facts_next(struct facts *f, struct fact *fact)
{
	const struct run_facts *const run = f->run;

	for (; f->kind < FACT_KINDS; f->kind++, f->index = 0) {
		const uint32_t i = f->index++;
		*fact = (struct fact){ .kind = (enum fact_kind)f->kind, .index = i };
		if ((f->kinds & FACTS_OF(f->kind)) == 0)
			continue;
		if (f->kind == FACT_TRACE && i < run->trace->nmeta) {
			fact->name = run->trace->meta[i].name;
			fact->value = run->trace->meta[i].value;
			return true;
		}
		if (f->kind == FACT_LOSS && i < run->total->n) {
			fact->name = slice_str(run->total->rows[i].loss->id);
			fact->value = value_u64(run->total->rows[i].count);
			return true;
		}
		if (f->kind < FACT_TRACE && i == 0 && own_fact(run, fact))
			return true;
	}
	return false;
}

void facts_lose(const struct writer *w, struct facts_losses lost, struct chunk *c)
{
	const struct trace *const t = w->run->trace;
	uint32_t hosts = 0;

	for (uint32_t i = 0; i < t->ntracks; i++)
		hosts += !t->tracks[i]->hidden && t->tracks[i]->host.n > 0;
	if (lost.facts != NULL && t->nmeta > 0)
		ledger_add(&c->ledger, lost.facts, LOSS_NOWHERE, t->nmeta);
	if (lost.hosts != NULL && hosts > 0)
		ledger_add(&c->ledger, lost.hosts, LOSS_NOWHERE, hosts);
	if (lost.epoch != NULL && t->epoch_known)
		ledger_add(&c->ledger, lost.epoch, LOSS_NOWHERE, 1);
}

void fact_put_name(struct text *t, const struct fact *fact)
{
	if (fact->kind >= FACT_TRACE)
		text_str(t, fact->kind == FACT_TRACE ? FACT_OF_TRACE : "losses.");
	text_slice(t, fact->name);
}

bool fact_is_of_trace(struct slice *name)
{
	const uint32_t n = sizeof FACT_OF_TRACE - 1;

	if (name->n <= n || memcmp(name->p, FACT_OF_TRACE, n) != 0)
		return false;
	name->p += n;
	name->n -= n;
	return true;
}

bool fact_put_text(struct text *t, const struct fact *fact)
{
	if (fact->value.type == VALUE_STRING)
		text_slice(t, value_text(&fact->value));
	else if (fact->kind != FACT_TRACE && fact->value.type == VALUE_I64)
		text_i64(t, fact->value.i64);
	else if (fact->kind != FACT_TRACE)
		text_u64(t, fact->value.u64);
	else
		return false;
	return true;
}
