#ifndef DIAL9_WRITE_COPY_H
#define DIAL9_WRITE_COPY_H

/* The copier of dial9 traces: its state, and what copies of all records (copy.c) and selections (select.c)
 * share. */

#include "dial9/write/write.h"

struct d9w_selection;

struct d9w_copy {
	struct copier *copier;
	enum d9_dialect to;  /* dialect of the output */
	uint64_t base;       /* timestamp_base_ns of the output */
	uint64_t input_base; /* timestamp_base_ns of the input; only if times are rebased */
	/* of a copy of all records */
	bool any;                        /* output is not empty */
	bool skipping;                   /* records of this input are left out */
	uint64_t next;                   /* offset after the last record of this input */
	uint64_t left;                   /* missing entries of the last written frame */
	struct text last;                /* an entry of that frame */
	struct d9w_selection *selection; /* NULL: all records are copied */
};

/* Kind of the record of a raw event. */
enum d9w_record {
	D9W_HEADER_RECORD,
	D9W_SCHEMA_RECORD,
	D9W_HEAD_RECORD,  /* of a pool or annotations, with the first entry if there is one */
	D9W_ENTRY_RECORD, /* a later entry */
	D9W_RESET_RECORD,
	D9W_EVENT_RECORD,
	D9W_RUN_RECORD, /* events and resets: COPIER_RUNS */
};

enum d9w_record d9w_record_of(const struct batch *b, const struct event *e);

/* Updates the time base of the input by a record.  Needed for each record if times are moved. */
void d9w_follow_time(struct d9w_copy *copy, const struct batch *b, const struct event *e,
                     enum d9w_record kind);

/* Returns the time of a record in the output: that of the event unless --rebase made it negative. */
uint64_t d9w_output_time(const struct d9w_copy *copy, const struct event *e, enum d9w_record kind);

/* Writes an event frame, with another delta if the record before it is left out. */
void d9w_copy_event(struct d9w_copy *copy, bool timed, uint64_t ts, struct slice bytes);

/* ---- selections (select.c) ---- */

/* NULL: no memory. */
struct d9w_selection *d9w_selection_new(void);
void d9w_selection_free(struct d9w_selection *s); /* may be NULL */

/* Writes a record and the definitions that it refers to, or retains it. */
void d9w_select_record(struct d9w_copy *copy, const struct batch *b, const struct event *e,
                       struct slice bytes);

/* Writes what the end of the input needs: symbols, and a header if nothing is selected. */
void d9w_select_end(struct d9w_copy *copy);

#endif
