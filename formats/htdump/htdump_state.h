#ifndef HTDUMP_STATE_H
#define HTDUMP_STATE_H

#include <inttypes.h>
#include <stdio.h>

#include "base/idset.h"
#include "format/format.h"
#include "htdump/htdump_wire.h"

enum ht_rule {
#define RULE(name, id, level, text, spec, explain) HT_RULE_##name,
#include "htdump/htdump_rules.def"
#undef RULE
	HT_RULE_COUNT
};

extern const struct rule ht_rules[HT_RULE_COUNT + 1]; /* ended by an id of NULL */

/* A field as a class info's field info describes it. */
struct ht_field {
	struct slice name, type_name; /* in the trace's arena */
	uint64_t size;
	uint8_t type; /* enum ht_type */
};

/* A field of the unfolded class: bases first, structs in their place. */
struct ht_leaf {
	struct slice name; /* unique in its class; members of a struct are "struct.member" */
	bool member;       /* of a struct */
	uint8_t value;     /* enum value_type */
	uint16_t step;     /* which run of fixed-size fields it lies in ... */
	uint32_t at;       /* ... and where; strings end their step */
	uint32_t size;     /* bytes; 0 for a string */
};

/* A run of fixed-size fields, and whether a string follows it. */
struct ht_step {
	uint32_t fixed;
	uint32_t string;
};

#define HT_NO_LEAF UINT32_MAX

/* The unfolded class, made when its first event comes. */
struct ht_plan {
	struct ht_leaf *leaves;
	struct slice
	    *paths; /* names of the leaves before they were made unique; raw events only, else NULL */
	struct ht_step *steps;
	uint32_t *args; /* the leaves that become fields of the event */
	uint32_t nleaves, nsteps, nargs;
	/* Leaves that the reader makes something of, or HT_NO_LEAF: numbers but for `name`; `label` is looked
	 * up for a name. */
	uint32_t duration, thread, label, name, identifier;
	uint8_t want;       /* enum want: who wants its events */
	bool always_fields; /* even if nobody wants fields */
};

enum ht_kind {
	HT_KIND_EVENT,
	HT_KIND_ENDIANNESS,
	HT_KIND_INFO,
	HT_KIND_FIELD,
	HT_KIND_MAPPING,
	HT_KIND_SYSTEM,
	HT_KIND_STRUCTURE,
	HT_KIND_BARE
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
	bool used;               /* an event of it was met */
	bool unfolding;          /* on the path while a class is unfolded */
	bool rechecking;         /* described again: field infos are compared ... */
	bool renewing;           /* ... by a later stream, which may describe it otherwise */
	uint32_t recheck;        /* the next field to compare */
	uint64_t stream;         /* after how many further EndiannessInfoEvents it was described */
	struct ht_plan *plan;    /* NULL until used */
};

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
struct ht_mappings {
	struct table64 index; /* identifier -> labels[] */
	struct ht_label *labels;
	uint32_t n, cap;
	uint32_t bytes;         /* of all texts */
	struct ht_texts *texts; /* one reference; NULL: there are none yet */
	bool shared;   /* they are definitions of the trace as well, for rules that the engine applies ... */
	uint8_t table; /* ... in this table */
};

struct ht_state {
	struct reader *r;
	bool raw;  /* raw events are wanted */
	bool wire; /* else document */
	bool big;
	bool guess_big;  /* the order that the second event fits, should the first not say it */
	bool any_event;  /* a record was read */
	uint64_t stream; /* EndiannessInfoEvents after the first event: files appended to another */
	uint32_t nclasses, classes_cap;
	struct ht_class **classes;          /* in order of arrival; owned */
	struct table64 by_id;               /* class id -> classes[] */
	struct tabletext by_name;           /* class name -> classes[] */
	struct ht_class *direct[HT_DIRECT]; /* classes of small ids, for speed */
	uint32_t total_fields, total_leaves;
	uint32_t shown_fields;    /* of all classes ever; at most HT_MAX_LEAVES */
	uint32_t described_bytes; /* of all descriptions; at most HT_MAX_DESCRIBED */

	/* where the parts of the present record lie: per step its start and its string */
	const char **starts;
	struct slice *strings;
	uint32_t steps_cap;

	struct ht_mappings mappings;
	struct slice label_name;   /* of the present record's integer label; p NULL: it has none */
	struct ht_state *ahead_of; /* this is a look-ahead pass: mappings go to that state */
	bool mapping_class;        /* a string mapping class was described */
	bool looked_ahead;
	bool one_pass; /* it was tried, but the input can be read only once */
	struct finding_tally unresolved;

	struct idset ids;
	uint64_t last_id;
	struct finding_tally id_repeated, id_backwards;

	const struct track *process;
	struct table64 threads; /* thread id -> trace.tracks[] */
	uint64_t last_thread;
	const struct track *last_track;
	const struct track *more_threads;
};

/* What came of one record. */
enum ht_outcome {
	HT_DONE,
	HT_MORE, /* the window ends inside the record */
	HT_BAD,  /* nothing after this place can be trusted; a finding said why */
	HT_NO_MEMORY
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

static inline struct slice
ht_leaf_string(const struct ht_state *st, const struct ht_leaf *l)
{
	return st->strings[l->step];
}

/* The value of an integer leaf (or the bits of a double), signed ones sign-extended. */
static inline uint64_t
ht_leaf_integer(const struct ht_state *st, const struct ht_leaf *l)
{
	const char *const p = st->starts[l->step] + l->at;

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

bool ht_value_is_integer(uint8_t value);

/* What the reader calls the track of a thread, unless a vocabulary has another name for it. */
#define HT_THREAD "thread"

/* ---- htdump_class.c: descriptions and layouts ---- */

bool ht_classes_init(struct ht_state *st);
void ht_classes_free(struct ht_state *st);
struct ht_class *ht_class_find_far(const struct ht_state *st, uint32_t id);

static inline struct ht_class *
ht_class_find(const struct ht_state *st, uint32_t id)
{
	return id < HT_DIRECT ? st->direct[id] : ht_class_find_far(st, id);
}

/* A new EndiannessInfoEvent: from here on classes may be described afresh. */
void ht_classes_restart(struct ht_state *st);

/* Accounts for n more bytes of description; false: the bound is reached. */
bool ht_describe_room(struct ht_state *st, uint64_t n);

/* The first event of the class is there: what was compared so far is all of its fields. */
void ht_class_end_description(struct ht_state *st, struct ht_class *c);

/* A class info or field info record was read into the state's steps. */
enum ht_outcome ht_describe_class(struct ht_state *st, const struct ht_record *rec);
enum ht_outcome ht_describe_field(struct ht_state *st, const struct ht_record *rec);

/* ---- htdump_plan.c: unfolding a class ---- */

/* Makes c->plan.  HT_BAD: its layout cannot be known (a finding at `rec` said why). */
enum ht_outcome ht_plan_make(struct ht_state *st, struct ht_class *c, const struct ht_record *rec);

void ht_plan_free(struct ht_plan *plan);

/* Room for the parts of a record of n steps. */
bool ht_state_reserve_steps(struct ht_state *st, uint32_t n);

/* ---- htdump_meaning.c: what a class means ---- */

/* The leaves of a class under the names that they were described with.  Members of structs mean nothing. */
struct ht_names {
	const struct ht_leaf *leaves;
	const struct slice *paths;
	uint32_t n;
};

/* Finds the leaves with a meaning, the kind of the class, and who wants its events.  false: no memory. */
bool ht_plan_mean(struct ht_state *st, struct ht_class *c, const struct ht_names *names,
                  struct ht_plan *plan);

/* Whether a class may name integer labels, going by its name. */
bool ht_class_may_map(const struct ht_state *st, struct slice name);

/* ---- htdump_mapping.c: names of integer labels ---- */

/* Remembers a name; rec is the mapping's record (NULL: from a file). */
enum ht_outcome ht_mapping_add(struct ht_state *st, uint64_t identifier, struct slice text,
                               enum ht_label_source source, const struct ht_record *rec);

/* *text: the name, or p NULL (counted).  Looks ahead in the input when needed and possible. */
enum ht_outcome ht_mapping_find(struct ht_state *st, uint64_t identifier, const struct ht_record *rec,
                                struct slice *text);

/* From here on all names, also those that stand later in the input, are definitions of the trace.  false: no
 * memory. */
bool ht_mappings_share(struct ht_state *st, uint8_t table);

void ht_mappings_free(struct ht_mappings *m);

/* Reads a label map file; false after a finding. */
bool ht_label_map_read(struct ht_state *st, const char *path);

/* ---- htdump_probe.c: which layout ---- */

int ht_probe(struct slice head, bool whole);

/* The bits that speak for it, the layout, and the byte order that the second event fits. */
int ht_probe_layout(struct slice head, bool whole, bool *wire, bool *big);

/* ---- htdump_event.c: records as events ---- */

/* Adds the event of a record whose parts are in the state's steps. */
enum ht_outcome ht_event_add(struct ht_state *st, const struct ht_record *rec, struct batch *b);

/* ---- htdump_raw.c: records as they are ---- */

/* What every record begins with. */
#define HT_HEAD_FIELDS 3
extern const struct class_field ht_head_fields[2][HT_HEAD_FIELDS]; /* [wire] */

/* enum value_type of a leaf in raw events, where it tells the width: an address of 4 bytes is a number. */
uint8_t ht_raw_type(const struct ht_leaf *l);

/* Adds the raw event of a record whose parts are in the state's steps. */
enum ht_outcome ht_raw_add(const struct ht_state *st, const struct ht_record *rec, struct batch *b);

/* ---- htdump_value.c ---- */

struct value ht_leaf_value(const struct ht_state *st, const struct ht_leaf *l);

/* ---- htdump_read.c ---- */

extern const struct reader_ops ht_reader_ops;

void ht_find(struct ht_state *st, enum ht_rule rule, const struct ht_record *rec, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
