#include <stdlib.h>

#include "ovni/format.h"
#include "ovni/state.h"

/* The trace: the state that its streams share, and the checks that need all of them. */

static bool
wants_state(const struct option_value *list)
{
	return ovni_group_selected(list, "state");
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
check_process(struct ovni_system *s, struct reader *r, const struct ovni_process *p)
{
	if (p->loom == TABLE_NONE) {
		if (ovni_system_find_process(s, p->pid) == TABLE_NONE)
			ovni_report(r, OVNI_RULE_NO_LOOM, "no thread of process %" PRId64 " has ovni.loom",
			            p->pid);
		return;
	}
	s->looms[p->loom].processes++;
	s->looms[p->loom].ranked += p->rank >= 0;
	if (p->app_id < 0)
		ovni_report_refused(r, OVNI_RULE_APP_ID,
		                    "no thread of process %" PRId64 " has a positive ovni.app_id", p->pid);
}

/* M16, M17: ovniemu refuses it inside a loom, and cannot sort looms of which only some have ranks. */
static void
check_ranks(const struct ovni_system *s, struct reader *r)
{
	uint32_t ranked = 0, placed = 0;
	bool inside = false;
	struct quoted q;

	for (uint32_t i = 0; i < s->nlooms; i++) {
		const struct ovni_loom *const l = &s->looms[i];
		placed += l->processes;
		ranked += l->ranked;
		if (l->ranked > 0 && l->ranked < l->processes)
			ovni_report_refused(r, OVNI_RULE_RANK_MIXED,
			                    "%" PRIu32 " of %" PRIu32 " processes of loom %s have a rank",
			                    l->ranked, l->processes, quoted(&q, l->name));
		inside |= l->ranked > 0 && l->ranked < l->processes;
	}
	if (!inside && ranked > 0 && ranked < placed)
		ovni_report(r, OVNI_RULE_RANK_MIXED, "%" PRIu32 " of %" PRIu32 " processes have a rank",
		            ranked, placed);
}

static void
check_processes(struct ovni_system *s, struct reader *r)
{
	for (uint32_t i = 0; i < s->nprocesses; i++)
		check_process(s, r, &s->processes[i]);
	check_ranks(s, r);
}

/* M29 */
static void
check_breakdown(const struct ovni_system *s, struct reader *r)
{
	bool on = false;

	for (uint32_t i = 0; i < s->nrequired; i++)
		on |= slice_is(s->required[i], "nosv");
	if (!on || !ovni_group_selected(r->options, "breakdown"))
		return;
	if (s->breakdown_lacks.n > 0)
		ovni_report(r, OVNI_RULE_NO_BREAKDOWN,
		            "thread %" PRId64 " of process %" PRId64
		            " has no boolean nosv.can_breakdown; %" PRIu32 " such threads",
		            s->breakdown_lacks.tid, s->breakdown_lacks.pid, s->breakdown_lacks.n);
	if (s->breakdown_off.n > 0)
		ovni_report(r, OVNI_RULE_BREAKDOWN_OFF,
		            "nosv.can_breakdown of thread %" PRId64 " of process %" PRId64
		            " is false; %" PRIu32 " such threads",
		            s->breakdown_off.tid, s->breakdown_off.pid, s->breakdown_off.n);
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
	check_breakdown(&sh->system, r);
	check_cpus(&sh->system, r);
}

static void
check_event(struct reader *r, const struct batch *b, const struct event *e)
{
	struct ovni_shared *const sh = r->shared;
	struct ovni_state *const st = r->state;

	if (e->phase == PHASE_STRUCTURE)
		return;
	if (sh->checker == NULL)
		sh->checker = state_checker_new(&sh->system);
	sh->system.no_memory |= sh->checker == NULL;
	if (!sh->system.no_memory && r->trace->vocabulary != NULL)
		state_check_event(sh->checker, &st->stream, r, b, e);
}

static const char *const sidecars[] = { "stream.json", "metadata.json", NULL };
static const char *const beside[] = { "clock-offsets.txt", NULL };

/* Up to the folder that holds the looms, as libovni names what it writes:
 * ovni/loom.HOST.PID/proc.PID/thread.TID/stream.obs. */
static size_t
trace_path(const char *path)
{
	const char *const loom = strstr(path, "/loom.");

	return loom != NULL ? (size_t)(loom - path) : 0;
}

const struct trace_ops ovni_trace_ops = {
	.trace_path = trace_path,
	.sidecars = sidecars,
	.beside = beside,
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
