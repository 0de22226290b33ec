/*
 * The writer of events of any format: a stream, with a folder of its own, for each track that has events.
 * write_text.c turns events into marks.  Records of a stream are retained until there are enough of them, so
 * that files are not opened for each event: at most HELD_OF_STREAM bytes a stream, MAX_HELD in all.
 */
#include <stdlib.h>

#include "out/facts.h"
#include "ovni/ovni.h"

/* Limits, so that memory does not grow with the trace, and readers accept the output. */
#define MAX_LANE_STREAMS 1200U     /* of OVW_MAX_STREAMS, for async spans */
#define MAX_LANES 256U             /* concurrent async spans of one track */
#define MAX_HELD (48U << 20)       /* bytes of streams that are not written yet */
#define HELD_OF_STREAM (64U << 10) /* the same limit for one stream */

/* ---- numbers ---- */

/* Processes and threads keep the ids that ovni can store: see out/tracks.h. */
#define OF_PIDS 0 /* scope of ovw_marks.numbers; that of the tids of a process is its index + 1 */

/* Returns the number of a track in the scope, or 0 on OOM. */
static int32_t number_track(struct ovw_state *st, uint64_t scope, const struct track *t)
{
	const bool is_usable = t->has_id && t->id > 0 && t->id <= INT32_MAX;
	uint64_t id;

	if (!track_numbers_assign(&st->marks.numbers, scope, is_usable ? &t->id : NULL, &id))
		return 0;
	if (t->has_id && t->lane == 0 && id != t->id)
		ovw_lose(st, OVW_ID_CHANGED, LOSS_NOWHERE);
	return (int32_t)id;
}

/* Returns the index of the process in m->processes, or TABLE_NONE on OOM. */
static uint32_t process_of(struct ovw_state *st, const struct track *t)
{
	struct ovw_marks *const m = &st->marks;
	const struct track *const process = track_process(t);
	const uint32_t i = table64_element(&m->process_of, process->index, &m->processes, &m->nprocesses,
	                                   &m->processes_cap, sizeof *m->processes, TABLE_FAILED);

	if (i == TABLE_FAILED)
		return TABLE_NONE;
	if (m->processes[i].pid == 0) /* new */
		m->processes[i] = (struct ovw_process){ process, number_track(st, OF_PIDS, process) };
	return m->processes[i].pid != 0 ? i : TABLE_NONE;
}

/* ---- records ---- */

void ovw_flush(struct ovw_state *st, struct ovw_stream *s)
{
	if (s->held.n == 0)
		return;
	chunk_file(st->chunk, s->file);
	text_add(&st->chunk->text, s->held.p, s->held.n);
	st->marks.held -= s->held.n;
	text_free(&s->held);
}

static void retain(struct ovw_state *st, struct ovw_stream *s, const char *p, size_t n)
{
	struct ovw_marks *const m = &st->marks;

	text_add(&s->held, p, n);
	m->held += n;
	st->chunk->text.failed |= s->held.failed;
	if (s->held.n >= HELD_OF_STREAM)
		ovw_flush(st, s);
	for (uint32_t i = 0; m->held > MAX_HELD && i < m->nstreams; i++)
		ovw_flush(st, m->streams[i]);
}

void ovw_record(struct ovw_state *st, struct ovw_stream *s, const char *code, uint64_t clock,
                const char *payload, unsigned n)
{
	char record[OVNI_EVENT_SIZE + 16];

	record[0] = n > 0 ? (char)(n - 1) : 0;
	memcpy(record + 1, code, 3);
	store_uint(record + 4, clock, 8, false);
	if (n > 0)
		memcpy(record + OVNI_EVENT_SIZE, payload, n);
	retain(st, s, record, OVNI_EVENT_SIZE + n);
	s->last = clock;
}

/* ---- streams ---- */

/* Starts the thread on the virtual CPU, where any number of threads may run, and within an hour of the first
 * thread, as ovniemu refuses others. */
static void begin_thread(struct ovw_state *st, struct ovw_stream *s, uint64_t clock)
{
	struct ovw_marks *const m = &st->marks;
	char header[OVNI_HEADER_SIZE] = OVNI_MAGIC, payload[16];

	if (!m->any)
		m->first = clock;
	m->any = true;
	store_uint(header + 4, OVNI_VERSION, 4, false);
	retain(st, s, header, sizeof header);
	store_uint(payload, UINT32_MAX, 4, false);     /* the virtual CPU */
	store_uint(payload + 4, UINT32_MAX, 4, false); /* creator: unknown */
	store_uint(payload + 8, 0, 8, false);
	ovw_record(st, s, "OHx", clock - m->first > OVNI_CLOCK_GATE ? m->first + OVNI_CLOCK_GATE : clock,
	           payload, sizeof payload);
}

static const char *file_name(struct ovw_state *st, const struct ovw_stream *s)
{
	char name[128];

	snprintf(name, sizeof name, "loom.tracetool/proc.%d/thread.%d/" OVNI_STREAM_FILE,
	         st->marks.processes[s->process].pid, s->tid);
	return arena_copy(&st->arena, slice_str(name)).p;
}

/* Whether the numbers of the thread differ from those of its track. */
static bool is_changed(const struct ovw_marks *m, const struct ovw_stream *s)
{
	const struct track *const t = s->track, *const process = track_process(t);

	return t->kind == TRACK_PROCESS || t->lane > 0 || t->is_child ||
	       (t->has_id && t->id != (uint32_t)s->tid) ||
	       (process->kind == TRACK_PROCESS && process->has_id &&
	        process->id != (uint32_t)m->processes[s->process].pid);
}

/* Refuses a trace with too many threads: entries of a file system are limited, often per user. */
static void refuse(struct ovw_state *st)
{
	struct text *const t = &st->marks.refusal;

	if (t->n == 0) {
		text_visible(t, slice_str(st->output != NULL ? st->output : "-"), 0);
		text_printf(
		    t,
		    ": not written: each thread is a directory with two files, and more than %u threads, "
		    "processes and their tasks have events; select some of them, or split the trace",
		    OVW_MAX_STREAMS);
		text_char(t, '\0');
	}
	st->chunk->text.failed |= t->failed;
	st->chunk->failed = t->p;
}

/* Returns the index in m->streams + 1, or 0 if there are too many, or on OOM (text.failed). */
static uint32_t add_stream(struct ovw_state *st, const struct event *e, uint32_t lane, uint64_t clock)
{
	struct ovw_marks *const m = &st->marks;
	static const struct track unnamed = { .kind = TRACK_THREAD };

	if (m->nstreams == OVW_MAX_STREAMS) {
		refuse(st);
		return 0;
	}
	struct ovw_stream *const s = calloc(1, sizeof *s);
	if (s == NULL || !array_reserve(&m->streams, m->nstreams, &m->streams_cap, sizeof *m->streams)) {
		free(s);
		st->chunk->text.failed = true;
		return 0;
	}
	m->streams[m->nstreams++] = s;
	s->track = e->track;
	s->lane = lane;
	s->process = process_of(st, e->track);
	if (s->process != TABLE_NONE)
		s->tid = number_track(st, (uint64_t)s->process + 1, lane == 0 ? e->track : &unnamed);
	if (note_failure(&st->chunk->text.failed,
	                 s->process == TABLE_NONE || s->tid == 0 || (s->file = file_name(st, s)) == NULL))
		return 0;
	s->changed = lane == 0 && is_changed(m, s);
	begin_thread(st, s, clock);
	ovw_lose(st, OVW_THREAD_STATE, e->offset);
	return m->nstreams;
}

struct ovw_stream *ovw_stream_of(struct ovw_state *st, const struct event *e, uint64_t clock)
{
	struct ovw_marks *const m = &st->marks;
	const uint32_t *const number = e->track->declared;

	if (m->tracks[*number].stream == 0)
		m->tracks[*number].stream = add_stream(st, e, 0, clock);
	return m->tracks[*number].stream > 0 ? m->streams[m->tracks[*number].stream - 1] : NULL;
}

struct ovw_stream *ovw_async_stream(struct ovw_state *st, const struct event *e, uint64_t clock)
{
	struct ovw_marks *const m = &st->marks;
	struct ovw_track *const t = &m->tracks[*(const uint32_t *)e->track->declared];

	for (uint32_t i = 0; i < t->nlanes; i++) {
		struct ovw_stream *const s = m->streams[t->lanes[i] - 1];
		if (s->open.n == 0 || s->open.spans[0].end <= clock)
			return s;
	}
	if (t->nlanes == MAX_LANES || m->nlane_streams == MAX_LANE_STREAMS) {
		ovw_lose(st, OVW_ASYNC_FULL, e->offset);
		return NULL;
	}
	if (note_failure(&st->chunk->text.failed,
	                 !array_reserve(&t->lanes, t->nlanes, &t->lanes_cap, sizeof *t->lanes)))
		return NULL;
	const uint32_t number = add_stream(st, e, t->nlanes + 1, clock);
	if (number == 0)
		return NULL;
	t->lanes[t->nlanes++] = number;
	m->nlane_streams++;
	return m->streams[number - 1];
}

/* Adds a thread without events to a trace that has none. */
static void add_empty_stream(struct ovw_state *st)
{
	static const struct track process = { .kind = TRACK_PROCESS, .name = SLICE_LIT("no events") };
	static const struct event none = { .track = &process };

	(void)add_stream(st, &none, 0, 0);
}

/* ---- the writer ---- */

const struct loss ovw_losses[OVW_LOSSES + 1] = {
#define LOSS LOSS_ROW
#include "ovni/losses.def"
#undef LOSS
};

static bool ovw_open(struct writer *w, struct chunk *chunk)
{
	struct ovw_state *const st = w->state;

	st->signed_time = w->run->signed_time;
	st->output = w->temp_near;
	return true;
}

static bool ovw_declare(struct writer *w, const struct batch *b, struct chunk *chunk)
{
	struct ovw_state *const st = w->state;
	struct ovw_marks *const m = &st->marks;

	for (uint32_t i = 0; i < b->ntracks; i++) {
		uint32_t *const number = arena_alloc(&st->arena, sizeof *number);
		if (number == NULL ||
		    !array_reserve(&m->tracks, m->ntracks, &m->tracks_cap, sizeof *m->tracks))
			return false;
		*number = m->ntracks;
		m->tracks[m->ntracks++] = (struct ovw_track){ .stream = 0 };
		b->tracks[i]->declared = number;
	}
	return true;
}

/* Ends of streams in memory. */
#define STREAMS_AT_ONCE 16

static bool ovw_close(struct writer *w, struct chunk *chunk)
{
	struct ovw_state *const st = w->state;
	struct ovw_marks *const m = &st->marks;

	st->chunk = chunk;
	if (m->nstreams == 0)
		add_empty_stream(st);
	facts_lose(
	    w,
	    (struct facts_losses){ &ovw_losses[OVW_FACTS], &ovw_losses[OVW_HOSTS], &ovw_losses[OVW_EPOCH] },
	    chunk);
	for (uint32_t i = 0; i < m->nstreams; i++) {
		ovw_end_stream(st, m->streams[i]);
		ovw_metadata(st, w, m->streams[i], &m->ndeclared);
		if (i % STREAMS_AT_ONCE == STREAMS_AT_ONCE - 1 && !chunk_flush(chunk))
			break;
	}
	return true;
}

static void ovw_free(void *state)
{
	struct ovw_state *const st = state;
	struct ovw_marks *const m = &st->marks;

	for (uint32_t i = 0; i < m->nstreams; i++) {
		text_free(&m->streams[i]->held);
		free(m->streams[i]->open.spans);
		free(m->streams[i]);
	}
	for (uint32_t i = 0; i < m->ntracks; i++)
		free(m->tracks[i].lanes);
	for (uint32_t i = 0; i < OVW_LABELLED; i++)
		tabletext_free(&m->names[i]);
	free(m->streams);
	free(m->tracks);
	free(m->processes);
	free(m->labels);
	table64_free(&m->process_of);
	track_numbers_free(&m->numbers);
	tabletext_free(&m->title_of);
	text_free(&m->scratch);
	text_free(&m->refusal);
	arena_free(&st->arena);
}

const struct writer_ops ovw_ops = {
	.state_size = sizeof(struct ovw_state),
	.want = WANT_FIELDS,
	.order = ORDER_NESTING,
	.shape = WRITER_FOLDER,
	.nested = true,
	.open = ovw_open,
	.declare = ovw_declare,
	.write = ovw_events,
	.close = ovw_close,
	.free = ovw_free,
};
