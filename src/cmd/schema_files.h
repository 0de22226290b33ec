#ifndef CMD_SCHEMA_FILES_H
#define CMD_SCHEMA_FILES_H

#include "cmd/options.h"

/* Reads a vocabulary of the user and checks it; mistakes are said.  false: there were some. */
bool schema_read(const struct options *o, struct schema_file *s);
void schema_free(struct schema_file *s);

/* What a file holds, for who only checks it. */
struct schema_summary {
	char format[64];
	size_t rules;
	bool unreadable; /* it could not be read at all */
};

/* On success *text is the file's, to be given to schema_free(); `rest` gets a line about the mistakes that
 * the sink was not told.  false: it has mistakes. */
bool schema_check(const char *path, finding_sink *sink, void *ctx, struct slice *text,
                  struct schema_summary *summary, struct text *rest);

#endif
