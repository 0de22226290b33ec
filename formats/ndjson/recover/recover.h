/*
 * The private header of the recovery of NDJSON.
 *
 *   recover.c   lines, and the records in them: kept, replaced, dropped
 *   accept.c    which lines the output can have, as its reader will see them
 *   mend.c      the texts of lines that are changed or inserted
 *   ahead.c     what the lines that follow define
 */
#ifndef NDJSON_RECOVER_RECOVER_H
#define NDJSON_RECOVER_RECOVER_H

#include "base/table.h"
#include "json/repair.h"
#include "ndjson/ndjson.h"

/* Indexes that are defined after the current line, as far as was looked. */
struct ndjson_ahead {
	struct table64 tracks, classes; /* index -> position in the list */
	uint64_t *list;                 /* offsets, each the last one of its index */
	uint32_t n, cap;
	uint64_t head, end; /* after the offset of a line of type trace, trace_end; 0: none */
	uint64_t to;        /* offset: the lines before it were looked at ... */
	uint64_t looked;    /* ... and no line feed is before this one */
};

struct ndjson_recovery {
	bool head, ended;         /* the line of type trace, of type trace_end, is in the output */
	bool over;                /* another trace, or version, follows: nothing of it is kept */
	uint64_t records, events; /* in the output: lines of events, with and without structure */
	uint64_t next_track, next_class;
	struct table64 processes; /* pid -> index of the track */
	bool has_unnumbered;      /* a process without an id ... */
	uint64_t unnumbered;      /* ... its index */
	struct ndjson_ahead ahead;
	struct ndjson_faults faults;
	struct {
		struct text text;
		const char *type; /* of the first */
		uint64_t index, n;
	} inserted; /* lines of tracks and classes, to be written before the next line */

	/* The current line. */
	struct text copy;     /* its bytes */
	struct text texts[2]; /* what it becomes */
	struct text line;     /* one that is inserted */
	struct json_repair *repair;
	enum ndjson_rule rule;    /* the first fault ... */
	char why[NDJSON_MESSAGE]; /* ... and its text */
	const char *from;         /* in the copy: the bytes before it are decided */
	bool any;                 /* a record of it was kept */
};

/* ---- accept.c ---- */

/* Returns the end of the object at p if it is strict JSON; else NULL, and the faults say why. */
const char *ndjson_frame(struct recovery *rc, const char *p, const char *e);

/* Reads [p, end) as the next line of the output.  Returns false if the output cannot have it as it is: the
 * faults say why.  Moves the window, if references must be searched ahead. */
bool ndjson_accept(struct recovery *rc, const char *p, const char *end);

/* The same for a line in the window, which it does not move: false if it may have to. */
bool ndjson_accept_plain(struct recovery *rc, const char *p, const char *end);

/* ---- mend.c ---- */

/* Writes the current line without what its faults name.  Returns false if that is of no use. */
bool ndjson_mend(struct ndjson_reading *st, struct text *to);

/* Returns NDJSON_TRACE or NDJSON_TRACE_END if the damaged line is one and the output has none; else
 * NDJSON_TYPES. */
enum ndjson_type ndjson_restorable(const struct ndjson_reading *st, const struct ndjson_recovery *s);

/* Writes a line of this type with the members that the current line has, or none if it is lost, and those
 * that it must have.  Returns false on OOM. */
bool ndjson_restore(struct ndjson_reading *st, const struct ndjson_recovery *s, enum ndjson_type type,
                    bool lost, struct text *to);

/* Write the lost line of the class, and of the track, with this index, which the current line refers to by
 * the member m. */
void ndjson_put_class(struct text *to, const struct ndjson_reading *st, uint64_t index);
void ndjson_put_track(struct text *to, const struct ndjson_reading *st, const struct ndjson_recovery *s,
                      enum ndjson_member m, uint64_t index);

/* ---- ahead.c ---- */

/* Whether a line up to 1 MiB after in->p has this index.  Moves the window; the bytes from rc->at on stay. */
bool ndjson_is_ahead(struct recovery *rc, bool track, uint64_t index);

/* The same: whether the next line is of type trace; whether any is of type trace_end. */
bool ndjson_type_is_ahead(struct recovery *rc, enum ndjson_type type);

#endif
