#ifndef CMD_LOSS_MATRIX_H
#define CMD_LOSS_MATRIX_H

#include "format/format.h"

/* What can be lost between each format that is read and each that is written, as rows of losses and what
 * readers say of their events (format/holds.h) tell. */

/* A table: outputs down, inputs across, how many kinds of loss there are; of one format, the ways to it and
 * from it. only: NULL: all. */
void loss_matrix_text(struct text *t, const struct format *only, unsigned width);

/* One pair: the kinds, and those of the engine. */
void loss_matrix_pair(struct text *t, const struct format *from, const struct format *to, unsigned width);

/* All pairs, or those of one format: schemas/formats-matrix.schema.json. */
void loss_matrix_json(struct text *t, const struct format *only);

#endif
