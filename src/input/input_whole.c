#include "input/input_whole.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/input_open.h"
#include "input/input_source.h"

enum { FIRST_ROOM = 16 << 10 };

/* To the end, or to one byte more than it may have. */
static bool
read_all(struct input_whole *w, int fd, size_t most)
{
	size_t room = 0;

	while (w->n <= most) {
		if (room - w->n < 2) {
			const size_t want = room == 0 ? FIRST_ROOM : room * 2;
			char *const p = realloc(w->p, want);
			w->no_memory = p == NULL;
			if (p == NULL)
				return false;
			w->p = p;
			room = want;
		}
		const ssize_t got = input_read_fd(fd, w->p + w->n, room - w->n - 1);
		if (got < 0 && strerror_r(errno, w->why, sizeof w->why) != 0)
			(void)snprintf(w->why, sizeof w->why, "error %d", errno);
		if (got < 0)
			return false;
		w->n += (size_t)got;
		w->p[w->n] = '\0';
		if (got == 0)
			return true;
	}
	w->too_large = true;
	return false;
}

bool
input_read_whole_fd(struct input_whole *w, int fd, size_t most)
{
	*w = (struct input_whole){ .p = NULL };
	if (read_all(w, fd, most))
		return true;
	free(w->p);
	w->p = NULL;
	return false;
}

bool
input_read_whole(struct input_whole *w, const char *path, size_t most)
{
	struct input *const in = input_new(path);
	struct stat st;

	*w = (struct input_whole){ .no_memory = in == NULL };
	if (in == NULL)
		return false;
	const int fd = input_open_path(in, &st);
	const bool ok = fd >= 0 && input_read_whole_fd(w, fd, most);
	if (fd < 0) {
		const char *const hint =
		    strstr(in->fault_text, ": feed it"); /* to a command that takes traces */
		const size_t n = hint != NULL ? (size_t)(hint - in->fault_text) : sizeof w->why - 1;
		(void)snprintf(w->why, sizeof w->why, "%.*s", (int)n, in->fault_text);
	}
	if (fd >= 0)
		(void)close(fd);
	input_close(in);
	return ok;
}
