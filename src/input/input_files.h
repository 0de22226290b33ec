#ifndef INPUT_INPUT_FILES_H
#define INPUT_INPUT_FILES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/table.h"

/*
 * The files that a run reads, by their paths.  A run may read an input in several passes, and each is to see
 * the same file: what one pass found is of no use for another file.
 *
 * The first INPUT_FILES_OPEN files stay open from the first pass on, so that it does no harm if another file
 * gets the name of one of them.  Of the others, a file that is opened again must be the same as before:
 * device, inode, size and time of the last change.  That a file was written to between two passes is noticed
 * for all of them.  A file that could not be opened at first is not there in later passes either.
 *
 * Zero-initialise to start, but for `lock`.  Any thread may use it.  About 100 bytes for each file.
 */
#define INPUT_FILES_OPEN 16

struct input;

/* What tells a file from others, and from itself at another time. */
struct input_id {
	dev_t device;
	ino_t inode;
	uint64_t size; /* bytes */
	struct timespec modified;
};

struct input_files {
	pthread_mutex_t lock;   /* PTHREAD_MUTEX_INITIALIZER */
	struct table64 by_path; /* hash of the path -> index of a row */
	struct input_files_row {
		struct input_id id;
		int fd; /* open; -1: none */
		char *
		    fault; /* of the first attempt to open it: its kind in a byte, and the text; NULL: none */
	} * rows;
	uint32_t n, cap, nopen;
	void (*before_again)(void *ctx, const char *path); /* for tests: a file is opened another time */
	void *ctx;
	atomic_bool changed; /* an input was another one, or another pass could not open it */
	char *changed_path;  /* of the first such; NULL: none, or no memory */
	char changed_why[300];
};

/* Closes files.  The inputs are closed already. */
void input_files_free(struct input_files *f);

/* ---- for input_open.c ---- */

enum input_files_known {
	INPUT_FILES_NEW,
	INPUT_FILES_AGAIN,  /* it was opened before */
	INPUT_FILES_FAILED, /* it could not be opened before: the fault is set */
};

/* What is known of the input's path.  *fd: a descriptor that is the caller's, on the file that was opened
 * before; -1: it is to be opened by its path. */
enum input_files_known input_files_look(struct input_files *f, struct input *in, int *fd);

/* Notes that it could not be opened: the fault is set. */
void input_files_note_fault(struct input_files *f, struct input *in);

/* Notes what was opened, or compares it with what was opened before.  false: it is another one, or there is
 * no memory; the fault is set. */
bool input_files_note(struct input_files *f, struct input *in, int fd, const struct stat *st);

/* The input is read through a descriptor, which moves the place in the file that is shared with the one that
 * is kept: that one is closed. */
void input_files_unkeep(struct input_files *f, const struct input *in);

struct input_id input_id_of(const struct stat *st);

#endif
