#ifndef FORMAT_RECOVER_H
#define FORMAT_RECOVER_H

#include "format/format.h"

/*
 * An optional part of a format that can be read: keeps the whole records of a
 * damaged input.  The format reads with its reader's own functions, wants no
 * events, and says of all bytes, from first to last, what becomes of them.
 */

/* What happened to bytes of the input; bytes that are kept are not listed. */
struct recover_change {
	uint64_t offset, length; /* in the (unpacked) input */
	uint32_t inserted;       /* bytes that the output has in their place */
	bool repaired;           /* nothing that a record says was lost */
	const struct rule *rule;
	const char *why;
};

#define RECOVER_WHY 512

/* Bytes that are about to be listed as dropped: of one cause. */
struct recover_gap {
	uint64_t offset, length;
	const struct rule *rule; /* NULL: not known yet */
	char why[RECOVER_WHY];
	bool structure; /* the rule is one of structure */
	uint64_t found; /* where, as the finding says */
};

struct recovery {
	const struct recover_ops *ops;
	struct reader *r;       /* opened */
	void *state;            /* state_size bytes, zeroed and freed by the engine */
	bool sort;              /* asked for: regions without order are put in order */
	uint64_t records;       /* retained, counted by the format */
	uint64_t at;            /* all bytes before this offset were kept, dropped or replaced */
	uint64_t kept, dropped; /* bytes */
	uint64_t gaps, repairs; /* changes that were listed */
	const char *run;        /* kept bytes that were not written yet ... */
	size_t run_n;           /* ... and how many */
	char last;              /* the last byte of the output; 0 before the first */
	struct recover_gap gap;
	bool failed;                                     /* the output cannot be written */
	bool (*put)(void *ctx, const char *p, size_t n); /* false: the output failed */
	void (*list)(void *ctx, const struct recover_change *c);
	void *ctx; /* of both */
};

struct recover_ops {
	size_t state_size;
	/* Ids of the format's rules of level error that an output never breaks; NULL-terminated. */
	const char *const *structure;
	/* Reads on from in->p, at most some MiB, and passes all of these bytes on, in order, with the
	 * functions below.  READ_END: all bytes were.  Never READ_BAD. */
	enum read_status (*next)(struct recovery *rc);
	void (*close)(struct recovery *rc); /* NULL: the state owns nothing */
};

/* These take the bytes from rc->at to `to`, which is a place of the window; those that are kept lie in
 * the window too.  They stay valid until next() returns, also when the window moves on. */
void recover_keep(struct recovery *rc, const char *to);
/* Why, the last finding behind the kept bytes says, or the next one. */
void recover_drop(struct recovery *rc, const char *to);
/* For this reason, unless a finding says why. */
void recover_drop_for(struct recovery *rc, const char *to, const struct rule *rule, const char *why);
/* Puts n bytes in their place, or, if there are none, between those before and behind. */
void recover_replace(struct recovery *rc, const char *to, const char *p, size_t n, const struct rule *rule,
                     const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* For formats that hold bytes back: the next n bytes of the input, of which p is a copy; and n bytes at p in
 * place of as many. */
void recover_keep_copy(struct recovery *rc, const char *p, size_t n);
void recover_replace_copy(struct recovery *rc, const char *p, size_t n, const struct rule *rule,
                          const char *why);

/* ---- for the engine ---- */

/* A finding of the reader. */
void recover_finding(struct recovery *rc, const struct finding *f);

/* Writes what is kept, before its memory goes away. */
void recover_flush(struct recovery *rc);

/* After the last byte: lists what is not listed yet. */
void recover_end(struct recovery *rc);

#endif
