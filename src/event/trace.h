#ifndef EVENT_TRACE_H
#define EVENT_TRACE_H

#include "base/arena.h"
#include "base/table.h"
#include "event/definitions.h"
#include "event/plan.h"

/* A field as a class declares it: for `info`, for writers that need a schema, and for plans. */
struct class_field {
	struct slice name;
	struct slice type; /* in the format's own words: "uint32_t", "string" */
	uint8_t value;    /* enum value_type that its values have in raw events; VALUE_NONE: it differs, or is
	                     not known */
	uint32_t size;    /* bytes in a record; 0: they vary */
	const char *unit; /* "ns", "us", "byte"; NULL: none, or not known */
};

/* What kind of record an event is: a class, a schema, a category. */
struct class {
	struct slice name;
	struct slice category; /* what viewers group by; the name unless the format has better */
	uint32_t index;        /* in trace.classes: order of arrival */
	uint32_t nfields;
	const struct class_field *fields;
	const struct plan *plan; /* set by trace_mean; NULL: no vocabulary speaks of it */
	const void *declared;    /* what the writer's declare made of it; NULL before */
	bool reader_applies;     /* the reader applies the plan itself; the engine leaves the events as they are */
	char apart[64];          /* others look at the above while the reader counts */
	uint64_t records;        /* how many records of this class were met; counted by the reader */
};

enum track_kind { TRACK_PROCESS, TRACK_THREAD };

/* Who did it: a process, or a thread (task, stream, ...) of one. */
struct track {
	uint32_t index; /* in trace.tracks: order of arrival */
	uint8_t kind;   /* enum track_kind */
	bool has_id;    /* false: the format knows none, writers may choose one */
	uint16_t lane;  /* 0: the track itself; n: its extra lane for overlapping spans, "name (n + 1)" */
	uint64_t id; /* pid or tid as the trace says, all 64 bits */
	struct slice name;
	bool is_child; /* it shows something of its parent, a thread or process: its states, its marks */
	const void *declared; /* what the writer's declare made of it; NULL before */
	/* The process of a thread, the track of a lane or of one that shows something of it; NULL for a process. */
	const struct track *parent;
};

/* The process that a track is of; a process itself. */
static inline const struct track *
track_process(const struct track *t)
{
	while (t->parent != NULL)
		t = t->parent;
	return t;
}

/* More tracks than these are put together on one; hostile input must not make memory grow with it. */
#define TRACE_MAX_TRACKS 98304

/* What is known of a whole trace.  The reader fills it while it reads. */
struct trace {
	struct arena arena; /* whatever lives as long as the trace */
	const char *format; /* name of the format */
	const char *dialect;
	const char *byte_order; /* "little", "big" or NULL where it means nothing */
	const char *clock;      /* e.g. "monotonic", "unix", "unknown" */
	bool epoch_known;
	uint64_t epoch_ns; /* wall time at ts 0, ns since 1970; only if epoch_known */
	struct class **classes;
	uint32_t nclasses, classes_cap;
	struct track **tracks; /* processes, threads and lanes alike */
	uint32_t ntracks, tracks_cap;
	struct field *meta; /* facts of the whole trace, in order of arrival */
	uint32_t nmeta, meta_cap;
	struct tabletext class_names;        /* name -> classes[] */
	struct table64 lanes;                /* track index << 16 | lane -> track index */
	struct tabletext child_tracks;       /* "index: what" -> track index */
	const struct vocabulary *vocabulary; /* what events mean; borrowed; NULL: nothing is known */
	struct definitions definitions;      /* what events said for others to look up */
	uint64_t records;                    /* all records met */
	uint64_t events;                     /* those that are not structure */
};

/* Says whether a class has a field; for rules that ask for fields. */
typedef bool trace_has_field(const void *ctx, struct slice name);

struct vocabulary;

struct vocabulary_ops {
	/* The meaning of a class of this name, or NULL.  `has` may be NULL: no fields are known. */
	const struct plan *(*find)(const struct vocabulary *v, struct slice class_name, trace_has_field *has,
	                           const void *ctx);
	/* The number of a table, or MEANING_NO_TABLE. */
	uint8_t (*table)(const struct vocabulary *v, struct slice name);
	/* How the vocabulary calls processes and threads: a template of one reference to "id"; NULL: it does
	 * not say. */
	const struct plan_template *(*track_name)(const struct vocabulary *v, bool process, uint64_t id);
};

/* What readers see of a vocabulary; vocab/ makes it. */
struct vocabulary {
	const struct vocabulary_ops *ops;
	uint8_t scopes[PLAN_MAX_TABLES]; /* enum meaning_scope of each table */
};

void trace_init(struct trace *t);
void trace_free(struct trace *t);

/* Each of these returns NULL (false) when memory is out.  Texts are copied into the trace's arena. */
struct class *trace_add_class(struct trace *t,
                              struct slice name); /* the one of this name, if there is one already */
struct track *trace_add_process(struct trace *t, struct slice name);
struct track *trace_add_thread(struct trace *t, const struct track *process, uint64_t id, struct slice name);
bool trace_add_meta(struct trace *t, struct slice name, struct value value);

/* Looks up what a class means, sets class.plan, and its category if the vocabulary has one.  Readers call it
 * once for each class, before its first event and when they know its fields.  NULL: nothing is known. */
const struct plan *trace_mean(struct trace *t, struct class *cls, trace_has_field *has, const void *ctx);

/* Whether fields of events of this class must be built even if nobody wants fields. */
static inline bool
class_needs_fields(const struct class *cls)
{
	return cls->plan != NULL && cls->plan->needs_fields && !cls->reader_applies;
}

/* The name of a process or thread: what the vocabulary calls one of this number, else "NOUN ID".  It lies in
 * the trace's arena.  p NULL: no memory. */
struct slice trace_track_name(struct trace *t, bool process, const char *noun, uint64_t id);

/* A definition that the reader knows (from a file beside the trace, say).  `process`: whose it is, NULL: the
 * whole trace's.  A table that no vocabulary declares: nothing happens.  false: no memory. */
bool trace_define(struct trace *t, const char *table, const struct track *process, uint64_t key1,
                  uint64_t key2, struct value value);

/* The track named "NAME: WHAT" below a thread's (or process's) own, made when it is asked for first.  NULL:
 * no memory. */
const struct track *trace_child_track(struct trace *t, const struct track *track, struct slice what);

/* The extra lane (>= 1) of a track, made when it is asked for first; lane 0 is the track itself. */
const struct track *trace_lane(struct trace *t, const struct track *track, uint16_t lane);

#endif
