#ifndef OVNI_STATE_H
#define OVNI_STATE_H

#include <inttypes.h>
#include <stdio.h>

#include "format/format.h"
#include "ovni/ovni_wire.h"

enum ovni_rule {
#define RULE(name, id, level, text, spec, explain) OVNI_RULE_##name,
#include "ovni/ovni_rules.def"
#undef RULE
	OVNI_RULE_COUNT
};

extern const struct rule ovni_rules[OVNI_RULE_COUNT + 1]; /* ended by an id of NULL */

/* Whether the user asked for the group of rules named state (--rules). */
bool ovni_wants_state(const struct option_value *list);

/* Something that is said once, with a count. */
struct ovni_tally {
	uint64_t count, offset, record;
	uint64_t now, before; /* the two values of the first time */
};

#define OVNI_NO_INTEGER INT64_MIN

/* What the metadata of one stream says of its thread; -1: nothing. */
struct ovni_thread {
	struct slice loom; /* p NULL: not given */
	int64_t pid, tid;
	int64_t app_id, rank, nranks;
};

struct ovni_state {
	struct reader *r;
	bool big, started;
	uint64_t last;         /* clock of the event before */
	uint64_t first_record; /* records of the trace before this stream */
	bool in_region;        /* between OU[ and OU] */
	uint64_t region_offset, region_record;
	bool ended;     /* OHe was met */
	size_t checked; /* bytes of plain events in this next */
	struct ovni_tally unsorted, large, below_zero;

	/* a jumbo event too large to be kept: its head, and how much is still to be passed over */
	char jumbo[OVNI_JUMBO_HEAD];
	uint64_t skip, skip_offset;

	const char *json, *prefix; /* of the metadata that is being read: its file's name, what comes before
	                              names of keys */
	const struct track *track;
	int64_t offset;            /* ns that the clock of this host is to be moved */
	struct ovni_doubt *doubts; /* what is unusual about events, counted for each code; NULL: nothing */
	uint32_t ndoubts;
	struct ovni_tally more_doubts;
	uint32_t stream;   /* in order of opening */
	uint32_t process;  /* in ovni_shared.processes, or TABLE_NONE */
	int32_t tid;       /* 0: not known */
	uint32_t emulated; /* 1 + number of the thread in the emulator; 0: it has no event yet */
};

/* ---- ovni_shared.c: what the streams of one trace know of each other ---- */

struct ovni_loom {
	struct slice name;
	uint32_t cpus; /* how many */
};

struct ovni_process {
	uint32_t loom; /* in looms, or TABLE_NONE: not yet known */
	int64_t pid, app_id, rank, nranks;
	const struct track *track;
};

/* A line of clock-offsets.txt. */
struct ovni_host {
	struct slice name;
	int64_t offset; /* ns */
	bool used;
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

/* An event code that was met. */
struct ovni_code {
	uint32_t bytes; /* the three bytes << 8 */
	bool jumbo;     /* the vocabulary expects a jumbo event */
	bool old;
	int8_t old_size; /* bytes of the payload that older releases wrote; -1: none */
	struct class *cls;
	const struct plan *plan; /* NULL: the vocabulary does not know it */
};

#define OVNI_NEAR_BITS 8
#define OVNI_PLAIN_BITS 11

struct ovni_shared {
	struct ovni_code *codes;
	uint32_t ncodes, codes_cap;
	struct table64 code_index;            /* bytes -> codes */
	uint16_t near[1 << OVNI_NEAR_BITS];   /* likewise, by hash: the latest */
	uint64_t plain[1 << OVNI_PLAIN_BITS]; /* see ovni_is_fast() */
	struct class *plain_classes[1 << OVNI_PLAIN_BITS];
	struct ovni_code more_codes; /* stands for those beyond the bound; */
	struct arena text;
	uint32_t text_bytes;
	bool in_folder;
	bool rules_state; /* --rules state */
	bool limited;     /* a limit was said */
	uint32_t nstreams;
	struct slice required[OVNI_MAX_REQUIRED]; /* models in any ovni.require */
	uint32_t nrequired;
	struct ovni_emulator *emulator; /* NULL: no event was checked by the rules of the group state */
	struct ovni_loom *looms;
	uint32_t nlooms, looms_cap;
	struct tabletext loom_index;
	struct ovni_host *hosts;
	uint32_t nhosts, hosts_cap;
	struct tabletext host_index;
	bool offsets_read, offsets_named; /* the table was there; --clock-offsets named it */
	char offsets_name[32];
	struct ovni_process *processes;
	uint32_t nprocesses, processes_cap;
	struct table64 process_index; /* (loom + 1) << 32 | pid */
	struct table64 tids;          /* process << 32 | tid */
	uint32_t ntids;
	struct ovni_cpu *cpus;
	uint32_t ncpus, cpus_cap;
	struct table64 phyids; /* loom << 32 | phyid -> cpus */
	struct ovni_mark marks[OVNI_MARK_TYPES];
	struct ovni_label *labels;
	uint32_t nlabels, labels_cap;
	struct tabletext label_index; /* "type:value" */
	struct slice counters[OVNI_MAX_COUNTERS];
	uint32_t ncounters;
	bool counters_seen;
	struct slice lib;      /* "version commit" of the first stream */
	struct track *unknown; /* streams whose thread is not known */
	const struct track *more_threads;
};

/* Checks and merges the metadata beside the stream, and finds its track (st->track).  false: no memory. */
bool ovni_metadata_read(struct ovni_state *st);

/* The text of a finding about a stream as a whole. */
void ovni_say(struct reader *r, enum ovni_rule rule, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- ovni_beside.c, ovni_metadata.c, ovni_layout.c ---- */

struct cJSON;

enum ovni_json { OVNI_JSON_READ, OVNI_JSON_MISSING, OVNI_JSON_NO_MEMORY };

/* false: no memory. */
typedef bool ovni_json_sink(struct ovni_state *st, const struct cJSON *root, void *ctx);

/* Reads a file of the folder that the stream's path begins with (so many bytes, a slash included).  Whatever
 * is wrong with it was said; only not that it is missing. */
enum ovni_json ovni_json_read(struct ovni_state *st, size_t folder, const char *name, ovni_json_sink *take,
                              void *ctx);

const struct cJSON *ovni_get(const struct cJSON *o,
                             const char *key); /* NULL: o is no object, or lacks the key */
int64_t ovni_integer(struct ovni_state *st, const struct cJSON *o, const char *key);

ovni_json_sink ovni_read_stream; /* ctx: struct ovni_thread */
void ovni_read_app(struct ovni_state *st, struct ovni_thread *t, const struct cJSON *o);
bool ovni_check_lib(struct ovni_state *st, const struct cJSON *ovni);
bool ovni_read_old(struct ovni_state *st, const char *path, size_t folder);

/* ---- ovni_json.c ---- */

/* Why the text is not strict JSON of bounded depth, and where; NULL: it is. */
const char *ovni_json_fault(const char *p, size_t n, size_t *at);

/* ---- ovni_merge.c ---- */

struct cJSON;
void ovni_check_require(struct ovni_state *st, const struct cJSON *model); /* ovni_require.c */
bool ovni_merge_cpus(struct ovni_state *st, const struct cJSON *list, uint32_t loom);
bool ovni_merge_marks(struct ovni_state *st, const struct cJSON *marks);
bool ovni_merge_counters(struct ovni_state *st, const struct cJSON *hwc);
bool ovni_merge_text(struct ovni_state *st, const char *s, struct slice *kept);
bool ovni_merge_thread(struct ovni_state *st, const struct ovni_thread *t, uint32_t *loom);
void ovni_limit(struct ovni_state *st, const char *what, uint32_t most);
void ovni_shared_close(void *shared);
void ovni_check_trace(struct reader *r);
void ovni_check_sidecar(struct reader *r);

/* ---- ovni_emulate.c: the rules of the group state ---- */

void ovni_emulate(struct reader *r, const struct batch *b, const struct event *e);
/* A stream without events: its thread never ends. */
void ovni_emulate_nothing(struct ovni_state *st);
bool ovni_emulate_failed(const struct ovni_shared *sh); /* no memory */
void ovni_emulate_end(struct reader *r);
void ovni_emulate_close(struct ovni_shared *sh);
bool ovni_emulate_require(struct ovni_state *st, const char *model); /* false: no memory */

/* ---- ovni_code.c ---- */

/* What is known of the code in the first four bytes of an event; NULL: no memory.  Valid until the next call.
 */
struct ovni_code *ovni_code(struct ovni_state *st, uint32_t word, uint64_t offset, uint64_t record);

/* Compares an event at p with what the vocabulary says of its code.  `payload`: its data where it is kept.
 * false: no memory. */
bool ovni_check_payload(struct ovni_state *st, const struct ovni_code *c, const char *p, struct slice payload,
                        uint64_t offset);

/* At the end of a stream. */
void ovni_say_doubts(struct ovni_state *st);

/*
 * Codes together with flags that were checked and about whose events there is
 * nothing to say, whatever their clock and payload hold: most events of most
 * streams.  Two places for each; a zeroed one matches nothing.
 */
static inline uint32_t
ovni_fast_place(uint32_t word)
{
	return (word * 0x9e3779b1U) >> (32 - OVNI_PLAIN_BITS);
}

static inline bool
ovni_is_fast(const struct ovni_shared *sh, uint32_t word)
{
	const uint32_t place = ovni_fast_place(word);
	const uint64_t want = (uint64_t)1 << 32 | word;

	return sh->plain[place] == want || sh->plain[place ^ 1] == want;
}

/* The class of such an event; NULL: it is none. */
static inline struct class *
ovni_fast_class(const struct ovni_shared *sh, uint32_t word)
{
	const uint64_t want = (uint64_t)1 << 32 | word;
	uint32_t place = ovni_fast_place(word);

	if (sh->plain[place] != want && sh->plain[place ^= 1] != want)
		return NULL;
	return sh->plain_classes[place];
}

/* Unordered regions and ends of threads change what is said of the stream; they are never plain. */
static inline void
ovni_remember_fast(struct ovni_shared *sh, uint32_t word, struct class *cls)
{
	const uint32_t model_category = word >> 8 & 0xffff;
	uint32_t place = ovni_fast_place(word);

	if ((word & (OVNI_FLAG_JUMBO | OVNI_FLAGS_RESERVED)) != 0 || model_category == ('O' | 'U' << 8) ||
	    word >> 8 == ('O' | 'H' << 8 | 'e' << 16))
		return;
	place ^= sh->plain[place] != 0;
	sh->plain[place] = (uint64_t)1 << 32 | word;
	sh->plain_classes[place] = cls;
}

/* ---- ovni_offsets.c ---- */

bool ovni_open_trace(struct reader *r);

/* By how much the clocks of a loom are to be moved. */
int64_t ovni_offset_of(struct ovni_shared *sh, struct slice loom);

/* After the last stream. */
void ovni_check_offsets(struct reader *r);

/* A clock on the time line of the trace; where that begins is where times below it are put. */
static inline uint64_t
ovni_moved(uint64_t clock, int64_t offset)
{
	const uint64_t by = offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset;

	if (offset < 0)
		return clock < by ? 0 : clock - by;
	return clock > UINT64_MAX - by ? UINT64_MAX : clock + by;
}

/* ---- ovni_event.c ---- */

/* One event of size bytes at p.  `data`: its payload where it is kept.  false: no memory. */
bool ovni_event_add(struct ovni_state *st, struct batch *b, struct slice record, struct slice payload,
                    uint64_t offset, struct class *cls);

/* The next events about which there is nothing to say, `most` at most; how many there were. */
uint32_t ovni_events_add_fast(struct ovni_state *st, struct batch *b, uint32_t most);

extern const struct reader_ops ovni_reader_ops;
extern const struct trace_ops ovni_trace_ops;

#endif
