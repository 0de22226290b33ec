#ifndef OUTPUT_OUTPUT_REGISTER_H
#define OUTPUT_OUTPUT_REGISTER_H

#include <signal.h>
#include <stdbool.h>

/*
 * What the handlers of output_handle_signals() remove before the process ends:
 * files, and folders with what was made in them.
 */
struct output_registered;

/* Around the creation of something and its entry here: no signal finds the one without the other.  false: the
 * process is about to be ended by a signal; create nothing (errno: EINTR). */
struct output_register_hold {
	sigset_t before;
	bool blocked, held;
};
bool output_register_begin(struct output_register_hold *h);
void output_register_end(const struct output_register_hold *h); /* keeps errno */

/* Enters a file or a folder that exists; the path is copied.  dir: AT_FDCWD, or the open folder of a file,
 * which stays open as long as the entry.  NULL: no memory, or no slot left (EMFILE). */
struct output_registered *output_register_add(int dir, const char *path, bool folder);

/* Enters what was made in that folder; removed before the folder, the last one first.  false: no memory. */
bool output_register_inside(struct output_registered *folder, const char *path, bool is_folder);

/* Takes it out and frees the entry: it has a name of its own now. */
void output_register_forget(struct output_registered *r);

/* Removes it, takes it out and frees the entry. */
void output_register_remove(struct output_registered *r);

#endif
