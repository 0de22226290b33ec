/*
 * The loop of commands that read each trace: validate, stats, top, cat, info, compare.  Several threads read
 * traces.  A trace waits before its first message or report until all earlier traces are reported, so the
 * output is the same as with one thread.
 */

#include "cli/traces.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/workers.h"
#include "cli/names.h"
#include "cli/say.h"
#include "json/out.h"

bool traces_begin(struct trace_run *r, bool json)
{
	struct options *const o = &r->options;
	struct run_names n;

	if (!options_traces(o, &r->groups))
		return false;
	run_names_begin(&n, o, o->in, o->nin);
	n.listed = &r->groups.operands;
	run_names_output(&n);
	return run_names_end(&n) && traces_begin_report(r, json);
}

bool traces_begin_report(struct trace_run *r, bool json)
{
	struct options *const o = &r->options;

	if (!report_out_open(&r->out, o)) {
		o->status = STATUS_UNREADABLE;
		return false;
	}
	r->json = json;
	if (json) {
		struct json_out head = { .t = &r->text };
		json_out_begin(&head, NULL, "{");
		json_out_string(&head, "tool", TOOL_NAME);
		if (r->layout > 0)
			json_out_u64(&head, "layout", r->layout);
		json_out_begin(&head, "inputs", "[");
	}
	return r->begun = true;
}

/* ---- one trace ---- */

void trace_slot_turn(struct trace_slot *t)
{
	if (!t->turn)
		workers_turn(t->workers, t->index);
	t->turn = true;
}

static void report_finding(void *ctx, const struct findings *j, const struct finding *f)
{
	struct trace_slot *const t = ctx;

	trace_slot_turn(t);
	say_finding(&t->run->options, j, f);
}

static bool open_input(void *ctx, const struct source *s)
{
	struct trace_slot *const t = ctx;

	(void)s;
	t->is_read = true;
	return true;
}

void trace_slot_closed(void *slot, const struct source *s)
{
	struct trace_slot *const t = slot;
	struct trace_run *const r = t->run;

	trace_slot_turn(t);
	progress_clear(&r->options.progress);
	r->status = worse(r->status, say_end(&r->options, s));
}

static void show_progress(void *ctx, const struct input *in)
{
	const struct trace_slot *const t = ctx;

	if (t->turn)
		options_progress(&t->run->options, in);
}

struct pipeline_job trace_slot_job(struct trace_slot *t)
{
	struct pipeline_job job = options_job(&t->run->options, report_finding, t);

	job.in.paths = &t->path;
	job.in.npaths = 1;
	job.in.operand = &t->trace->operand;
	job.in.vocabularies = t->vocabularies;
	job.in.helpers = t->helpers;
	job.to.hooks = (struct pipeline_hooks){
		.opened = open_input, .closed = trace_slot_closed, .progress = show_progress, .ctx = t
	};
	return job;
}

/* ---- all traces ---- */

#define SLOTS_PER_THREAD 4 /* if a thread waits for the turn of its trace */
#define SLOTS_TO_FINISH 16 /* slots per thread, if no thread waits for the turn of its trace */

/* Parsed vocabularies, used by one thread at a time. */
struct kept {
	struct vocabularies vocabularies;
	struct kept *next;
};

struct each {
	struct trace_slot *slots;
	void (*one)(struct trace_slot *t);
	size_t state_size;
	struct kept *kept; /* vocabularies that no thread uses */
	pthread_mutex_t lock;
};

static void run_slot(void *ctx, size_t index)
{
	struct each *const e = ctx;
	struct trace_slot *const t = &e->slots[index];

	pthread_mutex_lock(&e->lock);
	struct kept *k = e->kept;
	e->kept = k != NULL ? k->next : NULL;
	pthread_mutex_unlock(&e->lock);
	if (k == NULL)
		k = calloc(1, sizeof *k);
	t->vocabularies = k != NULL ? &k->vocabularies : NULL;
	memset(t->state, 0, e->state_size);
	t->is_read = false;
	e->one(t);
	if (k == NULL)
		return;
	pthread_mutex_lock(&e->lock);
	k->next = e->kept;
	e->kept = k;
	pthread_mutex_unlock(&e->lock);
}

/* Other threads may report after this call. */
static void finish_slot(void *ctx, size_t index)
{
	const struct each *const e = ctx;
	struct trace_slot *const t = &e->slots[index];

	if (t->run->finish != NULL)
		t->run->finish(t);
	t->turn = false;
}

void traces_each(struct trace_run *r, uint64_t threads, size_t state_size, void (*one)(struct trace_slot *t))
{
	static const struct workers_ops ops = { .run = run_slot, .finish = finish_slot };
	const size_t wanted = options_threads(threads);
	const size_t all = r->groups.n > 0 ? r->groups.n : 1, nthreads = wanted < all ? wanted : all;
	/* More slots than threads, so that a thread gets its next trace without waiting. */
	const size_t slots = nthreads * (r->finish != NULL ? SLOTS_TO_FINISH : SLOTS_PER_THREAD);
	const size_t n = nthreads == 1 ? 1 : slots < all ? slots : all;
	struct each each = { .slots = calloc(n, sizeof *each.slots),
		             .one = one,
		             .state_size = state_size,
		             .lock = PTHREAD_MUTEX_INITIALIZER };
	struct workers *const workers = each.slots != NULL ? workers_new(n, nthreads - 1, &ops, &each) : NULL;
	bool ok = workers != NULL;

	for (size_t i = 0; ok && i < n; i++)
		ok = (each.slots[i].state = malloc(state_size > 0 ? state_size : 1)) != NULL;
	progress_init(&r->options.progress, &r->options);
	for (uint32_t i = 0; ok && i < r->groups.n; i++) {
		const size_t index = workers_slot(workers);
		struct trace_slot *const t = &each.slots[index];
		t->run = r;
		t->workers = workers;
		t->index = index;
		t->turn = n == 1;
		t->number = i;
		t->helpers = r->groups.n == 1 ? (unsigned)wanted - 1 : 0;
		t->trace = &r->groups.list[i];
		t->path = trace_group_path(t->trace);
		workers_put(workers);
	}
	if (workers != NULL)
		workers_settle(workers);
	workers_free(workers);
	for (struct kept *k = each.kept, *next; k != NULL; k = next) {
		next = k->next;
		vocabularies_free(&k->vocabularies);
		free(k);
	}
	for (size_t i = 0; each.slots != NULL && i < n; i++)
		free(each.slots[i].state);
	free(each.slots);
	if (!ok) {
		options_no_memory(&r->options);
		r->status = worse(r->status, r->options.status);
	}
}

enum exit_status traces_end(struct trace_run *r)
{
	if (r->begun) {
		if (r->json)
			text_str(&r->text, "\n]}\n");
		report_out_put(&r->out, &r->text);
		r->status = worse(r->status, report_out_end(&r->out, &r->options, r->any));
		say_found(&r->options);
		if (!r->options.quiet && r->groups.n > 1)
			say_parts(&r->parts);
	} else {
		r->status = r->options.status;
	}
	text_free(&r->text);
	trace_groups_free(&r->groups);
	options_free(&r->options);
	return r->status;
}
