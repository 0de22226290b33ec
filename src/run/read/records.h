#ifndef RUN_READ_RECORDS_H
#define RUN_READ_RECORDS_H

#include "format/reader.h"

enum read_status {
	READ_MORE,
	READ_END,       /* the batch has the last events */
	READ_BAD,       /* likewise, but the rest cannot be read; a finding gives the reason */
	READ_NO_MEMORY, /* or a look-ahead pass failed, which has reported the reason */
};

struct record_marks;

/* Fills an empty batch with the next records of the input; it may remain empty while READ_MORE is returned.
 * With WANT_PLAIN and marks that have stretches, plain events are joined: as with WANT_RUNS, but the event is
 * an instant.  marks may be NULL; input: number of the input in the marks. */
enum read_status records_next(struct reader *r, struct batch *b, struct record_marks *marks, uint32_t input);

/* Reads the record at the start of the window, without an event. */
enum record_status records_check(struct reader *r, struct record *rec);

/* Grows the window after RECORD_MORE.  The `held` bytes before its start remain in memory. */
void records_more(struct input *in, size_t held);

#endif
