/*
 * The loop of commands that report on each trace: stats, cat, info.  Traces are read on several threads; one
 * that has something to report waits until all before it are reported, so messages and reports are those of
 * one thread.
 */

#include "cli/traces.h"

#include <stdlib.h>

#include "cli/say.h"
#include "run/write/writing.h"

/* ---- one after the other ---- */

bool traces_begin(struct trace_run *r)
{
	struct options *const o = &r->options;

	if (!options_name_traces(o) || !options_traces(o, &r->groups))
		return false;
	if (!report_out_open(&r->out, o)) {
		o->status = STATUS_UNREADABLE;
		return false;
	}
	return r->begun = true;
}

bool traces_next(struct trace_run *r)
{
	if (r->next == r->groups.n)
		return false;
	r->trace = &r->groups.list[r->next++];
	r->path = trace_group_path(r->trace);
	return true;
}

struct pipeline_job traces_job(struct trace_run *r)
{
	struct pipeline_job job = options_job(&r->options, say_finding, &r->options);

	job.in.paths = &r->path;
	job.in.npaths = 1;
	job.in.operand = &r->trace->operand;
	job.to.hooks =
	    (struct pipeline_hooks){ .closed = traces_closed, .progress = options_progress, .ctx = r };
	progress_init(&r->options.progress, &r->options);
	return job;
}

void traces_closed(void *run, const struct source *s)
{
	struct trace_run *const r = run;

	progress_clear(&r->options.progress);
	r->status = worse(r->status, say_end(&r->options, s));
}

/* ---- several traces at a time ---- */

#define SLOTS_PER_THREAD 4

struct each {
	struct trace_slot *slots;
	void (*one)(struct trace_slot *t);
	size_t state_size;
};

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

static void close_input(void *ctx, const struct source *s)
{
	struct trace_slot *const t = ctx;

	trace_slot_turn(t);
	traces_closed(t->run, s);
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
	job.in.vocabularies = &t->vocabularies;
	job.to.hooks = (struct pipeline_hooks){ .closed = close_input, .progress = show_progress, .ctx = t };
	return job;
}

static void run_slot(void *ctx, size_t index)
{
	const struct each *const e = ctx;
	struct trace_slot *const t = &e->slots[index];

	memset(t->state, 0, e->state_size);
	e->one(t);
}

/* Other threads may report from now on. */
static void finish_slot(void *ctx, size_t index)
{
	const struct each *const e = ctx;

	e->slots[index].turn = false;
}

void traces_each(struct trace_run *r, uint64_t threads, size_t state_size, void (*one)(struct trace_slot *t))
{
	static const struct workers_ops ops = { .run = run_slot, .finish = finish_slot };
	const size_t wanted = options_threads(threads);
	const size_t all = r->groups.n > 0 ? r->groups.n : 1, nthreads = wanted < all ? wanted : all;
	/* More slots than threads, so that a thread finds the next trace while this one reads its own. */
	const size_t slots = nthreads * SLOTS_PER_THREAD;
	const size_t n = nthreads == 1 ? 1 : slots < all ? slots : all;
	struct each each = { calloc(n, sizeof *each.slots), one, state_size };
	struct workers *const workers = each.slots != NULL ? workers_new(n, nthreads - 1, &ops, &each) : NULL;
	bool ok = workers != NULL;

	for (size_t i = 0; ok && i < n; i++)
		ok = (each.slots[i].state = malloc(state_size)) != NULL;
	progress_init(&r->options.progress, &r->options);
	while (ok && r->next < r->groups.n) {
		const size_t index = workers_slot(workers);
		struct trace_slot *const t = &each.slots[index];
		t->run = r;
		t->workers = workers;
		t->index = index;
		t->turn = n == 1;
		t->number = r->next;
		t->trace = &r->groups.list[r->next++];
		t->path = trace_group_path(t->trace);
		workers_put(workers);
	}
	if (workers != NULL)
		workers_settle(workers);
	workers_free(workers);
	for (size_t i = 0; each.slots != NULL && i < n; i++) {
		vocabularies_free(&each.slots[i].vocabularies);
		free(each.slots[i].state);
	}
	free(each.slots);
	if (!ok) {
		options_no_memory(&r->options);
		r->status = worse(r->status, r->options.status);
	}
}

/* ---- end ---- */

enum exit_status traces_end(struct trace_run *r)
{
	if (r->begun) {
		report_out_put(&r->out, &r->text);
		r->status = worse(r->status, report_out_end(&r->out, &r->options, r->any));
		say_found(&r->options);
	} else {
		r->status = r->options.status;
	}
	text_free(&r->text);
	trace_groups_free(&r->groups);
	options_free(&r->options);
	return r->status;
}
