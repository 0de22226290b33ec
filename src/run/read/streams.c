/* Merges the streams of a trace by (time, path, offset) with a tournament (merge.h).  A stream keeps its own
 * order: if its clock goes back, an event gets the time of the one before it.
 *
 * Memory is divided among streams: with more of them, fewer events and fewer bytes of each file are buffered.
 * Merged batches share the memory of the batches of streams. */
#include <stdlib.h>

#include "base/memory.h"
#include "format/reader_modes.h"
#include "format/registry.h"
#include "run/read/merge.h"
#include "run/read/reading.h"

#define MERGED_EVENTS 512          /* of a merged batch */
#define MERGED_FIELDS 16384        /* of a merged batch, about */
#define MERGED_BYTES (4U << 20)    /* of text in a merged batch */
#define EVENTS_BUFFERED 16384      /* of all streams */
#define MAX_BUFFERED 256           /* events of one stream */
#define MIN_BUFFERED 4             /* events of one stream, however many there are */
#define BYTES_BUFFERED (12U << 20) /* of the files of all streams */
#define MAX_MAPPED 128             /* streams; with more, files are read in pieces */
#define FEW_STREAMS 64             /* see hold_all() */
#define MAX_PACKED 8               /* streams; each has a thread and some MiB */

struct stream {
	struct source source;
	struct batch batch;
	struct shared_memory *memory; /* of the batch, once it is shared */
	uint64_t shared_with;         /* number of the last merged batch that has a reference */
	size_t ordinal;               /* position in the order of operands */
	uint32_t number;              /* in the list, while they are merged */
};

/* The buffered events of a stream. */
struct stream_events {
	const struct event *next, *end;
	uint64_t after; /* ts of the event after next, if there is one: prefetched */
};

struct streams {
	struct stream **list;
	uint32_t n, cap;
	size_t packed;
	/* during the merge */
	bool begun;
	struct merge merge;
	struct merge_entry first;     /* the next event */
	struct stream_events *events; /* by stream */
	struct findings **findings;   /* by stream */
	uint64_t number;              /* of the merged batch */
	uint64_t out_bytes;           /* shared with it */
	uint32_t max;                 /* events of the batch */
	uint32_t *inputs;             /* stream of each of its events; of the batch */
	struct stream *last;          /* read last */
	bool no_memory;
};

bool streams_wanted(const struct source *s)
{
	const struct trace_ops *const ops = format_trace_ops(s->format);
	const struct pipeline_job *const job = s->context->job;
	const bool apart = s->context->raw && (s->context->want & WANT_FILES) != 0;

	return ops->merges && (((job->read.want & WANT_ORDER) != 0 && !apart) ||
	                       (ops->checks_order != NULL && ops->checks_order(job->in.options)));
}

bool streams_full(const struct reading *r, const struct source *s)
{
	return s->in->packing != INPUT_PLAIN && r->streams != NULL && r->streams->packed >= MAX_PACKED;
}

/* ---- opening ---- */

static struct stream *new_stream(struct reading *r)
{
	if (r->streams == NULL && (r->streams = calloc(1, sizeof *r->streams)) == NULL)
		return NULL;
	struct streams *const all = r->streams;
	if (!array_reserve(&all->list, all->n, &all->cap, sizeof *all->list))
		return NULL;
	struct stream *const s = calloc(1, sizeof *s);
	if (s != NULL)
		all->list[all->n++] = s;
	return s;
}

/* Findings of the stream are deferred, as several streams are read at the same time. */
bool streams_add(struct reading *r, struct source *from)
{
	const struct pipeline_hooks *const h = &r->context->job->to.hooks;
	struct stream *const s = new_stream(r);

	if (s == NULL) {
		source_no_memory(from);
		reading_report(r, from);
		return true;
	}
	s->ordinal = r->streams->n - 1;
	s->source = *from;
	s->source.deferred = trace_context_list(s->source.context);
	s->source.findings.list = &s->source.deferred;
	r->streams->packed += s->source.in->packing != INPUT_PLAIN;
	input_keep(s->source.in, BYTES_BUFFERED / r->inputs);
	if (r->inputs > MAX_MAPPED)
		r->piece = BYTES_BUFFERED / r->inputs + 1;
	return !source_start(&s->source) || h->opened == NULL || h->opened(h->ctx, &s->source);
}

/* ---- reading ---- */

/* Shares the memory of a stream's batch with the merged batch. */
static bool hold_memory(struct streams *all, struct stream *s, struct batch *out)
{
	struct batch *const b = &s->batch;

	if (s->shared_with == all->number)
		return true;
	s->shared_with = all->number;
	if (s->memory == NULL) {
		if (b->pins.n == 0 && b->scratch.used == 0 && b->engine.blocks == NULL &&
		    b->engine.nshared == 0)
			return true;
		all->out_bytes += input_pins_size(&b->pins) + b->scratch.used;
		s->memory = batch_share_memory(b);
	}
	return s->memory != NULL && batch_hold(out, s->memory);
}

/* Reads the next events of a stream; ends it and returns false if there are none. */
static bool next_batch(struct stream *s)
{
	struct batch *const b = &s->batch;

	shared_memory_drop(s->memory);
	s->memory = NULL;
	s->shared_with = 0;
	batch_recycle(b);
	if (s->source.in == NULL)
		return false;
	while (s->source.status == READ_MORE && b->n == 0)
		source_next(&s->source, b);
	if (b->n > 0)
		return true;
	/* A mapped input remains open until all batches are settled: they point into it, and a file that
	 * shrinks changes them. */
	if (s->source.in->packing != INPUT_PLAIN) {
		gate_pass(s->source.context->gate);
		source_end(&s->source);
	}
	batch_free(b);
	return false;
}

/* Reads the first events of a stream; returns false if there are none. */
static bool begin_stream(struct reading *r, struct stream *s)
{
	if (s->source.status == READ_MORE) {
		const size_t each = EVENTS_BUFFERED / r->streams->n;
		const size_t cap = each < MIN_BUFFERED   ? MIN_BUFFERED
		                   : each > MAX_BUFFERED ? MAX_BUFFERED
		                                         : each;
		/* one unused slot, as the event after the last is read */
		if (batch_init(&s->batch, (uint32_t)cap + 1, (r->context->want & WANT_BYTES) != 0))
			s->batch.cap--;
		else
			s->source.status = READ_NO_MEMORY;
	}
	return next_batch(s);
}

/* ---- merging ---- */

static void set_events(struct stream_events *h, const struct batch *b)
{
	h->next = b->events;
	h->end = b->events + b->n;
	h->after = b->events[1].ts;
}

/* The next entry of a stream whose buffered events were all merged. */
static struct merge_entry next_events(struct streams *all, struct merge_entry e, struct batch *out)
{
	struct stream *const s = all->list[e.source];
	struct stream_events *const h = &all->events[e.source];

	all->no_memory |= out->n > 0 && !hold_memory(all, s, out);
	all->last = s;
	if (!next_batch(s))
		return merge_ended(e.source);
	set_events(h, &s->batch);
	if (h->next->ts > e.key)
		e.key = h->next->ts;
	return e;
}

static bool is_full(const struct streams *all, const struct batch *out)
{
	return out->n == all->max || out->nfields >= MERGED_FIELDS || all->out_bytes > MERGED_BYTES ||
	       all->no_memory;
}

/* Merges events until the batch is full or all streams have ended. */
static void merge_events(struct reading *r, struct batch *out)
{
	struct streams *const all = r->streams;
	const struct trace_context *const c = r->context;
	const struct trace_ops *const ops = format_trace_ops(c->format);
	const bool fast = !c->checks_order && out->bytes == NULL;
	struct merge_entry e = all->first;

	while (e.source < MERGE_ENDED && !is_full(all, out)) {
		struct stream_events *const h = &all->events[e.source];
		const struct event *const from = h->next++;
		all->inputs[out->n] = e.source;
		if (fast && from->nfields == 0) {
			out->events[out->n++] = *from;
		} else {
			struct stream *const s = all->list[e.source];
			if (c->checks_order) {
				ops->check_event(&s->source.reader, &s->batch, from);
				all->no_memory |= s->source.reader.no_memory;
			}
			if (c->job->read.want != WANT_FINDINGS)
				all->no_memory |=
				    !batch_copy_event(out, &s->batch, (uint32_t)(from - s->batch.events));
		}
		if (h->next == h->end) {
			e = next_events(all, e, out);
		} else {
			e.key = h->after > e.key ? h->after : e.key;
			h->after = h->next[1].ts;
		}
		e = merge_next(&all->merge, e);
	}
	all->first = e;
}

/* Shares the memory of the streams' current batches with the merged batch.  With few streams, tests streams
 * instead of events, which is cheaper. */
static void hold_all(struct streams *all, struct batch *out)
{
	const size_t n = all->n <= FEW_STREAMS ? all->n : out->n;

	for (size_t i = 0; out->n > 0 && i < n; i++) {
		struct stream *const s = all->list[all->n <= FEW_STREAMS ? i : all->inputs[i]];
		if (s->batch.events != NULL && all->events[s->number].next > s->batch.events)
			all->no_memory |= !hold_memory(all, s, out);
	}
}

/* Streams of equal path are in order of the operands. */
static int by_path(const void *a, const void *b)
{
	const struct stream *const x = *(struct stream *const *)a, *const y = *(struct stream *const *)b;
	const int order = strcmp(x->source.location.path, y->source.location.path);

	return order != 0 ? order : ORDER(x->ordinal, y->ordinal);
}

/* The list is NULL without streams or on OOM; qsort() of NULL is undefined. */
static void sort_streams(struct streams *all)
{
	array_sort(all->list, all->n, sizeof *all->list, by_path);
}

/* Reads the first events of all streams. */
static bool begin(struct reading *r)
{
	struct streams *const all = r->streams;
	struct merge_entry *const first = calloc(all->n, sizeof *first);
	bool ok = first != NULL && (all->events = calloc(all->n, sizeof *all->events)) != NULL &&
	          (all->findings = calloc(all->n, sizeof *all->findings)) != NULL;

	all->begun = true;
	for (size_t i = 0; ok && i < all->n; i++) {
		struct stream *const s = all->list[i];
		const bool some = begin_stream(r, s);
		all->findings[i] = &s->source.findings;
		s->number = (uint32_t)i;
		first[i] = some ? (struct merge_entry){ s->batch.events[0].ts, (uint32_t)i }
		                : merge_ended((uint32_t)i);
		if (some)
			set_events(&all->events[i], &s->batch);
	}
	ok = ok && merge_init(&all->merge, first, (uint32_t)all->n);
	if (ok)
		all->first = all->merge.first;
	free(first);
	return ok;
}

/* A single stream needs no merge. */
static void fill_from_one(struct reading *r, struct batch *out)
{
	struct stream *const s = r->streams->list[0];

	r->streams->last = s;
	while (s->source.in != NULL && s->source.status == READ_MORE && out->n == 0) {
		source_next(&s->source, out);
		source_check_events(&s->source, out);
		job_progress(r->context->job, s->source.in);
	}
	out->engine.findings = &s->source.findings;
}

static void fill_from_all(struct reading *r, struct batch *out)
{
	struct streams *const all = r->streams;

	if (!all->begun) {
		sort_streams(all);
		all->no_memory = !begin(r);
	}
	all->number++;
	all->out_bytes = 0;
	all->max = out->cap < MERGED_EVENTS ? out->cap : MERGED_EVENTS;
	all->inputs = arena_alloc(&out->scratch, all->max * sizeof *all->inputs);
	all->no_memory |= all->inputs == NULL;
	if (!all->no_memory)
		merge_events(r, out);
	hold_all(all, out);
	out->engine.input_findings = all->findings;
	out->engine.inputs = all->inputs;
	if (all->last != NULL && all->last->source.in != NULL)
		job_progress(r->context->job, all->last->source.in);
}

enum stage_status streams_next(struct reading *r, struct batch **out)
{
	struct streams *const all = r->streams;
	struct trace_context *const c = r->context;
	struct batch *const b = batch_pool_take(r->pool);

	all->no_memory |= b == NULL;
	if (!all->no_memory && all->n == 1)
		fill_from_one(r, b);
	else if (!all->no_memory)
		fill_from_all(r, b);
	if (all->no_memory) {
		source_report_no_memory(&c->findings, NULL);
		c->unreadable = c->system_failed = true;
		batch_release(b);
		return STAGE_BAD;
	}
	if (b->n > 0) {
		b->engine.read = c->read;
		*out = b;
		return STAGE_MORE;
	}
	batch_release(b);
	streams_end(r);
	return STAGE_MORE;
}

/* ---- the end ---- */

struct source *streams_present(struct reading *r)
{
	return r->streams != NULL && r->streams->last != NULL ? &r->streams->last->source : NULL;
}

static void report_stream(struct reading *r, struct stream *s)
{
	struct findings *const j = &s->source.findings;

	source_end(&s->source);
	batch_free(&s->batch);
	shared_memory_drop(s->memory);
	j->list = r->context->job->to.list;
	findings_pass_all(j, &s->source.deferred);
	reading_report(r, &s->source);
	free(s);
}

void streams_end(struct reading *r)
{
	struct streams *const all = r->streams;
	const struct pipeline_hooks *const h = &r->context->job->to.hooks;

	gate_pass(r->context->gate);
	if (h->settle != NULL)
		h->settle(h->ctx);
	if (!all->begun)
		sort_streams(all);
	for (size_t i = 0; i < all->n; i++)
		report_stream(r, all->list[i]);
	if (all->begun)
		merge_free(&all->merge);
	free(all->events);
	free(all->findings);
	free(all->list);
	free(all);
	r->streams = NULL;
}
