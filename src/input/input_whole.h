#ifndef INPUT_INPUT_WHOLE_H
#define INPUT_INPUT_WHOLE_H

#include <stdbool.h>
#include <stddef.h>

/* A file that is no trace and is read as a whole: a key, a policy, a vocabulary, a baseline. */
struct input_whole {
	char *p; /* n bytes and a NUL behind them; to be freed */
	size_t n;
	bool too_large, no_memory; /* why it failed */
	char why[128];             /* "is a named FIFO"; of a file that is too large, nothing */
};

/* Reads at most `most` bytes of a path, as they are.  "-", /dev/stdin, /dev/fd/N and /proc/self/fd/N may be
 * pipes; what has a name of its own must be a regular file, and no FIFO is waited for.  false: see above. */
bool input_read_whole(struct input_whole *w, const char *path, size_t most);

/* The same from an open descriptor, from where it stands. */
bool input_read_whole_fd(struct input_whole *w, int fd, size_t most);

#endif
