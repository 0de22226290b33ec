/*
 * The private header of the reader of Perfetto traces.
 *
 *   check.c       packets against the schema: wire types, enums, texts
 *   frames.c      frames, the search after damage, packets above the limit
 *   packets.c     fields of a packet, compressed packets, the order of work in a packet
 *   read.c        the reader: events of each packet, events that wait for earlier ones, the pass ahead
 *   sequences.c   state of sequences, interned data
 *   clocks.c      clock snapshots, times
 *   tracks.c      descriptors, tracks of the model
 *   events.c      track events: kind, time, track
 *   nesting.c     begins and ends of a track, arrows
 *   values.c      track events: names, arguments, call stacks
 *   samples.c     samples with call stacks
 *   facts.c       facts of the whole trace
 *   raw.c         raw packets: their fields, and copies
 */
#ifndef PERFETTO_READ_READ_H
#define PERFETTO_READ_READ_H

#include <inttypes.h>
#include <stdio.h>

#include "base/table.h"
#include "format/format.h"
#include "perfetto/schema/schema.h"

#define PF_COLD __attribute__((cold, noinline))

/* ---- limits ---- */

#define PF_MAX_UNPACKED (64U << 20) /* of the packets that a packet has compressed */
#define PF_MAX_NESTED 100           /* depth of messages in a packet */
#define PF_MAX_SEQUENCES 65536U
#define PF_MAX_ENTRIES (1U << 22) /* interned, of all sequences at a time */
#define PF_MAX_TEXT (128U << 20)  /* bytes of interned data that are kept of a file */
#define PF_MAX_LATE 64U           /* uses of undefined entries that wait for a later definition */
#define PF_MAX_TRACKS (1U << 20)
#define PF_MAX_ABOVE 99 /* tracks above one, as in Perfetto */
#define PF_MAX_OPEN 512 /* spans of a track, as in Perfetto */
#define PF_MAX_SNAPSHOT_CLOCKS 32
#define PF_MAX_SERIES 131072U
#define PF_MAX_CLOCKS 262144U
#define PF_MAX_CLOCK_WORK (1U << 26) /* series that searches for paths look at */
#define PF_MAX_SEARCH (1U << 26)     /* fields that searches after damage look at */
#define PF_MAX_SNAPSHOTS (1U << 20)
#define PF_MAX_CLASSES 4096U
#define PF_RECENT 1024U /* slots of a cache of tracks */
#define PF_MAX_HELD 4096U
#define PF_MAX_EXTRA 8U /* extra counter values of an event, as in Perfetto */
#define PF_MAX_LATE_EVENTS                                                                                   \
	(1U << 18)                 /* whose times are judged at the end; those behind are taken for good     \
	                            */
#define PF_MAX_FLOWS (1U << 22)    /* ends of arrows that a pass ahead sorts */
#define PF_MAX_WAITING (64U << 20) /* bytes of events that wait for earlier ones */

enum pf_limit {
	PF_FULL_SEQUENCES = 1,
	PF_FULL_ENTRIES = 2,
	PF_FULL_TEXT = 4,
	PF_FULL_TRACKS = 8,
	PF_FULL_CLASSES = 16,
	PF_FULL_CLOCKS = 32,
	PF_FULL_WAITING = 64,
};

/* ---- rules ---- */

enum pf_rule {
#define RULE(name, id, level, text, spec, explain) PF_RULE_##name,
#include "perfetto/rules.def"
#undef RULE
	PF_RULE_COUNT
};

extern const struct rule perfetto_rules[PF_RULE_COUNT + 1];

/* ---- packets ---- */

/* The fields of a packet that concern its sequence and time, and its data. */
struct pf_packet {
	struct slice s; /* its content */
	uint64_t timestamp;
	uint32_t sequence, flags, clock, dropped, machine;
	uint32_t ndata;    /* fields that are data */
	uint32_t kind;     /* number of the first of these; 0: none */
	struct slice data; /* its content */
	struct slice interned, defaults;
	bool has_timestamp, has_sequence, has_clock;
	bool odd; /* it has something that pf_check() may report */
	bool bad; /* its fields cannot be read to the end */
};

/* Unpacked packets of a packet. */
struct pf_inner {
	struct shared_memory memory;
	char *p;
};

/* ---- interned data ---- */

/* clang-format off */
enum pf_table_id {
	PF_CATEGORIES, PF_NAMES, PF_KEYS, PF_LOCATIONS, PF_FUNCTIONS, PF_FRAMES, PF_CALLSTACKS, PF_BUILD_IDS,
	PF_MAPPING_PATHS, PF_SOURCE_PATHS, PF_MAPPINGS, PF_LOG_BODIES, PF_TYPE_NAMES, PF_STRINGS,
	PF_CORRELATIONS, PF_TASKS, PF_EXECUTIONS, PF_TABLES
};
/* clang-format on */

struct pf_entry {
	uint64_t iid;
	uint64_t hash;               /* of the entry; of tables of texts: of the text */
	struct slice text;           /* or the bytes of the entry; p NULL: not kept */
	union {                      /* once they are needed, or NULL */
		struct class *cls;   /* of a category */
		const char *library; /* of a mapping: path and build id, each with a NUL behind it */
	};
	bool is_checked; /* of a call stack */
};

/* Entries in order of arrival; most writers number them 1, 2, 3, so that the iid is the place. */
struct pf_table {
	struct pf_entry *list;
	uint32_t n, cap;
	struct table64 index; /* iid -> list[], of entries at other places */
};

/* A use of an entry that is not defined, until the end of the interval. */
struct pf_late {
	uint64_t iid, offset, record;
	uint32_t sequence; /* index */
	uint8_t table;
	bool defined;
};

/* ---- sequences ---- */

struct pf_delta_clock {
	uint32_t id;
	uint64_t unit, value; /* running value, in units */
};

struct pf_sequence {
	uint32_t id, machine, index;
	bool any, valid, has_thread, has_base, has_default_track;
	bool uses_thread;  /* it had events that belong to its thread ... */
	bool thread_moved; /* ... before that was known */
	uint32_t default_clock, nclocks;
	uint64_t default_track, generation; /* generation: of counter sums */
	struct slice defaults;              /* TrackEventDefaults, if it names extra counters */
	uint32_t defaults_cap;
	int32_t pid;
	int64_t tid;
	int64_t time_us, thread_us, instructions; /* delta base */
	uint64_t last;                            /* time of its last event */
	struct pf_delta_clock *clocks;            /* those of 64 to 127 that are incremental */
	struct pf_table *tables;                  /* PF_TABLES; NULL: nothing is interned */
	struct pf_track
	    *thread; /* of events that belong to its thread: track 0 before it is known; or NULL */
};

/* ---- clocks ---- */

/* Snapshots of one set of clocks. */
struct pf_series {
	uint64_t *keys;   /* of its clocks */
	uint32_t *next;   /* for each of them: the next series that has it, + 1 */
	uint64_t *values; /* ns, nclocks a snapshot */
	uint32_t nclocks, n, cap;
};

struct pf_clock {
	uint64_t key;    /* id; of 64 to 127 with the sequence above it */
	uint64_t unit;   /* ns */
	uint64_t last;   /* ns, of the last snapshot */
	uint32_t series; /* the last that has it, + 1 */
	bool is_back;    /* went back: no source of conversions */
	uint64_t seen;   /* the last search that reached it */
};

/* Packets of a clock that no snapshot before them converts. */
struct pf_late_clock {
	uint64_t key;
	struct finding_tally tally;
};

/* A track event of such a packet. */
struct pf_late_event {
	uint64_t key, value; /* of its clock, in its units */
	uint64_t offset, record;
	uint32_t events, further; /* that were counted, see struct trace */
};

#define PF_PATHS 256
#define PF_MAX_PATH 8 /* series between a clock and that of the trace */

/* The way from a clock to that of the trace. */
struct pf_path {
	uint64_t key;
	uint32_t version, target, n; /* version: of the clocks; 0: empty slot */
	struct {
		uint32_t series;
		uint8_t from, to; /* columns */
	} steps[PF_MAX_PATH];
};

struct pf_clocks {
	struct pf_series *series;
	uint32_t nseries, series_cap;
	struct pf_clock *list;
	uint32_t n, cap, total;  /* total: snapshots */
	struct table64 index;    /* key -> list[] */
	struct table64 sets;     /* hash of the keys -> series[] */
	uint64_t searches, work; /* searches for paths, and series that they looked at */
	uint32_t trace;          /* default clock of packets; 0: none */
	uint32_t fixed;   /* clock that trace times are in, once something was converted; 0: none yet */
	uint32_t version; /* changes when clocks are linked */
	struct pf_path paths[PF_PATHS];
	struct pf_late_clock late[PF_MAX_LATE];
	uint32_t nlate;
	struct pf_late_event *late_events;
	uint32_t nlate_events, late_cap;
	uint64_t late_key, late_value; /* of the last such packet */
};

enum pf_time {
	PF_TIME_OK,
	PF_TIME_UNKNOWN, /* no snapshot has the clock, so far */
	PF_TIME_NO_PATH,
	PF_TIME_RANGE, /* before 0 or after 2^63 - 1 */
};

#define PF_RANGE_TEXT "a time before 0 or after 2^63 - 1: %" PRId64 " ns in 64 bits"

/* ---- tracks ---- */

enum pf_kind { PF_UNDESCRIBED, PF_PLAIN, PF_PROCESS, PF_THREAD, PF_COUNTER, PF_STATE };

enum { PF_MERGE_NAME = 1, PF_MERGE_NONE = 2, PF_MERGE_KEY = 3 };

/* A span of a track that is open, or closed and not left yet. */
struct pf_open {
	uint64_t ts, end;        /* end: PF_IS_OPEN */
	uint64_t name, category; /* hashes; 0: none */
	uint64_t offset, record;
	bool is_told; /* its end was given to the engine */
};

#define PF_IS_OPEN UINT64_MAX

/* The description of a track: the fields of its TrackDescriptor. */
struct pf_description {
	uint64_t parent;   /* only if has_parent */
	struct slice name; /* of a thread or process: its name */
	struct slice key;  /* of a merge group, if `merge` is PF_MERGE_KEY */
	struct slice unit_name;
	int64_t tid, multiplier;
	int32_t pid;
	uint8_t kind, merge, unit, builtin;
	struct slice first_name; /* of the first event in time, found by a pass ahead; p NULL: none */
	uint64_t first;          /* its time */
	bool has_parent, is_incremental, is_known;
	bool is_unnumbered, has_label; /* of tracetool's writer: its number is invented, or is `label` */
	uint64_t label;
	bool is_lost;    /* its parents lead nowhere */
	bool disordered; /* its events are not in order of time, or may be those of another track */
};

struct pf_track {
	uint64_t uuid;
	struct pf_description d;
	const struct pf_description *full; /* with what comes later in the file, if known; else d */
	struct pf_track *above;            /* parent, or process of a thread; NULL: not looked up */
	bool is_used, is_synthetic;        /* synthetic: without descriptor */
	bool has_local, described_late; /* async events of a local id took its process, before it was known */
	uint64_t async_id;              /* of a synthetic one of async events */
	bool is_async;                  /* tracetool wrote it for one async span */
	const struct track *model;      /* NULL: not yet */
	struct class *cls;              /* of a counter's values */
	struct pf_group *group;         /* of lanes; NULL: none */
	uint32_t lane;                  /* + 1, while a span is open; 0: none */
	struct pf_open *open;
	uint32_t nopen, nclosed, open_cap; /* nclosed: of the nopen */
	uint32_t nexpected;                /* ends of spans that were dropped or ended before */
	uint64_t last;                     /* time of its last event */
	uint64_t sum_of;                   /* generation of the sum */
	double sum;
	bool state_open;          /* a state is open */
	bool arrow_waits;         /* an arrow ends at the next span ... */
	uint64_t arrow, arrow_id; /* ... its key and id */
	uint64_t offset, record;  /* of the first event on it */
	uint64_t described_at, described_record;
};

/* Tracks that share a row: of equal name and parent. */
struct pf_group {
	struct slice name;
	const struct track *parent;
	const struct track **lanes; /* the model's tracks */
	uint32_t *free;             /* lanes without an open span */
	bool is_taken;              /* lane 0 was in use */
	uint32_t first, nlanes, lanes_cap, nfree,
	    free_cap; /* first: number of lane 0: 1 if it has the parent's name */
};

/* ---- events ---- */

enum pf_what {
	PF_NOTHING,
	PF_BEGIN,
	PF_END,
	PF_INSTANT,
	PF_SPAN,
	PF_VALUE,  /* of a counter */
	PF_SAMPLE, /* a call stack */
	PF_ARROW,  /* `step` */
};

/* An event of a packet. */
struct pf_event {
	enum pf_what what;
	uint8_t step;           /* ARROW: enum pf_step */
	bool is_integer;        /* VALUE: in `number` */
	bool is_state, is_late; /* late: its time is known after the end of the file only */
	uint64_t ts, dur;
	struct pf_track *track;
	const struct track *model;         /* once it is known */
	uint64_t name_hash, category_hash; /* 0: none */
	union {
		double value;
		int64_t number;
		uint64_t flow; /* id */
	};
	struct slice name;           /* VALUE, ARROW; of others pf_event_name() finds it */
	uint64_t number_a, number_b; /* of heap samples: bytes allocated, freed */
};

enum pf_step { PF_ARROW_OUT, PF_ARROW_STEP, PF_ARROW_IN };

/* The fields of a TrackEvent; texts: p NULL if absent. */
struct pf_te {
	struct slice s, legacy, name, category; /* category: the first that is a text */
	int64_t time_us, thread_us, instructions, counter;
	double double_counter;
	uint64_t name_iid, track, category_iid; /* category_iid: the first */
	uint32_t type, ncategories, nannotations, nextra, nflows;
	bool has_track, has_counter, has_double, has_extra;
	bool has_more;                                /* fields that only pf_fields() reads */
	uint8_t time, thread_time, instruction_count; /* 1: difference, 2: absolute */
	bool odd;
};

/* The fields of a LegacyEvent. */
struct pf_legacy {
	uint64_t name_iid, id, bind_id;
	int64_t dur_us, tid, thread_dur_us, instructions; /* the last two: of the span */
	struct slice scope;
	int32_t phase, pid;
	uint32_t direction, instant_scope;
	uint8_t id_kind; /* 0 none, 1 unscoped, 2 local, 3 global */
	bool has_bind, has_pid, has_tid, encloses, has_thread_dur, has_instructions;
};

/* An end of an arrow, in a pass ahead. */
struct pf_flow_end {
	uint64_t key, ts, order;
	const struct pf_track
	    *dropped; /* track of an event that nesting drops, unless it is sorted; or NULL */
	bool ends;    /* the arrow does not go on */
};

/* ---- state ---- */

/* A finding that waits for the end of the file, where the order of the track's events and its kind are known.
 */
struct pf_held {
	const struct pf_track *track;
	enum pf_rule rule;
	uint64_t offset, record;
};

/* An event that waits for those before it in time; its fields are in `kept`. */
struct pf_waiting {
	struct pf_event event;
	struct event made; /* name, class, fields */
	uint64_t offset;
	uint32_t order;
	bool nested; /* its place among the spans of its track was looked for */
};

/* A packet longer than --max-record, which is passed over. */
struct pf_long {
	uint64_t offset, record;
	uint64_t size, left; /* bytes */
};

/* Memory of the names and fields of waiting events. */
struct pf_kept {
	struct shared_memory memory;
	struct batch batch;
};

struct pf_state {
	struct reader *r;
	struct findings *findings; /* NULL: a pass ahead reported them */
	struct pf_schema schema;
	struct pf_packet packet;
	uint64_t offset, ordinal; /* of the record */
	const char *start;        /* of the record in the window */
	bool is_inner;            /* the packet is one of a compressed packet */
	bool broken;              /* a packet was reported, see pf_breaks(); for recovery, which resets it */
	struct slice inner;       /* such packets that are not read yet */
	struct pf_inner *inner_memory;
	uint64_t carrier, carrier_size,
	    index;            /* offset of the compressed packet, its bytes; packets read of it */
	unsigned compression; /* of the packets so far: 1 zlib, 2 zstd */
	bool raw, builds;
	bool sorted;       /* waiting events are given out */
	bool ahead_pass;   /* this is a pass ahead, for another reader */
	enum pf_time time; /* of the packet: whether `ts` is valid */
	uint64_t ts;
	struct table64 arrow_numbers; /* of legacy arrows, by their key */
	uint32_t narrows;
	uint64_t searched; /* bytes that were passed in this search */
	struct pf_long long_packet;
	uint64_t zeros_end; /* offset behind the last zero bytes between packets */
	bool searching;     /* for a packet after damage */
	bool lost;          /* none follows */
	bool is_own;        /* tracetool wrote it */
	bool ended;         /* findings at the end were reported */
	bool asked;         /* for a pass ahead */
	uint64_t seed;
	uint64_t kinds[PF_DIRECT];        /* packets by the kind of their data */
	struct class *structure;          /* for packets without data, and if no events are wanted */
	struct class *classes[PF_DIRECT]; /* of packets, by kind */
	const struct pf_event *further;   /* of the record that is given out; NULL: st->event */
	const struct pf_waiting *waited;  /* likewise, of one that waited */
	uint64_t ninner;                  /* packets in compressed packets */
	struct arena arena;               /* of tracks and their texts */
	/* sequences */
	struct pf_sequence **sequences;
	uint32_t nsequences, sequences_cap;
	struct table64 sequence_index; /* id and machine -> sequences[] */
	struct pf_sequence *sequence;  /* of the last packet; NULL: none */
	uint64_t generations, nentries;
	struct tabletext texts; /* of interned data, each once */
	uint64_t text_bytes;
	unsigned full; /* limits that were reported: enum pf_limit */
	struct pf_late late[PF_MAX_LATE];
	uint32_t nlate;
	/* clocks */
	struct pf_clocks clocks;
	uint64_t latest; /* time of a packet */
	/* tracks */
	struct pf_track **tracks;
	uint32_t ntracks, tracks_cap;
	struct table64 track_index;  /* uuid -> tracks[] */
	struct table64 ids;          /* hash of pid and tid -> tracks[]; of pid alone: processes */
	struct table64 own_children; /* of a trace of tracetool: hash of parent and name -> tracks[] */
	struct pf_track *recent[PF_RECENT];
	struct pf_track *root; /* the default track */
	const struct track *global, *more;
	struct tabletext groups; /* parent and name -> group_list[] */
	struct pf_group **group_list;
	uint32_t ngroups, groups_cap;
	struct pf_state *ahead; /* result of a pass ahead, or NULL */
	/* events */
	struct pf_te te;
	struct pf_legacy legacy;
	struct pf_event event;
	struct pf_event *before, *after; /* further events of the record */
	uint32_t nbefore, nafter, before_cap, after_cap, at_before, at_after;
	bool has_main; /* st->event is to be given out */
	bool applied;  /* the record at the start of the window was, and waits for the events before it */
	struct tabletext class_names;
	struct class *plain, *more_class; /* without category; beyond the limit */
	struct class *sample_classes[4];
	struct pf_sequence heap; /* tables of a heap profile */
	bool heap_continues;
	struct table64 flows;          /* key -> 1: active */
	struct pf_flow_end *flow_ends; /* in a pass ahead */
	uint8_t *flow_steps;           /* its result: enum pf_step */
	uint32_t nflow_ends, flow_ends_cap, nflow_steps;
	uint64_t flow_order,
	    flow_next; /* ordinals of flow ids: of the next, of the first in the next event */
	struct pf_waiting *waiting;
	uint32_t nwaiting, waiting_cap, at_waiting;
	struct pf_kept *kept;
	struct pf_held *held;
	uint32_t nheld, held_cap;
	uint64_t losses, search_work;
	uint64_t last_category; /* hash, and the class of it */
	struct class *last_class;
	struct finding_tally time_back, needs_flag; /* reported once */
	struct slice own_clock;                     /* of the trace that tracetool wrote; p NULL: not known */
};

/* ---- findings ---- */

/* Whether recovery drops a packet for this rule: it cannot be read, or Perfetto refuses the file for it. */
static inline bool pf_breaks(enum pf_rule rule)
{
	switch (rule) {
	case PF_RULE_WIRE:
	case PF_RULE_WIRE_MESSAGE:
	case PF_RULE_WIRE_TYPE:
	case PF_RULE_INFLATE:
	case PF_RULE_INFLATE_INNER:
	case PF_RULE_INFLATE_NESTED:
	case PF_RULE_INFLATE_MIXED:
	case PF_RULE_SEQ_ZERO:
	case PF_RULE_CLOCK_SCOPED:
		return true;
	default:
		return false;
	}
}

/* Reports a finding of the record: its offset is that of the packet. */
void pf_report(struct pf_state *st, enum pf_rule rule, const char *fmt, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* Reports that a table is full, once. */
void pf_report_limit(struct pf_state *st, enum pf_limit which, const char *fmt, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* ---- frames.c ---- */

#define PF_FRAME_TAG 0x0a /* field 1, length-delimited */

/* Counts the bits that were verified, for reader_ops.probe. */
int pf_probe(struct slice head, bool complete);

/* Returns the end of the packet at the start of the window; NULL: see *status, RECORD_DONE: `rec` is other
 * bytes. */
const char *pf_frame(struct pf_state *st, struct record *rec, struct slice *content,
                     enum record_status *status);

/* ---- packets.c ---- */

/* Reads the fields of a packet and of its track event. */
void pf_packet_decode(struct pf_state *st, struct slice s);

/* Reads a packet and applies it to the state: sets st->event, and the events before and after it. */
void pf_packet_read(struct pf_state *st, struct slice s);

/* Reads the next packet of a compressed one.  Returns false if it is no packet, or the last one was read. */
bool pf_inner_next(struct pf_state *st);
void pf_inner_drop(struct pf_state *st);

/* ---- sequences.c ---- */

/* Sets st->sequence and applies flags, defaults and interned data of the packet.  Returns false if its data
 * is dropped. */
bool pf_sequence_apply(struct pf_state *st, const struct pf_packet *k);

void pf_sequences_free(struct pf_state *st);

/* Reports uses of entries that were never defined. */
void pf_late_end(struct pf_state *st, const struct pf_sequence *s);

void pf_entry_add(struct pf_state *st, struct pf_sequence *s, enum pf_table_id table, struct slice bytes);
void pf_tables_empty(struct pf_state *st, struct pf_sequence *s);

const struct pf_entry *pf_entry_find(const struct pf_sequence *s, enum pf_table_id table, uint64_t iid);

/* The same for a use that is checked: NULL after a finding. */
const struct pf_entry *pf_entry_use_slow(struct pf_state *st, enum pf_table_id table, uint64_t iid,
                                         const char *what) PF_COLD;

static inline const struct pf_entry *pf_entry_use(struct pf_state *st, enum pf_table_id table, uint64_t iid,
                                                  const char *what)
{
	const struct pf_sequence *const s = st->sequence;

	if (s != NULL && s->tables != NULL && iid - 1 < s->tables[table].n &&
	    s->tables[table].list[iid - 1].iid == iid)
		return &s->tables[table].list[iid - 1];
	const struct pf_entry *const e = s != NULL ? pf_entry_find(s, table, iid) : NULL;
	return e != NULL ? e : pf_entry_use_slow(st, table, iid, what);
}

/* ---- clocks.c ---- */

/* A clock of a snapshot. */
struct pf_clock_reading {
	uint64_t key, time, unit; /* key: set by clocks.c */
	uint32_t id;
	bool is_incremental;
};

struct pf_clock_reading pf_read_clock(struct slice s);

void pf_clocks_free(struct pf_clocks *c);
void pf_snapshot(struct pf_state *st, struct slice bytes);

/* Converts a time of a clock, in its units, to the trace's. */
enum pf_time pf_convert(struct pf_state *st, uint32_t clock, uint64_t value, uint64_t *ts);

/* The same; a clock without a snapshot before is reported at the end of the file. */
enum pf_time pf_convert_noted(struct pf_state *st, uint32_t clock, uint64_t value, uint64_t *ts);

/* The time of a packet that has a timestamp.  Advances its clock if that is incremental.  Notes the packet if
 * it has to wait for a snapshot. */
enum pf_time pf_packet_time(struct pf_state *st, const struct pf_packet *k, uint64_t *ts);

/* Notes the event of a packet whose clock has no snapshot yet.  Without one up to the end, or with a time
 * that is out of range then, it is no event. */
void pf_late_event(struct pf_state *st);

/* Reports clocks whose snapshots were late or missing, and sets clock and epoch of the trace. */
void pf_clocks_end(struct pf_state *st);
void pf_clocks_facts(struct pf_state *st, const struct pf_clocks *c);

/* ---- tracks.c ---- */

/* Finds or adds the track of a uuid.  NULL: the limit, or OOM. */
struct pf_track *pf_track_slow(struct pf_state *st, uint64_t uuid) PF_COLD;

static inline struct pf_track *pf_track(struct pf_state *st, uint64_t uuid)
{
	struct pf_track *const t = st->recent[(uuid ^ uuid >> 17) % PF_RECENT];

	return t != NULL && t->uuid == uuid && !t->is_synthetic ? t : pf_track_slow(st, uuid);
}

/* The thread of these numbers, or the process if tid is NULL. */
struct pf_track *pf_thread(struct pf_state *st, int32_t pid, const int64_t *tid);

void pf_descriptor(struct pf_state *st, struct slice bytes);
void pf_old_descriptor(struct pf_state *st, struct slice bytes, bool is_thread);
void pf_process_tree(struct pf_state *st, struct slice bytes);

/* The model's track.  name: of the event, for tracks that have none; may be empty. */
const struct track *pf_model(struct pf_state *st, struct pf_track *t, struct slice name);

/* Takes or gives back a lane of a track of a group. */
const struct track *pf_lane_take(struct pf_state *st, struct pf_track *t, struct slice name);
void pf_lane_free(struct pf_state *st, struct pf_track *t);

/* Whether the events of the track are lost, as its parents lead nowhere. */
static inline bool pf_is_lost(const struct pf_track *t)
{
	return t->full->is_lost;
}

/* Finds out which tracks are lost, and reports them and those that are never described. */
void pf_tracks_end(struct pf_state *st);
void pf_tracks_free(struct pf_state *st);

/* ---- events.c ---- */

/* Whether tracks of the model are needed. */
static inline bool pf_wants_model(const struct pf_state *st)
{
	return (st->r->want & WANT_TIMES) != 0;
}

/* Reads a TrackEvent, and sets st->te; odd: the schema may have something to say. */
void pf_decode_event(struct pf_te *te, struct slice s);
void pf_decode_legacy(struct pf_legacy *l, struct slice s);

static inline int64_t pf_saturated_sum(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* The iid of the name of st->te; 0: none, or it has its name as text. */
static inline uint64_t pf_name_iid(const struct pf_state *st)
{
	const struct pf_te *const te = &st->te;

	if (te->name_iid != 0)
		return te->name_iid;
	return te->name.p == NULL && te->legacy.p != NULL ? st->legacy.name_iid : 0;
}

/* Applies the track event of the packet: sets st->event, and the events before and after it. */
void pf_track_event(struct pf_state *st, const struct pf_packet *k);

/* Adds an event after that of the record. */
void pf_add_after(struct pf_state *st, struct pf_event e);
void pf_add_before(struct pf_state *st, struct pf_event e);

/* ---- nesting.c ---- */

/* Enters a begin, end, instant or span of a track.  Returns false if it is dropped.  Adds the ends of spans
 * inside before it. */
bool pf_nest(struct pf_state *st, struct pf_event *e);

/* An end of an arrow: `key` identifies the arrow, `id` is its id in outputs; legacy: of a legacy event, whose
 * order in the file counts.  PF_NOTHING: of an event that is dropped, for a pass ahead. */
void pf_arrow(struct pf_state *st, uint64_t key, uint64_t id, enum pf_step step, bool legacy,
              const struct pf_event *e);
void pf_arrows_sort(struct pf_state *st);

/* Notes a finding about nesting on a track, or about its kind. */
void pf_hold(struct pf_state *st, enum pf_rule rule, const struct pf_track *t, uint64_t offset,
             uint64_t record) PF_COLD;

void pf_nesting_end(struct pf_state *st);

/* ---- values.c ---- */

/* The name of the event; p NULL: none. */
struct slice pf_event_name(const struct pf_state *st);

struct class *pf_class(struct pf_state *st, struct slice category, struct slice unit);

/* The number of fields of a tag. */
uint32_t pf_count(struct slice s, uint32_t tag);

struct value pf_list(const struct value *v, uint32_t n);

/* Checks the annotations of st->te. */
void pf_annotations_check(struct pf_state *st);

/* Sets name, class, fields of the event that the packet means. */
void pf_make_event(struct pf_state *st, struct batch *b, struct event *e);
void pf_make_further(struct pf_state *st, struct batch *b, const struct pf_event *x, struct event *e);

/* Copies the texts of the event's fields and its name into the batch. */
void pf_copy_texts(struct batch *b, struct event *e);

/* ---- samples.c ---- */

void pf_sample_packet(struct pf_state *st, const struct pf_packet *k);
void pf_sample_fields(struct pf_state *st, struct batch *b, const struct pf_event *x, struct event *e);

#define PF_STACK_FIELDS 3

/* The fields of a call stack: lists of frames, mappings and build ids, the leaf first.  Returns their number:
 * the last two are absent if no frame has them. */
uint32_t pf_stack(struct pf_state *st, struct batch *b, uint64_t iid, struct field f[PF_STACK_FIELDS]);

/* A call stack without number as a list of frames, the leaf first. */
struct value pf_inline_stack(struct batch *b, struct slice stack);
void pf_stack_check(struct pf_state *st, uint64_t iid);

/* Copies a text into the memory of the trace; the same text once.  p NULL: no memory, or the limit. */
struct slice pf_keep(struct pf_state *st, struct slice s);

/* ---- check.c ---- */

/* Whether a message, and those in it, have only fields of the schema, each as it should be. */
bool pf_is_sound(const struct pf_schema *schema, enum pf_message m, struct slice s, unsigned depth,
                 uint64_t *work);

/* Reports violations of the schema in the packet. */
void pf_check(struct pf_state *st, const struct pf_packet *k) PF_COLD;

/* ---- facts.c ---- */

/* Facts of the trace that packets state. */
void pf_attributes(struct pf_state *st, struct slice bytes);
void pf_trace_uuid(struct pf_state *st, struct slice bytes);

/* Adds facts that are known at the end, and says which packets were only counted. */
void pf_facts(struct pf_state *st);

/* ---- packets.c ---- */

extern const struct reader_ops perfetto_reader_ops;

/* ---- raw.c ---- */

void pf_raw_fields(struct pf_state *st, const struct record *rec, struct batch *b, struct event *e);

#endif
