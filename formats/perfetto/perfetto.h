/*
 * Private header of the writer of Perfetto traces.  It shares schema/ with the reader (read/) and the copier
 * (copy/).
 *
 *   write.c     packets, events: spans, instants, counters, arrows
 *   tracks.c    descriptors of tracks, clocks and facts of the trace
 *   interned.c  texts and call stacks that are written once, arguments of an event
 *   values.c    a value as a debug annotation
 */
#ifndef PERFETTO_PERFETTO_H
#define PERFETTO_PERFETTO_H

#include "base/table.h"
#include "base/slice.h"
#include "format/format.h"
#include "perfetto/schema/schema.h"

enum perfetto_loss {
#define LOSS(row, ...) PERFETTO_##row,
#include "perfetto/losses.def"
#undef LOSS
	PERFETTO_LOSSES
};

extern const struct loss perfetto_losses[PERFETTO_LOSSES + 1];
extern const struct writer_ops perfetto_writer_ops;
extern const struct copier_ops perfetto_copier_ops;

/* ---- state ---- */

/* Tables of texts; a function is the name of a frame. */
enum perfetto_kind { KIND_CATEGORY, KIND_NAME, KIND_KEY, KIND_STRING, KIND_FUNCTION, KINDS };

#define PERFETTO_KNOWN 2048 /* slots of a cache; a power of two */

struct perfetto_entry {
	uint64_t key_hash; /* of keys: equal for keys that the importer does not distinguish */
	uint8_t losses;    /* bits 1 << enum perfetto_loss, counted at each use */
};

/* Texts that are written once and referred to by number (iid), from 1. */
struct perfetto_table {
	struct tabletext iids;
	struct perfetto_entry *entries;
	struct known_text known[PERFETTO_KNOWN]; /* iids by the address of the text */
	uint32_t n, cap;
	size_t bytes; /* of the texts */
};

struct perfetto_track {
	uint64_t uuid;
	uint64_t parent; /* uuid; lanes of the track have the same parent and name */
	struct slice name;
	uint64_t pid, tid; /* as written */
	uint64_t *ends;    /* of the open spans, the outermost first; OPEN_END: not known yet */
	uint32_t nends, ends_cap;
	uint64_t instant; /* time of the last instant + 1; 0: none */
};

#define OPEN_END UINT64_MAX             /* the end of a span that is not known yet */
#define LAST_TIME ((uint64_t)INT64_MAX) /* ns: the importer has signed times */
#define PERFETTO_CLASSES 64             /* slots of the cache of categories */

#define SHAPE_FIELDS 16 /* of an event; one with more fields has no shape */
#define SHAPES 64       /* slots of their cache */

/* The keys of the fields of an event; events of a class usually have the same. */
struct perfetto_shape {
	uint32_t n;
	struct slice names[SHAPE_FIELDS]; /* keys of the table KIND_KEY */
	const char *stay[SHAPE_FIELDS];   /* addresses of names with SLICE_STAYS; NULL: other names */
	uint32_t iids[SHAPE_FIELDS];
};

struct perfetto_state {
	bool signed_time;     /* times may be before 0 */
	struct chunk *chunk;  /* of the current call */
	uint64_t offset;      /* of the current event, for losses */
	uint64_t uuid;        /* of the last track */
	struct text body;     /* of the current track event */
	struct text defs;     /* interned data, for the next track event */
	struct text repaired; /* see perfetto_repair() */
	struct arena arena;   /* of tracks, texts and stacks */
	struct perfetto_table tables[KINDS];
	uint32_t *seen;                 /* hashes of strings that occurred once */
	uint64_t repeats;               /* uses of strings that have a number */
	uint64_t seed;                  /* of hashes */
	struct perfetto_track **tracks; /* by number */
	uint32_t ntracks, tracks_cap;
	struct table64 pids, tids; /* in use */
	uint64_t next_pid, next_tid;
	struct table64 series; /* hash of track, name and key -> series_uuids[] */
	uint64_t *series_uuids;
	uint32_t nseries, series_cap;
	struct tabletext stacks; /* frames -> iid */
	struct text stack;       /* frames of the current one */
	uint64_t stack_bytes;    /* in `stacks` */
	uint32_t nstacks;
	struct {
		const struct class *cls;
		const char *category; /* cls->category.p at that time */
		uint32_t iid;
	} categories[PERFETTO_CLASSES];      /* direct-mapped cache */
	uint32_t arrow_name, arrow_category; /* iids; 0: none yet */
	struct idset arrows;                 /* ids of arrows that have a start */
	struct perfetto_shape shapes[SHAPES];
};

/* `declared` of a track points to its index. */
static inline struct perfetto_track *perfetto_track_of(const struct perfetto_state *st, const struct track *t)
{
	return st->tracks[*(const uint32_t *)t->declared];
}

static inline void perfetto_lose(struct perfetto_state *st, enum perfetto_loss what, uint64_t count)
{
	ledger_add(&st->chunk->ledger, &perfetto_losses[what], st->offset, count);
}

/* Starts a packet without a time, and its content: a field of TracePacket. */
struct perfetto_packet {
	size_t packet, content;
};

static inline struct perfetto_packet perfetto_open_packet(struct text *t, unsigned field)
{
	struct perfetto_packet p = { .packet = wire_open(t, PF_TRACE_PACKET) };

	wire_number(t, PF_packet_trusted_packet_sequence_id, 1);
	p.content = wire_open(t, field);
	return p;
}

static inline void perfetto_close_packet(struct text *t, struct perfetto_packet p)
{
	wire_close(t, p.content);
	wire_close(t, p.packet);
}

/* ---- interned.c ---- */

/* Writes a text as a field, and counts its losses. */
void perfetto_put_text(struct perfetto_state *st, struct text *t, unsigned field, struct slice s);

/* Returns the text, or a repaired copy in st->repaired that lasts until the next call. */
struct slice perfetto_repair(struct perfetto_state *st, struct slice s, unsigned *losses);

/* Returns the iid of a text and counts its losses; 0: no space, write the text where it is used. */
uint32_t perfetto_intern(struct perfetto_state *st, enum perfetto_kind kind, struct slice s);

/* Same as perfetto_intern() for strings of arguments; most get an iid only when they occur again. */
uint32_t perfetto_intern_string(struct perfetto_state *st, struct slice s);
void perfetto_intern_free(struct perfetto_state *st);

#define KEYS_FEW 16

/* The keys of one event or map, as hashes. */
struct perfetto_keys {
	uint64_t few[KEYS_FEW];
	uint32_t n;
	struct table64 many; /* all, if more than KEYS_FEW; ~hash -> last number appended to the name */
	struct arena arena;  /* of names with a number */
};

void perfetto_keys_free(struct perfetto_keys *keys);

/* Writes a key that is unique in `keys` into st->body. */
void perfetto_put_key(struct perfetto_state *st, struct perfetto_keys *keys, struct slice name);

/* Writes the fields of an event as annotations into st->body. */
void perfetto_args(struct perfetto_state *st, const struct batch *b, const struct event *e);

#define PERFETTO_STACKS (1U << 18)
#define PERFETTO_STACK_BYTES (32U << 20)

/* Writes the call stack of an event, if it has one: as a separate packet, or into st->body. */
void perfetto_sample(struct perfetto_state *st, const struct batch *b, const struct event *e);

/* ---- values.c ---- */

#define PERFETTO_DEPTH 100 /* nesting of lists and maps */

/* Writes the value of an annotation into st->body. */
void perfetto_value(struct perfetto_state *st, const struct value *v, unsigned depth);

/* Returns a JSON number as U64, I64 or F64, anything else as VALUE_NONE. */
struct value perfetto_json_number(struct slice s);

/* ---- tracks.c ---- */

bool perfetto_declare_track(struct perfetto_state *st, struct track *t);
void perfetto_put_track(struct perfetto_state *st, const struct track *t);

/* Writes a new track with the same parent, for a span that is async or does not nest.  Returns its uuid. */
uint64_t perfetto_put_extra_track(struct perfetto_state *st, const struct perfetto_track *k,
                                  struct slice name, bool async);

/* Writes a descriptor by which viewers sort processes and threads by rank. */
void perfetto_put_order(struct perfetto_state *st);

/* Writes clocks and facts of the trace. */
void perfetto_put_facts(struct perfetto_state *st, const struct writer *w);

#endif
