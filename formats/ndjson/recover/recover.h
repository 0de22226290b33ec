/*
 * Private header of the recovery of NDJSON.
 *
 *   recover.c   lines, and the records in them: kept, replaced, dropped
 *   accept.c    lines that the output can have, as a reader will read them: indexes that later lines define,
 *               texts of changed and inserted lines
 */
#ifndef NDJSON_RECOVER_RECOVER_H
#define NDJSON_RECOVER_RECOVER_H

#include "base/table.h"
#include "json/repair.h"
#include "ndjson/ndjson.h"

/* Indexes that are defined after the current line, in the searched lines. */
struct ndjson_ahead {
	struct table64 tracks, classes; /* index -> position in the list */
	uint64_t *list;                 /* offsets: of each index, the last line that defines it */
	uint32_t n, cap;
	uint64_t head, end; /* offset + 1 of a line of type trace, trace_end; 0: none */
	uint64_t to;        /* offset: the lines before it were searched ... */
	uint64_t looked;    /* ... and no line feed follows up to this offset */
};

struct ndjson_recovery {
	bool head, ended;         /* the line of type trace, of type trace_end, is in the output */
	bool over;                /* another trace or version follows: none of its lines are kept */
	uint64_t read_to;         /* where the last line ends that was read: longer ones are passed over */
	uint64_t records, events; /* event lines in the output, with and without structure */
	uint64_t next_track, next_class;
	struct table64 processes; /* pid -> index of the track */
	bool has_unnumbered;      /* a process without an id ... */
	uint64_t unnumbered;      /* ... its index */
	struct ndjson_ahead ahead;
	struct ndjson_faults faults;
	struct {
		struct text text;
		const char *type; /* type of the first one */
		uint64_t index, n;
	} inserted; /* lines of tracks and classes, to be written before the next line */

	/* The current line. */
	struct text copy;     /* its bytes */
	struct text texts[2]; /* its replacement */
	struct text line;     /* a line to insert */
	struct json_repair *repair;
	enum ndjson_rule rule;    /* the first fault ... */
	char why[NDJSON_MESSAGE]; /* ... and its text */
	const char *from;         /* in the copy: the bytes before are decided */
	bool any;                 /* a record of the line was kept */
};

/* ---- accept.c ---- */

/* Returns the end of the object at p if it is strict JSON; else NULL, and the faults state why. */
const char *ndjson_frame(struct recovery *rc, const char *p, const char *e);

/* Reads [p, end) as the next line of the output.  Returns false if the output cannot have it unchanged: the
 * faults state why.  Moves the window if later lines must be searched for references. */
bool ndjson_accept(struct recovery *rc, const char *p, const char *end);

/* Same as ndjson_accept() for a line in the window, without moving it; false if that may be needed. */
bool ndjson_accept_plain(struct recovery *rc, const char *p, const char *end);

/* Writes the current line without its faulty parts.  Returns false if the rest is useless. */
bool ndjson_mend(struct ndjson_reading *st, struct text *to);

/* Returns NDJSON_TRACE or NDJSON_TRACE_END if the damaged line is one and the output has none; else
 * NDJSON_TYPES. */
enum ndjson_type ndjson_restorable(const struct ndjson_reading *st, const struct ndjson_recovery *s);

/* Writes a line of this type with the members of the current line, or without them if `lost`, and with all
 * members that it must have.  Returns false on OOM. */
bool ndjson_restore(struct ndjson_reading *st, const struct ndjson_recovery *s, enum ndjson_type type,
                    bool lost, struct text *to);

/* Whether the next line is of type trace; whether a line up to 1 MiB after in->p is of type
 * trace_end.  Moves the window; the bytes from rc->at on stay. */
bool ndjson_type_is_ahead(struct recovery *rc, enum ndjson_type type);

#endif
