#ifndef DFTRACER_WRITE_WRITE_H
#define DFTRACER_WRITE_WRITE_H

/*
 * Private header of the writers of DFTracer.
 *
 * write.c   events of any format as records
 * args.c    arguments of these records
 * md5.c     the hash of which their hashes are parts
 * select.c  which records a copy keeps
 * copy.c    copies of records
 */
#include "dftracer/dftracer.h"

/* Events of other formats become records of one of three dialects. */

enum dfw_loss {
#define LOSS(row, ...) DFW_##row,
#include "dftracer/write/losses.def"
#undef LOSS
	DFW_LOSSES
};

extern const struct loss dfw_losses[DFW_LOSSES + 1];

#define DFW_DIALECT_OPTION "to-dialect"

enum dfw_dialect { DFW_D1, DFW_D3, DFW_D5 };

#define DFW_MAX_RECORD ((8U << 20) - 64) /* bytes of a record, within the limit of the reader */

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
	bool signed_time;
	bool own; /* the input is a DFTracer trace */
	enum dfw_dialect dialect;
	struct arena arena;
	struct dfw_track *tracks; /* by index of the trace's track */
	uint32_t ntracks;
	struct dfw_process *first;
	struct track_numbers numbers; /* pids, and the tids of each process */
	struct table64 hosts;         /* pids with hosts in use, as hashes */
	uint32_t nprocesses;
	struct tabletext hashed[DFT_HASH_KINDS]; /* texts whose hashes are defined -> hashes[] */
	struct table64 hashes_used[DFT_HASH_KINDS];
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

/* Adds a text as a JSON string. */
void dfw_text(struct chunk *chunk, struct slice s, uint64_t offset);

/* Returns the hash of a text; writes the record that defines it before its first use.  n 0: no hash, as in
 * d1, for an empty text, past the limits, or if another text has the hash. */
struct dfw_hash dfw_hash_of(struct dfw_state *st, struct chunk *chunk, struct dfw_owner owner,
                            enum dft_hash_kind kind, struct slice text);

/* ---- MD5 (md5.c) ---- */

#define DFT_MD5_SIZE 16

void dft_md5(struct slice s, unsigned char digest[DFT_MD5_SIZE]);

/* ---- arguments (args.c) ---- */

/* Writes the records of the hashes that the arguments of an event need. */
void dfw_define_hashes(struct dfw_state *st, const struct batch *b, const struct event *e,
                       struct dfw_owner owner, struct chunk *chunk);

/* Adds `,"args":{...}`; counter: of a counter record. */
void dfw_args(struct dfw_state *st, const struct batch *b, const struct event *e, struct dfw_owner owner,
              bool counter, struct chunk *chunk);

/* Return the field that becomes the member `id` or `type` of the record itself, or NULL. */
const struct value *dfw_id_of(const struct dfw_state *st, const struct batch *b, const struct event *e);
const struct value *dfw_type_of(const struct dfw_state *st, const struct batch *b, const struct event *e);

void dfw_value(struct chunk *chunk, const struct value *v, uint64_t offset);

/* ---- selections of records (select.c) ---- */

/* Kind of a copied record. */
enum dfw_copied_kind {
	DFW_COPIED_CALL,        /* not metadata */
	DFW_COPIED_HASH,        /* HH, FH, SH */
	DFW_COPIED_TIME_METRIC, /* CM with the unit of times */
	DFW_COPIED_THREAD_NAME,
	DFW_COPIED_ENTITY, /* EH, ET, ER */
	DFW_COPIED_ENTITY_TYPE,
	DFW_COPIED_ENTITY_RELATION,
	DFW_COPIED_FACT,     /* CM of tracetool's facts of the trace, from `tool` on */
	DFW_COPIED_METADATA, /* other metadata */
};

/* Parser of copied records, with the last record. */
struct dfw_parser {
	bool ready;
	struct dft_keys keys;
	struct dft_record rec; /* points into the bytes */
	enum dfw_copied_kind kind;
	bool in_facts; /* facts of tracetool have begun; set to false at the start of an input */
	bool has_pid, has_tid;
	uint64_t pid, tid;
	struct slice host;         /* as written; n 0: absent */
	struct table64 unit_index; /* hash of pid and host -> units[] */
	struct dfw_unit *units;    /* of the times of processes (select.c) */
	uint32_t nunits, units_cap;
};

/* Returns false if the bytes are not a record, or on OOM. */
bool dfw_parse_record(struct dfw_parser *x, struct slice bytes);

/* Returns ns per unit of the times of the last record, after applying it if it is a TIME_METRIC; 0 on OOM.
 * Call it for all written records: their order determines the process of records without a host. */
uint64_t dfw_time_unit(struct dfw_parser *x);

void dfw_parser_free(struct dfw_parser *x);

/* A hash of 16 digits in records of a process; all 0: none. */
struct dfw_recent {
	uint64_t pid, low, high;
	enum dft_hash_kind kind;
};

/* Zero-initialise to start. */
struct dfw_selection {
	struct table64 needed; /* mark -> 1; mark of a written definition -> hash of its text */
	bool *tracks;          /* by index: process and thread are marked */
	uint32_t ntracks;
	struct dfw_recent recent[64]; /* marked lately */
	struct dfw_reference *references;
	uint32_t nreferences, references_cap;
	bool left_out; /* a record was not selected */
	bool keep_all; /* limits exceeded: all metadata is written */
	bool ended;    /* the survey has ended */
	bool failed;   /* OOM */
};

enum dfw_verdict { DFW_DROP, DFW_KEEP, DFW_DROP_START /* of a process: counted as a loss */ };

/* Adds the next raw record of the survey; x is used if the record must be parsed. */
void dfw_survey_record(struct dfw_selection *s, struct dfw_parser *x, const struct event *e,
                       struct slice bytes);

/* Ends the survey; may be called again. */
void dfw_end_survey(struct dfw_selection *s);

/* Whether the next raw record is written. */
enum dfw_verdict dfw_judge(struct dfw_selection *s, struct dfw_parser *x, const struct event *e,
                           struct slice bytes);

void dfw_selection_free(struct dfw_selection *s);

/* ---- copies of records (copy.c) ---- */

extern const struct copier_ops dfw_copier_ops;

#endif
