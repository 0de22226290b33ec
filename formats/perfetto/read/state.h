#ifndef PERFETTO_READ_STATE_H
#define PERFETTO_READ_STATE_H

/* State of the reader of Perfetto traces: limits, rules, packets, sequences, clocks, tracks, events. */
#include <inttypes.h>
#include <stdio.h>

#include "base/table.h"
#include "format/cpu_profile.h"
#include "format/format.h"
#include "perfetto/schema/schema.h"

/* ---- limits ---- */

#define PF_MAX_UNPACKED (64U << 20) /* bytes of the packets in a compressed packet */
#define PF_MAX_NESTED 100           /* depth of messages in a packet */
#define PF_MAX_SEQUENCES 65536U
#define PF_MAX_ENTRIES (1U << 22) /* interned, of all sequences at a time */
#define PF_MAX_TEXT (128U << 20)  /* bytes of interned data, over the whole file ... */
#define PF_MAX_TEXTS (1U << 22)   /* ... and its different texts */
#define PF_MAX_LATE 64U           /* uses of undefined entries, noted at a time */
#define PF_MAX_TRACKS (1U << 20)
#define PF_MAX_ANCESTORS 99 /* of a track, as in Perfetto */
#define PF_MAX_OPEN 512     /* spans of a track, as in Perfetto */
#define PF_MAX_SNAPSHOT_CLOCKS 32
#define PF_MAX_SERIES 131072U
#define PF_MAX_CLOCKS 262144U
#define PF_MAX_CLOCK_WORK (1U << 26) /* series visited by all searches for paths */
#define PF_MAX_SEARCH (1U << 26)     /* fields visited by all searches after damage */
#define PF_MAX_SNAPSHOTS (1U << 20)
#define PF_MAX_CLASSES 4096U
#define PF_MAX_TYPES 131072U /* messages, their fields, and values of enums in descriptors */
#define PF_MAX_TYPED 65536U  /* values of a message of such a type */
#define PF_RECENT 1024U      /* slots of the cache of tracks */
#define PF_RECENT_SEQUENCES 64U
#define PF_MAX_DEFERRED 4096U
#define PF_MAX_SUMS (1U << 20)        /* of incremental counters, of all sequences */
#define PF_MAX_EXTRA 8U               /* extra counter values of an event, as in Perfetto */
#define PF_MAX_LATE_EVENTS (1U << 18) /* checked at the end; those beyond count as events */
#define PF_MAX_FLOWS (1U << 22)       /* ends of arrows that a look-ahead sorts */
#define PF_MAX_ARROWS (1U << 20)      /* arrows whose state or number is known at a time */
/* Bytes of events that wait for earlier ones: a quarter of the usable memory, within these bounds. */
#define PF_LEAST_WAITING (64U << 20)
#define PF_MAX_WAITING (1U << 30)

/* clang-format off */
enum pf_limit {
	PF_FULL_SEQUENCES = 1, PF_FULL_ENTRIES = 2, PF_FULL_TEXT = 4, PF_FULL_TRACKS = 8,
	PF_FULL_CLASSES = 16, PF_FULL_CLOCKS = 32, PF_FULL_WAITING = 64, PF_FULL_SUMS = 128,
	PF_FULL_TYPES = 256, PF_FULL_CATEGORIES = 512, PF_FULL_NAMES = 1024, PF_FULL_ARROWS = 2048,
};
/* clang-format on */

/* ---- rules ---- */

enum pf_rule {
#define RULE(name, id, level, text, spec, explain) PF_RULE_##name,
#include "perfetto/rules.def"
#undef RULE
	PF_RULE_COUNT
};

extern const struct rule perfetto_rules[PF_RULE_COUNT + 1];
extern const struct recover_ops perfetto_recover_ops;

/* ---- packets ---- */

/* Fields of a packet that concern its sequence and time, and its data. */
struct pf_packet {
	struct slice s; /* content of the packet */
	uint64_t timestamp;
	uint32_t sequence, flags, clock, dropped, machine;
	uint32_t ndata;    /* data fields */
	uint32_t kind;     /* number of the first data field; 0: none */
	struct slice data; /* content of the first data field */
	struct slice interned, defaults;
	bool has_timestamp, has_sequence;
	bool needs_check; /* pf_check() may have something to report */
	bool bad;         /* its fields cannot be read to the end */
};

/* Memory of the packets in a compressed packet. */
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

struct pf_library {
	struct slice path, build_id; /* may be empty */
};

struct pf_entry {
	uint64_t iid;
	uint64_t hash;                            /* of the entry; in tables of texts: of the text */
	struct slice text;                        /* or the bytes of the entry; p NULL: not stored */
	union {                                   /* made when first needed; NULL until then */
		struct class *cls;                /* of a category */
		const struct pf_library *library; /* of a mapping */
		uint64_t function;                /* of a frame that is parsed */
	};
	uint64_t mapping;        /* of a frame that is parsed */
	bool is_parsed;          /* of a frame */
	bool is_checked, is_cut; /* of a call stack; is_checked: also of a frame without a finding */
	uint32_t shown;          /* of a cut call stack: where the frames begin that events have */
};

/* Entries in order of arrival.  Most writers number them 1, 2, 3, so that the iid is the index + 1. */
struct pf_table {
	struct pf_entry *list;
	uint32_t n, cap;
	struct table64 index; /* iid -> list[], for other iids */
};

/* Use of an entry that is not defined so far; reported at the end of the interval. */
struct pf_undefined {
	uint64_t iid, offset, record;
	uint32_t sequence; /* index */
	uint8_t table;
	bool defined; /* after the use */
};

/* ---- sequences ---- */

/* An incremental clock, one of 64 to 127. */
struct pf_delta_clock {
	uint32_t id;
	uint64_t value; /* running value, in units */
};

/* The counters of the extra values of an event, in their order. */
struct pf_extra_of {
	uint32_t n;
	uint64_t uuids[PF_MAX_EXTRA];
};

struct pf_sequence {
	uint32_t id, machine, index;
	bool any; /* it had a packet */
	bool valid, has_thread, has_base, has_default_track;
	bool uses_thread;  /* it had events of its thread ... */
	bool thread_moved; /* ... before a descriptor stated that thread */
	uint32_t default_clock, nclocks, clocks_cap;
	uint64_t default_track;
	uint64_t generation;            /* of the sums of incremental counters */
	struct pf_extra_of extra_of[2]; /* default of the extra counters: of integers, of doubles */
	int32_t pid;
	int64_t tid;
	int64_t time_us, thread_us, instructions; /* base of differences */
	uint64_t last;                            /* time of its last event */
	struct pf_delta_clock *clocks;
	struct pf_table *tables; /* PF_TABLES; NULL: nothing is interned */
	struct pf_track *thread; /* of its events; track 0: not described yet; NULL: not looked up */
};

/* ---- clocks ---- */

/* Snapshots of one set of clocks. */
struct pf_series {
	uint64_t *keys;   /* of its clocks */
	uint32_t *next;   /* for each clock: index of the next series that has it, + 1 */
	uint64_t *values; /* ns, nclocks a snapshot */
	uint32_t nclocks, n, cap;
};

struct pf_clock {
	uint64_t unit;   /* ns */
	uint32_t series; /* index of the last series that has it, + 1 */
	bool is_back;    /* went back in a series: times are not converted from it */
	uint64_t seen;   /* number of the last search that reached it */
};

/* Packets with a clock that no earlier snapshot converts. */
struct pf_late_clock {
	uint64_t key;
	struct finding_tally tally;
};

/* Track event of a packet with such a clock. */
struct pf_late_event {
	uint64_t key, value; /* clock and time, in units of the clock */
	uint64_t offset, record;
	uint32_t events, further; /* counted for it, see struct trace */
};

#define PF_PATHS 256
#define PF_MAX_PATH 8 /* series between a clock and that of the trace */

struct pf_path_step {
	uint32_t series;
	uint8_t from, to; /* columns */
};

/* Series that lead from a clock to that of the trace. */
struct pf_path {
	uint64_t key;
	uint32_t version, target, n; /* version: of the clocks; 0: empty slot */
	struct pf_path_step steps[PF_MAX_PATH];
};

struct pf_clocks {
	struct pf_series *series;
	uint32_t nseries, series_cap;
	struct pf_clock *list;
	uint32_t n, cap, total;  /* total: snapshots */
	struct table64 index;    /* key: id; for 64 to 127 with the sequence in the upper half -> list[] */
	struct table64 sets;     /* hash of the keys -> series[] */
	uint64_t searches, work; /* searches for paths, series that they visited */
	uint32_t trace;          /* default clock of packets; 0: none */
	uint32_t fixed;          /* clock of the trace's times, from the first conversion on; 0: none yet */
	uint32_t version;        /* changes when clocks are linked */
	struct pf_path paths[PF_PATHS];
	struct pf_late_clock *late; /* at most PF_MAX_CLOCKS */
	uint32_t nlate, late_clocks_cap;
	struct table64 late_index; /* key -> late[] */
	struct pf_late_event *late_events;
	uint32_t nlate_events, late_cap;
	uint64_t late_key, late_value; /* of the last packet of a late clock */
};

enum pf_time {
	PF_TIME_OK,
	PF_TIME_UNKNOWN, /* no snapshot has the clock, so far */
	PF_TIME_NO_PATH,
	PF_TIME_RANGE, /* before 0 or after 2^63 - 1 */
};

#define PF_RANGE_TEXT "a time before 0 or after 2^63 - 1: %" PRId64 " ns in 64 bits"

/* ---- tracks ---- */

enum pf_track_kind { PF_UNDESCRIBED, PF_PLAIN, PF_PROCESS, PF_THREAD, PF_COUNTER, PF_STATE };

/* A span on the stack of a track: open, or closed while a span above it is open. */
struct pf_open_span {
	uint64_t ts, end;        /* end: PF_IS_OPEN */
	uint64_t name, category; /* hashes; 0: none */
	uint64_t offset, record;
	bool end_sent; /* the engine has its end */
};

#define PF_IS_OPEN UINT64_MAX

/* The least time of the events of a track in a part of the file; after pf_least_end(): in it and all later
 * parts. */
struct pf_least {
	uint64_t part; /* number; all parts of a list have 64 KiB << shift */
	uint64_t ts;
};

struct pf_least_times {
	struct pf_least last; /* still noted, not in the list */
	struct pf_least *list;
	uint32_t n, cap;
	uint8_t shift;
	bool any;
};

/* Description of a track: the fields of its TrackDescriptor. */
struct pf_description {
	uint64_t parent;   /* uuid, if has_parent */
	struct slice name; /* of a thread or process: its name */
	struct slice key;  /* of the merge group, if `merge` is PF_MERGE_KEY */
	struct slice unit_name;
	int64_t tid, multiplier;
	int32_t pid;
	uint8_t kind, merge, unit, builtin; /* kind: enum pf_track_kind; builtin: type of a counter */
	/* Name of the first event in time, set by a look-ahead; without one, of a counter: name of its
	 * values, kept with the trace.  p NULL: none. */
	struct slice first_name;
	uint64_t first; /* time of that event */
	uint64_t named; /* of a thread or process: time of the packet with its name */
	bool has_parent, is_incremental, is_known;
	bool is_renderer;              /* of Chrome: its type is its name */
	bool has_tree_name;            /* of a process: named by a process tree */
	bool states_name;              /* states PF_MERGE_NAME, which is also the default */
	bool is_unnamed;               /* has the name of its first event */
	bool is_unnumbered, has_label; /* of tracetool's writer: its number is invented, or is `label` */
	struct slice host;             /* of tracetool's writer; n 0: none */
	uint64_t label;
	bool disordered;             /* its events are not in order of time, or may belong to another track */
	bool moved;                  /* they may: packets after them stated their track */
	struct pf_least_times least; /* noted by a look-ahead */
};

struct pf_track {
	uint64_t uuid;
	struct pf_description desc;         /* from the packets so far */
	const struct pf_description *final; /* from the whole file, if a look-ahead found it; else `desc` */
	struct pf_track *parent;            /* of a thread: its process; NULL: not looked up */
	bool is_used, is_synthetic;         /* synthetic: without descriptor */
	bool has_local;                     /* async events of a local id belong to its process ... */
	bool described_late;                /* ... and preceded its descriptor */
	uint8_t has;                        /* bits of enum pf_needs that are known to be met */
	uint64_t async_id;                  /* of a synthetic track of async events */
	bool is_async;                      /* tracetool wrote it for one async span */
	const struct track *model;          /* NULL: not yet */
	struct class *cls;                  /* of the last value of a counter */
	uint64_t category;                  /* hash; of that value */
	uint32_t sum;                       /* index in sums[] + 1 of the sum changed last; 0: none */
	struct pf_group *group;             /* of lanes; NULL: none */
	uint32_t lane;                      /* index + 1, while a span is open; 0: none */
	struct pf_open_span *open;
	uint32_t nopen, nclosed, open_cap; /* nclosed: how many of nopen are closed */
	uint32_t nexpected;                /* ends to come of spans that were dropped or ended before */
	uint64_t last;                     /* time of its last event */
	bool state_open;                   /* a state is open */
	bool arrow_waits;                  /* an arrow ends at the next span ... */
	uint64_t arrow, arrow_id;          /* ... its key and id */
	uint64_t offset, record;           /* of the first event on it */
	uint64_t described_at, described_record;
};

/* The sum of the differences that a sequence states for an incremental counter. */
struct pf_sum {
	const struct pf_sequence *sequence;
	uint64_t generation; /* of the sequence, from 1; 0: not begun */
	double value;
};

/* Tracks of equal name and parent, which Perfetto shows as one row. */
struct pf_group {
	struct slice name;
	const struct track *parent;
	const struct track **lanes; /* tracks of the model */
	uint32_t *free;             /* lanes without an open span */
	bool is_taken;              /* lane 0 was in use */
	uint32_t first;             /* number of lane 0; 1 if the parent has the name of the group */
	uint32_t nlanes, lanes_cap, nfree, free_cap;
};

/* ---- events ---- */

enum pf_event_kind {
	PF_NOTHING,
	PF_BEGIN,
	PF_END,
	PF_INSTANT,
	PF_SPAN,
	PF_VALUE, /* of a counter */
	PF_SAMPLE,
	PF_ARROW,
};

enum pf_step { PF_ARROW_OUT, PF_ARROW_STEP, PF_ARROW_IN };

/* The first ones have classes of their own. */
enum pf_sample {
	PF_SAMPLE_OF_PERF,
	PF_SAMPLE_OF_STREAM,
	PF_SAMPLE_OF_STACK,
	PF_SAMPLE_OF_HEAP,
	PF_SAMPLE_IDLE,
	PF_SAMPLE_CLASSES,
	PF_SAMPLE_OF_V8 = PF_SAMPLE_CLASSES /* class of streams, or idle */
};

/* An event of a packet. */
struct pf_event {
	enum pf_event_kind kind;
	union {
		uint8_t step;   /* ARROW: enum pf_step */
		uint8_t sample; /* SAMPLE: enum pf_sample */
	};
	bool is_integer;        /* VALUE: in `number` */
	bool is_next;           /* ARROW: it ends at the next slice */
	bool is_state, is_late; /* late: its time is known at the end of the file only */
	uint64_t ts, dur;
	uint64_t offset; /* of the packet, for an event before that of the packet */
	struct pf_track *track;
	const struct track *model;         /* NULL: not yet */
	uint64_t name_hash, category_hash; /* 0: none */
	union {
		double value;
		int64_t number;
		uint64_t flow;      /* ARROW: id */
		uint64_t callstack; /* SAMPLE: iid; of V8: index of the sample */
	};
	struct slice name;         /* of VALUE and ARROW; for other kinds see pf_event_name() */
	uint64_t allocated, freed; /* bytes, of a heap sample */
};

/* The fields of a TrackEvent; texts: p NULL if absent. */
struct pf_event_fields {
	struct slice s, legacy, name, category; /* category: the first that is a text */
	struct slice contents; /* from the first text or message on, which decoding does not check */
	int64_t time_us, thread_us, instructions, counter;
	double double_counter;
	uint64_t name_iid, track, category_iid; /* category_iid: the first */
	uint32_t type, ncategories, nannotations, nflows;
	uint32_t nextra[2]; /* values of extra counters: integers, doubles */
	bool has_track, has_counter, has_double;
	bool has_flow[2];                             /* ids in the fields of today: flow, terminating */
	bool has_extra_of;                            /* it states which counters these are */
	bool has_more;                                /* fields that only values.c reads */
	uint8_t time, thread_time, instruction_count; /* 1: difference, 2: absolute */
	bool needs_check;                             /* see struct pf_packet */
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

/* An end of an arrow, noted by a look-ahead. */
struct pf_flow_end {
	uint64_t key, ts, order;
	const struct pf_track *dropped; /* NULL, unless nesting drops the event if it is not sorted */
	bool ends;                      /* the arrow does not continue */
};

/* ---- types that the trace describes ---- */

/* A field of a message, or a value of an enum. */
struct pf_type_member {
	struct slice name;
	uint32_t number, of; /* of: message or enum; TABLE_NONE: unknown */
	uint8_t type;        /* as in descriptor.proto; 0: a value of an enum */
	bool is_repeated;
};

struct pf_types {
	struct tabletext names; /* full name -> number */
	struct pf_type_member *members;
	uint32_t nmembers, members_cap;
	uint32_t annotation;  /* type of debug annotations */
	struct table64 index; /* hash of a type and the number of a member -> members[] */
};

/* ---- state ---- */

/* Requirements of a legacy event on its track; Perfetto drops the event if they are not met. */
enum pf_needs {
	PF_NEEDS_THREAD = 1,   /* a thread, or a track below one */
	PF_NEEDS_PROCESS = 2,  /* a thread or process, or a track below one */
	PF_NEEDS_UNMERGED = 4, /* its row is not merged with those of siblings */
};

/* A finding about the nesting or the kind of a track, reported at the end of the file: events so far may
 * still be found out of order, and the track may still be described. */
struct pf_deferred {
	const struct pf_track *track;
	enum pf_rule rule;
	uint64_t offset, record;
	/* Of PF_RULE_LEGACY_TRACK: bits of enum pf_needs; the sequence whose thread it is, if it gets one. */
	uint8_t needs;
	const struct pf_sequence *sequence;
};

/* An event of a disordered track; it waits for those before it in time. */
struct pf_waiting {
	struct pf_event event;
	struct event made; /* name, class, fields, in `waiting_memory` */
	uint64_t offset, record;
	bool nested;  /* it was released, and pf_nest() was called for it ... */
	bool dropped; /* ... and dropped it; events before it are given out */
};

struct pf_waiting_memory {
	struct shared_memory memory;
	struct batch batch;
};

struct pf_profiles {
	struct cpu_profiles all;
	/* of the packet */
	struct pf_track *track;
	const struct track *model;
	struct pf_event next; /* given out last */
};

/* A packet longer than --max-record, whose bytes are skipped. */
struct pf_long {
	uint64_t offset, record;
	uint64_t size, left; /* bytes */
};

struct pf_state {
	struct reader *r;
	struct findings *findings; /* set at the first record; NULL: a look-ahead reported them */
	struct pf_schema schema;
	uint64_t seed;
	struct arena arena; /* of tracks and their texts */
	bool raw;
	bool builds; /* events are made, by this reader or the one that it looks ahead for */
	bool is_own; /* tracetool wrote the trace */
	/* the record */
	struct pf_packet packet;
	uint64_t offset, ordinal;
	const char *start;                /* of the record in the window */
	bool broken;                      /* a finding was reported for which recovery drops the packet */
	enum pf_time time;                /* of the packet: whether `ts` is valid */
	uint64_t ts;                      /* of the packet */
	uint64_t latest;                  /* largest `ts` so far */
	const struct pf_event *further;   /* event to be made; NULL: `event` */
	const struct pf_waiting *waited;  /* waiting event to be made; NULL: none */
	struct class *structure;          /* of packets without data, and if no events are wanted */
	struct class *classes[PF_DIRECT]; /* of packets, by the kind of their data */
	uint64_t packets_by_kind[PF_DIRECT];
	/* compressed packets */
	bool is_inner;      /* the current packet is in a compressed one */
	struct slice inner; /* packets not read yet */
	struct pf_inner *inner_memory;
	uint64_t carrier_offset, carrier_size; /* of the compressed packet */
	uint64_t inner_index;                  /* packets read of it */
	unsigned compression;                  /* of the packets so far: 1 zlib, 2 zstd */
	uint64_t ninner_packets;               /* of the whole file */
	/* frames */
	bool searching;          /* for a packet after damage */
	bool search_failed;      /* no packet follows */
	uint64_t bytes_searched; /* by this search */
	uint64_t search_work;    /* see PF_MAX_SEARCH */
	uint64_t zeros_end;      /* offset after the last zero bytes between packets */
	struct pf_long long_packet;
	/* look-ahead */
	bool looked_ahead;
	bool ahead_pass;        /* this is a look-ahead, for another reader */
	struct pf_state *ahead; /* result of a look-ahead, or NULL */
	/* sequences */
	struct pf_sequence **sequences;
	uint32_t nsequences, sequences_cap;
	struct table64 sequence_index; /* id and machine -> sequences[] */
	struct pf_sequence *recent_sequences[PF_RECENT_SEQUENCES];
	struct pf_sequence *sequence; /* of the last packet; NULL: none */
	uint64_t generations, nentries;
	uint64_t losses;        /* packets that state a loss before them */
	struct tabletext texts; /* of interned data, each once */
	uint64_t text_bytes;
	struct pf_undefined undefined[PF_MAX_LATE];
	uint32_t nundefined;
	/* clocks */
	struct pf_clocks clocks;
	struct slice own_clock; /* stated by tracetool's writer; p NULL: not known */
	/* tracks */
	struct pf_track **tracks;
	uint32_t ntracks, tracks_cap;
	struct table64 track_index;  /* uuid -> tracks[] */
	struct table64 ids;          /* hash of pid and tid -> tracks[]; of pid alone: processes */
	struct table64 own_children; /* of a trace of tracetool: hash of parent and name -> tracks[] */
	struct pf_track *recent[PF_RECENT];
	const struct track *global_process; /* of tracks without a process */
	const struct track *overflow_track; /* of events beyond the limit of tracks */
	struct tabletext groups;            /* parent and name -> group_list[] */
	struct pf_group **group_list;
	uint32_t ngroups, groups_cap;
	/* events */
	struct pf_event_fields te;
	struct pf_legacy legacy;
	struct pf_event event;
	struct pf_event *before, *after; /* further events of the record */
	uint32_t nbefore, nafter, before_cap, after_cap, at_before, at_after;
	bool has_main;   /* `event` is of an inner packet and is to be given out */
	bool is_applied; /* the record at the window's start was applied, and waits for events before it */
	struct table64 sum_index; /* hash of counter and sequence -> sums[] */
	struct pf_sum *sums;
	uint32_t nsums, sums_cap;
	struct tabletext class_names;
	struct class *plain_class, *overflow_class; /* without category; beyond the limit */
	uint64_t last_category;                     /* hash; its class is `last_class` */
	struct class *last_class;
	/* arrows */
	struct table64 arrow_numbers; /* of legacy arrows, by their key */
	uint32_t narrows;
	struct table64 flows;          /* key -> 0: not active; else flow_age() of its last use */
	size_t nactive;                /* active ones in `flows` */
	uint64_t nflow_uses;           /* calls of pf_arrow() */
	struct pf_flow_end *flow_ends; /* in a look-ahead */
	uint32_t *flow_steps; /* result of the look-ahead: 4 * arrows of the id before + enum pf_step */
	uint32_t nflow_ends, flow_ends_cap, nflow_steps;
	uint64_t flow_order, flow_next; /* ordinals of flow ids: the next, the first of the next event */
	/* samples */
	struct class *sample_classes[PF_SAMPLE_CLASSES];
	struct pf_sequence heap; /* tables of a heap profile */
	bool heap_continues;
	struct pf_profiles profiles;
	uint32_t samples_left; /* of the CPU profile in the packet, to be given out after `after` */
	struct pf_types types;
	/* events that wait */
	struct pf_waiting *waiting; /* in the order of the file */
	uint32_t nwaiting, waiting_cap;
	struct timed *released; /* indexes of those given out now, in order of time; NULL: none */
	uint32_t nreleased, at_released;
	struct pf_waiting_memory *waiting_memory;
	uint64_t max_waiting, release_at; /* bytes */
	uint64_t *shared; /* of a look-ahead: least times of all tracks that wait for each other */
	uint32_t nshared;
	unsigned shared_shift; /* `shared` has parts of 64 KiB << shared_shift */
	/* findings */
	unsigned limits; /* reported: enum pf_limit */
	struct pf_deferred *deferred;
	uint32_t ndeferred, deferred_cap;
	struct finding_tally time_back, needs_flag; /* reported once */
};

#endif
