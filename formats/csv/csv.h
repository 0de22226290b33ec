#ifndef CSV_CSV_H
#define CSV_CSV_H

#include "format/fields_json.h"
#include "format/format.h"

/*
 * Two formats, one table: csv separates cells by commas and quotes what needs
 * it (RFC 4180), tsv separates them by tabs and escapes with backslashes.
 */

enum csv_loss {
#define LOSS(row, ...) CSV_LOSS_##row,
#include "csv/losses.def"
#undef LOSS
	CSV_LOSSES
};

enum tsv_loss {
#define LOSS(row, ...) TSV_LOSS_##row,
#include "csv/tsv_losses.def"
#undef LOSS
	TSV_LOSSES
};

extern const struct loss csv_losses[CSV_LOSSES + 1];
extern const struct loss tsv_losses[TSV_LOSSES + 1];
extern const struct writer_ops csv_writer_ops;
extern const struct writer_ops tsv_writer_ops;

/* In which ways a text is not what it was. */
enum csv_harm { CSV_BAD_TEXT = 1, CSV_HIDDEN = 2 };

/* Cells that all events of a track or class have, with the separators between and behind them. */
struct csv_cells {
	const char *p;
	uint32_t n;
	uint32_t bad_text, hidden; /* texts of them that are not what they were */
};

struct csv_state {
	bool tabs;          /* it is tsv */
	bool signed_time;   /* ts may be before 0 */
	struct arena arena; /* of what tracks and classes are declared as */
};

static inline const struct csv_cells *csv_cells_of(const void *declared)
{
	return declared;
}

static inline char csv_separator(bool tabs)
{
	return tabs ? '\t' : ',';
}

/* ---- csv_cell.c ---- */

/* ---- csv_declare.c ---- */

#endif
