#ifndef FORMAT_RECOVER_H
#define FORMAT_RECOVER_H

#include "base/compiler.h"
#include "format/format.h"

/*
 * Optional for a format with a reader: recovers the intact records of a damaged input.  All bytes, from first
 * to last, are kept, dropped or replaced.  The engine keeps the records that reader_ops.record reads, and
 * drops bytes from a bad one to where recover_ops.resync finds the next.
 */

/* A change to bytes of the input; kept bytes are not listed. */
struct recover_change {
	uint64_t offset, length; /* in the (unpacked) input */
	uint32_t inserted;       /* bytes of the output in their place */
	bool repaired;           /* no information of a record was lost */
	const struct rule *rule;
	const char *why;
};

#define RECOVER_WHY 512

/* Adjoining dropped bytes of one cause, not listed yet. */
struct recover_gap {
	uint64_t offset, length;
	const struct rule *rule; /* NULL: unknown yet */
	char why[RECOVER_WHY];
	bool structure; /* the rule is in recover_ops.structure */
	uint64_t found; /* offset of the finding */
};

struct recovery {
	const struct recover_ops *ops;
	struct reader *r;       /* opened */
	void *state;            /* state_size bytes, zeroed and freed by the engine */
	bool sort;              /* requested: unordered regions are sorted */
	bool lost;              /* after a bad record, until resync finds the next */
	uint64_t records;       /* retained */
	uint64_t at;            /* all bytes before this offset are decided */
	uint64_t kept, dropped; /* bytes */
	uint64_t gaps, repairs; /* numbers of listed changes */
	const char *run;        /* kept bytes that are not written yet ... */
	size_t run_n;           /* ... their number */
	char last;              /* the last byte of the output; 0 before the first */
	struct recover_gap gap;
	bool failed;                                     /* the output failed */
	bool (*put)(void *ctx, const char *p, size_t n); /* false: the output failed */
	void (*list)(void *ctx, const struct recover_change *c);
	void *ctx; /* argument of put and list */
};

struct recover_ops {
	size_t state_size;
	/* Ids of the format's error rules that no output of a recovery violates; NULL-terminated. */
	const char *const *structure;
	/* NULL if reader_ops.record skips damage itself.  Moves in->p to where a record may start.  Returns
	 * false if no record starts in the bytes passed over: about 1 MiB, or the rest of the window. */
	bool (*resync)(struct recovery *rc);
	/* Optional: called after the intact record before in->p; may decide for its bytes.  It may move the
	 * window if it retains the bytes from rc->at on: see ndjson's accept.c. */
	void (*record)(struct recovery *rc, const struct record *rec);
	/* Optional: returns false if the records up to in->p wait, in the window.  status: of the record
	 * after them; RECORD_END: the input ends.  With RECORD_BAD it may decide for more bytes, and set
	 * rc->lost. */
	bool (*keep)(struct recovery *rc, enum record_status status);
	/* Replaces these three functions, if records wait in separate memory, to be sorted or until the end
	 * of the document is known: reads from in->p, at most a few MiB, and decides for all bytes, in order,
	 * with the functions below.  Counts rc->records.  Returns false after the last byte; on OOM, sets
	 * r->no_memory. */
	bool (*next)(struct recovery *rc);
	void (*close)(struct recovery *rc); /* NULL: the state owns nothing */
};

/* These functions apply to the bytes from rc->at to `to`, a position in the window; kept bytes are in the
 * window, too, and remain valid until next() returns, even if the window moves. */
void recover_keep(struct recovery *rc, const char *to);
/* Reason: the first finding after the kept bytes, one of recover_ops.structure preferred; if there is none,
 * the next finding. */
void recover_drop(struct recovery *rc, const char *to);
/* Uses this reason, unless there is a finding. */
void recover_drop_for(struct recovery *rc, const char *to, const struct rule *rule, const char *why);
/* Replaces the bytes by the n bytes at p; an empty range inserts them. */
void recover_replace(struct recovery *rc, const char *to, const char *p, size_t n, const struct rule *rule,
                     const char *fmt, ...) PRINTF(6, 7);

/* For formats that buffer bytes: keeps the next n bytes of the input, of which p is a copy; replaces the next
 * n bytes by those at p. */
void recover_keep_copy(struct recovery *rc, const char *p, size_t n);
void recover_replace_copy(struct recovery *rc, const char *p, size_t n, const struct rule *rule,
                          const char *why);

/* ---- for the engine ---- */

/* Adds a finding of the reader. */
void recover_finding(struct recovery *rc, const struct finding *f);

/* Writes kept bytes before their memory is released. */
void recover_flush(struct recovery *rc);

/* After the last byte: lists the remaining changes. */
void recover_end(struct recovery *rc);

#endif
