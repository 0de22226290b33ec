#ifndef CHROME_STATE_H
#define CHROME_STATE_H

#include <inttypes.h>

#include "format/format.h"

/* What an event of a track says about it: `,"pid":1,"tid":7`. */
struct chrome_track {
	char text[48];
	uint8_t len;
	bool renamed; /* pid or tid are not the true ones */
	bool changed; /* readers show another name, of it or of its process */
	uint32_t pid, tid;
	uint32_t *part; /* of chrome-dir: the last one that names it, from 1 on; 0: none */
};

/* `","cat":"NAME","ph":"`, ready to copy. */
struct chrome_class {
	char *text;
	uint32_t len;
	bool changed; /* it is not UTF-8 */
};

/* Numbers that viewers can hold: pids and tids that fit 32 bits and are not 0. */
struct chrome_ids {
	struct table64 used; /* pid << 32 | tid (0 for the process itself) */
	uint32_t next_pid, next_tid, next_extra_tid;
};

/* Of chrome-dir: where it stands in its parts. */
struct chrome_parts {
	uint64_t most, bytes;  /* of a part; of this one so far */
	uint32_t begun, ended; /* parts; those that have the facts of the whole */
	bool any, comma;       /* an event is in this one; something is */
	const char **names;    /* of all parts */
	uint32_t names_cap;
	const struct track **tracks; /* that this part names */
	uint32_t ntracks, tracks_cap;
	struct chunk line, title; /* what comes next: an event; the names of its process and thread */
};

struct chrome_state {
	bool signed_time;       /* ts may be before 0; set by open */
	bool with_ids;          /* --ids */
	bool declared;          /* something: record_id is known */
	struct slice record_id; /* name of the first field, if it numbers events; else empty */
	struct arena arena;     /* of what tracks and classes are declared as */
	struct chrome_ids ids;
	struct chrome_parts parts;
};

static inline const struct chrome_track *
chrome_track_of(const struct track *t)
{
	return t->declared;
}

static inline const struct chrome_class *
chrome_class_of(const struct class *c)
{
	return c->declared;
}

enum chrome_loss {
#define LOSS(row, ...) CHROME_##row,
#include "chrome/losses.def"
#undef LOSS
	CHROME_LOSSES
};

extern const struct loss chrome_losses[CHROME_LOSSES + 1];
extern const struct writer_ops chrome_writer_ops, chrome_dir_writer_ops;

/* ---- chrome_write.c ---- */

void chrome_begin(struct writer *w);
bool chrome_declare(struct writer *w, const struct batch *b);

/* The begin of a document, and its end. */
void chrome_put_head(struct text *t);
void chrome_put_facts(const struct writer *w, const struct chrome_parts *parts, struct chunk *chunk);

/* Whether an event is shown; its lines, each with the comma behind the line before it. */
bool chrome_is_rendered(const struct event *e);
void chrome_render_event(const struct chrome_state *st, const struct batch *b, const struct event *e,
                         struct chunk *chunk);

/* The line that names a track.  first: of a process, its first thread, if it is known. */
void chrome_render_track(const struct track *k, const struct track *first, struct chunk *chunk);
void chrome_free(void *state);

/* ---- chrome_parts.c ---- */

const char *chrome_part_size_mistake(const char *arg);
void chrome_parts_free(struct chrome_parts *p);

/* ---- chrome_ids.c ---- */

/* Gives every new track its numbers, in order of arrival.  false: no memory. */
bool chrome_declare_track(struct chrome_state *st, struct track *t);

/* ---- chrome_order.c ---- */

/* Metadata events that tell viewers the order of these processes and threads.  false: no memory. */
bool chrome_put_order(const struct track *const *tracks, uint32_t n, struct text *t);

/* ---- chrome_args.c ---- */

/* The fields of an event as `,"args":{...}`; nothing when there are none.  Viewers that add up calls of one
 * name and equal args must not see a number in them that no other event has: it is left out here. */
void chrome_args(const struct chrome_state *st, const struct batch *b, const struct event *e,
                 struct chunk *chunk);

/* What numbers the event and, with --ids, the true ids of its process and thread, as `,"ids":{...}`. */
void chrome_event_ids(const struct chrome_state *st, const struct batch *b, const struct event *e,
                      struct chunk *chunk);

/* One value as JSON; losses are said for e. */
void chrome_value(struct chunk *chunk, const struct value *v, const struct event *e);

/* True if a reader that holds microseconds in a double gets the nanoseconds back. */
bool chrome_large_time_exact(uint64_t ns);

/* Below 2^43 us neighbouring doubles are less than a nanosecond apart. */
static inline bool
chrome_time_exact(uint64_t ns)
{
	return ns < (uint64_t)1000 << 43 || chrome_large_time_exact(ns);
}

#endif
