#ifndef CMD_OUTPUT_FORMAT_H
#define CMD_OUTPUT_FORMAT_H

#include "cmd/options.h"

/* The format of an output: the one named by --to (NULL: not given), or by the suffix of its name.  NULL after
 * a message that says what there is, and o->status set. */
const struct format *output_format(struct options *o, const char *to, const char *out);

/* Whether this output can be in that format, with --raw or without.  false after a message, and o->status
 * set. */
bool output_format_fits(struct options *o, const struct format *to, const char *out, bool raw);

/* Whether all options that were given, and are for outputs of some formats alone, are for this one.  false
 * after a message, and o->status set. */
bool output_options_fit(struct options *o, const struct format *to);

/* Whether an option says how this format is to be written: then records of it are not copied. */
bool output_is_made_anew(const struct options *o, const struct format *to);

#endif
