#ifndef CMD_TOP_H
#define CMD_TOP_H

#include "cli/traces.h"
#include "cmd/events/event_text.h"
#include "stats/stats.h"
#include "stats/tables/longest.h"
#include "stats/tables/open.h"

/* `top`: what top.c collects and top_report.c prints. */

struct top_run {
	struct trace_run run;
	unsigned form; /* enum report_form */
	bool gaps, arrows, outliers;
	uint64_t limit, threads, max_repeat;               /* limit: items of a trace, or of a group */
	const char *words_fields, *words_by, *words_times; /* arguments as given; NULL: not given */
	struct group_by by;                                /* n 0: no groups */
	uint32_t times;                                    /* argument of --times, in thousandths */
	struct shown_fields fields;
};

/* Latest end of the spans of a track so far, for --gaps. */
struct covered {
	uint64_t until; /* ns */
	char *name;     /* n bytes: name of the span that ends there; NULL: no span yet */
	uint32_t n;
};

/* The items of a trace, or of a portion that is read apart, or the sum of all portions. */
struct top {
	const struct top_run *run;
	const char *path;
	struct longest items;    /* items of group 0, or of each group */
	struct stats stats;      /* the groups, and durations for their p99 */
	uint64_t first_ns;       /* time of the first event; UINT64_MAX: none */
	uint64_t zero_ns;        /* trace.zero_ns */
	struct covered *covered; /* by index of the track */
	uint32_t ncovered;
	struct arrow_pairing arrows; /* open_arrow.what: 1 if not selected */
	struct text scratch;
	uint32_t lacking;      /* bit i: no span has the field fields.names[i] */
	struct arena tracks;   /* of a sum: copies of tracks of its portions */
	uint64_t tracks_bytes; /* of a sum: size of these copies */
	struct track **copies; /* of a portion: copies of its tracks in the sum, by index of the track */
	uint32_t ncopies;
};

/* Completes the items of a trace, and writes its part of the report. */
void top_report(struct top_run *run, struct top *t);

#endif
