#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include "check/findings.h"
#include "output/text_visible.h"

/* What a report says of one input besides its findings. */
struct report_file {
	const char *path;
	const char *format, *dialect; /* NULL: not recognised */
	uint64_t records;
	uint64_t unread_bytes;
	bool valid; /* no errors, and all of it was read */
	bool whole; /* it is all files of the trace together, which have been counted one by one */
};

/* ---- text: one finding a line, `FILE:@OFFSET: LEVEL: MESSAGE [RULE]` (`FILE:LINE:COLUMN:@OFFSET: ...` in
 * text formats) ---- */

void report_text_finding(struct text *t, const struct findings *j, const struct finding *f, bool color);

/* For each rule that was found more often than shown: how often. */
void report_text_rest(struct text *t, const struct findings *j);

/* One closing line: valid or not, what was read. */
void report_text_summary(struct text *t, const struct findings *j, const struct report_file *file);

/* ---- JSON: schemas/validate.schema.json ---- */

struct report_json {
	struct text text;
	uint64_t levels[LEVEL_COUNT]; /* of all files */
	bool any_file, any_finding;
};

void report_json_begin(struct report_json *r, const char *tool);
/* The findings of a file come before the file itself is known whole: they are gathered in `findings`. */
void report_json_finding(struct text *findings, const struct finding *f);
void report_json_file(struct report_json *r, const struct findings *j, const struct report_file *file,
                      const struct text *findings);
void report_json_end(struct report_json *r);

#endif
