#include <stdlib.h>

#include "ovni/ovni.h"
#include "ovni/state/check.h"

/* ---- anomalies ---- */

enum anomaly_kind {
	ANOMALY_NONE,
	ANOMALY_EVENT, /* the model is known, the event is not */
	ANOMALY_MODEL,
	ANOMALY_OLD, /* written by old releases */
	ANOMALY_SIZE,
	ANOMALY_JUMBO, /* a jumbo event where a normal one is expected, or the reverse */
	ANOMALY_TEXT   /* no NUL in the data */
};

struct anomaly {
	uint8_t kind; /* enum anomaly_kind */
	bool jumbo;
	uint16_t code;
	struct finding_tally tally; /* now: bytes of the payload; before: those expected */
};

/* Kinds in one stream that are counted one by one; further ones are counted together. */
#define ANOMALIES_MAX 16

struct ovni_anomalies {
	struct anomaly list[ANOMALIES_MAX];
	uint32_t n;
	struct finding_tally others;
};

/* ---- payloads ---- */

/* A layout with texts, or values that repeat, against the bytes. */
static enum anomaly_kind walk_layout(const struct plan *m, struct slice payload)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < m->nlayout; i++) {
		const struct plan_layout_field *const f = &m->layout[i];
		const uint32_t rest = payload.n - at;
		if (f->type == VALUE_BYTES)
			return ANOMALY_NONE;
		if (f->type == VALUE_STRING) {
			const char *const nul = rest > 0 ? memchr(payload.p + at, '\0', rest) : NULL;
			if (nul == NULL)
				return ANOMALY_TEXT;
			at = (uint32_t)(nul - payload.p) + 1;
		} else if (f->repeated) {
			return rest % plan_width(f->type) == 0 ? ANOMALY_NONE : ANOMALY_SIZE;
		} else if (rest < plan_width(f->type)) {
			return ANOMALY_SIZE;
		} else {
			at += plan_width(f->type);
		}
	}
	return at == payload.n ? ANOMALY_NONE : ANOMALY_SIZE;
}

static enum anomaly_kind kind_of(const struct ovni_code *c, bool jumbo, uint32_t size, struct slice payload)
{
	const struct plan *const m = c->plan;

	if (m == NULL)
		return ovni_model_name((unsigned char)(c->bytes >> 8)) != NULL ? ANOMALY_EVENT
		                                                               : ANOMALY_MODEL;
	if (c->old || (c->old_size >= 0 && !jumbo && size == (uint32_t)c->old_size))
		return ANOMALY_OLD;
	if (!m->has_layout)
		return ANOMALY_NONE;
	if (jumbo != c->jumbo)
		return ANOMALY_JUMBO;
	if (!m->layout_open)
		return size == m->layout_size ? ANOMALY_NONE : ANOMALY_SIZE;
	if (size < m->layout_size)
		return ANOMALY_SIZE;
	return payload.n == size ? walk_layout(m, payload) : ANOMALY_NONE; /* dropped, it was too large */
}

/* ---- counting ---- */

/* The row for anomalies of this kind and code; NULL: there are too many. */
static struct anomaly *find_row(struct ovni_anomalies *all, const struct ovni_codes *codes,
                                enum anomaly_kind kind, uint16_t code)
{
	const uint32_t mask = kind == ANOMALY_MODEL ? 0xff00U : 0xffffff00U;
	const uint32_t bytes = codes->list[code].bytes & mask;

	for (uint32_t i = 0; i < all->n; i++) {
		struct anomaly *const a = &all->list[i];
		if (a->kind == kind && (codes->list[a->code].bytes & mask) == bytes)
			return a;
	}
	return all->n < ANOMALIES_MAX ? &all->list[all->n++] : NULL;
}

bool ovni_check_payload(struct ovni_anomalies **all, struct ovni_codes *codes, struct reader *r,
                        const struct ovni_code *c, const struct ovni_record *e, bool big)
{
	const uint32_t word = load_u32(e->bytes.p, false);
	const bool jumbo = (word & OVNI_FLAG_JUMBO) != 0;
	const uint32_t size = jumbo ? load_u32(e->bytes.p + OVNI_EVENT_SIZE, big) : e->payload.n;
	/* there is no vocabulary, or there are too many codes */
	const bool unknown = r->trace->vocabulary == NULL || c == &codes->others;
	const enum anomaly_kind kind = unknown ? ANOMALY_NONE : kind_of(c, jumbo, size, e->payload);

	if (kind == ANOMALY_NONE) {
		if (!jumbo && (c->plan == NULL || !c->plan->layout_open))
			ovni_remember_fast(codes, word, c->cls);
		return true;
	}
	if (*all == NULL && (*all = calloc(1, sizeof **all)) == NULL)
		return false;
	const uint16_t code = (uint16_t)(c - codes->list);
	struct anomaly *const a = find_row(*all, codes, kind, code);
	if (a == NULL) {
		finding_tally_add(&(*all)->others, e->offset, r->records, 0, 0);
		return true;
	}
	if (a->tally.count == 0) {
		a->kind = (uint8_t)kind;
		a->jumbo = jumbo;
		a->code = code;
	}
	finding_tally_add(&a->tally, e->offset, r->records, size, c->plan != NULL ? c->plan->layout_size : 0);
	return true;
}

/* ---- reporting ---- */

static const char *event_kind(bool jumbo)
{
	return jumbo ? "a jumbo event" : "a normal event";
}

#define REPORT(j, rule, a, ...)                                                                              \
	finding_add_times((j), &ovni_rules[OVNI_RULE_##rule], (a)->tally.offset, (a)->tally.record,          \
	                  (a)->tally.count, __VA_ARGS__)

static void report_old(struct findings *j, const struct anomaly *a, const struct ovni_code *c,
                       const char *name)
{
	const struct slice word = plan_word(c->plan, "old-name");
	struct quoted q;

	if (c->old)
		REPORT(j, OLD_EVENT, a, "event %s", name);
	else
		REPORT(j, OLD_EVENT, a,
		       "event %s: a payload of %" PRIu64 " bytes, as written by %s, now %" PRIu64, name,
		       a->tally.now, quoted(&q, word.p != NULL ? word : SLICE_LIT("an older release")),
		       a->tally.before);
}

static void report_anomaly(struct findings *j, const struct anomaly *a, const struct ovni_code *c)
{
	const bool open = c->plan != NULL && c->plan->layout_open;
	struct quoted name, q;

	quoted(&name, c->cls->name);
	switch ((enum anomaly_kind)a->kind) {
	case ANOMALY_EVENT:
		REPORT(j, UNKNOWN_EVENT, a, "event %s: the model %s has no such event", name.s,
		       quoted(&q, c->cls->category));
		break;
	case ANOMALY_MODEL:
		REPORT(j, UNKNOWN_MODEL, a, "event %s: the model %s is unknown", name.s,
		       quoted(&q, c->cls->category));
		break;
	case ANOMALY_OLD:
		report_old(j, a, c, name.s);
		break;
	case ANOMALY_JUMBO:
		REPORT(j, PAYLOAD_SIZE, a, "event %s: %s with %" PRIu64 " bytes, expected %s with %s%" PRIu64,
		       name.s, event_kind(a->jumbo), a->tally.now, event_kind(c->jumbo),
		       open ? "at least " : "", a->tally.before);
		break;
	case ANOMALY_TEXT:
		REPORT(j, TEXT_END, a, "event %s: the string has no NUL within the %" PRIu64 " bytes of data",
		       name.s, a->tally.now);
		break;
	case ANOMALY_SIZE:
		REPORT(j, PAYLOAD_SIZE, a, "event %s: a payload of %" PRIu64 " bytes, expected %s%" PRIu64,
		       name.s, a->tally.now, open ? "complete values after the first " : "", a->tally.before);
		break;
	case ANOMALY_NONE:
		break;
	}
}

void ovni_report_anomalies(const struct ovni_anomalies *all, const struct ovni_codes *codes, struct reader *r)
{
	for (uint32_t i = 0; all != NULL && i < all->n; i++)
		report_anomaly(r->findings, &all->list[i], &codes->list[all->list[i].code]);
	if (all != NULL)
		finding_add_times(r->findings, &ovni_rules[OVNI_RULE_UNKNOWN_EVENT], all->others.offset,
		                  all->others.record, all->others.count,
		                  "further events are unknown or have an unexpected payload");
}

/* ---- trace ---- */

/* The trace: the state that its streams share, and the checks that need all of them. */

static bool wants_state(const struct option_value *list)
{
	return ovni_group_selected(list, "state");
}

static bool open_trace(struct reader *r)
{
	struct ovni_shared *const sh = r->shared;

	sh->check_state = wants_state(r->options);
	return ovni_offsets_open(&sh->offsets, &sh->system, r);
}

static void close_trace(void *shared)
{
	struct ovni_shared *const sh = shared;

	state_checker_free(sh->checker);
	ovni_codes_free(&sh->codes);
	ovni_offsets_free(&sh->offsets);
	ovni_system_free(&sh->system);
}

/* ---- checks ---- */

static int by_index(const void *a, const void *b)
{
	const struct ovni_cpu *const x = a, *const y = b;

	if (x->loom != y->loom)
		return x->loom < y->loom ? -1 : 1;
	return x->index != y->index ? (x->index < y->index ? -1 : 1)
	                            : (x->phyid > y->phyid) - (x->phyid < y->phyid);
}

/* "from 0 to N - 1": sorted, each CPU has its place as its index.  The first that has not is reported. */
static void check_cpus(struct ovni_system *s, struct reader *r)
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

static void check_process(struct ovni_system *s, struct reader *r, const struct ovni_process *p)
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
static void check_ranks(const struct ovni_system *s, struct reader *r)
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

static void check_processes(struct ovni_system *s, struct reader *r)
{
	for (uint32_t i = 0; i < s->nprocesses; i++)
		check_process(s, r, &s->processes[i]);
	check_ranks(s, r);
}

/* M29 */
static void check_breakdown(const struct ovni_system *s, struct reader *r)
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

static void check_trace(struct reader *r)
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

static void check_event(struct reader *r, const struct batch *b, const struct event *e)
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
static size_t trace_path(const char *path)
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

/* ---- format ---- */

static const char *const suffixes[] = { ".obs", ".ovni", NULL };
static const char *const groups[] = { "format", "hygiene", "state", "breakdown", NULL };

static const struct format_option options[] = {
	{ .name = "check",
	  .arg = "GROUP",
	  .help = "check a further group of rules: state or breakdown",
	  .words = groups },
	{ .name = "clock-offsets",
	  .arg = "FILE",
	  .help = "clock offsets of hosts (default: clock-offsets.txt in the folder)" },
	{ .name = NULL },
};

extern const struct format ovni_format;

const struct format ovni_format = {
	.name = "ovni",
	.title = "ovni trace stream",
	.spec = "ovni trace specification v3",
	.recounted = (const char *const[]){ "clock", NULL },
	.suffixes = suffixes,
	.options = options,
	.reader = &ovni_reader_ops,
	.recover = &ovni_recover_ops,
	.trace = &ovni_trace_ops,
	.writer = &ovw_ops,
	.rules = ovni_rules,
	.losses = ovw_losses,
	.holds = HOLDS_FIELDS | HOLDS_INSTANTS | HOLDS_COUNTERS | HOLDS_ENDS | HOLDS_LISTS | HOLDS_PARTS |
	         HOLDS_NOT_UTF8 | HOLDS_FACTS | HOLDS_EPOCH | HOLDS_NUMBERS,
};
