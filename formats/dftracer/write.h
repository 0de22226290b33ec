#ifndef DFTRACER_WRITE_H
#define DFTRACER_WRITE_H

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/table.h"
#include "dftracer/write_look.h"
#include "dftracer/write_select.h"
#include "format/format.h"

/*
 * The writer.  Records of a DFTracer trace are written as they are; what other
 * formats hold becomes records of one of three dialects.
 */

enum dfw_loss {
#define LOSS(row, ...) DFW_##row,
#include "dftracer/losses.def"
#undef LOSS
	DFW_LOSSES
};

extern const struct loss dfw_losses[DFW_LOSSES + 1];

#define DFW_DIALECT_OPTION "to-dialect"

#define DFW_TAIL 32             /* bytes of what was written last that are remembered */
#define DFW_MOST_END (1U << 20) /* bytes behind the records of an input that are held back */

/* Where records of DFTracer traces stand that are written as they are. */
struct dfw_raw {
	uint32_t inputs;   /* begun so far */
	bool before;       /* no record of the present input was met yet */
	bool opened;       /* the output begins with a bracket */
	bool commas;       /* its records are separated by commas, as in an array */
	bool sealed;       /* so much stands behind the records of the first input that it was written */
	bool closed_later; /* an input behind the first has a closing bracket */
	bool selecting;    /* records are left out */
	bool written;      /* of a selection: some record was; how its line ends: */
	bool line_end, cr;
	struct text end; /* of the first input: what stands from its closing bracket on */
	char tail[DFW_TAIL];
	uint32_t ntail;
};

/* ---- records of other formats ---- */

enum dfw_dialect { DFW_D1, DFW_D3, DFW_D5 };

/* Bounds, so that memory does not grow with the trace and readers with bounds of their own (dftracer_wire.h,
 * dftracer_record.h) read the output. */
#define DFW_MOST_NAME (64U << 10)         /* bytes of a name or category */
#define DFW_MOST_RECORD ((8U << 20) - 64) /* bytes of a record */
#define DFW_MOST_FIELDS 59000U
#define DFW_MOST_DEPTH 50U
#define DFW_MOST_HASHES 60000U         /* names that become hashes ... */
#define DFW_MOST_HASH_BYTES (7U << 20) /* ... and their bytes */

enum dfw_hash_kind { DFW_HOST, DFW_FILE, DFW_STRING, DFW_HASH_KINDS };

/* A hash as it is written, with its quotes where the dialect has them. */
struct dfw_hash {
	char text[24];
	uint32_t n; /* 0: there is none */
};

struct dfw_process {
	uint64_t pid;
	uint64_t next_id;  /* of a record */
	uint64_t calls;    /* records that are not metadata */
	struct slice host; /* n 0: none is known */
	struct dfw_hash host_hash;
	uint32_t number;
	bool shares_pid; /* with one on another host */
	bool changed;    /* readers show it under another name or number */
};

struct dfw_track {
	struct dfw_process *process;
	uint64_t tid;
	bool ready;
	bool changed; /* readers show its events under another name or number */
};

struct dfw_state {
	bool is_raw, selected, rebased, signed_time;
	bool own; /* the input is a DFTracer trace */
	struct dfw_raw raw;
	struct dfw_look look;
	struct dfw_select select;
	enum dfw_dialect dialect;
	struct arena arena;
	struct dfw_track *tracks; /* by index of the trace's track */
	uint32_t ntracks;
	struct dfw_process *first;
	struct table64 pids;    /* in use -> 0: by a process without a host, 1: by others */
	struct tabletext hosts; /* "pid host" in use */
	struct table64 tids;    /* hashes of process and tid in use */
	uint32_t nprocesses;
	uint64_t next_number;                    /* for who has none */
	struct tabletext hashed[DFW_HASH_KINDS]; /* texts whose hashes are defined -> hashes[] */
	struct table64 hashes_used[DFW_HASH_KINDS];
	struct dfw_hash *hashes;
	uint32_t nhashes, hashes_cap, hash_bytes;
	struct text scratch;
};

/* Who a record is of. */
struct dfw_who {
	struct dfw_process *process;
	uint64_t tid;
};

static inline void
dfw_lose(struct chunk *chunk, enum dfw_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &dfw_losses[kind], offset, 1);
}

/* ---- dftracer_write_record.c ---- */

/* A text as JSON. */
void dfw_text(struct chunk *chunk, struct slice s, uint64_t offset);

/* `,"key":number`, quoted in d1. */
void dfw_number(const struct dfw_state *st, struct text *t, const char *key, uint64_t v);

/* A metadata record; value: JSON.  Nothing in d1. */
void dfw_metadata(struct dfw_state *st, struct chunk *chunk, struct dfw_who who, const char *kind,
                  struct slice name, struct slice value);

/* ---- dftracer_write_hash.c ---- */

/* The hash of a text, whose record is written before its first use.  n 0: there is none in this dialect, or
 * for this text. */
struct dfw_hash dfw_hash_of(struct dfw_state *st, struct chunk *chunk, struct dfw_who who,
                            enum dfw_hash_kind kind, struct slice text);

/* ---- dftracer_write_track.c ---- */

/* Who an event is of; records tell of the process and the thread before their first events. */
struct dfw_who dfw_who_of(struct dfw_state *st, const struct batch *b, const struct event *e,
                          struct chunk *chunk);

/* ---- dftracer_write_args.c ---- */

/* Defines the hashes that the arguments of an event need. */
void dfw_define_hashes(struct dfw_state *st, const struct batch *b, const struct event *e, struct dfw_who who,
                       struct chunk *chunk);

/* `,"args":{...}`; counter: the event becomes one. */
void dfw_args(struct dfw_state *st, const struct batch *b, const struct event *e, struct dfw_who who,
              bool counter, struct chunk *chunk);

/* The fields that are members of the record itself; NULL: none. */
const struct value *dfw_id_of(const struct dfw_state *st, const struct batch *b, const struct event *e);
const struct value *dfw_type_of(const struct dfw_state *st, const struct batch *b, const struct event *e);

/* ---- dftracer_write_value.c ---- */

void dfw_value(struct chunk *chunk, const struct value *v, uint64_t offset);

/* ---- dftracer_write_event.c ---- */

void dfw_event(struct dfw_state *st, const struct batch *b, const struct event *e, struct chunk *chunk);

/* ---- dftracer_write_raw.c ---- */

void dfw_raw(struct dfw_state *st, const struct batch *b, struct chunk *chunk);
/* A pass over all that will come, where records are left out. */
void dfw_survey(void *state, const struct batch *b);
void dfw_raw_close(struct dfw_raw *raw, struct chunk *chunk);

/* ---- dftracer_write_move.c ---- */

/* Copies a record, with the time that the event has. */
void dfw_move(struct dfw_state *st, const struct event *e, struct slice bytes, struct chunk *chunk);

/* ---- dftracer_write.c ---- */

extern const char *const dfw_dialect_words[];
extern const struct writer_ops dfw_ops;

#endif
