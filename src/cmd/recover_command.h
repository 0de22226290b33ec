#ifndef CMD_RECOVER_COMMAND_H
#define CMD_RECOVER_COMMAND_H

#include "cmd/convert_output.h"
#include "cmd/recover_list.h"
#include "cmd/say.h"

/* One run of the command, for its own files. */
struct recover {
	struct options options;
	const char *in, *out;
	const char *report; /* NULL: none */
	bool sort, json;
	struct recover_list list;
	struct convert_output output;
	const char *file; /* of the output folder, that is written now; NULL: the output is no folder */
	bool found;       /* a trace in the folder that is the input */
	struct progress progress;
	enum exit_status status; /* the worst so far */
};

/* Opens the output and the list of changes.  false: it was said why not. */
bool recover_open(struct recover *c, enum writer_shape shape);

/* Recovers one input, which it takes over.  from: NULL: told by content.  false: it cannot be read, or the
 * output failed. */
bool recover_input(struct recover *c, const char *path, const struct format *from, struct input *in);

/* Recovers all traces of the folder that is the input, and copies the other files.  false: as above. */
bool recover_folder(struct recover *c);

#endif
