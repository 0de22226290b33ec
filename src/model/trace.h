#ifndef MODEL_TRACE_H
#define MODEL_TRACE_H

#include "base/memory.h"
#include "base/table.h"
#include "model/definitions.h"
#include "model/event.h"
#include "model/plan.h"
#include "model/value.h"

/* Facts of a whole trace.  The reader fills it while it reads. */
struct trace {
	struct arena arena; /* memory with the lifetime of the trace */
	const char *format, *dialect;
	const char *byte_order, *clock;   /* "little", "big" or NULL; "monotonic", "unix", "unknown" ... */
	const char *record_id;            /* name of the first field of events if it numbers them; or NULL */
	bool epoch_known, has_times;      /* epoch_ns is valid; first_start is valid */
	bool dialect_known, wants_stacks; /* no later record of this input changes the dialect; WANT_STACKS */
	bool free_order, labelled;  /* begins and ends pair by time; names of processes state their file */
	uint64_t epoch_ns, zero_ns; /* wall time at zero_ns, ns since 1970; ts of time 0, see TRACE_ZERO */
	uint64_t first_start, last_end;    /* of sorted output, as order keys */
	const struct trace_origin *origin; /* NULL: none */
	uint32_t parts;                    /* traces of its job, a program of several processes; 0: unknown */
	struct class **classes, **planned; /* planned: by their index */
	uint32_t nclasses, classes_cap, nplanned, planned_cap;
	struct track **tracks; /* processes and threads; at the end lanes too */
	struct field *meta;    /* facts of the whole trace, in order of arrival */
	uint32_t ntracks, tracks_cap, nmeta, meta_cap;
	uint64_t records, events, further, facts_lost; /* further: events after the first of their record */
	/* For the engine. */
	struct tabletext class_names;        /* name -> the first of its classes[] */
	struct table64 class_plans;          /* hash by trace_plan_class() -> planned[] */
	struct tabletext child_tracks;       /* "index: what" -> track index */
	struct texts texts;                  /* of trace_text() */
	struct trace_name *names;            /* cache of trace_event_name() */
	const struct vocabulary *vocabulary; /* borrowed; NULL: none */
	struct definitions definitions;      /* stated by events, looked up by others */
};

/* Called before a change of the trace, except of records, events, further and facts_lost, which only the
 * reader uses before the end.  The functions below and allocations in the trace's arena call it. */
void trace_change(struct trace *t);

/* Finds or creates the class with the name, fields, plan, reader_applies and category (p NULL: the plan's,
 * else the name) of `like`.  Copies its texts, but not those of its fields, into the trace's arena. */
struct class *trace_plan_class(struct trace *t, const struct class *like);
struct class *trace_add_class(struct trace *t, struct slice name);  /* has only a name */
struct class *trace_name_class(struct trace *t, struct slice name); /* to be planned before its first event */
struct track *trace_add_process(struct trace *t, struct slice name);
struct track *trace_add_thread(struct trace *t, const struct track *process, uint64_t id, struct slice name);
bool trace_add_meta(struct trace *t, struct slice name, struct value value);
const struct field *trace_meta(const struct trace *t, struct slice name); /* the first, or NULL */

/* Interns a text that events repeat: texts_intern().  Only for the reader or, with free_order, for
 * interpretation, as it passes no gate. */
struct slice trace_text(struct trace *t, struct slice s);

/* The same for names of events, with a small cache, as traces use few.  Texts without flags are scanned. */
struct slice trace_event_name(struct trace *t, struct slice s);

#define TRACE_MAX_TRACKS 98304 /* further ones share a track, to bound memory */
#define TRACE_MAX_DEPTH 64     /* ancestors of a track; deeper ones are attached to the last */

/* The vocabulary's plan for classes of this name, or NULL.  has NULL: none of their fields is known. */
const struct plan *trace_find_plan(const struct trace *t, struct slice name, trace_has_field *has,
                                   const void *ctx);

/* Whether fields of events of this class must be built even if the consumer wants none. */
static inline bool class_needs_fields(const struct class *cls)
{
	return cls->shows_stacks || (cls->plan != NULL && cls->plan->needs_fields && !cls->reader_applies);
}

#endif
