#ifndef HTDUMP_HTDUMP_H
#define HTDUMP_HTDUMP_H

/*
 * Private header of HawkTracer dumps (.htdump; "HTDUMP format design").
 *
 * A dump is a sequence of records: a head of 20 bytes (class id, time, event id), then the fields of the
 * class.  Earlier records of classes 2 and 3 describe the class.  Records have neither a length nor a mark to
 * resynchronise on.  Two layouts exist: "wire", written by every HawkTracer, and "document", printed in the
 * design document.  They differ in the order of the head and in the numbers of the data types.
 *
 * read.c frames a record by the plan of its class, which classes.c unfolds from its description, and applies
 * structure; events.c makes its event.  Plain records that are validated, or whose events need no fields,
 * pass fast.c instead.
 *
 *   read.c           the row of the format, rules, detection of the layout; framing and checks of one record;
 *                    structure records
 *   recover.c        recovery
 *   fast.c           plain records that are validated, or events without fields
 *   classes.c        class descriptions, and their unfolding into flat lists of fields
 *   events.c         roles of fields, label names, tracks, interpreted events
 *   raw.c            fields of raw records, the copier
 *   write.c          events of any format as records
 *   write_classes.c  the classes of these records
 */

#include <inttypes.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/numbers.h"
#include "base/table.h"
#include "format/format.h"
#include "format/recover.h"
#include "model/event_traits.h"
#include "out/kind.h"
#include "out/shape.h"
#include "out/tracks.h"

/* ---- bytes ---- */

#define HT_HEAD_SIZE 20  /* bytes */
#define HT_HEAD_FIELDS 3 /* class id, time in ns, event id */

/* Offsets in the head. */
static inline uint32_t ht_class_id_at(bool wire)
{
	return wire ? 0 : 16;
}

static inline uint32_t ht_time_at(bool wire)
{
	return wire ? 4 : 0;
}

static inline uint32_t ht_event_id_at(bool wire)
{
	return wire ? 12 : 8;
}

/* Class ids fixed by the format. */
enum {
	HT_CLASS_ENDIANNESS = 0,
	HT_CLASS_EVENT = 1,
	HT_CLASS_INFO = 2,
	HT_CLASS_FIELD = 3,
	HT_BUILTIN_CLASSES = 4
};

/* EndiannessInfoEvent: a head and one byte, 0 for little endian, 1 for big endian. */
#define HT_ENDIANNESS_SIZE (HT_HEAD_SIZE + 1)

/* DataType as the document numbers it.  The wire counts from 1, and uses 99 for unsigned integers. */
enum ht_type {
	HT_STRUCT,
	HT_STRING,
	HT_INTEGER,
	HT_FLOAT,
	HT_DOUBLE,
	HT_POINTER,
	HT_UNSIGNED,
	HT_TYPE_UNKNOWN, /* undefined number, or a size that the type cannot have: read as bytes */
};
#define HT_WIRE_UNSIGNED 99

/* Limits on hostile input, far above real traces. */
#define HT_MAX_LINE (4U << 20)    /* bytes of a line of a label map */
#define HT_FAST_RECORD (8U << 20) /* the fast path reads no record longer than this */
#define HT_MAX_CLASSES 65536U
#define HT_MAX_FIELDS 262144U /* fields of all classes */
#define HT_MAX_LEAVES 262144U /* unfolded fields of all used classes */
#define HT_MAX_UNFOLD 16384U  /* fields visited to unfold one class */
/* Fields visited to unfold all classes.  One more is allowed per two bytes read: concatenated files repeat
 * their descriptions. */
#define HT_MAX_UNFOLDS (2U << 20)
#define HT_MAX_OPAQUE 65536U /* bytes of a field of unknown type */
#define HT_DIRECT 64U        /* class ids below this are array indexes */
#define HT_MAX_MAPPINGS 262144U
#define HT_MAX_DESCRIBED (16U << 20)   /* bytes charged for all descriptions: names, plus ... */
#define HT_TEXT_COST 16U               /* ... per name ... */
#define HT_CLASS_COST 128U             /* ... and per class */
#define HT_MAX_LABEL_BYTES (16U << 20) /* bytes of all label names */

/* ---- rules ---- */

enum ht_rule {
#define RULE(name, id, level, text, spec, explain) HT_RULE_##name,
#include "htdump/rules.def"
#undef RULE
	HT_RULE_COUNT
};

extern const struct rule ht_rules[HT_RULE_COUNT + 1]; /* terminated by a NULL id */

/* ---- classes and plans ---- */

/* A field as a record of class 3 describes it.  Names are in the trace's arena. */
struct ht_field {
	struct slice name, type_name;
	uint64_t size; /* bytes; of structs and strings: size in the writer's memory */
	uint8_t type;  /* enum ht_type */
};

enum ht_kind {
	HT_KIND_EVENT,
	HT_KIND_ENDIANNESS,
	HT_KIND_INFO,
	HT_KIND_FIELD,
	HT_KIND_MAPPING,   /* names a label */
	HT_KIND_SYSTEM,    /* version of a component */
	HT_KIND_STRUCTURE, /* other structure, by the vocabulary */
	HT_KIND_BASE       /* HT_Event: a head without fields */
};

struct ht_class {
	struct class *cls;
	struct slice name;
	uint32_t id;
	uint32_t nfields, fields_cap;
	struct ht_field *fields;  /* owned */
	uint8_t declared;         /* field_count of the class info */
	uint8_t kind;             /* enum ht_kind */
	struct slice version;     /* HT_KIND_SYSTEM: name of the component */
	bool used;                /* a record of the class, or of one that contains it, was read */
	bool counted;             /* its fields were compared with `declared` */
	bool unfolding;           /* on the current path of ht_unfold() */
	bool rechecking;          /* described again: field infos are compared with fields[] ... */
	bool renewing;            /* ... and may differ, since a later stream describes the class */
	uint32_t recheck;         /* index of the next field to compare */
	uint64_t stream;          /* ht_classes.stream when it was described */
	uint64_t offset, ordinal; /* of its class info */
	struct ht_plan *plan;     /* owned; NULL before the first record */
};

struct ht_classes {
	struct ht_class **list; /* in order of arrival; owned */
	uint32_t n, cap;
	struct table64 by_id;               /* class id -> list[] */
	struct tabletext by_name;           /* class name -> list[] */
	struct ht_class *direct[HT_DIRECT]; /* by id, for speed */
	uint64_t stream;                    /* EndiannessInfoEvents after the first: concatenated files */
	uint32_t fields, leaves;            /* in use, of all classes */
	uint32_t declared_fields;           /* total charged for struct class, at most HT_MAX_LEAVES */
	struct reader_charges described;    /* charged against HT_MAX_DESCRIBED ... */
	uint64_t max_name;                  /* ... and for long names */
	uint64_t visited;                   /* fields visited by ht_unfold() */
	bool has_mapping;                   /* a class that names labels was described */
	/* scratch of ht_unfold(): leaves of a class, and their paths */
	struct ht_leaf *unfolded;
	struct slice *unfolded_paths;
	uint32_t unfolded_cap, unfolded_paths_cap;
};

/* A field of an unfolded class: bases first, structs expanded in place. */
struct ht_leaf {
	struct slice name; /* unique in the class; "struct.member" for members */
	uint8_t value;     /* enum value_type */
	bool member;       /* of a struct */
	uint16_t block;    /* index of its block */
	uint32_t at;       /* offset in the block */
	uint32_t size;     /* bytes; 0 for a string */
};

/* Adjacent fields of fixed size, and the string that ends them. */
struct ht_block {
	uint32_t fixed;  /* bytes */
	uint32_t string; /* 1: a string follows */
};

#define HT_NO_LEAF UINT32_MAX

/* Plan to read records of a class; built at the first record. */
struct ht_plan {
	struct ht_leaf *leaves; /* the allocation, which contains the other arrays */
	struct slice *paths;    /* names of the leaves before they were made unique; NULL unless raw */
	struct ht_block *blocks;
	uint32_t *args; /* leaves that become fields of the event */
	uint32_t nleaves, nblocks, nargs;
	/* Leaves with a role, or HT_NO_LEAF.  `name` is a string, the others are integers; `label` is the
	 * number of a name, `identifier` the number that gets a name in a mapping record. */
	uint32_t duration, thread, label, name, identifier;
};

/* ---- state of the reader ---- */

/* Source of a label's name, by increasing priority. */
enum ht_label_source {
	HT_LABEL_MAP_FILE, /* --label-map */
	HT_LABEL_AHEAD,    /* mapping record found by the look-ahead pass */
	HT_LABEL_RECORD,   /* mapping record before the current one */
};

struct ht_label {
	struct slice text;
	uint64_t identifier;
	enum ht_label_source source;
};

/* Texts of labels.  Batches hold a reference and may outlive the reader, so texts never move or change. */
struct ht_label_texts {
	struct shared_memory shared;
	struct arena arena;
};

struct ht_labels {
	struct table64 index; /* identifier -> list[] */
	struct ht_label *list;
	uint32_t n, cap;
	struct reader_charges bytes;  /* of all texts, replaced ones included */
	bool full;                    /* some label was dropped */
	struct ht_label_texts *texts; /* one reference; NULL before the first label */
	bool shared;                  /* labels are also definitions of the trace, for the engine ... */
	uint8_t table;                /* ... in this table */
	bool looked_ahead;
	bool one_pass;                   /* the look-ahead failed: the input can be read only once */
	struct finding_tally unresolved; /* uses of labels without a name; now: the label */
};

struct ht_tracks {
	const struct track *process;
	struct table64 threads; /* thread id -> trace.tracks[] */
	uint64_t last_id;
	const struct track *last;     /* track of last_id; NULL before the first */
	const struct track *overflow; /* shared by all threads beyond TRACE_MAX_TRACKS */
};

struct ht_state {
	struct reader *r;
	struct ht_state *ahead_of; /* look-ahead pass: mappings are added to that state */
	bool raw;                  /* WANT_RAW */
	bool wire;                 /* layout; else document */
	bool big;                  /* current byte order */
	bool guess_big;            /* order that fits the second record, if the first one states none */

	struct ht_classes classes;
	struct ht_labels labels;
	struct ht_tracks tracks;

	/* Current record. */
	struct ht_class *c;
	uint64_t id, dur;    /* dur: ns; 0 unless a span */
	bool bad_text;       /* a string is not UTF-8 */
	const char **starts; /* start of each block; measure_record() fills this and `strings` */
	struct slice *strings;
	uint32_t blocks_cap;
	struct slice label_name; /* p NULL: no label, or no name */

	struct idset ids;
	struct finding_tally id_repeated;

	/* A record longer than --max-record, which is skipped in pieces. */
	struct ht_long {
		bool open;
		bool rest;      /* to the end of the input, which cannot be read without the record */
		bool in_string; /* within a string: its NUL follows */
		uint32_t block;
		uint64_t fixed; /* bytes before the string of the block, or before the end */
		uint64_t offset, ordinal, size;
	} long_record;
};

/* ---- read.c ---- */

/* Reports a finding at the start of a record. */
#define ht_report(st, rule, rec, ...)                                                                        \
	READER_FIND((st)->r->findings, &ht_rules[rule], (rec)->offset, (rec)->ordinal, __VA_ARGS__)

/* Same as reader_ops.probe; also sets the layout and the byte order that the second record fits. */
int ht_probe_layout(struct slice head, bool complete, bool *wire, bool *big);

#define HT_PROBE_BYTES 65536U /* bytes searched for the layout; the engine probes as many for the format */
#define HT_PROBE_NAME 256     /* bytes of a name that are looked at */
#define HT_PROBE_ORDERS (64 * HT_ENDIANNESS_SIZE) /* bytes of EndiannessInfoEvents in a row */

/* Reserves memory for the n blocks of a record. */
bool ht_state_reserve(struct ht_state *st, uint32_t n);

/* ---- the members of the format's row ---- */

/* reader_ops.event, .fields, .run */
void ht_make_event(struct reader *r, const struct record *rec, struct batch *b, struct event *e);
void ht_fields(struct reader *r, const struct record *rec, struct batch *b, struct event *e);
bool ht_run(struct reader *r, const char *limit, struct batch *b);

extern const struct recover_ops ht_recover_ops;
extern const struct writer_ops htw_ops;
extern const struct copier_ops htw_copier_ops;

/* ---- classes.c ---- */

bool ht_classes_init(struct ht_state *st);
void ht_classes_free(struct ht_classes *all);
struct ht_class *ht_class_find_slow(const struct ht_classes *all, uint32_t id);

static inline struct ht_class *ht_class_find(const struct ht_classes *all, uint32_t id)
{
	return id < HT_DIRECT ? all->direct[id] : ht_class_find_slow(all, id);
}

enum ht_type ht_type_of(uint8_t code, bool wire);

/* Apply a class info or field info record. */
void ht_describe_class(struct ht_state *st, const struct record *rec);
void ht_describe_field(struct ht_state *st, const struct record *rec);

/* Ends a description at the first record of the class, or of a class that contains it: fields not described
 * again are dropped. */
void ht_describe_end(struct ht_state *st, struct ht_class *c);

/* Checks, at the end of the input, the classes that no event was of or contained. */
void ht_check_unused(struct ht_state *st);

/* Fills leaves, paths and blocks of a plan.  Returns false after a finding or on OOM; the plan may be partly
 * filled. */
bool ht_unfold(struct ht_state *st, const struct record *rec, struct ht_plan *plan);
void ht_plan_free(struct ht_plan *plan); /* NULL is allowed */

/* ---- events.c ---- */

/* Builds the plan of the class of `rec`, its first record.  Returns false after a finding or on OOM. */
bool ht_class_prepare(struct ht_state *st, const struct record *rec);

/* Whether a class of this name may name labels. */
bool ht_may_map_labels(const struct ht_state *st, struct slice name);

/* Reads a --label-map file.  Returns false after a finding or on OOM. */
bool ht_label_map_read(struct ht_state *st, const char *path);

/* Adds the name of a label.  rec: the mapping record; NULL: a label map. */
void ht_label_add(struct ht_state *st, uint64_t identifier, struct slice text, enum ht_label_source source,
                  const struct record *rec);

/* Returns the name of a label; p is NULL if it has none, which is counted.  May run the look-ahead pass. */
struct slice ht_label_find(struct ht_state *st, uint64_t identifier, const struct record *rec);
void ht_labels_free(struct ht_labels *all);

/* Finds or adds the track of a thread; NULL on OOM.  rec: its record, for findings. */
const struct track *ht_track_find(struct ht_state *st, uint64_t id, const struct record *rec);

static inline const struct track *ht_track_of(struct ht_state *st, uint64_t id, const struct record *rec)
{
	const struct ht_tracks *const all = &st->tracks;

	if (all->last != NULL && all->last_id == id)
		return all->last;
	const struct record copy = *rec; /* that of the caller stays in registers */
	return ht_track_find(st, id, &copy);
}

/* ---- raw.c ---- */

extern const struct class_field ht_head_fields[2][HT_HEAD_FIELDS]; /* [wire], in file order */

/* ---- values of the current record ---- */

static inline struct slice ht_leaf_string(const struct ht_state *st, const struct ht_leaf *l)
{
	return st->strings[l->block];
}

/* Returns the type of a leaf in raw events, which gives the width: an address of 4 bytes is a u32. */
static inline uint8_t ht_leaf_raw_type(const struct ht_leaf *l)
{
	return l->value == VALUE_ADDRESS && l->size == 4 ? VALUE_U32 : l->value;
}

/* Returns the value of an integer or address leaf, sign-extended if signed; for a double, its bits. */
static inline uint64_t ht_leaf_integer(const struct ht_state *st, const struct ht_leaf *l)
{
	const char *const p = st->starts[l->block] + l->at;

	switch (l->value) {
	case VALUE_U8:
		return (uint8_t)*p;
	case VALUE_I8:
		return (uint64_t)(int64_t)(int8_t)*p;
	case VALUE_U16:
		return load_u16(p, st->big);
	case VALUE_I16:
		return (uint64_t)(int64_t)(int16_t)load_u16(p, st->big);
	case VALUE_U32:
		return load_u32(p, st->big);
	case VALUE_I32:
		return (uint64_t)(int64_t)(int32_t)load_u32(p, st->big);
	case VALUE_ADDRESS:
		return l->size == 4 ? load_u32(p, st->big) : load_u64(p, st->big);
	default:
		return load_u64(p, st->big);
	}
}

static inline bool ht_leaf_is_signed(const struct ht_leaf *l)
{
	return l->value >= VALUE_I8 && l->value <= VALUE_I64;
}

/* Returns the duration of a span that begins at ts: 0 if the integer of the leaf is negative; cut if the span
 * would end after 2^64. */
static inline uint64_t ht_span_duration(const struct ht_leaf *l, uint64_t integer, uint64_t ts)
{
	if (integer >> 63 != 0 && ht_leaf_is_signed(l))
		return 0;
	return integer > UINT64_MAX - ts ? UINT64_MAX - ts : integer;
}

/* Converts the bits of a float.  NaNs are converted by hand: processors make signalling NaNs quiet. */
double ht_double_of_f32(uint32_t bits);

static inline struct value ht_leaf_value(const struct ht_state *st, const struct ht_leaf *l)
{
	const char *const p = st->starts[l->block] + l->at;
	struct value v = { .type = l->value };

	switch (l->value) {
	case VALUE_STRING:
		return value_string(ht_leaf_string(st, l));
	case VALUE_BYTES:
		v.p = p;
		v.count = l->size;
		return v;
	case VALUE_F32:
		v.f64 = ht_double_of_f32(load_u32(p, st->big));
		return v;
	default:
		v.u64 = ht_leaf_integer(st, l);
		return v;
	}
}

/* ---- writer: classes, state ---- */

/* Records of a .htdump are copied; --rebase changes their times.  Events of other formats become records of
 * HawkTracer classes, in the wire layout, little endian. */

/* Class ids of the output.  0 to 8 are those of HawkTracer 0.11, the others those of tracetool. */
enum htw_class_id {
	HTW_ID_ENDIANNESS,
	HTW_ID_EVENT,
	HTW_ID_CLASS_INFO,
	HTW_ID_FIELD_INFO,
	HTW_ID_SPAN_BASE,
	HTW_ID_SPAN_INT,
	HTW_ID_SPAN, /* HT_CallstackStringEvent: base of all spans */
	HTW_ID_MAPPING,
	HTW_ID_SYSTEM,
	HTW_ID_INSTANT, /* tracetool_Event: base of all other events */
	HTW_ID_ARROW,   /* tracetool_Arrow: base of both ends of arrows */
	HTW_ID_TRACK,
	HTW_ID_CLASS,
	HTW_ID_FACT,
	HTW_ID_OTHER_SPAN, /* the three bases above, with all fields in one text */
	HTW_ID_OTHER_INSTANT,
	HTW_ID_OTHER_ARROW,
	HTW_ID_FREE /* first id for classes of the trace */
};

/* Steps of arrows are written as ends of arrows, which is a loss. */
static inline enum event_kind htw_kind_of(const struct event *e)
{
	const enum event_kind kind = event_kind(e);

	return kind == EVENT_KIND_ARROW_STEP ? EVENT_KIND_ARROW_IN : kind;
}

/* Limits, so that memory does not grow with the trace, and readers with limits like HT_MAX_* accept the
 * output.  An event beyond the limits has its fields in one text. */
#define HTW_MAX_CLASSES 32768U
#define HTW_MAX_FIELDS 131072U        /* fields of all classes together */
#define HTW_MAX_DESCRIBED (12U << 20) /* bytes that a reader is charged for all descriptions */
#define HTW_CLASS_FIELDS 250U         /* fields of one class: field_count has 8 bits */
#define HTW_MAX_TEXT ((4U << 20) - 1)
#define HTW_MAX_RECORD ((8U << 20) - 8192U) /* bytes of all texts of one event, without numbers */

/* A class of the output: events of the same class and kind, with the same names and types of fields. */
struct htw_layout {
	struct shape shape; /* kind: enum event_kind; types of members: enum value_type */
	uint32_t id;
	bool renamed;            /* its name in the output differs */
	uint32_t renamed_fields; /* members whose names differ */
};

struct htw_track {
	uint32_t number; /* thread_id */
	bool numbered;
	bool described; /* its record was written */
	bool changed;   /* readers show another number */
};

struct htw_state {
	bool signed_time;
	struct chunk *chunk; /* the output */
	uint64_t offset;     /* of the current event in the input */
	uint32_t left;       /* bytes left for the texts of the current record */
	struct arena arena;
	struct htw_track *tracks; /* by index of the trace's track */
	uint32_t ntracks;
	struct shapes shapes;         /* struct htw_layout */
	struct track_numbers numbers; /* thread_ids */
	uint64_t next_id;             /* id of the next record */
	uint64_t last_ts;
	struct text scratch;
};

enum htw_loss {
#define LOSS(row, ...) HTW_##row,
#include "htdump/losses.def"
#undef LOSS
	HTW_LOSSES
};

extern const struct loss htw_losses[HTW_LOSSES + 1];

/* ---- writer: records (write.c) ---- */

/* Adds a number of 1, 2, 4 or 8 bytes. */
static inline void htw_number(const struct htw_state *st, uint64_t v, unsigned size)
{
	text_uint(&st->chunk->text, v, size, false);
}

/* Slow path of htw_text(): checks the bytes, and cuts the text if it is too long. */
void htw_text_checked(struct htw_state *st, struct slice s);

/* Adds a text, cut to the space left, and its NUL. */
static inline void htw_text(struct htw_state *st, struct slice s)
{
	struct text *const t = &st->chunk->text;
	char *p;

	if ((s.flags & SLICE_JSON) == 0 || s.n > HTW_MAX_TEXT || s.n > st->left) {
		htw_text_checked(st, s);
		return;
	}
	p = text_reserve(t, (size_t)s.n + 1);
	if (p == NULL)
		return;
	p = text_put(p, s.p, s.n);
	*p = '\0';
	t->n += (size_t)s.n + 1;
	st->left -= s.n;
}

/* Adds the head of a record; its fields follow.  After OOM (text.failed) nothing more is added. */
void htw_begin(struct htw_state *st, uint32_t class_id);

/* ---- writer: classes (write_classes.c) ---- */

/* Writes the start of every output: the byte order, and the classes up to HTW_ID_FREE. */
void htw_prologue(struct htw_state *st);

/* Returns the layout of an event; writes its description if it is new.  Events beyond the
 * limits have the layout HTW_ID_OTHER_*. */
const struct htw_layout *htw_layout_of(struct htw_state *st, const struct batch *b, const struct event *e);

#endif
