#ifndef DIAL9_WRITE_H
#define DIAL9_WRITE_H

#include "dial9/made.h"
#include "dial9/write_select.h"
#include "format/format.h"

/* The writer. */

/* The record that an event of raw mode stands for. */
enum d9w_record {
	D9W_HEADER,
	D9W_SCHEMA,
	D9W_HEAD,  /* of a pool or annotations, with the first entry if there is one */
	D9W_ENTRY, /* a later one */
	D9W_RESET,
	D9W_EVENT,
	D9W_RUN, /* events and resets: WRITER_RAW_RUNS */
};

/* Records of a dial9 trace that are written as they are. */
struct d9w_raw {
	bool any;         /* something was written */
	bool skipping;    /* the records of this input are left out */
	uint64_t next;    /* offset behind the last record of this input */
	uint64_t was;     /* timestamp_base_ns of the input; followed if times are moved */
	uint64_t left;    /* entries to come of the frame that was written last */
	struct text last; /* an entry of that frame */
};

/* Bounds, so that memory does not grow with the trace and the reader (dial9_wire.h) reads the output. */
#define D9W_MOST_SCHEMAS 65000U
#define D9W_MOST_DESCRIBED (12U << 20) /* bytes that all schemas cost a reader */
#define D9W_MOST_FIELDS 60000U         /* of one event */
#define D9W_MOST_SCHEMA (3U << 20)     /* bytes of one schema */
#define D9W_MOST_EVENT (3U << 20)      /* bytes of texts, lists and maps of one event */
#define D9W_MOST_POOL (900U << 10)     /* bytes that the string pool costs a reader, before it looks ahead */
#define D9W_MOST_POOLED 1024U          /* bytes of a text in the pool */
#define D9W_MOST_REFERRED (1U << 20)   /* bytes of the texts that one event refers to */
#define D9W_MOST_FACTS 60U
#define D9W_MOST_FACT_BYTES (56U << 10)

/* Types of the output; others are those of events. */
enum d9w_type_id { D9W_ID_TRACK, D9W_ID_FACTS, D9W_ID_CLOCK, D9W_ID_FREE };

/* How a value is written. */
struct d9w_cell {
	uint8_t wire; /* enum d9_type, perhaps with D9_OPTIONAL */
	uint8_t word; /* enum d9_made_word */
	uint32_t id;  /* of the pool */
};

struct d9w_member {
	struct slice name; /* as the trace has it */
	uint8_t wire, word;
};

/* A schema of the output: events of one class, of one kind, with fields of the same names and types. */
struct d9w_layout {
	const struct class *cls;
	const struct d9w_member *members;
	uint32_t nmembers;
	uint16_t id;
	uint8_t kind, name_wire; /* enum d9_made_kind; of the event's name */
	bool bad_name, renamed;  /* what its events lose */
	bool other;              /* of any class: all fields in one */
};

#define D9W_RECENT 6

/* Of a class of the trace: the layouts that its events had last, the latest first. */
struct d9w_class {
	const struct d9w_layout *recent[D9W_RECENT];
};

struct d9w_track {
	uint32_t number; /* and 1; 0: it has none */
	bool changed;    /* readers show its events under another name */
};

struct d9w_state {
	bool is_raw, selected, rebased, signed_time, as_0_3;
	uint64_t base; /* timestamp_base_ns of the output */
	struct d9w_raw raw;
	struct d9w_select select;
	struct arena arena;
	struct d9w_class *classes; /* by index of the trace's class */
	uint32_t nclasses;
	struct d9w_track *tracks; /* by index of the trace's track */
	uint32_t ntracks;
	uint32_t next_track;
	const struct d9w_layout **layouts;
	uint32_t nlayouts, layouts_cap;
	struct d9w_layout others[D9_MADE_KINDS]; /* id 0: not described yet */
	struct table64 signatures;               /* hash of class, kind and fields -> layouts[] */
	uint32_t next_id, described;
	bool full;
	struct tabletext pool; /* text -> id */
	uint32_t npool, pool_bytes;
	struct d9w_cell *cells; /* of the present event: its name, then its fields */
	uint32_t ncells;
	uint32_t left, referred; /* bytes that the present event may take; that it refers to */
	struct text scratch;
};

enum d9w_loss {
#define LOSS(row, key, line, ...) D9W_##row,
#include "dial9/losses.def"
#undef LOSS
	D9W_LOSSES
};

extern const struct loss d9w_losses[D9W_LOSSES + 1];

static inline void
d9w_lose(struct chunk *chunk, enum d9w_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &d9w_losses[kind], offset, 1);
}

/* ---- dial9_write_frame.c ---- */

/* A little-endian number of 1 to 8 bytes. */
void d9w_number(struct text *t, uint64_t v, unsigned size);

/* A timestamp reset, which becomes the time base. */
void d9w_reset(struct d9w_state *st, uint64_t ts, struct chunk *chunk);

void d9w_varint(struct text *t, uint64_t v);

/* A text with a length of 16 (32) bits before it. */
void d9w_text16(struct text *t, struct slice s);
void d9w_text32(struct text *t, struct slice s);

/* Adds the text, at most `most` bytes of it, with U+FFFD for what is not UTF-8; whether that changed it. */
bool d9w_clean(struct text *t, struct slice s, uint32_t most);

bool d9w_is_utf8(struct slice s);

/* The delta of a timed event at `ts`; a reset is written where there must be one. */
uint32_t d9w_delta(struct d9w_state *st, uint64_t ts, struct chunk *chunk);

/* ---- dial9_write_raw.c ---- */

enum d9w_record d9w_record_of(const struct batch *b, const struct event *e);

/* Follows the time base of the input, when times are moved: before each record is written. */
void d9w_raw_follow(struct d9w_state *st, const struct batch *b, const struct event *e, enum d9w_record kind);

/* The time of a record in the output: that of the event unless --rebase made it negative. */
uint64_t d9w_raw_time(const struct d9w_state *st, const struct event *e, enum d9w_record kind,
                      struct chunk *chunk);

/* An event frame as it is but for its delta. */
void d9w_raw_event(struct d9w_state *st, bool timed, uint64_t ts, struct slice bytes, struct chunk *chunk);

void d9w_raw(struct d9w_state *st, const struct batch *b, struct chunk *chunk);

/* ---- dial9_write_pool.c ---- */

#define D9W_NO_ID UINT32_MAX

/* The id of a text of the pool that the present event may refer to, or D9W_NO_ID. */
uint32_t d9w_pool_find(struct d9w_state *st, struct slice s);

/* The same; a text that is not there is put into the pool if it has room.  Not between the head of an event
 * and its end. */
uint32_t d9w_pool_put(struct d9w_state *st, struct slice s, struct chunk *chunk);

/* ---- dial9_write_schema.c ---- */

/* What every output begins with: the header, and the schemas up to D9W_ID_FREE. */
void d9w_prologue(struct chunk *chunk);

/* Writes the schema of a layout whose names do not need more than D9W_MOST_SCHEMA; sets what events lose. */
void d9w_describe(struct d9w_state *st, struct d9w_layout *l, struct chunk *chunk);

/* ---- dial9_write_layout.c ---- */

/* The layout of an event by st->cells, described if it is new. */
const struct d9w_layout *d9w_layout_of(struct d9w_state *st, const struct batch *b, const struct event *e,
                                       struct chunk *chunk);

/* ---- dial9_write_value.c ---- */

/* How a field is written; texts are put into the pool. */
struct d9w_cell d9w_cell_of(struct d9w_state *st, const struct value *v, struct chunk *chunk);

void d9w_value(struct d9w_state *st, struct d9w_cell cell, const struct value *v, struct chunk *chunk,
               uint64_t offset);

/* All fields of an event, as one value. */
struct d9w_cell d9w_all_cell(const struct d9w_state *st);
void d9w_all(struct d9w_state *st, const struct field *f, uint32_t n, struct chunk *chunk, uint64_t offset);

/* ---- dial9_write_event.c ---- */

enum d9_made_kind d9w_kind_of(const struct event *e);
void d9w_event(struct d9w_state *st, const struct batch *b, const struct event *e, struct chunk *chunk);

/* ---- dial9_write_track.c ---- */

/* The number of a track; a record tells what it is before its first event. */
uint32_t d9w_track(struct d9w_state *st, const struct track *t, struct chunk *chunk);

/* At the end: the tracks without events, the facts of the trace, its wall time. */
void d9w_remaining(struct d9w_state *st, const struct writer *w, struct chunk *chunk);

/* ---- dial9_write.c ---- */

extern const struct writer_ops d9w_ops;

#endif
