#ifndef MODEL_CLASS_PLAN_H
#define MODEL_CLASS_PLAN_H

#include "base/memory.h"
#include "model/class.h"
#include "model/plan.h"
#include "model/trace.h"

/* ---- class plan ---- */

/*
 * The plan of a class, compiled once: what it says, and which fields it says
 * that of.  The engine goes by it event by event; a reader that decodes records
 * may apply what is only a matter of whole fields on the way, when `says` holds
 * nothing else.  Nobody else looks into a plan to find that out.
 */
#define CLASS_PLAN_NO_FIELD UINT32_MAX

enum class_plan_says {
	CLASS_PLAN_DURATION = 1,
	CLASS_PLAN_NAME = 2,        /* the name is a field, or what a table has for it */
	CLASS_PLAN_FIXED_NAME = 4,  /* the name is the same text for all */
	CLASS_PLAN_THREAD = 8,      /* the track is the thread whose number a field is */
	CLASS_PLAN_DEFINITION = 16, /* one field is put into a table under the number of another */
	CLASS_PLAN_EPOCH = 32,
	CLASS_PLAN_FACTS = 64,
	CLASS_PLAN_FIELDS = 128, /* more that looks at fields */
	CLASS_PLAN_MORE = 256,   /* and what does not: a pair, a state, parts, a name that it must have */
};

/* The fields of a class, by number. */
struct class_plan_fields {
	const void *ctx;
	uint32_t (*find)(const void *ctx, struct slice name); /* or CLASS_PLAN_NO_FIELD */
	uint8_t (*type)(const void *ctx, uint32_t field);     /* enum value_type of its values */
};

struct class_plan {
	const struct plan *plan; /* NULL: nothing is said */
	unsigned says;           /* enum class_plan_says */
	struct slice fixed_name; /* lasts; p NULL: there is none */
	/* fields with a role, of a type that fits it, or CLASS_PLAN_NO_FIELD */
	uint32_t duration;          /* a number of ns */
	uint32_t name;              /* text */
	uint32_t label;             /* a number that name_table has a text for; not both this and name */
	uint8_t name_table;         /* PLAN_NO_TABLE: no name is looked up */
	uint32_t thread;            /* a number */
	struct slice thread_prefix; /* of the track's name, before the number */
	uint32_t key, value;        /* of the definition: a number, any */
	uint8_t table;              /* likewise */
	uint32_t epoch, facts;
};

/* fields: NULL if they are not known; then none has a role.  m may be NULL. */
void class_plan_compile(struct class_plan *p, const struct plan *m, const struct class_plan_fields *fields);

/* ---- class parts ---- */

/*
 * Names of classes can carry facts: "SpanEnter:MODULE::FUNCTION:FILE:LINE".
 * The shape of such a name is a template of the plan.  A part that is all
 * digits is a number.
 */

/* A made category is cut behind so many bytes. */
#define CLASS_CATEGORY_MAX 256

/* Sets class.parts, and class.category if the plan makes it of them, by class.name.  What is new lies in the
 * arena.  false: no memory. */
bool class_parts_find(struct class *cls, const struct plan *m, struct arena *arena);

/* ---- vocabulary ---- */

/* What readers and stages see of a vocabulary; vocab/ makes it. */

struct vocabulary_ops {
	/* The meaning of a class of this name, or NULL.  `has` may be NULL: no fields are known. */
	const struct plan *(*find)(const struct vocabulary *v, struct slice class_name, trace_has_field *has,
	                           const void *ctx);
	/* The number of a table, or PLAN_NO_TABLE. */
	uint8_t (*table)(const struct vocabulary *v, struct slice name);
	/* How the vocabulary calls processes and threads: a template of one reference to "id"; NULL: it does
	 * not say. */
	const struct plan_template *(*track_name)(const struct vocabulary *v, bool process, uint64_t id);
};

struct vocabulary {
	const struct vocabulary_ops *ops;
	uint8_t scopes[PLAN_MAX_TABLES]; /* enum plan_scope of each table */
};

/* The name of a process or thread: what the vocabulary calls one of this number, else "NOUN ID".  It lies in
 * the trace's arena.  p NULL: no memory. */
struct slice trace_track_name(struct trace *t, bool process, const char *noun, uint64_t id);

/* A definition that the reader knows (from a file beside the trace, say).  `process`: whose it is, NULL: the
 * whole trace's.  A table that no vocabulary declares: nothing happens.  Without memory t->definitions.failed
 * is set. */
void trace_define(struct trace *t, const char *table, const struct track *process, uint64_t key1,
                  uint64_t key2, struct value value);

#endif
