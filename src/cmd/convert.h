#ifndef CMD_CONVERT_H
#define CMD_CONVERT_H

#include "cmd/anonymise_options.h"
#include "cmd/convert_options.h"
#include "cmd/convert_output.h"
#include "cmd/convert_split.h"
#include "cmd/convert_verify.h"
#include "cmd/losses_out.h"
#include "cmd/say.h"
#include "run/adjust/join.h"
#include "run/write/writing.h"

/* One run of convert: what the command line says, and where it stands. */
struct convert {
	struct options options;
	const char *const *in; /* operands */
	size_t nin;
	const char *out, *to_name; /* to_name: of --to; NULL: by the suffix of `out` */
	const struct format *to;
	uint64_t threads, sort_memory, max_repeat;
	bool raw, no_lanes, rebase, keep_partial, skip_existing;
	struct anonymise_options anonymise;
	const char *offsets;     /* the file of merge --align; NULL: none */
	const struct join *join; /* the inputs are so many traces; NULL: they are one */
	struct losses_out losses;
	struct convert_verify verify;
	struct convert_split split;
	struct progress progress;
	struct convert_output output;
	struct pipeline pipeline;
	struct writing writing;
	uint64_t records;        /* of all inputs so far */
	bool is_nothing;         /* one of them had errors, and none a record */
	enum exit_status status; /* of the inputs so far */
};

/* What is read and how. */
struct pipeline_job convert_job(struct convert *c);

/* Reads the inputs and hands all to the writer.  false: not all could be read or written. */
bool convert_write(struct convert *c, const struct pipeline_job *job);

/* Opens the output and the reports, before anything is read.  false after a message; nothing is left then. */
bool convert_open(struct convert *c);

/* Leaves nothing of what is open. */
void convert_close(struct convert *c);

/* Reads the inputs and writes the output, which it opens if it is not, as the members up to skip_existing
 * say.  For tests, too: of writers that are in no list. */
enum exit_status convert_run(struct convert *c);

#endif
