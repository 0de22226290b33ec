#ifndef CHROME_CHROME_H
#define CHROME_CHROME_H

#include <inttypes.h>
#include <stdio.h>

#include "format/format.h"
#include "json/scan.h"
#include "json/token.h"

/* ---- read ---- */

enum chrome_rule {
#define RULE(name, id, level, text, spec, explain) CHROME_RULE_##name,
#include "chrome/rules.def"
#undef RULE
	CHROME_RULE_COUNT
};

extern const struct rule chrome_rules[CHROME_RULE_COUNT + 1];
extern const struct reader_ops chrome_reader_ops;

#define CHROME_MAX_EVENT (8u << 20) /* bytes of an event, or of another member of the file's object */
#define CHROME_MAX_WHO 60000        /* processes and threads */
#define CHROME_MAX_ID 200           /* bytes of a pid or tid that is text */
#define CHROME_MAX_TITLE 250
#define CHROME_MAX_CLASSES 4096
#define CHROME_MAX_OPEN (1u << 18) /* flows, and async spans */
#define CHROME_MAX_ARGS 60000
#define CHROME_MAX_META 64

/* Members that the reader looks at. */
enum chrome_member {
	CHROME_NAME,
	CHROME_CAT,
	CHROME_PH,
	CHROME_TS,
	CHROME_DUR,
	CHROME_PID,
	CHROME_TID,
	CHROME_ID,
	CHROME_ID2,
	CHROME_SCOPE,
	CHROME_S,
	CHROME_ARGS,
	CHROME_IDS,
	CHROME_MEMBERS
};

struct chrome_token {
	const char *p, *end;
	enum json_kind kind; /* JSON_ABSENT: it is not there */
};

struct chrome_record {
	struct chrome_token of[CHROME_MEMBERS];
	const char *p, *end; /* from { to behind } */
	char ph;
	uint64_t ts, dur; /* ns */
	bool has_ts, has_dur;
	bool twice; /* a member stands in it more than once */
};

/* Spans of a thread, to see which overlap in part. */
#define CHROME_SPANS 16

struct chrome_span {
	uint64_t from, to;
};

/* A process or thread. */
struct chrome_who {
	struct slice title; /* from metadata; p NULL: none */
	uint64_t id, true_id;
	bool has_id, has_true_id, checked;
	const struct track *track; /* NULL: no event yet */
	struct chrome_who *owner;  /* the process of a thread; NULL: not looked up yet */
	uint64_t begun;            /* spans that are open ... */
	uint64_t begun_at;         /* ... and where the outermost begins */
	struct chrome_span spans[CHROME_SPANS];
	uint32_t nspans;
};

/* An async span that has begun, or one end of a flow. */
struct chrome_open {
	uint64_t ts;
	uint32_t below; /* the one of the same key that it is in, or the next free one; + 1; 0: none */
	uint32_t nname, nargs;
	char *text; /* name, then args, from malloc; NULL: none */
	bool early; /* the end of a flow whose begin was not met yet */
};

enum chrome_where { CHROME_AT_START, CHROME_IN_OBJECT, CHROME_IN_EVENTS, CHROME_AT_END };

struct chrome_reading {
	struct reader *r;
	struct json json;
	struct chrome_record rec;
	enum chrome_where where;
	bool in_object; /* the events are in one */
	bool first;     /* nothing stands before in the object or array */
	bool has_events;
	bool no_memory;
	uint64_t line, line_start; /* of in->p */

	struct tabletext ids; /* pid, or pid and tid -> whos[] */
	struct chrome_who **whos;
	uint32_t nwhos, whos_cap;
	struct chrome_who *more;             /* stands for all beyond the limit */
	char last_id[2 * CHROME_MAX_ID + 4]; /* of the last thread that was looked up */
	uint32_t last_id_n, last_who;
	struct chrome_reading *titles_to; /* itself; in a look-ahead pass who asked for it */
	bool looked_ahead;

	struct tabletext class_names; /* cat -> trace.classes[] */
	struct class *recent, *gaps;

	struct table64
	    open_keys; /* hash of what identifies a flow or async span -> open[] + 1; 0: none is open */
	struct chrome_open *open;
	uint32_t nopen, open_cap, free_open; /* the first that is free, + 1 */
	uint32_t in_use;
	uint64_t open_bytes;              /* of text that waits */
	uint64_t async_open, flows_early; /* at present */
	uint64_t seed;
	bool limits[4];
	struct arena scratch; /* for one event */
};

/* Whether the format has events of this phase. */
static inline bool chrome_phase_known(char ph)
{
	return ph != '\0' && strchr("BEXiIPCbneSTpFstfMNODRcvV", ph) != NULL;
}

/* reader_ops.probe */
int chrome_probe(struct slice head, bool complete);

/* ---- chrome_read.c ---- */

/* At a place of the window. */
void chrome_report(struct chrome_reading *st, enum chrome_rule rule, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

enum chrome_limit { CHROME_LIMIT_WHO, CHROME_LIMIT_CLASSES, CHROME_LIMIT_OPEN, CHROME_LIMIT_ARGS };

/* A limit, once. */
void chrome_report_limit(struct chrome_reading *st, enum chrome_limit which, const char *what);

/* ---- chrome_record.c ---- */

/* ts and dur, with findings. */
void chrome_times(struct chrome_reading *st);

/* A text, escapes resolved; what is no string as it stands.  p NULL: no memory. */
struct slice chrome_text(struct arena *a, const struct chrome_token *t);

static inline struct slice chrome_token_text(const struct chrome_token *t)
{
	return t->kind == JSON_ABSENT ? slice_of("", 0) : json_text(t->p, t->end, t->kind);
}

/* The members of the object [p, end) as fields of the event, behind those that it has.  false: no memory. */
bool chrome_fields(struct chrome_reading *st, struct batch *b, struct event *e, const char *p,
                   const char *end);

/* ---- chrome_who.c ---- */

void chrome_who_free(struct chrome_reading *st);

/* ---- chrome_open.c ---- */

/* An async span begins; it ends: *began is what was open (its text is the caller's).  false: nothing was. */
void chrome_async_begins(struct chrome_reading *st);
bool chrome_async_ends(struct chrome_reading *st, struct chrome_open *began);

/* A flow of st->rec (s, t, f); returns its id as 64 bits. */
uint64_t chrome_flow(struct chrome_reading *st);

/* At the end: what is still open. */
void chrome_open_finish(struct chrome_reading *st);
void chrome_open_free(struct chrome_reading *st);

/* ---- chrome_event.c ---- */

/* Checks st->rec, and adds its event. */
void chrome_take(struct chrome_reading *st, struct batch *b);

/* At the end: spans that have not ended. */
void chrome_take_finish(struct chrome_reading *st);

/* ---- state ---- */

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

static inline const struct chrome_track *chrome_track_of(const struct track *t)
{
	return t->declared;
}

static inline const struct chrome_class *chrome_class_of(const struct class *c)
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

void chrome_parts_free(struct chrome_parts *p);

/* ---- chrome_ids.c ---- */

/* Gives every new track its numbers, in order of arrival.  false: no memory. */
bool chrome_declare_track(struct chrome_state *st, struct track *t);

/* ---- chrome_order.c ---- */

/* Metadata events that tell viewers the order of these processes and threads.  false: no memory. */
bool chrome_put_order(const struct track *const *tracks, uint32_t n, struct text *t);

/* ---- chrome_args.c ---- */

/* True if a reader that holds microseconds in a double gets the nanoseconds back. */
bool chrome_large_time_exact(uint64_t ns);

/* Below 2^43 us neighbouring doubles are less than a nanosecond apart. */
static inline bool chrome_time_exact(uint64_t ns)
{
	return ns < (uint64_t)1000 << 43 || chrome_large_time_exact(ns);
}

#endif
