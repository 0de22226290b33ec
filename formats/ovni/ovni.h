#ifndef OVNI_OVNI_H
#define OVNI_OVNI_H

/*
 * Private header of ovni traces ("ovni trace specification v3").
 *
 * A trace is a folder of streams, one of each thread: stream.obs with the events and stream.json with the
 * metadata.  libovni before 1.11 wrote other files (layouts 1 and 2, see metadata.c); the events are the
 * same.
 *
 *   trace.c        registration, rules; data that all streams of a trace share, and its checks
 *   read.c         framing and checks of one stream
 *   events.c       event codes and their payloads; interpreted and raw events
 *   files.c        strict JSON, clock offsets, files without a stream
 *   metadata.c     the metadata of a stream
 *   recover.c      whole events of damaged streams, sorted regions
 *   copy.c         copies of streams: the reader's and the writer's part
 *   select.c       selections of records, with those that they depend on
 *   write.c        events of other formats as marks, and the streams of all outputs
 *   write_text.c   names, labels and metadata of these streams
 *   state/         the rules of the group "state", which ovniemu checks
 */

#include <inttypes.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/open_spans.h"
#include "base/os.h"
#include "format/format.h"
#include "format/recover.h"
#include "out/tracks.h"
#include "output/text.h"

/* ---- bytes ---- */

/*
 * stream.obs ("Binary stream"): a header of 8 bytes, then events without padding, each of 12 bytes and its
 * payload, in the byte order of the machine that wrote them.
 *
 *   0  flags: high nibble flags, low nibble payload size (0: none, v: v + 1 bytes)
 *   1  model, category, value (MCV)
 *   4  u64 clock, ns
 *  12  payload; of a jumbo event: u32 size of the data, then the data
 */
#define OVNI_STREAM_FILE "stream.obs"
#define OVNI_METADATA_FILE "stream.json"
#define OVNI_OFFSETS_FILE "clock-offsets.txt"
#define OVNI_MAGIC "ovni"
#define OVNI_HEADER_SIZE 8
#define OVNI_VERSION 1U
#define OVNI_VERSION_SWAPPED 0x01000000U /* version 1 in the other byte order */
#define OVNI_EVENT_SIZE 12
#define OVNI_JUMBO_HEAD 16 /* with the size of the data */
#define OVNI_FLAG_JUMBO 0x10
#define OVNI_FLAGS_RESERVED 0xe0
#define OVNI_JUMBO_NIBBLE 3

/* The largest data that libovni writes: an event fits its buffer of 2 MiB. */
#define OVNI_WRITER_JUMBO 2097135U

/* ns: ovniemu refuses threads that begin further apart. */
#define OVNI_CLOCK_GATE (UINT64_C(3600) * 1000000000)

/* ---- limits for hostile input ---- */

#define OVNI_MAX_CODES 4096U        /* different MCVs with classes of their own */
#define OVNI_MAX_JSON (512U << 10)  /* bytes of one file */
#define OVNI_MAX_OFFSETS (1U << 20) /* bytes of clock-offsets.txt */
#define OVNI_MAX_DEPTH 64           /* of values in JSON */
#define OVNI_MAX_LOOMS 16384U
#define OVNI_MAX_PROCESSES 65536U
#define OVNI_MAX_THREADS 98304U
#define OVNI_MAX_CPUS 65536U
#define OVNI_MAX_LABELS 16384U
#define OVNI_MAX_TEXT (8U << 20) /* bytes of names in all metadata of a trace */
#define OVNI_MARK_TYPES 100
#define OVNI_MARK_TEXT 512 /* bytes; titles and labels, also of types of tasks, are shorter */
#define OVNI_MAX_COUNTERS 100
#define OVNI_MAX_REQUIRED 64 /* models in all ovni.require of a trace */

/* ---- rules (trace.c) ---- */

enum ovni_rule {
#define RULE(name, id, level, text, spec, explain) OVNI_RULE_##name,
#include "ovni/rules.def"
#undef RULE
	OVNI_RULE_COUNT
};

extern const struct rule ovni_rules[OVNI_RULE_COUNT + 1]; /* ended by an id of NULL */

/* Adds a finding about a complete stream or trace: at offset 0, without a record. */
#define ovni_report(r, rule, ...) ovni_report_at(r, rule, 0, 0, __VA_ARGS__)

#define ovni_report_at(r, rule, offset, record, ...)                                                         \
	finding_add((r)->findings, &ovni_rules[rule], offset, record, __VA_ARGS__)

/* Whether --check names the group. */
bool ovni_group_is_selected(const struct option_value *list, const char *group);

/* Like ovni_report(), for faults that only ovniemu refuses: errors if the group "state" is checked. */
void ovni_report_refused(struct reader *r, enum ovni_rule rule, const char *fmt, ...) PRINTF(3, 4);

/* ---- the trace: merged metadata of its streams (trace.c) ---- */

/*
 * Looms, processes, threads, CPUs, marks, counters and models.  All texts are in ovni_system.text.  A
 * function that runs out of memory sets no_memory and returns as if its input were missing; the reader
 * tests the flag once for each stream and each checked event.
 */

/* A stream, that is, a thread. */
struct ovni_stream {
	const struct track *track;
	uint32_t number;  /* in order of opening */
	uint32_t process; /* in ovni_system.processes, or TABLE_NONE */
	int32_t tid;      /* 0: unknown */
	uint32_t checked; /* 1 + its thread in the state checker; 0: no event was checked */
	bool big;         /* big endian */
};

/* The thread of a stream, by its metadata; missing numbers are -1. */
struct ovni_thread {
	struct slice loom; /* p NULL: missing */
	int64_t pid, tid;
	int64_t app_id, rank, nranks;
	struct slice process_name, name; /* p NULL: made from the numbers */
};

struct ovni_loom {
	struct slice name;
	uint32_t cpus;
	uint32_t processes, ranked; /* counted at the end of the trace */
};

struct ovni_process {
	uint32_t loom; /* in looms, or TABLE_NONE: unknown */
	int64_t pid, app_id, rank, nranks;
	const struct track *track; /* NULL: the trace has TRACE_MAX_TRACKS */
};

struct ovni_cpu {
	uint32_t loom;
	uint32_t index, phyid;
};

struct ovni_mark {
	struct slice title, chan_type; /* title.p NULL: not declared */
};

struct ovni_label {
	uint32_t mark;
	int64_t value;
	struct slice text;
};

/* Number of threads, with the pid and tid of the first one. */
struct ovni_threads {
	int64_t pid, tid;
	uint32_t n;
};

struct ovni_system {
	bool no_memory;
	bool in_folder; /* a stream was found in a folder: all streams of the trace are read */
	bool limited;   /* a limit was reported */
	bool lacks;     /* metadata of a stream could not be read: it may declare values that others do not */
	struct arena text;
	uint32_t text_bytes; /* at most OVNI_MAX_TEXT */
	struct ovni_loom *looms;
	uint32_t nlooms, looms_cap;
	struct tabletext loom_index;
	struct ovni_process *processes;
	uint32_t nprocesses, processes_cap;
	struct table64 process_index; /* (loom + 1) << 32 | pid */
	struct table64 tids;          /* process << 32 | tid */
	struct ovni_cpu *cpus;        /* in order of declaration; sorted at the end of the trace */
	uint32_t ncpus, cpus_cap;
	struct table64 phyids; /* loom << 32 | phyid -> cpus */
	struct ovni_mark marks[OVNI_MARK_TYPES];
	struct ovni_label *labels;
	uint32_t nlabels, labels_cap;
	struct tabletext label_index; /* "type:value" */
	struct slice counters[OVNI_MAX_COUNTERS];
	uint32_t ncounters;
	bool counters_seen;
	struct slice required[OVNI_MAX_REQUIRED]; /* models in any ovni.require */
	uint32_t nrequired;
	struct slice lib;                                   /* "version commit" of the first stream */
	struct ovni_threads breakdown_lacks, breakdown_off; /* nosv.can_breakdown */
	struct track *unknown;            /* process of the streams whose thread is unknown */
	const struct track *more_threads; /* thread of `unknown`, for streams beyond TRACE_MAX_TRACKS */
};

/* Whether the declarations of all streams of the trace are known. */
static inline bool ovni_system_is_whole(const struct ovni_system *s)
{
	return s->in_folder && !s->lacks;
}

/* Reports the first limit that a trace reaches; later ones are not reported. */
void ovni_system_limit(struct ovni_system *s, struct reader *r, const char *what, uint32_t max);

/* Copies a text; returns "" beyond OVNI_MAX_TEXT. */
struct slice ovni_system_text(struct ovni_system *s, struct reader *r, const char *text);

/* Adds the thread of a stream to its process and loom, and sets stream->process, tid and track where they are
 * known.  Returns the loom, or TABLE_NONE. */
uint32_t ovni_system_add_thread(struct ovni_system *s, struct reader *r, const struct ovni_thread *t,
                                struct ovni_stream *stream);

/* Sets stream->track of a stream whose thread is unknown. */
void ovni_system_add_unknown(struct ovni_system *s, struct reader *r, struct ovni_stream *stream);

void ovni_system_add_cpu(struct ovni_system *s, struct reader *r, uint32_t loom, uint32_t index,
                         uint32_t phyid);
void ovni_system_require(struct ovni_system *s, struct reader *r, const char *model);

/* Whether a stream requires the model. */
bool ovni_system_requires(const struct ovni_system *s, struct slice model);

/* Returns a process with this pid in a known loom, or TABLE_NONE.  For a thread without a loom: other
 * threads of its process may name the loom. */
uint32_t ovni_system_find_process(const struct ovni_system *s, int64_t pid);

/* ---- event codes, and the fast path (events.c) ---- */

/* An event code (MCV): its class, and the payload that the vocabulary expects. */
struct ovni_code {
	uint32_t bytes;  /* the three bytes << 8 */
	bool jumbo;      /* the vocabulary expects a jumbo event */
	bool old;        /* older releases wrote it */
	int8_t old_size; /* bytes of the payload that older releases wrote; -1: none */
	struct class *cls;
	const struct plan *plan; /* NULL: not in the vocabulary */
};

#define OVNI_RECENT_BITS 8
#define OVNI_FAST_BITS 11
#define OVNI_SPREAD 0x9e3779b1U /* a factor that spreads keys over the highest bits */

struct ovni_codes {
	struct ovni_code *list;
	uint32_t n, cap;
	struct table64 index;                   /* bytes -> list */
	uint16_t recent[1 << OVNI_RECENT_BITS]; /* cache of `index`, for streams of many jumbo events */
	uint64_t fast[1 << OVNI_FAST_BITS];     /* see ovni_fast_slot() */
	struct class *fast_classes[1 << OVNI_FAST_BITS];
	struct ovni_code others; /* all codes beyond OVNI_MAX_CODES */
};

/* Returns the code in `head`, the first four bytes of a record; NULL: OOM.  Valid until the next call. */
struct ovni_code *ovni_code_find(struct ovni_codes *c, struct reader *r, uint32_t head,
                                 const struct record *rec);

/* Returns the plan of the vocabulary for the name of the class; NULL: none. */
const struct plan *ovni_class_plan(const struct class *cls);

/*
 * The fast path is for pairs of code and flags whose events need no check other than that of their clock:
 * most events of most streams.  Each pair has two possible slots in the table; a zeroed slot matches nothing.
 */
static inline uint32_t ovni_fast_slot(uint32_t head)
{
	return (head * OVNI_SPREAD) >> (32 - OVNI_FAST_BITS);
}

/* Returns the class of an event on the fast path, or NULL. */
static inline struct class *ovni_fast_class(const struct ovni_codes *c, uint32_t head)
{
	const uint64_t want = (uint64_t)1 << 32 | head;
	uint32_t slot = ovni_fast_slot(head);

	if (c->fast[slot] != want && c->fast[slot ^= 1] != want)
		return NULL;
	return c->fast_classes[slot];
}

/* Bytes of the payload of an event with these flags (the lowest bits), except jumbo events. */
static inline uint32_t ovni_payload_size(uint32_t flags)
{
	return (flags & 15) + ((flags & 15) != 0);
}

/*
 * Deviations from the vocabulary.  Third parties write models of their own, and old releases wrote other
 * payloads, so none is an error; they are counted for each code and reported once for each stream.
 */
struct ovni_anomalies; /* of one stream; starts as NULL, and is given to free() */
struct ovni_state;

/* Counts the event if it deviates from the vocabulary.  If events of its code and flags need no further
 * check, later ones take the fast path.  Returns false on OOM. */
bool ovni_check_payload(struct ovni_state *st, const struct ovni_code *c, const struct record *rec);

/* Reports the deviations at the end of a stream. */
void ovni_report_anomalies(const struct ovni_anomalies *all, const struct ovni_codes *codes,
                           struct reader *r);

/* ---- files (files.c) ---- */

/* Clock offsets of hosts: clock-offsets.txt in the folder of the trace, or the file of --clock-offsets. */
struct ovni_offsets {
	const char *file; /* its name in messages; may be in `quoted` */
	struct quoted quoted;
	bool read;        /* the table exists */
	bool named;       /* by --clock-offsets */
	struct text copy; /* of the file, for WANT_FILES */
	struct ovni_host *hosts;
	uint32_t nhosts, hosts_cap;
	struct tabletext host_index;
};

/* Reads the table, if it exists.  Returns false on OOM, or if the file of --clock-offsets cannot be read,
 * which is reported. */
bool ovni_offsets_open(struct ovni_offsets *o, struct ovni_system *s, struct reader *r);

/* The host of a loom: its name up to the first dot. */
struct slice ovni_host_of(struct slice loom);

/* Returns the ns to add to the clocks of a loom; 0 if the table lacks its host.  loom: its name; p NULL:
 * unknown. */
int64_t ovni_offsets_find(struct ovni_offsets *o, struct slice loom);

/* After the last stream: reports hosts without looms, and looms on several hosts without a table. */
void ovni_offsets_check(const struct ovni_offsets *o, const struct ovni_system *s, struct reader *r);

/* A file of a stream's folder that was read, for copies. */
struct ovni_file {
	char *name;
	char *content; /* NULL: it was too large */
	uint32_t n;    /* bytes of content */
};

#define OVNI_MAX_FILES 5 /* beside a stream, and one of the trace; no layout has more */

/* Files that are passed to the consumer before the records (WANT_FILES); the stream itself is the last. */
struct ovni_files {
	struct class *cls; /* of their records; NULL: none are wanted */
	struct ovni_file list[OVNI_MAX_FILES];
	uint32_t n, next;
};

struct cJSON;

/* The metadata of one stream while it is read. */
struct ovni_metadata {
	struct reader *r;
	struct ovni_system *system;
	struct ovni_stream *stream; /* set from `thread` */
	struct ovni_thread thread;  /* values read */
	uint32_t loom;              /* in system.looms, or TABLE_NONE */
	bool check_versions;        /* of the models in ovni.require */
	bool merged;                /* the thread was added to the system */
	double version;             /* of metadata.json; 0: unknown */
	size_t folder;              /* length of the folder in the stream's path, with the slash */
	const char *file;           /* being read */
	const char *prefix;         /* precedes keys in messages */
	struct ovni_files *files;   /* receives copies of the files; NULL: none are wanted */
};

/* Parses strict JSON of bounded depth.  Returns NULL after a fault (*fault: its reason; *at: its offset) or
 * on OOM (*fault is NULL).  The caller frees the tree with cJSON_Delete(). */
struct cJSON *ovni_json_parse(struct slice text, const char **fault, size_t *at);

/* Returns the value of a key; NULL if o is NULL or no object, or lacks the key. */
const struct cJSON *ovni_json_get(const struct cJSON *o, const char *key);
bool ovni_json_is(const struct cJSON *v, int number);

#define OVNI_NO_INTEGER INT64_MIN

/* Returns the 32-bit integer of a key; -1: missing; OVNI_NO_INTEGER: another value, which was reported. */
int64_t ovni_json_integer(struct ovni_metadata *m, const struct cJSON *o, const char *key);

/* Returns the string of a key; NULL: missing, or another value, which was reported. */
const char *ovni_json_string(struct ovni_metadata *m, const struct cJSON *o, const char *key);

/* Reads a file of the stream's folder and passes its object to the sink; reports all faults.  Returns false,
 * without a report, if the file is missing. */
typedef void ovni_json_sink(struct ovni_metadata *m, const struct cJSON *root);
bool ovni_json_read(struct ovni_metadata *m, const char *name, ovni_json_sink *sink);

/* trace_ops.check_sidecar: reports metadata without a stream. */
void ovni_check_sidecar(struct reader *r);

/* ---- metadata (metadata.c) ---- */

/* Reads the files of the stream m->r->in and merges them into the system; always sets m->stream->track,
 * except on OOM.  Findings are in the report of the stream, at offset 0; messages name file and key. */
void ovni_metadata_read(struct ovni_metadata *m);

/* ---- the group of rules "state" (state/) ---- */

/*
 * Faults that ovniemu, the emulator of ovni, rejects.  Threads start, run and end, hold CPUs, and open and
 * close states on their stacks; tasks are created from types and run as bodies.  The vocabulary gives the
 * action of an event by keywords for the reader (schemas/ovni.yaml lists them).
 *
 * After a broken rule the state is set as the event requires, so that one fault is reported once.  All tables
 * are bounded.
 */
struct state_checker; /* of one trace */

/* Borrows the system. */
struct state_checker *state_checker_new(struct ovni_system *system);
void state_checker_free(struct state_checker *c); /* NULL is fine */

/* Checks one event.  Events of all streams of the trace must be passed in order of time, each with the reader
 * of its stream.  Sets system->no_memory on OOM. */
void state_check_event(struct state_checker *c, struct ovni_stream *stream, struct reader *r,
                       const struct batch *b, const struct event *e);

/* Checks that need the end of the trace; r is the reader of the trace. */
void state_check_end(const struct state_checker *c, struct reader *r);

/* ---- the reader (read.c) ---- */

/* reader.shared: state of a trace. */
struct ovni_shared {
	struct ovni_codes codes;
	struct ovni_system system;
	struct ovni_offsets offsets;
	bool check_state;              /* --check state */
	struct state_checker *checker; /* NULL: no event was checked by the rules of the group "state" */
	uint32_t nstreams;
	bool offsets_copied; /* the table is in the files of a stream, for WANT_FILES */
};

/* Whether the OVNI_EVENT_SIZE bytes of an event are all zero. */
bool ovni_is_zero(const char *event);

/* reader.state: state of a stream. */
struct ovni_state {
	struct reader *r;
	struct ovni_stream stream;
	bool started;   /* the header was read */
	bool complete;  /* the end was read */
	bool in_region; /* between OU[ and OU] */
	bool ended;     /* an OHe was read */
	uint64_t last;  /* clock of the previous event */
	int64_t offset; /* ns to add to the clocks of this host */
	uint64_t region_offset, region_record;
	struct finding_tally unsorted, large, below_zero;
	struct ovni_anomalies *anomalies;
	struct ovni_files files; /* for WANT_FILES */

	/* A jumbo event longer than --max-record: its head, and the number of bytes still to be skipped. */
	bool is_long;
	char jumbo[OVNI_JUMBO_HEAD];
	uint64_t skip, skip_offset;
};

static inline struct ovni_codes *ovni_codes_of(const struct reader *r)
{
	return &((struct ovni_shared *)r->shared)->codes;
}

extern const struct reader_ops ovni_reader_ops;
extern const struct trace_ops ovni_trace_ops; /* trace.c */
extern const struct recover_ops ovni_recover_ops;

/* ---- events (events.c) ---- */

/*
 * Interpreted events are instants named by their code; the engine applies the vocabulary.
 *
 * Raw events (WANT_RAW) are the header of the stream, which is not counted as a record, and each event.
 * Times are the clocks of the file: no clock offset is added.
 *
 *   header  magic (string of 4 bytes), version (u32)
 *   event   flags (u8, with the size code of the payload), mcv (string of 3 bytes), clock (u64, ns),
 *           jumbo_size (u32, of jumbo events), payload (bytes, if any; of jumbo events the data)
 */

void ovni_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e);
void ovni_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e);
bool ovni_run(struct reader *r, const char *limit, struct batch *b);

/* Returns the class of the header; NULL: OOM. */
struct class *ovni_header_class(struct reader *r);

/* ---- copies: the reader's part (copy.c) ---- */

#define OVNI_NOT_READ SIZE_MAX

/* Returns the length of a path up to its last slash, which is included. */
uint32_t ovni_folder_length(struct slice path);

/* Retains a copy of a file of n bytes at p; n OVNI_NOT_READ: it is too large.  Returns false on OOM. */
bool ovni_files_add(struct ovni_files *f, const char *name, const char *p, size_t n);
void ovni_files_free(struct ovni_files *f);

/* Starts the list of a stream: that of the first stream with the clock offsets.  Returns false on OOM. */
bool ovni_files_open(struct ovni_state *st);

/* Sets the record of the next file; returns false if there is none. */
bool ovni_files_next(struct ovni_state *st, struct record *rec);

/* Adds the fields of the record of a file. */
void ovni_file_fields(const struct ovni_state *st, struct batch *b, struct event *e);

/* ---- writer ---- */

/* Writes a folder of streams with their metadata.  Records of ovni are copied (copy.c); events of other
 * formats become marks (write.c, write_text.c). */

enum ovw_loss {
#define LOSS(row, ...) OVW_##row,
#include "ovni/losses.def"
#undef LOSS
	OVW_LOSSES
};

extern const struct loss ovw_losses[OVW_LOSSES + 1];
extern const struct writer_ops ovw_ops;

/* A file of a stream's folder, retained until that folder has a name. */
struct ovw_sidecar {
	struct slice name;
	struct text content;
};

#define OVW_MAX_SIDECARS 4

/* ---- writer: selections of copies (select.c) ---- */

struct ovw_waiting;

struct ovw_selection {
	bool has_offsets;             /* the output has a table of clock offsets */
	struct ovw_waiting **streams; /* by number */
	uint32_t nstreams;
	uint64_t waiting_bytes;
	bool any;                        /* a stream was kept */
	bool uses_tasks;                 /* a selected record belongs to a task */
	struct table64 scopes, declared; /* of kept streams */
	struct table64 tids;             /* named by OAr records of kept streams */
};

/* Copied streams and their files. */
struct ovw_copy {
	const char **streams; /* file of each stream, by number; NULL: none yet */
	uint32_t nstreams;
	struct tabletext names; /* of files in the output -> hashes[] */
	uint64_t *hashes;       /* of contents of sidecars; 0: a stream */
	uint32_t nnames, names_cap;
	struct tabletext folders; /* of streams that got a number -> the last number */
	struct ovw_sidecar sidecars[OVW_MAX_SIDECARS];
	uint32_t nsidecars;
	struct text scratch;
	struct ovw_selection selection;
};

/* ---- writer: events as marks ---- */

/* A trace has 100 types of marks; each has a stack in each thread. */
enum ovw_type {
	OVW_SPANS,
	OVW_INSTANTS,
	OVW_LABELLED, /* number of types with labels */
	OVW_ARROWS_OUT = OVW_LABELLED,
	OVW_ARROWS_IN,
	OVW_COUNTERS /* first type of counters, one for each series */
};

#define OVW_MAX_STREAMS 2400U /* each takes three or four entries of the file system */

/* A thread of the output. */
struct ovw_stream {
	const struct track *track;
	uint32_t process; /* in ovw_marks.processes */
	uint32_t lane;    /* 0: the track; else the number of a lane of its async spans, from 1 */
	int32_t tid;
	bool changed; /* readers show its events under another number */
	const char *file;
	uint64_t last;                                    /* clock of the last record */
	struct text held;                                 /* records that are not written yet */
	struct nested_spans open;                         /* `what` is the value of the mark */
	int64_t counters[OVNI_MARK_TYPES - OVW_COUNTERS]; /* current values; 0: none */
};

struct ovw_process {
	const struct track *track;
	int32_t pid;
};

/* A track of the input: its stream and those of its async spans, as indexes of ovw_marks.streams + 1. */
struct ovw_track {
	uint32_t stream;
	uint32_t *lanes;
	uint32_t nlanes, lanes_cap;
};

struct ovw_label {
	const char *name; /* NUL-terminated */
	uint32_t type;
	bool changed; /* it differs from the name of the events */
};

struct ovw_marks {
	bool any;
	uint64_t first;  /* clock of the first event */
	uint64_t latest; /* greatest clock of an event or of the end of a span */
	struct ovw_track *tracks;
	uint32_t ntracks, tracks_cap;
	struct ovw_stream **streams;
	uint32_t nstreams, nlane_streams, streams_cap;
	struct ovw_process *processes;
	uint32_t nprocesses, processes_cap;
	struct table64 process_of;    /* index of a track -> processes[] */
	struct track_numbers numbers; /* pids, and the tids of each process */
	struct ovw_label *labels;     /* the value of a label is its index + 1 */
	uint32_t nlabels, labels_cap;
	uint32_t label_text, label_json;      /* bytes of all labels */
	struct tabletext names[OVW_LABELLED]; /* -> labels[] */
	struct slice titles[OVNI_MARK_TYPES - OVW_COUNTERS];
	uint32_t ntitles;
	struct tabletext title_of;
	uint64_t held;      /* bytes, of all streams */
	uint32_t ndeclared; /* labels that ended streams declare */
	uint32_t nopen;     /* open spans of all streams */
	struct text scratch;
	struct text refusal; /* message about too many streams */
};

struct ovw_state {
	bool is_selection, rebased, signed_time; /* of the copier only: is_selection, rebased, `copy` */
	const char *output;                      /* its path, for messages; NULL: standard output */
	struct chunk *chunk;                     /* the output; set by each function that the engine calls */
	struct arena arena;
	struct ovw_copy copy;
	struct ovw_marks marks;
};

static inline void ovw_lose(const struct ovw_state *st, enum ovw_loss kind, uint64_t offset)
{
	ledger_add(&st->chunk->ledger, &ovw_losses[kind], offset, 1);
}

/* ---- writer: copies (copy.c) ---- */

extern const struct copier_ops ovw_copier_ops;

/* Changes the clock of the last record in `to`, of n bytes, to the time of the event. */
void ovw_move_clock(struct ovw_state *st, const struct event *e, struct text *to, uint32_t n);

/* ---- writer: selections of copies (select.c) ---- */

/* Adds a file to a stream; it is written if the stream is kept. */
void ovw_select_file(struct ovw_state *st, uint64_t number, const char *file, struct slice content);

/* Notes an OM=, which ends the mark that the previous OM= of its type began.  Counts an OM= that is left out
 * after one that is written: the mark then lasts too long.  No effect for other records. */
void ovw_select_mark(struct ovw_state *st, const struct event *e, struct slice bytes);

/* Whether selected records may need the record at p. */
bool ovw_select_needs(const char *p);

/* Whether the record at p sets a mark (OM=). */
bool ovw_is_mark(const char *p);

/* Writes or retains a record of a stream with a file. */
void ovw_select_event(struct ovw_state *st, const struct event *e, struct slice bytes);

/* Writes streams without selected records that kept streams need. */
void ovw_select_end(struct ovw_state *st);

void ovw_select_free(struct ovw_selection *x);

/* ---- writer: streams (write.c) ---- */

/* Returns the stream of the event's track, after starting it if it is new.  Returns NULL on OOM (text.failed)
 * or if there are too many streams. */
struct ovw_stream *ovw_stream_of(struct ovw_state *st, const struct event *e, uint64_t clock);

/* Like ovw_stream_of(), for an async span: returns a stream in which no span overlaps it. */
struct ovw_stream *ovw_async_stream(struct ovw_state *st, const struct event *e, uint64_t clock);

/* Adds a record to a stream; `code` has three letters. */
void ovw_record(struct ovw_state *st, struct ovw_stream *s, const char *code, uint64_t clock,
                const char *payload, unsigned n);

/* Writes the retained records of the stream. */
void ovw_flush(struct ovw_state *st, struct ovw_stream *s);

/* ---- writer: events, metadata (write_text.c) ---- */

void ovw_events(void *state, const struct batch *b, struct chunk *chunk); /* writer_ops.write */

/* Ends a stream: spans, counters, thread. */
void ovw_end_stream(struct ovw_state *st, struct ovw_stream *s);

/* Writes the metadata of an ended stream.  *label: the first label that no stream has declared yet. */
void ovw_metadata(struct ovw_state *st, const struct writer *w, struct ovw_stream *s, uint32_t *label);

#endif
