#ifndef DFTRACER_FACTS_H
#define DFTRACER_FACTS_H

#include "dftracer/state.h"

/* What a record says: checked, learnt from, made an event. */

#define DFT_NAMES 8 /* of a record's hashes that are remembered */

/* The numbers of a record, and what else was found out about it. */
struct dft_facts {
	enum dft_phase phase;
	bool has_id, has_pid, has_tid, has_ts, has_dur;
	uint64_t id, pid, tid; /* signed ones as two's complement */
	uint64_t ts, dur;      /* ns */
	bool negative_pid;
	struct dft_process *process;   /* NULL: it has no pid */
	struct slice names[DFT_NAMES]; /* what its hashes stand for, in order (p NULL: not known) ... */
	uint32_t nnames;               /* ... as many as were looked up */
};

/* Checks the record in st->record, learns from it, and adds its event, if that is wanted.  Out of memory:
 * st->no_memory. */
void dft_record_take(struct dft_state *st, struct batch *b);

/* ---- dftracer_check.c: members, their kinds ---- */

void dft_check(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f);

bool dft_is_metadata(const struct dft_record *rec);

extern const char *const dft_top_names[DFT_TOPS];
void dft_report_type(struct dft_state *st, const struct dft_record *rec, enum dft_top which,
                     const char *wanted);

/* ---- dftracer_numbers.c: process, id, times ---- */

void dft_check_numbers(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f);
bool dft_is_quoted_number(const struct dft_record *rec, enum dft_top which);

/* ---- dftracer_hash_check.c: the hashes among the arguments ---- */

/* What they stand for, and whether they are hashes at all. */
void dft_check_hashes(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f);

/* ---- dftracer_dialect.c ---- */

/* Reports it when a record is of another dialect than the trace seems to be. */
void dft_dialect_check(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f);

/* ---- dftracer_meta.c: metadata records, `start` and `end` ---- */

void dft_learn(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f);

/* At the end: reports processes that started and did not end. */
void dft_learn_finish(struct dft_state *st);

/* ---- events ---- */

/* Its fields (dftracer_fields.c). */
void dft_fields_add(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                    struct batch *b, struct event *e);

/* Whether nothing but WANT_STRUCTURE brings it out. */
bool dft_event_is_structure(const struct dft_facts *f);

void dft_event_add(struct dft_state *st, const struct dft_record *rec, const struct dft_facts *f,
                   struct batch *b);

#endif
