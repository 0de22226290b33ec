#ifndef STATS_TABLES_CELLS_H
#define STATS_TABLES_CELLS_H

#include "base/compiler.h"
#include "json/out.h"
#include "output/columns.h"

/*
 * A table of a report in text, Markdown, HTML, CSV or JSON: each cell is written once, in the order of the
 * columns, and formatted for the form.  In CSV each row begins with the path of the trace; in JSON the rows
 * are objects of a list, and cells without a value are left out.
 */

struct cell_column {
	struct column column; /* of text; head NULL: not in text */
	const char *key;      /* of JSON, and the head of CSV; times end in _ns */
};

struct cells {
	enum report_form form;
	struct text *t;
	struct slice path;
	unsigned width;
	size_t max_rows;       /* of text; 0: all */
	uint64_t first_ns;     /* times of text are relative to it */
	uint64_t zero_ns;      /* times of other forms are relative to it: trace.zero_ns */
	struct json_out *json; /* of FORM_JSON */
	bool with_heads;       /* CSV begins with the names of the columns */
	/* the table */
	const char *title; /* NULL in the middle of a table */
	const struct cell_column *list;
	unsigned at;
	size_t rows;
	bool shown;  /* the current row, in text */
	bool listed; /* JSON: the table began the list */
	struct columns columns;
	struct column heads[COLUMNS_MAX];
};

/* Begins a table: `key` is its member in JSON; NULL: the rows go to a list that is open. */
void cells_begin(struct cells *c, const char *title, const char *key, const struct cell_column *list,
                 unsigned n);

/* Begins a row; all cells of the previous row must be written. */
void cells_row(struct cells *c);

/* Each writes the next cell. */
void cells_name(struct cells *c, struct slice s);
void cells_visible(struct cells *c, struct slice s); /* visible text; not in CSV and JSON */
void cells_count(struct cells *c, uint64_t v);
void cells_time(struct cells *c, uint128 ns);
void cells_at(struct cells *c, uint64_t ns);           /* a time on the clock of the trace */
void cells_share(struct cells *c, uint128 millionths); /* of 1 */
void cells_real(struct cells *c, double v);
void cells_none(struct cells *c, unsigned n); /* n cells without a value */

/* Ends the table.  Returns false on OOM. */
bool cells_end(struct cells *c);

/* Writes a line below the table, in text, Markdown and HTML. */
void cells_note(struct cells *c, const char *fmt, ...) PRINTF(2, 3);

/* Writes the next cell: in text, a bar of up to eight columns, in eighths of a column.  part: of 1. */
void cells_bar(struct cells *c, double part);

#endif
