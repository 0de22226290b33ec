#ifndef CMD_DIFF_REPORT_H
#define CMD_DIFF_REPORT_H

#include "compare/compare.h"
#include "output/text.h"

/* Contents of the report of `diff`.  Zero-initialise. */
struct diff_report {
	const char *paths[DIFFER_SIDES]; /* borrowed */
	unsigned width;                  /* columns of text; 0: any */
	uint64_t bias;                   /* 2^63 for signed times, which makes them comparable by ^; else 0 */
	uint64_t start;                  /* ns ^ bias: the first time of both sides */
	uint64_t starts[DIFFER_SIDES];   /* ns ^ bias: the first time of each side */
	uint64_t shown;                  /* number of differences so far */
	bool complete;                   /* at the end: both sides were read */
	struct differ differ;
	struct by_name names;
};

/* A form of the report; each function appends to t.  `difference` returns false on OOM. */
struct diff_form {
	void (*begin)(struct text *t, const struct diff_report *v);
	bool (*difference)(struct text *t, const struct diff_report *v, const struct difference *d);
	void (*end)(struct text *t, const struct diff_report *v);
};

extern const struct diff_form diff_text, diff_json;

uint64_t diff_count(const struct differ *d); /* of differences so far */

#endif
