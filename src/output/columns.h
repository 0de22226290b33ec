#ifndef OUTPUT_COLUMNS_H
#define OUTPUT_COLUMNS_H

#include "output/text_visible.h"

/*
 * A table for people that fits the width of a line: names and texts are
 * shortened as far as their columns allow, then columns are left out, the
 * least useful first.  Cells are written one after the other.
 */

#define COLUMNS_MAX 16

enum column_kind {
	COLUMN_NUMBER, /* at the right of its width */
	COLUMN_WORD,   /* at the left, never shortened */
	COLUMN_NAME,   /* at the left; text_shorten() */
	COLUMN_TEXT,   /* at the left; broken at blanks over several lines */
};

struct column {
	const char *head; /* of the first one NULL: the table has no line of heads */
	enum column_kind kind;
	uint8_t least; /* columns that a name or text needs before other columns are left out for it */
	uint8_t drop;  /* the highest are left out first; 0: never */
};

/* Zero-initialise, then set `list` and `n`. */
struct columns {
	const struct column *list;
	unsigned n;
	unsigned without; /* bit i: column i is left out */
	unsigned indent;  /* spaces before each line */
	struct text text; /* all cells; the maker writes here, then calls columns_next */
	size_t *ends;     /* of the cells in text */
	size_t ncells, cap;
};

/* Ends the cell that was written; without memory text.failed is set. */
void columns_next(struct columns *c);

/* A cell of its own. */
void columns_str(struct columns *c, const char *s);
void columns_u64(struct columns *c, uint64_t v);
void columns_name(struct columns *c, struct slice s); /* of a trace: made visible, 256 bytes of it at most */
void columns_time(struct columns *c, unsigned __int128 ns); /* text_time_short() */

/* Appends the table, two spaces between columns, no spaces at the end of a line; width 0: as wide as it
 * takes. */
void columns_print(const struct columns *c, struct text *out, unsigned width);

void columns_free(struct columns *c);

#endif
