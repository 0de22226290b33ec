#include <stdio.h>
#include <stdlib.h>

#include "output/text_visible.h"
#include "ovni/ovni.h"

/* ---- write names ---- */

/*
 * Names of the files of copied streams.  They are those of the input, below its
 * folder.  A name that no output file can have, or that is taken, gets another
 * folder: the stream's, with a number.
 */

/* ---- names that are taken ---- */

static uint64_t hash_of(struct slice content)
{
	return hash_bytes(content.p, content.n, hash_seed()) | 1;
}

/* Takes the name.  A copy, NUL-terminated, or NULL: no memory. */
static const char *take_name(struct ovw_state *st, struct slice name, uint64_t hash)
{
	struct ovw_copy *const c = &st->copy;
	const struct slice own = arena_copy(&st->arena, name);

	if (own.p == NULL || !array_room(&c->hashes, c->nnames, &c->names_cap, sizeof *c->hashes) ||
	    !tabletext_put(&c->names, own, c->nnames))
		return NULL;
	c->hashes[c->nnames++] = hash;
	return own.p;
}

/* A name that is free; or that of a sidecar with the same bytes. */
static bool is_free(const struct ovw_copy *c, struct slice name, uint64_t hash)
{
	const uint32_t known = tabletext_get(&c->names, name);

	return known == TABLE_NONE || (hash != 0 && c->hashes[known] == hash);
}

/* ---- sidecars ---- */

void ovw_sidecar(struct ovw_state *st, struct slice name, struct slice content, struct chunk *chunk)
{
	struct ovw_copy *const c = &st->copy;

	if (content.p == NULL || c->nsidecars == OVW_MOST_SIDECARS) {
		ovw_lose(chunk, OVW_FILE_LEFT_OUT, 0);
		return;
	}
	struct ovw_sidecar *const s = &c->sidecars[c->nsidecars++];
	s->name = arena_copy(&st->arena, name);
	text_clear(&s->content);
	text_slice(&s->content, content);
	chunk->text.failed |= s->name.p == NULL || s->content.failed;
}

/* Whether it is of one stream; others are of all streams of a process or of the trace. */
static bool is_of_stream(const char *file)
{
	const char *const slash = strrchr(file, '/'), *const name = slash != NULL ? slash + 1 : file;

	return strcmp(name, OVNI_OFFSETS_FILE) != 0 && strcmp(name, "metadata.json") != 0;
}

static void write_sidecar(struct ovw_state *st, const struct ovw_sidecar *s, struct slice name,
                          uint64_t stream, struct chunk *chunk)
{
	const uint64_t hash = hash_of(slice_of(s->content.p, s->content.n));

	if (folder_name_wrong(name.p, name.n) != NULL || !is_free(&st->copy, name, hash)) {
		ovw_lose(chunk, OVW_FILE_LEFT_OUT, 0);
		return;
	}
	if (tabletext_get(&st->copy.names, name) != TABLE_NONE)
		return; /* the same file is there */
	const char *const file = take_name(st, name, hash);
	if (file == NULL) {
		chunk->text.failed = true;
	} else if (st->is_selection && is_of_stream(file)) {
		ovw_wait_with(st, stream, file, slice_of(s->content.p, s->content.n), chunk);
	} else {
		chunk_file(chunk, file);
		text_add(&chunk->text, s->content.p, s->content.n);
	}
}

/* ---- folders ---- */

static uint32_t folder_length(struct slice name)
{
	uint32_t n = name.n;

	while (n > 0 && name.p[n - 1] != '/')
		n--;
	return n;
}

/* Whether a sidecar is in the folder of the stream, and not the trace's. */
static bool shares_folder(const struct ovw_sidecar *s, struct slice folder)
{
	return folder_length(s->name) == folder.n && memcmp(s->name.p, folder.p, folder.n) == 0 &&
	       !slice_is(slice_of(s->name.p + folder.n, s->name.n - folder.n), OVNI_OFFSETS_FILE);
}

/* The name in another folder: number 0: the same one. */
static struct slice name_in(struct text *t, struct slice name, uint32_t folder, uint32_t number)
{
	text_clear(t);
	text_add(t, name.p, folder > 0 && number > 0 ? folder - 1 : folder);
	if (number > 0) {
		if (folder > 0)
			text_char(t, '.');
		text_u64(t, number);
		text_char(t, '/');
	}
	text_add(t, name.p + folder, name.n - folder);
	return slice_of(t->p, t->n);
}

/* Whether the stream and what comes with it can be in this folder. */
static bool fits(struct ovw_state *st, struct slice name, uint32_t folder, uint32_t number)
{
	struct ovw_copy *const c = &st->copy;
	const struct slice stream = name_in(&c->scratch, name, folder, number);

	if (folder_name_wrong(stream.p, stream.n) != NULL || !is_free(c, stream, 0))
		return false;
	for (uint32_t i = 0; i < c->nsidecars; i++) {
		const struct ovw_sidecar *const s = &c->sidecars[i];
		if (!shares_folder(s, slice_of(name.p, folder)))
			continue;
		const struct slice there = name_in(&c->scratch, s->name, folder, number);
		if (!is_free(c, there, hash_of(slice_of(s->content.p, s->content.n))))
			return false;
	}
	return true;
}

/* A number for the folder, such that it fits.  Those of one folder are not tried twice. */
static bool find_number(struct ovw_state *st, struct slice name, uint32_t folder, uint32_t *number)
{
	struct ovw_copy *const c = &st->copy;
	const struct slice key = slice_of(name.p, folder);
	const uint32_t last = tabletext_get(&c->folders, key);
	uint32_t n = last != TABLE_NONE ? last : 1;

	do
		n++;
	while (!c->scratch.failed && !fits(st, name, folder, n));
	if (c->scratch.failed)
		return false;
	*number = n;
	const struct slice own = arena_copy(&st->arena, key);
	return own.p != NULL && tabletext_put(&c->folders, own, n);
}

static void write_sidecars(struct ovw_state *st, struct slice name, uint32_t folder, uint32_t number,
                           uint64_t stream, struct chunk *chunk)
{
	struct ovw_copy *const c = &st->copy;

	for (uint32_t i = 0; i < c->nsidecars; i++) {
		const struct ovw_sidecar *const s = &c->sidecars[i];
		const bool shares = shares_folder(s, slice_of(name.p, folder));
		write_sidecar(st, s, shares ? name_in(&c->scratch, s->name, folder, number) : s->name, stream,
		              chunk);
	}
	c->nsidecars = 0;
}

/* Gives up the name and its folder, for those that an output file cannot have. */
static struct slice plain_name(struct ovw_state *st, struct slice name)
{
	struct ovw_copy *const c = &st->copy;
	const uint32_t folder = folder_length(name);

	for (uint32_t i = 0; i < c->nsidecars; i++) {
		struct ovw_sidecar *const s = &c->sidecars[i];
		if (shares_folder(s, slice_of(name.p, folder)))
			s->name = slice_of(s->name.p + folder, s->name.n - folder);
	}
	return SLICE_LIT(OVNI_STREAM_FILE);
}

/* Whether the folder can get a number of any length. */
static bool takes_number(struct ovw_state *st, struct slice name, uint32_t folder)
{
	const struct slice long_name = name_in(&st->copy.scratch, name, folder, UINT32_MAX);

	return folder_name_wrong(long_name.p, long_name.n) == NULL;
}

void ovw_place(struct ovw_state *st, uint64_t number, struct slice name, struct chunk *chunk)
{
	struct ovw_copy *const c = &st->copy;
	const bool wrong = folder_name_wrong(name.p, name.n) != NULL;
	bool ok = number < UINT32_MAX &&
	          array_reach(&c->streams, &c->nstreams, (uint32_t)number, sizeof *c->streams);
	bool as_it_is = ok && !wrong && fits(st, name, folder_length(name), 0);
	const bool plain = wrong || (!as_it_is && !takes_number(st, name, folder_length(name)));
	const struct slice usable = plain ? plain_name(st, name) : name;
	const uint32_t folder = folder_length(usable);
	uint32_t again = 0;

	as_it_is |= ok && plain && fits(st, usable, folder, 0);
	if (ok && !as_it_is)
		ok = find_number(st, usable, folder, &again);
	if (!ok || c->scratch.failed) {
		chunk->text.failed = true;
		return;
	}
	if (again > 0 || plain)
		ovw_lose(chunk, OVW_FOLDER_RENAMED, 0);
	write_sidecars(st, usable, folder, again, number, chunk);
	c->streams[number] = take_name(st, name_in(&c->scratch, usable, folder, again), 0);
	chunk->text.failed |= c->streams[number] == NULL;
	if (c->streams[number] != NULL && !st->is_selection)
		chunk_file(chunk, c->streams[number]);
}

/* ---- write stream ---- */

/*
 * Streams of the output: one for each track that has events.  Their numbers are
 * those of the input where ovni can have them.
 */

#define OF_PIDS 0 /* scope of ovw_marks.numbers; that of the tids of a process is its place and 1 */

/* ---- numbers ---- */

static bool has_usable_id(const struct track *t)
{
	return t->has_id && t->id > 0 && t->id <= INT32_MAX;
}

/* The number of a track in the scope; 0: no memory. */
static int32_t number_track(struct ovw_marks *m, uint64_t scope, const struct track *t, struct chunk *chunk)
{
	uint64_t id;

	if (!track_numbers_assign(&m->numbers, scope, has_usable_id(t) ? &t->id : NULL, &id))
		return 0;
	if (t->has_id && t->lane == 0 && id != t->id)
		ovw_lose(chunk, OVW_ID_CHANGED, 0);
	return (int32_t)id;
}

/* The place of the process in m->processes; TABLE_NONE: no memory. */
static uint32_t process_of(struct ovw_marks *m, const struct track *t, struct chunk *chunk)
{
	const struct track *const process = track_process(t);
	const uint32_t known = table64_get(&m->process_of, process->index);

	if (known != TABLE_NONE)
		return known;
	if (!array_room(&m->processes, m->nprocesses, &m->processes_cap, sizeof *m->processes) ||
	    !table64_put(&m->process_of, process->index, m->nprocesses))
		return TABLE_NONE;
	const int32_t pid = number_track(m, OF_PIDS, process, chunk);
	if (pid == 0)
		return TABLE_NONE;
	m->processes[m->nprocesses] = (struct ovw_process){ process, pid };
	return m->nprocesses++;
}

/* ---- records ---- */

void ovw_flush(struct ovw_state *st, struct ovw_stream *s, struct chunk *chunk)
{
	if (s->held.n == 0)
		return;
	chunk_file(chunk, s->file);
	text_add(&chunk->text, s->held.p, s->held.n);
	st->marks.held -= s->held.n;
	text_free(&s->held);
	s->held = (struct text){ .p = NULL };
}

static void hold(struct ovw_state *st, struct ovw_stream *s, const char *p, size_t n, struct chunk *chunk)
{
	struct ovw_marks *const m = &st->marks;

	text_add(&s->held, p, n);
	m->held += n;
	chunk->text.failed |= s->held.failed;
	if (s->held.n >= OVW_HELD_OF_STREAM)
		ovw_flush(st, s, chunk);
	for (uint32_t i = 0; m->held > OVW_MOST_HELD && i < m->nstreams; i++)
		ovw_flush(st, m->streams[i], chunk);
}

void ovw_record(struct ovw_state *st, struct ovw_stream *s, const char *code, uint64_t clock,
                const char *payload, unsigned n, struct chunk *chunk)
{
	char record[OVNI_EVENT_SIZE + 16];

	record[0] = n > 0 ? (char)(n - 1) : 0;
	memcpy(record + 1, code, 3);
	ovw_store(record + 4, clock, 8, false);
	if (n > 0)
		memcpy(record + OVNI_EVENT_SIZE, payload, n);
	hold(st, s, record, OVNI_EVENT_SIZE + n, chunk);
	s->last = clock;
}

/* ---- streams ---- */

/* The thread begins on the virtual CPU, where any number may run; within an hour of the first one, as ovniemu
 * refuses others. */
static void begin_thread(struct ovw_state *st, struct ovw_stream *s, uint64_t clock, struct chunk *chunk)
{
	struct ovw_marks *const m = &st->marks;
	char header[OVNI_HEADER_SIZE] = OVNI_MAGIC, payload[16];

	if (!m->any)
		m->first = clock;
	m->any = true;
	ovw_store(header + 4, OVNI_VERSION, 4, false);
	hold(st, s, header, sizeof header, chunk);
	ovw_store(payload, UINT32_MAX, 4, false);     /* the virtual CPU */
	ovw_store(payload + 4, UINT32_MAX, 4, false); /* nobody knows who created it */
	ovw_store(payload + 8, 0, 8, false);
	ovw_record(st, s, "OHx", clock - m->first > OVW_CLOCK_GATE ? m->first + OVW_CLOCK_GATE : clock,
	           payload, sizeof payload, chunk);
}

static const char *file_name(struct ovw_state *st, const struct ovw_stream *s)
{
	char name[128];

	snprintf(name, sizeof name, "loom.tracetool/proc.%d/thread.%d/" OVNI_STREAM_FILE,
	         st->marks.processes[s->process].pid, s->tid);
	return arena_copy(&st->arena, slice_str(name)).p;
}

/* Whether its events are on a thread that does not have the numbers of their track. */
static bool is_changed(const struct ovw_marks *m, const struct ovw_stream *s)
{
	const struct track *const t = s->track, *const process = track_process(t);

	return t->kind == TRACK_PROCESS || t->lane > 0 || t->is_child ||
	       (t->has_id && t->id != (uint32_t)s->tid) ||
	       (process->kind == TRACK_PROCESS && process->has_id &&
	        process->id != (uint32_t)m->processes[s->process].pid);
}

/* Nothing of a trace with more threads is written: a file system has only so many entries, and each user of
 * it a share of them. */
static void refuse(struct ovw_state *st, struct chunk *chunk)
{
	struct text *const t = &st->marks.refusal;

	if (t->n == 0) {
		text_visible(t, slice_str(st->beside != NULL ? st->beside : "-"), 0);
		text_printf(
		    t,
		    ": not written: each thread is a folder with two files, and more than %u threads, "
		    "processes and their tasks have events; select some of them, or split the trace",
		    OVW_MOST_STREAMS);
		text_char(t, '\0');
	}
	chunk->text.failed |= t->failed;
	chunk->end.failed = t->p;
}

/* Its place in m->streams plus 1; 0: there are too many, or text.failed. */
static uint32_t add_stream(struct ovw_state *st, const struct event *e, uint32_t lane, uint64_t clock,
                           struct chunk *chunk)
{
	struct ovw_marks *const m = &st->marks;
	static const struct track unnamed = { .kind = TRACK_THREAD };

	if (m->nstreams == OVW_MOST_STREAMS) {
		refuse(st, chunk);
		return 0;
	}
	struct ovw_stream *const s = calloc(1, sizeof *s);
	if (s == NULL || !array_room(&m->streams, m->nstreams, &m->streams_cap, sizeof *m->streams)) {
		free(s);
		chunk->text.failed = true;
		return 0;
	}
	m->streams[m->nstreams++] = s;
	s->track = e->track;
	s->lane = lane;
	s->process = process_of(m, e->track, chunk);
	if (s->process != TABLE_NONE)
		s->tid = number_track(m, (uint64_t)s->process + 1, lane == 0 ? e->track : &unnamed, chunk);
	if (s->process == TABLE_NONE || s->tid == 0 || (s->file = file_name(st, s)) == NULL) {
		chunk->text.failed = true;
		return 0;
	}
	s->changed = lane == 0 && is_changed(m, s);
	begin_thread(st, s, clock, chunk);
	ovw_lose(chunk, OVW_THREAD_STATE, e->offset);
	return m->nstreams;
}

/* Makes the tracks known that are new in the batch.  false: no memory. */
static bool ovw_declare_tracks(struct ovw_state *st, const struct batch *b)
{
	struct ovw_marks *const m = &st->marks;

	for (uint32_t i = 0; i < b->ntracks; i++) {
		uint32_t *const number = arena_alloc(&st->arena, sizeof *number);
		if (number == NULL || !array_room(&m->tracks, m->ntracks, &m->tracks_cap, sizeof *m->tracks))
			return false;
		*number = m->ntracks;
		m->tracks[m->ntracks++] = (struct ovw_track){ .stream = 0 };
		b->tracks[i]->declared = number;
	}
	return true;
}

struct ovw_stream *ovw_stream_of(struct ovw_state *st, const struct event *e, uint64_t clock,
                                 struct chunk *chunk)
{
	struct ovw_marks *const m = &st->marks;
	const uint32_t *const number = e->track->declared;

	if (m->tracks[*number].stream == 0)
		m->tracks[*number].stream = add_stream(st, e, 0, clock, chunk);
	return m->tracks[*number].stream > 0 ? m->streams[m->tracks[*number].stream - 1] : NULL;
}

struct ovw_stream *ovw_async_stream(struct ovw_state *st, const struct event *e, uint64_t clock,
                                    struct chunk *chunk)
{
	struct ovw_marks *const m = &st->marks;
	struct ovw_track *const t = &m->tracks[*(const uint32_t *)e->track->declared];

	for (uint32_t i = 0; i < t->nlanes; i++) {
		struct ovw_stream *const s = m->streams[t->lanes[i] - 1];
		if (s->nopen == 0 || s->open[0].end <= clock)
			return s;
	}
	if (t->nlanes == OVW_MOST_LANES || m->nlane_streams == OVW_MOST_LANE_STREAMS) {
		ovw_lose(chunk, OVW_ASYNC_FULL, e->offset);
		return NULL;
	}
	if (!array_room(&t->lanes, t->nlanes, &t->lanes_cap, sizeof *t->lanes)) {
		chunk->text.failed = true;
		return NULL;
	}
	const uint32_t number = add_stream(st, e, t->nlanes + 1, clock, chunk);
	if (number == 0)
		return NULL;
	t->lanes[t->nlanes++] = number;
	m->nlane_streams++;
	return m->streams[number - 1];
}

/* A thread without events, for a trace that has none. */
static void ovw_no_events(struct ovw_state *st, struct chunk *chunk)
{
	static const struct track process = { .kind = TRACK_PROCESS, .name = SLICE_LIT("no events") };
	static const struct event none = { .track = &process };

	(void)add_stream(st, &none, 0, 0, chunk);
}

static void ovw_marks_free(struct ovw_marks *m)
{
	for (uint32_t i = 0; i < m->nstreams; i++) {
		text_free(&m->streams[i]->held);
		free(m->streams[i]->open);
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
}

/* ---- write ---- */

const struct loss ovw_losses[OVW_LOSSES + 1] = {
#define LOSS(row, key, line, ...) { .id = key, .text = line, .explain = __VA_ARGS__ },
#include "ovni/losses.def"
#undef LOSS
};

static bool ovw_open(struct writer *w, struct chunk *chunk)
{
	struct ovw_state *const st = w->state;

	(void)chunk;
	st->is_raw = w->raw;
	st->is_selection = w->raw && w->selected;
	st->rebased = w->rebased;
	st->signed_time = w->signed_time;
	st->beside = w->beside;
	return true;
}

static bool ovw_declare(struct writer *w, const struct batch *b)
{
	return w->raw || ovw_declare_tracks(w->state, b);
}

static void ovw_write(void *state, const struct batch *b, struct chunk *chunk)
{
	struct ovw_state *const st = state;

	if (st->is_raw)
		ovw_raw(st, b, chunk);
	else
		ovw_events(st, b, chunk);
}

/* Some streams at a time, so that what is made does not grow with their number. */
#define STREAMS_AT_ONCE 16

static bool ovw_close(struct writer *w, struct chunk *chunk)
{
	struct ovw_state *const st = w->state;
	struct ovw_marks *const m = &st->marks;

	if (w->raw && w->selected)
		ovw_select_end(st, chunk);
	if (w->raw)
		return true;
	if (m->nstreams == 0)
		ovw_no_events(st, chunk);
	if (m->nended == 0 && w->trace->nmeta > 0)
		ledger_add(&chunk->ledger, &ovw_losses[OVW_FACTS], 0, w->trace->nmeta);
	if (m->nended == 0 && w->trace->epoch_known)
		ovw_lose(chunk, OVW_EPOCH, 0);
	for (uint32_t i = 0; i < STREAMS_AT_ONCE && m->nended < m->nstreams; i++) {
		struct ovw_stream *const s = m->streams[m->nended++];
		ovw_end_stream(st, s, chunk);
		ovw_metadata(st, w, s, &m->ndeclared, chunk);
	}
	chunk->end.more = m->nended < m->nstreams && !chunk->text.failed;
	return true;
}

static void ovw_free(void *state)
{
	struct ovw_state *const st = state;

	ovw_raw_free(&st->copy);
	ovw_marks_free(&st->marks);
	arena_free(&st->arena);
}

const struct writer_ops ovw_ops = {
	.state_size = sizeof(struct ovw_state),
	.want = WANT_FIELDS | WANT_BYTES | WANT_FILES,
	.modes = WRITER_RAW_SAME | WRITER_RAW_RUNS | WRITER_RAW_SELECT | WRITER_RAW_BARE | WRITER_INTERPRETED,
	.order = ORDER_TIME,
	.shape = WRITER_FOLDER,
	.nested = true,
	.open = ovw_open,
	.declare = ovw_declare,
	.write = ovw_write,
	.close = ovw_close,
	.free = ovw_free,
};
