#ifndef OUTPUT_COLUMNS_H
#define OUTPUT_COLUMNS_H

#include "base/compiler.h"
#include "output/text_visible.h"

/*
 * A table that fits the width of a line: names and texts are shortened as far as their columns allow, then
 * columns are left out, the least useful first.  Cells are written one after the other.
 */

#define COLUMNS_MAX 20

/* Forms of a report, those of commands in the order of "text|json|csv|md". */
enum report_form { FORM_TEXT, FORM_JSON, FORM_CSV, FORM_MARKDOWN, FORM_HTML };

enum column_kind {
	COLUMN_NUMBER, /* right-aligned; the others left-aligned */
	COLUMN_WORD,   /* never shortened */
	COLUMN_NAME,   /* shortened by text_shorten() */
	COLUMN_LIST,   /* shortened at its end by text_shorten_end() */
	COLUMN_TEXT,   /* broken at blanks over several lines */
};

struct column {
	const char *head; /* NULL in the first column: the table has no line of heads */
	enum column_kind kind;
	uint8_t min;  /* min characters of a name or text; other columns are dropped first */
	uint8_t drop; /* rank: columns with the highest are dropped first; 0: never */
};

/* Zero-initialise, then set `list` and `n`. */
struct columns {
	const struct column *list;
	unsigned n;
	unsigned without; /* bit i: column i is left out */
	unsigned indent;  /* spaces before each line */
	struct text text; /* all cells; the caller appends one, then calls columns_next() */
	size_t *ends;     /* ends of the cells, as offsets in text */
	uint32_t ncells, cap;
};

/* Ends the cell that was appended; sets text.failed on OOM. */
void columns_next(struct columns *c);

/* Each function adds a whole cell. */
void columns_str(struct columns *c, const char *s);
void columns_u64(struct columns *c, uint64_t v);
void columns_name(struct columns *c, struct slice s); /* text_visible_ends(), at most 256 bytes */
void columns_time(struct columns *c, uint128 ns);     /* text_time_short() */

/* Appends the table as text, two spaces between columns, no spaces at the end of a line, and frees it.
 * width 0: no limit. */
void columns_print(struct columns *c, struct text *out, unsigned width);

/* Appends the table in text, Markdown or HTML below its title, and the number of rows that are not
 * shown, and frees it.  title: NULL: none, in HTML "table".  rows: number of all rows; 0 in HTML only.  An
 * HTML table scrolls; its numbers have the class "n", names "t". */
void columns_end(struct columns *c, struct text *out, enum report_form form, const char *title, size_t rows,
                 size_t shown, unsigned width);

void columns_free(struct columns *c);

/* Appends a line beside the tables of a report in text, Markdown or HTML, escaped for the form or wrapped to
 * the width, and frees it. */
void columns_line(struct text *out, enum report_form form, unsigned width, struct text *line);

#endif
