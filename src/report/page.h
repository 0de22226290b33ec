#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "report/report.h"

/* The HTML page: findings, and what `report` adds to them. */

/* A file of src/report/page/, as bytes between tags; `hash` is for the Content-Security-Policy. */
struct page_asset {
	const char *text;
	size_t n;
	const char *hash;
};

extern const struct page_asset page_asset_page_css, page_asset_page_js;

/* What stands beside the findings; texts are HTML, `data` is JSON.  Zero-initialise. */
struct report_page {
	const char *title; /* visible text; NULL: that of validate */
	struct text facts; /* before the findings, or after them if findings_first */
	struct text sections, data;
	bool findings_first;
};

void report_page_free(struct report_page *p);

#endif
