/* Private header of the writers of Chrome JSON: chrome (write.c) and chrome-dir (parts.c); tracks.c numbers
 * tracks for both. */
#ifndef CHROME_WRITE_WRITE_H
#define CHROME_WRITE_WRITE_H

#include <inttypes.h>
#include <stdio.h>

#include "base/table.h"
#include "format/format.h"

enum chrome_loss {
#define LOSS(row, ...) CHROME_##row,
#include "chrome/losses.def"
#undef LOSS
	CHROME_LOSSES
};

extern const struct loss chrome_losses[CHROME_LOSSES + 1];
extern const struct writer_ops chrome_writer_ops, chrome_dir_writer_ops;

/* A track as its events refer to it. */
struct chrome_track {
	char text[48]; /* `,"pid":1,"tid":7` */
	uint8_t len;
	bool renamed; /* pid or tid are not the true ones */
	bool changed; /* its name or the name of its process is not UTF-8 */
	uint32_t pid, tid;
	uint32_t *part; /* chrome-dir: number of the last part that names it, from 1; 0: none */
};

/* Numbers that viewers can hold: pids and tids that fit 32 bits and are not 0. */
struct chrome_ids {
	struct table64 used; /* pid << 32 | tid (0 for the process itself) */
	uint32_t next_pid, next_tid, next_extra_tid;
};

/* Progress of chrome-dir.  "Current" is the part that is being written. */
struct chrome_parts {
	uint64_t max_bytes, bytes; /* limit of a part; size of the current one */
	uint32_t begun, ended;     /* number of parts */
	bool has_event;            /* the current part has one */
	const char **names;        /* file names of all parts */
	uint32_t names_cap;
	const struct track **tracks; /* named by the current part */
	uint32_t ntracks, tracks_cap;
	struct chunk line, title; /* buffers: the next event; the names of its process and thread */
};

struct chrome_state {
	bool signed_time;       /* ts may be before 0; set by open */
	bool with_ids;          /* --ids */
	bool declared;          /* record_id is set */
	bool named;             /* the name of a track was written */
	bool of_chrome;         /* the input has this format */
	struct slice record_id; /* name of the first field if it numbers events, else empty */
	struct arena arena;     /* declared data of tracks and classes */
	struct chrome_ids ids;
	struct chrome_parts parts;
};

static inline const struct chrome_track *chrome_track_of(const struct track *t)
{
	return t->declared;
}

/* ---- write.c ---- */

void chrome_set_options(struct writer *w);
bool chrome_declare(struct writer *w, const struct batch *b, struct chunk *chunk);

/* Write the start and the end of a document.  parts NULL: the document is not a part. */
void chrome_put_head(struct text *t);
void chrome_put_facts(const struct writer *w, const struct chrome_parts *parts, struct chunk *chunk);

/* The order of a batch's lines, without those that have none.  Zero-initialise. */
struct chrome_line_order {
	uint32_t at;
	bool looked, has_short_spans;
	uint64_t early; /* a bit for each event from `at` on: it was returned before */
};

/* Returns the next event, or NULL. */
const struct event *chrome_next_line(struct chrome_line_order *o, const struct batch *b);

/* Write the lines of an event and of a track.  Each starts with the comma that follows the line before. */
void chrome_render_event(const struct chrome_state *st, const struct batch *b, const struct event *e,
                         struct chunk *chunk);

/* first: the first thread of a process, or NULL. */
void chrome_render_track(const struct track *k, const struct track *first, bool comma, struct chunk *chunk);
void chrome_free(void *state);

/* ---- parts.c ---- */

void chrome_parts_free(struct chrome_parts *p);

/* ---- tracks.c ---- */

/* Gives a new track its numbers, in order of arrival.  Returns false on OOM. */
bool chrome_declare_track(struct chrome_state *st, struct track *t);

/* Writes metadata events that give viewers the order of these processes and threads. */
bool chrome_put_order(const struct track *const *tracks, uint32_t n, struct text *t);

#endif
