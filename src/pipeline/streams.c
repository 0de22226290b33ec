#include <stdlib.h>

#include "check/input_rules.h"
#include "pipeline/pipeline_parts.h"
#include "pipeline/merge.h"

/*
 * Streams of one trace as one stream, in the order of (time, path, offset).
 *
 * A stream's events keep their own order: where its clock goes back, an event
 * counts as late as the one before it.
 *
 * Memory is shared out: the more streams there are, the fewer events of each
 * are at hand, and the less of its file is in memory.
 */

#define MERGED_EVENTS 512       /* in a batch that is handed on */
#define MERGED_FIELDS 16384     /* and about so many fields, */
#define MERGED_BYTES (4U << 20) /* and so much text in memory */
#define EVENTS_AT_HAND 16384    /* of all streams */
#define MOST_AT_HAND 256        /* of one */
#define LEAST_AT_HAND 4
#define BYTES_AT_HAND (12U << 20) /* of the files of all streams */
#define MOST_MAPPED 128           /* streams; with more, files are read by pieces */
#define MOST_PACKED 8             /* streams; each has a thread and some MiB */

struct stream {
	struct input *in;
	const char *path;
	struct reader reader;
	struct findings findings;
	struct deferred_findings kept;
	struct batch batch;
	size_t place;     /* in the order of the operands */
	uint64_t unread;
	enum read_status status;
	bool open, unreadable;
};

struct streams {
	struct stream **list;
	size_t n, cap;
	size_t packed;
};

bool
streams_wanted(const struct pipeline *f)
{
	const struct trace_ops *const ops = format_trace_ops(f->format);

	return ops->merges && ((f->job->want & WANT_ORDER) != 0 ||
	                       (ops->checks_order != NULL && ops->checks_order(f->job->options)));
}

/* ---- opening ---- */

static struct stream *
new_stream(struct pipeline *f)
{
	if (f->streams == NULL && (f->streams = calloc(1, sizeof *f->streams)) == NULL)
		return NULL;
	struct streams *const all = f->streams;
	if (all->n == all->cap) {
		const size_t cap = all->cap == 0 ? 16 : all->cap * 2;
		struct stream **const more =
		    cap <= UINT32_MAX / 2 ? realloc(all->list, cap * sizeof *more) : NULL;
		if (more == NULL)
			return NULL;
		all->list = more;
		all->cap = cap;
	}
	struct stream *const s = calloc(1, sizeof *s);
	if (s != NULL)
		all->list[all->n++] = s;
	return s;
}

/* What the hooks look at is of this stream. */
static void
present(struct pipeline *f, struct stream *s)
{
	f->in = s->in;
	f->findings = s->findings;
	f->reader = s->reader;
	f->reader.state = NULL; /* the stream's own to close */
	f->reader.unread = s->unread;
	f->unreadable = s->unreadable;
	f->open = s->open;
	f->complete = s->status == READ_END;
}

static void
absent(struct pipeline *f, struct stream *s)
{
	s->findings = f->findings;
	f->findings = (struct findings){ .path = NULL };
	f->reader = (struct reader){ .in = NULL };
	f->in = NULL;
}

/* The rest of pipeline_enter for a stream.  Its findings are kept: while it is read, others are too. */
static bool
open_stream(struct pipeline *f, struct stream *s)
{
	s->path = f->findings.path;
	s->findings = f->findings;
	s->findings.sink = findings_defer;
	s->findings.ctx = &s->kept;
	s->kept.room = &f->deferred_room;
	s->in = f->in;
	const bool ok = pipeline_open_reader(f, &s->reader, &s->findings);
	s->status = ok ? READ_MORE : READ_BAD;
	s->open = ok;
	s->unreadable = !ok;
	return ok;
}

bool
streams_full(const struct pipeline *f)
{
	return f->in->packing != INPUT_PLAIN && f->streams != NULL && f->streams->packed >= MOST_PACKED;
}

bool
streams_add(struct pipeline *f, size_t n, const struct pipeline_hooks *hooks, void *ctx)
{
	struct stream *const s = new_stream(f);
	bool go_on = true;

	if (s == NULL) {
		pipeline_no_memory(f);
		if (hooks->done != NULL)
			hooks->done(ctx, f);
		return true;
	}
	f->streams->packed += f->in->packing != INPUT_PLAIN;
	input_keep(f->in, BYTES_AT_HAND / n);
	if (n > MOST_MAPPED)
		f->piece = BYTES_AT_HAND / n + 1;
	const bool ok = open_stream(f, s);
	present(f, s);
	if (ok && hooks->opened != NULL)
		go_on = hooks->opened(ctx, f);
	absent(f, s);
	return go_on;
}

/* ---- reading ---- */

/* The end of a stream: what its input has to say; only its validation stays. */
static void
end_stream(struct pipeline *f, struct stream *s)
{
	if (s->in == NULL)
		return;
	input_shrunk(s->in);
	if (s->status == READ_NO_MEMORY) {
		pipeline_say_no_memory(&s->findings, s->in);
		s->unreadable = f->failed = true;
	}
	s->unreadable |= pipeline_say_fault(&s->findings, s->in);
	s->findings.muted = NULL;
	s->unread = s->reader.unread;
	f->bytes += input_offset(s->in, s->in->p);
	f->failed |= s->in->fault == INPUT_SHRUNK || s->in->fault == INPUT_SYSTEM;
	pipeline_reader_end(&s->reader, f->format);
	batch_free(&s->batch);
	input_close(s->in);
	s->in = NULL;
}

/* Events of a stream, if there are any more. */
static bool
fill_stream(struct pipeline *f, struct stream *s)
{
	struct batch *const b = &s->batch;

	batch_recycle(b);
	if (s->in == NULL)
		return false;
	while (s->status == READ_MORE && b->n == 0) {
		const uint64_t before = s->reader.records;
		input_release(&b->holds);
		input_hold(s->in, &b->holds);
		s->status = f->format->reader->next(&s->reader, b);
		f->trace.records += s->reader.records - before;
		if (input_shrunk(s->in)) { /* what is in this batch may be made of zeros */
			s->status = READ_BAD;
			b->n = 0;
		}
		input_behind(s->in);
	}
	if (b->n > 0)
		return true;
	end_stream(f, s);
	return false;
}

static uint32_t
events_at_hand(size_t streams)
{
	const size_t each = streams == 1 ? 1024 : EVENTS_AT_HAND / streams;

	return streams == 1           ? 1024
	       : each < LEAST_AT_HAND ? LEAST_AT_HAND
	       : each > MOST_AT_HAND  ? MOST_AT_HAND
	                              : (uint32_t)each;
}

/* The first events; false: there are none. */
static bool
begin_stream(struct pipeline *f, struct stream *s, size_t streams)
{
	if (s->status == READ_MORE) {
		/* one that stays empty, so that there is a place behind the last */
		if (batch_init(&s->batch, events_at_hand(streams) + 1, (f->want & WANT_BYTES) != 0))
			s->batch.cap--;
		else
			s->status = READ_NO_MEMORY;
	}
	return fill_stream(f, s);
}

/* ---- merging ---- */

/* The events of a stream that are at hand. */
struct at_hand {
	const struct event *next, *end;
	uint64_t after; /* ts behind next, or anything: read early, it is waited for otherwise */
};

static void
take_up(struct at_hand *h, const struct batch *b)
{
	h->next = b->events;
	h->end = b->events + b->n;
	h->after = b->events[1].ts;
}

struct merging {
	struct pipeline *f;
	struct streams *streams;
	struct merge merge;
	struct at_hand *at_hand;
	struct batch *out;
	uint64_t out_bytes;              /* of buffers that it holds */
	uint32_t sources[MERGED_EVENTS]; /* which stream each of its events is of */
	struct stream *last;             /* the one filled last */
	pipeline_sink *take;
	void *ctx;
	bool wanted;
};

static void
hand_on(struct merging *m)
{
	struct pipeline *const f = m->f;

	if (m->out->n > 0)
		m->wanted = pipeline_hand_on(f, m->out, m->take, m->ctx);
	batch_recycle(m->out);
	m->out_bytes = 0;
	if (f->job->progress != NULL && m->last != NULL && m->last->in != NULL)
		f->job->progress(f->job->progress_ctx, m->last->in);
}

/* What the events of a stream's batch point to goes with those that were taken from it. */
static void
hand_over_memory(struct merging *m, struct stream *s)
{
	if (m->out->n == 0)
		return;
	m->out_bytes += input_holds_size(&s->batch.holds) + s->batch.scratch.used;
	if (m->out_bytes > MERGED_BYTES || !input_holds_move(&m->out->holds, &s->batch.holds)) {
		hand_on(m);
		return;
	}
	arena_move(&m->out->scratch, &s->batch.scratch);
}

/* The next entry of a stream whose events at hand were all taken. */
static struct merge_entry
next_events(struct merging *m, struct merge_entry e)
{
	struct stream *const s = m->streams->list[e.source];
	struct at_hand *const h = &m->at_hand[e.source];

	hand_over_memory(m, s);
	m->last = s;
	if (!fill_stream(m->f, s))
		return merge_ended(e.source);
	take_up(h, &s->batch);
	if (h->next->ts > e.key)
		e.key = h->next->ts;
	return e;
}

/* The fields of an event move with it. */
static void
put_fields(struct merging *m, const struct stream *s, struct event *to)
{
	struct field *const place = batch_fields(m->out, to->nfields);

	if (place == NULL) {
		m->f->trace_unreadable = m->f->failed = true;
		m->wanted = false;
		pipeline_say_no_memory(&m->f->findings, NULL);
		to->nfields = 0;
		return;
	}
	memcpy(place, s->batch.fields + to->first_field, to->nfields * sizeof *place);
	to->first_field = m->out->nfields;
	m->out->nfields += to->nfields;
}

static void
put_event(struct merging *m, const struct stream *s, const struct event *e)
{
	struct event *const to = &m->out->events[m->out->n];

	*to = *e;
	if (to->nfields > 0)
		put_fields(m, s, to);
	if (m->out->bytes != NULL)
		m->out->bytes[m->out->n] = s->batch.bytes[e - s->batch.events];
	m->out->n++;
}

/* One event after the other, until nobody wants more. */
static void
merge_events(struct merging *m)
{
	const struct pipeline *const f = m->f;
	const bool plain = !f->checking && m->out->bytes == NULL;

	for (struct merge_entry e = m->merge.first; m->wanted && e.source < MERGE_ENDED;) {
		struct at_hand *const h = &m->at_hand[e.source];
		const struct event *const from = h->next++;
		m->sources[m->out->n] = e.source;
		if (plain && from->nfields == 0) {
			m->out->events[m->out->n++] = *from;
		} else {
			struct stream *const s = m->streams->list[e.source];
			if (f->checking)
				format_trace_ops(f->format)->check_event(&s->reader, &s->batch, from);
			if (m->take != NULL)
				put_event(m, s, from);
		}
		if (h->next == h->end) {
			e = next_events(m, e);
		} else {
			e.key = h->after > e.key ? h->after : e.key;
			h->after = h->next[1].ts;
		}
		e = merge_next(&m->merge, e);
		if (m->out->n == MERGED_EVENTS || m->out->nfields >= MERGED_FIELDS)
			hand_on(m);
	}
	if (m->wanted)
		hand_on(m);
}

/* The first events of all streams. */
static bool
begin(struct merging *m)
{
	struct streams *const all = m->streams;
	struct merge_entry *const first = calloc(all->n, sizeof *first);
	bool ok = first != NULL && (m->at_hand = calloc(all->n, sizeof *m->at_hand)) != NULL;

	ok = ok &&
	     (m->out->events != NULL || batch_init(m->out, MERGED_EVENTS, (m->f->want & WANT_BYTES) != 0));
	for (size_t i = 0; ok && i < all->n; i++) {
		struct stream *const s = all->list[i];
		const bool some = begin_stream(m->f, s, all->n);
		first[i] = some ? (struct merge_entry){ s->batch.events[0].ts, (uint32_t)i }
		                : merge_ended((uint32_t)i);
		if (some)
			take_up(&m->at_hand[i], &s->batch);
	}
	ok = ok && merge_init(&m->merge, first, (uint32_t)all->n);
	free(first);
	return ok;
}

/* What is found in an event after the merge is said of its stream. */
static struct findings *
findings_of(void *merging, uint32_t event)
{
	const struct merging *const m = merging;
	return &m->streams->list[m->sources[event]]->findings;
}

static bool
merge_all(struct pipeline *f, const struct pipeline_hooks *hooks, void *ctx)
{
	struct merging m = { .f = f,
		             .streams = f->streams,
		             .out = &f->batch,
		             .take = hooks->take,
		             .ctx = ctx,
		             .wanted = true };

	f->findings = f->trace_findings;
	f->interpret.findings_of = (struct interpret_findings_of){ findings_of, &m };
	f->unreadable = false;
	if (begin(&m)) {
		merge_events(&m);
	} else {
		pipeline_no_memory(f);
		m.wanted = false;
	}
	f->trace_unreadable |= f->unreadable;
	f->trace_findings = f->findings;
	f->interpret.findings_of = (struct interpret_findings_of){ NULL, NULL };
	merge_free(&m.merge);
	batch_recycle(m.out);
	free(m.at_hand);
	return m.wanted;
}

/* Nothing to merge: as if it were read alone. */
static bool
read_one(struct pipeline *f, struct stream *s, const struct pipeline_hooks *hooks, void *ctx)
{
	bool wanted = true, more = begin_stream(f, s, 1);

	for (; more && wanted; more = fill_stream(f, s)) {
		check_events(f, &s->reader, &s->batch);
		present(f, s);
		wanted = pipeline_hand_on(f, &s->batch, hooks->take, ctx);
		s->unreadable |= f->unreadable;
		absent(f, s);
		if (!wanted)
			break;
		if (f->job->progress != NULL)
			f->job->progress(f->job->progress_ctx, s->in);
	}
	return wanted;
}

/* ---- the end ---- */

static void
report_stream(struct pipeline *f, struct stream *s, const struct pipeline_hooks *hooks, void *ctx)
{
	end_stream(f, s);
	findings_report(&s->kept, &s->findings, f->job->sink, f->job->ctx);
	s->findings.sink = f->job->sink;
	s->findings.ctx = f->job->ctx;
	present(f, s);
	if (hooks->done != NULL)
		hooks->done(ctx, f);
	absent(f, s);
	findings_free(&s->findings);
	free(s);
}

/* Of two with one path the one that was named first. */
static int
by_path(const void *a, const void *b)
{
	const struct stream *const x = *(struct stream *const *)a, *const y = *(struct stream *const *)b;
	const int order = strcmp(x->path, y->path);

	return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

bool
streams_run(struct pipeline *f, bool go_on, const struct pipeline_hooks *hooks, void *ctx)
{
	struct streams *const all = f->streams;

	if (all == NULL)
		return go_on;
	f->format = f->shared_format;
	for (size_t i = 0; i < all->n; i++)
		all->list[i]->place = i;
	qsort(all->list, all->n, sizeof *all->list, by_path);
	if (go_on)
		go_on = all->n == 1 ? read_one(f, all->list[0], hooks, ctx) : merge_all(f, hooks, ctx);
	for (size_t i = 0; i < all->n; i++)
		report_stream(f, all->list[i], hooks, ctx);
	free(all->list);
	free(all);
	f->streams = NULL;
	return go_on;
}
