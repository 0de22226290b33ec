#ifndef FORMAT_REGISTRY_H
#define FORMAT_REGISTRY_H

#include "format/format.h"

/* All formats, in the order of formats.def, NULL-terminated. */
extern const struct format *const formats[];

const struct format *format_by_name(const char *name); /* NULL: none */

/* The writable format whose suffix the path ends in (before .gz or .zst); of several the longest suffix
 * counts, then the first format.  NULL: none. */
const struct format *format_by_suffix(const char *path);
const struct format *format_by_suffix_of(const struct format *const *list, const char *path);

/* Whether a file of this name, found in a folder, may be a trace: its suffix (before .gz or .zst) is one of
 * the format's, or of any readable format when that is NULL (but none of those that
 * files of other kinds have too). */
bool format_wants_name(const struct format *format, const char *name);

/* The readable format with the longest suffix that this name of a file in a folder has; NULL: none. */
const struct format *format_of_name(const char *name);

/* The format (this one, or any when NULL) to whose traces a file of this name belongs without holding events;
 * NULL: none. */
const struct format *format_of_sidecar(const struct format *format, const char *name);

/* Whether readers of the format (any when NULL) open files of this name beside their inputs. */
bool format_opens_beside(const struct format *format, const char *name);

/* The readable format that claims the bytes; NULL: nobody does, or *no_memory, and nobody knows. */
const struct format *format_probe(struct slice head, bool whole, bool *no_memory);

/* A rule of any format or of the engine; NULL: none. */
const struct rule *rule_by_id(const char *id);

/* Calls `visit` for each rule: of inputs, of vocabularies, of policies, of the formats in their order. */
void rules_visit(void (*visit)(void *ctx, const struct rule *rule), void *ctx);

/* The nearest rule id to a mistyped one; NULL if none is near. */
const char *rule_nearest_name(const char *id);

#endif
