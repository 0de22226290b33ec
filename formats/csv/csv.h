#ifndef CSV_CSV_H
#define CSV_CSV_H

/*
 * Private header of two formats with the same table: csv separates cells by commas and quotes them (RFC
 * 4180); tsv separates them by tabs and escapes with backslashes.
 *
 *   write.c   the writer of both
 */

#include "format/format.h"

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

/* Returns the mistake in an argument of --column; NULL if there is none. */
const char *csv_column_mistake(const char *arg);

#endif
