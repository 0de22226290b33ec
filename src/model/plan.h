#ifndef EVENT_PLAN_H
#define EVENT_PLAN_H

#include "model/event.h"

/*
 * What the events of a class mean.  Formats carry names and fields; meaning is
 * data that a vocabulary gives (tracetool-vocabulary(5)).  A meaning is looked up
 * once for each class and lives as long as the vocabulary.
 *
 * Who applies it: the engine (run/meaning/interpret.h), event by event; or the reader
 * itself where it knows places of fields in advance.  A reader that did so sets
 * class.reader_applies, and the engine leaves the events of that class as they are.
 */

enum plan_phase {
	PLAN_AS_READ, /* the phase that the reader gave */
	PLAN_SPAN,    /* from ts, as long as the field `duration` says */
	PLAN_BEGIN,   /* opens a span */
	PLAN_END,     /* closes the innermost open one of the same `pair` (and `key`) */
	PLAN_STATE,   /* the track's state named `state` is from now on the event's name; closes the state
	                 before */
	PLAN_STATE_END,
	PLAN_INSTANT,
	PLAN_COUNTER,   /* each numeric field of `values` (or each, if there are none) is one series */
	PLAN_STRUCTURE, /* no event in time: its `defines`, `facts`, `epoch` are all there is to it */
};

/* Tables of definitions: what one event says (a name, another number) for others to look up.  Declared by the
 * vocabulary. */
#define PLAN_MAX_TABLES 64
#define PLAN_NO_TABLE 255

/* Whose definitions a table holds: what stands in it is only found by events of the same process (thread). */
enum plan_scope { PLAN_SCOPE_PROCESS, PLAN_SCOPE_THREAD, PLAN_SCOPE_TRACE };

/* Numbers that say of a field that there is nothing: a worker 255 that is no worker. */
struct plan_none {
	const uint64_t *values;
	uint32_t n;
};

/* The value of a field, looked up in tables one after the other: {taskid|task|type}.  With two fields the
 * first look-up takes both as its key: {type,value|label}. */
struct plan_ref {
	struct slice field[2];
	struct plan_none none[2]; /* a field of such a value counts as absent */
	uint8_t nfields;          /* 0: nothing */
	uint8_t ntables;
	uint8_t tables[3]; /* numbers of tables */
};

/* Text, then a reference. */
struct plan_part {
	struct slice text;
	struct plan_ref ref; /* nfields 0: text only */
};

#define PLAN_MAX_PARTS 64 /* of a template */

/* A text with references in it.  One that cannot be resolved fails: the next alternative is tried. */
struct plan_template {
	const struct plan_part *parts;
	uint32_t nparts; /* 0: no template */
};

/* How the bytes of a payload are to be read. */
struct plan_layout_field {
	struct slice name;
	uint8_t type;  /* enum value_type: U8..F64, ADDRESS; STRING: up to a NUL, which must be there; BYTES:
	                  all that is left */
	bool repeated; /* to the end of the payload: a list */
};

/* Puts the text or number of `value` into a table, under a key of one or two fields. */
struct plan_define {
	uint8_t table;
	struct slice key[2];
	uint8_t nkeys;
	struct plan_ref value; /* one field, looked up or not */
};

/* Whose time line the event is on, if not the one that the reader gave. */
struct plan_track {
	struct plan_template
	    name; /* tracks of one process and one name are one; it has one reference at most */
	struct plan_ref
	    id; /* the thread's number in the system; nfields 0: none.  A field must be there; what is
	           looked up in tables may be missing when the track is made: it has none then */
	struct plan_ref number; /* the reference in name, or nothing */
	bool child;             /* a track of its own below the event's track: "thread 7: marks" */
};

/* What a call stack tells of: where a sampled thread ran, where something waited, or allocated. */
enum plan_stack { PLAN_STACK_ANY, PLAN_STACK_CPU, PLAN_STACK_OFF_CPU, PLAN_STACK_ALLOC };

struct plan {
	uint8_t phase; /* enum meaning_phase */
	bool async;    /* spans that overlap at will (the life of a task): not nested on a track */
	uint16_t
	    pair; /* number of the word that both ends share; 0: END closes the innermost whatever it is */
	uint16_t state; /* STATE, STATE_END: number of the word, > 0; pairs and states share no number */
	struct slice state_name;                /* ... and the word itself */
	struct plan_ref key;                    /* BEGIN and END belong together only if this is equal too */
	struct slice category;                  /* p NULL: the class's own */
	const struct plan_template *categories; /* or the first of these that the parts of its name make */
	uint32_t ncategories;
	const struct plan_template *shapes; /* of the class's name; the first that fits names its parts */
	uint32_t nshapes;
	const struct plan_template *names; /* the first that can be resolved; none can: the reader's name */
	uint32_t nnames;
	const struct plan_track *tracks; /* the first whose fields are there */
	uint32_t ntracks;
	struct slice duration;      /* field, ns */
	const struct slice *values; /* fields of a COUNTER */
	uint32_t nvalues;
	bool has_series;                /* the numbers of a list are series named by ... */
	uint8_t series;                 /* ... this table, under their places from 0 on */
	struct slice flow_name;         /* arrows of one name and one key; p NULL: none */
	struct slice flow_out, flow_in; /* fields that are the key */
	bool has_layout;
	struct slice payload; /* the field whose bytes the layout is of */
	const struct plan_layout_field *layout;
	uint32_t nlayout;
	uint32_t layout_size; /* bytes of its fields of fixed size; what strings and repeated fields need
	                         comes on top */
	bool layout_open;     /* it has fields of no fixed size */
	const struct plan_define *defines;
	uint32_t ndefines;
	struct slice stack;        /* field: a list of frames, leaf first; see model/call_stack.h */
	uint8_t stack_of;          /* enum plan_stack */
	struct slice epoch;        /* field: wall time at this event, ns since 1970 */
	struct slice facts;        /* field: a map of facts of the whole trace */
	const struct field *words; /* `reader:` what only the format's reader understands; values are STRING.
	                              NULL: nothing is said */
	uint32_t nwords;
	const struct plan *shape; /* see plan_shape; NULL: this one */
	/* The event's own name must match this (glob); else `otherwise` (NULL: nothing) is the meaning.  p
	 * NULL: any. */
	struct slice named;
	const struct plan *otherwise;
	bool needs_fields; /* some of the above looks at fields, so they must be built whoever asks */
};

/* Bytes of a value of this type in a payload; 0: as many as there are, or up to a NUL. */
uint32_t plan_width(uint8_t type);

/* The text of a word, or one with p NULL. */
struct slice plan_word(const struct plan *m, const char *name);

/* The meaning whose layout the format's reader goes by: where a rule took the words of another one and has no
 * layout itself, the other one's, for the words are about its fields.  Its words are the same. */
static inline const struct plan *plan_shape(const struct plan *m)
{
	return m->shape != NULL ? m->shape : m;
}

/* The first meaning in the chain of which arrows leave; NULL: none. */
static inline const struct plan *plan_with_arrows(const struct plan *m)
{
	while (m != NULL && m->flow_out.p == NULL)
		m = m->otherwise;
	return m;
}

/* Whether it looks at a field of this name to say what the event is, whoever wants fields: readers need not
 * build others then. The name becomes the meaning's own text, which is found without comparing bytes. */
bool plan_uses(const struct plan *m, struct slice *field);

#endif
