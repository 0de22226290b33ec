#ifndef OUTPUT_OUTPUT_TEMP_H
#define OUTPUT_OUTPUT_TEMP_H

#include <stdbool.h>
#include <sys/types.h>

#include "output/output_register.h"

/*
 * A file or a folder that grows under a temporary name beside its target.  From
 * creation until it is published or removed, its name stands in the register of
 * output_register.h.
 */
struct output_temp {
	char *path;         /* the temporary name; NULL: there is no such file */
	const char *target; /* the caller's; must live as long as the file has its temporary name */
	struct output_registered *entry;
	int dir; /* where both begin; AT_FDCWD: as any path */
	bool folder;
	enum output_temp_named {
		TEMP_UNNAMED,
		TEMP_NAMED,   /* it has its target's name, and can give it back */
		TEMP_SWAPPED, /* the same, and what had that name before has its temporary one */
	} named;
};

/* Creates the file for writing, beside `target` (whose links are already followed).  keep_mode: the
 * permission bits it gets; -1: 0666 less the umask.  The descriptor, or -1 with errno set and nothing left
 * behind. */
int output_temp_create(struct output_temp *t, const char *target, int keep_mode);

/* The same for a file in an open folder, which stays open until the file is published or removed; target: its
 * name there. */
int output_temp_create_in(struct output_temp *t, int dir, const char *target, int keep_mode);

/* Creates a folder beside `target`, with the mode 0777 less the umask.  false: errno, and nothing is left
 * behind. */
bool output_temp_create_folder(struct output_temp *t, const char *target);

/* Gives the file its target's name.  0, or an errno value (the file then still has its temporary name);
 * EEXIST: the target exists and `replace` is false. */
int output_temp_publish(struct output_temp *t, bool replace);

/* The same of a file, so that it can be taken back until output_temp_remove(): what is replaced is kept so
 * long, if the file system has a way to do so. */
int output_temp_try(struct output_temp *t, bool replace);

/* Takes the name away again, and gives it back to who had it. */
void output_temp_take_back(struct output_temp *t);

/* It has another name now, or is gone: it will not be removed. */
void output_temp_forget(struct output_temp *t);

/* Removes the file, if there still is one, or after output_temp_try() the one that it replaced; of a folder
 * also what was registered as inside. */
void output_temp_remove(struct output_temp *t);

#endif
