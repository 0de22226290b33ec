#ifndef EVENT_TRACE_H
#define EVENT_TRACE_H

#include "base/arena.h"
#include "base/table.h"
#include "event/event.h"

/* A field as a class declares it; for `info` and for writers that need a schema. */
struct class_field {
	struct slice name;
	struct slice type; /* in the format's own words: "uint32_t", "string" */
};

/* What kind of record an event is: a class, a schema, a category. */
struct class {
	struct slice name;
	struct slice category; /* what viewers group by; the name unless the format has better */
	uint32_t index;        /* in trace.classes: order of arrival */
	uint32_t nfields;
	const struct class_field *fields;
	uint64_t records; /* how many records of this class were met; counted by the reader */
};

enum track_kind { TRACK_PROCESS, TRACK_THREAD };

/* Who did it: a process, or a thread (task, stream, ...) of one. */
struct track {
	uint32_t index; /* in trace.tracks: order of arrival */
	uint8_t kind;   /* enum track_kind */
	bool has_id;    /* false: the format knows none, writers may choose one */
	uint16_t lane;  /* 0: the track itself; n: its extra lane for overlapping spans, shown as "name (n + 1)" */
	uint64_t id;    /* pid or tid as the trace says, all 64 bits */
	struct slice name;
	const struct track *parent; /* the process of a thread, the thread of a lane; NULL for a process */
};

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
	struct tabletext class_names; /* name -> classes[] */
	struct table64 lanes;         /* track index << 16 | lane -> track index */
	uint64_t records;     /* all records met */
	uint64_t events;      /* those that are not structure */
};

void trace_init(struct trace *t);
void trace_free(struct trace *t);

/* Each of these returns NULL (false) when memory is out.  Texts are copied into the trace's arena. */
struct class *trace_add_class(struct trace *t, struct slice name); /* the one of this name, if there is one already */
struct track *trace_add_process(struct trace *t, struct slice name);
struct track *trace_add_thread(struct trace *t, const struct track *process, uint64_t id, struct slice name);
bool trace_add_meta(struct trace *t, struct slice name, struct value value);

/* The extra lane (>= 1) of a track, made when it is asked for first; lane 0 is the track itself. */
const struct track *trace_lane(struct trace *t, const struct track *track, uint16_t lane);

#endif
