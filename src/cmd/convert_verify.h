#ifndef CMD_CONVERT_VERIFY_H
#define CMD_CONVERT_VERIFY_H

#include "compare/digest.h"
#include "run/pipeline.h"

struct convert;

/* How the output is compared with what was written.  Where bytes or digests differ, or losses were counted,
 * the input is read once more and compared event by event. */
enum verify_by {
	VERIFY_RULES,  /* not at all: it is only read, and checked by the rules of its format */
	VERIFY_BYTES,  /* a copy of the records of one input: first with the bytes of that */
	VERIFY_DIGEST, /* first the digest of all events */
	VERIFY_EVENTS, /* events, which are kept: the input can be read only once */
};

/* --verify: compares the output with what was written before it gets its name. */
struct convert_verify {
	bool wanted;
	bool implied; /* by another option: what can be read back is checked by its rules, no more */
	bool begun;
	enum verify_by by;
	uint64_t events;      /* VERIFY_EVENTS: that are compared */
	struct digest digest; /* VERIFY_DIGEST */
	struct sorter sorter; /* VERIFY_EVENTS: all of them, to be put in order of time */
};

/* Whether the output can be read back; false after a message, and the status of the options set. */
bool convert_verify_check(struct convert *c);

/* Whether the bytes of the input may be all that the output is compared with, if records are copied. */
bool convert_verify_can_compare_bytes(const struct convert *c, const struct pipeline_job *job);

/* When the output is opened; false after a message, and c->status set. */
bool convert_verify_begin(struct convert *c);

/* A batch that is about to be written; false after a message: the events cannot be kept. */
bool convert_verify_add(struct convert *c, const struct batch *b);

/* Reads the complete output; false after a message: it differs in what the losses do not declare, or cannot
 * be read.  If it breaks rules of its format, c->status says so. */
bool convert_verify_end(struct convert *c);

void convert_verify_free(struct convert_verify *v);

/* ---- for convert_verify_events.c ---- */

/* The order in which events are compared. */
enum event_order convert_verify_order(const struct convert *c);

/* Which fields are compared; added: those that all events of the output may have besides. */
struct event_fields convert_verify_fields(const struct convert *c, const char *const *added);

/* Says why; returns false. */
bool convert_verify_sorter_failed(const struct convert *c);

#endif
