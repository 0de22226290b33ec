#ifndef DFTRACER_RAW_H
#define DFTRACER_RAW_H

#include "dftracer/state.h"

/*
 * Raw events: each record as the file has it, and what stands between records.
 *
 * The bytes of a record go from its opening brace over the rest of its line,
 * line end included, as far as nothing but blanks and commas follow; so a file
 * without a record is the file without its line.  All other bytes are those of
 * events of two classes: brackets, empty lines and the like, and what cannot
 * be read.  Their only field is the text.  All bytes put together are the
 * input.
 */

/* The fields of a record.  Out of memory: st->no_memory. */
void dft_raw_fields(struct dft_state *st, const struct dft_record *rec, struct batch *b, struct event *e);

/* Gives the record's event, the last of the batch, the bytes up to `to`; NULL: as much of its line as belongs
 * to it. */
void dft_raw_cover(struct dft_state *st, struct batch *b, const struct dft_record *rec, const char *to);

/* One event for the whole lines `bytes`, which end where the window begins: see WRITER_RAW_RUNS. */
void dft_raw_add_run(struct dft_state *st, struct batch *b, struct slice bytes);

/* Whether events of the class are what stands between records, or cannot be read. */
bool dft_is_gap(const struct class *c);
bool dft_is_unreadable(const struct class *c);

/* Adds an event for what was consumed since the last event, if it was something. */
void dft_raw_gap(struct dft_state *st, struct batch *b);

#endif
