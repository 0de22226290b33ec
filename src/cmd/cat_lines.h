#ifndef CMD_CAT_LINES_H
#define CMD_CAT_LINES_H

#include "model/batch.h"
#include "output/text.h"

/* What `cat` shows of a record.  hex: and its bytes, which the batch must have. */
void cat_text_record(struct text *t, const struct batch *b, uint32_t i, bool hex);

/* The same as a JSON object on a line of its own: schemas/cat.schema.json. */
void cat_json_record(struct text *t, const struct batch *b, uint32_t i, bool hex);

/* The records that follow are of this input. */
void cat_text_input(struct text *t, const char *path, const char *format);
void cat_json_input(struct text *t, const char *path, const char *format);

#endif
