#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include "model/event.h"

struct arena;
struct trace;
struct vocabulary;

/*
 * The meaning of a class's events.  Formats have names and fields; their meaning is data of a vocabulary
 * (tracetool-vocabulary(5)).  A plan is looked up once for each class and lives as long as the vocabulary.
 *
 * The engine (run/meaning/interpret.h) applies it event by event; or the reader, if it knows offsets of
 * fields in advance: then it sets class.reader_applies, and the engine leaves events of that class unchanged.
 */

enum plan_phase {
	PLAN_AS_READ, /* the phase that the reader gave */
	PLAN_SPAN,    /* from ts, for the value of the field `duration` */
	PLAN_BEGIN,   /* opens a span */
	PLAN_END,     /* closes the innermost open one of the same `pair` (and `key`) */
	PLAN_STATE,   /* sets the state `state` of the track to the event's name; closes the previous state */
	PLAN_STATE_END,
	PLAN_INSTANT,
	PLAN_COUNTER,   /* each numeric field of `values` (if empty: of the event) is one series */
	PLAN_STRUCTURE, /* no event in time: only `defines`, `facts`, `epoch` apply */
};

/* Tables of definitions (model/definitions.h), declared by the vocabulary. */
#define PLAN_MAX_TABLES 64
#define PLAN_NO_TABLE 255

/* Scope of a table: its definitions are visible to events of the same process or thread, or to all. */
enum plan_scope { PLAN_SCOPE_PROCESS, PLAN_SCOPE_THREAD, PLAN_SCOPE_TRACE };

/* Values of a field that mean "absent", such as worker 255. */
struct plan_none {
	const uint64_t *values;
	uint32_t n;
};

/* The value of a field, looked up in successive tables: {taskid|task|type}.  With two fields both are the key
 * of the first look-up: {type,value|label}. */
struct plan_ref {
	struct slice field[2];
	struct plan_none none[2]; /* of each field */
	uint8_t nfields;          /* 0: empty reference */
	uint8_t ntables;
	uint8_t tables[3]; /* numbers of tables */
};

/* Text, then a reference. */
struct plan_part {
	struct slice text;
	struct plan_ref ref; /* nfields 0: text only */
};

#define PLAN_MAX_PARTS 64 /* of a template */

/* A text with references.  If one of them cannot be resolved, the next alternative is tried. */
struct plan_template {
	const struct plan_part *parts;
	uint32_t nparts; /* 0: no template */
};

/* A field in the bytes of a payload. */
struct plan_layout_field {
	struct slice name;
	uint8_t type;  /* enum value_type: U8..F64, ADDRESS; STRING: up to a mandatory NUL; BYTES: the rest */
	bool repeated; /* up to the end of the payload: a list */
};

/* Adds the text or number of `value` to a table, under a key of one or two fields. */
struct plan_define {
	uint8_t table;
	struct slice key[2];
	uint8_t nkeys;
	struct plan_ref value; /* one field, with or without look-ups */
};

/* The track of the event, instead of that set by the reader. */
struct plan_track {
	/* At most one reference.  Tracks of one process with the same name are the same. */
	struct plan_template name;
	/* The thread's number in the system; nfields 0: none.  A field must be present.  If a reference to a
	 * table has no entry when the track is made, the track has no number. */
	struct plan_ref id;
	struct plan_ref number; /* the reference in name, or empty */
	bool child;             /* a child of the event's track: "thread 7: marks" */
};

/* Purpose of a call stack: the thread ran, waited or allocated. */
enum plan_stack { PLAN_STACK_ANY, PLAN_STACK_CPU, PLAN_STACK_OFF_CPU, PLAN_STACK_ALLOC };

/* Fields whose product is the number of bytes that a span moved. */
struct plan_bytes {
	const struct slice *named; /* names of events, globs */
	uint32_t nnamed;           /* 0: any */
	struct slice field[2];
	uint8_t nfields;
};

struct plan {
	uint8_t phase; /* enum plan_phase */
	bool async;    /* spans that may overlap (the life of a task): not nested on a track */
	bool waiting;  /* spans during which the track does no work: parked, paused, blocked */
	/* Numbers of names; pairs and states have different ones. */
	uint16_t pair;           /* of both ends; 0: END closes the innermost span of any name */
	uint16_t state;          /* STATE, STATE_END: > 0 */
	struct slice state_name; /* the name of this number */
	struct plan_ref key;     /* equal for BEGIN and END that belong together */
	struct slice category;   /* p NULL: the class's own */
	const struct plan_template *categories; /* the first that parts of the class's name resolve is used */
	uint32_t ncategories;
	const struct plan_template *shapes; /* of class names: the first that fits names the parts */
	uint32_t nshapes;
	const struct plan_template *names; /* the first that can be resolved; else the reader's name */
	uint32_t nnames;
	const struct plan_track *tracks; /* the first whose fields are present */
	uint32_t ntracks;
	struct slice duration;      /* field, ns */
	const struct slice *values; /* fields of a COUNTER */
	uint32_t nvalues;
	bool has_series;                /* numbers of a list are series, named by ... */
	uint8_t series;                 /* ... this table, by their index from 0 */
	struct slice flow_name;         /* arrows connect equal names and keys; p NULL: none */
	struct slice flow_out, flow_in; /* fields: the key */
	bool has_layout;
	struct slice payload; /* field: the bytes that the layout describes */
	const struct plan_layout_field *layout;
	uint32_t nlayout;
	uint32_t layout_size; /* bytes of its fields of fixed size; strings and repeated fields are extra */
	bool layout_open;     /* it has fields of variable size */
	const struct plan_define *defines;
	uint32_t ndefines;
	struct slice stack;             /* field: a list of frames, leaf first; see model/call_stack.h */
	uint8_t stack_of;               /* enum plan_stack */
	const struct plan_bytes *bytes; /* the first whose names fit */
	uint32_t nbytes;
	struct slice epoch;        /* field: wall time at this event, ns since 1970 */
	struct slice facts;        /* field: a map of facts of the whole trace */
	const struct field *words; /* STRINGs: `reader:` of the vocabulary; NULL: none */
	uint32_t nwords;
	const struct plan *for_reader; /* plan_for_reader(); NULL: this one */
	/* The event's own name must match this glob; else `otherwise` (NULL: none) applies.  p NULL: any. */
	struct slice named;
	const struct plan *otherwise;
	bool needs_fields; /* fields must be built even if the consumer wants none */
};

/* Bytes of a value of this type in a payload; 0: variable. */
static inline uint32_t plan_width(uint8_t type)
{
	static const uint8_t widths[] = {
		[VALUE_U8] = 1,  [VALUE_U16] = 2, [VALUE_U32] = 4,     [VALUE_U64] = 8,
		[VALUE_I8] = 1,  [VALUE_I16] = 2, [VALUE_I32] = 4,     [VALUE_I64] = 8,
		[VALUE_F32] = 4, [VALUE_F64] = 8, [VALUE_ADDRESS] = 8,
	};

	return type < sizeof widths ? widths[type] : 0;
}

/* The value of a name in `reader:`, or a text with p NULL. */
struct slice plan_word(const struct plan *m, const char *name);

/* The plan whose layout the format's reader uses.  A rule without a layout that copied `reader:` from another
 * rule has the layout of that rule, as `reader:` names its fields. */
static inline const struct plan *plan_for_reader(const struct plan *m)
{
	return m->for_reader != NULL ? m->for_reader : m;
}

/* The first plan in the chain at which arrows start; NULL: none. */
static inline const struct plan *plan_with_arrows(const struct plan *m)
{
	while (m != NULL && m->flow_out.p == NULL)
		m = m->otherwise;
	return m;
}

/* Whether all events, and the spans that they begin or end, have the times of records, and nothing else is
 * learned from them; m NULL: no plan. */
static inline bool plan_keeps_times(const struct plan *m)
{
	return m == NULL || (m->phase != PLAN_SPAN && m->phase != PLAN_STRUCTURE && m->epoch.p == NULL &&
	                     m->facts.p == NULL && m->otherwise == NULL);
}

/* Whether the plan reads a field of this name even if the consumer wants no fields: readers need not build
 * others then.  Replaces the name by the plan's own text, which is found without comparing bytes. */
bool plan_uses(const struct plan *m, struct slice *field);

/* A cache of the field that counts the bytes of an event, by class and name.  Zero-initialise. */
#define PLAN_BYTES_NAME 24
#define PLAN_BYTES_BITS 7

struct plan_bytes_cache {
	struct plan_bytes_known {
		const struct class *cls; /* NULL: an empty slot */
		const struct plan_bytes *bytes;
		uint64_t n, name[PLAN_BYTES_NAME / 8]; /* length and bytes of the name: name_words() */
	} known[1U << PLAN_BYTES_BITS];
};

/* cls has a plan. */
const struct plan_bytes *plan_bytes_cached(struct plan_bytes_cache *c, const struct class *cls,
                                           struct slice name);

/* ---- class plan ---- */

/*
 * The plan of a class, compiled once: its effects and the numbers of the fields that they need.  The engine
 * uses it event by event; a reader that decodes records may apply effects of whole fields while decoding, if
 * `says` has no others.
 */
#define CLASS_PLAN_NO_FIELD UINT32_MAX

enum class_plan_says {
	CLASS_PLAN_DURATION = 1,
	CLASS_PLAN_NAME = 2,        /* the name is a field, or its entry in a table */
	CLASS_PLAN_FIXED_NAME = 4,  /* the name is a constant text */
	CLASS_PLAN_THREAD = 8,      /* a field is the number of the thread that is the track */
	CLASS_PLAN_DEFINITION = 16, /* one field is added to a table under the number of another */
	CLASS_PLAN_EPOCH = 32,
	CLASS_PLAN_FACTS = 64,
	CLASS_PLAN_FIELDS = 128, /* other effects that read fields */
	CLASS_PLAN_MORE = 256,   /* effects without fields: a pair, a state, parts, a required name */
};

/* The fields of a class, by number. */
struct class_plan_fields {
	const void *ctx;
	uint32_t (*find)(const void *ctx, struct slice name); /* or CLASS_PLAN_NO_FIELD */
	uint8_t (*type)(const void *ctx, uint32_t field);     /* enum value_type of its values */
};

struct class_plan {
	const struct plan *plan; /* NULL: none */
	unsigned says;           /* enum class_plan_says */
	struct slice fixed_name; /* lives as long as the plan; p NULL: none */
	/* Fields with a role and a suitable type, or CLASS_PLAN_NO_FIELD. */
	uint32_t duration;          /* a number of ns */
	uint32_t name;              /* text */
	uint32_t label;             /* number with a text in name_table; excludes `name` */
	uint8_t name_table;         /* PLAN_NO_TABLE: none */
	uint32_t thread;            /* a number */
	struct slice thread_prefix; /* of the track's name, before the number */
	uint32_t key, value;        /* of the definition: a number, any type */
	uint8_t table;              /* of the definition, or PLAN_NO_TABLE */
	uint32_t epoch, facts;
};

/* fields: NULL if unknown; then none has a role.  m may be NULL. */
void class_plan_compile(struct class_plan *p, const struct plan *m, const struct class_plan_fields *fields);

/* ---- class parts ---- */

/*
 * Names of classes can contain facts: "SpanEnter:MODULE::FUNCTION:FILE:LINE".  The shape of such a name is a
 * template of the plan.  A part of digits only is a number.
 */

/* Bytes of a category made of parts; longer ones are cut. */
#define CLASS_CATEGORY_MAX 256

/* Sets class.parts from class.name, and class.category if the plan makes it of them.  Allocates in the
 * arena. */
bool class_parts_find(struct class *cls, const struct plan *m, struct arena *arena);

/* ---- vocabulary ---- */

/* A vocabulary as readers and stages see it; vocab/ implements it. */

/* Whether a class has a field; for rules of vocabularies that ask for fields. */
typedef bool trace_has_field(const void *ctx, struct slice name);

struct vocabulary_ops {
	/* The plan of a class of this name, or NULL.  `has` may be NULL: no fields are known. */
	const struct plan *(*find)(const struct vocabulary *v, struct slice class_name, trace_has_field *has,
	                           const void *ctx);
	/* The number of a table, or PLAN_NO_TABLE. */
	uint8_t (*table)(const struct vocabulary *v, struct slice name);
	/* The vocabulary's name for processes and threads; NULL: none.
	 * A template with one reference, to "id". */
	const struct plan_template *(*track_name)(const struct vocabulary *v, bool process, uint64_t id);
};

struct vocabulary {
	const struct vocabulary_ops *ops;
	uint8_t scopes[PLAN_MAX_TABLES]; /* enum plan_scope of each table */
	bool stateless;                  /* no rule has a state */
};

/* The name of a process or thread by the vocabulary, else "NOUN ID"; allocated in the trace's arena.  p NULL
 * on OOM. */
struct slice trace_track_name(struct trace *t, bool process, const char *noun, uint64_t id);

/* Adds a definition that the reader knows, such as from a file next to the trace.  `process` NULL: of the
 * whole trace.  Ignored if no vocabulary declares the table.  Sets t->definitions.failed on OOM. */
void trace_define(struct trace *t, const char *table, const struct track *process, uint64_t key1,
                  uint64_t key2, struct value value);

#endif
