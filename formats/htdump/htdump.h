#ifndef HTDUMP_HTDUMP_H
#define HTDUMP_HTDUMP_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/table.h"
#include "base/slice.h"
#include "format/format.h"
#include "out/shape.h"
#include "out/tracks.h"
#include "format/recover.h"
#include "model/event_traits.h"

/* ---- wire ---- */

/*
 * Facts of the bytes.  "wire" is what every HawkTracer writes, "document" is
 * what the format's design document prints; they differ in the order of the first
 * 20 bytes and in the numbers of the data types.
 */

/* Every event starts with the base event: class id, time in ns, event id ("Base event class"). */
#define HT_HEAD_SIZE 20

/* Class ids known in advance. */
enum {
	HT_CLASS_ENDIANNESS = 0,
	HT_CLASS_EVENT = 1,
	HT_CLASS_INFO = 2,
	HT_CLASS_FIELD = 3,
	HT_BUILTIN_CLASSES = 4
};

/* A complete EndiannessInfoEvent: head and one byte, 0 little, 1 big ("Endianness"). */
#define HT_ENDIANNESS_SIZE (HT_HEAD_SIZE + 1)

/* DataType in the document layout; the wire counts from 1 and gives unsigned integers 99. */
enum ht_type {
	HT_STRUCT,
	HT_STRING,
	HT_INTEGER,
	HT_FLOAT,
	HT_DOUBLE,
	HT_POINTER,
	HT_UNSIGNED,
	HT_TYPE_UNKNOWN, /* or a size that its type cannot have: so many bytes */
};

#define HT_WIRE_UNSIGNED 99

static inline enum ht_type ht_type_of(uint8_t code, int wire)
{
	if (!wire)
		return code <= HT_UNSIGNED ? (enum ht_type)code : HT_TYPE_UNKNOWN;
	if (code == HT_WIRE_UNSIGNED)
		return HT_UNSIGNED;
	return code >= 1 && code <= HT_POINTER + 1 ? (enum ht_type)(code - 1) : HT_TYPE_UNKNOWN;
}

/* Bounds of this program, far above what a real trace holds, so that hostile input costs little. */
#define HT_MAX_STRING (4U << 20) /* bytes before the NUL */
#define HT_MAX_RECORD (8U << 20) /* bytes of a record before its last string */
#define HT_NEXT_BYTES (1U << 20) /* of records that one batch is made of, and one record more */
#define HT_MAX_CLASSES 65536U
#define HT_MAX_FIELDS 262144U /* of all classes together */
#define HT_MAX_LEAVES 262144U /* fields of all used classes together, bases and structs unfolded */
#define HT_MAX_UNFOLD 16384U  /* fields visited while one class is unfolded */

/* Fields visited while all classes are unfolded: this many, and one more for every two bytes that were read,
 * as files that are appended to each other describe their classes again and again. */
#define HT_MAX_UNFOLDS (2U << 20)
#define HT_MAX_OPAQUE 65536U /* size of a field whose type is not known */
#define HT_DIRECT 64U        /* class ids below this are looked up without hashing */
#define HT_MAX_MAPPINGS 262144U
#define HT_MAX_DESCRIBED (16U << 20)   /* bytes that all descriptions together cost */
#define HT_TEXT_COST 16U               /* what a text costs besides its bytes */
#define HT_CLASS_COST 128U             /* what a class costs besides its name */
#define HT_BATCH_FIELDS 65536U         /* a batch with so many fields is full */
#define HT_MAX_LABEL_BYTES (16U << 20) /* of all mapped labels together */

/* ---- finding ---- */

enum ht_rule {
#define RULE(name, id, level, text, spec, explain) HT_RULE_##name,
#include "htdump/rules.def"
#undef RULE
	HT_RULE_COUNT
};

extern const struct rule ht_rules[HT_RULE_COUNT + 1]; /* ended by an id of NULL */

struct ht_record;
struct ht_state;

/* Reports a finding at the start of a record. */
void ht_finding_add(struct ht_state *st, enum ht_rule rule, const struct ht_record *rec, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether the next finding of a rule will be shown: else its message need not be made. */
bool ht_finding_is_shown(const struct ht_state *st, enum ht_rule rule);

/* ---- class ---- */

struct ht_plan;
struct ht_state;

/* A field as a record of class 3 describes it. */
struct ht_field {
	struct slice name, type_name; /* in the trace's arena */
	uint64_t size;
	uint8_t type; /* enum ht_type */
};

enum ht_kind {
	HT_KIND_EVENT,
	HT_KIND_ENDIANNESS,
	HT_KIND_INFO,
	HT_KIND_FIELD,
	HT_KIND_MAPPING,
	HT_KIND_SYSTEM,
	HT_KIND_STRUCTURE,
	HT_KIND_BARE /* the base of all classes: nothing but the head of a record */
};

struct ht_class {
	struct class *cls;
	struct slice name;
	uint32_t id;
	uint32_t nfields, fields_cap;
	struct ht_field *fields; /* owned (malloc) */
	uint8_t declared;        /* field_count of its class info */
	uint8_t kind;            /* enum ht_kind */
	struct slice version;    /* of HT_KIND_SYSTEM: what the version that it holds is called */
	bool used;               /* an event of it was read */
	bool unfolding;          /* on the path while a class is unfolded */
	bool rechecking;         /* described again: field infos are compared ... */
	bool renewing;           /* ... by a later stream, which may describe it otherwise */
	uint32_t recheck;        /* the next field to compare */
	uint64_t stream;         /* after how many further EndiannessInfoEvents it was described */
	struct ht_plan *plan;    /* owned; NULL until used */
};

struct ht_classes {
	struct ht_class **list; /* in order of arrival; owned */
	uint32_t n, cap;
	struct table64 by_id;               /* class id -> list[] */
	struct tabletext by_name;           /* class name -> list[] */
	struct ht_class *direct[HT_DIRECT]; /* classes of small ids, for speed */
	uint64_t stream;                    /* EndiannessInfoEvents after the first event: files appended */
	uint32_t fields, leaves;            /* of all classes together */
	uint32_t declared_fields;           /* in struct class, of all classes ever, with what a
	                                       class costs; at most HT_MAX_LEAVES */
	uint32_t described_bytes;           /* of all descriptions; at most HT_MAX_DESCRIBED */
	uint64_t visited;                   /* fields, while classes were unfolded */
	bool has_mapping;                   /* a string mapping class was described */
};

/* The built-in classes.  false: no memory. */
bool ht_classes_init(struct ht_state *st);
void ht_classes_free(struct ht_classes *all);
struct ht_class *ht_class_find_far(const struct ht_classes *all, uint32_t id);

static inline struct ht_class *ht_class_find(const struct ht_classes *all, uint32_t id)
{
	return id < HT_DIRECT ? all->direct[id] : ht_class_find_far(all, id);
}

/* ---- label ---- */

struct ht_record;
struct ht_state;

/* Where the name of an integer label comes from; the later in this list, the better. */
enum ht_label_source {
	HT_LABEL_MAP_FILE, /* --label-map */
	HT_LABEL_AHEAD,    /* found by looking ahead */
	HT_LABEL_MET,      /* a mapping that stands before this place */
};

struct ht_label {
	struct slice text;
	uint64_t identifier;
	enum ht_label_source source;
};

/* The texts of labels.  Batches hold them, and may outlive the reader; none moves or changes. */
struct ht_texts {
	struct shared_memory shared;
	struct arena arena;
};

/* Integer labels and their names. */
struct ht_labels {
	struct table64 index; /* identifier -> list[] */
	struct ht_label *list;
	uint32_t n, cap;
	uint32_t bytes;         /* of all texts */
	struct ht_texts *texts; /* one reference; NULL: there are none yet */
	bool shared;   /* they are definitions of the trace too, for rules that the engine applies ... */
	uint8_t table; /* ... in this table */
	bool looked_ahead;
	bool one_pass;                   /* it was tried, but the input can be read only once */
	struct finding_tally unresolved; /* uses of labels without a name; now: the label */
};

void ht_labels_free(struct ht_labels *all);

/* Adds a name; rec is the mapping's record (NULL: from a file).  No memory: the state remembers. */
void ht_label_add(struct ht_state *st, uint64_t identifier, struct slice text, enum ht_label_source source,
                  const struct ht_record *rec);

/* The name, or p NULL (counted).  Looks ahead in the input when needed and possible. */
struct slice ht_label_find(struct ht_state *st, uint64_t identifier, const struct ht_record *rec);

/* ---- state ---- */

/* Threads as tracks. */
struct ht_tracks {
	const struct track *process;
	struct table64 threads; /* thread id -> trace.tracks[] */
	uint64_t last_id;
	const struct track *last; /* the track of last_id; NULL: none was asked for yet */
	const struct track *more; /* for all that is beyond the limit */
};

/* What the reader knows; one for each input. */
struct ht_state {
	struct reader *r;
	struct ht_state *ahead_of; /* this is a look-ahead pass: mappings go to that state */
	bool no_memory;            /* memory is out: reading ends with this record */
	bool raw;                  /* raw events are wanted, */
	bool runs;                 /* or the first, and runs of those that follow it */
	bool wire;                 /* else document */
	bool big;
	bool guess_big; /* the order that the second event fits, should the first not state it */
	bool any_event; /* a record was read */

	struct ht_classes classes;
	struct ht_labels labels;
	struct ht_tracks tracks;

	/* where the parts of the present record lie: for each run its start and its string */
	const char **starts;
	struct slice *strings;
	uint32_t runs_cap;
	struct slice label_name; /* of its integer label; p NULL: it has none */

	struct idset ids;
	struct finding_tally id_repeated;
};

/* Room for the parts of a record of n runs.  false: no memory. */
bool ht_state_reserve(struct ht_state *st, uint32_t n);

/* ---- plan ---- */

/* A field of the unfolded class: bases first, structs in their place. */
struct ht_leaf {
	struct slice name; /* unique in its class; members of a struct are "struct.member" */
	uint8_t value;     /* enum value_type */
	bool member;       /* of a struct */
	uint16_t run;      /* which run of fixed-size fields it lies in ... */
	uint32_t at;       /* ... and where; strings end their run */
	uint32_t size;     /* bytes; 0 for a string */
};

/* Fields of fixed size one behind the other, and whether a string follows them. */
struct ht_run {
	uint32_t fixed; /* bytes */
	uint32_t string;
};

#define HT_NO_LEAF UINT32_MAX

/* What is known of the records of a class; made when the first one comes. */
struct ht_plan {
	struct ht_leaf *leaves;
	struct slice *paths; /* names of the leaves before they were made unique */
	struct ht_run *runs;
	uint32_t *args; /* the leaves that become fields of the event */
	uint32_t nleaves, nruns, nargs;
	/* Leaves with a role, or HT_NO_LEAF: numbers but for `name`; `label` is looked up for a name. */
	uint32_t duration, thread, label, name, identifier;
	uint8_t want;       /* enum want: who wants its events */
	bool always_fields; /* even if nobody wants fields */
};

/* enum value_type of a leaf in raw events, where it gives the width: an address of 4 bytes is a number. */
static inline uint8_t ht_leaf_raw_type(const struct ht_leaf *l)
{
	return l->value == VALUE_ADDRESS && l->size == 4 ? VALUE_U32 : l->value;
}

static inline bool ht_leaf_is_integer(const struct ht_leaf *l)
{
	return l->value >= VALUE_U8 && l->value <= VALUE_I64;
}

/* ---- record ---- */

/* What came of one record. */
enum ht_outcome {
	HT_DONE,
	HT_MORE, /* the window ends inside the record */
	HT_BAD,  /* nothing after this place can be trusted; see the finding */
};

/* One record where it lies. */
struct ht_record {
	const char *p, *end; /* all of its bytes */
	uint64_t ts, id;
	uint64_t dur; /* spans only, else 0 */
	uint64_t offset, ordinal;
	struct ht_class *c;
	bool bad_text; /* a string is not UTF-8 */
};

/* The fields of the head, in file order. */
#define HT_HEAD_FIELDS 3

extern const struct class_field ht_head_fields[2][HT_HEAD_FIELDS]; /* [wire] */

/* Reports that the class of a record is not known. */
void ht_record_report_class(struct ht_state *st, const struct ht_record *rec, uint32_t klass);

/* Reads the head of the record at rec->p.  false: its class is not known, which was reported. */
static inline bool ht_record_head(struct ht_state *st, struct ht_record *rec)
{
	const uint32_t klass = load_u32(rec->p + (st->wire ? 0 : 16), st->big);

	rec->c = ht_class_find(&st->classes, klass);
	if (rec->c == NULL) {
		ht_record_report_class(st, rec, klass);
		return false;
	}
	rec->ts = load_u64(rec->p + (st->wire ? 4 : 0), st->big);
	rec->id = load_u64(rec->p + (st->wire ? 12 : 8), st->big);
	return true;
}

/* Finds the parts of a record behind its head, which go to the state.  HT_BAD: it is longer than the bounds
 * allow.  What does not fit, ht_record_report_cut finds out. */
static inline enum ht_outcome ht_record_measure(struct ht_state *st, struct ht_record *rec, const char *end)
{
	const struct ht_plan *const plan = rec->c->plan;
	const char *p = rec->p + HT_HEAD_SIZE;

	for (uint32_t i = 0; i < plan->nruns; i++) {
		const struct ht_run run = plan->runs[i];
		if (run.fixed > (size_t)(end - p))
			return (uint64_t)(p - rec->p) + run.fixed > HT_MAX_RECORD ? HT_BAD : HT_MORE;
		st->starts[i] = p;
		p += run.fixed;
		if (run.string == 0)
			continue;
		if (p - rec->p > HT_MAX_RECORD)
			return HT_BAD;
		const size_t room = (size_t)(end - p);
		if (!textscan_cstring(p, room > HT_MAX_STRING ? p + HT_MAX_STRING : end, &st->strings[i]))
			return room >= HT_MAX_STRING ? HT_BAD : HT_MORE;
		if ((st->strings[i].flags & SLICE_UTF8) == 0)
			rec->bad_text = true;
		p += st->strings[i].n + 1;
	}
	rec->end = p;
	return HT_DONE;
}

/* ---- value ---- */

/* Values of the leaves of the present record. */

static inline struct slice ht_leaf_string(const struct ht_state *st, const struct ht_leaf *l)
{
	return st->strings[l->run];
}

/* The value of an integer leaf (or the bits of a double), signed ones sign-extended. */
static inline uint64_t ht_leaf_integer(const struct ht_state *st, const struct ht_leaf *l)
{
	const char *const p = st->starts[l->run] + l->at;

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
	default:
		return load_u64(p, st->big);
	}
}

/* A float as a double, bit by bit where the processor would make another NaN of it. */
double ht_widened(uint32_t bits);

static inline struct value ht_leaf_value(const struct ht_state *st, const struct ht_leaf *l)
{
	const char *const p = st->starts[l->run] + l->at;
	struct value v = { .type = l->value };

	switch (l->value) {
	case VALUE_STRING:
		return value_string(ht_leaf_string(st, l));
	case VALUE_BYTES:
		v.p = p;
		v.count = l->size;
		return v;
	case VALUE_ADDRESS:
		v.u64 = l->size == 4 ? load_u32(p, st->big) : load_u64(p, st->big);
		return v;
	case VALUE_F32:
		v.f64 = ht_widened(load_u32(p, st->big));
		return v;
	default: /* integers, and a double's bits */
		v.u64 = ht_leaf_integer(st, l);
		return v;
	}
}

/* ---- apply ---- */

/* Reports a span that ends past 2^64. */
void ht_report_overflow(struct ht_state *st, const struct ht_record *rec);

/* What is checked of an event, whoever wants it.  Sets its length and its label. */
static inline void ht_event_apply(struct ht_state *st, struct ht_record *rec)
{
	const struct ht_plan *const plan = rec->c->plan;

	if (plan->duration != HT_NO_LEAF) {
		rec->dur = ht_leaf_integer(st, &plan->leaves[plan->duration]);
		if (rec->dur > UINT64_MAX - rec->ts)
			ht_report_overflow(st, rec);
	}
	if (plan->label != HT_NO_LEAF && st->ahead_of == NULL)
		st->label_name = ht_label_find(st, ht_leaf_integer(st, &plan->leaves[plan->label]), rec);
}

/* ---- describe ---- */

struct ht_record;

/* A class info or field info record, its parts in the state. */
void ht_describe_class(struct ht_state *st, const struct ht_record *rec);
void ht_describe_field(struct ht_state *st, const struct ht_record *rec);

/* A new EndiannessInfoEvent: from here on classes may be described afresh. */
void ht_describe_restart(struct ht_state *st);

/* ---- event ---- */

/* Adds the event of a record whose parts are in the state.  No memory: the state remembers, and nothing is
 * added.
 */
void ht_event_add(struct ht_state *st, const struct ht_record *rec, struct batch *b);

/* ---- track ---- */

/* What the reader calls the track of a thread, unless a vocabulary has another name for it. */
#define HT_THREAD "thread"

/* The track of the thread of this number; NULL: no memory. */
const struct track *ht_track_far(struct ht_state *st, uint64_t id, const struct ht_record *rec);

static inline const struct track *ht_track(struct ht_state *st, uint64_t id, const struct ht_record *rec)
{
	return st->tracks.last != NULL && st->tracks.last_id == id ? st->tracks.last
	                                                           : ht_track_far(st, id, rec);
}

/* ---- label map ---- */

struct ht_state;

/* Reads a label map file; false after a finding, or no memory. */
bool ht_label_map_read(struct ht_state *st, const char *path);

/* ---- prepare ---- */

/* Makes the plan of rec's class, whose first record this is.  false: its layout cannot be known (see the
 * finding), or no memory, which the state remembers. */
bool ht_class_prepare(struct ht_state *st, const struct ht_record *rec);

/* ---- vocabulary ---- */

/* Finds the leaves with a role, the kind of the class, and who wants its events.  Leaves and paths of the
 * plan are there.  like: gets the plan, and who applies it.  No memory: the state remembers. */
void ht_vocabulary_apply(struct ht_state *st, struct ht_class *c, struct ht_plan *plan, struct class *like);

/* Whether a class of this name may name integer labels. */
bool ht_vocabulary_may_map(const struct ht_state *st, struct slice name);

/* ---- fast ---- */

/* Consumes ordinary events that begin in the next `most` bytes (at most 1 MiB) of the window, and makes no
 * events of the model of them.  Stops where ht_read_record() is needed, maybe at once.  Out of memory:
 * st->ids.failed. */
void ht_read_fast(struct ht_state *st, size_t most);

/* ---- raw ---- */

/* Adds the raw event of a record whose parts are in the state.  No memory: the state remembers, and nothing
 * is added. */
void ht_raw_add(struct ht_state *st, const struct ht_record *rec, struct batch *b);

/* Adds a run of so many records (WANT_RUNS), as one event without fields whose ts is their number. */
void ht_raw_add_run(struct ht_state *st, struct slice bytes, uint64_t offset, uint64_t records,
                    struct batch *b);

/* ---- probe ---- */

/* As reader_ops.probe. */
int ht_probe(struct slice head, bool complete);

/* The bits that speak for it, the layout, and the byte order that the second event fits. */
int ht_probe_layout(struct slice head, bool complete, bool *wire, bool *big);

/* Whether a trace begins at p: a statement of the byte order and the description of a class, whose name goes
 * on for HT_START_NAME bytes at most, or to the end.  HT_START_SIZE bytes at least. */
#define HT_START_SIZE (HT_ENDIANNESS_SIZE + HT_HEAD_SIZE + 4 + 1)
#define HT_START_NAME 256

bool ht_probe_start(const char *p, const char *end, bool wire);

/* ---- read ---- */

/* Reads one record at the start of the window, which is not empty.  HT_MORE: nothing happened, the window is
 * too short: ht_read_more() grows it.  b is not looked at when nothing is wanted. */
enum ht_outcome ht_read_record(struct ht_state *st, struct batch *b);
void ht_read_more(struct ht_state *st);

extern const struct reader_ops ht_reader_ops;

/* ---- recover ---- */

extern const struct recover_ops ht_recover_ops;

/* ---- write select ---- */

/*
 * Which structure a selection of records needs: the byte order of each stream, descriptions of the classes of
 * its records and of the classes that these are made of, names of the numbers that are its labels; all facts.
 * A survey of the input finds it, so that what is written stays in the order of the input.
 *
 * Memory: at most HTW_MOST_DESCRIPTIONS, HTW_MOST_LABELS and twice as many marks are held; beyond that all
 * structure is written.
 */
#define HTW_MOST_DESCRIPTIONS (1U << 19)
#define HTW_MOST_LABELS (1U << 19)

/* A record that describes a class. */
struct htw_description {
	uint64_t place;
	uint32_t next; /* number + 1 of the class's next one; 0: none */
};

/* A class of the input. */
struct htw_known {
	uint32_t first, last; /* descriptions that are not needed so far: number + 1 */
	uint32_t nparts, parts_cap;
	struct slice *parts; /* names of classes that it is made of */
	uint32_t stream;     /* in which it was described */
	uint32_t settled;    /* equals `changes`: it is needed, with all its parts, as they are known now */
	uint32_t visit;
	bool used;
};

/* A number that stands for a text. */
struct htw_label {
	uint64_t place;    /* of the record that says so, if `waits` */
	uint32_t class_id; /* of that */
	bool waits, used;
};

struct htw_select {
	struct arena arena;
	uint32_t input;  /* that is read, from 1 on */
	uint32_t stream; /* EndiannessInfoEvents, and inputs, so far */
	uint32_t changes, visit;
	struct htw_description *descriptions;
	uint32_t ndescriptions, descriptions_cap;
	struct htw_known **known;
	uint32_t nknown, known_cap;
	struct htw_known *last; /* that of the last event, whose id is last_id; NULL: none */
	uint32_t last_id;
	struct table64 by_id;     /* class id -> known[] */
	struct tabletext by_name; /* likewise */
	uint32_t *path;           /* of classes that turn out to be needed */
	uint32_t path_cap;
	struct htw_label *labels;
	uint32_t nlabels, labels_cap;
	struct table64 by_label; /* number -> labels[] */
	struct table64 needed;   /* place of a record -> 1 */
	bool over;               /* the survey is */
	bool everything;         /* it is too much to tell apart */
	bool failed;             /* no memory */
};

void htw_select_free(struct htw_select *s);

/* ---- write ---- */

/*
 * The writer.  Records of a .htdump are written as they are; what other formats
 * hold becomes classes of HawkTracer: wire layout, little endian.
 */

/* Class ids of the output.  0 to 8 are those of HawkTracer 0.11, the others this program's. */
enum htw_class_id {
	HTW_ID_ENDIANNESS,
	HTW_ID_EVENT,
	HTW_ID_CLASS_INFO,
	HTW_ID_FIELD_INFO,
	HTW_ID_SPAN_BASE,
	HTW_ID_SPAN_INT,
	HTW_ID_SPAN, /* HT_CallstackStringEvent: what all spans are */
	HTW_ID_MAPPING,
	HTW_ID_SYSTEM,
	HTW_ID_INSTANT, /* tracetool_Event: what all other events are */
	HTW_ID_ARROW,   /* tracetool_Arrow: what both ends of an arrow are */
	HTW_ID_TRACK,
	HTW_ID_CLASS,
	HTW_ID_FACT,
	HTW_ID_OTHER_SPAN, /* all fields in one text; one for each of the three above */
	HTW_ID_OTHER_INSTANT,
	HTW_ID_OTHER_ARROW,
	HTW_ID_FREE /* the first one for classes of the trace */
};

/* What an event is besides its class: each has layouts of its own. */
enum htw_kind {
	HTW_SPAN,
	HTW_ASYNC,
	HTW_INSTANT,
	HTW_COUNTER,
	HTW_ARROW_OUT,
	HTW_ARROW_IN,
	HTW_BEGIN,
	HTW_END
};

static inline enum htw_kind htw_kind_of(const struct event *e)
{
	static const uint8_t kinds[] = {
		[PHASE_SPAN] = HTW_SPAN,        [PHASE_BEGIN] = HTW_BEGIN,
		[PHASE_END] = HTW_END,          [PHASE_INSTANT] = HTW_INSTANT,
		[PHASE_COUNTER] = HTW_COUNTER,  [PHASE_FLOW_OUT] = HTW_ARROW_OUT,
		[PHASE_FLOW_IN] = HTW_ARROW_IN,
	};

	return event_is_async(e) ? HTW_ASYNC : (enum htw_kind)kinds[e->phase];
}

/* Bounds, so that memory does not grow with the trace and readers with bounds of their own (htdump_wire.h)
 * read the output.  An event beyond them has its fields in one text. */
#define HTW_MOST_CLASSES 32768U
#define HTW_MOST_FIELDS 131072U        /* of all classes together */
#define HTW_MOST_DESCRIBED (12U << 20) /* bytes that all descriptions cost a reader */
#define HTW_CLASS_FIELDS 250U          /* of one class: field_count has 8 bits */
#define HTW_MOST_TEXT (HT_MAX_STRING - 1)
#define HTW_MOST_RECORD (HT_MAX_RECORD - 8192U) /* bytes of all texts of one event; numbers come on top */

/* A class of the output: events of one class, of one kind, with the same fields of the same types. */
struct htw_layout {
	struct shape shape; /* kind: enum htw_kind; types of members: enum value_type */
	uint32_t id;
	bool renamed;        /* its name in the output is another */
	bool fields_renamed; /* those of some members are */
};

struct htw_track {
	uint32_t number; /* thread_id */
	bool numbered;
	bool reported; /* a record says what it is */
	bool changed;  /* readers show another number */
};

/* Where records of a .htdump stand that are written as they are. */
struct htw_raw {
	bool any; /* something was written */
	bool wire;
	bool big; /* byte order at this place */
	bool skipping;
};

struct htw_state {
	bool is_raw, selected, rebased, signed_time;
	struct htw_raw raw;
	struct htw_select select;
	struct arena arena;
	struct htw_track *tracks; /* by index of the trace's track */
	uint32_t ntracks;
	struct shapes shapes;         /* struct htw_layout */
	struct track_numbers numbers; /* thread_ids */
	uint64_t next_id;             /* of a record */
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

/* ---- records ---- */

/* A record that is written.  Once memory is out (text.failed) nothing more is added. */
struct htw_record {
	struct chunk *chunk;
	uint64_t offset; /* in the input, of what it is made of */
	uint32_t left;   /* bytes that its texts may still take */
};

static inline void htw_lose(const struct htw_record *r, enum htw_loss kind)
{
	ledger_add(&r->chunk->ledger, &htw_losses[kind], r->offset, 1);
}

/* Little endian. */
static inline char *htw_store(char *p, uint64_t v, unsigned size)
{
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		v = __builtin_bswap64(v);
	memcpy(p, &v, size);
	return p + size;
}

#define HTW_HEAD_SIZE HT_HEAD_SIZE

static inline char *htw_store_head(struct htw_state *st, char *p, uint32_t class_id, uint64_t ts)
{
	p = htw_store(p, class_id, 4);
	p = htw_store(p, ts, 8);
	return htw_store(p, st->next_id++, 8);
}

/* size: 1, 2, 4 or 8. */
static inline void htw_number(const struct htw_record *r, uint64_t v, unsigned size)
{
	struct text *const t = &r->chunk->text;
	char *const p = text_room(t, 8);

	if (p != NULL) {
		htw_store(p, v, size);
		t->n += size;
	}
}

/* The part of htw_text that looks at the bytes; use that one. */
void htw_text_checked(struct htw_record *r, struct slice s);

/* A text and its NUL, as much of it as fits. */
static inline void htw_text(struct htw_record *r, struct slice s)
{
	struct text *const t = &r->chunk->text;
	char *p;

	if ((s.flags & SLICE_JSON) == 0 || s.n > HTW_MOST_TEXT || s.n > r->left) {
		htw_text_checked(r, s);
		return;
	}
	p = text_room(t, (size_t)s.n + 1);
	if (p == NULL)
		return;
	p = text_put(p, s.p, s.n);
	*p = '\0';
	t->n += (size_t)s.n + 1;
	r->left -= s.n;
}

/* A record up to its head; its fields follow. */
struct htw_record htw_begin(struct htw_state *st, struct chunk *chunk, uint32_t class_id, uint64_t offset);

/* ---- htdump_write_describe.c ---- */

/* What every output begins with: the byte order, and the classes up to HTW_ID_FREE. */
void htw_prologue(struct htw_state *st, struct chunk *chunk);

/* "span", "instant", ... */
struct slice htw_kind_word(enum htw_kind kind);

/* ---- htdump_write_layout.c ---- */

/* The layout of an event, described if it is new. */
const struct htw_layout *htw_layout_of(struct htw_state *st, const struct batch *b, const struct event *e,
                                       struct chunk *chunk);

/* ---- htdump_write_track.c ---- */

/* ---- htdump_write_value.c ---- */

/* ---- htdump_write_event.c ---- */

/* ---- htdump_write_raw.c ---- */

void htw_raw(struct htw_state *st, const struct batch *b, struct chunk *chunk);

/* writer_ops.survey: which structure a selection needs. */
void htw_survey(void *state, const struct batch *b);

/* ---- htdump_write.c ---- */

extern const struct writer_ops htw_ops;

#endif
