#ifndef STATS_COLUMNS_H
#define STATS_COLUMNS_H

#include "output/text_visible.h"

/* A table for people: cells are written one after the other, printed when all widths are known. */
#define COLUMNS_MAX 16

/* Zero-initialise, then set `columns`. */
struct columns {
	unsigned columns;
	unsigned left;    /* bit i: column i stands at the left of its width, not at the right */
	struct text text; /* all cells; the maker writes here, then calls columns_next */
	struct columns_cell {
		size_t end;     /* of the cell in text */
		uint32_t width; /* in characters */
	} * cells;
	size_t n, cap;
	uint32_t widths[COLUMNS_MAX];
};

/* Ends the cell that was written; false: no memory (text.failed is set). */
bool columns_next(struct columns *c);

/* A cell of its own. */
bool columns_str(struct columns *c, const char *s);
bool columns_u64(struct columns *c, uint64_t v);

/* A time with a fitting unit and up to four digits: 999 ns, 1.234 us, 56.78 ms, 12345 s. */
void text_time(struct text *t, unsigned __int128 ns);

/* The same with three digits, as percentiles are known to 1 %, so that a table of times has one precision and
 * a percentile never seems to be more than the maximum: 999 ns, 1.23 us, 567 ms, 12345 s. */
bool columns_time(struct columns *c, unsigned __int128 ns);

/* The rows, two spaces before each and between columns, no spaces at the end of a line. */
void columns_print(const struct columns *c, struct text *out);

/* Characters of its longest line. */
unsigned columns_width(const struct columns *c);

void columns_free(struct columns *c);

#endif
