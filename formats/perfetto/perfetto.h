#ifndef PERFETTO_PERFETTO_H
#define PERFETTO_PERFETTO_H

#include "base/table.h"
#include "base/slice.h"
#include "format/format.h"
#include "out/known.h"
#include "perfetto/schema/schema.h"

/* Compares two texts.  Inlined for short ones: most names and keys have less than 32 bytes, and a call of
 * memcmp() takes longer than the comparison. */
static inline bool perfetto_equal(struct slice a, struct slice b)
{
	const uint32_t n = a.n;
	uint64_t x, y, differ = 0;
	uint32_t i = 0;

	if (n != b.n)
		return false;
	if (n > 32)
		return memcmp(a.p, b.p, n) == 0;
	if (n < 8) {
		for (; i < n; i++)
			differ |= (uint64_t)(a.p[i] ^ b.p[i]);
		return differ == 0;
	}
	for (; i + 8 < n; i += 8) {
		memcpy(&x, a.p + i, 8);
		memcpy(&y, b.p + i, 8);
		differ |= x ^ y;
	}
	memcpy(&x, a.p + n - 8, 8);
	memcpy(&y, b.p + n - 8, 8);
	return (differ | (x ^ y)) == 0;
}

/* ---- numbers ---- */

/* Numbers of fields are in schema.def. */
enum { TRACE_PACKET = 1 }; /* field of Trace */
enum { MERGE_NONE = 2, ORDER_EXPLICIT = 1 };
enum { UNIT_NS = 1, UNIT_COUNT, UNIT_BYTES };
enum { TYPE_NONE, TYPE_BEGIN, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

/* ---- wire ---- */

/* Protocol buffers.  A message is built in a text; its length is inserted when it is closed. */

static inline char *wire_put(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

/* The same without a loop, for numbers that usually are large, such as times.  Writes 8 bytes or more. */
static inline char *wire_put_large(char *p, uint64_t v)
{
	const unsigned more = (63 - (unsigned)__builtin_clzll(v | 1)) / 7; /* bytes after the first one */

	if (more >= 8)
		return wire_put(p, v);
	v = (v & UINT64_C(0x000000000fffffff)) | (v & UINT64_C(0x00fffffff0000000)) << 4;
	v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x0fffc0000fffc000)) << 2;
	v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x3f803f803f803f80)) << 1;
	v |= UINT64_C(0x8080808080808080) & (((uint64_t)1 << 8 * more) - 1);
	memcpy(p, &v, sizeof v);
	return p + more + 1;
}

static inline unsigned wire_size(uint64_t v)
{
	return (70 - (unsigned)__builtin_clzll(v | 1)) / 7;
}

static inline void wire_number(struct text *t, unsigned field, uint64_t v)
{
	char *p = text_reserve(t, 2 * PF_VARINT_MAX);

	if (p == NULL)
		return;
	p = wire_put(p, PF_TAG(field, PF_VARINT));
	t->n = (size_t)(wire_put(p, v) - t->p);
}

static inline void wire_double(struct text *t, unsigned field, double v)
{
	char *p = text_reserve(t, PF_VARINT_MAX + 8);
	uint64_t bits;

	if (p == NULL)
		return;
	memcpy(&bits, &v, sizeof bits);
	p = wire_put(p, PF_TAG(field, PF_FIXED64));
	for (unsigned shift = 0; shift < 64; shift += 8)
		*p++ = (char)(bits >> shift);
	t->n = (size_t)(p - t->p);
}

/* Writes the tag and length of n bytes that the caller appends. */
static inline void wire_head(struct text *t, unsigned field, size_t n)
{
	char *p = text_reserve(t, 2 * PF_VARINT_MAX);

	if (p == NULL)
		return;
	p = wire_put(p, PF_TAG(field, PF_BYTES));
	t->n = (size_t)(wire_put(p, n) - t->p);
}

static inline void wire_slice(struct text *t, unsigned field, struct slice s)
{
	wire_head(t, field, s.n);
	text_add(t, s.p, s.n);
}

/* Starts a message; returns its position for wire_close(). */
static inline size_t wire_open(struct text *t, unsigned field)
{
	char *p = text_reserve(t, PF_VARINT_MAX + 1);

	if (p == NULL)
		return 0;
	p = wire_put(p, PF_TAG(field, PF_BYTES));
	*p++ = 0;
	t->n = (size_t)(p - t->p);
	return t->n;
}

void wire_close_long(struct text *t, size_t start);

/* Messages below 128 bytes, as most are, are not moved: their length has one byte. */
static inline void wire_close(struct text *t, size_t start)
{
	if (t->failed)
		return;
	if (t->n - start < 0x80)
		t->p[start - 1] = (char)(t->n - start);
	else
		wire_close_long(t, start);
}

enum perfetto_loss {
#define LOSS(row, ...) PERFETTO_##row,
#include "perfetto/losses.def"
#undef LOSS
	PERFETTO_LOSSES
};

extern const struct loss perfetto_losses[PERFETTO_LOSSES + 1];
extern const struct writer_ops perfetto_writer_ops;
extern const struct copier_ops perfetto_copier_ops;
extern const struct recover_ops perfetto_recover_ops;

/* ---- state ---- */

enum perfetto_kind { KIND_CATEGORY, KIND_NAME, KIND_KEY, KIND_STRING, KIND_FUNCTION, KINDS };

#define PERFETTO_MEMO 1024
#define PERFETTO_KNOWN 2048 /* a power of two */

struct perfetto_entry {
	struct slice text;
	uint64_t key_hash; /* of keys: equal for keys that the importer does not distinguish */
	uint8_t changed;   /* bits 1 << enum perfetto_loss, counted at each use */
};

/* Texts that are written once and referred to by number (iid), from 1. */
struct perfetto_table {
	struct tabletext iids;
	struct perfetto_entry *entries;
	uint32_t memo[PERFETTO_MEMO];            /* direct-mapped cache of iids, by a few bytes of the text */
	struct known_text known[PERFETTO_KNOWN]; /* iids too */
	uint32_t n, cap;
	size_t bytes; /* of the texts */
};

struct perfetto_track {
	uint64_t uuid;
	uint64_t parent; /* uuid; lanes of the track have the same parent and name */
	struct slice name;
	uint64_t pid, tid; /* as written */
	uint64_t *ends;    /* of the open spans, the outermost first; OPEN_END: not known */
	uint32_t nends, ends_cap;
	uint64_t instant; /* time of the last instant + 1; 0: none */
};

#define OPEN_END UINT64_MAX
#define LAST_TIME ((uint64_t)INT64_MAX)
#define PERFETTO_CLASSES 64

#define SHAPE_FIELDS 16
#define SHAPES 64

/* Keys for fields of these names. */
struct perfetto_shape {
	uint32_t n;
	struct slice names[SHAPE_FIELDS]; /* keys of the table KIND_KEY */
	const char *stay[SHAPE_FIELDS];   /* the names with SLICE_STAYS; NULL: others */
	uint32_t iids[SHAPE_FIELDS];
};

struct perfetto_state {
	bool signed_time;    /* ts may be before 0; set by open */
	struct chunk *chunk; /* of the current call */
	uint64_t offset;     /* of the current event, for losses */
	uint64_t uuid;       /* of the last track */
	struct text body;    /* of the current track event */
	struct text defs;    /* interned data, for the next track event */
	struct text clean;   /* a repaired text */
	struct arena arena;
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
	struct tabletext stacks; /* frames -> number */
	struct text stack;       /* frames */
	uint64_t stack_bytes;    /* in `stacks` */
	uint32_t nstacks;
	struct {
		const struct class *cls;
		const char *category; /* cls->category.p at that time */
		uint32_t iid;
	} categories[PERFETTO_CLASSES]; /* direct-mapped cache */
	uint32_t arrow_name, arrow_category;
	struct idset arrows; /* ids of those that have a start */
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

void perfetto_lose_all(struct perfetto_state *st, unsigned changed);

/* ---- interned.c ---- */

/* Returns the text, or a repaired copy in st->clean that lasts until the next call.  *changed: bits of
 * losses. */
struct slice perfetto_clean(struct perfetto_state *st, struct slice s, unsigned *changed);

/* Returns the number of a text and counts its losses; 0: no space, write the text where it is used. */
uint32_t perfetto_intern(struct perfetto_state *st, enum perfetto_kind kind, struct slice s);

/* The same for strings of arguments, which usually get a number when they occur again. */
uint32_t perfetto_intern_string(struct perfetto_state *st, struct slice s);
void perfetto_intern_free(struct perfetto_state *st);

#define KEYS_FEW 16

/* The keys of one event or map, as hashes. */
struct perfetto_keys {
	uint64_t few[KEYS_FEW];
	uint32_t n;
	struct table64 many; /* all keys if more than few; and ~hash -> last number appended to the name */
	struct arena arena;  /* of names with a number */
};

void perfetto_keys_free(struct perfetto_keys *keys);

/* Writes a key that is unique in `keys` into st->body. */
void perfetto_put_key(struct perfetto_state *st, struct perfetto_keys *keys, struct slice name);

/* Writes the fields of an event as annotations into st->body. */
void perfetto_args(struct perfetto_state *st, const struct batch *b, const struct event *e);

#define PERFETTO_STACKS (1U << 18)
#define PERFETTO_STACK_BYTES (32U << 20)

/* Writes the call stack of an event, if it has one: as a packet of its own, or into st->body. */
void perfetto_sample(struct perfetto_state *st, const struct batch *b, const struct event *e);

/* ---- values.c ---- */

#define PERFETTO_DEPTH 100 /* nesting of lists and maps */

/* Writes a text as the value of an annotation into st->body. */
void perfetto_text(struct perfetto_state *st, struct slice s);

/* Writes the value of an annotation into st->body. */
void perfetto_value(struct perfetto_state *st, const struct value *v, unsigned depth);

/* Returns the double of the shortest decimal text of a float of 32 bits: 12.6, not 12.600000381469727. */
double perfetto_widen(double v);

/* Returns a JSON number as U64, I64 or F64, anything else as VALUE_NONE. */
struct value perfetto_json_number(struct slice s);

/* ---- tracks.c ---- */

bool perfetto_declare_track(struct perfetto_state *st, struct track *t);
void perfetto_put_track(struct perfetto_state *st, const struct track *t);

/* Writes a new track with the same parent as this one.  Returns its uuid. */
uint64_t perfetto_put_aside(struct perfetto_state *st, const struct perfetto_track *k, struct slice name);
void perfetto_put_order(struct perfetto_state *st);

/* Writes clocks and facts of the trace. */
void perfetto_put_about(struct perfetto_state *st, const struct writer *w);

#endif
