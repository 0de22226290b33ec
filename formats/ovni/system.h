#ifndef OVNI_SYSTEM_H
#define OVNI_SYSTEM_H

#include "ovni/rules.h"
#include "ovni/wire.h"

/*
 * What the metadata of all streams of a trace declares, merged: looms, processes, threads and CPUs, marks,
 * hardware counters and required models; and what the parts of this format know of a stream.
 *
 * All texts lie in ovni_system.text and live as long as the system.  A function that runs out of memory sets
 * no_memory and returns as if nothing had been given to it: the reader looks at the flag once for each stream
 * and batch.
 */

/* One stream, which is one thread. */
struct ovni_stream {
	const struct track *track;
	uint32_t number;  /* in order of opening */
	uint32_t process; /* in ovni_system.processes, or TABLE_NONE */
	int32_t tid;      /* 0: not known */
	uint32_t checked; /* of the state checker: 1 + number of its thread; 0: it has no event yet */
	bool big;         /* big endian */
};

/* The thread of a stream, by its metadata; -1: not given. */
struct ovni_thread {
	struct slice loom; /* p NULL: not given */
	int64_t pid, tid;
	int64_t app_id, rank, nranks;
	struct slice process_name, name; /* p NULL: the usual ones */
};

struct ovni_loom {
	struct slice name;
	uint32_t cpus; /* how many */
	uint32_t processes, ranked; /* counted at the end */
};

struct ovni_process {
	uint32_t loom; /* in looms, or TABLE_NONE: not yet known */
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

/* The first of some threads, and how many they are. */
struct ovni_threads {
	int64_t pid, tid;
	uint32_t n;
};

struct ovni_system {
	bool no_memory;
	bool in_folder; /* a stream was found in a folder, so all streams of the trace are read */
	bool limited;   /* a limit was reported */
	struct arena text;
	uint32_t text_bytes;
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
	struct slice required[OVNI_MAX_REQUIRED]; /* models in any ovni.require */
	uint32_t nrequired;
	struct slice lib;      /* "version commit" of the first stream */
	struct ovni_threads breakdown_lacks, breakdown_off; /* nosv.can_breakdown */
	struct track *unknown; /* process of the streams whose thread is not known */
	const struct track *more_threads;
};

void ovni_system_free(struct ovni_system *s);

/* Reports that a bound was reached; only the first one in a trace. */
void ovni_system_limit(struct ovni_system *s, struct reader *r, const char *what, uint32_t most);

/* A copy; "" beyond the bound; p NULL: no memory. */
struct slice ovni_system_text(struct ovni_system *s, struct reader *r, const char *text);

/* Adds the thread of a stream to its process and loom, and sets stream->process, tid and track as far as they
 * are known.  Returns the loom, or TABLE_NONE. */
uint32_t ovni_system_add_thread(struct ovni_system *s, struct reader *r, const struct ovni_thread *t,
                                struct ovni_stream *stream);

/* Sets stream->track of a stream whose thread is not known. */
void ovni_system_add_unknown(struct ovni_system *s, struct reader *r, struct ovni_stream *stream);

void ovni_system_add_cpu(struct ovni_system *s, struct reader *r, uint32_t loom, uint32_t index,
                         uint32_t phyid);

void ovni_system_require(struct ovni_system *s, struct reader *r, const char *model);

/* A process of this number in a named loom, or TABLE_NONE: where a thread leaves out its loom, other threads
 * of the process may name it. */
uint32_t ovni_system_find_process(const struct ovni_system *s, int64_t pid);

#endif
