#ifndef DFTRACER_PROCESS_H
#define DFTRACER_PROCESS_H

#include "base/idset.h"
#include "dftracer/record.h"
#include "dftracer/tally.h"
#include "dftracer/who.h"

/*
 * Processes and their threads.  A process is known by its pid and its host; a
 * record that does not name its host (metadata of 2024) belongs to the first
 * process of its pid, and a process whose host is not known yet gets the first
 * that comes.
 */
struct dft_process {
	uint64_t pid;
	uint32_t number;
	uint32_t host; /* see dftracer_who.h; 0: not known */
	uint64_t unit; /* ns that ts and dur count in */
	bool unit_given;
	bool started; /* a `start` was met, and no `end` behind it */
	bool aggregated;
	uint64_t host_known; /* dft_names.hosts_defined when its host's hash was looked up, and defined ... */
	struct slice host_name;  /* ... as this; p NULL before that */
	uint32_t starts;         /* since the last `end` */
	uint64_t records, calls; /* since then, calls without metadata */
	struct dft_place start;
	const struct track *track; /* made when the first event needs it */
};

#define DFT_RECENT 16

/* A thread whose track was asked for lately. */
struct dft_thread {
	const struct dft_process *process;
	const struct track *track;
	uint64_t tid;
};

/* Zero-initialise to start. */
struct dft_processes {
	struct dft_process **list; /* in the trace's arena; the array is owned */
	uint32_t n, cap;
	struct table64 index;                 /* process key -> list[] */
	struct dft_process *last;             /* of the last record that named its host */
	struct table64 threads;               /* process << 40 | small tid -> trace.tracks[] */
	struct dft_thread recent[DFT_RECENT]; /* by tid */
	const struct track *more;
};

struct dft_state;

void dft_processes_free(struct dft_processes *p);

/* The process of a record: by its pid and its host (as written; n 0: not given).  NULL: no memory. */
struct dft_process *dft_process_of(struct dft_state *st, const struct dft_record *rec, uint64_t pid,
                                   struct slice host);

/* Where its ids begin in dft_shared.ids: each process has its own place in the set, far from others, and not
 * where their pages lie. */
static inline uint64_t
dft_id_place(const struct dft_process *p)
{
	return ((uint64_t)p->number << 44) + (uint64_t)p->number * 37 * IDSET_PAGE;
}

/* The tracks of events (dftracer_track.c); NULL: no memory. */
const struct track *dft_thread_track(struct dft_state *st, const struct dft_record *rec,
                                     struct dft_process *p, bool has_tid, uint64_t tid, bool negative_pid);

#endif
