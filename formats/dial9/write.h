#ifndef DIAL9_WRITE_H
#define DIAL9_WRITE_H

#include "dial9/dial9.h"
#include "out/shape.h"
#include "out/tracks.h"

/* The writer of new traces and of copies.  dial9.h describes the format and the reader. */

/* ---- selections of copies (copy.c) ---- */

/* A selection retains records of the input until a selected event refers to them. */

struct d9w_symbol;
struct d9w_known;
struct d9w_note;

struct d9w_symbols {
	struct table64 needed; /* addresses of written stacks, in all segments */
	struct arena arena;
	struct d9w_symbol *retained; /* of this segment, in file order */
	uint32_t n, cap;
	bool all; /* too many addresses: all symbols are written */
};

struct d9w_select {
	struct arena arena;      /* of this segment */
	struct table64 index;    /* kind and number -> known[] */
	struct d9w_known *known; /* definitions that events may refer to */
	uint32_t nknown, known_cap;
	struct d9w_note *notes; /* annotations of schemas */
	uint32_t nnotes, notes_cap;
	uint64_t type_id;    /* of the open annotations frame */
	uint8_t entry_kind;  /* enum definition_kind of the open frame */
	bool any;            /* a header was written */
	bool header_pending; /* the header of this segment is not written yet */
	bool full;           /* MAX_RETAINED is reached: further definitions are written at once */
	struct d9w_symbols symbols;
};

struct d9w_state;

void d9w_select(struct d9w_state *st, const struct batch *b, struct chunk *chunk);

/* Writes a header if nothing was selected. */
void d9w_select_end(struct d9w_state *st, struct chunk *chunk);
void d9w_select_free(struct d9w_select *s);

/* ---- state ---- */

/* State of a copy of all records (copy.c). */
struct d9w_copy {
	bool any;            /* output is not empty */
	bool skipping;       /* records of this input are left out */
	uint64_t next;       /* offset after the last record of this input */
	uint64_t input_base; /* timestamp_base_ns of the input; only if times are rebased */
	uint64_t left;       /* missing entries of the last written frame */
	struct text last;    /* an entry of that frame */
};

#define D9W_MAX_EVENT (3U << 20) /* max bytes of texts, lists and maps of one event */

/* type_ids of the output; those from D9W_ID_FREE on are for events. */
enum d9w_type_id { D9W_ID_TRACK, D9W_ID_FACTS, D9W_ID_CLOCK, D9W_ID_FREE };

/* How a value is encoded. */
struct d9w_cell {
	uint8_t wire; /* enum d9_type, with D9_OPTIONAL if optional */
	uint8_t type; /* original type: see enum d9_made_type */
	uint32_t id;  /* in the pool, or D9W_NO_ID */
};

/* A schema of the output: events of one class and kind, with fields of the same names and types. */
struct d9w_layout {
	/* kind: enum event_kind, and the wire type of the event's name << 8; types of members: wire, and
	 * type << 8, of struct d9w_cell */
	struct shape shape;
	uint16_t id;
	bool bad_name, renamed; /* losses of its events */
	bool other;             /* for events of any class: all fields as one value */
};

struct d9w_track {
	uint32_t number; /* from 1; 0: none yet */
	bool changed;    /* readers show its events with another name */
};

struct d9w_state {
	bool is_raw, selected, rebased, signed_time, as_0_3;
	uint64_t base; /* timestamp_base_ns of the output */
	struct d9w_copy copy;
	struct d9w_select select;
	struct arena arena;
	struct d9w_track *tracks; /* by index of the trace's track */
	uint32_t ntracks;
	uint32_t next_track;
	struct shapes shapes;                  /* struct d9w_layout */
	struct d9w_layout others[EVENT_KINDS]; /* id 0: not described yet */
	uint32_t next_id;
	struct tabletext pool; /* text -> id */
	uint32_t npool, pool_bytes;
	struct d9w_cell *cells; /* of the current event: the name, then the fields */
	uint32_t ncells;
	uint32_t left;     /* bytes left for values of the current event */
	uint32_t referred; /* bytes of pooled texts that the current event refers to */
	struct text scratch;
};

enum d9w_loss {
#define LOSS(row, key, line, ...) D9W_##row,
#include "dial9/losses.def"
#undef LOSS
	D9W_LOSSES
};

extern const struct loss d9w_losses[D9W_LOSSES + 1];

static inline void d9w_lose(struct chunk *chunk, enum d9w_loss kind, uint64_t offset)
{
	ledger_add(&chunk->ledger, &d9w_losses[kind], offset, 1);
}

/* ---- numbers, times, texts (write.c) ---- */

extern const struct writer_ops d9w_ops;

/* Adds a little-endian number of 1 to 8 bytes. */
void d9w_number(struct text *t, uint64_t v, unsigned size);

/* Adds a timestamp reset, which becomes the time base. */
void d9w_reset(struct d9w_state *st, uint64_t ts, struct chunk *chunk);
void d9w_varint(struct text *t, uint64_t v);

/* Add a length of 16 (32) bits and the text. */
void d9w_text16(struct text *t, struct slice s);
void d9w_text32(struct text *t, struct slice s);

/* Adds a text, cut to `max` bytes and with U+FFFD for bytes that are not UTF-8.  Returns whether it changed.
 */
bool d9w_clean(struct text *t, struct slice s, uint32_t max);
bool d9w_is_utf8(struct slice s);

/* Returns the delta of a timed event at `ts`; writes a reset if the delta would not fit. */
uint32_t d9w_delta(struct d9w_state *st, uint64_t ts, struct chunk *chunk);

/* ---- copies (copy.c) ---- */

void d9w_copy(struct d9w_state *st, const struct batch *b, struct chunk *chunk);

/* ---- schemas (write_schema.c) ---- */

/* Writes the start of an output: the header, and the schemas up to D9W_ID_FREE. */
void d9w_prologue(struct chunk *chunk);

/* Returns the layout of an event by st->cells, after writing its schema if it is new. */
const struct d9w_layout *d9w_layout_of(struct d9w_state *st, const struct batch *b, const struct event *e,
                                       struct chunk *chunk);

/* ---- values (write_values.c) ---- */

#define D9W_NO_ID UINT32_MAX

/* Returns the encoding of a field; texts are added to the pool. */
struct d9w_cell d9w_cell_of(struct d9w_state *st, const struct value *v, struct chunk *chunk);

void d9w_value(struct d9w_state *st, struct d9w_cell cell, const struct value *v, struct chunk *chunk,
               uint64_t offset);

/* Encode all fields of an event as one value. */
struct d9w_cell d9w_all_cell(const struct d9w_state *st);
void d9w_all(struct d9w_state *st, const struct field *f, uint32_t n, struct chunk *chunk, uint64_t offset);

#endif
