#include <stdlib.h>

#include "ovni/ovni_format.h"
#include "ovni/ovni_state.h"

/* The trace: the state that its streams share, and the checks that need all of them. */

static bool
wants_state(const struct option_value *list)
{
	for (; list != NULL; list = list->next)
		if (strcmp(list->name, "rules") == 0 && strcmp(list->value, "state") == 0)
			return true;
	return false;
}

static bool
open_trace(struct reader *r)
{
	struct ovni_shared *const sh = r->shared;

	sh->check_state = wants_state(r->options);
	return ovni_offsets_open(&sh->offsets, &sh->system, r);
}

static void
close_trace(void *shared)
{
	struct ovni_shared *const sh = shared;

	state_checker_free(sh->checker);
	ovni_codes_free(&sh->codes);
	ovni_offsets_free(&sh->offsets);
	ovni_system_free(&sh->system);
}

/* ---- checks ---- */

static int
by_index(const void *a, const void *b)
{
	const struct ovni_cpu *const x = a, *const y = b;

	if (x->loom != y->loom)
		return x->loom < y->loom ? -1 : 1;
	return x->index != y->index ? (x->index < y->index ? -1 : 1)
	                            : (x->phyid > y->phyid) - (x->phyid < y->phyid);
}

/* "from 0 to N - 1": sorted, each CPU has its place as its index.  The first that has not is reported. */
static void
check_cpus(struct ovni_system *s, struct reader *r)
{
	struct quoted q;
	uint32_t place = 0;
	bool reported = false;

	if (s->ncpus > 0)
		qsort(s->cpus, s->ncpus, sizeof *s->cpus, by_index);
	for (uint32_t i = 0; i < s->ncpus; i++) {
		const struct ovni_cpu *const c = &s->cpus[i];
		if (i == 0 || c->loom != c[-1].loom) {
			place = 0;
			reported = false;
		}
		if (c->index != place++ && !reported) {
			ovni_report(r, OVNI_RULE_CPU_INDEX,
			            "loom %s has %" PRIu32 " CPUs: index %" PRIu32 " (phyid %" PRIu32
			            ") where %" PRIu32 " is expected",
			            quoted(&q, s->looms[c->loom].name), s->looms[c->loom].cpus, c->index,
			            c->phyid, place - 1);
			reported = true;
		}
	}
	for (uint32_t i = 0; i < s->nlooms; i++)
		if (s->looms[i].cpus == 0)
			ovni_report(r, OVNI_RULE_NO_CPUS, "no stream of loom %s has ovni.loom_cpus",
			            quoted(&q, s->looms[i].name));
}

static void
check_processes(const struct ovni_system *s, struct reader *r)
{
	uint32_t ranked = 0, placed = 0;

	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct ovni_process *const p = &s->processes[i];
		if (p->loom == TABLE_NONE && ovni_system_find_process(s, p->pid) == TABLE_NONE)
			ovni_report(r, OVNI_RULE_NO_LOOM, "no thread of process %" PRId64 " has ovni.loom",
			            p->pid);
		if (p->loom == TABLE_NONE)
			continue;
		placed++;
		ranked += p->rank >= 0;
		if (p->app_id < 0)
			ovni_report(r, OVNI_RULE_APP_ID,
			            "no thread of process %" PRId64 " has a positive ovni.app_id", p->pid);
	}
	if (ranked > 0 && ranked < placed)
		ovni_report(r, OVNI_RULE_RANK_MIXED, "%" PRIu32 " of %" PRIu32 " processes have a rank",
		            ranked, placed);
}

static void
check_trace(struct reader *r)
{
	struct ovni_shared *const sh = r->shared;

	ovni_offsets_check(&sh->offsets, &sh->system, r);
	/* after the last batch no stream can report it */
	if (sh->system.no_memory)
		ovni_report(r, OVNI_RULE_LIMIT, "memory ran out: the trace was not checked completely");
	else if (sh->checker != NULL)
		state_check_end(sh->checker, r);
	/* of single streams, others may declare what these do not */
	if (!sh->system.in_folder)
		return;
	check_processes(&sh->system, r);
	check_cpus(&sh->system, r);
}

static void
check_event(struct reader *r, const struct batch *b, const struct event *e)
{
	struct ovni_shared *const sh = r->shared;
	struct ovni_state *const st = r->state;

	if (sh->checker == NULL)
		sh->checker = state_checker_new(&sh->system);
	sh->system.no_memory |= sh->checker == NULL;
	if (!sh->system.no_memory && r->trace->vocabulary != NULL)
		state_check_event(sh->checker, &st->stream, r, b, e);
}

static const char *const sidecars[] = { "stream.json", "metadata.json", NULL };

const struct trace_ops ovni_trace_ops = {
	.sidecars = sidecars,
	.check_sidecar = ovni_check_sidecar,
	.shared_size = sizeof(struct ovni_shared),
	.open = open_trace,
	.check = check_trace,
	.close = close_trace,
	.merges = true,
	.checks_order = wants_state,
	.check_event = check_event,
	.checks_payloads = true,
};
