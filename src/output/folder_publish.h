#ifndef OUTPUT_FOLDER_PUBLISH_H
#define OUTPUT_FOLDER_PUBLISH_H

#include "output/output_failure.h"
#include "output/output_temp.h"

/* How paths are exchanged: rename_exchange(), or what a test puts in its place. */
typedef int folder_exchange(const char *a, const char *b);

/* Gives a temporary folder the name of its target, which `replace` allows to be a folder that tracetool made:
 * see output_folder.h.  false after setting *failure; the target is as it was then, unless the failure says
 * what could not be removed of the old one. */
bool folder_publish(struct output_temp *temp, bool replace, folder_exchange *exchange,
                    struct output_failure *failure);

/* Whether a path may become the output.  false after setting *failure. */
bool folder_may_replace(const char *path, bool replace, struct output_failure *failure);

#endif
