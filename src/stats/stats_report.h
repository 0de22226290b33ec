#ifndef STATS_STATS_REPORT_H
#define STATS_STATS_REPORT_H

#include "output/text_visible.h"
#include "run/choose/select_found.h"
#include "stats/stats.h"

/* One input and what was counted in it. */
struct stats_view {
	const char *path;
	uint64_t bytes;                   /* of the unpacked trace */
	const struct trace *trace;        /* read to its end */
	const struct stats *stats;        /* after stats_end() */
	const struct select_found *found; /* what was selected of it, and of how many events; NULL: all */
	bool classes;   /* text lists them, too: of all records, and so with found == NULL alone */
	unsigned width; /* characters in a line of text; 0: as many as it takes */
};

/* The JSON report (schemas/stats.schema.json): begin, one call for each input, end.
 * `first`: nothing stands before this input.  false: no memory. */
bool stats_json_begin(struct text *t, const char *tool);
bool stats_json_input(struct text *t, const struct stats_view *v, bool first);
bool stats_json_end(struct text *t);

/* The report for people.  Names and categories are shortened where a line would be longer than the width (and
 * beyond 256 bytes in any case).  At most `top` rows of each table; 0: all.  false: no memory. */
#define STATS_TOP 30
bool stats_text(struct text *t, const struct stats_view *v, size_t top);

#endif
