#ifndef EVENT_VOCABULARY_H
#define EVENT_VOCABULARY_H

#include "model/trace.h"

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
