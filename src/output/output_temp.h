#ifndef OUTPUT_OUTPUT_TEMP_H
#define OUTPUT_OUTPUT_TEMP_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * A file that grows under a temporary name beside its target.  From creation
 * until it is published or removed, its name stands in a register that the
 * handlers of output_handle_signals() go through.
 */
struct output_temp {
	char *path;         /* the temporary name; NULL: there is no such file */
	const char *target; /* the caller's; must live as long as the file has its temporary name */
};

/* Creates the file for writing, beside `target` (whose links are already followed).  keep_mode: the
 * permission bits it gets; -1: 0666 less the umask.  The descriptor, or -1 with errno set and nothing left
 * behind. */
int output_temp_create(struct output_temp *t, const char *target, int keep_mode);

/* Gives the file its target's name.  0, or an errno value (the file then still has its temporary name);
 * EEXIST: the target exists and `replace` is false. */
int output_temp_publish(struct output_temp *t, bool replace);

/* Removes the file, if there still is one. */
void output_temp_remove(struct output_temp *t);

#endif
