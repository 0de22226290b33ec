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

extern const struct rule ovni_rules[OVNI_RULE_COUNT];

/* Whether the user asked for the group of rules named state (--rules). */
bool ovni_wants_state(const struct option_value *list);

/* Something that is said once, with a count. */
struct ovni_tally {
	uint64_t count, offset, record;
	uint64_t now, before; /* the two values of the first time */
};

/* What the metadata of one stream says of its thread; -1: nothing. */
struct ovni_thread {
	struct slice loom; /* p NULL: not given */
	int64_t pid, tid;
	int64_t app_id, rank, nranks;
};

#define OVNI_CACHE 256

struct ovni_state {
	struct reader *r;
	bool big, started;
	uint64_t last;  /* clock of the event before */
	uint64_t first_record; /* records of the trace before this stream */
	bool in_region; /* between OU[ and OU] */
	uint64_t region_offset, region_record;
	bool ended;    /* OHe was met */
	size_t judged; /* bytes of plain events in this fill */
	struct ovni_tally unsorted, large;

	/* a jumbo event too large to be kept: its head, and how much is still to be passed over */
	char jumbo[OVNI_JUMBO_HEAD];
	uint64_t skip, skip_offset;

	const struct track *track;
	struct {
		uint32_t code; /* the MCV's bytes << 8 */
		struct class *cls;
	} cache[OVNI_CACHE];
	struct class *more_codes;
};

/* ---- ovni_shared.c: what the streams of one trace know of each other ---- */

struct ovni_loom {
	struct slice name;
	uint32_t cpus;             /* how many */
};

struct ovni_process {
	uint32_t loom;   /* in looms, or TABLE_NONE: not yet known */
	int64_t pid, app_id, rank, nranks;
	const struct track *track;
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

struct ovni_shared {
	struct arena text;
	uint32_t text_bytes;
	bool in_folder;
	bool rules_state; /* --rules state */
	bool limited; /* a limit was said */
	struct ovni_loom *looms;
	uint32_t nlooms, looms_cap;
	struct tabletext loom_index;
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
	struct slice lib; /* "version commit" of the first stream */
	struct track *unknown; /* streams whose thread is not known */
	const struct track *more_threads;
};

/* Judges and merges the metadata beside the stream, and finds its track (st->track).  false: no memory. */
bool ovni_metadata_read(struct ovni_state *st);

/* The text of a finding about a stream as a whole. */
void ovni_say(struct reader *r, enum ovni_rule rule, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* ---- ovni_json.c ---- */

/* Why the text is not strict JSON of bounded depth, and where; NULL: it is. */
const char *ovni_json_fault(const char *p, size_t n, size_t *at);

/* ---- ovni_merge.c ---- */

struct cJSON;
bool ovni_merge_cpus(struct ovni_state *st, const struct cJSON *list, uint32_t loom);
bool ovni_merge_marks(struct ovni_state *st, const struct cJSON *marks);
bool ovni_merge_counters(struct ovni_state *st, const struct cJSON *hwc);
bool ovni_merge_text(struct ovni_state *st, const char *s, struct slice *kept);
bool ovni_merge_thread(struct ovni_state *st, const struct ovni_thread *t, uint32_t *loom);
/* Room for one more; false: no memory. */
bool ovni_room(void *array, uint32_t n, uint32_t *cap, size_t size);
void ovni_limit(struct ovni_state *st, const char *what, uint32_t most);
void ovni_shared_close(void *shared);
void ovni_judge_trace(struct reader *r);
void ovni_judge_companion(struct reader *r);

/* ---- ovni_event.c ---- */

/* The class of a code; NULL: no memory. */
struct class *ovni_class(struct ovni_state *st, uint32_t word, uint64_t offset, uint64_t record);

/* One event of size bytes at p.  `data`: its payload where it is kept.  false: no memory. */
bool ovni_event_add(struct ovni_state *st, struct batch *b, struct slice record, struct slice payload, uint64_t offset, struct class *cls);

extern const struct reader_ops ovni_reader_ops;

#endif
