#ifndef FORMAT_FIELD_PATH_H
#define FORMAT_FIELD_PATH_H

#include "model/event_traits.h"

/*
 * Values by path: "data.url" is the member `url` of the object or map in the field `data`, and "frames.0.url"
 * that of its first element if `frames` is a list.  A name may have dots: at each level the longest one wins.
 */

#define PATH_TEXT 4096 /* bytes of a text whose escapes are replaced; a longer one is its JSON text */

/* A value that was read from JSON text. */
struct path_value {
	struct value value;
	char text[PATH_TEXT];
};

/* Returns a value of the fields, or &to->value; NULL: there is none, or the path has no dot. */
const struct value *field_path_find(const struct field *f, uint32_t n, struct slice path,
                                    struct path_value *to);

/* The same for the name of a field or a path; a field of the whole name comes first. */
static inline const struct value *field_value(const struct field *f, uint32_t n, struct slice name,
                                              struct path_value *to)
{
	const struct field *const found = field_find(f, n, name);

	return found != NULL ? &found->value : field_path_find(f, n, name, to);
}

#endif
