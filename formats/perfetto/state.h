#ifndef PERFETTO_STATE_H
#define PERFETTO_STATE_H

#include "base/idset.h"
#include "base/table.h"
#include "perfetto/fields.h"
#include "perfetto/wire.h"

enum perfetto_loss {
#define LOSS(row, ...) PERFETTO_##row,
#include "perfetto/losses.def"
#undef LOSS
	PERFETTO_LOSSES
};

extern const struct loss perfetto_losses[PERFETTO_LOSSES + 1];
extern const struct writer_ops perfetto_writer_ops;

/* ---- interning ---- */

enum perfetto_kind { KIND_CATEGORY, KIND_NAME, KIND_KEY, KIND_STRING, KIND_FUNCTION, KINDS };

#define PERFETTO_MEMO 1024

struct perfetto_entry {
	struct slice text;
	uint64_t same;   /* keys: a hash, equal for keys that the importer takes for one */
	uint8_t changed; /* 1 << enum perfetto_loss: what is lost each time that it is used */
};

/* Texts that are written once and referred to by number, from 1. */
struct perfetto_table {
	struct tabletext iids;
	struct perfetto_entry *entries;
	uint32_t memo[PERFETTO_MEMO]; /* iids that were used lately, by a few bytes of the text */
	uint32_t n, cap;
	size_t bytes; /* of the texts */
};

/* ---- tracks ---- */

struct perfetto_track {
	uint64_t uuid;
	uint64_t parent;   /* of tracks that stand beside it, in its group ... */
	struct slice name; /* ... and what they are called */
	uint64_t pid, tid; /* as written */
	uint64_t *ends;    /* of the spans that are open, the outermost first; OPEN_END: not known */
	uint32_t nends, ends_cap;
	uint64_t instant; /* time of the last instant + 1; 0: there was none */
};

#define OPEN_END UINT64_MAX
#define LAST_TIME ((uint64_t)INT64_MAX)

#define PERFETTO_CLASSES 64

/* ---- arguments ---- */

#define SHAPE_FIELDS 16
#define SHAPES 64

/* Keys of fields of these names. */
struct perfetto_shape {
	uint32_t n;
	struct slice names[SHAPE_FIELDS]; /* they are the table's, and stay */
	uint32_t iids[SHAPE_FIELDS];
};

struct perfetto_state {
	bool signed_time;       /* ts may be before 0; set by open */
	struct chunk *chunk;    /* of the call that is running */
	struct ledger declared; /* what was lost with new tracks, for the next chunk */
	uint64_t offset;        /* of the event that is being written, for losses */
	uint64_t uuid;          /* of the last track */
	struct text body;       /* of the track event that is being built */
	struct text defs;       /* interned data, for the next track event */
	struct text clean;      /* a repaired text */
	struct arena arena;
	struct perfetto_table tables[KINDS];
	uint32_t *seen;                 /* strings that came once, by hash */
	uint64_t repeats;               /* of strings that have a number */
	uint64_t seed;                  /* of hashes */
	struct perfetto_track **tracks; /* by number */
	uint32_t ntracks, tracks_cap;
	struct table64 pids, tids; /* that are in use */
	uint64_t next_pid, next_tid;
	struct table64 series; /* hash of track, name and key -> series_uuids[] */
	uint64_t *series_uuids;
	uint32_t nseries, series_cap;
	struct tabletext stacks; /* frames -> number */
	struct text stack;       /* frames */
	uint64_t stack_bytes;    /* of those that are remembered */
	uint32_t nstacks;
	struct {
		const struct class *cls;
		const char *category; /* as it was then */
		uint32_t iid;
	} categories[PERFETTO_CLASSES]; /* that were used lately */
	uint32_t arrow_name, arrow_category;
	struct idset arrows; /* ids of those that left */
	struct perfetto_shape shapes[SHAPES];
};

/* A number of a track is what its `declared` points to. */
static inline struct perfetto_track *
perfetto_track_of(const struct perfetto_state *st, const struct track *t)
{
	return st->tracks[*(const uint32_t *)t->declared];
}

static inline void
perfetto_lose(struct perfetto_state *st, enum perfetto_loss what, uint64_t count)
{
	ledger_add(&st->chunk->ledger, &perfetto_losses[what], st->offset, count);
}

void perfetto_lose_all(struct perfetto_state *st, unsigned changed);

/* ---- perfetto_intern.c ---- */

/* The text as it can be written: itself, or what is in st->clean until the next call.  *changed: what was
 * lost. */
struct slice perfetto_clean(struct perfetto_state *st, struct slice s, unsigned *changed);

/* The number of a text; 0: there is no more room, it has to be written where it is used (never for
 * categories and functions that differ in nothing).  What is lost with it is counted. */
uint32_t perfetto_intern(struct perfetto_state *st, enum perfetto_kind kind, struct slice s);

/* Of a key that has no number: see perfetto_entry. */
uint64_t perfetto_hash_key(struct perfetto_state *st, struct slice s);

/* Strings only get a number when they come again. */
uint32_t perfetto_intern_string(struct perfetto_state *st, struct slice s);

void perfetto_intern_free(struct perfetto_state *st);

/* ---- perfetto_value.c ---- */

#define PERFETTO_DEPTH 100 /* of lists and maps in each other */

/* The value of an annotation that is being built in st->body. */
void perfetto_value(struct perfetto_state *st, const struct value *v, unsigned depth);
void perfetto_text_value(struct perfetto_state *st, struct slice s);
void perfetto_empty(struct perfetto_state *st, const char *text);

/* ---- perfetto_json.c ---- */

/* The same of a JSON text. */
void perfetto_json(struct perfetto_state *st, struct slice json, unsigned depth);

/* A number of JSON as a value: U64, I64 or F64; else VALUE_NONE. */
struct value perfetto_json_number(struct slice s);

/* ---- perfetto_keys.c ---- */

/* The keys of one event or map, so far. */
#define KEYS_FEW 16
struct perfetto_keys {
	uint64_t few[KEYS_FEW];
	uint32_t n;
	struct table64 many; /* beyond that: hash; and ~hash -> how often a name was changed */
	struct arena arena;  /* of names that were made */
};

/* A key that no other one of `keys` has: its iid, or 0 and *text is what has to be written. */
uint32_t perfetto_key(struct perfetto_state *st, struct perfetto_keys *keys, struct slice name,
                      struct slice *text);
void perfetto_keys_free(struct perfetto_keys *keys);

/* Writes it into st->body. */
void perfetto_put_key(struct perfetto_state *st, struct perfetto_keys *keys, struct slice name);

/* The fields of an event, as annotations in st->body. */
void perfetto_args(struct perfetto_state *st, const struct batch *b, const struct event *e);

/* ---- perfetto_tracks.c ---- */

bool perfetto_declare_track(struct perfetto_state *st, struct track *t);
void perfetto_put_track(struct perfetto_state *st, const struct track *t);

/* A track beside this one. */
uint64_t perfetto_put_aside(struct perfetto_state *st, const struct perfetto_track *k, struct slice name);
void perfetto_put_order(struct perfetto_state *st);

/* ---- perfetto_events.c ---- */

/* A track event of what is in st->body, which is empty then. */
struct perfetto_event {
	uint64_t ts, track, name, category; /* iids; 0: none */
	unsigned type;
};
void perfetto_put_event(struct perfetto_state *st, const struct perfetto_event *e);

/* A name: its iid, or 0 and it is in st->body. */
uint32_t perfetto_name(struct perfetto_state *st, struct slice name);
uint32_t perfetto_category(struct perfetto_state *st, const struct class *cls);

void perfetto_event(struct perfetto_state *st, const struct batch *b, const struct event *e);

/* Ends of spans that are open at the end of the trace. */
void perfetto_put_ends(struct perfetto_state *st);

/* ---- perfetto_counter.c ---- */

void perfetto_counter(struct perfetto_state *st, const struct batch *b, const struct event *e);

/* ---- perfetto_stack.c ---- */

#define PERFETTO_STACKS (1U << 18)
#define PERFETTO_STACK_BYTES (32U << 20)

/* The call stack of an event, if it has one: a packet of its own, or a part of the event that st->body is to
 * become. */
void perfetto_sample(struct perfetto_state *st, const struct batch *b, const struct event *e);

/* ---- perfetto_about.c ---- */

/* Clocks and facts of the trace. */
void perfetto_put_about(struct perfetto_state *st, const struct writer *w);

#endif
