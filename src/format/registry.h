#ifndef FORMAT_REGISTRY_H
#define FORMAT_REGISTRY_H

#include "format/format.h"

/* All formats, in the order of formats.def, NULL-terminated. */
extern const struct format *const formats[];

const struct format *format_by_name(const char *name); /* NULL: none */

/* The writable format by the path's suffix (before .gz or .zst): the longest suffix wins, then the first
 * format. NULL: none. */
const struct format *format_by_suffix(const char *path);
const struct format *format_by_suffix_of(const struct format *const *list, const char *path);

/* The writable format by a suffix that stands for its name, with or without the dot. NULL: none. */
const struct format *format_of_suffix(const char *suffix);

/* Whether a file of this name in a folder may be a trace: its suffix (before .gz or .zst) is one of the
 * format's, or, if that is NULL, of any readable format whose suffixes are its own. */
bool format_wants_name(const struct format *format, const char *name);

/* Whether a file of this name in a folder without other traces may be one: its suffix is that of a readable
 * format whose suffixes are common. */
bool format_wants_common_name(const char *name);

/* The length of the name of an input without a suffix of compression, and without slashes at its end. */
size_t format_unpacked_length(const char *name);

/* The readable format with the longest suffix that matches the name of a file in a folder; NULL: none. */
const struct format *format_of_name(const char *name);

/* The format (this one, or any if NULL) that has a sidecar of this name, which is a file of a trace that
 * contains no events.  NULL: none. */
const struct format *format_of_sidecar(const struct format *format, const char *name);

/* Whether readers of the format (any if NULL) open files of this name next to their inputs. */
bool format_opens_auxiliary(const struct format *format, const char *name);

/* Parts of events (enum want) that the writer or copier of the format needs. */
unsigned format_output_wants(const struct format *to);

/* Whether records of the format can be copied with some of them omitted. */
bool format_omits_records(const struct format *f);

/* The readable format that recognises the bytes.
 * Returns NULL if none does, or on OOM (*no_memory is set). */
const struct format *format_probe(struct slice head, bool whole, bool *no_memory);

/* Iterates over all rules: inputs, vocabularies, policies, then formats in their order.  Zero-initialise *w.
 * Returns NULL after the last rule. */
struct rule_walk {
	size_t list;
	const struct rule *rule;
};
const struct rule *rule_next(struct rule_walk *w);

/* The rule id most similar to a mistyped one; NULL: none is similar. */
const char *rule_nearest_name(const char *id);

#endif
