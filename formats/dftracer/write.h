#ifndef DFTRACER_WRITE_H
#define DFTRACER_WRITE_H

#include "dftracer/dftracer.h"
#include "out/tracks.h"

/* The writer of new traces and of copies.  dftracer.h describes the format and the reader. */

/* ---- selections of copies (select.c) ---- */

/* Kind of a copied record. */
enum dfw_kind {
	DFW_CALL,        /* not metadata */
	DFW_HASH,        /* HH, FH, SH */
	DFW_TIME_METRIC, /* CM with the unit of times */
	DFW_THREAD_NAME,
	DFW_ENTITY, /* EH, ET, ER */
	DFW_ENTITY_TYPE,
	DFW_ENTITY_RELATION,
	DFW_OF_PROCESS, /* other metadata */
};

/* Parser of copied records, with the last record. */
struct dfw_parser {
	bool ready;
	struct dft_keys keys;
	struct dft_record rec; /* points into the bytes */
	enum dfw_kind kind;
	bool has_pid, has_tid;
	uint64_t pid, tid;
	struct slice host;    /* as written; n 0: absent */
	struct table64 units; /* hash of pid and host, or of pid only -> ns per unit of times */
};

/* Returns false if the bytes are not a record, or on OOM. */
bool dfw_parse(struct dfw_parser *x, struct slice bytes);

/* Applies a DFW_TIME_METRIC. */
bool dfw_apply_metric(struct dfw_parser *x);

/* Returns ns per unit of the record's times. */
uint64_t dfw_time_unit(const struct dfw_parser *x);
void dfw_parser_free(struct dfw_parser *x);

struct dfw_entity;

/*
 * Finds the metadata that a selection of records needs: mark and sweep.  A survey pass over the input marks
 * all references of selected records: definitions of hashes and entities, and all metadata of their processes
 * and threads.  So the output keeps the order of the input.
 */
struct dfw_select {
	struct table64 needed; /* mark -> 1; mark of a written definition -> hash of its text */
	bool *tracks;          /* by index: process and thread are marked */
	uint32_t ntracks;
	struct dfw_entity *entities;
	uint32_t nentities, entities_cap;
	struct dfw_reference *references; /* from metadata to hosts */
	uint32_t nreferences, references_cap;
	bool left_out; /* a record was not selected */
	bool keep_all; /* limits exceeded: all metadata is written */
	bool ended;    /* the survey has ended */
	bool failed;   /* OOM */
};

/* Adds the next raw record of the survey; x is used if the record must be parsed. */
void dfw_select_survey(struct dfw_select *s, struct dfw_parser *x, const struct event *e, struct slice bytes);

/* Ends the survey; may be called again. */
void dfw_select_end(struct dfw_select *s);

enum dfw_verdict { DFW_DROP, DFW_KEEP, DFW_DROP_START };

/* Returns whether the next raw record is written. */
enum dfw_verdict dfw_select_judge(struct dfw_select *s, struct dfw_parser *x, const struct event *e,
                                  struct slice bytes);
void dfw_select_free(struct dfw_select *s);

/* ---- losses and limits ---- */

/* Records of a DFTracer trace are copied; events of other formats become records of one of three dialects. */

enum dfw_loss {
#define LOSS(row, ...) DFW_##row,
#include "dftracer/losses.def"
#undef LOSS
	DFW_LOSSES
};

extern const struct loss dfw_losses[DFW_LOSSES + 1];

#define DFW_DIALECT_OPTION "to-dialect"
#define DFW_TAIL 32            /* bytes retained at the end of the output */
#define DFW_MAX_END (1U << 20) /* max bytes after the records of an input that are held back */

/* State of a copy of DFTracer traces (raw.c). */
struct dfw_copy {
	uint32_t inputs;   /* started */
	bool at_start;     /* before the first record of the current input */
	bool opened;       /* the output starts with a bracket */
	bool commas;       /* records are separated by commas, as in an array */
	bool sealed;       /* more than DFW_MAX_END bytes follow the records of the first input: written */
	bool closed_later; /* an input after the first has a closing bracket */
	bool selecting;    /* records are left out */
	bool written;      /* selecting: a record was written ... */
	bool line_end, cr; /* ... with this line end: LF, CR LF */
	struct text end;   /* of the first input: bytes held back, starting with its closing bracket */
	char tail[DFW_TAIL];
	uint32_t ntail;
};

/* ---- state ---- */

enum dfw_dialect { DFW_D1, DFW_D3, DFW_D5 };

#define DFW_MAX_RECORD ((8U << 20) - 64) /* bytes of a record, within the limit of the reader */

enum dfw_hash_kind { DFW_HOST, DFW_FILE, DFW_STRING, DFW_HASH_KINDS };

/* A hash as written, with quotes if the dialect has them. */
struct dfw_hash {
	char text[24];
	uint32_t n; /* 0: no hash */
};

struct dfw_process {
	uint64_t pid;
	uint64_t next_id;  /* of a record */
	uint64_t calls;    /* records that are not metadata */
	struct slice host; /* n 0: unknown */
	struct dfw_hash host_hash;
	uint32_t number; /* from 1 */
	bool shares_pid; /* with a process on another host */
	bool changed;    /* readers show it with another name or number */
};

struct dfw_track {
	struct dfw_process *process;
	uint64_t tid;
	bool ready;
	bool changed; /* readers show its events with another name or number */
};

struct dfw_state {
	bool is_raw, selected, rebased, signed_time;
	bool own; /* the input is a DFTracer trace */
	struct dfw_copy copy;
	struct dfw_parser parser;
	struct dfw_select select;
	enum dfw_dialect dialect;
	struct arena arena;
	struct dfw_track *tracks; /* by index of the trace's track */
	uint32_t ntracks;
	struct dfw_process *first;
	struct track_numbers numbers; /* pids, and the tids of each process */
	struct tabletext hosts;       /* "pid host" in use */
	uint32_t nprocesses;
	struct tabletext hashed[DFW_HASH_KINDS]; /* texts whose hashes are defined -> hashes[] */
	struct table64 hashes_used[DFW_HASH_KINDS];
	struct dfw_hash *hashes;
	uint32_t nhashes, hashes_cap, hash_bytes;
	struct text scratch;
};

/* Process and thread of a record. */
struct dfw_owner {
	struct dfw_process *process;
	uint64_t tid;
};

static inline void dfw_lose(struct chunk *chunk, enum dfw_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &dfw_losses[kind], offset, 1);
}

/* ---- records (write.c) ---- */

extern const char *const dfw_dialect_names[]; /* by enum dfw_dialect; terminated by NULL */
extern const struct writer_ops dfw_ops;

/* Adds a text as JSON. */
void dfw_text(struct chunk *chunk, struct slice s, uint64_t offset);

/* Returns the hash of a text, after writing its record before the first use.  n 0: the dialect, or the text,
 * has no hash. */
struct dfw_hash dfw_hash_of(struct dfw_state *st, struct chunk *chunk, struct dfw_owner owner,
                            enum dfw_hash_kind kind, struct slice text);

/* ---- arguments (write_args.c) ---- */

/* Writes the records of the hashes that the arguments of an event need. */
void dfw_define_hashes(struct dfw_state *st, const struct batch *b, const struct event *e,
                       struct dfw_owner owner, struct chunk *chunk);

/* Adds `,"args":{...}`; counter: of a counter record. */
void dfw_args(struct dfw_state *st, const struct batch *b, const struct event *e, struct dfw_owner owner,
              bool counter, struct chunk *chunk);

/* Returns the field that becomes a member of the record itself, or NULL. */
const struct value *dfw_id_of(const struct dfw_state *st, const struct batch *b, const struct event *e);
const struct value *dfw_type_of(const struct dfw_state *st, const struct batch *b, const struct event *e);

void dfw_value(struct chunk *chunk, const struct value *v, uint64_t offset);

/* ---- copies (raw.c) ---- */

void dfw_copy(struct dfw_state *st, const struct batch *b, struct chunk *chunk);

/* Finds the metadata that a selection needs (writer_ops.survey). */
void dfw_survey(void *state, const struct batch *b);
void dfw_copy_close(struct dfw_copy *copy, struct chunk *chunk);

#endif
