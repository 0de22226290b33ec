#ifndef BASE_SPILL_FILE_H
#define BASE_SPILL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A temporary file without a name, for data that does not fit in memory.
 *
 * It has no name from the start (O_TMPFILE), or, on file systems that cannot
 * do that, loses its name at once, with all signals blocked in between.  So
 * nothing is left behind however the process ends.  Only on such file systems,
 * SIGKILL or a power failure within those microseconds leaves an empty file
 * ".tracetool-spill-XXXXXX".
 *
 * After a failure all further calls fail; spill_reason() says what was first.
 */
enum spill_action { SPILL_NOTHING, SPILL_CREATE, SPILL_WRITE, SPILL_READ };

struct spill_file {
	int fd;
	bool is_open;
	uint64_t size;            /* what is written goes behind this */
	char *folder;             /* where it lies, for messages */
	enum spill_action failed; /* the action that failed ... */
	int error;                /* ... and its errno */
};

/* Zero-initialise *f.  Creates the file in the folder of the path `beside` (normally the output, which need
 * not exist); NULL: in $TMPDIR, or /tmp when that is not set. */
bool spill_open(struct spill_file *f, const char *beside);

bool spill_write(struct spill_file *f, const void *p, size_t n);

/* Anywhere: what lies between the end and `offset` becomes zeros. */
bool spill_write_at(struct spill_file *f, uint64_t offset, const void *p, size_t n);

/* All n bytes; to ask for bytes that were not written is a failure too. */
bool spill_read(struct spill_file *f, uint64_t offset, void *p, size_t n);

/* These bytes will not be read again: gives their disk space back where the file system can do that. */
void spill_discard(struct spill_file *f, uint64_t offset, uint64_t n);

/* One line: "FOLDER: cannot write the temporary file for sorting: No space left on device".  `purpose`:
 * "sorting". */
void spill_reason(const struct spill_file *f, const char *purpose, char *why, size_t size);

/* Also after a failure, and of a file that was never opened. */
void spill_close(struct spill_file *f);

#endif
