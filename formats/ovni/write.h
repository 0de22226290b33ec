#ifndef OVNI_WRITE_H
#define OVNI_WRITE_H

#include "format/format.h"
#include "ovni/wire.h"

/* The writer: a folder of streams with their metadata.  Records of ovni are copied; see ovni_write_raw.c. */

enum ovw_loss {
#define LOSS(row, ...) OVW_##row,
#include "ovni/losses.def"
#undef LOSS
	OVW_LOSSES
};

extern const struct loss ovw_losses[OVW_LOSSES + 1];
extern const struct writer_ops ovw_ops;

/* A file that comes with a stream, until the stream's folder has a name. */
struct ovw_sidecar {
	struct slice name;
	struct text content;
};

#define OVW_MOST_SIDECARS 4

/* ---- a selection ---- */

#define OVW_MOST_WAITING (32U << 20) /* bytes of streams of which nothing was selected yet */

/* A value of the metadata that one stream of its scope must have: hashes. */
struct ovw_declared {
	uint64_t scope; /* of the process or the loom; 0: the trace */
	uint64_t content;
};

struct ovw_waiting_file {
	const char *file;
	struct text content;
};

/* A stream, which waits until one of its records is selected. */
struct ovw_waiting {
	bool kept;
	bool defines;     /* tasks or their types */
	const char *file; /* NULL: no record came yet */
	struct ovw_waiting_file files[OVW_MOST_SIDECARS];
	uint32_t nfiles;
	struct text records; /* that came along */
	size_t bytes;        /* of all that */
	uint64_t loom, process;
	uint32_t tid; /* 0: not known */
	struct ovw_declared declared[8];
	uint32_t ndeclared;
};

struct ovw_selection {
	struct ovw_waiting **streams; /* by number */
	uint32_t nstreams;
	uint64_t waiting_bytes;
	bool any;                              /* one was kept */
	bool uses_tasks;                       /* a selected record is of a task */
	struct table64 scopes, declared, tids; /* of what is kept; tids: that OAr names */
};

/* Where copied streams go. */
struct ovw_copy {
	const char **streams; /* the file of each, by its number; NULL: none yet */
	uint32_t nstreams;
	struct tabletext names; /* of files that are there -> hashes[] */
	uint64_t *hashes;       /* of the content of sidecars; 0: a stream */
	uint32_t nnames, names_cap;
	struct tabletext folders; /* of which there were several -> the number that the last one got */
	struct ovw_sidecar sidecars[OVW_MOST_SIDECARS];
	uint32_t nsidecars;
	struct text scratch;
	struct ovw_selection selection;
};

/* ---- events as marks ---- */

/* Marks have 100 types in a trace, each with a stack of its own in each thread. */
enum ovw_type {
	OVW_SPANS,
	OVW_INSTANTS,
	OVW_LABELLED, /* the types before it have labels */
	OVW_ARROWS_OUT = OVW_LABELLED,
	OVW_ARROWS_IN,
	OVW_COUNTERS /* the first one of counters: each series has its own */
};

/* Bounds, so that memory does not grow with the trace and readers with bounds of their own (ovni_wire.h) read
 * the output. */
#define OVW_MOST_STREAMS 2400U      /* each takes three entries of the file system, or four */
#define OVW_MOST_LANE_STREAMS 1200U /* of them, those of async spans */
#define OVW_MOST_DEEP 512U          /* spans inside each other, of one thread: what ovniemu takes */
#define OVW_MOST_OPEN (1U << 20)    /* of all threads */
#define OVW_MOST_LANES 256U         /* async spans at once, of one track */
#define OVW_MOST_LABELS 16000U
#define OVW_MOST_LABEL_TEXT (4U << 20)
#define OVW_LABELS_OF_STREAM (384U << 10) /* bytes of JSON */
#define OVW_MOST_HELD (48U << 20)         /* bytes of streams that wait to be written */
#define OVW_HELD_OF_STREAM (64U << 10)
#define OVW_CLOCK_GATE UINT64_C(3600000000000) /* ns: threads must begin within so much of the first one */

struct ovw_open {
	uint64_t end;
	int64_t value;
};

/* A thread of the output. */
struct ovw_stream {
	const struct track *track;
	uint32_t process; /* in ovw_marks.processes */
	uint32_t lane;    /* n: the n-th that holds async spans of the track, from 1 */
	int32_t tid;
	bool changed; /* readers show its events under another number */
	const char *file;
	uint64_t last;         /* clock of the last record */
	struct text held;      /* what is not written yet */
	struct ovw_open *open; /* spans, the innermost last */
	uint32_t nopen, open_cap;
	int64_t counters[OVNI_MARK_TYPES - OVW_COUNTERS]; /* present values; 0: none */
};

struct ovw_process {
	const struct track *track;
	int32_t pid;
};

/* A track of the input: its stream and those of its async spans, numbers in ovw_marks.streams plus 1. */
struct ovw_track {
	uint32_t stream;
	uint32_t *lanes;
	uint32_t nlanes, lanes_cap;
};

struct ovw_label {
	const char *name; /* NUL-terminated */
	uint32_t type;
	bool changed; /* it is not that of the events */
};

struct ovw_marks {
	bool any;
	uint64_t first;  /* clock of the first event */
	uint64_t latest; /* and of the last one, or the end of a span */
	struct ovw_track *tracks;
	uint32_t ntracks, tracks_cap;
	struct ovw_stream **streams;
	uint32_t nstreams, nlane_streams, streams_cap;
	struct ovw_process *processes;
	uint32_t nprocesses, processes_cap;
	struct table64 process_of; /* index of a track -> processes[] */
	struct table64 pids, tids; /* in use; tids: process << 32 | tid */
	uint32_t next_id;
	struct ovw_label *labels; /* the value of one is its place plus 1 */
	uint32_t nlabels, labels_cap;
	uint32_t label_text, label_json;      /* bytes of all labels */
	struct tabletext names[OVW_LABELLED]; /* -> labels[] */
	struct slice titles[OVNI_MARK_TYPES - OVW_COUNTERS];
	uint32_t ntitles;
	struct tabletext title_of;
	uint64_t held;              /* bytes, of all streams */
	uint32_t nended, ndeclared; /* streams that were ended; labels that they declare */
	uint32_t nopen;
	struct text scratch;
	struct text refusal; /* a message, when there were too many streams */
};

struct ovw_state {
	bool is_raw, is_selection, rebased, signed_time;
	const char *beside; /* the output */
	struct arena arena;
	struct ovw_copy copy;
	struct ovw_marks marks;
};

static inline void
ovw_lose(struct chunk *chunk, enum ovw_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &ovw_losses[kind], offset, 1);
}

/* In the byte order of the stream. */
static inline void
ovw_store(char *p, uint64_t v, unsigned size, bool big)
{
	for (unsigned i = 0; i < size; i++)
		p[i] = (char)(v >> 8 * (big ? size - 1 - i : i));
}

/* ---- ovni_write_raw.c ---- */

void ovw_raw(struct ovw_state *st, const struct batch *b, struct chunk *chunk);
void ovw_raw_free(struct ovw_copy *c);

/* Moves the clock of the record of n bytes that was added to `to` last. */
void ovw_move_clock(struct ovw_state *st, const struct event *e, struct text *to, uint32_t n,
                    struct chunk *chunk);

/* ---- ovni_write_select.c ---- */

/* NULL: no memory. */
struct ovw_waiting *ovw_waiting_of(struct ovw_state *st, uint64_t number);

/* A file that comes with a stream, if that is kept. */
void ovw_wait_with(struct ovw_state *st, uint64_t number, const char *file, struct slice content,
                   struct chunk *chunk);

/* Writes a record of a stream with a place, or holds it, or leaves it out. */
void ovw_selected(struct ovw_state *st, const struct event *e, struct slice bytes, struct chunk *chunk);

/* Writes the streams without selected records that others need. */
void ovw_select_end(struct ovw_state *st, struct chunk *chunk);
void ovw_select_free(struct ovw_selection *x);

/* ---- ovni_write_names.c ---- */

/* Keeps a file until its stream has a place.  name: its way in the trace; content.p NULL: it was not read. */
void ovw_sidecar(struct ovw_state *st, struct slice name, struct slice content, struct chunk *chunk);

/* Gives a stream a file, and writes what belongs to it.  name: its way in the trace. */
void ovw_place(struct ovw_state *st, uint64_t number, struct slice name, struct chunk *chunk);

/* ---- ovni_write_stream.c ---- */

/* Makes the tracks known that are new in the batch.  false: no memory. */
bool ovw_declare_tracks(struct ovw_state *st, const struct batch *b);

/* The stream of a track, which begins with this event if it is new.  NULL: no memory (text.failed), or there
 * are too many.  lane 0, or that of async spans. */
struct ovw_stream *ovw_stream_of(struct ovw_state *st, const struct event *e, uint64_t clock,
                                 struct chunk *chunk);

/* The same for an async span, which overlaps no other of its stream. */
struct ovw_stream *ovw_async_stream(struct ovw_state *st, const struct event *e, uint64_t clock,
                                    struct chunk *chunk);

/* A thread without events, for a trace that has none. */
void ovw_no_events(struct ovw_state *st, struct chunk *chunk);

/* Adds a record to a stream; `code` has three letters. */
void ovw_record(struct ovw_state *st, struct ovw_stream *s, const char *code, uint64_t clock,
                const char *payload, unsigned n, struct chunk *chunk);

/* Writes what the stream holds. */
void ovw_flush(struct ovw_state *st, struct ovw_stream *s, struct chunk *chunk);

void ovw_marks_free(struct ovw_marks *m);

/* ---- ovni_write_marks.c ---- */

void ovw_events(struct ovw_state *st, const struct batch *b, struct chunk *chunk);

/* Ends a stream: spans, counters, thread. */
void ovw_end_stream(struct ovw_state *st, struct ovw_stream *s, struct chunk *chunk);

/* ---- ovni_write_label.c ---- */

/* Puts the name into t, without what no label can have; whether it was changed. */
bool ovw_clean_name(struct text *t, struct slice name);

/* The value of a name as label of a type. */
int64_t ovw_label_of(struct ovw_state *st, enum ovw_type type, struct slice name, uint64_t offset,
                     struct chunk *chunk);

/* The type of a series of counters; OVNI_MARK_TYPES: there are too many. */
uint32_t ovw_counter_type(struct ovw_state *st, struct slice title, uint64_t offset, struct chunk *chunk);

/* ---- ovni_write_json.c ---- */

/* Ends a stream, and writes its metadata; *label: the first label that no stream has declared yet. */
void ovw_metadata(struct ovw_state *st, const struct writer *w, struct ovw_stream *s, uint32_t *label,
                  struct chunk *chunk);

#endif
