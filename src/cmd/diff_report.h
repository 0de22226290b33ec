#ifndef CMD_DIFF_REPORT_H
#define CMD_DIFF_REPORT_H

#include "cmd/cmd.h"
#include "compare/field_differences.h"

/* What diff reports. */
struct diff_view {
	const char *paths[DIFFER_SIDES];
	const struct differ *differ;
	uint64_t start; /* ns: the first time of both sides */
	uint64_t starts[DIFFER_SIDES];
	unsigned width; /* of text; 0: any */
	uint64_t shown; /* differences so far */
	bool complete;  /* at the end: both sides were read */
};

struct diff_form {
	void (*begin)(struct text *t, const struct diff_view *v);
	/* false: no memory. */
	bool (*difference)(struct text *t, const struct diff_view *v, const struct difference *d);
	void (*end)(struct text *t, const struct diff_view *v);
};

extern const struct diff_form diff_text, diff_json;

#endif
