/*
 * Private header of the copier of Perfetto traces: copies packets of a selection, with moved times or of
 * several inputs.  A record passes from copy.c to state.c, which finds the changes that packets left out
 * before it require, and to rewrite.c if there are any.
 *
 *   copy.c      the copier: records, their packets, compressed packets
 *   state.c     fields of packets that copies need; state of sequences, sums of packets that are left out
 *   rewrite.c   packets with changes: other ids, sums, times
 *   profiles.c  CPU profiles of V8, of which packets are left out or moved
 *   names.c     found by the survey: names that tracks take from their first event, times of their states
 */
#ifndef PERFETTO_COPY_COPY_H
#define PERFETTO_COPY_COPY_H

#include "base/table.h"
#include "format/format.h"
#include "perfetto/perfetto.h"
#include "perfetto/read/read.h"

/* ---- state.c ---- */

#define PFC_EXTRA 8           /* values of extra counters in an event; Perfetto drops an event with more */
#define PFC_SEQUENCES 262144U /* sequences with a state; packets of others are copied unchanged */
#define PFC_MOVED 262144U     /* clocks that are followed when times are moved, over all sets of clocks */
#define PFC_SUMS 262144U      /* sums of counters, of all sequences */

struct pfc_packet {
	struct slice s; /* content of the packet; below: content of fields, p NULL: absent */
	struct slice event, descriptor, thread, streaming, snapshot, defaults, interned, zlib, zstd;
	uint64_t timestamp;
	uint32_t sequence, machine, flags, dropped, clock; /* sequence 0: none */
	bool has_timestamp, cleared;
	struct pf_event_fields te; /* of `event` */
};

/* Reads the fields of a packet and of its event, up to one that cannot be read. */
void pfc_packet(struct pfc_packet *k, struct slice s);

struct pfc_number {
	int64_t whole;
	double real;
	bool is_real;
};

/* The counter values of an event. */
struct pfc_values {
	struct pfc_number value;
	int64_t extra[PFC_EXTRA];
	double real[PFC_EXTRA];
};

/* A clock of a sequence, 64 to 127. */
struct pfc_clock {
	uint32_t id;
	bool incremental;
	uint64_t sum; /* of timestamps left out since the last one that was copied */
};

/* Sum of left-out values of an incremental counter of a sequence. */
struct pfc_sum {
	uint64_t interval; /* of the sequence; once it has begun another interval, the sum is 0 */
	struct pfc_number v;
};

struct pfc_sequence {
	bool valid;
	uint32_t clock; /* of the defaults; 0: none */
	int32_t pid;    /* of its thread; 0: not known */
	uint64_t default_track;
	struct pf_extra_of extra_of[2];            /* as in struct pf_sequence */
	int64_t delta_us, thread_us, instructions; /* sums of deltas left out */
	uint64_t interval;                         /* counts intervals of incremental state */
	struct pfc_clock *clocks;                  /* at most 64 */
	uint32_t nclocks, clocks_cap;
};

struct pfc_states {
	struct table64 index; /* machine and sequence -> list[] */
	struct pfc_sequence *list;
	struct pfc_sum *sums;
	uint32_t n, cap, nsums, sums_cap;
	struct table64 sum_index;   /* hash of sequence and uuid -> sums[] */
	struct table64 arrows;      /* ids of arrows of legacy events that have a start in the copy -> 1 */
	struct table64 incremental; /* uuids of incremental counters -> 1 */
	struct table64 profiles;    /* process and id of a CPU profile -> profile_ns[] */
	int64_t *profile_ns;        /* sums of differences of time left out; at most CPU_PROFILE_MAX */
	uint32_t nprofiles, profiles_cap;
	bool failed;
};

/* Changes of the next copied packet because of packets left out before it. */
struct pfc_carry {
	uint64_t timestamp;
	int64_t delta_us, thread_us, instructions;
	int64_t own_us;           /* difference of time of the packet itself */
	bool starts;              /* the step of an arrow becomes its start, which was left out */
	bool counters;            /* counter values are replaced by `values` */
	struct pfc_values values; /* not set unless `counters` */
};

/* Applies a packet to the state, and sets *carry if it is copied.  Returns pfc_sequence_of(). */
const struct pfc_sequence *pfc_apply(struct pfc_states *all, const struct pfc_packet *k, bool copied,
                                     struct pfc_carry *carry);

/* Leaves the differences of times of an applied packet to the next one: it gets a time of its own. */
void pfc_keep_deltas(struct pfc_states *all, const struct pfc_packet *k, const struct pfc_carry *carry);

/* Whether the event ends an arrow at the next span of its track, and the arrow has no start in the copy:
 * Perfetto draws such an arrow from the first slice of the trace. */
bool pfc_ends_nothing(const struct pfc_states *all, const struct pf_legacy *l);

/* Whether the packet's timestamp is a difference. */
bool pfc_is_incremental(const struct pfc_states *all, const struct pfc_packet *k);

/* Whether a packet that is left out changes no state: it has an event alone, without differences.
 * q: of pfc_sequence_of(). */
bool pfc_is_plain(const struct pfc_sequence *q, const struct pfc_packet *k);

/* Returns the clock of the packet's timestamp; 0: that of the trace. */
uint32_t pfc_clock_of(const struct pfc_states *all, const struct pfc_packet *k);

/* Returns the sequence of the packet; NULL: none. */
const struct pfc_sequence *pfc_sequence_of(const struct pfc_states *all, const struct pfc_packet *k);

/* Returns the track of the packet's event, its own or that of the defaults; 0: none. */
static inline uint64_t pfc_track_of(const struct pfc_packet *k, const struct pfc_sequence *q)
{
	return k->te.has_track ? k->te.track : q != NULL ? q->default_track : 0;
}

/* Empties the state, before another input. */
void pfc_states_clear(struct pfc_states *all);
void pfc_states_free(struct pfc_states *all);

/* ---- profiles.c ---- */

/* An event of a CPU profile of V8. */
struct pfc_profile {
	struct slice json; /* p NULL: it is none */
	uint64_t key;
	int64_t ns;                            /* sum of its differences of time */
	struct json_token start, nodes, delta; /* delta: the first */
};

/* l: the legacy event of the packet, of phase P. */
struct pfc_profile pfc_profile(const struct pfc_states *all, const struct pfc_packet *k,
                               const struct pf_legacy *l);

/* Append the JSON of an event that is left out or copied, or whose times are earlier by this number of ns.
 * Return false if the JSON stays; of an event left out: if nothing has to be copied. */
bool pfc_profile_leave(struct pfc_states *all, const struct pfc_profile *p, struct text *t);
bool pfc_profile_copy(struct pfc_states *all, const struct pfc_profile *p, struct text *t);
bool pfc_profile_move(const struct pfc_profile *p, uint64_t by, struct text *t);

/* ---- rewrite.c ---- */

/* Last times of clocks in written snapshots: in those of the same set of clocks, a moved clock must not go
 * back. */
struct pfc_moved {
	struct table64 index; /* hash of a set and one of its clocks -> times[]; hash of a clock -> 0 */
	uint64_t *times;      /* ns */
	uint32_t n, cap;
	bool failed;
};

/* Changes of a packet; zero-initialised: none. */
struct pfc_change {
	bool strip;        /* write only the fields that change the state of the sequence */
	uint64_t renumber; /* seed of new ids of sequences, tracks and arrows; 0: the ids stay */
	struct pfc_carry carry;
	bool set_time; /* the timestamp becomes `time`, in the trace's clock, also for events with deltas */
	uint64_t time;
	uint32_t time_clock;     /* clock id of the timestamp; 0: not written */
	struct pfc_moved *moves; /* clocks of a snapshot, some of which change; NULL: no clock changes */
	uint64_t moved_by;       /* ns that are subtracted from the trace's clock */
	uint32_t trace_clock, sequence;
	struct slice name;           /* name to add to the track; p NULL: none */
	struct slice json, new_json; /* of a CPU profile; new_json.p NULL: it stays */
	bool only_json; /* write only state, and of the event the JSON, name and ids, at `time` */
	bool only_end;  /* of a state: write neither its name nor its arguments */
};

uint64_t pfc_new_id(uint64_t v, uint64_t renumber);
uint32_t pfc_new_sequence(uint32_t v, uint64_t renumber);

/* Whether times of the clock `id` are times of the trace; trace: its stated clock, 0: none. */
bool pfc_is_trace_clock(uint64_t id, uint32_t trace);

/* Whether anything is left of a stripped packet. */
bool pfc_has_state(const struct pfc_packet *k);

/* Whether a snapshot that was written has the clock.  sequence: its new number. */
bool pfc_has_moved(const struct pfc_moved *m, uint32_t clock, uint32_t sequence);
void pfc_moved_free(struct pfc_moved *m);

void pfc_write(struct text *t, const struct pfc_packet *k, const struct pfc_change *x);

/* ---- names.c ---- */

/* A track and the name of its first event. */
struct pfc_name {
	uint64_t uuid, ts;
	struct slice name; /* p NULL: none */
	bool is_described, is_named, copied;
	bool is_written; /* in the copy */
	bool has_states; /* the copy has states of the track, from first to last: */
	uint64_t first_state, last_state;
	uint64_t ended; /* of ends that the copy has after the last state, the least time; UINT64_MAX: none */
};

struct pfc_names {
	struct arena arena;
	struct tabletext texts;  /* names in the arena */
	struct table64 index;    /* uuid -> list[] */
	struct table64 interned; /* hash of sequence, interval and iid -> names[] */
	struct pfc_name *list;
	struct slice *names;
	uint32_t n, cap, nnames, names_cap;
	uint64_t seed;
	uint64_t input; /* number of the current input, from 1 */
	bool failed;
};

/* Identifies a track among those of all inputs. */
static inline uint64_t pfc_track_key(const struct pfc_names *names, uint64_t uuid)
{
	return hash_u64(uuid, names->seed + names->input);
}

/* The next three functions are called for packets of the survey.  q: of pfc_apply(). */
void pfc_survey_interned(struct pfc_names *names, const struct pfc_sequence *q, const struct pfc_packet *k);
void pfc_survey_descriptor(struct pfc_names *names, struct slice s);
void pfc_survey_event(struct pfc_names *names, const struct pfc_sequence *q, const struct pfc_packet *k,
                      uint64_t ts, bool copied);

/* Whether the event names no track: an earlier event of its track is known. */
bool pfc_names_nothing(const struct pfc_names *names, const struct pfc_sequence *q,
                       const struct pfc_packet *k, uint64_t ts);

/* Whether the packet, which is left out, is a state that may end one in the copy. */
bool pfc_ends_state(const struct pfc_names *names, const struct pfc_states *states,
                    const struct pfc_packet *k, uint64_t ts);

/* Returns the name that the copy has to state for a track, NULL if none. */
struct pfc_name *pfc_name_needed(const struct pfc_names *names, uint64_t uuid);
void pfc_names_free(struct pfc_names *names);

#endif
